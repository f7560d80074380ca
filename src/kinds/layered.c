/* layered.c - the multi-layer Bloom filter: one filter for each segment of a URL, and one more for
 * the XOR of all of them.
 *
 * Layer i holds the i-th segments of all URLs.  These layers alone would report h/b as seen after
 * h/a and g/b, so one more layer, BF_(L+1), gets a value for each URL that depends on all its
 * segments.  A URL is seen if each layer has its segment and the XOR layer has the XOR (Algorithms
 * 3 and 4).
 *
 * Paper mode follows Algorithms 3 and 4 exactly (rules 1).  H_j is the same in every layer: output
 * j of SplitMix64 seeded with the segment's hash, reduced to a position below m.  Position j in
 * the XOR layer is the XOR of the positions H_j of all segments; the papers do not specify how to
 * reduce it, so deja takes it modulo m.  Segments are the strings between slashes, without the
 * scheme.  Equal segments cancel out (h/a/a has the XOR of h alone), and the XOR layer ignores the
 * order of segments: after a/b, b/x and x/a the filter reports b/a as seen, at any size.  deja 0.1
 * files keep rules 0: a segment includes the slash before it, the first one includes the scheme,
 * and 64-bit numbers are XORed before they are reduced.
 *
 * Salted mode is the default.  Layer i uses mix(hash xor salt i), a bijection of the hash, so a
 * segment has a different number in each layer.  The XOR of these numbers is a tabulation hash of
 * the URL: among n URLs, the probability that any two have the same 64 bits is n^2 / 2^65,
 * no matter which segments they share.  The XOR layer is a classic filter of these hashes.  (The
 * XOR of positions, as above, would cost L times as much, and the positions of URLs like h/a, h/b,
 * g/a and g/b would depend on each other.)
 *
 * A layer may have several parts (layering.c): it has a segment if one of them has it, and a new
 * segment goes to the newest.  In words mode, the words of a key go to the layers in turn, and a
 * layer may get several of them; in the XOR, each word is salted by its position. segments.c turns
 * keys into rows of numbers; this file turns rows into answers.
 *
 * A lookup starts with the XOR layer, which rejects most new URLs.  An add first looks up all
 * segments of a chunk at once, to overlap their cache misses.  It then processes the keys one by
 * one, because a key may add a segment that the next key has too.
 *
 * Prefix queries use only the layers, so they have the false positives that the XOR layer prevents
 * for keys: after h/x and g/b, the prefix h/b is found.  No prefix of an added URL is missed.
 *
 * Source: Cen, Xu, Sun, "A Multi-Layer Bloom Filter for Duplicated URL Detection", 2010. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "kinds/account.h"

/* --- A chunk of rows, prepared for the layers ------------------------------ */

struct lot {
    size_t n;
    uint32_t deepest; /* the most layers of any key */
    uint8_t segments[DJ_CHUNK];
    uint8_t layers[DJ_CHUNK];                /* segment t goes to layer t mod this */
    uint64_t entry[DJ_CHUNK][DJ_MAX_SLOTS];  /* a segment's number in its layer */
    uint64_t mark[DJ_CHUNK * DJ_MAX_HASHES]; /* for the XOR layer: `stride` numbers per key */
};

static uint8_t between(uint64_t x, uint32_t least, uint32_t most)
{
    return (uint8_t)(x < least ? least : x > most ? most : x);
}

/* The smallest number that a classic part of m bits reduces to this position: position 2^64 / m,
 * rounded up.  Up to 2^32 bits, the error of the rounded quotient is less than one position. */
static uint64_t number_of(uint64_t position, uint64_t m)
{
    if (m <= UINT64_C(1) << 32)
        return position * (UINT64_MAX / m + 1);
    return dj_wide_div(dj_wide_of(position, m - 1), m);
}

/* Paper mode: for each j, the XOR of the segments' positions. */
static void mark_paper(const deja_filter *f, const uint64_t *segment, uint32_t n, uint64_t *mark)
{
    const uint64_t m = f->plan.shape.bits;
    for (uint32_t j = 0; j < f->plan.shape.k; j++) {
        uint64_t at = 0;
        for (uint32_t t = 0; t < n; t++)
            at ^= dj_mulhi(dj_nth64(segment[t], j), m);
        mark[j] = number_of(at % m, m);
    }
}

