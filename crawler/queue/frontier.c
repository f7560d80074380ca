/* frontier.c - keeps the queue on disk: every URL of every visit, its state and its result.
 *
 * The queue is one SQLite table.  A URL is a row; it is waiting, taken, done or left over, and its
 * result is written to the same row.  Waiting URLs have their own index, by host, priority
 * (order.h) and arrival, so a step costs the same however long the queue is, and the memory of the process does
 * not grow with it. frontdb.c has the statements, and explains what survives a crash.
 *
 * The table does not enforce unique URLs: two rows may have the same one.  That is the cache's job
 * (offer.c), which avoids a disk access for each link.
 *
 * Earlier visits stay in the table.  They record the last version of a page, for conditional
 * requests, and whether a URL was ever seen.  The index for that is built when the second visit
 * starts, or at once if the order of the crawl counts links: a link then finds the row of its URL by
 * its hash, and changes only that row. */
#include "crawler/archive/digest.h"
#include "crawler/queue/frontdb.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <limits.h>

#define SEED_CASH 1.0

static const char pages_by_hash[] = "CREATE INDEX IF NOT EXISTS url_hash ON url(hash)";

int frontier_number(deja_slice url, int64_t *number, deja_error *err)
{
    return digest_number(url, number) == DEJA_OK
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for the hash of a URL");
}

/* --- The queue ------------------------------------------------------------------ */

struct host_id {
    int64_t id;
    bool found;
};

static int take_host_id(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    (void)f, (void)err;
    *(struct host_id *)ctx = (struct host_id){sqlite3_column_int64(s, 0), true};
    return DEJA_OK;
}

int frontier_host(frontier *f, deja_slice name, int64_t *id, deja_error *err)
{
    struct host_id host = {0};
    int rc = frontdb_read(f, HOST_FIND, VALUES(TEXT(name)), take_host_id, &host, err);
    if (rc == DEJA_OK && !host.found) {
        rc = frontdb_write(f, HOST_ADD, VALUES(TEXT(name)), err);
        host.id = sqlite3_last_insert_rowid(f->db);
    }
    *id = host.id;
    return rc;
}

int frontier_add(frontier *f, int64_t visit, const struct frontier_url *u, int64_t *id,
                 deja_error *err)
{
    int64_t number;
    int rc = frontier_number(u->url, &number, err);
    if (rc == DEJA_OK)
        rc =
            frontdb_write(f, ADD,
                          VALUES(NUMBER(visit), NUMBER(u->host), NUMBER(u->depth), NUMBER(u->hops),
                                 NUMBER(u->attempts), NUMBER(u->hidden), NUMBER(number),
                                 TEXT(u->url), NUMBER(u->parent), REAL(u->parent ? 0 : SEED_CASH),
                                 NUMBER(frontier_priority(f, u))),
                          err);
    *id = sqlite3_last_insert_rowid(f->db);
    return rc;
}

static int take_last(frontier *f, sqlite3_stmt *s, void *id, deja_error *err)
{
    return frontdb_number(s, 0, 0, INT64_MAX, id) ? DEJA_OK
                                                  : frontier_damaged(f, "its count of URLs", err);
}

int frontier_last(frontier *f, int64_t *id, deja_error *err)
{
    *id = 0;
    return frontdb_read(f, LAST, NULL, take_last, id, err);
}

struct taken {
    int64_t host;
    struct frontier_url *url;
    size_t n;
};

/* The text of the URL is borrowed. */
static int read_url(frontier *f, sqlite3_stmt *s, struct frontier_url *u, deja_error *err)
{
    struct frontier_url read = {.id = sqlite3_column_int64(s, 0), .host = u->host};
    int64_t hidden;
    if (!frontdb_count(s, 1, &read.depth) || !frontdb_count(s, 2, &read.hops) ||
        !frontdb_count(s, 3, &read.attempts) || !frontdb_number(s, 4, 0, 1, &hidden) ||
        !frontdb_text(s, 5, &read.url) || read.url.len == 0 ||
        !frontdb_number(s, 6, 0, INT64_MAX, &read.parent) ||
        !frontdb_number(s, 7, INT64_MIN, INT64_MAX, &read.priority))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    read.hidden = hidden != 0;
    *u = read;
    return DEJA_OK;
}

static int take_url(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    struct taken *taken = ctx;
    struct frontier_url read = {.host = taken->host};
    const int rc = read_url(f, s, &read, err);
    if (rc < 0)
        return rc;
    read.url.data = ascii_copy(read.url);
    if (!read.url.data)
        return fail(err, DEJA_ENOMEM, "out of memory for URLs");
    taken->url[taken->n++] = read; /* LIMIT bounds n */
    return DEJA_OK;
}

