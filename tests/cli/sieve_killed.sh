# Output before state: wherever dedup --sieve is killed, no line is lost (killed_sieve.py has the rules).
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/killed_sieve.py" 40
