/* order.c - the order in which waiting URLs are fetched, as one number per URL.
 *
 *     bits 52 to 63   the weight (--prefer), signed
 *     bits 0 to 51    the score, by the order of the crawl
 *
 * So one index over integers serves every order, and URLs of equal priority come in the order of
 * their arrival.  The score of cash is the upper part of the bits of the double: as integers, the
 * bits of positive doubles have the order of their values, however small they become. */
#include "crawler/queue/order.h"
#include <math.h>
#include <string.h>

#define SCORE_BITS 52
#define SCORE_MOST ((INT64_C(1) << SCORE_BITS) - 1)

static int64_t score_of_cash(double cash)
{
    uint64_t bits;
    if (!(cash > 0) || !isfinite(cash)) /* NaN is not above 0 */
        return 0;
    memcpy(&bits, &cash, sizeof bits);
    return (int64_t)(bits >> (64 - SCORE_BITS)); /* the sign is 0 */
}

static int64_t score(uint32_t kind, const struct order_facts *f)
{
    switch (kind) {
    case ORDER_DEPTH:
        return f->depth;
    case ORDER_BACKLINKS:
        return f->links < 0 ? 0 : f->links < SCORE_MOST ? f->links : SCORE_MOST;
    case ORDER_OPIC:
        return score_of_cash(f->cash);
    default:
        return (int64_t)UINT32_MAX - f->depth;
    }
}

int64_t order_priority(uint32_t kind, int weight, const struct order_facts *facts)
{
    const int w = weight > ORDER_WEIGHT_MAX    ? ORDER_WEIGHT_MAX
                  : weight < -ORDER_WEIGHT_MAX ? -ORDER_WEIGHT_MAX
                                               : weight;
    return w * (SCORE_MOST + 1) + score(kind, facts);
}

/* A file may hold any number. */
int order_weight(int64_t priority)
{
    const int64_t whole = priority / (SCORE_MOST + 1);
    return (int)(whole - (priority % (SCORE_MOST + 1) < 0));
}
