/* keyfile.h - a filter's secret key, kept in a file of its own. */
#ifndef CLI_KEYFILE_H
#define CLI_KEYFILE_H
#include "deja.h"

/* The file holds 32 raw bytes, or 64 hexadecimal digits with or without a newline.  A pipe will
 * do: --key <(pass deja). */
int keyfile_read(const char *path, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Call `use` with options that demand the key in the file, or none when path is NULL; the key is
 * wiped from memory behind it. */
struct call;
typedef int keyfile_use(const struct call *call, const deja_options *expect, deja_error *err);
int keyfile_with(const char *path, keyfile_use *use, const struct call *call, deja_error *err);
/* Whether others than its owner may read it: worth a note, not a refusal. */
bool keyfile_is_exposed(const char *path);

#endif
