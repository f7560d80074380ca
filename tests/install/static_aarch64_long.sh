# The static command for 64-bit ARM: the same bytes from two directories, and the main job runs
# under qemu-user.
command -v qemu-aarch64 >/dev/null || { echo "skipped: no qemu-aarch64 (Debian: qemu-user)"; exit 77; }
. "$SOURCE/tests/install/copied.sh"
. "$SOURCE/tests/install/zig.sh"
zig_install

for place in one a/longer/path; do
    mkdir -p $place
    copy_sources $place
    zig_build "$PWD/$place" "$PWD/$place/build" aarch64-linux-musl Linux aarch64 \
        -D DEJA_STATIC=ON -D DEJA_LIBC_LICENSE="$zig_lib/lib/libc/musl/COPYRIGHT"
done
cmp one/build/deja a/longer/path/build/deja
file one/build/deja | tee kind
grep -q 'ARM aarch64.*statically linked' kind
static_command_works qemu-aarch64 one/build/deja
qemu-aarch64 one/build/deja version --licenses | grep -q 'Rich Felker'
