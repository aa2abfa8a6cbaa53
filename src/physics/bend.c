// physics/bend.c: folds of faces from angles of hinges, and their stiffness (see bend.h for the equations).

#include "physics/bend.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/vec3.h"
#include "physics/touched.h"

// Relative weight of "no curvature" where the edges at hand leave a direction open (strips one face wide).
#define NOTHING_WEIGHT 1e-6
// The same for the compact stiffness, where it also bounds the stiffness of patches close to a conic.
#define COMPACT_WEIGHT 0.02

enum { HINGES_PER_CHUNK = 2048, FACES_PER_CHUNK = 1024, SHAPES_PER_CHUNK = 256, MAX_EQUATIONS = TL_BORDER_HINGES };

static tl_vec2 corner_uv(const tl_elements *e, int32_t f, int k)
{
    int32_t c = 0;
    const int32_t slot = e->slot_of_face[f];
    while (slot >= e->cloth_face_start[c + 1]) c++;
    const tl_mesh *mesh = e->mesh[c];
    return mesh->uv[mesh->face_vert[slot - e->cloth_face_start[c]][k % 3]];
}

static tl_side side_of(const tl_elements *e, int32_t f, int k)
{
    const tl_vec2 a = corner_uv(e, f, k + 1), b = corner_uv(e, f, k + 2), c = corner_uv(e, f, k);
    const double l = tl_norm2(tl_sub2(b, a));
    const tl_vec2 t = tl_mul2(1 / l, tl_sub2(b, a));
    return (tl_side){t, l, tl_dot2(t, tl_sub2(c, a)), tl_cross2(t, tl_sub2(c, a))};
}

static tl_side side_at(const tl_elements *e, int32_t f, int k) { return e->side ? e->side[f][k] : side_of(e, f, k); }

static bool is_rigid(const tl_elements *e, int32_t f)
{
    return e->fixed[e->face[f][0]] && e->fixed[e->face[f][1]] && e->fixed[e->face[f][2]];
}

static int place_of_hinge(const tl_elements *e, int32_t f, int32_t hinge)
{
    return e->face_hinge[f][0] == hinge ? 0 : e->face_hinge[f][1] == hinge ? 1 : 2;
}

static int32_t face_across(const tl_elements *e, int32_t f, int32_t hinge)
{
    return e->hinge_face[hinge][0] == f ? e->hinge_face[hinge][1] : e->hinge_face[hinge][0];
}

// Equation (2) as a row over (S11, S22, S12) in a frame where the edge runs along t. A rigid face has no fold.
static void fold_row(const tl_elements *e, int32_t f, int k, tl_vec2 t, double row[3])
{
    const tl_side s = side_at(e, f, k);
    double nn = 0.5 * s.h, nt = s.y - 0.5 * s.l, tt = 0.5 * (s.y * s.y - s.l * s.y) / s.h;
    if (is_rigid(e, f)) nn = nt = tt = 0;
    const tl_vec2 n = {-t.y, t.x};
    row[0] = nn * n.x * n.x + nt * n.x * t.x + tt * t.x * t.x;
    row[1] = nn * n.y * n.y + nt * n.y * t.y + tt * t.y * t.y;
    row[2] = 2 * nn * n.x * n.y + nt * (n.x * t.y + n.y * t.x) + 2 * tt * t.x * t.y;
}

// Dihedral angle of hinge k of face f on a quadratic: the folds of both sides. The far side runs along the edge the
// other way, which (2) does not mind: n and t both turn round.
static void angle_row(const tl_elements *e, int32_t f, int k, tl_vec2 t, double row[3])
{
    const int32_t hinge = e->face_hinge[f][k], g = face_across(e, f, hinge);
    double other[3];
    fold_row(e, f, k, t, row);
    fold_row(e, g, place_of_hinge(e, g, hinge), tl_mul2(-1, t), other);
    for (int i = 0; i < 3; i++) row[i] += other[i];
}

// A neighbour's direction d, seen in the frame of f after unfolding about their common hinge.
static tl_vec2 unfold(const tl_elements *e, int32_t f, int k, tl_vec2 d)
{
    const int32_t hinge = e->face_hinge[f][k], g = face_across(e, f, hinge);
    const tl_vec2 here = side_at(e, f, k).t, there = tl_mul2(-1, side_at(e, g, place_of_hinge(e, g, hinge)).t);
    const double c = tl_dot2(there, here), s = tl_cross2(there, here);  // turns `there` onto `here`
    return (tl_vec2){c * d.x - s * d.y, s * d.x + c * d.y};
}

