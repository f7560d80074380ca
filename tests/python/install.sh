# pip installs the package from the tree without a network, with and without the library and the
# extension.
fail() {
    echo "FAIL: $*" >&2
    exit 1
}
unset DEJA_LIBRARY DEJA_EXTENSION PYTHONPATH
python=/usr/bin/python3
[ -x $python ] || python=python3
# Debian's pip refuses to install into its own Python, but accepts a directory as the target.
for module in pip ensurepip; do
    $python -c "import $module" 2>/dev/null || {
        echo "skipped: no $module for $python (Debian: python3-pip python3-venv)"
        exit 77
    }
done
if grep -qE '__(asan|tsan|ubsan)_' "$LIBDEJA"; then
    echo "skipped: the library needs a sanitizer's runtime, which Python lacks"
    exit 77
fi
export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INDEX=1
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE
mkdir tree tree/include # a copy, because pip writes into the tree
cp -r "$SOURCE/python" tree/python
cp "$SOURCE/include/deja.h" tree/include/
cp "$SOURCE/LICENSE" tree/
install_into() { # FOLDER [ENVIRONMENT...]
    local target=$1
    shift
    env "$@" $python -m pip install -q --no-deps --target "$target" ./tree/python ||
        fail "pip install into $target"
}
try='
import deja, os, sys
f = deja.Filter(capacity=100)
assert f.add("a") and "a" in f
where = [line.split()[-1] for line in open("/proc/self/maps") if "libdeja" in line]
print(deja.__file__, where[0], deja.__version__)
'

# With the library of this build: the wheel contains it, and the package finds it.
install_into with DEJA_LIBRARY="$LIBDEJA" DEJA_EXTENSION=no
[ -f with/deja/py.typed ] || fail "no py.typed"
[ -f with/deja/libdeja.so.0.2 ] || fail "no library in the wheel"
grep -q '^Tag: py3-none-linux_' with/deja-*.dist-info/WHEEL || fail "a wheel with a library must be for this architecture"
out=$(PYTHONPATH=with $python -c "$try")
[[ $out == *"$PWD/with/deja/__init__.py $PWD/with/deja/libdeja.so.0.2"* ]] || fail "$out"
version=$(sed -n 's/^Version: //p' with/deja-*.dist-info/METADATA)
[[ $out == *" $version" ]] || fail "package $version, library ${out##* }"

[ ! -e with/deja/_fast.abi3.so ] || fail "an extension despite DEJA_EXTENSION=no"

# A library that cannot be compiled is an error that names the remedy.
for reason in "no C compiler $PWD/no-compiler" "lacks the C sources"; do
    compiler=cc
    [[ $reason == lacks* ]] || compiler=$PWD/no-compiler
    if CC=$compiler $python -m pip install -q --no-deps --target none ./tree/python >err 2>&1; then
        fail "pip installs a package without a library"
    fi
    grep -qF "$reason" err || fail "not in the message: $reason: $(cat err)"
    grep -q 'set DEJA_LIBRARY to a libdeja, or to no' err || fail "$(cat err)"
done

# Without a library, on request: the wheel is for any machine, and import loads the system's library or fails clearly.
install_into without DEJA_LIBRARY=no CC="$PWD/no-compiler" PATH=/nowhere
grep -q '^Tag: py3-none-any' without/deja-*.dist-info/WHEEL || fail "a wheel without a library must be for any machine"
if ! ldconfig -p | grep -q libdeja; then
    if PYTHONPATH=without $python -c 'import deja' 2>err; then fail "import succeeds without a library"; fi
    grep -q 'ImportError: deja needs the library libdeja.so.0.2.*Install deja' err || fail "$(cat err)"
fi
mkdir lib
cp "$LIBDEJA" lib/libdeja.so.0.2
out=$(LD_LIBRARY_PATH=lib PYTHONPATH=without $python -c "$try")
[[ $out == *lib/libdeja.so.0.2* ]] || fail "$out"

