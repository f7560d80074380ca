/* foreign.h - Bloom filters in the formats of other programs.
 *
 * A format is a struct foreign_format in a file of its own.  It says how a key becomes one or two
 * numbers, how these become positions of bits, and how a file holds the bits.  Everything else is
 * the same for all formats: a filter is one or more arrays of bits (parts), and a key is in the
 * filter if all its bits are set in any part.
 *
 * No format has a secret key, so anyone can compute keys that test positive (docs/security.md).
 * Numbers in a file are not trusted: they are checked before they are used, and memory is
 * allocated only for bytes that are there. */
#ifndef TOOLS_FOREIGN_FOREIGN_H
#define TOOLS_FOREIGN_FOREIGN_H
#include "deja.h"

#define FOREIGN_MAX_HASHES 2048 /* more than any program needs: p = 1e-308 needs 1,024 */
#define FOREIGN_MAX_BITS   (UINT64_C(1) << 53)
#define FOREIGN_UNKNOWN    UINT64_MAX
#define FOREIGN_HEAD       4096 /* bytes at the start of a file that show its format */
#define FOREIGN_WORDS      2    /* numbers per key, at most */

/* --- Filters ------------------------------------------------------------------ */

struct foreign_part {
    uint8_t *body; /* as in the file; bit i is bit i mod 8 of byte i / 8 */
    uint64_t len;  /* bytes of the body */
    uint64_t room; /* bytes allocated; less than len while a body arrives */
    uint64_t bits;
    uint32_t hashes;   /* k */
    uint64_t capacity; /* what the file records; 0: nothing */
    double fp_rate;
    uint64_t keys;
    double bits_per_key; /* of RedisBloom: these two have no effect but are written again */
    uint8_t log2_bits;   /* if not 0, there are 2^log2_bits positions, not `bits` */
};

struct foreign { /* start with {0} */
    const struct foreign_format *format;
    struct foreign_part *part;
    size_t n_parts;
    uint32_t variant; /* a choice that the file records, such as its version */
    uint32_t seed;    /* of the hash function */
    uint32_t growth;
    uint64_t keys;               /* added and new, if the format counts them */
    uint64_t rest;               /* bytes of the file after the filter */
    const char *column;          /* what to read of a file with several filters; or NULL */
    const deja_allocator *alloc; /* NULL: malloc */
};

/* One key on its way through the positions of a part. */
struct foreign_probe {
    uint64_t a, b; /* the numbers of the key; `next` may change them */
    uint64_t bits; /* positions of the part */
    uint32_t i;    /* how many positions came before */
    uint32_t variant;
};

/* --- Input and output ----------------------------------------------------------- */

struct foreign_in {
    /* Reads up to `len` bytes, or fewer at the end; *have becomes the number. */
    int (*read)(struct foreign_in *in, void *buf, size_t len, size_t *have, deja_error *err);
    /* Reads exactly these bytes; NULL: the input can only be read from start to end. */
    int (*at)(struct foreign_in *in, uint64_t offset, void *buf, size_t len, deja_error *err);
    uint64_t len; /* of all, or FOREIGN_UNKNOWN */
    uint64_t done;
    const void *source;
};

struct foreign_out {
    /* Returns false, with errno set, on failure. */
    bool (*put)(struct foreign_out *out, const void *data, uint64_t len);
    void *target;
};

/* Input from memory, which must stay valid. */
struct foreign_in foreign_in_memory(const deja_slice *bytes);
/* Reads a header of exactly `len` bytes. */
int foreign_in_header(struct foreign_in *in, const struct foreign *f, void *buf, size_t len,
                      deja_error *err);
/* Reads part->len bytes into part->body, which grows with the bytes that arrive. */
int foreign_in_body(struct foreign_in *in, const struct foreign *f, struct foreign_part *part,
                    deja_error *err);

/* Fails if there are more bytes. */
int foreign_in_end(struct foreign_in *in, const struct foreign *f, deja_error *err);

