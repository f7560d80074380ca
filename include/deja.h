/* deja.h - have I seen this key before?
 *
 * A filter remembers keys in very little memory.  A key that was added is always found, except in
 * kinds that forget by design (DEJA_PAIRED, DEJA_WINDOW).  A key that was not added may be found
 * too, at a rate that you choose when you create the filter.
 *
 * Status     A call that can fail returns DEJA_OK or a negative deja_status and stores its result
 *            through a pointer.  A call that cannot fail returns its result.
 * Errors     err is always last and may be NULL.  On failure it gets one line that names the
 *            field, the file or the reason.  After DEJA_OK it is unchanged.
 * Ownership  Release an object from *_new, *_open, *_create, *_copy or *_finish with *_free, which
 *            ignores NULL.  Keys, strings and options are borrowed for the duration of the call.
 * Threads    add, remove, contains, count, prefix and hash may run concurrently on one filter.
 *            Every other call needs exclusive access.
 * Sizes      A struct that begins with `size` may get more fields in a later version: initialize
 *            it with the macro of the same name, such as DEJA_OPTIONS_INIT.  Calls refuse flags
 *            that they do not know (DEJA_EVERSION).
 * Process    The library never prints, exits or reads the environment.  It catches a signal only
 *            if you ask it to (deja_files_guard). */
#ifndef DEJA_H
#define DEJA_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEJA_VERSION_MAJOR 0 /* the build reads its version from these lines */
#define DEJA_VERSION_MINOR 2
#define DEJA_VERSION_PATCH 0

#ifdef __GNUC__
#define DEJA_API     __attribute__((visibility("default")))
#define DEJA_CHECKED DEJA_API __attribute__((warn_unused_result))
#else
#define DEJA_API
#define DEJA_CHECKED
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* The initial value of a struct that begins with `size`: all other fields are zero. */
#ifdef __cplusplus
#define DEJA_INIT(type)                                                                           \
    [] {                                                                                          \
        type t = type();                                                                          \
        t.size = sizeof(t);                                                                       \
        return t;                                                                                 \
    }()
#else
#define DEJA_INIT(type)                                                                           \
    {                                                                                             \
        .size = sizeof(type)                                                                      \
    }
#endif

/* --- Status ------------------------------------------------------------- */

/* Part of the ABI: append, never renumber. */
typedef enum deja_status {
    DEJA_OK = 0,
    DEJA_EINVAL = -1,    /* an argument breaks a rule of this header           */
    DEJA_ENOMEM = -2,    /* out of memory; nothing has changed                 */
    DEJA_EIO = -3,       /* a file operation failed; see errno.  ESTALE:       */
                         /* the path now names a different file                */
    DEJA_EFORMAT = -4,   /* not a filter file, or a damaged one                */
    DEJA_EVERSION = -5,  /* valid, but newer than this library                 */
    DEJA_EFULL = -6,     /* no room for this key; it was not added             */
    DEJA_ESPACE = -7,    /* the caller's buffer is too small                   */
    DEJA_ENOTSUP = -8,   /* this kind cannot do that; err names one that can   */
    DEJA_EMISMATCH = -9, /* a different kind, size, key or URL profile         */
    DEJA_EBUSY = -10,    /* another process is writing this file               */
    DEJA_ENOTURL = -11   /* these bytes are not a URL                          */
} deja_status;
/* Describes a status in a few words; static, never NULL.  err says more. */
DEJA_API const char *deja_strerror(int status);
/* Returns the version of the library, which may differ from the version of this header: as text
 * ("0.2.0") or as a number (200: a minor version counts 100, a major version 10,000). */
DEJA_API const char *deja_version(void);
DEJA_API uint32_t deja_version_number(void);

typedef struct deja_error {
    int status;
    char text[252]; /* names the file or option (deja_option_translate) and says what to do */
} deja_error;

/* Borrowed bytes; data may be NULL if len is 0. */
typedef struct deja_slice {
    const void *data;
    size_t len;
} deja_slice;

/* --- URLs --------------------------------------------------------------- */

/* Two spellings of one URL should become one key.  A profile decides which spellings are the same
 * URL (docs/url.md has every rule).  Filters compare bytes, so canonicalize URLs before you add
 * them or look them up.  Stored in files: append only. */
typedef enum deja_profile {
    DEJA_URL_SAFE = 1,   /* changes that never alter what a URL means            */
    DEJA_URL_CRAWL = 2,  /* also sorts queries and drops tracking parameters     */
    DEJA_URL_GSB = 3,    /* Google Safe Browsing's form, for block lists         */
    DEJA_URL_SCRAPY = 4, /* w3lib's canonicalize_url, byte for byte             */
    DEJA_URL_SHAPE = 5   /* crawl's form without values: one URL per template    */
} deja_profile;
/* Convert between a profile and its name, as typed on the command line; return NULL or 0 if it is
 * unknown. */
DEJA_API const char *deja_profile_name(uint32_t profile);
DEJA_API uint32_t deja_profile_parse(const char *name);

/* A profile, ready for use, with the query parameters that it drops.  It never changes, so threads
 * and filters may share it. */
typedef struct deja_url_rules deja_url_rules;
/* Returns a built-in profile with its default list of dropped parameters, or NULL if the profile
 * is unknown.  Do not free it. */
DEJA_API const deja_url_rules *deja_url_profile(uint32_t profile);
#define DEJA_URL_NO_LIST 1u /* start with an empty list of dropped parameters */
/* Makes a profile with a different list of dropped parameters: adds `drop` to its list and removes
 * `keep`.  A name may end in `*`: utm_*.  DEJA_EINVAL unless the profile drops parameters
 * (crawl). */
DEJA_CHECKED int deja_url_rules_new(uint32_t profile, unsigned flags, const deja_slice *drop,
                                    size_t n_drop, const deja_slice *keep, size_t n_keep,
                                    deja_url_rules **out, deja_error *err);
DEJA_API void deja_url_rules_free(deja_url_rules *rules);
DEJA_API uint32_t deja_url_rules_profile(const deja_url_rules *rules);
/* Returns the id of a set of rules.  Two sets have the same id if they always give the same form,
 * that is, if their profile, version, parameters and IDNA support are the same. */
DEJA_API uint64_t deja_url_rules_id(const deja_url_rules *rules);
/* Returns the previous version of the rules, for filters that record its id: deja 0.1 gave some
 * non-ASCII hosts a different form.  NULL for the first version.  It lives as long as `rules`. */
DEJA_API const deja_url_rules *deja_url_rules_older(const deja_url_rules *rules);

/* The buffer size that is enough for any form of a URL of len bytes. */
#define DEJA_URL_ROOM(len) (4 * (len) + 512)
/* Stores the canonical form in *canon: url itself if it is canonical (the common case; nothing is
 * copied), otherwise bytes in out.  DEJA_ENOTURL: not a URL, and *canon is url.  DEJA_ENOTSUP: the
 * host needs IDNA, which this build lacks; *canon is url.  DEJA_ESPACE: cap is less than
 * DEJA_URL_ROOM(url.len), and the form did not fit. */
DEJA_CHECKED int deja_url_canon(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                                deja_slice *canon, deja_error *err);
/* The same for n URLs, in order; canon may be the array url itself.  status[i] is the status of
 * the i-th: DEJA_OK, DEJA_ENOTURL or DEJA_ENOTSUP.  Returns how many were processed: fewer than n
 * if out has no room for the next one. */
DEJA_API size_t deja_url_canon_batch(const deja_url_rules *rules, const deja_slice *url, size_t n,
                                     char *out, size_t cap, deja_slice *canon, int8_t *status);
/* Resolves a link in the page `base` as browsers do, and keeps its fragment.  *url points into
 * out, which must have DEJA_URL_ROOM(base.len + link.len) bytes and must not overlap either input.
 * DEJA_ENOTURL, DEJA_ENOTSUP and DEJA_ESPACE as above. */
DEJA_CHECKED int deja_url_resolve(deja_slice base, deja_slice link, char *out, size_t cap,
                                  deja_slice *url, deja_error *err);
