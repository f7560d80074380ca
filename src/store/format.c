/* format.c - the bytes of a .deja file: encode, decode, and check every field.
 *
 * The tables (fields.h) list the plain numbers, the enums the offsets of everything else.  Fields
 * that only one kind has are in its own tables.
 *
 * Encoding trusts its struct.  Decoding trusts nothing: bytes may be damaged, crafted, or from a
 * later version.  It checks magic, version and checksum first, then names and ranges, then the
 * fields that depend on them; no number controls a loop or a size before it has been checked. */
#include "store/format.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filter/sound.h"
#include <inttypes.h>
#include <math.h>

/* Like PNG's magic number, it is not text, and a transfer that converts line ends damages it. */
static const uint8_t magic[DJ_MAGIC_LEN] = {'D', 'E', 'J', 'A', '\r', '\n', 0x1a, '\n'};

/* Offsets in the header (docs/format.md). */
enum {
    AT_VERSION = 8,
    AT_HEADER_LEN = 12,
    AT_KIND = 16,
    AT_PART_KIND = 20,
    AT_FLAGS = 72,
    AT_KEY = 88,
    AT_N_OTHERS = 336,
    AT_OTHERS_SUM = 344,
    AT_MACHINE = 504,
    AT_PARTS = 512,
    PART_LEN = 64,
    AT_CHECKSUM = AT_PARTS + DJ_MAX_PARTS * PART_LEN, /* of everything before it */
    AT_OTHERS = AT_CHECKSUM + 8,                      /* other sources; zeros up to the records */
    SOURCE_LEN = 48,
    OTHERS_LEN = DJ_RECORD_A - AT_OTHERS
};
_Static_assert(AT_CHECKSUM == DJ_HEADER_SUM, "format.h has the same offset");
_Static_assert(DJ_MAX_OTHERS *SOURCE_LEN <= OTHERS_LEN, "the sources fit in");

static const struct dj_field header_fields[] = {
    DJ_FIELD(24, struct dj_header, plan.hash),
    DJ_FIELD(28, struct dj_header, plan.filters),
    DJ_FIELD(32, struct dj_header, plan.capacity),
    DJ_FIELD(40, struct dj_header, plan.fp_rate),
    DJ_FIELD(48, struct dj_header, plan.growth),
    DJ_FIELD(52, struct dj_header, plan.profile),
    DJ_FIELD(56, struct dj_header, plan.tightening),
    DJ_FIELD(64, struct dj_header, plan.visit),
    DJ_FIELD(76, struct dj_header, n_parts),
    DJ_FIELD(80, struct dj_header, key_check),
    DJ_FIELD(120, struct dj_header, file_len),
    DJ_FIELD(128, struct dj_header, plan.url_rules),
    DJ_FIELD(136, struct dj_header, plan.shape.counter_bits),
    DJ_FIELD(140, struct dj_header, plan.rules),
    DJ_FIELD(176, struct dj_header, plan.past.visits),
    DJ_FIELD(184, struct dj_header, plan.past.missed),
    DJ_FIELD(192, struct dj_header, plan.past.last_lost),
    DJ_FIELD(200, struct dj_header, plan.past.last_distinct),
    DJ_FIELD(208, struct dj_header, plan.folds),
    DJ_FIELD(320, struct dj_header, plan.multiplier),
    DJ_FIELD(328, struct dj_header, plan.deletions),
};
enum {
    PART_AT = 32 /* in an entry of the part table: the offset of its body */
};
static const struct dj_field part_fields[] = {
    DJ_FIELD(0, struct dj_part, shape.bits), DJ_FIELD(8, struct dj_part, shape.k),
    DJ_FIELD(12, struct dj_part, layer),     DJ_FIELD(16, struct dj_part, capacity),
    DJ_FIELD(24, struct dj_part, fp_rate),   DJ_FIELD(40, struct dj_part, body_len),
    DJ_FIELD(48, struct dj_part, origin),    DJ_FIELD(52, struct dj_part, shape.key_lines),
    DJ_FIELD(56, struct dj_part, marked),
};
/* A source; its key comes first. */
static const struct dj_field source_fields[] = {
    DJ_FIELD(32, struct dj_source, visit),
    DJ_FIELD(40, struct dj_source, rules),
    DJ_FIELD(44, struct dj_source, seeded),
};

