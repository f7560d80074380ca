/* signals.c - the first Ctrl-C asks to stop, the second one kills.
 *
 * A signal handler takes no argument from us, so its two variables are static. */
#include "tools/base/signals.h"
#include <pthread.h>
#include <stddef.h>

static const int asking[] = {SIGINT, SIGTERM, SIGHUP};
#define N_ASKING (sizeof asking / sizeof asking[0])

static atomic_bool stop;
static volatile sig_atomic_t first; /* the signal that asked; 0: none */

static void on_signal(int sig)
{
    if (atomic_exchange(&stop, true)) {
        (void)signal(sig, SIG_DFL);
        (void)raise(sig); /* delivered as the handler returns */
    } else {
        first = sig;
    }
}

const atomic_bool *signals_install(void)
{
    struct sigaction old, action = {.sa_handler = on_signal}; /* no SA_RESTART */
    (void)sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_ASKING; i++) {
        if (sigaction(asking[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            (void)sigaction(asking[i], &action, NULL);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return &stop;
}

void signals_mask(sigset_t *old)
{
    sigset_t set;
    (void)sigemptyset(&set);
    for (size_t i = 0; i < N_ASKING; i++)
        (void)sigaddset(&set, asking[i]);
    (void)pthread_sigmask(SIG_BLOCK, &set, old);
}

void signals_unmask(const sigset_t *old)
{
    (void)pthread_sigmask(SIG_SETMASK, old, NULL);
}

void signals_finish(void)
{
    if (first == 0)
        return;
    (void)signal(first, SIG_DFL);
    (void)raise(first);
}
