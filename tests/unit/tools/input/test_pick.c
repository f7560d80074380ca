/* test_pick.c - the key of a line in every format, and the records of whole files in blocks of any
 * size. */
#include "tools/input/input.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static char name[] = "/tmp/deja-test-pick-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    const int fd = mkstemp(name);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(name);
}

static void write_file(const char *content)
{
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    assert_true(fputs(content, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The keys of a file: '|' after each, "-" for none, '+' before the second and later keys of a
 * line. */
struct reading {
    char keys[2000], records[2000], header[400];
    struct input_progress progress;
    int rc;
    deja_error err;
};

static void append(char *text, size_t cap, const char *before, deja_slice s, const char *behind)
{
    const size_t len = strlen(text);
    const int n = snprintf(text + len, cap - len, "%s%.*s%s", before, (int)s.len,
                           (const char *)s.data, behind);
    assert_true(n >= 0 && (size_t)n < cap - len);
}

static bool strict; /* for read_again */

static void read_again(struct reading *r, struct pick_options pick, const char *const *paths,
                       size_t n_paths, size_t block_size)
{
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    deja_slice header;
    memset(r, 0, sizeof *r);
    block_init(&b);
    o.paths = paths;
    o.n_paths = n_paths;
    o.pick = pick;
    o.block_size = block_size;
    o.strict = strict;
    r->rc = input_open(&o, &in, &r->err);
    if (r->rc < 0)
        return;
    while ((r->rc = input_next(in, &b, &r->err)) > 0) {
        size_t begin = 0, end = 0;
        bool shared = false;
        for (size_t i = 0; i < b.n; i++) {
            const bool again = i > 0 && b.ends[i] == end;
            shared = shared || again;
            static const deja_slice none = {"-", 1};
            assert_true(b.keys[i].data || b.keyless);
            append(r->keys, sizeof r->keys, again ? "+" : "", b.keys[i].data ? b.keys[i] : none,
                   "|");
            if (!again)
                append(r->records, sizeof r->records, "",
                       (deja_slice){b.data + begin, b.ends[i] - begin}, "");
            begin = end = b.ends[i];
        }
        assert_int_equal(end, b.len);
        assert_int_equal(shared, b.shared);
    }
    if (input_header(in, &header))
        append(r->header, sizeof r->header, "", header, "");
    input_progress(in, &r->progress);
    input_close(in);
    block_fini(&b);
}

/* Read in one block, and in blocks so small that everything meets a boundary. */
static struct reading read_text(struct pick_options pick, const char *content)
{
    static struct reading r, small;
    const char *path = name;
    write_file(content);
    read_again(&r, pick, &path, 1, 0);
    for (size_t size = 1; size < 80; size += size < 20 ? 1 : 13) {
        read_again(&small, pick, &path, 1, size);
        assert_int_equal(small.rc, r.rc);
        assert_string_equal(small.keys, r.keys);
        assert_string_equal(small.records, r.records);
        assert_string_equal(small.header, r.header);
        assert_int_equal(small.progress.missing, r.progress.missing);
        assert_string_equal(small.err.text, r.err.text);
    }
    return r;
}

static struct reading expect(struct pick_options pick, const char *content, const char *keys,
                             uint64_t missing)
{
    struct reading r = read_text(pick, content);
    assert_int_equal(r.rc, 0);
    assert_string_equal(r.keys, keys);
    assert_int_equal(r.progress.missing, missing);
    return r;
}

static struct pick_options format(uint32_t f)
{
    return (struct pick_options){.format = f};
}

static void every_format_has_a_name(void **state)
{
    (void)state;
    assert_null(pick_format_name(0));
    assert_string_equal(pick_format_name(PICK_LINES), "lines");
    assert_string_equal(pick_format_name(PICK_HOSTS), "hosts");
    assert_string_equal(pick_format_name(PICK_ADBLOCK), "adblock");
    assert_null(pick_format_name(PICK_ADBLOCK + 1));
    struct pick p;
    struct pick_options o = format(PICK_ADBLOCK + 1);
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_EINVAL);
}

static void lines_are_keys_with_their_comments(void **state)
{
    (void)state;
    struct reading r = expect(format(PICK_LINES), "# a\n b \n\nc", "# a| b ||c|", 0);
    assert_string_equal(r.records, "# a\n b \n\nc\n");
}

static void fields_are_words_or_between_delimiters(void **state)
{
    (void)state;
    struct pick_options o = {.field = {2}};
    expect(o, "a b c\n  a\t \tb\r\na\n\na ", "b|b|-|-|-|", 3);
    o.has_delimiter = true;
    o.delimiter = ' ';
    expect(o, "a b c\n  a\t \tb\r\na\n\na ", "b|-|-|-|-|", 4); /* an empty field is not a key */
}

static void several_fields_are_joined(void **state)
{
    (void)state;
    struct pick_options o = {.field = {3, 1}};
    expect(o, "a b c\n c  b\ta d\r\na b\n\n",
           "c\x1f"
           "a|a\x1f"
           "c|-|-|",
           2);
    o.has_delimiter = true;
    o.delimiter = ';'; /* an empty field counts, unless all are empty */
    expect(o, "a;b;c\n;x;c\na;x;\n;x;\na;b\n",
           "c\x1f"
           "a|c\x1f|\x1f"
           "a|-|-|",
           2);
}

static void different_fields_never_give_the_same_key(void **state)
{
    (void)state;
    struct pick_options o = {.field = {1, 2}, .has_delimiter = true, .delimiter = ';'};
    expect(o,
           "a\x1f;b\na;\x1f"
           "b\na\x10;b\n",
           "a\x10\x1f\x1f"
           "b|a\x1f\x10\x1f"
           "b|a\x10\x10\x1f"
           "b|",
           0);
}

static void several_columns_are_decoded_and_joined(void **state)
{
    (void)state;
    struct pick_options o = {.csv_column = "url,1,\"a,\"\"b\""};
    struct reading r = expect(o,
                              "id,\"a,\"\"b\",url\n1,2,3\n\"1\",\"say \"\"hi\"\"\",\"x\ny\"\n"
                              ",,\n1,2\n",
                              "3\x1f"
                              "1\x1f"
                              "2|x\ny\x1f"
                              "1\x1fsay \"hi\"|-|-|",
                              2);
    assert_string_equal(r.header, "id,\"a,\"\"b\",url\n");
    o.csv_column = "3,1"; /* numbers alone: no header */
    expect(o, "a,b,c\n1,2,3\n",
           "c\x1f"
           "a|3\x1f"
           "1|",
           0);
    o.csv_column = "id,link,also";
    r = read_text(o, "id,url\n1,2\n");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_non_null(strstr(r.err.text, "has no column \"link\"; it has: \"id\", \"url\""));
}

static void lists_of_columns_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *list, *says;
    } rows[] = {
        {"", "needs the name"},     {"a,", "needs the name"},
        {",a", "needs the name"},   {"1,0", "counted from 1"},
        {"99999999999", "counted"}, {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most 16"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        struct pick p;
        deja_error err;
        const struct pick_options o = {.csv_column = rows[i].list};
        assert_int_equal(pick_init(&p, &o, '\n', &err), DEJA_EINVAL);
        assert_non_null(strstr(err.text, rows[i].says));
    }
    struct pick p;
    struct pick_options o = {.field = {4, 12, 2}};
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_OK);
    assert_int_equal(pick_last(&p), 12);
    assert_string_equal(pick_wanted(&p).text, "fields 4,12,2");
    o = (struct pick_options){.csv_column = "4,1"};
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_OK);
    assert_string_equal(pick_wanted(&p).text, "columns 4,1");
    o = (struct pick_options){.csv_column = "a,1"};
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_OK);
    assert_string_equal(pick_wanted(&p).text, "columns \"a,1\"");
}

