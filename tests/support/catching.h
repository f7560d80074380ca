/* catching.h - captures the command's output in a file. */
#ifndef TEST_CATCHING_H
#define TEST_CATCHING_H
#include "tools/base/out.h"
#include "unit.h"
#include <stdio.h>
#include <unistd.h>

struct catcher {
    FILE *file;
    struct out out;
    char text[1 << 16];
};

static inline void catch_begin(struct catcher *c)
{
    c->file = tmpfile();
    assert_non_null(c->file);
    assert_int_equal(out_init(&c->out, fileno(c->file), "a test", NULL), DEJA_OK);
}

static inline const char *catch_end(struct catcher *c)
{
    assert_int_equal(out_close(&c->out, NULL), DEJA_OK);
    rewind(c->file);
    size_t n = fread(c->text, 1, sizeof c->text - 1, c->file);
    c->text[n] = '\0';
    (void)fclose(c->file);
    return c->text;
}

#endif
