/* cmd_verify.c - is a filter file intact? */
#include "cli/options/keyfile.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <fcntl.h>
#include <unistd.h>

struct verify_options {
    struct shared_options shared;
    bool repair;
};

static const struct opt options[] = {
    OPT_FLAG(0, "repair", struct verify_options, repair,
             "seal files that were not synced, and mend a damaged sync record"),
    OPT_STRING(0, "key", "FILE", struct verify_options, shared.key_file,
               "for --repair: the secret key of filters that were made with --key"),
    OPT_GROUP(struct verify_options, shared, shared_insecure_key),
    OPT_GROUP(struct verify_options, shared, shared_json),
    OPT_FLAG('q', "quiet", struct verify_options, shared.quiet,
             "print nothing about files that are intact"),
    OPT_END,
};

/* In the order of their gravity. */
enum verdict {
    INTACT,
    REPAIRED,
    NOT_SYNCED,
    DAMAGED,
    NOT_READ
};

static const char *const verdict_names[] = {"intact", "repaired", "not synced", "damaged",
                                            "not read"};

static int exit_status(enum verdict v)
{
    if (v == NOT_READ)
        return COMMAND_FAILED;
    return v <= REPAIRED ? COMMAND_DONE : COMMAND_NO;
}

struct finding {
    enum verdict verdict;
    uint64_t keys; /* REPAIRED: as counted anew */
    deja_error why;
};

/* The library calls a stranger and a damaged filter alike.  What begins as no filter does was
 * never one, so there is nothing to be intact. */
static bool looks_like_filter(const char *path)
{
    char begin[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, begin, sizeof begin, 0);
    (void)close(fd);
    return got == (ssize_t)sizeof begin && memcmp(begin, "DEJA", sizeof begin) == 0;
}

static enum verdict judge(int rc, const char *path)
{
    switch (rc) {
    case DEJA_OK:
        return INTACT;
    case DEJA_EBUSY:
        return NOT_SYNCED;
    case DEJA_EFORMAT:
        return looks_like_filter(path) ? DAMAGED : NOT_READ;
    default: /* DEJA_EVERSION as well: perhaps sound, but not ours to tell */
        return NOT_READ;
    }
}

/* Opening for writing counts the keys anew from the bodies where the counts cannot be trusted;
 * syncing seals the file.  Bodies that do not fit their checksum stay as they are. */
static int repair(const char *path, const uint8_t *key, uint64_t *keys, deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_stats stats = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    expect.key = key;
    int rc = deja_filter_open(path, DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR, &expect, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, 0, &stats, err);
    deja_filter_free(f);
    *keys = stats.keys;
    return rc;
}

static void examine(struct finding *f, const char *path, bool mend, const uint8_t *key)
{
    f->verdict = judge(deja_file_verify(path, &f->why), path);
    if (!mend || (f->verdict != NOT_SYNCED && f->verdict != DAMAGED))
        return;
    deja_error why = {0};
    int rc = repair(path, key, &f->keys, &why);
    if (rc == DEJA_OK)
        rc = deja_file_verify(path, &why);
    if (rc == DEJA_OK) {
        f->verdict = REPAIRED;
    } else {
        f->verdict = judge(rc, path);
        f->why = why;
    }
}

static void print_text(struct call *call, const char *path, const struct finding *f)
{
    const struct verify_options *o = call->options;
    if (f->verdict == INTACT && !o->shared.quiet)
        out_printf(call->out, "%s: intact\n", fail_path(path).text);
    if (f->verdict == REPAIRED && !o->shared.quiet)
        out_printf(call->out, "%s: repaired: counted anew, about %s, and sealed\n",
                   fail_path(path).text, num_of(f->keys, "key").s);
}

static void print_json(struct json *j, const char *path, const struct finding *f)
{
    json_object(j, NULL);
    json_bytes(j, "file", path, strlen(path));
    json_string(j, "verdict", verdict_names[f->verdict]);
    json_bool(j, "intact", f->verdict <= REPAIRED);
    json_bool(j, "repaired", f->verdict == REPAIRED);
    json_string(j, "why", f->verdict == INTACT ? NULL : f->why.text);
    json_end(j);
}

static enum verdict verify(struct call *call, const char *path, const uint8_t *key,
                           struct json *json)
{
    const struct verify_options *o = call->options;
    struct finding f = {.verdict = INTACT};
    examine(&f, path, o->repair, key);
    (void)opt_filter_translate(&f.why);
    if (json)
        print_json(json, path, &f);
    else
        print_text(call, path, &f);
    if (f.verdict > REPAIRED) {
        (void)out_flush(call->out, NULL); /* so that lines come in order; main tells of failures */
        console_error(call->console, "%s", f.why.text);
    }
    return f.verdict;
}

static int run(struct call *call, deja_error *err)
{
    const struct verify_options *o = call->options;
    const char *key_file = o->shared.key_file;
    uint8_t key[DEJA_KEY_LEN];
    struct json json;
    enum verdict worst = INTACT;
    int rc = key_file ? keyfile_read(&o->shared, key, err) : DEJA_OK;
    if (rc < 0)
        return rc;
    if (o->shared.json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands; i++) {
        enum verdict v = verify(call, call->operands[i], key_file != NULL ? key : NULL,
                                o->shared.json ? &json : NULL);
        worst = v > worst ? v : worst;
    }
    if (o->shared.json)
        json_end(&json);
    explicit_bzero(key, sizeof key);
    return exit_status(worst);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "tell whether filter files are intact",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct verify_options),
    .description =
        "Reads each file whole and compares its checksums. A single flipped bit, a missing or "
        "an added byte is noticed, and told with its place. --json prints an array with one "
        "object a file.\n\n"
        "A file that is being written, or whose writer was killed after its last sync, has no "
        "checksum for what it holds now: it opens and works, but nothing can vouch for it. "
        "The next sync seals it: any `deja add`, or --repair.\n\n"
        "--repair also helps when one of the two sync records in the header is damaged: it "
        "trusts the other one and counts the keys anew from the bits. It cannot bring back "
        "bits that were lost: a damaged body stays damaged, and the file has to be restored "
        "from a copy or built anew. Files that are intact are not touched.",
    .examples = {{"is the state good?", "deja verify seen.deja"},
                 {"after a power cut: make it good again", "deja verify --repair seen.deja"}},
    .exits = {{COMMAND_DONE, "all files are intact, or are so after --repair"},
              {COMMAND_NO, "one is damaged, or was not synced after its last add"},
              {COMMAND_FAILED, "one cannot be read or is no filter file, or wrong usage"}},
    .run = run,
};
