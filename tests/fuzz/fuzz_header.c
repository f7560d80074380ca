/* fuzz_header.c - filters of every kind with edited header fields and valid checksums.
 *
 * The input selects the filter, the fields and their values, and the commands that run on the
 * filter if it is accepted (commands.h).  An allocator with a limit proves that no field of a
 * header decides how much memory is allocated. */
#include "commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape t = {.at = data, .end = data + size};
    (void)commands_run(&t, NULL, true);
    return 0;
}
