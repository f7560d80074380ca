/* import.c - makes a filter in memory from the bytes of a file, which may come from anyone.
 *
 * Bytes arrive in order, in pieces of any length.  A complete header page must pass the same checks
 * as that of a file (open.c) before any body is allocated.  A crafted header can claim any length,
 * so its length is not trusted unless the caller gives the same length: the memory for a body
 * starts small and doubles as bytes arrive, which copies each byte about once more.  At the end,
 * the checksum of the bodies is compared.
 *
 * A file that is not sealed (keys were added after its last sync) has no checksum and is refused:
 * open it, sync it, and send it again. */
#include "core/base/alloc.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/memory.h"
#include "filter/options.h"
#include "store/export.h"
#include "store/open.h"
#include "store/piecetable.h"

#define FIRST_ROOM ((uint64_t)1 << 20)

static const char name[] = "the filter"; /* in messages, instead of a path */

struct deja_import {
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
    deja_options want;
    uint8_t key[DEJA_KEY_LEN]; /* want.key points here */
    int failed;                /* the first error; further calls are refused */
    uint64_t told;             /* the length that the caller gave; 0: none */
    uint64_t have;
    uint8_t page[DJ_HEADER_LEN];
    struct dj_header h; /* this and the rest: valid once the page is complete */
    deja_filter *f;     /* has the parts whose bodies are complete */
    uint8_t *body;      /* of the next part, then the piece table */
    size_t room, filled;
};

int deja_import_new(uint64_t len, const deja_options *expect, deja_import **out, deja_error *err)
{
    deja_options want;
    *out = NULL;
    const int rc = dj_options_read(expect, &want, err);
    if (rc < 0)
        return rc;
    deja_import *im = dj_alloc(want.alloc, sizeof *im, 64);
    if (!im)
        return dj_fail_memory(err);
    im->want = want;
    im->told = len;
    im->alloc = dj_alloc_keep(want.alloc, &im->alloc_copy);
    if (want.key) {
        memcpy(im->key, want.key, DEJA_KEY_LEN);
        im->want.key = im->key;
    }
    *out = im;
    return DEJA_OK;
}

void deja_import_free(deja_import *im)
{
    if (!im)
        return;
    dj_free(im->alloc, im->body, im->room);
    deja_filter_free(im->f);
    dj_free(im->alloc, im, sizeof *im);
}

uint64_t deja_import_len(const deja_import *im)
{
    return im->f ? im->h.file_len : 0;
}

/* --- The header -------------------------------------------------------------- */

static int check_sealed(const struct dj_header *h, deja_error *err)
{
    return dj_header_latest(h)->state == DJ_SEALED
               ? DEJA_OK
               : dj_fail(err, DEJA_EBUSY,
                         "the filter was not synced after its last add: sync its file "
                         "(DEJA_OPEN_REPAIR) and send it again");
}

static int check_told(const deja_import *im, deja_error *err)
{
    const uint64_t len = im->h.file_len;
    if (len > SIZE_MAX / 2)
        return dj_fail(err, DEJA_EFORMAT, "this machine cannot address %llu bytes", (ull)len);
    if (!im->told || im->told == len)
        return DEJA_OK;
    return dj_fail(err, DEJA_EFORMAT, "the filter is truncated: %llu bytes of %llu", (ull)im->told,
                   (ull)len);
}

static int take_header(deja_import *im, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    struct dj_header *h = &im->h;
    int rc = dj_header_decode(im->page, h, err);
    if (rc == DEJA_OK)
        rc = dj_open_records(h, false, err);
    if (rc == DEJA_OK)
        rc = check_sealed(h, err);
    if (rc == DEJA_OK)
        rc = check_told(im, err);
    if (rc == DEJA_OK)
        rc = dj_open_expected(h, &im->want, name, err);
    if (rc == DEJA_OK)
        rc = dj_open_key(h, &im->want, name, key, err);
    if (rc < 0)
        return rc;
    im->f = dj_filter_make(&h->plan, key, im->alloc);
    if (!im->f)
        return dj_fail_memory(err);
    dj_filter_to_memory(im->f);
    return dj_filter_make_parts(im->f, h->n_parts) ? DEJA_OK : dj_fail_memory(err);
}

/* --- The bodies -------------------------------------------------------------- */

/* Makes room for more of the current body. */
static int grow_room(deja_import *im, uint64_t body_len, deja_error *err)
{
    uint64_t wish = im->room ? 2 * (uint64_t)im->room : FIRST_ROOM;
    if (im->told || wish > body_len)
        wish = body_len;
    uint8_t *body = dj_alloc(im->alloc, (size_t)wish, DJ_BLOCK_BYTES);
    if (!body)
        return dj_fail(err, DEJA_ENOMEM, "out of memory: the filter needs %.0f MB",
                       (double)im->h.file_len / 1e6);
    if (im->filled)
        memcpy(body, im->body, im->filled);
    dj_free(im->alloc, im->body, im->room);
    im->body = body;
    im->room = (size_t)wish;
    return DEJA_OK;
}

/* Whether all bodies are complete. */
static bool has_bodies(const deja_import *im)
{
    return im->f->n_parts == im->h.n_parts;
}

