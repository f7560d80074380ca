/* guard.c - turns the truncation of a mapped file into an error instead of a crash.
 *
 * If a mapped file is truncated, the next access to a missing page raises SIGBUS, often in the
 * middle of a batch.  So does a page that a failing disk cannot read.  A library must not change
 * the signals of its process, so nothing happens here unless the program asks for it
 * (deja_files_guard).  Then:
 *
 *   handler    finds the mapping of the address, sets its `lost`, maps zeros over the page and all
 *              that follow, and returns: the access is repeated and succeeds
 *   batch.c    checks `lost` after every batch, before it returns the answers.  Zeros would mean
 *              "new" for a key that was added, so the answers are discarded and the call fails
 *
 * The handler sets `lost` before it maps the zeros, and batches check it after they have read the
 * bodies.  So a thread that reads the zeros without getting a signal also sees `lost`.
 *
 * A file that was truncated and extended again, as by `cp`, need not raise a signal: its pages
 * exist, with different bytes.  So each check also compares the header's checksum in the mapping
 * with the original one (file.h).  That misses a body that was overwritten under an intact header;
 * deja_file_verify finds it.
 *
 * The handler runs in the thread that accessed the page, at an instruction of this library, so it
 * never interrupts the functions below.  It takes no lock and allocates nothing.  POSIX does not
 * list mmap as safe in a handler, but it is a plain system call wherever deja runs.  The mappings
 * are a linked list: a mutex protects adding and removing entries, but not walking the list; a
 * thread that removes an entry waits until no handler is walking the list before it frees the
 * memory.  A signal that is not about one of these mappings goes to the previous handler, or has
 * its previous effect.  Threads that block SIGBUS are not protected: the kernel kills the
 * process. */
#include "store/guard.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "store/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct dj_guard *) mappings;
static atomic_int walks;         /* handlers that are walking the list */
static struct sigaction earlier; /* the previous action; set once, before our handler */
static bool installed;

void dj_guard_join(struct dj_guard *g, const uint8_t *map, size_t len)
{
    g->begin = map;
    g->len = len;
    pthread_mutex_lock(&changing);
    atomic_store(&g->next, atomic_load(&mappings));
    atomic_store(&mappings, g);
    pthread_mutex_unlock(&changing);
}

void dj_guard_leave(struct dj_guard *g)
{
    if (!g->len)
        return;
    pthread_mutex_lock(&changing);
    _Atomic(struct dj_guard *) *at = &mappings;
    while (atomic_load(at) != g)
        at = &atomic_load(at)->next;
    atomic_store(at, atomic_load(&g->next));
    pthread_mutex_unlock(&changing);
    while (atomic_load(&walks)) /* a handler that started earlier may still use this entry */
        sched_yield();
    g->len = 0;
}

/* --- The handler ------------------------------------------------------------- */

/* Maps zeros once, from the missing page to the end, however many pages are missing. */
static bool put_zeros(struct dj_guard *g, const uint8_t *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const size_t from = (size_t)(address - g->begin) & ~(page - 1);
    atomic_store(&g->lost, true);
    return dj_os_map_zeros((void *)((uintptr_t)g->begin + from), g->len - from);
}

static bool replace_lost(const uint8_t *address)
{
    bool done = false;
    atomic_fetch_add(&walks, 1);
    for (struct dj_guard *g = atomic_load(&mappings); g && !done; g = atomic_load(&g->next))
        if ((uintptr_t)address - (uintptr_t)g->begin < g->len)
            done = put_zeros(g, address);
    atomic_fetch_sub(&walks, 1);
    return done;
}

/* Handles a signal that is not about our mappings as if this handler did not exist. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    const bool sent = info->si_code <= 0; /* by kill: no instruction will fail again */
    if (earlier.sa_flags & SA_SIGINFO) {
        earlier.sa_sigaction(sig, info, context);
    } else if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
        earlier.sa_handler(sig);
    } else if (!sent || earlier.sa_handler == SIG_DFL) {
        (void)signal(sig, SIG_DFL);
        if (sent)
            (void)raise(sig); /* delivered as the handler returns */
    }
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
    const int saved = errno;
    const bool ours = info->si_code > 0 && replace_lost(info->si_addr);
    errno = saved;
    if (!ours)
        pass_on(sig, info, context);
}

int deja_files_guard(deja_error *err)
{
    struct sigaction action;
    int rc = DEJA_OK;
    pthread_mutex_lock(&changing);
    if (!installed && sigaction(SIGBUS, NULL, &earlier) < 0)
        rc = dj_fail_errno(err, "cannot read the action of SIGBUS");
    if (rc == DEJA_OK && !installed) {
        action.sa_sigaction = on_sigbus;
        action.sa_mask = earlier.sa_mask;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        installed = sigaction(SIGBUS, &action, NULL) == 0;
        if (!installed)
            rc = dj_fail_errno(err, "cannot catch SIGBUS");
    }
    pthread_mutex_unlock(&changing);
    return rc;
}
