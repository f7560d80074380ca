/* dcso_build.c - `deja build --format dcso`; see dcso_build.h. */
#include "cli/session/dcso_build.h"
#include "cli/dcso/dcso_file.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RATE 1e-6 /* the same default as deja's own filters */

/* Returns a given option that applies only to deja's own files, or NULL. */
static const char *out_of_place(const struct shared_options *c)
{
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *row = deja_option_at(i);
        if (deja_option_given(row, &c->filter) && strcmp(row->name, "capacity") != 0 &&
            strcmp(row->name, "fp_rate") != 0)
            return opt_filter_word(row);
    }
    return c->layered ? "--layered" : c->key_file ? "--key" : c->mode ? "--mode" : NULL;
}

static int plan(struct dcso *d, const struct call *call, const struct shared_options *c,
                deja_error *err)
{
    const char *wrong = out_of_place(c);
    if (wrong)
        return fail(
            err, OPT_USAGE,
            "omit %s: --format dcso accepts only -n and -p, and its files have no secret key",
            wrong);
    const struct input_options in = session_input_options(call, c, 1);
    const uint64_t n = c->filter.capacity ? c->filter.capacity : input_estimate(&in);
    if (n == 0)
        return fail(err, OPT_USAGE, "how many keys? give -n N: a bloom file cannot grow");
    return dcso_plan(d, n, c->filter.fp_rate > 0 ? c->filter.fp_rate : DEFAULT_RATE, err);
}

static int add_all(struct session *s, struct dcso *d, deja_error *err)
{
    struct batch *b;
    int rc;
    while ((rc = session_next(s, &b, err)) > 0)
        dcso_add(d, b->hash, b->keyed, b->answer);
    return rc;
}

static void report(const struct session *s, const struct dcso *d, const char *path)
{
    const double rate = dcso_rate(d, dcso_bits_set(d));
    const uint64_t bytes = DCSO_HEADER_LEN + dcso_body_len(d);
    const uint64_t known = s->records - s->keyless - d->keys;
    struct closing c = session_closing_new(s, d->keys, known);
    struct session_report r;
    session_warn_missing(s);
    if (s->shared->verbose && !s->shared->json) {
        console_note(s->call->console, "%s read, %s new, %s seen before; %s: %s, rate now %s; %s",
                     num_lines(s->records).s, num_count(d->keys).s, num_count(known).s,
                     fail_path(path).text, num_bytes(bytes).s, num_rate(rate).s,
                     num_duration(progress_seconds(&s->progress)).s);
    } else if (!s->shared->json) {
        session_print_closing(s, &c);
    } else if (session_report_begin(&r, s)) {
        json_string(&r.json, "file", path);
        json_string(&r.json, "format", "dcso");
        json_uint(&r.json, "read", s->records);
        json_uint(&r.json, "added", d->keys);
        json_uint(&r.json, "known", known);
        json_uint(&r.json, "capacity", d->capacity);
        json_real(&r.json, "fp_now", rate);
        json_uint(&r.json, "filter_bytes", bytes);
        session_report_end(&r, s);
    }
    if (d->keys > d->capacity)
        console_note(s->call->console,
                     "%s was sized for %s and holds %s; rebuild it with a larger -n",
                     fail_path(path).text, num_of(d->capacity, "key").s, num_count(d->keys).s);
}

static int build(struct session *s, const struct call *call, const struct shared_options *c,
                 struct dcso *d, deja_error *err)
{
    const char *path = call->operands[0];
    int rc = plan(d, call, c, err);
    if (rc == DEJA_OK)
        rc = dcso_file_check_name(path, err);
    if (rc == DEJA_OK)
        rc = existing_check(path, true, c->force, err);
    if (rc < 0)
        return rc;
    d->body = dcso_body_len(d) <= SIZE_MAX / 2 ? calloc(1, (size_t)dcso_body_len(d)) : NULL;
    if (!d->body)
        return fail(err, DEJA_ENOMEM, "out of memory: the filter needs %s; use a smaller -n",
                    num_bytes(dcso_body_len(d)).s);
    s->hash = (struct pipeline_hash){1, dcso_hash, NULL};
    rc = session_open(s, call, c, 1, NULL, err);
    if (rc == DEJA_OK)
        rc = add_all(s, d, err);
    if (rc == DEJA_OK && s->stopped)
        console_note(call->console, "stopped: %s was not created", fail_path(path).text);
    else if (rc == DEJA_OK)
        rc = existing_explain(dcso_file_write(d, path, c->force, err), path, true, c->force, err);
    if (rc == DEJA_OK && !s->stopped)
        report(s, d, path);
    return rc;
}

int dcso_build(struct session *s, const struct call *call, const struct shared_options *c,
               deja_error *err)
{
    struct dcso d = {0};
    const int rc = build(s, call, c, &d, err);
    session_close(s);
    free(d.body);
    return rc;
}
