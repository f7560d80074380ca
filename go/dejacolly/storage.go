// Package dejacolly keeps the state of a Colly crawl in a deja filter: which requests are done, the
// cookies and, if you use a queue, the requests that wait. A crawl that was killed resumes, and a
// request takes about 4 bytes instead of 40 or more.
//
//	state, err := dejacolly.Open("crawl.deja", dejacolly.Options{})
//	...
//	defer state.Close()
//	c := colly.NewCollector()
//	c.OnHTML("a[href]", func(e *colly.HTMLElement) { e.Request.Visit(e.Attr("href")) })
//	err = state.Attach(c) // after your own callbacks
//	...
//	c.Visit("https://example.com/")
//
// Colly announces a request before it fetches the page. This package records the request only after
// the page has been processed and your output has been flushed (Options.Flush). So a crash can
// repeat pages, but never loses one: output before state.
package dejacolly

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"sync"
	"weak"

	deja "example.com/deja/go"
	"github.com/gocolly/colly/v2"
	"github.com/gocolly/colly/v2/storage"
)

// DefaultEvery is the default of Options.Every.
const DefaultEvery = 100

// Options say how to keep the state of a crawl. The zero value fits most crawls.
type Options struct {
	// Filter describes a new filter: Capacity, FPRate and so on. The default grows, at a rate of one
	// in a million. Keys are numbers that Colly computes, so URL and Rules must not be set.
	Filter deja.Options

	// Flush writes buffered output, and syncs it if it must survive a power cut. It is called before
	// finished pages are recorded, by the goroutine that finished the last of them, and never twice at
	// the same time. Other goroutines may write output during the call: lock your writer.
	Flush func() error

	// Every is the number of finished pages after which they are recorded. After a crash, up to this
	// many pages are fetched again.
	Every int

	// Final reports whether a failed request is done, and is not repeated by the next run. The default
	// is IsFinal.
	Final func(r *colly.Response, err error) bool

	// Revisit keeps requests in the queue that are known already. Set it if the collector allows
	// revisits (colly.AllowURLRevisit).
	Revisit bool
}

// Stats count what happened since Open.
type Stats struct {
	Visits   uint64 // requests that Colly asked about, such as calls of Visit
	New      uint64 // of these, new ones
	Repeats  uint64 // of these, known ones, which were not fetched
	Recorded uint64 // finished pages that are recorded
	Pending  int    // requests that are running, failed or not recorded yet
	Failed   uint64 // failed requests that the next run repeats
	Filter   deja.Stats
}

// Storage implements colly's storage.Storage. Several collectors can share one, such as a collector
// and its clones.
type Storage struct {
	filter *deja.Filter
	path   string
	opt    Options
	commit sync.Mutex // held while pages are recorded

	mu      sync.Mutex
	visited map[uint64]struct{} // in this run, not recorded yet
	asked   map[uint64]int      // requests that IsVisited called new and that are not visited yet
	done    []uint64            // finished pages, to be recorded
	started map[weak.Pointer[colly.Request]]uint64
	failure error // of recording; the next Visited returns it
	jar     *jar
	queue   *Queue
	stats   Stats
	closed  bool
}

var _ storage.Storage = (*Storage)(nil)

// Open opens or creates the filter in this file. Cookies are in a file with the same name and
// ".cookies", and the queue in one with ".queue". Only one process can open them (deja.ErrBusy).
func Open(path string, o Options) (*Storage, error) {
	if o.Filter.URL != 0 || o.Filter.Rules != nil {
		return nil, errors.New("dejacolly: Options.Filter must not have a URL profile: Colly's keys are numbers; bring URLs to their canonical form before you call Visit")
	}
	if o.Every <= 0 {
		o.Every = DefaultEvery
	}
	if o.Final == nil {
		o.Final = IsFinal
	}
	filter, err := deja.OpenOrCreate(path, o.Filter)
	if err != nil {
		return nil, err
	}
	s := &Storage{
		filter: filter, path: path, opt: o, visited: map[uint64]struct{}{}, asked: map[uint64]int{},
		started: map[weak.Pointer[colly.Request]]uint64{},
	}
	if s.jar, err = openJar(path + ".cookies"); err != nil {
		return nil, errors.Join(err, filter.Close())
	}
	return s, nil
}