enum { /* offsets in a sync record */
    REC_KEYS = 40,
    REC_HEADER = REC_KEYS + 8 * DJ_MAX_PARTS, /* checksum of the header it belongs to */
    REC_SUM = 504
};
static const struct dj_field record_fields[] = {
    DJ_FIELD(0, struct dj_record, sequence),
    DJ_FIELD(8, struct dj_record, state),
    DJ_FIELD(16, struct dj_record, offered),
    DJ_FIELD(24, struct dj_record, checksum),
    DJ_FIELD(32, struct dj_record, time),
    DJ_FIELD(304, struct dj_record, syncs),
    DJ_FIELD(312, struct dj_record, earlier.unions),
    DJ_FIELD(320, struct dj_record, earlier.keys),
    DJ_FIELD(328, struct dj_record, earlier.lost),
};
#define STORE(fields, from, bytes) dj_fields_store(fields, DJ_ARRAY_LEN(fields), from, bytes)
#define LOAD(fields, bytes, to)    dj_fields_load(fields, DJ_ARRAY_LEN(fields), bytes, to)

enum {
    FLAG_SEEDED = 2,
    FLAG_OWN_K = 32,
    FLAG_MERGED = 128,  /* has parts of other filters; older versions refuse it, ... */
    FLAG_TABLE = 256,   /* ... as they do files with a piece table ... */
    FLAG_LINES = 512,   /* ... and those with a part whose keys have several blocks ... */
    FLAG_MARKS = 1024,  /* ... or with a table that has marks, ... */
    FLAG_MACHINE = 4096 /* ... or with one of F filters */
};
/* Flags of the options, as stored. */
static const struct {
    uint32_t option, stored;
} flag_bits[] = {{DEJA_KEY_APART, 1},      {DEJA_MINIMAL_INCREASE, 4}, {DEJA_LAYERED_PAPER, 8},
                 {DEJA_LAYERED_WORDS, 16}, {DEJA_DATES, 64},           {DEJA_SPREAD, 2048}};

static uint32_t encode_flags(const struct dj_plan *plan)
{
    uint32_t flags = (plan->seeded ? FLAG_SEEDED : 0) | (plan->own_k ? FLAG_OWN_K : 0);
    for (size_t i = 0; i < DJ_ARRAY_LEN(flag_bits); i++)
        flags |= plan->flags & flag_bits[i].option ? flag_bits[i].stored : 0;
    return flags;
}

/* False if there is an unknown bit. */
static bool decode_flags(uint32_t flags, struct dj_plan *plan)
{
    plan->seeded = flags & FLAG_SEEDED;
    flags &= ~(uint32_t)FLAG_SEEDED;
    if (plan->rules != DJ_RULES_0_1) {
        plan->own_k = flags & FLAG_OWN_K;
        flags &= ~(uint32_t)FLAG_OWN_K;
    }
    for (size_t i = 0; i < DJ_ARRAY_LEN(flag_bits); i++) {
        plan->flags |= flags & flag_bits[i].stored ? flag_bits[i].option : 0;
        flags &= ~flag_bits[i].stored;
    }
    return flags == 0;
}

/* Bodies shorter than this have no table: one checksum is as fast. */
#define LEAST_WITH_TABLE (UINT64_C(1) << 20)

static uint64_t table_len(const struct dj_header *h)
{
    uint64_t pieces = 0;
    for (uint32_t i = 0; i < h->n_parts; i++)
        pieces += dj_pieces_in(h->part[i].body_len);
    return pieces * DJ_ENTRY_LEN;
}

