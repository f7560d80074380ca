/* help.c - the syntax of a command as text, from the description that COMMAND DOCS has. */
#include "help.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

struct text {
    char *at;
    size_t len, cap;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int n = vsnprintf(t->at + t->len, t->cap - t->len, format, values);
    va_end(values);
    if (n > 0)
        t->len += (size_t)n < t->cap - t->len ? (size_t)n : t->cap - t->len - 1;
}

/* The words of one argument: a token, a token and a value, one of several tokens, or a value. */
static void put_words(struct text *t, const RedisModuleCommandArg *a)
{
    if (a->type == REDISMODULE_ARG_TYPE_ONEOF) {
        for (const RedisModuleCommandArg *one = a->subargs; one->name; one++)
            put(t, "%s%s", one == a->subargs ? "" : "|", one->token);
        return;
    }
    if (a->token)
        put(t, "%s", a->token);
    if (a->type != REDISMODULE_ARG_TYPE_PURE_TOKEN)
        put(t, "%s%s", a->token ? " " : "", a->name);
    if (a->flags & REDISMODULE_CMD_ARG_MULTIPLE)
        put(t, " [%s ...]", a->name);
}

size_t help_syntax(const char *command, const RedisModuleCommandArg *args, char *text, size_t cap)
{
    struct text t = {text, 0, cap};
    put(&t, "%s", command);
    for (const RedisModuleCommandArg *a = args; a && a->name; a++) {
        const bool optional = a->flags & REDISMODULE_CMD_ARG_OPTIONAL;
        put(&t, optional ? " [" : " ");
        put_words(&t, a);
        put(&t, optional ? "]" : "");
    }
    return t.len;
}
