/* test_layered_real_long.c - layered filters on real URLs, if DEJA_REAL_DATA names a folder with
 * urls-real.txt.zst: claims, lost keys and prefix claims against theory with the real
 * distribution of segments.
 *
 * Every other line of the list is a member; the rest are never added, but share hosts and folders
 * with members as the pages of a crawl do.  Hypotheses as in test_layered_rates.c. */
#include "unit.h"

#include "layertrial.h"

#define MEMBERS 1000000
#define LINE    8192

static FILE *open_list(void)
{
    char command[1024];
    const char *folder = getenv("DEJA_REAL_DATA");
    if (!folder || !*folder)
        return NULL;
    snprintf(command, sizeof command, "%s/urls-real.txt.zst", folder);
    FILE *there = fopen(command, "r");
    if (!there)
        return NULL;
    fclose(there);
    snprintf(command, sizeof command, "zstd -qdc '%s/urls-real.txt.zst'", folder);
    return popen(command, "r");
}

/* Every step-th line, so that all sources of the list are represented. */
static deja_slice next_url(FILE *in, char line[LINE], unsigned step)
{
    char *got = NULL;
    for (unsigned i = 0; i < step; i++)
        got = fgets(line, LINE, in);
    return got ? (deja_slice){line, strcspn(line, "\r\n")} : (deja_slice){NULL, 0};
}

static void run_real(struct layertrial *t, deja_options opt)
{
    char line[LINE];
    opt.capacity = MEMBERS;
    opt.seed = 3;
    layertrial_init(t, opt, MEMBERS + 1);
    for (int strangers = 0; strangers <= 1; strangers++) {
        FILE *in = open_list();
        if (!in)
            skip();
        if (strangers)
            (void)next_url(in, line, 1);
        for (uint64_t i = 0; i < MEMBERS; i++) {
            const deja_slice url = next_url(in, line, 4);
            if (url.len && strangers)
                layertrial_ask(t, url);
            else if (url.len)
                layertrial_add(t, url);
        }
        while (next_url(in, line, 1).data)
            ; /* or the other end of the pipe complains */
        pclose(in);
        layertrial_ready(t);
    }
}

static void claims_and_losses_are_as_expected(const char *what, const deja_options *opt)
{
    struct layertrial t;
    deja_stats s = DEJA_STATS_INIT;
    run_real(&t, *opt);
    assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    const double lost = (double)(t.added - t.told_new);
    printf("%s: %llu in, %.1f %% familiar, %llu bytes; of %llu others %.1f %% familiar, %llu with "
           "the XOR of a member, claimed %llu, expected %.1f (%+.2f sigma); lost %.0f, stats say "
           "%.1f\n",
           what, (unsigned long long)t.added, 100 * (double)s.familiar / (double)s.keys,
           (unsigned long long)s.bytes, (unsigned long long)t.asked,
           100 * (double)t.familiar / (double)t.asked, (unsigned long long)t.same_xor,
           (unsigned long long)t.hits, t.expected, layertrial_sigmas(&t), lost, s.lost);
    for (uint32_t i = 1; i <= s.layers; i++) {
        deja_layer l = DEJA_LAYER_INIT;
        assert_int_equal(deja_filter_layer(t.f, i, &l, NULL), DEJA_OK);
        printf("    layer %u: %llu segments, %llu bytes, rate %.5f\n", i,
               (unsigned long long)l.segments, (unsigned long long)l.bytes, l.fp_now);
    }
    assert_true(t.expected > 25);
    assert_true(fabs(layertrial_sigmas(&t)) < 5);
    if (!t.same_xor) /* the statistics know no other reason to lose a page */
        assert_true(fabs(lost - s.lost) < 5 * sqrt(s.lost) + 0.02 * s.lost + 1);
    layertrial_fini(&t);
}

static void mode_salted_agrees_with_theory_on_real_urls(void **state)
{
    (void)state;
    const deja_options opt = {.fp_rate = 0.01};
    claims_and_losses_are_as_expected("salted", &opt);
    const deja_options loose = {.fp_rate = 0.2, .layers = 4};
    claims_and_losses_are_as_expected("salted, 4 layers", &loose);
}

static void mode_paper_agrees_with_theory_on_real_urls(void **state)
{
    (void)state;
    const deja_options opt = {.fp_rate = 0.01, .flags = DEJA_LAYERED_PAPER};
    claims_and_losses_are_as_expected("paper", &opt);
}

/* Prefixes of members are never missed; other prefixes are claimed if each of their segments was
 * seen in its layer, in other URLs. */
static void prefix_claims_agree_with_theory_on_real_urls(void **state)
{
    (void)state;
    struct layertrial t;
    char line[LINE];
    uint64_t asked[2] = {0}, claimed[2] = {0};
    const deja_options opt = {.fp_rate = 0.01};
    run_real(&t, opt);
    deja_filter *seen = layertrial_set(4 * MEMBERS, 200);
    for (int pass = 0; pass < 3; pass++) { /* note all prefixes of members; query them; query the
                                            * others */
        FILE *in = open_list();
        if (pass == 2)
            (void)next_url(in, line, 1);
        for (uint64_t i = 0; i < MEMBERS; i++) {
            const deja_slice url = next_url(in, line, 4);
            deja_slice segment[3];
            const size_t n = url.len ? deja_url_split(url, segment, 3) : 0;
            if (n < 3) /* host/folder/...: the query is for host/folder */
                continue;
            const deja_slice folder = {url.data, segment[0].len + segment[1].len};
            uint8_t found;
            if (pass == 0) {
                layertrial_put(seen, folder);
                continue;
            }
            if (pass == 2 && deja_filter_contains(seen, folder))
                continue;
            assert_int_equal(deja_filter_prefix_batch(t.f, &folder, 1, &found, NULL), DEJA_OK);
            asked[pass - 1]++;
            claimed[pass - 1] += found;
        }
        while (next_url(in, line, 1).data)
            ;
        pclose(in);
    }
    printf("prefixes host/folder: %llu of %llu under members; %llu of %llu others claimed (%.2f "
           "%%)\n",
           (unsigned long long)claimed[0], (unsigned long long)asked[0],
           (unsigned long long)claimed[1], (unsigned long long)asked[1],
           100 * (double)claimed[1] / (double)asked[1]);
    assert_int_equal(claimed[0], asked[0]);
    deja_filter_free(seen);
    layertrial_fini(&t);
}

int main(void)
{
    FILE *in = open_list();
    if (!in) {
        printf("skipped: DEJA_REAL_DATA does not name a folder with urls-real.txt.zst\n");
        return 77;
    }
    char line[LINE];
    while (next_url(in, line, 1).data)
        ;
    pclose(in);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mode_salted_agrees_with_theory_on_real_urls),
        cmocka_unit_test(mode_paper_agrees_with_theory_on_real_urls),
        cmocka_unit_test(prefix_claims_agree_with_theory_on_real_urls),
    };
    return cmocka_run_group_tests_name("stat.layered_real_long", tests, NULL, NULL);
}
