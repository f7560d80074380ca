/* cmd_add.c - put the keys of lines into filter files: add to one that is there, build a new one.
 */
#include "cli/options/keyfile.h"
#include "cli/server/remote.h"
#include "cli/session/dcso_build.h"
#include "cli/session/existing.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include <math.h>
#include <unistd.h>

struct add_options {
    struct shared_options shared;
    const char *like;
};

/* What both commands do once they have a filter. */
struct job {
    const struct call *call;
    const struct shared_options *shared;
    deja_filter *filter;
    struct session session;
    uint64_t added;
    bool sync_while_working; /* not for a new file: it appears when it is complete */
};

static int add_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = deja_filter_add_hashed(j->filter, b->hash, b->keyed, b->answer, NULL, err);
    if (rc < 0)
        return rc;
    session_spread(b, false);
    j->added += session_count(b);
    session_watch(&j->session, fail_path(j->call->operands[0]).text);
    return DEJA_OK;
}

static int add_all(struct job *j, deja_error *err)
{
    return j->sync_while_working ? session_each_synced(&j->session, j->filter, add_batch, j, err)
                                 : session_each(&j->session, add_batch, j, err);
}

static uint64_t known(const struct job *j)
{
    return j->session.records - j->session.keyless - j->added;
}

static void report_json(const struct job *j, const deja_stats *s)
{
    struct json json;
    json_begin(&json, j->call->out);
    json_object(&json, NULL);
    json_string(&json, "file", j->call->operands[0]);
    json_uint(&json, "read", j->session.records);
    json_uint(&json, "added", j->added);
    json_uint(&json, "known", known(j));
    json_string(&json, "kind", deja_kind_name(s->kind));
    json_uint(&json, "keys", s->keys);
    json_uint(&json, "capacity", s->capacity);
    json_real(&json, "fp_now", s->fp_now);
    json_real(&json, "lost", s->lost);
    json_bool(&json, "over_capacity", session_too_many(j->filter) != 0);
    if (s->deletions_capacity)
        json_uint(&json, "hidden", s->hidden);
    json_uint(&json, "filter_bytes", s->bytes);
    session_json_end(&j->session, &json);
}

/* Only a paired filter hides what was added. */
static void warn_hidden(const struct job *j, const deja_stats *s)
{
    if (s->hidden > 0)
        console_note(
            j->call->console,
            "%s added so far will NOT be found: its key is among the deletions of %s, and "
            "what was removed never comes back",
            num_lines(s->hidden).s, fail_path(j->call->operands[0]).text);
}

static void report(const struct job *j)
{
    deja_stats s = DEJA_STATS_INIT;
    const double seconds = progress_seconds(&j->session.progress);
    const bool shown = j->shared->json || !j->shared->quiet;
    if (deja_filter_stats(j->filter, shown ? DEJA_STATS_BODY : 0, &s, NULL) < 0)
        return;
    session_warn_missing(&j->session);
    if (j->shared->json)
        report_json(j, &s);
    else
        console_note(
            j->call->console, "%s%s read, %s added, %s known already; %s: %s, rate now %s; %s",
            j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
            num_count(j->added).s, num_count(known(j)).s, fail_path(j->call->operands[0]).text,
            num_bytes(s.bytes).s, num_rate(s.fp_now).s, num_duration(seconds).s);
    warn_hidden(j, &s);
    const uint64_t too_many = session_too_many(j->filter);
    if (too_many)
        console_note(j->call->console,
                     "%s was sized for %s and holds %s: build it anew with a larger -n",
                     fail_path(j->call->operands[0]).text, num_of(s.capacity, "key").s,
                     num_count(too_many).s);
}

/* rc: of having made or opened the filter. */
static int work(struct job *j, int rc, deja_error *err)
{
    if (rc == DEJA_OK)
        rc = session_open(&j->session, j->call, j->shared, 1, j->filter, NULL, err);
    if (rc == DEJA_OK)
        rc = add_all(j, err);
    if (rc == DEJA_OK && j->sync_while_working)
        rc = deja_filter_sync(j->filter, err);
    else if (rc == DEJA_OK && !j->session.stopped)
        rc = existing_explain(deja_filter_sync(j->filter, err), j->call->operands[0], false,
                              j->shared->force, err);
    if (rc == DEJA_OK && !j->sync_while_working && j->session.stopped)
        console_note(j->call->console, "stopped: %s was not made",
                     fail_path(j->call->operands[0]).text);
    else if (rc == DEJA_OK)
        report(j);
    deja_error late = {0};
    if (rc < 0 && j->filter && j->sync_while_working && deja_filter_sync(j->filter, &late) < 0 &&
        strcmp(late.text, err->text) != 0)
        console_error(j->call->console, "%s", late.text);
    session_close(&j->session);
    deja_filter_free(j->filter);
    return rc;
}

