/* remote.h - dedup, check and add with --redis: the filter is a cache on servers (shards.h). */
#ifndef CLI_SERVER_REMOTE_H
#define CLI_SERVER_REMOTE_H
#include "cli/session/command.h"

enum remote_use {
    REMOTE_DEDUP,
    REMOTE_CHECK,
    REMOTE_ADD
};

struct remote_job {
    enum remote_use use;
    const struct shared_options *shared;
    const char *name; /* of the cache */
    size_t first;     /* operand that is input */
    bool invert;      /* check -v, dedup -D: print the others */
    bool count;       /* print how many instead */
};
int remote_run(struct call *call, const struct remote_job *what, deja_error *err);

/* What a command says about it in its help. */
#define REMOTE_TEXT                                                                               \
    "With --redis URL the filter is a cache on a Redis or Valkey server or cluster with the "     \
    "module deja.so (deja-serve(1)): N filters that the server distributes, replicates and "      \
    "persists, for many machines at once. Redirections are followed, lost connections made "      \
    "again, and what was not acknowledged is sent again, for a minute."

#endif
