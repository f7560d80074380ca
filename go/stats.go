package deja

/*
#include "dejago.h"
*/
import "C"

import (
	"reflect"
	"unsafe"
)

// Stats are what a filter holds and what it costs.
type Stats struct {
	Kind          Kind    `deja:"kind"`
	PartKind      Kind    `deja:"part_kind"` // scalable: of its parts; otherwise kind
	Parts         uint32  `deja:"parts"`     // bodies: F; scalable: 1 more than the times it grew
	Filters       uint32  `deja:"filters"`   // F
	Hash          Hash    `deja:"hash"`
	Hashes        uint32  `deja:"hashes"`         // k; scalable: of the newest part
	Growth        uint32  `deja:"growth"`         // scalable
	Profile       Profile `deja:"profile"`        // of its keys; 0: bytes as given
	FPRate        float64 `deja:"fp_rate"`        // as requested
	Tightening    float64 `deja:"tightening"`     // scalable
	URLRules      uint64  `deja:"url_rules"`      // ID of the rules of its keys; 0: bytes as given
	Capacity      uint64  `deja:"capacity"`       // of all parts that exist
	Bytes         uint64  `deja:"bytes"`          // of the bodies, in memory or in the file
	Offered       uint64  `deja:"offered"`        // keys passed to add
	Keys          uint64  `deja:"keys"`           // of these, answered "new"; spectral, paired: and not removed
	Entries       uint64  `deja:"entries"`        // keys that take up capacity; paired: including removed ones
	Excess        uint64  `deja:"excess"`         // of these, beyond the capacity: the rate is above FPRate
	Format        uint64  `deja:"format"`         // of its file: 1 as deja 0.1 wrote it, 2 since 0.2
	Syncs         uint64  `deja:"syncs"`          // 0 for a filter in memory
	Flags         uint32  `deja:"flags"`          // the library's DEJA_KEY_APART, DEJA_DATES and other flags
	Keyed         uint32  `deja:"keyed"`          // 1: has a secret key, 0: made from a seed
	Unclean       uint32  `deja:"unclean"`        // 1: not synced after its last add; Keys is an estimate
	CounterBits   uint32  `deja:"counter_bits"`   // spectral
	Visit         uint64  `deja:"visit"`          // 1, 2, ..
	VisitsBefore  uint64  `deja:"visits_before"`  // visits that ended before this one
	LastDistinct  uint64  `deja:"last_distinct"`  // distinct keys in the last of them ..
	LastLost      float64 `deja:"last_lost"`      // .. and how many of these were mistaken for seen
	Unions        uint64  `deja:"unions"`         // filters merged into it; Keys is then an estimate
	Folds         uint64  `deja:"folds"`          // how many times it was halved
	Removed       uint64  `deja:"removed"`        // spectral: adds undone; paired: keys removed
	Refused       uint64  `deja:"refused"`        // removals refused: absent, or counters saturated
	Hidden        uint64  `deja:"hidden"`         // paired: adds without effect, of removed keys
	Generations   uint64  `deja:"generations"`    // window: full ones that it remembers; one more is filling
	WindowSeconds uint64  `deja:"window_seconds"` // 0: by keys
	ClockBehind   uint64  `deja:"clock_behind"`   // window: seconds by which its newest generation starts in the future

	// From the body: Stats(true) reads all of it. Otherwise, those of type float64 are NaN and the
	// others are 0.
	Bits              uint64    `deja:"bits"`               // m, all bodies together (exact: slots; spectral: counters)
	BitsSet           uint64    `deja:"bits_set"`           // exact: slots in use; spectral: counters that are not 0
	Fill              float64   `deja:"fill"`               // BitsSet / Bits
	Distinct          float64   `deja:"distinct"`           // distinct keys, estimated from BitsSet
	FPNow             float64   `deja:"fp_now"`             // false-positive rate at the current fill
	Lost              float64   `deja:"lost"`               // expected number of new keys mistaken for seen
	Missed            float64   `deja:"missed"`             // probability that all visits so far missed a page
	BitsExpected      float64   `deja:"bits_expected"`      // bits that Keys random keys set on average ..
	BitsSigma         float64   `deja:"bits_sigma"`         // .. and the standard deviation; far more means pollution
	Largest           uint64    `deja:"largest"`            // the largest counter
	Saturated         uint64    `deja:"saturated"`          // counters at their maximum
	Deletions         uint64    `deja:"deletions"`          // paired: keys in its second filter ..
	DeletionsCapacity uint64    `deja:"deletions_capacity"` // .. and how many it is sized for
	FNNow             float64   `deja:"fn_now"`             // share of its keys that it FORGETS
	Crowded           uint64    `deja:"crowded"`            // generations with more keys than they were sized for
	Turns             uint64    `deja:"turns"`              // generations begun after the first
	WindowKeys        uint64    `deja:"window_keys"`        // sum over the generations that have not expired
	GenerationKeys    [8]uint64 `deja:"generation_keys"`    // the newest first
	GenerationAge     [8]uint64 `deja:"generation_age"`     // seconds since it began
	Familiar          uint64    `deja:"familiar"`           // new keys whose segments were all known before
	Layers            uint32    `deja:"layers"`             // layers so far, not counting the XOR layer ..
	LayersMost        uint32    `deja:"layers_most"`        // .. and the most that it can have
	Delimiter         uint64    `deja:"delimiter"`          // byte between words
	OldestDay         uint64    `deja:"oldest_day"`         // the earliest last day of a key; 0: no keys
	NewestDay         uint64    `deja:"newest_day"`         // the latest one
	Exceptions        uint64    `deja:"exceptions"`         // keys that it would find by mistake, and does not
	MergedParts       uint32    `deja:"merged_parts"`       // parts that came from other filters ..
	OtherKeys         uint32    `deja:"other_keys"`         // .. and how many other secret keys they have
	MergedRate        float64   `deja:"merged_rate"`        // the sum of their rates, which adds to FPRate
	CacheLines        uint64    `deja:"cache_lines"`        // of a key in a blocked part, 1 .. 3; scalable: in the newest
	Machine           uint64    `deja:"machine"`            // the filter of the F that it holds, 1 .. F; 0: all of them
	KeyCheck          uint64    `deja:"key_check"`          // differs for different secret keys, reveals nothing of them
}

