/* remote.c - dedup, check and add with --redis.
 *
 * Dedup sends two requests: CHECK finds the keys that are not in the cache, their lines are
 * printed and flushed, then ADD adds them.  ADD alone would also report which keys are new.  But
 * if its reply is lost with the connection, the same ADD, sent again, reports "seen" for a line
 * that was never printed.  CHECK and ADD can be repeated safely: after a crash or a failover, or
 * if two crawlers find the same URL at the same moment, a line is repeated, but never lost.
 *
 * A local table of fingerprints holds the last few million keys.  Lines that repeat within a run
 * are found there, without a request.
 *
 * If the cache is a window, only the server knows which keys it has forgotten.  So every line is
 * looked up there, and every key is added again, which renews it; the table holds only the keys of
 * the current batch.  A batch is a small part of the window: a line that repeats within it is
 * certainly among the last N, and a key that the window forgets during a batch counts as seen only
 * until the next one. */
#include "cli/server/remote.h"
#include "cli/server/cacheinfo.h"
#include "cli/server/machines.h"
#include "cli/server/machines_report.h"
#include "cli/server/remoteloss.h"
#include "cli/server/shards.h"
#include "cli/session/losses.h"
#include "cli/session/session.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/sys.h"
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef DEJA_HAVE_HIREDIS

#define RECENT_KEYS  2000000u /* 20 MB */
#define WINDOW_SHARE 64       /* a window holds at least this many batches */

struct job {
    const struct call *call;
    const struct remote_job *what;
    struct shards *shards;     /* one server or cluster, or ... */
    struct machines *machines; /* ... F servers */
    deja_filter *hasher;       /* hashes for the pipeline; holds no keys */
    deja_filter *recent;       /* dedup: keys of this run, with the same hashes */
    uint8_t key[DEJA_KEY_LEN];
    struct session session;
    bool sync_output;
    bool forgets; /* the cache's filters are windows */
    uint8_t *want;
    size_t want_cap;
    uint64_t yes;             /* dedup: new; check: found; add: new */
    bool rated;               /* the servers reported their rates ... */
    deja_stats before, after; /* ... before and after this run */
    struct remoteloss losses;
};

static int make_recent(struct job *j, uint64_t capacity, deja_filter **out, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_EXACT;
    opt.capacity = capacity;
    opt.key = j->key;
    return deja_filter_new(&opt, out, err);
}

/* --- One server or several ---------------------------------------------------------- */

static bool has_several(const struct job *j)
{
    return j->what->shared->redis.n > 1;
}

static int check_keys(struct job *j, const deja_slice *key, size_t n, uint8_t *answer,
                      deja_error *err)
{
    return j->machines ? machines_check(j->machines, key, n, j->want, answer, err)
                       : shards_check(j->shards, key, n, j->want, answer, err);
}

static int add_keys(struct job *j, const deja_slice *key, size_t n, uint8_t *answer,
                    deja_error *err)
{
    return j->machines ? machines_add(j->machines, key, n, j->want, answer, err)
                       : shards_add(j->shards, key, n, j->want, answer, err);
}

static bool cache_existed(const struct job *j)
{
    return j->machines ? machines_existed(j->machines) : shards_existed(j->shards);
}

static uint32_t cache_shards(const struct job *j)
{
    return j->machines ? machines_shards(j->machines) : shards_count(j->shards);
}

static int ask_for_window(struct job *j, deja_error *err)
{
    uint64_t keys;
    const int rc = shards_window(j->shards, &j->forgets, &keys, err);
    if (rc == DEJA_OK && keys)
        j->session.batch_max = keys > WINDOW_SHARE ? (size_t)(keys / WINDOW_SHARE) : 1;
    return rc;
}

static void note_lost(void *console, const char *why)
{
    console_note(console, "lost the server at %s; retrying for up to %d s", why, WIRE_PATIENCE);
}

static void note_back(void *console, const char *address, double seconds)
{
    if (address)
        console_note(console, "the server at %s is back after %s", address,
                     num_duration(seconds).s);
    else
        console_note(console, "the cluster answers again after %s", num_duration(seconds).s);
}

static void note(void *console, const char *text)
{
    console_note(console, "%s", text);
}

