/* test_canon.c - canonicalizing many URLs at once gives the same forms as one at a time. */
#include "unit.h"

#include "urls.h"

#define N 150 /* more than two groups of the quick check */

static const char *const samples[] = {
    "http://example.com/",
    "http://Example.com:80/a/../b#top",
    "http://example.com/?b=2&a=1&utm_source=x",
    "no url",
    "",
    "https://example.com",
    "http://\xc3\xbcnicode.example/x",
    "http://example.com/%7euser/%2f",
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

struct urls {
    deja_slice url[N];
    char *text[N];
};

static void make_urls(struct urls *u, uint64_t seed)
{
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < N; i++) {
        const char *from = samples[rng_below(&r, N_SAMPLES)];
        size_t len = strlen(from);
        u->text[i] = malloc(128);
        assert_non_null(u->text[i]);
        memcpy(u->text[i], from, len);
        if (rng_below(&r, 2))
            len = mutate_url(&r, u->text[i], len, 128);
        u->url[i] = (deja_slice){u->text[i], len};
    }
}

static void free_urls(struct urls *u)
{
    for (size_t i = 0; i < N; i++)
        free(u->text[i]);
}

/* The same forms as deja_url_canon, whatever the buffer already contains. */
static void assert_like_single(const deja_url_rules *rules, const struct urls *u,
                               const deja_slice *canon, const int8_t *status, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *const want = canon_slice(rules, u->url[i]);
        char *const got = text_of(status[i], canon[i]);
        assert_string_equal(got, want);
        if (status[i] != DEJA_OK)
            assert_ptr_equal(canon[i].data, u->url[i].data);
        free(want);
        free(got);
    }
}

static void a_batch_equals_single_calls(void **state)
{
    static struct urls u;
    static deja_slice canon[N];
    static int8_t status[N];
    const size_t cap = N * DEJA_URL_ROOM(128);
    char *const room = malloc(cap);
    assert_non_null(room);
    for (uint32_t profile = DEJA_URL_SAFE; profile <= DEJA_URL_SHAPE; profile++)
        for (uint64_t seed = 1; seed <= 40; seed++) {
            const deja_url_rules *rules = deja_url_profile(profile);
            make_urls(&u, seed);
            assert_int_equal(deja_url_canon_batch(rules, u.url, N, room, cap, canon, status), N);
            assert_like_single(rules, &u, canon, status, N);
            free_urls(&u);
        }
    free(room);
}

/* A batch stops before a URL that may not fit into the remaining room, and continues from there. */
static void a_small_room_can_be_reused(void **state)
{
    static struct urls u;
    static deja_slice canon[N];
    static int8_t status[N];
    const deja_url_rules *rules = deja_url_profile(DEJA_URL_CRAWL);
    const size_t cap = DEJA_URL_ROOM(128);
    char *const room = malloc(cap);
    assert_non_null(room);
    make_urls(&u, 3);
    size_t done = 0, turns = 0;
    while (done < N) {
        const size_t n =
            deja_url_canon_batch(rules, u.url + done, N - done, room, cap, canon, status);
        assert_true(n > 0);
        struct urls rest;
        memcpy(rest.url, u.url + done, n * sizeof *rest.url);
        assert_like_single(rules, &rest, canon, status, n);
        done += n;
        turns++;
    }
    assert_true(turns > 1);
    free_urls(&u);
    free(room);
}

static void plain_urls_need_no_room(void **state)
{
    deja_slice url[2] = {bytes_of("http://example.com/"), bytes_of("HTTP://example.com/")};
    deja_slice canon[2];
    int8_t status[2];
    char room[1];
    const deja_url_rules *rules = deja_url_profile(DEJA_URL_SAFE);
    assert_int_equal(deja_url_canon_batch(rules, url, 2, room, 0, canon, status), 1);
    assert_ptr_equal(canon[0].data, url[0].data);
    assert_int_equal(deja_url_canon_batch(rules, url, 0, room, 0, canon, status), 0);
}

static void forms_may_replace_their_urls_in_place(void **state)
{
    static struct urls u, before;
    static int8_t status[N];
    const deja_url_rules *rules = deja_url_profile(DEJA_URL_CRAWL);
    const size_t cap = N * DEJA_URL_ROOM(128);
    char *const room = malloc(cap);
    assert_non_null(room);
    make_urls(&u, 5);
    before = u;
    assert_int_equal(deja_url_canon_batch(rules, u.url, N, room, cap, u.url, status), N);
    assert_like_single(rules, &before, u.url, status, N);
    free_urls(&before);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_equals_single_calls),
        cmocka_unit_test(a_small_room_can_be_reused),
        cmocka_unit_test(plain_urls_need_no_room),
        cmocka_unit_test(forms_may_replace_their_urls_in_place),
    };
    return cmocka_run_group_tests_name("canon", tests, NULL, NULL);
}
