/* build_like.c - deja build --like: the options of another filter.
 *
 * A filter that has not grown is copied exactly, so that it can be merged with the new one bit by
 * bit.  One that has grown is replaced by a single filter for its keys, which can still be merged
 * with it because both have the same secret key.  Options that the user gives take precedence. */
#include "cli/commands/build_like.h"
#include "cli/options/keyfile.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <math.h>
#include <string.h>

static int open_like(struct build_like *l, const char *path, const struct shared_options *c,
                     deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect = DEJA_OPTIONS_INIT;
    int rc = c->key_file ? keyfile_read(c, key, err) : DEJA_OK;
    expect.key = c->key_file ? key : NULL;
    if (rc == DEJA_OK)
        rc = deja_filter_open(path, 0, &expect, &l->filter, err);
    sys_wipe(key, sizeof key);
    return rc == DEJA_OK ? deja_filter_stats(l->filter, DEJA_STATS_BODY, &l->stats, err) : rc;
}

/* Options that determine the size. */
static bool is_size(const deja_option *row)
{
    static const char *const names[] = {"capacity",   "fp_rate", "memory",     "hashes",
                                        "multiplier", "growth",  "tightening", "deletions"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(row->name, names[i]) == 0)
            return true;
    return false;
}

static bool gives_size(const deja_options *given)
{
    size_t i = 0;
    for (const deja_option *row = deja_option_at(0); row; row = deja_option_at(++i))
        if (is_size(row) && deja_option_given(row, given))
            return true;
    return given->filters != 0;
}

/* Copies each option that was not given. */
static void copy_options(const deja_options *like, bool sizes, deja_options *to)
{
    size_t i = 0;
    for (const deja_option *row = deja_option_at(0); row; row = deja_option_at(++i)) {
        if (is_size(row) && !sizes)
            continue;
        if (row->type == DEJA_OPTION_FLAG)
            to->flags |= like->flags & row->flag;
        else if (!deja_option_given(row, to))
            memcpy((char *)to + row->offset, (const char *)like + row->offset, row->width);
    }
}

/* Room for the keys of the filter at its rate. */
static void choose_size(const deja_stats *s, deja_options *to)
{
    const double lost = s->lost < (double)s->keys ? s->lost : 0; /* otherwise a guess */
    if (to->memory)
        return;
    if (to->capacity == 0 && deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        to->capacity = s->capacity;
    else if (to->capacity == 0) /* 1% more: lost is an estimate */
        to->capacity = s->keys + (uint64_t)lost + s->keys / 100 + 1;
    /* The rate of a generously sized filter may come from equal hashes alone, n / 2^64. */
    if (!(to->fp_rate > 0))
        to->fp_rate = fmax(s->fp_rate, fmin((double)to->capacity * 0x1p-61, 0.5));
}

static void take_options(const struct build_like *l, const deja_options *like,
                         struct shared_options *c)
{
    deja_options *to = &c->filter;
    const bool grows = deja_kind_can(like->kind, DEJA_CAN_GROW);
    const bool other_kind = to->kind && to->kind != like->kind && to->kind != like->part_kind;
    const bool same_size = !other_kind && !gives_size(to) && !(grows && l->stats.parts > 1);
    const bool own_secret = c->key_file || to->seed;
    if (!own_secret)
        to->key = like->key;
    to->format = like->format;
    if (c->url == 0)
        c->url = l->stats.profile;
    if (!other_kind) {
        to->kind = same_size || !grows ? like->kind : like->part_kind;
        c->fixed |= !grows;
        copy_options(like, same_size, to);
    }
    if (!same_size)
        choose_size(&l->stats, to);
    if (own_secret)
        to->key = NULL;
}

int build_like_init(struct build_like *l, const char *path, struct shared_options *c,
                    deja_error *err)
{
    deja_options like = DEJA_OPTIONS_INIT;
    int rc = open_like(l, path, c, err);
    if (rc == DEJA_OK)
        rc = deja_options_like(l->filter, &like, err);
    if (rc == DEJA_OK)
        take_options(l, &like, c);
    return rc;
}

void build_like_fini(struct build_like *l)
{
    deja_filter_free(l->filter);
    l->filter = NULL;
}
