/* seeds.c - handles the start URLs that the user gave, now or in an earlier run, and the scope
 * that they define (scope.c).  The URLs are stored in the queue as lines of one text. */
#include "crawler/http/hostkey.h"
#include "crawler/http/netaddr.h"
#include "crawler/loop/crawler.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <unistd.h>

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for the seeds");
}

/* The line that starts at *at, which moves to the next; false after the last. */
static bool next_line(const struct buffer *all, size_t *at, deja_slice *line)
{
    if (*at >= all->len)
        return false;
    const char *from = all->data + *at, *stop = memchr(from, '\n', all->len - *at);
    *line = ascii_between(from, stop ? stop : from); /* without its end: empty, so not a URL */
    *at += line->len + 1;
    return true;
}

static bool has_line(const struct buffer *all, deja_slice wanted)
{
    deja_slice line;
    for (size_t at = 0; next_line(all, &at, &line);)
        if (ascii_compare(line, wanted) == 0)
            return true;
    return false;
}

static bool add_line(struct buffer *all, deja_slice line)
{
    return buffer_add(all, line.data, line.len) && buffer_text(all, "\n");
}

/* Reads the seeds; each line must be a URL that can be fetched. */
static int read_seeds(struct crawler *c, struct buffer *all, deja_error *err)
{
    deja_slice seed, canon;
    int rc = frontier_get_blob(c->queue, "seeds", all, NULL, err);
    for (size_t at = 0; rc == DEJA_OK && next_line(all, &at, &seed);)
        rc = scope_is_web(seed) ? offer_canon(c, seed, &canon) : DEJA_ENOTURL;
    if (rc == DEJA_ENOMEM)
        return no_memory(err);
    return rc == DEJA_ENOTURL || rc == DEJA_ENOTSUP
               ? frontier_damaged(c->queue, "its setting 'seeds'", err)
               : rc;
}

typedef int seed_take(struct crawler *c, deja_slice seed, deja_error *err);

static int each_seed(struct crawler *c, seed_take *take, deja_error *err)
{
    struct buffer all = {0};
    deja_slice seed;
    int rc = read_seeds(c, &all, err);
    for (size_t at = 0; rc == DEJA_OK && next_line(&all, &at, &seed);)
        rc = take(c, seed, err);
    buffer_fini(&all);
    return rc;
}

/* --- Given seeds ---------------------------------------------------------------------- */

/* Whether the text is a host with a dot or a port, without a scheme: example.org, localhost:8000,
 * [::1]/docs. */
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

/* Stores the URL that the user probably means, or fails with advice. */
static int read_seed(const char *text, struct buffer *url, deja_error *err)
{
    if (scope_is_web(ascii_slice(text)))
        return buffer_text(url, text) ? DEJA_OK : no_memory(err);
    if (access(text, F_OK) == 0)
        return fail(err, DEJA_EINVAL,
                    "'%s' is a file, not a URL; to start from the URLs in a file: "
                    "xargs deja crawl -o DIR <FILE",
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
                "a URL contains a user name or password, but deja crawl does not log in; "
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
    else if (rc == DEJA_ENOMEM || (!has_line(all, canon) && !add_line(all, canon)))
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
        rc = folder_no_crawl(c, err);
    if (rc == DEJA_OK)
        rc = frontier_set_blob(c->queue, "seeds", buffer_slice(&all), err);
    buffer_fini(&all);
    return rc;
}

/* --- Scope and addresses ------------------------------------------------------------- */

/* A seed names an address if its host is an address or localhost.  The owner of any other name
 * decides which address it has, perhaps 127.0.0.1. */
static bool names_address(deja_slice host_and_port)
{
    static const char local[] = ".localhost";
    char host[80];
    const char *p = host_and_port.data, *colon = sys_find_last(p, ':', host_and_port.len);
    const size_t len = (size_t)(colon - p), tail = sizeof local - 1;
    if (len >= sizeof host)
        return false;
    memcpy(host, p, len);
    host[len] = '\0';
    return strcmp(host, local + 1) == 0 || (len > tail && strcmp(host + len - tail, local) == 0) ||
           netaddr_text_is_private(host);
}

/* Seeds stored by deja 0.1 may have credentials. */
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
        !add_line(&c->named, buffer_slice(&name)))
        rc = DEJA_ENOMEM;
    buffer_fini(&name);
    return rc == DEJA_ENOMEM ? fail(err, rc, "out of memory for the scope") : DEJA_OK;
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
    return rc == DEJA_ENOMEM ? fail(err, rc, "out of memory for a request") : DEJA_OK;
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
    return offer_one(c, (struct link){.url = seed}, err);
}

int seeds_queue(struct crawler *c, deja_error *err)
{
    return each_seed(c, queue_seed, err);
}