static int take_profile(struct job *j, deja_error *err)
{
    uint64_t rules;
    uint32_t profile;
    const deja_url_rules *same;
    if (j->machines) {
        const struct cacheform *form = machines_form(j->machines);
        profile = form->profile;
        rules = form->rules_id;
        same = form->rules;
    } else {
        profile = shards_profile(j->shards, &rules);
        same = shards_rules(j->shards);
    }
    if (j->session.urls.rules)
        j->session.urls.rules = same;
    return session_take_profile(&j->session, j->what->name, profile, rules, err);
}

/* $XDG_STATE_HOME/deja, or ~/.local/state/deja. */
static int choose_spool(const struct shared_options *c, char *dir, size_t cap, deja_error *err)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (c->spool)
        n = snprintf(dir, cap, "%s", c->spool);
    else if (state && state[0] == '/')
        n = snprintf(dir, cap, "%s/deja", state);
    else if (home && home[0] == '/')
        n = snprintf(dir, cap, "%s/.local/state/deja", home);
    return n > 0 && (size_t)n < cap
               ? DEJA_OK
               : fail(err, OPT_USAGE,
                      "name a folder for the keys of a missing server with --spool DIR");
}

static int open_machines(struct job *j, const deja_options *opt, deja_error *err)
{
    const struct shared_options *c = j->what->shared;
    char dir[400];
    const struct machines_options o = {
        .url = c->redis.at,
        .n = (uint32_t)c->redis.n,
        .name = j->what->name,
        .shards = c->shards,
        .create = j->what->use == REMOTE_DEDUP ? opt : NULL, /* add has no options of size */
        .rules = j->session.urls.rules,
        .spool_dir = dir,
        .spool_size = c->spool_size,
        .stop = j->call->stop,
        .note = note,
        .ctx = j->call->console,
    };
    const int rc = choose_spool(c, dir, sizeof dir, err);
    return rc == DEJA_OK ? machines_open(&o, &j->machines, err) : rc;
}

static int open_shards(struct job *j, const deja_options *opt, deja_error *err)
{
    const struct shared_options *c = j->what->shared;
    const struct shards_options o = {
        .url = c->redis.at[0],
        .name = j->what->name,
        .shards = c->shards,
        .replicas = c->replicas,
        .create = j->what->use == REMOTE_CHECK ? NULL : opt,
        .rules = j->session.urls.rules,
        .stop = j->call->stop,
        .talk = {.lost = note_lost, .back = note_back, .ctx = j->call->console},
    };
    return shards_open(&o, &j->shards, err);
}

/* The statistics of the cache; false: not all servers answer, and the loss stays unknown. */
static bool ask_rates(const struct job *j, deja_stats *s)
{
    const struct shared_options *c = j->what->shared;
    struct cacheinfo info;
    uint64_t memory;
    if (cacheinfo_ask(c->redis.at, c->redis.n, j->what->name, &info, NULL) < 0)
        return false;
    *s = cacheinfo_all(&info, &memory);
    for (size_t i = 0; i < info.n; i++)
        if (!info.server[i].answers)
            return false;
    return true;
}

/* How many new keys of this run were probably lost. */
static double lost_in_run(const struct job *j)
{
    return j->rated ? remoteloss_of(&j->losses, &j->before, &j->after) : 0;
}

/* A batch of dedup is judged as a whole; add judges each key with all before it. */
static void note_new(struct job *j, uint64_t n)
{
    const uint64_t pieces = j->what->use == REMOTE_ADD && n > 16 ? 16 : 1;
    for (uint64_t i = 0; i < pieces && j->what->use != REMOTE_CHECK; i++)
        remoteloss_add(&j->losses, n * (i + 1) / pieces - n * i / pieces);
}

static int open_cache(struct job *j, const deja_options *opt, deja_error *err)
{
    const struct shared_options *c = j->what->shared;
    int rc = has_several(j) ? open_machines(j, opt, err) : open_shards(j, opt, err);
    if (rc == DEJA_OK)
        rc = take_profile(j, err);
    char given[200];
    opt_list_given(shared_sizing, c, given, sizeof given);
    if (rc == DEJA_OK && cache_existed(j) && given[0])
        console_note(j->call->console, "%s keeps its kind and size; ignored: %s", j->what->name,
                     given);
    if (rc == DEJA_OK && j->what->use == REMOTE_DEDUP && !j->machines)
        rc = ask_for_window(j, err);
    const bool secret = rc == DEJA_OK && sys_random(j->key, sizeof j->key);
    if (rc == DEJA_OK && !secret)
        rc = fail_errno(err, "the kernel returned no random bytes");
    if (rc == DEJA_OK)
        rc = make_recent(j, 1, &j->hasher, err);
    if (rc == DEJA_OK)
        j->rated = ask_rates(j, &j->before);
    return rc;
}

