/* commands.h - filters with edited headers, and sequences of commands on them, decoded from
 * bytes.
 *
 * The bytes come from a fuzzer, or at random from a property test.  The first ones select a
 * filter from a list that has every kind.  The filter is exported, fields of its header and
 * record are edited, all checksums are recomputed, and it is imported.  If it is accepted,
 * commands run on it.  After each command, whether it failed or not, the filter must survive: its
 * export can be imported and gives the same answers, and so does its file.
 *
 * All memory of filters goes through an allocator with a limit far above what any valid filter
 * here needs, so an allocation whose size comes from a crafted number ends the process. */
#ifndef TEST_COMMANDS_H
#define TEST_COMMANDS_H
#include "core/base/compiler.h"
#include "core/hash/hash.h"
#include "deja.h"
#include "doubles.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS_MEMORY  ((size_t)64 << 20) /* of all filters at once */
#define COMMANDS_WHOLE   ((size_t)64 << 10) /* larger ones: only the header is loaded again */
#define COMMANDS_KEYS    96u
#define COMMANDS_FILTERS 26u
#define COMMANDS_FIRST   22u /* chosen by the bytes below 242; older tapes know only these */
#define COMMANDS_MERGED  24u /* has parts of another filter */
#define COMMANDS_SPREAD  25u /* with spread counters */

/* --- Input bytes ------------------------------------------------------------ */

struct tape {
    const uint8_t *at, *end;
    uint64_t name; /* for messages: the seed of a property test */
};

static inline void commands_check(const struct tape *t, bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "commands.h:%d: %s (tape %llu)\n", line, what, (unsigned long long)t->name);
    abort();
}
#define HOLDS(t, condition) commands_check(t, condition, #condition, __LINE__)

/* The next byte; zeros after the end. */
static inline unsigned tape_byte(struct tape *t)
{
    return t->at < t->end ? *t->at++ : 0;
}

static inline uint64_t tape_number(struct tape *t, unsigned bytes)
{
    uint64_t number = 0;
    while (bytes--)
        number = number << 8 | tape_byte(t);
    return number;
}

/* A number that is likely to break a header. */
static inline uint64_t tape_odd_number(struct tape *t)
{
    const unsigned how = tape_byte(t);
    switch (how % 6) {
    case 0:
        return tape_byte(t);
    case 1:
        return UINT64_C(1) << tape_byte(t) % 64;
    case 2:
        return (UINT64_C(1) << tape_byte(t) % 64) - 1;
    case 3:
        return UINT64_MAX - tape_byte(t);
    case 4:
        return tape_number(t, 2);
    }
    return tape_number(t, 8);
}

