/* cmd_check.c - deja check: print the lines that are in a filter file. */
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
    uint32_t older_than; /* days */
};

static int check_options(const void *target, deja_error *err)
{
    const struct check_options *o = target;
    if (o->older_than && o->prefix)
        return fail(err, OPT_USAGE,
                    "--older-than and --prefix cannot be combined: a layered "
                    "filter has no dates");
    if (o->older_than && (o->shared.redis || o->shared.dcso))
        return fail(err, OPT_USAGE, "--older-than needs a deja filter file, not %s",
                    o->shared.redis ? "--redis" : "--format dcso");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_FLAG('v', "invert", struct check_options, invert,
             "print the lines that are not in the filter", OPT_USED(1)),
    OPT_FLAG('c', "count", struct check_options, count,
             "print the number of lines instead of the lines", OPT_USED(1)),
    OPT_FLAG(0, "prefix", struct check_options, prefix,
             "treat lines as URL prefixes; find those with at least one known URL (kind layered)"),
    OPT_DAYS(0, "older-than", "DAYS", struct check_options, older_than,
             "print the lines that were last seen at least DAYS ago (30d, 4w, 6mo, 1y)"),
    OPT_GROUP(struct check_options, shared, shared_output),
    OPT_GROUP(struct check_options, shared, shared_canonical),
    OPT_GROUP(struct check_options, shared, shared_input_dcso),
    OPT_GROUP(struct check_options, shared, shared_url),
    OPT_GROUP(struct check_options, shared, shared_file_key),
    OPT_GROUP(struct check_options, shared, shared_redis),
    OPT_GROUP(struct check_options, shared, shared_general_no_v),
    OPT_CHECK(check_options),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct check_options *o;
    deja_filter *filter;
    struct dcso_file foreign; /* used if filter is NULL */
    struct session session;
    uint64_t printed;
};

/* Prefixes are looked up by their bytes, so keyless records get an answer too; drops it. */
static int look_up_prefixes(const struct job *j, struct batch *b, deja_error *err)
{
    const struct block *block = &b->block;
    const int rc = deja_filter_prefix_batch(j->filter, block->keys, block->n, b->answer, err);
    for (size_t i = 0, to = 0; block->keyless && i < block->n; i++)
        if (block->keys[i].data)
            b->answer[to++] = b->answer[i];
    return rc;
}

/* An absent line has the day 0 and is not old. */
static int look_up_old(const struct job *j, struct batch *b, deja_error *err)
{
    enum {
        LOT = 512
    };
    deja_days days[LOT];
    const uint32_t today = deja_filter_today(j->filter);
    for (size_t at = 0; at < b->keyed; at += LOT) {
        const size_t n = b->keyed - at < LOT ? b->keyed - at : LOT;
        const int rc = deja_filter_days_hashed(j->filter, b->hash + at, n, days, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < n; i++)
            b->answer[at + i] = days[i].last && days[i].last + j->o->older_than <= today;
    }
    return DEJA_OK;
}

static int look_up(const struct job *j, struct batch *b, deja_error *err)
{
    if (!j->filter)
        dcso_contains(&j->foreign.filter, b->hash, b->keyed, b->answer);
    else if (j->o->older_than)
        return look_up_old(j, b, err);
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
    if (!j->o->count)
        session_print(&j->session, b, !j->o->invert);
    return out_flush(j->session.out, err);
}

static void report_json(const struct job *j)
{
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    json_string(&r.json, "file", j->call->operands[0]);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "in", j->o->invert ? j->session.records - j->printed : j->printed);
    json_uint(&r.json, "lookups", j->session.lookups);
    if (j->o->older_than)
        json_uint(&r.json, "older_than_days", j->o->older_than);
    session_report_end(&r, &j->session);
}

static void tell_all(const struct job *j, const char *where)
{
    const deja_url_rules *rules = j->session.urls.rules;
    char rate[160] = "";
    if (rules && deja_url_rules_profile(rules) == DEJA_URL_GSB && !j->o->prefix)
        (void)snprintf(
            rate, sizeof rate, "; %s, up to %d per line, which multiplies the rate by up to %d",
            num_of(j->session.lookups, "lookup").s, DEJA_URL_EXPRESSIONS, DEJA_URL_EXPRESSIONS);
    console_note(j->call->console, "%s%s read, %s %s %s%s; %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->printed).s, where, fail_path(j->call->operands[0]).text, rate,
                 num_duration(progress_seconds(&j->session.progress)).s);
}

