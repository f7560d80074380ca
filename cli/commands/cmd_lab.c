/* cmd_lab.c - deja lab: rerun the papers' experiments.
 *
 * Reads the options, prepares the URLs and the output folder, lets lab_runner.c run the
 * experiments, and writes their results as CSV, SVG and one HTML page. */
#include "cli/commands/lab_command.h"
#include "cli/commands/lab_folder.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "lab/engine/lab_journal.h"
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_runner.h"
#include "lab/report/lab_conditions.h"
#include "lab/report/lab_sources.h"
#include "lab/report/lab_write.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/progress.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define N_PAPER UINT64_C(1000000)
#define N_QUICK UINT64_C(100000)
#define N_LEAST UINT64_C(1000)
#define N_MOST  UINT64_C(100000000)

struct lab_options {
    struct shared_options shared;
    uint32_t runs;
    const char *urls;
    const char *graph;
    const char *out;
    bool quick;
    bool resume;
    bool list;
};
static const struct lab_options defaults = {.out = "deja-lab", .shared.filter.seed = 1};

static int check_options(const void *target, deja_error *err)
{
    const struct lab_options *o = target;
    if (o->shared.csv && !o->urls)
        return fail(err, OPT_USAGE, "--csv describes the file of --urls; give both");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_COUNT32(0, "runs", "R", struct lab_options, runs, 1, 100000,
                "make R runs with different salts (default 10; the papers made 100)", OPT_USED(1)),
    OPT_STRING(0, "urls", "FILE", struct lab_options, urls,
               "use the distinct lines of FILE instead of generated URLs", OPT_USED(1)),
    OPT_STRING(0, "csv", "COLUMN", struct lab_options, shared.csv,
               "read FILE as CSV and use COLUMN, a name or a number"),
    OPT_STRING(
        0, "graph", "PATH", struct lab_options, graph,
        "replay: crawl the site in PATH instead of generated ones: the folder of a finished "
        "`deja crawl`, or a file with one link per line (FROM, a tab, TO)",
        OPT_USED(1)),
    OPT_STRING('o', "output", "DIR", struct lab_options, out,
               "write the report to DIR; create it if it is missing (default deja-lab)",
               OPT_USED(1)),
    OPT_STRING(0, "out", "DIR", struct lab_options, out, "same as --output",
               OPT_OLD("--output=DIR")),
    OPT_FLAG(0, "quick", struct lab_options, quick, "use 100,000 URLs and one run", OPT_USED(1)),
    OPT_COUNT('n', "capacity", "N", struct lab_options, shared.filter.capacity, N_LEAST, N_MOST,
              "add N URLs and query N others (default 1M, as in the papers)", OPT_USED(1)),
    OPT_FLAG(0, "resume", struct lab_options, resume, "resume the lab in DIR, or add runs to it",
             OPT_USED(1)),
    OPT_FLAG(0, "list", struct lab_options, list, "only list the experiments, with time estimates",
             OPT_USED(1)),
    OPT_COUNT(0, "seed", "S", struct lab_options, shared.filter.seed, 1, UINT64_MAX,
              "use seed S for URLs and salts; the same S gives the same figures (default 1)",
              OPT_USED(1)),
    OPT_COUNT32('j', "threads", "N", struct lab_options, shared.threads, 1, 64,
                "use up to N threads (default 2); the counts do not depend on it", OPT_USED(1)),
    OPT_GROUP(struct lab_options, shared, shared_quiet),
    OPT_CHECK(check_options),
    OPT_END,
};

#define EXPERIMENTS 32 /* more than there are */

struct session {
    const struct call *call;
    const struct lab_options *o;
    struct lab lab;
    struct lab_graph graph; /* of --graph */
    const struct lab_experiment *chosen[EXPERIMENTS];
    struct lab_results results[EXPERIMENTS];
    struct lab_report report[EXPERIMENTS];
    size_t n, n_results, n_reports;
    struct lab_journal journal;
    struct progress clock;
    struct lab_command command;
};

static uint32_t runs_of(const struct lab_options *o)
{
    return o->runs > 0 ? o->runs : o->quick ? 1 : 10;
}

static uint64_t n_of(const struct lab_options *o)
{
    return o->shared.filter.capacity > 0 ? o->shared.filter.capacity
           : o->quick                    ? N_QUICK
                                         : N_PAPER;
}

/* --- Which experiments ---------------------------------------------------------- */

static const struct lab_experiment *find(const char *name, deja_error *err)
{
    struct opt_near near = {.word = name};
    for (const struct lab_experiment *const *e = lab_experiments; *e != NULL; e++) {
        if (strcmp((*e)->name, name) == 0)
            return *e;
        opt_near_offer(&near, (*e)->name);
    }
    (void)fail(err, OPT_USAGE, "unknown experiment '%.40s'%s", name,
               near.best ? opt_near_hint(&near, "").text : "; run 'deja lab --list'");
    return NULL;
}

