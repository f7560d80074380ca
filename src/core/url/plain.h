/* plain.h - is this URL in canonical form already?  A quick look that answers for nearly all.
 *
 * Most URLs on the web are plain: http or https, a name in lower case, a path of ordinary bytes.
 * To see that, a look marks four things in all bytes at once, as bits of words:
 *
 *   odd      bytes that are not the same in a path and in a query of every profile
 *   unhost   bytes that a host of the plain sort has not: it has a-z 0-9 - _ and dots
 *   slash, dot
 *
 * and reasons with these words.  The few odd bytes are then looked at one by one.  A look may say
 * no to a URL that is canonical, never yes to one that is not: who is told no writes the form
 * anew.  Bytes are marked by one kernel for each instruction set; the reasoning is the same. */
#ifndef DJ_PLAIN_H
#define DJ_PLAIN_H
#include "core/url/url.h"

#define DJ_PLAIN_MAX   256 /* bytes: longer URLs are rare, and never plain */
#define DJ_PLAIN_WORDS (DJ_PLAIN_MAX / 64)

struct dj_marks { /* bit i of word w is for byte 64 w + i; none beyond the end */
    uint64_t odd[DJ_PLAIN_WORDS], slash[DJ_PLAIN_WORDS], dot[DJ_PLAIN_WORDS];
    uint64_t unhost; /* of the first 64 bytes */
};

enum dj_plain {
    DJ_PLAIN_NO,
    DJ_PLAIN_YES,    /* its first *len bytes are the canonical form */
    DJ_PLAIN_NO_PATH /* these and a slash are */
};
/* *len is the length of url, and gets smaller where a fragment ends the form. */
typedef enum dj_plain dj_plain_look(const struct deja_url_rules *rules, const char *url,
                                    size_t *len);
/* Many URLs at once, by bytes alone: plain[i] = 1 when URL i is the canonical form as it stands,
 * without an odd byte.  0 leaves it to a look.  NULL: this kernel has nothing faster than a look. */
typedef void dj_plain_glance(const struct deja_url_rules *rules, const deja_slice *url, size_t n,
                             uint8_t *plain);
struct dj_plain_kernel {
    const char *name;
    dj_plain_look *look;
    dj_plain_glance *glance;
};
extern const struct dj_plain_kernel dj_plain_portable, dj_plain_avx2;
/* The fastest one that this processor runs. */
const struct dj_plain_kernel *dj_plain_best(void);

/* The part of the reasoning that needs no marks.  May a URL of these rules, in canonical form,
 * have a host of another sort: an address, or with a port behind it?  May it have the odd byte at
 * `at`? And is the query in order? */
bool dj_plain_host_is_fine(const struct deja_url_rules *rules, const char *url, size_t begin,
                           size_t end);
bool dj_plain_odd_is_fine(const struct deja_url_rules *rules, const char *url, size_t len,
                          size_t at);
bool dj_plain_query_is_fine(const struct deja_url_rules *rules, const char *query, size_t len);

#endif
