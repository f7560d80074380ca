/* session.h - shared by the commands that read keys: the filter's options, input, pipeline,
 * progress line and summary. */
#ifndef CLI_SESSION_SESSION_H
#define CLI_SESSION_SESSION_H
#include "cli/session/closing.h"
#include "cli/session/command.h"
#include "cli/session/leftout.h"
#include "cli/session/pipeline.h"
#include "cli/session/textkeys.h"
#include "cli/session/urlkeys.h"
#include "tools/base/progress.h"

/* Paragraphs for the descriptions of these commands: the key of a line. */
#define SESSION_KEY_TEXT                                                                          \
    "Lines are compared by their keys: the whole line, or the part that -f, --csv, --format "     \
    "or --json-key selects. Several fields or columns (-f 1,3, --csv a,b) are one key; the "      \
    "list of --csv is a line of CSV. -i makes keys lower case first (ASCII letters only; of "     \
    "URLs, the canonical form). A filter file does not record these options: give them with "     \
    "each command.\n\n" SESSION_FORMAT_TEXT
#define SESSION_FORMAT_TEXT                                                                       \
    "  --format  the key\n"                                                                       \
    "  lines     the whole line; the default\n"                                                   \
    "  log       the request target in a Common or Combined log, its escapes\n"                   \
    "            decoded, with or without a leading virtual host\n"                               \
    "  squid     the URL in squid's native log: the 7th field\n"                                  \
    "  cdx       the original URL in a CDX index: the field a of its legend,\n"                   \
    "            or without a legend the 3rd field\n"                                             \
    "  cdxj      the string url in the JSON object of a CDXJ line\n"                              \
    "  jsonl     the string url in a line that is a JSON object\n"                                \
    "  hosts     each host in a hosts file or block list: 0.0.0.0 a b, a,\n"                      \
    "            ||a^; comments and names such as localhost are skipped\n"                        \
    "  dnsmasq   each name in address=/a/b/, server=/a/ and local=/a/\n"                          \
    "  unbound   the name in local-zone: \"a.\" and local-data: \"a. A 0.0.0.0\"\n"               \
    "  rpz       the owner name in a response policy zone\n"                                      \
    "  adblock   the host or URL in a rule of an ad blocker: ||a^, ||a/b,\n"                      \
    "            ||a^$important; rules that a filter cannot express are counted\n\n"              \
    "--json-key takes a name such as url, a path such as page.url, or the same in the syntax of " \
    "jq and JSONPath: .page.url, $.page.url. Write .\"a.b\" for a name that contains a dot.\n\n"  \
    "A line without a key matches nothing, not even another line without one. Such a line has "   \
    "too few fields, no such string or request, or an empty one (\"url\": \"\"). dedup and "      \
    "check -v print it; check does not; build, add and remove skip it; count prints 0. The "      \
    "summary counts such lines and names the first three (--verbose: all); with --strict the "    \
    "first one is an error. If no line has the key, the command fails and shows what the lines "  \
    "contain. Without these "                                                                     \
    "options every line has a key, even an empty line."
/* How --url compares keys; ends with "Keys that are not URLs are counted and ". */
#define SESSION_URL_TEXT                                                                          \
    "With --url, keys are URLs, and two are equal if their canonical forms are equal; lines are " \
    "printed unchanged.\n\n"                                                                      \
    "  PROFILE   merges\n"                                                                        \
    "  safe      spellings that no server can tell apart: case of the host,\n"                    \
    "            default port, dot segments, percent encoding, fragment, ...\n"                   \
    "  crawl     also the order of parameters; tracking and session\n"                            \
    "            parameters are dropped\n"                                                        \
    "  gsb       what Google Safe Browsing merges, for block lists; http and\n"                   \
    "            https are equal\n"                                                               \
    "  scrapy    what w3lib's canonicalize_url merges, byte for byte\n"                           \
    "  shape     pages of one template: also parameter values, numbers, hashes\n\n"               \
    "A filter records the profile and its rules. If it exists, --url can be omitted; a "          \
    "different profile is an error. Keys that are not URLs are counted and "
/* How lines are printed; ends with "if any of them is ". */
#define SESSION_LINES_TEXT                                                                        \
    "Lines are printed unchanged. A CSV or CDX header is printed once, before the results. A "    \
    "line with several hosts is printed if any of them is "

/* The options of the input, which consists of the operands from number `first` on. */
struct input_options session_input_options(const struct call *call, const struct shared_options *c,
                                           size_t first);

