/* lab_conditions.h - what the figures of a run depend on: command, seeds, sizes, machine. */
#ifndef LAB_REPORT_LAB_CONDITIONS_H
#define LAB_REPORT_LAB_CONDITIONS_H
#include "lab/report/lab_write.h"

/* Gets each of them, in order. */
typedef void lab_condition(void *ctx, const char *name, const char *value);
void lab_conditions(const struct lab_page *p, lab_condition *fn, void *ctx);

/* "n = 100,000 instead of 1,000,000, and 1 run instead of 100": how a run is smaller than the
 * papers'; "" if it is not. */
struct lab_smaller {
    char s[160];
};
struct lab_smaller lab_smaller(const struct lab *lab);

#endif
