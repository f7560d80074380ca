/* frontdb.h - the database and its statements, which the files of the queue share.  Only
 * frontier.c and frontdb.c include it. */
#ifndef CRAWLER_QUEUE_FRONTDB_H
#define CRAWLER_QUEUE_FRONTDB_H
#include "crawler/queue/frontier.h"
#include <sqlite3.h>

/* The index of the URLs that wait. */
#define FRONTDB_WAITS "CREATE INDEX url_waits ON url(host, priority DESC, id) WHERE state = 0;"

enum statement {
    FORMAT,
    SET,
    GET,
    HOST_FIND,
    HOST_ADD,
    ADD,
    LAST,
    TAKE,
    BEST,
    FIND,
    CREDIT,
    CASH,
    SET_SHARE,
    SHARE,
    URL_OF,
    REORDER,
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
    EACH_COPY,
    EACH_WAITING,
    STATEMENTS
};

struct frontier {
    sqlite3 *db;
    sqlite3_stmt *statement[STATEMENTS];
    char path[4096];
    bool begun;            /* a transaction is open */
    int log_pages;         /* pages in the log */
    struct buffer lent;    /* texts of the last frontier_copy_of */
    uint32_t order;        /* an order_kind */
    frontier_weigh *weigh; /* NULL: no URL has a weight */
    void *weigh_ctx;
};

/* Report SQLite's last error. */
int frontdb_fail(frontier *f, deja_error *err);
/* Execute statements without values and rows. */
int frontdb_execute(frontier *f, const char *sql, deja_error *err);
/* Begin a transaction unless one is open; frontier_commit ends it. */
int frontdb_begin(frontier *f, deja_error *err);
/* Values for the parameters ?1, ?2, ... of a statement; an empty text is NULL. */
struct frontdb_value {
    enum {
        FRONTDB_END,
        FRONTDB_NUMBER,
        FRONTDB_REAL,
        FRONTDB_TEXT,
        FRONTDB_BLOB
    } type;
    int64_t number;
    double real;
    deja_slice text;
};
#define NUMBER(n)   ((struct frontdb_value){.type = FRONTDB_NUMBER, .number = (int64_t)(n)})
#define REAL(x)     ((struct frontdb_value){.type = FRONTDB_REAL, .real = (x)})
#define TEXT(s)     ((struct frontdb_value){.type = FRONTDB_TEXT, .text = (s)})
#define BLOB(s)     ((struct frontdb_value){.type = FRONTDB_BLOB, .text = (s)})
#define VALUES(...) ((const struct frontdb_value[]){__VA_ARGS__, {.type = FRONTDB_END}})

/* Execute a statement and pass each row to `take`, until it fails.  values may be NULL. */
typedef int frontdb_row(frontier *f, sqlite3_stmt *row, void *ctx, deja_error *err);
int frontdb_read(frontier *f, enum statement which, const struct frontdb_value *values,
                 frontdb_row *take, void *ctx, deja_error *err);
/* Execute a statement without rows, in a transaction. */
int frontdb_write(frontier *f, enum statement which, const struct frontdb_value *values,
                  deja_error *err);

/* SQLite's columns have no types, and anyone can write to the file, so every value is checked.
 * These return false if it has a different type or is out of range; frontier_damaged reports
 * that. */
bool frontdb_number(sqlite3_stmt *s, int at, int64_t least, int64_t most, int64_t *value);
bool frontdb_count(sqlite3_stmt *s, int at, uint32_t *value);
bool frontdb_amount(sqlite3_stmt *s, int at, double *value);  /* 0 or more; NULL is 0 */
bool frontdb_text(sqlite3_stmt *s, int at, deja_slice *text); /* NULL is empty */
#define FRONTDB_URL_ROW "a row of its table url"

#endif
