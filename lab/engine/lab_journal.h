/* lab_journal.h - what is done, so that a lab that was stopped can go on.
 *
 * A text file in the folder of the report, one line for each finished unit of a run:
 *
 *     deja-lab 1 version=0.2.0 n=1000000 seed=1 keys=0123456789abcdef
 *     single 3 0 77342 34216 ...
 *
 * A line counts when it is complete; the last one of a program that was killed may not be.  A
 * journal of other URLs, another seed or version is refused.  More --runs than it has are fine:
 * the missing ones are added. */
#ifndef LAB_ENGINE_LAB_JOURNAL_H
#define LAB_ENGINE_LAB_JOURNAL_H
#include "lab/engine/lab.h"

struct lab_journal {
    int fd;
    char path[1024];
};
#define LAB_JOURNAL_NONE ((struct lab_journal){.fd = -1})

/* Begin an empty journal in the folder, or, to resume, read what there is into results (of all
 * experiments that are to run) and go on behind it.  *found counts the units that were there. */
int lab_journal_open(struct lab_journal *j, const char *folder, const struct lab *lab, bool resume,
                     struct lab_results *results, size_t n, uint64_t *found, deja_error *err);
/* A unit is done.  For one thread at a time. */
int lab_journal_add(struct lab_journal *j, const struct lab_results *r,
                    const struct lab_task *task, deja_error *err);
void lab_journal_close(struct lab_journal *j);

#endif
