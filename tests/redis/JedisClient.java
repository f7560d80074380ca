// JedisClient PORT RESP - every bf method of Jedis, on a server with the module.
//
// Run by jedis_long.py, for protocol 2 and 3.  Each method is used as the documentation of Jedis
// does, and the checks are on what it returns.
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Objects;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.bloom.BFInsertParams;
import redis.clients.jedis.bloom.BFReserveParams;
import redis.clients.jedis.exceptions.JedisDataException;

public class JedisClient {
    static UnifiedJedis jedis;

    static void equal(Object got, Object want) {
        if (!Objects.equals(got, want))
            throw new AssertionError(got + " instead of " + want);
    }

    static void fails(Runnable call, String text) {
        try {
            call.run();
        } catch (JedisDataException error) {
            if (error.getMessage().contains(text))
                return;
            throw new AssertionError(error.getMessage() + " instead of " + text);
        }
        throw new AssertionError("no error, but expected " + text);
    }

    static void makesAndAdds() {
        equal(jedis.bfReserve("plain", 0.01, 1000), "OK");
        equal(jedis.bfReserve("grows", 0.01, 1000, BFReserveParams.reserveParams().expansion(4)),
              "OK");
        equal(jedis.bfReserve("fixed", 0.01, 2, BFReserveParams.reserveParams().nonScaling()),
              "OK");
        equal(jedis.bfAdd("plain", "foo"), true);
        equal(jedis.bfAdd("plain", "foo"), false);
        equal(jedis.bfMAdd("plain", "foo", "bar", "baz"), Arrays.asList(false, true, true));
        equal(jedis.bfInsert("made", "a", "b"), Arrays.asList(true, true));
        equal(jedis.bfInsert("made", BFInsertParams.insertParams().noCreate(), "a", "c"),
              Arrays.asList(false, true));
        equal(jedis.bfInsert("sized", BFInsertParams.insertParams().capacity(1000).error(0.001)
                                          .expansion(8), "1"), Arrays.asList(true));
        equal(jedis.bfInsert("still", BFInsertParams.insertParams().capacity(10).nonScaling(),
                             "1"), Arrays.asList(true));
    }

    static void answers() {
        equal(jedis.bfExists("plain", "foo"), true);
        equal(jedis.bfExists("plain", "never"), false);
        equal(jedis.bfExists("nobody", "foo"), false);
        equal(jedis.bfMExists("plain", "foo", "never", "baz"), Arrays.asList(true, false, true));
        equal(jedis.bfCard("plain"), 3L);
        equal(jedis.bfCard("nobody"), 0L);
    }

    static void informs() {
        final Map<String, Object> info = jedis.bfInfo("plain");
        equal(info.get("Capacity"), 1000L);
        equal(info.get("Number of filters"), 1L);
        equal(info.get("Number of items inserted"), 3L);
        equal(info.get("Expansion rate"), 2L);
        equal((Long) info.get("Size") > 1000L, true);
        equal(jedis.bfInfo("grows").get("Expansion rate"), 4L);
        equal(jedis.bfInfo("sized").get("Expansion rate"), 8L);
        equal(jedis.bfInfo("fixed").get("Expansion rate"), null);
        equal(jedis.bfInfo("still").get("Capacity"), 10L);
    }

    static void dumpsAndLoads() {
        final String[] items = new String[3000];
        for (int i = 0; i < items.length; i++)
            items[i] = "item " + i;
        jedis.bfMAdd("grows", items);
        int chunks = 0;
        Entry<Long, byte[]> chunk = jedis.bfScanDump("grows", 0);
        for (; chunk.getKey() != 0; chunk = jedis.bfScanDump("grows", chunk.getKey()), chunks++)
            equal(jedis.bfLoadChunk("loaded", chunk.getKey(), chunk.getValue()), "OK");
        equal(chunks > 1, true);
        final List<Boolean> found = jedis.bfMExists("loaded", items);
        equal(found, Collections.nCopies(items.length, true));
        equal(jedis.bfInfo("loaded"), jedis.bfInfo("grows"));
    }

    static void refuses() {
        fails(() -> jedis.bfReserve("plain", 0.01, 1000), "item exists");
        fails(() -> jedis.bfReserve("x", 2, 1000), "error rate must be in the range");
        fails(() -> jedis.bfReserve("x", 0.01, 0), "capacity must be in the range");
        fails(() -> jedis.bfReserve("x", 0.01, 9,
                                    BFReserveParams.reserveParams().expansion(99999)),
              "ERR expansion must be in the range [0, 32768]");
        fails(() -> jedis.bfInfo("nobody"), "not found");
        fails(() -> jedis.bfInsert("nobody", BFInsertParams.insertParams().noCreate(), "a"),
              "not found");
        jedis.bfMAdd("fixed", "a", "b");
        fails(() -> jedis.bfAdd("fixed", "c"), "non scaling filter is full");
        jedis.set("text", "x");
        fails(() -> jedis.bfAdd("text", "a"), "WRONGTYPE");
    }

    public static void main(String[] words) {
        final RedisProtocol protocol =
            words[1].equals("3") ? RedisProtocol.RESP3 : RedisProtocol.RESP2;
        jedis = RedisClient.builder()
                    .hostAndPort("127.0.0.1", Integer.parseInt(words[0]))
                    .clientConfig(DefaultJedisClientConfig.builder().protocol(protocol).build())
                    .build();
        jedis.flushAll();
        makesAndAdds();
        answers();
        informs();
        dumpsAndLoads();
        refuses();
        jedis.close();
        System.out.println("ok RESP" + words[1]);
    }
}
