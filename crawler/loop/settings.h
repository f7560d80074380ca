/* settings.h - the options of a crawl that its folder remembers. */
#ifndef CRAWLER_LOOP_SETTINGS_H
#define CRAWLER_LOOP_SETTINGS_H
#include "crawler/loop/crawler.h"

/* Complete c->settled, which initially has the given options: each is as given, as remembered, or
 * the default.  DEJA_EMISMATCH: a given option contradicts the current visit. */
int settings_settle(struct crawler *c, deja_error *err);
/* Report the remembered options, and a missing contact. */
void settings_say(struct crawler *c);
void settings_fini(struct crawler *c);
/* The version of these URL rules that the queue has stored as "url", or NULL: it has others. */
const deja_url_rules *settings_rules(deja_slice stored, const deja_url_rules *newest);

#endif
