# Texts: paragraphs as records, repeated paragraphs of JSON documents, n-grams.  The answers are
# compared with a model in Python that uses exact sets.
. "$SUPPORT/cases.sh"

# _model MODE N T <list: what dedup prints, with sets instead of a filter.
_model() {
    cat >model.py <<'END'
import json, math, sys
mode, n, share = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
space = ' \t\n\r\v\f'
seen = set()
def words(text):
    for c in space:
        text = text.replace(c, ' ')
    return [w for w in text.split(' ') if w]
def is_new(text):
    if n == 0:
        keys = [text]
    else:
        w = words(text)
        keys = [tuple(w[i:i + n]) for i in range(max(1, len(w) - n + 1))]
    found = sum(k in seen for k in keys)
    if found >= max(1, math.ceil(share * len(keys) - 1e-9)) if n else found:
        return False
    seen.update(keys)
    return True
if mode == 'lines':
    for line in sys.stdin.read().splitlines():
        if is_new(line):
            print(line)
    sys.exit()
for line in sys.stdin:
    doc = json.loads(line)
    pieces = doc['text'].split('\n')
    parts = [i for i, p in enumerate(pieces) if p.strip(space)]
    kept = [i for i in parts if is_new(pieces[i].strip(space))]
    if parts and not kept:
        continue
    if len(kept) < len(parts):
        text = '\n'.join(pieces[:parts[0]] + [''] if parts[0] else [''])
        for i, at in enumerate(kept):
            text += pieces[at]
            after = parts[parts.index(at) + 1] if parts.index(at) + 1 < len(parts) else None
            if i + 1 < len(kept):
                text += '\n' + ''.join(p + '\n' for p in pieces[at + 1:after])
        text += ''.join('\n' + p for p in pieces[parts[-1] + 1:])
        doc['text'] = text
    print(json.dumps(doc))
END
    python3 model.py "$@"
}

# _random SEED: documents with few distinct words, every kind of escape, blank lines and spaces.
_random() {
    python3 -c '
import json, random, sys
r = random.Random(int(sys.argv[1]))
words = ["a", "b", "c", "d", "\u00e9", "\U0001f600", "\"q\"", "\\n", "back\\slash", "\ud83d", "x\ty"]
def paragraph():
    return r.choice(["", " ", "  "]) + r.choice([" ", "  "]).join(
        r.choice(words) for _ in range(r.randrange(6))) + r.choice(["", "\t", "\r"])
for i in range(400):
    text = r.choice(["\n", "\n\n"]).join(paragraph() for _ in range(r.randrange(8)))
    print(json.dumps({"id": i, "text": text, "url": "x\n"}))
' "$1"
}

paragraphs_without_repeats_are_printed_unchanged() {
    printf 'a\nb\n\nc\n' >one
    printf 'a\nb\n\nc\n\n' >ended
    printf '\n\n a\n\n\n\t\nb\nc' >odd
    succeeds deja dedup --paragraphs one
    expect_same one .stdout
    succeeds deja dedup --paragraphs ended
    expect_same ended .stdout
    succeeds deja dedup --paragraphs odd
    printf '\n\n a\n\n\n\t\nb\nc\n' | cmp - .stdout || fail "blank lines changed"
}

repeated_paragraphs_are_removed_in_every_file_and_line_ending() {
    printf 'a\r\nb\r\n\r\nc\r\n' >windows
    printf 'c\n \t\na\nb\n\nd\n\nc\n' >unix
    succeeds deja dedup --paragraphs windows unix
    printf 'a\r\nb\r\n\r\nc\r\n\r\nd\n\n' | cmp - .stdout || fail "wrong paragraphs"
    expect_stderr_has "3 of 6 paragraphs removed"
    succeeds deja dedup --paragraphs -D windows unix
    printf 'c\n \t\na\nb\n\nc\n' | cmp - .stdout || fail "wrong repeats"
    succeeds deja dedup --paragraphs -c windows unix
    expect_stdout 3
    gzip -c unix >unix.gz
    succeeds deja dedup --paragraphs windows unix.gz -j 1
    printf 'a\r\nb\r\n\r\nc\r\n\r\nd\n\n' | cmp - .stdout || fail "wrong paragraphs"
}

