/* cmd_plan.c - which kind, how much memory, how many lost pages: a table of choices. */
#include "cli/report/plan_report.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"

struct plan_options {
    struct shared_options shared;
};

static int check_options(const void *target, deja_error *err)
{
    const struct shared_options *c = &((const struct plan_options *)target)->shared;
    if (c->filter.capacity == 0 && c->filter.memory == 0)
        return fail(err, OPT_USAGE,
                    "for how many keys? give -n N, or -m SIZE to see how many fit");
    if (c->filter.capacity != 0 && c->filter.memory != 0 && c->filter.fp_rate > 0)
        return fail(err, OPT_USAGE, "-n, -p and -m: give two; the third follows");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_GROUP(struct plan_options, shared, shared_sizing),
    OPT_HEADING("General"),
    OPT_GROUP(struct plan_options, shared, shared_json),
    OPT_CHECK(check_options),
    OPT_END,
};

static int run(struct call *call, deja_error *err)
{
    const struct plan_options *o = call->options;
    struct plan_report s = {.c = &o->shared};
    plan_begin(&s);
    if (!plan_first(&s)) {
        *err = s.row[0].why_not;
        return err->status;
    }
    plan_advise(&s);
    if (!o->shared.json)
        return plan_text(&s, call->out, err);
    plan_json(&s, call->out);
    return COMMAND_DONE;
}

const struct command cmd_plan = {
    .name = "plan",
    .summary = "show which kind takes how much memory and loses how many pages",
    .operands = "",
    .options = options,
    .options_size = sizeof(struct plan_options),
    .description =
        "Computes, for every kind, what a filter would take, without making one. Give two of "
        "-n (keys), -p (false-positive rate, 1e-6 by default) and -m (memory); the third "
        "follows. Below the table stand the bits a key that other rates would take, a "
        "recommendation, and the command to type next. With -k, only that kind, and what "
        "becomes of it with fewer and more keys than planned.\n\n"
        "Lost pages are the new keys mistaken for seen while the filter fills up to n: fewer "
        "than n times p, since it is empty at first; a static filter has none, since its keys "
        "are given at once, and none can be added later. A lookup in a filter that is larger "
        "than the processor's cache takes about as long as it waits for cache lines.",
    .examples = {{"a billion URLs", "deja plan -n 1e9"},
                 {"what 2 GiB buy for a billion URLs", "deja plan -n 1e9 -m 2G"},
                 {"how many keys fit at one in a thousand", "deja plan -m 64M -p 1e-3"},
                 {"one kind: what if there are twice as many?", "deja plan -k blocked -n 1e9"}},
    .run = run,
};
