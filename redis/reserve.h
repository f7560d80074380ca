/* reserve.h - the options of a filter as words of a command, read and written. */
#ifndef RESERVE_H
#define RESERVE_H
#include "value.h"

#define RESERVE_OPTIONS 64 /* rows of the option table, at most */

/* Read words from argv[*i] on into opt, until one that is no option; *i is then its place.
 * 0, or the client has been told what is wrong. */
int reserve_parse(RedisModuleCtx *ctx, RedisModuleString **argv, int argc, int *i,
                  deja_options *opt);

/* A filter under an empty key: 0, or the client has been told why not.  Replicas and the log get
 * a command with all options and the secret key, so that they make the same. */
int reserve_make(RedisModuleCtx *ctx, RedisModuleKey *key, RedisModuleString *name,
                 deja_options *opt, struct value **out);

int word_is(const RedisModuleString *word, const char *what); /* in any case of letters */

#endif
