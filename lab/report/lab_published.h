/* lab_published.h - the values that the papers print: lab/report/published.csv, which is built
 * into the command. */
#ifndef LAB_REPORT_LAB_PUBLISHED_H
#define LAB_REPORT_LAB_PUBLISHED_H
#include "deja.h"

/* NULL or 0 matches anything. */
struct lab_printed_query {
    const char *source;  /* "thesis", "multilayer", "lecture" */
    const char *table;   /* "5.9" */
    const char *subject; /* a hash, a kind of filter or of table */
    const char *quantity;
    const char *approach;
    uint32_t filters, hashes;
    double multiplier;
    uint64_t rows;
};

struct lab_printed {
    bool found;
    double value;
    double half; /* half of the last digit: the largest possible rounding error */
    double runs; /* number of runs averaged; 0: not stated */
    uint64_t rows;
    char text[24];   /* as printed */
    char remark[80]; /* what is unusual about it, or "" */
    size_t line;     /* in the file, from 1; the header is line 1 */
};
/* The first match. */
struct lab_printed lab_printed(const struct lab_printed_query *q);
/* The same in another table with these columns. */
struct lab_printed lab_printed_in(deja_slice csv, const struct lab_printed_query *q);

/* True if lab_printed has returned this line of published.csv: a test checks that the reports show
 * all of them.  Reports are made by one thread. */
bool lab_published_used(size_t line);

/* Generated from published.csv by the build. */
extern const char lab_published_csv[];
extern const size_t lab_published_csv_len;

#endif
