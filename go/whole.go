package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"time"
	"unsafe"
)

// alone calls a function of the library while no other call uses the filter.
func (f *Filter) alone(call func(e *C.deja_error) (C.int, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.called(call)
}

func (f *Filter) called(call func(e *C.deja_error) (C.int, error)) error {
	if f.handle == nil {
		return ErrClosed
	}
	var e C.deja_error
	rc, number := call(&e)
	return failedFile(rc, number, &e, f.path)
}

// bothAlone locks two filters, always in the same order.
func bothAlone(a, b *Filter, call func(e *C.deja_error) (C.int, error)) error {
	first, second := a, b
	if b.number < a.number {
		first, second = b, a
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if second != first {
		second.mu.Lock()
		defer second.mu.Unlock()
	}
	if b.handle == nil {
		return ErrClosed
	}
	return a.called(call)
}

// Merge adds all keys of another filter. A filter that grows takes any other with the same kind of
// parts, hash and URL profile; all others need the same sizes and secret key (ErrMismatch).
func (f *Filter) Merge(from *Filter) error {
	return bothAlone(f, from, func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_merge(f.handle, from.handle, e)
		return rc, number
	})
}

// Difference lists the reasons why `from` cannot be merged into f, such as "kind: blocked and
// classic".
func (f *Filter) Difference(from *Filter) ([]string, error) {
	var reasons []string
	err := bothAlone(f, from, func(e *C.deja_error) (C.int, error) {
		for i := C.size_t(0); C.deja_filter_difference(f.handle, from.handle, i, e); i++ {
			reasons = append(reasons, C.GoString(&e.text[0]))
		}
		return C.DEJA_OK, nil
	})
	return reasons, err
}

// Overlap estimates how many keys are in both filters, with the standard deviation.
func (f *Filter) Overlap(other *Filter) (keys, sigma float64, err error) {
	var k, s C.double
	err = bothAlone(f, other, func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_overlap(f.handle, other.handle, &k, &s, e)
		return rc, number
	})
	return float64(k), float64(s), err
}

// Fold halves a Classic or Blocked filter this many times, which raises its false-positive rate.
func (f *Filter) Fold(times int) error {
	if times < 1 || times > 64 {
		return invalid("Fold(%d): the number of times must be 1 to 64", times)
	}
	return f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_fold(f.handle, C.uint32_t(times), e)
		return rc, number
	})
}

// Rotate begins the next visit: it empties the filter and gives it different hash functions, so that
// the next visit finds the pages that this one lost to false positives. Capacity, FPRate, Memory and
// the other sizes in next apply; if there are none, the filter is sized from the keys of this visit.
func (f *Filter) Rotate(next Options) error {
	c, err := choose(&next)
	if err != nil {
		return err
	}
	return f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_rotate(f.handle, &c.c, e)
		return rc, number
	})
}

// Save writes the filter to a new file, with its secret key and counts. Replace and Mode are as for
// Create; other options are ignored.
func (f *Filter) Save(path string, o Options) error {
	copy, err := f.CopyTo(path, o)
	if err != nil {
		return err
	}
	return copy.Close()
}

// CopyTo writes the filter to a new file as Save does, and returns the copy.
func (f *Filter) CopyTo(path string, o Options) (*Filter, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var handle *C.deja_filter
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		return nil, ErrClosed
	}
	var e C.deja_error
	rc, number := C.deja_filter_copy(f.handle, name, createFlags(&o), &handle, &e)
	if err := failedFile(rc, number, &e, path); err != nil {
		return nil, err
	}
	return named(newFilter(handle, path, f.rules))
}

// Like makes an empty filter in memory with the kind, sizes, secret key and URL rules of f, so that
// both can be merged.
func (f *Filter) Like() (*Filter, error) {
	var handle *C.deja_filter
	err := f.alone(func(e *C.deja_error) (C.int, error) {
		var opt C.deja_options
		opt.size = C.size_t(unsafe.Sizeof(opt))
		opt.url = f.rulesAt()
		if rc := C.deja_options_like(f.handle, &opt, e); rc != C.DEJA_OK {
			return rc, nil
		}
		rc, number := C.dejago_new(&opt, (*C.char)(opt.key), &handle, e)
		return rc, number
	})
	if err != nil {
		return nil, err
	}
	return newFilter(handle, "", f.rules), nil
}

