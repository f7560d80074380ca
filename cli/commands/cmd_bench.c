/* cmd_bench.c - deja bench: compare deja with the limits of this machine. */
#include "bench/bench_memory.h"
#include "bench/bench_report.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include <stdlib.h>

#define CASES_MAX    64
#define RESULTS_MAX  (4 * BENCH_JOBS) /* two sections with jobs, two sizes */
#define JOB_KEYS     30000000         /* keys in all rounds of a job, if that is three or more */
#define MEMORY_SHARE 0.6              /* of the available memory */
#define IN_CACHE     UINT64_C(1000000)
#define BEYOND       UINT64_C(100000000)
#define BEYOND_QUICK UINT64_C(10000000)
#define ROUNDS       21
#define ROUNDS_QUICK 7
#define ROUNDS_LEAST 3

struct bench_options {
    struct shared_options shared;
    const char *urls;
    const char *csv;
    const char *dir;
    bool quick;
    bool list;
};

static const struct opt options[] = {
    OPT_MADE(struct bench_options, shared.filter, opt_filter_kind),
    OPT_COUNT('n', "capacity", "N", struct bench_options, shared.filter.capacity, BENCH_N_MIN,
              UINT64_C(1) << 36, "put N keys into each filter (default: 1M and 100M)"),
    OPT_RATE('p', "fp-rate", "P", struct bench_options, shared.filter.fp_rate,
             "aim for this false-positive rate (default: 0.01, for blocked also 1e-6)"),
    OPT_STRING(0, "urls", "FILE", struct bench_options, urls,
               "use the lines of FILE as keys instead of generated URLs"),
    OPT_FLAG(0, "quick", struct bench_options, quick,
             "measure fewer rounds, with at most 10M keys"),
    OPT_STRING(0, "dir", "DIR", struct bench_options, dir,
               "put the files of `files' into DIR (default: $TMPDIR, or /tmp)"),
    OPT_FLAG(0, "list", struct bench_options, list, "only list the cases"),
    OPT_GROUP(struct bench_options, shared, shared_output),
    OPT_STRING(0, "csv", "FILE", struct bench_options, csv,
               "also write the figures to FILE as CSV"),
    OPT_HEADING("General"),
    OPT_GROUP(struct bench_options, shared, shared_json),
    OPT_GROUP(struct bench_options, shared, shared_quiet),
    OPT_END,
};

struct bench;
/* A group of measurements, as named on the command line.  What it lacks is NULL. */
struct section {
    const char *name, *help;
    void (*plan)(struct bench *b, uint64_t n); /* cases */
    const struct bench_group *jobs;
    int (*run)(struct bench *b, deja_error *err); /* anything else */
};

struct bench {
    const struct call *call;
    const struct bench_options *o;
    struct bench_keys keys;
    struct bench_report report;
    struct bench_case cases[CASES_MAX];
    struct bench_result results[RESULTS_MAX];
    const struct section *section; /* being planned */
    size_t n;                      /* planned cases; the report counts the finished ones */
};

static int run_urls(struct bench *b, deja_error *err)
{
    const int rc =
        bench_url_run(b->report.url, &b->keys, b->o->quick ? ROUNDS_QUICK : ROUNDS, err);
    b->report.has_url = rc == DEJA_OK;
    return rc;
}

/* --- What to run ------------------------------------------------------------ */

static uint64_t memory_needed(const struct bench_case *c)
{
    /* The table used to measure the limit has the same size. */
    return 2 * c->subject->estimate(c->kind, c->n, c->p, 64);
}

/* Divides the number of keys by ten until they fit. */
static void reduce(const struct bench *b, struct bench_case *c)
{
    const uint64_t asked = c->n, needed = memory_needed(c);
    const double budget = MEMORY_SHARE * (double)b->report.host.available;
    while (b->report.host.available > 0 && (double)memory_needed(c) > budget &&
           c->n / 10 >= BENCH_N_MIN)
        c->n /= 10;
    if (c->n != asked)
        console_note(b->call->console,
                     "%s with %s keys would need %s of the %s available; using %s keys",
                     bench_case_name(c), bench_short_count(asked).s, num_bytes(needed).s,
                     num_bytes(b->report.host.available).s, bench_short_count(c->n).s);
}

/* Each kind in batches and one at a time; or one thread, two that share a filter, and one again. */
#define ALONE  (BENCH_CALL(BENCH_BATCH) | BENCH_CALL(BENCH_ONE))
#define SHARED (BENCH_CALL(BENCH_BATCH) | BENCH_CALL(BENCH_TWO) | BENCH_CALL(BENCH_AFTER))

