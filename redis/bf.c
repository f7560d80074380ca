/* bf.c - the commands of RedisBloom, with the same syntax, replies and errors.
 *
 * BF.RESERVE and the others create filters with the options of wish.c.  They work on filters of
 * any kind.
 *
 * A filter that cannot grow is full when it holds as many keys as its capacity, and BF.ADD then
 * fails, as in RedisBloom; this is how the rate is kept.  DEJA.ADD would continue.  In a spectral
 * filter, removals make room again.  A paired filter keeps the bits of removed keys, so its
 * entries include them. */
#include "commands.h"
#include "foreign_value.h"
#include "items.h"
#include "reserve.h"
#include "scaling.h"
#include "wish.h"
#include <string.h>

#define MAX_CAPACITY  ((long long)1 << 30)
#define MAX_EXPANSION 32768 /* of RedisBloom */

/* --- Options of a new filter ----------------------------------------------------- */

/* The functions below reply with an error and return false if an argument is invalid: `bad` if it
 * is not a number, `range` if it is out of range.  In BF.INSERT, some texts differ. */

static bool read_rate(const struct call *c, int i, double *rate, const char *bad,
                      const char *range)
{
    if (RedisModule_StringToDouble(c->argv[i], rate) != REDISMODULE_OK)
        return call_error(c, bad), false;
    return (*rate > 0 && *rate < 1) || (call_error(c, range), false);
}

static bool read_number(const struct call *c, int i, long long least, long long most,
                        long long *number, const char *bad, const char *range)
{
    if (RedisModule_StringToLongLong(c->argv[i], number) != REDISMODULE_OK)
        return call_error(c, bad), false;
    return (*number >= least && *number <= most) || (call_error(c, range), false);
}

static bool read_error(const struct call *c, int i, bool inserting, struct wish *w)
{
    if (inserting)
        return read_rate(c, i, &w->error, "Bad error rate", "Bad error rate");
    return read_rate(c, i, &w->error, "ERR bad error rate",
                     "ERR error rate must be in the range (0.000000, 1.000000)");
}

static bool read_capacity(const struct call *c, int i, bool inserting, struct wish *w)
{
    if (inserting)
        return read_number(c, i, 1, MAX_CAPACITY, &w->capacity, "Bad capacity", "Bad capacity");
    return read_number(c, i, 1, MAX_CAPACITY, &w->capacity, "ERR bad capacity",
                       "ERR capacity must be in the range [1, 1073741824]");
}

/* In BF.RESERVE, the range is checked after everything else. */
static bool read_expansion(const struct call *c, int i, bool inserting, struct wish *w)
{
    w->expanding = true;
    if (inserting)
        return read_number(c, i, 0, MAX_EXPANSION, &w->expansion, "Bad expansion",
                           "Bad expansion");
    return read_number(c, i, LLONG_MIN, LLONG_MAX, &w->expansion, "ERR bad expansion", "");
}

static bool read_tightening(const struct call *c, int i, struct wish *w)
{
    static const char bad[] = "ERR bad tightening ratio";
    return read_rate(c, i, &w->tightening, bad, bad);
}

static bool read_scale_to(const struct call *c, int i, struct wish *w)
{
    static const char bad[] = "ERR bad capacity";
    return read_number(c, i, 1, LLONG_MAX, &w->scale_to, bad, bad);
}

static bool read_seed(const struct call *c, int i, struct wish *w)
{
    size_t len;
    w->key = RedisModule_StringPtrLen(c->argv[i], &len);
    return len == DEJA_KEY_LEN || (call_error(c, "ERR invalid seed"), false);
}

/* --- RESERVE ------------------------------------------------------------------ */

static bool check_expansion(const struct call *c, const struct wish *w)
{
    const char *why = NULL;
    if (w->expanding && w->nonscaling && w->expansion != 0)
        why = "Nonscaling filters cannot expand";
    else if (w->expansion < 0 || w->expansion > MAX_EXPANSION)
        why = "ERR expansion must be in the range [0, 32768]";
    return !why || (call_error(c, why), false);
}

