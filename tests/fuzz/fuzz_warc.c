/* fuzz_warc.c - archives of any bytes, and archives that were damaged.
 *
 * The first two bytes select the place where a byte is changed, the third the change, and the
 * fourth the number of records; the rest is their content.  The same bytes are also read as a file
 * of their own.  Records are read as they were written.  In a damaged file, all records ahead of
 * the damage are found intact, the end that is found is the end of a response, and a file
 * truncated there is intact. */
#include "checking.h"
#include "crawler/archive/warc.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define RECORDS 4

static char folder[64];
static int dir = -1;

static void remove_folder(void)
{
    (void)unlinkat(dir, "crawl-00001.warc.gz", 0);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/deja-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    check(mkdtemp(folder) && (dir = open(folder, O_RDONLY | O_DIRECTORY)) >= 0);
    check(atexit(remove_folder) == 0);
}

static int open_archive(void)
{
    const int fd = openat(dir, "crawl-00001.warc.gz", O_RDWR | O_CREAT, 0600);
    check(fd >= 0);
    return fd;
}

static void any_bytes(const uint8_t *data, size_t size)
{
    struct buffer block = {0};
    deja_error err;
    uint64_t whole;
    bool damaged;
    const int fd = open_archive();
    check(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    const struct warc_place place = {1, 0, size};
    (void)!warc_read(dir, &place, 10000, &block, &err);
    check(warc_check(dir, 1, 0, size, &whole, &damaged, &err) == DEJA_OK && whole <= size);
    check(damaged || whole == size);
    check(close(fd) == 0);
    buffer_fini(&block);
}

/* n records; end[i] is the offset after the i-th response, end[0] the one after the warcinfo
 * record. */
static void write_archive(deja_slice body, size_t n, uint64_t end[RECORDS + 1])
{
    static const char request[] = "GET / HTTP/1.1\r\n\r\n", head[] = "HTTP/1.1 200 OK\r\n\r\n";
    const struct warc_capture capture = {.url = {"http://h/", 9},
                                         .ip = "::1",
                                         .request = {request, sizeof request - 1},
                                         .head = {head, sizeof head - 1},
                                         .body = body};
    struct buffer block = {0};
    struct warc_place place;
    struct warc w;
    deja_error err;
    (void)unlinkat(dir, "crawl-00001.warc.gz", 0);
    check(warc_open(&w, dir, 0, 0, "ua", 1 << 30, &err) == DEJA_OK);
    end[0] = w.end;
    for (size_t i = 1; i <= n; i++) {
        check(warc_write(&w, &capture, &place, &err) == DEJA_OK);
        end[i] = w.end;
        check(warc_read(dir, &place, 1 << 20, &block, &err) == DEJA_OK);
        check(block.len == sizeof head - 1 + body.len &&
              memcmp(block.data, head, sizeof head - 1) == 0);
        check(body.len == 0 || memcmp(block.data + sizeof head - 1, body.data, body.len) == 0);
    }
    warc_close(&w);
    buffer_fini(&block);
}

static void damaged_archive(const uint64_t *end, size_t n, uint64_t at, uint8_t how)
{
    const int fd = open_archive();
    uint64_t whole, before = 0;
    bool damaged, is_end = false;
    deja_error err;
    uint8_t byte;
    check(warc_check(dir, 1, 0, end[n], &whole, &damaged, &err) == DEJA_OK);
    check(whole == end[n] && !damaged);
    at %= end[n];
    check(pread(fd, &byte, 1, (off_t)at) == 1);
    byte ^= how;
    check(pwrite(fd, &byte, 1, (off_t)at) == 1);
    check(warc_check(dir, 1, 0, end[n], &whole, &damaged, &err) == DEJA_OK);
    for (size_t i = 0; i <= n; i++) {
        before = end[i] <= at ? end[i] : before;
        is_end |= whole == end[i];
    }
    check((is_end || whole == 0) && whole >= before && damaged == (whole < end[n]));
    check(ftruncate(fd, (off_t)whole) == 0);
    check(warc_check(dir, 1, 0, whole, &whole, &damaged, &err) == DEJA_OK && !damaged);
    check(close(fd) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t end[RECORDS + 1];
    if (dir < 0)
        make_folder();
    if (size < 4 || size > (1 << 16))
        return 0;
    any_bytes(data, size);
    const size_t n = data[3] % (RECORDS + 1);
    write_archive((deja_slice){data + 4, size - 4}, n, end);
    damaged_archive(end, n, (uint64_t)data[0] << 8 | data[1], data[2]);
    return 0;
}