// Maps curvature in the frame in which the face is equilateral, as (S11, S22, sqrt2 S12), to curvature in material
// space, as (S11, S22, S12). Weighing equations in that frame treats stretched meshes like regular ones.
static void equilateral_map(const tl_elements *e, int32_t f, double map[3][3])
{
    const tl_vec2 d1 = tl_sub2(corner_uv(e, f, 1), corner_uv(e, f, 0)),
                  d2 = tl_sub2(corner_uv(e, f, 2), corner_uv(e, f, 0));
    const double root3 = 1.7320508075688772935, root2 = 1.4142135623730950488;
    const tl_vec2 j1 = d1, j2 = tl_mul2(2 / root3, tl_sub2(d2, tl_mul2(0.5, d1)));
    const double det = tl_cross2(j1, j2);
    const double p11 = j2.y / det, p12 = -j2.x / det, p21 = -j1.y / det, p22 = j1.x / det;  // inverse of (j1 j2)
    map[0][0] = p11 * p11, map[0][1] = p21 * p21, map[0][2] = 2 * p11 * p21 / root2;
    map[1][0] = p12 * p12, map[1][1] = p22 * p22, map[1][2] = 2 * p12 * p22 / root2;
    map[2][0] = p11 * p12, map[2][1] = p21 * p22, map[2][2] = (p11 * p22 + p21 * p12) / root2;
}

static void to_frame(const double row[3], double map[3][3], double out[3])
{
    for (int j = 0; j < 3; j++) out[j] = row[0] * map[0][j] + row[1] * map[1][j] + row[2] * map[2][j];
}

static void invert_symmetric(double a[3][3], double out[3][3])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            out[i][j] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
        }
    const double det = a[0][0] * out[0][0] + a[0][1] * out[0][1] + a[0][2] * out[0][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[i][j] /= det;
}

/// Equations gathered around one edge: hinges and their angle rows, in the equilateral frame of face f.
typedef struct gather {
    double map[3][3];
    int count;
    int32_t hinge[MAX_EQUATIONS];
    double row[MAX_EQUATIONS][3], size[MAX_EQUATIONS];
} gather;

static void add_equation(const tl_elements *e, gather *g, int32_t f, int k, tl_vec2 t)
{
    for (int i = 0; i < g->count; i++)
        if (g->hinge[i] == e->face_hinge[f][k]) return;
    double row[3];
    angle_row(e, f, k, t, row);
    const int at = g->count++;
    g->hinge[at] = e->face_hinge[f][k];
    to_frame(row, g->map, g->row[at]);
    g->size[at] = sqrt(g->row[at][0] * g->row[at][0] + g->row[at][1] * g->row[at][1] + g->row[at][2] * g->row[at][2]);
}

// The other hinges of f, and of the neighbour across hinge k, if there.
static void add_others(const tl_elements *e, gather *g, int32_t f, int skip)
{
    for (int k = 0; k < 3; k++)
        if (k != skip && e->face_hinge[f][k] >= 0) add_equation(e, g, f, k, side_at(e, f, k).t);
}

static void add_across(const tl_elements *e, gather *g, int32_t f, int k)
{
    const int32_t hinge = e->face_hinge[f][k], across = face_across(e, f, hinge);
    const int back = place_of_hinge(e, across, hinge);
    for (int j = 0; j < 3; j++)
        if (j != back && e->face_hinge[across][j] >= 0)
            add_equation(e, g, across, j, unfold(e, f, k, side_at(e, across, j).t));
}

