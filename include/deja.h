/* deja.h - have I seen this key before?  A filter remembers keys in little memory.
 * It never forgets one that was added, except in kinds that forget by design
 * (DEJA_PAIRED, DEJA_WINDOW); it may claim one that was not, at a rate chosen at
 * creation.
 *
 * Status     Calls that can fail return DEJA_OK or a negative deja_status and give
 *            their answer through a pointer; calls that cannot fail return it.
 * Detail     err, always last, may be NULL; else it gets one line for people.
 * Ownership  What *_new, *_open or *_create hands out goes back to *_free.  Keys,
 *            texts and options are borrowed for the call only.
 * Threads    add, remove, contains, count and hash may run together on one filter,
 *            from many threads; any other call needs the filter to itself.
 * Manners    The library never prints, exits, or reads the environment, and takes no signal
 *            unless it is asked to (deja_files_guard). */
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

typedef enum deja_status { /* part of the ABI: append, never renumber */
    DEJA_OK = 0,
    DEJA_EINVAL = -1,    /* an argument breaks a rule stated here        */
    DEJA_ENOMEM = -2,    /* the allocator said no; nothing has changed   */
    DEJA_EIO = -3,       /* a file operation failed; errno tells which:  */
                         /* ESTALE: the path names another file now      */
    DEJA_EFORMAT = -4,   /* not a filter file, or a damaged one          */
    DEJA_EVERSION = -5,  /* sound, but newer than this library           */
    DEJA_EFULL = -6,     /* no room for this key; it was not added       */
    DEJA_ESPACE = -7,    /* the caller's buffer is too small             */
    DEJA_ENOTSUP = -8,   /* this kind cannot; err says which kind can    */
    DEJA_EMISMATCH = -9, /* another kind, size, key or URL profile       */
    DEJA_EBUSY = -10,    /* another process writes this file             */
    DEJA_ENOTURL = -11   /* these bytes are no URL                       */
} deja_status;
DEJA_API const char *deja_strerror(int status); /* static text, never NULL */
/* The version of the library, which may differ from that of this header: "0.2.0", and 200 (a
 * hundred per minor version, ten thousand per major). */
DEJA_API const char *deja_version(void);
DEJA_API uint32_t deja_version_number(void);

typedef struct deja_error {
    int status;
    char text[252]; /* names the file or option (deja_option_translate), and the remedy */
} deja_error;

/* Bytes that somebody else owns; data may be NULL when len is 0. */
typedef struct deja_slice {
    const void *data;
    size_t len;
} deja_slice;

/* --- URLs --------------------------------------------------------------- */

/* Two spellings of one URL should be one key.  A profile says which spellings are one
 * (docs/url.md has every rule).  Filters compare bytes: canonicalise first, then ask. */
typedef enum deja_profile { /* stored in files: append only */
    DEJA_URL_SAFE = 1,      /* what never changes what a URL means        */
    DEJA_URL_CRAWL = 2,     /* and queries sorted, tracking names dropped */
    DEJA_URL_GSB = 3,       /* Safe Browsing's form, for block lists      */
    DEJA_URL_SCRAPY = 4     /* w3lib's canonicalize_url, byte for byte    */
} deja_profile;
DEJA_API const char *deja_profile_name(uint32_t profile);
DEJA_API uint32_t deja_profile_parse(const char *name);

/* A profile made ready, with the query parameters that it drops.  It never changes, so
 * threads and filters may share it. */
typedef struct deja_url_rules deja_url_rules;
/* The profile as it comes; NULL for one that this library has not.  Not to be freed. */
DEJA_API const deja_url_rules *deja_url_profile(uint32_t profile);
#define DEJA_URL_NO_LIST 1u /* leave the built-in list of dropped parameters out */
/* The profile with other parameters: `drop` is added to its list, `keep` taken from it.
 * A name may end in `*`: utm_*.  For profiles that drop parameters (crawl). */
DEJA_CHECKED int deja_url_rules_new(uint32_t profile, unsigned flags, const deja_slice *drop,
                                    size_t n_drop, const deja_slice *keep, size_t n_keep,
                                    deja_url_rules **out, deja_error *err);
DEJA_API void deja_url_rules_free(deja_url_rules *rules); /* NULL is fine */
DEJA_API uint32_t deja_url_rules_profile(const deja_url_rules *rules);
/* Equal for rules that always give the same form: profile, its version, parameters, IDNA. */
DEJA_API uint64_t deja_url_rules_id(const deja_url_rules *rules);
/* The same rules in the version before, for filters that record its id: deja 0.1 gave some hosts
 * in other scripts another form.  NULL: there is none.  It lives as long as `rules`. */
DEJA_API const deja_url_rules *deja_url_rules_older(const deja_url_rules *rules);

