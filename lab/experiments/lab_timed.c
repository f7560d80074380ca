/* lab_timed.c - time to fill and to query the structures of the multi-layer paper; see
 * lab_timed.h.
 *
 * The queried lines are in the list, as in the paper: a query of a filter then reads all its
 * positions.  A linear search takes too long for many queries: a few lines, spread evenly over the
 * list, have the same mean.  A sorted array would take n^2 / 4 moves to fill line by line: all
 * lines but the last ones are sorted at once, and the last ones are inserted at their places. */
#include "lab/experiments/lab_timed.h"
#include "bench/bench_subject.h"
#include "lab/engine/lab_baseline.h"
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_mlbf.h"
#include "tools/base/clock.h"
#include "tools/base/mix.h"
#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *const lab_timed_label[TIMED_KINDS] = {
    "array, linear search",         "sorted array, binary search",
    "hash table of lines",          "flags at hash mod m (program)",
    "Bloom, whole lines (program)", "Bloom, segments (Alg. 1, 2)",
    "multi-layer (Alg. 3, 4)",      "kind layered",
    "kind layered, paper mode"};

#define SEARCHED UINT64_C(30000000)  /* entries that all linear searches may compare */
#define MOVED    UINT64_C(100000000) /* entries that all insertions into an array may move */

struct subject {
    deja_slice *item;
    uint64_t n; /* items, or slots */
    uint8_t *slot;
    struct lab_mlbf bits;
    deja_filter *filter;
    void *table;
    uint8_t *answer;
};

/* --- Lists ---------------------------------------------------------------------- */

static double ask_linear(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    double found = 0;
    for (uint64_t i = 0; i < n && lab_going(t); i++)
        found += lab_linear_has(s->item, s->n, keys[i]);
    return found;
}

static double ask_binary(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    double found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += lab_binary_has(s->item, s->n, keys[i]);
    return found;
}

static uint64_t clamp(uint64_t x, uint64_t least, uint64_t most)
{
    return x < least ? least : x > most ? most : x;
}

/* Lines spread evenly over the list. */
static double time_linear(struct lab_task *t, struct subject *s, uint64_t rows, double *found)
{
    const uint64_t n = clamp(SEARCHED / rows, 4 * LAB_PARTS, 1000) / LAB_PARTS * LAB_PARTS;
    deja_slice *asked = lab_alloc(t, n * sizeof *asked);
    for (uint64_t i = 0; asked && i < n; i++) /* each part has lines from the whole list */
        asked[i % LAB_PARTS * (n / LAB_PARTS) + i / LAB_PARTS] =
            s->item[(2 * i + 1) * rows / 2 / n];
    const double ns = lab_fastest(t, ask_linear, s, asked, n, found);
    *found = *found == (double)n;
    return ns;
}

static void fill_sorted(struct lab_task *t, struct subject *s, const deja_slice *line,
                        uint64_t rows, struct lab_times *out)
{
    const uint64_t late = clamp(MOVED / rows, 20, rows / 2);
    double begin = clock_ns();
    for (s->n = 0; s->n < rows - late; s->n++)
        s->item[s->n] = line[s->n];
    lab_sort(s->item, s->n);
    out->sort = (clock_ns() - begin) / (double)s->n;
    begin = clock_ns();
    for (; s->n < rows && lab_going(t); s->n++)
        lab_insert_sorted(s->item, s->n, line[s->n]);
    out->add = (clock_ns() - begin) / (double)late;
}

/* --- Tables --------------------------------------------------------------------------- */

static void check_table(struct lab_task *t, int rc)
{
    if (rc < 0)
        lab_failed(t, rc, "hash table: %s", deja_strerror(rc));
}

static double ask_table(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    check_table(t, bench_table.contains_one(s->table, keys, (size_t)n, s->answer));
    return (double)lab_ones(s->answer, (size_t)n);
}

