/* test_kill.c - acknowledged syncs survive processes killed at any moment, and power cuts.
 *
 *   fault.kill [KILLS]      how many processes to kill, 200 by default
 *
 * Killed: a child adds keys to a file, syncs now and then, and reports each acknowledged sync.  It
 * is killed at a random moment.  The file must then open and hold every synced key, and the next
 * child continues with it.
 *
 * Power cut: the device has some sectors as of the last sync, and each other sector in any state
 * that it had since then.  Files assembled this way must still hold everything synced. */
#include "deja.h"
#include "rng.h"
#include "scratch.h"
#include "unit.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define BATCH 64

static unsigned kills = 200;

/* --- Filters --------------------------------------------------------------- */

static const struct kind {
    const char *name;
    uint32_t kind, part_kind, filters;
    uint64_t capacity;
    uint32_t flags;
} kinds[] = {
    {"blocked", DEJA_BLOCKED, 0, 1, 50000, 0},
    {"classic", DEJA_CLASSIC, 0, 2, 50000, 0},
    {"exact", DEJA_EXACT, 0, 1, 50000, 0},
    {"exact with dates", DEJA_EXACT, 0, 1, 50000, DEJA_DATES},
    {"spectral", DEJA_SPECTRAL, 0, 1, 50000, 0},
    {"spectral, spread", DEJA_SPECTRAL, 0, 1, 50000, DEJA_SPREAD},
    {"paired", DEJA_PAIRED, 0, 1, 50000, 0},
    {"window", DEJA_WINDOW, 0, 1, 1 << 20, 0}, /* does not turn: fault.turns tests that */
    {"layered", DEJA_LAYERED, 0, 1, 5000, 0},  /* its layers grow on the way */
    {"scalable", DEJA_SCALABLE, DEJA_BLOCKED, 1, 50, 0}, /* grows early and often */
};
enum {
    N_KINDS = sizeof kinds / sizeof kinds[0]
};

static deja_options options_of(const struct kind *k)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = k->kind;
    opt.part_kind = k->part_kind;
    opt.filters = k->filters;
    opt.capacity = k->capacity;
    opt.flags = k->flags;
    opt.growth = 2;
    opt.seed = 1;
    return opt;
}

/* Keys from .. from + n - 1, n at most BATCH, in one call. */
static int take_batch(deja_filter *f, uint64_t from, size_t n)
{
    uint64_t id[BATCH];
    deja_slice key[BATCH];
    for (size_t i = 0; i < n; i++) {
        id[i] = from + i;
        key[i] = (deja_slice){&id[i], sizeof id[i]};
    }
    return deja_filter_add_batch(f, key, n, NULL, NULL, NULL);
}

static int take(deja_filter *f, uint64_t from, uint64_t to)
{
    int rc = DEJA_OK;
    for (uint64_t i = from; i < to && rc == DEJA_OK; i++)
        rc = deja_filter_add(f, (deja_slice){&i, sizeof i}, NULL, NULL);
    return rc;
}

static uint64_t missing(const deja_filter *f, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += !deja_filter_contains(f, (deja_slice){&i, sizeof i});
    return n;
}

/* --- Killed ----------------------------------------------------------------- */

/* A child's report, in memory that outlives the child. */
struct told {
    _Atomic uint64_t returned; /* keys of adds that returned */
    _Atomic uint64_t synced;   /* of these, before the last sync that returned DEJA_OK */
};

static struct told *told;

/* Opens or creates the file, and adds and syncs until it is killed; exit 9 if a call fails. */
static _Noreturn void live(const struct kind *k, const char *path, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    const deja_options opt = options_of(k);
    deja_filter *f = NULL;
    deja_error err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool there = access(path, F_OK) == 0;
    if ((there ? deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err)
               : deja_filter_create(path, 0, &opt, &f, &err)) < 0) {
        fprintf(stderr, "child: %s\n", err.text);
        _exit(9);
    }
    for (uint64_t n = told->returned;;) {
        for (uint64_t adds = 1 + rng_below(&rng, 5); adds > 0; adds--) {
            const size_t batch = 1 + (size_t)rng_below(&rng, BATCH);
            if (take_batch(f, n, batch) < 0)
                _exit(9);
            told->returned = n += batch;
        }
        if (deja_filter_sync(f, &err) < 0) {
            fprintf(stderr, "child: %s\n", err.text);
            _exit(9);
        }
        told->synced = n;
    }
}

