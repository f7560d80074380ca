/* netaddr.h - recognizes public Internet addresses. */
#ifndef CRAWLER_HTTP_NETADDR_H
#define CRAWLER_HTTP_NETADDR_H
#include <stdbool.h>
#include <sys/socket.h>

/* False for loopback, private, link-local, shared, reserved and multicast addresses, for IPv6
 * addresses that embed one, and for families other than IPv4 and IPv6. */
bool netaddr_is_public(const struct sockaddr *a);
/* Whether the text is an IPv4 address, or an IPv6 address in brackets, that is not public; false
 * for names. */
bool netaddr_text_is_private(const char *text);

#endif
