/* attacker.c - prints the URLs of an attacker against a filter on a server, for redis.attacks.
 *
 * attacker pollute|saturate|forge N KEY prints N URLs, one per line, chosen for a filter of
 * BF.RESERVE with error rate 0.001 and capacity 10000 whose secret key is KEY (64 hex digits).
 * For forge the filter holds https://honest.example/0 .. 9999, and none of the URLs was added. */
#include "attacker.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    CAPACITY = 10000
};

static deja_filter *twin_with(const uint8_t key[DEJA_KEY_LEN])
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    opt.kind = DEJA_SCALABLE;
    opt.capacity = CAPACITY;
    opt.fp_rate = 0.001;
    opt.growth = 2;
    opt.tightening = 0.2;
    opt.key = key;
    return deja_filter_new(&opt, &f, NULL) == DEJA_OK ? f : NULL;
}

static bool read_key(const char *hex, uint8_t key[DEJA_KEY_LEN])
{
    if (strlen(hex) != 2 * DEJA_KEY_LEN)
        return false;
    for (size_t i = 0; i < DEJA_KEY_LEN; i++) {
        const char byte[3] = {hex[2 * i], hex[2 * i + 1], 0};
        char *end;
        key[i] = (uint8_t)strtoul(byte, &end, 16);
        if (*end)
            return false;
    }
    return true;
}

static bool print_forged(struct attacker *a, size_t n)
{
    struct url *out = malloc((n + 1) * sizeof *out);
    bool fine = out;
    for (uint64_t i = 0; fine && i < CAPACITY; i++) {
        const struct url u = url_with("https://honest.example/", i);
        fine = attacker_sends(a, &u);
    }
    if (fine)
        attacker_forges(a, out, n);
    for (size_t i = 0; fine && i < n; i++)
        printf("%.*s\n", (int)out[i].len, out[i].text);
    free(out);
    return fine;
}

static bool print_chosen(struct attacker *a, size_t n, struct url (*choose)(struct attacker *))
{
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        const struct url u = choose(a);
        printf("%.*s\n", (int)u.len, u.text);
        fine = attacker_sends(a, &u);
    }
    return fine;
}

static bool attack(struct attacker *a, const char *how, size_t n)
{
    if (strcmp(how, "forge") == 0)
        return print_forged(a, n);
    if (strcmp(how, "pollute") == 0)
        return print_chosen(a, n, attacker_pollutes);
    return strcmp(how, "saturate") == 0 && print_chosen(a, n, attacker_saturates);
}

int main(int argc, char **argv)
{
    uint8_t key[DEJA_KEY_LEN];
    if (argc != 4 || !read_key(argv[3], key)) {
        fputs("usage: attacker pollute|saturate|forge N KEY\n", stderr);
        return 2;
    }
    struct attacker a = {.twin = twin_with(key)};
    const bool fine = a.twin && attack(&a, argv[1], strtoul(argv[2], NULL, 10));
    deja_filter_free(a.twin);
    return fine && fflush(stdout) == 0 ? 0 : 1;
}
