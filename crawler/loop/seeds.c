/* seeds.c - where a crawl begins: URLs that the user gave, in this run or before, as lines of one
 * text in the queue; and the scope, which they span (scope.c). */
#include "crawler/http/hostkey.h"
#include "crawler/http/netaddr.h"
#include "crawler/loop/crawler.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <unistd.h>

static bool has_line(const struct buffer *all, deja_slice line)
{
    const char *at = all->len ? all->data : "", *end = at + all->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if ((size_t)(stop - at) == line.len && memcmp(at, line.data, line.len) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

/* Each line is a URL that can be fetched. */
static int read_seeds(struct crawler *c, struct buffer *all, deja_error *err)
{
    int rc = frontier_get_blob(c->queue, "seeds", all, NULL, err);
    const char *at = all->len ? all->data : "", *end = at + all->len;
    while (rc == DEJA_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const deja_slice seed = ascii_between(at, stop ? stop : at);
        deja_slice canon;
        rc = scope_is_web(seed) ? offer_canon(c, seed, &canon) : DEJA_ENOTURL;
        at += seed.len + 1;
    }
    if (rc == DEJA_ENOMEM)
        return fail(err, rc, "no memory for the seeds");
    return rc == DEJA_ENOTURL || rc == DEJA_ENOTSUP
               ? frontier_damaged(c->queue, "its setting 'seeds'", err)
               : rc;
}

typedef int seed_take(struct crawler *c, deja_slice seed, deja_error *err);

static int each_seed(struct crawler *c, seed_take *take, deja_error *err)
{
    struct buffer all = {0};
    int rc = read_seeds(c, &all, err);
    const char *at = all.len ? all.data : "", *end = at + all.len;
    while (rc == DEJA_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        rc = take(c, ascii_between(at, stop), err);
        at = stop + 1;
    }
    buffer_fini(&all);
    return rc;
}

/* --- What the user gives ------------------------------------------------------------ */

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "no memory for the seeds");
}

/* example.org, localhost:8000, [::1]/docs: a host with a dot or a port, and no scheme. */
static bool looks_like_host(const char *text)
{
    const size_t host = strcspn(text, ":/?#"), bracket = text[0] == '[' ? strcspn(text, "]") : 0;
    if (host == 0 || strpbrk(text, " \t\r\n@\\") || strstr(text, "://"))
        return false;
    if (bracket > 0)
        return text[bracket] == ']';
    const bool port = text[host] == ':' && ascii_is_digit(text[host + 1]);
    return port ||
           (text[host] != ':' && (memchr(text, '.', host) || strcmp(text, "localhost") == 0));
}

/* Stores what the user probably means as a URL, or fails and says what to type. */
static int read_seed(const char *text, struct buffer *url, deja_error *err)
{
    if (scope_is_web(ascii_slice(text)))
        return buffer_text(url, text) ? DEJA_OK : no_memory(err);
    if (access(text, F_OK) == 0)
        return fail(err, DEJA_EINVAL,
                    "'%s' is a file, not a URL; to start from the URLs in a file: "
                    "xargs deja crawl --out DIR <FILE",
                    fail_path(text).text);
    if (!looks_like_host(text))
        return fail(err, DEJA_EINVAL,
                    "'%.150s' is not an http or https URL; type it in full, such as "
                    "https://example.org/",
                    text);
    return buffer_text(url, "http://") && buffer_text(url, text) ? DEJA_OK : no_memory(err);
}

/* The message must not show the password. */
static int has_credentials(deja_slice clean, deja_error *err)
{
    return fail(err, DEJA_EINVAL,
                "a URL has a user name or password in it, and deja crawl does not log in; "
                "give %.*s instead",
                clean.len < 150 ? (int)clean.len : 150, (const char *)clean.data);
}

