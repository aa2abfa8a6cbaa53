// io/ply.c: PLY meshes: a header that describes elements, then their values as text or bytes of either order.

#include "io/ply.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { MAX_ELEMENTS = 64, MAX_PROPERTIES = 256, NAME = 48 };

typedef enum ply_type { PLY_NONE, PLY_I8, PLY_U8, PLY_I16, PLY_U16, PLY_I32, PLY_U32, PLY_F32, PLY_F64 } ply_type;
static const int type_bytes[] = {0, 1, 1, 2, 2, 4, 4, 4, 8};

typedef struct ply_property {
    char name[NAME];
    ply_type list, type;  ///< list: type of the length, PLY_NONE: one value
} ply_property;

typedef struct ply_element {
    char name[NAME];
    int64_t count;
    int first, properties;
} ply_element;

typedef struct ply {
    const tl_allocator *alloc;
    const char *path, *data, *at, *end;
    int64_t line;
    enum { PLY_ASCII, PLY_LITTLE, PLY_BIG } format;
    ply_element element[MAX_ELEMENTS];
    int element_count;
    ply_property property[MAX_PROPERTIES];
    int property_count;
    tl_obj *out;
    int32_t nodes, faces;
} ply;

static tl_status fail_here(const ply *p, tl_error *err, const char *what)
{
    if (p->format == PLY_ASCII) return tl_fail(err, TL_BAD_INPUT, "%.300s:%lld: %s", p->path, (long long)p->line, what);
    return tl_fail(err, TL_BAD_INPUT, "%.300s: byte %zu: %s", p->path, (size_t)(p->at - p->data), what);
}

// ---- header ----

// The next word of the line into `out`; false at its end.
static bool next_word(const char **at, const char *end, char *out, size_t size)
{
    size_t n = 0;
    while (*at < end && (**at == ' ' || **at == '\t')) ++*at;
    while (*at < end && **at != ' ' && **at != '\t' && **at != '\r' && n + 1 < size) out[n++] = *(*at)++;
    out[n] = 0;
    return n > 0;
}

