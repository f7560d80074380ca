# The commands in the documents run and print the output shown, and every link has a target.
#
#   ```sh             runs with bash -e; the blocks of a page share a folder, in order
#   ```text output    what the block before it prints; a line ... stands for any lines.  Numbers are
#                     compared only where they are reproducible: with --seed, and from plan
#   ```c              in docs/c.md: docs/examples/seen.c without its first comment
#
# The examples at the end of each command's help run too.  Exit status 1 is valid: `check` uses it.
. "$SUPPORT/cli.sh"
: "${CC:=cc}" "${LIBDEJA:=$BUILD/libdeja.so}"

top=$PWD
mkdir bin
ln -s "$DEJA" bin/deja
export PATH="$top/bin:$PATH"
mapfile -t pages < <(cd "$SOURCE" && printf '%s\n' *.md docs/{,*/}*.md)

# scratch NAME: an empty folder, with what the examples expect to find.
scratch() {
    mkdir -p "$top/$1"
    ln -s "$SOURCE/docs" "$top/$1/docs"
    cd "$top/$1"
}

# blocks PAGE: its blocks as .1.sh, .2.sh ..., and what they print as .1.out ...
blocks() {
    awk '
        /^```/ && inside { inside = 0; next }
        /^```/ {
            inside = 1
            file = "/dev/null"
            if ($0 == "```sh") file = "." ++n ".sh"
            if ($0 == "```text output") file = "." n ".out"
            if ($0 == "```c") file = ".c"
            printf "" >file
            next
        }
        inside { print >file }' "$1"
}

# steady BLOCK: standard input without the parts that differ from run to run: times, speeds and the
# blanks that align columns; without a seed all numbers, since false positives depend on the secret
# key.
steady() {
    local numbers='s/[0-9][0-9.,]*(e-?[0-9]+)?/N/g'
    if grep -q -e '--seed' -e 'deja plan' "$1"; then numbers=; fi
    sed -E -e 's/[0-9][0-9.,]* (ns|us|ms|s|min|h)\b/TIME/g' -e 's:[0-9][0-9.,]* [kMG]?/s\b:SPEED:g' \
        -e "$numbers" -e 's/ +/ /g' -e 's/ $//'
}

# prints_as_shown I: .stdout is what .I.out says.
prints_as_shown() {
    local pattern
    pattern=$(steady ".$1.sh" <".$1.out" | sed -e 's/[][\\*?]/\\&/g' -e 's/^\.\.\.$/*/')
    # shellcheck disable=SC2053 # a pattern, not a text
    [[ $(steady ".$1.sh" <.stdout) == $pattern ]]
}

ran=0
for page in "${pages[@]}"; do
    scratch "page-${page//\//-}"
    blocks "$SOURCE/$page"
    for ((i = 1; ; i++)); do
        [ -e ".$i.sh" ] || break
        if ! timeout 600 bash -e ".$i.sh" >.stdout 2>&1 </dev/null; then
            fail "$page: block $i does not run:
$(cat ".$i.sh")"
        fi
        if [ -e ".$i.out" ] && ! prints_as_shown "$i"; then
            fail "$page: block $i does not print what the page shows:
$(diff <(steady ".$i.sh" <".$i.out") <(steady ".$i.sh" <.stdout) || true)"
        fi
        ran=$((ran + 1))
    done
    if [ "$page" = docs/c.md ]; then
        diff .c <(sed '1,/\*\/$/d' docs/examples/seen.c) || fail "$page: not the program in seen.c"
    fi
    cd "$top"
done
[ "$ran" -gt 0 ] || fail "no block found"
echo "$ran blocks of ${#pages[@]} pages ran"

# ---- Links

# anchors PAGE: the anchors of its headings, as GitHub forms them, and the old ones that it keeps.
anchors() {
    # shellcheck disable=SC2016 # ` is not a command here
    sed -nE '/^```/,/^```/d; s/^#+ +//p' "$1" | tr '[:upper:]' '[:lower:]' |
        sed -E -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
    sed -nE 's/^<a id="([^"]+)"><\/a>$/\1/p' "$1"
}