// The smallest change of `beta` (each counted against the size of its angle) that makes sum_j beta_j row_j = wanted.
static void meet(const gather *g, const double wanted[3], double *beta)
{
    double normal[3][3] = {{NOTHING_WEIGHT, 0, 0}, {0, NOTHING_WEIGHT, 0}, {0, 0, NOTHING_WEIGHT}}, inverse[3][3];
    double missing[3] = {wanted[0], wanted[1], wanted[2]}, x[3];
    for (int r = 0; r < g->count; r++) {
        if (!(g->size[r] > 0)) continue;
        const double w = 1 / (g->size[r] * g->size[r]);
        for (int i = 0; i < 3; i++) {
            missing[i] -= beta[r] * g->row[r][i];
            for (int j = 0; j < 3; j++) normal[i][j] += w * g->row[r][i] * g->row[r][j];
        }
    }
    invert_symmetric(normal, inverse);
    for (int i = 0; i < 3; i++)
        x[i] = inverse[i][0] * missing[0] + inverse[i][1] * missing[1] + inverse[i][2] * missing[2];
    for (int r = 0; r < g->count; r++)
        if (g->size[r] > 0)
            beta[r] += (g->row[r][0] * x[0] + g->row[r][1] * x[1] + g->row[r][2] * x[2]) / (g->size[r] * g->size[r]);
}

static void update_hinge(tl_elements *e, int32_t h)
{
    const int32_t f = e->hinge_face[h][0], g = e->hinge_face[h][1];
    const int k = e->hinge_place[h][0], m = e->hinge_place[h][1];
    double beta[MAX_EQUATIONS] = {0};
    memset(e->beta[h], 0, sizeof e->beta[h]);
    const double h1 = is_rigid(e, f) ? 0 : side_at(e, f, k).h, h2 = is_rigid(e, g) ? 0 : side_at(e, g, m).h;
    e->beta[h][0] = (float)(e->bending == TL_BEND_HINGE || h1 + h2 == 0 ? 0.5 : h1 / (h1 + h2));
    if (e->bending == TL_BEND_HINGE || h1 == 0 || h2 == 0) return;
    gather eq = {.count = 0};
    double wanted[3], row[3];
    equilateral_map(e, f, eq.map);
    add_equation(e, &eq, f, k, side_at(e, f, k).t);
    add_others(e, &eq, f, k);
    add_across(e, &eq, f, k);
    fold_row(e, f, k, side_at(e, f, k).t, row);
    to_frame(row, eq.map, wanted);
    beta[0] = (double)e->beta[h][0];
    meet(&eq, wanted, beta);
    e->beta[h][0] = (float)beta[0];
    for (int r = 1; r < eq.count; r++)
        for (int j = 0; j < 4; j++)
            if (e->near_hinge[h][j] == eq.hinge[r]) {
                e->beta[h][1 + j] = (float)beta[r];
                break;
            }
}

static void update_border(tl_elements *e, tl_border *b)
{
    memset(b->beta, 0, sizeof b->beta);
    b->count = 0;
    if (e->bending == TL_BEND_HINGE || is_rigid(e, b->face)) return;
    gather eq = {.count = 0};
    double wanted[3], row[3];
    equilateral_map(e, b->face, eq.map);
    add_others(e, &eq, b->face, b->place);
    for (int k = 0; k < 3; k++)
        if (e->face_hinge[b->face][k] >= 0) add_across(e, &eq, b->face, k);
    fold_row(e, b->face, b->place, side_at(e, b->face, b->place).t, row);
    to_frame(row, eq.map, wanted);
    meet(&eq, wanted, b->beta);
    b->count = eq.count;
    memcpy(b->hinge, eq.hinge, sizeof b->hinge);
}

// The matrix's share of a face, over the angles of its own hinges: the curvature that fits those (at most three)
// angles on a quadratic, by regularised least squares. This is the element of Phaal & Calladine 1992; alone it would
// be too soft on some meshes (by half on alternating diagonals), but its stiffness is close to ours, and it keeps the
// matrix to patches of six nodes. The rest of the Hessian is an operator (bend_operator.h).
static void update_fit(tl_elements *e, int32_t f)
{
    gather eq = {.count = 0};
    double normal[3][3] = {{COMPACT_WEIGHT, 0, 0}, {0, COMPACT_WEIGHT, 0}, {0, 0, COMPACT_WEIGHT}}, inverse[3][3];
    double(*fit)[3] = e->fit[f];
    memset(fit, 0, sizeof e->fit[f]);
    equilateral_map(e, f, eq.map);
    add_others(e, &eq, f, -1);
    for (int r = 0; r < eq.count; r++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (eq.size[r] > 0) normal[i][j] += eq.row[r][i] * eq.row[r][j] / (eq.size[r] * eq.size[r]);
    invert_symmetric(normal, inverse);
    for (int r = 0; r < eq.count; r++) {
        if (!(eq.size[r] > 0)) continue;
        double s[3];
        for (int i = 0; i < 3; i++)
            s[i] = (inverse[i][0] * eq.row[r][0] + inverse[i][1] * eq.row[r][1] + inverse[i][2] * eq.row[r][2]) /
                   (eq.size[r] * eq.size[r]);
        const int k = place_of_hinge(e, f, eq.hinge[r]);
        for (int i = 0; i < 3; i++) fit[k][i] = eq.map[i][0] * s[0] + eq.map[i][1] * s[1] + eq.map[i][2] * s[2];
    }
}

static void hinges_chunk(void *arg, int32_t begin, int32_t end)
{
    for (int32_t h = begin; h < end; h++) update_hinge(arg, h);
}

static void borders_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t i = begin; i < end; i++) update_border(e, &e->border[i]);
}