static inline double tape_odd_double(struct tape *t)
{
    static const double list[] = {1e-308, 1e-300, 1e-30, 1e-9,     1e-6, 0.01,
                                  0.5,    0.7,    0.9,   1 - 1e-9, 1,    1e300};
    const unsigned how = tape_byte(t);
    double real;
    if (how % 4)
        return list[how / 4 % DJ_ARRAY_LEN(list)];
    const uint64_t bits = tape_number(t, 8);
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* --- Memory -------------------------------------------------------------------- */

struct limited {
    deja_allocator hook;
    const struct tape *tape;
    size_t now;
};

static inline void *limited_alloc(void *ctx, size_t size, size_t align)
{
    struct limited *m = ctx;
    void *p = NULL;
    HOLDS(m->tape, size <= COMMANDS_MEMORY && m->now + size <= COMMANDS_MEMORY);
    if (posix_memalign(&p, align < sizeof p ? sizeof p : align, size ? size : 1))
        return NULL;
    m->now += size;
    return p;
}

static inline void limited_free(void *ctx, void *p, size_t size)
{
    struct limited *m = ctx;
    m->now -= size;
    free(p);
}

/* --- Initial filters -------------------------------------------------------------- */

static inline deja_options commands_options(unsigned which)
{
    static const deja_options list[] = {
        {.kind = DEJA_BLOCKED, .capacity = 60, .fp_rate = 0.01},
        {.kind = DEJA_BLOCKED, .capacity = 60, .memory = 4096},
        {.kind = DEJA_BLOCKED, .capacity = 60, .fp_rate = 1e-4, .filters = 3},
        {.kind = DEJA_CLASSIC, .capacity = 60, .fp_rate = 0.01},
        {.kind = DEJA_CLASSIC, .capacity = 60, .memory = 2048},
        {.kind = DEJA_CLASSIC,
         .capacity = 60,
         .hashes = 3,
         .multiplier = 2,
         .hash = DEJA_HASH_MURMUR3},
        {.kind = DEJA_CLASSIC,
         .capacity = 60,
         .fp_rate = 1e-4,
         .filters = 2,
         .hash = DEJA_HASH_SHA1},
        {.kind = DEJA_SPECTRAL, .capacity = 60, .fp_rate = 0.01},
        {.kind = DEJA_SPECTRAL, .capacity = 60, .fp_rate = 0.01, .filters = 2, .counter_bits = 8},
        {.kind = DEJA_SPECTRAL, .capacity = 60, .fp_rate = 0.01, .flags = DEJA_MINIMAL_INCREASE},
        {.kind = DEJA_PAIRED, .capacity = 60, .fp_rate = 0.01},
        {.kind = DEJA_SCALABLE, .capacity = 20, .fp_rate = 0.01},
        {.kind = DEJA_SCALABLE,
         .capacity = 20,
         .fp_rate = 0.01,
         .part_kind = DEJA_CLASSIC,
         .growth = 4,
         .tightening = 0.5},
        {.kind = DEJA_SCALABLE, .capacity = 8, .part_kind = DEJA_EXACT, .growth = 1},
        {.kind = DEJA_SCALABLE, .capacity = 8, .fp_rate = 0.01, .growth = 1, .tightening = 1e-9},
        {.kind = DEJA_WINDOW, .capacity = 40, .fp_rate = 0.01, .generations = 3},
        {.kind = DEJA_WINDOW,
         .capacity = 40,
         .fp_rate = 0.01,
         .generations = 2,
         .window_seconds = 100},
        {.kind = DEJA_EXACT, .capacity = 60},
        {.kind = DEJA_LAYERED, .capacity = 60, .fp_rate = 0.01},
        {.kind = DEJA_LAYERED,
         .capacity = 60,
         .fp_rate = 0.01,
         .flags = DEJA_LAYERED_PAPER,
         .layers = 3},
        {.kind = DEJA_LAYERED, .capacity = 60, .fp_rate = 0.01, .flags = DEJA_LAYERED_WORDS},
        {.kind = DEJA_STATIC, .fingerprint_bits = 8},
        {.kind = DEJA_EXACT, .capacity = 60, .flags = DEJA_DATES},
        {.kind = DEJA_SCALABLE,
         .capacity = 8,
         .part_kind = DEJA_EXACT,
         .growth = 2,
         .flags = DEJA_DATES},
        {.kind = DEJA_SCALABLE, .capacity = 20, .fp_rate = 0.01},
        {.kind = DEJA_SPECTRAL, .capacity = 60, .fp_rate = 0.01, .flags = DEJA_SPREAD},
    };
    _Static_assert(DJ_ARRAY_LEN(list) == COMMANDS_FILTERS,
                   "COMMANDS_FILTERS is the length of the list");
    deja_options opt = list[which];
    opt.size = sizeof opt;
    opt.seed = 1;
    return opt;
}

/* Key i: a URL with a few layers, or words. */
struct commands_key {
    char text[40];
};

static inline deja_slice commands_key(unsigned i, struct commands_key *k)
{
    const int len = snprintf(k->text, sizeof k->text, "http://h%u/%u/a b%u", i % 5, i % 11, i);
    return (deja_slice){k->text, (size_t)len};
}

/* --- A filter under commands ------------------------------------------------------ */

struct patient {
    struct tape *tape;
    struct limited *memory;
    deja_filter *f;
    deja_filter *other; /* a second filter to merge with; may be NULL */
    const char *path;   /* where a file can be created; NULL: nowhere */
    bool in_file;
    uint32_t kind;
    uint64_t now;
};

static inline deja_options commands_expect(const struct limited *memory)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    expect.alloc = &memory->hook;
    return expect;
}

