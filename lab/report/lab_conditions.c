/* lab_conditions.c - what the figures of a run depend on; see lab_conditions.h. */
#include "lab/report/lab_conditions.h"
#include "bench/bench_host.h"
#include "lab/engine/lab_runner.h"
#include "tools/base/number.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define N_PAPERS    UINT64_C(1000000)
#define RUNS_PAPERS 100u

struct teller {
    lab_condition *fn;
    void *ctx;
};

static void tell(const struct teller *t, const char *name, const char *fmt, ...) LAB_PRINTF(3, 4);

static void tell(const struct teller *t, const char *name, const char *fmt, ...)
{
    char text[8192];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    t->fn(t->ctx, name, text);
}

struct lab_smaller lab_smaller(const struct lab *lab)
{
    struct lab_smaller text = {""};
    const bool few = lab->keys.n < N_PAPERS, short_run = lab->runs < RUNS_PAPERS;
    size_t len = 0;
    if (few)
        len = (size_t)snprintf(text.s, sizeof text.s, "n = %s instead of the papers' %s",
                               num_count(lab->keys.n).s, num_count(N_PAPERS).s);
    if (short_run)
        (void)snprintf(text.s + len, sizeof text.s - len, "%s%s instead of%s %u",
                       few ? ", and " : "", num_of(lab->runs, "run").s, few ? "" : " the papers'",
                       RUNS_PAPERS);
    return text;
}

static void tell_run(const struct teller *t, const struct lab_page *p)
{
    struct bench_host host;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm when;
    bench_host_look(&host);
    if (gmtime_r(&now, &when))
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &when);
    tell(t, "command", "%s", p->command);
    tell(t, "date", "%s", date);
    tell(t, "time taken", "%s, with %s", num_duration(p->seconds).s,
         num_of(p->lab->threads, "thread").s);
    tell(t, "version", "deja %s, %s, %s", deja_version(), host.compiler, host.flags);
    tell(t, "machine", "%s, %s", host.cpu, host.simd);
}

static void tell_urls(const struct teller *t, const struct lab *lab)
{
    tell(t, "URLs", "%s inserted, %s others queried; %.1f bytes on average",
         num_count(lab->keys.n).s, num_count(lab->keys.n).s, lab->keys.mean_len);
    tell(t, "source", "%s; %s duplicate lines omitted", lab->keys.source,
         num_count(lab->keys.duplicates).s);
    tell(t, "runs", "%u", lab->runs);
    if (lab_smaller(lab).s[0] != '\0')
        tell(t, "smaller than the papers", "%s%s", lab_smaller(lab).s,
             lab->quick ? " (--quick)" : "");
}

static void tell_seeds(const struct teller *t, const struct lab *lab)
{
    tell(t, "seed", "%llu: it gives the generated URLs, and the seed of every task",
         (unsigned long long)lab->seed);
    tell(t, "seeds of the tasks",
         "each unit of each run has its own: h = FNV-1a of the experiment's name, starting from "
         "the seed; h = h xor (unit * 2^32 + run); twice h = SplitMix64's mixer of h + "
         "0x9e3779b97f4a7c15. All of them are in seeds.csv.");
}

/* What each experiment did with these URLs. */
static void tell_sizes(const struct teller *t, const struct lab_page *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct lab_experiment *e = p->report[i].experiment;
        const uint32_t runs = lab_runs(p->lab, e);
        char sizes[256], name[64];
        (void)snprintf(sizes, sizeof sizes, "n = %s", num_count(p->lab->keys.n).s);
        if (e->sizes)
            e->sizes(p->lab, sizes, sizeof sizes);
        (void)snprintf(name, sizeof name, "size of %s", e->name);
        tell(t, name, "%s; %s in each of %s%s; first seed %llu", sizes,
             num_of(lab_units(p->lab, e), "unit").s, num_of(runs, "run").s,
             runs < p->lab->runs ? " (more add nothing)" : "",
             (unsigned long long)lab_seed(p->lab, e->name, 0, 0));
    }
}

void lab_conditions(const struct lab_page *p, lab_condition *fn, void *ctx)
{
    const struct teller t = {fn, ctx};
    tell_run(&t, p);
    tell_urls(&t, p->lab);
    tell_seeds(&t, p->lab);
    tell_sizes(&t, p);
}
