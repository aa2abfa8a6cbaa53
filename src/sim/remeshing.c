// sim/remeshing.c: let the meshes follow the motion: sizing field, room, a pass of the remesher, and everything made anew.
//
// Runs between steps, on the state that the meshes hold (sim_publish). What belongs to nodes and is no part of a mesh goes along as
// attributes: where a node was, whether it is pinched, which handles hold it, and for BDF2 how it came here from the step before.

#include <math.h>
#include <string.h>

#include "adapt/obstacles.h"
#include "adapt/remesh.h"
#include "adapt/sizing.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/timer.h"
#include "collide/clearance.h"
#include "collide/nearest.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_order.h"
#include "physics/forces.h"
#include "sim/internal.h"

#define KEPT 0.9            // part of the thickness that operations leave between surfaces, unless they were closer
#define FACES_PER_AREA 6.0  // faces that a pass makes of a unit of area in the metric of the field: between 5 and 7
#define ENERGY_RISE 4e-4     // of the energy stored in the cloth: what a pass may add to it
#define ENERGY_OF_MOTION 0.1  // the same of the kinetic energy, but for that of the cloth as a whole
#define ASPECT_AT_MOST 0.3  // of what aspect_min asks for: a limit that even faces of mixed sizes can keep

tl_remeshing tl_remeshing_default(void)
{
    return (tl_remeshing){.size_min = 0.015, .size_max = 0.2, .aspect_min = 0.1, .curvature = 0.15, .velocity = 0.7,
                          .compression = (double)NAN, .obstacles = 1, .blend = TL_BLEND_MAX, .hysteresis = 0.2, .interval = 0.04};
}

