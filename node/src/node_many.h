/* node_many.h - calls with many keys: (handle, keys, verb).  keys is an array, or a Uint8Array whose
 * lines are the keys. */
#ifndef NODE_MANY_H
#define NODE_MANY_H
#include "node_batch.h"

/* Makes the array of n answers that a verb returns, and where to store them. */
napi_value node_many_answers(napi_env env, enum node_verb verb, size_t n,
                             union node_answers *answers);
napi_value node_many_run(napi_env env, napi_callback_info info);
#endif
