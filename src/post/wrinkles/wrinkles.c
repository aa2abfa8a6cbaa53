// post/wrinkles/wrinkles.c: from the strain of faces to heights of textures at vertices, and from there to any place.

#include "post/wrinkles/wrinkles_impl.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define SQUARE_PI 3.54490770181103205460  // 2 sqrt(pi)
#define EVEN_LEAD 0.6      // of the lead that compression along one axis alone has: less, and folds have no direction
#define LARGEST_PAPER 4.0  // modulations as printed are huge where textures are low (docs/errata.md)
#define ABSURD_STRETCH 3.0
#define ABSURD_PART 0.5  // of the area
enum { FACES_PER_CHUNK = 256 };

// ---- the object -----------------------------------------------------------------------------------------------

tl_status tl_wrinkles_create(const tl_allocator *alloc, const tl_wrinkle_def *def, tl_wrinkles **out, tl_error *err)
{
    *out = NULL;
    const tl_ridges *r = &def->ridges;
    if (r->count < 2 || r->count > TL_RIDGES_MAX)
        return tl_fail(err, TL_BAD_INPUT, "wrinkles: %d textures, must be 2 to %d", r->count, TL_RIDGES_MAX);
    if (!(r->wavelength > 0 && r->wavelength < 10))
        return tl_fail(err, TL_BAD_INPUT, "wrinkles: wavelength %g m, must be in (0, 10)", r->wavelength);
    if (!(r->variation >= 0 && r->variation <= 100) || !(r->persistence >= 0 && r->persistence <= 1))
        return tl_fail(err, TL_BAD_INPUT, "wrinkles: variation %g, persistence %g, must be in [0, 100], [0, 1]",
                       r->variation, r->persistence);
    if (!(def->zone > 0 && def->zone <= 1) || !(def->onset >= 0 && def->onset < 1) || !(def->strength >= 0) ||
        !(def->rate >= 0) || !(def->amplitude > 0))
        return tl_fail(err, TL_BAD_INPUT,
                       "wrinkles: zone %g, onset %g, strength %g, rate %g, amplitude %g: must be in (0, 1], in [0, 1), "
                       ">= 0, >= 0, > 0",
                       def->zone, def->onset, def->strength, def->rate, def->amplitude);
    tl_wrinkles *w = TL_CALLOC(alloc, tl_wrinkles, 1);
    if (!w) return tl_fail_memory(err, "wrinkles");
    w->alloc = *alloc, w->def = *def;
    *out = w;
    return TL_OK;
}

static void forget_faces(tl_wrinkles *w)
{
    const int64_t n = w->def.ridges.count;
    tl_free_bytes(&w->alloc, w->face, (size_t)w->face_count, sizeof *w->face);
    TL_FREE(&w->alloc, w->uv, w->vert_count);
    TL_FREE(&w->alloc, w->fit, w->face_count * n);
    TL_FREE(&w->alloc, w->now, w->vert_count * n);
    TL_FREE(&w->alloc, w->weight, w->vert_count);
    TL_FREE(&w->alloc, w->terms, w->face_count * n);
    w->face = NULL, w->face_count = w->vert_count = 0;
}

void tl_wrinkles_destroy(tl_wrinkles *w)
{
    if (!w) return;
    forget_faces(w);
    const tl_allocator alloc = w->alloc;
    tl_free_bytes(&alloc, w, 1, sizeof *w);
}

double tl_wrinkles_wavelength(const tl_wrinkles *w) { return w->def.ridges.wavelength; }

// ---- faces ----------------------------------------------------------------------------------------------------

typedef struct face_job {
    tl_wrinkles *w;
    const tl_fine_mesh *m;
    tl_inplane *stretch;
} face_job;

static void corners_of(const tl_wrinkles *w, int32_t f, tl_vec2 uv[3])
{
    for (int k = 0; k < 3; k++) uv[k] = w->uv[w->face[f][k]];
}