/* Every other child gets time for one sync first, however slow the machine is. */
static void wait_a_little(struct rng *rng, uint64_t synced_before)
{
    const struct timespec tick = {0, 1000000}, pause = {0, (long)rng_below(rng, 12000000)};
    if (rng_below(rng, 2) == 0)
        for (int i = 0; i < 300000 && told->synced == synced_before; i++)
            nanosleep(&tick, NULL);
    nanosleep(&pause, NULL);
}

static void kill_one(const struct kind *k, const char *path, struct rng *rng)
{
    int status;
    const uint64_t seed = rng_next(rng), synced_before = told->synced;
    fflush(NULL);
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0)
        live(k, path, seed);
    wait_a_little(rng, synced_before);
    kill(pid, SIGKILL);
    MUST(waitpid(pid, &status, 0) == pid);
    if (!WIFSIGNALED(status))
        fail_msg("%s: the child ended by itself", k->name);
}

/* If a rename was under way, only its temporary name may be left. */
static void only_known_names_are_there(const char *name)
{
    DIR *folder = opendir(scratch_folder);
    MUST(folder);
    for (const struct dirent *e; (e = readdir(folder));) {
        const size_t len = strlen(e->d_name);
        if (e->d_name[0] == '.' && len > 4 && strcmp(e->d_name + len - 4, ".new") == 0)
            MUST(unlinkat(dirfd(folder), e->d_name, 0) == 0);
        else if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            assert_string_equal(e->d_name, name);
    }
    closedir(folder);
}

/* Everything synced is found.  A kill does not undo writes to the mapping, so every add that
 * returned is found as well, once the file has its name. */
static void file_is_whole(const struct kind *k, const char *path)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (access(path, F_OK) != 0) {
        assert_int_equal(told->synced, 0);
        told->returned = 0;
        return;
    }
    const int verdict = deja_file_verify(path, &err);
    if (verdict != DEJA_OK && verdict != DEJA_EBUSY)
        fail_msg("%s: verify: %s", k->name, err.text);
    if (deja_filter_open(path, 0, NULL, &f, &err) < 0)
        fail_msg("%s: %s", k->name, err.text);
    const uint64_t lost_synced = missing(f, 0, told->synced);
    const uint64_t lost = missing(f, told->synced, told->returned);
    deja_filter_free(f);
    if (lost_synced || lost)
        fail_msg("%s: %llu synced keys lost, %llu others", k->name,
                 (unsigned long long)lost_synced, (unsigned long long)lost);
}

static void a_kill_at_any_moment_keeps_everything_synced(void **state)
{
    const struct kind *k = *state;
    struct rng rng = rng_seeded(3 + (uint64_t)(k - kinds));
    const char *path = scratch_path(k->name);
    uint64_t most = 0;
    for (unsigned i = 0; i < kills / N_KINDS; i++) {
        if (i % 16 == 0) { /* start over: creation must survive kills too */
            unlink(path);
            told->returned = told->synced = 0;
        }
        kill_one(k, path, &rng);
        only_known_names_are_there(k->name);
        file_is_whole(k, path);
        most = told->synced > most ? told->synced : most;
    }
    if (kills >= 200)
        assert_true(most > 100); /* or nothing was tested */
    unlink(path);
}

/* Finally: after all the kills, a sync makes the file valid. */
static void after_kills_the_next_sync_seals_the_file(void **state)
{
    const struct kind *k = *state;
    struct rng rng = rng_seeded(99);
    const char *path = scratch_path(k->name);
    deja_filter *f = NULL;
    told->returned = told->synced = 0;
    for (int i = 0; i < 100 && (told->synced == 0 || told->returned == told->synced); i++) {
        kill_one(k, path, &rng);
        file_is_whole(k, path); /* a child that died before its first sync left nothing */
    }
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    file_is_whole(k, path);
    unlink(path);
}

/* --- Power cuts -------------------------------------------------------------- */

