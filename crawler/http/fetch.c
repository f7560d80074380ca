/* fetch.c - runs many concurrent downloads, over HTTP/1.1 and 2.
 *
 * One thread uses libcurl's multi interface, which keeps connections open, uses HTTP/2 if the
 * server does (over TLS), and delivers bytes as they arrive.  This file adds features for
 * crawlers:
 *
 *   - redirects are responses and are not followed: their targets are URLs like any other;
 *   - no login: URLs have no credentials, and those of a proxy stay out of the archive;
 *   - on request, no connection to a private address, whatever its name (netaddr.h);
 *   - bodies are archived as they were sent, compressed or not;
 *   - the request's header is archived as it was really sent;
 *   - cookies, shared by all downloads of a run: some sites redirect clients without one in a
 *     circle.  They are discarded at the end;
 *   - everything has a limit: bytes, time, silence, and the size of a header. */
#include "crawler/http/fetch.h"
#include "crawler/http/hostkey.h"
#include "crawler/http/netaddr.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <curl/curl.h>
#include <stdio.h>

#define HEAD_MAX   ((size_t)256 * 1024)
#define STALL_RATE 10L       /* bytes per second */
#define KEEP_BODY  (1 << 20) /* memory that a finished download keeps for the next, at most */

struct fetcher {
    struct fetch_options o;
    CURLM *multi;
    CURLSH *share; /* cookies */
    size_t in_flight;
    struct fetch *idle, *finished;
    struct fetch *all; /* in every state */
};

bool fetch_fault_passes(int fault)
{
    return fault == FETCH_NAME || fault == FETCH_CONNECT || fault == FETCH_TIMEOUT ||
           fault == FETCH_CUT || fault == FETCH_OTHER;
}

static int fault_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return FETCH_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_URL_MALFORMAT:
        return FETCH_NAME;
    case CURLE_COULDNT_CONNECT:
        return FETCH_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return FETCH_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        return FETCH_TIMEOUT;
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2_STREAM:
        return FETCH_CUT;
    case CURLE_HTTP2:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_LOGIN_DENIED: /* credentials in the URL */
        return FETCH_PROTOCOL;
    default:
        return FETCH_OTHER;
    }
}

/* --- Receiving -------------------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *download)
{
    struct fetch *d = download;
    const size_t len = size * n, room = d->max_bytes - d->body.len;
    const size_t taken = len < room ? len : room;
    d->truncated = taken < len;
    if (!buffer_add(&d->body, data, taken))
        return 0;
    return taken; /* less than len ends the download */
}

static size_t take_head(char *data, size_t size, size_t n, void *download)
{
    struct fetch *d = download;
    const size_t len = size * n;
    /* Another status line: the previous one was "100 Continue". */
    if (ascii_begins((deja_slice){data, len}, "http/")) {
        d->head.len = 0;
        d->whole_head = false;
    }
    d->whole_head |= len <= 2 && ascii_trim((deja_slice){data, len}).len == 0;
    d->bad_head = len > HEAD_MAX - d->head.len;
    return !d->bad_head && buffer_add(&d->head, data, len) ? len : 0;
}

/* Remove the lines that start with name. */
static void drop_fields(struct buffer *head, const char *name)
{
    for (size_t at = 0, len; at < head->len; at += len) {
        char *line = head->data + at;
        const char *stop = memchr(line, '\n', head->len - at);
        len = stop ? (size_t)(stop + 1 - line) : head->len - at;
        if (!ascii_begins((deja_slice){line, len}, name))
            continue;
        memmove(line, line + len, head->len - at - len);
        head->len -= len;
        len = 0; /* the next line has moved here */
    }
}

/* From libcurl's log, keep only the requests that it sends. */
static int take_log(CURL *easy, curl_infotype type, char *data, size_t len, void *download)
{
    struct fetch *d = download;
    (void)easy;
    if (type != CURLINFO_HEADER_OUT)
        return 0;
    if (d->request.len >= 4 && memcmp(d->request.data + d->request.len - 4, "\r\n\r\n", 4) == 0)
        d->request.len = 0; /* sent again, over a new connection */
    if (buffer_add(&d->request, data, len))
        drop_fields(&d->request, "proxy-authorization:");
    return 0;
}

/* Checks the address of the connection itself, so it does not matter who resolved the name, or
 * when.  If it is rejected, libcurl tries the host's next address. */
static curl_socket_t open_socket(void *download, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct fetch *d = download;
    (void)purpose;
    if (d->only_public && !netaddr_is_public(&a->addr)) {
        d->met_private = true;
        return CURL_SOCKET_BAD;
    }
    return sys_socket(a->family, a->socktype, a->protocol);
}

/* --- Starting ----------------------------------------------------------------------- */

