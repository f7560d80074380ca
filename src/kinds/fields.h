/* fields.h - converts fields between a struct and bytes.
 *
 * A table lists each number once: its offset in docs/format.md and its member.  Writing and reading
 * use the same table, so neither can miss a number that the other handles.  Bytes are
 * little-endian on every machine. */
#ifndef DJ_FIELDS_H
#define DJ_FIELDS_H
#include <stddef.h>
#include <stdint.h>

struct dj_field {
    uint32_t at;    /* offset in the bytes */
    uint32_t in;    /* offset in the struct */
    uint32_t width; /* 4 or 8 bytes */
};

/* clang-format off */
/* Does not compile for members of other types. */
#define DJ_FIELD_WIDTH(member) _Generic(member, uint32_t: 4, uint64_t: 8, double: 8)
#define DJ_FIELD(offset, T, member)                                                               \
    {(offset), offsetof(T, member), DJ_FIELD_WIDTH(((T *)0)->member)}
/* clang-format on */

void dj_fields_store(const struct dj_field *field, size_t n, const void *from, uint8_t *bytes);
void dj_fields_load(const struct dj_field *field, size_t n, const uint8_t *bytes, void *to);

#endif
