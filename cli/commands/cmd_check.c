/* cmd_check.c - which lines are in a filter file. */
#include "cli/dcso/dcso_file.h"
#include "cli/server/remote.h"
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

struct check_options {
    struct shared_options shared;
    bool invert;
    bool count;
    bool prefix;
};

static const struct opt options[] = {
    OPT_FLAG('v', "invert", struct check_options, invert, "print the lines that are not in it"),
    OPT_FLAG('c', "count", struct check_options, count,
             "print how many lines there are instead of the lines"),
    OPT_FLAG(0, "prefix", struct check_options, prefix,
             "lines are beginnings of URLs: was anything under them seen? (kind layered)"),
    OPT_GROUP(struct check_options, shared, shared_output),
    OPT_GROUP(struct check_options, shared, shared_canonical),
    OPT_GROUP(struct check_options, shared, shared_input_dcso),
    OPT_GROUP(struct check_options, shared, shared_url),
    OPT_GROUP(struct check_options, shared, shared_file_key),
    OPT_GROUP(struct check_options, shared, shared_redis),
    OPT_GROUP(struct check_options, shared, shared_general),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct check_options *o;
    deja_filter *filter;
    struct dcso_file foreign; /* in the place of filter, when that is NULL */
    struct session session;
    struct out own, *out;
    bool header_printed;
    uint64_t printed;
};

/* Prefixes are looked up by their bytes, so keyless records get an answer too: drop it. */
static int look_up_prefixes(const struct job *j, struct batch *b, deja_error *err)
{
    const struct block *block = &b->block;
    const int rc = deja_filter_prefix_batch(j->filter, block->keys, block->n, b->answer, err);
    for (size_t i = 0, to = 0; block->keyless && i < block->n; i++)
        if (block->keys[i].data)
            b->answer[to++] = b->answer[i];
    return rc;
}

static int look_up(const struct job *j, struct batch *b, deja_error *err)
{
    if (!j->filter)
        dcso_contains(&j->foreign.filter, b->hash, b->keyed, b->answer);
    else if (!j->o->prefix)
        deja_filter_contains_hashed(j->filter, b->hash, b->keyed, b->answer);
    else
        return look_up_prefixes(j, b, err);
    return j->filter ? deja_filter_check_file(j->filter, err) : DEJA_OK;
}

static int check_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = look_up(j, b, err);
    if (rc < 0)
        return rc;
    session_fold(&j->session, b, false);
    const uint64_t found = session_count(b);
    j->printed += j->o->invert ? b->block.n - found : found;
    if (!j->o->count) {
        session_print_header(&j->session, j->out, &j->header_printed);
        session_print(&j->session, j->out, b, !j->o->invert);
    }
    return out_flush(j->out, err);
}

static void report_json(const struct job *j)
{
    struct session_report r;
    if (!session_report_begin(&r))
        return;
    json_string(&r.json, "file", j->call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "in", j->o->invert ? j->session.records - j->printed : j->printed);
    json_uint(&r.json, "lookups", j->session.lookups);
    session_report_end(&r, &j->session);
}

static void report(const struct job *j)
{
    const double seconds = progress_seconds(&j->session.progress);
    const uint64_t lookups = j->session.lookups;
    char rate[160] = "";
    session_warn_missing(&j->session);
    if (j->o->shared.url == DEJA_URL_GSB && !j->o->prefix)
        (void)snprintf(rate, sizeof rate, "; %s, up to %d a line, and so up to %d times the rate",
                       num_of(lookups, "lookup").s, DEJA_URL_EXPRESSIONS, DEJA_URL_EXPRESSIONS);
    if (j->o->shared.json && !j->o->shared.quiet)
        report_json(j);
    else
        console_note(j->call->console, "%s%s read, %s %s %s%s; %s",
                     j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                     num_count(j->printed).s, j->o->invert ? "not in" : "in",
                     fail_path(j->call->operands[0]).text, rate, num_duration(seconds).s);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    if (!j->o->count)
        session_print_header(&j->session, j->out, &j->header_printed);
    else
        out_printf(j->out, "%llu\n", (unsigned long long)j->printed);
    rc = out_flush(j->out, err);
    if (rc < 0)
        return rc;
    report(j);
    return j->printed ? COMMAND_DONE : COMMAND_NO;
}

