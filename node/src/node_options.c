/* node_options.c - reads options by the library's table, so that a new option needs no line here.
 *
 * In C zero means the default.  Here undefined does, and zero is refused: seed 0 would be random. */
#include "node_options.h"
#include "node_error.h"
#include "node_rules.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(napi_env env, const char *name, const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "%s %s", name, why);
    node_error_throw_text(env, DEJA_EINVAL, text);
    return false;
}

static void store(const deja_option *row, deja_options *opt, uint64_t n)
{
    char *field = (char *)opt + row->offset;
    const uint32_t narrow = (uint32_t)n;
    if (row->width == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &n, sizeof n);
}

/* A whole number in the range of the field.  An estimate such as 1.2 * n may have a fraction. */
static bool read_count(napi_env env, napi_value value, const char *name, const deja_option *row,
                       deja_options *opt)
{
    double x = 0;
    uint64_t n = 0;
    bool lossless = true;
    char range[96];
    const uint64_t most = row->width == 4 && row->most > UINT32_MAX ? UINT32_MAX : row->most;
    snprintf(range, sizeof range, "must be a whole number from %llu to %llu",
             (unsigned long long)row->least, (unsigned long long)most);
    if (node_call_is(env, value, napi_bigint)) {
        if (napi_get_value_bigint_uint64(env, value, &n, &lossless) != napi_ok)
            return node_call_failed(env), false;
    } else if (napi_get_value_double(env, value, &x) != napi_ok) {
        return node_call_type_error(env, name, "a number or a bigint"), false;
    } else {
        const bool estimate =
            row->unit && (!strcmp(row->unit, "keys") || !strcmp(row->unit, "bytes"));
        if (!(x >= 1 && x < 18446744073709551616.0) || (!estimate && x != floor(x)))
            return refuse(env, name, range);
        n = (uint64_t)x;
    }
    if (!lossless || n < row->least || n > most || n == 0)
        return refuse(env, name, range);
    store(row, opt, n);
    return true;
}

static bool read_real(napi_env env, napi_value value, const char *name, const deja_option *row,
                      deja_options *opt)
{
    double x = 0;
    if (napi_get_value_double(env, value, &x) != napi_ok)
        return node_call_type_error(env, name, "a number"), false;
    if (!(x > 0) || isinf(x))
        return refuse(env, name, "must be above 0");
    memcpy((char *)opt + row->offset, &x, sizeof x);
    return true;
}

static bool read_choice(napi_env env, napi_value value, const char *name, const deja_option *row,
                        deja_options *opt)
{
    char text[64], why[128];
    size_t len = 0;
    if (napi_get_value_string_utf8(env, value, text, sizeof text, &len) != napi_ok)
        return node_call_type_error(env, name, "a string"), false;
    for (uint32_t i = 1; i < DEJA_OPTION_CHOICES; i++) {
        const char *choice = row->choice(i);
        if (choice && strlen(choice) == len && memcmp(choice, text, len) == 0)
            return store(row, opt, i), true;
    }
    snprintf(why, sizeof why, "\"%s\" is not known", text);
    return refuse(env, name, why);
}

static bool read_char(napi_env env, napi_value value, const char *name, const deja_option *row,
                      deja_options *opt)
{
    char text[8];
    size_t len = 0;
    if (!node_call_is(env, value, napi_string))
        return read_count(env, value, name, row, opt);
    if (napi_get_value_string_utf8(env, value, text, sizeof text, &len) != napi_ok)
        return node_call_failed(env), false;
    if (len != 1 || !text[0])
        return refuse(env, name, "must be one character of one byte");
    store(row, opt, (unsigned char)text[0]);
    return true;
}

static bool read_flag(napi_env env, napi_value value, const char *name, const deja_option *row,
                      deja_options *opt)
{
    bool on = false;
    if (napi_get_value_bool(env, value, &on) != napi_ok)
        return node_call_type_error(env, name, "a boolean"), false;
    if (on)
        opt->flags |= row->flag;
    return true;
}

static bool read_secret(napi_env env, napi_value value, const char *name, struct node_options *o)
{
    deja_slice bytes;
    if (!node_call_view(env, value, &bytes))
        return node_call_type_error(env, name, "a Uint8Array"), false;
    if (bytes.len != DEJA_KEY_LEN)
        return refuse(env, name, "must have 32 bytes");
    memcpy(o->key, bytes.data, DEJA_KEY_LEN);
    o->opt.key = o->key;
    o->opt.flags |= DEJA_KEY_APART;
    return true;
}

static bool read_row(napi_env env, napi_value value, const deja_option *row,
                     struct node_options *o)
{
    char name[64];
    node_call_camel(row->name, name, sizeof name);
    switch (row->type) {
    case DEJA_OPTION_COUNT:
    case DEJA_OPTION_BITS:
        return read_count(env, value, name, row, &o->opt);
    case DEJA_OPTION_RATE:
    case DEJA_OPTION_REAL:
        return read_real(env, value, name, row, &o->opt);
    case DEJA_OPTION_CHOICE:
        o->kind_given = o->kind_given || strcmp(row->name, "kind") == 0;
        return read_choice(env, value, name, row, &o->opt);
    case DEJA_OPTION_CHAR:
        return read_char(env, value, name, row, &o->opt);
    case DEJA_OPTION_FLAG:
        return read_flag(env, value, name, row, &o->opt);
    case DEJA_OPTION_SECRET:
        return read_secret(env, value, name, o);
    case DEJA_OPTION_RULES:
        return node_rules_read(env, value, &o->opt.url, &o->own_rules);
    default:
        return refuse(env, name, "is of a type that this package does not know");
    }
}

