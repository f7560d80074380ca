/* cmd_check.c - deja check: print the lines that are in a filter file. */
#include "cli/commands/check_sieve.h"
#include "cli/server/remote.h"
#include "cli/session/existing.h"
#include "cli/session/filterset.h"
#include "cli/session/sieves.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <stdlib.h>

struct check_options {
    struct shared_options shared;
    bool invert;
    bool count;
    bool prefix;
    uint32_t older_than; /* days */
    bool tag;
    bool why;
};

static int check_options(const void *target, deja_error *err)
{
    const struct check_options *o = target;
    if (o->older_than && o->prefix)
        return fail(err, OPT_USAGE,
                    "--older-than and --prefix cannot be combined: a layered "
                    "filter has no dates");
    if (o->older_than && (o->shared.redis.n || o->shared.foreign))
        return fail(err, OPT_USAGE, "--older-than needs a deja filter file, not %s",
                    o->shared.redis.n ? "--redis" : shared_foreign_word(o->shared.foreign).text);
    const char *name = o->tag ? "tag" : o->why ? "why" : "prefix";
    if (o->shared.redis.n && (o->tag || o->why || o->prefix))
        return fail(err, OPT_USAGE, "--%s needs a filter file; omit --redis", name);
    if (!o->tag && !o->why)
        return DEJA_OK;
    if (o->invert)
        return fail(err, OPT_USAGE, "--%s is for lines that are in a filter; omit -v", name);
    if (o->count)
        return fail(err, OPT_USAGE, "-c prints no lines; omit --%s", name);
    if (o->shared.paragraphs)
        return fail(err, OPT_USAGE, "--%s is for lines, not for --paragraphs", name);
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_FLAG('v', "invert", struct check_options, invert,
             "print the lines that are not in the filter", OPT_USED(1)),
    OPT_FLAG('c', "count", struct check_options, count,
             "print the number of lines instead of the lines", OPT_USED(1)),
    OPT_FLAG(0, "tag", struct check_options, tag,
             "start each line with the names of the filters that hold it, and a tab"),
    OPT_FLAG(0, "why", struct check_options, why,
             "end each line with a tab and the key that was found; with --url=gsb, the site, "
             "folder or page on the list"),
    OPT_FLAG(0, "prefix", struct check_options, prefix,
             "treat lines as URL prefixes; find those with at least one known URL (kind layered)"),
    OPT_DAYS(0, "older-than", "DAYS", struct check_options, older_than,
             "print the lines that were last seen at least DAYS ago (30d, 4w, 6mo, 1y)"),
    OPT_GROUP(struct check_options, shared, shared_memory),
    OPT_GROUP(struct check_options, shared, shared_output),
    OPT_GROUP(struct check_options, shared, shared_canonical),
    OPT_GROUP(struct check_options, shared, shared_filter_column),
    OPT_GROUP(struct check_options, shared, shared_input_foreign),
    OPT_GROUP(struct check_options, shared, shared_url),
    OPT_GROUP(struct check_options, shared, shared_file_key),
    OPT_GROUP(struct check_options, shared, shared_redis),
    OPT_GROUP(struct check_options, shared, shared_general_no_v),
    OPT_CHECK(check_options),
    OPT_END,
};

#define HEADER "list\t" /* before a CSV or CDX header, with --tag */

struct job {
    const struct call *call;
    const struct check_options *o;
    struct filterset set;
    struct check_sieve sieve; /* if the first operand is one */
    struct session session;
    struct buffer names, reason; /* of the current line */
    uint64_t printed;
};

/* The names of the filters that hold line i, and a tab. */
static bool list_names(struct job *j, size_t i)
{
    const struct filterset *set = &j->set;
    bool ok = true;
    j->names.len = 0;
    for (size_t k = 0; k < set->n && ok; k++) {
        const deja_slice name = filterset_name(&set->one[k]);
        if (set->n > 1 && !(set->held[i] >> k & 1))
            continue;
        ok = (j->names.len == 0 || buffer_text(&j->names, ",")) &&
             buffer_add(&j->names, name.data, name.len);
    }
    return ok && buffer_text(&j->names, "\t");
}

