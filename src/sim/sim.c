// sim/sim.c: create a simulation, add cloths to it, compile them for the solver.

#include "sim/internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "mesh/mesh_attr.h"
#include "mesh/mesh_query.h"
#include "mesh/mesh_rest.h"
#include "physics/bend.h"
#include "physics/forces.h"
#include "sim/detail.h"
#include "sim/springs.h"

static void *counting_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    sim_memory *memory = user;
    void *moved = memory->base.resize(memory->base.user, ptr, old_size, new_size);
    if (moved || new_size == 0) {
        memory->used = memory->used - old_size + new_size;
        if (memory->used > memory->peak) memory->peak = memory->used;
    }
    return moved;
}

void tl_sim_def_init(tl_sim_def *def, size_t size)
{
    const tl_sim_def defaults = {
        .dt = 1.0 / 200,
        .integrator = TL_IMPLICIT_EULER,
        .bending = TL_BEND_SHAPE,
        .newton_iterations = 30,
        .newton_tolerance = 0.03,
        .max_halvings = 6,
        .effort = 60,
        .linear = TL_LINEAR_AUTO,
        .linear_tolerance = 0.02,
        .linear_iterations = 2000,
        .gravity = {0, -9.81, 0},
        .air = {.density = 1.2,
                .drag = 1.2,
                .skin = 0.02,
                .gust_period = 1.5,
                .turbulence = 0.2,
                .turbulence_length = 0.5},
        .collide = {.bodies = 1,
                    .self = 1,
                    .combine = TL_COMBINE_MIN,
                    .pressure = 5e3,
                    .slip_speed = 1e-4,
                    .net = 1,
                    .dop = 18,
                    .arity = 4,
                    .new_pairs = 100,
                    .response_ratio = 1},
        .seed = 1,
        .threads = 1,
        .alloc = tl_allocator_default(),
        .springs = {.offset = 0.004,
                    .compression = 0.05,
                    .stiffness = 80,
                    .bend = 0.002,
                    .damping = 0.01,
                    .max_stretch = 1.05,
                    .length_rounds = 5,
                    .link_steps = 30,
                    .link_slide = 300,
                    .link_lift = 100,
                    .link_distance = 0.03},
        .start = {.strain = 1, .limit_min = (double)NAN, .limit_max = (double)NAN},
    };
    tl_def_init(def, size, &defaults, sizeof defaults);
}

const char *tl_linear_name(tl_linear linear) { return tl_solver_kind_name((tl_solver_kind)linear); }

static bool at_least(double x, double low) { return isfinite(x) && x >= low; }
static bool above(double x, double low) { return isfinite(x) && x > low; }

static tl_status check_air(const tl_air_def *air, tl_error *err)
{
    if (!at_least(air->density, 0))
        return tl_fail(err, TL_BAD_ARG, "air.density %g kg/m^3, must be >= 0", air->density);
    if (!at_least(air->drag, 0)) return tl_fail(err, TL_BAD_ARG, "air.drag %g, must be >= 0", air->drag);
    if (!at_least(air->skin, 0)) return tl_fail(err, TL_BAD_ARG, "air.skin %g kg/(m^2 s), must be >= 0", air->skin);
    if (!tl_finite3(air->wind)) return tl_fail(err, TL_BAD_ARG, "air.wind is not finite");
    if (!at_least(air->gust, 0)) return tl_fail(err, TL_BAD_ARG, "air.gust %g, must be >= 0", air->gust);
    if (!at_least(air->turbulence, 0))
        return tl_fail(err, TL_BAD_ARG, "air.turbulence %g, must be >= 0", air->turbulence);
    if (air->turbulence > 0 && !above(air->turbulence_length, 0))
        return tl_fail(err, TL_BAD_ARG, "air.turbulence_length %g m, must be > 0", air->turbulence_length);
    if (!at_least(air->lee, 0)) return tl_fail(err, TL_BAD_ARG, "air.lee %g m, must be >= 0", air->lee);
    if (!above(air->gust_period, 0))
        return tl_fail(err, TL_BAD_ARG, "air.gust_period %g s, must be > 0", air->gust_period);
    if (air->key_count < 0 || (air->key_count > 0 && !air->keys))
        return tl_fail(err, TL_BAD_ARG, "air.key_count %d without keys", air->key_count);
    for (int32_t i = 0; i < air->key_count; i++) {
        const tl_wind_key *k = &air->keys[i];
        if (!isfinite(k->time) || !tl_finite3(k->velocity))
            return tl_fail(err, TL_BAD_ARG, "air.keys[%d] is not finite", i);
        if (i > 0 && !(k->time > air->keys[i - 1].time))
            return tl_fail(err, TL_BAD_ARG, "air.keys[%d].time %g s, must be after the key before it (%g s)", i,
                           k->time, air->keys[i - 1].time);
    }
    return TL_OK;
}

