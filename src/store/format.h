/* format.h - the bytes of a .deja file; docs/format.md is the specification.
 *
 *      0  fixed header   describes the filter; written once, with a checksum
 *    512  part table     64 bytes for each part
 *   3072  sync record A  numbers that change: counts, and the checksum of sealed bodies
 *   3584  sync record B  the two records are written alternately, each in its own sector
 *   4096  bodies         one after another, each on a cache line
 *         piece table    in larger files: a checksum and a count for every 64 KiB of a body
 *
 * Pure functions between structs and bytes; nothing here accesses a file. */
#ifndef DJ_FORMAT_H
#define DJ_FORMAT_H
#include "kinds/kind.h"

#define DJ_FORMAT_VERSION 2u /* the newest; files of rules 0 are written as version 1 */
#define DJ_MAGIC_LEN      8u
#define DJ_HEADER_LEN     4096u
#define DJ_RECORD_LEN     512u
#define DJ_RECORD_A       3072u
#define DJ_HEADER_SUM     2560u /* offset of the header's checksum */
#define DJ_MAX_SEQUENCE   ((UINT64_C(1) << 63) - 1)
/* A writer needs this many free sequence numbers, which is more than it can use. */
#define DJ_SEQUENCE_ROOM  (UINT64_C(1) << 32)

struct dj_header {
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN]; /* zeros if it is stored separately */
    uint64_t key_check;
    uint32_t n_parts;
    uint64_t file_len;
    uint64_t table;                    /* offset of the piece table; 0: there is none */
    struct dj_part part[DJ_MAX_PARTS]; /* shape, layer, capacity, fp_rate, body_len */
    uint64_t offset[DJ_MAX_PARTS];
    struct dj_record record[2];
    bool record_ok[2]; /* decode only: false if a record is damaged */
};

/* Fills the header of a filter and assigns an offset to each body.  For a file, large bodies get a
 * piece table: a sync is faster with it. */
void dj_header_of(const deja_filter *f, bool for_file, struct dj_header *h);
/* Writes fixed header and part table into the first DJ_RECORD_A bytes of page. */
void dj_header_encode(const struct dj_header *h, uint8_t page[DJ_HEADER_LEN]);
/* Decodes and checks every field; an error names the field.  Damaged records do not fail here: see
 * record_ok. */
int dj_header_decode(const uint8_t page[DJ_HEADER_LEN], struct dj_header *h, deja_error *err);

/* Whether these are the first bytes of a deja file. */
bool dj_header_is_magic(const uint8_t start[DJ_MAGIC_LEN]);

/* Encodes a record of a filter of this kind whose header is `page`. */
void dj_record_encode(const struct dj_record *r, const struct dj_kind *kind,
                      const uint8_t page[DJ_HEADER_LEN], uint8_t out[DJ_RECORD_LEN]);
/* The offset of the record with this sequence number. */
uint64_t dj_record_offset(uint64_t sequence);
/* The newer of the intact records; NULL if neither is intact. */
const struct dj_record *dj_header_latest(const struct dj_header *h);

#endif
