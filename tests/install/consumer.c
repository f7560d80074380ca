/* consumer.c - the smallest program that uses an installed libdeja from C. */
#include <deja.h>
#include <stdio.h>

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
    if (deja_filter_add(filter, url, &is_new) != DEJA_OK || !is_new)
        return 2;
    if (!deja_filter_contains(filter, url) || deja_filter_contains(filter, other))
        return 3;
    deja_filter_free(filter);
    printf("deja %s\n", deja_version());
    return 0;
}
