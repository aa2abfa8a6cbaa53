// adapt/anisotropic/sizing.c: the sizing field: tensors of the faces from the state of the cloth, their means at the
// vertices.
//
// Narain, Samii & O'Brien 2012, Sec. 4.2, Eq. 4 to 13. Gradients are those of the linear element: with the edges d1, d2
// of a face in material space, q_x = (y2 dq1 - y1 dq2) / det and q_y = (x1 dq2 - x2 dq1) / det. Every face and every
// vertex gathers what it needs and writes its own slot, so the bits agree on any number of workers. O(V + F).

#include "adapt/anisotropic/sizing.h"

#include "base/fail.h"
#include "mesh/mesh_query.h"
#include "adapt/anisotropic/sizing_impl.h"

#define DEFINITE 1e-9  // part of a tensor added to it so that it has an inverse; of no consequence to sizes

enum { SLOTS_PER_CHUNK = 512 };  // a constant: results must not depend on the worker count

tl_sizing_def tl_sizing_def_default(void)
{
    return (tl_sizing_def){.curvature = 0.15,
                           .velocity = 0.7,
                           .compression = (double)NAN,
                           .size_min = 0.015,
                           .size_max = 0.2,
                           .aspect_min = 0.1,
                           .narrowing = true,
                           .edge_angles = false,
                           .obstacles = true,
                           .blend = TL_SIZING_MAX};
}

static tl_status check_def(const tl_sizing_def *d, tl_error *err)
{
    if (!(d->curvature > 0)) return tl_fail(err, TL_BAD_ARG, "sizing: curvature %g, must be > 0", d->curvature);
    if (!(d->velocity > 0)) return tl_fail(err, TL_BAD_ARG, "sizing: velocity %g m/s, must be > 0", d->velocity);
    if (d->compression <= 0)
        return tl_fail(err, TL_BAD_ARG, "sizing: compression %g m, must be > 0 (or NAN: from the fabrics)",
                       d->compression);
    if (!(d->size_min > 0)) return tl_fail(err, TL_BAD_ARG, "sizing: size_min %g m, must be > 0", d->size_min);
    if (!(d->size_max >= d->size_min && d->size_max < HUGE_VAL))
        return tl_fail(err, TL_BAD_ARG, "sizing: size_max %g m, must be finite and >= size_min %g m", d->size_max,
                       d->size_min);
    if (!(d->aspect_min > 0 && d->aspect_min <= 1))
        return tl_fail(err, TL_BAD_ARG, "sizing: aspect_min %g, must be in (0, 1]", d->aspect_min);
    if (!(d->rib_stiffening >= 0 && d->rib_stiffening < HUGE_VAL))
        return tl_fail(err, TL_BAD_ARG, "sizing: rib_stiffening %g, must be >= 0", d->rib_stiffening);
    if (d->blend != TL_SIZING_SUM && d->blend != TL_SIZING_MAX)
        return tl_fail(err, TL_BAD_ARG, "sizing: blend %d, must be TL_SIZING_SUM or TL_SIZING_MAX", (int)d->blend);
    return TL_OK;
}

tl_sym2 tl_sizing_clamp(const tl_sizing_def *def, tl_sym2 m)
{
    const size_bounds bounds = sizing_bounds(def);
    return sizing_clamp(&bounds, m);
}

typedef struct sizing_job {
    const tl_mesh *mesh;
    size_bounds bounds;
    tl_sizing_blend blend;
    double curvature, velocity;      // 1 / limit^2, 0: off
    double compression;              // likewise; NAN: by the stress in the fabric
    const tl_sizing_fabric *fabric;  // per label
    double slack;                    // compression whose wrinkles turn the normal by less than the curvature limit
    double tilt;                     // against the tangent plane of an obstacle that is never held against a face
    const node_shape *node;
    const face_shape *shape;
    bool edge_angles;
    bool by_stress;                  // compression that a pull across it does not explain
    double rib;                      // rib_stiffening / its part of Eq. 8
    const uint8_t *creased;          // per node; NULL: no creases
    double crease_angle;             // rest angle from which on a seam or feature line is one
    const tl_vec3 *spin;             // per panel
    const tl_obstacle_plane *plane;  // per node; NULL: none
    face_size *face;
    tl_sym2 *out;
} sizing_job;

