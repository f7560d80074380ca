# deja.h compiles on its own, without warnings, in every language and dialect that its users need.
echo '#include "deja.h"' >alone.c
cp alone.c alone.cpp
cat >begin.c <<'C'
#include "deja.h"
static const deja_options options = DEJA_OPTIONS_INIT;
deja_stats begin(void);
deja_stats begin(void)
{
    deja_plan plan = DEJA_PLAN_INIT;
    deja_stats stats = DEJA_STATS_INIT;
    stats.kind = plan.kind + options.kind;
    return stats;
}
C
cp begin.c begin.cpp
flags=(-I"$SOURCE/include" -Wall -Wextra -Wpedantic -Werror -fsyntax-only)

tried=0
try() { # COMPILER FILE DIALECT...
    local compiler=$1 file=$2 dialect
    shift 2
    if ! command -v "$compiler" >/dev/null; then
        echo "$compiler is not here"
        return
    fi
    for dialect in "$@"; do
        echo "$compiler -std=$dialect"
        "$compiler" -std="$dialect" "${flags[@]}" "$file"
        tried=$((tried + 1))
    done
}
try gcc alone.c c99 c11 c17 gnu17
try clang alone.c c99 c11 c17
try gcc begin.c c99 c11 c17
try clang begin.c c99 c11 c17
try g++ begin.cpp c++11 c++17 c++20
try clang++ begin.cpp c++11 c++17 c++20
try g++ alone.cpp c++98 c++11 c++17 c++20
try clang++ alone.cpp c++98 c++11 c++17 c++20
[ "$tried" -ge 8 ] || { echo "too few compilers: need gcc and g++, or clang" >&2; exit 1; }
