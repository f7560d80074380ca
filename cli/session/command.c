/* command.c - what every command does with its results and its filter. */
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include <string.h>

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
