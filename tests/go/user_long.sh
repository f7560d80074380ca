# A program of a user builds against installed files and against a build folder, as go/README.md says;
# release and rename do what they promise.
. "$SUPPORT/golang.sh"
. "$SOURCE/tests/install/installed.sh"
module=$(sed -n 's/^module //p' "$SOURCE/go/go.mod")
mkdir user
cd user
go mod init example.com/user 2>/dev/null
sed -n 's/^    \(go mod edit .*\)/\1/p' "$SOURCE/go/README.md" | sed "s|/path/to/deja|$SOURCE|" >edit
[ -s edit ]
bash -eu edit
{
    printf 'package main\n\nimport (\n\t"fmt"\n\t"log"\n\tdeja "%s"\n)\n\nfunc main() {\n' "$module"
    sed -n '/^    seen, err :=/,/^    if isNew/p' "$SOURCE/go/README.md"
    echo '}'
} >main.go
cat main.go
try() { # NAME: builds the program and runs it twice
    go build -o "$1"
    rm -f seen.deja
    [ "$("./$1")" = 'fetch it' ]
    [ -z "$("./$1")" ]
}
# A cache of its own: Go does not notice that pkg-config answers differently.
LD_LIBRARY_PATH=$libdir GOCACHE=$HOME/cache PKG_CONFIG_PATH=$libdir/pkgconfig try installed
try folder
PKG_CONFIG=true CGO_CFLAGS="-I$SOURCE/include" CGO_LDFLAGS="-L$BUILD -ldeja -Wl,-rpath,$BUILD" try flags

# The programs of docs/go.md.
page_programs page
rm seen.deja
echo 'http://example.com/' | go run ./page/1 >new
[ "$(cat new)" = 'http://example.com/' ]
[ -z "$(echo 'http://example.com/' | go run ./page/1)" ]
CGO_ENABLED=0 go build -o reader ./page/2
"$DEJA" build -q blocklist.deja <<<'https://example.com/'
[ "$(./reader)" = 'true 1' ]
cd ..

if [ ! -e "$SOURCE/.git" ]; then
    echo "release and rename not tested: no git repository"
    exit 0
fi
git clone -q "$SOURCE" clone
cd clone
export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@localhost GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@localhost
if go/release 9.9.9 2>message; then exit 1; fi
grep -q "deja.h has version $version, not 9.9.9" message
go/release --no-tests "$version"
[ "$(git tag --points-at HEAD | paste -sd ' ')" = "go/dejacolly/v$version go/v$version" ]
grep -q "$module v$version" go/dejacolly/go.mod
if go/release --no-tests "$version" 2>message; then exit 1; fi
grep -q 'exists' message
if go/rename 'not a path' 2>message; then exit 1; fi
go/rename code.example.com/someone/deja/go
if git grep -qF "$module"; then
    git grep -F "$module"
    exit 1
fi
cd go
go vet ./...
