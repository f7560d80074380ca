# dedup --csv: the key is a column, selected by name or number; quoted fields are decoded.
. "$SUPPORT/cases.sh"

_sample() {
    printf '%s\n' 'id,url,title' '1,http://a/,first' '2,"http://a/",again' '3,http://b/,other' \
        '4,"http://b/?x=1,2","with, comma"' '5,"http://b/?x=1,2",again' '6,"say ""hi""",x' \
        '7,"say ""hi""",y'
}

a_column_can_be_given_by_name() {
    _sample >list.csv
    succeeds deja dedup --csv url list.csv
    printf '%s\n' 'id,url,title' '1,http://a/,first' '3,http://b/,other' \
        '4,"http://b/?x=1,2","with, comma"' '6,"say ""hi""",x' | expect_stdout
}

a_column_by_number_has_no_header() {
    _sample | tail -n +2 >list.csv
    succeeds deja dedup --csv 2 list.csv
    expect_lines 4 .stdout
    # The first record is data like the others: it is printed once, and its repeats are dropped.
    printf '%s\n' 'x,y' '1,y' '2,z' >list.csv
    succeeds deja dedup --csv 2 list.csv
    printf '%s\n' 'x,y' '2,z' | expect_stdout
}

the_header_is_printed_once() {
    _sample >one.csv
    cp one.csv two.csv
    succeeds deja dedup --csv url one.csv two.csv one.csv
    [ "$(grep -c '^id,' .stdout)" -eq 1 ] || fail "header not exactly once"
    [ "$(head -n 1 .stdout)" = 'id,url,title' ] || fail "header not first"
    expect_lines 5 .stdout
    # Also for the repeats; and a count is a count.
    succeeds deja dedup -D --csv url one.csv
    [ "$(head -n 1 .stdout)" = 'id,url,title' ] || fail "header not first"
    expect_lines 4 .stdout
    succeeds deja dedup --count --csv url one.csv
    expect_stdout 4
}

the_header_of_an_empty_list_is_printed_too() {
    printf 'id,url\n' >list.csv
    succeeds deja dedup --csv url list.csv
    expect_stdout 'id,url'
    printf 'id,url' | deja dedup -q --csv url >out
    printf 'id,url\n' | cmp - out
}

every_file_has_its_own_header() {
    printf '%s\n' 'id,url' '1,a' '2,b' >one.csv
    printf '%s\n' 'url,id' 'b,3' 'c,4' >two.csv
    succeeds deja dedup --csv url one.csv two.csv
    printf '%s\n' 'id,url' '1,a' '2,b' 'c,4' | expect_stdout
    expect_stderr_has "different headers"
}

a_header_can_have_quotes_and_a_byte_order_mark() {
    printf '\357\273\277"the ""url""",id\na,1\na,2\n' >list.csv
    succeeds deja dedup --csv 'the "url"' list.csv
    printf '\357\273\277"the ""url""",id\na,1\n' | expect_stdout
}

line_breaks_inside_quotes_belong_to_the_record() {
    printf 'id,text\n1,"two\nlines"\n2,"two\nlines"\n3,"two\r\nlines"\n4,plain\n' >list.csv
    succeeds deja dedup --csv text list.csv
    printf 'id,text\n1,"two\nlines"\n3,"two\r\nlines"\n4,plain\n' | expect_stdout
    # The record is printed unchanged, whichever column is the key.
    succeeds deja dedup --csv id list.csv
    expect_same list.csv .stdout
}

quoted_and_unquoted_values_are_equal() {
    printf '%s\n' '"a",1' 'a,2' '"a ",3' ' "a",4' '"",5' ',6' '"a""b",7' 'a"b,8' >list.csv
    succeeds deja dedup --csv 1 list.csv
    printf '%s\n' '"a",1' '"a ",3' ' "a",4' '"",5' ',6' '"a""b",7' | expect_stdout
}