/* Splits a URL into its layers, slices of it: scheme and authority, then each segment of the path
 * with its slash; the query belongs to the last.  Returns the number of layers, at most cap; if
 * there are more, the last one holds the rest. */
DEJA_API size_t deja_url_split(deja_slice url, deja_slice *layer, size_t cap);
/* Lists the host-suffix/path-prefix expressions that Safe Browsing looks up for a URL in its
 * canonical form (DEJA_URL_GSB): slices of it, longest host and path first.  Returns the number of
 * expressions; 0 for a URL not in that form. */
#define DEJA_URL_EXPRESSIONS 30
DEJA_API size_t deja_url_expressions(deja_slice canon,
                                     deja_slice expression[DEJA_URL_EXPRESSIONS]);

/* --- Kinds and options -------------------------------------------------- */

/* The structure that answers queries (docs/kinds.md).  Stored in files: append only. */
typedef enum deja_kind {
    DEJA_CLASSIC = 1,
    DEJA_BLOCKED = 2,
    DEJA_LAYERED = 3,
    DEJA_SPECTRAL = 4,
    DEJA_PAIRED = 5,
    DEJA_SCALABLE = 6,
    DEJA_WINDOW = 7,
    DEJA_STATIC = 8,
    DEJA_EXACT = 9
} deja_kind;

/* How a key becomes numbers.  XXH3 and SipHash are keyed with the filter's secret and hash a key
 * once; the papers' functions hash salt + key once for each of the k positions (classic only).
 * MIXED uses a different function for each position.  Stored in files: append only. */
typedef enum deja_hash {
    DEJA_HASH_XXH3 = 1,
    DEJA_HASH_SIPHASH = 2,
    DEJA_HASH_JENKINS = 3, /* lookup2 */
    DEJA_HASH_MURMUR2 = 4,
    DEJA_HASH_MURMUR3 = 5,
    DEJA_HASH_MD5 = 6,
    DEJA_HASH_SHA1 = 7,
    DEJA_HASH_MIXED = 8
} deja_hash;

/* Convert between a kind or hash and its name, as typed on the command line; return NULL or 0 if
 * it is unknown. */
DEJA_API const char *deja_kind_name(uint32_t kind);
DEJA_API uint32_t deja_kind_parse(const char *name);
DEJA_API const char *deja_hash_name(uint32_t hash);
DEJA_API uint32_t deja_hash_parse(const char *name);
/* Lists the kinds by number: returns the kind after `kind` (the first one if `kind` is 0), or 0
 * after the last. */
DEJA_API uint32_t deja_kind_next(uint32_t kind);
/* Describes a kind in one line, for help texts; NULL for an unknown kind. */
DEJA_API const char *deja_kind_help(uint32_t kind);

/* What a kind can do.  Combine capabilities with | to ask whether it has all of them. */
#define DEJA_CAN_ADD     0x0001u /* add keys at any time */
#define DEJA_CAN_BUILD   0x0002u /* be built from all its keys at once, by a deja_builder */
#define DEJA_CAN_REMOVE  0x0004u /* remove keys */
#define DEJA_CAN_COUNT   0x0008u /* count how many times a key was added */
#define DEJA_CAN_GROW    0x0010u /* grow past its capacity and keep its rate */
#define DEJA_CAN_EXPIRE  0x0020u /* drop its oldest keys to make room for new ones */
#define DEJA_CAN_FORGET  0x0040u /* miss a key that was added and not removed */
#define DEJA_CAN_FILL    0x0080u /* become full: it stores each key, and counts them exactly */
#define DEJA_CAN_REPEAT  0x0100u /* consist of several filters that must agree */
#define DEJA_CAN_MERGE   0x0200u /* add the keys of another filter */
#define DEJA_CAN_FOLD    0x0400u /* be halved */
#define DEJA_CAN_OVERLAP 0x0800u /* estimate how many keys it shares with another filter */
#define DEJA_CAN_PREFIX  0x1000u /* answer queries about URL prefixes */
#define DEJA_CAN_LAYER   0x2000u /* describe its layers (deja_filter_layer) */
#define DEJA_CAN_DATE    0x4000u /* report when a key was seen (deja_filter_days) */
/* Reports whether a kind has the capability; false for an unknown kind. */
DEJA_API bool deja_kind_can(uint32_t kind, uint32_t capability);

/* Names the instruction set that blocked filters use on this machine: "avx512", "avx2",
 * "portable". */
DEJA_API const char *deja_simd_name(void);

/* Allocates the memory of one filter and of objects that belong to it; free gets the size that was
 * passed to alloc. */
typedef struct deja_allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
} deja_allocator;

#define DEJA_KEY_LEN          32
#define DEJA_KEY_APART        1u /* the secret key is not in the file; pass it to open */
/* spectral: add increments only the counters at the minimum.  Counts are more accurate, but remove
 * is refused, because a counter no longer holds the sum of its keys' counts. */
#define DEJA_MINIMAL_INCREASE 2u
/* layered: Algorithms 3 and 4 as published, with the same hash functions in every layer.  Equal
 * segments then cancel out, and URLs with swapped segments are mistaken for each other. */
#define DEJA_LAYERED_PAPER    4u
/* layered: keys are words with a delimiter between them; the words go to the layers in turn. */
#define DEJA_LAYERED_WORDS    8u
/* exact: also stores the days on which each key was first and last seen.  A key takes 13.3 bytes at
 * capacity instead of 10, and n keys have a rate of n / 2^53 instead of n / 2^64. */
#define DEJA_DATES            16u
/* spectral: the counters of a key lie anywhere in the array, not in one cache line.  Fewer counters
 * reach the same rate (8-bit counters at 1e-3: 115 bits per key instead of 153), but each one is a
 * cache miss. */
#define DEJA_SPREAD           32u

/* Initialize with DEJA_OPTIONS_INIT; zero asks for the default.  New fields are only ever appended,
 * without padding.  Fields that this library does not know must be zero (DEJA_EVERSION).
 *
 * capacity, fp_rate and memory depend on each other: give two of them, or one and use the default
 * fp_rate; deja computes the third.  With capacity, hashes and multiplier, memory follows from the
 * thesis' rule m = n k M.  A tightening below 0.5 is the share of fp_rate that is reserved for the
 * parts after the first, which then tighten by 0.7. */
typedef struct deja_options {
    size_t size;                 /* set by DEJA_OPTIONS_INIT                 */
    uint32_t kind;               /* a deja_kind; default DEJA_BLOCKED, or    */
                                 /* DEJA_EXACT with DEJA_DATES               */
    uint32_t hashes;             /* k; default: best for the other options   */
    uint64_t capacity;           /* n, keys expected                         */
    double fp_rate;              /* p at capacity; default 1e-6              */
    const void *key;             /* 32 secret bytes; default: random         */
    uint64_t seed;               /* not 0: reproducible, not random          */
    const deja_allocator *alloc; /* ctx outlives the filter; default libc    */
    uint64_t memory;             /* bytes for the body                       */
    double multiplier;           /* M of m = n k M; needs capacity           */
    uint32_t filters;            /* F filters, all must agree; default 1     */
    uint32_t hash;               /* a deja_hash; default DEJA_HASH_XXH3      */
    uint32_t part_kind;          /* scalable: kind of its parts              */
    uint32_t growth;             /* scalable: next part's size; default 2    */
    double tightening;           /* scalable: next part's rate; default 0.7  */
    const deja_url_rules *url;   /* the form of its keys; NULL: any bytes    */
    uint32_t flags;              /* DEJA_KEY_APART and the flags after it    */
    uint32_t counter_bits;       /* spectral: 4, 8, 16 or 32; default 4      */
    uint32_t fingerprint_bits;   /* static: 8, 16 or 32; default: as p needs */
    uint32_t layers;             /* layered: at most this many; default 8    */
    uint32_t delimiter;          /* layered: byte between words; default ' ' */
    uint32_t generations;        /* window: 1 .. 7 full ones; default 1      */
    uint64_t window_seconds;     /* window: by time; default: by keys        */
    uint64_t deletions;          /* paired: removals expected; default n     */
    uint64_t format;             /* of the file: 1 (deja 0.1) or 2 (default) */
    uint64_t cache_lines;        /* blocked, paired: 1, 2 or 3 cache lines   */
                                 /* per key; default: what saves memory      */
    uint64_t machine;            /* filters: hold only filter 1 .. F, whose  */
                                 /* siblings are elsewhere; default: all     */
} deja_options;
#define DEJA_OPTIONS_INIT DEJA_INIT(deja_options)

