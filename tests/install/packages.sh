# Each installed file is in exactly one Debian package, and the packages run where they are unpacked.
set -eu -o pipefail
. "$SUPPORT/cli.sh"
for tool in cpack dpkg-deb dpkg-shlibdeps file; do
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

# Files only in packages: the Python package, which pip installs elsewhere, and licenses.
only_packages='/usr/(lib/python3|share/doc)/'
DESTDIR=$PWD/all cmake --install "$BUILD" --prefix /usr >install.log
(cd all && find . ! -type d | sort) | diff - <(grep -vE "$only_packages" packed)
for package in debs/*.deb; do
    name=$(dpkg-deb -f "$package" Package)
    cmp "$SOURCE/LICENSE" "root/usr/share/doc/$name/copyright"
    [[ $(dpkg-deb -f "$package" Description) == "have I seen this URL before? ("* ]]
done

[ "$(dpkg-deb -f debs/libdeja-dev_*.deb Depends | grep -c 'libdeja[0-9.]* (= ')" -eq 1 ]
dpkg-deb -f debs/libdeja[0-9]*.deb Depends | grep -q libc6
seq 5 | LD_LIBRARY_PATH=$PWD/root/usr/lib root/usr/bin/deja dedup -q | diff - <(seq 5)

# The Python package: every module of the tree and no other file, over the library of the packages.
python=$(echo debs/python3-deja_*_all.deb)
dpkg-deb -f "$python" Depends | grep -qE 'libdeja[0-9.]+ \(= .*python3'
dpkg-deb -f "$python" Suggests | grep -q python3-scrapy
modules=root/usr/lib/python3/dist-packages
(cd "$modules" && find deja -type f | sort) |
    diff - <(cd "$SOURCE/python" && find deja -name '*.py' -o -name py.typed | sort)
PYTHONPATH=$modules LD_LIBRARY_PATH=$PWD/root/usr/lib python3 - <<'END'
import importlib.metadata
import deja

assert deja.Filter(capacity=100).add("a")
assert importlib.metadata.version("deja") == deja.__version__
END
for script in postinst prerm; do
    dpkg-deb -I "$python" $script | sh -n
done
