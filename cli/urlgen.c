/* urlgen.c - URLs of a web that does not exist.
 *
 * Unique by construction.  The number, scrambled by a bijection, is written into one place of
 * the URL, and the rest of the URL tells where that is and how to read it back:
 *
 *   host    a name of four or more syllables; the names of shared sites have two or three
 *   query   the value of a first parameter called id, p, v, ...; idle parameters are not
 *   path    otherwise, at the end of the last segment, before .html and the like:
 *             32 or 40 hex digits, a UUID    the first 14 hex digits (of the UUID: less its 4)
 *             only digits                    decimal
 *             a letter, a digit, and more    base 62, of a length that tells how many bits
 *             words                          the syllables of the last two, or of the only one
 *
 * Syllables can be told apart in a word, as explained where they are made.  Numbers below 2^32
 * become 32 bits, larger ones 40, 48 or 56: the length of the form tells which.
 *
 * Shaped like the web.  All else is drawn from dice that the number seeds: how many segments,
 * which site, which words.  A few sites have a third of all URLs, a long tail has one each.
 * The site of a rank looks the same in every URL and for every seed: name, scheme, separators,
 * file endings.  The weights below were set by comparing lengths and shares with five million
 * URLs of real crawls; docs/examples/README.md has the figures.
 *
 * Names are put together from syllables; if one exists somewhere, it is an accident.  Addresses
 * in figures are from ranges that do not lead into the public network.
 *
 * Only integers, so the URLs are the same on every machine. */
#include "urlgen.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PIECE(s)                                                                                  \
    {                                                                                             \
        s, sizeof(s) - 1                                                                          \
    }

/* --- Dice ---------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
static uint64_t draw(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(*state);
}

struct dice {
    uint64_t state;
    uint64_t pool; /* bits drawn and not used */
    unsigned left;
};

static inline unsigned roll(struct dice *d, unsigned bits)
{
    if (d->left < bits) {
        d->pool = draw(&d->state);
        d->left = 64;
    }
    unsigned value = (unsigned)(d->pool & ((UINT64_C(1) << bits) - 1));
    d->pool >>= bits;
    d->left -= bits;
    return value;
}

/* 0 .. n - 1, for n up to 256. */
static inline unsigned below(struct dice *d, unsigned n)
{
    return roll(d, 16) * n >> 16;
}

static inline bool chance(struct dice *d, unsigned of_65536)
{
    return roll(d, 16) < of_65536;
}

/* --- Words --------------------------------------------------------------- */

/* Syllables are made in four ways, in this order, until there are 256: mo, mor, tro, mea.  No
 * group of consonants begins with n, r or l, so that these, after a vowel and before another
 * consonant or the end, belong to the syllable before; codas do not begin with them either. */
static const char *const plain_onsets[] = {"b", "c", "d", "f", "g", "h", "j", "k", "l",
                                           "m", "n", "p", "r", "s", "t", "v", "w", "z"};
static const char *const grouped_onsets[] = {"br", "ch", "cl", "cr", "dr", "fl", "fr", "gr",
                                             "pl", "pr", "sh", "sk", "sp", "st", "th", "tr"};
static const char *const vowels[] = {"a", "e", "i", "o", "u"};
static const char *const vowel_pairs[] = {"ea", "io", "ai"};
static const char *const closings[] = {"n", "r", "l"};

/* Left out, for the words that they would make. */
static const char *const shunned[] = {"pe", "pi",  "pu",  "shi", "zi",  "cu",  "cul", "gro",
                                      "ki", "cli", "ti",  "se",  "ho",  "ni",  "spa", "mer",
                                      "fu", "pen", "pea", "ne",  "zir", "gin", "ji"};

/* What may stand behind a word. */
static const struct urlgen_piece codas[16] = {
    PIECE(""), PIECE(""), PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),  PIECE(""),
    PIECE(""), PIECE(""), PIECE("s"), PIECE("s"), PIECE("s"), PIECE("t"), PIECE("t"), PIECE("d"),
};