// Filter returns the filter. Its keys are Colly's numbers of requests, as 8 little-endian bytes.
func (s *Storage) Filter() *deja.Filter { return s.filter }

// IsFinal reports whether a failed request is done: the server answered that there is nothing to
// fetch (status 4xx, but not 408, 425 or 429), the page redirects to a known one, or a callback
// aborted it. Network errors and 5xx are not final.
func IsFinal(r *colly.Response, err error) bool {
	var known *colly.AlreadyVisitedError
	if errors.As(err, &known) || errors.Is(err, colly.ErrAbortedAfterHeaders) || errors.Is(err, colly.ErrAbortedBeforeRequest) {
		return true
	}
	switch r.StatusCode {
	case 0, 408, 425, 429:
		return false
	}
	return r.StatusCode < 500
}

func key(id uint64) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, 0, 8), id)
}

// Init implements storage.Storage. Colly calls it.
func (s *Storage) Init() error { return nil }

// IsVisited implements storage.Storage: it reports whether a request was made before.
func (s *Storage) IsVisited(id uint64) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, deja.ErrClosed
	}
	s.stats.Visits++
	if s.known(id) {
		s.stats.Repeats++
		return true, nil
	}
	if len(s.asked) >= 1<<16 { // somebody asks with HasVisited and does not visit
		clear(s.asked)
	}
	s.asked[id]++
	return false, nil
}

func (s *Storage) known(id uint64) bool {
	_, ok := s.visited[id]
	return ok || s.filter.Contains(key(id))
}

// Visited implements storage.Storage: Colly announces a request. If two goroutines request the same
// page at the same time, IsVisited returns false to both; the second one gets an
// AlreadyVisitedError here, so the page is fetched once.
func (s *Storage) Visited(id uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return deja.ErrClosed
	}
	if err := s.failure; err != nil {
		s.failure = nil
		return err
	}
	told := s.asked[id] > 0
	if s.asked[id]--; s.asked[id] <= 0 {
		delete(s.asked, id)
	}
	if s.known(id) {
		if told {
			s.stats.Repeats++
			return &colly.AlreadyVisitedError{Destination: &url.URL{Opaque: "(another goroutine requests it)"}}
		}
		return nil // a request that may be repeated, such as Retry
	}
	s.visited[id] = struct{}{}
	s.stats.New++
	return nil
}

// Cookies implements storage.Storage.
func (s *Storage) Cookies(u *url.URL) string { return s.jar.get(u) }

// SetCookies implements storage.Storage.
func (s *Storage) SetCookies(u *url.URL, cookies string) { s.jar.set(u, cookies) }

// Attach makes this the storage of a collector and registers callbacks that record finished pages.
// Colly runs callbacks in the order of their registration, so attach after you have registered your
// own: then a page is recorded after your last callback has processed it. Attach clones, too.
func (s *Storage) Attach(c *colly.Collector) error {
	if err := c.SetStorage(s); err != nil {
		return err
	}
	c.OnRequest(s.begin)
	c.OnScraped(func(r *colly.Response) { s.end(c, r, true) })
	c.OnError(func(r *colly.Response, err error) {
		// Colly also reports pages that a callback cannot parse; OnScraped follows.
		s.end(c, r, s.opt.Final(r, err))
	})
	return nil
}

// begin notes the number of a request, before redirects change its URL.
func (s *Storage) begin(r *colly.Request) {
	id, ok := idOf(r)
	if !ok {
		return // never recorded
	}
	at := weak.Make(r)
	s.mu.Lock()
	s.started[at] = id
	s.mu.Unlock()
	runtime.AddCleanup(r, s.forget, at) // a request that was aborted does not end
}

