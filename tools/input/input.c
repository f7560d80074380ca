/* input.c - reads files, pipes and standard input as blocks of records; see input.h.
 *
 * Bytes are read or decompressed straight into the block, and searched for record ends while they
 * are still in the cache.  When the block is full, the incomplete record at its end is saved and
 * starts the next block; nothing else is copied.  A block is full at block_size bytes or
 * records_max records, so lists of short lines have smaller blocks.  If a single record is longer
 * than the block, the block doubles until it fits.
 *
 *   data   | record 0 | record 1 | ... | record n-1 | incomplete |      |
 *          0       ends[0]    ends[1]            ends[n-1] = len  filled  data_cap
 *
 * Data moves only while the block has no record, so keys can point into it immediately.  Keys that
 * need decoding are decoded when the block is full. */
#include "tools/input/input.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/input/decode.h"
#include "tools/input/inputkeys.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE       ((size_t)1 << 20)
#define RECORD_MAX       ((size_t)1 << 30)
#define READ_SIZE        ((size_t)256 << 10) /* stays in the L2 cache until it is searched */
#define READ_LEAST       ((size_t)4 << 10)
#define BYTES_PER_RECORD 48 /* if lines are shorter, blocks are smaller */
#define RECORDS_LEAST    4

static const char bom[3] = {'\xef', '\xbb', '\xbf'};

/* Grows a block that is full and whose first record is incomplete. */
static int grow(const struct input *in, struct block *b, deja_error *err)
{
    uint64_t line = input_lines_before(in, b) + 1;
    struct fail_path path = fail_path(in->source.path);
    if (b->filled >= in->opt.record_max && csv_open(&in->csv))
        return fail(err, DEJA_ENOMEM,
                    "%s: the record that starts at %s %" PRIu64
                    " has a quote that is not closed within %zu bytes; is it CSV?",
                    path.text, input_unit(in, 1), line, in->opt.record_max);
    if (b->filled >= in->opt.record_max && in->pick.opt.paragraphs)
        return fail(err, DEJA_ENOMEM,
                    "%s: the paragraph at line %" PRIu64
                    " is longer than %zu bytes; do blank lines separate the paragraphs?",
                    path.text, line, in->opt.record_max);
    if (b->filled >= in->opt.record_max)
        return fail(err, DEJA_ENOMEM,
                    "%s: %s %" PRIu64 " is longer than %zu bytes; is it a list of lines? "
                    "(-z reads lists that NUL bytes separate)",
                    path.text, input_unit(in, 1), line, in->opt.record_max);
    size_t cap = b->data_cap > SIZE_MAX / 2 ? SIZE_MAX : b->data_cap * 2;
    if (cap - 1 > in->opt.record_max)
        cap = in->opt.record_max + 1;
    char *data = realloc(b->data, cap);
    if (!data)
        return input_no_memory(in, line, cap, err);
    b->data = data;
    b->data_cap = cap;
    return DEJA_OK;
}

/* --- Opening ------------------------------------------------------------- */

static int check_sizes(struct input *in, deja_error *err)
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
    in->records_max = o->block_size / BYTES_PER_RECORD;
    if (in->records_max < RECORDS_LEAST)
        in->records_max = RECORDS_LEAST;
    if (o->block_records && o->block_records < in->records_max) {
        in->records_max = o->block_records;
        o->block_size = o->block_records * BYTES_PER_RECORD;
    }
    return DEJA_OK;
}

int input_open(const struct input_options *opt, struct input **out, deja_error *err)
{
    struct input *in = calloc(1, sizeof *in);
    if (!in)
        return fail(err, DEJA_ENOMEM, "out of memory");
    in->opt = *opt;
    int rc = check_sizes(in, err);
    if (rc == DEJA_OK)
        rc = pick_init(&in->pick, &opt->pick, opt->terminator, err);
    if (rc == DEJA_OK)
        header_init(&in->header, &in->pick);
    if (rc == DEJA_OK)
        rc = source_init(&in->source, opt->paths, opt->n_paths, opt->stop, err);
    if (rc < 0) {
        free(in);
        return rc;
    }
    in->source.twice = opt->twice;
    *out = in;
    return DEJA_OK;
}

void input_rewind(struct input *in)
{
    source_rewind(&in->source);
    in->carry_len = 0;
    in->failed = DEJA_OK;
    in->lull = false;
    in->opt.odd_most = 0;
    atomic_store_explicit(&in->raw_bytes, 0, memory_order_relaxed);
    atomic_store_explicit(&in->decoded, 0, memory_order_relaxed);
    atomic_store_explicit(&in->records, 0, memory_order_relaxed);
    atomic_store_explicit(&in->missing, 0, memory_order_relaxed);
}

