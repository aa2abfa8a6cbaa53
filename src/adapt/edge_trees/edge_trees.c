// adapt/edge_trees/edge_trees.c: the kind `edge-trees` under the implicit dynamics: edges are halved where the cloth
// bends or is pushed together, and joined again, and nothing passes through anything (Simnett 2012, ch. 3; follow.c).
//
// Springs keep a hierarchy of their own (sim/spring_cloth.h) and never come here. The hierarchy is made at the first
// look, of the mesh as it is then.

#include <math.h>
#include <string.h>

#include "adapt/edge_trees/criteria.h"
#include "adapt/edge_trees/follow.h"
#include "adapt/edge_trees/settings.h"
#include "adapt/edge_trees/trees_impl.h"
#include "base/alloc.h"
#include "base/fail.h"

// What an update may add to the stretching energy beyond what the job grants [J/m^2], as of the kind sqrt3: a cloth at
// rest grants next to nothing and could not be refined where it is bent.
#define ENERGY_FREE 0.1

// ---- the state of a cloth -------------------------------------------------------------------------------------

static void destroy(void *self)
{
    trees_state *s = self;
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    tl_trees_destroy(s->trees);
    TL_FREE(&alloc, s->node, s->node_cap);
    TL_FREE(&alloc, s->wish, s->wish_cap);
    TL_FREE(&alloc, s, 1);
}

static tl_status create(const tl_allocator *alloc, tl_mesh *mesh, const tl_remeshing *def, void **self, tl_error *err)
{
    (void)mesh, (void)def;
    trees_state *s = TL_CALLOC(alloc, trees_state, 1);
    *self = s;
    if (!s) return tl_fail_memory(err, "edge trees");
    s->alloc = *alloc;
    return TL_OK;
}

static tl_status make_trees(trees_state *s, const tl_adapt_job *job, tl_error *err)
{
    const tl_mesh *mesh = job->mesh;
    const int32_t count = mesh->slots[TL_FACES].count, nodes = mesh->slots[TL_NODES].count;
    if (count != mesh->slots[TL_FACES].live || nodes != mesh->slots[TL_NODES].live)
        return tl_fail(err, TL_BAD_ARG, "edge trees: the mesh has been changed and has gaps");
    int32_t(*tri)[3] = tl_arena_bytes(job->ctx.arena, (size_t)count, sizeof *tri);
    tl_vec2(*uv)[3] = tl_arena_bytes(job->ctx.arena, (size_t)count, sizeof *uv);
    if (!tri || !uv) return tl_fail_memory(err, "edge trees");
    for (int32_t f = 0; f < count; f++)
        for (int k = 0; k < 3; k++) tri[f][k] = tl_face_node(mesh, f, k), uv[f][k] = mesh->uv[mesh->face_vert[f][k]];
    const tl_trees_def def = {
        .tri = (const int32_t(*)[3])tri, .uv = (const tl_vec2(*)[3])uv, .tri_count = count, .vert_count = nodes};
    tl_trees *trees;
    TL_TRY(tl_trees_create(&s->alloc, &def, &trees, err));
    s->trees = trees;
    const tl_status status = trees_keep_up(s, 0, err);
    if (status != TL_OK) {
        s->trees = NULL;
        tl_trees_destroy(trees);
        return status;
    }
    for (int32_t n = 0; n < nodes; n++) s->node[n] = n;
    return TL_OK;
}

static void renumber(void *self, const tl_renumbering *map)
{
    trees_state *s = self;
    for (int32_t v = 0; v < s->node_cap; v++)
        if (s->node[v] != TL_NONE) s->node[v] = map->to[TL_NODES][s->node[v]];
}

// ---- what is wanted -------------------------------------------------------------------------------------------

static tl_trees_rules rules_of(const tl_remeshing *d)
{
    tl_trees_rules r = tl_trees_rules_default();
    r.mask = TL_TREES_BY_LENGTH | TL_TREES_BY_CURVATURE | TL_TREES_WHOLE;
    r.max_level = r.collision_level = d->levels;
    r.split_angle = d->curvature, r.join_angle = d->curvature * (1 - d->hysteresis);
    r.split_length = d->split_length, r.join_length = d->join_length;
    r.rejoin_wait = d->rejoin_wait;
    tl_trees_more_rules(d, &r);
    return r;
}

