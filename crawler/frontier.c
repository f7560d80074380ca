/* frontier.c - the queue on disk: every URL of every visit, what waits and what became of it.
 *
 * One table of SQLite.  A URL is a row; it waits, is taken, done or left behind, and what became
 * of it is written into the same row.  What waits is found through an index of its own, by host,
 * depth and arrival, so that a step costs the same however long the queue is, and the memory of
 * the process does not grow with it.
 *
 *     kill -9      SQLite's log (WAL) brings back the last commit; taken URLs wait again
 *     power cut    the last sync.  SQLite neither syncs its log nor moves it into the file by
 *                  itself here: that happens in a sync, after the caller has synced the archive,
 *                  so that no page is done whose record is not there
 *
 * The table does not keep URLs apart: two rows may have the same one.  That is the cache's job
 * (crawl.c), and asking the disk for each link is what it saves.
 *
 * Earlier visits stay in the table.  They tell what a page was like (conditional requests), and
 * whether a URL was ever met.  The index for that is made when the second visit begins. */
#include "frontier.h"
#include "ascii.h"
#include "fail.h"
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

#define FORMAT   1    /* of the table; stored as the file's user_version    */
#define LOG_FULL 2000 /* pages of the log after which it goes into the file */

enum { WAITS = 0, TAKEN = 1, DONE = 2, LEFT = 3 }; /* states; literal in the statements below */

enum statement {
    SET,
    GET,
    HOST_FIND,
    HOST_ADD,
    ADD,
    LAST,
    TAKE,
    PUT_BACK,
    END,
    UNDONE,
    UNDO,
    COPY_OF,
    WAS_KNOWN,
    LEAVE,
    EACH_HOST,
    EACH_SINCE,
    EACH_DONE,
    EACH_LINE,
    STATEMENTS
};

static const char *const text_of[STATEMENTS] = {
    [SET] = "INSERT OR REPLACE INTO setting VALUES(?1, ?2)",
    [GET] = "SELECT value FROM setting WHERE name = ?1",
    [HOST_FIND] = "SELECT id FROM host WHERE name = ?1",
    [HOST_ADD] = "INSERT INTO host(name) VALUES(?1)",
    [ADD] = "INSERT INTO url(visit, host, depth, hops, attempts, hidden, hash, url, state) "
            "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0)",
    [LAST] = "SELECT seq FROM sqlite_sequence WHERE name = 'url'",
    [TAKE] = "UPDATE url SET state = 1 WHERE id IN (SELECT id FROM url WHERE host = ?1 AND "
             "state = 0 ORDER BY depth, id LIMIT ?2) RETURNING id, depth, hops, attempts, hidden, "
             "url",
    [PUT_BACK] = "UPDATE url SET state = 0, attempts = ?2, hops = ?3 WHERE id = ?1",
    [END] = "UPDATE url SET state = 2, outcome = ?2, status = ?3, at_time = ?4, mime = ?5, "
            "etag = ?6, modified = ?7, digest = ?8, file = ?9, offset = ?10, length = ?11, "
            "revisit = ?12 WHERE id = ?1",
    [UNDONE] = "SELECT outcome, status, revisit FROM url WHERE state = 2 AND (file > ?1 OR file = "
               "?1 AND offset >= ?2)",
    [UNDO] = "UPDATE url SET state = 0, attempts = 0, outcome = NULL, status = NULL, at_time = "
             "NULL, mime = NULL, etag = NULL, modified = NULL, digest = NULL, file = NULL, offset "
             "= NULL, length = NULL, revisit = NULL WHERE state = 2 AND (file > ?1 OR file = ?1 "
             "AND offset >= ?2)",
    [COPY_OF] = "SELECT outcome, status, at_time, mime, etag, modified, digest, file, offset, "
                "length FROM url WHERE hash = ?1 AND url = ?2 AND state = 2 AND revisit = 0 AND "
                "file > 0 AND status BETWEEN 200 AND 299 ORDER BY id DESC LIMIT 1",
    [WAS_KNOWN] = "SELECT 1 FROM url WHERE hash = ?1 AND url = ?2 AND visit < ?3 LIMIT 1",
    [LEAVE] = "UPDATE url SET state = 3 WHERE state = 0",
    [EACH_HOST] = "SELECT host.id, host.name, count(*), min(url.depth) FROM url JOIN host ON "
                  "host.id = url.host WHERE url.state = 0 GROUP BY url.host ORDER BY url.host",
    [EACH_SINCE] = "SELECT url FROM url WHERE id > ?1 ORDER BY id",
    [EACH_DONE] = "SELECT host.id, host.name, count(*), 0 FROM url JOIN host ON host.id = "
                  "url.host WHERE url.visit = ?1 AND url.state = 2 GROUP BY url.host",
    [EACH_LINE] = "SELECT cdxj_line(url, at_time, status, CASE revisit WHEN 1 THEN 'warc/revisit' "
                  "ELSE mime END, digest, file, offset, length) AS line FROM url WHERE state = 2 "
                  "AND file > 0 ORDER BY line",
};

