/* frontier.c - the queue on disk: every URL of every visit, its state and its result.
 *
 * One SQLite table.  A URL is a row; it is waiting, taken, done or left over, and its result is
 * written to the same row.  Waiting URLs have their own index, by host, depth and arrival, so a
 * step costs the same however long the queue is, and the memory of the process does not grow with
 * it. frontdb.c has the statements, and says what survives a crash.
 *
 * The table does not enforce unique URLs: two rows may have the same one.  That is the cache's job
 * (offer.c), which avoids a disk access for each link.
 *
 * Earlier visits stay in the table.  They show what a page was like (conditional requests), and
 * whether a URL was ever seen.  The index for that is built when the second visit starts. */
#include "crawler/archive/digest.h"
#include "crawler/queue/frontdb.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <limits.h>

static const char pages_by_hash[] = "CREATE INDEX IF NOT EXISTS url_hash ON url(hash)";

/* Bind the number by which the index finds a URL; URLs with equal numbers are compared as text. */
static int bind_number(sqlite3_stmt *s, int column, deja_slice url, deja_error *err)
{
    int64_t number;
    if (digest_number(url, &number) < 0)
        return fail(err, DEJA_ENOMEM, "no memory for the hash of a URL");
    (void)sqlite3_bind_int64(s, column, number);
    return DEJA_OK;
}

/* --- The queue ------------------------------------------------------------------ */

int frontier_host(frontier *f, deja_slice name, int64_t *id, deja_error *err)
{
    int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, HOST_FIND) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    frontdb_bind(s, 1, name);
    if (sqlite3_step(s) == SQLITE_ROW) {
        *id = sqlite3_column_int64(s, 0);
        (void)sqlite3_reset(s);
        return DEJA_OK;
    }
    (void)sqlite3_reset(s);
    s = frontdb_use(f, HOST_ADD);
    if (!s)
        return frontdb_fail(f, err);
    frontdb_bind(s, 1, name);
    rc = frontdb_step(f, s, err);
    *id = sqlite3_last_insert_rowid(f->db);
    return rc;
}

int frontier_add(frontier *f, int64_t visit, const struct frontier_url *u, int64_t *id,
                 deja_error *err)
{
    int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, ADD) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, visit);
    (void)sqlite3_bind_int64(s, 2, u->host);
    (void)sqlite3_bind_int64(s, 3, u->depth);
    (void)sqlite3_bind_int64(s, 4, u->hops);
    (void)sqlite3_bind_int64(s, 5, u->attempts);
    (void)sqlite3_bind_int(s, 6, u->hidden);
    rc = bind_number(s, 7, u->url, err);
    if (rc < 0)
        return rc;
    frontdb_bind(s, 8, u->url);
    rc = frontdb_step(f, s, err);
    *id = sqlite3_last_insert_rowid(f->db);
    return rc;
}

int frontier_last(frontier *f, int64_t *id, deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, LAST);
    *id = 0;
    if (!s)
        return frontdb_fail(f, err);
    const int code = sqlite3_step(s);
    const bool ok = code != SQLITE_ROW || frontdb_number(s, 0, 0, INT64_MAX, id);
    (void)sqlite3_reset(s);
    if (!ok)
        return frontier_damaged(f, "its count of URLs", err);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : frontdb_fail(f, err);
}

static int read_url(const frontier *f, sqlite3_stmt *s, int64_t host, struct frontier_url *u,
                    deja_error *err)
{
    struct frontier_url read = {.id = sqlite3_column_int64(s, 0), .host = host};
    int64_t hidden;
    if (!frontdb_count(s, 1, &read.depth) || !frontdb_count(s, 2, &read.hops) ||
        !frontdb_count(s, 3, &read.attempts) || !frontdb_number(s, 4, 0, 1, &hidden) ||
        !frontdb_text(s, 5, &read.url) || read.url.len == 0)
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    read.hidden = hidden != 0;
    read.url.data = ascii_copy(read.url);
    if (!read.url.data)
        return fail(err, DEJA_ENOMEM, "no memory for URLs");
    *u = read;
    return DEJA_OK;
}

void frontier_url_free(struct frontier_url *u)
{
    union { /* allocated by read_url */
        const void *borrowed;
        void *own;
    } text = {u->url.data};
    free(text.own);
    u->url = (deja_slice){NULL, 0};
}

