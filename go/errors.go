package deja

/*
#include "dejago.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
	"unsafe"
)

// A Status says what kind of failure an error is. Compare with errors.Is:
//
//	if errors.Is(err, deja.ErrBusy) { ... }
type Status int

// The statuses of the C library.
const (
	ErrInvalid      Status = C.DEJA_EINVAL    // an argument or option is not allowed
	ErrNoMemory     Status = C.DEJA_ENOMEM    // out of memory; nothing has changed
	ErrIO           Status = C.DEJA_EIO       // a file operation failed
	ErrFormat       Status = C.DEJA_EFORMAT   // not a filter file, or a damaged one
	ErrVersion      Status = C.DEJA_EVERSION  // valid, but newer than the library
	ErrFull         Status = C.DEJA_EFULL     // no room for this key; it was not added
	ErrNotSupported Status = C.DEJA_ENOTSUP   // this kind cannot do that
	ErrMismatch     Status = C.DEJA_EMISMATCH // a different kind, size, key or URL profile
	ErrBusy         Status = C.DEJA_EBUSY     // another process is writing this file
	ErrNotURL       Status = C.DEJA_ENOTURL   // these bytes are not a URL
)

// ErrClosed is the error of a call on a filter or builder that has been closed.
var ErrClosed = errors.New("deja: the filter is closed")

func (s Status) Error() string { return "deja: " + C.GoString(C.deja_strerror(C.int(s))) }

// An Error is a failed call of the C library. errors.Is finds its Status, and the error of the
// system if there is one: errors.Is(err, fs.ErrNotExist).
type Error struct {
	Status Status
	Errno  syscall.Errno // with ErrIO; 0: none
	Text   string        // what happened, to what, and what to do next
}

func (e *Error) Error() string { return "deja: " + e.Text }

// Unwrap returns the Status.
func (e *Error) Unwrap() error { return e.Status }

// Is reports whether the error of the system is the target.
func (e *Error) Is(target error) bool {
	return e.Errno != 0 && (target == e.Errno || e.Errno.Is(target))
}

var optionName = regexp.MustCompile(`options\.([a-z_]+)`)

// inGo replaces the C library's names of options by those of the fields of Options.
func inGo(text string) string {
	return optionName.ReplaceAllStringFunc(text, func(name string) string {
		if field, ok := fieldOf[name[len("options."):]]; ok {
			return "Options." + field
		}
		return name
	})
}

func newError(status C.int, text string, number syscall.Errno) error {
	e := &Error{Status: Status(status), Text: inGo(text)}
	if e.Text == "" {
		e.Text = C.GoString(C.deja_strerror(status))
	}
	if e.Status == ErrIO {
		e.Errno = number
	}
	return e
}

// failed turns the status of a call into an error. The name, of a file, is put first if the text
// lacks it.
func failed(status C.int, e *C.deja_error, name string) error {
	if status == C.DEJA_OK {
		return nil
	}
	return newError(status, withName(C.GoString(&e.text[0]), name), 0)
}

// failedFile is failed for calls that set errno.
func failedFile(status C.int, number error, e *C.deja_error, name string) error {
	if status == C.DEJA_OK {
		return nil
	}
	errno, _ := number.(syscall.Errno)
	return newError(status, withName(C.GoString(&e.text[0]), name), errno)
}

func withName(text, name string) string {
	if name == "" || strings.Contains(text, name) {
		return text
	}
	return name + ": " + text
}

// failedAnswer is failed for calls on keys.
func failedAnswer(a C.dejago_answer) error {
	if a.status == C.DEJA_OK {
		return nil
	}
	text := ""
	if a.text != nil {
		text = C.GoString(a.text)
		C.free(unsafe.Pointer(a.text))
	}
	return newError(a.status, text, syscall.Errno(a.number))
}
