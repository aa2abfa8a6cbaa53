// dynamics/springs/springs_kind.c: the kind `springs` under the responses that act after a solve.
//
// With response push-out springs are an engine of their own (sim/springs.c), with their own hierarchy and contact. Here
// the same solver moves the meshes that everybody else sees: a (sub)step without contact, then the response on what it
// came to, which knows detection, momentum, friction and the net.

#include "dynamics/springs/springs_kind.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/parts.h"
#include "dynamics/springs/springs_air.h"
#include "physics/eddies.h"

tl_springs_def tl_springs_def_of(const tl_springs_options *o)
{
    tl_springs_def def = tl_springs_def_default();
    def.method = o->method == TL_SPRINGS_VERLET_METHOD ? TL_SPRINGS_VERLET : TL_SPRINGS_XPBD;
    def.rule = o->level_rule == TL_SPRINGS_BY_AREA ? TL_SPRINGS_AREA : TL_SPRINGS_THESIS;  // of Verlet alone
    def.bending = o->bending == TL_SPRINGS_BY_SPRINGS ? TL_SPRINGS_BEND_SPRINGS : TL_SPRINGS_BEND_ELEMENTS;
    def.compression = o->compression;
    def.stiffness = o->stiffness, def.bend = o->bend;
    def.damping = o->damping, def.max_stretch = o->max_stretch;
    def.length_rounds = o->length_rounds;
    return def;
}

typedef struct springs_kind {
    tl_allocator alloc;
    tl_springs_def def;
    tl_springs *solver;
} springs_kind;

static void destroy(void *self)
{
    springs_kind *d = self;
    if (!d) return;
    tl_springs_destroy(d->solver);
    const tl_allocator alloc = d->alloc;
    TL_FREE(&alloc, d, 1);
}

static tl_status create(const tl_allocator *alloc, const tl_dynamics_settings *set, void **self, tl_error *err)
{
    *self = NULL;
    springs_kind *d = TL_CALLOC(alloc, springs_kind, 1);
    if (!d) return tl_fail_memory(err, "the dynamics");
    d->alloc = *alloc, d->def = tl_springs_def_of(&set->springs);
    const tl_status status = tl_springs_create(alloc, &d->def, &d->solver, err);
    if (status != TL_OK) destroy(d), d = NULL;
    *self = d;
    return status;
}

// ---- the mesh -------------------------------------------------------------------------------------------------

// Corners of a face when flat, the first at the origin: the inverse of the gradients of the basis functions.
static bool flatten(const double grad[4], tl_vec2 uv[3])
{
    const double det = grad[0] * grad[3] - grad[1] * grad[2];
    uv[0] = (tl_vec2){0, 0};
    uv[1] = (tl_vec2){grad[3] / det, -grad[2] / det}, uv[2] = (tl_vec2){-grad[1] / det, grad[0] / det};
    return det > 0 && isfinite(1 / det);
}

static void list_edges(const tl_elements *e, int32_t (*edge)[2], int32_t (*edge_tri)[2])
{
    for (int32_t h = 0; h < e->hinge_count; h++)
        for (int k = 0; k < 2; k++) edge[h][k] = e->hinge[h][k], edge_tri[h][k] = e->hinge_face[h][k];
    for (int32_t b = 0; b < e->border_count; b++) {
        const int32_t *f = e->face[e->border[b].face], at = e->hinge_count + b;
        for (int k = 0; k < 2; k++) edge[at][k] = f[(e->border[b].place + 1 + k) % 3];
        edge_tri[at][0] = e->border[b].face, edge_tri[at][1] = -1;
    }
}

static tl_status compile(void *self, tl_dynamics_world *w, tl_error *err)
{
    springs_kind *d = self;
    const tl_elements *e = w->elements;
    const int32_t edges = e->hinge_count + e->border_count;
    const tl_arena_mark mark = tl_arena_save(w->ctx.arena);
    int32_t(*tri)[3] = tl_arena_bytes(w->ctx.arena, (size_t)e->face_count, sizeof *tri);
    tl_vec2(*uv)[3] = tl_arena_bytes(w->ctx.arena, (size_t)e->face_count, sizeof *uv);
    int32_t(*edge)[2] = tl_arena_bytes(w->ctx.arena, (size_t)edges, sizeof *edge);
    int32_t(*edge_tri)[2] = tl_arena_bytes(w->ctx.arena, (size_t)edges, sizeof *edge_tri);
    tl_status status = tri && uv && edge && edge_tri ? TL_OK : tl_fail_memory(err, "the springs");
    for (int32_t f = 0; status == TL_OK && f < e->face_count; f++) {
        for (int k = 0; k < 3; k++) tri[f][k] = e->face[f][k];
        if (!flatten(e->grad[f], uv[f])) status = tl_fail(err, TL_BAD_INPUT, "springs: face %d has no area", f);
    }
    if (status == TL_OK) {
        list_edges(e, edge, edge_tri);
        const tl_springs_mesh mesh = {.node_count = e->node_count,
                                      .tri_count = e->face_count,
                                      .edge_count = edges,
                                      .tri = (const int32_t(*)[3])tri,
                                      .uv = (const tl_vec2(*)[3])uv,
                                      .label = e->material,
                                      .edge = (const int32_t(*)[2])edge,
                                      .edge_tri = (const int32_t(*)[2])edge_tri,
                                      .fabric = e->materials,
                                      .fabric_count = e->material_count};
        status = tl_springs_set_mesh(d->solver, &mesh, err);
    }
    tl_arena_release(w->ctx.arena, mark);
    return status;
}

static void restart(void *self) { (void)self; }  // nothing is carried over

