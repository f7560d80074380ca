# A minute of fuzzing the pure-Go reader, from the golden files.
. "$SUPPORT/golang.sh"
cd "$SOURCE/go/purefile"
CGO_ENABLED=0 go test -run '^$' -fuzz FuzzParse -fuzztime 60s .
