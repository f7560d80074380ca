/* test_import.c - export and import: the bytes of a file, without a file.  Import accepts only
 * bytes that export writes. */
#include "unit.h"
#include <math.h>

#define EVERY .seed = 7,
#include "bodies.h"
#include "calls.h"
#include "core/base/bytes.h"
#include "failmem.h"
#include "filter/filter.h"
#include "filter/options.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include "rng.h"
#include "scratch.h"
#include "store/format.h"

#define N_KEYS 700u

static const struct {
    const char *name;
    deja_options opt;
} every[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01)},
    {"classic md5",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01, .hash = DEJA_HASH_MD5)},
    {"three filters",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 1000, .fp_rate = 0.01, .filters = 3)},
    {"blocked", FIELDS(.capacity = 1000, .fp_rate = 0.01)},
    {"blocked siphash", FIELDS(.capacity = 1000, .fp_rate = 0.01, .hash = DEJA_HASH_SIPHASH)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 100, .fp_rate = 0.01)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = 1000)},
    {"exact with dates", FIELDS(.kind = DEJA_EXACT, .capacity = 1000, .flags = DEJA_DATES)},
    {"spectral", FIELDS(.kind = DEJA_SPECTRAL, .capacity = 1000, .fp_rate = 0.01)},
    {"spectral, spread",
     FIELDS(.kind = DEJA_SPECTRAL, .capacity = 1000, .fp_rate = 0.01, .flags = DEJA_SPREAD)},
    {"paired", FIELDS(.kind = DEJA_PAIRED, .capacity = 1000, .fp_rate = 0.01)},
    {"layered", FIELDS(.kind = DEJA_LAYERED, .capacity = 1000, .fp_rate = 0.01)},
    {"window", FIELDS(.kind = DEJA_WINDOW, .capacity = 1000, .fp_rate = 0.01)},
};

static deja_filter *filled(const deja_options *opt, uint64_t keys)
{
    deja_filter *f = new_filter(*opt);
    add_keys(f, 0, keys);
    return f;
}

static struct bytes exported(const deja_filter *f)
{
    struct bytes b = {malloc((size_t)deja_filter_export_len(f)), 0};
    MUST(b.data);
    b.len = deja_filter_export(f, 0, b.data, SIZE_MAX / 2);
    assert_int_equal(b.len, deja_filter_export_len(f));
    return b;
}

static deja_filter *imported(const struct bytes *b, const deja_options *expect)
{
    deja_filter *f = NULL;
    deja_error err = {0, ""};
    if (deja_filter_import(b->data, b->len, expect, &f, &err) != DEJA_OK)
        fail_msg("refused: %s", err.text);
    return f;
}

static void assert_same(const deja_filter *a, const deja_filter *b)
{
    deja_stats x = DEJA_STATS_INIT, y = DEJA_STATS_INIT;
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++)
        assert_true(bodies_equal(a->part[i], b->part[i]));
    assert_int_equal(deja_filter_stats(a, 0, &x, NULL), DEJA_OK);
    assert_int_equal(deja_filter_stats(b, 0, &y, NULL), DEJA_OK);
    x.syncs = y.syncs; /* the bytes of a file */
    memcpy(x.generation_age, y.generation_age, sizeof x.generation_age);
    assert_memory_equal(&x, &y, sizeof x);
}

static void refused(const struct bytes *b, int status, const char *text)
{
    deja_filter *f;
    deja_error err = {0, ""};
    const int rc = deja_filter_import(b->data, b->len, NULL, &f, &err);
    assert_null(f);
    assert_int_equal(rc, status);
    assert_int_equal(err.status, status);
    if (!strstr(err.text, text))
        fail_msg("\"%s\" lacks \"%s\"", err.text, text);
}

/* --- Identity ------------------------------------------------------------------ */

static void an_export_is_imported_unchanged(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = filled(&every[i].opt, N_KEYS);
        const struct bytes b = exported(f);
        deja_filter *g = imported(&b, NULL);
        assert_same(f, g);
        add_keys(f, N_KEYS, 3 * (uint64_t)N_KEYS / 2); /* later adds affect both equally */
        add_keys(g, N_KEYS, 3 * (uint64_t)N_KEYS / 2);
        assert_same(f, g);
        deja_filter_free(f);
        deja_filter_free(g);
        free(b.data);
    }
}

static void an_export_written_to_disk_is_a_file(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = filled(&every[i].opt, N_KEYS), *g;
        const struct bytes b = exported(f);
        const char *path = scratch_path("exported.deja");
        write_file(path, b.data, b.len);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        assert_int_equal(deja_filter_open(path, 0, NULL, &g, NULL), DEJA_OK);
        assert_same(f, g);
        deja_filter_free(f);
        deja_filter_free(g);
        free(b.data);
    }
}