void dj_header_of(const deja_filter *f, bool for_file, struct dj_header *h)
{
    *h = (struct dj_header){.plan = f->plan, .n_parts = f->n_parts};
    if (!(f->plan.flags & DEJA_KEY_APART))
        memcpy(h->key, f->key, DEJA_KEY_LEN);
    h->key_check = dj_key_derive(f->key, DJ_STREAM_CHECK, 0);
    uint64_t at = DJ_HEADER_LEN;
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        h->part[i].shape = p->shape;
        h->part[i].layer = p->layer;
        h->part[i].origin = p->origin;
        h->part[i].marked = p->marked;
        h->part[i].capacity = p->capacity;
        h->part[i].fp_rate = p->fp_rate;
        h->part[i].body_len = dj_part_body_len(&p->shape);
        h->offset[i] = at;
        at += h->part[i].body_len;
    }
    if (for_file && f->plan.rules != DJ_RULES_0_1 && at - DJ_HEADER_LEN >= LEAST_WITH_TABLE)
        h->table = at;
    h->file_len = at + (h->table ? table_len(h) : 0);
}

static bool is_merged(const struct dj_header *h)
{
    uint32_t any = h->plan.others.n;
    for (uint32_t i = 0; i < h->n_parts; i++)
        any |= h->part[i].origin;
    return any;
}

static bool has_marks(const struct dj_header *h)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < h->n_parts; i++)
        any |= h->part[i].marked;
    return any;
}

static bool has_key_lines(const struct dj_header *h)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < h->n_parts; i++)
        any |= h->part[i].shape.key_lines;
    return any;
}

static void encode_others(const struct dj_others *others, uint8_t page[DJ_HEADER_LEN])
{
    if (!others->n)
        return;
    for (uint32_t i = 0; i < others->n; i++) {
        uint8_t *at = page + AT_OTHERS + i * SOURCE_LEN;
        memcpy(at, others->source[i].key, DEJA_KEY_LEN);
        STORE(source_fields, &others->source[i], at);
    }
    dj_store32(page + AT_N_OTHERS, others->n);
    dj_store64(page + AT_OTHERS_SUM, dj_checksum(page + AT_OTHERS, OTHERS_LEN));
}

void dj_header_encode(const struct dj_header *h, uint8_t page[DJ_HEADER_LEN])
{
    const struct dj_plan *plan = &h->plan;
    memset(page, 0, DJ_RECORD_A);
    memcpy(page, magic, sizeof magic);
    /* deja 0.1 ignores the rules but refuses version 2. */
    dj_store32(page + AT_VERSION, plan->rules == DJ_RULES_0_1 ? 1 : DJ_FORMAT_VERSION);
    dj_store32(page + AT_HEADER_LEN, DJ_HEADER_LEN);
    dj_store32(page + AT_KIND, plan->kind->number);
    dj_store32(page + AT_PART_KIND, plan->part_kind->number);
    STORE(header_fields, h, page);
    dj_store32(page + AT_MACHINE, plan->machine);
    dj_store32(page + AT_FLAGS,
               encode_flags(plan) | (is_merged(h) ? FLAG_MERGED : 0) |
                   (h->table ? FLAG_TABLE : 0) | (has_key_lines(h) ? FLAG_LINES : 0) |
                   (has_marks(h) ? FLAG_MARKS : 0) | (plan->machine ? FLAG_MACHINE : 0));
    encode_others(&plan->others, page);
    memcpy(page + AT_KEY, h->key, DEJA_KEY_LEN);
    dj_fields_store(plan->kind->header.field, plan->kind->header.n, plan, page);
    for (uint32_t i = 0; i < h->n_parts; i++) {
        uint8_t *at = page + AT_PARTS + i * PART_LEN;
        STORE(part_fields, &h->part[i], at);
        dj_store64(at + PART_AT, h->offset[i]);
    }
    dj_store64(page + AT_CHECKSUM, dj_checksum(page, AT_CHECKSUM));
}

uint64_t dj_record_offset(uint64_t sequence)
{
    return sequence % 2 ? DJ_RECORD_A : DJ_RECORD_A + DJ_RECORD_LEN;
}

/* Limits the counts, so that a crafted count cannot overflow and none can exceed the loader's
 * limit. */
static void bound_counts(struct dj_record *r)
{
    uint64_t *const counts[] = {&r->offered, &r->syncs,   &r->earlier.unions, &r->earlier.keys,
                                &r->removed, &r->refused, &r->familiar,       &r->hidden};
    for (size_t i = 0; i < DJ_ARRAY_LEN(counts); i++)
        *counts[i] = dj_count_sum(*counts[i], 0);
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        r->keys[i] = dj_count_sum(r->keys[i], 0);
}

