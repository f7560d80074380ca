# Google's Guava reads deja's files, and deja reads its files: with every funnel, the same answers
# for 100,000 URLs that were added and 100,000 that were not, and the same bytes.
. "$SUPPORT/cases.sh"
. "$SUPPORT/java.sh"

java_get com.google.guava:guava:33.4.8-jre com.google.guava:failureaccess:1.0.3
cat >"$JAVA_DIR/Guava.java" <<'END'
package com.google.common.hash; // for the older strategy

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class Guava { // make FUNNEL 32|64 N P KEYS OUT; check FUNNEL FILE KEYS
    static Object key(String funnel, byte[] line) {
        return funnel.equals("bytes") ? (Object) line : new String(line, StandardCharsets.UTF_8);
    }

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

    @SuppressWarnings("unchecked")
    public static void main(String[] a) throws IOException {
        Funnel<Object> funnel = (Funnel<Object>) (Funnel<?>) (a[1].equals("chars") ? Funnels.unencodedCharsFunnel()
            : a[1].equals("utf8") ? Funnels.stringFunnel(StandardCharsets.UTF_8)
            : Funnels.byteArrayFunnel());
        if (a[0].equals("make")) {
            BloomFilter<Object> made = BloomFilter.create(funnel, Long.parseLong(a[3]), Double.parseDouble(a[4]),
                a[2].equals("32") ? BloomFilterStrategies.MURMUR128_MITZ_32 : BloomFilterStrategies.MURMUR128_MITZ_64);
            for (byte[] line : lines(a[5]))
                made.put(key(a[1], line));
            try (OutputStream out = new FileOutputStream(a[6])) {
                made.writeTo(out);
            }
            return;
        }
        try (InputStream in = new FileInputStream(a[2]); OutputStream out = new BufferedOutputStream(System.out)) {
            BloomFilter<Object> read = BloomFilter.readFrom(in, funnel);
            for (byte[] line : lines(a[3]))
                if (read.mightContain(key(a[1], line))) {
                    out.write(line);
                    out.write('\n');
                }
        }
    }
}
END
java_compile Guava.java

_guava() { java_run com.google.common.hash.Guava "$@"; }

_lists() {
    deja gen -q -n 100000 >present
    deja gen -q -n 100000 --first 100000 >absent
    printf '%b' 'a\n\n  b \nb\xc3\xa9z\xf0\x9f\x98\x80\n' >>present
}

# Bytes that are not UTF-8, which Java replaces before the filter sees them.
_odd() {
    printf '%b' '\xff\xf0\x9f\x98z\n\xed\xa0\x80x\n\xed\xa0\n\xc3\n\xe0\x80\x80\n\xf4\x90\x80\x80y\n\xc1\x80' \
        '\n\xe2\x82z\n\xf0\x9f\n'
}

we_read_their_files() {
    local strategy funnel format
    _lists
    for strategy in 32 64; do
        for funnel in utf8 bytes chars; do
            format=guava
            if [ $funnel = chars ]; then format=guava-chars; fi
            _guava make $funnel $strategy 100000 0.01 present theirs
            deja check -q --format $format theirs present >got
            expect_same got present
            _guava check $funnel theirs absent >expected
            [ "$(wc -l <expected)" -gt 500 ] || fail "too few false positives to compare"
            deja check -q --format $format theirs absent >got
            expect_same got expected
        done
    done
}

they_read_ours() {
    local funnel format
    _lists
    for funnel in utf8 bytes chars; do
        format=guava
        if [ $funnel = chars ]; then format=guava-chars; fi
        deja build -q --force --format $format -n 100000 -p 0.01 ours present 2>warned
        _guava check $funnel ours present >got
        expect_same got present
        deja check -q --format $format ours absent >expected
        _guava check $funnel ours absent >got
        expect_same got expected
    done
}

sizes_and_bytes_are_the_same() {
    local n p
    deja gen -q -n 500 >list
    _odd >>list
    for n in 1 2 3 10 1000 99991; do
        for p in 0.5 0.03 0.001 1e-9; do
            _guava make chars 64 $n $p list theirs
            deja build --force -q --format guava-chars -n $n -p $p ours list 2>warned
            expect_same ours theirs
            _guava make bytes 64 $n $p list theirs
            deja build --force -q --format guava -n $n -p $p ours list 2>warned
            expect_same ours theirs
        done
    done
}

cases "$@"
