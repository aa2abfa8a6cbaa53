// physics/strain_ahead.c: looks ahead at strain limits: where an update would leave faces beyond them, and what to do
// about it.
//
// The linear model of an update misses what is of second order in it (faces that turn), faces that are within their
// limits now and not after it, and what limits of finite stiffness give way. All three are seen at the end of the
// update, and are put right by the same system with another right side (second-order correction, Nocedal & Wright 2006,
// sec. 18.3), with the stress that the limits have come to for multiplier, and with faces that come to their limits in
// the matrix.

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"
#include "physics/scatter.h"
#include "physics/strain_seen.h"
#include "physics/touched.h"

enum { FACES_PER_CHUNK = TL_CHUNK_FACES };

typedef struct ahead_job {
    tl_strain_limits *l;
    const tl_elements *e;
    const tl_vec3 *x, *move;
    tl_bsr *matrix;
    tl_vec3 *push;
    const int32_t *chunks;
    double *worst;  // per chunk
} ahead_job;

// Strains after the move, and largest and least of them.
TL_INLINE void strain_after(const ahead_job *job, const strain8 *p, vd m1[3], vd m2[3], vd out[3], vd *most, vd *least)
{
    vd f1[3], f2[3];
    strain_columns(job->e, job->move, p, m1, m2);
    for (int k = 0; k < 3; k++) f1[k] = p->f1[k] + m1[k], f2[k] = p->f2[k] + m2[k];
    strain_of(f1, f2, out);
    const vd mean = 0.5 * (out[0] + out[1]), half = 0.5 * (out[0] - out[1]),
             radius = vd_sqrt(half * half + out[2] * out[2]);
    *most = mean + radius, *least = mean - radius;
}

static bool is_driven(const tl_elements *e, int32_t f)
{
    const int32_t *node = e->face[f];
    return e->fixed[node[0]] && e->fixed[node[1]] && e->fixed[node[2]];
}

LANE_CLONES static void worst_chunk(void *arg, int32_t begin, int32_t end)
{
    const ahead_job *job = arg;
    const tl_strain_limits *l = job->l;
    double worst = 0;
    for (int32_t f = begin; f < end; f += LANES) {
        if (TL_AT_REST(job->e, face, f)) continue;
        strain8 p;
        vd m1[3], m2[3], after[3], most, least;
        strain_faces(NULL, f, end - f < LANES ? end - f : LANES, &p);
        strain_project(l, job->e, job->x, (const double(*)[3])l->trial, &p);
        strain_after(job, &p, m1, m2, after, &most, &least);
        const vd excess = vd_max(most - p.high[0], p.low[0] - least);
        for (int i = 0; i < p.count; i++) {
            const double margin = l->bounds[l->cloth[f + i]].margin[0];
            if (p.aligned[i] == 0 && excess[i] - margin > worst && !is_driven(job->e, f + i))
                worst = excess[i] - margin;
        }
    }
    job->worst[begin / FACES_PER_CHUNK] = worst;
}

