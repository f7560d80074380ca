#include "core/url/url.h"
int dj_url_scrapy(const struct deja_url_rules *r, deja_slice url, struct dj_text *out)
{ (void)r; (void)url; (void)out; return DEJA_ENOTURL; }
