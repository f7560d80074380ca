/* layers.c - a URL cut into layers: site, folder, folder, ..., page.
 *
 * The cuts are before the slashes of the path, so that the first i layers together are the
 * beginning that all URLs of that folder share.  Any bytes will do: without :// the first layer
 * ends at the first slash, and from the first ? or # on nothing is cut. */
#include "core/url/parse.h"

/* Behind the slashes of ://, or 0. */
static size_t authority_begin(deja_slice url)
{
    const char *s = url.data;
    const size_t colon = dj_parse_scheme(url);
    return colon && url.len - colon >= 3 && s[colon + 1] == '/' && s[colon + 2] == '/' ? colon + 3
                                                                                       : 0;
}

size_t deja_url_split(deja_slice url, deja_slice *layer, size_t cap)
{
    const char *s = url.data;
    size_t n = 0, begin = 0;
    if (url.len == 0 || cap == 0)
        return 0;
    for (size_t i = authority_begin(url); i < url.len && n + 1 < cap; i++) {
        if (s[i] == '?' || s[i] == '#')
            break;
        if (s[i] != '/')
            continue;
        layer[n++] = (deja_slice){s + begin, i - begin};
        begin = i;
    }
    layer[n++] = (deja_slice){s + begin, url.len - begin};
    return n;
}
