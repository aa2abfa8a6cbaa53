// adapt/sqrt3/sqrt3.c: the kind `sqrt3`: a hierarchy of triangles by the sqrt(3) rule, refined where chords are off the
// surface by more than a length, and joined again where they are not (Li & Volkov 2005).
//
// Curvature alone suppresses small wrinkles (their sec. 5): with `criteria` all, the compression, velocity and obstacle
// terms of the anisotropic sizing field count as well.

#include <math.h>

#include "adapt/adapt.h"
#include "adapt/sqrt3/follow.h"
#include "adapt/sqrt3/hierarchy_impl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"

// What an update may add to the stretching energy beyond what the job grants [J/m^2]: as much as a fall by 25 mm of
// cloth of 0.2 kg/m^2. A cloth at rest grants next to nothing, and could not be refined where it is bent. What is added
// is in short waves, which the implicit solver takes away within a step.
#define ENERGY_FREE 0.05

// ---- the state of a cloth ---------------------------------------------------------------------------------

static void destroy(void *self)
{
    sqrt3_state *s = self;
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    tl_sqrt3_destroy(s->h);
    TL_FREE(&alloc, s->vert, s->vert_cap);
    TL_FREE(&alloc, s->bend, s->bend_cap);
    TL_FREE(&alloc, s, 1);
}

static tl_status fill(sqrt3_state *s, const tl_mesh *mesh, int32_t layers, tl_error *err)
{
    const tl_sqrt3_input input = {.tri = (const int32_t(*)[3])mesh->face_vert,
                                  .node = mesh->vert_node,
                                  .uv = mesh->uv,
                                  .tri_count = mesh->slots[TL_FACES].count,
                                  .vert_count = mesh->slots[TL_VERTS].count,
                                  .node_count = mesh->slots[TL_NODES].count,
                                  .layers = layers};
    TL_TRY(tl_sqrt3_create(&s->alloc, &input, &s->h, err));
    TL_TRY(sqrt3_keep_up(s, 0, err));
    for (int32_t v = 0; v < input.vert_count; v++) s->vert[v] = v;
    return TL_OK;
}

static tl_status create(const tl_allocator *alloc, tl_mesh *mesh, const tl_remeshing *def, void **self, tl_error *err)
{
    *self = NULL;
    sqrt3_state *s = TL_CALLOC(alloc, sqrt3_state, 1);
    if (!s) return tl_fail_memory(err, "the hierarchy");
    s->alloc = *alloc;
    const tl_status status = fill(s, mesh, def->layers, err);
    if (status == TL_OK)
        *self = s;
    else
        destroy(s);
    return status;
}

static tl_status load(tl_mesh *mesh, const tl_remeshing *def, int32_t group_count, const char *data, size_t size,
                      size_t *used, void **self, tl_error *err)
{
    (void)group_count;
    return sqrt3_load(&mesh->alloc, mesh, def->layers, data, size, used, self, err);
}

static void renumber(void *self, const tl_renumbering *map)
{
    sqrt3_state *s = self;
    for (int32_t v = 0; v < s->vert_cap; v++)
        if (s->vert[v] != TL_NONE) s->vert[v] = map->to[TL_VERTS][s->vert[v]];
}

// ---- the criterion ----------------------------------------------------------------------------------------

