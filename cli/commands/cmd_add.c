/* cmd_add.c - deja add and deja build: add the keys of lines to an existing or a new filter
 * file. */
#include "cli/commands/build_from_sieve.h"
#include "cli/commands/build_like.h"
#include "cli/commands/build_sieve.h"
#include "cli/options/keyfile.h"
#include "cli/server/remote.h"
#include "cli/session/allowlist.h"
#include "cli/session/existing.h"
#include "cli/session/foreign_build.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include <math.h>
#include <unistd.h>

/* Used by both commands. */
struct job {
    const struct call *call;
    const struct shared_options *shared;
    deja_filter *filter;
    struct session session;
    struct allowlist allowed; /* path is NULL: no --except */
    uint64_t added;
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

static uint64_t known(const struct job *j)
{
    const uint64_t used = j->added + j->allowed.excepted.left_out;
    return j->session.records - j->session.keyless - used;
}

static void report_json(const struct job *j, const deja_stats *s)
{
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    json_string(&r.json, "file", j->call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "added", j->added);
    json_uint(&r.json, "known", known(j));
    json_string(&r.json, "kind", deja_kind_name(s->kind));
    json_uint(&r.json, "keys", s->keys);
    json_uint(&r.json, "capacity", s->capacity);
    json_real(&r.json, "fp_now", s->fp_now);
    json_real(&r.json, "lost", s->lost);
    json_bool(&r.json, "over_capacity", session_too_many(j->filter) != 0);
    if (s->deletions_capacity)
        json_uint(&r.json, "hidden", s->hidden);
    json_uint(&r.json, "filter_bytes", s->bytes);
    json_bool(&r.json, "grew", session_grew(&j->session));
    if (j->allowed.path)
        allowlist_json(&j->allowed, &r.json);
    session_report_end(&r, &j->session);
}

/* Only paired filters hide keys that were added. */
static void warn_hidden(const struct job *j, const deja_stats *s)
{
    if (s->hidden > 0)
        console_note(
            j->call->console,
            "%s added so far will NOT be found: the key was removed from %s, and a paired filter "
            "never finds a removed key again",
            num_lines(s->hidden).s, fail_path(j->call->operands[0]).text);
}

static void tell_all(const struct job *j, const deja_stats *s)
{
    console_note(j->call->console, "%s%s read, %s new, %s seen before; %s: %s, rate now %s; %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->added).s, num_count(known(j)).s,
                 fail_path(j->call->operands[0]).text, num_bytes(s->bytes).s,
                 num_rate(s->fp_now).s, num_duration(progress_seconds(&j->session.progress)).s);
}

static void tell(const struct job *j)
{
    struct closing c = session_closing_new(&j->session, j->added, known(j));
    if (j->allowed.path)
        closing_count(&c, j->allowed.excepted.left_out, "left out");
    session_print_closing(&j->session, &c);
}

static void report(const struct job *j)
{
    deja_stats s = DEJA_STATS_INIT;
    const bool all = j->shared->json || j->shared->verbose;
    if (deja_filter_stats(j->filter, all ? DEJA_STATS_BODY : 0, &s, NULL) < 0)
        return;
    session_warn_missing(&j->session);
    if (j->allowed.path)
        allowlist_report(&j->allowed, j->call->console, j->shared->json, j->call->operands[0]);
    if (j->shared->json)
        report_json(j, &s);
    else if (j->shared->verbose)
        tell_all(j, &s);
    else
        tell(j);
    warn_hidden(j, &s);
    const uint64_t too_many = session_too_many(j->filter);
    if (too_many)
        console_note(j->call->console,
                     "%s was sized for %s and holds %s; rebuild it with a larger -n",
                     fail_path(j->call->operands[0]).text, num_of(s.capacity, "key").s,
                     num_count(too_many).s);
}

/* --- add ------------------------------------------------------------------ */

static const struct opt add_table[] = {
    OPT_PART(shared_memory),
    OPT_PART(shared_input),
    OPT_PART(shared_url),
    OPT_PART(shared_file_key),
    OPT_PART(shared_redis),
    OPT_PART(shared_general),
    OPT_END,
};

static int run_add(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .shared = call->options};
    const struct remote_job remote = {REMOTE_ADD, j.shared, call->operands[0], 1, false, false};
    if (j.shared->redis.n)
        return remote_run(call, &remote, err);
    if (deja_sieve_exists(call->operands[0]))
        return add_sieve_run(call, err);
    int rc = sieves_refuse_memory(j.shared, call->operands[0], err);
    if (rc < 0)
        return rc;
    rc = session_start(&j.session, call, URLKEYS_STORE, DEJA_OPEN_WRITE, DEJA_CAN_ADD, &j.filter,
                       err);
    if (rc == DEJA_EIO && access(call->operands[0], F_OK) < 0)
        rc = fail(err, rc, "%s does not exist; create it with `deja build`",
                  fail_path(call->operands[0]).text);
    if (rc == DEJA_OK)
        rc = session_each_synced(&j.session, j.filter, add_batch, &j, err);
    if (rc == DEJA_OK)
        report(&j);
    session_close(&j.session);
    deja_filter_free(j.filter);
    return rc;
}

