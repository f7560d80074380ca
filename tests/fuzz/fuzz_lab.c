/* fuzz_lab.c - everything that `deja lab` reads: lists of URLs and titles, a column of a table,
 * the journal of a stopped lab, and tables of printed values.
 *
 * The first byte selects the reader, the second sets its options, the rest is the file:
 *
 *   0  lines    --urls FILE: the multi-layer experiments run on them
 *   1  CSV      --urls FILE --csv COLUMN: the same
 *   2  journal  after a valid first line; the experiment then reports on these values
 *   3  journal  from its first byte
 *   4  printed  a table like published.csv
 *   5  links    --graph FILE: a site is crawled again
 *
 * Lists start with 100 lines of our own, the fewest that the lab accepts.  Keys must be different
 * and as many as promised; a filter must find every line it was given; values that a journal
 * acknowledges must be found again; a report on any values must be written to its end. */
#include "checking.h"
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_journal.h"
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/engine/lab_reach.h"
#include "lab/engine/lab_runner.h"
#include "lab/engine/lab_site.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_published.h"
#include "lab/report/lab_write.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const struct lab_experiment exp_split, exp_layered;

static void write_bytes(int fd, const void *data, size_t len)
{
    check(fd >= 0);
    check(write(fd, data, len) == (ssize_t)len);
}

/* --- Lists -------------------------------------------------------------------- */

static int new_list(bool csv, const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char line[64];
    if (csv)
        write_bytes(fd, "id,name,\"a \"\"b\"\"\"\n", 18);
    for (int i = 0; i < LAB_KEYS_MIN; i++) {
        const int len = csv ? snprintf(line, sizeof line, "%d,t%d u v,\"w%d x\"\n", i, i, i)
                            : snprintf(line, sizeof line, "http://h%d.example/a/%d\n", i % 9, i);
        write_bytes(fd, line, (size_t)len);
    }
    write_bytes(fd, data, size);
    return fd;
}

static void check_keys(const struct lab_keys *k, uint64_t most)
{
    check(k->n >= LAB_KEYS_MIN / 2 && k->n <= most && k->asked == k->added + k->n);
    const char *at = k->bytes;
    for (uint64_t i = 0; i < 2 * k->n; i++) { /* next to each other, none of them empty */
        check(k->added[i].data == at && k->added[i].len > 0);
        at += k->added[i].len;
    }
}

static void run_on(const struct lab *lab, const struct lab_experiment *e)
{
    double value[LAB_VALUES] = {0};
    deja_error err = {0};
    struct lab_task task = {.lab = lab, .seed = 7, .value = value, .err = &err};
    check(e->values <= LAB_VALUES);
    e->run(&task);
    lab_release(&task);
    check(task.rc == DEJA_OK || err.text[0] != '\0');
    if (task.rc != DEJA_OK)
        return;
    check(value[HALVES_MISSED] == 0);
    check(value[HALVES_ARRAYS] >= 2 && value[HALVES_ARRAYS] <= LAB_MLBF_LAYERS + 1);
}

