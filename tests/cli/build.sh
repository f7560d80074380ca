# build: makes a filter file from lines; the file gets its name only when it is complete.
. "$SUPPORT/cases.sh"

# _holds FILTER LIST: every line is found in it, and the file is intact.
_holds() {
    succeeds deja check -q "$1" "$2"
    expect_same "$2" .stdout
    succeeds deja verify -q "$1"
}

_alone() { # FILE: the folder has no other file like it
    [ "$(find . -name '*.deja*' -o -name '.*.new' | wc -l)" -eq 1 ] ||
        fail "beside $1: $(find . -name '*.deja*' -o -name '.*.new')"
}

every_line_is_in_the_filter() {
    some_urls 20000 8000 >list
    succeeds deja build f.deja list
    expect_stdout ''
    expect_stderr_has "20,000 read"
    expect_stderr_has "$(once <list | wc -l | sed 's/...$/,&/') new"
    expect_stderr_has "$(again <list | wc -l | sed 's/...$/,&/') seen before"
    _holds f.deja list
    all_new_urls 20000 >other
    exits_with 1 deja check -q f.deja other
    _alone f.deja
}

every_kind_can_be_built() {
    all_new_urls 5000 >list
    local options
    for options in '-k classic' '-k blocked' '-k exact' '-k spectral' '-k paired' '-k scalable -n 100' \
        '--filters 3' '-k classic --hash sha1' '--hash siphash' '-m 100k' '-n 10k -m 100k' \
        '-k classic -n 5000 --hashes 4 --multiplier 4' '-n 5000 -p 0.01' '--seed 5' \
        '-k static' '-k static -p 0.01' '-k static -m 100k' '-k static --hash siphash'; do
        # shellcheck disable=SC2086 # words
        succeeds deja build --force -q $options f.deja list
        expect_stderr_empty
        _holds f.deja list
    done
    _alone f.deja
}

the_filter_is_sized_by_the_lines_of_the_files() {
    all_new_urls 5000 >list
    all_new_urls 3000 5000 >second
    succeeds deja build --json f.deja list second
    [ "$(json_get capacity .stdout)" -eq 8000 ] || fail "capacity $(json_get capacity .stdout)"
    [ "$(json_get kind .stdout)" = scalable ] || fail "kind"
    [ "$(json_get keys .stdout)" -eq 8000 ] || fail "keys"
    succeeds deja build --force --json f.deja - <list
    [ "$(json_get capacity .stdout)" -eq 5000 ] || fail "capacity from standard input"
    succeeds deja build --force --json --fixed f.deja list
    [ "$(json_get kind .stdout)" = blocked ] || fail "it is not fixed"
}

long_files_are_sampled_for_the_size() {
    # Short lines first, long lines last: samples must come from everywhere.
    { seq 1 300000 && all_new_urls 300000; } >list
    succeeds deja build --json f.deja list
    awk -v n="$(json_get capacity .stdout)" 'BEGIN { exit !(n >= 580000 && n <= 720000) }' ||
        fail "capacity $(json_get capacity .stdout) for 600000 lines"
}

from_a_pipe_the_filter_is_scalable() {
    all_new_urls 5000 >list
    deja build --json f.deja <list >first
    # shellcheck disable=SC2002 # a pipe is the point
    cat list | deja build --force --json f.deja >second
    [ "$(json_get capacity first)" = 5000 ] || fail "size from a file: $(json_get capacity first)"
    [ "$(json_get kind second)" = scalable ] || fail "kind from a pipe: $(json_get kind second)"
    [ "$(json_get capacity second)" -gt 5000 ] || fail "size from a pipe: $(json_get capacity second)"
    fails_with 2 "how many keys? --fixed needs -n N" deja build --fixed new.deja </dev/null
    fails_with 2 "--fixed and -k scalable cannot be combined" deja build --fixed -k scalable -n 5 new.deja list
    _holds f.deja list
    # shellcheck disable=SC2002
    cat list | deja build --force -q -k scalable -n 100 f.deja
    _holds f.deja list
    # shellcheck disable=SC2002
    cat list | deja build --force -q -n 5000 -k exact f.deja
    _holds f.deja list
}

empty_input_makes_an_empty_filter() {
    : >empty
    echo a >list
    succeeds deja build f.deja empty
    exits_with 1 deja check -q f.deja list
    succeeds deja add -q f.deja list
    _holds f.deja list
}

the_report_can_be_json() {
    printf 'a\nb\na\n' >list
    succeeds deja build --json f.deja list
    [ "$(json_get file .stdout)" = f.deja ] || fail "file"
    [ "$(json_get read .stdout)" -eq 3 ] || fail "read"
    [ "$(json_get added .stdout)" -eq 2 ] || fail "added"
    [ "$(json_get known .stdout)" -eq 1 ] || fail "known"
    [ "$(json_get stopped .stdout)" = False ] || fail "stopped"
}

