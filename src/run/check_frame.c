// run/check_frame.c: looks at one saved frame: files, numbers, faces, crossings.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/intersect.h"
#include "run/check.h"
#include "run/folder.h"
#include "io/overlay.h"
#include "math/percentile.h"
#include "math/vec3.h"

// A face whose world area is below this part of its material area has lost its shape; rounding is far smaller.
#define DEGENERATE_AREA 1e-9

/// One frame under inspection.
typedef struct frame_work {
    const tl_check_context *cx;
    tl_frame_check *out;
    tl_workers *workers;
    tl_arena arena;
    tl_check_surface cloths;
    tl_check_surface *bodies;       ///< one per obstacle; owned unless it is a still one
    const tl_check_surface **body;  ///< what to look at, NULL: none in this frame
    uint8_t *mark, **body_mark;     ///< for the overlay, per face; NULL without one
} frame_work;

bool tl_check_is_fault(const tl_check_def *def, tl_check_kind kind)
{
    return !def->allow_pinched || (kind != TL_CHECK_PINCHED && kind != TL_CHECK_PINCHED_NODES);
}

// Counts a finding, lists it if there is room, and says the first fault in words. `item` may be NULL.
static void note(frame_work *w, tl_check_kind kind, const tl_check_item *item, const char *format, ...) TL_PRINTF(4, 5);
static void note(frame_work *w, tl_check_kind kind, const tl_check_item *item, const char *format, ...)
{
    tl_frame_check *out = w->out;
    out->count[kind]++;
    if (item && out->item_count < w->cx->def->list_max) {
        if (TL_GROW(&w->cx->alloc, out->items, out->item_cap, out->item_count + 1))
            out->items[out->item_count++] = *item;
        else
            out->status = tl_fail_memory(&out->err, "findings");
    }
    if (out->first[0] || !tl_check_is_fault(w->cx->def, kind)) return;
    va_list args;
    va_start(args, format);
    vsnprintf(out->first, sizeof out->first, format, args);
    va_end(args);
}

static tl_check_item item_of(tl_check_kind kind, const char *name)
{
    tl_check_item item = {.kind = kind,
                          .first_face = -1,
                          .first_edge = {-1, -1},
                          .second_face = -1,
                          .node = -1,
                          .position = {(double)NAN, (double)NAN, (double)NAN}};
    snprintf(item.first, sizeof item.first, "%s", name);
    return item;
}

static void set_mark(uint8_t *mark, int32_t face, tl_overlay_mark value)
{
    if (mark && mark[face] < value) mark[face] = (uint8_t)value;
}

// --- faces -------------------------------------------------------------------------------------------------

// Principal strains of the map from material to world: roots of the eigenvalues of F^T F, less one.
static bool face_strain(const tl_obj *mesh, const int32_t *v, double *low, double *high, double *area_ratio)
{
    const tl_vec2 a = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), b = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
    const tl_vec3 x0 = mesh->pos[mesh->vert_node[v[0]]];
    const tl_vec3 p = tl_sub3(mesh->pos[mesh->vert_node[v[1]]], x0), q = tl_sub3(mesh->pos[mesh->vert_node[v[2]]], x0);
    const double det = tl_cross2(a, b);
    if (!(fabs(det) > 0)) return false;
    const tl_vec3 fu = tl_mul3(1 / det, tl_sub3(tl_mul3(b.y, p), tl_mul3(a.y, q)));
    const tl_vec3 fv = tl_mul3(1 / det, tl_sub3(tl_mul3(a.x, q), tl_mul3(b.x, p)));
    const double uu = tl_dot3(fu, fu), vv = tl_dot3(fv, fv), uv = tl_dot3(fu, fv);
    const double mean = 0.5 * (uu + vv), spread = hypot(0.5 * (uu - vv), uv);
    *low = sqrt(fmax(0, mean - spread)) - 1;
    *high = sqrt(mean + spread) - 1;
    *area_ratio = tl_norm3(tl_cross3(p, q)) / fabs(det);
    return true;
}