static const char *operand_name(uint32_t number)
{
    if (number == 0)
        return "all";
    for (uint32_t i = 0; lab_experiments[i]; i++)
        if (i + 1 == number)
            return lab_experiments[i]->name;
    return NULL;
}

static bool is_chosen(const struct session *s, const struct lab_experiment *e)
{
    for (size_t i = 0; i < s->call->n_operands; i++)
        if (strcmp(s->call->operands[i], e->name) == 0 || strcmp(s->call->operands[i], "all") == 0)
            return true;
    return false;
}

/* Chooses each experiment once, in the order of the list. */
static int choose(struct session *s, deja_error *err)
{
    for (size_t i = 0; i < s->call->n_operands; i++)
        if (strcmp(s->call->operands[i], "all") != 0 && !find(s->call->operands[i], err))
            return OPT_USAGE;
    for (const struct lab_experiment *const *e = lab_experiments; *e != NULL; e++)
        if (is_chosen(s, *e))
            s->chosen[s->n++] = *e;
    return DEJA_OK;
}

/* Estimates the seconds that an experiment takes with these options on one core. */
static double estimate(const struct lab_experiment *e, const struct lab_options *o)
{
    const uint32_t runs = runs_of(o);
    const double counted = e->max_runs > 0 && e->max_runs < runs ? e->max_runs : runs;
    return e->seconds * counted * (double)n_of(o) / (double)N_PAPER;
}

/* Lists the experiments.  Without a name none is run, because all of them take minutes. */
static int list(const struct call *call, deja_error *err)
{
    const struct lab_options *o = call->options;
    struct table t;
    double total = 0;
    table_init(&t, "lrl");
    for (const struct lab_experiment *const *e = lab_experiments; *e != NULL; e++) {
        table_cell(&t, "%s", (*e)->name);
        table_cell(&t, "%s", num_duration(estimate(*e, o)).s);
        table_cell(&t, "%s", (*e)->reproduces);
        total += estimate(*e, o);
    }
    int rc = table_print(&t, call->out, 0, err);
    if (rc == DEJA_OK)
        rc = out_flush(call->out, err); /* so that the note comes after it */
    if (rc < 0)
        return rc;
    for (const struct lab_source *source = lab_sources; source->name != NULL; source++)
        console_note(call->console, "%s: %s", source->name, lab_cite(source).s);
    console_note(call->console,
                 "times are estimates for one core, %s and n = %s; name experiments to run, or "
                 "run all in about %s: deja lab all",
                 num_of(runs_of(o), "run").s, num_count(n_of(o)).s, num_duration(total).s);
    return COMMAND_DONE;
}

/* --- Before ----------------------------------------------------------------------- */

/* All options, also those that were not given, so that it does not depend on defaults. */
static void remember_command(struct session *s)
{
    const struct lab_options *o = s->o;
    struct lab_command *c = &s->command;
    lab_command_word(c, "deja");
    lab_command_word(c, "lab");
    for (size_t i = 0; i < s->call->n_operands; i++)
        lab_command_word(c, s->call->operands[i]);
    if (o->quick)
        lab_command_word(c, "--quick");
    lab_command_number(c, "--runs", s->lab.runs);
    lab_command_number(c, "-n", n_of(o));
    lab_command_number(c, "--seed", s->lab.seed);
    lab_command_number(c, "--threads", s->lab.threads);
    lab_command_option(c, "--urls", o->urls);
    lab_command_option(c, "--csv", o->shared.csv);
    lab_command_option(c, "--graph", o->graph);
    lab_command_option(c, "--output", o->out);
    if (o->resume)
        lab_command_word(c, "--resume");
}

static int load_keys(struct session *s, deja_error *err)
{
    const struct lab_options *o = s->o;
    struct lab_keys *k = &s->lab.keys;
    const uint64_t n = n_of(o);
    if (!o->urls)
        return lab_keys_make(k, n, o->shared.filter.seed, err);
    const struct pick_options pick = shared_pick_options(&o->shared);
    const int rc = lab_keys_read(k, n, o->urls, &pick, s->call->stop, err);
    if (rc == DEJA_OK && k->duplicates > 0)
        console_note(s->call->console, "%s of %s skipped",
                     num_of(k->duplicates, "duplicate line").s, fail_path(o->urls).text);
    if (rc == DEJA_OK && k->n < n)
        console_note(s->call->console, "%s has %s distinct lines: n = %s instead of %s",
                     fail_path(o->urls).text, num_count(2 * k->n).s, num_count(k->n).s,
                     num_count(n).s);
    return rc;
}

