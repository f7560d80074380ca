#!/usr/bin/env bash
# peers.sh [FILE] - compare deja with the Bloom filters that package registries provide, in one run.
#
# Each peer is installed from its registry into a scratch folder, with the tools of its language,
# and is left out, with the reason, if that fails.  All get the same keys: N (1M) members, N absent
# keys, and N lines of which half are new, from FILE or from `deja gen`.  Every program in
# bench/peers runs RUNS times (3), interleaved, and repeats its work; the best processor times
# count.  Answers are checked: a missing member ends the run.  PEERS names those to measure (all),
# P is the rate (0.01).  Prints a Markdown table of ns per key, with ratios to deja's batches.
set -eu -o pipefail
cd "$(dirname "$0")/.."
source=$PWD
n=${N:-1000000} p=${P:-0.01} runs=${RUNS:-3}
peers=${PEERS:-libbloom fastbloom bits_and_blooms guava rbloom pybloom_live bloom_filters}
build=$source/build/release
if [ ! -x "$build/deja" ] || [ ! -e "$build/libdeja.so" ]; then
    { cmake --preset release && cmake --build --preset release; } >/dev/null
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# --- Installing: each function leaves `command` and prints the peer's version last ----------------
flags=(-O2 -D_GNU_SOURCE -I"$source" -I"$source/include")
install_libbloom() {
    apt-get download libbloom1 libbloom-dev
    for package in ./*.deb; do dpkg -x "$package" .; done
    library=$(find . -name 'libbloom.so' | head -n 1)
    gcc "${flags[@]}" -Iusr/include "$source/bench/peers/peer_libbloom.c" -o peer "$library" \
        -Wl,-rpath,"$(realpath "${library%/*}")"
    command=("$PWD/peer")
    dpkg-deb -f ./libbloom1*.deb Version
}
install_fastbloom() {
    export CARGO_HOME=$PWD/cargo
    cargo init --quiet --vcs none --name peer .
    cargo add --quiet fastbloom
    cp "$source/bench/peers/peer_fastbloom.rs" src/main.rs
    cargo build --quiet --release
    command=("$PWD/target/release/peer")
    cargo tree --quiet --depth 1 | sed -n 's/.*fastbloom v\([^ ]*\).*/\1/p'
}
install_bits_and_blooms() {
    export GOPATH=$PWD/go GOCACHE=$PWD/cache GOFLAGS=-modcacherw
    go mod init peer
    go get github.com/bits-and-blooms/bloom/v3
    cp "$source/bench/peers/peer_bits_and_blooms.go" main.go
    go build -o peer main.go
    command=("$PWD/peer")
    go list -m -f '{{.Version}}' github.com/bits-and-blooms/bloom/v3
}
install_guava() {
    local version=33.4.8-jre
    mvn --batch-mode -Dmaven.repo.local="$PWD/repository" dependency:get \
        -Dartifact=com.google.guava:guava:$version >&2
    jars=$(find "$PWD/repository/com/google" -name '*.jar' | tr '\n' ':')
    javac -cp "$jars" -d . "$source/bench/peers/PeerGuava.java"
    command=(java -cp "$jars$PWD" PeerGuava)
    echo $version
}
install_python() { # PACKAGE MODULE
    python3 -m pip install --quiet --target . "$1"
    command=(env "PYTHONPATH=$PWD" python3 "$source/bench/peers/peer.py" "$2")
    PYTHONPATH=$PWD python3 -c 'import importlib.metadata, sys
print(importlib.metadata.version(sys.argv[1]))' "$1"
}
install_rbloom() { install_python rbloom rbloom; }
install_pybloom_live() { install_python pybloom-live pybloom_live; }
install_bloom_filters() {
    npm install --silent --no-audit --no-fund --prefix . bloom-filters
    command=(env "NODE_PATH=$PWD/node_modules" node "$source/bench/peers/peer_bloom_filters.js")
    node -p 'require("./node_modules/bloom-filters/package.json").version'
}

