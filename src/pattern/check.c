// pattern/check.c: is a pattern sound? Closed outlines that do not cross themselves, and what is sewn to what.
//
// Outlines are compared as polylines that stay within CHORD_ERROR of the curves. Their chords are sorted into a grid of
// cells, and only neighbours within a cell are compared, with exact predicates: about O(n) for outlines as people draw
// them.

#include "pattern/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/sort.h"
#include "math/elementary.h"
#include "math/predicates.h"
#include "math/vec3.h"

#define CHORD_ERROR 1e-5  // [m]: far below what a cutter can follow
#define LINE_ERROR 1e-9   // [m]: rounding of whoever drew the outline
enum { CHORDS_MAX = 512, PAIR_TESTS_MAX = 100000000 };

int32_t tl_segment_chords(const tl_segment *s, double error)
{
    if (s->kind == TL_SEGMENT_LINE) return 1;
    if (s->kind == TL_SEGMENT_ARC) {
        const double angle = fabs(4 * tl_atan(s->bulge)), radius = tl_segment_length(s) / fmax(angle, 1e-12);
        // sagitta r (1 - cos(a / 2)) of a chord over the angle a
        const double a = 2 * tl_acos(fmax(1 - error / radius, -1));
        return a > 0 ? (int32_t)fmin(ceil(angle / a), CHORDS_MAX) : 1;
    }
    // A chord over dt is off by at most |B''| dt^2 / 8.
    const tl_vec2 a = s->from, p = s->control[0], q = s->control[1], b = s->to;
    double second;
    if (s->kind == TL_SEGMENT_QUADRATIC)
        second = 2 * tl_hypot(a.x - 2 * p.x + b.x, a.y - 2 * p.y + b.y);
    else
        second = 6 * fmax(tl_hypot(a.x - 2 * p.x + q.x, a.y - 2 * p.y + q.y),
                          tl_hypot(p.x - 2 * q.x + b.x, p.y - 2 * q.y + b.y));
    return (int32_t)fmin(fmax(ceil(sqrt(second / (8 * error))), 1), CHORDS_MAX);
}

// The outline as chords: chord i runs from point i to point i + 1 (the last to the first) and belongs to owner[i].
typedef struct chords {
    tl_vec2 *at;
    int32_t *owner;
    uint8_t *curved;  ///< 1: of a curve, which it is off by CHORD_ERROR
    int32_t count;
} chords;

static int32_t count_chords(const tl_panel *p)
{
    int64_t count = 0;
    for (int32_t i = 0; i < p->curve_count; i++) count += tl_segment_chords(&p->curves[i], CHORD_ERROR);
    return (int32_t)count;  // at most CHORDS_MAX times TL_PATTERN_CURVES_MAX
}

static tl_status make_chords(tl_arena *arena, const tl_panel *p, chords *out, tl_error *err)
{
    out->count = 0;
    const int32_t capacity = count_chords(p);
    out->at = TL_SCRATCH(arena, tl_vec2, capacity);
    out->owner = TL_SCRATCH(arena, int32_t, capacity);
    out->curved = TL_SCRATCH(arena, uint8_t, capacity);
    if (!out->at || !out->owner || !out->curved) return tl_fail_memory(err, "the chords of an outline");
    for (int32_t e = 0; e < p->edge_count; e++)
        for (int32_t c = 0; c < p->edges[e].curve_count; c++) {
            const tl_segment *s = &p->curves[p->edges[e].curve + c];
            const int32_t n = tl_segment_chords(s, CHORD_ERROR);
            for (int32_t i = 0; i < n; i++) {
                out->at[out->count] = tl_segment_point(s, (double)i / n);
                out->curved[out->count] = s->kind != TL_SEGMENT_LINE;
                out->owner[out->count++] = e;
            }
        }
    return TL_OK;
}

// --- the grid --------------------------------------------------------------------------------------------

typedef struct grid {
    tl_vec2 low;
    double cell;
    int32_t nx, ny;
    int32_t *start, *item;  ///< chords of cell c: item[start[c] .. start[c + 1])
} grid;

