# Storage for Colly, with its newest version and the race detector.
. "$SUPPORT/golang.sh"
needs_go 24
needs_modules "$SOURCE/go/dejacolly"
cd "$SOURCE/go/dejacolly"
go vet ./...
go test -count=1 -race -v ./... | grep -E '^ *(---|ok|FAIL|[a-z_]+\.go)'

# The program of docs/go.md.
page_programs "$HOME/page"
grep -q dejacolly "$HOME/page/3/main.go"

# The newest Colly may be newer than the one in go.mod.
cp -r "$SOURCE/go" "$HOME/tree"
mkdir -p "$HOME/tests/format"
cd "$HOME/tree/dejacolly"
go get github.com/gocolly/colly/v2@latest
go list -m github.com/gocolly/colly/v2
go test -count=1 ./...
cp -r "$HOME/page/3" page
go vet ./page