static uint64_t slot_of(const struct subject *s, deja_slice line)
{
    return mix_below(XXH3_64bits(line.data, line.len), s->n);
}

static double ask_slots(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += s->slot[slot_of(s, keys[i])];
    return (double)found;
}

double lab_timed_slots_rate(void)
{
    return -expm1(-1 / HALVES_BITS);
}

/* --- Filters ---------------------------------------------------------------------------- */

static double ask_bits(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    uint64_t found = 0;
    (void)t;
    for (uint64_t i = 0; i < n; i++)
        found += lab_mlbf_has(&s->bits, keys[i]);
    return (double)found;
}

static double ask_filter(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct subject *s = ctx;
    return lab_ask(t, s->filter, keys, n);
}

static deja_filter *layered(struct lab_task *t, uint64_t rows, bool paper)
{
    deja_options opt = lab_options(t, DEJA_LAYERED);
    opt.capacity = rows;
    if (!paper) {
        opt.fp_rate = 0.05;
        return lab_filter(t, &opt);
    }
    opt.flags = DEJA_LAYERED_PAPER;
    opt.hashes = HALVES_K;
    opt.multiplier = HALVES_BITS / HALVES_K;
    return lab_filter(t, &opt);
}

/* --- All of them -------------------------------------------------------------------------- */

/* Created before the time is taken: its memory is allocated, though not yet touched. */
static void open_subject(struct lab_task *t, struct subject *s, enum lab_timed_kind which,
                         uint64_t rows)
{
    static const enum lab_mlbf_rule rule[TIMED_KINDS] = {[TIMED_LINE] = LAB_MLBF_LINE,
                                                         [TIMED_ONE] = LAB_MLBF_ONE,
                                                         [TIMED_LAYERED] = LAB_MLBF_LAYERED};
    const uint64_t m = (uint64_t)(HALVES_BITS * (double)rows);
    *s = (struct subject){0};
    if (which == TIMED_LINEAR || which == TIMED_BINARY)
        s->item = lab_alloc(t, rows * sizeof *s->item);
    if (which == TIMED_SLOTS)
        s->slot = lab_alloc(t, s->n = m);
    if (which == TIMED_TABLE && (s->answer = lab_alloc(t, rows)) &&
        !(s->table = bench_table.open(0, rows, 0, t->err)))
        lab_checked(t, DEJA_ENOMEM);
    if (which == TIMED_KIND || which == TIMED_PAPER)
        s->filter = layered(t, rows, which == TIMED_PAPER);
    if (which == TIMED_LINE || which == TIMED_ONE || which == TIMED_LAYERED)
        lab_checked(t, lab_mlbf_init(&s->bits, m, HALVES_K, t->seed,
                                     &(struct lab_mlbf_how){rule[which], '/', 0}, t->err));
}

static void close_subject(struct subject *s)
{
    if (s->table)
        bench_table.close(s->table);
    lab_mlbf_fini(&s->bits);
}

static void fill_bits(struct lab_task *t, struct subject *s, const deja_slice *line, uint64_t rows)
{
    for (uint64_t i = 0; i < rows && t->rc == DEJA_OK; i++)
        if (lab_mlbf_add(&s->bits, line[i]) < 0)
            lab_failed(t, DEJA_ENOMEM, "out of memory for a layer");
}

static void fill(struct lab_task *t, struct subject *s, enum lab_timed_kind which,
                 const deja_slice *line, uint64_t rows)
{
    if (which == TIMED_LINEAR)
        for (s->n = 0; s->n < rows; s->n++)
            s->item[s->n] = line[s->n];
    else if (which == TIMED_SLOTS)
        for (uint64_t i = 0; i < rows; i++)
            s->slot[slot_of(s, line[i])] = 1;
    else if (which == TIMED_TABLE)
        check_table(t, bench_table.add_one(s->table, line, (size_t)rows, s->answer));
    else if (s->filter)
        (void)lab_add(t, s->filter, line, rows, NULL);
    else
        fill_bits(t, s, line, rows);
}

