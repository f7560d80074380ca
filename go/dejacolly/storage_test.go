package dejacolly

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	deja "example.com/deja/go"
	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/queue"
)

func opened(t testing.TB, path string, o Options) *Storage {
	t.Helper()
	if o.Filter.Capacity == 0 {
		o.Filter.Capacity = 1000
	}
	s, err := Open(path, o)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// crawl visits the site from /0, following links as Colly's documentation does.
func crawl(t testing.TB, s *Storage, start string, options ...colly.CollectorOption) *colly.Collector {
	t.Helper()
	c := colly.NewCollector(options...)
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { e.Request.Visit(e.Attr("href")) })
	must(t, s.Attach(c))
	var known *colly.AlreadyVisitedError
	if err := c.Visit(start); err != nil && !errors.As(err, &known) {
		t.Fatal(err)
	}
	c.Wait()
	return c
}

func TestEveryPageOnce(t *testing.T) {
	site := newSite(t, 150)
	path := filepath.Join(t.TempDir(), "c.deja")
	s := opened(t, path, Options{})
	c := crawl(t, s, site.URL+"/0")
	site.eachOnce(t, 1)
	visited, err := c.HasVisited(site.URL + "/77")
	check(t, err == nil && visited, "HasVisited: %v", err)
	st, err := s.Stats()
	must(t, err)
	check(t, st.New == 150 && st.Repeats > 100 && st.Visits == st.New+st.Repeats, "%+v", st)
	must(t, s.Close())
	must(t, s.Close())

	s = opened(t, path, Options{}) // a second run fetches nothing
	st, err = s.Stats()
	must(t, err)
	check(t, st.Filter.Keys == 150 && st.Pending == 0 && st.Filter.Kind == deja.Scalable, "%+v", st)
	crawl(t, s, site.URL+"/0")
	site.eachOnce(t, 1)

	must(t, s.NextVisit()) // a second visit fetches everything
	crawl(t, s, site.URL+"/0")
	site.eachOnce(t, 2)
	st, _ = s.Stats()
	check(t, st.Filter.Visit == 2, "%+v", st.Filter)
}

func TestEveryPageOnceAsync(t *testing.T) {
	site := newSite(t, 300)
	s := opened(t, filepath.Join(t.TempDir(), "c.deja"), Options{Every: 10})
	crawl(t, s, site.URL+"/0", colly.Async(true))
	site.eachOnce(t, 1)
	st, err := s.Stats()
	must(t, err)
	// Nothing else remembers links of pages that are done, so nothing is recorded before Sync.
	check(t, st.Recorded == 0 && st.Pending == 300, "%+v", st)
	must(t, s.Sync())
	st, _ = s.Stats()
	check(t, st.Recorded == 300 && st.Pending == 0, "%+v", st)
}

// To two goroutines that request the same page at the same moment, IsVisited returns false.
func TestSimultaneousRequests(t *testing.T) {
	site := newSite(t, 20)
	s := opened(t, filepath.Join(t.TempDir(), "c.deja"), Options{})
	c := colly.NewCollector()
	must(t, s.Attach(c))
	var wait sync.WaitGroup
	var failed atomic.Int32
	for i := 0; i < 200; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			var known *colly.AlreadyVisitedError
			if err := c.Visit(fmt.Sprintf("%s/%d", site.URL, i%20)); err != nil {
				if !errors.As(err, &known) || err.Error() == "" {
					t.Error(err)
				}
				failed.Add(1)
			}
		}()
	}
	wait.Wait()
	site.eachOnce(t, 1)
	check(t, failed.Load() == 180, "%d refused", failed.Load())
}