bool node_options_read(napi_env env, napi_value object, struct node_options *o)
{
    const deja_options init = DEJA_OPTIONS_INIT;
    *o = (struct node_options){.opt = init};
    const deja_option *row;
    for (size_t i = 0; (row = deja_option_at(i)) != NULL; i++) {
        char name[64];
        napi_value value = NULL;
        node_call_camel(row->name, name, sizeof name);
        bool ok = napi_get_named_property(env, object, name, &value) == napi_ok;
        if (!ok)
            node_call_failed(env);
        else if (!node_call_is(env, value, napi_undefined))
            ok = read_row(env, value, row, o);
        if (!ok) {
            node_options_free(o);
            return false;
        }
    }
    return true;
}

bool node_options_grow(napi_env env, napi_value grow, struct node_options *o)
{
    bool on = true, given = !node_call_is(env, grow, napi_undefined);
    if (given && napi_get_value_bool(env, grow, &on) != napi_ok)
        return node_call_type_error(env, "grow", "a boolean"), false;
    if (!o->kind_given && !o->opt.capacity && !o->opt.memory)
        o->opt.kind = DEJA_SCALABLE; /* how many keys there will be is unknown */
    if (!on && deja_kind_can(o->opt.kind, DEJA_CAN_GROW))
        return refuse(env, "grow: false", "needs a size; give capacity or memory");
    if (on && !deja_options_grow(&o->opt) && given)
        return refuse(
            env, "grow: true",
            "is impossible with these options; use kind blocked, classic or exact, without "
            "memory, hashes, multiplier, filters and the papers' hashes");
    return true;
}

void node_options_demand(struct node_options *o)
{
    const deja_option *row;
    for (size_t i = 0; (row = deja_option_at(i)) != NULL; i++)
        if (!row->compared && !row->flag)
            memset((char *)&o->opt + row->offset, 0, row->width);
    if (!o->kind_given)
        o->opt.kind = 0;
}

void node_options_free(struct node_options *o)
{
    deja_url_rules_free(o->own_rules);
    o->own_rules = NULL;
    memset(o->key, 0, sizeof o->key);
}

/* --- The table and plans --------------------------------------------------------- */

static napi_value row_value(napi_env env, const deja_option *row)
{
    static const char *const types[] = {"",     "count", "rate",   "real",  "choice",
                                        "char", "flag",  "secret", "rules", "bits"};
    char name[64];
    napi_value object = NULL;
    node_call_camel(row->name, name, sizeof name);
    NODE_TRY(napi_create_object(env, &object));
    node_call_set(env, object, "name", node_call_text(env, name));
    node_call_set(env, object, "type",
                  node_call_text(env, row->type <= DEJA_OPTION_BITS ? types[row->type] : ""));
    node_call_set(env, object, "help", node_call_text(env, row->help));
    node_call_set(env, object, "renewable", node_call_bool(env, row->renewable));
    return object;
}

napi_value node_options_table(napi_env env, napi_callback_info info)
{
    (void)info;
    napi_value array = NULL;
    const deja_option *row;
    NODE_TRY(napi_create_array(env, &array));
    for (uint32_t i = 0; (row = deja_option_at(i)) != NULL; i++)
        NODE_TRY(napi_set_element(env, array, i, row_value(env, row)));
    return array;
}

static napi_value plan_value(napi_env env, const deja_plan *plan)
{
    napi_value object = NULL;
    NODE_TRY(napi_create_object(env, &object));
    node_call_set(env, object, "kind", node_call_text(env, deja_kind_name(plan->kind)));
    node_call_set(env, object, "hash", node_call_text(env, deja_hash_name(plan->hash)));
    node_call_set(env, object, "hashes", node_call_whole(env, plan->hashes));
    node_call_set(env, object, "filters", node_call_whole(env, plan->filters));
    node_call_set(env, object, "capacity", node_call_whole(env, plan->capacity));
    node_call_set(env, object, "fpRate", node_call_real(env, plan->fp_rate));
    node_call_set(env, object, "bits", node_call_whole(env, plan->bits));
    node_call_set(env, object, "bytes", node_call_whole(env, plan->bytes));
    node_call_set(env, object, "bitsPerKey", node_call_real(env, plan->bits_per_key));
    node_call_set(env, object, "lost", node_call_real(env, plan->lost));
    node_call_set(env, object, "cacheLines", node_call_whole(env, plan->cache_lines));
    return object;
}

napi_value node_options_plan(napi_env env, napi_callback_info info)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_options o;
    deja_plan plan = DEJA_PLAN_INIT;
    napi_value arg[2], result = NULL;
    if (!node_call_args(env, info, 2, arg) || !node_options_read(env, arg[0], &o))
        return NULL;
    if (node_options_grow(env, arg[1], &o)) {
        const int rc = deja_plan_make(&o.opt, &plan, &failure.err);
        result =
            node_error_ok(&failure, rc) ? plan_value(env, &plan) : node_error_throw(env, &failure);
    }
    node_options_free(&o);
    return result;
}
