/* dedup_append.h - deja dedup --append FILE: new lines go to the output and into FILE, and the lines
 * of FILE count as seen. */
#ifndef CLI_COMMANDS_DEDUP_APPEND_H
#define CLI_COMMANDS_DEDUP_APPEND_H
#include "cli/session/append.h"
#include "cli/session/judge.h"
#include "cli/session/session.h"

struct dedup_append { /* start with {.file.fd = -1}; all calls are harmless without a file */
    struct append file;
    uint64_t known;       /* lines that FILE had at the start */
    uint64_t lines;       /* collected since then */
    double lost;          /* lines of FILE that would have been lost */
    struct buffer header; /* of FILE */
    bool begun;           /* the first lines were collected */
};

/* Opens FILE.  Fails if it is the output or an input. */
int dedup_append_open(struct dedup_append *a, const char *path, const struct call *call,
                      const struct shared_options *c, const struct session *s, deja_error *err);
/* The operands with FILE before them, for estimates; `call` itself without FILE. */
struct dedup_append_call {
    struct call call;
    const char **operands; /* to be freed, or NULL */
};
struct dedup_append_call dedup_append_call(const struct dedup_append *a, const struct call *call);
/* Reads FILE, and judges its lines, so that they are not new. */
int dedup_append_learn(struct dedup_append *a, const struct call *call,
                       const struct shared_options *c, struct judge *judge, deja_error *err);
/* Collects the new lines of a batch.  DEJA_EINVAL: their header is not that of FILE. */
int dedup_append_take(struct dedup_append *a, const struct session *s, const struct batch *b,
                      deja_error *err);
void dedup_append_close(struct dedup_append *a, int rc);

#endif
