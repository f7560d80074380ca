package dejacolly

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	deja "example.com/deja/go"
)

var small = Options{Filter: deja.Options{Capacity: 1000}}

func request(i int) []byte {
	return []byte(fmt.Sprintf(`{"URL":"http://h.example/%d","Method":"GET","Depth":1}`, i))
}

func openQueue(t testing.TB, path string) (*Storage, *Queue) {
	t.Helper()
	s, err := Open(path, small)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	q, err := s.Queue()
	must(t, err)
	return s, q
}

func TestQueueOrderAndRepeats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.deja")
	s, q := openQueue(t, path)
	for i := 0; i < 3000; i++ {
		must(t, q.AddRequest(request(i%1500)))
	}
	n, _ := q.QueueSize()
	check(t, n == 1500, "%d requests", n)
	for i := 0; i < 1200; i++ {
		got, err := q.GetRequest()
		check(t, err == nil && bytes.Equal(got, request(i)), "%d: %s %v", i, got, err)
	}
	again, err := s.Queue()
	check(t, err == nil && again == q, "another queue")
	for i := 0; i < 100; i++ {
		id, err := idOfMarshaled(request(i))
		must(t, err)
		must(t, q.finish([]uint64{id}))
	}
	must(t, s.Close())
	_, err = q.GetRequest()
	check(t, err != nil && q.AddRequest(request(9999)) != nil, "a closed queue works")

	s, q = openQueue(t, path) // those that were handed out wait again, in their places
	n, _ = q.QueueSize()
	check(t, n == 1400, "%d requests", n)
	got, err := q.GetRequest()
	check(t, err == nil && bytes.Equal(got, request(100)), "%s %v", got, err)
	check(t, q.AddRequest([]byte("{")) != nil, "not JSON")
	check(t, q.AddRequest(make([]byte, mostRequest+1)) != nil, "too long")
	check(t, s.NextVisit() != nil, "NextVisit with a queue")
	for q.size() > 0 {
		got, err := q.GetRequest()
		if errors.Is(err, ErrQueueEmpty) {
			break
		}
		must(t, err)
		check(t, len(got) > 0, "empty")
	}
}

func TestATornTailIsCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.deja")
	s, q := openQueue(t, path)
	for i := 0; i < 10; i++ {
		must(t, q.AddRequest(request(i)))
	}
	must(t, q.sync())
	synced := q.end
	for i := 10; i < 20; i++ {
		must(t, q.AddRequest(request(i)))
	}
	must(t, s.Close())
	whole, err := os.ReadFile(path + ".queue")
	must(t, err)
	whole = whole[:bytes.LastIndexByte(whole, '}')+1]
	reopened := func(data []byte) (int, error) {
		must(t, os.WriteFile(path+".queue", data, 0600))
		s, err := Open(path, small)
		must(t, err)
		defer s.Close()
		q, err := s.Queue()
		if err != nil {
			return 0, err
		}
		n, err := q.QueueSize()
		must(t, err)
		must(t, q.AddRequest(request(100))) // it can be written
		return n, err
	}
	for end := 0; end <= len(whole); end++ {
		if end > 0 && end < len(queueMagic) {
			continue
		}
		n, err := reopened(append([]byte(nil), whole[:end]...))
		check(t, err == nil && (int64(end) < synced || n >= 10), "%d bytes: %d requests, %v", end, n, err)
	}
	// A power cut can leave zeros or garbage after the last sync, but damage before it is an error.
	for at := len(queueMagic); at < len(whole); at += 3 {
		data := append([]byte(nil), whole...)
		data[at] ^= 0x55
		n, err := reopened(data)
		if int64(at) < synced-recordHead-8 {
			check(t, err != nil && strings.Contains(err.Error(), "damaged"), "byte %d: %v", at, err)
		} else if int64(at) >= synced {
			check(t, err == nil && n >= 10, "byte %d: %d requests, %v", at, n, err)
		}
	}
	_, err = reopened([]byte("a file of somebody else, longer than the magic"))
	check(t, err != nil && strings.Contains(err.Error(), "not a queue"), "%v", err)
}

func TestTheQueueShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.deja")
	s, q := openQueue(t, path)
	var done []uint64
	for i := 0; i < 20000; i++ {
		must(t, q.AddRequest(request(i)))
		id, _ := idOfMarshaled(request(i))
		if i < 19990 {
			_, err := q.GetRequest()
			must(t, err)
			done = append(done, id)
		}
	}
	must(t, q.finish(done))
	before := q.end
	must(t, s.Close())
	s, q = openQueue(t, path)
	check(t, q.end < before/100, "%d of %d bytes", q.end, before)
	for i := 19990; i < 20000; i++ {
		got, err := q.GetRequest()
		check(t, err == nil && bytes.Equal(got, request(i)), "%s %v", got, err)
	}
	must(t, q.AddRequest(request(5)))
	must(t, s.Close())
	_, q = openQueue(t, path)
	n, _ := q.QueueSize()
	check(t, n == 11, "%d", n)
}