static bool read_reserve(const struct call *c, struct wish *w)
{
    if (!read_error(c, 2, false, w) || !read_capacity(c, 3, false, w))
        return false;
    for (int i = 4; i < c->argc; i++) {
        if (call_word_is(c, i, "NONSCALING"))
            w->nonscaling = true;
        else if (!call_word_is(c, i, "EXPANSION"))
            return call_error(c, "Unknown argument received"), false;
        else if (++i == c->argc)
            return call_error(c, "ERR no expansion"), false;
        else if (!read_expansion(c, i, false, w))
            return false;
    }
    return check_expansion(c, w);
}

int bf_reserve(struct call *c)
{
    struct wish w = wish_defaults();
    if (!read_reserve(c, &w))
        return REDISMODULE_OK;
    deja_options opt = wish_options(&w);
    return reserve_new(c, &opt, "bloom.reserve");
}

/* --- ADD, MADD, INSERT ---------------------------------------------------------- */

/* Fills a filter of fixed size up to its capacity, as RedisBloom does.  Items that are already in
 * a full filter cause no error. */
static int add_fixed(struct value *v, struct items *items, size_t *done, deja_error *err)
{
    int rc = DEJA_OK;
    *done = 0;
    while (*done < items->n && rc == DEJA_OK) {
        const deja_stats o = value_stats(v);
        const size_t left = items->n - *done;
        if (o.entries < o.capacity) {
            const uint64_t room = o.capacity - o.entries;
            size_t taken = 0;
            rc = deja_filter_add_batch(v->filter, items->key + *done,
                                       left < room ? left : (size_t)room, items->answer + *done,
                                       &taken, err);
            *done += taken;
        } else if (deja_filter_contains(v->filter, items->key[*done])) {
            items->answer[(*done)++] = 0;
        } else {
            rc = DEJA_EFULL;
        }
    }
    return rc;
}

/* Kinds that are never full, because they grow or forget old keys. */
static bool is_endless(const struct value *v)
{
    return deja_kind_can(v->kind, DEJA_CAN_GROW) || deja_kind_can(v->kind, DEJA_CAN_EXPIRE);
}

static int add_items(struct value *v, struct items *items, size_t *done, deja_error *err)
{
    if (v->foreign)
        return foreign_value_add(v, items, done, err);
    if (is_endless(v))
        return deja_filter_add_batch(v->filter, items->key, items->n, items->answer, done, err);
    return add_fixed(v, items, done, err);
}

static void reply_add_error(const struct call *c, int rc, const deja_error *err)
{
    if (rc == DEJA_EFULL && !is_endless(c->v))
        call_error(c, "ERR non scaling filter is full");
    else if (rc == DEJA_ENOMEM)
        call_error(c, "ERR the filter cannot grow: filter-max-bytes or maxmemory is reached");
    else
        call_fail(c, rc, err);
}

/* Replies with an array if there may be many answers; `more` elements follow. */
static void reply_answers(const struct call *c, const struct items *items, size_t n, bool many,
                          size_t more)
{
    if (many)
        RedisModule_ReplyWithArray(c->ctx, (long)(n + more));
    for (size_t i = 0; i < n; i++)
        RedisModule_ReplyWithBool(c->ctx, items->answer[i]);
}

static int add_and_reply(const struct call *c, int first, bool many)
{
    struct items items;
    size_t done = 0;
    deja_error err = {0, ""};
    if (!items_init(c, &items, first))
        return REDISMODULE_OK;
    const int rc = add_items(c->v, &items, &done, &err);
    reply_answers(c, &items, done, many, rc < 0);
    if (rc < 0)
        reply_add_error(c, rc, &err);
    items_publish(c, &items, done, "BF.MADD", "bloom.add", first);
    items_fini(&items);
    return REDISMODULE_OK;
}

