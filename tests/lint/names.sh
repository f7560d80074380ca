# No two .c files share a name, so that a stack trace is unambiguous and amalgamation stays possible.
cd "$SOURCE"
twice=$(find . -path ./build -prune -o -path ./.git -prune -o -name '*.c' -printf '%f\n' |
    sort | uniq -d)
if [ -n "$twice" ]; then
    echo "more than one file of this name:" >&2
    for name in $twice; do
        find . -path ./build -prune -o -name "$name" -print >&2
    done
    exit 1
fi
