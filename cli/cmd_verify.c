/* cmd_verify.c - is a filter file intact? */
#include "command.h"
#include "fail.h"
#include "keyfile.h"

struct verify_options {
    struct common common;
    bool repair;
};

static const struct opt options[] = {
    OPT_FLAG(0, "repair", struct verify_options, repair,
             "trust one sync record when the other is damaged, recount, and seal the file"),
    OPT_GROUP(struct verify_options, common, common_key),
    OPT_GROUP(struct verify_options, common, common_json),
    OPT_GROUP(struct verify_options, common, common_quiet),
    OPT_END,
};

/* Opening for writing and syncing is the repair: the counts come from the bodies. */
static int repair(const struct verify_options *o, const char *path, deja_error *err)
{
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    int rc = DEJA_OK;
    if (o->common.key_file) {
        rc = keyfile_read(o->common.key_file, key, err);
        expect.key = key;
    }
    if (rc == DEJA_OK)
        rc = deja_filter_open(path, DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR, &expect, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    deja_filter_free(f);
    return rc;
}

/* What the answer means to a person, and to the shell. */
static const char *verdict(int rc)
{
    switch (rc) {
    case DEJA_OK:
        return "intact";
    case DEJA_EBUSY:
        return "not synced";
    case DEJA_EFORMAT:
    case DEJA_EVERSION:
        return "damaged";
    default:
        return "not read";
    }
}

static int exit_status(int rc)
{
    if (rc == DEJA_OK)
        return COMMAND_DONE;
    return rc == DEJA_EBUSY || rc == DEJA_EFORMAT || rc == DEJA_EVERSION ? COMMAND_NO
                                                                         : COMMAND_FAILED;
}

static int verify_one(struct call *call, const char *path, struct json *json)
{
    const struct verify_options *o = call->options;
    deja_error err = {0};
    int rc = o->repair ? repair(o, path, &err) : DEJA_OK;
    if (rc == DEJA_OK)
        rc = deja_file_verify(path, &err);
    if (o->common.json) {
        json_object(json, NULL);
        json_string(json, "file", path);
        json_string(json, "verdict", verdict(rc));
        json_bool(json, "repaired", o->repair && rc == DEJA_OK);
        json_string(json, "why", rc < 0 ? err.text : NULL);
        json_end(json);
    } else if (rc == DEJA_OK && !o->common.quiet) {
        out_printf(call->out, "%s: %s\n", fail_path(path).text,
                   o->repair ? "sealed and intact" : "intact");
    }
    if (rc < 0)
        console_error(call->console, "%s", err.text);
    return exit_status(rc);
}

static int run(struct call *call, deja_error *err)
{
    const struct verify_options *o = call->options;
    struct json json;
    int worst = COMMAND_DONE;
    (void)err;
    if (o->common.json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands; i++) {
        const int status = verify_one(call, call->operands[i], &json);
        worst = status > worst ? status : worst;
    }
    if (o->common.json)
        json_end(&json);
    return worst;
}

const struct command cmd_verify = {
    .name = "verify",
    .summary = "tell whether filter files are intact",
    .operands = "F.deja...",
    .min_operands = 1,
    .max_operands = COMMAND_ANY,
    .options = options,
    .options_size = sizeof(struct verify_options),
    .description =
        (const char *const[]){
            "Reads each file whole and compares its checksums. A single flipped bit, a missing or "
            "an added byte is noticed.",
            "A file that is being written, or whose writer was killed after its last sync, has no "
            "checksum for what it holds now: it opens and works, but nothing can vouch for it. "
            "The next sync seals it: any `deja add`, or --repair.",
            "--repair also helps when one of the two sync records in the header is damaged: it "
            "trusts the other one and counts the keys anew from the bits. It cannot bring back "
            "bits that were lost.",
            NULL},
    .examples =
        (const struct command_example[]){{"is the state good?", "deja verify seen.deja"}, {0}},
    .exits = (const struct command_exit[]){{0, "all files are intact"},
                                           {1, "one is damaged, or was not synced"},
                                           {2, "one cannot be read, or usage error"},
                                           {0}},
    .run = run,
};