static int32_t cell_of(double x, double low, double cell, int32_t n)
{
    const double c = floor((x - low) / cell);
    return c < 0 ? 0 : c >= n ? n - 1 : (int32_t)c;
}

// Calls for every cell that a chord may touch: row by row, the columns that it crosses there, widened by rounding.
static void visit_cells(const grid *g, tl_vec2 a, tl_vec2 b, int32_t chord, bool fill)
{
    const int32_t y0 = cell_of(fmin(a.y, b.y), g->low.y, g->cell, g->ny);
    const int32_t y1 = cell_of(fmax(a.y, b.y), g->low.y, g->cell, g->ny);
    for (int32_t y = y0; y <= y1; y++) {
        double lo = fmin(a.x, b.x), hi = fmax(a.x, b.x);
        if (y1 > y0 && a.y != b.y) {
            const double slope = (b.x - a.x) / (b.y - a.y), slack = 1e-6 * g->cell;
            const double xa = a.x + slope * (g->low.y + y * g->cell - a.y), xb = xa + slope * g->cell;
            lo = fmax(lo, fmin(xa, xb) - slack);
            hi = fmin(hi, fmax(xa, xb) + slack);
        }
        const int32_t x1 = cell_of(hi, g->low.x, g->cell, g->nx);
        for (int32_t x = cell_of(lo, g->low.x, g->cell, g->nx); x <= x1; x++) {
            const int32_t c = y * g->nx + x;
            if (fill)
                g->item[g->start[c + 1]++] = chord;
            else
                g->start[c + 2]++;
        }
    }
}

static tl_status make_grid(tl_arena *arena, const chords *ch, grid *g, tl_error *err)
{
    tl_vec2 high = g->low = ch->at[0];
    for (int32_t i = 1; i < ch->count; i++) {
        g->low.x = fmin(g->low.x, ch->at[i].x), g->low.y = fmin(g->low.y, ch->at[i].y);
        high.x = fmax(high.x, ch->at[i].x), high.y = fmax(high.y, ch->at[i].y);
    }
    const double wide = fmax(high.x - g->low.x, high.y - g->low.y);
    const int32_t side = (int32_t)fmin(fmax(sqrt((double)ch->count), 1), 256);
    g->cell = wide > 0 ? wide / side : 1;
    g->nx = (int32_t)fmin(floor((high.x - g->low.x) / g->cell) + 1, 257);
    g->ny = (int32_t)fmin(floor((high.y - g->low.y) / g->cell) + 1, 257);
    const int32_t cells = g->nx * g->ny;
    // Two more than cells: counts go two places on, and filling moves them back by one.
    g->start = TL_SCRATCH(arena, int32_t, cells + 2);
    if (!g->start) return tl_fail_memory(err, "a grid");
    for (int32_t c = 0; c < cells + 2; c++) g->start[c] = 0;
    for (int32_t i = 0; i < ch->count; i++) visit_cells(g, ch->at[i], ch->at[(i + 1) % ch->count], i, false);
    for (int32_t c = 0; c < cells; c++) g->start[c + 2] += g->start[c + 1];
    g->item = TL_SCRATCH(arena, int32_t, g->start[cells + 1]);
    if (!g->item) return tl_fail_memory(err, "a grid");
    for (int32_t i = 0; i < ch->count; i++) visit_cells(g, ch->at[i], ch->at[(i + 1) % ch->count], i, true);
    return TL_OK;
}

// Signed distance from the line through c and d of a or of `beyond`, the point next to it: whichever is farther off.
static double farther(tl_vec2 a, tl_vec2 beyond, tl_vec2 c, tl_vec2 d)
{
    const tl_vec2 line = tl_sub2(d, c);
    const double n = tl_norm2(line), u = tl_cross2(line, tl_sub2(a, c)) / n,
                 v = tl_cross2(line, tl_sub2(beyond, c)) / n;
    return fabs(u) > fabs(v) ? u : v;
}

