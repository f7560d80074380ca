/* test_golden.c - files that an earlier deja wrote are read correctly, and would be written the
 * same today. */
#include "core/url/idna.h"
#include "deja.h"
#include "doubles.h"
#include "golden.h"
#include "scratch.h"
#include "unit.h"

#define HEADER_LEN 4096
#define RECORD_A   3072
#define RECORD_LEN 512
#define MAX_KEYS   200

/* What deja_filter_stats and deja_plan_make returned when the files were made. */
struct pinned {
    uint32_t kind, part_kind, hash, filters, hashes, parts;
    uint64_t capacity, bits, bytes, bits_set, keys, offered, syncs;
    double fp_rate;
    uint64_t first_bits; /* the plan: of the first parts */
    uint32_t first_hashes;
};

static const struct pinned pins_1[] = {
    /* tiny */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 4, 1, 96, 1024, 128, 4, 1, 1, 1, 0.01, 1024,
     4},
    /* blocked */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 525, 119, 120, 1, 0.01,
     2048, 5},
    /* classic */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 7, 1, 200, 1920, 256, 672, 120, 120, 1, 0.01,
     1920, 7},
    /* classic_3_jenkins */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_JENKINS, 3, 3, 3, 200, 3072, 384, 914, 120, 120, 1,
     0.001, 3072, 3},
    /* mixed */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_MIXED, 1, 6, 1, 200, 1984, 256, 598, 120, 120, 1, 0.01,
     1984, 6},
    /* exact */
    {DEJA_EXACT, DEJA_EXACT, DEJA_HASH_XXH3, 1, 1, 1, 200, 256, 2048, 120, 120, 120, 1, 1e-06,
     16384, 1},
    /* scalable */
    {DEJA_SCALABLE, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 4, 3, 140, 3072, 384, 386, 119, 120, 1, 0.01,
     512, 3},
    /* key_apart */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 522, 120, 120, 1, 0.01,
     2048, 5},
    /* siphash */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_SIPHASH, 1, 5, 1, 200, 2048, 256, 530, 120, 120, 1,
     0.01, 2048, 5},
    /* open */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 514, 0, 80, 1, 0.01,
     2048, 5},
    /* static */
    {DEJA_STATIC, DEJA_STATIC, DEJA_HASH_XXH3, 1, 3, 1, 120, 3072, 384, 1920, 120, 120, 1, 1e-4,
     3072, 3},
    /* folded */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 16, 1, 200, 2048, 256, 1236, 120, 120, 2,
     0.03129512546049438, 8192, 16},
    /* rotated */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_XXH3, 2, 2, 2, 400, 2048, 256, 421, 120, 120, 3, 0.1,
     256, 1},
    /* spectral */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 1, 5, 1, 200, 2176, 1088, 522, 120, 120, 1,
     0.01, 8704, 5},
    /* spectral_2_of_8 */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 2, 4, 2, 200, 3328, 3328, 839, 120, 120, 1,
     0.001, 26624, 4},
    /* paired */
    {DEJA_PAIRED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 2, 200, 2560, 320, 649, 90, 120, 1, 0.01,
     2560, 5},
    /* window */
    {DEJA_WINDOW, DEJA_WINDOW, DEJA_HASH_XXH3, 1, 4, 1, 150, 4096, 512, 446, 120, 120, 1, 0.01,
     4096, 4},
    /* window_time */
    {DEJA_WINDOW, DEJA_WINDOW, DEJA_HASH_XXH3, 1, 4, 1, 150, 4096, 512, 427, 120, 120, 1, 0.01,
     4096, 4},
    /* layered */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 10, 6, 200, 8000, 1024, 2054, 120, 120, 1,
     0.001, 16704, 10},
    /* layered_paper */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_SIPHASH, 1, 10, 4, 200, 11520, 1536, 3009, 120, 120, 1,
     0.001, 25920, 10},
    /* layered_words */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 9, 3, 300, 8448, 1088, 2099, 120, 120, 3,
     0.001, 12096, 10},
};

