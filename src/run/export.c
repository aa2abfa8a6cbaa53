// run/export.c: `toile export`: frames of one cloth of a run as GLB, PC2, MDD or a sequence of PLY files.

#include "toile/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/json.h"
#include "io/mesh_file.h"
#include "io/motion_write.h"
#include "run/folder.h"
#include "run/refiner.h"

enum { MADE = 0x65787074 };

typedef struct exporting {
    const tl_allocator *alloc;
    const tl_export_def *def;
    char cloth[64];
    int64_t last;
    bool several;  ///< there is more than one cloth
    tl_obj mesh;   ///< of the first frame
    float (*pos)[3];
    size_t pos_count;
    double fps;
    tl_refine_def refine;
    tl_refiner *refiner;  ///< NULL: frames as they are
    int32_t refined;      ///< frames of it so far
} exporting;

tl_export_def tl_export_def_default(void) { return (tl_export_def){.last = -1, .scale = 1, .made_by_default = MADE}; }

static bool visit(void *user, int64_t frame, const char *cloth)
{
    exporting *e = user;
    if (e->def->cloth && strcmp(cloth, e->def->cloth) != 0) return true;
    if (e->cloth[0] && strcmp(cloth, e->cloth) != 0) e->several = true;
    snprintf(e->cloth, sizeof e->cloth, "%.63s", cloth);
    if (frame > e->last) e->last = frame;
    return true;
}

static void read_fps(exporting *e)
{
    char path[TL_PATH_MAX];
    tl_json_doc *doc;
    e->fps = 25;
    if (tl_path_join(e->def->dir, "scene.json", path, NULL) != TL_OK) return;
    if (tl_json_load(e->alloc, &(tl_json_def){.path = path}, &doc, NULL) != TL_OK) return;
    const double fps = json_number_value(json_object_get(tl_json_root(doc).value, "fps"));
    if (fps > 0) e->fps = fps;
    tl_json_destroy(doc);
}

// A finer frame as the reader of its file would return it.
static tl_status refined_frame(exporting *e, int64_t frame, tl_obj *out, tl_error *err)
{
    const int32_t count = tl_refiner_frame_count(e->refiner);
    while (e->refined < count && tl_refiner_frame_id(e->refiner, e->refined) <= frame)  // asked for again: it is there
        TL_TRY(tl_refiner_frame(e->refiner, e->refined++, err));
    if (e->refined == 0 || tl_refiner_frame_id(e->refiner, e->refined - 1) != frame)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: frame %lld is missing", e->def->dir, (long long)frame);
    for (int32_t i = 0; i < tl_refiner_cloth_count(e->refiner); i++)
        if (strcmp(tl_refiner_cloth_name(e->refiner, i), e->cloth) == 0) return tl_refiner_obj(e->refiner, i, out, err);
    return tl_fail(err, TL_BAD_INPUT, "%.300s: no frames of %.60s", e->def->dir, e->cloth);
}

