/* child.h - runs work in another process, which reports its result by its exit status: cmocka's
 * assertions, skips and signal handlers work only in the parent. */
#ifndef CHILD_H
#define CHILD_H
#include "scratch.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum {
    CHILD_FINE = 0,
    CHILD_SKIPS = 77,
    CHILD_KILLED = 1000 /* and the signal's number */
};

/* In a child: exit with a message if the condition does not hold. */
#define CHECK(holds)                                                                              \
    do {                                                                                          \
        if (!(holds)) {                                                                           \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #holds, strerror(errno));      \
            return 1;                                                                             \
        }                                                                                         \
    } while (0)

typedef int child_work(const char *path, int in, int out);

static SCRATCH_UNUSED pid_t start(child_work *work, const char *path)
{
    fflush(NULL);
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        _exit(work(path, -1, -1));
    }
    return pid;
}

static SCRATCH_UNUSED int end_of(pid_t pid)
{
    int status;
    MUST(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_KILLED + WTERMSIG(status);
}

/* Skips the test if the child could not run it on this machine. */
static SCRATCH_UNUSED void in_child(child_work *work, const char *path)
{
    const int status = end_of(start(work, path));
    if (status == CHILD_SKIPS)
        skip();
    assert_int_equal(status, CHILD_FINE);
}

#endif