// 8 frames of a sheet on a ball, 1,800 faces: 0.9 s with 1e5, 3.7 s with 1e6; 1e7 makes for steps of 10 s, 1e9 of a
// minute.
#define MOST_PRESSURE 1e6  // [Pa]

static tl_status check_detection(const tl_collide_def *c, tl_error *err)
{
    if (c->dop != 6 && c->dop != 14 && c->dop != 18 && c->dop != 26)
        return tl_fail(err, TL_BAD_ARG, "collide.dop %d, must be 6, 14, 18 or 26", c->dop);
    if (c->arity != 2 && c->arity != 4 && c->arity != 8)
        return tl_fail(err, TL_BAD_ARG, "collide.arity %d, must be 2, 4 or 8", c->arity);
    if (c->leaf_faces < 0 || c->leaf_faces > 64)
        return tl_fail(err, TL_BAD_ARG, "collide.leaf_faces %d, must be 0 to 64", c->leaf_faces);
    if (c->new_pairs < 0) return tl_fail(err, TL_BAD_ARG, "collide.new_pairs %d, must be >= 0", c->new_pairs);
    if (c->net > 1 || c->measure > 1)
        return tl_fail(err, TL_BAD_ARG, "collide.net %u, measure %u: must be 0 or 1", (unsigned)c->net,
                       (unsigned)c->measure);
    if (!(c->most_tests >= 0 && c->most_tests <= 1e12))
        return tl_fail(err, TL_BAD_ARG, "collide.most_tests %g, must be 0 to 1e12", c->most_tests);
    if (!(c->distance >= 0) || !(c->find_ratio >= 0 && c->find_ratio < 1) ||
        !(c->response_ratio >= 0 && c->response_ratio <= 1))
        return tl_fail(err, TL_BAD_ARG,
                       "collide.distance %g m, find_ratio %g, response_ratio %g: must be >= 0, in "
                       "[0, 1), in [0, 1]",
                       c->distance, c->find_ratio, c->response_ratio);
    return TL_OK;
}

static tl_status check_collide(const tl_collide_def *c, tl_error *err)
{
    if (c->bodies > 1) return tl_fail(err, TL_BAD_ARG, "collide.bodies %u, must be 0 or 1", (unsigned)c->bodies);
    if (c->self > 1) return tl_fail(err, TL_BAD_ARG, "collide.self %u, must be 0 or 1", (unsigned)c->self);
    if ((int)c->combine < TL_COMBINE_MIN || c->combine > TL_COMBINE_MEAN)
        return tl_fail(err, TL_BAD_ARG, "collide.combine %d is none of ours", (int)c->combine);
    if (!above(c->pressure, 0) || c->pressure > MOST_PRESSURE)
        return tl_fail(err, TL_BAD_ARG, "collide.pressure %g Pa, must be > 0 and at most %g", c->pressure,
                       MOST_PRESSURE);
    if (!above(c->slip_speed, 0))
        return tl_fail(err, TL_BAD_ARG, "collide.slip_speed %g m/s, must be > 0", c->slip_speed);
    if (c->on_intersection != TL_INTERSECTION_ERROR && c->on_intersection != TL_INTERSECTION_HEAL &&
        c->on_intersection != TL_INTERSECTION_PINCH)
        return tl_fail(err, TL_BAD_ARG, "collide.on_intersection %d is none of ours", (int)c->on_intersection);
    return check_detection(c, err);
}

