# Untrusted text never controls the terminal: file names, option values, replies from servers,
# crawl settings.  Data on standard output stays unchanged, byte for byte.
. "$SUPPORT/cases.sh"

# Escape sequences, C1 as a character and as a byte, a change of direction, a bell, a fake line.
evil=$'\e[2J\e]0;t\a\xc2\x9b31m\x9b31m\xe2\x80\xae\rdeja: fine\nz'

# Of the characters that terminals obey, only line ends may be left.
_harmless() { # FILE... of the last command
    if LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$@" ||
        ! iconv -f UTF-8 -t UTF-8 "$@" >/dev/null; then
        od -c "$@" | head -n 20 >&2
        fail "a terminal would obey this"
    fi
    if grep -q '^deja: fine' "$@"; then fail "a line that deja did not write"; fi
}

file_names_are_escaped() {
    exits_with 2 deja dedup "$evil"
    _harmless .stderr
    expect_stderr_has '\x1b[2J\x1b]0;t\x07\u009b31m\x9b31m\u202e\x0ddeja: fine\x0az'
    deja gen -q -n 10 | deja build -q -n 100 "f$evil"
    for command in info verify fold rotate; do
        run deja "$command" "f$evil"
        _harmless .stdout .stderr
    done
    run deja info --json "f$evil"
    _harmless .stdout .stderr
    python3 -c 'import json, os, sys
files = {f.encode("utf-8", "surrogateescape").decode(errors="replace") for f in os.listdir(".")}
assert json.load(open(".stdout"))[0]["file"] in files' || fail "the name in JSON"
    printf 'x' >"g$evil"
    for command in info verify check merge; do
        run deja "$command" "g$evil" "g$evil" </dev/null
        _harmless .stdout .stderr
    done
    printf 'a,%s\n1,2\n' "${evil%$'\n'*}" >columns.csv
    exits_with 2 deja dedup --csv link columns.csv
    _harmless .stderr
    printf 'http://a/\n%s\n' "${evil%$'\n'*}" | exits_with 2 deja url --strict
    _harmless .stderr
}

# Every option of every command that takes a value, and every command as an operand.
option_values_are_escaped() {
    deja gen -q -n 10 | deja build -q -n 100 f.deja
    n=0
    operand=
    for command in dedup build check add remove count info verify merge fold rotate plan url gen crawl; do
        case $command in
        dedup | url | plan | gen) operand= ;; # these would print what is in a file
        crawl) operand=http://127.0.0.1:9/ ;;
        *) operand=f.deja ;;
        esac
        for option in $(deja "$command" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+[ =[][A-Z]' |
            grep -oE -- '--[a-z-]+'); do
            run deja "$command" "$option=$evil" ${operand:+"$operand"} </dev/null
            _harmless .stdout .stderr
            n=$((n + 1))
        done
        exits_with 2 deja "$command" "--$evil" "-$evil"
        _harmless .stderr
    done
    [ "$n" -gt 150 ] || fail "only $n options"
    fails_with 2 'unknown command' deja "$evil"
    _harmless .stderr
    fails_with 2 'unknown option' deja "--$evil"
    _harmless .stderr
}

answers_of_servers_are_escaped() {
    python3 -u - >port <<'END' &
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1])
while True:
    c, _ = s.accept()
    while c.recv(65536):
        c.sendall(b"-ERR \x1b[2J\x1b]0;t\x07\xc2\x9b\x9b\xe2\x80\xae\r\n")
    c.close()
END
    server=$!
    while [ ! -s port ]; do sleep 0.05; done
    exits_with 2 deja dedup --redis "redis://127.0.0.1:$(cat port)" --state seen -n 100 </dev/null
    kill "$server"
    if ! grep -q 'no Redis client' .stderr; then expect_stderr_has '\x1b[2J'; fi
    _harmless .stderr
}

settings_of_a_crawl_are_escaped() {
    run deja crawl http://127.0.0.1:9/ --output crawl --retries 0 --exclude "$evil" --contact "$evil"
    if grep -q 'has no crawler' .stderr; then return; fi
    run deja crawl --output crawl
    expect_stderr_has 'as before: --exclude \x1b[2J'
    _harmless .stderr
    for option in --match --exclude; do
        run deja crawl http://127.0.0.1:9/ --output other --scope regex --match "($evil" "$option" "($evil"
        _harmless .stderr
    done
    run deja crawl "$evil" "http://$evil/" --output other
    _harmless .stderr
}

data_is_printed_unchanged() {
    printf '%s\n' "$evil" | LC_ALL=C sort >list
    succeeds deja dedup -q list
    cmp -s .stdout list || fail "dedup changed a line"
    deja build -q -n 100 f.deja list
    succeeds deja check -q f.deja list
    cmp -s .stdout list || fail "check changed a line"
}

cases "$@"