static tl_status read_frame(exporting *e, int64_t frame, tl_obj *out, tl_error *err)
{
    if (e->refiner) return refined_frame(e, frame, out, err);
    char path[TL_PATH_MAX];
    tl_text text;
    TL_TRY(tl_frame_path(e->def->dir, frame, e->cloth, path, err));
    TL_TRY(tl_file_read(e->alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    const tl_status status = tl_obj_parse(e->alloc, path, text.data, text.size, TL_OBJ_STRICT, out, err);
    tl_text_free(e->alloc, &text);
    return status;
}

static void convert(const exporting *e, const tl_obj *mesh, float (*out)[3])
{
    const double s = e->def->scale;
    for (int32_t i = 0; i < mesh->node_count; i++) {
        const tl_vec3 x = mesh->pos[i];
        const double y = e->def->z_up ? -x.z : x.y, z = e->def->z_up ? x.y : x.z;
        out[i][0] = (float)(s * x.x), out[i][1] = (float)(s * y), out[i][2] = (float)(s * z);
    }
}

static tl_status check_same(const exporting *e, const tl_obj *mesh, int64_t frame, tl_error *err)
{
    const tl_obj *a = &e->mesh;
    if (mesh->node_count == a->node_count && mesh->face_count == a->face_count && mesh->vert_count == a->vert_count &&
        memcmp(mesh->face, a->face, (size_t)a->face_count * sizeof *a->face) == 0)
        return TL_OK;
    return tl_fail(
        err, TL_BAD_INPUT,
        "%.300s: frame %lld of '%s' has another mesh (%d faces) than frame %d (%d): this format needs one for all "
        "frames (export .ply, or run with --set remeshing.kind=none)",
        e->def->dir, (long long)frame, e->cloth, mesh->face_count, e->def->first, a->face_count);
}

static tl_status write_file(const char *path, tl_buf *buf, tl_export_report *out, tl_error *err)
{
    TL_TRY(tl_buf_end(buf, "an export", err));
    TL_TRY(tl_file_write(path, buf->data, buf->size, false, err));
    out->bytes += (int64_t)buf->size;
    return TL_OK;
}

static tl_status export_moving(exporting *e, tl_export_report *out, tl_error *err)
{
    const int64_t first = e->def->first, count = e->last - first + 1;
    TL_TRY(read_frame(e, first, &e->mesh, err));
    e->pos_count = (size_t)count * (size_t)e->mesh.node_count;
    e->pos = tl_alloc_bytes(e->alloc, e->pos_count, sizeof *e->pos);
    if (!e->pos) return tl_fail_memory(err, "frames");
    for (int64_t f = first; f <= e->last; f++) {
        tl_obj mesh;
        TL_TRY(read_frame(e, f, &mesh, err));
        const tl_status status = check_same(e, &mesh, f, err);
        if (status == TL_OK) convert(e, &mesh, e->pos + (size_t)(f - first) * (size_t)mesh.node_count);
        tl_obj_free(&mesh);
        TL_TRY(status);
    }
    const tl_moving_mesh moving = {e->cloth, &e->mesh, (const float(*)[3])e->pos, (int32_t)count, e->fps};
    tl_buf buf;
    tl_buf_init(&buf, e->alloc);
    tl_status status = TL_OK;
    if (tl_path_ends(e->def->out, ".glb"))
        status = tl_glb_write(&buf, &moving, err);
    else if (tl_path_ends(e->def->out, ".pc2"))
        tl_pc2_write(&buf, &moving);
    else
        tl_mdd_write(&buf, &moving);
    if (status == TL_OK) status = write_file(e->def->out, &buf, out, err);
    tl_buf_free(&buf);
    out->nodes = e->mesh.node_count, out->faces = e->mesh.face_count;
    return status;
}

static tl_status export_ply(exporting *e, tl_export_report *out, tl_error *err)
{
    const int stem = (int)strlen(e->def->out) - 4;
    for (int64_t f = e->def->first; f <= e->last; f++) {
        char path[TL_PATH_MAX];
        tl_obj mesh;
        snprintf(path, sizeof path, "%.*s.%06lld.ply", stem, e->def->out, (long long)f);
        TL_TRY(read_frame(e, f, &mesh, err));
        tl_buf buf;
        tl_buf_init(&buf, e->alloc);
        float(*pos)[3] = tl_alloc_bytes(e->alloc, (size_t)mesh.node_count, sizeof *pos);
        tl_status status = pos ? TL_OK : tl_fail_memory(err, "a frame");
        if (pos) {
            convert(e, &mesh, pos);
            tl_ply_write(&buf, &mesh, (const float(*)[3])pos);
            status = write_file(path, &buf, out, err);
        }
        out->nodes = mesh.node_count, out->faces = mesh.face_count;
        TL_FREE(e->alloc, pos, mesh.node_count);
        tl_buf_free(&buf);
        tl_obj_free(&mesh);
        TL_TRY(status);
    }
    return TL_OK;
}

static tl_status check(const tl_export_def *def, tl_error *err)
{
    static const char *const endings[] = {".glb", ".pc2", ".mdd", ".ply"};
    if (!def || def->made_by_default != MADE || !def->dir || !def->out)
        return tl_fail(err, TL_BAD_ARG, "export: start from tl_export_def_default(), give dir and out");
    if (!(isfinite(def->scale) && def->scale > 0))
        return tl_fail(err, TL_BAD_ARG, "export: scale %g, must be > 0", def->scale);
    for (int i = 0; i < 4; i++)
        if (tl_path_ends(def->out, endings[i])) return TL_OK;
    return tl_fail(err, TL_BAD_ARG, "export: %.300s must end with .glb, .pc2, .mdd or .ply", def->out);
}

tl_status tl_export(const tl_export_def *def, tl_export_report *out, tl_error *err)
{
    *out = (tl_export_report){0};
    TL_TRY(check(def, err));
    const tl_allocator alloc = tl_allocator_default();
    exporting e = {.alloc = &alloc, .def = def, .last = -1};
    TL_TRY(tl_frames_visit(def->dir, visit, &e, err));
    if (e.last < 0)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: no frames%s%.60s (expected frames/NNNNNN_CLOTH.obj)", def->dir,
                       def->cloth ? " of " : "", def->cloth ? def->cloth : "");
    if (e.several) return tl_fail(err, TL_BAD_INPUT, "%.300s: has several cloths (say which: --cloth NAME)", def->dir);
    if (def->last >= 0 && def->last < e.last) e.last = def->last;
    if (def->first < 0 || def->first > e.last)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: no frame %d, the last is %lld", def->dir, def->first,
                       (long long)e.last);
    read_fps(&e);
    if (def->refine) {
        e.refine = tl_refine_def_default();
        e.refine.source = def->dir, e.refine.out = "", e.refine.first = def->first, e.refine.last = (int32_t)e.last;
        TL_TRY(tl_refine_parse(def->refine, &e.refine.levels, &e.refine.scheme, err));
        TL_TRY(tl_refiner_create(&e.refine, &e.refiner, err));
    }
    const tl_status status = tl_path_ends(def->out, ".ply") ? export_ply(&e, out, err) : export_moving(&e, out, err);
    tl_refiner_destroy(e.refiner);
    out->frames = (int32_t)(e.last - def->first + 1), out->fps = e.fps;
    TL_FREE(&alloc, e.pos, e.pos_count);
    if (e.mesh.alloc.resize) tl_obj_free(&e.mesh);
    return status;
}