static int prepare(struct session *s, deja_error *err)
{
    uint64_t found = 0;
    const struct lab_options *o = s->o;
    s->lab.runs = runs_of(o);
    s->lab.threads = o->shared.threads > 0 ? o->shared.threads : 2;
    s->lab.seed = o->shared.filter.seed;
    s->lab.quick = o->quick;
    s->lab.stop = s->call->stop;
    int rc = load_keys(s, err);
    if (rc == DEJA_OK && o->graph)
        rc = lab_folder_read(&s->graph, o->graph, s->call->stop, err);
    s->lab.graph = o->graph ? &s->graph : NULL;
    for (; rc == DEJA_OK && s->n_results < s->n; s->n_results++)
        rc = lab_results_init(&s->results[s->n_results], &s->lab, s->chosen[s->n_results], err);
    if (rc == DEJA_OK && !o->resume && mkdir(o->out, 0777) != 0 && errno != EEXIST)
        rc = fail_errno(err, "--output %s", fail_path(o->out).text);
    if (rc == DEJA_OK)
        rc = lab_journal_open(&s->journal, o->out, &s->lab, o->resume, s->results, s->n_results,
                              &found, err);
    if (rc == DEJA_OK && o->resume)
        console_note(s->call->console, "resuming: %s of %s are done", num_count(found).s,
                     num_of(lab_tasks(s->results, s->n_results), "unit").s);
    remember_command(s);
    return rc;
}

/* --- After ------------------------------------------------------------------------ */

/* Writes DIR/NAME with `write`. */
typedef void writer(struct out *o, const void *what);

static int write_file(const struct session *s, const char *name, writer *write, const void *what,
                      deja_error *err)
{
    char path[1024];
    struct out o = OUT_NONE;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", s->o->out, name) >= sizeof path)
        return fail(err, DEJA_EINVAL, "--output: the name is too long");
    int rc = existing_check_output(path, err);
    if (rc == DEJA_OK)
        rc = out_open(&o, path, err);
    if (rc == DEJA_OK)
        write(&o, what);
    return out_finish(&o, rc, err);
}

static void write_csv(struct out *o, const void *report)
{
    lab_csv_write(o, report);
}

/* A report, and the number of its runs. */
struct claims {
    const struct lab_report *report;
    uint32_t runs;
};

static void write_claims(struct out *o, const void *claims)
{
    const struct claims *c = claims;
    lab_csv_write_claims(o, c->report, c->runs);
}

static void write_svg(struct out *o, const void *figure)
{
    lab_svg_write(o, figure, true);
}

static void write_conditions(struct out *o, const void *page)
{
    lab_csv_write_conditions(o, page);
}

static void write_seeds(struct out *o, const void *page)
{
    lab_csv_write_seeds(o, page);
}

static void write_html(struct out *o, const void *page)
{
    lab_html_write(o, page);
}

static int write_report(struct session *s, const struct lab_report *r, uint32_t runs,
                        deja_error *err)
{
    char name[128];
    const struct claims claims = {r, runs};
    (void)snprintf(name, sizeof name, "%s.csv", r->experiment->name);
    int rc = write_file(s, name, write_csv, r, err);
    (void)snprintf(name, sizeof name, "%s-claims.csv", r->experiment->name);
    if (rc == DEJA_OK)
        rc = write_file(s, name, write_claims, &claims, err);
    for (size_t i = 0; i < r->n_figures && rc == DEJA_OK; i++) {
        (void)snprintf(name, sizeof name, "%s-%s.svg", r->experiment->name, r->figure[i]->id);
        rc = write_file(s, name, write_svg, r->figure[i], err);
    }
    return rc;
}

static int write_all(struct session *s, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = 0; i < s->n && rc == DEJA_OK; i++) {
        struct lab_report *r = &s->report[s->n_reports++];
        lab_report_init(r, s->chosen[i]);
        s->chosen[i]->report(&s->results[i], r);
        if (r->failed)
            rc = fail(err, DEJA_ENOMEM, "out of memory for the report of %s", s->chosen[i]->name);
        if (rc == DEJA_OK)
            rc = write_report(s, r, s->results[i].runs, err);
    }
    const struct lab_page page = {&s->lab, s->report, s->n_reports, s->command.text,
                                  progress_seconds(&s->clock)};
    if (rc == DEJA_OK)
        rc = write_file(s, "conditions.csv", write_conditions, &page, err);
    if (rc == DEJA_OK)
        rc = write_file(s, "seeds.csv", write_seeds, &page, err);
    return rc == DEJA_OK ? write_file(s, "index.html", write_html, &page, err) : rc;
}