static void the_key_of_a_log_line_is_its_target(void **state)
{
    (void)state;
    expect(format(PICK_LOG),
           "h - - [d] \"GET /a HTTP/1.1\" 200 1\n"
           "h - - [d] \"-\" 408 0\n"
           "v:80 h - - [d] \"POST /a\\\"b\\x41 HTTP/1.1\" 200 1 \"r\" \"u\"\r\n"
           "garbage\n\n"
           "h - - [d] \"GET /\\\\ HTTP/1.1\" 200",
           "/a|-|/a\"bA|-|-|/\\|", 3);
}

static void the_key_of_a_squid_line_is_its_seventh_word(void **state)
{
    (void)state;
    expect(format(PICK_SQUID),
           "1066036250.129    149 10.0.0.1 TCP_MISS/200 5 GET http://a/ - DIRECT/1.2.3.4 t\n"
           "1066036250.129      1 10.0.0.1 TCP_DENIED/403 5 CONNECT a:443 - NONE/- -\n"
           "1066036250.129      1 10.0.0.1 NONE/400 5 NONE error:invalid-request - NONE/- -\n"
           "1066036250.129      1 10.0.0.1 NONE/400 5 NONE - - NONE/- -\n"
           "1 2 3\n",
           "http://a/|a:443|-|-|-|", 3);
}