# With the extension: the wheel is for CPython, and single calls bypass ctypes.
in_c='
import deja
f = deja.Filter(capacity=100)
assert type(deja.Filter.add).__name__ == "method_descriptor", deja.Filter.add
assert f.add("a") and not f.add("a") and "a" in f and "b" not in f
'
if $python -c 'import os, sysconfig as s; raise SystemExit(not os.path.exists(s.get_path("include") + "/Python.h"))' &&
    command -v cc >/dev/null; then
    install_into fast DEJA_LIBRARY=no CC=cc
    grep -q '^Tag: cp39-abi3-linux_' fast/deja-*.dist-info/WHEEL || fail "a wheel with an extension must be for CPython"
    LD_LIBRARY_PATH=lib PYTHONPATH=fast $python -c "$in_c" || fail "the extension is not used"
    if LD_LIBRARY_PATH=lib PYTHONPATH=fast DEJA_EXTENSION=no $python -c "$in_c" 2>/dev/null; then
        fail "DEJA_EXTENSION=no does not choose ctypes"
    fi
    # The package works without the extension if the compiler fails or Python cannot load the file.
    install_into failing DEJA_LIBRARY=no CC=false
    [ ! -e failing/deja/_fast.abi3.so ] || fail "an extension from a compiler that failed"
    echo damaged >fast/deja/_fast.abi3.so
    LD_LIBRARY_PATH=lib PYTHONPATH=fast $python -c "$try" 2>err || fail "a damaged extension"
    grep -q 'RuntimeWarning: deja uses ctypes, which is slower, because its extension does not load' err || fail "$(cat err)"
else
    echo "extension not tested: no compiler or no Python.h (Debian: python3-dev)"
fi

# In a plain virtual environment, as in the README, without downloads.
line='pip install ./python'
grep -qF "\`$line\`" "$SOURCE/README.md" || fail "README.md lacks the line: $line"
$python -m venv env
(
    cd tree
    # shellcheck disable=SC2086 # words
    DEJA_LIBRARY=$LIBDEJA ../env/bin/$line -q
) || fail "$line in a plain virtual environment"
out=$(env/bin/python -c "$try")
[[ $out == *"$PWD/env/"*"/deja/libdeja.so.0.2"* ]] || fail "$out"
env/bin/pip uninstall -qy deja
PYTHONPATH='' env/bin/pip install -q -e ./tree/python || fail "pip install -e"
out=$(LD_LIBRARY_PATH=lib env/bin/python -c "$try")
[[ $out == *"$PWD/tree/python/deja/__init__.py"* ]] || fail "$out"

# An sdist contains the C sources, and builds in a folder without the tree.
$python -c 'import os, sys; sys.path.insert(0, os.environ["SOURCE"] + "/python"); import build_backend as b; print(b.build_sdist("."))' >name
mkdir unpacked
tar -xzf "$(cat name)" -C unpacked
rm -r tree
env/bin/pip uninstall -qy deja
if command -v cc >/dev/null && [ -f /usr/include/xxhash.h ]; then
    env/bin/pip install -q ./unpacked/deja-* || fail "pip install from an sdist"
    out=$(env/bin/python -c "$try")
    [[ $out == *"$PWD/env/"*"/deja/libdeja.so.0.2 $version" ]] || fail "$out"
    # International hosts work as in the library of CMake.
    hosts='import deja; print(deja.canonical("http://b\u00fccher.example/"))'
    ours=$(env/bin/python -c "$hosts" 2>&1 | tail -n 1)
    [ "$ours" = "$(DEJA_LIBRARY=$LIBDEJA env/bin/python -c "$hosts" 2>&1 | tail -n 1)" ] || fail "$ours"
else
    echo "sdist not built: no C compiler or no xxhash.h (Debian: gcc libxxhash-dev)"
fi

# Types, if mypy is installed.
if $python -c 'import mypy' 2>/dev/null; then
    (cd "$SOURCE/python" && $python -m mypy --no-incremental --cache-dir=/dev/null) || fail "mypy"
else
    echo "types not checked: no mypy (Debian: mypy)"
fi
