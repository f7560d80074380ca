/* export.h - the bytes that the file of a filter would hold. */
#ifndef DJ_EXPORT_H
#define DJ_EXPORT_H
#include "kinds/deja_filter.h"

/* Returns the XXH3 of all bodies. */
uint64_t dj_export_checksum(const deja_filter *f);
/* Copies bytes of the bodies, from offset `at` of the file. */
size_t dj_export_bodies(const deja_filter *f, uint64_t at, uint8_t *out, size_t len);
/* Returns how many of the len bytes at `at` lie in begin .. end, or 0 if the first one does not. */
size_t dj_export_overlap(uint64_t at, size_t len, uint64_t begin, uint64_t end);

#endif
