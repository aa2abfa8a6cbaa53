// io/gltf_accessor.c: values of an accessor as doubles: any component type, strides, sparse replacements.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/gltf_impl.h"

enum {
    BYTE = 5120,
    UBYTE = 5121,
    SHORT = 5122,
    USHORT = 5123,
    UINT = 5125,
    FLOAT = 5126,
    MAX_VALUES = 64 << 20,  // numbers of one accessor; half a gigabyte
};

static int32_t component_bytes(int64_t type)
{
    switch (type) {
    case BYTE:
    case UBYTE: return 1;
    case SHORT:
    case USHORT: return 2;
    case UINT:
    case FLOAT: return 4;
    default: return 0;
    }
}

static double component_at(const unsigned char *p, int32_t type, bool normalised)
{
    const uint32_t u2 = (uint32_t)p[0] | (type == SHORT || type == USHORT ? (uint32_t)p[1] << 8 : 0);
    switch (type) {  // normalised: glTF 2.0, sec. 3.11
    case BYTE: return normalised ? fmax((double)(int8_t)p[0] / 127, -1) : (double)(int8_t)p[0];
    case UBYTE: return normalised ? p[0] / 255.0 : p[0];
    case SHORT: return normalised ? fmax((double)(int16_t)u2 / 32767, -1) : (double)(int16_t)u2;
    case USHORT: return normalised ? u2 / 65535.0 : u2;
    default: break;
    }
    const uint32_t u4 = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    if (type == UINT) return u4;
    float f;
    memcpy(&f, &u4, sizeof f);
    return (double)f;
}

typedef struct span {
    const unsigned char *data;
    size_t stride;
} span;

// `count` elements of `size` bytes, from the buffer view `ref` and an offset into it.
static tl_status find_span(const gltf *g, const json_t *ref, int64_t offset, int64_t count, int64_t size,
                           const char *what, span *out, tl_error *err)
{
    int32_t view = 0, buffer = 0;
    int64_t start = 0, length = 0, stride = 0;
    char view_name[40];
    TL_TRY(gltf_ref(g, ref, "bufferViews", what, &view, err));
    snprintf(view_name, sizeof view_name, "bufferViews[%d]", view);
    const json_t *entry = json_array_get(gltf_list(g, "bufferViews"), (size_t)view);
    TL_TRY(gltf_ref(g, json_object_get(entry, "buffer"), "buffers", view_name, &buffer, err));
    TL_TRY(gltf_index(g, entry, "byteOffset", 0, view_name, &start, err));
    TL_TRY(gltf_index(g, entry, "byteLength", -1, view_name, &length, err));
    TL_TRY(gltf_index(g, entry, "byteStride", 0, view_name, &stride, err));
    const int64_t have = (int64_t)g->buffers[buffer].size;
    if (start > have || length > have - start)
        return gltf_fail(g, err, "%s: bytes %lld to %lld, buffers[%d] has %lld", view_name, (long long)start,
                         (long long)(start + length), buffer, (long long)have);
    if (stride == 0) stride = size;
    if (stride < size || stride > 65536)
        return gltf_fail(g, err, "%s: byteStride %lld, its elements have %lld bytes", view_name, (long long)stride,
                         (long long)size);
    const int64_t need = count > 0 ? stride * (count - 1) + size : 0;  // count is bounded: no overflow
    if (offset > length || need > length - offset)
        return gltf_fail(g, err, "%s: %lld elements from byte %lld on need %lld bytes, %s has %lld", what,
                         (long long)count, (long long)offset, (long long)need, view_name, (long long)length);
    *out = (span){(const unsigned char *)g->buffers[buffer].data + start + offset, (size_t)stride};
    return TL_OK;
}

