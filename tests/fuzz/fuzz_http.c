// fuzz_http.c: requests to `toile serve`: whatever comes, the path that is looked for stays inside of the folder.
#include <stdlib.h>
#include <string.h>

#include "../../app/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    http_request request = {0};
    if (size > HTTP_REQUEST_MAX) size = HTTP_REQUEST_MAX;
    char *bytes = malloc(size ? size : 1);  // its own block: reading past its end is found
    if (!bytes) return 0;
    if (size) memcpy(bytes, data, size);
    const int status = http_parse(bytes, size, &request);
    if (status == 200) {
        const size_t n = strnlen(request.path, sizeof request.path);
        if (n == 0 || n >= sizeof request.path || request.path[0] != '/' || strstr(request.path, "/.") ||
            strstr(request.path, "//"))
            abort();
    } else if (status != 0 && !http_status_line(status)[0]) {
        abort();
    }
    free(bytes);
    return 0;
}
