/* address.h - parse IP addresses, independent of the C library. */
#ifndef DJ_ADDRESS_H
#define DJ_ADDRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One to four parts: decimal, octal (0) or hexadecimal (0x).  The last part fills all bytes that
 * the others leave, as in inet_aton.  Expects lower case. */
bool dj_address_ipv4(const char *s, size_t n, uint32_t *address);
/* RFC 4291 2.2: the text between the brackets, without a zone. */
bool dj_address_ipv6(const char *s, size_t n, uint16_t word[8]);

#endif