static void hash(const tl_dynamics_settings *set, tl_hash *hash)
{
    const tl_springs_options *o = &set->springs;
    const double numbers[11] = {o->method,        o->substeps,   o->compression,   o->stiffness,
                                o->bend,          o->damping,    o->bending,       o->max_stretch,
                                o->length_rounds, o->level_rule, set->max_halvings};
    tl_hash_add(hash, numbers, sizeof numbers);
}

// ---- a part of a step -----------------------------------------------------------------------------------------

// The air, and springs of the host; those implicit in the velocity, so that stiff ones do not overshoot.
static void accelerate(const tl_dynamics_world *w, const tl_drive *drive, double dt, tl_vec3 *accel)
{
    const tl_elements *e = w->elements;
    const tl_air_def *in = &w->set.air;
    for (int32_t i = 0; i < w->node_count; i++) {
        accel[i] = (tl_vec3){0, 0, 0};
        if (!drive->pull || !(drive->pull[i] > 0)) continue;
        const tl_vec3 lack = tl_madd3(tl_sub3(drive->pull_to[i], w->x[i]), -dt, w->v[i]);
        accel[i] = tl_mul3(drive->pull[i] / (e->mass[i] + drive->pull[i] * dt * dt), lack);
    }
    tl_springs_air air = {.pressure = 0.5 * in->density * in->drag, .skin = in->skin};
    if (!(air.pressure > 0) && !(air.skin > 0)) return;
    for (int32_t f = 0; f < e->face_count; f++) {
        const int32_t *n = e->face[f];
        const tl_vec3 x[3] = {w->x[n[0]], w->x[n[1]], w->x[n[2]]};
        const tl_vec3 speed = tl_mul3(1.0 / 3, tl_add3(w->v[n[0]], tl_add3(w->v[n[1]], w->v[n[2]])));
        tl_vec3 wind = drive->wind;
        if (drive->eddies)
            wind = tl_add3(wind, tl_eddies_at(drive->eddies, tl_mul3(1.0 / 3, tl_add3(x[0], tl_add3(x[1], x[2])))));
        if (drive->shelter) wind = tl_mul3((double)drive->shelter[f], wind);
        air.density = e->materials[e->material[f]].density;
        const tl_vec3 acc = tl_springs_drag(&air, x, tl_sub3(wind, speed), dt);
        for (int k = 0; k < 3; k++)
            accel[n[k]] = tl_madd3(accel[n[k]], air.density * e->area[f] / (3 * e->mass[n[k]]), acc);
    }
}

static tl_status solve(springs_kind *d, tl_dynamics_world *w, const tl_part *part, tl_part_end *end, tl_error *err)
{
    const int32_t n = w->node_count;
    double(*x)[4] = tl_springs_pos(d->solver), (*v)[4] = tl_springs_vel(d->solver);
    tl_vec3 *accel = TL_SCRATCH(w->ctx.arena, tl_vec3, n), *target = TL_SCRATCH(w->ctx.arena, tl_vec3, n);
    end->x = TL_SCRATCH(w->ctx.arena, tl_vec3, n), end->v = TL_SCRATCH(w->ctx.arena, tl_vec3, n);
    if (!accel || !target || !end->x || !end->v) return tl_fail_memory(err, "a step");
    tl_drive drive;
    TL_TRY(w->drive(w->host, part->begin, part->begin + part->dt, &drive, err));
    for (int32_t i = 0; i < n; i++) {
        memset(x[i], 0, sizeof x[i]), memset(v[i], 0, sizeof v[i]);
        memcpy(x[i], &w->x[i], sizeof w->x[i]), memcpy(v[i], &w->v[i], sizeof w->v[i]);
        target[i] = w->elements->fixed[i] ? drive.target[i] : tl_madd3(w->x[i], part->dt, w->v[i]);
    }
    end->target = target;
    accelerate(w, &drive, part->dt, accel);
    tl_springs_hold(d->solver, w->elements->fixed);
    const int32_t substeps = w->set.springs.substeps;
    const tl_springs_step step = {.dt = part->dt,
                                  .substeps = substeps > 0 ? substeps : tl_springs_substeps(d->solver, part->dt),
                                  .gravity = w->set.gravity,
                                  .accel = accel,
                                  .target = target,
                                  .workers = w->ctx.workers};
    TL_TRY(tl_springs_advance(d->solver, &step, NULL, err));
    for (int32_t i = 0; i < n; i++)
        memcpy(&end->x[i], x[i], sizeof end->x[i]), memcpy(&end->v[i], v[i], sizeof end->v[i]);
    return TL_OK;
}

static tl_status attempt(void *self, tl_dynamics_world *w, const tl_part *part, tl_step_report *report, tl_error *err)
{
    tl_part_end end;
    TL_TRY(solve(self, w, part, &end, err));
    TL_TRY(tl_part_respond(w, part, &end, report, err));
    memcpy(w->x, end.x, (size_t)w->node_count * sizeof *w->x);
    memcpy(w->v, end.v, (size_t)w->node_count * sizeof *w->v);
    *w->begun = false;  // questions about energy compile what they need
    return TL_OK;
}

static tl_status step(void *self, tl_dynamics_world *w, double begin, double dt, tl_step_report *report, tl_error *err)
{
    return tl_step_in_parts(self, attempt, w, begin, dt, report, err);
}

static bool follow(tl_remeshing_kind kind) { return kind == TL_REMESHING_EDGE_TREES || kind == TL_REMESHING_NONE; }

const tl_dynamics tl_dynamics_springs = {
    .name = "springs",
    .promise = "springs at interactive rates, explicit (verlet) or by projection (xpbd); push-out promises nothing, "
               "other responses "
               "what they say",
    .own_contact = true,
    .follows = follow,
    .create = create,
    .destroy = destroy,
    .compile = compile,
    .step = step,
    .restart = restart,
    .hash = hash,
};
