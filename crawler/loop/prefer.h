/* prefer.h - URLs that are fetched before or after others (--prefer REGEX[:WEIGHT]). */
#ifndef CRAWLER_LOOP_PREFER_H
#define CRAWLER_LOOP_PREFER_H
#include "deja.h"

typedef struct prefer prefer;

/* The text has one REGEX[:WEIGHT] per line; NULL or "": none, and *out becomes NULL.  A colon at
 * the end that only an integer follows separates the weight; otherwise it is 1.  DEJA_EINVAL: err
 * names the line. */
int prefer_new(const char *text, prefer **out, deja_error *err);
void prefer_free(prefer *p);
/* The sum of the weights of all expressions that match, within ORDER_WEIGHT_MAX; p may be NULL. */
int prefer_weight(const prefer *p, deja_slice url);

#endif