other_commands_read_paragraphs() {
    printf 'a\nb\n\nc\n\nc\n' >list
    succeeds deja build --paragraphs -k spectral -n 100 list.deja list
    printf 'x\n\na\nb\n\nc' >other
    succeeds deja check --paragraphs list.deja other
    printf 'a\nb\n\nc\n' | cmp - .stdout || fail "wrong paragraphs"
    succeeds deja count --paragraphs list.deja other
    printf '0\tx\n\n1\ta\nb\n\n2\tc\n' | cmp - .stdout || fail "wrong counts"
}

documents_lose_repeated_paragraphs() {
    cat >docs <<'END'
{"id":1,"text":"Home\nThe fox\n\nShare","x":"\u00e9"}
{"id": 2, "text":"Home\nA text\u000a Share \n","x":1}
{"id":3,"text":"Home\nShare"}
{"id":4}
{"id":5,"text":" caf\u00e9\t\n\n"}
{"id":6,"text":"new\n\ncafé\n\nHome\n\nlast \ud83d"}
END
    succeeds deja dedup --jsonl-text text docs
    cp .stdout kept
    cat >expected <<'END'
{"id":1,"text":"Home\nThe fox\n\nShare","x":"\u00e9"}
{"id": 2, "text":"A text\n","x":1}
{"id":4}
{"id":5,"text":" caf\u00e9\t\n\n"}
{"id":6,"text":"new\n\nlast \ud83d"}
END
    expect_same expected kept
    expect_stderr_has "5 documents, 6 of 13 paragraphs removed"
    expect_stderr_has '1 line without a string "text", passed through'
    succeeds deja dedup --jsonl-text text -D docs
    expect_stdout <<'END'
{"id": 2, "text":"Home\n Share \n","x":1}
{"id":3,"text":"Home\nShare"}
{"id":6,"text":"café\n\nHome"}
END
    succeeds deja dedup --jsonl-text text --json docs
    expect_stderr_has '"documents_dropped": 1'
    fails_with 2 'line 4 lacks a string "text"' deja dedup --strict --jsonl-text text docs
    succeeds deja dedup -q --state s.deja --jsonl-text text docs
    expect_same expected .stdout
    succeeds deja dedup -q --state s.deja --jsonl-text text docs
    expect_stdout '{"id":4}'
}

random_documents_match_an_exact_model() {
    local seed way
    for seed in 1 2; do
        _random $seed >docs
        for way in '0 1' '1 0.5' '2 0.8' '3 1' '2 0.3'; do
            # shellcheck disable=SC2086 # words
            set -- $way
            local options=()
            if [ "$1" -gt 0 ]; then options=(--ngrams "$1" --threshold "$2"); fi
            _model json "$1" "$2" <docs >expected
            rm -f s.deja
            succeeds deja dedup -q -p 1e-12 --jsonl-text text "${options[@]}" docs
            python3 -c 'import json, sys
for line in sys.stdin: print(json.dumps(json.loads(line)))' <.stdout >got
            expect_same expected got
            cp .stdout plain
            succeeds deja dedup -q -p 1e-12 --state s.deja --jsonl-text text "${options[@]}" docs
            expect_same plain .stdout
        done
    done
}

lines_are_compared_by_ngrams() {
    python3 -c '
import random
r = random.Random(5)
for i in range(3000): print(" ".join(r.choice("abcdef") for _ in range(r.randrange(1, 12))))
' >list
    local n
    for n in 1 3 8; do
        _model lines $n 0.8 <list >expected
        succeeds deja dedup -q -p 1e-12 --ngrams $n list
        expect_same expected .stdout
        rm -f s.deja
        succeeds deja dedup -q -p 1e-12 --ngrams $n --state s.deja list
        expect_same expected .stdout
    done
}

misuse_is_refused_with_a_reason() {
    echo a >list
    local other
    for other in '-f 1' '--csv a' '--format log' '--json-key a' '-z' '--url'; do
        # shellcheck disable=SC2086 # words
        {
            fails_with 2 "--paragraphs and" deja dedup --paragraphs $other list
            fails_with 2 "--jsonl-text and" deja dedup --jsonl-text text $other list
        }
    done
    fails_with 2 "--threshold needs --ngrams" deja dedup --threshold 0.5 list
    fails_with 2 "at most 1" deja dedup --ngrams 3 --threshold 1.5 list
    fails_with 2 "--ngrams" deja dedup --ngrams 101 list
    fails_with 2 "a URL has no words" deja dedup --ngrams 3 --url list
    fails_with 2 "--redis cannot be combined" deja dedup --ngrams 3 --redis localhost --state s list
    fails_with 2 'no line has' deja dedup --jsonl-text text list
}

cases "$@"
