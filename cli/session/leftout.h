/* leftout.h - names the lines that a command could not use: those without a key, those whose key is
 * not a URL, and rules of block lists that a filter cannot express.
 *
 * Notes at the end of a command name the first three of each kind; --verbose prints each of them
 * when it occurs.  Blocks collect them (block_report), so only such lines cost time. */
#ifndef CLI_SESSION_LEFTOUT_H
#define CLI_SESSION_LEFTOUT_H
#include "cli/options/shared_options.h"
#include "tools/base/out.h"
#include "tools/input/input.h"

#define LEFTOUT_NAMED 3  /* of each kind */
#define LEFTOUT_TEXT  40 /* bytes of a line that are shown */

struct leftout {
    struct console *console;
    const struct input *in; /* says what the key is, if keys are not URLs; or NULL */
    bool print;             /* --verbose */
    size_t n[BLOCK_ODDITIES];
    struct leftout_line {
        char path[112];
        uint64_t number;
        char text[LEFTOUT_TEXT + 4]; /* escaped, and cut if it is long */
    } line[BLOCK_ODDITIES][LEFTOUT_NAMED];
};

/* How many lines of each kind the input should report, for input_options.odd_most. */
size_t leftout_most(const struct shared_options *c);
/* in: NULL if the keys are URLs.  It must stay valid as long as leftout_take is called. */
void leftout_init(struct leftout *l, const struct shared_options *c, struct console *console,
                  const struct input *in);
/* Takes the odd lines of the next block. */
void leftout_take(struct leftout *l, const struct block *b);

/* The first lines of a kind, of `total`: ': list.txt:1 "foo", list.txt:7 "bar"'; with --verbose "".
 */
struct leftout_text {
    char text[600];
};
struct leftout_text leftout_names(const struct leftout *l, enum block_oddity why, uint64_t total);
/* The same as an array of objects. */
void leftout_json(const struct leftout *l, struct json *j);

#endif