static const char schema[] =
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE host(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);"
    "CREATE TABLE url(id INTEGER PRIMARY KEY AUTOINCREMENT, visit INTEGER NOT NULL, host INTEGER "
    "NOT NULL, depth INTEGER NOT NULL, hops INTEGER NOT NULL, attempts INTEGER NOT NULL, hidden "
    "INTEGER NOT NULL, state INTEGER NOT NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, outcome "
    "INTEGER, status INTEGER, at_time INTEGER, mime TEXT, etag TEXT, modified TEXT, digest TEXT, "
    "file INTEGER, offset INTEGER, length INTEGER, revisit INTEGER);"
    "CREATE INDEX url_waits ON url(host, depth, id) WHERE state = 0;"
    "CREATE INDEX url_taken ON url(id) WHERE state = 1;";

static const char pages_by_hash[] = "CREATE INDEX IF NOT EXISTS url_hash ON url(hash)";

struct frontier {
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
    char path[4096];
    bool begun;         /* a transaction is open */
    int log_pages;      /* in the log */
    struct buffer lent; /* texts of the last frontier_copy_of */
};

/* --- SQLite's manners --------------------------------------------------------- */

static int db_fail(frontier *f, deja_error *err)
{
    const int code = f->db ? sqlite3_errcode(f->db) : SQLITE_NOMEM;
    const struct fail_path shown = fail_path(f->path);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return fail(err, DEJA_EBUSY, "%s: another process crawls in this folder", shown.text);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return fail(err, DEJA_EFORMAT, "%s: not a queue, or a damaged one", shown.text);
    if (code == SQLITE_NOMEM)
        return fail(err, DEJA_ENOMEM, "%s: no memory", shown.text);
    return fail(err, DEJA_EIO, "%s: %s", shown.text,
                f->db ? sqlite3_errmsg(f->db) : "cannot open");
}

static int execute(frontier *f, const char *sql, deja_error *err)
{
    return sqlite3_exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DEJA_OK : db_fail(f, err);
}

static int begin(frontier *f, deja_error *err)
{
    if (f->begun)
        return DEJA_OK;
    const int rc = execute(f, "BEGIN IMMEDIATE", err);
    f->begun = rc == DEJA_OK;
    return rc;
}