static void fits_chunk(void *arg, int32_t begin, int32_t end)
{
    for (int32_t f = begin; f < end; f++) update_fit(arg, f);
}

static void sides_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t f = begin; f < end; f++)
        for (int k = 0; k < 3; k++) e->side[f][k] = side_of(e, f, k);
}

// Every side is asked for a dozen times. Without memory for them they are found every time.
void tl_bend_update_folds(tl_elements *e, tl_workers *workers)
{
    tl_side(*side)[3] = tl_alloc_bytes(&e->alloc, (size_t)e->face_count, sizeof *side);
    e->side = side;
    if (side) tl_parallel_for(workers, e->face_count, SHAPES_PER_CHUNK, sides_chunk, e);
    tl_parallel_for(workers, e->hinge_count, SHAPES_PER_CHUNK, hinges_chunk, e);
    tl_parallel_for(workers, e->border_count, SHAPES_PER_CHUNK, borders_chunk, e);
    if (e->bending != TL_BEND_HINGE) tl_parallel_for(workers, e->face_count, SHAPES_PER_CHUNK, fits_chunk, e);
    e->side = NULL;
    TL_FREE(&e->alloc, side, e->face_count);
}

// ---- folds and moments ----

typedef struct fold_job {
    const tl_elements *e;
    const double *value;
    double (*fold)[3];
    double *moment;
} fold_job;

static void fold_chunk(void *arg, int32_t begin, int32_t end)
{
    const fold_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h++) {
        if (TL_AT_REST(e, fold, h)) continue;
        double left = (double)e->beta[h][0] * job->value[h];
        for (int j = 0; j < 4; j++)
            if (e->near_hinge[h][j] >= 0) left += (double)e->beta[h][1 + j] * job->value[e->near_hinge[h][j]];
        job->fold[e->hinge_face[h][0]][e->hinge_place[h][0]] = left;
        job->fold[e->hinge_face[h][1]][e->hinge_place[h][1]] = job->value[h] - left;
    }
}

void tl_bend_folds(const tl_elements *e, const double *value, double (*out)[3], tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, fold_chunk, &(fold_job){e, value, out, NULL});
    for (int32_t i = 0; i < e->border_count; i++) {
        const tl_border *b = &e->border[i];
        if (TL_AT_REST(e, face, b->face)) continue;
        double sum = 0;
        for (int r = 0; r < b->count; r++) sum += b->beta[r] * value[b->hinge[r]];
        out[b->face][b->place] = sum;
    }
}

// Moment of a hinge: that of its right fold, plus its part in the left fold of itself and of the hinges near it,
// each of which takes from the right fold what it gives to the left.
static void moment_chunk(void *arg, int32_t begin, int32_t end)
{
    const fold_job *job = arg;
    const tl_elements *e = job->e;
    for (int32_t h = begin; h < end; h++) {
        if (TL_AT_REST(e, angle, h)) continue;
        const double right = job->fold[e->hinge_face[h][1]][e->hinge_place[h][1]];
        double sum = right + (double)e->beta[h][0] * (job->fold[e->hinge_face[h][0]][e->hinge_place[h][0]] - right);
        for (int j = 0; j < 4; j++) {
            const int32_t o = e->near_hinge[h][j];
            if (o >= 0 && e->back[h][j] < 4)
                sum += (double)e->beta[o][1 + e->back[h][j]] * (job->fold[e->hinge_face[o][0]][e->hinge_place[o][0]] -
                                                                job->fold[e->hinge_face[o][1]][e->hinge_place[o][1]]);
        }
        job->moment[h] = sum;
    }
}

