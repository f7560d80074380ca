# The shell scripts pass shellcheck.
if ! command -v shellcheck >/dev/null; then
    echo "skipped: shellcheck is not here"
    exit 77
fi
cd "$SOURCE"
mapfile -d '' scripts < <(find check quickstart .ci/run cmake tests \
    \( -name '*.sh' -o -name run-script -o -name keep -o -path check -o -path quickstart -o -path .ci/run \) \
    -type f -print0 | sort -z)
# Each call checks eight scripts and reads those that they source.  SC1091: not all can be found.
# SC2164: run-script runs tests with -e.
printf '%s\0' "${scripts[@]}" |
    xargs -0 -n 8 -P "$(nproc)" shellcheck --external-sources --shell=bash --exclude=SC1091,SC2164
echo "${#scripts[@]} scripts"