/* A statement made ready for its values; compiled at its first use. */
static sqlite3_stmt *use(frontier *f, enum statement which)
{
    sqlite3_stmt **s = &f->statement[which];
    if (!*s && sqlite3_prepare_v3(f->db, text_of[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) !=
                   SQLITE_OK)
        return NULL;
    (void)sqlite3_reset(*s);
    (void)sqlite3_clear_bindings(*s);
    return *s;
}

/* Run a statement that gives no rows. */
static int step(frontier *f, sqlite3_stmt *s, deja_error *err)
{
    const int code = sqlite3_step(s);
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        return db_fail(f, err);
    (void)sqlite3_reset(s);
    return DEJA_OK;
}

static void bind_text(sqlite3_stmt *s, int at, deja_slice text)
{
    if (text.len > 0)
        (void)sqlite3_bind_text64(s, at, text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static deja_slice column_slice(sqlite3_stmt *s, int at)
{
    const void *text = sqlite3_column_text(s, at);
    return (deja_slice){text, (size_t)sqlite3_column_bytes(s, at)};
}

/* For the index on URLs; equal numbers are compared by their text. */
static int64_t hash_of(deja_slice url)
{
    const unsigned char *p = url.data;
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < url.len; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return (int64_t)h;
}

/* --- Opening ------------------------------------------------------------------ */

static deja_slice value_slice(sqlite3_value *v)
{
    const void *text = sqlite3_value_text(v);
    return (deja_slice){text, (size_t)sqlite3_value_bytes(v)};
}

/* cdxj_line as a function of SQL: SQLite sorts on disk what does not fit into memory. */
static void sql_line(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    struct buffer line = {0};
    (void)n;
    const deja_slice digest = value_slice(v[4]);
    const struct cdxj_entry e = {.url = value_slice(v[0]),
                                 .when = (time_t)sqlite3_value_int64(v[1]),
                                 .status = sqlite3_value_int(v[2]),
                                 .mime = value_slice(v[3]),
                                 .digest = digest.len > 0 ? digest.data : "",
                                 .place = {(uint32_t)sqlite3_value_int64(v[5]),
                                           (uint64_t)sqlite3_value_int64(v[6]),
                                           (uint64_t)sqlite3_value_int64(v[7])}};
    if (cdxj_line(&e, &line) == DEJA_OK)
        sqlite3_result_blob64(ctx, line.data, line.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(ctx);
    buffer_fini(&line);
}

static int read_format(frontier *f, int *format, deja_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(f->db, "PRAGMA user_version", -1, &s, NULL) != SQLITE_OK)
        return db_fail(f, err);
    const int code = sqlite3_step(s);
    *format = code == SQLITE_ROW ? sqlite3_column_int(s, 0) : 0;
    const int rc = code == SQLITE_ROW ? DEJA_OK : db_fail(f, err);
    (void)sqlite3_finalize(s);
    return rc;
}

static int make_tables(frontier *f, deja_error *err)
{
    char text[64];
    int format = 0;
    int rc = begin(f, err); /* takes the lock for as long as we live */
    if (rc == DEJA_OK)
        rc = read_format(f, &format, err);
    if (rc < 0 || format == FORMAT)
        return rc;
    if (format != 0)
        return fail(err, DEJA_EVERSION, "%s was made by another version of deja (%d, not %d)",
                    fail_path(f->path).text, format, FORMAT);
    snprintf(text, sizeof text, "PRAGMA user_version = %d", FORMAT);
    rc = execute(f, schema, err);
    return rc == DEJA_OK ? execute(f, text, err) : rc;
}

static int note_log_pages(void *queue, sqlite3 *db, const char *name, int pages)
{
    frontier *f = queue;
    (void)db;
    (void)name;
    f->log_pages = pages;
    return SQLITE_OK;
}

static int open_file(frontier *f, deja_error *err)
{
    if (sqlite3_open_v2(f->path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return db_fail(f, err);
    (void)sqlite3_busy_timeout(f->db, 0);
    /* Exclusive: one process at a time. */
    int rc = execute(f,
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = NORMAL;"
                     "PRAGMA cache_size = -4096; PRAGMA temp_store = FILE;",
                     err);
    if (rc == DEJA_OK &&
        sqlite3_create_function(f->db, "cdxj_line", 8, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                sql_line, NULL, NULL) != SQLITE_OK)
        rc = db_fail(f, err);
    (void)sqlite3_wal_hook(f->db, note_log_pages,
                           f); /* in the place of SQLite's own checkpoints */
    if (rc == DEJA_OK)
        rc = make_tables(f, err);
    if (rc == DEJA_OK)
        rc = execute(f, "UPDATE url SET state = 0 WHERE state = 1", err);
    return rc == DEJA_OK ? frontier_sync(f, err) : rc;
}

int frontier_open(const char *dir, frontier **out, deja_error *err)
{
    frontier *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return fail(err, DEJA_ENOMEM, "no memory for the queue");
    const int len = snprintf(f->path, sizeof f->path, "%s/queue.db", dir);
    int rc = len > 0 && (size_t)len < sizeof f->path
                 ? open_file(f, err)
                 : fail(err, DEJA_EINVAL, "%s: the name is too long", fail_path(dir).text);
    if (rc == DEJA_OK)
        *out = f;
    else
        frontier_close(f);
    return rc;
}

void frontier_close(frontier *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(f->statement[i]);
    (void)sqlite3_close(f->db);
    buffer_fini(&f->lent);
    free(f);
}

int frontier_commit(frontier *f, deja_error *err)
{
    if (!f->begun)
        return DEJA_OK;
    const int rc = execute(f, "COMMIT", err);
    f->begun = rc < 0;
    return rc;
}

/* SQLite has no call for it: the log's file is asked for, and synced by SQLite's own method. */
static int sync_log(frontier *f, deja_error *err)
{
    sqlite3_file *log = NULL;
    if (sqlite3_file_control(f->db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, (void *)&log) != SQLITE_OK)
        return db_fail(f, err);
    if (log && log->pMethods && log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) != SQLITE_OK)
        return fail_errno(err, "%s: cannot sync", fail_path(f->path).text);
    return DEJA_OK;
}

int frontier_sync(frontier *f, deja_error *err)
{
    int rc = frontier_commit(f, err);
    if (rc == DEJA_OK)
        rc = sync_log(f, err);
    if (rc == DEJA_OK && f->log_pages >= LOG_FULL &&
        sqlite3_wal_checkpoint_v2(f->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL) != SQLITE_OK)
        rc = db_fail(f, err);
    return rc;
}

/* --- Settings ------------------------------------------------------------------ */

int frontier_get(frontier *f, const char *name, int64_t *value, deja_error *err)
{
    sqlite3_stmt *s = use(f, GET);
    *value = 0;
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        *value = sqlite3_column_int64(s, 0);
    (void)sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : db_fail(f, err);
}

int frontier_set(frontier *f, const char *name, int64_t value, deja_error *err)
{
    const int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, SET) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, value);
    return step(f, s, err);
}

int frontier_get_blob(frontier *f, const char *name, struct buffer *value, deja_error *err)
{
    sqlite3_stmt *s = use(f, GET);
    value->len = 0;
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    const int code = sqlite3_step(s);
    bool ok = true;
    if (code == SQLITE_ROW)
        ok = buffer_add(value, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
    (void)sqlite3_reset(s);
    if (!ok)
        return fail(err, DEJA_ENOMEM, "no memory for the setting %s", name);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : db_fail(f, err);
}

int frontier_set_blob(frontier *f, const char *name, deja_slice value, deja_error *err)
{
    const int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, SET) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_blob64(s, 2, value.len ? value.data : "", value.len, SQLITE_STATIC);
    return step(f, s, err);
}

/* --- The queue ------------------------------------------------------------------ */

int frontier_host(frontier *f, deja_slice name, int64_t *id, deja_error *err)
{
    int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, HOST_FIND) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    bind_text(s, 1, name);
    if (sqlite3_step(s) == SQLITE_ROW) {
        *id = sqlite3_column_int64(s, 0);
        (void)sqlite3_reset(s);
        return DEJA_OK;
    }
    (void)sqlite3_reset(s);
    s = use(f, HOST_ADD);
    if (!s)
        return db_fail(f, err);
    bind_text(s, 1, name);
    rc = step(f, s, err);
    *id = sqlite3_last_insert_rowid(f->db);
    return rc;
}

int frontier_add(frontier *f, int64_t visit, const struct frontier_url *u, int64_t *id,
                 deja_error *err)
{
    int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, ADD) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, visit);
    (void)sqlite3_bind_int64(s, 2, u->host);
    (void)sqlite3_bind_int64(s, 3, u->depth);
    (void)sqlite3_bind_int64(s, 4, u->hops);
    (void)sqlite3_bind_int64(s, 5, u->attempts);
    (void)sqlite3_bind_int(s, 6, u->hidden);
    (void)sqlite3_bind_int64(s, 7, hash_of(u->url));
    bind_text(s, 8, u->url);
    rc = step(f, s, err);
    *id = sqlite3_last_insert_rowid(f->db);
    return rc;
}

