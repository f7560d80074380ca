/* session.h - shared by the commands that read keys: the filter's options, input, pipeline, progress
 * line and summary. */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H
#include "cli/session/command.h"
#include "cli/session/pipeline.h"
#include "cli/session/urlkeys.h"
#include "tools/base/progress.h"

/* Paragraphs for the descriptions of these commands: what is the key of a line. */
#define SESSION_KEY_TEXT                                                                          \
    "What is compared is the key of a line: all of it, or what -f, --csv or --format pick.\n\n" SESSION_FORMAT_TEXT
#define SESSION_FORMAT_TEXT                                                                       \
    "  --format  the key\n"                                                                       \
    "  lines     the whole line; the default\n"                                                   \
    "  log       the request target in a Common or Combined log, its escapes\n"                   \
    "            decoded; with or without a virtual host in front\n"                              \
    "  squid     the URL in squid's native log: the 7th field\n"                                  \
    "  cdx       the original URL in a CDX index: the field a of its legend,\n"                   \
    "            or without a legend the 3rd\n"                                                   \
    "  cdxj      the string url in the JSON object of a CDXJ line\n"                              \
    "  jsonl     the string url in a line that is a JSON object\n"                                \
    "  hosts     each host in a hosts file or block list: 0.0.0.0 a b, a,\n"                      \
    "            ||a^; comments and names such as localhost are skipped\n\n"                      \
    "--json-key takes a name such as url, a path such as page.url, or the same as jq and "        \
    "JSONPath write it: .page.url, $.page.url. A key whose name has a dot is .\"a.b\".\n\n"       \
    "A line without a key matches nothing, not even another line without one: a line with "       \
    "too few fields, without that string or request, or with nothing in it (\"url\": \"\"). "     \
    "dedup prints it, check never finds it (and -v prints it), build, add and remove skip "       \
    "it, and count prints 0. The summary counts such lines; --strict makes the first one "        \
    "an error. If no line has the key, the command fails and shows what the lines do have. "      \
    "Without these options, the whole line is the key, even if it is empty."
/* And what --url makes of it. */
#define SESSION_URL_TEXT                                                                          \
    "With --url, keys are URLs, and two are the same when their canonical forms are; the lines "  \
    "are printed as they came.\n\n"                                                               \
    "  PROFILE   merges\n"                                                                        \
    "  safe      spellings that no server can tell apart: case of the host,\n"                    \
    "            default port, dot segments, percent encoding, fragment, ...\n"                   \
    "  crawl     also the order of parameters; tracking and session\n"                            \
    "            parameters are dropped\n"                                                        \
    "  gsb       what Google Safe Browsing merges, for block lists; http and\n"                   \
    "            https are one\n"                                                                 \
    "  scrapy    what w3lib's canonicalize_url merges, byte for byte\n\n"                         \
    "A filter file records the profile and its rules; with other ones, or without --url, it "     \
    "is refused. Keys that are not URLs are counted and "
/* And what those that print lines make of them. */
#define SESSION_LINES_TEXT                                                                        \
    "Lines are printed as they came. A CSV or CDX header is printed once, before the results. "   \
    "Of a line with several hosts one is enough: it is printed when any of them is "

/* The input: the operands from number `first` on. */
struct input_options session_input_options(const struct call *call, const struct shared_options *c,
                                           size_t first);

/* Chooses the size of a new filter: the user's, or an estimate from the length of the input if it
 * is known.  If the filter can grow, and without --fixed, this is only its first size. */
int session_choose_size(const struct call *call, const struct shared_options *c, size_t first,
                        deja_options *opt, deja_error *err);

struct session { /* start with {0} */
    const struct call *call;
    struct urlkeys urls;
    const struct shared_options *shared;
    const deja_filter *filter; /* NULL: not yet made, or not a deja filter ... */
    struct pipeline_hash hash; /* ... and this hashes the keys; set before session_open */
    struct input *in;
    struct pipeline *pipeline;
    struct progress progress;
    deja_stats stats; /* for the progress line */
    double stats_due; /* computing them reads the whole filter: not too often */
    size_t batch_max; /* lines; 0: as many as fit; set before session_open */
    uint64_t records; /* read so far */
    uint64_t keyless; /* of these, without a key */
    uint64_t lookups; /* keys; a line may have several */
    bool stopped;     /* by Ctrl-C */
    bool warned;      /* by session_watch */
    int (*on_pause)(void *job, deja_error *err); /* or NULL */
    void *pause_job;
};

