/* session_report.c - warnings, the closing line and the report of --json; see session.h. */
#include "cli/session/session.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include <unistd.h>

uint64_t session_filter_bytes(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    return f && deja_filter_stats(f, 0, &o, NULL) == DEJA_OK ? o.bytes : 0;
}

uint64_t session_too_many(const deja_filter *f)
{
    deja_stats o = DEJA_STATS_INIT;
    if (deja_filter_stats(f, 0, &o, NULL) < 0 || !o.excess)
        return 0;
    return deja_kind_can(o.kind, DEJA_CAN_EXPIRE) ? o.capacity + o.excess : o.entries;
}

void session_watch(struct session *s, const char *what)
{
    deja_stats stats = DEJA_STATS_INIT;
    const uint64_t keys = s->warned || !s->filter ? 0 : session_too_many(s->filter);
    if (!keys || deja_filter_stats(s->filter, DEJA_STATS_BODY, &stats, NULL) < 0)
        return;
    s->warned = true;
    console_warn(
        s->call->console,
        "%s was sized for %s and now holds %s: its rate is %s and rises with every key, so "
        "more new lines are lost; use a larger -n%s",
        what, num_of(stats.capacity, "key").s, num_count(keys).s, num_rate(stats.fp_now).s,
        s->shared->fixed ? ", or omit --fixed" : "");
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

const char *session_no_urls(uint64_t n)
{
    return n == 1 ? "is not a URL" : "are not URLs";
}

static void warn_no_urls(const struct session *s)
{
    const uint64_t no_url = counted(&s->urls.no_url), no_idna = counted(&s->urls.no_idna);
    const char *rest =
        s->urls.use == URLKEYS_STORE && counted(&s->urls.left_out) ? ", skipped" : "";
    if (no_idna)
        console_note(s->call->console,
                     "%s with hosts that need IDNA%s%s; rebuild deja with libidn2 to support it",
                     num_lines(no_idna).s, rest,
                     leftout_names(&s->left_out, BLOCK_NO_IDNA, no_idna).text);
    if (no_url)
        console_note(s->call->console, "%s %s%s%s", num_lines(no_url).s, session_no_urls(no_url),
                     rest, leftout_names(&s->left_out, BLOCK_NO_URL, no_url).text);
}

static uint64_t any_skipped(const struct input_progress *in)
{
    uint64_t n = 0;
    for (size_t i = 0; i < BLOCKLIST_REASONS; i++)
        n += in->skipped[i];
    return n;
}

/* "5 rules without a key (3 cosmetic, 2 exception), skipped: rules.txt:3 "##.banner", ..." */
static void warn_skipped(const struct session *s, const struct input_progress *in,
                         const char *fate)
{
    char reasons[200] = "";
    for (enum blocklist_reason why = 0; why < BLOCKLIST_REASONS; why++)
        if (in->skipped[why])
            printable_append(reasons, sizeof reasons, "%s%s %s", *reasons ? ", " : "",
                             num_count(in->skipped[why]).s, blocklist_reason_name(why));
    console_note(s->call->console, "%s without a key (%s), %s%s",
                 num_of(any_skipped(in), "rule").s, reasons, fate,
                 leftout_names(&s->left_out, BLOCK_RULE, any_skipped(in)).text);
}

static void warn_keyless(const struct session *s)
{
    static const char *const fates[] = {
        [URLKEYS_COMPARE] = "passed through",
        [URLKEYS_STORE] = "skipped",
        [URLKEYS_LOOK_UP] = "not in the filter",
        [URLKEYS_PREFIX] = "not in the filter",
    };
    struct input_progress in;
    input_progress(s->in, &in);
    if (in.rules || any_skipped(&in))
        warn_skipped(s, &in, fates[s->urls.use]);
    /* warn_no_urls and warn_skipped report these: */
    const uint64_t reported = counted(&s->urls.left_out) + in.rules;
    const uint64_t n = s->keyless > reported ? s->keyless - reported : 0;
    if (n)
        console_note(s->call->console, "%s without %s, %s%s", num_lines(n).s,
                     s->urls.rules ? "a URL" : input_wanted(s->in).text, fates[s->urls.use],
                     leftout_names(&s->left_out, BLOCK_NO_KEY, n).text);
}

static void report_skipped(const struct session *s, struct json *j)
{
    struct input_progress in;
    input_progress(s->in, &in);
    json_object(j, "rules_skipped");
    json_uint(j, "cosmetic", in.skipped[BLOCKLIST_COSMETIC]);
    json_uint(j, "exception", in.skipped[BLOCKLIST_EXCEPTION]);
    json_uint(j, "limited", in.skipped[BLOCKLIST_LIMITED]);
    json_uint(j, "pattern", in.skipped[BLOCKLIST_PATTERN]);
    json_uint(j, "other", in.skipped[BLOCKLIST_OTHER]);
    json_end(j);
}

struct closing session_closing(const struct session *s)
{
    struct closing c;
    closing_begin(&c, s->call->console, s->stopped);
    closing_count(&c, s->records, "read");
    return c;
}

struct closing session_closing_new(const struct session *s, uint64_t is_new, uint64_t seen)
{
    struct closing c = session_closing(s);
    closing_count(&c, is_new, "new");
    closing_count(&c, seen, "seen before");
    return c;
}

bool session_grew(const struct session *s)
{
    return session_filter_bytes(s->filter) > s->bytes;
}

void session_print_closing(const struct session *s, struct closing *c)
{
    if (session_grew(s))
        closing_remark(c, "filter grew to %s", num_bytes(session_filter_bytes(s->filter)).s);
    closing_print(c, progress_seconds(&s->progress));
}

bool session_report_begin(struct session_report *r, const struct session *s)
{
    deja_error unused;
    r->own = OUT_NONE;
    r->out = s->call->out;
    if (s->out == s->call->out) {
        if (s->shared->quiet || out_init(&r->own, STDERR_FILENO, "standard error", &unused) < 0)
            return false;
        r->out = &r->own;
    }
    json_begin(&r->json, r->out);
    json_object(&r->json, NULL);
    return true;
}

void session_report_end(struct session_report *r, const struct session *s)
{
    struct json *j = &r->json;
    deja_error unused;
    json_uint(j, "keyless", s->keyless);
    if (pick_is_list(s->shared->format))
        report_skipped(s, j);
    json_real(j, "seconds", progress_seconds(&s->progress));
    json_bool(j, "stopped", s->stopped);
    leftout_json(&s->left_out, j);
    if (s->urls.rules) {
        json_string(j, "profile", deja_profile_name(deja_url_rules_profile(s->urls.rules)));
        json_uint(j, "no_urls", counted(&s->urls.no_url));
        json_uint(j, "no_idna", counted(&s->urls.no_idna));
    }
    json_end(j);
    (void)out_close(&r->own, &unused);
}

void session_warn_missing(const struct session *s)
{
    if (!s->in)
        return;
    if (!s->shared->json) { /* which contains the numbers */
        warn_no_urls(s);
        warn_keyless(s);
    }
    if (input_headers_differ(s->in))
        console_note(s->call->console, "the files have different headers; the first is printed");
}

void session_note_bytes(const struct session *s, const char *path)
{
    if (pick_is_list(s->shared->format) && !s->urls.rules && !s->shared->json)
        console_note(s->call->console,
                     "%s finds host names, but no URLs and no subdomains; --url=gsb covers both",
                     fail_path(path).text);
}