/* Lets the filter grow past its capacity and keep the rate fp_rate: blocked, classic and exact
 * become scalable with parts of that kind.  True: the filter will grow.  False: nothing has
 * changed, because the options fix the body (memory, hashes, multiplier, filters, cache_lines), the
 * hash is one of the papers', the kind cannot grow, or the options are invalid.  If capacity is
 * given and tightening is not, a tenth of the rate is reserved for growth, which costs 1 to 3% more
 * memory. */
DEJA_API bool deja_options_grow(deja_options *opt);

/* The options as a table, from which tools generate their own options: one row for each field of
 * deja_options and for each flag. */
typedef enum deja_option_type {
    DEJA_OPTION_COUNT = 1,  /* uint32_t or uint64_t, from least to most           */
    DEJA_OPTION_RATE = 2,   /* double, 0 < x < 1                                  */
    DEJA_OPTION_REAL = 3,   /* double, 0 < x < most                               */
    DEJA_OPTION_CHOICE = 4, /* uint32_t: a number to which choice() gives a name  */
    DEJA_OPTION_CHAR = 5,   /* uint32_t: a byte                                   */
    DEJA_OPTION_FLAG = 6,   /* the bit `flag` of the field                        */
    DEJA_OPTION_SECRET = 7, /* const void *, DEJA_KEY_LEN bytes                   */
    DEJA_OPTION_RULES = 8,  /* const deja_url_rules *                             */
    DEJA_OPTION_BITS = 9    /* uint32_t, a power of two from least to most        */
} deja_option_type;

/* Fields are only ever appended. */
typedef struct deja_option {
    const char *name;    /* of the field or flag: "capacity", "minimal_increase" */
    const char *keyword; /* in server commands: "CAPACITY"; NULL: none           */
    const char *value;   /* name of the value in help: "N"; NULL for a flag      */
    const char *help;    /* a phrase; names other options as `options.NAME`      */
    const char *unit;    /* "keys", "bytes", "seconds", "bits" or NULL           */
    uint32_t type;       /* a deja_option_type                                   */
    uint32_t width;      /* bytes of the field ...                               */
    size_t offset;       /* ... and its place in deja_options                    */
    uint64_t least;      /* the range; 0 and 0: the type has none                */
    uint64_t most;
    double standard; /* the default; 0: it depends on the other options      */
    const char *(*choice)(uint32_t value); /* NULL: no such choice                   */
    uint32_t flag;
    uint32_t compared;  /* 1: deja_filter_open refuses a different value         */
    uint32_t renewable; /* 1: deja_filter_rotate can change it                   */
} deja_option;
#define DEJA_OPTION_CHOICES 64 /* choices are numbers below this */
/* Look up a row by its index (NULL after the last) or by its name (NULL if it is unknown). */
DEJA_API const deja_option *deja_option_at(size_t i);
DEJA_API const deja_option *deja_option_find(const char *name);
/* Reports whether filters of this kind accept the option.  Every kind accepts most options. */
DEJA_API bool deja_option_accepted(const deja_option *o, uint32_t kind);
/* Reports whether the option is given, that is, not zero. */
DEJA_API bool deja_option_given(const deja_option *o, const deja_options *opt);
/* Writes an option's value as commands spell it (digits, a name, a byte or the secret), without a
 * terminating zero.  Returns its length; 0 for a flag and for an option that is not given. */
#define DEJA_OPTION_TEXT 40
DEJA_API size_t deja_option_print(const deja_option *o, const deja_options *opt,
                                  char text[DEJA_OPTION_TEXT]);
/* Translates an error text or a help line, which call an option `options.NAME`, into a tool's own
 * words: copies text and replaces these names with word(o).  out gets at most cap bytes, including
 * the terminating zero. */
DEJA_API void deja_option_translate(const char *text, const char *(*word)(const deja_option *o),
                                    char *out, size_t cap);

/* Computes the sizes and rates of a filter with these options; allocates nothing. */
typedef struct deja_plan {
    size_t size; /* set by DEJA_PLAN_INIT; filled as far as the caller knows it */
    uint32_t kind;
    uint32_t hashes;      /* k of each filter                                    */
    uint32_t filters;     /* F                                                   */
    uint32_t hash;        /* deja_hash                                           */
    uint64_t capacity;    /* n                                                   */
    double fp_rate;       /* p predicted at capacity: at most the requested p    */
    uint64_t bits;        /* m, all filters together; layered: the maximum,      */
                          /* with n distinct segments in each layer              */
    uint64_t bytes;       /* of the bodies                                       */
    double bits_per_key;  /* bits / capacity                                     */
    double lost;          /* keys expected to be lost while filling to capacity  */
    uint64_t deletions;   /* paired: removals it is sized for                    */
    double fn_rate;       /* and the share of its keys that it then FORGETS      */
    uint64_t generations; /* window: full ones; the bits include one more        */
    uint64_t lines;       /* cache lines that a lookup reads; scalable: per part */
    uint64_t cache_lines; /* of a key in each blocked filter; otherwise 1        */
} deja_plan;
#define DEJA_PLAN_INIT DEJA_INIT(deja_plan)
DEJA_CHECKED int deja_plan_make(const deja_options *opt, deja_plan *plan, deja_error *err);

/* --- Filters ------------------------------------------------------------ */

typedef struct deja_filter deja_filter;
/* Makes an empty filter in memory.  DEJA_EINVAL: err names the option that is invalid or
 * contradicts another. */
DEJA_CHECKED int deja_filter_new(const deja_options *opt, deja_filter **out, deja_error *err);
DEJA_API void deja_filter_free(deja_filter *f); /* does not sync */
/* Reports whether this filter has a capability; its options and parts can rule out capabilities of
 * its kind.  Ignores whether its file is open for writing. */
DEJA_API bool deja_filter_can(const deja_filter *f, uint32_t capability);
/* Requires a capability: DEJA_OK if the filter has it; otherwise DEJA_ENOTSUP, and err names a
 * kind that can. */
DEJA_CHECKED int deja_filter_require(const deja_filter *f, uint32_t capability, deja_error *err);

/* Adds a key.  *is_new, unless is_new is NULL, becomes true if the key was absent.  If threads add
 * the same key at the same time, at least one of them gets true.  DEJA_EFULL: no room; DEJA_EIO:
 * the file cannot be written; DEJA_ENOTSUP: the filter is static; DEJA_EINVAL: the file is open
 * for reading only. */
DEJA_CHECKED int deja_filter_add(deja_filter *f, deja_slice key, bool *is_new, deja_error *err);
/* The same for n keys in order, with overlapped cache misses; is_new gets 0 or 1 for each.
 * is_new and done may be NULL.  On failure, only the first *done keys were added. */
DEJA_CHECKED int deja_filter_add_batch(deja_filter *f, const deja_slice *keys, size_t n,
                                       uint8_t *is_new, size_t *done, deja_error *err);
/* Looks up a key.  True: it was added, or it is a false positive. */
DEJA_API bool deja_filter_contains(const deja_filter *f, deja_slice key);
/* The same for n keys; found gets 0 or 1 for each. */
DEJA_API void deja_filter_contains_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                         uint8_t *found);

/* Sets the time of a window or of a filter with dates, in seconds since 1970, for logs with their
 * own timestamps and for tests.  The time stays until the next call; 0 restores the system's clock.
 * A window's time never runs backward while it is open: an earlier time counts as the latest one
 * that an add used.  If the newest generation of a file starts in the future (the clock was set
 * back, or the file was crafted), the next add restarts it from now; stats.clock_behind reports by
 * how much. */
