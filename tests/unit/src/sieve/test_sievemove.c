/* test_sievemove.c - whole sieves: one like another, one over another, none. */
#include "core/base/os.h"
#include "scratch.h"
#include "sieve/sieve.h"
#include "unit.h"
#include <errno.h>

static deja_sieve *open_sieve(const char *path, unsigned flags, const deja_sieve_options *opt)
{
    deja_sieve *s = NULL;
    deja_error err = {0};
    if (deja_sieve_open(path, flags, opt, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

/* A new sieve with one key. */
static void make(const char *path, const char *key)
{
    deja_sieve *s = open_sieve(path, DEJA_OPEN_CREATE, NULL);
    deja_fingerprint fp;
    uint8_t verdict;
    deja_sieve_hash_batch(s, &(deja_slice){key, strlen(key)}, 1, &fp);
    assert_int_equal(deja_sieve_judge(s, &fp, 1, NULL, NULL, &verdict, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_commit(s, NULL), DEJA_OK);
    assert_int_equal(deja_sieve_sync(s, NULL), DEJA_OK);
    deja_sieve_free(s);
}

static bool has(const char *path, const char *key)
{
    deja_sieve *s = open_sieve(path, 0, NULL);
    deja_fingerprint fp;
    uint8_t found;
    deja_sieve_hash_batch(s, &(deja_slice){key, strlen(key)}, 1, &fp);
    assert_int_equal(deja_sieve_contains(s, &fp, 1, &found, NULL), DEJA_OK);
    deja_sieve_free(s);
    return found;
}

static bool same_key(const deja_sieve *a, const deja_sieve *b)
{
    deja_fingerprint x, y;
    const deja_slice key = {"key", 3};
    deja_sieve_hash_batch(a, &key, 1, &x);
    deja_sieve_hash_batch(b, &key, 1, &y);
    return x.hash == y.hash && x.check == y.check;
}

/* --- Like another ------------------------------------------------------------------- */

static void secret_key_and_rules_are_copied(void **state)
{
    static const uint8_t secret[DEJA_KEY_LEN] = "this is the secret key of a test";
    const struct {
        uint64_t seed;
        const void *key;
        uint32_t flags;
        bool url;
    } kinds[] = {{0, NULL, 0, false},
                 {7, NULL, 0, false},
                 {0, secret, 0, true},
                 {0, secret, DEJA_KEY_APART, false}};
    deja_url_rules *rules;
    deja_error err = {0};
    assert_int_equal(deja_url_rules_new(DEJA_URL_CRAWL, 0, NULL, 0, NULL, 0, &rules, &err),
                     DEJA_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
        deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
        opt.seed = kinds[i].seed;
        opt.key = kinds[i].key;
        opt.flags = kinds[i].flags;
        opt.url = kinds[i].url ? rules : NULL;
        deja_sieve *like = open_sieve(scratch_path("a"), DEJA_OPEN_CREATE, &opt), *made;
        assert_int_equal(deja_sieve_create(scratch_path("b"), like, NULL, &made, &err), DEJA_OK);
        assert_true(same_key(like, made));
        deja_sieve_free(made);
        made =
            open_sieve(scratch_path("b"), DEJA_OPEN_WRITE, &opt); /* key, seed and rules match */
        assert_true(same_key(like, made));
        assert_int_equal(deja_sieve_merge(made, like, &err), DEJA_OK);
        assert_int_equal(deja_sieve_stats(made, &r, NULL), DEJA_OK);
        assert_int_equal(r.flags, kinds[i].flags);
        assert_int_equal(r.profile, kinds[i].url ? DEJA_URL_CRAWL : 0);
        deja_sieve_free(made);
        deja_sieve_free(like);
        scratch_clear(NULL);
    }
    deja_url_rules_free(rules);
}

static void options_of_the_other_sieve_cannot_be_given(void **state)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_error err = {0};
    make(scratch_path("a"), "one");
    deja_sieve *like = open_sieve(scratch_path("a"), 0, NULL), *made;
    opt.seed = 5;
    assert_int_equal(deja_sieve_create(scratch_path("b"), like, &opt, &made, &err), DEJA_EINVAL);
    assert_null(made);
    assert_int_equal(access(scratch_path("b"), F_OK), -1);
    assert_int_equal(deja_sieve_create(scratch_path("a"), like, NULL, &made, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "is a sieve already"));
    deja_sieve_free(like);
    assert_true(has(scratch_path("a"), "one"));
    scratch_clear(NULL);
}

/* --- Renaming ----------------------------------------------------------------------- */

static void a_sieve_gets_another_name(void **state)
{
    deja_error err = {0};
    make(scratch_path("a"), "one");
    assert_int_equal(deja_sieve_rename(scratch_path("a"), scratch_path("b"), 0, &err), DEJA_OK);
    assert_int_equal(access(scratch_path("a"), F_OK), -1);
    assert_true(has(scratch_path("b"), "one"));
    assert_int_equal(mkdir(scratch_path("c"), 0700),
                     0); /* an empty directory is in nobody's way */
    assert_int_equal(deja_sieve_rename(scratch_path("b"), scratch_path("c"), 0, &err), DEJA_OK);
    assert_true(has(scratch_path("c"), "one"));
    scratch_clear(NULL);
}

static void a_sieve_is_replaced_only_if_that_was_asked_for(void **state)
{
    deja_error err = {0};
    const char *a = scratch_path("a"), *b = scratch_path("b");
    make(a, "one");
    make(b, "two");
    assert_int_equal(deja_sieve_rename(a, b, 0, &err), DEJA_EINVAL);
    assert_true(has(a, "one") && has(b, "two"));
    if (DJ_OS_LINUX) {
        assert_int_equal(deja_sieve_rename(a, b, DEJA_CREATE_REPLACE, &err), DEJA_OK);
        assert_int_equal(access(a, F_OK), -1);
        assert_true(has(b, "one") && !has(b, "two"));
    } else { /* no exchange of directories: both stay */
        assert_int_equal(deja_sieve_rename(a, b, DEJA_CREATE_REPLACE, &err), DEJA_ENOTSUP);
        assert_true(has(a, "one") && has(b, "two"));
    }
    assert_int_equal(deja_sieve_rename(a, b, 64, &err), DEJA_EVERSION);
    scratch_clear(NULL);
}

static void other_files_and_directories_stay(void **state)
{
    deja_error err = {0};
    const char *a = scratch_path("a"), *b = scratch_path("b"), *file = scratch_path("file");
    make(a, "one");
    make(b, "two");
    write_file(scratch_path("b/notes"), "x", 1);
    assert_int_equal(deja_sieve_rename(a, b, DEJA_CREATE_REPLACE, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "b/notes is not a file of a sieve"));
    assert_int_equal(deja_sieve_remove(b, &err), DEJA_EINVAL);
    assert_true(has(a, "one") && has(b, "two"));
    write_file(file, "x", 1);
    assert_int_equal(deja_sieve_rename(a, file, DEJA_CREATE_REPLACE, &err), DEJA_EINVAL);
    assert_int_equal(mkdir(scratch_path("full"), 0700), 0);
    write_file(scratch_path("full/file"), "x", 1);
    assert_int_equal(deja_sieve_rename(a, scratch_path("full"), DEJA_CREATE_REPLACE, &err),
                     DEJA_EINVAL);
    assert_int_equal(access(scratch_path("full/file"), F_OK), 0);
    a = scratch_path("a"); /* names are valid for some calls only */
    b = scratch_path("b");
    assert_int_equal(deja_sieve_rename(scratch_path("none"), b, DEJA_CREATE_REPLACE, &err),
                     DEJA_EIO);
    assert_int_equal(mkdir(scratch_path("empty"), 0700), 0);
    assert_int_equal(deja_sieve_rename(scratch_path("empty"), b, DEJA_CREATE_REPLACE, &err),
                     DEJA_EFORMAT);
    assert_true(has(a, "one") && has(b, "two"));
    scratch_clear(NULL);
}

static void a_sieve_that_is_written_stays(void **state)
{
    deja_error err = {0};
    const char *a = scratch_path("a"), *b = scratch_path("b");
    make(a, "one");
    make(b, "two");
    deja_sieve *writer = open_sieve(a, DEJA_OPEN_WRITE, NULL);
    assert_int_equal(deja_sieve_rename(a, scratch_path("c"), 0, &err), DEJA_EBUSY);
    assert_int_equal(deja_sieve_rename(b, a, DEJA_CREATE_REPLACE, &err), DEJA_EBUSY);
    assert_int_equal(deja_sieve_remove(a, &err), DEJA_EBUSY);
    deja_sieve_free(writer);
    assert_true(has(a, "one") && has(b, "two"));
    deja_sieve *reader = open_sieve(a, 0, NULL); /* keeps what it has opened */
    assert_int_equal(deja_sieve_rename(b, a, DEJA_CREATE_REPLACE, &err),
                     DJ_OS_LINUX ? DEJA_OK : DEJA_ENOTSUP);
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    assert_int_equal(deja_sieve_stats(reader, &r, NULL), DEJA_OK);
    assert_int_equal(r.keys, 1);
    deja_sieve_free(reader);
    scratch_clear(NULL);
}

/* --- Deleting ----------------------------------------------------------------------- */

static void a_sieve_is_deleted_with_its_directory(void **state)
{
    deja_error err = {0};
    make(scratch_path("a"), "one");
    assert_int_equal(deja_sieve_remove(scratch_path("a"), &err), DEJA_OK);
    assert_int_equal(access(scratch_path("a"), F_OK), -1);
    assert_int_equal(deja_sieve_remove(scratch_path("a"), &err), DEJA_EIO);
    make(scratch_path("b"), "one"); /* without a manifest, as after an interrupted creation */
    assert_int_equal(unlink(scratch_path("b/manifest")), 0);
    assert_int_equal(deja_sieve_remove(scratch_path("b"), &err), DEJA_OK);
    assert_int_equal(access(scratch_path("b"), F_OK), -1);
    scratch_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secret_key_and_rules_are_copied),
        cmocka_unit_test(options_of_the_other_sieve_cannot_be_given),
        cmocka_unit_test(a_sieve_gets_another_name),
        cmocka_unit_test(a_sieve_is_replaced_only_if_that_was_asked_for),
        cmocka_unit_test(other_files_and_directories_stay),
        cmocka_unit_test(a_sieve_that_is_written_stays),
        cmocka_unit_test(a_sieve_is_deleted_with_its_directory),
    };
    return cmocka_run_group_tests_name("unit.sievemove", tests, scratch_open, scratch_close);
}