/* Can the new filter grow as far as the client demands? */
static bool check_scale_to(const struct call *c, const struct wish *w)
{
    const deja_options opt = wish_options(w);
    const char *why = NULL;
    if (w->scale_to && !deja_kind_can(opt.kind, DEJA_CAN_GROW))
        why = "ERR cannot use NONSCALING and VALIDATESCALETO options together";
    else if (w->scale_to && scaling_most(&opt) < (uint64_t)w->scale_to)
        why = "ERR provided VALIDATESCALETO causes bloom object to exceed memory limit";
    return !why || (call_error(c, why), false);
}

/* Adds the items from argv[first] on.  Creates an absent filter as w specifies; if w is NULL, an
 * absent filter is an error. */
static int insert(struct call *c, int first, bool many, const struct wish *w)
{
    if (!call_open(c, CALL_WRITE))
        return REDISMODULE_OK;
    if (c->v && !value_is_ready(c->v))
        return call_no_filter(c);
    if (!c->v && !w)
        return call_error(c, "ERR not found");
    if (!c->v) {
        deja_options opt = wish_options(w);
        if (!check_scale_to(c, w) || !reserve_make(c, &opt))
            return REDISMODULE_OK;
    }
    return add_and_reply(c, first, many);
}

int bf_add(struct call *c)
{
    const struct wish w = wish_defaults();
    return insert(c, 2, false, &w);
}

int bf_madd(struct call *c)
{
    const struct wish w = wish_defaults();
    return insert(c, 2, true, &w);
}

static bool insert_capacity(const struct call *c, int i, struct wish *w)
{
    return read_capacity(c, i, true, w);
}

static bool insert_error(const struct call *c, int i, struct wish *w)
{
    return read_error(c, i, true, w);
}

static bool insert_expansion(const struct call *c, int i, struct wish *w)
{
    return read_expansion(c, i, true, w);
}

/* Reads an option of INSERT that has a value, at argv[i]. */
static bool read_valued(const struct call *c, int i, struct wish *w)
{
    static const struct {
        const char *word;
        bool (*read)(const struct call *c, int i, struct wish *w);
    } valued[] = {
        {"CAPACITY", insert_capacity},
        {"ERROR", insert_error},
        {"EXPANSION", insert_expansion},
        {"TIGHTENING", read_tightening},
        {"SEED", read_seed},
        {"VALIDATESCALETO", read_scale_to},
    };
    for (size_t row = 0; row < sizeof valued / sizeof valued[0]; row++) {
        if (!call_word_is(c, i, valued[row].word))
            continue;
        if (i + 1 == c->argc)
            return RedisModule_WrongArity(c->ctx), false;
        return valued[row].read(c, i + 1, w);
    }
    return call_error(c, "Unknown argument received"), false;
}

/* The options of INSERT up to ITEMS, in any order; *first is the first item.  NONSCALING overrides
 * EXPANSION here. */
static bool read_insert(const struct call *c, struct wish *w, bool *create, int *first)
{
    int i = 2;
    for (; i < c->argc && !call_word_is(c, i, "ITEMS"); i++) {
        if (call_word_is(c, i, "NOCREATE"))
            *create = false;
        else if (call_word_is(c, i, "NONSCALING"))
            w->nonscaling = true;
        else if (!read_valued(c, i++, w))
            return false;
    }
    *first = i + 1;
    return *first < c->argc || (RedisModule_WrongArity(c->ctx), false);
}

int bf_insert(struct call *c)
{
    struct wish w = wish_defaults();
    bool create = true;
    int first;
    if (!read_insert(c, &w, &create, &first))
        return REDISMODULE_OK;
    return insert(c, first, true, create ? &w : NULL);
}

/* --- EXISTS, MEXISTS ------------------------------------------------------------ */

static int exists(struct call *c, bool many)
{
    struct items items;
    if (!call_open(c, CALL_READ))
        return REDISMODULE_OK;
    if (c->v && !value_is_ready(c->v))
        return call_no_filter(c);
    if (!items_init(c, &items, 2))
        return REDISMODULE_OK;
    if (c->v && c->v->foreign)
        foreign_value_contains(c->v, &items);
    else if (c->v)
        deja_filter_contains_batch(c->v->filter, items.key, items.n, items.answer);
    else
        memset(items.answer, 0, items.n);
    reply_answers(c, &items, items.n, many, 0);
    items_fini(&items);
    return REDISMODULE_OK;
}

