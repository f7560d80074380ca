# Lines of many megabytes are handled like any others.  They go through pipes, not files on disk.
. "$SUPPORT/cases.sh"

_memory_kb() { awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo; }
[ "$(_memory_kb)" -gt 3000000 ] || skip "less than 3 GB of memory are free"

length=20000000

# The lines a, b, a, short, b without a newline: a and b differ in the last of $length bytes.
_lines() {
    python3 -c '
import sys
out = sys.stdout.buffer
body = b"x" * (int(sys.argv[1]) - 1)
for piece in (body, b"a\n", body, b"b\n", body, b"a\r\n", b"short\n", body, b"b"):
    out.write(piece)' $length
}

# _expect LINE...: standard input is these lines; a dash stands for the long body.
_expect() {
    python3 -c '
import sys
body = b"x" * (int(sys.argv[1]) - 1)
want = b"".join(line.encode().replace(b"-", body) + b"\n" for line in sys.argv[2:])
data = sys.stdin.buffer.read()
if data != want:
    sys.exit("wrong output: %d bytes instead of %d" % (len(data), len(want)))' $length "$@"
}

lines_of_a_hundred_megabytes_work() {
    length=100000000
    _lines | deja dedup -q | _expect -a -b short
}

long_lines_work_in_one_thread() {
    _lines | deja dedup -q -j 1 | _expect -a -b short
}

repeats_of_long_lines_are_found() {
    _lines | deja dedup -q -D | _expect $'-a\r' -b
}

a_long_field_can_be_the_key() {
    printf 'k\tv\n' >small
    _lines | deja dedup -q -f 1 small - | _expect $'k\tv' -a -b short
}

long_lines_work_with_a_state() {
    _lines | deja dedup -q --state seen.deja | _expect -a -b short
    _lines | deja dedup -q --state seen.deja | _expect
}

cases "$@"