const struct command cmd_add = {
    .name = "add",
    .often = true,
    .summary = "add lines to a filter file",
    .operands = "F.deja [FILE]...",
    .options = add_table,
    .options_size = sizeof(struct shared_options),
    .description =
        "Adds the lines of the files, or of standard input if none are given, to the filter in "
        "F.deja. Added keys are on disk when the command ends, even after Ctrl-C, and are synced "
        "at least every half minute before that. One process can write a filter; others can read "
        "it at the same time.\n\n"
        "F.deja can also be the directory of a sieve (deja-dedup(1), --sieve, and deja-build(1), "
        "--sieve). Its keys are exact. Keys that it cannot decide in memory wait until it has read "
        "its runs, at the latest at the end. Lines of `deja dedup --sieve` that wait for output "
        "must be printed first.",
    .notes = {SESSION_KEY_TEXT " Each host counts as a line.",
              SESSION_URL_TEXT "added unchanged; with gsb, they are skipped.",
              REMOTE_TEXT " F.deja is then the name of the cache, which is created if missing."},
    .examples = {{"one more URL", "echo https://example.org/ | deja add seen.deja"},
                 {"all lines of a list", "deja add seen.deja urls.txt"},
                 {"the third field of each line", "deja add -f 3 seen.deja crawl.log"},
                 {"a sieve", "deja build -q --sieve both urls.txt && deja add both today.txt"}},
    .run = run_add,
};

/* --- build ---------------------------------------------------------------- */

static int check_build(const void *target, deja_error *err)
{
    const struct build_options *o = target;
    if (o->sieve || o->from_sieve)
        return o->sieve ? build_sieve_check(o, err) : build_from_sieve_check(o, err);
    if (o->except && (o->shared.foreign || !deja_kind_can(o->shared.filter.kind, DEJA_CAN_BUILD)))
        return fail(err, OPT_USAGE,
                    "--except needs -k static: the mistakes of a filter that never changes are "
                    "known");
    return DEJA_OK;
}

