/* guard.c - a file that is cut short while it is mapped becomes an error, not a crash.
 *
 * Whoever truncates a mapped file takes pages away under everybody who maps it.  The next access
 * to one of them, in the middle of a batch, is SIGBUS, and so is a page that a failing disk cannot
 * give.  A library has no business with the signals of its process, so nothing happens here unless
 * the program asks for it (deja_files_guard).  Then:
 *
 *   handler    finds the mapping that the address is in, sets its `lost`, puts zeros in the place
 *              of the page and all behind it, and returns: the access is done again and succeeds
 *   batch.c    looks at `lost` behind every batch, before its answers are handed out.  The zeros
 *              would say "new" for a key that is inside, so they are never believed: whatever was
 *              computed is thrown away, and the call fails
 *
 * `lost` is set before the zeros are there and looked at after the bodies were read, so another
 * thread that reads zeros without a signal of its own sees it as well.
 *
 * A file that was truncated and made longer again, as `cp` over it does, need not raise a signal:
 * its pages are there, with other bytes.  So each look also compares the header's checksum in the
 * mapping with the one that was there at first (file.h).  What remains is a body that is
 * overwritten under an intact header; that is what deja_file_verify finds.
 *
 * The handler.  It runs in the thread that touched the page, at an instruction of ours, and so
 * never inside the functions below.  It takes no lock and allocates nothing; mmap is not on
 * POSIX's list of what a handler may call, but it is a bare system call everywhere that deja runs.
 * The known mappings are a list: joining and leaving take turns by a mutex, walking takes none,
 * and who leaves waits until no walk is under way before its memory goes.  What is not about one
 * of these mappings goes to the handler that was there before, or has the effect that it would
 * have had.  Threads that block SIGBUS are not helped: the kernel ends them. */
#include "store/guard.h"
#include "core/base/status.h"
#include "store/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct dj_guard *) mappings;
static atomic_int walks;         /* handlers that look at the list now */
static struct sigaction earlier; /* what SIGBUS did; written once, before the handler is on */
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
    while (atomic_load(&walks)) /* a walk that began before may still stand on it */
        sched_yield();
    g->len = 0;
}

/* --- The handler ------------------------------------------------------------- */

/* Past libc where that is easy: what a sanitizer has put around mmap is nothing for a handler. */
static bool map_zeros(void *at, size_t len)
{
    static const int access = PROT_READ | PROT_WRITE;
    static const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
#ifdef __LP64__
    return syscall(SYS_mmap, at, len, access, flags, -1, 0) != -1;
#else
    return mmap(at, len, access, flags, -1, 0) != MAP_FAILED;
#endif
}

/* One mapping of zeros however many pages are gone: from the first that was missed to the end. */
static bool put_zeros(struct dj_guard *g, const uint8_t *address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const size_t from = (size_t)(address - g->begin) & ~(page - 1);
    atomic_store(&g->lost, true);
    return map_zeros((void *)((uintptr_t)g->begin + from), g->len - from);
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

/* Not ours: as if we were not here. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
    const bool sent = info->si_code <= 0; /* by kill and the like: no instruction fails again */
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
        rc = dj_fail_errno(err, "cannot ask what SIGBUS does");
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
