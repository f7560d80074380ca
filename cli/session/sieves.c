/* sieves.c - sieves in sessions; see sieves.h. */
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>
#include <unistd.h>

#define WORDS (sizeof(deja_fingerprint) / sizeof(uint64_t))
_Static_assert(sizeof(deja_fingerprint) == WORDS * sizeof(uint64_t),
               "a fingerprint is a whole number of hashes");

#define BYTES_PER_KEY 9 /* of a run */

#define LEAST_MEMORY ((uint64_t)64 << 20)

uint64_t sieves_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    const uint64_t all = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
    return all / 4 > LEAST_MEMORY ? all / 4 : LEAST_MEMORY;
}

int sieves_name(int rc, const char *path, deja_error *err)
{
    const deja_error why = *err;
    return rc != DEJA_EIO || strncmp(why.text, path, strlen(path)) == 0
               ? rc
               : fail(err, rc, "%.120s: %s", fail_path(path).text, why.text);
}

int sieves_save(deja_sieve *s, deja_error *err)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    const int rc = deja_sieve_stats(s, &r, err);
    if (rc < 0)
        return rc;
    return r.filter_bytes / BYTES_PER_KEY <= r.keys - r.recent ? deja_sieve_save(s, err)
                                                               : deja_sieve_sync(s, err);
}

int sieves_refuse(const char *with, struct conflict c, deja_error *err)
{
    return c.option
               ? fail(err, OPT_USAGE, "%s and %s cannot be combined: %s", with, c.option, c.why)
               : DEJA_OK;
}

void sieves_note_ignored(struct console *console, const struct shared_options *c)
{
    struct shared_options rest = *c;
    char ignored[200];
    rest.filter.memory = 0;
    opt_list_given(shared_sizing, &rest, ignored, sizeof ignored);
    if (ignored[0])
        console_note(console, "the size of a sieve is its memory (-m); ignored: %s", ignored);
}

int sieves_refuse_memory(const struct shared_options *c, const char *path, deja_error *err)
{
    return c->filter.memory
               ? fail(err, OPT_USAGE, "-m is the memory of a sieve, and %s is not one: omit -m",
                      fail_path(path).text)
               : DEJA_OK;
}

static void hash(const void *sieve, const deja_slice *keys, size_t n, uint64_t *hash)
{
    deja_sieve_hash_batch(sieve, keys, n, (deja_fingerprint *)(void *)hash);
}

const deja_fingerprint *sieves_fingerprints(const struct batch *b)
{
    return (const deja_fingerprint *)(const void *)b->hash;
}

/* Opens it, with an older version of the profile if it was made with that. */
static int open_by_its_rules(struct session *s, const char *path, unsigned flags,
                             const deja_sieve_options *opt, deja_sieve **out, deja_error *err)
{
    const int rc = deja_sieve_open(path, flags, opt, out, err);
    deja_sieve_options older = *opt;
    older.url = opt->url ? deja_url_rules_older(opt->url) : NULL;
    if (rc != DEJA_EMISMATCH || !older.url || deja_sieve_open(path, flags, &older, out, NULL) < 0)
        return rc;
    s->urls.rules = older.url;
    return DEJA_OK;
}

int sieves_open(struct session *s, const char *path, unsigned flags, const deja_options *given,
                deja_sieve **out, deja_error *err)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_report report = DEJA_SIEVE_REPORT_INIT;
    opt.memory = given->memory ? given->memory : sieves_memory();
    opt.key = given->key;
    opt.seed = given->seed;
    opt.url = given->url;
    opt.flags = given->flags & DEJA_KEY_APART;
    int rc = sieves_name(open_by_its_rules(s, path, flags, &opt, out, err), path, err);
    if (rc < 0)
        return rc;
    rc = deja_sieve_stats(*out, &report, err);
    if (rc == DEJA_OK)
        rc = session_take_profile(s, path, report.profile, report.url_rules, err);
    s->hash = (struct pipeline_hash){WORDS, hash, *out};
    if (rc < 0) {
        deja_sieve_free(*out);
        *out = NULL;
    }
    return rc;
}

struct sieves_text sieves_certainty(double wrong)
{
    struct sieves_text text = {"certain"};
    if (wrong > 0 && wrong < 1)
        (void)snprintf(text.s, sizeof text.s, "certain to 1 in 10^%.0f", floor(-log10(wrong)));
    return text;
}

void sieves_tell_costs(struct console *console, const char *path, const deja_sieve_report *before,
                       const deja_sieve_report *now)
{
    const uint64_t passes = now->passes - before->passes;
    console_note(console, "%s: %s in %s, %s on disk; memory %s of %s", fail_path(path).text,
                 num_of(now->keys, "key").s, num_of(now->runs, "run").s, num_bytes(now->disk).s,
                 num_bytes(now->memory_used).s, num_bytes(now->memory).s);
    console_note(console, "%s settled in %s pass%s, %s; %s of new lines wait now",
                 num_of(now->settled - before->settled, "key").s, num_count(passes).s,
                 passes == 1 ? "" : "es", num_of(now->merges - before->merges, "merge").s,
                 num_share(now->wait_rate).s);
}

void sieves_warn_merges(struct console *console, const char *path, const deja_sieve_report *now)
{
    if (now->merges_failed)
        console_warn(console, "%s: merging runs failed: %s", fail_path(path).text,
                     now->merge_error);
}
