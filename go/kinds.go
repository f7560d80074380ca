package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// A Kind is the structure that answers queries.
type Kind uint32

// The kinds. Zero asks for the default: Blocked, or Scalable if no size is given.
const (
	Classic  Kind = C.DEJA_CLASSIC  // Bloom's filter
	Blocked  Kind = C.DEJA_BLOCKED  // Bloom's filter in one to three cache lines per key
	Layered  Kind = C.DEJA_LAYERED  // answers queries about URL prefixes, too
	Spectral Kind = C.DEJA_SPECTRAL // counters: removes and counts keys
	Paired   Kind = C.DEJA_PAIRED   // removes keys, with a second filter
	Scalable Kind = C.DEJA_SCALABLE // grows
	Window   Kind = C.DEJA_WINDOW   // forgets old keys
	Static   Kind = C.DEJA_STATIC   // the smallest; made by a Builder
	Exact    Kind = C.DEJA_EXACT    // 64-bit fingerprints: practically no false positives
)

func (k Kind) String() string { return nameOf(C.deja_kind_name(C.uint32_t(k)), "kind", uint32(k)) }

// Help describes the kind in one line.
func (k Kind) Help() string { return C.GoString(C.deja_kind_help(C.uint32_t(k))) }

// Kinds lists all kinds.
func Kinds() []Kind {
	var kinds []Kind
	for k := C.deja_kind_next(0); k != 0; k = C.deja_kind_next(k) {
		kinds = append(kinds, Kind(k))
	}
	return kinds
}

// ParseKind returns the kind with this name.
func ParseKind(name string) (Kind, error) {
	n, err := parse(name, "kind", func(s *C.char) C.uint32_t { return C.deja_kind_parse(s) })
	return Kind(n), err
}

// A Capability is something that only some kinds can do. Combine them with |.
type Capability uint32

// The capabilities.
const (
	CanAdd     Capability = C.DEJA_CAN_ADD     // add keys at any time
	CanBuild   Capability = C.DEJA_CAN_BUILD   // be built from all its keys at once
	CanRemove  Capability = C.DEJA_CAN_REMOVE  // remove keys
	CanCount   Capability = C.DEJA_CAN_COUNT   // count how many times a key was added
	CanGrow    Capability = C.DEJA_CAN_GROW    // grow past its capacity and keep its rate
	CanExpire  Capability = C.DEJA_CAN_EXPIRE  // drop its oldest keys to make room for new ones
	CanForget  Capability = C.DEJA_CAN_FORGET  // miss a key that was added and not removed
	CanFill    Capability = C.DEJA_CAN_FILL    // become full
	CanRepeat  Capability = C.DEJA_CAN_REPEAT  // consist of several filters that must agree
	CanMerge   Capability = C.DEJA_CAN_MERGE   // add the keys of another filter
	CanFold    Capability = C.DEJA_CAN_FOLD    // be halved
	CanOverlap Capability = C.DEJA_CAN_OVERLAP // estimate how many keys it shares with another
	CanPrefix  Capability = C.DEJA_CAN_PREFIX  // answer queries about URL prefixes
	CanLayer   Capability = C.DEJA_CAN_LAYER   // describe its layers
	CanDate    Capability = C.DEJA_CAN_DATE    // report when a key was seen
)

// Can reports whether the kind has all these capabilities.
func (k Kind) Can(c Capability) bool {
	return bool(C.deja_kind_can(C.uint32_t(k), C.uint32_t(c)))
}

// A Hash is how a key becomes numbers.
type Hash uint32

// The hash functions. XXH3 (the default) and SipHash are keyed with the filter's secret. The others
// are those of the papers, for Classic filters only.
const (
	XXH3    Hash = C.DEJA_HASH_XXH3
	SipHash Hash = C.DEJA_HASH_SIPHASH
	Jenkins Hash = C.DEJA_HASH_JENKINS
	Murmur2 Hash = C.DEJA_HASH_MURMUR2
	Murmur3 Hash = C.DEJA_HASH_MURMUR3
	MD5     Hash = C.DEJA_HASH_MD5
	SHA1    Hash = C.DEJA_HASH_SHA1
	Mixed   Hash = C.DEJA_HASH_MIXED // a different function for each position
)

func (h Hash) String() string { return nameOf(C.deja_hash_name(C.uint32_t(h)), "hash", uint32(h)) }

// ParseHash returns the hash with this name.
func ParseHash(name string) (Hash, error) {
	n, err := parse(name, "hash", func(s *C.char) C.uint32_t { return C.deja_hash_parse(s) })
	return Hash(n), err
}

// A Profile says which spellings are the same URL.
type Profile uint32

// The profiles. Zero: keys are any bytes, compared as they are.
const (
	URLSafe   Profile = C.DEJA_URL_SAFE   // changes that never alter what a URL means
	URLCrawl  Profile = C.DEJA_URL_CRAWL  // also sorts queries and drops tracking parameters
	URLGSB    Profile = C.DEJA_URL_GSB    // Google Safe Browsing's form, for block lists
	URLScrapy Profile = C.DEJA_URL_SCRAPY // w3lib's canonicalize_url, byte for byte
	URLShape  Profile = C.DEJA_URL_SHAPE  // one URL per template
)

func (p Profile) String() string {
	if p == 0 {
		return "none"
	}
	return nameOf(C.deja_profile_name(C.uint32_t(p)), "profile", uint32(p))
}

// ParseProfile returns the profile with this name.
func ParseProfile(name string) (Profile, error) {
	n, err := parse(name, "URL profile", func(s *C.char) C.uint32_t { return C.deja_profile_parse(s) })
	return Profile(n), err
}

func nameOf(name *C.char, what string, number uint32) string {
	if name == nil {
		return fmt.Sprintf("%s %d", what, number)
	}
	return C.GoString(name)
}

func parse(name, what string, parse func(*C.char) C.uint32_t) (uint32, error) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	n := uint32(parse(s))
	if n == 0 {
		return 0, &Error{Status: ErrInvalid, Text: fmt.Sprintf("there is no %s %q", what, name)}
	}
	return n, nil
}
