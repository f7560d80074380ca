// Package deja answers one question: have I seen this key before?
//
// A [Filter] remembers URLs, or any other keys, in 10 to 40 bits each. A key that was added is
// always found, except in kinds that forget by design (Paired, Window). A key that was not added
// may be found too, at a rate that you choose.
//
//	seen, err := deja.OpenOrCreate("seen.deja", deja.Options{Capacity: 10_000_000})
//	...
//	isNew, err := seen.AddString("https://example.com/")
//
// The package calls the C library libdeja through cgo and finds it with pkg-config. Package purefile,
// in the same module, reads the files without cgo.
//
// Any number of goroutines can use one filter. Add, Contains, Remove, Prefix, Days and Count, and
// their batch forms, run concurrently; other calls wait until they are alone.
package deja

/*
#cgo pkg-config: deja
#include "dejago.h"
*/
import "C"

// Version is the version of the C library, such as "0.2.0".
func Version() string { return C.GoString(C.deja_version()) }

// SIMD names the instruction set that blocked filters use on this machine: "avx512", "avx2" or
// "portable".
func SIMD() string { return C.GoString(C.deja_simd_name()) }

// KeyLen is the length of a secret key.
const KeyLen = C.DEJA_KEY_LEN

// GuardFiles turns SIGBUS into an error, permanently, for all filters of the process. Without it,
// the process dies if a filter's file is truncated while it is mapped; see [Filter.CheckFile].
// Call it once, early.
func GuardFiles() error {
	var e C.deja_error
	return failed(C.deja_files_guard(&e), &e, "")
}