fields_columns_and_null_records_can_be_keys() {
    printf 'x\ta\ny\tb\n' >fields
    printf 'a\nb\n' >list
    succeeds deja build -q -f 2 f.deja fields
    _holds f.deja list
    printf 'n,url\n1,"a"\n2,b\n' >table.csv
    succeeds deja build --force -q --csv url f.deja table.csv
    _holds f.deja list
    echo url >name
    exits_with 1 deja check -q f.deja name # the header is not a key
    printf 'a\0b\0' >records
    succeeds deja build --force -q -z f.deja records
    _holds f.deja list
}

# While it is replaced repeatedly, a reader finds the complete old file or the complete new one.
a_filter_is_replaced_atomically() {
    all_new_urls 20000 >list
    deja build -q f.deja list
    local i
    (for ((i = 0; i < 25; i++)); do "$DEJA" build --force -q -n $((20000 + i * 3000)) f.deja list; done) &
    for ((i = 0; i < 40; i++)); do
        succeeds deja check -q f.deja list
        expect_same list .stdout
    done
    wait $!
    _holds f.deja list
    _alone f.deja
}

# Ctrl-C and SIGKILL, at any moment and while it waits for its input: the old file stays.
an_interrupted_build_keeps_the_old_filter() {
    echo old >old
    deja build -q f.deja old
    cp f.deja good.copy
    python3 - <<'PY'
import signal, subprocess
import dejarun

data = b"\n".join(dejarun.unique_lines(200_000)) + b"\n"
for sig in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
    for j in "1", "2":
        process = dejarun.start("build", "--force", "-j", j, "f.deja", stdin=subprocess.PIPE)
        feeder = dejarun.Feeder(process.stdin, data, 1 << 16, 0, hold=True)
        dejarun.eventually("it reads", lambda: feeder.written == len(data))
        process.send_signal(sig)
        if dejarun.wait(process) != -sig:
            dejarun.fail(f"not ended by signal {sig}")
        errors = process.stderr.read().decode()
        if sig != signal.SIGKILL and "f.deja was not created" not in errors:
            dejarun.fail(f"does not say that it was stopped: {errors}")
        feeder.finish()
        if open("f.deja", "rb").read() != open("good.copy", "rb").read():
            dejarun.fail(f"signal {sig}, -j {j}: the old filter was replaced by an incomplete one")
PY
    _alone f.deja
    _holds f.deja old
}

an_error_keeps_the_old_filter() {
    echo old >old
    deja build -q f.deja old
    printf '%s\n' 'id,url' '1,"never closed' >bad.csv
    fails_with 2 "ends inside quotes" deja build --force --csv url f.deja bad.csv
    fails_with 2 "nowhere does not exist" deja build --force f.deja old nowhere
    all_new_urls 5000 >list
    fails_with 2 "f.deja is full: make a new filter with a larger" deja build --force -k exact -n 100 --fixed f.deja list
    _holds f.deja old
    _alone f.deja
}

an_error_leaves_no_new_file() {
    printf '%s\n' 'id,url' '1,"never closed' >bad.csv
    fails_with 2 "ends inside quotes" deja build --csv url f.deja bad.csv
    [ ! -e f.deja ] || fail "a filter was made"
}

a_file_that_is_being_written_is_not_replaced() {
    printf 'a\nb\n' >list
    deja build -q f.deja list
    mkfifo in
    deja add -q f.deja in &
    exec 9>in
    echo c >&9
    echo c >added
    eventually deja check -q f.deja added
    fails_with 2 "f.deja is in use by another process" deja build --force f.deja list
    exec 9>&-
    wait
    cat added >>list
    _holds f.deja list
    succeeds deja build --force -q f.deja added
    _holds f.deja added
}

# deja build urls.txt more.txt: the user forgot the name of the filter.
a_file_that_is_not_a_filter_is_not_replaced() {
    all_new_urls 1000 >urls.txt
    cp urls.txt copy
    echo other >more.txt
    exits_with 2 deja build urls.txt more.txt
    expect_same copy urls.txt
    expect_stderr_has "urls.txt"
    exits_with 2 deja build urls.txt <more.txt
    expect_same copy urls.txt
    exits_with 2 deja build urls.txt urls.txt
    expect_same copy urls.txt
}

replacing_keeps_the_mode() {
    echo a >list
    deja build -q f.deja list
    chmod 600 f.deja
    succeeds deja build --force -q f.deja list
    [ "$(stat -c %a f.deja)" = 600 ] || fail "mode $(stat -c %a f.deja) instead of 600"
}

cases "$@"
