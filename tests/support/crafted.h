/* crafted.h - files of damaged.h with different numbers in headers and records, but valid
 * checksums. */
#ifndef TEST_CRAFTED_H
#define TEST_CRAFTED_H
#include "core/base/compiler.h"
#include "core/hash/hash.h"
#include "damaged.h"
#include "doubles.h"

static inline void fix_header(uint8_t *page)
{
    dj_store64(page + AT_CHECKSUM, dj_checksum(page, AT_CHECKSUM));
}

static inline void fix_record(uint8_t *page, size_t at)
{
    dj_store64(page + at + 296, dj_load64(page + AT_CHECKSUM));
    dj_store64(page + at + 504, dj_checksum(page + at, 504));
}

static inline size_t newest_record(const uint8_t *page)
{
    return dj_load64(page + RECORD_A) > dj_load64(page + RECORD_B) ? RECORD_A : RECORD_B;
}

/* Both records, if both were written. */
static inline void fix_written(uint8_t *page)
{
    fix_header(page);
    fix_record(page, RECORD_A);
    if (dj_load64(page + RECORD_B))
        fix_record(page, RECORD_B);
}

static inline void fix_all(uint8_t *page)
{
    fix_header(page);
    fix_record(page, RECORD_A);
    fix_record(page, RECORD_B);
}

/* One field with a different value. */
struct field {
    size_t at;
    unsigned len; /* 4, 8; or 0: a double */
    uint64_t value;
    double real;
};

static inline void set_field(uint8_t *page, const struct field *f)
{
    if (f->len == 4)
        dj_store32(page + f->at, (uint32_t)f->value);
    else if (f->len == 8)
        dj_store64(page + f->at, f->value);
    else
        dj_store_double(page + f->at, f->real);
}

#endif