static bool give_reason(struct job *j, deja_slice key)
{
    j->reason.len = 0;
    return buffer_text(&j->reason, "\t") && buffer_add(&j->reason, key.data, key.len);
}

/* Prints the lines that were found, with the names of the filters and the key. */
static int print_marked(struct job *j, const struct batch *b, deja_error *err)
{
    session_print_header(&j->session, j->o->tag ? HEADER : "");
    for (size_t i = 0; i < b->block.n; i++) {
        if (!b->answer[i])
            continue;
        if ((j->o->tag && !list_names(j, i)) || (j->o->why && !give_reason(j, b->block.keys[i])))
            return fail(err, DEJA_ENOMEM, "out of memory for a line");
        session_print_between(&j->session, &b->block, i, buffer_slice(&j->names),
                              buffer_slice(&j->reason));
    }
    return DEJA_OK;
}

/* Takes a batch that has an answer for each line. */
static int deliver(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    int rc = DEJA_OK;
    const uint64_t found = session_count(b);
    j->printed += j->o->invert ? b->block.n - found : found;
    if (j->o->tag || j->o->why)
        rc = print_marked(j, b, err);
    else if (!j->o->count)
        session_print(&j->session, b, !j->o->invert);
    return rc < 0 ? rc : out_flush(j->session.out, err);
}

static int check_batch(void *job, struct batch *b, deja_error *err)
{
    struct job *j = job;
    const int rc = filterset_look_up(&j->set, &j->session, b, err);
    return rc < 0 ? rc : deliver(j, b, err);
}

static void report_filters(const struct job *j, struct json *json)
{
    const struct filterset *set = &j->set;
    if (set->n < 2) {
        json_string(json, "file", j->call->operands[0]);
        return;
    }
    json_array(json, "filters");
    for (size_t i = 0; i < set->n; i++) {
        json_object(json, NULL);
        json_string(json, "file", set->one[i].path);
        json_uint(json, "in", set->one[i].lines);
        json_end(json);
    }
    json_end(json);
}

static void report_json(const struct job *j)
{
    struct session_report r;
    if (!session_report_begin(&r, &j->session))
        return;
    report_filters(j, &r.json);
    json_uint(&r.json, "read", j->session.records);
    json_uint(&r.json, "in", j->o->invert ? j->session.records - j->printed : j->printed);
    json_uint(&r.json, "lookups", j->session.lookups);
    if (j->sieve.sieve)
        json_uint(&r.json, "passes", j->sieve.passes);
    if (j->o->older_than)
        json_uint(&r.json, "older_than_days", j->o->older_than);
    session_report_end(&r, &j->session);
}

/* "bad.deja", or "any of 3 filters" in `buf` */
static const char *name_filters(const struct job *j, char *buf, size_t cap)
{
    (void)snprintf(buf, cap, "any of %zu filters", j->set.n);
    return j->set.n > 1 ? buf : j->call->operands[0];
}

static void tell_all(const struct job *j, const char *where, const char *filters)
{
    const deja_url_rules *rules = j->session.urls.rules;
    char rate[160] = "";
    if (j->sieve.sieve)
        (void)snprintf(rate, sizeof rate, "; %s pass%s", num_count(j->sieve.passes).s,
                       j->sieve.passes == 1 ? "" : "es");
    else if (rules && deja_url_rules_profile(rules) == DEJA_URL_GSB && !j->o->prefix)
        (void)snprintf(
            rate, sizeof rate, "; %s, up to %d per line, which multiplies the rate by up to %d",
            num_of(j->session.lookups, "lookup").s, DEJA_URL_EXPRESSIONS, DEJA_URL_EXPRESSIONS);
    console_note(j->call->console, "%s%s read, %s %s %s%s; %s",
                 j->session.stopped ? "stopped: " : "", num_lines(j->session.records).s,
                 num_count(j->printed).s, where, fail_path(filters).text, rate,
                 num_duration(progress_seconds(&j->session.progress)).s);
}