# leads_somewhere SOURCE FILE LINK: FILE exists and has the anchor of LINK, if LINK has one.
leads_somewhere() {
    [ -e "$2" ] || fail "$1 links to $3, which does not exist"
    [ "${3#*#}" = "$3" ] || anchors "$2" | grep -xF -e "${3#*#}" >/dev/null ||
        fail "$1 links to $3: no such heading"
}

links=0
for page in "${pages[@]}"; do
    folder=$(dirname "$SOURCE/$page")
    while read -r link; do
        links=$((links + 1))
        target=${link%%#*}
        leads_somewhere "$page" "${target:+$folder/}${target:-$SOURCE/$page}" "$link"
    done < <(grep -oE '\]\([^)[:space:]]+\)' "$SOURCE/$page" | sed 's/^](//; s/)$//' |
        grep -v '^https\?://' || true)
done
# Comments, messages and help texts name pages, too.
while IFS=: read -r file link; do
    links=$((links + 1))
    leads_somewhere "$file" "$SOURCE/${link%%#*}" "$link"
done < <(cd "$SOURCE" || exit
    grep -roE --exclude-dir={build,.git} --exclude='*.md' 'docs/[a-z/-]+\.md(#[a-z0-9_-]+)?' .)
echo "$links links"

# ---- docs/examples/seen.c

scratch seen
if grep -qE '__(asan|tsan|ubsan)_' "$LIBDEJA"; then
    echo "seen.c: compiled only, as the library needs the sanitizer's runtime"
    "$CC" -Wall -Wextra -Werror -I"$SOURCE/include" -c docs/examples/seen.c
else
    "$CC" -Wall -Wextra -Werror -I"$SOURCE/include" docs/examples/seen.c "$LIBDEJA" -o seen
    export LD_LIBRARY_PATH="${LIBDEJA%/*}"
    succeeds ./seen < <(printf 'a\nb\na\n')
    expect_stdout $'a\nb'
    succeeds ./seen < <(printf 'b\nc')
    expect_stdout c
    unset LD_LIBRARY_PATH
    deja verify seen.deja
fi
cd "$top"

# ---- The command's own examples

# Files that they name.
scratch help
cp docs/examples/sample-urls.txt urls.txt
cp urls.txt today.txt
zstd -q urls.txt
sed 's/^/2024\t200\t/' urls.txt >crawl.log
sed 's/.*/{"link": "&", "text": "Home\\nPage"}/' urls.txt >pages.jsonl
sed 's|.*://[^/]*\(.*\)|192.0.2.1 - - [10/Oct/2024:13:55:36 +0200] "GET \1 HTTP/1.1" 200 1|' \
    urls.txt >access.log
sed 's/.*/1066036250.129 1 192.0.2.1 TCP_HIT\/200 5 GET & - NONE\/- text\/html/' urls.txt >squid.log
printf '0.0.0.0 a.example b.example\n' >hosts.txt
printf 'https://www.example.org/\n' >allow.txt
deja build -q seen.deja urls.txt

ran=0
for command in $(deja help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p') ''; do
    while read -r line; do
        case $line in
        'deja bench'*) deja bench --help >/dev/null ;; # takes long
        'deja serve'* | *--redis*) ;;                  # redis.serve and redis.sharded run them
        'deja crawl'*) bash -c "$line --help" >/dev/null || fail "$line" ;; # not run here
        *'| man '*) command -v man >/dev/null || continue ;;&
        *)
            status=0
            timeout 600 bash -c "$line" >.stdout 2>.stderr </dev/null || status=$?
            [ $status -lt 2 ] || fail "deja help $command: exit $status: $line"
            ;;
        esac
        ran=$((ran + 1))
    done < <(deja help ${command:+"$command"} |
        sed -nE '/^Examples:/,/^$/{s/^  ([^#].*)/\1/p}')
done
[ "$ran" -gt 0 ] || fail "no example found"
echo "$ran examples of the command ran"
