/* schedule.h - whose turn is it?  Hosts, the pause between two requests to one, and which of those
 * that are ready comes first. */
#ifndef CRAWLER_LOOP_SCHEDULE_H
#define CRAWLER_LOOP_SCHEDULE_H
#include "crawler/http/robots.h"
#include "crawler/queue/frontier.h"

enum origin_state {
    ORIGIN_UNKNOWN, /* robots.txt must be fetched before anything else */
    ORIGIN_ASKED,   /* it is on its way                                */
    ORIGIN_KNOWN,   /* it was read, or there is none                   */
    ORIGIN_CLOSED   /* it cannot be fetched: nothing is allowed        */
};

/* A scheme and port of a host, with a robots.txt of its own (RFC 9309, 2.3). */
struct origin {
    char *name; /* scheme://authority */
    struct host *host;
    enum origin_state state;
    struct robots robots;
    char *elsewhere; /* where a redirect says that robots.txt is; NULL: at its own place */
    unsigned hops;   /* redirects so far                                               */
    unsigned attempts;
    int fault;              /* if it is CLOSED: a fetch_fault, or 0: the server's 5xx */
    struct origin *next;    /* of the host */
    struct origin *in_line; /* of the host that is to be asked for robots.txt */
};

#define HOST_AHEAD 32 /* URLs taken from the queue at once */

struct host {
    char *name; /* of hostkey.h */
    int64_t id; /* in the queue */
    struct origin *origins;
    unsigned asking;        /* origins whose robots.txt is on its way: nothing else is begun */
    struct origin *errands; /* robots.txt files that redirects of any host expect here       */
    double delay;           /* seconds from the end of one request to the next */
    double ready_at;        /* when the next may begin                         */
    uint32_t in_flight;
    uint64_t waiting;           /* URLs on disk                                    */
    uint64_t pages;             /* of this visit                                   */
    uint32_t depth;             /* of the next URL, as far as is known             */
    struct frontier_url *ahead; /* taken, not begun: from ahead_at on; NULL: none */
    size_t ahead_at, ahead_n;
    struct host *same_slot; /* of the table of names */
    size_t place;           /* in the heap it is in  */
    int heap;               /* SCHEDULE_*            */
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

struct schedule {      /* begin with {.per_host = 1} */
    uint32_t per_host; /* requests to one host at a time */
    struct host **slot;
    size_t n_slots, n_hosts;
    uint64_t seed; /* of the table; drawn with its first slots */
    struct schedule_heap heap[SCHEDULE_HEAPS];
};
void schedule_fini(struct schedule *s);

/* The host of that name; NULL: not met yet.  schedule_add makes one, NULL: no memory. */
struct host *schedule_find(const struct schedule *s, deja_slice name);
struct host *schedule_add(struct schedule *s, deja_slice name, int64_t id);

/* Right after any change of what a host waits for, how many requests are under way, its depth, or
 * when it is ready, before anything else is asked of the schedule: find its new place.
 * DEJA_ENOMEM. */
int schedule_update(struct schedule *s, struct host *h);
/* Of the hosts that may be asked now, the one with the shallowest URL; it stays where it is. NULL:
 * none, and *pause tells for how many seconds: negative, nobody waits. */
struct host *schedule_next(struct schedule *s, double now, double *pause);

/* Does a URL of it wait? */
static inline bool host_waits(const struct host *h)
{
    return h->waiting > 0 || h->ahead_at < h->ahead_n;
}

/* The origin of that name, which is new or not; NULL: no memory. */
struct origin *host_origin(struct host *h, deja_slice name);
/* The host is to be asked for the origin's robots.txt. */
void host_add_errand(struct host *h, struct origin *o);
struct origin *host_take_errand(struct host *h); /* NULL: none */

#endif