tl_status sim_check_remeshing(const tl_remeshing *d, tl_error *err)
{
    if ((int)d->kind < TL_REMESHING_NONE || d->kind > TL_REMESHING_ISOTROPIC)
        return tl_fail(err, TL_BAD_ARG, "remeshing.kind %d is none of ours", (int)d->kind);
    if (d->blend != TL_BLEND_SUM && d->blend != TL_BLEND_MAX)
        return tl_fail(err, TL_BAD_ARG, "remeshing.blend %d is none of ours", (int)d->blend);
    if (!(d->size_min > 0) || !isfinite(d->size_max) || !(d->size_max >= d->size_min))
        return tl_fail(err, TL_BAD_INPUT, "remeshing: sizes from %g to %g m, must be > 0 and in order", d->size_min, d->size_max);
    if (!(d->aspect_min > 0 && d->aspect_min <= 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.aspect_min %g, must be in (0, 1]", d->aspect_min);
    if (!(d->curvature > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.curvature %g rad, must be > 0", d->curvature);
    if (!(d->velocity > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.velocity %g m/s, must be > 0", d->velocity);
    if (!isnan(d->compression) && !(d->compression > 0))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.compression %g m, must be > 0, or NAN for that of the fabric", d->compression);
    if (!(d->rib_stiffening >= 0 && isfinite(d->rib_stiffening)))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.rib_stiffening %g, must be >= 0", d->rib_stiffening);
    if (!(d->hysteresis >= 0 && d->hysteresis < 1))
        return tl_fail(err, TL_BAD_INPUT, "remeshing.hysteresis %g, must be in [0, 1)", d->hysteresis);
    if (!(d->interval > 0)) return tl_fail(err, TL_BAD_INPUT, "remeshing.interval %g s, must be > 0", d->interval);
    if (d->max_faces < 0) return tl_fail(err, TL_BAD_INPUT, "remeshing.max_faces %d, must be >= 0", d->max_faces);
    return TL_OK;
}

bool sim_remeshes(const tl_sim *sim)
{
    for (int32_t c = 0; c < sim->cloth_count; c++)
        if (sim->cloths[c].remeshing.kind != TL_REMESHING_NONE) return true;
    return false;
}

static bool is_due(const tl_sim *sim, const sim_cloth *cloth)
{
    if (cloth->remeshing.kind == TL_REMESHING_NONE) return false;
    const double steps = fmin(1e9, fmax(1, round(cloth->remeshing.interval / sim->def.dt)));
    return sim->step % (int64_t)steps == 0;
}

// ---- what is around -------------------------------------------------------------------------------------------

/// Attributes of a cloth's mesh for the time of a pass.
typedef struct carried { tl_remesh_attrs attrs; int32_t origin, free, lag; } carried;

typedef struct room room;

/// The world as the remesher sees it.
typedef struct surroundings {
    tl_guard_body *guard;        // per body; `keep` is set for each cloth
    tl_obstacle *obstacle;
    tl_clearance_body *clearance;
    double *thickness;
    int32_t body_count;          // those that are there now
    carried *carry;              // per cloth
    double thickest;
    tl_guard all;                // `guard` and how far to look
    room *room;
    bool measured;               // `room` has been set
    double energy;               // [J] that the pass may still add to the stretching energy
} surroundings;

static tl_status place_bodies(tl_sim *sim, surroundings *s, tl_error *err)
{
    const int32_t nb = s->body_count;
    s->guard = TL_SCRATCH(&sim->arena, tl_guard_body, nb);
    s->obstacle = TL_SCRATCH(&sim->arena, tl_obstacle, nb);
    s->clearance = TL_SCRATCH(&sim->arena, tl_clearance_body, nb);
    s->thickness = TL_SCRATCH(&sim->arena, double, nb);
    if (!s->thickness || !s->guard || !s->obstacle || !s->clearance) return tl_fail_memory(err, "remeshing");
    for (int32_t i = 0, b = -1; b + 1 < nb; i++) {
        sim_body *body = &sim->bodies[i];
        if (!body->present) continue;
        s->thickness[++b] = body->thickness;
        tl_vec3 point = {0, 0, 0}, normal = {0, 1, 0}, *pos = NULL;
        if (body->kind == TL_BODY_PLANE) {
            sim_plane_at(body, sim->time, &point, &normal);
        } else {
            pos = TL_SCRATCH(&sim->arena, tl_vec3, body->node_count);
            if (!pos) return tl_fail_memory(err, "remeshing");
            sim_body_at(body, sim->time, pos);
            const tl_surface surface = {body->node_count, body->face_count, body->edge_count, (const int32_t(*)[3])body->face,
                                        (const int32_t(*)[2])body->edge};
            tl_bvh_def def = tl_bvh_def_default();
            def.relative = 1, def.k = 6;
            if (!body->tree) TL_TRY(tl_bvh_create(&sim->alloc, &def, &surface, body->shape, &body->tree, err));  // whenever the first pass is
            tl_bvh_refit(body->tree, pos, NULL, 0, 0, sim->workers);
        }
        s->guard[b] = (tl_guard_body){.tree = body->tree, .point = point, .normal = normal};
        s->obstacle[b] = (tl_obstacle){.tree = body->tree, .point = point, .normal = normal};
        s->clearance[b] = (tl_clearance_body){.tree = body->tree, .point = point, .normal = normal};
        if (body->tree) tl_bvh_extent(body->tree, &s->clearance[b].lo, &s->clearance[b].hi);
    }
    return TL_OK;
}

static tl_status load_nodes(tl_sim *sim, int32_t c, carried *out, tl_error *err);

static tl_status look_around(tl_sim *sim, surroundings *s, tl_error *err)
{
    *s = (surroundings){.body_count = sim_present_count(sim)};
    s->carry = TL_SCRATCH(&sim->arena, carried, sim->cloth_count);
    if (!s->carry) return tl_fail_memory(err, "remeshing");
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        s->thickest = fmax(s->thickest, sim->cloths[c].thickness);
        TL_TRY(load_nodes(sim, c, &s->carry[c], err));
    }
    TL_TRY(place_bodies(sim, s, err));
    s->all = (tl_guard){s->guard, s->body_count, 0};
    return TL_OK;
}

// ---- one cloth -------------------------------------------------------------------------------------------------

static tl_status add_attribute(tl_mesh *mesh, const char *name, tl_attr_rule rule, int32_t *index, tl_error *err)
{
    *index = tl_mesh_attr_find(mesh, TL_NODES, name);
    return *index != TL_NONE ? TL_OK : tl_mesh_attr_add(mesh, TL_NODES, name, TL_INT32, 1, rule, index, err);
}

// BDF2 looks back one step. What is carried over is the change of velocity since then, and how the change of place differs from what the
// velocity makes of it: a new node has the mean of its neighbours, wherever it was put, and momentum given back counts for both times.
static tl_status load_past(tl_sim *sim, int32_t c, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    if (!sim->x_before) return TL_OK;
    int32_t index = tl_mesh_attr_find(mesh, TL_NODES, "past");
    if (index == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, "past", TL_DOUBLE, 6, TL_ATTR_MEAN, &index, err));
    const tl_elements *e = sim->elements;
    double *past = tl_mesh_attr_doubles(mesh, TL_NODES, index);
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const int32_t i = e->node_of[e->cloth_node_start[c] + n];
        if (i == TL_NONE) continue;
        const tl_vec3 dx = tl_madd3(tl_sub3(sim->x[i], sim->x_before[i]), -sim->dt_before, sim->v[i]);
        const tl_vec3 dv = tl_sub3(sim->v[i], sim->v_before[i]);
        memcpy(past + 6 * (size_t)n, &dx, sizeof dx), memcpy(past + 6 * (size_t)n + 3, &dv, sizeof dv);
    }
    return TL_OK;
}

static void restore_past(tl_sim *sim, double dt_before)
{
    if (!sim->x_before || !(dt_before > 0)) return;
    const tl_elements *e = sim->elements;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const double *past = tl_mesh_attr_doubles(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "past"));
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
            const int32_t i = e->node_of[e->cloth_node_start[c] + n];
            if (i == TL_NONE) continue;
            tl_vec3 dx, dv;
            memcpy(&dx, past + 6 * (size_t)n, sizeof dx), memcpy(&dv, past + 6 * (size_t)n + 3, sizeof dv);
            sim->x_before[i] = tl_sub3(tl_madd3(sim->x[i], -dt_before, sim->v[i]), dx), sim->v_before[i] = tl_sub3(sim->v[i], dv);
        }
    }
    sim->dt_before = dt_before;
}

