// pattern/refine.c: Delaunay refinement (Ruppert 1995, Chew 1993) with off-centres (Ungor 2004).
//
// A triangle that is too large or too thin gets a point on the bisector of its shortest edge: as far as the wanted edge
// length says, no further than keeps the least angle, no further than its circumcentre. Where the way there is blocked
// by a segment, or the point would see one under more than 120 degrees, the segment is cut instead. Segments that meet
// at a small angle are cut on circles around the corner with radii of powers of two, so that cuts do not call for each
// other; what is thin because the input is so is left. Every new edge is longer than a bound set beforehand: it ends.

#include "pattern/refine.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "math/predicates.h"
#include "pattern/polyline.h"

#define LARGE 0.75  // largest circumradius over the wanted edge length; 0.577 where all edges have it

static double squared(tl_vec2 a, tl_vec2 b)
{
    const tl_vec2 e = tl_sub2(b, a);
    return tl_dot2(e, e);
}

double tl_refine_size(const tl_delaunay_def *def, tl_vec2 p)
{
    double size = def->edge > 0 ? def->edge : INFINITY;
    if (def->size) {
        const double here = def->size(def->user, p);
        if (here > 0 && here < size) size = here;
    }
    return size;
}

// --- judging triangles ---------------------------------------------------------------------------------------

typedef struct shape {
    int32_t shortest;  ///< corner opposite the shortest edge
    double least;      ///< length of it, squared
    double radius;     ///< of the circumcircle, squared
} shape;

static shape shape_of(const tl_cdt *c, const tl_cdt_tri *t)
{
    const tl_vec2 p[3] = {c->point[t->v[0]], c->point[t->v[1]], c->point[t->v[2]]};
    double e[3];
    shape s = {0};
    for (int k = 0; k < 3; k++) {
        e[k] = squared(p[tl_next3(k)], p[tl_prev3(k)]);
        if (e[k] < e[s.shortest]) s.shortest = k;
    }
    const double area2 = tl_cross2(tl_sub2(p[1], p[0]), tl_sub2(p[2], p[0]));
    s.least = e[s.shortest];
    s.radius = e[0] * e[1] * e[2] / (4 * area2 * area2);
    return s;
}

// The sharp corner where the edges of two vertices on segments meet, -1: none.
static int32_t common_corner(const tl_refine_region *region, int32_t u, int32_t w)
{
    const int32_t eu = region->cdt.vert_edge[u], ew = region->cdt.vert_edge[w];
    if (eu < 0 || ew < 0 || eu == ew) return -1;
    const int32_t a = eu < ew ? eu : ew, b = eu + ew - a;
    int32_t low = 0, high = region->sharp_count;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        const tl_sharp_corner *at = &region->sharp[mid];
        if (at->a == a && at->b == b) return at->z;
        if (at->a < a || (at->a == a && at->b < b))
            low = mid + 1;
        else
            high = mid;
    }
    return -1;
}

// Thin because the input is: the angle is that of two segments, or the shortest edge joins two points at one distance
// from a sharp corner.
static bool is_excused(const tl_refine_region *region, const tl_cdt_tri *t, const shape *s)
{
    const int32_t k = s->shortest;
    if (t->s[tl_next3(k)] >= 0 && t->s[tl_prev3(k)] >= 0) return true;
    const int32_t u = t->v[tl_next3(k)], w = t->v[tl_prev3(k)], corner = common_corner(region, u, w);
    if (corner < 0) return false;
    const tl_vec2 *p = region->cdt.point, du = tl_sub2(p[u], p[corner]), dw = tl_sub2(p[w], p[corner]);
    const double lu = sqrt(tl_dot2(du, du)), lw = sqrt(tl_dot2(dw, dw));
    return tl_dot2(du, dw) > 0.5 * lu * lw && fabs(lu - lw) < 1e-3 * (lu + lw);  // on the same side of a crossing
}

