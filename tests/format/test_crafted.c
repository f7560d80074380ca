/* test_crafted.c - headers with valid checksums and absurd numbers: a message names the field, and
 * no number is used as a size before it has been checked. */
#include "crafted.h"
#include "failmem.h"

/* Rejected, without allocating more memory than for a valid file. */
static void crafted_is_refused(const struct bytes *b, int status, const char *word)
{
    struct failmem memory;
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_error err = {0};
    deja_filter *f = NULL;
    const char *path = place("crafted", b);
    failmem_init(&memory, 0);
    expect.alloc = &memory.hook;
    const int rc = deja_filter_open(path, DEJA_OPEN_WRITE, &expect, &f, &err);
    if (rc != status || !strstr(err.text, word))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, word);
    assert_null(f);
    assert_true(memory.largest < 64u * 1024);
    assert_int_equal(memory.live, 0);
    assert_int_equal(memory.mistakes, 0);
    refused(path, DEJA_OPEN_REPAIR, status, word);
    unlink(path);
}

/* The same, with valid checksums. */
static void sealed_is_refused(const struct bytes *b, const char *word)
{
    fix_all(b->data);
    crafted_is_refused(b, DEJA_EFORMAT, word);
}

/* One changed field of the blocked file, with valid checksums. */
struct craft {
    size_t at;
    unsigned len; /* 4, 8; or 0: a double */
    uint64_t value;
    double real;
    int status;
    const char *word;
};

static void field_of_is_refused(const struct bytes *file, const struct craft *c)
{
    struct bytes b = copy_of(file);
    set_field(b.data, &(struct field){c->at, c->len, c->value, c->real});
    fix_written(b.data);
    crafted_is_refused(&b, c->status, c->word);
    free(b.data);
}

static void field_is_refused(const struct craft *c)
{
    field_of_is_refused(&blocked, c);
}

#define NO_NUMBER (0.0 / 0.0)
#define INFINITE  (1.0 / 0.0)

