// render/stage.c: surfaces flattened into one list of triangles with a ray tree above it.

#include "render/stage.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "render/curved.h"

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

static const float LEAST_BULGE = 0.2f;  // [pixels] an edge that departs by less from a straight line is one

/// One normal per position of `s`, the mean of its corners': faces that meet in a crease still share an edge.
static void position_normals(const tl_draw_mesh *s, const tl_vec3f *corner, tl_vec3f *out)
{
    for (int32_t p = 0; p < s->pos_count; p++) out[p] = (tl_vec3f){0, 0, 0};
    for (int32_t f = 0; f < s->face_count; f++)
        for (int c = 0; c < 3; c++) {
            const int32_t p = s->face[f][c];
            if (p >= 0 && p < s->pos_count) out[p] = tl_addf(out[p], corner[3 * f + c]);
        }
    for (int32_t p = 0; p < s->pos_count; p++) out[p] = tl_unitf(out[p]);
}

/// The eye in stage coordinates.
typedef struct lens {
    tl_vec3f eye, forward;
    float pixel;  // width of a pixel at distance 1, or anywhere
    bool parallel;
} lens;

static lens lens_of(const tl_stage *stage, const tl_draw_def *def)
{
    const bool parallel = def->camera.fov_deg <= 0;
    const double height = parallel ? def->camera.height : 2 * tan(def->camera.fov_deg * 3.14159265358979323846 / 360);
    return (lens){tl_to_f(def->camera.eye, stage->origin), tl_unitf(tl_to_f(def->camera.target, def->camera.eye)),
                  (float)(height / def->height), parallel};
}

/// Whether the surface is seen at a slant. Seen from the front a bulge does not show, and cloth that lies on a body in
/// a hollow must not bulge into it.
static bool at_outline(const lens *l, tl_vec3f at, tl_vec3f n)
{
    const tl_vec3f d = l->parallel ? l->forward : tl_subf(at, l->eye);
    const float along = tl_dotf(d, n);
    return along * along < 0.25f * tl_dotf(d, d);
}

/// Width of a pixel at `at`.
static float pixel_at(const lens *l, tl_vec3f at)
{
    return l->parallel ? l->pixel : l->pixel * tl_lenf(tl_subf(at, l->eye));
}

static bool add_tri(tl_stage *stage, const tl_stage_tri *t)
{
    if (!TL_GROW(&stage->alloc, stage->tri, stage->tri_cap, stage->tri_count + 1)) return false;
    if (!TL_GROW(&stage->alloc, stage->vert, stage->vert_cap, stage->tri_count + 1)) return false;
    for (int c = 0; c < 3; c++) {
        const tl_vec3f x = stage->pos[t->vert[c]];
        stage->lo = (tl_vec3f){tl_minf(stage->lo.x, x.x), tl_minf(stage->lo.y, x.y), tl_minf(stage->lo.z, x.z)};
        stage->hi = (tl_vec3f){tl_maxf(stage->hi.x, x.x), tl_maxf(stage->hi.y, x.y), tl_maxf(stage->hi.z, x.z)};
        stage->vert[stage->tri_count][c] = t->vert[c];
    }
    stage->tri[stage->tri_count++] = *t;
    return true;
}

/// Adds `t` cut into pieces of a curved surface, if its edges bulge enough to be seen; otherwise as it is.
static bool add_curved(tl_stage *stage, const lens *l, const tl_stage_tri *t, const tl_vec3f *normal)
{
    tl_vec3f p[3], n[3];
    int32_t id[3];
    for (int c = 0; c < 3; c++) id[c] = stage->surfaces[t->surface].face[t->face][c];
    for (int c = 0; c < 3; c++) p[c] = stage->pos[t->vert[c]], n[c] = normal[id[c]];
    bool curved[3], any = false;
    for (int c = 0; c < 3; c++) {
        const tl_vec3f a = p[c], b = p[(c + 1) % 3];
        // from either end the same pixel width
        const float least = LEAST_BULGE * tl_minf(pixel_at(l, a), pixel_at(l, b));
        curved[c] = (at_outline(l, a, n[c]) || at_outline(l, b, n[(c + 1) % 3])) &&
                    tl_edge_curved(a, b, n[c], n[(c + 1) % 3], least);
        any = any || curved[c];
    }
    if (!any) return add_tri(stage, t);
    tl_curved pieces;
    tl_curved_face(p, n, id, curved, &pieces);
    if (!TL_GROW(&stage->alloc, stage->pos, stage->pos_cap, stage->pos_count + TL_CURVED_POINTS)) return false;
    const int32_t base = stage->pos_count;
    for (int i = 0; i < TL_CURVED_POINTS; i++) stage->pos[stage->pos_count++] = pieces.pos[i];
    for (int i = 0; i < TL_CURVED_TRIS; i++) {
        tl_stage_tri piece = *t;
        for (int c = 0; c < 3; c++) {
            const int at = tl_curved_tri[i][c];
            piece.vert[c] = base + at, piece.bary[c] = pieces.bary[at];
            piece.normal[c] = tl_unitf(tl_baryf(t->normal, pieces.bary[at].x, pieces.bary[at].y));
        }
        if (!add_tri(stage, &piece)) return false;
    }
    return true;
}