static const struct opt build_table[] = {
    OPT_STRING(
        0, "like", "F.deja", struct build_options, like,
        "copy the kind, size, secret key and URL profile of F.deja, so that both can be merged; "
        "other options override them"),
    OPT_STRING(0, "except", "FILE", struct build_options, except,
               "leave out the keys of FILE, an allow list, and never find them (kind static)"),
    OPT_FLAG(0, "sieve", struct build_options, sieve,
             "make a sieve, which answers with certainty: OUT.deja is a directory"),
    OPT_STRING(0, "from-sieve", "DIR", struct build_options, from_sieve,
               "read the keys from the sieve DIR instead of lines"),
    OPT_GROUP(struct build_options, shared, shared_force),
    OPT_GROUP(struct build_options, shared, shared_mode),
    OPT_GROUP(struct build_options, shared, shared_sizing),
    OPT_GROUP(struct build_options, shared, shared_input_foreign),
    OPT_GROUP(struct build_options, shared, shared_url),
    OPT_GROUP(struct build_options, shared, shared_secret),
    OPT_GROUP(struct build_options, shared, shared_general),
    OPT_CHECK(check_build),
    OPT_END,
};

/* Checks before reading all keys whether the file can be created.  A filter that is never synced
 * creates no file. */
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
                        "out of memory after %s; building a static filter takes 8 bytes per key "
                        "while reading, then 32",
                        num_lines(j->session.records).s);
    return rc;
}

static void hash_for_builder(const void *context, const deja_slice *keys, size_t n, uint64_t *hash)
{
    deja_builder_hash_batch(context, keys, n, hash);
}

/* rc is the status so far, from reading the keys and making the filter. */
static int finish_build(struct job *j, int rc, deja_error *err)
{
    const char *path = j->call->operands[0];
    j->session.stopped |= signals_stopped(j->call->stop);
    if (rc == DEJA_OK && !j->session.stopped)
        rc = deja_filter_sync(j->filter, err);
    rc = existing_explain(rc, path, NULL, j->shared->force, err);
    if (rc == DEJA_OK && j->session.stopped)
        console_note(j->call->console, "stopped: %s was not created", fail_path(path).text);
    else if (rc == DEJA_OK) {
        session_note_bytes(&j->session, path);
        report(j);
    }
    return rc;
}

static int build(struct job *j, const deja_options *opt, deja_error *err)
{
    int rc = deja_filter_create(j->call->operands[0], shared_create_flags(j->shared), opt,
                                &j->filter, err);
    if (rc == DEJA_OK)
        rc = session_open(&j->session, j->call, j->shared, 1, j->filter, err);
    if (rc == DEJA_OK)
        rc = finish_build(j, session_each(&j->session, add_batch, j, err), err);
    return rc;
}

/* Reads the allow list before the block list. */
static int read_allowed(struct job *j, deja_builder *b, deja_error *err)
{
    const struct build_options *o = j->call->options;
    if (!o->except)
        return DEJA_OK;
    if (strcmp(o->except, "-") == 0 && j->call->n_operands == 1)
        return fail(err, OPT_USAGE,
                    "standard input cannot be both lists; name a file for --except or for the "
                    "block list");
    return allowlist_read(&j->allowed, o->except, j->call, &j->session, j->session.hash, b, err);
}

/* Reads all keys first, then makes the filter. */
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
        rc = read_allowed(j, b, err);
    if (rc == DEJA_OK)
        rc = session_open(&j->session, j->call, j->shared, 1, NULL, err);
    if (rc == DEJA_OK)
        rc = collect(j, b, err);
    if (rc == DEJA_OK && !j->session.stopped) {
        console_line(j->call->console, "read all lines", "; building the filter");
        rc = deja_builder_finish(b, path, flags, &j->filter, err);
        if (rc == DEJA_OK && j->allowed.path)
            rc = allowlist_finish(&j->allowed, b, err);
        if (rc == DEJA_OK)
            rc = deja_filter_stats(j->filter, 0, &s, err);
        j->added = s.keys;
        console_clear(j->call->console);
    }
    rc = finish_build(j, rc, err);
    session_close(&j->session);
    deja_builder_free(b);
    return rc;
}

static bool is_filter_name(const char *path)
{
    const size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".deja") == 0;
}

/* Checks the name of the new filter, and detects swapped operands: deja build urls.txt
 * out.deja. */
