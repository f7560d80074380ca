/* filterset.h - looks up keys in several filter files at once.
 *
 * Each filter has its own secret key and hash functions, so keys are hashed once per filter.  The
 * files are mapped, not copied (a file of another program is read).  All filters must hold keys of the same
 * URL rules, because a line is canonicalized only once. */
#ifndef CLI_SESSION_FILTERSET_H
#define CLI_SESSION_FILTERSET_H
#include "cli/foreign/foreign_file.h"
#include "cli/session/session.h"

#define FILTERSET_MOST 64

struct filterset_one {
    const char *path;
    deja_filter *filter;         /* NULL: */
    struct foreign_file foreign; /* a filter of another program */
    struct pipeline_hash hash;
    uint64_t lines; /* found so far, if there are several filters */
};

struct filterset { /* start with {0} */
    struct filterset_one *one;
    size_t n;
    bool prefix; /* look up URL prefixes; every filter can */
    uint32_t
        older_than; /* days; find keys that were last seen then or earlier; every filter can */
    uint64_t *held; /* with several filters: bit i says that filter i has line j of the batch */

    /* private */
    size_t held_cap, hash_cap, keys_cap, answer_cap;
    uint64_t *hash;
    deja_slice *keys;
    uint8_t *answer;
};

/* How many operands, from the first one on, are filters or sieves.  The first one always counts. */
size_t filterset_leading(const struct call *call);
/* Opens the first n operands, between session_begin and session_open.  With several filters, the
 * key of --key is for those that lack their own. */
int filterset_open(struct filterset *set, struct session *s, const struct call *call, size_t n,
                   const deja_options *expect, deja_error *err);
void filterset_free(struct filterset *set);

/* Answers 1 for each line of the batch that is in any filter, otherwise 0, and sets `held`.  Lines
 * with several keys become one record, as by session_fold. */
int filterset_look_up(struct filterset *set, struct session *s, struct batch *b, deja_error *err);

/* The name of a list: that of its file, without the folder and .deja. */
deja_slice filterset_name(const struct filterset_one *one);

#endif
