# check with several filters, --tag and --why.
. "$SUPPORT/cases.sh"

# Two block lists that share one entry, and URLs to look up.
_lists() {
    printf '%s\n' evil.example http://shop.example/fake/ | deja build -q --seed 7 --url=gsb phish.deja
    printf '%s\n' evil.example mal.example | deja build -q --seed 8 -k exact --url=gsb mal.deja
    cat >urls <<'END'
http://www.evil.example/x?y
http://good.example/
https://a.mal.example/
not a URL
http://shop.example/fake/1
END
}

a_line_is_in_if_any_filter_holds_it() {
    _lists
    succeeds deja check --url=gsb phish.deja mal.deja urls
    sed -n '1p;3p;5p' urls | expect_stdout
    expect_stderr_has "in any of 2 filters"
    succeeds deja check -q -v --url=gsb phish.deja mal.deja urls
    sed -n '2p;4p' urls | expect_stdout
    succeeds deja check -q -c --url=gsb -j 1 mal.deja phish.deja <urls
    expect_stdout 3
    exits_with 1 deja check -q --url=gsb phish.deja mal.deja <<<http://good.example/
}

tag_names_the_filters_that_hold_a_line() {
    _lists
    mkdir -p lists.d
    mv mal.deja lists.d/
    succeeds deja check -q --url=gsb --tag phish.deja lists.d/mal.deja urls
    expect_stdout "$(printf '%s\t%s\n' phish,mal http://www.evil.example/x?y \
        mal https://a.mal.example/ phish http://shop.example/fake/1)"
    succeeds deja check -q --url=gsb --tag lists.d/mal.deja urls
    expect_stdout "$(printf 'mal\t%s\n' http://www.evil.example/x?y https://a.mal.example/)"
}

why_prints_the_entry_that_was_found() {
    _lists
    sed 's/1$/1\r/' urls >dos
    succeeds deja check -q --url=gsb --tag --why phish.deja mal.deja dos
    printf '%s\t%s\t%s\n' phish,mal http://www.evil.example/x?y evil.example/ \
        mal https://a.mal.example/ mal.example/ \
        phish http://shop.example/fake/1 $'shop.example/fake/\r' | expect_stdout
    # The entry with the longest host and path comes first.
    printf '%s\n' shop.example http://shop.example/fake/ | deja build -q --seed 7 --url=gsb both.deja
    succeeds deja check -q --url=gsb --why both.deja <<<http://shop.example/fake/1
    expect_stdout "$(printf 'http://shop.example/fake/1\tshop.example/fake/')"
}

why_prints_canonical_keys() {
    printf '%s\n' http://h.example/a b | deja build -q --seed 7 --url f.deja
    succeeds deja check -q --url --why f.deja <<<HTTP://h.example:80/%61
    expect_stdout "$(printf 'HTTP://h.example:80/%%61\thttp://h.example/a')"
    succeeds deja check -q --url --why --canonical f.deja <<<HTTP://h.example:80/%61
    expect_stdout "$(printf 'http://h.example/a\thttp://h.example/a')"
    printf '%s\n' a b | deja build -q --seed 7 bytes.deja
    printf 'x\tb\0y\tc\0' | deja check -q -z -f 2 --why bytes.deja | tr '\0' '\n' >out
    [ "$(cat out)" = "$(printf 'x\tb\tb')" ] || fail "$(cat out)"
}

the_header_of_a_table_has_a_column_for_the_tag() {
    printf '%s\n' a b | deja build -q --seed 7 f.deja
    printf '%s\n' c | deja build -q --seed 7 g.deja
    printf '%s\n' id,key 1,a 2,x 3,c >table.csv
    succeeds deja check -q --csv key --tag f.deja g.deja table.csv
    printf 'list\tid,key\nf\t1,a\ng\t3,c\n' | expect_stdout
    printf '%s\n' id,key 2,x >none.csv
    exits_with 1 deja check -q --csv key --tag f.deja g.deja none.csv
    printf 'list\tid,key\n' | expect_stdout
}

lines_with_several_hosts_name_all_their_lists() {
    printf '%s\n' a.example | deja build -q --seed 7 f.deja
    printf '%s\n' b.example | deja build -q --seed 7 g.deja
    printf '0.0.0.0 x.example b.example a.example\n# c\n0.0.0.0 y.example\n' >hosts
    succeeds deja check -q --format hosts --tag --why f.deja g.deja hosts
    expect_stdout "$(printf 'f,g\t0.0.0.0 x.example b.example a.example\tb.example')"
}

