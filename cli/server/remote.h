/* remote.h - dedup, check and add with --redis, where the filter is a cache on servers
 * (shards.h). */
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
    size_t first;     /* the first operand that is an input */
    bool invert;      /* check -v, dedup -D: print the others */
    bool count;       /* print only the number of lines */
};
int remote_run(struct call *call, const struct remote_job *what, deja_error *err);

/* A paragraph in the help of these commands. */
#define REMOTE_TEXT                                                                               \
    "With --redis URL the filter is a cache on a Redis or Valkey server or cluster with the "     \
    "module deja.so (deja-serve(1)), shared by many machines: N filters that the server "         \
    "distributes, replicates and persists. deja follows redirections, reconnects, and resends "   \
    "what was not acknowledged, for up to a minute. A message reports a lost server and its "     \
    "return.\n\n"                                                                                 \
    "With --redis F times, server i has filter i of F (docs/machines.md): a line was seen if "    \
    "every server that answers says so. Without one of them, more lines are lost to false "       \
    "positives, and the summary gives the rate; its keys wait in a file (--spool) until it is "   \
    "back. These filters have a fixed size (-n), and the order of the servers matters."

#endif
