package dejacolly

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/gocolly/colly/v2/queue"
)

// Queue implements the storage of colly's queue in a file. A request leaves it when its page has
// been recorded; after a crash it is handed out again. Requests that are known or already in the
// queue are not added again, so the queue holds each page once.
//
// The file is a log: "add" records with requests, "finish" records that name an add by its offset,
// and "sync" records that contain their own offset. In memory, a request takes about 40 bytes.
type Queue struct {
	state *Storage
	mu    sync.Mutex
	file  *os.File
	end   int64
	live  int64 // bytes of requests that are not finished
	head  int   // of waiting
	// Waiting requests in order, and those handed out, by their numbers.
	waiting []entry
	flying  map[uint64][]entry
	ids     map[uint64]struct{} // of both
}

var _ queue.Storage = (*Queue)(nil)

type entry struct {
	at int64
	n  int
	id uint64
}

const (
	queueMagic  = "deja colly queue 1\n"
	recordAdd   = 'A'
	recordDone  = 'D'
	recordSync  = 'S'
	recordHead  = 9       // type, length, checksum
	mostRequest = 1 << 26 // bytes
	compactFrom = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrQueueEmpty is the error of GetRequest on an empty queue.
var ErrQueueEmpty = errors.New("dejacolly: the queue is empty")

// Queue returns the queue of the crawl for colly's queue.New:
//
//	requests, err := state.Queue()
//	...
//	q, err := queue.New(8, requests)
func (s *Storage) Queue() (*Queue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue != nil {
		return s.queue, nil
	}
	q := &Queue{state: s, flying: map[uint64][]entry{}, ids: map[uint64]struct{}{}}
	if err := q.open(s.path + ".queue"); err != nil {
		return nil, err
	}
	s.queue = q
	return q, nil
}

// Init implements queue.Storage. Colly calls it.
func (q *Queue) Init() error { return nil }

// QueueSize implements queue.Storage: the number of requests that wait.
func (q *Queue) QueueSize() (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) - q.head, nil
}

// size is how many requests are not finished.
func (q *Queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) - q.head + len(q.flying)
}

// AddRequest implements queue.Storage. The request survives the end of the process.
func (q *Queue) AddRequest(request []byte) error {
	if len(request) > mostRequest {
		return fmt.Errorf("dejacolly: a request has %d bytes; at most %d can be queued", len(request), mostRequest)
	}
	id, err := idOfMarshaled(request)
	if err != nil {
		return err
	}
	if q.state.skips(id) {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, queued := q.ids[id]; queued && !q.state.opt.Revisit {
		return nil
	}
	at := q.end
	if err := q.write(recordAdd, request); err != nil {
		return err
	}
	q.waiting = append(q.waiting, entry{at, len(request), id})
	q.ids[id] = struct{}{}
	q.live += recordHead + int64(len(request))
	return nil
}

// skips reports whether a request would be refused as known.
func (s *Storage) skips(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && !s.opt.Revisit && s.known(id)
}

// GetRequest implements queue.Storage: it hands out the next request.
func (q *Queue) GetRequest() ([]byte, error) {
	for {
		e, request, err := q.next()
		if err != nil {
			return nil, err
		}
		if !q.state.skips(e.id) {
			return request, nil
		}
		// Visited outside the queue, or recorded just before a crash.
		if err := q.finish([]uint64{e.id}); err != nil {
			return nil, err
		}
	}
}

func (q *Queue) next() (entry, []byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file == nil {
		return entry{}, nil, os.ErrClosed
	}
	if q.head == len(q.waiting) {
		return entry{}, nil, ErrQueueEmpty
	}
	e := q.waiting[q.head]
	request := make([]byte, e.n)
	if _, err := q.file.ReadAt(request, e.at+recordHead); err != nil {
		return entry{}, nil, err
	}
	q.head++
	if q.head > 1024 && q.head > len(q.waiting)/2 {
		q.waiting = append([]entry(nil), q.waiting[q.head:]...)
		q.head = 0
	}
	q.flying[e.id] = append(q.flying[e.id], e)
	return e, request, nil
}

// finish removes the requests with these numbers.
func (q *Queue) finish(done []uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var records bytes.Buffer
	for _, id := range done {
		for _, e := range q.flying[id] {
			appendRecord(&records, recordDone, binary.LittleEndian.AppendUint64(nil, uint64(e.at)))
		}
	}
	if err := q.append(records.Bytes()); err != nil {
		return err
	}
	for _, id := range done {
		for _, e := range q.flying[id] {
			q.live -= recordHead + int64(e.n)
			delete(q.ids, id)
		}
		delete(q.flying, id)
	}
	return nil
}

// sync makes all requests survive a power cut.
func (q *Queue) sync() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.write(recordSync, binary.LittleEndian.AppendUint64(nil, uint64(q.end))); err != nil {
		return err
	}
	return q.file.Sync()
}

func (q *Queue) close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.file == nil {
		return nil
	}
	err := q.file.Close()
	q.file = nil
	return err
}

// --- The file ---

func appendRecord(b *bytes.Buffer, kind byte, payload []byte) {
	var head [recordHead]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum(head[:5], castagnoli), castagnoli, payload)
	binary.LittleEndian.PutUint32(head[5:], sum)
	b.Write(head[:])
	b.Write(payload)
}