/* RETURNING does not preserve an order. */
static int by_depth_and_id(const void *a, const void *b)
{
    const struct frontier_url *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

int frontier_take(frontier *f, int64_t host, struct frontier_url *url, size_t cap, size_t *n,
                  deja_error *err)
{
    *n = 0;
    int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, TAKE) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, host);
    (void)sqlite3_bind_int64(s, 2, (int64_t)cap);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && *n < cap) {
        rc = read_url(f, s, host, &url[*n], err);
        if (rc < 0)
            break;
        ++*n;
    }
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = frontdb_fail(f, err);
    (void)sqlite3_reset(s);
    if (*n > 1)
        qsort(url, *n, sizeof *url, by_depth_and_id);
    return rc;
}

int frontier_put_back(frontier *f, const struct frontier_url *u, deja_error *err)
{
    const int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, PUT_BACK) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, u->id);
    (void)sqlite3_bind_int64(s, 2, u->attempts);
    (void)sqlite3_bind_int64(s, 3, u->hops);
    return frontdb_step(f, s, err);
}

int frontier_done(frontier *f, int64_t id, const struct frontier_page *p, deja_error *err)
{
    const int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, END) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int(s, 2, p->outcome);
    (void)sqlite3_bind_int(s, 3, p->status);
    (void)sqlite3_bind_int64(s, 4, p->when);
    frontdb_bind(s, 5, p->mime);
    frontdb_bind(s, 6, p->etag);
    frontdb_bind(s, 7, p->modified);
    frontdb_bind(s, 8, (deja_slice){p->digest.text, strlen(p->digest.text)});
    (void)sqlite3_bind_int64(s, 9, p->place.file);
    (void)sqlite3_bind_int64(s, 10, (int64_t)p->place.at);
    (void)sqlite3_bind_int64(s, 11, (int64_t)p->place.len);
    (void)sqlite3_bind_int(s, 12, p->revisit);
    return frontdb_step(f, s, err);
}

static int give_undone(const frontier *f, sqlite3_stmt *s, frontier_undone *take, void *ctx,
                       deja_error *err)
{
    int64_t outcome, status, revisit;
    if (!frontdb_number(s, 0, 0, INT_MAX, &outcome) ||
        !frontdb_number(s, 1, 0, INT_MAX, &status) || !frontdb_number(s, 2, 0, 1, &revisit))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    const struct frontier_page p = {
        .outcome = (int)outcome, .status = (int)status, .revisit = revisit != 0};
    return take(ctx, &p, err);
}

int frontier_undo(frontier *f, uint32_t file, uint64_t at, frontier_undone *take, void *ctx,
                  deja_error *err)
{
    int rc = frontdb_begin(f, err);
    for (enum statement which = UNDONE; which <= UNDO && rc == DEJA_OK; which++) {
        sqlite3_stmt *s = frontdb_use(f, which);
        int code;
        if (!s)
            return frontdb_fail(f, err);
        (void)sqlite3_bind_int64(s, 1, file);
        (void)sqlite3_bind_int64(s, 2, (int64_t)at);
        while ((code = sqlite3_step(s)) == SQLITE_ROW && rc == DEJA_OK)
            rc = give_undone(f, s, take, ctx, err);
        if (rc == DEJA_OK && code != SQLITE_DONE)
            rc = frontdb_fail(f, err);
        (void)sqlite3_reset(s);
    }
    return rc;
}

/* --- Earlier visits --------------------------------------------------------------- */

static bool read_digest(sqlite3_stmt *s, int at, struct digest *d)
{
    deja_slice text;
    *d = (struct digest){{0}};
    if (!frontdb_text(s, at, &text) || text.len > DIGEST_LEN)
        return false;
    if (text.len > 0)
        memcpy(d->text, text.data, text.len);
    return true;
}

/* Copies, because an open statement would block the checkpoint. */
static bool lend_texts(frontier *f, deja_slice *const out[], size_t n)
{
    size_t at[4], from = 0;
    f->lent.len = 0;
    for (size_t i = 0; i < n; i++) {
        if (!buffer_add(&f->lent, out[i]->data, out[i]->len) || !buffer_add(&f->lent, "", 1))
            return false;
        at[i] = f->lent.len - 1;
    }
    for (size_t i = 0; i < n; from = at[i++] + 1)
        *out[i] = (deja_slice){f->lent.data + from, at[i] - from};
    return true;
}