static bool holds_now(const tl_sim *sim, const sim_handle *h) { return h->took_hold && sim->time < h->end; }

// Handles that cloth keeps from their place: nodes that come to lie between theirs have as much of their way left. Of several handles that
// hold a node the last one leads it.
static tl_status load_lag(tl_sim *sim, int32_t c, int32_t *index, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    *index = tl_mesh_attr_find(mesh, TL_NODES, "lag");
    if (*index == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, "lag", TL_DOUBLE, 3, TL_ATTR_MEAN, index, err));
    tl_vec3 *lag = (tl_vec3 *)tl_mesh_attr_doubles(mesh, TL_NODES, *index);
    memset(lag, 0, (size_t)mesh->slots[TL_NODES].count * sizeof *lag);
    for (int32_t h = 0; h < sim->handle_count; h++) {
        const sim_handle *handle = &sim->handles[h];
        for (int32_t k = 0; handle->cloth == c && holds_now(sim, handle) && k < handle->node_count; k++)
            lag[handle->nodes[k]] = sim_handle_lag(sim, handle, k, sim->time);
    }
    return TL_OK;
}

static tl_status load_nodes(tl_sim *sim, int32_t c, carried *out, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    TL_TRY(load_past(sim, c, err));
    TL_TRY(load_lag(sim, c, &out->lag, err));
    TL_TRY(tl_remesh_attach(mesh, sim->handle_count, &out->attrs, err));
    TL_TRY(add_attribute(mesh, "origin", TL_ATTR_ZERO, &out->origin, err));
    TL_TRY(add_attribute(mesh, "free", TL_ATTR_BOTH, &out->free, err));  // a new node is pinched if an end of its edge is
    const int32_t count = mesh->slots[TL_NODES].count, words = mesh->slots[TL_NODES].attrs[out->attrs.held].width;
    int32_t *held = tl_mesh_attr_ints(mesh, TL_NODES, out->attrs.held), *listed = tl_mesh_attr_ints(mesh, TL_NODES, out->attrs.listed);
    int32_t *origin = tl_mesh_attr_ints(mesh, TL_NODES, out->origin), *is_free = tl_mesh_attr_ints(mesh, TL_NODES, out->free);
    memset(held, 0, (size_t)count * (size_t)words * sizeof *held);
    memset(listed, 0, (size_t)count * (size_t)words * sizeof *listed);
    for (int32_t h = 0; h < sim->handle_count; h++) {
        const sim_handle *handle = &sim->handles[h];
        const bool over = sim->time >= handle->end + handle->fade;  // it will hold nothing any more
        for (int32_t k = 0; handle->cloth == c && !over && k < handle->node_count; k++)
            (handle->by_name ? listed : held)[handle->nodes[k] * words + h / 32] |= (int32_t)(UINT32_C(1) << (h % 32));
    }
    const tl_elements *e = sim->elements;
    const uint8_t *is_pinched = sim->contacts ? tl_contacts_pinched(sim->contacts) : NULL;
    for (int32_t n = 0; n < count; n++) {
        origin[n] = n + 1;
        const int32_t node = e->node_of[e->cloth_node_start[c] + n];
        is_free[n] = !(is_pinched && node != TL_NONE && is_pinched[node]);
    }
    return TL_OK;
}

// ---- room -------------------------------------------------------------------------------------------------------

