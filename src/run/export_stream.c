// run/export_stream.c: two passes over the frames: the first finds panels, the finest mesh and what resampling needs,
// the second hands frames on.

#include "run/export_stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "run/node_values.h"

// ---- first pass ----

static int32_t *panels_at(const tl_export_stream *s, const tl_export_track *t, int64_t frame)
{
    return t->panel + (size_t)(frame - s->first) * (size_t)t->panels;
}

static bool same_mesh(const tl_obj *a, const tl_obj *b)
{
    return a->node_count == b->node_count && a->face_count == b->face_count && a->vert_count == b->vert_count &&
           memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0;
}

// Which panel of the first frame is each panel of this one? Followed from frame to frame.
static tl_status follow(tl_export_stream *s, tl_export_track *t, int64_t frame, const tl_places *before,
                        const tl_places *now, tl_error *err)
{
    if (!before) {
        t->panels = tl_places_panel_count(now);
        const int64_t entries = (s->last - s->first + 1) * t->panels;
        t->panel = TL_ALLOC(&s->alloc, int32_t, entries);
        if (!t->panel) return tl_fail_memory(err, "panels");
        for (int32_t i = 0; i < t->panels; i++) t->panel[i] = i;
        return TL_OK;
    }
    const int32_t *old = panels_at(s, t, frame - 1);
    int32_t *mine = panels_at(s, t, frame);
    if (tl_places_panel_count(now) != t->panels)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: '%s' has %d panels at frame %lld, and %d before", s->source.path,
                       s->source.cloth[t->source], tl_places_panel_count(now), (long long)frame, t->panels);
    TL_TRY(tl_places_match(now, before, mine, err));
    for (int32_t i = 0; i < t->panels; i++) mine[i] = old[mine[i]];
    return TL_OK;
}

static tl_status look_through(tl_export_stream *s, tl_export_track *t, tl_error *err)
{
    tl_obj mesh[2] = {0};
    tl_places *places[2] = {0};
    tl_status status = TL_OK;
    for (int64_t f = s->first; f <= s->last && status == TL_OK; f++) {
        const int now = (int)((f - s->first) & 1), before = 1 - now;
        tl_places_destroy(places[now]), places[now] = NULL;
        if (mesh[now].alloc.resize) tl_obj_free(&mesh[now]);
        mesh[now] = (tl_obj){0};
        status = tl_export_source_cloth(&s->source, t->source, f, &mesh[now], err);
        if (status != TL_OK) break;
        if (mesh[now].face_count > t->most_faces) t->most_faces = mesh[now].face_count, t->finest = f;
        if (f > s->first && !t->changes && !same_mesh(&mesh[now], &mesh[before]))
            t->changes = true, t->changes_at = f, t->faces_before = mesh[before].face_count,
            t->faces_there = mesh[now].face_count;
        for (int32_t i = 0; i < mesh[now].face_count; i++) {
            const tl_vec2 a = mesh[now].uv[mesh[now].face[i][0]];
            const double area = 0.5 * fabs(tl_cross2(tl_sub2(mesh[now].uv[mesh[now].face[i][1]], a),
                                                     tl_sub2(mesh[now].uv[mesh[now].face[i][2]], a)));
            s->largest = fmax(s->largest, area);
        }
        status = tl_places_create(&s->alloc, &mesh[now], &places[now], err);
        if (status == TL_OK) status = follow(s, t, f, f > s->first ? places[before] : NULL, places[now], err);
    }
    for (int i = 0; i < 2; i++) {
        tl_places_destroy(places[i]);
        if (mesh[i].alloc.resize) tl_obj_free(&mesh[i]);
    }
    return status;
}

// Panels of a frame for each panel of the fixed mesh.
static void match_fixed(const tl_export_stream *s, const tl_export_track *t, int64_t frame, int32_t *frame_of)
{
    const int32_t *mine = panels_at(s, t, frame);
    for (int32_t i = 0; i < t->panels; i++)
        for (int32_t k = 0; k < t->panels; k++)
            if (mine[k] == t->fixed_panel[i]) frame_of[i] = k;
}

