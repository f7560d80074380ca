/* cacheform.c - the form of the keys in a cache on servers; see cacheform.h. */
#include "cli/server/cacheform.h"
#include "tools/base/fail.h"
#include <stdbool.h>
#include <string.h>

const char *cacheform_profile(const deja_url_rules *rules)
{
    return rules ? deja_profile_name(deja_url_rules_profile(rules)) : "none";
}

int cacheform_check(const char *name, const char *profile, uint64_t rules,
                    const deja_url_rules *given, struct cacheform *out, deja_error *err)
{
    const bool bytes = strcmp(profile, "none") == 0;
    *out = (struct cacheform){NULL, bytes ? 0 : deja_profile_parse(profile), rules};
    if (!bytes && !out->profile)
        return fail(err, DEJA_EMISMATCH,
                    "%s holds URLs of profile %s, which this version does not know; update deja",
                    name, fail_path(profile).text);
    if (!given)
        return DEJA_OK;
    if (bytes)
        return fail(err, DEJA_EMISMATCH, "%s holds bytes as given: omit --url", name);
    if (out->profile != deja_url_rules_profile(given))
        return fail(err, DEJA_EMISMATCH, "%s holds URLs of profile %s, not %s; omit --url", name,
                    profile, cacheform_profile(given));
    out->rules = given;
    while (out->rules && rules != deja_url_rules_id(out->rules))
        out->rules = deja_url_rules_older(out->rules);
    if (!out->rules)
        return fail(
            err, DEJA_EMISMATCH,
            "%s holds URLs of profile %s with different rules: another list of parameters, or "
            "another version of deja",
            name, profile);
    return DEJA_OK;
}