func TestAskingTwiceBeforeVisiting(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "c.deja"), Options{})
	for i := 0; i < 2; i++ {
		seen, err := s.IsVisited(1)
		check(t, err == nil && !seen, "%v", err)
	}
	must(t, s.Visited(1))
	var known *colly.AlreadyVisitedError
	err := s.Visited(1)
	check(t, errors.As(err, &known) && strings.Contains(err.Error(), "visited"), "%v", err)
	must(t, s.Visited(1)) // no IsVisited came before it: a repeat on purpose
	for i := uint64(0); i < 70000; i++ {
		s.IsVisited(i << 20)
	}
	check(t, len(s.asked) <= 1<<16, "%d", len(s.asked))
}

func TestQueueThreads(t *testing.T) {
	site := newSite(t, 300)
	path := filepath.Join(t.TempDir(), "c.deja")
	s := opened(t, path, Options{Every: 7})
	runQueue(t, s, site.URL, 6)
	site.eachOnce(t, 1)
	must(t, s.Close())
	s = opened(t, path, Options{})
	q, err := s.Queue()
	must(t, err)
	n, err := q.QueueSize()
	check(t, err == nil && n == 0 && q.size() == 0, "%d wait", n)
	runQueue(t, s, site.URL, 2)
	site.eachOnce(t, 1)
	must(t, s.NextVisit())
	runQueue(t, s, site.URL, 2)
	site.eachOnce(t, 2)
}

func runQueue(t testing.TB, s *Storage, root string, threads int) {
	requests, err := s.Queue()
	must(t, err)
	q, err := queue.New(threads, requests)
	must(t, err)
	c := colly.NewCollector()
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		if err := q.AddURL(e.Request.AbsoluteURL(e.Attr("href"))); err != nil {
			t.Error(err)
		}
	})
	must(t, s.Attach(c))
	must(t, q.AddURL(root+"/0"))
	must(t, q.Run(c))
}

func TestFailedPagesAreRepeated(t *testing.T) {
	site := newSite(t, 3)
	site.handle("/1", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) })
	site.handle("/2", http.NotFound)
	path := filepath.Join(t.TempDir(), "c.deja")
	s := opened(t, path, Options{})
	crawl(t, s, site.URL+"/0")
	st, _ := s.Stats()
	check(t, st.Failed == 1 && st.New == 3, "%+v", st)
	must(t, s.Close())
	site.handle("/1", nil)
	s = opened(t, path, Options{})
	crawl(t, s, site.URL+"/1")
	crawl(t, s, site.URL+"/2")
	check(t, site.hitsOf("/1") == 2 && site.hitsOf("/2") == 1 && site.hitsOf("/0") == 1, "%v", site.hits)
	must(t, s.Close())
	// The failure of a network is not the end of a page.
	site.Server.Close()
	s = opened(t, path, Options{})
	c := colly.NewCollector()
	must(t, s.Attach(c))
	for i := 0; i < 2; i++ {
		check(t, c.Visit(site.URL+"/4") != nil, "no error")
	}
	must(t, s.Sync())
	st, _ = s.Stats()
	check(t, st.Failed == 1 && st.Recorded == 0, "%+v", st)
}