static const struct urlgen_piece sections[128] = {
    PIECE("news"),       PIECE("blog"),     PIECE("products"),  PIECE("product"),
    PIECE("images"),     PIECE("img"),      PIECE("media"),     PIECE("files"),
    PIECE("archive"),    PIECE("category"), PIECE("tag"),       PIECE("users"),
    PIECE("forum"),      PIECE("topic"),    PIECE("article"),   PIECE("articles"),
    PIECE("docs"),       PIECE("wiki"),     PIECE("shop"),      PIECE("store"),
    PIECE("item"),       PIECE("catalog"),  PIECE("static"),    PIECE("assets"),
    PIECE("content"),    PIECE("uploads"),  PIECE("data"),      PIECE("public"),
    PIECE("en"),         PIECE("de"),       PIECE("en-us"),     PIECE("us"),
    PIECE("help"),       PIECE("support"),  PIECE("about"),     PIECE("team"),
    PIECE("events"),     PIECE("sports"),   PIECE("politics"),  PIECE("business"),
    PIECE("tech"),       PIECE("science"),  PIECE("health"),    PIECE("travel"),
    PIECE("culture"),    PIECE("music"),    PIECE("video"),     PIECE("videos"),
    PIECE("photo"),      PIECE("photos"),   PIECE("gallery"),   PIECE("games"),
    PIECE("books"),      PIECE("movies"),   PIECE("reviews"),   PIECE("deals"),
    PIECE("jobs"),       PIECE("cars"),     PIECE("homes"),     PIECE("fashion"),
    PIECE("food"),       PIECE("recipes"),  PIECE("learn"),     PIECE("research"),
    PIECE("library"),    PIECE("papers"),   PIECE("reports"),   PIECE("press"),
    PIECE("releases"),   PIECE("programs"), PIECE("projects"),  PIECE("services"),
    PIECE("pages"),      PIECE("posts"),    PIECE("story"),     PIECE("stories"),
    PIECE("archives"),   PIECE("section"),  PIECE("world"),     PIECE("local"),
    PIECE("weather"),    PIECE("maps"),     PIECE("search"),    PIECE("browse"),
    PIECE("list"),       PIECE("view"),     PIECE("show"),      PIECE("detail"),
    PIECE("api"),        PIECE("v1"),       PIECE("v2"),        PIECE("download"),
    PIECE("downloads"),  PIECE("software"), PIECE("mobile"),    PIECE("web"),
    PIECE("cgi-bin"),    PIECE("contents"), PIECE("sites"),     PIECE("default"),
    PIECE("themes"),     PIECE("p"),        PIECE("t"),         PIECE("a"),
    PIECE("s"),          PIECE("r"),        PIECE("c"),         PIECE("dp"),
    PIECE("id"),         PIECE("go"),       PIECE("node"),      PIECE("member"),
    PIECE("profile"),    PIECE("people"),   PIECE("groups"),    PIECE("community"),
    PIECE("questions"),  PIECE("threads"),  PIECE("features"),  PIECE("opinion"),
    PIECE("review"),     PIECE("guides"),   PIECE("kb"),        PIECE("lists"),
    PIECE("collection"), PIECE("brands"),   PIECE("resources"), PIECE("publications"),
};

static const struct urlgen_piece pages[32] = {
    PIECE("index.html"), PIECE("index.htm"),   PIECE("index.php"),  PIECE("default.aspx"),
    PIECE("about"),      PIECE("about.html"),  PIECE("contact"),    PIECE("contact.html"),
    PIECE("home"),       PIECE("home.html"),   PIECE("main.php"),   PIECE("login"),
    PIECE("products"),   PIECE("services"),    PIECE("news"),       PIECE("blog"),
    PIECE("robots.txt"), PIECE("sitemap.xml"), PIECE("feed"),       PIECE("rss.xml"),
    PIECE("welcome"),    PIECE("en"),          PIECE("links.html"), PIECE("team"),
    PIECE("gallery"),    PIECE("shop"),        PIECE("imprint"),    PIECE("privacy"),
    PIECE("About.aspx"), PIECE("Home"),        PIECE("Index.html"), PIECE("Products"),
};

static const struct urlgen_piece scripts[8] = {
    PIECE("index.php"),  PIECE("view.php"), PIECE("item.asp"), PIECE("show.aspx"),
    PIECE("detail.php"), PIECE("watch"),    PIECE("search"),   PIECE("viewtopic.php"),
};

/* First parameters that hold the number, and idle ones: no name is in both. */
static const struct urlgen_piece id_names[8] = {
    PIECE("?id="), PIECE("?p="),    PIECE("?v="),   PIECE("?article="),
    PIECE("?t="),  PIECE("?item="), PIECE("?pid="), PIECE("?ID="),
};
static const struct urlgen_piece idle_names[16] = {
    PIECE("page="), PIECE("lang="),       PIECE("ref="),          PIECE("sort="),
    PIECE("view="), PIECE("utm_source="), PIECE("utm_campaign="), PIECE("source="),
    PIECE("from="), PIECE("cat="),        PIECE("size="),         PIECE("q="),
    PIECE("sid="),  PIECE("filter="),     PIECE("format="),       PIECE("tab="),
};

static const struct urlgen_piece fragments[8] = {
    PIECE("#comments"), PIECE("#top"),      PIECE("#content"), PIECE("#main"),
    PIECE("#reviews"),  PIECE("#!/latest"), PIECE("#respond"), PIECE("#section"),
};

