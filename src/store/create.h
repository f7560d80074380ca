/* create.h - a new filter in a file, and the growth of one that is there. */
#ifndef DJ_CREATE_H
#define DJ_CREATE_H
#include "store/file.h"

/* A new file with a filter of this plan, its bodies zeros. */
int dj_file_create(const char *path, unsigned flags, const struct dj_plan *plan,
                   const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc, deja_filter **out,
                   deja_error *err);
/* A file without a name for the first n_parts parts of a filter, whose shapes are set; it has its
 * name with the first sync.  `like` is a file whose permissions, owner and group it
 * gets, or -1: those of the file that has its name, or of a new one. */
int dj_file_begin(deja_filter *f, unsigned flags, uint32_t n_parts, int like, deja_error *err);
/* Are these flags of deja_filter_create?  DEJA_EVERSION. */
int dj_file_check_flags(unsigned flags, deja_error *err);
/* May a new file have this name, with these flags? */
int dj_file_check_name(const char *path, unsigned flags, deja_error *err);
/* The file at path, if any, may be replaced by a filter. */
int dj_file_check_replaced(const char *path, deja_error *err);
/* The owner's grow. */
int dj_file_grow(deja_filter *f, uint32_t n_parts);

#endif
