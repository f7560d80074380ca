#include "core/url/url.h"
int dj_url_gsb(const struct deja_url_rules *r, deja_slice url, struct dj_text *out)
{ (void)r; (void)url; (void)out; return DEJA_ENOTURL; }
int deja_url_expressions(deja_slice canon, char *out, size_t cap, deja_slice expression[DEJA_URL_EXPRESSIONS], size_t *n)
{ (void)canon; (void)out; (void)cap; (void)expression; *n = 0; return DEJA_OK; }
