/* redisapi.h - our own declarations of the server's module API.
 *
 * A module gets one function, which finds the others by name.  So a build needs nothing from the
 * server except the names, arguments and numbers below, as in Redis 7.0 (Valkey has the same).
 * Calls marked OPTIONAL are NULL if the server lacks them; if it lacks another one, the module
 * does not load.
 *
 * RedisModule_OpenKey is the server's OpenKey. */
#ifndef REDISAPI_H
#define REDISAPI_H
#include <stddef.h>
#include <stdint.h>

typedef struct RedisModuleCtx RedisModuleCtx;
typedef struct RedisModuleString RedisModuleString;
typedef struct RedisModuleKey RedisModuleKey;
typedef struct RedisModuleIO RedisModuleIO;
typedef struct RedisModuleType RedisModuleType;
typedef struct RedisModuleDigest RedisModuleDigest;
typedef struct RedisModuleInfoCtx RedisModuleInfoCtx;
typedef struct RedisModuleDefragCtx RedisModuleDefragCtx;
typedef struct RedisModuleCommand RedisModuleCommand;
typedef struct RedisModuleCommandFilterCtx RedisModuleCommandFilterCtx;
typedef struct RedisModuleCommandFilter RedisModuleCommandFilter;
typedef struct RedisModuleServerInfoData RedisModuleServerInfoData;

typedef int (*RedisModuleCmdFunc)(RedisModuleCtx *ctx, RedisModuleString **argv, int argc);
typedef void (*RedisModuleInfoFunc)(RedisModuleInfoCtx *ctx, int for_crash_report);
typedef long long (*RedisModuleConfigGetNumericFunc)(const char *name, void *privdata);
typedef int (*RedisModuleConfigSetNumericFunc)(const char *name, long long val, void *privdata,
                                               RedisModuleString **err);
typedef RedisModuleString *(*RedisModuleConfigGetStringFunc)(const char *name, void *privdata);
typedef int (*RedisModuleConfigSetStringFunc)(const char *name, RedisModuleString *val,
                                              void *privdata, RedisModuleString **err);
typedef void (*RedisModuleCommandFilterFunc)(RedisModuleCommandFilterCtx *filter);
typedef int (*RedisModuleConfigApplyFunc)(RedisModuleCtx *ctx, void *privdata,
                                          RedisModuleString **err);

enum {
    REDISMODULE_OK = 0,
    REDISMODULE_ERR = 1,
    REDISMODULE_APIVER_1 = 1,
    REDISMODULE_POSTPONED_LEN = -1,
    /* OpenKey */
    REDISMODULE_READ = 1 << 0,
    REDISMODULE_WRITE = 1 << 1,
    REDISMODULE_KEYTYPE_EMPTY = 0,
    /* GetContextFlags */
    REDISMODULE_CTX_FLAGS_REPLICATED = 1 << 12,
    REDISMODULE_CTX_FLAGS_LOADING = 1 << 13,
    REDISMODULE_CTX_FLAGS_RESP3 = 1 << 22,
    /* SetModuleOptions: report a truncated or damaged RDB to us instead of exiting */
    REDISMODULE_OPTIONS_HANDLE_IO_ERRORS = 1 << 0,
    REDISMODULE_NOTIFY_MODULE = 1 << 13,
    /* SubscribeToServerEvent */
    REDISMODULE_EVENT_LOADING = 3,
    REDISMODULE_SUBEVENT_LOADING_ENDED = 3,
    REDISMODULE_SUBEVENT_LOADING_FAILED = 4,
    REDISMODULE_EVENT_SHUTDOWN = 5,
    /* Configs */
    REDISMODULE_CONFIG_DEFAULT = 0,
    REDISMODULE_CONFIG_MEMORY = 1 << 7,     /* accepts units: 4gb */
    REDISMODULE_CONFIG_UNPREFIXED = 1 << 9, /* from Redis 8 on */
};

typedef struct RedisModuleEvent {
    uint64_t id;
    uint64_t dataver;
} RedisModuleEvent;
typedef void (*RedisModuleEventCallback)(RedisModuleCtx *ctx, RedisModuleEvent event,
                                         uint64_t subevent, void *data);
