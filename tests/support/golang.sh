# shellcheck shell=bash
# golang.sh - sourced by the tests in tests/go: a Go that can build against the library of this build.
set -eu -o pipefail
skip() {
    echo "skipped: $*"
    exit 77
}
command -v go >/dev/null || skip "go is not installed (Debian: golang-go)"
if grep -qE '__(asan|tsan|ubsan)_' "$LIBDEJA"; then
    skip "the library needs a sanitizer's runtime, which Go lacks"
fi
export PKG_CONFIG_PATH=$BUILD CC=${CC:-cc}
# Caches outlive the scratch folder.  No other toolchain is downloaded.
export GOCACHE=$BUILD/go/cache GOMODCACHE=$BUILD/go/mod GOPATH=$HOME/go
export GOTOOLCHAIN=local GOFLAGS='-buildvcs=false -modcacherw' GOWORK=off

# needs_go MINOR: at least Go 1.MINOR.
needs_go() {
    local minor
    minor=$(go env GOVERSION | sed 's/^go1\.\([0-9]*\).*/\1/')
    [ "$minor" -ge "$1" ] || skip "$(go env GOVERSION) is installed, and this needs go1.$1"
}

# needs_modules FOLDER: downloads what the module needs.
needs_modules() {
    (cd "$1" && go mod download) >download.log 2>&1 ||
        skip "the modules that go/${1##*/} needs cannot be downloaded: $(tail -n 1 download.log)"
}

# page_programs FOLDER: writes the programs of docs/go.md to FOLDER/1/main.go and so on.
page_programs() {
    mkdir -p "$1"
    awk -v folder="$1" '
        /^```/ && inside { inside = 0; close(file); next }
        /^```go$/ { inside = 1; n++; system("mkdir -p " folder "/" n); file = folder "/" n "/main.go" }
        inside && !/^```/ { print >file }' "$SOURCE/docs/go.md"
}