func TestRedirects(t *testing.T) {
	site := newSite(t, 3)
	site.handle("/old", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/2", http.StatusMovedPermanently) })
	site.handle("/older", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/0", http.StatusMovedPermanently) })
	path := filepath.Join(t.TempDir(), "c.deja")
	s := opened(t, path, Options{})
	crawl(t, s, site.URL+"/old")
	c := colly.NewCollector()
	must(t, s.Attach(c))
	c.Visit(site.URL + "/older") // leads to a known page
	must(t, s.Close())
	site.eachOnce(t, 1)
	s = opened(t, path, Options{})
	st, _ := s.Stats()
	check(t, st.Filter.Keys == 5, "%d recorded", st.Filter.Keys)
}

func TestPosts(t *testing.T) {
	site := newSite(t, 1)
	var posted atomic.Int32
	site.handle("/form", func(w http.ResponseWriter, r *http.Request) { posted.Add(1) })
	path := filepath.Join(t.TempDir(), "c.deja")
	for run := 0; run < 2; run++ {
		s := opened(t, path, Options{})
		c := colly.NewCollector()
		must(t, s.Attach(c))
		for _, q := range []string{"a", "b", "a"} {
			c.Post(site.URL+"/form", map[string]string{"q": q})
			c.PostRaw(site.URL+"/form", []byte("raw"+q))
		}
		must(t, s.Close())
	}
	check(t, posted.Load() == 4, "%d posts", posted.Load())
}

func TestPagesAreRecordedAfterTheOutput(t *testing.T) {
	site := newSite(t, 50)
	path := filepath.Join(t.TempDir(), "c.deja")
	var s *Storage
	full, flushed := true, 0
	s = opened(t, path, Options{Every: 5, Flush: func() error {
		if full {
			return errors.New("the disk is full")
		}
		flushed++
		st, err := s.Filter().Stats(false)
		must(t, err)
		check(t, st.Keys <= uint64(5*flushed+50), "recorded early")
		return nil
	}})
	c := colly.NewCollector()
	must(t, s.Attach(c))
	var refused error
	for i := 0; i < 20 && refused == nil; i++ {
		refused = c.Visit(fmt.Sprintf("%s/%d", site.URL, i))
	}
	check(t, refused != nil && strings.Contains(refused.Error(), "the disk is full"), "%v", refused)
	st, _ := s.Stats()
	check(t, st.Filter.Keys == 0 && st.Recorded == 0 && st.Pending > 0, "%+v", st)
	full = false
	must(t, s.Sync())
	st, _ = s.Stats()
	check(t, st.Recorded == st.New && st.Pending == 0 && flushed == 1, "%+v", st)
}

func TestCookiesAreKept(t *testing.T) {
	site := newSite(t, 1)
	var got string
	site.handle("/login", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "user", Value: "ann", MaxAge: 1000, Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "short", Value: "x", MaxAge: -1})
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1", Path: "/"})
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s2", Path: "/"})
	})
	site.handle("/me", func(w http.ResponseWriter, r *http.Request) { got = r.Header.Get("Cookie") })
	path := filepath.Join(t.TempDir(), "c.deja")
	s := opened(t, path, Options{})
	crawl(t, s, site.URL+"/login")
	must(t, s.Close())
	info, err := os.Stat(path + ".cookies")
	must(t, err)
	check(t, info.Mode().Perm() == 0600, "%v", info.Mode())
	s = opened(t, path, Options{})
	crawl(t, s, site.URL+"/me")
	check(t, strings.Contains(got, "user=ann") && strings.Contains(got, "session=s2") && !strings.Contains(got, "short"), "%q", got)
	must(t, s.Close())
	must(t, os.WriteFile(path+".cookies", []byte("hello"), 0600))
	_, err = Open(path, Options{})
	check(t, err != nil && strings.Contains(err.Error(), ".cookies"), "%v", err)
	must(t, Remove(path))
	_, err = os.Stat(path)
	check(t, errors.Is(err, os.ErrNotExist), "%v", err)
}

func TestAHostCannotFillTheCookies(t *testing.T) {
	j, err := openJar(filepath.Join(t.TempDir(), "j"))
	must(t, err)
	a, _ := url.Parse("http://a.example/")
	b, _ := url.Parse("http://b.example/")
	j.set(b, "keep=1")
	for i := 0; i < 3*mostCookies; i++ {
		j.set(a, fmt.Sprintf("c%d=1", i))
	}
	check(t, len(j.saved) == mostCookies+1, "%d saved", len(j.saved))
}

func TestMisuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.deja")
	_, err := Open(path, Options{Filter: deja.Options{URL: deja.URLSafe}})
	check(t, err != nil && strings.Contains(err.Error(), "URL profile"), "%v", err)
	s := opened(t, path, Options{})
	_, err = Open(path, Options{})
	check(t, errors.Is(err, deja.ErrBusy), "%v", err)
	must(t, s.Close())
	_, err = s.IsVisited(1)
	check(t, errors.Is(err, deja.ErrClosed) && errors.Is(s.Visited(1), deja.ErrClosed), "%v", err)
}
