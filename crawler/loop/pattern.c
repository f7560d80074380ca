/* pattern.c - POSIX extended regular expressions that are matched against URLs. */
#include "crawler/loop/pattern.h"
#include "tools/base/fail.h"
#include <string.h>

int pattern_compile(regex_t *regex, const char *text, const char *option, deja_error *err)
{
    char why[120];
    const int code = regcomp(regex, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return DEJA_OK;
    (void)regerror(code, regex, why, sizeof why);
    return fail(err, DEJA_EINVAL, "%s '%.60s': not a regular expression: %s", option, text, why);
}

/* regexec needs a string; of a URL that does not fit, only the beginning is matched. */
bool pattern_matches(const regex_t *regex, deja_slice url)
{
    char text[4096];
    const size_t len = url.len < sizeof text ? url.len : sizeof text - 1;
    memcpy(text, url.data, len);
    text[len] = '\0';
    return regexec(regex, text, 0, NULL, 0) == 0;
}
