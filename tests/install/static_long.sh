# The static command: one file, the same bytes from two directories, every license included, and
# the main job works where there is nothing else, not even /proc.
command -v musl-gcc >/dev/null || { echo "skipped: no musl-gcc (Debian: musl-tools)"; exit 77; }
. "$SOURCE/tests/install/copied.sh"

build_in() { # DIR JOBS
    copy_sources "$1"
    (cd "$1" && cmake --preset static && cmake --build --preset static -- -j "$2") >"$1.log" 2>&1 ||
        { tail -n 30 "$1.log" >&2; exit 1; }
}
mkdir -p a/longer
build_in one 2
build_in a/longer/path 1
cmp one/build/static/deja a/longer/path/build/static/deja
deja=$PWD/one/build/static/deja
file "$deja" | tee kind
grep -q 'statically linked' kind
grep -q 'BuildID' kind
if strings "$deja" | grep -F "$PWD"; then
    echo "the path of the build is in the file" >&2
    exit 1
fi

static_command_works "$deja"
"$deja" version --licenses >licenses
grep -q 'musl' licenses
grep -q 'Rich Felker' licenses
"$deja" version --features | grep -q '^  gzip input  *no$'

# What is left out is refused, never read as something else.
printf 'a\nb\n' | gzip >list.gz
if "$deja" dedup list.gz >out 2>err; then exit 1; fi
[ ! -s out ]
grep -q 'gzip' err
if "$deja" dedup --redis 127.0.0.1:1 --state x list.gz >out 2>err; then exit 1; fi
grep -q 'hiredis' err

# An empty root directory: no loader, no library, no /proc, no /dev.
mkdir root
cp "$deja" root/deja
printf 'a\nb\na\n' >root/list
if unshare --map-root-user --root="$PWD/root" /deja version >/dev/null 2>&1; then
    enter() { unshare --map-root-user --root="$PWD/root" /deja "$@"; }
elif chroot root /deja version >/dev/null 2>&1; then
    enter() { chroot root /deja "$@"; }
else
    echo "not tried in an empty root directory: no permission"
    exit 0
fi
enter dedup --state /seen.deja -o /new /list
enter dedup --state /seen.deja -o /again /list
printf 'a\nb\n' | cmp - root/new
[ ! -s root/again ]
enter verify /seen.deja
