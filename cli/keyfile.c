/* keyfile.c - a filter's secret key, kept in a file of its own; see keyfile.h. */
#include "keyfile.h"
#include "fail.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEX_LEN ((size_t)2 * DEJA_KEY_LEN)

/* As much of the file as can matter: a byte more than the longest key tells that it is longer. */
static ssize_t read_start(int fd, uint8_t *buf, size_t cap)
{
    size_t have = 0;
    while (have < cap) {
        const ssize_t got = read(fd, buf + have, cap - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

static int digit(uint8_t c)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t lower = c >= 'A' && c <= 'F' ? (uint8_t)(c - 'A' + 'a') : c;
    const char *at = lower ? strchr(digits, lower) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool parse_hex(const uint8_t *text, uint8_t key[DEJA_KEY_LEN])
{
    for (size_t i = 0; i < DEJA_KEY_LEN; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

int keyfile_read(const char *path, uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    uint8_t buf[HEX_LEN + 3];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open the key file", fail_path(path).text);
    const ssize_t got = read_start(fd, buf, sizeof buf);
    const int saved = errno;
    (void)close(fd);
    errno = saved;
    if (got < 0)
        return fail_errno(err, "%s: cannot read the key file", fail_path(path).text);
    size_t len = (size_t)got;
    if (len == DEJA_KEY_LEN) {
        memcpy(key, buf, DEJA_KEY_LEN);
        return DEJA_OK;
    }
    while (len > HEX_LEN && (buf[len - 1] == '\n' || buf[len - 1] == '\r'))
        len--;
    if (len == HEX_LEN && parse_hex(buf, key))
        return DEJA_OK;
    return fail(err, DEJA_EINVAL,
                "%s is no key: it takes 32 bytes or 64 hexadecimal digits; make one with `head -c "
                "32 /dev/urandom`",
                fail_path(path).text);
}
