/* sieve_plan.h - `deja plan --sieve`: what a sieve will cost. */
#ifndef CLI_REPORT_SIEVE_PLAN_H
#define CLI_REPORT_SIEVE_PLAN_H
#include "cli/session/command.h"

struct sieve_plan_options {
    const struct shared_options *shared;
    uint64_t lines;      /* in all; 0: as many as keys */
    const char *dir;     /* where to measure the disk; NULL: here */
    uint64_t disk_speed; /* bytes per second; 0: measure it */
};

/* Prints the plan as text or, with --json, as an object. */
int sieve_plan(const struct call *call, const struct sieve_plan_options *o, deja_error *err);

#endif
