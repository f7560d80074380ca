# The Debian packages in a fresh Debian: they install with their dependencies, run, build a C
# program, load into a server and into Python, and leave nothing behind.
set -eu -o pipefail
. "$SUPPORT/cli.sh"
[ "$(id -u)" -eq 0 ] || skip "a chroot needs root"
for tool in cpack debootstrap dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done
# shellcheck disable=SC2016 # apt's own words
mirror=$(apt-get indextargets --format '$(REPO_URI)' | head -n 1)
[ -n "$mirror" ] || skip "apt knows no mirror"

cpack -G DEB --config "$BUILD/CPackConfig.cmake" -B "$PWD/debs" >cpack.log 2>&1 ||
    { cat cpack.log; exit 1; }
root=$PWD/root
debootstrap --variant=minbase bookworm "$root" "$mirror" >debootstrap.log 2>&1 ||
    { tail debootstrap.log; skip "debootstrap did not work here"; }
end() {
    [ ! -s "$root/debs/r.pid" ] || kill "$(cat "$root/debs/r.pid")" || true
    umount -l "$root/proc" 2>/dev/null || true
    rm -rf "$root"
}
trap end EXIT
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
# How this machine reaches its mirror is how the new one does.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
# etc/shadow- and the like are copies that adduser makes, for the user of the server.
files() { (cd "$root" && find etc opt usr -type f ! -path '*/__pycache__/*' ! -path 'etc/*-' | sort); }

in_root apt-get update >apt.log
in_root apt-get install -y --no-install-recommends gcc pkg-config libc6-dev >>apt.log
files >before
mkdir "$root/debs"
cp debs/*.deb "$root/debs/"
in_root sh -c 'apt-get install -y --no-install-recommends /debs/*.deb' >>apt.log
dpkg --root="$root" -l | grep -E ' (lib|python3-)?deja'
[ "$(dpkg --root="$root" -l | grep -cE '^ii +(lib|python3-)?deja')" -eq "$(find debs -maxdepth 1 -name '*.deb' | wc -l)" ]

in_root deja --version
seq 100000 >"$root/debs/list"
in_root sh -c 'cat /debs/list /debs/list | deja dedup -q --state /debs/seen.deja | cmp - /debs/list'
in_root deja verify /debs/seen.deja
cp "$SOURCE/tests/install/consumer.c" "$root/debs/"
# shellcheck disable=SC2016 # expanded in there
in_root sh -c 'cc /debs/consumer.c $(pkg-config --cflags --libs deja) -o /debs/consumer && /debs/consumer'

# The package for Python, with byte code as Debian has it; its example, and the tool's file.
in_root python3 -c 'import deja
with deja.Filter("/debs/seen.deja") as seen:
    assert not any(seen.add_many(open("/debs/list", "rb").read())) and seen.add("new")
print("python3-deja", deja.__version__)'
[ -n "$(find "$root/usr/lib/python3/dist-packages/deja" -name '_filter*.pyc')" ]
in_root python3 /usr/share/doc/python3-deja/examples/site_server.py --help >/dev/null

# The module in the server that its package asked for.
if [ -e "$root/usr/bin/redis-server" ]; then
    # shellcheck disable=SC2016 # expanded in there
    in_root sh -c 'redis-server --port 0 --unixsocket /debs/r.sock --pidfile /debs/r.pid --save "" --daemonize yes \
            --loadmodule $(dpkg -L deja-redis | grep "/deja\.so$") >/dev/null
        for i in $(seq 600); do redis-cli -s /debs/r.sock ping >/dev/null 2>&1 && break; sleep 0.1; done
        redis-cli -s /debs/r.sock BF.ADD seen a
        redis-cli -s /debs/r.sock BF.EXISTS seen a
        redis-cli -s /debs/r.sock shutdown nosave' >replies
    diff replies <(printf '1\n1\n')
fi

# shellcheck disable=SC2016 # expanded in there
in_root sh -c 'dpkg --purge $(dpkg-query -W -f "\${Package} " deja "libdeja*" "deja-*" "python3-deja" 2>/dev/null)'
in_root apt-get autoremove -y --purge >>apt.log
files >after
diff before after
[ -z "$(cd "$root" && find etc usr var/lib -path '*deja*')" ]
