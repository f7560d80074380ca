/* fate.h - the end of a URL: its row is done, and the log (--log) has a line about it. */
#ifndef CRAWLER_LOOP_FATE_H
#define CRAWLER_LOOP_FATE_H
#include "crawler/loop/crawler.h"

/* Output before state: the line is handed over before the queue commits (fate_hand_over). */
int fate_page(struct crawler *c, const struct frontier_url *u, const struct frontier_page *p,
              uint64_t bytes, deja_error *err);
int fate_skip(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
              deja_error *err); /* no request was made, or none may be */
int fate_fail(struct crawler *c, const struct frontier_url *u, enum crawl_count why,
              deja_error *err); /* no response */
/* All URLs that wait: their visit ends. */
int fate_drop_all(struct crawler *c, deja_error *err);
int fate_hand_over(struct crawler *c, deja_error *err);

#endif
