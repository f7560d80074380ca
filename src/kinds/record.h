/* record.h - what changes while a filter is used, as a file's sync record has it. */
#ifndef DJ_RECORD_H
#define DJ_RECORD_H
#include "kinds/deja_filter.h"

#define DJ_TOLD_NEW DJ_BLOCK_LINES /* where a window counts the keys told "new", ever */

enum dj_state {
    DJ_SEALED = 1,
    DJ_OPEN = 2
}; /* of the bodies, as stored */

struct dj_record {
    uint64_t sequence; /* 0: never written; odd ones go to A, even ones to B */
    uint32_t state;
    uint64_t offered;
    uint64_t checksum;           /* of the bodies; 0 while they are open */
    uint64_t time;               /* seconds since 1970 */
    uint64_t syncs;              /* finished so far, this one included */
    uint64_t keys[DJ_MAX_PARTS]; /* of each part; window: of each generation, and DJ_TOLD_NEW */
    struct dj_earlier earlier;
    /* Of some kinds: */
    uint64_t removed, refused, hidden;
    uint64_t familiar;
    uint64_t turns; /* and whether the newest generation is being cleared (window.c) */
    uint64_t start[DJ_BLOCK_LINES];
};

#endif
