/* explain.c - turns the status of a failed call into a sentence.
 *
 * Batches and kinds return only a status: they run for every key, and most callers read nothing
 * else.  The public calls turn it into a sentence here, so that no tool has to. */
#include "core/base/status.h"
#include "filter/filter.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct name {
    char text[104];
};

/* The name of a filter in messages: its path, or the end of a long one, so that the rest fits. */
static struct name name_of(const deja_filter *f)
{
    struct name n;
    const char *path = f->owner->path ? f->owner->path(f) : "the filter";
    const size_t len = strlen(path), most = sizeof n.text - sizeof "...";
    const char *end = len > most ? path + len - most : path;
    while (end > path && ((unsigned char)*end & 0xc0) == 0x80)
        end++; /* not in the middle of a UTF-8 character */
    snprintf(n.text, sizeof n.text, "%s%s", end > path ? "..." : "", end);
    return n;
}

static const char *verb_of(uint32_t capability)
{
    static const struct {
        uint32_t capability;
        const char *verb;
    } verbs[] = {
        {DEJA_CAN_ADD, "take keys"},
        {DEJA_CAN_BUILD, "be built from all its keys at once"},
        {DEJA_CAN_REMOVE, "remove keys"},
        {DEJA_CAN_COUNT, "count keys"},
        {DEJA_CAN_GROW, "grow"},
        {DEJA_CAN_EXPIRE, "expire keys"},
        {DEJA_CAN_REPEAT, "consist of several filters"},
        {DEJA_CAN_MERGE, "be merged"},
        {DEJA_CAN_FOLD, "be folded"},
        {DEJA_CAN_OVERLAP, "estimate how many keys it shares with another"},
        {DEJA_CAN_PREFIX, "answer prefix queries"},
        {DEJA_CAN_LAYER, "describe its layers"},
        {DEJA_CAN_DATE, "report when a key was seen"},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(verbs); i++)
        if (capability & verbs[i].capability)
            return verbs[i].verb;
    return "do that";
}

/* Lists the kinds that can: "spectral and paired". */
static void list_kinds(uint32_t capability, char *text, size_t cap)
{
    size_t len = 0;
    snprintf(text, cap, "no kind");
    for (uint32_t k = deja_kind_next(0); k; k = deja_kind_next(k))
        if (deja_kind_can(k, capability) && len < cap)
            len += (size_t)snprintf(text + len, cap - len, "%s%s", len ? " and " : "",
                                    deja_kind_name(k));
}

/* Explains why the options of a filter rule out something that its kind can do. */
static const char *options_that_forbid(const deja_filter *f, uint32_t capability)
{
    if (capability & DEJA_CAN_REMOVE && f->plan.flags & DEJA_MINIMAL_INCREASE)
        return "has options.minimal_increase, so its counters do not hold the sum of their keys: "
               "removing a key would reduce the counts of others";
    if (capability & DEJA_CAN_PREFIX && f->plan.flags & DEJA_LAYERED_WORDS)
        return "was made with options.layered_words and cannot answer prefix queries: layered "
               "filters of URLs can";
    if (capability & DEJA_CAN_PREFIX && f->plan.flags & DEJA_LAYERED_PAPER)
        return "was made with options.layered_paper and cannot answer prefix queries: other "
               "layered filters can";
    if (capability & DEJA_CAN_DATE && dj_kind_can(f->plan.kind, DEJA_CAN_DATE))
        return "has no dates: make a new filter of kind exact with options.dates";
    return NULL;
}

static int cannot(const deja_filter *f, uint32_t capability, deja_error *err)
{
    char kinds[80];
    const struct name name = name_of(f);
    const char *forbidden = options_that_forbid(f, capability);
    if (forbidden)
        return dj_fail(err, DEJA_ENOTSUP, "%s %s", name.text, forbidden);
    if (capability == DEJA_CAN_ADD)
        return dj_fail(err, DEJA_ENOTSUP,
                       "%s is a %s filter, which never changes: build a new one from all keys, "
                       "old and new; other kinds take keys one by one",
                       name.text, f->plan.kind->name);
    list_kinds(capability, kinds, sizeof kinds);
    return dj_fail(err, DEJA_ENOTSUP, "%s is of kind %s%s, which cannot %s; %s can", name.text,
                   f->plan.kind->name,
                   dj_kind_can(f->plan.kind, capability) ? " with parts of other kinds" : "",
                   verb_of(capability), kinds);
}

/* A filter that grows is full if its next part would be too large (growth.c). */
static int full(const deja_filter *f, deja_error *err)
{
    if (dj_kind_can(f->plan.kind, DEJA_CAN_GROW))
        return dj_fail(err, DEJA_EFULL,
                       "%s cannot grow beyond its %u parts with options.growth %u and "
                       "options.tightening %g: make a new filter with a larger options.capacity",
                       name_of(f).text, f->n_parts, f->plan.growth, f->plan.tightening);
    return dj_fail(
        err, DEJA_EFULL,
        "%s is full: make a new filter with a larger options.capacity, or one that grows",
        name_of(f).text);
}

int dj_filter_explain(const deja_filter *f, int status, uint32_t capability, deja_error *err)
{
    if (status == DEJA_OK || !err)
        return status;
    const int saved = errno;
    if (status == DEJA_EIO && deja_filter_check_file(f, err) < 0)
        return status;
    errno = saved;
    switch (status) {
    case DEJA_EIO:
        return dj_fail_errno(err, "%s: cannot write", name_of(f).text);
    case DEJA_ENOTSUP:
        return cannot(f, capability, err);
    case DEJA_EFULL:
        return full(f, err);
    case DEJA_ENOMEM:
        return dj_fail(err, status, "out of memory while %s grew", name_of(f).text);
    case DEJA_EINVAL:
        return dj_fail(err, status, "%s was opened for reading only", name_of(f).text);
    default:
        return dj_fail(err, status, "%s: %s", name_of(f).text, deja_strerror(status));
    }
}

int deja_filter_require(const deja_filter *f, uint32_t capability, deja_error *err)
{
    return dj_filter_explain(f, deja_filter_can(f, capability) ? DEJA_OK : DEJA_ENOTSUP,
                             capability, err);
}
