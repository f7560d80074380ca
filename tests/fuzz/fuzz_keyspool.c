/* fuzz_keyspool.c - the spool of keys for a missing server, and the description of a machine.
 *
 * The first byte selects one of them.  A spool file with any bytes is opened: what is read are the
 * records before the first damaged one, which is cut off, so a second reading gives the same keys.
 * Bytes after a correct header reach the records. */
#include "checking.h"
#include "cli/server/keyspool.h"
#include "cli/server/machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct reading {
    struct buffer keys;
    uint64_t n;
};

static void read_all(struct keyspool *s, struct reading *r)
{
    struct buffer piece = {0};
    deja_slice key[7];
    deja_error err = {0};
    size_t n = 1;
    while (n) {
        check(keyspool_next(s, &piece, key, 7, &n, &err) == DEJA_OK);
        for (size_t i = 0; i < n; i++) {
            check(buffer_add(&r->keys, &key[i].len, sizeof key[i].len));
            check(buffer_add(&r->keys, key[i].data, key[i].len));
        }
        r->n += n;
    }
    check(r->n == s->keys && keyspool_waiting(s) == 0);
    buffer_fini(&piece);
}

static const char *folder(void)
{
    static char dir[64];
    if (!dir[0])
        (void)snprintf(dir, sizeof dir, "/tmp/fuzz-keyspool-%d", (int)getpid());
    return dir;
}

static void write_file(const char *path, const uint8_t *front, const uint8_t *data, size_t len)
{
    FILE *f = fopen(path, "wb");
    check(f);
    if (front)
        check(fwrite(front, 1, KEYSPOOL_HEADER, f) == KEYSPOOL_HEADER);
    check(fwrite(data, 1, len, f) == len);
    check(fclose(f) == 0);
}

static void check_spool(const uint8_t *data, size_t len, bool with_header)
{
    const struct keyspool_id id = {folder(), "fuzz", 1, 7};
    char path[160];
    uint8_t front[KEYSPOOL_HEADER];
    struct keyspool s = {.fd = -1};
    struct reading first = {{0}, 0}, second = {{0}, 0};
    deja_error err = {0};
    keyspool_header(&id, front);
    check(mkdir(id.dir, 0700) == 0);
    (void)snprintf(path, sizeof path, "%s/fuzz-0000000000000007-1.0.spool", id.dir);
    write_file(path, with_header ? front : NULL, data, len);
    const int rc = keyspool_open(&s, &id, KEYSPOOL_DEFAULT, &err);
    check(rc == DEJA_OK || err.text[0]);
    if (rc == DEJA_OK) {
        read_all(&s, &first);
        keyspool_rewind(&s);
        const deja_slice more = {"more", 4};
        check(keyspool_put(&s, &more, 1, NULL, &err) == DEJA_OK);
        check(close(s.fd) == 0);
        check(keyspool_open(&s, &id, KEYSPOOL_DEFAULT, &err) == DEJA_OK && !s.damaged);
        read_all(&s, &second);
        check(second.n == first.n + 1 && second.keys.len == first.keys.len + 4 + sizeof(size_t));
        check(!first.keys.len || memcmp(first.keys.data, second.keys.data, first.keys.len) == 0);
        check(keyspool_clear(&s, &err) == DEJA_OK);
    }
    keyspool_close(&s);
    (void)unlink(path);
    check(rmdir(id.dir) == 0);
    buffer_fini(&first.keys);
    buffer_fini(&second.keys);
}

static void check_text(const uint8_t *data, size_t len)
{
    struct machine_text t;
    char *text = malloc(len + 1), same[MACHINE_TEXT];
    check(text);
    memcpy(text, data, len);
    text[len] = '\0';
    if (machinetext_read(text, &t)) {
        machinetext_write(&t, same);
        check(strcmp(text, same) == 0);
        check(t.number >= 1 && t.number <= t.of && t.of <= MACHINES_MOST);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len < 1)
        return 0;
    if (data[0] % 3 == 2)
        check_text(data + 1, len - 1);
    else
        check_spool(data + 1, len - 1, data[0] % 3 == 1);
    return 0;
}
