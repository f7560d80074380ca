/* decode_magic.c - recognizes file formats by their first bytes; see decode_magic.h. */
#include "tools/input/decode_magic.h"

#define LOOSE(bytes, at, from, to) sizeof(bytes) - 1, bytes, at, from, to
#define BYTES(bytes)               LOOSE(bytes, 0, 0, 0)
#define GZIP                       DECODE_GZIP, &codec_gzip, NULL, NULL
#define ZSTD                       DECODE_ZSTD, &codec_zstd, NULL, NULL
#define XZ                         DECODE_XZ, &codec_xz, NULL, NULL
#define BZIP2                      DECODE_BZIP2, &codec_bzip2, NULL, NULL
#define OTHER(what, remedy)        DECODE_OTHER, NULL, what, remedy
#define PACKED(what, command)      OTHER(what, "unpack it first: " command " FILE | deja ...")

static const struct decode_magic table[] = {
    {GZIP, BYTES("\x1f\x8b\x08")},
    {ZSTD, BYTES("\x28\xb5\x2f\xfd")},
    {ZSTD, LOOSE("\x50\x2a\x4d\x18", 0, 0x50, 0x5f)}, /* a frame to skip */
    {XZ, BYTES("\xfd\x37zXZ\0")},
    /* The second half starts the first block, or ends a stream without blocks. */
    {BZIP2, LOOSE("BZh91AY&SY", 3, '1', '9')},
    {BZIP2, LOOSE("BZh9\x17\x72\x45\x38\x50\x90", 3, '1', '9')},

    {PACKED("a zip archive", "unzip -p"), BYTES("PK\3\4")},
    {OTHER("an empty zip archive", "there is nothing in it"), BYTES("PK\5\6")},
    {PACKED("a part of a split zip archive", "7z x -so"), BYTES("PK\7\10")},
    {PACKED("a 7z archive", "7z x -so"), BYTES("7z\xbc\xaf\x27\x1c")},
    {PACKED("a rar archive", "unrar p -inul"), BYTES("Rar!\x1a\7")},
    {PACKED("a cabinet archive", "cabextract -p"), BYTES("MSCF\0\0\0\0")},
    {PACKED("lz4-compressed", "lz4 -dc"), BYTES("\x04\x22\x4d\x18")},
    {PACKED("lz4-compressed", "lz4 -dc"), BYTES("\x02\x21\x4c\x18")},
    {PACKED("lzip-compressed", "lzip -dc"), BYTES("LZIP\1")},
    /* The dictionary has less, or more, than 16 MiB. */
    {PACKED("lzma-compressed", "xz -dc"),
     LOOSE("\x5d\0\0\1\0\xff\xff\xff\xff\xff\xff\xff\xff", 3, 1, 0xff)},
    {PACKED("lzma-compressed", "xz -dc"),
     LOOSE("\x5d\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff", 4, 1, 0xff)},
    {PACKED("lzop-compressed", "lzop -dc"), BYTES("\x89LZO\0\r\n\x1a\n")},
    {PACKED("compressed with compress", "gzip -dc"), BYTES("\x1f\x9d")},
    {PACKED("compressed with pack", "gzip -dc"), BYTES("\x1f\x1e")},
    {PACKED("snappy-compressed", "snzip -dc"), BYTES("\xff\x06\0\0sNaPpY")},

    {OTHER("a filter file of deja",
           "`deja info` describes it, `deja check FILE ...` looks up lines in it"),
     BYTES("DEJA\r\n\x1a\n")},
    {OTHER("an SQLite database", "export it first: sqlite3 FILE 'SELECT ...' | deja ..."),
     BYTES("SQLite format 3\0")},
    {OTHER("a Parquet file",
           "export it first: duckdb -csv -c \"SELECT * FROM 'FILE'\" | deja ... --csv COLUMN"),
     BYTES("PAR1\x15")},
    {OTHER("an Avro file", "export it first: avrocat FILE | deja ... --json-key KEY"),
     BYTES("Obj\1")},
    {OTHER("a program (ELF)", "name a file with lines"), BYTES("\177ELF")},
};

/* Returns how many bytes of the row's pattern match: all, fewer if the head is shorter, or 0 if
 * they differ. */
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

bool decode_supported(enum decode_format format)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].format == format)
            return table[i].codec && table[i].codec->open;
    return format == DECODE_PLAIN;
}
