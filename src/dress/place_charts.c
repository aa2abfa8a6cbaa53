// dress/place_charts.c: parts of the body as planes and cylinders, and how a panel lies on them.

#include <math.h>

#include "dress/place_impl.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define TRUNK_ROOM 0.10  // [m] between the trunk and panels before and behind it
#define ARM_ROOM 0.07    // .. an arm
#define SIDE_ROOM 0.08   // .. the side of the trunk or the head and panels beside it
#define WRAP_ROOM 0.02   // .. a limb and a panel bent around it
#define PATCH_ROOM 0.02  // [m] between a pocket and what it is sewn to
#define SNAP 0.6         // [rad] an axis that is so near to the panel's own is the panel's own
#define WEAK 0.03        // of the weight of the seams
#define STRONG 0.6
#define AROUND 0.6  // of the girth: a panel as wide as that goes around

static const double pi = 3.14159265358979323846;

static tl_chart chart_of(tl_vec3 origin, tl_vec3 up, tl_vec3 out)
{
    const tl_vec3 a = tl_unit3_or(up, (tl_vec3){0, 1, 0});
    const tl_vec3 n = tl_unit3_or(tl_madd3(out, -tl_dot3(out, a), a), (tl_vec3){0, 0, 1});
    return (tl_chart){origin, tl_cross3(a, n), a, n};
}

void tl_part_set_turn(const tl_placer *p, int32_t panel, double turn)
{
    tl_part *part = &p->part[panel];
    const tl_panel *view = tl_pattern_panel(p->pattern, panel);
    const double c = tl_cos(turn), s = tl_sin(turn), m = part->mirrored ? -1 : 1;
    part->turn = turn;
    part->low = (tl_vec2){INFINITY, INFINITY}, part->high = (tl_vec2){-INFINITY, -INFINITY};
    for (int32_t i = 0; i < view->curve_count; i++)
        for (int k = 0; k <= 4; k++) {
            const tl_vec2 q = tl_sub2(tl_segment_point(&view->curves[i], 0.25 * k), part->middle);
            const tl_vec2 r = {m * (c * q.x - s * q.y), s * q.x + c * q.y};
            part->low = (tl_vec2){fmin(part->low.x, r.x), fmin(part->low.y, r.y)};
            part->high = (tl_vec2){fmax(part->high.x, r.x), fmax(part->high.y, r.y)};
        }
}

tl_vec3 tl_part_point(const tl_placer *p, int32_t panel, tl_vec2 point)
{
    const tl_part *part = &p->part[panel];
    if (part->fixed) return tl_placement_point(&tl_pattern_panel(p->pattern, panel)->placement, point);
    const tl_chart *h = &part->chart;
    const double c = tl_cos(part->turn), s = tl_sin(part->turn), m = part->mirrored ? -1 : 1;
    const tl_vec2 q = tl_sub2(point, part->middle);
    const double x = part->at.x + m * (c * q.x - s * q.y), y = part->at.y + s * q.x + c * q.y, r = part->radius;
    const tl_vec3 level = tl_madd3(h->origin, y, h->up);
    if (!(r > 0)) return tl_madd3(level, x, h->across);
    const tl_vec3 axis = tl_madd3(level, -r, h->out);
    return tl_madd3(tl_madd3(axis, r * tl_sin(x / r), h->across), r * tl_cos(x / r), h->out);
}

// ---- which way up -------------------------------------------------------------------------------------------

static bool in_tube(const tl_placer *p, int32_t a, int32_t b)
{
    const tl_panel_words *u = &p->part[a].words, *v = &p->part[b].words;
    if (u->region != v->region || u->side != v->side) return false;
    return a == b ? p->part[a].tube : u->face != v->face;
}

