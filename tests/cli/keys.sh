# --key FILE: the secret key is not stored in the filter file, and no other key opens the file.
. "$SUPPORT/cases.sh"

_keys() {
    umask 077
    printf 'The first secret key, 32 bytes..' >one.key
    printf 'Another secret key, as long.....' >two.key
    chmod 600 one.key two.key
    some_urls 5000 2000 >list
    once <list >expected
}

the_key_determines_the_false_positives() {
    _keys
    deja dedup -q -p 0.2 -n 2000 --key one.key list >first
    deja dedup -q -p 0.2 -n 2000 --key one.key list >again
    deja dedup -q -p 0.2 -n 2000 --key two.key list >other
    expect_same first again
    ! cmp -s first other || fail "another key changed nothing"
}

a_key_can_be_hexadecimal() {
    _keys
    od -An -v -tx1 one.key | tr -d ' \n' >hex.key
    chmod 600 hex.key
    deja dedup -q -p 0.2 -n 2000 --key one.key list >first
    deja dedup -q -p 0.2 -n 2000 --key hex.key list >again
    expect_same first again
    echo >>hex.key
    deja dedup -q -p 0.2 -n 2000 --key hex.key list >again
    expect_same first again
}

the_key_is_not_in_the_file() {
    _keys
    local kind
    for kind in classic blocked exact scalable spectral; do
        deja build --force -q -k $kind -n 2000 --key one.key f.deja list
        ! grep -qaF "$(cat one.key)" f.deja || fail "$kind: the key is in the file"
        rm -f seen.deja
        deja dedup -q -k $kind -n 2000 --key one.key --state seen.deja list >/dev/null
        ! grep -qaF "$(cat one.key)" seen.deja || fail "$kind: the key is in the state"
    done
}

a_state_can_have_a_separate_key() {
    _keys
    succeeds deja dedup -q --key one.key --state seen.deja list
    expect_same expected .stdout
    succeeds deja dedup -q --key one.key --state seen.deja list
    expect_stdout ''
    cp seen.deja good.deja
    fails_with 2 "seen.deja does not contain its secret key: give the key (--key)" \
        deja dedup --state seen.deja list
    expect_stdout ''
    fails_with 2 "seen.deja was made with another secret key" \
        deja dedup --key two.key --state seen.deja list
    expect_stdout ''
    cmp good.deja seen.deja || fail "the state was changed by a refusal"
    # Growth, too.
    rm seen.deja
    succeeds deja dedup -q --key one.key --state seen.deja -k scalable -n 100 -p 1e-12 list
    expect_same expected .stdout
    succeeds deja dedup -q --key one.key --state seen.deja list
    expect_stdout ''
    ! grep -qaF "$(cat one.key)" seen.deja || fail "the key is in the state"
}

a_state_with_its_own_key_refuses_another() {
    _keys
    succeeds deja dedup -q --state seen.deja list
    fails_with 2 "seen.deja was made with another secret key" \
        deja dedup --key one.key --state seen.deja list
    succeeds deja dedup -q --state seen.deja list
    expect_stdout ''
}

add_and_check_accept_a_separate_key() {
    _keys
    succeeds deja build -q -n 5000 --key one.key f.deja list
    succeeds deja check -q --key one.key f.deja list
    expect_same list .stdout
    echo new >new
    succeeds deja add -q --key one.key f.deja new
    succeeds deja check -q --key one.key f.deja new
    local verb
    for verb in add check; do
        fails_with 2 "does not contain its secret key" deja $verb f.deja list
        fails_with 2 "another secret key" deja $verb --key two.key f.deja list
        expect_stdout ''
    done
    succeeds deja verify -q f.deja
}

invalid_key_files_are_refused() {
    _keys
    : >empty.key
    printf short >short.key
    head -c 33 list >odd.key
    fails_with 2 "empty.key" deja dedup --key empty.key list
    fails_with 2 "short.key" deja dedup --key short.key list
    fails_with 2 "odd.key" deja dedup --key odd.key list
    fails_with 2 "list" deja dedup --key list list
    fails_with 2 "nowhere.key" deja dedup --key nowhere.key list
    fails_with 2 "folder" deja dedup --key ./folder list
    expect_stdout ''
    printf 'zz%062d' 0 >digits.key
    fails_with 2 "digits.key" deja build --key digits.key f.deja list
    [ ! -e f.deja ] || fail "a filter was made"
}

cases "$@"