DEJA_CHECKED int deja_filter_set_clock(deja_filter *f, uint64_t seconds, deja_error *err);

/* Remove and count keys: spectral can do both, paired can remove; other kinds return
 * DEJA_ENOTSUP.
 *
 * spectral: remove undoes one add of the key.  *removed (or NULL) becomes false, and stats count a
 * refusal, if the key is absent or all its counters are saturated: a saturated counter no longer
 * knows its count and does not change.  Remove only keys that were added.  A key that was never
 * added is also refused unless it is a false positive; removing a false positive reduces the counts
 * of other keys, which MAY BE MISSED afterwards.  With DEJA_MINIMAL_INCREASE, remove returns
 * DEJA_ENOTSUP.
 *
 * paired: remove adds the key to a second filter, the deletions, and that is PERMANENT.  Every
 * later add of the key answers "new", and the key is never found again; stats count these adds as
 * hidden.  The share fn_now of the keys that were never removed also disappears: this kind
 * FORGETS.  A key that is not found is refused; removing a false positive harms no other key.
 *
 * count stores how many times the key was added and not removed.  The count may be too high; the
 * share of keys with such a count is the false-positive rate.  A count at the counter's maximum
 * means "at least this many". */
DEJA_CHECKED int deja_filter_remove(deja_filter *f, deja_slice key, bool *removed,
                                    deja_error *err);
DEJA_CHECKED int deja_filter_remove_batch(deja_filter *f, const deja_slice *keys, size_t n,
                                          uint8_t *removed, size_t *done, deja_error *err);
DEJA_CHECKED int deja_filter_count(const deja_filter *f, deja_slice key, uint64_t *count,
                                   deja_error *err);
DEJA_CHECKED int deja_filter_count_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                         uint64_t *counts, deja_error *err);

/* Asks whether any URL at or below a prefix (a site, a directory, a page) was added.  Prefixes end
 * at slashes: http://h/a covers itself, http://h/a/, http://h/a?x and everything below http://h/a/,
 * but not http://h/ab.  No added URL is missed.  There are two kinds of false positives: one prefix
 * in a hundred, by chance, and prefixes whose segments were each seen in the same position under
 * other prefixes: http://h/b after http://h/a and http://g/b.  If a filter has L layers, only the
 * first L - 1 segments count; the query never does.  Only for layered filters, but not in paper
 * mode or words mode; otherwise DEJA_ENOTSUP. */
DEJA_CHECKED int deja_filter_prefix(const deja_filter *f, deja_slice prefix, bool *found,
                                    deja_error *err);
DEJA_CHECKED int deja_filter_prefix_batch(const deja_filter *f, const deja_slice *prefix, size_t n,
                                          uint8_t *found, deja_error *err);

/* Dates: filters made with DEJA_DATES know when each key was seen; other filters return
 * DEJA_ENOTSUP.  A day is a number of days since 1970-01-01 (UTC), from 1 to 65535 (2149-06-06).
 * An add of a new key sets both of its days to today; an add of a known key sets its last day,
 * which never decreases.  Lookups change nothing.
 *
 * days reports the days of n keys.  An absent key has the days 0 and 0.
 * today returns the current day of the filter's clock. */
typedef struct deja_days {
    uint16_t first;
    uint16_t last;
} deja_days;
DEJA_CHECKED int deja_filter_days(const deja_filter *f, deja_slice key, deja_days *days,
                                  deja_error *err);
DEJA_CHECKED int deja_filter_days_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                        deja_days *days, deja_error *err);
DEJA_CHECKED int deja_filter_days_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                                         deja_days *days, deja_error *err);
DEJA_API uint32_t deja_filter_today(const deja_filter *f);
/* older counts the keys that were last seen before a day.  expire drops them and stores how many in
 * *removed (or NULL).  A filter that has grown becomes one part with room for the remaining keys;
 * any other filter keeps its size.  A file is replaced atomically, unless it has no such key. */
DEJA_CHECKED int deja_filter_older(const deja_filter *f, uint32_t before, uint64_t *keys,
                                   deja_error *err);
DEJA_CHECKED int deja_filter_expire(deja_filter *f, uint32_t before, uint64_t *removed,
                                    deja_error *err);

/* Hash keys and use the hashes in two separate steps, for programs that hash in one thread and
 * look up in another.  A key becomes hash_words numbers, which are valid for filters with the same
 * secret key, visit, hash, k and F (layered: also the same layers and mode). */
DEJA_API size_t deja_filter_hash_words(const deja_filter *f);
DEJA_API void deja_filter_hash_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                     uint64_t *hash);
DEJA_CHECKED int deja_filter_add_hashed(deja_filter *f, const uint64_t *hash, size_t n,
                                        uint8_t *is_new, size_t *done, deja_error *err);
DEJA_API void deja_filter_contains_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                                          uint8_t *found);
DEJA_CHECKED int deja_filter_remove_hashed(deja_filter *f, const uint64_t *hash, size_t n,
                                           uint8_t *removed, size_t *done, deja_error *err);
DEJA_CHECKED int deja_filter_count_hashed(const deja_filter *f, const uint64_t *hash, size_t n,
                                          uint64_t *counts, deja_error *err);

/* Returns the deja_profile of the URLs in the filter; 0: bytes as given. */
DEJA_API uint32_t deja_filter_profile(const deja_filter *f);

/* What a filter holds and how much memory it takes.  Without DEJA_STATS_BODY the call is fast and
 * fills the fields down to clock_behind.  With it, the call reads the whole body and fills the
 * other fields; without it, those of type double are NaN and the others are 0. */
