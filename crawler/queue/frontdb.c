/* frontdb.c - the queue's database: tables, statements, opening, and durability.
 *
 *     after kill -9     everything up to the last commit survives (SQLite's WAL); URLs that were
 *                       taken wait again
 *     after power loss  everything up to the last sync survives, possibly some commits after it.
 *                       SQLite does not sync or checkpoint its log by itself here: frontier_sync
 *                       does, after the caller has synced the archive
 *
 * The state of a URL is 0 while it waits, 1 when taken, 2 when done, and 3 if the visit ended
 * first; the statements use these numbers.  The database also has settings: numbers and texts by
 * name. */
#include "crawler/queue/frontdb.h"
#include "crawler/http/hostkey.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>

#define NEWEST   4    /* format of the tables; stored as the file's user_version */
#define OLDEST   2    /* oldest format that can be upgraded */
#define LOG_FULL 2000 /* pages of the log that trigger a checkpoint */

static const char *const text_of[STATEMENTS] = {
    [FORMAT] = "PRAGMA user_version",
    [SET] = "INSERT OR REPLACE INTO setting VALUES(?1, ?2)",
    [GET] = "SELECT value FROM setting WHERE name = ?1",
    [HOST_FIND] = "SELECT id FROM host WHERE name = ?1",
    [HOST_ADD] = "INSERT INTO host(name) VALUES(?1)",
    [ADD] = "INSERT INTO url(visit, host, depth, hops, attempts, hidden, hash, url, parent, cash, "
            "priority, state) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 0)",
    [LAST] = "SELECT seq FROM sqlite_sequence WHERE name = 'url'",
    [TAKE] =
        "UPDATE url SET state = 1 WHERE id IN (SELECT id FROM url WHERE host = ?1 AND state "
        "= 0 ORDER BY priority DESC, id LIMIT ?2) RETURNING id, depth, hops, attempts, hidden, "
        "url, parent, priority",
    [BEST] =
        "SELECT priority FROM url WHERE host = ?1 AND state = 0 ORDER BY priority DESC LIMIT 1",
    [FIND] = "SELECT id, host, depth, state, links, cash, priority FROM url WHERE hash = ?1 AND "
             "visit = ?2 AND state < 2",
    [CREDIT] = "UPDATE url SET links = ?2, cash = ?3, priority = ?4 WHERE id = ?1",
    [CASH] = "SELECT cash FROM url WHERE id = ?1",
    [SET_SHARE] = "UPDATE url SET share = ?2 WHERE id = ?1",
    [SHARE] = "SELECT share FROM url WHERE id = ?1",
    [URL_OF] = "SELECT url FROM url WHERE id = ?1",
    [REORDER] =
        "UPDATE url NOT INDEXED SET cash = CASE WHEN ?1 THEN 1 ELSE cash END, priority = priority_of("
        "weight_of(url) << 52, depth, links, CASE WHEN ?1 THEN 1 ELSE cash END) "
        "WHERE state = 0",
    [PUT_BACK] = "UPDATE url SET state = 0, attempts = ?2, hops = ?3 WHERE id = ?1",
    [END] = "UPDATE url SET state = 2, outcome = ?2, status = ?3, at_time = ?4, mime = ?5, "
            "etag = ?6, modified = ?7, digest = ?8, file = ?9, offset = ?10, length = ?11, "
            "revisit = ?12 WHERE id = ?1",
    [UNDONE] =
        "SELECT outcome, status, revisit FROM url WHERE state = 2 AND (file > ?1 AND ?1 > 0 "
        "OR file = ?1 AND offset >= ?2)",
    [UNDO] = "UPDATE url SET state = 0, attempts = 0, outcome = NULL, status = NULL, at_time = "
             "NULL, mime = NULL, etag = NULL, modified = NULL, digest = NULL, file = NULL, offset "
             "= NULL, length = NULL, revisit = NULL WHERE state = 2 AND (file > ?1 AND ?1 > 0 OR "
             "file = ?1 AND offset >= ?2)",
    [COPY_OF] = "SELECT outcome, status, at_time, mime, etag, modified, digest, file, offset, "
                "length FROM url WHERE hash = ?1 AND url = ?2 AND state = 2 AND revisit = 0 AND "
                "file > 0 AND status BETWEEN 200 AND 299 ORDER BY id DESC LIMIT 1",
    [WAS_KNOWN] = "SELECT 1 FROM url WHERE hash = ?1 AND url = ?2 AND visit < ?3 LIMIT 1",
    [LEAVE] = "UPDATE url SET state = 3 WHERE state = 0",
    [EACH_HOST] = "SELECT host.id, host.name, count(*), max(url.priority) FROM url JOIN host ON "
                  "host.id = url.host WHERE url.state = 0 GROUP BY url.host ORDER BY url.host",
    [EACH_WAITING] = "SELECT id, depth, hops, attempts, hidden, url, parent, priority FROM url "
                     "WHERE state = 0 ORDER BY id",
    [EACH_SINCE] = "SELECT url FROM url WHERE id > ?1 ORDER BY id",
    [EACH_DONE] = "SELECT host.id, host.name, count(*), 0 FROM url JOIN host ON host.id = "
                  "url.host WHERE url.visit = ?1 AND url.state = 2 GROUP BY url.host",
    [EACH_LINE] = "SELECT cdxj_line(url, at_time, status, CASE revisit WHEN 1 THEN 'warc/revisit' "
                  "ELSE mime END, digest, file, offset, length) AS line FROM url WHERE state = 2 "
                  "AND file > 0 ORDER BY line",
    [EACH_COPY] = "SELECT url, depth, status, file, offset, length FROM url WHERE state = 2 AND "
                  "revisit = 0 AND file > 0 AND outcome = 0 ORDER BY id",
};

