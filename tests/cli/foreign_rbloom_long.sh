# The Python package rbloom reads deja's files, and deja reads its files: the same answers for
# 100,000 URLs that were added and 100,000 that were not, and the same bytes.
. "$SUPPORT/cases.sh"

python3 -m venv "$PWD/venv" >venv.log 2>&1 || skip "python3 -m venv does not work here (Debian: python3-venv)"
"$PWD/venv/bin/pip" -q install rbloom >pip.log 2>&1 || skip "the registry of Python packages has no rbloom here"
cat >"$PWD/referee.py" <<'END'
"""make FORMAT N P KEYS OUT; check FORMAT FILE KEYS"""
import pickle
import sys
from hashlib import sha256

from rbloom import Bloom


def of_str(key):
    return int.from_bytes(sha256(pickle.dumps(key.decode(), 4)).digest()[:16], "big", signed=True)


def of_bytes(key):
    return int.from_bytes(sha256(key).digest()[:16], "big", signed=True)


def lines(name):
    with open(name, "rb") as f:
        return f.read().split(b"\n")[:-1]


function = of_str if sys.argv[2] == "rbloom" else of_bytes
if sys.argv[1] == "make":
    bloom = Bloom(int(sys.argv[3]), float(sys.argv[4]), function)
    bloom.update(lines(sys.argv[5]))
    bloom.save(sys.argv[6])
else:
    bloom = Bloom.load(sys.argv[3], function)
    sys.stdout.buffer.writelines(key + b"\n" for key in lines(sys.argv[4]) if key in bloom)
END
_rbloom() { "$root/venv/bin/python" "$root/referee.py" "$@"; }
root=$PWD

_lists() {
    deja gen -q -n 100000 >present
    deja gen -q -n 100000 --first 100000 >absent
    printf '%b' 'a\n\n  b \nb\xc3\xa9z\xf0\x9f\x98\x80\n' >>present
    python3 -c 'for n in (254, 255, 256, 65535, 65536, 70000): print("x" * n)' >>present
}

both_programs_find_the_same() {
    local format
    _lists
    for format in rbloom rbloom-sha256; do
        _rbloom make $format 100000 0.01 present theirs
        deja check -q --format $format theirs present >got
        expect_same got present
        _rbloom check $format theirs absent >expected
        [ "$(wc -l <expected)" -gt 500 ] || fail "too few false positives to compare"
        deja check -q --format $format theirs absent >got
        expect_same got expected
        deja build -q --force --format $format -n 100000 -p 0.01 ours present 2>warned
        expect_same ours theirs
        rm ours
    done
}

sizes_are_the_same() {
    local n p
    deja gen -q -n 200 >list
    for n in 3 10 1000 99991; do
        for p in 0.49 0.03 0.001 1e-9; do
            _rbloom make rbloom $n $p list theirs
            rm -f ours
            deja build -q --format rbloom -n $n -p $p ours list 2>warned
            expect_same ours theirs
        done
    done
}

cases "$@"