static void absurd_fields_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {8, 4, 0, 0, DEJA_EFORMAT, "version"},
        {8, 4, 1, 0, DEJA_EFORMAT, "rules"},
        {8, 4, 3, 0, DEJA_EVERSION, "version 3 is newer"},
        {8, 4, UINT32_MAX, 0, DEJA_EVERSION, "version"},
        {12, 4, 0, 0, DEJA_EFORMAT, "header length"},
        {12, 4, 8192, 0, DEJA_EFORMAT, "header length"},
        {16, 4, 0, 0, DEJA_EVERSION, "kind"},
        {16, 4, 10, 0, DEJA_EVERSION, "kind 10"},
        {16, 4, DEJA_LAYERED, 0, DEJA_EFORMAT, "part kind"},
        {16, 4, UINT32_MAX, 0, DEJA_EVERSION, "kind"},
        {16, 4, DEJA_CLASSIC, 0, DEJA_EFORMAT, "part kind"},
        {20, 4, 0, 0, DEJA_EFORMAT, "part kind"},
        {20, 4, DEJA_SCALABLE, 0, DEJA_EFORMAT, "part kind"},
        {20, 4, UINT32_MAX, 0, DEJA_EFORMAT, "part kind"},
        {24, 4, 0, 0, DEJA_EVERSION, "hash"},
        {24, 4, 9, 0, DEJA_EVERSION, "hash 9"},
        {24, 4, UINT32_MAX, 0, DEJA_EVERSION, "hash"},
        {24, 4, DEJA_HASH_JENKINS, 0, DEJA_EFORMAT, "hash"},
        {28, 4, 0, 0, DEJA_EFORMAT, "filters"},
        {28, 4, 17, 0, DEJA_EFORMAT, "filters"},
        {28, 4, UINT32_MAX, 0, DEJA_EFORMAT, "filters"},
        {28, 4, 2, 0, DEJA_EFORMAT, "parts"},
        {32, 8, 0, 0, DEJA_EFORMAT, "capacity"},
        {40, 0, 0, 0.0, DEJA_EFORMAT, "rate"},
        {40, 0, 0, 1.0, DEJA_EFORMAT, "rate"},
        {40, 0, 0, -0.5, DEJA_EFORMAT, "rate"},
        {40, 0, 0, NO_NUMBER, DEJA_EFORMAT, "rate"},
        {40, 0, 0, INFINITE, DEJA_EFORMAT, "rate"},
        {48, 4, 0, 0, DEJA_EFORMAT, "growth"},
        {48, 4, 1025, 0, DEJA_EFORMAT, "growth"},
        {56, 0, 0, 0.0, DEJA_EFORMAT, "tightening"},
        {56, 0, 0, 1.0, DEJA_EFORMAT, "tightening"},
        {56, 0, 0, NO_NUMBER, DEJA_EFORMAT, "tightening"},
        {64, 8, 0, 0, DEJA_EFORMAT, "visit"},
        {64, 8, UINT64_C(1) << 47, 0, DEJA_EFORMAT, "visit"},
        {64, 8, UINT64_MAX, 0, DEJA_EFORMAT, "visit"},
        {72, 4, 4, 0, DEJA_EFORMAT, "flags"}, /* minimal increase belongs to spectral */
        {72, 4, 8, 0, DEJA_EFORMAT, "flags"}, /* modes belong to layered */
        {72, 4, 16, 0, DEJA_EFORMAT, "flags"},
        {72, 4, 64, 0, DEJA_EFORMAT, "flags"},        /* dates belong to exact */
        {72, 4, 128, 0, DEJA_EFORMAT, "part table"},  /* there are no merged parts */
        {72, 4, 256, 0, DEJA_EFORMAT, "file length"}, /* there is no piece table */
        {72, 4, 512, 0, DEJA_EFORMAT, "part table"},  /* every key has one line */
        {72, 4, 1024, 0, DEJA_EFORMAT, "part table"}, /* no part has marks */
        {72, 4, 2048, 0, DEJA_EFORMAT, "flags"},      /* spread counters belong to spectral */
        {72, 4, 4096, 0, DEJA_EFORMAT, "part table"}, /* this is not one of F filters */
        {72, 4, 8192, 0, DEJA_EVERSION, "flags"},
        {72, 4, UINT32_MAX, 0, DEJA_EVERSION, "flags"},
        {76, 4, 0, 0, DEJA_EFORMAT, "parts"},
        {76, 4, 2, 0, DEJA_EFORMAT, "parts"},
        {76, 4, 33, 0, DEJA_EFORMAT, "parts"},
        {76, 4, UINT32_MAX, 0, DEJA_EFORMAT, "parts"},
        {80, 8, 0, 0, DEJA_EFORMAT, "key"},
        {88, 8, 0, 0, DEJA_EFORMAT, "key"},
        {120, 8, 0, 0, DEJA_EFORMAT, "file length"},
        {120, 8, 4096, 0, DEJA_EFORMAT, "file length"},
        {120, 8, UINT64_C(1) << 63, 0, DEJA_EFORMAT, "file length"},
        {120, 8, UINT64_MAX, 0, DEJA_EFORMAT, "file length"},
        {176, 8, 1, 0, DEJA_EFORMAT, "earlier visits"}, /* before the first part */
        {176, 8, UINT64_MAX, 0, DEJA_EFORMAT, "earlier visits"},
        {184, 0, 0, 0.5, DEJA_EFORMAT, "earlier visits"},
        {184, 0, 0, 1.5, DEJA_EFORMAT, "earlier visits"},
        {184, 0, 0, -0.5, DEJA_EFORMAT, "earlier visits"},
        {184, 0, 0, NO_NUMBER, DEJA_EFORMAT, "earlier visits"},
        {192, 0, 0, 1.0, DEJA_EFORMAT, "earlier visits"},
        {192, 0, 0, INFINITE, DEJA_EFORMAT, "earlier visits"},
        {192, 0, 0, NO_NUMBER, DEJA_EFORMAT, "earlier visits"},
        {200, 8, 1, 0, DEJA_EFORMAT, "earlier visits"},
        {200, 8, UINT64_MAX, 0, DEJA_EFORMAT, "earlier visits"},
        {208, 4, 54, 0, DEJA_EFORMAT, "folds"},
        {208, 4, UINT32_MAX, 0, DEJA_EFORMAT, "folds"},
        {136, 4, 4, 0, DEJA_EFORMAT, "counter bits"},
        {140, 4, 0, 0, DEJA_EFORMAT, "rules"},
        {140, 4, 2, 0, DEJA_EVERSION, "written by a newer deja: its rules 2"},
        {140, 4, UINT32_MAX, 0, DEJA_EVERSION, "written by a newer deja"},
        {320, 0, 0, 2.0, DEJA_EFORMAT, "multiplier"}, /* when k was not given */
        {320, 0, 0, -1.0, DEJA_EFORMAT, "multiplier"},
        {320, 0, 0, 1e9, DEJA_EFORMAT, "multiplier"},
        {320, 0, 0, NO_NUMBER, DEJA_EFORMAT, "multiplier"},
        {AT_PART(0), 8, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, 8191, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, 8192 + 64, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, (UINT64_C(1) << 53) + 512, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, UINT64_MAX - 511, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, 17, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, UINT32_MAX, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 16, 8, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 24, 0, 0, 0.0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 24, 0, 0, 1.5, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 24, 0, 0, NO_NUMBER, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 32, 8, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 32, 8, 4160, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 32, 8, UINT64_MAX, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 40, 8, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 40, 8, 1088, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 40, 8, UINT64_MAX, 0, DEJA_EFORMAT, "part 1"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++)
        field_is_refused(&crafts[i]);
}

