/* foreign.c - what all foreign formats share: memory, lookups, insertions, estimates; see
 * foreign.h. */
#include "tools/foreign/foreign.h"
#include "tools/base/fail.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_PIECE ((uint64_t)1 << 20)
#define LOT         16 /* keys whose first cache lines are fetched together */

/* --- Memory --------------------------------------------------------------------- */

static void *take(const struct foreign *f, uint64_t len)
{
    if (len > SIZE_MAX / 2)
        return NULL;
    if (!f->alloc)
        return calloc(1, len ? (size_t)len : 1);
    void *p = f->alloc->alloc(f->alloc->ctx, len ? (size_t)len : 1, 8);
    if (p)
        memset(p, 0, len ? (size_t)len : 1);
    return p;
}

static void give_back(const struct foreign *f, void *p, uint64_t len)
{
    if (!f->alloc)
        free(p);
    else if (p)
        f->alloc->free(f->alloc->ctx, p, len ? (size_t)len : 1);
}

static int no_memory(uint64_t len, deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "needs %" PRIu64 " bytes, and there is no memory for them", len);
}

int foreign_grow_body(const struct foreign *f, struct foreign_part *part, uint64_t room,
                      deja_error *err)
{
    if (room <= part->room && part->body)
        return DEJA_OK;
    uint8_t *body = take(f, room);
    if (!body)
        return no_memory(part->len, err);
    if (part->body)
        memcpy(body, part->body, (size_t)part->room);
    give_back(f, part->body, part->room);
    part->body = body;
    part->room = room;
    return DEJA_OK;
}

/* The number of parts that there is memory for; it doubles. */
static size_t room_for(size_t n)
{
    size_t room = n > 0;
    while (room < n)
        room *= 2;
    return room;
}

int foreign_add_part(struct foreign *f, struct foreign_part part, bool empty, deja_error *err)
{
    const size_t old = room_for(f->n_parts), room = room_for(f->n_parts + 1);
    part.body = NULL;
    part.room = 0;
    if (room > old) {
        struct foreign_part *parts = take(f, room * sizeof *parts);
        if (!parts)
            return no_memory(room * sizeof *parts, err);
        if (f->part)
            memcpy(parts, f->part, f->n_parts * sizeof *parts);
        give_back(f, f->part, old * sizeof *parts);
        f->part = parts;
    }
    const int rc = empty ? DEJA_OK : foreign_grow_body(f, &part, part.len, err);
    if (rc == DEJA_OK)
        f->part[f->n_parts++] = part;
    return rc;
}

void foreign_free(struct foreign *f)
{
    for (size_t i = 0; i < f->n_parts; i++)
        give_back(f, f->part[i].body, f->part[i].room);
    give_back(f, f->part, room_for(f->n_parts) * sizeof *f->part);
    f->part = NULL;
    f->n_parts = 0;
}

int foreign_new(struct foreign *f, uint64_t n, double p, deja_error *err)
{
    f->variant = f->format->variant;
    int rc = f->format->plan(f, n, p, err);
    for (size_t i = 0; i < f->n_parts && rc == DEJA_OK; i++)
        rc = foreign_grow_body(f, &f->part[i], f->part[i].len, err);
    if (rc < 0)
        foreign_free(f);
    return rc;
}

uint64_t foreign_len(const struct foreign *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_parts; i++)
        sum += f->part[i].len;
    return sum;
}

/* --- Input ------------------------------------------------------------------------ */

static int read_memory(struct foreign_in *in, void *buf, size_t len, size_t *have, deja_error *err)
{
    const deja_slice *from = in->source;
    const size_t left = from->len - (size_t)in->done;
    (void)err;
    *have = len < left ? len : left;
    if (*have)
        memcpy(buf, (const char *)from->data + in->done, *have);
    in->done += *have;
    return DEJA_OK;
}