static void terms_chunk(void *arg, int32_t begin, int32_t end)
{
    const face_job *j = arg;
    tl_wrinkles *w = j->w;
    const int32_t n = w->def.ridges.count;
    for (int32_t f = begin; f < end; f++) {
        tl_vec2 uv[3];
        corners_of(w, f, uv);
        for (int32_t i = 0; i < n; i++)
            w->terms[f * n + i] = tl_ridge_area_terms(&w->def.ridges, i, w->def.amplitude, uv);
    }
}

// Folds across the compression: the waves along which the face is compressed most.
static void directional(const tl_wrinkles *w, tl_inplane u, double *out)
{
    const tl_ridges *r = &w->def.ridges;
    double fit[TL_RIDGES_MAX], best = 0;
    for (int32_t i = 0; i < r->count; i++) {
        fit[i] = fmax(0, 1 - w->def.onset - tl_stretch_along(u, tl_ridge_direction(r, i)));
        best = fmax(best, fit[i]);
    }
    const double lead = tl_choose_ridges(r->count, fit, w->def.zone, out);
    // Compressed alike in all directions, no way of folds is better than another, and which is the best jumps: none.
    const double turn = tl_sin(tl_acos(-1.0) / r->count), full = EVEN_LEAD * turn * turn * best;
    const double t = full > 0 ? fmin(1, lead / full) : 0, fade = r->count > 2 ? t * t * (3 - 2 * t) : t > 0;
    for (int32_t i = 0; i < r->count; i++)
        if (out[i] > 0) out[i] *= fade * w->def.strength * tl_fold_height(r->wavelength, 1 - fit[i]);
}

// Kimmerle 2005, sec. 5.3: modulations scaled to [0, 1] by the least and the greatest of them.
static void published(const tl_wrinkles *w, int32_t f, tl_inplane u, double *out)
{
    const int32_t n = w->def.ridges.count;
    double h[TL_RIDGES_MAX], fit[TL_RIDGES_MAX], low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < n; i++) {
        h[i] = fmin(fmax(tl_area_modulation(&w->terms[f * n + i], u), 0), LARGEST_PAPER);
        low = fmin(low, h[i]), high = fmax(high, h[i]);
    }
    for (int32_t i = 0; i < n; i++) fit[i] = high > low ? (h[i] - low) / (high - low) : 0;
    tl_choose_ridges(n, fit, w->def.zone, out);
    for (int32_t i = 0; i < n; i++) out[i] *= w->def.strength * w->def.amplitude * h[i];
}

static void faces_chunk(void *arg, int32_t begin, int32_t end)
{
    const face_job *j = arg;
    tl_wrinkles *w = j->w;
    const int32_t n = w->def.ridges.count;
    for (int32_t f = begin; f < end; f++) {
        tl_vec2 uv[3];
        tl_vec3 x[3];
        corners_of(w, f, uv);
        for (int k = 0; k < 3; k++) x[k] = j->m->pos[j->m->node[f][k]];
        tl_face_inplane(uv, x, &j->stretch[f]);
        if (w->def.kind == TL_WRINKLES_PAPER)
            published(w, f, j->stretch[f], &w->fit[f * n]);
        else
            directional(w, j->stretch[f], &w->fit[f * n]);
    }
}

// ---- a frame --------------------------------------------------------------------------------------------------

static bool same_faces(const tl_wrinkles *w, const tl_fine_mesh *m)
{
    return w->face && w->face_count == m->face_count && w->vert_count == m->vert_count &&
           memcmp(w->face, m->vert, (size_t)m->face_count * sizeof *w->face) == 0 &&
           memcmp(w->uv, m->uv, (size_t)m->vert_count * sizeof *w->uv) == 0;
}