/* The same by rules 0: the XOR of the numbers before they are reduced to positions. */
static void mark_paper_0(const deja_filter *f, const uint64_t *segment, uint32_t n, uint64_t *mark)
{
    const uint32_t k = f->plan.shape.k;
    memset(mark, 0, k * sizeof *mark);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t j = 0; j < k; j++)
            mark[j] ^= dj_nth64(segment[t], j);
}

static void see_paper(const deja_filter *f, const uint64_t *row, struct lot *lot, size_t i)
{
    memcpy(lot->entry[i], row + 1, lot->segments[i] * sizeof *row);
    (f->plan.rules == DJ_RULES_0_1 ? mark_paper_0 : mark_paper)(
        f, row + 1, lot->segments[i], &lot->mark[i * f->part[0]->stride]);
}

static void see_words(const deja_filter *f, const uint64_t *row, struct lot *lot, size_t i)
{
    uint64_t mark = 0;
    for (uint32_t t = 0; t < lot->segments[i]; t++) {
        lot->entry[i][t] = dj_mix64(row[1 + t] ^ f->layers.salt[t % lot->layers[i]]);
        mark ^= dj_mix64(row[1 + t] ^ f->layers.place[t]);
    }
    lot->mark[i] = mark;
}

static void see_url(const deja_filter *f, const uint64_t *row, uint64_t whole_last,
                    struct lot *lot, size_t i)
{
    const uint32_t last = lot->segments[i] - 1u;
    uint64_t mark = 0;
    for (uint32_t t = 0; t <= last; t++) {
        lot->entry[i][t] = dj_mix64(row[1 + t] ^ f->layers.salt[t]);
        mark ^= lot->entry[i][t];
    }
    if (whole_last) /* the layer gets only the path; the XOR layer uses the whole segment */
        mark ^= lot->entry[i][last] ^ dj_mix64(whole_last ^ f->layers.salt[last]);
    lot->mark[i] = mark;
}

/* Rows may come from the caller (add_hashed), so their numbers are limited to valid ranges. */
static void see(const deja_filter *f, const uint64_t *rows, size_t n, struct lot *lot)
{
    const struct dj_cut cut = dj_layering_cut(&f->plan);
    const size_t len = dj_segments_row(&cut);
    lot->n = n;
    lot->deepest = 0;
    for (size_t i = 0; i < n; i++, rows += len) {
        lot->segments[i] = between(rows[0] & UINT32_MAX, 1, cut.slots);
        lot->layers[i] = cut.words ? between(rows[0] >> 32, 1, cut.most) : lot->segments[i];
        lot->deepest = lot->layers[i] > lot->deepest ? lot->layers[i] : lot->deepest;
        if (f->plan.flags & DEJA_LAYERED_PAPER)
            see_paper(f, rows, lot, i);
        else if (cut.words)
            see_words(f, rows, lot, i);
        else
            see_url(f, rows, rows[len - 1], lot, i);
    }
}

/* --- Layers ---------------------------------------------------------------- */

/* Segments of one layer, and which key and slot each belongs to. */
struct group {
    size_t n;
    uint64_t hash[DJ_CHUNK];
    uint8_t key[DJ_CHUNK], slot[DJ_CHUNK];
};

/* Looks up segments in the parts of a layer, the newest and largest first; sets a bit in known for
 * each segment that one of them has. */
static void ask_parts(const deja_filter *f, uint32_t layer, struct group *g, uint16_t *known)
{
    uint8_t found[DJ_CHUNK];
    for (uint32_t nth = f->layers.n[layer]; nth-- > 0 && g->n;) {
        const struct dj_part *p = f->part[f->layers.part[layer][nth]];
        p->kind->body.prefetch(p, g->hash, g->n, false);
        p->kind->body.contains(p, g->hash, g->hash, g->n, found);
        size_t left = 0;
        for (size_t i = 0; i < g->n; i++) {
            known[g->key[i]] |= (uint16_t)(found[i] << g->slot[i]);
            g->hash[left] = g->hash[i];
            g->key[left] = g->key[i];
            g->slot[left] = g->slot[i];
            left += !found[i];
        }
        g->n = left;
    }
    g->n = 0;
}

