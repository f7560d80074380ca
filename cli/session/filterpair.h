/* filterpair.h - two filter files that are compared: how many keys they share. */
#ifndef CLI_SESSION_FILTERPAIR_H
#define CLI_SESSION_FILTERPAIR_H
#include "deja.h"

struct filterpair {
    deja_stats a, b; /* without the fields from the body */
    double common;   /* keys in both */
    double sigma;    /* its standard error; 0: it was counted */
};

/* Opens both files and estimates the number of common keys.  Fails if they cannot be compared; the
 * message names both. */
int filterpair_compare(const char *a, const char *b, const deja_options *expect,
                       struct filterpair *out, deja_error *err);
/* Puts the names of two files before a message about what differs between them.  Returns rc. */
int filterpair_name(int rc, const char *a, const char *b, deja_error *err);

#endif
