/* call.h - one call of a command: its arguments, the key that it names, and replies. */
#ifndef CALL_H
#define CALL_H
#include "value.h"
#include <stdbool.h>

enum {
    CALL_READ = REDISMODULE_READ,
    CALL_WRITE = REDISMODULE_READ | REDISMODULE_WRITE
};

struct call {
    RedisModuleCtx *ctx;
    RedisModuleString **argv;
    int argc;            /* the server has checked it against the arity in docs.c */
    RedisModuleKey *key; /* argv[1] once it is open; docs.c closes it */
    struct value *v;     /* its value; NULL: the key is absent */
};

/* Open the key argv[1].  These return true, or reply with an error and return false.
 * call_open accepts any of our values and an absent key, call_filter only a filter of deja,
 * call_ready also one of RedisBloom, and call_bytes these or an opaque value. */
bool call_open(struct call *c, int mode);
bool call_filter(struct call *c, int mode);
bool call_ready(struct call *c, int mode);
bool call_bytes(struct call *c);

bool call_word_is(const struct call *c, int i, const char *word); /* ignores case */

/* Replies.  All return REDISMODULE_OK. */
int call_error(const struct call *c, const char *text);
/* Replies with "ERR " and the reason, with options as commands spell them. */
int call_fail(const struct call *c, int status, const deja_error *err);
/* The error for a filter whose header fails value_check. */
int call_unsound(const struct call *c, const deja_error *err);
/* The error for a value that the command cannot use: it is being loaded, of RedisBloom, or opaque. */
int call_no_filter(const struct call *c);
int call_ok(const struct call *c, const char *event);
/* The end of a command that changed either everything or nothing. */
int call_finish(const struct call *c, int status, const deja_error *err, const char *event);

void call_notify(const struct call *c, const char *event);

#endif
