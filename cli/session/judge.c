/* judge.c - is the key of a line new? see judge.h.
 *
 * A batch is judged in rounds.  Round 0 judges all keys, round i judges copy i of the keys that are
 * not new so far.  Lines with the same key stay in order in every round, so the answers are the
 * same as if the lines were judged one by one. */
#include "cli/session/judge.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOT 256 /* copies that are hashed together */

struct suffix { /* of a copy: a zero byte and a number */
    char text[12];
    size_t len;
};

void judge_fini(struct judge *j)
{
    free(j->keys);
    free(j->which);
    free(j->hash);
    free(j->answer);
    free(j->text);
    *j = (struct judge){0};
}

int judge_keys(struct judge *j, const uint64_t *hash, size_t n, uint8_t *is_new, deja_error *err)
{
    return j->pending ? deja_dedup_judge(j->pending, hash, n, is_new, err)
                      : deja_filter_add_hashed(j->filter, hash, n, is_new, NULL, err);
}

static bool make_room(struct judge *j, size_t n)
{
    const size_t words = deja_filter_hash_words(j->filter);
    if (n > j->keys_cap)
        j->keys = array_renew(j->keys, &j->keys_cap, n, sizeof *j->keys);
    if (n > j->which_cap)
        j->which = array_renew(j->which, &j->which_cap, n, sizeof *j->which);
    if (n * words > j->hash_cap)
        j->hash = array_renew(j->hash, &j->hash_cap, n * words, sizeof *j->hash);
    if (n > j->answer_cap)
        j->answer = array_renew(j->answer, &j->answer_cap, n, 1);
    return j->keys && j->which && j->hash && j->answer;
}

/* Lists the keys of the batch that are not new. */
static size_t list_repeats(struct judge *j, const struct batch *b)
{
    size_t n = 0;
    for (size_t i = 0, key = 0; i < b->block.n; i++) {
        if (!b->block.keys[i].data)
            continue;
        if (!b->answer[key]) {
            j->keys[n] = b->block.keys[i];
            j->which[n++] = key;
        }
        key++;
    }
    return n;
}

/* Writes this copy of n keys, at most LOT, to `made`. */
static bool make_copies(struct judge *j, const deja_slice *keys, size_t n,
                        const struct suffix *suffix, deja_slice *made)
{
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += keys[i].len + suffix->len;
    if (len > j->text_cap)
        j->text = array_renew(j->text, &j->text_cap, len, 1);
    char *at = j->text;
    for (size_t i = 0; at && i < n; i++) {
        made[i] = (deja_slice){at, keys[i].len + suffix->len};
        memcpy(at, keys[i].data, keys[i].len);
        memcpy(at + keys[i].len, suffix->text, suffix->len);
        at += made[i].len;
    }
    return at;
}

static bool hash_copies(struct judge *j, size_t n, unsigned copy)
{
    const size_t words = deja_filter_hash_words(j->filter);
    struct suffix suffix;
    suffix.len = (size_t)snprintf(suffix.text, sizeof suffix.text, "%c%u", 0, copy);
    for (size_t from = 0; from < n; from += LOT) {
        deja_slice made[LOT];
        const size_t lot = n - from < LOT ? n - from : LOT;
        if (!make_copies(j, j->keys + from, lot, &suffix, made))
            return false;
        deja_filter_hash_batch(j->filter, made, lot, j->hash + from * words);
    }
    return true;
}

/* Records the answers of a round; returns how many keys are still not new. */
static size_t drop_new(struct judge *j, size_t n, uint8_t *answer)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        answer[j->which[i]] = j->answer[i];
        if (j->answer[i])
            continue;
        j->keys[left] = j->keys[i];
        j->which[left++] = j->which[i];
    }
    return left;
}

int judge_batch(struct judge *j, struct batch *b, deja_error *err)
{
    int rc = judge_keys(j, b->hash, b->keyed, b->answer, err);
    if (rc < 0 || j->keep < 2 || b->keyed == 0)
        return rc;
    bool ok = make_room(j, b->keyed);
    size_t n = ok ? list_repeats(j, b) : 0;
    for (unsigned copy = 1; copy < j->keep && n > 0 && rc == DEJA_OK; copy++) {
        ok = hash_copies(j, n, copy);
        if (!ok)
            break;
        rc = judge_keys(j, j->hash, n, j->answer, err);
        if (rc == DEJA_OK)
            n = drop_new(j, n, b->answer);
    }
    return ok ? rc : fail(err, DEJA_ENOMEM, "out of memory for copies of %zu keys", b->keyed);
}