bool tl_refine_is_poor(const tl_refiner *f, const tl_refine_region *region, int32_t t, bool *excused)
{
    const shape s = shape_of(&region->cdt, &region->cdt.tri[t]);
    const bool poor = !(s.least >= 4 * s.radius * f->sine * f->sine);
    *excused = poor && is_excused(region, &region->cdt.tri[t], &s);
    return poor;
}

static bool is_wanting(const tl_refiner *f, const tl_refine_region *region, int32_t t)
{
    const tl_cdt *c = &region->cdt;
    const tl_cdt_tri *tri = &c->tri[t];
    const shape s = shape_of(c, tri);
    if (f->def->edge > 0 || f->def->size) {
        const tl_vec2 sum = tl_add2(tl_add2(c->point[tri->v[0]], c->point[tri->v[1]]), c->point[tri->v[2]]);
        const double size = LARGE * tl_refine_size(f->def, tl_scale2(sum, 1.0 / 3));
        if (s.radius > size * size) return true;
    }
    if (s.least >= 4 * s.radius * f->sine * f->sine) return false;
    return s.least > region->shortest * region->shortest && !is_excused(region, tri, &s);
}

// x sees the segment under more than 120 degrees
static bool sees_wide(const tl_cdt *c, const tl_cdt_segment *s, tl_vec2 x)
{
    const tl_vec2 a = tl_sub2(c->point[s->a], x), b = tl_sub2(c->point[s->b], x);
    const double dot = tl_dot2(a, b);
    return dot < 0 && dot * dot > 0.25 * tl_dot2(a, a) * tl_dot2(b, b);
}

// --- queues --------------------------------------------------------------------------------------------------

static bool push_tri(const tl_refiner *f, tl_refine_region *region, int32_t t)
{
    if (region->queue_head > 4096 && region->queue_head > region->queue_count / 2) {
        region->queue_count -= region->queue_head;
        memmove(region->queue, region->queue + region->queue_head, (size_t)region->queue_count * sizeof *region->queue);
        region->queue_head = 0;
    }
    if (!TL_GROW(&f->alloc, region->queue, region->queue_cap, region->queue_count + 1)) return false;
    const int32_t *v = region->cdt.tri[t].v;
    region->queue[region->queue_count++] = (tl_refine_item){t, {v[0], v[1], v[2]}};
    return true;
}

// `surely`: whether or not a vertex is near when its turn comes
static bool push_cut(const tl_refiner *f, tl_refine_region *region, int32_t s, bool surely)
{
    if (!TL_GROW(&f->alloc, region->cuts, region->cut_cap, region->cut_count + 1)) return false;
    region->cuts[region->cut_count++] = surely ? -1 - s : s;
    return true;
}

static bool look_at(const tl_refiner *f, tl_refine_region *region, int32_t t)
{
    const tl_cdt *c = &region->cdt;
    for (int k = 0; k < 3; k++) {
        const int32_t s = c->tri[t].s[k];
        if (s >= 0 && !c->seg[s].fixed && sees_wide(c, &c->seg[s], c->point[c->tri[t].v[k]]))
            if (!push_cut(f, region, s, false)) return false;
    }
    return !is_wanting(f, region, t) || push_tri(f, region, t);
}

// Puts what changed since the last call on the queues.
static bool look_at_touched(const tl_refiner *f, tl_refine_region *region)
{
    tl_cdt *c = &region->cdt;
    for (int32_t i = 0; i < c->touched_count; i++)
        if (!look_at(f, region, c->touched[i])) return false;
    c->touched_count = 0;
    return !c->no_memory;
}

// --- cutting segments ----------------------------------------------------------------------------------------

static double best_fraction(const tl_cdt *c, const tl_cdt_segment *s)
{
    if (s->sharp_a == s->sharp_b) return 0.5;
    const double length = sqrt(squared(c->point[s->a], c->point[s->b]));
    const double shell = tl_exp2(round(tl_log2(0.5 * length))) / length;  // 0.35 to 0.71
    return s->sharp_a ? shell : 1 - shell;
}

