/* lab_timed.h - the structures whose times the multi-layer paper compares, and deja's own layered
 * filter beside them. */
#ifndef LAB_EXPERIMENTS_LAB_TIMED_H
#define LAB_EXPERIMENTS_LAB_TIMED_H
#include "lab/engine/lab_task.h"

enum lab_timed_kind {
    TIMED_LINEAR,  /* an array of the lines, searched from the start */
    TIMED_BINARY,  /* a sorted array; each line is inserted at its place */
    TIMED_TABLE,   /* a hash table that stores the lines */
    TIMED_SLOTS,   /* the published program's "hash": flags at hash mod m, without the lines */
    TIMED_LINE,    /* its Bloom filter: whole lines */
    TIMED_ONE,     /* Algorithms 1 and 2 as printed: segments in one array */
    TIMED_LAYERED, /* Algorithms 3 and 4 */
    TIMED_KIND,    /* deja's kind layered, for p = 0.05 */
    TIMED_PAPER,   /* the same with --layered paper and the paper's k and m */
    TIMED_KINDS
};
extern const char *const lab_timed_label[TIMED_KINDS];

struct lab_times {
    double add;   /* ns per line; of a sorted array: for the last lines of the list */
    double query; /* ns per line that is in the list, in random order */
    double sort;  /* of a sorted array: ns per line to sort the list once instead */
};
/* Fill the structure with all lines, then query up to LAB_TIMED_QUERIES of them. */
#define LAB_TIMED_QUERIES UINT64_C(200000)
struct lab_times lab_timed(struct lab_task *t, enum lab_timed_kind which, const deja_slice *line,
                           uint64_t rows);

/* The share of absent lines that the program's flags report: 1 - e^(-1/m), with m flags a line. */
double lab_timed_slots_rate(void);
/* The hits among `absent` lines in its flags for `rows` lines. */
double lab_timed_slots_hits(struct lab_task *t, const deja_slice *line, uint64_t rows,
                            const deja_slice *absent, uint64_t n);

#endif