// Stats reports what the filter holds. With body, the call reads the whole filter and fills all
// fields; without, it is fast.
func (f *Filter) Stats(body bool) (*Stats, error) {
	var c C.deja_stats
	c.size = C.size_t(unsafe.Sizeof(c))
	var flags C.unsigned
	if body {
		flags = C.DEJA_STATS_BODY
	}
	err := f.alone(func(e *C.deja_error) (C.int, error) {
		rc, number := C.deja_filter_stats(f.handle, flags, &c, e)
		return rc, number
	})
	if err != nil {
		return nil, err
	}
	s := &Stats{}
	from, to := reflect.ValueOf(c), reflect.ValueOf(s).Elem()
	for i := 0; i < to.NumField(); i++ {
		copyNumbers(to.Field(i), from.FieldByName(to.Type().Field(i).Tag.Get("deja")))
	}
	return s, nil
}

func copyNumbers(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Array:
		for i := 0; i < to.Len(); i++ {
			copyNumbers(to.Index(i), from.Index(i))
		}
	case reflect.Float64:
		to.SetFloat(from.Float())
	default:
		to.SetUint(from.Uint())
	}
}

// libraryStats lists the fields of the library's struct, for tests.
func libraryStats() []string {
	var names []string
	t := reflect.TypeOf(C.deja_stats{})
	for i := 0; i < t.NumField(); i++ {
		names = append(names, t.Field(i).Name)
	}
	return names
}