/* Letters beyond ASCII, as UTF-8; put together at random, they mean nothing. */
static const struct urlgen_piece foreign[16] = {
    PIECE("\xc3\xa9l"),
    PIECE("\xc3\xbcr"),
    PIECE("\xc3\xb1o"),
    PIECE("\xc3\xa5n"),
    PIECE("\xc3\xb6k"),
    PIECE("\xc3\xa7"
          "a"),
    PIECE("\xc5\x82o"),
    PIECE("\xc4\x8di"),
    PIECE("\xd0\xba\xd0\xb0"),
    PIECE("\xd0\xbb\xd0\xbe"),
    PIECE("\xd0\xbc\xd0\xb8"),
    PIECE("\xd1\x82\xd1\x83"),
    PIECE("\xe3\x81\x8b"),
    PIECE("\xe3\x81\xae"),
    PIECE("\xe3\x83\xaa"),
    PIECE("\xe3\x83\x88"),
};

static inline char *put(char *at, const struct urlgen_piece *piece)
{
    memcpy(at, piece, sizeof *piece); /* a constant size: no loop, no call */
    return at + piece->len;
}

static inline char *put_char(char *at, char c)
{
    *at = c;
    return at + 1;
}

static char *put_number(char *at, uint64_t n)
{
    char digits[20];
    size_t i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    memcpy(at, digits + i, sizeof digits - i);
    return at + (sizeof digits - i);
}

static inline char *put_two_digits(char *at, unsigned n)
{
    at[0] = (char)('0' + n / 10);
    at[1] = (char)('0' + n % 10);
    return at + 2;
}

static char *put_hex(char *at, uint64_t x, unsigned digits)
{
    for (unsigned i = 0; i < digits; i++, x <<= 4)
        at[i] = "0123456789abcdef"[x >> 60];
    return at + digits;
}

static inline void capitalise(char *c)
{
    if (*c >= 'a' && *c <= 'z')
        *c = (char)(*c - 'a' + 'A');
}

/* n syllables, from the lowest bytes of x. */
static inline char *put_syllables(const struct urlgen *g, char *at, uint64_t x, unsigned n)
{
    for (; n > 0; n--, x >>= 8)
        at = put(at, &g->syllable[x & 0xff]);
    return at;
}

/* A word that means nothing and stands for nothing. */
static char *put_idle_word(const struct urlgen *g, char *at, struct dice *d)
{
    unsigned shape = roll(d, 8);
    unsigned syllables = shape < 56 ? 1 : shape < 190 ? 2 : 3;
    at = put_syllables(g, at, roll(d, 24), syllables);
    return put(at, &codas[shape & 15]);
}

/* --- The number ---------------------------------------------------------- */

struct code {
    uint64_t value; /* below 2^(8 * syllables), different for every number of that length */
    uint64_t plain; /* different for every number */
    unsigned syllables;
};

/* A bijection of the numbers of `bits` bits: each step can be undone. */
static inline uint64_t scramble(uint64_t x, unsigned bits, uint64_t key)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    x = (x ^ key) & mask;
    x = x * UINT64_C(0xd6e8feb86659fd93) & mask;
    x ^= x >> bits / 2;
    x = x * UINT64_C(0xa0761d6478bd642f) & mask;
    x ^= x >> bits / 2;
    return x * UINT64_C(0xe7037ed1a0b428db) & mask;
}

static inline struct code encode(const struct urlgen *g, uint64_t number)
{
    struct code c = {.plain = 0, .syllables = 4};
    while (number >> 8 * c.syllables != 0) {
        c.plain += UINT64_C(1) << 8 * c.syllables; /* above all shorter ones */
        c.syllables++;
    }
    c.value = scramble(number, 8 * c.syllables, g->key[0]);
    c.plain += c.value;
    return c;
}