func (q *Queue) write(kind byte, payload []byte) error {
	var b bytes.Buffer
	appendRecord(&b, kind, payload)
	return q.append(b.Bytes())
}

// append writes records at the end. If that fails, the end stays where it was, and the next write
// replaces what was written.
func (q *Queue) append(records []byte) error {
	if q.file == nil {
		return os.ErrClosed
	}
	if _, err := q.file.WriteAt(records, q.end); err != nil {
		return err
	}
	q.end += int64(len(records))
	return nil
}

func (q *Queue) open(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0600)
	if err != nil {
		return err
	}
	q.file = file
	if err = q.load(); err == nil && q.end > compactFrom && q.live < q.end/2 {
		err = q.compact(path)
	}
	if err != nil {
		q.file.Close()
		return fmt.Errorf("dejacolly: %s: %w", path, err)
	}
	return nil
}

// load reads the log. Requests that were handed out and not finished wait again.
func (q *Queue) load() error {
	info, err := q.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size < int64(len(queueMagic)) { // new, or killed while it was created
		q.end = int64(len(queueMagic))
		if _, err := q.file.WriteAt([]byte(queueMagic), 0); err != nil {
			return err
		}
		return syncFolder(q.file.Name())
	}
	in := bufio.NewReaderSize(io.NewSectionReader(q.file, 0, size), 1<<16)
	magic := make([]byte, len(queueMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != queueMagic {
		return errors.New("not a queue of this package")
	}
	q.end = int64(len(queueMagic))
	adds := map[int64]entry{}
	var order []int64
	for q.end < size {
		kind, payload, err := readRecord(in, size-q.end)
		if err == nil {
			order, err = q.apply(kind, payload, adds, order)
		}
		if err != nil {
			if err := q.cut(size, err); err != nil {
				return err
			}
			break
		}
		q.end += recordHead + int64(len(payload))
	}
	q.take(adds, order)
	return nil
}

// cut drops what a crash left half written at the end. Bytes before a sync record were complete: if
// one follows, the file is damaged.
func (q *Queue) cut(size int64, reason error) error {
	if !errors.Is(reason, errTorn) {
		return reason
	}
	rest := io.NewSectionReader(q.file, q.end, size-q.end)
	const length = recordHead + 8
	buf, at := make([]byte, 0, 1<<16), q.end
	for {
		n, err := io.ReadFull(rest, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for i := 0; i+length <= len(buf); i++ {
			if buf[i] == recordSync && isSync(buf[i:i+length], at+int64(i)) {
				return fmt.Errorf("damaged at byte %d; delete the file to begin with an empty queue", q.end)
			}
		}
		if err != nil {
			return q.file.Truncate(q.end)
		}
		kept := copy(buf, buf[len(buf)-length+1:])
		at += int64(len(buf) - kept)
		buf = buf[:kept]
	}
}

func isSync(record []byte, at int64) bool {
	kind, payload, err := readRecord(bufio.NewReader(bytes.NewReader(record)), int64(len(record)))
	return err == nil && kind == recordSync && len(payload) == 8 && int64(binary.LittleEndian.Uint64(payload)) == at
}

// compact replaces the file by one without finished requests.
func (q *Queue) compact(path string) error {
	end, moved := int64(len(queueMagic)), append([]entry(nil), q.waiting...)
	err := replaceFile(path, func(f *os.File) error {
		out := bufio.NewWriter(f)
		out.WriteString(queueMagic)
		for i, e := range q.waiting {
			request := make([]byte, e.n)
			if _, err := q.file.ReadAt(request, e.at+recordHead); err != nil {
				return err
			}
			var b bytes.Buffer
			appendRecord(&b, recordAdd, request)
			out.Write(b.Bytes())
			moved[i].at = end
			end += int64(b.Len())
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0600)
	if err != nil {
		return err
	}
	q.file.Close()
	q.file, q.waiting, q.end = file, moved, end
	return nil
}

var errTorn = errors.New("the record is damaged")

func readRecord(in *bufio.Reader, left int64) (byte, []byte, error) {
	var head [recordHead]byte
	if left < recordHead {
		return 0, nil, errTorn
	}
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	if n > mostRequest || n > left-recordHead {
		return 0, nil, errTorn
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(in, payload); err != nil {
		return 0, nil, err
	}
	sum := crc32.Update(crc32.Checksum(head[:5], castagnoli), castagnoli, payload)
	if sum != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, errTorn
	}
	return head[0], payload, nil
}

// apply runs one record of the log.
func (q *Queue) apply(kind byte, payload []byte, adds map[int64]entry, order []int64) ([]int64, error) {
	switch {
	case kind == recordAdd:
		id, err := idOfMarshaled(payload)
		if err != nil {
			return order, errTorn
		}
		adds[q.end] = entry{q.end, len(payload), id}
		return append(order, q.end), nil
	case kind == recordDone && len(payload) == 8:
		delete(adds, int64(binary.LittleEndian.Uint64(payload)))
		return order, nil
	case kind == recordSync && len(payload) == 8:
		return order, nil
	}
	return order, errTorn
}

func (q *Queue) take(adds map[int64]entry, order []int64) {
	for _, at := range order {
		if e, ok := adds[at]; ok {
			q.waiting = append(q.waiting, e)
			q.ids[e.id] = struct{}{}
			q.live += recordHead + int64(e.n)
		}
	}
}