int bf_exists(struct call *c)
{
    return exists(c, false);
}

int bf_mexists(struct call *c)
{
    return exists(c, true);
}

/* --- INFO, CARD ----------------------------------------------------------------- */

enum field {
    CAPACITY,
    SIZE,
    FILTERS,
    ITEMS,
    EXPANSION,
    ALL,
    ERROR_RATE = ALL, /* the fields from here on only on request */
    TIGHTNESS,
    MAX_SCALED,
    FIELDS
};

static const struct {
    const char *word, *title;
} fields[FIELDS] = {
    [CAPACITY] = {"CAPACITY", "Capacity"},
    [SIZE] = {"SIZE", "Size"},
    [FILTERS] = {"FILTERS", "Number of filters"},
    [ITEMS] = {"ITEMS", "Number of items inserted"},
    [EXPANSION] = {"EXPANSION", "Expansion rate"},
    [ERROR_RATE] = {"ERROR", "Error rate"},
    [TIGHTNESS] = {"TIGHTENING", "Tightening ratio"},
    [MAX_SCALED] = {"MAXSCALEDCAPACITY", "Max scaled capacity"},
};

static uint64_t number_of(const struct value *v, const deja_stats *o, int field)
{
    switch (field) {
    case CAPACITY:
        return o->capacity;
    case SIZE:
        return v->foreign ? foreign_value_size(v) : value_memory(v);
    case FILTERS:
        return o->parts;
    case ITEMS:
        return o->keys;
    case EXPANSION:
        return o->growth;
    default:
        return scaling_most_of(o);
    }
}

static int reply_field(const struct call *c, int field)
{
    const deja_stats o = value_stats(c->v);
    if (field == ERROR_RATE || field == TIGHTNESS)
        return RedisModule_ReplyWithDouble(c->ctx, field == TIGHTNESS ? o.tightening : o.fp_rate);
    if (field == EXPANSION && !o.growth)
        return RedisModule_ReplyWithNull(c->ctx);
    return RedisModule_ReplyWithLongLong(c->ctx, (long long)number_of(c->v, &o, field));
}

int bf_info(struct call *c)
{
    int field = 0;
    if (!call_ready(c, CALL_READ))
        return REDISMODULE_OK;
    while (c->argc == 3 && field < FIELDS && !call_word_is(c, 2, fields[field].word))
        field++;
    if (field == FIELDS || (field == MAX_SCALED && !deja_kind_can(c->v->kind, DEJA_CAN_GROW)))
        return call_error(c, "Invalid information value");
    if (c->argc == 3) {
        /* A map with one field, but in RESP2 only its value. */
        if (RedisModule_GetContextFlags(c->ctx) & REDISMODULE_CTX_FLAGS_RESP3) {
            RedisModule_ReplyWithMap(c->ctx, 1);
            RedisModule_ReplyWithSimpleString(c->ctx, fields[field].title);
        } else {
            RedisModule_ReplyWithArray(c->ctx, 1);
        }
        return reply_field(c, field);
    }
    RedisModule_ReplyWithMap(c->ctx, ALL);
    for (field = 0; field < ALL; field++) {
        RedisModule_ReplyWithSimpleString(c->ctx, fields[field].title);
        reply_field(c, field);
    }
    return REDISMODULE_OK;
}

int bf_card(struct call *c)
{
    if (!call_open(c, CALL_READ))
        return REDISMODULE_OK;
    if (c->v && c->v->opaque)
        return call_no_filter(c);
    const bool has_filter = c->v && value_is_ready(c->v);
    return RedisModule_ReplyWithLongLong(c->ctx,
                                         has_filter ? (long long)value_stats(c->v).keys : 0);
}
