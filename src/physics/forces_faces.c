// physics/forces_faces.c: the sums over faces: eight at a time are loaded, computed (forces_terms.h) and added to what
// they act on.
//
// Chunks of one colour write disjoint nodes; the order of colours, chunks and faces fixes the order of every sum.
// The Hessian of eight faces comes as 21 blocks of eight lanes; blocks are turned in registers, so that each face can
// add its own four numbers at a time, and where the matrix is large what they are added to is asked for before they are
// computed.

#include <string.h>

#include "math/vec3.h"
#include "physics/bend_friction.h"
#include "physics/forces_terms.h"
#include "physics/scatter.h"
#include "physics/touched.h"

_Static_assert((int)LANES == (int)TL_TOUCHED_GROUP, "loops pass over what they would take at once");
enum { FETCH_FROM = 100000 };  // blocks: a smaller matrix is in the cache anyway

typedef struct face_job {
    tl_elements *e;
    const tl_step_def *step;
    const tl_vec3 *x;
    tl_bsr *matrix;     // NULL: no Hessian
    tl_vec3 *gradient;  // NULL: energy only
    const int32_t *chunks;
    double (*energy)[TL_FACE_ENERGIES];  // per chunk
} face_job;

static void load_patch(const face_job *job, int32_t begin, int32_t end, patch *p)
{
    const tl_elements *e = job->e;
    const tl_step_def *step = job->step;
    const bool air = step->pressure > 0 || step->skin > 0;
    p->count = end - begin < LANES ? end - begin : LANES;
    for (int l = 0; l < LANES; l++) {
        const int32_t f = begin + (l < p->count ? l : p->count - 1);  // idle lanes repeat the last face
        p->face[l] = f;
        for (int i = 0; i < TL_PATCH_NODES; i++) {
            const tl_vec3 x = job->x[e->face[f][i]];
            p->x[i][0][l] = x.x, p->x[i][1][l] = x.y, p->x[i][2][l] = x.z;
        }
        for (int i = 0; i < 4; i++) p->grad[i][l] = e->grad[f][i], p->stretch[i][l] = e->stretch[f][i];
        const float *bend = job->gradient ? e->bend_own[f] : e->bend[f];
        for (int i = 0; i < 6; i++) p->bend[i][l] = (double)bend[i];
        p->area[l] = e->area[f];
        const tl_material *m = &e->materials[e->material[f]];
        p->visc_stretch[l] = e->damped ? m->damping_stretch * step->gamma : 0;
        p->visc_bend[l] = e->damped ? m->damping_bend * step->gamma : 0;
        const tl_bend_friction rub = e->damped ? tl_bend_friction_of(e, f, step->gamma) : (tl_bend_friction){0, 0};
        p->rub[l] = rub.energy;
        if (job->gradient) p->visc_bend[l] += rub.weight;
        for (int i = 0; i < 3; i++) {
            const int32_t h = e->face_hinge[f][i];
            p->strain_hat[i][l] = e->damped ? e->strain_hat[f][i] : 0;
            if (job->gradient) {
                p->moment[i][l] = h < 0 ? 0 : 0.5 * e->moment[h];
            } else {
                p->fold[i][l] = e->fold[f][i];
                p->fold_rate[i][l] = e->damped ? e->fold_rate[f][i] : 0;
            }
        }
        if (!air) continue;
        tl_vec3 hat = {0, 0, 0};
        for (int i = 0; i < 3; i++) hat = tl_add3(hat, step->x_hat[e->face[f][i]]);
        const double h[3] = {hat.x, hat.y, hat.z}, w[3] = {step->wind.x, step->wind.y, step->wind.z};
        const double part = step->shelter ? (double)step->shelter[f] : 1;
        for (int i = 0; i < 3; i++) {
            p->wind[i][l] = (double)e->wind[f][i];
            const double wind = step->eddies ? w[i] + (double)e->eddy[f][i] : w[i];
            p->drift[i][l] = part * wind - step->gamma * ((p->x[0][i][l] + p->x[1][i][l] + p->x[2][i][l]) - h[i]) / 3;
        }
    }
}