/* Since format 4: what the order of the crawl needs (order.h), and the row of the page on which the
 * URL was first found, or 0.  `share` is what a page gave to each of its links. */
#define PARENT "parent INTEGER NOT NULL DEFAULT 0"
#define LINKS  "links INTEGER NOT NULL DEFAULT 0"
#define CASH_  "cash REAL NOT NULL DEFAULT 0"
#define SHARE_ "share REAL"
#define LEVEL  "priority INTEGER NOT NULL DEFAULT 0"
#define RANKED PARENT ", " LINKS ", " CASH_ ", " SHARE_ ", " LEVEL

static const char schema[] =
    "CREATE TABLE setting(name TEXT PRIMARY KEY, value) WITHOUT ROWID;CREATE TABLE host(id "
    "INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL);CREATE TABLE url(id INTEGER PRIMARY KEY "
    "AUTOINCREMENT, visit INTEGER NOT NULL, host INTEGER NOT NULL, depth INTEGER NOT NULL, hops "
    "INTEGER NOT NULL, attempts INTEGER NOT NULL, hidden INTEGER NOT NULL, state INTEGER NOT "
    "NULL, hash INTEGER NOT NULL, url TEXT NOT NULL, outcome INTEGER, status INTEGER, at_time "
    "INTEGER, mime TEXT, etag TEXT, modified TEXT, digest TEXT, file INTEGER, offset INTEGER, "
    "length INTEGER, revisit INTEGER, " RANKED ");CREATE INDEX url_taken ON url(id) WHERE state = "
    "1;" FRONTDB_WAITS;

/* In format 3, the index was by depth: the order was always breadth first. */
#define COLUMN "ALTER TABLE url ADD COLUMN "
static const char from_format_3[] =
    "DROP INDEX IF EXISTS url_waits;" COLUMN PARENT ";" COLUMN LINKS ";" COLUMN CASH_
    ";" COLUMN SHARE_ ";" COLUMN LEVEL
    ";UPDATE url SET priority = priority_of(0, depth, 0, 0.0) WHERE state < 2;" FRONTDB_WAITS;

/* In format 2, a host was a scheme and an authority, including credentials. */
static const char from_format_2[] =
    "INSERT OR IGNORE INTO host(name) SELECT host_name(name) FROM host;CREATE TEMP TABLE "
    "moved(old INTEGER PRIMARY KEY, new INTEGER NOT NULL);INSERT INTO moved SELECT o.id, n.id "
    "FROM host o JOIN host n ON n.name = host_name(o.name);UPDATE url SET host = (SELECT new FROM "
    "moved WHERE old = url.host) WHERE host IN (SELECT old FROM moved WHERE old <> new);DELETE "
    "FROM host WHERE id IN (SELECT old FROM moved WHERE old <> new);DROP TABLE moved;";

/* --- SQLite helpers ----------------------------------------------------------- */

int frontdb_fail(frontier *f, deja_error *err)
{
    const int code = f->db ? sqlite3_errcode(f->db) : SQLITE_NOMEM;
    const struct fail_path shown = fail_path(f->path);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return fail(err, DEJA_EBUSY, "%s: another process is crawling in this folder", shown.text);
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        return fail(err, DEJA_EFORMAT, "%s: not a queue, or a damaged one", shown.text);
    if (code == SQLITE_NOMEM)
        return fail(err, DEJA_ENOMEM, "%s: out of memory", shown.text);
    return fail(err, DEJA_EIO, "%s: %s", shown.text,
                f->db ? sqlite3_errmsg(f->db) : "cannot open");
}

