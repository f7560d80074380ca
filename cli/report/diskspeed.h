/* diskspeed.h - measures how fast a directory's disk reads and writes large files. */
#ifndef CLI_REPORT_DISKSPEED_H
#define CLI_REPORT_DISKSPEED_H
#include "deja.h"
#include <stdatomic.h>

struct diskspeed {
    double read, write; /* bytes per second */
    uint64_t bytes;     /* that were written and read; 0: not measured */
    bool cached;        /* the file system kept the file in memory: this is not the disk's speed */
};

/* Writes up to 256 MiB in at most about a second to a file without a name, syncs it, asks the
 * system to forget it, and reads it back.  Fails if the directory takes less than 4 MiB. */
int diskspeed_measure(const char *dir, const atomic_bool *stop, struct diskspeed *out,
                      deja_error *err);

#endif
