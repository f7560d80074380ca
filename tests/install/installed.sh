# shellcheck shell=bash
# installed.sh - sourced by the tests in this folder: installs into ./prefix and sets libdir and version.
set -eu -o pipefail
prefix=$PWD/prefix
cmake --install "$BUILD" --prefix "$prefix" >install.log || { cat install.log; exit 1; }
libdir=$(dirname "$(find "$prefix" -name libdeja.a)")
version=$("$prefix/bin/deja" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')
case $CC in *clang*) CXX=clang++ ;; *) CXX=g++ ;; esac
export CC CXX

# runs PROGRAM shared|static: checks that it works and how it is linked.
runs() {
    local said
    said=$(LD_LIBRARY_PATH="$libdir" "$1")
    [ "$said" = "deja $version" ] || { echo "$1 said '$said'" >&2; exit 1; }
    if readelf -d "$1" | grep 'NEEDED.*libdeja\.so\.0' >/dev/null; then
        [ "$2" = shared ] || { echo "$1 needs libdeja.so" >&2; exit 1; }
    else
        [ "$2" = static ] || { echo "$1 does not need libdeja.so" >&2; exit 1; }
    fi
    echo "$1 ($2): $said"
}