/* Chooses the size of a new filter: the user's, or an estimate from the length of the input if it
 * is known.  If the filter can grow and --fixed is not given, this is only its initial size. */
int session_choose_size(const struct call *call, const struct shared_options *c, size_t first,
                        deja_options *opt, deja_error *err);

struct session { /* start with {0} */
    const struct call *call;
    struct urlkeys urls;
    struct textkeys text;
    const struct shared_options *shared;
    const deja_filter *filter; /* NULL: not yet made, or not a deja filter ... */
    struct pipeline_hash hash; /* ... and this hashes the keys; set before session_open */
    struct input *in;
    struct pipeline *pipeline;
    struct progress progress;
    struct out own, *out; /* where lines are printed; NULL: nowhere */
    bool header_printed;
    const char *separator; /* to print before the next paragraph, or NULL */
    uint64_t bytes;        /* of the filter at the start */
    deja_stats stats;      /* for the progress line */
    double stats_due;      /* computing them reads the whole filter: not too often */
    size_t batch_max;      /* lines; 0: as many as fit; set before session_open */
    bool twice;            /* session_rewind will be called; set before session_open */
    uint64_t records;      /* read so far */
    uint64_t keyless;      /* of these, without a key */
    uint64_t lookups;      /* keys; a line may have several */
    struct leftout left_out;
    bool stopped;                                /* by Ctrl-C */
    bool warned;                                 /* by session_watch */
    bool typed;                                  /* the user must type the first lines */
    int (*on_pause)(void *job, deja_error *err); /* or NULL */
    void *pause_job;
    void (*describe)(void *job, char *text, size_t cap); /* or NULL */
    void *describe_job;
};

/* Call it first: turns the command line's options into the library's, with the rules for URLs, and
 * reads the secret key, if a file was given, into `key`.  End with session_close, even without
 * session_open. */
int session_begin(struct session *s, const struct shared_options *c, enum urlkeys_use use,
                  uint8_t key[DEJA_KEY_LEN], deja_options *opt, deja_error *err);
/* Without --url, the keys get the profile and rules of a filter: profile 0 means bytes.  Call it
 * for every existing filter: it fails if the options contradict the filter.  name: the filter's,
 * for errors. */
int session_take_profile(struct session *s, const char *name, uint32_t profile, uint64_t rules,
                         deja_error *err);
/* Opens a filter file, and calls session_take_profile. */
int session_open_file(struct session *s, const char *path, unsigned flags,
                      const deja_options *expect, deja_filter **out, deja_error *err);
int session_open(struct session *s, const struct call *call, const struct shared_options *c,
                 size_t first, const deja_filter *filter, deja_error *err);
/* Starts again with the first line, as if nothing had been read. */
int session_rewind(struct session *s, deja_error *err);
/* 1: a batch; 0: the end, or Ctrl-C; negative: a status. */
int session_next(struct session *s, struct batch **out, deja_error *err);
/* session_begin, session_open_file, session_output and session_open for a command whose first
 * operand is a filter file, which must have the capability.  A command that opens it for reading
 * prints lines.  call->options starts with a struct shared_options. */
int session_start(struct session *s, const struct call *call, enum urlkeys_use use, unsigned flags,
                  uint32_t capability, deja_filter **out, deja_error *err);
/* Opens the output.  Fails if it is one of the operands: a filter or an input. */
int session_output(struct session *s, const struct call *call, const struct shared_options *c,
                   size_t first, deja_error *err);
/* Sets a function to call when nothing has arrived for SESSION_PAUSE milliseconds; call it before
 * the first batch.  The function returns 1 to be called again if the pause lasts, 0 if nothing is
 * left to do, or a negative status. */
#define SESSION_PAUSE 500
typedef int session_idle_fn(void *job, deja_error *err);
void session_on_pause(struct session *s, session_idle_fn *fn, void *job);
/* Sets a function that appends its facts to the progress line, for a session without a filter. */
typedef void session_describe_fn(void *job, char *text, size_t cap);
void session_describe(struct session *s, session_describe_fn *fn, void *job);
/* If nothing is typed for SESSION_TYPED milliseconds, this message tells the user that the command
 * is waiting for lines. */