static int add_seed(struct crawler *c, const char *text, struct buffer *all, deja_error *err)
{
    struct buffer url = {0};
    deja_slice canon;
    int rc = read_seed(text, &url, err);
    if (rc < 0) {
        buffer_fini(&url);
        return rc;
    }
    rc = offer_canon(c, buffer_slice(&url), &canon);
    if (rc < 0 && rc != DEJA_ENOMEM)
        rc = fail(err, DEJA_EINVAL, "'%.150s' is not an http or https URL", text);
    else if (rc == DEJA_OK && hostkey_has_credentials(buffer_slice(&url)))
        rc = has_credentials(canon, err);
    else if (rc == DEJA_ENOMEM ||
             (!has_line(all, canon) &&
              !(buffer_add(all, canon.data, canon.len) && buffer_text(all, "\n"))))
        rc = no_memory(err);
    else if (!scope_is_web(ascii_slice(text)) && c->o->talk.read_as)
        c->o->talk.read_as(c->o->talk.ctx, text, canon);
    buffer_fini(&url);
    return rc;
}

int seeds_store(struct crawler *c, deja_error *err)
{
    struct buffer all = {0};
    int rc = read_seeds(c, &all, err);
    for (size_t i = 0; i < c->o->n_seeds && rc == DEJA_OK; i++)
        rc = add_seed(c, c->o->seed[i], &all, err);
    if (rc == DEJA_OK && all.len == 0)
        rc = fail(err, DEJA_EINVAL, "%s has no crawl yet: give it a URL to begin with",
                  fail_path(c->o->dir).text);
    if (rc == DEJA_OK)
        rc = frontier_set_blob(c->queue, "seeds", buffer_slice(&all), err);
    buffer_fini(&all);
    return rc;
}

/* --- What they are for --------------------------------------------------------------- */

/* A seed names an address if it spells it out or is localhost.  Any other name leads wherever its
 * owner decides, which may be 127.0.0.1. */
static bool names_address(deja_slice host_and_port)
{
    static const char local[] = ".localhost";
    char host[80];
    const char *p = host_and_port.data, *colon = memrchr(p, ':', host_and_port.len);
    const size_t len = (size_t)(colon - p), tail = sizeof local - 1;
    if (len >= sizeof host)
        return false;
    memcpy(host, p, len);
    host[len] = '\0';
    return strcmp(host, local + 1) == 0 || (len > tail && strcmp(host + len - tail, local) == 0) ||
           netaddr_text_is_private(host);
}

/* Seeds that deja 0.1 stored may have credentials. */
static int mark_scope(struct crawler *c, deja_slice seed, deja_error *err)
{
    struct buffer name = {0};
    deja_slice canon;
    int rc = offer_canon(c, seed, &canon);
    if (rc == DEJA_OK)
        rc = scope_add(c->scope, canon);
    if (rc == DEJA_OK)
        rc = hostkey_name_and_port(canon, &name);
    if (rc == DEJA_OK && names_address(buffer_slice(&name)) &&
        !(buffer_add(&c->named, name.data, name.len) && buffer_text(&c->named, "\n")))
        rc = DEJA_ENOMEM;
    buffer_fini(&name);
    return rc == DEJA_ENOMEM ? fail(err, rc, "no memory for the scope") : DEJA_OK;
}

int seeds_want_public(const struct crawler *c, deja_slice url, bool *want, deja_error *err)
{
    const struct crawl_options *o = c->o;
    struct buffer name = {0};
    *want = (o->scope == SCOPE_ANY || o->scope == SCOPE_REGEX) && !o->allow_private.on;
    if (!*want || c->named.len == 0)
        return DEJA_OK;
    const int rc = hostkey_name_and_port(url, &name);
    *want = rc < 0 || !has_line(&c->named, buffer_slice(&name));
    buffer_fini(&name);
    return rc == DEJA_ENOMEM ? fail(err, rc, "no memory for a request") : DEJA_OK;
}

int seeds_open_scope(struct crawler *c, deja_error *err)
{
    const struct crawl_options *o = c->o;
    const bool excludes = o->exclude && o->exclude[0];
    if (o->scope == SCOPE_REGEX && !o->match)
        return fail(err, DEJA_EINVAL, "--scope regex needs --match ERE");
    const int rc = scope_new(o->scope, o->match, excludes ? o->exclude : NULL, &c->scope, err);
    return rc == DEJA_OK ? each_seed(c, mark_scope, err) : rc;
}

static int queue_seed(struct crawler *c, deja_slice seed, deja_error *err)
{
    offer_begin(c, 0, 0, false);
    const int rc = offer_url(c, seed, err);
    return rc == DEJA_OK ? offer_end(c, err) : rc;
}

int seeds_queue(struct crawler *c, deja_error *err)
{
    return each_seed(c, queue_seed, err);
}
