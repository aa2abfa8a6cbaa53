// render/normals.c: smooth normals per corner, with creases at seams and sharp edges.
//
// Every corner gathers from the corners at its position, in face order: no slot has two writers and no sum
// changes its order, so the bits agree for any number of workers.

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "render/stage.h"

enum { POSITIONS_PER_CHUNK = 1024 };
static const double SEAM_CREASE_DEG = 25;  // two panels that meet flatter than this look like one piece

typedef struct normals_job {
    const tl_draw_mesh *s;
    const int32_t *first, *corner;  // corners around a position: corner[first[p] .. first[p+1])
    tl_vec3 *weighted;              // per corner, Max's weight
    tl_vec3f *face_unit;            // per face
    double cos_crease, cos_seam;
    tl_vec3f *out;
} normals_job;

static bool valid_face(const tl_draw_mesh *s, int32_t f)
{
    for (int c = 0; c < 3; c++) {
        const int32_t p = s->face[f][c];
        if (p < 0 || p >= s->pos_count || !tl_finite3(s->pos[p])) return false;
    }
    return true;
}

static void weigh_faces(void *arg, int32_t begin, int32_t end)
{
    const normals_job *job = arg;
    const tl_draw_mesh *s = job->s;
    for (int32_t f = begin; f < end; f++) {
        const tl_vec3 zero = {0, 0, 0};
        job->face_unit[f] = (tl_vec3f){0, 0, 0};
        for (int c = 0; c < 3; c++) job->weighted[3 * f + c] = zero;
        if (!valid_face(s, f)) continue;
        const tl_vec3 p[3] = {s->pos[s->face[f][0]], s->pos[s->face[f][1]], s->pos[s->face[f][2]]};
        const tl_vec3 n = tl_cross3(tl_sub3(p[1], p[0]), tl_sub3(p[2], p[0]));
        job->face_unit[f] = tl_to_f(tl_unit3_or(n, zero), zero);
        for (int c = 0; c < 3; c++) {
            const tl_vec3 a = tl_sub3(p[(c + 1) % 3], p[c]), b = tl_sub3(p[(c + 2) % 3], p[c]);
            const double w = tl_dot3(a, a) * tl_dot3(b, b);
            if (w > 0 && isfinite(1 / w)) job->weighted[3 * f + c] = tl_mul3(1 / w, n);
        }
    }
}

static bool joined(const normals_job *job, int32_t a, int32_t b)
{
    const tl_draw_mesh *s = job->s;
    const double turn = (double)tl_dotf(job->face_unit[a / 3], job->face_unit[b / 3]);
    if (s->face_uv) {  // cloth: one piece of fabric has no crease, two panels have one if they meet at an
                       // angle
        const bool same = s->face_uv[a / 3][a % 3] == s->face_uv[b / 3][b % 3];
        return same || turn > job->cos_seam;
    }
    return turn > job->cos_crease;
}

static void gather_positions(void *arg, int32_t begin, int32_t end)
{
    const normals_job *job = arg;
    for (int32_t p = begin; p < end; p++) {
        for (int32_t i = job->first[p]; i < job->first[p + 1]; i++) {
            const int32_t a = job->corner[i];
            tl_vec3 sum = {0, 0, 0};
            for (int32_t j = job->first[p]; j < job->first[p + 1]; j++) {
                const int32_t b = job->corner[j];
                if (a == b || joined(job, a, b)) sum = tl_add3(sum, job->weighted[b]);
            }
            const tl_vec3f own = job->face_unit[a / 3];
            const tl_vec3 fallback = {(double)own.x, (double)own.y, (double)own.z};  // folded flat: the face's own
            job->out[a] = tl_unitf(tl_to_f(tl_unit3_or(sum, fallback), (tl_vec3){0, 0, 0}));
        }
    }
}

tl_status tl_corner_normals(const tl_draw_mesh *s, const tl_allocator *alloc, tl_workers *workers, tl_vec3f *out,
                            tl_error *err)
{
    const double degree = 3.14159265358979323846 / 180;
    const size_t corners = (size_t)s->face_count * 3;
    int32_t *first = TL_CALLOC(alloc, int32_t, (size_t)s->pos_count + 2), *corner = TL_ALLOC(alloc, int32_t, corners);
    normals_job job = {.s = s,
                       .weighted = TL_ALLOC(alloc, tl_vec3, corners),
                       .face_unit = TL_ALLOC(alloc, tl_vec3f, s->face_count),
                       .cos_crease = cos(s->crease_deg * degree),
                       .cos_seam = cos(SEAM_CREASE_DEG * degree),
                       .out = out};
    tl_status status = TL_OK;
    if (!first || !corner || !job.weighted || !job.face_unit) {
        status = tl_fail_memory(err, "normals");
    } else {
        // corners sorted by position (counting sort): first[p + 1] counts, then runs ahead as corners are
        // placed
        for (int32_t f = 0; f < s->face_count; f++)
            for (int c = 0; c < 3 && valid_face(s, f); c++) first[s->face[f][c] + 2]++;
        for (int32_t p = 0; p < s->pos_count; p++) first[p + 2] += first[p + 1];
        for (size_t i = 0; i < corners; i++) out[i] = (tl_vec3f){0, 1, 0};
        for (int32_t f = 0; f < s->face_count; f++)
            for (int c = 0; c < 3 && valid_face(s, f); c++) corner[first[s->face[f][c] + 1]++] = 3 * f + c;
        job.first = first, job.corner = corner;
        tl_parallel_for(workers, s->face_count, POSITIONS_PER_CHUNK, weigh_faces, &job);
        tl_parallel_for(workers, s->pos_count, POSITIONS_PER_CHUNK, gather_positions, &job);
    }
    TL_FREE(alloc, first, (size_t)s->pos_count + 2);
    TL_FREE(alloc, corner, corners);
    TL_FREE(alloc, job.weighted, corners);
    TL_FREE(alloc, job.face_unit, s->face_count);
    return status;
}