int frontier_last(frontier *f, int64_t *id, deja_error *err)
{
    sqlite3_stmt *s = use(f, LAST);
    *id = 0;
    if (!s)
        return db_fail(f, err);
    const int code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        *id = sqlite3_column_int64(s, 0);
    (void)sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : db_fail(f, err);
}

static bool read_url(sqlite3_stmt *s, int64_t host, struct frontier_url *u)
{
    const deja_slice url = column_slice(s, 5);
    char *copy = ascii_copy(url);
    if (!copy)
        return false;
    *u = (struct frontier_url){.id = sqlite3_column_int64(s, 0),
                               .host = host,
                               .depth = (uint32_t)sqlite3_column_int64(s, 1),
                               .hops = (uint32_t)sqlite3_column_int64(s, 2),
                               .attempts = (uint32_t)sqlite3_column_int64(s, 3),
                               .hidden = sqlite3_column_int(s, 4) != 0,
                               .url = {copy, url.len}};
    return true;
}

void frontier_url_free(struct frontier_url *u)
{
    union { /* ours: read_url made it */
        const void *borrowed;
        void *own;
    } text = {u->url.data};
    free(text.own);
    u->url = (deja_slice){NULL, 0};
}

/* RETURNING keeps no order. */
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
    int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, TAKE) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, host);
    (void)sqlite3_bind_int64(s, 2, (int64_t)cap);
    int code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && *n < cap) {
        if (!read_url(s, host, &url[*n])) {
            rc = fail(err, DEJA_ENOMEM, "no memory for URLs");
            break;
        }
        ++*n;
    }
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = db_fail(f, err);
    (void)sqlite3_reset(s);
    if (*n > 1)
        qsort(url, *n, sizeof *url, by_depth_and_id);
    return rc;
}

