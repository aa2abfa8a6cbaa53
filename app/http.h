// app/http.h: the little of HTTP that `toile serve` speaks: requests for files, and where a file may come from.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_REQUEST_MAX = 8192, HTTP_PATH_MAX = 1024 };

/// What a request asks for. `path` is decoded, starts with '/', and has no empty, "." or ".." part and no part that
/// starts with a dot.
typedef struct http_request {
    bool head;  ///< HEAD: the answer without its body
    char path[HTTP_PATH_MAX];
} http_request;

/// Reads the head of a request, all that came so far. 0: more is needed. 200: `*out` is filled. Otherwise the status to
/// answer with: 400 malformed, 403 asked under a name that is not this machine's own, 404 a path that no file can have,
/// 405 not GET or HEAD, 414 the path is too long, 431 the head is longer than HTTP_REQUEST_MAX, 505 not HTTP/1.
int http_parse(const char *bytes, size_t size, http_request *out);

/// "404 Not Found" and so on.
const char *http_status_line(int status);

/// The type of a file by its name, "application/octet-stream" if unknown.
const char *http_type(const char *path);

typedef struct http_folder {
    int fd;
    char real[4096];  ///< the folder without links
} http_folder;

/// Opens the folder that is served. False: errno says why.
bool http_folder_open(const char *path, http_folder *out);

/// Opens the file of a request; of a folder, its index.html. Links are followed only where they stay inside. Returns
/// the status: 200 with a descriptor and the file's size, 301 a folder asked for without its slash, 404, 403.
int http_folder_get(const http_folder *folder, const char *path, int *fd, int64_t *size, const char **type);
