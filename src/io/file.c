// io/file.c: whole files in, whole files out.

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

static tl_status fail_errno(tl_error *err, const char *what, const char *path, int code)
{
    const char *remedy = code == ENOSPC || code == EDQUOT ? " (free some space, or choose another folder)"
                         : code == EACCES || code == EPERM || code == EROFS
                             ? " (check the permissions, or choose another folder)"
                             : "";
    return tl_fail(err, TL_IO, "%s: cannot %s: %s%s", path, what, strerror(code), remedy);
}

static tl_status read_all(int fd, const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out,
                          tl_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) return fail_errno(err, "read", path, errno);
    if (S_ISDIR(info.st_mode)) return tl_fail(err, TL_IO, "%s: is a folder, a file is needed", path);
    if (!S_ISREG(info.st_mode)) return tl_fail(err, TL_IO, "%s: is not a regular file", path);
    if ((uint64_t)info.st_size > max_size)
        return tl_fail(err, TL_BAD_INPUT, "%s: %lld bytes, must be <= %zu for this kind of file", path,
                       (long long)info.st_size, max_size);
    const size_t size = (size_t)info.st_size;
    char *data = TL_ALLOC(alloc, char, size + 1);
    if (!data) return tl_fail_memory(err, path);
    size_t got = 0;
    while (got < size) {
        const ssize_t n = read(fd, data + got, size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            const int code = n < 0 ? errno : EIO;  // n = 0: the file shrank under our hands
            TL_FREE(alloc, data, size + 1);
            return fail_errno(err, "read", path, code);
        }
        got += (size_t)n;
    }
    data[size] = 0;
    *out = (tl_text){data, size};
    return TL_OK;
}

tl_status tl_file_read(const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out, tl_error *err)
{
    *out = (tl_text){0};
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a named pipe must not make us wait
    while (fd < 0 && errno == EINTR);
    if (fd < 0 && errno == ENOENT)
        return tl_fail(err, TL_IO,
                       "%s: no such file (check the name; relative paths start at the file that names "
                       "them, or at the current folder on the command line)",
                       path);
    if (fd < 0) return fail_errno(err, "open", path, errno);
    const tl_status status = read_all(fd, alloc, path, max_size, out, err);
    close(fd);
    return status;
}

void tl_text_free(const tl_allocator *alloc, tl_text *text)
{
    if (text->data) tl_free_bytes(alloc, text->data, text->size + 1, 1);
    *text = (tl_text){0};
}

static tl_status disk_read(void *user, const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out,
                           tl_error *err)
{
    (void)user;
    return tl_file_read(alloc, path, max_size, out, err);
}

tl_reader tl_reader_disk(void) { return (tl_reader){disk_read, NULL}; }

// 0 or errno.
static int write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        if (n == 0) return ENOSPC;
        data += n, size -= (size_t)n;
    }
    return 0;
}

static void sync_folder_of(const char *path)
{
    char dir[TL_PATH_MAX];
    if (tl_path_dir(path, dir, NULL) != TL_OK) return;
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);  // the name; some file systems cannot, and the bytes are safe either way
    close(fd);
}

tl_status tl_file_write(const char *path, const void *data, size_t size, bool sync, tl_error *err)
{
    if (tl_path_look(path) == TL_PATH_DIR) return tl_fail(err, TL_IO, "%s: is a folder, cannot write", path);
    char temp[TL_PATH_MAX];
    const int length = snprintf(temp, sizeof temp, "%s.tmp%ld", path, (long)getpid());
    if (length < 0 || length >= (int)sizeof temp) return tl_fail(err, TL_IO, "path too long: %.200s...", path);
    const int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return fail_errno(err, "write", path, errno);
    int code = write_all(fd, data, size);
    if (!code && sync && fsync(fd) != 0 && errno != EINVAL) code = errno;
    if (close(fd) != 0 && !code && errno != EINTR) code = errno;
    if (!code && rename(temp, path) != 0) code = errno;
    if (code) {
        unlink(temp);
        return fail_errno(err, "write", path, code);
    }
    if (sync) sync_folder_of(path);
    return TL_OK;
}

tl_status tl_file_sync(const char *path, tl_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? TL_OK : fail_errno(err, "open", path, errno);
    const int code = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return code ? fail_errno(err, "write", path, code) : TL_OK;
}

tl_status tl_make_dirs(const char *path, tl_error *err)
{
    char part[TL_PATH_MAX];
    const size_t length = strlen(path);
    if (length == 0) return tl_fail(err, TL_IO, "the name of the folder is empty");
    if (length >= sizeof part) return tl_fail(err, TL_IO, "path too long: %.200s...", path);
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != 0) continue;
        const char kept = part[i];
        part[i] = 0;
        const int made = mkdir(part, 0777);
        const int code = made == 0 ? 0 : errno;
        if (code && tl_path_look(part) != TL_PATH_DIR) {
            if (code == EEXIST || code == ENOTDIR)
                return tl_fail(err, TL_IO, "%s: is a file, a folder is needed (remove it or choose another name)",
                               part);
            return fail_errno(err, "make the folder", part, code);
        }
        part[i] = kept;
    }
    return TL_OK;
}

tl_path_kind tl_path_look(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) return TL_PATH_NONE;
    return S_ISDIR(info.st_mode) ? TL_PATH_DIR : TL_PATH_FILE;
}

tl_status tl_path_join(const char *dir, const char *name, char out[TL_PATH_MAX], tl_error *err)
{
    const bool alone = name[0] == '/' || dir[0] == 0 || strcmp(dir, ".") == 0;
    const size_t dir_length = strlen(dir);
    const char *slash = dir_length > 0 && dir[dir_length - 1] == '/' ? "" : "/";
    const int length =
        alone ? snprintf(out, TL_PATH_MAX, "%s", name) : snprintf(out, TL_PATH_MAX, "%s%s%s", dir, slash, name);
    if (length < 0 || length >= TL_PATH_MAX) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", name);
    return TL_OK;
}

tl_status tl_path_dir(const char *path, char out[TL_PATH_MAX], tl_error *err)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (length >= TL_PATH_MAX) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
    if (length == 0) {
        strcpy(out, ".");
        return TL_OK;
    }
    memcpy(out, path, length);
    out[length] = 0;
    return TL_OK;
}

void tl_path_stem(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    if (length >= size) length = size - 1;
    memcpy(out, name, length);
    out[length] = 0;
}

void tl_path_absolute(const char *path, char out[TL_PATH_MAX])
{
    char *real = realpath(path, NULL);
    const char *best = real ? real : path;
    const size_t length = strlen(best);
    const size_t kept = length < TL_PATH_MAX ? length : TL_PATH_MAX - 1;
    memcpy(out, best, kept);
    out[kept] = 0;
    free(real);
}