static const struct pinned pins_2[] = {
    /* tiny */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 4, 1, 96, 1024, 128, 4, 1, 1, 1, 0.01, 1024,
     4},
    /* blocked */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 520, 119, 120, 1, 0.01,
     2048, 5},
    /* classic */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 7, 1, 200, 1920, 256, 679, 120, 120, 1, 0.01,
     1920, 7},
    /* classic_3_jenkins */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_JENKINS, 3, 3, 3, 200, 3072, 384, 906, 120, 120, 1,
     0.001, 3072, 3},
    /* mixed */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_MIXED, 1, 6, 1, 200, 1984, 256, 593, 120, 120, 1, 0.01,
     1984, 6},
    /* exact */
    {DEJA_EXACT, DEJA_EXACT, DEJA_HASH_XXH3, 1, 1, 1, 200, 256, 2048, 120, 120, 120, 1,
     9.9999999999999995e-07, 16384, 1},
    /* scalable */
    {DEJA_SCALABLE, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 4, 3, 140, 3072, 384, 389, 120, 120, 1, 0.01,
     512, 3},
    /* key_apart */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 519, 120, 120, 1, 0.01,
     2048, 5},
    /* siphash */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_SIPHASH, 1, 5, 1, 200, 2048, 256, 530, 120, 120, 1,
     0.01, 2048, 5},
    /* open */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 1, 200, 2048, 256, 505, 0, 80, 1, 0.01,
     2048, 5},
    /* static */
    {DEJA_STATIC, DEJA_STATIC, DEJA_HASH_XXH3, 1, 3, 1, 120, 3072, 384, 1920, 120, 120, 1, 0.0001,
     3072, 3},
    /* folded */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 16, 1, 200, 2048, 256, 1249, 120, 120, 2,
     0.031295125460494379, 8192, 16},
    /* rotated */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_XXH3, 2, 2, 2, 400, 2048, 256, 423, 120, 120, 3,
     0.10000000000000001, 256, 1},
    /* spectral */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 1, 5, 1, 200, 2176, 1088, 523, 120, 120, 1,
     0.01, 8704, 5},
    /* spectral_2_of_8 */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 2, 4, 2, 200, 3328, 3328, 844, 120, 120, 1,
     0.001, 26624, 4},
    /* paired */
    {DEJA_PAIRED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 5, 2, 200, 2560, 320, 646, 90, 120, 1, 0.01,
     2560, 5},
    /* window */
    {DEJA_WINDOW, DEJA_WINDOW, DEJA_HASH_XXH3, 1, 4, 1, 150, 4096, 512, 446, 120, 120, 1, 0.01,
     4096, 4},
    /* window_time */
    {DEJA_WINDOW, DEJA_WINDOW, DEJA_HASH_XXH3, 1, 4, 1, 150, 4096, 512, 423, 120, 120, 1, 0.01,
     4096, 4},
    /* layered */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 10, 6, 200, 8000, 1024, 2038, 120, 120, 1,
     0.001, 16704, 10},
    /* layered_paper */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_SIPHASH, 1, 10, 4, 200, 11520, 1536, 2991, 120, 120, 1,
     0.001, 25920, 10},
    /* layered_words */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 9, 3, 300, 8448, 1088, 2102, 120, 120, 3,
     0.001, 12096, 10},
    /* multiplier */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_MURMUR2, 1, 3, 1, 200, 2112, 320, 328, 120, 120, 1,
     0.015133818102182926, 2112, 3},
    /* layered_literal */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 7, 4, 200, 7680, 1024, 2071, 120, 120, 1, 0.01,
     9600, 7},
    /* layered_power_of_2 */
    {DEJA_LAYERED, DEJA_CLASSIC, DEJA_HASH_XXH3, 1, 7, 4, 200, 8192, 1024, 2100, 120, 120, 1, 0.01,
     10240, 7},
    /* exact_dates */
    {DEJA_EXACT, DEJA_EXACT, DEJA_HASH_XXH3, 1, 1, 1, 200, 252, 2688, 120, 120, 160, 1,
     9.9999999999999995e-07, 21504, 1},
    /* scalable_dates */
    {DEJA_SCALABLE, DEJA_EXACT, DEJA_HASH_XXH3, 1, 1, 3, 140, 186, 1984, 120, 120, 160, 1,
     9.9999999999999995e-07, 2560, 1},
    /* static_except */
    {DEJA_STATIC, DEJA_STATIC, DEJA_HASH_XXH3, 1, 3, 2, 120, 1536, 320, 960, 120, 120, 1, 0.01,
     1536, 3},
    /* merged */
    {DEJA_SCALABLE, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 9, 4, 250, 11264, 1408, 965, 120, 120, 1,
     1e-4, 1024, 9},
    /* exact_marks */
    {DEJA_EXACT, DEJA_EXACT, DEJA_HASH_XXH3, 1, 1, 1, 26300, 32880, 263040, 120, 120, 120, 1,
     1e-06, 2104320, 1},
    /* pieces */
    {DEJA_CLASSIC, DEJA_CLASSIC, DEJA_HASH_XXH3, 2, 3, 2, 1000000, 9616768, 1202176, 720, 120, 120,
     1, 0.01, 9616768, 3},
    /* two_lines */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 12, 1, 200, 7168, 896, 1311, 120, 120, 1, 1e-6,
     7168, 12},
    /* three_lines */
    {DEJA_BLOCKED, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 18, 1, 200, 10752, 1344, 1956, 120, 120, 1,
     1e-9, 10752, 18},
    /* more_lines */
    {DEJA_SCALABLE, DEJA_BLOCKED, DEJA_HASH_XXH3, 1, 14, 3, 140, 3584, 448, 1181, 120, 120, 1,
     6e-5, 512, 9},
    /* spread */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 1, 7, 1, 200, 1920, 960, 693, 120, 120, 1, 0.01,
     7680, 7},
    /* spread_2_of_16 */
    {DEJA_SPECTRAL, DEJA_SPECTRAL, DEJA_HASH_XXH3, 2, 5, 2, 200, 2880, 5760, 973, 120, 120, 1,
     0.001, 46080, 5},
};

