/* robots.c - decides whether a site's robots.txt allows a crawler to fetch a URL; RFC 9309.
 *
 * The file is a list of groups: one or more user-agent lines, then rules.
 *
 *     user-agent: deja            the crawlers it applies to; * is every crawler not named
 *     disallow: /private          a pattern that is matched against the start of the path
 *     allow: /private/open*.html$ a star matches any bytes, a dollar at the end the path's end
 *     crawl-delay: 2              not part of the RFC, but widespread
 *     sitemap: https://...        belongs to no group
 *
 * All groups that name the crawler are merged, wherever they are; those of * apply only if there
 * are none.  The longest matching pattern decides; of two equally long ones, the one that allows
 * wins.
 *
 * Both sides are normalized before they are compared: escapes of letters, digits and - . _ ~ are
 * decoded, the others are in upper case, and non-ASCII bytes become escapes.  A star or dollar in
 * the path is escaped as well, so it matches only %2A or %24 in a pattern.
 *
 * A robots.txt is untrusted, and is consulted for every URL.  The text has at most ROBOTS_MAX
 * bytes, and so do all patterns together.  Matching a pattern of m bytes against a path of n takes
 * m + n steps, not m n, as memmem is linear.  If an answer would take more than MAX_WORK steps,
 * the answer is no. */
#include "crawler/http/robots.h"
#include "tools/base/ascii.h"

#define MAX_WORK ((size_t)4 << 20) /* 2,000 rules with stars, and a URL of 2 kB */

/* --- Normalizing ------------------------------------------------------------ */

static bool is_unreserved(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static bool add_escape(struct buffer *to, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF";
    const char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
    return buffer_add(to, escape, sizeof escape);
}

/* Append s normalized; the stars and dollars of a pattern have a meaning and are kept. */
static bool add_spelled(struct buffer *to, deja_slice s, bool pattern)
{
    const char *p = s.data;
    for (size_t i = 0; i < s.len; i++) {
        const int high = p[i] == '%' && s.len - i > 2 ? ascii_hex(p[i + 1]) : -1;
        const int low = high >= 0 ? ascii_hex(p[i + 2]) : -1;
        char c = p[i];
        bool plain = (unsigned char)c > ' ' && (unsigned char)c < 0x7f;
        if (low >= 0) {
            c = (char)(high << 4 | low);
            plain = is_unreserved(c);
            i += 2;
        } else if (!pattern && (c == '*' || c == '$')) {
            plain = false;
        }
        if (!(plain ? buffer_add(to, &c, 1) : add_escape(to, (unsigned char)c)))
            return false;
    }
    return true;
}

/* --- Reading ---------------------------------------------------------------- */

struct reading {
    struct robots *r;
    const char *agent;
    bool in_rules;      /* the next user-agent line starts another group */
    bool own, everyone; /* the current group is for this crawler, for all */
};

/* True if the value starts with the crawler's product token: "deja/1.0" names deja. */
static bool names_agent(deja_slice value, const char *agent)
{
    const char *p = value.data;
    size_t len = 0;
    while (len < value.len && (ascii_is_alpha(p[len]) || p[len] == '-' || p[len] == '_'))
        len++;
    return len > 0 && ascii_is((deja_slice){p, len}, agent);
}

static void begin_or_extend_group(struct reading *in, deja_slice agent)
{
    if (in->in_rules)
        in->own = in->everyone = in->in_rules = false;
    if (agent.len > 0 && ((const char *)agent.data)[0] == '*')
        in->everyone = true;
    if (names_agent(agent, in->agent))
        in->own = in->r->own_group = true;
}

static bool add_rule(struct robots *r, deja_slice pattern, bool allow, bool own)
{
    const char *p = pattern.data;
    struct robots_rule *rule = array_grow(r->rule, &r->cap_rules, r->n_rules + 1, sizeof *rule);
    if (!rule)
        return false;
    r->rule = rule;
    const bool to_end = p[pattern.len - 1] == '$';
    const size_t at = r->text.len;
    if (!buffer_reserve(&r->text, 1) || /* a pattern may be empty, as in "$" */
        !add_spelled(&r->text, (deja_slice){p, pattern.len - to_end}, true))
        return false;
    r->rule[r->n_rules++] = (struct robots_rule){
        .at = at, .len = r->text.len - at, .allow = allow, .own = own, .to_end = to_end};
    return true;
}

static bool take_rule(struct reading *in, deja_slice pattern, bool allow)
{
    in->in_rules = true;
    if (pattern.len == 0) /* "disallow:" forbids nothing */
        return true;
    return (!in->own || add_rule(in->r, pattern, allow, true)) &&
           (!in->everyone || add_rule(in->r, pattern, allow, false));
}

/* Parses seconds with up to three decimals; 0 if invalid, at most a day. */
static double seconds_of(deja_slice text)
{
    const char *p = text.data;
    const double day = 86400;
    double value = 0, unit = 1;
    bool fraction = false;
    for (size_t i = 0; i < text.len && i < 16; i++) {
        if (p[i] == '.' && !fraction) {
            fraction = true;
        } else if (!ascii_is_digit(p[i])) {
            return 0;
        } else if (fraction) {
            unit /= 10;
            value += unit * (p[i] - '0');
        } else {
            value = 10 * value + (p[i] - '0');
        }
    }
    return value < day ? value : day;
}

static void take_delay(struct reading *in, deja_slice text)
{
    in->in_rules = true;
    if (in->own)
        in->r->delay[1] = seconds_of(text);
    if (in->everyone)
        in->r->delay[0] = seconds_of(text);
}

static bool take_line(struct reading *in, deja_slice line)
{
    const char *text = line.data;
    const char *comment = line.len ? memchr(text, '#', line.len) : NULL;
    const size_t len = comment ? (size_t)(comment - text) : line.len;
    const char *colon = len ? memchr(text, ':', len) : NULL;
    if (!colon)
        return true;
    const deja_slice name = ascii_trim(ascii_between(text, colon));
    const deja_slice value = ascii_trim(ascii_between(colon + 1, text + len));
    if (ascii_is(name, "user-agent"))
        begin_or_extend_group(in, value);
    else if (ascii_is(name, "allow") || ascii_is(name, "disallow"))
        return take_rule(in, value, ascii_is(name, "allow"));
    else if (ascii_is(name, "crawl-delay"))
        take_delay(in, value);
    else if (ascii_is(name, "sitemap") && value.len > 0)
        return buffer_add(&in->r->sites, value.data, value.len) &&
               buffer_add(&in->r->sites, "", 1);
    return true;
}

static deja_slice without_mark(deja_slice text)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (text.len < 3 || memcmp(text.data, mark, 3) != 0)
        return text;
    return (deja_slice){(const char *)text.data + 3, text.len - 3};
}