static tl_status take_faces(tl_wrinkles *w, const tl_fine_mesh *m, tl_workers *workers, tl_error *err)
{
    forget_faces(w);
    const int32_t n = w->def.ridges.count;
    w->face_count = m->face_count, w->vert_count = m->vert_count;
    w->face = tl_alloc_bytes(&w->alloc, (size_t)m->face_count, sizeof *w->face);
    w->uv = TL_ALLOC(&w->alloc, tl_vec2, m->vert_count);
    w->fit = TL_CALLOC(&w->alloc, double, (int64_t)m->face_count *n);
    w->now = TL_CALLOC(&w->alloc, double, (int64_t)m->vert_count *n);
    w->weight = TL_CALLOC(&w->alloc, double, m->vert_count);
    if (w->def.kind == TL_WRINKLES_PAPER) w->terms = TL_ALLOC(&w->alloc, tl_area_terms, (int64_t)m->face_count * n);
    if (!w->face || !w->uv || !w->fit || !w->now || !w->weight || (w->def.kind == TL_WRINKLES_PAPER && !w->terms)) {
        forget_faces(w);
        return tl_fail_memory(err, "wrinkles");
    }
    memcpy(w->face, m->vert, (size_t)m->face_count * sizeof *w->face);
    memcpy(w->uv, m->uv, (size_t)m->vert_count * sizeof *w->uv);
    for (int32_t f = 0; f < m->face_count; f++) {
        tl_vec2 uv[3];
        corners_of(w, f, uv);
        const double area = 0.5 * fabs(tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0])));
        for (int k = 0; k < 3; k++) w->weight[m->vert[f][k]] += area;
    }
    face_job job = {w, m, NULL};
    if (w->terms) tl_parallel_for(workers, w->face_count, FACES_PER_CHUNK, terms_chunk, &job);
    return TL_OK;
}

// Is this cloth in its material coordinates, or are they something else (texture coordinates, say)?
static tl_status look_at_strain(tl_wrinkles *w, const tl_inplane *stretch, const char *name, tl_error *err)
{
    double total = 0, absurd = 0;
    w->report.most_compression = 0;
    for (int32_t f = 0; f < w->face_count; f++) {
        tl_vec2 uv[3];
        corners_of(w, f, uv);
        const tl_inplane u = stretch[f];
        const double area = fabs(tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0])));
        const double middle = 0.5 * (u.a + u.d), radius = tl_hypot(0.5 * (u.a - u.d), u.b);
        total += area;
        if (middle + radius > ABSURD_STRETCH || middle - radius < 1 / ABSURD_STRETCH) absurd += area;
        w->report.most_compression = fmax(w->report.most_compression, 1 - (middle - radius));
    }
    if (!(total > 0))
        return tl_fail(err, TL_BAD_INPUT, "%s: has no material coordinates (vt), so there is no strain to fold; %s",
                       name, "give meshes with vt in metres");
    if (absurd > ABSURD_PART * total)
        return tl_fail(
            err, TL_BAD_INPUT,
            "%s: %.0f %% of it is more than %.0f times as long or as short as its material coordinates (vt) say; "
            "wrinkles need vt in metres, as the frames of a run have",
            name, 100 * absurd / total, ABSURD_STRETCH);
    return TL_OK;
}

// Means over the faces at vertices, weighted by area; from one frame to the next no faster than allowed.
static void gather(tl_wrinkles *w, const double *sum, bool first)
{
    const int32_t n = w->def.ridges.count;
    tl_wrinkle_report *r = &w->report;
    double total = 0, folded = 0;
    r->highest = r->change = 0, r->held_back = 0;
    for (int32_t v = 0; v < w->vert_count; v++) {
        bool held = false, any = false;
        for (int32_t i = 0; i < n; i++) {
            const double want = w->weight[v] > 0 ? sum[v * n + i] / w->weight[v] : 0, old = w->now[v * n + i];
            double next = want;
            if (!first && w->def.rate > 0) next = fmin(fmax(want, old - w->def.rate), old + w->def.rate);
            held = held || next != want;
            if (!first) r->change = fmax(r->change, fabs(next - old));
            r->highest = fmax(r->highest, next);
            any = any || next > 0;
            w->now[v * n + i] = next;
        }
        r->held_back += held;
        total += w->weight[v], folded += any ? w->weight[v] : 0;
    }
    r->folded = total > 0 ? folded / total : 0;
}

