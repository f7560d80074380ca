/* lab_aligned.h - the hash functions on the lab's list of URLs, at every alignment.
 *
 * A hash function reads a key in blocks of 4 to 64 bytes.  URLs of one site differ in a few bytes,
 * and where these fall in a block can decide whether the function mixes them well.  So each URL
 * gets a prefix of 0 to 15 bytes, and a filter with k = 3 and M = 2 counts the URLs that it loses.
 * Part of the experiment `hashes`: its last units are one family each. */
#ifndef LAB_EXPERIMENTS_LAB_ALIGNED_H
#define LAB_EXPERIMENTS_LAB_ALIGNED_H
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"

#define ALIGNED_FAMILIES   9u /* all of deja's, and lookup2 as published */
#define ALIGNED_ALIGNMENTS 16u
#define ALIGNED_VALUES     (ALIGNED_ALIGNMENTS + 1)

/* Family number `family`: the lost URLs for each alignment, then the number of URLs. */
void aligned_run(struct lab_task *t, uint32_t family);
uint64_t aligned_urls(const struct lab *lab); /* of each run */
/* A table and claims; the units of the families begin with `first`. */
void aligned_report(const struct lab_results *r, struct lab_report *report, uint32_t first);

#endif
