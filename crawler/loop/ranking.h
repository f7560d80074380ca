/* ranking.h - which URL of the queue is next: the order of the crawl, and what links change. */
#ifndef CRAWLER_LOOP_RANKING_H
#define CRAWLER_LOOP_RANKING_H
#include "crawler/loop/crawler.h"

/* At the start of a run; URLs that were ordered otherwise are ordered again. */
int ranking_open(struct crawler *c, deja_error *err);
void ranking_close(struct crawler *c);

/* A URL of this priority waits at the host. */
int ranking_raise(struct crawler *c, struct host *h, int64_t priority, deja_error *err);

/* Links are collected, and counted when the page that has them is finished. */
void ranking_begin(struct crawler *c);
int ranking_link(struct crawler *c, deja_slice url, deja_error *err);
void ranking_pending(struct crawler *c); /* a link that a sieve could not judge */
int ranking_finish(struct crawler *c, const struct frontier_url *page, deja_error *err);
/* A link that was pending. */
int ranking_late(struct crawler *c, const struct link *link, deja_error *err);

#endif
