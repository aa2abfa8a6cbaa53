// io/motion_write.c: PC2, MDD, GLB with morph targets and PLY, as other programs read them.

#include "io/motion_write.h"

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/alloc.h"
#include "base/fail.h"

static void put_word(tl_buf *buf, uint32_t w, bool big)
{
    unsigned char b[4];
    for (int i = 0; i < 4; i++) b[i] = (unsigned char)(w >> 8 * (big ? 3 - i : i));
    tl_buf_add(buf, b, 4);
}

static void put_float(tl_buf *buf, double value, bool big)
{
    const float f = (float)value;
    uint32_t w;
    memcpy(&w, &f, sizeof w);
    put_word(buf, w, big);
}

static void put_points(tl_buf *buf, const tl_moving_mesh *m, bool big)
{
    const int64_t n = (int64_t)m->frame_count * m->mesh->node_count;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) put_float(buf, (double)m->pos[i][k], big);
}

void tl_pc2_write(tl_buf *buf, const tl_moving_mesh *m)
{
    tl_buf_add(buf, "POINTCACHE2", 12);
    put_word(buf, 1, false);
    put_word(buf, (uint32_t)m->mesh->node_count, false);
    put_float(buf, 0, false);  // first frame
    put_float(buf, 1, false);  // frames a sample
    put_word(buf, (uint32_t)m->frame_count, false);
    put_points(buf, m, false);
}

void tl_mdd_write(tl_buf *buf, const tl_moving_mesh *m)
{
    put_word(buf, (uint32_t)m->frame_count, true);
    put_word(buf, (uint32_t)m->mesh->node_count, true);
    for (int32_t f = 0; f < m->frame_count; f++) put_float(buf, f / m->fps, true);
    put_points(buf, m, true);
}

void tl_ply_write(tl_buf *buf, const tl_frame_points *p)
{
    const tl_obj *mesh = p->mesh;
    tl_buf_printf(buf,
                  "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\n"
                  "property float z\nproperty float s\nproperty float t\n",
                  mesh->vert_count);
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++)
        if (p->attribute[a]) tl_buf_printf(buf, "property float %s\n", tl_attribute_name((tl_attribute)a));
    tl_buf_printf(buf, "element face %d\nproperty list uchar int vertex_indices\nend_header\n", mesh->face_count);
    for (int32_t v = 0; v < mesh->vert_count; v++) {
        const int32_t node = mesh->vert_node[v];
        const tl_vec3 x = p->pos[node];
        put_float(buf, x.x, false), put_float(buf, x.y, false), put_float(buf, x.z, false);
        put_float(buf, mesh->uv[v].x, false), put_float(buf, mesh->uv[v].y, false);
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++)
            if (p->attribute[a]) put_float(buf, (double)p->attribute[a][node], false);
    }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        tl_buf_add(buf, "\3", 1);
        for (int k = 0; k < 3; k++) put_word(buf, (uint32_t)mesh->face[f][k], false);
    }
}

// ---- GLB ----

// The binary part, its views and accessors, one view for each accessor.
typedef struct glb {
    tl_buf bin;
    json_t *views, *accessors;
    size_t begun;
    bool ok;
} glb;

static void begin(glb *g) { g->begun = g->bin.size; }

enum { NO_TARGET = 0, VERTICES = 34962, INDICES = 34963 };  // what a view is for

static int end(glb *g, int target, const char *type, int component, int64_t count, json_t *low, json_t *high)
{
    json_t *entry = json_pack("{si,si,sI,ss}", "bufferView", (int)json_array_size(g->views), "componentType", component,
                              "count", (json_int_t)count, "type", type);
    if (low)
        g->ok = json_object_set_new(entry, "min", low) == 0 && json_object_set_new(entry, "max", high) == 0 && g->ok;
    json_t *view = json_pack("{si,sI,sI}", "buffer", 0, "byteOffset", (json_int_t)g->begun, "byteLength",
                             (json_int_t)(g->bin.size - g->begun));
    if (target) g->ok = json_object_set_new(view, "target", json_integer(target)) == 0 && g->ok;
    g->ok = json_array_append_new(g->views, view) == 0 && json_array_append_new(g->accessors, entry) == 0 && g->ok;
    while (g->bin.size % 4 != 0 && !g->bin.failed) tl_buf_add(&g->bin, "", 1);
    return (int)json_array_size(g->accessors) - 1;
}

// Positions of a frame, or where it lies from the first.
static int add_positions(glb *g, const tl_moving_mesh *m, int32_t frame)
{
    const tl_obj *mesh = m->mesh;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const float(*x)[3] = m->pos + (size_t)frame * (size_t)mesh->node_count;
    begin(g);
    for (int32_t v = 0; v < mesh->vert_count; v++) {
        const int32_t node = mesh->vert_node[v];
        for (int k = 0; k < 3; k++) {
            const float value = frame == 0 ? x[node][k] : x[node][k] - m->pos[node][k];
            low[k] = fminf(low[k], value), high[k] = fmaxf(high[k], value);
            put_float(&g->bin, (double)value, false);
        }
    }
    return end(g, VERTICES, "VEC3", 5126, mesh->vert_count,
               json_pack("[f,f,f]", (double)low[0], (double)low[1], (double)low[2]),
               json_pack("[f,f,f]", (double)high[0], (double)high[1], (double)high[2]));
}