// Places and unit normals by vertex id.
static tl_status see(const trees_state *s, const tl_adapt_job *job, tl_vec3 **pos, tl_vec3 **normal, tl_error *err)
{
    const tl_mesh *mesh = job->mesh;
    const int32_t slots = tl_trees_count(s->trees).vert_slots, nodes = mesh->slots[TL_NODES].count;
    *pos = TL_SCRATCH(job->ctx.arena, tl_vec3, slots), *normal = TL_SCRATCH(job->ctx.arena, tl_vec3, slots);
    tl_vec3 *sum = TL_SCRATCH(job->ctx.arena, tl_vec3, nodes);
    if (!*pos || !*normal || !sum) return tl_fail_memory(err, "edge trees");
    memset(sum, 0, (size_t)nodes * sizeof *sum);
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        int32_t n[3];
        for (int k = 0; k < 3; k++) n[k] = tl_face_node(mesh, f, k);
        const tl_vec3 *x = mesh->pos,
                      twice = tl_cross3(tl_sub3(x[n[1]], x[n[0]]), tl_sub3(x[n[2]], x[n[0]]));  // weighted by area
        for (int k = 0; k < 3; k++) sum[n[k]] = tl_add3(sum[n[k]], twice);
    }
    for (int32_t v = 0; v < slots; v++) {
        const int32_t n = s->node[v];
        (*pos)[v] = n == TL_NONE ? (tl_vec3){0, 0, 0} : mesh->pos[n];
        (*normal)[v] = n == TL_NONE ? (tl_vec3){0, 1, 0} : tl_unit3_or(sum[n], (tl_vec3){0, 1, 0});
    }
    return TL_OK;
}

static tl_status look(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err)
{
    trees_state *s = self;
    if (!s->trees) TL_TRY(make_trees(s, job, err));
    const tl_trees_rules rules = rules_of(job->def);
    tl_vec3 *pos, *normal;
    TL_TRY(see(s, job, &pos, &normal, err));
    const int32_t slots = tl_trees_count(s->trees).edge_slots;
    if (!TL_GROW(&s->alloc, s->wish, s->wish_cap, slots)) return tl_fail_memory(err, "edge trees");
    int32_t splits;
    TL_TRY(tl_trees_decide(s->trees, &rules, &(tl_trees_sight){.pos = pos, .normal = normal}, job->ctx.workers, &splits,
                           err));
    s->wish_count = tl_trees_wishes(s->trees, s->wish);
    *wanted = s->wish_count > 0;
    return TL_OK;
}

// ---- an update ------------------------------------------------------------------------------------------------

static tl_status attach(const tl_adapt_job *job, tl_remesh_attrs *out, tl_error *err)
{
    tl_mesh *mesh = job->mesh;
    tl_adapt_groups groups;
    TL_TRY(tl_adapt_attach_groups(mesh, job->group_count, &groups, err));
    int32_t mass = tl_mesh_attr_find(mesh, TL_NODES, "mass");
    if (mass == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_NODES, "mass", TL_DOUBLE, 1, TL_ATTR_ZERO, &mass, err));
    *out = (tl_remesh_attrs){.size = TL_NONE,
                             .turned = TL_NONE,
                             .churn = TL_NONE,
                             .clearance = TL_NONE,
                             .rest = tl_mesh_rest_find(mesh),
                             .mass = mass,
                             .held = groups.held,
                             .listed = groups.listed};
    return TL_OK;
}

static tl_status change(void *self, const tl_adapt_job *job, tl_remesh_report *report, tl_error *err)
{
    trees_state *s = self;
    tl_remesh_attrs attrs;
    *report = (tl_remesh_report){0};
    TL_TRY(attach(job, &attrs, err));
    double *density = TL_SCRATCH(job->ctx.arena, double, job->material_count);
    tl_sizing_fabric *fabric = TL_SCRATCH(job->ctx.arena, tl_sizing_fabric, job->material_count);
    if (!density || !fabric) return tl_fail_memory(err, "edge trees");
    for (int32_t m = 0; m < job->material_count; m++)
        density[m] = job->materials[m].density, fabric[m] = tl_sizing_fabric_of(&job->materials[m]);
    const tl_remesh_def def = {.density = density,
                               .fabric = fabric,
                               .energy = job->energy,
                               .guard = job->guard,
                               .renew_clearance = job->renew_clearance,
                               .measure_clearance = job->measure_clearance,
                               .renew_self = job->host,
                               .workers = job->ctx.workers,
                               .line_groups = job->line_groups};
    remesher r = {.mesh = job->mesh,
                  .policy = &tl_remesh_policy_default,
                  .attrs = attrs,
                  .def = &def,
                  .report = report,
                  .groups = job->mesh->slots[TL_NODES].attrs[attrs.held].width,
                  .energy_left = job->energy + ENERGY_FREE * tl_mesh_area_uv(job->mesh)};
    const tl_vec3 about = remesh_centre(job->mesh);
    remesh_measure(&r, about, &report->momentum, &report->spin);
    const tl_status status = trees_follow(&(trees_follower){s, &r, job->def->max_faces}, err);
    if (report->splits + report->flips + report->collapses > 0) {
        tl_vec3 momentum, spin;
        remesh_measure(&r, about, &momentum, &spin);
        report->momentum_drift = tl_sub3(momentum, report->momentum);
        report->spin_drift = tl_sub3(spin, report->spin);
    }
    remesh_release(&r);
    return status;
}

