# Common first attempts work, or get a message that says what to type instead.
. "$SUPPORT/cases.sh"

a_profile_may_follow_url() {
    printf '%s\n' 'http://a/?b=1&a=2' 'http://a/?a=2&b=1' >f
    succeeds deja dedup -q --url crawl f
    expect_lines 1 .stdout
    expect_stderr_empty
    succeeds deja dedup -q f --url crawl
    expect_lines 1 .stdout
    succeeds deja dedup -q --url=crawl f
    expect_lines 1 .stdout
    succeeds deja dedup -q --url f
    expect_lines 2 .stdout
    succeeds deja dedup -q --url safe f
    expect_lines 2 .stdout
    succeeds deja build -q --url crawl g.deja f
    succeeds deja check -q --url crawl g.deja f
    expect_lines 2 .stdout
    # If a file has that name, a message says so.
    echo http://b/ >crawl
    succeeds deja dedup --url crawl f
    expect_lines 1 .stdout
    expect_stderr_has "crawl is the value of --url; to read the file of that name, write ./crawl"
    succeeds deja dedup --url -- crawl
    expect_stdout http://b/
    succeeds deja dedup --url ./crawl
    expect_stdout http://b/
    fails_with 2 "cralw does not exist" deja dedup --url cralw f
    expect_stderr_has "cralw is not a value of --url; did you mean crawl?"
}

old_spellings_work_with_a_note() {
    echo 'http://a/?b=1&a=2' >f
    local option
    for option in --profile=crawl '--profile crawl' --url=crawl '--url crawl'; do
        # shellcheck disable=SC2086 # words
        succeeds deja url $option f
        expect_stdout 'http://a/?a=2&b=1'
        case $option in
        --profile*) expect_stderr_has "--profile is an old spelling; write --url=PROFILE" ;;
        *) ! grep -q spelling .stderr || fail "a note about $option" ;;
        esac
    done
    succeeds deja url -q --profile crawl f
    expect_stderr_empty
    succeeds deja url -q --url f
    expect_stdout 'http://a/?b=1&a=2'
    succeeds deja lab hashes -n 1k --runs 1 --out old
    expect_stderr_has "--out is an old spelling; write --output=DIR"
    [ -e old/index.html ] || fail "no report"
    run deja crawl --out nowhere -c 2
    expect_stderr_has "--out is an old spelling; write --output=DIR"
    expect_stderr_has "-c is an old spelling; write --connections N"
    # Help and completion show the new spellings only.
    for option in url crawl lab; do
        deja $option --help >all
        ! grep -qE -e '--(profile|out) |-c, ' all || fail "help of $option"
    done
    ! deja help --completion bash | grep -q -e --profile || fail "completion"
}

json_and_json_key_are_told_apart() {
    printf '{"link":"a"}\n{"link":"b"}\n{"link":"a"}\n' >f
    local command
    for command in dedup 'build g.deja' url; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "--json takes no value; did you mean --json-key=link?" \
            deja $command --json=link f
    done
    fails_with 2 "link does not exist; did you mean --json-key=link?" deja dedup --json link f
    fails_with 2 "unknown option --json-k; did you mean --json-key?" deja dedup --json-k link f
    fails_with 2 "link does not exist; check its name" deja dedup link --json f
    echo a | deja build -q h.deja
    fails_with 2 "--json takes no value" deja info --json=x h.deja
    ! grep -q json-key .stderr || fail "info has no --json-key"
    succeeds deja dedup -q --json --json-key link f
    expect_lines 2 .stdout
    # A new filter is not a key.
    succeeds deja build --json new.deja f
}

a_url_is_not_a_file() {
    echo a | deja build -q f.deja
    local command
    for command in url dedup 'check f.deja' 'add f.deja'; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "http://a/b is a URL, not a file; pass URLs on standard input: echo URL | deja" \
            deja $command http://a/b
        expect_stdout ''
    done
    fails_with 2 "nowhere does not exist" deja url nowhere
}

a_filter_is_not_text() {
    echo a | deja build -q f.deja
    cp f.deja g.deja
    local command
    for command in url dedup 'check f.deja /dev/null' 'add f.deja' 'build new.deja'; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "g.deja is a filter file of deja" deja $command g.deja
        expect_stdout ''
    done
    [ ! -e new.deja ] || fail "new.deja was made"
}

