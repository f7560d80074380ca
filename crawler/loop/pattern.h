/* pattern.h - POSIX extended regular expressions that are matched against URLs. */
#ifndef CRAWLER_LOOP_PATTERN_H
#define CRAWLER_LOOP_PATTERN_H
#include "deja.h"
#include <regex.h>

/* DEJA_EINVAL: err names the option and the text.  Free with regfree. */
int pattern_compile(regex_t *regex, const char *text, const char *option, deja_error *err);
bool pattern_matches(const regex_t *regex, deja_slice url);

#endif
