/* cacheform.h - the form of the keys in a cache on servers: bytes, or URLs in canonical form. */
#ifndef CLI_SERVER_CACHEFORM_H
#define CLI_SERVER_CACHEFORM_H
#include "deja.h"

#define CACHEFORM_PROFILE 16 /* of a profile's name, with the zero byte */

struct cacheform {
    const deja_url_rules *rules; /* the given ones, in the version that the cache was made with */
    uint32_t profile;            /* of the cache; 0: its keys are bytes ... */
    uint64_t rules_id;           /* ... and its rules */
};

/* The name of the profile of these rules, "none" for NULL. */
const char *cacheform_profile(const deja_url_rules *rules);
/* Takes the form of the cache `name`, which its description says.  Rules that were given must be
 * the same. */
int cacheform_check(const char *name, const char *profile, uint64_t rules,
                    const deja_url_rules *given, struct cacheform *out, deja_error *err);

#endif
