/* cmd_url.c - deja url: print the canonical forms, layers or block-list expressions of URLs. */
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <stdlib.h>

struct url_options {
    struct shared_options shared; /* shared.url is the profile */
    bool segments;
    bool expressions;
    bool changed;
};
static const struct url_options defaults = {.shared.url = DEJA_URL_SAFE};

static int check_options(const void *target, deja_error *err)
{
    const struct url_options *o = target;
    if (o->expressions && o->shared.url != DEJA_URL_GSB)
        return fail(err, OPT_USAGE, "--expressions needs --url=gsb, not %s",
                    deja_profile_name(o->shared.url));
    if (o->expressions && o->segments && !o->shared.json)
        return fail(err, OPT_USAGE,
                    "--segments and --expressions cannot be combined, except with --json");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_OPTIONAL_CHOICE("url", "PROFILE", struct url_options, shared.url, deja_profile_name,
                        "safe", "use the rules of this profile (default safe)", OPT_USED(1)),
    OPT_CHOICE(0, "profile", "PROFILE", struct url_options, shared.url, deja_profile_name,
               "same as --url", OPT_OLD("--url=PROFILE")),
    OPT_FLAG(0, "segments", struct url_options, segments,
             "print the layers of each URL, separated by tabs: site, folders, page", OPT_USED(1)),
    OPT_FLAG(0, "expressions", struct url_options, expressions,
             "print the expressions to look up in a block list (--url=gsb), separated by tabs",
             OPT_USED(1)),
    OPT_FLAG(0, "changed", struct url_options, changed,
             "print only URLs that differ from their canonical form", OPT_USED(1)),
    OPT_FLAG(0, "json", struct url_options, shared.json, "print one JSON object per line",
             OPT_JSON_KEY, OPT_USED(1)),
    OPT_GROUP(struct url_options, shared, shared_output),
    OPT_GROUP(struct url_options, shared, shared_rules),
    OPT_GROUP(struct url_options, shared, shared_lines),
    OPT_HEADING("General"),
    OPT_GROUP(struct url_options, shared, shared_verbose),
    OPT_CHECK(check_options),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct url_options *o;
    struct urlkeys urls;
    struct input *in;
    struct block block;
    struct progress progress;
    struct out own, *out;
    deja_slice *layer;
    size_t layer_cap;
    uint64_t read, changed, no_url, no_idna;
    struct leftout left_out;
};

struct url {
    deja_slice key, form;
    bool is_url, changed;
};

/* --- Parts ------------------------------------------------------------------ */

/* Splits a URL into j->layer, which grows as needed. */
static int split(struct job *j, deja_slice form, size_t *n, deja_error *err)
{
    while ((*n = deja_url_split(form, j->layer, j->layer_cap)) == j->layer_cap) {
        const size_t cap = j->layer_cap ? 2 * j->layer_cap : 64;
        deja_slice *more = sys_array(j->layer, cap, sizeof *more);
        if (!more)
            return fail(err, DEJA_ENOMEM, "out of memory for the layers of a URL");
        j->layer = more;
        j->layer_cap = cap;
    }
    return DEJA_OK;
}

static void print_parts(struct out *out, const deja_slice *part, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            out_write(out, "\t", 1);
        out_write(out, part[i].data, part[i].len);
    }
}

static void json_parts(struct json *json, const char *name, const deja_slice *part, size_t n)
{
    json_array(json, name);
    for (size_t i = 0; i < n; i++)
        json_bytes(json, NULL, part[i].data, part[i].len);
    json_end(json);
}

/* --- Printing --------------------------------------------------------------- */

static int print_text(struct job *j, const struct url *u, char terminator, deja_error *err)
{
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    size_t n = 0;
    int rc = DEJA_OK;
    if (u->is_url && j->o->segments) {
        rc = split(j, u->form, &n, err);
        if (rc == DEJA_OK)
            print_parts(j->out, j->layer, n);
    } else if (u->is_url && j->o->expressions) {
        n = deja_url_expressions(u->form, expression);
        print_parts(j->out, expression, n);
    } else {
        out_write(j->out, u->form.data, u->form.len);
    }
    out_write(j->out, &terminator, 1);
    return rc;
}

