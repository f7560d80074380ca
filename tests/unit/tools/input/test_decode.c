/* test_decode.c - compressed files, most of them written by hand (packed.h).  The larger ones are
 * made by the libraries if they are installed. */
#include "packed.h"
#include "tools/input/decode.h"
#include <fcntl.h>
#include <sys/wait.h>
#ifdef DEJA_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef DEJA_HAVE_ZSTD
#include <zstd.h>
#endif
#ifdef DEJA_HAVE_LZMA
#include <lzma.h>
#endif

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif

static void compressed_files_need_their_library(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(packers); i++) {
        if (decode_supported(packers[i].format))
            continue;
        struct bytes packed = {0};
        packers[i].put(&packed, TEXT("a\n"), 100);
        struct reading r = read_bytes(&packed, 0);
        assert_int_equal(r.rc, DEJA_EFORMAT);
        assert_contains(r.err.text, "-compressed, and this deja was built without");
        assert_contains(r.err.text, packers[i].library);
        assert_contains(r.err.text, "decompress it first");
        reading_free(&r);
        drop(&packed);
    }
}

static void compressed_files_are_recognized_by_content_and_read_to_the_end(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        for (int round = 0; round < 60; round++) {
            struct bytes packed = {0};
            struct bytes all = {0};
            struct reading want = {0};
            struct input_options o = options_for(NULL, 0);
            size_t streams = 1 + below(4);
            for (size_t i = 0; i < streams; i++) { /* as made by cat a.gz b.gz; some are empty */
                random_lines(&content, '\n', 20);
                size_t len = below(5) ? content.len : 0;
                packers[p].put(&packed, content.data, len, 1 + below(2000));
                put(&all, content.data, len);
            }
            const bool pads = packers[p].format == DECODE_GZIP || packers[p].format == DECODE_XZ;
            if (pads && below(3) == 0)
                for (size_t i = 4 * below(250); i; i--)
                    put_byte(&packed, 0); /* as on a tape */
            split_naively(&want, &o, all.data, all.len);
            struct reading r = read_bytes(&packed, 16 + below(3000));
            assert_int_equal(r.rc, 0);
            assert_same(&r.records, &want.records);
            assert_same(&r.keys, &want.keys);
            assert_int_equal(r.progress.raw, packed.len);
            assert_int_equal(r.progress.total, packed.len);
            assert_int_equal(r.progress.decoded, all.len);
            reading_free(&r);
            reading_free(&want);
            drop(&packed);
            drop(&all);
        }
    }
    drop(&content);
}

