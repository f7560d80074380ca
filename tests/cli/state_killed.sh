# Output before state: whenever dedup --state is killed, no line is lost (killed.py has the rules).
. "$SUPPORT/cli.sh"
python3 "$SUPPORT/killed.py" 60
