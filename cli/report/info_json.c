/* info_json.c - `deja info --json`: all numbers, with the names of deja.h. */
#include "cli/report/info_report.h"
#include "tools/base/number.h"
#include <math.h>

static void json_what(struct json *j, const deja_stats *s)
{
    json_string(j, "kind", deja_kind_name(s->kind));
    json_string(j, "part_kind", deja_kind_name(s->part_kind));
    json_uint(j, "parts", s->parts);
    json_uint(j, "filters", s->filters);
    json_uint(j, "machine", s->machine);
    json_uint(j, "hashes", s->hashes);
    json_uint(j, "cache_lines", s->cache_lines);
    json_string(j, "hash", deja_hash_name(s->hash));
    json_bool(j, "keyed", s->keyed);
    json_bool(j, "key_apart", s->flags & DEJA_KEY_APART);
    json_string(j, "profile", deja_profile_name(s->profile)); /* NULL: null */
    char rules[20];
    (void)snprintf(rules, sizeof rules, "%016llx", (unsigned long long)s->url_rules);
    json_string(j, "url_rules", s->profile != 0 ? rules : NULL);
    json_uint(j, "capacity", s->capacity);
    json_real(j, "fp_rate", s->fp_rate);
    json_uint(j, "bits", s->bits);
    json_uint(j, "bytes", s->bytes);
}

static void json_removals(struct json *j, const deja_stats *s)
{
    if (s->counter_bits != 0) {
        json_uint(j, "counter_bits", s->counter_bits);
        json_bool(j, "minimal_increase", s->flags & DEJA_MINIMAL_INCREASE);
        json_bool(j, "spread", s->flags & DEJA_SPREAD);
        json_uint(j, "largest", s->largest);
        json_uint(j, "saturated", s->saturated);
    }
    if (s->deletions_capacity) {
        json_uint(j, "deletions", s->deletions);
        json_uint(j, "deletions_capacity", s->deletions_capacity);
        json_uint(j, "hidden", s->hidden);
        json_real(j, "fn_now", s->fn_now);
    }
    if (s->exceptions)
        json_uint(j, "exceptions", s->exceptions);
    if (s->counter_bits != 0 || s->deletions_capacity) {
        json_uint(j, "removed", s->removed);
        json_uint(j, "refused", s->refused);
    }
}

static void json_dates(struct json *j, const deja_stats *s)
{
    json_string(j, "oldest_day", s->oldest_day ? num_day(s->oldest_day).s : NULL);
    json_string(j, "newest_day", s->newest_day ? num_day(s->newest_day).s : NULL);
}

static void json_window(struct json *j, const deja_stats *s)
{
    json_uint(j, "generations", s->generations);
    json_uint(j, "window_seconds", s->window_seconds);
    json_uint(j, "turns", s->turns);
    json_uint(j, "clock_behind", s->clock_behind);
    json_uint(j, "window_keys", s->window_keys);
    json_uint(j, "crowded", s->crowded);
    json_array(j, "generation_keys");
    for (uint32_t i = 0; i <= s->generations; i++)
        json_uint(j, NULL, s->generation_keys[i]);
    json_end(j);
    json_array(j, "generation_age");
    for (uint32_t i = 0; i <= s->generations; i++)
        json_uint(j, NULL, s->generation_age[i]);
    json_end(j);
}

static void json_layers(struct json *j, const struct info_report *r)
{
    const deja_stats *s = &r->s;
    const char delimiter[2] = {(char)s->delimiter, '\0'};
    json_string(j, "mode", s->flags & DEJA_LAYERED_PAPER ? "paper" : "salted");
    json_bool(j, "words", s->flags & DEJA_LAYERED_WORDS);
    json_bytes(j, "delimiter", delimiter, s->delimiter != 0);
    json_uint(j, "layers_most", s->layers_most);
    json_uint(j, "familiar", s->familiar);
    json_array(j, "layers");
    for (uint32_t i = 0; i <= s->layers; i++) {
        const deja_layer *l = &r->layer[i];
        json_object(j, NULL);
        json_uint(j, "layer", i); /* 0: the XOR layer */
        json_uint(j, "segments", l->segments);
        json_uint(j, "capacity", l->capacity);
        json_uint(j, "parts", l->parts);
        json_uint(j, "hashes", l->hashes);
        json_uint(j, "bytes", l->bytes);
        json_real(j, "fp_now", l->fp_now);
        json_end(j);
    }
    json_end(j);
}

static void json_content(struct json *j, const struct info_report *r)
{
    const deja_stats *s = &r->s;
    json_uint(j, "offered", s->offered);
    json_uint(j, "keys", s->keys);
    json_real(j, "distinct", s->distinct);
    json_uint(j, "bits_set", s->bits_set);
    json_real(j, "fill", s->fill);
    json_real(j, "fp_now", s->fp_now);
    json_real(j, "fp_planned", r->rate_planned);
    json_real(j, "lost", s->lost);
    json_real(j, "room", fmax(r->room, 0));
    json_bool(j, "over_capacity", r->over_capacity);
    json_real(j, "bits_expected", s->bits_expected);
    json_real(j, "bits_sigma", s->bits_sigma);
    json_real(j, "surprise_sigma", r->surprise);
    json_bool(j, "pollution", r->polluted);
    json_uint(j, "visit", s->visit);
    json_uint(j, "visits_before", s->visits_before);
    json_uint(j, "last_distinct", s->last_distinct);
    json_real(j, "last_lost", s->last_lost);
    json_real(j, "missed", s->missed);
    json_uint(j, "unions", s->unions);
    json_uint(j, "merged_parts", s->merged_parts);
    json_uint(j, "other_keys", s->other_keys);
    json_real(j, "merged_rate", s->merged_rate);
    json_uint(j, "folds", s->folds);
    json_uint(j, "format", s->format);
    json_uint(j, "syncs", s->syncs);
    json_bool(j, "unclean", s->unclean);
    json_removals(j, s);
    if (s->flags & DEJA_DATES)
        json_dates(j, s);
    if (deja_kind_can(s->kind, DEJA_CAN_EXPIRE))
        json_window(j, s);
    if (deja_kind_can(s->kind, DEJA_CAN_LAYER))
        json_layers(j, r);
}

void info_report_json(const struct info_report *r, struct json *j, const deja_error *failed)
{
    json_object(j, NULL);
    json_bytes(j, "file", r->path, strlen(r->path));
    if (failed) {
        json_string(j, "error", failed->text);
    } else {
        json_what(j, &r->s);
        json_content(j, r);
    }
    json_end(j);
}
