/* piecetable.c - keeps the table of pieces up to date, and compares bodies with it. */
#include "store/piecetable.h"
#include "core/base/alloc.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include <string.h>
#include <sys/mman.h>

void dj_table_free(struct dj_table *t, const deja_allocator *alloc)
{
    dj_free(alloc, (void *)(uintptr_t)t->changed, (size_t)t->n);
    t->changed = NULL;
    t->n = t->len = 0;
}

/* If there is no memory for the marks, every sync computes all entries. */
void dj_table_attach(struct dj_table *t, deja_filter *f, const struct dj_header *h, uint8_t *map)
{
    uint64_t first = 0;
    dj_table_free(t, f->alloc);
    if (!h->table || f->read_only)
        return;
    t->at = map + h->table;
    t->len = h->file_len - h->table;
    t->n = t->len / DJ_ENTRY_LEN;
    t->changed = dj_alloc(f->alloc, (size_t)t->n, 64);
    atomic_store(&t->all, true);
    for (uint32_t i = 0; i < h->n_parts; i++) {
        struct dj_pieces *s = &t->part[i];
        s->entry = t->at + first * DJ_ENTRY_LEN;
        s->n = dj_pieces_in(h->part[i].body_len);
        s->changed = t->changed ? t->changed + first : NULL;
        s->all = &t->all;
        f->part[i]->pieces = s;
        first += s->n;
    }
}

void dj_table_is_current(struct dj_table *t, uint32_t n_parts)
{
    if (!t->len || !t->changed)
        return;
    for (uint32_t i = 0; i < n_parts; i++)
        dj_pieces_reset(&t->part[i]);
    atomic_store(&t->all, false);
}

void dj_table_trust(struct dj_table *t, uint32_t n_parts, uint64_t checksum)
{
    if (t->len && dj_checksum(t->at, (size_t)t->len) == checksum)
        dj_table_is_current(t, n_parts);
}

/* Lets the system read the changed pieces while the first of them are processed. */
static void announce(const struct dj_part *p)
{
    const struct dj_pieces *s = p->pieces;
    const uintptr_t page = 4096;
    for (uint64_t i = 0; i < s->n; i++)
        if (dj_piece_changed(s, i)) {
            uint64_t len;
            const uint8_t *at = dj_piece_at(p->body, p->body_len, i, &len);
            const size_t before = (uintptr_t)at % page;
            dj_os_advise_map(at - before, (size_t)len + before, DJ_OS_SOON);
        }
}

static void update_part(const struct dj_part *p)
{
    const struct dj_pieces *s = p->pieces;
    for (uint64_t i = 0; i < s->n; i++)
        if (dj_piece_changed(s, i)) {
            uint64_t len;
            const uint8_t *at = dj_piece_at(p->body, p->body_len, i, &len);
            dj_piece_describe(at, len, s->entry + i * DJ_ENTRY_LEN);
        }
}

uint64_t dj_table_update(const struct dj_table *t, const deja_filter *f)
{
    const bool all = atomic_load(&t->all);
    if (all)
        dj_filter_walk(f, true);
    for (uint32_t i = 0; !all && i < f->n_parts; i++)
        announce(f->part[i]);
    for (uint32_t i = 0; i < f->n_parts; i++)
        update_part(f->part[i]);
    if (all)
        dj_filter_walk(f, false);
    return dj_checksum(t->at, (size_t)t->len);
}

int dj_table_verify(const struct dj_header *h, const uint8_t *const body[DJ_MAX_PARTS],
                    const uint8_t *table, uint64_t checksum, deja_error *err)
{
    uint64_t damaged = 0, first = 0, n = 0;
    if (dj_checksum(table, (size_t)(h->file_len - h->table)) != checksum)
        return dj_fail(err, DEJA_EFORMAT, "the table of checksums is damaged");
    for (uint32_t part = 0; part < h->n_parts; part++) {
        const uint64_t body_len = h->part[part].body_len, pieces = dj_pieces_in(body_len);
        for (uint64_t i = 0; i < pieces; i++) {
            uint64_t len;
            uint8_t entry[DJ_ENTRY_LEN];
            const uint8_t *at = dj_piece_at(body[part], body_len, i, &len);
            dj_piece_describe(at, len, entry);
            if (memcmp(entry, table + n++ * DJ_ENTRY_LEN, sizeof entry) != 0 && damaged++ == 0)
                first = h->offset[part] + (i << DJ_PIECE_SHIFT);
        }
    }
    if (!damaged)
        return DEJA_OK;
    return dj_fail(
        err, DEJA_EFORMAT,
        "the body is damaged: the checksum is wrong in %llu of %llu pieces of 64 KiB, the "
        "first at byte %llu",
        (ull)damaged, (ull)n, (ull)first);
}
