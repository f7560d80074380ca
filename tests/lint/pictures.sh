# The pictures in the pages are the ones that docs/pictures/draw.py draws.
mkdir drawn
python3 "$SOURCE/docs/pictures/draw.py" drawn
for picture in drawn/*.svg; do
    cmp "$picture" "$SOURCE/docs/pictures/${picture##*/}" || {
        echo "run docs/pictures/draw.py and commit the result" >&2
        exit 1
    }
done
