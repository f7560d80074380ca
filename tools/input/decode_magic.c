/* decode_magic.c - what a file is, by its first bytes; see decode_magic.h. */
#include "tools/input/decode_magic.h"

#define BYTES(text)   sizeof(text) - 1, (text)
#define STRICT        0, 0, 0
#define PIPE(command) "unpack it first: " command " FILE | deja ..."

static const struct decode_magic table[] = {
    {DECODE_GZIP, &codec_gzip, "gzip data", NULL, BYTES("\x1f\x8b\x08"), STRICT},
    {DECODE_ZSTD, &codec_zstd, "zstd data", NULL, BYTES("\x28\xb5\x2f\xfd"), STRICT},
    /* A frame to be skipped, with which a zstd file may begin. */
    {DECODE_ZSTD, &codec_zstd, "zstd data", NULL, BYTES("\x50\x2a\x4d\x18"), 0, 0x50, 0x5f},
    {DECODE_XZ, &codec_xz, "xz data", NULL, BYTES("\xfd\x37zXZ\0"), STRICT},
    /* The second half begins a first block, or ends a stream without any. */
    {DECODE_BZIP2, &codec_bzip2, "bzip2 data", NULL, BYTES("BZh91AY&SY"), 3, '1', '9'},
    {DECODE_BZIP2, &codec_bzip2, "bzip2 data", NULL, BYTES("BZh9\x17\x72\x45\x38\x50\x90"), 3, '1',
     '9'},

    {DECODE_OTHER, NULL, "a zip archive", PIPE("unzip -p"), BYTES("PK\3\4"), STRICT},
    {DECODE_OTHER, NULL, "an empty zip archive", "there is nothing in it", BYTES("PK\5\6"),
     STRICT},
    {DECODE_OTHER, NULL, "a part of a split zip archive", PIPE("7z x -so"), BYTES("PK\7\10"),
     STRICT},
    {DECODE_OTHER, NULL, "a 7z archive", PIPE("7z x -so"), BYTES("7z\xbc\xaf\x27\x1c"), STRICT},
    {DECODE_OTHER, NULL, "a rar archive", PIPE("unrar p -inul"), BYTES("Rar!\x1a\7"), STRICT},
    {DECODE_OTHER, NULL, "a cabinet archive", PIPE("cabextract -p"), BYTES("MSCF\0\0\0\0"),
     STRICT},
    {DECODE_OTHER, NULL, "lz4-compressed", PIPE("lz4 -dc"), BYTES("\x04\x22\x4d\x18"), STRICT},
    {DECODE_OTHER, NULL, "lz4-compressed", PIPE("lz4 -dc"), BYTES("\x02\x21\x4c\x18"), STRICT},
    {DECODE_OTHER, NULL, "lzip-compressed", PIPE("lzip -dc"), BYTES("LZIP\1"), STRICT},
    /* A dictionary of less than 16 MiB, or of more. */
    {DECODE_OTHER, NULL, "lzma-compressed", PIPE("xz -dc"),
     BYTES("\x5d\0\0\1\0\xff\xff\xff\xff\xff\xff\xff\xff"), 3, 1, 0xff},
    {DECODE_OTHER, NULL, "lzma-compressed", PIPE("xz -dc"),
     BYTES("\x5d\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff"), 4, 1, 0xff},
    {DECODE_OTHER, NULL, "lzop-compressed", PIPE("lzop -dc"), BYTES("\x89LZO\0\r\n\x1a\n"),
     STRICT},
    {DECODE_OTHER, NULL, "compressed with compress", PIPE("gzip -dc"), BYTES("\x1f\x9d"), STRICT},
    {DECODE_OTHER, NULL, "compressed with pack", PIPE("gzip -dc"), BYTES("\x1f\x1e"), STRICT},
    {DECODE_OTHER, NULL, "snappy-compressed", PIPE("snzip -dc"), BYTES("\xff\x06\0\0sNaPpY"),
     STRICT},

    {DECODE_OTHER, NULL, "a filter file of deja",
     "`deja info` describes it, `deja check FILE ...` looks up lines in it",
     BYTES("DEJA\r\n\x1a\n"), STRICT},
    {DECODE_OTHER, NULL, "an SQLite database",
     "export it first: sqlite3 FILE 'SELECT ...' | deja ...", BYTES("SQLite format 3\0"), STRICT},
    {DECODE_OTHER, NULL, "a Parquet file",
     "export it first: duckdb -csv -c \"SELECT * FROM 'FILE'\" | deja ... --csv COLUMN",
     BYTES("PAR1\x15"), STRICT},
    {DECODE_OTHER, NULL, "an Avro file", "export it first: avrocat FILE | deja ... --json-key KEY",
     BYTES("Obj\1"), STRICT},
    {DECODE_OTHER, NULL, "a program (ELF)", "name a file with lines",
     BYTES("\x7f"
           "ELF"),
     STRICT},
};

/* How many bytes of a row the head has: its length, fewer if the head ends first, or 0 if it
 * differs. */
static size_t match(const struct decode_magic *m, const unsigned char *head, size_t len)
{
    const size_t n = len < m->len ? len : m->len;
    for (size_t i = 0; i < n; i++) {
        const bool loose = m->from && i == m->loose;
        if (loose ? head[i] < m->from || head[i] > m->to : head[i] != (unsigned char)m->bytes[i])
            return 0;
    }
    return n;
}

const struct decode_magic *decode_magic(const unsigned char *head, size_t len, bool *more)
{
    *more = len == 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const size_t n = match(&table[i], head, len);
        if (n == table[i].len)
            return &table[i];
        *more = *more || n > 0;
    }
    return NULL;
}

int decode_sniff(const unsigned char *head, size_t len)
{
    bool more;
    const struct decode_magic *m = decode_magic(head, len, &more);
    return m ? (int)m->format : more ? -1 : DECODE_PLAIN;
}

static const struct codec *codec_of(enum decode_format format)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].format == format)
            return table[i].codec;
    return NULL;
}

const char *decode_name(enum decode_format format)
{
    const struct codec *c = codec_of(format);
    return c ? c->name : format == DECODE_PLAIN ? "plain" : "other";
}

bool decode_supported(enum decode_format format)
{
    const struct codec *c = codec_of(format);
    return c ? c->open != NULL : format == DECODE_PLAIN;
}
