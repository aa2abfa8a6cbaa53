// app/http.c: requests (RFC 9112) and files of one folder.
//
// The server is for this machine alone. Two things could still reach it from outside: a page of another site in the
// user's browser, by a name that it makes point here (the Host is looked at for that), and a link in the folder.

#include "http.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

// --- requests --------------------------------------------------------------------------------------------

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// The path of a target, decoded, up to its '?'.
static int decode(const char *target, size_t size, char *path)
{
    size_t n = 0;
    if (size == 0 || target[0] != '/') return 400;
    for (size_t i = 0; i < size && target[i] != '?' && target[i] != '#'; i++) {
        int c = (unsigned char)target[i];
        if (c == '%') {
            if (size - i < 3) return 400;
            const int high = hex(target[i + 1]), low = hex(target[i + 2]);
            if (high < 0 || low < 0) return 400;
            c = 16 * high + low, i += 2;
        }
        if (c < 0x20 || c == 0x7f) return 400;
        if (n + 1 >= HTTP_PATH_MAX) return 414;
        path[n++] = (char)c;
    }
    path[n] = '\0';
    for (size_t i = 0; i < n; i++)  // empty and hidden parts, "." and ".."
        if (path[i] == '/' && (path[i + 1] == '/' || path[i + 1] == '.')) return 404;
    return 200;
}

// Whether a Host names this machine: localhost, 127.0.0.1 or [::1], with or without a port.
static bool own_name(const char *host, size_t size)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i]);
        if (size < n || strncasecmp(host, names[i], n) != 0) continue;
        if (size == n) return true;
        if (host[n] != ':' || size == n + 1) continue;
        size_t k = n + 1;
        while (k < size && host[k] >= '0' && host[k] <= '9') k++;
        if (k == size) return true;
    }
    return false;
}

// Every line after the first is a field; exactly one of them is Host.
static int check_fields(const char *at, const char *end)
{
    int hosts = 0;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) return 400;
        const char *stop = line_end > at && line_end[-1] == '\r' ? line_end - 1 : line_end;
        if (stop == at) break;  // the empty line that ends the head
        const char *colon = memchr(at, ':', (size_t)(stop - at));
        if (!colon || colon == at) return 400;
        if (colon - at == 4 && strncasecmp(at, "Host", 4) == 0) {
            const char *value = colon + 1;
            while (value < stop && (*value == ' ' || *value == '\t')) value++;
            while (stop > value && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
            if (++hosts > 1) return 400;
            if (!own_name(value, (size_t)(stop - value))) return 403;
        }
        at = line_end + 1;
    }
    return hosts == 1 ? 200 : 400;
}

int http_parse(const char *bytes, size_t size, http_request *out)
{
    const char *end = NULL;  // behind the empty line
    for (size_t i = 0; i + 1 < size && !end; i++) {
        if (bytes[i] != '\n') continue;
        if (bytes[i + 1] == '\n') end = bytes + i + 2;
        if (bytes[i + 1] == '\r' && i + 2 < size && bytes[i + 2] == '\n') end = bytes + i + 3;
    }
    if (!end) return size >= HTTP_REQUEST_MAX ? 431 : 0;
    const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
    const char *stop = line_end > bytes && line_end[-1] == '\r' ? line_end - 1 : line_end;
    const char *space = memchr(bytes, ' ', (size_t)(stop - bytes));
    if (!space || space == bytes) return 400;
    const char *target = space + 1, *second = memchr(target, ' ', (size_t)(stop - target));
    if (!second) return 400;
    const size_t version = (size_t)(stop - second - 1);
    if (version != 8 || memcmp(second + 1, "HTTP/", 5) != 0) return 400;
    if (memcmp(second + 6, "1.0", 3) != 0 && memcmp(second + 6, "1.1", 3) != 0) return 505;
    const size_t method = (size_t)(space - bytes);
    const bool get = method == 3 && memcmp(bytes, "GET", 3) == 0;
    out->head = method == 4 && memcmp(bytes, "HEAD", 4) == 0;
    if (!get && !out->head) return 405;
    const int fields = check_fields(line_end + 1, end);
    if (fields != 200) return fields;
    return decode(target, (size_t)(second - target), out->path);
}