/* Room that is enough for any form of a URL of len bytes. */
#define DEJA_URL_ROOM(len) (4 * (len) + 512)
/* *canon gets the canonical form: url itself when that is canonical already (the common
 * case, and nothing is copied), otherwise bytes in out.  DEJA_ENOTURL: no URL, *canon is
 * url.  DEJA_ENOTSUP: a host that needs IDNA, which this build lacks; *canon is url.
 * DEJA_ESPACE: cap is less than DEJA_URL_ROOM and it mattered. */
DEJA_CHECKED int deja_url_canon(const deja_url_rules *rules, deja_slice url, char *out, size_t cap,
                                deja_slice *canon, deja_error *err);
/* The same for n URLs, in order; canon may be the array url itself.  status[i] is what
 * deja_url_canon says of the i-th: 0, DEJA_ENOTURL or DEJA_ENOTSUP.  Returns how many were
 * done: fewer than n where the rest of out has not the room for the next one. */
DEJA_API size_t deja_url_canon_batch(const deja_url_rules *rules, const deja_slice *url, size_t n,
                                     char *out, size_t cap, deja_slice *canon, int8_t *status);
/* A glance at n URLs: 1 for those that are seen to be in canonical form as they stand, as
 * nearly all are; deja_url_canon knows about the others. */
DEJA_API void deja_url_plain_batch(const deja_url_rules *rules, const deja_slice *url, size_t n,
                                   uint8_t *plain);
/* What a link in the page `base` points to, fragment included, as browsers see it: bytes in
 * out, which has DEJA_URL_ROOM(base.len + link.len) and is neither of them. */
DEJA_CHECKED int deja_url_resolve(deja_slice base, deja_slice link, char *out, size_t cap,
                                  deja_slice *url, deja_error *err);
/* The layers of a URL, slices of it: scheme and authority, then each segment of the path
 * with its slash; the query belongs to the last.  Returns how many, at most cap: then the
 * last one holds the rest. */
DEJA_API size_t deja_url_split(deja_slice url, deja_slice *layer, size_t cap);
/* The host-suffix/path-prefix expressions that Safe Browsing looks up for a URL in its
 * canonical form (DEJA_URL_GSB), slices of it, longest host and path first.  Returns how
 * many; 0 for what is not in that form. */
#define DEJA_URL_EXPRESSIONS 30
DEJA_API size_t deja_url_expressions(deja_slice canon,
                                     deja_slice expression[DEJA_URL_EXPRESSIONS]);

/* --- What a filter is --------------------------------------------------- */