static void the_legend_of_a_cdx_file_says_where_the_url_is(void **state)
{
    (void)state;
    struct reading r =
        expect(format(PICK_CDX), "a)/ 2020 http://a/ t 200\nb)/ 2020 - t 200\nc)/ 2020\n",
               "http://a/|-|-|", 2);
    assert_string_equal(r.header, "");
    r = expect(format(PICK_CDX),
               " CDX a b N\r\nhttp://a/ 2020 a)/\n CDX N b a\nhttp://c/ 2020 c)/",
               "http://a/|-|http://c/|", 1);
    assert_string_equal(r.header, " CDX a b N\r\n");
    assert_string_equal(r.records, "http://a/ 2020 a)/\n CDX N b a\nhttp://c/ 2020 c)/\n");
    r = expect(format(PICK_CDX),
               "\xef\xbb\xbf"
               "CDX N b a\na 1 http://a/\n",
               "http://a/|", 0);
    r = expect(format(PICK_CDX), " CDX N b a", "", 0);
    assert_string_equal(r.header, " CDX N b a\n");
    r = read_text(format(PICK_CDX), " CDX N b\na 1\n");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_non_null(strstr(r.err.text, "its CDX legend has no column a"));

    /* The next file has no legend, and its own columns. */
    write_file(" CDX a b N\nhttp://a/ 2020 a)/\n");
    char other[sizeof name + 2];
    snprintf(other, sizeof other, "%s2", name);
    FILE *f = fopen(other, "wb");
    assert_non_null(f);
    fputs("b)/ 2020 http://b/\n", f);
    fclose(f);
    const char *paths[] = {name, other};
    read_again(&r, format(PICK_CDX), paths, 2, 0);
    assert_string_equal(r.keys, "http://a/|http://b/|");
    unlink(other);
}

static void the_key_of_a_json_line_is_a_string(void **state)
{
    (void)state;
    expect(format(PICK_JSONL),
           "{\"url\":\"http://a/\"}\n{\"n\":1,\"url\":\"http:\\/\\/a\\/\"}\r\n{\"url\":null}\n\n"
           "{\"url\":\"\"}\n{\"url\":\"\\u00e9\"}",
           "http://a/|http://a/|-|-|-|\xc3\xa9|", 3);
    struct pick_options o = {.json_key = "page.link"};
    expect(o, "{\"page\":{\"link\":\"a\"}}\n{\"page.link\":\"b\"}\n{\"link\":\"c\"}\n", "a|b|-|",
           1);
}

static void cdxj_has_json_after_two_words(void **state)
{
    (void)state;
    static const char lines[] = "com,a)/ 2020 {\"url\": \"http://a/\", \"digest\": \"D1\"}\n"
                                "!OpenWayback-CDXJ 1.0\n"
                                "com,b)/ 2020 - {\"url\": \"x\"}\n"
                                "com,c)/\t2020\t{\"digest\": \"D\\u0033\"}\n";
    expect(format(PICK_CDXJ), lines, "http://a/|-|-|-|", 3);
    struct pick_options o = {.format = PICK_CDXJ, .json_key = "digest"};
    expect(o, lines, "D1|-|-|D3|", 2);
}

static void a_line_can_have_any_number_of_hosts(void **state)
{
    (void)state;
    struct reading r = expect(
        format(PICK_HOSTS),
        "\xef\xbb\xbf# list\n127.0.0.1 localhost\n0.0.0.0 a b\tc # d\n\n||e^\n||f^$x\nhttp://g/\n"
        "h\r\n! i\n0.0.0.0 j k\n0.0.0.0 l\n# end",
        "a|+b|+c|e|-|-|h|j|+k|l|", 2);
    assert_string_equal(r.records, "0.0.0.0 a b\tc # d\n||e^\n||f^$x\nhttp://g/\nh\r\n"
                                   "0.0.0.0 j k\n0.0.0.0 l\n");
    assert_int_equal(r.progress.records, 10);
    r = expect(format(PICK_HOSTS),
               "\xef\xbb\xbf"
               "0.0.0.0 a b\nc",
               "a|+b|c|", 0);
    assert_string_equal(r.records, "\xef\xbb\xbf"
                                   "0.0.0.0 a b\nc\n");
    expect(format(PICK_HOSTS), "# nothing\n\n! at all\n", "", 0);
}