/// The faces of all meshes as one surface, as they were when room was last measured: edits make no difference.
typedef struct whole {
    int32_t (*face)[3];
    tl_vec3 *x;
    tl_vec2 *uv;
    int32_t *chart;        // one for each panel of each cloth; -1 on seams, where there is no one chart
    uint8_t *sides;        // bits of the edges of a face that run against it
    const int32_t *face_start;  // [cloth_count + 1] into face_of
    const int32_t *face_of;     // by face slot, mesh after mesh
    tl_surface surface;
} whole;

static uint8_t sides_of(const tl_mesh *mesh, int32_t f)
{
    uint8_t sides = 0;
    for (int k = 0; k < 3; k++) sides |= (uint8_t)((mesh->edge_face[mesh->face_edge[f][k]][0] != f) << k);
    return sides;
}

static int32_t chart_of(const tl_mesh *mesh, int32_t n, int32_t charts)
{
    const int32_t v = mesh->node_vert[n];
    return mesh->vert_next[v] == v ? charts + mesh->face_panel[mesh->vert_face[v]] : -1;
}

// As long as no mesh has changed since it was compiled, the surface is that of the elements.
static tl_status describe_elements(tl_sim *sim, whole *out, tl_error *err)
{
    const tl_elements *e = sim->elements;
    out->uv = TL_SCRATCH(&sim->arena, tl_vec2, e->node_count);
    out->chart = TL_SCRATCH(&sim->arena, int32_t, e->node_count);
    out->sides = TL_SCRATCH(&sim->arena, uint8_t, e->face_count);
    if (!out->uv || !out->chart || !out->sides) return tl_fail_memory(err, "remeshing");
    out->face_start = e->cloth_face_start, out->face_of = e->face_of;
    int32_t charts = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t *node_of = e->node_of + e->cloth_node_start[c], *face_of = e->face_of + e->cloth_face_start[c];
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
            if (node_of[n] != TL_NONE) out->uv[node_of[n]] = mesh->uv[mesh->node_vert[n]], out->chart[node_of[n]] = chart_of(mesh, n, charts);
        for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
            if (face_of[f] != TL_NONE) out->sides[face_of[f]] = sides_of(mesh, f);
        charts += mesh->panel_count;
    }
    return TL_OK;
}

static void join_mesh(const tl_mesh *mesh, int32_t charts, int32_t *face_of, whole *out)
{
    const int32_t first = out->surface.node_count;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        const int32_t at = face_of[f] = out->surface.face_count++;
        out->sides[at] = sides_of(mesh, f);
        for (int k = 0; k < 3; k++) out->face[at][k] = first + tl_face_node(mesh, f, k);
    }
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const bool lives = tl_alive(mesh, TL_NODES, n);
        out->x[first + n] = lives ? mesh->pos[n] : (tl_vec3){0, 0, 0};
        out->uv[first + n] = lives ? mesh->uv[mesh->node_vert[n]] : (tl_vec2){0, 0};
        out->chart[first + n] = lives ? chart_of(mesh, n, charts) : -1;
    }
    out->surface.node_count += mesh->slots[TL_NODES].count;
}

static tl_status join_meshes(tl_sim *sim, whole *out, tl_error *err)
{
    int32_t nodes = 0, faces = 0, charts = 0;
    int32_t *face_start = TL_SCRATCH(&sim->arena, int32_t, sim->cloth_count + 1);
    if (!face_start) return tl_fail_memory(err, "remeshing");
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_slots *s = sim->cloths[c].mesh->slots;
        face_start[c] = faces;
        nodes += s[TL_NODES].count, faces += s[TL_FACES].count;
    }
    out->x = TL_SCRATCH(&sim->arena, tl_vec3, nodes);
    out->uv = TL_SCRATCH(&sim->arena, tl_vec2, nodes);
    out->chart = TL_SCRATCH(&sim->arena, int32_t, nodes);
    out->face = tl_arena_bytes(&sim->arena, (size_t)faces, sizeof *out->face);
    int32_t *face_of = TL_SCRATCH(&sim->arena, int32_t, faces);
    out->sides = TL_SCRATCH(&sim->arena, uint8_t, faces);
    if (!out->sides || !out->x || !out->uv || !out->chart || !out->face || !face_of) return tl_fail_memory(err, "remeshing");
    out->face_start = face_start, out->face_of = face_of;
    out->surface = (tl_surface){.face = (const int32_t(*)[3])out->face};
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        join_mesh(sim->cloths[c].mesh, charts, face_of + face_start[c], out);
        charts += sim->cloths[c].mesh->panel_count;
    }
    return TL_OK;
}

