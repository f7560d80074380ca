# shellcheck shell=bash
# packages.sh - sourced by quickstart and check: installs Debian packages that are missing.

# need PACKAGE...: a package counts as there when a command of its name is on the path (also one
# from elsewhere) or when dpkg knows it as installed.
need() {
    local package missing=() as_root=() log
    for package; do
        case $package in
        ninja-build) command -v ninja >/dev/null && continue ;;
        *) command -v "$package" >/dev/null && continue ;;
        esac
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
            grep -qx installed || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    if ! command -v apt-get >/dev/null; then
        # Not Debian: their names differ, so trust the system and let CMake say what it lacks.
        echo "No apt-get here. If the build fails, install what these are called on your system:"
        echo "  ${missing[*]}"
        return 0
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "Missing packages, and neither root nor sudo. As root, run:" >&2
            echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "installing: ${missing[*]}"
    log=$(mktemp)
    # The package lists may be absent or too old to fit the mirror: then fetch them, once.
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
