// dynamics/baraff_witkin/system.c: faces, hinges and single nodes into matrix and right side.
//
// A face answers for its own conditions and for the hinges that it lies left of: all within its patch (elements.h), so
// chunks of one colour run at once and every sum has one order.

#include "dynamics/baraff_witkin/system.h"

#include <math.h>
#include <string.h>

#include "dynamics/baraff_witkin/conditions.h"
#include "math/bsr_row.h"
#include "math/vec3.h"
#include "physics/scatter.h"

enum { NODES_PER_CHUNK = 512 };

/// What one face adds, over the nodes of its patch.
typedef struct patch {
    int32_t node[TL_PATCH_NODES];
    bool used[TL_PATCH_NODES];
    tl_vec3 force[TL_PATCH_NODES];
    // 9 numbers a pair, the upper triangle; stiffness -df/dx, damping -df/dv
    double stiff[TL_PATCH_BLOCKS][9], damp[TL_PATCH_BLOCKS][9];
    double energy;
} patch;

static int block(int a, int b) { return a * TL_PATCH_NODES - a * (a - 1) / 2 + (b - a); }

// ---- a face ----

static void add_block(double *out, double s, const double *m, bool turned)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out[3 * i + j] += s * m[turned ? 3 * j + i : 3 * i + j];
}

static void face_conditions(const bw_system *s, int32_t f, patch *p)
{
    const tl_elements *e = s->elements;
    const bw_fabric fabric = bw_fabric_of(e, f);
    const double *g = e->grad[f];
    const double gx[3] = {-(g[0] + g[2]), g[0], g[2]}, gy[3] = {-(g[1] + g[3]), g[1], g[3]};
    tl_vec3 wu = {0, 0, 0}, wv = {0, 0, 0};
    for (int i = 0; i < 3; i++) wu = tl_madd3(wu, gx[i], s->x[p->node[i]]), wv = tl_madd3(wv, gy[i], s->x[p->node[i]]);
    bw_face d;
    bw_face_at(&fabric, e->area[f], wu, wv, s->whole, &d);
    p->energy += d.energy;
    for (int i = 0; i < 3; i++) {
        p->force[i] = tl_madd3(tl_madd3(p->force[i], -gx[i], d.u), -gy[i], d.v);
        for (int j = i; j < 3; j++) {
            double *stiff = p->stiff[block(i, j)], *damp = p->damp[block(i, j)];
            add_block(stiff, gx[i] * gx[j], d.uu, false), add_block(stiff, gy[i] * gy[j], d.vv, false);
            add_block(stiff, gx[i] * gy[j], d.uv, false), add_block(stiff, gy[i] * gx[j], d.uv, true);
            if (!(fabric.damping > 0)) continue;
            const double t = fabric.damping;
            add_block(damp, t * gx[i] * gx[j], d.damp_uu, false), add_block(damp, t * gy[i] * gy[j], d.damp_vv, false);
            add_block(damp, t * gx[i] * gy[j], d.damp_uv, false), add_block(damp, t * gy[i] * gx[j], d.damp_uv, true);
        }
    }
}

static void hinge_condition(const bw_system *s, int32_t f, int k, patch *p)
{
    const tl_elements *e = s->elements;
    const int32_t h = e->face_hinge[f][k];
    // places in the patch of edge nodes, own far corner and the one across
    int at[4] = {(k + 1) % 3, (k + 2) % 3, k, 3 + k};
    if (p->node[at[0]] != e->hinge[h][0]) at[0] = (k + 2) % 3, at[1] = (k + 1) % 3;
    tl_vec3 g[4];
    bw_hinge_gradient(s->jacobian[h], g);
    const double stiff = bw_hinge_stiffness(e, h), c = e->angle[h] - e->rest[h];
    const double damping = stiff * e->materials[e->material[f]].damping_bend;
    p->energy += 0.5 * stiff * c * c;
    p->used[3 + k] = true;
    for (int i = 0; i < 4; i++) {
        p->force[at[i]] = tl_madd3(p->force[at[i]], -stiff * c, g[i]);
        const double gi[3] = {g[i].x, g[i].y, g[i].z};
        for (int j = 0; j < 4; j++) {
            if (at[j] < at[i]) continue;
            const double gj[3] = {g[j].x, g[j].y, g[j].z};
            double *to = p->stiff[block(at[i], at[j])], *damp = p->damp[block(at[i], at[j])];
            for (int r = 0; r < 9; r++)
                to[r] += stiff * gi[r / 3] * gj[r % 3], damp[r] += damping * gi[r / 3] * gj[r % 3];
        }
    }
}