static void check_nodes(frame_work *w, const char *path, const char *name, const tl_obj *mesh)
{
    for (int32_t i = 0; i < mesh->node_count; i++)
        if (!tl_finite3(mesh->pos[i])) {
            tl_check_item item = item_of(TL_CHECK_NOT_FINITE, name);
            item.node = i;
            note(w, TL_CHECK_NOT_FINITE, &item, "%.400s: node %d is not finite", path, i);
        }
}

// A run promises its limits to 0.1 %; a little more for the rounding of the file. Frame 0 is the start, not a result.
#define PROMISED 1.05e-3

static void limits_of(const frame_work *w, const char *name, double *least, double *most)
{
    const tl_check_context *cx = w->cx;
    const double limit = cx->def->strain_limit;
    *least = limit > 0 ? -limit - PROMISED : -(double)INFINITY, *most = limit > 0 ? limit + PROMISED : (double)INFINITY;
    if (limit > 0 || !cx->limits || w->out->frame == 0) return;
    for (int32_t i = 0; i < cx->name_count; i++)
        if (strcmp(cx->names[i], name) == 0) *least = cx->limits[i][0] - PROMISED, *most = cx->limits[i][1] + PROMISED;
}

// What no cloth is meant to be: single faces that remeshing or a step that was ended coarsely left behind, and cloths.
#define FACE_CRUSHED -0.8
#define FACE_DRAWN 1.0
#define CLOTH_STRAINED 0.5  // by more than a hundredth of the area, either way

/// Principal strains and material area of the faces of one cloth.
typedef struct face_strains {
    double *low, *high, *area;
    int32_t count;
} face_strains;

static void check_absurd(frame_work *w, const char *path, const char *name, const face_strains *s)
{
    tl_frame_check *out = w->out;
    double least = 0, most = 0;
    tl_error err;
    const bool known =
        tl_percentiles(s->low, s->area, s->count, &(double){0.01}, 1, &least, &w->arena, &err) == TL_OK &&
        tl_percentiles(s->high, s->area, s->count, &(double){0.99}, 1, &most, &w->arena, &err) == TL_OK;
    if (!known) return;
    out->strain_min_99 = fmin(out->strain_min_99, least), out->strain_max_99 = fmax(out->strain_max_99, most);
    if (w->cx->refined || (least >= -CLOTH_STRAINED && most <= CLOTH_STRAINED)) return;
    const tl_check_item item = item_of(TL_CHECK_ABSURD_CLOTH, name);
    note(w, TL_CHECK_ABSURD_CLOTH, &item,
         "%.400s: more than 1 %% of the area is strained beyond %.3g %% (%.3g %% to %.3g %% holds the rest)", path,
         100 * CLOTH_STRAINED, 100 * least, 100 * most);
}

static void check_absurd_face(frame_work *w, const char *path, tl_check_item *item, double low, double high,
                              uint8_t *mark)
{
    if (w->cx->refined || (low >= FACE_CRUSHED && high <= FACE_DRAWN)) return;
    item->kind = TL_CHECK_ABSURD_FACE;
    note(w, TL_CHECK_ABSURD_FACE, item, "%.400s: face %d has strain %.3g %% to %.3g %%, beyond all reason", path,
         item->first_face, 100 * low, 100 * high);
    set_mark(mark, item->first_face, TL_MARK_STRAIN);
}