// ---- normals at creases -----------------------------------------------------------------------------------

// A seam or feature line that rests at an angle is a ridge that the mesh holds exactly: its normals need not be smooth
// across. Elsewhere all faces of a node, of all panels, share one normal: cloth bends at a seam as it does beside it.
static bool is_crease(const tl_mesh *mesh, int32_t e, double angle)
{
    if (!(fabs(mesh->edge_rest[e]) > angle)) return false;
    const tl_edge_kind kind = tl_mesh_edge_kind(mesh, e);
    return kind == TL_EDGE_SEAM || kind == TL_EDGE_FEATURE;
}

static bool mark_creases(const tl_mesh *mesh, double angle, uint8_t *creased)
{
    bool any = false;
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) creased[n] = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e) || !is_crease(mesh, e, angle)) continue;
        creased[mesh->edge_node[e][0]] = creased[mesh->edge_node[e][1]] = 1;
        any = true;
    }
    return any;
}

// Max 1999, as in mesh_normals.c.
static tl_vec3 add_corner_normal(const tl_mesh *mesh, int32_t f, int32_t k, tl_vec3 sum)
{
    const tl_vec3 x = mesh->pos[tl_face_node(mesh, f, k)];
    const tl_vec3 a = tl_sub3(mesh->pos[tl_face_node(mesh, f, (k + 1) % 3)], x);
    const tl_vec3 b = tl_sub3(mesh->pos[tl_face_node(mesh, f, (k + 2) % 3)], x);
    const double weight = tl_dot3(a, a) * tl_dot3(b, b);
    return weight > 0 ? tl_madd3(sum, 1 / weight, tl_cross3(a, b)) : sum;
}

// Over the faces around the node that can be reached from `f` without crossing a crease, in their order around it.
static tl_vec3 sector_normal(const sizing_job *job, int32_t f, int32_t k)
{
    const tl_mesh *mesh = job->mesh;
    int32_t first = f, at = k;
    for (int32_t corner;;) {
        if (is_crease(mesh, mesh->face_edge[first][(at + 2) % 3], job->crease_angle)) break;
        const int32_t before = sizing_turn(mesh, first, at, 2, &corner);
        if (before == TL_NONE || before == f) break;
        first = before, at = corner;
    }
    tl_vec3 sum = {0};
    for (int32_t g = first, corner = at;;) {
        sum = add_corner_normal(mesh, g, corner, sum);
        if (is_crease(mesh, mesh->face_edge[g][(corner + 1) % 3], job->crease_angle)) break;
        g = sizing_turn(mesh, g, corner, 1, &corner);
        if (g == TL_NONE || g == first) break;
    }
    return tl_unit3_or(sum, job->node[tl_face_node(mesh, f, k)].normal);
}

static tl_vec3 normal_at(const sizing_job *job, int32_t f, int32_t k, int32_t node)
{
    return job->creased && job->creased[node] ? sector_normal(job, f, k) : job->node[node].normal;
}

// ---- faces ------------------------------------------------------------------------------------------------

/// A face in material space: its edges from corner 0, and 1 / det of them.
typedef struct element {
    tl_vec2 d1, d2;
    double inverse;
} element;
typedef struct gradient {
    tl_vec3 x, y;
} gradient;  // derivatives along material x and y

