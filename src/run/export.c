// run/export.c: `toile export`: the frames of a run as USD, a recording, GLB, PC2, MDD, PLY or OBJ.

#include "toile/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "io/mesh_file.h"
#include "io/motion_write.h"
#include "io/recording.h"
#include "run/export_stream.h"

void tl_export_def_init(tl_export_def *def, size_t size)
{
    const tl_export_def defaults = {
        .last = -1, .scale = 1, .tolerance = 0.01, .most_halvings = 3, .velocities = 1, .precision = 1e-6};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status write_file(const char *path, tl_buf *buf, tl_export_report *out, tl_error *err)
{
    TL_TRY(tl_buf_end(buf, "an export", err));
    TL_TRY(tl_file_write(path, buf->data, buf->size, false, err));
    out->bytes += (int64_t)buf->size;
    return TL_OK;
}

// ---- one mesh that moves ----

typedef struct moving {
    float (*pos)[3];
    size_t count;
    const tl_obj *mesh;
    tl_obj first;  ///< the first frame's, if frames have meshes of their own
} moving;

static tl_status keep_positions(void *user, const tl_export_stream *s, const tl_export_frame *f, tl_error *err)
{
    moving *m = user;
    const tl_export_cloth *c = &f->cloth[0];
    if (!m->pos) {
        m->count = (size_t)(s->last - s->first + 1) * (size_t)c->node_count;
        m->pos = tl_alloc_bytes(&s->alloc, m->count, sizeof *m->pos);
        if (!m->pos) return tl_fail_memory(err, "frames");
        m->mesh = c->mesh;
        if (!s->track[0].resampler) {
            TL_TRY(tl_obj_halve(&s->alloc, c->mesh, 0, &m->first, err));
            m->mesh = &m->first;
        }
    }
    float(*to)[3] = m->pos + (size_t)(f->frame - s->first) * (size_t)c->node_count;
    for (int32_t i = 0; i < c->node_count; i++)
        to[i][0] = (float)c->pos[i].x, to[i][1] = (float)c->pos[i].y, to[i][2] = (float)c->pos[i].z;
    return TL_OK;
}

static tl_status export_moving(tl_export_stream *s, tl_export_report *out, tl_error *err)
{
    if (s->track[0].changes && !s->track[0].resampler)
        return tl_fail(
            err, TL_BAD_INPUT,
            "%.300s: frame %lld of '%s' has another mesh (%d faces) than the one before (%d): this format needs "
            "one for all frames (add --resample, export .usda, .toile, .ply or .obj, or run with --set "
            "remeshing.kind=none)",
            s->def->dir, (long long)s->track[0].changes_at, s->source.cloth[s->track[0].source],
            s->track[0].faces_there, s->track[0].faces_before);
    moving m = {0};
    tl_buf buf;
    tl_buf_init(&buf, &s->alloc);
    tl_status status = tl_export_stream_run(s, keep_positions, &m, err);
    if (status == TL_OK) {
        const tl_moving_mesh data = {s->source.cloth[s->track[0].source], m.mesh, (const float(*)[3])m.pos,
                                     (int32_t)(s->last - s->first + 1), s->source.fps};
        if (tl_path_ends(s->def->out, ".glb"))
            status = tl_glb_write(&buf, &data, err);
        else if (tl_path_ends(s->def->out, ".pc2"))
            tl_pc2_write(&buf, &data);
        else
            tl_mdd_write(&buf, &data);
        out->nodes = m.mesh->node_count, out->faces = m.mesh->face_count;
    }
    if (status == TL_OK) status = write_file(s->def->out, &buf, out, err);
    tl_buf_free(&buf);
    TL_FREE(&s->alloc, m.pos, m.count);
    if (m.first.alloc.resize) tl_obj_free(&m.first);
    return status;
}

// ---- a file per frame ----

typedef struct sequence {
    tl_export_report *out;
    tl_buf buf;
} sequence;

static void put_obj(tl_buf *buf, const char *name, const tl_export_def *def, const tl_export_cloth *c)
{
    char units[96];
    snprintf(units, sizeof units, "%.9g m; right-handed, %c up", 1 / def->scale, def->z_up ? 'z' : 'y');
    tl_obj_write(buf, &(tl_obj_view){.name = name,
                                     .units = units,
                                     .pos = c->pos,
                                     .vel = c->vel,
                                     .node_count = c->node_count,
                                     .uv = c->mesh->uv,
                                     .vert_node = c->mesh->vert_node,
                                     .vert_count = c->mesh->vert_count,
                                     .face = (const int32_t(*)[3])c->mesh->face,
                                     .face_label = c->mesh->face_label,
                                     .face_count = c->mesh->face_count});
}

static tl_status write_one(void *user, const tl_export_stream *s, const tl_export_frame *f, tl_error *err)
{
    sequence *q = user;
    const tl_export_cloth *c = &f->cloth[0];
    const bool ply = tl_path_ends(s->def->out, ".ply");
    char path[TL_PATH_MAX];
    const int n = snprintf(path, sizeof path, "%.*s.%06lld.%s", (int)strlen(s->def->out) - 4, s->def->out,
                           (long long)f->frame, ply ? "ply" : "obj");
    if (n >= (int)sizeof path) return tl_fail(err, TL_BAD_INPUT, "path too long: %.200s...", s->def->out);
    q->buf.size = 0;
    if (ply) {
        const tl_frame_points points = tl_export_points(c);
        tl_ply_write(&q->buf, &points);
    } else
        put_obj(&q->buf, s->source.cloth[s->track[0].source], s->def, c);
    q->out->nodes = c->node_count, q->out->faces = c->mesh->face_count;
    return write_file(path, &q->buf, q->out, err);
}

static tl_status export_sequence(tl_export_stream *s, tl_export_report *out, tl_error *err)
{
    sequence q = {.out = out};
    tl_buf_init(&q.buf, &s->alloc);
    const tl_status status = tl_export_stream_run(s, write_one, &q, err);
    tl_buf_free(&q.buf);
    return status;
}

// ---- one file with everything ----

typedef struct whole {
    tl_usd *usd;            ///< or
    tl_recorder *recorder;  ///< that
    tl_export_report *out;
} whole;

static tl_status add_surface(whole *w, int32_t number, int64_t frame, const tl_frame_points *points, tl_error *err)
{
    return w->usd ? tl_usd_add(w->usd, number, frame, points, err) : tl_recorder_add(w->recorder, number, points, err);
}

static tl_status add_frame(void *user, const tl_export_stream *s, const tl_export_frame *f, tl_error *err)
{
    whole *w = user;
    w->out->nodes = w->out->faces = 0;
    for (int32_t i = 0; i < s->track_count; i++) {
        const tl_frame_points points = tl_export_points(&f->cloth[i]);
        TL_TRY(add_surface(w, i, f->frame, &points, err));
        w->out->nodes += points.mesh->node_count, w->out->faces += points.mesh->face_count;
    }
    for (int32_t i = 0; s->def->bodies && i < s->body_count; i++) {
        const tl_frame_points points = {.mesh = &f->body[i].mesh, .pos = f->body[i].mesh.pos};
        if (f->body[i].present) TL_TRY(add_surface(w, s->track_count + i, f->frame, &points, err));
    }
    return w->recorder ? tl_recorder_next(w->recorder, err) : TL_OK;
}

static tl_status name_surfaces(const tl_export_stream *s, whole *w, tl_error *err)
{
    const int32_t bodies = s->def->bodies ? s->body_count : 0;
    for (int32_t i = 0; i < s->track_count + bodies; i++) {
        const bool body = i >= s->track_count;
        const char *name = body ? s->source.body[i - s->track_count] : s->source.cloth[s->track[i].source];
        const uint32_t attributes = body ? 0 : s->def->attributes;
        int32_t number;
        if (w->recorder)
            number = tl_recorder_surface(w->recorder, name, body, attributes);
        else {
            const tl_usd_fabric fabric = body ? (tl_usd_fabric){0} : tl_export_source_fabric(&s->source, name);
            number = tl_usd_surface(w->usd, name, body, attributes, &fabric);
        }
        if (number < 0) return tl_fail_memory(err, "surfaces");
    }
    return TL_OK;
}

static tl_status export_whole(tl_export_stream *s, tl_export_report *out, tl_error *err)
{
    whole w = {.out = out};
    tl_buf buf;
    tl_buf_init(&buf, &s->alloc);
    const tl_recorder_def rec = {
        s->source.fps,      s->def->scale, s->def->z_up, (int32_t)s->first, s->def->precision * s->def->scale,
        s->def->stored != 0};
    const tl_usd_def usd = {s->source.fps, s->def->scale, s->def->z_up != 0, s->first, s->last};
    tl_status status = tl_path_ends(s->def->out, ".toile") ? tl_recorder_create(&s->alloc, &rec, &w.recorder, err)
                                                           : tl_usd_create(&s->alloc, &usd, &w.usd, err);
    if (status == TL_OK) status = name_surfaces(s, &w, err);
    if (status == TL_OK) status = tl_export_stream_run(s, add_frame, &w, err);
    if (status == TL_OK) status = w.usd ? tl_usd_finish(w.usd, &buf, err) : tl_recorder_finish(w.recorder, &buf, err);
    if (status == TL_OK) status = write_file(s->def->out, &buf, out, err);
    tl_buf_free(&buf);
    tl_usd_destroy(w.usd);
    tl_recorder_destroy(w.recorder);
    return status;
}

// ---- the call ----

typedef enum layout { NONE, MOVING, SEQUENCE, WHOLE } layout;

static layout layout_of(const char *path)
{
    static const struct {
        const char *ending;
        layout layout;
    } formats[] = {{".usda", WHOLE}, {".toile", WHOLE},  {".glb", MOVING},  {".pc2", MOVING},
                   {".mdd", MOVING}, {".ply", SEQUENCE}, {".obj", SEQUENCE}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (tl_path_ends(path, formats[i].ending)) return formats[i].layout;
    return NONE;
}

static tl_status check(const tl_export_def *def, tl_error *err)
{
    if (!def->dir || !def->out) return tl_fail(err, TL_BAD_ARG, "export: dir or out is NULL");
    if (!(isfinite(def->scale) && def->scale > 0))
        return tl_fail(err, TL_BAD_ARG, "export: scale %g, must be > 0", def->scale);
    if (!(isfinite(def->tolerance) && def->tolerance > 0))
        return tl_fail(err, TL_BAD_ARG, "export: tolerance %g, must be > 0", def->tolerance);
    if (!(isfinite(def->precision) && def->precision > 0))
        return tl_fail(err, TL_BAD_ARG, "export: precision %g, must be > 0", def->precision);
    if (def->most_halvings < 0 || def->most_halvings > 4)
        return tl_fail(err, TL_BAD_ARG, "export: most_halvings %d, must be 0 to 4", def->most_halvings);
    if (def->attributes >> TL_ATTRIBUTE_COUNT)
        return tl_fail(err, TL_BAD_ARG, "export: attributes %#x, there are only %d", def->attributes,
                       TL_ATTRIBUTE_COUNT);
    if (layout_of(def->out) == NONE)
        return tl_fail(err, TL_BAD_ARG, "export: %.300s must end with .usda, .toile, .glb, .pc2, .mdd, .ply or .obj",
                       def->out);
    if (def->attributes && layout_of(def->out) != WHOLE && !tl_path_ends(def->out, ".ply"))
        return tl_fail(err, TL_BAD_ARG, "export: %.300s cannot carry attributes (.usda, .toile and .ply can)",
                       def->out);
    if (def->bodies && layout_of(def->out) != WHOLE)
        return tl_fail(err, TL_BAD_ARG, "export: %.300s cannot carry bodies (.usda and .toile can)", def->out);
    return TL_OK;
}

static tl_status run(tl_export_stream *s, tl_export_report *out, tl_error *err)
{
    const layout kind = layout_of(s->def->out);
    if (kind != WHOLE && s->track_count > 1)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: has several cloths (say which: --cloth NAME)", s->def->dir);
    TL_TRY(kind == WHOLE      ? export_whole(s, out, err)
           : kind == SEQUENCE ? export_sequence(s, out, err)
                              : export_moving(s, out, err));
    out->frames = (int32_t)(s->last - s->first + 1), out->fps = s->source.fps;
    out->cloths = s->track_count, out->bodies = s->def->bodies ? s->body_count : 0;
    for (int32_t i = 0; i < s->track_count; i++) {
        if (!s->track[i].resampler) continue;
        out->resampled = 1;
        if (s->track[i].halvings > out->halvings) out->halvings = s->track[i].halvings;
    }
    out->error_rms = tl_resample_rms(&s->error), out->error_max = s->error.largest;
    out->mean_edge = tl_resample_mean_edge(&s->error);
    return TL_OK;
}

tl_status tl_export(const tl_export_def *given, tl_export_report *out, tl_error *err)
{
    if (!out) return tl_fail(err, TL_BAD_ARG, "export: out is NULL");
    *out = (tl_export_report){0};
    TL_DEF_COMPLETE(tl_export_def, def, given, err);
    TL_TRY(check(&def, err));
    if (layout_of(def.out) != WHOLE) def.velocities = 0;
    tl_export_stream stream;
    tl_status status = tl_export_stream_open(&stream, &def, err);
    if (status == TL_OK) status = run(&stream, out, err);
    tl_export_stream_close(&stream);
    return status;
}
