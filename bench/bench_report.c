/* bench_report.c - the figures as a table, as JSON and as CSV; see bench_report.h.
 *
 * The table has one line per case for the limits and one per way of calling; JSON and CSV have one
 * entry per operation, and everything that the figures depend on. */
#include "bench/bench_report.h"
#include "tools/base/number.h"
#include <inttypes.h>

struct num_text bench_short_count(uint64_t n)
{
    static const char units[] = "kMGTP";
    struct num_text t;
    const char *unit = "";
    char shown[2] = "";
    for (size_t i = 0; units[i] != '\0' && n >= 1000 && n % 1000 == 0; i++) {
        n /= 1000;
        shown[0] = units[i];
        unit = shown;
    }
    (void)snprintf(t.s, sizeof t.s, "%" PRIu64 "%s", n, unit);
    return t;
}

static double bits_per_key(const struct bench_case *c)
{
    return (double)c->bytes * 8 / (double)c->n;
}

/* --- Table ------------------------------------------------------------------ */

static void header(struct table *t)
{
    static const char *const titles[] = {"kind", "n",        "p",     "bits/key",
                                         "rate", "limit ns", "fused", "call"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        table_cell(t, "%s", titles[i]);
    for (size_t op = 0; op < BENCH_OPS; op++)
        if (bench_ops[op].title)
            table_cell(t, "%s", bench_ops[op].title);
    table_cell(t, "spread");
}

/* The largest relative distance between the quartiles of the rounds. */
static double worst_spread(const struct bench_case *c, unsigned call)
{
    double worst = 0;
    for (size_t op = 0; op < BENCH_OPS; op++) {
        const struct bench_figure *f = &c->figure[call][op];
        const double spread = f->measured ? (f->ratio.high - f->ratio.low) / f->ratio.median : 0;
        worst = spread > worst ? spread : worst;
    }
    return worst;
}

static void row(struct table *t, const struct bench_case *c, unsigned call)
{
    table_cell(t, "%s", bench_case_name(c));
    table_cell(t, "%s", bench_short_count(c->n).s);
    table_cell(t, "%s", num_rate(c->p).s);
    table_cell(t, "%s", num_fixed(bits_per_key(c), 2).s);
    table_cell(t, "%s", num_rate(c->rate).s);
    table_cell(t, "%s", num_fixed(c->hash_ns + c->line_ns, 1).s);
    table_cell(t, "%s", num_fixed(c->fused_ns, 1).s);
    table_cell(t, "%s", bench_call_names[call]);
    for (size_t op = 0; op < BENCH_OPS; op++) {
        const struct bench_figure *f = &c->figure[call][op];
        if (!bench_ops[op].title)
            continue;
        if (f->measured)
            table_cell(t, "%s (%s)", num_fixed(f->ns, 1).s, num_fixed(f->ratio.median, 2).s);
        else
            table_cell(t, "-");
    }
    table_cell(t, "%s", num_share(worst_spread(c, call)).s);
}

/* A few nanoseconds per key, or a job that takes longer. */
static struct num_text short_time(double ns)
{
    struct num_text t;
    if (ns >= 1e4)
        return num_took(ns * 1e-9);
    (void)snprintf(t.s, sizeof t.s, "%.16s ns", num_fixed(ns, 1).s);
    return t;
}

static int job_table(const struct bench_report *r, struct out *o, deja_error *err)
{
    struct table t;
    out_text(o, "\njobs: median time, compared with a limit of this machine\n\n");
    table_init(&t, "lrrrlrlrrr");
    table_row(&t, "job", "n", "p", "size", "per", "time", "limit", "time", "ratio", "spread",
              NULL);
    for (size_t i = 0; i < r->n_results; i++) {
        const struct bench_result *x = &r->results[i];
        table_cell(&t, "%s", x->job->name);
        table_cell(&t, "%s", bench_short_count(x->n).s);
        table_cell(&t, "%s", num_rate(x->p).s);
        table_cell(&t, "%s", num_bytes(x->bytes).s);
        table_cell(&t, "%s", x->job->per);
        table_cell(&t, "%s", short_time(x->ns).s);
        table_cell(&t, "%s", x->job->limit);
        table_cell(&t, "%s", short_time(x->limit_ns).s);
        table_cell(&t, "%s", num_fixed(x->ratio.median, 2).s);
        table_cell(&t, "%s", num_share((x->ratio.high - x->ratio.low) / x->ratio.median).s);
    }
    return table_print(&t, o, 0, err);
}

static int url_table(const struct bench_report *r, struct out *o, deja_error *err)
{
    struct table t;
    out_text(o, "\ncanonical URLs: median ns per URL (in parentheses: ratio to hashing it)\n\n");
    table_init(&t, "lrrr");
    static const char *const titles[] = {"profile", "hash ns", "canonicalize", "changed"};
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
        table_cell(&t, "%s", titles[i]);
    for (size_t i = 0; i < BENCH_PROFILES; i++) {
        const struct bench_url *u = &r->url[i];
        table_cell(&t, "%s", deja_profile_name(u->profile));
        table_cell(&t, "%s", num_fixed(u->hash_ns, 1).s);
        table_cell(&t, "%s (%s)", num_fixed(u->canon_ns, 1).s, num_fixed(u->canon.median, 2).s);
        table_cell(&t, "%s", num_share(u->changed).s);
    }
    return table_print(&t, o, 0, err);
}

static int case_table(const struct bench_report *r, struct out *o, deja_error *err)
{
    struct table t;
    out_printf(o, "keys: %s, %s bytes on average, %zu at a time\n",
               r->urls != NULL ? r->urls : "generated URLs", num_fixed(r->cases[0].key_len, 0).s,
               r->cases[0].lot);
    out_text(o,
             "median ns per key (in parentheses: ratio to the limit, which is hashing the key and "
             "touching one cache line; `fused' is a loop that overlaps the two)\n\n");
    table_init(&t, "lrrrrrrlrrrrrrrr");
    header(&t);
    for (size_t i = 0; i < r->n; i++)
        for (unsigned call = 0; call < BENCH_CALLS; call++)
            if (r->cases[i].figure[call][0].measured)
                row(&t, &r->cases[i], call);
    return table_print(&t, o, 0, err);
}

int bench_report_table(const struct bench_report *r, struct out *o, deja_error *err)
{
    const struct bench_host *h = &r->host;
    out_printf(o, "deja %s; %s; %s (%s); SIMD: %s; huge pages: %s\n", deja_version(), h->cpu,
               h->compiler, h->flags, h->simd, h->huge_pages);
    int rc = r->n > 0 ? case_table(r, o, err) : DEJA_OK;
    if (rc == DEJA_OK && r->n_results > 0)
        rc = job_table(r, o, err);
    return rc == DEJA_OK && r->has_url ? url_table(r, o, err) : rc;
}

/* --- JSON ------------------------------------------------------------------- */

static void json_operation(struct json *j, const struct bench_case *c, unsigned call, unsigned op)
{
    const struct bench_figure *f = &c->figure[call][op];
    if (!f->measured)
        return;
    json_object(j, NULL);
    json_string(j, "operation", bench_ops[op].name);
    json_string(j, "call", bench_call_names[call]);
    json_real(j, "ns", f->ns);
    json_real(j, "ratio", f->ratio.median);
    json_real(j, "ratio_low", f->ratio.low);
    json_real(j, "ratio_high", f->ratio.high);
    json_real(j, "ratio_fused", f->fused);
    json_end(j);
}

static void json_case(struct json *j, const struct bench_case *c)
{
    json_object(j, NULL);
    json_string(j, "case", c->section);
    json_string(j, "kind", bench_case_name(c));
    json_uint(j, "n", c->n);
    json_real(j, "p", c->p);
    json_uint(j, "bytes", c->bytes);
    json_real(j, "bits_per_key", bits_per_key(c));
    json_real(j, "rate", c->rate);
    json_real(j, "rate_expected", c->rate_expected >= 0 ? c->rate_expected : 0.0 / 0.0);
    json_uint(j, "rate_probes", c->probes);
    json_real(j, "hash_ns", c->hash_ns);
    json_real(j, "line_ns", c->line_ns);
    json_real(j, "limit_ns", c->hash_ns + c->line_ns);
    json_real(j, "fused_ns", c->fused_ns);
    json_real(j, "line_changed_ns", c->change_ns);
    json_uint(j, "prefetch_distance", c->distance);
    json_uint(j, "fused_lot", c->fused_lot);
    json_uint(j, "rounds", c->rounds);
    json_uint(j, "keys_a_round", c->lot);
    json_real(j, "key_bytes", c->key_len);
    json_array(j, "operations");
    for (unsigned call = 0; call < BENCH_CALLS; call++)
        for (unsigned op = 0; op < BENCH_OPS; op++)
            json_operation(j, c, call, op);
    json_end(j);
    json_end(j);
}

static void json_result(struct json *j, const struct bench_result *x)
{
    json_object(j, NULL);
    json_string(j, "case", x->section);
    json_string(j, "job", x->job->name);
    json_string(j, "kind", deja_kind_name(x->kind));
    json_uint(j, "n", x->n);
    json_real(j, "p", x->p);
    json_uint(j, "bytes", x->bytes);
    json_uint(j, "rounds", x->rounds);
    json_string(j, "per", x->job->per);
    json_real(j, "ns", x->ns);
    json_string(j, "limit", x->job->limit);
    json_real(j, "limit_ns", x->limit_ns);
    json_real(j, "ratio", x->ratio.median);
    json_real(j, "ratio_low", x->ratio.low);
    json_real(j, "ratio_high", x->ratio.high);
    json_end(j);
}

static void json_url(struct json *j, const struct bench_url *u)
{
    json_object(j, NULL);
    json_string(j, "profile", deja_profile_name(u->profile));
    json_real(j, "hash_ns", u->hash_ns);
    json_real(j, "all_ns", u->canon_ns);
    json_real(j, "all_ratio", u->canon.median);
    json_real(j, "changed_share", u->changed);
    json_end(j);
}

void bench_report_json(const struct bench_report *r, struct out *o)
{
    struct json j;
    json_begin(&j, o);
    json_object(&j, NULL);
    json_string(&j, "version", deja_version());
    json_string(&j, "cpu", r->host.cpu);
    json_string(&j, "compiler", r->host.compiler);
    json_string(&j, "flags", r->host.flags);
    json_string(&j, "simd", r->host.simd);
    json_string(&j, "huge_pages", r->host.huge_pages);
    json_uint(&j, "memory_available", r->host.available);
    json_string(&j, "urls", r->urls);
    json_array(&j, "cases");
    for (size_t i = 0; i < r->n; i++)
        json_case(&j, &r->cases[i]);
    json_end(&j);
    json_array(&j, "jobs");
    for (size_t i = 0; i < r->n_results; i++)
        json_result(&j, &r->results[i]);
    json_end(&j);
    json_array(&j, "canonical");
    for (size_t i = 0; r->has_url && i < BENCH_PROFILES; i++)
        json_url(&j, &r->url[i]);
    json_end(&j);
    json_end(&j);
}

/* --- CSV -------------------------------------------------------------------- */

/* Quoted, because a processor's name may contain commas and quotes. */
static void csv_text(struct out *o, const char *text)
{
    out_text(o, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            out_text(o, "\"");
        out_write(o, text, 1);
    }
    out_text(o, "\",");
}

static void csv_reals(struct out *o, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out_printf(o, "%s%s", num_exact(x[i]).s, i + 1 < n ? "," : "\n");
}

/* The columns that all rows have. */
static void csv_begin(const struct bench_report *r, const char *section, const char *kind,
                      const char *operation, const char *call, struct out *o)
{
    const char *const texts[] = {deja_version(),   r->host.cpu,
                                 r->host.compiler, r->host.flags,
                                 r->host.simd,     r->host.huge_pages,
                                 section,          kind,
                                 operation,        call};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        csv_text(o, texts[i]);
}

static void csv_row(const struct bench_report *r, const struct bench_case *c, unsigned call,
                    unsigned op, struct out *o)
{
    const struct bench_figure *f = &c->figure[call][op];
    csv_begin(r, c->section, bench_case_name(c), bench_ops[op].name, bench_call_names[call], o);
    out_printf(o, "%" PRIu64 ",%" PRIu64 ",%u,%zu,", c->n, c->bytes, c->rounds, c->lot);
    const double reals[] = {c->p,         bits_per_key(c), c->rate,         c->hash_ns,
                            c->line_ns,   c->fused_ns,     c->change_ns,    c->key_len,
                            f->fused,     f->ns,           f->ratio.median, f->ratio.low,
                            f->ratio.high};
    csv_reals(o, reals, sizeof reals / sizeof reals[0]);
}

static void csv_result(const struct bench_report *r, const struct bench_result *x, struct out *o)
{
    csv_begin(r, x->section, deja_kind_name(x->kind), x->job->name, x->job->per, o);
    out_printf(o, "%" PRIu64 ",%" PRIu64 ",%u,,%s,%s,,,,,,,,", x->n, x->bytes, x->rounds,
               num_exact(x->p).s, num_exact((double)x->bytes * 8 / (double)x->n).s);
    const double reals[] = {x->ns, x->ratio.median, x->ratio.low, x->ratio.high};
    csv_reals(o, reals, sizeof reals / sizeof reals[0]);
}

void bench_report_csv(const struct bench_report *r, struct out *o)
{
    out_text(o, "version,cpu,compiler,flags,simd,huge_pages,case,kind,operation,call,n,bytes,"
                "rounds,keys_a_round,p,bits_per_key,rate,hash_ns,line_ns,fused_ns,"
                "line_changed_ns,key_bytes,ratio_fused,ns,ratio,ratio_low,ratio_high\n");
    for (size_t i = 0; i < r->n; i++)
        for (unsigned call = 0; call < BENCH_CALLS; call++)
            for (unsigned op = 0; op < BENCH_OPS; op++)
                if (r->cases[i].figure[call][op].measured)
                    csv_row(r, &r->cases[i], call, op, o);
    for (size_t i = 0; i < r->n_results; i++)
        csv_result(r, &r->results[i], o);
}
