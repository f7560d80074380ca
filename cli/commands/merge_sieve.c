/* merge_sieve.c - deja merge for sieves; see merge_sieve.h.
 *
 * The union is a new sieve with the secret key of the first one, made next to its place and then
 * renamed; or, if it is to be one of the inputs, that sieve gets the keys of the others.  All inputs
 * are compared before anything is written.  Two sieves have the same secret key if they give the
 * same fingerprint to some key. */
#include "cli/commands/merge_sieve.h"
#include "cli/session/existing.h"
#include "cli/session/newsieve.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/progress.h"
#include "tools/base/signals.h"
#include <unistd.h>

#define MEMORY ((uint64_t)64 << 20)

bool merge_sieve_wanted(const struct call *call)
{
    for (size_t i = 0; i < call->n_operands; i++)
        if (deja_sieve_exists(call->operands[i]))
            return true;
    return false;
}

struct job {
    const struct call *call;
    const struct shared_options *c;
    const uint8_t *key;
    size_t into; /* the operand that is also the output; n_operands: none */
    struct newsieve place;
    struct progress progress;
    deja_sieve *sieve; /* the union */
};

/* Merges need memory for buffers, not for a filter that covers all keys well. */
static int open_one(const struct job *j, const char *path, unsigned flags, deja_sieve **out,
                    deja_error *err)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    opt.memory = MEMORY;
    opt.key = j->key;
    return deja_sieve_open(path, flags, &opt, out, err);
}

/* --- Comparing ---------------------------------------------------------------------- */

/* What must be equal. */
struct identity {
    deja_fingerprint print; /* of the empty key */
    deja_sieve_report report;
};

static int identify(const struct job *j, const char *path, struct identity *id, deja_error *err)
{
    static const deja_slice nothing = {"", 0};
    deja_sieve *s = NULL;
    *id = (struct identity){.report = DEJA_SIEVE_REPORT_INIT};
    int rc = open_one(j, path, 0, &s, err);
    if (rc == DEJA_OK) {
        deja_sieve_hash_batch(s, &nothing, 1, &id->print);
        rc = deja_sieve_stats(s, &id->report, err);
    }
    deja_sieve_free(s);
    return rc;
}

static int refuse_mix(const char *sieve, const char *other, deja_error *err)
{
    const struct fail_path one = fail_path(sieve), two = fail_path(other);
    if (existing_is_filter(other))
        return fail(err, DEJA_EMISMATCH,
                    "%.60s is a sieve and %.60s a filter file; make a filter of the sieve first: "
                    "deja build --from-sieve %.60s OUT.deja",
                    one.text, two.text, one.text);
    return access(other, F_OK) < 0
               ? fail(err, DEJA_EIO, "%s does not exist; check its name", two.text)
               : fail(err, DEJA_EFORMAT, "%s is not a sieve", two.text);
}

static const char *profile_of(const struct identity *id)
{
    const char *name = deja_profile_name(id->report.profile);
    return name ? name : "none";
}

static int compare(const char *a, const struct identity *one, const char *b,
                   const struct identity *other, deja_error *err)
{
    const struct fail_path first = fail_path(a), second = fail_path(b);
    const deja_sieve_report *r = &one->report, *s = &other->report;
    if (r->profile != s->profile)
        return fail(err, DEJA_EMISMATCH,
                    "%s and %s have different URL profiles: %s and %s; nothing was written",
                    first.text, second.text, profile_of(one), profile_of(other));
    if (r->url_rules != s->url_rules)
        return fail(err, DEJA_EMISMATCH,
                    "%s and %s have different rules for URLs of profile %s; nothing was written",
                    first.text, second.text, profile_of(one));
    if (one->print.hash != other->print.hash || one->print.check != other->print.check)
        return fail(err, DEJA_EMISMATCH,
                    "%.60s and %.60s have different secret keys; nothing was written. Rebuild one "
                    "of them from its list: deja build --sieve --force --like %.60s %.60s LIST",
                    first.text, second.text, first.text, second.text);
    return DEJA_OK;
}

/* Checks all inputs. */
static int check_all(const struct job *j, deja_error *err)
{
    const struct call *call = j->call;
    struct identity first, other;
    size_t sieve = 0;
    while (!deja_sieve_exists(call->operands[sieve])) /* merge_sieve_wanted found one */
        sieve++;
    for (size_t i = 0; i < call->n_operands; i++)
        if (!deja_sieve_exists(call->operands[i]))
            return refuse_mix(call->operands[sieve], call->operands[i], err);
    int rc = DEJA_OK;
    for (size_t i = 0; i < call->n_operands && rc == DEJA_OK; i++) {
        rc = identify(j, call->operands[i], i ? &other : &first, err);
        const deja_sieve_report *r = i ? &other.report : &first.report;
        if (rc == DEJA_OK && r->pending)
            rc = fail(err, DEJA_EBUSY,
                      "%.120s: %s; settle first, then merge again: deja dedup --sieve %.80s "
                      "/dev/null",
                      fail_path(call->operands[i]).text,
                      r->pending == 1 ? "a line waits" : "some lines wait",
                      fail_path(call->operands[i]).text);
        if (rc == DEJA_OK && i)
            rc = compare(call->operands[0], &first, call->operands[i], &other, err);
    }
    return rc;
}