void input_close(struct input *in)
{
    if (!in)
        return;
    source_fini(&in->source);
    header_fini(&in->header);
    pickhint_fini(&in->hint);
    free(in->carry);
    free(in);
}

static void begin_file(struct input *in)
{
    in->ended = false;
    in->at_start = true;
    in->bom_len = 0;
    in->want_header = in->pick.header != PICK_NO_HEADER;
    header_begin(&in->header, &in->pick);
    in->line = 0;
    in->scanned = 0;
    in->list = (struct blocklist){0};
    in->csv = (struct csv_scan){in->pick.opt.delimiter, in->opt.terminator, CSV_START};
    in->paragraph = PARAGRAPH_SCAN;
}

/* --- The header ---------------------------------------------------------- */

/* Removes the first `len` bytes of the block, which are not a record. */
static void take_out(struct input *in, struct block *b, size_t len)
{
    in->line += deja_lines_count((deja_slice){b->data, len}, in->opt.terminator);
    in->at_start = false;
    in->bom_len = 0;
    in->scanned -= len;
    b->line = in->line + 1;
    b->filled -= len;
    memmove(b->data, b->data + len, b->filled);
}

/* The end of the record that starts at `begin`, or 0. */
static size_t find_end(struct input *in, const struct block *b, size_t begin)
{
    const deja_slice text = {b->data, b->filled};
    size_t end;
    size_t got;
    if (pick_is_csv(&in->pick) && !header_is_comment(&in->pick, b->data[begin]))
        got = csv_ends(&in->csv, text, in->scanned, &end, 1);
    else
        got = deja_lines_ends(text, in->scanned, in->opt.terminator, &end, 1);
    in->scanned = got ? end : b->filled;
    return got ? end : 0;
}

/* Looks for the header; *taken becomes the length of everything before the first record. */
static int look_for_header(struct input *in, const struct block *b, size_t *taken, deja_error *err)
{
    for (*taken = 0;;) {
        const size_t begin = *taken ? *taken : in->bom_len;
        if (b->filled == begin)
            return 0;
        int is = 0;
        if (!header_is_comment(&in->pick, b->data[begin]))
            is = header_in_comment(&in->header, &in->pick, err);
        if (is != 0)
            return is;
        const size_t end = find_end(in, b, begin);
        if (end == 0)
            return 0;
        is = header_look(&in->header, &in->pick, (deja_slice){b->data + *taken, end - *taken},
                         in->source.path, err);
        if (is < 0)
            return is;
        if (is == HEADER_NOT)
            in->scanned = begin;
        else
            *taken = end;
        if (is != HEADER_COMMENT)
            return 1;
    }
}

/* Returns 1 if everything before the first record was found and removed, 0 if more bytes are
 * needed. */
static int find_header(struct input *in, struct block *b, deja_error *err)
{
    size_t taken;
    const int rc = look_for_header(in, b, &taken, err);
    if (taken)
        take_out(in, b, taken); /* once for all comments and the header */
    in->want_header = rc == 0;
    return rc;
}

bool input_header(const struct input *in, deja_slice *header)
{
    *header = (deja_slice){in->header.text, in->header.len};
    return in->header.text;
}

bool input_headers_differ(const struct input *in)
{
    return in->header.differ;
}

/* --- Filling a block ----------------------------------------------------- */

/* Looks for a byte order mark; returns false if there are too few bytes to decide. */
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

/* The ends of up to cap records, from in->scanned on. */
static size_t record_ends(struct input *in, deja_slice text, size_t *ends, size_t cap)
{
    if (pick_is_csv(&in->pick))
        return csv_ends(&in->csv, text, in->scanned, ends, cap);
    if (in->pick.opt.paragraphs)
        return paragraph_ends(&in->paragraph, text, in->scanned, ends, cap);
    return deja_lines_ends(text, in->scanned, in->opt.terminator, ends, cap);
}

/* Finds the ends of the records in the bytes that were added to the block. */
static int find_records(struct input *in, struct block *b, deja_error *err)
{
    if (in->at_start && b->n == 0 && in->scanned == 0 && in->bom_len == 0 && !know_bom(in, b))
        return DEJA_OK;
    if (in->want_header) {
        int rc = find_header(in, b, err);
        if (rc <= 0)
            return rc;
    }
    const deja_slice text = {b->data, b->filled};
    const size_t cap = in->records_max - b->n;
    const size_t got = record_ends(in, text, b->ends + b->n, cap);
    b->n += got;
    in->scanned = got == cap ? b->ends[b->n - 1] : b->filled;
    return input_make_keys(in, b, b->n - got, err);
}

