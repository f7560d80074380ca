/* cmd_serve.c - deja serve: run a Redis or Valkey server with the module loaded.
 *
 * deja finds the server and the module, chooses settings for a cache of seen URLs, and becomes
 * the server: signals, logs and exit status are then the server's own.
 *
 * The settings: an append-only log synced every second, so that a crash repeats at most the last
 * second's URLs and loses none; hourly snapshots; no eviction, which would forget URLs; and the
 * loopback address. */
#include "cli/session/command.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_WORDS 256

struct serve_options {
    uint32_t port;
    const char *dir;
    const char *bind;
    bool cluster;
    uint64_t memory;
    const char *server;
    const char *module;
    bool quiet;
};

static const struct opt options[] = {
    OPT_COUNT32(0, "port", "N", struct serve_options, port, 1, 65535,
                "listen on this port (default 6379)"),
    OPT_STRING(0, "bind", "ADDRESS", struct serve_options, bind,
               "listen on this address (default 127.0.0.1: this machine only)"),
    OPT_STRING(0, "dir", "DIR", struct serve_options, dir,
               "keep the data in DIR (default: the current directory)"),
    OPT_SIZE('m', "memory", "SIZE", struct serve_options, memory,
             "use at most SIZE of memory; beyond it, new filters are refused"),
    OPT_FLAG(0, "cluster", struct serve_options, cluster, "run as a node of a cluster"),
    OPT_STRING(0, "server", "PROGRAM", struct serve_options, server,
               "run this server (default: redis-server or valkey-server, whichever is found)"),
    OPT_STRING(0, "module", "FILE", struct serve_options, module,
               "load this module (default: deja.so of this installation)"),
    OPT_FLAG('q', "quiet", struct serve_options, quiet, "do not print what is started"),
    OPT_END,
};

/* --- Finding things ----------------------------------------------------------- */

/* Finds a program in PATH. */
static bool find_program(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : ""; *at;) {
        const size_t len = strcspn(at, ":");
        const int n = snprintf(path, PATH_MAX, "%.*s/%s", (int)len, at, name);
        if (len && n > 0 && n < PATH_MAX && access(path, X_OK) == 0)
            return true;
        at += len + (at[len] == ':');
    }
    return false;
}

static int find_server(const struct serve_options *o, char path[PATH_MAX], deja_error *err)
{
    if (o->server) {
        if (strchr(o->server, '/') ? access(o->server, X_OK) != 0 : !find_program(o->server, path))
            return fail_errno(err, "%s: cannot run it", fail_path(o->server).text);
        if (strchr(o->server, '/'))
            (void)snprintf(path, PATH_MAX, "%s", o->server);
        return DEJA_OK;
    }
    if (find_program("redis-server", path) || find_program("valkey-server", path))
        return DEJA_OK;
    return fail(err, DEJA_EIO,
                "neither redis-server nor valkey-server is in PATH; install one (Debian: apt-get "
                "install redis-server), or name it with --server");
}

/* Looks where the build and the install rules put the module, relative to this program. */
static int find_module(const struct serve_options *o, char path[PATH_MAX], deja_error *err)
{
    static const char *const places[] = {"redis/deja.so", DEJA_MODULE_FROM_BIN};
    char self[PATH_MAX], tried[2 * PATH_MAX];
    if (o->module)
        return realpath(o->module, path)
                   ? DEJA_OK
                   : fail_errno(err, "%s: cannot load it", fail_path(o->module).text);
    const ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len > 0) {
        self[len] = '\0';
        *strrchr(self, '/') = '\0';
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            (void)snprintf(tried, sizeof tried, "%s/%s", self, places[i]);
            if (realpath(tried, path))
                return DEJA_OK;
        }
    }
    return fail(err, DEJA_EIO,
                "the module deja.so is not next to this program; name it with --module (a build "
                "with DEJA_REDIS=ON makes it)");
}

/* --- The server's command line -------------------------------------------------- */

struct words {
    const char *word[MAX_WORDS];
    size_t n;
};

static void put(struct words *w, const char *name, const char *value)
{
    w->word[w->n++] = name;
    w->word[w->n++] = value;
}

static int serve(const struct call *call, const char *server, const char *module, deja_error *err)
{
    const struct serve_options *o = call->options;
    struct words w = {.word = {server}, .n = 1};
    char port[16], memory[32];
    (void)snprintf(port, sizeof port, "%u", o->port ? (unsigned)o->port : 6379u);
    put(&w, "--port", port);
    put(&w, "--bind", o->bind ? o->bind : "127.0.0.1");
    put(&w, "--dir", o->dir ? o->dir : ".");
    put(&w, "--appendonly", "yes");
    put(&w, "--appendfsync", "everysec");
    put(&w, "--save", "3600 1");
    put(&w, "--maxmemory-policy", "noeviction");
    if (o->memory) {
        (void)snprintf(memory, sizeof memory, "%llu", (unsigned long long)o->memory);
        put(&w, "--maxmemory", memory);
    }
    if (o->cluster)
        put(&w, "--cluster-enabled", "yes");
    put(&w, "--loadmodule", module);
    if (call->n_operands > MAX_WORDS - w.n - 1)
        return fail(err, OPT_USAGE, "too many settings for the server");
    for (size_t i = 0; i < call->n_operands; i++)
        w.word[w.n++] = call->operands[i];
    w.word[w.n] = NULL;
    console_note(call->console, "%s on %s port %s, data in %s", fail_path(server).text,
                 o->bind ? o->bind : "127.0.0.1", port, o->dir ? o->dir : "the current directory");
    char *argv[MAX_WORDS]; /* execv does not change them */
    memcpy(argv, w.word, (w.n + 1) * sizeof *argv);
    execv(server, argv);
    return fail_errno(err, "%s: cannot run it", fail_path(server).text);
}

static int run(struct call *call, deja_error *err)
{
    char server[PATH_MAX], module[PATH_MAX];
    const struct serve_options *o = call->options;
    int rc = find_server(o, server, err);
    if (rc == DEJA_OK)
        rc = find_module(o, module, err);
    if (rc == DEJA_OK && o->dir && access(o->dir, W_OK | X_OK) != 0)
        rc = fail_errno(err, "%s: cannot keep data there", fail_path(o->dir).text);
    return rc < 0 ? rc : serve(call, server, module, err);
}

const struct command cmd_serve = {
    .name = "serve",
    .often = true,
    .summary = "run a Redis or Valkey server with deja's commands",
    .operands = "[-- SETTING...]",
    .options = options,
    .options_size = sizeof(struct serve_options),
    .description =
        "Finds redis-server or valkey-server and runs it with the module that adds BF.* (the "
        "commands of RedisBloom) and DEJA.*, for filters that many machines share. Acknowledged "
        "changes are in a log on disk within a second, and in snapshots every hour; filters are "
        "never evicted.\n\n"
        "It listens on the loopback address only. With another --bind, also set a password, or "
        "the server refuses connections from outside: -- --requirepass SECRET.\n\n"
        "Arguments after -- are passed to the server unchanged, after deja's own settings, and "
        "override them.",
    .examples = {{"a server for this machine", "deja serve --dir /var/lib/deja"},
                 {"at most 8 GiB, on another port", "deja serve --port 7000 -m 8G"},
                 {"sync at every write", "deja serve -- --appendfsync always"}},
    .run = run,
};
