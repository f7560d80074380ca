/* csv_wide.h - records and fields of CSV, 64 bytes at a time, shared by kernels that differ in their
 * registers.  A kernel includes this file after it has defined
 *
 *   wide                   32 bytes
 *   wide_load(at)          32 bytes of memory
 *   wide_equal(a, b, c)    which bytes of a equal c, as the low 32 bits, and which of b, as the
 *                          high 32 bits
 *   lowest(bits)           the position of the lowest bit, or 64
 *
 * A comparison gives a word with one bit per byte that equals a quote, a delimiter or a terminator.
 * If quotes only open fields, close them, and come in pairs in between, then a byte is inside
 * quotes if the number of quotes up to it is odd.  The xor of all lower bits gives that for 64
 * bytes at once; both quotes of a "" pair count, which closes and opens again.
 *
 *     bytes    a , " b , " " c " , d
 *     quote    . . 1 . . 1 1 . 1 . .
 *     inside   . . 1 1 1 . 1 1 . . .      from an opening quote to before the closing one
 *
 * A quote that opens must follow a separator or a quote.  One that does not is an ordinary byte of
 * an unquoted field, as are all quotes up to the next separator: they are removed from the word,
 * and the rest is computed again.
 *
 * Ends are stored as in core/bits/lines_avx2.c: three for each word, without a branch. */
#define QUOTE  '"'
#define CHUNK  32 /* bytes in half a window */
#define WIDE   64 /* bytes in a window, and bits in a word */
#define ALWAYS 3  /* ends stored for every word */

/* 64 bytes, or fewer: `high` then overlaps `low`, or bytes before the first one are dropped. */
struct window {
    wide low, high;
    unsigned high_at, drop;
};

static inline struct window window_at(const char *at)
{
    return (struct window){wide_load(at), wide_load(at + CHUNK), CHUNK, 0};
}

/* The bytes from `from` on of a record of at least CHUNK bytes. */
static inline struct window window_in(const char *record, size_t from, size_t len)
{
    if (len - from >= WIDE)
        return window_at(record + from);
    if (len < WIDE)
        return (struct window){wide_load(record), wide_load(record + len - CHUNK),
                               (unsigned)(len - CHUNK), 0};
    const char *last = record + len - WIDE;
    return (struct window){wide_load(last), wide_load(last + CHUNK), CHUNK,
                           (unsigned)(from + WIDE - len)};
}

static inline uint64_t equal(const struct window *w, char c)
{
    const uint64_t both = wide_equal(w->low, w->high, c);
    return ((uint32_t)both | both >> CHUNK << w->high_at) >> w->drop;
}

/* --- Quotes ------------------------------------------------------------------ */

struct carry {       /* from the bytes before a window: */
    uint64_t inside; /* all ones: they end inside quotes */
    uint64_t
        may_open; /* 1: a quote may come next, because the last byte is a separator or a quote */
    uint64_t separator; /* 1: it is a separator */
};

static inline struct carry carry_of(enum csv_state state)
{
    return (struct carry){state == CSV_QUOTED ? UINT64_MAX : 0,
                          state == CSV_START || state == CSV_CLOSED, state == CSV_START};
}

static inline enum csv_state state_of(struct carry c)
{
    return c.inside ? CSV_QUOTED : c.separator ? CSV_START : c.may_open ? CSV_CLOSED : CSV_PLAIN;
}

/* Bit i of the result is the xor of the bits up to i. */
static inline uint64_t xor_up_to(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

/* Removes the ordinary quotes of a window, and returns which bytes are inside the others. */
static inline uint64_t inside_quotes(uint64_t *quote, uint64_t separators, const struct carry *c)
{
    for (;;) {
        const uint64_t inside = xor_up_to(*quote) ^ c->inside;
        const uint64_t opens = *quote & inside;
        const uint64_t wrong = opens & ~((separators | *quote) << 1 | c->may_open);
        if (!wrong)
            return inside;
        const uint64_t first = wrong & (0 - wrong), after = separators & (0 - first);
        *quote &= ~((after & (0 - after)) - first); /* without a separator: up to the end */
    }
}

/* Returns which bytes of a window are inside quotes, and carries over to the next window. */
static inline uint64_t quoted(const struct window *w, uint64_t separators, struct carry *c)
{
    uint64_t quote = equal(w, QUOTE), inside = 0;
    if (quote | c->inside)
        inside = inside_quotes(&quote, separators, c);
    c->inside = 0 - (inside >> (WIDE - 1));
    c->may_open = (separators | quote) >> (WIDE - 1);
    c->separator = separators >> (WIDE - 1);
    return inside;
}

/* --- Records ----------------------------------------------------------------- */

static size_t ends_wide(struct csv_scan *s, deja_slice text, size_t from, size_t *ends, size_t cap)
{
    const char *const data = text.data;
    struct carry c = carry_of(s->state);
    size_t n = 0;
    while (cap - n >= WIDE && from < text.len && text.len - from >= WIDE) {
        const struct window w = window_at(data + from);
        const uint64_t marks = equal(&w, s->terminator);
        uint64_t bits = marks & ~quoted(&w, marks | equal(&w, s->delimiter), &c);
        const size_t in_window = (size_t)__builtin_popcountll(bits), past = from + 1;
        for (size_t i = 0; i < ALWAYS || i < in_window; i++) {
            ends[n + i] = past + lowest(bits); /* 64 if no bit is left: harmless */
            bits &= bits - 1;
        }
        n += in_window;
        from += WIDE;
    }
    s->state = state_of(c);
    return n + csv_portable.ends(s, text, from, ends + n, cap - n);
}

/* --- Fields ------------------------------------------------------------------ */

/* Stores the field, without its quotes if csv_next would; always true. */
static inline bool take(const char *begin, const char *end, char delimiter, deja_slice *field)
{
    *field = (deja_slice){begin, (size_t)(end - begin)};
    if (begin < end && *begin == QUOTE) {
        struct csv_cursor c = csv_cursor(begin, field->len, delimiter);
        (void)csv_next(&c, field);
    }
    return true;
}

static bool cut_wide(deja_slice record, char delimiter, unsigned column, deja_slice *field)
{
    if (record.len < CHUNK)
        return csv_portable.cut(record, delimiter, column, field);
    const char *const data = record.data, *begin = data;
    struct carry c = carry_of(CSV_START);
    for (size_t from = 0; from < record.len; from += WIDE) {
        const struct window w = window_in(data, from, record.len);
        const uint64_t delimiters = equal(&w, delimiter);
        uint64_t ends = delimiters & ~quoted(&w, delimiters, &c);
        for (; ends; ends &= ends - 1) {
            const char *end = data + from + lowest(ends);
            if (--column == 0)
                return take(begin, end, delimiter, field);
            begin = end + 1;
        }
    }
    return column == 1 && take(begin, data + record.len, delimiter, field);
}