// How far to look. The surface moves by some hundredths of the length of edges, 99 of 100 times by less than 0.15 of it, and of what is
// between two pieces of cloth each may use half; to look further costs time. Less than half the mean length is too little for the
// long edges of a mesh of mixed sizes: flips that they need are refused, and the thin faces that stay cost the solver iterations.
#define REACH 0.5

static double reach_of(const tl_sim *sim, const surroundings *s)
{
    double length = 0;
    int32_t count = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
            if (!tl_alive(mesh, TL_EDGES, e)) continue;
            length += tl_norm3(tl_sub3(mesh->pos[mesh->edge_node[e][0]], mesh->pos[mesh->edge_node[e][1]]));
            count++;
        }
    }
    return fmax(4 * s->thickest, REACH * length / fmax(1, count));
}

/// What a pass has to know to measure the room of faces.
struct room {
    tl_sim *sim;
    whole w;
    tl_bvh *tree;             // of w; NULL: there is no contact, and room for all
    bool lent;                // by the contacts
    tl_clearance_def around;
    double reach;
};

static void free_room(surroundings *s)
{
    if (!s->room->lent) tl_bvh_destroy(s->room->tree);
    s->room->tree = NULL;
}

// Takes the state of everything for what there is room between.
static tl_status prepare_room(tl_sim *sim, surroundings *s, tl_error *err)
{
    if (!s->room) s->room = TL_SCRATCH(&sim->arena, room, 1);
    if (!s->room) return tl_fail_memory(err, "remeshing");
    const bool first = !s->measured;  // else meshes have changed, and there is no tree for them
    if (!first) free_room(s);
    *s->room = (room){.sim = sim, .reach = reach_of(sim, s)};
    s->measured = true;
    s->all.reach = s->room->reach;
    if (!sim->contacts) return TL_OK;
    whole *w = &s->room->w;
    if (first) {
        TL_TRY(describe_elements(sim, w, err));
        s->room->tree = tl_contacts_lend_tree(sim->contacts), s->room->lent = true;
        tl_bvh_refit(s->room->tree, sim->x, NULL, 0, 0, sim->workers);
    } else {
        TL_TRY(join_meshes(sim, w, err));
        tl_bvh_def def = tl_bvh_def_default();
        TL_TRY(tl_bvh_create(&sim->alloc, &def, &w->surface, w->x, &s->room->tree, err));
    }
    s->room->around = (tl_clearance_def){.tree = s->room->tree, .bodies = s->clearance, .body_count = s->body_count, .reach = s->room->reach,
                                         .keep = KEPT * s->thickest, .keep_flat = KEPT * 0.8,  // as contact.c: own_thickness
                                         .uv = w->uv, .chart = w->chart, .sides = w->sides};
    return TL_OK;
}

typedef struct renewal { tl_sim *sim; surroundings *s; int32_t cloth; bool again; } renewal;

// The first time a cloth asks, the state may have been taken already, since another one asked before it.
static tl_status renew_room(void *self, tl_error *err)
{
    renewal *r = self;
    const bool known = r->s->measured && !r->again;
    r->again = true;
    return known ? TL_OK : prepare_room(r->sim, r->s, err);
}

// Of what is between two pieces of cloth each may use half.
static double measure_room(void *self, int32_t face, tl_room_kind what, double enough)
{
    const renewal *r = self;
    const room *o = r->s->room;
    if (!o->tree) return what == TL_ROOM_CLOTH ? 1e30 : o->reach;
    const int32_t f = o->w.face_of[o->w.face_start[r->cloth] + face];
    if (what == TL_ROOM_BODIES) return tl_clearance_bodies(&o->around, f, enough);
    return r->sim->def.collide.self ? 0.5 * tl_clearance_self(&o->around, f, 2 * enough) : 1e30;
}

// ---- the field ---------------------------------------------------------------------------------------------------

// Makes the field coarser as a whole if it asks for more faces than are allowed.
static void keep_to_budget(const tl_mesh *mesh, const tl_sizing_def *def, int32_t max_faces, tl_sym2 *field)
{
    if (max_faces <= 0) return;
    double area = 0;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        double sum = 0;
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        for (int k = 0; k < 3; k++) sum += sqrt(fmax(0, tl_sym2_det(field[mesh->face_vert[f][k]]))) / 3;
        area += sum * tl_mesh_face_area_uv(mesh, f);
    }
    const double scale = 0.9 * max_faces / (FACES_PER_AREA * area);
    if (!(scale < 1)) return;
    for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) field[v] = tl_sizing_clamp(def, tl_sym2_scale(scale, field[v]));
}

