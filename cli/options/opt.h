/* opt.h - options from tables.
 *
 * A command describes its options once, in a table, which the parser, --help, the man page and the
 * completion read.  An entry names the field of the command's struct that it fills; a field of the
 * wrong type does not compile.
 *
 *     struct dedup_options {
 *         struct shared_options shared;
 *         bool repeated;
 *         const char *state;
 *     };
 *     static const struct opt options[] = {
 *         OPT_FLAG('D', "repeated", struct dedup_options, repeated, "print the repeats instead"),
 *         OPT_STRING(0, "state", "FILE", struct dedup_options, state, "keep the filter in FILE"),
 *         OPT_GROUP(struct dedup_options, shared, shared_output),
 *         OPT_GROUP(struct dedup_options, shared, shared_sizing),
 *         OPT_GROUP(struct dedup_options, shared, shared_input),
 *         OPT_CHECK(check_options),
 *         OPT_END,
 *     };
 *
 * The struct starts as the command's defaults, or all zero; zero means "not given".  The last
 * of several equal options wins.  Every command has -h and --help, which are in no table.
 *
 * After its help, an entry can have marks:
 *
 *     OPT_FLAG('D', "repeated", ..., "print the repeats instead", OPT_USED(1)),
 *     OPT_STRING(0, "out", "DIR", ..., "same as --output", OPT_OLD("--output")),
 *
 * OPT_USED(rank) ranks the options that -h shows, which has room for ten: it takes those of rank
 * 1, then 2, then 3.  OPT_OLD(new) marks an old spelling: it still works, with a note, and no help
 * or completion lists it.
 *
 * Spellings: -n 5, -n5, --capacity 5, --capacity=5, -qz, -qn5; `--` ends the options, `-` is an
 * operand, options and operands may be mixed, names cannot be abbreviated.  An optional value is
 * attached, --url=crawl; a choice may also follow, --url crawl.  Any other word after it is an
 * operand. */
#ifndef CLI_OPTIONS_OPT_H
#define CLI_OPTIONS_OPT_H
#include "deja.h"

/* The type of an entry, and of the field that it fills. */
enum opt_type {
    OPT_TYPE_END,      /* the table ends                                             */
    OPT_TYPE_HEADING,  /* a title in --help                                          */
    OPT_TYPE_GROUP,    /* another table's options                                    */
    OPT_TYPE_CHECK,    /* checks all options together, after parsing               */
    OPT_TYPE_FLAG,     /* bool, or a bit of a uint32_t                               */
    OPT_TYPE_STRING,   /* const char *, which lives as long as argv                  */
    OPT_TYPE_OPTIONAL, /* const char *: --name=VALUE, or `fallback` for --name alone */
    OPT_TYPE_COUNT,    /* uint64_t, between min and max                              */
    OPT_TYPE_COUNT32,  /* uint32_t, between min and max                              */
    OPT_TYPE_INDEXES,  /* struct opt_indexes                                         */
    OPT_TYPE_STRINGS,  /* struct opt_strings: the option may be given several times  */
    OPT_TYPE_SIZE,     /* uint64_t, bytes, at least 1                                */
    OPT_TYPE_DURATION, /* uint64_t, seconds, between min and max                     */
    OPT_TYPE_DAYS,     /* uint32_t, days, between min and max                        */
    OPT_TYPE_RATE,     /* double, 0 < x < 1                                          */
    OPT_TYPE_REAL,     /* double, x > 0                                              */
    OPT_TYPE_SECONDS,  /* double, seconds, 0 or more                                 */
    OPT_TYPE_CHOICE,   /* uint32_t: the value whose names(value) was given           */
    OPT_TYPE_MODE,     /* uint32_t, permissions of a file                            */
    OPT_TYPE_CHAR,     /* struct opt_char                                            */
    OPT_TYPE_BYTE      /* uint32_t, a byte that is not zero                          */
};

struct opt_char { /* '\0' is a valid delimiter */
    bool given;
    char byte;
};

#define OPT_INDEXES_MOST 16
struct opt_indexes { /* numbers from 1 up, such as 1,3; zeros after the last */
    uint32_t at[OPT_INDEXES_MOST];
};

#define OPT_STRINGS_MOST 16
struct opt_strings {
    size_t n;
    const char *at[OPT_STRINGS_MOST];
};

/* The name of choice number `value`, or NULL for an unused number, like deja_kind_name.
 * Values are below OPT_CHOICES. */
typedef const char *opt_names(uint32_t value);
#define OPT_CHOICES 64u

