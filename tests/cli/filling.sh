# docs/pictures/filling.svg is what its script draws.
. "$SUPPORT/cli.sh"

python3 "$SOURCE/docs/pictures/filling.py" "$DEJA" >drawn.svg
cmp "$SOURCE/docs/pictures/filling.svg" drawn.svg ||
    fail "run docs/pictures/filling.py and commit what it draws"
