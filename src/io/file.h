// io/file.h: whole files in, whole files out, and the few path operations that readers need.
//
// A file is read whole with a size limit, and written beside its final place and renamed, so a reader never
// sees half of one. Every message names the path and, where there is one, the remedy.
#pragma once
#include <stdbool.h>

#include "toile/base.h"

enum { TL_PATH_MAX = 4096 };  // bytes with the final zero, as on Linux

/// A file in memory; one zero byte follows the last.
typedef struct tl_text {
    char *data;
    size_t size;
} tl_text;

/// Reads at most `max_size` bytes; a larger file, a folder, a missing or unreadable file is an error.
tl_status tl_file_read(const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out, tl_error *err);
void tl_text_free(const tl_allocator *alloc, tl_text *text);

/// How readers get at files: from disk, or from memory in tests, fuzzers and hosts without a disk.
typedef struct tl_reader {
    tl_status (*read)(void *user, const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out,
                      tl_error *err);
    void *user;
} tl_reader;
tl_reader tl_reader_disk(void);

/// Makes `path` hold exactly these bytes, or leaves it as it was. TL_IO with the system's words otherwise.
/// `sync`: the bytes are on the disk when the call returns, not only with the system.
tl_status tl_file_write(const char *path, const void *data, size_t size, bool sync, tl_error *err);

/// Waits until the bytes of `path` are on the disk. A missing file is no error.
tl_status tl_file_sync(const char *path, tl_error *err);

/// Makes a folder and those above it; fine if it exists.
tl_status tl_make_dirs(const char *path, tl_error *err);

typedef enum tl_path_kind { TL_PATH_NONE, TL_PATH_FILE, TL_PATH_DIR } tl_path_kind;
tl_path_kind tl_path_look(const char *path);

/// dir/name into `out`; `name` alone when it is absolute or dir is "". TL_BAD_INPUT when it is too long.
tl_status tl_path_join(const char *dir, const char *name, char out[TL_PATH_MAX], tl_error *err);

/// The folder part ("." when there is none) of a path.
tl_status tl_path_dir(const char *path, char out[TL_PATH_MAX], tl_error *err);

/// The last part of a path, up to its extension, cut at size - 1 bytes.
void tl_path_stem(const char *path, char *out, size_t size);

/// Without links and dots; a path that does not exist comes back as it is.
void tl_path_absolute(const char *path, char out[TL_PATH_MAX]);