typedef enum deja_kind { /* stored in files: append only */
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

/* How a key becomes numbers.  XXH3 and SipHash are keyed with the filter's secret
 * and hash a key once; the papers' functions hash salt + key once for each of the
 * k positions (classic only).  MIXED takes a different function for each. */
typedef enum deja_hash { /* stored in files: append only */
    DEJA_HASH_XXH3 = 1,
    DEJA_HASH_SIPHASH = 2,
    DEJA_HASH_JENKINS = 3, /* lookup2 */
    DEJA_HASH_MURMUR2 = 4,
    DEJA_HASH_MURMUR3 = 5,
    DEJA_HASH_MD5 = 6,
    DEJA_HASH_SHA1 = 7,
    DEJA_HASH_MIXED = 8
} deja_hash;

/* Names as typed on the command line; NULL and 0 for what this library has not. */
DEJA_API const char *deja_kind_name(uint32_t kind);
DEJA_API uint32_t deja_kind_parse(const char *name);
DEJA_API const char *deja_hash_name(uint32_t hash);
DEJA_API uint32_t deja_hash_parse(const char *name);
/* All kinds, in the order of their numbers: the one after `kind`, or the first after 0.  0: there
 * are no more. */
DEJA_API uint32_t deja_kind_next(uint32_t kind);
/* One line about a kind, for help texts; NULL for an unknown kind. */
DEJA_API const char *deja_kind_help(uint32_t kind);

/* What a kind can do.  Ask for one capability, or for several with |: the answer is true if it has
 * all of them. */
#define DEJA_CAN_ADD     0x0001u /* take keys as they come */
#define DEJA_CAN_BUILD   0x0002u /* be made of all its keys at once, by a deja_builder */
#define DEJA_CAN_REMOVE  0x0004u /* remove keys */
#define DEJA_CAN_COUNT   0x0008u /* tell how many times a key was added */
#define DEJA_CAN_GROW    0x0010u /* grow: capacity is its first size, and the rate stays */
#define DEJA_CAN_EXPIRE  0x0020u /* drop its oldest keys to make room for new ones */
#define DEJA_CAN_FORGET  0x0040u /* miss a key that was added: it removed or dropped others */
#define DEJA_CAN_FILL    0x0080u /* be full: it stores keys one by one, and counts them exactly */
#define DEJA_CAN_REPEAT  0x0100u /* consist of several filters that must agree */
#define DEJA_CAN_MERGE   0x0200u /* take the keys of another filter */
#define DEJA_CAN_FOLD    0x0400u /* be halved */
#define DEJA_CAN_OVERLAP 0x0800u /* tell how many keys it shares with another filter */
#define DEJA_CAN_PREFIX  0x1000u /* answer questions about URL prefixes */
#define DEJA_CAN_LAYER   0x2000u /* describe its layers (deja_filter_layer) */
/* False for an unknown kind. */
DEJA_API bool deja_kind_can(uint32_t kind, uint32_t capability);

/* The instruction set that blocked filters use here: "avx512", "avx2", "portable". */
DEJA_API const char *deja_simd_name(void);

typedef struct deja_allocator { /* per filter; free gets the size given to alloc */
    void *(*alloc)(void *ctx, size_t size, size_t align);
    void (*free)(void *ctx, void *p, size_t size);
    void *ctx;
} deja_allocator;

#define DEJA_KEY_LEN          32
#define DEJA_KEY_APART        1u /* the secret key stays out of the file; open needs it again */
/* spectral: add raises only the counters that are at the minimum.  Counts come out better, and
 * remove is refused: a counter no longer holds the sum of its keys. */
#define DEJA_MINIMAL_INCREASE 2u
/* layered: Algorithms 3 and 4 to the letter, the same hash functions in every layer.  Segments
 * that are equal then cancel out, and URLs with swapped ones are taken for each other. */
#define DEJA_LAYERED_PAPER    4u
/* layered: keys are words with a delimiter between them, dealt to the layers in turn. */
#define DEJA_LAYERED_WORDS    8u

/* Begin with DEJA_OPTIONS_INIT; zero in a field asks for its default.  Fields are
 * only ever appended, without padding.  A part that is beyond what this library
 * knows is accepted when all zero and refused with DEJA_EVERSION when not.
 *
 * capacity, fp_rate and memory depend on each other: give two (fp_rate counts as
 * given), and the third follows; with hashes and multiplier, memory follows from
 * the thesis' rule m = n k M.  A tightening below 0.5 is the share of fp_rate that is kept
 * back for the parts after the first, which then tighten by 0.7. */
typedef struct deja_options {
    size_t size;                 /* set by DEJA_OPTIONS_INIT                 */
    uint32_t kind;               /* a deja_kind; default DEJA_BLOCKED        */
    uint32_t hashes;             /* k; default: best for the other numbers   */
    uint64_t capacity;           /* n, keys expected                         */
    double fp_rate;              /* p at capacity; default 1e-6              */
    const void *key;             /* 32 secret bytes; default: random         */
    uint64_t seed;               /* not 0: repeatable instead of random      */
    const deja_allocator *alloc; /* outlives the filter; default libc        */
    uint64_t memory;             /* bytes for the body                       */
    double multiplier;           /* M of m = n k M; needs capacity           */
    uint32_t filters;            /* F filters, all must agree; default 1     */
    uint32_t hash;               /* a deja_hash; default DEJA_HASH_XXH3      */
    uint32_t part_kind;          /* what a scalable filter is made of        */
    uint32_t growth;             /* scalable: next part's size; default 2    */
    double tightening;           /* scalable: next part's rate; default 0.7  */
    const deja_url_rules *url;   /* form of its keys, to record; NULL: bytes */
    uint32_t flags;              /* DEJA_KEY_APART, .. as above              */
    uint32_t counter_bits;       /* spectral: 4, 8, 16 or 32; default 4      */
    uint32_t fingerprint_bits;   /* static: 8, 16, 32; default: what p needs */
    uint32_t layers;             /* layered: at most so many; default 8      */
    uint32_t delimiter;          /* layered: byte between words; default ' ' */
    uint32_t generations;        /* window: full ones, 1 .. 7; default 1     */
    uint64_t window_seconds;     /* window: by time; default: by keys        */
    uint64_t deletions;          /* paired: removals expected; default n     */
    uint64_t format;             /* of the file, 1 (deja 0.1) or 2; default 2 */
} deja_options;
#define DEJA_OPTIONS_INIT DEJA_INIT(deja_options)

/* Makes capacity a first size: blocked, classic and exact become a scalable filter with parts of
 * that kind, which grows past capacity at the rate fp_rate.  True: the filter will grow.  False:
 * nothing has changed, because the options pin the body (memory, hashes, multiplier, filters), the
 * hash is one of the papers', the kind cannot grow, or no filter has these options.  If capacity
 * is given and tightening is not, a tenth of the rate is kept back for growth, which costs 1 to 3
 * percent of memory. */
DEJA_API bool deja_options_grow(deja_options *opt);

/* The options as a table, from which tools make their own: one row for each field of deja_options
 * and for each flag. */
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

typedef struct deja_option { /* fields are only ever appended */
    const char *name;        /* of the field or flag: "capacity", "minimal_increase" */
    const char *keyword;     /* in commands of a server: "CAPACITY"; NULL: not there */
    const char *value;       /* what help calls its value: "N"; NULL for a flag      */
    const char *help;        /* a phrase; other options in it are `options.NAME`     */
    const char *unit;        /* "keys", "bytes", "seconds", "bits" or NULL           */
    uint32_t type;           /* a deja_option_type                                   */
    uint32_t width;          /* bytes of the field ...                               */
    size_t offset;           /* ... and its place in deja_options                    */
    uint64_t least;          /* the range; 0 and 0: the type has none                */
    uint64_t most;
    double standard; /* the default; 0: it depends on the other options      */
    const char *(*choice)(uint32_t value); /* NULL: no such choice                   */
    uint32_t flag;
    uint32_t compared; /* 1: deja_filter_open refuses a file with another value */
} deja_option;
#define DEJA_OPTION_CHOICES 64                        /* choices are numbers below it */
DEJA_API const deja_option *deja_option_at(size_t i); /* NULL after the last row */
DEJA_API const deja_option *deja_option_find(const char *name);
/* Whether filters of this kind accept it.  Most options are accepted by every kind. */
DEJA_API bool deja_option_accepted(const deja_option *o, uint32_t kind);
DEJA_API bool deja_option_given(const deja_option *o, const deja_options *opt);
/* Writes the value into text, as in a command: digits, a name, a byte, the secret; without a zero
 * at the end.  Returns its length, 0 for a flag and for an option that is not given. */
#define DEJA_OPTION_TEXT 40
DEJA_API size_t deja_option_print(const deja_option *o, const deja_options *opt,
                                  char text[DEJA_OPTION_TEXT]);
/* Error texts and help call an option `options.NAME`.  Copies text with word(o) in those places,
 * cut short to cap bytes with the zero at the end. */
DEJA_API void deja_option_translate(const char *text, const char *(*word)(const deja_option *o),
                                    char *out, size_t cap);

/* What options come to, without allocating anything. */
typedef struct deja_plan {
    size_t size; /* set by DEJA_PLAN_INIT; filled as far as the caller knows it */
    uint32_t kind;
    uint32_t hashes;      /* k of each filter                                    */
    uint32_t filters;     /* F                                                   */
    uint32_t hash;        /* deja_hash                                           */
    uint64_t capacity;    /* n                                                   */
    double fp_rate;       /* p predicted at capacity: at most what was asked for */
    uint64_t bits;        /* m, all filters together; layered: the most, which   */
                          /* is n different segments in each layer               */
    uint64_t bytes;       /* of the bodies                                       */
    double bits_per_key;  /* bits / capacity                                     */
    double lost;          /* keys expected to be lost while filling to capacity  */
    uint64_t deletions;   /* paired: removals it is sized for                    */
    double fn_rate;       /* and the share of its keys that is FORGOTTEN then    */
    uint64_t generations; /* window: full ones; the bits are of one more         */
    uint64_t lines;       /* cache lines that a lookup reads; scalable: per part */
} deja_plan;
#define DEJA_PLAN_INIT DEJA_INIT(deja_plan)
DEJA_CHECKED int deja_plan_make(const deja_options *opt, deja_plan *plan, deja_error *err);

/* --- Filters ------------------------------------------------------------ */

typedef struct deja_filter deja_filter;
DEJA_CHECKED int deja_filter_new(const deja_options *opt, deja_filter **out, deja_error *err);
DEJA_API void deja_filter_free(deja_filter *f); /* NULL is fine; does not sync */
/* As deja_kind_can, for one filter: its options and parts can rule out what its kind can do.
 * Whether its file may be written does not matter here. */
DEJA_API bool deja_filter_can(const deja_filter *f, uint32_t capability);
/* DEJA_OK if it can; otherwise DEJA_ENOTSUP, and err names a kind that can. */
DEJA_CHECKED int deja_filter_require(const deja_filter *f, uint32_t capability, deja_error *err);

/* *is_new (or NULL) tells whether the key was absent before this call.  When threads
 * add the same key at once, at least one of them is told that it was new. */
DEJA_CHECKED int deja_filter_add(deja_filter *f, deja_slice key, bool *is_new, deja_error *err);
DEJA_API bool deja_filter_contains(const deja_filter *f, deja_slice key);
/* As n single calls in order, with the memory latency overlapped; the arrays (or NULL
 * for add) get 0 or 1 for each key.  When an add stops early, *done keys were taken. */
DEJA_CHECKED int deja_filter_add_batch(deja_filter *f, const deja_slice *keys, size_t n,
                                       uint8_t *is_new, size_t *done, deja_error *err);
DEJA_API void deja_filter_contains_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                         uint8_t *found);

