/* command.c - functions that commands share for their results and filters. */
#include "cli/session/command.h"
#include "cli/options/keyfile.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int call_output(const struct call *call, const char *path, struct out *own, struct out **out,
                deja_error *err)
{
    *own = OUT_NONE;
    *out = call->out;
    if (!path || strcmp(path, "-") == 0)
        return DEJA_OK;
    int rc = existing_check_output(path, err);
    if (rc == DEJA_OK)
        rc = out_open(own, path, err);
    own->stop = call->stop;
    *out = own;
    return rc;
}

bool call_is_file(const struct out *out)
{
    struct stat st;
    return fstat(out->fd, &st) == 0 && S_ISREG(st.st_mode);
}

int call_hand_over(struct out *out, bool sync, deja_error *err)
{
    const int rc = out_flush(out, err);
    if (rc == DEJA_OK && sync && sys_sync_data(out->fd) < 0)
        return fail_errno(err, "%s: cannot sync", out->name);
    return rc;
}

int call_name_file(int rc, const char *path, deja_error *err)
{
    const deja_error why = *err;
    return rc == DEJA_OK || rc == DEJA_EIO
               ? rc
               : fail(err, rc, "%s: %s", fail_path(path).text, why.text);
}

int call_copy_filter(const char *path, const deja_options *expect, const char *to, unsigned flags,
                     deja_filter **out, deja_error *err)
{
    deja_filter *from;
    int rc = deja_filter_open(path, 0, expect, &from, err);
    if (rc < 0)
        return rc;
    rc = deja_filter_copy(from, to, flags, out, err);
    deja_filter_free(from);
    return rc;
}

int call_each_file(struct call *call, const struct shared_options *c, call_file_fn *fn,
                   deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    struct json json;
    int worst = COMMAND_DONE;
    const int rc = c->key_file ? keyfile_read(c, key, err) : DEJA_OK;
    if (rc < 0)
        return rc;
    if (c->json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands; i++) {
        const int status =
            fn(call, call->operands[i], c->key_file ? key : NULL, c->json ? &json : NULL);
        worst = status > worst ? status : worst;
    }
    if (c->json)
        json_end(&json);
    sys_wipe(key, sizeof key);
    return worst;
}
