# The C files are formatted as .clang-format says.  Versions of clang-format disagree with each
# other, so only one counts: 14, which Debian 12 ships.
law=14
tool=$(command -v clang-format-$law || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q "version $law\."; then
    echo "skipped: clang-format $law is not here"
    exit 77
fi
cd "$SOURCE"
find . -path ./build -prune -o -path ./.git -prune -o \
    \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print0 | sort -z >"$HOME/files"
xargs -0 -n 40 -P "$(nproc)" "$tool" --dry-run -Werror <"$HOME/files"
echo "$(tr -cd '\0' <"$HOME/files" | wc -c) files are in shape"