static json_t *make_primitive(glb *g, const tl_moving_mesh *m)
{
    const tl_obj *mesh = m->mesh;
    const int position = add_positions(g, m, 0);
    begin(g);
    for (int32_t v = 0; v < mesh->vert_count; v++)  // t points down in a glTF
        put_float(&g->bin, mesh->uv[v].x, false), put_float(&g->bin, 1 - mesh->uv[v].y, false);
    const int uv = end(g, VERTICES, "VEC2", 5126, mesh->vert_count, NULL, NULL);
    begin(g);
    for (int32_t f = 0; f < mesh->face_count; f++)
        for (int k = 0; k < 3; k++) put_word(&g->bin, (uint32_t)mesh->face[f][k], false);
    const int indices = end(g, INDICES, "SCALAR", 5125, 3 * (int64_t)mesh->face_count, NULL, NULL);
    json_t *targets = json_array();
    for (int32_t f = 1; f < m->frame_count; f++)
        g->ok = json_array_append_new(targets, json_pack("{si}", "POSITION", add_positions(g, m, f))) == 0 && g->ok;
    json_t *primitive = json_pack("{s{si,si},si,si}", "attributes", "POSITION", position, "TEXCOORD_0", uv, "indices",
                                  indices, "mode", 4);
    if (m->frame_count > 1)
        g->ok = json_object_set_new(primitive, "targets", targets) == 0 && g->ok;
    else
        json_decref(targets);
    return primitive;
}

// Frame f has weight 1 of target f - 1 and 0 of all others.
static json_t *make_animation(glb *g, const tl_moving_mesh *m)
{
    begin(g);
    for (int32_t f = 0; f < m->frame_count; f++) put_float(&g->bin, f / m->fps, false);
    const int times = end(g, NO_TARGET, "SCALAR", 5126, m->frame_count, json_pack("[f]", 0.0),
                          json_pack("[f]", (double)(float)((m->frame_count - 1) / m->fps)));
    begin(g);
    for (int32_t f = 0; f < m->frame_count; f++)
        for (int32_t t = 1; t < m->frame_count; t++) put_float(&g->bin, f == t, false);
    const int weights = end(g, NO_TARGET, "SCALAR", 5126, (int64_t)m->frame_count * (m->frame_count - 1), NULL, NULL);
    return json_pack("{ss,s[{si,s{si,ss}}],s[{si,si,ss}]}", "name", "simulation", "channels", "sampler", 0, "target",
                     "node", 0, "path", "weights", "samplers", "input", times, "output", weights, "interpolation",
                     "LINEAR");
}

static void write_chunks(tl_buf *buf, const char *text, const tl_buf *bin)
{
    const size_t n = strlen(text), padded = (n + 3) / 4 * 4;
    tl_buf_text(buf, "glTF");
    put_word(buf, 2, false), put_word(buf, (uint32_t)(28 + padded + bin->size), false);
    put_word(buf, (uint32_t)padded, false), put_word(buf, 0x4e4f534a, false);
    tl_buf_add(buf, text, n);
    tl_buf_add(buf, "   ", padded - n);
    put_word(buf, (uint32_t)bin->size, false), put_word(buf, 0x004e4942, false);
    tl_buf_add(buf, bin->data, bin->size);
}

tl_status tl_glb_write(tl_buf *buf, const tl_moving_mesh *m, tl_error *err)
{
    glb g = {.views = json_array(), .accessors = json_array(), .ok = true};
    tl_buf_init(&g.bin, &buf->alloc);
    json_t *primitive = make_primitive(&g, m);
    json_t *animation = m->frame_count > 1 ? make_animation(&g, m) : NULL;
    json_t *root = json_pack("{s{ss,ss},si,s[{s[i]}],s[{ss,si}],s[{ss,s[o]}],s[{sI}],sO,sO}", "asset", "version", "2.0",
                             "generator", "toile", "scene", 0, "scenes", "nodes", 0, "nodes", "name", m->name, "mesh",
                             0, "meshes", "name", m->name, "primitives", primitive, "buffers", "byteLength",
                             (json_int_t)g.bin.size, "bufferViews", g.views, "accessors", g.accessors);
    if (root && animation) g.ok = json_object_set_new(root, "animations", json_pack("[O]", animation)) == 0 && g.ok;
    char *text = root && g.ok && !g.bin.failed ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    tl_status status = text ? TL_OK : tl_fail_memory(err, "a GLB");
    if (text && g.bin.size + strlen(text) + 64 > UINT32_MAX)
        status = tl_fail(err, TL_BAD_INPUT, "the frames are too large for one GLB (4 GiB): export fewer, or as .pc2");
    if (status == TL_OK) write_chunks(buf, text, &g.bin);
    free(text);
    json_decref(animation);
    json_decref(root);
    json_decref(g.views);
    json_decref(g.accessors);
    tl_buf_free(&g.bin);
    return status;
}
