/* test_fetch.c - downloads from a server that sends canned bytes and misbehaves.
 *
 * One thread accepts connections and starts another for each, which answers from a table.  HTTP/2
 * and certificates need a real server: crawler.nginx. */
#include "crawler/http/fetch.h"
#include "crawler/http/httphead.h"
#include "tools/base/ascii.h"
#include "unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- The server ------------------------------------------------------------------- */

enum then {
    STAYS,
    CLOSES,
    HANGS /* until the client gives up */
};

static const struct canned {
    const char *path, *answer;
    enum then then;
} table[] = {
    {"/ok", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello", STAYS},
    {"/cookie", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=b; Path=/\r\n\r\n", STAYS},
    {"/continue", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", STAYS},
    {"/to", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /ok\r\n\r\n", STAYS},
    {"/chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
     STAYS},
    {"/cut-chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc", CLOSES},
    {"/too-long", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc", CLOSES},
    {"/too-short", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", CLOSES},
    {"/until-the-end", "HTTP/1.0 200 OK\r\n\r\nabc", CLOSES},
    {"/nothing", "", CLOSES},
    {"/half-a-head", "HTTP/1.1 200 OK\r\nContent-Le", CLOSES},
    {"/garbage", "\001\002\003\r\n\r\n", CLOSES},
    {"/status", "HTTP/1.1 999 What\r\nContent-Length: 0\r\n\r\n", CLOSES},
    {"/silent", "", HANGS},
    {"/stops", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nabc", HANGS},
    {"/coded", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
     STAYS},
    {"/missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", STAYS},
};

#define CONNECTIONS 64
static struct {
    int fd;
    uint16_t port;
    pthread_t thread, connection[CONNECTIONS];
    size_t n;
} server;

static bool send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* Sends an endless head or body until the client disconnects. */
static void send_without_end(int fd, const char *head, const char *line)
{
    bool there = send_all(fd, head, strlen(head));
    while (there)
        there = send_all(fd, line, strlen(line));
}

static enum then answer(int fd, const char *request)
{
    char path[100];
    if (sscanf(request, "GET %99s ", path) != 1)
        return CLOSES;
    if (strcmp(path, "/endless-head") == 0)
        send_without_end(fd, "HTTP/1.1 200 OK\r\n", "X-Field: with some value\r\n");
    if (strcmp(path, "/endless") == 0)
        send_without_end(fd, "HTTP/1.1 200 OK\r\n\r\n", "0123456789");
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(path, table[i].path) == 0 ||
            (i == 0 && strcmp(path, "http://proxied.invalid/ok") == 0))
            return send_all(fd, table[i].answer, strlen(table[i].answer)) ? table[i].then : CLOSES;
    return CLOSES;
}

static void *serve_connection(void *arg)
{
    const int fd = (int)(intptr_t)arg;
    char text[8192];
    size_t len = 0;
    enum then then = STAYS;
    while (then == STAYS) {
        const ssize_t n = recv(fd, text + len, sizeof text - 1 - len, 0);
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        if (!strstr(text, "\r\n\r\n"))
            continue; /* also for bytes of TLS, until the client gives up */
        then = answer(fd, text);
        len = 0;
    }
    while (then == HANGS && recv(fd, text, sizeof text, 0) > 0)
        ;
    (void)close(fd);
    return NULL;
}

static void *serve(void *arg)
{
    int fd;
    (void)arg;
    while ((fd = accept(server.fd, NULL, NULL)) >= 0 && server.n < CONNECTIONS)
        if (pthread_create(&server.connection[server.n], NULL, serve_connection,
                           (void *)(intptr_t)fd) == 0)
            server.n++;
    return NULL;
}

static int begin_server(void **state)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    (void)state;
    server.fd = socket(AF_INET, SOCK_STREAM, 0);
    if (server.fd < 0 || bind(server.fd, (struct sockaddr *)&at, len) != 0 ||
        listen(server.fd, 64) != 0 || getsockname(server.fd, (struct sockaddr *)&at, &len) != 0)
        return -1;
    server.port = ntohs(at.sin_port);
    server.n = 0;
    return pthread_create(&server.thread, NULL, serve, NULL);
}

/* Connections end once the clients are gone. */
static int end_server(void **state)
{
    (void)state;
    (void)shutdown(server.fd, SHUT_RDWR);
    (void)pthread_join(server.thread, NULL);
    for (size_t i = 0; i < server.n; i++)
        (void)pthread_join(server.connection[i], NULL);
    return close(server.fd);
}

/* --- Downloads ---------------------------------------------------------------------- */

static const struct fetch_options usual = {.user_agent = "deja/test",
                                           .max_bytes = 1000,
                                           .timeout = 300,
                                           .connect_timeout = 300,
                                           .stall = 30,
                                           .connections = 8};

static fetcher *new_fetcher(const struct fetch_options *o)
{
    fetcher *f;
    deja_error err;
    assert_int_equal(fetcher_new(o, &f, &err), DEJA_OK);
    return f;
}

static void start_url(fetcher *f, struct fetch_request r, const char *scheme, const char *path,
                      void *tag)
{
    char url[200];
    deja_error err;
    snprintf(url, sizeof url, "%s://127.0.0.1:%u%s", scheme, (unsigned)server.port, path);
    r.url = url;
    assert_int_equal(fetch_start(f, &r, tag, &err), DEJA_OK);
}

static struct fetch *wait_for(fetcher *f)
{
    struct fetch *d;
    deja_error err;
    while (!(d = fetch_next(f)))
        assert_int_equal(fetch_wait(f, 0.1, &err), DEJA_OK);
    return d;
}

static struct fetch *get_with(fetcher *f, struct fetch_request r, const char *path)
{
    start_url(f, r, "http", path, NULL);
    return wait_for(f);
}

static struct fetch *get(fetcher *f, const char *path)
{
    return get_with(f, (struct fetch_request){0}, path);
}

static void body_is(const struct fetch *d, const char *want)
{
    assert_int_equal(d->body.len, strlen(want));
    assert_memory_equal(d->body.data, want, d->body.len);
}

static bool request_has(const struct fetch *d, const char *text)
{
    return memmem(d->request.data, d->request.len, text, strlen(text));
}

/* The fault of one download by a new fetcher. */
static int fault_with(const struct fetch_options *o, const char *scheme, const char *path)
{
    fetcher *f = new_fetcher(o);
    start_url(f, (struct fetch_request){0}, scheme, path, NULL);
    struct fetch *d = wait_for(f);
    const int fault = d->fault;
    fetch_release(f, d);
    fetcher_free(f);
    return fault;
}

static void fault_is(const char *path, int want)
{
    assert_int_equal(fault_with(&usual, "http", path), want);
}

/* --- Answers ------------------------------------------------------------------------ */

static void a_response_is_returned_as_it_was_sent(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/ok");
    assert_int_equal(d->fault, FETCH_OK);
    assert_int_equal(d->status, 200);
    assert_string_equal(d->ip, "127.0.0.1");
    assert_false(d->truncated || d->http2);
    body_is(d, "hello");
    assert_int_equal(d->head.len, strlen(table[0].answer) - 5);
    assert_memory_equal(d->head.data, table[0].answer, d->head.len);
    assert_true(request_has(d, "GET /ok HTTP/1.1\r\n"));
    assert_true(request_has(d, "User-Agent: deja/test\r\n"));
    assert_true(request_has(d, "Accept-Encoding: gzip, deflate\r\n"));
    fetch_release(f, d);
    d = get(f, "/missing");
    assert_int_equal(d->fault, FETCH_OK);
    assert_int_equal(d->status, 404);
    body_is(d, "gone");
    fetch_release(f, d);
    assert_int_equal(fetch_in_flight(f), 0);
    fetcher_free(f);
}

static void a_compressed_body_is_not_decoded(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/coded"); /* even if it is not gzip */
    assert_int_equal(d->fault, FETCH_OK);
    body_is(d, "nope");
    fetch_release(f, d);
    fetcher_free(f);
}

static void chunks_are_joined(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/chunks");
    assert_int_equal(d->fault, FETCH_OK);
    body_is(d, "abc");
    fetch_release(f, d);
    d = get(f, "/until-the-end");
    assert_int_equal(d->fault, FETCH_OK);
    body_is(d, "abc");
    fetch_release(f, d);
    fetcher_free(f);
}

static void only_the_last_head_is_kept(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/continue");
    assert_int_equal(d->status, 204);
    assert_true(ascii_begins(buffer_slice(&d->head), "http/1.1 204"));
    fetch_release(f, d);
    fetcher_free(f);
}

static void a_redirect_is_returned_and_not_followed(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/to");
    assert_int_equal(d->fault, FETCH_OK);
    assert_int_equal(d->status, 302);
    assert_int_equal(httphead_field(buffer_slice(&d->head), "location").len, 3);
    fetch_release(f, d);
    fetcher_free(f);
}

static struct fetch *get_url(fetcher *f, const char *format, bool only_public)
{
    char url[200];
    deja_error err;
    snprintf(url, sizeof url, format, (unsigned)server.port);
    const struct fetch_request r = {.url = url, .only_public = only_public};
    assert_int_equal(fetch_start(f, &r, NULL, &err), DEJA_OK);
    return wait_for(f);
}

/* In every spelling of the address, and under every name. */
static void private_addresses_are_refused(void **state)
{
    static const char *const urls[] = {"http://127.0.0.1:%u/ok",          "http://localhost:%u/ok",
                                       "http://a.localhost:%u/ok",        "http://0x7f.1:%u/ok",
                                       "http://[::ffff:127.0.0.1]:%u/ok", "http://[::1]:%u/ok",
                                       "https://127.0.0.1:%u/ok"};
    fetcher *f = new_fetcher(&usual);
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct fetch *d = get_url(f, urls[i], true);
        assert_int_equal(d->fault, FETCH_PRIVATE);
        assert_false(fetch_fault_passes(d->fault));
        fetch_release(f, d);
    }
    struct fetch *d = get_url(f, urls[0], false);
    assert_int_equal(d->fault, FETCH_OK);
    fetch_release(f, d);
    fetcher_free(f);
}

/* The server acts as the proxy, which has a private address itself. */
static void a_proxy_resolves_names_and_its_password_is_not_archived(void **state)
{
    char proxy[80];
    snprintf(proxy, sizeof proxy, "http://me:secret@127.0.0.1:%u", (unsigned)server.port);
    assert_int_equal(setenv("http_proxy", proxy, 1), 0);
    assert_int_equal(setenv("no_proxy", "*", 1), 0);
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get_url(f, "http://proxied.invalid/ok", true);
    assert_int_equal(d->fault, FETCH_OK);
    assert_int_equal(d->status, 200);
    assert_true(request_has(d, "GET http://proxied.invalid/ok"));
    assert_true(request_has(d, "Host: proxied.invalid\r\n") && request_has(d, "\r\n\r\n"));
    assert_false(request_has(d, "Authorization"));
    fetch_release(f, d);
    d = get_url(f, "http://127.0.0.1:%u/ok", true); /* a private address is refused through a proxy
                                                     * too */
    assert_int_equal(d->fault, FETCH_PRIVATE);
    fetch_release(f, d);
    fetcher_free(f);
    assert_int_equal(unsetenv("http_proxy") | unsetenv("no_proxy"), 0);
}

static void credentials_in_a_url_are_never_sent(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get_url(f, "http://me:secret@127.0.0.1:%u/ok", false);
    assert_int_equal(d->fault, FETCH_PROTOCOL);
    assert_int_equal(d->request.len, 0);
    fetch_release(f, d);
    fetcher_free(f);
}

static void a_content_length_that_is_too_small_truncates_the_body(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/too-short");
    assert_int_equal(d->fault, FETCH_OK);
    body_is(d, "abc");
    fetch_release(f, d);
    fetcher_free(f);
}

/* --- Limits ------------------------------------------------------------------------- */

static void a_page_is_truncated_at_the_limit(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *d = get(f, "/endless");
    assert_int_equal(d->fault, FETCH_OK);
    assert_int_equal(d->status, 200);
    assert_true(d->truncated);
    assert_int_equal(d->body.len, usual.max_bytes);
    fetch_release(f, d);
    d = get_with(f, (struct fetch_request){.max_bytes = 5}, "/ok");
    assert_false(d->truncated); /* it just fits */
    fetch_release(f, d);
    d = get_with(f, (struct fetch_request){.max_bytes = 4}, "/ok");
    assert_true(d->truncated);
    body_is(d, "hell");
    fetch_release(f, d);
    fetcher_free(f);
}

static void an_endless_head_is_a_protocol_error(void **state)
{
    fault_is("/endless-head", FETCH_PROTOCOL);
}

static void silence_is_a_timeout(void **state)
{
    struct fetch_options hasty = usual;
    hasty.timeout = 0.2;
    assert_int_equal(fault_with(&hasty, "http", "/silent"), FETCH_TIMEOUT);
    assert_int_equal(fault_with(&hasty, "http", "/stops"), FETCH_TIMEOUT);
    struct fetch_options awake = usual; /* the whole download may take long, but data must keep
                                         * arriving */
    awake.stall = 1;
    assert_int_equal(fault_with(&awake, "http", "/stops"), FETCH_TIMEOUT);
}

/* --- Faults ------------------------------------------------------------------------- */

static void a_response_that_ends_early_is_reported_as_cut(void **state)
{
    fault_is("/cut-chunks", FETCH_CUT);
    fault_is("/too-long", FETCH_CUT);
    fault_is("/nothing", FETCH_CUT);
    fault_is("/half-a-head", FETCH_CUT);
}

static void garbage_is_a_protocol_error(void **state)
{
    fault_is("/garbage", FETCH_PROTOCOL);
    fault_is("/status", FETCH_PROTOCOL);
}

static void an_unreachable_server_is_an_error(void **state)
{
    fetcher *f = new_fetcher(&usual);
    deja_error err;
    /* A port that is bound, but not listening. */
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    char url[80];
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", (unsigned)ntohs(at.sin_port));
    assert_int_equal(fetch_start(f, &(struct fetch_request){.url = url}, NULL, &err), DEJA_OK);
    struct fetch *d = wait_for(f);
    assert_int_equal(d->fault, FETCH_CONNECT);
    fetch_release(f, d);
    (void)close(fd);
    const struct fetch_request nowhere = {.url = "http://nowhere.invalid/"};
    assert_int_equal(fetch_start(f, &nowhere, NULL, &err), DEJA_OK);
    d = wait_for(f);
    assert_int_equal(d->fault, FETCH_NAME);
    fetch_release(f, d);
    fetcher_free(f);
}

static void a_server_without_tls_is_an_error(void **state)
{
    struct fetch_options hasty = usual; /* the server waits for the end of a request */
    hasty.timeout = 0.5;
    const int fault = fault_with(&hasty, "https", "/ok");
    assert_true(fault == FETCH_TLS || fault == FETCH_TIMEOUT);
}

static void missing_certificates_are_an_error(void **state)
{
    struct fetch_options strict = usual;
    strict.ca_file = "/nonexistent/ca.pem";
    assert_int_equal(fault_with(&strict, "https", "/ok"), FETCH_TLS);
}

static void some_faults_are_temporary(void **state)
{
    assert_true(fetch_fault_passes(FETCH_NAME) && fetch_fault_passes(FETCH_CONNECT));
    assert_true(fetch_fault_passes(FETCH_TIMEOUT) && fetch_fault_passes(FETCH_CUT));
    assert_false(fetch_fault_passes(FETCH_TLS) || fetch_fault_passes(FETCH_PROTOCOL));
    assert_false(fetch_fault_passes(FETCH_OK) || fetch_fault_passes(FETCH_REDIRECTS));
}

/* --- Sequences and concurrency -------------------------------------------------------- */

static void requests_do_not_affect_each_other(void **state)
{
    fetcher *f = new_fetcher(&usual);
    const struct fetch_request known = {.etag = "\"x\"",
                                        .modified = "Thu, 01 Jan 2026 00:00:00 GMT"};
    struct fetch *d = get_with(f, known, "/ok");
    assert_true(request_has(d, "If-None-Match: \"x\"\r\n"));
    assert_true(request_has(d, "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT\r\n"));
    fetch_release(f, d);
    d = get(f, "/to");
    assert_false(request_has(d, "If-"));
    assert_int_equal(d->status, 302);
    fetch_release(f, d);
    fetcher_free(f);
}

static void a_header_value_cannot_inject_a_field(void **state)
{
    fetcher *f = new_fetcher(&usual);
    const struct fetch_request evil = {.etag = "x\r\nEvil: yes"};
    struct fetch *d = get_with(f, evil, "/ok");
    assert_false(request_has(d, "Evil") || request_has(d, "If-None-Match"));
    fetch_release(f, d);
    fetcher_free(f);
}

static void cookies_are_shared_by_all_requests(void **state)
{
    fetcher *f = new_fetcher(&usual);
    struct fetch *other = get(f, "/ok");
    struct fetch *d = get(f, "/cookie");
    assert_false(request_has(other, "Cookie:") || request_has(d, "Cookie:"));
    fetch_release(f, other);
    fetch_release(f, d);
    d = get(f, "/ok");
    assert_true(request_has(d, "Cookie: a=b\r\n"));
    fetch_release(f, d);
    fetcher_free(f);
}

static void of_many_downloads_each_finishes_once(void **state)
{
    bool seen[20] = {false};
    fetcher *f = new_fetcher(&usual);
    for (size_t i = 0; i < 20; i++)
        start_url(f, (struct fetch_request){0}, "http", i % 2 ? "/ok" : "/nothing", &seen[i]);
    assert_int_equal(fetch_in_flight(f), 20);
    for (size_t i = 0; i < 20; i++) {
        struct fetch *d = wait_for(f);
        bool *mark = d->tag;
        assert_false(*mark);
        *mark = true;
        assert_int_equal(d->fault, (mark - seen) % 2 ? FETCH_OK : FETCH_CUT);
        fetch_release(f, d);
    }
    assert_null(fetch_next(f));
    fetcher_free(f);
}

static void a_fetcher_can_be_freed_during_downloads(void **state)
{
    fetcher *f = new_fetcher(&usual);
    deja_error err;
    for (size_t i = 0; i < 5; i++)
        start_url(f, (struct fetch_request){.etag = "x"}, "http", "/stops", NULL);
    assert_int_equal(fetch_wait(f, 0.05, &err), DEJA_OK);
    fetcher_free(f);
    fetcher_free(NULL);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin_server, end_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_response_is_returned_as_it_was_sent),
        TEST(a_compressed_body_is_not_decoded),
        TEST(chunks_are_joined),
        TEST(only_the_last_head_is_kept),
        TEST(a_redirect_is_returned_and_not_followed),
        TEST(private_addresses_are_refused),
        TEST(a_proxy_resolves_names_and_its_password_is_not_archived),
        TEST(credentials_in_a_url_are_never_sent),
        TEST(a_content_length_that_is_too_small_truncates_the_body),
        TEST(a_page_is_truncated_at_the_limit),
        TEST(an_endless_head_is_a_protocol_error),
        TEST(silence_is_a_timeout),
        TEST(a_response_that_ends_early_is_reported_as_cut),
        TEST(garbage_is_a_protocol_error),
        TEST(an_unreachable_server_is_an_error),
        TEST(a_server_without_tls_is_an_error),
        TEST(missing_certificates_are_an_error),
        TEST(some_faults_are_temporary),
        TEST(requests_do_not_affect_each_other),
        TEST(a_header_value_cannot_inject_a_field),
        TEST(cookies_are_shared_by_all_requests),
        TEST(of_many_downloads_each_finishes_once),
        TEST(a_fetcher_can_be_freed_during_downloads),
    };
    for (const char *const *name = (const char *const[]){"http_proxy", "all_proxy", "https_proxy",
                                                         "ALL_PROXY", "HTTPS_PROXY", NULL};
         *name; name++)
        (void)unsetenv(*name);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