/* 40 keys: three segments of 32 slots of 8 bits. */
static void absurd_segments_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {20, 4, DEJA_BLOCKED, 0, DEJA_EFORMAT, "part kind"},
        {24, 4, DEJA_HASH_MD5, 0, DEJA_EFORMAT, "hash"},
        {28, 4, 2, 0, DEJA_EFORMAT, "filters"},
        {144, 4, 0, 0, DEJA_EFORMAT, "fingerprints"},
        {144, 4, 9, 0, DEJA_EFORMAT, "fingerprints"},
        {144, 4, 64, 0, DEJA_EFORMAT, "fingerprints"},
        {144, 4, UINT32_MAX, 0, DEJA_EFORMAT, "fingerprints"},
        {144, 4, 16, 0, DEJA_EFORMAT, "part 1"},
        {144, 4, 32, 0, DEJA_EFORMAT, "part 1"},
        {148, 4, 0, 0, DEJA_EFORMAT, "segments"},
        {148, 4, 18, 0, DEJA_EFORMAT, "part 1"},
        {148, 4, 19, 0, DEJA_EFORMAT, "segments"},
        {148, 4, 64, 0, DEJA_EFORMAT, "segments"},
        {148, 4, UINT32_MAX, 0, DEJA_EFORMAT, "segments"},
        {152, 4, 0, 0, DEJA_EFORMAT, "segments"},
        {152, 4, 100, 0, DEJA_EFORMAT, "part 1"},
        {152, 4, UINT32_MAX, 0, DEJA_EFORMAT, "segments"},
        {152, 4, UINT32_MAX - 1, 0, DEJA_EFORMAT, "segments"},
        {156, 4, 1, 0, DEJA_EFORMAT, "number of parts"}, /* exceptions without their part */
        {168, 8, UINT64_MAX, 0, DEJA_EFORMAT, "segments"},
        {168, 8, 1000, 0, DEJA_EFORMAT, "segments"},
        {AT_PART(0), 8, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, 1, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0), 8, UINT64_MAX, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, 0, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, 1, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 8, 4, 4, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(0) + 40, 8, 0, 0, DEJA_EFORMAT, "part 1"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++)
        field_of_is_refused(&fixed, &crafts[i]);
    /* A file of a different kind cannot be turned into one. */
    const struct craft part = {20, 4, DEJA_STATIC, 0, DEJA_EFORMAT, "part kind"};
    field_of_is_refused(&grown, &part);
}

/* A static filter with exceptions: its second part is a table. */
static void absurd_exceptions_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {76, 4, 1, 0, DEJA_EFORMAT, "number of parts"},
        {76, 4, 3, 0, DEJA_EFORMAT, "number of parts"},
        {156, 4, 0, 0, DEJA_EFORMAT, "number of parts"},
        {156, 4, 1, 0, DEJA_EFORMAT, "part 2"},
        {156, 4, UINT32_MAX, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1), 8, 0, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1), 8, 512 - 64, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1), 8, UINT64_C(1) << 40, 0, DEJA_EFORMAT, "part 2"}, /* longer than the file */
        {AT_PART(1) + 8, 4, 3, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 16, 8, 0, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 16, 8, 1000, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 24, 0, 0, 2, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 40, 8, 64, 0, DEJA_EFORMAT, "part 2"},
    };
    struct bytes file =
        read_file(DEJA_TEST_SOURCE_DIR "/tests/format/golden/v2/static_except.deja");
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++)
        field_of_is_refused(&file, &crafts[i]);
    /* Version 1 had no exceptions. */
    dj_store32(file.data + 8, 1);
    dj_store32(file.data + 140, 0);
    fix_written(file.data);
    crafted_is_refused(&file, DEJA_EFORMAT, "number of exceptions");
    free(file.data);
}

