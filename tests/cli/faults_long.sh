# Like faults.sh, with every single call.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/faults.py" --all "$@"
