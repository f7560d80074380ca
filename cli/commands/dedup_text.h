/* dedup_text.h - deja dedup of texts: --paragraphs, --jsonl-text and --ngrams.
 *
 * A unit is a paragraph, with --jsonl-text a paragraph of a document, otherwise a line.  dedup
 * prints each unit the first time it is seen; a document without any unit left is dropped. */
#ifndef CLI_COMMANDS_DEDUP_TEXT_H
#define CLI_COMMANDS_DEDUP_TEXT_H
#include "cli/session/judge.h"
#include "cli/session/session.h"
#include "tools/base/buffer.h"

struct dedup_text { /* start with the first four */
    struct session *session;
    struct judge *judge;
    bool repeated; /* print what is removed instead */
    bool count;    /* print nothing */

    uint64_t documents; /* lines with a text */
    uint64_t emptied;   /* of these, without a paragraph left */
    uint64_t units, removed;
    uint64_t bytes, removed_bytes; /* of the texts that were compared */
    uint64_t at_risk;              /* n-grams whose false positive would have removed a unit */
    struct buffer line;            /* a document without some of its paragraphs */
};

/* Do the options ask for it? */
bool dedup_text_wanted(const struct shared_options *c);
/* Judges and prints a batch.  The caller hands over and commits. */
int dedup_text_batch(struct dedup_text *t, struct batch *b, deja_error *err);
/* The expected number of units that were removed by false positives. */
double dedup_text_lost(const struct dedup_text *t, const deja_stats *s);
/* The account: what was read and removed, in a phrase, and as fields. */
struct dedup_text_account {
    char text[256];
};
struct dedup_text_account dedup_text_account(const struct dedup_text *t);
void dedup_text_json(const struct dedup_text *t, struct json *j);
void dedup_text_fini(struct dedup_text *t);

#endif
