/* cmd_info.c - what is in a filter file, how full it is, and what that means. */
#include "cli/dcso/dcso_file.h"
#include "cli/options/keyfile.h"
#include "cli/report/dcso_info.h"
#include "cli/report/info_report.h"
#include "cli/session/command.h"
#include "tools/base/fail.h"

struct info_options {
    struct shared_options shared;
    uint32_t format;
};

/* deja's own files need no name. */
static const char *format_name(uint32_t format)
{
    return format == 1 ? "dcso" : NULL;
}

static const struct opt options[] = {
    OPT_CHOICE(0, "format", "FORMAT", struct info_options, format, format_name,
               "take the files for bloom files of DCSO's, whatever their first bytes say"),
    OPT_STRING(0, "key", "FILE", struct info_options, shared.key_file,
               "the secret key of filters that were made with --key"),
    OPT_GROUP(struct info_options, shared, shared_insecure_key),
    OPT_GROUP(struct info_options, shared, shared_json),
    OPT_GROUP(struct info_options, shared, shared_quiet),
    OPT_END,
};

/* A file that cannot be examined is told, and the others still are. */
static int inform(struct call *call, const char *path, const uint8_t *key, struct json *json)
{
    struct info_report r = {.path = path};
    deja_error err = {0};
    int rc = info_report_make(&r, key, &err);
    (void)opt_filter_translate(&err);
    if (json)
        info_report_json(&r, json, rc < 0 ? &err : NULL);
    else if (rc == DEJA_OK)
        rc = info_report_text(&r, call->out, path != call->operands[0], &err);
    if (rc < 0) {
        console_error(call->console, "%s", err.text);
        return COMMAND_FAILED;
    }
    (void)out_flush(call->out, NULL); /* warnings come after it; main tells of a failure */
    info_report_warn(&r, call->console);
    return COMMAND_DONE;
}

static int run(struct call *call, deja_error *err)
{
    const struct info_options *o = call->options;
    const char *key_file = o->shared.key_file;
    uint8_t key[DEJA_KEY_LEN];
    struct json json;
    int status = COMMAND_DONE;
    int rc = key_file ? keyfile_read(&o->shared, key, err) : DEJA_OK;
    if (rc < 0)
        return rc;
    if (o->shared.json) {
        json_begin(&json, call->out);
        json_array(&json, NULL);
    }
    for (size_t i = 0; i < call->n_operands; i++) {
        const char *path = call->operands[i];
        struct json *to = o->shared.json ? &json : NULL;
        int told = o->format != 0 || dcso_file_is(path)
                       ? dcso_inform(call, path, i > 0, to)
                       : inform(call, path, key_file != NULL ? key : NULL, to);
        status = told > status ? told : status;
    }
    if (o->shared.json)
        json_end(&json);
    explicit_bzero(key, sizeof key);
    return status;
}

const struct command cmd_info = {
    .name = "info",
    .summary = "tell what is in filter files, how full they are, and what it costs",
    .operands = "F.deja...",
    .options = options,
    .options_size = sizeof(struct info_options),
    .description =
        "Prints the kind, size, fill and history of each file, the false-positive rate at the "
        "present fill, how many keys were probably lost so far, and how many more fit. After "
        "`deja rotate` it tells what the last visit saw and the chance that a page was missed "
        "by every visit so far; of a union, the keys are an estimate. --json prints an array "
        "with one object a file.\n\n"
        "It warns when there are more keys in a filter than it was sized for. It also "
        "compares the bits that are set with those that the number of keys explains. Far more "
        "bits than that mean that somebody chose keys in order to fill the filter, which "
        "takes knowing its secret key: a warning says so.\n\n"
        "Of a bloom file of DCSO's it tells what such a file knows: see --format dcso in "
        "deja-build(1).\n\n"
        "A paired filter is the one kind that forgets keys: FORGETS tells the share of those "
        "that were added and not removed, and are missed all the same.",
    .examples = {{"how full is the state?", "deja info seen.deja"},
                 {"the present rate of all filters, for a script",
                  "deja info --json *.deja | grep -E '\"(file|fp_now)\"'"}},
    .run = run,
};
