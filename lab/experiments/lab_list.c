/* lab_list.c - the list of experiments: add a new one here. */
#include "lab/engine/lab.h"
#include <stddef.h>

extern const struct lab_experiment exp_hashes, exp_single, exp_memory, exp_speed, exp_temporal,
    exp_spatial, exp_spatiotemporal, exp_layered, exp_split, exp_cache, exp_spectral,
    exp_unknown_n, exp_evolved, exp_frontier, exp_replay, exp_lists;

const struct lab_experiment *const lab_experiments[] = {
    &exp_hashes,    &exp_single,         &exp_memory,   &exp_speed,  &exp_lists, &exp_temporal,
    &exp_spatial,   &exp_spatiotemporal, &exp_layered,  &exp_split,  &exp_cache, &exp_spectral,
    &exp_unknown_n, &exp_evolved,        &exp_frontier, &exp_replay, NULL,
};
