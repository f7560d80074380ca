#include "core/url/params.h"
const deja_url_rules *deja_url_profile(uint32_t profile) { (void)profile; return NULL; }
int deja_url_rules_new(uint32_t profile, unsigned flags, const deja_slice *drop, size_t n_drop, const deja_slice *keep, size_t n_keep, deja_url_rules **out, deja_error *err)
{ (void)profile; (void)flags; (void)drop; (void)n_drop; (void)keep; (void)n_keep; (void)out; (void)err; return DEJA_ENOTSUP; }
void deja_url_rules_free(deja_url_rules *r) { (void)r; }
uint64_t deja_url_rules_id(const deja_url_rules *r) { return r->id; }
int deja_url_resolve(deja_slice base, deja_slice link, char *out, size_t cap, deja_slice *url)
{ (void)base; (void)link; (void)out; (void)cap; (void)url; return DEJA_ENOTURL; }
size_t deja_url_split(deja_slice url, deja_slice *layer, size_t cap)
{ (void)url; (void)layer; (void)cap; return 0; }
int dj_url_safe(const struct deja_url_rules *r, deja_slice url, struct dj_text *out)
{ (void)r; (void)url; (void)out; return DEJA_ENOTURL; }
