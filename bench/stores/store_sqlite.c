/* store_sqlite.c - SQLite: a table without row numbers, INSERT OR IGNORE, without journal and syncs. */
#include "bench/stores/store.h"
#include <sqlite3.h>

static sqlite3 *db;
static sqlite3_stmt *put;

static void run(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        store_fail(sql, sqlite3_errmsg(db));
}

static void store_open(const char *folder, uint64_t memory)
{
    char text[4096];
    (void)snprintf(text, sizeof text, "%s/seen.sqlite", folder);
    if (sqlite3_open(text, &db) != SQLITE_OK)
        store_fail(text, sqlite3_errmsg(db));
    run("PRAGMA journal_mode = OFF");
    run("PRAGMA synchronous = OFF");
    run("PRAGMA locking_mode = EXCLUSIVE");
    (void)snprintf(text, sizeof text, "PRAGMA cache_size = -%" PRIu64, memory / 4 * 3 / 1024);
    run(text);
    run("CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID");
    if (sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO seen VALUES (?)", -1, &put, NULL) !=
        SQLITE_OK)
        store_fail("prepare", sqlite3_errmsg(db));
    run("BEGIN");
}

static bool store_put(const uint8_t key[STORE_KEY])
{
    sqlite3_bind_blob(put, 1, key, STORE_KEY, SQLITE_STATIC);
    if (sqlite3_step(put) != SQLITE_DONE)
        store_fail("insert", sqlite3_errmsg(db));
    sqlite3_reset(put);
    return sqlite3_changes(db) > 0;
}

static void store_commit(void)
{
    run("COMMIT");
    run("BEGIN");
}

static void store_close(void)
{
    run("COMMIT");
    sqlite3_finalize(put);
    sqlite3_close(db);
}

int main(int argc, char **argv)
{
    return store_main(argc, argv);
}
