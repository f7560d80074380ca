/* bf.c - the commands of RedisBloom: same words, same replies, same errors.
 *
 * BF.RESERVE and its kin make a scalable filter of blocked parts, whose rates halve from part to
 * part as RedisBloom's do, or with NONSCALING a blocked one.  The other commands work on any kind.
 * A filter that cannot grow is full when it holds the keys it was made for, and says so:
 * RedisBloom promises its rate in this way, where DEJA.ADD would go on.  Room that a removal gives
 * back (spectral) is used again; a paired filter keeps the bits of what was removed, and its
 * entries count, gone or not. */
#include "commands.h"
#include "items.h"
#include "reserve.h"
#include "scaling.h"
#include <stdbool.h>
#include <string.h>

#define MAX_CAPACITY  ((long long)1 << 30)
#define MAX_EXPANSION 32768 /* of RedisBloom */
#define MAX_GROWTH    1024  /* of a scalable filter */
#define TIGHTENING    0.5

static int reply_error(RedisModuleCtx *ctx, const char *text)
{
    return RedisModule_ReplyWithError(ctx, text);
}

/* --- What a filter is made from ------------------------------------------------- */

struct wish {
    double error;
    long long capacity, expansion; /* expansion 0: does not grow */
    bool nonscaling, expanding;    /* said so */
    double tightening;
    const char *key;    /* or NULL */
    long long scale_to; /* 0: anywhere */
};

static struct wish defaults(void)
{
    return (struct wish){.error = settings.bf_error,
                         .capacity = settings.bf_capacity,
                         .expansion = settings.bf_expansion,
                         .tightening = TIGHTENING};
}

static deja_options options_of(const struct wish *w)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = w->nonscaling || w->expansion == 0 ? DEJA_BLOCKED : DEJA_SCALABLE;
    opt.capacity = (uint64_t)w->capacity;
    opt.fp_rate = w->error;
    opt.key = w->key;
    if (deja_kind_can(opt.kind, DEJA_CAN_GROW)) {
        opt.growth = (uint32_t)(w->expansion < MAX_GROWTH ? w->expansion : MAX_GROWTH);
        opt.tightening = w->tightening;
    }
    return opt;
}

/* Each of these tells the client what is wrong and returns false. `inserting`: the words of
 * BF.INSERT, which differ. */
static bool read_error(RedisModuleCtx *ctx, RedisModuleString *text, bool inserting,
                       struct wish *w)
{
    if (RedisModule_StringToDouble(text, &w->error) != REDISMODULE_OK)
        return reply_error(ctx, inserting ? "Bad error rate" : "ERR bad error rate"), false;
    if (!(w->error > 0 && w->error < 1))
        return reply_error(ctx, "ERR error rate must be in the range (0.000000, 1.000000)"), false;
    return true;
}

static bool read_capacity(RedisModuleCtx *ctx, RedisModuleString *text, bool inserting,
                          struct wish *w)
{
    if (RedisModule_StringToLongLong(text, &w->capacity) != REDISMODULE_OK)
        return reply_error(ctx, inserting ? "Bad capacity" : "ERR bad capacity"), false;
    if (w->capacity < 1 || w->capacity > MAX_CAPACITY)
        return reply_error(ctx, "ERR capacity must be in the range [1, 1073741824]"), false;
    return true;
}

static bool read_expansion(RedisModuleCtx *ctx, RedisModuleString *text, bool inserting,
                           struct wish *w)
{
    w->expanding = true;
    if (RedisModule_StringToLongLong(text, &w->expansion) != REDISMODULE_OK || w->expansion < 0 ||
        w->expansion > MAX_EXPANSION)
        return reply_error(ctx, inserting ? "Bad expansion" : "ERR bad expansion"), false;
    return true;
}

static bool check_scaling(RedisModuleCtx *ctx, const struct wish *w)
{
    if (w->nonscaling && w->expanding && w->expansion > 0)
        return reply_error(ctx, "Nonscaling filters cannot expand"), false;
    return true;
}

/* --- RESERVE ------------------------------------------------------------------ */