/* Every test runs for the files of every format. */
static unsigned format;

static const struct pinned *pinned_of(const struct golden *g)
{
    return &(format == 1 ? pins_1 : pins_2)[g - goldens];
}

/* --- Keys ---------------------------------------------------------------- */

struct keys {
    struct bytes text;
    deja_slice key[MAX_KEYS];
    size_t n;
};

static struct keys members, strangers;

static const char *golden_path(const char *name, const char *ending)
{
    static char path[2][512];
    static unsigned turn;
    char *p = path[turn++ % 2];
    snprintf(p, sizeof path[0], "%s/tests/format/golden/v%u/%s%s", DEJA_TEST_SOURCE_DIR, format,
             name, ending);
    return p;
}

static void read_keys(struct keys *k, const char *name)
{
    k->text = read_file(golden_path(name, ".txt"));
    const char *at = (const char *)k->text.data, *end = at + k->text.len;
    for (const char *eol; at < end; at = eol + 1) {
        eol = memchr(at, '\n', (size_t)(end - at));
        MUST(eol && k->n < MAX_KEYS);
        k->key[k->n++] = (deja_slice){at, (size_t)(eol - at)};
    }
}

static int read_all_keys(void **state)
{
    members.n = strangers.n = 0;
    read_keys(&members, "members");
    read_keys(&strangers, "strangers");
    return scratch_open(state);
}

static int drop_all_keys(void **state)
{
    free(members.text.data);
    free(strangers.text.data);
    return scratch_close(state);
}

/* --- Files --------------------------------------------------------------- */

static deja_options expected(const struct golden *g)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    expect.key = g->seed ? NULL : golden_key_apart;
    return expect;
}

static deja_filter *open_at(const char *path, const struct golden *g, unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    const deja_options expect = expected(g);
    if (deja_filter_open(path, flags, &expect, &f, &err) < 0)
        fail_msg("%s", err.text);
    if (g->clock)
        assert_int_equal(deja_filter_set_clock(f, g->clock, NULL), DEJA_OK);
    return f;
}

static deja_filter *open_golden(const struct golden *g)
{
    return open_at(golden_path(g->name, ".deja"), g, 0);
}

static size_t member_count(const struct golden *g)
{
    return g->synced - g->removed + g->late; /* without `late`, the last ones were removed */
}

