/* machines_report.c - which rates applied to the answers of F servers; see machines_report.h. */
#include "cli/server/machines_report.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdio.h>

static const char *rate_text(double rate, struct num_text *text)
{
    if (isnan(rate))
        return "unknown";
    *text = num_rate(rate);
    return text->s;
}

/* "120,000 by 3 of 3 servers (rate 1.0e-6), 4,000 by 2 of 3 (rate 1.0e-4)" */
static bool tell_answers(const struct machines *m, size_t n, bool all, struct console *console)
{
    char text[400] = "";
    size_t len = 0;
    bool fewer = false;
    for (size_t by = n; by > 0; by--) {
        const struct machines_answers a = machines_answered(m, (uint32_t)by);
        struct num_text rate;
        if (!a.keys || len >= sizeof text)
            continue;
        fewer |= by < n;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s by %zu of %zu%s (rate %s)",
                                len ? ", " : "", num_count(a.keys).s, by, n, len ? "" : " servers",
                                rate_text(a.rate, &rate));
    }
    if (len && (fewer || all))
        console_note(console, "answered: %s", text);
    return fewer;
}

void machines_report_tell(const struct machines *m, size_t n, bool all, struct console *console)
{
    (void)tell_answers(m, n, all, console);
    for (size_t i = 0; i < n; i++) {
        const struct machines_one one = machines_one(m, (uint32_t)i);
        if (one.delivered)
            console_note(console, "server %zu at %s got %s that it had missed", i + 1, one.address,
                         num_of(one.delivered, "key").s);
        if (one.waiting)
            console_note(console, "%s for server %zu at %s; a later run delivers %s",
                         num_of(one.waiting, "key").s, i + 1, one.address,
                         one.waiting == 1 ? "it" : "them");
    }
}

void machines_report_json(const struct machines *m, size_t n, struct json *json)
{
    json_array(json, "answered");
    for (size_t by = n; by > 0; by--) {
        const struct machines_answers a = machines_answered(m, (uint32_t)by);
        json_object(json, NULL);
        json_uint(json, "servers", by);
        json_uint(json, "keys", a.keys);
        json_real(json, "fp_rate", a.rate);
        json_end(json);
    }
    json_end(json);
    json_array(json, "servers");
    for (size_t i = 0; i < n; i++) {
        const struct machines_one one = machines_one(m, (uint32_t)i);
        json_object(json, NULL);
        json_string(json, "address", one.address);
        json_string(json, "state", one.lost ? "lost" : one.answers ? "answers" : "missing");
        json_uint(json, "filter_bytes", one.bytes);
        json_uint(json, "delivered", one.delivered);
        json_uint(json, "waiting", one.waiting);
        json_end(json);
    }
    json_end(json);
}
