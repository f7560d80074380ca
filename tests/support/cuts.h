/* cuts.h - every operation that changes a file, with a power cut at every point.
 *
 * A scenario states a promise: these keys, in this visit.  During a step that will change the
 * promise (another visit, another file), the state after it is as valid as the one before.  After
 * every call that changes the device, and between adds, the test draws some of the states that a
 * power cut could leave (disk.h) and opens each.  The file must hold the promised keys, its
 * checksums must be right or it must report that it was in use, and a writer must be able to
 * continue with it.  A state with a torn sector, which devices promise not to leave, is opened or
 * rejected with a message, and then repaired; the promised keys are there in either case.
 *
 * Errors are recorded and reported when the scenario is over: cmocka cannot leave a library call
 * halfway. */
#ifndef CUTS_H
#define CUTS_H
#include "deja.h"
#include "disk.h"
#include "numbered.h"
#include <inttypes.h>

struct promise {
    bool exists;
    uint64_t visit, from, to; /* keys from .. to - 1 */
};

static struct cuts {
    struct promise now, next; /* next.visit 0: no other state is valid */
    unsigned per_point;
    char folder[300], path[320]; /* where states are created */
    char wrong[600];
    uint64_t points, states, absent, torn, refused;
} cuts;

/* --- Judging a state ------------------------------------------------------------ */

static __attribute__((format(printf, 1, 2))) void wrong(const char *fmt, ...)
{
    va_list ap;
    if (cuts.wrong[0])
        return; /* only the first error is reported */
    const int n = snprintf(cuts.wrong, sizeof cuts.wrong, "state %" PRIu64 ": ", cuts.states);
    va_start(ap, fmt);
    vsnprintf(cuts.wrong + n, sizeof cuts.wrong - (size_t)n, fmt, ap);
    va_end(ap);
}

static bool keeps(const struct promise *p, const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    if (deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) < 0 || s.visit != p->visit)
        return false;
    for (uint64_t i = p->from; i < p->to; i++)
        if (!deja_filter_contains(f, key_of(&i)))
            return false;
    return true;
}

static void judge_filter(deja_filter *f, const char *how)
{
    if (!keeps(&cuts.now, f) && !(cuts.next.visit && keeps(&cuts.next, f)))
        wrong("%s: keys %" PRIu64 " .. %" PRIu64 " of visit %" PRIu64 " are not all there", how,
              cuts.now.from, cuts.now.to, cuts.now.visit);
}

/* A writer opens, adds and syncs, as after any reboot. */
static void go_on(unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    int rc = deja_filter_open(cuts.path, DEJA_OPEN_WRITE | flags, NULL, &f, &err);
    if (rc < 0) {
        wrong("no writer can go on: %s", err.text);
        return;
    }
    deja_stats s = DEJA_STATS_INIT;
    rc = deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL);
    if (rc == DEJA_OK && s.kind != DEJA_STATIC)
        rc = take(f, 1 << 20, (1 << 20) + 5);
    if (rc < 0 || deja_filter_sync(f, &err) < 0)
        wrong("a writer cannot add and sync: %d %s", rc, err.text);
    judge_filter(f, "after a writer");
    deja_filter_free(f);
    if (deja_file_verify(cuts.path, &err) < 0)
        wrong("after a writer: %s", err.text);
}

static void judge(bool torn)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    unsigned flags = 0;
    if (access(cuts.path, F_OK) < 0) {
        cuts.absent++;
        if (cuts.now.exists)
            wrong("the file is gone");
        return;
    }
    const int whole = deja_file_verify(cuts.path, &err);
    if (!torn && whole != DEJA_OK && whole != DEJA_EBUSY)
        wrong("verify: %s", err.text);
    int rc = deja_filter_open(cuts.path, 0, NULL, &f, &err);
    if (rc < 0 && torn && rc == DEJA_EFORMAT && err.text[0]) {
        cuts.refused++;
        flags = DEJA_OPEN_REPAIR;
        rc = deja_filter_open(cuts.path, flags, NULL, &f, &err);
    }
    if (rc < 0) {
        wrong("refused: %s", err.text);
        return;
    }
    judge_filter(f, torn ? "torn" : "opened");
    deja_filter_free(f);
    if (disk_coin(4))
        go_on(flags);
}

