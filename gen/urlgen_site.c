/* urlgen_site.c - sites and their hosts: a few that many URLs share, and hosts of one URL each.
 *
 * A site's looks depend only on its rank, so they are the same in every URL. */
#include "gen/urlgen_parts.h"

/* Weights of the octaves of site ranks (1, 2-3, 4-7, ...), out of 4096, for URLs that do not have
 * their own host. */
static const uint16_t octave_weights[] = {
    620, 700, 350, 160, 110, 108, 128, 246, 428, 340, 206, 120,
    88,  77,  77,  87,  96,  62,  38,  29,  10,  8,   5,   3,
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

/* Prefixes of a site's name. */
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

static struct site site_of_rank(uint32_t rank)
{
    return (struct site){mix64(rank * MIX_GOLDEN + 2224969), rank};
}

/* Ranks follow Zipf's law within an octave: the first is twice as frequent as the last. */
struct site urlgen_draw_site(const struct urlgen *g, struct dice *d)
{
    unsigned octave = g->octave[roll(d, 12)];
    unsigned at = roll(d, octave);
    if (roll(d, 8) < 85) { /* in a third of the draws, the smaller of two: density 4/3 .. 2/3 */
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
    at = put(at, &urlgen_codas[look(s, LOOK_CODA) & 15]);
    return put_domain(g, at, s);
}

static char *put_shared_host(const struct urlgen *g, char *at, const struct site *s)
{
    at = put(at, &prefixes[g->prefix[look(s, LOOK_PREFIX)]].piece);
    at = put_site_name(g, at, s);
    return s->rank < 64 ? at : put_port(at, s, 2);
}

/* A host that only this URL uses: its name is the number. */
static char *put_own_host(const struct urlgen *g, char *at, const struct site *s,
                          const struct code *c, struct dice *d)
{
    unsigned style = roll(d, 8);
    bool guest = style < 64; /* a subdomain of a larger site */
    if (style >= 32 && style < 96)
        at = put_char(urlgen_put_idle_word(g, at, d), '.');
    else if (!guest)
        at = put(at, &prefixes[g->prefix[look(s, LOOK_PREFIX)]].piece);
    at = put_syllables(g, at, c->value, 2);
    if (style >= 220 && c->syllables == 4)
        at = put_char(at, '-');
    at = put_syllables(g, at, c->value >> 16, c->syllables - 2);
    at = put(at, &urlgen_codas[roll(d, 4)]);
    if (guest) {
        struct site larger = site_of_rank(16 + roll(d, 6));
        return put_site_name(g, put_char(at, '.'), &larger);
    }
    return put_port(put_domain(g, at, s), s, 2);
}

/* Private networks, and those reserved for tests and documentation. */
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

char *urlgen_put_host(const struct urlgen *g, char *at, bool own, const struct site *s,
                      const struct code *c, struct dice *d)
{
    char *begin = at;
    if (own)
        at = put_own_host(g, at, s, c, d);
    else if (s->rank == 0)
        at = put_address(at, s, d);
    else
        at = put_shared_host(g, at, s);
    if (chance(d, 60))
        capitalize(begin);
    return at;
}

void urlgen_sites_init(struct urlgen *g)
{
    SPREAD(g->octave, octave_weights, );
    SPREAD(g->domain, domains, .weight);
    SPREAD(g->prefix, prefixes, .weight);
}
