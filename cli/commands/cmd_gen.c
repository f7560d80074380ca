/* cmd_gen.c - deja gen: print realistic but fictitious URLs, reproducibly. */
#include "cli/session/closing.h"
#include "cli/session/command.h"
#include "gen/urlgen.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/progress.h"
#include "tools/base/signals.h"

#define BATCH 16384 /* lines printed between checks of the clock, the output and Ctrl-C */

struct gen_options {
    struct shared_options shared;
    uint64_t lines;
    uint64_t seed;
    uint64_t first;
    double repeats;
};
static const struct gen_options defaults = {.seed = 1};

static int check_options(const void *target, deja_error *err)
{
    const struct gen_options *o = target;
    if (o->lines == 0)
        return fail(err, OPT_USAGE, "give the number of URLs, -n N");
    if (o->lines > URLGEN_COUNT - o->first)
        return fail(err, OPT_USAGE, "a seed has 2^53 URLs, and --first plus -n exceeds that");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_COUNT('n', "lines", "N", struct gen_options, lines, 1, URLGEN_COUNT,
              "print N lines (250000, 1.5M, 1e9)"),
    OPT_COUNT(0, "seed", "S", struct gen_options, seed, 0, UINT64_MAX,
              "use seed S; the same S gives the same list on every machine (default 1)"),
    OPT_RATE(0, "repeats", "SHARE", struct gen_options, repeats,
             "make this share of the lines repeats of earlier ones"),
    OPT_COUNT(0, "first", "N", struct gen_options, first, 0, URLGEN_COUNT - 1,
              "skip the first N URLs of the seed"),
    OPT_GROUP(struct gen_options, shared, shared_output),
    OPT_GROUP(struct gen_options, shared, shared_null),
    OPT_GROUP(struct gen_options, shared, shared_verbose),
    OPT_CHECK(check_options),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct gen_options *o;
    struct urlgen gen;
    struct urlgen_lines lines;
    struct progress progress;
    struct out own, *out;
};

static void print_batch(struct job *j, uint64_t n)
{
    char url[URLGEN_MAX + 1];
    const char end = j->o->shared.null ? '\0' : '\n';
    for (; n > 0; n--) {
        size_t len = urlgen_url(&j->gen, urlgen_lines_next(&j->lines), url);
        url[len] = end;
        out_write(j->out, url, len + 1);
    }
}

/* Returns the number of lines printed, which is smaller after Ctrl-C or if the reader exits. */
static uint64_t print_lines(struct job *j)
{
    const uint64_t total = j->o->lines;
    uint64_t done = 0;
    while (done < total && !signals_stopped(j->call->stop) && j->out->error == 0) {
        uint64_t n = total - done < BATCH ? total - done : BATCH;
        print_batch(j, n);
        done += n;
        if (progress_due(&j->progress))
            progress_show(
                &j->progress,
                &(struct progress_now){
                    .items = done, .done = done, .total = total, .fill = -1, .lost = -1});
    }
    return done;
}

static uint64_t repeats_of(const struct gen_options *o)
{
    uint64_t repeats = (uint64_t)(o->repeats * (double)o->lines + 0.5);
    return repeats < o->lines ? repeats : o->lines - 1; /* the first line cannot be a repeat */
}

static void tell_all(const struct job *j, uint64_t done)
{
    const double seconds = progress_seconds(&j->progress);
    console_note(j->call->console, "%s%s: %s, %s; %s, %s", done < j->o->lines ? "stopped: " : "",
                 num_lines(done).s, num_of(j->lines.fresh, "distinct URL").s,
                 num_of(done - j->lines.fresh, "repeat").s, num_duration(seconds).s,
                 num_speed(seconds > 0 ? (double)done / seconds : 0).s);
}

static void tell(const struct job *j, uint64_t done)
{
    struct closing c;
    closing_begin(&c, j->call->console, done < j->o->lines);
    closing_count(&c, done, done == 1 ? "line" : "lines");
    closing_count(&c, j->lines.fresh, "distinct");
    closing_count(&c, done - j->lines.fresh, done - j->lines.fresh == 1 ? "repeat" : "repeats");
    closing_print(&c, progress_seconds(&j->progress));
}

static int generate(struct job *j, deja_error *err)
{
    const struct gen_options *o = j->o;
    urlgen_init(&j->gen, o->seed);
    urlgen_lines_init(&j->lines, &j->gen, o->lines, repeats_of(o), o->first);
    progress_begin(&j->progress, j->call->console, j->out, "lines");
    uint64_t done = print_lines(j);
    progress_end(&j->progress);
    int rc = out_flush(j->out, err);
    if (rc == DEJA_OK && o->shared.verbose)
        tell_all(j, done);
    else if (rc == DEJA_OK && o->repeats > 0)
        tell(j, done);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options};
    int rc = call_output(call, j.o->shared.output, &j.own, &j.out, err);
    if (rc == DEJA_OK)
        rc = generate(&j, err);
    return out_finish(&j.own, rc, err);
}

const struct command cmd_gen = {
    .name = "gen",
    .summary = "print realistic, distinct URLs, reproducibly",
    .operands = "",
    .options = options,
    .options_size = sizeof(struct gen_options),
    .defaults = &defaults,
    .description =
        "Prints N distinct fictitious URLs for tests and measurements. Lengths, hosts, depths, "
        "queries and oddities are as frequent as in real crawls: a few sites have a third of all "
        "URLs, most hosts have one. Names are composed of syllables.\n\n"
        "A URL is a function of the seed and its number: the list is the same on every machine, "
        "takes no memory, and has no URL twice. Ranges of one seed that do not overlap have no "
        "URL in common; lists of different seeds share a few by chance.\n\n"
        "With --repeats, exactly that share of the N lines repeats earlier ones, mostly recent "
        "ones and some older ones; a note reports how many URLs are distinct.",
    .examples = {{"a million URLs", "deja gen -n 1M -o million.txt"},
                 {"another million, none of which is among the first",
                  "deja gen -n 1M --first 1M -o others.txt"},
                 {"what a crawler sees: three lines in ten are repeats",
                  "deja gen -n 20k --repeats 0.3 | deja dedup > unique.txt"}},
    .run = run,
};
