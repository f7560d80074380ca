/* estimate.c - estimates the number of records without reading everything; see input.h. */
#include "tools/base/io.h"
#include "tools/input/decode.h"
#include "tools/input/input.h"
#include "tools/input/paragraphs.h"
#include "tools/input/source.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLES      32
#define SAMPLE_SIZE  ((size_t)64 << 10)
#define EXACT_BELOW  ((uint64_t)SAMPLES * SAMPLE_SIZE)
#define ESTIMATE_MAX ((uint64_t)64 << 20) /* bytes read from all files together */

struct estimate {
    char terminator;
    bool words;      /* there may be a key after each blank ... */
    bool breaks;     /* ... or after each line break in a JSON string */
    bool slashes;    /* ... or after each slash */
    bool paragraphs; /* records are paragraphs */
    char *sample;
    uint64_t read, ends; /* bytes sampled so far, and possible ends of records in them */
    uint64_t exact;      /* records counted */
    double scaled;       /* records estimated from samples */
    uint64_t unread;     /* bytes in files that were not sampled */
};

static uint64_t count_paragraphs(deja_slice text)
{
    struct paragraph_scan scan = PARAGRAPH_SCAN;
    size_t end = 0;
    uint64_t n = 0;
    while (paragraph_ends(&scan, text, end, &end, 1))
        n++;
    return n;
}

/* An escaped backslash before an n counts as well. */
static uint64_t count_breaks(deja_slice text)
{
    const char *at = text.data, *end = at + text.len;
    uint64_t n = 0;
    while (at < end && (at = memchr(at, '\\', (size_t)(end - at)))) {
        n += end - at > 1 && at[1] == 'n';
        at++;
    }
    return n;
}

/* Counts possible ends of records in one sample at `at`; false if it cannot be read. */
static bool take_sample(struct estimate *e, int fd, uint64_t at, size_t len, uint64_t *ends)
{
    if (io_read_at(fd, e->sample, len, (off_t)at) != (ssize_t)len)
        return false;
    const deja_slice text = {e->sample, len};
    *ends += e->paragraphs ? count_paragraphs(text) : deja_lines_count(text, e->terminator);
    if (e->breaks)
        *ends += count_breaks(text);
    if (e->words)
        *ends += deja_lines_count(text, ' ') + deja_lines_count(text, '\t');
    if (e->slashes) /* there is one more slash than names in a line */
        *ends += deja_lines_count(text, '/') / 2;
    e->read += len;
    return true;
}

/* Estimates one regular file from `begin` on.  Returns false if it is compressed or cannot be
 * read. */
static bool estimate_file(struct estimate *e, int fd, uint64_t begin, uint64_t size)
{
    unsigned char head[DECODE_MAGIC];
    ssize_t got = io_read_at(fd, head, sizeof head, (off_t)begin);
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
        e->exact += ends + (e->paragraphs || e->sample[len - 1] != e->terminator);
    } else {
        for (uint64_t i = 0; i < SAMPLES; i++)
            if (!take_sample(e, fd, begin + (size - SAMPLE_SIZE) / (SAMPLES - 1) * i, SAMPLE_SIZE,
                             &ends))
                return false;
        /* Add three to the ends found: if ends are rare, the samples may contain none. */
        e->scaled += (double)(ends + 3) * ((double)size / (double)EXACT_BELOW);
    }
    e->ends += ends;
    return true;
}

uint64_t input_estimate(const struct input_options *opt)
{
    const bool words = opt->estimated == INPUT_WORDS;
    struct estimate e = {.terminator = opt->terminator,
                         .words = words || opt->pick.format == PICK_HOSTS,
                         .breaks = opt->estimated == INPUT_TEXT_BREAKS,
                         .slashes = opt->pick.format == PICK_DNSMASQ,
                         .paragraphs = opt->pick.paragraphs && !words};
    e.sample = malloc(SAMPLE_SIZE);
    bool ok = e.sample;
    bool had_stdin = false;
    size_t n = opt->n_paths;
    const char *const *paths = source_paths(opt->paths, &n);
    for (size_t i = 0; ok && i < n; i++) {
        bool from_stdin = source_is_stdin(paths[i]);
        if (from_stdin && had_stdin)
            continue;
        had_stdin = had_stdin || from_stdin;
        /* Open regular files only: opening a pipe could consume its data. */
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
