/* input.c - files, pipes and standard input as blocks of records, each with its key.
 *
 * Bytes are read, or decompressed, straight into the block.  After each read the new bytes are
 * searched for record ends while they are still in the cache.  When the block is full, the
 * incomplete record at its end is copied aside and begins the next block; nothing else is ever
 * copied.  A block is full with block_size bytes, or with so many records that its arrays of
 * keys and ends would outgrow the budget: lists of short lines get smaller blocks.  If a single
 * record is longer than the block, the block doubles until it fits.
 *
 *   data   | record 0 | record 1 | ... | record n-1 | incomplete |      |
 *          0       ends[0]    ends[1]            ends[n-1] = len  filled  data_cap
 *
 * Data moves only while the block has no record, so keys can point into it at once, while the
 * bytes around them are in the cache. */
#include "input.h"
#include "csv.h"
#include "decode.h"
#include "fail.h"
#include "lines.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE       ((size_t)1 << 20)
#define RECORD_MAX       ((size_t)1 << 30)
#define READ_SIZE        ((size_t)256 << 10) /* fits the L2 cache, so splitting finds it there */
#define READ_LEAST       ((size_t)4 << 10)
#define BYTES_PER_RECORD 48 /* shorter lines make smaller blocks */
#define RECORDS_LEAST    4
#define PIPE_SIZE        (1 << 20)

static const char bom[3] = {'\xef', '\xbb', '\xbf'};
static const char stdin_name[] = "standard input";

struct input {
    struct input_options opt;
    const struct split_ops *split;
    size_t records_max; /* of a block */
    unsigned column;    /* for fields and CSV, from 1; 0: the whole line */
    bool by_name;       /* look the column up in each file's header */

    /* The present file; dec is NULL between files. */
    size_t next_path;
    const char *path;
    int fd;
    struct decode *dec;
    bool ended;        /* all of it has been read */
    bool at_start;     /* no record yet: there may be a byte order mark ... */
    size_t bom_len;    /* ... and this is its length */
    bool want_header;  /* the next record is one */
    uint64_t line;     /* lines before the present block */
    uint64_t raw_base; /* raw bytes of the files before it */
    struct csv_scan csv;

    char *carry; /* read, but not yet delivered */
    size_t carry_len, carry_cap;
    size_t scanned;    /* bytes of carry, and then of the block, that were searched for ends */
    size_t mean_len;   /* of the records in the last block */
    size_t quoted_len; /* of the keys in the present block that need unquoting */

    char *header;
    size_t header_len;
    bool headers_differ;
    int failed; /* 0, or what every further input_next returns */
    deja_error error;

    _Atomic uint64_t raw, decoded, records, missing;
    uint64_t total;
};

static const char *unit(const struct input *in, uint64_t n)
{
    if (in->opt.terminator == '\n')
        return n == 1 ? "line" : "lines";
    return n == 1 ? "record" : "records";
}

static void count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static bool stopped(const struct input *in)
{
    return in->opt.stop && atomic_load_explicit(in->opt.stop, memory_order_relaxed);
}

/* --- Blocks -------------------------------------------------------------- */

void block_init(struct block *b)
{
    memset(b, 0, sizeof *b);
}

void block_fini(struct block *b)
{
    free(b->data);
    free(b->keys);
    free(b->ends);
    free(b->scratch);
    block_init(b);
}

static int no_memory(const struct input *in, uint64_t line, size_t bytes, deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "%s: out of memory at %s %" PRIu64 ": no %zu bytes for it",
                fail_path(in->path).text, unit(in, 1), line, bytes);
}

/* Replace an array whose content does not matter. */
static bool renew(void **array, size_t *cap, size_t n, size_t size)
{
    free(*array);
    *array = reallocarray(NULL, n, size);
    *cap = *array ? n : 0;
    return *array;
}

/* Empty the block, and give it the usual size.  Arrays are renewed together with their capacity
 * or not at all; keys and ends share one. */