tl_status tl_wrinkles_frame(tl_wrinkles *w, const tl_wrinkle_frame *m, const char *name, tl_workers *workers,
                            tl_error *err)
{
    const bool first = !same_faces(w, m);
    if (first) TL_TRY(take_faces(w, m, workers, err));
    const int32_t n = w->def.ridges.count;
    tl_inplane *stretch = TL_ALLOC(&w->alloc, tl_inplane, m->face_count);
    double *sum = TL_CALLOC(&w->alloc, double, (int64_t)m->vert_count *n);
    tl_status status = stretch && sum ? TL_OK : tl_fail_memory(err, "wrinkles");
    if (status == TL_OK) {
        face_job job = {w, m, stretch};
        tl_parallel_for(workers, m->face_count, FACES_PER_CHUNK, faces_chunk, &job);
        status = look_at_strain(w, stretch, name, err);
    }
    for (int32_t f = 0; status == TL_OK && f < m->face_count; f++) {
        tl_vec2 uv[3];
        corners_of(w, f, uv);
        const double area = 0.5 * fabs(tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0])));
        for (int k = 0; k < 3; k++)
            for (int32_t i = 0; i < n; i++) sum[w->face[f][k] * n + i] += area * w->fit[f * n + i];
    }
    if (status == TL_OK) gather(w, sum, first);
    TL_FREE(&w->alloc, stretch, m->face_count);
    TL_FREE(&w->alloc, sum, (int64_t)m->vert_count * n);
    if (status != TL_OK) forget_faces(w);
    return status;
}

const tl_wrinkle_report *tl_wrinkles_report(const tl_wrinkles *w) { return &w->report; }

double tl_wrinkle_wavelength(double bending, double tension, double length)
{
    return SQUARE_PI * sqrt(sqrt(bending / tension)) * sqrt(length);
}

// ---- places ---------------------------------------------------------------------------------------------------

void tl_wrinkles_corners(const tl_wrinkles *w, int32_t face, tl_vec2 place, double part[3])
{
    tl_vec2 uv[3];
    corners_of(w, face, uv);
    const tl_vec2 p = tl_sub2(uv[1], uv[0]), q = tl_sub2(uv[2], uv[0]), d = tl_sub2(place, uv[0]);
    const double area = tl_cross2(p, q);
    part[1] = area != 0 ? tl_cross2(d, q) / area : 0, part[2] = area != 0 ? tl_cross2(p, d) / area : 0;
    part[0] = 1 - part[1] - part[2];
}

static double modulation(const tl_wrinkles *w, int32_t face, const double part[3], int32_t i)
{
    const int32_t n = w->def.ridges.count, *v = w->face[face];
    return part[0] * w->now[v[0] * n + i] + part[1] * w->now[v[1] * n + i] + part[2] * w->now[v[2] * n + i];
}

// Heights of ridges are about the mean plane; published textures rise from it (sec. 5.3: 1/2 (sin + 1)).
double tl_wrinkles_height(const tl_wrinkles *w, int32_t face, tl_vec2 place)
{
    const tl_ridges *r = &w->def.ridges;
    const bool rises = w->def.kind == TL_WRINKLES_PAPER;
    double part[3], sum = 0;
    tl_ridge_shift shift = {0};
    bool any = false;
    tl_wrinkles_corners(w, face, place, part);
    for (int32_t i = 0; i < r->count; i++) {
        const double m = modulation(w, face, part, i);
        if (m == 0) continue;
        if (!any) shift = tl_ridge_shift_at(r, place), any = true;
        const double wave = tl_ridge_at(r, i, place, shift, NULL);
        sum += m * (rises ? 0.5 * (wave + 1) : wave);
    }
    return sum;
}

tl_vec2 tl_wrinkles_slope(const tl_wrinkles *w, int32_t face, tl_vec2 place)
{
    const tl_ridges *r = &w->def.ridges;
    const double factor = w->def.kind == TL_WRINKLES_PAPER ? 0.5 : 1;
    double part[3];
    tl_vec2 sum = {0};
    const tl_ridge_shift shift = tl_ridge_shift_at(r, place);
    tl_wrinkles_corners(w, face, place, part);
    for (int32_t i = 0; i < r->count; i++) {
        const double m = modulation(w, face, part, i);
        tl_vec2 g;
        if (m == 0) continue;
        tl_ridge_at(r, i, place, shift, &g);
        sum = tl_add2(sum, tl_mul2(factor * m, g));
    }
    return sum;
}