// Drag by the area and normal at the beginning, a third to each corner: as the implicit kind has it (forces_terms.h).
static void face_air(const bw_system *s, int32_t f, patch *p)
{
    const tl_elements *e = s->elements;
    const tl_step_def *d = s->def;
    tl_vec3 drift = d->wind;
    if (d->eddies)
        drift = tl_add3(drift, (tl_vec3){(double)e->eddy[f][0], (double)e->eddy[f][1], (double)e->eddy[f][2]});
    if (d->shelter) drift = tl_mul3((double)d->shelter[f], drift);
    for (int i = 0; i < 3; i++) drift = tl_madd3(drift, -1.0 / 3, s->v[p->node[i]]);
    const tl_vec3 w = {(double)e->wind[f][0], (double)e->wind[f][1], (double)e->wind[f][2]};
    const double area = tl_norm3(w);
    if (!(area > 0)) return;
    const tl_vec3 n = tl_mul3(1 / area, w);
    const double vn = tl_dot3(n, drift), press = d->pressure * area, skin = d->skin * area;
    const tl_vec3 across = tl_madd3(drift, -vn, n);
    for (int i = 0; i < 3; i++) {
        p->force[i] = tl_madd3(tl_madd3(p->force[i], press * fabs(vn) * vn / 3, n), skin / 3, across);
        for (int j = i; j < 3; j++) {
            double *damp = p->damp[block(i, j)];
            add_block(damp, skin / 9, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, false);
            const double q = (2 * press * fabs(vn) - skin) / 9, nn[3] = {n.x, n.y, n.z};
            for (int r = 0; r < 9; r++) damp[r] += q * nn[r / 3] * nn[r % 3];
        }
    }
}

static tl_vec3 times(const double *m, bool turned, tl_vec3 v)
{
    return turned ? (tl_vec3){m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                              m[2] * v.x + m[5] * v.y + m[8] * v.z}
                  : (tl_vec3){m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                              m[6] * v.x + m[7] * v.y + m[8] * v.z};
}

/// to_a += s M_ab v_b and, off the diagonal, to_b += s M_ba v_a, over the pairs of a patch.
static void add_product(const patch *p, double s, const double (*m)[9], const tl_vec3 *v, tl_vec3 *to)
{
    for (int a = 0; a < TL_PATCH_NODES; a++)
        for (int b = a; p->used[a] && b < TL_PATCH_NODES; b++) {
            if (!p->used[b]) continue;
            to[a] = tl_madd3(to[a], s, times(m[block(a, b)], false, v[p->node[b]]));
            if (b > a) to[b] = tl_madd3(to[b], s, times(m[block(a, b)], true, v[p->node[a]]));
        }
}

static void gather_face(const bw_system *s, int32_t f, patch *p)
{
    const tl_elements *e = s->elements;
    memset(p, 0, sizeof *p);
    for (int k = 0; k < TL_PATCH_NODES; k++) p->node[k] = e->face[f][k], p->used[k] = k < 3;
    face_conditions(s, f, p);
    for (int k = 0; k < 3; k++) {
        const int32_t h = e->face_hinge[f][k];
        if (h >= 0 && e->hinge_face[h][0] == f && e->hinge_place[h][0] == k) hinge_condition(s, f, k, p);
    }
    add_product(p, -1, (const double(*)[9])p->damp, s->v, p->force);  // along the conditions alone
    if (s->def->pressure > 0 || s->def->skin > 0) face_air(s, f, p);
}

// ---- all ----

