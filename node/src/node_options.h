/* node_options.h - a JavaScript object with options, as deja_options. */
#ifndef NODE_OPTIONS_H
#define NODE_OPTIONS_H
#include "node_call.h"

struct node_options {
    deja_options opt; /* key points into this struct: do not copy it */
    uint8_t key[DEJA_KEY_LEN];
    deja_url_rules *own_rules;
    bool kind_given;
};
/* Reads an object whose properties are options in camel case, all given ones as data: our own
 * JavaScript has called the getters.  False: an exception is pending and nothing is to be freed. */
bool node_options_read(napi_env env, napi_value object, struct node_options *o);
/* Lets the filter grow: `grow` is true, false or undefined.  Without a size it grows in any case. */
bool node_options_grow(napi_env env, napi_value grow, struct node_options *o);
/* Leaves only what an existing filter must match. */
void node_options_demand(struct node_options *o);
void node_options_free(struct node_options *o);

/* options(): the table, for JavaScript and its tests. */
napi_value node_options_table(napi_env env, napi_callback_info info);
/* plan(options, grow) */
napi_value node_options_plan(napi_env env, napi_callback_info info);
#endif
