// render/crowd.c: several surfaces in one ray tree: how near they come, and where they cross.
//
// Crossings are those of `toile check`: an edge and a face without a common corner that share a point, exactly.

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/intersect.h"
#include "math/vec3.h"
#include "render/maps.h"
#include "render/stage.h"

enum { NODES_PER_CHUNK = 256, FACES_PER_CHUNK = 256 };

static bool usable_face(const tl_draw_mesh *s, int32_t f)
{
    for (int c = 0; c < 3; c++)
        if (s->face[f][c] < 0 || s->face[f][c] >= s->pos_count || !tl_finite3(s->pos[s->face[f][c]])) return false;
    return true;
}

tl_status tl_crowd_init(tl_crowd *crowd, const tl_draw_mesh *surfaces, int32_t count, const tl_allocator *alloc,
                        tl_error *err)
{
    *crowd = (tl_crowd){.alloc = *alloc, .surfaces = surfaces, .surface_count = count};
    crowd->first_pos = TL_CALLOC(alloc, int32_t, count + 1);
    crowd->first_tri = TL_CALLOC(alloc, int32_t, count + 1);
    if (!crowd->first_pos || !crowd->first_tri) {
        tl_crowd_free(crowd);
        return tl_fail_memory(err, "neighbour search");
    }
    tl_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++) {
        crowd->first_pos[i + 1] = crowd->first_pos[i] + surfaces[i].pos_count;
        crowd->first_tri[i + 1] = crowd->first_tri[i] + (surfaces[i].pos_count > 0 ? surfaces[i].face_count : 0);
        for (int32_t p = 0; p < surfaces[i].pos_count; p++) {
            const tl_vec3 x = surfaces[i].pos[p];
            if (!tl_finite3(x)) continue;
            lo = (tl_vec3){fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z)};
            hi = (tl_vec3){fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z)};
        }
    }
    const tl_vec3 mid = tl_mul3(0.5, tl_add3(lo, hi));
    crowd->origin = tl_finite3(mid) ? mid : (tl_vec3){0, 0, 0};
    crowd->pos_count = crowd->first_pos[count], crowd->tri_count = crowd->first_tri[count];
    crowd->pos = TL_ALLOC(alloc, tl_vec3f, crowd->pos_count);
    crowd->tri = tl_alloc_bytes(alloc, (size_t)crowd->tri_count, sizeof *crowd->tri);
    crowd->owner = TL_ALLOC(alloc, int32_t, crowd->tri_count);
    crowd->face = TL_ALLOC(alloc, int32_t, crowd->tri_count);
    tl_status status = TL_OK;
    if (!crowd->pos || !crowd->tri || !crowd->owner || !crowd->face) status = tl_fail_memory(err, "neighbour search");
    for (int32_t i = 0; i < count && status == TL_OK; i++) {
        const tl_draw_mesh *s = &surfaces[i];
        for (int32_t p = 0; p < s->pos_count; p++)
            crowd->pos[crowd->first_pos[i] + p] = tl_to_f(s->pos[p], crowd->origin);
        for (int32_t f = 0; f < s->face_count && s->pos_count > 0; f++) {
            const int32_t t = crowd->first_tri[i] + f;
            crowd->owner[t] = i, crowd->face[t] = f;
            // an unusable face becomes a point, which no ray meets
            for (int c = 0; c < 3; c++)
                crowd->tri[t][c] = crowd->first_pos[i] + (usable_face(s, f) ? s->face[f][c] : 0);
        }
    }
    if (status == TL_OK)
        status =
            tl_ray_bvh_create(alloc, crowd->pos, (const int32_t(*)[3])crowd->tri, crowd->tri_count, &crowd->bvh, err);
    if (status != TL_OK) tl_crowd_free(crowd);
    return status;
}

void tl_crowd_free(tl_crowd *crowd)
{
    const tl_allocator *alloc = &crowd->alloc;
    TL_FREE(alloc, crowd->pos, crowd->pos_count);
    TL_FREE(alloc, crowd->tri, crowd->tri_count);
    TL_FREE(alloc, crowd->owner, crowd->tri_count);
    TL_FREE(alloc, crowd->face, crowd->tri_count);
    TL_FREE(alloc, crowd->first_pos, crowd->surface_count + 1);
    TL_FREE(alloc, crowd->first_tri, crowd->surface_count + 1);
    tl_ray_bvh_destroy(crowd->bvh);
    *crowd = (tl_crowd){0};
}

// --- nearness ----------------------------------------------------------------------------------------------

typedef struct near_job {
    const tl_crowd *crowd;
    int32_t index;
    const tl_vec3f *normal;  // per position
    float reach, clear;
    float *out;
} near_job;

static void near_chunk(void *arg, int32_t begin, int32_t end)
{
    const near_job *job = arg;
    for (int32_t p = begin; p < end; p++) {
        const tl_vec3f n = job->normal[p], x = job->crowd->pos[job->crowd->first_pos[job->index] + p];
        job->out[p] = NAN;
        if (!(tl_dotf(n, n) > 0.5f)) continue;
        float nearest = job->reach;
        for (int side = -1; side <= 1; side += 2) {
            const tl_ray ray = {tl_maddf(x, (float)side * job->clear, n), tl_mulf((float)side, n), 0, nearest};
            tl_hit hit;
            if (tl_ray_bvh_hit(job->crowd->bvh, &ray, NULL, &hit)) nearest = tl_minf(nearest, hit.t + job->clear);
        }
        job->out[p] = nearest;
    }
}

