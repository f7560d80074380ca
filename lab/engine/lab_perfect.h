/* lab_perfect.h - a bitmap behind a minimal perfect hash function; for the lab only. */
#ifndef LAB_ENGINE_LAB_PERFECT_H
#define LAB_ENGINE_LAB_PERFECT_H
#include "lab/engine/lab.h"

/* The function is made for all 2 n URLs; the bits of those that go in are set. */
struct lab_perfect {
    double wrong;           /* answers about these 2 n URLs */
    double hash_bits;       /* of the function, for each of them */
    double strangers;       /* URLs that it has never heard of: taken for cached ... */
    double strangers_asked; /* ... of so many */
};
bool lab_perfect_available(void);
/* All zero where libcmph is not built in. */
int lab_perfect(const struct lab *lab, struct lab_perfect *result, deja_error *err);

#endif