static void holds_its_members_and_no_strangers(deja_filter *f, const struct golden *g)
{
    for (size_t i = 0; i < member_count(g); i++)
        if (!deja_filter_contains(f, members.key[i]))
            fail_msg("%s lost member %zu", g->name, i);
    for (size_t i = member_count(g); g->removed && i < g->synced; i++)
        if (deja_filter_contains(f, members.key[i]))
            fail_msg("%s claims member %zu, which was removed", g->name, i);
    for (size_t i = 0; i < strangers.n; i++)
        if (deja_filter_contains(f, strangers.key[i]))
            fail_msg("%s claims key %zu, which was never added", g->name, i);
    for (unsigned i = 0; i < g->exceptions; i++) {
        char text[64];
        if (deja_filter_contains(f, golden_exception(i, text)))
            fail_msg("%s claims exception %u", g->name, i);
    }
}

/* --- Tests: each runs for every golden file ------------------------------ */

static void answers_are_as_recorded(void **state)
{
    const struct golden *g = *state;
    deja_filter *f = open_golden(g);
    holds_its_members_and_no_strangers(f, g);
    deja_filter_free(f);
}

static void stats_are_as_recorded(void **state)
{
    const struct golden *g = *state;
    const struct pinned *p = pinned_of(g);
    deja_stats s = DEJA_STATS_INIT;
    deja_filter *f = open_golden(g);
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(s.kind, p->kind);
    assert_int_equal(s.part_kind, p->part_kind);
    assert_int_equal(s.hash, p->hash);
    assert_int_equal(s.filters, p->filters);
    assert_int_equal(s.hashes, p->hashes);
    assert_int_equal(s.parts, p->parts);
    assert_int_equal(s.capacity, p->capacity);
    assert_int_equal(s.bits, p->bits);
    assert_int_equal(s.bytes, p->bytes);
    assert_int_equal(s.bits_set, p->bits_set);
    assert_int_equal(s.offered, p->offered);
    assert_int_equal(s.format, format);
    assert_int_equal(s.syncs, p->syncs);
    assert_true(s.fp_rate >= p->fp_rate && s.fp_rate <= p->fp_rate);
    assert_int_equal(s.visit, g->before ? 2 : 1);
    assert_int_equal(s.visits_before, g->before ? 1 : 0);
    assert_int_equal(s.last_distinct, g->before);
    const bool crowded = g->before > g->capacity; /* rotated: 120 keys, 30 were expected */
    const double lost = crowded ? format == 1 ? 16 : 17 : 0;
    assert_true(s.last_lost >= lost && s.last_lost <= lost);
    assert_int_equal(s.folds, g->folds);
    assert_int_equal(s.unions, g->merged != 0);
    assert_int_equal(s.other_keys, g->merged != 0);
    assert_int_equal(s.removed, g->removed);
    assert_int_equal(s.deletions, g->removed);
    assert_int_equal(s.deletions_capacity, g->deletions);
    assert_int_equal(s.hidden, 0);
    assert_int_equal(s.profile, g->profile);
    assert_int_equal(s.unclean, g->late > 0);
    assert_int_equal((s.flags & DEJA_KEY_APART) != 0, g->seed == 0);
    assert_int_equal(s.keyed, g->seed == 0);
    if (g->late) /* estimated from the bits */
        assert_in_range(s.keys, member_count(g) * 9 / 10, member_count(g) * 11 / 10);
    else
        assert_int_equal(s.keys, p->keys);
}

static void the_plan_is_as_recorded(void **state)
{
    const struct golden *g = *state;
    const struct pinned *p = pinned_of(g);
    const deja_options opt = golden_options(g, format);
    if (g->resized == format)
        return;
    deja_plan plan = DEJA_PLAN_INIT;
    assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
    assert_int_equal(plan.kind, p->kind);
    assert_int_equal(plan.hash, p->hash);
    assert_int_equal(plan.filters, p->filters);
    assert_int_equal(plan.capacity, g->capacity ? g->capacity : p->capacity);
    assert_int_equal(plan.bits, p->first_bits);
    assert_int_equal(plan.hashes, p->first_hashes);
}