static void report(const struct job *j)
{
    const char *where = j->o->older_than ? j->o->invert ? "not old in" : "old in"
                        : j->o->invert   ? "not in"
                                         : "in";
    struct closing c = session_closing(&j->session);
    char buf[40];
    const char *filters = name_filters(j, buf, sizeof buf);
    session_warn_missing(&j->session);
    closing_count_in(&c, j->printed, where, filters);
    if (j->o->shared.json)
        report_json(j);
    else if (j->o->shared.verbose)
        tell_all(j, where, filters);
    else
        session_print_closing(&j->session, &c);
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    if (!j->o->count)
        session_print_header(&j->session, j->o->tag ? HEADER : "");
    else
        out_printf(j->session.out, "%llu\n", (unsigned long long)j->printed);
    rc = out_flush(j->session.out, err);
    if (rc < 0)
        return rc;
    report(j);
    return j->printed ? COMMAND_DONE : COMMAND_NO;
}

static int require(const struct filterset *set, uint32_t capability, const char *option,
                   deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < set->n && rc == DEJA_OK; i++)
        rc = set->one[i].filter ? deja_filter_require(set->one[i].filter, capability, err)
                                : fail(err, OPT_USAGE, "%s: --%s needs a deja filter file",
                                       fail_path(set->one[i].path).text, option);
    return rc;
}

/* --- Sieves ----------------------------------------------------------------- */

/* Why these operands and options cannot be used with a sieve, or NULL. */
static const char *refusal(const struct check_options *o, size_t filters)
{
    return filters > 1     ? "a sieve is checked alone, so give one at a time"
           : o->prefix     ? "--prefix needs a filter of kind layered: a sieve stores whole keys"
           : o->older_than ? "--older-than needs a filter with dates: a sieve does not store any"
           : o->why        ? "--why is for filters: a sieve looks up many lines at once, by their "
                             "hashes"
           : o->tag        ? "--tag is for several filters: a sieve is checked alone"
           : o->shared.foreign ? "it is not a filter of another program: omit --format"
                               : NULL;
}

static bool has_sieve(const struct call *call, size_t filters, const char **path)
{
    for (size_t i = 0; i < filters; i++)
        if (deja_sieve_exists(*path = call->operands[i]))
            return true;
    return false;
}

/* --- The whole run ------------------------------------------------------------ */

/* Opens the filters, or the sieve. */
static int open_all(struct job *j, size_t filters, deja_error *err)
{
    const struct call *call = j->call;
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect;
    const char *path;
    int rc = session_begin(&j->session, &j->o->shared,
                           j->o->prefix ? URLKEYS_PREFIX : URLKEYS_LOOK_UP, key, &expect, err);
    if (rc == DEJA_OK && has_sieve(call, filters, &path)) {
        j->sieve.answered = deliver;
        j->sieve.job = j;
        return refusal(j->o, filters)
                   ? fail(err, OPT_USAGE, "%s is a sieve: %s", fail_path(path).text,
                          refusal(j->o, filters))
                   : check_sieve_open(&j->sieve, &j->session, path, &expect, err);
    }
    if (rc == DEJA_OK)
        rc = sieves_refuse_memory(&j->o->shared, call->operands[0], err);
    if (rc == DEJA_OK)
        rc = filterset_open(&j->set, &j->session, call, filters, &expect, err);
    if (rc == DEJA_OK && j->o->prefix)
        rc = require(&j->set, DEJA_CAN_PREFIX, "prefix", err);
    if (rc == DEJA_OK && j->o->older_than)
        rc = require(&j->set, DEJA_CAN_DATE, "older-than", err);
    return rc;
}

static int read_all(struct job *j, deja_error *err)
{
    if (!j->sieve.sieve)
        return session_each(&j->session, check_batch, j, err);
    const int rc = session_each(&j->session, check_sieve_take, &j->sieve, err);
    deja_error late;
    const int last = check_sieve_flush(&j->sieve, rc < 0 ? &late : err);
    return rc < 0 ? rc : last;
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options};
    const struct remote_job remote = {REMOTE_CHECK, &j.o->shared, call->operands[0], 1,
                                      j.o->invert,  j.o->count};
    const size_t filters = filterset_leading(call);
    if (j.o->shared.redis.n && filters > 1)
        return fail(err, OPT_USAGE, "%s is a filter file; --redis checks one cache at a time",
                    fail_path(call->operands[1]).text);
    if (j.o->shared.redis.n)
        return remote_run(call, &remote, err);
    j.set.prefix = j.o->prefix;
    j.set.older_than = j.o->older_than;
    int rc = open_all(&j, filters, err);
    if (rc == DEJA_OK)
        rc = session_output(&j.session, call, &j.o->shared, filters, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->shared, filters,
                          j.set.n ? j.set.one[0].filter : NULL, err);
    if (rc == DEJA_OK)
        rc = finish(&j, read_all(&j, err), err);
    rc = session_finish(&j.session, rc, err);
    check_sieve_free(&j.sieve);
    filterset_free(&j.set);
    free(j.names.data);
    free(j.reason.data);
    return rc;
}

