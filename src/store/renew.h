/* renew.h - replaces the filter in a file with another one. */
#ifndef DJ_RENEW_H
#define DJ_RENEW_H
#include "kinds/deja_filter.h"

/* Implement next and replace of struct dj_owner_ops. */
int dj_file_next(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                 deja_error *err);
int dj_file_replace(deja_filter *f, deja_filter *next, deja_error *err);

#endif
