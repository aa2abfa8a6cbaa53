// post/wrinkles/displace.c: heights at the nodes of a finer mesh, and the move along normals.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "post/wrinkles/wrinkles_impl.h"

enum { VERTS_PER_CHUNK = 512, MOST_SOFTENED = 12, LEAST_SOFTENED = 1 };
#define SOFTENED_WAVES 0.25  // on each side of a seam

typedef struct sample_job {
    const tl_wrinkles *w;
    const tl_fine_mesh *fine;
    const int32_t *face;  ///< of each vertex, or -1
    double *vert_height;
} sample_job;

static void sample_chunk(void *arg, int32_t begin, int32_t end)
{
    const sample_job *j = arg;
    for (int32_t v = begin; v < end; v++)
        j->vert_height[v] = j->face[v] < 0 ? 0 : tl_wrinkles_height(j->w, j->fine->source[j->face[v]], j->fine->uv[v]);
}

// Takes means over neighbours, `rounds` times, at nodes that are at most so many rings from a seam.
static tl_status even_out(const tl_fine_mesh *m, const int32_t *verts, int32_t rounds, double *height, tl_error *err)
{
    int32_t(*edge)[2], edge_count;
    TL_TRY(tl_unique_edges(&m->alloc, (const int32_t(*)[3])m->node, m->face_count, &edge, &edge_count, NULL, err));
    uint8_t *ring = TL_CALLOC(&m->alloc, uint8_t, m->node_count);
    double *sum = TL_ALLOC(&m->alloc, double, m->node_count);
    int32_t *count = TL_ALLOC(&m->alloc, int32_t, m->node_count);
    const tl_status status = ring && sum && count ? TL_OK : tl_fail_memory(err, "wrinkles at seams");
    for (int32_t i = 0; status == TL_OK && i < m->node_count; i++) ring[i] = verts[i] > 1;
    for (int32_t round = 1; status == TL_OK && round < rounds; round++)  // ring k + 1 is beside ring k
        for (int32_t e = 0; e < edge_count; e++)
            for (int k = 0; k < 2; k++)
                if (ring[edge[e][k]] == round && !ring[edge[e][1 - k]]) ring[edge[e][1 - k]] = (uint8_t)(round + 1);
    for (int32_t round = 0; status == TL_OK && round < rounds; round++) {
        for (int32_t i = 0; i < m->node_count; i++) sum[i] = 0, count[i] = 0;
        for (int32_t e = 0; e < edge_count; e++)
            for (int k = 0; k < 2; k++) sum[edge[e][k]] += height[edge[e][1 - k]], count[edge[e][k]]++;
        for (int32_t i = 0; i < m->node_count; i++)
            if (ring[i] && count[i] > 0) height[i] = 0.5 * height[i] + 0.5 * sum[i] / count[i];
    }
    TL_FREE(&m->alloc, ring, m->node_count);
    TL_FREE(&m->alloc, sum, m->node_count);
    TL_FREE(&m->alloc, count, m->node_count);
    tl_free_bytes(&m->alloc, edge, (size_t)edge_count, sizeof *edge);
    return status;
}

tl_status tl_wrinkles_sample(const tl_wrinkles *w, const tl_fine_mesh *fine, int32_t soften, tl_workers *workers,
                             double *height, tl_error *err)
{
    int32_t *face = TL_ALLOC(&fine->alloc, int32_t, fine->vert_count);
    int32_t *node = TL_ALLOC(&fine->alloc, int32_t, fine->vert_count);
    int32_t *verts = TL_CALLOC(&fine->alloc, int32_t, fine->node_count);
    double *vert_height = TL_ALLOC(&fine->alloc, double, fine->vert_count);
    tl_status status = face && node && verts && vert_height ? TL_OK : tl_fail_memory(err, "wrinkles");
    bool seams = false;
    if (status == TL_OK) {
        for (int32_t v = 0; v < fine->vert_count; v++) face[v] = -1;
        for (int32_t f = fine->face_count - 1; f >= 0; f--)
            for (int k = 0; k < 3; k++) face[fine->vert[f][k]] = f, node[fine->vert[f][k]] = fine->node[f][k];
        sample_job job = {w, fine, face, vert_height};
        tl_parallel_for(workers, fine->vert_count, VERTS_PER_CHUNK, sample_chunk, &job);
        for (int32_t i = 0; i < fine->node_count; i++) height[i] = 0;
        for (int32_t v = 0; v < fine->vert_count; v++)
            if (face[v] >= 0) height[node[v]] += vert_height[v], verts[node[v]]++;
        for (int32_t i = 0; i < fine->node_count; i++) {
            if (verts[i] > 1) height[i] /= verts[i], seams = true;
        }
        if (seams && soften > 0) status = even_out(fine, verts, soften, height, err);
    }
    TL_FREE(&fine->alloc, face, fine->vert_count);
    TL_FREE(&fine->alloc, node, fine->vert_count);
    TL_FREE(&fine->alloc, verts, fine->node_count);
    TL_FREE(&fine->alloc, vert_height, fine->vert_count);
    return status;
}