tl_status tl_strain_worst_after(const tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move,
                                const tl_ctx *ctx, double *worst, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    double *part = TL_SCRATCH(ctx->arena, double, e->chunk_count);
    if (!part) return tl_fail_memory(err, "the strain limits");
    tl_parallel_for(ctx->workers, l->face_count, FACES_PER_CHUNK, worst_chunk,
                    &(ahead_job){(tl_strain_limits *)l, e, x, move, NULL, NULL, NULL, part});
    *worst = 0;
    for (int32_t c = 0; c < e->chunk_count; c++) *worst = fmax(*worst, part[c]);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

/// One direction of a face: cosine and sine of it against v, and the axes of the face (axes8).
typedef struct direction {
    double c, s, s1[2], s2[2];
    tl_vec3 u1, u2;
} direction;

// Stiffness of a direction that is met from now on.
static void join(const ahead_job *job, int32_t f, double weight, const direction *d)
{
    const tl_elements *e = job->e;
    const double c = d->c, s = d->s;
    tl_vec3 v[3];
    for (int k = 0; k < 2; k++)
        v[k + 1] =
            tl_madd3(tl_mul3(c * c * d->s1[k] + c * s * d->s2[k], d->u1), s * s * d->s2[k] + c * s * d->s1[k], d->u2);
    v[0] = tl_mul3(-1, tl_add3(v[1], v[2]));
    for (int a = 0; a < 3; a++) {
        if (e->fixed[e->face[f][a]]) continue;
        const double p[3] = {weight * v[a].x, weight * v[a].y, weight * v[a].z};
        for (int b = a; b < 3; b++) {
            if (e->fixed[e->face[f][b]]) continue;
            const double q[3] = {v[b].x, v[b].y, v[b].z};
            double k[9];
            for (int i = 0; i < 9; i++) k[i] = p[i / 3] * q[i % 3];
            if (a == b) {
                double *block = tl_bsr_diagonal(job->matrix, e->face[f][a]);
                for (int i = 0; i < 9; i++) block[i] += k[i];
            } else {
                scatter_block(job->matrix, e->face[f][a], e->face[f][b], e->slot[f][tl_patch_pair(a, b)], k);
            }
        }
    }
}

// Faces whose matrix lacks directions in which the move takes them beyond a bound get them.
TL_INLINE void join_gathered(const ahead_job *job, const strain8 *p, const axes8 *a, seen8 *seen, const vd after[3],
                             vm fresh[2])
{
    const vd zero = vd_of(0), one = vd_of(1);
    for (int k = 0; k < 2; k++) {
        const vd side =
            vd_choose(vd_more(after[k], p->high[k]), one, vd_choose(vd_more(p->low[k], after[k]), -one, zero));
        const vm acted = vd_other(seen->side[k], zero);
        fresh[k] = ~acted & vd_other(side, zero);
        seen->side[k] = vd_choose(acted, seen->side[k], side);
        seen->joined[k] |= fresh[k];
        for (int i = 0; i < p->count; i++) {
            if (!fresh[k][i]) continue;
            const double n[2] = {k == 0 ? a->w[0][i] : -a->w[1][i], k == 0 ? a->w[1][i] : a->w[0][i]};
            const direction d = {.c = n[0] * a->v[0][i] + n[1] * a->v[1][i],
                                 .s = n[1] * a->v[0][i] - n[0] * a->v[1][i],
                                 .s1 = {a->s1[0][i], a->s1[1][i]},
                                 .s2 = {a->s2[0][i], a->s2[1][i]},
                                 .u1 = {a->u1[0][i], a->u1[1][i], a->u1[2][i]},
                                 .u2 = {a->u2[0][i], a->u2[1][i], a->u2[2][i]}};
            join(job, p->face[i], p->area[i] * p->mu[i] * seen->bold[i], &d);
        }
    }
}

static void note_seen(const ahead_job *job, const strain8 *p, const axes8 *a, const seen8 *seen)
{
    for (int i = 0; i < p->count; i++) {
        tl_strain_seen *s = &job->l->seen[p->face[i]];
        for (int k = 0; k < 3; k++) s->offset[k] = seen->offset[k][i];
        for (int k = 0; k < 2; k++) {
            s->lead[k] = seen->lead[k][i], s->axis[k] = a->w[k][i];
            s->side[k] = seen->joined[k][i] ? (int8_t)seen->side[k][i] : 0;
        }
    }
}

TL_INLINE void ahead_gathered(const ahead_job *job, const int32_t *faces, int count)
{
    const tl_strain_limits *l = job->l;
    strain8 p;
    axes8 a;
    model8 model;
    seen8 seen;
    vd m1[3], m2[3], end[3], most, least, change[3], g[3], after[3], at[3], strain[3], basis[2];
    vm fresh[2];
    strain_faces(faces, 0, count, &p);
    strain_project(l, job->e, job->x, (const double(*)[3])l->trial, &p);
    strain_after(job, &p, m1, m2, end, &most, &least);
    strain_axes(&p, &a);
    strain_recall(l, &p, &a, &seen);
    const vd zero = vd_of(0);
    strain_basis(0.5 * (end[0] - end[1]), end[2], basis);
    const vm idle = ~(vd_other(seen.side[0], zero) | vd_other(seen.side[1], zero));
    for (int k = 0; k < 2; k++) a.w[k] = vd_choose(idle, basis[k], a.w[k]);
    strain_model(&p, &a, seen.bold, &model);
    strain_change(&a, m1, m2, change);
    for (int k = 0; k < 3; k++) strain[k] = p.y[k] - p.s[k];
    strain_turned(a.w, change, g);
    strain_turned(a.w, end, after);
    strain_turned(a.w, strain, at);
    join_gathered(job, &p, &a, &seen, after, fresh);
    vd lacks[3], stress[3], force[3][3];
    for (int k = 0; k < 2; k++) {
        const vd s = model.s[k] / seen.bold, bound = strain_bound(&p, &seen, k);
        const vd lead = strain_same_side(s + seen.lead[k] + after[k] - bound, seen.side[k]) - s;
        seen.lead[k] = vd_choose(fresh[k] | ~vd_other(seen.side[k], zero), zero, lead);
        seen.offset[k] = vd_choose(vd_other(seen.side[k], zero), after[k] - at[k] - g[k] + seen.lead[k], zero);
        const vd linear = vd_choose(seen.joined[k], seen.bold * g[k], model.b[k] + model.stiff[k] * g[k]);
        lacks[k] = strain_same_side(model.s[k] + seen.bold * (after[k] - bound + seen.lead[k]), seen.side[k]) - linear;
    }
    const vm acts = vd_other(p.h[0], zero) | vd_other(p.h[1], zero);
    seen.offset[2] = vd_choose(acts, after[2] - at[2] - g[2], zero);
    lacks[2] = vd_choose(acts, model.stiff[2] * seen.offset[2], zero);
    for (int k = 0; k < 3; k++) lacks[k] *= p.mu;
    strain_turned_back(a.w, lacks, stress);
    strain_force(&p, &a, stress, force + 1);
    for (int k = 0; k < 3; k++) force[0][k] = -(force[1][k] + force[2][k]);
    note_seen(job, &p, &a, &seen);
    for (int i = 0; i < p.count; i++)
        for (int c = 0; c < 3; c++) {
            const int32_t node = job->e->face[p.face[i]][c];
            if (job->e->fixed[node]) continue;
            tl_vec3 *to = &job->push[node];
            to->x += force[c][0][i], to->y += force[c][1][i], to->z += force[c][2][i];
        }
}

LANE_CLONES static void ahead_chunk(void *arg, int32_t first, int32_t last)
{
    const ahead_job *job = arg;
    const tl_elements *e = job->e;
    const tl_strain_limits *l = job->l;
    for (int32_t c = first; c < last; c++) {
        const int32_t begin = job->chunks[c] * FACES_PER_CHUNK;
        const int32_t end = e->face_count - begin < FACES_PER_CHUNK ? e->face_count : begin + FACES_PER_CHUNK;
        int32_t gathered[FACES_PER_CHUNK], count = 0;
        for (int32_t f = begin; f < end; f += LANES) {
            if (TL_AT_REST(e, face, f)) continue;
            strain8 p;
            vd m1[3], m2[3], after[3], most, least;
            strain_faces(NULL, f, end - f < LANES ? end - f : LANES, &p);
            strain_project(l, e, job->x, (const double(*)[3])l->trial, &p);
            strain_after(job, &p, m1, m2, after, &most, &least);
            const vd moves = vd_dot(m1, m1) + vd_dot(m2, m2);
            for (int i = 0; i < p.count; i++) {
                const tl_strain_seen *seen = &l->seen[f + i];
                const bool acts = p.h[0][i] != 0 || p.h[1][i] != 0 || seen->side[0] || seen->side[1];
                if (p.aligned[i] == 0 && moves[i] != 0 && (acts || most[i] > p.high[0][i] || least[i] < p.low[0][i]))
                    gathered[count++] = f + i;
            }
        }
        for (int32_t k = 0; k < count; k += LANES)
            ahead_gathered(job, gathered + k, count - k < LANES ? count - k : LANES);
    }
}

void tl_strain_ahead(tl_strain_limits *l, const tl_elements *e, const tl_vec3 *x, const tl_vec3 *move, tl_bsr *matrix,
                     tl_vec3 *push, tl_workers *workers)
{
    if (!l->looked) memset(l->seen, 0, (size_t)l->face_count * sizeof *l->seen);
    l->looked = true;
    for (int32_t c = 0; c < e->color_count; c++) {
        ahead_job job = {l, e, x, move, matrix, push, e->color_chunk + e->color_start[c], NULL};
        tl_parallel_for(workers, e->color_start[c + 1] - e->color_start[c], 1, ahead_chunk, &job);
    }
}

void tl_strain_look_away(tl_strain_limits *l) { l->looked = false; }