#define DEJA_STATS_BODY 1u
typedef struct deja_stats {
    size_t size; /* set by DEJA_STATS_INIT; filled as far as the caller knows it */
    uint32_t kind;
    uint32_t part_kind;      /* scalable: of its parts; otherwise kind                       */
    uint32_t parts;          /* bodies: F; scalable: 1 more than the times it grew           */
    uint32_t filters;        /* F                                                            */
    uint32_t hash;           /* deja_hash                                                    */
    uint32_t hashes;         /* k; scalable: of the newest part                              */
    uint32_t growth;         /* scalable; otherwise 0                                        */
    uint32_t profile;        /* deja_profile of its keys; 0: bytes as given                  */
    double fp_rate;          /* as requested                                                 */
    double tightening;       /* scalable; otherwise 0                                        */
    uint64_t url_rules;      /* deja_url_rules_id of its keys; 0: bytes as given             */
    uint64_t capacity;       /* of all parts that exist                                      */
    uint64_t bytes;          /* of the bodies, in memory or in the file                      */
    uint64_t offered;        /* keys passed to add                                           */
    uint64_t keys;           /* of these, answered "new"; spectral, paired: and not removed  */
    uint64_t entries;        /* keys that take up capacity; paired: including removed ones   */
    uint64_t excess;         /* of these, beyond the capacity: the rate is above fp_rate     */
    uint64_t format;         /* of its file: 1 as deja 0.1 wrote it, 2 since 0.2             */
    uint64_t syncs;          /* 0 for a filter in memory                                     */
    uint32_t flags;          /* DEJA_KEY_APART, DEJA_MINIMAL_INCREASE, DEJA_DATES ..         */
    uint32_t keyed;          /* 1: has a secret key, 0: made from a seed                     */
    uint32_t unclean;        /* 1: not synced after its last add; `keys` is an estimate      */
    uint32_t counter_bits;   /* spectral                                                 */
    uint64_t visit;          /* 1, 2, ..                                                 */
    uint64_t visits_before;  /* visits that ended before this one                        */
    uint64_t last_distinct;  /* distinct keys in the last of them ..                     */
    double last_lost;        /* .. and how many of these were mistaken for seen          */
    uint64_t unions;         /* filters merged into it; `keys` is then an estimate       */
    uint64_t folds;          /* how many times it was halved                             */
    uint64_t removed;        /* spectral: adds undone; paired: keys removed              */
    uint64_t refused;        /* removals refused: absent, or counters saturated          */
    uint64_t hidden;         /* paired: adds without effect, of removed keys             */
    uint64_t generations;    /* window: full ones that it remembers; one more is filling */
    uint64_t window_seconds; /* 0: by keys                                              */
    uint64_t clock_behind;   /* window: seconds by which its newest generation starts,   */
                             /* or started when opened, in the future; see set_clock     */

    /* From the body. */
    uint64_t bits;        /* m, all bodies together (exact: slots; spectral: counters)  */
    uint64_t bits_set;    /* exact: slots in use; spectral: counters that are not 0;    */
                          /* static: bits that hold a fingerprint                       */
    double fill;          /* bits_set / bits                                            */
    double distinct;      /* distinct keys, estimated from bits_set                     */
    double fp_now;        /* false-positive rate at the current fill                    */
    double lost;          /* expected number of new keys mistaken for seen              */
    double missed;        /* probability that all visits so far missed a page           */
    double bits_expected; /* bits that `keys` random keys set on average ..             */
    double bits_sigma;    /* .. and the standard deviation; far more means pollution    */

    /* spectral and paired */
    uint64_t largest;            /* the largest counter                                 */
    uint64_t saturated;          /* counters at their maximum                           */
    uint64_t deletions;          /* paired: keys in its second filter ..                */
    uint64_t deletions_capacity; /* .. and how many it is sized for                     */
    double fn_now;               /* share of its keys that it FORGETS                   */

    /* window */
    uint64_t crowded;            /* generations with more keys than they were sized for    */
    uint64_t turns;              /* generations begun after the first                   */
    uint64_t window_keys;        /* sum over the generations that have not expired      */
    uint64_t generation_keys[8]; /* the newest first                                    */
    uint64_t generation_age[8];  /* seconds since it began                              */

    /* layered */
    uint64_t familiar;    /* new keys whose segments were all known before              */
    uint32_t layers;      /* layers so far, not counting the XOR layer ..               */
    uint32_t layers_most; /* .. and the most that it can have                           */
    uint64_t delimiter;   /* byte between words                                         */

    /* dates */
    uint64_t oldest_day; /* the earliest last day of a key; 0: no keys                  */
    uint64_t newest_day; /* the latest one                                              */

    /* static; known without the body */
    uint64_t exceptions; /* keys that it would find by mistake, and does not            */

    /* scalable */
    uint32_t merged_parts; /* parts that came from other filters ..                     */
    uint32_t other_keys;   /* .. and how many other secret keys they have               */
    double merged_rate;    /* the sum of their rates, which adds to fp_rate             */

    uint64_t cache_lines; /* of a key in a blocked part, 1 .. 3; scalable: in the newest */
    uint64_t machine;     /* the filter of the F that it holds, 1 .. F; 0: all of them   */
    uint64_t key_check;   /* differs for different secret keys, reveals nothing of them  */
} deja_stats;
#define DEJA_STATS_INIT DEJA_INIT(deja_stats)
/* Reports what a filter holds; flags: 0 or DEJA_STATS_BODY.  DEJA_EIO: the file was truncated
 * during the call. */
DEJA_CHECKED int deja_filter_stats(const deja_filter *f, unsigned flags, deja_stats *stats,
                                   deja_error *err);
/* Describes one layer of a layered filter: 1 .. stats.layers, or 0 for the XOR layer, whose
 * segments are whole keys.  DEJA_EINVAL: there is no such layer; DEJA_ENOTSUP: the filter is not
 * layered. */
typedef struct deja_layer {
    size_t size;       /* set by DEJA_LAYER_INIT; filled as far as the caller knows it */
    uint64_t segments; /* distinct ones                                                */
    uint64_t capacity; /* that its parts are sized for                                 */
    uint64_t bytes;
    double fp_now; /* rate at which an absent segment is found                     */
    uint32_t parts;
    uint32_t hashes; /* k */
} deja_layer;
#define DEJA_LAYER_INIT DEJA_INIT(deja_layer)
DEJA_CHECKED int deja_filter_layer(const deja_filter *f, uint32_t number, deja_layer *layer,
                                   deja_error *err);

/* --- Files -------------------------------------------------------------- */

#define DEJA_OPEN_WRITE        1u /* take the writer's lock; without it, read only        */
#define DEJA_CREATE_REPLACE    2u /* create: replace any filter file of that name          */
#define DEJA_OPEN_REPAIR       4u /* open: trust one sync record if the other is damaged  */
/* create: set the permissions of the file, as in DEJA_CREATE_MODE(0640); see
 * deja_filter_create. */
#define DEJA_CREATE_MODE_SHIFT 16
#define DEJA_CREATE_MODE(mode) ((unsigned)(mode) << DEJA_CREATE_MODE_SHIFT)
/* Opens a filter file and maps it; does not read its body.  expect may be NULL.  Otherwise the call
 * uses its alloc and its key (required if the file was made with DEJA_KEY_APART), and fails with
 * DEJA_EMISMATCH if one of these fields is given and the file differs: kind (or the kind of a
 * scalable filter's parts), hash, counter_bits, generations, window_seconds, url, seed, layers,
 * delimiter, format and all flags except DEJA_KEY_APART. */
DEJA_CHECKED int deja_filter_open(const char *path, unsigned flags, const deja_options *expect,
                                  deja_filter **out, deja_error *err);
/* Creates a filter in a new file, locked for writing.  The first deja_filter_sync gives the file
 * its name; a crash before that leaves nothing.  If the name is taken, both calls fail with
 * DEJA_EINVAL unless the old file is empty or flags has DEJA_CREATE_REPLACE, which replaces filter
 * files and nothing else.
 *
 * Without DEJA_CREATE_MODE, a file that contains its secret key is readable only by its owner (0600
 * minus the umask); other files (DEJA_KEY_APART, seed) get 0666 minus the umask.  A file that
 * replaces another gets that file's permissions and, as far as the system allows, its owner and
 * group. */
DEJA_CHECKED int deja_filter_create(const char *path, unsigned flags, const deja_options *opt,
                                    deja_filter **out, deja_error *err);
/* Makes added keys durable: after DEJA_OK, every add that returned before the call survives a
 * power failure.
 *
 * A writer never overwrites a file that someone has moved over its own, and stops writing to a
 * file that was deleted: sync, growth, fold and rotate, and the first add after a sync, then fail
 * with DEJA_EIO and errno ESTALE.  deja_filter_check_file explains why.  Both files are unchanged,
 * and neither has the keys added since the last sync: open the file again and repeat those
 * adds. */
DEJA_CHECKED int deja_filter_sync(deja_filter *f, deja_error *err);
/* Verifies a file: reads all of it and compares its checksums.  DEJA_OK: it is sound.
 * DEJA_EFORMAT: err names the damage.  DEJA_EBUSY: it was not synced after its last add, so it has
 * no valid checksum. */
DEJA_CHECKED int deja_file_verify(const char *path, deja_error *err);

/* Turns SIGBUS into an error, permanently, for all filters of the process.  If a mapped file is
 * truncated or overwritten, the next access to a missing page kills the process with SIGBUS.
 * After this call, only calls on that filter fail; a SIGBUS outside a filter's file goes to the
 * previous handler.  The library never calls this function itself. */
DEJA_CHECKED int deja_files_guard(deja_error *err);
/* Checks that a filter's file is still intact.  If it is not, calls with a status return DEJA_EIO,
 * and deja_filter_contains, which has none, returns true for every key, because a filter must
 * never report a known key as new.  DEJA_OK after deja_filter_contains means that its answer came
 * from an intact file. */
DEJA_CHECKED int deja_filter_check_file(const deja_filter *f, deja_error *err);

/* Copies a filter to a new file, created as by deja_filter_create, with the same key and
 * counts. */
DEJA_CHECKED int deja_filter_copy(const deja_filter *from, const char *path, unsigned flags,
                                  deja_filter **out, deja_error *err);

/* --- Export and import -------------------------------------------------- */