static void store_matrix(const bw_system *s, int32_t f, const patch *p)
{
    const tl_elements *e = s->elements;
    const double h = s->dt;
    for (int a = 0; a < TL_PATCH_NODES; a++)
        for (int b = a; p->used[a] && b < TL_PATCH_NODES; b++) {
            if (!p->used[b]) continue;
            const double *stiff = p->stiff[block(a, b)], *damp = p->damp[block(a, b)];
            double sum[9];
            for (int r = 0; r < 9; r++) sum[r] = h * damp[r] + h * h * stiff[r];
            const int32_t slot = a == b ? -1 : e->slot[f][tl_patch_pair(a, b)];
            const bool both = slot >= 0 && (slot & 3) == TL_SLOT_BOTH;  // two places of a patch are one node
            if (a != b && slot >= 0 && !both) scatter_block(s->matrix, p->node[a], p->node[b], slot, sum);
            if (a != b && !both) continue;
            double *diagonal = tl_bsr_diagonal(s->matrix, p->node[a]);
            for (int r = 0; r < 9; r++) diagonal[r] += sum[r] + (both ? sum[3 * (r % 3) + r / 3] : 0);
        }
}

/// Chunks of one colour.
typedef struct face_job {
    const bw_system *s;
    const int32_t *chunks;
    tl_vec3 *out;    ///< right side, or forces
    double *energy;  ///< one a chunk; NULL: not asked for
} face_job;

static void face_chunk(void *arg, int32_t first, int32_t last)
{
    const face_job *job = arg;
    const bw_system *s = job->s;
    const tl_elements *e = s->elements;
    for (int32_t c = first; c < last; c++) {
        const int32_t begin = job->chunks[c] * TL_CHUNK_FACES;
        const int32_t end = e->face_count - begin < TL_CHUNK_FACES ? e->face_count : begin + TL_CHUNK_FACES;
        double sum = 0;
        for (int32_t f = begin; f < end; f++) {
            patch p;
            gather_face(s, f, &p);
            sum += p.energy;
            if (s->matrix) {
                // h (f + h df/dx v)
                add_product(&p, -s->dt, (const double(*)[9])p.stiff, s->v, p.force);
                store_matrix(s, f, &p);
            }
            for (int a = 0; a < TL_PATCH_NODES; a++)
                if (p.used[a]) job->out[p.node[a]] = tl_madd3(job->out[p.node[a]], s->matrix ? s->dt : 1, p.force[a]);
        }
        if (job->energy) job->energy[job->chunks[c]] = sum;
    }
}

/// Weight, springs of handles and, in the matrix, masses.
static void node_chunk(void *arg, int32_t begin, int32_t end)
{
    const face_job *job = arg;
    const bw_system *s = job->s;
    const tl_elements *e = s->elements;
    const tl_step_def *d = s->def;
    const double h = s->dt;
    for (int32_t i = begin; i < end; i++) {
        const double pull = d->pull ? d->pull[i] : 0;
        tl_vec3 f = tl_mul3(e->mass[i], d->gravity);
        if (pull > 0) f = tl_madd3(f, -pull, tl_sub3(s->x[i], d->pull_to[i]));
        if (!s->matrix) {
            job->out[i] = f;
            continue;
        }
        job->out[i] = tl_mul3(h, tl_madd3(f, -h * pull, s->v[i]));
        double *diagonal = tl_bsr_diagonal(s->matrix, i);
        memset(diagonal, 0, 9 * sizeof *diagonal);
        for (int k = 0; k < 3; k++) diagonal[4 * k] = e->mass[i] + h * h * pull;
        for (int32_t k = s->matrix->row_start[i] + 1; k < s->matrix->row_start[i + 1]; k++)
            memset(s->matrix->value[k], 0, sizeof s->matrix->value[k]);
    }
}

static void run(bw_system *s, tl_vec3 *out, double *energy, tl_workers *workers)
{
    tl_elements *e = s->elements;
    tl_forces_angles(e, s->x, workers);
    tl_forces_angle_jacobian(e, s->x, s->jacobian, workers);
    face_job job = {s, NULL, out, energy};
    tl_parallel_for(workers, e->node_count, NODES_PER_CHUNK, node_chunk, &job);
    for (int32_t c = 0; c < e->color_count; c++) {
        job.chunks = e->color_chunk + e->color_start[c];
        tl_parallel_for(workers, e->color_start[c + 1] - e->color_start[c], 1, face_chunk, &job);
    }
}

void bw_assemble(bw_system *s, tl_workers *workers) { run(s, s->right, NULL, workers); }

void bw_forces(bw_system *s, tl_vec3 *force, double *energy, tl_workers *workers)
{
    bw_system forces = *s;
    forces.matrix = NULL;
    run(&forces, force, energy, workers);
}