// Does the outline pass from one side of chord j to the other around chord i, by more than it is known?
static bool passes(const chords *ch, int32_t i, int32_t j, double known)
{
    const int32_t n = ch->count;
    const tl_vec2 c = ch->at[j], d = ch->at[(j + 1) % n];
    const double before = farther(ch->at[i], ch->at[(i + n - 1) % n], c, d);
    const double after = farther(ch->at[(i + 1) % n], ch->at[(i + 2) % n], c, d);
    return before * after < 0 && fmin(fabs(before), fabs(after)) > known;
}

// Chords that run along each other within what they are off the curves are no crossing: the two sides of a slit, say.
// So are ends that poke through by rounding.
static bool chords_cross(const chords *ch, int32_t i, int32_t j)
{
    const tl_vec2 a = ch->at[i], b = ch->at[(i + 1) % ch->count], c = ch->at[j], d = ch->at[(j + 1) % ch->count];
    if (fmax(a.x, b.x) < fmin(c.x, d.x) || fmax(c.x, d.x) < fmin(a.x, b.x) || fmax(a.y, b.y) < fmin(c.y, d.y) ||
        fmax(c.y, d.y) < fmin(a.y, b.y))
        return false;
    if (tl_orient2d(a, b, c) * tl_orient2d(a, b, d) >= 0 || tl_orient2d(c, d, a) * tl_orient2d(c, d, b) >= 0)
        return false;
    const double known = ch->curved[i] || ch->curved[j] ? 3 * CHORD_ERROR : LINE_ERROR;
    return passes(ch, i, j, known) && passes(ch, j, i, known);
}