static gradient gradient_of(const element *e, tl_vec3 q0, tl_vec3 q1, tl_vec3 q2)
{
    const tl_vec3 a = tl_mul3(e->inverse, tl_sub3(q1, q0)), b = tl_mul3(e->inverse, tl_sub3(q2, q0));
    return (gradient){{e->d2.y * a.x - e->d1.y * b.x, e->d2.y * a.y - e->d1.y * b.y, e->d2.y * a.z - e->d1.y * b.z},
                      {e->d1.x * b.x - e->d2.x * a.x, e->d1.x * b.y - e->d2.x * a.y, e->d1.x * b.z - e->d2.x * a.z}};
}

static tl_sym2 gram(const gradient *g)
{
    return (tl_sym2){tl_dot3(g->x, g->x), tl_dot3(g->x, g->y), tl_dot3(g->y, g->y)};
}

static tl_sym2 blend(const sizing_job *job, tl_sym2 sum, double scale, tl_sym2 term)
{
    return job->blend == TL_SIZING_SUM ? tl_sym2_madd(sum, scale, term) : tl_sym2_max(sum, tl_sym2_scale(scale, term));
}

// Eq. 9 for one corner. The plane may be crossed by a face that turns towards it by no more than `tilt`, however near:
// so does cloth that lies on a curved body and is as fine as the curvature term wants it (docs/remeshing.md).
static tl_sym2 corner_obstacle(const sizing_job *job, const tl_obstacle_plane *p, const gradient *f, tl_vec2 a,
                               tl_vec2 b)
{
    const tl_vec2 g = {tl_dot3(p->normal, f->x), tl_dot3(p->normal, f->y)};
    const double slope2 = tl_dot2(g, g);
    if (!(slope2 > 0) || !(p->distance < HUGE_VAL)) return (tl_sym2){0};
    const double da = tl_dot2(g, a), db = tl_dot2(g, b), drop2 = da * da > db * db ? da * da : db * db;
    const double floor2 = job->tilt * job->tilt * drop2 / slope2, phi2 = p->distance * p->distance;
    const double scale = 1 / (phi2 > floor2 ? phi2 : floor2);
    return (tl_sym2){scale * g.x * g.x, scale * g.x * g.y, scale * g.y * g.y};
}

static tl_sym2 obstacle_term(const sizing_job *job, const int32_t n[3], const element *e, const gradient *f)
{
    const tl_vec2 d12 = tl_sub2(e->d2, e->d1);
    tl_sym2 sum = corner_obstacle(job, &job->plane[n[0]], f, e->d1, e->d2);
    sum = tl_sym2_add(sum, corner_obstacle(job, &job->plane[n[1]], f, e->d1, d12));
    return tl_sym2_scale(1.0 / 3, tl_sym2_add(sum, corner_obstacle(job, &job->plane[n[2]], f, e->d2, d12)));
}

// Minus the membrane stress [N/m] at F^T F = c (docs/physics.md), the compression less by what is not worth it.
static tl_sym2 pressure(const tl_sizing_fabric *f, tl_sym2 c, double slack)
{
    const double e11 = 0.5 * (1 - c.xx) - slack, e22 = 0.5 * (1 - c.yy) - slack, e12 = -0.5 * c.xy;
    return (tl_sym2){f->c11 * e11 + f->c12 * e22, 0.5 * f->c33 * e12, f->c12 * e11 + f->c22 * e22};
}

