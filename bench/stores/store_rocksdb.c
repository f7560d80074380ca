/* store_rocksdb.c - RocksDB: get, then put; a Bloom filter of 10 bits per key, no log, no compression.
 *
 * A quarter of the memory is for keys not yet written, the rest for blocks, filters and indexes. */
#include "bench/stores/store.h"
#include <rocksdb/c.h>

static rocksdb_t *db;
static rocksdb_readoptions_t *reading;
static rocksdb_writeoptions_t *writing;

static void check(char *error, const char *what)
{
    if (error)
        store_fail(what, error);
}

static void store_open(const char *folder, uint64_t memory)
{
    char path[4096], *error = NULL;
    rocksdb_options_t *o = rocksdb_options_create();
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_options_set_create_if_missing(o, 1);
    rocksdb_options_increase_parallelism(o, 2);
    rocksdb_options_set_write_buffer_size(o, memory / 8);
    rocksdb_options_set_max_write_buffer_number(o, 2);
    rocksdb_options_set_compression(o, rocksdb_no_compression);
    rocksdb_options_set_max_open_files(o, 1000);
    rocksdb_block_based_options_set_filter_policy(table,
                                                  rocksdb_filterpolicy_create_bloom_full(10));
    rocksdb_block_based_options_set_block_cache(table, rocksdb_cache_create_lru(memory / 2));
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_options_set_block_based_table_factory(o, table);
    (void)snprintf(path, sizeof path, "%s/seen.rocksdb", folder);
    db = rocksdb_open(o, path, &error);
    check(error, path);
    reading = rocksdb_readoptions_create();
    writing = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(writing, 1);
}

static bool store_put(const uint8_t key[STORE_KEY])
{
    char *error = NULL;
    rocksdb_pinnableslice_t *found =
        rocksdb_get_pinned(db, reading, (const char *)key, STORE_KEY, &error);
    check(error, "get");
    if (found) {
        rocksdb_pinnableslice_destroy(found);
        return false;
    }
    rocksdb_put(db, writing, (const char *)key, STORE_KEY, "", 0, &error);
    check(error, "put");
    return true;
}

static void store_commit(void)
{
}

static void store_close(void)
{
    rocksdb_close(db);
}

int main(int argc, char **argv)
{
    return store_main(argc, argv);
}