/* Keys of four bytes, without slashes: a XOR layer and one layer. */
static void absurd_layers_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {20, 4, DEJA_LAYERED, 0, DEJA_EFORMAT, "part kind"},
        {20, 4, DEJA_BLOCKED, 0, DEJA_EFORMAT, "part kind"},
        {24, 4, DEJA_HASH_MD5, 0, DEJA_EFORMAT, "hash"},
        {28, 4, 2, 0, DEJA_EFORMAT, "filters"},
        {72, 4, 2 + 16, 0, DEJA_EFORMAT, "delimiter"}, /* words without a delimiter */
        {72, 4, 2 + 8, 0, DEJA_EFORMAT,
         "layers in the part table"}, /* paper: all layers are equal */
        {208, 4, 1, 0, DEJA_EFORMAT, "folds"},
        {212, 4, 0, 0, DEJA_EFORMAT, "number of layers"},
        {212, 4, 1, 0, DEJA_EFORMAT, "number of layers"},
        {212, 4, 11, 0, DEJA_EFORMAT, "number of layers"},
        {212, 4, UINT32_MAX, 0, DEJA_EFORMAT, "number of layers"},
        {216, 4, ' ', 0, DEJA_EFORMAT, "delimiter"},
        {216, 4, UINT32_MAX, 0, DEJA_EFORMAT, "delimiter"},
        {220, 4, 1, 0, DEJA_EFORMAT, "reserved"},
        {224, 8, (UINT64_C(1) << 53) + 1, 0, DEJA_EFORMAT, "first capacity"},
        {224 + 72, 8, UINT64_MAX, 0, DEJA_EFORMAT, "first capacity"},
        {AT_PART(0) + 12, 4, 1, 0, DEJA_EFORMAT, "layers in the part table"},
        {AT_PART(1) + 12, 4, 0, 0, DEJA_EFORMAT, "layers in the part table"},
        {AT_PART(1) + 12, 4, 9, 0, DEJA_EFORMAT, "layers in the part table"},
        {AT_PART(1) + 12, 4, UINT32_MAX, 0, DEJA_EFORMAT, "layers in the part table"},
        {AT_PART(1) + 8, 4, 17, 0, DEJA_EFORMAT, "part 2"}, /* blocked: at most 16 */
        {AT_PART(0) + 8, 4, 65, 0, DEJA_EFORMAT, "part 1"},
        {76, 4, 1, 0, DEJA_EFORMAT, "file length"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++)
        field_of_is_refused(&layered, &crafts[i]);
}

#define AT_OTHER 2568 /* the first of the other keys */

/* Like fix_written, with a valid checksum of the other keys. */
static void merged_is_refused(const struct craft *c)
{
    struct bytes b = copy_of(&merged);
    set_field(b.data, &(struct field){c->at, c->len, c->value, c->real});
    if (c->at != 344)
        dj_store64(b.data + 344, dj_checksum(b.data + AT_OTHER, RECORD_A - AT_OTHER));
    fix_written(b.data);
    crafted_is_refused(&b, c->status, c->word);
    free(b.data);
}

static void absurd_merged_parts_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {72, 4, 2, 0, DEJA_EFORMAT, "reserved"}, /* keys, but no flag */
        {72, 4, 128 + 1, 0, DEJA_EFORMAT, "number of merged keys"},
        {336, 4, 0, 0, DEJA_EFORMAT, "reserved"},
        {336, 4, 2, 0, DEJA_EFORMAT, "list of merged keys"},
        {336, 4, 8, 0, DEJA_EFORMAT, "number of merged keys"},
        {336, 4, UINT32_MAX, 0, DEJA_EFORMAT, "number of merged keys"},
        {344, 8, 1, 0, DEJA_EFORMAT, "list of merged keys"},
        {AT_OTHER + 32, 8, 0, 0, DEJA_EFORMAT, "list of merged keys"},
        {AT_OTHER + 32, 8, UINT64_MAX, 0, DEJA_EFORMAT, "list of merged keys"},
        {AT_OTHER + 40, 4, 2, 0, DEJA_EFORMAT, "list of merged keys"},
        {AT_OTHER + 44, 4, 2, 0, DEJA_EFORMAT, "list of merged keys"},
        {AT_OTHER + 48, 4, 1, 0, DEJA_EFORMAT, "reserved"},
        {AT_OTHER + 500, 4, 1, 0, DEJA_EFORMAT, "reserved"},
        {AT_PART(0) + 48, 4, 1, 0, DEJA_EFORMAT, "part 1"},
        {AT_PART(1) + 48, 4, 0, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 48, 4, 3, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 48, 4, UINT32_MAX, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 16, 8, 0, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 16, 8, UINT64_C(1) << 53, 0, DEJA_EFORMAT, "part 2"},
        {AT_PART(1) + 24, 0, 0, 1e-200, DEJA_EFORMAT, "part 2"},
        {AT_PART(1), 8, UINT64_C(1) << 53, 0, DEJA_EFORMAT, "part 2"},
        {16, 4, DEJA_BLOCKED, 0, DEJA_EFORMAT, "number of merged keys"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++)
        merged_is_refused(&crafts[i]);
}

