/* open.h - checks the header of a file and maps its bodies. */
#ifndef DJ_OPEN_H
#define DJ_OPEN_H
#include "store/file.h"

/* Opens, checks and maps a file for reading, without making a filter. */
int dj_file_read(const char *path, struct dj_file **out, struct dj_header *h, deja_error *err);
/* Checks that a header must pass before it becomes a filter, from a file or from memory; `name` is
 * for messages. */
int dj_open_records(const struct dj_header *h, bool repair, deja_error *err);
int dj_open_expected(const struct dj_header *h, const deja_options *want, const char *name,
                     deja_error *err);
int dj_open_key(const struct dj_header *h, const deja_options *want, const char *name,
                uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Compares the URL rules of a filter or sieve (a profile, 0: bytes as given, and the id of its
 * rules) with those that the caller expects. */
int dj_open_url_rules(uint32_t have, uint64_t have_rules, const deja_url_rules *want,
                      const char *path, deja_error *err);
/* These functions set up part i from the header, without a body, and the counts once all parts
 * have bodies. */
void dj_open_part(deja_filter *f, const struct dj_header *h, uint32_t i);
void dj_open_counts(deja_filter *f, const struct dj_header *h);
/* Implements follow of struct dj_owner_ops, for windows. */
bool dj_file_follow(deja_filter *f, bool take);

#endif