static tl_status set_field(tl_sim *sim, int32_t c, const surroundings *s, const carried *carry, tl_error *err)
{
    const sim_cloth *cloth = &sim->cloths[c];
    const tl_remeshing *d = &cloth->remeshing;
    tl_mesh *mesh = cloth->mesh;
    tl_sizing_def def = tl_sizing_def_default();
    def.curvature = d->curvature, def.velocity = d->velocity, def.compression = d->compression;
    def.size_min = d->size_min, def.size_max = d->size_max;
    def.aspect_min = d->kind == TL_REMESHING_ISOTROPIC ? 1 : d->aspect_min;
    def.edge_angles = d->edge_angles != 0, def.rib_stiffening = d->rib_stiffening;
    def.obstacles = d->obstacles != 0 && s->body_count > 0;
    def.blend = d->blend == TL_BLEND_SUM ? TL_SIZING_SUM : TL_SIZING_MAX;
    tl_obstacle_plane *planes = TL_SCRATCH(&sim->arena, tl_obstacle_plane, def.obstacles ? mesh->slots[TL_NODES].count : 0);
    tl_sizing_fabric *fabric = TL_SCRATCH(&sim->arena, tl_sizing_fabric, cloth->material_count);
    if (!planes || !fabric) return tl_fail_memory(err, "the sizing field");
    for (int32_t m = 0; m < cloth->material_count; m++) fabric[m] = tl_sizing_fabric_of(&cloth->materials[m]);
    if (def.obstacles)
        TL_TRY(tl_obstacle_planes(mesh, s->obstacle, s->body_count, tl_obstacle_reach(&def), 0.5 * cloth->thickness, sim->workers, planes,
                                  err));
    tl_sym2 *field = (tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, carry->attrs.size);
    TL_TRY(tl_sizing_field(mesh, &def, fabric, cloth->material_count, def.obstacles ? planes : NULL, &sim->arena, sim->workers, field,
                           err));
    keep_to_budget(mesh, &def, d->max_faces, field);
    return TL_OK;
}

static double relative(tl_vec3 drift, tl_vec3 of) { return tl_norm3(of) > 0 ? tl_norm3(drift) / tl_norm3(of) : 0; }

static void add_report(tl_remesh_counts *sum, const tl_remesh_report *r)
{
    sum->passes++;
    sum->splits += r->splits, sum->flips += r->flips, sum->collapses += r->collapses;
    sum->refused += r->refused, sum->too_long += r->too_long, sum->energy += r->energy;
    sum->momentum_drift = fmax(sum->momentum_drift, relative(r->momentum_drift, r->momentum));
    sum->spin_drift = fmax(sum->spin_drift, relative(r->spin_drift, r->spin));
}

// ---- handles ---------------------------------------------------------------------------------------------------

static tl_vec3 pose_back(const sim_handle *h, double time, tl_vec3 x)
{
    if (h->key_count == 0) return x;
    const tl_pose pose = tl_pose_at(h->keys, h->key_count, time);
    return tl_pose_back(&pose, h->pivot, x);
}

static tl_status renew_handle(tl_sim *sim, int32_t h, const carried *carry, tl_error *err)
{
    sim_handle *handle = &sim->handles[h];
    const tl_mesh *mesh = sim->cloths[handle->cloth].mesh;
    const int32_t count = mesh->slots[TL_NODES].count, words = mesh->slots[TL_NODES].attrs[carry->attrs.held].width;
    const int32_t *bits = tl_mesh_attr_ints(mesh, TL_NODES, handle->by_name ? carry->attrs.listed : carry->attrs.held);
    const int32_t *origin = tl_mesh_attr_ints(mesh, TL_NODES, carry->origin);
    const tl_vec3 *lag = (const tl_vec3 *)tl_mesh_attr_doubles(mesh, TL_NODES, carry->lag);
    int32_t old_count = 0, made = 0;
    for (int32_t k = 0; k < handle->node_count; k++) old_count = handle->nodes[k] >= old_count ? handle->nodes[k] + 1 : old_count;
    int32_t *old = TL_SCRATCH(&sim->arena, int32_t, old_count);  // place in the handle of a node that was
    if (!old) return tl_fail_memory(err, "a handle");
    for (int32_t k = 0; k < handle->node_count; k++) old[handle->nodes[k]] = k;
    const int32_t word = h / 32;
    const uint32_t bit = UINT32_C(1) << (h % 32);
    for (int32_t n = 0; n < count; n++) made += tl_alive(mesh, TL_NODES, n) && ((uint32_t)bits[n * words + word] & bit) != 0;
    int32_t *nodes = TL_ALLOC(&sim->alloc, int32_t, made);
    tl_vec3 *base = TL_ALLOC(&sim->alloc, tl_vec3, made);
    if (!nodes || !base) {
        TL_FREE(&sim->alloc, nodes, made);
        TL_FREE(&sim->alloc, base, made);
        return tl_fail_memory(err, "a handle");
    }
    int32_t k = 0;
    for (int32_t n = 0; n < count; n++) {
        if (!tl_alive(mesh, TL_NODES, n) || !((uint32_t)bits[n * words + word] & bit)) continue;
        nodes[k] = n;
        const tl_vec3 there = holds_now(sim, handle) ? tl_add3(mesh->pos[n], lag[n]) : mesh->pos[n];
        base[k++] = origin[n] > 0 ? handle->base[old[origin[n] - 1]] : sim_handle_base(sim, handle, n, pose_back(handle, sim->time, there));
    }
    TL_FREE(&sim->alloc, handle->nodes, handle->node_count);
    TL_FREE(&sim->alloc, handle->base, handle->node_count);
    handle->nodes = nodes, handle->base = base, handle->node_count = made;
    return TL_OK;
}