/* A letter, a digit, and letters or digits: 6 for 32 bits, then 8, 9, 10. */
static char *put_token(char *at, const struct code *c)
{
    static const char base62[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    static const unsigned char more[] = {4, 6, 7, 8};
    uint64_t x = c->value;
    at[1] = base62[52 + x % 10];
    x /= 10;
    for (unsigned i = more[c->syllables - 4] + 1; i > 1; i--, x /= 62)
        at[i] = base62[x % 62];
    at[0] = base62[x];
    return at + more[c->syllables - 4] + 2;
}

/* --- Sites --------------------------------------------------------------- */

/* Sites by octaves of their rank: 1, 2-3, 4-7, ...; URLs of 4096 that are not on a host of
 * their own. */
static const uint16_t octave_weights[] = {
    620, 700, 350, 160, 110, 108, 128, 246, 428, 340, 206, 120,
    88,  77,  77,  87,  96,  62,  38,  29,  10,  8,   5,   3,
};

struct weighted {
    struct urlgen_piece piece;
    uint16_t weight; /* of 256 */
};

static const struct weighted domains[] = {
    {PIECE(".com"), 124}, {PIECE(".org"), 24},   {PIECE(".net"), 14},   {PIECE(".edu"), 9},
    {PIECE(".gov"), 14},  {PIECE(".io"), 7},     {PIECE(".dev"), 4},    {PIECE(".app"), 3},
    {PIECE(".info"), 4},  {PIECE(".co.uk"), 6},  {PIECE(".ac.uk"), 1},  {PIECE(".de"), 6},
    {PIECE(".fr"), 3},    {PIECE(".nl"), 2},     {PIECE(".it"), 2},     {PIECE(".es"), 2},
    {PIECE(".pl"), 2},    {PIECE(".ru"), 3},     {PIECE(".cn"), 3},     {PIECE(".com.cn"), 2},
    {PIECE(".jp"), 1},    {PIECE(".co.jp"), 2},  {PIECE(".com.br"), 2}, {PIECE(".com.au"), 3},
    {PIECE(".ca"), 2},    {PIECE(".in"), 1},     {PIECE(".me"), 2},     {PIECE(".tv"), 1},
    {PIECE(".eu"), 1},    {PIECE(".ch"), 1},     {PIECE(".se"), 1},     {PIECE(".xyz"), 2},
    {PIECE(".top"), 1},   {PIECE(".online"), 1},
};

/* In front of a site's name. */
static const struct weighted prefixes[] = {
    {PIECE("www."), 106},        {PIECE(""), 40},
    {PIECE("blog."), 8},         {PIECE("m."), 7},
    {PIECE("news."), 6},         {PIECE("en."), 7},
    {PIECE("shop."), 5},         {PIECE("img."), 7},
    {PIECE("cdn."), 7},          {PIECE("static."), 6},
    {PIECE("docs."), 5},         {PIECE("forum."), 5},
    {PIECE("data."), 5},         {PIECE("media."), 5},
    {PIECE("old."), 3},          {PIECE("www2."), 3},
    {PIECE("images."), 7},       {PIECE("www.shop."), 3},
    {PIECE("www.en."), 3},       {PIECE("img.cdn."), 4},
    {PIECE("static.media."), 4}, {PIECE("docs.dev."), 3},
    {PIECE("archive.news."), 4}, {PIECE("users.forum."), 3},
};

struct site {
    uint64_t look; /* its bits say how the site's URLs look */
    uint32_t rank; /* 0: not a shared site */
};
enum { /* where its bytes begin */
       LOOK_SCHEME = 0,
       LOOK_PREFIX = 8,
       LOOK_DOMAIN = 16,
       LOOK_ENDING = 24,
       LOOK_JOINT = 32,
       LOOK_CODA = 40,
       LOOK_SECTIONS = 48,
       LOOK_PORT = 56
};

static inline unsigned look(const struct site *s, int what)
{
    return (unsigned)(s->look >> what) & 0xff;
}

static struct site site_of_rank(uint32_t rank)
{
    return (struct site){mix(rank * UINT64_C(0x9e3779b97f4a7c15) + 2224969), rank};
}

/* Ranks follow Zipf's law within an octave: the first is twice as frequent as the last. */
static struct site draw_site(const struct urlgen *g, struct dice *d)
{
    unsigned octave = g->octave[roll(d, 12)];
    unsigned at = roll(d, octave);
    if (roll(d, 8) < 85) { /* the smaller of two, for a third of them: density 4/3 .. 2/3 */
        unsigned other = roll(d, octave);
        at = other < at ? other : at;
    }
    return site_of_rank((1u << octave) + at);
}

static char *put_domain(const struct urlgen *g, char *at, const struct site *s)
{
    return put(at, &domains[g->domain[look(s, LOOK_DOMAIN)]].piece);
}

static char *put_port(char *at, const struct site *s, unsigned odds)
{
    static const struct urlgen_piece ports[4] = {PIECE(":8080"), PIECE(":8000"), PIECE(":81"),
                                                 PIECE(":8443")};
    return look(s, LOOK_PORT) < odds ? put(at, &ports[look(s, LOOK_PORT) & 3]) : at;
}

/* Two syllables for the first sites, three for the others. */
static char *put_site_name(const struct urlgen *g, char *at, const struct site *s)
{
    bool brief = s->rank < 4096;
    uint64_t name = scramble(s->rank, brief ? 16 : 24, 0);
    at = put_syllables(g, at, name, brief ? 2 : 3);
    at = put(at, &codas[look(s, LOOK_CODA) & 15]);
    return put_domain(g, at, s);
}

static char *put_shared_host(const struct urlgen *g, char *at, const struct site *s)
{
    at = put(at, &prefixes[g->prefix[look(s, LOOK_PREFIX)]].piece);
    at = put_site_name(g, at, s);
    return s->rank < 64 ? at : put_port(at, s, 2);
}

/* A host that this URL has to itself: its name is the number. */
static char *put_own_host(const struct urlgen *g, char *at, const struct site *s,
                          const struct code *c, struct dice *d)
{
    unsigned style = roll(d, 8);
    bool guest = style < 64; /* of a larger site */
    if (style >= 32 && style < 96)
        at = put_char(put_idle_word(g, at, d), '.');
    else if (!guest)
        at = put(at, &prefixes[g->prefix[look(s, LOOK_PREFIX)]].piece);
    at = put_syllables(g, at, c->value, 2);
    if (style >= 220 && c->syllables == 4)
        at = put_char(at, '-');
    at = put_syllables(g, at, c->value >> 16, c->syllables - 2);
    at = put(at, &codas[roll(d, 4)]);
    if (guest) {
        struct site larger = site_of_rank(16 + roll(d, 6));
        return put_site_name(g, put_char(at, '.'), &larger);
    }
    return put_port(put_domain(g, at, s), s, 2);
}

/* Private networks, and those kept for tests and documents. */
static char *put_address(char *at, const struct site *s, struct dice *d)
{
    static const struct urlgen_piece networks[8] = {
        PIECE("10."),      PIECE("10."),     PIECE("172.16."), PIECE("172.24."),
        PIECE("192.168."), PIECE("198.18."), PIECE("198.19."), PIECE("203.0.113."),
    };
    unsigned network = roll(d, 3);
    int numbers = network < 2 ? 3 : network == 7 ? 1 : 2;
    at = put(at, &networks[network]);
    for (int i = 0; i < numbers; i++) {
        if (i > 0)
            at = put_char(at, '.');
        at = put_number(at, roll(d, 8));
    }
    return put_port(at, s, 30);
}

/* --- Recipes ------------------------------------------------------------- */

enum where { HOST, NUMBER, TOKEN, WORD, SLUG, NUMBERED, HEX, UUID, QUERY };
enum end { END_SITE, END_NONE, END_IMAGE, END_FILE }; /* END_SITE: as the site does it */

/* What the directories before the last segment are:
 * s section  w word  y year  m month  d day  x two hex digits  n number */
struct recipe {
    uint16_t weight; /* of 4096 */
    uint8_t where;   /* the number is */
    uint8_t end;
    uint8_t words;      /* of a slug, beside the two that hold the number ... */
    uint8_t more_words; /* ... and up to so many more */
    char dirs[9];
};

static const struct recipe recipes[] = {
    /* no segment */
    {417, HOST, END_NONE, 0, 0, "-"},
    {25, QUERY, END_NONE, 0, 0, "-"},
    /* one */
    {100, HOST, END_NONE, 0, 0, ""},
    {440, TOKEN, END_NONE, 0, 0, ""},
    {240, WORD, END_SITE, 0, 0, ""},
    {110, NUMBER, END_SITE, 0, 0, ""},
    {160, SLUG, END_SITE, 0, 6, ""},
    {146, QUERY, END_NONE, 0, 0, ""},
    /* two */
    {30, HOST, END_NONE, 0, 0, "s"},
    {90, TOKEN, END_SITE, 0, 0, "s"},
    {110, WORD, END_SITE, 0, 0, "s"},
    {50, WORD, END_SITE, 0, 0, "w"},
    {90, NUMBER, END_SITE, 0, 0, "s"},
    {240, SLUG, END_SITE, 1, 9, "s"},
    {60, NUMBERED, END_SITE, 1, 6, "s"},
    {40, HEX, END_IMAGE, 0, 0, "s"},
    {56, QUERY, END_NONE, 0, 0, "s"},
    /* three */
    {250, SLUG, END_SITE, 1, 12, "ss"},
    {70, SLUG, END_SITE, 1, 8, "ym"},
    {60, NUMBERED, END_SITE, 1, 8, "sw"},
    {50, UUID, END_NONE, 0, 0, "ss"},
    {60, HEX, END_IMAGE, 0, 0, "ss"},
    {40, NUMBER, END_SITE, 0, 0, "sw"},
    {31, QUERY, END_NONE, 0, 0, "sw"},
    /* four */
    {150, SLUG, END_SITE, 1, 8, "ymd"},
    {60, NUMBER, END_FILE, 0, 0, "ymd"},
    {60, SLUG, END_SITE, 1, 8, "sss"},
    {41, SLUG, END_FILE, 1, 6, "swn"},
    /* five */
    {230, HEX, END_IMAGE, 0, 0, "ssxx"},
    {170, SLUG, END_SITE, 2, 8, "ssss"},
    {150, SLUG, END_IMAGE, 2, 8, "ssym"},
    {110, SLUG, END_SITE, 1, 7, "symd"},
    {53, NUMBERED, END_FILE, 0, 5, "swsn"},
    /* more */
    {40, SLUG, END_FILE, 1, 6, "sswym"},
    {26, HEX, END_IMAGE, 0, 0, "ssxxn"},
    {29, SLUG, END_FILE, 1, 5, "ssswnx"},
    {12, SLUG, END_SITE, 0, 6, "sswsnym"},
};

static const struct weighted endings[] = {
    /* of sites */
    {PIECE("/"), 132},  {PIECE(""), 78},     {PIECE(".html"), 26}, {PIECE(".php"), 9},
    {PIECE(".htm"), 4}, {PIECE(".aspx"), 3}, {PIECE(".xml"), 2},   {PIECE(".asp"), 2},
};
static const struct urlgen_piece images[8] = {
    PIECE(".jpg"), PIECE(".jpg"), PIECE(".jpg"), PIECE(".jpg"),
    PIECE(".jpg"), PIECE(".png"), PIECE(".gif"), PIECE(".JPG"),
};
static const struct urlgen_piece files[8] = {
    PIECE(".html"), PIECE(".html"), PIECE(".html"), PIECE(".htm"),
    PIECE(".pdf"),  PIECE(".pdf"),  PIECE(".xml"),  PIECE(".zip"),
};

/* How a site joins the words of a slug. */
struct joint {
    struct urlgen_piece between;
    bool capitals;
    uint16_t weight; /* of 256 */
};
static const struct joint joints[] = {
    {PIECE("-"), false, 150}, {PIECE("_"), false, 36}, {PIECE("+"), false, 4},
    {PIECE("-"), true, 24},   {PIECE("_"), true, 42},
};
#define CAPITAL_SECTIONS 226 /* from this LOOK_JOINT on, directories have a capital as well */

static const struct joint *joint_of(const struct urlgen *g, const struct site *s, struct dice *d)
{
    static const struct joint escaped = {PIECE("%20"), false, 0};
    return chance(d, 800) ? &escaped : &joints[g->joint[look(s, LOOK_JOINT)]];
}

static char *percent_encode(char *at, char *from)
{
    char raw[64];
    size_t len = (size_t)(at - from);
    memcpy(raw, from, len);
    at = from;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)raw[i];
        if (c < 0x80) {
            at = put_char(at, raw[i]);
        } else {
            at[0] = '%';
            at[1] = "0123456789ABCDEF"[c >> 4];
            at[2] = "0123456789ABCDEF"[c & 15];
            at += 3;
        }
    }
    return at;
}

