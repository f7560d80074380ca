/* test_sitemap.c - the URLs in a sitemap. */
#include "buffer.h"
#include "sitemap.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int collect(void *ctx, deja_slice url)
{
    return buffer_add(ctx, url.data, url.len) && buffer_text(ctx, " ") ? DEJA_OK : DEJA_ENOMEM;
}

static void urls_are(const char *xml, const char *want)
{
    struct buffer all = {0};
    assert_int_equal(sitemap_extract((deja_slice){xml, strlen(xml)}, collect, &all), DEJA_OK);
    assert_true(buffer_add(&all, "", 1));
    assert_string_equal(all.data, want);
    buffer_fini(&all);
}

static void what_stands_in_loc(void **state)
{
    urls_are("<urlset><url><loc>http://a/</loc><lastmod>x</lastmod></url><url><loc>\n http://b/ "
             "\n</loc></url></urlset>",
             "http://a/ http://b/ ");
    urls_are("<s:urlset><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>", "http://a/ ");
    urls_are("<loc>http://a/?x=1&amp;y=&lt;&#38;&apos;</loc>", "http://a/?x=1&y=<&' ");
    urls_are("<loc><![CDATA[ http://a/?x&y ]]></loc>", "http://a/?x&y ");
}

static void rubbish_gives_nothing(void **state)
{
    urls_are("", "");
    urls_are("loc>", "");
    urls_are("<loc>", "");
    urls_are("<loc>http://a/", "");
    urls_are("<loc></loc><loc> </loc>", "");
    urls_are("<alloc>x</alloc>", "");
    urls_are("<loc>&unknown;</loc", "&unknown; ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stands_in_loc),
        cmocka_unit_test(rubbish_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