static void plan(struct bench *b, const struct bench_subject *s, uint32_t kind, uint64_t n,
                 unsigned calls, double p)
{
    if (b->n == CASES_MAX)
        return;
    struct bench_case *c = &b->cases[b->n];
    *c = (struct bench_case){.section = b->section->name, .subject = s, .kind = kind, .n = n};
    c->p = p;
    c->calls = calls;
    c->rounds = b->o->quick ? ROUNDS_QUICK : ROUNDS;
    reduce(b, c);
    for (size_t i = 0; i < b->n; i++)
        if (b->cases[i].subject == s && b->cases[i].kind == kind && b->cases[i].n == c->n &&
            b->cases[i].p == p && b->cases[i].calls == calls)
            return; /* already planned, or reduced to such a case */
    b->n++;
}

static const struct bench_subject *subject_of(uint32_t kind)
{
    return deja_kind_can(kind, DEJA_CAN_BUILD)   ? &bench_static
           : deja_kind_can(kind, DEJA_CAN_LAYER) ? &bench_layered
                                                 : &bench_filter;
}

static double rate_of(const struct bench *b)
{
    return b->o->shared.filter.fp_rate > 0 ? b->o->shared.filter.fp_rate : 1e-2;
}

static uint32_t kind_of(const struct bench *b)
{
    return b->o->shared.filter.kind ? b->o->shared.filter.kind : DEJA_BLOCKED;
}

static void plan_kinds(struct bench *b, uint64_t n)
{
    const struct shared_options *c = &b->o->shared;
    const double p = rate_of(b);
    for (uint32_t kind = 0; (kind = deja_kind_next(kind));) {
        if (c->filter.kind != 0 && c->filter.kind != kind)
            continue;
        plan(b, subject_of(kind), kind, n, ALONE, p);
        if (deja_kind_can(kind, DEJA_CAN_LAYER)) /* for comparison */
            plan(b, &bench_segments, 0, n, ALONE, p);
        if (deja_kind_can(kind, DEJA_CAN_COUNT))
            plan(b, &bench_scattered, kind, n, ALONE, p);
        if (kind == DEJA_BLOCKED &&
            !(c->filter.fp_rate > 0)) /* measure the default kind at a small rate, too */
            plan(b, &bench_filter, kind, n, ALONE, 1e-6);
    }
    if (c->filter.kind != 0)
        return;
    const struct bench_subject *libbloom = bench_libbloom();
    if (libbloom)
        plan(b, libbloom, 0, n, ALONE, p);
    plan(b, &bench_table, 0, n, ALONE, p);
}

static void plan_threads(struct bench *b, uint64_t n)
{
    plan(b, subject_of(kind_of(b)), kind_of(b), n, SHARED, rate_of(b));
}

static void plan_growth(struct bench *b, uint64_t n)
{
    plan(b, &bench_filter, kind_of(b), n, ALONE, rate_of(b));
    plan(b, &bench_grown, kind_of(b), n, ALONE, rate_of(b));
}

static const struct section sections[] = {
    {"kinds", "each operation on every kind, in batches and one key at a time",
     .plan = plan_kinds},
    {"threads", "one thread, two that share a filter, and one again", .plan = plan_threads},
    {"growth", "filters and streams that grow, compared with sized ones", .plan = plan_growth,
     .jobs = &bench_stream},
    {"files", "the first adds to a new and to an existing file, and syncs", .jobs = &bench_files},
    {"urls", "canonicalization in each profile, compared with hashing", .run = run_urls},
};
#define N_SECTIONS (sizeof sections / sizeof sections[0])

static const char *operand_name(uint32_t number)
{
    return number < N_SECTIONS ? sections[number].name : NULL;
}

static int check_names(const struct call *call, deja_error *err)
{
    for (size_t i = 0; i < call->n_operands; i++) {
        struct opt_near near = {.word = call->operands[i]};
        bool known = false;
        for (size_t k = 0; k < N_SECTIONS && !known; k++) {
            known = strcmp(sections[k].name, near.word) == 0;
            opt_near_offer(&near, sections[k].name);
        }
        if (!known)
            return fail(err, OPT_USAGE, "unknown case '%.40s'%s", near.word,
                        near.best ? opt_near_hint(&near, "").text : "; run 'deja bench --list'");
    }
    return DEJA_OK;
}

/* Without names: all, or with --kind only that kind's row of the first. */
static bool is_chosen(const struct bench *b, const struct section *s)
{
    if (b->call->n_operands == 0)
        return b->o->shared.filter.kind == 0 || s == sections;
    for (size_t i = 0; i < b->call->n_operands; i++)
        if (strcmp(b->call->operands[i], s->name) == 0)
            return true;
    return false;
}