typedef struct cut_place {  // one of the ring, ready to be cut
    int32_t region, seg, tri, corner;
    double fraction;
    tl_vec2 p;
} cut_place;

enum { RING_MAX = 16 };

// Where to cut segment s of region r; false: it must stay.
static bool find_cut(tl_refiner *f, int32_t r, int32_t s, double fraction, cut_place *out, bool *no_memory)
{
    tl_refine_region *region = &f->region[r];
    tl_cdt *c = &region->cdt;
    const tl_cdt_segment *seg = &c->seg[s];
    const double shorter = fmin(fraction, 1 - fraction) * sqrt(squared(c->point[seg->a], c->point[seg->b]));
    if (seg->fixed || shorter < seg->least || c->vert_count >= f->def->point_max) return false;
    *out = (cut_place){r, s, 0, 0, fraction, tl_mix2(c->point[seg->a], c->point[seg->b], fraction)};
    out->tri = tl_cdt_find_edge(c, seg->a, seg->b, &out->corner);
    if (out->tri < 0 || !tl_cdt_can_split(c, out->tri, out->corner, out->p)) return false;
    if (tl_cdt_reserve(c, 2) && tl_cdt_reserve_cut(c, s)) return true;
    *no_memory = true;
    return false;
}

// The new pieces form rings of their own: pieces at the leader's start, pieces at its end.
static void link_pieces(tl_refiner *f, const cut_place *place, const int32_t *second, const bool *reversed, int count)
{
    for (int k = 0; k < count; k++) {
        const int n = (k + 1) % count;
        tl_cdt_segment *seg = f->region[place[k].region].cdt.seg;
        const bool turned = reversed[k] != reversed[n];
        const int32_t pieces[2] = {place[k].seg, second[k]}, next[2] = {place[n].seg, second[n]};
        for (int i = 0; i < 2; i++) {
            tl_cdt_segment *piece = &seg[pieces[i]];
            piece->twin_region = place[n].region, piece->twin = next[turned ? 1 - i : i], piece->twin_reversed = turned;
        }
    }
}

bool tl_refine_cut(tl_refiner *f, int32_t r, int32_t s, double fraction, bool *no_memory)
{
    cut_place place[RING_MAX];
    bool reversed[RING_MAX] = {false}, turned = false;
    int32_t second[RING_MAX];
    int count = 0;
    const tl_cdt *lead = &f->region[r].cdt;
    if (fraction == 0) fraction = best_fraction(lead, &lead->seg[s]);
    for (int32_t region = r, seg = s;;) {
        const double here = turned ? 1 - fraction : fraction;
        if (count == RING_MAX || !find_cut(f, region, seg, here, &place[count], no_memory)) {
            f->region[r].cdt.seg[s].fixed = true;  // not asked again
            return false;
        }
        // two of a ring may lie in one region: places are found anew below
        reversed[count++] = turned;
        const tl_cdt_segment *now = &f->region[region].cdt.seg[seg];
        if (now->twin_region < 0 || (now->twin_region == r && now->twin == s)) break;
        turned ^= now->twin_reversed;
        region = now->twin_region, seg = now->twin;
    }
    for (int k = 0; k < count; k++) {
        tl_cdt *c = &f->region[place[k].region].cdt;
        if (!tl_cdt_reserve(c, 2) || !tl_cdt_reserve_cut(c, place[k].seg)) return !(*no_memory = true);
        const tl_cdt_segment *seg = &c->seg[place[k].seg];
        place[k].tri = tl_cdt_find_edge(c, seg->a, seg->b, &place[k].corner);
        tl_cdt_split(c, place[k].tri, place[k].corner, place[k].p, place[k].fraction);
        second[k] = c->seg_count - 1;
    }
    if (count > 1) link_pieces(f, place, second, reversed, count);
    for (int k = 0; k < count; k++)
        if (!look_at_touched(f, &f->region[place[k].region])) return !(*no_memory = true);
    return true;
}