/* The state of a zone file survives blocks, and starts anew with each file. */
static void names_in_dns_lists_are_keys(void **state)
{
    (void)state;
    expect(format(PICK_DNSMASQ),
           "# c\naddress=/a.x/b.x/0.0.0.0\nserver=/c.x/9.9.9.9\nlocal=/d.x/\n", "a.x|+b.x|-|d.x|",
           1);
    expect(format(PICK_UNBOUND), "server:\nlocal-zone: \"a.x.\" static\nlocal-zone: b.x inform\n",
           "a.x|-|", 1);
    expect(format(PICK_RPZ),
           "$ORIGIN z.\n@ SOA a b (\n 1 2\n 3 )\na.x CNAME .\n A 1.2.3.4\n*.b.x.z. CNAME *.\n",
           "a.x|b.x|", 0);
    expect(format(PICK_ADBLOCK),
           "! c\n||a.x^$third-party\n||b.x/c/\n##.ad\n@@||a.x^\n0.0.0.0 d.x e.x\n",
           "a.x|b.x/c/|-|-|d.x|+e.x|", 2);
}

static void blocks_of_hosts_know_their_first_line(void **state)
{
    (void)state;
    write_file("# one\n# two\n0.0.0.0 a b\n# four\nc\n");
    const char *path = name;
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    block_init(&b);
    o.paths = &path;
    o.n_paths = 1;
    o.pick.format = PICK_HOSTS;
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    assert_int_equal(input_next(in, &b, NULL), 1);
    assert_int_equal(b.line, 3);
    assert_int_equal(b.n, 3);
    assert_int_equal(input_next(in, &b, NULL), 0);
    input_close(in);
    block_fini(&b);
}

static void a_line_with_very_many_hosts_is_split_over_blocks(void **state)
{
    (void)state;
    enum {
        HOSTS = 100000
    };
    FILE *f = fopen(name, "wb");
    assert_non_null(f);
    fputs("0.0.0.0", f);
    for (int i = 0; i < HOSTS; i++)
        fprintf(f, " h%d", i);
    fputs("\nlast\n", f);
    fclose(f);
    const char *path = name;
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    size_t n = 0;
    block_init(&b);
    o.paths = &path;
    o.n_paths = 1;
    o.pick.format = PICK_HOSTS;
    assert_true(input_estimate(&o) >= HOSTS + 1);
    assert_int_equal(input_open(&o, &in, NULL), DEJA_OK);
    while (input_next(in, &b, NULL) > 0)
        n += b.n;
    assert_int_equal(n, HOSTS + 1);
    input_close(in);
    block_fini(&b);
}

static void comments_before_csv_are_skipped(void **state)
{
    (void)state;
    struct pick_options o = {.csv_column = "url"};
    /* The names are in the last comment: */
    struct reading r =
        expect(o,
               "########\r\n# Dump, \"all\r\n#,\"x\r\n########\r\n#\r\n"
               "# id,dateadded,url,tags\r\n"
               "\"1\",\"2\",\"http://a/\",\"x,y\"\r\n\"2\",\"3\",\"a\"\"b\",\"\"\r\n",
               "http://a/|a\"b|", 0);
    assert_string_equal(r.header, "# id,dateadded,url,tags\r\n");
    /* or below it: */
    r = expect(o, "# prose\n# more\nid,url\n1,a\n# 2,b\n", "a|b|", 0);
    assert_string_equal(r.header, "id,url\n");
    r = expect(o, "\xef\xbb\xbf#id,url\n1,a\n", "a|", 0);
    assert_string_equal(r.header, "\xef\xbb\xbf#id,url\n");
    /* No record at all, with and without a last line end: */
    r = expect(o, "# prose\n# id,url\n", "", 0);
    assert_string_equal(r.header, "# id,url\n");
    r = expect(o, "# id,url", "", 0);
    assert_string_equal(r.header, "# id,url\n");
    r = expect(o, "# id,url\n1,a", "a|", 0);
    r = read_text(o, "# id,link\n");
    assert_int_equal(r.rc, DEJA_EINVAL);
    r = read_text(o, "# id,link\n1,a\n");
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_non_null(strstr(r.err.text, "no column \"url\""));
    /* A name may begin with the mark, and a column by number has no header: */
    o.csv_column = "#id";
    expect(o, "#id,url\n1,a\n", "1|", 0);
    o.csv_column = "1";
    expect(o, "#id,url\n1,a\n", "#id|1|", 0);
}

