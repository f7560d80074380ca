/* build_from_sieve.c - deja build --from-sieve; see build_from_sieve.h. */
#include "cli/commands/build_from_sieve.h"
#include "cli/session/existing.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/progress.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"

#define STOPPED 1 /* instead of a status */

/* --- Options ---------------------------------------------------------------------- */

static struct conflict conflict_of(const struct build_options *o, const char *format)
{
    const struct shared_options *c = &o->shared;
    const char *hashes = "a sieve stores hashes, not keys; build the filter from the lines";
    return o->like          ? (struct conflict){"--like", "the filter gets the key of the sieve"}
           : c->filter.seed ? (struct conflict){"--seed", "the filter gets the key of the sieve"}
           : o->except      ? (struct conflict){"--except", hashes}
           : c->foreign     ? (struct conflict){format, hashes}
           : c->filter.hash > DEJA_HASH_XXH3 ? (struct conflict){"--hash", hashes}
           : c->filter.flags & DEJA_DATES
               ? (struct conflict){"--dates", "a sieve does not store dates"}
               : (struct conflict){NULL, NULL};
}

int build_from_sieve_check(const struct build_options *o, deja_error *err)
{
    char input[200];
    const struct shared_word format = shared_foreign_word(o->shared.foreign);
    const int rc = sieves_refuse("--from-sieve", conflict_of(o, format.text), err);
    if (rc < 0)
        return rc;
    opt_list_given(shared_input_foreign, &o->shared, input, sizeof input);
    return input[0] ? fail(err, OPT_USAGE, "--from-sieve reads no lines: omit %s", input)
                    : DEJA_OK;
}

/* --- Building --------------------------------------------------------------------- */

struct job {
    const struct call *call;
    const char *path; /* of the sieve */
    struct shared_options shared;
    struct session session; /* the URL rules */
    struct progress progress;
    deja_sieve *sieve;
    deja_sieve_report report;
    deja_options opt;
    deja_filter *filter;
    deja_builder *builder; /* of a static filter */
    uint64_t taken;        /* keys so far */
    deja_error why;        /* if the filter cannot take a key */
};

