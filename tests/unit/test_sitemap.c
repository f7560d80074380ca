/* test_sitemap.c - the URLs in a sitemap. */
#include "crawler/http/sitemap.h"
#include "tools/base/buffer.h"
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

static void numbers_stand_for_ascii(void **state)
{
    urls_are("<loc>http://a/&#38;&#39;&#039;&#x26;&#X2f;&#126;</loc>", "http://a/&''&/~ ");
    urls_are("<loc>&#;&#x;&#0;&#128;&#999999999999;&#3a;&#39</loc>",
             "&#;&#x;&#0;&#128;&#999999999999;&#3a;&#39 ");
    urls_are("<loc>a&</loc><loc>b&#</loc><loc>c&#x</loc>", "a& b&# c&#x ");
}

static void images_are_no_pages(void **state)
{
    urls_are("<url><loc>http://a/</loc><image:image><image:loc>http://a/i.png</image:loc>"
             "</image:image></url><url><loc>http://b/</loc></url>",
             "http://a/ http://b/ ");
    urls_are("image:loc>x</loc><loc>http://a/</loc>", "http://a/ ");
    urls_are("<mage:loc>http://a/</mage:loc>", "http://a/ ");
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
        cmocka_unit_test(numbers_stand_for_ascii),
        cmocka_unit_test(images_are_no_pages),
        cmocka_unit_test(rubbish_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
