# Like faults.sh, but every single call fails once.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/faults.py" --all "$@"
