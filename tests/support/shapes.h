/* shapes.h - bodies for computations, and the kinds that have a rate. */
#ifndef TEST_SHAPES_H
#define TEST_SHAPES_H
#include "core/base/compiler.h"
#include "core/math/sizing.h"
#include "deja.h"
#include "unit.h"

static const uint32_t bloom_layouts[] = {DJ_SPREAD, DJ_BLOCKS};
static const uint32_t all_layouts[] = {DJ_SPREAD, DJ_BLOCKS, DJ_TABLE};

/* The laws of bodies alone. */
static inline struct dj_shape classic(uint32_t k, uint64_t bits)
{
    return (struct dj_shape){.layout = DJ_SPREAD, .k = k, .bits = bits, .no_twins = true};
}

static inline struct dj_shape blocked(uint32_t k, uint64_t blocks)
{
    return (struct dj_shape){
        .layout = DJ_BLOCKS, .k = k, .bits = blocks * DJ_BLOCK_BITS, .no_twins = true};
}

/* The smallest body that really has this rate. */
static inline struct dj_shape fitted(uint32_t kind, uint32_t k, uint64_t n, double p)
{
    struct dj_shape s = {kind, k, 0};
    assert_true(dj_shape_fit(&s, n, p));
    return s;
}

#endif