struct opt {
    enum opt_type type;
    char letter;                     /* 0: none                                        */
    const char *name;                /* without the dashes; a heading's title          */
    const char *value;               /* the value's name in --help: "N"                */
    const char *help;                /* a phrase, no capital, no period                */
    size_t offset;                   /* of the field, or of the group's struct         */
    uint64_t min, max;               /* COUNT, COUNT32, SIZE, DURATION, DAYS           */
    opt_names *names;                /* CHOICE                                         */
    const char *fallback;            /* OPTIONAL; CHOICE whose value may be omitted     */
    uint32_t aside;                  /* CHOICE: if not 0, values from here on go to the */
    size_t aside_offset;             /* ... uint32_t there, not to the field;           */
                                     /* FLAG: if aside is not 0, clears the bool there  */
    const char *refuse;              /* if not NULL, the option fails with this text   */
    const char *noun;                /* STRING: what the value is, if not a file       */
    const char *hint;                /* INDEXES: what to do instead of a negative value */
    const char *instead;             /* FLAG: the option that takes a value, without dashes */
    const char *old;                 /* OPT_OLD: what to write instead                 */
    uint8_t used;                    /* OPT_USED: 0: not in -h                         */
    uint32_t bit;                    /* FLAG: not 0: this bit of a uint32_t            */
    const struct opt *group;         /* GROUP: a table, or ...                         */
    const struct opt *(*make)(void); /* ... a function that makes it              */
    /* CHECK: returns DEJA_OK or a failure, usually fail(err, OPT_USAGE, ...) */
    int (*check)(const void *target, deja_error *err);
};

/* clang-format off */
#define OPT_AT(T, field, want)                                                                    \
    (offsetof(T, field) + 0 * sizeof(_Generic(&((T *)0)->field, want *: 0)))
#define OPT_OF(TYPE, l, n, v, ...) /* the help, and marks */                                      \
    .type = OPT_TYPE_##TYPE, .letter = (l), .name = (n), .value = (v), .help = __VA_ARGS__
#define OPT_USED(rank)    .used = (rank)
#define OPT_OLD(spelling) .old = (spelling)
#define OPT_JSON_KEY      .instead = "json-key" /* --json=url: probably --json-key=url */

#define OPT_HEADING(title)  {.type = OPT_TYPE_HEADING, .name = (title)}
#define OPT_CHECK(function) {.type = OPT_TYPE_CHECK, .check = (function)}
#define OPT_END             {.type = OPT_TYPE_END}
/* The options of `table`, which fill `field`, a struct shared_options (shared.h). */
#define OPT_GROUP(T, field, table)                                                                \
    {.type = OPT_TYPE_GROUP, .offset = OPT_AT(T, field, struct shared_options), .group = (table)}
/* The options of `table`, which fill the same struct. */
#define OPT_PART(table)     {.type = OPT_TYPE_GROUP, .group = (table)}
/* The options that `function` makes, which fill `field`, a deja_options (opt_filter.h). */
#define OPT_MADE(T, field, function)                                                              \
    {.type = OPT_TYPE_GROUP, .offset = OPT_AT(T, field, deja_options), .make = (function)}

#define OPT_FLAG(l, name, T, field, ...)                                                          \
    {OPT_OF(FLAG, l, name, NULL, __VA_ARGS__), .offset = OPT_AT(T, field, bool)}
/* The later of two flags wins: --name sets `field` and clears `other`. */
#define OPT_EITHER(name, T, field, other, ...)                                                    \
    {OPT_OF(FLAG, 0, name, NULL, __VA_ARGS__), .offset = OPT_AT(T, field, bool),                  \
     .aside = 1, .aside_offset = OPT_AT(T, other, bool)}
#define OPT_STRING(l, name, value, T, field, ...)                                                 \
    {OPT_OF(STRING, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, const char *)}
/* A value that is not a file, such as "a column": see opt_check_names. */
#define OPT_NAME(name, value, T, field, what, ...)                                                \
    {OPT_OF(STRING, 0, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, const char *),       \
     .noun = (what)}
#define OPT_STRINGS(l, name, value, T, field, ...)                                                \
    {OPT_OF(STRINGS, l, name, value, __VA_ARGS__),                                                \
     .offset = OPT_AT(T, field, struct opt_strings)}
#define OPT_OPTIONAL(name, value, T, field, otherwise, ...)                                       \
    {OPT_OF(OPTIONAL, 0, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, const char *),     \
     .fallback = (otherwise)}
#define OPT_COUNT(l, name, value, T, field, least, most, ...)                                     \
    {OPT_OF(COUNT, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint64_t),            \
     .min = (least), .max = (most)}
#define OPT_COUNT32(l, name, value, T, field, least, most, ...)                                   \
    {OPT_OF(COUNT32, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t),          \
     .min = (least), .max = (most)}
/* Numbers from 1 up; `instead` is the advice for a negative one. */
#define OPT_INDEXES(l, name, value, T, field, instead, ...)                                       \
    {OPT_OF(INDEXES, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, struct opt_indexes),\
     .min = 1, .max = UINT32_MAX, .hint = (instead)}
#define OPT_SIZE(l, name, value, T, field, ...)                                                   \
    {OPT_OF(SIZE, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint64_t),             \
     .min = 1, .max = UINT64_MAX}
#define OPT_DURATION(l, name, value, T, field, most, ...)                                         \
    {OPT_OF(DURATION, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint64_t),         \
     .min = 1, .max = (most)}
#define OPT_DAYS(l, name, value, T, field, ...)                                                   \
    {OPT_OF(DAYS, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t),             \
     .min = 1, .max = 65535}