/* --- add ------------------------------------------------------------------ */

static const struct opt add_table[] = {
    OPT_GROUP(struct add_options, shared, shared_input),
    OPT_GROUP(struct add_options, shared, shared_url),
    OPT_GROUP(struct add_options, shared, shared_file_key),
    OPT_GROUP(struct add_options, shared, shared_redis),
    OPT_GROUP(struct add_options, shared, shared_general),
    OPT_END,
};

static int run_add(struct call *call, deja_error *err)
{
    const struct add_options *o = call->options;
    const struct remote_job remote = {REMOTE_ADD, &o->shared, call->operands[0], 1, false, false};
    if (o->shared.redis)
        return remote_run(call, &remote, err);
    struct job j = {.call = call, .shared = &o->shared, .sync_while_working = true};
    int rc = session_begin_file(&j.session, &o->shared, URLKEYS_STORE, call->operands[0],
                                DEJA_OPEN_WRITE, &j.filter, err);
    if (rc == DEJA_EIO && access(call->operands[0], F_OK) < 0)
        rc = fail(err, rc, "%s does not exist; `deja build` makes a filter file",
                  fail_path(call->operands[0]).text);
    return work(&j, rc, err);
}

const struct command cmd_add = {
    .name = "add",
    .summary = "add lines to a filter file",
    .operands = "F.deja [FILE]...",
    .options = add_table,
    .options_size = sizeof(struct add_options),
    .description =
        "Adds the lines of the files (standard input without any) to the filter in F.deja. "
        "What was added is on disk when the command ends, also after Ctrl-C, and at least "
        "every half minute before that. One process can write a filter at a time; others may "
        "read it meanwhile.",
    .notes = {SESSION_KEY_TEXT " Every host counts as a line.",
              SESSION_URL_TEXT "added unchanged; with gsb, they are skipped.",
              REMOTE_TEXT
              " F.deja is the name of the cache then, which is made if there is none."},
    .examples = {{"one more URL", "echo https://example.org/ | deja add seen.deja"}},
    .run = run_add,
};

/* --- build ---------------------------------------------------------------- */

static const struct opt build_table[] = {
    OPT_STRING(0, "like", "F.deja", struct add_options, like,
               "for the keys that are in F.deja (and 1% more), at its rate, with its URL profile; "
               "-n, -p, -m and --url say otherwise"),
    OPT_GROUP(struct add_options, shared, shared_force),
    OPT_GROUP(struct add_options, shared, shared_mode),
    OPT_GROUP(struct add_options, shared, shared_sizing),
    OPT_GROUP(struct add_options, shared, shared_input_dcso),
    OPT_GROUP(struct add_options, shared, shared_url),
    OPT_GROUP(struct add_options, shared, shared_secret),
    OPT_GROUP(struct add_options, shared, shared_general),
    OPT_END,
};

/* Finds out now, not after reading all keys, whether the file can be created: a filter that is
 * never synced leaves nothing. */
static int try_name(const char *path, unsigned flags, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f;
    opt.capacity = 1;
    opt.seed = 1;
    const int rc = deja_filter_create(path, flags, &opt, &f, err);
    deja_filter_free(f);
    return rc;
}

static int collect(struct job *j, deja_builder *b, deja_error *err)
{
    struct batch *batch;
    int rc;
    while ((rc = session_next(&j->session, &batch, err)) > 0)
        if (deja_builder_add_hashed(b, batch->hash, batch->keyed, err) < 0)
            return fail(err, DEJA_ENOMEM,
                        "out of memory after %s: a static filter takes 8 bytes a key while they "
                        "are read, and 32 then",
                        num_lines(j->session.records).s);
    return rc;
}

static void hash_for_builder(const void *context, const deja_slice *keys, size_t n, uint64_t *hash)
{
    deja_builder_hash_batch(context, keys, n, hash);
}