static struct dj_part *newest_of(deja_filter *f, uint32_t layer)
{
    return f->part[f->layers.part[layer][f->layers.n[layer] - 1]];
}

/* A URL has at most one segment in a layer.  The code has no branch, because none could be
 * predicted. */
static void ask_url_layer(const deja_filter *f, const struct lot *lot, uint32_t layer,
                          const uint8_t *who, size_t n, uint16_t *known)
{
    struct group g;
    g.n = 0;
    for (size_t a = 0; a < n; a++) {
        const uint8_t i = who[a];
        g.hash[g.n] = lot->entry[i][layer];
        g.key[g.n] = i;
        g.slot[g.n] = (uint8_t)layer;
        g.n += layer < lot->segments[i];
    }
    ask_parts(f, layer, &g, known);
}

static void ask_word_layer(const deja_filter *f, const struct lot *lot, uint32_t layer,
                           const uint8_t *who, size_t n, uint16_t *known)
{
    struct group g;
    g.n = 0;
    for (size_t a = 0; a < n; a++) {
        const uint8_t i = who[a];
        for (uint32_t t = layer; layer < lot->layers[i] && t < lot->segments[i];
             t += lot->layers[i]) {
            g.hash[g.n] = lot->entry[i][t];
            g.key[g.n] = i;
            g.slot[g.n++] = (uint8_t)t;
            if (g.n == DJ_CHUNK)
                ask_parts(f, layer, &g, known);
        }
    }
    ask_parts(f, layer, &g, known);
}

/* Sets a bit in known for each segment of these keys that its layer has. */
static void ask_layers(const deja_filter *f, const struct lot *lot, const uint8_t *who, size_t n,
                       uint16_t known[DJ_CHUNK])
{
    const bool words = f->plan.flags & DEJA_LAYERED_WORDS;
    memset(known, 0, DJ_CHUNK * sizeof *known);
    for (uint32_t layer = 0; layer < lot->deepest; layer++)
        (words ? ask_word_layer : ask_url_layer)(f, lot, layer, who, n, known);
}

static uint32_t all_segments(const struct lot *lot, size_t i)
{
    return (1u << lot->segments[i]) - 1;
}

/* Sets found[i], for the keys in who, if all their segments are known. */
static void find_in_layers(const deja_filter *f, const struct lot *lot, const uint8_t *who,
                           size_t n, uint8_t *found)
{
    uint16_t known[DJ_CHUNK];
    ask_layers(f, lot, who, n, known);
    memset(found, 0, lot->n);
    for (size_t a = 0; a < n; a++)
        found[who[a]] = known[who[a]] == all_segments(lot, who[a]);
}

static void layered_contains(const deja_filter *f, const uint64_t *rows, const uint64_t *ahead,
                             size_t n, uint8_t *found)
{
    const struct dj_part *marks = f->part[0];
    struct lot lot;
    uint8_t alive[DJ_CHUNK] = {0};
    size_t left = 0;
    (void)ahead;
    see(f, rows, n, &lot);
    marks->kind->body.prefetch(marks, lot.mark, n, false);
    marks->kind->body.contains(marks, lot.mark, lot.mark, n, found);
    for (size_t i = 0; i < n; i++) {
        alive[left] = (uint8_t)i;
        left += found[i];
    }
    find_in_layers(f, &lot, alive, left, found);
}

/* --- Adding ---------------------------------------------------------------- */