static void clear_folder(void)
{
    MUST(nftw(cuts.folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    MUST(mkdir(cuts.folder, 0700) == 0);
}

/* A point where power can fail. */
static void cut_here(void)
{
    cuts.points++;
    for (unsigned i = 0; i < cuts.per_point && !cuts.wrong[0]; i++) {
        const bool torn = disk_cut(cuts.folder);
        cuts.states++;
        cuts.torn += torn;
        judge(torn);
        clear_folder();
    }
}

/* A point between two calls: writes into the mapping may be partly on the device. */
static void cut_between(void)
{
    disk.on = false;
    disk_look();
    cut_here();
    disk.on = true;
}

/* --- Building blocks of a scenario ------------------------------------------------ */

static deja_options options_of(uint32_t kind, uint64_t capacity)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = capacity;
    opt.seed = 1;
    return opt;
}

/* Adds from .. to - 1, with occasional cuts. */
static void add_cutting(deja_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        if (take(f, i, i + 1) < 0)
            wrong("add fails");
        if (disk_coin(16))
            cut_between();
    }
}

/* From now on, the current content is promised. */
static void sync_cutting(deja_filter *f, struct promise then)
{
    deja_error err = {0};
    if (deja_filter_sync(f, &err) < 0)
        wrong("sync: %s", err.text);
    cuts.now = then;
    cuts.next.visit = 0;
    cut_between();
}

static struct promise keys(uint64_t from, uint64_t to)
{
    return (struct promise){true, 1, from, to};
}

static const char *state_path(void)
{
    return scratch_path("live/state.deja");
}

