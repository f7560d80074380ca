/* sync.h - makes adds durable. */
#ifndef DJ_SYNC_H
#define DJ_SYNC_H
#include "store/file.h"

/* The checksum for a sealed record: XXH3 of all bodies or, after an update, of the piece table. */
uint64_t dj_file_checksum(deja_filter *f);
/* Writes a sealed record with this checksum, once everything that it describes is on the disk. */
int dj_file_seal(deja_filter *f, uint64_t checksum, deja_error *err);
/* Implements checkpoint of struct dj_owner_ops, for windows. */
int dj_file_checkpoint(deja_filter *f);

extern const struct dj_owner_ops dj_file_ops;

#endif