static char *put_foreign_word(char *at, struct dice *d)
{
    char *begin = at;
    for (unsigned n = 2 + roll(d, 2); n > 0; n--)
        at = put(at, &foreign[roll(d, 4)]);
    return roll(d, 3) == 0 ? at : percent_encode(at, begin);
}

static unsigned idle_words(const struct recipe *r, struct dice *d)
{
    unsigned n = r->words + (r->more_words == 0 ? 0 : below(d, r->more_words + 1u));
    return chance(d, 2150) ? n + roll(d, 5) : n; /* some titles are long */
}

static char *put_title(const struct urlgen *g, char *at, unsigned words, const struct joint *j,
                       struct dice *d)
{
    for (; words > 0; words--) {
        char *word = at;
        at = put_idle_word(g, at, d);
        if (j->capitals)
            capitalise(word);
        at = put(at, &j->between);
    }
    return at;
}

/* The last two words of a slug. */
static char *put_code_words(const struct urlgen *g, char *at, const struct code *c,
                            const struct joint *j, struct dice *d)
{
    char *first = at;
    at = put_syllables(g, at, c->value, 2);
    at = put(at, &codas[roll(d, 4)]);
    at = put(at, &j->between);
    char *second = at;
    at = put_syllables(g, at, c->value >> 16, c->syllables - 2);
    at = put(at, &codas[roll(d, 4)]);
    if (j->capitals) {
        capitalise(first);
        capitalise(second);
    }
    return at;
}

