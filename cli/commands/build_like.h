/* build_like.h - deja build --like: the options of another filter. */
#ifndef CLI_COMMANDS_BUILD_LIKE_H
#define CLI_COMMANDS_BUILD_LIKE_H
#include "cli/options/shared_options.h"

struct build_like {
    deja_filter *filter; /* keeps its key, which c->filter points to; NULL: no --like */
    deja_stats stats;
};

/* Opens the filter and takes options from it that the user did not give. */
int build_like_init(struct build_like *l, const char *path, struct shared_options *c,
                    deja_error *err);
void build_like_fini(struct build_like *l);

#endif
