/* bench_report.h - the figures as a table, as JSON and as CSV. */
#ifndef BENCH_BENCH_REPORT_H
#define BENCH_BENCH_REPORT_H
#include "bench/bench_case.h"
#include "bench/bench_host.h"
#include "bench/bench_job.h"
#include "bench/bench_url.h"
#include "tools/base/out.h"

struct bench_report {
    struct bench_host host;
    const struct bench_case *cases;
    size_t n;
    const struct bench_result *results; /* of jobs */
    size_t n_results;
    struct bench_url url[BENCH_PROFILES];
    bool has_url;     /* whether they were measured */
    const char *urls; /* the list that the keys are from; NULL: generated */
};

int bench_report_table(const struct bench_report *r, struct out *o, deja_error *err);
void bench_report_json(const struct bench_report *r, struct out *o);
void bench_report_csv(const struct bench_report *r, struct out *o);

/* 1M, 100M, 1500: in the form that -n accepts. */
struct num_text bench_short_count(uint64_t n);

#endif
