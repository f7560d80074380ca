/* fields.c - converts fields between a struct and bytes; see fields.h. */
#include "kinds/fields.h"
#include "core/base/bytes.h"

void dj_fields_store(const struct dj_field *field, size_t n, const void *from, uint8_t *bytes)
{
    for (size_t i = 0; i < n; i++) { /* field may be NULL if n is 0 */
        const struct dj_field *f = &field[i];
        const char *member = (const char *)from + f->in;
        uint32_t word;
        uint64_t number;
        if (f->width == sizeof word) {
            memcpy(&word, member, sizeof word);
            dj_store32(bytes + f->at, word);
        } else {
            memcpy(&number, member, sizeof number);
            dj_store64(bytes + f->at, number);
        }
    }
}

void dj_fields_load(const struct dj_field *field, size_t n, const uint8_t *bytes, void *to)
{
    for (size_t i = 0; i < n; i++) {
        const struct dj_field *f = &field[i];
        char *member = (char *)to + f->in;
        const uint32_t word = dj_load32(bytes + f->at);
        if (f->width == sizeof word) {
            memcpy(member, &word, sizeof word);
        } else {
            const uint64_t number = dj_load64(bytes + f->at);
            memcpy(member, &number, sizeof number);
        }
    }
}
