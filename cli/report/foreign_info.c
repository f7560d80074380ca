/* foreign_info.c - `deja info` for a filter file of another program; see foreign_info.h. */
#include "cli/report/foreign_info.h"
#include "cli/foreign/foreign_file.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

#define BAR_WIDTH 40

/* The contents of a file, summed over its parts, and estimates from its bits. */
struct account {
    const struct foreign_file *f;
    uint64_t bytes, bits, bits_set, capacity;
    double fill, rate, distinct;
};

static struct account account_of(const struct foreign_file *file)
{
    const struct foreign *f = &file->filter;
    struct account a = {.f = file, .bytes = foreign_len(f), .rate = foreign_rate(f)};
    for (size_t i = 0; i < f->n_parts; i++) {
        const uint64_t set = foreign_bits_set(&f->part[i]);
        a.bits += f->part[i].bits;
        a.bits_set += set;
        a.capacity += f->part[i].capacity;
        a.distinct += foreign_distinct(&f->part[i], set);
    }
    a.fill = (double)a.bits_set / (double)a.bits;
    return a;
}

/* --- Text ------------------------------------------------------------------------- */

static void print_format(struct out *o, const struct account *a)
{
    const struct foreign *f = &a->f->filter;
    const char *title = f->format->title, *space = strchr(title, ' ');
    out_printf(o, "  format      %s", space ? space + 1 : title);
    if (f->format->version)
        out_printf(o, ", %s", f->format->version(f));
    out_text(o, a->f->gzip ? ", compressed with gzip\n" : "\n");
    out_printf(o, "  hashing     %s, k = %u, no secret: no protection against crafted keys\n",
               f->format->hashing, f->part[0].hashes);
}

static void print_keys(struct out *o, const struct account *a)
{
    const struct foreign *f = &a->f->filter;
    const char *estimate = f->format->counts ? "; about " : "about ";
    out_text(o, "  keys        ");
    if (f->format->counts)
        out_printf(o, "%s counted", num_count(f->keys).s);
    if (isfinite(a->distinct))
        out_printf(o, "%s%s by the set bits", estimate, num_estimate(a->distinct).s);
    else if (!f->format->counts)
        out_text(o, "any number: all bits are set");
    out_text(o, "\n");
}

static void print_text(struct out *o, const char *path, const struct account *a)
{
    const struct foreign *f = &a->f->filter;
    out_printf(o, "%s\n", fail_path(path).text);
    print_format(o, a);
    out_printf(o, "  memory      %s", num_bytes(a->bytes).s);
    if (f->n_parts > 1)
        out_printf(o, " in %s", num_of(f->n_parts, "part").s);
    out_text(o, "\n");
    if (f->format->sized)
        out_printf(o, "  capacity    %s, at a rate of %s\n", num_of(a->capacity, "key").s,
                   num_rate(f->part[0].fp_rate).s);
    print_keys(o, a);
    out_text(o, "  fill        ");
    out_bar(o, a->fill, BAR_WIDTH);
    out_printf(o, " %s of the bits are set\n", num_share(a->fill).s);
    out_printf(o, "  rate        %s now\n", num_rate(a->rate).s);
    if (f->rest > 0)
        out_printf(o, "  data        %s of the owner's data after the bits\n",
                   num_bytes(f->rest).s);
}

/* --- JSON ------------------------------------------------------------------------- */

static void print_json(struct json *j, const char *path, const struct account *a)
{
    const struct foreign *f = &a->f->filter;
    json_object(j, NULL);
    json_bytes(j, "file", path, strlen(path));
    json_string(j, "format", f->format->name);
    if (f->format->version)
        json_string(j, "variant", f->format->version(f));
    json_bool(j, "gzip", a->f->gzip);
    json_string(j, "hash", f->format->hash_id);
    json_bool(j, "keyed", false);
    json_uint(j, "hashes", f->part[0].hashes);
    if (f->format->sized) {
        json_uint(j, "capacity", a->capacity);
        json_real(j, "fp_rate", f->part[0].fp_rate);
    }
    json_uint(j, "parts", f->n_parts);
    json_uint(j, "bits", a->bits);
    json_uint(j, "bytes", a->bytes);
    if (f->format->counts)
        json_uint(j, "keys", f->keys);
    json_real(j, "distinct", a->distinct);
    json_uint(j, "bits_set", a->bits_set);
    json_real(j, "fill", a->fill);
    json_real(j, "fp_now", a->rate);
    json_uint(j, "data_bytes", f->rest);
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

int foreign_inform(const struct call *call, const char *path, const struct foreign_format *format,
                   const char *column, bool further, struct json *json)
{
    struct foreign_file f;
    deja_error why = {0};
    if (foreign_file_read(&f, path, format, column, call->stop, &why) < 0)
        return refuse(call, path, &why, json);
    const struct account a = account_of(&f);
    if (json) {
        print_json(json, path, &a);
    } else {
        out_text(call->out, further ? "\n" : "");
        print_text(call->out, path, &a);
        (void)out_flush(call->out, NULL); /* main reports a failure */
    }
    foreign_file_free(&f);
    return COMMAND_DONE;
}
