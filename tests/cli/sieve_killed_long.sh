# Like sieve_killed.sh, at more moments.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/killed_sieve.py" 1000
