/* bench_host.c - the environment that the figures depend on; see bench_host.h. */
#include "bench/bench_host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __clang__
#define COMPILER __VERSION__ /* starts with the compiler's name */
#else
#define COMPILER "gcc " __VERSION__
#endif

/* The build can define its flags; otherwise the compiler's macros give the essential ones. */
#ifndef DEJA_BUILD_FLAGS
#ifdef __OPTIMIZE__
#define OPTIMIZED "optimized"
#else
#define OPTIMIZED "not optimized"
#endif
#ifdef NDEBUG
#define ASSERTIONS "no assertions"
#else
#define ASSERTIONS "assertions"
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED ", sanitizers"
#else
#define SANITIZED ""
#endif
#define DEJA_BUILD_FLAGS OPTIMIZED ", " ASSERTIONS SANITIZED
#endif

/* The value after the first "name :" in a file like /proc/cpuinfo. */
static bool look_up(const char *path, const char *name, char *value, size_t cap)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    while (!found && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, name, strlen(name)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        (void)snprintf(value, cap, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = true;
    }
    (void)fclose(file);
    return found;
}

static void find_cpu(struct bench_host *h)
{
    struct utsname system;
    if (look_up("/proc/cpuinfo", "model name", h->cpu, sizeof h->cpu) ||
        look_up("/proc/cpuinfo", "Model", h->cpu, sizeof h->cpu))
        return;
    (void)snprintf(h->cpu, sizeof h->cpu, "%.80s",
                   uname(&system) == 0 ? system.machine : "unknown");
}

/* The choice in brackets: "always [madvise] never". */
static void find_huge_pages(struct bench_host *h)
{
    char line[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    const bool read = file && fgets(line, sizeof line, file);
    if (file)
        (void)fclose(file);
    const char *choice = read ? strchr(line, '[') : NULL;
    (void)snprintf(h->huge_pages, sizeof h->huge_pages, "%.*s",
                   choice != NULL ? (int)strcspn(choice + 1, "]") : 7,
                   choice != NULL ? choice + 1 : "unknown");
}

/* The number in a file; UINT64_MAX for "max" or if it cannot be read. */
static uint64_t number_in(const char *path)
{
    char line[64] = "", *end = line;
    FILE *file = fopen(path, "re");
    const bool read = file && fgets(line, sizeof line, file);
    if (file)
        (void)fclose(file);
    const unsigned long long n = read ? strtoull(line, &end, 10) : 0;
    return end == line ? UINT64_MAX : n;
}

/* A container may have less memory than the machine. */
static uint64_t left_in_container(void)
{
    const uint64_t most = number_in("/sys/fs/cgroup/memory.max");
    const uint64_t used = number_in("/sys/fs/cgroup/memory.current");
    if (most == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return used < most ? most - used : 1;
}

static void find_memory(struct bench_host *h)
{
    char text[64];
    if (look_up("/proc/meminfo", "MemAvailable", text, sizeof text))
        h->available = strtoull(text, NULL, 10) * 1024; /* "24682148 kB" */
    const uint64_t left = left_in_container();
    if (left != UINT64_MAX && (h->available == 0 || left < h->available))
        h->available = left;
}

void bench_host_look(struct bench_host *h)
{
    *h = (struct bench_host){
        .compiler = COMPILER, .flags = DEJA_BUILD_FLAGS, .simd = deja_simd_name()};
    find_cpu(h);
    find_huge_pages(h);
    find_memory(h);
}
