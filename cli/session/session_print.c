/* session_print.c - turns the answers of a batch into printed lines; see session.h. */
#include "cli/session/session.h"
#include "tools/input/paragraphs.h"

/* Gives the keyless records of a batch this answer. */
static void settle(struct batch *b, uint8_t keyless)
{
    for (size_t i = 0; b->block.keyless && i < b->block.n; i++)
        if (b->answer[i] == BATCH_KEYLESS)
            b->answer[i] = keyless;
}

void session_spread(struct batch *b, uint8_t keyless)
{
    batch_spread(b, b->answer);
    settle(b, keyless);
}

/* Combines two records of one line; a record with a key wins over a keyless one. */
static uint8_t either(struct session *s, uint8_t a, uint8_t b)
{
    if (a != BATCH_KEYLESS && b != BATCH_KEYLESS)
        return a | b;
    s->keyless--;
    return a == BATCH_KEYLESS ? b : a;
}

void session_fold(struct session *s, struct batch *b, uint8_t keyless)
{
    struct block *block = &b->block;
    size_t lines = 0;
    batch_spread(b, b->answer);
    for (size_t i = 0; block->shared && i < block->n; i++) {
        if (lines && block->ends[i] == block->ends[lines - 1]) {
            const uint8_t so_far = b->answer[lines - 1];
            b->answer[lines - 1] = either(s, so_far, b->answer[i]);
            if (b->answer[lines - 1] != so_far)
                block->keys[lines - 1] = block->keys[i];
            continue;
        }
        b->answer[lines] = b->answer[i];
        block->keys[lines] = block->keys[i];
        block->ends[lines++] = block->ends[i];
    }
    if (block->shared) {
        s->records -= block->n - lines;
        block->n = lines;
        block->shared = false;
    }
    settle(b, keyless);
}

uint64_t session_count(const struct batch *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < b->block.n; i++)
        n += b->answer[i];
    return n;
}

/* A paragraph at the end of a file may lack the blank line that separates it from the next.  It is
 * printed when there is a next one. */
static void separate(struct session *s, const struct block *b, size_t end)
{
    if (s->separator)
        out_text(s->out, s->separator);
    const bool is_last = b->unseparated && end == b->len;
    const bool crlf = is_last && end > 1 && b->data[end - 2] == '\r';
    s->separator = !is_last ? NULL : crlf ? "\r\n" : "\n";
}

void session_print_record(struct session *s, const struct block *b, size_t i, const char *front)
{
    size_t begin = i ? b->ends[i - 1] : 0;
    const size_t end = b->ends[i];
    if (s->shared->paragraphs)
        begin += paragraph_margin((deja_slice){b->data + begin, end - begin});
    separate(s, b, end);
    out_text(s->out, front);
    if (s->urls.forms) {
        out_write(s->out, b->forms[i].data, b->forms[i].len);
        begin = end - 1;
    }
    out_write(s->out, b->data + begin, end - begin);
}

void session_print_between(struct session *s, const struct block *b, size_t i, deja_slice front,
                           deja_slice back)
{
    const size_t begin = i ? b->ends[i - 1] : 0;
    size_t stop = b->ends[i] - 1; /* the terminator, and the carriage return before it */
    if (b->data[stop] == '\n' && stop > begin && b->data[stop - 1] == '\r')
        stop--;
    const deja_slice line = {b->data + begin, stop - begin};
    const deja_slice text = s->urls.forms ? b->forms[i] : line;
    out_write(s->out, front.data, front.len);
    out_write(s->out, text.data, text.len);
    out_write(s->out, back.data, back.len);
    out_write(s->out, b->data + stop, b->ends[i] - stop);
}

struct printing {
    struct session *s;
    const struct block *b;
};

static void print_piece(void *printing, const void *data, size_t len)
{
    const struct printing *p = printing;
    if (!p->s->urls.forms)
        separate(p->s, p->b, (size_t)((const char *)data - p->b->data) + len);
    out_write(p->s->out, data, len);
}

static void put_forms(const struct batch *b, uint8_t want, session_put_fn *put, void *to)
{
    const struct block *block = &b->block;
    for (size_t i = 0; i < block->n; i++) {
        if (b->answer[i] != want)
            continue;
        put(to, block->forms[i].data, block->forms[i].len);
        put(to, block->data + block->ends[i] - 1, 1);
    }
}

/* Adjacent lines are one piece: a block of only new lines is one write. */
void session_pieces(const struct session *s, const struct batch *b, uint8_t want,
                    session_put_fn *put, void *to)
{
    const struct block *block = &b->block;
    if (s->urls.forms) {
        put_forms(b, want, put, to);
        return;
    }
    size_t i = 0;
    while (i < block->n) {
        while (i < block->n && b->answer[i] != want)
            i++;
        const size_t from = i;
        while (i < block->n && b->answer[i] == want)
            i++;
        if (i > from) {
            const size_t begin = from ? block->ends[from - 1] : 0;
            put(to, block->data + begin, block->ends[i - 1] - begin);
        }
    }
}

void session_print(struct session *s, const struct batch *b, uint8_t want)
{
    struct printing p = {s, &b->block};
    session_print_header(s, "");
    session_pieces(s, b, want, print_piece, &p);
}

bool session_header(const struct session *s, deja_slice *header)
{
    return !s->urls.forms && input_header(s->in, header);
}

void session_print_header(struct session *s, const char *front)
{
    deja_slice header;
    if (s->header_printed || !session_header(s, &header))
        return;
    out_text(s->out, front);
    out_write(s->out, header.data, header.len);
    s->header_printed = true;
}
