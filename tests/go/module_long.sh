# The Go module: formatting, vet, tests with the race detector, and without cgo.
. "$SUPPORT/golang.sh"
cd "$SOURCE/go"
unformatted=$(gofmt -l .)
[ -z "$unformatted" ] || { echo "gofmt would change $unformatted"; exit 1; }
go vet ./...
go test -count=1 ./...
go test -count=1 -race -run 'Concurrent|Closing|Batches|Files|URLs|Finalizer' .
go test -count=1 -race -run Golden ./purefile
CGO_ENABLED=0 go test -count=1 ./purefile
for system in windows/amd64 darwin/arm64 linux/386 linux/s390x; do
    CGO_ENABLED=0 GOOS=${system%/*} GOARCH=${system#*/} go vet ./purefile
done
# Without cgo, the compiler's message says what to do.
if CGO_ENABLED=0 go build . 2>"$HOME/message"; then exit 1; fi
grep -q 'set_CGO_ENABLED_to_1_or_use_package_purefile' "$HOME/message" || { cat "$HOME/message"; exit 1; }
