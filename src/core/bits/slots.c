/* slots.c - the portable kernel, and the choice of a kernel.
 *
 * Slots are read and written as relaxed atomics, which cost nothing on common machines and make a
 * lookup concurrent with an add well defined. */
#include "core/bits/slots.h"

struct look {
    unsigned hits, free; /* free: index of the first free slot, or DJ_SLOTS */
};

static inline struct look look_at(const uint64_t *line, uint64_t h, uint64_t extra)
{
    unsigned hits = 0, zeros = 1u << DJ_SLOTS;
    for (unsigned i = 0; i < DJ_SLOTS; i++) {
        const uint64_t slot = __atomic_load_n(line + i, __ATOMIC_RELAXED);
        hits |= (unsigned)((slot | extra) == (h | extra)) << i;
        zeros |= (unsigned)(slot == 0) << i;
    }
    return (struct look){hits, (unsigned)__builtin_ctz(zeros)};
}

static inline unsigned look_hit(struct look l)
{
    return l.hits != 0;
}

static inline unsigned look_full(struct look l)
{
    return l.free == DJ_SLOTS;
}

static inline void look_put(struct look l, uint64_t *line, uint64_t h)
{
    if (!look_full(l))
        __atomic_store_n(line + l.free, h, __ATOMIC_RELAXED);
}

#include "core/bits/slots_rounds.h"

const struct dj_slots_kernel dj_slots_portable = {"portable", rounds_contains, rounds_add};

const struct dj_slots_kernel *dj_slots_at(size_t i)
{
    const struct dj_slots_kernel *usable[2];
    size_t n = 0;
#if defined(DJ_HAVE_AVX2) && !defined(DJ_TSAN)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        usable[n++] = &dj_slots_avx2;
#endif
#if defined(DJ_HAVE_NEON) && !defined(DJ_TSAN)
    usable[n++] = &dj_slots_neon;
#endif
    usable[n++] = &dj_slots_portable;
    return i < n ? usable[i] : NULL;
}

const struct dj_slots_kernel *dj_slots_best(void)
{
    return dj_slots_at(0);
}
