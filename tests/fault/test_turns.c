/* test_turns.c - a window in a file forgets only expired keys, whatever happens during a turn.
 *
 * A turn clears bits, which no other operation on a file does.  The test takes a snapshot of the
 * file before and after every step that makes it durable.  Between two snapshots, a power cut may
 * leave every sector of the bodies as of one or the other.  Each key arrives once, so it is known
 * which ones must be found: the last N of those in the earlier snapshot. */
#include "unit.h"

#include "core/bits/popcount.h"
#include "kinds/kind.h"
#include "rng.h"
#include "scratch.h"
#include "store/sync.h"
#include <unistd.h>

enum {
    WINDOW = 600,
    PHOTOS = 64
};

struct photo {
    struct bytes file;
    uint64_t added; /* keys whose add had returned */
};

static struct {
    struct photo photo[PHOTOS];
    size_t n;
    uint64_t added;
    const char *path;
} album;

static void take_photo(void)
{
    MUST(album.n < PHOTOS);
    album.photo[album.n++] = (struct photo){read_file(album.path), album.added};
}

static int photographed_checkpoint(deja_filter *f)
{
    take_photo();
    const int rc = dj_file_checkpoint(f);
    take_photo();
    return rc;
}

static bool has(const deja_filter *f, uint64_t key)
{
    return deja_filter_contains(f, (deja_slice){&key, sizeof key});
}

static void add_until(deja_filter *f, uint64_t end)
{
    for (; album.added < end; album.added++)
        assert_int_equal(
            deja_filter_add(f, (deja_slice){&album.added, sizeof album.added}, NULL, NULL),
            DEJA_OK);
}

static deja_options options(uint32_t generations)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_WINDOW;
    opt.capacity = WINDOW;
    opt.generations = generations;
    opt.fp_rate = 1e-9;
    opt.seed = 3;
    return opt;
}

