# The library as one file: it compiles without a warning, has the same names, and writes files that
# the command can read.
. "$SOURCE/tests/install/installed.sh"

python3 "$SOURCE/cmake/amalgamate.py" "$SOURCE" one
flags=(-std=c11 -O1 -Wall -Wextra -Werror -Ione)
"$CC" "${flags[@]}" -c one/deja.c -o one/deja.o
"$CC" "${flags[@]}" -DDEJA_NO_SIMD -c one/deja.c -o one/portable.o

nm --defined-only -g one/deja.o | awk '{ print $3 }' | sort >names
grep '^deja_' names >public
grep -o '^deja_[a-z_0-9]*' "$SOURCE/tests/lint/symbols.txt" | sort | diff - public
if grep -Ev '^(deja|dj)_' names; then
    echo "these names may meet somebody else's" >&2
    exit 1
fi

for object in deja portable; do
    "$CC" "${flags[@]}" "$SOURCE/tests/install/consumer.c" one/$object.o -lm -lpthread -o consumer
    runs ./consumer static
    # GNU C: the example takes getline.
    "$CC" -std=gnu11 -Ione "$SOURCE/docs/examples/seen.c" one/$object.o -lm -lpthread -o seen
    rm -f seen.deja
    ./seen <"$SOURCE/docs/examples/sample-urls.txt" >first
    ./seen <"$SOURCE/docs/examples/sample-urls.txt" >second
    [ -s first ] && [ ! -s second ]
    "$prefix/bin/deja" verify -q seen.deja
    "$prefix/bin/deja" check -q -v seen.deja "$SOURCE/docs/examples/sample-urls.txt" >missing || true
    [ ! -s missing ]
done

# The line of docs/c.md, in the folder with the two files.
cp "$SOURCE/tests/install/consumer.c" one/prog.c
# shellcheck disable=SC2016 # backquotes of Markdown
line=$(grep -o '`cc -I\. prog\.c deja\.c[^`]*`' -m 1 "$SOURCE/docs/c.md" | tr -d '`')
[ -n "$line" ]
cc() { "$CC" "$@"; }
(cd one && eval "$line")
runs one/a.out static
