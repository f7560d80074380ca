/* shared_options.h - options that many commands share: their values and the tables that fill them.
 */
#ifndef CLI_OPTIONS_SHARED_OPTIONS_H
#define CLI_OPTIONS_SHARED_OPTIONS_H
#include "cli/options/opt.h"
#include "cli/options/opt_filter.h"
#include "tools/input/pick.h"

enum {
    OPT_LAYERED_SALTED = 1,
    OPT_LAYERED_PAPER = 2
};

struct shared_options { /* 0, NULL or false: not given */
    deja_options filter;
    uint32_t layered; /* OPT_LAYERED_SALTED or _PAPER */
    bool fixed;       /* do not grow past the given size */
    const char *key_file;
    bool insecure_key; /* accept the file even if others can read it */
    bool force;        /* replace an existing filter */
    uint32_t mode;     /* of a new filter file; 0: the library's choice */
    const char *output;
    bool null; /* records end with '\0' */
    struct opt_indexes field;
    struct opt_char delimiter;
    const char *csv;
    uint32_t format;           /* a pick_format */
    const char *filter_column; /* of a foreign file with several filters */
    uint32_t foreign;          /* the filter is of this format: see shared_foreign */
    const char *json_key;
    bool ignore_case;       /* of ASCII letters in keys */
    bool paragraphs;        /* records are paragraphs */
    const char *jsonl_text; /* the string of a JSON document whose paragraphs are compared */
    uint32_t ngrams;        /* compare texts by their n-grams of this many words */
    double threshold;       /* the share of n-grams seen before that makes a repeat */
    uint32_t url;           /* a deja_profile; 0: keys are bytes */
    const char *base;
    const char *drop_params; /* a file */
    const char *keep_params; /* names, comma-separated; "": the whole list */
    bool strict;
    bool canonical;
    struct opt_strings redis; /* URLs */
    uint32_t shards;
    uint32_t replicas;
    const char *spool;
    uint64_t spool_size;
    uint32_t threads;
    bool json;
    bool quiet;
    bool verbose;
};

/* Which part of a line is the key. */
struct pick_options shared_pick_options(const struct shared_options *c);
/* The options for the library; the caller reads the key file. */
deja_options shared_filter_options(const struct shared_options *c);
/* Returns --force and --mode as flags of deja_filter_create. */
unsigned shared_create_flags(const struct shared_options *c);
/* Fails if an option needs a profile but has none, or does not fit the profile.  With --url,
 * shared_rules checks this; without, call it when the profile is known: a filter may have one. */
int shared_check_url(const struct shared_options *c, deja_error *err);
/* An option that was given and needs a profile, or NULL. */
const char *shared_needs_profile(const struct shared_options *c);
/* An option that was given and compares texts, which are not URLs, or NULL. */
const char *shared_text_option(const struct shared_options *c);
/* Lists the options of shared_sizing that were given but that the filter ignores: "-n, -m".  Empty
 * if there are none.  Options that deja_filter_open checks are not listed. */
struct shared_ignored {
    char text[200];
};
struct shared_ignored shared_ignored(const struct shared_options *c, const deja_filter *f,
                                     const deja_stats *s);

/* The format of the filter, if --format names one of another program, or NULL. */
const struct foreign_format *shared_foreign(uint32_t foreign);
/* The name of a number that shared_foreign takes, or NULL; and the option that gives it. */
const char *shared_foreign_name(uint32_t foreign);
struct shared_word {
    char text[40];
} shared_foreign_word(uint32_t foreign);
#define SHARED_FOREIGN 32u /* the first such number; pick_formats are smaller */

/* With their own heading: */
extern const struct opt shared_sizing[];   /* -n -p -m -k --hashes --filters --hash --multiplier
                                              and those of a single kind */
extern const struct opt shared_secret[];   /* --key --seed */
extern const struct opt shared_file_key[]; /* --key alone, for an existing filter */
extern const struct opt shared_input[];    /* -z -f -d --csv --format --json-key
                                              --paragraphs -i */
extern const struct opt shared_lines[];    /* the same without -i */
extern const struct opt shared_filter_column[]; /* --filter-column, without a heading */
/* The same as shared_input; --format is also a format of the filter, such as dcso. */
extern const struct opt shared_input_foreign[];
extern const struct opt shared_text[];         /* --jsonl-text --ngrams --threshold */
extern const struct opt shared_url[];          /* --url and shared_rules */
extern const struct opt shared_redis[];        /* --redis --shards --spool ... */
extern const struct opt shared_general[];      /* -j --json -q -v */
extern const struct opt shared_general_no_v[]; /* the same if -v has another meaning: --verbose */
/* Without a heading, for commands that need only some of them: */
extern const struct opt shared_key[];     /* --key --insecure-key, for an existing filter */
extern const struct opt shared_open[];    /* and --json -q */
extern const struct opt shared_change[];  /* and --json -q -v */
extern const struct opt shared_output[];  /* -o */
extern const struct opt shared_force[];   /* --force */
extern const struct opt shared_mode[];    /* --mode */
extern const struct opt shared_null[];    /* -z */
extern const struct opt shared_memory[];  /* -m, of a sieve */
extern const struct opt shared_threads[]; /* -j */
extern const struct opt shared_json[];    /* --json */
extern const struct opt shared_quiet[];   /* -q */
extern const struct opt shared_verbose[]; /* -q -v, for commands that end with a summary */
/* How URLs become canonical. */
extern const struct opt shared_rules[];     /* --base --drop-params --keep-params --strict */
extern const struct opt shared_canonical[]; /* --canonical */

#endif
