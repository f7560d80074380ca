/* about.c - what this build of the command contains; see about.h. */
#include "cli/help/about.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"
#include <string.h>

#ifdef DEJA_HAVE_ZLIB
#define GZIP true
#else
#define GZIP false
#endif
#ifdef DEJA_HAVE_ZSTD
#define ZSTD true
#else
#define ZSTD false
#endif
#ifdef DEJA_HAVE_LZMA
#define XZ true
#else
#define XZ false
#endif
#ifdef DEJA_HAVE_BZIP2
#define BZIP2 true
#else
#define BZIP2 false
#endif
#ifdef DEJA_HAVE_HIREDIS
#define SERVERS true
#else
#define SERVERS false
#endif
#ifdef DEJA_HAVE_CRAWLER
#define CRAWLER true
#else
#define CRAWLER false
#endif

static bool converts_hosts(void)
{
    static const char url[] = "http://b\xc3\xbcrger.example/";
    char form[DEJA_URL_ROOM(sizeof url)];
    deja_slice canon;
    return deja_url_canon(deja_url_profile(DEJA_URL_SAFE), (deja_slice){url, sizeof url - 1}, form,
                          sizeof form, &canon, NULL) != DEJA_ENOTSUP;
}

static void features(struct out *o)
{
    const struct {
        const char *name;
        bool built;
    } feature[] = {
        {"gzip input", GZIP},
        {"zstd input", ZSTD},
        {"xz input", XZ},
        {"bzip2 input", BZIP2},
        {"hosts in other scripts (IDNA)", converts_hosts()},
        {"caches on servers (--redis)", SERVERS},
        {"deja crawl", CRAWLER},
    };
    out_printf(o, "deja %s\n", deja_version());
    for (size_t i = 0; i < sizeof feature / sizeof feature[0]; i++)
        out_printf(o, "  %-32s%s\n", feature[i].name, feature[i].built ? "yes" : "no");
}

int about_version(struct out *o, const char *option, deja_error *err)
{
    if (!option)
        out_printf(o, "deja %s\n", deja_version());
    else if (strcmp(option, "--features") == 0)
        features(o);
    else if (strcmp(option, "--licenses") == 0)
        out_write(o, about_licenses, about_licenses_len);
    else
        return fail(err, OPT_USAGE,
                    "unknown option %.40s; deja version takes --features or --licenses", option);
    return DEJA_OK;
}
