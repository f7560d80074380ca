/* archive.c - manages the archive in the folder: its end, repair after a power failure, and its
 * index.
 *
 * The queue records two ends of the archive.  The first is written with every commit: the pages up
 * to there are in the queue.  Records after it come from a process that was killed, and are cut
 * off.
 *
 * The second, `safe`, is written after a sync: up to there the archive survives a power failure.
 * Between the two it may have holes, because the system writes the queue and the archive to disk
 * in any order.  So a run starts by reading the records between the two.  From the first damaged
 * one on they are cut off, and their pages wait again; the links found in them stay in the queue.
 * This change is synced before the records are overwritten: otherwise another power failure could
 * leave rows that point to the wrong pages.
 *
 * Limit: the summary no longer counts these pages, but their bytes and recovered pages are counted
 * twice. */
#include "crawler/loop/crawler.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <unistd.h>

/* --- Ends ---------------------------------------------------------------------------- */

struct end {
    const char *file_name, *at_name; /* names of settings */
    int64_t file, at;
};

static const struct end recorded_end = {"warc_file", "warc_end", 0, 0};
static const struct end safe_end = {"warc_safe_file", "warc_safe_end", 0, 0};

static int read_end(struct crawler *c, struct end *e, deja_error *err)
{
    const int rc = frontier_get(c->queue, e->file_name, UINT32_MAX, &e->file, err);
    return rc == DEJA_OK ? frontier_get(c->queue, e->at_name, INT64_MAX, &e->at, err) : rc;
}

static int write_end(struct crawler *c, struct end e, uint32_t file, uint64_t at, deja_error *err)
{
    const int rc = frontier_set(c->queue, e.file_name, file, err);
    return rc == DEJA_OK ? frontier_set(c->queue, e.at_name, (int64_t)at, err) : rc;
}

void archive_mark(struct crawler *c)
{
    c->whole_file = c->warc.file;
    c->whole_end = c->warc.end;
}

int archive_record(struct crawler *c, deja_error *err)
{
    return c->o->no_archive.on ? DEJA_OK
                               : write_end(c, recorded_end, c->whole_file, c->whole_end, err);
}

int archive_sync(struct crawler *c, deja_error *err)
{
    if (c->o->no_archive.on)
        return DEJA_OK;
    const int rc = warc_sync(&c->warc, err);
    return rc == DEJA_OK ? write_end(c, safe_end, c->whole_file, c->whole_end, err) : rc;
}

/* --- After a power failure ------------------------------------------------------------- */

static void uncount(struct crawler *c, enum crawl_count what)
{
    c->account.count[what] -= c->account.count[what] > 0;
}

static int take_undone(void *crawler, const struct frontier_page *p, deja_error *err)
{
    struct crawler *c = crawler;
    if (p->outcome >= CRAWL_COUNTS)
        return frontier_damaged(c->queue, "the outcome of a URL", err);
    c->account.undone++;
    if (p->outcome != 0)
        uncount(c, (enum crawl_count)p->outcome);
    else if (p->status >= 300 && p->status != 304)
        uncount(c, CRAWL_REDIRECTS);
    else
        uncount(c, CRAWL_FETCHED);
    if (p->revisit)
        uncount(c, CRAWL_UNCHANGED);
    return DEJA_OK;
}

/* Cuts the archive off at its first damaged record. */
static int cut(struct crawler *c, uint32_t file, uint64_t at, deja_error *err)
{
    int rc = frontier_undo(c->queue, file, at, take_undone, c, err);
    if (rc == DEJA_OK)
        rc = write_end(c, recorded_end, file, at, err);
    if (rc == DEJA_OK)
        rc = folder_store_counts(c, err);
    return rc == DEJA_OK ? frontier_sync(c->queue, err) : rc;
}

int archive_mend(struct crawler *c, deja_error *err)
{
    struct end safe = safe_end, end = recorded_end;
    int rc = read_end(c, &safe, err);
    if (rc == DEJA_OK)
        rc = read_end(c, &end, err);
    /* Records after the end are cut off, so an end before the last sync must be wrong. */
    if (rc == DEJA_OK && (safe.file > end.file || (safe.file == end.file && safe.at > end.at)))
        rc = frontier_damaged(c->queue, "its setting 'warc_end'", err);
    if (rc < 0 || end.file == 0)
        return rc;
    for (int64_t file = safe.file ? safe.file : 1; file <= end.file && rc == DEJA_OK; file++) {
        const uint64_t from = file == safe.file ? (uint64_t)safe.at : 0;
        const uint64_t to = file == end.file ? (uint64_t)end.at : UINT64_MAX;
        uint64_t whole;
        bool damaged;
        rc = warc_check(c->dir, (uint32_t)file, from, to, &whole, &damaged, err);
        if (rc == DEJA_OK && damaged)
            return cut(c, (uint32_t)file, whole, err);
    }
    return rc;
}