/// False: out of memory. `normals` are those of corners, `shared` those of positions (NULL: nothing is curved).
static bool add_surface(tl_stage *stage, const lens *l, int32_t index, const tl_vec3f *normals, const tl_vec3f *shared)
{
    const tl_draw_mesh *s = &stage->surfaces[index];
    const int32_t base = stage->pos_count;
    if (!TL_GROW(&stage->alloc, stage->pos, stage->pos_cap, stage->pos_count + s->pos_count)) return false;
    for (int32_t p = 0; p < s->pos_count; p++) stage->pos[stage->pos_count++] = tl_to_f(s->pos[p], stage->origin);
    for (int32_t f = 0; f < s->face_count; f++) {
        tl_stage_tri t = {.surface = index, .face = f, .bary = {{0, 0}, {1, 0}, {0, 1}}};
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
        if (!(shared ? add_curved(stage, l, &t, shared) : add_tri(stage, &t))) return false;
    }
    return true;
}

tl_status tl_stage_init(tl_stage *stage, const tl_draw_def *def, tl_error *err)
{
    *stage = (tl_stage){.alloc = *def->alloc, .surfaces = def->surfaces, .surface_count = def->surface_count};
    int64_t pos_count = 0, tri_count = 0;
    int32_t most = 0, most_pos = 0;
    for (int32_t i = 0; i < def->surface_count; i++) {
        pos_count += def->surfaces[i].pos_count;
        tri_count += def->surfaces[i].face_count;
        if (def->surfaces[i].face_count > most) most = def->surfaces[i].face_count;
        if (def->surfaces[i].pos_count > most_pos) most_pos = def->surfaces[i].pos_count;
    }
    if (pos_count > INT32_MAX / 4 || tri_count > INT32_MAX / 4)
        return tl_fail(err, TL_BAD_ARG, "%lld faces are too many to draw", (long long)tri_count);
    tl_vec3f *normals = TL_ALLOC(def->alloc, tl_vec3f, (size_t)most * 3);
    tl_vec3f *shared = TL_ALLOC(def->alloc, tl_vec3f, (size_t)most_pos);
    tl_status status = TL_OK;
    if (!normals || !shared || !TL_GROW(def->alloc, stage->pos, stage->pos_cap, pos_count) ||
        !TL_GROW(def->alloc, stage->tri, stage->tri_cap, tri_count) ||
        !TL_GROW(def->alloc, stage->vert, stage->vert_cap, tri_count))
        status = tl_fail_memory(err, "the surfaces to draw");
    stage->origin = middle(def);
    stage->lo = (tl_vec3f){1e30f, 1e30f, 1e30f}, stage->hi = (tl_vec3f){-1e30f, -1e30f, -1e30f};
    for (int32_t i = 0; i < def->surface_count && status == TL_OK; i++) {
        status = tl_corner_normals(&def->surfaces[i], def->alloc, def->workers, normals, err);
        if (status != TL_OK) break;
        const lens eye = lens_of(stage, def);
        const bool curved = def->surfaces[i].curved;
        if (curved) position_normals(&def->surfaces[i], normals, shared);
        if (!add_surface(stage, &eye, i, normals, curved ? shared : NULL))
            status = tl_fail_memory(err, "the surfaces to draw");
    }
    TL_FREE(def->alloc, normals, (size_t)most * 3);
    TL_FREE(def->alloc, shared, (size_t)most_pos);
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
    TL_FREE(alloc, stage->vert, stage->vert_cap);
    tl_ray_bvh_destroy(stage->bvh);
    *stage = (tl_stage){0};
}
