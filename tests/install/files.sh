# The installed tree is complete, holds nothing else, and the command runs from it.
. "$SOURCE/tests/install/installed.sh"

"$prefix/bin/deja" --version
for page in deja deja-{dedup,build,check,add,remove,count,info,verify,merge,fold,rotate,plan,url,gen,crawl,bench}; do
    file=$prefix/share/man/man1/$page.1
    grep -q '^\.TH ' "$file" || { echo "$file is no man page" >&2; exit 1; }
    if command -v man >/dev/null; then
        warnings=$(man --warnings -E UTF-8 -l "$file" 2>&1 >/dev/null || true)
        [ -z "$warnings" ] || { echo "$page: $warnings" >&2; exit 1; }
    fi
done
bash -n "$prefix/share/bash-completion/completions/deja"

# The library stands alone: libc, libm and, where the build found it, libidn2 at most; and no
# internal header is installed.
needed=$(readelf -d "$libdir/libdeja.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for lib in $needed; do
    case $lib in libc.so.*|libm.so.*|libidn2.so.*|libpthread.so.*|ld-linux*) ;;
    *) echo "libdeja.so needs $lib" >&2; exit 1 ;;
    esac
done
headers=$(find "$prefix" -name '*.h' | sed "s|$prefix/||")
[ "$headers" = include/deja.h ] || { echo "headers: $headers" >&2; exit 1; }