static tl_status read_sparse(const gltf *g, const json_t *sparse, bool normalised, const char *what, gltf_values *out,
                             tl_error *err)
{
    int64_t count = 0, index_type = 0, at = 0, value_at = 0;
    const json_t *indices = json_object_get(sparse, "indices"), *values = json_object_get(sparse, "values");
    TL_TRY(gltf_index(g, sparse, "count", -1, what, &count, err));
    TL_TRY(gltf_index(g, indices, "componentType", -1, what, &index_type, err));
    TL_TRY(gltf_index(g, indices, "byteOffset", 0, what, &at, err));
    TL_TRY(gltf_index(g, values, "byteOffset", 0, what, &value_at, err));
    if (count > out->count)
        return gltf_fail(g, err, "%s: sparse.count %lld, the accessor has %d", what, (long long)count, out->count);
    if (index_type != UBYTE && index_type != USHORT && index_type != UINT)
        return gltf_fail(g, err, "%s: sparse.indices.componentType %lld, must be 5121, 5123 or 5125", what,
                         (long long)index_type);
    span index, value;
    const int64_t step = component_bytes(out->component);
    TL_TRY(find_span(g, json_object_get(indices, "bufferView"), at, count, component_bytes(index_type), what, &index,
                     err));
    TL_TRY(find_span(g, json_object_get(values, "bufferView"), value_at, count, step * out->width, what, &value, err));
    for (int64_t i = 0; i < count; i++) {
        const double to = component_at(index.data + (size_t)i * index.stride, (int32_t)index_type, false);
        if (to >= out->count)
            return gltf_fail(g, err, "%s: sparse index %lld is %.0f, the accessor has %d", what, (long long)i, to,
                             out->count);
        for (int32_t k = 0; k < out->width; k++)
            out->v[(size_t)to * (size_t)out->width + (size_t)k] =
                component_at(value.data + (size_t)i * value.stride + (size_t)(k * step), out->component, normalised);
    }
    return TL_OK;
}

static tl_status fill(const gltf *g, const json_t *entry, bool normalised, const char *what, gltf_values *out,
                      tl_error *err)
{
    const json_t *view = json_object_get(entry, "bufferView"), *sparse = json_object_get(entry, "sparse");
    const int64_t step = component_bytes(out->component);
    int64_t offset = 0;
    TL_TRY(gltf_index(g, entry, "byteOffset", 0, what, &offset, err));
    if (view) {
        span from;
        TL_TRY(find_span(g, view, offset, out->count, step * out->width, what, &from, err));
        for (int32_t i = 0; i < out->count; i++)
            for (int32_t k = 0; k < out->width; k++)
                out->v[(size_t)i * (size_t)out->width + (size_t)k] =
                    component_at(from.data + (size_t)i * from.stride + (size_t)(k * step), out->component, normalised);
    }
    if (sparse) TL_TRY(read_sparse(g, sparse, normalised, what, out, err));
    for (int64_t i = 0; i < (int64_t)out->count * out->width; i++)
        if (!isfinite(out->v[i]))
            return gltf_fail(g, err, "%s: element %lld is not finite", what, (long long)(i / out->width));
    return TL_OK;
}

tl_status gltf_read_accessor(const gltf *g, const json_t *ref, int32_t width, const char *what, gltf_values *out,
                             tl_error *err)
{
    static const struct {
        const char *name;
        int32_t width;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT2", 4}, {"MAT3", 9}, {"MAT4", 16}};
    *out = (gltf_values){0};
    int32_t index = 0;
    int64_t count = 0, component = 0;
    char name[160];
    TL_TRY(gltf_ref(g, ref, "accessors", what, &index, err));
    snprintf(name, sizeof name, "accessors[%d] (%.100s)", index, what);
    const json_t *entry = json_array_get(gltf_list(g, "accessors"), (size_t)index);
    const char *type = json_string_value(json_object_get(entry, "type"));
    TL_TRY(gltf_index(g, entry, "count", -1, name, &count, err));
    TL_TRY(gltf_index(g, entry, "componentType", -1, name, &component, err));
    int32_t has = 0;
    for (int k = 0; type && k < 7; k++)
        if (strcmp(type, types[k].name) == 0) has = types[k].width;
    if (has != width)
        return gltf_fail(g, err, "%s: type %.20s, must have %d components", name, type ? type : "(none)", width);
    if (component_bytes(component) == 0)
        return gltf_fail(g, err, "%s: componentType %lld, must be 5120 to 5123, 5125 or 5126", name,
                         (long long)component);
    if (count < 1 || count > MAX_VALUES / width)
        return gltf_fail(g, err, "%s: count %lld, must be 1 to %d", name, (long long)count, MAX_VALUES / width);
    const bool normalised = json_is_true(json_object_get(entry, "normalized"));
    *out = (gltf_values){.count = (int32_t)count,
                         .width = width,
                         .whole = component != FLOAT && !normalised,
                         .accessor = index,
                         .component = (int32_t)component};
    out->v = TL_CALLOC(g->alloc, double, count *width);
    if (!out->v) return tl_fail_memory(err, "an accessor");
    const tl_status status = fill(g, entry, normalised, name, out, err);
    if (status != TL_OK) gltf_free_values(g, out);
    return status;
}

void gltf_free_values(const gltf *g, gltf_values *values)
{
    TL_FREE(g->alloc, values->v, (size_t)values->count * (size_t)values->width);
}