static void days_are_as_recorded(void **state)
{
    const struct golden *g = *state;
    deja_filter *f = open_golden(g);
    for (size_t i = 0; g->renewed && i < g->synced; i++) {
        deja_days days;
        assert_int_equal(deja_filter_days(f, members.key[i], &days, NULL), DEJA_OK);
        assert_int_equal(days.first, g->clock / 86400);
        assert_int_equal(days.last, (i < g->renewed ? golden_later(g) : g->clock) / 86400);
    }
    deja_filter_free(f);
}

static void verify_describes_the_file(void **state)
{
    const struct golden *g = *state;
    deja_error err = {0};
    assert_int_equal(deja_file_verify(golden_path(g->name, ".deja"), &err),
                     g->late ? DEJA_EBUSY : DEJA_OK);
}

static void take_keys(deja_filter *f, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        assert_int_equal(deja_filter_add(f, members.key[i], NULL, NULL), DEJA_OK);
}

static deja_filter *build(const struct golden *g, const char *path)
{
    const deja_options opt = golden_options(g, format);
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    assert_int_equal(deja_builder_new(&opt, &b, NULL), DEJA_OK);
    assert_int_equal(deja_builder_add_batch(b, members.key, g->synced, NULL), DEJA_OK);
    for (unsigned i = 0; i < g->exceptions; i++) {
        char text[64];
        const deja_slice key = golden_exception(i, text);
        assert_int_equal(deja_builder_except_batch(b, &key, 1, 0, NULL), DEJA_OK);
    }
    assert_int_equal(deja_builder_finish(b, path, 0, &f, NULL), DEJA_OK);
    deja_builder_free(b);
    return f;
}

/* Writes the file as make_golden.c did. */
static void merge_second(deja_filter *f, const struct golden *g)
{
    const deja_options opt = golden_second(g, format);
    deja_filter *second = NULL;
    assert_int_equal(deja_filter_new(&opt, &second, NULL), DEJA_OK);
    take_keys(second, g->synced - g->merged, g->synced);
    assert_int_equal(deja_filter_merge(f, second, NULL), DEJA_OK);
    deja_filter_free(second);
}