static void set_part(uint8_t *page, uint32_t i, uint64_t bits, uint32_t k, uint64_t offset)
{
    dj_store64(page + AT_PART(i), bits);
    dj_store32(page + AT_PART(i) + 8, k);
    dj_store64(page + AT_PART(i) + 16, dj_load64(page + 32)); /* that of the filter */
    dj_store_double(page + AT_PART(i) + 24, 0.01);
    dj_store64(page + AT_PART(i) + 32, offset);
    dj_store64(page + AT_PART(i) + 40, (bits / 8 + 63) / 64 * 64);
}

static void a_claim_of_a_huge_file_is_refused(void **state)
{
    const uint64_t most = UINT64_C(1) << 53, body = most / 8;
    struct bytes b = copy_of(&blocked);
    set_part(b.data, 0, most, 16, HEADER_LEN);
    dj_store64(b.data + 120, HEADER_LEN + body);
    sealed_is_refused(&b, "truncated");
    /* Sixteen such parts. */
    dj_store32(b.data + 28, 16);
    dj_store32(b.data + 76, 16);
    for (uint32_t i = 0; i < 16; i++)
        set_part(b.data, i, most, 16, HEADER_LEN + i * body);
    dj_store64(b.data + 120, HEADER_LEN + 16 * body);
    sealed_is_refused(&b, "truncated");
    free(b.data);
}

static void parts_that_overlap_or_differ_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 28, 2); /* two filters of half the size */
    dj_store32(b.data + 76, 2);
    set_part(b.data, 0, 4096, 4, HEADER_LEN);
    set_part(b.data, 1, 4096, 4, HEADER_LEN);
    sealed_is_refused(&b, "part 2");
    set_part(b.data, 1, 4096, 5, HEADER_LEN + 512);
    sealed_is_refused(&b, "part table");
    set_part(b.data, 1, 3584, 4, HEADER_LEN + 512);
    sealed_is_refused(&b, "part table");
    free(b.data);
}

static void too_many_numbers_per_key_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 16, DEJA_CLASSIC);
    dj_store32(b.data + 20, DEJA_CLASSIC);
    dj_store32(b.data + 24, DEJA_HASH_MURMUR3);
    dj_store32(b.data + 28, 16);
    dj_store32(b.data + 76, 16);
    for (uint32_t i = 0; i < 16; i++)
        set_part(b.data, i, 512, 64, HEADER_LEN + 64 * i);
    sealed_is_refused(&b, "part table");
    free(b.data);
}

static void absurd_counters_are_refused_by_name(void **state)
{
    static const uint32_t widths[] = {0, 1, 2, 5, 12, 33, 64, UINT32_MAX};
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 16, DEJA_SPECTRAL);
    dj_store32(b.data + 20, DEJA_SPECTRAL);
    for (size_t i = 0; i < DJ_ARRAY_LEN(widths); i++) {
        dj_store32(b.data + 136, widths[i]);
        sealed_is_refused(&b, "counter bits");
    }
    dj_store32(b.data + 136, 8);
    dj_store32(b.data + AT_PART(0) + 8, 17);
    sealed_is_refused(&b, "part 1");
    dj_store32(b.data + 16, DEJA_SCALABLE);
    sealed_is_refused(&b, "part kind");
    free(b.data);
}