enum {
    MOMENTS = 4
};

/* The file at some moments since its last sync; the first moment is the sync itself. */
struct history {
    struct bytes at[MOMENTS];
    uint64_t synced, all; /* keys */
};

/* An unsealed file with enough keys that its sectors differ from moment to moment. */
static struct history make_history(const struct kind *k, bool sync_at_end)
{
    struct history h = {.synced = 400, .all = 400};
    deja_options opt = options_of(k);
    deja_filter *f = NULL;
    const char *path = scratch_path("history");
    if (k->kind == DEJA_SCALABLE)
        opt.capacity = 1000; /* does not grow: growth makes another file, which another test
                              * covers */
    else if (k->kind == DEJA_LAYERED)
        opt.capacity = 16 * 1500; /* its layers do not grow either; they start with 1/16 */
    else
        opt.capacity = 1500;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    MUST(take(f, 0, h.synced) == DEJA_OK && deja_filter_sync(f, NULL) == DEJA_OK);
    for (int i = 0; i < MOMENTS; i++) {
        h.at[i] = read_file(path);
        MUST(take(f, h.all, h.all + 150) == DEJA_OK);
        h.all += 150;
    }
    if (sync_at_end)
        MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    free(h.at[MOMENTS - 1].data);
    h.at[MOMENTS - 1] = read_file(path);
    deja_filter_free(f);
    unlink(path);
    return h;
}

static void drop_history(struct history *h)
{
    for (int i = 0; i < MOMENTS; i++)
        free(h->at[i].data);
}

/* Assembles a file from units of that size, each as of some moment.  The bytes before `from` are
 * as of the last moment. */
static void tear(const struct history *h, size_t unit, size_t from, struct rng *rng,
                 const char *path)
{
    const struct bytes *last = &h->at[MOMENTS - 1];
    struct bytes b = {malloc(last->len), last->len};
    MUST(b.data);
    memcpy(b.data, last->data, last->len);
    for (size_t at = from; at < b.len; at += unit) {
        const size_t len = b.len - at < unit ? b.len - at : unit;
        memcpy(b.data + at, h->at[rng_below(rng, MOMENTS)].data + at, len);
    }
    write_file(path, b.data, b.len);
    free(b.data);
}

static void holds_what_was_synced(const char *path, uint64_t synced)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_filter_open(path, 0, NULL, &f, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(missing(f, 0, synced), 0);
    deja_filter_free(f);
}

static void what_was_lost_can_be_added_again(const char *path, uint64_t all)
{
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
    assert_int_equal(take(f, 0, all), DEJA_OK);
    assert_int_equal(missing(f, 0, all), 0);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    holds_what_was_synced(path, all);
}

/* The "open" record was written before any body changed, as on a real device. */
static void power_cut_while_open_keeps_everything_synced(void **state)
{
    const struct kind *k = *state;
    struct rng rng = rng_seeded(5);
    struct history h = make_history(k, false);
    const char *path = scratch_path("torn");
    for (int i = 0; i < 100; i++) {
        tear(&h, i % 2 ? 512 : 4096, 4096, &rng, path);
        holds_what_was_synced(path, h.synced);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_EBUSY);
    }
    what_was_lost_can_be_added_again(path, h.all);
    unlink(path);
    drop_history(&h);
}

/* The "sealed" record is written last: either all bodies are written, or the older record
 * counts. */
