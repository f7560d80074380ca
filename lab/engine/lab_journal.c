/* lab_journal.c - a record of finished units, so that a lab can be resumed; see lab_journal.h. */
#include "lab/engine/lab_journal.h"
#include "lab/engine/lab_graph.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME      "lab.journal"
#define HEAD_MAX  256
#define VALUE_MAX 26 /* a space and a double with 17 digits */

static void make_head(char *head, size_t cap, const struct lab *lab)
{
    const int len = snprintf(head, cap, "deja-lab 1 version=%s n=%llu seed=%llu keys=%016llx",
                             deja_version(), (unsigned long long)lab->keys.n,
                             (unsigned long long)lab->seed, (unsigned long long)lab->keys.id);
    if (lab->graph)
        (void)snprintf(head + len, cap - (size_t)len, " graph=%016llx",
                       (unsigned long long)lab->graph->id);
}

/* The results that a line belongs to, or NULL if that experiment is not part of this run. */
static struct lab_results *results_of(const char *name, size_t len, struct lab_results *results,
                                      size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(results[i].experiment->name) == len &&
            memcmp(results[i].experiment->name, name, len) == 0)
            return &results[i];
    return NULL;
}

/* Read the numbers of a line; false if there are not exactly n. */
static bool read_values(const char *at, double *value, uint32_t n)
{
    char *end;
    for (uint32_t i = 0; i < n; i++, at = end) {
        value[i] = strtod(at, &end);
        if (end == at)
            return false;
    }
    return *at == '\0';
}

/* Store a line in the results; true if it is complete and belongs to this run. */
static bool take_line(const char *line, struct lab_results *results, size_t n)
{
    double value[LAB_VALUES];
    const size_t len = strcspn(line, " ");
    struct lab_results *r = results_of(line, len, results, n);
    char *end;
    if (!r || line[len] != ' ')
        return false;
    const unsigned long unit = strtoul(line + len, &end, 10);
    const unsigned long run = strtoul(end, &end, 10);
    if (unit >= r->units || run >= r->runs || r->done[run * r->units + unit])
        return false;
    const uint32_t values = r->experiment->values;
    if (!read_values(end, value, values))
        return false;
    memcpy(lab_values(r, (uint32_t)unit, (uint32_t)run), value, values * sizeof *value);
    r->done[run * r->units + unit] = 1;
    return true;
}

/* Read a journal. *good is its length up to the last complete line. */
static int read_journal(FILE *file, const char *path, const char *head,
                        struct lab_results *results, size_t n, uint64_t *found, off_t *good,
                        deja_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t len = getline(&line, &cap, file);
    int rc = DEJA_OK;
    if (len > 0 && line[len - 1] == '\n')
        line[len - 1] = '\0';
    if (len <= 0 || strcmp(line, head) != 0)
        rc = fail(
            err, DEJA_EMISMATCH,
            "%s belongs to another lab (%.90s); give the same --urls, --graph, --seed and --quick, or "
            "omit --resume to start over",
            fail_path(path).text, len > 0 ? line : "empty");
    *good = len;
    while (rc == DEJA_OK && (len = getline(&line, &cap, file)) > 0 && line[len - 1] == '\n') {
        line[len - 1] = '\0';
        *found += take_line(line, results, n);
        *good += len;
    }
    free(line);
    return rc;
}

static int resume_from(struct lab_journal *j, const char *head, struct lab_results *results,
                       size_t n, uint64_t *found, deja_error *err)
{
    off_t good = 0;
    FILE *file = fopen(j->path, "re");
    if (!file)
        return errno == ENOENT
                   ? fail(err, DEJA_EINVAL, "there is nothing to resume: %s does not exist",
                          fail_path(j->path).text)
                   : fail_errno(err, "%s", fail_path(j->path).text);
    int rc = read_journal(file, j->path, head, results, n, found, &good, err);
    (void)fclose(file);
    if (rc < 0)
        return rc;
    j->fd = open(j->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (j->fd < 0 || ftruncate(j->fd, good) != 0)
        return fail_errno(err, "%s", fail_path(j->path).text);
    return DEJA_OK;
}

static int write_line(struct lab_journal *j, const char *line, size_t len, deja_error *err)
{
    return io_write(j->fd, line, len) ? DEJA_OK : fail_errno(err, "%s", fail_path(j->path).text);
}

int lab_journal_open(struct lab_journal *j, const char *folder, const struct lab *lab, bool resume,
                     struct lab_results *results, size_t n, uint64_t *found, deja_error *err)
{
    char head[HEAD_MAX];
    *j = LAB_JOURNAL_NONE;
    *found = 0;
    make_head(head, sizeof head - 1, lab);
    if ((size_t)snprintf(j->path, sizeof j->path, "%s/" NAME, folder) >= sizeof j->path)
        return fail(err, DEJA_EINVAL, "--output: the name is too long");
    if (resume)
        return resume_from(j, head, results, n, found, err);
    j->fd = open(j->path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    if (j->fd < 0)
        return fail_errno(err, "%s", fail_path(j->path).text);
    (void)strncat(head, "\n", 2);
    return write_line(j, head, strlen(head), err);
}

int lab_journal_add(struct lab_journal *j, const struct lab_results *r, uint32_t unit,
                    uint32_t run, deja_error *err)
{
    char line[128 + LAB_VALUES * VALUE_MAX];
    int len = snprintf(line, sizeof line, "%s %u %u", r->experiment->name, unit, run);
    for (uint32_t i = 0; i < r->experiment->values; i++)
        len +=
            snprintf(line + len, sizeof line - (size_t)len, " %.17g", lab_value(r, unit, run, i));
    line[len++] = '\n';
    return write_line(j, line, (size_t)len, err);
}

void lab_journal_close(struct lab_journal *j)
{
    if (j->fd >= 0)
        (void)close(j->fd);
    *j = LAB_JOURNAL_NONE;
}
