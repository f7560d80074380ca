/* foldcase.h - keys without regard to case (-i): ASCII letters become lower case.
 *
 * Bytes above 127 are unchanged, as with `LC_ALL=C uniq -i`, so the result does not depend on the
 * locale.  Only keys change: lines are printed as they are. */
#ifndef CLI_SESSION_FOLDCASE_H
#define CLI_SESSION_FOLDCASE_H
#include "tools/input/blocks.h"

/* Changes the keys of a block.  Keys without capital letters are not copied.  DEJA_ENOMEM: the
 * block is then empty. */
int foldcase_run(struct block *b, deja_error *err);

#endif
