package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// URLRules bring URLs to a canonical form. They never change, so goroutines and filters can share
// them.
type URLRules struct {
	handle *C.deja_url_rules
	newer  *URLRules // owns the handle
}

// Rules returns the rules of a profile with its default list of dropped parameters.
func Rules(p Profile) (*URLRules, error) {
	handle := C.deja_url_profile(C.uint32_t(p))
	if handle == nil {
		return nil, invalid("there is no URL profile %d", p)
	}
	return &URLRules{handle: handle}, nil
}

// CustomRules returns the rules of a profile that drops query parameters (URLCrawl), with another
// list: names in drop are added to it, names in keep are removed from it. A name may end in "*".
// Without builtin, the list is drop alone.
func CustomRules(p Profile, drop, keep []string, builtin bool) (*URLRules, error) {
	var e C.deja_error
	var flags C.unsigned
	if !builtin {
		flags = C.DEJA_URL_NO_LIST
	}
	d, k := takeBatch(len(drop)), takeBatch(len(keep))
	defer d.release()
	defer k.release()
	d.addStrings(drop)
	k.addStrings(keep)
	r := &URLRules{}
	err := failed(C.dejago_rules(C.uint32_t(p), flags, d.textAt(), d.endAt(), d.n(), k.textAt(), k.endAt(), k.n(),
		&r.handle, &e), &e, "")
	if err != nil {
		return nil, err
	}
	runtime.SetFinalizer(r, func(r *URLRules) { C.deja_url_rules_free(r.handle) })
	return r, nil
}

// Profile returns the profile of the rules.
func (r *URLRules) Profile() Profile {
	defer runtime.KeepAlive(r)
	return Profile(C.deja_url_rules_profile(r.handle))
}

// ID is equal for rules that always give the same form.
func (r *URLRules) ID() uint64 {
	defer runtime.KeepAlive(r)
	return uint64(C.deja_url_rules_id(r.handle))
}

// Older returns the previous version of the rules, which old files may need; nil for the first one.
func (r *URLRules) older() *URLRules {
	handle := C.deja_url_rules_older(r.handle)
	if handle == nil {
		return nil
	}
	return &URLRules{handle: (*C.deja_url_rules)(unsafe.Pointer(handle)), newer: r}
}

// Canonical returns the canonical form of a URL. ErrNotURL: it is not a URL.
func (r *URLRules) Canonical(url string) (string, error) {
	a := C.dejago_canon(r.handle, stringAt(url), C.size_t(len(url)))
	runtime.KeepAlive(url)
	runtime.KeepAlive(r)
	if a.status != C.DEJA_OK {
		return "", failedAnswer(a)
	}
	defer C.free(unsafe.Pointer(a.text))
	if a.value > 1<<30 {
		return "", fmt.Errorf("deja: the canonical form has %d bytes", uint64(a.value))
	}
	return C.GoStringN(a.text, C.int(a.value)), nil
}

// Canonical returns the canonical form of a URL by the rules of a profile.
func Canonical(p Profile, url string) (string, error) {
	r, err := Rules(p)
	if err != nil {
		return "", err
	}
	return r.Canonical(url)
}