/* 100 lines "http://www.example.com/%d\n", compressed by gzip -9, zstd -19, xz -9 and bzip2 -9. */
static void files_of_the_usual_tools_are_read(void **state)
{
    (void)state;
    static const char gzip[] =
        "1f8b080000000000020375d6316e03211086d1de87f106186026b7892c4b2e62c585a5cdf17381bc"
        "faabfeb75ae0f17ebf3e8fe33ccfebfdf7ebf9fabe5f6f3fcfe3e3f2f83f3485ae301442612a2c85"
        "ad900ac5819eceed8de31bd737ce6fdcdf08d028d048d068d069d0fdfd69d069d069d069d069d069"
        "d069d0693068306830fc13d060d060d060d060d060d060d020681034081a844f021a040d82064183"
        "a041d060d260d260d260d260fa38a4c1a4c1a4c1a4c1a4c1a2c1a2c1a2c1a2c1a2c1f29d40834583"
        "458345834d834d834d834d834d834d83ed8b91069b069b064983a441d220699034481a240dd2af03"
        "1a240d8a064583a241d1a0685034281a140dca4fa4bafc015ebb94c31e0a0000";
    static const char zstd[] =
        "28b52ffd04683d0400e2871513a01b1be032af44fa07b45cd9dd3be9000c8307c0ffffffffcccccc"
        "cc4c44444444c4bbbbbbbb3b33333333b3aaaaaaaa2a2222222222dbb66dbb6ddbb67de259910b0c"
        "82b218c191304af11c81e3388240304d830463a811e0ef7f07c0a34a0711fc7fc2f103fffffbfff7"
        "c13648c11264600964c002a43ff1576ce31db3b5898156054675deb7";
    static const char xz[] =
        "fd377a585a000004e6d6b446020021011c00000010cf58cce00a1d00b35d00341d2ce03a095a2ef0"
        "aa65f4cba140ac77e6dfe999d9561ae6a3d2fe96a727f8bf824e8eac2a89b995b72391a7df0ef769"
        "5ac4bdb2454147d874a03c8651f293d5be0754e00bada3c772e27c5bc59771e9e0f543372723fef1"
        "1c5824c7a283bb7f37e7e88570f3125d97034c725a29e166777f886f63d3d4e1ce7f9e4f3885172d"
        "4328d0ebcd419e928e47d383f021011768782e85d0fccee87a8454b32e8b409dd9609a902f90f591"
        "02c41e3503aa5a3b99000000cfa3c5f1bbe6f4e00001cf019e14000037cc3b58b1c467fb02000000"
        "0004595a";
    static const char bzip2[] =
        "425a6839314159265359f2e420e5000285598000100001fff02a46c4c030010690352604ffd55400"
        "005000340c99014aa501ef551faa1a3478a72bedb633addc38f2d15019160301705c180b0191501a"
        "3600dd000ec45c917d117e9176916b5ad6b5ad7cef999981bca42a035290580cca40b831290180bc"
        "a40322d290068aca400df364db6ccccccccdd3822e88bf08b822d88bb9179117245fc45c117445dc"
        "8b622e88b811688b922ff177245385090f2e420e50";
    struct bytes want = {0};
    for (int i = 0; i < 100; i++) {
        char key[64];
        int len = snprintf(key, sizeof key, "http://www.example.com/%d", i);
        put_counted(&want, key, (size_t)len);
    }
    const char *const files[] = {gzip, zstd, xz, bzip2};
    for (size_t i = 0; i < LEN(files); i++) {
        if (!decode_supported(packers[i].format))
            continue;
        struct bytes packed = {0};
        put_hex(&packed, files[i]);
        for (size_t block_size = 16; block_size < 4000; block_size *= 2) {
            struct reading r = read_bytes(&packed, block_size);
            assert_int_equal(r.rc, 0);
            assert_same(&r.keys, &want);
            reading_free(&r);
        }
        drop(&packed);
    }
    drop(&want);
}

static void a_compressed_file_cut_anywhere_gives_its_records_and_then_an_error(void **state)
{
    (void)state;
    static const char content[] = "first\nsecond\nthird\nfourth\nfifth\n";
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT(content), 10);
        size_t most = 0;
        for (size_t cut = packers[p].magic; cut < packed.len; cut++) {
            const struct bytes part = {packed.data, cut, 0};
            struct reading r = read_bytes(&part, below(2) ? 16 : 0);
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_contains(r.err.text, file_names[0]);
            assert_contains(r.err.text, "ends inside its compressed data: the file is truncated");
            char lines[64];
            snprintf(lines, sizeof lines, "; %zu line%s before that w%s read", r.n,
                     r.n == 1 ? "" : "s", r.n == 1 ? "as" : "ere");
            assert_contains(r.err.text, lines);
            assert_true(r.n >= most); /* more bytes never give fewer lines */
            most = r.n;
            /* All complete lines before the cut, and no partial one. */
            struct reading whole = {0};
            struct input_options o = options_for(NULL, 0);
            split_naively(&whole, &o, TEXT(content));
            assert_true(r.records.len <= whole.records.len);
            if (r.records.len)
                assert_memory_equal(r.records.data, whole.records.data, r.records.len);
            reading_free(&whole);
            reading_free(&r);
        }
        assert_true(most >= 4 || !packers[p].pieces); /* a zstd block is decoded as a whole */
        drop(&packed);
    }
}

/* All except this zstd have a checksum, so undetected damage was in padding.  zstd only has to
 * survive. */
static void a_changed_bit_is_detected_or_harmless(void **state)
{
    (void)state;
    static const char content[] = "first\nsecond\nthird\nfourth\nfifth\n";
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT(content), 10);
        for (size_t i = packers[p].magic; i < packed.len; i++) {
            for (int bit = 0; bit < 8; bit++) {
                packed.data[i] = (char)(packed.data[i] ^ 1 << bit);
                struct reading r = read_bytes(&packed, below(2) ? 16 : 0);
                assert_true(r.rc == 0 || r.rc == DEJA_EFORMAT);
                if (r.rc < 0)
                    assert_contains(r.err.text, file_names[0]);
                else if (packers[p].checked)
                    assert_listed(&r.keys, "first|second|third|fourth|fifth|");
                reading_free(&r);
                packed.data[i] = (char)(packed.data[i] ^ 1 << bit);
            }
        }
        drop(&packed);
    }
}

