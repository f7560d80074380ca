/* record.h - the numbers that change while a filter is in use, as stored in a file's sync
 * record. */
#ifndef DJ_RECORD_H
#define DJ_RECORD_H
#include "kinds/deja_filter.h"

#define DJ_TOLD_NEW DJ_BLOCK_LINES /* where a window counts all keys ever answered "new" */

/* The state of the bodies, as stored. */
enum dj_state {
    DJ_SEALED = 1,
    DJ_OPEN = 2
};

struct dj_record {
    uint64_t sequence; /* 0: never written; odd numbers go to record A, even ones to B */
    uint32_t state;
    uint64_t offered;
    uint64_t checksum;           /* of the bodies; 0 while they are open */
    uint64_t time;               /* seconds since 1970 */
    uint64_t syncs;              /* so far, including this one */
    uint64_t keys[DJ_MAX_PARTS]; /* of each part; window: of each generation, and DJ_TOLD_NEW */
    struct dj_earlier earlier;
    /* Only some kinds have these: */
    uint64_t removed, refused, hidden;
    uint64_t familiar;
    uint64_t turns; /* also records whether the newest generation is being cleared (window.c) */
    uint64_t start[DJ_BLOCK_LINES];
};

#endif