int fetcher_new(const struct fetch_options *o, fetcher **out, deja_error *err)
{
    fetcher *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(f);
        return fail(err, DEJA_ENOMEM, "out of memory for the downloader");
    }
    f->o = *o;
    f->multi = curl_multi_init();
    f->share = curl_share_init();
    if (!f->multi || !f->share) {
        fetcher_free(f);
        return fail(err, DEJA_ENOMEM, "out of memory for the downloader");
    }
    (void)curl_multi_setopt(f->multi, CURLMOPT_MAXCONNECTS, (long)o->connections);
    (void)curl_share_setopt(f->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    *out = f;
    return DEJA_OK;
}

static void free_download(struct fetch *d)
{
    curl_slist_free_all(d->fields);
    curl_easy_cleanup(d->easy);
    buffer_fini(&d->request);
    buffer_fini(&d->head);
    buffer_fini(&d->body);
    free(d);
}

static struct fetch *new_download(fetcher *f)
{
    struct fetch *d = f->idle;
    if (d) {
        f->idle = d->next;
    } else {
        d = calloc(1, sizeof *d);
        if (!d || !(d->easy = curl_easy_init())) {
            free(d);
            return NULL;
        }
        /* Enable cookies, without a file.  Set only once, because this setting leaks when the
         * handle is reset.  So the handle is never reset; set_options sets everything that
         * differs. */
        (void)curl_easy_setopt(d->easy, CURLOPT_COOKIEFILE, "");
        d->also = f->all;
        f->all = d;
    }
    d->owner = f;
    d->next = NULL;
    return d;
}

void fetch_release(fetcher *f, struct fetch *d)
{
    (void)curl_easy_setopt(d->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(d->fields);
    if (d->body.cap > KEEP_BODY)
        buffer_fini(&d->body);
    struct buffer request = d->request, head = d->head, body = d->body;
    request.len = head.len = body.len = 0;
    *d = (struct fetch){.easy = d->easy,
                        .request = request,
                        .head = head,
                        .body = body,
                        .also = d->also,
                        .next = f->idle};
    f->idle = d;
}

/* Add a line to the request.  A value with a line break could inject another field, so it is not
 * sent. */
static bool add_field(struct fetch *d, const char *name, const char *value)
{
    char line[1024];
    const int len = snprintf(line, sizeof line, "%s: %s", name, value);
    if (len < 0 || (size_t)len >= sizeof line || strpbrk(line, "\r\n"))
        return true; /* not sent */
    struct curl_slist *longer = curl_slist_append(d->fields, line);
    if (!longer)
        return false;
    d->fields = longer;
    return true;
}

static bool add_fields(struct fetch *d, const struct fetch_request *r)
{
    return add_field(d, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8") &&
           add_field(d, "Accept-Encoding", "gzip, deflate") &&
           (!r->etag || !r->etag[0] || add_field(d, "If-None-Match", r->etag)) &&
           (!r->modified || !r->modified[0] || add_field(d, "If-Modified-Since", r->modified));
}

static long milliseconds(double seconds)
{
    return seconds < 1e6 ? (long)(seconds * 1000 + 0.5) : 1000000000L;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0];
}

/* A proxy resolves names itself, and may have a private address.  So requests that must go to
 * public addresses ignore no_proxy, and behind a proxy only addresses that are literal in the URL
 * are checked. */
static void choose_way(struct fetch *d, const struct fetch_request *r)
{
    const deja_slice url = ascii_slice(r->url);
    const bool tls = ascii_begins(url, "https:");
    const bool proxy =
        is_set("all_proxy") || is_set("ALL_PROXY") ||
        (tls ? is_set("https_proxy") || is_set("HTTPS_PROXY") : is_set("http_proxy"));
    struct buffer host = {0};
    const bool known = hostkey_name(url, &host) == DEJA_OK && buffer_add(&host, "", 1);
    const bool direct = !known || netaddr_text_is_private(host.data);
    buffer_fini(&host);
    d->only_public = r->only_public && (!proxy || direct);
    (void)curl_easy_setopt(d->easy, CURLOPT_NOPROXY, r->only_public ? "" : NULL);
    (void)curl_easy_setopt(d->easy, CURLOPT_PROXY, r->only_public && direct ? "" : NULL);
}

static bool set_options(struct fetch *d, const struct fetch_request *r)
{
    const struct fetch_options *o = &d->owner->o;
    CURL *e = d->easy;
    const bool ok = curl_easy_setopt(e, CURLOPT_URL, r->url) == CURLE_OK &&
                    curl_easy_setopt(e, CURLOPT_USERAGENT, o->user_agent) == CURLE_OK &&
                    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
                    (!o->ca_file || curl_easy_setopt(e, CURLOPT_CAINFO, o->ca_file) == CURLE_OK);
    (void)curl_easy_setopt(e, CURLOPT_SHARE, d->owner->share);
    (void)curl_easy_setopt(e, CURLOPT_HTTPHEADER, d->fields);
    (void)curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L); /* our canonical form, not curl's */
    (void)curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(e, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    (void)curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, d);
    choose_way(d, r);
    (void)curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, milliseconds(o->timeout));
    (void)curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(o->connect_timeout));
    (void)curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, STALL_RATE);
    (void)curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)(o->stall + 0.5));
    (void)curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(e, CURLOPT_WRITEDATA, d);
    (void)curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_head);
    (void)curl_easy_setopt(e, CURLOPT_HEADERDATA, d);
    (void)curl_easy_setopt(e, CURLOPT_VERBOSE, 1L);
    (void)curl_easy_setopt(e, CURLOPT_DEBUGFUNCTION, take_log);
    (void)curl_easy_setopt(e, CURLOPT_DEBUGDATA, d);
    (void)curl_easy_setopt(e, CURLOPT_PRIVATE, d);
    return ok;
}

