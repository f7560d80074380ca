/* building.h - static filters of numbered keys: start, fill, finish and query them. */
#ifndef TEST_BUILDING_H
#define TEST_BUILDING_H
#include "calls.h"
#include "deja.h"
#include "unit.h"

#define LOT 1024

static inline deja_options options(uint32_t width, uint64_t seed)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_STATIC;
    opt.fingerprint_bits = width;
    opt.seed = seed;
    return opt;
}

static inline deja_builder *begin(const deja_options *opt)
{
    deja_builder *b = NULL;
    deja_error err = {0};
    if (deja_builder_new(opt, &b, &err) < 0)
        fail_msg("%s", err.text);
    return b;
}

static inline deja_filter *finish(deja_builder *b)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_builder_finish(b, NULL, 0, &f, &err) < 0)
        fail_msg("%s", err.text);
    deja_builder_free(b);
    return f;
}

static inline void add_numbers(deja_builder *b, uint64_t from, uint64_t to)
{
    uint64_t number[LOT];
    deja_slice key[LOT];
    while (from < to) {
        size_t n = 0;
        for (; n < LOT && from < to; n++) {
            number[n] = from++;
            key[n] = (deja_slice){&number[n], sizeof number[n]};
        }
        assert_int_equal(deja_builder_add_batch(b, key, n, NULL), DEJA_OK);
    }
}

static inline deja_filter *of_numbers(uint64_t n, uint32_t width, uint64_t seed)
{
    const deja_options opt = options(width, seed);
    deja_builder *b = begin(&opt);
    add_numbers(b, 0, n);
    return finish(b);
}

static inline uint64_t count_found(const deja_filter *f, uint64_t from, uint64_t to)
{
    uint64_t number[LOT], found = 0;
    deja_slice key[LOT];
    uint8_t answer[LOT];
    while (from < to) {
        size_t n = 0;
        for (; n < LOT && from < to; n++) {
            number[n] = from++;
            key[n] = (deja_slice){&number[n], sizeof number[n]};
        }
        deja_filter_contains_batch(f, key, n, answer);
        for (size_t i = 0; i < n; i++)
            found += answer[i];
    }
    return found;
}

/* No filter contains numbers from here on. */
#define STRANGER (UINT64_C(1) << 40)

#endif