// Tensors of compression, velocity and obstacles, as an attribute: new vertices get means.
static tl_status measure_field(const tl_adapt_job *job, int32_t *attr, tl_error *err)
{
    const tl_remeshing *d = job->def;
    tl_mesh *mesh = job->mesh;
    *attr = tl_mesh_attr_find(mesh, TL_VERTS, "size");
    if (*attr == TL_NONE) TL_TRY(tl_mesh_attr_add(mesh, TL_VERTS, "size", TL_DOUBLE, 3, TL_ATTR_MEAN, attr, err));
    tl_sizing_def def = tl_sizing_def_default();
    def.curvature = INFINITY, def.velocity = d->velocity, def.compression = d->compression;
    def.size_min = d->size_min, def.size_max = d->size_max, def.aspect_min = 1;
    def.obstacles = d->obstacles != 0 && job->obstacle_count > 0;
    tl_obstacle_plane *planes =
        TL_SCRATCH(job->ctx.arena, tl_obstacle_plane, def.obstacles ? mesh->slots[TL_NODES].count : 0);
    tl_sizing_fabric *fabric = TL_SCRATCH(job->ctx.arena, tl_sizing_fabric, job->material_count);
    if (!planes || !fabric) return tl_fail_memory(err, "the sizing field");
    for (int32_t m = 0; m < job->material_count; m++) fabric[m] = tl_sizing_fabric_of(&job->materials[m]);
    if (def.obstacles)
        TL_TRY(tl_obstacle_planes(mesh, job->obstacles, job->obstacle_count, tl_obstacle_reach(&def),
                                  0.5 * job->thickness, job->ctx.workers, planes, err));
    return tl_sizing_field(mesh, &def, fabric, job->material_count, def.obstacles ? planes : NULL, &job->ctx,
                           (tl_sym2 *)tl_mesh_attr_doubles(mesh, TL_VERTS, *attr), err);
}

static tl_status measure(sqrt3_state *s, const tl_adapt_job *job, sqrt3_criterion *c, tl_error *err)
{
    *c = (sqrt3_criterion){job->def->error, job->def->size_min, job->def->size_max, TL_NONE};
    TL_TRY(sqrt3_measure_bend(s, job->mesh, job->ctx.arena, err));
    if (job->def->criteria == TL_SQRT3_ALL) TL_TRY(measure_field(job, &c->field, err));
    return TL_OK;
}

static bool is_live(const sqrt3_state *s, int32_t layer, int32_t t)
{
    return (tl_sqrt3_at(s->h, layer, t)->flags & TL_SQRT3_LIVE) != 0;
}

// Asked for already, and all there. What was refused is asked for again.
static bool is_whole(const tl_sqrt3_tri *t)
{
    if (!(t->flags & TL_SQRT3_REFINED)) return false;
    for (int32_t e = 0; e < 3; e++)
        if (!tl_sqrt3_is_open(t, e) && !(tl_sqrt3_is_half(t) && tl_sqrt3_is_border(t, e))) return false;
    return true;
}

static bool wants_children(const sqrt3_state *s, const tl_adapt_job *job, const sqrt3_criterion *c, int32_t l,
                           int32_t t, double *size)
{
    if (l + 1 >= s->h->layers || is_whole(tl_sqrt3_at(s->h, l, t))) return false;
    *size = sqrt3_size(s, job->mesh, c, l, t);
    return *size > 1;
}

static bool wants_none(const sqrt3_state *s, const tl_adapt_job *job, const sqrt3_criterion *c, int32_t l, int32_t t)
{
    const tl_sqrt3_tri *tri = tl_sqrt3_at(s->h, l, t);
    const bool asked = tri->flags & TL_SQRT3_REFINED || tri->centre != TL_SQRT3_NONE;
    return asked && sqrt3_size(s, job->mesh, c, l, t) < 1 - job->def->hysteresis;
}

static tl_status look(void *self, const tl_adapt_job *job, bool *wanted, tl_error *err)
{
    sqrt3_state *s = self;
    sqrt3_criterion c;
    *wanted = job->overdue;
    if (*wanted) return TL_OK;
    TL_TRY(measure(s, job, &c, err));
    double size;
    for (int32_t l = 0; l < s->h->layers; l++)
        for (int32_t t = 0; t < s->h->layer[l].count && !*wanted; t++)
            *wanted = is_live(s, l, t) && (wants_children(s, job, &c, l, t, &size) || wants_none(s, job, &c, l, t));
    return TL_OK;
}

// ---- an update --------------------------------------------------------------------------------------------

static tl_status coarsen(sqrt3_state *s, const tl_adapt_job *job, const sqrt3_criterion *c, tl_error *err)
{
    for (int32_t l = s->h->layers - 2; l >= 0; l--)
        for (int32_t t = 0; t < s->h->layer[l].count; t++)
            if (is_live(s, l, t) && wants_none(s, job, c, l, t)) TL_TRY(tl_sqrt3_coarsen(s->h, l, t, err));
    return TL_OK;
}

