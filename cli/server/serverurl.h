/* serverurl.h - the URL of a server: redis://[[USER]:PASSWORD@]HOST[:PORT][/DB]. */
#ifndef CLI_SERVER_SERVERURL_H
#define CLI_SERVER_SERVERURL_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

struct serverurl {
    char host[256];
    int port;
    char user[128], password[256]; /* empty: none */
    int db;
};

/* The error never contains a password. */
int serverurl_parse(const char *url, struct serverurl *a, deja_error *err);

/* The decimal number in [text, end), or -1 if it is not one or exceeds `most`. */
int serverurl_number(const char *text, const char *end, int most);
/* Copies and terminates a text; false if it is too long. */
bool serverurl_copy(char *to, size_t cap, const char *from, size_t len);

#endif
