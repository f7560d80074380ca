/* sieve_plan.c - `deja plan --sieve`; see sieve_plan.h. */
#include "cli/report/sieve_plan.h"
#include "cli/report/diskspeed.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>

#define SIZES 5
#define LEAST ((uint64_t)1 << 20) /* memory of a sieve */

struct plan {
    const struct sieve_plan_options *o;
    uint64_t keys, lines;
    struct diskspeed speed;
    struct forecast {
        uint64_t memory;
        deja_sieve_forecast f;
    } size[SIZES]; /* a sixteenth of the memory, a quarter, all of it, four and 16 times as much */
};
#define CHOSEN 2

static double seconds(const struct plan *p, const deja_sieve_forecast *f)
{
    return f->read / p->speed.read + f->written / p->speed.write;
}

static int predict(struct plan *p, uint64_t memory, deja_error *err)
{
    for (size_t i = 0; i < SIZES; i++) {
        struct forecast *s = &p->size[i];
        deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
        const double size = ldexp((double)memory, 2 * ((int)i - CHOSEN));
        s->f = (deja_sieve_forecast)DEJA_SIEVE_FORECAST_INIT;
        s->memory = i == CHOSEN ? memory : size < 0x1p63 ? (uint64_t)size : 0;
        opt.memory = s->memory;
        if (i != CHOSEN && s->memory < LEAST)
            s->memory = 0;
        else if (deja_sieve_plan(&opt, p->keys, p->lines, &s->f, err) < 0)
            return err->status;
    }
    return DEJA_OK;
}

/* 13.7%, or 2.4e-5 if there are few. */
static struct num_text share_of(double share)
{
    return share >= 0.001 || !(share > 0) ? num_share(share) : num_rate(share);
}

/* --- Text -------------------------------------------------------------------------- */

static int print_sizes(const struct plan *p, struct out *o, deja_error *err)
{
    struct table t;
    table_init(&t, "rrrrrrr");
    table_row(&t, "memory", "bits/key", "new lines late", "at the end", "passes", "disk",
              "disk time", NULL);
    for (size_t i = 0; i < SIZES; i++) {
        const struct forecast *s = &p->size[i];
        if (!s->memory)
            continue;
        table_row(&t, num_bytes(s->memory).s,
                  num_fixed(8 * (double)s->memory / (double)p->keys, 1).s,
                  share_of(s->f.late / (double)p->keys).s, share_of(s->f.wait_rate).s,
                  num_count((uint64_t)s->f.passes).s, num_bytes(s->f.disk).s,
                  num_duration(seconds(p, &s->f)).s, NULL);
    }
    return table_print(&t, o, 2, err);
}

static void print_chosen(const struct plan *p, struct out *o)
{
    const deja_sieve_forecast *f = &p->size[CHOSEN].f;
    out_printf(o, "A sieve for %s", num_of(p->keys, "key").s);
    if (p->lines > p->keys)
        out_printf(o, " in %s", num_lines(p->lines).s);
    out_printf(o, "\n  memory      %s, however many keys there are\n",
               num_bytes(p->size[CHOSEN].memory).s);
    out_printf(o, "  disk        %s; %s during the largest merge; and lines that wait\n",
               num_bytes(f->disk).s, num_bytes(f->disk_most).s);
    out_printf(o, "  late        %s of the new lines wait (%s), in the end %s\n",
               share_of(f->late / (double)p->keys).s, num_estimate(f->late).s,
               share_of(f->wait_rate).s);
    out_printf(o, "  passes      %s over the runs; with merges, they read %s and write %s\n",
               num_count((uint64_t)f->passes).s, num_bytes((uint64_t)f->read).s,
               num_bytes((uint64_t)f->written).s);
    out_printf(o, "  disk time   %s; and the time to read and hash the lines\n",
               num_duration(seconds(p, f)).s);
    out_printf(o, "  lost        none, %s\n", sieves_certainty(f->wrong).s);
}

static void print_speed(const struct plan *p, struct out *o)
{
    const struct diskspeed *s = &p->speed;
    if (!s->bytes) {
        out_printf(o, "\nDisk: %s/s, as given\n", num_bytes((uint64_t)s->read).s);
        return;
    }
    out_printf(o, "\nDisk: reads %s/s and writes %s/s, measured with %s in %s\n",
               num_bytes((uint64_t)s->read).s, num_bytes((uint64_t)s->write).s,
               num_bytes(s->bytes).s, fail_path(p->o->dir ? p->o->dir : ".").text);
    if (s->cached)
        out_text(o, "The file stayed in memory, so this is not the speed of a disk: give "
                    "--disk-speed\n");
}

static int print_text(const struct plan *p, struct out *o, deja_error *err)
{
    print_chosen(p, o);
    print_speed(p, o);
    out_text(o, "\nWith less and more memory\n");
    const int rc = print_sizes(p, o, err);
    out_text(o, "\nNext\n  deja dedup --sieve DIR");
    if (p->o->shared->filter.memory)
        out_printf(o, " -m %s", num_scaled(p->o->shared->filter.memory, 1024).s);
    out_text(o, "\n");
    return rc;
}

/* --- JSON -------------------------------------------------------------------------- */

static void print_json(const struct plan *p, struct out *o)
{
    struct json j;
    json_begin(&j, o);
    json_object(&j, NULL);
    json_uint(&j, "keys", p->keys);
    json_uint(&j, "lines", p->lines);
    json_uint(&j, "memory", p->size[CHOSEN].memory);
    json_real(&j, "disk_reads", p->speed.read);
    json_real(&j, "disk_writes", p->speed.write);
    json_bool(&j, "disk_measured", p->speed.bytes != 0);
    json_bool(&j, "disk_cached", p->speed.cached);
    json_array(&j, "sizes");
    for (size_t i = 0; i < SIZES; i++) {
        const deja_sieve_forecast *f = &p->size[i].f;
        if (!p->size[i].memory)
            continue;
        json_object(&j, NULL);
        json_uint(&j, "memory", p->size[i].memory);
        json_uint(&j, "disk", f->disk);
        json_uint(&j, "disk_most", f->disk_most);
        json_real(&j, "late", f->late);
        json_real(&j, "late_share", f->late / (double)p->keys);
        json_real(&j, "waiting", f->waiting);
        json_real(&j, "wait_rate", f->wait_rate);
        json_real(&j, "passes", f->passes);
        json_real(&j, "read", f->read);
        json_real(&j, "written", f->written);
        json_real(&j, "seconds", seconds(p, f));
        json_real(&j, "wrong", f->wrong);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

int sieve_plan(const struct call *call, const struct sieve_plan_options *o, deja_error *err)
{
    const uint64_t given = o->shared->filter.memory;
    struct plan p = {.o = o, .keys = o->shared->filter.capacity};
    p.lines = o->lines ? o->lines : p.keys;
    p.speed = (struct diskspeed){.read = (double)o->disk_speed, .write = (double)o->disk_speed};
    int rc = predict(&p, given ? given : sieves_memory(), err);
    if (rc == DEJA_OK && !o->disk_speed)
        rc = diskspeed_measure(o->dir ? o->dir : ".", call->stop, &p.speed, err);
    if (rc < 0)
        return rc;
    if (!o->shared->json)
        return print_text(&p, call->out, err);
    print_json(&p, call->out);
    return COMMAND_DONE;
}
