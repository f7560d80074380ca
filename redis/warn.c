/* warn.c - writes log lines about values, and limits their number.
 *
 * Anyone who may send RESTORE could fill the disk with log lines.  So at most LINES_PER_PERIOD
 * lines are written in a period; a last line, when the period ends or the server shuts down,
 * counts the others.  While the server loads its data, values are only counted, and one line at
 * the end reports all of them.
 *
 * Key names and reasons may be untrusted: only printable ASCII is written. */
#include "warn.h"
#include "tools/base/clock.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINES_PER_PERIOD 10
#define PERIOD_MS        60000

static struct {
    long long since; /* start of the period */
    unsigned lines;
    unsigned long long more; /* lines not written */
} period;

static struct {
    unsigned long long n;
    char first[400];
} kept_by_load;

static unsigned long long n_refused;

unsigned long long warn_refusals(void)
{
    return n_refused;
}

static void count_the_rest(RedisModuleCtx *ctx)
{
    if (period.more)
        RedisModule_Log(ctx, "warning", "... and %llu more like these in the same minute",
                        period.more);
    period.more = 0;
}

static void period_ends(RedisModuleCtx *ctx, void *unused)
{
    (void)unused;
    count_the_rest(ctx);
}

static void write_line(RedisModuleCtx *ctx, const char *text)
{
    const long long now = (long long)(clock_ns() * 1e-6);
    if (!period.since || now - period.since >= PERIOD_MS) {
        count_the_rest(ctx);
        period.since = now;
        period.lines = 0;
    }
    if (period.lines < LINES_PER_PERIOD) {
        period.lines++;
        RedisModule_Log(ctx, "warning", "%s", text);
    } else if (period.more++ == 0) {
        RedisModule_CreateTimer(ctx, period.since + PERIOD_MS - now, period_ends, NULL);
    }
}

/* key "name": why, shortened if necessary. */
static void describe(char *out, size_t room, const RedisModuleString *name, const char *why)
{
    size_t len = 0;
    const char *text = name ? RedisModule_StringPtrLen(name, &len) : "";
    char shown[81];
    const size_t most = len < sizeof shown ? len : sizeof shown - 1;
    for (size_t i = 0; i < most; i++)
        shown[i] = text[i] ? text[i] : '?';
    shown[most] = 0;
    snprintf(out, room, "key \"%s\"%s: %s", shown, len > most ? "..." : "", why);
    value_plain(out);
}

static bool is_loading(RedisModuleCtx *ctx)
{
    return RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_LOADING;
}

static void warn(RedisModuleCtx *ctx, const char *what, const RedisModuleString *name,
                 const char *why)
{
    char key[400], text[500];
    describe(key, sizeof key, name, why);
    snprintf(text, sizeof text, "%s; %s", what, key);
    write_line(ctx, text);
}

void warn_if_kept(RedisModuleCtx *ctx, const RedisModuleString *name, const struct value *v)
{
    if (!v->opaque)
        return;
    if (!is_loading(ctx))
        warn(ctx, "kept a filter that this build cannot use", name, v->opaque->why);
    else if (!kept_by_load.n++)
        describe(kept_by_load.first, sizeof kept_by_load.first, name, v->opaque->why);
}

void warn_refused(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why)
{
    n_refused++;
    warn(ctx, "refused a damaged filter", name, why);
}

void warn_unsound(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why)
{
    warn(ctx, "saved a filter that will not load again, please report this", name, why);
}

static void on_loading(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t subevent, void *data)
{
    (void)event, (void)data;
    if (subevent != REDISMODULE_SUBEVENT_LOADING_ENDED &&
        subevent != REDISMODULE_SUBEVENT_LOADING_FAILED)
        return;
    if (kept_by_load.n)
        RedisModule_Log(
            ctx, "warning",
            "this build cannot use %llu of the loaded filters and keeps them unchanged; the first is "
            "%s",
            kept_by_load.n, kept_by_load.first);
    kept_by_load.n = 0;
}

static void on_shutdown(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t subevent, void *data)
{
    (void)event, (void)subevent, (void)data;
    count_the_rest(ctx);
}

int warn_start(RedisModuleCtx *ctx)
{
    const RedisModuleEvent loading = {REDISMODULE_EVENT_LOADING, 1};
    const RedisModuleEvent shutdown = {REDISMODULE_EVENT_SHUTDOWN, 1};
    if (RedisModule_SubscribeToServerEvent(ctx, loading, on_loading) != REDISMODULE_OK)
        return REDISMODULE_ERR;
    return RedisModule_SubscribeToServerEvent(ctx, shutdown, on_shutdown);
}
