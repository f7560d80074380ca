# shellcheck shell=bash
# packages.sh - installs missing Debian packages; sourced by quickstart and check.

# need PACKAGE...: install the missing ones.  A package is present if a command of its name is on the
# path, from any source, or if dpkg has it installed.
need() {
    local package missing=() as_root=() log
    for package; do
        case $package in
        ninja-build) command -v ninja >/dev/null && continue ;;
        libnode-dev) # a Node.js that is not Debian's brings its headers, and excludes the package
            if command -v node >/dev/null; then
                [ -f "$(dirname "$(realpath "$(command -v node)")")/../include/node/node_api.h" ] && continue
            fi
            ;;
        *) command -v "$package" >/dev/null && continue ;;
        esac
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    if ! command -v apt-get >/dev/null; then
        # Other systems use other names, so continue and let CMake report what is missing.
        echo "No apt-get on this system. If the build fails, install the equivalents of these packages:"
        echo "  ${missing[*]}"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Packages are missing, and sudo is not installed. As root, run:" >&2
            echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing: ${missing[*]}"
    log=$(mktemp)
    # The package lists may be missing or outdated: if the install fails, update them and retry.
    if "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
        { "${as_root[@]}" apt-get update >"$log" 2>&1 &&
            "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; }; then
        rm -f "$log"
        return 0
    fi
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "apt-get could not install: ${missing[*]}" >&2
    return 1
}
