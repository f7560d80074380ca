# What counts as a line, and which lines are printed: the same as awk '!seen[$0]++' prints.
. "$SUPPORT/cases.sh"

order_is_kept_as_with_awk() {
    local n
    for n in 0 1 2 17 1000 30000 200000; do
        some_urls "$n" $((n / 2 + 1)) >list
        succeeds deja dedup --seed 7 list
        once <list >expected
        expect_same expected .stdout
    done
}

sorted_and_constant_lists_work() {
    seq 1 50000 >sorted
    succeeds deja dedup --seed 7 sorted
    expect_same sorted .stdout
    awk 'BEGIN { for (i = 0; i < 50000; i++) print "same" }' >equal
    succeeds deja dedup equal
    expect_stdout same
}

several_files_count_as_one_list() {
    some_urls 30000 9000 >list
    split -n l/3 list part.
    succeeds deja dedup --seed 7 part.aa part.ab part.ac part.aa
    cat part.aa part.ab part.ac | once | expect_stdout
    succeeds deja dedup --seed 7 part.ac part.aa
    cat part.ac part.aa | once | expect_stdout
}

a_hundred_files_can_be_given() {
    local i
    for ((i = 0; i < 100; i++)); do seq $i $((i + 10)) >"file $i"; done
    succeeds deja dedup --seed 7 "file "*
    cat "file "* | once | expect_stdout
}

no_file_means_standard_input() {
    some_urls 5000 2000 >list
    once <list >expected
    succeeds deja dedup --seed 7 <list
    expect_same expected .stdout
    # shellcheck disable=SC2002 # a pipe is the point
    cat list | succeeds deja dedup --seed 7
}

standard_input_can_be_a_pipe() {
    some_urls 5000 2000 >list
    once <list >expected
    # shellcheck disable=SC2002
    cat list | deja dedup -q --seed 7 >out
    expect_same expected out
}

a_half_read_standard_input_is_continued() {
    seq 1 10 >list
    {
        read -r _first
        deja dedup -q >out
    } <list
    expect_lines 9 out
}

a_dash_is_standard_input_among_files() {
    printf '%s\n' a b >first
    printf '%s\n' d e a >last
    printf '%s\n' b c | deja dedup -q first - last >out
    printf '%s\n' a b c d e | cmp - out || fail "wrong lines or order"
    # Standard input can only be read once: the second time it is at its end.
    printf '%s\n' x y | deja dedup -q - first - >out
    printf '%s\n' x y a b | cmp - out || fail "wrong lines or order"
}

file_names_can_look_like_options() {
    echo one >-q
    echo two >./--count
    succeeds deja dedup -- -q --count
    printf 'one\ntwo\n' | expect_stdout
}

repeated_prints_the_repeats() {
    some_urls 20000 3000 >list
    succeeds deja dedup --seed 7 -D list
    again <list | expect_stdout
    succeeds deja dedup --seed 7 --repeated list
    again <list | expect_stdout
}

count_prints_a_number() {
    some_urls 20000 3000 >list
    succeeds deja dedup --seed 7 --count list
    expect_stdout "$(once <list | wc -l)"
    succeeds deja dedup --seed 7 -c -D list
    expect_stdout "$(again <list | wc -l)"
    : >empty
    succeeds deja dedup --count empty
    expect_stdout 0
}

empty_input_is_not_an_error() {
    : >empty
    succeeds deja dedup empty
    expect_stdout ''
    succeeds deja dedup </dev/null
    expect_stdout ''
    succeeds deja dedup empty empty empty
    expect_stdout ''
    echo a >one
    succeeds deja dedup empty one empty
    expect_stdout a
}

empty_lines_are_lines() {
    printf '\n\na\n\nb\n' >list
    succeeds deja dedup list
    printf '\na\nb\n' | expect_stdout
}

a_last_line_without_newline_gets_one() {
    printf 'a\nb\na' >list
    succeeds deja dedup list
    printf 'a\nb\n' | expect_stdout
    printf 'a\nb\nc' >list
    succeeds deja dedup list
    printf 'a\nb\nc\n' | expect_stdout
    # A line ends with its file, and does not continue in the next one.
    printf 'd\nc' >next
    succeeds deja dedup list next
    printf 'a\nb\nc\nd\n' | expect_stdout
    printf 'only' | deja dedup -q >out
    echo only | cmp - out
}

crlf_and_lf_are_the_same_line() {
    printf 'a\r\na\nb\nb\r\nc\r\nc\r\n' >list
    succeeds deja dedup list
    printf 'a\r\nb\nc\r\n' | expect_stdout
    # Only one, only at the end of a line.
    printf 'a\r\r\na\r\nx\ry\nxy\n\r\n\n' >list
    succeeds deja dedup list
    printf 'a\r\r\na\r\nx\ry\nxy\n\r\n' | expect_stdout
}

a_byte_order_mark_is_not_part_of_the_key() {
    printf '\357\273\277a\nb\n' >windows
    printf 'a\nc\n' >unix
    succeeds deja dedup windows unix
    printf '\357\273\277a\nb\nc\n' | expect_stdout
    printf '\357\273\277' >only
    succeeds deja dedup only
    expect_stdout ''
}