/* deja's own file, or one of DCSO's: by what the user says, or by its first bytes. */
static int open_filter(struct job *j, const deja_options *expect, deja_error *err)
{
    const char *path = j->call->operands[0];
    const struct shared_options *c = &j->o->shared;
    if (!c->dcso && !dcso_file_is(path))
        return session_open_file(&j->session, path, 0, expect, &j->filter, err);
    if (c->key_file)
        return fail(err, OPT_USAGE, "%s is a bloom file of DCSO's, which has no --key",
                    fail_path(path).text);
    j->session.hash = (struct pipeline_hash){1, dcso_hash, NULL};
    return dcso_file_read(&j->foreign, path, j->call->stop, err);
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options, .own = OUT_NONE};
    const struct remote_job remote = {REMOTE_CHECK, &j.o->shared, call->operands[0], 1,
                                      j.o->invert,  j.o->count};
    if (j.o->shared.redis)
        return remote_run(call, &remote, err);
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect;
    int rc = session_begin(&j.session, &j.o->shared,
                           j.o->prefix ? URLKEYS_PREFIX : URLKEYS_LOOK_UP, key, &expect, err);
    if (rc == DEJA_OK)
        rc = open_filter(&j, &expect, err);
    if (rc == DEJA_OK && j.o->prefix && !j.filter)
        rc = fail(err, OPT_USAGE, "--prefix needs a filter of kind layered");
    else if (rc == DEJA_OK && j.o->prefix)
        rc = deja_filter_require(j.filter, DEJA_CAN_PREFIX, err);
    if (rc == DEJA_OK)
        rc = session_output(call, &j.o->shared, &j.own, &j.out, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, 1, j.filter, j.out, err);
    if (rc == DEJA_OK)
        rc = finish(&j, session_each(&j.session, check_batch, &j, err), err);
    session_close(&j.session);
    deja_filter_free(j.filter);
    dcso_file_free(&j.foreign);
    return out_finish(&j.own, rc, err);
}

const struct command cmd_check = {
    .name = "check",
    .summary = "print the lines that are in a filter file",
    .operands = "F.deja [FILE]...",
    .options = options,
    .options_size = sizeof(struct check_options),
    .description =
        "Prints the lines of the files (standard input without any) that are in the filter, "
        "or with -v those that are not. Every line that was added is found; a line that was "
        "not is printed too at the filter's false-positive rate (`deja info` tells it). With "
        "-v nothing that was added is ever printed. Filters of kind paired are the exception: "
        "they FORGET, and some lines that were added are not found (`deja info` tells how "
        "many).\n\n"
        "With --prefix, and a filter of kind layered, lines are beginnings of URLs: sites, "
        "folders or pages. Those are printed under which anything was seen, cut at slashes: "
        "http://h/a stands for itself, http://h/a?x and all below http://h/a/, not for "
        "http://h/ab. Nothing that was added is missed. Claimed wrongly are about one in a "
        "hundred, and those whose segments were seen in their places under other beginnings: "
        "http://h/b after http://h/a and http://g/b. A filter of L layers looks at the first "
        "L - 1 segments, and never at a query.\n\n"
        "F may also be a bloom file of DCSO's, plain or gzip; its first bytes tell, and "
        "--format dcso insists on it. Another --format beside that is the one of the lines.\n\n"
        "With --url=gsb the filter is a block list (see deja-build(1)), and a line is in it "
        "when the site, the folder or the page of its URL is: any of up to 5 hosts, from the "
        "whole name to its last two labels, with any of up to 6 paths, from the whole one "
        "with its query to the root. Each is a lookup, so a line that is not in the list is "
        "printed at up to 30 times the filter's rate.",
    .notes = {SESSION_KEY_TEXT, SESSION_LINES_TEXT "in the filter, and with -v when none is.",
              SESSION_URL_TEXT "compared unchanged; with gsb, they are in no filter.",
              REMOTE_TEXT " F.deja is the name of the cache then."},
    .examples = {{"which of these were seen", "deja check seen.deja urls.txt"},
                 {"which were not", "deja check -v seen.deja urls.txt"},
                 {"requests of a web server's log for what is in a list",
                  "deja check --format log list.deja access.log"},
                 {"requests of a proxy's log for what a block list has",
                  "deja check --url=gsb --format squid bad.deja squid.log"}},
    .exits = {{0, "some lines were printed"}, {1, "none was"}, {2, "usage error or failure"}},
    .run = run,
};
