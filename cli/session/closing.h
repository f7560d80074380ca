/* closing.h - the line with which a command ends:
 *
 *     20,000 read, 14,000 new, 6,000 seen before, about 0.4 lost · 5 ms
 *
 * With the name of the command in front, it fits 80 columns.  If it would be longer, the file name
 * is shortened in the middle, then the remarks move to a second line, then counts are abbreviated
 * (1.2 G). On a terminal that does not use UTF-8, a semicolon replaces the dot. */
#ifndef CLI_SESSION_CLOSING_H
#define CLI_SESSION_CLOSING_H
#include "tools/base/out.h"

#define CLOSING_COLUMNS 80
#define CLOSING_ITEMS   4

struct closing {
    struct console *console;
    bool stopped; /* by Ctrl-C */
    struct closing_item {
        const char *front; /* "about ", or "" */
        uint64_t n;
        const char *word;
    } item[CLOSING_ITEMS];
    size_t n;
    const char *path; /* or NULL; after the last item */
    char remarks[160];
};

void closing_begin(struct closing *c, struct console *console, bool stopped);
/* "14,000 new"; texts are borrowed until closing_print. */
void closing_count(struct closing *c, uint64_t n, const char *word);
void closing_about(struct closing *c, uint64_t n, const char *word); /* "about 14,000 keys" */
/* "3 in f.deja": the last item to be counted, with the name of a file. */
void closing_count_in(struct closing *c, uint64_t n, const char *word, const char *path);
/* One more fact, such as "about 0.4 lost". */
void closing_remark(struct closing *c, const char *fmt, ...) OUT_PRINTF(2, 3);
/* seconds: how long the command took, or a negative number if that is unknown. */
void closing_print(const struct closing *c, double seconds);

#endif
