/* fuzz_commands.c - sequences of commands on imported filters and on their files.
 *
 * The input selects the filter and the commands (commands.h); the last bit of its first byte says
 * whether the header is edited first.  After any command, the filter survives export and import,
 * and its file can be opened. */
#include "commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct tape t = {.at = data, .end = data + size};
    snprintf(path, sizeof path, "%s/deja-fuzz.%ld", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (long)getpid());
    const bool edit = tape_byte(&t) & 1;
    (void)commands_run(&t, path, edit);
    return 0;
}
