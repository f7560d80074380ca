package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A Filter is a set of keys. Its methods can be called from several goroutines.
//
// A key that was added to a file is found by every process that has the file open, and survives the
// end of the process; after Sync it survives a power cut.
type Filter struct {
	mu       sync.RWMutex // shared by calls on keys, which the library can run concurrently
	handle   *C.deja_filter
	rules    *URLRules
	path     string
	readOnly bool
	number   uint64 // the order in which two filters are locked
	notURLs  uint64
}

var filtersMade uint64

func newFilter(handle *C.deja_filter, path string, rules *URLRules) *Filter {
	f := &Filter{handle: handle, path: path, rules: rules, number: atomic.AddUint64(&filtersMade, 1)}
	runtime.SetFinalizer(f, func(f *Filter) { C.deja_filter_free(f.handle) })
	return f
}

// New makes an empty filter in memory.
func New(o Options) (*Filter, error) {
	c, err := choose(&o)
	if err == nil {
		err = c.grow(&o)
	}
	if err != nil {
		return nil, err
	}
	var e C.deja_error
	var handle *C.deja_filter
	if err := failed(C.dejago_new(&c.c, c.keyAt(), &handle, &e), &e, ""); err != nil {
		return nil, err
	}
	return newFilter(handle, "", c.rules), nil
}

// Create makes an empty filter in a new file. If the name is taken it fails with ErrInvalid, unless
// Options.Replace is set, which replaces filter files and nothing else.
func Create(path string, o Options) (*Filter, error) {
	c, err := choose(&o)
	if err == nil {
		err = c.grow(&o)
	}
	if err != nil {
		return nil, err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var e C.deja_error
	var handle *C.deja_filter
	rc, number := C.dejago_create(name, createFlags(&o), &c.c, c.keyAt(), &handle, &e)
	if err := failedFile(rc, number, &e, path); err != nil {
		return nil, err
	}
	return named(newFilter(handle, path, c.rules))
}

// named gives a new file its name.
func named(f *Filter) (*Filter, error) {
	if err := f.Sync(); err != nil {
		f.free()
		return nil, err
	}
	return f, nil
}

// Open opens a filter file to read it and to add keys. Only one process can do so (ErrBusy); others
// can read the file at the same time. Options that are given must match the file; Options.Key is
// required if the file was made with it.
func Open(path string, o Options) (*Filter, error) { return open(path, &o, C.DEJA_OPEN_WRITE) }

// OpenReader opens a filter file to look up keys.
func OpenReader(path string, o Options) (*Filter, error) { return open(path, &o, 0) }

// OpenOrCreate opens a filter file as Open does, or creates it if it does not exist.
func OpenOrCreate(path string, o Options) (*Filter, error) {
	f, err := Open(path, o)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	return Create(path, o)
}

func open(path string, o *Options, flags C.unsigned) (*Filter, error) {
	c, err := choose(o)
	if err != nil {
		return nil, err
	}
	if o.Repair {
		flags |= C.DEJA_OPEN_REPAIR
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var handle *C.deja_filter
	err = c.accepted(func(e *C.deja_error) error {
		rc, number := C.dejago_open(name, flags, &c.c, c.keyAt(), &handle, e)
		return failedFile(rc, number, e, path)
	})
	if err != nil {
		return nil, err
	}
	f := newFilter(handle, path, c.rules)
	f.readOnly = flags&C.DEJA_OPEN_WRITE == 0
	return f, f.adoptRules()
}

// accepted opens a filter; if it refuses the URL rules, the previous version of these is tried.
func (o *chosen) accepted(open func(e *C.deja_error) error) error {
	var e C.deja_error
	err := open(&e)
	if o.rules == nil || !errors.Is(err, ErrMismatch) {
		return err
	}
	older := o.rules.older()
	if older == nil {
		return err
	}
	o.c.url = older.handle
	var ignored C.deja_error
	if open(&ignored) != nil {
		return err
	}
	o.rules = older
	return nil
}

// adoptRules uses the URL rules of an opened filter, unless the caller gave rules.
func (f *Filter) adoptRules() error {
	if f.rules != nil {
		return nil
	}
	s, err := f.Stats(false)
	if err == nil && s.Profile != 0 {
		f.rules, err = Rules(s.Profile)
		for err == nil && f.rules != nil && f.rules.ID() != s.URLRules {
			f.rules = f.rules.older()
		}
		if err == nil && f.rules == nil {
			err = &Error{Status: ErrMismatch, Text: fmt.Sprintf(
				"%s: made with a custom list of parameters for profile %v; pass the same list in Options.Rules",
				f.where(), s.Profile)}
		}
	}
	if err != nil {
		f.free()
	}
	return err
}

func (f *Filter) where() string {
	if f.path == "" {
		return "filter in memory"
	}
	return f.path
}

// Path returns the name of the filter's file, or "" if it is in memory.
func (f *Filter) Path() string { return f.path }

// Rules returns the rules that bring keys to their canonical form; nil: keys are any bytes.
func (f *Filter) Rules() *URLRules { return f.rules }

// NotURLs returns how many keys were not URLs, in calls on a filter with a URL profile.
func (f *Filter) NotURLs() uint64 { return atomic.LoadUint64(&f.notURLs) }

// Sync makes every key added so far survive a power cut. It does nothing for a filter in memory.
func (f *Filter) Sync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sync()
}

func (f *Filter) sync() error {
	if f.handle == nil {
		return ErrClosed
	}
	if f.path == "" || f.readOnly {
		return nil
	}
	var e C.deja_error
	rc, number := C.deja_filter_sync(f.handle, &e)
	return failedFile(rc, number, &e, f.path)
}

// Close syncs the filter and frees it; it is freed even if the sync fails. Closing it again does
// nothing.
func (f *Filter) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.handle == nil {
		return nil
	}
	err := f.sync()
	f.release()
	return err
}

func (f *Filter) free() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.release()
}

func (f *Filter) release() {
	runtime.SetFinalizer(f, nil)
	C.deja_filter_free(f.handle)
	f.handle = nil
}

// Can reports whether this filter has all these capabilities; its options can rule out some of
// those of its kind.
func (f *Filter) Can(c Capability) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handle != nil && bool(C.deja_filter_can(f.handle, C.uint32_t(c)))
}

// String describes the filter: its kind, number of keys, rate and file.
func (f *Filter) String() string {
	s, err := f.Stats(false)
	if err != nil {
		return fmt.Sprintf("deja filter (%s, closed)", f.where())
	}
	kind := s.Kind.String()
	if s.PartKind != s.Kind {
		kind += " of " + s.PartKind.String()
	}
	return fmt.Sprintf("deja filter (%s, %s, %d keys, rate %.2g)", f.where(), kind, s.Keys, s.FPRate)
}
