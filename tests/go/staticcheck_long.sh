# staticcheck finds nothing in the Go modules.
. "$SUPPORT/golang.sh"
needs_go 24
GOBIN=$HOME/bin go install honnef.co/go/tools/cmd/staticcheck@latest 2>install.log ||
    skip "staticcheck cannot be installed: $(tail -n 1 install.log)"
for module in . dejacolly benchcompare; do
    needs_modules "$SOURCE/go/$module"
    (cd "$SOURCE/go/$module" && "$HOME/bin/staticcheck" ./...)
done