static bool read_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct wish *w)
{
    if (!read_error(ctx, argv[2], false, w) || !read_capacity(ctx, argv[3], false, w))
        return false;
    for (int i = 4; i < argc; i++) {
        if (word_is(argv[i], "NONSCALING"))
            w->nonscaling = true;
        else if (!word_is(argv[i], "EXPANSION"))
            return reply_error(ctx, "Unknown argument received"), false;
        else if (++i == argc)
            return reply_error(ctx, "ERR no expansion"), false;
        else if (!read_expansion(ctx, argv[i], false, w))
            return false;
    }
    return check_scaling(ctx, w);
}

int bf_reserve(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    struct wish w = defaults();
    if (argc < 4 || argc > 7)
        return RedisModule_WrongArity(ctx);
    if (!read_reserve(ctx, argv, argc, &w))
        return REDISMODULE_OK;
    const enum found found =
        value_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    deja_options opt = options_of(&w);
    if (found == FOUND)
        reply_error(ctx, "ERR item exists");
    else if (reserve_make(ctx, key, argv[1], &opt, &v) == 0) {
        RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, "bloom.reserve", argv[1]);
        value_reply_ok(ctx);
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

/* --- ADD, MADD, INSERT ---------------------------------------------------------- */

/* As RedisBloom fills a filter of fixed size: to its capacity, and what is in stays in. */
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

/* Kinds that make room by themselves: one grows, one forgets. */
static bool is_endless(const struct value *v)
{
    return deja_kind_can(v->kind, DEJA_CAN_GROW) || deja_kind_can(v->kind, DEJA_CAN_EXPIRE);
}

static int add_items(struct value *v, struct items *items, size_t *done, deja_error *err)
{
    if (is_endless(v))
        return deja_filter_add_batch(v->filter, items->key, items->n, items->answer, done, err);
    return add_fixed(v, items, done, err);
}

static void reply_add_error(RedisModuleCtx *ctx, const struct value *v, int rc,
                            const deja_error *err)
{
    if (rc == DEJA_EFULL && !is_endless(v))
        reply_error(ctx, "ERR non scaling filter is full");
    else if (rc == DEJA_ENOMEM)
        reply_error(ctx, "ERR the filter cannot grow: filter-max-bytes or maxmemory is reached");
    else
        value_reply_error(ctx, rc, err);
}

static void reply_adds(RedisModuleCtx *ctx, const struct value *v, const struct items *items,
                       size_t done, int rc, const deja_error *err)
{
    RedisModule_ReplyWithArray(ctx, (long)(done + (rc < 0)));
    for (size_t i = 0; i < done; i++)
        RedisModule_ReplyWithBool(ctx, items->answer[i]);
    if (rc < 0)
        reply_add_error(ctx, v, rc, err);
}

static void add_and_reply(RedisModuleCtx *ctx, struct value *v, RedisModuleString **argv,
                          int first, int argc, bool many)
{
    struct items items;
    size_t done = 0;
    deja_error err = {0, ""};
    if (!items_init(ctx, &items, v, argv + first, argc - first))
        return;
    const int rc = add_items(v, &items, &done, &err);
    if (many)
        reply_adds(ctx, v, &items, done, rc, &err);
    else if (rc < 0)
        reply_add_error(ctx, v, rc, &err);
    else
        RedisModule_ReplyWithBool(ctx, items.answer[0]);
    items_publish(ctx, &items, done, "BF.MADD", "bloom.add", argv, first);
    items_fini(&items);
}

/* Can the filter that would be made grow as far as the client wants to be sure of? */
static bool check_scale_to(RedisModuleCtx *ctx, const struct wish *w)
{
    const deja_options opt = options_of(w);
    if (!w->scale_to)
        return true;
    if (!deja_kind_can(opt.kind, DEJA_CAN_GROW))
        return reply_error(ctx, "ERR cannot use NONSCALING and VALIDATESCALETO options together"),
               false;
    if (scaling_most(&opt) < (uint64_t)w->scale_to)
        return reply_error(ctx, "ERR provided VALIDATESCALETO causes bloom object to exceed "
                                "memory limit"),
               false;
    return true;
}

/* Items from argv[first] on into the filter argv[1], which is made if there is none. */
static int insert(RedisModuleCtx *ctx, RedisModuleString **argv, int first, int argc, bool many,
                  const struct wish *w)
{
    RedisModuleKey *key;
    struct value *v;
    enum found found = value_open(ctx, argv[1], REDISMODULE_READ | REDISMODULE_WRITE, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    if (found == ABSENT && !w) {
        reply_error(ctx, "ERR not found");
    } else if (found == ABSENT) {
        deja_options opt = options_of(w);
        if (check_scale_to(ctx, w) && reserve_make(ctx, key, argv[1], &opt, &v) == 0)
            found = FOUND;
    } else if (!v->filter) {
        found = ABSENT;
        value_reply_no_filter(ctx, v);
    }
    if (found == FOUND)
        add_and_reply(ctx, v, argv, first, argc, many);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int bf_add(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct wish w = defaults();
    return argc != 3 ? RedisModule_WrongArity(ctx) : insert(ctx, argv, 2, argc, false, &w);
}

int bf_madd(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    const struct wish w = defaults();
    return argc < 3 ? RedisModule_WrongArity(ctx) : insert(ctx, argv, 2, argc, true, &w);
}

static bool read_tightening(RedisModuleCtx *ctx, RedisModuleString *text, struct wish *w)
{
    if (RedisModule_StringToDouble(text, &w->tightening) == REDISMODULE_OK && w->tightening > 0 &&
        w->tightening < 1)
        return true;
    return reply_error(ctx, "ERR bad tightening ratio"), false;
}

static bool read_seed(RedisModuleCtx *ctx, RedisModuleString *text, struct wish *w)
{
    size_t len;
    w->key = RedisModule_StringPtrLen(text, &len);
    return len == DEJA_KEY_LEN ? true : (reply_error(ctx, "ERR invalid seed"), false);
}

static bool read_scale_to(RedisModuleCtx *ctx, RedisModuleString *text, struct wish *w)
{
    if (RedisModule_StringToLongLong(text, &w->scale_to) == REDISMODULE_OK && w->scale_to > 0)
        return true;
    return reply_error(ctx, "ERR bad capacity"), false;
}

/* Options of INSERT up to ITEMS; *first is the first item, argc when there is none. */
static bool read_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, struct wish *w,
                        bool *create, int *first)
{
    int i = 2;
    bool fine = true;
    for (; i < argc && fine && !word_is(argv[i], "ITEMS"); i++) {
        const bool more = i + 1 < argc;
        if (word_is(argv[i], "NOCREATE"))
            *create = false;
        else if (word_is(argv[i], "NONSCALING"))
            w->nonscaling = true;
        else if (more && word_is(argv[i], "CAPACITY"))
            fine = read_capacity(ctx, argv[++i], true, w);
        else if (more && word_is(argv[i], "ERROR"))
            fine = read_error(ctx, argv[++i], true, w);
        else if (more && word_is(argv[i], "EXPANSION"))
            fine = read_expansion(ctx, argv[++i], true, w);
        else if (more && word_is(argv[i], "TIGHTENING"))
            fine = read_tightening(ctx, argv[++i], w);
        else if (more && word_is(argv[i], "SEED"))
            fine = read_seed(ctx, argv[++i], w);
        else if (more && word_is(argv[i], "VALIDATESCALETO"))
            fine = read_scale_to(ctx, argv[++i], w);
        else
            return reply_error(ctx, "Unknown argument received"), false;
    }
    *first = i + 1;
    if (fine && *first >= argc)
        return RedisModule_WrongArity(ctx), false;
    return fine && check_scaling(ctx, w);
}

int bf_insert(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    struct wish w = defaults();
    bool create = true;
    int first;
    if (argc < 4)
        return RedisModule_WrongArity(ctx);
    if (!read_insert(ctx, argv, argc, &w, &create, &first))
        return REDISMODULE_OK;
    return insert(ctx, argv, first, argc, true, create ? &w : NULL);
}

/* --- EXISTS, MEXISTS ------------------------------------------------------------ */

static void answer_exists(RedisModuleCtx *ctx, struct value *v, RedisModuleString **argv, int n,
                          bool many)
{
    struct items items;
    if (!items_init(ctx, &items, v, argv, n))
        return;
    deja_filter_contains_batch(v->filter, items.key, items.n, items.answer);
    if (many)
        RedisModule_ReplyWithArray(ctx, n);
    for (size_t i = 0; i < items.n; i++)
        RedisModule_ReplyWithBool(ctx, items.answer[i]);
    items_fini(&items);
}

static int exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, bool many)
{
    RedisModuleKey *key;
    struct value *v;
    const int n = argc - 2;
    const enum found found = value_open(ctx, argv[1], REDISMODULE_READ, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    if (found == FOUND && v->filter)
        answer_exists(ctx, v, argv + 2, n, many);
    else if (found == FOUND)
        value_reply_no_filter(ctx, v);
    else if (many)
        RedisModule_ReplyWithArray(ctx, n);
    for (int i = 0; found == ABSENT && i < n; i++) /* in no filter is nothing */
        RedisModule_ReplyWithBool(ctx, false);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int bf_exists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return argc != 3 ? RedisModule_WrongArity(ctx) : exists(ctx, argv, argc, false);
}

int bf_mexists(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    return argc < 3 ? RedisModule_WrongArity(ctx) : exists(ctx, argv, argc, true);
}

/* --- INFO, CARD ----------------------------------------------------------------- */

enum field {
    CAPACITY,
    SIZE,
    FILTERS,
    ITEMS,
    EXPANSION,
    ALL,
    ERROR_RATE = ALL, /* from here on when asked for only */
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

static void reply_field(RedisModuleCtx *ctx, const struct value *v, int field)
{
    const deja_stats o = value_stats(v);
    switch (field) {
    case CAPACITY:
        RedisModule_ReplyWithLongLong(ctx, (long long)o.capacity);
        break;
    case SIZE:
        RedisModule_ReplyWithLongLong(ctx, (long long)value_memory(v));
        break;
    case FILTERS:
        RedisModule_ReplyWithLongLong(ctx, o.parts);
        break;
    case ITEMS:
        RedisModule_ReplyWithLongLong(ctx, (long long)o.keys);
        break;
    case ERROR_RATE:
        RedisModule_ReplyWithDouble(ctx, o.fp_rate);
        break;
    case TIGHTNESS:
        RedisModule_ReplyWithDouble(ctx, o.tightening);
        break;
    case MAX_SCALED:
        RedisModule_ReplyWithLongLong(ctx, (long long)scaling_most_of(&o));
        break;
    default:
        if (o.growth)
            RedisModule_ReplyWithLongLong(ctx, o.growth);
        else
            RedisModule_ReplyWithNull(ctx);
    }
}

int bf_info(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    int field = 0;
    if (argc != 2 && argc != 3)
        return RedisModule_WrongArity(ctx);
    if (!value_filter(ctx, argv[1], REDISMODULE_READ, &key, &v))
        return REDISMODULE_OK;
    while (argc == 3 && field < FIELDS && !word_is(argv[2], fields[field].word))
        field++;
    if (field == FIELDS || (field == MAX_SCALED && !deja_kind_can(v->kind, DEJA_CAN_GROW))) {
        reply_error(ctx, "Invalid information value");
    } else if (argc == 3) {
        RedisModule_ReplyWithArray(ctx, 1);
        reply_field(ctx, v, field);
    } else {
        RedisModule_ReplyWithMap(ctx, ALL);
        for (field = 0; field < ALL; field++) {
            RedisModule_ReplyWithSimpleString(ctx, fields[field].title);
            reply_field(ctx, v, field);
        }
    }
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}

int bf_card(RedisModuleCtx *ctx, RedisModuleString **argv, int argc)
{
    RedisModuleKey *key;
    struct value *v;
    if (argc != 2)
        return RedisModule_WrongArity(ctx);
    const enum found found = value_open(ctx, argv[1], REDISMODULE_READ, &key, &v);
    if (found == REFUSED)
        return REDISMODULE_OK;
    const bool counted = found == FOUND && v->filter;
    if (found == FOUND && v->opaque)
        value_reply_no_filter(ctx, v);
    else
        RedisModule_ReplyWithLongLong(ctx, counted ? (long long)value_stats(v).keys : 0);
    RedisModule_CloseKey(key);
    return REDISMODULE_OK;
}
