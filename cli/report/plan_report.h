/* plan_report.h - which kind, how much memory, how many lost pages: numbers, advice, and two ways
 * to print them. */
#ifndef CLI_REPORT_PLAN_REPORT_H
#define CLI_REPORT_PLAN_REPORT_H
#include "cli/options/shared_options.h"
#include "tools/base/out.h"

#define PLAN_ROWS     16
#define PLAN_RATES    9 /* 1e-1 .. 1e-9 */
#define PLAN_FILLINGS 9

struct plan_row {
    uint32_t kind;
    bool possible;
    deja_plan plan;
    deja_error why_not;
};

/* What the options come to, and what is to be told about it. */
struct plan_report {
    const struct shared_options *c;
    struct plan_row row[PLAN_ROWS];
    size_t n;
    const struct plan_row *best; /* recommended; NULL: the user has chosen the kind */
    char reason[160];
    char command[256];
};

struct plan_words {
    char s[32];
};

/* What becomes of a filter with another number of keys in it. */
struct plan_filled {
    double share; /* of those that it was planned for */
    deja_plan plan;
};

extern const double plan_rates[PLAN_RATES];

/* --- Numbers (plan_report.c) ------------------------------------------------------ */

/* Every kind that the library has, or the one that was asked for. */
void plan_begin(struct plan_report *s);
/* The row of this kind, and the first of all, that is possible; or NULL. */
const struct plan_row *plan_find(const struct plan_report *s, uint32_t kind);
const struct plan_row *plan_first(const struct plan_report *s);
/* Lost keys in a million. */
double plan_per_million(const deja_plan *p);
/* Cache lines, which is what a lookup in a large filter waits for. */
struct plan_words plan_reads(const deja_plan *p);
/* Bits a key of an otherwise unbound filter of this kind; 0 when there is none. */
double plan_bits(uint32_t kind, uint64_t capacity, double p);
/* The rate that was asked for, if only by default; 0 when it follows from the rest. */
double plan_rate_asked(const struct shared_options *c);
/* Memory of the XOR layer alone, of a layered filter in mode salted. */
uint64_t plan_xor_bytes(const struct plan_report *s, const deja_plan *p);
/* The first possible filter, filled to step i, below PLAN_FILLINGS; false: it cannot be. */
bool plan_filling(const struct plan_report *s, size_t i, struct plan_filled *f);

/* --- Advice (plan_advice.c) ------------------------------------------------- */

/* The kind to take and why, unless the user has chosen, and the command to type next. */
void plan_advise(struct plan_report *s);

/* --- How it is told (plan_text.c, plan_json.c) -------------------------------- */

int plan_text(const struct plan_report *s, struct out *o, deja_error *err);
void plan_json(const struct plan_report *s, struct out *o);

#endif
