/* keyfile.h - a filter's secret key, kept in a file of its own. */
#ifndef CLI_KEYFILE_H
#define CLI_KEYFILE_H
#include "deja.h"

/* The file holds 32 raw bytes, or 64 hexadecimal digits with or without a newline.  A pipe will
 * do: --key <(pass deja). */
int keyfile_read(const char *path, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Whether others than its owner may read it: worth a note, not a refusal. */
bool keyfile_is_exposed(const char *path);

#endif