const struct command cmd_check = {
    .name = "check",
    .often = true,
    .summary = "print the lines that are in a filter file",
    .operands = "F.deja... [FILE]...",
    .options = options,
    .options_size = sizeof(struct check_options),
    .description =
        "Prints the lines of the files, or of standard input if none are given, that are in the "
        "filter; with -v those that are not. It finds every line that was added. A line that was "
        "never added is mistaken for one of them at the filter's false-positive rate (`deja info` "
        "shows it), so -v never prints a line that was added. Kind paired is the exception: it "
        "FORGETS some lines (`deja info` shows how many).\n\n"
        "The first operand is a filter, and so are the operands after it, up to the first file "
        "that is not one. A line is printed if any filter holds it. --tag prints the names of "
        "these filters before the line, without folder and .deja, separated by commas and "
        "followed by a tab; a CSV or CDX header starts with list and a tab. All filters must hold "
        "bytes, or URLs of one profile. Each keeps its own secret key; --key is for the filters "
        "that do not contain theirs. With --json, the report counts the lines of each filter.\n\n"
        "--why prints a tab and the key that was found after each line: its canonical form or, "
        "with --url=gsb, the most specific host/path expression that is on a list. A false "
        "positive also has such a key; to be certain, look it up in the list itself.\n\n"
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
        "F can also be the directory of a sieve (deja-dedup(1), --sieve). Its answers are certain, "
        "for both kinds of lines. deja holds lines until they fill the memory (-m), or the input "
        "pauses or ends, looks up their keys in one pass over the sieve, and prints them in the "
        "order of the input. It sees the keys that were recorded when the pass began; others can "
        "write the sieve at the same time. A sieve is checked alone, without --tag, --why, "
        "--prefix and --older-than.\n\n"
        "F can also be a filter file of another program (deja-build(1), --format dcso and the "
        "following), plain or gzip. deja detects it by its first bytes and its length; with "
        "--format guava, for example, any other file is an error. A second --format then sets the "
        "format of the lines. With a .parquet file, it looks up the Bloom filters of a column.\n\n"
        "With --url=gsb the filter is a block list (see deja-build(1)). A line is in it if its "
        "site, folder or page is: deja looks up any of up to 5 hosts, from the whole name to its "
        "last two labels, with any of up to 6 paths, from the whole path with its query to the "
        "root. These are up to 30 lookups, each with the filter's false-positive rate.",
    .notes = {SESSION_KEY_TEXT, SESSION_LINES_TEXT "in the filter, and with -v if none is.",
              SESSION_URL_TEXT "compared unchanged; with gsb, they are in no filter.",
              REMOTE_TEXT " F.deja is then the name of the cache."},
    .examples = {{"lines that were seen", "deja check seen.deja urls.txt"},
                 {"lines that were not seen", "deja check -v seen.deja urls.txt"},
                 {"lines that are in a sieve, with certainty",
                  "deja build -q --sieve listed urls.txt && deja check listed today.txt"},
                 {"lines that were last seen 30 days ago or earlier",
                  "deja check --older-than 30d pages.deja urls.txt"},
                 {"requests in a web server's log for URLs in a list",
                  "deja check --format log list.deja access.log"},
                 {"requests in a proxy's log for URLs in a block list",
                  "deja check --url=gsb --format squid bad.deja squid.log"},
                 {"which list, and which of its entries?",
                  "deja check --url=gsb --tag --why --format squid bad.deja squid.log"}},
    .exits = {{0, "some lines were printed"},
              {1, "no lines were printed"},
              {2, "usage error or failure"}},
    .run = run,
};
