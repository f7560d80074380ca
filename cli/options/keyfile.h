/* keyfile.h - a filter's secret key, kept in a file of its own. */
#ifndef CLI_OPTIONS_KEYFILE_H
#define CLI_OPTIONS_KEYFILE_H
#include "deja.h"

struct call;
struct shared_options;

/* Reads the file of --key: 32 raw bytes, or 64 hexadecimal digits with or without a newline.  As
 * with ssh, a file that other users can read or write is an error unless --insecure-key is given.
 * A pipe will do: --key <(pass deja). */
int keyfile_read(const struct shared_options *c, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Calls `use` with options that demand the key of --key, if there is one, and then wipes the key
 * from memory. */
typedef int keyfile_use(const struct call *call, const deja_options *expect, deja_error *err);
int keyfile_with(const struct shared_options *c, keyfile_use *use, const struct call *call,
                 deja_error *err);

#endif