/* The length of the current body, or of the table after the last one. */
static uint64_t current_len(const deja_import *im)
{
    const struct dj_header *h = &im->h;
    if (!has_bodies(im))
        return h->part[im->f->n_parts].body_len;
    return h->table ? h->file_len - h->table : 0;
}

static void finish_body(deja_import *im)
{
    deja_filter *f = im->f;
    dj_open_part(f, &im->h, f->n_parts);
    dj_part_attach(f->part[f->n_parts], im->body);
    dj_filter_attached(f, f->n_parts + 1);
    im->body = NULL;
    im->room = im->filled = 0;
}

/* Takes some of the bytes; *taken becomes their number. */
static int take_body(deja_import *im, const uint8_t *data, size_t len, size_t *taken,
                     deja_error *err)
{
    const uint64_t body_len = current_len(im);
    if (im->have == im->h.file_len)
        return dj_fail(err, DEJA_EFORMAT, "there are more bytes than the %llu of the filter",
                       (ull)im->h.file_len);
    if (im->filled == im->room) {
        const int rc = grow_room(im, body_len, err);
        if (rc < 0)
            return rc;
    }
    const size_t left = im->room - im->filled;
    *taken = len < left ? len : left;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is room, or rc was below 0 */
    memcpy(im->body + im->filled, data, *taken);
    im->filled += *taken;
    if (im->filled == body_len && !has_bodies(im))
        finish_body(im);
    return DEJA_OK;
}

static int take_page(deja_import *im, const uint8_t *data, size_t len, size_t *taken,
                     deja_error *err)
{
    const size_t left = DJ_HEADER_LEN - (size_t)im->have;
    *taken = len < left ? len : left;
    memcpy(im->page + im->have, data, *taken);
    return *taken == left ? take_header(im, err) : DEJA_OK;
}

int deja_import_write(deja_import *im, const void *data, size_t len, deja_error *err)
{
    const uint8_t *from = data;
    if (im->failed) /* NOLINT(clang-analyzer-core.NullDereference): made, or rc was below 0 */
        return dj_fail(err, im->failed, "earlier bytes of the filter were refused");
    while (len) {
        size_t taken = 0;
        const int rc = im->have < DJ_HEADER_LEN ? take_page(im, from, len, &taken, err)
                                                : take_body(im, from, len, &taken, err);
        if (rc < 0)
            return im->failed = rc;
        im->have += taken;
        from += taken;
        len -= taken;
    }
    return DEJA_OK;
}

size_t deja_import_read(const deja_import *im, uint64_t at, void *out, size_t len)
{
    uint8_t *to = out;
    uint64_t begin = DJ_HEADER_LEN;
    const uint64_t in_page = im->have < DJ_HEADER_LEN ? im->have : DJ_HEADER_LEN;
    size_t done = dj_export_overlap(at, len, 0, in_page);
    if (done)
        memcpy(to, im->page + at, done);
    if (!im->f)
        return done;
    done += dj_export_bodies(im->f, at + done, to + done, len - done);
    for (uint32_t i = 0; i < im->f->n_parts; i++)
        begin += im->h.part[i].body_len;
    const size_t piece = dj_export_overlap(at + done, len - done, begin, begin + im->filled);
    if (piece)
        memcpy(to + done, im->body + (at + done - begin), piece);
    return done + piece;
}

/* --- The end ------------------------------------------------------------------ */

static int check_bodies(const deja_import *im, deja_error *err)
{
    const uint64_t checksum = dj_header_latest(&im->h)->checksum;
    const uint8_t *body[DJ_MAX_PARTS];
    for (uint32_t i = 0; i < im->h.n_parts; i++)
        body[i] = im->f->part[i]->body;
    if (im->h.table)
        return dj_table_verify(&im->h, body, im->body, checksum, err);
    return dj_export_checksum(im->f) == checksum
               ? DEJA_OK
               : dj_fail(err, DEJA_EFORMAT, "the body is damaged: its checksum is wrong");
}

static int check_whole(const deja_import *im, deja_error *err)
{
    if (im->failed)
        return dj_fail(err, im->failed, "the bytes of the filter were refused");
    if (!im->f)
        return dj_fail(err, DEJA_EFORMAT,
                       im->have ? "not a deja filter file, or truncated (shorter than a header)"
                                : "not a deja filter file (empty)");
    if (im->have < im->h.file_len)
        return dj_fail(err, DEJA_EFORMAT, "the filter is truncated: %llu bytes of %llu",
                       (ull)im->have, (ull)im->h.file_len);
    return check_bodies(im, err);
}

int deja_import_finish(deja_import *im, deja_filter **out, deja_error *err)
{
    *out = NULL;
    const int rc = check_whole(im, err);
    if (rc < 0)
        return rc;
    dj_open_counts(im->f, &im->h);
    *out = im->f;
    im->f = NULL;
    im->failed = DEJA_EINVAL; /* the caller has its filter */
    return DEJA_OK;
}

int deja_filter_import(const void *data, size_t len, const deja_options *expect, deja_filter **out,
                       deja_error *err)
{
    deja_import *im;
    *out = NULL;
    int rc = deja_import_new(len, expect, &im, err);
    if (rc < 0)
        return rc;
    rc = deja_import_write(im, data, len, err);
    if (rc == DEJA_OK)
        rc = deja_import_finish(im, out, err);
    deja_import_free(im);
    return rc;
}