// The direction of the seams that close a tube around the limb, in the panel's plane; zero: there are none.
static tl_vec2 tube_axis(const tl_placer *p, int32_t panel)
{
    tl_vec2 sum = {0, 0};
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        for (int k = 0; k < 2; k++) {
            if (seam->side[k].panel != panel || !in_tube(p, panel, seam->side[1 - k].panel)) continue;
            const tl_vec2 way = tl_sub2(p->sample[s][k][TL_PLACE_SAMPLES - 1], p->sample[s][k][0]);
            sum = tl_add2(sum, tl_mul2(tl_dot2(sum, way) < 0 ? -1 : 1, way));
        }
    }
    return sum;
}

// Middle of the seams to other regions, from the middle of the panel: where a sleeve or a leg comes from.
static tl_vec2 root_of_limb(const tl_placer *p, int32_t panel)
{
    tl_vec2 sum = {0, 0};
    double weight = 0;
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        for (int k = 0; k < 2; k++) {
            const int32_t other = seam->side[1 - k].panel;
            if (seam->side[k].panel != panel || p->part[other].words.region == p->part[panel].words.region) continue;
            if (p->part[other].words.region == TL_WORN_PATCH) continue;
            const tl_vec2 q = p->sample[s][k][TL_PLACE_SAMPLES / 2];
            sum = tl_add2(sum, tl_mul2(p->weight[s], tl_sub2(q, p->part[panel].middle))), weight += p->weight[s];
        }
    }
    return weight > 0 ? tl_mul2(1 / weight, sum) : sum;
}

// The angle that turns the panel's way up to its chart's.
static double turn_of(const tl_placer *p, int32_t panel)
{
    const tl_worn region = p->part[panel].words.region;
    const bool by_root = region == TL_WORN_ARM || region == TL_WORN_LEG;
    tl_vec2 up = by_root ? tube_axis(p, panel) : (tl_vec2){0, 1};  // the side seams of a wide skirt lie level
    const tl_vec2 root = root_of_limb(p, panel);
    const double size = tl_norm2(tl_sub2(p->part[panel].high, p->part[panel].low));
    if (!(tl_norm2(up) > 0.1 * size)) up = (tl_vec2){0, 1};
    const double along = tl_dot2(up, root);
    const bool down = by_root && fabs(along) > 0.05 * size * tl_norm2(up) ? along < 0 : up.y < 0;
    if (down) up = tl_mul2(-1, up);
    double angle = tl_atan2(up.x, up.y);  // turned left by it, (up.x, up.y) comes to (0, 1)
    const double near = floor(angle / (0.5 * pi) + 0.5) * 0.5 * pi;
    if (fabs(angle - near) < SNAP) angle = near;
    return angle;
}

// ---- charts -------------------------------------------------------------------------------------------------

static double reach(const tl_figure *f, double low, double high, bool depth, int end)
{
    double most = 0;
    for (int32_t i = tl_figure_level(f, low); i <= tl_figure_level(f, high); i++) {
        const double d = depth ? f->depth[end][i] - f->trunk.z : f->side[end][i] - f->trunk.x;
        most = fmax(most, end ? d : -d);
    }
    return most;
}

static tl_chart trunk_chart(const tl_figure *f, int face, int side)
{
    const double low = f->low.y + 0.1 * (f->high.y - f->low.y);
    const tl_vec3 o = {f->trunk.x, f->waist, f->trunk.z}, up = {0, 1, 0};
    if (face == 0 && side != 0) {
        const double way = reach(f, f->crotch, f->waist, false, side > 0) + SIDE_ROOM;
        return chart_of(tl_madd3(o, side * way, (tl_vec3){1, 0, 0}), up, (tl_vec3){side, 0, 0});
    }
    const int sign = face < 0 ? -1 : 1;
    const double way = reach(f, low, f->shoulders, true, sign > 0) + TRUNK_ROOM;
    return chart_of(tl_madd3(o, sign * way, (tl_vec3){0, 0, 1}), up, (tl_vec3){0, 0, sign});
}

static tl_vec3 limb_up(const tl_limb_line *l)
{
    return tl_sub3(l->at[0], l->at[l->count > 2 ? l->count - 2 : l->count - 1]);
}

