/* fuzz_sieve.c - sieves with edited files and repaired checksums: manifest, runs, log and spool.
 *
 * The input selects files of a small sieve and edits bytes of them; if it asks for that, the
 * checksums are made valid again.  A sieve that is accepted must judge, settle and verify without a
 * crash, in memory that does not depend on any number in its files. */
#include "checking.h"
#include "core/base/bytes.h"
#include "sieving.h"

enum {
    FILES_MOST = 32,
    LINES = 900,
    EDITS_MOST = 64,
    ALLOCATED_MOST = 64 << 20
};

struct file {
    char name[32];
    struct bytes original, edited; /* both have the same length, except that `edited` may be cut */
};

static struct file files[FILES_MOST];
static size_t n_files;

/* --- Memory with a limit ------------------------------------------------------ */

static size_t allocated;

static void *limited_alloc(void *ctx, size_t size, size_t align)
{
    void *p = NULL;
    (void)ctx;
    check(size <= ALLOCATED_MOST - allocated);
    if (posix_memalign(&p, align < sizeof p ? sizeof p : align, size ? size : 1) != 0)
        return NULL;
    memset(p, 0, size);
    allocated += size;
    return p;
}

static void limited_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    allocated -= p ? size : 0;
    free(p);
}

static const deja_allocator limited = {limited_alloc, limited_free, NULL};

/* --- A sieve with every type of file ------------------------------------------- */

static int load_found(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F)
        return 0;
    struct file *f = &files[n_files++];
    check(n_files <= FILES_MOST);
    snprintf(f->name, sizeof f->name, "%.31s", path + ftw->base);
    f->original = read_file(path);
    f->edited.data = malloc(f->original.len + 1);
    check(f->edited.data);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

static void remove_folder(void)
{
    (void)scratch_close(NULL);
}

