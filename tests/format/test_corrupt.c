/* test_corrupt.c - a damaged or crafted file is refused by name, whatever was done to it.
 *
 * Damage: every single bit of a header, every length, every bit of a small body, and random ones
 * in a larger file.  Craft: headers whose checksums are right and whose numbers are absurd; they
 * must be refused before any of the numbers is used as a size. */
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include "deja.h"
#include "failmem.h"
#include "rng.h"
#include "scratch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define HEADER_LEN  4096u
#define RECORD_A    3072u
#define RECORD_B    3584u
#define RECORD_LEN  512u
#define AT_PART(i)  (512u + 64u * (i))
#define AT_CHECKSUM 2560u
#define N_KEYS      40u

/* --- Files to be damaged ------------------------------------------------- */

static struct bytes blocked, grown, exact, fixed, paired, layered;

static deja_slice key_of(const uint32_t *i)
{
    return (deja_slice){i, sizeof *i};
}

static void take_keys(deja_filter *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        MUST(deja_filter_add(f, key_of(&i), NULL) == DEJA_OK);
}

/* Synced twice, so that both records have been used. */
static struct bytes make_file(const deja_options *opt)
{
    const char *path = scratch_path("made");
    deja_filter *f = NULL;
    MUST(deja_filter_create(path, 0, opt, &f, NULL) == DEJA_OK);
    take_keys(f, 0, N_KEYS / 2);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    take_keys(f, N_KEYS / 2, N_KEYS);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    const struct bytes b = read_file(path);
    unlink(path);
    return b;
}

/* Grown after its first sync and not synced since: record B was never written. */
static struct bytes make_grown(void)
{
    const char *path = scratch_path("made");
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = DEJA_SCALABLE;
    opt.capacity = N_KEYS / 2;
    opt.seed = 3;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    take_keys(f, 0, N_KEYS / 4);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    take_keys(f, N_KEYS / 4, N_KEYS);
    deja_filter_free(f);
    const struct bytes b = read_file(path);
    unlink(path);
    return b;
}

/* A static filter: written once, and record B never. */
static struct bytes make_fixed(void)
{
    const char *path = scratch_path("made");
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    opt.kind = DEJA_STATIC;
    opt.fingerprint_bits = 8;
    opt.seed = 4;
    MUST(deja_builder_new(&opt, &b, NULL) == DEJA_OK);
    for (uint32_t i = 0; i < N_KEYS; i++)
        MUST(deja_builder_add_batch(b, &(deja_slice){&i, sizeof i}, 1) == DEJA_OK);
    MUST(deja_builder_finish(b, path, 0, &f, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    deja_builder_free(b);
    const struct bytes made = read_file(path);
    unlink(path);
    return made;
}

static int make_files(void **state)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    scratch_open(state);
    opt.memory = 1024;
    opt.capacity = 2 * N_KEYS;
    opt.seed = 1;
    blocked = make_file(&opt);
    opt.kind = DEJA_EXACT;
    exact = make_file(&opt);
    opt.kind = DEJA_LAYERED;
    opt.memory = 0;
    layered = make_file(&opt);
    grown = make_grown();
    fixed = make_fixed();
    opt.kind = DEJA_PAIRED;
    paired = make_file(&opt);
    return 0;
}

static int drop_files(void **state)
{
    free(blocked.data);
    free(exact.data);
    free(grown.data);
    free(fixed.data);
    free(paired.data);
    free(layered.data);
    return scratch_close(state);
}

/* --- What became of it --------------------------------------------------- */

/* Opens read-only; checks that a refusal has words and that what opens has all its keys. */
static int open_status(const char *path, unsigned flags, deja_error *err)
{
    deja_filter *f = NULL;
    *err = (deja_error){0};
    const int rc = deja_filter_open(path, flags, NULL, &f, err);
    if (rc < 0) {
        assert_null(f);
        assert_int_equal(err->status, rc);
        assert_true(strlen(err->text) > strlen(path));
        return rc;
    }
    for (uint32_t i = 0; i < N_KEYS; i++)
        assert_true(deja_filter_contains(f, key_of(&i)));
    deja_filter_free(f);
    return rc;
}

static void opens(const char *path)
{
    deja_error err;
    if (open_status(path, 0, &err) < 0)
        fail_msg("%s", err.text);
}

static void refused(const char *path, unsigned flags, int status, const char *word)
{
    deja_error err;
    const int rc = open_status(path, flags, &err);
    if (rc != status || !strstr(err.text, word))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, word);
    if (!(flags & DEJA_OPEN_REPAIR))
        assert_true(deja_file_verify(path, &err) < 0);
}

