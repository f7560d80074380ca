/* fuzz_pick.c - every input format, on any bytes and in blocks of any size.
 *
 * The first byte selects the format, or several fields; the second the block size and the terminator; the others are
 * the file.  It is read in small blocks and in one: records, keys, header and error must be the
 * same.  The key of each line must also be found if the line is alone in a block of its exact
 * size, where a read beyond it is detected.  If no line has a key, the error that says what they
 * have instead must be the same, too. */
#include "checking.h"
#include "tools/input/input.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct bytes {
    char *data;
    size_t len, cap;
};

static void put(struct bytes *b, const void *data, size_t len)
{
    if (b->cap - b->len < len + 1) {
        b->cap = 2 * (b->len + len) + 64;
        b->data = realloc(b->data, b->cap);
        check(b->data);
    }
    if (len)
        memcpy(b->data + b->len, data, len);
    b->len += len;
}

static void put_slice(struct bytes *b, deja_slice s)
{
    put(b, &s.len, sizeof s.len);
    put(b, s.data, s.len);
}

static bool same(const struct bytes *a, const struct bytes *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* Everything that reading a file gives. */
struct reading {
    struct bytes keys, records, header;
    uint64_t records_n, keyed, missing;
    bool lacking; /* a line that is not empty has no key */
    int rc;
    deja_error err;
};

static void reading_free(struct reading *r)
{
    free(r->keys.data);
    free(r->records.data);
    free(r->header.data);
}

static bool has_mark(const char *record, size_t len)
{
    return len >= 3 && memcmp(record, "\xef\xbb\xbf", 3) == 0;
}

/* The line of a record without its end, alone in memory. */
static deja_slice alone(const char *record, size_t len, char terminator)
{
    len--;
    if (len && terminator == '\n' && record[len - 1] == '\r')
        len--;
    char *copy = malloc(len ? len : 1);
    check(copy);
    memcpy(copy, record, len);
    return (deja_slice){copy, len};
}

static void check_key(const struct pick *p, deja_slice line, deja_slice want)
{
    deja_slice key = line;
    char *out = NULL;
    if (p->ops->cut && (!p->ops->cut(p, line, &key) || key.len == 0)) {
        check(!want.data);
        return;
    }
    check(want.data);
    if (p->ops->join) {
        out = malloc(p->ops->join(p, line, NULL));
        check(out);
        key = (deja_slice){out, p->ops->join(p, line, out)};
    } else if (p->ops->is_raw && p->ops->is_raw(key)) {
        out = malloc(key.len);
        check(out);
        key = (deja_slice){out, p->ops->decode(key, out)};
    }
    check(key.len == want.len && (key.len == 0 || memcmp(key.data, want.data, key.len) == 0));
    free(out);
}

static void check_hosts(const struct pick *p, deja_slice line, const struct block *b, size_t from,
                        size_t to)
{
    struct blocklist h = {0};
    deja_slice host;
    if (p->opt.format == PICK_RPZ) /* depends on the lines before it */
        return;
    const enum blocklist_line is = p->ops->begin(&h, line);
    check(is != BLOCKLIST_NOTHING);
    if (is == BLOCKLIST_STRANGE || is == BLOCKLIST_SKIPPED) {
        check(to == from + 1 && !b->keys[from].data);
        return;
    }
    for (size_t i = from; i < to; i++) {
        check(p->ops->next(&h, &host));
        check(host.len == b->keys[i].len && memcmp(host.data, b->keys[i].data, host.len) == 0);
    }
    check(!p->ops->next(&h, &host));
}

static void take_block(struct reading *r, const struct block *b, const struct pick *p,
                       char terminator)
{
    check(b->n > 0 && b->ends[b->n - 1] == b->len);
    size_t begin = 0;
    for (size_t i = 0, next; i < b->n; i = next) {
        for (next = i + 1; next < b->n && b->ends[next] == b->ends[i];)
            next++;
        check(next == i + 1 || (b->shared && p->ops->next));
        check(b->ends[i] > begin && b->data[b->ends[i] - 1] == terminator);
        const size_t len = b->ends[i] - begin;
        put_slice(&r->records, (deja_slice){b->data + begin, len});
        deja_slice line = alone(b->data + begin, len, terminator);
        /* Only the input knows what a header names and where the file starts. */
        const size_t mark = has_mark(b->data + begin, len) ? 3 : 0;
        const bool known = p->header == PICK_NO_HEADER && mark == 0;
        if (known && p->ops->next)
            check_hosts(p, line, b, i, next);
        else if (known)
            check_key(p, line, b->keys[i]);
        for (size_t j = i; j < next; j++) {
            put_slice(&r->keys, b->keys[j]);
            check(b->keys[j].data || (b->keyless && b->keys[j].len == 0));
            /* Only a whole line can be an empty key. */
            check(!b->keys[j].data || b->keys[j].len > 0 || (!p->ops->cut && !p->ops->next));
            r->keyed += b->keys[j].data != NULL;
            r->missing -= !b->keys[j].data; /* input_progress adds them up */
            r->lacking = r->lacking || (!b->keys[j].data && line.len > mark);
            r->records_n++;
        }
        free((void *)(uintptr_t)line.data);
        begin = b->ends[next - 1];
    }
}

static struct reading read_file(const char *path, const struct pick_options *pick, char terminator,
                                size_t block_size)
{
    struct reading r = {0};
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    struct pick p;
    deja_slice header;
    o.paths = &path;
    o.n_paths = 1;
    o.terminator = terminator;
    o.pick = *pick;
    o.block_size = block_size;
    r.rc = pick_init(&p, pick, terminator, NULL);
    if (r.rc < 0)
        return r;
    r.rc = input_open(&o, &in, &r.err);
    if (r.rc < 0) { /* an archive, or a compression that deja cannot read */
        check(r.rc == DEJA_ENOTSUP);
        return r;
    }
    block_init(&b);
    while ((r.rc = input_next(in, &b, &r.err)) > 0)
        take_block(&r, &b, &p, terminator);
    if (input_header(in, &header))
        put_slice(&r.header, header);
    struct input_progress progress;
    input_progress(in, &progress);
    check(r.missing + progress.missing == 0 && r.records_n == progress.records);
    /* At the end, an input without a single key is rejected with a suitable message. */
    const bool none = strncmp(r.err.text, "no line has ", 12) == 0;
    check(r.rc != 0 || r.keyed > 0 || !r.lacking || progress.rules > 0);
    check(!none ||
          (r.rc == DEJA_EINVAL && r.keyed == 0 && strlen(r.err.text) < sizeof r.err.text));
    input_close(in);
    block_fini(&b);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct pick_options picks[] = {
        {.format = PICK_LINES},   {.format = PICK_LOG},
        {.format = PICK_SQUID},   {.format = PICK_CDX},
        {.format = PICK_CDXJ},    {.format = PICK_JSONL},
        {.format = PICK_HOSTS},   {.json_key = ".a.\"b\""},
        {.field = {2}},           {.field = {2}, .has_delimiter = true, .delimiter = ';'},
        {.csv_column = "2"},      {.csv_column = "url"},
        {.format = PICK_DNSMASQ}, {.format = PICK_UNBOUND},
        {.format = PICK_RPZ},     {.format = PICK_ADBLOCK},
    };
    static const struct pick_options several[] = {
        {.field = {3, 1}},
        {.field = {1, 2}, .has_delimiter = true, .delimiter = ';'},
        {.csv_column = "2,1,2"},
        {.csv_column = "url,1,\"a,\"\"b\""},
    };
    if (size < 2)
        return 0;
    const struct pick_options *pick = data[0] >= 252
                                          ? &several[data[0] - 252]
                                          : &picks[data[0] % (sizeof picks / sizeof picks[0])];
    const char terminator = data[1] & 0x80 ? '\0' : '\n';
    const size_t block_size = 1 + (data[1] & 0x7f);

    const int fd = memfd_create("fuzz_pick", MFD_CLOEXEC);
    char path[40];
    check(fd >= 0 && write(fd, data + 2, size - 2) == (ssize_t)(size - 2));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct reading whole = read_file(path, pick, terminator, size + 64);
    struct reading pieces = read_file(path, pick, terminator, block_size);
    check(whole.rc == pieces.rc);
    check(same(&whole.records, &pieces.records));
    check(same(&whole.keys, &pieces.keys));
    check(same(&whole.header, &pieces.header));
    check(whole.keyed == pieces.keyed && strcmp(whole.err.text, pieces.err.text) == 0);
    reading_free(&whole);
    reading_free(&pieces);
    close(fd);
    return 0;
}
