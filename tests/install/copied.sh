# copied.sh - builds from copies of the sources; sourced by tests of static and foreign builds.

# Copies what a release contains: the files that git knows, or everything except builds.
copy_sources() { # DIR
    mkdir -p "$1"
    if git -C "$SOURCE" rev-parse --git-dir >/dev/null 2>&1; then
        git -C "$SOURCE" ls-files -z --cached --others --exclude-standard |
            tar -C "$SOURCE" --null --ignore-failed-read -T - -cf - | tar -C "$1" -xf -
    else
        tar -C "$SOURCE" --exclude ./build -cf - . | tar -C "$1" -xf -
    fi
}

# The main job, in files: new lines, threads, canonical URLs, a sieve.
static_command_works() { # COMMAND...
    rm -rf job
    mkdir job
    seq 1 50000 | sed 's|.*|http://www.example.com/page?id=&|' >job/urls
    "$@" dedup -j 2 --state job/seen.deja -o job/first job/urls
    cmp job/urls job/first
    "$@" dedup -j 2 --state job/seen.deja -o job/second job/urls
    [ ! -s job/second ]
    "$@" check job/seen.deja job/urls >job/known
    cmp job/urls job/known
    "$@" verify job/seen.deja
    printf 'HTTP://Example.COM:80/a/../b\n' | "$@" url >job/form
    [ "$(cat job/form)" = http://example.com/b ]
    "$@" dedup --sieve job/sieve -m 64M -o job/third job/urls
    cmp job/urls job/third
    "$@" dedup --sieve job/sieve -m 64M -o job/fourth job/urls
    [ ! -s job/fourth ]
}
