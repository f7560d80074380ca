// Package purefile reads .deja files in pure Go, without cgo and without the C library.
//
// It looks up keys in filters of every kind, counts keys and verifies checksums. It was written from
// the documents of the format (docs/format.md), not from the library. To create a filter or to add
// keys, use package deja.
//
//	f, err := purefile.Open("blocklist.deja", purefile.Options{})
//	...
//	if f.ContainsString("https://example.com/") { ... }
//
// This package does not canonicalize URLs: it refuses a file with a URL profile unless you promise
// canonical keys (Options.CanonicalKeys).
//
// The methods of a File can be called from several goroutines.
package purefile

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// The kinds of errors; compare with errors.Is.
var (
	ErrFormat       = errors.New("not a filter file, or a damaged one")
	ErrVersion      = errors.New("made by a newer deja")
	ErrMismatch     = errors.New("a different key or URL profile")
	ErrNotSynced    = errors.New("not synced since the last add, so there is no checksum")
	ErrNotSupported = errors.New("this kind of filter cannot do that")
)

// An Error says which field of a file is wrong. errors.Is finds its Kind, such as ErrFormat.
type Error struct {
	Kind error
	Text string
}

func (e *Error) Error() string { return "purefile: " + e.Text }

// Unwrap returns the Kind.
func (e *Error) Unwrap() error { return e.Kind }

// Options say how to open a file. The zero value fits most files.
type Options struct {
	// Key has the 32 secret bytes of a file that does not contain them.
	Key []byte
	// CanonicalKeys promises that all keys are in the canonical form of the file's URL profile.
	// Without it, a file with a profile is refused.
	CanonicalKeys bool
	// InMemory reads the file instead of mapping it. A mapped file shows the keys that a writer adds
	// later, but if somebody truncates it, the next lookup kills the process (SIGBUS).
	InMemory bool
	// Repair accepts a file with one damaged sync record.
	Repair bool
	// Now replaces the system's clock, for windows by time.
	Now func() time.Time
}

// A File is an open filter.
type File struct {
	h      *header
	data   []byte
	opt    Options
	hasher *hasher
	others []*hasher
	salts  []uint64 // of the parts
	layer  []uint64 // layered: salts of layers 1 .. 10
	place  []uint64 // layered in words mode: salts of places 0 .. 15
	last   atomic.Value
	shared bool // with a writer
	unmap  func() error
	mu     sync.Mutex
}

// Open opens a filter file. It reads only the header, unless Options.InMemory is set.
func Open(path string, o Options) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, named(path, damaged("not a regular file"))
	}
	h, err := readHeader(file)
	if err != nil {
		return nil, named(path, err)
	}
	if uint64(info.Size()) != h.fileLen {
		return nil, named(path, damaged("the file has %d bytes, not %d", info.Size(), h.fileLen))
	}
	data, unmap, err := load(file, info.Size(), o.InMemory)
	if err != nil {
		return nil, named(path, err)
	}
	f, err := parse(data, o, !o.InMemory)
	if err != nil {
		unmap()
		return nil, named(path, err)
	}
	f.unmap = unmap
	return f, nil
}

