/* dcso_info.c - `deja info` for a DCSO bloom file; see dcso_info.h. */
#include "cli/report/dcso_info.h"
#include "cli/dcso/dcso_file.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

#define BAR_WIDTH 40

/* The contents of a file, and estimates from its bits. */
struct account {
    const struct dcso_file *f;
    uint64_t bytes, bits_set;
    double fill, rate, distinct;
};

static struct account account_of(const struct dcso_file *f)
{
    const struct dcso *d = &f->filter;
    struct account a = {.f = f, .bytes = dcso_body_len(d), .bits_set = dcso_bits_set(d)};
    a.fill = (double)a.bits_set / (double)d->bits;
    a.rate = dcso_rate(d, a.bits_set);
    a.distinct = dcso_distinct(d, a.bits_set);
    return a;
}

static void print_text(struct out *o, const char *path, const struct account *a)
{
    const struct dcso *d = &a->f->filter;
    out_printf(o, "%s\n", fail_path(path).text);
    out_printf(o, "  format      DCSO bloom file, version 1%s\n",
               a->f->gzip ? ", compressed with gzip" : "");
    out_printf(o, "  hashing     FNV-1, k = %u, no secret: no protection against crafted keys\n",
               d->hashes);
    out_printf(o, "  memory      %s\n", num_bytes(a->bytes).s);
    out_printf(o, "  capacity    %s, at a rate of %s\n", num_of(d->capacity, "key").s,
               num_rate(d->fp_rate).s);
    out_printf(o, "  keys        %s counted", num_count(d->keys).s);
    if (isfinite(a->distinct))
        out_printf(o, "; about %s by the set bits", num_estimate(a->distinct).s);
    out_text(o, "\n  fill        ");
    out_bar(o, a->fill, BAR_WIDTH);
    out_printf(o, " %s of the bits are set\n", num_share(a->fill).s);
    out_printf(o, "  rate        %s now\n", num_rate(a->rate).s);
    if (a->f->data_len > 0)
        out_printf(o, "  data        %s of the owner's data after the bits\n",
                   num_bytes(a->f->data_len).s);
}

static void print_json(struct json *j, const char *path, const struct account *a)
{
    const struct dcso *d = &a->f->filter;
    json_object(j, NULL);
    json_bytes(j, "file", path, strlen(path));
    json_string(j, "format", "dcso");
    json_uint(j, "version", 1);
    json_bool(j, "gzip", a->f->gzip);
    json_string(j, "hash", "fnv1");
    json_bool(j, "keyed", false);
    json_uint(j, "hashes", d->hashes);
    json_uint(j, "capacity", d->capacity);
    json_real(j, "fp_rate", d->fp_rate);
    json_uint(j, "bits", d->bits);
    json_uint(j, "bytes", a->bytes);
    json_uint(j, "keys", d->keys);
    json_real(j, "distinct", a->distinct);
    json_uint(j, "bits_set", a->bits_set);
    json_real(j, "fill", a->fill);
    json_real(j, "fp_now", a->rate);
    json_uint(j, "data_bytes", a->f->data_len);
    json_end(j);
}

static int refuse(const struct call *call, const char *path, const deja_error *why,
                  struct json *json)
{
    if (json) {
        json_object(json, NULL);
        json_bytes(json, "file", path, strlen(path));
        json_string(json, "error", why->text);
        json_end(json);
    }
    console_error(call->console, "%s", why->text);
    return COMMAND_FAILED;
}

int dcso_inform(const struct call *call, const char *path, bool further, struct json *json)
{
    struct dcso_file f;
    deja_error why = {0};
    if (dcso_file_read(&f, path, call->stop, &why) < 0)
        return refuse(call, path, &why, json);
    const struct account a = account_of(&f);
    if (json) {
        print_json(json, path, &a);
    } else {
        out_text(call->out, further ? "\n" : "");
        print_text(call->out, path, &a);
        (void)out_flush(call->out, NULL); /* main reports a failure */
    }
    dcso_file_free(&f);
    return COMMAND_DONE;
}