void tl_bend_moments(const tl_elements *e, double (*fold_moment)[3], double *out, tl_workers *workers)
{
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, moment_chunk, &(fold_job){e, NULL, fold_moment, out});
    for (int32_t i = 0; i < e->border_count; i++) {
        const tl_border *b = &e->border[i];
        if (TL_AT_REST(e, face, b->face)) continue;
        for (int r = 0; r < b->count; r++) out[b->hinge[r]] += b->beta[r] * fold_moment[b->face][b->place];
    }
}

// ---- stiffness ----

// Equation (1) per fold: l n n^T / A = 2 g g^T / |g| with g the gradient of the far corner's basis function.
static void curvature_per_fold(const tl_elements *e, int32_t f, double out[3][3])
{
    const double *d = e->grad[f];
    const tl_vec2 g[3] = {{-(d[0] + d[2]), -(d[1] + d[3])}, {d[0], d[1]}, {d[2], d[3]}};
    for (int k = 0; k < 3; k++) {
        const double w = 2 / tl_norm2(g[k]);
        out[k][0] = w * g[k].x * g[k].x, out[k][1] = w * g[k].y * g[k].y, out[k][2] = w * g[k].x * g[k].y;
    }
}

void tl_bend_curvature(const tl_elements *e, int32_t f, double out[3])
{
    double per_fold[3][3];
    curvature_per_fold(e, f, per_fold);
    for (int i = 0; i < 3; i++)
        out[i] = per_fold[0][i] * e->fold[f][0] + per_fold[1][i] * e->fold[f][1] + per_fold[2][i] * e->fold[f][2];
}

static double spectral_radius(const double s[3])
{
    const double mean = 0.5 * (s[0] + s[1]), half = 0.5 * (s[0] - s[1]);
    return fabs(mean) + sqrt(half * half + s[2] * s[2]);
}

static double plate_product(const tl_plate *b, const double p[3], const double q[3])
{
    return b->b11 * p[0] * q[0] + b->b22 * p[1] * q[1] + b->b12 * (p[0] * q[1] + p[1] * q[0]) +
           4 * b->b66 * p[2] * q[2];
}

static const int8_t PAIR[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};

static void shape_stiffness(tl_elements *e, int32_t f)
{
    double s[3], c[3][3];
    tl_bend_curvature(e, f, s);
    curvature_per_fold(e, f, c);
    const tl_plate b = tl_material_plate(&e->materials[e->material[f]], spectral_radius(s));
    const double area = is_rigid(e, f) ? 0 : e->area[f];
    for (int k = 0; k < 6; k++) e->bend[f][k] = (float)(area * plate_product(&b, c[PAIR[k][0]], c[PAIR[k][1]]));
}

// Hinge energy k l^2 angle^2 / (8 (A0 + A1)) with k = 4 B (measured-fabric convention), half to each face, whose fold
// is half the angle; the softer side's rigidity counts.
static void hinge_stiffness(tl_elements *e, int32_t f)
{
    memset(e->bend[f], 0, sizeof e->bend[f]);
    for (int k = 0; k < 3; k++) {
        const int32_t hinge = e->face_hinge[f][k];
        if (hinge < 0) continue;
        const int32_t g = face_across(e, f, hinge);
        const tl_side s1 = side_at(e, f, k), s2 = side_at(e, g, place_of_hinge(e, g, hinge));
        const double area = e->area[f] + e->area[g];
        const double curvature = 2 * e->fold[f][k] * s1.l / area;
        const double b = fmin(tl_material_rigidity(&e->materials[e->material[f]], s1.t.x, s1.t.y, curvature),
                              tl_material_rigidity(&e->materials[e->material[g]], s2.t.x, s2.t.y, curvature));
        e->bend[f][k] = (float)(2 * (4 * b) * s1.l * s1.l / (4 * area));
    }
}

static void compact_stiffness(tl_elements *e, int32_t f)
{
    if (e->bending == TL_BEND_HINGE) {  // folds are half the angle
        for (int k = 0; k < 6; k++) e->bend_own[f][k] = 0.25f * e->bend[f][k];
        return;
    }
    const double(*fit)[3] = (const double(*)[3])e->fit[f];
    double now[3];
    tl_bend_curvature(e, f, now);
    const tl_plate b = tl_material_plate(&e->materials[e->material[f]], spectral_radius(now));
    const double area = is_rigid(e, f) ? 0 : e->area[f];
    for (int k = 0; k < 6; k++) e->bend_own[f][k] = (float)(area * plate_product(&b, fit[PAIR[k][0]], fit[PAIR[k][1]]));
}