/* Lines of the list in random order, copied one after the other, as from a file: finding the text
 * of a line in memory is not part of the time. */
static deja_slice *draw(struct lab_task *t, const deja_slice *line, uint64_t rows, uint64_t n)
{
    deja_slice *asked = lab_alloc(t, n * sizeof *asked);
    size_t bytes = 0;
    for (uint64_t i = 0; asked && i < n; i++) {
        asked[i] = line[mix_below(mix_nth(t->seed + i), rows)];
        bytes += asked[i].len;
    }
    char *text = lab_alloc(t, bytes + 1);
    for (uint64_t i = 0; text && i < n; i++) {
        memcpy(text, asked[i].data, asked[i].len);
        asked[i].data = text;
        text += asked[i].len;
    }
    return asked;
}

static double time_queries(struct lab_task *t, struct subject *s, enum lab_timed_kind which,
                           const deja_slice *line, uint64_t rows)
{
    static lab_step *const ask[TIMED_KINDS] = {
        [TIMED_BINARY] = ask_binary, [TIMED_TABLE] = ask_table, [TIMED_SLOTS] = ask_slots,
        [TIMED_LINE] = ask_bits,     [TIMED_ONE] = ask_bits,    [TIMED_LAYERED] = ask_bits,
        [TIMED_KIND] = ask_filter,   [TIMED_PAPER] = ask_filter};
    const uint64_t n = clamp(rows / 2, LAB_PARTS, LAB_TIMED_QUERIES) / LAB_PARTS * LAB_PARTS;
    deja_slice *asked = which == TIMED_LINEAR ? NULL : draw(t, line, rows, n);
    double found = 0;
    const double ns = which == TIMED_LINEAR ? time_linear(t, s, rows, &found)
                                            : lab_fastest(t, ask[which], s, asked, n, &found);
    if (t->rc == DEJA_OK && found != (which == TIMED_LINEAR ? 1 : (double)n))
        lab_failed(t, DEJA_EINVAL, "%s: a line that was added is missing", lab_timed_label[which]);
    return ns;
}

/* Filling a short list is over before the machine has settled: the fastest of several counts. */
static uint32_t fills_of(uint64_t rows)
{
    return rows < 50000 ? 5 : rows < 500000 ? 3 : 1;
}

static double time_fill(struct lab_task *t, struct subject *s, enum lab_timed_kind which,
                        const deja_slice *line, uint64_t rows)
{
    double best = INFINITY;
    for (uint32_t i = 0; i < fills_of(rows) && lab_going(t); i++) {
        if (i > 0)
            close_subject(s);
        open_subject(t, s, which, rows);
        if (!lab_going(t))
            break;
        const double begin = clock_ns();
        fill(t, s, which, line, rows);
        best = fmin(best, (clock_ns() - begin) / (double)rows);
    }
    return best;
}

struct lab_times lab_timed(struct lab_task *t, enum lab_timed_kind which, const deja_slice *line,
                           uint64_t rows)
{
    struct lab_times out = {0, 0, 0};
    struct subject s = {0};
    if (which == TIMED_BINARY) {
        open_subject(t, &s, which, rows);
        if (lab_going(t))
            fill_sorted(t, &s, line, rows, &out);
    } else {
        out.add = time_fill(t, &s, which, line, rows);
    }
    if (lab_going(t))
        out.query = time_queries(t, &s, which, line, rows);
    close_subject(&s);
    return out;
}

double lab_timed_slots_hits(struct lab_task *t, const deja_slice *line, uint64_t rows,
                            const deja_slice *absent, uint64_t n)
{
    struct subject s;
    open_subject(t, &s, TIMED_SLOTS, rows);
    if (!lab_going(t))
        return 0;
    fill(t, &s, TIMED_SLOTS, line, rows);
    return ask_slots(t, &s, absent, n);
}