static tl_status resample_frame(tl_export_stream *s, const tl_export_track *t, int64_t frame, const tl_places *places,
                                tl_vec3 *pos, const tl_carried *carried, tl_resample_error *error, tl_error *err)
{
    int32_t *frame_of = TL_CALLOC(&s->alloc, int32_t, t->panels);
    if (!frame_of) return tl_fail_memory(err, "panels");
    match_fixed(s, t, frame, frame_of);
    const tl_status status = tl_resample(t->resampler, places, frame_of, pos, carried, error, err);
    TL_FREE(&s->alloc, frame_of, t->panels);
    return status;
}

enum { TRIED = 6 };  // frames that decide how fine the mesh has to be

static tl_status try_frames(tl_export_stream *s, const tl_export_track *t, tl_resample_error *error, tl_error *err)
{
    *error = (tl_resample_error){0};
    const int64_t count = s->last - s->first + 1;
    tl_vec3 *pos = TL_ALLOC(&s->alloc, tl_vec3, t->fixed.node_count);
    if (!pos) return tl_fail_memory(err, "a frame");
    tl_status status = TL_OK;
    for (int64_t i = 0; i < TRIED && i < count && status == TL_OK; i++) {
        const int64_t f = count <= TRIED ? s->first + i : s->first + i * (count - 1) / (TRIED - 1);
        tl_obj mesh;
        tl_places *places = NULL;
        status = tl_export_source_cloth(&s->source, t->source, f, &mesh, err);
        if (status != TL_OK) break;
        status = tl_places_create(&s->alloc, &mesh, &places, err);
        if (status == TL_OK) status = resample_frame(s, t, f, places, pos, &(tl_carried){0}, error, err);
        tl_places_destroy(places);
        tl_obj_free(&mesh);
    }
    TL_FREE(&s->alloc, pos, t->fixed.node_count);
    return status;
}

static void drop_fixed(tl_export_stream *s, tl_export_track *t)
{
    tl_resampler_destroy(t->resampler), t->resampler = NULL;
    if (t->fixed.alloc.resize) tl_obj_free(&t->fixed);
    t->fixed = (tl_obj){0};
    (void)s;
}

// The finest frame's mesh, halved until a few frames are met within the tolerance.
static tl_status choose_fixed(tl_export_stream *s, tl_export_track *t, tl_error *err)
{
    tl_obj finest;
    TL_TRY(tl_export_source_cloth(&s->source, t->source, t->finest, &finest, err));
    t->fixed_panel = TL_ALLOC(&s->alloc, int32_t, t->panels);
    tl_status status = t->fixed_panel ? TL_OK : tl_fail_memory(err, "panels");
    if (status == TL_OK) memcpy(t->fixed_panel, panels_at(s, t, t->finest), (size_t)t->panels * sizeof(int32_t));
    for (int32_t n = 0; status == TL_OK && n <= s->def->most_halvings; n++) {
        tl_resample_error error;
        drop_fixed(s, t);
        t->halvings = n;
        status = tl_obj_halve(&s->alloc, &finest, n, &t->fixed, err);
        if (status == TL_OK) status = tl_resampler_create(&s->alloc, &t->fixed, &t->resampler, err);
        if (status == TL_OK) status = try_frames(s, t, &error, err);
        if (status == TL_OK && tl_resample_rms(&error) <= 0.9 * s->def->tolerance * tl_resample_mean_edge(&error))
            break;
    }
    tl_obj_free(&finest);
    return status;
}

static tl_status choose_cloths(tl_export_stream *s, tl_error *err)
{
    const char *wanted = s->def->cloth;
    s->track = TL_CALLOC(&s->alloc, tl_export_track, s->source.cloth_count);
    if (!s->track) return tl_fail_memory(err, "cloths");
    for (int32_t i = 0; i < s->source.cloth_count; i++)
        if (!wanted || strcmp(wanted, s->source.cloth[i]) == 0) s->track[s->track_count++].source = i;
    if (s->track_count > 0) return TL_OK;
    return tl_fail(err, TL_BAD_INPUT, "%.300s: no frames of '%.60s' (there is '%s')", s->source.path, wanted,
                   s->source.cloth[0]);
}