static int read_memory_at(struct foreign_in *in, uint64_t offset, void *buf, size_t len,
                          deja_error *err)
{
    const deja_slice *from = in->source;
    if (offset > from->len || len > from->len - offset)
        return fail(err, DEJA_EFORMAT, "is truncated");
    if (len)
        memcpy(buf, (const char *)from->data + offset, len);
    return DEJA_OK;
}

struct foreign_in foreign_in_memory(const deja_slice *bytes)
{
    return (struct foreign_in){
        .read = read_memory, .at = read_memory_at, .len = bytes->len, .source = bytes};
}

int foreign_in_header(struct foreign_in *in, const struct foreign *f, void *buf, size_t len,
                      deja_error *err)
{
    size_t have = 0;
    const int rc = in->read(in, buf, len, &have, err);
    if (rc == DEJA_OK && have < len)
        return fail(err, DEJA_EFORMAT,
                    "is not %s, or is truncated inside its header: it has %zu bytes of %zu",
                    f->format->title, have, len);
    return rc;
}

static int cut_short(uint64_t have, uint64_t need, deja_error *err)
{
    return fail(err, DEJA_EFORMAT,
                "is truncated: its bits end after %" PRIu64 " bytes of %" PRIu64, have, need);
}

/* If the length of the input is not known, the memory doubles as bytes arrive. */
int foreign_in_body(struct foreign_in *in, const struct foreign *f, struct foreign_part *part,
                    deja_error *err)
{
    const bool known = in->len != FOREIGN_UNKNOWN;
    if (known && (in->len < in->done || in->len - in->done < part->len))
        return cut_short(in->len > in->done ? in->len - in->done : 0, part->len, err);
    uint64_t have = 0, room = known ? part->len : 0;
    while (have < part->len) {
        size_t got = 0;
        room = known ? part->len : room ? 2 * room : FIRST_PIECE;
        room = room < part->len ? room : part->len;
        int rc = foreign_grow_body(f, part, room, err);
        if (rc == DEJA_OK)
            rc = in->read(in, part->body + have, (size_t)(room - have), &got, err);
        if (rc < 0)
            return rc;
        if (got < room - have)
            return cut_short(have + got, part->len, err);
        have = room;
    }
    return DEJA_OK;
}

int foreign_in_end(struct foreign_in *in, const struct foreign *f, deja_error *err)
{
    uint8_t more;
    size_t got = 0;
    const int rc = in->read(in, &more, 1, &got, err);
    if (rc < 0 || got == 0)
        return rc;
    return fail(err, DEJA_EFORMAT, "is longer than its header says: it is not %s",
                f->format->title);
}

/* --- Keys ------------------------------------------------------------------------- */

static struct foreign_probe probe_of(const struct foreign *f, const struct foreign_part *part,
                                     const uint64_t *hash)
{
    return (struct foreign_probe){.a = hash[0],
                                  .b = f->format->words > 1 ? hash[1] : 0,
                                  .bits = part->log2_bits ? UINT64_C(1) << part->log2_bits
                                                          : part->bits,
                                  .variant = f->variant};
}

static bool is_set(const struct foreign_part *part, uint64_t at)
{
    return part->body[at / 8] >> at % 8 & 1;
}

/* Looks up a few keys in one part; keys that were found before stay found. */
static void look_up_lot(const struct foreign *f, const struct foreign_part *part,
                        const uint64_t *hash, size_t n, uint8_t *found)
{
    struct foreign_probe probe[LOT];
    uint64_t at[LOT];
    for (size_t j = 0; j < n; j++) {
        probe[j] = probe_of(f, part, hash + j * f->format->words);
        at[j] = f->format->next(&probe[j]);
        __builtin_prefetch(part->body + at[j] / 8);
    }
    for (size_t j = 0; j < n; j++) {
        bool all = !found[j] && is_set(part, at[j]);
        for (uint32_t i = 1; i < part->hashes && all; i++)
            all = is_set(part, f->format->next(&probe[j]));
        found[j] |= all;
    }
}

