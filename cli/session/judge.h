/* judge.h - is the key of a line new?  With --keep N: is it one of the first N lines with its key?
 *
 * A filter only knows whether it has a key.  So with --keep, the second line with a key is treated
 * as a different key, copy 1 of it: the bytes of the key, a zero byte, and 1 in decimal.  A line is
 * new if its key, or one of the copies 1 .. N-1, is not in the filter yet; that one is then added.
 *
 * This works with every kind, and with a state.  A false positive only skips a copy: fewer than N
 * lines may come out, never more.  A key takes up to N entries of the filter, and a line that is
 * not new costs N lookups.  A line with a zero byte can be mistaken for a copy of the part before
 * that byte. */
#ifndef CLI_SESSION_JUDGE_H
#define CLI_SESSION_JUDGE_H
#include "cli/session/pipeline.h"

#define JUDGE_KEEP_MOST 1000 /* lines per key */

struct judge { /* start with the first three */
    deja_filter *filter;
    deja_dedup *pending; /* of that filter; NULL: keys are added at once */
    uint32_t keep;       /* lines per key; 0 is 1 */

    /* private: the keys of a batch that are not new so far */
    deja_slice *keys;
    size_t *which; /* the answer of each */
    uint64_t *hash;
    uint8_t *answer;
    size_t keys_cap, which_cap, hash_cap, answer_cap;
    char *text; /* copies of keys */
    size_t text_cap;
};

/* Judges n keys in order, without copies: is_new[i] becomes 1 if key i is new.  Then it is added,
 * or pending. */
int judge_keys(struct judge *j, const uint64_t *hash, size_t n, uint8_t *is_new, deja_error *err);
/* Fills the first b->keyed answers as if each key had been judged, with its copies, before the
 * next one.  On failure, some keys may have been judged. */
int judge_batch(struct judge *j, struct batch *b, deja_error *err);
void judge_fini(struct judge *j);

#endif
