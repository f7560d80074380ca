# package_long - npm pack gives a package that installs offline into an empty folder and runs there.
# The addon of this build takes the place of the prebuilt ones, which node/scripts/prebuild makes.
command -v npm >/dev/null || { echo "skipped: npm is not here (Debian: npm)"; exit 77; }
export npm_config_cache=$PWD/cache npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

mkdir pack
cp -r "$SOURCE"/node/{package.json,README.md,index.js,index.d.ts,crawlee.js,crawlee.d.ts,lib} "$SOURCE/LICENSE" pack
name=linux-$(node -p process.arch)-glibc
mkdir -p "pack/prebuilds/$name"
cp "$DEJA_ADDON" "pack/prebuilds/$name/deja.node"
unset DEJA_ADDON
(cd pack && npm pack --silent --pack-destination ..) >packed
tarball=$(cat packed)
tar -tzf "$tarball" | sort >files
for file in package.json README.md LICENSE index.js index.d.ts crawlee.js crawlee.d.ts lib/filter.js; do
    grep -qx "package/$file" files || { echo "$tarball lacks $file"; exit 1; }
done
if grep -E 'scripts|bench|/src/|test' files; then
    echo "$tarball has files that nobody needs to install"
    exit 1
fi

mkdir empty
cd empty
npm init -y >/dev/null
npm install --offline --ignore-scripts "../$tarball" >/dev/null
cat >use.mjs <<'END'
import { Filter, dedup, version } from 'deja';
import { SeenRequests } from 'deja/crawlee';
const f = new Filter({ capacity: 1000 });
if (!f.add('a') || f.add('a') || typeof dedup !== 'function' || typeof SeenRequests !== 'function') process.exit(1);
console.log(version);
END
test "$(node use.mjs)" = "$(node -p 'require("deja/package.json").version')"
test "$(node -p 'require("deja").canonicalize("HTTP://A.example:80/b/../c")')" = http://a.example/c

# Another machine gets a message that names what there is.
mv node_modules/deja/prebuilds/* node_modules/deja/prebuilds/sunos-sparc
if node -e 'require("deja")' 2>message; then exit 1; fi
grep -q "no prebuilt addon for $name (it has: sunos-sparc)" message
grep -q DEJA_ADDON message