/* --- One batch ---------------------------------------------------------------------- */

static int room_for(struct job *j, size_t n, deja_error *err)
{
    if (n > j->want_cap)
        j->want = array_renew(j->want, &j->want_cap, n, 1);
    return j->want ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu lines", n);
}

/* Marks the keys of the batch that are not in the table of recent keys, and adds them to it. */
static int first_here(struct job *j, const struct batch *b, deja_error *err)
{
    deja_stats o = DEJA_STATS_INIT;
    if (j->recent && deja_filter_stats(j->recent, 0, &o, err) == DEJA_OK &&
        (j->forgets || o.keys + b->block.n > o.capacity)) {
        deja_filter_free(j->recent);
        j->recent = NULL;
    }
    if (!j->recent) {
        const uint64_t n = b->block.n;
        const int rc =
            make_recent(j, j->forgets || n > RECENT_KEYS ? n : RECENT_KEYS, &j->recent, err);
        if (rc < 0)
            return rc;
    }
    const int rc = deja_filter_add_hashed(j->recent, b->hash, b->keyed, j->want, NULL, err);
    batch_spread(b, j->want);
    return rc;
}

/* Keyless lines are not sent to the server. */
static void skip_keyless(const struct batch *b, uint8_t *want)
{
    for (size_t i = 0; b->block.keyless && i < b->block.n; i++)
        if (!b->block.keys[i].data)
            want[i] = 0;
}

/* Turns answers per record into answers per key, which the session expects. */
static void close_up(struct batch *b)
{
    for (size_t i = 0, to = 0; b->block.keyless && i < b->block.n; i++)
        if (b->block.keys[i].data)
            b->answer[to++] = b->answer[i];
}

/* Sets the answers: 1 is new (dedup, add) or found (check).  For dedup, `want` becomes the keys to
 * add: the new ones, or all of them for a window. */
static int judge(struct job *j, struct batch *b, deja_error *err)
{
    const size_t n = b->block.n;
    int rc = room_for(j, n, err);
    memset(b->answer, 0, n);
    if (rc == DEJA_OK && j->what->use == REMOTE_DEDUP)
        rc = first_here(j, b, err);
    else if (rc == DEJA_OK)
        memset(j->want, 1, n);
    if (rc < 0)
        return rc;
    skip_keyless(b, j->want);
    if (j->what->use == REMOTE_ADD)
        return add_keys(j, b->block.keys, n, b->answer, err);
    rc = check_keys(j, b->block.keys, n, b->answer, err);
    for (size_t i = 0; j->what->use == REMOTE_DEDUP && i < n; i++)
        j->want[i] = b->answer[i] = j->want[i] && !b->answer[i];
    if (j->forgets) {
        memset(j->want, 1, n);
        skip_keyless(b, j->want);
    }
    if (rc == DEJA_OK && j->machines &&
        j->what->use == REMOTE_DEDUP) /* before lines are printed */
        rc = machines_check_room(j->machines, b->block.keys, n, j->want, err);
    return rc;
}

/* add prints no lines. */
static int hand_over(const struct job *j, deja_error *err)
{
    return j->session.out ? call_hand_over(j->session.out, j->sync_output, err) : DEJA_OK;
}

