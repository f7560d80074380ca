/* seen.c - print the lines of standard input that no earlier run has printed.
 *
 *     cc seen.c $(pkg-config --cflags --libs deja) -o seen
 *     ./seen seen.deja < urls.txt */
#include <deja.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *text)
{
    fprintf(stderr, "seen: %s\n", text);
    return 2;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "seen.deja";
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *seen = NULL;
    deja_error err;

    opt.capacity = 1000000; /* URLs expected; the rate is 1e-6 unless opt.fp_rate says otherwise */
    int rc = deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &seen, &err);
    if (rc == DEJA_EIO && errno == ENOENT)
        rc = deja_filter_create(path, 0, &opt, &seen, &err);
    if (rc != DEJA_OK)
        return fail(err.text);

    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    while (rc == DEJA_OK && (len = getline(&line, &cap, stdin)) > 0) {
        const deja_slice url = {line, (size_t)len - (line[len - 1] == '\n')};
        if (deja_filter_contains(seen, url))
            continue;
        printf("%.*s\n", (int)url.len, line); /* a crawler fetches the page here ... */
        fflush(stdout);
        rc = deja_filter_add(seen, url, NULL); /* ... and only then counts it as seen */
    }
    if (rc != DEJA_OK)
        return fail(deja_strerror(rc));
    rc = deja_filter_sync(seen, &err); /* now it survives a power cut */
    deja_filter_free(seen);
    free(line);
    return rc == DEJA_OK ? 0 : fail(err.text);
}