static int print_json(struct job *j, const struct url *u, deja_error *err)
{
    struct json json;
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    size_t n = 0;
    int rc = DEJA_OK;
    json_begin_line(&json, j->out);
    json_object(&json, NULL);
    if (u->key.data)
        json_bytes(&json, "url", u->key.data, u->key.len);
    else
        json_null(&json, "url");
    if (u->is_url)
        json_bytes(&json, "canonical", u->form.data, u->form.len);
    else
        json_null(&json, "canonical");
    json_string(&json, "profile", deja_profile_name(j->o->shared.url));
    json_bool(&json, "is_url", u->is_url);
    if (u->is_url && j->o->segments) {
        rc = split(j, u->form, &n, err);
        json_parts(&json, "segments", j->layer, n);
    }
    if (u->is_url && j->o->expressions && rc == DEJA_OK) {
        n = deja_url_expressions(u->form, expression);
        json_parts(&json, "expressions", expression, n);
    }
    json_end(&json);
    return rc;
}

static int take(struct job *j, size_t i, struct urlkeys_room *room, struct url *u, deja_error *err)
{
    struct block *b = &j->block;
    u->key = b->keys[i];
    const int rc = urlkeys_form(&j->urls, b, room, u->key, &u->form);
    if (rc == DEJA_ENOMEM)
        return fail(err, rc, "%s: out of memory for a URL of %zu bytes", fail_path(b->path).text,
                    u->key.len);
    if (rc < 0 && j->o->shared.strict)
        return urlkeys_refuse(b, i, u->key, rc, err);
    if (rc < 0 && u->key.data) {
        const enum block_oddity why = rc == DEJA_ENOTSUP ? BLOCK_NO_IDNA : BLOCK_NO_URL;
        block_report(b, why, block_wants(b, why) ? block_line(b, i) : 0, u->key);
    }
    u->is_url = rc == DEJA_OK;
    u->changed = u->form.len != u->key.len ||
                 (u->key.len && memcmp(u->form.data, u->key.data, u->key.len) != 0);
    j->read++;
    j->changed += u->changed;
    j->no_url += rc < 0 && rc != DEJA_ENOTSUP && u->key.data;
    j->no_idna += rc == DEJA_ENOTSUP;
    return DEJA_OK;
}

static int print_block(struct job *j, deja_error *err)
{
    const struct block *b = &j->block;
    struct urlkeys_room room = {0};
    int rc = DEJA_OK;
    for (size_t i = 0; i < b->n && rc == DEJA_OK; i++) {
        struct url u;
        rc = take(j, i, &room, &u, err);
        if (rc < 0 || (j->o->changed && !u.changed))
            continue;
        rc = j->o->shared.json ? print_json(j, &u, err)
                               : print_text(j, &u, b->data[b->ends[i] - 1], err);
    }
    return rc;
}

static void show_progress(struct job *j)
{
    struct input_progress in;
    input_progress(j->in, &in);
    progress_show(
        &j->progress,
        &(struct progress_now){
            .items = j->read, .done = in.raw, .total = in.total, .fill = -1, .lost = -1});
}

/* Prints all lines; before an error, those that precede it. */
static int print_all(struct job *j, deja_error *err)
{
    int rc = DEJA_OK;
    while (rc == DEJA_OK && !signals_stopped(j->call->stop)) {
        deja_error late;
        if (progress_due(&j->progress))
            show_progress(j);
        rc = input_next(j->in, &j->block, err);
        if (rc <= 0)
            return rc;
        rc = print_block(j, err);
        leftout_take(&j->left_out, &j->block);
        const int flushed = out_flush(j->out, &late);
        if (rc == DEJA_OK && flushed < 0) {
            *err = late;
            rc = flushed;
        }
    }
    return rc;
}

static void tell_all(const struct job *j)
{
    const double seconds = progress_seconds(&j->progress);
    console_note(j->call->console, "%s%s read, %s changed; %s, %s",
                 signals_stopped(j->call->stop) ? "stopped: " : "", num_lines(j->read).s,
                 num_count(j->changed).s, num_duration(seconds).s,
                 num_speed(seconds > 0 ? (double)j->read / seconds : 0).s);
}

