# docs/pictures/late.svg is what its script draws.
. "$SUPPORT/cli.sh"

python3 "$SOURCE/docs/pictures/late.py" "$DEJA" >drawn.svg
cmp "$SOURCE/docs/pictures/late.svg" drawn.svg ||
    fail "run docs/pictures/late.py and commit what it draws"