static void bytes_after_the_compressed_data_are_an_error(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("a\nb\n"), 100);
        put(&packed, TEXT("plain text\n"));
        struct reading r;
        for (int more = 0; more < 11; more++) { /* one byte is enough */
            r = read_bytes(&packed, 0);
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_listed(&r.keys, "a|b|");
            assert_contains(r.err.text, "bytes after its");
            assert_contains(r.err.text, "2 lines before that were read");
            reading_free(&r);
            packed.len -= more < 10;
        }

        const char *path = file_names[0];
        struct input_options o = options_for(&path, 1);
        o.terminator = 0;
        r = read_all(&o);
        assert_contains(r.err.text, "0 records before that were read");
        reading_free(&r);
        drop(&packed);
    }
}

static void zstd_windows_up_to_128_mib_are_read_and_larger_ones_refused(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    for (unsigned eighths = 0; eighths < 2; eighths++) {
        struct bytes packed = {0};
        put_zstd_head(&packed, 27, eighths);
        put_zstd_block(&packed, TEXT("a\nb\n"), 1, true);
        struct reading r = read_bytes(&packed, 0);
        if (eighths == 0) {
            assert_int_equal(r.rc, 0);
            assert_listed(&r.keys, "a|b|");
        } else {
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_contains(r.err.text,
                            "window above 128 MiB; pipe it through zstd -dc --long=31");
        }
        reading_free(&r);
        drop(&packed);
    }
}

static void a_zstd_file_may_start_with_a_skippable_frame(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    struct bytes packed = {0};
    put_le(&packed, 0x184d2a57, 4);
    put_le(&packed, 3, 4);
    put(&packed, TEXT("any"));
    put_zstd(&packed, TEXT("a\n"), 100);
    struct reading r = read_bytes(&packed, 0);
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, "a|");
    reading_free(&r);
    drop(&packed);
}

/* After a first frame, the library would also try the formats of 2015, and read them badly. */
static void zstd_frames_of_old_formats_are_refused(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    for (char first = 0x22; first < 0x28; first++) { /* 0.2 to 0.7 */
        struct bytes packed = {0};
        put_zstd(&packed, TEXT("a\n"), 100);
        const size_t start = packed.len;
        put_zstd(&packed, TEXT("b\n"), 100);
        packed.data[start] = first;
        struct reading r = read_bytes(&packed, 0);
        assert_int_equal(r.rc, DEJA_EFORMAT);
        assert_listed(&r.keys, "a|");
        assert_contains(r.err.text, "bytes after its zstd data");
        reading_free(&r);
        drop(&packed);
    }
}

/* The library discards what it decoded in a call that ends with an error. */
static void blocks_before_a_damaged_one_are_read(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    struct bytes packed = {0};
    put_le(&packed, 0xfd2fb528, 4);
    put_le(&packed, 0x8000, 2); /* no length, a window of 64 MiB */
    put_le(&packed, 4 << 3, 3); /* a raw block of 4 bytes */
    put(&packed, TEXT("a\nb\n"));
    put_le(&packed, 0x7 | 4 << 3, 3); /* a block of an invalid type */
    put(&packed, TEXT("c\nd\n"));
    struct reading r = read_bytes(&packed, 0);
    assert_int_equal(r.rc, DEJA_EFORMAT);
    assert_listed(&r.keys, "a|b|");
    assert_contains(r.err.text, "2 lines before that were read");
    reading_free(&r);
    drop(&packed);
}

/* An attacker needs only 4 bytes for every 128 KiB, so a line of any length costs nothing. */
static void a_small_file_cannot_use_up_all_memory(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_ZSTD))
        skip();
    struct bytes packed = {0};
    put_zstd_head(&packed, 17, 0);
    for (int i = 0; i < 1000; i++)
        put_zstd_block(&packed, "x", 1, (size_t)128 << 10, i == 999);
    const char *path = file(0, packed.data, packed.len);
    struct input_options o = options_for(&path, 1);
    o.record_max = 4 * MIB;
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOMEM);
    assert_contains(r.err.text, "line 1 is longer than 4194304 bytes");
    assert_true(r.progress.decoded <= 5 * MIB);
    reading_free(&r);
    drop(&packed);
}