/* The text after "no line has ". */
static void lacks(struct pick_options pick, const char *content, const char *want)
{
    static const char begin[] = "no line has ";
    char text[400], file[60];
    struct reading r = read_text(pick, content);
    assert_int_equal(r.rc, DEJA_EINVAL);
    assert_string_equal(r.records, content); /* the records are delivered first */
    assert_memory_equal(r.err.text, begin, sizeof begin - 1);
    snprintf(file, sizeof file, "of %s", name);
    snprintf(text, sizeof text, "%s", r.err.text + sizeof begin - 1);
    char *at = strstr(text, file);
    if (at) /* the name of the file differs from run to run */
        memmove(at + 4, at + strlen(file), strlen(at + strlen(file)) + 1), memcpy(at, "of F", 4);
    assert_string_equal(text, want);
}

static void if_no_line_has_the_key_the_error_lists_existing_keys(void **state)
{
    (void)state;
    struct pick_options o = {.json_key = ".url"};
    lacks(o,
          "{\"link\":\"a\",\"n\":1,\"page\":{\"title\":\"b\",\"deep\":{\"er\":null}}}\n"
          "{\"link\":\"c\",\"tags\":[\"x\"],\"e\\u00e9\":true}\n",
          "a string \".url\"; the first lines of F have: \"link\", \"n\" (a number), "
          "\"page.title\", "
          "\"page.deep.er\" (null), \"tags\" (an array), \"e\xc3\xa9\" (true or false)");
    lacks(format(PICK_JSONL), "{}\n", "a string \"url\"; the first lines of F have: no keys");
    lacks(format(PICK_JSONL), "{\"url\":7}\n",
          "a string \"url\"; the first lines of F have: \"url\" (a number)");
    lacks(format(PICK_JSONL), "{\"\x1b[31m\":\"a\"}\n",
          "a string \"url\"; the first lines of F have: \"\\x1b[31m\"");
    lacks(format(PICK_JSONL), "a,b\n",
          "a string \"url\"; the first line of F is not a JSON object");
    lacks(format(PICK_CDXJ), "a 1 {\"digest\":\"D\"}\n",
          "a string \"url\"; the first lines of F have: \"digest\"");
    o = (struct pick_options){.csv_column = "9"};
    lacks(o, "a,\"b\"\"c\",d\n1,2,3\n",
          "column 9; the first line of F has 3 columns: \"a\", \"b\"c\", \"d\"");
    o.csv_column = "2";
    lacks(o, "a,,d\n",
          "anything in column 2; the first line of F has 3 columns: \"a\", \"\", \"d\"");
    o = (struct pick_options){.field = {3}};
    lacks(o, "a b\n",
          "field 3; the first line of F has 2 fields between blanks; -d sets another "
          "delimiter");
    o.has_delimiter = true;
    o.delimiter = ';';
    lacks(o, "a\n", "field 3; the first line of F has 1 field");
    lacks(o, "a;;\n", "anything in field 3; the first line of F has 3 fields");
    lacks(format(PICK_SQUID), "a b\n",
          "a URL; the first line of F has 2 fields, and the URL of a squid line is field 7");
    lacks(format(PICK_CDX), "a\n",
          "a URL; the first line of F has 1 field, and the URL of a cdx line is field 3");
}

static void an_error_about_keys_fits_however_many_there_are(void **state)
{
    (void)state;
    char content[1500] = "{";
    for (int i = 0; i < 60; i++)
        snprintf(content + strlen(content), sizeof content - strlen(content),
                 "%s\"a name of some length %d\":%d", i ? "," : "", i, i);
    snprintf(content + strlen(content), sizeof content - strlen(content), "}\n");
    struct reading r = read_text(format(PICK_JSONL), content);
    assert_int_equal(r.rc, DEJA_EINVAL);
    const size_t len = strlen(r.err.text);
    assert_true(len < sizeof r.err.text - 1);
    assert_string_equal(r.err.text + len - 5, ", ...");
}

