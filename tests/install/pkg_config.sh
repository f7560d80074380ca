# C and C++ programs build against the installed files with pkg-config, shared and static, using the
# commands in docs/c.md.
. "$SOURCE/tests/install/installed.sh"
export PKG_CONFIG_PATH=$libdir/pkgconfig

[ "$(pkg-config --modversion deja)" = "$version" ]
[ "$(pkg-config --variable=prefix deja)" = "$prefix" ]
read -ra cflags < <(pkg-config --cflags deja)
read -ra shared < <(pkg-config --libs deja)
# -ldeja would link the shared library; the rest are the other libraries that a static one needs.
read -ra static < <(pkg-config --static --libs deja | sed "s|-ldeja|$libdir/libdeja.a|")

"$CC" "${cflags[@]}" "$SOURCE/tests/install/consumer.c" "${shared[@]}" -o c-shared
"$CC" "${cflags[@]}" "$SOURCE/tests/install/consumer.c" "${static[@]}" -o c-static
"$CXX" "${cflags[@]}" "$SOURCE/tests/install/consumer.cpp" "${shared[@]}" -o cpp-shared
"$CXX" "${cflags[@]}" "$SOURCE/tests/install/consumer.cpp" "${static[@]}" -o cpp-static
for language in c cpp; do
    runs "./$language-shared" shared
    runs "./$language-static" static
done

# page_line TEXT: the command on docs/c.md that starts with TEXT.
page_line() {
    grep -oF "\`$1" -m 1 "$SOURCE/docs/c.md" >/dev/null || { echo "not in docs/c.md: $1" >&2; exit 1; }
    grep -o "\`$1[^\`]*\`" -m 1 "$SOURCE/docs/c.md" | tr -d '\`'
}
cp "$SOURCE/tests/install/consumer.c" prog.c
cc() { "$CC" "$@"; }
eval "$(page_line 'cc prog.c')"
runs ./a.out shared
eval "$(page_line 'cc -static prog.c')"
runs ./a.out static
if readelf -d a.out | grep NEEDED >/dev/null; then
    echo "a static program needs a shared library" >&2
    exit 1
fi
