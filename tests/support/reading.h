/* reading.h - shared by the tests of the command line's input: growing buffers, files and pipes
 * to read from, and a record of everything that was read. */
#ifndef TEST_READING_H
#define TEST_READING_H
#include "rng.h"
#include "tools/input/input.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LEN(a)  (sizeof(a) / sizeof((a)[0]))
#define TEXT(s) (s), (sizeof(s) - 1)
#define MIB     ((size_t)1 << 20)

static struct rng dice = {5};

static inline size_t below(size_t n)
{
    return (size_t)(rng_next(&dice) % n);
}

/* --- Growing buffers ----------------------------------------------------- */

struct bytes {
    char *data;
    size_t len, cap;
};

static inline void put(struct bytes *b, const void *data, size_t len)
{
    if (b->cap - b->len < len || !b->data) {
        b->cap = 2 * (b->len + len) + 64;
        b->data = realloc(b->data, b->cap);
        assert_non_null(b->data);
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
}

static inline void put_byte(struct bytes *b, char c)
{
    put(b, &c, 1);
}

static inline void put_letters(struct bytes *b, size_t len)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789-";
    for (size_t n; len; len -= n) {
        n = len < sizeof letters - 1 ? len : sizeof letters - 1;
        put(b, letters, n);
    }
}

static inline void put_hex(struct bytes *b, const char *hex)
{
    for (unsigned byte; sscanf(hex, "%2x", &byte) == 1; hex += 2)
        put_byte(b, (char)byte);
}

static inline void put_le(struct bytes *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        put_byte(b, (char)(value >> 8 * i));
}

static inline void drop(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

static inline void assert_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->len, b->len);
    if (a->len)
        assert_memory_equal(a->data, b->data, a->len);
}

/* --- A scratch folder ---------------------------------------------------- */

static char folder[] = "/tmp/deja-test-reading-XXXXXX";
static char file_names[8][64];

static inline int make_folder(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < LEN(file_names); i++)
        if (file_names[i][0])
            unlink(file_names[i]);
    return rmdir(folder);
}

