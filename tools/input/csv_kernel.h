/* csv_kernel.h - the two searches in CSV that have a variant for each instruction set. */
#ifndef TOOLS_INPUT_CSV_KERNEL_H
#define TOOLS_INPUT_CSV_KERNEL_H
#include "tools/input/csv.h"

/* Every variant gives the results that csv_ends and csv_cut document, and the same state. */
struct csv_kernel {
    const char *name; /* "avx2", "neon", "portable" */
    size_t (*ends)(struct csv_scan *s, deja_slice text, size_t from, size_t *ends, size_t cap);
    bool (*cut)(deja_slice record, char delimiter, unsigned column, deja_slice *field);
};

extern const struct csv_kernel csv_portable, csv_avx2, csv_neon;
/* The fastest variant that this CPU supports. */
const struct csv_kernel *csv_best(void);

#endif
