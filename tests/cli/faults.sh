# Every command with its n-th call of malloc, write, open, rename .. failing; see faults.py.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/faults.py" "$@"