static void check_faces(frame_work *w, const char *path, const char *name, const tl_obj *mesh, uint8_t *mark)
{
    const tl_arena_mark here = tl_arena_save(&w->arena);
    face_strains strains = {.low = TL_SCRATCH(&w->arena, double, mesh->face_count),
                            .high = TL_SCRATCH(&w->arena, double, mesh->face_count),
                            .area = TL_SCRATCH(&w->arena, double, mesh->face_count)};
    const bool allocated = strains.low && strains.high && strains.area;
    tl_frame_check *out = w->out;
    double least, most;
    limits_of(w, name, &least, &most);
    for (int32_t i = 0; i < mesh->vert_count; i++)
        if (!isfinite(mesh->uv[i].x) || !isfinite(mesh->uv[i].y)) {
            const tl_check_item item = item_of(TL_CHECK_NOT_FINITE, name);
            note(w, TL_CHECK_NOT_FINITE, &item, "%.400s: material vertex %d is not finite", path, i);
        }
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const int32_t *v = mesh->face[f];
        double low, high, ratio;
        tl_check_item item = item_of(TL_CHECK_INVERTED, name);
        item.first_face = f;
        item.position =
            tl_mul3(1.0 / 3, tl_add3(mesh->pos[mesh->vert_node[v[0]]],
                                     tl_add3(mesh->pos[mesh->vert_node[v[1]]], mesh->pos[mesh->vert_node[v[2]]])));
        const tl_vec2 a = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), b = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
        if (tl_cross2(a, b) < 0) {
            note(w, TL_CHECK_INVERTED, &item, "%.400s: face %d is turned over in material space", path, f);
            set_mark(mark, f, TL_MARK_INVERTED);
        }
        if (!face_strain(mesh, v, &low, &high, &ratio) || ratio < DEGENERATE_AREA) {
            item.kind = TL_CHECK_DEGENERATE;
            note(w, TL_CHECK_DEGENERATE, &item, "%.400s: face %d has no area", path, f);
            set_mark(mark, f, TL_MARK_DEGENERATE);
            continue;
        }
        if (!isfinite(low) || !isfinite(high)) continue;  // counted above
        if (low < out->strain_min) out->strain_min = low;
        if (high > out->strain_max) out->strain_max = high;
        if (allocated) {
            strains.low[strains.count] = low, strains.high[strains.count] = high;
            strains.area[strains.count++] = 0.5 * fabs(tl_cross2(a, b));
        }
        check_absurd_face(w, path, &item, low, high, mark);
        if (high > most || low < least) {
            item.kind = TL_CHECK_STRAIN;
            const double limit = high > most ? most : w->cx->def->strain_limit > 0 ? -least : least;
            note(w, TL_CHECK_STRAIN, &item, "%.400s: face %d has strain %.3g to %.3g, limit %.3g", path, f, low, high,
                 limit);
            set_mark(mark, f, TL_MARK_STRAIN);
        }
    }
    if (allocated) check_absurd(w, path, name, &strains);
    tl_arena_release(&w->arena, here);
}

// --- files -------------------------------------------------------------------------------------------------

tl_status tl_check_load(const tl_check_context *cx, const char *path, tl_obj *out, tl_error *err)
{
    tl_text text;
    TL_TRY(tl_file_read(&cx->alloc, path, TL_OBJ_MAX_BYTES, &text, err));
    const tl_status status = tl_obj_parse(&cx->alloc, path, text.data, text.size, TL_OBJ_LENIENT, out, err);
    tl_text_free(&cx->alloc, &text);
    return status;
}

static tl_status load_cloths(frame_work *w, tl_error *err)
{
    const tl_check_context *cx = w->cx;
    char path[TL_PATH_MAX];
    for (int32_t i = 0; i < cx->name_count; i++) {
        tl_error why = {0};
        tl_obj mesh;
        TL_TRY(tl_frame_path(cx->def->dir, w->out->frame, cx->names[i], path, err));
        const tl_check_item item = item_of(TL_CHECK_MISSING, cx->names[i]);
        if (tl_path_look(path) == TL_PATH_NONE) {
            note(w, TL_CHECK_MISSING, &item, "%.400s: missing", path);
            continue;
        }
        const tl_status status = tl_check_load(cx, path, &mesh, &why);
        if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
        if (status != TL_OK) {
            tl_check_item broken = item;
            broken.kind = TL_CHECK_UNREADABLE;
            note(w, TL_CHECK_UNREADABLE, &broken, "%.500s", why.message);
            continue;
        }
        TL_TRY(tl_check_surface_add(&w->cloths, &mesh, cx->names[i], err));
        w->out->faces += mesh.face_count, w->out->nodes += mesh.node_count;
    }
    TL_TRY(tl_check_surface_build(&w->cloths, w->workers, err));
    if (cx->def->overlay_dir) {
        w->mark = TL_CALLOC(&cx->alloc, uint8_t, w->cloths.first_face[w->cloths.mesh_count]);
        if (!w->mark) return tl_fail_memory(err, "an overlay");
    }
    for (int32_t m = 0; m < w->cloths.mesh_count; m++) {
        TL_TRY(tl_frame_path(cx->def->dir, w->out->frame, w->cloths.name[m], path, err));
        check_nodes(w, path, w->cloths.name[m], &w->cloths.mesh[m]);
        check_faces(w, path, w->cloths.name[m], &w->cloths.mesh[m], w->mark ? w->mark + w->cloths.first_face[m] : NULL);
    }
    return TL_OK;
}

