/* cmd_gen.c - realistic URLs of a web that does not exist, reproducibly. */
#include "command.h"
#include "fail.h"
#include "progress.h"
#include "signals.h"
#include "urlgen.h"
#include <stdlib.h>

#define CHECK_EVERY 65536 /* lines between looks at the clock and the user */

struct gen_options {
    struct common common;
    double repeats;
    uint64_t first;
};

static const struct opt options[] = {
    OPT_GROUP(struct gen_options, common, common_capacity),
    OPT_GROUP(struct gen_options, common, common_seed),
    OPT_RATE(0, "repeats", "SHARE", struct gen_options, repeats,
             "this share of the lines repeats earlier ones, as links in a crawl do"),
    OPT_COUNT(0, "first", "N", struct gen_options, first, 1, URLGEN_COUNT - 1,
              "begin with URL number N of the seed: a list that shares none with the first N"),
    OPT_GROUP(struct gen_options, common, common_output),
    OPT_GROUP(struct gen_options, common, common_null),
    OPT_GROUP(struct gen_options, common, common_quiet),
    OPT_END,
};

static int generate(const struct call *call, const struct gen_options *o, struct out *out,
                    const struct urlgen *gen, deja_error *err)
{
    const uint64_t n = o->common.capacity;
    struct urlgen_lines lines;
    struct progress progress;
    char url[URLGEN_MAX + 1];
    urlgen_lines_init(&lines, gen, n, (uint64_t)(o->repeats * (double)n), o->first);
    progress_begin(&progress, call->console, out, "URLs");
    int rc = DEJA_OK;
    for (uint64_t i = 0; i < n && rc == DEJA_OK; i++) {
        const size_t len = urlgen_url(gen, urlgen_lines_next(&lines), url);
        url[len] = o->common.null ? '\0' : '\n';
        out_write(out, url, len + 1);
        if (i % CHECK_EVERY)
            continue;
        if (signals_stopped(call->stop) || out->error)
            break;
        if (progress_due(&progress))
            progress_show(
                &progress,
                &(struct progress_now){.items = i, .done = i, .total = n, .fill = -1, .lost = -1});
    }
    progress_end(&progress);
    return out_flush(out, err);
}

static int run(struct call *call, deja_error *err)
{
    const struct gen_options *o = call->options;
    struct out own, *out;
    if (!o->common.capacity)
        return fail(err, OPT_USAGE, "how many URLs? give -n N");
    if (o->common.capacity > URLGEN_COUNT - o->first)
        return fail(err, OPT_USAGE, "a seed has 2^53 URLs, not more");
    int rc = call_output(call, o->common.output, &own, &out, err);
    struct urlgen *gen = malloc(sizeof *gen);
    if (rc == DEJA_OK && !gen)
        rc = fail(err, DEJA_ENOMEM, "out of memory");
    if (rc == DEJA_OK) {
        urlgen_init(gen, o->common.seed ? o->common.seed : 1);
        rc = generate(call, o, out, gen, err);
    }
    free(gen);
    return out_finish(&own, rc, err);
}

const struct command cmd_gen = {
    .name = "gen",
    .summary = "print realistic unique URLs, reproducibly",
    .operands = "",
    .options = options,
    .options_size = sizeof(struct gen_options),
    .description =
        (const char *const[]){
            "Prints N different URLs of a web that does not exist, for trials and measurements. "
            "Hosts, depths, lengths, queries and oddities are as frequent as in real crawls. The "
            "same seed (1 by default) gives the same list on every machine; any number of URLs is "
            "made in constant memory.",
            "With --repeats, that share of the N lines repeats earlier ones.", NULL},
    .examples =
        (const struct command_example[]){{"a million URLs", "deja gen -n 1M > urls.txt"},
                                         {"what a crawler meets: a third of the lines repeat",
                                          "deja gen -n 20k --repeats 0.33"},
                                         {0}},
    .run = run,
};
