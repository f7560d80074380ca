/* existing.h - protects existing filter files.
 *
 * No command replaces a filter without --force, and no command overwrites one with results.  The
 * messages say what would be lost:
 *
 *     seen.deja: a scalable filter with 1,000,000 keys, last written 2026-11-17 19:02; ... */
#ifndef CLI_SESSION_EXISTING_H
#define CLI_SESSION_EXISTING_H
#include "deja.h"

struct foreign_format;

/* Whether the first bytes are those of a filter file, of deja or of another program. */
bool existing_is_filter(const char *path);
/* Whether it is one of these, or a sieve. */
bool existing_is_state(const char *path);
/* Returns DEJA_OK if a new filter can have this name: the file is missing, is empty or, with
 * `force`, is a filter of the same format (NULL: of deja). */
int existing_check(const char *path, const struct foreign_format *format, bool force,
                   deja_error *err);
/* The same for a new sieve: nothing has the name, or a directory (an empty one), or, with `force`, a
 * sieve. */
int existing_check_sieve(const char *path, bool force, deja_error *err);
/* The same for results, which replace any file except a filter. */
int existing_check_output(const char *path, deja_error *err);
/* If another process has created a file of that name since existing_check, describes it in err.
 * Returns rc. */
int existing_explain(int rc, const char *path, const struct foreign_format *format, bool force,
                     deja_error *err);
/* If err says that a file is not a deja filter file and it is one of another program, says so. */
void existing_explain_foreign(deja_error *err);
/* Whether both paths refer to the same file. */
bool existing_same(const char *path, const char *other);

#endif
