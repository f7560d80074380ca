/* layering.h - the layers of a layered filter: how many, how large, and which parts they have. */
#ifndef DJ_LAYERING_H
#define DJ_LAYERING_H
#include "kinds/part.h"
#include "kinds/segments.h"

#define DJ_MAX_LAYERS  10
#define DJ_LAYER_PARTS 3 /* a layer is a series of so many parts, at most */

struct dj_plan;

/* What a plan says about them; all zero for other kinds. */
struct dj_layering {
    uint32_t layers;               /* at most so many; 0: words, as many as a key asks for */
    uint32_t delimiter;            /* words: the byte between them */
    uint64_t first[DJ_MAX_LAYERS]; /* capacity of a layer's first part; 0: by rule */
};

#define DJ_WEIGHTS 256 /* steps of a 64th of the capacity */

/* What a layered filter keeps at hand. */
struct dj_layers {
    uint8_t n[DJ_MAX_LAYERS];                    /* parts of each layer */
    uint8_t part[DJ_MAX_LAYERS][DJ_LAYER_PARTS]; /* which, oldest first */
    uint64_t salt[DJ_MAX_LAYERS];                /* of each layer; 0 in mode paper */
    uint64_t place[DJ_MAX_SLOTS];                /* of each segment's share in the XOR layer */
    uint64_t weight[DJ_WEIGHTS];                 /* losses behind a new key, times 2^32 */
};

/* Check the options of a layered filter and take them over. */
int dj_layering_read(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* Mode paper; otherwise mode salted, where layers are sized by what they hold. */
bool dj_layering_is_paper(const struct dj_plan *plan);
/* The most layers that there can be. */
uint32_t dj_layering_most(const struct dj_plan *plan);
/* Bodies of the same size that the plan comes to: one, or in mode paper a layer each and the XOR
 * layer. */
uint32_t dj_layering_bodies(const struct dj_plan *plan);
/* Whether the XOR layer takes the XOR of positions, which is uniform below powers of two alone. */
bool dj_layering_wants_power_of_2(const struct dj_plan *plan);
/* How keys of this plan are cut. */
struct dj_cut dj_layering_cut(const struct dj_plan *plan);
/* Part number nth, from 0, of layer 1, 2, ..; false when it would be too large.  like: n parts
 * that the filter has already. */
bool dj_layering_part(const struct dj_plan *plan, uint32_t layer, uint32_t nth,
                      struct dj_part *const *like, uint32_t n, struct dj_part *part);
/* The most that the layers of mode salted can take: each with n different segments; nothing in
 * mode paper.  False when a part would be too large. */
bool dj_layering_besides(const struct dj_plan *plan, uint64_t *bits, uint64_t *bytes);
/* Kind of part i: the XOR layer is classic, and so are all layers in mode paper. */
const struct dj_kind *dj_layering_part_kind(const struct dj_plan *plan, uint32_t i);
/* The fields of a header within their limits; whether these parts, as a file lists them, make
 * layers of such a plan. */
int dj_layering_check(const struct dj_plan *plan, deja_error *err);
bool dj_layering_is_sound(const struct dj_plan *plan, const struct dj_part *part, uint32_t n);

/* Salts and weights of a filter whose plan and key are set; the index of the parts that it has,
 * again whenever there are more. */
void dj_layering_init(deja_filter *f);
void dj_layering_index(deja_filter *f);
/* Keys lost so far. */
double dj_layering_lost(const deja_filter *f);
void dj_layering_set_lost(deja_filter *f, double lost);
/* The next visit's layers begin with what this visit saw in each. */
void dj_layering_next(const deja_filter *f, struct dj_plan *plan);

#endif