static void put_byte(int fd, size_t at, uint8_t byte)
{
    MUST(pwrite(fd, &byte, 1, (off_t)at) == 1);
}

static const char *place(const char *name, const struct bytes *b)
{
    const char *path = scratch_path(name);
    write_file(path, b->data, b->len);
    return path;
}

/* --- Single bits of the header ------------------------------------------- */

/* What a refusal of damage at this offset has to name. */
static const char *field_at(size_t at)
{
    return at < 8            ? "first bytes"
           : at < 12         ? "version"
           : at < 16         ? "header length"
           : at < 2568       ? "header"
           : at < RECORD_A   ? "reserved"
           : at < RECORD_B   ? "sync record A"
           : at < HEADER_LEN ? "sync record B"
                             : "body";
}

static void every_bit_is_refused(const struct bytes *file, bool b_is_written)
{
    const char *path = place("bits", file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    MUST(fd >= 0);
    for (size_t bit = 0; bit < 8 * (size_t)HEADER_LEN; bit++) {
        deja_error err;
        const size_t at = bit / 8;
        put_byte(fd, at, file->data[at] ^ (uint8_t)(1u << bit % 8));
        const int rc = open_status(path, 0, &err);
        const bool newer = at >= 8 && at < 12; /* a larger version is what a newer file has */
        if (rc != DEJA_EFORMAT && !(newer && rc == DEJA_EVERSION))
            fail_msg("bit %zu: %d \"%s\"", bit, rc, err.text);
        if (!strstr(err.text, field_at(at)))
            fail_msg("bit %zu: \"%s\" does not name \"%s\"", bit, err.text, field_at(at));
        /* The other record may be trusted when that is asked for; nothing else is. */
        const bool helps = at >= RECORD_B || (at >= RECORD_A && b_is_written);
        const int repaired = open_status(path, DEJA_OPEN_REPAIR, &err);
        if (helps != (repaired == DEJA_OK))
            fail_msg("bit %zu, repair: %d \"%s\"", bit, repaired, err.text);
        put_byte(fd, at, file->data[at]);
    }
    close(fd);
    opens(path);
    unlink(path);
}

static void every_flipped_header_bit_is_refused(void **state)
{
    every_bit_is_refused(&blocked, true);
}

static void every_flipped_header_bit_of_a_grown_file_is_refused(void **state)
{
    every_bit_is_refused(&grown, false);
}

static void every_flipped_header_bit_of_a_static_file_is_refused(void **state)
{
    every_bit_is_refused(&fixed, false);
}

/* --- Records -------------------------------------------------------------- */

static struct bytes copy_of(const struct bytes *b)
{
    struct bytes c = {malloc(b->len), b->len};
    MUST(c.data);
    memcpy(c.data, b->data, b->len);
    return c;
}

static void repaired_file_is_whole_after_a_sync(void **state)
{
    for (size_t at = RECORD_A; at <= RECORD_B; at += RECORD_LEN) {
        struct bytes b = copy_of(&blocked);
        deja_stats s = DEJA_STATS_INIT;
        deja_filter *f = NULL;
        memset(b.data + at, 0xa5, RECORD_LEN);
        const char *path = place("repair", &b);
        refused(path, 0, DEJA_EFORMAT, at == RECORD_A ? "record A" : "record B");
        refused(path, DEJA_OPEN_WRITE, DEJA_EFORMAT, at == RECORD_A ? "record A" : "record B");
        assert_int_equal(
            deja_filter_open(path, DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
        assert_int_equal(s.unclean, 1);
        assert_in_range(s.keys, N_KEYS * 3 / 4, N_KEYS * 5 / 4);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        opens(path);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        unlink(path);
        free(b.data);
    }
}

static void two_damaged_records_cannot_be_repaired(void **state)
{
    struct bytes b = copy_of(&blocked);
    b.data[RECORD_A] ^= 1;
    b.data[RECORD_B] ^= 1;
    const char *path = place("both", &b);
    refused(path, 0, DEJA_EFORMAT, "record A");
    refused(path, DEJA_OPEN_REPAIR, DEJA_EFORMAT, "both sync records");
    unlink(path);
    free(b.data);
}

static void record_of_another_file_is_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    memcpy(b.data + RECORD_B, exact.data + RECORD_B, RECORD_LEN);
    const char *path = place("foreign", &b);
    refused(path, 0, DEJA_EFORMAT, "record B");
    unlink(path);
    free(b.data);
}

/* --- Lengths -------------------------------------------------------------- */

static void every_shorter_file_is_refused(void **state)
{
    const char *path = place("short", &blocked);
    for (size_t len = blocked.len; len-- > 0;) {
        MUST(truncate(path, (off_t)len) == 0);
        refused(path, 0, DEJA_EFORMAT,
                len == 0           ? "empty"
                : len < HEADER_LEN ? "inside its header"
                                   : "cut short");
    }
    unlink(path);
}

static void every_longer_file_is_refused(void **state)
{
    const char *path = place("long", &blocked);
    for (size_t more = 1; more <= 2 * HEADER_LEN; more = more < 64 ? more + 1 : 2 * more) {
        MUST(truncate(path, (off_t)(blocked.len + more)) == 0);
        refused(path, 0, DEJA_EFORMAT, "too many");
    }
    MUST(truncate(path, (off_t)blocked.len) == 0);
    opens(path);
    unlink(path);
}

static void other_files_are_refused(void **state)
{
    static const char text[] = "https://example.com/\nhttps://example.org/\n";
    const char *path = scratch_path("other");
    write_file(path, text, sizeof text - 1);
    refused(path, 0, DEJA_EFORMAT, "no deja file");
    char page[2 * HEADER_LEN];
    memset(page, 'x', sizeof page);
    write_file(path, page, sizeof page);
    refused(path, 0, DEJA_EFORMAT, "not those of a deja file");
    unlink(path);
    refused(scratch_folder, 0, DEJA_EINVAL, "not a regular file");
    refused("/dev/null", 0, DEJA_EINVAL, "not a regular file");
    refused(scratch_path("missing"), 0, DEJA_EIO, "No such file");
}

/* A transfer that takes a file for text. */
static void line_ends_that_were_rewritten_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    memmove(b.data + 4, b.data + 5, b.len - 5); /* CR LF became LF */
    const char *path = scratch_path("text");
    write_file(path, b.data, b.len - 1);
    refused(path, 0, DEJA_EFORMAT, "not those of a deja file");
    unlink(path);
    free(b.data);
}

/* --- Crafted headers ------------------------------------------------------ */

static void fix_header(uint8_t *page)
{
    dj_store64(page + AT_CHECKSUM, dj_checksum(page, AT_CHECKSUM));
}

static void fix_record(uint8_t *page, size_t at)
{
    dj_store64(page + at + 296, dj_load64(page + AT_CHECKSUM));
    dj_store64(page + at + 504, dj_checksum(page + at, 504));
}

static size_t newest_record(const uint8_t *page)
{
    return dj_load64(page + RECORD_A) > dj_load64(page + RECORD_B) ? RECORD_A : RECORD_B;
}

static void fix_all(uint8_t *page)
{
    fix_header(page);
    fix_record(page, RECORD_A);
    fix_record(page, RECORD_B);
}

/* Refused, without asking for more memory than an honest file does. */
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

/* One field of the blocked file with another value, and right checksums. */
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
    if (c->len == 4)
        dj_store32(b.data + c->at, (uint32_t)c->value);
    else if (c->len == 8)
        dj_store64(b.data + c->at, c->value);
    else
        dj_store_double(b.data + c->at, c->real);
    fix_header(b.data);
    fix_record(b.data, RECORD_A);
    if (dj_load64(b.data + RECORD_B))
        fix_record(b.data, RECORD_B);
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
        {8, 4, 2, 0, DEJA_EVERSION, "version 2 is newer"},
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
        {72, 4, 4, 0, DEJA_EFORMAT, "flags"}, /* minimal increase is for spectral */
        {72, 4, 8, 0, DEJA_EFORMAT, "flags"}, /* modes are for layered */
        {72, 4, 16, 0, DEJA_EFORMAT, "flags"},
        {72, 4, 32, 0, DEJA_EVERSION, "flags"},
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
        {176, 8, 1, 0, DEJA_EFORMAT, "earlier visits"}, /* before the first one */
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
    for (size_t i = 0; i < sizeof crafts / sizeof crafts[0]; i++)
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
        {156, 4, 1, 0, DEJA_EFORMAT, "segments"},
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
    for (size_t i = 0; i < sizeof crafts / sizeof crafts[0]; i++)
        field_of_is_refused(&fixed, &crafts[i]);
    /* And what is no static filter cannot be made of one. */
    const struct craft part = {20, 4, DEJA_STATIC, 0, DEJA_EFORMAT, "part kind"};
    field_of_is_refused(&grown, &part);
}

