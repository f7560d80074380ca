/* blocks.c - blocks of records with their keys; see blocks.h.
 *
 * The room is a list of pieces, each at least twice as large as the previous one, so bytes that
 * have been taken never move.  When the block is filled again, only the largest piece is kept:
 * after a few similar blocks there is one piece, and nothing more is allocated. */
#include "tools/input/blocks.h"
#include "tools/base/buffer.h"
#include "tools/base/sys.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_LEAST ((size_t)16 << 10)

struct block_room {
    struct block_room *next;
    size_t used, cap;
    char bytes[];
};

struct block_gap {
    size_t at;      /* before this offset in the data ... */
    uint64_t lines; /* ... this many lines are missing, including those of earlier gaps */
};

static void free_rooms(struct block_room *r)
{
    while (r) {
        struct block_room *next = r->next;
        free(r);
        r = next;
    }
}

void block_init(struct block *b)
{
    memset(b, 0, sizeof *b);
}

void block_fini(struct block *b)
{
    free(b->data);
    free(b->keys);
    free(b->ends);
    free(b->new_keys);
    free(b->new_ends);
    free(b->forms);
    free(b->units);
    free(b->odd);
    free(b->gaps);
    free_rooms(b->rooms);
    block_init(b);
}

/* keys and ends have the same capacity, records_cap. */
size_t block_reset(struct block *b, size_t size, size_t records)
{
    b->n = 0;
    b->len = 0;
    b->filled = 0;
    b->terminator_added = false;
    b->unseparated = false;
    b->shared = false;
    b->n_odd = 0;
    memset(b->odd_of, 0, sizeof b->odd_of);
    b->n_gaps = 0;
    b->counted_to = 0;
    b->counted = 0;
    b->keyless = false;
    b->n_units = 0;
    if (b->data_cap < size || b->data_cap / 2 >= size)
        b->data = array_renew(b->data, &b->data_cap, size, 1);
    if (!b->data)
        return size;
    if (b->records_cap < records || b->records_cap / 2 > records) {
        b->keys = array_renew(b->keys, &b->records_cap, records, sizeof *b->keys);
        b->ends = array_renew(b->ends, &b->records_cap, records, sizeof *b->ends);
        if (!b->keys || !b->ends) {
            b->records_cap = 0;
            return records * sizeof *b->keys;
        }
    }
    if (b->new_cap / 4 > records) {
        free(b->new_keys);
        free(b->new_ends);
        b->new_keys = NULL;
        b->new_ends = NULL;
        b->new_cap = 0;
    }
    if (b->rooms) {
        free_rooms(b->rooms->next);
        b->rooms->next = NULL;
        b->rooms->used = 0;
        if (b->rooms->cap / 2 > size) {
            free(b->rooms);
            b->rooms = NULL;
        }
    }
    return 0;
}

/* --- Room ---------------------------------------------------------------- */

static char *more_room(struct block *b, size_t len)
{
    size_t cap = b->rooms ? b->rooms->cap * 2 : ROOM_LEAST;
    if (cap < len)
        cap = len;
    struct block_room *r = malloc(sizeof *r + cap);
    if (!r)
        return NULL;
    *r = (struct block_room){.next = b->rooms, .cap = cap};
    b->rooms = r;
    return r->bytes;
}

char *block_room(struct block *b, size_t len)
{
    struct block_room *r = b->rooms;
    if (r && r->cap - r->used >= len)
        return r->bytes + r->used;
    return more_room(b, len);
}

void block_take(struct block *b, size_t len)
{
    assert(len == 0 || (b->rooms && b->rooms->cap - b->rooms->used >= len));
    if (len)
        b->rooms->used += len;
}

bool block_forms(struct block *b)
{
    if (b->forms_cap < b->n)
        b->forms = array_renew(b->forms, &b->forms_cap, b->records_cap, sizeof *b->forms);
    return b->forms_cap >= b->n;
}

/* --- Odd lines ------------------------------------------------------------ */