// Curvature from the turns of the normal d at the edges, each across its edge: S = 1/(2A) sum d l n n^T with n the unit
// normal of the edge and l its length in material space, the shape operator that has all its bending in the edges; S S
// is the tensor.
static tl_sym2 edge_curvature(const sizing_job *job, int32_t f, const int32_t n[3], const element *e)
{
    const tl_mesh *mesh = job->mesh;
    const tl_vec2 edge[3] = {tl_sub2(e->d2, e->d1), e->d2, e->d1};  // opposite to corners 0, 1, 2; signs do not matter
    const tl_vec3 own = job->shape[f].normal;
    tl_sym2 s = {0};
    for (int k = 0; k < 3; k++) {
        const int32_t id = mesh->face_edge[f][k], g = mesh->edge_face[id][mesh->edge_face[id][0] == f];
        if (g == TL_NONE || (job->creased && is_crease(mesh, id, job->crease_angle))) continue;
        const int32_t *there = mesh->face_edge[g];
        const int32_t far = tl_face_node(mesh, g, there[0] == id ? 0 : there[1] == id ? 1 : 2);
        const double height =
            tl_dot3(own, tl_sub3(mesh->pos[far], mesh->pos[n[k == 0]]));  // of the other face: valley or ridge
        const tl_vec3 d = tl_sub3(job->shape[g].normal, own);
        const double turn = height < 0 ? -tl_norm3(d) : tl_norm3(d), length = tl_norm2(edge[k]);
        const double scale = turn * e->inverse / length;  // 2 A = 1 / inverse; n n^T l = (-y, x) (-y, x)^T / l
        s = tl_sym2_add(
            s, (tl_sym2){scale * edge[k].y * edge[k].y, -scale * edge[k].x * edge[k].y, scale * edge[k].x * edge[k].x});
    }
    return (tl_sym2){s.xx * s.xx + s.xy * s.xy, s.xy * (s.xx + s.yy), s.xy * s.xy + s.yy * s.yy};
}

// At most `a` and at most `b` in every direction.
static tl_sym2 lesser(tl_sym2 a, tl_sym2 b)
{
    return tl_sym2_positive(tl_sym2_madd(a, -1, tl_sym2_positive(tl_sym2_madd(a, -1, b))));
}

// Eq. 8, or with rib_stiffening r the form of Narain, Pfaff & O'Brien 2013: with e = F^T F - 1, c = c_max and P = r
// times the curvature tensor turned by 90 degrees, (-e + sqrt(e^2 - 4 c^2 P)) / (2 c^2). Without curvature both are |e|
// / c^2. The result here is to be divided by c^2; `bend` is the curvature tensor, job->rib is r c^2.
static tl_sym2 squeeze(const sizing_job *job, int32_t f, tl_sym2 c, tl_sym2 bend)
{
    tl_sym2 e = {1 - c.xx, -c.xy, 1 - c.yy};  // -e above
    if (job->by_stress)
        e = lesser(tl_sym2_positive(e), tl_sizing_pressed(job->fabric[job->mesh->face_label[f]].material, c));
    if (!(job->rib > 0)) return tl_sym2_positive(e);
    const tl_sym2 square = {e.xx * e.xx + e.xy * e.xy, e.xy * (e.xx + e.yy), e.xy * e.xy + e.yy * e.yy};
    const tl_sym2 under = tl_sym2_madd(square, -4 * job->rib, (tl_sym2){bend.yy, -bend.xy, bend.xx});
    double l[2];
    tl_sym2_eigen(under, l);
    const double root[2] = {l[0] > 0 ? sqrt(l[0]) : 0, l[1] > 0 ? sqrt(l[1]) : 0};
    return tl_sym2_positive(tl_sym2_scale(0.5, tl_sym2_add(e, tl_sym2_with(under, l, root))));
}

// Curvature tensor of the face [1/m^2], not yet divided by the limit; by the maximum if it is measured twice.
static tl_sym2 curvature_of(const sizing_job *job, int32_t f, const int32_t n[3], const element *e)
{
    const gradient g =
        gradient_of(e, normal_at(job, f, 0, n[0]), normal_at(job, f, 1, n[1]), normal_at(job, f, 2, n[2]));
    const tl_sym2 smooth = gram(&g);
    if (!job->edge_angles) return smooth;
    const tl_sym2 sharp = edge_curvature(job, f, n, e);
    const double least = DEFINITE * (smooth.xx + smooth.yy + sharp.xx + sharp.yy);
    return least > 0 ? tl_sym2_max(tl_sym2_add(smooth, (tl_sym2){least, 0, least}), sharp) : smooth;
}