/* Sets the time of a filter that depends on it. */
static inline void commands_tell_time(const struct patient *p, deja_filter *f)
{
    if (p->kind == DEJA_WINDOW || deja_filter_can(f, DEJA_CAN_DATE))
        HOLDS(p->tape, deja_filter_set_clock(f, p->now, NULL) == DEJA_OK);
}

static inline uint8_t *commands_export(const struct tape *t, const deja_filter *f, size_t *len)
{
    *len = (size_t)deja_filter_export_len(f);
    uint8_t *bytes = malloc(*len);
    HOLDS(t, bytes && deja_filter_export(f, 0, bytes, *len) == *len);
    return bytes;
}

static inline void commands_same(const struct patient *p, const deja_filter *again)
{
    struct commands_key room;
    for (unsigned i = 0; i < COMMANDS_KEYS; i++) {
        const deja_slice key = commands_key(i, &room);
        uint64_t one = 0, two = 0;
        HOLDS(p->tape, deja_filter_contains(p->f, key) == deja_filter_contains(again, key));
        HOLDS(p->tape, deja_filter_count(p->f, key, &one, NULL) ==
                           deja_filter_count(again, key, &two, NULL));
        HOLDS(p->tape, one == two);
        deja_days days = {0, 0}, again_days = {0, 0};
        HOLDS(p->tape, deja_filter_days(p->f, key, &days, NULL) ==
                           deja_filter_days(again, key, &again_days, NULL));
        HOLDS(p->tape, memcmp(&days, &again_days, sizeof days) == 0);
    }
}

/* Its export can be imported, and its file can be opened, with the same answers. */
static inline void commands_survives(const struct patient *p)
{
    const deja_options expect = commands_expect(p->memory);
    deja_filter *again = NULL;
    deja_error err = {0};
    if (deja_filter_export_len(p->f) > COMMANDS_WHOLE) {
        uint8_t page[4096];
        deja_import *im = NULL;
        HOLDS(p->tape, deja_filter_export(p->f, 0, page, sizeof page) == sizeof page);
        HOLDS(p->tape, deja_import_new(0, &expect, &im, NULL) == DEJA_OK);
        HOLDS(p->tape, deja_import_write(im, page, sizeof page, &err) == DEJA_OK);
        deja_import_free(im);
        return;
    }
    size_t len;
    uint8_t *bytes = commands_export(p->tape, p->f, &len);
    const int rc = deja_filter_import(bytes, len, &expect, &again, &err);
    if (rc < 0)
        fprintf(stderr, "import: %s\n", err.text);
    HOLDS(p->tape, rc == DEJA_OK);
    commands_tell_time(p, again);
    commands_same(p, again);
    deja_filter_free(again);
    free(bytes);
}

static inline void commands_file_survives(const struct patient *p)
{
    const deja_options expect = commands_expect(p->memory);
    deja_filter *again = NULL;
    deja_error err = {0};
    HOLDS(p->tape, deja_file_verify(p->path, &err) == DEJA_OK);
    HOLDS(p->tape, deja_filter_open(p->path, 0, &expect, &again, &err) == DEJA_OK);
    commands_tell_time(p, again);
    commands_same(p, again);
    deja_filter_free(again);
}

/* --- Commands ---------------------------------------------------------------------- */

static inline void commands_add(struct patient *p)
{
    const unsigned from = tape_byte(p->tape), n = tape_byte(p->tape) % 40;
    struct commands_key room;
    for (unsigned i = 0; i < n; i++) {
        const deja_slice key = commands_key((from + i) % COMMANDS_KEYS, &room);
        const int rc = deja_filter_add(p->f, key, NULL, NULL);
        HOLDS(p->tape, rc == DEJA_OK || rc == DEJA_EFULL || rc == DEJA_ENOTSUP);
        if (rc == DEJA_OK && p->kind != DEJA_PAIRED)
            HOLDS(p->tape, deja_filter_contains(p->f, key));
    }
}

