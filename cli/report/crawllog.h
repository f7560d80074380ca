/* crawllog.h - the log of a crawl (--log): one JSON line per URL. */
#ifndef CLI_REPORT_CRAWLLOG_H
#define CLI_REPORT_CRAWLLOG_H
#include "cli/session/command.h"
#include "crawler/loop/crawl.h"

struct crawllog {
    struct out *out; /* &file, or standard output */
    struct out file; /* OUT_NONE: not open */
    bool sync;       /* a regular file */
    bool pending;    /* lines that may not be on disk */
};

/* Lines are appended; "-" is standard output.  An incomplete last line, which a full disk or a power
 * failure left, is removed: its URL gets another.  DEJA_EINVAL: the file is not a log.  DEJA_EBUSY:
 * another process writes it. */
int crawllog_open(struct crawllog *l, const char *path, struct out *standard, deja_error *err);
int crawllog_close(struct crawllog *l, int rc, deja_error *err); /* returns rc, or a failure */
int crawllog_add(struct crawllog *l, const struct crawl_fate *fate, deja_error *err);
/* All lines are on disk. */
int crawllog_sync(struct crawllog *l, deja_error *err);

#endif
