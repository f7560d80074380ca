package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"runtime"
	"sync"
	"unsafe"
)

// A Builder makes a Static filter, the smallest kind, from all its keys at once. A key takes 8 bytes
// while keys are collected and about 32 while the filter is built.
type Builder struct {
	mu     sync.Mutex
	handle *C.deja_builder
	rules  *URLRules
}

var errBuilt = errors.New("deja: the builder has finished or is closed")

// NewBuilder begins a Static filter. FPRate or FingerprintBits choose its false-positive rate.
func NewBuilder(o Options) (*Builder, error) {
	o.Kind = Static
	c, err := choose(&o)
	if err != nil {
		return nil, err
	}
	var e C.deja_error
	b := &Builder{rules: c.rules}
	if err := failed(C.dejago_builder(&c.c, c.keyAt(), &b.handle, &e), &e, ""); err != nil {
		return nil, err
	}
	runtime.SetFinalizer(b, func(b *Builder) { C.deja_builder_free(b.handle) })
	return b, nil
}

// Add adds keys, in any order; repeats do no harm.
func (b *Builder) Add(keys ...[]byte) error {
	return b.collect(source{n: len(keys), bytes: keys}, false)
}

// AddStrings is Add for strings.
func (b *Builder) AddStrings(keys []string) error {
	return b.collect(source{n: len(keys), text: keys}, false)
}

// Except names keys that the filter must not find, not even by mistake. One that was also added is
// left out.
func (b *Builder) Except(keys ...[]byte) error {
	return b.collect(source{n: len(keys), bytes: keys}, true)
}

func (b *Builder) collect(s source, except bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := 0; at < s.n; {
		if b.handle == nil {
			return errBuilt
		}
		var rules *C.deja_url_rules
		if b.rules != nil {
			rules = b.rules.handle
		}
		keys := takeBatch(portionKeys)
		at = s.fill(keys, at)
		a := C.dejago_build(b.handle, rules, C.bool(except), keys.textAt(), keys.endAt(), keys.n())
		keys.release()
		if err := failedAnswer(a); err != nil {
			return err
		}
	}
	return nil
}

// Finish builds the filter: in memory if path is "", otherwise in a new file as Create does. Replace
// and Mode of the options count. The builder is closed.
func (b *Builder) Finish(path string, o Options) (*Filter, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.handle == nil {
		return nil, errBuilt
	}
	var name *C.char
	if path != "" {
		name = C.CString(path)
		defer C.free(unsafe.Pointer(name))
	}
	var e C.deja_error
	var handle *C.deja_filter
	rc, number := C.deja_builder_finish(b.handle, name, createFlags(&o), &handle, &e)
	if err := failedFile(rc, number, &e, path); err != nil {
		return nil, err
	}
	b.release()
	return named(newFilter(handle, path, b.rules))
}

// Close frees the builder and its keys.
func (b *Builder) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.release()
}

func (b *Builder) release() {
	if b.handle != nil {
		runtime.SetFinalizer(b, nil)
		C.deja_builder_free(b.handle)
		b.handle = nil
	}
}
