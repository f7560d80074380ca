/* path.c - writes paths: each segment is first written, then checked.
 *
 * Only a decoded segment shows whether it is `.` or `..`: %2e%2E is two dots, and so is `..`
 * followed by a session id that is removed.  So a segment is written, checked, and removed if it
 * is dots; `..` also removes the segment before it.  Slashes in the output only ever separate
 * segments, because %2F stays encoded.  Empty segments are kept. */
#include "core/url/path.h"
#include "core/url/parse.h"

void dj_path_pop(const struct dj_path *p)
{
    struct dj_text *out = p->out;
    while (out->len > p->start && out->at[--out->len] != '/')
        ;
}

/* The number of dots a segment consists of, in either spelling; 0 for any other segment. */
static int dots_in(const char *s, size_t len)
{
    int dots = 0;
    for (size_t i = 0; i < len; i++, dots++) {
        if (s[i] == '.')
            continue;
        if (dots == 2 || dj_percent_triplet(s, len, i) != '.')
            return 0;
        i += 2;
    }
    return dots <= 2 ? dots : 0;
}

static void add_segment(const struct dj_path *p, deja_slice segment, bool last)
{
    struct dj_text *out = p->out;
    const size_t before = out->len;
    dj_text_byte(out, '/');
    const size_t begin = out->len;
    p->spell(out, segment, DJ_SET_PATH);
    if (p->session)
        out->len = begin + dj_params_trim(p->session, out->at + begin, out->len - begin);
    const int dots = dots_in(out->at + begin, out->len - begin);
    if (dots == 0)
        return;
    out->len = before;
    if (dots == 2)
        dj_path_pop(p);
    if (last) /* dots at the end lead to a folder */
        dj_text_byte(out, '/');
}

static size_t segment_len(deja_slice path, bool special)
{
    const char *s = path.data;
    size_t i = 0;
    while (i < path.len && s[i] != '/' && !(special && s[i] == '\\'))
        i++;
    return i;
}

void dj_path_add(const struct dj_path *p, deja_slice path)
{
    if (path.len && segment_len(path, p->special) == 0)
        path = dj_slice_from(path, 1);
    for (bool last = false; !last;) {
        const size_t len = segment_len(path, p->special);
        last = len == path.len;
        add_segment(p, dj_slice_upto(path, len), last);
        path = dj_slice_from(path, last ? len : len + 1);
    }
}