/* window: its time, in seconds since 1970, instead of the system's clock: for logs with times of
 * their own, and for tests.  It stays until the next call; 0 is the system's clock again.  Time
 * never runs back while a filter is open: an earlier time counts as the latest that an add went
 * by.  If the newest generation of a file starts in the future (the clock was set back, or the
 * file was crafted), the next add restarts it from now; stats.clock_behind tells by how much. */
DEJA_CHECKED int deja_filter_set_clock(deja_filter *f, uint64_t seconds, deja_error *err);

/* How often, and not any more: kinds spectral and, remove alone, paired; the others answer
 * DEJA_ENOTSUP.
 *
 * spectral: remove takes one add of the key back.  *removed (or NULL) is 0, and stats count it as
 * refused, when the key is not there, or so often that all its counters are at their maximum:
 * these have lost count and stay as they are.  Remove only what was added.  A key that was not is
 * refused as well unless it is a false positive; then removing it takes counts away from other
 * keys, and they MAY BE MISSED afterwards.  With DEJA_MINIMAL_INCREASE, remove is DEJA_ENOTSUP.
 *
 * paired: remove puts the key into a second filter, of deletions, and that is FOR GOOD.  A key
 * that comes back is told "new" by every add and never found again; stats count these adds as
 * hidden.  The deletions also claim one in 1/fn_now of the keys that were never removed: this kind
 * FORGETS.  A key that is not found is refused; removing a false positive harms no other key.
 *
 * count gives how often the key was added and not removed, or more: too much for as many keys as
 * contains would claim wrongly.  A count at the maximum of the counters says at least. */
