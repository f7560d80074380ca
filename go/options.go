package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"io/fs"
	"reflect"
	"unsafe"
)

// Options describe a filter. The zero value is a filter that grows, at a rate of one in a million.
// A field that is zero asks for the default.
//
// Capacity, FPRate and Memory depend on each other: give two of them, or one and use the default
// rate; deja computes the third. When you open a file, its sizes stay as they are, and Kind, Hash,
// Seed, URL, the numbers that define the kind, and the flags must match the file if they are given.
type Options struct {
	Kind     Kind    `deja:"kind"`
	Capacity uint64  `deja:"capacity"` // number of keys; the first size of a filter that grows
	FPRate   float64 `deja:"fp_rate"`  // false-positive rate at capacity; default 1e-6
	Memory   uint64  `deja:"memory"`   // bytes of the body

	// Fixed keeps the filter at its size: beyond Capacity, its rate rises. Without it, filters of the
	// kinds Blocked, Classic and Exact grow, unless another option fixes their size.
	Fixed bool

	Key    []byte    `deja:"key"`  // KeyLen secret bytes, not stored in the file; default: random, stored
	Seed   uint64    `deja:"seed"` // the same filter in every run; not secret
	URL    Profile   // compare URLs in this form
	Rules  *URLRules `deja:"url"` // the same, with your own list of parameters
	Format uint64    `deja:"format"`

	Hash       Hash    `deja:"hash"`
	Hashes     uint32  `deja:"hashes"`      // k
	Multiplier float64 `deja:"multiplier"`  // M of m = n k M
	Filters    uint32  `deja:"filters"`     // this many filters must agree
	Machine    uint64  `deja:"machine"`     // hold only filter 1 .. Filters
	CacheLines uint64  `deja:"cache_lines"` // of a key in a Blocked filter: 1, 2 or 3

	PartKind   Kind    `deja:"part_kind"`  // Scalable: kind of its parts
	Growth     uint32  `deja:"growth"`     // Scalable: size of the next part, relative to the last
	Tightening float64 `deja:"tightening"` // Scalable: rate of the next part, relative to the last

	CounterBits     uint32 `deja:"counter_bits"`     // Spectral: 4, 8, 16 or 32
	MinimalIncrease bool   `deja:"minimal_increase"` // Spectral: more accurate counts, no removal
	Spread          bool   `deja:"spread"`           // Spectral: less memory, more cache misses

	Dates bool `deja:"dates"` // Exact: store the days on which each key was seen

	Deletions       uint64 `deja:"deletions"`        // Paired: expected removals
	Generations     uint32 `deja:"generations"`      // Window: 1 .. 7
	WindowSeconds   uint64 `deja:"window_seconds"`   // Window: by time; default: by keys
	FingerprintBits uint32 `deja:"fingerprint_bits"` // Static: 8, 16 or 32

	Layers       uint32 `deja:"layers"`        // Layered: at most this many
	LayeredPaper bool   `deja:"layered_paper"` // Layered: Algorithms 3 and 4 as published
	LayeredWords bool   `deja:"layered_words"` // Layered: keys are words
	Delimiter    byte   `deja:"delimiter"`     // Layered: between words

	Replace bool        // Create: replace a filter file of that name
	Mode    fs.FileMode // Create: permissions; default 0600 if the file contains its secret key
	Repair  bool        // Open: trust one sync record if the other one is damaged
}

// fieldOf maps names of the option table to fields.
var fieldOf = func() map[string]string {
	fields := map[string]string{}
	t := reflect.TypeOf(Options{})
	for i := 0; i < t.NumField(); i++ {
		if name := t.Field(i).Tag.Get("deja"); name != "" {
			fields[name] = t.Field(i).Name
		}
	}
	fields["url"] = "URL"
	return fields
}()

// chosen are options as the library takes them. The key stays in Go's memory.
type chosen struct {
	c     C.deja_options
	key   []byte
	rules *URLRules
}

func (o *chosen) keyAt() *C.char {
	if o.key == nil {
		return nil
	}
	return (*C.char)(unsafe.Pointer(&o.key[0]))
}