static int reset(const struct input *in, struct block *b, deja_error *err)
{
    size_t size = in->opt.block_size + 1; /* and the last record's terminator */
    b->n = 0;
    b->len = 0;
    b->filled = 0;
    b->terminator_added = false;
    b->path = in->path;
    b->line = in->line + 1;
    void *data = b->data;
    if (b->data_cap < size || b->data_cap / 2 >= size) {
        bool ok = renew(&data, &b->data_cap, size, 1);
        b->data = data;
        if (!ok)
            return no_memory(in, b->line, size, err);
    }
    if (b->records_cap < in->records_max || b->records_cap / 2 > in->records_max) {
        void *keys = b->keys;
        void *ends = b->ends;
        size_t keys_cap;
        bool ok = renew(&keys, &keys_cap, in->records_max, sizeof *b->keys);
        ok = renew(&ends, &b->records_cap, in->records_max, sizeof *b->ends) && ok;
        b->keys = keys;
        b->ends = ends;
        if (!ok) {
            b->records_cap = 0;
            return no_memory(in, b->line, in->records_max * sizeof *b->keys, err);
        }
    }
    if (b->scratch_cap / 2 > size) {
        free(b->scratch);
        b->scratch = NULL;
        b->scratch_cap = 0;
    }
    return DEJA_OK;
}

/* Lines up to the end of the last complete record. */
static uint64_t lines_before(const struct input *in, const struct block *b)
{
    if (in->opt.csv_column && b->n)
        return in->line + in->split->count(b->data, b->ends[b->n - 1], in->opt.terminator);
    return in->line + b->n;
}

/* The block is full, and its first record is not complete. */
static int grow(const struct input *in, struct block *b, deja_error *err)
{
    uint64_t line = lines_before(in, b) + 1;
    if (b->filled >= in->opt.record_max && in->opt.csv_column && csv_open(&in->csv))
        return fail(err, DEJA_ENOMEM,
                    "%s: the record that begins at %s %" PRIu64
                    " has a quote that is not closed within %zu bytes; is it CSV?",
                    fail_path(in->path).text, unit(in, 1), line, in->opt.record_max);
    if (b->filled >= in->opt.record_max)
        return fail(err, DEJA_ENOMEM,
                    "%s: %s %" PRIu64 " is longer than %zu bytes; is it a list of lines? "
                    "(-z reads lists that NUL bytes separate)",
                    fail_path(in->path).text, unit(in, 1), line, in->opt.record_max);
    size_t cap = b->data_cap > SIZE_MAX / 2 ? SIZE_MAX : b->data_cap * 2;
    if (cap - 1 > in->opt.record_max)
        cap = in->opt.record_max + 1;
    char *data = realloc(b->data, cap);
    if (!data)
        return no_memory(in, line, cap, err);
    b->data = data;
    b->data_cap = cap;
    return DEJA_OK;
}

/* --- Opening ------------------------------------------------------------- */

static int check_options(struct input *in, deja_error *err)
{
    struct input_options *o = &in->opt;
    if (o->block_size == 0)
        o->block_size = BLOCK_SIZE;
    if (o->record_max == 0)
        o->record_max = RECORD_MAX;
    if (o->record_max > SIZE_MAX / 2 || o->block_size > SIZE_MAX / 2)
        return fail(err, DEJA_EINVAL, "block_size or record_max is too large");
    if (o->record_max < o->block_size)
        o->record_max = o->block_size;
    if (o->csv_column && o->field)
        return fail(err, DEJA_EINVAL, "--csv and --field exclude each other: choose one");
    if (o->delimiter == 0)
        o->delimiter = o->csv_column ? ',' : '\t';
    if ((o->field || o->csv_column) && o->delimiter == o->terminator)
        return fail(err, DEJA_EINVAL, "the delimiter of fields also ends records; choose another");
    if (o->csv_column && (o->delimiter == '"' || o->delimiter == '\r' || o->delimiter == '\n'))
        return fail(err, DEJA_EINVAL,
                    "a CSV delimiter cannot be a quote or a line end; choose another");

    in->column = o->field;
    if (o->csv_column) {
        in->by_name = o->csv_column[strspn(o->csv_column, "0123456789")] != 0;
        if (o->csv_column[0] == 0)
            return fail(err, DEJA_EINVAL, "--csv needs the name or the number of a column");
        if (!in->by_name) {
            errno = 0;
            unsigned long column = strtoul(o->csv_column, NULL, 10);
            if (column == 0 || column > UINT_MAX || errno)
                return fail(err, DEJA_EINVAL, "--csv %.40s: columns are counted from 1",
                            o->csv_column);
            in->column = (unsigned)column;
        }
    }
    in->records_max = o->block_size / BYTES_PER_RECORD;
    if (in->records_max < RECORDS_LEAST)
        in->records_max = RECORDS_LEAST;
    return DEJA_OK;
}

