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

# The Python package: every module of the tree, the extension and no other file, over the library of
# the packages.
python=$(echo debs/python3-deja_*.deb)
extension=
architecture=all
if [ -e "$BUILD/python/_fast.abi3.so" ]; then
    extension=deja/_fast.abi3.so
    architecture=$(dpkg --print-architecture)
fi
[ "$(dpkg-deb -f "$python" Architecture)" = "$architecture" ]
dpkg-deb -f "$python" Depends | grep -qE 'libdeja[0-9.]+ \(= .*python3'
dpkg-deb -f "$python" Suggests | grep -q python3-scrapy
modules=root/usr/lib/python3/dist-packages
(cd "$modules" && find deja -type f | sort) |
    diff - <(cd "$SOURCE/python" && { find deja -name '*.py' -o -name py.typed; echo "$extension"; } | grep . | sort)
PYTHONPATH=$modules LD_LIBRARY_PATH=$PWD/root/usr/lib EXTENSION=$extension python3 - <<'END'
import importlib.metadata
import os
import deja
from deja._extension import fast

assert deja.Filter(capacity=100).add("a")
assert bool(fast) == bool(os.environ["EXTENSION"]), fast
assert importlib.metadata.version("deja") == deja.__version__
END
for script in postinst prerm; do
    dpkg-deb -I "$python" $script | sh -n
done
