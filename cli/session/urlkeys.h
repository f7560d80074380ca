/* urlkeys.h - URLs as keys: the step of the pipeline that makes them canonical.
 *
 * The key of a line becomes its canonical form (docs/url.md).  Most URLs are canonical already,
 * and then the key stays the piece of the line that it was.
 *
 * Profile gsb has keys without scheme: the URL's own expression, host/path?query.  So a file of
 * that profile means one thing, whether dedup or build made it: a set of expressions, in which
 * check looks for each expression of a URL.
 *
 * A key that is not a URL stays as it is, is counted, and with `strict` is an error.  If it is
 * empty, or - as in logs, there is no URL at all: the record is keyless (blocks.h).  With gsb,
 * keys that are not URLs are keyless as well, except when dedup compares them:
 *
 *   compare   dedup: compared as they are, so that no line is lost
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
    const deja_url_rules *rules; /* NULL: keys are bytes, and nothing is done */
    deja_url_rules *own;
    enum urlkeys_use use;
    bool strict;
    bool forms;   /* blocks get forms, too: what --canonical prints */
    bool own_key; /* the key is an expression of gsb: the form without its scheme */
    deja_slice base;
    _Atomic uint64_t no_url;   /* keys that are not URLs */
    _Atomic uint64_t no_idna;  /* hosts that this build cannot convert */
    _Atomic uint64_t left_out; /* of both: keyless because of gsb */
};

/* From the options of the command line, which outlive it.  DEJA_EINVAL: the base is not a URL, or a
 * parameter no name. */
int urlkeys_init(struct urlkeys *u, const struct shared_options *c, enum urlkeys_use use,
                 deja_error *err);
void urlkeys_fini(struct urlkeys *u); /* {0} is fine */

/* Follow the version of the rules with this id, if there is one; returns the rules in use. */
const deja_url_rules *urlkeys_use_version(struct urlkeys *u, uint64_t id);

/* A pipeline_step; the context is a struct urlkeys with rules. */
int urlkeys_run(void *urlkeys, struct block *b, deja_error *err);

/* The same for one key: *form gets its canonical form, which lies in the key or in the block's
 * room.  DEJA_OK; DEJA_ENOTURL or DEJA_ENOTSUP, and *form is the key; DEJA_ENOMEM. */
struct urlkeys_room {
    char *at;
    size_t cap;
};
int urlkeys_form(const struct urlkeys *u, struct block *b, struct urlkeys_room *room,
                 deja_slice key, deja_slice *form);

/* The text of an error about record i of a block: file, line and remedy. */
int urlkeys_refuse(const struct block *b, size_t i, deja_slice key, int status, deja_error *err);

#endif
