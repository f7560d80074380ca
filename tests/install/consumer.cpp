/* consumer.cpp - the smallest program that uses an installed libdeja from C++. */
#include <cstdio>
#include <deja.h>
#include <memory>
#include <string>

static deja_slice slice(const std::string &text)
{
    return deja_slice{text.data(), text.size()};
}

int main()
{
    const std::string url = "http://example.org/", other = "http://example.org/other";
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *made = nullptr;
    deja_error err;
    bool is_new = false;

    opt.capacity = 1000;
    opt.seed = 1;
    if (deja_filter_new(&opt, &made, &err) != DEJA_OK) {
        std::fprintf(stderr, "consumer: %s\n", err.text);
        return 1;
    }
    std::unique_ptr<deja_filter, void (*)(deja_filter *)> filter(made, deja_filter_free);
    if (deja_filter_add(filter.get(), slice(url), &is_new, NULL) != DEJA_OK || !is_new)
        return 2;
    if (!deja_filter_contains(filter.get(), slice(url)) ||
        deja_filter_contains(filter.get(), slice(other)))
        return 3;
    std::printf("deja %s\n", deja_version());
    return 0;
}
