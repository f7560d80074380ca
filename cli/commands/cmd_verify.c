/* cmd_verify.c - deja verify: check and repair filter files. */
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
             "seal files that were not synced; repair a damaged sync record"),
    OPT_GROUP(struct verify_options, shared, shared_key),
    OPT_GROUP(struct verify_options, shared, shared_json),
    OPT_FLAG('q', "quiet", struct verify_options, shared.quiet,
             "print nothing about intact files"),
    OPT_END,
};

/* From best to worst. */
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
    uint64_t keys; /* REPAIRED: as recounted */
    deja_error why;
};

/* The library reports both a damaged filter and any other file as DEJA_EFORMAT; the first bytes
 * tell them apart. */
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
    default: /* DEJA_EVERSION, too: this version cannot judge the file */
        return NOT_READ;
    }
}

/* Opening for writing recounts the keys from the bodies if the counts cannot be trusted; syncing
 * seals the file.  Bodies that do not match their checksum stay unchanged. */
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
    if (deja_sieve_exists(path)) { /* a writer cuts off what a crash left; nothing is to repair */
        const int rc = deja_sieve_verify(path, &f->why);
        f->verdict = rc == DEJA_OK ? INTACT : rc == DEJA_EFORMAT ? DAMAGED : NOT_READ;
        return;
    }
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
        out_printf(call->out, "%s: repaired: recounted, about %s, and sealed\n",
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

static int verify(struct call *call, const char *path, const uint8_t *key, struct json *json)
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
        (void)out_flush(call->out, NULL); /* keeps the lines in order; main reports failures */
        console_error(call->console, "%s", f.why.text);
    }
    return exit_status(f.verdict);
}

static int run(struct call *call, deja_error *err)
{
    const struct verify_options *o = call->options;
    return call_each_file(call, &o->shared, verify, err);
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "check whether filter files are intact",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct verify_options),
    .description =
        "Reads each file completely and compares its checksums. It detects a single flipped bit "
        "and a missing or extra byte, and reports the place. --json prints an array with one "
        "object per file.\n\n"
        "A file that is being written, or whose writer was killed after its last sync, has no "
        "valid checksum: it opens and works, but cannot be verified. The next sync seals it: any "
        "`deja add`, or --repair.\n\n"
        "--repair also helps if one of the two sync records in the header is damaged: it uses the "
        "other one and recounts the keys from the bits. It needs --key if the filter was made "
        "with one. It cannot recover lost bits: if the body is damaged, restore the file from a "
        "copy or rebuild it. Intact files are not changed.\n\n"
        "F can also be the directory of a sieve (deja-dedup(1), --sieve). All of its files are read; "
        "the message names the damaged file. --repair cannot change a sieve.",
    .examples = {{"is the state intact?", "deja verify seen.deja"},
                 {"which filters are damaged?", "deja verify -q *.deja"},
                 {"repair it after a power cut", "deja verify --repair seen.deja"}},
    .exits = {{COMMAND_DONE, "all files are intact, or --repair made them so"},
              {COMMAND_NO, "a file is damaged, or was not synced after its last add"},
              {COMMAND_FAILED, "a file cannot be read or is not a filter file, or a usage error"}},
    .run = run,
};