/* Fields of a filter with spread counters: 4-bit ones in one line, whose k may be 64. */
static void absurd_spread_counters_are_refused(void **state)
{
    static const uint32_t widths[] = {0, 1, 5, 64, UINT32_MAX}, ks[] = {0, 65, UINT32_MAX};
    static const uint64_t sizes[] = {0, 64, 448, 520, UINT64_C(1) << 60, UINT64_MAX};
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.flags = DEJA_SPREAD;
    opt.memory = 128;
    opt.capacity = 2;
    opt.hashes = 64;
    opt.seed = 1;
    const struct bytes spread = make_file(&opt);
    for (size_t i = 0; i < DJ_ARRAY_LEN(widths); i++)
        field_of_is_refused(&spread,
                            &(struct craft){136, 4, widths[i], 0, DEJA_EFORMAT, "counter bits"});
    for (size_t i = 0; i < DJ_ARRAY_LEN(ks); i++)
        field_of_is_refused(&spread,
                            &(struct craft){AT_PART(0) + 8, 4, ks[i], 0, DEJA_EFORMAT, "part 1"});
    for (size_t i = 0; i < DJ_ARRAY_LEN(sizes); i++)
        field_of_is_refused(&spread,
                            &(struct craft){AT_PART(0), 8, sizes[i], 0, DEJA_EFORMAT, "part 1"});
    field_of_is_refused(&spread, &(struct craft){32, 8, 200, 0, DEJA_EFORMAT, "part 1"});
    field_of_is_refused(&spread, &(struct craft){40, 0, 0, 1e-300, DEJA_EFORMAT, "rate"});
    /* Without the flag, one line of a blocked filter would have 64 counters. */
    field_of_is_refused(&spread, &(struct craft){72, 4, 34, 0, DEJA_EFORMAT, "part 1"});
    struct bytes b = copy_of(&spread); /* a key has no cache lines */
    dj_store32(b.data + 72, dj_load32(b.data + 72) | 512);
    dj_store32(b.data + AT_PART(0) + 52, 2);
    sealed_is_refused(&b, "part 1");
    free(b.data);
    b = copy_of(&spread);
    dj_store32(b.data + 8, 1); /* deja 0.1 has none */
    dj_store32(b.data + 140, 0);
    dj_store32(b.data + 72, 2048 + 2);
    fix_written(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "flags");
    free(b.data);
    free(spread.data);
}

/* Filter 2 of 3, for one of three machines. */
static void absurd_machines_are_refused(void **state)
{
    static const uint32_t numbers[] = {4, 17, UINT32_MAX};
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.capacity = 100;
    opt.filters = 3;
    opt.machine = 2;
    opt.seed = 1;
    const struct bytes file = make_file(&opt);
    for (size_t i = 0; i < DJ_ARRAY_LEN(numbers); i++)
        field_of_is_refused(&file,
                            &(struct craft){504, 4, numbers[i], 0, DEJA_EFORMAT, "machine"});
    field_of_is_refused(&file, &(struct craft){504, 4, 0, 0, DEJA_EFORMAT, "parts"});
    field_of_is_refused(&file, &(struct craft){28, 4, 1, 0, DEJA_EFORMAT, "machine"});
    free(file.data);
}

static void absurd_deletions_are_refused_by_name(void **state)
{
    const size_t at_deletions = 328, at_filters = 28, at_parts = 76;
    struct bytes b = copy_of(&paired);
    dj_store32(b.data + at_parts, 1);
    sealed_is_refused(&b, "number of parts");
    dj_store32(b.data + at_parts, 2);
    dj_store32(b.data + at_filters, 2);
    sealed_is_refused(&b, "filters");
    dj_store32(b.data + at_filters, 1);
    dj_store32(b.data + 20, DEJA_PAIRED);
    sealed_is_refused(&b, "part kind");
    dj_store32(b.data + 20, DEJA_CLASSIC);
    sealed_is_refused(&b, "part kind");
    dj_store32(b.data + 20, DEJA_BLOCKED);
    static const uint64_t counts[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < DJ_ARRAY_LEN(counts); i++) {
        dj_store64(b.data + at_deletions, counts[i]);
        sealed_is_refused(&b, counts[i] == 1 ? "part 2" : "number of deletions");
    }
    free(b.data);
    b = copy_of(&blocked); /* which has no deletions */
    dj_store64(b.data + at_deletions, 1);
    sealed_is_refused(&b, "number of deletions");
    free(b.data);
}