int frontier_put_back(frontier *f, const struct frontier_url *u, deja_error *err)
{
    const int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, PUT_BACK) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, u->id);
    (void)sqlite3_bind_int64(s, 2, u->attempts);
    (void)sqlite3_bind_int64(s, 3, u->hops);
    return step(f, s, err);
}

int frontier_done(frontier *f, int64_t id, const struct frontier_page *p, deja_error *err)
{
    const int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, END) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int(s, 2, p->outcome);
    (void)sqlite3_bind_int(s, 3, p->status);
    (void)sqlite3_bind_int64(s, 4, p->when);
    bind_text(s, 5, p->mime);
    bind_text(s, 6, p->etag);
    bind_text(s, 7, p->modified);
    bind_text(s, 8, (deja_slice){p->digest.text, strlen(p->digest.text)});
    (void)sqlite3_bind_int64(s, 9, p->place.file);
    (void)sqlite3_bind_int64(s, 10, (int64_t)p->place.at);
    (void)sqlite3_bind_int64(s, 11, (int64_t)p->place.len);
    (void)sqlite3_bind_int(s, 12, p->revisit);
    return step(f, s, err);
}

int frontier_undo(frontier *f, uint32_t file, uint64_t at, frontier_undone *take, void *ctx,
                  deja_error *err)
{
    int rc = begin(f, err);
    for (enum statement which = UNDONE; which <= UNDO && rc == DEJA_OK; which++) {
        sqlite3_stmt *s = use(f, which);
        int code;
        if (!s)
            return db_fail(f, err);
        (void)sqlite3_bind_int64(s, 1, file);
        (void)sqlite3_bind_int64(s, 2, (int64_t)at);
        while ((code = sqlite3_step(s)) == SQLITE_ROW)
            take(ctx, &(struct frontier_page){.outcome = sqlite3_column_int(s, 0),
                                              .status = sqlite3_column_int(s, 1),
                                              .revisit = sqlite3_column_int(s, 2) != 0});
        if (code != SQLITE_DONE)
            rc = db_fail(f, err);
        (void)sqlite3_reset(s);
    }
    return rc;
}

/* --- Earlier visits --------------------------------------------------------------- */

static void read_digest(sqlite3_stmt *s, int at, struct digest *d)
{
    const deja_slice text = column_slice(s, at);
    *d = (struct digest){{0}};
    if (text.len <= DIGEST_LEN && text.len > 0)
        memcpy(d->text, text.data, text.len);
}

/* Copies: an open statement would keep the log from being moved into the file. */
static bool lend_texts(frontier *f, sqlite3_stmt *s, int first, deja_slice *const out[], size_t n)
{
    size_t at[4], from = 0;
    f->lent.len = 0;
    for (size_t i = 0; i < n; i++) {
        const deja_slice text = column_slice(s, first + (int)i);
        if (!buffer_add(&f->lent, text.data, text.len) || !buffer_add(&f->lent, "", 1))
            return false;
        at[i] = f->lent.len - 1;
    }
    for (size_t i = 0; i < n; from = at[i++] + 1)
        *out[i] = (deja_slice){f->lent.data + from, at[i] - from};
    return true;
}

