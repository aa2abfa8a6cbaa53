// dress/raise.c: see raise.h.

#include "dress/raise.h"

#include <math.h>

#include "dress/place_words.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define SLEEVE_FROM 0.22  // [m] along the arm: a body's panel does not reach there ..
#define SLEEVE_WIDE 0.10  // [m] .. above its line and so near to it, seen from the front: a wide one ends below
#define HANGING -0.9      // rise of an arm per length: below it, arms lie against the trunk and stay there
#define ARM_WIDE 1.8      // of the arm's radius: what belongs to it ..
#define HAND_WIDE 0.02    // [m] .. and that
#define SHOULDER 0.06     // [m] outwards from the armpit in which the turn grows to its full size ..
#define SHOULDER_IN 0.01  // [m] .. from so far within: ribs stay where they are

static tl_vec3 direction(const tl_limb_line *l)
{
    const int32_t far = l->count > 2 ? l->count - 2 : l->count - 1;
    return tl_unit3_or(tl_sub3(l->at[far], l->at[0]), (tl_vec3){0, 1, 0});
}

bool tl_garment_has_sleeves(const tl_garment *g, const tl_pattern *pattern, const tl_figure *figure)
{
    for (int32_t i = 0; i < tl_pattern_panel_count(pattern); i++)
        if (tl_panel_words_of(tl_pattern_panel(pattern, i)).region == TL_WORN_ARM) return true;
    for (int limb = TL_LIMB_LEFT_ARM; limb <= TL_LIMB_RIGHT_ARM; limb++) {
        const tl_limb_line *l = &figure->limb[limb];
        if (l->count < 2) continue;
        const tl_vec3 a = direction(l);
        const int side = limb == TL_LIMB_LEFT_ARM ? 1 : -1;
        for (int32_t n = 0; n < g->node_count; n++) {
            const tl_vec3 r = tl_sub3(g->pos[n], l->at[0]);
            const double along = r.x * a.x + r.y * a.y, above = side * (r.y * a.x - r.x * a.y);
            if (along > SLEEVE_FROM && above > 0 && above < SLEEVE_WIDE) return true;
        }
    }
    return false;
}

static void raise(const tl_limb_line *l, int side, const tl_vec3 *rest, int32_t n, double shift, tl_vec3 *x)
{
    const tl_vec3 a = direction(l), joint = l->at[0];
    if (a.y < HANGING || a.y >= 0 || !(side * a.x > 0)) return;
    const double angle = -tl_atan2(a.y, side * a.x), wide = ARM_WIDE * l->radius + HAND_WIDE;
    for (int32_t v = 0; v < n; v++) {
        const tl_vec3 r = tl_sub3(rest[v], joint);
        const double s = tl_dot3(r, a);
        const double off = tl_norm3(tl_madd3(r, -s, a));
        const double out = side * r.x + SHOULDER_IN;
        if (out <= 0 || off > wide) continue;
        const double t = fmin(out / SHOULDER, 1), w = t * t * (3 - 2 * t);
        const double c = tl_cos(w * angle), k = side * tl_sin(w * angle);
        const tl_vec3 at = {joint.x, joint.y + shift, joint.z}, d = tl_sub3(x[v], at);
        x[v] = tl_add3(at, (tl_vec3){c * d.x - k * d.y, k * d.x + c * d.y, d.z});
    }
}

void tl_body_raise_arms(const tl_figure *figure, const tl_vec3 *rest, int32_t vert_count, double shift, tl_vec3 *x)
{
    for (int limb = TL_LIMB_LEFT_ARM; limb <= TL_LIMB_RIGHT_ARM; limb++)
        if (figure->limb[limb].count > 1)
            raise(&figure->limb[limb], limb == TL_LIMB_LEFT_ARM ? 1 : -1, rest, vert_count, shift, x);
}
