/* layering.h - the layers of a layered filter: their number, sizes and parts. */
#ifndef DJ_LAYERING_H
#define DJ_LAYERING_H
#include "kinds/part.h"
#include "kinds/segments.h"

#define DJ_MAX_LAYERS  10
#define DJ_LAYER_PARTS 3 /* a layer is a series of at most 3 parts */

struct dj_plan;

/* The layers in a plan; all zero for other kinds. */
struct dj_layering {
    uint32_t layers;               /* the most layers; 0: the number of words in a key decides */
    uint32_t delimiter;            /* words: the byte between them */
    uint64_t first[DJ_MAX_LAYERS]; /* capacity of each layer's first part; 0: the default */
};

#define DJ_WEIGHTS 256 /* in steps of 1/64 of the capacity */

/* Tables that a layered filter computes once. */
struct dj_layers {
    uint8_t n[DJ_MAX_LAYERS];                    /* parts of each layer */
    uint8_t part[DJ_MAX_LAYERS][DJ_LAYER_PARTS]; /* their indexes, oldest first */
    uint64_t salt[DJ_MAX_LAYERS];                /* of each layer; 0 in paper mode */
    uint64_t place[DJ_MAX_SLOTS];                /* salt of each segment in the XOR layer */
    uint64_t weight[DJ_WEIGHTS];                 /* lost keys per new key, times 2^32 */
};

/* Checks the options of a layered filter and copies them into the plan. */
int dj_layering_read(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* True in paper mode; in salted mode, layers grow with their contents. */
bool dj_layering_is_paper(const struct dj_plan *plan);
/* The most layers that the filter can have. */
uint32_t dj_layering_most(const struct dj_plan *plan);
/* The number of bodies of the size plan->shape: one or, in paper mode, one for each layer and one
 * for the XOR layer. */
uint32_t dj_layering_bodies(const struct dj_plan *plan);
/* True if the XOR layer gets the XOR of positions, which is uniform only below powers of two. */
bool dj_layering_wants_power_of_2(const struct dj_plan *plan);
/* How keys of this plan are split. */
struct dj_cut dj_layering_cut(const struct dj_plan *plan);
/* Describes part nth = 0, 1, .. of layer 1, 2, ..; false if it would be too large.  like: the n
 * parts that the filter already has. */
bool dj_layering_part(const struct dj_plan *plan, uint32_t layer, uint32_t nth,
                      struct dj_part *const *like, uint32_t n, struct dj_part *part);
/* The most memory that the layers can take in salted mode, each with n distinct segments; 0 in
 * paper mode.  False if a part would be too large. */
bool dj_layering_besides(const struct dj_plan *plan, uint64_t *bits, uint64_t *bytes);
/* The kind of part i: classic for the XOR layer and in paper mode, otherwise blocked. */
const struct dj_kind *dj_layering_part_kind(const struct dj_plan *plan, uint32_t i);
/* Check the fields of a header, and that the parts listed in a file match the layers of the plan.
 */
int dj_layering_check(const struct dj_plan *plan, deja_error *err);
bool dj_layering_is_sound(const struct dj_plan *plan, const struct dj_part *part, uint32_t n);

/* Compute the salts and weights of a filter whose plan and key are set, and the index of its parts
 * each time parts are added. */
void dj_layering_init(deja_filter *f);
void dj_layering_index(deja_filter *f);
/* Returns the part of f that has the same place in the same layer as part i of the other filter,
 * or f->n_parts if f lacks it. */
uint32_t dj_layering_twin(const deja_filter *f, const deja_filter *other, uint32_t i);
/* Keys lost so far. */
double dj_layering_lost(const deja_filter *f);
void dj_layering_set_lost(deja_filter *f, double lost);
/* Sizes each layer of the next visit from the number of segments that it held in this visit. */
void dj_layering_next(const deja_filter *f, struct dj_plan *plan);

#endif
