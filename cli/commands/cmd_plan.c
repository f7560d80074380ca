/* cmd_plan.c - deja plan: compare the memory and the lost pages of all kinds. */
#include "cli/report/plan_report.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"

static int check_options(const void *target, deja_error *err)
{
    const struct shared_options *c = target;
    if (c->filter.capacity == 0 && c->filter.memory == 0)
        return fail(err, OPT_USAGE,
                    "give the number of keys, -n N, or a size, -m SIZE, to see how many fit");
    if (c->filter.capacity != 0 && c->filter.memory != 0 && c->filter.fp_rate > 0)
        return fail(err, OPT_USAGE, "-n, -p and -m: give two; deja computes the third");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_PART(shared_sizing),
    OPT_HEADING("General"),
    OPT_PART(shared_json),
    OPT_CHECK(check_options),
    OPT_END,
};

static int run(struct call *call, deja_error *err)
{
    const struct shared_options *o = call->options;
    struct plan_report s = {.c = o};
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
    .options_size = sizeof(struct shared_options),
    .description =
        "Recommends a kind, with the reason and the command to type next. A table of all kinds "
        "follows, and the bits per key at other rates. No filter is made. Give two of -n (keys), "
        "-p (false-positive rate, 1e-6 by default) and -m (memory); deja computes the third. "
        "With -k it shows only that kind, and what happens with fewer and more keys than "
        "planned.\n\n"
        "Lost pages are new keys that are mistaken for seen while the filter fills up to n keys: "
        "fewer than n times p, because the filter is empty at first. A static filter loses none, "
        "because it gets all its keys at once. A lookup in a filter larger than the processor's "
        "cache takes about as long as loading its cache lines.",
    .examples = {{"a billion URLs", "deja plan -n 1e9"},
                 {"a billion URLs in 2 GiB", "deja plan -n 1e9 -m 2G"},
                 {"how many keys fit at a rate of one in a thousand", "deja plan -m 64M -p 1e-3"},
                 {"one kind: what if there are twice as many keys?",
                  "deja plan -k blocked -n 1e9"}},
    .run = run,
};