/* The file has ended: its last paragraph may lack the blank line, or even the end of its line. */
static int find_last_paragraph(struct input *in, struct block *b, deja_error *err)
{
    if (!in->paragraph.inside) {
        b->filled = b->n ? b->ends[b->n - 1] : 0; /* the rest is blank */
        return DEJA_OK;
    }
    if (b->data[b->filled - 1] != '\n') {
        b->data[b->filled++] = '\n';
        b->terminator_added = true;
    }
    in->paragraph = PARAGRAPH_SCAN;
    in->scanned = b->filled;
    b->unseparated = true;
    b->ends[b->n++] = b->filled;
    return input_make_keys(in, b, b->n - 1, err);
}

/* The file has ended: its last record may lack the terminator. */
static int find_last_record(struct input *in, struct block *b, deja_error *err)
{
    const size_t n = b->n;
    if (b->filled == in->bom_len && n == 0)
        b->filled = 0; /* the file contains only a byte order mark */
    if (b->filled != (n ? b->ends[n - 1] : 0)) {
        if (csv_open(&in->csv))
            return fail(err, DEJA_EFORMAT,
                        "%s ends inside quotes: the record that starts at %s %" PRIu64
                        " has a quote that is never closed",
                        fail_path(in->source.path).text, input_unit(in, 1),
                        input_lines_before(in, b) + 1);
        b->data[b->filled++] = in->opt.terminator;
        int rc = find_records(in, b, err);
        if (rc < 0)
            return rc;
        b->terminator_added = b->n > n;
    }
    if (in->want_header)
        return header_end(&in->header, &in->pick, in->source.path, err);
    return DEJA_OK;
}

static int read_more(struct input *in, struct block *b, size_t *got, deja_error *err)
{
    /* The rest after the last record must fit the next block. */
    const size_t size = in->opt.block_size;
    size_t want = b->filled < size ? size - b->filled : b->data_cap - 1 - b->filled;
    size_t most = size < READ_SIZE ? size : READ_SIZE;
    if (want > most)
        want = most;
    /* If lines are short, do not read far past the last record that fits. */
    uint64_t fitting = (uint64_t)in->mean_len * (in->records_max - b->n);
    if (fitting && want > fitting)
        want = fitting > READ_LEAST ? (size_t)fitting : want < READ_LEAST ? want : READ_LEAST;
    deja_error phrase;
    struct decode *dec = in->source.dec;
    int rc = decode_read(dec, b->data + b->filled, want, b->n == 0, got, &phrase);
    atomic_store_explicit(&in->raw_bytes, source_raw_bytes(&in->source), memory_order_relaxed);
    if (rc == DEJA_ENOTSUP) /* the file has no lines */
        return fail(err, rc, "%s %s", fail_path(in->source.path).text, phrase.text);
    if (rc < 0) {
        uint64_t lines = input_lines_before(in, b);
        return fail(err, rc, "%s %s; %" PRIu64 " %s before that %s read",
                    fail_path(in->source.path).text, phrase.text, lines, input_unit(in, lines),
                    lines == 1 ? "was" : "were");
    }
    input_count(&in->decoded, *got);
    b->filled += *got;
    in->ended = *got == 0 && decode_ended(dec);
    return DEJA_OK;
}

static bool is_full(const struct input *in, const struct block *b)
{
    return b->n &&
           (b->filled >= in->opt.block_size || b->n >= in->records_max - in->records_max / 8);
}

/* Reads until the block is full, the file ends, or no more bytes are available at the moment. */
static int gather(struct input *in, struct block *b, deja_error *err)
{
    for (;;) {
        int rc = find_records(in, b, err);
        if (rc < 0)
            return rc;
        if (is_full(in, b))
            return DEJA_OK;
        if (in->ended)
            return in->pick.opt.paragraphs ? find_last_paragraph(in, b, err)
                                           : find_last_record(in, b, err);
        if (b->filled == b->data_cap - 1) {
            rc = grow(in, b, err);
            if (rc < 0)
                return rc;
        }
        size_t got;
        rc = read_more(in, b, &got, err);
        if (rc < 0)
            return rc;
        if (got == 0 && !in->ended) {
            in->lull = true;
            return DEJA_OK; /* no bytes yet, or stopped */
        }
    }
}

