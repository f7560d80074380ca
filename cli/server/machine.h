/* machine.h - one server of a cache on F servers (machines.h), as the files of this cache see it. */
#ifndef CLI_SERVER_MACHINE_H
#define CLI_SERVER_MACHINE_H
#include "cli/server/keyspool.h"
#include "cli/server/lot.h"
#include "cli/server/machines.h"
#include "cli/server/peer.h"

enum machine_stage {
    MACHINE_AWAY,    /* no connection */
    MACHINE_NAMED,   /* asked which filters it has */
    MACHINE_SHOWN,   /* asked for their parameters */
    MACHINE_CATCHES, /* gets the keys of the spool */
    MACHINE_READY,
    MACHINE_WORKS, /* has requests of the current batch */
    MACHINE_LOST   /* its filters are gone, or are others */
};

/* What all machines of a cache have in common. */
struct machine_facts {
    uint32_t shards;
    char profile[CACHEFORM_PROFILE];
    uint64_t rules;
    uint64_t key_check; /* of the secret key: names the set of F filters */
    uint64_t visit, hashes, capacity, bits;
    char kind[16], hash[16];
};

#define MACHINE_SECRET 80 /* of a text with a secret */
/* The description of one machine, at its key NAME.i. */
struct machine_text {
    uint32_t number, of;
    bool making;                 /* machine 1, while the cache is being made: */
    char secret[MACHINE_SECRET]; /* the secret key in hex, or "seed:" and a number */
    struct machine_facts facts;  /* otherwise: shards, profile, rules, key_check */
};

struct machine {
    struct machines *set;
    uint32_t number; /* 1 .. F */
    struct peer peer;
    enum machine_stage stage;
    char (*shard)[LOT_NAME_LEN];  /* NULL until the number of shards is known */
    struct lot lot;               /* what it is asked now: keys, ... */
    struct wire_request *request; /* ... or other requests */
    size_t n_requests;
    bool acked;    /* the last lot, completely */
    bool was_here; /* has been MACHINE_READY */
    struct machine_text text;
    struct keyspool spool;
    struct buffer piece; /* of the spool ... */
    deja_slice *key;     /* ... and its keys */
    double left;         /* when it was lost; 0: the user does not know */
    uint64_t offered;    /* keys that it has got, at least */
    uint64_t delivered, bytes;
    double fp_now, distinct;
};

struct machines {
    struct machine one[MACHINES_MOST];
    uint32_t n;
    char name[180], spool_dir[400];
    struct machine_facts facts;
    struct cacheform form;
    bool known; /* the facts */
    bool existed, opened;
    struct machines_options opt;
    uint64_t *by_mask;  /* keys answered by the machines with these bits */
    deja_error refused; /* why the set cannot be used, if its status is not 0 */
};

/* --- machine.c: one machine ------------------------------------------------------- */

/* Moves a machine whose peer has nothing to do to its next stage. */
void machine_step(struct machine *m);
/* Sends requests that are made of words; `words` is a list of lists, each ended by NULL.  They are
 * copied. */
bool machine_ask(struct machine *m, const char *const *words, size_t n);
void machine_drop(struct machine *m); /* requests and replies */
void machine_note(const struct machine *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Gives the machine up for the rest of the run. */
void machine_give_up(struct machine *m, const char *why);
bool machine_name_shards(struct machine *m, uint32_t n);

/* --- machinetext.c: what a machine says about itself -------------------------------- */

/* Texts of at most MACHINE_TEXT bytes. */
#define MACHINE_TEXT 256
void machinetext_write(const struct machine_text *t, char text[MACHINE_TEXT]);
bool machinetext_read(const char *text, struct machine_text *out);
/* Asks for the texts NAME.1 .. NAME.F, one of which must be that of the machine itself. */
bool machinetext_ask(struct machine *m);
enum machine_found {
    MACHINE_FINE,
    MACHINE_EMPTY,  /* no text: a new server, or one that lost its data */
    MACHINE_UNMADE, /* the cache is being made */
    MACHINE_WRONG   /* a text that does not fit; the reason is in *err */
};
enum machine_found machinetext_take(struct machine *m, deja_error *err);
/* The same for the filters themselves. */
bool machinetext_ask_info(struct machine *m);
enum machine_found machinetext_take_info(struct machine *m, deja_error *err);

/* --- machines_make.c ------------------------------------------------------------------ */

/* Makes a new cache on all machines, or completes one whose maker has stopped. */
int machines_make(struct machines *m, deja_error *err);
/* Waits until the machines in these stages have left them. */
int machines_settle(struct machines *m, double seconds);

#endif