func named(path string, err error) error {
	if e, ok := err.(*Error); ok {
		return &Error{e.Kind, path + ": " + e.Text}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// readHeader checks a header before its file is mapped or read.
func readHeader(file io.ReaderAt) (*header, error) {
	var b [headerLen]byte
	n, err := file.ReadAt(b[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return parseHeader(b[:n])
}

// load maps or reads a file of this length.
func load(file *os.File, size int64, copied bool) ([]byte, func() error, error) {
	if int64(int(size)) != size {
		return nil, nil, damaged("too large for this machine")
	}
	if !copied {
		if data, unmap, err := mapFile(file, int(size)); err == nil {
			return data, unmap, nil
		}
	}
	data := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(file, 0, size), data)
	return data, func() error { return nil }, err
}

// Parse opens a filter from the bytes of a file, which must not change.
func Parse(data []byte, o Options) (*File, error) { return parse(data, o, false) }

// parse runs steps 1 to 8 of docs/format.md#checking-a-file.
func parse(data []byte, o Options, shared bool) (*File, error) {
	// A copy, which nobody can change between the checks and the use of a field.
	h, err := parseHeader(append([]byte(nil), data[:min(len(data), headerLen)]...))
	if err != nil {
		return nil, err
	}
	f := &File{h: h, data: data, opt: o, shared: shared, unmap: func() error { return nil }}
	r, err := f.readRecord(o.Repair)
	if err != nil {
		return nil, err
	}
	f.last.Store(r)
	if uint64(len(data)) != h.fileLen {
		return nil, damaged("%d bytes instead of %d", len(data), h.fileLen)
	}
	if err := f.takeKey(); err != nil {
		return nil, err
	}
	if h.profile != 0 && !o.CanonicalKeys {
		return nil, &Error{ErrMismatch, fmt.Sprintf(
			"its keys are canonical URLs (profile %s), and this reader does not canonicalize: set Options.CanonicalKeys and pass canonical keys",
			profiles[h.profile])}
	}
	f.prepare()
	return f, nil
}

// readRecord returns the newest record. A writer may be writing one: then the others are read again.
func (f *File) readRecord(repair bool) (*record, error) {
	var err error
	for i := 0; i == 0 || f.shared && i < 3; i++ {
		if i > 0 {
			time.Sleep(time.Millisecond)
		}
		var page [headerLen]byte
		copy(page[recordAt:], f.data[recordAt:headerLen])
		var r *record
		if r, err = newest(page[:], f.h.checksum, repair); err == nil {
			return r, nil
		}
	}
	return nil, err
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func (f *File) takeKey() error {
	h, key := f.h, f.opt.Key
	if key == nil {
		if h.flags&flagApart != 0 {
			return &Error{ErrMismatch, "the file does not contain its secret key: set Options.Key"}
		}
		key = h.key
	}
	if len(key) != 32 {
		return &Error{ErrMismatch, fmt.Sprintf("Options.Key has %d bytes; a secret key has 32", len(key))}
	}
	numbers := 0
	if h.hash > hashSip {
		numbers = int(h.filters) * h.part[0].k
	}
	f.hasher = newHasher(key, h.visit, h.rules, h.hash, numbers, h.kind == layered)
	if f.hasher.check() != h.keyCheck {
		if f.opt.Key == nil {
			return damaged("the secret key in the file does not match its check value")
		}
		return &Error{ErrMismatch, "the secret key is not that of the file"}
	}
	for _, o := range h.other {
		f.others = append(f.others, newHasher(o.key, o.visit, o.rules, h.hash, 0, false))
	}
	return nil
}

// prepare computes what lookups need.
func (f *File) prepare() {
	sets := map[int]*[256]uint16{}
	for i := range f.h.part {
		p := &f.h.part[i]
		p.body = f.data[p.offset : p.offset+p.length]
		if p.kind == blocked || p.kind == spectral && !p.spread || p.kind == window {
			k := p.k / p.lines
			if sets[k] == nil {
				sets[k] = laneSets(k)
			}
			p.sets = sets[k]
		}
		salt := uint64(0)
		if n := f.place0() + i; n > 0 && f.h.kind != scalable {
			salt = f.hasher.partSalt(n)
		}
		f.salts = append(f.salts, salt)
	}
	if f.h.kind == layered {
		for i := 0; i <= 10; i++ {
			f.layer = append(f.layer, f.hasher.layerSalt(i))
		}
		for t := 0; t < mostWords; t++ {
			f.place = append(f.place, f.hasher.placeSalt(t))
		}
	}
}

// place0 is the number of the first part among the filters that must agree.
func (f *File) place0() int {
	if f.h.machine > 0 {
		return int(f.h.machine) - 1
	}
	return 0
}

// Close unmaps the file. No other call may be running or follow.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	unmap := f.unmap
	f.unmap = func() error { return nil }
	return unmap()
}

// ContainsString is Contains for a string.
func (f *File) ContainsString(key string) bool { return f.Contains([]byte(key)) }

// Contains reports whether a key was added. True may be a false positive.
func (f *File) Contains(key []byte) bool {
	parts := f.h.part
	switch f.h.kind {
	case layered:
		return f.inLayers(key)
	case scalable:
		return f.firstWith(key, func(p *part, h uint64) bool { return p.has(h) })
	case window:
		return f.inWindow(f.hasher.number(key))
	case paired, static:
		h := f.hasher.number(key)
		return parts[0].has(h) && (len(parts) == 1 || !parts[1].has(mix(h^f.salts[1])))
	}
	if f.hasher.several() {
		numbers := make([]uint64, 0, 64)
		for i := range parts {
			numbers = numbers[:0]
			first := (f.place0() + i) * parts[i].k
			for w := first; w < first+parts[i].k; w++ {
				numbers = append(numbers, f.hasher.salted(w, key))
			}
			if !parts[i].hasAll(numbers) {
				return false
			}
		}
		return true
	}
	h := f.hasher.number(key)
	for i := range parts {
		if !parts[i].has(f.ofPart(i, h)) {
			return false
		}
	}
	return true
}

// ofPart is the number that part i uses for a key with the number h.
func (f *File) ofPart(i int, h uint64) uint64 {
	if f.salts[i] == 0 {
		return h
	}
	return mix(h ^ f.salts[i])
}

// firstWith asks the parts of a scalable filter, each with the hash of its secret key, until one
// says yes.
func (f *File) firstWith(key []byte, ask func(p *part, h uint64) bool) bool {
	var number [8]uint64
	number[0] = f.hasher.number(key)
	for i, x := range f.others {
		number[1+i] = x.number(key)
	}
	for i := range f.h.part {
		p := &f.h.part[i]
		from := 0
		if p.origin > 1 {
			from = p.origin - 1
		}
		if ask(p, number[from]) {
			return true
		}
	}
	return false
}

// inWindow asks the live generations.
func (f *File) inWindow(h uint64) bool {
	p := &f.h.part[0]
	r := f.last.Load().(*record)
	if f.h.seconds > 0 {
		// A writer may have begun a generation since.
		var page [headerLen]byte
		copy(page[recordAt:], f.data[recordAt:headerLen])
		if now, err := newest(page[:], f.h.checksum, false); err == nil {
			f.last.Store(now)
			r = now
		}
	}
	now := time.Now
	if f.opt.Now != nil {
		now = f.opt.Now
	}
	seconds, t, g := uint64(now().Unix()), f.h.seconds, uint64(f.h.generations)
	for i := uint64(0); i <= g; i++ {
		if t > 0 {
			s := r.beginning[i]
			if s == 0 || seconds >= s && seconds-s >= (t+g-1)/g+t {
				continue
			}
		}
		if p.inGeneration(h, i) {
			return true
		}
	}
	return false
}

// Count returns how many times a key was added and not removed, or more. ErrNotSupported: the kind
// is not spectral.
func (f *File) Count(key []byte) (uint64, error) {
	if f.h.kind != spectral {
		return 0, f.cannot("count keys", "spectral")
	}
	least, h := uint64(1<<64-1), f.hasher.number(key)
	for i := range f.h.part {
		if n := f.h.part[i].count(f.ofPart(i, h)); n < least {
			least = n
		}
	}
	return least, nil
}

// Days returns the days on which a key was first and last seen, as numbers of days since 1970-01-01;
// 0 and 0: it is absent. ErrNotSupported: the filter has no dates.
func (f *File) Days(key []byte) (first, last uint16, err error) {
	if f.h.flags&flagDates == 0 {
		return 0, 0, f.cannot("report when a key was seen", "exact, with dates,")
	}
	if f.h.kind == exact {
		first, last = f.h.part[0].days(f.hasher.number(key))
		return first, last, nil
	}
	f.firstWith(key, func(p *part, h uint64) bool {
		first, last = p.days(h)
		return first != 0
	})
	return first, last, nil
}

func (f *File) cannot(what, who string) error {
	return &Error{ErrNotSupported, fmt.Sprintf("a filter of kind %s cannot %s; one of kind %s can", kinds[f.h.kind], what, who)}
}

// Verify reads the whole file and compares its checksums. ErrNotSynced: keys were added since the
// last sync, so there is nothing to compare with.
func (f *File) Verify() error {
	r, err := f.readRecord(f.opt.Repair)
	if err != nil {
		return err
	}
	if !r.sealed {
		return &Error{ErrNotSynced, "not synced since the last add"}
	}
	if f.h.flags&flagPieces == 0 {
		if xxh3(f.data[headerLen:]) != r.checksum {
			return damaged("the bodies do not match their checksum")
		}
		return nil
	}
	return f.verifyPieces(r.checksum)
}

func (f *File) verifyPieces(checksum uint64) error {
	parts := f.h.part
	last := parts[len(parts)-1]
	table := f.data[last.offset+last.length:]
	if xxh3(table) != checksum {
		return damaged("the piece table does not match its checksum")
	}
	for _, p := range parts {
		for body, at := p.body, p.offset; len(body) > 0; {
			n := len(body)
			if n > pieceLen {
				n = pieceLen
			}
			if xxh3(body[:n]) != u64(table) || ones(body[:n]) != u64(table[8:]) {
				return damaged("bytes %d .. %d do not match their checksum", at, at+uint64(n)-1)
			}
			body, table, at = body[n:], table[16:], at+uint64(n)
		}
	}
	return nil
}

// ones counts the set bits; the length is a multiple of 8.
func ones(b []byte) (n uint64) {
	for ; len(b) >= 8; b = b[8:] {
		n += uint64(bits.OnesCount64(u64(b)))
	}
	return n
}
