/* cmd_check.c - which lines are in a filter file. */
#include "fail.h"
#include "number.h"
#include "session.h"

struct check_options {
    struct common common;
    bool invert;
    bool count;
};

static const struct opt options[] = {
    OPT_FLAG('v', "invert", struct check_options, invert, "print the lines that are not in it"),
    OPT_FLAG('c', "count", struct check_options, count,
             "print how many lines there are instead of the lines"),
    OPT_GROUP(struct check_options, common, common_output),
    OPT_GROUP(struct check_options, common, common_input),
    OPT_HEADING("Secret"),
    OPT_GROUP(struct check_options, common, common_key),
    OPT_GROUP(struct check_options, common, common_general),
    OPT_END,
};

struct job {
    const struct call *call;
    const struct check_options *o;
    deja_filter *filter;
    struct session session;
    struct out own, *out;
    bool header_printed;
    uint64_t printed;
};

static int check_all(struct job *j, deja_error *err)
{
    struct batch *b;
    int rc;
    while ((rc = session_next(&j->session, &b, err)) > 0) {
        deja_filter_contains_hashed(j->filter, b->hash, b->block.n, b->answer);
        session_fold(&j->session, b);
        const uint64_t found = session_count(b);
        j->printed += j->o->invert ? b->block.n - found : found;
        if (!j->o->count) {
            session_print_header(&j->session, j->out, &j->header_printed);
            session_print(j->out, b, !j->o->invert);
        }
        rc = out_flush(j->out, err);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int finish(struct job *j, int rc, deja_error *err)
{
    if (rc < 0)
        return rc;
    if (!j->o->count)
        session_print_header(&j->session, j->out, &j->header_printed);
    else
        out_printf(j->out, "%llu\n", (unsigned long long)j->printed);
    rc = out_flush(j->out, err);
    if (rc < 0)
        return rc;
    session_warn_missing(&j->session);
    console_note(j->call->console, "%s%s lines read, %s %s %s; %s",
                 j->session.stopped ? "stopped: " : "", num_count(j->session.records).s,
                 num_count(j->printed).s, j->o->invert ? "not in" : "in",
                 fail_path(j->call->operands[0]).text,
                 num_duration(progress_seconds(&j->session.progress)).s);
    return j->printed ? COMMAND_DONE : COMMAND_NO;
}

static int run(struct call *call, deja_error *err)
{
    struct job j = {.call = call, .o = call->options, .own = OUT_NONE};
    uint8_t key[DEJA_KEY_LEN];
    deja_options expect;
    int rc = session_filter_options(&j.o->common, key, &expect, err);
    if (rc == DEJA_OK)
        rc = deja_filter_open(call->operands[0], 0, &expect, &j.filter, err);
    if (rc == DEJA_OK)
        rc = call_output(call, j.o->common.output, &j.own, &j.out, err);
    if (rc == DEJA_OK)
        rc = out_refuse_inputs(j.out, call->operands + 1, call->n_operands - 1, err);
    if (rc == DEJA_OK)
        rc = out_refuse_inputs(j.out, call->operands, 1, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.o->common, 1, j.filter, j.out, err);
    if (rc == DEJA_OK)
        rc = finish(&j, check_all(&j, err), err);
    session_close(&j.session);
    deja_filter_free(j.filter);
    return out_finish(&j.own, rc, err);
}

const struct command cmd_check = {
    .name = "check",
    .summary = "print the lines that are in a filter file",
    .operands = "F.deja [FILE]...",
    .min_operands = 1,
    .max_operands = COMMAND_ANY,
    .options = options,
    .options_size = sizeof(struct check_options),
    .description =
        (const char *const[]){
            "Prints the lines of the files (standard input without any) that are in the filter, "
            "or "
            "with -v those that are not. Every line that was added is found; a line that was not "
            "is printed too at the filter's false-positive rate (`deja info` tells it). With -v "
            "nothing that was added is ever printed.",
            SESSION_KEY_TEXT, SESSION_LINES_TEXT "in the filter, and with -v when none is.", NULL},
    .examples =
        (const struct command_example[]){
            {"which of these were seen", "deja check seen.deja urls.txt"},
            {"which were not", "deja check -v seen.deja urls.txt"},
            {"requests of a web server's log for what is in a list",
             "deja check --format log list.deja access.log"},
            {0}},
    .exits =
        (const struct command_exit[]){
            {0, "some lines were printed"}, {1, "none was"}, {2, "usage error or failure"}, {0}},
    .run = run,
};