/* Saves the bytes after the last record for the next block. */
static int set_aside(struct input *in, const struct block *b, deja_error *err)
{
    in->carry_len = b->filled - b->len;
    in->scanned -= b->len;
    if (in->carry_len > in->carry_cap)
        in->carry = array_renew(in->carry, &in->carry_cap, in->carry_len, 1);
    if (in->carry_len > in->carry_cap) {
        in->carry_len = 0;
        return input_no_memory(in, in->line + 1, b->filled - b->len, err);
    }
    if (in->carry_len)
        memcpy(in->carry, b->data + b->len, in->carry_len);
    return DEJA_OK;
}

static int fill(struct input *in, struct block *b, deja_error *err)
{
    const size_t size = in->opt.block_size + 1; /* room for the last record's terminator */
    b->path = in->source.path;
    b->line = in->line + 1;
    const size_t lacking = block_reset(b, size, in->records_max);
    if (lacking)
        return input_no_memory(in, b->line, lacking, err);
    if (in->carry_len)
        memcpy(b->data, in->carry, in->carry_len);
    b->filled = in->carry_len;
    b->odd_most = in->opt.odd_most;
    in->carry_len = 0;
    in->raw = false;
    in->lull = false;

    int rc = gather(in, b, err);
    /* Do this even after an error, because the records before it are valid. */
    b->len = b->n ? b->ends[b->n - 1] : 0;
    in->line = input_lines_before(in, b);
    int aside = rc == DEJA_OK ? set_aside(in, b, err) : DEJA_OK;
    if (aside < 0)
        rc = aside;
    if (b->n == 0)
        return rc;
    in->mean_len = b->len / b->n + 1;
    in->at_start = false;
    in->bom_len = 0;
    int keys = in->raw              ? input_decode_keys(in, b, err)
               : in->pick.ops->next ? input_spread_keys(in, b, err)
                                    : DEJA_OK;
    if (keys == DEJA_ENOMEM)
        b->n = 0;
    input_count(&in->records, b->n);
    return keys < 0 ? keys : rc;
}

/* Called at the end of all files.  If no line has the key, its name is probably wrong. */
static int look_back(struct input *in)
{
    if (in->had_key || !in->lacking)
        return 0;
    return pickhint_fail(&in->hint, &in->pick, &in->error);
}

int input_next(struct input *in, struct block *b, deja_error *err)
{
    b->n = 0;
    b->len = 0;
    while (in->failed == DEJA_OK && !source_stopped(&in->source)) {
        if (!in->source.dec) {
            in->failed = source_next(&in->source, &in->error);
            if (in->failed == 0 && !source_stopped(&in->source))
                in->failed = look_back(in);
            if (in->failed == 0)
                return 0;
            if (in->failed > 0)
                in->failed = DEJA_OK;
            begin_file(in);
            continue;
        }
        in->failed = fill(in, b, &in->error);
        if (in->failed == DEJA_OK && in->ended && in->carry_len == 0)
            source_close(&in->source);
        if (b->n)
            return 1;
    }
    if (in->failed == DEJA_OK)
        return 0; /* stopped */
    if (err)
        *err = in->error;
    return in->failed;
}

void input_quit(struct input *in)
{
    source_quit(&in->source);
}

bool input_wait(const struct input *in, int timeout_ms)
{
    const bool reads = in->source.dec ? in->lull : source_begins_with_stdin(&in->source);
    return !reads || source_wait(&in->source, timeout_ms);
}

bool input_is_terminal(const struct input *in)
{
    return source_begins_with_stdin(&in->source) && isatty(STDIN_FILENO) == 1;
}

void input_progress(const struct input *in, struct input_progress *out)
{
    out->raw = atomic_load_explicit(&in->raw_bytes, memory_order_relaxed);
    out->total = in->source.total;
    out->decoded = atomic_load_explicit(&in->decoded, memory_order_relaxed);
    out->records = atomic_load_explicit(&in->records, memory_order_relaxed);
    out->missing = atomic_load_explicit(&in->missing, memory_order_relaxed);
    out->rules = atomic_load_explicit(&in->rules, memory_order_relaxed);
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        out->skipped[i] = atomic_load_explicit(&in->skipped[i], memory_order_relaxed);
}

struct pick_text input_wanted(const struct input *in)
{
    return pick_wanted(&in->pick);
}