static void assert_counted(const deja_filter *f, uint64_t keys)
{
    deja_stats s = DEJA_STATS_INIT;
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    assert_in_range(s.keys, keys * 9 / 10, keys * 11 / 10);
}

/* A file that is being written, or whose writer was killed, has the counts of its last sync.
 * Later keys are counted from the bits, and a sealed copy must include them. */
static void copies_count_keys_that_were_not_synced(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        const char *path = scratch_path("unsynced.deja"), *to = scratch_path("copied.deja");
        deja_filter *f, *g;
        unlink(path);
        unlink(to);
        assert_int_equal(deja_filter_create(path, 0, &every[i].opt, &f, NULL), DEJA_OK);
        add_keys(f, 0, 10);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        add_keys(f, 10, N_KEYS);
        deja_filter_free(f);
        assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_OK);
        assert_counted(f, N_KEYS);
        assert_int_equal(deja_filter_copy(f, to, 0, &g, NULL), DEJA_OK);
        assert_counted(g, N_KEYS);
        assert_int_equal(deja_filter_sync(g, NULL), DEJA_OK);
        deja_filter_free(g);
        assert_int_equal(deja_filter_open(to, 0, NULL, &g, NULL), DEJA_OK);
        assert_counted(g, N_KEYS);
        deja_filter_free(g);
        const struct bytes b = exported(f);
        g = imported(&b, NULL);
        assert_counted(g, N_KEYS);
        deja_filter_free(g);
        deja_filter_free(f);
        free(b.data);
    }
}

static void a_file_is_imported_like_an_export(void **state)
{
    static const char *const golden[] = {"blocked", "classic_3_jenkins", "exact",
                                         "folded",  "rotated",           "scalable",
                                         "static",  "spectral",          "siphash"};
    for (size_t i = 0; i < DJ_ARRAY_LEN(golden); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/tests/format/golden/v1/%s.deja", DEJA_TEST_SOURCE_DIR,
                 golden[i]);
        const struct bytes b = read_file(path);
        deja_filter *f, *g = imported(&b, NULL);
        assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_OK);
        assert_same(f, g);
        deja_filter_free(f);
        deja_filter_free(g);
        free(b.data);
    }
}

static void pieces_of_any_length_make_the_same_filter(void **state)
{
    struct rng r = rng_seeded(11);
    deja_filter *f = filled(&every[5].opt, N_KEYS), *g;
    const struct bytes b = exported(f);
    uint8_t *again = malloc(b.len);
    for (int turn = 0; turn < 20; turn++) {
        deja_import *im;
        assert_int_equal(deja_import_new(turn % 2 ? b.len : 0, NULL, &im, NULL), DEJA_OK);
        for (size_t at = 0, n; at < b.len; at += n) {
            n = 1 + (size_t)rng_below(&r, 3000);
            n = n < b.len - at ? n : b.len - at;
            assert_int_equal(deja_import_len(im), at < DJ_HEADER_LEN ? 0 : b.len);
            assert_int_equal(deja_import_write(im, b.data + at, n, NULL), DEJA_OK);
            /* The bytes so far can be read again, to be stored until the rest arrives. */
            assert_int_equal(deja_import_read(im, 0, again, b.len), at + n);
            assert_memory_equal(again, b.data, at + n);
            const size_t from = (size_t)rng_below(&r, at + n);
            assert_int_equal(deja_import_read(im, from, again, 100),
                             at + n - from < 100 ? at + n - from : 100);
            assert_memory_equal(again, b.data + from, at + n - from < 100 ? at + n - from : 100);
        }
        assert_int_equal(deja_import_read(im, b.len, again, 1), 0);
        assert_int_equal(deja_import_finish(im, &g, NULL), DEJA_OK);
        assert_same(f, g);
        deja_filter_free(g);
        assert_true(deja_import_finish(im, &g, NULL) < 0); /* only once */
        deja_import_free(im);
    }
    for (size_t at = 0; at < b.len; at += 1000) { /* export in pieces */
        const size_t n = deja_filter_export(f, at, again, 1000);
        assert_int_equal(n, b.len - at < 1000 ? b.len - at : 1000);
        if (at >= DJ_HEADER_LEN) /* the header contains the time */
            assert_memory_equal(again, b.data + at, n);
    }
    assert_int_equal(deja_filter_export(f, b.len, again, 1000), 0);
    assert_int_equal(deja_filter_export(f, UINT64_MAX - 5, again, 1000), 0);
    free(again);
    free(b.data);
    deja_filter_free(f);
}

/* --- Refusals ------------------------------------------------------------------ */

