/* stats.h - the account of a filter. */
#ifndef DJ_STATS_H
#define DJ_STATS_H
#include "kinds/deja_filter.h"

/* deja_filter_stats, with a message for a filter whose bodies are lost. */
int dj_filter_account(const deja_filter *f, deja_stats *stats, deja_error *err);

#endif
