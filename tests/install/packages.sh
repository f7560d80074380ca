# The Debian packages hold the installed files, each in one of them, and run from where they lie.
set -eu -o pipefail
. "$SUPPORT/cli.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || skip "no $tool here"
done

cpack -G DEB --config "$BUILD/CPackConfig.cmake" -B "$PWD/debs" >cpack.log 2>&1 ||
    { cat cpack.log; exit 1; }
mkdir root
for package in debs/*.deb; do
    dpkg-deb -x "$package" root
    dpkg-deb -c "$package" | awk '$1 !~ /^d/ { print $6 }'
done | sort >packed
[ "$(wc -l <packed)" -eq "$(sort -u packed | wc -l)" ]

DESTDIR=$PWD/all cmake --install "$BUILD" --prefix /usr >install.log
(cd all && find . ! -type d | sort) | diff - packed

[ "$(dpkg-deb -f debs/libdeja-dev_*.deb Depends | grep -c 'libdeja[0-9]* (= ')" -eq 1 ]
dpkg-deb -f debs/libdeja[0-9]*.deb Depends | grep -q libc6
seq 5 | LD_LIBRARY_PATH=$PWD/root/usr/lib root/usr/bin/deja dedup -q | diff - <(seq 5)