/* --- Formats -------------------------------------------------------------------- */

/* The start of a file, decompressed. */
struct foreign_head {
    const uint8_t *data;
    size_t len;
    uint64_t file_len; /* FOREIGN_UNKNOWN: compressed */
};

struct foreign_format {
    const char *name;    /* as typed: --format guava */
    const char *title;   /* "a DCSO bloom file" */
    const char *hashing; /* "FNV-1" */
    const char *hash_id; /* "fnv1" */
    uint32_t words;      /* numbers per key: 1 or 2 */
    uint32_t variant;    /* of new filters */
    bool counts;         /* files record the number of keys */
    bool sized;          /* files record the capacity and rate */
    bool columns;        /* a file has a filter for each of several columns */

    /* Whether a file that starts like this has the format; NULL: its bytes do not show it. */
    bool (*is)(const struct foreign_head *head);
    /* Reads a file; the error (DEJA_EFORMAT) starts with "is" or "its". */
    int (*read)(struct foreign *f, struct foreign_in *in, deja_error *err);
    void (*hash)(const void *filter, const deja_slice *keys, size_t n, uint64_t *hash);
    uint64_t (*next)(struct foreign_probe *p);
    /* Sizes the parts of a new filter, without bodies; NULL: deja cannot write the format. */
    int (*plan)(struct foreign *f, uint64_t n, double p, deja_error *err);
    bool (*write)(const struct foreign *f, struct foreign_out *out);
    /* Before a new key is added: may add a part.  DEJA_EFULL: there is no room.  NULL: there is
     * always room. */
    int (*make_room)(struct foreign *f, deja_error *err);
    /* The rate of a part; NULL: the share of set bits to the power of k. */
    double (*rate)(const struct foreign *f, const struct foreign_part *part);
    /* Words for `deja info` about the variant; may be NULL. */
    const char *(*version)(const struct foreign *f);
};

/* The list in formats.c: format i, or NULL after the last. */
const struct foreign_format *foreign_format_at(size_t i);
const struct foreign_format *foreign_format_named(const char *name);
/* The format of a file, or NULL. */
const struct foreign_format *foreign_detect(const struct foreign_head *head);

/* --- Operations ------------------------------------------------------------------ */

/* Sizes a filter for n keys at rate p and allocates it. */
int foreign_new(struct foreign *f, uint64_t n, double p, deja_error *err);
void foreign_free(struct foreign *f); /* keeps format and alloc */
/* Appends a part that is all zero, or without a body if `empty`. */
int foreign_add_part(struct foreign *f, struct foreign_part part, bool empty, deja_error *err);
/* Makes room for `room` bytes of a body; new bytes are zero. */
int foreign_grow_body(const struct foreign *f, struct foreign_part *part, uint64_t room,
                      deja_error *err);
uint64_t foreign_len(const struct foreign *f); /* bytes of all bodies */

/* hash: format->words numbers per key, from format->hash. */
void foreign_contains(const struct foreign *f, const uint64_t *hash, size_t n, uint8_t *found);
/* Adds keys in order and counts the new ones.  On failure, the first *done were added. */
int foreign_add(struct foreign *f, const uint64_t *hash, size_t n, uint8_t *is_new, size_t *done,
                deja_error *err);

/* Estimates from the set bits.  For one part: */
uint64_t foreign_bits_set(const struct foreign_part *part);
double foreign_distinct(const struct foreign_part *part, uint64_t bits_set); /* keys */
/* For all parts: false positives now. */
double foreign_rate(const struct foreign *f);

/* For plans: fails unless n and p are possible for any format. */
int foreign_check_wish(uint64_t n, double p, deja_error *err);
/* For readers: fails unless k and m are; the text names the field. */
int foreign_check_hashes(uint64_t hashes, deja_error *err);
int foreign_check_bits(uint64_t bits, deja_error *err);

#endif
