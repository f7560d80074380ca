/* textkeys.h - texts as keys: the step of the pipeline that splits records into units, and units
 * into n-grams.
 *
 * A unit is what dedup keeps or removes: a paragraph of a JSON document (textdocs.h), otherwise the
 * whole record.  Its key is its text or, with --ngrams, each of its n-grams is a key, and the block
 * has units (blocks.h).  A document without a paragraph is keyless. */
#ifndef CLI_SESSION_TEXTKEYS_H
#define CLI_SESSION_TEXTKEYS_H
#include "cli/options/shared_options.h"
#include "tools/input/input.h"

struct textkeys {
    bool documents;            /* keys are texts of JSON documents ... */
    struct jsonpick_path path; /* ... at this path */
    uint32_t ngrams;           /* words; 0: units are compared as a whole */
};

void textkeys_init(struct textkeys *t, const struct shared_options *c);
/* Does it change any key? */
bool textkeys_active(const struct textkeys *t);
/* What a filter will hold. */
enum input_estimated textkeys_estimated(const struct textkeys *t);

/* A pipeline_step; the context is a struct textkeys. */
int textkeys_run(void *textkeys, struct block *b, deja_error *err);

#endif
