/* schedule.h - whose turn is it?  Hosts, the pause between two requests to one, and which of those
 * that are ready comes first. */
#ifndef CRAWLER_SCHEDULE_H
#define CRAWLER_SCHEDULE_H
#include "frontier.h"
#include "robots.h"

enum host_robots {
    HOST_ROBOTS_UNKNOWN, /* to be fetched before anything else */
    HOST_ROBOTS_ASKED,   /* on its way                         */
    HOST_ROBOTS_KNOWN,   /* read, or there is none             */
    HOST_ROBOTS_CLOSED   /* not to be had: nothing is allowed  */
};

#define HOST_AHEAD 32 /* URLs taken from the queue at once */

struct host {
    char *name; /* scheme://authority */
    int64_t id; /* in the queue       */
    enum host_robots robots_state;
    unsigned robots_attempts;
    int robots_fault; /* when it is CLOSED: a fetch_fault, or 0: the server's 5xx */
    struct robots robots;
    double delay;    /* seconds from the end of one request to the next */
    double ready_at; /* when the next may begin                         */
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

enum { SCHEDULE_NONE, SCHEDULE_PAUSED, SCHEDULE_READY, SCHEDULE_HEAPS };

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

/* Does anything of it wait? */
static inline bool host_waits(const struct host *h)
{
    return h->waiting > 0 || h->ahead_at < h->ahead_n;
}

#endif
