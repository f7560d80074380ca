/* fetch.h - many downloads at once, over HTTP/1.1 and 2. */
#ifndef CRAWLER_HTTP_FETCH_H
#define CRAWLER_HTTP_FETCH_H
#include "tools/base/buffer.h"
#include <time.h>

enum fetch_fault {   /* why there is no response; stored in the queue: append only */
    FETCH_OK = 0,    /* there is one, whatever its status    */
    FETCH_NAME,      /* the host has no address              */
    FETCH_CONNECT,   /* nobody answers there                 */
    FETCH_TLS,       /* no secure connection                 */
    FETCH_TIMEOUT,   /* too slow                             */
    FETCH_CUT,       /* the connection ended before its time */
    FETCH_PROTOCOL,  /* what came is no HTTP                 */
    FETCH_REDIRECTS, /* robots.txt: they lead out of the scope */
    FETCH_OTHER,
    FETCH_PRIVATE /* only_public, and no address of the host is */
};
/* Is it worth another try? */
bool fetch_fault_passes(int fault);

struct fetch_options {
    const char *user_agent;
    const char *ca_file;    /* NULL: the system's                             */
    size_t max_bytes;       /* of a body; the rest is left there              */
    double timeout;         /* seconds for a whole request                    */
    double connect_timeout; /* and for the connection                         */
    double stall;           /* seconds in which less than 10 bytes/s come     */
    uint32_t connections;   /* kept open for the next request                 */
};

struct fetch_request {
    const char *url;
    const char *etag;     /* of the copy that we have; NULL or "": none */
    const char *modified; /* its Last-Modified                          */
    bool only_public;     /* refuse private addresses (netaddr.h)       */
    size_t max_bytes;     /* 0: as in the options                       */
};

/* One download.  What it brought is there when fetch_next hands it out. */
struct fetch {
    int fault; /* a fetch_fault */
    int status;
    time_t when;
    char ip[48];
    bool http2;
    bool truncated; /* longer than max_bytes */
    struct buffer request, head, body;
    void *tag; /* the caller's */
    /* The downloader's own: */
    struct fetcher *owner;
    void *easy, *fields; /* CURL, curl_slist */
    size_t max_bytes;
    bool bad_head;   /* too large             */
    bool whole_head; /* its empty line has come */
    bool only_public, met_private;
    struct fetch *next, *also;
};

typedef struct fetcher fetcher;
int fetcher_new(const struct fetch_options *o, fetcher **out, deja_error *err);
void fetcher_free(fetcher *f); /* with what is under way */

/* Begin a download.  Texts are borrowed for the call. */
int fetch_start(fetcher *f, const struct fetch_request *r, void *tag, deja_error *err);
size_t fetch_in_flight(const fetcher *f);
/* Let downloads go on; wait up to so many seconds when there is nothing to do. */
int fetch_wait(fetcher *f, double seconds, deja_error *err);
/* One that is finished, or NULL; fetch_release takes it back. */
struct fetch *fetch_next(fetcher *f);
void fetch_release(fetcher *f, struct fetch *d);

#endif