static tl_sym2 compression_term(const sizing_job *job, int32_t f, tl_sym2 m, tl_sym2 c, tl_sym2 bend)
{
    if (isnan(job->compression)) {
        const tl_sizing_fabric *fabric = &job->fabric[job->mesh->face_label[f]];
        return blend(job, m, fabric->wrinkle, tl_sym2_positive(pressure(fabric, c, job->slack)));
    }
    return job->compression > 0 ? blend(job, m, job->compression, squeeze(job, f, c, bend)) : m;
}

static face_size size_of_face(const sizing_job *job, int32_t f)
{
    const tl_mesh *mesh = job->mesh;
    const int32_t *v = mesh->face_vert[f];
    const int32_t n[3] = {mesh->vert_node[v[0]], mesh->vert_node[v[1]], mesh->vert_node[v[2]]};
    element e = {tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]), 0};
    const double det = tl_cross2(e.d1, e.d2), low = job->bounds.low;
    e.inverse = 1 / det;
    const gradient x = gradient_of(&e, mesh->pos[n[0]], mesh->pos[n[1]], mesh->pos[n[2]]);
    const tl_sym2 bend = job->curvature > 0 ? curvature_of(job, f, n, &e) : (tl_sym2){0};
    tl_sym2 m = job->blend == TL_SIZING_SUM ? (tl_sym2){0} : (tl_sym2){low, 0, low};
    if (job->curvature > 0) m = blend(job, m, job->curvature, bend);
    if (job->velocity > 0) {
        gradient g = gradient_of(&e, mesh->vel[n[0]], mesh->vel[n[1]], mesh->vel[n[2]]);
        const tl_vec3 spin = job->spin[mesh->face_panel[f]];
        g.x = tl_sub3(g.x, tl_cross3(spin, x.x)), g.y = tl_sub3(g.y, tl_cross3(spin, x.y));
        m = blend(job, m, job->velocity, gram(&g));
    }
    m = compression_term(job, f, m, gram(&x), bend);
    if (job->plane) m = blend(job, m, 1, obstacle_term(job, n, &e, &x));
    return (face_size){sizing_clamp(&job->bounds, m), 0.5 * det};
}

static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    const sizing_job *job = arg;
    for (int32_t f = begin; f < end; f++)
        job->face[f] = tl_alive(job->mesh, TL_FACES, f) ? size_of_face(job, f) : (face_size){{0}, 0};
}

// ---- vertices ---------------------------------------------------------------------------------------------

static tl_sym2 size_of_vert(const sizing_job *job, int32_t v)
{
    face_size sum = {{0}, 0};
    ring r = ring_begin(job->mesh, v);
    for (; r.face != TL_NONE; ring_next(job->mesh, &r)) {
        const face_size *f = &job->face[r.face];
        sum.m = tl_sym2_madd(sum.m, f->area, f->m);
        sum.area += f->area;
    }
    return r.seam ? tl_sizing_at_seam(job->mesh, job->face, v) : tl_sym2_scale(1 / sum.area, sum.m);
}

static void vert_chunk(void *arg, int32_t begin, int32_t end)
{
    const sizing_job *job = arg;
    for (int32_t v = begin; v < end; v++)
        job->out[v] =
            tl_alive(job->mesh, TL_VERTS, v) ? sizing_clamp(&job->bounds, size_of_vert(job, v)) : (tl_sym2){0};
}

// ---- all of it --------------------------------------------------------------------------------------------

static tl_status check_fabrics(const tl_mesh *mesh, const tl_sizing_fabric *fabrics, int32_t count, bool by_stress,
                               tl_error *err)
{
    for (int32_t k = 0; k < count && fabrics && by_stress; k++)
        if (!fabrics[k].material) return tl_fail(err, TL_BAD_ARG, "sizing: fabric %d has no material", k);
    for (int32_t k = 0; k < count && fabrics; k++)
        if (!(fabrics[k].wrinkle >= 0))
            return tl_fail(err, TL_BAD_ARG, "sizing: wrinkle of fabric %d %g, must be >= 0", k, fabrics[k].wrinkle);
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        const int32_t label = mesh->face_label[f];
        if (label < 0 || label >= count || !fabrics)
            return tl_fail(err, TL_BAD_ARG, "sizing: face %d has label %d, there are %d fabrics", f, label,
                           fabrics ? count : 0);
    }
    return TL_OK;
}