static void power_cut_within_a_sync_keeps_everything_synced(void **state)
{
    const struct kind *k = *state;
    struct rng rng = rng_seeded(6);
    struct history h = make_history(k, true);
    const char *path = scratch_path("torn");
    struct bytes b = {malloc(h.at[0].len), h.at[0].len};
    MUST(b.data);
    /* The bodies are complete, the record is the previous one: the cut falls here. */
    memcpy(b.data, h.at[MOMENTS - 1].data, b.len);
    memcpy(b.data, h.at[MOMENTS - 2].data, 4096);
    write_file(path, b.data, b.len);
    holds_what_was_synced(path, h.all);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_EBUSY);
    /* The record is half written: devices promise not to tear a sector.  If one does, the file is
     * rejected rather than misread, and can be repaired. */
    const size_t newest =
        b.data[3072] > b.data[3584] ? 3584 : 3072; /* it replaced the older one */
    memcpy(b.data, h.at[MOMENTS - 1].data, b.len);
    memset(b.data + newest + 256, 0, 256);
    write_file(path, b.data, b.len);
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_open(path, 0, NULL, &f, NULL), DEJA_EFORMAT);
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_REPAIR, NULL, &f, NULL), DEJA_OK);
    assert_int_equal(missing(f, 0, h.all), 0);
    deja_filter_free(f);
    free(b.data);
    /* Without any order, even for the records: worse than any device may behave. */
    for (int i = 0; i < 100; i++) {
        tear(&h, i % 2 ? 512 : 4096, 3072, &rng, path);
        holds_what_was_synced(path, h.synced);
        deja_error err = {0};
        const int rc = deja_file_verify(path, &err);
        assert_true(rc == DEJA_OK || err.text[0]);
    }
    unlink(path);
    drop_history(&h);
}

/* Growth gives the name to a complete new file; after that, it may tear like any other. */
static void power_cut_after_growth_keeps_what_the_growth_copied(void **state)
{
    const struct kind *k = &kinds[N_KINDS - 1];
    struct rng rng = rng_seeded(8);
    struct history h = {.all = 0};
    deja_options opt = options_of(k);
    deja_filter *f = NULL;
    const char *path = scratch_path("grown");
    opt.capacity = 500;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    MUST(take(f, 0, 100) == DEJA_OK && deja_filter_sync(f, NULL) == DEJA_OK);
    struct stat st;
    MUST(stat(path, &st) == 0);
    const size_t small = (size_t)st.st_size;
    uint64_t n = 100;
    for (; h.at[0].len <= small; n++) { /* until it is another file */
        free(h.at[0].data);
        MUST(take(f, n, n + 1) == DEJA_OK);
        h.at[0] = read_file(path);
    }
    h.synced = n - 1; /* all except the key that needed room */
    for (int i = 1; i < MOMENTS; i++, n += 100) {
        MUST(take(f, n, n + 100) == DEJA_OK);
        h.at[i] = read_file(path);
    }
    deja_filter_free(f);
    for (int i = 0; i < 50; i++) {
        tear(&h, i % 2 ? 512 : 4096, 4096, &rng, path);
        holds_what_was_synced(path, h.synced);
    }
    what_was_lost_can_be_added_again(path, n);
    unlink(path);
    drop_history(&h);
}

/* --- The list ----------------------------------------------------------------- */

static int begin(void **state)
{
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(told != MAP_FAILED);
    return scratch_open(state);
}

static int end(void **state)
{
    munmap(told, sizeof *told);
    return scratch_close(state);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        CMUnitTestFunction test;
    } for_each[] = {
        {"a_kill_at_any_moment_keeps_everything_synced",
         a_kill_at_any_moment_keeps_everything_synced},
        {"after_kills_the_next_sync_seals_the_file", after_kills_the_next_sync_seals_the_file},
        {"power_cut_while_open_keeps_everything_synced",
         power_cut_while_open_keeps_everything_synced},
        {"power_cut_within_a_sync_keeps_everything_synced",
         power_cut_within_a_sync_keeps_everything_synced},
    };
    enum {
        SENTENCES = sizeof for_each / sizeof for_each[0]
    };
    static char names[N_KINDS * SENTENCES][80];
    struct CMUnitTest tests[N_KINDS * SENTENCES + 1] = {
        cmocka_unit_test_teardown(power_cut_after_growth_keeps_what_the_growth_copied,
                                  scratch_clear),
    };
    if (argc > 1)
        kills = (unsigned)strtoul(argv[1], NULL, 10);
    for (size_t k = 0, n = 0; k < N_KINDS; k++)
        for (size_t s = 0; s < SENTENCES; s++, n++) {
            snprintf(names[n], sizeof names[n], "%s.%s", kinds[k].name, for_each[s].name);
            tests[n + 1] = (struct CMUnitTest){names[n], for_each[s].test, NULL, scratch_clear,
                                               (void *)(uintptr_t)&kinds[k]};
        }
    return cmocka_run_group_tests_name("fault.kill", tests, begin, end);
}
