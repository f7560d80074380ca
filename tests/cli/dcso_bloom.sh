# DCSO bloom files: DCSO's own program reads deja's files, and deja reads its files.
. "$SUPPORT/cases.sh"

case $(bloom --version 2>&1) in
*"Bloom Filter"*) ;;
*) skip "bloom (Debian: golang-github-dcso-bloom-cli) is not here" ;;
esac

we_write_the_bytes_of_the_original_program() {
    local n p
    deja gen -q -n 2000 >list
    printf 'a\r\n\n  b \n' >>list # a carriage return, an empty line, blanks
    for n in 1 7 100 2000 99991; do
        for p in 0.5 0.1 0.013 1e-3 1e-6 1e-9; do
            bloom create -n $n -p $p theirs.bloom
            bloom insert theirs.bloom <list
            deja build --force -q --format dcso -n $n -p $p ours.bloom list 2>/dev/null
            expect_same ours.bloom theirs.bloom
        done
    done
}

we_read_files_of_the_original_program() {
    deja gen -q -n 3000 >list
    deja gen -q -n 30000 --first 3000 >strangers
    bloom create -n 3000 -p 0.01 theirs.bloom
    bloom insert theirs.bloom <list
    bloom check theirs.bloom <list >expected
    deja check -q theirs.bloom list >got
    expect_same got expected
    bloom check theirs.bloom <strangers >expected
    deja check -q theirs.bloom strangers >got
    expect_same got expected
    [ -s got ] || fail "no false positive to compare"
    printf 'some data' | bloom set-data theirs.bloom
    succeeds deja info theirs.bloom
    expect_stdout_has "data        10 B of the owner's data after the bits"
    deja check -q theirs.bloom strangers >got
    expect_same got expected
    bloom --gzip create -n 3000 -p 0.01 theirs.gz
    bloom --gzip insert theirs.gz <list
    deja check -q theirs.gz strangers >got
    expect_same got expected
}

the_original_program_reads_our_files() {
    deja gen -q -n 3000 >list
    deja gen -q -n 30000 --first 3000 >strangers
    deja build -q --format dcso -n 3000 -p 0.01 ours.bloom list
    bloom check ours.bloom <list >got
    expect_same got list
    deja check -q ours.bloom strangers >expected
    bloom check ours.bloom <strangers >got
    expect_same got expected
    bloom show ours.bloom >shown
    grep -q "Capacity:.*3000" shown || fail "capacity"
    seq 5 | bloom insert ours.bloom # it continues with our file, and we with its
    [ "$(seq 5 | deja check -q -c ours.bloom)" -eq 5 ] || fail "added by the other program"
    deja build -q --format dcso -n 3000 -p 0.01 ours.gz list
    bloom --gzip check ours.gz <list >got
    expect_same got list
}

cases "$@"