void dj_record_encode(const struct dj_record *record, const struct dj_kind *kind,
                      const uint8_t page[DJ_HEADER_LEN], uint8_t out[DJ_RECORD_LEN])
{
    struct dj_record bounded = *record;
    const struct dj_record *r = &bounded;
    bound_counts(&bounded);
    if (!dj_is_number(bounded.earlier.lost, HUGE_VAL))
        bounded.earlier.lost = 0; /* unknown */
    memset(out, 0, DJ_RECORD_LEN);
    STORE(record_fields, r, out);
    dj_fields_store(kind->record.field, kind->record.n, r, out);
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        dj_store64(out + REC_KEYS + 8 * i, r->keys[i]);
    dj_store64(out + REC_HEADER, dj_load64(page + AT_CHECKSUM));
    dj_store64(out + REC_SUM, dj_checksum(out, REC_SUM));
}

static bool all_zero(const uint8_t *p, size_t len)
{
    uint8_t any = 0;
    for (size_t i = 0; i < len; i++)
        any |= p[i];
    return any == 0;
}

static bool decode_record(const uint8_t page[DJ_HEADER_LEN], const struct dj_kind *kind,
                          uint64_t at, struct dj_record *r)
{
    const uint8_t *in = page + at;
    *r = (struct dj_record){0};
    if (at == DJ_RECORD_A + DJ_RECORD_LEN && all_zero(in, DJ_RECORD_LEN))
        return true; /* a file that was synced once has no second record */
    if (dj_load64(in + REC_SUM) != dj_checksum(in, REC_SUM) ||
        dj_load64(in + REC_HEADER) != dj_load64(page + AT_CHECKSUM))
        return false;
    LOAD(record_fields, in, r);
    if (kind)
        dj_fields_load(kind->record.field, kind->record.n, in, r);
    for (uint32_t i = 0; i < DJ_MAX_PARTS; i++)
        r->keys[i] = dj_load64(in + REC_KEYS + 8 * i);
    bound_counts(r);
    return r->sequence && r->sequence <= DJ_MAX_SEQUENCE && dj_record_offset(r->sequence) == at &&
           (r->state == DJ_SEALED || r->state == DJ_OPEN) &&
           dj_is_number(r->earlier.lost, HUGE_VAL);
}

const struct dj_record *dj_header_latest(const struct dj_header *h)
{
    const struct dj_record *best = NULL;
    for (int i = 0; i < 2; i++)
        if (h->record_ok[i] && h->record[i].sequence &&
            (!best || h->record[i].sequence > best->sequence))
            best = &h->record[i];
    return best;
}

/* Without their flags, the fields of merged parts, lines and marks are reserved. */
static void decode_part(const uint8_t *at, uint32_t flags, struct dj_header *h, uint32_t i)
{
    struct dj_part *p = &h->part[i];
    p->kind = dj_plan_part_kind(&h->plan, i);
    p->shape = (struct dj_shape){.layout = p->kind->layout,
                                 .counter_bits = h->plan.shape.counter_bits,
                                 .no_twins = !dj_hash_is_single(h->plan.hash)};
    LOAD(part_fields, at, p);
    if (!dj_kind_can(h->plan.kind, DEJA_CAN_LAYER))
        p->layer = 0;
    if (!(flags & FLAG_MERGED))
        p->origin = 0;
    if (!(flags & FLAG_LINES))
        p->shape.key_lines = 0;
    if (!(flags & FLAG_MARKS))
        p->marked = 0;
    p->step = i ? h->part[i - 1].step + !p->origin : 0; /* part 0 is in the series */
    h->offset[i] = dj_load64(at + PART_AT);
}

static int check_place(const struct dj_header *h, uint32_t i, uint64_t expected, deja_error *err)
{
    const struct dj_part *p = &h->part[i];
    return h->offset[i] == expected && p->body_len == dj_part_body_len(&p->shape)
               ? DEJA_OK
               : dj_fail(err, DEJA_EFORMAT, "part %u is damaged", i + 1);
}