tl_status tl_map_nearness(const tl_crowd *crowd, int32_t index, double reach, tl_workers *workers, float *out,
                          tl_error *err)
{
    const tl_draw_mesh *s = &crowd->surfaces[index];
    const tl_allocator *alloc = &crowd->alloc;
    const size_t corners = (size_t)s->face_count * 3;
    tl_vec3f *corner = TL_ALLOC(alloc, tl_vec3f, corners), *normal = TL_CALLOC(alloc, tl_vec3f, s->pos_count);
    tl_status status = !corner || !normal ? tl_fail_memory(err, "a map of contact")
                                          : tl_corner_normals(s, alloc, workers, corner, err);
    if (status == TL_OK) {
        for (int32_t f = 0; f < s->face_count; f++)
            for (int c = 0; c < 3 && usable_face(s, f); c++) normal[s->face[f][c]] = corner[3 * f + c];
        near_job job = {crowd, index, normal, (float)reach, (float)(1e-3 * reach), out};
        tl_parallel_for(workers, s->pos_count, NODES_PER_CHUNK, near_chunk, &job);
    }
    TL_FREE(alloc, corner, corners);
    TL_FREE(alloc, normal, s->pos_count);
    return status;
}

// --- crossings ---------------------------------------------------------------------------------------------

static bool among(int32_t id, const int32_t ids[3]) { return id == ids[0] || id == ids[1] || id == ids[2]; }

/// Whether an edge of triangle a meets triangle b; edges that end in a corner of b are left out.
static bool edges_meet(const int32_t a[3], const tl_vec3 xa[3], const int32_t b[3], const tl_vec3 xb[3])
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (!among(a[i], b) && !among(a[j], b) && tl_segment_meets_triangle(&xa[i], &xa[j], &xb[0], &xb[1], &xb[2]))
            return true;
    }
    return false;
}

typedef struct cross_job {
    const tl_crowd *crowd;
    int32_t index;
    uint8_t *mark;
    int64_t *pairs;  // per chunk
} cross_job;

typedef struct cross_visit {
    const tl_crowd *crowd;
    int32_t tri;
    tl_vec3 corner[3];
    bool crossed;
    int64_t pairs;
} cross_visit;

static void visit_pair(void *arg, int32_t other)
{
    cross_visit *v = arg;
    const tl_crowd *crowd = v->crowd;
    if (other == v->tri) return;
    const tl_draw_mesh *s = &crowd->surfaces[crowd->owner[other]];
    if (!usable_face(s, crowd->face[other])) return;
    const int32_t *a = crowd->tri[v->tri], *b = crowd->tri[other];
    tl_vec3 q[3];
    for (int c = 0; c < 3; c++) q[c] = s->pos[b[c] - crowd->first_pos[crowd->owner[other]]];
    if (!edges_meet(a, v->corner, b, q) && !edges_meet(b, q, a, v->corner)) return;
    v->crossed = true;
    v->pairs += other > v->tri;
}

static void cross_chunk(void *arg, int32_t begin, int32_t end)
{
    const cross_job *job = arg;
    const tl_crowd *crowd = job->crowd;
    int64_t pairs = 0;
    for (int32_t f = begin; f < end; f++) {
        cross_visit v = {.crowd = crowd, .tri = crowd->first_tri[job->index] + f};
        const tl_draw_mesh *s = &crowd->surfaces[job->index];
        if (!usable_face(s, f)) continue;
        tl_vec3f lo = {1e30f, 1e30f, 1e30f}, hi = {-1e30f, -1e30f, -1e30f};
        for (int c = 0; c < 3; c++) {
            v.corner[c] = s->pos[s->face[f][c]];
            const tl_vec3f x = crowd->pos[crowd->tri[v.tri][c]];
            lo = (tl_vec3f){tl_minf(lo.x, x.x), tl_minf(lo.y, x.y), tl_minf(lo.z, x.z)};
            hi = (tl_vec3f){tl_maxf(hi.x, x.x), tl_maxf(hi.y, x.y), tl_maxf(hi.z, x.z)};
        }
        tl_ray_bvh_overlap(crowd->bvh, lo, hi, visit_pair, &v);
        if (v.crossed) job->mark[f] = 1;
        pairs += v.pairs;
    }
    job->pairs[begin / FACES_PER_CHUNK] = pairs;
}

tl_status tl_mark_crossings(const tl_crowd *crowd, int32_t index, tl_workers *workers, uint8_t *face_mark,
                            int64_t *pairs, tl_error *err)
{
    const int32_t faces = crowd->surfaces[index].face_count, chunks = tl_chunk_count(faces, FACES_PER_CHUNK);
    int64_t *counts = TL_CALLOC(&crowd->alloc, int64_t, chunks);
    if (!counts) return tl_fail_memory(err, "the search for intersections");
    cross_job job = {crowd, index, face_mark, counts};
    tl_parallel_for(workers, faces, FACES_PER_CHUNK, cross_chunk, &job);
    *pairs = 0;
    for (int32_t i = 0; i < chunks; i++) *pairs += counts[i];
    TL_FREE(&crowd->alloc, counts, chunks);
    return TL_OK;
}