static deja_options job_options(const struct bench *b, uint64_t n)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind_of(b);
    opt.capacity = n;
    opt.fp_rate = rate_of(b);
    opt.seed = 1;
    return opt;
}

/* Jobs use filters that grow, like the commands. */
static int check_kind(const struct bench *b, deja_error *err)
{
    deja_options opt = job_options(b, IN_CACHE);
    const bool grows = deja_options_grow(&opt);
    for (size_t i = 0; i < N_SECTIONS && !grows; i++)
        if (is_chosen(b, &sections[i]) && sections[i].jobs)
            return fail(err, OPT_USAGE,
                        "%s needs a kind that can grow (blocked, classic, exact, scalable)",
                        sections[i].name);
    return DEJA_OK;
}

static int list(const struct call *call, deja_error *err)
{
    struct table t;
    table_init(&t, "ll");
    for (size_t i = 0; i < N_SECTIONS; i++)
        table_row(&t, sections[i].name, sections[i].help, NULL);
    const int rc = table_print(&t, call->out, 0, err);
    return rc < 0 ? rc : COMMAND_DONE;
}

/* The number of keys of each case, the smaller first; returns how many there are. */
static size_t choose_sizes(const struct bench *b, uint64_t sizes[2])
{
    const uint64_t asked = b->o->shared.filter.capacity;
    sizes[0] = asked ? asked : IN_CACHE;
    sizes[1] = b->o->quick ? BEYOND_QUICK : BEYOND;
    return asked ? 1 : 2;
}

static void plan_all(struct bench *b)
{
    uint64_t sizes[2];
    const size_t n = choose_sizes(b, sizes);
    for (size_t i = 0; i < N_SECTIONS; i++) {
        b->section = &sections[i];
        for (size_t k = 0; k < n; k++)
            if (is_chosen(b, b->section) && b->section->plan)
                b->section->plan(b, sizes[k]);
    }
}

/* --- Running it ------------------------------------------------------------- */

static int run_cases(struct bench *b, deja_error *err)
{
    uint64_t most = 0;
    for (size_t i = 0; i < b->n; i++)
        most = memory_needed(&b->cases[i]) > most ? memory_needed(&b->cases[i]) : most;
    console_note(b->call->console, "%zu case%s, up to %s of memory", b->n, num_plural(b->n),
                 num_bytes(most).s);
    for (size_t i = 0; i < b->n && !signals_stopped(b->call->stop); i++) {
        struct bench_case *c = &b->cases[i];
        char lead[64], line[128];
        (void)snprintf(lead, sizeof lead, "%zu of %zu", i + 1, b->n);
        (void)snprintf(line, sizeof line, ": %s, %s keys", bench_case_name(c),
                       bench_short_count(c->n).s);
        console_line(b->call->console, lead, line);
        const int rc = bench_case_run(c, &b->keys, b->call->stop, err);
        if (rc < 0)
            return rc;
        b->report.n += !signals_stopped(b->call->stop);
    }
    console_clear(b->call->console);
    return DEJA_OK;
}

/* Jobs take long, so large ones get few rounds. */
static unsigned job_rounds(const struct bench *b, uint64_t n)
{
    const unsigned most = b->o->quick ? ROUNDS_QUICK : ROUNDS;
    return n > JOB_KEYS / ROUNDS_LEAST ? ROUNDS_LEAST
           : n > JOB_KEYS / most       ? (unsigned)(JOB_KEYS / n)
                                       : most;
}

static int run_jobs(struct bench *b, const struct section *s, deja_error *err)
{
    const char *tmp = getenv("TMPDIR");
    uint64_t sizes[2];
    const size_t n = choose_sizes(b, sizes);
    for (size_t i = 0; i < n && !signals_stopped(b->call->stop); i++) {
        struct bench_work w = {.opt = job_options(b, sizes[i]), .keys = &b->keys};
        struct bench_result *result = b->results + b->report.n_results;
        size_t done;
        w.stop = b->call->stop;
        w.dir = b->o->dir ? b->o->dir : tmp && tmp[0] ? tmp : "/tmp";
        console_line(b->call->console, s->name, "");
        const int rc = bench_group_run(s->jobs, &w, job_rounds(b, sizes[i]), result, &done, err);
        if (rc < 0)
            return rc;
        for (size_t k = 0; k < done; k++)
            result[k].section = s->name;
        b->report.n_results += done;
    }
    console_clear(b->call->console);
    return DEJA_OK;
}

static int run_section(struct bench *b, const struct section *s, deja_error *err)
{
    const int rc = s->jobs ? run_jobs(b, s, err) : DEJA_OK;
    return rc == DEJA_OK && s->run ? s->run(b, err) : rc;
}