bool tl_check_obstacle_has(const tl_check_obstacle *o, int64_t frame)
{
    int32_t low = 0, high = o->count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (o->frames[mid] < frame)
            low = mid + 1;
        else
            high = mid;
    }
    return low < o->count && o->frames[low] == frame;
}

static tl_status load_body(frame_work *w, int32_t i, tl_error *err)
{
    const tl_check_context *cx = w->cx;
    const tl_check_obstacle *o = &cx->obstacles[i];
    const int64_t frame = w->out->frame;
    const bool written = tl_check_obstacle_has(o, frame);
    char path[TL_PATH_MAX] = "";
    TL_TRY(tl_obstacle_path(cx->def->dir, o->moves ? frame : 0, o->name, path, err));
    // A body that is missing is told of; an older one in its place would make up crossings and hide others.
    if ((o->moves || frame == 0) && !written) {
        const tl_check_item item = item_of(TL_CHECK_MISSING_BODY, o->name);
        note(w, TL_CHECK_MISSING_BODY, &item, "%.400s: missing, so cloth cannot be checked against it", path);
        return TL_OK;
    }
    if (!o->moves && o->count == 0) return TL_OK;
    tl_error why = {0};
    bool broken = o->broken;
    if (o->loaded) {
        w->body[i] = &o->surface;
    } else if (o->broken) {
        why = o->why;
    } else {
        tl_obj mesh;
        const tl_status status = tl_check_load(cx, path, &mesh, &why);
        if (status == TL_NO_MEMORY) return tl_fail_memory(err, path);
        broken = status != TL_OK;
        if (!broken) {
            TL_TRY(tl_check_surface_add(&w->bodies[i], &mesh, o->name, err));
            TL_TRY(tl_check_surface_build(&w->bodies[i], w->workers, err));
            w->body[i] = &w->bodies[i];
        }
    }
    if (written) {
        const tl_check_item item = item_of(TL_CHECK_UNREADABLE, o->name);
        if (broken)
            note(w, TL_CHECK_UNREADABLE, &item, "%.500s", why.message);
        else
            check_nodes(w, path, o->name, &w->body[i]->mesh[0]);
    }
    if (w->body[i] && cx->def->overlay_dir) {
        w->body_mark[i] = TL_CALLOC(&cx->alloc, uint8_t, w->body[i]->first_face[1]);
        if (!w->body_mark[i]) return tl_fail_memory(err, "an overlay");
    }
    return TL_OK;
}

// --- pinched nodes ---------------------------------------------------------------------------------------------

// One finding a node; the first of each cloth is told with its place.
static void check_pinched(frame_work *w)
{
    for (int32_t m = 0; m < w->cloths.mesh_count; m++) {
        const tl_obj *mesh = &w->cloths.mesh[m];
        if (mesh->pinched_count == 0) continue;
        tl_check_item item = item_of(TL_CHECK_PINCHED_NODES, w->cloths.name[m]);
        item.node = mesh->pinched[0], item.position = mesh->pos[item.node];
        note(w, TL_CHECK_PINCHED_NODES, &item,
             "%.300s: frame %lld: bodies or handles leave %d nodes of %s no room, the first at (%.4g, %.4g, %.4g) "
             "(--allow-pinched lets that pass)",
             w->cx->def->dir, (long long)w->out->frame, mesh->pinched_count, item.first, item.position.x,
             item.position.y, item.position.z);
        w->out->count[TL_CHECK_PINCHED_NODES] += mesh->pinched_count - 1;
    }
}

