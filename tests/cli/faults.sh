# Runs every command while its n-th call to malloc, write, open, rename etc. fails; see faults.py.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/faults.py" "$@"
