/* allowlist.c - the keys of `build --except`; see allowlist.h. */
#include "cli/session/allowlist.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"

/* Is record i the first of its line?  The others are broader expressions. */
static bool is_own(const struct block *b, size_t i)
{
    return i == 0 || b->ends[i] != b->ends[i - 1];
}

/* With profile gsb: the first expression of each line is an exception in any case. */
static int except_expressions(deja_builder *b, const struct batch *batch, deja_error *err)
{
    const struct block *block = &batch->block;
    int rc = DEJA_OK;
    for (size_t i = 0, key = 0; i < block->n && rc == DEJA_OK; i++) {
        if (!block->keys[i].data)
            continue;
        const unsigned flags = is_own(block, i) ? 0 : DEJA_EXCEPT_UNLESS_ADDED;
        rc = deja_builder_except_hashed(b, batch->hash + key++, 1, flags, err);
    }
    return rc;
}

static int read_all(struct session *s, deja_builder *b, deja_error *err)
{
    struct batch *batch;
    const bool several = s->urls.use == URLKEYS_LOOK_UP;
    int rc;
    while ((rc = session_next(s, &batch, err)) > 0) {
        rc = several ? except_expressions(b, batch, err)
                     : deja_builder_except_hashed(b, batch->hash, batch->keyed, 0, err);
        if (rc < 0)
            return rc;
        session_fold(s, batch, 0); /* counts lines instead of expressions */
    }
    return rc;
}

int allowlist_read(struct allowlist *a, const char *path, const struct call *call,
                   const struct session *blocked, struct pipeline_hash hash, deja_builder *b,
                   deja_error *err)
{
    const struct shared_options *c = blocked->shared;
    const deja_url_rules *rules = blocked->urls.rules;
    const bool gsb = rules && deja_url_rules_profile(rules) == DEJA_URL_GSB;
    struct session s = {.shared = c, .hash = hash};
    struct call list = *call;
    list.operands = &path;
    list.n_operands = 1;
    int rc = urlkeys_init(&s.urls, c, gsb ? URLKEYS_LOOK_UP : URLKEYS_STORE, err);
    if (rc == DEJA_OK && rules)
        rc = urlkeys_use_version(&s.urls, path, deja_url_rules_id(rules), err);
    if (rc == DEJA_OK)
        rc = session_open(&s, &list, c, 0, NULL, err);
    if (rc == DEJA_OK)
        rc = read_all(&s, b, err);
    if (rc == DEJA_OK) {
        s.urls.use = URLKEYS_STORE; /* lines without a key are skipped */
        session_warn_missing(&s);
    }
    *a = (struct allowlist){.path = path, .lines = s.records};
    session_close(&s);
    return rc;
}

int allowlist_finish(struct allowlist *a, const deja_builder *b, deja_error *err)
{
    const deja_excepted none = DEJA_EXCEPTED_INIT;
    a->excepted = none;
    return deja_builder_excepted(b, &a->excepted, err);
}

void allowlist_report(const struct allowlist *a, struct console *console, bool json,
                      const char *filter)
{
    const deja_excepted *e = &a->excepted;
    const struct fail_path path = fail_path(a->path);
    if (!json)
        console_note(console, "%s: %s read, %s left out of the filter, %s overruled by exceptions",
                     path.text, num_lines(a->lines).s, num_of(e->left_out, "key").s,
                     num_of(e->overruled, "false positive").s);
    if (e->kept)
        console_warn(console,
                     "some entries of %s still match, because their site or folder is blocked; "
                     "list them: deja check --url=gsb --why %s %s",
                     path.text, fail_path(filter).text, path.text);
}

void allowlist_json(const struct allowlist *a, struct json *j)
{
    json_object(j, "except");
    json_string(j, "file", a->path);
    json_uint(j, "read", a->lines);
    json_uint(j, "left_out", a->excepted.left_out);
    json_uint(j, "overruled", a->excepted.overruled);
    json_uint(j, "covered", a->excepted.kept);
    json_end(j);
}
