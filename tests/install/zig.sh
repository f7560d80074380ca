# zig.sh - a cross compiler for other systems, from PyPI's ziglang; sourced by long tests.
#
# `zig cc` is clang with the headers and libraries of musl, macOS and FreeBSD.

# Installs it into ./zig-venv, or skips the test.
zig_install() {
    python3 -m venv zig-venv >venv.log 2>&1 || { echo "skipped: no python3-venv"; exit 77; }
    zig-venv/bin/pip install --quiet --disable-pip-version-check ziglang >pip.log 2>&1 ||
        { echo "skipped: PyPI does not offer ziglang here: $(tail -n 1 pip.log)"; exit 77; }
    zig_lib=$(zig-venv/bin/python -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__))')
    export ZIG_GLOBAL_CACHE_DIR=$PWD/zig-cache ZIG_LOCAL_CACHE_DIR=$PWD/zig-cache
    unset CMAKE_C_COMPILER_LAUNCHER
    "$zig_lib/zig" version
}

# Builds the library and the command.  SYSTEM and PROCESSOR are CMake's names.
zig_build() { # SOURCES BUILD TARGET SYSTEM PROCESSOR CMAKE-OPTION...
    local sources=$1 build=$2 target=$3 system=$4 processor=$5 tools=$PWD/zig-$3 tool
    shift 5
    mkdir -p "$tools"
    printf '#!/bin/sh\nexec "%s" cc -target %s "$@"\n' "$zig_lib/zig" "$target" >"$tools/cc"
    for tool in ar ranlib; do
        printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig_lib/zig" $tool >"$tools/$tool"
    done
    chmod +x "$tools"/*
    { cmake -G Ninja -S "$sources" -B "$build" -D CMAKE_BUILD_TYPE=Release \
        -D CMAKE_SYSTEM_NAME="$system" -D CMAKE_SYSTEM_PROCESSOR="$processor" \
        -D CMAKE_C_COMPILER="$tools/cc" -D CMAKE_AR="$tools/ar" -D CMAKE_RANLIB="$tools/ranlib" \
        -D CMAKE_C_FLAGS="-DDEJA_NO_CPU_MODEL -include $SOURCE/python/compat.h" \
        -D DEJA_LIBRARIES=OFF -D DEJA_REDIS=OFF -D DEJA_PYTHON=OFF -D DEJA_TESTS=OFF -D DEJA_INSTALL=OFF "$@" &&
        cmake --build "$build" --target deja_static deja_cli; } >"zig-$target.log" 2>&1 ||
        { grep -A 5 'error' "zig-$target.log" | head -n 60 >&2; exit 1; }
}
