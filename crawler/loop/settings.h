/* settings.h - the options of a crawl that its folder remembers. */
#ifndef CRAWLER_LOOP_SETTINGS_H
#define CRAWLER_LOOP_SETTINGS_H
#include "crawler/loop/crawler.h"

/* Make c->settled, which begins as what was given, what holds: as given, as before, or the
 * default.  DEJA_EMISMATCH: given in contradiction to the visit that has begun. */
int settings_settle(struct crawler *c, deja_error *err);
/* Tell what was taken over, and what is missing. */
void settings_say(struct crawler *c);
void settings_fini(struct crawler *c);

#endif