static int read_copy(frontier *f, sqlite3_stmt *s, struct frontier_page *p, deja_error *err)
{
    *p = (struct frontier_page){.outcome = sqlite3_column_int(s, 0),
                                .status = sqlite3_column_int(s, 1),
                                .when = (time_t)sqlite3_column_int64(s, 2),
                                .place = {(uint32_t)sqlite3_column_int64(s, 7),
                                          (uint64_t)sqlite3_column_int64(s, 8),
                                          (uint64_t)sqlite3_column_int64(s, 9)}};
    deja_slice *const texts[] = {&p->mime, &p->etag, &p->modified};
    read_digest(s, 6, &p->digest);
    return lend_texts(f, s, 3, texts, 3) ? DEJA_OK
                                         : fail(err, DEJA_ENOMEM, "no memory for a page");
}

int frontier_copy_of(frontier *f, deja_slice url, struct frontier_page *p, bool *found,
                     deja_error *err)
{
    sqlite3_stmt *s = use(f, COPY_OF);
    int rc = DEJA_OK;
    *found = false;
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, hash_of(url));
    bind_text(s, 2, url);
    const int code = sqlite3_step(s);
    *found = code == SQLITE_ROW;
    if (*found)
        rc = read_copy(f, s, p, err);
    else if (code != SQLITE_DONE)
        rc = db_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_was_known(frontier *f, deja_slice url, int64_t visit, bool *known, deja_error *err)
{
    sqlite3_stmt *s = use(f, WAS_KNOWN);
    *known = false;
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, hash_of(url));
    bind_text(s, 2, url);
    (void)sqlite3_bind_int64(s, 3, visit);
    const int code = sqlite3_step(s);
    *known = code == SQLITE_ROW;
    (void)sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? DEJA_OK : db_fail(f, err);
}

int frontier_leave(frontier *f, uint64_t *n, deja_error *err)
{
    *n = 0;
    int rc = begin(f, err);
    sqlite3_stmt *s = rc == DEJA_OK ? use(f, LEAVE) : NULL;
    if (!s)
        return rc < 0 ? rc : db_fail(f, err);
    rc = step(f, s, err);
    *n = (uint64_t)sqlite3_changes64(f->db);
    return rc == DEJA_OK ? execute(f, pages_by_hash, err) : rc;
}

/* --- All of them ------------------------------------------------------------------- */

static int give_hosts(frontier *f, sqlite3_stmt *s, frontier_host_take *take, void *ctx,
                      deja_error *err)
{
    int rc = DEJA_OK, code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && rc == DEJA_OK)
        rc = take(ctx, sqlite3_column_int64(s, 0), column_slice(s, 1),
                  (uint64_t)sqlite3_column_int64(s, 2), (uint32_t)sqlite3_column_int64(s, 3), err);
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = db_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_each_host(frontier *f, frontier_host_take *take, void *ctx, deja_error *err)
{
    sqlite3_stmt *s = use(f, EACH_HOST);
    return s ? give_hosts(f, s, take, ctx, err) : db_fail(f, err);
}

int frontier_each_done(frontier *f, int64_t visit, frontier_host_take *take, void *ctx,
                       deja_error *err)
{
    sqlite3_stmt *s = use(f, EACH_DONE);
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, visit);
    return give_hosts(f, s, take, ctx, err);
}

/* Each row has one text. */
static int give_texts(frontier *f, sqlite3_stmt *s, frontier_text_take *take, void *ctx,
                      deja_error *err)
{
    int rc = DEJA_OK, code;
    while ((code = sqlite3_step(s)) == SQLITE_ROW && rc == DEJA_OK)
        rc = take(ctx, column_slice(s, 0), err);
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = db_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontier_each_since(frontier *f, int64_t id, frontier_text_take *take, void *ctx,
                        deja_error *err)
{
    sqlite3_stmt *s = use(f, EACH_SINCE);
    if (!s)
        return db_fail(f, err);
    (void)sqlite3_bind_int64(s, 1, id);
    return give_texts(f, s, take, ctx, err);
}

int frontier_each_line(frontier *f, frontier_text_take *take, void *ctx, deja_error *err)
{
    sqlite3_stmt *s = use(f, EACH_LINE);
    return s ? give_texts(f, s, take, ctx, err) : db_fail(f, err);
}
