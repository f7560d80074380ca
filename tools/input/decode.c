/* decode.c - reads a file descriptor and decompresses; see decode.h.
 *
 * The format is detected from the first bytes (decode_magic.h), not from the file's name.  They
 * are read with pread if possible, so that plain files are read in whole pages straight into the
 * caller's buffer.  The first bytes of a pipe are read and returned again later; if only a few
 * have arrived, decode.c waits for more only while they could still be the start of a magic
 * number.
 *
 * All compressed formats allow several streams in sequence (cat a.gz b.gz, pigz, bgzip, pzstd,
 * pixz, pbzip2), and all streams are read.  After a stream only another one may follow, or padding
 * if the format defines it.  Other bytes are an error: skipping them could lose lines silently. */
#include "tools/input/decode.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/signals.h"
#include "tools/input/decode_magic.h"
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACKED_CAP   ((size_t)128 << 10) /* compressed bytes held; zstd's largest block */
#define STOP_WAIT_MS 100
#define LULL_MS      2 /* a pipe without data for this long counts as empty for now */

struct decode {
    int fd;
    bool regular;                   /* reads never wait */
    const atomic_bool *stop, *quit; /* or NULL */
    uint64_t raw;

    bool sniffed;
    unsigned char head[DECODE_MAGIC]; /* bytes read from a pipe to find the format ... */
    size_t head_len, head_pos;        /* ... and how many of them were returned */

    bool end;         /* of fd */
    int failed;       /* 0, or the status of all further reads */
    deja_error error; /* its message */

    const struct codec *codec; /* NULL: plain */
    void *decoder;
    struct codec_input in;
};

/* --- The file descriptor ------------------------------------------------- */

static bool stopped(const struct decode *d)
{
    return signals_stopped(d->stop) || signals_stopped(d->quit);
}

static bool may_stop(const struct decode *d)
{
    return d->stop || d->quit;
}

/* Whether bytes or the end arrive within this many milliseconds (-1: no limit). */
static bool readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0; /* also for POLLHUP and POLLERR, which read reports */
}

/* Like read(2), but handles interruptions.  *len stays 0 at the end, if stopped, and if `wait` is
 * false and nothing arrives for LULL_MS.  It waits for pipes in poll, with a time limit if it can
 * be stopped: a signal interrupts only the thread that receives it, and may arrive just before the
 * wait starts. */
static int read_raw(struct decode *d, void *buf, size_t cap, bool wait, size_t *len,
                    deja_error *err)
{
    *len = 0;
    while (!stopped(d)) {
        if (!d->regular && !wait && !readable(d->fd, LULL_MS))
            return DEJA_OK;
        if (!d->regular && wait && may_stop(d) && !readable(d->fd, STOP_WAIT_MS))
            continue;
        ssize_t got = read(d->fd, buf, cap);
        if (got > 0) {
            *len = (size_t)got;
            d->raw += (uint64_t)got;
            return DEJA_OK;
        }
        if (got == 0) {
            d->end = true;
            return DEJA_OK;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) { /* another process made it non-blocking */
            if (!wait)
                return DEJA_OK;
            readable(d->fd, may_stop(d) ? STOP_WAIT_MS : -1);
        } else if (errno == EISDIR) {
            return fail(err, DEJA_EIO, "is a directory; name files, or use find ... |");
        } else if (errno != EINTR) {
            return fail_errno(err, "cannot be read");
        }
    }
    return DEJA_OK;
}

/* --- Compressed streams --------------------------------------------------- */

int codec_no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "cannot be decompressed: out of memory");
}

int codec_not_more(const struct codec *c, deja_error *err)
{
    return fail(err, DEJA_EFORMAT,
                "has bytes after its %s data that are not %s; cut them off, or decompress it "
                "with %s -dc",
                c->name, c->name, c->name);
}

