/* export.c - copies, in pieces, the bytes that the file of a filter would hold.
 *
 * The bodies are the same in memory and in a file, so they are only copied.  The header page is
 * made on request.  It contains a sealed sync record with a checksum of all bodies, which takes one
 * pass over them; a caller that copies from 0 to the end pays for it once. */
#include "store/export.h"
#include "filter/counts.h"
#include "filter/filter.h"
#include "store/format.h"
#include <string.h>

uint64_t dj_export_checksum(const deja_filter *f)
{
    deja_slice body[DJ_MAX_PARTS];
    for (uint32_t i = 0; i < f->n_parts; i++)
        body[i] = (deja_slice){f->part[i]->body, (size_t)f->part[i]->body_len};
    dj_filter_walk(f, true);
    const uint64_t sum = dj_checksum_pieces(body, f->n_parts);
    dj_filter_walk(f, false);
    return sum;
}

static void make_page(const deja_filter *f, uint8_t page[DJ_HEADER_LEN])
{
    struct dj_header h;
    struct dj_record r;
    dj_header_of(f, false, &h);
    dj_counts_pass_on(f, &r);
    r.sequence = 1; /* a new file starts with record A */
    r.checksum = dj_export_checksum(f);
    memset(page, 0, DJ_HEADER_LEN);
    dj_header_encode(&h, page);
    dj_record_encode(&r, f->plan.kind, page, page + dj_record_offset(r.sequence));
}

size_t dj_export_overlap(uint64_t at, size_t len, uint64_t begin, uint64_t end)
{
    if (at < begin || at >= end)
        return 0;
    return end - at < len ? (size_t)(end - at) : len;
}

uint64_t deja_filter_export_len(const deja_filter *f)
{
    uint64_t len = DJ_HEADER_LEN;
    for (uint32_t i = 0; i < f->n_parts; i++)
        len += f->part[i]->body_len;
    return len;
}

size_t dj_export_bodies(const deja_filter *f, uint64_t at, uint8_t *out, size_t len)
{
    uint64_t begin = DJ_HEADER_LEN;
    size_t done = 0;
    for (uint32_t i = 0; i < f->n_parts && done < len; i++) {
        const struct dj_part *p = f->part[i];
        const size_t piece = dj_export_overlap(at + done, len - done, begin, begin + p->body_len);
        if (piece)
            memcpy(out + done, p->body + (at + done - begin), piece);
        done += piece;
        begin += p->body_len;
    }
    return done;
}

size_t deja_filter_export(const deja_filter *f, uint64_t at, void *out, size_t len)
{
    uint8_t *to = out;
    const size_t done = dj_export_overlap(at, len, 0, DJ_HEADER_LEN);
    if (done) {
        uint8_t page[DJ_HEADER_LEN];
        make_page(f, page);
        memcpy(to, page + at, done);
    }
    return done + dj_export_bodies(f, at + done, to + done, len - done);
}
