// io/pattern_json_text.c: JSON of Python's making, where numbers may be NaN.

#include <string.h>

#include "base/fail.h"
#include "io/pattern_io.h"

// How many bytes of NaN, Infinity or -Infinity start here, outside of texts.
static size_t strange_number(const char *p, const char *end)
{
    static const char *const words[] = {"NaN", "-Infinity", "Infinity", "-NaN", "nan", "inf", "-inf"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(end - p) >= n && memcmp(p, words[i], n) == 0) return n;
    }
    return 0;
}

static void quote_numbers(const tl_text *text, tl_buf *out)
{
    const char *p = text->data, *end = p + text->size, *kept = p;
    bool inside = false;
    for (; p < end; p++) {
        if (*p == '"') inside = !inside;
        if (inside && *p == '\\' && p + 1 < end) {
            p++;
            continue;
        }
        const size_t n = inside ? 0 : strange_number(p, end);
        if (n == 0) continue;
        tl_buf_add(out, kept, (size_t)(p - kept));
        tl_buf_text(out, "\"");
        tl_buf_add(out, p, n);
        tl_buf_text(out, "\"");
        kept = p + n;
        p = kept - 1;
    }
    tl_buf_add(out, kept, (size_t)(end - kept));
}

tl_status tl_pattern_json_text(void *user, const tl_allocator *alloc, const char *path, size_t max_size, tl_text *out,
                               tl_error *err)
{
    const tl_reader *behind = user;
    tl_text text;
    TL_TRY(behind->read(behind->user, alloc, path, max_size, &text, err));
    if (!memmem(text.data, text.size, "NaN", 3) && !memmem(text.data, text.size, "Infinity", 8)) {
        *out = text;
        return TL_OK;
    }
    tl_buf buf;
    tl_buf_init(&buf, alloc);
    quote_numbers(&text, &buf);
    tl_text_free(alloc, &text);
    tl_status status = tl_buf_end(&buf, path, err);
    out->data = NULL;
    if (status == TL_OK) {
        out->data = TL_ALLOC(alloc, char, buf.size + 1);
        out->size = buf.size;
        if (out->data)
            memcpy(out->data, buf.data, buf.size + 1);
        else
            status = tl_fail_memory(err, path);
    }
    tl_buf_free(&buf);
    return status;
}
