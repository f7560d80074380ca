# The Debian packages in a fresh Debian: they install with what they need, run, build a C program,
# and leave nothing behind.
set -eu -o pipefail
. "$SUPPORT/cli.sh"
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
for tool in cpack debootstrap dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
# shellcheck disable=SC2016 # apt's own words
mirror=$(apt-get indextargets --format '$(REPO_URI)' | head -n 1)
[ -n "$mirror" ] || skip "apt knows no mirror"

cpack -G DEB --config "$BUILD/CPackConfig.cmake" -B "$PWD/debs" >cpack.log 2>&1
root=$PWD/root
debootstrap --variant=minbase bookworm "$root" "$mirror" >debootstrap.log 2>&1 ||
    { tail debootstrap.log; skip "debootstrap did not work here"; }
end() {
    umount -l "$root/proc" 2>/dev/null || true
    rm -rf "$root"
}
trap end EXIT
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
# How this machine reaches its mirror is how the new one does.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
files() { (cd "$root" && find etc opt usr -type f ! -path '*/__pycache__/*' | sort); }

in_root apt-get update >apt.log
in_root apt-get install -y --no-install-recommends gcc pkg-config libc6-dev >>apt.log
files >before
mkdir "$root/debs"
cp debs/*.deb "$root/debs/"
in_root sh -c 'apt-get install -y --no-install-recommends /debs/*.deb' >>apt.log
dpkg --root="$root" -l | grep -E ' (lib)?deja'

in_root deja --version
seq 100000 >"$root/debs/list"
in_root sh -c 'cat /debs/list /debs/list | deja dedup -q --state /debs/seen.deja | cmp - /debs/list'
in_root deja verify /debs/seen.deja
cp "$SOURCE/tests/install/consumer.c" "$root/debs/"
# shellcheck disable=SC2016 # expanded in there
in_root sh -c 'cc /debs/consumer.c $(pkg-config --cflags --libs deja) -o /debs/consumer && /debs/consumer'

# shellcheck disable=SC2016 # expanded in there
in_root sh -c 'dpkg --purge $(dpkg-query -W -f "\${Package} " deja "libdeja*" "deja-*" "python3-deja" 2>/dev/null)'
in_root apt-get autoremove -y >>apt.log
files >after
diff before after