the_filter_comes_first() {
    echo a >list
    deja build -q -k spectral -n 10 f.deja list
    cp f.deja copy
    local command
    for command in check add remove count; do
        fails_with 2 "list is not a filter file; the filter comes first: deja $command f.deja list" \
            deja $command list f.deja
        expect_stdout ''
    done
    expect_same copy f.deja
    fails_with 2 "list: not a deja filter file" deja check list list
}

version_is_a_command_too() {
    deja --version >version
    succeeds deja version
    expect_same version .stdout
    succeeds deja -V
    expect_same version .stdout
    fails_with 2 "unknown command 'version'" deja version 2
    fails_with 2 "unknown option --license; deja version takes --features or --licenses" \
        deja version --license
}

# Everything that a command contains comes with its license.
version_shows_features_and_licenses() {
    succeeds deja version --licenses
    expect_stdout_has "Copyright (c) 2026 the deja authors"
    expect_stdout_has "Copyright (C) 2012-20" # xxhash
    expect_stdout_has "Redistributions in binary form must reproduce"
    succeeds deja version --features
    local text
    for text in gzip zstd xz bzip2; do
        expect_stdout_has "$text input"
    done
    if ldd "$DEJA" | grep -q libz; then grep -q '^  gzip input  *yes$' .stdout; fi
    if ldd "$DEJA" | grep -q libidn2; then grep -q '(IDNA)  *yes$' .stdout; fi
}

# An address without a scheme names a server: none listens at port 1.
a_server_needs_no_scheme() {
    echo a >list
    deja dedup --redis redis://127.0.0.1:1 --state x list >/dev/null 2>with || true
    if grep -q "without hiredis\|lacks" with; then return 0; fi
    local address
    for address in 127.0.0.1:1 localhost:1; do
        fails_with 2 "" timeout 30 "$DEJA" dedup --redis $address --state x list
        ! grep -q "not the URL" .stderr || fail "$address was not understood"
        expect_stderr_has ":1"
    done
    fails_with 2 "'http://127.0.0.1:1' is not the URL of a server" \
        deja dedup --redis http://127.0.0.1:1 --state x list
    fails_with 2 "is not the URL of a server" deja dedup --redis 127.0.0.1:port --state x list
}

output_over_input_has_one_error_message() {
    echo a >in.txt
    status=0
    # shellcheck disable=SC2094 # on purpose
    deja dedup in.txt >in.txt 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    expect_lines 1 .stderr
    expect_stderr_has "in.txt is also the output; write to another file"
    echo a >in.txt
    status=0
    # shellcheck disable=SC2094
    deja url - <in.txt >>in.txt 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    expect_lines 1 .stderr
    echo a | cmp - in.txt || fail "in.txt was changed"
}

# Nothing says "1 lookups".
one_item_is_singular() {
    echo http://a/ >one
    deja gen -n 1 --repeats 0.5 >/dev/null 2>>all || true
    deja build --url=gsb -k spectral -n 1 f.deja one 2>>all
    deja check --verbose --url=gsb f.deja one >/dev/null 2>>all
    grep -q '; 1 lookup,' all || fail "$(cat all)"
    deja count --verbose --url=gsb f.deja one >/dev/null 2>>all
    grep -q 'added 1 time;' all || fail "$(cat all)"
    deja remove --url=gsb f.deja one 2>>all
    deja info f.deja >>all
    local kind
    for kind in blocked exact scalable paired window layered static; do
        deja build -k $kind -n 1 $kind.deja one 2>>all
        deja info $kind.deja >>all 2>&1
        deja plan -k $kind -n 1 >>all 2>&1 || true
    done
    # shellcheck disable=SC2129 # one by one
    deja merge -o union.deja blocked.deja 2>>all
    deja dedup -k blocked --state blocked.deja -n 2 one >/dev/null 2>>all
    deja rotate blocked.deja 2>>all
    deja info blocked.deja >>all
    ! grep -E '(^|[^0-9.,])1 (lookups|times|keys|lines|filters|pages|URLs|repeats|distinct URLs|more keys|shards|units)\b' all ||
        fail "a plural of one"
}

cases "$@"