DEJA_CHECKED int deja_filter_remove(deja_filter *f, deja_slice key, bool *removed,
                                    deja_error *err);
DEJA_CHECKED int deja_filter_remove_batch(deja_filter *f, const deja_slice *keys, size_t n,
                                          uint8_t *removed, size_t *done, deja_error *err);
DEJA_CHECKED int deja_filter_count(const deja_filter *f, deja_slice key, uint64_t *count,
                                   deja_error *err);
DEJA_CHECKED int deja_filter_count_batch(const deja_filter *f, const deja_slice *keys, size_t n,
                                         uint64_t *counts, deja_error *err);

/* Has anything been added that is, or lies under, this beginning of a URL: a site, a folder, a
 * page?  Cut at slashes: http://h/a covers itself, http://h/a/, http://h/a?x and all below
 * http://h/a/, and not http://h/ab.  Nothing that was added is missed.  Claimed wrongly are one in
 * a hundred, and beginnings whose segments were seen, each in its place, under others: http://h/b
 * after http://h/a and http://g/b.  Where a filter has L layers, only the first L - 1 segments are
 * looked at, and never a query.  Kind layered alone, without its modes paper and words; the
 * others answer DEJA_ENOTSUP.  May run beside add and contains. */
DEJA_CHECKED int deja_filter_prefix(const deja_filter *f, deja_slice prefix, bool *found,
                                    deja_error *err);
DEJA_CHECKED int deja_filter_prefix_batch(const deja_filter *f, const deja_slice *prefix, size_t n,
                                          uint8_t *found, deja_error *err);

/* The same in two steps, for programs that hash in one thread and look up in another:
 * a key becomes hash_words numbers, good for filters with the same key, hash, k, F (layered: the
 * same layers and modes). */
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

/* The deja_profile of the URLs in it; 0: bytes as given. */
DEJA_API uint32_t deja_filter_profile(const deja_filter *f);

/* What a filter holds and what it costs.  Without DEJA_STATS_BODY the call takes no time: it
 * reports what the filter knows of itself, down to clock_behind.  The flag reads the body from end
 * to end for the other fields; without it, those of type double are NaN and the others are 0. */