tl_status tl_export_stream_open(tl_export_stream *s, const tl_export_def *def, tl_error *err)
{
    *s = (tl_export_stream){.alloc = tl_allocator_default(), .def = def};
    TL_TRY(tl_export_source_open(&s->alloc, def->dir, &s->source, err));
    s->first = def->first > s->source.first ? def->first : s->source.first, s->last = s->source.last;
    if (def->last >= 0 && def->last < s->last) s->last = def->last;
    if (def->first < 0 || s->first > s->last)
        return tl_fail(err, TL_BAD_INPUT, "%.300s: no frame %d, the last is %lld", def->dir, def->first,
                       (long long)s->last);
    TL_TRY(choose_cloths(s, err));
    if (def->refine) TL_TRY(tl_export_source_refine(&s->source, def->refine, s->first, s->last, err));
    s->body_count = def->bodies || (def->attributes >> TL_ATTRIBUTE_CONTACT & 1) ? s->source.body_count : 0;
    for (int32_t i = 0; i < s->track_count; i++) {
        TL_TRY(look_through(s, &s->track[i], err));
        if (def->resample && s->track[i].changes) TL_TRY(choose_fixed(s, &s->track[i], err));
    }
    return TL_OK;
}

void tl_export_stream_close(tl_export_stream *s)
{
    for (int32_t i = 0; s->track && i < s->track_count; i++) {
        tl_export_track *t = &s->track[i];
        drop_fixed(s, t);
        TL_FREE(&s->alloc, t->panel, (s->last - s->first + 1) * t->panels);
        TL_FREE(&s->alloc, t->fixed_panel, t->panels);
    }
    TL_FREE(&s->alloc, s->track, s->source.cloth_count);
    if (s->source.alloc.resize) tl_export_source_close(&s->source);
}

// ---- second pass ----

static void free_frame(tl_export_stream *s, tl_export_frame *f)
{
    for (int32_t i = 0; f->cloth && i < s->track_count; i++) {
        tl_export_cloth *c = &f->cloth[i];
        tl_places_destroy(c->places);
        if (c->own.alloc.resize) tl_obj_free(&c->own);
        TL_FREE(&s->alloc, c->pos, c->node_count), TL_FREE(&s->alloc, c->vel, c->node_count);
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) TL_FREE(&s->alloc, c->value[a], c->node_count);
    }
    for (int32_t i = 0; f->body && i < s->body_count; i++)
        if (f->body[i].present) tl_obj_free(&f->body[i].mesh);
    TL_FREE(&s->alloc, f->cloth, s->track_count), TL_FREE(&s->alloc, f->body, s->body_count);
    *f = (tl_export_frame){0};
}

static void convert(const tl_export_stream *s, tl_vec3 *x, int32_t count)
{
    const double k = s->def->scale;
    for (int32_t i = 0; i < count; i++)
        x[i] = s->def->z_up ? (tl_vec3){k * x[i].x, -k * x[i].z, k * x[i].y} : tl_mul3(k, x[i]);
}

typedef int32_t (*corners)[3];

