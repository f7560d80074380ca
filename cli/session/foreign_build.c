/* foreign_build.c - `deja build --format dcso` and the like; see foreign_build.h. */
#include "cli/session/foreign_build.h"
#include "cli/foreign/foreign_file.h"
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

/* Checks the options and sizes the filter. */
static int make(struct foreign *f, const struct call *call, const struct shared_options *c,
                deja_error *err)
{
    const char *wrong = out_of_place(c);
    if (!f->format->plan)
        return fail(err, OPT_USAGE, "deja can read %s but not write it", f->format->title);
    if (wrong)
        return fail(err, OPT_USAGE,
                    "omit %s: --format %s accepts only -n and -p, and its files have no secret "
                    "key",
                    wrong, f->format->name);
    const struct input_options in = session_input_options(call, c, 1);
    const uint64_t n = c->filter.capacity ? c->filter.capacity : input_estimate(&in);
    if (n == 0)
        return fail(err, OPT_USAGE, "how many keys? give -n N: such a file cannot grow");
    const int rc =
        foreign_new(f, n, c->filter.fp_rate > 0 ? c->filter.fp_rate : DEFAULT_RATE, err);
    return rc == DEJA_ENOMEM
               ? fail(err, rc, "out of memory for %s; use a smaller -n", num_of(n, "key").s)
               : rc;
}

static int add_all(struct session *s, struct foreign *f, deja_error *err)
{
    struct batch *b;
    size_t done;
    int rc;
    while ((rc = session_next(s, &b, err)) > 0) {
        rc = foreign_add(f, b->hash, b->keyed, b->answer, &done, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static void report_json(struct session *s, const struct foreign *f, const char *path,
                        uint64_t known, uint64_t bytes)
{
    struct session_report r;
    if (!session_report_begin(&r, s))
        return;
    json_string(&r.json, "file", path);
    json_string(&r.json, "format", f->format->name);
    json_uint(&r.json, "read", s->records);
    json_uint(&r.json, "added", f->keys);
    json_uint(&r.json, "known", known);
    json_uint(&r.json, "capacity", f->part[0].capacity);
    json_real(&r.json, "fp_now", foreign_rate(f));
    json_uint(&r.json, "filter_bytes", bytes);
    session_report_end(&r, s);
}

static void report(struct session *s, const struct foreign *f, const char *path, uint64_t bytes)
{
    const uint64_t known = s->records - s->keyless - f->keys;
    struct closing c = session_closing_new(s, f->keys, known);
    session_warn_missing(s);
    if (s->shared->json)
        report_json(s, f, path, known, bytes);
    else if (s->shared->verbose)
        console_note(s->call->console, "%s read, %s new, %s seen before; %s: %s, rate now %s; %s",
                     num_lines(s->records).s, num_count(f->keys).s, num_count(known).s,
                     fail_path(path).text, num_bytes(bytes).s, num_rate(foreign_rate(f)).s,
                     num_duration(progress_seconds(&s->progress)).s);
    else
        session_print_closing(s, &c);
    if (f->keys > f->part[0].capacity && f->n_parts == 1)
        console_note(
            s->call->console, "%s was sized for %s and holds %s; rebuild it with a larger -n",
            fail_path(path).text, num_of(f->part[0].capacity, "key").s, num_count(f->keys).s);
}

static int build(struct session *s, const struct call *call, const struct shared_options *c,
                 struct foreign *f, deja_error *err)
{
    const char *path = call->operands[0];
    uint64_t bytes;
    int rc = foreign_file_check_name(path, err);
    if (rc == DEJA_OK)
        rc = existing_check(path, f->format, c->force, err);
    if (rc == DEJA_OK)
        rc = make(f, call, c, err);
    if (rc < 0)
        return rc;
    s->hash = (struct pipeline_hash){f->format->words, f->format->hash, f};
    rc = session_open(s, call, c, 1, NULL, err);
    if (rc == DEJA_OK)
        rc = add_all(s, f, err);
    if (rc == DEJA_OK && s->stopped)
        console_note(call->console, "stopped: %s was not created", fail_path(path).text);
    else if (rc == DEJA_OK)
        rc = existing_explain(foreign_file_write(f, path, c->force, &bytes, err), path, f->format,
                              c->force, err);
    if (rc == DEJA_OK && !s->stopped)
        report(s, f, path, bytes);
    return rc;
}

int foreign_build(struct session *s, const struct call *call, const struct shared_options *c,
                  deja_error *err)
{
    struct foreign f = {.format = shared_foreign(c->foreign)};
    const int rc = build(s, call, c, &f, err);
    session_close(s);
    foreign_free(&f);
    return rc;
}