static ply_type type_of(const char *word)
{
    static const char *const names[][2] = {{"", ""},           {"char", "int8"},     {"uchar", "uint8"},
                                           {"short", "int16"}, {"ushort", "uint16"}, {"int", "int32"},
                                           {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
    for (int i = 1; i < 9; i++)
        if (strcmp(word, names[i][0]) == 0 || strcmp(word, names[i][1]) == 0) return (ply_type)i;
    return PLY_NONE;
}

static tl_status read_property(ply *p, const char *at, const char *end, tl_error *err)
{
    char word[NAME];
    if (p->element_count == 0) return fail_here(p, err, "a property before any element");
    if (p->property_count == MAX_PROPERTIES) return fail_here(p, err, "has more than 256 properties");
    ply_property *to = &p->property[p->property_count];
    *to = (ply_property){.name = ""};
    next_word(&at, end, word, sizeof word);
    if (strcmp(word, "list") == 0) {
        next_word(&at, end, word, sizeof word);
        to->list = type_of(word);
        if (to->list == PLY_NONE || to->list >= PLY_F32)
            return fail_here(p, err, "length of a list must be a whole number");
        next_word(&at, end, word, sizeof word);
    }
    to->type = type_of(word);
    if (to->type == PLY_NONE || !next_word(&at, end, to->name, sizeof to->name))
        return fail_here(p, err, "property needs a type (char .. double) and a name");
    p->property_count++;
    p->element[p->element_count - 1].properties++;
    return TL_OK;
}

static tl_status read_element(ply *p, const char *at, const char *end, tl_error *err)
{
    if (p->element_count == MAX_ELEMENTS) return fail_here(p, err, "has more than 64 elements");
    ply_element *to = &p->element[p->element_count];
    *to = (ply_element){.first = p->property_count};
    char count[NAME];
    if (!next_word(&at, end, to->name, sizeof to->name) || !next_word(&at, end, count, sizeof count) ||
        !tl_parse_int(count, count + strlen(count), &to->count) || to->count < 0 || to->count > INT32_MAX)
        return fail_here(p, err, "element needs a name and a count");
    p->element_count++;
    return TL_OK;
}

static tl_status read_header(ply *p, tl_error *err)
{
    bool format = false;
    for (p->line = 1;; p->line++) {
        const char *end = memchr(p->at, '\n', (size_t)(p->end - p->at)), *at = p->at;
        if (!end) return fail_here(p, err, "the header has no end_header");
        char word[NAME];
        p->at = end + 1;
        if (!next_word(&at, end, word, sizeof word)) continue;
        if (p->line == 1 && strcmp(word, "ply") != 0) return fail_here(p, err, "is no PLY: must begin with ply");
        if (strcmp(word, "end_header") == 0) break;
        if (strcmp(word, "element") == 0) TL_TRY(read_element(p, at, end, err));
        if (strcmp(word, "property") == 0) TL_TRY(read_property(p, at, end, err));
        if (strcmp(word, "format") != 0) continue;
        next_word(&at, end, word, sizeof word);
        format = true;
        if (strcmp(word, "binary_little_endian") == 0 || strcmp(word, "binary_big_endian") == 0)
            p->format = word[7] == 'l' ? PLY_LITTLE : PLY_BIG;
        else if (strcmp(word, "ascii") != 0)
            return tl_fail(err, TL_BAD_INPUT,
                           "%.300s:%lld: format %s, must be ascii, binary_little_endian or binary_big_endian", p->path,
                           (long long)p->line, word);
        // a header is text whatever comes behind it: messages name its lines
        if (p->format != PLY_ASCII && p->element_count > 0)
            return fail_here(p, err, "format must stand before the elements");
    }
    p->line++;
    return format ? TL_OK : fail_here(p, err, "the header has no format");
}

// ---- values ----

static tl_status next_value(ply *p, ply_type type, double *out, tl_error *err)
{
    if (p->format == PLY_ASCII) {
        while (p->at < p->end && strchr(" \t\r\n", *p->at) && *p->at) p->line += *p->at++ == '\n';
        const char *next = p->at < p->end ? tl_parse_double(p->at, p->end, out) : NULL;
        if (!next) return fail_here(p, err, p->at < p->end ? "a number is expected" : "ends too early (cut short?)");
        p->at = next;
        return TL_OK;
    }
    const int n = type_bytes[type];
    if (p->end - p->at < n) return fail_here(p, err, "ends too early (cut short?)");
    uint64_t u = 0;
    for (int i = 0; i < n; i++) u = u << 8 | (unsigned char)p->at[p->format == PLY_BIG ? i : n - 1 - i];
    p->at += n;
    const uint32_t u4 = (uint32_t)u;
    float f;
    switch (type) {
    case PLY_I8: *out = (int8_t)u; break;
    case PLY_I16: *out = (int16_t)u; break;
    case PLY_I32: *out = (int32_t)u4; break;
    case PLY_F32: memcpy(&f, &u4, sizeof f), *out = (double)f; break;
    case PLY_F64: memcpy(out, &u, sizeof u); break;
    default: *out = (double)u; break;
    }
    return TL_OK;
}

static tl_status add_corner(ply *p, int64_t k, double value, double first[2], tl_error *err)
{
    tl_obj *m = p->out;
    if (!(value >= 0 && value < INT32_MAX && value == floor(value)))
        return fail_here(p, err, "a face has a corner that is no vertex number");
    if (k < 2) {
        first[k] = value;
        return TL_OK;
    }
    if (!TL_GROW(p->alloc, m->face, m->face_cap, (int64_t)p->faces + 1)) return tl_fail_memory(err, "a mesh");
    m->face[p->faces][0] = (int32_t)first[0], m->face[p->faces][1] = (int32_t)first[1];
    m->face[p->faces][2] = (int32_t)value;
    m->face_count = ++p->faces;
    first[1] = value;
    return TL_OK;
}

static tl_status read_row(ply *p, const ply_element *e, bool vertex, bool face, tl_error *err)
{
    double xyz[3] = {0}, value = 0, length = 0, first[2] = {0};
    for (int k = e->first; k < e->first + e->properties; k++) {
        const ply_property *pr = &p->property[k];
        const bool corners = face && (strcmp(pr->name, "vertex_indices") == 0 || strcmp(pr->name, "vertex_index") == 0);
        length = 1;
        if (pr->list != PLY_NONE) TL_TRY(next_value(p, pr->list, &length, err));
        if (!(length >= 0 && length < 1e6)) return fail_here(p, err, "a list has no sensible length");
        for (int64_t i = 0; i < (int64_t)length; i++) {
            TL_TRY(next_value(p, pr->type, &value, err));
            if (corners && pr->list != PLY_NONE) TL_TRY(add_corner(p, i, value, first, err));
        }
        if (vertex && pr->name[1] == 0 && pr->name[0] >= 'x' && pr->name[0] <= 'z') xyz[pr->name[0] - 'x'] = value;
    }
    if (!vertex) return TL_OK;
    if (!isfinite(xyz[0]) || !isfinite(xyz[1]) || !isfinite(xyz[2])) return fail_here(p, err, "a vertex is not finite");
    if (!TL_GROW(p->alloc, p->out->pos, p->out->pos_cap, (int64_t)p->nodes + 1)) return tl_fail_memory(err, "a mesh");
    p->out->pos[p->nodes++] = (tl_vec3){xyz[0], xyz[1], xyz[2]};
    p->out->node_count = p->nodes;
    return TL_OK;
}

static tl_status read_body(ply *p, tl_error *err)
{
    for (int i = 0; i < p->element_count; i++) {
        const ply_element *e = &p->element[i];
        const bool vertex = strcmp(e->name, "vertex") == 0, face = strcmp(e->name, "face") == 0;
        if (e->properties == 0) continue;
        for (int64_t k = 0; k < e->count; k++) TL_TRY(read_row(p, e, vertex, face, err));
    }
    if (p->nodes == 0 || p->faces == 0)
        return tl_fail(err, TL_BAD_INPUT,
                       "%.300s: has %d vertices and %d faces, must have some (points alone are no surface)", p->path,
                       p->nodes, p->faces);
    for (int32_t f = 0; f < p->faces; f++)
        for (int c = 0; c < 3; c++)
            if (p->out->face[f][c] >= p->nodes)
                return tl_fail(err, TL_BAD_INPUT, "%.300s: triangle %d has vertex %d, there are 0 to %d", p->path, f,
                               p->out->face[f][c], p->nodes - 1);
    return TL_OK;
}

tl_status tl_ply_parse(const tl_allocator *alloc, const char *path, const char *data, size_t size, tl_obj *out,
                       tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    ply *p = TL_CALLOC(alloc, ply, 1);
    if (!p) return tl_fail_memory(err, "a mesh");
    p->alloc = alloc, p->path = path, p->data = p->at = data, p->end = data + size, p->out = out;
    tl_status status = read_header(p, err);
    if (status == TL_OK) status = read_body(p, err);
    TL_FREE(alloc, p, 1);
    if (status != TL_OK) tl_obj_free(out);
    return status;
}
