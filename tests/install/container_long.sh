# The image of the command, from containers/deja.Containerfile: one layer with one file, and it runs.
# The recipe of the server is not built, because its base images cannot be had here.
command -v buildah >/dev/null || { echo "skipped: no buildah"; exit 77; }
command -v musl-gcc >/dev/null || { echo "skipped: no musl-gcc (Debian: musl-tools)"; exit 77; }
. "$SOURCE/tests/install/copied.sh"

in_scratch() { buildah --root "$PWD/storage" --runroot "$PWD/run" --storage-driver vfs "$@"; }
in_scratch images >/dev/null 2>reason || { echo "skipped: buildah: $(tail -n 1 reason)"; exit 77; }

copy_sources one
(cd one && cmake --preset static && cmake --build --preset static) >build.log 2>&1 || { tail -n 30 build.log >&2; exit 1; }
in_scratch bud --isolation chroot -f one/containers/deja.Containerfile -t deja one

# One layer, with the command and the working directory.
in_scratch push deja "oci:$PWD/image:latest"
python3 - <<'END'
import json, tarfile, pathlib
blobs = pathlib.Path("image/blobs")
def blob(d):
    return blobs / d.replace(":", "/")
index = json.loads(pathlib.Path("image/index.json").read_text())
manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text())
config = json.loads(blob(manifest["config"]["digest"]).read_text())["config"]
names = sorted(n for l in manifest["layers"] for n in tarfile.open(blob(l["digest"])).getnames())
assert [n.strip("/") for n in names] in (["data", "deja"], ["", "data", "deja"]), names
assert config["Entrypoint"] == ["/deja"] and config["WorkingDir"] == "/data", config
END

container=$(in_scratch from deja)
mkdir data
printf 'a\nb\na\n' >data/list
in_scratch run --isolation chroot -v "$PWD/data:/data" "$container" -- \
    /deja dedup --state seen.deja -o new list
in_scratch run --isolation chroot -v "$PWD/data:/data" "$container" -- /deja verify seen.deja
printf 'a\nb\n' | cmp - data/new
in_scratch rm "$container" >/dev/null
