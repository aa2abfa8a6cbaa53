// dress/place.c: panels are put before the parts of the body that they belong to, then moved in their planes until what
// is to be sewn together lies as near as it can, by turns (a few hundred sweeps of Gauss-Seidel on springs of the
// seams' lengths; hoods and pockets may turn as well).

#include "dress/place.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dress/place_impl.h"
#include "math/elementary.h"
#include "math/vec3.h"

#define FAR_SEAM 0.9  // [m] mean distance of a panel's seams: it does not belong there
#define BETTER 0.6    // of the distance before: a panel that is turned over, or left for right, fits
enum { SWEEPS = 300, FEW_SWEEPS = 60 };

static const double pi = 3.14159265358979323846;

static bool take_samples(tl_placer *p)
{
    p->seam_count = tl_pattern_seam_count(p->pattern), p->count = tl_pattern_panel_count(p->pattern);
    p->part = TL_CALLOC(p->alloc, tl_part, p->count);
    p->sample = tl_alloc_bytes(p->alloc, (size_t)p->seam_count, sizeof *p->sample);
    p->weight = TL_ALLOC(p->alloc, double, p->seam_count);
    if (!p->part || !p->sample || !p->weight) return false;
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < TL_PLACE_SAMPLES; i++)
                p->sample[s][k][i] = tl_seam_side_point(p->pattern, &seam->side[k], (double)i / (TL_PLACE_SAMPLES - 1));
        p->weight[s] = tl_seam_side_length(p->pattern, &seam->side[0]);
    }
    for (int32_t i = 0; i < p->count; i++) {
        tl_part_set_turn(p, i, 0);  // about the origin: its extent
        p->part[i].middle = tl_mul2(0.5, tl_add2(p->part[i].low, p->part[i].high));
    }
    return true;
}

/// Sums over the seams of one panel.
typedef struct pulls {
    double weight, across, up, cross, dot;
} pulls;

static void add_pull(const tl_placer *p, int32_t panel, int32_t seam, int side, pulls *sum)
{
    const tl_part *part = &p->part[panel];
    const int32_t other = tl_pattern_seam(p->pattern, seam)->side[1 - side].panel;
    const double c = tl_cos(part->turn), s = tl_sin(part->turn), m = part->mirrored ? -1 : 1;
    for (int i = 0; i < TL_PLACE_SAMPLES; i++) {
        const tl_vec2 q = tl_sub2(p->sample[seam][side][i], part->middle);
        const tl_vec2 own = {m * (c * q.x - s * q.y), s * q.x + c * q.y};
        const tl_vec3 to = tl_sub3(tl_part_point(p, other, p->sample[seam][1 - side][i]), part->chart.origin);
        double x = tl_dot3(to, part->chart.across);
        const double y = tl_dot3(to, part->chart.up);
        if (part->radius > 0) x = part->radius * tl_atan2(x, tl_dot3(to, part->chart.out) + part->radius);
        sum->weight += p->weight[seam];
        sum->across += p->weight[seam] * (x - own.x - part->at.x);
        sum->up += p->weight[seam] * (y - own.y - part->at.y);
        const tl_vec2 aim = {x - part->at.x, y - part->at.y};
        sum->cross += p->weight[seam] * tl_cross2(own, aim), sum->dot += p->weight[seam] * tl_dot2(own, aim);
    }
}

static pulls pulls_on(const tl_placer *p, int32_t panel)
{
    pulls sum = {0};
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        if (seam->side[0].panel == seam->side[1].panel) continue;
        for (int k = 0; k < 2; k++)
            if (seam->side[k].panel == panel) add_pull(p, panel, s, k, &sum);
    }
    return sum;
}

static void move_panel(tl_placer *p, int32_t panel)
{
    tl_part *part = &p->part[panel];
    const pulls sum = pulls_on(p, panel);
    if (!(sum.weight > 0)) return;
    const double px = part->pull.x * sum.weight, py = part->pull.y * sum.weight;
    part->at.x += (sum.across + px * (part->wanted.x - part->at.x)) / (sum.weight + px);
    part->at.y += (sum.up + py * (part->wanted.y - part->at.y)) / (sum.weight + py);
    if (!part->free || !(sum.dot * sum.dot + sum.cross * sum.cross > 0)) return;
    tl_part_set_turn(p, panel, part->turn + (part->mirrored ? -0.5 : 0.5) * tl_atan2(sum.cross, sum.dot));
}

static void sweep(tl_placer *p, int sweeps)
{
    for (int i = 0; i < sweeps; i++)
        for (int32_t k = 0; k < p->count; k++)
            if (!p->part[k].fixed) move_panel(p, k);
}

// Mean distance between the two sides of a panel's seams (-1: all seams).
static double distance(const tl_placer *p, int32_t panel)
{
    double sum = 0, weight = 0;
    for (int32_t s = 0; s < p->seam_count; s++) {
        const tl_seam *seam = tl_pattern_seam(p->pattern, s);
        const int32_t a = seam->side[0].panel, b = seam->side[1].panel;
        if (a == b || (panel >= 0 && a != panel && b != panel)) continue;
        for (int i = 0; i < TL_PLACE_SAMPLES; i++) {
            const tl_vec3 x = tl_part_point(p, a, p->sample[s][0][i]), y = tl_part_point(p, b, p->sample[s][1][i]);
            sum += p->weight[s] * tl_norm3(tl_sub3(x, y)), weight += p->weight[s];
        }
    }
    return weight > 0 ? sum / weight : 0;
}