static bool is_stdin(const char *path)
{
    return path[0] == '-' && path[1] == 0;
}

/* The paths, with "no path" turned into "-". */
static const char *const *paths_of(const struct input_options *opt, size_t *n)
{
    static const char *const only_stdin[] = {"-"};
    *n = opt->n_paths ? opt->n_paths : 1;
    return opt->n_paths ? opt->paths : only_stdin;
}

static int cannot_open(const char *path, deja_error *err)
{
    struct fail_path shown = fail_path(path);
    switch (errno) {
    case ENOENT:
        return fail(err, DEJA_EIO, "%s does not exist; check its name", shown.text);
    case EACCES:
        return fail(err, DEJA_EIO, "%s may not be read; its owner can allow it with chmod +r",
                    shown.text);
    case EBADF: /* standard input only */
        return fail(err, DEJA_EIO, "%s is closed; name files, or pipe something in", shown.text);
    default:
        return fail_errno(err, "%s cannot be opened", shown.text);
    }
}

static int is_directory(const char *path, deja_error *err)
{
    return fail(err, DEJA_EIO, "%s is a directory; name files, or use find ... | deja ...",
                fail_path(path).text);
}

/* Sizes beyond what has been read already: standard input may be in the middle of a file. */
static uint64_t bytes_left(int fd, const struct stat *st)
{
    off_t at = fd >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
    return at >= 0 && at < st->st_size ? (uint64_t)(st->st_size - at) : 0;
}

/* Find what is wrong with any path before the work begins, and add up the sizes. */
static int check_paths(struct input *in, deja_error *err)
{
    bool all_regular = true;
    bool had_stdin = false;
    size_t n;
    const char *const *paths = paths_of(&in->opt, &n);
    for (size_t i = 0; i < n; i++) {
        bool from_stdin = is_stdin(paths[i]);
        const char *name = from_stdin ? stdin_name : paths[i];
        struct stat st;
        if ((from_stdin ? fstat(STDIN_FILENO, &st) : stat(paths[i], &st)) != 0 ||
            (!from_stdin && faccessat(AT_FDCWD, paths[i], R_OK, AT_EACCESS) != 0))
            return cannot_open(name, err);
        if (S_ISDIR(st.st_mode))
            return is_directory(name, err);
        all_regular = all_regular && S_ISREG(st.st_mode);
        if (!from_stdin || !had_stdin)
            in->total += bytes_left(from_stdin ? STDIN_FILENO : -1, &st);
        had_stdin = had_stdin || from_stdin;
    }
    if (!all_regular)
        in->total = 0;
    return DEJA_OK;
}

int input_open(const struct input_options *opt, struct input **out, deja_error *err)
{
    struct input *in = calloc(1, sizeof *in);
    if (!in)
        return fail(err, DEJA_ENOMEM, "out of memory");
    in->opt = *opt;
    in->split = split_best();
    in->fd = -1;
    int rc = check_options(in, err);
    if (rc == DEJA_OK)
        rc = check_paths(in, err);
    if (rc < 0) {
        input_close(in);
        return rc;
    }
    *out = in;
    return DEJA_OK;
}