/* Keys of four bytes, without slashes: a XOR layer and one layer. */
static void absurd_layers_are_refused_by_name(void **state)
{
    static const struct craft crafts[] = {
        {20, 4, DEJA_LAYERED, 0, DEJA_EFORMAT, "part kind"},
        {20, 4, DEJA_BLOCKED, 0, DEJA_EFORMAT, "part kind"},
        {24, 4, DEJA_HASH_MD5, 0, DEJA_EFORMAT, "hash"},
        {28, 4, 2, 0, DEJA_EFORMAT, "filters"},
        {72, 4, 2 + 16, 0, DEJA_EFORMAT, "delimiter"},               /* words without one */
        {72, 4, 2 + 8, 0, DEJA_EFORMAT, "layers in the part table"}, /* paper: all alike */
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
    for (size_t i = 0; i < sizeof crafts / sizeof crafts[0]; i++)
        field_of_is_refused(&layered, &crafts[i]);
}

static void set_part(uint8_t *page, uint32_t i, uint64_t bits, uint32_t k, uint64_t offset)
{
    dj_store64(page + AT_PART(i), bits);
    dj_store32(page + AT_PART(i) + 8, k);
    dj_store64(page + AT_PART(i) + 16, 1000);
    dj_store_double(page + AT_PART(i) + 24, 0.01);
    dj_store64(page + AT_PART(i) + 32, offset);
    dj_store64(page + AT_PART(i) + 40, (bits / 8 + 63) / 64 * 64);
}

static void huge_file_that_is_not_there_is_refused(void **state)
{
    const uint64_t most = UINT64_C(1) << 53, body = most / 8;
    struct bytes b = copy_of(&blocked);
    set_part(b.data, 0, most, 16, HEADER_LEN);
    dj_store64(b.data + 120, HEADER_LEN + body);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "cut short");
    /* Thirty-two of them. */
    dj_store32(b.data + 16, DEJA_SCALABLE);
    dj_store32(b.data + 76, 32);
    for (uint32_t i = 0; i < 32; i++)
        set_part(b.data, i, most, 16, HEADER_LEN + i * body);
    dj_store64(b.data + 120, HEADER_LEN + 32 * body);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "cut short");
    free(b.data);
}

