/* sieve_info.c - `deja info` for a sieve; see sieve_info.h. */
#include "cli/report/sieve_info.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

static void print_text(struct out *o, const char *path, const deja_sieve_report *s)
{
    out_printf(o, "%s\n", fail_path(path).text);
    out_text(o, "  kind        sieve: loses no line, in fixed memory\n");
    out_printf(o, "  keys        %s in %s and a log\n", num_count(s->keys).s,
               num_of(s->runs, "run").s);
    if (!s->profile)
        out_text(o, "  contents    bytes as given, no profile\n");
    else if (!deja_profile_name(s->profile))
        out_printf(o, "  contents    URLs of profile number %u, unknown here\n", s->profile);
    else
        out_printf(o, "  contents    URLs of profile %s\n", deja_profile_name(s->profile));
    out_printf(o, "  disk        %s", num_bytes(s->disk).s);
    if (s->keys)
        out_printf(o, ", %s bytes per key", num_fixed((double)s->disk / (double)s->keys, 1).s);
    out_printf(o, "\n  pending     %s\n", s->pending ? num_lines(s->pending).s : "no line waits");
    if (s->waited)
        out_printf(o, "  late        %s of %s that waited were new\n", num_count(s->late).s,
                   num_lines(s->waited).s);
    else
        out_text(o, "  late        no line has waited yet\n");
    out_printf(o, "  work        settled %s, merged %s\n", num_of(s->passes, "time").s,
               num_of(s->merges, "time").s);
    out_printf(o, "  lost        none, %s\n", sieves_certainty(s->wrong).s);
}

static void print_json(struct json *j, const char *path, const deja_sieve_report *s)
{
    json_object(j, NULL);
    json_bytes(j, "file", path, strlen(path));
    json_string(j, "format", "sieve");
    json_uint(j, "keys", s->keys);
    json_uint(j, "runs", s->runs);
    json_string(j, "profile", deja_profile_name(s->profile));
    json_uint(j, "disk_bytes", s->disk);
    json_uint(j, "pending", s->pending);
    json_uint(j, "waited", s->waited);
    json_uint(j, "settled", s->settled);
    json_uint(j, "late", s->late);
    json_uint(j, "passes", s->passes);
    json_uint(j, "merges", s->merges);
    json_real(j, "wrong", s->wrong);
    json_end(j);
}

int sieve_inform(const struct call *call, const char *path, const uint8_t *key, bool further,
                 struct json *json)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve_report s = DEJA_SIEVE_REPORT_INIT;
    deja_sieve *sieve = NULL;
    deja_error err = {0};
    opt.key = key;
    int rc = deja_sieve_open(path, 0, &opt, &sieve, &err);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(sieve, &s, &err);
    deja_sieve_free(sieve);
    (void)opt_filter_translate(&err);
    if (rc < 0 && json) {
        json_object(json, NULL);
        json_bytes(json, "file", path, strlen(path));
        json_string(json, "error", err.text);
        json_end(json);
    } else if (json) {
        print_json(json, path, &s);
    } else if (rc == DEJA_OK) {
        if (further)
            out_text(call->out, "\n");
        print_text(call->out, path, &s);
    }
    if (rc < 0)
        console_error(call->console, "%s", err.text);
    return rc < 0 ? COMMAND_FAILED : COMMAND_DONE;
}
