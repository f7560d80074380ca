/* prefer.c - URLs that are fetched before or after others (--prefer REGEX[:WEIGHT]).
 *
 * The weight of a URL is part of its priority (order.h), and counts more than the order: of the
 * URLs that wait, those with the greatest weight are next, and the order decides among them.  So a
 * weight means the same in every order, whatever the range of its scores. */
#include "crawler/loop/prefer.h"
#include "crawler/loop/pattern.h"
#include "crawler/queue/order.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"

struct preference {
    regex_t regex;
    int weight;
};

struct prefer {
    struct preference *list;
    size_t n, cap;
};

static int no_memory(deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for --prefer");
}

/* Cuts the weight off the text; returns false if it is out of range. */
static bool cut_weight(char *text, int *weight)
{
    char *colon = strrchr(text, ':');
    const char *p = colon ? colon + 1 : "";
    const bool minus = *p == '-';
    *weight = 1;
    p += minus || *p == '+';
    if (!ascii_is_digit(*p) || p[strspn(p, "0123456789")])
        return true;
    int n = 0;
    for (; *p && n <= ORDER_WEIGHT_MAX; p++)
        n = 10 * n + (*p - '0');
    *weight = minus ? -n : n;
    *colon = '\0';
    return n <= ORDER_WEIGHT_MAX;
}

static int add(prefer *p, deja_slice line, deja_error *err)
{
    struct preference next;
    struct preference *list = array_grow(p->list, &p->cap, p->n + 1, sizeof *list);
    char *text = list ? ascii_copy(line) : NULL;
    p->list = list ? list : p->list;
    if (!text)
        return no_memory(err);
    int rc = DEJA_OK;
    if (!cut_weight(text, &next.weight))
        rc = fail(err, DEJA_EINVAL, "--prefer '%.*s': a weight is between -%d and %d",
                  line.len < 60 ? (int)line.len : 60, (const char *)line.data, ORDER_WEIGHT_MAX,
                  ORDER_WEIGHT_MAX);
    else if (!text[0])
        rc = fail(err, DEJA_EINVAL, "--prefer '%.*s': the regular expression is empty",
                  line.len < 60 ? (int)line.len : 60, (const char *)line.data);
    else
        rc = pattern_compile(&next.regex, text, "--prefer", err);
    if (rc == DEJA_OK)
        p->list[p->n++] = next;
    free(text);
    return rc;
}

int prefer_new(const char *text, prefer **out, deja_error *err)
{
    int rc = DEJA_OK;
    *out = NULL;
    if (!text || !text[0])
        return DEJA_OK;
    prefer *p = calloc(1, sizeof *p);
    if (!p)
        return no_memory(err);
    while (rc == DEJA_OK) {
        const size_t len = strcspn(text, "\n");
        rc = add(p, (deja_slice){text, len}, err);
        if (!text[len])
            break;
        text += len + 1;
    }
    if (rc == DEJA_OK)
        *out = p;
    else
        prefer_free(p);
    return rc;
}

void prefer_free(prefer *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++)
        regfree(&p->list[i].regex);
    free(p->list);
    free(p);
}

int prefer_weight(const prefer *p, deja_slice url)
{
    int weight = 0;
    for (size_t i = 0; p && i < p->n; i++)
        if (pattern_matches(&p->list[i].regex, url))
            weight += p->list[i].weight;
    return weight > ORDER_WEIGHT_MAX    ? ORDER_WEIGHT_MAX
           : weight < -ORDER_WEIGHT_MAX ? -ORDER_WEIGHT_MAX
                                        : weight;
}