typedef uint64_t RedisModuleTimerID;
typedef void (*RedisModuleTimerProc)(RedisModuleCtx *ctx, void *data);

/* Data types.  The server reads as many fields as the version says. */
#define REDISMODULE_TYPE_METHOD_VERSION 3
typedef struct RedisModuleTypeMethods {
    uint64_t version;
    void *(*rdb_load)(RedisModuleIO *io, int encver);
    void (*rdb_save)(RedisModuleIO *io, void *value);
    void (*aof_rewrite)(RedisModuleIO *aof, RedisModuleString *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(RedisModuleDigest *digest, void *value);
    void (*free)(void *value);
    int (*aux_load)(RedisModuleIO *io, int encver, int when);
    void (*aux_save)(RedisModuleIO *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(RedisModuleString *key, const void *value);
    void (*unlink)(RedisModuleString *key, const void *value);
    void *(*copy)(RedisModuleString *fromkey, RedisModuleString *tokey, const void *value);
    int (*defrag)(RedisModuleDefragCtx *ctx, RedisModuleString *key, void **value);
} RedisModuleTypeMethods;

/* A command as described to COMMAND DOCS and to cluster clients. */
typedef struct RedisModuleCommandHistoryEntry {
    const char *since;
    const char *changes;
} RedisModuleCommandHistoryEntry;

enum {
    REDISMODULE_CMD_KEY_RO = 1 << 0,
    REDISMODULE_CMD_KEY_RW = 1 << 1,
    REDISMODULE_CMD_KEY_ACCESS = 1 << 4,
    REDISMODULE_CMD_KEY_UPDATE = 1 << 5,
    REDISMODULE_CMD_KEY_INSERT = 1 << 6,
};
typedef enum {
    REDISMODULE_KSPEC_BS_INDEX = 2
} RedisModuleKeySpecBeginSearchType;
typedef enum {
    REDISMODULE_KSPEC_FK_RANGE = 2
} RedisModuleKeySpecFindKeysType;
typedef struct RedisModuleCommandKeySpec {
    const char *notes;
    uint64_t flags;
    RedisModuleKeySpecBeginSearchType begin_search_type;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int startfrom;
        } keyword;
    } bs;
    RedisModuleKeySpecFindKeysType find_keys_type;
    union {
        struct {
            int lastkey;
            int keystep;
            int limit;
        } range;
        struct {
            int keynumidx;
            int firstkey;
            int keystep;
        } keynum;
    } fk;
} RedisModuleCommandKeySpec;

typedef enum {
    REDISMODULE_ARG_TYPE_STRING,
    REDISMODULE_ARG_TYPE_INTEGER,
    REDISMODULE_ARG_TYPE_DOUBLE,
    REDISMODULE_ARG_TYPE_KEY,
    REDISMODULE_ARG_TYPE_PATTERN,
    REDISMODULE_ARG_TYPE_UNIX_TIME,
    REDISMODULE_ARG_TYPE_PURE_TOKEN,
    REDISMODULE_ARG_TYPE_ONEOF,
    REDISMODULE_ARG_TYPE_BLOCK
} RedisModuleCommandArgType;
enum {
    REDISMODULE_CMD_ARG_OPTIONAL = 1 << 0,
    REDISMODULE_CMD_ARG_MULTIPLE = 1 << 1
};
typedef struct RedisModuleCommandArg {
    const char *name;
    RedisModuleCommandArgType type;
    int key_spec_index; /* -1 if it is not a key */
    const char *token;
    const char *summary;
    const char *since;
    int flags;
    const char *deprecated_since;
    struct RedisModuleCommandArg *subargs;
    const char *display_text;
} RedisModuleCommandArg;

typedef struct RedisModuleCommandInfoVersion {
    int version;
    size_t sizeof_historyentry;
    size_t sizeof_keyspec;
    size_t sizeof_arg;
} RedisModuleCommandInfoVersion;
typedef struct RedisModuleCommandInfo {
    const RedisModuleCommandInfoVersion *version;
    const char *summary;
    const char *complexity;
    const char *since;
    RedisModuleCommandHistoryEntry *history;
    const char *tips;
    int arity;
    RedisModuleCommandKeySpec *key_specs;
    RedisModuleCommandArg *args;
} RedisModuleCommandInfo;