#define DEJA_STATS_BODY 1u
typedef struct deja_stats {
    size_t size; /* set by DEJA_STATS_INIT; filled as far as the caller knows it */
    uint32_t kind;
    uint32_t part_kind;      /* scalable: of its parts; otherwise kind                       */
    uint32_t parts;          /* bodies: F, or how often a scalable filter has grown, plus 1  */
    uint32_t filters;        /* F                                                            */
    uint32_t hash;           /* deja_hash                                                    */
    uint32_t hashes;         /* k; scalable: of the newest part                              */
    uint32_t growth;         /* scalable; otherwise 0                                        */
    uint32_t profile;        /* deja_profile of its keys; 0: bytes as given                  */
    double fp_rate;          /* as requested                                                 */
    double tightening;       /* scalable; otherwise 0                                        */
    uint64_t url_rules;      /* deja_url_rules_id of the form of its keys; 0: bytes          */
    uint64_t capacity;       /* of all parts that exist                                      */
    uint64_t bytes;          /* of the bodies, in memory or in the file                      */
    uint64_t offered;        /* keys passed to add                                           */
    uint64_t keys;           /* of these, answered "new"; spectral, paired: and not removed  */
    uint64_t entries;        /* keys that take up capacity; paired: removed ones, too        */
    uint64_t excess;         /* of these, beyond the capacity: the rate is above fp_rate     */
    uint64_t format;         /* of its file: 1 as deja 0.1 wrote it, 2 since 0.2             */
    uint64_t syncs;          /* 0 for a filter in memory                                     */
    uint32_t flags;          /* DEJA_KEY_APART, DEJA_MINIMAL_INCREASE, DEJA_LAYERED_..       */
    uint32_t keyed;          /* 1: secret key, 0: made from a seed                           */
    uint32_t unclean;        /* 1: not synced after its last add; the body tells the keys    */
    uint32_t counter_bits;   /* spectral                                                 */
    uint64_t visit;          /* 1, 2, ..                                                 */
    uint64_t visits_before;  /* visits that ended before this one                        */
    uint64_t last_distinct;  /* distinct keys of the last of them ..                     */
    double last_lost;        /* .. and how many of these were mistaken for seen          */
    uint64_t unions;         /* filters merged into it; `keys` is then an estimate       */
    uint64_t folds;          /* how many times it was halved                             */
    uint64_t removed;        /* spectral: adds taken back; paired: keys                  */
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
    double lost;          /* new keys mistaken for seen so far, as expected             */
    double missed;        /* chance that every visit, including this one, missed a page */
    double bits_expected; /* bits that `keys` honest keys set on average ..             */
    double bits_sigma;    /* .. and their standard deviation: far beyond is pollution   */

    /* spectral and paired */
    uint64_t largest;            /* the largest counter                                 */
    uint64_t saturated;          /* counters at their maximum                           */
    uint64_t deletions;          /* paired: keys in its second filter ..                */
    uint64_t deletions_capacity; /* .. and the number that it is sized for              */
    double fn_now;               /* share of its keys that it FORGETS                   */

    /* window */
    uint64_t crowded;            /* generations with more keys than they were sized for    */
    uint64_t turns;              /* generations begun after the first                   */
    uint64_t window_keys;        /* in those not expired: each counts its own           */
    uint64_t generation_keys[8]; /* the newest first                                    */
    uint64_t generation_age[8];  /* seconds since it began                              */

    /* layered */
    uint64_t familiar;    /* new keys whose segments were all known before              */
    uint32_t layers;      /* layers so far, not counting the XOR layer ..               */
    uint32_t layers_most; /* .. and the most that it can have                           */
    uint64_t delimiter;   /* byte between words                                         */
} deja_stats;
#define DEJA_STATS_INIT DEJA_INIT(deja_stats)
/* flags: 0 or DEJA_STATS_BODY.  DEJA_EIO: the file was cut short while it was read. */
DEJA_CHECKED int deja_filter_stats(const deja_filter *f, unsigned flags, deja_stats *stats,
                                   deja_error *err);
/* One layer of a layered filter: 1 .. stats.layers, or 0 for the XOR layer, whose segments are
 * whole keys.  DEJA_EINVAL: no such layer; other kinds: DEJA_ENOTSUP. */
typedef struct deja_layer {
    size_t size;       /* set by DEJA_LAYER_INIT; filled as far as the caller knows it */
    uint64_t segments; /* different ones in it                                         */
    uint64_t capacity; /* that its parts are sized for                                 */
    uint64_t bytes;
    double fp_now; /* rate at which a segment that is not in it is found           */
    uint32_t parts;
    uint32_t hashes; /* k */
} deja_layer;
#define DEJA_LAYER_INIT DEJA_INIT(deja_layer)
DEJA_CHECKED int deja_filter_layer(const deja_filter *f, uint32_t number, deja_layer *layer,
                                   deja_error *err);

/* --- Files -------------------------------------------------------------- */

#define DEJA_OPEN_WRITE        1u /* take the writer's lock; without it: read only        */
#define DEJA_CREATE_REPLACE    2u /* create: replace a filter file of that name            */
#define DEJA_OPEN_REPAIR       4u /* open: trust one sync record when the other is damaged */
/* create: set the permissions of the file, as in DEJA_CREATE_MODE(0640); see deja_filter_create.
 */
#define DEJA_CREATE_MODE_SHIFT 16
#define DEJA_CREATE_MODE(mode) ((unsigned)(mode) << DEJA_CREATE_MODE_SHIFT)
/* Map a file.  expect may be NULL; else its key (needed when the file was made with
 * DEJA_KEY_APART), alloc, and as a demand its kind (a scalable filter also passes for the kind
 * of its parts), hash, counter_bits, generations,
 * window_seconds, url, seed, layers, delimiter and modes where not 0. */
DEJA_CHECKED int deja_filter_open(const char *path, unsigned flags, const deja_options *expect,
                                  deja_filter **out, deja_error *err);
/* Creates a filter in a new file, locked for writing.  The file appears under its name, complete,
 * with the first deja_filter_sync; a crash before that leaves nothing.  If the name is taken, both
 * calls fail with DEJA_EINVAL unless the old file is empty or flags has DEJA_CREATE_REPLACE, which
 * replaces filter files and nothing else.
 *
 * Without DEJA_CREATE_MODE only the owner can read a file that contains its secret key (0600 less
 * the umask); the others (DEJA_KEY_APART, seed) get 0666 less the umask.  A file that replaces
 * another keeps its permissions and, as far as the system allows, its owner and group. */
