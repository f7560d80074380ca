/* _fast.c - the calls of deja.Filter that matter most, without ctypes.
 *
 * A call through ctypes takes more than a microsecond, many times as long as the library.  Here,
 * the type Single has the calls with one key (add, `in`, remove, count), and slices() turns a list
 * of keys into the array that a batch takes.
 *
 * This file handles only the common case.  A call reads the object's `_direct`, the handle that it
 * may use (_state.py).  If the filter is closed, nearly full or in use by an exclusive call, or if
 * the key is not exactly a str or bytes, it calls the plain Python method.  So all rules and
 * messages are in Python, and both ways give the same results.
 *
 * A call with one key holds the interpreter's lock, because releasing it would take longer than the
 * call.  The lock also keeps exclusive calls from starting.  Batches go through ctypes, which
 * releases the lock.
 *
 * The extension is not linked with libdeja.  connect() receives the addresses of the functions, so
 * the extension and ctypes use the same library, wherever it came from.
 *
 * The UTF-8 form of a str is borrowed.  For ASCII it is the str itself; for other text the
 * interpreter stores it with the str, which takes its size in memory as long as the str lives. */
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <structmember.h>

#include <deja.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* In every Python since 3.7, but declared only for later limited interfaces. */
#if Py_LIMITED_API + 0 < 0x030A0000
const char *PyUnicode_AsUTF8AndSize(PyObject *text, Py_ssize_t *size);
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif
#endif

/* --- The library --------------------------------------------------------- */

static struct {
    __typeof__(&deja_filter_add) add;
    __typeof__(&deja_filter_contains) contains;
    __typeof__(&deja_filter_remove) remove;
    __typeof__(&deja_filter_count) count;
    __typeof__(&deja_filter_check_file) check_file;
    __typeof__(&deja_url_canon) canon;
    bool guarded; /* a lookup checks the file */
} lib;

static PyObject *connect_library(PyObject *module, PyObject *args)
{
    unsigned long long at[6];
    (void)module;
    if (!PyArg_ParseTuple(args, "KKKKKK:connect", &at[0], &at[1], &at[2], &at[3], &at[4], &at[5]))
        return NULL;
    lib.add = (__typeof__(lib.add))(uintptr_t)at[0];
    lib.contains = (__typeof__(lib.contains))(uintptr_t)at[1];
    lib.remove = (__typeof__(lib.remove))(uintptr_t)at[2];
    lib.count = (__typeof__(lib.count))(uintptr_t)at[3];
    lib.check_file = (__typeof__(lib.check_file))(uintptr_t)at[4];
    lib.canon = (__typeof__(lib.canon))(uintptr_t)at[5];
    Py_RETURN_NONE;
}

static PyObject *guard(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    lib.guarded = true;
    Py_RETURN_NONE;
}

/* --- Keys ---------------------------------------------------------------- */

/* Borrows the bytes of a str or bytes.  False: neither, or a str with lone surrogates. */
static bool borrow(PyObject *key, deja_slice *out)
{
    Py_ssize_t len = 0;
    if (PyUnicode_CheckExact(key)) {
        out->data = PyUnicode_AsUTF8AndSize(key, &len);
        if (!out->data)
            PyErr_Clear(); /* Python's own conversion decides */
    } else if (PyBytes_CheckExact(key)) {
        out->data = PyBytes_AsString(key);
        len = PyBytes_Size(key);
    } else {
        return false;
    }
    out->len = (size_t)len;
    return out->data;
}

/* slices(keys, address, convert) - point the deja_slice array at this address to the keys of a list.
 * convert(key) returns bytes for a key that cannot be borrowed; they replace the key in the list,
 * which must live as long as the slices are in use. */