// --- points into triangles -----------------------------------------------------------------------------------

static tl_vec2 point_for(const tl_refiner *f, const tl_cdt *c, const tl_cdt_tri *t)
{
    const shape s = shape_of(c, t);
    const tl_vec2 p = c->point[t->v[tl_next3(s.shortest)]], q = c->point[t->v[tl_prev3(s.shortest)]];
    const tl_vec2 middle = tl_mix2(p, q, 0.5), edge = tl_sub2(q, p);
    const double length = sqrt(s.least);
    double height = sqrt(fmax(s.radius - 0.25 * s.least, 0));  // of the circumcentre
    // beyond this the new triangle on the edge would have an angle below the wanted one: l / 2 over tan(angle / 2)
    height = fmin(height, 0.5 * length * (1 + sqrt(1 - f->sine * f->sine)) / f->sine);
    const double size = tl_refine_size(f->def, middle);
    if (isfinite(size)) height = fmin(height, sqrt(fmax(size * size - 0.25 * s.least, 0.25 * size * size)));
    return (tl_vec2){middle.x - edge.y / length * height, middle.y + edge.x / length * height};
}

// Segments that x, put into triangle `from`, would see under more than 120 degrees, onto the list of cuts. Looks at all
// triangles whose circumcircles hold x, reached across edges that are no segments.
static bool find_near_segments(const tl_refiner *f, tl_refine_region *region, tl_vec2 x, int32_t from, bool *fixed)
{
    tl_cdt *c = &region->cdt;
    if (region->mark_cap < c->tri_cap) {
        const int32_t old = region->mark_cap;
        if (!TL_GROW(&f->alloc, region->mark, region->mark_cap, c->tri_cap)) return false;
        memset(region->mark + old, 0, (size_t)(region->mark_cap - old) * sizeof *region->mark);
    }
    const int32_t search = ++region->search;
    c->stack_count = 0;
    c->stack[c->stack_count++] = from;
    region->mark[from] = search;
    while (c->stack_count > 0) {
        const tl_cdt_tri *t = &c->tri[c->stack[--c->stack_count]];
        for (int k = 0; k < 3; k++) {
            const int32_t s = t->s[k], u = t->n[k];
            if (s >= 0) {
                if (!sees_wide(c, &c->seg[s], x)) continue;
                if (c->seg[s].fixed)
                    *fixed = true;
                else if (!push_cut(f, region, s, true))
                    return false;
                continue;
            }
            if (u < 0 || region->mark[u] == search) continue;
            const int32_t *v = c->tri[u].v;
            if (tl_incircle(c->point[v[0]], c->point[v[1]], c->point[v[2]], x) <= 0) continue;
            region->mark[u] = search;
            c->stack[c->stack_count++] = u;
        }
    }
    return true;
}

typedef enum fix_result { FIX_DONE, FIX_CUT, FIX_LEFT, FIX_NO_MEMORY } fix_result;

// Whether a vertex across from segment s sees it under more than 120 degrees.
static bool is_seen_wide(const tl_cdt *c, int32_t s)
{
    int32_t i, t = tl_cdt_find_edge(c, c->seg[s].a, c->seg[s].b, &i);
    if (t < 0) return false;
    if (sees_wide(c, &c->seg[s], c->point[c->tri[t].v[i]])) return true;
    const int32_t u = c->tri[t].n[i];
    for (int k = 0; k < 3 && u >= 0; k++)
        if (c->tri[u].n[k] == t) return sees_wide(c, &c->seg[s], c->point[c->tri[u].v[k]]);
    return false;
}