static char *put_slug(const struct urlgen *g, char *at, const struct recipe *r,
                      const struct site *s, const struct code *c, struct dice *d)
{
    const struct joint *j = joint_of(g, s, d);
    if (chance(d, 1100)) {
        at = put_foreign_word(at, d);
        at = put(at, &j->between);
    }
    at = put_title(g, at, idle_words(r, d), j, d);
    return r->where == SLUG ? put_code_words(g, at, c, j, d) : put_number(at, c->plain);
}

/* Hex digits: 56 bits of the number first, then what the dice say. */
static char *put_digest(const struct urlgen *g, char *at, uint64_t number, struct dice *d)
{
    uint64_t code = scramble(number, 56, g->key[0]);
    at = put_hex(at, code << 8 | roll(d, 8), 16);
    at = put_hex(at, draw(&d->state), 16);
    return roll(d, 2) == 0 ? put_hex(at, draw(&d->state), 8) : at;
}

/* A random UUID as RFC 4122 has them; the digit 4 in it is one that no word has. */
static char *put_uuid(const struct urlgen *g, char *at, uint64_t number, struct dice *d)
{
    uint64_t code = scramble(number, 56, g->key[0]) << 8;
    at = put_char(put_hex(at, code, 8), '-');
    at = put_char(put_hex(at, code << 32, 4), '-');
    at = put_hex(put_char(at, '4'), code << 48, 2);
    at = put_char(put_hex(at, draw(&d->state), 1), '-');
    at = put_char(put_hex(at, UINT64_C(0xa) << 60 | draw(&d->state) >> 4, 4), '-');
    return put_hex(at, draw(&d->state), 12);
}

