/* newsieve.c - a sieve that appears under its name when it is complete; see newsieve.h. */
#include "cli/session/newsieve.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* DIR/.NAME.deja-build for DIR/NAME, which may end in slashes. */
static char *temporary_name(const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    size_t name = len;
    while (name > 0 && path[name - 1] != '/')
        name--;
    static const char form[] = "%.*s.%.*s.deja-build";
    const size_t cap = len + sizeof form;
    char *out = malloc(cap);
    if (out)
        (void)snprintf(out, cap, form, (int)name, path, (int)(len - name), path + name);
    return out;
}

int newsieve_begin(struct newsieve *n, const char *path, bool force, deja_error *err)
{
    const size_t len = strlen(path);
    *n = (struct newsieve){.path = path, .force = force};
    if (len == 0 || len > 4000 || strcmp(path, ".") == 0 || strcmp(path, "/") == 0)
        return fail(err, DEJA_EINVAL,
                    "'%s' cannot be the name of a new sieve; give a name such "
                    "as seen",
                    fail_path(path).text);
    int rc = existing_check_sieve(path, force, err);
    if (rc < 0)
        return rc;
    n->temporary = temporary_name(path);
    if (!n->temporary)
        return fail(err, DEJA_ENOMEM, "out of memory for the name of a sieve");
    if (access(n->temporary, F_OK) == 0)
        rc = deja_sieve_remove(n->temporary, err);
    if (rc < 0) { /* somebody else is using it */
        free(n->temporary);
        n->temporary = NULL;
    }
    return rc;
}

int newsieve_finish(struct newsieve *n, deja_error *err)
{
    int rc = deja_sieve_rename(n->temporary, n->path, n->force ? DEJA_CREATE_REPLACE : 0, err);
    const deja_error why = *err;
    if (rc < 0)
        rc = fail(err, rc, "%.150s; the new sieve is in %.80s", why.text,
                  fail_path(n->temporary).text);
    free(n->temporary);
    n->temporary = NULL;
    return rc;
}

void newsieve_end(struct newsieve *n, struct console *console)
{
    deja_error err;
    if (n->temporary && access(n->temporary, F_OK) == 0 &&
        deja_sieve_remove(n->temporary, &err) < 0)
        console_error(console, "%s", err.text);
    free(n->temporary);
    n->temporary = NULL;
}