// The low end of a chord along x or y, as a number that sorts like it.
static uint64_t sort_key(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static void chord_range(const chords *ch, int32_t i, bool along_y, double *low, double *high)
{
    const tl_vec2 a = ch->at[i], b = ch->at[(i + 1) % ch->count];
    *low = along_y ? fmin(a.y, b.y) : fmin(a.x, b.x);
    *high = along_y ? fmax(a.y, b.y) : fmax(a.x, b.x);
}

// The chords of one cell, sorted along the direction in which they spread most: then only neighbours are compared.
static bool sweep_cell(const chords *ch, int32_t *item, int32_t count, tl_key *keys, int32_t found[2], int64_t *tests)
{
    tl_vec2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
    for (int32_t k = 0; k < count; k++) {
        const tl_vec2 p = ch->at[item[k]];
        low = (tl_vec2){fmin(low.x, p.x), fmin(low.y, p.y)}, high = (tl_vec2){fmax(high.x, p.x), fmax(high.y, p.y)};
    }
    const bool along_y = high.y - low.y > high.x - low.x;
    double a0, a1, b0, b1;
    for (int32_t k = 0; k < count; k++) {
        chord_range(ch, item[k], along_y, &a0, &a1);
        keys[k] = (tl_key){sort_key(a0), item[k]};
    }
    tl_sort_keys(keys, keys + count, count);
    for (int32_t i = 0; i < count; i++) {
        chord_range(ch, keys[i].id, along_y, &a0, &a1);
        for (int32_t j = i + 1; j < count; j++) {
            chord_range(ch, keys[j].id, along_y, &b0, &b1);
            if (b0 > a1 || ++*tests > PAIR_TESTS_MAX) break;
            if (!chords_cross(ch, keys[i].id, keys[j].id)) continue;
            found[0] = keys[i].id < keys[j].id ? keys[i].id : keys[j].id;
            found[1] = keys[i].id < keys[j].id ? keys[j].id : keys[i].id;
            return true;
        }
    }
    return false;
}

static tl_status check_crossings(tl_pattern *pattern, tl_arena *arena, const tl_panel *p, tl_error *err)
{
    chords ch = {0};
    grid g = {0};
    TL_TRY(make_chords(arena, p, &ch, err));
    TL_TRY(make_grid(arena, &ch, &g, err));
    int32_t most = 0, found[2];
    for (int32_t c = 0; c < g.nx * g.ny; c++)
        if (g.start[c + 1] - g.start[c] > most) most = g.start[c + 1] - g.start[c];
    tl_key *keys = TL_SCRATCH(arena, tl_key, 2 * (size_t)most);
    if (!keys) return tl_fail_memory(err, "chords of a cell");
    int64_t tests = 0;
    for (int32_t c = 0; c < g.nx * g.ny; c++) {
        if (!sweep_cell(&ch, g.item + g.start[c], g.start[c + 1] - g.start[c], keys, found, &tests)) continue;
        char one[320];
        tl_pattern_edge_name(p, ch.owner[found[0]], one, sizeof one);
        return tl_fail(err, TL_BAD_INPUT, "%s: crosses edge %d near (%.4g, %.4g) m (the outline must not cross itself)",
                       one, ch.owner[found[1]], ch.at[found[0]].x, ch.at[found[0]].y);
    }
    if (tests > PAIR_TESTS_MAX)
        tl_pattern_add_note(pattern, "panel '%s': its outline is too dense to look for all crossings", p->name);
    return TL_OK;
}

// --- panels ----------------------------------------------------------------------------------------------

static tl_status check_panel(tl_pattern *pattern, tl_arena *arena, const tl_panel *p, tl_error *err)
{
    if (p->edge_count == 0) return tl_fail(err, TL_BAD_INPUT, "panel '%s': has no edges", p->name);
    const tl_vec2 start = p->curves[0].from, end = p->curves[p->curve_count - 1].to;
    if (start.x != end.x || start.y != end.y)
        return tl_fail(err, TL_BAD_INPUT,
                       "panel '%s': open: edge %d ends at (%g, %g) m, edge 0 starts at (%g, %g) m (close the outline)",
                       p->name, p->edge_count - 1, end.x, end.y, start.x, start.y);
    TL_TRY(check_crossings(pattern, arena, p, err));
    if (!(fabs(p->area) > 1e-12 * p->perimeter * p->perimeter))
        return tl_fail(err, TL_BAD_INPUT, "panel '%s', edge 0 to %d: the outline encloses no area (%g m^2)", p->name,
                       p->edge_count - 1, p->area);
    return TL_OK;
}

// --- seams -----------------------------------------------------------------------------------------------

double tl_seam_mismatch(const tl_pattern *pattern, const tl_seam *seam)
{
    const double a = tl_seam_side_length(pattern, &seam->side[0]), b = tl_seam_side_length(pattern, &seam->side[1]);
    return 2 * fabs(a - b) / (a + b);
}

// The corner where stretch `a` ends and `b` starts along the outline is sewn to itself: a seam may run to it or from
// it.
static bool folds_at_corner(const tl_panel *p, const tl_seam_side *a, const tl_seam_side *b)
{
    if ((a->edge + a->count) % p->edge_count != b->edge) return false;
    return (a->to == 1 && b->to == 0 && a->from < 1 && b->from > 0) ||
           (a->from == 1 && b->from == 0 && a->to < 1 && b->to > 0);
}

bool tl_seam_is_dart(const tl_pattern *pattern, const tl_seam *seam)
{
    const tl_seam_side *a = &seam->side[0], *b = &seam->side[1];
    if (a->panel != b->panel) return false;
    const tl_panel *p = tl_pattern_panel(pattern, a->panel);
    return folds_at_corner(p, a, b) || folds_at_corner(p, b, a);
}

bool tl_seam_side_covers(const tl_pattern *pattern, const tl_seam_side *side, int32_t edge, double *from, double *to)
{
    const tl_panel *p = tl_pattern_panel(pattern, side->panel);
    const int32_t k = (edge - side->edge + p->edge_count) % p->edge_count;
    if (k >= side->count) return false;
    double whole = 0, before = 0;
    for (int32_t i = 0; i < side->count; i++) {
        if (i == k) before = whole;
        whole += p->edges[(side->edge + i) % p->edge_count].length;
    }
    const double own = p->edges[edge].length;
    const double lo = fmin(side->from, side->to) * whole, hi = fmax(side->from, side->to) * whole;
    *from = side->count == 1 ? fmin(side->from, side->to) : fmax((lo - before) / own, 0);
    *to = side->count == 1 ? fmax(side->from, side->to) : fmin((hi - before) / own, 1);
    return *from < *to;
}

// Edges that several seams cover, and seams of a stretch to itself.
static tl_status check_seams(tl_pattern *pattern, tl_error *err)
{
    const double overlap_min = 1e-9;  // of an edge: neighbours that meet in a point do not overlap
    for (int32_t i = 0; i < pattern->seam_count; i++)
        for (int32_t j = i; j < pattern->seam_count; j++)
            for (int k = 0; k < 4; k++) {
                if (i == j && k != 1) continue;  // of one seam: its two sides
                const tl_seam_side *a = &pattern->seams[i].side[k >> 1], *b = &pattern->seams[j].side[k & 1];
                if (i == j) a = &pattern->seams[i].side[0], b = &pattern->seams[i].side[1];
                if (a->panel != b->panel) continue;
                const tl_panel *p = tl_pattern_panel(pattern, a->panel);
                for (int32_t m = 0; m < a->count; m++) {
                    const int32_t e = (a->edge + m) % p->edge_count;
                    double f0, t0, f1, t1;
                    if (!tl_seam_side_covers(pattern, a, e, &f0, &t0) || !tl_seam_side_covers(pattern, b, e, &f1, &t1))
                        continue;
                    if (fmin(t0, t1) - fmax(f0, f1) <= overlap_min) continue;
                    char name[320];
                    tl_pattern_edge_name(p, e, name, sizeof name);
                    if (i == j) return tl_fail(err, TL_BAD_INPUT, "seam %d: sews %s to itself", i, name);
                    tl_pattern_add_note(pattern, "%s is sewn twice: by seam %d and seam %d", name, i, j);
                }
            }
    return TL_OK;
}

static void note_seams(tl_pattern *pattern)
{
    const double large = 0.3;  // more is rare even in gathers
    for (int32_t i = 0; i < pattern->seam_count; i++) {
        const tl_seam *s = &pattern->seams[i];
        const double m = tl_seam_mismatch(pattern, s);
        const tl_seam_side *a = &s->side[0], *b = &s->side[1];
        if (!s->turned && (a->from < a->to) == (b->from < b->to))  // sewn cloth has one right side
            tl_pattern_add_note(
                pattern,
                "seam %d: panel '%s', edge %d and panel '%s', edge %d run the same way round, so right side "
                "meets wrong side (is a panel mirrored? turned: true if it is meant)",
                i, pattern->panels[a->panel].view.name, a->edge, pattern->panels[b->panel].view.name, b->edge);
        if (m <= large) continue;
        tl_pattern_add_note(pattern, "seam %d: its sides are %.4g and %.4g m long, %.0f %% apart (gathers?)", i,
                            tl_seam_side_length(pattern, &s->side[0]), tl_seam_side_length(pattern, &s->side[1]),
                            100 * m);
    }
}

// Wrong units are the commonest fault of pattern files.
static void note_size(tl_pattern *pattern)
{
    const double least = 0.01, most = 100;  // [m^2]: a doll's collar, a marquee
    double area = 0;
    for (int32_t i = 0; i < pattern->panel_count; i++) area += fabs(pattern->panels[i].view.area);
    if (area < least || area > most)
        tl_pattern_add_note(pattern, "all panels together have %.3g m^2, which is no garment (check the unit)", area);
}

tl_status tl_pattern_check(tl_pattern *pattern, tl_error *err)
{
    if (!pattern) return tl_fail(err, TL_BAD_ARG, "pattern: is NULL");
    if (pattern->panel_count == 0) return tl_fail(err, TL_BAD_INPUT, "the pattern has no panels");
    tl_arena arena;
    tl_arena_init(&arena, pattern->alloc);
    tl_status status = TL_OK;
    for (int32_t i = 0; status == TL_OK && i < pattern->panel_count; i++) {
        status = check_panel(pattern, &arena, &pattern->panels[i].view, err);
        tl_arena_reset(&arena);
    }
    tl_arena_free(&arena);
    TL_TRY(status);
    TL_TRY(check_seams(pattern, err));
    note_seams(pattern);
    note_size(pattern);
    pattern->closed = true;
    return TL_OK;
}
