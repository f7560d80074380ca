/* test_sieve_powercut.c - power cuts at every moment in the life of a sieve.
 *
 * After every call that changes the device, the test draws some of the states that a power cut could
 * leave (disk.h) and opens each.  A line that was committed before the last sync must be recorded.
 * A line that was pending at the last sync and has not been handed over since must be recorded or
 * still be pending.  The files must be sound.  A state with a torn sector, which devices promise not
 * to leave, may be refused with a message instead. */
#include "disk.h"
#include "sieving.h"
#include "unit.h"

#define LINES 130
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 1 /* a state takes long there */
#else
#define SEEDS 2
#endif

enum promise {
    NOTHING,
    RECORDED,
    KEPT /* recorded, or pending with its record */
};

static struct cuts {
    char folder[300];
    struct sieving *w;
    bool exists;
    enum promise promise[LINES];
    unsigned per_point;
    uint64_t points, states, torn, refused;
} cuts;

static const struct dj_shares small = {
    .filter = 64, .recent = 13 * 32, .pending = 16 * 60, .buffer = DJ_RUN_BUFFER};

/* Opens the state, settles everything, and checks the promises. */
static void judge_state(bool torn)
{
    struct sieving *w = cuts.w;
    deja_sieve *s = NULL;
    deja_error err = {0};
    bool returned[LINES] = {false};
    size_t n = 1;
    if (!cuts.exists && !deja_sieve_exists(cuts.folder))
        return;
    int rc = deja_sieve_verify(cuts.folder, &err);
    if (rc == DEJA_OK)
        rc = dj_sieve_open(cuts.folder, DEJA_OPEN_WRITE, &w->opt, &small, &s, &err);
    if (rc == DEJA_OK)
        rc = deja_sieve_settle(s, &err);
    while (rc == DEJA_OK && n) {
        deja_settled out[16];
        rc = deja_sieve_settled(s, out, 16, &n, &err);
        for (size_t i = 0; i < n && rc == DEJA_OK; i++)
            returned[out[i].token] = true;
        if (rc == DEJA_OK)
            rc = deja_sieve_commit(s, &err);
    }
    if (rc < 0 && torn && rc == DEJA_EFORMAT)
        cuts.refused++;
    else if (rc < 0)
        WRONG(w, "state %llu: %s", (unsigned long long)cuts.states, err.text);
    for (uint64_t i = 0; i < LINES && rc == DEJA_OK; i++) {
        deja_fingerprint fp;
        uint8_t found = 0;
        sieving_print(s, i, &fp);
        rc = deja_sieve_contains(s, &fp, 1, &found, &err);
        if (cuts.promise[i] != NOTHING && !found)
            WRONG(w, "state %llu: line %llu is lost", (unsigned long long)cuts.states,
                  (unsigned long long)i);
        if (cuts.promise[i] == NOTHING && found && !w->fed[i] && !returned[i])
            WRONG(w, "state %llu: line %llu was never fed", (unsigned long long)cuts.states,
                  (unsigned long long)i);
    }
    deja_sieve_free(s);
}

static void cut_here(void)
{
    cuts.points++;
    for (unsigned i = 0; i < cuts.per_point && !cuts.w->wrong[0]; i++) {
        MUST(mkdir(cuts.folder, 0700) == 0);
        const bool torn = disk_cut(cuts.folder);
        cuts.states++;
        cuts.torn += torn;
        judge_state(torn);
        MUST(nftw(cuts.folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    }
}

/* A line that was handed over may be repeated, so nothing is promised until it is committed and
 * synced. */
static void settle(struct sieving *w)
{
    deja_error err = {0};
    if (sieving_commit(w, &err) < 0 || deja_sieve_settle(w->s, &err) < 0)
        WRONG(w, "settle: %s", err.text);
    for (size_t n = 1; n && !w->wrong[0];) {
        deja_settled out[16];
        if (deja_sieve_settled(w->s, out, 16, &n, &err) < 0)
            WRONG(w, "settled: %s", err.text);
        for (size_t i = 0; i < n; i++) {
            const uint64_t id = out[i].token;
            if (cuts.promise[id] == KEPT)
                cuts.promise[id] = NOTHING;
            w->out[id] = 1;
            w->waits[id] = 0;
        }
        if (deja_sieve_commit(w->s, &err) < 0)
            WRONG(w, "commit: %s", err.text);
    }
}

static void sync_all(struct sieving *w)
{
    deja_error err = {0};
    if (sieving_commit(w, &err) < 0 || deja_sieve_sync(w->s, &err) < 0)
        WRONG(w, "sync: %s", err.text);
    for (uint64_t i = 0; i < LINES; i++)
        cuts.promise[i] = w->out[i] ? RECORDED : w->waits[i] ? KEPT : NOTHING;
}

static void live(struct sieving *w, struct rng *rng)
{
    sieving_open(w);
    cuts.exists = true;
    for (uint64_t fed = 0; fed < LINES && !w->wrong[0];) {
        uint64_t line[8];
        deja_error err = {0};
        size_t n = 0;
        for (; n < 8 && fed < LINES; n++)
            line[n] = rng_below(rng, 4) || !fed ? fed++ : rng_below(rng, fed);
        int rc = sieving_judge(w, line, n, &err);
        if (rc == DEJA_EFULL) {
            settle(w);
            rc = sieving_judge(w, line, n, &err);
        }
        if (rc < 0 || (rng_below(rng, 2) && sieving_commit(w, &err) < 0))
            WRONG(w, "judge: %s", err.text);
        switch (rng_below(rng, 8)) {
        case 0:
            settle(w);
            break;
        case 1:
        case 2:
            sync_all(w);
            break;
        case 3:
            if (sieving_commit(w, &err) < 0 || deja_sieve_save(w->s, &err) < 0)
                WRONG(w, "save: %s", err.text);
            deja_sieve_free(w->s);
            sieving_open(w);
            break;
        default:
            break;
        }
    }
    settle(w);
    sync_all(w);
}

static void no_promised_line_is_lost(void **state)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sieving w;
        struct rng rng = rng_seeded(seed);
        memset(&cuts, 0, sizeof cuts);
        cuts.w = &w;
        cuts.per_point = 1;
        MUST(mkdir(scratch_path("live"), 0700) == 0);
        snprintf(cuts.folder, sizeof cuts.folder, "%s", scratch_path("cut"));
        const char *path = scratch_path("live");
        char kept[300];
        snprintf(kept, sizeof kept, "%s", path);
        sieving_begin(&w, kept, LINES, DEJA_SIEVE_NO_THREAD);
        w.share = small;
        disk_begin(seed, cut_here);
        disk.no_tmpfile = seed % 2;
        live(&w, &rng);
        disk_end();
        fprintf(stderr, "seed %llu: %llu points, %llu states, %llu torn, of these %llu refused\n",
                (unsigned long long)seed, (unsigned long long)cuts.points,
                (unsigned long long)cuts.states, (unsigned long long)cuts.torn,
                (unsigned long long)cuts.refused);
        assert_string_equal(w.wrong, "");
        assert_true(w.s->manifest.merges > 0 && w.s->passes > 0);
        sieving_end(&w);
        scratch_clear(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_promised_line_is_lost),
    };
    return cmocka_run_group_tests_name("fault.sieve_powercut", tests, scratch_open, scratch_close);
}