/* All keys first, then the filter. */
static int build_static(struct job *j, const deja_options *opt, deja_error *err)
{
    const char *path = j->call->operands[0];
    deja_builder *b = NULL;
    deja_stats s = DEJA_STATS_INIT;
    const unsigned flags = shared_create_flags(j->shared);
    int rc = try_name(path, flags, err);
    if (rc == DEJA_OK)
        rc = deja_builder_new(opt, &b, err);
    j->session.hash = (struct pipeline_hash){1, hash_for_builder, b};
    if (rc == DEJA_OK)
        rc = session_open(&j->session, j->call, j->shared, 1, NULL, NULL, err);
    if (rc == DEJA_OK)
        rc = collect(j, b, err);
    if (rc == DEJA_OK && !j->session.stopped) {
        console_line(j->call->console, "all lines are read; making the filter");
        rc = deja_builder_finish(b, path, flags, &j->filter, err);
        j->session.stopped = signals_stopped(j->call->stop);
        if (rc == DEJA_OK && !j->session.stopped)
            rc = deja_filter_sync(j->filter, err);
        rc = existing_explain(rc, path, false, j->shared->force, err);
        console_clear(j->call->console);
    }
    if (rc == DEJA_OK && j->session.stopped)
        console_note(j->call->console, "stopped: %s was not made", fail_path(path).text);
    else if (rc == DEJA_OK && deja_filter_stats(j->filter, 0, &s, err) == DEJA_OK) {
        j->added = s.keys;
        report(j);
    }
    session_close(&j->session);
    deja_builder_free(b);
    deja_filter_free(j->filter);
    return rc;
}

static int look_at(const char *path, const struct shared_options *c, deja_stats *s,
                   deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    int rc = c->key_file ? keyfile_read(c, key, err) : DEJA_OK;
    expect.key = c->key_file ? key : NULL;
    if (rc == DEJA_OK)
        rc = deja_filter_open(path, 0, &expect, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, s, err);
    deja_filter_free(f);
    return rc;
}

/* What was not said is as in the file: how many different keys, their rate, their form. */
static int be_like(const char *path, struct shared_options *c, deja_stats *s, deja_error *err)
{
    const int rc = look_at(path, c, s, err);
    if (rc < 0)
        return rc;
    const double lost = s->lost < (double)s->keys ? s->lost : 0; /* beyond, it is a guess */
    if (c->filter.capacity == 0 && c->filter.memory == 0 &&
        deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        c->filter.capacity = s->capacity;
    else if (c->filter.capacity == 0 &&
             c->filter.memory == 0) /* the lost ones were estimated: some to spare */
        c->filter.capacity = s->keys + (uint64_t)lost + s->keys / 100 + 1;
    /* A rate that followed from a generous size may be that of equal hashes alone, n / 2^64. */
    if (!(c->filter.fp_rate > 0) && c->filter.memory == 0)
        c->filter.fp_rate = fmax(s->fp_rate, fmin((double)c->filter.capacity * 0x1p-61, 0.5));
    if (c->url == 0)
        c->url = s->profile;
    return DEJA_OK;
}

static bool is_filter_name(const char *path)
{
    const size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".deja") == 0;
}

/* May the new filter have its name?  `deja build urls.txt out.deja` has its operands swapped. */
static int check_name(const struct call *call, const struct shared_options *c, deja_error *err)
{
    const char *path = call->operands[0];
    const int rc = existing_check(path, c->dcso, c->force, err);
    if (rc < 0 && call->n_operands > 1 && !existing_is_filter(path) &&
        is_filter_name(call->operands[1]))
        return fail(err, OPT_USAGE,
                    "%s exists and is not a filter file; the new filter comes first: deja build "
                    "%.60s %.40s",
                    fail_path(path).text, fail_path(call->operands[1]).text, fail_path(path).text);
    return rc;
}

static int run_build(struct call *call, deja_error *err)
{
    const struct add_options *o = call->options;
    struct shared_options shared = o->shared;
    struct job j = {.call = call, .shared = &shared};
    uint8_t key[DEJA_KEY_LEN];
    deja_options opt;
    deja_stats like = DEJA_STATS_INIT;
    int rc = check_name(call, &shared, err);
    if (rc == DEJA_OK && o->like)
        rc = be_like(o->like, &shared, &like, err);
    if (rc == DEJA_OK)
        rc = session_begin(&j.session, &shared, URLKEYS_STORE, key, &opt, err);
    if (rc == DEJA_OK && shared.dcso)
        return dcso_build(&j.session, call, &shared, err);
    if (rc == DEJA_OK && like.profile && shared.url == like.profile)
        opt.url = urlkeys_use_version(&j.session.urls, like.url_rules);
    if (rc == DEJA_OK && like.profile && shared.url == like.profile &&
        deja_url_rules_id(opt.url) != like.url_rules)
        rc = fail(err, DEJA_EMISMATCH,
                  "%s has URLs of profile %s by other rules: give the same --drop-params and "
                  "--keep-params",
                  fail_path(o->like).text, deja_profile_name(like.profile));
    if (rc == DEJA_OK) {
        opt.format = like.format; /* 0 without --like: the newest */
        rc = session_choose_size(call, &shared, 1, &opt, err);
    }
    if (rc == DEJA_OK && deja_kind_can(opt.kind, DEJA_CAN_BUILD))
        return build_static(&j, &opt, err);
    if (rc == DEJA_OK)
        rc = deja_filter_create(call->operands[0], shared_create_flags(&shared), &opt, &j.filter,
                                err);
    return work(&j, rc, err);
}

