# Several fields or columns as one key: -f 1,3 and --csv a,b.
. "$SUPPORT/cases.sh"

a_line_is_a_repeat_if_all_fields_are_equal() {
    cat >list <<'END'
GET /a 200
GET /b 200
POST /a 200
GET /a 404
  GET   /a   200
END
    succeeds deja dedup -q -f 1,2 list
    printf '%s\n' 'GET /a 200' 'GET /b 200' 'POST /a 200' | expect_stdout
    succeeds deja dedup -q -f 3,1 list
    printf '%s\n' 'GET /a 200' 'POST /a 200' 'GET /a 404' | expect_stdout
    succeeds deja dedup -q -f 1,2 -D list
    printf '%s\n' 'GET /a 404' '  GET   /a   200' | expect_stdout
}

a_random_list_matches_awk() {
    awk 'BEGIN { srand(7); for (i = 0; i < 40000; i++)
        printf "%d;%s;%d\n", rand() * 90, substr("xyzxyz", 1 + rand() * 5, rand() * 3), rand() * 90 }' >list
    awk -F ';' '!seen[$1, $3]++' list >expected
    succeeds deja dedup -q -f 1,3 -d ';' list
    expect_same expected .stdout
    awk -F ';' '!seen[$2, $1]++' list >expected
    succeeds deja dedup -q -f 2,1 -d ';' -j 1 list
    expect_same expected .stdout
    awk -F ';' '!seen[$1, $2, $3]++' list >expected
    succeeds deja dedup -q --csv 1,2,3 -d ';' list
    expect_same expected .stdout
}

a_pair_never_equals_a_different_pair() {
    printf 'ab;c\na;bc\nabc;\n;abc\na\037b;c\na;\037b;c\na;b\037c\n' >list
    succeeds deja dedup -q -f 1,2 -d ';' list
    expect_same list .stdout
}

columns_are_names_and_numbers() {
    cat >list.csv <<'END'
name,"a,b",host
x,1,h
"x",1,"h"
x,2,h
y,1,h
x,1
END
    succeeds deja dedup -q --csv name,host list.csv
    printf '%s\n' 'name,"a,b",host' x,1,h y,1,h x,1 | expect_stdout # a line without a host passes
    succeeds deja dedup -q --csv '"a,b",host' list.csv
    printf '%s\n' 'name,"a,b",host' x,1,h x,2,h x,1 | expect_stdout
    succeeds deja dedup -q --csv name,2 list.csv
    printf '%s\n' 'name,"a,b",host' x,1,h x,2,h y,1,h | expect_stdout
    succeeds deja dedup -q -i --csv 1,2 list.csv # numbers alone: the first line is data
    printf '%s\n' 'name,"a,b",host' x,1,h x,2,h y,1,h | expect_stdout
}

a_line_that_lacks_a_field_has_no_key() {
    printf 'a b\na\na\na b\n' >list
    succeeds deja dedup -f 1,2 list
    printf 'a b\na\na\n' | expect_stdout
    expect_stderr_has "2 lines without fields 1,2"
    fails_with 2 "line 2 lacks fields 1,2" deja dedup -q --strict -f 1,2 list
    fails_with 2 "no line has fields 1,5" deja dedup -q -f 1,5 list
    printf 'id,url\n1,2\n' >list.csv
    fails_with 2 'has no column "link"; it has: "id", "url"' deja dedup -q --csv id,link list.csv
}

other_commands_use_the_same_keys() {
    printf 'a 1 x\nb 2 x\n' >list
    printf 'a 1 y\na 2 y\nb 2 z\n' >probe
    succeeds deja build -q -k spectral -n 100 -f 1,2 list.deja list
    succeeds deja check -q -f 1,2 list.deja probe
    printf 'a 1 y\nb 2 z\n' | expect_stdout
    succeeds deja count -q -f 1,2 list.deja probe
    printf '1\ta 1 y\n0\ta 2 y\n1\tb 2 z\n' | expect_stdout
    succeeds deja add -q -f 1,2 list.deja probe
    succeeds deja remove -q -f 1,2 list.deja list
    succeeds deja check -q -f 1,2 list.deja list
    expect_same list .stdout
    succeeds deja dedup -q -f 1,2 --state s.deja list
    succeeds deja dedup -q -f 1,2 --state s.deja probe
    expect_stdout 'a 2 y'
}

misuse_is_refused_with_a_reason() {
    echo 'a b' >list
    fails_with 2 "a URL is one field: give -f a single number" deja dedup --url -f 1,2 list
    fails_with 2 "a URL is one field: give --csv a single column" deja dedup --url --csv a,b list
    succeeds deja build -q --url urls.deja list
    fails_with 2 "a URL is one field" deja check -f 1,2 urls.deja list
    fails_with 2 "-f/--field takes" deja dedup -f 1,0 list
    fails_with 2 "-f/--field" deja dedup -f 1-2 list
    fails_with 2 "--csv needs the name" deja dedup --csv a, list
    fails_with 2 "a URL is one field" deja url -f 1,2 list
}

cases "$@"