static int open_sieve(struct job *j, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options given;
    int rc = session_begin(&j->session, &j->shared, URLKEYS_STORE, key, &j->opt, err);
    given = j->opt;
    given.memory = 0; /* of the filter */
    if (rc == DEJA_OK)
        rc = sieves_open(&j->session, j->path, 0, &given, &j->sieve, err);
    sys_wipe(key, sizeof key);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(j->sieve, &j->report, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_like(j->sieve, &j->opt, err);
    j->opt.url = j->session.urls.rules;
    return rc;
}

/* Room for all keys, unless the user has chosen another size. */
static int choose_size(struct job *j, deja_error *err)
{
    deja_options *given = &j->shared.filter;
    const uint64_t keys = j->report.keys ? j->report.keys : 1;
    if (!given->capacity && !(given->memory && given->fp_rate > 0))
        j->opt.capacity = given->capacity = keys;
    const int rc = session_choose_size(j->call, &j->shared, 1, &j->opt, err);
    if (rc == DEJA_OK && deja_kind_can(j->opt.kind, DEJA_CAN_EXPIRE) && j->opt.capacity &&
        j->opt.capacity < j->report.keys)
        return fail(err, OPT_USAGE,
                    "a window of %s would forget some of the %s in %s; use a larger -n",
                    num_of(j->opt.capacity, "key").s, num_count(j->report.keys).s,
                    fail_path(j->path).text);
    return rc;
}

static int create(struct job *j, const char *path, deja_error *err)
{
    if (deja_kind_can(j->opt.kind, DEJA_CAN_BUILD))
        return deja_builder_new(&j->opt, &j->builder, err);
    const int rc =
        deja_filter_create(path, shared_create_flags(&j->shared), &j->opt, &j->filter, err);
    if (rc == DEJA_OK && deja_filter_hash_words(j->filter) != 1)
        return fail(
            err, OPT_USAGE,
            "-k %s cannot be made from a sieve: it needs the text of the keys, and a sieve "
            "stores hashes; build it from the lines",
            deja_kind_name(j->opt.kind));
    return rc;
}

static int take(void *job, const uint64_t *hash, size_t n)
{
    struct job *j = job;
    if (signals_stopped(j->call->stop))
        return STOPPED;
    const int rc = j->builder ? deja_builder_add_hashed(j->builder, hash, n, &j->why)
                              : deja_filter_add_hashed(j->filter, hash, n, NULL, NULL, &j->why);
    j->taken += n;
    if (progress_due(&j->progress))
        progress_show(&j->progress, &(struct progress_now){.items = j->taken,
                                                           .done = j->taken,
                                                           .total = j->report.keys,
                                                           .fill = -1,
                                                           .lost = -1});
    return rc;
}

static int take_all(struct job *j, deja_error *err)
{
    progress_begin(&j->progress, j->call->console, NULL, "keys");
    const int rc = deja_sieve_each(j->sieve, take, j, err);
    progress_end(&j->progress);
    if (rc < 0 && j->why.text[0])
        *err = j->why;
    return rc;
}

static int complete(struct job *j, const char *path, deja_error *err)
{
    int rc = j->builder ? deja_builder_finish(j->builder, path, shared_create_flags(&j->shared),
                                              &j->filter, err)
                        : DEJA_OK;
    if (rc == DEJA_OK)
        rc = deja_filter_sync(j->filter, err);
    return existing_explain(rc, path, NULL, j->shared.force, err);
}

/* --- The account -------------------------------------------------------------------- */

static void report_json(const struct job *j, const deja_stats *s)
{
    struct json json;
    json_begin(&json, j->call->out);
    json_object(&json, NULL);
    json_string(&json, "file", j->call->operands[0]);
    json_string(&json, "sieve", j->path);
    json_uint(&json, "keys", j->taken);
    json_uint(&json, "pending", j->report.pending);
    json_string(&json, "kind", deja_kind_name(s->kind));
    json_uint(&json, "capacity", s->capacity);
    json_real(&json, "fp_now", s->fp_now);
    json_bool(&json, "over_capacity", session_too_many(j->filter) != 0);
    json_uint(&json, "filter_bytes", s->bytes);
    json_real(&json, "seconds", progress_seconds(&j->progress));
    json_end(&json);
}

static void report(const struct job *j)
{
    const char *path = j->call->operands[0];
    struct console *console = j->call->console;
    deja_stats s = DEJA_STATS_INIT;
    struct closing c;
    if (deja_filter_stats(j->filter, DEJA_STATS_BODY, &s, NULL) < 0)
        return;
    if (j->shared.json) {
        report_json(j, &s);
        return;
    }
    closing_begin(&c, console, false);
    closing_count_in(&c, j->taken, j->taken == 1 ? "key in" : "keys in", path);
    closing_remark(&c, "%s, rate %s", num_bytes(s.bytes).s, num_rate(s.fp_now).s);
    closing_print(&c, progress_seconds(&j->progress));
    if (j->report.pending)
        console_note(console, "%s in %s: not in the filter until settled",
                     j->report.pending == 1 ? "a key waits" : "some keys wait",
                     fail_path(j->path).text);
    if (session_too_many(j->filter))
        console_warn(console, "%s was sized for %s and holds %s; use a larger -n",
                     fail_path(path).text, num_of(s.capacity, "key").s, num_count(j->taken).s);
}

int build_from_sieve_run(struct call *call, deja_error *err)
{
    const struct build_options *o = call->options;
    const char *path = call->operands[0];
    struct job j = {.call = call,
                    .path = o->from_sieve,
                    .shared = o->shared,
                    .report = DEJA_SIEVE_REPORT_INIT};
    if (call->n_operands > 1)
        return fail(err, OPT_USAGE,
                    "--from-sieve reads no lines; add those of %s afterwards, with `deja add`",
                    fail_path(call->operands[1]).text);
    int rc = existing_check(path, false, j.shared.force, err);
    if (rc == DEJA_OK)
        rc = open_sieve(&j, err);
    if (rc == DEJA_OK)
        rc = choose_size(&j, err);
    if (rc == DEJA_OK)
        rc = create(&j, path, err);
    if (rc == DEJA_OK)
        rc = take_all(&j, err);
    if (rc == STOPPED)
        console_note(call->console, "stopped: %s was not created", fail_path(path).text);
    if (rc == DEJA_OK)
        rc = complete(&j, path, err);
    if (rc == DEJA_OK)
        report(&j);
    deja_builder_free(j.builder);
    deja_filter_free(j.filter);
    session_close(&j.session);
    deja_sieve_free(j.sieve);
    return rc < 0 ? rc : COMMAND_DONE;
}
