// io/xml.c: a small reader of XML.

#include "io/xml.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

void tl_xml_init(tl_xml *xml, const char *path, const char *text, size_t size)
{
    *xml = (tl_xml){.path = path, .text = text, .at = text, .end = text + size, .counted = text, .line = 1};
}

int64_t tl_xml_line(const tl_xml *xml)
{
    int64_t line = xml->line;
    for (const char *p = xml->counted; p < xml->at && p < xml->end; p++) line += *p == '\n';
    return line;
}

static tl_status fail(const tl_xml *xml, tl_error *err, const char *what)
{
    return tl_fail(err, TL_BAD_INPUT, "%s:%lld: %s", xml->path, (long long)tl_xml_line(xml), what);
}

bool tl_slice_is(tl_slice slice, const char *text)
{
    return slice.text && strlen(text) == slice.size && memcmp(slice.text, text, slice.size) == 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_space(tl_xml *xml)
{
    while (xml->at < xml->end && is_space(*xml->at)) xml->at++;
}

// Behind the next `mark`; false: there is none.
static bool skip_past(tl_xml *xml, const char *mark)
{
    const char *found = memmem(xml->at, (size_t)(xml->end - xml->at), mark, strlen(mark));
    xml->at = found ? found + strlen(mark) : xml->end;
    return found != NULL;
}

static tl_slice read_name(tl_xml *xml)
{
    const char *start = xml->at;
    while (xml->at < xml->end && !is_space(*xml->at) && !strchr("/>=<\"'&", *xml->at)) xml->at++;
    return (tl_slice){start, (size_t)(xml->at - start)};
}

static tl_status read_attributes(tl_xml *xml, tl_error *err)
{
    xml->attribute_count = 0;
    for (;;) {
        skip_space(xml);
        if (xml->at >= xml->end) return fail(xml, err, "the file ends inside of a tag");
        if (*xml->at == '>' || *xml->at == '/') return TL_OK;
        const tl_slice key = read_name(xml);
        skip_space(xml);
        if (key.size == 0 || xml->at >= xml->end || *xml->at != '=')
            return fail(xml, err, "an attribute must be name=\"value\"");
        xml->at++;
        skip_space(xml);
        if (xml->at >= xml->end || (*xml->at != '"' && *xml->at != '\''))
            return fail(xml, err, "the value of an attribute must be in quotes");
        const char quote = *xml->at++, *start = xml->at;
        const char *close = memchr(start, quote, (size_t)(xml->end - start));
        if (!close) return fail(xml, err, "an attribute's value has no closing quote");
        xml->at = close + 1;
        if (xml->attribute_count == TL_XML_MAX_ATTRIBUTES)
            return fail(xml, err, "an element has more than 64 attributes");
        xml->key[xml->attribute_count] = key;
        xml->value[xml->attribute_count++] = (tl_slice){start, (size_t)(close - start)};
    }
}

static tl_status read_open(tl_xml *xml, tl_error *err)
{
    xml->name = read_name(xml);
    if (xml->name.size == 0) return fail(xml, err, "a tag has no name");
    TL_TRY(read_attributes(xml, err));
    xml->empty = *xml->at == '/';
    if (xml->empty) xml->at++;
    if (xml->at >= xml->end || *xml->at != '>') return fail(xml, err, "a tag must end with >");
    xml->at++;
    if (xml->depth == TL_XML_MAX_DEPTH) return fail(xml, err, "elements are nested more than 256 deep");
    xml->open[xml->depth++] = xml->name;
    return TL_OK;
}

static tl_status read_close(tl_xml *xml, tl_error *err)
{
    xml->name = read_name(xml);
    skip_space(xml);
    if (xml->at >= xml->end || *xml->at != '>') return fail(xml, err, "a closing tag must end with >");
    xml->at++;
    if (xml->depth == 0) return fail(xml, err, "a closing tag without an opening one");
    const tl_slice open = xml->open[--xml->depth];
    if (open.size != xml->name.size || memcmp(open.text, xml->name.text, open.size) != 0)
        return fail(xml, err, "a closing tag has another name than its opening one");
    return TL_OK;
}

tl_status tl_xml_next(tl_xml *xml, tl_xml_kind *kind, tl_error *err)
{
    if (xml->empty) {
        xml->empty = false;
        xml->name = xml->open[--xml->depth];
        *kind = TL_XML_CLOSE;
        return TL_OK;
    }
    xml->line = tl_xml_line(xml);
    xml->counted = xml->at;
    for (;;) {
        const char *tag = memchr(xml->at, '<', (size_t)(xml->end - xml->at));
        if (!tag) {
            xml->at = xml->end;
            *kind = TL_XML_END_OF_FILE;
            return xml->depth == 0 ? TL_OK : fail(xml, err, "the file ends before all elements are closed");
        }
        xml->at = tag + 1;
        const size_t left = (size_t)(xml->end - xml->at);
        bool closed = true;
        if (left >= 3 && memcmp(xml->at, "!--", 3) == 0)
            closed = skip_past(xml, "-->");
        else if (left >= 8 && memcmp(xml->at, "![CDATA[", 8) == 0)
            closed = skip_past(xml, "]]>");
        else if (left >= 1 && *xml->at == '?')
            closed = skip_past(xml, "?>");
        else if (left >= 1 && *xml->at == '!')  // a document type, at most with a list of its own in brackets
            closed =
                memchr(xml->at, '[', left) && (char *)memchr(xml->at, '[', left) < (char *)memchr(xml->at, '>', left)
                    ? skip_past(xml, "]") && skip_past(xml, ">")
                    : skip_past(xml, ">");
        else if (left >= 1 && *xml->at == '/') {
            xml->at++;
            *kind = TL_XML_CLOSE;
            return read_close(xml, err);
        } else {
            *kind = TL_XML_OPEN;
            return read_open(xml, err);
        }
        if (!closed) return fail(xml, err, "a comment or declaration has no end");
    }
}

tl_slice tl_xml_value(const tl_xml *xml, const char *key)
{
    for (int32_t i = 0; i < xml->attribute_count; i++)
        if (tl_slice_is(xml->key[i], key)) return xml->value[i];
    return (tl_slice){0};
}

// The character of an entity "name" as UTF-8; 0 bytes: unknown.
static int entity(const char *name, size_t size, char out[4])
{
    static const struct {
        const char *name;
        char c;
    } known[] = {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (tl_slice_is((tl_slice){name, size}, known[i].name)) {
            out[0] = known[i].c;
            return 1;
        }
    if (size < 2 || size > 8 || name[0] != '#') return 0;
    const bool hex = name[1] == 'x' || name[1] == 'X';
    uint32_t code = 0;
    for (size_t i = hex ? 2 : 1; i < size; i++) {
        const char *digits = "0123456789abcdef",
                   *d = strchr(digits, name[i] >= 'A' && name[i] <= 'F' ? name[i] + 32 : name[i]);
        if (!d || !*d || (!hex && d - digits > 9)) return 0;
        code = code * (hex ? 16 : 10) + (uint32_t)(d - digits);
    }
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    if (code < 0x80) return out[0] = (char)code, 1;
    if (code < 0x800) return out[0] = (char)(0xc0 | code >> 6), out[1] = (char)(0x80 | (code & 63)), 2;
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12), out[1] = (char)(0x80 | (code >> 6 & 63)),
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18), out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63)), out[3] = (char)(0x80 | (code & 63));
    return 4;
}

bool tl_xml_text(const tl_xml *xml, const char *key, char *out, size_t size)
{
    const tl_slice value = tl_xml_value(xml, key);
    size_t used = 0;
    for (size_t i = 0; value.text && i < value.size; i++) {
        char utf8[4] = {value.text[i]};
        int n = 1;
        if (value.text[i] == '&') {
            const char *semicolon = memchr(value.text + i, ';', value.size - i);
            const size_t length = semicolon ? (size_t)(semicolon - value.text) - i : 0;
            const int bytes = length > 0 ? entity(value.text + i + 1, length - 1, utf8) : 0;
            if (bytes > 0) n = bytes, i += length;
        }
        if (used + (size_t)n >= size) break;
        memcpy(out + used, utf8, (size_t)n);
        used += (size_t)n;
    }
    out[used] = 0;
    return value.text != NULL;
}
