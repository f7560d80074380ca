/* plain.h - a quick check whether a URL is already canonical, which nearly all are.
 *
 * Most URLs on the web are plain: http or https, a lower-case host name, a path of ordinary bytes.
 * To recognize these, `look` classifies all bytes at once and stores four classes as bits of
 * words:
 *
 *     odd       bytes that some profile does not keep unchanged in a path or a query
 *     unhost    bytes that a plain host does not have: all except a-z 0-9 - _ and dots
 *     slash, dot
 *
 * It then works on these words and tests the few odd bytes one by one.  It may say no to a
 * canonical URL, but never yes to one that is not; after a no, the caller writes the canonical
 * form, or only that of the query if that is all that is wrong.  Each instruction set has its own
 * kernel to mark bytes; the rest is shared. */
#ifndef DJ_PLAIN_H
#define DJ_PLAIN_H
#include "core/url/url.h"

#define DJ_PLAIN_MAX   256 /* bytes: longer URLs are rare and never count as plain */
#define DJ_PLAIN_WORDS (DJ_PLAIN_MAX / 64)

struct dj_marks { /* bit i of word w is for byte 64 w + i; 0 past the end */
    uint64_t odd[DJ_PLAIN_WORDS], slash[DJ_PLAIN_WORDS], dot[DJ_PLAIN_WORDS];
    uint64_t unhost; /* of the first 64 bytes */
};

enum dj_plain {
    DJ_PLAIN_NO,
    DJ_PLAIN_YES,     /* its first *len bytes are the canonical form */
    DJ_PLAIN_NO_PATH, /* these bytes plus a slash are the canonical form */
    DJ_PLAIN_QUERY    /* of these bytes, only the query must be written */
};
/* *len is the length of url; it becomes smaller if a fragment is cut off. */
typedef enum dj_plain dj_plain_look(const struct deja_url_rules *rules, const char *url,
                                    size_t *len);
/* Check many URLs by their bytes alone: plain[i] = 1 if URL i is canonical and has no odd byte.
 * For 0, call `look`.  NULL: this kernel has nothing faster than `look`. */
typedef void dj_plain_glance(const struct deja_url_rules *rules, const deja_slice *url, size_t n,
                             uint8_t *plain);
struct dj_plain_kernel {
    const char *name;
    dj_plain_look *look;
    dj_plain_glance *glance;
};
extern const struct dj_plain_kernel dj_plain_portable, dj_plain_avx2, dj_plain_neon;
/* The fastest kernel that this processor supports. */
const struct dj_plain_kernel *dj_plain_best(void);

/* The checks that need no marks.  Under these rules, can a canonical URL have this host (an
 * address, or a host with a port)?  Can it have the odd byte at `at`, in a path or in a query that
 * is checked later?  Can the fragment from `at` on be cut off?  Is its query sorted? */
bool dj_plain_host_is_fine(const struct deja_url_rules *rules, const char *url, size_t begin,
                           size_t end);
bool dj_plain_odd_is_fine(const struct deja_url_rules *rules, const char *url, size_t len,
                          size_t at, bool in_query);
bool dj_plain_fragment_is_fine(const struct deja_url_rules *rules, const char *url, size_t len,
                               size_t at);
bool dj_plain_query_is_fine(const struct deja_url_rules *rules, const char *query, size_t len);

#endif
