/* sync.h - makes adds durable. */
#ifndef DJ_SYNC_H
#define DJ_SYNC_H
#include "store/file.h"

/* XXH3 of all bodies. */
uint64_t dj_file_checksum(const struct dj_file *file);
/* Implements checkpoint of struct dj_owner_ops, for windows. */
int dj_file_checkpoint(deja_filter *f);

extern const struct dj_owner_ops dj_file_ops;

#endif