// For want of memory: only what went is let go.
static void keep_living(const tl_mesh *mesh, sim_handle *h)
{
    for (int32_t k = 0; k < h->node_count; k++) {
        if (tl_alive(mesh, TL_NODES, h->nodes[k])) continue;
        for (int32_t i = 0; i < h->node_count; i++) {  // lists keep their length: another one, held twice, does no harm
            if (!tl_alive(mesh, TL_NODES, h->nodes[i])) continue;
            h->nodes[k] = h->nodes[i], h->base[k] = h->base[i];
            break;
        }
    }
}

// After a pass, also after one that was broken off: handles hold nodes that are there, and the mesh has no gaps.
static tl_status settle(tl_sim *sim, int32_t c, const carried *carry, tl_error *err)
{
    tl_mesh *mesh = sim->cloths[c].mesh;
    tl_status status = TL_OK;
    for (int32_t h = 0; h < sim->handle_count; h++) {
        if (sim->handles[h].cloth != c) continue;
        const tl_status renewed = renew_handle(sim, h, carry, err);
        if (renewed != TL_OK) keep_living(mesh, &sim->handles[h]), status = renewed;
    }
    tl_renumbering map;
    TL_TRY(tl_mesh_reorder(mesh, TL_ORDER_MATERIAL, sim->workers, &map, err));
    for (int32_t h = 0; h < sim->handle_count; h++)
        for (int32_t k = 0; sim->handles[h].cloth == c && k < sim->handles[h].node_count; k++)
            sim->handles[h].nodes[k] = map.to[TL_NODES][sim->handles[h].nodes[k]];
    tl_renumbering_free(mesh, &map);
    return status;
}

// ---- energy ---------------------------------------------------------------------------------------------------

// What a pass may add to the energy of the cloth: next to nothing of what a cloth at rest has; one that moves does not notice a little.
static tl_status grant_energy(tl_sim *sim, double *out, tl_error *err)
{
    // Stiffness is looked up anew: that of the last step is not what a state that was read back has.
    double stored, mass = 0, kinetic = 0;
    TL_TRY(tl_forces_stored(sim->elements, sim->x, sim->shape_changed, &sim->arena, sim->workers, &stored, err));
    tl_vec3 momentum = {0, 0, 0};
    for (int32_t i = 0; i < sim->node_count; i++) {
        const double m = sim->elements->mass[i];
        mass += m, kinetic += 0.5 * m * tl_dot3(sim->v[i], sim->v[i]), momentum = tl_madd3(momentum, m, sim->v[i]);
    }
    kinetic -= 0.5 * tl_dot3(momentum, momentum) / mass;
    *out = ENERGY_RISE * stored + ENERGY_OF_MOTION * fmax(0, kinetic);
    return TL_OK;
}

// ---- a pass over all -------------------------------------------------------------------------------------------

