/* test_formats.c - a filter keeps the format that it was made with.
 *
 * The format selects the hash functions, so a filter that changed its format would no longer find
 * its keys.  Every operation that makes a new header is tried with both formats. */
#include "unit.h"

#define EVERY .seed = 7,
#include "calls.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "numbered.h"
#include "options.h"
#include "scratch.h"

#define AT_VERSION 8
#define AT_RULES   140
#define N_KEYS     500

static const struct {
    const char *name;
    deja_options opt;
} every[] = {
    {"blocked", FIELDS(.memory = 8192, .capacity = N_KEYS)},
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = N_KEYS)},
    {"jenkins",
     FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = N_KEYS, .hash = DEJA_HASH_JENKINS)},
    {"spectral", FIELDS(.kind = DEJA_SPECTRAL, .capacity = N_KEYS)},
    {"paired", FIELDS(.kind = DEJA_PAIRED, .capacity = N_KEYS)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 50)},
    {"window", FIELDS(.kind = DEJA_WINDOW, .capacity = N_KEYS)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = N_KEYS)},
    {"layered", FIELDS(.kind = DEJA_LAYERED, .capacity = N_KEYS)},
    {"layered paper",
     FIELDS(.kind = DEJA_LAYERED, .capacity = N_KEYS, .flags = DEJA_LAYERED_PAPER)},
};

static void page_has(const uint8_t *page, uint64_t format, const char *name)
{
    if (dj_load32(page + AT_VERSION) != format || dj_load32(page + AT_RULES) != format - 1)
        fail_msg("%s of format %u has version %u and rules %u", name, (unsigned)format,
                 dj_load32(page + AT_VERSION), dj_load32(page + AT_RULES));
}

static void file_has(const char *path, uint64_t format, const char *name)
{
    const struct bytes b = read_file(path);
    page_has(b.data, format, name);
    free(b.data);
}

static void filter_has(const deja_filter *f, uint64_t format, const char *name)
{
    uint8_t page[4096];
    assert_int_equal(stats_of(f).format, format);
    assert_int_equal(deja_filter_export(f, 0, page, sizeof page), sizeof page);
    page_has(page, format, name);
    assert_int_equal(missing(f, 0, N_KEYS), 0);
}

static const char *filled(const char *name, deja_options opt, uint64_t format)
{
    const char *path = scratch_path(name);
    opt.format = format;
    deja_filter *f = create_file(path, 0, &opt);
    add_keys(f, 0, N_KEYS);
    sync_file(f);
    deja_filter_free(f);
    return path;
}

/* The file is created, reopened, grown, copied, exported and imported. */
static void a_file_keeps_its_format(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++)
        for (uint64_t format = 1; format <= 2; format++) {
            const char *name = every[i].name, *copy = scratch_path("copy");
            const char *path = filled("file", every[i].opt, format);
            file_has(path, format, name);
            deja_filter *f = open_file(path, DEJA_OPEN_WRITE), *g = NULL;
            filter_has(f, format, name);
            assert_int_equal(deja_filter_copy(f, copy, 0, &g, NULL), DEJA_OK);
            sync_file(g);
            deja_filter_free(g);
            file_has(copy, format, name);
            const uint64_t len = deja_filter_export_len(f);
            uint8_t *image = malloc(len);
            MUST(image && deja_filter_export(f, 0, image, len) == len);
            assert_int_equal(deja_filter_import(image, len, NULL, &g, NULL), DEJA_OK);
            filter_has(g, format, name);
            deja_filter_free(g);
            free(image);
            deja_filter_free(f);
            unlink(path);
            unlink(copy);
        }
}

static void a_rotated_file_keeps_its_format(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(every); i++)
        for (uint64_t format = 1; format <= 2; format++) {
            const char *path = filled("file", every[i].opt, format);
            deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
            assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
            add_keys(f, 0, N_KEYS);
            filter_has(f, format, every[i].name);
            sync_file(f);
            deja_filter_free(f);
            file_has(path, format, every[i].name);
            unlink(path);
        }
}

static void a_folded_file_keeps_its_format(void **state)
{
    for (size_t i = 0; i < 3; i++) /* the kinds that fold */
        for (uint64_t format = 1; format <= 2; format++) {
            const char *path = filled("file", every[i].opt, format);
            deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
            assert_int_equal(deja_filter_fold(f, 1, NULL), DEJA_OK);
            filter_has(f, format, every[i].name);
            deja_filter_free(f);
            file_has(path, format, every[i].name);
            unlink(path);
        }
}

static void new_filters_have_the_newest_format_and_unknown_ones_are_refused(void **state)
{
    deja_options opt = OPTIONS(.capacity = 10);
    deja_error err = {0, ""};
    deja_filter *f = new_filter(opt);
    assert_int_equal(stats_of(f).format, 2);
    deja_filter_free(f);
    opt.format = 3;
    assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_EVERSION);
    assert_non_null(strstr(err.text, "format is 3"));
}

static void an_unexpected_format_is_refused(void **state)
{
    const char *path = filled("file", every[0].opt, 1);
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_error err = {0, ""};
    deja_filter *f = NULL;
    expect.format = 2;
    assert_int_equal(deja_filter_open(path, 0, &expect, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "was made with options.format 1, not 2"));
    expect.format = 1;
    assert_int_equal(deja_filter_open(path, 0, &expect, &f, &err), DEJA_OK);
    deja_filter_free(f);
    unlink(path);
}

/* A union of filters with different hash functions would miss keys of one of them. */
static void formats_are_united_only_if_hashes_are_the_same(void **state)
{
    static const bool changed[] = {
        [DEJA_HASH_XXH3] = true,    [DEJA_HASH_SIPHASH] = false, [DEJA_HASH_JENKINS] = true,
        [DEJA_HASH_MURMUR2] = true, [DEJA_HASH_MURMUR3] = false, [DEJA_HASH_MD5] = false,
        [DEJA_HASH_SHA1] = false,   [DEJA_HASH_MIXED] = true,
    };
    for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_MIXED; hash++) {
        deja_options opt = OPTIONS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = N_KEYS,
                                   .hashes = 5, .hash = hash);
        deja_error err = {0, ""};
        double common;
        deja_filter *a = new_filter(opt);
        opt.format = 1;
        deja_filter *b = new_filter(opt);
        add_keys(a, 0, N_KEYS / 2);
        add_keys(b, N_KEYS / 2, N_KEYS);
        const int rc = deja_filter_merge(a, b, &err);
        assert_int_equal(rc, changed[hash] ? DEJA_EMISMATCH : DEJA_OK);
        assert_int_equal(deja_filter_overlap(a, b, &common, NULL, &err), rc);
        if (changed[hash])
            assert_non_null(strstr(err.text, "differ in format: 2 and 1"));
        else
            assert_int_equal(missing(a, 0, N_KEYS), 0);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_keeps_its_format),
        cmocka_unit_test(a_rotated_file_keeps_its_format),
        cmocka_unit_test(a_folded_file_keeps_its_format),
        cmocka_unit_test(new_filters_have_the_newest_format_and_unknown_ones_are_refused),
        cmocka_unit_test(an_unexpected_format_is_refused),
        cmocka_unit_test(formats_are_united_only_if_hashes_are_the_same),
    };
    return cmocka_run_group_tests_name("formats", tests, scratch_open, scratch_close);
}