int robots_parse(struct robots *r, deja_slice text, const char *agent)
{
    struct reading in = {.r = r, .agent = agent};
    if (text.len > ROBOTS_MAX)
        text.len = ROBOTS_MAX;
    text = without_mark(text);
    const char *p = text.data;
    size_t begin = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && p[i] != '\n' && p[i] != '\r')
            continue;
        if (i > begin && !take_line(&in, (deja_slice){p + begin, i - begin})) {
            robots_fini(r);
            return DEJA_ENOMEM;
        }
        begin = i + 1;
    }
    return DEJA_OK;
}

void robots_fini(struct robots *r)
{
    buffer_fini(&r->text);
    buffer_fini(&r->sites);
    free(r->rule);
    *r = (struct robots){0};
}

/* --- Queries ----------------------------------------------------------------- */

/* Find a piece of a pattern in the rest of the path: at its start, at its end, or else at its
 * first occurrence, because a later one would only leave less for the following pieces.  NULL if
 * absent. */
enum place {
    AT_BEGINNING,
    AT_END,
    ANYWHERE
};

static const char *find_piece(deja_slice piece, deja_slice left, enum place place)
{
    const char *text = left.data;
    if (piece.len > left.len)
        return NULL;
    if (place == ANYWHERE)
        return memmem(text, left.len, piece.data, piece.len);
    text += place == AT_END ? left.len - piece.len : 0;
    return memcmp(text, piece.data, piece.len) == 0 ? text : NULL;
}

/* True if the pattern, pieces separated by stars, matches the start of the path or, with to_end,
 * all of it. */
static bool matches(deja_slice pattern, bool to_end, deja_slice path)
{
    const char *p = pattern.data, *const end = p + pattern.len;
    const char *at = path.data, *const path_end = at + path.len;
    for (enum place place = AT_BEGINNING;; place = ANYWHERE) {
        const char *star = memchr(p, '*', (size_t)(end - p));
        const deja_slice piece = ascii_between(p, star ? star : end);
        if (!star && to_end && place == ANYWHERE)
            place = AT_END;
        at = find_piece(piece, ascii_between(at, path_end), place);
        if (!at)
            return false;
        at += piece.len;
        if (!star)
            return !to_end || at == path_end;
        p = star + 1;
    }
}

bool robots_allows(const struct robots *r, deja_slice path)
{
    struct buffer spelled = {0};
    size_t longest = 0, work = 0;
    bool allowed = true;
    if (r->n_rules == 0 || ascii_is(path, "/robots.txt"))
        return true;
    if (!buffer_reserve(&spelled, 1) || !add_spelled(&spelled, path, false)) {
        buffer_fini(&spelled);
        return false; /* out of memory: the safe answer */
    }
    for (size_t i = 0; i < r->n_rules; i++) {
        const struct robots_rule *rule = &r->rule[i];
        const size_t len = rule->len + rule->to_end;
        if (rule->own != r->own_group || len < longest || (len == longest && !rule->allow))
            continue;
        const deja_slice pattern = {r->text.data + rule->at, rule->len};
        work += pattern.len + (memchr(pattern.data, '*', pattern.len) ? spelled.len : 0);
        if (work > MAX_WORK) {
            allowed = false;
            break;
        }
        if (matches(pattern, rule->to_end, buffer_slice(&spelled))) {
            longest = len;
            allowed = rule->allow;
        }
    }
    buffer_fini(&spelled);
    return allowed;
}

double robots_delay(const struct robots *r)
{
    return r->delay[r->own_group];
}