/* Syncs now and then; the last sync leaves many keys unsynced. */
static void make_album(uint32_t generations)
{
    static struct dj_owner_ops ops;
    const deja_options opt = options(generations);
    deja_filter *f;
    album.n = 0;
    album.added = 0;
    album.path = scratch_path("album");
    MUST(deja_filter_create(album.path, DEJA_CREATE_REPLACE, &opt, &f, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    add_until(f, WINDOW + WINDOW / 3);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    take_photo();
    ops = *f->owner;
    ops.checkpoint = photographed_checkpoint;
    f->owner = &ops;
    add_until(f, 4 * WINDOW - WINDOW / 5);
    take_photo();
    f->owner = &dj_file_ops;
    deja_filter_free(f);
}

static void burn_album(void)
{
    for (size_t i = 0; i < album.n; i++)
        free(album.photo[i].file.data);
    unlink(album.path);
}

/* Every sector of the bodies as of snapshot i or i + 1; the header as of i. */
static void tear(size_t i, struct rng *rng, const char *path)
{
    const struct bytes *a = &album.photo[i].file, *b = &album.photo[i + 1].file;
    uint8_t *mix = malloc(a->len);
    MUST(mix && a->len == b->len);
    memcpy(mix, album.photo[i].file.data, DJ_HEADER_LEN);
    for (size_t at = DJ_HEADER_LEN; at < a->len; at += 512) {
        const size_t len = a->len - at < 512 ? a->len - at : 512;
        memcpy(mix + at, (rng_below(rng, 2) ? a : b)->data + at, len);
    }
    write_file(path, mix, a->len);
    free(mix);
}

static void expect_window(const deja_filter *f, uint64_t end, uint64_t least, const char *when)
{
    const uint64_t from = end > WINDOW ? end - WINDOW : 0;
    for (uint64_t key = from > least ? from : least; key < end; key++)
        if (!has(f, key))
            fail_msg("%s: key %llu of %llu is forgotten", when, (unsigned long long)key,
                     (unsigned long long)end);
}

/* Counts by the bits, which would reveal leftovers of an expired generation. */
static uint64_t keys_of_newest(const deja_filter *f)
{
    const struct dj_part *p = f->part[0];
    uint64_t bits = 0;
    for (uint64_t b = 0; b < p->blocks.n_blocks; b++)
        bits += dj_popcount(p->body + DJ_BLOCK_BYTES * (b * p->lines + p->newest), DJ_BLOCK_BYTES);
    assert_int_equal(bits % p->shape.k, 0);
    return bits / p->shape.k;
}

/* The window of the earlier snapshot is complete, continues, and finally forgets.  `came` keys had
 * been added by the time of the crash, including the lost ones. */
static void expect_whole(const char *path, const struct photo *p, uint64_t came,
                         uint32_t generations)
{
    deja_filter *f;
    deja_error err = {0, ""};
    if (deja_filter_open(path, 0, NULL, &f, &err) != DEJA_OK)
        fail_msg("%s", err.text);
    expect_window(f, p->added, 0, "read");
    deja_filter_free(f);
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_OK);
    const uint64_t quota = (WINDOW + generations - 1) / generations;
    const uint64_t later = 1000000; /* different from the keys that may be half present */
    const bool was_clearing = f->window.clearing;
    for (uint64_t i = 0; i < 3 * WINDOW; i++) {
        const uint64_t key = later + i;
        assert_int_equal(deja_filter_add(f, (deja_slice){&key, sizeof key}, NULL, NULL), DEJA_OK);
        if (i == 0 && was_clearing) /* expired keys do not survive another round */
            assert_int_equal(keys_of_newest(f), 1);
        if (i % 150 == 0) {
            expect_window(f, key + 1, later, "later");
            for (uint64_t back = came + i + 1 - WINDOW; came + i + 1 > WINDOW && back < p->added;
                 back++)
                assert_true(has(f, back));
        }
    }
    /* More than all generations hold, including the half-present ones. */
    for (uint64_t key = 0; key < 5 * WINDOW; key++)
        assert_false(has(f, key));
    assert_true(f->window.turns >= 3 * WINDOW / quota - 1);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
}

static void a_power_cut_within_a_turn_keeps_the_window(void **state)
{
    for (uint32_t generations = 1; generations <= 3; generations++) {
        struct rng rng = rng_seeded(generations);
        const char *path = scratch_path("torn");
        make_album(generations);
        assert_true(album.n > 4);
        for (size_t i = 0; i + 1 < album.n; i++)
            for (int again = 0; again < 3; again++) {
                tear(i, &rng, path);
                expect_whole(path, &album.photo[i], album.photo[i + 1].added, generations);
            }
        burn_album();
    }
}

/* A kill leaves the file as in one of the snapshots. */
static void a_kill_within_a_turn_keeps_everything(void **state)
{
    make_album(2);
    for (size_t i = 0; i < album.n; i++) {
        const char *path = scratch_path("killed");
        write_file(path, album.photo[i].file.data, album.photo[i].file.len);
        expect_whole(path, &album.photo[i], album.photo[i].added, 2);
    }
    burn_album();
}

/* A disk that accepts no record: the add reports it, and nothing was cleared. */
static void a_turn_that_cannot_be_recorded_clears_nothing(void **state)
{
    const deja_options opt = options(1);
    const char *path = scratch_path("full");
    deja_filter *f;
    album.added = 0;
    MUST(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    MUST(deja_filter_sync(f, NULL) == DEJA_OK);
    add_until(f, 2 * WINDOW);
    struct dj_file *file = f->store;
    const int fd = file->fd;
    file->fd = open(path, O_RDONLY | O_CLOEXEC); /* writes to it fail */
    MUST(file->fd >= 0);
    const uint64_t key = 77777777;
    assert_int_equal(deja_filter_add(f, (deja_slice){&key, sizeof key}, NULL, NULL), DEJA_EIO);
    for (uint64_t i = 0; i < 2 * WINDOW; i++)
        assert_true(has(f, i));
    close(file->fd);
    file->fd = fd;
    assert_int_equal(deja_filter_add(f, (deja_slice){&key, sizeof key}, NULL, NULL), DEJA_OK);
    assert_false(has(f, 0));
    expect_window(f, 2 * WINDOW, WINDOW, "after the failure");
    deja_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_power_cut_within_a_turn_keeps_the_window, scratch_clear),
        cmocka_unit_test_teardown(a_kill_within_a_turn_keeps_everything, scratch_clear),
        cmocka_unit_test_teardown(a_turn_that_cannot_be_recorded_clears_nothing, scratch_clear),
    };
    return cmocka_run_group_tests_name("fault.turns", tests, scratch_open, scratch_close);
}
