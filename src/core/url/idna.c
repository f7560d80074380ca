/* idna.c - hosts in other scripts as deja 0.1 read them: UTS 46 mapping, nontransitional, then
 * IDNA2008, all by libidn2.  For filters that were made with these rules; uts46.c is for all
 * others.
 *
 * This is what browsers do, but for three things.  IDNA2008 knows no symbols, so that a host with
 * a snowman is refused here.  Hyphens in the third and fourth place, or at an end of a label in
 * another script, are refused as well.  And labels have at most 63 bytes, hosts 255, as in DNS. */
#include "core/url/idna.h"

#ifdef DEJA_HAVE_IDN2
#include <idn2.h>

/* A host of 255 bytes has its letters in not more than this; longer ones would only cost time,
 * which grows with the square of a label's length. */
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
