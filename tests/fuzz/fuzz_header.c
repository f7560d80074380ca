/* fuzz_header.c - filters of every kind with edited header fields and checksums that are right.
 *
 * The input says which filter, which fields get which values, and what is done to the filter if it
 * is accepted (commands.h).  An allocator with a limit proves that no field of a header decides
 * how much memory is taken. */
#include "commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tape t = {.at = data, .end = data + size};
    (void)commands_run(&t, NULL, true);
    return 0;
}
