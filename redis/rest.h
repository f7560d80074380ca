/* rest.h - small filters at rest: just their bytes, without the tables of a filter in use. */
#ifndef REST_H
#define REST_H
#include "value.h"
#include <stdbool.h>

/* Brings the value into use, if it is at rest.  DEJA_ENOMEM: it stays at rest. */
int rest_wake(struct value *v, deja_error *err);
/* The filter of v is in use.  It comes to rest at a later rest_trim; until then, v->filter stays. */
void rest_note(struct value *v);
/* Puts all small filters to rest, except those used last. */
void rest_trim(void);
/* Call it before a value is freed; any thread may. */
void rest_forget(struct value *v);

/* The file of a value at rest: its length, and a part of it. */
uint64_t rest_len(const struct value *v);
size_t rest_read(const struct value *v, uint64_t at, void *out, size_t len);
/* The memory of the value's filter when it is at rest; 0: it never is. */
size_t rest_size(const struct value *v);

#endif