/* --- Merging ------------------------------------------------------------------------ */

/* Opens the sieve that gets all keys. */
static int open_union(struct job *j, deja_error *err)
{
    const struct call *call = j->call;
    const deja_sieve_options opt = {.size = sizeof opt, .memory = MEMORY};
    deja_sieve *first = NULL;
    if (j->into < call->n_operands)
        return open_one(j, call->operands[j->into], DEJA_OPEN_WRITE, &j->sieve, err);
    int rc = newsieve_begin(&j->place, j->c->output, j->c->force, err);
    if (rc == DEJA_OK)
        rc = open_one(j, call->operands[0], 0, &first, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_create(j->place.temporary, first, &opt, &j->sieve, err);
    deja_sieve_free(first);
    return rc;
}

static int take_in(struct job *j, const char *path, deja_error *err)
{
    deja_sieve *from = NULL;
    int rc = open_one(j, path, 0, &from, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_merge(j->sieve, from, err);
    deja_sieve_free(from);
    return rc;
}

/* Whether operand i is the union itself, or an earlier operand again. */
static bool is_in_already(const struct job *j, size_t i)
{
    const char *const *operand = j->call->operands;
    bool found = j->into < j->call->n_operands && existing_same(operand[i], operand[j->into]);
    for (size_t k = 0; k < i && !found; k++)
        found = existing_same(operand[i], operand[k]);
    return found;
}

static int take_all(struct job *j, deja_error *err)
{
    const struct call *call = j->call;
    int rc = DEJA_OK;
    for (size_t i = 0; i < call->n_operands && rc == DEJA_OK; i++) {
        if (signals_stopped(call->stop))
            return fail(err, DEJA_EIO, "stopped: %s",
                        j->into < call->n_operands ? "not all sieves were merged"
                                                   : "the union was not written");
        if (!is_in_already(j, i))
            rc = take_in(j, call->operands[i], err);
        progress_show(
            &j->progress,
            &(struct progress_now){
                .items = i + 1, .done = i + 1, .total = call->n_operands, .fill = -1, .lost = -1});
    }
    return rc;
}

static void report(const struct job *j, const deja_sieve_report *s)
{
    const size_t n = j->call->n_operands;
    struct json json;
    struct closing c;
    if (j->c->json) {
        json_begin(&json, j->call->out);
        json_object(&json, NULL);
        json_string(&json, "file", j->c->output);
        json_string(&json, "format", "sieve");
        json_uint(&json, "sieves", n);
        json_uint(&json, "keys", s->keys);
        json_uint(&json, "runs", s->runs);
        json_uint(&json, "disk_bytes", s->disk);
        json_real(&json, "wrong", s->wrong);
        json_end(&json);
        return;
    }
    closing_begin(&c, j->call->console, false);
    closing_count(&c, n, n == 1 ? "sieve" : "sieves");
    closing_count(&c, s->keys, s->keys == 1 ? "key" : "keys");
    closing_remark(&c, "%s", num_bytes(s->disk).s);
    closing_print(&c, progress_seconds(&j->progress));
}

/* The union is complete: closes it, and gives it its name. */
static int finish(struct job *j, deja_error *err)
{
    deja_sieve_report s = DEJA_SIEVE_REPORT_INIT;
    int rc = deja_sieve_sync(j->sieve, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(j->sieve, &s, err);
    deja_sieve_free(j->sieve);
    j->sieve = NULL;
    if (rc == DEJA_OK && j->place.temporary)
        rc = newsieve_finish(&j->place, err);
    if (rc == DEJA_OK)
        report(j, &s);
    return rc;
}

int merge_sieve_run(const struct call *call, const struct shared_options *c, const uint8_t *key,
                    deja_error *err)
{
    struct job j = {.call = call, .c = c, .key = key, .into = call->n_operands};
    if (c->mode)
        return fail(err, OPT_USAGE,
                    "--mode is for filter files: a sieve is readable only by its "
                    "owner; use chmod");
    for (size_t i = call->n_operands; i-- > 0;)
        if (existing_same(c->output, call->operands[i]))
            j.into = i;
    int rc = check_all(&j, err);
    progress_begin(&j.progress, call->console, NULL, "sieves");
    if (rc == DEJA_OK)
        rc = open_union(&j, err);
    if (rc == DEJA_OK)
        rc = take_all(&j, err);
    progress_end(&j.progress);
    if (rc == DEJA_OK)
        rc = finish(&j, err);
    rc = j.sieve || j.place.temporary ? sieves_name(rc, c->output, err) : rc;
    deja_sieve_free(j.sieve);
    newsieve_end(&j.place, call->console);
    return rc;
}
