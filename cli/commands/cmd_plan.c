/* cmd_plan.c - deja plan: compare the memory and the lost pages of all kinds. */
#include "cli/report/plan_report.h"
#include "cli/report/sieve_plan.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"

struct plan_options {
    struct shared_options shared;
    uint64_t key_length;
    bool sieve;
    uint64_t lines;
    const char *measure;
    uint64_t disk_speed;
};

static int check_sieve(const struct plan_options *o, deja_error *err)
{
    struct shared_options rest = o->shared;
    char others[200];
    if (!o->sieve)
        return fail(err, OPT_USAGE, "%s is for sieves: give --sieve",
                    o->lines     ? "--lines"
                    : o->measure ? "--measure"
                                 : "--disk-speed");
    if (o->key_length)
        return fail(err, OPT_USAGE,
                    "--key-length compares filters with a table of the keys: omit --sieve");
    if (!rest.filter.capacity)
        return fail(err, OPT_USAGE, "give the number of keys, -n N");
    rest.filter.capacity = rest.filter.memory = 0;
    opt_list_given(shared_sizing, &rest, others, sizeof others);
    if (others[0])
        return fail(err, OPT_USAGE, "--sieve needs -n and takes -m: omit %s", others);
    if (o->lines && o->lines < o->shared.filter.capacity)
        return fail(err, OPT_USAGE,
                    "--lines is the number of lines, at least that of the keys, -n");
    if (o->measure && o->disk_speed)
        return fail(err, OPT_USAGE, "--measure and --disk-speed: give one of them");
    return DEJA_OK;
}

static int check_options(const void *target, deja_error *err)
{
    const struct plan_options *o = target;
    const struct shared_options *c = &o->shared;
    if (o->sieve || o->lines || o->measure || o->disk_speed)
        return check_sieve(o, err);
    if (c->filter.capacity == 0 && c->filter.memory == 0)
        return fail(err, OPT_USAGE,
                    "give the number of keys, -n N, or a size, -m SIZE, to see how many fit");
    if (c->filter.capacity != 0 && c->filter.memory != 0 && c->filter.fp_rate > 0)
        return fail(err, OPT_USAGE, "-n, -p and -m: give two; deja computes the third");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_GROUP(struct plan_options, shared, shared_sizing),
    OPT_HEADING("Comparison"),
    OPT_COUNT(0, "key-length", "BYTES", struct plan_options, key_length, 1, 1u << 20,
              "compare with a table of the keys, BYTES each on average"),
    OPT_HEADING("Sieves"),
    OPT_FLAG(0, "sieve", struct plan_options, sieve,
             "predict what a sieve costs: disk, passes, time and late lines"),
    OPT_COUNT(0, "lines", "N", struct plan_options, lines, 1, UINT64_MAX,
              "expect N lines in all, with repeats (default: no repeats)"),
    OPT_STRING(0, "measure", "DIR", struct plan_options, measure,
               "measure the speed of the disk in DIR (default: the current directory)"),
    OPT_SIZE(0, "disk-speed", "SIZE", struct plan_options, disk_speed,
             "assume a disk that reads and writes SIZE bytes per second (500M); do not measure"),
    OPT_HEADING("General"),
    OPT_GROUP(struct plan_options, shared, shared_json),
    OPT_CHECK(check_options),
    OPT_END,
};

static int run(struct call *call, deja_error *err)
{
    const struct plan_options *p = call->options;
    const struct shared_options *o = &p->shared;
    struct plan_report s = {.c = o, .key_length = p->key_length};
    if (p->sieve)
        return sieve_plan(
            call, &(struct sieve_plan_options){o, p->lines, p->measure, p->disk_speed}, err);
    plan_begin(&s);
    if (!plan_first(&s)) {
        *err = s.row[0].why_not;
        return err->status;
    }
    plan_advise(&s);
    if (!o->json)
        return plan_text(&s, call->out, err);
    plan_json(&s, call->out);
    return COMMAND_DONE;
}

const struct command cmd_plan = {
    .name = "plan",
    .often = true,
    .summary = "compare the memory and the lost pages of all kinds",
    .operands = "",
    .options = options,
    .options_size = sizeof(struct plan_options),
    .description =
        "Recommends a kind, with the reason and the command to type next. A table of all kinds "
        "follows, and the bits per key at other rates. No filter is made. Give two of -n (keys), "
        "-p (false-positive rate, 1e-6 by default) and -m (memory); deja computes the third. "
        "With -k it shows only that kind, and what happens with fewer and more keys than "
        "planned.\n\n"
        "With --key-length, a row shows the memory of a table of the keys themselves: their bits, "
        "and log2 n bits to tell n keys apart. A filter is worth its errors if it takes much less "
        "than that; deja says so from a tenth on.\n\n"
        "With --sieve, it predicts what a sieve (deja-dedup(1), --sieve) for n keys costs, with -m and "
        "with less and more memory: its disk space, how many new lines come late, the passes over "
        "the disk and the time that the disk needs. Repeats wait too; --lines says how many lines "
        "there will be. It measures the disk for a second or two, with a file of at most 256 MiB "
        "in the current directory, in that of --measure, or not at all with --disk-speed.\n\n"
        "Lost pages are new keys that are mistaken for seen while the filter fills up to n keys: "
        "fewer than n times p, because the filter is empty at first. A static filter loses none, "
        "because it gets all its keys at once. A lookup in a filter larger than the processor's "
        "cache takes about as long as loading its cache lines.",
    .examples = {{"a billion URLs", "deja plan -n 1e9"},
                 {"a billion URLs in 2 GiB", "deja plan -n 1e9 -m 2G"},
                 {"how many keys fit at a rate of one in a thousand", "deja plan -m 64M -p 1e-3"},
                 {"one kind: what if there are twice as many keys?",
                  "deja plan -k blocked -n 1e9"},
                 {"a million URLs of 50 bytes: a filter, or the URLs themselves?",
                  "deja plan -n 1M -p 0.01 --key-length 50"},
                 {"a sieve of ten billion URLs in 4 GiB, on a disk with 500 MiB/s",
                  "deja plan --sieve -n 1e10 -m 4G --disk-speed 500M"}},
    .run = run,
};
