// run/export_source.c: frames of a folder or a recording, as meshes in metres.

#include "run/export_source.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/json.h"
#include "io/mesh_file.h"
#include "run/folder.h"
#include "run/run_fabric.h"

tl_status tl_obj_room(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, bool labels, tl_obj *out,
                      tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc, .has_uv = true, .node_count = nodes, .vert_count = verts, .face_count = faces};
    out->pos_cap = nodes, out->uv_cap = out->vert_cap = verts, out->face_cap = faces;
    out->pos = TL_ALLOC(alloc, tl_vec3, nodes), out->uv = TL_ALLOC(alloc, tl_vec2, verts);
    out->vert_node = TL_ALLOC(alloc, int32_t, verts);
    out->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *out->face);
    if (labels) out->face_label = TL_ALLOC(alloc, int32_t, faces), out->face_label_cap = faces;
    if (out->pos && out->uv && out->vert_node && out->face && (!labels || out->face_label)) return TL_OK;
    tl_obj_free(out);
    return tl_fail_memory(err, "a mesh");
}

// ---- what there is ----

static bool add_name(tl_export_source *s, tl_surface_name **list, int32_t *count, int32_t *cap, const char *name)
{
    int32_t at = 0;
    while (at < *count && strcmp((*list)[at], name) < 0) at++;
    if (at < *count && strcmp((*list)[at], name) == 0) return true;
    if (!TL_GROW(&s->alloc, *list, *cap, (int64_t)*count + 1)) return false;
    memmove(*list + at + 1, *list + at, (size_t)(*count - at) * sizeof **list);
    snprintf((*list)[at], sizeof **list, "%.63s", name);
    (*count)++;
    return true;
}

typedef struct visiting {
    tl_export_source *s;
    bool full;
} visiting;

static bool visit_cloth(void *user, int64_t frame, const char *name)
{
    visiting *v = user;
    if (v->s->last < 0 || frame < v->s->first) v->s->first = frame;
    if (frame > v->s->last) v->s->last = frame;
    v->full = !add_name(v->s, &v->s->cloth, &v->s->cloth_count, &v->s->cloth_cap, name);
    return !v->full;
}

static bool visit_body(void *user, int64_t frame, const char *name)
{
    (void)frame;
    visiting *v = user;
    v->full = !add_name(v->s, &v->s->body, &v->s->body_count, &v->s->body_cap, name);
    return !v->full;
}

static void read_fps(tl_export_source *s)
{
    char path[TL_PATH_MAX];
    tl_json_doc *doc;
    s->fps = 25;
    if (tl_path_join(s->path, "scene.json", path, NULL) != TL_OK) return;
    if (tl_json_load(&s->alloc, &(tl_json_def){.path = path}, &doc, NULL) != TL_OK) return;
    const double fps = json_number_value(json_object_get(tl_json_root(doc).value, "fps"));
    if (fps > 0) s->fps = fps;
    tl_json_destroy(doc);
}

static tl_status open_folder(tl_export_source *s, tl_error *err)
{
    visiting v = {s, false};
    TL_TRY(tl_frames_visit(s->path, visit_cloth, &v, err));
    if (!v.full) TL_TRY(tl_obstacles_visit(s->path, visit_body, &v, err));
    if (v.full) return tl_fail_memory(err, "names of frames");
    if (s->last < 0)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: no frames (expected frames/NNNNNN_CLOTH.obj, or a .toile file)",
                       s->path);
    read_fps(s);
    return TL_OK;
}

static tl_status open_recording(tl_export_source *s, tl_error *err)
{
    TL_TRY(tl_recording_open(s->path, &s->recording, err));
    const tl_recording_facts facts = tl_recording_facts_of(s->recording);
    if (facts.frames == 0) return tl_fail(err, TL_BAD_INPUT, "%.300s: a recording without frames", s->path);
    s->first = facts.first_frame, s->last = (int64_t)facts.first_frame + facts.frames - 1, s->fps = facts.fps;
    for (int32_t i = 0; i < facts.surfaces; i++) {
        const bool body = tl_recording_surface_is_body(s->recording, i);
        tl_surface_name **names = body ? &s->body : &s->cloth;
        int32_t *count = body ? &s->body_count : &s->cloth_count, *cap = body ? &s->body_cap : &s->cloth_cap;
        int32_t **numbers = body ? &s->body_surface : &s->cloth_surface;
        int32_t *number_cap = body ? &s->body_surface_cap : &s->cloth_surface_cap;
        if (!TL_GROW(&s->alloc, *names, *cap, (int64_t)*count + 1) ||
            !TL_GROW(&s->alloc, *numbers, *number_cap, (int64_t)*count + 1))
            return tl_fail_memory(err, "names of surfaces");
        snprintf((*names)[*count], sizeof **names, "%s", tl_recording_surface_name(s->recording, i));
        (*numbers)[(*count)++] = i;
    }
    return TL_OK;
}

tl_status tl_export_source_open(const tl_allocator *alloc, const char *path, tl_export_source *out, tl_error *err)
{
    *out = (tl_export_source){.alloc = *alloc, .last = -1};
    const int n = snprintf(out->path, sizeof out->path, "%s", path);
    if (n < 0 || n >= (int)sizeof out->path) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", path);
    const tl_status status = tl_path_look(path) == TL_PATH_FILE ? open_recording(out, err) : open_folder(out, err);
    if (status != TL_OK) tl_export_source_close(out);
    return status;
}

void tl_export_source_close(tl_export_source *s)
{
    tl_recording_close(s->recording);
    tl_refiner_destroy(s->refiner);
    TL_FREE(&s->alloc, s->cloth, s->cloth_cap), TL_FREE(&s->alloc, s->body, s->body_cap);
    TL_FREE(&s->alloc, s->cloth_surface, s->cloth_surface_cap),
        TL_FREE(&s->alloc, s->body_surface, s->body_surface_cap);
    *s = (tl_export_source){0};
}

