/* paramfile.c - names of query parameters; see paramfile.h. */
#include "cli/options/paramfile.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/scan.h"
#include "tools/base/sys.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX ((size_t)16 << 20) /* bytes: this is a list of names, not of URLs */

void paramnames_fini(struct paramnames *p)
{
    free(p->name);
    free(p->text);
    *p = (struct paramnames){0};
}

/* Appends a name.  The array doubles when the number of names is a power of two. */
static bool append(struct paramnames *p, deja_slice name)
{
    if ((p->n & (p->n - 1)) == 0) {
        deja_slice *more = sys_array(p->name, p->n ? 2 * p->n : 1, sizeof *more);
        if (!more)
            return false;
        p->name = more;
    }
    p->name[p->n++] = name;
    return true;
}

/* Explains why this is not a name, or returns NULL.  A `*` is allowed only at the end, and not
 * alone, which would drop all parameters. */
static const char *what_is_wrong(deja_slice name)
{
    const char *const text = name.data, *const star = memchr(text, '*', name.len);
    if (memchr(text, '=', name.len) || memchr(text, '&', name.len))
        return "contains = or &; give only the part before the =";
    if (star && star != text + name.len - 1)
        return "has a * that is not at the end";
    if (star && name.len == 1)
        return "matches every name";
    for (size_t i = 0; i < name.len; i++)
        if (scan_is_blank(text[i]))
            return "contains a blank; give one name per line";
    return NULL;
}

static deja_slice trimmed(const char *at, const char *end)
{
    while (at < end && (scan_is_blank(*at) || *at == '\r'))
        at++;
    while (end > at && (scan_is_blank(end[-1]) || end[-1] == '\r'))
        end--;
    return (deja_slice){at, (size_t)(end - at)};
}

static const char *without_comment(const char *at, const char *end)
{
    for (const char *c = at; c < end; c++)
        if (*c == '#' && (c == at || scan_is_blank(c[-1])))
            return c;
    return end;
}

static int parse(struct paramnames *p, const char *path, size_t len, deja_error *err)
{
    const char *at = p->text, *const end = at + len;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const deja_slice name = trimmed(at, without_comment(at, stop));
        at = stop + 1;
        if (name.len == 0)
            continue;
        const char *wrong = what_is_wrong(name);
        if (wrong)
            return fail(err, DEJA_EINVAL, "%s: line %zu is not a parameter name: it %s",
                        fail_path(path).text, line, wrong);
        if (!append(p, name))
            return fail(err, DEJA_ENOMEM, "%s: out of memory", fail_path(path).text);
    }
    return DEJA_OK;
}

/* Reads a whole file, or a pipe, whose length is unknown. */
static int slurp(int fd, struct paramnames *p, const char *path, size_t *len, deja_error *err)
{
    size_t cap = 0;
    ssize_t got = 1;
    for (*len = 0; got > 0; *len += (size_t)got) {
        if (*len > FILE_MAX)
            return fail(err, DEJA_ENOMEM, "%s is too long for a list of parameters",
                        fail_path(path).text);
        char *text = array_grow(p->text, &cap, *len + 4096, 1);
        if (!text)
            return fail(err, DEJA_ENOMEM, "%s: out of memory", fail_path(path).text);
        p->text = text;
        got = io_read(fd, text + *len, cap - *len);
        if (got < 0)
            return fail_errno(err, "%s: cannot read the list of parameters", fail_path(path).text);
    }
    return DEJA_OK;
}

int paramnames_read(struct paramnames *p, const char *path, deja_error *err)
{
    size_t len;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open the list of parameters", fail_path(path).text);
    int rc = slurp(fd, p, path, &len, err);
    (void)close(fd);
    return rc < 0 ? rc : parse(p, path, len, err);
}

int paramnames_split(struct paramnames *p, const char *text, deja_error *err)
{
    for (;;) {
        const size_t len = strcspn(text, ",");
        const deja_slice name = trimmed(text, text + len);
        const char *wrong = name.len ? what_is_wrong(name) : NULL;
        if (wrong)
            return fail(err, DEJA_EINVAL, "'%.*s' is not a parameter name: it %s",
                        name.len < 40 ? (int)name.len : 40, (const char *)name.data, wrong);
        if (name.len && !append(p, name))
            return fail(err, DEJA_ENOMEM, "out of memory");
        if (text[len] == '\0')
            return DEJA_OK;
        text += len + 1;
    }
}