/* Version 1 always has rules 0, and version 2 never; unknown rules are from a newer version. */
static int check_rules(const uint8_t page[DJ_HEADER_LEN], const struct dj_plan *p, deja_error *err)
{
    if ((dj_load32(page + AT_VERSION) == 1) != (p->rules == DJ_RULES_0_1))
        return dj_fail_damaged(err, "number of the rules");
    return p->rules <= DJ_RULES_NEWEST
               ? DEJA_OK
               : dj_fail(err, DEJA_EVERSION,
                         "the file was written by a newer deja: its rules %" PRIu32
                         " are not known to deja %s",
                         p->rules, deja_version());
}

/* Decodes kinds and hash.  The checksum was correct, so an invalid value here comes from another
 * program or a crafted file. */
static int decode_names(const uint8_t page[DJ_HEADER_LEN], struct dj_plan *p, deja_error *err)
{
    const uint32_t kind = dj_load32(page + AT_KIND);
    p->kind = dj_kind_variant(dj_kind_of(kind), p->flags);
    p->part_kind = dj_kind_variant(dj_kind_of(dj_load32(page + AT_PART_KIND)), p->flags);
    if (!p->kind)
        return dj_fail(err, DEJA_EVERSION, "kind %" PRIu32 " is not known to deja %s", kind,
                       deja_version());
    if (!dj_plan_fits_parts(p->kind, p->part_kind))
        return dj_fail_damaged(err, "part kind");
    if (!deja_hash_name(p->hash))
        return dj_fail(err, DEJA_EVERSION, "hash %" PRIu32 " is not known to deja %s", p->hash,
                       deja_version());
    if (!dj_hash_is_single(p->hash) && !p->kind->any_hash)
        return dj_fail_damaged(err, "hash");
    dj_fields_load(p->kind->header.field, p->kind->header.n, page, p);
    return DEJA_OK;
}

/* Without the flag, the fields of merged parts are reserved. */
static bool has_merged_parts(const uint8_t page[DJ_HEADER_LEN])
{
    return dj_load32(page + AT_FLAGS) & FLAG_MERGED;
}

static bool source_is_sound(const struct dj_source *s)
{
    return s->visit && s->visit <= DJ_MAX_VISIT && s->rules <= DJ_RULES_NEWEST && s->seeded <= 1;
}

/* The header's checksum covers the checksum of the sources, which covers them. */
static int decode_others(const uint8_t page[DJ_HEADER_LEN], struct dj_plan *p, deja_error *err)
{
    struct dj_others *others = &p->others;
    const uint32_t n = has_merged_parts(page) ? dj_load32(page + AT_N_OTHERS) : 0;
    const bool can = dj_kind_can(p->kind, DEJA_CAN_GROW) && !(p->flags & DEJA_KEY_APART);
    const uint64_t sum = dj_checksum(page + AT_OTHERS, OTHERS_LEN);
    if (n > DJ_MAX_OTHERS || (n && !can))
        return dj_fail_damaged(err, "number of merged keys");
    if (n && sum != dj_load64(page + AT_OTHERS_SUM))
        return dj_fail_damaged(err, "list of merged keys");
    for (others->n = 0; others->n < n; others->n++) {
        const uint8_t *at = page + AT_OTHERS + others->n * SOURCE_LEN;
        struct dj_source *s = &others->source[others->n];
        memcpy(s->key, at, DEJA_KEY_LEN);
        LOAD(source_fields, at, s);
        if (!source_is_sound(s))
            return dj_fail_damaged(err, "list of merged keys");
    }
    return all_zero(page + AT_OTHERS + n * SOURCE_LEN, OTHERS_LEN - n * SOURCE_LEN)
               ? DEJA_OK
               : dj_fail_damaged(err, "reserved space of the header");
}

/* Only scalable filters have the flag of merged parts, and a filter has a flag only if it needs
 * it. */
static int check_part_flags(uint32_t flags, const struct dj_header *h, deja_error *err)
{
    const bool merged =
        !(flags & FLAG_MERGED) || (is_merged(h) && dj_kind_can(h->plan.kind, DEJA_CAN_GROW));
    const bool lines = !(flags & FLAG_LINES) || has_key_lines(h);
    const bool marks = !(flags & FLAG_MARKS) || has_marks(h);
    const bool machine = !(flags & FLAG_MACHINE) || h->plan.machine;
    return merged && lines && marks && machine ? DEJA_OK : dj_fail_damaged(err, "part table");
}

