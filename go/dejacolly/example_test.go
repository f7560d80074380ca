package dejacolly_test

import (
	"bufio"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"

	deja "example.com/deja/go"
	"example.com/deja/go/dejacolly"
	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/queue"
)

// A crawl with a queue: if it is killed, the next run resumes. Links are compared in their canonical
// form.
func Example() {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<a href='/'>home</a> <a href='/a?utm_source=x'>a</a> <a href='/a#top'>a</a>")
	}))
	defer site.Close()
	dir, err := os.MkdirTemp("", "crawl")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	var lock sync.Mutex
	out := bufio.NewWriter(os.Stdout)
	state, err := dejacolly.Open(filepath.Join(dir, "crawl.deja"), dejacolly.Options{
		Filter: deja.Options{Capacity: 100_000},
		Flush: func() error {
			lock.Lock()
			defer lock.Unlock()
			return out.Flush()
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	requests, err := state.Queue()
	if err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(2, requests)
	if err != nil {
		log.Fatal(err)
	}
	rules, err := deja.Rules(deja.URLCrawl)
	if err != nil {
		log.Fatal(err)
	}
	c := colly.NewCollector()
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		if link, err := rules.Canonical(e.Request.AbsoluteURL(e.Attr("href"))); err == nil {
			q.AddURL(link)
		}
	})
	c.OnScraped(func(r *colly.Response) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintln(out, r.Request.URL.Path)
	})
	if err := state.Attach(c); err != nil { // after your own callbacks
		log.Fatal(err)
	}
	if err := q.AddURL(site.URL + "/"); err != nil {
		log.Fatal(err)
	}
	if err := q.Run(c); err != nil {
		log.Fatal(err)
	}
	if err := state.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// /
	// /a
}
