package dejacolly

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	deja "example.com/deja/go"
	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/queue"
)

// A process of its own crawls, and is killed.
func TestMain(m *testing.M) {
	if mode := os.Getenv("DEJA_CRAWL"); mode != "" {
		if err := crawlUntilKilled(mode, os.Getenv("DEJA_ROOT"), os.Getenv("DEJA_STATE")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func crawlUntilKilled(mode, root, path string) error {
	// The output is buffered, as a csv.Writer is: lines that are not flushed die with the process.
	var pending strings.Builder
	output, err := os.OpenFile(path+".txt", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0600)
	if err != nil {
		return err
	}
	lock := make(chan struct{}, 1)
	state, err := Open(path, Options{Every: 10, Filter: deja.Options{Capacity: 1000}, Flush: func() error {
		lock <- struct{}{}
		defer func() { <-lock }()
		_, err := output.WriteString(pending.String())
		pending.Reset()
		return err
	}})
	if err != nil {
		return err
	}
	c := colly.NewCollector()
	var q *queue.Queue
	if mode == "queue" {
		requests, err := state.Queue()
		if err != nil {
			return err
		}
		if q, err = queue.New(4, requests); err != nil {
			return err
		}
	}
	c.OnResponse(func(r *colly.Response) {
		lock <- struct{}{}
		defer func() { <-lock }()
		fmt.Fprintln(&pending, r.Request.URL.Path)
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		if q != nil {
			q.AddURL(e.Request.AbsoluteURL(e.Attr("href")))
		} else {
			e.Request.Visit(e.Attr("href"))
		}
	})
	if err := state.Attach(c); err != nil {
		return err
	}
	if q != nil {
		if err := q.AddURL(root + "/0"); err != nil {
			return err
		}
		err = q.Run(c)
	} else {
		err = c.Visit(root + "/0")
	}
	if err != nil {
		return err
	}
	return state.Close()
}

// Every page is in the output, however often the crawl is killed, and few pages are fetched twice.
func TestKilledCrawlsResume(t *testing.T) {
	for _, mode := range []string{"queue", "sync"} {
		t.Run(mode, func(t *testing.T) {
			site := newSite(t, 120)
			site.pause = 3 * time.Millisecond
			site.isTree = mode == "sync"
			path := filepath.Join(t.TempDir(), "c.deja")
			kills := 0
			for run := 0; ; run++ {
				check(t, run < 100, "the crawl does not advance")
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "DEJA_CRAWL="+mode, "DEJA_ROOT="+site.URL, "DEJA_STATE="+path)
				cmd.Stderr = os.Stderr
				_, _, _, before := site.times()
				must(t, cmd.Start())
				exited := make(chan error, 1)
				go func() { exited <- cmd.Wait() }()
				if killAfter(site, before, exited, cmd) {
					kills++
					continue
				}
				break
			}
			data, err := os.ReadFile(path + ".txt")
			must(t, err)
			check(t, len(lines(string(data))) == site.n, "%d of %d pages in the output", len(lines(string(data))), site.n)
			_, least, _, all := site.times()
			t.Logf("killed %d times: %d fetches of %d pages", kills, all, site.n)
			check(t, least >= 1 && kills >= 2, "killed %d times", kills)
			// Per kill: Every pages, and those of 4 threads or the ancestors of the last page.
			check(t, all <= site.n+kills*(10+8), "%d fetches of %d pages after %d kills", all, site.n, kills)
		})
	}
}

// killAfter kills a crawl after 30 more fetches; it returns false if the crawl ended by itself.
func killAfter(site *site, before int, exited chan error, cmd *exec.Cmd) bool {
	for {
		select {
		case err := <-exited:
			if err != nil {
				panic(err)
			}
			return false
		case <-time.After(time.Millisecond):
		}
		if _, _, _, all := site.times(); all-before > 30 {
			cmd.Process.Kill()
			<-exited
			return true
		}
	}
}