// ---- bytes ----------------------------------------------------------------------------------------------------
//
// Whether there is a hierarchy; if so, its pools, and the node of each vertex id.

static size_t save(const void *self, const tl_mesh *mesh, char *out)
{
    (void)mesh;
    const trees_state *s = self;
    const int32_t slots = s->trees ? tl_trees_count(s->trees).vert_slots : TL_NONE;
    if (out) memcpy(out, &slots, sizeof slots);
    size_t at = sizeof slots;
    if (!s->trees) return at;
    at += tl_trees_write_bytes(s->trees, out ? out + at : NULL);
    if (out) memcpy(out + at, s->node, (size_t)slots * sizeof *s->node);
    return at + (size_t)slots * sizeof *s->node;
}

static tl_status damaged(tl_error *err) { return tl_fail(err, TL_BAD_INPUT, "saved state: edge trees are damaged"); }

// Every leaf of the hierarchy is a face of the mesh, and there are no others.
static bool fits_mesh(const trees_state *s, const tl_mesh *mesh)
{
    const tl_trees_counts n = tl_trees_count(s->trees);
    for (int32_t v = 0; v < n.vert_slots; v++) {
        const bool live = tl_trees_vert_at(s->trees, v)->live;
        if (live != (s->node[v] >= 0) || s->node[v] >= mesh->slots[TL_NODES].count) return false;
        if (live && !tl_alive(mesh, TL_NODES, s->node[v])) return false;
    }
    int32_t leaves = 0;
    for (int32_t i = 0; i < n.tri_slots; i++) {
        const tl_trees_tri *t = tl_trees_tri_at(s->trees, i);
        if (!(t->flags & TL_TREES_TRI_LIVE) || t->config != 0) continue;
        leaves++;
        for (int k = 0; k < 3; k++)
            if (tl_mesh_find_edge(mesh, s->node[t->vert[k]], s->node[t->vert[(k + 1) % 3]]) == TL_NONE) return false;
    }
    return leaves == mesh->slots[TL_FACES].live;
}

static tl_status load(tl_mesh *mesh, const tl_remeshing *def, int32_t group_count, const char *data, size_t size,
                      size_t *used, void **self, tl_error *err)
{
    (void)group_count;
    int32_t slots;
    TL_TRY(create(&mesh->alloc, mesh, def, self, err));
    trees_state *s = *self;
    if (size < sizeof slots) return damaged(err);
    memcpy(&slots, data, sizeof slots);
    *used = sizeof slots;
    if (slots == TL_NONE) return TL_OK;
    size_t bytes;
    TL_TRY(tl_trees_create(&s->alloc, &(tl_trees_def){.tri_count = 0}, &s->trees, err));
    TL_TRY(tl_trees_read_bytes(s->trees, data + *used, size - *used, &bytes, err));
    *used += bytes;
    if (slots != tl_trees_count(s->trees).vert_slots || (size - *used) / sizeof *s->node < (size_t)slots)
        return damaged(err);
    TL_TRY(trees_keep_up(s, 0, err));
    memcpy(s->node, data + *used, (size_t)slots * sizeof *s->node);
    *used += (size_t)slots * sizeof *s->node;
    return fits_mesh(s, mesh) ? TL_OK : damaged(err);
}

static void hash(const tl_remeshing *d, tl_hash *hash)
{
    const double numbers[13] = {(int)d->kind,       d->levels,      d->curvature,       d->hysteresis, d->split_length,
                                d->join_length,     d->rejoin_wait, d->max_faces,       d->interval,   (int)d->ties,
                                d->obstacle_levels, d->always_join, d->length_per_level};
    tl_hash_add(hash, numbers, sizeof numbers);
    if (d->sag > 0) tl_hash_add(hash, &d->sag, sizeof d->sag);
}

const tl_adapter tl_adapter_edge_trees = {
    .name = "edge-trees",
    .promise = "edges are halved and joined again, level by level",
    .keeps_clear = true,
    .create = create,
    .destroy = destroy,
    .look = look,
    .change = change,
    .renumber = renumber,
    .save = save,
    .load = load,
    .hash = hash,
};
