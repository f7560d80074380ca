/* fetch.h - runs many concurrent downloads, over HTTP/1.1 and 2. */
#ifndef CRAWLER_HTTP_FETCH_H
#define CRAWLER_HTTP_FETCH_H
#include "tools/base/buffer.h"
#include <time.h>

enum fetch_fault {   /* why there is no response; stored in the queue: append only */
    FETCH_OK = 0,    /* there is a response, whatever its status */
    FETCH_NAME,      /* the host has no address */
    FETCH_CONNECT,   /* the connection is not accepted */
    FETCH_TLS,       /* no secure connection */
    FETCH_TIMEOUT,   /* too slow */
    FETCH_CUT,       /* the connection ended early */
    FETCH_PROTOCOL,  /* the response is not HTTP */
    FETCH_REDIRECTS, /* robots.txt: redirects lead out of the scope */
    FETCH_OTHER,
    FETCH_PRIVATE /* only_public, and the host has no public address */
};
/* Whether another attempt may succeed. */
bool fetch_fault_passes(int fault);

struct fetch_options {
    const char *user_agent;
    const char *ca_file;    /* NULL: the system's default */
    size_t max_bytes;       /* of a body; the rest is not read */
    double timeout;         /* seconds for a whole request */
    double connect_timeout; /* seconds for connecting */
    double stall;           /* seconds with less than 10 bytes/s */
    uint32_t connections;   /* kept open for the next request */
};

struct fetch_request {
    const char *url;
    const char *etag;     /* of the stored copy; NULL or "": none */
    const char *modified; /* its Last-Modified */
    bool only_public;     /* reject private addresses (netaddr.h) */
    size_t max_bytes;     /* 0: as in the options */
};

/* One download.  Its results are complete when fetch_next returns it. */
struct fetch {
    int fault; /* a fetch_fault */
    int status;
    time_t when;
    char ip[48];
    bool http2;
    bool truncated; /* the body was longer than max_bytes */
    struct buffer request, head, body;
    void *tag; /* for the caller */
    /* For the downloader: */
    struct fetcher *owner;
    void *easy, *fields; /* CURL, curl_slist */
    size_t max_bytes;
    bool bad_head;   /* the header is too large */
    bool whole_head; /* the empty line at its end has arrived */
    bool only_public, met_private;
    struct fetch *next, *also;
};

typedef struct fetcher fetcher;
int fetcher_new(const struct fetch_options *o, fetcher **out, deja_error *err);
void fetcher_free(fetcher *f); /* aborts downloads in progress */

/* Start a download.  Strings are borrowed for the call. */
int fetch_start(fetcher *f, const struct fetch_request *r, void *tag, deja_error *err);
size_t fetch_in_flight(const fetcher *f);
/* Process downloads; if there is nothing to do, wait up to this many seconds. */
int fetch_wait(fetcher *f, double seconds, deja_error *err);
/* A finished download, or NULL; return it with fetch_release. */
struct fetch *fetch_next(fetcher *f);
void fetch_release(fetcher *f, struct fetch *d);

#endif