static int process(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const size_t keys = b->block.n;
    struct block *block = &b->block;
    deja_slice *added = NULL;
    int rc = judge(j, b, err);
    if (rc < 0)
        return rc;
    if (j->what->use == REMOTE_DEDUP && block->shared) { /* folding the batch will move the keys */
        added = malloc(keys * sizeof *added);
        if (!added)
            return fail(err, DEJA_ENOMEM, "out of memory for a batch of %zu lines", keys);
        memcpy(added, block->keys, keys * sizeof *added);
    }
    if (j->what->use != REMOTE_ADD) {
        close_up(b);
        session_fold(&j->session, b, j->what->use == REMOTE_DEDUP);
    }
    const uint64_t yes = session_count(b);
    note_new(j, yes);
    j->yes += yes;
    if (j->what->use != REMOTE_ADD && !j->what->count)
        session_print(&j->session, b, !j->what->invert);
    rc = hand_over(j, err);
    if (rc == DEJA_OK && j->what->use == REMOTE_DEDUP)
        rc = add_keys(j, added ? added : block->keys, keys, NULL, err);
    free(added);
    return rc;
}

/* --- The summary ----------------------------------------------------------------------- */

static const struct {
    const char *yes, *no, *yes_key, *no_key;
} words[] = {
    [REMOTE_DEDUP] = {"new", "seen before", "kept", "dropped"},
    [REMOTE_CHECK] = {"in it", "not in it", "in", "not_in"},
    [REMOTE_ADD] = {"new", "seen before", "added", "known"},
};

static void report_json(const struct job *j, uint64_t no)
{
    const enum remote_use use = j->what->use;
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    json_string(&r.json, "cache", j->what->name);
    json_uint(&r.json, "shards", cache_shards(j));
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, words[use].yes_key, j->yes);
    json_uint(&r.json, words[use].no_key, no);
    json_real(&r.json, "fp_now", j->rated ? j->after.fp_now : NAN);
    if (use != REMOTE_CHECK && !j->machines)
        json_real(&r.json, "lost", j->rated ? j->after.lost : NAN);
    if (use != REMOTE_CHECK)
        json_real(&r.json, "lost_in_run", j->rated ? lost_in_run(j) : NAN);
    if (j->machines)
        machines_report_json(j->machines, j->what->shared->redis.n, &r.json);
    session_report_end(&r, &j->session);
}

static void tell_all(const struct job *j, uint64_t no)
{
    const enum remote_use use = j->what->use;
    const double seconds = progress_seconds(&j->session.progress);
    const uint64_t read = j->session.records;
    char losses[80] = "";
    if (lost_in_run(j) >= LOSSES_LEAST)
        (void)snprintf(losses, sizeof losses, ", about %s lost", num_estimate(lost_in_run(j)).s);
    console_note(j->call->console, "%s%s read, %s %s, %s %s%s; %s, %s; %s, %s",
                 j->session.stopped ? "stopped: " : "", num_lines(read).s, num_count(j->yes).s,
                 words[use].yes, num_count(no).s, words[use].no, losses, j->what->name,
                 num_of(cache_shards(j), "shard").s, num_duration(seconds).s,
                 num_speed(seconds > 0 ? (double)read / seconds : 0).s);
}

static void tell(const struct job *j, uint64_t no)
{
    struct closing c;
    if (j->what->use == REMOTE_CHECK) {
        c = session_closing(&j->session);
        closing_count_in(&c, j->what->invert ? no : j->yes, j->what->invert ? "not in" : "in",
                         j->what->name);
    } else {
        c = session_closing_new(&j->session, j->yes, no);
        if (lost_in_run(j) >= LOSSES_LEAST)
            closing_remark(&c, "about %s lost", num_estimate(lost_in_run(j)).s);
    }
    session_print_closing(&j->session, &c);
}

static void report(const struct job *j)
{
    const struct shared_options *o = j->what->shared;
    const uint64_t skipped = j->what->use == REMOTE_ADD ? j->session.keyless : 0;
    session_warn_missing(&j->session);
    (o->json      ? report_json
     : o->verbose ? tell_all
                  : tell)(j, j->session.records - j->yes - skipped);
    if (j->machines && !o->json)
        machines_report_tell(j->machines, o->redis.n, o->verbose, j->call->console);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    const uint64_t printed = j->what->invert ? j->session.records - j->yes : j->yes;
    if (rc < 0)
        return rc;
    if (j->what->use != REMOTE_ADD && j->what->count)
        out_printf(j->session.out, "%llu\n", (unsigned long long)printed);
    else if (j->what->use != REMOTE_ADD)
        session_print_header(&j->session, "");
    rc = hand_over(j, err);
    if (rc < 0)
        return rc;
    if (j->machines)
        machines_finish(j->machines);
    j->rated = j->rated && ask_rates(j, &j->after);
    report(j);
    return j->what->use == REMOTE_CHECK && !printed ? COMMAND_NO : COMMAND_DONE;
}