// Panels before and behind an arm hang from its root; one around it has its seam below.
static void arm_chart(const tl_figure *f, tl_part *part)
{
    const tl_limb_line *l = &f->limb[part->words.side < 0 ? TL_LIMB_RIGHT_ARM : TL_LIMB_LEFT_ARM];
    const bool has = l->count > 1;
    const tl_vec3 shoulder = has ? l->at[0] : (tl_vec3){part->words.side * 0.2, f->shoulders, f->trunk.z};
    const tl_vec3 up = has ? limb_up(l) : (tl_vec3){-part->words.side * 0.7, 0.7, 0};
    const double radius = l->radius > 0 ? l->radius : 0.05;
    if (part->tube) {
        part->radius = fmax((part->high.x - part->low.x) / (2 * pi), radius + WRAP_ROOM);
        part->chart = chart_of(shoulder, up, (tl_vec3){part->words.side * 0.5, 1, 0});
        part->chart.origin = tl_madd3(shoulder, part->radius, part->chart.out);
    } else {
        const int face = part->words.face < 0 ? -1 : 1;
        part->chart =
            chart_of(tl_madd3(shoulder, face * (radius + ARM_ROOM), (tl_vec3){0, 0, 1}), up, (tl_vec3){0, 0, face});
    }
    part->wanted = (tl_vec2){0, -part->high.y + 0.02}, part->pull = (tl_vec2){STRONG, WEAK};
}

static void leg_chart(const tl_figure *f, tl_part *part)
{
    const tl_limb_line *l = &f->limb[part->words.side < 0 ? TL_LIMB_RIGHT_LEG : TL_LIMB_LEFT_LEG];
    const double x = l->count > 0 ? l->at[l->count / 2].x - f->trunk.x : part->words.side * 0.1;
    part->pull = (tl_vec2){WEAK, WEAK};
    if (part->tube) {
        const tl_vec3 out = {part->words.side, 0, 0}, o = {f->trunk.x + x, f->waist, f->trunk.z};
        part->radius = fmax((part->high.x - part->low.x) / (2 * pi), l->radius + WRAP_ROOM);
        part->chart = chart_of(tl_madd3(o, part->radius, out), (tl_vec3){0, 1, 0}, out);
        part->wanted = (tl_vec2){0, -part->high.y};
        part->pull.x = STRONG;
        return;
    }
    part->chart = trunk_chart(f, part->words.face < 0 ? -1 : 1, 0);
    const double width = part->high.x - part->low.x, least = 0.5 * width;  // the inner edge at the middle
    const double way = part->words.side * fmax(fabs(x), least), facing = part->words.face < 0 ? -1 : 1;
    part->wanted = (tl_vec2){facing * way, -part->high.y};
}

static void trunk_part(const tl_placer *p, tl_part *part, double top)
{
    const tl_figure *f = p->figure;
    const tl_panel_words *w = &part->words;
    const double width = part->high.x - part->low.x;
    const int32_t i = tl_figure_level(f, fmin(top, f->shoulders));
    const double across = 0.5 * (f->side[1][i] - f->side[0][i]), deep = 0.5 * (f->depth[1][i] - f->depth[0][i]);
    const double girth = w->region == TL_WORN_NECK ? 0.4 : 2 * pi * sqrt(0.5 * (across * across + deep * deep));
    part->pull = (tl_vec2){WEAK, WEAK};
    part->wanted = (tl_vec2){0, top - f->waist - part->high.y};
    if (part->tube || (w->face == 0 && w->side == 0 && width > AROUND * girth)) {
        const bool neck = w->region == TL_WORN_NECK;
        const tl_vec3 out = {0, 0, neck ? -1 : 1};
        const double body = neck ? 0.08 : fmax(across, deep);
        const tl_vec3 o = {f->trunk.x, f->waist, f->trunk.z};
        part->radius = fmax(width / (2 * pi), body + WRAP_ROOM);
        part->chart = chart_of(tl_madd3(o, part->radius, out), (tl_vec3){0, 1, 0}, out);
        part->pull.x = STRONG;
        return;
    }
    part->chart = trunk_chart(f, w->face, w->side);
    if (w->face != 0 && w->side != 0) part->wanted.x = w->side * w->face * 0.5 * width;
}

