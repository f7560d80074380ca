/* sievefolder.h - the directory of a sieve: names and files. */
#ifndef DJ_FOLDER_H
#define DJ_FOLDER_H
#include "store/replace.h"
#include <stdint.h>

struct dj_folder {
    int fd;     /* -1: none */
    char *path; /* as the caller spelled it */
};

/* The name of file `number` of a type: "run", "log" or "spool". */
struct dj_file_name {
    char text[32];
};
struct dj_file_name dj_file_name_of(const char *type, uint64_t number);

/* Opens the directory.  create: makes it if it is missing. */
int dj_folder_open(struct dj_folder *folder, const char *path, bool create, deja_error *err);
void dj_folder_close(struct dj_folder *folder);
/* Makes the names in the directory durable. */
int dj_folder_sync(const struct dj_folder *folder, deja_error *err);
/* Makes the name of the directory durable: a new one survives a power failure only if the directory
 * above it is synced. */
int dj_folder_sync_above(const struct dj_folder *folder, deja_error *err);
/* Starts a file without a name; dj_tmp_commit gives it this one. */
int dj_folder_begin(const struct dj_folder *folder, const char *name, struct dj_tmp *tmp,
                    deja_error *err);
/* dj_tmp_commit; messages name the directory, too. */
int dj_folder_commit(const struct dj_folder *folder, struct dj_tmp *tmp, int over,
                     deja_error *err);
/* Deletes a file that nobody needs any more; if that fails, the next writer deletes it. */
void dj_folder_remove(const struct dj_folder *folder, const char *name);
/* Calls `each` for every name except . and .. until it returns false. */
int dj_folder_list(const struct dj_folder *folder, bool (*each)(void *ctx, const char *name),
                   void *ctx, deja_error *err);
/* The end of a message about damage that cannot be repaired. */
#define DJ_RESTORE "; restore the sieve from a backup, or use a new one"
/* Error messages about a file in the directory. */
int dj_folder_damaged(const struct dj_folder *folder, const char *name, const char *what,
                      deja_error *err);
int dj_folder_failed(const struct dj_folder *folder, const char *name, const char *what,
                     deja_error *err);

#endif