static int check_name(const struct call *call, const struct shared_options *c, deja_error *err)
{
    const char *path = call->operands[0];
    if (*path && path[strlen(path) - 1] == '/')
        return fail(err, OPT_USAGE, "%s is the name of a directory; to make a sieve, give --sieve",
                    fail_path(path).text);
    const int rc = existing_check(path, shared_foreign(c->foreign), c->force, err);
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
    const struct build_options *o = call->options;
    struct shared_options shared = o->shared;
    struct job j = {.call = call, .shared = &shared};
    uint8_t key[DEJA_KEY_LEN];
    deja_options opt;
    struct build_like like = {.stats = DEJA_STATS_INIT};
    if (o->sieve || o->from_sieve)
        return o->sieve ? build_sieve_run(call, err) : build_from_sieve_run(call, err);
    int rc = check_name(call, &shared, err);
    if (rc == DEJA_OK && o->like)
        rc = build_like_init(&like, o->like, &shared, err);
    if (rc == DEJA_OK)
        rc = shared_check_url(&shared, err);
    if (rc == DEJA_OK)
        rc = session_begin(&j.session, &shared, URLKEYS_STORE, key, &opt, err);
    if (rc == DEJA_OK && shared.foreign) {
        build_like_fini(&like);
        return foreign_build(&j.session, call, &shared, err);
    }
    if (rc == DEJA_OK && like.stats.profile && shared.url == like.stats.profile)
        rc = urlkeys_use_version(&j.session.urls, o->like, like.stats.url_rules, err);
    opt.url = j.session.urls.rules;
    if (rc == DEJA_OK)
        rc = session_choose_size(call, &shared, 1, &opt, err);
    if (rc == DEJA_OK)
        rc = deja_kind_can(opt.kind, DEJA_CAN_BUILD) ? build_static(&j, &opt, err)
                                                     : build(&j, &opt, err);
    session_close(&j.session);
    deja_filter_free(j.filter);
    build_like_fini(&like);
    return rc;
}