const char *http_status_line(int status)
{
    switch (status) {
    case 200: return "200 OK";
    case 301: return "301 Moved Permanently";
    case 403: return "403 Forbidden";
    case 404: return "404 Not Found";
    case 405: return "405 Method Not Allowed";
    case 408: return "408 Request Timeout";
    case 414: return "414 URI Too Long";
    case 431: return "431 Request Header Fields Too Large";
    case 505: return "505 HTTP Version Not Supported";
    default: return "400 Bad Request";
    }
}

const char *http_type(const char *path)
{
    static const char *const types[][2] = {
        {"html", "text/html; charset=utf-8"},
        {"js", "text/javascript; charset=utf-8"},
        {"mjs", "text/javascript; charset=utf-8"},
        {"css", "text/css; charset=utf-8"},
        {"wasm", "application/wasm"},
        {"json", "application/json"},
        {"map", "application/json"},
        {"svg", "image/svg+xml"},
        {"png", "image/png"},
        {"jpg", "image/jpeg"},
        {"webp", "image/webp"},
        {"ico", "image/x-icon"},
        {"glb", "model/gltf-binary"},
        {"gltf", "model/gltf+json"},
        {"obj", "text/plain; charset=utf-8"},
        {"txt", "text/plain; charset=utf-8"},
        {"mp4", "video/mp4"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof *types; i++)
        if (strcasecmp(dot + 1, types[i][0]) == 0) return types[i][1];
    return "application/octet-stream";
}

// --- files -----------------------------------------------------------------------------------------------

bool http_folder_open(const char *path, http_folder *out)
{
    char *real = realpath(path, NULL);
    if (!real) return false;
    const size_t n = strlen(real);
    if (n >= sizeof out->real) {
        free(real);
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(out->real, real, n + 1);
    free(real);
    out->fd = open(out->real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return out->fd >= 0;
}

// Opens `path`, relative to the folder and free of links, part by part: what was a folder when the links were followed
// and is a link by now is refused. O_NONBLOCK: a pipe must not hold us up.
static int open_beneath(int root, const char *path)
{
    char part[NAME_MAX + 1];
    int at = dup(root);
    while (at >= 0 && *path) {
        const size_t n = strcspn(path, "/");
        if (n == 0 || n > NAME_MAX) {
            close(at);
            return -1;
        }
        memcpy(part, path, n);
        part[n] = '\0';
        path += n + (path[n] == '/');
        const int next = openat(at, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (*path ? O_DIRECTORY : 0));
        close(at);
        at = next;
    }
    return at;
}

int http_folder_get(const http_folder *folder, const char *path, int *fd, int64_t *size, const char **type)
{
    char wanted[sizeof folder->real + HTTP_PATH_MAX + 16];
    const size_t n = strlen(path);
    const bool index = n > 0 && path[n - 1] == '/';
    snprintf(wanted, sizeof wanted, "%s%s%s", folder->real, path, index ? "index.html" : "");
    char *real = realpath(wanted, NULL);
    if (!real) return 404;
    const size_t root = strcmp(folder->real, "/") == 0 ? 0 : strlen(folder->real);
    int status = 403;  // a link that leads outside
    if (strncmp(real, folder->real, root) == 0 && (real[root] == '/' || real[root] == '\0')) {
        struct stat about;
        *fd = open_beneath(folder->fd, real + root + (real[root] == '/'));
        status = 404;
        if (*fd >= 0 && fstat(*fd, &about) == 0) {
            *size = about.st_size;
            *type = http_type(real);
            status = S_ISREG(about.st_mode) ? 200 : S_ISDIR(about.st_mode) && !index ? 301 : 404;
        }
        if (*fd >= 0 && status != 200) close(*fd);
    }
    free(real);
    return status;
}
