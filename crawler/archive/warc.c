/* warc.c - stores the fetched pages in WARC 1.1 files.
 *
 * A file is a sequence of records.  Each is its own gzip member, so a reader can start at any of
 * them.  A record is an HTTP-like header, an empty line, a block of the length given in the
 * header, and two line ends.
 *
 *     warcinfo   at the start of each file: names the program request    the header that was sent
 *     response   the server's response revisit    a known response: its header, and the location
 *     of the rest
 *
 * Records are assembled in memory and written in one piece.  The queue remembers the end of the
 * last record whose page it has recorded; after a run has been killed, the next one cuts off
 * everything after that.  So every record of a file is complete, and belongs to a page in the
 * index.
 *
 * Source: "The WARC Format 1.1", IIPC, 2017 (ISO 28500:2017). */
#include "crawler/archive/warc.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define READ_STEP ((size_t)64 * 1024)

struct warc_name warc_name(uint32_t file)
{
    struct warc_name name;
    snprintf(name.text, sizeof name.text, "crawl-%05u.warc.gz", (unsigned)file);
    return name;
}

/* --- Records ---------------------------------------------------------------- */

struct uuid {
    char text[37];
};

static struct uuid new_uuid(void)
{
    uint8_t b[16];
    struct uuid u;
    if (!sys_random(b, sizeof b))
        memset(b, 0, sizeof b); /* reading 16 bytes never fails once the system is up */
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(u.text, sizeof u.text,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
    return u;
}

static bool field(struct buffer *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Append one header line, but not one with a URL, which may be too long. */
static bool field(struct buffer *to, const char *fmt, ...)
{
    char line[400];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    return n >= 0 && (size_t)n < sizeof line && buffer_add(to, line, (size_t)n) &&
           buffer_text(to, "\r\n");
}

static bool url_field(struct buffer *to, const char *name, deja_slice url)
{
    return buffer_text(to, name) && buffer_add(to, url.data, url.len) && buffer_text(to, "\r\n");
}

static bool date_field(struct buffer *to, const char *name, time_t when)
{
    struct tm t;
    char text[40];
    return gmtime_r(&when, &t) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &t) > 0 &&
           field(to, "%s: %s", name, text);
}

static bool begin_record(struct buffer *to, const char *type, const struct uuid *id, time_t when)
{
    to->len = 0;
    return field(to, "WARC/1.1") && field(to, "WARC-Type: %s", type) &&
           field(to, "WARC-Record-ID: <urn:uuid:%s>", id->text) &&
           date_field(to, "WARC-Date", when);
}

/* Append the block's digest and length, the block in two pieces, and the end. */
static bool end_record(struct buffer *to, deja_slice first, deja_slice second)
{
    const deja_slice block[2] = {first, second};
    struct digest digest;
    return digest_make(block, 2, &digest) == DEJA_OK &&
           field(to, "WARC-Block-Digest: %s", digest.text) &&
           field(to, "Content-Length: %zu\r\n", first.len + second.len) &&
           buffer_add(to, first.data, first.len) && buffer_add(to, second.data, second.len) &&
           buffer_text(to, "\r\n\r\n");
}

static bool make_warcinfo(struct buffer *to, const char *name, const char *user_agent)
{
    static const deja_slice nothing = {NULL, 0};
    const struct uuid id = new_uuid();
    struct buffer text = {0};
    const bool ok = buffer_text(&text, "software: deja/") && buffer_text(&text, deja_version()) &&
                    buffer_text(&text, "\r\nformat: WARC File Format 1.1\r\n"
                                       "conformsTo: http://iipc.github.io/warc-specifications/"
                                       "specifications/warc-format/warc-1.1/\r\n"
                                       "robots: obey\r\nhttp-header-user-agent: ") &&
                    buffer_text(&text, user_agent) && buffer_text(&text, "\r\n") &&
                    begin_record(to, "warcinfo", &id, time(NULL)) &&
                    field(to, "WARC-Filename: %s", name) &&
                    field(to, "Content-Type: application/warc-fields") &&
                    end_record(to, buffer_slice(&text), nothing);
    buffer_fini(&text);
    return ok;
}

static bool make_request(struct buffer *to, const struct warc_capture *c,
                         const struct uuid *answer)
{
    static const deja_slice nothing = {NULL, 0};
    const struct uuid id = new_uuid();
    return begin_record(to, "request", &id, c->when) &&
           url_field(to, "WARC-Target-URI: ", c->url) &&
           field(to, "WARC-Concurrent-To: <urn:uuid:%s>", answer->text) &&
           (!c->ip[0] || field(to, "WARC-IP-Address: %s", c->ip)) &&
           field(to, "Content-Type: application/http; msgtype=request") &&
           end_record(to, c->request, nothing);
}

static bool revisit_fields(struct buffer *to, const struct warc_capture *c)
{
    return field(to, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/%s",
                 c->not_modified ? "server-not-modified" : "identical-payload-digest") &&
           url_field(to, "WARC-Refers-To-Target-URI: ", c->url) &&
           date_field(to, "WARC-Refers-To-Date", c->original->when);
}

static bool make_answer(struct buffer *to, const struct warc_capture *c, const struct uuid *id)
{
    return begin_record(to, c->original ? "revisit" : "response", id, c->when) &&
           url_field(to, "WARC-Target-URI: ", c->url) &&
           (!c->ip[0] || field(to, "WARC-IP-Address: %s", c->ip)) &&
           (!c->http2 || field(to, "WARC-Protocol: h2")) &&
           (!c->truncated || field(to, "WARC-Truncated: %s", c->truncated)) &&
           (!c->payload.text[0] || field(to, "WARC-Payload-Digest: %s", c->payload.text)) &&
           (!c->original || revisit_fields(to, c)) &&
           field(to, "Content-Type: application/http; msgtype=response") &&
           end_record(to, c->head, c->body);
}

/* --- Files ------------------------------------------------------------------- */

/* Append w->plain to w->packed, as a gzip member. */
static bool pack(struct warc *w)
{
    z_stream *z = w->deflater;
    if (w->plain.len > UINT32_MAX || deflateReset(z) != Z_OK)
        return false;
    const size_t room = deflateBound(z, (uLong)w->plain.len);
    if (room > UINT32_MAX || !buffer_reserve(&w->packed, room))
        return false;
    z->next_in = (Bytef *)w->plain.data;
    z->avail_in = (uInt)w->plain.len;
    z->next_out = (Bytef *)w->packed.data + w->packed.len;
    z->avail_out = (uInt)room;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        return false;
    w->packed.len += room - z->avail_out;
    return true;
}

/* Write w->packed after the last record, all of it or nothing. */
static int append(struct warc *w, deja_error *err)
{
    size_t done = 0;
    while (done < w->packed.len) {
        const ssize_t n =
            pwrite(w->fd, w->packed.data + done, w->packed.len - done, (off_t)(w->end + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            const int rc = fail_errno(err, "%s: cannot write", warc_name(w->file).text);
            const int cut = ftruncate(w->fd, (off_t)w->end);
            (void)cut; /* if that fails, too, the next run cuts the file */
            return rc;
        }
        done += (size_t)n;
    }
    w->end += done;
    w->packed.len = 0;
    return DEJA_OK;
}

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for a WARC record");
}

/* Cut the file after the last record; report a file that is too short, and leave it alone. */
static int cut_file(int fd, const char *name, uint64_t end, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(err, "%s: cannot read", name);
    if ((uint64_t)st.st_size < end)
        return fail(err, DEJA_EFORMAT,
                    "%s: truncated; it has %lld bytes, and the queue expects %" PRIu64, name,
                    (long long)st.st_size, end);
    if ((uint64_t)st.st_size > end && ftruncate(fd, (off_t)end) != 0)
        return fail_errno(err, "%s: cannot truncate it to %" PRIu64 " bytes", name, end);
    return DEJA_OK;
}

static int open_file(struct warc *w, uint32_t file, uint64_t end, deja_error *err)
{
    const struct warc_name name = warc_name(file);
    const int fd = openat(w->dir, name.text, O_RDWR | O_CLOEXEC | (end == 0 ? O_CREAT : 0), 0666);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open", name.text);
    const int rc = cut_file(fd, name.text, end, err);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    if (w->fd >= 0)
        (void)close(w->fd);
    w->fd = fd;
    w->file = file;
    w->end = end;
    w->fresh = true;
    return DEJA_OK;
}

/* Start a file with its warcinfo record. */
static int begin_file(struct warc *w, uint32_t file, deja_error *err)
{
    int rc = w->fd >= 0 ? warc_sync(w, err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = open_file(w, file, 0, err);
    if (rc < 0)
        return rc;
    w->packed.len = 0;
    if (!make_warcinfo(&w->plain, warc_name(file).text, w->user_agent) || !pack(w))
        return no_memory(err);
    return append(w, err);
}

/* Remove files that were started but never recorded. */
static void remove_files_after(int dir, uint32_t file)
{
    while (unlinkat(dir, warc_name(++file).text, 0) == 0)
        continue;
}

int warc_open(struct warc *w, int dir, uint32_t file, uint64_t end, const char *user_agent,
              uint64_t max_size, deja_error *err)
{
    *w = (struct warc){.dir = dir, .fd = -1, .user_agent = user_agent, .max_size = max_size};
    z_stream *z = calloc(1, sizeof *z);
    if (!z || deflateInit2(z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
                  Z_OK) {
        free(z);
        return no_memory(err);
    }
    w->deflater = z;
    remove_files_after(dir, file);
    const int rc = end > 0 ? open_file(w, file, end, err) : begin_file(w, file ? file : 1, err);
    if (rc < 0)
        warc_close(w);
    return rc;
}

int warc_write(struct warc *w, const struct warc_capture *c, struct warc_place *place,
               deja_error *err)
{
    const struct uuid answer = new_uuid();
    if (w->end >= w->max_size) {
        const int rc = begin_file(w, w->file + 1, err);
        if (rc < 0)
            return rc;
    }
    w->packed.len = 0;
    if (!make_request(&w->plain, c, &answer) || !pack(w))
        return no_memory(err);
    *place = (struct warc_place){.file = w->file, .at = w->end + w->packed.len};
    if (!make_answer(&w->plain, c, &answer) || !pack(w))
        return no_memory(err);
    const int rc = append(w, err);
    place->len = w->end - place->at;
    return rc;
}

int warc_sync(struct warc *w, deja_error *err)
{
    if (sys_sync_data(w->fd) != 0 || (w->fresh && sys_sync(w->dir) != 0))
        return fail_errno(err, "%s: cannot sync", warc_name(w->file).text);
    w->fresh = false;
    return DEJA_OK;
}

void warc_close(struct warc *w)
{
    if (w->deflater) {
        (void)deflateEnd(w->deflater);
        free(w->deflater);
        w->deflater = NULL;
    }
    if (w->fd >= 0)
        (void)close(w->fd);
    w->fd = -1;
    buffer_fini(&w->plain);
    buffer_fini(&w->packed);
}

/* --- Checking ------------------------------------------------------------------- */

/* A file read from the start, piece by piece. */
struct reading {
    int fd;
    uint64_t at, end; /* the next byte to read, and where to stop */
    z_stream z;
    uint8_t in[READ_STEP], out[READ_STEP];
};

static struct reading *new_reading(int fd, uint64_t from, uint64_t to)
{
    struct reading *r = calloc(1, sizeof *r); /* too large for the stack */
    if (!r)
        return NULL;
    r->fd = fd;
    r->at = from;
    r->end = to;
    return r;
}

/* Read more bytes for zlib; 0 if there are none. */
static int refill(struct reading *r, deja_error *err)
{
    const uint64_t left = r->end - r->at;
    ssize_t n;
    do
        n = pread(r->fd, r->in, left < sizeof r->in ? (size_t)left : sizeof r->in, (off_t)r->at);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_errno(err, "the archive: cannot read");
    r->at += (uint64_t)n;
    r->z.next_in = r->in;
    r->z.avail_in = (uInt)n;
    return n > 0;
}

static bool begins_a_request(const uint8_t *text, size_t len)
{
    static const char type[] = "WARC-Type: request\r\n";
    return memmem(text, len < 200 ? len : 200, type, sizeof type - 1);
}

/* Inflate a piece of the current member.  Returns Z_STREAM_END with its last piece, and
 * Z_BUF_ERROR if the range ends before the member does. */
static int inflate_piece(struct reading *r, void *out, size_t cap, size_t *len, deja_error *err)
{
    *len = 0;
    if (r->z.avail_in == 0) {
        const int more = refill(r, err);
        if (more <= 0)
            return more < 0 ? Z_ERRNO : Z_BUF_ERROR;
    }
    r->z.next_out = out;
    r->z.avail_out = (uInt)cap;
    const int rc = inflate(&r->z, Z_NO_FLUSH);
    *len = cap - r->z.avail_out;
    return rc == Z_BUF_ERROR ? Z_OK : rc; /* it only needs more input */
}

/* Read a member.  Returns 1 if it is complete, 0 if it is not or there is none. */
static int read_member(struct reading *r, bool *request, deja_error *err)
{
    int rc = inflateReset(&r->z);
    *request = false;
    while (rc == Z_OK) {
        const bool first = r->z.total_out == 0;
        size_t len;
        rc = inflate_piece(r, r->out, sizeof r->out, &len, err);
        if (first && len > 0)
            *request = begins_a_request(r->out, len);
    }
    return rc == Z_ERRNO ? DEJA_EIO : rc == Z_STREAM_END;
}

/* *whole is set to the end of the last member that is not a request. */
static int check_members(struct reading *r, uint64_t *whole, deja_error *err)
{
    bool request;
    int rc;
    if (inflateInit2(&r->z, 15 + 16) != Z_OK)
        return no_memory(err);
    while ((rc = read_member(r, &request, err)) > 0)
        if (!request)
            *whole = r->at - r->z.avail_in;
    (void)inflateEnd(&r->z);
    return rc;
}

static int check_range(int fd, uint64_t from, uint64_t to, uint64_t *whole, deja_error *err)
{
    struct reading *r = new_reading(fd, from, to);
    const int rc = r ? check_members(r, whole, err) : no_memory(err);
    free(r);
    return rc;
}

int warc_check(int dir, uint32_t file, uint64_t from, uint64_t to, uint64_t *whole, bool *damaged,
               deja_error *err)
{
    const struct warc_name name = warc_name(file);
    struct stat st = {0};
    int rc = DEJA_OK;
    *whole = from;
    const int fd = openat(dir, name.text, O_RDONLY | O_CLOEXEC);
    if ((fd < 0 && errno != ENOENT) || (fd >= 0 && fstat(fd, &st) != 0))
        rc = fail_errno(err, "%s: cannot open", name.text);
    const uint64_t size = (uint64_t)st.st_size; /* 0: no file */
    if (rc == DEJA_OK && from < size && from < to)
        rc = check_range(fd, from, to < size ? to : size, whole, err);
    *damaged = *whole < (to < UINT64_MAX ? to : size) || (to > 0 && *whole == 0);
    if (fd >= 0)
        (void)close(fd);
    return rc;
}

/* --- Reading one record -------------------------------------------------------- */

static int inflate_member(struct reading *r, size_t max, struct buffer *out, deja_error *err)
{
    int rc = inflateInit2(&r->z, 15 + 16);
    out->len = 0;
    while (rc == Z_OK && out->len < max) {
        size_t len;
        if (!buffer_reserve(out, READ_STEP))
            break;
        rc = inflate_piece(r, out->data + out->len, READ_STEP, &len, err);
        out->len += len;
    }
    (void)inflateEnd(&r->z);
    return rc == Z_STREAM_END || (rc == Z_OK && out->len >= max) ? DEJA_OK : DEJA_EFORMAT;
}

/* Keep only the block of a record: remove the header and the line ends. */
static bool keep_block(struct buffer *record)
{
    static const char gap[] = "\r\n\r\n";
    const size_t gap_len = sizeof gap - 1;
    char *end = record->len ? memmem(record->data, record->len, gap, gap_len) : NULL;
    if (record->len < 8 || memcmp(record->data, "WARC/1.1", 8) != 0 || !end)
        return false;
    const size_t head = (size_t)(end - record->data) + gap_len;
    record->len -= head;
    memmove(record->data, record->data + head, record->len);
    if (record->len >= gap_len && memcmp(record->data + record->len - gap_len, gap, gap_len) == 0)
        record->len -= gap_len;
    return true;
}

int warc_read(int dir, const struct warc_place *place, size_t max, struct buffer *block,
              deja_error *err)
{
    const struct warc_name name = warc_name(place->file);
    const int fd = openat(dir, name.text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open", name.text);
    struct reading *r = new_reading(fd, place->at, place->at + place->len);
    const int rc = r ? inflate_member(r, max, block, err) : no_memory(err);
    free(r);
    (void)close(fd);
    if (rc == DEJA_ENOMEM)
        return rc;
    if (rc < 0 || !keep_block(block))
        return fail(err, DEJA_EFORMAT, "%s: no record at %" PRIu64, name.text, place->at);
    return DEJA_OK;
}