static void absurd_windows_are_refused_by_name(void **state)
{
    static const struct {
        uint32_t generations, reserved;
        uint64_t seconds;
    } crafts[] = {
        {0, 0, 0}, {8, 0, 0}, {UINT32_MAX, 0, 0}, {1, 1, 0}, {1, 0, (UINT64_C(1) << 40) + 1},
    };
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 16, DEJA_WINDOW);
    dj_store32(b.data + 20, DEJA_WINDOW);
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++) {
        dj_store32(b.data + 304, crafts[i].generations);
        dj_store32(b.data + 308, crafts[i].reserved);
        dj_store64(b.data + 312, crafts[i].seconds);
        sealed_is_refused(&b, "generations or seconds");
    }
    dj_store32(b.data + 308, 0);
    dj_store64(b.data + 312, 0);
    dj_store32(b.data + 304, 4); /* five lines do not add up to 8192 bits */
    sealed_is_refused(&b, "part 1");
    dj_store32(b.data + 304, 1);
    dj_store32(b.data + AT_PART(0) + 8, 17);
    sealed_is_refused(&b, "part 1");
    dj_store32(b.data + 28, 2);
    dj_store32(b.data + 76, 2);
    sealed_is_refused(&b, "filters");
    dj_store32(b.data + 28, 1);
    dj_store32(b.data + 76, 1);
    dj_store32(b.data + 16, DEJA_SCALABLE);
    sealed_is_refused(&b, "part kind");
    free(b.data);
}

/* Times and counts that no window has: it opens, answers and continues. */
/* 3072 bits: three, two or one of 512 fit. */
static void absurd_lines_of_a_key_are_refused(void **state)
{
    static const uint64_t values[] = {0, 1, 4, 16, UINT32_MAX};
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.memory = 384;
    opt.capacity = 20;
    opt.seed = 1;
    opt.hashes = 18;
    opt.cache_lines = 2;
    const struct bytes wide = make_file(&opt);
    for (size_t i = 0; i < DJ_ARRAY_LEN(values); i++)
        field_of_is_refused(&wide, &(struct craft){AT_PART(0) + 52, 4, values[i], 0, DEJA_EFORMAT,
                                                   values[i] ? "part 1" : "part table"});
    field_of_is_refused(&wide, &(struct craft){AT_PART(0) + 8, 4, 17, 0, DEJA_EFORMAT, "part 1"});
    field_of_is_refused(&wide, &(struct craft){AT_PART(0) + 8, 4, 34, 0, DEJA_EFORMAT, "part 1"});
    field_of_is_refused(&wide, &(struct craft){AT_PART(0), 8, 5 * 512, 0, DEJA_EFORMAT, "part 1"});
    /* Without the flag, one line would have 18 positions. */
    field_of_is_refused(&wide, &(struct craft){72, 4, 2, 0, DEJA_EFORMAT, "part 1"});
    struct bytes old = copy_of(&wide); /* deja 0.1 has no lines */
    dj_store32(old.data + 8, 1);
    dj_store32(old.data + 140, 0);
    fix_written(old.data);
    crafted_is_refused(&old, DEJA_EVERSION, "flags");
    free(old.data);
    struct bytes b = copy_of(&exact); /* has a table, no blocks */
    dj_store32(b.data + 72, dj_load32(b.data + 72) | 512);
    dj_store32(b.data + AT_PART(0) + 52, 2);
    sealed_is_refused(&b, "part 1");
    free(b.data);
    free(wide.data);
}

static void absurd_times_of_a_window_are_harmless(void **state)
{
    static const uint64_t values[] = {1, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1};
    for (size_t i = 0; i < 4 * DJ_ARRAY_LEN(values); i++) {
        struct bytes b = copy_of(&blocked);
        deja_filter *f = NULL;
        deja_stats s = DEJA_STATS_INIT;
        bool is_new;
        dj_store32(b.data + 16, DEJA_WINDOW);
        dj_store32(b.data + 20, DEJA_WINDOW);
        dj_store_double(b.data + 40, 0.01); /* two generations share the bits */
        dj_store32(b.data + 304, 1);
        dj_store64(b.data + 312, i & 1 ? UINT64_C(1) << 40 : 0);
        static const size_t fields[] = {40, 360, 368, 376};
        dj_store64(b.data + RECORD_B + fields[i % 4], values[i / 4]);
        fix_all(b.data);
        fix_record(b.data, RECORD_B);
        const char *path = place("times", &b);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        for (uint64_t key = 0; key < 3000; key++) {
            const deja_slice slice = {&key, sizeof key};
            assert_int_equal(deja_filter_add(f, slice, &is_new, NULL), DEJA_OK);
            assert_true(deja_filter_contains(f, slice));
        }
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        unlink(path);
        free(b.data);
    }
}

