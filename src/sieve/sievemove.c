/* sievemove.c - whole sieves: makes one like another, moves one over another, deletes one.
 *
 * A new sieve that must appear complete is made under a temporary name and then moved.  The names of
 * two directories can be exchanged in one step (RENAME_EXCHANGE), so a crash leaves the old sieve
 * or the new one under the name; the other one is then deleted.
 *
 * Only files of a sieve are deleted.  A directory that has any other file is refused. */
#include "core/base/os.h"
#include "core/base/status.h"
#include "sieve/sieve.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- Like another ------------------------------------------------------------------- */

/* Gives a new sieve the URL rules of another one.  The rules themselves are not needed. */
static int take_rules(deja_sieve *s, const deja_sieve *like, deja_error *err)
{
    bool taken;
    pthread_mutex_lock(&s->lock);
    struct dj_manifest m = dj_sieve_next(s);
    m.profile = like->manifest.profile;
    m.url_rules = like->manifest.url_rules;
    const int rc = dj_sieve_publish(s, &m, &taken, err);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

int deja_sieve_create(const char *path, const deja_sieve *like, const deja_sieve_options *opt,
                      deja_sieve **out, deja_error *err)
{
    deja_sieve_options own;
    *out = NULL;
    int rc = dj_sieve_options_read(opt, &own, err);
    if (rc == DEJA_OK && (own.key || own.seed || own.url || own.flags & DEJA_KEY_APART))
        rc = dj_fail(err, DEJA_EINVAL,
                     "options.key, seed, url and DEJA_KEY_APART are those of the other sieve");
    if (rc == DEJA_OK && deja_sieve_exists(path))
        rc = dj_fail(err, DEJA_EINVAL, "%s is a sieve already", path);
    if (rc < 0)
        return rc;
    if (like->made_with & DJ_SIEVE_SEEDED)
        own.seed = like->seed;
    else
        own.key = like->key;
    own.flags |= like->made_with & DEJA_KEY_APART;
    rc = deja_sieve_open(path, DEJA_OPEN_CREATE, &own, out, err);
    if (rc == DEJA_OK && like->manifest.profile)
        rc = take_rules(*out, like, err);
    if (rc < 0) {
        deja_sieve_free(*out);
        *out = NULL;
    }
    return rc;
}

/* --- Deleting ----------------------------------------------------------------------- */

struct stranger {
    char name[128];
};

static bool find_stranger(void *ctx, const char *name)
{
    struct stranger *s = ctx;
    if (!dj_sieve_owns(name))
        (void)snprintf(s->name, sizeof s->name, "%s", name);
    return !s->name[0];
}

/* A sieve that is locked against writers. */
struct target {
    struct dj_folder folder;
    int lock;
};
#define TARGET_NONE                                                                               \
    (struct target)                                                                               \
    {                                                                                             \
        {-1, NULL}, -1                                                                            \
    }

static void leave(struct target *t)
{
    if (t->lock >= 0)
        close(t->lock);
    dj_folder_close(&t->folder);
}

/* Locks a sieve, or what the interrupted creation of one has left; nothing else. */
static int enter(struct target *t, const char *path, deja_error *err)
{
    struct stranger other = {""};
    int rc = dj_folder_open(&t->folder, path, false, err);
    if (rc == DEJA_OK)
        rc = dj_folder_list(&t->folder, find_stranger, &other, err);
    if (rc == DEJA_OK && other.name[0])
        rc = dj_fail(err, DEJA_EINVAL, "%s/%s is not a file of a sieve: move it elsewhere first",
                     path, other.name);
    return rc == DEJA_OK ? dj_sieve_lock(&t->folder, &t->lock, err) : rc;
}

static bool remove_part(void *folder, const char *name)
{
    if (dj_sieve_owns(name) && strcmp(name, DJ_LOCK_FILE) != 0)
        dj_folder_remove(folder, name);
    return true;
}

/* The manifest goes first: without it the directory is not a sieve.  The lock goes last. */
static int destroy(struct target *t, const char *path, deja_error *err)
{
    dj_folder_remove(&t->folder, DJ_MANIFEST);
    const int rc = dj_folder_list(&t->folder, remove_part, &t->folder, err);
    if (rc < 0)
        return rc;
    dj_folder_remove(&t->folder, DJ_LOCK_FILE);
    return rmdir(path) == 0 ? DEJA_OK : dj_fail_errno(err, "%s: cannot delete it", path);
}

int deja_sieve_remove(const char *path, deja_error *err)
{
    struct target t = TARGET_NONE;
    int rc = enter(&t, path, err);
    if (rc == DEJA_OK)
        rc = destroy(&t, path, err);
    leave(&t);
    return rc;
}

/* --- Moving ------------------------------------------------------------------------- */

/* Exchanges two directories; the old sieve then has the name `from`. */
static int exchange(const char *from, const char *to, deja_error *err)
{
    if (dj_os_exchange(AT_FDCWD, from, AT_FDCWD, to) == 0)
        return DEJA_OK;
    return errno == EINVAL || errno == ENOSYS || errno == ENOTSUP
               ? dj_fail(err, DEJA_ENOTSUP,
                         "%s: this system cannot replace a directory in one step: delete the "
                         "old sieve, then move %s there",
                         to, from)
               : dj_fail_errno(err, "%s: cannot be replaced", to);
}

static int take_name(const char *from, const char *to, deja_error *err)
{
    if (rename(from, to) == 0)
        return DEJA_OK;
    return errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
               ? dj_fail(err, DEJA_EINVAL,
                         "%s exists and is not a sieve: choose another directory", to)
               : dj_fail_errno(err, "%s: cannot be renamed to %s", from, to);
}

int deja_sieve_rename(const char *from, const char *to, unsigned flags, deja_error *err)
{
    struct target moved = TARGET_NONE, old = TARGET_NONE;
    const bool replaces = deja_sieve_exists(to);
    int rc = flags & ~DEJA_CREATE_REPLACE ? dj_fail_flags(err, flags & ~DEJA_CREATE_REPLACE)
                                          : enter(&moved, from, err);
    if (rc == DEJA_OK && !deja_sieve_exists(from))
        rc = dj_fail(err, DEJA_EFORMAT, "%s is not a sieve: it has no manifest", from);
    if (rc == DEJA_OK && replaces && !(flags & DEJA_CREATE_REPLACE))
        rc = dj_fail(err, DEJA_EINVAL, "%s is a sieve already", to);
    if (rc == DEJA_OK && replaces)
        rc = enter(&old, to, err);
    if (rc == DEJA_OK)
        rc = replaces ? exchange(from, to, err) : take_name(from, to, err);
    if (rc == DEJA_OK)
        rc = dj_folder_sync_above(&moved.folder, err);
    if (rc == DEJA_OK && replaces)
        rc = destroy(&old, from, err);
    leave(&old);
    leave(&moved);
    return rc;
}
