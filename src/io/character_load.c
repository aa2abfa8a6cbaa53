// io/character_load.c: a character from its files: the surface, a cache or a motion, then unit and axes.

#include "io/character_load.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "body/measure.h"
#include "io/gltf.h"
#include "io/mesh_file.h"
#include "io/mocap.h"

typedef struct loading {
    const tl_allocator *alloc;
    const tl_reader *reader;
    const tl_character_def *def;
    tl_character *c;
    tl_character_files *files;  ///< NULL: nobody wants them
} loading;

void tl_character_files_free(const tl_allocator *alloc, tl_character_files *files)
{
    tl_text_free(alloc, &files->file);
    tl_text_free(alloc, &files->cache);
    tl_text_free(alloc, &files->motion);
}

static tl_status read_text(const loading *in, const char *path, tl_text *out, tl_error *err)
{
    const tl_reader reader = in->reader ? *in->reader : tl_reader_disk();
    return reader.read(reader.user, in->alloc, path, TL_GLTF_MAX_BYTES, out, err);
}

// The message with the file in front, for what is found after reading it.
static tl_status about(const char *path, tl_status status, tl_error *err)
{
    if (status != TL_BAD_INPUT || !err) return status;
    tl_error why = *err;
    return tl_fail(err, status, "%.300s: %.600s", path, why.message);
}

static void keep(tl_text *text, tl_text *to)
{
    *to = *text;
    *text = (tl_text){0};
}

tl_status tl_character_from_mesh(tl_character *c, const tl_vec3 *pos, int32_t verts, const int32_t (*face)[3],
                                 int32_t faces, tl_error *err)
{
    tl_rig_node *node = tl_character_push(c, TL_RIG_NODES, 1);
    tl_rig_joint *joint = tl_character_push(c, TL_RIG_JOINTS, 1);
    tl_rig_weight *weight = tl_character_push(c, TL_RIG_WEIGHTS, 1);
    tl_rig_vert *vert = tl_character_push(c, TL_RIG_VERTS, verts);
    tl_rig_face *to = tl_character_push(c, TL_RIG_FACES, faces);
    if (!node || !joint || !weight || !vert || !to) return tl_fail_memory(err, "a character");
    *node = (tl_rig_node){.name = "mesh", .parent = -1, .rest = tl_trs_identity(), .matrix = tl_affine_identity()};
    *joint = (tl_rig_joint){0, -1, tl_affine_identity()};
    *weight = (tl_rig_weight){0, 1};
    for (int32_t v = 0; v < verts; v++) vert[v].pos = pos[v], vert[v].weight_count = 1;
    for (int32_t f = 0; f < faces; f++) memcpy(to[f].v, face[f], sizeof to[f].v);
    c->facts.nodes = c->facts.meshes = 1;
    return TL_OK;
}

static tl_status read_surface(const loading *in, tl_mesh_format *format, tl_error *err)
{
    const char *path = in->def->file;
    tl_text text;
    TL_TRY(read_text(in, path, &text, err));
    *format = tl_mesh_format_of(path, text.data, text.size);
    const tl_gltf_source source = {path, text.data, text.size, in->reader};
    tl_status status;
    if (*format == TL_MESH_GLTF) {
        status = tl_gltf_parse(&source, in->c, err);
        tl_buf packed;
        tl_buf_init(&packed, in->alloc);
        if (status == TL_OK && in->files && !tl_gltf_is_binary(text.data, text.size)) {
            status = tl_gltf_pack(in->alloc, &source, &packed, err);
            tl_text_free(in->alloc, &text);
            if (status == TL_OK) status = tl_buf_end(&packed, "a GLB", err);
            text.data = status == TL_OK ? TL_ALLOC(in->alloc, char, packed.size + 1) : NULL;
            if (status == TL_OK && !text.data) status = tl_fail_memory(err, "a GLB");
            if (text.data) memcpy(text.data, packed.data, packed.size + 1), text.size = packed.size;
        }
        tl_buf_free(&packed);
    } else {
        tl_obj mesh;
        status = tl_mesh_file_parse(in->alloc, in->reader, path, &text, &mesh, err);
        if (status == TL_OK) {
            status = tl_character_from_mesh(in->c, mesh.pos, mesh.node_count, (const int32_t(*)[3])mesh.face,
                                            mesh.face_count, err);
            tl_obj_free(&mesh);
        }
    }
    if (status == TL_OK && in->files) {
        static const char *const endings[] = {".obj", ".ply", ".stl", ".glb"};  // as tl_mesh_format
        snprintf(in->files->file_ending, sizeof in->files->file_ending, "%s", endings[*format]);
        keep(&text, &in->files->file);
    }
    tl_text_free(in->alloc, &text);
    return status;
}