static char *put_directory(const struct urlgen *g, char *at, char kind, const struct site *s,
                           struct dice *d)
{
    char *begin = at = put_char(at, '/');
    switch (kind) {
    case 'w':
        at = put_idle_word(g, at, d);
        break;
    case 'y':
        return put_number(at, 1998 + below(d, 27));
    case 'm':
        return put_two_digits(at, 1 + below(d, 12));
    case 'd':
        return put_two_digits(at, 1 + below(d, 28));
    case 'x':
        return put_hex(at, draw(&d->state), 2);
    case 'n':
        return put_number(at, roll(d, 4 + roll(d, 3)));
    default: /* a site uses sixteen of the sections */
        at = put(at, &sections[(look(s, LOOK_SECTIONS) + 9 * roll(d, 4)) & 127]);
    }
    if (look(s, LOOK_JOINT) >= CAPITAL_SECTIONS)
        capitalise(begin);
    return at;
}

static char *put_idle_query(const struct urlgen *g, char *at, char mark, struct dice *d)
{
    unsigned more = roll(d, 4), digits;
    for (unsigned n = more < 11 ? 1 : more < 14 ? 2 : 2 + roll(d, 3); n > 0; n--, mark = '&') {
        at = put(put_char(at, mark), &idle_names[roll(d, 4)]);
        switch (roll(d, 2)) {
        case 0:
            at = put_number(at, roll(d, 2 + roll(d, 4)));
            break;
        case 1:
            digits = 8 + roll(d, 3); /* in two steps: arguments have no order */
            at = put_hex(at, draw(&d->state), digits);
            break;
        default:
            at = put_idle_word(g, at, d);
        }
    }
    return at;
}

static char *put_id_query(const struct urlgen *g, char *at, const struct recipe *r,
                          const struct code *c, struct dice *d)
{
    at = put_char(at, '/');
    if (r->dirs[0] != '-')
        at = put(at, &scripts[roll(d, 3)]);
    at = put(at, &id_names[roll(d, 3)]);
    at = roll(d, 2) == 0 ? put_token(at, c) : put_number(at, c->plain);
    return roll(d, 2) == 0 ? put_idle_query(g, at, '&', d) : at;
}

static char *put_own_page(char *at, const struct recipe *r, struct dice *d)
{
    if (r->dirs[0] == '-')
        return roll(d, 8) < 190 ? put_char(at, '/') : at;
    return put(put_char(at, '/'), &pages[roll(d, 5)]);
}

static char *put_ending(const struct urlgen *g, char *at, const struct recipe *r,
                        const struct site *s, struct dice *d)
{
    switch (r->end) {
    case END_IMAGE:
        return put(at, &images[roll(d, 3)]);
    case END_FILE:
        return put(at, &files[roll(d, 3)]);
    case END_SITE:
        return put(at, &endings[g->ending[look(s, LOOK_ENDING)]].piece);
    default:
        return at;
    }
}

/* The last segment, when the number is in it. */
static char *put_last(const struct urlgen *g, char *at, const struct recipe *r,
                      const struct site *s, const struct code *c, uint64_t number, struct dice *d)
{
    at = put_char(at, '/');
    switch (r->where) {
    case NUMBER:
        at = put_number(at, c->plain);
        break;
    case TOKEN:
        at = put_token(at, c);
        break;
    case WORD:
        at = put_syllables(g, at, c->value, c->syllables);
        at = put(at, &codas[roll(d, 4)]);
        break;
    case HEX:
        at = put_digest(g, at, number, d);
        break;
    case UUID:
        at = put_uuid(g, at, number, d);
        break;
    default:
        at = put_slug(g, at, r, s, c, d);
    }
    at = put_ending(g, at, r, s, d);
    return chance(d, 1700) ? put_idle_query(g, at, '?', d) : at;
}

/* --- A URL ---------------------------------------------------------------- */

static char *put_host(const struct urlgen *g, char *at, const struct recipe *r,
                      const struct site *s, const struct code *c, struct dice *d)
{
    char *begin = at;
    if (r->where == HOST)
        at = put_own_host(g, at, s, c, d);
    else if (s->rank == 0)
        at = put_address(at, s, d);
    else
        at = put_shared_host(g, at, s);
    if (chance(d, 60))
        capitalise(begin);
    return at;
}