func (s *Storage) forget(at weak.Pointer[colly.Request]) {
	s.mu.Lock()
	delete(s.started, at)
	s.mu.Unlock()
}

// end notes that a page is done, and records pages from time to time.
func (s *Storage) end(c *colly.Collector, r *colly.Response, done bool) {
	final, hasFinal := idOf(r.Request)
	s.mu.Lock()
	at := weak.Make(r.Request)
	id, ok := s.started[at]
	delete(s.started, at)
	if ok && !done {
		s.stats.Failed++
	}
	if ok && done {
		s.done = append(s.done, id)
		// The page that it was redirected to has been announced, too.
		if _, announced := s.visited[final]; hasFinal && final != id && announced {
			s.done = append(s.done, final)
		}
	}
	// In async mode, a page may be done before the pages that it links to.  Without a queue, nothing
	// else remembers these, so all pages wait for Sync.
	full := len(s.done) >= s.opt.Every && (!c.Async || s.queue != nil)
	s.mu.Unlock()
	if full {
		if err := s.Commit(); err != nil {
			s.mu.Lock()
			s.failure = err
			s.mu.Unlock()
		}
	}
}

// Commit flushes your output and then records the pages that are done. They survive the end of the
// process. In async mode without a queue, call it only after Wait.
func (s *Storage) Commit() error {
	s.commit.Lock()
	defer s.commit.Unlock()
	s.mu.Lock()
	done := s.done
	s.done = nil
	s.mu.Unlock()
	if len(done) == 0 {
		return nil
	}
	err := s.record(done)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.done = append(done, s.done...)
		return fmt.Errorf("dejacolly: %d pages are not recorded yet: %w", len(s.done), err)
	}
	for _, id := range done {
		delete(s.visited, id)
	}
	s.stats.Recorded += uint64(len(done))
	return nil
}

// record is the order that loses nothing: the output, the links of the pages, the pages.
func (s *Storage) record(done []uint64) error {
	if s.opt.Flush != nil {
		if err := s.opt.Flush(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	q := s.queue
	s.mu.Unlock()
	if q != nil {
		if err := q.sync(); err != nil {
			return err
		}
	}
	keys := make([][]byte, len(done))
	for i, id := range done {
		keys[i] = key(id)
	}
	if _, err := s.filter.AddBatch(keys); err != nil {
		return err
	}
	if q != nil {
		return q.finish(done)
	}
	return nil
}

// Sync records all pages that are done and saves the cookies. Everything then survives a power cut,
// if your Flush syncs your output.
func (s *Storage) Sync() error {
	if err := s.Commit(); err != nil {
		return err
	}
	if err := s.jar.save(); err != nil {
		return err
	}
	return s.filter.Sync()
}

// Close syncs and closes the state. Pages that are not done are fetched again by the next run. Call
// it after Visit, Wait or Run has returned.
func (s *Storage) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	err := s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.queue != nil {
		err = errors.Join(err, s.queue.close())
	}
	return errors.Join(err, s.filter.Close())
}

// NextVisit begins the next visit of the site: no page counts as visited, and the filter uses
// different hash functions, so that pages lost to false positives turn up. Cookies stay. Call it
// while nothing is running; the queue must be empty.
func (s *Storage) NextVisit() error {
	if err := s.Sync(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue != nil && s.queue.size() > 0 {
		return fmt.Errorf("dejacolly: %s: %d requests wait in the queue; run it first", s.path, s.queue.size())
	}
	clear(s.visited)
	clear(s.asked)
	return s.filter.Rotate(deja.Options{})
}

// Stats reports what happened since Open, and what the filter holds: Stats().Filter.Lost is the
// expected number of pages that were lost to false positives.
func (s *Storage) Stats() (Stats, error) {
	f, err := s.filter.Stats(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Pending = len(s.visited)
	if err == nil {
		out.Filter = *f
	}
	return out, err
}

// Remove deletes the files of a crawl that no process has open.
func Remove(path string) error {
	var failed error
	for _, name := range []string{path + ".queue", path + ".cookies", path} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