DEJA_CHECKED int deja_filter_create(const char *path, unsigned flags, const deja_options *opt,
                                    deja_filter **out, deja_error *err);
/* On DEJA_OK every add that returned before the call survives a power cut.
 *
 * A writer never overwrites a file that someone moved into the place of its own, and does not go
 * on writing one that was deleted: sync, growth, fold and rotate, and the first add after a sync,
 * then fail with DEJA_EIO and errno ESTALE.  deja_filter_check_file says why.  Both files stay as
 * they are, and adds since the last sync are in neither: open the file again and repeat them. */
DEJA_CHECKED int deja_filter_sync(deja_filter *f, deja_error *err);
/* Read the whole file and compare its checksums: DEJA_OK is a clean bill of health,
 * DEJA_EFORMAT names the damage, DEJA_EBUSY says that it was not synced since its last
 * add, so that no checksum can vouch for it. */
DEJA_CHECKED int deja_file_verify(const char *path, deja_error *err);

/* Somebody may cut a file short, or copy another one over it, while it is mapped: the system then
 * ends the process with SIGBUS at the next look at what is gone.  deja_files_guard makes that an
 * error, for all filters of the process and for good: it catches SIGBUS, and passes what is not
 * about a filter's file on to the handler that was there before.  Never called by the library.
 *
 * A filter whose file is gone answers no more: calls with a status return DEJA_EIO, and contains,
 * which has none, says true for every key, since calling a key new that was added is the one
 * thing a filter must not do.  deja_filter_check_file tells the difference: DEJA_OK after a
 * contains means that its answers came from the whole file. */
DEJA_CHECKED int deja_files_guard(deja_error *err);
DEJA_CHECKED int deja_filter_check_file(const deja_filter *f, deja_error *err);

/* A copy of a filter in a new file, as deja_filter_create makes one: same key, same counts. */
DEJA_CHECKED int deja_filter_copy(const deja_filter *from, const char *path, unsigned flags,
                                  deja_filter **out, deja_error *err);

/* --- The bytes of a file, without one ------------------------------------------ */

/* What the file of this filter would hold, to be sent elsewhere or kept in another store: len
 * bytes from offset `at` on; fewer at the end, and 0 behind it.  The first 4096 bytes have a
 * checksum of all others, made by reading the whole body each time they are asked for: read them
 * once, and leave the filter as it is until the rest has been read. */
DEJA_API uint64_t deja_filter_export_len(const deja_filter *f);
DEJA_API size_t deja_filter_export(const deja_filter *f, uint64_t at, void *out, size_t len);

/* A filter in memory from such bytes.  They may come from an enemy: header, length, checksum and
 * key are checked as deja_filter_open and deja_file_verify check those of a file, and nothing is
 * allocated before.  expect is as for open.  DEJA_EBUSY: a file that was not synced. */
DEJA_CHECKED int deja_filter_import(const void *data, size_t len, const deja_options *expect,
                                    deja_filter **out, deja_error *err);
/* The same in pieces, in order.  len is how many bytes will come, if the caller can vouch for
 * that; 0: unknown, then memory is taken as they come.  What expect->url points to has to live
 * until finish.  After an error nothing but free is left to do. */
typedef struct deja_import deja_import;
DEJA_CHECKED int deja_import_new(uint64_t len, const deja_options *expect, deja_import **out,
                                 deja_error *err);
DEJA_CHECKED int deja_import_write(deja_import *im, const void *data, size_t len, deja_error *err);
DEJA_CHECKED int deja_import_finish(deja_import *im, deja_filter **out, deja_error *err);
DEJA_API void deja_import_free(deja_import *im); /* NULL is fine; not the filter that it gave */
/* Bytes there will be; 0 before the header (4096 bytes) has come.  And bytes that have come. */
DEJA_API uint64_t deja_import_len(const deja_import *im);
DEJA_API size_t deja_import_read(const deja_import *im, uint64_t at, void *out, size_t len);

/* --- Sets that never change -------------------------------------------------- */

/* A static filter (DEJA_STATIC) is made of all its keys at once: collect them, then finish.
 * Keys may come in any order and more than once; a key takes 8 bytes until then, and about 32
 * while the filter is made.  The options are those of a filter: fp_rate or fingerprint_bits
 * choose the fingerprints, memory limits the body, and capacity is a hint.  A builder belongs to
 * one thread at a time; hash_batch may run beside the other calls. */
typedef struct deja_builder deja_builder;
DEJA_CHECKED int deja_builder_new(const deja_options *opt, deja_builder **out, deja_error *err);
DEJA_API void deja_builder_free(deja_builder *b); /* NULL is fine; not the filter that it made */
/* Takes all of them, or none (DEJA_ENOMEM). */
DEJA_CHECKED int deja_builder_add(deja_builder *b, deja_slice key, deja_error *err);
DEJA_CHECKED int deja_builder_add_batch(deja_builder *b, const deja_slice *keys, size_t n,
                                        deja_error *err);
