/* address.h - IP addresses read from text, without the C library's differences. */
#ifndef DJ_ADDRESS_H
#define DJ_ADDRESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One to four parts, decimal, octal (0) or hexadecimal (0x); the last one fills all bytes that the
 * others leave, as inet_aton has it.  In lower case. */
bool dj_address_ipv4(const char *s, size_t n, uint32_t *address);
/* RFC 4291 2.2: what stands between the brackets, without a zone. */
bool dj_address_ipv6(const char *s, size_t n, uint16_t word[8]);

#endif
