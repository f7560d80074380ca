/* fields.h - numbers between a struct and its bytes.
 *
 * A table names each number once, by its offset in docs/format.md and its member; writing and
 * reading both go by it, so neither can forget one that the other knows.  Bytes are little-endian
 * whatever the machine is. */
#ifndef DJ_FIELDS_H
#define DJ_FIELDS_H
#include <stddef.h>
#include <stdint.h>

enum dj_field_type {
    DJ_FIELD_U32,
    DJ_FIELD_U64,
    DJ_FIELD_DOUBLE
};

struct dj_field {
    uint32_t at; /* in the bytes */
    uint32_t in; /* in the struct */
    enum dj_field_type type;
};

/* clang-format off */
/* Refuses to compile for members of other types. */
#define DJ_FIELD_TYPE(member)                                                                     \
    _Generic(member, uint32_t: DJ_FIELD_U32, uint64_t: DJ_FIELD_U64, double: DJ_FIELD_DOUBLE)
#define DJ_FIELD(offset, T, member)                                                               \
    {(offset), offsetof(T, member), DJ_FIELD_TYPE(((T *)0)->member)}
/* clang-format on */

void dj_fields_store(const struct dj_field *field, size_t n, const void *from, uint8_t *bytes);
void dj_fields_load(const struct dj_field *field, size_t n, const uint8_t *bytes, void *to);

#endif
