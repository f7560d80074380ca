/* generations.h - decides when the generations of a window begin, fill and expire.
 *
 * The functions work on a struct dj_window, which belongs to a filter or is a copy.
 * stream/dedup.c uses a copy to apply the rules ahead of time. */
#ifndef DJ_GENERATIONS_H
#define DJ_GENERATIONS_H
#include "kinds/deja_filter.h"

/* Keys that a generation is sized for. */
uint64_t dj_generations_quota(const struct dj_plan *plan);
/* Seconds after which a time window begins the next generation. */
uint64_t dj_generations_lifetime(const struct dj_plan *plan);
uint32_t dj_generations_newest(const struct dj_plan *plan, const struct dj_window *w);
/* The number of keys that the newest generation can still take. */
uint64_t dj_generations_room(const struct dj_plan *plan, const struct dj_window *w, uint64_t now);
/* These functions return by how many seconds a time window starts in the future, and restart it
 * from now. */
uint64_t dj_generations_behind(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);
void dj_generations_restart(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
/* Begins the next generation; sets `clearing` if its line still holds keys of an older one. */
void dj_generations_advance(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
/* Whether this generation has begun and not expired; and a bit mask of all such generations. */
bool dj_generations_lives(const struct dj_plan *plan, const struct dj_window *w, uint32_t line,
                          uint64_t now);
unsigned dj_generations_living(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);

#endif