/* As make_golden.c did. */
static void write_again(const struct golden *g, const char *path)
{
    deja_filter *f = NULL;
    const deja_options opt = golden_options(g, format);
    if (g->kind == DEJA_STATIC)
        f = build(g, path);
    else
        assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    if (g->clock)
        assert_int_equal(deja_filter_set_clock(f, g->clock, NULL), DEJA_OK);
    if (g->before) {
        const deja_options next = golden_next(g);
        take_keys(f, 0, g->before);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_rotate(f, &next, NULL), DEJA_OK);
    }
    if (g->kind != DEJA_STATIC)
        take_keys(f, 0, g->synced - g->merged);
    if (g->merged)
        merge_second(f, g);
    if (g->renewed) {
        assert_int_equal(deja_filter_set_clock(f, golden_later(g), NULL), DEJA_OK);
        take_keys(f, 0, g->renewed);
    }
    for (size_t i = g->synced - g->removed; i < g->synced; i++)
        assert_int_equal(deja_filter_remove(f, members.key[i], NULL, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    if (g->folds)
        assert_int_equal(deja_filter_fold(f, g->folds, NULL), DEJA_OK);
    if (g->late) {
        deja_filter_free(f);
        f = open_at(path, g, DEJA_OPEN_WRITE);
        take_keys(f, g->synced, member_count(g));
    }
    deja_filter_free(f);
}

/* Compares everything except the time of day and its checksum. */
static void record_is_equal(const uint8_t *a, const uint8_t *b)
{
    assert_memory_equal(a, b, 32);
    assert_memory_equal(a + 40, b + 40, RECORD_LEN - 40 - 8);
}

/* The rate of a folded filter is computed, not given: another libm may differ in its last bit, and
 * so do all checksums over it. */
static void settle_rate(uint8_t *now, const uint8_t *then)
{
    static const size_t rates[] = {40, 512 + 24};
    for (size_t i = 0; i < 2; i++) {
        const double a = dj_load_double(now + rates[i]), b = dj_load_double(then + rates[i]);
        assert_true(a > b * (1 - 1e-12) && a < b * (1 + 1e-12));
        memcpy(now + rates[i], then + rates[i], 8);
    }
    memcpy(now + 2560, then + 2560, 8);
    memcpy(now + RECORD_A + 296, then + RECORD_A + 296, 8);
}

static void writing_it_again_gives_the_same_bytes(void **state)
{
    const struct golden *g = *state;
    const char *path = scratch_path(g->name);
    if (g->resized == format)
        return;
    if (g->profile && !dj_idna_here()) /* a new format has different rules */
        skip();
    write_again(g, path);
    const struct bytes now = read_file(path), then = read_file(golden_path(g->name, ".deja"));
    assert_int_equal(now.len, then.len);
    if (g->folds)
        settle_rate(now.data, then.data);
    assert_memory_equal(now.data, then.data, RECORD_A);
    record_is_equal(now.data + RECORD_A, then.data + RECORD_A);
    record_is_equal(now.data + RECORD_A + RECORD_LEN, then.data + RECORD_A + RECORD_LEN);
    assert_memory_equal(now.data + HEADER_LEN, then.data + HEADER_LEN, now.len - HEADER_LEN);
    free(now.data);
    free(then.data);
    unlink(path);
}

static void the_file_accepts_more_keys(void **state)
{
    const struct golden *g = *state;
    const struct bytes old = read_file(golden_path(g->name, ".deja"));
    const char *path = scratch_path(g->name);
    write_file(path, old.data, old.len);
    free(old.data);
    deja_filter *f = open_at(path, g, DEJA_OPEN_WRITE);
    bool is_new = true;
    if (g->kind == DEJA_STATIC) {
        assert_int_equal(deja_filter_add(f, strangers.key[0], NULL, NULL), DEJA_ENOTSUP);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        unlink(path);
        return;
    }
    assert_int_equal(deja_filter_add(f, members.key[0], &is_new, NULL), DEJA_OK);
    assert_false(is_new);
    assert_int_equal(deja_filter_add(f, strangers.key[0], &is_new, NULL), DEJA_OK);
    assert_true(is_new);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    f = open_at(path, g, 0);
    assert_true(deja_filter_contains(f, strangers.key[0]));
    for (size_t i = 0; i < member_count(g); i++)
        assert_true(deja_filter_contains(f, members.key[i]));
    deja_filter_free(f);
    unlink(path);
}

/* --- A separate key -------------------------------------------------------- */

static void a_separate_key_is_not_in_the_file(void **state)
{
    const struct bytes b = read_file(golden_path("key_apart", ".deja"));
    assert_null(memmem(b.data, b.len, golden_key_apart, 8));
    free(b.data);
}

static void a_separate_key_is_required_and_compared(void **state)
{
    const char *path = golden_path("key_apart", ".deja");
    uint8_t wrong[DEJA_KEY_LEN];
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    assert_int_equal(deja_filter_open(path, 0, NULL, &f, &err), DEJA_EMISMATCH);
    assert_null(f);
    memcpy(wrong, golden_key_apart, sizeof wrong);
    wrong[DEJA_KEY_LEN - 1] ^= 1;
    expect.key = wrong;
    assert_int_equal(deja_filter_open(path, 0, &expect, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "key"));
}

static void the_error_for_another_kind_hash_or_profile_names_it(void **state)
{
    const char *path = golden_path("exact", ".deja");
    deja_options kind = DEJA_OPTIONS_INIT, hash = DEJA_OPTIONS_INIT, profile = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    kind.kind = DEJA_BLOCKED;
    assert_int_equal(deja_filter_open(path, 0, &kind, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "exact"));
    assert_non_null(strstr(err.text, "blocked"));
    hash.hash = DEJA_HASH_SIPHASH;
    assert_int_equal(deja_filter_open(path, 0, &hash, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "xxh3"));
    assert_non_null(strstr(err.text, "siphash"));
    profile.url = deja_url_profile(DEJA_URL_GSB);
    assert_int_equal(deja_filter_open(path, 0, &profile, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "crawl"));
    assert_non_null(strstr(err.text, "gsb"));
    assert_int_equal(deja_filter_open(golden_path("blocked", ".deja"), 0, &profile, &f, &err),
                     DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "bytes as given"));
}