// Numbers of the nodes of all cloths as they were read; value[cloth * COUNT + a].
static tl_status find_values(tl_export_stream *s, tl_export_frame *f, float **value, tl_error *err)
{
    const int32_t count = s->track_count + s->body_count;
    tl_draw_mesh *draw = TL_CALLOC(&s->alloc, tl_draw_mesh, count);
    corners *corner = TL_CALLOC(&s->alloc, corners, s->track_count);
    tl_status status = draw && corner ? TL_OK : tl_fail_memory(err, "values of nodes");
    int32_t used = s->track_count;
    for (int32_t i = 0; i < s->track_count && status == TL_OK; i++) {
        const tl_obj *m = &f->cloth[i].own;
        corner[i] = tl_alloc_bytes(&s->alloc, (size_t)m->face_count, sizeof *corner[i]);
        if (!corner[i]) status = tl_fail_memory(err, "values of nodes");
        for (int32_t k = 0; corner[i] && k < 3 * m->face_count; k++)
            corner[i][k / 3][k % 3] = m->vert_node[m->face[k / 3][k % 3]];
        draw[i] = (tl_draw_mesh){.pos = m->pos,
                                 .pos_count = m->node_count,
                                 .face = (const int32_t(*)[3])corner[i],
                                 .face_count = m->face_count,
                                 .uv = m->uv,
                                 .uv_count = m->vert_count,
                                 .face_uv = (const int32_t(*)[3])m->face,
                                 .crease_deg = 40};
    }
    for (int32_t i = 0; i < s->body_count && status == TL_OK; i++) {
        const tl_obj *m = &f->body[i].mesh;
        if (!f->body[i].present) continue;
        draw[used++] = (tl_draw_mesh){.pos = m->pos,
                                      .pos_count = m->node_count,
                                      .face = (const int32_t(*)[3])m->face,
                                      .face_count = m->face_count,
                                      .crease_deg = 40};
    }
    tl_crowd crowd;
    const bool contact = s->def->attributes >> TL_ATTRIBUTE_CONTACT & 1;
    if (status == TL_OK && contact) status = tl_crowd_init(&crowd, draw, used, &s->alloc, err);
    const bool made = contact && status == TL_OK;
    const tl_node_values_def def = {draw, used, s->def->attributes, s->largest, contact ? &crowd : NULL};
    for (int32_t i = 0; i < s->track_count && status == TL_OK; i++)
        status = tl_node_values(&s->alloc, &def, i, value + (size_t)i * TL_ATTRIBUTE_COUNT, err);
    if (made) tl_crowd_free(&crowd);
    for (int32_t i = 0; corner && i < s->track_count; i++)
        TL_FREE(&s->alloc, corner[i], corner[i] ? f->cloth[i].own.face_count : 0);
    TL_FREE(&s->alloc, corner, s->track_count);
    TL_FREE(&s->alloc, draw, count);
    return status;
}

static tl_status add_values(tl_export_stream *s, tl_export_frame *f, float **value, tl_error *err)
{
    for (int32_t i = 0; i < s->track_count; i++)
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) {
            if (!(s->def->attributes >> a & 1)) continue;
            float **v = &value[(size_t)i * TL_ATTRIBUTE_COUNT + (size_t)a];
            *v = TL_ALLOC(&s->alloc, float, f->cloth[i].own.node_count);
            if (!*v) return tl_fail_memory(err, "values of nodes");
        }
    return s->def->attributes ? find_values(s, f, value, err) : TL_OK;
}

// Positions and numbers on the mesh that is written.
static tl_status settle(tl_export_stream *s, int32_t index, tl_export_frame *f, float **value, tl_error *err)
{
    const tl_export_track *t = &s->track[index];
    tl_export_cloth *c = &f->cloth[index];
    TL_TRY(tl_places_create(&s->alloc, &c->own, &c->places, err));
    c->mesh = t->resampler ? &t->fixed : &c->own;
    c->node_count = c->mesh->node_count;
    c->pos = TL_ALLOC(&s->alloc, tl_vec3, c->node_count);
    if (!c->pos) return tl_fail_memory(err, "a frame");
    if (!t->resampler) {
        memcpy(c->pos, c->own.pos, (size_t)c->node_count * sizeof *c->pos);
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) c->value[a] = value[a], value[a] = NULL;
    } else {
        const float *in[TL_ATTRIBUTE_COUNT];
        float *out[TL_ATTRIBUTE_COUNT];
        tl_carried carried = {in, out, 0};
        for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) {
            if (!value[a]) continue;
            c->value[a] = TL_ALLOC(&s->alloc, float, c->node_count);
            if (!c->value[a]) return tl_fail_memory(err, "values of nodes");
            in[carried.count] = value[a], out[carried.count++] = c->value[a];
        }
        TL_TRY(resample_frame(s, t, f->frame, c->places, c->pos, &carried, &s->error, err));
    }
    convert(s, c->pos, c->node_count);
    return TL_OK;
}