static void close_path(struct input *in)
{
    if (in->dec)
        in->raw_base += decode_raw_bytes(in->dec);
    decode_free(in->dec);
    in->dec = NULL;
    if (in->fd >= 0 && in->fd != STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

void input_close(struct input *in)
{
    if (!in)
        return;
    close_path(in);
    free(in->carry);
    free(in->header);
    free(in);
}

static int open_path(struct input *in, deja_error *err)
{
    size_t n;
    const char *path = paths_of(&in->opt, &n)[in->next_path++];
    bool from_stdin = is_stdin(path);
    in->path = from_stdin ? stdin_name : path;
    do {
        in->fd = from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    } while (in->fd < 0 && errno == EINTR && !stopped(in));
    if (in->fd < 0 && stopped(in))
        return DEJA_OK;
    struct stat st;
    if (in->fd < 0 || fstat(in->fd, &st) != 0)
        return cannot_open(in->path, err);
    if (S_ISDIR(st.st_mode))
        return is_directory(in->path, err);
    if (S_ISREG(st.st_mode))
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#ifdef F_SETPIPE_SZ
    if (S_ISFIFO(st.st_mode) && fcntl(in->fd, F_GETPIPE_SZ) < PIPE_SIZE)
        (void)fcntl(in->fd, F_SETPIPE_SZ, PIPE_SIZE); /* only speed; refused beyond a quota */
#endif
    in->ended = false;
    in->at_start = true;
    in->bom_len = 0;
    in->want_header = in->by_name;
    in->line = 0;
    in->scanned = 0;
    in->csv = (struct csv_scan){in->opt.delimiter, in->opt.terminator, CSV_START};
    return decode_new(in->fd, in->opt.stop, &in->dec, err);
}

/* --- Keys ---------------------------------------------------------------- */

/* The record from `begin` up to and with its terminator at end - 1, as a line. */
static inline deja_slice line_of(const char *data, size_t begin, size_t end, char terminator)
{
    size_t len = end - begin - 1;
    if (len && terminator == '\n' && data[end - 2] == '\r')
        len--;
    return (deja_slice){data + begin, len};
}

static bool cut_field(deja_slice line, char delimiter, unsigned field, deja_slice *out)
{
    const char *at = line.data;
    const char *end = at + line.len;
    for (;;) {
        const char *stop = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
        if (--field == 0) {
            *out = (deja_slice){at, (size_t)((stop ? stop : end) - at)};
            return true;
        }
        if (!stop)
            return false;
        at = stop + 1;
    }
}

static bool cut_column(deja_slice line, char delimiter, unsigned column, deja_slice *out)
{
    struct csv_cursor c = csv_cursor(line.data, line.len, delimiter);
    while (csv_next(&c, out))
        if (--column == 0)
            return true;
    return false;
}

/* CSV fields that do not stand in the data in one piece are written out to scratch: as many
 * bytes as they are long suffice, and so nothing moves after the first key points there. */
static int unquote_keys(const struct input *in, struct block *b, deja_error *err)
{
    size_t room = in->quoted_len;
    if (b->scratch_cap < room) {
        void *scratch = b->scratch;
        bool ok = renew(&scratch, &b->scratch_cap, room, 1);
        b->scratch = scratch;
        if (!ok)
            return no_memory(in, b->line, room, err);
    }
    char *out = b->scratch;
    for (size_t i = 0; i < b->n; i++) {
        if (csv_is_raw(b->keys[i])) {
            size_t len = csv_unquote(b->keys[i], out);
            b->keys[i] = (deja_slice){out, len};
            out += len;
        }
    }
    return DEJA_OK;
}

/* The keys of the records from `first` on; those of CSV as csv_next gives them. */
static void make_keys(struct input *in, struct block *b, size_t first)
{
    const char terminator = in->opt.terminator;
    size_t begin = first ? b->ends[first - 1] : in->bom_len;
    for (size_t i = first; i < b->n; i++) {
        b->keys[i] = line_of(b->data, begin, b->ends[i], terminator);
        begin = b->ends[i];
    }
    if (in->column == 0)
        return;
    uint64_t missing = 0;
    for (size_t i = first; i < b->n; i++) {
        deja_slice line = b->keys[i];
        bool found = in->opt.csv_column
                         ? cut_column(line, in->opt.delimiter, in->column, &b->keys[i])
                         : cut_field(line, in->opt.delimiter, in->column, &b->keys[i]);
        if (!found) {
            b->keys[i] = (deja_slice){line.data, 0};
            missing++;
        }
        if (in->opt.csv_column && csv_is_raw(b->keys[i]))
            in->quoted_len += b->keys[i].len;
    }
    count(&in->missing, missing);
}

/* --- The CSV header ------------------------------------------------------ */

static int no_such_column(const struct input *in, deja_slice line, char *scratch, deja_error *err)
{
    int rc =
        fail(err, DEJA_EINVAL, "%s has no column \"%.40s\"; it has: ", fail_path(in->path).text,
             in->opt.csv_column);
    struct csv_cursor c = csv_cursor(line.data, line.len, in->opt.delimiter);
    deja_slice name;
    const char *comma = "";
    while (err && csv_next(&c, &name)) {
        if (csv_is_raw(name))
            name = (deja_slice){scratch, csv_unquote(name, scratch)};
        size_t used = strlen(err->text);
        size_t room = sizeof err->text - used;
        int shown = name.len > 60 ? 60 : (int)name.len;
        if ((size_t)shown + sizeof ", \"\", ..." > room) {
            snprintf(err->text + used, room, "%s...", comma);
            break;
        }
        snprintf(err->text + used, room, "%s\"%.*s\"", comma, shown, (const char *)name.data);
        comma = ", ";
    }
    for (char *p = err ? err->text : scratch; err && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return rc;
}

/* Record 0 of the block is the header: find the column, keep it, and take it out. */
static int take_header(struct input *in, struct block *b, deja_error *err)
{
    assert(in->opt.csv_column && b->n == 1);
    size_t len = b->ends[0];
    char *copy = malloc(len);
    char *scratch = malloc(len);
    int rc = DEJA_OK;
    if (!copy || !scratch) {
        rc = no_memory(in, in->line + 1, len, err);
        goto out;
    }
    deja_slice line = line_of(b->data, in->bom_len, len, in->opt.terminator);
    struct csv_cursor c = csv_cursor(line.data, line.len, in->opt.delimiter);
    size_t name_len = strlen(in->opt.csv_column);
    deja_slice name;
    in->column = 0;
    for (unsigned i = 1; in->column == 0 && csv_next(&c, &name); i++) {
        if (csv_is_raw(name))
            name = (deja_slice){scratch, csv_unquote(name, scratch)};
        if (name.len == name_len && memcmp(name.data, in->opt.csv_column, name_len) == 0)
            in->column = i;
    }
    if (in->column == 0) {
        rc = no_such_column(in, line, scratch, err);
        goto out;
    }

    if (!in->header) {
        memcpy(copy, b->data, len);
        in->header = copy;
        in->header_len = len;
        copy = NULL;
    } else {
        bool had_bom = in->header_len > sizeof bom && memcmp(in->header, bom, sizeof bom) == 0;
        deja_slice first =
            line_of(in->header, had_bom ? sizeof bom : 0, in->header_len, in->opt.terminator);
        if (first.len != line.len || memcmp(first.data, line.data, line.len) != 0)
            in->headers_differ = true;
    }
    in->line = lines_before(in, b);
    in->want_header = false;
    in->at_start = false;
    in->bom_len = 0;
    in->scanned = 0;
    b->n = 0;
    b->line = in->line + 1;
    b->filled -= len;
    memmove(b->data, b->data + len, b->filled);
out:
    free(copy);
    free(scratch);
    return rc;
}

bool input_header(const struct input *in, deja_slice *header)
{
    *header = (deja_slice){in->header, in->header_len};
    return in->header;
}

bool input_headers_differ(const struct input *in)
{
    return in->headers_differ;
}

/* --- Filling a block ----------------------------------------------------- */

/* Is there a byte order mark?  False while there are too few bytes to tell. */
static bool know_bom(struct input *in, const struct block *b)
{
    size_t same = 0;
    if (in->opt.terminator == '\n')
        while (same < b->filled && same < sizeof bom && b->data[same] == bom[same])
            same++;
    if (same == b->filled && same < sizeof bom && !in->ended && in->opt.terminator == '\n')
        return false;
    in->bom_len = same == sizeof bom ? same : 0;
    in->scanned = in->bom_len;
    return true;
}

/* Find the ends of the records in what has been added to the block. */
static int find_records(struct input *in, struct block *b, deja_error *err)
{
    if (in->at_start && b->n == 0 && in->scanned == 0 && in->bom_len == 0 && !know_bom(in, b))
        return DEJA_OK;
    for (;;) {
        bool header = in->want_header;
        size_t cap = header ? 1 : in->records_max - b->n;
        size_t *ends = b->ends + b->n;
        size_t got =
            in->opt.csv_column
                ? csv_ends(&in->csv, in->split, b->data, in->scanned, b->filled, ends, cap)
                : in->split->ends(b->data, in->scanned, b->filled, in->opt.terminator, ends, cap);
        b->n += got;
        in->scanned = got == cap ? b->ends[b->n - 1] : b->filled;
        if (!header) {
            make_keys(in, b, b->n - got);
            return DEJA_OK;
        }
        if (got == 0)
            return DEJA_OK;
        int rc = take_header(in, b, err);
        if (rc < 0) {
            b->n = 0;
            return rc;
        }
    }
}

/* The file has ended: its last record may lack the terminator. */
static int find_last_record(struct input *in, struct block *b, deja_error *err)
{
    size_t end = b->n ? b->ends[b->n - 1] : 0;
    if (b->filled == in->bom_len && b->n == 0)
        b->filled = 0; /* nothing but a byte order mark */
    if (b->filled == end)
        return DEJA_OK;
    if (in->opt.csv_column && csv_open(&in->csv))
        return fail(err, DEJA_EFORMAT,
                    "%s ends inside quotes: the record that begins at %s %" PRIu64
                    " has a quote that is never closed",
                    fail_path(in->path).text, unit(in, 1), lines_before(in, b) + 1);
    b->data[b->filled++] = in->opt.terminator;
    b->ends[b->n++] = b->filled;
    b->terminator_added = true;
    in->scanned = b->filled;
    if (!in->want_header) {
        make_keys(in, b, b->n - 1);
        return DEJA_OK;
    }
    b->terminator_added = false;
    int rc = take_header(in, b, err);
    b->n = 0;
    return rc;
}

static int read_more(struct input *in, struct block *b, size_t *got, deja_error *err)
{
    /* Never so much that what is left behind the last record would not fit the next block. */
    const size_t size = in->opt.block_size;
    size_t want = b->filled < size ? size - b->filled : b->data_cap - 1 - b->filled;
    size_t most = size < READ_SIZE ? size : READ_SIZE;
    if (want > most)
        want = most;
    /* With short lines, do not read far beyond the last record that fits. */
    uint64_t fitting = (uint64_t)in->mean_len * (in->records_max - b->n);
    if (fitting && want > fitting)
        want = fitting > READ_LEAST ? (size_t)fitting : want < READ_LEAST ? want : READ_LEAST;
    deja_error phrase;
    int rc = decode_read(in->dec, b->data + b->filled, want, b->n == 0, got, &phrase);
    atomic_store_explicit(&in->raw, in->raw_base + decode_raw_bytes(in->dec),
                          memory_order_relaxed);
    if (rc < 0) {
        uint64_t lines = lines_before(in, b);
        return fail(err, rc, "%s %s; %" PRIu64 " %s before that %s read", fail_path(in->path).text,
                    phrase.text, lines, unit(in, lines), lines == 1 ? "was" : "were");
    }
    count(&in->decoded, *got);
    b->filled += *got;
    in->ended = *got == 0 && decode_ended(in->dec);
    return DEJA_OK;
}

static bool is_full(const struct input *in, const struct block *b)
{
    return b->n &&
           (b->filled >= in->opt.block_size || b->n >= in->records_max - in->records_max / 8);
}

/* Read until the block is full, the file ends, or there is something and no more just now. */
static int gather(struct input *in, struct block *b, deja_error *err)
{
    for (;;) {
        int rc = find_records(in, b, err);
        if (rc < 0)
            return rc;
        if (is_full(in, b))
            return DEJA_OK;
        if (in->ended)
            return find_last_record(in, b, err);
        if (b->filled == b->data_cap - 1) {
            rc = grow(in, b, err);
            if (rc < 0)
                return rc;
        }
        size_t got;
        rc = read_more(in, b, &got, err);
        if (rc < 0)
            return rc;
        if (got == 0 && !in->ended)
            return DEJA_OK; /* nothing there yet, or stopped */
    }
}

/* Put what is behind the last record aside for the next block. */
static int set_aside(struct input *in, const struct block *b, deja_error *err)
{
    in->carry_len = b->filled - b->len;
    in->scanned -= b->len;
    if (in->carry_len > in->carry_cap) {
        void *carry = in->carry;
        bool ok = renew(&carry, &in->carry_cap, in->carry_len, 1);
        in->carry = carry;
        if (!ok) {
            in->carry_len = 0;
            return no_memory(in, in->line + 1, b->filled - b->len, err);
        }
    }
    if (in->carry_len)
        memcpy(in->carry, b->data + b->len, in->carry_len);
    return DEJA_OK;
}

static int fill(struct input *in, struct block *b, deja_error *err)
{
    int rc = reset(in, b, err);
    if (rc < 0)
        return rc;
    if (in->carry_len)
        memcpy(b->data, in->carry, in->carry_len);
    b->filled = in->carry_len;
    in->carry_len = 0;
    in->quoted_len = 0;

    rc = gather(in, b, err);
    /* After an error, too: the records before it are good. */
    b->len = b->n ? b->ends[b->n - 1] : 0;
    in->line = lines_before(in, b);
    int aside = rc == DEJA_OK ? set_aside(in, b, err) : DEJA_OK;
    if (aside < 0)
        rc = aside;
    if (b->n == 0)
        return rc;
    in->mean_len = b->len / b->n + 1;
    int keys = in->quoted_len ? unquote_keys(in, b, err) : DEJA_OK;
    if (keys < 0) {
        b->n = 0;
        return keys;
    }
    in->at_start = false;
    in->bom_len = 0;
    count(&in->records, b->n);
    return rc;
}

int input_next(struct input *in, struct block *b, deja_error *err)
{
    size_t n_paths;
    paths_of(&in->opt, &n_paths);
    b->n = 0;
    b->len = 0;
    while (in->failed == DEJA_OK && !stopped(in)) {
        if (!in->dec) {
            if (in->next_path == n_paths)
                return 0;
            in->failed = open_path(in, &in->error);
            continue;
        }
        in->failed = fill(in, b, &in->error);
        if (in->failed == DEJA_OK && in->ended && in->carry_len == 0)
            close_path(in);
        if (b->n)
            return 1;
    }
    if (in->failed == DEJA_OK)
        return 0; /* stopped */
    if (err)
        *err = in->error;
    return in->failed;
}

/* --- How far, how much --------------------------------------------------- */

void input_progress(const struct input *in, struct input_progress *out)
{
    out->raw = atomic_load_explicit(&in->raw, memory_order_relaxed);
    out->total = in->total;
    out->decoded = atomic_load_explicit(&in->decoded, memory_order_relaxed);
    out->records = atomic_load_explicit(&in->records, memory_order_relaxed);
    out->missing = atomic_load_explicit(&in->missing, memory_order_relaxed);
}

#define SAMPLES      32
#define SAMPLE_SIZE  ((size_t)64 << 10)
#define EXACT_BELOW  ((uint64_t)SAMPLES * SAMPLE_SIZE)
#define ESTIMATE_MAX ((uint64_t)64 << 20) /* bytes read for it, all files together */

struct estimate {
    const struct split_ops *split;
    char terminator;
    char *sample;
    uint64_t read, ends; /* looked at so far, and the terminators in it */
    uint64_t exact;      /* records counted */
    double scaled;       /* records estimated from samples */
    uint64_t unread;     /* bytes in files that were not looked at */
};

/* Terminators in up to one sample at `at`; false when that cannot be read. */
static bool take_sample(struct estimate *e, int fd, uint64_t at, size_t len, uint64_t *ends)
{
    size_t have = 0;
    while (have < len) {
        ssize_t got = pread(fd, e->sample + have, len - have, (off_t)(at + have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    *ends += e->split->count(e->sample, len, e->terminator);
    e->read += len;
    return true;
}

/* One regular file from `begin` on.  False when it is compressed, or cannot be read. */
static bool estimate_file(struct estimate *e, int fd, uint64_t begin, uint64_t size)
{
    unsigned char head[DECODE_MAGIC];
    ssize_t got = pread(fd, head, sizeof head, (off_t)begin);
    if (got < 0 || decode_sniff(head, (size_t)got) > DECODE_PLAIN)
        return false;
    uint64_t ends = 0;
    if (size == 0)
        return true;
    if (e->read >= ESTIMATE_MAX) {
        e->unread += size;
        return true;
    }
    if (size < EXACT_BELOW) {
        size_t len = 0;
        for (uint64_t at = 0; at < size; at += len) {
            len = size - at < SAMPLE_SIZE ? (size_t)(size - at) : SAMPLE_SIZE;
            if (!take_sample(e, fd, begin + at, len, &ends))
                return false;
        }
        e->exact += ends + (e->sample[len - 1] != e->terminator);
    } else {
        for (uint64_t i = 0; i < SAMPLES; i++)
            if (!take_sample(e, fd, begin + (size - SAMPLE_SIZE) / (SAMPLES - 1) * i, SAMPLE_SIZE,
                             &ends))
                return false;
        /* Three more than were seen: where ends are rare, none may have met a sample. */
        e->scaled += (double)(ends + 3) * ((double)size / (double)EXACT_BELOW);
    }
    e->ends += ends;
    return true;
}

uint64_t input_estimate(const struct input_options *opt)
{
    struct estimate e = {.split = split_best(), .terminator = opt->terminator};
    e.sample = malloc(SAMPLE_SIZE);
    bool ok = e.sample;
    bool had_stdin = false;
    size_t n;
    const char *const *paths = paths_of(opt, &n);
    for (size_t i = 0; ok && i < n; i++) {
        bool from_stdin = is_stdin(paths[i]);
        if (from_stdin && had_stdin)
            continue;
        had_stdin = had_stdin || from_stdin;
        /* Nothing but regular files may be opened here: to open a pipe would take its data. */
        struct stat st;
        ok = (from_stdin ? fstat(STDIN_FILENO, &st) : stat(paths[i], &st)) == 0 &&
             S_ISREG(st.st_mode);
        if (!ok)
            break;
        int fd = from_stdin ? STDIN_FILENO : open(paths[i], O_RDONLY | O_CLOEXEC);
        off_t begin = from_stdin ? lseek(fd, 0, SEEK_CUR) : 0;
        ok = fd >= 0 && begin >= 0 &&
             estimate_file(&e, fd, (uint64_t)begin,
                           begin < st.st_size ? (uint64_t)(st.st_size - begin) : 0);
        if (fd >= 0 && !from_stdin)
            close(fd);
    }
    free(e.sample);
    if (!ok)
        return 0;
    if (e.unread && e.read)
        e.scaled += (double)e.unread * ((double)(e.ends + 3) / (double)e.read);
    return e.exact + (uint64_t)(e.scaled * 1.05);
}
