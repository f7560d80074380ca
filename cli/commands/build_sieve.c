/* build_sieve.c - deja build --sieve, and deja add to a sieve; see build_sieve.h. */
#include "cli/commands/build_sieve.h"
#include "cli/session/newsieve.h"
#include "cli/session/sieveadd.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"

int build_sieve_check(const struct build_options *o, deja_error *err)
{
    const struct shared_options *c = &o->shared;
    const struct shared_word format = shared_foreign_word(c->foreign);
    const struct conflict not =
        c->foreign       ? (struct conflict){format.text, "a sieve is a directory of deja"}
        : c->filter.kind ? (struct conflict){"-k", "a sieve has its own filter"}
        : o->except      ? (struct conflict){"--except", "a sieve never finds a key by mistake"}
        : c->mode ? (struct conflict){"--mode", "a sieve is readable only by its owner; use chmod"}
                  : (struct conflict){NULL, NULL};
    return sieves_refuse("--sieve", not, err);
}

/* --- add ------------------------------------------------------------------------ */

int add_sieve_run(struct call *call, deja_error *err)
{
    const struct shared_options *c = call->options;
    const char *path = call->operands[0];
    struct session s = {0};
    struct sieveadd add;
    deja_sieve *sieve = NULL;
    deja_sieve_report now = DEJA_SIEVE_REPORT_INIT;
    uint8_t key[DEJA_KEY_LEN];
    deja_options given;
    int rc = session_begin(&s, c, URLKEYS_STORE, key, &given, err);
    if (rc == DEJA_OK)
        rc = sieves_open(&s, path, DEJA_OPEN_WRITE, &given, &sieve, err);
    sys_wipe(key, sizeof key);
    if (rc == DEJA_OK)
        rc = session_open(&s, call, c, 1, NULL, err);
    if (rc == DEJA_OK)
        rc = sieveadd_begin(&add, sieve, path, &s, err);
    if (rc == DEJA_OK)
        rc = sieveadd_run(&add, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_stats(sieve, &now, err);
    if (rc == DEJA_OK)
        sieveadd_report(&add, &now);
    session_close(&s);
    deja_sieve_free(sieve);
    return rc;
}

/* --- build ---------------------------------------------------------------------- */

struct job {
    const struct call *call;
    struct shared_options shared; /* with the URL profile of --like */
    struct newsieve place;
    struct session session;
    struct sieveadd add;
    deja_sieve *sieve;
};

/* Creates an empty sieve with the secret key and the URL rules of another one. */
static int create_like(struct job *j, const char *path, const deja_options *given, deja_error *err)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve *like = NULL, *made = NULL;
    opt.key = given->key;
    if (given->seed)
        return fail(err, OPT_USAGE, "--like and --seed cannot be combined: --like copies the key");
    int rc = deja_sieve_exists(path)
                 ? deja_sieve_open(path, 0, &opt, &like, err)
                 : fail(err, DEJA_EINVAL,
                        "%s is not a sieve; with --sieve, --like copies the secret key and URL "
                        "profile of a sieve",
                        fail_path(path).text);
    if (rc == DEJA_OK)
        rc = sieves_name(deja_sieve_create(j->place.temporary, like, NULL, &made, err),
                         j->place.path, err);
    deja_sieve_free(made);
    deja_sieve_free(like);
    return rc;
}

static int create(struct job *j, deja_error *err)
{
    const struct build_options *o = j->call->options;
    uint8_t key[DEJA_KEY_LEN];
    deja_options given;
    int rc = session_begin(&j->session, &j->shared, URLKEYS_STORE, key, &given, err);
    if (rc == DEJA_OK && !o->like)
        rc = shared_check_url(&j->shared, err);
    if (rc == DEJA_OK)
        rc = newsieve_begin(&j->place, j->call->operands[0], j->shared.force, err);
    if (rc == DEJA_OK && o->like)
        rc = create_like(j, o->like, &given, err);
    if (rc == DEJA_OK)
        rc =
            sieves_open(&j->session, j->place.temporary, DEJA_OPEN_CREATE, &given, &j->sieve, err);
    sys_wipe(key, sizeof key);
    return rc;
}

/* The report needs the sieve, which must be closed before it gets its name. */
static int finish(struct job *j, deja_error *err)
{
    const char *path = j->call->operands[0];
    if (j->session.stopped) {
        console_note(j->call->console, "stopped: %s was not created", fail_path(path).text);
        return DEJA_OK;
    }
    deja_sieve_report now = DEJA_SIEVE_REPORT_INIT;
    int rc = deja_sieve_stats(j->sieve, &now, err);
    deja_sieve_free(j->sieve);
    j->sieve = NULL;
    if (rc == DEJA_OK)
        rc = newsieve_finish(&j->place, err);
    if (rc == DEJA_OK) {
        session_note_bytes(&j->session, path);
        sieveadd_report(&j->add, &now);
    }
    return rc;
}

int build_sieve_run(struct call *call, deja_error *err)
{
    const struct build_options *o = call->options;
    struct job j = {.call = call, .shared = o->shared};
    sieves_note_ignored(call->console, &o->shared);
    int rc = create(&j, err);
    if (rc == DEJA_OK)
        rc = session_open(&j.session, call, &j.shared, 1, NULL, err);
    if (rc == DEJA_OK)
        rc = sieveadd_begin(&j.add, j.sieve, call->operands[0], &j.session, err);
    if (rc == DEJA_OK)
        rc = sieveadd_run(&j.add, err);
    if (rc == DEJA_OK)
        rc = finish(&j, err);
    session_close(&j.session);
    deja_sieve_free(j.sieve);
    newsieve_end(&j.place, call->console);
    return rc;
}
