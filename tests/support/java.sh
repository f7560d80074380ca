# shellcheck shell=bash
# java.sh - Java libraries as referees.  JAVA_DIR is a scratch folder.  A missing Java compiler,
# Maven or registry skips the test.
JAVA_DIR=$PWD/java
mkdir -p "$JAVA_DIR"

# GROUP:ARTIFACT:VERSION...: fetches the archives, without what they depend on.
java_get() {
    local tool artifact
    for tool in javac java mvn; do
        command -v "$tool" >/dev/null || skip "no $tool here (Debian: maven, default-jdk-headless)"
    done
    for artifact; do
        mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$JAVA_DIR" \
            >"$JAVA_DIR/log" 2>&1 || skip "Maven cannot fetch $artifact"
    done
}

java_compile() { # FILE
    (cd "$JAVA_DIR" && javac -nowarn -encoding UTF-8 -d . -cp "*" "$1") >"$JAVA_DIR/log" 2>&1 || {
        cat "$JAVA_DIR/log" >&2
        exit 1
    }
}

java_run() { java -Xmx512m -cp "$JAVA_DIR:$JAVA_DIR/*" "$@"; }