static void another_seed_is_refused(void **state)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    expect.seed = 15; /* of "exact" */
    assert_int_equal(deja_filter_open(golden_path("exact", ".deja"), 0, &expect, &f, &err),
                     DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_filter_open(golden_path("key_apart", ".deja"), 0, &expect, &f, &err),
                     DEJA_EMISMATCH);
    expect.seed = 16;
    assert_int_equal(deja_filter_open(golden_path("exact", ".deja"), 0, &expect, &f, &err),
                     DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "seed 16"));
}

static void the_same_profile_with_other_parameters_is_refused(void **state)
{
    const char *path = golden_path("exact", ".deja");
    const deja_slice name = {"session", 7};
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_url_rules *rules = NULL;
    deja_filter *f = NULL;
    deja_error err = {0};
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, &name, 1, NULL, 0, &rules, &err),
                     DEJA_OK);
    expect.url = rules;
    assert_int_equal(deja_filter_open(path, 0, &expect, &f, &err), DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "parameters"));
    deja_url_rules_free(rules);
}

/* A build without IDNA gives some URLs a different form, and all rules a different id.  So does
 * the next version of the profile. */
static void the_same_rules_are_accepted_by_a_build_with_the_same_idna(void **state)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    deja_error err = {0};
    expect.url = deja_url_profile(DEJA_URL_CRAWL);
    assert_int_equal(deja_filter_open(golden_path("exact", ".deja"), 0, &expect, &f, &err),
                     DEJA_EMISMATCH);
    assert_non_null(strstr(err.text, "another version of the profile"));
    expect.url = deja_url_rules_older(expect.url);
    assert_int_equal(deja_filter_open(golden_path("exact", ".deja"), 0, &expect, &f, &err),
                     dj_idna_here() ? DEJA_OK : DEJA_EMISMATCH);
    deja_filter_free(f);
}

/* --- The list ------------------------------------------------------------ */

#define FOR_EACH_FILE(test)                                                                       \
    {                                                                                             \
#test, test                                                                               \
    }

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction test;
    } for_each[] = {
        FOR_EACH_FILE(answers_are_as_recorded),
        FOR_EACH_FILE(stats_are_as_recorded),
        FOR_EACH_FILE(the_plan_is_as_recorded),
        FOR_EACH_FILE(days_are_as_recorded),
        FOR_EACH_FILE(verify_describes_the_file),
        FOR_EACH_FILE(the_file_accepts_more_keys),
        FOR_EACH_FILE(writing_it_again_gives_the_same_bytes),
    };
    enum {
        SENTENCES = sizeof for_each / sizeof for_each[0],
        ALONE = 6
    };
    static char names[SENTENCES * N_GOLDEN][80];
    int failed = 0;
    struct CMUnitTest tests[SENTENCES * N_GOLDEN + ALONE] = {
        cmocka_unit_test(a_separate_key_is_not_in_the_file),
        cmocka_unit_test(a_separate_key_is_required_and_compared),
        cmocka_unit_test(the_error_for_another_kind_hash_or_profile_names_it),
        cmocka_unit_test(another_seed_is_refused),
        cmocka_unit_test(the_same_profile_with_other_parameters_is_refused),
        cmocka_unit_test(the_same_rules_are_accepted_by_a_build_with_the_same_idna),
    };
    for (format = 1; format <= 2; format++) {
        char group[32];
        size_t n = ALONE;
        for (size_t g = 0; g < N_GOLDEN; g++)
            for (size_t s = 0; goldens[g].since <= format && s < SENTENCES; s++, n++) {
                char *name = names[n - ALONE];
                snprintf(name, sizeof names[0], "v%u %s.%s", format, goldens[g].name,
                         for_each[s].name);
                tests[n] = (struct CMUnitTest){name, for_each[s].test, NULL, NULL,
                                               (void *)(uintptr_t)&goldens[g]};
            }
        snprintf(group, sizeof group, "format.golden v%u", format);
        failed += _cmocka_run_group_tests(group, tests, n, read_all_keys, drop_all_keys);
    }
    return failed;
}