static void absurd_records_are_refused_by_name(void **state)
{
    static const struct {
        size_t at, len;
        uint64_t value;
    } crafts[] = {
        {0, 8, 0},
        {0, 8, 3},
        {0, 8, UINT64_MAX},
        {0, 8, UINT64_MAX - 1}, /* there would be no next sequence number */
        {0, 8, UINT64_C(1) << 63},
        {8, 4, 0},
        {8, 4, 3},
        {8, 4, UINT32_MAX},
        {328, 8, UINT64_C(0x7ff8000000000000)}, /* keys lost before a fold: NaN, */
        {328, 8, UINT64_C(0x7ff0000000000000)}, /* infinity, */
        {328, 8, UINT64_C(0xbff0000000000000)}, /* minus one */
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(crafts); i++) {
        struct bytes b = copy_of(&blocked);
        uint8_t *at = b.data + RECORD_B + crafts[i].at;
        if (crafts[i].len == 4)
            dj_store32(at, (uint32_t)crafts[i].value);
        else
            dj_store64(at, crafts[i].value);
        fix_record(b.data, RECORD_B);
        const char *path = place("record", &b);
        refused(path, 0, DEJA_EFORMAT, "record B");
        unlink(path);
        free(b.data);
    }
}

/* Too many keys to size the next visit for, or for readable statistics. */
static void rotates_or_says_why_not(deja_filter *f, const char *path)
{
    deja_error err = {0};
    deja_filter *again = NULL;
    if (deja_filter_rotate(f, NULL, &err) < 0)
        assert_true(err.text[0] != '\0');
    assert_int_equal(deja_filter_open(path, 0, NULL, &again, NULL), DEJA_OK);
    deja_filter_free(again);
}

/* Counts are not used as sizes: whatever a record claims, the filter works. */
static void absurd_counts_are_harmless(void **state)
{
    static const uint64_t counts[] = {0, UINT64_C(1) << 53, UINT64_MAX};
    const struct bytes *files[] = {&blocked, &exact};
    for (size_t i = 0; i < 6; i++) {
        struct bytes b = copy_of(files[i / 3]);
        const size_t newest = newest_record(b.data);
        dj_store64(b.data + newest + 16, counts[i % 3]);
        dj_store64(b.data + newest + 40, counts[i % 3]);
        dj_store64(b.data + newest + 312, counts[i % 3]);
        dj_store64(b.data + newest + 320, counts[(i + 1) % 3]);
        fix_record(b.data, newest);
        const char *path = place("counts", &b);
        deja_stats s = DEJA_STATS_INIT;
        deja_filter *f = NULL;
        const uint32_t other = N_KEYS;
        opens(path);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        const int rc = deja_filter_add(f, key_of(&other), NULL, NULL);
        assert_true(rc == DEJA_OK || rc == DEJA_EFULL);
        assert_int_equal(deja_filter_contains(f, key_of(&other)), rc == DEJA_OK);
        rotates_or_says_why_not(f, path);
        deja_filter_free(f);
        unlink(path);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absurd_fields_are_refused_by_name),
        cmocka_unit_test(absurd_segments_are_refused_by_name),
        cmocka_unit_test(absurd_exceptions_are_refused_by_name),
        cmocka_unit_test(absurd_layers_are_refused_by_name),
        cmocka_unit_test(absurd_merged_parts_are_refused_by_name),
        cmocka_unit_test(a_claim_of_a_huge_file_is_refused),
        cmocka_unit_test(parts_that_overlap_or_differ_are_refused),
        cmocka_unit_test(too_many_numbers_per_key_are_refused),
        cmocka_unit_test(absurd_counters_are_refused_by_name),
        cmocka_unit_test(absurd_spread_counters_are_refused),
        cmocka_unit_test(absurd_machines_are_refused),
        cmocka_unit_test(absurd_deletions_are_refused_by_name),
        cmocka_unit_test(absurd_windows_are_refused_by_name),
        cmocka_unit_test(absurd_lines_of_a_key_are_refused),
        cmocka_unit_test(absurd_times_of_a_window_are_harmless),
        cmocka_unit_test(absurd_records_are_refused_by_name),
        cmocka_unit_test(absurd_counts_are_harmless),
    };
    return cmocka_run_group_tests_name("format.crafted", tests, make_files, drop_files);
}