/* "3 yes, 1 no". */
static void tally_cell(struct table *t, struct lab_tally tally)
{
    const struct {
        size_t n;
        const char *name;
    } part[] = {{tally.yes, "yes"}, {tally.no, "no"}, {tally.open, "undecided"}};
    char text[96] = "-";
    size_t len = 0;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (part[i].n > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%zu %s", len > 0 ? ", " : "",
                                    part[i].n, part[i].name);
    table_cell(t, "%s", text);
}

static int summarize(struct session *s, deja_error *err)
{
    struct table t;
    table_init(&t, "llll");
    table_cell(&t, "experiment");
    table_cell(&t, "reproduced?");
    table_cell(&t, "claims hold?");
    table_cell(&t, "reproduces");
    for (size_t i = 0; i < s->n_reports; i++) {
        const struct lab_report *r = &s->report[i];
        table_cell(&t, "%s", r->experiment->name);
        tally_cell(&t, lab_tally_printed(r));
        tally_cell(&t, lab_tally_holds(r));
        table_cell(&t, "%s", r->experiment->reproduces);
    }
    console_note(s->call->console, "%s", s->command.text);
    if (lab_smaller(&s->lab).s[0] != '\0')
        console_note(s->call->console, "a small run: %s", lab_smaller(&s->lab).s);
    console_note(s->call->console, "%s in %s: see %s/index.html",
                 num_of(lab_tasks(s->results, s->n_results), "unit").s,
                 num_duration(progress_seconds(&s->clock)).s, fail_path(s->o->out).text);
    return table_print(&t, s->call->out, 0, err);
}

static void say_stopped(const struct session *s)
{
    console_note(s->call->console,
                 "stopped: %s of %s done; add --resume to the command to continue",
                 num_count(lab_tasks_done(s->results, s->n_results)).s,
                 num_of(lab_tasks(s->results, s->n_results), "unit").s);
}

static void session_fini(struct session *s)
{
    for (size_t i = 0; i < s->n_results; i++)
        lab_results_fini(&s->results[i]);
    for (size_t i = 0; i < s->n_reports; i++)
        lab_report_fini(&s->report[i]);
    lab_journal_close(&s->journal);
    lab_keys_fini(&s->lab.keys);
    lab_graph_fini(&s->graph);
    free(s);
}

static int work(struct session *s, deja_error *err)
{
    int rc = choose(s, err);
    if (rc == DEJA_OK)
        rc = prepare(s, err);
    if (rc == DEJA_OK)
        rc = lab_run(&s->lab, s->results, s->n_results, &s->journal, s->call->console, err);
    if (rc == DEJA_OK)
        rc = write_all(s, err);
    if (rc == DEJA_OK)
        rc = summarize(s, err);
    if (rc == LAB_STOPPED) {
        say_stopped(s);
        rc = COMMAND_DONE; /* main dies of the signal */
    }
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct lab_options *o = call->options;
    if (o->list || call->n_operands == 0)
        return list(call, err);
    struct session *s = calloc(1, sizeof *s);
    if (!s)
        return fail(err, DEJA_ENOMEM, "out of memory for the lab");
    s->call = call;
    s->o = o;
    s->journal = LAB_JOURNAL_NONE;
    progress_begin(&s->clock, call->console, NULL, "units");
    const int rc = work(s, err);
    session_fini(s);
    return rc;
}

const struct command cmd_lab = {
    .name = "lab",
    .summary = "rerun the papers' experiments and compare the results",
    .operands = "[NAME]...",
    .operand_names = operand_name,
    .options = options,
    .options_size = sizeof(struct lab_options),
    .defaults = &defaults,
    .description =
        "Reruns published experiments on Bloom filters as URL caches: those that you name, or all "
        "of them with `deja lab all`. Without a name, or with --list, it lists the experiments, "
        "the tables and figures that they reproduce, and how long each takes on one core with the "
        "given --runs and -n.\n\n"
        "In DIR it writes NAME.csv for each experiment (measured mean, standard error, theory, "
        "published value, differences in standard deviations), NAME-claims.csv (each claim of the "
        "paper, whether this run reproduced its printed values, whether it holds, and the test of "
        "both), the figures as SVG, and index.html, one page with all of these, the command, the "
        "machine, the version and the seeds.\n\n"
        "The counts depend only on the seed and the URLs, not on the number of threads. "
        "Experiments that measure time run last, one at a time. Ctrl-C loses no finished work: "
        "--resume continues, also with more --runs.",
    .examples = {{"some experiments, small, in seconds",
                  "deja lab hashes cache --quick -o report"},
                 {"one table of the thesis, with three runs", "deja lab single --runs 3 -n 50k"},
                 {"the list of experiments, with times", "deja lab"}},
    .run = run,
};
