/* create.h - a new filter in a file, and the growth of one that is there. */
#ifndef DJ_CREATE_H
#define DJ_CREATE_H
#include "store/file.h"

/* A new file with a filter of this plan, its bodies zeros. */
int dj_file_create(const char *path, unsigned flags, const struct dj_plan *plan,
                   const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc, deja_filter **out,
                   deja_error *err);
/* The same without a check of the name.  The filter gets the parts of `like`, without their keys,
 * unless it is NULL; and its file gets the permissions, owner and group of the open file `rights`,
 * or if that is -1, those of the file that it will replace. */
int dj_file_make_filter(const char *path, unsigned flags, const struct dj_plan *plan,
                        const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc,
                        const deja_filter *like, int rights, deja_filter **out, deja_error *err);
/* Are these flags of deja_filter_create?  DEJA_EVERSION. */
int dj_file_check_flags(unsigned flags, deja_error *err);
/* May a new file have this name, with these flags? */
int dj_file_check_name(const char *path, unsigned flags, deja_error *err);
/* The file at path, if any, may be replaced by a filter. */
int dj_file_check_replaced(const char *path, deja_error *err);
/* The owner's grow. */
int dj_file_grow(deja_filter *f, uint32_t n_parts);

#endif