int archive_undo(struct crawler *c, int64_t round, deja_error *err)
{
    struct end safe = safe_end, end = recorded_end;
    int rc = read_end(c, &safe, err);
    if (rc == DEJA_OK)
        rc = read_end(c, &end, err);
    if (rc == DEJA_OK)
        rc = frontier_undo(c->queue, 0, (uint64_t)round, take_undone, c, err);
    if (rc == DEJA_OK && end.file > 0)
        return cut(c, safe.file ? (uint32_t)safe.file : 1, (uint64_t)safe.at, err);
    if (rc == DEJA_OK)
        rc = folder_store_counts(c, err);
    return rc == DEJA_OK ? frontier_sync(c->queue, err) : rc;
}

/* --- Opening --------------------------------------------------------------------------- */

/* Stores the name of a file that looks like part of an archive; *found stays empty if there is no
 * such file. */
static int find_file(const struct crawler *c, struct fail_path *found, deja_error *err)
{
    const int fd = openat(c->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        const int rc = fail_errno(err, "%s: cannot read the folder", fail_path(c->o->dir).text);
        if (fd >= 0)
            (void)close(fd);
        return rc;
    }
    for (const struct dirent *e; !found->text[0] && (e = readdir(dir));)
        if (fnmatch("crawl-[0-9]*.warc.gz", e->d_name, 0) == 0)
            *found = fail_path(e->d_name);
    (void)closedir(dir);
    return DEJA_OK;
}

/* Files that the queue does not know belong to someone else, and must not be cut or overwritten.
 * So the queue durably records a file before it is created. */
static int announce(struct crawler *c, deja_error *err)
{
    struct fail_path name = {{0}};
    int rc = find_file(c, &name, err);
    if (rc == DEJA_OK && name.text[0])
        rc = fail(err, DEJA_EMISMATCH,
                  "%s: it has an archive but no queue; use another folder, or move %s away",
                  fail_path(c->o->dir).text, name.text);
    if (rc == DEJA_OK)
        rc = write_end(c, recorded_end, 1, 0, err);
    return rc == DEJA_OK ? frontier_sync(c->queue, err) : rc;
}

int archive_open(struct crawler *c, deja_error *err)
{
    struct end end = recorded_end;
    if (c->o->no_archive.on)
        return DEJA_OK;
    int rc = read_end(c, &end, err);
    if (rc == DEJA_OK && end.file == 0)
        rc = announce(c, err);
    if (rc == DEJA_OK)
        rc = warc_open(&c->warc, c->dir, (uint32_t)end.file, (uint64_t)end.at, c->agent,
                       c->o->max_file, err);
    archive_mark(c);
    return rc;
}

bool archive_has(const struct crawler *c, const struct warc_place *place)
{
    return faccessat(c->dir, warc_name(place->file).text, R_OK, 0) == 0;
}

/* --- The index --------------------------------------------------------------------------- */

#define INDEX     "index.cdxj"
#define INDEX_NEW INDEX ".new"

static int index_failed(deja_error *err)
{
    return fail_errno(err, INDEX ": cannot write");
}

static int write_line(void *file, deja_slice line, deja_error *err)
{
    return fwrite(line.data, 1, line.len, file) == line.len ? DEJA_OK : index_failed(err);
}

/* Writes and syncs all lines. */
static int write_lines(struct crawler *c, int fd, deja_error *err)
{
    FILE *file = fdopen(fd, "w");
    if (!file) {
        const int rc = index_failed(err);
        (void)close(fd);
        return rc;
    }
    int rc = frontier_each_line(c->queue, write_line, file, err);
    if (rc == DEJA_OK && (fflush(file) != 0 || sys_sync_data(fd) != 0))
        rc = index_failed(err);
    if (fclose(file) != 0 && rc == DEJA_OK)
        rc = index_failed(err);
    return rc;
}

/* Writes a new file and renames it over the old one. */
int archive_write_index(struct crawler *c, deja_error *err)
{
    if (c->o->no_archive.on)
        return DEJA_OK;
    const int fd = openat(c->dir, INDEX_NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return index_failed(err);
    int rc = write_lines(c, fd, err);
    if (rc == DEJA_OK &&
        (renameat(c->dir, INDEX_NEW, c->dir, INDEX) != 0 || sys_sync(c->dir) != 0))
        rc = index_failed(err);
    if (rc < 0)
        (void)unlinkat(c->dir, INDEX_NEW, 0);
    return rc;
}
