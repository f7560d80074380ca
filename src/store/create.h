/* create.h - creates a filter in a file, and lets it grow. */
#ifndef DJ_CREATE_H
#define DJ_CREATE_H
#include "store/file.h"

/* Creates a file with a filter of this plan; its bodies are zeros. */
int dj_file_create(const char *path, unsigned flags, const struct dj_plan *plan,
                   const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc, deja_filter **out,
                   deja_error *err);
/* The same without a check of the name.  If `like` is not NULL, the filter has the parts of
 * `like`, with new bodies.  The file gets the permissions, owner and group of the open file
 * `rights`; if that is -1, those of the file that it will replace. */
int dj_file_make_filter(const char *path, unsigned flags, const struct dj_plan *plan,
                        const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc,
                        const deja_filter *like, int rights, deja_filter **out, deja_error *err);
/* Refuses flags that deja_filter_create does not know: DEJA_EVERSION. */
int dj_file_check_flags(unsigned flags, deja_error *err);
/* Checks whether a new file may have this name with these flags. */
int dj_file_check_name(const char *path, unsigned flags, deja_error *err);
/* Checks whether a filter may replace the file at path, if there is one. */
int dj_file_check_replaced(const char *path, deja_error *err);
/* Implements grow of struct dj_owner_ops. */
int dj_file_grow(deja_filter *f, uint32_t n_parts);

#endif