int fetch_start(fetcher *f, const struct fetch_request *r, void *tag, deja_error *err)
{
    struct fetch *d = new_download(f);
    if (!d)
        return fail(err, DEJA_ENOMEM, "out of memory for a download");
    d->tag = tag;
    d->when = time(NULL);
    d->max_bytes = r->max_bytes ? r->max_bytes : f->o.max_bytes;
    if (!add_fields(d, r) || !set_options(d, r) ||
        curl_multi_add_handle(f->multi, d->easy) != CURLM_OK) {
        fetch_release(f, d);
        return fail(err, DEJA_ENOMEM, "out of memory for a download");
    }
    f->in_flight++;
    return DEJA_OK;
}

size_t fetch_in_flight(const fetcher *f)
{
    return f->in_flight;
}

void fetcher_free(fetcher *f)
{
    if (!f)
        return;
    for (struct fetch *d = f->all, *also; d; d = also) {
        also = d->also;
        (void)curl_multi_remove_handle(f->multi, d->easy);
        free_download(d);
    }
    (void)curl_multi_cleanup(f->multi);
    (void)curl_share_cleanup(f->share);
    curl_global_cleanup();
    free(f);
}

/* --- Finishing ------------------------------------------------------------------------ */

/* Judges a finished download.  One that was ended on purpose counts as a response, truncated. */
static void judge(struct fetch *d, CURLcode code)
{
    long status = 0, version = 0;
    char *ip = NULL;
    (void)curl_easy_getinfo(d->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(d->easy, CURLINFO_HTTP_VERSION, &version);
    (void)curl_easy_getinfo(d->easy, CURLINFO_PRIMARY_IP, &ip);
    d->status = (int)status;
    d->http2 = version == CURL_HTTP_VERSION_2_0;
    snprintf(d->ip, sizeof d->ip, "%s", ip ? ip : "");
    d->fault = fault_of(code);
    if (d->truncated && code == CURLE_WRITE_ERROR)
        d->fault = FETCH_OK;
    else if (d->bad_head)
        d->fault = FETCH_PROTOCOL;
    else if (d->fault == FETCH_CONNECT && d->met_private)
        d->fault = FETCH_PRIVATE;
    else if (d->fault == FETCH_OK && (status < 200 || status > 599))
        d->fault = FETCH_PROTOCOL;
    else if (d->fault == FETCH_OK && !d->whole_head)
        d->fault = FETCH_CUT; /* libcurl accepts a connection that ends there */
}

static void collect(fetcher *f)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(f->multi, &left))) {
        char *private = NULL;
        CURL *easy = message->easy_handle;
        const CURLcode code = message->data.result;
        (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
        struct fetch *d = (struct fetch *)(void *)private;
        judge(d, code);
        (void)curl_multi_remove_handle(f->multi, easy);
        d->next = f->finished;
        f->finished = d;
        f->in_flight--;
    }
}

int fetch_wait(fetcher *f, double seconds, deja_error *err)
{
    int running;
    CURLMcode code = curl_multi_perform(f->multi, &running);
    if (code == CURLM_OK) {
        collect(f);
        if (f->finished || seconds <= 0)
            return DEJA_OK;
        code = curl_multi_poll(f->multi, NULL, 0, (int)milliseconds(seconds), NULL);
    }
    if (code == CURLM_OK)
        code = curl_multi_perform(f->multi, &running);
    if (code != CURLM_OK)
        return fail(err, code == CURLM_OUT_OF_MEMORY ? DEJA_ENOMEM : DEJA_EIO, "libcurl: %s",
                    curl_multi_strerror(code));
    collect(f);
    return DEJA_OK;
}

struct fetch *fetch_next(fetcher *f)
{
    struct fetch *d = f->finished;
    if (d)
        f->finished = d->next;
    return d;
}
