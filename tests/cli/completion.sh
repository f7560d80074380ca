# deja help --completion: the shells themselves run the completion scripts.
. "$SUPPORT/cases.sh"

bash_offers_matching_words() {
    succeeds deja help --completion bash
    cp .stdout completion
    cat >try <<'END'
. ./completion
for line in "deja ded" "deja dedup --sta" "deja build --kind b" "deja build -k st" "deja help rot" \
    "deja lab spec" "deja lab al" "deja dedup --format js" "deja check --format dc" \
    "deja dedup --hash sip" "deja check --url gs" "deja url --url sh"; do
    read -ra COMP_WORDS <<<"$line"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _deja
    echo "${COMPREPLY[*]}"
done
END
    succeeds bash try
    printf '%s\n' dedup --state blocked static rotate spectral all jsonl dcso siphash gsb shape |
        expect_stdout
}

fish_offers_matching_words() {
    if ! command -v fish >/dev/null; then
        echo "fish is not installed: its completion was not tried"
        return
    fi
    succeeds deja help --completion fish
    cp .stdout completion.fish
    export HOME=$PWD
    cat >try <<'END'
source completion.fish
for line in "deja ded" "deja dedup --sta" "deja build --kind b" "deja help rot" "deja add --url=" \
        "deja lab spec" "deja dedup --format js" "deja dedup --hash sip" "deja check --url gs"
    complete -C $line | string replace -r '\t.*' ''; or true
end
END
    succeeds fish try
    printf '%s\n' dedup --state blocked rotate --url=crawl --url=gsb --url=safe --url=scrapy --url=shape \
        spectral jsonl siphash gsb | expect_stdout
}

# The line is typed into a terminal, with tabs; then echo is put in front of it.
zsh_completes_a_line() {
    if ! command -v zsh >/dev/null; then
        echo "zsh is not installed: its completion was not tried"
        return
    fi
    succeeds deja help --completion zsh
    cp .stdout _deja
    succeeds zsh -n _deja
    python3 -c 'import pty; pty.openpty()' 2>/dev/null || return 0 # the next step needs a terminal
    cat >try <<'END'
zmodload zsh/zpty
zpty -b shell "zsh -f -i"
zpty -w shell "PS1= PS2=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; print is ready"
zpty -r -m shell text '*is ready'$'\r''*'
zpty -w -n shell $'deja ded\t --sta\tx --kind=sca\t --url gs\t--hash sip\t\x01print \x05\n'
zpty -r -m shell text '*'$'\n''deja dedup --state=x --kind=scalable --url gsb --hash siphash'$'\r''*' && print completed
zpty -w -n shell $'deja lab spec\t--quick\x01print \x05\n'
zpty -r -m shell text '*'$'\n''deja lab spectral --quick'$'\r''*' && print completed
zpty -d shell
END
    succeeds timeout 600 zsh -f try
    printf '%s\n' completed completed | expect_stdout
}

the_error_lists_the_supported_shells() {
    exits_with 2 deja help --completion tcsh
    expect_stderr_has "bash, zsh or fish"
}

cases "$@"