# Answers are those of the single filters, for every kind and with keyless lines.
several_filters_answer_like_each_alone() {
    all_new_urls 30000 | awk '{ print NR % 7 ? NR "," $0 : NR "," }' >table.csv
    local kind kinds=(blocked classic exact scalable spectral static window layered)
    for kind in "${kinds[@]}"; do
        awk -F, -v k="${#kind}" 'NR % 11 == k && $2 { print $2 }' table.csv >"list.$kind"
        deja build -q -n 5000 -p 1e-3 -k "$kind" "$kind.deja" "list.$kind"
        deja check -q -f 2 -d , "$kind.deja" table.csv | sed "s/^/$kind\t/" >>want
    done
    succeeds deja check --json -f 2 -d , --tag "${kinds[@]/%/.deja}" table.csv
    awk -F'\t' '{ n = split($1, k, ","); for (i = 1; i <= n; i++) print k[i] "\t" $2 }' .stdout | sort >got
    sort want | expect_same - got
    for kind in "${kinds[@]}"; do
        [ "$(jq -r ".filters[] | select(.file == \"$kind.deja\").in" .stderr)" = "$(grep -c "^$kind" want)" ] ||
            fail "$kind: wrong count"
    done
}

each_filter_keeps_its_key() {
    head -c 32 /dev/urandom >key
    chmod 600 key
    echo a | deja build -q --key key apart.deja
    echo b | deja build -q own.deja
    succeeds deja check -q --tag --key key own.deja apart.deja <<<$'a\nb\nc'
    printf 'apart\ta\nown\tb\n' | expect_stdout
    fails_with 2 "apart.deja does not contain its secret key" deja check own.deja apart.deja <<<a
    fails_with 2 "own.deja was made with another secret key" deja check --key key own.deja <<<a
}

bloom_files_of_dcso_are_filters_too() {
    echo a | deja build -q -n 10 --format dcso a.bloom
    echo b | deja build -q b.deja
    succeeds deja check -q --tag a.bloom b.deja <<<$'a\nb\nc'
    printf 'a.bloom\ta\nb\tb\n' | expect_stdout
    succeeds deja check -q --tag b.deja a.bloom <<<$'a\nb\nc'
    printf 'a.bloom\ta\nb\tb\n' | expect_stdout
}

prefixes_are_looked_up_in_all_filters() {
    echo http://h.example/a/b | deja build -q -k layered -n 100 one.deja
    echo http://g.example/c/d | deja build -q -k layered -n 100 two.deja
    succeeds deja check -q --prefix --tag one.deja two.deja <<<$'http://h.example/a\nhttp://g.example\nhttp://x.example'
    printf 'one\thttp://h.example/a\ntwo\thttp://g.example\n' | expect_stdout
    echo a | deja build -q other.deja
    fails_with 2 layered deja check --prefix one.deja other.deja <<<http://h.example/a
}

misuse_is_explained() {
    _lists
    echo a | deja build -q bytes.deja
    fails_with 2 "omit -v" deja check -v --tag phish.deja urls
    fails_with 2 "omit --why" deja check -c --why phish.deja urls
    fails_with 2 "not for --paragraphs" deja check --paragraphs --why phish.deja urls
    fails_with 2 "--tag needs a filter file; omit --redis" deja check --tag --redis redis://localhost:1 x urls
    fails_with 2 "phish.deja is a filter file; --redis checks one cache at a time" \
        deja check --redis redis://localhost:1 x phish.deja
    fails_with 2 "bytes.deja holds bytes as given, and mal.deja URLs of profile gsb; check them separately" \
        deja check bytes.deja mal.deja urls
    fails_with 2 "bytes.deja holds bytes as given, not URLs of profile gsb" \
        deja check --url=gsb mal.deja bytes.deja urls
    echo a | deja build -q --url new.deja
    fails_with 2 "golden/hosts/safe.deja" \
        deja check --url new.deja "$SOURCE/tests/format/golden/hosts/safe.deja" urls
    fails_with 2 "missing.deja" deja check --url=gsb missing.deja mal.deja urls
    fails_with 2 "the filter comes first: deja check phish.deja urls" deja check --url=gsb urls phish.deja
    # A filter after the lines is not read as lines.
    fails_with 2 "phish.deja is a filter file" deja check --url=gsb mal.deja urls phish.deja
    local many
    mapfile -t many < <(yes mal.deja | head -n 65)
    fails_with 2 "65 filters, but one command checks at most 64" deja check --url=gsb "${many[@]}" urls
    # The output must not be one of the filters.
    fails_with 2 "mal.deja" deja check --url=gsb -o mal.deja phish.deja mal.deja urls
    succeeds deja verify -q mal.deja
}

cases "$@"