static int decode_parts(const uint8_t page[DJ_HEADER_LEN], struct dj_header *h, deja_error *err)
{
    const uint32_t flags = dj_load32(page + AT_FLAGS);
    uint64_t at = DJ_HEADER_LEN;
    for (uint32_t i = 0; i < h->n_parts; i++)
        decode_part(page + AT_PARTS + i * PART_LEN, flags, h, i);
    int rc = check_part_flags(flags, h, err);
    if (rc == DEJA_OK)
        rc = dj_parts_check(&h->plan, h->part, h->n_parts, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < h->n_parts; i++) {
        rc = dj_part_check(&h->plan, &h->part[0], &h->part[i], i, err);
        if (rc == DEJA_OK)
            rc = check_place(h, i, at, err);
        if (rc < 0)
            return rc;
        at += h->part[i].body_len;
    }
    h->plan.shape = h->part[0].shape;
    if (h->plan.kind->take_shapes)
        h->plan.kind->take_shapes(&h->plan, h->part);
    rc = dj_sizes_check(&h->plan, err);
    if (rc < 0)
        return rc;
    if (flags & FLAG_TABLE)
        h->table = at;
    return at + (h->table ? table_len(h) : 0) == h->file_len ? DEJA_OK
                                                             : dj_fail_damaged(err, "file length");
}

bool dj_header_is_magic(const uint8_t start[DJ_MAGIC_LEN])
{
    return memcmp(start, magic, sizeof magic) == 0;
}

static int check_frame(const uint8_t page[DJ_HEADER_LEN], deja_error *err)
{
    if (!dj_header_is_magic(page))
        return dj_fail(err, DEJA_EFORMAT, "not a deja filter file (bad magic)");
    const uint32_t version = dj_load32(page + AT_VERSION);
    if (version > DJ_FORMAT_VERSION)
        return dj_fail(err, DEJA_EVERSION,
                       "format version %" PRIu32 " is newer than deja %s, which reads up to %u",
                       version, deja_version(), DJ_FORMAT_VERSION);
    if (version == 0 || dj_load32(page + AT_HEADER_LEN) != DJ_HEADER_LEN)
        return dj_fail_damaged(err, "format version or header length");
    if (dj_load64(page + AT_CHECKSUM) != dj_checksum(page, AT_CHECKSUM))
        return dj_fail(err, DEJA_EFORMAT, "the header is damaged: its checksum is wrong");
    return DEJA_OK;
}

int dj_header_decode(const uint8_t page[DJ_HEADER_LEN], struct dj_header *h, deja_error *err)
{
    *h = (struct dj_header){0};
    int rc = check_frame(page, err);
    if (rc < 0)
        return rc;
    struct dj_plan *plan = &h->plan;
    LOAD(header_fields, page, h);
    const uint32_t own =
        FLAG_MERGED |
        (plan->rules == DJ_RULES_0_1 ? 0 : FLAG_TABLE | FLAG_LINES | FLAG_MARKS | FLAG_MACHINE);
    const bool known_flags = decode_flags(dj_load32(page + AT_FLAGS) & ~own, plan);
    if (dj_load32(page + AT_FLAGS) & FLAG_MACHINE) /* otherwise the field is reserved */
        plan->machine = dj_load32(page + AT_MACHINE);
    memcpy(h->key, page + AT_KEY, DEJA_KEY_LEN);
    if (!known_flags)
        return dj_fail(err, DEJA_EVERSION, "flags ask for something newer than deja %s",
                       deja_version());
    rc = check_rules(page, plan, err);
    if (rc == DEJA_OK)
        rc = decode_names(page, plan, err);
    if (rc == DEJA_OK)
        rc = decode_others(page, plan, err);
    if (rc == DEJA_OK)
        rc = dj_plan_check(plan, h->n_parts, err);
    if (rc == DEJA_OK)
        rc = decode_parts(page, h, err);
    for (int i = 0; i < 2; i++)
        h->record_ok[i] = decode_record(page, plan->kind,
                                        DJ_RECORD_A + (uint64_t)i * DJ_RECORD_LEN, &h->record[i]);
    return rc;
}
