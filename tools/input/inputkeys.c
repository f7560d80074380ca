/* inputkeys.c - finds the keys of the records in a block; see inputkeys.h. */
#include "tools/input/inputkeys.h"
#include "tools/base/fail.h"
#include <inttypes.h>
#include <string.h>

const char *input_unit(const struct input *in, uint64_t n)
{
    if (in->opt.terminator == '\n')
        return n == 1 ? "line" : "lines";
    return n == 1 ? "record" : "records";
}

int input_no_memory(const struct input *in, uint64_t line, size_t bytes, deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "%s: out of memory for %zu bytes at %s %" PRIu64,
                fail_path(in->source.path).text, bytes, input_unit(in, 1), line);
}

/* Counts the lines up to the end of the last complete record. */
uint64_t input_lines_before(const struct input *in, const struct block *b)
{
    if (pick_spans_lines(&in->pick) && b->n)
        return in->line +
               deja_lines_count((deja_slice){b->data, b->ends[b->n - 1]}, in->opt.terminator);
    return in->line + b->n;
}

/* The line from `begin` up to its terminator at end - 1, without the terminator. */
static inline deja_slice line_of(const char *data, size_t begin, size_t end, char terminator)
{
    size_t len = end - begin - 1;
    if (len && terminator == '\n' && data[end - 2] == '\r')
        len--;
    return (deja_slice){data + begin, len};
}

static int refuse_keyless(const struct input *in, uint64_t line, deja_error *err)
{
    return fail(err, DEJA_EINVAL, "%s: %s %" PRIu64 " lacks %s; without --strict such lines pass",
                fail_path(in->source.path).text, input_unit(in, 1), line,
                pick_wanted(&in->pick).text);
}

/* Records that a line has no key. */
static deja_slice no_key(struct input *in, struct block *b, deja_slice line, uint64_t number)
{
    block_report(b, BLOCK_NO_KEY, number, line);
    if (!in->had_key)
        pickhint_keep(&in->hint, line, in->source.path);
    in->lacking = in->lacking || line.len > 0;
    b->keyless = true;
    return (deja_slice){NULL, 0};
}

/* Finds the keys of the records from `first` on; some may be raw. */
int input_make_keys(struct input *in, struct block *b, size_t first, deja_error *err)
{
    const char terminator = in->opt.terminator;
    const struct pick_ops *ops = in->pick.ops;
    size_t begin = first ? b->ends[first - 1] : in->bom_len;
    for (size_t i = first; i < b->n; i++) {
        b->keys[i] = line_of(b->data, begin, b->ends[i], terminator);
        begin = b->ends[i];
    }
    if (!ops->cut)
        return DEJA_OK;
    uint64_t missing = 0;
    for (size_t i = first; i < b->n; i++) {
        deja_slice line = b->keys[i];
        if (ops->cut(&in->pick, line, &b->keys[i]) && b->keys[i].len > 0) {
            in->had_key = true;
            in->raw = in->raw || ops->join || (ops->is_raw && ops->is_raw(b->keys[i]));
        } else if (in->opt.strict) {
            b->n = i; /* the records before it are valid */
            return refuse_keyless(in, input_lines_before(in, b) + 1, err);
        } else {
            const bool named = block_wants(b, BLOCK_NO_KEY);
            b->keys[i] = no_key(in, b, line, named ? block_line(b, i) : 0);
            missing++;
        }
    }
    input_count(&in->missing, missing);
    return DEJA_OK;
}

/* Decodes the raw keys.  None becomes empty, because each has an escape, or more than its
 * quotes. */
int input_decode_keys(const struct input *in, struct block *b, deja_error *err)
{
    const struct pick_ops *ops = in->pick.ops;
    for (size_t i = 0; i < b->n; i++) {
        deja_slice raw = b->keys[i];
        if (!raw.data || (!ops->join && !ops->is_raw(raw)))
            continue;
        const size_t room = ops->join ? ops->join(&in->pick, raw, NULL) : raw.len;
        char *out = block_room(b, room);
        if (!out)
            return input_no_memory(in, b->line, room, err);
        b->keys[i] =
            (deja_slice){out, ops->join ? ops->join(&in->pick, raw, out) : ops->decode(raw, out)};
        block_take(b, b->keys[i].len);
    }
    return DEJA_OK;
}

/* Makes the records of a line in a block list.  The line has this number and ends at `end`. */
static int spread_line(struct input *in, struct block *b, enum blocklist_line is, deja_slice line,
                       uint64_t number, size_t end, deja_error *err)
{
    deja_slice key;
    bool fine = true;
    if (is == BLOCKLIST_STRANGE) {
        fine = block_rekey_add(b, no_key(in, b, line, number), end);
        input_count(&in->missing, 1);
    } else if (is == BLOCKLIST_SKIPPED) {
        block_report(b, BLOCK_RULE, number, line);
        b->keyless = true;
        fine = block_rekey_add(b, (deja_slice){NULL, 0}, end);
        input_count(&in->missing, 1);
        input_count(&in->rules, 1);
    } else {
        in->had_key = true;
        while (fine && in->pick.ops->next(&in->list, &key))
            fine = block_rekey_add(b, key, end);
    }
    return fine ? DEJA_OK : input_no_memory(in, b->line, b->n * sizeof *b->keys, err);
}

/* Adds what was skipped in a line to the totals. */
static void count_skipped(struct input *in)
{
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        if (in->list.skipped[i]) {
            input_count(&in->skipped[i], in->list.skipped[i]);
            in->list.skipped[i] = 0;
        }
}

/* For lines with any number of keys: each key becomes a record that shares the line's bytes.  Lines
 * that are not records are removed from the data. */
int input_spread_keys(struct input *in, struct block *b, deja_error *err)
{
    const struct pick_ops *ops = in->pick.ops;
    size_t begin = 0, to = 0, first = b->n;
    int rc = DEJA_OK;
    block_rekey(b);
    for (size_t i = 0; i < b->n && rc == DEJA_OK; i++) {
        const size_t len = b->ends[i] - begin;
        const size_t mark = (size_t)((const char *)b->keys[i].data - (b->data + begin));
        deja_slice line = {b->data + to + mark, b->keys[i].len};
        memmove(b->data + to, b->data + begin, len);
        begin = b->ends[i];
        const enum blocklist_line is = ops->begin(&in->list, line);
        count_skipped(in);
        if (is == BLOCKLIST_NOTHING) {
            if (to > 0 && !block_gap(b, to))
                rc = input_no_memory(in, b->line + i, sizeof *b->ends, err);
            continue;
        }
        if (is == BLOCKLIST_STRANGE && in->opt.strict) {
            rc = refuse_keyless(in, b->line + i, err);
            break;
        }
        first = first < i ? first : i;
        to += len;
        rc = spread_line(in, b, is, line, b->line + i, to, err);
    }
    b->line += first;
    b->len = to;
    block_rekey_end(b);
    return rc;
}
