/* shared_options.h - what many commands share: a struct that a command has among its own options, and the
 * tables that fill it. */
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
    bool insecure_key; /* whoever else can read that file */
    bool force;        /* a new filter may replace another */
    uint32_t mode;     /* of a new filter file; 0: the library's choice */
    const char *output;
    bool null; /* records end with '\0' */
    uint32_t field;
    struct opt_char delimiter;
    const char *csv;
    uint32_t format; /* a pick_format */
    bool dcso;       /* the filter is a bloom file of DCSO's */
    const char *json_key;
    uint32_t url; /* a deja_profile; 0: keys are bytes */
    const char *base;
    const char *drop_params; /* a file */
    const char *keep_params; /* names with commas between; "": the list is left out */
    bool strict;
    bool canonical;
    const char *redis; /* a URL */
    uint32_t shards;
    uint32_t replicas;
    uint32_t threads;
    bool json;
    bool quiet;
};

/* Which part of a line is the key. */
struct pick_options shared_pick_options(const struct shared_options *c);
/* The options of a filter as the library takes them; the key is the caller's to read. */
deja_options shared_filter_options(const struct shared_options *c);
/* --force and --mode as flags of deja_filter_create. */
unsigned shared_create_flags(const struct shared_options *c);
/* The options of shared_sizing that are given and that a filter of these numbers does not follow:
 * "-n, -m".  Empty if there are none.  What deja_filter_open checks is left out. */
struct shared_ignored {
    char text[200];
};
struct shared_ignored shared_ignored(const struct shared_options *c, const deja_filter *f,
                                     const deja_stats *s);

/* With a heading of their own: */
extern const struct opt shared_sizing[];   /* -n -p -m -k --hashes --filters --hash --multiplier
                                              and what belongs to one kind */
extern const struct opt shared_secret[];   /* --key --seed */
extern const struct opt shared_file_key[]; /* --key alone, for a filter that is there */
extern const struct opt shared_input[];    /* -z -f -d --csv --format --json-key */
/* The same, where --format dcso tells what the filter is. */
extern const struct opt shared_input_dcso[];
extern const struct opt shared_url[];     /* --url and shared_rules */
extern const struct opt shared_redis[];   /* --redis --shards --replicas */
extern const struct opt shared_general[]; /* -j --json -q */
/* One by one, for commands that want less or place them elsewhere: */
extern const struct opt shared_key[]; /* --key --insecure-key */
extern const struct opt shared_insecure_key[];
extern const struct opt shared_output[];  /* -o */
extern const struct opt shared_force[];   /* --force */
extern const struct opt shared_mode[];    /* --mode */
extern const struct opt shared_null[];    /* -z */
extern const struct opt shared_threads[]; /* -j */
extern const struct opt shared_json[];    /* --json */
extern const struct opt shared_quiet[];   /* -q */
/* How URLs are made canonical, for a command that has set `url` or lets the user do so. */
extern const struct opt shared_rules[];     /* --base --drop-params --keep-params --strict */
extern const struct opt shared_canonical[]; /* --canonical */

#endif