// --- crossings ---------------------------------------------------------------------------------------------

static bool any_pinched(const tl_check_surface *s, const int32_t *node, int count)
{
    for (int k = 0; k < count; k++)
        if (s->pinched[node[k]]) return true;
    return false;
}

// `body` < 0: within the cloths.
static void note_crossing(frame_work *w, int32_t body, const tl_crossing *c)
{
    const tl_check_surface *side[2] = {&w->cloths, body < 0 ? &w->cloths : w->body[body]};
    uint8_t *mark[2] = {w->mark, body < 0 ? w->mark : w->body_mark[body]};
    const int edge_side = c->edge_surface, face_side = body < 0 ? 0 : !edge_side;
    const tl_check_surface *es = side[edge_side], *fs = side[face_side];
    const int32_t *e = es->surface.edge[c->edge], *f = fs->surface.face[c->face];
    const int32_t ef = es->edge_face[c->edge], ff = fs->face_id[c->face];
    const int32_t em = tl_check_mesh_of_face(es, ef), fm = tl_check_mesh_of_face(fs, ff);

    tl_check_kind kind = TL_CHECK_CLOTH_CLOTH;
    if (body >= 0)
        kind = (edge_side == 0 && any_pinched(es, e, 2)) || (face_side == 0 && any_pinched(fs, f, 3))
                   ? TL_CHECK_PINCHED
                   : TL_CHECK_CLOTH_BODY;
    const tl_overlay_mark colour = kind == TL_CHECK_CLOTH_CLOTH ? TL_MARK_CLOTH
                                   : kind == TL_CHECK_PINCHED   ? TL_MARK_PINCHED
                                                                : TL_MARK_BODY;
    set_mark(mark[edge_side], ef, colour);
    set_mark(mark[face_side], ff, colour);

    tl_check_item item = item_of(kind, es->name[em]);
    snprintf(item.second, sizeof item.second, "%s", fs->name[fm]);
    item.first_face = ef - es->first_face[em], item.second_face = ff - fs->first_face[fm];
    item.first_edge[0] = e[0] - es->first_node[em], item.first_edge[1] = e[1] - es->first_node[em];
    item.position = tl_segment_triangle_place(&es->x[e[0]], &es->x[e[1]], &fs->x[f[0]], &fs->x[f[1]], &fs->x[f[2]]);
    note(w, kind, &item, "%.300s: frame %lld: edge %d-%d of %s meets face %d of %s at (%.6g, %.6g, %.6g)",
         w->cx->def->dir, (long long)w->out->frame, item.first_edge[0], item.first_edge[1], item.first,
         item.second_face, item.second, item.position.x, item.position.y, item.position.z);
}

static tl_status check_crossings(frame_work *w, tl_error *err)
{
    tl_crossings found;
    tl_crossings_init(&found, w->cx->alloc);
    tl_status status = TL_OK;
    for (int32_t body = -1; status == TL_OK && w->cloths.bvh && body < w->cx->obstacle_count; body++) {
        if (body >= 0 && (!w->body[body] || !w->body[body]->bvh)) continue;
        tl_arena_reset(&w->arena);
        status =
            tl_find_crossings(w->cloths.bvh, body < 0 ? NULL : w->body[body]->bvh, &w->arena, w->workers, &found, err);
        for (int32_t i = 0; status == TL_OK && i < found.count; i++) note_crossing(w, body, &found.items[i]);
    }
    tl_crossings_free(&found);
    return status;
}

// --- overlay -----------------------------------------------------------------------------------------------