/* Returns a bit for each layer that has no room for these segments of key i. */
static uint32_t full_layers(const deja_filter *f, const struct lot *lot, size_t i,
                            uint32_t segments)
{
    const uint32_t series = f->plan.flags & DEJA_LAYERED_PAPER ? 1 : DJ_LAYER_PARTS;
    uint8_t wanted[DJ_MAX_LAYERS] = {0};
    uint32_t full = 0;
    for (uint32_t t = 0; segments >> t; t++) {
        const uint32_t layer = t % lot->layers[i], n = f->layers.n[layer];
        if (!(segments >> t & 1))
            continue;
        wanted[layer]++;
        if (n == 0) {
            full |= 1u << layer;
        } else if (n < series) { /* the last part takes all further segments */
            const struct dj_part *p = f->part[f->layers.part[layer][n - 1]];
            if (dj_part_keys(p) + wanted[layer] > p->capacity)
                full |= 1u << layer;
        }
    }
    return full;
}

/* The segments of key i that no part has now: earlier keys of the lot may have added some. */
static uint32_t unknown_now(const deja_filter *f, const struct lot *lot, size_t i)
{
    uint16_t known[DJ_CHUNK];
    const uint8_t who = (uint8_t)i;
    ask_layers(f, lot, &who, 1, known);
    return all_segments(lot, i) & ~(uint32_t)known[i];
}

static bool add_segments(deja_filter *f, const struct lot *lot, size_t i, uint32_t unknown,
                         bool shared)
{
    bool any = false;
    for (uint32_t t = 0; unknown >> t; t++) {
        if (!(unknown >> t & 1))
            continue;
        struct dj_part *p = newest_of(f, t % lot->layers[i]);
        const uint64_t *hash = &lot->entry[i][t];
        uint8_t is_new;
        p->kind->body.add(p, hash, hash, 1, &is_new, shared);
        if (is_new)
            atomic_fetch_add_explicit(&p->keys, 1, memory_order_relaxed);
        any |= is_new;
    }
    return any;
}

/* Counts a new key.  If its segments were known (familiar), similar keys may have been lost, so
 * adds its weight to the estimate.  Lost keys set no new bits but count as present. */
static void count_key(deja_filter *f, bool familiar)
{
    const uint64_t t = atomic_fetch_add_explicit(&f->part[0]->keys, 1, memory_order_relaxed);
    if (!familiar)
        return;
    const double came = (double)t + dj_layering_lost(f);
    const double step = came * 64 / (double)f->plan.capacity;
    const uint32_t at = step < DJ_WEIGHTS - 1 ? (uint32_t)step : DJ_WEIGHTS - 1;
    atomic_fetch_add_explicit(&f->familiar, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&f->lost, f->layers.weight[at], memory_order_relaxed);
}

/* Prefetches the memory of all keys of the lot, and finds out which of their segments are known
 * before the first key is added. */
static void look_ahead(const deja_filter *f, const struct lot *lot, uint16_t known[DJ_CHUNK])
{
    const struct dj_part *marks = f->part[0];
    uint8_t who[DJ_CHUNK];
    for (size_t i = 0; i < lot->n; i++)
        who[i] = (uint8_t)i;
    marks->kind->body.prefetch(marks, lot->mark, lot->n, true);
    ask_layers(f, lot, who, lot->n, known);
}

/* Adds the segments of these keys to the layers, and sets fresh[i] if one was new.  Returns how
 * many keys it took: for the next, layers must grow first. */
static size_t add_to_layers(deja_filter *f, const struct lot *lot, const uint16_t *known,
                            uint8_t *fresh, bool shared)
{
    for (size_t i = 0; i < lot->n; i++) {
        uint32_t unknown = all_segments(lot, i) & ~(uint32_t)known[i];
        if (unknown && full_layers(f, lot, i, unknown)) {
            unknown = unknown_now(f, lot, i);
            if (full_layers(f, lot, i, unknown))
                return i;
        }
        fresh[i] = unknown && add_segments(f, lot, i, unknown, shared);
    }
    return lot->n;
}

