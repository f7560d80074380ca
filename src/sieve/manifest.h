/* manifest.h - the file that says which files make up a sieve. */
#ifndef DJ_MANIFEST_H
#define DJ_MANIFEST_H
#include "sieve/run.h"

#define DJ_MANIFEST "manifest"
#define DJ_MAX_RUNS 1024

/* Flags of the file; the first is DEJA_KEY_APART. */
#define DJ_SIEVE_SEEDED 2u

struct dj_manifest {
    uint32_t flags;
    uint32_t profile; /* deja_profile; 0: bytes as given */
    uint8_t key[DEJA_KEY_LEN];
    uint64_t seed;
    uint64_t key_check;
    uint64_t id; /* in the head of every file */
    uint64_t url_rules;
    uint64_t sequence; /* of this manifest */
    uint64_t next;     /* number of the next file */
    uint64_t log, spool;
    uint64_t flushes;    /* times that the set of keys in runs has changed */
    uint64_t filter_for; /* the value of flushes for which filter.deja was saved; 0: none */
    uint64_t waited, settled, late, passes, merges;
};

/* The runs that the manifest lists; a run is open if its descriptor is not -1. */
struct dj_runs {
    struct dj_run run[DJ_MAX_RUNS];
    size_t n;
};

/* Reads the manifest and its list of runs, and keeps the file open in *fd.  A missing file is
 * DEJA_EIO with errno ENOENT. */
int dj_manifest_read(const struct dj_folder *folder, struct dj_manifest *m, struct dj_runs *runs,
                     int *fd, deja_error *err);
/* Replaces the file *fd (-1: there is none), durably, and sets *fd to the new one.  If that was the
 * last step that failed, *taken is true: the file has been replaced, but a power failure may bring
 * back the old one, so the files that it lists must stay. */
int dj_manifest_write(const struct dj_folder *folder, const struct dj_manifest *m,
                      const struct dj_runs *runs, int *fd, bool *taken, deja_error *err);

#endif