// A panel that fits far better upside down or wrong side out is put so: its drawing says nothing about either.
static void try_other_ways(tl_placer *p)
{
    for (int32_t i = 0; i < p->count; i++) {
        tl_part *part = &p->part[i];
        if (part->fixed) continue;
        for (int way = 1; way < 8; way++) {
            const tl_part before = *part;
            const double least = distance(p, i);
            if (before.radius > 0 && (way & 1)) continue;  // bends go along x
            if (way & 4) part->mirrored = !part->mirrored;
            tl_part_set_turn(p, i, before.turn + 0.5 * pi * (way & 3));
            part->wanted.y = before.wanted.y + before.high.y - part->high.y;
            for (int k = 0; k < 20; k++) move_panel(p, i);
            if (!(distance(p, i) < BETTER * least)) *part = before;
        }
    }
}

static double arrange(tl_placer *p)
{
    tl_place_find_charts(p);
    sweep(p, FEW_SWEEPS);
    try_other_ways(p);
    sweep(p, SWEEPS);
    return distance(p, -1);
}

static void swap_sides(tl_placer *p)
{
    for (int32_t i = 0; i < p->count; i++) {
        tl_part *part = &p->part[i];
        part->words.side = -part->words.side, part->radius = 0, part->free = false;
        part->mirrored = tl_pattern_panel(p->pattern, i)->area < 0;
    }
}

// "Left" may be the wearer's or the reader's.
static double arrange_either_way(tl_placer *p)
{
    const double first = arrange(p);
    bool any = false;
    for (int32_t i = 0; i < p->count; i++) any = any || p->part[i].words.side != 0;
    if (!any) return first;
    swap_sides(p);
    const double second = arrange(p);
    if (second < BETTER * first) return second;
    swap_sides(p);
    return arrange(p);
}

// ---- as a placement -----------------------------------------------------------------------------------------

static tl_vec3 angles_of(tl_vec3 x, tl_vec3 y, tl_vec3 z)
{
    const double deg = 180 / pi, flat = tl_hypot(x.x, x.y);
    return (tl_vec3){deg * tl_atan2(y.z, z.z), deg * tl_atan2(-x.z, flat), deg * tl_atan2(x.y, x.x)};
}

static tl_vec3 turned(tl_vec3 x, tl_vec3 y, tl_vec2 p) { return tl_madd3(tl_mul3(p.x, x), p.y, y); }

static tl_placement placement_of(const tl_part *part)
{
    const tl_chart *h = &part->chart;
    const double c = tl_cos(part->turn), s = tl_sin(part->turn), m = part->mirrored ? -1 : 1, r = part->radius;
    tl_vec3 t = h->across, n = h->out;
    tl_placement out = {.bend = 0};
    if (r > 0) {
        const double sign = c < 0 ? -1 : 1, angle = (part->at.x - m * sign * part->middle.x) / r;
        t = tl_madd3(tl_mul3(tl_cos(angle), h->across), -tl_sin(angle), h->out);
        n = tl_madd3(tl_mul3(tl_cos(angle), h->out), tl_sin(angle), h->across);
        const tl_vec3 axis = tl_madd3(h->origin, -r, h->out);
        out.bend = m / r;
        out.origin = tl_madd3(tl_madd3(axis, r, n), part->at.y - sign * part->middle.y, h->up);
        out.rotation_deg = angles_of(tl_mul3(m * sign, t), tl_mul3(sign, h->up), tl_mul3(m, n));
        return out;
    }
    const tl_vec3 x = tl_madd3(tl_mul3(m * c, t), s, h->up), y = tl_madd3(tl_mul3(-m * s, t), c, h->up);
    out.rotation_deg = angles_of(x, y, tl_mul3(m, n));
    out.origin = tl_sub3(tl_madd3(tl_madd3(h->origin, part->at.x, t), part->at.y, h->up), turned(x, y, part->middle));
    return out;
}

static tl_status place(tl_placer *p, tl_place_report *report, tl_error *err)
{
    if (!take_samples(p)) return tl_fail_memory(err, "placing panels");
    TL_TRY(tl_place_find_parts(p, err));
    report->seam_distance = arrange_either_way(p);
    for (int32_t i = 0; i < p->count; i++) {
        const tl_part *part = &p->part[i];
        const double far = distance(p, i);
        if (part->fixed) continue;
        if (far > FAR_SEAM)
            return tl_fail(
                err, TL_BAD_INPUT,
                "panel '%.60s' cannot be placed: wherever it is put, its seams lie %.2f m from what they are "
                "sewn to; give it a placement (docs/patterns.md)",
                tl_pattern_panel(p->pattern, i)->name, far);
        const tl_placement at = placement_of(part);
        TL_TRY(tl_pattern_set_placement(p->pattern, i, &at, err));
        report->placed++, report->wrapped += part->radius > 0;
    }
    return TL_OK;
}

tl_status tl_pattern_place(const tl_allocator *alloc, tl_pattern *pattern, const tl_figure *figure, bool all,
                           tl_place_report *report, tl_error *err)
{
    tl_placer p = {.alloc = alloc, .pattern = pattern, .figure = figure, .all = all};
    *report = (tl_place_report){0};
    const tl_status status = place(&p, report, err);
    TL_FREE(alloc, p.part, p.count);
    TL_FREE(alloc, p.sample, p.seam_count);
    TL_FREE(alloc, p.weight, p.seam_count);
    return status;
}