TL_INLINE void store_patch(const face_job *job, patch *p)
{
    const tl_elements *e = job->e;
    if (job->matrix)
        for (int k = 0; k < TL_PATCH_BLOCKS; k++) split_lanes(p->k[k]);
    for (int l = 0; l < p->count; l++) {
        const int32_t f = p->face[l], *node = e->face[f];
        for (int a = 0; a < TL_PATCH_NODES; a++) {
            if (a >= 3 && e->face_hinge[f][a - 3] < 0) continue;
            tl_vec3 *g = &job->gradient[node[a]];
            g->x += p->g[a][0][l], g->y += p->g[a][1][l], g->z += p->g[a][2][l];
            if (!job->matrix) continue;
            const vd *k = p->k[pair6(a, a)];
            const double *at = (const double *)k + 8 * l;
            add_double(tl_bsr_diagonal(job->matrix, node[a]), TL_LOAD4(at), TL_LOAD4(at + 4), k[8][l]);
            for (int b = a + 1; b < TL_PATCH_NODES; b++) {
                const int32_t slot = e->slot[f][tl_patch_pair(a, b)];
                if (slot >= 0) add_pair(job->matrix, node[a], node[b], slot, p->k[pair6(a, b)], l);
            }
        }
    }
}

// Asks for the blocks that a patch will add to, so that they arrive while the patch is computed.
TL_INLINE void fetch_blocks(const face_job *job, const patch *p)
{
    const tl_elements *e = job->e;
    const tl_bsr *m = job->matrix;
    for (int l = 0; l < p->count; l++) {
        const int32_t *node = e->face[p->face[l]], *slot = e->slot[p->face[l]];
        for (int a = 0; a < TL_PATCH_NODES; a++) {
            __builtin_prefetch(tl_bsr_diagonal(m, node[a]), 1);
            for (int b = a + 1; b < TL_PATCH_NODES; b++) {
                const int32_t k = slot[tl_patch_pair(a, b)] >> 2;  // of a pair that does not exist: asks in vain
                const int32_t row = node[a] < node[b] ? node[a] : node[b];
                if (m->single)
                    __builtin_prefetch((const float *)m->single + 9 * (int64_t)(k - row - 1), 1);
                else
                    __builtin_prefetch((const double *)m->value + 9 * (int64_t)k, 1);
            }
        }
    }
}

LANE_CLONES static void patch_chunk(void *arg, int32_t first, int32_t last)
{
    const face_job *job = arg;
    const tl_elements *e = job->e;
    const bool air = job->step->pressure > 0 || job->step->skin > 0;
    const bool fetch = job->matrix && job->matrix->block_count > FETCH_FROM;
    for (int32_t c = first; c < last; c++) {
        const int32_t chunk = job->chunks ? job->chunks[c] : c;
        const int32_t begin = chunk * TL_CHUNK_FACES;
        const int32_t end = e->face_count - begin < TL_CHUNK_FACES ? e->face_count : begin + TL_CHUNK_FACES;
        double sum[TL_FACE_ENERGIES] = {0};
        for (int32_t f = begin; f < end; f += LANES) {
            if (TL_AT_REST(e, face, f)) continue;
            patch p;
            load_patch(job, f, end, &p);
            if (job->gradient) {
                const bool hessian = job->matrix != NULL;
                if (fetch) fetch_blocks(job, &p);
                stretch_derivatives(&p, hessian);
                if (air) air_terms(&p, job->step, true, hessian);
                bend_derivatives(&p, hessian);
                store_patch(job, &p);
            } else {
                stretch_energy(&p);
                bend_energy(&p);
                p.energy[3] = vd_of(0);
                if (air) air_terms(&p, job->step, false, false);
                for (int l = 0; l < p.count; l++)
                    for (int i = 0; i < TL_FACE_ENERGIES; i++) sum[i] += p.energy[i][l];
            }
        }
        if (job->energy) memcpy(job->energy[chunk], sum, sizeof sum);
    }
}

void tl_forces_face_energy(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, tl_workers *workers,
                           double (*out)[TL_FACE_ENERGIES])
{
    tl_parallel_for(workers, e->chunk_count, 1, patch_chunk, &(face_job){e, step, x, NULL, NULL, NULL, out});
}

void tl_forces_face_assemble(tl_elements *e, const tl_step_def *step, const tl_vec3 *x, tl_bsr *matrix,
                             tl_vec3 *gradient, tl_workers *workers)
{
    for (int32_t c = 0; c < e->color_count; c++) {
        face_job job = {e, step, x, matrix, gradient, e->color_chunk + e->color_start[c], NULL};
        tl_parallel_for(workers, e->color_start[c + 1] - e->color_start[c], 1, patch_chunk, &job);
    }
}
