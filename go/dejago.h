/* dejago.h - libdeja in a form that suits cgo.
 *
 * C must not keep Go pointers, and Go must not pass C a pointer to memory that has Go pointers in
 * it.  An array of slices is such memory.  Here a batch is one text with the keys one after
 * another, and the offset of each key's end; the slices are made on C's stack.
 *
 * A call returns its answer by value: a Go variable whose address goes to C is allocated on the
 * heap, which would cost more than a lookup. */
#ifndef DEJAGO_H
#define DEJAGO_H
#include <deja.h>

typedef enum dejago_verb {
    DEJAGO_ADD,      /* out: uint8_t, 1: new         */
    DEJAGO_CONTAINS, /* out: uint8_t, 1: found       */
    DEJAGO_REMOVE,   /* out: uint8_t, 1: removed     */
    DEJAGO_PREFIX,   /* out: uint8_t, 1: found       */
    DEJAGO_COUNT,    /* out: uint64_t                */
    DEJAGO_DAYS      /* out: uint64_t, last << 16 | first */
} dejago_verb;

typedef struct dejago_answer {
    int status;
    int number;        /* errno, if status is DEJA_EIO           */
    uint64_t value;    /* one key: its answer; a batch: keys done */
    uint64_t not_urls; /* keys that are not URLs                  */
    char *text;        /* on failure: the error, for free()       */
} dejago_answer;

/* With rules, keys are URLs and are brought to their canonical form first. */
dejago_answer dejago_one(dejago_verb verb, deja_filter *f, const deja_url_rules *rules,
                         const char *key, size_t len);
/* n keys; out has one element per key. */
dejago_answer dejago_all(dejago_verb verb, deja_filter *f, const deja_url_rules *rules,
                         const char *text, const size_t *end, size_t n, char *out);

/* These take the key from Go memory: *opt has no Go pointers. */
int dejago_new(const deja_options *opt, const char *key, deja_filter **out, deja_error *err);
int dejago_open(const char *path, unsigned flags, const deja_options *opt, const char *key,
                deja_filter **out, deja_error *err);
int dejago_create(const char *path, unsigned flags, const deja_options *opt, const char *key,
                  deja_filter **out, deja_error *err);
int dejago_import(const char *data, size_t len, const deja_options *opt, const char *key,
                  deja_filter **out, deja_error *err);
int dejago_builder(const deja_options *opt, const char *key, deja_builder **out, deja_error *err);
int dejago_plan(const deja_options *opt, const char *key, deja_plan *plan, deja_error *err);

/* Collects keys for a static filter, or exceptions. */
dejago_answer dejago_build(deja_builder *b, const deja_url_rules *rules, bool except,
                           const char *text, const size_t *end, size_t n);

/* The canonical form of a URL, for free(); value is its length. */
dejago_answer dejago_canon(const deja_url_rules *rules, const char *url, size_t len);
int dejago_rules(uint32_t profile, unsigned flags, const char *drop, const size_t *drop_end,
                 size_t n_drop, const char *keep, const size_t *keep_end, size_t n_keep,
                 deja_url_rules **out, deja_error *err);

const char *dejago_choice(const deja_option *o, uint32_t value);
size_t dejago_export(const deja_filter *f, uint64_t at, char *out, size_t len);

#endif
