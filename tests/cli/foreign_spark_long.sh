# Apache Spark reads deja's files, and deja reads its files: versions 1 and 2, with seeds, the same
# answers for 100,000 URLs that were added and 100,000 that were not, and the same bytes.
. "$SUPPORT/cases.sh"
. "$SUPPORT/java.sh"

java_get org.apache.spark:spark-sketch_2.13:4.1.0
cat >"$JAVA_DIR/Spark.java" <<'END'
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import org.apache.spark.util.sketch.BloomFilter;

public class Spark { // make V1|V2 SEED N P KEYS OUT; check FILE KEYS
    static List<byte[]> lines(String file) throws IOException {
        byte[] all = Files.readAllBytes(Paths.get(file));
        List<byte[]> lines = new ArrayList<>();
        for (int i = 0, from = 0; i < all.length; i++)
            if (all[i] == '\n') {
                lines.add(Arrays.copyOfRange(all, from, i));
                from = i + 1;
            }
        return lines;
    }

    public static void main(String[] a) throws IOException {
        if (a[0].equals("make")) {
            long n = Long.parseLong(a[3]), bits = BloomFilter.optimalNumOfBits(n, Double.parseDouble(a[4]));
            BloomFilter made = BloomFilter.create(BloomFilter.Version.valueOf(a[1]), n, bits, Integer.parseInt(a[2]));
            boolean string = true;
            for (byte[] line : lines(a[5])) { // both kinds of keys in turn: they are the same
                String text = new String(line, StandardCharsets.UTF_8);
                string = !string && Arrays.equals(text.getBytes(StandardCharsets.UTF_8), line);
                if (string)
                    made.putString(text);
                else
                    made.putBinary(line);
            }
            try (OutputStream out = new FileOutputStream(a[6])) {
                made.writeTo(out);
            }
            return;
        }
        try (InputStream in = new FileInputStream(a[1]); OutputStream out = new BufferedOutputStream(System.out)) {
            BloomFilter read = BloomFilter.readFrom(in);
            for (byte[] line : lines(a[2]))
                if (read.mightContainBinary(line)) {
                    out.write(line);
                    out.write('\n');
                }
        }
    }
}
END
java_compile Spark.java

_spark() { java_run Spark "$@"; }

_lists() {
    deja gen -q -n 100000 >present
    deja gen -q -n 100000 --first 100000 >absent
    printf '%b' 'a\n\n  b \nb\xc3\xa9z\xf0\x9f\x98\x80\n\xff\xfe\x80\n\x80\xff\n' >>present
}

we_read_their_files() {
    local variant
    _lists
    for variant in 'V1 0' 'V2 0' 'V2 12345' 'V2 -7'; do
        # shellcheck disable=SC2086 # words
        _spark make $variant 100000 0.01 present theirs
        deja check -q theirs present >got
        expect_same got present
        _spark check theirs absent >expected
        [ "$(wc -l <expected)" -gt 500 ] || fail "too few false positives to compare"
        deja check -q theirs absent >got
        expect_same got expected
    done
}

they_read_ours() {
    local format
    _lists
    for format in spark spark-2; do
        deja build -q --force --format $format -n 100000 -p 0.01 ours present 2>warned
        _spark check ours present >got
        expect_same got present
        deja check -q ours absent >expected
        _spark check ours absent >got
        expect_same got expected
    done
}

sizes_and_bytes_are_the_same() {
    local n p
    deja gen -q -n 500 >list
    printf '%b' '\xff\xf0\x9f\x98z\n\x80\n\xc3\xa9\xa9\n' >>list
    for n in 2 3 10 1000 99991; do
        for p in 0.5 0.03 0.001 1e-9; do
            _spark make V1 0 $n $p list theirs
            deja build --force -q --format spark -n $n -p $p ours list 2>warned
            expect_same ours theirs
            _spark make V2 0 $n $p list theirs
            deja build --force -q --format spark-2 -n $n -p $p ours list 2>warned
            expect_same ours theirs
        done
    done
}

cases "$@"