static void parts_that_overlap_or_differ_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 28, 2); /* two filters of half the size */
    dj_store32(b.data + 76, 2);
    set_part(b.data, 0, 4096, 4, HEADER_LEN);
    set_part(b.data, 1, 4096, 4, HEADER_LEN);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part 2");
    set_part(b.data, 1, 4096, 5, HEADER_LEN + 512);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part table");
    set_part(b.data, 1, 3584, 4, HEADER_LEN + 512);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part table");
    free(b.data);
}

static void more_numbers_a_key_than_there_is_room_for_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 16, DEJA_CLASSIC);
    dj_store32(b.data + 20, DEJA_CLASSIC);
    dj_store32(b.data + 24, DEJA_HASH_MURMUR3);
    dj_store32(b.data + 28, 16);
    dj_store32(b.data + 76, 16);
    for (uint32_t i = 0; i < 16; i++)
        set_part(b.data, i, 512, 64, HEADER_LEN + 64 * i);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part table");
    free(b.data);
}

static void absurd_counters_are_refused_by_name(void **state)
{
    static const uint32_t widths[] = {0, 1, 2, 5, 12, 33, 64, UINT32_MAX};
    struct bytes b = copy_of(&blocked);
    dj_store32(b.data + 16, DEJA_SPECTRAL);
    dj_store32(b.data + 20, DEJA_SPECTRAL);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        dj_store32(b.data + 136, widths[i]);
        fix_all(b.data);
        crafted_is_refused(&b, DEJA_EFORMAT, "counter bits");
    }
    dj_store32(b.data + 136, 8);
    dj_store32(b.data + AT_PART(0) + 8, 17);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part 1");
    dj_store32(b.data + 16, DEJA_SCALABLE);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part kind");
    free(b.data);
}

