/* netaddr.h - is an address of the public Internet? */
#ifndef CRAWLER_NETADDR_H
#define CRAWLER_NETADDR_H
#include <stdbool.h>
#include <sys/socket.h>

/* Loopback, private, link-local, shared, reserved, multicast and the like are not, nor IPv6
 * addresses that carry such an IPv4 address; nor anything but IPv4 and IPv6. */
bool netaddr_is_public(const struct sockaddr *a);
/* Is the text an IPv4 address, or an IPv6 address in brackets, that is not public? */
bool netaddr_text_is_private(const char *text);

#endif