static void a_slow_compressed_pipe_delivers_lines_at_once(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format) || !packers[p].pieces)
            continue;
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        stdin_from(ends[0]);
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("one\ntwo\n"), 4);
        static const size_t halves[] = {
            [DECODE_GZIP] = 10 + 5 + 4, [DECODE_ZSTD] = 6 + 3 + 4, [DECODE_XZ] = 12 + 12 + 3 + 4};
        const size_t half = halves[packers[p].format];
        struct input_options o = options_for(NULL, 0);
        struct input *in;
        struct block b;
        block_init(&b);
        assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
        send(ends[1], packed.data, half);
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_int_equal(b.n, 1);
        assert_memory_equal(b.data, "one\n", b.len);
        send(ends[1], packed.data + half, packed.len - half);
        assert_int_equal(input_next(in, &b, NULL), 1);
        assert_memory_equal(b.data, "two\n", b.len);
        close(ends[1]);
        assert_int_equal(input_next(in, &b, NULL), 0);
        input_close(in);
        block_fini(&b);
        drop(&packed);
        stdin_back();
    }
}

static void compressed_bytes_may_arrive_one_by_one(void **state)
{
    (void)state;
    for (size_t p = 0; p < LEN(packers); p++) {
        if (!decode_supported(packers[p].format))
            continue;
        struct bytes packed = {0};
        packers[p].put(&packed, TEXT("a\n"), 1);
        packers[p].put(&packed, TEXT("b\n"), 1);
        struct reading r = read_pipe(
            options_for(NULL, 0),
            (struct writer){.data = packed.data, .len = packed.len, .piece = 1, .pause_us = 500});
        assert_int_equal(r.rc, 0);
        assert_listed(&r.keys, "a|b|");
        reading_free(&r);
        drop(&packed);
    }
}

#if defined(DEJA_HAVE_LZMA) || defined(DEJA_HAVE_BZIP2)
/* Two thirds of the file give more than `least` lines before the error. */
static void large_file_is_read(struct bytes *packed, const struct reading *want, size_t least)
{
    struct reading r = read_bytes(packed, 0);
    assert_int_equal(r.rc, 0);
    assert_same(&r.records, &want->records);
    reading_free(&r);
    packed->len = packed->len / 3 * 2;
    r = read_bytes(packed, 0);
    assert_int_equal(r.rc, DEJA_EFORMAT);
    assert_true(r.n > least && r.n < want->n);
    assert_memory_equal(r.records.data, want->records.data, r.records.len);
    reading_free(&r);
}
#endif

/* A dictionary of 2^28 bytes alone reaches the limit. */
static void xz_files_that_need_too_much_memory_are_refused(void **state)
{
    (void)state;
    if (!decode_supported(DECODE_XZ))
        skip();
    for (unsigned dict_log = 27; dict_log <= 31; dict_log++) {
        struct bytes packed = {0};
        put_xz_of(&packed, TEXT("a\nb\n"), 100, dict_log);
        struct reading r = read_bytes(&packed, 0);
        if (dict_log == 27) {
            assert_int_equal(r.rc, 0);
            assert_listed(&r.keys, "a|b|");
        } else {
            assert_int_equal(r.rc, DEJA_EFORMAT);
            assert_contains(r.err.text, "MiB of memory to decompress, and deja allows 256; "
                                        "pipe it through xz -dc");
        }
        reading_free(&r);
        drop(&packed);
    }
}

/* Whether the message contains this text, with the file's name for FILE. */
static void assert_advises(const char *message, const char *text, const char *name)
{
    char want[300];
    const char *file = strstr(text, "FILE");
    if (file)
        (void)snprintf(want, sizeof want, "%.*s%s%s", (int)(file - text), text, name, file + 4);
    assert_contains(message, file ? want : text);
}

