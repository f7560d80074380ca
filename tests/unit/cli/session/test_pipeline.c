/* test_pipeline.c - the step between picking keys and hashing them. */
#include "cli/session/pipeline.h"
#include "tools/base/fail.h"
#include "unit.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES 2000

static char list[] = "/tmp/deja-test-pipeline-XXXXXX";
static deja_filter *filter;

static int make_list(void **state)
{
    (void)state;
    const int fd = mkstemp(list);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f)
        return -1;
    for (int i = 0; i < LINES; i++)
        fprintf(f, "key%d Key%d\n", i, i);
    deja_options o = DEJA_OPTIONS_INIT;
    o.capacity = 10 * LINES;
    o.seed = 7;
    return fclose(f) == 0 && deja_filter_new(&o, &filter, NULL) == DEJA_OK ? 0 : -1;
}

static int remove_list(void **state)
{
    (void)state;
    deja_filter_free(filter);
    return unlink(list);
}

/* Converts every key to capitals.  Fails at line 1000 if told to.  May run on two blocks at once. */
struct capitals {
    _Atomic uint64_t seen;
    bool fail;
};

static int capitalise(void *context, struct block *b, deja_error *err)
{
    struct capitals *c = context;
    for (size_t i = 0; i < b->n; i++) {
        c->seen++;
        if (c->fail && b->keys[i].len == 7 && memcmp(b->keys[i].data, "Key1000", 7) == 0) {
            b->n = i; /* keep the lines before it */
            return (fail)(err, DEJA_EINVAL, "line %d is not liked", 1000);
        }
        const char *from = b->keys[i].data;
        const size_t len = b->keys[i].len;
        char *to = block_room(b, 4 * len);
        if (!to)
            return (fail)(err, DEJA_ENOMEM, "out of memory");
        for (size_t j = 0; j < len; j++)
            to[j] = (char)toupper((unsigned char)from[j]);
        block_take(b, len);
        b->keys[i] = (deja_slice){to, len};
    }
    return DEJA_OK;
}

/* Each line becomes two: one with its key, one with the key's first three letters. */
static int double_keys(void *context, struct block *b, deja_error *err)
{
    (void)context;
    (void)err;
    block_rekey(b);
    for (size_t i = 0; i < b->n; i++) {
        const deja_slice begin = {b->keys[i].data, 3};
        if (!block_rekey_add(b, b->keys[i], b->ends[i]) || !block_rekey_add(b, begin, b->ends[i]))
            return DEJA_ENOMEM;
    }
    block_rekey_end(b);
    return DEJA_OK;
}

/* Reads the list and checks every hash; returns how it ended. */
static int read_list(const struct pipeline_step *step, uint32_t threads, bool capitals,
                     size_t keys_per_line, uint64_t *n, deja_error *err)
{
    const char *path = list;
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct pipeline *p;
    struct batch *b;
    int rc;
    o.paths = &path;
    o.n_paths = 1;
    o.pick.field[0] = 2;
    o.block_size = 1000;
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_int_equal(pipeline_open(in, pipeline_hash_of(filter), step, threads, &p, NULL),
                     DEJA_OK);
    for (*n = 0; (rc = pipeline_next(p, &b, err)) > 0; *n += b->block.n) {
        for (size_t i = 0; i < b->block.n; i++) {
            char want[32];
            uint64_t hash;
            const uint64_t line = (*n + i) / keys_per_line;
            snprintf(want, sizeof want, capitals ? "KEY%d" : "Key%d", (int)line);
            if (keys_per_line == 2 && i % 2)
                want[3] = 0;
            deja_slice key = {want, strlen(want)};
            deja_filter_hash_batch(filter, &key, 1, &hash);
            assert_int_equal(hash, b->hash[i]);
        }
    }
    pipeline_close(p);
    input_close(in);
    return rc;
}

static void without_a_step_keys_are_hashed_unchanged(void **state)
{
    (void)state;
    uint64_t n;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        assert_int_equal(read_list(NULL, threads, false, 1, &n, NULL), 0);
        assert_int_equal(n, LINES);
    }
}

static void a_step_may_replace_keys(void **state)
{
    (void)state;
    uint64_t n;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct capitals c = {0};
        const struct pipeline_step step = {capitalise, &c};
        assert_int_equal(read_list(&step, threads, true, 1, &n, NULL), 0);
        assert_int_equal(n, LINES);
        assert_int_equal(c.seen, LINES);
    }
}

static void a_step_may_make_several_keys_from_one_line(void **state)
{
    (void)state;
    uint64_t n;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        const struct pipeline_step step = {double_keys, NULL};
        assert_int_equal(read_list(&step, threads, false, 2, &n, NULL), 0);
        assert_int_equal(n, 2 * LINES);
    }
}

/* Keeps line 1000 alone, in whichever block it is. */
static int leave_out(void *context, struct block *b, deja_error *err)
{
    _Atomic uint64_t *seen = context;
    (void)err;
    const size_t n = b->n;
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        const bool stays = b->keys[i].len > 8 && memcmp(b->keys[i].data, "key1000 ", 8) == 0;
        b->keys[b->n] = b->keys[i];
        b->ends[b->n] = b->ends[i];
        b->n += stays;
        ++*seen;
    }
    return DEJA_OK;
}