#define OPT_RATE(l, name, value, T, field, ...)                                                   \
    {OPT_OF(RATE, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, double)}
#define OPT_REAL(l, name, value, T, field, ...)                                                   \
    {OPT_OF(REAL, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, double)}
#define OPT_SECONDS(l, name, value, T, field, ...)                                                \
    {OPT_OF(SECONDS, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, double)}
#define OPT_MODE(l, name, value, T, field, ...)                                                   \
    {OPT_OF(MODE, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t)}
#define OPT_CHOICE(l, name, value, T, field, choices, ...)                                        \
    {OPT_OF(CHOICE, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t),           \
     .names = (choices)}
/* --name=VALUE, or `otherwise` for --name alone. */
#define OPT_OPTIONAL_CHOICE(name, value, T, field, choices, otherwise, ...)                       \
    {OPT_OF(CHOICE, 0, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t),           \
     .names = (choices), .fallback = (otherwise)}
/* Choices from number `from` on set `second`, not `field`, so --name may be given for each. */
#define OPT_CHOICE_OF_TWO(l, name, value, T, field, choices, from, second, ...)                   \
    {OPT_OF(CHOICE, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, uint32_t),           \
     .names = (choices), .aside = (from), .aside_offset = OPT_AT(T, second, uint32_t)}
#define OPT_CHAR(l, name, value, T, field, ...)                                                   \
    {OPT_OF(CHAR, l, name, value, __VA_ARGS__), .offset = OPT_AT(T, field, struct opt_char)}
/* Always an error with `text`, with or without a value. */
#define OPT_REFUSED(name, value, text, ...)                                                       \
    {OPT_OF(OPTIONAL, 0, name, value, __VA_ARGS__), .refuse = (text)}
/* clang-format on */

/* The status of a usage error: main adds "try: ... --help". */
#define OPT_USAGE (-1000)

#define OPT_NOTES 4 /* further ones are dropped */
struct opt_rest {
    const char *const *operands; /* in argv, which is reordered */
    size_t n;
    bool help;         /* -h or --help was given; parsing stopped there */
    bool brief;        /* it was -h */
    const char *value; /* NULL, or the operand after a flag that many give a value ... */
    const char *flag;  /* ... and the name of the option that takes it */
    char note[OPT_NOTES][200];
    size_t n_notes; /* about old or unclear spellings, for the user */
};

/* Parses argv[0 .. argc), without the names of program and command, into target.  Returns DEJA_OK,
 * or OPT_USAGE with a text that names the option and the values that it takes. */
int opt_parse(const struct opt *table, int argc, char **argv, void *target, struct opt_rest *rest,
              deja_error *err);

/* For a command without an input file: fails with OPT_USAGE if the value of an option such as
 * --csv was probably meant as input.  It is then an existing file, and its name has a dot or
 * slash, or standard input is a terminal. */
int opt_check_names(const struct opt *table, const void *target, bool from_terminal,
                    deja_error *err);

/* Walks a table with its groups, and --help and -h at the end.  The field of an entry is at *base +
 * offset.  NULL at the end. */
#define OPT_DEPTH 6
struct opt_walk {
    struct {
        const struct opt *at;
        size_t base;
    } level[OPT_DEPTH];
    int depth; /* levels in use */
};
void opt_walk_init(struct opt_walk *w, const struct opt *table);
const struct opt *opt_walk_next(struct opt_walk *w, size_t *base);

static inline bool opt_is_option(const struct opt *o)
{
    return o->type >= OPT_TYPE_FLAG;
}
/* Whether help and completion list it. */
static inline bool opt_is_shown(const struct opt *o)
{
    return opt_is_option(o) && !o->old;
}
static inline bool opt_is_optional(const struct opt *o)
{
    return o->type == OPT_TYPE_OPTIONAL || o->fallback;
}
static inline bool opt_takes_value(const struct opt *o)
{
    return o->type > OPT_TYPE_FLAG && !opt_is_optional(o);
}
/* "classic, blocked or exact", truncated to fit. */
void opt_list_choices(opt_names *names, char *text, size_t cap);
/* The options whose fields are not zero: "-n, --hashes", as many as fit. */
void opt_list_given(const struct opt *table, const void *target, char *text, size_t cap);
/* Whether the table has a flag `name` that is set in target. */
bool opt_flag_is_set(const struct opt *table, const void *target, const char *name);

#define OPT_NEAR_LEN 32 /* longer words are not compared */
/* Finds the candidate nearest to a mistyped word (opt_near.c).  Start with {.word = ...}, offer
 * all candidates, then read `best`, which is NULL if none is near. */
struct opt_near {
    const char *word;
    const char *best;
    size_t distance;
};
void opt_near_offer(struct opt_near *near, const char *candidate);
/* Returns the end of a message, "; did you mean --kind?", or an empty text; `front` is "--" or
 * "". */
struct opt_hint {
    char text[OPT_NEAR_LEN + 32];
};
struct opt_hint opt_near_hint(const struct opt_near *near, const char *front);

#endif