void foreign_contains(const struct foreign *f, const uint64_t *hash, size_t n, uint8_t *found)
{
    memset(found, 0, n);
    for (size_t from = 0; from < n; from += LOT) {
        const size_t some = n - from < LOT ? n - from : LOT;
        for (size_t i = f->n_parts; i > 0; i--) /* the newest part is the largest */
            look_up_lot(f, &f->part[i - 1], hash + from * f->format->words, some, found + from);
    }
}

static void set_bits(const struct foreign *f, struct foreign_part *part, const uint64_t *hash)
{
    struct foreign_probe p = probe_of(f, part, hash);
    for (uint32_t i = 0; i < part->hashes; i++) {
        const uint64_t at = f->format->next(&p);
        part->body[at / 8] |= (uint8_t)(1u << at % 8);
    }
}

int foreign_add(struct foreign *f, const uint64_t *hash, size_t n, uint8_t *is_new, size_t *done,
                deja_error *err)
{
    for (*done = 0; *done < n; ++*done, hash += f->format->words) {
        uint8_t found;
        foreign_contains(f, hash, 1, &found);
        is_new[*done] = !found;
        if (found)
            continue;
        const int rc = f->format->make_room ? f->format->make_room(f, err) : DEJA_OK;
        if (rc < 0)
            return rc;
        struct foreign_part *last = &f->part[f->n_parts - 1];
        set_bits(f, last, hash);
        last->keys++;
        f->keys++;
    }
    return DEJA_OK;
}

/* --- Estimates ---------------------------------------------------------------------- */

uint64_t foreign_bits_set(const struct foreign_part *part)
{
    const uint64_t whole = part->bits / 8;
    uint64_t sum = 0, i = 0, word;
    for (; i + 8 <= whole; i += 8) {
        memcpy(&word, part->body + i, sizeof word);
        sum += (uint64_t)__builtin_popcountll(word);
    }
    for (; i < whole; i++)
        sum += (uint64_t)__builtin_popcount(part->body[i]);
    if (part->bits % 8) /* ignore bits after the last one */
        sum += (uint64_t)__builtin_popcount(part->body[whole] & ((1u << part->bits % 8) - 1));
    return sum;
}

double foreign_distinct(const struct foreign_part *part, uint64_t bits_set)
{
    const double m = (double)part->bits, k = part->hashes;
    if (bits_set == 0)
        return 0;
    if (bits_set >= part->bits) /* any number of keys; also avoids log(0) if m is 1 */
        return (double)INFINITY;
    return log1p(-(double)bits_set / m) / (k * log1p(-1 / m));
}

static double rate_of(const struct foreign *f, const struct foreign_part *part)
{
    if (f->format->rate)
        return f->format->rate(f, part);
    return pow((double)foreign_bits_set(part) / (double)part->bits, part->hashes);
}

double foreign_rate(const struct foreign *f)
{
    double absent = 0; /* logarithm of the chance that no part claims a key */
    for (size_t i = 0; i < f->n_parts; i++)
        absent += log1p(-rate_of(f, &f->part[i]));
    return -expm1(absent);
}

/* --- Checks -------------------------------------------------------------------------- */

int foreign_check_wish(uint64_t n, double p, deja_error *err)
{
    if (n > 0 && n <= UINT64_C(1) << 53 && p > 0 && p < 1)
        return DEJA_OK;
    return fail(err, DEJA_EINVAL, "a filter holds 1 to 2^53 keys, at a rate between 0 and 1");
}

int foreign_check_hashes(uint64_t hashes, deja_error *err)
{
    if (hashes > 0 && hashes <= FOREIGN_MAX_HASHES)
        return DEJA_OK;
    return fail(err, DEJA_EFORMAT, "its number of hash functions is %" PRIu64 ", not 1 to %d",
                hashes, FOREIGN_MAX_HASHES);
}

int foreign_check_bits(uint64_t bits, deja_error *err)
{
    if (bits > 0 && bits <= FOREIGN_MAX_BITS)
        return DEJA_OK;
    return fail(err, DEJA_EFORMAT, "its number of bits is %" PRIu64 ", not 1 to 2^53", bits);
}
