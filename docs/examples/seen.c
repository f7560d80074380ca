/* seen.c - print the lines of standard input that no earlier run has printed.
 *     cc seen.c $(pkg-config --cflags --libs deja) -o seen && ./seen < urls.txt */
#include <deja.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "seen.deja";
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *seen = NULL;
    deja_error err = {0};
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    opt.capacity = 1000000; /* URLs expected; opt.fp_rate would choose another rate than 1e-6 */
    int rc = access(path, F_OK) == 0 ? deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &seen, &err)
                                     : deja_filter_create(path, 0, &opt, &seen, &err);
    while (rc == DEJA_OK && (len = getline(&line, &cap, stdin)) > 0) {
        const deja_slice url = {line, (size_t)len - (line[len - 1] == '\n')};
        if (deja_filter_contains(seen, url))
            continue;
        printf("%.*s\n", (int)url.len, line); /* a crawler fetches the page here ... */
        fflush(stdout);
        rc = deja_filter_add(seen, url, NULL, &err); /* ... and only then counts it as seen */
    }
    if (rc == DEJA_OK)
        rc = deja_filter_sync(seen, &err); /* now it survives a power cut */
    if (rc != DEJA_OK)
        fprintf(stderr, "seen: %s\n", err.text);
    deja_filter_free(seen);
    free(line);
    return rc == DEJA_OK ? 0 : 1;
}
