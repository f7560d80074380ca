/* helped.h - repairs the outer checks of bytes that stand for a .deja file, so that a fuzzer gets
 * past them to the code they protect. */
#ifndef TEST_HELPED_H
#define TEST_HELPED_H
#include "checking.h"
#include "core/base/bytes.h"
#include "core/hash/hash.h"
#include <stdlib.h>

#define HEADER_LEN 4096u

enum help {
    HELP_FRAME = 1,   /* corrects magic, version and header length              */
    HELP_HEADER = 2,  /* key check and header checksum                                */
    HELP_RECORDS = 4, /* checksums of the records, and the header they belong to      */
    HELP_LENGTH = 8   /* the caller gives the file the length that the header claims */
};

static inline void helped_record(uint8_t *page, size_t at)
{
    dj_store64(page + at + 296, dj_load64(page + 2560));
    dj_store64(page + at + 504, dj_checksum(page + at, 504));
}

static inline void help(uint8_t page[HEADER_LEN], unsigned how)
{
    static const uint8_t frame[16] = {'D',  'E', 'J', 'A', '\r', '\n', 0x1a,
                                      '\n', 1,   0,   0,   0,    0,    16};
    static const uint8_t none[512];
    if (how & HELP_FRAME)
        memcpy(page, frame, sizeof frame);
    if (how & HELP_HEADER) {
        dj_store64(page + 80, dj_key_derive(page + 88, DJ_STREAM_CHECK, 0));
        dj_store64(page + 2560, dj_checksum(page, 2560));
    }
    if (how & HELP_RECORDS) {
        helped_record(page, 3072);
        if (memcmp(page + 3584, none, sizeof none) != 0)
            helped_record(page, 3584);
    }
}

#endif
