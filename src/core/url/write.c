/* write.c - assemble a URL from its parts, in the order of the standard's serializer. */
#include "core/url/write.h"
#include "core/base/letters.h"
#include "core/url/host.h"
#include <stdio.h>

static void put_scheme(struct dj_text *out, deja_slice scheme)
{
    const char *s = scheme.data;
    for (size_t i = 0; i < scheme.len; i++)
        dj_text_byte(out, dj_lower(s[i]));
    dj_text_byte(out, ':');
}

/* Empty credentials are omitted: http://@host/ and http://:@host/ are http://host/. */
static void put_credentials(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell)
{
    if (u->username.len == 0 && u->password.len == 0)
        return;
    spell(out, u->username, DJ_SET_USERINFO);
    if (u->password.len) {
        dj_text_byte(out, ':');
        spell(out, u->password, DJ_SET_USERINFO);
    }
    dj_text_byte(out, '@');
}

static void put_port(struct dj_text *out, int port)
{
    char digits[16];
    if (port == DJ_NO_PORT)
        return;
    const int len = snprintf(digits, sizeof digits, ":%d", port);
    dj_text_bytes(out, digits, (size_t)len);
}

int dj_write_origin(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell,
                    uint32_t version)
{
    put_scheme(out, u->scheme);
    if (!u->has_host)
        return DEJA_OK;
    dj_text_bytes(out, "//", 2);
    put_credentials(out, u, spell);
    const int rc = u->special ? dj_host_write(out, u->host, version)
                              : dj_host_write_opaque(out, u->host, spell);
    put_port(out, u->port);
    return rc;
}

/* Without an authority, a path must not start with two slashes, or the parser would read an
 * authority.  So foo:/.//host stays foo:/.//host. */
static void guard_slashes(const struct dj_path *p)
{
    struct dj_text *out = p->out;
    if (out->len - p->start < 2 || memcmp(out->at + p->start, "//", 2) != 0)
        return;
    dj_text_bytes(out, "//", 2); /* make room for two more bytes */
    if (out->short_of_room)
        return;
    memmove(out->at + p->start + 2, out->at + p->start, out->len - p->start - 2);
    memcpy(out->at + p->start, "/.", 2);
}

void dj_write_path(struct dj_path *p, const struct dj_url *u, const struct dj_url *base)
{
    p->start = p->out->len;
    if (u->opaque) {
        p->spell(p->out, u->path, DJ_SET_OPAQUE);
        return;
    }
    if (base && base->path.len) {
        dj_path_add(p, base->path);
        dj_path_pop(p);
    }
    if (u->special || u->path.len)
        dj_path_add(p, u->path);
    if (!u->has_host)
        guard_slashes(p);
}

void dj_write_query(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell)
{
    if (!u->has_query)
        return;
    dj_text_byte(out, '?');
    spell(out, u->query, u->special ? DJ_SET_SPECIAL_QUERY : DJ_SET_QUERY);
}
