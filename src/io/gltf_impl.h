// io/gltf_impl.h: what the parts of the glTF reader share.
#pragma once
#include <jansson.h>

#include "io/gltf.h"

typedef struct gltf_buffer {
    const char *data;
    size_t size;
    tl_text own;  ///< its memory, unless it is a part of the file
} gltf_buffer;

typedef struct gltf {
    const tl_allocator *alloc;
    const tl_gltf_source *source;
    tl_character *c;
    json_t *root;
    gltf_buffer *buffers;
    int32_t buffer_count;
    int32_t *node_place;   ///< node of the file -> node of the character
    uint8_t *in_scene;     ///< of every node of the file
    int32_t *joint_first;  ///< of every skin: its first joint in the character
    int32_t *morph_first;  ///< of every node of the file: its first morph weight, -1: none
    int32_t *morph_count;
    int32_t node_count, skin_count;
} gltf;

/// TL_BAD_INPUT "PATH: " and the sentence.
tl_status gltf_fail(const gltf *g, tl_error *err, const char *format, ...) TL_PRINTF(3, 4);

/// The list `name` of the top object; NULL and empty where it is absent.
const json_t *gltf_list(const gltf *g, const char *name);
int32_t gltf_count(const gltf *g, const char *name);

/// A whole number >= 0 of an object. `otherwise` < 0 and absent: fails. `what` names the object.
tl_status gltf_index(const gltf *g, const json_t *object, const char *key, int64_t otherwise, const char *what,
                     int64_t *out, tl_error *err);

/// An index into the list `list` in `value`; fails if there is no such entry.
tl_status gltf_ref(const gltf *g, const json_t *value, const char *list, const char *what, int32_t *out, tl_error *err);

/// Up to `n` finite numbers of a list into `out`; absent: `out` stays.
tl_status gltf_numbers(const gltf *g, const json_t *object, const char *key, int32_t n, const char *what, double *out,
                       tl_error *err);

void gltf_name(const json_t *object, char out[TL_RIG_NAME]);

/// Values of an accessor, `width` numbers each; integers as they are or, if it says so, normalised.
typedef struct gltf_values {
    double *v;
    int32_t count, width;
    bool whole;  ///< integers, not normalised
    int32_t accessor;
    int32_t component;  ///< 5120 .. 5126
} gltf_values;
enum { GLTF_SCALAR = 1, GLTF_VEC3 = 3, GLTF_VEC4 = 4, GLTF_MAT4 = 16 };

/// Reads accessor `ref` (a JSON index), which must have `width` components. `what` says what refers to it.
tl_status gltf_read_accessor(const gltf *g, const json_t *ref, int32_t width, const char *what, gltf_values *out,
                             tl_error *err);
void gltf_free_values(const gltf *g, gltf_values *values);

tl_status gltf_open(gltf *g, tl_error *err);  ///< JSON and buffers
void gltf_close(gltf *g);

// The parts of tl_gltf_parse, in this order.
tl_status gltf_read_nodes(gltf *g, tl_error *err);
tl_status gltf_read_skins(gltf *g, tl_error *err);
tl_status gltf_read_meshes(gltf *g, tl_error *err);
tl_status gltf_read_animations(gltf *g, tl_error *err);
