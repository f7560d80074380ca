//go:build !cgo

package deja

// This package needs cgo: set CGO_ENABLED=1 and install a C compiler. To read files without cgo,
// import the package purefile of this module.
var _ = set_CGO_ENABLED_to_1_or_use_package_purefile
