/* plan_report.h - compares kinds by memory and lost pages, recommends one, and prints the result
 * as text or JSON. */
#ifndef CLI_REPORT_PLAN_REPORT_H
#define CLI_REPORT_PLAN_REPORT_H
#include "cli/options/shared_options.h"
#include "tools/base/out.h"

#define PLAN_ROWS     16
#define PLAN_RATES    9 /* 1e-1 .. 1e-9 */
#define PLAN_FILLINGS 9

/* The pages that a crawl misses for each key that its filter mistakes for seen, that page included:
 * deja lab replay, generated sites, for rates of 1 % and less. */
#define PLAN_PAGES_PER_LOSS 2.0

struct plan_row {
    uint32_t kind;
    bool possible;
    deja_plan plan;
    deja_error why_not;
};

/* The plans for the options, and the advice. */
struct plan_report {
    const struct shared_options *c;
    uint64_t key_length; /* bytes of a key; 0: no comparison with a table of the keys */
    struct plan_row row[PLAN_ROWS];
    size_t n;
    const struct plan_row *best; /* the recommended kind; NULL: the user has chosen one */
    char reason[160];
    char command[256];
};

struct plan_words {
    char s[32];
};

/* A table of the keys themselves, in place of a filter. */
struct plan_table {
    uint64_t capacity, bytes;
    double bits_per_key;
};

/* A filter with a different number of keys in it. */
struct plan_filled {
    double share; /* of the planned number */
    deja_plan plan;
};

extern const double plan_rates[PLAN_RATES];

/* --- Numbers (plan_report.c) ------------------------------------------------------ */

/* Plans every kind of the library, or only the requested one. */
void plan_begin(struct plan_report *s);
/* Finds the row of this kind, or the first possible row; NULL if none is possible. */
const struct plan_row *plan_find(const struct plan_report *s, uint32_t kind);
const struct plan_row *plan_first(const struct plan_report *s);
/* Lost keys per million. */
double plan_per_million(const deja_plan *p);
/* The cache lines that a lookup reads, which determine its time in a large filter. */
struct plan_words plan_reads(const deja_plan *p);
/* Bits per key of a filter of this kind with default options; 0 if it is impossible. */
double plan_bits(uint32_t kind, uint64_t capacity, double p);
/* The requested or default rate; 0 if it follows from the other options. */
double plan_rate_asked(const struct shared_options *c);
/* Memory of the XOR layer of a layered filter in salted mode. */
uint64_t plan_xor_bytes(const struct plan_report *s, const deja_plan *p);
/* The table of the keys: for n of them, or as many as fit into the memory that was given. */
struct plan_table plan_table_of(const struct plan_report *s);
/* How many times as much memory a table takes as this filter, for the same keys. */
double plan_table_ratio(const struct plan_report *s, const deja_plan *p);
/* The ratio from which a filter counts as "much smaller" than the table. */
#define PLAN_MUCH 10
/* Computes the first possible filter, filled to step i < PLAN_FILLINGS; false if that is
 * impossible. */
bool plan_filling(const struct plan_report *s, size_t i, struct plan_filled *f);

/* --- Advice (plan_advice.c) ------------------------------------------------- */

/* Recommends a kind, with the reason, unless the user has chosen one, and the next command. */
void plan_advise(struct plan_report *s);

/* --- Output (plan_text.c, plan_json.c) ---------------------------------------- */

int plan_text(const struct plan_report *s, struct out *o, deja_error *err);
void plan_json(const struct plan_report *s, struct out *o);

#endif