static int report(struct bench *b, deja_error *err)
{
    struct out own, *out;
    int rc = call_output(b->call, b->o->shared.output, &own, &out, err);
    if (rc == DEJA_OK && b->o->shared.json)
        bench_report_json(&b->report, out);
    else if (rc == DEJA_OK)
        rc = bench_report_table(&b->report, out, err);
    rc = out_finish(&own, rc, err);
    if (rc < 0 || !b->o->csv)
        return rc;
    rc = call_output(b->call, b->o->csv, &own, &out, err);
    if (rc == DEJA_OK)
        bench_report_csv(&b->report, out);
    return out_finish(&own, rc, err);
}

/* Checks the outputs first, because measuring takes minutes. */
static int check_outputs(const struct bench_options *o, deja_error *err)
{
    const int rc = o->csv ? existing_check_output(o->csv, err) : DEJA_OK;
    return rc == DEJA_OK && o->shared.output ? existing_check_output(o->shared.output, err) : rc;
}

static int run(struct call *call, deja_error *err)
{
    static struct bench b;
    b = (struct bench){.call = call, .o = call->options};
    b.report.cases = b.cases;
    b.report.results = b.results;
    b.report.urls = b.o->urls;
    if (b.o->list)
        return list(call, err);
    int rc = check_names(call, err);
    if (rc == DEJA_OK)
        rc = check_kind(&b, err);
    if (rc == DEJA_OK)
        rc = check_outputs(b.o, err);
    if (rc < 0)
        return rc;
    bench_host_look(&b.report.host);
    rc = bench_keys_init(&b.keys, BENCH_LOT_MAX, b.o->urls, err);
    if (rc == DEJA_OK) {
        plan_all(&b);
        rc = run_cases(&b, err);
    }
    for (size_t i = 0; i < N_SECTIONS && rc == DEJA_OK && !signals_stopped(call->stop); i++)
        if (is_chosen(&b, &sections[i]))
            rc = run_section(&b, &sections[i], err);
    if (rc == DEJA_OK)
        rc = report(&b, err);
    bench_keys_fini(&b.keys);
    bench_memory_fini();
    return rc < 0 ? rc : COMMAND_DONE;
}

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure this machine, and compare deja with its limits",
    .operands = "[CASE]...",
    .operand_names = operand_name,
    .options = options,
    .options_size = sizeof(struct bench_options),
    .description =
        "Measures how long this machine takes to hash a URL and to load one cache line, fills "
        "filters of every kind, and prints the time of each operation: in ns per key, and as a "
        "ratio to the limit, which is the sum of both. `fused' is a second limit: a simple loop that "
        "overlaps the two, with prefetching. Limits and operation are measured in turns "
        "over the same keys, so that noise affects both alike, and times are processor time, so that "
        "other programs do not count. Compare ratios between runs, and nanoseconds only within one "
        "run.\n\n"
        "n is the number of keys: 1M fits into the caches of most machines, 100M does not. Before "
        "measuring, bench checks that no added key is missing and that the false-positive rate is "
        "as expected. Spread is the largest interquartile range: half of the rounds were within "
        "it. A CASE selects what to measure; without one, bench runs all of them, or with --kind "
        "only `kinds'.\n\n"
        "kinds: `batch' passes 1024 keys in one call, `one' a single key. Adding is a test as well, "
        "so it is also measured with 90, 50 and 10% new keys, in random order. A static filter has "
        "no adds, and a window counts repeats as new. `scalable' has four parts. layered is "
        "compared with the least it must do: hash each segment of a URL and look it up once in a "
        "classic filter of the same n and p. libbloom, if installed, and a plain hash table that "
        "stores the strings are measured as well.\n\n"
        "threads: one thread, then two that share the filter (`2 threads', where the time per key "
        "would be half as long at best), then one alone again (`batch after').\n\n"
        "growth: a filter that was large enough, and one that grew from n/8. Streams of lines, of "
        "which 30% repeat an earlier one, through a filter sized for n and through one that grows "
        "from its default size.\n\n"
        "files: the first adds to a new file and to an existing one in the page cache, and syncs. "
        "These are elapsed times, which depend on the disk: --dir selects it.\n\n"
        "urls: canonicalization in each profile, compared with hashing.\n\n"
        "A case that needs more than 60% of the available memory is made smaller, with a note.",
    .examples = {{"all kinds, with fewer keys and rounds", "deja bench --quick"},
                 {"one kind, in seconds", "deja bench --quick --kind blocked -n 100k"},
                 {"two threads that share a filter", "deja bench --quick threads -n 100k"},
                 {"everything, for a spreadsheet", "deja bench --quick -n 10k --csv bench.csv"}},
    .run = run,
};