nul_bytes_are_ordinary_bytes() {
    printf 'a\0b\na\0c\na\na\0b\n\0\n\0\0\n\0\n' >list
    succeeds deja dedup list
    printf 'a\0b\na\0c\na\n\0\n\0\0\n' | expect_stdout
}

invalid_utf8_is_ordinary_bytes() {
    printf 'a\377\na\376\n\300\200\n\355\240\200\na\377\n\200\n\300\200\n' >list
    succeeds deja dedup list
    printf 'a\377\na\376\n\300\200\n\355\240\200\n\200\n' | expect_stdout
}

null_ends_records_with_zero_bytes() {
    printf 'a\nb\0c\0a\nb\0a\0' >list
    succeeds deja dedup -z list
    printf 'a\nb\0c\0a\0' | expect_stdout
    printf 'x\r\0x\0x' >list # a carriage return means nothing here
    succeeds deja dedup --null list
    printf 'x\r\0x\0' | expect_stdout
}

# Lines of random bytes, many of them special, against the rules written down in Python.
random_bytes_follow_the_rules() {
    python3 - <<'PY'
import random
random.seed(5)
letters = [b"\r", b"\0", b"\xff", b"a", b"b", b"\t", b'"', b"\x1a", b"\n"]
data = b"".join(random.choices(letters, k=300000))
seen, out = set(), []
for line in data.split(b"\n"):
    key = line[:-1] if line.endswith(b"\r") else line
    if key not in seen:
        seen.add(key)
        out.append(line + b"\n")
open("list", "wb").write(data + b"\n")
open("expected", "wb").write(b"".join(out))
PY
    succeeds deja dedup --seed 7 list
    expect_same expected .stdout
    succeeds deja dedup --seed 7 -j 1 <list
    expect_same expected .stdout
    deja dedup --seed 7 -q <list | cat >piped
    expect_same expected piped
}

a_field_can_be_the_key() {
    printf 'a\tx\t1\nb\ty\t1\nc\tx\t2\n' >list
    succeeds deja dedup -f 2 list
    printf 'a\tx\t1\nb\ty\t1\n' | expect_stdout
    succeeds deja dedup --field=3 list
    printf 'a\tx\t1\nc\tx\t2\n' | expect_stdout
    succeeds deja dedup -f1 list
    expect_same list .stdout
}

fields_without_a_delimiter_are_words() {
    printf 'a x\nb \t x\r\n  c\tx y\nd y\n' >list
    succeeds deja dedup -f 2 list
    printf 'a x\nd y\n' | expect_stdout
    succeeds deja dedup -f 1 list
    expect_same list .stdout
    printf 'a b\tx\nc\tx\n' >list # -d '\t': only tabs
    succeeds deja dedup -f 2 -d '\t' list
    printf 'a b\tx\n' | expect_stdout
}

the_delimiter_of_fields_can_be_chosen() {
    printf 'a;x\nb;x\nc;y\n' >list
    succeeds deja dedup -f 2 -d ';' list
    printf 'a;x\nc;y\n' | expect_stdout
    printf 'a x\r\nb x\nc  x\n' >list # two spaces: an empty field between them
    succeeds deja dedup -f 2 --delimiter ' ' list
    printf 'a x\r\nc  x\n' | expect_stdout
    expect_stderr_has "1 line without field 2"
    printf 'a\0x\nb\0x\n' >list
    succeeds deja dedup -f 2 -d '\0' list
    printf 'a\0x\n' | expect_stdout
    printf 'a,"x,y"\nb,"x,z"\n' >list # no quoting without --csv
    succeeds deja dedup -f 2 -d , list
    printf 'a,"x,y"\n' | expect_stdout
}

lines_without_the_field_pass_through_and_are_counted() {
    printf 'a\tx\nb\nc\t\nd\ne\tx\n' >list
    local delimiter
    for delimiter in -d'\t' ''; do
        # shellcheck disable=SC2086 # perhaps none
        succeeds deja dedup -f 2 $delimiter list
        printf 'a\tx\nb\nc\t\nd\n' | expect_stdout
        expect_stderr_has "3 lines without field 2, passed through"
        expect_stderr_has "5 read, 4 new, 1 seen before"
    done
}

lines_can_have_many_fields() {
    awk 'BEGIN { for (i = 0; i < 20000; i++) print i "\t" i % 7 "\t" int(i / 2) "\t" i % 5000 }' >list
    local f
    for f in 1 2 3 4; do
        succeeds deja dedup --seed 7 -f $f list
        awk -F '\t' -v f=$f '!seen[$f]++' list | expect_stdout
    done
}

# Lines from a slow pipe are printed as they arrive, without waiting for a full buffer.
lines_of_a_slow_pipe_come_out_at_once() {
    mkfifo in
    deja dedup -q in | cat >out &
    exec 9>in
    printf 'a\na\nb\n' >&9
    printf 'a\nb\n' >expected
    eventually cmp -s expected out
    printf 'c\nb\n' >&9
    printf 'c\n' >>expected
    eventually cmp -s expected out
    exec 9>&-
    wait
}

named_pipes_are_files() {
    mkfifo one two
    seq 1 3000 >one &
    seq 2000 4000 >two &
    succeeds deja dedup --seed 7 one two
    seq 1 4000 | expect_stdout
}

cases "$@"