/* Exports a filter: copies len bytes of the file that it would have, from offset `at`, and returns
 * the number of bytes copied: fewer at the end, and 0 after it.  The first 4096 bytes contain a
 * checksum of all others, so a call that copies any of them reads the whole body: copy them only
 * once, and do not change the filter until you have copied the rest. */
DEJA_API uint64_t deja_filter_export_len(const deja_filter *f);
DEJA_API size_t deja_filter_export(const deja_filter *f, uint64_t at, void *out, size_t len);

/* Makes a filter in memory from exported bytes.  They may come from an attacker: before it
 * allocates bodies, the call checks header, length and key as deja_filter_open does; at the end it
 * checks the checksum as deja_file_verify does.  expect is as for open.  DEJA_EBUSY: the bytes are
 * from a file that was not synced. */
DEJA_CHECKED int deja_filter_import(const void *data, size_t len, const deja_options *expect,
                                    deja_filter **out, deja_error *err);
/* Import a filter from pieces, in order.  len is the total length if you can trust it; 0 means
 * unknown, and memory then grows as bytes arrive.  expect->url must live until finish.  After an
 * error, only free is allowed. */
typedef struct deja_import deja_import;
DEJA_CHECKED int deja_import_new(uint64_t len, const deja_options *expect, deja_import **out,
                                 deja_error *err);
DEJA_CHECKED int deja_import_write(deja_import *im, const void *data, size_t len, deja_error *err);
DEJA_CHECKED int deja_import_finish(deja_import *im, deja_filter **out, deja_error *err);
DEJA_API void deja_import_free(deja_import *im); /* does not free the filter that it made */
/* Returns the total length of an import, or 0 before the header (4096 bytes) has arrived. */
DEJA_API uint64_t deja_import_len(const deja_import *im);
/* Copies bytes that have arrived, as deja_filter_export does, for a server that must save or
 * replicate an import before it is complete. */
DEJA_API size_t deja_import_read(const deja_import *im, uint64_t at, void *out, size_t len);

/* --- Static filters ----------------------------------------------------- */

/* Builds a static filter (DEJA_STATIC) from all its keys at once: collect them, then finish.
 * Keys may arrive in any order and more than once.  A key takes 8 bytes while keys are collected
 * and about 32 while the filter is built.  Options: fp_rate or fingerprint_bits choose the
 * fingerprints, memory limits the body, and capacity is a hint.  Only one thread at a time may use
 * a builder, except that hash_batch may run concurrently with the other calls. */
typedef struct deja_builder deja_builder;
DEJA_CHECKED int deja_builder_new(const deja_options *opt, deja_builder **out, deja_error *err);
DEJA_API void deja_builder_free(deja_builder *b); /* does not free the filter that it made */
/* Add all of the keys, or none (DEJA_ENOMEM). */
DEJA_CHECKED int deja_builder_add(deja_builder *b, deja_slice key, deja_error *err);
DEJA_CHECKED int deja_builder_add_batch(deja_builder *b, const deja_slice *keys, size_t n,
                                        deja_error *err);
/* The same in two steps; each key becomes one number. */
DEJA_API void deja_builder_hash_batch(const deja_builder *b, const deja_slice *keys, size_t n,
                                      uint64_t *hash);
DEJA_CHECKED int deja_builder_add_hashed(deja_builder *b, const uint64_t *hash, size_t n,
                                         deja_error *err);
/* Names keys that the filter must not find, not even by mistake: the entries of an allow list.  A
 * key that was also added is left out of the filter; with DEJA_EXCEPT_UNLESS_ADDED it stays, and is
 * found.  The filter stores only the exceptions that it would find by mistake, in a second part
 * (deja_stats.exceptions).  Every key that was added and not left out is found.  An exception takes
 * 8 bytes until finish.  DEJA_EINVAL: options.format is 1. */
#define DEJA_EXCEPT_UNLESS_ADDED 1u
DEJA_CHECKED int deja_builder_except_batch(deja_builder *b, const deja_slice *keys, size_t n,
                                           unsigned flags, deja_error *err);
DEJA_CHECKED int deja_builder_except_hashed(deja_builder *b, const uint64_t *hash, size_t n,
                                            unsigned flags, deja_error *err);
/* What the exceptions of the last finished filter did. */
typedef struct deja_excepted {
    size_t size;        /* set by DEJA_EXCEPTED_INIT; filled as far as the caller knows it */
    uint64_t left_out;  /* distinct keys that were added and excepted                      */
    uint64_t kept;      /* distinct exceptions that are found, because they were added     */
    uint64_t overruled; /* exceptions that would have been found by mistake                */
} deja_excepted;
#define DEJA_EXCEPTED_INIT DEJA_INIT(deja_excepted)
DEJA_CHECKED int deja_builder_excepted(const deja_builder *b, deja_excepted *out, deja_error *err);
/* Builds the filter: in memory if path is NULL, otherwise in a new file as deja_filter_create
 * does, with the same flags.  After DEJA_OK the builder is empty and can collect the keys of
 * another filter; after an error it still has its keys. */
DEJA_CHECKED int deja_builder_finish(deja_builder *b, const char *path, unsigned flags,
                                     deja_filter **out, deja_error *err);

/* --- Set operations and visits ------------------------------------------ */

/* Adds every key of `from` to `into` (a union).
 *
 * A scalable filter takes any filter with the same kind of parts, hash and URL rules, and F = 1.
 * If the other has the same secret key, k and visit and grew in the same steps, their parts are
 * combined one by one.  Otherwise `into` gets the other's parts, with up to 7 other secret keys;
 * the false-positive rates of all parts add up, and each other key costs one more hash per lookup.
 * New keys only go to its own parts.
 *
 * All other filters need the same kind, F, k, hash, secret key, visit and URL rules.  Sizes must be
 * equal, or `from` must be 2, 4, 8 .. times as large (classic, blocked); it is folded during the
 * merge.  Exact tables may have any sizes but need enough room (DEJA_EFULL, before anything
 * changes).  Spectral counters are added and saturate.  Generations of a window are merged by age
 * or, in a time window, by when they began.  Paired and static filters cannot be merged.
 *
 * DEJA_EMISMATCH names what differs; deja_filter_difference lists it line by line, and
 * deja_options_like makes filters that can be merged.
 *
 * The number of keys in the union is estimated from its bits; a key in parts with different secret
 * keys counts twice.  In a file, the union is durable after the next sync, like adds. */
DEJA_CHECKED int deja_filter_merge(deja_filter *into, const deja_filter *from, deja_error *err);
/* Sets *opt, which begins as DEJA_OPTIONS_INIT, to options that make a filter like f: kind, sizes,
 * hash, mode, format and secret key; url and alloc keep their values.  opt->key points into f and
 * is valid until f changes or is freed.  A filter made with these options can be merged with f,
 * unless f is in a later visit or its kind cannot be merged; give it the URL rules of f. */
DEJA_CHECKED int deja_options_like(const deja_filter *f, deja_options *opt, deja_error *err);
/* Stores reason number i = 0, 1, .. why `from` cannot be merged into `into` in line->text, such as
 * "kind: blocked and classic".  False: there are no more reasons of that type. */
DEJA_API bool deja_filter_difference(const deja_filter *into, const deja_filter *from, size_t i,
                                     deja_error *line);
/* Halves a classic or blocked filter, or a scalable one with a single such part, this many times.
 * The result equals a filter of that size with the same keys, including its higher rate.
 * DEJA_EINVAL: err says how many times it can be halved.  A file is replaced atomically. */
DEJA_CHECKED int deja_filter_fold(deja_filter *f, uint32_t times, deja_error *err);
/* Estimates how many keys are in both filters, from the set bits, with the standard deviation
 * (sigma may be NULL).  It must be possible to merge the filters, and each must have one part.
 * For exact filters the number is counted, not estimated. */
DEJA_CHECKED int deja_filter_overlap(const deja_filter *a, const deja_filter *b, double *keys,
                                     double *sigma, deja_error *err);
