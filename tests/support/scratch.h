/* scratch.h - a folder for the files of a test, removed afterwards; whole files as bytes. */
#ifndef SCRATCH_H
#define SCRATCH_H
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRATCH_UNUSED __attribute__((unused))

/* --- Failures outside the test's subject --------------------------------- */

#define MUST(holds)                                                                               \
    do {                                                                                          \
        if (!(holds)) {                                                                           \
            perror(#holds);                                                                       \
            abort();                                                                              \
        }                                                                                         \
    } while (0)

/* --- The folder ----------------------------------------------------------- */

static char scratch_folder[256];

static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

/* Group setup and teardown for cmocka. */
static SCRATCH_UNUSED int scratch_open(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch_folder, sizeof scratch_folder, "%s/deja-test.XXXXXX", tmp ? tmp : "/tmp");
    MUST(mkdtemp(scratch_folder));
    return 0;
}

static SCRATCH_UNUSED int scratch_close(void **state)
{
    (void)state;
    return nftw(scratch_folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Teardown of a single test: files left by a failed test must not disturb the next one. */
static SCRATCH_UNUSED int scratch_clear(void **state)
{
    (void)state;
    MUST(chmod(scratch_folder, 0700) == 0);
    return scratch_close(state) == 0 && mkdir(scratch_folder, 0700) == 0 ? 0 : -1;
}

/* A name in the folder; the last eight of them stay valid. */
static SCRATCH_UNUSED const char *scratch_path(const char *name)
{
    static char path[8][512];
    static unsigned turn;
    char *p = path[turn++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", scratch_folder, name);
    return p;
}

/* The number of entries in a folder, including hidden ones. */
static SCRATCH_UNUSED int scratch_count(const char *folder)
{
    int n = 0;
    char command[600];
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *in = popen(command, "r");
    MUST(in && fscanf(in, "%d", &n) == 1 && pclose(in) == 0);
    return n;
}

/* --- Whole files ---------------------------------------------------------- */

struct bytes {
    uint8_t *data;
    size_t len;
};

static SCRATCH_UNUSED struct bytes read_file(const char *path)
{
    struct stat st;
    struct bytes b = {NULL, 0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    MUST(fd >= 0 && fstat(fd, &st) == 0);
    b.data = malloc((size_t)st.st_size + 1);
    MUST(b.data);
    for (ssize_t got; b.len < (size_t)st.st_size; b.len += (size_t)got) {
        got = read(fd, b.data + b.len, (size_t)st.st_size - b.len);
        MUST(got > 0);
    }
    close(fd);
    return b;
}

static SCRATCH_UNUSED void write_file(const char *path, const void *data, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    MUST(fd >= 0);
    for (size_t done = 0; done < len;) {
        const ssize_t put = write(fd, (const uint8_t *)data + done, len - done);
        MUST(put > 0);
        done += (size_t)put;
    }
    MUST(close(fd) == 0);
}

#endif
