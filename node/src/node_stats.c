/* node_stats.c - deja_stats as a JavaScript object, by a table of its fields. */
#include "node_stats.h"
#include "node_handle.h"
#include <string.h>

enum type {
    U32,
    U64,
    REAL,
    LIST,
    KIND,
    HASH,
    PROFILE
};

struct field {
    const char *name;
    size_t offset;
    enum type type;
    bool body; /* needs the whole body to be read */
};

#define FIELD(f) #f, offsetof(deja_stats, f)
#define LISTED   8 /* generations */

/* clang-format off */
static const struct field fields[] = {
    {FIELD(kind), KIND, false},
    {FIELD(part_kind), KIND, false},
    {FIELD(parts), U32, false},
    {FIELD(filters), U32, false},
    {FIELD(hash), HASH, false},
    {FIELD(hashes), U32, false},
    {FIELD(growth), U32, false},
    {FIELD(profile), PROFILE, false},
    {FIELD(fp_rate), REAL, false},
    {FIELD(tightening), REAL, false},
    {FIELD(url_rules), U64, false},
    {FIELD(capacity), U64, false},
    {FIELD(bytes), U64, false},
    {FIELD(offered), U64, false},
    {FIELD(keys), U64, false},
    {FIELD(entries), U64, false},
    {FIELD(excess), U64, false},
    {FIELD(format), U64, false},
    {FIELD(syncs), U64, false},
    {FIELD(flags), U32, false},
    {FIELD(keyed), U32, false},
    {FIELD(unclean), U32, false},
    {FIELD(counter_bits), U32, false},
    {FIELD(visit), U64, false},
    {FIELD(visits_before), U64, false},
    {FIELD(last_distinct), U64, false},
    {FIELD(last_lost), REAL, false},
    {FIELD(unions), U64, false},
    {FIELD(folds), U64, false},
    {FIELD(removed), U64, false},
    {FIELD(refused), U64, false},
    {FIELD(hidden), U64, false},
    {FIELD(generations), U64, false},
    {FIELD(window_seconds), U64, false},
    {FIELD(clock_behind), U64, false},
    {FIELD(bits), U64, true},
    {FIELD(bits_set), U64, true},
    {FIELD(fill), REAL, true},
    {FIELD(distinct), REAL, true},
    {FIELD(fp_now), REAL, true},
    {FIELD(lost), REAL, true},
    {FIELD(missed), REAL, true},
    {FIELD(bits_expected), REAL, true},
    {FIELD(bits_sigma), REAL, true},
    {FIELD(largest), U64, true},
    {FIELD(saturated), U64, true},
    {FIELD(deletions), U64, true},
    {FIELD(deletions_capacity), U64, true},
    {FIELD(fn_now), REAL, true},
    {FIELD(crowded), U64, true},
    {FIELD(turns), U64, true},
    {FIELD(window_keys), U64, true},
    {FIELD(generation_keys), LIST, true},
    {FIELD(generation_age), LIST, true},
    {FIELD(familiar), U64, true},
    {FIELD(layers), U32, true},
    {FIELD(layers_most), U32, true},
    {FIELD(delimiter), U64, true},
    {FIELD(oldest_day), U64, true},
    {FIELD(newest_day), U64, true},
    {FIELD(exceptions), U64, true},
    {FIELD(merged_parts), U32, true},
    {FIELD(other_keys), U32, true},
    {FIELD(merged_rate), REAL, true},
    {FIELD(cache_lines), U64, true},
    {FIELD(machine), U64, true},
    {FIELD(key_check), U64, true},
};
/* clang-format on */

static napi_value list(napi_env env, const uint64_t *n)
{
    napi_value array = NULL;
    NODE_TRY(napi_create_array_with_length(env, LISTED, &array));
    for (uint32_t i = 0; i < LISTED; i++)
        NODE_TRY(napi_set_element(env, array, i, node_call_whole(env, n[i])));
    return array;
}

static napi_value name_of(napi_env env, const char *name)
{
    return name ? node_call_text(env, name) : node_call_undefined(env);
}

static napi_value value_of(napi_env env, const struct field *field, const char *at)
{
    uint32_t n;
    uint64_t big, all[LISTED];
    double x;
    switch (field->type) {
    case U64:
        memcpy(&big, at, sizeof big);
        return node_call_whole(env, big);
    case REAL:
        memcpy(&x, at, sizeof x);
        return node_call_real(env, x);
    case LIST:
        memcpy(all, at, sizeof all);
        return list(env, all);
    default:
        memcpy(&n, at, sizeof n);
    }
    switch (field->type) {
    case KIND:
        return name_of(env, deja_kind_name(n));
    case HASH:
        return name_of(env, deja_hash_name(n));
    case PROFILE:
        return name_of(env, deja_profile_name(n));
    default:
        return node_call_whole(env, n);
    }
}

napi_value node_stats_of(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    deja_stats stats = DEJA_STATS_INIT;
    napi_value arg[2], object = NULL;
    bool body = false;
    if (!node_call_args(env, info, 2, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    NODE_TRY(napi_get_value_bool(env, arg[1], &body));
    const int rc = deja_filter_stats(nf->f, body ? DEJA_STATS_BODY : 0, &stats, &failure.err);
    if (!node_error_ok(&failure, rc))
        return node_error_throw(env, &failure);
    NODE_TRY(napi_create_object(env, &object));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char name[64];
        if (fields[i].body && !body)
            continue;
        node_call_camel(fields[i].name, name, sizeof name);
        const char *at = (const char *)&stats + fields[i].offset;
        if (!node_call_set(env, object, name, value_of(env, &fields[i], at)))
            return node_call_failed(env);
    }
    return object;
}

napi_value node_stats_can(napi_env env, napi_callback_info info)
{
    static const char *const names[] = {"add",    "build",   "remove", "count",  "grow",
                                        "expire", "forget",  "fill",   "repeat", "merge",
                                        "fold",   "overlap", "prefix", "layer",  "date"};
    napi_value arg[1], array = NULL;
    uint32_t n = 0;
    if (!node_call_args(env, info, 1, arg))
        return NULL;
    const struct node_filter *nf = node_handle_of(env, arg[0], NODE_ALONE);
    if (!nf)
        return NULL;
    NODE_TRY(napi_create_array(env, &array));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (deja_filter_can(nf->f, 1u << i))
            NODE_TRY(napi_set_element(env, array, n++, node_call_text(env, names[i])));
    return array;
}