static PyObject *slices(PyObject *module, PyObject *args)
{
    PyObject *keys, *convert;
    unsigned long long address;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!KO:slices", &PyList_Type, &keys, &address, &convert))
        return NULL;
    deja_slice *slice = (deja_slice *)(uintptr_t)address;
    const Py_ssize_t n = PyList_Size(keys);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *key = PyList_GetItem(keys, i);
        if (!key)
            return NULL;
        if (borrow(key, &slice[i]))
            continue;
        PyObject *bytes = PyObject_CallFunctionObjArgs(convert, key, NULL);
        if (!bytes || PyList_SetItem(keys, i, bytes) != 0)
            return NULL;
        if (!borrow(bytes, &slice[i])) {
            PyErr_SetString(PyExc_TypeError, "convert must return bytes");
            return NULL;
        }
    }
    Py_RETURN_NONE;
}

/* --- Calls with one key -------------------------------------------------- */

struct single {
    PyObject_HEAD unsigned long long direct; /* the deja_filter; 0: the plain method decides */
    unsigned long long rules; /* its deja_url_rules; 0: keys are compared unchanged */
    Py_ssize_t room;          /* new keys until the plain method checks the size */
    char writable;
};

enum {
    ROOM = DEJA_URL_ROOM(1024)
};

/* A key while it is in use, and the filter to use it with. */
struct request {
    deja_filter *f;
    deja_slice key;
    char room[ROOM]; /* for its canonical form */
};

/* Prepares a call.  False: the plain method must handle it, for example because it counts the keys
 * that are not URLs. */
static bool prepare(const struct single *self, PyObject *key, struct request *r)
{
    if (!self->direct || !borrow(key, &r->key))
        return false;
    r->f = (deja_filter *)(uintptr_t)self->direct;
    if (!self->rules)
        return true;
    const deja_url_rules *rules = (const deja_url_rules *)(uintptr_t)self->rules;
    const deja_slice url = r->key;
    return DEJA_URL_ROOM(url.len) <= ROOM &&
           lib.canon(rules, url, r->room, ROOM, &r->key, NULL) == DEJA_OK && r->key.len > 0;
}

/* Calls the plain method with all arguments of a call. */
static PyObject *plain(PyObject *self, const char *name, PyObject *const *args, Py_ssize_t n,
                       PyObject *names)
{
    if (n == 1 && !names)
        return PyObject_CallMethod(self, name, "(O)", args[0]);
    PyObject *method = PyObject_GetAttrString(self, name);
    PyObject *positional = PyTuple_New(n);
    PyObject *named = PyDict_New();
    PyObject *result = NULL;
    bool ok = method && positional && named;
    for (Py_ssize_t i = 0; ok && i < n; i++) {
        Py_INCREF(args[i]);
        ok = PyTuple_SetItem(positional, i, args[i]) == 0;
    }
    for (Py_ssize_t i = 0; ok && names && i < PyTuple_Size(names); i++)
        ok = PyDict_SetItem(named, PyTuple_GetItem(names, i), args[n + i]) == 0;
    if (ok)
        result = PyObject_Call(method, positional, named);
    Py_XDECREF(method);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return result;
}

/* Raises the exception for an error of the library. */
static PyObject *failed(PyObject *self, int status, const deja_error *error)
{
    const int number = errno;
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)error, (Py_ssize_t)sizeof *error);
    return bytes ? PyObject_CallMethod(self, "_failed", "(iiN)", status, number, bytes) : NULL;
}

static PyObject *single_add(PyObject *object, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    struct single *self = (struct single *)object;
    struct request r;
    if (n != 1 || names || !self->writable || self->room <= 1 || !prepare(self, args[0], &r))
        return plain(object, "_plain_add", args, n, names);
    bool is_new = false;
    deja_error error = {.status = DEJA_OK};
    const int status = lib.add(r.f, r.key, &is_new, &error);
    if (status != DEJA_OK)
        return failed(object, status, &error);
    if (is_new && self->room != PY_SSIZE_T_MAX)
        self->room--;
    return PyBool_FromLong(is_new);
}