/* CALL(result, name, arguments) for each call. */
#define REDISAPI_CALLS(CALL, OPTIONAL)                                                            \
    CALL(void *, Alloc, (size_t))                                                                 \
    CALL(void *, TryAlloc, (size_t))                                                              \
    CALL(void, Free, (void *))                                                                    \
    CALL(size_t, MallocSize, (void *))                                                            \
    CALL(int, IsModuleNameBusy, (const char *))                                                   \
    CALL(void, SetModuleAttribs, (RedisModuleCtx *, const char *, int, int))                      \
    CALL(void, SetModuleOptions, (RedisModuleCtx *, int))                                         \
    CALL(int, GetContextFlags, (RedisModuleCtx *))                                                \
    CALL(int, CreateCommand,                                                                      \
         (RedisModuleCtx *, const char *, RedisModuleCmdFunc, const char *, int, int, int))       \
    CALL(RedisModuleCommand *, GetCommand, (RedisModuleCtx *, const char *))                      \
    CALL(int, SetCommandInfo, (RedisModuleCommand *, const RedisModuleCommandInfo *))             \
    CALL(int, WrongArity, (RedisModuleCtx *))                                                     \
    CALL(int, ReplyWithLongLong, (RedisModuleCtx *, long long))                                   \
    CALL(int, ReplyWithDouble, (RedisModuleCtx *, double))                                        \
    CALL(int, ReplyWithBool, (RedisModuleCtx *, int))                                             \
    CALL(int, ReplyWithNull, (RedisModuleCtx *))                                                  \
    CALL(int, ReplyWithError, (RedisModuleCtx *, const char *))                                   \
    CALL(int, ReplyWithSimpleString, (RedisModuleCtx *, const char *))                            \
    CALL(int, ReplyWithCString, (RedisModuleCtx *, const char *))                                 \
    CALL(int, ReplyWithStringBuffer, (RedisModuleCtx *, const char *, size_t))                    \
    CALL(int, ReplyWithArray, (RedisModuleCtx *, long))                                           \
    CALL(void, ReplySetArrayLength, (RedisModuleCtx *, long))                                     \
    CALL(int, ReplyWithMap, (RedisModuleCtx *, long))                                             \
    CALL(void, ReplySetMapLength, (RedisModuleCtx *, long))                                       \
    CALL(RedisModuleKey *, OpenKey, (RedisModuleCtx *, RedisModuleString *, int))                 \
    CALL(void, CloseKey, (RedisModuleKey *))                                                      \
    CALL(int, KeyType, (RedisModuleKey *))                                                        \
    CALL(int, DeleteKey, (RedisModuleKey *))                                                      \
    CALL(RedisModuleType *, CreateDataType,                                                       \
         (RedisModuleCtx *, const char *, int, RedisModuleTypeMethods *))                         \
    CALL(int, ModuleTypeSetValue, (RedisModuleKey *, RedisModuleType *, void *))                  \
    CALL(RedisModuleType *, ModuleTypeGetType, (RedisModuleKey *))                                \
    CALL(void *, ModuleTypeGetValue, (RedisModuleKey *))                                          \
    CALL(RedisModuleString *, CreateString, (RedisModuleCtx *, const char *, size_t))             \
    CALL(void, FreeString, (RedisModuleCtx *, RedisModuleString *))                               \
    CALL(const char *, StringPtrLen, (const RedisModuleString *, size_t *))                       \
    CALL(int, StringToLongLong, (const RedisModuleString *, long long *))                         \
    CALL(int, StringToDouble, (const RedisModuleString *, double *))                              \
    CALL(int, Replicate, (RedisModuleCtx *, const char *, const char *, ...))                     \
    CALL(int, ReplicateVerbatim, (RedisModuleCtx *))                                              \
    CALL(int, NotifyKeyspaceEvent, (RedisModuleCtx *, int, const char *, RedisModuleString *))    \
    CALL(void, SaveUnsigned, (RedisModuleIO *, uint64_t))                                         \
    CALL(uint64_t, LoadUnsigned, (RedisModuleIO *))                                               \
    CALL(void, SaveStringBuffer, (RedisModuleIO *, const char *, size_t))                         \
    CALL(char *, LoadStringBuffer, (RedisModuleIO *, size_t *))                                   \
    CALL(int, IsIOError, (RedisModuleIO *))                                                       \
    CALL(RedisModuleCtx *, GetContextFromIO, (RedisModuleIO *))                                   \
    CALL(const RedisModuleString *, GetKeyNameFromIO, (RedisModuleIO *))                          \
    CALL(int, SubscribeToServerEvent,                                                             \
         (RedisModuleCtx *, RedisModuleEvent, RedisModuleEventCallback))                          \
    CALL(RedisModuleTimerID, CreateTimer,                                                         \
         (RedisModuleCtx *, long long, RedisModuleTimerProc, void *))                             \
    CALL(void, EmitAOF, (RedisModuleIO *, const char *, const char *, ...))                       \
    CALL(void, DigestAddStringBuffer, (RedisModuleDigest *, const char *, size_t))                \
    CALL(void, DigestAddLongLong, (RedisModuleDigest *, long long))                               \
    CALL(void, DigestEndSequence, (RedisModuleDigest *))                                          \
    CALL(int, RegisterInfoFunc, (RedisModuleCtx *, RedisModuleInfoFunc))                          \
    CALL(int, InfoAddSection, (RedisModuleInfoCtx *, const char *))                               \
    CALL(int, InfoAddFieldULongLong, (RedisModuleInfoCtx *, const char *, unsigned long long))    \
    CALL(int, InfoAddFieldCString, (RedisModuleInfoCtx *, const char *, const char *))            \
    CALL(RedisModuleServerInfoData *, GetServerInfo, (RedisModuleCtx *, const char *))            \
    CALL(unsigned long long, ServerInfoGetFieldUnsigned,                                          \
         (RedisModuleServerInfoData *, const char *, int *))                                      \
    CALL(const char *, ServerInfoGetFieldC, (RedisModuleServerInfoData *, const char *))          \
    CALL(void, FreeServerInfo, (RedisModuleCtx *, RedisModuleServerInfoData *))                   \
    CALL(int, RegisterNumericConfig,                                                              \
         (RedisModuleCtx *, const char *, long long, unsigned, long long, long long,              \
          RedisModuleConfigGetNumericFunc, RedisModuleConfigSetNumericFunc,                       \
          RedisModuleConfigApplyFunc, void *))                                                    \
    CALL(int, RegisterStringConfig,                                                               \
         (RedisModuleCtx *, const char *, const char *, unsigned, RedisModuleConfigGetStringFunc, \
          RedisModuleConfigSetStringFunc, RedisModuleConfigApplyFunc, void *))                    \
    CALL(int, LoadConfigs, (RedisModuleCtx *))                                                    \
    CALL(RedisModuleCommandFilter *, RegisterCommandFilter,                                       \
         (RedisModuleCtx *, RedisModuleCommandFilterFunc, int))                                   \
    CALL(int, CommandFilterArgsCount, (RedisModuleCommandFilterCtx *))                            \
    CALL(RedisModuleString *, CommandFilterArgGet, (RedisModuleCommandFilterCtx *, int))          \
    CALL(int, CommandFilterArgReplace, (RedisModuleCommandFilterCtx *, int, RedisModuleString *)) \
    CALL(void, Log, (RedisModuleCtx *, const char *, const char *, ...))                          \
    OPTIONAL(int, AddACLCategory, (RedisModuleCtx *, const char *))                               \
    OPTIONAL(int, SetCommandACLCategories, (RedisModuleCommand *, const char *))

#define REDISAPI_DECLARE(result, name, arguments) extern result(*RedisModule_##name) arguments;
REDISAPI_CALLS(REDISAPI_DECLARE, REDISAPI_DECLARE)
#undef REDISAPI_DECLARE

/* Fetch all calls.  Returns NULL, or the name of the first that the server lacks. */
const char *redisapi_fetch(RedisModuleCtx *ctx);

#endif