/* File number i of the folder, with this content. */
static inline const char *file(size_t i, const void *data, size_t len)
{
    snprintf(file_names[i], sizeof file_names[i], "%s/%zu", folder, i);
    FILE *f = fopen(file_names[i], "wb");
    assert_non_null(f);
    if (len)
        assert_int_equal(fwrite(data, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return file_names[i];
}

static inline struct input_options options_for(const char *const *paths, size_t n)
{
    struct input_options o = INPUT_OPTIONS_INIT;
    o.paths = paths;
    o.n_paths = n;
    return o;
}

/* --- Results ------------------------------------------------------------- */

/* Records and keys, each preceded by its length. */
struct reading {
    struct bytes records, keys;
    size_t n, n_blocks;
    int rc;
    deja_error err;
    struct input_progress progress;
    struct bytes header;
    bool headers_differ;
    bool terminator_added; /* in the last block */
    size_t keyless;        /* records whose key is NULL */
    bool lacking;          /* split_naively: one of them is not empty */
};

/* How reading ends if nothing fails: with an error if no line has the key. */
static inline int end_of(const struct reading *r)
{
    return r->lacking && r->keyless == r->n ? DEJA_EINVAL : 0;
}

static inline void put_counted(struct bytes *b, const void *data, size_t len)
{
    put(b, &len, sizeof len);
    put(b, data, len);
}

static inline void reading_free(struct reading *r)
{
    drop(&r->records);
    drop(&r->keys);
    drop(&r->header);
}

/* A block must keep its promises, whatever it contains. */
static inline void take_block(struct reading *r, const struct block *b, char terminator)
{
    assert_true(b->n > 0);
    assert_int_equal(b->len, b->ends[b->n - 1]);
    assert_non_null(b->path);
    assert_true(b->line > 0);
    size_t begin = 0;
    for (size_t i = 0; i < b->n; i++) {
        assert_true(b->ends[i] > begin && b->ends[i] <= b->len);
        assert_int_equal(b->data[b->ends[i] - 1], terminator);
        put_counted(&r->records, b->data + begin, b->ends[i] - begin);
        put_counted(&r->keys, b->keys[i].data, b->keys[i].len);
        assert_true(b->keys[i].data || (b->keys[i].len == 0 && b->keyless));
        r->keyless += !b->keys[i].data;
        begin = b->ends[i];
    }
    r->n += b->n;
    r->n_blocks++;
    r->terminator_added = b->terminator_added;
}

static inline struct reading read_with(const struct input_options *o, struct block *b)
{
    struct reading r = {0};
    struct input *in = NULL;
    r.rc = input_open(o, &in, &r.err);
    if (r.rc < 0)
        return r;
    while ((r.rc = input_next(in, b, &r.err)) > 0)
        take_block(&r, b, o->terminator);
    deja_error again = {0};
    assert_int_equal(input_next(in, b, &again), r.rc); /* the end and errors are permanent */
    if (r.rc < 0) {
        assert_int_equal(r.err.status, r.rc);
        assert_string_equal(again.text, r.err.text);
    }
    input_progress(in, &r.progress);
    assert_int_equal(r.progress.records, r.n);
    assert_int_equal(r.progress.missing, r.keyless);
    deja_slice header;
    if (input_header(in, &header))
        put(&r.header, header.data, header.len);
    r.headers_differ = input_headers_differ(in);
    input_close(in);
    return r;
}

static inline struct reading read_all(const struct input_options *o)
{
    struct block b;
    block_init(&b);
    struct reading r = read_with(o, &b);
    block_fini(&b);
    return r;
}

static inline struct reading read_file(const char *path)
{
    struct input_options o = options_for(&path, 1);
    return read_all(&o);
}

/* Records or keys as text, each followed by '|'. */
static inline void assert_listed(const struct bytes *list, const char *want)
{
    struct bytes got = {0};
    for (size_t at = 0; at < list->len;) {
        size_t len;
        memcpy(&len, list->data + at, sizeof len);
        put(&got, list->data + at + sizeof len, len);
        put_byte(&got, '|');
        at += sizeof len + len;
    }
    put_byte(&got, 0);
    assert_string_equal(got.data, want);
    drop(&got);
}

static inline void keys_are(const char *content, size_t len, const char *want)
{
    struct reading r = read_file(file(0, content, len));
    assert_int_equal(r.rc, 0);
    assert_listed(&r.keys, want);
    reading_free(&r);
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* --- Standard input and pipes -------------------------------------------- */

static int saved_stdin = -1;

static inline void stdin_from(int fd)
{
    saved_stdin = dup(STDIN_FILENO);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

static inline void stdin_back(void)
{
    if (saved_stdin >= 0) {
        dup2(saved_stdin, STDIN_FILENO);
        close(saved_stdin);
    } else {
        close(STDIN_FILENO);
    }
}

static inline void send(int fd, const void *data, size_t len)
{
    assert_int_equal(write(fd, data, len), (ssize_t)len);
}

struct writer {
    int fd;
    const char *data;
    size_t len;
    size_t piece;      /* bytes at a time, 0: all */
    unsigned pause_us; /* before each */
};

static inline void *write_pieces(void *arg)
{
    const struct writer *w = arg;
    size_t at = 0;
    while (at < w->len) {
        if (w->pause_us)
            nanosleep(&(struct timespec){0, (long)w->pause_us * 1000}, NULL);
        size_t n = w->piece && w->piece < w->len - at ? w->piece : w->len - at;
        ssize_t done = write(w->fd, w->data + at, n);
        if (done <= 0)
            break;
        at += (size_t)done;
    }
    close(w->fd);
    return NULL;
}

/* Through a pipe, with a thread at its other end. */
static inline struct reading read_pipe(struct input_options o, struct writer w)
{
    int ends[2];
    pthread_t thread;
    assert_int_equal(pipe(ends), 0);
    stdin_from(ends[0]);
    w.fd = ends[1];
    assert_int_equal(pthread_create(&thread, NULL, write_pieces, &w), 0);
    struct reading r = read_all(&o);
    pthread_join(thread, NULL);
    stdin_back();
    return r;
}

/* --- A splitter that looks at one byte at a time --------------------------- */

/* One file's records and keys, a byte at a time. */
static inline void split_naively(struct reading *r, const struct input_options *o,
                                 const char *data, size_t len)
{
    struct bytes record = {0};
    for (size_t i = 0; i <= len; i++) {
        if (i < len && data[i] != o->terminator) {
            put_byte(&record, data[i]);
            continue;
        }
        if (i == len && record.len == 0)
            break;
        struct bytes key = {0};
        size_t line = record.len;
        if (line && o->terminator == '\n' && record.data[line - 1] == '\r')
            line--;
        unsigned field = 1;
        for (size_t j = 0; j < line; j++) {
            if (o->pick.field[0] && record.data[j] == o->pick.delimiter)
                field++;
            else if (o->pick.field[0] == 0 || field == o->pick.field[0])
                put_byte(&key, record.data[j]);
        }
        const bool keyless = o->pick.field[0] && key.len == 0; /* an empty part does not count */
        r->keyless += keyless;
        r->lacking = r->lacking || (keyless && line > 0);
        put_byte(&record, o->terminator);
        put_counted(&r->records, record.data, record.len);
        put_counted(&r->keys, key.data, key.len);
        r->n++;
        record.len = 0;
        drop(&key);
    }
    drop(&record);
}

static inline void random_lines(struct bytes *b, char terminator, size_t rarity)
{
    static const char letters[] = "abc\r\t\xff,\"\n";
    size_t len = below(below(4) ? 200 : 3000);
    b->len = 0;
    for (size_t i = 0; i < len; i++)
        put_byte(b, below(rarity) == 0 ? terminator : letters[below(sizeof letters)]);
}

#endif
