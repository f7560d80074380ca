/* session.h - what the commands that read keys share: the filter's options, input, pipeline,
 * progress line and account. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H
#include "command.h"
#include "pipeline.h"
#include "progress.h"

/* The library's options from the command line's; key is room for the secret that they name. */
int session_filter_options(const struct common *c, uint8_t key[DEJA_KEY_LEN], deja_options *opt,
                           deja_error *err);
/* Where keys come from: the operands from number `first` on. */
struct input_options session_input_options(const struct call *call, const struct common *c,
                                           size_t first);

/* Size a filter that the user did not size: from the length of the input where that can be told,
 * otherwise it has to grow.  With `grow`, also a size that is known is only the first one. */
int session_choose_size(const struct call *call, const struct common *c, size_t first, bool grow,
                        deja_options *opt, deja_error *err);

struct session {
    const struct call *call;
    const struct common *common;
    const deja_filter *filter;
    struct input *in;
    struct pipeline *pipeline;
    struct progress progress;
    deja_stats stats; /* as of the last look, for the progress line */
    double stats_due; /* a look reads the whole filter: not too often */
    uint64_t records; /* read so far */
    bool stopped;     /* by Ctrl-C */
};

/* results: where lines are printed meanwhile, or NULL. */
int session_open(struct session *s, const struct call *call, const struct common *c, size_t first,
                 const deja_filter *filter, const struct out *results, deja_error *err);
/* 1: a batch; 0: the end, or Ctrl-C; negative: a status. */
int session_next(struct session *s, struct batch **out, deja_error *err);
void session_close(struct session *s); /* may be repeated */

/* Where lines have several keys, make one record of each line again: its answer is 1 when that of
 * any of its keys is.  For commands that print or count lines. */
void session_fold(struct session *s, struct batch *b);
/* Print the records of a batch whose answer is `want`; returns how many. */
uint64_t session_print(struct out *out, const struct batch *b, uint8_t want);
/* A header goes before the first record, once. */
void session_print_header(struct session *s, struct out *out, bool *printed);
/* How many answers are 1. */
uint64_t session_count(const struct batch *b);
/* Records without the field or column that was asked for deserve a word. */
void session_warn_missing(const struct session *s);

/* The words for a failed add, which has only a status and errno. */
int session_add_failed(int status, const char *path, deja_error *err);

#endif