/* The same in two steps: one number a key. */
DEJA_API void deja_builder_hash_batch(const deja_builder *b, const deja_slice *keys, size_t n,
                                      uint64_t *hash);
DEJA_CHECKED int deja_builder_add_hashed(deja_builder *b, const uint64_t *hash, size_t n,
                                         deja_error *err);
/* The filter: in memory when path is NULL, otherwise in a new file, which appears with its first
 * deja_filter_sync; flags as for deja_filter_create.  After DEJA_OK the builder is empty and may
 * collect the keys of another filter; after an error it still has its keys. */
DEJA_CHECKED int deja_builder_finish(deja_builder *b, const char *path, unsigned flags,
                                     deja_filter **out, deja_error *err);

/* --- Filters and filters, visits ----------------------------------------- */

/* Union: afterwards `into` has every key of `from`.  Both need the same kind (classic, blocked
 * or exact), F, k, hash, secret key, visit and URL rules; DEJA_EMISMATCH names what differs.
 * The size is the same, or that of `from` is 2, 4, 8 .. times as large: it is folded on the
 * way.  Exact tables need room (DEJA_EFULL, before anything changes), whatever their sizes.
 * A scalable filter counts as one of its parts' kind.  As long as both have one part, the rules
 * are the same; once one has grown, its parts must have the sizes of the other's, part by part,
 * and `into` grows if it has fewer.  Scalable filters of exact parts grow as they need.
 * How many keys the union has is estimated from its bits.  In a file it lasts with the next
 * sync, like adds. */
DEJA_CHECKED int deja_filter_merge(deja_filter *into, const deja_filter *from, deja_error *err);
/* Halve a classic or blocked filter, or a scalable one of a single such part, so many times: it
 * becomes what the same keys would have
 * left in a filter of that size, with the higher rate of such a one.  DEJA_EINVAL tells how
 * often its size can be halved.  A file is replaced at once, whole or not at all. */
DEJA_CHECKED int deja_filter_fold(deja_filter *f, uint32_t times, deja_error *err);
/* How many keys are in both: an estimate with its standard deviation (sigma may be NULL), from
 * the bits that are set, for filters of one part that could be merged.  Exact: counted. */
DEJA_CHECKED int deja_filter_overlap(const deja_filter *a, const deja_filter *b, double *keys,
                                     double *sigma, deja_error *err);
/* Begin the next visit: an empty filter with the same key and other hashes, so that pages that
 * this visit lost are found in the next.  next may be NULL: it is sized from the keys that this
 * visit saw; else its capacity, fp_rate, memory, hashes .. where not 0.  A scalable filter that is
 * given memory, hashes or a multiplier becomes one of its parts' kind.  Counts come from a file
 * and may be crafted: without a capacity or memory, more than 16 MiB and more than 32 times the
 * bytes that the filter has now are refused (DEJA_EINVAL).  A file is replaced atomically. */
DEJA_CHECKED int deja_filter_rotate(deja_filter *f, const deja_options *next, deja_error *err);

/* --- Streams ------------------------------------------------------------ */

/* Lines of a text that lies in memory in one piece; their mark is '\n', 0, or any other byte.
 *
 * ends: for each mark at `from` or behind it, in order, the offset just past it, at most cap of
 * them.  Returns how many: fewer than cap means that there are no more.
 * count: how many bytes of the text are marks. */
DEJA_API size_t deja_lines_ends(deja_slice text, size_t from, char mark, size_t *ends, size_t cap);
DEJA_API size_t deja_lines_count(deja_slice text, char mark);
/* Cut lines off the front of a text: up to cap slices of it, without their mark, and
 * *text is what remains.  The last line needs no mark.  Returns how many; 0: the text is
 * empty.  The slices are keys for the batch calls. */
DEJA_API size_t deja_lines_split(deja_slice *text, char mark, deja_slice *line, size_t cap);

/* Which lines of a stream are new, if a line must not count as seen before it has been
 * handed over: judge some keys, write their lines, then commit.  A crash between the two
 * repeats lines and never loses one.  The answers are those of a filter to which every key
 * was added as soon as it was judged, also in a window, which forgets.  The filter is
 * borrowed; between judge and commit, nobody else may add to it. */
typedef struct deja_dedup deja_dedup;
DEJA_CHECKED int deja_dedup_new(deja_filter *f, deja_dedup **out, deja_error *err);
DEJA_CHECKED int deja_dedup_judge(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new,
                                  deja_error *err);
DEJA_CHECKED int deja_dedup_commit(deja_dedup *d, deja_error *err);
/* Keys that wait for the commit: those judged new; in a window, also those to be renewed. */
DEJA_API size_t deja_dedup_pending(const deja_dedup *d);
DEJA_API void deja_dedup_free(deja_dedup *d);

#ifdef __cplusplus
}
#endif
#endif