// SetClock sets the time of a Window or of a filter with dates; the zero time restores the system's
// clock.
func (f *Filter) SetClock(t time.Time) error {
	var seconds C.uint64_t
	if !t.IsZero() {
		if t.Unix() <= 0 {
			return invalid("SetClock(%v): the time must be after 1970", t)
		}
		seconds = C.uint64_t(t.Unix())
	}
	return f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_set_clock(f.handle, seconds, e)
		return rc, number
	})
}

// Older returns how many keys were last seen before a day (Options.Dates).
func (f *Filter) Older(before time.Time) (uint64, error) {
	var keys C.uint64_t
	err := f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_older(f.handle, dayOf(before), &keys, e)
		return rc, number
	})
	return uint64(keys), err
}

// Expire removes the keys that were last seen before a day (Options.Dates) and returns how many.
func (f *Filter) Expire(before time.Time) (uint64, error) {
	var keys C.uint64_t
	err := f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_expire(f.handle, dayOf(before), &keys, e)
		return rc, number
	})
	return uint64(keys), err
}

func dayOf(t time.Time) C.uint32_t {
	n := t.Unix() / 86400
	if n < 0 {
		n = 0
	}
	if n > 1<<32-1 {
		n = 1<<32 - 1
	}
	return C.uint32_t(n)
}

// CheckFile returns an error if the filter's file was truncated or overwritten, so that answers may
// be wrong. The library notices this only after GuardFiles.
func (f *Filter) CheckFile() error {
	return f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_check_file(f.handle, e)
		return rc, number
	})
}

// VerifyFile reads a whole file and compares its checksums. ErrFormat: it is damaged; ErrBusy: it was
// not synced after its last add.
func VerifyFile(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var e C.deja_error
	rc, number := C.deja_file_verify(name, &e)
	return failedFile(rc, number, &e, path)
}

const piece = 1 << 20

// WriteTo writes the bytes of the file that the filter would have. It implements io.WriterTo.
func (f *Filter) WriteTo(w io.Writer) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		return 0, ErrClosed
	}
	var written int64
	buf := make([]byte, piece)
	for {
		n := C.dejago_export(f.handle, C.uint64_t(written), bytesAt(buf), C.size_t(len(buf)))
		if n == 0 {
			return written, nil
		}
		done, err := w.Write(buf[:n])
		written += int64(done)
		if err != nil {
			return written, err
		}
		if C.size_t(done) < n {
			return written, io.ErrShortWrite
		}
	}
}

// Bytes returns the bytes of the file that the filter would have.
func (f *Filter) Bytes() ([]byte, error) {
	var b bytes.Buffer
	_, err := f.WriteTo(&b)
	return b.Bytes(), err
}

// Import makes a filter in memory from the bytes of a file. They may come from an untrusted source:
// ErrFormat if they are not a filter, or were truncated or changed. Options are as for Open.
func Import(data []byte, o Options) (*Filter, error) {
	c, err := choose(&o)
	if err != nil {
		return nil, err
	}
	var handle *C.deja_filter
	err = c.accepted(func(e *C.deja_error) error {
		return failed(C.dejago_import(bytesAt(data), C.size_t(len(data)), &c.c, c.keyAt(), &handle, e), e, "")
	})
	if err != nil {
		return nil, err
	}
	f := newFilter(handle, "", c.rules)
	return f, f.adoptRules()
}

// Layer describes a layer of a Layered filter: 1 .. Stats.Layers, or 0 for the layer of whole keys.
type Layer struct {
	Segments uint64 // distinct ones
	Capacity uint64
	Bytes    uint64
	FPNow    float64 // rate at which an absent segment is found
	Parts    uint32
	Hashes   uint32
}

// Layer describes one layer of a Layered filter.
func (f *Filter) Layer(number int) (*Layer, error) {
	if number < 0 || number > 1<<20 {
		return nil, invalid("there is no layer %d", number)
	}
	var l C.deja_layer
	l.size = C.size_t(unsafe.Sizeof(l))
	err := f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_layer(f.handle, C.uint32_t(number), &l, e)
		return rc, number
	})
	if err != nil {
		return nil, err
	}
	return &Layer{Segments: uint64(l.segments), Capacity: uint64(l.capacity), Bytes: uint64(l.bytes),
		FPNow: float64(l.fp_now), Parts: uint32(l.parts), Hashes: uint32(l.hashes)}, nil
}

var _ fmt.Stringer = (*Filter)(nil)
var _ io.WriterTo = (*Filter)(nil)
