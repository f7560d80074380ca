/* path.c - paths: every segment is written first, then judged.
 *
 * Whether a segment is `.` or `..` shows only when it is spelled: %2e%2E is two dots, and so is
 * `..` with a session id behind it once that is gone.  So a segment is put down, looked at, and
 * taken back when it was dots; `..` takes the one before it back as well.  Slashes in the text are
 * then always those between segments, as %2F stays what it is, and empty segments stay too. */
#include "core/url/path.h"
#include "core/url/parse.h"

void dj_path_pop(const struct dj_path *p)
{
    struct dj_text *out = p->out;
    while (out->len > p->start && out->at[--out->len] != '/')
        ;
}

/* How many dots a segment consists of, in either spelling; 0 when it is another one. */
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
    if (last) /* what dots lead to is a folder */
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