/* Call it first: turns the command line's options into the library's, with the rules for URLs, and
 * reads the secret key, if a file was given, into `key`.  End with session_close, even without
 * session_open. */
int session_begin(struct session *s, const struct shared_options *c, enum urlkeys_use use,
                  uint8_t key[DEJA_KEY_LEN], deja_options *opt, deja_error *err);
/* Opens a filter file.  Fails if it holds URLs and the keys are not URLs. */
int session_open_file(struct session *s, const char *path, unsigned flags,
                      const deja_options *expect, deja_filter **out, deja_error *err);
/* results: where the command prints lines, or NULL. */
int session_open(struct session *s, const struct call *call, const struct shared_options *c,
                 size_t first, const deja_filter *filter, const struct out *results,
                 deja_error *err);
/* 1: a batch; 0: the end, or Ctrl-C; negative: a status. */
int session_next(struct session *s, struct batch **out, deja_error *err);
/* session_begin and session_open_file. */
int session_begin_file(struct session *s, const struct shared_options *c, enum urlkeys_use use,
                       const char *path, unsigned flags, deja_filter **out, deja_error *err);
/* The output of a command whose first operand is a filter file.  Fails if the output is that file
 * or an input. */
int session_output(const struct call *call, const struct shared_options *c, struct out *own,
                   struct out **out, deja_error *err);
/* Sets a function to call when nothing has arrived for SESSION_PAUSE milliseconds; call it before
 * the first batch.  The function returns 1 to be called again if the pause lasts, 0 if nothing is
 * left to do, or a negative status. */
#define SESSION_PAUSE 500
typedef int session_idle_fn(void *job, deja_error *err);
void session_on_pause(struct session *s, session_idle_fn *fn, void *job);
/* Calls fn for every batch, until the end, Ctrl-C or a failure. */
typedef int session_fn(void *job, struct batch *b, deja_error *err);
int session_each(struct session *s, session_fn *fn, void *job, deja_error *err);
/* The same if fn changes a filter in a file, which is synced every SESSION_SYNC seconds, also while
 * the input pauses. */
int session_each_synced(struct session *s, deja_filter *f, session_fn *fn, void *job,
                        deja_error *err);
#define SESSION_SYNC 30.0
void session_close(struct session *s); /* may be repeated */

/* Gives each record its answer (batch_spread); keyless records get `keyless`. */
void session_spread(struct batch *b, uint8_t keyless);
/* The same for commands that print or count lines: if lines have several keys, makes one record of
 * each line.  Its answer is 1 if that of any of its keys is, and `keyless` if it has no key. */
void session_fold(struct session *s, struct batch *b, uint8_t keyless);
/* Prints the records of a batch whose answer is `want`; with --canonical, their forms. */
void session_print(const struct session *s, struct out *out, const struct batch *b, uint8_t want);
/* Prints the header, once, before the first record; forms have none. */
void session_print_header(struct session *s, struct out *out, bool *printed);
/* How many answers are 1. */
uint64_t session_count(const struct batch *b);
/* Reports how many records have no key, or a key that is not a URL. */
void session_warn_missing(const struct session *s);
/* "is not a URL" or "are not URLs". */
const char *session_no_urls(uint64_t n);
/* The fields at the end of all reports of --json: keyless lines, time, Ctrl-C, URLs. */
void session_json_end(const struct session *s, struct json *j);
/* A report of --json on standard error, for commands whose results go to standard output. */
struct session_report {
    struct out out;
    struct json json;
};
bool session_report_begin(struct session_report *r);
void session_report_end(struct session_report *r, const struct session *s);

/* The number of keys in a filter if it holds more than it was sized for, otherwise 0. */
uint64_t session_too_many(const deja_filter *f);
/* Can a kind add keys one by one, and does it forget at most the oldest?  0: the default kind. */
bool session_can_dedup(uint32_t kind);
/* Call it after adding keys: warns once when the filter holds more keys than it was sized for.
 * what: the filter's name in the warning. */
void session_watch(struct session *s, const char *what);

#endif