static void a_step_may_drop_whole_blocks(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        _Atomic uint64_t seen = 0;
        uint64_t n = 0;
        const struct pipeline_step step = {leave_out, &seen};
        const char *path = list;
        struct input_options o = INPUT_OPTIONS_INIT;
        struct input *in;
        struct pipeline *p;
        struct batch *b;
        o.paths = &path;
        o.n_paths = 1;
        o.block_size = 1000;
        assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
        assert_int_equal(pipeline_open(in, pipeline_hash_of(filter), &step, threads, &p, NULL),
                         DEJA_OK);
        while (pipeline_next(p, &b, NULL) > 0)
            n += b->block.n;
        assert_int_equal(n, 1);
        assert_int_equal(seen, LINES);
        pipeline_close(p);
        input_close(in);
    }
}

/* Two of three lines lose their keys. */
static int take_keys_away(void *context, struct block *b, deja_error *err)
{
    (void)context;
    (void)err;
    for (size_t i = 0; i < b->n; i++)
        if (((const char *)b->keys[i].data)[b->keys[i].len - 1] % 3) {
            b->keys[i] = (deja_slice){NULL, 0};
            b->keyless = true;
        }
    return DEJA_OK;
}

static void check_keyless(const struct batch *b)
{
    size_t keyed = 0;
    for (size_t i = 0; i < b->block.n; i++) {
        uint64_t hash;
        if (!b->block.keys[i].data)
            continue;
        deja_filter_hash_batch(filter, &b->block.keys[i], 1, &hash);
        b->answer[keyed] = keyed % 2;
        assert_int_equal(hash, b->hash[keyed++]);
    }
    assert_int_equal(b->keyed, keyed);
    batch_spread(b, b->answer);
    for (size_t i = 0, k = 0; i < b->block.n; i++)
        assert_int_equal(b->answer[i], b->block.keys[i].data ? k++ % 2 : BATCH_KEYLESS);
}

static void keyless_records_are_neither_hashed_nor_answered(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        const struct pipeline_step step = {take_keys_away, NULL};
        const char *path = list;
        struct input_options o = INPUT_OPTIONS_INIT;
        struct input *in;
        struct pipeline *p;
        struct batch *b;
        size_t n = 0, keyed = 0;
        o.paths = &path;
        o.n_paths = 1;
        o.block_size = 1000;
        assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
        assert_int_equal(pipeline_open(in, pipeline_hash_of(filter), &step, threads, &p, NULL),
                         DEJA_OK);
        for (; pipeline_next(p, &b, NULL) > 0; n += b->block.n, keyed += b->keyed)
            check_keyless(b);
        assert_int_equal(n, LINES);
        assert_true(keyed > LINES / 4 && keyed < LINES / 2);
        pipeline_close(p);
        input_close(in);
    }
}

/* With and without an open writer. */
static void a_reader_that_waits_for_a_pipe_can_be_closed(void **state)
{
    char path[] = "/tmp/deja-test-fifo-XXXXXX";
    const char *paths[] = {path};
    struct input_options o = INPUT_OPTIONS_INIT;
    assert_non_null(mkdtemp(path));
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    o.paths = paths;
    o.n_paths = 1;
    for (int writer = 0; writer < 2; writer++) {
        const int fd = writer ? open(path, O_RDWR | O_CLOEXEC) : -1;
        struct input *in;
        struct pipeline *p;
        struct batch *b;
        assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
        assert_int_equal(pipeline_open(in, pipeline_hash_of(filter), NULL, 2, &p, NULL), DEJA_OK);
        assert_int_equal(pipeline_next_within(p, 50, &b, NULL), PIPELINE_IDLE);
        pipeline_close(p);
        input_close(in);
        if (fd >= 0)
            close(fd);
    }
    unlink(path);
}

static void an_error_in_the_step_ends_the_reading(void **state)
{
    (void)state;
    uint64_t n;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct capitals c = {.fail = true};
        const struct pipeline_step step = {capitalise, &c};
        deja_error err = {0};
        assert_int_equal(read_list(&step, threads, true, 1, &n, &err), DEJA_EINVAL);
        assert_string_equal(err.text, "line 1000 is not liked");
        assert_int_equal(n, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_step_keys_are_hashed_unchanged),
        cmocka_unit_test(a_step_may_replace_keys),
        cmocka_unit_test(a_step_may_make_several_keys_from_one_line),
        cmocka_unit_test(a_step_may_drop_whole_blocks),
        cmocka_unit_test(keyless_records_are_neither_hashed_nor_answered),
        cmocka_unit_test(a_reader_that_waits_for_a_pipe_can_be_closed),
        cmocka_unit_test(an_error_in_the_step_ends_the_reading),
    };
    return cmocka_run_group_tests_name("unit.pipeline", tests, make_list, remove_list);
}