/* Each in a file and, byte by byte, through a pipe. */
static void other_file_types_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *text;
    } cases[] = {
        {"504b0304",
         "is a zip archive, which deja cannot read as lines; unpack it first: unzip -p "
         "FILE | deja ..."},
        {"504b0506", "is an empty zip archive"},
        {"504b0708", "7z x -so FILE"},
        {"377abcaf271c", "is a 7z archive"},
        {"526172211a0700", "unrar p -inul FILE"},
        {"526172211a070100", "unrar p -inul FILE"},
        {"4d53434600000000", "cabextract -p FILE"},
        {"04224d18", "lz4 -dc FILE"},
        {"02214c18", "lz4 -dc FILE"},
        {"4c5a495001", "lzip -dc FILE"},
        {"5d00008000ffffffffffffffff", "xz -dc FILE"},
        {"5d00000004ffffffffffffffff", "xz -dc FILE"},
        {"894c5a4f000d0a1a0a", "lzop -dc FILE"},
        {"1f9d90",
         "is compressed with compress, which deja cannot read as lines; unpack it first: "
         "gzip -dc FILE"},
        {"1f1e", "gzip -dc FILE"},
        {"ff060000734e61507059", "snzip -dc FILE"},
        {"44454a410d0a1a0a", "is a filter file of deja"},
        {"53514c69746520666f726d6174203300", "sqlite3 FILE"},
        {"5041523115", "duckdb"},
        {"4f626a01", "avrocat FILE"},
        {"7f454c46", "is a program (ELF)"},
    };
    for (size_t i = 0; i < LEN(cases); i++) {
        struct bytes b = {0};
        put_hex(&b, cases[i].hex);
        put(&b, TEXT("\nmore\n"));
        struct reading r = read_bytes(&b, 0);
        assert_int_equal(r.rc, DEJA_ENOTSUP);
        assert_int_equal(r.n, 0);
        assert_contains(r.err.text, file_names[0]);
        assert_advises(r.err.text, cases[i].text, file_names[0]);
        reading_free(&r);
        r = read_pipe(options_for(NULL, 0),
                      (struct writer){.data = b.data, .len = b.len, .piece = 1, .pause_us = 100});
        assert_int_equal(r.rc, DEJA_ENOTSUP);
        assert_contains(r.err.text, "standard input is ");
        assert_contains(r.err.text, cases[i].text);
        reading_free(&r);
        drop(&b);
    }
}

/* Text that starts like a known file type and continues differently. */
static void lines_that_only_start_like_a_file_type_are_lines(void **state)
{
    (void)state;
    static const char *const lists[] = {"B\n",
                                        "BZh\n",
                                        "BZh9\n",
                                        "BZh91AY&S\n",
                                        "BZh01AY&SY\n",
                                        "BZh91AY&sY\n",
                                        "PK\n",
                                        "PK\3\n",
                                        "PAR1\n",
                                        "PAR1 2\n",
                                        "7z\n",
                                        "Rar!\n",
                                        "LZIP\n",
                                        "Obj\n",
                                        "DEJA\n",
                                        "DEJA\r\n",
                                        "MSCF\n",
                                        "]\n",
                                        "\xfd"
                                        "7zXZ\n",
                                        "SQLite format 3\n",
                                        "%PDF-1.4\n",
                                        "\x7f"
                                        "EL\n",
                                        "\x1f\n",
                                        "BZh91AY&S",
                                        "\xfd"
                                        "7zXZ"};
    for (size_t i = 0; i < LEN(lists); i++) {
        struct reading r = read_file(file(0, lists[i], strlen(lists[i])));
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.n, 1);
        assert_memory_equal(r.records.data + sizeof(size_t), lists[i], strlen(lists[i]));
        reading_free(&r);
        r = read_pipe(options_for(NULL, 0),
                      (struct writer){
                          .data = lists[i], .len = strlen(lists[i]), .piece = 1, .pause_us = 100});
        assert_int_equal(r.rc, 0);
        assert_int_equal(r.n, 1);
        assert_memory_equal(r.records.data + sizeof(size_t), lists[i], strlen(lists[i]));
        reading_free(&r);
    }
}

static void an_unreadable_file_is_reported_before_any_work(void **state)
{
    (void)state;
    const char *paths[] = {file(0, TEXT("a\n")), file(1, TEXT("PK\3\4"))};
    struct input_options o = options_for(paths, 2);
    struct reading r = read_all(&o);
    assert_int_equal(r.rc, DEJA_ENOTSUP);
    assert_int_equal(r.n, 0);
    assert_contains(r.err.text, paths[1]);
}

#if defined(DEJA_HAVE_ZLIB) || defined(DEJA_HAVE_ZSTD) || defined(DEJA_HAVE_LZMA) ||              \
    defined(DEJA_HAVE_BZIP2)
