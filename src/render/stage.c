// render/stage.c: surfaces flattened into one list of triangles with a ray tree above it.

#include "render/stage.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"

static tl_vec3 middle(const tl_draw_def *def)
{
    tl_vec3 lo = {INFINITY, INFINITY, INFINITY}, hi = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < def->surface_count; i++) {
        const tl_draw_mesh *s = &def->surfaces[i];
        for (int32_t p = 0; p < s->pos_count; p++) {
            const tl_vec3 x = s->pos[p];
            if (!tl_finite3(x)) continue;
            lo = (tl_vec3){fmin(lo.x, x.x), fmin(lo.y, x.y), fmin(lo.z, x.z)};
            hi = (tl_vec3){fmax(hi.x, x.x), fmax(hi.y, x.y), fmax(hi.z, x.z)};
        }
    }
    const tl_vec3 mid = tl_mul3(0.5, tl_add3(lo, hi));
    return tl_finite3(mid) ? mid : (tl_vec3){0, 0, 0};
}

static void add_surface(tl_stage *stage, int32_t index, const tl_vec3f *normals)
{
    const tl_draw_mesh *s = &stage->surfaces[index];
    const int32_t base = stage->pos_count;
    for (int32_t p = 0; p < s->pos_count; p++)
        stage->pos[stage->pos_count++] = tl_to_f(s->pos[p], stage->origin);
    for (int32_t f = 0; f < s->face_count; f++) {
        tl_stage_tri t = {.surface = index, .face = f};
        bool good = true;
        for (int c = 0; c < 3 && good; c++) {
            const int32_t p = s->face[f][c];
            good = p >= 0 && p < s->pos_count && tl_finite3(s->pos[p]) &&
                   (!s->face_uv || (s->face_uv[f][c] >= 0 && s->face_uv[f][c] < s->uv_count));
            t.vert[c] = base + p;
            t.normal[c] = normals[3 * f + c];
        }
        if (!good) {
            stage->skipped++;
            continue;
        }
        for (int c = 0; c < 3; c++) {
            const tl_vec3f x = stage->pos[t.vert[c]];
            stage->lo =
                (tl_vec3f){tl_minf(stage->lo.x, x.x), tl_minf(stage->lo.y, x.y), tl_minf(stage->lo.z, x.z)};
            stage->hi =
                (tl_vec3f){tl_maxf(stage->hi.x, x.x), tl_maxf(stage->hi.y, x.y), tl_maxf(stage->hi.z, x.z)};
            stage->vert[stage->tri_count][c] = t.vert[c];
        }
        stage->tri[stage->tri_count++] = t;
    }
}

tl_status tl_stage_init(tl_stage *stage, const tl_draw_def *def, tl_error *err)
{
    *stage = (tl_stage){.alloc = *def->alloc, .surfaces = def->surfaces, .surface_count = def->surface_count};
    int64_t pos_count = 0, tri_count = 0;
    int32_t most = 0;
    for (int32_t i = 0; i < def->surface_count; i++) {
        pos_count += def->surfaces[i].pos_count;
        tri_count += def->surfaces[i].face_count;
        if (def->surfaces[i].face_count > most) most = def->surfaces[i].face_count;
    }
    if (pos_count > INT32_MAX / 4 || tri_count > INT32_MAX / 4)
        return tl_fail(err, TL_BAD_ARG, "%lld faces are too many to draw", (long long)tri_count);
    stage->pos_cap = (int32_t)pos_count, stage->tri_cap = (int32_t)tri_count;
    stage->pos = TL_ALLOC(def->alloc, tl_vec3f, pos_count);
    stage->tri = TL_ALLOC(def->alloc, tl_stage_tri, tri_count);
    stage->vert = tl_alloc_bytes(def->alloc, (size_t)tri_count, sizeof *stage->vert);
    tl_vec3f *normals = TL_ALLOC(def->alloc, tl_vec3f, (size_t)most * 3);
    tl_status status = TL_OK;
    if (!stage->pos || !stage->tri || !stage->vert || !normals)
        status = tl_fail_memory(err, "the surfaces to draw");
    stage->origin = middle(def);
    stage->lo = (tl_vec3f){1e30f, 1e30f, 1e30f}, stage->hi = (tl_vec3f){-1e30f, -1e30f, -1e30f};
    for (int32_t i = 0; i < def->surface_count && status == TL_OK; i++) {
        status = tl_corner_normals(&def->surfaces[i], def->alloc, def->workers, normals, err);
        if (status == TL_OK) add_surface(stage, i, normals);
    }
    TL_FREE(def->alloc, normals, (size_t)most * 3);
    if (status == TL_OK)
        status = tl_ray_bvh_create(def->alloc, stage->pos, (const int32_t(*)[3])stage->vert, stage->tri_count,
                               &stage->bvh, err);
    if (stage->tri_count == 0) stage->lo = stage->hi = (tl_vec3f){0, 0, 0};
    stage->radius = tl_maxf(0.5f * tl_lenf(tl_subf(stage->hi, stage->lo)), 1e-4f);
    if (status != TL_OK) tl_stage_free(stage);
    return status;
}

void tl_stage_free(tl_stage *stage)
{
    const tl_allocator *alloc = &stage->alloc;
    TL_FREE(alloc, stage->pos, stage->pos_cap);
    TL_FREE(alloc, stage->tri, stage->tri_cap);
    TL_FREE(alloc, stage->vert, stage->tri_cap);
    tl_ray_bvh_destroy(stage->bvh);
    *stage = (tl_stage){0};
}
