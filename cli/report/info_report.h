/* info_report.h - what is in a filter file: an account, what follows from it, how it is told. */
#ifndef CLI_REPORT_INFO_REPORT_H
#define CLI_REPORT_INFO_REPORT_H
#include "tools/base/out.h"

#define INFO_LAYERS 16 /* more than there can be */

/* The library's account, and what follows from it. */
struct info_report {
    const char *path;
    deja_stats s;
    deja_layer layer[INFO_LAYERS]; /* of a layered filter; the first is the XOR layer */
    double surprise; /* set bits beyond what the keys explain, in standard deviations */
    bool polluted;
    bool over_capacity;
    double rate_planned; /* at capacity; what was asked for, where the memory allows it */
    double room;         /* keys until then; negative: it has passed */
};

/* Open the file that r->path names, and fill the rest in; key may be NULL. */
int info_report_make(struct info_report *r, const uint8_t *key, deja_error *err);

/* For people (info_text.c); `further`: not the first. */
int info_report_text(const struct info_report *r, struct out *o, bool further, deja_error *err);
/* What they should know before anything else. */
void info_report_warn(const struct info_report *r, struct console *c);

/* An object (info_json.c); failed: what came instead of a report, or NULL. */
void info_report_json(const struct info_report *r, struct json *j, const deja_error *failed);

#endif
