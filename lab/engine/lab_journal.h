/* lab_journal.h - a record of finished units, so that a lab can be resumed.
 *
 * A text file in the folder of the report, one line for each finished unit of a run:
 *
 *     deja-lab 1 version=0.2.0 n=1000000 seed=1 keys=0123456789abcdef
 *     single 3 0 77342 34216 ...
 *
 * Only complete lines count; the last line of a killed program may be incomplete.  A journal with
 * different URLs, a different seed or a different version is rejected. --runs may exceed the runs
 * in the journal: the missing ones are added. */
#ifndef LAB_ENGINE_LAB_JOURNAL_H
#define LAB_ENGINE_LAB_JOURNAL_H
#include "lab/engine/lab.h"

struct lab_journal {
    int fd;
    char path[1024];
};
#define LAB_JOURNAL_NONE ((struct lab_journal){.fd = -1})

/* Start an empty journal in the folder or, to resume, read the existing one into results (of all
 * experiments that are to run) and append to it. *found is the number of units read. */
int lab_journal_open(struct lab_journal *j, const char *folder, const struct lab *lab, bool resume,
                     struct lab_results *results, size_t n, uint64_t *found, deja_error *err);
/* Record a finished unit.  For one thread at a time. */
int lab_journal_add(struct lab_journal *j, const struct lab_results *r, uint32_t unit,
                    uint32_t run, deja_error *err);
void lab_journal_close(struct lab_journal *j);

#endif