static tl_status check_def(const tl_sim_def *d, tl_error *err)
{
    if (!above(d->dt, 0) || d->dt > SIM_LONGEST_STEP)
        return tl_fail(err, TL_BAD_ARG, "dt %g s, must be > 0 and at most %g", d->dt, SIM_LONGEST_STEP);
    if (d->integrator != TL_IMPLICIT_EULER && d->integrator != TL_BDF2)
        return tl_fail(err, TL_BAD_ARG, "integrator %d is none of ours", (int)d->integrator);
    if (d->bending != TL_BEND_SHAPE && d->bending != TL_BEND_HINGE)
        return tl_fail(err, TL_BAD_ARG, "bending %d is none of ours", (int)d->bending);
    if (d->newton_iterations < 1 || d->newton_iterations > 10000)
        return tl_fail(err, TL_BAD_ARG, "newton_iterations %d, must be from 1 to 10000", d->newton_iterations);
    if (!above(d->newton_tolerance, 0))
        return tl_fail(err, TL_BAD_ARG, "newton_tolerance %g m/s, must be > 0", d->newton_tolerance);
    if (!(d->effort > 0)) return tl_fail(err, TL_BAD_ARG, "effort %g us a face, must be > 0", d->effort);
    if (d->max_halvings < 0 || d->max_halvings > 16)
        return tl_fail(err, TL_BAD_ARG, "max_halvings %d, must be from 0 to 16", d->max_halvings);
    if ((int)d->linear < TL_LINEAR_AUTO || d->linear > TL_LINEAR_CHOLMOD)
        return tl_fail(err, TL_BAD_ARG, "linear %d is none of ours", (int)d->linear);
    if (!(d->linear_tolerance > 0 && d->linear_tolerance < 1))
        return tl_fail(err, TL_BAD_ARG, "linear_tolerance %g, must be in (0, 1)", d->linear_tolerance);
    if (d->linear_iterations < 1)
        return tl_fail(err, TL_BAD_ARG, "linear_iterations %d, must be >= 1", d->linear_iterations);
    if (!tl_finite3(d->gravity)) return tl_fail(err, TL_BAD_ARG, "gravity is not finite");
    if (!d->alloc.resize) return tl_fail(err, TL_BAD_ARG, "alloc.resize is NULL");
    const tl_kinds kinds = sim_kinds(d, TL_REMESHING_NONE);
    TL_TRY(tl_kinds_check(&kinds, err));
    TL_TRY(check_collide(&d->collide, err));
    TL_TRY(sim_check_start(&d->start, err));
    const tl_dynamics *dynamics = tl_dynamics_of(d->dynamics);
    if (d->start.relax == TL_RELAX_ON && !dynamics->relax && d->collide.response != TL_RESPONSE_PUSH_OUT)
        return tl_fail(err, TL_BAD_ARG, "start.relax 'on' does not go with dynamics.kind '%s' (take 'off')",
                       dynamics->name);
    if (dynamics == &tl_dynamics_baraff_witkin && d->integrator != TL_IMPLICIT_EULER)
        return tl_fail(err, TL_BAD_ARG,
                       "integrator bdf2 does not go with dynamics.kind 'baraff-witkin' (take implicit-euler, or "
                       "dynamics.kind 'implicit')");
    TL_TRY(sim_springs_check_options(&d->springs, err));
    return check_air(&d->air, err);
}