static void empty_lines_alone_are_not_an_error(void **state)
{
    (void)state;
    expect(format(PICK_JSONL), "\n\r\n", "-|-|", 2);
    expect(format(PICK_JSONL), "", "", 0);
    expect(format(PICK_HOSTS), "\n# x\n", "", 0);
}

static void strict_stops_at_the_first_line_without_a_key(void **state)
{
    (void)state;
    static const struct {
        struct pick_options pick;
        const char *content, *keys, *text;
    } cases[] = {
        {{.field = {2}}, "a b\nc d\ne\nf g\n", "b|d|", "line 3 lacks field 2"},
        {{.csv_column = "u"}, "u,v\n\"a\nb\",1\n,2\n", "a\nb|", "line 4 lacks column \"u\""},
        {{.json_key = "$.u"}, "{\"u\":\"a\"}\n\n", "a|", "line 2 lacks a string \"$.u\""},
        {{.format = PICK_LOG}, "x\n", "", "line 1 lacks a request target"},
        {{.format = PICK_HOSTS},
         "# c\n0.0.0.0 a b\n\nhttp://c/\nd\n",
         "a|+b|",
         "line 4 lacks a host"},
    };
    for (size_t i = 0; i < LEN(cases); i++)
        for (size_t size = 0; size < 40; size += 3) {
            static struct reading r;
            const char *path = name;
            write_file(cases[i].content);
            strict = true;
            read_again(&r, cases[i].pick, &path, 1, size);
            strict = false;
            assert_int_equal(r.rc, DEJA_EINVAL);
            assert_string_equal(r.keys, cases[i].keys);
            assert_non_null(strstr(r.err.text, cases[i].text));
            assert_non_null(strstr(r.err.text, name));
        }
}

static void records_can_end_in_zero_bytes_in_every_format(void **state)
{
    (void)state;
    struct pick p;
    for (uint32_t f = PICK_LINES; f <= PICK_ADBLOCK; f++) {
        struct pick_options o = format(f);
        assert_int_equal(pick_init(&p, &o, '\0', NULL), DEJA_OK);
    }
    struct pick_options o = {.field = {1}, .has_delimiter = true};
    assert_int_equal(pick_init(&p, &o, '\0', NULL), DEJA_EINVAL);
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_OK);
    o = (struct pick_options){.csv_column = "1", .has_delimiter = true};
    assert_int_equal(pick_init(&p, &o, '\0', NULL), DEJA_EINVAL);
    assert_int_equal(pick_init(&p, &o, '\n', NULL), DEJA_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_has_a_name),
        cmocka_unit_test(lines_are_keys_with_their_comments),
        cmocka_unit_test(fields_are_words_or_between_delimiters),
        cmocka_unit_test(several_fields_are_joined),
        cmocka_unit_test(different_fields_never_give_the_same_key),
        cmocka_unit_test(several_columns_are_decoded_and_joined),
        cmocka_unit_test(lists_of_columns_are_checked),
        cmocka_unit_test(the_key_of_a_log_line_is_its_target),
        cmocka_unit_test(the_key_of_a_squid_line_is_its_seventh_word),
        cmocka_unit_test(the_legend_of_a_cdx_file_says_where_the_url_is),
        cmocka_unit_test(the_key_of_a_json_line_is_a_string),
        cmocka_unit_test(cdxj_has_json_after_two_words),
        cmocka_unit_test(a_line_can_have_any_number_of_hosts),
        cmocka_unit_test(names_in_dns_lists_are_keys),
        cmocka_unit_test(blocks_of_hosts_know_their_first_line),
        cmocka_unit_test(a_line_with_very_many_hosts_is_split_over_blocks),
        cmocka_unit_test(comments_before_csv_are_skipped),
        cmocka_unit_test(if_no_line_has_the_key_the_error_lists_existing_keys),
        cmocka_unit_test(an_error_about_keys_fits_however_many_there_are),
        cmocka_unit_test(empty_lines_alone_are_not_an_error),
        cmocka_unit_test(strict_stops_at_the_first_line_without_a_key),
        cmocka_unit_test(records_can_end_in_zero_bytes_in_every_format),
    };
    return cmocka_run_group_tests_name("unit.pick", tests, make_file, remove_file);
}
