/* fuzz_robots.c - robots.txt against a second, slow implementation.
 *
 * The first line of the input is a path, the rest a robots.txt.  Parsing must survive anything,
 * and each single rule must match the path exactly if a plain recursion over stars does. */
#include "checking.h"
#include "crawler/http/robots.h"
#include <stdint.h>

/* Whether the pattern matches a prefix of the path, or all of it.  For short patterns only. */
static bool slow_match(const char *p, size_t len, bool to_end, const char *s, size_t n)
{
    if (len == 0)
        return !to_end || n == 0;
    if (*p != '*')
        return n > 0 && *p == *s && slow_match(p + 1, len - 1, to_end, s + 1, n - 1);
    for (size_t skip = 0; skip <= n; skip++)
        if (slow_match(p + 1, len - 1, to_end, s + skip, n - skip))
            return true;
    return false;
}

static size_t stars(const char *p, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += p[i] == '*';
    return n;
}

/* Only bytes that have a single spelling, so that the comparison does not depend on spelling. */
static bool is_plain(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (s[i] <= ' ' || s[i] > '~' || s[i] == '%' || s[i] == '*' || s[i] == '$')
            return false;
    return true;
}

static void compare(const struct robots *r, deja_slice path)
{
    size_t longest = 0;
    bool allowed = true;
    for (size_t i = 0; i < r->n_rules; i++) {
        const struct robots_rule *rule = &r->rule[i];
        check(rule->at + rule->len <= r->text.len);
        if (stars(r->text.data + rule->at, rule->len) > 3)
            return; /* too slow */
        if (rule->own != r->own_group ||
            !slow_match(r->text.data + rule->at, rule->len, rule->to_end, path.data, path.len))
            continue;
        const size_t len = rule->len + rule->to_end;
        if (len > longest || (len == longest && rule->allow)) {
            longest = len;
            allowed = rule->allow;
        }
    }
    check(robots_allows(r, path) == allowed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    const size_t len = end ? (size_t)(end - data) : size;
    const deja_slice path = {data, len};
    struct robots r = {0};
    check(robots_parse(&r, (deja_slice){data + len, size - len}, "deja") == DEJA_OK);
    check(robots_delay(&r) >= 0 && robots_delay(&r) <= 86400);
    (void)robots_allows(&r, path);
    if (len > 0 && len < 40 && is_plain(path.data, len) &&
        !(len == 11 && strncasecmp(path.data, "/robots.txt", 11) == 0))
        compare(&r, path);
    robots_fini(&r);
    return 0;
}
