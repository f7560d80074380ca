/* consumer.c - the smallest program that uses an installed libdeja from C. */
#include <deja.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    const deja_slice url = {"http://example.org/", 19};
    const deja_slice other = {"http://example.org/other", 24};
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *filter = NULL;
    deja_error err;
    bool is_new = false;

    opt.capacity = 1000;
    opt.seed = 1;
    if (deja_filter_new(&opt, &filter, &err) != DEJA_OK) {
        fprintf(stderr, "consumer: %s\n", err.text);
        return 1;
    }
    if (deja_filter_add(filter, url, &is_new, NULL) != DEJA_OK || !is_new)
        return 2;
    if (!deja_filter_contains(filter, url) || deja_filter_contains(filter, other))
        return 3;
    deja_filter_free(filter);

    /* Non-ASCII host names need libidn2, which a static libdeja does not include. */
    static const char foreign[] = "HTTP://B\xc3\xbc"
                                  "cher.Example";
    static const char ascii[] = "http://xn--bcher-kva.example/";
    const deja_slice spelled = {foreign, sizeof foreign - 1};
    const deja_url_rules *safe = deja_url_profile(DEJA_URL_SAFE);
    char room[DEJA_URL_ROOM(sizeof foreign)];
    deja_slice canon;
    const int rc = deja_url_canon(safe, spelled, room, sizeof room, &canon, NULL);
    if (rc == DEJA_OK ? strncmp(canon.data, ascii, canon.len) != 0 : rc != DEJA_ENOTSUP)
        return 4;
    printf("deja %s\n", deja_version());
    return 0;
}