static size_t layered_add(deja_filter *f, const uint64_t *rows, const uint64_t *ahead, size_t n,
                          uint8_t *is_new, bool shared)
{
    struct dj_part *marks = f->part[0];
    struct lot lot;
    uint16_t known[DJ_CHUNK];
    uint8_t fresh[DJ_CHUNK];
    (void)ahead;
    see(f, rows, n, &lot);
    look_ahead(f, &lot, known);
    const size_t taken = add_to_layers(f, &lot, known, fresh, shared);
    marks->kind->body.add(marks, lot.mark, lot.mark, taken, is_new, shared);
    for (size_t i = 0; i < taken; i++) {
        is_new[i] |= fresh[i];
        if (is_new[i])
            count_key(f, !fresh[i]);
    }
    return taken;
}

/* Describes the next part of a layer, which becomes part n of the filter. */
static int begin_part(deja_filter *f, uint32_t layer, uint32_t n)
{
    if (n == DJ_MAX_PARTS)
        return DEJA_EFULL;
    if (!dj_filter_make_parts(f, n + 1))
        return DEJA_ENOMEM;
    return dj_layering_part(&f->plan, layer + 1, f->layers.n[layer], f->part, n, f->part[n])
               ? DEJA_OK
               : DEJA_EFULL;
}

/* layered_add itself stops before a key for which there is no room. */
static uint64_t layered_room(deja_filter *f)
{
    (void)f;
    return UINT64_MAX;
}

static int layered_make_room(deja_filter *f, const uint64_t *row, uint32_t *n_parts)
{
    struct lot lot;
    int rc = DEJA_OK;
    see(f, row, 1, &lot);
    const uint32_t full = full_layers(f, &lot, 0, unknown_now(f, &lot, 0));
    for (uint32_t layer = 0; full >> layer && rc == DEJA_OK; layer++)
        if (full >> layer & 1)
            rc = begin_part(f, layer, (*n_parts)++);
    return rc;
}

/* --- Prefix queries -------------------------------------------------------- */

static void layered_prefix(const deja_filter *f, const deja_slice *prefix, size_t n,
                           uint8_t *found)
{
    const struct dj_cut cut = dj_layering_cut(&f->plan);
    uint64_t rows[DJ_CHUNK * DJ_MAX_ROW];
    uint8_t who[DJ_CHUNK];
    struct lot lot;
    dj_segments_prefix(&cut, &f->hasher, prefix, n, rows);
    see(f, rows, n, &lot);
    for (size_t i = 0; i < n; i++)
        who[i] = (uint8_t)i;
    find_in_layers(f, &lot, who, n, found);
}

/* --- Plan ------------------------------------------------------------------ */

static int layered_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    int rc = opt->multiplier != 0 ? dj_plan_check_multiplier(opt, plan, err)
                                  : dj_plan_check_two(opt, err);
    if (rc < 0)
        return rc;
    if (opt->multiplier != 0 && !dj_layering_is_paper(plan))
        return dj_fail(
            err, DEJA_EINVAL,
            "options.multiplier goes with options.layered_paper in a layered filter: other layers "
            "grow with their segments");
    if (opt->memory && !dj_layering_is_paper(plan))
        return dj_fail(err, DEJA_ENOTSUP,
                       "options.memory: the layers of a layered filter grow with their segments; "
                       "options.layered_paper and kinds blocked, classic, exact and spectral take "
                       "a memory size");
    return dj_plan_plain(opt, plan, err);
}

static uint32_t layered_words(const struct dj_plan *plan)
{
    const struct dj_cut cut = dj_layering_cut(plan);
    return dj_segments_row(&cut);
}

static uint32_t layered_stride(const struct dj_plan *plan, uint32_t i)
{
    if (i > 0 || !dj_layering_is_paper(plan))
        return 1; /* a segment, or the XOR of all */
    /* k positions.  At least 2: a classic part would treat a single number as a hash. */
    return plan->shape.k > 1 ? plan->shape.k : 2;
}

static void layered_rows(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *row)
{
    const struct dj_cut cut = dj_layering_cut(&f->plan);
    dj_segments_hash(&cut, &f->hasher, keys, n, row);
}

/* Prefetches nothing: the lines that a row needs depend on earlier answers. */
static void layered_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    (void)f, (void)hash, (void)n, (void)for_add;
}

/* --- Statistics and file ------------------------------------------------------- */

