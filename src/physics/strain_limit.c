// physics/strain_limit.c: making limits on strain: are the numbers sound, which bounds follow, room for one multiplier
// per face.
//
// What limits do in a step is in strain_energy.c (the potential and its derivatives) and strain_multiplier.c.

#include "physics/strain_limit.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"

static bool is_limit(double x) { return !isnan(x); }

tl_status tl_strain_check(const tl_strain_def *d, const char *what, tl_error *err)
{
    if ((int)d->kind < TL_STRAIN_FREE || d->kind > TL_STRAIN_ALIGNED)
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.kind %d is none of ours", what, (int)d->kind);
    const bool aligned = d->kind == TL_STRAIN_ALIGNED;
    if (d->kind == TL_STRAIN_FREE) return TL_OK;
    if (!is_limit(d->min) || !(d->min <= 0) || (isfinite(d->min) && d->min <= -1))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.min %g, must be in (-1, 0], or -infinity for none", what, d->min);
    if (!is_limit(d->max) || !(d->max >= 0))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.max %g, must be >= 0", what, d->max);
    if (aligned && (!is_limit(d->weft_min) || !(d->weft_min <= 0) || (isfinite(d->weft_min) && d->weft_min <= -1)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.weft_min %g, must be in (-1, 0], or -infinity for none", what,
                       d->weft_min);
    if (aligned && (!is_limit(d->weft_max) || !(d->weft_max >= 0)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.weft_max %g, must be >= 0", what, d->weft_max);
    if (aligned && (!is_limit(d->shear) || !(d->shear >= 0)))
        return tl_fail(err, TL_BAD_INPUT, "%s: strain.shear %g, must be >= 0", what, d->shear);
    return TL_OK;
}

static tl_strain_bounds bounds_of(const tl_strain_def *d)
{
    const double none = (double)INFINITY;
    tl_strain_bounds b = {false, {-none, -none, -none}, {none, none, none}, {0, 0, 0}};
    if (d->kind == TL_STRAIN_FREE) return b;
    b.aligned = d->kind == TL_STRAIN_ALIGNED;
    b.low[0] = d->min, b.high[0] = d->max;
    b.low[1] = b.aligned ? d->weft_min : d->min, b.high[1] = b.aligned ? d->weft_max : d->max;
    if (b.aligned) b.low[2] = -d->shear, b.high[2] = d->shear;
    return b;
}

void tl_strain_limits_destroy(tl_strain_limits *l)
{
    if (!l) return;
    const tl_allocator alloc = l->alloc, *al = &alloc;
    TL_FREE(al, l->bounds, l->bounds_count);
    TL_FREE(al, l->cloth, l->face_count);
    TL_FREE(al, l->multiplier, l->face_count);
    TL_FREE(al, l->trial, l->face_count);
    TL_FREE(al, l->stiffness, l->face_count);
    TL_FREE(al, l->base, l->face_count);
    TL_FREE(al, l->next, l->face_count);
    TL_FREE(al, l->give, l->face_count);
    TL_FREE(al, l->widen, l->face_count);
    TL_FREE(al, l->bold, l->face_count);
    TL_FREE(al, l->seen, l->face_count);
    TL_FREE(al, l, 1);
}

tl_status tl_strain_limits_create(const tl_allocator *al, const tl_elements *e, const tl_strain_def *defs,
                                  tl_strain_limits **out, tl_error *err)
{
    *out = NULL;
    tl_strain_limits *l = TL_CALLOC(al, tl_strain_limits, 1);
    if (!l) return tl_fail_memory(err, "the strain limits");
    const int32_t m = e->face_count;
    l->alloc = *al, l->face_count = m, l->bounds_count = e->cloth_count;
    l->bounds = TL_CALLOC(al, tl_strain_bounds, e->cloth_count);
    l->cloth = TL_CALLOC(al, int32_t, m);
    l->multiplier = TL_CALLOC_FOR(al, l->multiplier, m);
    l->trial = TL_CALLOC_FOR(al, l->trial, m);
    l->stiffness = TL_CALLOC(al, double, m);
    l->base = TL_CALLOC(al, double, m);
    l->next = TL_CALLOC_FOR(al, l->next, m);
    l->give = TL_CALLOC(al, double, m);
    l->widen = TL_CALLOC(al, double, m);
    l->bold = TL_CALLOC(al, double, m);
    l->seen = TL_CALLOC(al, tl_strain_seen, m);
    if (!l->bounds || !l->cloth || !l->multiplier || !l->trial || !l->stiffness || !l->base || !l->next || !l->seen ||
        !l->give || !l->widen || !l->bold) {
        tl_strain_limits_destroy(l);
        return tl_fail_memory(err, "the strain limits");
    }
    for (int32_t c = 0; c < e->cloth_count; c++) {
        l->bounds[c] = bounds_of(&defs[c]);
        for (int32_t slot = e->cloth_face_start[c]; slot < e->cloth_face_start[c + 1]; slot++)
            if (e->face_of[slot] != TL_NONE) l->cloth[e->face_of[slot]] = c;
    }
    for (int32_t f = 0; f < m; f++) l->stiffness[f] = l->base[f] = l->bold[f] = 1;
    *out = l;
    return TL_OK;
}

void tl_strain_tighten(tl_strain_limits *l, double margin)
{
    for (int32_t c = 0; c < l->bounds_count; c++) {
        tl_strain_bounds *b = &l->bounds[c];
        for (int k = 0; k < 3; k++) {
            const double m = fmin(margin, 0.25 * (b->high[k] - b->low[k]));
            b->margin[k] = m, b->low[k] += m, b->high[k] -= m;
        }
    }
}

#define SEAM_PLAY 0.002  // [strain] more than rest lengths ask for: else these faces could not move at all

double tl_strain_widen_seam(tl_strain_limits *l, int32_t a, int32_t b, double ratio)
{
    if (!(ratio > 1)) return 0;
    double least = -(double)INFINITY;  // whichever of the two is the longer side
    for (int side = 0; side < 2; side++) {
        const tl_strain_bounds *longer = &l->bounds[l->cloth[side == 0 ? a : b]],
                               *shorter = &l->bounds[l->cloth[side == 0 ? b : a]];
        if (longer->aligned || shorter->aligned) return 0;
        // one length for both: (1 + high + widen) / (1 + low - widen) = ratio
        least = fmax(least, (ratio * (1 + longer->low[0]) - (1 + shorter->high[0])) / (1 + ratio));
    }
    const double widen = least + SEAM_PLAY;
    if (!(widen > 0)) return 0;
    l->widen[a] = l->give[a] = fmax(l->widen[a], widen);
    l->widen[b] = l->give[b] = fmax(l->widen[b], widen);
    return widen;
}