carriage_returns_are_not_part_of_the_key() {
    printf 'id,url\r\n1,a\r\n2,a\n3,"b"\r\n4,b\r\n' >list.csv
    succeeds deja dedup --csv url list.csv
    printf 'id,url\r\n1,a\r\n3,"b"\r\n' | expect_stdout
}

other_delimiters_can_be_chosen() {
    printf '%s\n' 'id;url' '1;"a;b"' '2;"a;b"' '3;c,d' >list.csv
    succeeds deja dedup --csv url -d ';' list.csv
    printf '%s\n' 'id;url' '1;"a;b"' '3;c,d' | expect_stdout
    printf 'id\turl\n1\ta\n2\ta\n' >list.tsv
    succeeds deja dedup --csv url -d '\t' list.tsv
    printf 'id\turl\n1\ta\n' | expect_stdout
}

records_without_the_column_are_printed() {
    printf '%s\n' 'id,url' '1,a' '2' '3,' '4' '5,a' >list.csv
    succeeds deja dedup --csv url list.csv
    printf '%s\n' 'id,url' '1,a' '2' '3,' '4' | expect_stdout
    expect_stderr_has '3 lines without column "url", passed through'
    expect_stderr_has "5 read, 4 new, 1 seen before"
}

a_missing_column_is_an_error_that_lists_the_others() {
    _sample >list.csv
    fails_with 2 'list.csv has no column "link"; it has: "id", "url", "title"' \
        deja dedup --csv link list.csv
    expect_stdout ''
}

a_quote_that_is_never_closed_is_an_error() {
    printf '%s\n' 'id,url' '1,a' '2,"b' '3,c' >list.csv
    fails_with 2 "list.csv ends inside quotes: the record that starts at line 3" \
        deja dedup --csv url list.csv
    printf '%s\n' 'id,url' '1,a' | expect_stdout
}

columns_count_from_one() {
    _sample >list.csv
    fails_with 2 "columns are counted from 1" deja dedup --csv 0 list.csv
    fails_with 2 "needs the name or the number of a column" deja dedup --csv '' list.csv
}

csv_can_come_from_a_pipe() {
    _sample >list.csv
    deja dedup -q --csv url list.csv >expected
    deja dedup -q --csv url <list.csv >out
    expect_same expected out
    _sample | deja dedup -q --csv url - >out
    expect_same expected out
}

a_state_can_hold_a_column() {
    _sample >list.csv
    succeeds deja dedup --csv url --state seen.deja list.csv
    expect_lines 5 .stdout
    printf '%s\n' 'url,n' 'http://a/,1' 'http://new/,2' '"say ""hi""",3' >next.csv
    succeeds deja dedup --csv url --state seen.deja next.csv
    printf '%s\n' 'url,n' 'http://new/,2' | expect_stdout
}

# Random records written and read by Python's csv module.
random_records_agree_with_python() {
    python3 - <<'PY'
import csv, io, random
random.seed(11)
letters = ['a', 'b', ',', '"', '\n', '\r\n', ' ', 'é', '']
seen, data, out = set(), io.StringIO(), io.StringIO()
for f in (data, out):
    f.write('key,n,"a ""name"""\r\n')
for n in range(30000):
    key = ''.join(random.choices(letters, k=random.randrange(6)))
    record = io.StringIO()
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(record, quoting=quoting, lineterminator=random.choice(['\n', '\r\n'])).writerow([key, n, key])
    data.write(record.getvalue())
    if key == '' or key not in seen:
        out.write(record.getvalue())
    seen.add(key)
open('list.csv', 'w', newline='').write(data.getvalue())
open('expected.csv', 'w', newline='').write(out.getvalue())
PY
    succeeds deja dedup --seed 7 --csv key list.csv
    expect_same expected.csv .stdout
    succeeds deja dedup --seed 7 --csv 'a "name"' -j 1 list.csv
    expect_same expected.csv .stdout
}

cases "$@"
