/* urlgen_path.c - everything after a host: directories, a last segment, a query, a fragment.
 *
 * A recipe says how many directories of which kinds there are, and where the number is.  Recipes
 * are drawn by weight; urlgen.c says where the weights come from. */
#include "gen/urlgen_parts.h"

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

/* First parameters that hold the number, and idle ones: no name is in both lists. */
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

/* Non-ASCII letters in UTF-8; combined at random, they mean nothing. */
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

static const struct recipe recipes[] = {
    /* no segment */
    {417, HOST, END_NONE, 0, 0, "-"},
    {25, QUERY, END_NONE, 0, 0, "-"},
    /* one segment */
    {100, HOST, END_NONE, 0, 0, ""},
    {440, TOKEN, END_NONE, 0, 0, ""},
    {240, WORD, END_SITE, 0, 0, ""},
    {110, NUMBER, END_SITE, 0, 0, ""},
    {160, SLUG, END_SITE, 0, 6, ""},
    {146, QUERY, END_NONE, 0, 0, ""},
    /* two segments */
    {30, HOST, END_NONE, 0, 0, "s"},
    {90, TOKEN, END_SITE, 0, 0, "s"},
    {110, WORD, END_SITE, 0, 0, "s"},
    {50, WORD, END_SITE, 0, 0, "w"},
    {90, NUMBER, END_SITE, 0, 0, "s"},
    {240, SLUG, END_SITE, 1, 9, "s"},
    {60, NUMBERED, END_SITE, 1, 6, "s"},
    {40, HEX, END_IMAGE, 0, 0, "s"},
    {56, QUERY, END_NONE, 0, 0, "s"},
    /* three segments */
    {250, SLUG, END_SITE, 1, 12, "ss"},
    {70, SLUG, END_SITE, 1, 8, "ym"},
    {60, NUMBERED, END_SITE, 1, 8, "sw"},
    {50, UUID, END_NONE, 0, 0, "ss"},
    {60, HEX, END_IMAGE, 0, 0, "ss"},
    {40, NUMBER, END_SITE, 0, 0, "sw"},
    {31, QUERY, END_NONE, 0, 0, "sw"},
    /* four segments */
    {150, SLUG, END_SITE, 1, 8, "ymd"},
    {60, NUMBER, END_FILE, 0, 0, "ymd"},
    {60, SLUG, END_SITE, 1, 8, "sss"},
    {41, SLUG, END_FILE, 1, 6, "swn"},
    /* five segments */
    {230, HEX, END_IMAGE, 0, 0, "ssxx"},
    {170, SLUG, END_SITE, 2, 8, "ssss"},
    {150, SLUG, END_IMAGE, 2, 8, "ssym"},
    {110, SLUG, END_SITE, 1, 7, "symd"},
    {53, NUMBERED, END_FILE, 0, 5, "swsn"},
    /* more segments */
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
#define CAPITAL_SECTIONS 226 /* from this LOOK_JOINT up, directories are capitalized as well */

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
        at = urlgen_put_idle_word(g, at, d);
        if (j->capitals)
            capitalize(word);
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
    at = put(at, &urlgen_codas[roll(d, 4)]);
    at = put(at, &j->between);
    char *second = at;
    at = put_syllables(g, at, c->value >> 16, c->syllables - 2);
    at = put(at, &urlgen_codas[roll(d, 4)]);
    if (j->capitals) {
        capitalize(first);
        capitalize(second);
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

/* Hex digits: 56 bits of the number first, then random digits. */
static char *put_digest(const struct urlgen *g, char *at, uint64_t number, struct dice *d)
{
    uint64_t code = scramble(number, 56, g->key[0]);
    at = put_hex(at, code << 8 | roll(d, 8), 16);
    at = put_hex(at, mix_next(&d->state), 16);
    return roll(d, 2) == 0 ? put_hex(at, mix_next(&d->state), 8) : at;
}

/* A random UUID as in RFC 4122; no word contains its digit 4. */
static char *put_uuid(const struct urlgen *g, char *at, uint64_t number, struct dice *d)
{
    uint64_t code = scramble(number, 56, g->key[0]) << 8;
    at = put_char(put_hex(at, code, 8), '-');
    at = put_char(put_hex(at, code << 32, 4), '-');
    at = put_hex(put_char(at, '4'), code << 48, 2);
    at = put_char(put_hex(at, mix_next(&d->state), 1), '-');
    at = put_char(put_hex(at, UINT64_C(0xa) << 60 | mix_next(&d->state) >> 4, 4), '-');
    return put_hex(at, mix_next(&d->state), 12);
}

static char *put_directory(const struct urlgen *g, char *at, char kind, const struct site *s,
                           struct dice *d)
{
    char *begin = at = put_char(at, '/');
    switch (kind) {
    case 'w':
        at = urlgen_put_idle_word(g, at, d);
        break;
    case 'y':
        return put_number(at, 1998 + below(d, 27));
    case 'm':
        return put_two_digits(at, 1 + below(d, 12));
    case 'd':
        return put_two_digits(at, 1 + below(d, 28));
    case 'x':
        return put_hex(at, mix_next(&d->state), 2);
    case 'n':
        return put_number(at, roll(d, 4 + roll(d, 3)));
    default: /* a site uses sixteen of the sections */
        at = put(at, &sections[(look(s, LOOK_SECTIONS) + 9 * roll(d, 4)) & 127]);
    }
    if (look(s, LOOK_JOINT) >= CAPITAL_SECTIONS)
        capitalize(begin);
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
            digits = 8 + roll(d, 3); /* argument evaluation has no order */
            at = put_hex(at, mix_next(&d->state), digits);
            break;
        default:
            at = urlgen_put_idle_word(g, at, d);
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

/* The last segment, if it holds the number. */
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
        at = put(at, &urlgen_codas[roll(d, 4)]);
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

const struct recipe *urlgen_draw_recipe(const struct urlgen *g, struct dice *d)
{
    return &recipes[g->recipe[roll(d, 12)]];
}

char *urlgen_put_path(const struct urlgen *g, char *at, const struct recipe *r,
                      const struct site *s, const struct code *c, uint64_t number, struct dice *d)
{
    for (const char *kind = r->dirs; *kind != '\0' && *kind != '-'; kind++)
        at = put_directory(g, at, *kind, s, d);
    if (r->where == HOST)
        at = put_own_page(at, r, d);
    else if (r->where == QUERY)
        at = put_id_query(g, at, r, c, d);
    else
        at = put_last(g, at, r, s, c, number, d);
    return chance(d, 520) ? put(at, &fragments[roll(d, 3)]) : at;
}

void urlgen_paths_init(struct urlgen *g)
{
    SPREAD(g->recipe, recipes, .weight);
    SPREAD(g->ending, endings, .weight);
    SPREAD(g->joint, joints, .weight);
}