const struct command cmd_build = {
    .name = "build",
    .often = true,
    .summary = "create a filter file from lines",
    .operands = "OUT.deja [FILE]...",
    .options = build_table,
    .options_size = sizeof(struct build_options),
    .description =
        "Builds the filter file OUT.deja from the lines of the files, or of standard input if "
        "none are given. The file appears when it is complete. If OUT.deja exists, build "
        "refuses to replace it unless --force is given. Even with --force, Ctrl-C or a crash "
        "leaves the old filter unchanged, and a file that is not a filter is never replaced, "
        "unless it is empty, such as one created by mktemp.\n\n"
        "With --sieve, it makes a sieve in the directory OUT.deja: exact answers, in fixed memory "
        "(-m), however many keys there are. The directory appears when it is complete; an existing "
        "sieve is replaced only with --force, atomically. --like DIR copies the secret key and URL "
        "profile of another sieve, so that both can be merged. `deja add`, `check`, `merge`, "
        "`info`, `verify` and `dedup --sieve` take the directory.\n\n"
        "With --from-sieve DIR, the keys come from a sieve, not from lines. The filter has the "
        "secret key and URL profile of the sieve and is sized for its keys, unless -n, or -m and "
        "-p, are given. A sieve stores 64-bit hashes, not keys, so kind layered, the papers' --hash and "
        "--except are not possible.\n\n"
        "With -k static the filter cannot change: the smallest kind, for complete lists. Building "
        "it takes 8 bytes per key while reading, then 32.\n\n"
        "--except FILE names an allow list, which is read like the other files. Keys on both lists "
        "are left out of the filter. The other allowed keys are looked up, and those that the "
        "filter would find by mistake are stored as exceptions: no key of FILE is ever found, and "
        "every other key of the block list is. With --url=gsb this covers all lookups of an "
        "allowed URL. But an allowed page does not unblock its site: if evil.example is blocked, "
        "http://evil.example/good still matches, and a warning says so.\n\n"
        "With -k layered, the filter is a multi-layer Bloom filter: each segment of a URL, "
        "between slashes, goes into the filter of its layer, and all segments together into one "
        "more, the XOR layer. It takes several times the memory of blocked, and also answers "
        "`deja check --prefix`: was this site, or anything under this folder, seen? --layered "
        "paper hashes as published, which confuses URLs with swapped segments. --words BYTE "
        "splits keys into words, which go to the layers in turn, one layer for each k words "
        "unless --layers is given.\n\n"
        "Without -n or -m, deja sizes the filter from the length of the files. This is only the "
        "initial size: `deja add` can add more keys, and the file grows while its rate stays the "
        "same. With --fixed, and with options that determine the body (-m, --hashes, --filters), "
        "it does not grow; deja warns if it holds more keys than it was sized for. `deja plan` "
        "helps to choose.\n\n"
        "With --like, the filter gets the kind, size, hash, secret key and URL profile of another "
        "file, so that `deja merge` can combine both bit by bit. If that filter has grown, the "
        "new one is sized for its keys plus 1% instead: a single filter of the same keys is "
        "smaller and faster.\n\n"
        "With --format dcso and the following, the file is for another program: DCSO's bloom; "
        "Google Guava, with keys as bytes or as unencoded characters (guava-chars); RedisBloom, "
        "as BF.SCANDUMP returns it; Apache Spark, in version 1 or 2; a filter block "
        "of Apache Parquet (sbbf); rbloom, with "
        "SHA-256 of pickled strings or of bytes (rbloom-sha256). It is compressed with gzip "
        "if its name ends with .gz. It takes -n and -p; a second --format sets the format of the "
        "lines. Such files have no secret key: anyone can find URLs that are false positives.\n\n"
        "With --url=gsb the file is a block list, made from URLs, hosts, --format hosts or --csv "
        "COLUMN. evil.example blocks the site and its subdomains, http://evil.example/bad/ "
        "everything under that folder, and http://evil.example/a?b=1 that page; query it with "
        "`deja check --url=gsb`.",
    .notes = {SESSION_KEY_TEXT " Each host counts as a line.",
              SESSION_URL_TEXT "added unchanged; with gsb, they are skipped."},
    .examples =
        {{"a filter of a list, with one false positive in a thousand",
          "deja build -p 1e-3 list.deja docs/examples/sample-urls.txt"},
         {"a filter of 64 MiB for 40 million keys",
          "deja build -n 40M -m 64M large.deja urls.txt.zst"},
         {"a list that never changes: 9 bits per key, one false positive in 256",
          "deja build -k static -p 0.01 static.deja docs/examples/sample-urls.txt"},
         {"a block list that never blocks an entry of an allow list",
          "deja build -k static -p 0.01 --except allow.txt safe.deja docs/examples/sample-urls.txt"},
         {"a single filter that replaces one that has grown, from the same keys",
          "deja build --like seen.deja -k blocked one.deja urls.txt"},
         {"a filter that can be merged with another, bit by bit",
          "deja build --like list.deja today.deja today.txt"},
         {"the same list every night", "deja build --force list.deja urls.txt"},
         {"a filter that also knows which sites and folders it has seen",
          "deja build -k layered -p 1e-3 sites.deja docs/examples/sample-urls.txt"},
         {"a sieve, which makes no mistakes", "deja build --sieve known urls.txt"},
         {"a small filter of its keys", "deja build --from-sieve known -p 1e-3 known.deja"},
         {"a block list of hosts", "deja build --format hosts block.deja hosts.txt"},
         {"a filter for programs that read DCSO bloom files",
          "deja build --format dcso -n 1M -p 1e-3 list.bloom docs/examples/sample-urls.txt"},
         {"a block list that also blocks subdomains and pages",
          "deja build --url=gsb --format hosts bad.deja hosts.txt"}},
    .run = run_build,
};
