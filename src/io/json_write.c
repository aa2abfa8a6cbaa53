// io/json_write.c: a JSON value as text that a person can read: two spaces, short lists on one line, exact numbers.

#include <math.h>

#include "io/json.h"

static void write_string(tl_buf *buf, const char *text)
{
    tl_buf_text(buf, "\"");
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            tl_buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            tl_buf_text(buf, "\\n");
        else if (c == '\t')
            tl_buf_text(buf, "\\t");
        else if (c < 0x20)
            tl_buf_printf(buf, "\\u%04x", c);
        else
            tl_buf_add(buf, text, 1);
    }
    tl_buf_text(buf, "\"");
}

static void new_line(tl_buf *buf, int depth)
{
    tl_buf_text(buf, "\n");
    for (int i = 0; i < depth; i++) tl_buf_text(buf, "  ");
}

// Numbers, words, and nothing inside: fits a line.
static bool is_plain(const json_t *list)
{
    size_t i;
    json_t *entry;
    json_array_foreach((json_t *)list, i, entry) if (json_is_object(entry) || json_is_array(entry)) return false;
    return true;
}

static void write_value(tl_buf *buf, const json_t *value, int depth)
{
    const char *key;
    json_t *entry;
    size_t i;
    bool first = true;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        tl_buf_text(buf, "{");
        json_object_foreach((json_t *)value, key, entry)
        {
            if (!first) tl_buf_text(buf, ",");
            first = false;
            new_line(buf, depth + 1);
            write_string(buf, key);
            tl_buf_text(buf, ": ");
            write_value(buf, entry, depth + 1);
        }
        if (!first) new_line(buf, depth);
        tl_buf_text(buf, "}");
        return;
    case JSON_ARRAY: {
        const bool plain = is_plain(value);
        tl_buf_text(buf, "[");
        json_array_foreach((json_t *)value, i, entry)
        {
            if (i > 0) tl_buf_text(buf, plain ? ", " : ",");
            if (!plain) new_line(buf, depth + 1);
            write_value(buf, entry, depth + 1);
        }
        if (!plain) new_line(buf, depth);
        tl_buf_text(buf, "]");
        return;
    }
    case JSON_STRING: write_string(buf, json_string_value(value)); return;
    case JSON_INTEGER: tl_buf_int(buf, json_integer_value(value)); return;
    case JSON_REAL:
        tl_buf_double(buf, json_real_value(value));
        if (json_real_value(value) == 0 && signbit(json_real_value(value)))
            tl_buf_text(buf, ".0");  // -0 would read back as a whole 0
        return;
    case JSON_TRUE: tl_buf_text(buf, "true"); return;
    case JSON_FALSE: tl_buf_text(buf, "false"); return;
    case JSON_NULL: tl_buf_text(buf, "null"); return;
    }
}

void tl_json_write(tl_buf *buf, const json_t *value) { write_value(buf, value, 0); }
