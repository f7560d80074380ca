# C and C++ programs build against the installed files with find_package(deja).
. "$SOURCE/tests/install/installed.sh"

cmake -G Ninja -S "$SOURCE/tests/install/project" -B build -DVERSION="$version" \
    -DCMAKE_PREFIX_PATH="$prefix" >configure.log 2>&1 || { cat configure.log; exit 1; }
cmake --build build >build.log 2>&1 || { cat build.log; exit 1; }
for language in c cpp; do
    runs "build/$language-deja" shared
    runs "build/$language-static" static
done

# A missing version is rejected.
if cmake -G Ninja -S "$SOURCE/tests/install/project" -B wrong -DVERSION=99.0 \
    -DCMAKE_PREFIX_PATH="$prefix" >wrong.log 2>&1; then
    echo "find_package(deja 99.0) succeeded" >&2
    exit 1
fi