// Cuts the segments on the list from entry `first` on. FIX_CUT: one or more were.
static fix_result run_cuts(tl_refiner *f, int32_t r, int32_t first)
{
    tl_refine_region *region = &f->region[r];
    fix_result result = FIX_LEFT;
    bool no_memory = false;
    while (region->cut_count > first) {
        const int32_t item = region->cuts[--region->cut_count], s = item < 0 ? -1 - item : item;
        const tl_cdt *c = &region->cdt;
        if (c->seg[s].fixed || (item >= 0 && !is_seen_wide(c, s))) continue;
        if (tl_refine_cut(f, r, s, 0, &no_memory)) result = FIX_CUT;
        if (no_memory) return FIX_NO_MEMORY;
    }
    return result;
}

static fix_result fix_triangle(tl_refiner *f, int32_t r, int32_t t)
{
    tl_refine_region *region = &f->region[r];
    tl_cdt *c = &region->cdt;
    const tl_vec2 x = point_for(f, c, &c->tri[t]);
    if (!tl_cdt_reserve(c, 2)) return FIX_NO_MEMORY;
    const tl_cdt_found at = tl_cdt_locate(c, x, t, true);
    const int32_t first = region->cut_count;
    bool fixed = false;
    if (at.place == TL_PLACE_VERTEX) return FIX_LEFT;
    if (at.place == TL_PLACE_BLOCKED || (at.place == TL_PLACE_EDGE && c->tri[at.tri].s[at.corner] >= 0)) {
        const int32_t s = c->tri[at.tri].s[at.corner];
        if (s < 0) return FIX_LEFT;
        if (!push_cut(f, region, s, true)) return FIX_NO_MEMORY;
        return run_cuts(f, r, first);
    }
    if (!find_near_segments(f, region, x, at.tri, &fixed)) return FIX_NO_MEMORY;
    if (region->cut_count > first) {
        const fix_result cut = run_cuts(f, r, first);
        if (cut != FIX_LEFT) return cut;
        fixed = true;
    }
    if (fixed) return FIX_LEFT;
    if (c->vert_count >= f->def->point_max) return region->full = true, FIX_LEFT;
    tl_cdt_insert(c, x, at);
    return look_at_touched(f, region) ? FIX_DONE : FIX_NO_MEMORY;
}

static fix_result refine_region(tl_refiner *f, int32_t r)
{
    tl_refine_region *region = &f->region[r];
    for (;;) {
        if (region->cut_count > 0) {
            if (run_cuts(f, r, 0) == FIX_NO_MEMORY) return FIX_NO_MEMORY;
            continue;
        }
        if (region->queue_head == region->queue_count) return FIX_DONE;
        const tl_refine_item item = region->queue[region->queue_head++];
        const int32_t *v = region->cdt.tri[item.tri].v;
        if (v[0] != item.v[0] || v[1] != item.v[1] || v[2] != item.v[2] || !is_wanting(f, region, item.tri)) continue;
        const fix_result result = fix_triangle(f, r, item.tri);
        if (result == FIX_NO_MEMORY) return result;
        if (result == FIX_CUT && !push_tri(f, region, item.tri)) return FIX_NO_MEMORY;
    }
}

tl_status tl_refine_run(tl_refiner *f, tl_error *err)
{
    for (int32_t r = 0; r < f->count; r++) {
        tl_cdt *c = &f->region[r].cdt;
        c->note_touched = true, c->touched_count = 0;
        for (int32_t t = 0; t < c->tri_count; t++)
            if (!look_at(f, &f->region[r], t)) return tl_fail_memory(err, "refinement");
    }
    for (bool busy = true; busy;) {  // cuts on one side of a link give work to the other
        busy = false;
        for (int32_t r = 0; r < f->count; r++) {
            if (refine_region(f, r) == FIX_NO_MEMORY) return tl_fail_memory(err, "refinement");
        }
        for (int32_t r = 0; r < f->count; r++)
            busy |= f->region[r].cut_count > 0 || f->region[r].queue_head < f->region[r].queue_count;
    }
    for (int32_t r = 0; r < f->count; r++) f->region[r].cdt.note_touched = false;
    return TL_OK;
}