// choose translates the fields by the option table of the library.
func choose(o *Options) (*chosen, error) {
	out := &chosen{rules: o.Rules}
	out.c.size = C.size_t(unsafe.Sizeof(out.c))
	v := reflect.ValueOf(o).Elem()
	for i := 0; i < v.NumField(); i++ {
		name := v.Type().Field(i).Tag.Get("deja")
		if name == "" || v.Field(i).IsZero() || name == "url" || name == "key" {
			continue
		}
		if err := out.set(name, v.Field(i)); err != nil {
			return nil, err
		}
	}
	if o.Key != nil {
		if len(o.Key) != KeyLen {
			return nil, invalid("Options.Key has %d bytes; a secret key has %d", len(o.Key), KeyLen)
		}
		out.key = append([]byte(nil), o.Key...)
		out.c.flags |= C.DEJA_KEY_APART
	}
	if out.rules == nil && o.URL != 0 {
		rules, err := Rules(o.URL)
		if err != nil {
			return nil, err
		}
		out.rules = rules
	}
	if out.rules != nil {
		if o.URL != 0 && out.rules.Profile() != o.URL {
			return nil, invalid("Options.URL is %v, but Options.Rules are of profile %v", o.URL, out.rules.Profile())
		}
		out.c.url = out.rules.handle
	}
	return out, nil
}

func (o *chosen) set(name string, v reflect.Value) error {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	row := C.deja_option_find(s)
	if row == nil {
		return invalid("Options.%s: libdeja %s has no such option", fieldOf[name], Version())
	}
	if row.flag != 0 {
		o.c.flags |= row.flag
		return nil
	}
	at := unsafe.Add(unsafe.Pointer(&o.c), row.offset)
	switch {
	case v.Kind() == reflect.Float64:
		*(*float64)(at) = v.Float()
	case row.width == 8:
		*(*uint64)(at) = v.Uint()
	case v.Uint() > 1<<32-1:
		return invalid("Options.%s is %d, which is too large", fieldOf[name], v.Uint())
	default:
		*(*uint32)(at) = uint32(v.Uint())
	}
	return nil
}

// grow lets a new filter grow, unless Fixed is set or other options rule it out.
func (o *chosen) grow(given *Options) error {
	sized := given.Kind != 0 || given.Capacity != 0 || given.Memory != 0
	if given.Fixed {
		if !sized || given.Kind == Scalable {
			return invalid("Options.Fixed needs a size and a kind that does not grow: set Options.Capacity or Options.Memory")
		}
		return nil
	}
	if !sized {
		o.c.kind = C.DEJA_SCALABLE
	}
	C.deja_options_grow(&o.c)
	return nil
}

func createFlags(o *Options) C.unsigned {
	flags := C.unsigned(o.Mode.Perm()) << C.DEJA_CREATE_MODE_SHIFT
	if o.Replace {
		flags |= C.DEJA_CREATE_REPLACE
	}
	return flags
}

func invalid(format string, args ...interface{}) error {
	return &Error{Status: ErrInvalid, Text: fmt.Sprintf(format, args...)}
}

// A Prediction is what a filter will cost.
type Prediction struct {
	Kind        Kind
	Hashes      uint32  // k of each filter
	Filters     uint32  // how many must agree
	Capacity    uint64  // number of keys; of the first part of a filter that grows
	FPRate      float64 // predicted at capacity
	Bytes       uint64
	BitsPerKey  float64
	Lost        float64 // keys expected to be lost while filling to capacity
	CacheLines  uint64  // that a lookup reads
	FNRate      float64 // Paired: share of its keys that it forgets
	Generations uint64  // Window
}

// Plan predicts the sizes and rates of a filter; it allocates nothing.
func Plan(o Options) (*Prediction, error) {
	c, err := choose(&o)
	if err != nil {
		return nil, err
	}
	if err := c.grow(&o); err != nil {
		return nil, err
	}
	var e C.deja_error
	var p C.deja_plan
	p.size = C.size_t(unsafe.Sizeof(p))
	if err := failed(C.dejago_plan(&c.c, c.keyAt(), &p, &e), &e, ""); err != nil {
		return nil, err
	}
	return &Prediction{
		Kind: Kind(p.kind), Hashes: uint32(p.hashes), Filters: uint32(p.filters),
		Capacity: uint64(p.capacity), FPRate: float64(p.fp_rate), Bytes: uint64(p.bytes),
		BitsPerKey: float64(p.bits_per_key), Lost: float64(p.lost), CacheLines: uint64(p.lines),
		FNRate: float64(p.fn_rate), Generations: uint64(p.generations),
	}, nil
}

// optionNames lists the rows of the library's table, for tests.
func optionNames() []string {
	var names []string
	for i := C.size_t(0); ; i++ {
		row := C.deja_option_at(i)
		if row == nil {
			return names
		}
		names = append(names, C.GoString(row.name))
	}
}
