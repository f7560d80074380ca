/* cacheinfo.h - what the servers say about a cache: deja info --redis, and the loss of a run. */
#ifndef CLI_SERVER_CACHEINFO_H
#define CLI_SERVER_CACHEINFO_H
#include "cli/server/machines.h"
#include "tools/base/out.h"

struct cacheinfo_server {
    char address[280]; /* "HOST:PORT" */
    bool answers;
    char why[sizeof((deja_error *)0)->text]; /* if it does not */
    uint32_t shards;                         /* 0: the key is a single filter */
    deja_stats s;    /* of its filters together; fp_now is their mean, because a key asks one */
    uint64_t memory; /* on the server */
    char profile[CACHEFORM_PROFILE];
};

struct cacheinfo {
    const char *name;
    size_t n;
    struct cacheinfo_server server[MACHINES_MOST];
};

/* Asks n servers about the cache, or the filter, of this name.  With several servers, those that
 * do not answer are marked. */
int cacheinfo_ask(const char *const *url, size_t n, const char *name, struct cacheinfo *out,
                  deja_error *err);

/* All filters together: keys and sizes of the first server that answers, bytes of all; a key is
 * mistaken for seen if all servers that answer do so. */
deja_stats cacheinfo_all(const struct cacheinfo *c, uint64_t *memory);

void cacheinfo_text(const struct cacheinfo *c, struct out *o, bool further);
/* failed: an error to print instead, or NULL. */
void cacheinfo_json(const struct cacheinfo *c, struct json *j, const deja_error *failed);

#endif
