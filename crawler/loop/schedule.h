/* schedule.h - decides which host gets the next request: hosts, their pauses, and their order. */
#ifndef CRAWLER_LOOP_SCHEDULE_H
#define CRAWLER_LOOP_SCHEDULE_H
#include "crawler/http/robots.h"
#include "crawler/queue/frontier.h"

enum origin_state {
    ORIGIN_UNKNOWN, /* robots.txt must be fetched before anything else */
    ORIGIN_ASKED,   /* robots.txt is being fetched */
    ORIGIN_KNOWN,   /* robots.txt was read, or does not exist */
    ORIGIN_CLOSED   /* robots.txt cannot be fetched: nothing is allowed */
};

/* A scheme and port of a host, with its own robots.txt (RFC 9309, 2.3). */
struct origin {
    char *name; /* scheme://authority */
    struct host *host;
    enum origin_state state;
    struct robots robots;
    char *elsewhere; /* target of the last redirect of robots.txt; NULL: none */
    unsigned hops;   /* redirects so far */
    unsigned attempts;
    int fault;              /* if CLOSED: a fetch_fault, or 0 after a 5xx */
    struct origin *next;    /* of the host */
    struct origin *in_line; /* next errand of the host that serves its robots.txt */
};

#define HOST_AHEAD 32 /* URLs taken from the queue at once */

struct host {
    char *name; /* from hostkey.h */
    int64_t id; /* in the queue */
    struct origin *origins;
    unsigned asking;        /* origins whose robots.txt is being fetched: pages wait */
    struct origin *errands; /* origins whose robots.txt redirects to this host */
    double delay;           /* seconds from the end of one request to the next */
    double ready_at;        /* earliest time of the next request */
    uint32_t in_flight;
    uint64_t waiting;           /* URLs on disk */
    uint64_t pages;             /* pages in this visit */
    int64_t best;               /* priority of the next URL, as far as known */
    int64_t after;              /* and of the best on disk */
    struct frontier_url *ahead; /* URLs taken but not started, from ahead_at on; NULL: none */
    size_t ahead_at, ahead_n;
    struct host *same_slot, *same_id; /* next in its slots of the tables */
    uint64_t turn, served;            /* pages requested in this turn, for --host-share */
    size_t place;                     /* in its heap */
    int heap;                         /* SCHEDULE_* */
};

enum {
    SCHEDULE_NONE,
    SCHEDULE_PAUSED,
    SCHEDULE_READY,
    SCHEDULE_HEAPS
};

struct schedule_heap {
    struct host **host;
    size_t n, cap;
};

struct schedule {      /* initialize with {.per_host = 1} */
    uint32_t per_host; /* requests to one host at a time */
    uint32_t share;    /* pages of a host per turn; 0: any number */
    uint64_t turn;
    struct host **slot, **id_slot; /* by name and by number */
    size_t n_slots, n_hosts;
    uint64_t seed; /* of the table */
    struct schedule_heap heap[SCHEDULE_HEAPS];
};
void schedule_fini(struct schedule *s);

/* schedule_find returns the host of that name or number, or NULL; schedule_add adds a host, or returns NULL
 * if out of memory. */
struct host *schedule_find(const struct schedule *s, deja_slice name);
struct host *schedule_find_id(const struct schedule *s, int64_t id);
struct host *schedule_add(struct schedule *s, deja_slice name, int64_t id);

/* Update the place of a host.  Call it after any change of its waiting URLs, errands, requests in
 * progress, best or ready_at, before any other call.  Fails with DEJA_ENOMEM. */
int schedule_update(struct schedule *s, struct host *h);
/* A page is requested from the host; then call schedule_update. */
void schedule_count(const struct schedule *s, struct host *h);
/* Returns the ready host with the best URL, which stays in its heap.  Without one,
 * returns NULL, and *pause becomes the number of seconds until one is ready, negative if no host
 * waits. */
struct host *schedule_next(struct schedule *s, double now, double *pause);

/* Whether the host has waiting URLs. */
static inline bool host_waits(const struct host *h)
{
    return h->waiting > 0 || h->ahead_at < h->ahead_n;
}

/* The origin of that name, created if necessary; NULL: out of memory. */
struct origin *host_origin(struct host *h, deja_slice name);
/* Let the host fetch the origin's robots.txt. */
void host_add_errand(struct host *h, struct origin *o);
struct origin *host_take_errand(struct host *h); /* NULL: none */

#endif