/* Begins the next visit: empties the filter and gives it different hash functions under the same
 * key, so that the next visit finds pages that this one lost.  If next is NULL, the filter is
 * sized from the number of keys in this visit.  Otherwise the nonzero fields of next apply;
 * deja_option.renewable says which fields can change.  A scalable filter becomes one of its
 * parts' kind if memory, hashes or multiplier is given.  Counts may come from a crafted file, so
 * if neither capacity nor memory is given, a size above both 16 MiB and 32 times the current size
 * is refused (DEJA_EINVAL).  A file is replaced atomically. */
DEJA_CHECKED int deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err);

/* --- Streams ------------------------------------------------------------ */

/* Find the lines of a text in memory, such as a mapped file, as keys for the batch calls, with
 * SIMD at memory speed.  `mark` ends a line: '\n', 0 or any other byte.
 *
 * split: removes up to cap lines from the front of *text and stores them without their marks; the
 * last line needs none.
 * ends: stores the offset just past each mark at or after `from`, in order, at most cap of them.
 * count: counts the marks.
 * Each returns how many it found; at the end of the text, split returns 0 and ends returns fewer
 * than cap. */
DEJA_API size_t deja_lines_split(deja_slice *text, char mark, deja_slice *line, size_t cap);
DEJA_API size_t deja_lines_ends(deja_slice text, size_t from, char mark, size_t *ends, size_t cap);
DEJA_API size_t deja_lines_count(deja_slice text, char mark);

/* Finds the new lines of a stream when a line must not count as seen before it has been written:
 * judge some keys, write their lines, then commit.  A crash before the commit repeats lines but
 * never loses one.  The answers are the same as if every key were added to the filter as soon as
 * it is judged, even in a window, which forgets.  The filter is borrowed: between judge and
 * commit, nothing else may add to it.  Memory comes from its allocator.
 *
 * judge: hash is from deja_filter_hash_batch.  DEJA_ENOMEM: none of the keys were judged.
 * contains: whether the filter has each key or the key is pending; none of them becomes pending.
 * commit: adds the pending keys, as deja_filter_add_hashed does.  On failure, the remaining keys
 * stay pending. */
typedef struct deja_dedup deja_dedup;
DEJA_CHECKED int deja_dedup_new(deja_filter *f, deja_dedup **out, deja_error *err);
DEJA_CHECKED int deja_dedup_judge(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new,
                                  deja_error *err);
DEJA_CHECKED int deja_dedup_contains(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *found,
                                     deja_error *err);
DEJA_CHECKED int deja_dedup_commit(deja_dedup *d, deja_error *err);
DEJA_API void deja_dedup_free(deja_dedup *d);
/* For filters with dates (otherwise DEJA_ENOTSUP): a line also counts as new if its key was last
 * seen at least `days` days ago; 0 (the default): never.  With `days`, a commit sets the last day
 * only of keys that were judged new, so a key that arrives every day is new again every `days`
 * days.  Without it, a commit sets the last day of every key that was judged.  Call it while
 * nothing is pending. */
DEJA_CHECKED int deja_dedup_again_after(deja_dedup *d, uint32_t days, deja_error *err);
/* Returns how many keys are pending: those judged new and, in a window or with dates, those to be
 * renewed. */
DEJA_API size_t deja_dedup_pending(const deja_dedup *d);

/* --- Sieves ------------------------------------------------------------- */

/* A sieve tells new keys from seen ones with certainty, in fixed memory, however many keys there
 * are.  It is a directory: a filter in memory, sorted runs of 96-bit fingerprints on disk, and a
 * spool of pending keys with their records (docs/sieve.md).
 *
 * A key that the filter does not have is certainly new.  A key that it has is pending, with the
 * record that the caller gives (its line), until a pass over the runs settles it: a false positive
 * then turns out to be new, late but never lost.  Until the keys outgrow the memory, no key is ever
 * pending.  The only source of wrong answers is two keys with the same fingerprint: with n keys, the
 * probability that there is any such pair is at most n^2 / 2^97.
 *
 * As with deja_dedup, a line must not count as seen before it has been handed over:
 *
 *     deja_sieve_judge(...)      new, seen or pending?     write the new lines, then
 *     deja_sieve_commit(...)     the new keys are recorded
 *
 * and from time to time, at the latest at the end or when judge returns DEJA_EFULL:
 *
 *     deja_sieve_settle(...)     decides all pending keys
 *     deja_sieve_settled(...)    until *n is 0; write the lines that turn out to be new, then
 *     deja_sieve_commit(...)     records them, and drops their records
 *
 * A crash before a commit repeats lines but never loses one: the next open finds the pending keys
 * with their records.  One process can write a sieve (DEJA_EBUSY); others can read it at the same
 * time.  hash_batch may run concurrently with every call but free; of the other calls, one at a
 * time. */
typedef struct deja_sieve deja_sieve;

/* Initialize with DEJA_SIEVE_OPTIONS_INIT; zero asks for the default. */
typedef struct deja_sieve_options {
    size_t size;                 /* set by DEJA_SIEVE_OPTIONS_INIT                     */
    uint64_t memory;             /* bytes for everything; default 256 MiB, at least 1  */
    const void *key;             /* 32 secret bytes; default: random                   */
    uint64_t seed;               /* not 0: reproducible, not random                    */
    const deja_url_rules *url;   /* the form of its keys; NULL: any bytes              */
    const deja_allocator *alloc; /* called from the thread that merges runs, too       */
    uint32_t flags;              /* DEJA_KEY_APART, DEJA_SIEVE_NO_THREAD               */
    uint32_t reserved;           /* 0                                                  */
} deja_sieve_options;
#define DEJA_SIEVE_OPTIONS_INIT DEJA_INIT(deja_sieve_options)
/* Merge runs during commit and judge, not in a thread of their own. */
#define DEJA_SIEVE_NO_THREAD    0x10000u

/* Opens the sieve in the directory `path`.  flags: 0 to read it, DEJA_OPEN_WRITE to add keys, or
 * DEJA_OPEN_CREATE to add keys and, if there is no sieve, create one; an existing directory must be
 * empty.  opt may be NULL; key (required if the sieve was made with DEJA_KEY_APART), seed and url,
 * if given, must match an existing sieve (DEJA_EMISMATCH).  A reader sees the keys that were
 * recorded when it opened the sieve.  DEJA_EFORMAT: err names the damaged file. */
#define DEJA_OPEN_CREATE 8u
DEJA_CHECKED int deja_sieve_open(const char *path, unsigned flags, const deja_sieve_options *opt,
                                 deja_sieve **out, deja_error *err);
/* Closes the sieve and stops a merge; does not commit, sync or save. */
DEJA_API void deja_sieve_free(deja_sieve *s);
/* Reports whether the directory contains a sieve, whole or damaged. */
DEJA_API bool deja_sieve_exists(const char *path);

/* Creates an empty sieve with the secret key and the URL rules of `like`, so that both can be
 * merged.  Of opt, which may be NULL, memory, alloc and DEJA_SIEVE_NO_THREAD count. */
DEJA_CHECKED int deja_sieve_create(const char *path, const deja_sieve *like,
                                   const deja_sieve_options *opt, deja_sieve **out,
                                   deja_error *err);
/* Renames a sieve that no process writes (DEJA_EBUSY).  flags: DEJA_CREATE_REPLACE replaces a sieve
 * of that name atomically and deletes it; nothing else is replaced. */
DEJA_CHECKED int deja_sieve_rename(const char *from, const char *to, unsigned flags,
                                   deja_error *err);
/* Deletes a sieve that no process writes (DEJA_EBUSY), or what an interrupted creation has left.
 * DEJA_EINVAL: the directory has a file that is not the sieve's; nothing was deleted. */
DEJA_CHECKED int deja_sieve_remove(const char *path, deja_error *err);

/* The fingerprint of a key.  hash is the number that filters with the same secret key use. */
typedef struct deja_fingerprint {
    uint64_t hash;
    uint32_t check;
    uint32_t tag; /* free for your own use: not part of the key */
} deja_fingerprint;
DEJA_API void deja_sieve_hash_batch(const deja_sieve *s, const deja_slice *keys, size_t n,
                                    deja_fingerprint *fp);

