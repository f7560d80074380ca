/* fuzz_textdocs.c - JSON documents without some of their paragraphs, and paragraphs of plain text.
 *
 * The first byte says which paragraphs are kept; the others are the line, up to its end.  If it has
 * a text, then keeping all paragraphs copies the line, and otherwise exactly the paragraphs that
 * were kept are found again in the result, whose other bytes are those of the line.
 *
 * The same bytes, as plain text, have the same paragraphs if they arrive in two pieces. */
#include "checking.h"
#include "cli/session/textdocs.h"
#include "tools/input/paragraphs.h"
#include <string.h>

#define PARAGRAPHS 64

struct document {
    char *text; /* decoded */
    deja_slice raw;
    deja_slice paragraph[PARAGRAPHS];
    size_t n;
};

static bool read_document(struct document *d, deja_slice line, const struct jsonpick_path *path)
{
    *d = (struct document){.text = malloc(line.len + 1)};
    check(d->text);
    if (!jsonpick_find(line, path, &d->raw))
        return false;
    deja_slice rest = d->raw;
    if (jsonpick_is_raw(d->raw))
        rest = (deja_slice){d->text, jsonpick_decode(d->raw, d->text)};
    deja_slice paragraph;
    while (textdoc_next(&rest, &paragraph)) {
        if (d->n == PARAGRAPHS)
            return false;
        d->paragraph[d->n++] = paragraph;
    }
    return d->n > 0;
}

static void check_same(deja_slice a, deja_slice b)
{
    check(a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0));
}

/* The bytes before and after the text are unchanged. */
static void check_frame(deja_slice line, const struct document *d, deja_slice cut)
{
    const size_t before = (size_t)((const char *)d->raw.data - (const char *)line.data);
    const size_t after = line.len - before - d->raw.len;
    check(cut.len >= before + after);
    check(memcmp(cut.data, line.data, before) == 0);
    check(memcmp((const char *)cut.data + cut.len - after,
                 (const char *)line.data + line.len - after, after) == 0);
}

static void check_cut(deja_slice line, const struct jsonpick_path *path, unsigned mask)
{
    struct document d, again;
    struct buffer to = {0};
    uint8_t answer[PARAGRAPHS];
    size_t kept = 0;
    if (read_document(&d, line, path)) {
        memset(answer, 1, sizeof answer);
        check(textdoc_write(&to, line, path, answer, d.n, 1));
        check_same(buffer_slice(&to), line);
        for (size_t i = 0; i < d.n; i++)
            kept += answer[i] = mask >> i % 8 & 1;
        to.len = 0;
        check(kept == 0 || textdoc_write(&to, line, path, answer, d.n, 1));
    }
    if (kept) {
        check_frame(line, &d, buffer_slice(&to));
        check(read_document(&again, buffer_slice(&to), path) && again.n == kept);
        for (size_t i = 0, k = 0; i < d.n; i++)
            if (answer[i])
                check_same(d.paragraph[i], again.paragraph[k++]);
        free(again.text);
    }
    buffer_fini(&to);
    free(d.text);
}

static void check_pieces(deja_slice text, size_t cut)
{
    struct paragraph_scan whole = PARAGRAPH_SCAN, pieces = PARAGRAPH_SCAN;
    size_t *a = malloc((text.len + 1) * sizeof *a), *b = malloc((text.len + 1) * sizeof *b);
    check(a && b);
    const size_t n = paragraph_ends(&whole, text, 0, a, text.len + 1);
    size_t m = paragraph_ends(&pieces, (deja_slice){text.data, cut}, 0, b, text.len + 1);
    m += paragraph_ends(&pieces, text, cut, b + m, text.len + 1 - m);
    check(n == m && memcmp(a, b, n * sizeof *a) == 0);
    for (size_t i = 0; i < n; i++) {
        const size_t begin = i ? a[i - 1] : 0;
        const deja_slice p =
            paragraph_of((deja_slice){(const char *)text.data + begin, a[i] - begin});
        check(p.len > 0);
        check(paragraph_decode(p, (char *)b) <= p.len);
    }
    free(a);
    free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jsonpick_path path;
    if (size < 2)
        return 0;
    const char *end = memchr(data + 1, '\n', size - 1);
    const size_t len = end ? (size_t)(end - (const char *)data) - 1 : size - 1;
    check(jsonpick_parse(&path, "text"));
    check_cut((deja_slice){data + 1, len}, &path, data[0]);
    check_pieces((deja_slice){data + 1, size - 1}, data[0] % size);
    return 0;
}