void block_report(struct block *b, enum block_oddity why, uint64_t line, deja_slice text)
{
    if (!block_wants(b, why))
        return;
    struct block_odd *odd = array_grow(b->odd, &b->odd_cap, b->n_odd + 1, sizeof *odd);
    if (!odd)
        return; /* the line is counted, but not named */
    b->odd = odd;
    b->odd[b->n_odd++] = (struct block_odd){why, line, text};
    b->odd_of[why]++;
}

bool block_gap(struct block *b, size_t at)
{
    const uint64_t before = b->n_gaps ? b->gaps[b->n_gaps - 1].lines : 0;
    if (before && b->gaps[b->n_gaps - 1].at == at) {
        b->gaps[b->n_gaps - 1].lines++;
        return true;
    }
    struct block_gap *gaps = array_grow(b->gaps, &b->gaps_cap, b->n_gaps + 1, sizeof *gaps);
    if (!gaps)
        return false;
    b->gaps = gaps;
    b->gaps[b->n_gaps++] = (struct block_gap){at, before + 1};
    return true;
}

/* Lines that are missing before an offset in the data. */
static uint64_t missing_before(const struct block *b, size_t at)
{
    size_t from = 0, to = b->n_gaps;
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (b->gaps[mid].at <= at)
            from = mid + 1;
        else
            to = mid;
    }
    return from ? b->gaps[from - 1].lines : 0;
}

static size_t begin_of(const struct block *b, size_t i)
{
    while (i > 0 && b->ends[i - 1] == b->ends[i])
        i--;
    return i ? b->ends[i - 1] : 0;
}

uint64_t block_line(struct block *b, size_t i)
{
    const size_t at = begin_of(b, i);
    if (at < b->counted_to)
        b->counted = b->counted_to = 0;
    const deja_slice more = {b->data + b->counted_to, at - b->counted_to};
    b->counted += deja_lines_count(more, b->data[b->ends[i] - 1]);
    b->counted_to = at;
    return b->line + b->counted + missing_before(b, at);
}

deja_slice block_text(const struct block *b, size_t i)
{
    const size_t at = begin_of(b, i);
    return (deja_slice){b->data + at, b->ends[i] - 1 - at};
}

/* --- Other records of the same data -------------------------------------- */

void block_rekey(struct block *b)
{
    b->new_n = 0;
    b->n_units = 0;
}

static bool more_records(struct block *b)
{
    size_t cap = b->new_cap ? b->new_cap * 2 : b->records_cap;
    deja_slice *keys = sys_array(b->new_keys, cap, sizeof *keys);
    if (keys)
        b->new_keys = keys;
    size_t *ends = sys_array(b->new_ends, cap, sizeof *ends);
    if (ends)
        b->new_ends = ends;
    if (keys && ends)
        b->new_cap = cap;
    return keys && ends;
}

bool block_rekey_add(struct block *b, deja_slice key, size_t end)
{
    if (b->new_n == b->new_cap && !more_records(b))
        return false;
    b->new_keys[b->new_n] = key;
    b->new_ends[b->new_n++] = end;
    return true;
}

static void set_shared(struct block *b)
{
    b->shared = false;
    for (size_t i = 1; i < b->n && !b->shared; i++)
        b->shared = b->ends[i] == b->ends[i - 1];
}

void block_rekey_end(struct block *b)
{
    deja_slice *keys = b->keys;
    size_t *ends = b->ends;
    const size_t cap = b->records_cap;
    b->keys = b->new_keys;
    b->ends = b->new_ends;
    b->n = b->new_n;
    b->records_cap = b->new_cap;
    b->new_keys = keys;
    b->new_ends = ends;
    b->new_cap = cap;
    set_shared(b);
}

/* --- Units ----------------------------------------------------------------- */

bool block_unit_add(struct block *b, deja_slice text)
{
    void *units = array_grow(b->units, &b->units_cap, b->n_units + 1, sizeof *b->units);
    if (!units)
        return false;
    b->units = units;
    b->units[b->n_units++] = (struct block_unit){text, b->new_n};
    return true;
}

void block_join_units(struct block *b)
{
    for (size_t i = 0; i < b->n_units; i++) {
        b->keys[i] = b->units[i].text;
        b->ends[i] = b->ends[b->units[i].end - 1];
    }
    b->n = b->n_units;
    b->n_units = 0;
    set_shared(b);
}