static void report(const struct job *j)
{
    const char *where = j->o->older_than ? j->o->invert ? "not old in" : "old in"
                        : j->o->invert   ? "not in"
                                         : "in";
    struct closing c = session_closing(&j->session);
    session_warn_missing(&j->session);
    closing_count_in(&c, j->printed, where, j->call->operands[0]);
    if (j->o->shared.json)
        report_json(j);
    else if (j->o->shared.verbose)
        tell_all(j, where);
    else
        session_print_closing(&j->session, &c);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    if (!j->o->count)
        session_print_header(&j->session, "");
    else
        out_printf(j->session.out, "%llu\n", (unsigned long long)j->printed);
    rc = out_flush(j->session.out, err);
    if (rc < 0)
        return rc;
    report(j);
    return j->printed ? COMMAND_DONE : COMMAND_NO;
}

/* A deja file, or a DCSO bloom file: if the user says so, or by its first bytes. */
static int open_filter(struct job *j, const deja_options *expect, deja_error *err)
{
    const char *path = j->call->operands[0];
    const struct shared_options *c = &j->o->shared;
    if (!c->dcso && !dcso_file_is(path))
        return session_open_file(&j->session, path, 0, expect, &j->filter, err);
    if (c->key_file)
        return fail(err, OPT_USAGE, "%s: a DCSO bloom file has no secret key; omit --key",
                    fail_path(path).text);
    const int rc = shared_check_url(c, err); /* the file has no profile */
    if (rc < 0)
        return rc;
    j->session.hash = (struct pipeline_hash){1, dcso_hash, NULL};
    return dcso_file_read(&j->foreign, path, j->call->stop, err);
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options};
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
    if (rc == DEJA_OK && j.o->older_than && !j.filter)
        rc = fail(err, OPT_USAGE, "--older-than needs a deja filter file, not a DCSO bloom file");
    else if (rc == DEJA_OK && j.o->older_than)
        rc = deja_filter_require(j.filter, DEJA_CAN_DATE, err);
    if (rc == DEJA_OK)
        rc = session_output(&j.session, call, &j.o->shared, 1, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, 1, j.filter, err);
    if (rc == DEJA_OK)
        rc = finish(&j, session_each(&j.session, check_batch, &j, err), err);
    rc = session_finish(&j.session, rc, err);
    deja_filter_free(j.filter);
    dcso_file_free(&j.foreign);
    return rc;
}

const struct command cmd_check = {
    .name = "check",
    .often = true,
    .summary = "print the lines that are in a filter file",
    .operands = "F.deja [FILE]...",
    .options = options,
    .options_size = sizeof(struct check_options),
    .description =
        "Prints the lines of the files, or of standard input if none are given, that are in the "
        "filter; with -v those that are not. It finds every line that was added. A line that was "
        "never added is mistaken for one of them at the filter's false-positive rate (`deja info` "
        "shows it), so -v never prints a line that was added. Kind paired is the exception: it "
        "FORGETS some lines (`deja info` shows how many).\n\n"
        "With --prefix and a filter of kind layered, lines are URL prefixes, cut at slashes: "
        "sites, folders or pages. It prints those with at least one known URL. http://h/a matches "
        "itself, http://h/a?x and everything below http://h/a/, but not http://h/ab. No added URL "
        "is missed. About one prefix in a hundred is printed by mistake, and so are prefixes "
        "whose segments were seen at the same depth under other prefixes: http://h/b after "
        "http://h/a and http://g/b. A filter of L layers compares the first L - 1 segments and "
        "never the query.\n\n"
        "With --older-than DAYS and a filter with dates (deja-build(1), -k exact --dates), it prints "
        "the lines in the filter that were last seen at least DAYS ago; with -v all other lines: "
        "those seen since then, and those that are not in the filter. Units are d, w, mo (30 days) "
        "and y (365 days). Days begin at midnight UTC.\n\n"
        "F can also be a DCSO bloom file, plain or gzip. deja detects it by its first bytes; "
        "--format dcso insists on it. A second --format is then that of the lines.\n\n"
        "With --url=gsb the filter is a block list (see deja-build(1)). A line is in it if its "
        "site, folder or page is: deja looks up any of up to 5 hosts, from the whole name to its "
        "last two labels, with any of up to 6 paths, from the whole path with its query to the "
        "root. These are up to 30 lookups, each with the filter's false-positive rate.",
    .notes = {SESSION_KEY_TEXT, SESSION_LINES_TEXT "in the filter, and with -v if none is.",
              SESSION_URL_TEXT "compared unchanged; with gsb, they are in no filter.",
              REMOTE_TEXT " F.deja is then the name of the cache."},
    .examples = {{"lines that were seen", "deja check seen.deja urls.txt"},
                 {"lines that were not seen", "deja check -v seen.deja urls.txt"},
                 {"lines that were last seen 30 days ago or earlier",
                  "deja check --older-than 30d pages.deja urls.txt"},
                 {"requests in a web server's log for URLs in a list",
                  "deja check --format log list.deja access.log"},
                 {"requests in a proxy's log for URLs in a block list",
                  "deja check --url=gsb --format squid bad.deja squid.log"}},
    .exits = {{0, "some lines were printed"},
              {1, "no lines were printed"},
              {2, "usage error or failure"}},
    .run = run,
};
