/* textkeys.c - texts as units and n-grams; see textkeys.h. */
#include "cli/session/textkeys.h"
#include "cli/session/ngrams.h"
#include "cli/session/textdocs.h"
#include "tools/base/fail.h"

void textkeys_init(struct textkeys *t, const struct shared_options *c)
{
    *t = (struct textkeys){.documents = c->jsonl_text, .ngrams = c->ngrams};
    if (t->documents)
        (void)jsonpick_parse(&t->path, c->jsonl_text); /* pick_init has checked it */
}

bool textkeys_active(const struct textkeys *t)
{
    return t->documents || t->ngrams;
}

enum input_estimated textkeys_estimated(const struct textkeys *t)
{
    return t->ngrams ? INPUT_WORDS : t->documents ? INPUT_TEXT_BREAKS : INPUT_RECORDS;
}

static bool add_ngrams(struct block *b, deja_slice text, unsigned n, size_t end)
{
    struct ngrams g;
    deja_slice ngram;
    bool fine = true;
    if (!ngrams_is_normal(text)) {
        char *out = block_room(b, text.len);
        if (!out)
            return false;
        text = (deja_slice){out, ngrams_normalize(text, out)};
        block_take(b, text.len);
    }
    ngrams_start(&g, text, n);
    while (fine && ngrams_next(&g, &ngram))
        fine = block_rekey_add(b, ngram, end);
    return fine && block_unit_add(b, text);
}

static bool add_keyless(const struct textkeys *t, struct block *b, size_t end)
{
    const deja_slice none = {NULL, 0};
    b->keyless = true;
    return block_rekey_add(b, none, end) && (!t->ngrams || block_unit_add(b, none));
}

static bool add_unit(const struct textkeys *t, struct block *b, deja_slice text, size_t end)
{
    return t->ngrams ? add_ngrams(b, text, t->ngrams, end) : block_rekey_add(b, text, end);
}

static bool add_document(const struct textkeys *t, struct block *b, deja_slice text, size_t end)
{
    deja_slice paragraph;
    if (!textdoc_next(&text, &paragraph))
        return add_keyless(t, b, end);
    bool fine = add_unit(t, b, paragraph, end);
    while (fine && textdoc_next(&text, &paragraph))
        fine = add_unit(t, b, paragraph, end);
    return fine;
}

int textkeys_run(void *textkeys, struct block *b, deja_error *err)
{
    const struct textkeys *t = textkeys;
    bool fine = true;
    block_rekey(b);
    for (size_t i = 0; i < b->n && fine; i++) {
        const deja_slice text = b->keys[i];
        fine = !text.data     ? add_keyless(t, b, b->ends[i])
               : t->documents ? add_document(t, b, text, b->ends[i])
                              : add_unit(t, b, text, b->ends[i]);
    }
    if (!fine) {
        b->n = 0;
        return fail(err, DEJA_ENOMEM, "%s: out of memory for the text at line %llu",
                    fail_path(b->path).text, (unsigned long long)b->line);
    }
    block_rekey_end(b);
    return DEJA_OK;
}
