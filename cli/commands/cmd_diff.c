/* cmd_diff.c - deja diff: how many keys two filter files share, and how many only one of them has.
 *
 * The number of keys in each file is known; the number of common keys is estimated from the bits,
 * with a standard error (filterpair.h).  Everything else follows: only in A = keys of A - common. */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "cli/session/filterpair.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

static const struct opt options[] = {
    OPT_PART(shared_open),
    OPT_END,
};

#define SIGMAS 1.96 /* of a normal distribution: 95% */

/* A number of keys with its interval. */
struct range {
    double keys, low, high;
};

struct diff {
    const char *a, *b; /* paths */
    double keys_a, keys_b, sigma;
    struct range both, only_a, only_b;
};

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* `all` minus the common keys. */
static struct range rest(double all, const struct range *both)
{
    return (struct range){clamp(all - both->keys, 0, all), clamp(all - both->high, 0, all),
                          clamp(all - both->low, 0, all)};
}

static void compute(struct diff *d, const struct filterpair *pair)
{
    d->keys_a = (double)pair->a.keys;
    d->keys_b = (double)pair->b.keys;
    d->sigma = pair->sigma;
    const double most = fmin(d->keys_a, d->keys_b), margin = SIGMAS * pair->sigma;
    d->both = (struct range){clamp(pair->common, 0, most), clamp(pair->common - margin, 0, most),
                             clamp(pair->common + margin, 0, most)};
    d->only_a = rest(d->keys_a, &d->both);
    d->only_b = rest(d->keys_b, &d->both);
}

/* --- Reports --------------------------------------------------------------------- */

static void json_range(struct json *j, const char *name, const struct range *r)
{
    json_object(j, name);
    json_real(j, "keys", r->keys);
    json_real(j, "low", r->low);
    json_real(j, "high", r->high);
    json_end(j);
}

static void json_file(struct json *j, const char *name, const char *path, double keys)
{
    json_object(j, name);
    json_string(j, "file", path);
    json_uint(j, "keys", (uint64_t)keys);
    json_end(j);
}

static void report_json(const struct call *call, const struct diff *d)
{
    struct json j;
    json_begin(&j, call->out);
    json_object(&j, NULL);
    json_file(&j, "a", d->a, d->keys_a);
    json_file(&j, "b", d->b, d->keys_b);
    json_range(&j, "both", &d->both);
    json_range(&j, "only_a", &d->only_a);
    json_range(&j, "only_b", &d->only_b);
    json_real(&j, "sigma", d->sigma);
    json_end(&j);
}

static struct num_text rounded(double x)
{
    return num_count((uint64_t)(x + 0.5));
}

static void print_row(const struct call *call, const struct diff *d, const struct range *r,
                      const char *where, const char *path)
{
    char label[160];
    (void)snprintf(label, sizeof label, "%s%s", where, path ? fail_path(path).text : "");
    if (d->sigma > 0 && r->low < r->high)
        out_printf(call->out, "%15s  %-30s  %s to %s\n", rounded(r->keys).s, label,
                   rounded(r->low).s, rounded(r->high).s);
    else
        out_printf(call->out, "%15s  %s\n", rounded(r->keys).s, label);
}

static void report(const struct call *call, const struct diff *d)
{
    const struct range a = {d->keys_a, d->keys_a, d->keys_a},
                       b = {d->keys_b, d->keys_b, d->keys_b};
    print_row(call, d, &a, "in ", d->a);
    print_row(call, d, &b, "in ", d->b);
    print_row(call, d, &d->both, "in both", NULL);
    print_row(call, d, &d->only_a, "only in ", d->a);
    print_row(call, d, &d->only_b, "only in ", d->b);
    if (d->sigma > 0)
        console_note(call->console,
                     "estimates from the bits that are set, with 95%% intervals; the standard "
                     "error is %s",
                     num_estimate(ceil(d->sigma)).s);
}

static int compare(const struct call *call, const deja_options *expect, deja_error *err)
{
    const struct shared_options *c = call->options;
    struct diff d = {.a = call->operands[0], .b = call->operands[1]};
    struct filterpair pair;
    const int rc = filterpair_compare(d.a, d.b, expect, &pair, err);
    if (rc < 0)
        return rc;
    compute(&d, &pair);
    if (c->json)
        report_json(call, &d);
    else
        report(call, &d);
    return COMMAND_DONE;
}

static int run(struct call *call, deja_error *err)
{
    return keyfile_with(call->options, compare, call, err);
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "estimate how many keys changed between two filter files",
    .operands = "A.deja B.deja",
    .no_sieve = "compare the lists themselves: deja check -v DIR LIST prints the lines of LIST "
                "that are not in it",
    .options = options,
    .options_size = sizeof(struct shared_options),
    .description =
        "Prints how many keys two filters have, how many are in both, only in A and only in B: "
        "what changed between two editions of a list. It needs neither list and names no key; to "
        "print the new entries themselves, run `deja check -v A.deja` on the list that B was "
        "built from.\n\n"
        "For filters of kind exact, the numbers are exact. For Bloom filters (classic, blocked), "
        "the number of common keys is an estimate from the bits that are set: n(A) + n(B) - n(A "
        "or B). It comes with a 95% interval; the larger the filters are for their keys, the "
        "smaller it is. If only a few keys of a long list changed, use kind exact: the interval "
        "is too wide to show them.\n\n"
        "As for deja-merge(1), both filters must have the same kind, hash, number of hashes and "
        "filters, URL profile, visit and secret key, and sizes that are equal or differ by a "
        "factor of 2, 4, 8 and so on; exact ones can have any size. Build both with the same "
        "--key FILE, or the same --seed if secrecy does not matter, and with the same -n.",
    .examples = {{"two editions of a list", "deja build -q --seed 1 -k exact old.deja urls.txt"},
                 {"the other one", "deja build -q --seed 1 -k exact new.deja today.txt"},
                 {"what changed?", "deja diff old.deja new.deja"},
                 {"which lines are new?", "deja check -v old.deja today.txt"}},
    .run = run,
};
