# The benchmarks against other filters run, and their answers are right.
. "$SUPPORT/golang.sh"
needs_go 24
needs_modules "$SOURCE/go/benchcompare"
cd "$SOURCE/go/benchcompare"
go vet ./...
N=20000 go test -run '^$' -bench . -benchtime 1x .