static deja_filter *create(const deja_options *opt, unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_filter_create(state_path(), flags, opt, &f, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    return f;
}

/* --- Scenarios ---------------------------------------------------------------------- */

static void create_add_and_sync(const deja_options *opt)
{
    deja_filter *f = create(opt, 0);
    uint64_t n = 0;
    cuts.next = keys(0, 0); /* it may exist as soon as its sync starts */
    for (int i = 0; i < 4; i++) {
        const uint64_t to = n + 1 + rng_below(&disk.rng, 60);
        add_cutting(f, n, to);
        n = to;
        sync_cutting(f, keys(0, n));
    }
    add_cutting(f, n, n + 20); /* and never synced */
    deja_filter_free(f);
    cut_between();
    f = NULL;
    if (deja_filter_open(state_path(), DEJA_OPEN_WRITE, NULL, &f, NULL) < 0)
        wrong("cannot be opened again");
    else
        sync_cutting(f, keys(0, n + 20));
    deja_filter_free(f);
}

static void of_kind(uint32_t kind)
{
    const deja_options opt = options_of(kind, 1000);
    create_add_and_sync(&opt);
}

static void blocked_adds_and_syncs(void)
{
    of_kind(DEJA_BLOCKED);
}

/* Large enough for a piece table; few keys reach few of its pieces. */
static void a_large_one_adds_and_syncs(void)
{
    deja_options opt = options_of(DEJA_BLOCKED, 1000);
    opt.memory = (1 << 20) + 64;
    create_add_and_sync(&opt);
}

static void classic_adds_and_syncs(void)
{
    deja_options opt = options_of(DEJA_CLASSIC, 500);
    opt.filters = 3;
    opt.fp_rate = 0.001;
    create_add_and_sync(&opt);
}

static void exact_adds_and_syncs(void)
{
    deja_options opt =
        options_of(DEJA_EXACT, 280); /* nearly full: keys overflow into the lines after their
                                      * own */
    create_add_and_sync(&opt);
}

static void spectral_adds_and_syncs(void)
{
    of_kind(DEJA_SPECTRAL);
}

static void scalable_grows(void)
{
    deja_options opt = options_of(DEJA_SCALABLE, 30);
    opt.fp_rate = 0.001;
    create_add_and_sync(&opt);
}

static void spread_adds_and_syncs(void)
{
    deja_options opt = options_of(DEJA_SPECTRAL, 200);
    opt.flags = DEJA_SPREAD;
    create_add_and_sync(&opt);
}

/* Only removal clears bits; the remaining keys are found throughout. */
static void removes_with(uint32_t flags)
{
    deja_options opt = options_of(DEJA_SPECTRAL, 200);
    opt.fp_rate = 0.01;
    opt.flags = flags;
    deja_filter *f = create(&opt, 0);
    cuts.next = keys(0, 0);
    add_cutting(f, 0, 150);
    sync_cutting(f, keys(0, 150));
    cuts.now = keys(0, 75); /* the others are no longer promised */
    for (uint64_t i = 75; i < 150; i++) {
        if (deja_filter_remove(f, key_of(&i), NULL, NULL) < 0)
            wrong("remove fails");
        if (disk_coin(8))
            cut_between();
    }
    sync_cutting(f, keys(0, 75));
    deja_filter_free(f);
}

static void spectral_removes(void)
{
    removes_with(0);
}

static void spread_removes(void)
{
    removes_with(DEJA_SPREAD);
}

static void rotates(void)
{
    const deja_options opt = options_of(DEJA_BLOCKED, 300);
    deja_filter *f = create(&opt, 0);
    deja_error err = {0};
    cuts.next = keys(0, 0);
    add_cutting(f, 0, 100);
    sync_cutting(f, keys(0, 100));
    for (uint64_t visit = 2; visit <= 4; visit++) {
        cuts.next = (struct promise){true, visit, 0, 0};
        if (deja_filter_rotate(f, NULL, &err) < 0)
            wrong("rotate: %s", err.text);
        cuts.now = cuts.next; /* effective immediately, without a sync */
        cuts.next.visit = 0;
        cut_between();
        add_cutting(f, 1000 * visit, 1000 * visit + 50);
        sync_cutting(f, (struct promise){true, visit, 1000 * visit, 1000 * visit + 50});
    }
    deja_filter_free(f);
}

static void folds(void)
{
    deja_options opt = options_of(DEJA_BLOCKED, 300);
    deja_error err = {0};
    opt.memory = 16384;
    opt.fp_rate = 0;
    deja_filter *f = create(&opt, 0);
    cuts.next = keys(0, 0);
    add_cutting(f, 0, 100);
    sync_cutting(f, keys(0, 100));
    for (int i = 0; i < 3; i++) {
        if (deja_filter_fold(f, 1, &err) < 0)
            wrong("fold: %s", err.text);
        cut_between();
        add_cutting(f, 100, 110);
    }
    sync_cutting(f, keys(0, 110));
    deja_filter_free(f);
}

static void merges(void)
{
    const deja_options opt = options_of(DEJA_BLOCKED, 1000);
    deja_filter *f = create(&opt, 0), *from = NULL;
    MUST(deja_filter_new(&opt, &from, NULL) == DEJA_OK);
    MUST(take(from, 100, 300) == DEJA_OK);
    cuts.next = keys(0, 0);
    add_cutting(f, 0, 100);
    sync_cutting(f, keys(0, 100));
    if (deja_filter_merge(f, from, NULL) < 0)
        wrong("merge fails");
    cut_between();
    sync_cutting(f, keys(0, 300));
    deja_filter_free(from);
    deja_filter_free(f);
}

/* A new file replaces an old one of that name. */
static void replaces(void)
{
    deja_options opt = options_of(DEJA_BLOCKED, 300);
    deja_filter *f = create(&opt, 0);
    cuts.next = keys(0, 0);
    add_cutting(f, 0, 50);
    sync_cutting(f, keys(0, 50));
    deja_filter_free(f);
    for (uint64_t i = 1; i <= 3; i++) {
        opt.seed = i + 1;
        f = create(&opt, DEJA_CREATE_REPLACE);
        add_cutting(f, 1000 * i, 1000 * i + 50);
        cuts.next = keys(1000 * i, 1000 * i + 50);
        sync_cutting(f, cuts.next);
        deja_filter_free(f);
    }
}

static void builds(void)
{
    const deja_options opt = options_of(DEJA_STATIC, 0);
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    MUST(deja_builder_new(&opt, &b, NULL) == DEJA_OK);
    for (uint64_t i = 0; i < 200; i++) {
        const deja_slice key = key_of(&i);
        MUST(deja_builder_add_batch(b, &key, 1, NULL) == DEJA_OK);
    }
    MUST(deja_builder_finish(b, state_path(), 0, &f, NULL) == DEJA_OK);
    cuts.next = keys(0, 200);
    sync_cutting(f, keys(0, 200));
    deja_filter_free(f);
    deja_builder_free(b);
}

/* --- Running them -------------------------------------------------------------------- */

struct scenario {
    const char *name;
    void (*run)(void);
};

static const struct scenario scenarios[] = {
    {"blocked adds and syncs", blocked_adds_and_syncs},
    {"a large one adds and syncs", a_large_one_adds_and_syncs},
    {"classic adds and syncs, F = 3", classic_adds_and_syncs},
    {"exact adds and syncs", exact_adds_and_syncs},
    {"spectral adds and syncs", spectral_adds_and_syncs},
    {"spectral removes", spectral_removes},
    {"spread counters add and sync", spread_adds_and_syncs},
    {"spread counters remove", spread_removes},
    {"scalable grows", scalable_grows},
    {"rotates", rotates},
    {"folds", folds},
    {"merges", merges},
    {"replaces", replaces},
    {"builds a static one", builds},
};

static const char *run_scenario(const struct scenario *s, uint64_t seed, unsigned per_point)
{
    MUST(mkdir(scratch_path("live"), 0700) == 0 && mkdir(scratch_path("cut"), 0700) == 0);
    cuts.now = cuts.next = (struct promise){0};
    cuts.wrong[0] = '\0';
    cuts.per_point = per_point;
    snprintf(cuts.folder, sizeof cuts.folder, "%s", scratch_path("cut"));
    snprintf(cuts.path, sizeof cuts.path, "%s/state.deja", cuts.folder);
    disk_begin(seed, cut_here);
    disk.no_tmpfile = seed % 2;
    s->run();
    disk_end();
    MUST(scratch_clear(NULL) == 0);
    return cuts.wrong[0] ? cuts.wrong : NULL;
}

/* Runs every scenario with this many seeds; prints a summary to standard error. */
static int run_scenarios(uint64_t seeds, unsigned per_point)
{
    int bad = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const char *why = NULL;
        const struct cuts before = cuts;
        for (uint64_t seed = 1; seed <= seeds && !why; seed++) {
            why = run_scenario(&scenarios[i], seed, per_point);
            if (why)
                fprintf(stderr, "%s, seed %" PRIu64 ": %s\n", scenarios[i].name, seed, why);
        }
        bad += why != NULL;
        fprintf(stderr,
                "%-30s %6" PRIu64 " points, %7" PRIu64 " states: %6" PRIu64
                " without a file, %6" PRIu64 " torn, of these %5" PRIu64 " refused\n",
                scenarios[i].name, cuts.points - before.points, cuts.states - before.states,
                cuts.absent - before.absent, cuts.torn - before.torn,
                cuts.refused - before.refused);
    }
    return bad;
}

#endif