static tl_status read_cache(const loading *in, tl_error *err)
{
    const tl_character_def *def = in->def;
    tl_text text;
    TL_TRY(tl_mesh_sequence_is(def->cache) ? tl_mesh_sequence_pack(in->alloc, in->reader, def->cache, &text, err)
                                           : read_text(in, def->cache, &text, err));
    tl_status status =
        tl_point_cache_parse(def->cache, text.data, text.size, def->cache_fps > 0 ? def->cache_fps : 25, in->c, err);
    if (status == TL_OK && in->files) {
        const bool pc2 = text.size > 11 && memcmp(text.data, "POINTCACHE2", 11) == 0;
        snprintf(in->files->cache_ending, sizeof in->files->cache_ending, "%s", pc2 ? ".pc2" : ".mdd");
        keep(&text, &in->files->cache);
    }
    tl_text_free(in->alloc, &text);
    return status;
}

static tl_status read_motion(const loading *in, tl_error *err)
{
    const tl_character_def *def = in->def;
    tl_text text;
    TL_TRY(read_text(in, def->motion, &text, err));
    tl_status status = tl_mocap_put_on(def->motion, text.data, text.size, def->bones, def->bone_count, in->c, err);
    if (status == TL_OK && in->files) keep(&text, &in->files->motion);
    tl_text_free(in->alloc, &text);
    return status;
}

// Extents of the first shape of the cache against those at rest: which axis is up?
static void place_cache(tl_character *c, tl_up up)
{
    tl_vec3 low = {0}, high = {0};
    const int32_t verts = c->count[TL_RIG_VERTS];
    for (int32_t v = 0; v < verts; v++) {
        const tl_vec3 x = {(double)c->cache_point[v].x, (double)c->cache_point[v].y, (double)c->cache_point[v].z};
        low = v == 0 ? x : (tl_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
        high = v == 0 ? x : (tl_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
    }
    const tl_vec3 size = tl_mul3(c->facts.unit, tl_sub3(high, low)), rest = tl_sub3(c->facts.high, c->facts.low);
    const double as_y = fabs(size.y - rest.y) + fabs(size.z - rest.z);
    const double as_z = fabs(size.z - rest.y) + fabs(size.y - rest.z);
    if (up == TL_UP_AUTO) {
        up = as_z < 0.5 * as_y ? TL_UP_Z : TL_UP_Y;
        if (up == TL_UP_Z)
            tl_character_note(c,
                              "z is taken as the axis that points up in the cache (set cache_up to \"y\" if it is y)");
    }
    const tl_affine place = tl_up_to_y(up, c->facts.unit);
    for (int32_t i = 0; i < c->count[TL_RIG_CACHE_POINTS]; i++) {
        tl_cache_point *p = &c->cache_point[i];
        const tl_vec3 x = tl_affine_point(&place, (tl_vec3){(double)p->x, (double)p->y, (double)p->z});
        *p = (tl_cache_point){(float)x.x, (float)x.y, (float)x.z};
    }
}

static tl_status load(const loading *in, tl_error *err)
{
    const tl_character_def *def = in->def;
    tl_mesh_format format = TL_MESH_OBJ;
    TL_TRY(read_surface(in, &format, err));
    if (def->cache) TL_TRY(read_cache(in, err));
    TL_TRY(about(def->file, tl_character_weld(in->c, err), err));
    const tl_placing placing = {def->unit, def->up, format == TL_MESH_GLTF};
    TL_TRY(about(def->file, tl_character_measure(in->c, &placing, err), err));
    if (def->cache) place_cache(in->c, def->cache_up);
    return def->motion ? read_motion(in, err) : TL_OK;
}

tl_status tl_character_read(const tl_allocator *alloc, const tl_reader *reader, const tl_character_def *given,
                            tl_character **out, tl_character_files *files, tl_error *err)
{
    *out = NULL;
    if (files) *files = (tl_character_files){0};
    TL_DEF_COMPLETE(tl_character_def, complete, given, err);
    const tl_character_def *def = &complete;
    if (!def->file) return tl_fail(err, TL_BAD_ARG, "character: file is NULL");
    if (!(def->unit >= 0 && def->unit < 1e6) || !(def->cache_fps >= 0 && def->cache_fps < 1e6))
        return tl_fail(err, TL_BAD_ARG, "character: unit %g m, cache_fps %g, must be >= 0", def->unit, def->cache_fps);
    if ((int)def->up < 0 || def->up > TL_UP_X || (int)def->cache_up < 0 || def->cache_up > TL_UP_X)
        return tl_fail(err, TL_BAD_ARG, "character: up %d, cache_up %d is none of ours", (int)def->up,
                       (int)def->cache_up);
    const loading in = {alloc, reader, def, tl_character_create(alloc), files};
    if (!in.c) return tl_fail_memory(err, "a character");
    const tl_status status = load(&in, err);
    if (status != TL_OK) {
        tl_character_destroy(in.c);
        if (files) tl_character_files_free(alloc, files);
        return status;
    }
    *out = in.c;
    return TL_OK;
}

tl_status tl_character_load(const tl_character_def *def, tl_character **out, tl_error *err)
{
    if (!def || !out) return tl_fail(err, TL_BAD_ARG, "character_load: def or out is NULL");
    const tl_allocator alloc = tl_allocator_default();
    return tl_character_read(&alloc, NULL, def, out, NULL, err);
}
