/* existing.h - what is already there under the name of a new file.
 *
 * No command replaces a filter unless --force is given, and no command writes its results over
 * one.  The messages say what would be lost:
 *
 *     seen.deja: a scalable filter with 1,000,000 keys, last written 2026-11-17 19:02; ... */
#ifndef CLI_SESSION_EXISTING_H
#define CLI_SESSION_EXISTING_H
#include "deja.h"

/* Is it a filter file of deja's, or a bloom file of DCSO's?  Decided by its first bytes. */
bool existing_is_filter(const char *path);
/* DEJA_OK if a new filter may take this name: nothing is there, or an empty file, or a filter of
 * the same format and `force` is set. */
int existing_check(const char *path, bool dcso, bool force, deja_error *err);
/* The same for results, which replace any file but a filter. */
int existing_check_output(const char *path, deja_error *err);
/* Another process may have taken the name after existing_check: then say what it made.  Returns
 * rc. */
int existing_explain(int rc, const char *path, bool dcso, bool force, deja_error *err);
/* Are both names of one file? */
bool existing_same(const char *path, const char *other);

#endif
