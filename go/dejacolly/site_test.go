package dejacolly

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func check(t testing.TB, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Fatalf(format, args...)
	}
}

// A site of pages /0 .. /n-1.  Each links to a few others; all can be reached from /0.
type site struct {
	*httptest.Server
	n      int
	pause  time.Duration
	isTree bool // few pages are ancestors of another
	mu     sync.Mutex
	hits   map[string]int
	more   map[string]http.HandlerFunc
}

func newSite(t testing.TB, n int) *site {
	s := &site{n: n, hits: map[string]int{}, more: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.Path]++
	special := s.more[r.URL.Path]
	s.mu.Unlock()
	time.Sleep(s.pause)
	if special != nil {
		special(w, r)
		return
	}
	var i int
	if _, err := fmt.Sscanf(r.URL.Path, "/%d", &i); err != nil || i >= s.n {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	links := []int{2*i + 1, 2*i + 2, (i - 1) / 2, i + 1, i - 1}
	if s.isTree {
		links = links[:3]
	}
	for _, to := range links {
		if to >= 0 && to < s.n {
			fmt.Fprintf(w, "<a href='/%d'>x</a> <a href='%s/%d'>y</a>\n", to, s.URL, to)
		}
	}
}

// times returns how many times each page was fetched, and how many there are.
func (s *site) times() (pages, least, most, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	least = 1 << 30
	for i := 0; i < s.n; i++ {
		n := s.hits[fmt.Sprintf("/%d", i)]
		if n > 0 {
			pages++
		}
		if n < least {
			least = n
		}
		if n > most {
			most = n
		}
		all += n
	}
	return pages, least, most, all
}

func (s *site) hitsOf(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

func (s *site) handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more[path] = h
}

func (s *site) eachOnce(t testing.TB, times int) {
	t.Helper()
	pages, least, most, _ := s.times()
	check(t, pages == s.n && least == times && most == times, "%d of %d pages, %d to %d times", pages, s.n, least, most)
}

func lines(text string) map[string]int {
	all := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		all[line]++
	}
	return all
}