const struct command cmd_build = {
    .name = "build",
    .summary = "make a filter file from lines",
    .operands = "OUT.deja [FILE]...",
    .options = build_table,
    .options_size = sizeof(struct add_options),
    .description =
        "Builds the filter file OUT.deja from the lines of the files, or of standard input if "
        "none are given. The file appears when it is complete. If OUT.deja exists, build "
        "refuses to replace it unless --force is given; even then Ctrl-C or a crash leaves "
        "the old filter as it was, and a file that is not a filter stays. An empty file, such "
        "as one made by mktemp, may be replaced without --force.\n\n"
        "With -k static it becomes a set that never changes: the smallest kind for lists that "
        "are complete. All keys are read first, 8 bytes each, and 32 while it is made.\n\n"
        "With -k layered it becomes a multi-layer Bloom filter: URLs are cut at their "
        "slashes, each segment goes into the filter of its layer, and all of them together "
        "into one more, the XOR layer. It takes several times the memory of blocked, and also "
        "answers `deja check --prefix`: was this site, or anything under this folder, seen? "
        "--layered paper makes it as published, where URLs with swapped segments are taken "
        "for each other; --words BYTE cuts keys into words, which go to the layers in turn, "
        "one layer for each k of them unless --layers says how many.\n\n"
        "Without -n or -m it is sized from the length of the files. Either way the size is "
        "only a first size: `deja add` can put more keys into the file, which then grows, and "
        "the rate stays. With --fixed, and with options that pin the body (-m, --hashes, "
        "--filters), it does not grow; a warning says so when it holds more keys than it was "
        "sized for. `deja plan` helps to choose.\n\n"
        "With --like it is sized for the keys that are in another file, with an eye to a "
        "scalable one that has grown: one filter of the same keys is smaller and faster.\n\n"
        "With --format dcso the file is not one of deja but of DCSO's program bloom, which "
        "Debian has: of version 1, compressed with gzip when its name ends with .gz. It takes "
        "-n and -p; another --format beside it is that of the lines. Such files have no "
        "secret: whoever wants to can find URLs that they claim.\n\n"
        "With --url=gsb the file is a block list, from lines with URLs or hosts, --format "
        "hosts, or --csv COLUMN. evil.example stands for the site with its subdomains, "
        "http://evil.example/bad/ for what is under that folder, and "
        "http://evil.example/a?b=1 for that page; `deja check --url=gsb` finds them.",
    .notes = {SESSION_KEY_TEXT " Every host counts as a line.",
              SESSION_URL_TEXT "added unchanged; with gsb, they are skipped."},
    .examples =
        {{"a filter of a list, with one wrong answer in a thousand",
          "deja build -p 1e-3 list.deja docs/examples/sample-urls.txt"},
         {"one that fits 64 MiB, for 40 million keys",
          "deja build -n 40M -m 64M large.deja urls.txt.zst"},
         {"a list that never changes, in 9 bits a key, with one wrong answer in 256",
          "deja build -k static -p 0.01 static.deja docs/examples/sample-urls.txt"},
         {"one filter in the place of a series that has grown, when the keys are there again",
          "deja build --like seen.deja -k blocked one.deja urls.txt"},
         {"the same list every night", "deja build --force list.deja urls.txt"},
         {"one that also knows which sites and folders it has seen",
          "deja build -k layered -p 1e-3 sites.deja docs/examples/sample-urls.txt"},
         {"a block list of hosts", "deja build --format hosts block.deja hosts.txt"},
         {"a filter for programs that read DCSO's bloom files",
          "deja build --format dcso -n 1M -p 1e-3 list.bloom docs/examples/sample-urls.txt"},
         {"one that blocks their subdomains and pages, too",
          "deja build --url=gsb --format hosts bad.deja hosts.txt"}},
    .run = run_build,
};