# --- Programs: name, version, and the command in a file, since each is installed in its own shell ---
names=() versions=() left_out=()
try() { # NAME: installs it in its own folder
    mkdir "$work/$1"
    if ( cd "$work/$1"; set -e; "install_$1" >version; printf '%q ' "${command[@]}" >run ) \
        >"$work/$1.log" 2>&1 </dev/null; then
        names+=("$1")
        versions+=("$(tail -n 1 "$work/$1/version")")
    else
        left_out+=("$1 ($(grep -v '^ *$' "$work/$1.log" | tail -n 1 || true))")
    fi
}
gcc "${flags[@]}" "$source/bench/peers/peer_deja.c" -o "$work/peer_deja" "$build/libdeja.so" \
    -Wl,-rpath,"$build"
for name in deja deja_single; do
    mkdir "$work/$name"
    names+=("$name")
    versions+=("$("$build/deja" version | tr -dc '0-9.\n' | head -n 1)")
    printf '%q ' "$work/peer_deja" >"$work/$name/run"
done
for name in $peers; do
    if [ "$(type -t "install_$name")" != function ]; then
        echo "peers.sh: unknown peer $name" >&2
        exit 2
    fi
    try "$name"
done

# --- Keys --------------------------------------------------------------------------------------
if [ $# -gt 0 ]; then
    LC_ALL=C sort -u "$1" | shuf -n $((2 * n)) --random-source=<(yes) >"$work/all"
else
    "$build/deja" gen -q -n $((2 * n)) >"$work/all"
fi
n=$(($(wc -l <"$work/all") / 2))
head -n "$n" "$work/all" >"$work/members"
tail -n "$n" "$work/all" >"$work/absent"
head -n $((n / 2)) "$work/members" >"$work/new"
awk 'BEGIN { srand(1) } { print; seen[NR] = $0; print seen[1 + int(rand() * NR)] }' "$work/new" >"$work/mixed"

# --- Running -------------------------------------------------------------------------------------
# check NAME KEYS FOUND HITS NEW: all members were found, and there are no more mistakes than chance.
check() {
    awk -v n="$2" -v p="$p" -v found="$3" -v hits="$4" -v new="$5" 'BEGIN {
        half = int(n / 2); most = 2 * p * n + 100
        exit !(found == n && hits <= most && new <= half && new >= half - most) }' ||
        { echo "peers.sh: $1 is wrong: found $3 of $2, $4 false positives, $5 new" >&2; exit 1; }
}
for ((run = 0; run < runs; run++)); do
    for name in "${names[@]}"; do
        words=$(cat "$work/$name/run")
        extra=
        if [ "$name" = deja_single ]; then extra=single; fi
        eval "$words" "'$work/members' '$work/absent' '$work/mixed'" "$p" $extra >"$work/line"
        read -r keys bits found hits new _ <"$work/line"
        check "$name" "$keys" "$found" "$hits" "$new"
        printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$keys" "$bits" "$hits" "$(cut -f 6- "$work/line")" >>"$work/results"
    done
done

echo "$n keys, rate $p; $(date -u +%F); $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
for ((i = 0; i < ${#left_out[@]}; i++)); do echo "left out: ${left_out[$i]}"; done
echo
echo '| filter | version | bits per key | rate | add new | contains absent | contains present | add, half new |'
echo '|---|---|---:|---:|---:|---:|---:|---:|'
for ((i = 0; i < ${#names[@]}; i++)); do
    awk -F '\t' -v name="${names[$i]}" -v version="${versions[$i]}" '
        function least(of, k) { if (!(of SUBSEP k in best) || $k < best[of, k]) best[of, k] = $k }
        { for (k = 5; k <= 8; k++) least($1, k) }
        $1 == name { bits = $3 / $2; rate = $4 / $2 }
        END {
            printf "| %s | %s | %.2f | %.3g |", name, version, bits, rate
            for (k = 5; k <= 8; k++)
                printf " %.1f (%.1f) |", best[name, k], best[name, k] / best["deja", k]
            print ""
        }' "$work/results"
done