size_t urlgen_url(const struct urlgen *g, uint64_t number, char url[URLGEN_MAX])
{
    static const struct urlgen_piece schemes[2] = {PIECE("http://"), PIECE("https://")};
    struct dice d = {.state = g->key[1] + number * UINT64_C(0xd1342543de82ef95)};
    const struct code c = encode(g, number);
    const struct recipe *r = &recipes[g->recipe[roll(&d, 12)]];
    struct site s = {draw(&d.state), 0};
    if (r->where != HOST && !chance(&d, 540))
        s = draw_site(g, &d);
    char *at = put(url, &schemes[look(&s, LOOK_SCHEME) < 113]);
    at = put_host(g, at, r, &s, &c, &d);
    for (const char *kind = r->dirs; *kind != '\0' && *kind != '-'; kind++)
        at = put_directory(g, at, *kind, &s, &d);
    if (r->where == HOST)
        at = put_own_page(at, r, &d);
    else if (r->where == QUERY)
        at = put_id_query(g, at, r, &c, &d);
    else
        at = put_last(g, at, r, &s, &c, number, &d);
    if (chance(&d, 520))
        at = put(at, &fragments[roll(&d, 3)]);
    assert(at - url <= URLGEN_MAX - (int)sizeof(struct urlgen_piece));
    return (size_t)(at - url);
}

/* --- Tables --------------------------------------------------------------- */

/* Fill table so that choice i is found as often as its weight says; they sum to the size. */
static void spread(uint8_t *table, size_t size, const void *first, size_t stride, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t weight;
        memcpy(&weight, (const char *)first + i * stride, sizeof weight);
        assert(at + weight <= size);
        memset(table + at, (int)i, weight);
        at += weight;
    }
    assert(at == size);
    (void)size;
}
#define SPREAD(table, list, field)                                                                \
    spread(table, sizeof(table), &(list)[0] field, sizeof((list)[0]), COUNT(list))

static bool is_shunned(const char *text)
{
    for (size_t i = 0; i < COUNT(shunned); i++) {
        if (strcmp(text, shunned[i]) == 0)
            return true;
    }
    return false;
}

struct maker {
    struct urlgen_piece *syllable;
    size_t n;
};

static void make_syllable(struct maker *m, const char *onset, const char *vowel,
                          const char *closing)
{
    const char *const parts[] = {onset, vowel, closing};
    struct urlgen_piece s = {.len = 0};
    for (size_t i = 0; i < COUNT(parts); i++) {
        size_t len = strlen(parts[i]);
        memcpy(s.text + s.len, parts[i], len);
        s.len = (uint8_t)(s.len + len);
    }
    if (m->n < 256 && !is_shunned(s.text))
        m->syllable[m->n++] = s;
}

static void make_syllables(struct urlgen_piece syllable[256])
{
    struct maker m = {syllable, 0};
    for (size_t v = 0; v < COUNT(vowels); v++) {
        for (size_t o = 0; o < COUNT(plain_onsets); o++) {
            make_syllable(&m, plain_onsets[o], vowels[v], "");
            make_syllable(&m, plain_onsets[o], vowels[v], closings[(o + v) % COUNT(closings)]);
        }
        for (size_t o = 0; o < COUNT(grouped_onsets); o++)
            make_syllable(&m, grouped_onsets[o], vowels[v], "");
    }
    for (size_t v = 0; v < COUNT(vowel_pairs); v++) {
        for (size_t o = 0; o < COUNT(plain_onsets); o++)
            make_syllable(&m, plain_onsets[o], vowel_pairs[v], "");
    }
    assert(m.n == 256);
}

void urlgen_init(struct urlgen *g, uint64_t seed)
{
    g->key[0] = draw(&seed);
    g->key[1] = draw(&seed);
    make_syllables(g->syllable);
    SPREAD(g->recipe, recipes, .weight);
    SPREAD(g->octave, octave_weights, );
    SPREAD(g->domain, domains, .weight);
    SPREAD(g->prefix, prefixes, .weight);
    SPREAD(g->ending, endings, .weight);
    SPREAD(g->joint, joints, .weight);
}

/* --- Lines ---------------------------------------------------------------- */

void urlgen_lines_init(struct urlgen_lines *l, const struct urlgen *g, uint64_t lines,
                       uint64_t repeats, uint64_t first)
{
    *l = (struct urlgen_lines){lines, repeats, first, 0, g->key[0] ^ g->key[1]};
}

/* How far back a repeat reaches: every octave of distances is as likely as any other. */
static uint64_t draw_distance(struct urlgen_lines *l)
{
    unsigned octaves = 0;
    while (octaves < 53 && l->fresh >> octaves != 0)
        octaves++;
    uint64_t octave = UINT64_C(1) << draw(&l->dice) % octaves;
    uint64_t distance = octave + draw(&l->dice) % octave;
    return distance <= l->fresh ? distance : 1 + distance % l->fresh;
}

uint64_t urlgen_lines_next(struct urlgen_lines *l)
{
    /* Each way to place the repeats among the lines to come is equally likely. */
    bool repeat = l->fresh > 0 && l->repeats > 0 && draw(&l->dice) % l->lines < l->repeats;
    l->lines--;
    if (!repeat)
        return l->first + l->fresh++;
    l->repeats--;
    return l->first + l->fresh - draw_distance(l);
}
