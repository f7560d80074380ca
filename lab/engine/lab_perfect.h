/* lab_perfect.h - a bitmap indexed by a minimal perfect hash function; for the lab only. */
#ifndef LAB_ENGINE_LAB_PERFECT_H
#define LAB_ENGINE_LAB_PERFECT_H
#include "lab/engine/lab.h"

/* The function is built for all 2 n URLs; the bits of the added ones are set. */
struct lab_perfect {
    double wrong;           /* wrong answers for these 2 n URLs */
    double hash_bits;       /* bits per URL of the function */
    double strangers;       /* URLs unknown to the function that test positive ... */
    double strangers_asked; /* ... out of this many */
};
bool lab_perfect_available(void);
/* All zero if built without libcmph. */
int lab_perfect(const struct lab *lab, struct lab_perfect *result, deja_error *err);

#endif
