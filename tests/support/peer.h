/* peer.h - another process that works on the same file and waits for a signal to continue. */
#ifndef TEST_PEER_H
#define TEST_PEER_H
#include "child.h"
#include "deja.h"

/* Starts a child that reports "ready" and waits for the signal to continue. */
struct peer {
    pid_t pid;
    int to, from;
};

static inline struct peer peer_start(child_work *work, const char *path)
{
    int to[2], from[2];
    MUST(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    fflush(NULL);
    const pid_t pid = fork();
    MUST(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(to[1]); /* or its own copy would keep the pipe open */
        close(from[0]);
        _exit(work(path, to[0], from[1]));
    }
    close(to[0]);
    close(from[1]);
    return (struct peer){pid, to[1], from[0]};
}

static inline bool tell(int fd)
{
    return write(fd, "x", 1) == 1;
}

static inline bool hear(int fd)
{
    char c;
    return read(fd, &c, 1) == 1;
}

static inline int peer_end(struct peer p)
{
    close(p.to);
    close(p.from);
    return end_of(p.pid);
}

/* Keeps the file open for writing until it is killed. */
static inline int hold_open(const char *path, int in, int out)
{
    deja_filter *f = NULL;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) == DEJA_OK);
    CHECK(tell(out) && hear(in));
    return 1; /* it is killed before that */
}

#endif