static void every_wrong_length_is_refused(void **state)
{
    deja_filter *f = filled(&every[3].opt, N_KEYS);
    const struct bytes whole = exported(f);
    for (size_t len = 0; len < whole.len; len += len < 4200 ? 41 : 97) {
        const struct bytes cut = {whole.data, len};
        refused(&cut, DEJA_EFORMAT, len ? "" : "empty");
    }
    struct bytes longer = {malloc(whole.len + 1), whole.len + 1};
    memcpy(longer.data, whole.data, whole.len);
    longer.data[whole.len] = 0;
    refused(&longer, DEJA_EFORMAT, "bytes");
    free(longer.data);
    free(whole.data);
    deja_filter_free(f);
}

static void every_flipped_bit_is_detected(void **state)
{
    deja_filter *f = filled(&every[3].opt, N_KEYS);
    const struct bytes b = exported(f);
    for (size_t bit = 0; bit < 8 * b.len; bit += bit < 8 * 4700 ? 7 : 61) {
        deja_filter *g;
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_true(deja_filter_import(b.data, b.len, NULL, &g, NULL) < 0);
        b.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(b.data);
    deja_filter_free(f);
}

static void a_file_that_was_not_synced_is_refused(void **state)
{
    const struct bytes b = read_file(DEJA_TEST_SOURCE_DIR "/tests/format/golden/v1/open.deja");
    refused(&b, DEJA_EBUSY, "not synced");
    free(b.data);
}

/* A header can claim any length; memory is allocated only for bytes that arrive. */
static void a_crafted_length_allocates_no_memory(void **state)
{
    const deja_options huge =
        FIELDS(.kind = DEJA_CLASSIC, .capacity = 1u << 30, .fp_rate = 0.01); /* 1.2 GB */
    deja_options expect = DEJA_OPTIONS_INIT;
    struct dj_plan plan;
    struct dj_header h;
    struct dj_record r = {.sequence = 1, .state = DJ_SEALED};
    uint8_t page[DJ_HEADER_LEN] = {0}, key[DEJA_KEY_LEN] = {0}, some[1000] = {0};
    struct failmem m;
    deja_import *im;
    deja_filter *f;
    assert_int_equal(dj_plan_resolve(&huge, &plan, NULL), DEJA_OK);
    deja_filter *bare = dj_filter_make(&plan, key, NULL);
    bare->n_parts = 1;
    dj_header_of(bare, false, &h);
    dj_header_encode(&h, page);
    dj_record_encode(&r, plan.kind, page, page + dj_record_offset(1));
    dj_filter_unmake(bare);

    failmem_init(&m, 0);
    expect.alloc = &m.hook;
    assert_int_equal(deja_import_new(0, &expect, &im, NULL), DEJA_OK);
    assert_int_equal(deja_import_write(im, page, sizeof page, NULL), DEJA_OK);
    assert_true(deja_import_len(im) > (uint64_t)1 << 30);
    for (int i = 0; i < 5000; i++) /* five megabytes */
        assert_int_equal(deja_import_write(im, some, sizeof some, NULL), DEJA_OK);
    assert_true(m.largest <= (size_t)8 << 20);
    assert_int_equal(deja_import_finish(im, &f, NULL), DEJA_EFORMAT);
    deja_import_free(im);
    /* If all bytes are given at once, the length is checked first. */
    assert_int_equal(deja_filter_import(page, sizeof page, &expect, &f, NULL), DEJA_EFORMAT);
    assert_int_equal(m.live + m.mistakes, 0);
}

static void a_refused_import_stays_refused(void **state)
{
    deja_import *im;
    deja_filter *f;
    const char text[8192] = "no filter";
    assert_int_equal(deja_import_new(0, NULL, &im, NULL), DEJA_OK);
    assert_int_equal(deja_import_finish(im, &f, NULL), DEJA_EFORMAT); /* more bytes may follow */
    assert_int_equal(deja_import_write(im, text, sizeof text, NULL), DEJA_EFORMAT);
    assert_int_equal(deja_import_write(im, text, 1, NULL), DEJA_EFORMAT);
    assert_int_equal(deja_import_finish(im, &f, NULL), DEJA_EFORMAT);
    assert_int_equal(deja_import_len(im), 0);
    deja_import_free(im);
    deja_import_free(NULL);
}

static void a_separate_key_must_be_given(void **state)
{
    uint8_t key[DEJA_KEY_LEN] = {1, 2, 3};
    deja_options opt = FIELDS(.capacity = 1000, .flags = DEJA_KEY_APART, .key = key);
    opt.seed = 0;
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = filled(&opt, N_KEYS), *g;
    const struct bytes b = exported(f);
    refused(&b, DEJA_EMISMATCH, "does not contain its secret key");
    expect.key = key;
    g = imported(&b, &expect);
    assert_same(f, g);
    deja_filter_free(g);
    /* The key that options point to is borrowed for one call only. */
    uint8_t borrowed[DEJA_KEY_LEN];
    deja_import *im;
    memcpy(borrowed, key, sizeof key);
    expect.key = borrowed;
    assert_int_equal(deja_import_new(0, &expect, &im, NULL), DEJA_OK);
    memset(borrowed, 0, sizeof borrowed);
    assert_int_equal(deja_import_write(im, b.data, b.len, NULL), DEJA_OK);
    assert_int_equal(deja_import_finish(im, &g, NULL), DEJA_OK);
    deja_import_free(im);
    deja_filter_free(g);
    expect.key = borrowed; /* zeros */
    assert_int_equal(deja_filter_import(b.data, b.len, &expect, &g, NULL), DEJA_EMISMATCH);
    deja_filter_free(f);
    free(b.data);
}

static void an_unexpected_kind_is_refused(void **state)
{
    const deja_options expect = {.size = sizeof expect, .kind = DEJA_EXACT};
    deja_error err = {0, ""};
    deja_filter *f = filled(&every[3].opt, 5), *g;
    const struct bytes b = exported(f);
    assert_int_equal(deja_filter_import(b.data, b.len, &expect, &g, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "blocked"));
    deja_filter_free(f);
    free(b.data);
}

static void no_memory_leaves_nothing_behind(void **state)
{
    deja_filter *f = filled(&every[5].opt, N_KEYS);
    const struct bytes b = exported(f);
    int rc = DEJA_ENOMEM;
    for (size_t at = 1; rc != DEJA_OK && at < 100; at++) {
        struct failmem m;
        deja_options expect = DEJA_OPTIONS_INIT;
        deja_filter *g;
        failmem_init(&m, at);
        expect.alloc = &m.hook;
        rc = deja_filter_import(b.data, b.len, &expect, &g, NULL);
        if (rc == DEJA_OK) {
            assert_same(f, g);
            deja_filter_free(g);
        } else {
            assert_int_equal(rc, DEJA_ENOMEM);
        }
        assert_int_equal(m.live + m.mistakes, 0);
    }
    assert_int_equal(rc, DEJA_OK);
    deja_filter_free(f);
    free(b.data);
}

/* --- Stats without the body ------------------------------------------------------------------- */

static void stats_without_the_body_agree_with_stats_of_it(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++) {
        deja_filter *f = filled(&every[i].opt, N_KEYS);
        deja_stats o = DEJA_STATS_INIT, s = DEJA_STATS_INIT;
        for (uint64_t key = 0; key < 10; key++) /* if the kind can */
            (void)!deja_filter_remove(f, key_of(&key), NULL, NULL);
        assert_int_equal(deja_filter_stats(f, 0, &o, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_int_equal(o.kind, s.kind);
        assert_int_equal(o.part_kind, s.part_kind);
        assert_int_equal(o.parts, s.parts);
        assert_int_equal(o.filters, s.filters);
        assert_int_equal(o.hash, s.hash);
        assert_int_equal(o.hashes, s.hashes);
        assert_int_equal(o.capacity, s.capacity);
        assert_int_equal(o.bytes, s.bytes);
        assert_int_equal(o.offered, s.offered);
        assert_int_equal(o.keys, s.keys);
        assert_int_equal(o.entries, s.keys + s.deletions);
        assert_int_equal(o.entries, s.entries);
        assert_int_equal(o.growth, s.growth);
        assert_int_equal(o.flags, s.flags);
        assert_int_equal(o.visit, s.visit);
        assert_int_equal(o.growth, every[i].opt.kind == DEJA_SCALABLE ? 2 : 0);
        assert_int_equal(o.keyed, 0);
        assert_true(isnan(o.fill) && isnan(o.fp_now) && isnan(o.lost) && isnan(o.missed));
        assert_int_equal(o.bits_set, 0);
        deja_filter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_export_is_imported_unchanged),
        cmocka_unit_test(an_export_written_to_disk_is_a_file),
        cmocka_unit_test(copies_count_keys_that_were_not_synced),
        cmocka_unit_test(a_file_is_imported_like_an_export),
        cmocka_unit_test(pieces_of_any_length_make_the_same_filter),
        cmocka_unit_test(every_wrong_length_is_refused),
        cmocka_unit_test(every_flipped_bit_is_detected),
        cmocka_unit_test(a_file_that_was_not_synced_is_refused),
        cmocka_unit_test(a_crafted_length_allocates_no_memory),
        cmocka_unit_test(a_refused_import_stays_refused),
        cmocka_unit_test(a_separate_key_must_be_given),
        cmocka_unit_test(an_unexpected_kind_is_refused),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
        cmocka_unit_test(stats_without_the_body_agree_with_stats_of_it),
    };
    return cmocka_run_group_tests_name("import", tests, scratch_open, scratch_close);
}
