/* order.h - the order in which waiting URLs are fetched, as one number per URL. */
#ifndef CRAWLER_QUEUE_ORDER_H
#define CRAWLER_QUEUE_ORDER_H
#include <stdbool.h>
#include <stdint.h>

enum order_kind {      /* stored in the queue: append only; 0 is breadth, too */
    ORDER_BREADTH = 1, /* the fewest links from a seed */
    ORDER_DEPTH,       /* the most */
    ORDER_BACKLINKS,   /* the most links to the URL */
    ORDER_OPIC         /* the most cash */
};

#define ORDER_WEIGHT_MAX 1000 /* of a URL, above and below 0 */
#define ORDER_LOWEST     INT64_MIN

struct order_facts {
    uint32_t depth; /* links from a seed */
    int64_t links;  /* to the URL, that were counted */
    double cash;    /* 0 or more */
};

/* The URL with the highest priority is next.  A greater weight counts more than any facts. */
int64_t order_priority(uint32_t kind, int weight, const struct order_facts *facts);
/* The weight in a priority. */
int order_weight(int64_t priority);

/* Whether links change the priority of a URL that waits. */
static inline bool order_counts_links(uint32_t kind)
{
    return kind == ORDER_BACKLINKS || kind == ORDER_OPIC;
}

#endif
