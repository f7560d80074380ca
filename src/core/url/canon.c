/* canon.c - the door to canonical URLs: names of profiles, their rules, and which file writes
 * which form. */
#include "core/base/status.h"
#include "core/url/params.h"
#include "core/url/url.h"

static const struct profile {
    const char *name;
    dj_url_writer *write;
} profiles[] = {
    [DEJA_URL_SAFE] = {"safe", dj_url_safe},
    [DEJA_URL_CRAWL] = {"crawl", dj_url_safe},
    [DEJA_URL_GSB] = {"gsb", dj_url_gsb},
    [DEJA_URL_SCRAPY] = {"scrapy", dj_url_scrapy},
};
#define N_PROFILES (sizeof profiles / sizeof profiles[0])

const char *deja_profile_name(uint32_t profile)
{
    return profile < N_PROFILES ? profiles[profile].name : NULL;
}

uint32_t deja_profile_parse(const char *name)
{
    for (uint32_t i = 1; i < N_PROFILES; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return i;
    return 0;
}

int deja_url_canon(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                   deja_slice *canon)
{
    *canon = url;
    if (cap < DEJA_URL_ROOM(url.len))
        return DEJA_ESPACE;
    struct dj_text text = dj_text_in(out, cap);
    const int rc = profiles[rules->profile].write(rules, url, &text);
    if (rc == DEJA_OK)
        *canon = dj_text_slice(&text);
    return rc == DEJA_OK && text.short_of_room ? DEJA_ESPACE : rc;
}
