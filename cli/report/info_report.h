/* info_report.h - describes a filter file: statistics and conclusions, as text or JSON. */
#ifndef CLI_REPORT_INFO_REPORT_H
#define CLI_REPORT_INFO_REPORT_H
#include "tools/base/out.h"

#define INFO_LAYERS 16 /* more than there can be */

/* The library's statistics, and conclusions from them. */
struct info_report {
    const char *path;
    deja_stats s;
    deja_layer layer[INFO_LAYERS]; /* of a layered filter; layer 0 is the XOR layer */
    double surprise;               /* set bits above the expected number, in standard deviations */
    bool polluted;
    bool over_capacity;
    double rate_planned; /* at capacity; the requested rate if the memory allows it */
    double room;         /* keys that fit before that rate is reached; negative: exceeded */
};

/* Opens r->path and fills in the rest; key may be NULL. */
int info_report_make(struct info_report *r, const uint8_t *key, deja_error *err);

/* Prints the report as text (info_text.c); `further` is true for every file but the first. */
int info_report_text(const struct info_report *r, struct out *o, bool further, deja_error *err);
/* Prints warnings about the file. */
void info_report_warn(const struct info_report *r, struct console *c);

/* Prints a JSON object (info_json.c).  failed: an error to print instead, or NULL. */
void info_report_json(const struct info_report *r, struct json *j, const deja_error *failed);

#endif
