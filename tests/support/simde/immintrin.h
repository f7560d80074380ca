/* immintrin.h - replaces the compiler's header: AVX-512 in plain C, by SIMDe, so that
 * block_avx512.c can be tested on machines without these instructions. */
#ifndef DJ_SIMDE_IMMINTRIN_H
#define DJ_SIMDE_IMMINTRIN_H
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

/* Intrinsics that SIMDe 0.7.4 lacks, built from those it has. */
#define __mmask16 simde__mmask16
#ifndef _mm512_maskz_sllv_epi32
#define _mm512_maskz_sllv_epi32(k, a, count)                                                      \
    simde_mm512_maskz_mov_epi32(k, simde_mm512_sllv_epi32(a, count))
#endif
#ifndef _mm512_mask_testn_epi32_mask
#define _mm512_mask_testn_epi32_mask(k, a, b)                                                     \
    ((__mmask16)((k) & ~simde_mm512_test_epi32_mask(a, b)))
#endif

#ifndef _mm512_mask_store_epi32
#define _mm512_mask_store_epi32 emulated_mask_store
/* Touches only the chosen lanes, as the instruction does. */
static inline void emulated_mask_store(void *to, __mmask16 k, simde__m512i a)
{
    int32_t lane[16];
    simde_mm512_storeu_si512(lane, a);
    for (unsigned i = 0; i < 16; i++)
        if (k >> i & 1)
            ((int32_t *)to)[i] = lane[i];
}
#endif

#endif
