/* host.h - the canonical spelling of a host. */
#ifndef DJ_HOST_H
#define DJ_HOST_H
#include "core/url/percent.h"

/* Write a host of a special scheme: a domain, an IPv4 address in any of its forms, or an IPv6
 * address in brackets.  Returns DEJA_OK, DEJA_ENOTURL, or a status from idna.h. */
int dj_host_write(struct dj_text *out, deja_slice host, uint32_t version);

/* Write a host of a scheme whose rules are unknown: IPv6 as above, otherwise any bytes except
 * delimiters, encoded by `spell`; in lower case if `spell` normalizes. */
int dj_host_write_opaque(struct dj_text *out, deja_slice host, dj_percent_writer *spell);

#endif