static int read_copy(frontier *f, sqlite3_stmt *s, struct frontier_page *p, deja_error *err)
{
    int64_t outcome, status, when, at, len;
    *p = (struct frontier_page){0};
    if (!frontdb_number(s, 0, 0, INT_MAX, &outcome) || !frontdb_number(s, 1, 200, 299, &status) ||
        !frontdb_number(s, 2, 0, FRONTIER_TIME_MAX, &when) || !frontdb_text(s, 3, &p->mime) ||
        !frontdb_text(s, 4, &p->etag) || !frontdb_text(s, 5, &p->modified) ||
        !read_digest(s, 6, &p->digest) || !frontdb_count(s, 7, &p->place.file) ||
        !frontdb_number(s, 8, 0, INT64_MAX, &at) || !frontdb_number(s, 9, 0, INT64_MAX, &len))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    p->outcome = (int)outcome;
    p->status = (int)status;
    p->when = (time_t)when;
    p->place.at = (uint64_t)at;
    p->place.len = (uint64_t)len;
    deja_slice *const texts[] = {&p->mime, &p->etag, &p->modified};
    return lend_texts(f, texts, 3) ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for a page");
}

int frontier_copy_of(frontier *f, deja_slice url, struct frontier_page *p, bool *found,
                     deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, COPY_OF);
    *found = false;
    if (!s)
        return frontdb_fail(f, err);
    int rc = bind_number(s, 1, url, err);
    if (rc < 0)
        return rc;
    frontdb_bind(s, 2, url);
    const int code = sqlite3_step(s);
    *found = code == SQLITE_ROW;
    if (*found)
        rc = read_copy(f, s, p, err);
    else if (code != SQLITE_DONE)
        rc = frontdb_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_was_known(frontier *f, deja_slice url, int64_t visit, bool *known, deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, WAS_KNOWN);
    *known = false;
    if (!s)
        return frontdb_fail(f, err);
    const int rc = bind_number(s, 1, url, err);
    if (rc < 0)
        return rc;
    frontdb_bind(s, 2, url);
    (void)sqlite3_bind_int64(s, 3, visit);
    const int code = sqlite3_step(s);
    *known = code == SQLITE_ROW;
    (void)sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : frontdb_fail(f, err);
}

int frontier_leave(frontier *f, uint64_t *n, deja_error *err)
{
    *n = 0;
    int rc = frontdb_begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? frontdb_use(f, LEAVE) : NULL;
    if (!s)
        return rc < 0 ? rc : frontdb_fail(f, err);
    rc = frontdb_step(f, s, err);
    *n = (uint64_t)sqlite3_changes64(f->db);
    return rc == DEJA_OK ? frontdb_execute(f, pages_by_hash, err) : rc;
}

/* --- Iterating --------------------------------------------------------------------- */

static int give_hosts(frontier *f, sqlite3_stmt *s, frontier_host_take *take, void *ctx,
                      deja_error *err)
{
    int rc = DEJA_OK, code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && rc == DEJA_OK) {
        deja_slice name;
        uint32_t depth;
        if (!frontdb_text(s, 1, &name) || name.len == 0)
            rc = frontier_damaged(f, "a row of its table host", err);
        else if (!frontdb_count(s, 3, &depth))
            rc = frontier_damaged(f, FRONTDB_URL_ROW, err);
        else
            rc = take(ctx, sqlite3_column_int64(s, 0), name, (uint64_t)sqlite3_column_int64(s, 2),
                      depth, err);
    }
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = frontdb_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_each_host(frontier *f, frontier_host_take *take, void *ctx, deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, EACH_HOST);
    return s ? give_hosts(f, s, take, ctx, err) : frontdb_fail(f, err);
}

int frontier_each_done(frontier *f, int64_t visit, frontier_host_take *take, void *ctx,
                       deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, EACH_DONE);
    if (!s)
        return frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, visit);
    return give_hosts(f, s, take, ctx, err);
}

/* Each row has one text. */
static int give_texts(frontier *f, sqlite3_stmt *s, frontier_text_take *take, void *ctx,
                      deja_error *err)
{
    int rc = DEJA_OK, code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && rc == DEJA_OK) {
        const deja_slice text = {sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0)};
        const int type = sqlite3_column_type(s, 0); /* URLs are text, index lines are blobs */
        rc = text.len > 0 && (type == SQLITE_TEXT || type == SQLITE_BLOB)
                 ? take(ctx, text, err)
                 : frontier_damaged(f, FRONTDB_URL_ROW, err);
    }
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = frontdb_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_each_since(frontier *f, int64_t id, frontier_text_take *take, void *ctx,
                        deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, EACH_SINCE);
    if (!s)
        return frontdb_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, id);
    return give_texts(f, s, take, ctx, err);
}

int frontier_each_line(frontier *f, frontier_text_take *take, void *ctx, deja_error *err)
{
    sqlite3_stmt *s = frontdb_use(f, EACH_LINE);
    return s ? give_texts(f, s, take, ctx, err) : frontdb_fail(f, err);
}
