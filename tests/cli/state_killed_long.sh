# Like state_killed.sh, at more moments.
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/killed.py" 400
