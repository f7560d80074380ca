/* idna.c - non-ASCII hosts as deja 0.1 handled them: nontransitional UTS 46 mapping, then
 * IDNA2008, all by libidn2.  Only for filters created with these rules; all others use uts46.c.
 *
 * This differs from browsers in three ways.  IDNA2008 allows no symbols, so a host with a snowman
 * is rejected.  So is a non-ASCII label with hyphens in the third and fourth position, or with a
 * hyphen at either end.  And, as in DNS, labels have at most 63 bytes and hosts at most 255. */
#include "core/url/idna.h"

#ifdef DEJA_HAVE_IDN2
#include <idn2.h>

/* The longest UTF-8 form of a host of 255 bytes is shorter than this.  Longer input would only
 * cost time, which grows with the square of a label's length. */
#define MAX_UTF8 1024

bool dj_idna_here(void)
{
    return true;
}

int dj_idna_to_ascii(struct dj_text *out, size_t start)
{
    if (out->len - start > MAX_UTF8)
        return DEJA_ENOTURL;
    dj_text_byte(out, '\0');
    if (out->short_of_room)
        return DEJA_ESPACE;
    uint8_t *ascii = NULL;
    const int rc = idn2_lookup_u8((const uint8_t *)out->at + start, &ascii,
                                  IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    out->len = start;
    if (rc != IDN2_OK)
        return rc == IDN2_MALLOC ? DEJA_ENOMEM : DEJA_ENOTURL;
    dj_text_bytes(out, ascii, strlen((const char *)ascii));
    idn2_free(ascii);
    return DEJA_OK;
}

#else

bool dj_idna_here(void)
{
    return false;
}

int dj_idna_to_ascii(struct dj_text *out, size_t start)
{
    (void)out;
    (void)start;
    return DEJA_ENOTSUP;
}

#endif
