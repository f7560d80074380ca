/* fuzz_lists.c - small files and lines that people write: lists of parameters, keys, hosts.
 *
 * The first byte selects the type; the rest is the file or the line. */
#include "checking.h"
#include "cli/options/keyfile.h"
#include "cli/options/paramfile.h"
#include "cli/options/shared_options.h"
#include "tools/input/hostlist.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void in_words(int rc, const deja_error *err)
{
    check(rc == DEJA_OK || (rc == DEJA_EINVAL && err->status == rc && err->text[0]));
}

/* The library accepts each name, or says why not. */
static void check_names(const struct paramnames *p)
{
    deja_error err = {0};
    deja_url_rules *rules = NULL;
    for (size_t i = 0; i < p->n; i++) {
        const char *name = p->name[i].data;
        check(p->name[i].len > 0);
        check(!memchr(name, '=', p->name[i].len) && !memchr(name, '&', p->name[i].len));
    }
    const int rc = deja_url_rules_new(DEJA_URL_CRAWL, 0, p->name, p->n, NULL, 0, &rules, &err);
    check(rc == DEJA_OK || (rc < 0 && err.text[0]));
    deja_url_rules_free(rules);
}

static void check_params(const char *path, const uint8_t *data, size_t len)
{
    struct paramnames p = {0};
    deja_error err = {0};
    int rc = paramnames_read(&p, path, &err);
    in_words(rc, &err);
    if (rc == DEJA_OK)
        check_names(&p);
    paramnames_fini(&p);
    char *text = malloc(len + 1);
    check(text);
    memcpy(text, data, len);
    text[len] = '\0';
    rc = paramnames_split(&p, text, &err);
    in_words(rc, &err);
    if (rc == DEJA_OK)
        check_names(&p);
    paramnames_fini(&p);
    free(text);
}

static void check_key(const char *path, const uint8_t *data, size_t len)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_error err = {0};
    const struct shared_options c = {.key_file = path, .insecure_key = true};
    const int rc = keyfile_read(&c, key, &err);
    in_words(rc, &err);
    if (len == DEJA_KEY_LEN)
        check(rc == DEJA_OK && memcmp(key, data, len) == 0);
    else if (rc == DEJA_OK) {
        char hex[2 * DEJA_KEY_LEN + 1];
        check(len >= 2 * DEJA_KEY_LEN);
        for (size_t i = 0; i < DEJA_KEY_LEN; i++)
            snprintf(hex + 2 * i, 3, "%02x", key[i]);
        for (size_t i = 0; i < 2 * DEJA_KEY_LEN; i++) /* of a letter, bit 5 is its case */
            check(hex[i] == (data[i] >= 'A' && data[i] <= 'F' ? data[i] | 0x20 : data[i]));
    }
}

/* Each host is a word of the line, in order, and means the same if it is alone. */
static void check_hosts(const uint8_t *data, size_t len)
{
    char *line = malloc(len ? len : 1);
    struct blocklist h = {0}, one = {0};
    deja_slice host, again;
    size_t n = 0;
    check(line);
    memcpy(line, data, len);
    const enum blocklist_line is = hostlist_begin(&h, (deja_slice){line, len});
    const char *from = line;
    while (is == BLOCKLIST_KEYS && hostlist_next(&h, &host)) {
        const char *at = host.data;
        check(host.len > 0 && at >= from && at + host.len <= line + len);
        check(!memchr(at, ' ', host.len) && !memchr(at, '\t', host.len));
        from = at + host.len;
        n++;
        if (at[0] != '.' && hostlist_begin(&one, host) == BLOCKLIST_KEYS)
            check(hostlist_next(&one, &again) && again.len == host.len && again.data == host.data);
    }
    check((is == BLOCKLIST_KEYS) == (n > 0));
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40];
    if (size < 1 || size > 65536)
        return 0;
    const unsigned what = data[0] % 3;
    data++;
    size--;
    if (what == 0) {
        check_hosts(data, size);
        return 0;
    }
    const int fd = memfd_create("fuzz_lists", MFD_CLOEXEC);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (what == 1)
        check_params(path, data, size);
    else
        check_key(path, data, size);
    close(fd);
    return 0;
}