typedef enum deja_verdict {
    DEJA_SIEVE_SEEN = 0,
    DEJA_SIEVE_NEW = 1,
    DEJA_SIEVE_PENDING = 2
} deja_verdict;
/* The largest n of a judge. */
#define DEJA_SIEVE_BATCH     4096
/* The token of a pending key without a record: nobody waits for it.  If a run was interrupted, the
 * next one gets such keys from deja_sieve_settled and has nothing to hand over. */
#define DEJA_SIEVE_NO_RECORD UINT64_MAX
/* Judges n keys in order; verdict[i] becomes a deja_verdict.  A key that was judged new before is
 * seen, whether or not it has been committed.  The tokens and records of pending keys are in the
 * spool when the call returns and survive a kill; token and record may be NULL (0 and no bytes).
 *
 * On failure nothing has been judged.  DEJA_EFULL: there is no room for more keys that are not
 * committed or not settled; commit, settle, commit, and judge again. */
DEJA_CHECKED int deja_sieve_judge(deja_sieve *s, const deja_fingerprint *fp, size_t n,
                                  const uint64_t *token, const deja_slice *record,
                                  uint8_t *verdict, deja_error *err);
/* Records that the lines of all keys that judge or settled reported as new have been handed over.
 * After DEJA_OK they survive a kill, and after the next sync a power failure.  On failure (a full
 * disk, for example) some may be recorded already; the call can be repeated. */
DEJA_CHECKED int deja_sieve_commit(deja_sieve *s, deja_error *err);
/* Decides all pending keys in one pass over the runs.  The earlier ones must have been returned by
 * deja_sieve_settled and committed (DEJA_EINVAL).  On failure they stay pending; DEJA_EFORMAT names
 * a damaged run. */
DEJA_CHECKED int deja_sieve_settle(deja_sieve *s, deja_error *err);
/* A pending key that has been decided. */
typedef struct deja_settled {
    uint64_t token;
    deja_slice record; /* valid until the next call on the sieve */
    uint32_t verdict;  /* DEJA_SIEVE_NEW (late) or DEJA_SIEVE_SEEN */
    uint32_t reserved;
} deja_settled;
/* Returns the next *n <= cap settled keys, in order of arrival; *n is 0 after the last.  DEJA_EFULL:
 * 65,536 late keys have been returned and not committed; commit first. */
DEJA_CHECKED int deja_sieve_settled(deja_sieve *s, deja_settled *out, size_t cap, size_t *n,
                                    deja_error *err);
/* Records n keys without judging them: their lines have been handed over, perhaps before a crash that
 * prevented the commit.  A pending key that is the same is later settled as seen.  Survives as a
 * commit does; reads the runs.  DEJA_EINVAL: keys judged or settled before are not committed. */
DEJA_CHECKED int deja_sieve_record(deja_sieve *s, const deja_fingerprint *fp, size_t n,
                                   deja_error *err);
/* Makes everything that was committed or is pending survive a power failure. */
DEJA_CHECKED int deja_sieve_sync(deja_sieve *s, deja_error *err);
/* Syncs, and saves the filter.  Without it the next open for writing reads all runs once to rebuild
 * the filter. */
DEJA_CHECKED int deja_sieve_save(deja_sieve *s, deja_error *err);

/* Looks up n keys exactly, in one pass that reads only the blocks that may have them; found gets 0
 * or 1 for each.  A pending key is found only if it was recorded before.  Takes 16 bytes per key,
 * not counted in options.memory. */
DEJA_CHECKED int deja_sieve_contains(deja_sieve *s, const deja_fingerprint *fp, size_t n,
                                     uint8_t *found, deja_error *err);
/* Passes the hashes of all recorded keys to `take`, many at a time, in no particular order.  A
 * result other than 0 ends the walk and is returned.  deja_sieve_like sets *opt, which begins as
 * DEJA_OPTIONS_INIT, to options of a filter that accepts these hashes (deja_filter_add_hashed,
 * deja_builder_add_hashed): key and seed.  opt->key points into s. */
DEJA_CHECKED int deja_sieve_each(deja_sieve *s,
                                 int (*take)(void *ctx, const uint64_t *hash, size_t n), void *ctx,
                                 deja_error *err);
DEJA_CHECKED int deja_sieve_like(const deja_sieve *s, deja_options *opt, deja_error *err);
/* Adds every key that is recorded in `from` to `into`, exactly.  Both need the same secret key and
 * URL rules (DEJA_EMISMATCH), and neither may have pending keys or keys to commit (DEJA_EINVAL).
 * All runs become one; that needs room for it beside them on the disk.  Durable on return. */
DEJA_CHECKED int deja_sieve_merge(deja_sieve *into, deja_sieve *from, deja_error *err);
/* Verifies a sieve: reads all its files.  DEJA_EFORMAT: err names the damaged file and the place.
 * Nobody needs to stop writing it. */
DEJA_CHECKED int deja_sieve_verify(const char *path, deja_error *err);

/* What a sieve holds and what it costs. */
typedef struct deja_sieve_report {
    size_t size;            /* set by DEJA_SIEVE_REPORT_INIT                            */
    uint64_t keys;          /* recorded                                                 */
    uint64_t recent;        /* of these, in memory and in the log ..                    */
    uint64_t runs;          /* .. and the others in this many runs                      */
    uint64_t disk;          /* bytes of all files                                       */
    uint64_t memory;        /* bytes that it may use ..                                 */
    uint64_t memory_used;   /* .. and those it has allocated                            */
    uint64_t filter_bytes;  /* 0: no filter yet, and no key waits                       */
    uint32_t filter_hashes; /* k                                                        */
    uint32_t flags;         /* DEJA_KEY_APART                                           */
    uint64_t uncommitted;   /* judged or settled as new, not committed                  */
    uint64_t pending;       /* keys that wait                                           */
    uint64_t pending_most;  /* room for pending keys                                    */
    uint64_t waited;        /* since the sieve was created: keys that were pending ..   */
    uint64_t settled;       /* .. those that have been settled and committed ..         */
    uint64_t late;          /* .. and of these, the new ones                            */
    uint64_t passes;        /* over the runs                                            */
    uint64_t merges;        /* of runs, since it was created                            */
    uint64_t merges_failed; /* since it was opened; merge_error has the last reason     */
    uint32_t merging;       /* 1: a merge is under way                                  */
    uint32_t profile;       /* deja_profile of its keys; 0: bytes as given              */
    uint64_t url_rules;     /* deja_url_rules_id of its keys; 0: bytes as given         */
    double wait_rate;       /* share of new keys that wait, at the current fill         */
    double wrong;           /* bound on the probability of any wrong answer: n^2 / 2^97 */
    char merge_error[128];
} deja_sieve_report;
#define DEJA_SIEVE_REPORT_INIT DEJA_INIT(deja_sieve_report)
DEJA_CHECKED int deja_sieve_stats(deja_sieve *s, deja_sieve_report *out, deja_error *err);

/* Predicts the costs of `lines` lines with `keys` different keys in a new sieve; reads nothing. */
typedef struct deja_sieve_forecast {
    size_t size;        /* set by DEJA_SIEVE_FORECAST_INIT                       */
    uint64_t disk;      /* bytes after compaction ..                             */
    uint64_t disk_most; /* .. and during it                                      */
    double late;        /* new keys that wait, in all ..                         */
    double waiting;     /* .. and keys that wait, with the seen ones             */
    double passes;      /* over the runs                                         */
    double read;        /* bytes read by passes and merges ..                    */
    double written;     /* .. and written, without the spool                     */
    double wait_rate;   /* share of new keys that wait at the end                */
    double wrong;       /* bound on the probability of any wrong answer          */
} deja_sieve_forecast;
#define DEJA_SIEVE_FORECAST_INIT DEJA_INIT(deja_sieve_forecast)
DEJA_CHECKED int deja_sieve_plan(const deja_sieve_options *opt, uint64_t keys, uint64_t lines,
                                 deja_sieve_forecast *out, deja_error *err);

#ifdef __cplusplus
}
#endif
#endif
