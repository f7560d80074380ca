/* generations.h - the rules by which the generations of a window take turns.
 *
 * They work on a struct dj_window, which is a filter's own or a copy of it: stream/dedup.c applies
 * them ahead of time. */
#ifndef DJ_GENERATIONS_H
#define DJ_GENERATIONS_H
#include "kinds/deja_filter.h"

/* Keys that a generation is sized for. */
uint64_t dj_generations_quota(const struct dj_plan *plan);
uint32_t dj_generations_newest(const struct dj_plan *plan, const struct dj_window *w);
/* Keys that the newest still takes. */
uint64_t dj_generations_room(const struct dj_plan *plan, const struct dj_window *w, uint64_t now);
/* By how many seconds a window by time starts in the future, and the end of that: now. */
uint64_t dj_generations_behind(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);
void dj_generations_restart(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
/* The next one begins, with `clearing` set if it holds keys of an older one. */
void dj_generations_advance(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
/* Has this generation begun and not expired?  All that live, a bit each. */
bool dj_generations_lives(const struct dj_plan *plan, const struct dj_window *w, uint32_t line,
                          uint64_t now);
unsigned dj_generations_living(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);

#endif