/* The rate of the filter is at most that of the XOR layer, and losses were estimated key by key
 * (layering.c).  The other parts count segments. */
static void add_part(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                     struct dj_account *a, uint32_t i)
{
    (void)i;
    if (p->layer) {
        s->layers = p->layer > s->layers ? p->layer : s->layers;
        return;
    }
    s->keys = a->count;
    s->distinct = a->distinct;
    s->fp_now = a->rate;
    s->lost = dj_layering_lost(f);
    s->capacity = p->capacity;
    a->came = a->keys + s->lost;
}

static void layered_stats(const deja_filter *f, deja_stats *s)
{
    dj_account_for(f, s, add_part);
    s->familiar = atomic_load_explicit(&f->familiar, memory_order_relaxed);
    s->layers_most = dj_layering_most(&f->plan);
    s->delimiter = f->plan.layering.delimiter;
}

static void layered_to_record(const deja_filter *f, struct dj_record *r)
{
    r->earlier.keys = dj_part_keys(f->part[0]);
    r->earlier.lost = dj_layering_lost(f);
}

static void layered_from_record(deja_filter *f, const struct dj_record *r)
{
    dj_layering_set_lost(f, r->earlier.lost);
    f->earlier = (struct dj_earlier){.unions = r->earlier.unions};
}

static bool layered_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    if (i > 0 && !dj_layering_is_paper(plan))
        return dj_plan_reaches(&p->shape, p->capacity, p->fp_rate);
    return p->capacity == plan->capacity;
}

static int layered_check_parts(const struct dj_plan *plan, const struct dj_part *part, uint32_t n,
                               deja_error *err)
{
    return dj_layering_is_sound(plan, part, n) ? DEJA_OK
                                               : dj_fail_damaged(err, "layers in the part table");
}

static const char *const options[] = {"layers", "delimiter", NULL};
#define FIRST(i) DJ_FIELD(224 + 8 * (i), struct dj_plan, layering.first[i])
static const struct dj_field header[] = {
    DJ_FIELD(212, struct dj_plan, layering.layers),
    DJ_FIELD(216, struct dj_plan, layering.delimiter),
    DJ_FIELD(220, struct dj_plan, reserved),
    FIRST(0),
    FIRST(1),
    FIRST(2),
    FIRST(3),
    FIRST(4),
    FIRST(5),
    FIRST(6),
    FIRST(7),
    FIRST(8),
    FIRST(9),
};
_Static_assert(DJ_MAX_LAYERS == 10, "one field each");
static const struct dj_field record[] = {DJ_FIELD(352, struct dj_record, familiar)};
const struct dj_kind dj_layered = {
    .name = "layered",
    .number = DEJA_LAYERED,
    .help = "a filter for each segment of a URL: answers questions about prefixes",
    .can = DEJA_CAN_ADD | DEJA_CAN_PREFIX | DEJA_CAN_LAYER | DEJA_CAN_MERGE,
    .options = options,
    .flags = DEJA_LAYERED_PAPER | DEJA_LAYERED_WORDS,
    .adds_parts = true,
    .part_kind = &dj_classic,
    .read = dj_layering_read,
    .plan = layered_plan,
    .by_multiplier = dj_layering_is_paper,
    .powers_of_2 = dj_layering_wants_power_of_2,
    .bodies = dj_layering_bodies,
    .besides = dj_layering_besides,
    .kind_of_part = dj_layering_part_kind,
    .rows = layered_rows,
    .words = layered_words,
    .stride = layered_stride,
    .prefetch = layered_prefetch,
    .add = layered_add,
    .contains = layered_contains,
    .prefix = layered_prefix,
    .room = layered_room,
    .make_room = layered_make_room,
    .made = dj_layering_init,
    .attached = dj_layering_index,
    .stats = layered_stats,
    .next_visit = dj_layering_next,
    .header = DJ_FIELDS(header),
    .record = DJ_FIELDS(record),
    .check = dj_layering_check,
    .part_is_sound = layered_part_is_sound,
    .check_parts = layered_check_parts,
    .to_record = layered_to_record,
    .from_record = layered_from_record,
};