static int read_packed(struct decode *d, unsigned char *buf, size_t cap, bool wait, size_t *len,
                       deja_error *err)
{
    struct codec_input *in = &d->in;
    while (*len == 0) {
        if (in->pos == in->len && in->flushed) {
            in->pos = 0;
            in->len = 0;
            if (!d->end) {
                int rc = read_raw(d, in->bytes, PACKED_CAP, wait, &in->len, err);
                if (rc < 0)
                    return rc;
            }
            if (d->end && !in->fresh)
                return fail(err, DEJA_EFORMAT,
                            "ends inside its compressed data: the file is truncated");
            if (in->len == 0)
                return DEJA_OK;
        }
        int rc = d->codec->step(d->decoder, in, buf, cap, len, err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

/* --- The format ---------------------------------------------------------- */

int decode_new(int fd, const atomic_bool *stop, const atomic_bool *quit, struct decode **out,
               deja_error *err)
{
    struct decode *d = calloc(1, sizeof *d);
    if (!d)
        return fail(err, DEJA_ENOMEM, "cannot be read: out of memory");
    struct stat st;
    d->fd = fd;
    d->stop = stop;
    d->quit = quit;
    d->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    *out = d;
    return DEJA_OK;
}

void decode_free(struct decode *d)
{
    if (!d)
        return;
    if (d->decoder)
        d->codec->close(d->decoder);
    free(d->in.bytes);
    free(d);
}

/* Reads the first bytes without consuming them; -1 if that is not possible. */
static ssize_t peek_at(int fd, unsigned char head[DECODE_MAGIC])
{
    const off_t at = lseek(fd, 0, SEEK_CUR);
    return at < 0 ? -1 : io_read_at(fd, head, DECODE_MAGIC, at);
}

/* Reads the first bytes of a pipe into head. */
static int take_head(struct decode *d, const struct decode_magic **found, deja_error *err)
{
    bool more = true;
    while (more && !d->end && !stopped(d)) {
        size_t len;
        int rc = read_raw(d, d->head + d->head_len, DECODE_MAGIC - d->head_len, true, &len, err);
        if (rc < 0)
            return rc;
        d->head_len += len;
        *found = decode_magic(d->head, d->head_len, &more);
        more = more && !*found;
    }
    return DEJA_OK;
}

#define WORD_MAX 64 /* bytes: a message contains the name twice */

/* A file's name as a word of a shell command: FILE if there is no name, or if it is long or needs
 * escapes. */
static const char *word_of(const char *path, char word[WORD_MAX])
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "%+,-./:=@_";
    if (!path || strlen(path) > WORD_MAX - 8 || strchr(path, '\'') ||
        strcmp(fail_path(path).text, path) != 0)
        return "FILE";
    const bool quoted = path[strspn(path, safe)] != '\0';
    const int n = snprintf(word, WORD_MAX, "%s%s%s%s", quoted ? "'" : "",
                           path[0] == '-' ? "./" : "", path, quoted ? "'" : "");
    return n > 0 && n < WORD_MAX ? word : "FILE";
}

/* Writes the advice of a row, with FILE replaced by the file's name. */
static void spell_remedy(const char *remedy, const char *word, char *text, size_t cap)
{
    const char *file = strstr(remedy, "FILE");
    const bool inside = file && file > remedy && file[-1] == '\''; /* quotes */
    if (!file || (inside && word[0] == '\''))
        (void)snprintf(text, cap, "%s", remedy);
    else
        (void)snprintf(text, cap, "%.*s%s%s", (int)(file - remedy), remedy, word, file + 4);
}

/* found is NULL for a plain file, path is NULL if the file has no name. */
static int can_be_read(const struct decode_magic *found, const char *path, deja_error *err)
{
    const struct codec *codec = found ? found->codec : NULL;
    char buffer[WORD_MAX], remedy[200];
    const char *word = word_of(path, buffer);
    if (found && !codec) {
        spell_remedy(found->remedy, word, remedy, sizeof remedy);
        return fail(err, DEJA_ENOTSUP, "is %s, which deja cannot read as lines; %s", found->what,
                    remedy);
    }
    if (codec && !codec->open)
        return fail(err, DEJA_EFORMAT,
                    "is %s-compressed, and this deja was built without %s; decompress it first: "
                    "%s -dc %s | deja ...",
                    codec->name, codec->library, codec->name, word);
    return DEJA_OK;
}

int decode_check(int fd, const char *path, deja_error *err)
{
    unsigned char head[DECODE_MAGIC];
    bool unused;
    const ssize_t got = peek_at(fd, head);
    return got < 0 ? DEJA_OK : can_be_read(decode_magic(head, (size_t)got, &unused), path, err);
}

static int begin_packed(struct decode *d, const struct codec *codec, deja_error *err)
{
    d->codec = codec;
    d->decoder = codec->open();
    d->in = (struct codec_input){.fresh = true, .first = true, .flushed = true};
    d->in.bytes = malloc(PACKED_CAP);
    if (!d->in.bytes || !d->decoder)
        return codec_no_memory(err);
    memcpy(d->in.bytes, d->head, d->head_len);
    d->in.len = d->head_len;
    d->head_pos = d->head_len;
    return DEJA_OK;
}

/* Finds the format and prepares to read it. */
static int sniff(struct decode *d, deja_error *err)
{
    unsigned char peek[DECODE_MAGIC];
    const struct decode_magic *found = NULL;
    bool unused;
    ssize_t got = d->regular ? peek_at(d->fd, peek) : -1;
    if (got >= 0) { /* may be wrong while the file is still being written */
        found = decode_magic(peek, (size_t)got, &unused);
    } else {
        int rc = take_head(d, &found, err);
        if (rc < 0)
            return rc;
        if (stopped(d))
            return DEJA_OK;
    }
    d->sniffed = true;
    const int rc = can_be_read(found, NULL, err);
    return rc == DEJA_OK && found ? begin_packed(d, found->codec, err) : rc;
}

static int read_plain(struct decode *d, unsigned char *buf, size_t cap, bool wait, size_t *len,
                      deja_error *err)
{
    size_t left = d->head_len - d->head_pos;
    if (left) {
        *len = left < cap ? left : cap;
        memcpy(buf, d->head + d->head_pos, *len);
        d->head_pos += *len;
        return DEJA_OK;
    }
    return d->end ? DEJA_OK : read_raw(d, buf, cap, wait, len, err);
}

int decode_read(struct decode *d, void *buf, size_t cap, bool wait, size_t *len, deja_error *err)
{
    assert(cap > 0);
    cap = cap < CODEC_MAX ? cap : CODEC_MAX; /* Linux also reads less than 2 GiB at once */
    *len = 0;
    int rc = d->failed;
    if (rc == DEJA_OK && !d->sniffed)
        rc = d->failed = sniff(d, &d->error);
    if (rc == DEJA_OK && d->sniffed)
        rc = d->failed = d->codec ? read_packed(d, buf, cap, wait, len, &d->error)
                                  : read_plain(d, buf, cap, wait, len, &d->error);
    if (rc == DEJA_OK || *len > 0) /* return the decoded bytes first, the error later */
        return DEJA_OK;
    if (err)
        *err = d->error;
    return rc;
}

bool decode_ended(const struct decode *d)
{
    return d->end && d->head_pos == d->head_len && d->in.pos == d->in.len &&
           (!d->codec || d->in.flushed);
}

uint64_t decode_raw_bytes(const struct decode *d)
{
    return d->raw;
}
