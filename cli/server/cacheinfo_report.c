/* cacheinfo_report.c - deja info --redis as text and JSON, in the words of deja info. */
#include "cli/server/cacheinfo.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <math.h>
#include <string.h>

#define LABEL 14 /* columns before the text of a line */
#define BAR   40

#define LINE(o, name, ...) (out_printf(o, "  %-*s", LABEL - 2, name), out_printf(o, __VA_ARGS__))

static const struct cacheinfo_server *first_of(const struct cacheinfo *c)
{
    size_t i = 0;
    while (i + 1 < c->n && !c->server[i].answers)
        i++;
    return &c->server[i];
}

/* Keys that fit; 0: it has as many as it was sized for. */
static uint64_t room_of(const deja_stats *s)
{
    return s->capacity > s->keys ? s->capacity - s->keys : 0;
}

static bool is_over(const deja_stats *s)
{
    return s->keys > s->capacity && !deja_kind_can(s->kind, DEJA_CAN_GROW | DEJA_CAN_EXPIRE);
}

static void print_kind(const struct cacheinfo *c, const deja_stats *s, struct out *o)
{
    const struct cacheinfo_server *first = first_of(c);
    const bool grows = deja_kind_can(s->kind, DEJA_CAN_GROW);
    LINE(o, "kind", "%s", deja_kind_name(s->kind));
    if (grows)
        out_printf(o, " of %u %s part%s", s->parts, deja_kind_name(s->part_kind),
                   num_plural(s->parts));
    out_printf(o, "\n");
    LINE(o, "hashing", "%s, k = %u, %s\n", deja_hash_name(s->hash), s->hashes,
         s->keyed ? "secret keys on the server" : "from a seed: reproducible, no protection");
    if (first->shards)
        LINE(o, "URLs", "%s\n",
             first->profile[0] && strcmp(first->profile, "none") != 0
                 ? first->profile
                 : "bytes as given, no profile");
    if (first->shards)
        LINE(o, "shards", "%u filter%s%s, {%s%s:0} to {%s%s:%u}\n", first->shards,
             num_plural(first->shards), c->n > 1 ? " on each server" : "", c->name,
             c->n > 1 ? ".1" : "", c->name, c->n > 1 ? ".1" : "", first->shards - 1);
}

static void print_servers(const struct cacheinfo *c, struct out *o)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct cacheinfo_server *one = &c->server[i];
        const char *title = i == 0 ? c->n > 1 ? "servers" : "server" : "";
        LINE(o, title, "%s", one->address);
        if (!one->answers)
            out_printf(o, ": DOES NOT ANSWER: %s\n", one->why);
        else if (c->n > 1)
            out_printf(o, ": filter %zu of %zu, %s, rate %s\n", i + 1, c->n,
                       num_of(one->s.keys, "key").s, num_rate(one->s.fp_now).s);
        else
            out_printf(o, "\n");
    }
}

static void print_share(struct out *o, const char *name, double share, const char *of_what)
{
    out_printf(o, "  %-*s", LABEL - 2, name);
    out_bar(o, share, BAR);
    out_printf(o, " %s of the %s\n", num_share(share).s, of_what);
}

void cacheinfo_text(const struct cacheinfo *c, struct out *o, bool further)
{
    uint64_t memory;
    const deja_stats s = cacheinfo_all(c, &memory);
    out_printf(o, "%s%s\n", further ? "\n" : "", fail_path(c->name).text);
    print_kind(c, &s, o);
    print_servers(c, o);
    LINE(o, "memory", "%s on the server%s, %s bits per key at capacity\n", num_bytes(memory).s,
         num_plural(c->n), num_fixed(8 * (double)s.bytes / fmax((double)s.capacity, 1), 1).s);
    LINE(o, "capacity", "%s%s\n", num_of(s.capacity, "key").s,
         deja_kind_can(s.kind, DEJA_CAN_GROW)     ? ", then it grows"
         : deja_kind_can(s.kind, DEJA_CAN_EXPIRE) ? ", then it forgets the oldest"
         : is_over(&s)                            ? "; it is PAST its capacity"
                                                  : "");
    LINE(o, "keys", "%s new of %s offered\n", num_count(s.keys).s, num_count(s.offered).s);
    print_share(o, "used", (double)s.keys / fmax((double)s.capacity, 1), "capacity is used");
    print_share(o, "fill", s.fill, "bits are set");
    LINE(o, "rate", "%s now", num_rate(s.fp_now).s);
    out_printf(o, ", %s as requested\n", num_rate(s.fp_rate).s);
    if (c->n == 1)
        LINE(o, "lost", "%s%s\n", s.lost < 0.05 ? "probably no key so far" : "about ",
             s.lost < 0.05 ? "" : num_estimate(s.lost).s);
    LINE(o, "room", "for %s\n", num_of(room_of(&s), "more key").s);
    LINE(o, "visit", "%llu\n", (unsigned long long)s.visit);
}

static void json_servers(const struct cacheinfo *c, struct json *j)
{
    json_array(j, "servers");
    for (size_t i = 0; i < c->n; i++) {
        const struct cacheinfo_server *one = &c->server[i];
        json_object(j, NULL);
        json_string(j, "address", one->address);
        json_bool(j, "answers", one->answers);
        json_string(j, "error", one->answers ? NULL : one->why);
        json_uint(j, "keys", one->s.keys);
        json_uint(j, "bytes", one->s.bytes);
        json_uint(j, "memory", one->memory);
        json_real(j, "fp_now", one->s.fp_now);
        json_end(j);
    }
    json_end(j);
}

static void json_filter(const struct cacheinfo *c, struct json *j)
{
    uint64_t memory;
    const deja_stats s = cacheinfo_all(c, &memory);
    json_uint(j, "shards", first_of(c)->shards);
    json_string(j, "kind", deja_kind_name(s.kind));
    json_string(j, "part_kind", deja_kind_name(s.part_kind));
    json_uint(j, "parts", s.parts);
    json_uint(j, "filters", s.filters);
    json_uint(j, "hashes", s.hashes);
    json_string(j, "hash", deja_hash_name(s.hash));
    json_bool(j, "keyed", s.keyed);
    json_uint(j, "capacity", s.capacity);
    json_real(j, "fp_rate", s.fp_rate);
    json_uint(j, "bits", s.bits);
    json_uint(j, "bytes", s.bytes);
    json_uint(j, "memory", memory);
    json_uint(j, "offered", s.offered);
    json_uint(j, "keys", s.keys);
    json_real(j, "distinct", s.distinct);
    json_uint(j, "bits_set", s.bits_set);
    json_real(j, "fill", s.fill);
    json_real(j, "fp_now", s.fp_now);
    json_real(j, "lost", c->n == 1 ? s.lost : NAN);
    json_uint(j, "room", room_of(&s));
    json_bool(j, "over_capacity", is_over(&s));
    json_uint(j, "visit", s.visit);
    json_uint(j, "unions", s.unions);
    json_uint(j, "folds", s.folds);
    json_uint(j, "removed", s.removed);
    json_uint(j, "refused", s.refused);
}

void cacheinfo_json(const struct cacheinfo *c, struct json *j, const deja_error *failed)
{
    json_object(j, NULL);
    json_string(j, "cache", c->name);
    if (failed)
        json_string(j, "error", failed->text);
    else
        json_filter(c, j);
    json_servers(c, j);
    json_end(j);
}