static void fold_stiffness(tl_elements *e, int32_t f)
{
    if (e->bending == TL_BEND_HINGE)
        hinge_stiffness(e, f);
    else
        shape_stiffness(e, f);
}

static void stiffness_chunk(void *arg, int32_t begin, int32_t end)
{
    for (int32_t f = begin; f < end; f++) fold_stiffness(arg, f), compact_stiffness(arg, f);
}

static void fold_stiffness_chunk(void *arg, int32_t begin, int32_t end)
{
    for (int32_t f = begin; f < end; f++) fold_stiffness(arg, f);
}

/// What one hinge alone does to the folds of the faces around it.
typedef struct fold_share {
    int32_t face;
    double fold[3];
} fold_share;
enum { MOST_SHARES = 10 };

static void add_fold(fold_share share[MOST_SHARES], int *count, int32_t f, int place, double value)
{
    int i = 0;
    while (i < *count && share[i].face != f) i++;
    if (i == *count) share[(*count)++] = (fold_share){f, {0, 0, 0}};
    share[i].fold[place] += value;
}

// Diagonal entry of the exact stiffness over angles, borders apart.
static double exact_diagonal(const tl_elements *e, int32_t h)
{
    fold_share share[MOST_SHARES];
    int count = 0;
    const double own = (double)e->beta[h][0];
    add_fold(share, &count, e->hinge_face[h][0], e->hinge_place[h][0], own);
    add_fold(share, &count, e->hinge_face[h][1], e->hinge_place[h][1], 1 - own);
    for (int j = 0; j < 4; j++) {
        const int32_t o = e->near_hinge[h][j];
        if (o < 0 || e->back[h][j] >= 4) continue;
        const double other = (double)e->beta[o][1 + e->back[h][j]];
        add_fold(share, &count, e->hinge_face[o][0], e->hinge_place[o][0], other);
        add_fold(share, &count, e->hinge_face[o][1], e->hinge_place[o][1], -other);
    }
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const float *m = e->bend[share[i].face];
        const double *a = share[i].fold;
        sum += (double)m[0] * a[0] * a[0] + (double)m[1] * a[1] * a[1] + (double)m[2] * a[2] * a[2] +
               2 * ((double)m[3] * a[1] * a[2] + (double)m[4] * a[0] * a[2] + (double)m[5] * a[0] * a[1]);
    }
    return sum;
}

// The compact stiffness of a hinge must not be far below the exact one: updates would overshoot there, and the line
// search would hold up the whole cloth for its sake. On meshes of long faces one hinge in thirty is, some a hundred
// times.
#define FAR_BELOW 2.0

static void stiffen_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t h = begin; h < end; h++) {
        float *half[2];
        for (int s = 0; s < 2; s++) half[s] = &e->bend_own[e->hinge_face[h][s]][e->hinge_place[h][s]];
        const double exact = exact_diagonal(e, h) + e->moment[h], compact = (double)*half[0] + (double)*half[1];
        if (!(exact > FAR_BELOW * compact)) continue;
        for (int s = 0; s < 2; s++) *half[s] += (float)(0.5 * (exact - compact));
    }
}

// Borders take part through the folds that are extrapolated to them.
static void border_diagonals(const tl_elements *e, double *out)
{
    memset(out, 0, (size_t)e->hinge_count * sizeof *out);
    for (int32_t i = 0; i < e->border_count; i++) {
        const tl_border *b = &e->border[i];
        for (int r = 0; r < b->count; r++)
            out[b->hinge[r]] += (double)e->bend[b->face][b->place] * b->beta[r] * b->beta[r];
    }
}

void tl_bend_update_stiffness(tl_elements *e, tl_workers *workers)
{
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, stiffness_chunk, e);
    if (e->bending == TL_BEND_HINGE) return;  // exact as it is
    border_diagonals(e, e->moment);           // a work array
    tl_parallel_for(workers, e->hinge_count, HINGES_PER_CHUNK, stiffen_chunk, e);
}

void tl_bend_update_energy(tl_elements *e, tl_workers *workers)
{
    tl_parallel_for(workers, e->face_count, FACES_PER_CHUNK, fold_stiffness_chunk, e);
}
