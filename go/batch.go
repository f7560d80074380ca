package deja

/*
#include "dejago.h"
*/
import "C"

import (
	"sync"
	"unsafe"
)

// A batch is keys for the C library: their bytes one after another, and the offset of each end.
// Copying them costs less than a cache miss of the filter, and no Go pointer is in memory that C
// sees.
type batch struct {
	text []byte
	end  []C.size_t
}

// Larger batches are not kept for reuse.
const keptBytes = 1 << 20

var batches = sync.Pool{New: func() interface{} { return new(batch) }}

func takeBatch(n int) *batch {
	b := batches.Get().(*batch)
	b.text = b.text[:0]
	b.end = b.end[:0]
	if cap(b.end) < n {
		b.end = make([]C.size_t, 0, n)
	}
	return b
}

func (b *batch) release() {
	if cap(b.text) <= keptBytes && cap(b.end) <= keptBytes/8 {
		batches.Put(b)
	}
}

func (b *batch) addStrings(keys []string) {
	for _, key := range keys {
		b.text = append(b.text, key...)
		b.end = append(b.end, C.size_t(len(b.text)))
	}
}

func (b *batch) addBytes(keys [][]byte) {
	for _, key := range keys {
		b.text = append(b.text, key...)
		b.end = append(b.end, C.size_t(len(b.text)))
	}
}

func (b *batch) n() C.size_t { return C.size_t(len(b.end)) }

func (b *batch) textAt() *C.char { return bytesAt(b.text) }

func (b *batch) endAt() *C.size_t {
	if len(b.end) == 0 {
		return nil
	}
	return &b.end[0]
}

func bytesAt(b []byte) *C.char {
	if len(b) == 0 {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&b[0]))
}

// stringAt returns the address of a string's bytes, which are not copied.
func stringAt(s string) *C.char {
	if s == "" {
		return nil
	}
	return (*C.char)(*(*unsafe.Pointer)(unsafe.Pointer(&s)))
}