/* 1: a server is missing, and may be back at the next pause. */
static int on_pause(void *job, deja_error *err)
{
    const struct job *j = job;
    (void)err;
    (void)machines_tend(j->machines);
    return 1;
}

static int check_one(const struct shared_options *c, deja_error *err)
{
    if (c->filter.filters > 1)
        return fail(
            err, OPT_USAGE,
            "--filters %u with --redis puts one filter on each of %u servers: give --redis "
            "%u times",
            c->filter.filters, c->filter.filters, c->filter.filters);
    if (c->key_file || c->filter.seed || c->filter.memory || c->filter.multiplier > 0 ||
        c->filter.machine)
        return fail(
            err, OPT_USAGE,
            "--key, --seed, --memory, --multiplier and --machine do not work with --redis: the "
            "server makes the filters, each with its own secret key");
    return DEJA_OK;
}

/* machines_make asks for a size, which only a new cache needs. */
static int check_several(const struct remote_job *what, deja_error *err)
{
    const struct shared_options *c = what->shared;
    const deja_options *o = &c->filter;
    if (o->filters && o->filters != c->redis.n)
        return fail(err, OPT_USAGE,
                    "--filters is %u, but --redis was given %zu times: each server has one filter",
                    o->filters, c->redis.n);
    if (o->machine || c->key_file)
        return fail(err, OPT_USAGE,
                    "--key and --machine do not work with --redis: deja makes the filters, which "
                    "share a secret key");
    if (o->kind && o->kind != DEJA_BLOCKED && o->kind != DEJA_CLASSIC)
        return fail(err, OPT_USAGE,
                    "-k %s does not work with several --redis: blocked and classic do, because "
                    "adding a key again never changes them",
                    deja_kind_name(o->kind));
    if ((o->memory || o->multiplier > 0) && c->shards > 1)
        return fail(err, OPT_USAGE,
                    "--memory and --multiplier cannot be combined with --shards: give -n and -p");
    return DEJA_OK;
}

int remote_run(struct call *call, const struct remote_job *what, deja_error *err)
{
    static const enum urlkeys_use uses[] = {
        [REMOTE_DEDUP] = URLKEYS_COMPARE,
        [REMOTE_CHECK] = URLKEYS_LOOK_UP,
        [REMOTE_ADD] = URLKEYS_STORE,
    };
    struct job j = {.call = call, .what = what};
    const struct shared_options *c = what->shared;
    uint8_t unused[DEJA_KEY_LEN];
    deja_options opt;
    int rc = has_several(&j) ? check_several(what, err) : check_one(c, err);
    /* The others may have to create the cache, so they must know its profile. */
    if (rc == DEJA_OK && what->use != REMOTE_CHECK)
        rc = shared_check_url(c, err);
    if (rc == DEJA_OK && what->use != REMOTE_ADD)
        rc = session_output(&j.session, call, c, what->first, err);
    if (rc == DEJA_OK)
        rc = session_begin(&j.session, c, uses[what->use], unused, &opt, err);
    if (has_several(&j))
        opt.filters = (uint32_t)c->redis.n;
    else if (rc == DEJA_OK && !c->fixed)
        (void)deja_options_grow(&opt); /* kinds that cannot grow need -n */
    if (rc == DEJA_OK)
        rc = open_cache(&j, &opt, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, c, what->first, j.hasher, err);
    if (rc == DEJA_OK && j.machines)
        session_on_pause(&j.session, on_pause, &j);
    if (rc == DEJA_OK) {
        j.sync_output = what->use == REMOTE_DEDUP && call_is_file(j.session.out);
        rc = finish(&j, session_each(&j.session, process, &j, err), err);
    }
    rc = session_finish(&j.session, rc, err);
    deja_filter_free(j.hasher);
    deja_filter_free(j.recent);
    shards_close(j.shards);
    machines_close(j.machines);
    free(j.want);
    return rc;
}

#else

int remote_run(struct call *call, const struct remote_job *what, deja_error *err)
{
    struct shards *none;
    (void)call, (void)what;
    return shards_open(NULL, &none, err);
}

#endif
