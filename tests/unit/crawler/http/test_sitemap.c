/* test_sitemap.c - the URLs in a sitemap. */
#include "crawler/http/sitemap.h"
#include "tools/base/buffer.h"
#include "unit.h"

static int collect(void *ctx, deja_slice url)
{
    return buffer_add(ctx, url.data, url.len) && buffer_text(ctx, " ") ? DEJA_OK : DEJA_ENOMEM;
}

static void urls_of_are(const void *xml, size_t len, const char *want)
{
    struct buffer all = {0};
    assert_int_equal(sitemap_extract((deja_slice){xml, len}, collect, &all), DEJA_OK);
    assert_true(buffer_add(&all, "", 1));
    assert_string_equal(all.data, want);
    buffer_fini(&all);
}

static void urls_are(const char *xml, const char *want)
{
    urls_of_are(xml, strlen(xml), want);
}

static void every_loc_is_a_url(void **state)
{
    urls_are("<urlset><url><loc>http://a/</loc><lastmod>x</lastmod></url>"
             "<url><loc>\n http://b/ \n</loc></url></urlset>",
             "http://a/ http://b/ ");
    urls_are("<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>",
             "http://a/1.xml ");
    urls_are("<loc>http://a/</loc>", "http://a/ ");
    urls_are("<alloc>x</alloc>", "");
    urls_are("<u><loc></loc><loc> </loc><loc/></u>", "");
}

static void namespace_prefixes_do_not_matter(void **state)
{
    urls_are("<s:urlset><s:url><s:loc>http://a/</s:loc></s:url></s:urlset>", "http://a/ ");
    urls_are("<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
             "<url><loc>http://a/</loc></url></urlset>",
             "http://a/ ");
}

static void images_are_not_pages(void **state)
{
    urls_are(
        "<u><url><loc>http://a/</loc><image:image><image:loc>http://a/i.png</image:loc>"
        "<image:x><loc>y</loc></image:x></image:image></url><url><loc>http://b/</loc></url></u>",
        "http://a/ http://b/ ");
    urls_are("<url><i:image><i:loc>http://a/i.png</i:loc></i:image><loc>http://a/</loc></url>",
             "http://a/ ");
}

static void entities_and_cdata_are_decoded(void **state)
{
    urls_are("<loc>http://a/?x=1&amp;y=&lt;&#38;&apos;&quot;&gt;</loc>",
             "http://a/?x=1&y=<&'\"> ");
    urls_are("<loc>http://a/&#038;&#x26;&#126;&#233;&#x20ac;</loc>",
             "http://a/&&~\xc3\xa9\xe2\x82\xac ");
    urls_are("<loc><![CDATA[ http://a/?x&y<]]></loc>", "http://a/?x&y< ");
    urls_are("<loc>http://<![CDATA[a/?x&]]>y</loc>", "http://a/?x&y ");
}

static void comments_are_skipped(void **state)
{
    urls_are("<!-- <loc>no</loc> --><u><!-- <loc>no</loc> --><loc>http://a/<!-- no -->b</loc>"
             "<?loc no?></u>",
             "http://a/b ");
}

static void any_encoding_becomes_utf8(void **state)
{
    static const char utf16[] = "\xff\xfe<\0l\0o\0c\0>\0h\0:\0\xe9\0<\0/\0l\0o\0c\0>";
    urls_of_are(utf16, sizeof utf16, "h:\xc3\xa9 ");
    urls_are("\xef\xbb\xbf<loc>http://a/\xc3\xa9</loc>", "http://a/\xc3\xa9 ");
    urls_are("<?xml version='1.0' encoding='ISO-8859-1'?><loc>http://a/\xe9</loc>",
             "http://a/\xc3\xa9 ");
    urls_are("<?xml version='1.0' encoding='windows-1251'?><u><x>\xff</x><loc>http://a/</loc></u>",
             "http://a/ ");
    urls_are("\r\n \n<?xml version='1.0'?><loc>http://a/</loc>", "http://a/ ");
}

static void urls_before_an_error_count(void **state)
{
    urls_are("", "");
    urls_are(" \n", "");
    urls_are("loc>", "");
    urls_are("<loc>", "");
    urls_are("<loc>http://a/", "");
    urls_are("<u><loc>http://a/</loc><loc>http://b/?x&y</loc>", "http://a/ ");
    urls_are("<u><loc>http://a/</loc></v><loc>http://b/</loc></u>", "http://a/ ");
    urls_are("<u><loc>http://a/</loc><loc>\xff</loc></u>", "http://a/ ");
    urls_are("<u><loc>http://a/</loc>&unknown;<loc>http://b/</loc></u>", "http://a/ ");
}

static void nothing_is_expanded_or_loaded(void **state)
{
    urls_are("<!DOCTYPE u [<!ENTITY a 'http://a/'>]><u><loc>&a;</loc><loc>http://b/</loc></u>",
             "");
    urls_are("<!DOCTYPE u [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><u><loc>&a;</loc></u>", "");
    urls_are("<!DOCTYPE u [<!ENTITY % a 'x'>]><u><loc>http://b/</loc></u>", "");
    urls_are("<!DOCTYPE u SYSTEM 'http://a/u.dtd'><u><loc>http://b/</loc></u>", "http://b/ ");
}

static void long_and_deeply_nested_ones_are_skipped(void **state)
{
    struct buffer xml = {0};
    assert_true(buffer_text(&xml, "<u><loc>"));
    for (int i = 0; i < 9000; i++)
        assert_true(buffer_text(&xml, "x"));
    assert_true(buffer_text(&xml, "</loc><loc>http://a/</loc>"));
    for (int i = 0; i < 100; i++)
        assert_true(buffer_text(&xml, "<d>"));
    assert_true(buffer_text(&xml, "<loc>http://deep/</loc>"));
    urls_of_are(xml.data, xml.len, "http://a/ ");
    buffer_fini(&xml);
}

static int refuse(void *ctx, deja_slice url)
{
    (void)url;
    ++*(int *)ctx;
    return DEJA_EFULL;
}

static void a_callback_error_ends_the_reading(void **state)
{
    static const char xml[] = "<u><loc>http://a/</loc><loc>http://b/</loc></u>";
    int calls = 0;
    assert_int_equal(sitemap_extract((deja_slice){xml, sizeof xml - 1}, refuse, &calls),
                     DEJA_EFULL);
    assert_int_equal(calls, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loc_is_a_url),
        cmocka_unit_test(namespace_prefixes_do_not_matter),
        cmocka_unit_test(images_are_not_pages),
        cmocka_unit_test(entities_and_cdata_are_decoded),
        cmocka_unit_test(comments_are_skipped),
        cmocka_unit_test(any_encoding_becomes_utf8),
        cmocka_unit_test(urls_before_an_error_count),
        cmocka_unit_test(nothing_is_expanded_or_loaded),
        cmocka_unit_test(long_and_deeply_nested_ones_are_skipped),
        cmocka_unit_test(a_callback_error_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