void frontier_url_free(struct frontier_url *u)
{
    union { /* allocated by take_url */
        const void *borrowed;
        void *own;
    } text = {u->url.data};
    free(text.own);
    u->url = (deja_slice){NULL, 0};
}

/* Sorts the rows, because RETURNING does not preserve an order. */
static int by_priority_and_id(const void *a, const void *b)
{
    const struct frontier_url *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

int frontier_take(frontier *f, int64_t host, struct frontier_url *url, size_t cap, size_t *n,
                  deja_error *err)
{
    struct taken taken = {.host = host, .url = url};
    int rc = frontdb_begin(f, err);
    if (rc == DEJA_OK)
        rc = frontdb_read(f, TAKE, VALUES(NUMBER(host), NUMBER(cap)), take_url, &taken, err);
    *n = taken.n;
    if (*n > 1)
        qsort(url, *n, sizeof *url, by_priority_and_id);
    return rc;
}

int frontier_put_back(frontier *f, const struct frontier_url *u, deja_error *err)
{
    return frontdb_write(f, PUT_BACK, VALUES(NUMBER(u->id), NUMBER(u->attempts), NUMBER(u->hops)),
                         err);
}

int frontier_done(frontier *f, int64_t id, const struct frontier_page *p, deja_error *err)
{
    return frontdb_write(f, END,
                         VALUES(NUMBER(id), NUMBER(p->outcome), NUMBER(p->status), NUMBER(p->when),
                                TEXT(p->mime), TEXT(p->etag), TEXT(p->modified),
                                TEXT(ascii_slice(p->digest.text)), NUMBER(p->place.file),
                                NUMBER(p->place.at), NUMBER(p->place.len), NUMBER(p->revisit)),
                         err);
}

/* --- Order ------------------------------------------------------------------------ */

int frontier_order(frontier *f, uint32_t kind, frontier_weigh *weigh, void *ctx, deja_error *err)
{
    f->order = kind;
    f->weigh = weigh;
    f->weigh_ctx = ctx;
    if (!order_counts_links(kind))
        return DEJA_OK;
    const int rc = frontdb_begin(f, err);
    return rc == DEJA_OK ? frontdb_execute(f, pages_by_hash, err) : rc;
}

/* Without the index, the table is read and written in its own order, and a sort makes the index
 * again.  Otherwise each row would move in the index, which is far slower for a large queue. */
int frontier_reorder(frontier *f, bool new_cash, deja_error *err)
{
    int rc = frontdb_begin(f, err);
    if (rc == DEJA_OK)
        rc = frontdb_execute(f, "DROP INDEX IF EXISTS url_waits", err);
    if (rc == DEJA_OK)
        rc = frontdb_write(f, REORDER, VALUES(NUMBER(new_cash)), err);
    return rc == DEJA_OK ? frontdb_execute(f, FRONTDB_WAITS, err) : rc;
}

int64_t frontier_priority(const frontier *f, const struct frontier_url *u)
{
    const struct order_facts facts = {.depth = u->depth, .cash = u->parent ? 0 : SEED_CASH};
    return order_priority(f->order, u->weight, &facts);
}

/* The rows of a URL in one visit; after a crash there may be two. */
struct found_rows {
    struct found_row {
        int64_t id, host, state, priority;
        struct order_facts facts;
    } row[4];
    size_t n;
};

static int take_found(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    struct found_rows *found = ctx;
    struct found_row r = {.id = sqlite3_column_int64(s, 0), .host = sqlite3_column_int64(s, 1)};
    if (!frontdb_count(s, 2, &r.facts.depth) || !frontdb_number(s, 3, 0, 1, &r.state) ||
        !frontdb_number(s, 4, 0, INT64_MAX - 1, &r.facts.links) ||
        !frontdb_amount(s, 5, &r.facts.cash) ||
        !frontdb_number(s, 6, INT64_MIN, INT64_MAX, &r.priority))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    if (found->n < sizeof found->row / sizeof found->row[0])
        found->row[found->n++] = r;
    return DEJA_OK;
}

/* Two statements: UPDATE with RETURNING would make a temporary table for each link. */
int frontier_credit(frontier *f, int64_t visit, int64_t number, double cash, frontier_raise *raise,
                    void *ctx, deja_error *err)
{
    struct found_rows found = {.n = 0};
    int rc = frontdb_read(f, FIND, VALUES(NUMBER(number), NUMBER(visit)), take_found, &found, err);
    for (size_t i = 0; i < found.n && rc == DEJA_OK; i++) {
        struct found_row *r = &found.row[i];
        r->facts.links++;
        r->facts.cash += cash;
        r->priority = order_priority(f->order, order_weight(r->priority), &r->facts);
        rc = frontdb_write(f, CREDIT,
                           VALUES(NUMBER(r->id), NUMBER(r->facts.links), REAL(r->facts.cash),
                                  NUMBER(r->priority)),
                           err);
        if (rc == DEJA_OK && r->state == 0)
            rc = raise(ctx, r->host, r->priority, err);
    }
    return rc;
}

static int take_amount(frontier *f, sqlite3_stmt *s, void *amount, deja_error *err)
{
    return frontdb_amount(s, 0, amount) ? DEJA_OK : frontier_damaged(f, FRONTDB_URL_ROW, err);
}

int frontier_cash(frontier *f, int64_t id, double *cash, deja_error *err)
{
    *cash = 0;
    return frontdb_read(f, CASH, VALUES(NUMBER(id)), take_amount, cash, err);
}

int frontier_set_share(frontier *f, int64_t id, double share, deja_error *err)
{
    return frontdb_write(f, SET_SHARE, VALUES(NUMBER(id), REAL(share)), err);
}

int frontier_share(frontier *f, int64_t id, double *share, deja_error *err)
{
    *share = 0;
    return frontdb_read(f, SHARE, VALUES(NUMBER(id)), take_amount, share, err);
}

static int take_priority(frontier *f, sqlite3_stmt *s, void *priority, deja_error *err)
{
    return frontdb_number(s, 0, INT64_MIN, INT64_MAX, priority)
               ? DEJA_OK
               : frontier_damaged(f, FRONTDB_URL_ROW, err);
}

int frontier_best(frontier *f, int64_t host, int64_t *priority, deja_error *err)
{
    *priority = ORDER_LOWEST;
    return frontdb_read(f, BEST, VALUES(NUMBER(host)), take_priority, priority, err);
}

static int take_url_text(frontier *f, sqlite3_stmt *s, void *url, deja_error *err)
{
    deja_slice text;
    if (!frontdb_text(s, 0, &text))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    return buffer_add(url, text.data, text.len)
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for a URL");
}

int frontier_url_of(frontier *f, int64_t id, struct buffer *url, deja_error *err)
{
    return frontdb_read(f, URL_OF, VALUES(NUMBER(id)), take_url_text, url, err);
}

/* --- Pages whose records are lost -------------------------------------------------- */

struct undone {
    frontier_undone *take;
    void *ctx;
};

static int take_undone(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct undone *undone = ctx;
    int64_t outcome, status, revisit;
    if (!frontdb_number(s, 0, 0, INT_MAX, &outcome) ||
        !frontdb_number(s, 1, 0, INT_MAX, &status) || !frontdb_number(s, 2, 0, 1, &revisit))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    const struct frontier_page p = {
        .outcome = (int)outcome, .status = (int)status, .revisit = revisit != 0};
    return undone->take(undone->ctx, &p, err);
}

int frontier_undo(frontier *f, uint32_t file, uint64_t at, frontier_undone *take, void *ctx,
                  deja_error *err)
{
    struct undone undone = {take, ctx};
    const struct frontdb_value *place = VALUES(NUMBER(file), NUMBER(at));
    const int rc = frontdb_read(f, UNDONE, place, take_undone, &undone, err);
    return rc == DEJA_OK ? frontdb_write(f, UNDO, place, err) : rc;
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

/* Copies the texts, because an open statement would block the checkpoint. */
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

struct copy {
    struct frontier_page *page;
    bool *found;
};

static int take_copy(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct copy *copy = ctx;
    struct frontier_page *p = copy->page;
    int64_t outcome, status, when, at, len;
    *copy->found = true;
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
    return lend_texts(f, texts, 3) ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for a page");
}

int frontier_copy_of(frontier *f, deja_slice url, struct frontier_page *p, bool *found,
                     deja_error *err)
{
    struct copy copy = {p, found};
    int64_t number;
    *found = false;
    const int rc = frontier_number(url, &number, err);
    return rc == DEJA_OK
               ? frontdb_read(f, COPY_OF, VALUES(NUMBER(number), TEXT(url)), take_copy, &copy, err)
               : rc;
}

static int take_known(frontier *f, sqlite3_stmt *s, void *known, deja_error *err)
{
    (void)f, (void)s, (void)err;
    *(bool *)known = true;
    return DEJA_OK;
}

int frontier_was_known(frontier *f, deja_slice url, int64_t visit, bool *known, deja_error *err)
{
    int64_t number;
    *known = false;
    const int rc = frontier_number(url, &number, err);
    return rc == DEJA_OK
               ? frontdb_read(f, WAS_KNOWN, VALUES(NUMBER(number), TEXT(url), NUMBER(visit)),
                              take_known, known, err)
               : rc;
}

int frontier_leave(frontier *f, uint64_t *n, deja_error *err)
{
    const int rc = frontdb_write(f, LEAVE, NULL, err);
    *n = rc == DEJA_OK ? (uint64_t)sqlite3_changes64(f->db) : 0;
    return rc == DEJA_OK ? frontdb_execute(f, pages_by_hash, err) : rc;
}

/* --- Iterating --------------------------------------------------------------------- */

struct hosts {
    frontier_host_take *take;
    void *ctx;
};

static int take_host(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct hosts *hosts = ctx;
    deja_slice name;
    int64_t priority;
    if (!frontdb_text(s, 1, &name) || name.len == 0)
        return frontier_damaged(f, "a row of its table host", err);
    if (!frontdb_number(s, 3, INT64_MIN, INT64_MAX, &priority))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    return hosts->take(hosts->ctx, sqlite3_column_int64(s, 0), name,
                       (uint64_t)sqlite3_column_int64(s, 2), priority, err);
}

int frontier_each_host(frontier *f, frontier_host_take *take, void *ctx, deja_error *err)
{
    struct hosts hosts = {take, ctx};
    return frontdb_read(f, EACH_HOST, NULL, take_host, &hosts, err);
}

int frontier_each_done(frontier *f, int64_t visit, frontier_host_take *take, void *ctx,
                       deja_error *err)
{
    struct hosts hosts = {take, ctx};
    return frontdb_read(f, EACH_DONE, VALUES(NUMBER(visit)), take_host, &hosts, err);
}

struct texts {
    frontier_text_take *take;
    void *ctx;
};

/* Each row has one text: a URL, or an index line, which is a blob. */
static int take_text(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct texts *texts = ctx;
    const deja_slice text = {sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0)};
    const int type = sqlite3_column_type(s, 0);
    return text.len > 0 && (type == SQLITE_TEXT || type == SQLITE_BLOB)
               ? texts->take(texts->ctx, text, err)
               : frontier_damaged(f, FRONTDB_URL_ROW, err);
}

int frontier_each_since(frontier *f, int64_t id, frontier_text_take *take, void *ctx,
                        deja_error *err)
{
    struct texts texts = {take, ctx};
    return frontdb_read(f, EACH_SINCE, VALUES(NUMBER(id)), take_text, &texts, err);
}

int frontier_each_line(frontier *f, frontier_text_take *take, void *ctx, deja_error *err)
{
    struct texts texts = {take, ctx};
    return frontdb_read(f, EACH_LINE, NULL, take_text, &texts, err);
}

struct urls {
    frontier_url_take *take;
    void *ctx;
};

static int take_waiting(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct urls *urls = ctx;
    struct frontier_url u = {0};
    const int rc = read_url(f, s, &u, err);
    return rc == DEJA_OK ? urls->take(urls->ctx, &u, err) : rc;
}

int frontier_each_waiting(frontier *f, frontier_url_take *take, void *ctx, deja_error *err)
{
    struct urls urls = {take, ctx};
    return frontdb_read(f, EACH_WAITING, NULL, take_waiting, &urls, err);
}

struct copies {
    frontier_copy_take *take;
    void *ctx;
};

static int take_each_copy(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct copies *copies = ctx;
    struct frontier_url u = {0};
    struct frontier_page p = {0};
    int64_t status, at, len;
    if (!frontdb_text(s, 0, &u.url) || u.url.len == 0 || !frontdb_count(s, 1, &u.depth) ||
        !frontdb_number(s, 2, 0, 999, &status) || !frontdb_count(s, 3, &p.place.file) ||
        !frontdb_number(s, 4, 0, INT64_MAX, &at) || !frontdb_number(s, 5, 0, INT64_MAX, &len))
        return frontier_damaged(f, FRONTDB_URL_ROW, err);
    p.status = (int)status;
    p.place.at = (uint64_t)at;
    p.place.len = (uint64_t)len;
    return copies->take(copies->ctx, &u, &p, err);
}

int frontier_each_copy(frontier *f, frontier_copy_take *take, void *ctx, deja_error *err)
{
    struct copies copies = {take, ctx};
    return frontdb_read(f, EACH_COPY, NULL, take_each_copy, &copies, err);
}
