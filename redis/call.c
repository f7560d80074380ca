/* call.c - one call of a command: its arguments, the key that it names, and replies. */
#include "call.h"
#include "rest.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* --- Keys --------------------------------------------------------------------- */

/* A command needs a filter that is awake. */
static bool wake(struct call *c)
{
    deja_error err = {0, ""};
    const int rc = rest_wake(c->v, &err);
    if (rc < 0)
        return call_fail(c, rc, &err), false;
    rest_note(c->v);
    return true;
}

bool call_open(struct call *c, int mode)
{
    value_asking(c->ctx);
    c->v = NULL;
    c->key = RedisModule_OpenKey(c->ctx, c->argv[1], mode);
    if (!c->key || RedisModule_KeyType(c->key) == REDISMODULE_KEYTYPE_EMPTY)
        return true;
    if (RedisModule_ModuleTypeGetType(c->key) == value_type)
        c->v = RedisModule_ModuleTypeGetValue(c->key);
    else
        call_error(c, "WRONGTYPE Operation against a key holding the wrong kind of value");
    return c->v && wake(c);
}

bool call_filter(struct call *c, int mode)
{
    return call_ready(c, mode) && (c->v->filter || (call_no_filter(c), false));
}

bool call_ready(struct call *c, int mode)
{
    if (!call_open(c, mode))
        return false;
    if (!c->v)
        return call_error(c, "ERR not found"), false;
    return value_is_ready(c->v) || (call_no_filter(c), false);
}

bool call_bytes(struct call *c)
{
    if (!call_open(c, CALL_READ))
        return false;
    if (!c->v)
        return call_error(c, "ERR not found"), false;
    return c->v->opaque || value_is_ready(c->v) || (call_no_filter(c), false);
}

/* --- Arguments ---------------------------------------------------------------- */

bool call_word_is(const struct call *c, int i, const char *word)
{
    size_t len;
    const char *text = RedisModule_StringPtrLen(c->argv[i], &len);
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

/* --- Replies ------------------------------------------------------------------ */

int call_error(const struct call *c, const char *text)
{
    return RedisModule_ReplyWithError(c->ctx, text);
}

static int plain_error(const struct call *c, char *text)
{
    value_plain(text);
    return call_error(c, text);
}

int call_fail(const struct call *c, int status, const deja_error *err)
{
    char text[300] = "ERR ";
    deja_option_translate(err && err->text[0] ? err->text : deja_strerror(status),
                          value_option_word, text + 4, sizeof text - 4);
    return plain_error(c, text);
}

int call_unsound(const struct call *c, const deja_error *err)
{
    char text[400];
    snprintf(text, sizeof text, "ERR the filter could not be loaded again: %s", err->text);
    return plain_error(c, text);
}

int call_no_filter(const struct call *c)
{
    char text[400];
    if (value_is_ready(c->v))
        return call_error(c,
                          "ERR the filter comes from RedisBloom: use BF.* commands, or build it "
                          "again with DEJA.RESERVE");
    if (!c->v->opaque)
        return call_error(c, "ERR the filter is being loaded; send the rest of its chunks");
    snprintf(text, sizeof text,
             "ERR this build cannot use the filter: %s; DUMP, DEJA.EXPORT and DEL still work",
             c->v->opaque->why);
    return plain_error(c, text);
}

void call_notify(const struct call *c, const char *event)
{
    RedisModule_NotifyKeyspaceEvent(c->ctx, REDISMODULE_NOTIFY_MODULE, event, c->argv[1]);
}

int call_ok(const struct call *c, const char *event)
{
    call_notify(c, event);
    return RedisModule_ReplyWithSimpleString(c->ctx, "OK");
}

int call_finish(const struct call *c, int status, const deja_error *err, const char *event)
{
    if (status < 0)
        return call_fail(c, status, err);
    RedisModule_ReplicateVerbatim(c->ctx);
    return call_ok(c, event);
}
