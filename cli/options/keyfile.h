/* keyfile.h - a filter's secret key in a separate file. */
#ifndef CLI_OPTIONS_KEYFILE_H
#define CLI_OPTIONS_KEYFILE_H
#include "deja.h"

struct call;
struct shared_options;

/* Reads the file of --key: 32 raw bytes, or 64 hexadecimal digits with or without a newline.  Like
 * ssh, it rejects a file that other users can read or write, unless --insecure-key is given.  The
 * file may be a pipe: --key <(pass deja). */
int keyfile_read(const struct shared_options *c, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Calls `use` with options that contain the key of --key, if given; then wipes the key from
 * memory. */
typedef int keyfile_use(const struct call *call, const deja_options *expect, deja_error *err);
int keyfile_with(const struct shared_options *c, keyfile_use *use, const struct call *call,
                 deja_error *err);

#endif
