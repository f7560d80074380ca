/* urlkeys.h - URLs as keys: the step of the pipeline that canonicalizes them.
 *
 * The key of a line becomes its canonical form (docs/url.md).  Most URLs are already canonical,
 * and their keys still point into the line.
 *
 * Keys of the gsb profile have no scheme: they are the URL's own expression, host/path?query.  So
 * a file of that profile, made by dedup or build, is a set of expressions, and check looks up each
 * expression of a URL.
 *
 * A key that is not a URL is kept and counted; with `strict` it is an error.  If it is empty, or -
 * as in logs, the record is keyless (blocks.h).  With gsb, other keys that are not URLs are
 * keyless, too, except for dedup:
 *
 *   compare   dedup: compares them unchanged, so that no line is lost
 *   store     build, add, remove
 *   look up   check, count
 *   prefix    check --prefix: without the expressions of gsb */
#ifndef CLI_SESSION_URLKEYS_H
#define CLI_SESSION_URLKEYS_H
#include "cli/options/shared_options.h"
#include "tools/input/blocks.h"
#include <stdatomic.h>

enum urlkeys_use {
    URLKEYS_COMPARE,
    URLKEYS_STORE,
    URLKEYS_LOOK_UP,
    URLKEYS_PREFIX
};

struct urlkeys {
    const deja_url_rules *rules; /* NULL: keys are bytes and stay unchanged */
    deja_url_rules *own;
    enum urlkeys_use use;
    bool strict;
    bool forms;   /* also store the canonical forms in blocks, for --canonical */
    bool own_key; /* the key is a gsb expression: the canonical form without the scheme */
    deja_slice base;
    _Atomic uint64_t no_url;   /* keys that are not URLs */
    _Atomic uint64_t no_idna;  /* hosts that this build cannot convert */
    _Atomic uint64_t left_out; /* keys of both groups that are keyless because of gsb */
};

/* The options' strings must stay valid until urlkeys_fini.  DEJA_EINVAL: the base is not a URL, or a
 * parameter is not a name. */
int urlkeys_init(struct urlkeys *u, const struct shared_options *c, enum urlkeys_use use,
                 deja_error *err);
void urlkeys_fini(struct urlkeys *u); /* {0} is fine */

/* Uses the version of the rules with this id.  DEJA_EMISMATCH: there is none; the message names
 * the filter that has these rules. */
int urlkeys_use_version(struct urlkeys *u, const char *filter, uint64_t id, deja_error *err);

/* A pipeline_step; the context is a struct urlkeys with rules. */
int urlkeys_run(void *urlkeys, struct block *b, deja_error *err);

/* The same for one key: *form becomes its canonical form, in the key itself or in the block's
 * room.  After DEJA_ENOTURL or DEJA_ENOTSUP, *form is the key. */
struct urlkeys_room {
    char *at;
    size_t cap;
};
int urlkeys_form(const struct urlkeys *u, struct block *b, struct urlkeys_room *room,
                 deja_slice key, deja_slice *form);

/* Fails with a message about record i of a block: file, line and what to do. */
int urlkeys_refuse(struct block *b, size_t i, deja_slice key, int status, deja_error *err);

#endif