static void hood_part(const tl_figure *f, tl_part *part)
{
    const double middle = 0.5 * (f->neck + f->high.y);
    const int32_t i = tl_figure_level(f, middle);
    const int side = part->words.side < 0 ? -1 : 1;
    const double x = side > 0 ? f->side[1][i] + SIDE_ROOM : f->side[0][i] - SIDE_ROOM;
    part->chart = chart_of((tl_vec3){x, middle, f->trunk.z}, (tl_vec3){0, 1, 0}, (tl_vec3){side, 0, 0});
    part->wanted = (tl_vec2){0, 0}, part->pull = (tl_vec2){WEAK, WEAK}, part->free = true;
}

// Anything sewn between fronts and backs above their middle hangs it from the shoulders.
static bool hangs_from_shoulders(const tl_placer *p)
{
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        const int32_t a = seam->side[0].panel, b = seam->side[1].panel;
        const tl_part *u = &p->part[a], *v = &p->part[b];
        if (u->words.region == TL_WORN_ARM || u->words.region == TL_WORN_NECK || v->words.region == TL_WORN_ARM ||
            v->words.region == TL_WORN_NECK)
            return true;
        if (u->words.region != TL_WORN_TORSO || v->words.region != TL_WORN_TORSO || u->words.face == v->words.face)
            continue;
        const tl_vec2 q = tl_sub2(p->sample[s][0][TL_PLACE_SAMPLES / 2], u->middle);
        const double up = tl_sin(u->turn) * q.x + tl_cos(u->turn) * q.y;
        if (up > u->low.y + 0.8 * (u->high.y - u->low.y)) return true;
    }
    return false;
}

void tl_place_find_charts(tl_placer *p)
{
    const tl_figure *f = p->figure;
    bool torso = false;
    for (int32_t i = 0; i < p->count; i++) {
        torso = torso || p->part[i].words.region == TL_WORN_TORSO;
        tl_part_set_turn(p, i, turn_of(p, i));
    }
    const double height = f->high.y - f->low.y;
    const double torso_top = hangs_from_shoulders(p) ? f->shoulders + 0.01 * height : f->shoulders - 0.1 * height;
    for (int32_t i = 0; i < p->count; i++) {
        tl_part *part = &p->part[i];
        switch (part->words.region) {
        case TL_WORN_ARM: arm_chart(f, part); break;
        case TL_WORN_LEG: leg_chart(f, part); break;
        case TL_WORN_HEAD: hood_part(f, part); break;
        case TL_WORN_NECK: trunk_part(p, part, f->neck); break;
        case TL_WORN_TORSO: trunk_part(p, part, torso_top); break;
        default: trunk_part(p, part, f->waist + 0.01 * height); break;
        }
        const bool low = part->words.region == TL_WORN_HIPS || part->words.region == TL_WORN_LEG ||
                         part->words.region == TL_WORN_WAIST;
        if (torso && low) part->pull.y = 0.01 * WEAK;                              // hangs from what is above
        if (part->radius > 0 && fabs(tl_sin(part->turn)) > 0.5) part->radius = 0;  // bends go along x
        part->at = part->wanted;
    }
    for (int32_t i = 0; i < p->count; i++) {
        tl_part *part = &p->part[i];
        if (part->words.region != TL_WORN_PATCH || part->on < 0) continue;
        const tl_part *under = &p->part[part->on];
        part->chart = under->chart, part->radius = under->radius, part->free = !(under->radius > 0);
        part->chart.origin = tl_madd3(part->chart.origin, PATCH_ROOM, part->chart.out);
        part->at = part->wanted = under->at, part->pull = (tl_vec2){1e-3, 1e-3};
    }
}