static void tell(const struct job *j)
{
    struct closing c;
    closing_begin(&c, j->call->console, signals_stopped(j->call->stop));
    closing_count(&c, j->read, "read");
    closing_count(&c, j->changed, "changed");
    closing_print(&c, progress_seconds(&j->progress));
}

static void summarize(const struct job *j)
{
    struct console *c = j->call->console;
    struct input_progress in;
    input_progress(j->in, &in);
    if (in.missing)
        console_note(c, "%s without %s, printed empty%s", num_lines(in.missing).s,
                     input_wanted(j->in).text,
                     leftout_names(&j->left_out, BLOCK_NO_KEY, in.missing).text);
    if (j->no_idna)
        console_note(c, "%s with hosts that need IDNA%s; rebuild deja with libidn2 to support it",
                     num_lines(j->no_idna).s,
                     leftout_names(&j->left_out, BLOCK_NO_IDNA, j->no_idna).text);
    if (j->no_url)
        console_note(c, "%s %s%s", num_lines(j->no_url).s, session_no_urls(j->no_url),
                     leftout_names(&j->left_out, BLOCK_NO_URL, j->no_url).text);
    if (j->o->shared.verbose)
        tell_all(j);
    else
        tell(j);
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options, .own = OUT_NONE};
    const struct input_options in = session_input_options(call, &j.o->shared, 0);
    block_init(&j.block);
    int rc = urlkeys_init(&j.urls, &j.o->shared, URLKEYS_COMPARE, err);
    if (rc == DEJA_OK)
        rc = call_output(call, j.o->shared.output, &j.own, &j.out, err);
    if (rc == DEJA_OK)
        rc = out_refuse_inputs(j.out, call->operands, call->n_operands, err);
    if (rc == DEJA_OK)
        rc = input_open(&in, &j.in, err);
    if (rc == DEJA_OK) {
        leftout_init(&j.left_out, &j.o->shared, call->console, j.in);
        if (input_is_terminal(j.in) && !input_wait(j.in, SESSION_TYPED))
            session_note_terminal(call->console);
        progress_begin(&j.progress, call->console, j.out, "lines");
        rc = print_all(&j, err);
        progress_end(&j.progress);
    }
    if (rc == DEJA_OK)
        summarize(&j);
    input_close(j.in);
    block_fini(&j.block);
    free(j.layer);
    urlkeys_fini(&j.urls);
    return out_finish(&j.own, rc, err);
}

const struct command cmd_url = {
    .name = "url",
    .often = true,
    .summary = "print the canonical form of each URL",
    .operands = "[FILE]...",
    .options = options,
    .options_size = sizeof(struct url_options),
    .defaults = &defaults,
    .description =
        "Prints the canonical form of the URL in each line of the files, or of standard input if "
        "none are given. The other commands compare these forms with --url: two URLs are equal in "
        "a profile if their forms are equal.\n\n"
        "  PROFILE   merges\n"
        "  safe      spellings that no server can tell apart; the default\n"
        "  crawl     also the order of parameters; tracking and session\n"
        "            parameters are dropped\n"
        "  gsb       what Google Safe Browsing merges, for block lists\n"
        "  scrapy    what w3lib's canonicalize_url merges, byte for byte\n"
        "  shape     pages of one template: also parameter values, numbers, hashes\n\n"
        "It prints one line per line of input, except with --changed. A key that is not a URL is "
        "printed unchanged, a line without a key as an empty line, and the summary counts "
        "both.\n\n"
        "With --json, each line is an object with url (null if the line has no key), canonical "
        "(null if it is not a URL), profile, is_url and, if requested, segments and "
        "expressions.\n\n"
        "The URL is the key of a line: the whole line, or the part that -f, --csv, --format or "
        "--json-key selects.",
    .notes = {SESSION_FORMAT_TEXT},
    .examples = {{"canonical forms", "deja url docs/examples/sample-urls.txt > canonical.txt"},
                 {"URLs that profile crawl changes", "deja url --url=crawl --changed urls.txt"},
                 {"the pages requested in a web server's log",
                  "deja url --format log --base https://example.org access.log"},
                 {"the expressions to look up in a block list",
                  "echo http://a.b.example/c/d?e | deja url --url=gsb --expressions"}},
    .run = run,
};
