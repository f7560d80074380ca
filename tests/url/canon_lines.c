/* canon_lines.c - prints the canonical forms of many URLs, for scripts that compare them.
 *
 * canon_lines PROFILE: reads URLs, each as its length in decimal, a line end, and the bytes;
 * writes for each a status in decimal, a blank, the form's length, a line end, and the form. */
#include "core/url/url.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static dj_url_writer *writer_of(const char *profile)
{
    if (strcmp(profile, "gsb") == 0)
        return dj_url_gsb;
    return strcmp(profile, "scrapy") == 0 ? dj_url_scrapy : NULL;
}

int main(int argc, char **argv)
{
    dj_url_writer *const write = argc == 2 ? writer_of(argv[1]) : NULL;
    if (!write) {
        fputs("usage: canon_lines gsb|scrapy\n", stderr);
        return 2;
    }
    const struct deja_url_rules rules = {.profile = deja_profile_parse(argv[1])};
    size_t len;
    while (scanf("%zu", &len) == 1 && getchar() == '\n') {
        char *const url = malloc(len + 1), *const room = malloc(DEJA_URL_ROOM(len));
        if (!url || !room || fread(url, 1, len, stdin) != len)
            return 1;
        struct dj_text out = dj_text_in(room, DEJA_URL_ROOM(len));
        int rc = write(&rules, (deja_slice){url, len}, &out);
        if (rc == DEJA_OK && out.short_of_room)
            rc = DEJA_ESPACE;
        const size_t n = rc == DEJA_OK ? out.len : 0;
        printf("%d %zu\n", rc, n);
        fwrite(room, 1, n, stdout);
        free(url);
        free(room);
    }
    return ferror(stdin) || fflush(stdout) != 0;
}
