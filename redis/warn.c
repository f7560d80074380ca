/* warn.c - what the module writes to the server's log about values, and how much of it.
 *
 * Anyone who may send RESTORE could fill the disk with log lines.  So at most LINES_PER_PERIOD
 * lines are written in a period; a last line counts the ones that were left out, when the period
 * ends or the server shuts down.  While the server loads its data, values are only counted, and
 * the end of the load writes one line about all of them.
 *
 * Key names and reasons may come from a stranger: only printable ASCII is written. */
#include "warn.h"
#include "tools/base/clock.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LINES_PER_PERIOD 10
#define PERIOD_MS        60000

static struct {
    long long since; /* the period began */
    unsigned lines;
    unsigned long long more; /* lines left out */
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

/* "key "name": why", shortened. */
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

void warn_kept(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why)
{
    char what[400], text[500];
    describe(what, sizeof what, name, why);
    if (is_loading(ctx)) {
        if (!kept_by_load.n++)
            memcpy(kept_by_load.first, what, sizeof what);
        return;
    }
    snprintf(text, sizeof text, "kept a filter that this build cannot use; %s", what);
    write_line(ctx, text);
}

void warn_refused(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why)
{
    char what[400], text[500];
    n_refused++;
    describe(what, sizeof what, name, why);
    snprintf(text, sizeof text, "refused a damaged filter; %s", what);
    write_line(ctx, text);
}

void warn_unsound(RedisModuleCtx *ctx, const RedisModuleString *name, const char *why)
{
    char what[400], text[500];
    describe(what, sizeof what, name, why);
    snprintf(text, sizeof text,
             "saved a filter that will be unusable after the next load, please report this; %s",
             what);
    write_line(ctx, text);
}

static void on_loading(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t subevent, void *data)
{
    (void)event, (void)data;
    if (subevent != REDISMODULE_SUBEVENT_LOADING_ENDED &&
        subevent != REDISMODULE_SUBEVENT_LOADING_FAILED)
        return;
    if (kept_by_load.n)
        RedisModule_Log(ctx, "warning",
                        "%llu of the filters loaded cannot be used by this build and were kept as "
                        "they are; the first is %s",
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
