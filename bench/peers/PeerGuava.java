// PeerGuava.java - Guava's BloomFilter; README.md has the arguments and the output.
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Predicate;

public final class PeerGuava {
    private static final int REPEATS = 3;
    private static final int HEADER = 6; // bytes before the bits, when written to a stream

    private static final ThreadMXBean THREAD = ManagementFactory.getThreadMXBean();

    private static byte[][] read(String path) throws IOException {
        return Files.readAllLines(Path.of(path)).stream()
                .map(line -> line.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /** Calls with every key and counts the answers true; keeps the least time per key. */
    private static long timed(byte[][] keys, double[] least, int what, Predicate<byte[]> call) {
        long count = 0;
        final long begin = THREAD.getCurrentThreadCpuTime();
        for (byte[] key : keys) {
            if (call.test(key)) {
                count++;
            }
        }
        final long took = THREAD.getCurrentThreadCpuTime() - begin;
        least[what] = Math.min(least[what], took / (double) keys.length);
        return count;
    }

    private static BloomFilter<byte[]> create(int n, double p) {
        return BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
    }

    public static void main(String[] args) throws IOException {
        final byte[][] members = read(args[0]);
        final byte[][] absent = read(args[1]);
        final byte[][] mixed = read(args[2]);
        final double p = Double.parseDouble(args[3]);
        final double inf = Double.POSITIVE_INFINITY;
        final double[] least = {inf, inf, inf, inf};
        long bits = 0;
        long found = 0;
        long hits = 0;
        long fresh = 0;
        for (int i = 0; i < REPEATS; i++) {
            final BloomFilter<byte[]> filter = create(members.length, p);
            timed(members, least, 0, filter::put);
            hits = timed(absent, least, 1, filter::mightContain);
            found = timed(members, least, 2, filter::mightContain);
            final ByteArrayOutputStream out = new ByteArrayOutputStream();
            filter.writeTo(out);
            bits = (out.size() - HEADER) * 8L;
            final BloomFilter<byte[]> other = create(members.length, p);
            fresh = timed(mixed, least, 3, other::put);
        }
        System.out.printf(Locale.ROOT, "%d\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.1f\t%.1f%n",
                members.length, bits, found, hits, fresh, least[0], least[1], least[2], least[3]);
    }
}