/* Drops the keys that were last seen before this day: as many as `older` counts, and no others. */
static inline void commands_expire(struct patient *p, uint32_t before)
{
    uint64_t old = 0, removed = 0;
    deja_stats s = DEJA_STATS_INIT;
    deja_error err = {0};
    HOLDS(p->tape, deja_filter_older(p->f, before, &old, NULL) == DEJA_OK);
    const int rc = deja_filter_expire(p->f, before, &removed, &err);
    HOLDS(p->tape, rc == DEJA_OK || err.text[0]);
    if (rc < 0)
        return;
    HOLDS(p->tape, removed == old);
    HOLDS(p->tape, deja_filter_stats(p->f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK);
    HOLDS(p->tape, !s.keys || s.oldest_day >= before);
}

static inline void commands_remove(struct patient *p)
{
    const unsigned from = tape_byte(p->tape), n = tape_byte(p->tape) % 40;
    struct commands_key room;
    for (unsigned i = 0; i < n; i++) {
        const deja_slice key = commands_key((from + i) % COMMANDS_KEYS, &room);
        const int rc = deja_filter_remove(p->f, key, NULL, NULL);
        HOLDS(p->tape, rc == DEJA_OK || rc == DEJA_ENOTSUP);
    }
    if (deja_filter_can(p->f, DEJA_CAN_DATE))
        commands_expire(p, from);
}

/* A failure has a message; the checks that follow verify that nothing changed. */
static inline void commands_said(const struct patient *p, int rc, const deja_error *err)
{
    HOLDS(p->tape, rc == DEJA_OK || (err->status == rc && err->text[0]));
    HOLDS(p->tape, rc != DEJA_ENOMEM && rc != DEJA_EIO);
}

static inline void commands_rotate(struct patient *p)
{
    deja_options next = DEJA_OPTIONS_INIT;
    deja_error err = {0};
    const unsigned how = tape_byte(p->tape);
    if (how & 1)
        next.capacity = 1 + tape_number(p->tape, 1);
    if (how & 2)
        next.fp_rate = how & 4 ? 0.01 : 0.2;
    if (how & 8 && p->kind == DEJA_PAIRED)
        next.deletions = 1 + tape_number(p->tape, 1);
    commands_said(p, deja_filter_rotate(p->f, how ? &next : NULL, &err), &err);
}

static inline void commands_stats(const struct patient *p)
{
    deja_stats s = DEJA_STATS_INIT;
    deja_stats o = DEJA_STATS_INIT;
    HOLDS(p->tape, deja_filter_stats(p->f, DEJA_STATS_BODY, &s, NULL) == DEJA_OK);
    HOLDS(p->tape, deja_filter_stats(p->f, 0, &o, NULL) == DEJA_OK);
    HOLDS(p->tape, s.parts == o.parts && s.bytes == o.bytes);
    HOLDS(p->tape, s.fill >= 0 && s.fill <= 1 && s.fp_now >= 0 && s.lost >= 0);
}

/* Continue with the filter as another process would load it; that process's clock may be slow. */
static inline void commands_reload(struct patient *p)
{
    const deja_options expect = commands_expect(p->memory);
    deja_filter *again = NULL;
    deja_error err = {0};
    size_t len;
    if (deja_filter_export_len(p->f) > COMMANDS_WHOLE)
        return;
    uint8_t *bytes = commands_export(p->tape, p->f, &len);
    HOLDS(p->tape, deja_filter_import(bytes, len, &expect, &again, &err) == DEJA_OK);
    free(bytes);
    deja_filter_free(p->f);
    if (p->in_file)
        unlink(p->path);
    p->in_file = false;
    p->f = again;
    if (p->kind == DEJA_WINDOW)
        p->now = 1000 + tape_number(p->tape, 2);
    commands_tell_time(p, p->f);
}

static inline void commands_clock(struct patient *p)
{
    p->now += tape_number(p->tape, 1) * (deja_filter_can(p->f, DEJA_CAN_DATE) ? 86400 : 1);
    commands_tell_time(p, p->f);
}

static inline void commands_sync(struct patient *p)
{
    deja_error err = {0};
    if (!p->in_file)
        return;
    HOLDS(p->tape, deja_filter_sync(p->f, &err) == DEJA_OK);
    commands_file_survives(p);
}

static inline void commands_copy(struct patient *p)
{
    deja_filter *copy = NULL;
    deja_error err = {0};
    if (!p->path || p->in_file || deja_filter_export_len(p->f) > COMMANDS_WHOLE)
        return;
    HOLDS(p->tape, deja_filter_copy(p->f, p->path, 0, &copy, &err) == DEJA_OK);
    commands_tell_time(p, copy);
    commands_same(p, copy);
    deja_filter_free(p->f);
    p->f = copy;
    p->in_file = true;
    commands_sync(p);
}

static inline void commands_merge(struct patient *p)
{
    deja_error err = {0};
    if (p->other)
        commands_said(p, deja_filter_merge(p->f, p->other, &err), &err);
}

static inline void commands_fold(struct patient *p)
{
    deja_error err = {0};
    commands_said(p, deja_filter_fold(p->f, tape_byte(p->tape) % 4, &err), &err);
}

static inline void commands_one(struct patient *p)
{
    switch (tape_byte(p->tape) % 12) {
    case 0:
    case 1:
    case 2:
        commands_add(p);
        break;
    case 3:
        commands_remove(p);
        break;
    case 4:
        commands_fold(p);
        break;
    case 5:
        commands_rotate(p);
        break;
    case 6:
        commands_merge(p);
        break;
    case 7:
        commands_clock(p);
        break;
    case 8:
        commands_reload(p);
        break;
    case 9:
        commands_copy(p);
        break;
    case 10:
        commands_sync(p);
        break;
    default:
        commands_stats(p);
        break;
    }
    commands_survives(p);
}

/* --- Headers ------------------------------------------------------------------------ */

enum commands_type {
    U32,
    U64,
    REAL
};
static const struct {
    uint16_t at;
    uint8_t type;
} commands_fields[] = {
    {16, U32},   {20, U32},   {24, U32},   {28, U32},   {32, U64},   {40, REAL},   {48, U32},
    {52, U32},   {56, REAL},  {64, U64},   {72, U32},   {76, U32},   {120, U64},   {136, U32},
    {144, U32},  {148, U32},  {152, U32},  {160, U64},  {168, U64},  {176, U64},   {184, REAL},
    {192, REAL}, {200, U64},  {208, U32},  {212, U32},  {216, U32},  {224, U64},   {232, U64},
    {304, U32},  {312, U64},  {328, U64},                            /* the header ...         */
    {512, U64},  {520, U32},  {524, U32},  {528, U64},  {536, REAL}, /* ... its first part ... */
    {576, U64},  {584, U32},  {588, U32},  {592, U64},  {600, REAL}, /* ... and its second ... */
    {3072, U64}, {3080, U32}, {3088, U64}, {3112, U64}, {3120, U64}, /* ... and its record     */
    {3128, U64}, {3136, U64}, {3376, U64}, {3384, U64}, {3392, U64}, {3400, REAL}, {3408, U64},
    {3416, U64}, {3424, U64}, {3432, U64}, {3440, U64}, {3448, U64}, {3504, U64},  {336, U32},
    {560, U32},  {624, U32},  {2600, U64}, {2608, U32}, {2612, U32}, /* merged parts */
};

static inline void commands_set(uint8_t *at, unsigned type, uint64_t number, double real)
{
    if (type == U32)
        dj_store32(at, (uint32_t)number);
    else if (type == U64)
        dj_store64(at, number);
    else
        dj_store_double(at, real);
}

/* Some numbers are stored in several places; a single changed copy is detected early. */
static inline void commands_edit_alike(struct tape *t, uint8_t *bytes)
{
    const uint32_t parts = dj_load32(bytes + 76);
    const unsigned what = tape_byte(t) % 4;
    const uint64_t number = tape_odd_number(t);
    const double real = what == 1 ? tape_odd_double(t) : 0;
    if (what == 0)
        dj_store64(bytes + 32, number);
    if (what == 1)
        dj_store_double(bytes + 40, real);
    for (uint32_t i = 0; i < parts && i < 32; i++) {
        if (what == 0)
            dj_store64(bytes + 512 + 64 * i + 16, number);
        else if (what == 1)
            dj_store_double(bytes + 512 + 64 * i + 24, real);
        else if (what == 2)
            dj_store64(bytes + 3072 + 40 + 8 * i, number); /* claimed keys */
        else
            dj_store64(bytes + 512 + 64 * i + 8, number % 65); /* k */
    }
}

/* A series with the sizes that growth and tightening imply, whatever they are. */
static inline void commands_edit_series(struct tape *t, uint8_t *bytes)
{
    const double p = dj_load_double(bytes + 40), tight = tape_odd_double(t);
    const uint64_t growth = 1 + tape_number(t, 2) % 1024;
    uint64_t capacity = dj_load64(bytes + 32);
    double rate = p * (1 - tight);
    dj_store32(bytes + 48, (uint32_t)growth);
    dj_store_double(bytes + 56, tight);
    for (uint32_t i = 0; i < dj_load32(bytes + 76) && i < 32; i++) {
        dj_store64(bytes + 512 + 64 * i + 16, capacity);
        dj_store_double(bytes + 512 + 64 * i + 24, rate);
        capacity *= growth;
        rate *= tight;
    }
}

static inline void commands_repair(uint8_t *bytes, size_t len)
{
    dj_store64(bytes + 80, dj_key_derive(bytes + 88, DJ_STREAM_CHECK, 0));
    if (dj_load32(bytes + 336))
        dj_store64(bytes + 344, dj_checksum(bytes + 2568, 504));
    dj_store64(bytes + 2560, dj_checksum(bytes, 2560));
    dj_store64(bytes + 3072 + 24, dj_checksum(bytes + 4096, len - 4096));
    dj_store64(bytes + 3072 + 296, dj_load64(bytes + 2560));
    dj_store64(bytes + 3072 + 504, dj_checksum(bytes + 3072, 504));
}

static inline void commands_edit(struct tape *t, uint8_t *bytes, size_t len)
{
    for (unsigned n = tape_byte(t) % 8; n; n--) {
        const unsigned which = tape_byte(t);
        const size_t fields = DJ_ARRAY_LEN(commands_fields);
        if (which < fields) {
            const unsigned type = commands_fields[which].type;
            commands_set(bytes + commands_fields[which].at, type,
                         type == REAL ? 0 : tape_odd_number(t),
                         type == REAL ? tape_odd_double(t) : 0);
        } else if (which % 3 == 0) {
            commands_edit_alike(t, bytes);
        } else if (which % 3 == 1) {
            commands_edit_series(t, bytes);
        } else {
            bytes[4096 + tape_number(t, 2) % (len - 4096)] = (uint8_t)tape_byte(t);
        }
    }
    commands_repair(bytes, len);
}

/* --- Running a tape -------------------------------------------------------------------- */

/* Adds the parts of a filter with the same keys and a different secret. */
static inline void commands_begin_merged(struct tape *t, deja_filter *f, deja_options opt)
{
    deja_filter *second = NULL;
    struct commands_key room;
    opt.seed = 2;
    HOLDS(t, deja_filter_new(&opt, &second, NULL) == DEJA_OK);
    for (unsigned i = 0; i < 30; i++)
        HOLDS(t, deja_filter_add(second, commands_key(i, &room), NULL, NULL) == DEJA_OK);
    HOLDS(t, deja_filter_merge(f, second, NULL) == DEJA_OK);
    deja_filter_free(second);
}

static inline deja_filter *commands_begin(struct tape *t, const struct limited *memory,
                                          unsigned which)
{
    deja_options opt = commands_options(which);
    deja_filter *f = NULL;
    struct commands_key room;
    deja_error err = {0};
    opt.alloc = &memory->hook;
    if (opt.kind == DEJA_STATIC) {
        deja_builder *b = NULL;
        HOLDS(t, deja_builder_new(&opt, &b, &err) == DEJA_OK);
        for (unsigned i = 0; i < 30; i++) {
            const deja_slice key = commands_key(i, &room);
            HOLDS(t, deja_builder_add_batch(b, &key, 1, NULL) == DEJA_OK);
        }
        HOLDS(t, deja_builder_finish(b, NULL, 0, &f, &err) == DEJA_OK);
        deja_builder_free(b);
        return f;
    }
    HOLDS(t, deja_filter_new(&opt, &f, &err) == DEJA_OK);
    if (opt.kind == DEJA_WINDOW || opt.flags & DEJA_DATES)
        HOLDS(t, deja_filter_set_clock(f, 100000, NULL) == DEJA_OK);
    for (unsigned i = 0; i < 30; i++) {
        const int rc = deja_filter_add(f, commands_key(i, &room), NULL, NULL);
        HOLDS(t, rc == DEJA_OK || rc == DEJA_EFULL);
    }
    if (which % COMMANDS_FILTERS == COMMANDS_MERGED)
        commands_begin_merged(t, f, opt);
    return f;
}

/* Its bytes, computed once for all tapes: sizing a filter takes longer than most commands. */
static inline const uint8_t *commands_bytes(struct tape *t, unsigned which, size_t *len)
{
    static struct {
        uint8_t *bytes;
        size_t len;
    } made[COMMANDS_FILTERS];
    which = which < 242   ? which % COMMANDS_FIRST
            : which < 254 ? COMMANDS_FIRST + which % 2
                          : COMMANDS_SPREAD;
    if (!made[which].bytes) {
        struct limited memory = {.tape = t};
        memory.hook = (deja_allocator){limited_alloc, limited_free, &memory};
        deja_filter *f = commands_begin(t, &memory, which);
        made[which].bytes = commands_export(t, f, &made[which].len);
        deja_filter_free(f);
    }
    *len = made[which].len;
    return made[which].bytes;
}

/* Returns whether the edited filter was accepted. path: a file name, or NULL. */
static inline bool commands_run(struct tape *t, const char *path, bool edit)
{
    struct limited memory = {.tape = t};
    memory.hook = (deja_allocator){limited_alloc, limited_free, &memory};
    const deja_options expect = commands_expect(&memory);
    deja_error err = {0};
    deja_stats o = DEJA_STATS_INIT;
    const unsigned which = tape_byte(t);
    struct patient p = {.tape = t, .memory = &memory, .path = path, .now = 100000};
    size_t len;
    const uint8_t *sound = commands_bytes(t, which, &len);
    uint8_t *bytes = malloc(len);
    HOLDS(t, bytes && deja_filter_import(sound, len, &expect, &p.other, &err) == DEJA_OK);
    memcpy(bytes, sound, len);
    if (edit)
        commands_edit(t, bytes, len);
    const int rc = deja_filter_import(bytes, len, &expect, &p.f, &err);
    free(bytes);
    if (rc < 0) {
        HOLDS(t, err.status == rc && err.text[0] && !p.f);
    } else {
        HOLDS(t, deja_filter_stats(p.f, 0, &o, NULL) == DEJA_OK);
        p.kind = o.kind;
        commands_tell_time(&p, p.f);
        commands_survives(&p);
        for (int n = 0; n < 24 && t->at < t->end; n++)
            commands_one(&p);
        if (p.in_file)
            commands_sync(&p);
    }
    deja_filter_free(p.f);
    deja_filter_free(p.other);
    if (path && p.in_file)
        unlink(path);
    HOLDS(t, memory.now == 0);
    return rc == DEJA_OK;
}

#endif