static tl_status remesh_cloth(tl_sim *sim, int32_t c, surroundings *s, tl_remesh_report *r, tl_error *err)
{
    const sim_cloth *cloth = &sim->cloths[c];
    const carried *carry = &s->carry[c];
    renewal renewed = {sim, s, c, false};
    TL_TRY(set_field(sim, c, s, carry, err));
    for (int32_t b = 0; b < s->body_count; b++) s->guard[b].keep = KEPT * (0.5 * cloth->thickness + s->thickness[b]);
    double *density = TL_SCRATCH(&sim->arena, double, cloth->material_count);
    tl_sizing_fabric *fabric = TL_SCRATCH(&sim->arena, tl_sizing_fabric, cloth->material_count);
    if (!density || !fabric) return tl_fail_memory(err, "remeshing");
    for (int32_t m = 0; m < cloth->material_count; m++)
        density[m] = cloth->materials[m].density, fabric[m] = tl_sizing_fabric_of(&cloth->materials[m]);
    int32_t *lines = TL_SCRATCH(&sim->arena, int32_t, sim->handle_count / 32 + 1);
    if (!lines) return tl_fail_memory(err, "remeshing");
    memset(lines, 0, (size_t)(sim->handle_count / 32 + 1) * sizeof *lines);
    for (int32_t h = 0; h < sim->handle_count; h++)
        if (sim->handles[h].on_line) lines[h / 32] |= (int32_t)(UINT32_C(1) << (h % 32));
    const tl_remesh_def def = {.hysteresis = cloth->remeshing.hysteresis, .aspect_min = fmin(ASPECT_AT_MOST, cloth->remeshing.aspect_min),
                               .max_faces = cloth->remeshing.max_faces, .density = density, .guard = &s->all,
                               .fabric = fabric, .energy = s->energy, .workers = sim->workers,
                               .line_groups = lines, .renew_room = renew_room, .measure_room = measure_room, .renew_self = &renewed};
    const tl_status status = tl_remesh(cloth->mesh, &carry->attrs, &def, r, err);
    s->energy = fmax(0, s->energy - r->energy);
    if (r->splits + r->flips + r->collapses == 0) return status;
    const tl_status settled = settle(sim, c, carry, status == TL_OK ? err : NULL);
    return status == TL_OK ? settled : status;
}

static tl_status remesh_each(tl_sim *sim, surroundings *s, bool *changed, tl_remesh_counts *counts, tl_error *err)
{
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        if (!is_due(sim, &sim->cloths[c])) continue;
        tl_remesh_report r = {0};
        const tl_status status = remesh_cloth(sim, c, s, &r, err);
        *changed = *changed || r.splits + r.flips + r.collapses > 0;
        add_report(counts, &r);
        counts->energy_left = s->energy;
        TL_TRY(status);
    }
    return TL_OK;
}

static tl_status remesh_cloths(tl_sim *sim, bool *changed, tl_remesh_counts *counts, tl_error *err)
{
    surroundings s;
    TL_TRY(look_around(sim, &s, err));
    TL_TRY(grant_energy(sim, &s.energy, err));
    const tl_status status = remesh_each(sim, &s, changed, counts, err);
    if (s.measured) free_room(&s);
    return status;
}

// Which nodes are pinched, from the meshes that changed and, for the others, from what was.
static void restore_pinched(tl_sim *sim)
{
    if (!sim->contacts) return;
    const tl_elements *e = sim->elements;
    uint8_t *out = tl_contacts_pinched(sim->contacts);
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t *is_free = tl_mesh_attr_ints(mesh, TL_NODES, tl_mesh_attr_find(mesh, TL_NODES, "free"));
        for (int32_t n = 0; is_free && n < mesh->slots[TL_NODES].count; n++)
            if (tl_alive(mesh, TL_NODES, n)) out[e->node_of[e->cloth_node_start[c] + n]] = !is_free[n];
    }
    tl_contacts_count_pinched(sim->contacts);
}

tl_status sim_remesh(tl_sim *sim, tl_step_report *report, tl_error *err)
{
    bool due = false, changed = false;
    for (int32_t c = 0; c < sim->cloth_count; c++) due = due || is_due(sim, &sim->cloths[c]);
    if (!due || sim->remeshed == sim->step) return TL_OK;
    const double start = tl_now();
    tl_arena_reset(&sim->arena);
    tl_status status = remesh_cloths(sim, &changed, &report->remesh, err);
    sim->remeshed = sim->step;
    if (changed) {
        const double dt_before = sim->dt_before;
        const tl_status compiled = sim_recompile(sim, status == TL_OK ? err : NULL);  // in any case: nothing fits the meshes any more
        if (compiled == TL_OK) restore_pinched(sim), restore_past(sim, dt_before);
        if (status == TL_OK) status = compiled;
        sim->epoch_open = false;
        tl_log_write(&sim->def.log, TL_LOG_DEBUG, "step %lld: %d splits, %d flips, %d collapses, %d refused: %d faces", (long long)sim->step,
                     report->remesh.splits, report->remesh.flips, report->remesh.collapses, report->remesh.refused, sim->face_count);
    }
    report->seconds.remesh += tl_now() - start;
    return status;
}
