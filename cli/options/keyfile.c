/* keyfile.c - a filter's secret key in a separate file. */
#include "cli/options/keyfile.h"
#include "cli/options/shared_options.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/sys.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define HEX_LEN  ((size_t)2 * DEJA_KEY_LEN)
#define READ_LEN (HEX_LEN + 3) /* with \r\n, plus one byte to detect longer files */

static bool parse_hex(const uint8_t *text, uint8_t key[DEJA_KEY_LEN])
{
    for (size_t i = 0; i < DEJA_KEY_LEN; i++) {
        const int high = ascii_hex((char)text[2 * i]), low = ascii_hex((char)text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static int refuse(const char *path, const char *what, deja_error *err)
{
    return fail(
        err, DEJA_EINVAL,
        "%s: not a key file (%s); a key is 32 bytes or 64 hexadecimal digits; make one with `head "
        "-c 32 /dev/urandom`",
        fail_path(path).text, what);
}

static int parse(const char *path, const uint8_t *text, size_t len, uint8_t key[DEJA_KEY_LEN],
                 deja_error *err)
{
    if (len == DEJA_KEY_LEN) {
        memcpy(key, text, DEJA_KEY_LEN);
        return DEJA_OK;
    }
    if (len == READ_LEN)
        return refuse(path, "too long", err);
    while (len > HEX_LEN && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    if (len == HEX_LEN && parse_hex(text, key))
        return DEJA_OK;
    if (len == HEX_LEN)
        return refuse(path, "not all of its 64 characters are hexadecimal digits", err);
    return refuse(path,
                  len == 0             ? "empty"
                  : len < DEJA_KEY_LEN ? "too short"
                  : len < HEX_LEN      ? "longer than 32 bytes and shorter than 64 digits"
                                       : "too long",
                  err);
}

/* Checks only regular files: nobody else can read a pipe. */
static int check_access(int fd, const char *path, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail_errno(err, "%s: cannot read the key file", fail_path(path).text);
    if (!S_ISREG(st.st_mode))
        return DEJA_OK;
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return fail(err, DEJA_EINVAL,
                    "%s: this key file belongs to another user (ID %lu), who knows the key; copy "
                    "it, or use --insecure-key",
                    fail_path(path).text, (unsigned long)st.st_uid);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return fail(err, DEJA_EINVAL,
                    "%s: other users have access to this key file (mode %04o); run 'chmod 600' on "
                    "it, or use --insecure-key",
                    fail_path(path).text, (unsigned)(st.st_mode & 07777));
    return DEJA_OK;
}

int keyfile_read(const struct shared_options *c, uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    const char *path = c->key_file;
    uint8_t text[READ_LEN];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open the key file", fail_path(path).text);
    int rc = c->insecure_key ? DEJA_OK : check_access(fd, path, err);
    const ssize_t len = rc == DEJA_OK ? io_read(fd, text, sizeof text) : 0;
    const int saved = errno;
    (void)close(fd);
    errno = saved;
    if (len < 0)
        return fail_errno(err, "%s: cannot read the key file", fail_path(path).text);
    if (rc == DEJA_OK)
        rc = parse(path, text, (size_t)len, key, err);
    sys_wipe(text, sizeof text);
    return rc;
}

int keyfile_with(const struct shared_options *c, keyfile_use *use, const struct call *call,
                 deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    uint8_t key[DEJA_KEY_LEN];
    int rc = DEJA_OK;
    if (c->key_file) {
        rc = keyfile_read(c, key, err);
        expect.key = key;
    }
    if (rc == DEJA_OK)
        rc = use(call, &expect, err);
    sys_wipe(key, sizeof key);
    return rc;
}