// Largest first, so that a limit of faces leaves out what matters least.
static tl_status refine_layer(sqrt3_state *s, const tl_adapt_job *job, const sqrt3_criterion *c, int32_t l,
                              tl_remesh_report *report, tl_error *err)
{
    const int32_t slots = s->h->layer[l].count;
    tl_key *keys = TL_SCRATCH(job->ctx.arena, tl_key, slots), *scratch = TL_SCRATCH(job->ctx.arena, tl_key, slots);
    if (!keys || !scratch) return tl_fail_memory(err, "the hierarchy");
    int32_t count = 0;
    for (int32_t t = 0; t < slots; t++) {
        double size;
        if (!is_live(s, l, t) || !wants_children(s, job, c, l, t, &size)) continue;
        keys[count++] = (tl_key){UINT64_MAX - (uint64_t)(1e6 * fmin(size, 1e9)), t};
    }
    tl_sort_keys(keys, scratch, count);
    for (int32_t i = 0; i < count; i++) {
        if (job->def->max_faces > 0 && job->mesh->slots[TL_FACES].live + 2 > job->def->max_faces)
            report->too_long += count - i, i = count;
        else
            TL_TRY(tl_sqrt3_refine(s->h, l, keys[i].id, err));
    }
    return TL_OK;
}

static tl_status update(sqrt3_state *s, const tl_adapt_job *job, const sqrt3_criterion *c, remesher *r, tl_error *err)
{
    sqrt3_follower follower = {s, r, job->def->max_faces};
    TL_TRY(remesh_grow_marks(r, 0, err));
    tl_sqrt3_set_editor(s->h, (tl_sqrt3_editor){sqrt3_apply, &follower});
    tl_status status = coarsen(s, job, c, err);
    for (int32_t l = 0; l + 1 < s->h->layers && status == TL_OK; l++)
        status = refine_layer(s, job, c, l, r->report, err);
    tl_sqrt3_set_editor(s->h, (tl_sqrt3_editor){0});
    return status;
}

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
    sqrt3_state *s = self;
    sqrt3_criterion c;
    tl_remesh_attrs attrs;
    *report = (tl_remesh_report){0};
    TL_TRY(measure(s, job, &c, err));
    TL_TRY(attach(job, &attrs, err));
    double *density = TL_SCRATCH(job->ctx.arena, double, job->material_count);
    tl_sizing_fabric *fabric = TL_SCRATCH(job->ctx.arena, tl_sizing_fabric, job->material_count);
    if (!density || !fabric) return tl_fail_memory(err, "the hierarchy");
    for (int32_t m = 0; m < job->material_count; m++)
        density[m] = job->materials[m].density, fabric[m] = tl_sizing_fabric_of(&job->materials[m]);
    const tl_remesh_def def = {.density = density,
                               .lumping = tl_lumping_of(job->def),
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
    const tl_status status = update(s, job, &c, &r, err);
    if (report->splits + report->flips + report->collapses > 0) {
        tl_vec3 momentum, spin;
        remesh_measure(&r, about, &momentum, &spin);
        report->momentum_drift = tl_sub3(momentum, report->momentum);
        report->spin_drift = tl_sub3(spin, report->spin);
    }
    remesh_release(&r);
    return status;
}

static void hash(const tl_remeshing *d, tl_hash *hash)
{
    const double numbers[13] = {(int)d->kind,
                                d->error,
                                d->layers,
                                (int)d->criteria,
                                d->size_min,
                                d->size_max,
                                d->velocity,
                                d->obstacles,
                                d->hysteresis,
                                d->interval,
                                d->max_faces,
                                d->patience,
                                isnan(d->compression) ? -1 : d->compression};
    tl_hash_add(hash, numbers, sizeof numbers);
}

const tl_adapter tl_adapter_sqrt3 = {
    .name = "sqrt3",
    .promise = "layers of triangles by the sqrt(3) rule, made and removed where chords are off the surface",
    .keeps_clear = true,
    .create = create,
    .destroy = destroy,
    .look = look,
    .change = change,
    .renumber = renumber,
    .save = sqrt3_save,
    .load = load,
    .hash = hash,
};