static int single_contains(PyObject *object, PyObject *key)
{
    struct request r;
    if (prepare((struct single *)object, key, &r)) {
        const bool found = lib.contains(r.f, r.key);
        if (!lib.guarded || lib.check_file(r.f, NULL) == DEJA_OK)
            return found;
    }
    PyObject *answer = plain(object, "_plain_contains", &key, 1, NULL);
    const int found = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return found;
}

static PyObject *single_remove(PyObject *object, PyObject *const *args, Py_ssize_t n,
                               PyObject *names)
{
    struct single *self = (struct single *)object;
    struct request r;
    if (n != 1 || names || !self->writable || !prepare(self, args[0], &r))
        return plain(object, "_plain_remove", args, n, names);
    bool removed = false;
    deja_error error = {.status = DEJA_OK};
    const int status = lib.remove(r.f, r.key, &removed, &error);
    return status == DEJA_OK ? PyBool_FromLong(removed) : failed(object, status, &error);
}

static PyObject *single_count(PyObject *object, PyObject *const *args, Py_ssize_t n,
                              PyObject *names)
{
    struct request r;
    if (n != 1 || names || !prepare((struct single *)object, args[0], &r))
        return plain(object, "_plain_count", args, n, names);
    uint64_t count = 0;
    deja_error error = {.status = DEJA_OK};
    const int status = lib.count(r.f, r.key, &count, &error);
    return status == DEJA_OK ? PyLong_FromUnsignedLongLong(count) : failed(object, status, &error);
}

/* --- The module ---------------------------------------------------------- */

#define CALL(name, function, help)                                                                \
    {                                                                                             \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL | METH_KEYWORDS,             \
            name "($self, /, key)\n--\n\n" help                                                   \
    }

static PyMethodDef single_methods[] = {
    CALL("add", single_add, "Add a key, a str or bytes; return True if it was new."),
    CALL("remove", single_remove,
         "Undo one add of a key (kinds spectral and paired); return False if the key is absent."),
    CALL("count", single_count,
         "Return how many times a key was added and not removed, or more (kind spectral)."),
    {NULL, NULL, 0, NULL},
};

static PyMemberDef single_members[] = {
    {"_direct", T_ULONGLONG, offsetof(struct single, direct), 0, NULL},
    {"_direct_rules", T_ULONGLONG, offsetof(struct single, rules), 0, NULL},
    {"_room", T_PYSSIZET, offsetof(struct single, room), 0, NULL},
    {"_writable", T_BOOL, offsetof(struct single, writable), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* A slot is a void *, also for a function: POSIX allows the conversion, ISO C does not. */
#define SLOT(function) ((void *)(uintptr_t)(function))

static PyType_Slot single_slots[] = {
    {Py_tp_methods, single_methods},
    {Py_tp_members, single_members},
    {Py_sq_contains, SLOT(single_contains)},
    {0, NULL},
};

static PyType_Spec single_spec = {
    .name = "deja._fast.Single",
    .basicsize = (int)sizeof(struct single),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = single_slots,
};

static int fill(PyObject *module)
{
    PyObject *single = PyType_FromSpec(&single_spec);
    if (single && PyModule_AddObject(module, "Single", single) == 0)
        return 0;
    Py_XDECREF(single);
    return -1;
}

static PyMethodDef functions[] = {
    {"connect", connect_library, METH_VARARGS, "Use the functions at these addresses."},
    {"guard", guard, METH_NOARGS, "Check the file after every lookup."},
    {"slices", slices, METH_VARARGS, "Point an array of deja_slice to the keys of a list."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, SLOT(fill)},
    {0, NULL},
};

static PyModuleDef module_def = {
    PyModuleDef_HEAD_INIT,
    .m_name = "deja._fast",
    .m_doc = "Calls of deja.Filter without ctypes.",
    .m_methods = functions,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__fast(void);
PyMODINIT_FUNC PyInit__fast(void)
{
    return PyModuleDef_Init(&module_def);
}