static tl_status load(tl_export_stream *s, int64_t frame, tl_export_frame *f, tl_error *err)
{
    *f = (tl_export_frame){.frame = frame};
    f->cloth = TL_CALLOC(&s->alloc, tl_export_cloth, s->track_count);
    f->body = TL_CALLOC(&s->alloc, tl_export_body, s->body_count);
    const size_t values = (size_t)s->track_count * TL_ATTRIBUTE_COUNT;
    float **value = TL_CALLOC(&s->alloc, float *, values);
    tl_status status = f->cloth && f->body && value ? TL_OK : tl_fail_memory(err, "a frame");
    for (int32_t i = 0; i < s->track_count && status == TL_OK; i++)
        status = tl_export_source_cloth(&s->source, s->track[i].source, frame, &f->cloth[i].own, err);
    for (int32_t i = 0; i < s->body_count && status == TL_OK; i++)
        status = tl_export_source_body(&s->source, i, frame, &f->body[i].mesh, &f->body[i].present, err);
    if (status == TL_OK) status = add_values(s, f, value, err);
    for (int32_t i = 0; i < s->track_count && status == TL_OK; i++)
        status = settle(s, i, f, value + (size_t)i * TL_ATTRIBUTE_COUNT, err);
    for (int32_t i = 0; i < s->body_count && status == TL_OK; i++)
        if (f->body[i].present) convert(s, f->body[i].mesh.pos, f->body[i].mesh.node_count);
    for (size_t i = 0; value && i < values; i++)
        if (value[i]) TL_FREE(&s->alloc, value[i], f->cloth[i / TL_ATTRIBUTE_COUNT].own.node_count);
    TL_FREE(&s->alloc, value, values);
    return status;
}

// From this frame to `other`, which is before or after it, where the same points of the cloth are.
static tl_status find_velocities(tl_export_stream *s, tl_export_frame *f, const tl_export_frame *other, tl_error *err)
{
    const double per_second = other ? s->source.fps / (double)(other->frame - f->frame) : 0;
    for (int32_t i = 0; i < s->track_count; i++) {
        tl_export_cloth *c = &f->cloth[i];
        const tl_export_track *t = &s->track[i];
        c->vel = TL_CALLOC(&s->alloc, tl_vec3, c->node_count);
        int32_t *count = TL_CALLOC(&s->alloc, int32_t, c->node_count);
        const bool fine = c->vel && count;
        const tl_export_cloth *o = other ? &other->cloth[i] : NULL;
        const bool same = o && same_mesh(c->mesh, o->mesh);
        for (int32_t n = 0; fine && same && n < c->node_count; n++)
            c->vel[n] = tl_mul3(per_second, tl_sub3(o->pos[n], c->pos[n]));
        for (int32_t v = 0; fine && o && !same && v < c->mesh->vert_count; v++) {
            const int32_t n = c->mesh->vert_node[v], panel = panels_at(s, t, f->frame)[tl_places_panel(c->places, v)];
            int32_t there = 0;
            for (int32_t k = 0; k < t->panels; k++)
                if (panels_at(s, t, other->frame)[k] == panel) there = k;
            const tl_place place = tl_places_find(o->places, there, c->mesh->uv[v]);
            if (place.face < 0) continue;
            const tl_vec3 d = tl_sub3(tl_place_point(&o->own, &place, o->pos), c->pos[n]);
            c->vel[n] = tl_madd3(c->vel[n], per_second, d);
            count[n]++;
        }
        for (int32_t n = 0; fine && n < c->node_count; n++)
            if (count[n] > 1) c->vel[n] = tl_mul3(1.0 / count[n], c->vel[n]);
        TL_FREE(&s->alloc, count, c->node_count);
        if (!fine) return tl_fail_memory(err, "velocities");
    }
    return TL_OK;
}

tl_status tl_export_stream_run(tl_export_stream *s, tl_export_use use, void *user, tl_error *err)
{
    tl_export_frame before = {0}, now = {0}, next = {0};
    tl_status status = load(s, s->first, &now, err);
    for (int64_t f = s->first; f <= s->last && status == TL_OK; f++) {
        if (f < s->last) status = load(s, f + 1, &next, err);
        const tl_export_frame *other = f < s->last ? &next : f > s->first ? &before : NULL;
        if (status == TL_OK && s->def->velocities) status = find_velocities(s, &now, other, err);
        if (status == TL_OK) status = use(user, s, &now, err);
        free_frame(s, &before);
        before = now, now = next, next = (tl_export_frame){0};
    }
    free_frame(s, &before), free_frame(s, &now), free_frame(s, &next);
    return status;
}

tl_frame_points tl_export_points(const tl_export_cloth *c)
{
    tl_frame_points p = {.mesh = c->mesh, .pos = c->pos, .vel = c->vel};
    for (int a = 0; a < TL_ATTRIBUTE_COUNT; a++) p.attribute[a] = c->value[a];
    return p;
}
