/* plan_report.h - which kind, how much memory, how many lost pages: numbers, advice, and how both are
 * told. */
#ifndef CLI_REPORT_PLAN_REPORT_H
#define CLI_REPORT_PLAN_REPORT_H
#include "cli/options/common.h"
#include "tools/base/out.h"

#define STUDY_ROWS     16
#define STUDY_RATES    9 /* 1e-1 .. 1e-9 */
#define STUDY_FILLINGS 9

struct study_row {
    uint32_t kind;
    bool possible;
    deja_plan plan;
    deja_error why_not;
};

/* What the options come to, and what is to be told about it. */
struct study {
    const struct common *c;
    struct study_row row[STUDY_ROWS];
    size_t n;
    const struct study_row *best; /* recommended; NULL: the user has chosen the kind */
    char reason[160];
    char command[256];
};

struct study_words {
    char s[32];
};

/* What becomes of a filter with another number of keys in it. */
struct study_filled {
    double share; /* of those that it was planned for */
    deja_plan plan;
};

extern const double study_rates[STUDY_RATES];

/* --- Numbers (study.c) ------------------------------------------------------ */

/* Every kind that the library has, or the one that was asked for. */
void study_begin(struct study *s);
/* The row of this kind, and the first of all, that is possible; or NULL. */
const struct study_row *study_find(const struct study *s, uint32_t kind);
const struct study_row *study_first(const struct study *s);
/* Lost keys in a million. */
double study_per_million(const deja_plan *p);
/* Cache lines, which is what a lookup in a large filter waits for. */
struct study_words study_reads(const deja_plan *p);
/* Bits a key of an otherwise unbound filter of this kind; 0 when there is none. */
double study_bits(uint32_t kind, uint64_t capacity, double p);
/* The rate that was asked for, if only by default; 0 when it follows from the rest. */
double study_rate_asked(const struct common *c);
/* Memory of the XOR layer alone, of a layered filter in mode salted. */
uint64_t study_xor_bytes(const struct study *s, const deja_plan *p);
/* The first possible filter, filled to step i, below STUDY_FILLINGS; false: it cannot be. */
bool study_filling(const struct study *s, size_t i, struct study_filled *f);

/* --- Advice (study_advice.c) ------------------------------------------------- */

/* The kind to take and why, unless the user has chosen, and the command to type next. */
void study_advise(struct study *s);

/* --- How it is told (study_text.c, study_json.c) -------------------------------- */

int study_text(const struct study *s, struct out *o, deja_error *err);
void study_json(const struct study *s, struct out *o);

#endif