static void make_original(void)
{
    struct sieving w;
    if (access("/dev/shm", W_OK) == 0) /* every execution syncs */
        setenv("TMPDIR", "/dev/shm", 1);
    scratch_open(NULL);
    (void)atexit(remove_folder);
    sieving_begin(&w, scratch_path("original"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    for (uint64_t i = 0; i < LINES; i++) {
        const uint64_t line = i % 3 ? i : i / 2;
        const int rc = sieving_judge(&w, &line, 1, NULL);
        check(rc == DEJA_OK || rc == DEJA_EFULL); /* enough keys wait */
        check(deja_sieve_commit(w.s, NULL) == DEJA_OK);
    }
    check(!w.wrong[0] && deja_sieve_save(w.s, NULL) == DEJA_OK);
    sieving_end(&w);
    check(nftw(scratch_path("original"), load_found, 16, FTW_PHYS) == 0 && n_files > 4);
    qsort(files, n_files, sizeof files[0],
          by_name); /* inputs mean the same on every file system */
}

/* --- Checksums, as docs/sieve.md defines them ------------------------------------- */

static bool is_type(const struct file *f, const char *type)
{
    return strncmp(f->name, type, strlen(type)) == 0;
}

static void repair_run(struct bytes b)
{
    if (b.len < 128)
        return;
    const uint64_t index = dj_load64(b.data + 48);
    for (uint64_t at = 128, len; b.len - at >= 16 && at < index; at += 16 + len) {
        len = dj_load32(b.data + at + 12);
        if (len > b.len - at - 16)
            break;
        dj_store64(b.data + at, dj_checksum(b.data + at + 8, (size_t)len + 8));
    }
    if (index <= b.len)
        dj_store64(b.data + 56, dj_checksum(b.data + index, b.len - (size_t)index));
    dj_store64(b.data + 120, dj_checksum(b.data, 120));
}

static void repair_journal(struct bytes b)
{
    if (b.len < DJ_JOURNAL_HEAD)
        return;
    dj_store64(b.data + 40, dj_checksum(b.data, 40));
    for (uint64_t at = DJ_JOURNAL_HEAD, len; b.len - at >= DJ_BATCH_HEAD;
         at += DJ_BATCH_HEAD + len) {
        uint8_t *batch = b.data + at;
        len = dj_load64(batch + 8);
        if (len > b.len - at - DJ_BATCH_HEAD)
            return;
        const deja_slice covered[] = {
            {batch, 24}, {b.data + 16, 16}, {batch + DJ_BATCH_HEAD, (size_t)len}};
        dj_store64(batch + 24, dj_checksum_pieces(covered, 3));
    }
}

/* The manifest has the checksums of the heads of runs. */
static void repair_manifest(struct bytes b)
{
    if (b.len < 264)
        return;
    for (size_t at = 256; at + 40 + 8 <= b.len; at += 40)
        for (size_t i = 0; i < n_files; i++)
            if (is_type(&files[i], "run-") && files[i].edited.len >= 128 &&
                strtoull(files[i].name + 4, NULL, 10) == dj_load64(b.data + at))
                dj_store64(b.data + at + 24, dj_load64(files[i].edited.data + 120));
    dj_store64(b.data + b.len - 8, dj_checksum(b.data, b.len - 8));
}

static void repair(void)
{
    for (size_t i = 0; i < n_files; i++)
        if (is_type(&files[i], "run-"))
            repair_run(files[i].edited);
        else if (is_type(&files[i], "log-") || is_type(&files[i], "spool-"))
            repair_journal(files[i].edited);
    for (size_t i = 0; i < n_files; i++)
        if (is_type(&files[i], "manifest"))
            repair_manifest(files[i].edited);
}

/* --- One execution -------------------------------------------------------------- */

/* A damaged sieve may be refused at any time. */
static void any(int status)
{
    check(status <= DEJA_OK);
}

static void copy_originals(void)
{
    for (size_t i = 0; i < n_files; i++) {
        files[i].edited.len = files[i].original.len;
        memcpy(files[i].edited.data, files[i].original.data, files[i].original.len);
    }
}

/* An edit is four bytes: file, place (two bytes), value; a place past the end cuts the file. */
static void edit(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 4 <= size && i < 4 * EDITS_MOST; i += 4) {
        struct bytes *b = &files[data[i] % n_files].edited;
        const size_t at = data[i + 1] | (size_t)data[i + 2] << 8;
        if (at < b->len)
            b->data[at] ^= data[i + 3];
        else if (b->len)
            b->len -= at % b->len;
    }
}

static void write_all(const char *folder)
{
    MUST(mkdir(folder, 0700) == 0);
    for (size_t i = 0; i < n_files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        write_file(path, files[i].edited.data, files[i].edited.len);
    }
}

/* The address sanitizer checks that all of them are there. */
static void read_bytes(deja_slice record)
{
    const volatile uint8_t *at = record.data;
    for (size_t i = 0; i < record.len; i++)
        (void)at[i];
}

static void settle_all(deja_sieve *s)
{
    deja_settled out[16];
    size_t n = 1;
    if (deja_sieve_settle(s, NULL) < 0)
        return;
    while (n && deja_sieve_settled(s, out, 16, &n, NULL) == DEJA_OK)
        for (size_t i = 0; i < n; i++)
            read_bytes(out[i].record);
    any(deja_sieve_commit(s, NULL));
}

static void use(deja_sieve *s)
{
    deja_fingerprint fp[8];
    uint8_t verdict[8];
    for (uint64_t i = 0; i < 8; i++)
        sieving_print(s, 200 * i, &fp[i]);
    any(deja_sieve_contains(s, fp, 8, verdict, NULL));
    any(deja_sieve_judge(s, fp, 8, NULL, NULL, verdict, NULL));
    any(deja_sieve_commit(s, NULL));
    settle_all(s);
    any(deja_sieve_sync(s, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    deja_sieve *s = NULL;
    if (!n_files)
        make_original();
    if (!size)
        return 0;
    const char *folder = scratch_path("edited");
    copy_originals();
    edit(data + 1, size - 1);
    if (data[0] & 1)
        repair();
    write_all(folder);
    opt.flags = DEJA_SIEVE_NO_THREAD;
    opt.alloc = &limited;
    any(deja_sieve_verify(folder, NULL));
    if (dj_sieve_open(folder, DEJA_OPEN_WRITE, &opt, &tiny, &s, NULL) == DEJA_OK)
        use(s);
    deja_sieve_free(s);
    check(allocated == 0);
    check(nftw(folder, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    return 0;
}