// ---- frames ----

static tl_status read_obj(const tl_export_source *s, const char *path, tl_obj_mode mode, tl_obj *out, tl_error *err)
{
    tl_text text;
    TL_TRY(tl_file_read(&s->alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    const tl_status status = tl_obj_parse(&s->alloc, path, text.data, text.size, mode, out, err);
    tl_text_free(&s->alloc, &text);
    return status;
}

static tl_status from_recording(tl_export_source *s, int32_t surface, int64_t frame, tl_obj *out, bool *present,
                                tl_error *err)
{
    tl_recording_view v;
    const tl_recording_facts facts = tl_recording_facts_of(s->recording);
    TL_TRY(tl_recording_frame(s->recording, (int32_t)(frame - facts.first_frame), surface, &v, err));
    *present = v.present;
    if (!v.present) return TL_OK;
    TL_TRY(tl_obj_room(&s->alloc, v.node_count, v.vert_count, v.face_count, v.face_label != NULL, out, err));
    for (int32_t i = 0; i < v.node_count; i++) {
        const tl_vec3 x = v.pos[i];
        const double y = facts.z_up ? x.z : x.y, z = facts.z_up ? -x.y : x.z;
        out->pos[i] = (tl_vec3){x.x / facts.scale, y / facts.scale, z / facts.scale};
    }
    if (v.uv) memcpy(out->uv, v.uv, (size_t)v.vert_count * sizeof *v.uv);
    memcpy(out->vert_node, v.vert_node, (size_t)v.vert_count * sizeof *v.vert_node);
    memcpy(out->face, v.face, (size_t)v.face_count * sizeof *v.face);
    if (v.face_label) memcpy(out->face_label, v.face_label, (size_t)v.face_count * sizeof *v.face_label);
    return TL_OK;
}

tl_status tl_export_source_refine(tl_export_source *s, const char *refine, int64_t first, int64_t last, tl_error *err)
{
    if (s->recording)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: a recording cannot be refined (refine the run)", s->path);
    s->refine = tl_refine_def_default();
    s->refine.source = s->path, s->refine.out = "";
    s->refine.first = (int32_t)first, s->refine.last = (int32_t)last;
    TL_TRY(tl_refine_parse(refine, &s->refine, err));
    return tl_refiner_create(&s->refine, &s->refiner, err);
}

// A finer frame as the reader of its file would return it. Frames go forward; for an earlier one it starts again.
static tl_status refined_cloth(tl_export_source *s, int32_t cloth, int64_t frame, tl_obj *out, tl_error *err)
{
    const int32_t count = tl_refiner_frame_count(s->refiner);
    if (s->refined > 0 && tl_refiner_frame_id(s->refiner, s->refined - 1) > frame) {
        tl_refiner_destroy(s->refiner);
        s->refined = 0;
        TL_TRY(tl_refiner_create(&s->refine, &s->refiner, err));
    }
    while (s->refined < count && tl_refiner_frame_id(s->refiner, s->refined) <= frame)
        TL_TRY(tl_refiner_frame(s->refiner, s->refined++, err));
    if (s->refined == 0 || tl_refiner_frame_id(s->refiner, s->refined - 1) != frame)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: frame %lld is missing", s->path, (long long)frame);
    for (int32_t i = 0; i < tl_refiner_cloth_count(s->refiner); i++)
        if (strcmp(tl_refiner_cloth_name(s->refiner, i), s->cloth[cloth]) == 0)
            return tl_refiner_obj(s->refiner, i, out, err);
    return tl_fail(err, TL_BAD_INPUT, "%.300s: no frames of %.60s", s->path, s->cloth[cloth]);
}

tl_status tl_export_source_cloth(tl_export_source *s, int32_t cloth, int64_t frame, tl_obj *out, tl_error *err)
{
    char path[TL_PATH_MAX];
    if (s->recording) {
        bool present;
        TL_TRY(from_recording(s, s->cloth_surface[cloth], frame, out, &present, err));
        return present ? TL_OK
                       : tl_fail(err, TL_BAD_INPUT, "%.300s: '%s' is not there at frame %lld", s->path, s->cloth[cloth],
                                 (long long)frame);
    }
    if (s->refiner) return refined_cloth(s, cloth, frame, out, err);
    TL_TRY(tl_frame_path(s->path, frame, s->cloth[cloth], path, err));
    return read_obj(s, path, TL_OBJ_STRICT, out, err);
}

tl_status tl_export_source_body(tl_export_source *s, int32_t body, int64_t frame, tl_obj *out, bool *present,
                                tl_error *err)
{
    char path[TL_PATH_MAX];
    if (s->recording) return from_recording(s, s->body_surface[body], frame, out, present, err);
    TL_TRY(tl_obstacle_path(s->path, frame, s->body[body], path, err));
    if (tl_path_look(path) != TL_PATH_FILE) TL_TRY(tl_obstacle_path(s->path, 0, s->body[body], path, err));
    TL_TRY(read_obj(s, path, TL_OBJ_BODY, out, err));
    *present = !out->absent && out->face_count > 0;
    if (!*present) {
        tl_obj_free(out);
        return TL_OK;
    }
    for (int32_t f = 0; f < out->face_count; f++)
        for (int k = 0; k < 3; k++) out->face[f][k] = out->vert_node[out->face[f][k]];
    return TL_OK;
}

tl_usd_fabric tl_export_source_fabric(const tl_export_source *s, const char *cloth)
{
    return s->recording ? (tl_usd_fabric){0} : tl_run_fabric(&s->alloc, s->path, cloth);
}
