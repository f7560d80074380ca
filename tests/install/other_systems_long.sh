# The library and the command, without optional libraries, compile and link for macOS and FreeBSD.
# Nothing runs: there is no such machine here.
. "$SOURCE/tests/install/zig.sh"
zig_install

while read -r target system processor kind; do
    zig_build "$SOURCE" "build-$target" "$target" "$system" "$processor"
    file "build-$target/deja" | tee kind
    grep -q "$kind" kind
    [ -s "build-$target/libdeja.a" ]
    rm -rf "build-$target"
done <<'END'
aarch64-macos   Darwin  arm64   Mach-O 64-bit arm64 executable
x86_64-macos    Darwin  x86_64  Mach-O 64-bit x86_64 executable
x86_64-freebsd  FreeBSD amd64   for FreeBSD
END
