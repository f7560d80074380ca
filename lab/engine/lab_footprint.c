/* lab_footprint.c - the memory that a structure really takes; see lab_footprint.h.
 *
 * A child process builds the structure.  It shares all pages of the lab, so Private_Dirty of
 * /proc/self/smaps_rollup counts the pages that it has written itself: new ones, and those of freed
 * memory that malloc reuses.  The difference before and after is what the structure takes.  Before,
 * the child builds a small one, so that its stack, the code and scratch memory are not counted;
 * after, malloc returns free pages, which were only needed while building (malloc_trim).
 * mallinfo2 (glibc) says what malloc has handed out, which leaves out bodies that come from mmap
 * directly.
 *
 * After fork in a process with threads, a child may call malloc (C libraries see to that), but
 * must not need locks of other threads.  Experiments that measure memory are `timed`: they run
 * alone, and the only other thread waits. */
#include "lab/engine/lab_footprint.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#if __GLIBC_PREREQ(2, 33)
#define HAVE_MALLINFO2
#endif
#endif

#define KIB 1024.0
#define FEW 4096 /* keys of the small structure: as many as lab_add passes on at once */

/* --- In the child ---------------------------------------------------------------- */

/* What the child sends. */
struct answer {
    struct lab_footprint footprint[LAB_FOOTPRINTS];
    int rc;
    deja_error err;
};

/* A line such as "Private_Dirty:  112 kB", in bytes; NAN if it is missing. */
static double line_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line ? strtod(line + strlen(name), NULL) * KIB : NAN;
}

static double resident(void)
{
    char text[4096];
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NAN;
    size_t len = 0;
    ssize_t n;
    while (len < sizeof text - 1 && (n = read(fd, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    (void)close(fd);
    text[len] = '\0';
    return line_of(text, "\nPrivate_Dirty:") +
           line_of(text, "\nSwap:"); /* swapped out: still its */
}

static double allocated(void)
{
#ifdef HAVE_MALLINFO2
    const struct mallinfo2 m = mallinfo2();
    return (double)m.uordblks + (double)m.hblkhd;
#else
    return NAN;
#endif
}

static void trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

/* The first structure with few keys. */
static void warm_up(const struct lab_task *t, const struct lab_footprints *what)
{
    struct lab few = *t->lab;
    struct lab_task task = *t;
    few.keys.n = few.keys.n < FEW ? few.keys.n : FEW;
    task.lab = &few;
    task.owned = NULL;
    (void)what->build(&task, what->ctx);
    lab_release(&task);
    trim();
}

/* The state of the process after structure i, and what that one asked for. */
static struct lab_footprint build(struct lab_task *t, const struct lab_footprints *what, size_t i)
{
    const double asked = what->build(t, (const char *)what->ctx + i * what->size);
    trim();
    return (struct lab_footprint){resident(), allocated(), asked};
}

static void measure_all(struct lab_task *t, const struct lab_footprints *what, struct answer *a)
{
#ifdef PR_SET_THP_DISABLE
    if (what->small_pages)
        (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
    warm_up(t, what);
    (void)resident(); /* writes its own stack pages now rather than later */
    struct lab_footprint before = {resident(), allocated(), 0};
    for (size_t i = 0; i < what->n && t->rc == DEJA_OK; i++) {
        const struct lab_footprint after = build(t, what, i);
        a->footprint[i] = (struct lab_footprint){after.resident - before.resident,
                                                 after.allocated - before.allocated, after.asked};
        before = after;
    }
    a->rc = t->rc;
    a->err = *t->err;
}

static void send_all(int fd, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        const ssize_t n = write(fd, at, len);
        if (n < 0 && errno != EINTR)
            return; /* the parent sees the end too early */
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
}

/* --- In the lab -------------------------------------------------------------------- */

#define TICK_MS 100 /* between two checks for Ctrl-C */

/* Reads the answer; false if the child ended without one or the user asked to stop. */
static bool receive(struct lab_task *t, int fd, struct answer *a)
{
    size_t len = 0;
    while (len < sizeof *a && lab_going(t)) {
        struct pollfd ready = {fd, POLLIN, 0};
        if (poll(&ready, 1, TICK_MS) <= 0)
            continue;
        const ssize_t n = read(fd, (char *)a + len, sizeof *a - len);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        len += n > 0 ? (size_t)n : 0;
    }
    return len == sizeof *a;
}

static void finish(struct lab_task *t, pid_t child, int fd, struct answer *a)
{
    const bool told = receive(t, fd, a);
    if (!told)
        (void)kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (told && a->rc < 0)
        lab_failed(t, a->rc, "%s", a->err.text);
    else if (!told && lab_going(t))
        lab_failed(t, DEJA_ENOMEM,
                   "the process that measures memory was killed: memory is short; lower -n");
}

static void start(struct lab_task *t, const struct lab_footprints *what, struct answer *a)
{
    int end[2];
    if (pipe(end) < 0) {
        lab_failed(t, DEJA_EIO, "cannot create a pipe: %s", strerror(errno));
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)close(end[0]);
        measure_all(t, what, a);
        send_all(end[1], a, sizeof *a);
        _exit(0); /* its memory goes with it; buffers of the lab must not be flushed twice */
    }
    (void)close(end[1]);
    if (child < 0)
        lab_failed(t, DEJA_EIO, "cannot start a process to measure memory: %s", strerror(errno));
    else
        finish(t, child, end[0], a);
    (void)close(end[0]);
}

void lab_footprint(struct lab_task *t, const struct lab_footprints *what,
                   struct lab_footprint *footprint)
{
    struct answer a = {0};
    if (lab_going(t))
        start(t, what, &a);
    for (size_t i = 0; i < what->n; i++)
        footprint[i] = t->rc == DEJA_OK ? a.footprint[i] : (struct lab_footprint){NAN, NAN, NAN};
}
