/* plan_json.c - `deja plan --json`. */
#include "cli/report/plan_report.h"
#include <math.h>

static void json_row(struct json *j, const struct plan_report *s, const struct plan_row *r)
{
    const deja_plan *p = &r->plan;
    json_object(j, NULL);
    json_string(j, "kind", deja_kind_name(r->kind));
    json_bool(j, "possible", r->possible);
    if (r->possible) {
        json_uint(j, "capacity", p->capacity);
        json_real(j, "fp_rate", p->fp_rate);
        json_uint(j, "bytes", p->bytes);
        json_uint(j, "bits", p->bits);
        json_real(j, "bits_per_key", p->bits_per_key);
        json_uint(j, "hashes", p->hashes);
        json_uint(j, "filters", p->filters);
        json_string(j, "hash", deja_hash_name(p->hash));
        json_real(j, "lost", p->lost);
        json_real(j, "lost_per_million", plan_per_million(p));
        json_string(j, "reads", plan_reads(p).s);
        if (p->deletions != 0) {
            json_uint(j, "deletions", p->deletions);
            json_real(j, "fn_rate", p->fn_rate);
        }
        if (s->key_length > 0)
            json_real(j, "key_table_ratio", plan_table_ratio(s, p));
    } else {
        json_string(j, "why_not", r->why_not.text);
    }
    json_end(j);
}

static void json_key_table(struct json *j, const struct plan_report *s)
{
    const struct plan_table t = plan_table_of(s);
    json_object(j, "key_table");
    json_uint(j, "key_length", s->key_length);
    json_uint(j, "capacity", t.capacity);
    json_uint(j, "bytes", t.bytes);
    json_real(j, "bits_per_key", t.bits_per_key);
    json_end(j);
}

static void json_tradeoff(struct json *j, const struct plan_report *s)
{
    const uint64_t n = plan_first(s)->plan.capacity;
    json_array(j, "tradeoff");
    for (int i = 0; i < PLAN_RATES; i++) {
        json_object(j, NULL);
        json_real(j, "fp_rate", plan_rates[i]);
        json_object(j, "bits_per_key");
        for (size_t k = 0; k < s->n; k++) {
            double bits = plan_bits(s->row[k].kind, n, plan_rates[i]);
            json_real(j, deja_kind_name(s->row[k].kind), bits > 0 ? bits : NAN);
        }
        json_end(j);
        json_end(j);
    }
    json_end(j);
}

static void json_filling(struct json *j, const struct plan_report *s)
{
    struct plan_filled f;
    json_array(j, "filling");
    for (size_t i = 0; i < PLAN_FILLINGS; i++) {
        if (!plan_filling(s, i, &f))
            continue;
        json_object(j, NULL);
        json_uint(j, "keys", f.plan.capacity);
        json_real(j, "fp_rate", f.plan.fp_rate);
        json_real(j, "lost", f.plan.lost);
        json_end(j);
    }
    json_end(j);
}

void plan_json(const struct plan_report *s, struct out *o)
{
    struct json j;
    json_begin(&j, o);
    json_object(&j, NULL);
    json_array(&j, "kinds");
    for (size_t i = 0; i < s->n; i++)
        json_row(&j, s, &s->row[i]);
    json_end(&j);
    if (s->key_length > 0)
        json_key_table(&j, s);
    json_tradeoff(&j, s);
    if (s->c->filter.kind != 0 && !deja_kind_can(s->c->filter.kind, DEJA_CAN_BUILD) &&
        !deja_kind_can(s->c->filter.kind, DEJA_CAN_EXPIRE))
        json_filling(&j, s);
    json_real(&j, "pages_missed_per_loss", PLAN_PAGES_PER_LOSS);
    json_string(&j, "recommended", s->best != NULL ? deja_kind_name(s->best->kind) : NULL);
    json_string(&j, "reason", s->best != NULL ? s->reason : NULL);
    json_string(&j, "command", s->command);
    json_end(&j);
}
