/* node_rules.c - makes URL rules from a profile and lists of parameters. */
#include "node_rules.h"
#include "node_error.h"
#include "node_keys.h"
#include <stdio.h>
#include <stdlib.h>

static bool read_list(napi_env env, napi_value object, const char *name, struct node_keys *list)
{
    napi_value array = NULL;
    uint32_t n = 0;
    if (napi_get_named_property(env, object, name, &array) != napi_ok ||
        napi_get_array_length(env, array, &n) != napi_ok)
        return node_call_failed(env), false;
    if (!node_keys_read(env, array, 0, n, list))
        return false;
    node_keys_settle(list);
    return true;
}

static bool make_own(napi_env env, napi_value object, uint32_t profile, bool builtin,
                     deja_url_rules **own)
{
    struct node_failure failure = NODE_FAILURE_NONE;
    struct node_keys drop = {0}, keep = {0};
    bool ok = read_list(env, object, "drop", &drop) && read_list(env, object, "keep", &keep);
    if (ok && (drop.n || keep.n || !builtin)) {
        const int rc = deja_url_rules_new(profile, builtin ? 0 : DEJA_URL_NO_LIST, drop.slice,
                                          drop.n, keep.slice, keep.n, own, &failure.err);
        ok = node_error_ok(&failure, rc);
        if (!ok)
            node_error_throw(env, &failure);
    }
    node_keys_free(&drop);
    node_keys_free(&keep);
    return ok;
}

static uint32_t profile_of(napi_env env, napi_value name)
{
    char text[64], message[256];
    size_t len = 0;
    if (napi_get_value_string_utf8(env, name, text, sizeof text, &len) != napi_ok) {
        node_call_type_error(env, "the URL profile", "a string");
        return 0;
    }
    const uint32_t profile = deja_profile_parse(text);
    if (!profile) {
        snprintf(message, sizeof message,
                 "there is no URL profile \"%s\"; use safe, crawl, gsb, scrapy or shape", text);
        node_error_throw_text(env, DEJA_EINVAL, message);
    }
    return profile;
}

bool node_rules_read(napi_env env, napi_value value, const deja_url_rules **rules,
                     deja_url_rules **own)
{
    napi_value name = NULL, builtin = NULL;
    bool with_list = true;
    *rules = NULL;
    *own = NULL;
    if (node_call_is(env, value, napi_undefined))
        return true;
    if (napi_get_named_property(env, value, "profile", &name) != napi_ok ||
        napi_get_named_property(env, value, "builtin", &builtin) != napi_ok ||
        napi_get_value_bool(env, builtin, &with_list) != napi_ok)
        return node_call_failed(env), false;
    const uint32_t profile = profile_of(env, name);
    if (!profile || !make_own(env, value, profile, with_list, own))
        return false;
    *rules = *own ? *own : deja_url_profile(profile);
    return true;
}

const deja_url_rules *node_rules_adopt(napi_env env, uint32_t profile, uint64_t id)
{
    char text[300];
    const deja_url_rules *rules = deja_url_profile(profile);
    while (rules && deja_url_rules_id(rules) != id)
        rules = deja_url_rules_older(rules);
    if (rules)
        return rules;
    const char *name = deja_profile_name(profile);
    snprintf(
        text, sizeof text,
        "made with other rules for profile %s: pass the same url: { profile: '%s', drop, keep }, "
        "or it comes from a build with libidn2, and this one has none (or the reverse)",
        name ? name : "?", name ? name : "?");
    node_error_throw_text(env, DEJA_EMISMATCH, text);
    return NULL;
}