static tl_status write_overlay(frame_work *w, tl_error *err)
{
    const tl_check_context *cx = w->cx;
    bool any = false;
    for (int kind = 0; kind < TL_CHECK_KINDS; kind++) any = any || w->out->count[kind] > 0;
    if (!any || w->cloths.mesh_count == 0) return TL_OK;
    tl_overlay_mesh *meshes = TL_ALLOC(&cx->alloc, tl_overlay_mesh, w->cloths.mesh_count + cx->obstacle_count);
    if (!meshes) return tl_fail_memory(err, "an overlay");
    int32_t count = 0;
    for (int32_t i = -1; i < cx->obstacle_count; i++) {
        const tl_check_surface *s = i < 0 ? &w->cloths : w->body[i];
        const uint8_t *mark = i < 0 ? w->mark : w->body_mark[i];
        for (int32_t m = 0; s && m < s->mesh_count; m++)
            meshes[count++] = (tl_overlay_mesh){s->name[m],
                                                s->x,
                                                s->first_node[s->mesh_count],
                                                (const int32_t(*)[3])s->node_face + s->first_face[m],
                                                s->first_face[m + 1] - s->first_face[m],
                                                mark + s->first_face[m]};
    }
    char path[TL_PATH_MAX];
    const int n = snprintf(path, sizeof path, "%s/%06lld.obj", cx->def->overlay_dir, (long long)w->out->frame);
    tl_status status = n > 0 && (size_t)n < sizeof path ? TL_OK : tl_fail(err, TL_IO, "path too long: %.200s...", path);
    if (status == TL_OK) status = tl_overlay_write(path, meshes, count, err);
    TL_FREE(&cx->alloc, meshes, w->cloths.mesh_count + cx->obstacle_count);
    return status;
}

void tl_check_frame(const tl_check_context *cx, int64_t frame, tl_workers *workers, tl_frame_check *out)
{
    *out = (tl_frame_check){.frame = frame, .strain_min = (double)INFINITY, .strain_max = -(double)INFINITY};
    frame_work w = {.cx = cx, .out = out, .workers = workers};
    const tl_allocator *alloc = &cx->alloc;
    const int32_t bodies = cx->obstacle_count;
    tl_error *err = &out->err;
    tl_arena_init(&w.arena, *alloc);
    tl_check_surface_init(&w.cloths, alloc);
    w.bodies = TL_CALLOC(alloc, tl_check_surface, bodies);
    w.body = TL_CALLOC(alloc, const tl_check_surface *, bodies);
    w.body_mark = TL_CALLOC(alloc, uint8_t *, bodies);
    tl_status status = w.bodies && w.body && w.body_mark ? TL_OK : tl_fail_memory(err, "obstacles");
    for (int32_t i = 0; w.bodies && i < bodies; i++) tl_check_surface_init(&w.bodies[i], alloc);
    if (status == TL_OK) status = load_cloths(&w, err);
    for (int32_t i = 0; status == TL_OK && i < bodies; i++) status = load_body(&w, i, err);
    if (status == TL_OK) check_pinched(&w);
    if (status == TL_OK) status = check_crossings(&w, err);
    if (status == TL_OK && cx->def->overlay_dir) status = write_overlay(&w, err);
    if (out->status == TL_OK) out->status = status;

    if (w.mark) TL_FREE(alloc, w.mark, w.cloths.first_face[w.cloths.mesh_count]);
    for (int32_t i = 0; w.body_mark && i < bodies; i++)
        if (w.body_mark[i]) TL_FREE(alloc, w.body_mark[i], w.body[i]->first_face[1]);
    for (int32_t i = 0; w.bodies && i < bodies; i++) tl_check_surface_free(&w.bodies[i]);
    TL_FREE(alloc, w.bodies, bodies);
    TL_FREE(alloc, w.body, bodies);
    TL_FREE(alloc, w.body_mark, bodies);
    tl_check_surface_free(&w.cloths);
    tl_arena_free(&w.arena);
}