static tl_status prepare(sizing_job *job, const tl_sizing_def *def, const tl_ctx *ctx, tl_error *err)
{
    const tl_mesh *mesh = job->mesh;
    node_shape *node = TL_SCRATCH(ctx->arena, node_shape, mesh->slots[TL_NODES].count);
    face_shape *shape = TL_SCRATCH(ctx->arena, face_shape, mesh->slots[TL_FACES].count);
    uint8_t *creased = TL_SCRATCH(ctx->arena, uint8_t, mesh->slots[TL_NODES].count);
    tl_vec3 *spin = TL_SCRATCH(ctx->arena, tl_vec3, mesh->panel_count);
    if (!node || !shape || !creased || !spin) return tl_fail_memory(err, "the sizing field");
    tl_sizing_shapes(mesh, ctx->workers, shape, node);
    job->node = node, job->shape = shape;
    job->crease_angle = def->curvature;  // less than that an edge may turn anyway
    if (job->curvature > 0 && mark_creases(mesh, job->crease_angle, creased)) job->creased = creased;
    if (job->velocity > 0) TL_TRY(tl_sizing_spins(mesh, node, ctx->arena, spin, err));
    job->spin = spin;
    return TL_OK;
}

static tl_status compute(sizing_job *job, const tl_sizing_def *def, const tl_ctx *ctx, tl_error *err)
{
    const tl_mesh *mesh = job->mesh;
    if (job->curvature > 0 || job->velocity > 0) TL_TRY(prepare(job, def, ctx, err));
    job->face = TL_SCRATCH(ctx->arena, face_size, mesh->slots[TL_FACES].count);
    if (!job->face) return tl_fail_memory(err, "the sizing field");
    tl_parallel_for(ctx->workers, mesh->slots[TL_FACES].count, SLOTS_PER_CHUNK, face_chunk, job);
    tl_parallel_for(ctx->workers, mesh->slots[TL_VERTS].count, SLOTS_PER_CHUNK, vert_chunk, job);
    return TL_OK;
}

tl_status tl_sizing_field(const tl_mesh *mesh, const tl_sizing_def *def, const tl_sizing_fabric *fabrics,
                          int32_t label_count, const tl_obstacle_plane *nodes, const tl_ctx *ctx, tl_sym2 *out,
                          tl_error *err)
{
    TL_TRY(check_def(def, err));
    if (!out) return tl_fail(err, TL_BAD_ARG, "sizing: out is NULL (%d vertices)", mesh->slots[TL_VERTS].count);
    if (isnan(def->compression) || !def->narrowing)
        TL_TRY(check_fabrics(mesh, fabrics, label_count, !def->narrowing, err));
    const double turn = def->curvature < HUGE_VAL ? def->curvature : tl_sizing_def_default().curvature;
    sizing_job job = {
        .mesh = mesh,
        .bounds = sizing_bounds(def),
        .blend = def->blend,
        .edge_angles = def->edge_angles,
        .by_stress = !def->narrowing,
        .rib = def->compression < HUGE_VAL ? def->rib_stiffening * def->compression * def->compression : 0,
        .curvature = 1 / (def->curvature * def->curvature),
        .velocity = 1 / (def->velocity * def->velocity),
        .compression = 1 / (def->compression * def->compression),
        .fabric = fabrics,
        .slack = turn * turn / 16,
        .tilt = 0.5 * turn,
        .plane = def->obstacles ? nodes : NULL,
        .out = out,
    };
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const tl_status status = compute(&job, def, ctx, err);
    tl_arena_release(ctx->arena, mark);
    return status;
}