static void absurd_deletions_are_refused_by_name(void **state)
{
    const size_t at_deletions = 328, at_filters = 28, at_parts = 76;
    struct bytes b = copy_of(&paired);
    dj_store32(b.data + at_parts, 1);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "number of parts");
    dj_store32(b.data + at_parts, 2);
    dj_store32(b.data + at_filters, 2);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "filters");
    dj_store32(b.data + at_filters, 1);
    dj_store32(b.data + 20, DEJA_PAIRED);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part kind");
    dj_store32(b.data + 20, DEJA_CLASSIC);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part kind");
    dj_store32(b.data + 20, DEJA_BLOCKED);
    static const uint64_t counts[] = {0, 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        dj_store64(b.data + at_deletions, counts[i]);
        fix_all(b.data);
        crafted_is_refused(&b, DEJA_EFORMAT, "number of deletions");
    }
    free(b.data);
    b = copy_of(&blocked); /* which has none */
    dj_store64(b.data + at_deletions, 1);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "number of deletions");
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
    for (size_t i = 0; i < sizeof crafts / sizeof crafts[0]; i++) {
        dj_store32(b.data + 304, crafts[i].generations);
        dj_store32(b.data + 308, crafts[i].reserved);
        dj_store64(b.data + 312, crafts[i].seconds);
        fix_all(b.data);
        crafted_is_refused(&b, DEJA_EFORMAT, "generations or seconds");
    }
    dj_store32(b.data + 308, 0);
    dj_store64(b.data + 312, 0);
    dj_store32(b.data + 304, 4); /* five lines do not make up 8192 bits */
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part 1");
    dj_store32(b.data + 304, 1);
    dj_store32(b.data + AT_PART(0) + 8, 17);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part 1");
    dj_store32(b.data + 28, 2);
    dj_store32(b.data + 76, 2);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "filters");
    dj_store32(b.data + 28, 1);
    dj_store32(b.data + 76, 1);
    dj_store32(b.data + 16, DEJA_SCALABLE);
    fix_all(b.data);
    crafted_is_refused(&b, DEJA_EFORMAT, "part kind");
    free(b.data);
}

/* Times and counts that no window has: it opens, answers and goes on. */
static void absurd_times_of_a_window_do_no_harm(void **state)
{
    static const uint64_t values[] = {1, UINT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1};
    for (size_t i = 0; i < 4 * sizeof values / sizeof values[0]; i++) {
        struct bytes b = copy_of(&blocked);
        deja_filter *f = NULL;
        deja_stats s = DEJA_STATS_INIT;
        bool is_new;
        dj_store32(b.data + 16, DEJA_WINDOW);
        dj_store32(b.data + 20, DEJA_WINDOW);
        dj_store32(b.data + 304, 1);
        dj_store64(b.data + 312, i & 1 ? UINT64_C(1) << 40 : 0);
        static const size_t fields[] = {40, 360, 368, 376};
        dj_store64(b.data + RECORD_B + fields[i % 4], values[i / 4]);
        fix_all(b.data);
        fix_record(b.data, RECORD_B);
        const char *path = place("times", &b);
        assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
        for (uint64_t key = 0; key < 3000; key++) {
            const deja_slice slice = {&key, sizeof key};
            assert_int_equal(deja_filter_add(f, slice, &is_new), DEJA_OK);
            assert_true(deja_filter_contains(f, slice));
        }
        assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
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
        {8, 4, 0},
        {8, 4, 3},
        {8, 4, UINT32_MAX},
        {328, 8, UINT64_C(0x7ff8000000000000)}, /* keys lost before a fold: no number, */
        {328, 8, UINT64_C(0x7ff0000000000000)}, /* infinity, */
        {328, 8, UINT64_C(0xbff0000000000000)}, /* minus one */
    };
    for (size_t i = 0; i < sizeof crafts / sizeof crafts[0]; i++) {
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

/* So many keys that the next visit cannot be sized for them, or an account that can be read. */
static void rotates_or_says_why_not(deja_filter *f, const char *path)
{
    deja_error err = {0};
    deja_filter *again = NULL;
    if (deja_filter_rotate(f, NULL, &err) < 0)
        assert_true(err.text[0] != '\0');
    assert_int_equal(deja_filter_open(path, 0, NULL, &again, NULL), DEJA_OK);
    deja_filter_free(again);
}

/* Counts are nobody's sizes: whatever a record claims, the filter works. */
static void absurd_counts_do_no_harm(void **state)
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
        assert_int_equal(deja_filter_stats(f, &s), DEJA_OK);
        const int rc = deja_filter_add(f, key_of(&other), NULL);
        assert_true(rc == DEJA_OK || rc == DEJA_EFULL);
        assert_int_equal(deja_filter_contains(f, key_of(&other)), rc == DEJA_OK);
        rotates_or_says_why_not(f, path);
        deja_filter_free(f);
        unlink(path);
        free(b.data);
    }
}