int frontdb_execute(frontier *f, const char *sql, deja_error *err)
{
    return sqlite3_exec(f->db, sql, NULL, NULL, NULL) == SQLITE_OK ? DEJA_OK
                                                                   : frontdb_fail(f, err);
}

int frontdb_begin(frontier *f, deja_error *err)
{
    if (f->begun)
        return DEJA_OK;
    const int rc = frontdb_execute(f, "BEGIN IMMEDIATE", err);
    f->begun = rc == DEJA_OK;
    return rc;
}

/* Returns the statement with its values; compiles it at its first use. */
static sqlite3_stmt *prepare(frontier *f, enum statement which, const struct frontdb_value *v)
{
    sqlite3_stmt **s = &f->statement[which];
    if (!*s && sqlite3_prepare_v3(f->db, text_of[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) !=
                   SQLITE_OK)
        return NULL;
    (void)sqlite3_reset(*s);
    (void)sqlite3_clear_bindings(*s);
    for (int i = 1; v && v->type != FRONTDB_END; i++, v++) {
        if (v->type == FRONTDB_NUMBER)
            (void)sqlite3_bind_int64(*s, i, v->number);
        else if (v->type == FRONTDB_REAL)
            (void)sqlite3_bind_double(*s, i, v->real);
        else if (v->type == FRONTDB_BLOB)
            (void)sqlite3_bind_blob64(*s, i, v->text.len ? v->text.data : "", v->text.len,
                                      SQLITE_STATIC);
        else if (v->text.len > 0)
            (void)sqlite3_bind_text64(*s, i, v->text.data, v->text.len, SQLITE_STATIC,
                                      SQLITE_UTF8);
    }
    return *s;
}

int frontdb_read(frontier *f, enum statement which, const struct frontdb_value *values,
                 frontdb_row *take, void *ctx, deja_error *err)
{
    sqlite3_stmt *s = prepare(f, which, values);
    int rc = DEJA_OK, code = SQLITE_ERROR;
    while (s && rc == DEJA_OK && (code = sqlite3_step(s)) == SQLITE_ROW)
        rc = take(f, s, ctx, err);
    if (rc == DEJA_OK && code != SQLITE_DONE)
        rc = frontdb_fail(f, err);
    (void)sqlite3_reset(s);
    return rc;
}

int frontdb_write(frontier *f, enum statement which, const struct frontdb_value *values,
                  deja_error *err)
{
    const int rc = frontdb_begin(f, err);
    return rc == DEJA_OK ? frontdb_read(f, which, values, NULL, NULL, err) : rc;
}

static bool is_number(sqlite3_value *v, int64_t least, int64_t most, int64_t *value)
{
    *value = sqlite3_value_int64(v);
    return sqlite3_value_type(v) == SQLITE_INTEGER && *value >= least && *value <= most;
}

/* Whether a value is text without a NUL.  Ours never contain one, and some are used as
 * strings. */
static bool is_text(sqlite3_value *v, deja_slice *text)
{
    const int type = sqlite3_value_type(v);
    if (type != SQLITE_TEXT && type != SQLITE_NULL)
        return false;
    const void *data = sqlite3_value_text(v);
    *text = (deja_slice){data, (size_t)sqlite3_value_bytes(v)};
    return text->len == 0 || (data && !memchr(data, '\0', text->len));
}

bool frontdb_number(sqlite3_stmt *s, int at, int64_t least, int64_t most, int64_t *value)
{
    return is_number(sqlite3_column_value(s, at), least, most, value);
}

bool frontdb_count(sqlite3_stmt *s, int at, uint32_t *value)
{
    int64_t number;
    const bool ok = frontdb_number(s, at, 0, UINT32_MAX, &number);
    *value = (uint32_t)number;
    return ok;
}

static bool is_amount(sqlite3_value *v, double *value)
{
    const int type = sqlite3_value_type(v);
    *value = sqlite3_value_double(v);
    return (type == SQLITE_FLOAT || type == SQLITE_INTEGER || type == SQLITE_NULL) &&
           *value >= 0 && isfinite(*value);
}

bool frontdb_amount(sqlite3_stmt *s, int at, double *value)
{
    return is_amount(sqlite3_column_value(s, at), value);
}

bool frontdb_text(sqlite3_stmt *s, int at, deja_slice *text)
{
    return is_text(sqlite3_column_value(s, at), text);
}

int frontier_damaged(const frontier *f, const char *what, deja_error *err)
{
    return fail(err, DEJA_EFORMAT,
                "%s: %s is damaged; restore the folder from a copy, or start another crawl",
                fail_path(f->path).text, what);
}

/* --- Opening ------------------------------------------------------------------ */

/* cdxj_line as an SQL function, so that SQLite can sort the lines on disk if they do not fit into
 * memory. */
static void sql_line(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    struct buffer line = {0};
    struct cdxj_entry e;
    deja_slice digest;
    int64_t when, status, file, at, len;
    (void)n;
    if (!is_text(v[0], &e.url) || !is_number(v[1], 0, FRONTIER_TIME_MAX, &when) ||
        !is_number(v[2], 0, INT_MAX, &status) || !is_text(v[3], &e.mime) ||
        !is_text(v[4], &digest) || !is_number(v[5], 1, UINT32_MAX, &file) ||
        !is_number(v[6], 0, INT64_MAX, &at) || !is_number(v[7], 0, INT64_MAX, &len)) {
        sqlite3_result_error(ctx, FRONTDB_URL_ROW " is damaged", -1);
        return;
    }
    e.when = (time_t)when;
    e.status = (int)status;
    e.digest = digest.len > 0 ? digest.data : "";
    e.place = (struct warc_place){(uint32_t)file, (uint64_t)at, (uint64_t)len};
    if (cdxj_line(&e, &line) == DEJA_OK)
        sqlite3_result_blob64(ctx, line.data, line.len, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(ctx);
    buffer_fini(&line);
}

static void sql_host(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    struct buffer name = {0};
    deja_slice origin;
    (void)n;
    const int rc = is_text(v[0], &origin) ? hostkey_name(origin, &name) : DEJA_ENOTURL;
    if (rc == DEJA_OK)
        sqlite3_result_text64(ctx, name.data, name.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    else if (rc == DEJA_ENOMEM)
        sqlite3_result_error_nomem(ctx);
    else
        sqlite3_result_value(ctx, v[0]); /* not a URL that could be fetched */
    buffer_fini(&name);
}

/* priority_of(P, depth, links, cash): a priority with the weight of P. */
static void sql_priority(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const frontier *f = sqlite3_user_data(ctx);
    struct order_facts facts;
    int64_t was, depth;
    (void)n;
    if (!is_number(v[0], INT64_MIN, INT64_MAX, &was) || !is_number(v[1], 0, UINT32_MAX, &depth) ||
        !is_number(v[2], 0, INT64_MAX, &facts.links) || !is_amount(v[3], &facts.cash)) {
        sqlite3_result_error(ctx, FRONTDB_URL_ROW " is damaged", -1);
        return;
    }
    facts.depth = (uint32_t)depth;
    sqlite3_result_int64(ctx, order_priority(f->order, order_weight(was), &facts));
}

/* weight_of(url) */
static void sql_weight(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    const frontier *f = sqlite3_user_data(ctx);
    deja_slice url;
    (void)n;
    if (is_text(v[0], &url))
        sqlite3_result_int(ctx, f->weigh ? f->weigh(f->weigh_ctx, url) : 0);
    else
        sqlite3_result_error(ctx, FRONTDB_URL_ROW " is damaged", -1);
}

static int take_format(frontier *f, sqlite3_stmt *s, void *format, deja_error *err)
{
    (void)f, (void)err;
    *(int *)format = sqlite3_column_int(s, 0);
    return DEJA_OK;
}

static int make_tables(frontier *f, deja_error *err)
{
    char text[64];
    int format = 0;
    int rc = frontdb_begin(f, err); /* takes the lock for the life of the process */
    if (rc == DEJA_OK)
        rc = frontdb_read(f, FORMAT, NULL, take_format, &format, err);
    if (rc < 0 || format == NEWEST)
        return rc;
    if (format != 0 && (format < OLDEST || format > NEWEST))
        return fail(
            err, DEJA_EVERSION,
            "%s: made by another version of deja (format %d, not %d); use that version, or "
            "start another crawl",
            fail_path(f->path).text, format, NEWEST);
    snprintf(text, sizeof text, "PRAGMA user_version = %d", NEWEST);
    if (format == 0)
        rc = frontdb_execute(f, schema, err);
    if (rc == DEJA_OK && format == 2)
        rc = frontdb_execute(f, from_format_2, err);
    if (rc == DEJA_OK && format > 0)
        rc = frontdb_execute(f, from_format_3, err);
    return rc == DEJA_OK ? frontdb_execute(f, text, err) : rc;
}

static int note_log_pages(void *queue, sqlite3 *db, const char *name, int pages)
{
    frontier *f = queue;
    (void)db;
    (void)name;
    f->log_pages = pages;
    return SQLITE_OK;
}

static int add_functions(frontier *f, deja_error *err)
{
    static const struct {
        const char *name;
        int values;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } list[] = {{"cdxj_line", 8, sql_line},
                {"host_name", 1, sql_host},
                {"priority_of", 4, sql_priority},
                {"weight_of", 1, sql_weight}};
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (sqlite3_create_function(f->db, list[i].name, list[i].values, flags, f, list[i].call,
                                    NULL, NULL) != SQLITE_OK)
            return frontdb_fail(f, err);
    return DEJA_OK;
}

static int open_file(frontier *f, deja_error *err)
{
    if (sqlite3_open_v2(f->path, &f->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK)
        return frontdb_fail(f, err);
    (void)sqlite3_busy_timeout(f->db, 0);
    /* Locks exclusively, for one process at a time. */
    int rc = frontdb_execute(f,
                             "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL;"
                             "PRAGMA synchronous = NORMAL;"
                             "PRAGMA cache_size = -4096; PRAGMA temp_store = FILE;",
                             err);
    if (rc == DEJA_OK)
        rc = add_functions(f, err);
    (void)sqlite3_wal_hook(f->db, note_log_pages, f); /* instead of SQLite's own checkpoints */
    if (rc == DEJA_OK)
        rc = make_tables(f, err);
    if (rc == DEJA_OK)
        rc = frontdb_execute(f, "UPDATE url SET state = 0 WHERE state = 1", err);
    return rc == DEJA_OK ? frontier_sync(f, err) : rc;
}

int frontier_open(const char *dir, frontier **out, deja_error *err)
{
    frontier *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f)
        return fail(err, DEJA_ENOMEM, "out of memory for the queue");
    const int len = snprintf(f->path, sizeof f->path, "%s/queue.db", dir);
    int rc = len > 0 && (size_t)len < sizeof f->path
                 ? open_file(f, err)
                 : fail(err, DEJA_EINVAL, "%s: the path is too long", fail_path(dir).text);
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
    const int rc = frontdb_execute(f, "COMMIT", err);
    f->begun = rc < 0;
    return rc;
}

/* SQLite has no call to sync its log, so get the log's file and use SQLite's own method. */
static int sync_log(frontier *f, deja_error *err)
{
    sqlite3_file *log = NULL;
    if (sqlite3_file_control(f->db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, (void *)&log) != SQLITE_OK)
        return frontdb_fail(f, err);
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
        rc = frontdb_fail(f, err);
    return rc;
}

/* --- Settings ------------------------------------------------------------------ */

static int damaged_setting(const frontier *f, const char *name, deja_error *err)
{
    char what[80];
    snprintf(what, sizeof what, "its setting '%s'", name);
    return frontier_damaged(f, what, err);
}

struct wanted {
    const char *name;
    int64_t most, *number;
    struct buffer *blob;
    bool *damaged;
};

static int take_number(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct wanted *w = ctx;
    return frontdb_number(s, 0, 0, w->most, w->number) ? DEJA_OK
                                                       : damaged_setting(f, w->name, err);
}

int frontier_get(frontier *f, const char *name, int64_t most, int64_t *value, deja_error *err)
{
    struct wanted w = {.name = name, .most = most, .number = value};
    *value = 0;
    return frontdb_read(f, GET, VALUES(TEXT(ascii_slice(name))), take_number, &w, err);
}

int frontier_set(frontier *f, const char *name, int64_t value, deja_error *err)
{
    return frontdb_write(f, SET, VALUES(TEXT(ascii_slice(name)), NUMBER(value)), err);
}

static int take_blob(frontier *f, sqlite3_stmt *s, void *ctx, deja_error *err)
{
    const struct wanted *w = ctx;
    const int type = sqlite3_column_type(s, 0);
    if (type != SQLITE_BLOB && type != SQLITE_TEXT) {
        if (!w->damaged)
            return damaged_setting(f, w->name, err);
        *w->damaged = true;
        return DEJA_OK;
    }
    return buffer_add(w->blob, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0))
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "out of memory for the setting %s", w->name);
}

int frontier_get_blob(frontier *f, const char *name, struct buffer *value, bool *damaged,
                      deja_error *err)
{
    struct wanted w = {.name = name, .blob = value, .damaged = damaged};
    value->len = 0;
    if (damaged)
        *damaged = false;
    return frontdb_read(f, GET, VALUES(TEXT(ascii_slice(name))), take_blob, &w, err);
}

int frontier_set_blob(frontier *f, const char *name, deja_slice value, deja_error *err)
{
    return frontdb_write(f, SET, VALUES(TEXT(ascii_slice(name)), BLOB(value)), err);
}
