/* store_lmdb.c - LMDB: mdb_put with MDB_NOOVERWRITE, without syncs. */
#include "bench/stores/store.h"
#include <lmdb.h>

static MDB_env *env;
static MDB_txn *txn;
static MDB_dbi dbi;

static void check(int rc, const char *what)
{
    if (rc != 0)
        store_fail(what, mdb_strerror(rc));
}

static void store_open(const char *folder, uint64_t memory)
{
    (void)memory; /* the page cache, which the system limits */
    check(mdb_env_create(&env), "create");
    check(mdb_env_set_mapsize(env, (size_t)1 << 40), "mapsize");
    check(mdb_env_open(env, folder, MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD, 0600), "open");
    check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
    check(mdb_dbi_open(txn, NULL, MDB_CREATE, &dbi), "dbi");
}

static bool store_put(const uint8_t key[STORE_KEY])
{
    MDB_val k = {STORE_KEY, (void *)(uintptr_t)key}, v = {0, NULL};
    const int rc = mdb_put(txn, dbi, &k, &v, MDB_NOOVERWRITE);
    if (rc != MDB_KEYEXIST)
        check(rc, "put");
    return rc == 0;
}

static void store_commit(void)
{
    check(mdb_txn_commit(txn), "commit");
    check(mdb_txn_begin(env, NULL, 0, &txn), "begin");
}

static void store_close(void)
{
    check(mdb_txn_commit(txn), "commit");
    mdb_env_close(env);
}

int main(int argc, char **argv)
{
    return store_main(argc, argv);
}