// ---- the move -------------------------------------------------------------------------------------------------

static void node_normals(const tl_fine_mesh *m, tl_vec3 *normal)
{
    for (int32_t i = 0; i < m->node_count; i++) normal[i] = (tl_vec3){0};
    for (int32_t f = 0; f < m->face_count; f++) {
        const int32_t *n = m->node[f];
        const tl_vec3 twice =
            tl_cross3(tl_sub3(m->pos[n[1]], m->pos[n[0]]), tl_sub3(m->pos[n[2]], m->pos[n[0]]));  // area * normal
        for (int k = 0; k < 3; k++) normal[n[k]] = tl_add3(normal[n[k]], twice);
    }
    for (int32_t i = 0; i < m->node_count; i++) normal[i] = tl_unit3_or(normal[i], (tl_vec3){0});
}

// Rings of nodes that a quarter of a wave spans.
static int32_t rings_of(const tl_wrinkles *w, const tl_fine_mesh *m)
{
    double length = 0;
    int64_t count = 0;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++, count++)
            length += tl_norm2(tl_sub2(m->uv[m->vert[f][k]], m->uv[m->vert[f][(k + 1) % 3]]));
    const double rings = length > 0 ? SOFTENED_WAVES * w->def.ridges.wavelength * (double)count / length : 0;
    return (int32_t)fmin(fmax(ceil(rings), LEAST_SOFTENED), MOST_SOFTENED);
}

static tl_status raise_nodes(const tl_finish *f, const tl_wrinkles *w, tl_fine_mesh *m, tl_error *err)
{
    double *height = TL_ALLOC(&f->alloc, double, m->node_count);
    tl_vec3 *normal = TL_ALLOC(&f->alloc, tl_vec3, m->node_count);
    tl_status status = height && normal ? TL_OK : tl_fail_memory(err, "wrinkles");
    if (status == TL_OK) status = tl_wrinkles_sample(w, m, rings_of(w, m), f->workers, height, err);
    if (status == TL_OK) node_normals(m, normal);
    for (int32_t i = 0; status == TL_OK && i < m->node_count; i++)
        m->pos[i] = tl_madd3(m->pos[i], height[i], normal[i]);
    TL_FREE(&f->alloc, height, m->node_count);
    TL_FREE(&f->alloc, normal, m->node_count);
    return status;
}

tl_status tl_wrinkles_displace(const tl_finish *f, tl_wrinkles *const *w, tl_fine_mesh *cloth, int32_t cloth_count,
                               tl_clear_report *report, tl_error *err)
{
    tl_vec3 **start = TL_CALLOC(&f->alloc, tl_vec3 *, cloth_count);
    if (!start) return tl_fail_memory(err, "wrinkles");
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < cloth_count; i++) {
        start[i] = TL_ALLOC(&f->alloc, tl_vec3, cloth[i].node_count);
        if (!start[i]) {
            status = tl_fail_memory(err, "wrinkles");
            break;
        }
        if (cloth[i].node_count) memcpy(start[i], cloth[i].pos, (size_t)cloth[i].node_count * sizeof *start[i]);
        if (w[i]) status = raise_nodes(f, w[i], &cloth[i], err);
    }
    if (status == TL_OK) status = tl_finish_move(f, cloth, cloth_count, start, report, err);
    for (int32_t i = 0; i < cloth_count; i++)
        if (start[i]) TL_FREE(&f->alloc, start[i], cloth[i].node_count);
    TL_FREE(&f->alloc, start, cloth_count);
    return status;
}
