/* fields.c - numbers between a struct and its bytes; fields.h has the idea. */
#include "kinds/fields.h"
#include "core/base/bytes.h"
#include <string.h>

static void store_one(const struct dj_field *f, const void *member, uint8_t *bytes)
{
    uint32_t word;
    uint64_t number;
    double real;
    switch (f->type) {
    case DJ_FIELD_U32:
        memcpy(&word, member, sizeof word);
        dj_store32(bytes, word);
        break;
    case DJ_FIELD_U64:
        memcpy(&number, member, sizeof number);
        dj_store64(bytes, number);
        break;
    case DJ_FIELD_DOUBLE:
        memcpy(&real, member, sizeof real);
        dj_store_double(bytes, real);
        break;
    }
}

static void load_one(const struct dj_field *f, const uint8_t *bytes, void *member)
{
    uint32_t word;
    uint64_t number;
    double real;
    switch (f->type) {
    case DJ_FIELD_U32:
        word = dj_load32(bytes);
        memcpy(member, &word, sizeof word);
        break;
    case DJ_FIELD_U64:
        number = dj_load64(bytes);
        memcpy(member, &number, sizeof number);
        break;
    case DJ_FIELD_DOUBLE:
        real = dj_load_double(bytes);
        memcpy(member, &real, sizeof real);
        break;
    }
}

void dj_fields_store(const struct dj_field *field, size_t n, const void *from, uint8_t *bytes)
{
    for (size_t i = 0; i < n; i++)
        store_one(&field[i], (const char *)from + field[i].in, bytes + field[i].at);
}

void dj_fields_load(const struct dj_field *field, size_t n, const uint8_t *bytes, void *to)
{
    for (size_t i = 0; i < n; i++)
        load_one(&field[i], bytes + field[i].at, (char *)to + field[i].in);
}
