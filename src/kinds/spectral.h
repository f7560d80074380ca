/* spectral.h - what the two layouts of counters share: the sizes, and removals and counts over F
 * parts. */
#ifndef DJ_SPECTRAL_H
#define DJ_SPECTRAL_H
#include "kinds/spatial.h"

int dj_spectral_read(const deja_options *opt, struct dj_plan *plan, deja_error *err);
int dj_spectral_check(const struct dj_plan *plan, deja_error *err);
bool dj_spectral_remove(deja_filter *f, uint64_t hash, bool shared);
uint32_t dj_spectral_count(const deja_filter *f, uint64_t hash);
void dj_spectral_stats(const deja_filter *f, deja_stats *s);
/* Operations of a body that do not depend on where the counters of a key are. */
uint64_t dj_spectral_used(const struct dj_part *p);
void dj_spectral_unite(struct dj_part *into, const struct dj_part *from);

extern const char *const dj_spectral_options[];
extern const struct dj_field dj_spectral_record[];
#define DJ_SPECTRAL_RECORD                                                                        \
    {                                                                                             \
        dj_spectral_record, 2                                                                     \
    }

#endif
