# The installed tree is complete and has no extra files, and the command runs from it.
. "$SOURCE/tests/install/installed.sh"

"$prefix/bin/deja" --version
commands=$("$prefix/bin/deja" help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/deja-\1/p' | grep -v deja-help)
for page in deja $commands; do
    file=$prefix/share/man/man1/$page.1
    grep -q '^\.TH ' "$file" || { echo "$file is not a man page" >&2; exit 1; }
    if command -v man >/dev/null; then
        warnings=$(man --warnings -E UTF-8 -l "$file" 2>&1 >/dev/null || true)
        [ -z "$warnings" ] || { echo "$page: $warnings" >&2; exit 1; }
    fi
done
# Every function of the header has a page, which shows that function and not the others.
if [ -e "$prefix/share/man/man3" ]; then
    grep -o '^deja_[a-z_0-9]*' "$SOURCE/tests/lint/symbols.txt" | while read -r name; do
        [ -e "$prefix/share/man/man3/$name.3" ] || { echo "no man page for $name" >&2; exit 1; }
    done
    if command -v man >/dev/null; then
        warnings=$(man --warnings -E UTF-8 -l "$prefix/share/man/man3/deja.3" 2>&1 >/dev/null || true)
        [ -z "$warnings" ] || { echo "deja.3: $warnings" >&2; exit 1; }
        page=$(cd "$prefix/share/man" && MANWIDTH=100 man -l man3/deja_filter_add_batch.3)
        case $page in *deja_filter_rotate*) echo "$page" >&2; exit 1 ;; esac
        case $page in
        *'Adds a key.'*'RETURN VALUE'*DEJA_EFULL*) ;;
        *) echo "$page" >&2; exit 1 ;;
        esac
    fi
fi
bash -n "$prefix/share/bash-completion/completions/deja"
for file in zsh/site-functions/_deja fish/vendor_completions.d/deja.fish; do
    grep -q "^# ${file%%/*} completion" "$prefix/share/$file"
done

# The library stands alone: libc, libm and, if the build found them, libidn2 and libunistring at most; and no
# internal header is installed.
needed=$(readelf -d "$libdir/libdeja.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for lib in $needed; do
    case $lib in libc.so.*|libm.so.*|libidn2.so.*|libunistring.so.*|libpthread.so.*|ld-linux*) ;;
    *) echo "libdeja.so needs $lib" >&2; exit 1 ;;
    esac
done
headers=$(find "$prefix" -name '*.h' | sed "s|$prefix/||")
[ "$headers" = include/deja.h ] || { echo "headers: $headers" >&2; exit 1; }

# The module is one file: it exports nothing from the library and needs no other file.  Servers
# require it to be executable.
module=$libdir/deja/deja.so
if [ -e "$BUILD/redis/deja.so" ]; then
    [ -x "$module" ] || { echo "deja.so is not executable" >&2; exit 1; }
    shown=$(nm -D --defined-only "$module" | sed 's/.* //')
    [ "$shown" = RedisModule_OnLoad ] || { echo "deja.so shows: $shown" >&2; exit 1; }
    if readelf -d "$module" | grep 'NEEDED.*libdeja' >/dev/null; then
        echo "deja.so needs libdeja.so" >&2
        exit 1
    fi
fi