#define SESSION_TYPED 1000
void session_note_terminal(struct console *c);
/* Calls fn for every batch, until the end, Ctrl-C or a failure. */
typedef int session_fn(void *job, struct batch *b, deja_error *err);
int session_each(struct session *s, session_fn *fn, void *job, deja_error *err);
/* The same for a function that changes a filter file.  The file is synced every SESSION_SYNC
 * seconds (session_next_sync), even if the input pauses, and at the end, even after a failure. */
int session_each_synced(struct session *s, deja_filter *f, session_fn *fn, void *job,
                        deja_error *err);
#define SESSION_SYNC 30.0
/* When to sync again after a sync that began and ended at these times, in seconds.  After a sync of
 * a file, its pages must be made writable again one by one, and a large file can take longer than
 * SESSION_SYNC; so syncs get at most a fifth of the time. */
static inline double session_next_sync(double began, double ended)
{
    const double rested = ended + 4 * (ended - began);
    return rested > began + SESSION_SYNC ? rested : began + SESSION_SYNC;
}
void session_close(struct session *s); /* may be repeated */
/* The same for a command that prints lines: see out_finish. */
int session_finish(struct session *s, int rc, deja_error *err);

/* Gives each record its answer (batch_spread); keyless records get `keyless`. */
void session_spread(struct batch *b, uint8_t keyless);
/* The same for commands that print or count lines: if lines have several keys, makes one record of
 * each line.  Its answer is 1 if any of its keys has the answer 1, and `keyless` if it has no
 * key.  Its key is the first with that answer. */
void session_fold(struct session *s, struct batch *b, uint8_t keyless);
/* Prints the header and the records of a batch whose answer is `want`, or their canonical forms
 * with --canonical. */
void session_print(struct session *s, const struct batch *b, uint8_t want);
/* Passes the same to a function, piece by piece, without the header. */
typedef void session_put_fn(void *to, const void *data, size_t len);
void session_pieces(const struct session *s, const struct batch *b, uint8_t want,
                    session_put_fn *put, void *to);
/* Prints record i, or with --canonical its form, with `front` before it; of a paragraph, not the
 * blank lines before it. */
void session_print_record(struct session *s, const struct block *b, size_t i, const char *front);
/* Prints record i, or with --canonical its form, between two texts.  The second is inserted before
 * the line break.  Not for paragraphs. */
void session_print_between(struct session *s, const struct block *b, size_t i, deja_slice front,
                           deja_slice back);
/* Prints the header, once, with `front` before it; with --canonical there is none. */
void session_print_header(struct session *s, const char *front);
/* The header that results need; false if they need none, or it has not been read yet. */
bool session_header(const struct session *s, deja_slice *header);
/* How many answers are 1. */
uint64_t session_count(const struct batch *b);
/* Reports how many records have no key, or a key that is not a URL. */
void session_warn_missing(const struct session *s);
/* For a new filter: notes that hosts of a block list were added as bytes, because most users will
 * check URLs against it. */
void session_note_bytes(const struct session *s, const char *path);
/* "is not a URL" or "are not URLs". */
const char *session_no_urls(uint64_t n);

/* The last line of a command, "20,000 read, ...": starts it; the caller adds counts and remarks. */
struct closing session_closing(const struct session *s);
/* The same with how many keys were new, and how many were in the filter before. */
struct closing session_closing_new(const struct session *s, uint64_t is_new, uint64_t seen);
/* Adds the size of the filter if it grew, and prints the line. */
void session_print_closing(const struct session *s, struct closing *c);
/* The size of a filter, or 0 without one. */
uint64_t session_filter_bytes(const deja_filter *f);
/* Did the filter grow in this run? */
bool session_grew(const struct session *s);

/* The report of --json: on standard output, or on standard error if that is where the results of
 * the command are. */
struct session_report {
    struct out own, *out;
    struct json json;
};
/* False: nothing is to be reported. */
bool session_report_begin(struct session_report *r, const struct session *s);
/* Adds the fields of all reports: keyless lines, time, Ctrl-C, URLs. */
void session_report_end(struct session_report *r, const struct session *s);

/* The number of keys in a filter if it holds more than it was sized for, otherwise 0. */
uint64_t session_too_many(const deja_filter *f);
/* Whether a kind can add keys one by one, forgetting at most the oldest.  0 is the default
 * kind. */
bool session_can_dedup(uint32_t kind);
/* Call it after adding keys: warns once when the filter holds more keys than it was sized for.
 * what: the filter's name in the warning. */
void session_watch(struct session *s, const char *what);

#endif
