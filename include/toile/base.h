// toile/base.h: status codes, errors, vectors, allocator and log hooks shared by every other header.
// SI units, right-handed, y up, double precision.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define TL_API __attribute__((visibility("default")))
#define TL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TL_API
#define TL_PRINTF(fmt, args)
#endif

#define TL_VERSION_MAJOR 0
#define TL_VERSION_MINOR 1
#define TL_VERSION_PATCH 0

// Definitions (tl_..._def) start with their size, which their default function fills in: the library knows which fields
// a program has that was compiled with older headers. Structs inside others cannot grow, they end with reserved fields
// instead.

/// "0.1.0"; static storage.
TL_API const char *tl_version(void);

/// What a call came to. Everything but TL_OK leaves the state as it was before the call.
typedef enum tl_status {
    TL_OK = 0,
    TL_BAD_ARG,    ///< the caller passed something out of range
    TL_BAD_INPUT,  ///< a file or a definition is invalid; the message names file, line, field and value
    TL_NO_MEMORY,  ///< the allocator said no
    TL_IO,         ///< a file could not be opened, read or written
    TL_FAILED,     ///< the simulation could not finish the step; the last good state is kept
    TL_CANCELLED,  ///< the caller asked to stop
} tl_status;

/// "ok", "bad argument", ...; static storage.
TL_API const char *tl_status_name(tl_status status);

/// A status with one sentence that a person can act on. Pass NULL where a function takes one to do without.
typedef struct tl_error {
    tl_status status;
    char message[1024];
} tl_error;

typedef struct tl_vec2 {
    double x, y;
} tl_vec2;
typedef struct tl_vec3 {
    double x, y, z;
} tl_vec3;

/// Memory for one simulation. `resize` works like realloc with the old size known: ptr NULL allocates,
/// size 0 frees and returns NULL; memory must be aligned for any scalar type. Must be safe to call
/// from the thread that steps the simulation only.
typedef struct tl_allocator {
    void *(*resize)(void *user, void *ptr, size_t old_size, size_t new_size);
    void *user;
} tl_allocator;

/// realloc and free of libc.
TL_API tl_allocator tl_allocator_default(void);

/// Threads of the host. `run` calls task(arg, i) once for every i from 0 to count - 1, on whatever threads and in
/// whatever order, and returns when all calls have. Results do not depend on it.
typedef struct tl_task_host {
    void (*run)(void *user, int32_t count, void (*task)(void *arg, int32_t index), void *arg);
    void *user;
} tl_task_host;

typedef enum tl_log_level { TL_LOG_DEBUG, TL_LOG_INFO, TL_LOG_WARNING } tl_log_level;

/// Where messages go; the library prints nothing by itself. `message` is one line without line end,
/// valid during the call only.
typedef struct tl_log {
    void (*write)(void *user, tl_log_level level, const char *message);
    void *user;
} tl_log;

/// How a host asks a long call to stop. `asked` is polled from the thread that made the call, some hundred times a
/// second and more, so it has to be quick; nonzero ends the call with TL_CANCELLED.
typedef struct tl_cancel {
    int (*asked)(void *user);  ///< NULL: nobody asks
    void *user;
} tl_cancel;

/// Called when the library finds a mistake of its own. Returning from it continues at the caller's risk.
/// The default writes the sentence to stderr and aborts in builds with assertions, else does nothing.
typedef void (*tl_assert_handler)(const char *file, int line, const char *sentence);
TL_API void tl_set_assert_handler(tl_assert_handler handler);

#ifdef __cplusplus
}
#endif