static void large_files_of_the_libraries_are_read(void **state)
{
    (void)state;
    struct bytes content = {0};
    for (size_t i = 0; i < 60000; i++) {
        char line[100];
        int len = snprintf(line, sizeof line, "http://%zu.example.com/%zx\n", below(1000),
                           below(SIZE_MAX));
        put(&content, line, (size_t)len);
    }
    struct reading want = {0};
    struct input_options o = options_for(NULL, 0);
    split_naively(&want, &o, content.data, content.len);
#ifdef DEJA_HAVE_ZLIB
    struct bytes gz = {.cap = content.len + content.len / 10 + 1000};
    gz.data = malloc(gz.cap);
    assert_non_null(gz.data);
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)content.data;
    z.avail_in = (unsigned)content.len;
    z.next_out = (unsigned char *)gz.data;
    z.avail_out = (unsigned)gz.cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    gz.len = z.total_out;
    deflateEnd(&z);
    struct reading r = read_bytes(&gz, 0);
    assert_int_equal(r.rc, 0);
    assert_same(&r.records, &want.records);
    reading_free(&r);
    gz.len = gz.len / 3 * 2;
    r = read_bytes(&gz, 0);
    assert_int_equal(r.rc, DEJA_EFORMAT);
    assert_true(r.n > 20000 && r.n < want.n);
    assert_memory_equal(r.records.data, want.records.data, r.records.len);
    reading_free(&r);
    drop(&gz);
#endif
#ifdef DEJA_HAVE_ZSTD
    struct bytes zst = {.cap = ZSTD_compressBound(content.len)};
    zst.data = malloc(zst.cap);
    assert_non_null(zst.data);
    zst.len = ZSTD_compress(zst.data, zst.cap, content.data, content.len, 3);
    assert_false(ZSTD_isError(zst.len));
    struct reading s = read_bytes(&zst, 0);
    assert_int_equal(s.rc, 0);
    assert_same(&s.records, &want.records);
    reading_free(&s);
    zst.len = zst.len / 3 * 2;
    s = read_bytes(&zst, 0);
    assert_int_equal(s.rc, DEJA_EFORMAT);
    assert_true(s.n > 20000 && s.n < want.n);
    assert_memory_equal(s.records.data, want.records.data, s.records.len);
    reading_free(&s);
    drop(&zst);
#endif
#ifdef DEJA_HAVE_LZMA
    struct bytes xz = {.cap = lzma_stream_buffer_bound(content.len)};
    xz.data = malloc(xz.cap);
    assert_non_null(xz.data);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (uint8_t *)content.data,
                                             content.len, (uint8_t *)xz.data, &xz.len, xz.cap),
                     LZMA_OK);
    large_file_is_read(&xz, &want, 20000);
    drop(&xz);
#endif
#ifdef DEJA_HAVE_BZIP2
    struct bytes bz = {0}; /* in blocks of 100 kB */
    put_bzip2(&bz, content.data, content.len, 0);
    large_file_is_read(&bz, &want, 20000);
    drop(&bz);
#endif
    reading_free(&want);
    drop(&content);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compressed_files_need_their_library),
        cmocka_unit_test(compressed_files_are_recognized_by_content_and_read_to_the_end),
        cmocka_unit_test(files_of_the_usual_tools_are_read),
        cmocka_unit_test(a_compressed_file_cut_anywhere_gives_its_records_and_then_an_error),
        cmocka_unit_test(a_changed_bit_is_detected_or_harmless),
        cmocka_unit_test(bytes_after_the_compressed_data_are_an_error),
        cmocka_unit_test(zstd_windows_up_to_128_mib_are_read_and_larger_ones_refused),
        cmocka_unit_test(a_zstd_file_may_start_with_a_skippable_frame),
        cmocka_unit_test(zstd_frames_of_old_formats_are_refused),
        cmocka_unit_test(blocks_before_a_damaged_one_are_read),
        cmocka_unit_test(a_small_file_cannot_use_up_all_memory),
        cmocka_unit_test(a_slow_compressed_pipe_delivers_lines_at_once),
        cmocka_unit_test(compressed_bytes_may_arrive_one_by_one),
        cmocka_unit_test(xz_files_that_need_too_much_memory_are_refused),
        cmocka_unit_test(other_file_types_are_refused_with_a_remedy),
        cmocka_unit_test(lines_that_only_start_like_a_file_type_are_lines),
        cmocka_unit_test(an_unreadable_file_is_reported_before_any_work),
#if defined(DEJA_HAVE_ZLIB) || defined(DEJA_HAVE_ZSTD) || defined(DEJA_HAVE_LZMA) ||              \
    defined(DEJA_HAVE_BZIP2)
        cmocka_unit_test(large_files_of_the_libraries_are_read),
#endif
    };
    return cmocka_run_group_tests_name("unit.decode", tests, make_folder, remove_folder);
}