tl_status tl_sim_create(const tl_sim_def *given, tl_sim **out, tl_error *err)
{
    *out = NULL;
    TL_DEF_COMPLETE(tl_sim_def, complete, given, err);
    if (complete.dynamics == TL_DYNAMICS_SPRINGS && complete.collide.response == TL_RESPONSE_BARRIER)
        complete.collide.response = TL_RESPONSE_PUSH_OUT;  // the default of the one is that of the other
    const tl_sim_def *def = &complete;
    TL_TRY(check_def(def, err));
    tl_sim *sim = TL_CALLOC(&def->alloc, tl_sim, 1);
    if (!sim) return tl_fail_memory(err, "the simulation");
    sim->def = *def;
    sim->memory = (sim_memory){def->alloc, sizeof *sim, sizeof *sim};
    sim->alloc = (tl_allocator){counting_resize, &sim->memory};
    // questions about energy and strain go to what is compiled, by whatever dynamics the cloth moves
    sim->dynamics = sim_by_springs(sim) ? &tl_dynamics_implicit : tl_dynamics_of(def->dynamics),
    sim->responder = tl_responder_of(def->collide.response);
    sim->remeshed = -1;
    tl_arena_init(&sim->arena, sim->alloc);
    tl_status status = tl_workers_create(&sim->alloc, def->tasks.run ? 1 : def->threads, &sim->workers, err);
    if (status == TL_OK && def->tasks.run) tl_workers_lend(sim->workers, &def->tasks, def->threads);
    if (status == TL_OK && def->air.key_count > 0) {
        sim->wind_keys = TL_ALLOC(&sim->alloc, tl_wind_key, def->air.key_count);
        if (sim->wind_keys)
            memcpy(sim->wind_keys, def->air.keys, (size_t)def->air.key_count * sizeof *sim->wind_keys);
        else
            status = tl_fail_memory(err, "the wind");
    }
    sim->def.air.keys = sim->wind_keys;
    if (status != TL_OK) {
        tl_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return TL_OK;
}

void sim_free_cloth(tl_sim *sim, sim_cloth *cloth)
{
    if (cloth->adapter && cloth->adapter->destroy) cloth->adapter->destroy(cloth->adapter_self);
    tl_mesh_destroy(cloth->mesh);
    sim_free_springs(sim, cloth);
    spring_cloth_destroy(cloth->engine);
    TL_FREE(&sim->alloc, cloth->materials, cloth->material_count);
    TL_FREE(&sim->alloc, cloth->materials_given, cloth->material_count);
}

void tl_sim_destroy(tl_sim *sim)
{
    if (!sim) return;
    sim_discard(sim);
    for (int32_t i = 0; i < sim->handle_count; i++) sim_free_handle(sim, &sim->handles[i]);
    TL_FREE(&sim->alloc, sim->handles, sim->handle_cap);
    for (int32_t i = 0; i < sim->cloth_count; i++) sim_free_cloth(sim, &sim->cloths[i]);
    TL_FREE(&sim->alloc, sim->cloths, sim->cloth_cap);
    sim_free_bodies(sim);
    sim_ids_free(&sim->alloc, &sim->cloth_ids), sim_ids_free(&sim->alloc, &sim->handle_ids);
    sim_ids_free(&sim->alloc, &sim->body_ids);
    if (sim->wind_keys) TL_FREE(&sim->alloc, sim->wind_keys, sim->def.air.key_count);
    sim_free_detail(sim);
    tl_free_bytes(&sim->alloc, sim->epoch, sim->epoch_size, 1);
    tl_arena_free(&sim->arena);
    tl_workers_destroy(sim->workers);
    const tl_allocator base = sim->memory.base;
    tl_free_bytes(&base, sim, 1, sizeof *sim);
}

void tl_cloth_def_init(tl_cloth_def *def, size_t size)
{
    const double none = (double)INFINITY;
    const tl_cloth_def defaults = {.thickness = 1e-3,
                                   .friction = (double)NAN,
                                   .friction_self = 0.3,
                                   .remeshing = tl_remeshing_default(),
                                   .strain = {TL_STRAIN_FREE, -none, none, -none, none, none}};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

tl_status sim_check_name(const tl_sim *sim, const char *what, const char *name, tl_error *err)
{
    const size_t length = strlen(name);
    if (length == 0 || length > 63)
        return tl_fail(err, TL_BAD_INPUT, "%s name '%.80s', must have 1 to 63 characters", what, name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
            return tl_fail(err, TL_BAD_INPUT, "%s name '%s', must be of letters, digits, '-' and '_'", what, name);
    for (int32_t i = 0; i < sim->cloth_count; i++)
        if (strcmp(sim->cloths[i].name, name) == 0)
            return tl_fail(err, TL_BAD_INPUT, "%s name '%s' is taken by cloth %d", what, name, i);
    for (int32_t i = 0; i < sim->body_count; i++)
        if (strcmp(sim->bodies[i].name, name) == 0)
            return tl_fail(err, TL_BAD_INPUT, "%s name '%s' is taken by body %d", what, name, i);
    return TL_OK;
}

// A face that is drawn together to a line or a point has no normal, and no step can pull it open.
static tl_status check_shape(const tl_cloth_def *def, tl_error *err)
{
    const int32_t verts = def->vert_count > 0 ? def->vert_count : def->node_count;
    for (int32_t f = 0; f < def->face_count; f++) {
        int32_t n[3];
        bool known = true;  // numbers out of range are told of when the mesh is built
        for (int k = 0; k < 3; k++) {
            const int32_t v = def->face[f][k];
            const bool vertex = v >= 0 && v < verts;
            n[k] = !vertex ? -1 : def->vert_node ? def->vert_node[v] : v;
            known = known && n[k] >= 0 && n[k] < def->node_count;
        }
        if (!known || n[0] == n[1] || n[1] == n[2] || n[2] == n[0]) continue;
        const tl_vec3 a = tl_sub3(def->pos[n[1]], def->pos[n[0]]), b = tl_sub3(def->pos[n[2]], def->pos[n[0]]),
                      c = tl_sub3(b, a);
        const double longest = fmax(tl_dot3(a, a), fmax(tl_dot3(b, b), tl_dot3(c, c)));
        if (!isfinite(longest) || 0.5 * tl_norm3(tl_cross3(a, b)) > TL_MIN_SHAPE * longest) continue;
        return tl_fail(err, TL_BAD_INPUT,
                       "face %d has no area in space: its nodes %d, %d, %d lie in one line or point (move them apart, "
                       "or leave the face out)",
                       f, n[0], n[1], n[2]);
    }
    return TL_OK;
}

static tl_status check_cloth(const tl_cloth_def *def, tl_error *err)
{
    if (def->node_count < 1 || !def->pos) return tl_fail(err, TL_BAD_INPUT, "a cloth without nodes");
    if (def->face_count < 1 || !def->face) return tl_fail(err, TL_BAD_INPUT, "a cloth without faces");
    if (!def->uv) return tl_fail(err, TL_BAD_INPUT, "a cloth without material coordinates");
    if (def->vert_count > 0 && def->vert_count != def->node_count && !def->vert_node)
        return tl_fail(err, TL_BAD_INPUT, "vert_node is missing: %d vertices on %d nodes", def->vert_count,
                       def->node_count);
    if (!above(def->thickness, 0)) return tl_fail(err, TL_BAD_INPUT, "thickness %g m, must be > 0", def->thickness);
    if (!isnan(def->friction) && !at_least(def->friction, 0))
        return tl_fail(err, TL_BAD_INPUT, "friction %g, must be >= 0, or NAN to leave it to the body", def->friction);
    if (!at_least(def->friction_self, 0))
        return tl_fail(err, TL_BAD_INPUT, "friction_self %g, must be >= 0", def->friction_self);
    TL_TRY(sim_check_remeshing(&def->remeshing, err));
    TL_TRY(tl_strain_check(&def->strain, def->name ? def->name : "cloth", err));
    if (def->material_count < 1 || !def->materials) return tl_fail(err, TL_BAD_INPUT, "a cloth without a material");
    for (int32_t i = 0; i < def->material_count; i++) TL_TRY(tl_material_check(&def->materials[i], err));
    if (def->edge_count < 0 || (def->edge_count > 0 && (!def->edge || !def->edge_label)))
        return tl_fail(err, TL_BAD_INPUT, "edge_count %d without edges and their labels", def->edge_count);
    for (int32_t i = 0; i < def->edge_count; i++)
        for (int k = 0; k < 2; k++)
            if (def->edge[i][k] < 0 || def->edge[i][k] >= def->node_count)
                return tl_fail(err, TL_BAD_INPUT, "edge %d has node %d, there are nodes 0 to %d", i, def->edge[i][k],
                               def->node_count - 1);
    TL_TRY(check_shape(def, err));
    if (def->face_label)
        for (int32_t f = 0; f < def->face_count; f++)
            if (def->face_label[f] < 0 || def->face_label[f] >= def->material_count)
                return tl_fail(err, TL_BAD_INPUT, "face %d has material label %d, there are %d materials", f,
                               def->face_label[f], def->material_count);
    return TL_OK;
}

// [rad] a rest angle above that, on a seam or a feature line, is a fold and no part of a curved surface
#define SHARP 0.3

// Remeshing keeps the curvature of the rest shape, from which new edges get their angles. `angle`: of hinges,
// overwritten.
static tl_status take_rest_curvature(tl_elements *e, tl_mesh *mesh, double *angle, tl_error *err)
{
    tl_rest_attrs attrs;
    TL_TRY(tl_mesh_rest_attach(mesh, &attrs, err));
    for (int32_t h = 0; h < e->hinge_count; h++) {
        const int32_t edge = mesh->face_edge[e->slot_of_face[e->hinge_face[h][0]]][e->hinge_place[h][0]];
        if (tl_mesh_edge_kind(mesh, edge) != TL_EDGE_PLAIN && fabs(angle[h]) > SHARP) angle[h] = 0;
    }
    tl_bend_update_folds(e, NULL);
    tl_bend_folds(e, angle, e->fold, NULL);
    double *curvature = tl_mesh_attr_doubles(mesh, TL_FACES, attrs.curvature),
           *crease = tl_mesh_attr_doubles(mesh, TL_EDGES, attrs.crease);
    for (int32_t f = 0; f < e->face_count; f++) {
        double *out = curvature + 3 * (size_t)e->slot_of_face[f];
        tl_bend_curvature(e, f, out);
        for (int k = 0; k < 3; k++) out[k] *= e->area[f];
    }
    for (int32_t edge = 0; edge < mesh->slots[TL_EDGES].count; edge++)
        if (tl_mesh_edge_kind(mesh, edge) != TL_EDGE_PLAIN && fabs(mesh->edge_rest[edge]) > SHARP)
            crease[edge] = mesh->edge_rest[edge] - tl_mesh_rest_angle(mesh, &attrs, edge);
    return TL_OK;
}

// The angles of the given shape become the rest angles.
static tl_status take_rest_shape(tl_sim *sim, const sim_cloth *cloth, tl_error *err)
{
    tl_elements *e;
    const tl_element_source source = {cloth->mesh, cloth->materials, cloth->material_count, TL_LUMP_THIRDS};
    TL_TRY(tl_elements_create(&sim->alloc, &source, 1, TL_BEND_SHAPE, NULL, &e, err));
    tl_vec3 *x = TL_ALLOC(&sim->alloc, tl_vec3, e->node_count);
    if (!x) {
        tl_elements_destroy(e);
        return tl_fail_memory(err, "the rest shape");
    }
    for (int32_t i = 0; i < e->node_count; i++) x[i] = cloth->mesh->pos[e->slot_of_node[i]];
    tl_forces_angles(e, x, NULL);
    for (int32_t h = 0; h < e->hinge_count; h++) {
        const int32_t f = e->hinge_face[h][0];
        for (int k = 0; k < 3; k++)
            if (e->face_hinge[f][k] == h)
                cloth->mesh->edge_rest[cloth->mesh->face_edge[e->slot_of_face[f]][k]] = e->angle[h];
    }
    tl_status status = TL_OK;
    if (cloth->adapter->look) status = take_rest_curvature(e, cloth->mesh, e->angle, err);
    TL_FREE(&sim->alloc, x, e->node_count);
    tl_elements_destroy(e);
    return status;
}

// What a cloth's mesh was when it was given: a saved state belongs to a simulation that began the same way.
static uint64_t hash_mesh(const tl_mesh *mesh)
{
    tl_hash hash;
    tl_hash_init(&hash);
    const int32_t count[3] = {mesh->slots[TL_NODES].count, mesh->slots[TL_VERTS].count, mesh->slots[TL_FACES].count};
    tl_hash_add(&hash, count, sizeof count);
    tl_hash_add(&hash, mesh->uv, (size_t)count[1] * sizeof *mesh->uv);
    tl_hash_add(&hash, mesh->vert_node, (size_t)count[1] * sizeof *mesh->vert_node);
    tl_hash_add(&hash, mesh->face_vert, (size_t)count[2] * sizeof *mesh->face_vert);
    return tl_hash_value(&hash);
}

tl_status tl_sim_add_cloth(tl_sim *sim, const tl_cloth_def *given, tl_cloth_id *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    *out = (tl_cloth_id){0, 0};
    TL_DEF_COMPLETE(tl_cloth_def, complete, given, err);
    const tl_cloth_def *def = &complete;
    TL_TRY(check_cloth(def, err));
    const tl_kinds kinds = sim_kinds(&sim->def, def->remeshing.kind);
    TL_TRY(tl_kinds_check(&kinds, err));
    TL_TRY(sim_springs_check(sim, def, err));
    if (def->strain.kind != TL_STRAIN_FREE && !sim->dynamics->has_potential)
        return tl_fail(err, TL_BAD_INPUT, "strain limits do not go with dynamics.kind '%s' (take 'implicit')",
                       sim->dynamics->name);
    sim_cloth cloth = {.material_count = def->material_count,
                       .thickness = def->thickness,
                       .friction = def->friction,
                       .friction_self = def->friction_self,
                       .remeshing = def->remeshing,
                       .remeshing_given = def->remeshing,
                       // springs keep their hierarchy themselves (spring_cloth.h)
                       .adapter = sim_by_springs(sim) ? &tl_adapter_none : tl_adapter_of(def->remeshing.kind),
                       .passed = -1,
                       .strain = def->strain};
    const char *name = def->name ? def->name : "cloth";
    TL_TRY(sim_check_name(sim, "cloth", name, err));
    snprintf(cloth.name, sizeof cloth.name, "%s", name);
    if (!TL_GROW(&sim->alloc, sim->cloths, sim->cloth_cap, sim->cloth_count + 1) ||
        !sim_ids_reserve(&sim->alloc, &sim->cloth_ids))
        return tl_fail_memory(err, "a cloth");
    const tl_mesh_def mesh = {.node_count = def->node_count,
                              .vert_count = def->vert_count > 0 ? def->vert_count : def->node_count,
                              .face_count = def->face_count,
                              .pos = def->pos,
                              .vel = def->vel,
                              .uv = def->uv,
                              .vert_node = def->vert_node,
                              .face_vert = def->face,
                              .face_label = def->face_label,
                              .node_label = def->node_label};
    tl_status status = tl_mesh_create(&sim->alloc, &mesh, &cloth.mesh, err);
    if (status == TL_OK) {
        cloth.materials = TL_ALLOC(&sim->alloc, tl_material, def->material_count);
        if (cloth.materials)
            memcpy(cloth.materials, def->materials, (size_t)def->material_count * sizeof *cloth.materials);
        else
            status = tl_fail_memory(err, "a cloth");
    }
    for (int32_t i = 0; status == TL_OK && i < def->edge_count; i++) {
        const int32_t e = tl_mesh_find_edge(cloth.mesh, def->edge[i][0], def->edge[i][1]);
        if (e != TL_NONE) cloth.mesh->edge_label[e] = def->edge_label[i];
    }
    if (status == TL_OK && def->rest_from_shape) status = take_rest_shape(sim, &cloth, err);
    if (status == TL_OK && cloth.adapter->create)
        status = cloth.adapter->create(&sim->alloc, cloth.mesh, &cloth.remeshing, &cloth.adapter_self, err);
    if (status == TL_OK) cloth.built = hash_mesh(cloth.mesh);
    if (status != TL_OK) {
        sim_free_cloth(sim, &cloth);
        return status;
    }
    sim_discard(sim);
    sim->cloths[sim->cloth_count++] = cloth;
    const sim_id id = sim_ids_take(&sim->cloth_ids, sim->cloth_count - 1);
    *out = (tl_cloth_id){id.slot, id.gen};
    return TL_OK;
}

static void free_state(tl_sim *sim)
{
    TL_FREE(&sim->alloc, sim->x, sim->node_count);
    TL_FREE(&sim->alloc, sim->v, sim->node_count);
    TL_FREE(&sim->alloc, sim->x_before, sim->node_count);
    TL_FREE(&sim->alloc, sim->v_before, sim->node_count);
    sim->node_count = 0;
}

// Drops what was compiled, but for the dynamics, which have learned something.
static void discard_elements(tl_sim *sim)
{
    free_state(sim);
    sim_discard_contacts(sim);
    sim_discard_strain(sim);
    tl_elements_destroy(sim->elements);
    sim->elements = NULL;
}

void sim_discard(tl_sim *sim)
{
    if (sim->elements && sim->node_count > 0) sim_publish(sim);
    discard_elements(sim);
    if (sim->dynamics_self) sim->dynamics->destroy(sim->dynamics_self);
    sim->dynamics_self = NULL;
    sim->dt_before = 0, sim->epoch_open = false, sim->started = false;
}

void sim_publish(tl_sim *sim)
{
    const tl_elements *e = sim->elements;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t first = e->cloth_node_start[c], last = e->cloth_node_start[c + 1];
        for (int32_t slot = first; slot < last; slot++) {
            if (e->node_of[slot] == TL_NONE) continue;
            mesh->pos[slot - first] = sim->x[e->node_of[slot]];
            mesh->vel[slot - first] = sim->v[e->node_of[slot]];
        }
    }
    sim_publish_strain(sim);
}

static tl_status compile(tl_sim *sim, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(&sim->arena);
    tl_element_source *sources = TL_SCRATCH(&sim->arena, tl_element_source, sim->cloth_count);
    if (!sources) return tl_fail_memory(err, "the elements");
    for (int32_t i = 0; i < sim->cloth_count; i++)
        sources[i] = (tl_element_source){sim->cloths[i].mesh, sim->cloths[i].materials, sim->cloths[i].material_count,
                                         tl_lumping_of(&sim->cloths[i].remeshing)};
    const tl_status status =
        tl_elements_create(&sim->alloc, sources, sim->cloth_count, sim->def.bending, sim->workers, &sim->elements, err);
    tl_arena_release(&sim->arena, mark);
    if (status != TL_OK) return status;
    TL_TRY(sim_compile_strain(sim, err));
    const tl_elements *e = sim->elements;
    const int32_t n = sim->node_count = e->node_count;
    sim->x = TL_CALLOC(&sim->alloc, tl_vec3, n);
    sim->v = TL_CALLOC(&sim->alloc, tl_vec3, n);
    const bool past = sim->def.integrator == TL_BDF2;
    if (past) sim->x_before = TL_CALLOC(&sim->alloc, tl_vec3, n);
    if (past) sim->v_before = TL_CALLOC(&sim->alloc, tl_vec3, n);
    if (!sim->x || !sim->v || (past && (!sim->x_before || !sim->v_before))) return tl_fail_memory(err, "the state");
    for (int32_t c = 0; c < sim->cloth_count; c++)
        for (int32_t slot = e->cloth_node_start[c]; slot < e->cloth_node_start[c + 1]; slot++) {
            if (e->node_of[slot] == TL_NONE) continue;
            sim->x[e->node_of[slot]] = sim->cloths[c].mesh->pos[slot - e->cloth_node_start[c]];
            sim->v[e->node_of[slot]] = sim->cloths[c].mesh->vel[slot - e->cloth_node_start[c]];
        }
    if (!sim_by_springs(sim)) {  // those need elements and surfaces for questions alone
        tl_dynamics_world world = sim_world(sim);
        if (!sim->dynamics_self) TL_TRY(sim->dynamics->create(&sim->alloc, &world.set, &sim->dynamics_self, err));
        TL_TRY(sim->dynamics->compile(sim->dynamics_self, &world, err));
    }
    sim_find_present(sim, &(bool){false});
    TL_TRY(sim_compile_contacts(sim, err));
    sim->shape_changed = true, sim->begun = false;
    sim->dt_before = 0;
    tl_log_write(&sim->def.log, TL_LOG_DEBUG, "%d faces, %d nodes, %d hinges, %d colours", e->face_count, e->node_count,
                 e->hinge_count, e->color_count);
    return TL_OK;
}

tl_status sim_compile(tl_sim *sim, tl_error *err)
{
    if (sim_by_springs(sim)) TL_TRY(sim_springs_sync(sim, err));
    if (sim->dead_slots) {
        TL_TRY(sim_renumber_rest(sim, err));
        discard_elements(sim);
    }
    if (sim->elements) return TL_OK;
    if (sim->cloth_count == 0) return tl_fail(err, TL_BAD_ARG, "the simulation has no cloth");
    const tl_status status = compile(sim, err);
    if (status != TL_OK) {
        free_state(sim);
        sim_discard(sim);
    }
    return status;
}

tl_status sim_recompile(tl_sim *sim, tl_error *err)
{
    discard_elements(sim);
    return sim_compile(sim, err);
}