/* --- Bodies --------------------------------------------------------------- */

static void verify_refuses_every_flipped_bit_of(const struct bytes *file)
{
    const char *path = place("body", file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    deja_error err;
    MUST(fd >= 0);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (size_t bit = 8 * (size_t)HEADER_LEN; bit < 8 * file->len; bit++) {
        put_byte(fd, bit / 8, file->data[bit / 8] ^ (uint8_t)(1u << bit % 8));
        assert_int_equal(deja_file_verify(path, &err), DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "body"));
        put_byte(fd, bit / 8, file->data[bit / 8]);
    }
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    close(fd);
    unlink(path);
}

static void verify_refuses_every_flipped_bit_of_a_body(void **state)
{
    verify_refuses_every_flipped_bit_of(&blocked);
    verify_refuses_every_flipped_bit_of(&exact);
    verify_refuses_every_flipped_bit_of(&fixed);
}

static struct bytes make_megabyte(void)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_CLASSIC;
    opt.memory = 1 << 20;
    opt.hashes = 4;
    opt.seed = 5;
    return make_file(&opt);
}

static void verify_refuses_random_damage_to_a_megabyte(void **state)
{
    struct rng rng = rng_seeded(1);
    struct bytes b = make_megabyte();
    const char *path = place("megabyte", &b);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    deja_error err;
    MUST(fd >= 0);
    for (int i = 0; i < 1000; i++) {
        const size_t bit = (size_t)rng_below(&rng, 8 * b.len);
        put_byte(fd, bit / 8, b.data[bit / 8] ^ (uint8_t)(1u << bit % 8));
        const int rc = deja_file_verify(path, &err);
        assert_true(rc == DEJA_EFORMAT || rc == DEJA_EVERSION);
        assert_non_null(strstr(err.text, field_at(bit / 8)));
        put_byte(fd, bit / 8, b.data[bit / 8]);
    }
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (int i = 0; i < 1000; i++) {
        const size_t len = (size_t)rng_below(&rng, b.len);
        MUST(ftruncate(fd, (off_t)len) == 0);
        assert_int_equal(deja_file_verify(path, &err), DEJA_EFORMAT);
        /* The rest stays away: what counts is the length. */
        MUST(ftruncate(fd, (off_t)b.len) == 0);
        if (len < HEADER_LEN)
            MUST(pwrite(fd, b.data, HEADER_LEN, 0) == HEADER_LEN);
    }
    close(fd);
    unlink(path);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_header_bit_is_refused),
        cmocka_unit_test(every_flipped_header_bit_of_a_grown_file_is_refused),
        cmocka_unit_test(every_flipped_header_bit_of_a_static_file_is_refused),
        cmocka_unit_test(repaired_file_is_whole_after_a_sync),
        cmocka_unit_test(two_damaged_records_cannot_be_repaired),
        cmocka_unit_test(record_of_another_file_is_refused),
        cmocka_unit_test(every_shorter_file_is_refused),
        cmocka_unit_test(every_longer_file_is_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(line_ends_that_were_rewritten_are_refused),
        cmocka_unit_test(absurd_fields_are_refused_by_name),
        cmocka_unit_test(absurd_segments_are_refused_by_name),
        cmocka_unit_test(absurd_layers_are_refused_by_name),
        cmocka_unit_test(huge_file_that_is_not_there_is_refused),
        cmocka_unit_test(parts_that_overlap_or_differ_are_refused),
        cmocka_unit_test(more_numbers_a_key_than_there_is_room_for_are_refused),
        cmocka_unit_test(absurd_counters_are_refused_by_name),
        cmocka_unit_test(absurd_deletions_are_refused_by_name),
        cmocka_unit_test(absurd_windows_are_refused_by_name),
        cmocka_unit_test(absurd_times_of_a_window_do_no_harm),
        cmocka_unit_test(absurd_records_are_refused_by_name),
        cmocka_unit_test(absurd_counts_do_no_harm),
        cmocka_unit_test(verify_refuses_every_flipped_bit_of_a_body),
        cmocka_unit_test(verify_refuses_random_damage_to_a_megabyte),
    };
    return cmocka_run_group_tests_name("format.corrupt", tests, make_files, drop_files);
}
