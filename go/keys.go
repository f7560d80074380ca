package deja

/*
#include "dejago.h"
*/
import "C"

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

// one calls the library with one key.
func (f *Filter) one(verb C.dejago_verb, key *C.char, n int) (uint64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.handle == nil {
		return 0, ErrClosed
	}
	a := C.dejago_one(verb, f.handle, f.rulesAt(), key, C.size_t(n))
	if a.not_urls != 0 {
		atomic.AddUint64(&f.notURLs, uint64(a.not_urls))
	}
	if a.status != C.DEJA_OK {
		return 0, failedAnswer(a)
	}
	return uint64(a.value), nil
}

func (f *Filter) rulesAt() *C.deja_url_rules {
	if f.rules == nil {
		return nil
	}
	return f.rules.handle
}

// Add adds a key and reports whether it was new. False means that it was added before or, at the
// filter's rate, is a false positive.
func (f *Filter) Add(key []byte) (isNew bool, err error) {
	v, err := f.one(C.DEJAGO_ADD, bytesAt(key), len(key))
	return v != 0, err
}

// AddString is Add for a string.
func (f *Filter) AddString(key string) (isNew bool, err error) {
	v, err := f.one(C.DEJAGO_ADD, stringAt(key), len(key))
	runtime.KeepAlive(key)
	return v != 0, err
}

// Contains reports whether a key was added. True may be a false positive.
//
// It panics with ErrClosed if the filter is closed: no answer would be right.
func (f *Filter) Contains(key []byte) bool {
	v, err := f.one(C.DEJAGO_CONTAINS, bytesAt(key), len(key))
	if err != nil {
		panic(err)
	}
	return v != 0
}

// ContainsString is Contains for a string.
func (f *Filter) ContainsString(key string) bool {
	v, err := f.one(C.DEJAGO_CONTAINS, stringAt(key), len(key))
	runtime.KeepAlive(key)
	if err != nil {
		panic(err)
	}
	return v != 0
}

// Remove undoes one add of a key (kinds Spectral and Paired) and reports false if the key is absent.
// Remove only keys that were added: removing a false positive of a Spectral filter takes counts from
// other keys. In a Paired filter, a removed key never comes back.
func (f *Filter) Remove(key []byte) (removed bool, err error) {
	v, err := f.one(C.DEJAGO_REMOVE, bytesAt(key), len(key))
	return v != 0, err
}

// Count returns how many times a key was added and not removed, or more (kind Spectral).
func (f *Filter) Count(key []byte) (uint64, error) {
	return f.one(C.DEJAGO_COUNT, bytesAt(key), len(key))
}

// HasPrefix reports whether any URL at or below this one was added (kind Layered).
func (f *Filter) HasPrefix(url []byte) (bool, error) {
	v, err := f.one(C.DEJAGO_PREFIX, bytesAt(url), len(url))
	return v != 0, err
}

// Days returns the days on which a key was first and last seen (Options.Dates); found is false if it
// is absent.
func (f *Filter) Days(key []byte) (first, last time.Time, found bool, err error) {
	v, err := f.one(C.DEJAGO_DAYS, bytesAt(key), len(key))
	if err != nil || v == 0 {
		return time.Time{}, time.Time{}, false, err
	}
	return day(v & 0xffff), day(v >> 16), true, nil
}

func day(n uint64) time.Time { return time.Unix(int64(n)*86400, 0).UTC() }

// --- Batches ---

// A portion of a batch is copied at a time, so that large batches do not need much memory.
const (
	portionKeys  = 4096
	portionBytes = 1 << 18
)

// A source is a list of keys.
type source struct {
	n     int
	bytes [][]byte
	text  []string
}

// fill copies a portion of the keys from number `from` on, and returns the number after the last.
func (s *source) fill(b *batch, from int) int {
	to := from
	for to < s.n && to-from < portionKeys && len(b.text) < portionBytes {
		if s.text != nil {
			b.addStrings(s.text[to : to+1])
		} else {
			b.addBytes(s.bytes[to : to+1])
		}
		to++
	}
	return to
}

// all calls the library with many keys and returns how many it processed. out has n elements of
// this width.
func (f *Filter) all(verb C.dejago_verb, s source, out unsafe.Pointer, width int) (int, error) {
	for at := 0; at < s.n; {
		b := takeBatch(portionKeys)
		to := s.fill(b, at)
		done, err := f.portion(verb, b, (*C.char)(unsafe.Add(out, at*width)))
		b.release()
		if err != nil {
			return at + done, err
		}
		at = to
	}
	return s.n, nil
}

func (f *Filter) portion(verb C.dejago_verb, b *batch, out *C.char) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.handle == nil {
		return 0, ErrClosed
	}
	a := C.dejago_all(verb, f.handle, f.rulesAt(), b.textAt(), b.endAt(), b.n(), out)
	if a.not_urls != 0 {
		atomic.AddUint64(&f.notURLs, uint64(a.not_urls))
	}
	return int(a.value), failedAnswer(a)
}

func (f *Filter) flags(verb C.dejago_verb, s source) ([]bool, error) {
	if s.n == 0 {
		return nil, nil
	}
	out := make([]bool, s.n)
	done, err := f.all(verb, s, unsafe.Pointer(&out[0]), 1)
	return out[:done], err
}

// AddBatch adds keys in order, with their cache misses overlapped, and reports which were new. On
// failure, the result has the answers for the keys that were added.
func (f *Filter) AddBatch(keys [][]byte) (isNew []bool, err error) {
	return f.flags(C.DEJAGO_ADD, source{n: len(keys), bytes: keys})
}

// AddStrings is AddBatch for strings.
func (f *Filter) AddStrings(keys []string) (isNew []bool, err error) {
	return f.flags(C.DEJAGO_ADD, source{n: len(keys), text: keys})
}

// ContainsBatch reports which keys were added. It panics with ErrClosed if the filter is closed.
func (f *Filter) ContainsBatch(keys [][]byte) []bool {
	return mustFlags(f.flags(C.DEJAGO_CONTAINS, source{n: len(keys), bytes: keys}))
}

// ContainsStrings is ContainsBatch for strings.
func (f *Filter) ContainsStrings(keys []string) []bool {
	return mustFlags(f.flags(C.DEJAGO_CONTAINS, source{n: len(keys), text: keys}))
}

func mustFlags(out []bool, err error) []bool {
	if err != nil {
		panic(err)
	}
	return out
}

// RemoveBatch is Remove for many keys. On failure, the result has the answers so far.
func (f *Filter) RemoveBatch(keys [][]byte) (removed []bool, err error) {
	return f.flags(C.DEJAGO_REMOVE, source{n: len(keys), bytes: keys})
}

// HasPrefixBatch is HasPrefix for many URLs.
func (f *Filter) HasPrefixBatch(urls [][]byte) ([]bool, error) {
	return f.flags(C.DEJAGO_PREFIX, source{n: len(urls), bytes: urls})
}

// CountBatch is Count for many keys.
func (f *Filter) CountBatch(keys [][]byte) ([]uint64, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	out := make([]uint64, len(keys))
	done, err := f.all(C.DEJAGO_COUNT, source{n: len(keys), bytes: keys}, unsafe.Pointer(&out[0]), 8)
	return out[:done], err
}