static void read_list(bool csv, uint8_t choice, const uint8_t *data, size_t size)
{
    static const char *const columns[] = {"1", "2", "3", "4", "name", "a \"b\"", "none"};
    struct lab lab = {.runs = 1, .seed = 1, .threads = 1};
    struct pick_options pick = {0};
    char path[32];
    deja_error err = {0};
    const int fd = new_list(csv, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (csv)
        pick.csv_column = columns[choice % (sizeof columns / sizeof columns[0])];
    const uint64_t n = 50 + choice % 100;
    const int rc = lab_keys_read(&lab.keys, n, path, &pick, NULL, &err);
    if (rc == DEJA_OK) {
        check_keys(&lab.keys, n);
        run_on(&lab, &exp_split);
        run_on(&lab, &exp_layered);
    } else {
        check(err.text[0] != '\0');
    }
    lab_keys_fini(&lab.keys);
    close(fd);
}

/* --- Journals ------------------------------------------------------------------ */

static char folder[] = "/tmp/deja-fuzz-lab-XXXXXX";
static char journal[sizeof folder + 16];

static void remove_folder(void)
{
    (void)remove(journal);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    if (journal[0] != '\0')
        return;
    check(mkdtemp(folder));
    snprintf(journal, sizeof journal, "%s/lab.journal", folder);
    (void)atexit(remove_folder);
}

static int open_journal(const struct lab *lab, struct lab_results *r, bool resume, uint64_t *found)
{
    struct lab_journal j;
    deja_error err = {0};
    const int rc = lab_journal_open(&j, folder, lab, resume, r, 1, found, &err);
    check(rc == DEJA_OK || err.text[0] != '\0');
    lab_journal_close(&j);
    return rc;
}

static void write_report(const struct lab *lab, const struct lab_results *r)
{
    struct lab_report report;
    struct out o = OUT_NONE;
    deja_error err = {0};
    const int fd = memfd_create("report", MFD_CLOEXEC);
    lab_report_init(&report, r->experiment);
    r->experiment->report(r, &report);
    check(!report.failed);
    check(fd >= 0 && out_init(&o, fd, "report", &err) == DEJA_OK);
    lab_csv_write(&o, &report);
    for (size_t i = 0; i < report.n_figures; i++)
        lab_svg_write(&o, report.figure[i], true);
    const struct lab_page page = {lab, &report, 1, "deja lab", 1};
    lab_html_write(&o, &page);
    check(out_close(&o, &err) == DEJA_OK);
    lab_report_fini(&report);
    close(fd);
}

static void read_journal(bool with_head, uint8_t choice, const uint8_t *data, size_t size)
{
    const struct lab lab = {
        .keys = {.n = 1000, .id = 42}, .runs = 1 + choice / 128u, .seed = 7, .threads = 1};
    const struct lab_experiment *e = lab_experiments[0];
    for (uint8_t i = 0; i < choice % 64 && lab_experiments[i]; i++)
        e = lab_experiments[i];
    struct lab_results r, again;
    deja_error err = {0};
    uint64_t found = 0, found_again = 0;
    make_folder();
    check(lab_results_init(&r, &lab, e, &err) == DEJA_OK);
    check(lab_results_init(&again, &lab, e, &err) == DEJA_OK);
    check(open_journal(&lab, &r, false, &found) == DEJA_OK);
    const int fd = open(journal, O_WRONLY | (with_head ? O_APPEND : O_TRUNC) | O_CLOEXEC);
    write_bytes(fd, data, size);
    close(fd);
    if (open_journal(&lab, &r, true, &found) == DEJA_OK) {
        check(found <= lab_tasks(&r, 1) && lab_tasks_done(&r, 1) == found);
        check(open_journal(&lab, &again, true, &found_again) == DEJA_OK && found_again == found);
        write_report(&lab, &r);
    } else {
        check(!with_head);
    }
    lab_results_fini(&r);
    lab_results_fini(&again);
}

/* --- Printed values ------------------------------------------------------------ */

static void read_printed(uint8_t choice, const uint8_t *data, size_t size)
{
    static const struct lab_printed_query queries[] = {
        {0}, {.source = "s"}, {.table = "5.9", .hashes = 3}, {.multiplier = 1.5, .rows = 10}};
    const struct lab_printed p = lab_printed_in((deja_slice){data, size}, &queries[choice % 4]);
    check(strnlen(p.text, sizeof p.text) < sizeof p.text);
    check(strnlen(p.remark, sizeof p.remark) < sizeof p.remark);
    check(p.found || p.text[0] == '\0');
}

/* --- Links --------------------------------------------------------------------- */

static bool is_above(const struct lab_reach *r, uint32_t root, uint32_t at)
{
    while (at > root)
        at = r->parent[at];
    return at == root;
}

/* Every page that links to another is reached through the same dominators. */
static void check_tree(const struct lab_graph *g, const struct lab_reach *r)
{
    check(r->n >= 2 && r->n <= g->nodes && r->below[1] >= 1);
    for (uint32_t at = 0; at < r->n; at++)
        for (uint64_t i = g->first[r->order[at]]; i < g->first[r->order[at] + 1]; i++)
            check(is_above(r, r->parent[r->number[g->to[i]]], at) || g->to[i] == 0);
}

static void read_links(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[32];
    deja_error err = {0};
    struct lab_graph g;
    struct lab_reach r;
    write_bytes(fd, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (lab_site_read(&g, path, NULL, &err) == DEJA_OK) {
        check(lab_reach_make(&r, &g, &err) == DEJA_OK);
        check_tree(&g, &r);
        lab_reach_fini(&r);
        lab_graph_fini(&g);
    } else {
        check(err.text[0] != '\0');
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const uint8_t what = data[0] % 6, choice = data[1];
    data += 2;
    size -= 2;
    if (what < 2)
        read_list(what == 1, choice, data, size);
    else if (what < 4)
        read_journal(what == 2, choice, data, size);
    else if (what == 4)
        read_printed(choice, data, size);
    else
        read_links(data, size);
    return 0;
}
