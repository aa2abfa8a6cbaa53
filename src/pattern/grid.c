// pattern/grid.c: a grid of quads within an outline: sides, method, fold check, repair, report.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/timer.h"
#include "pattern/grid_impl.h"

enum { CELLS_MAX = 10000 };

const char *tl_grid_method_name(tl_grid_method method)
{
    static const char *const names[] = {"tfi", "length", "diagonal", "strips", "equal-area"};
    return method >= 0 && method < TL_QUADS_METHODS ? names[method] : "unknown";
}

void tl_grid_def_init(tl_grid_def *def, size_t size)
{
    const tl_grid_def defaults = {
        .method = TL_QUADS_DIAGONAL,
        .cells_u = 20,
        .cells_v = 20,
        .weight_u = 1,
        .weight_v = 1,
        .strip_threshold = 0.025,
        .strip_tries = 50,
        .area_ratio = 1.05,
        .area_steps = 2000,
        .snap_angle_deg = 180,
    };
    tl_def_init(def, size, &defaults, sizeof defaults);
}

static tl_status check_def(const tl_grid_def *def, tl_error *err)
{
    if (def->method < 0 || def->method >= TL_QUADS_METHODS)
        return tl_fail(err, TL_BAD_ARG, "grid: method %d, must be 0 to %d", (int)def->method, TL_QUADS_METHODS - 1);
    if (def->cells_u < 1 || def->cells_v < 1 || def->cells_u > CELLS_MAX || def->cells_v > CELLS_MAX)
        return tl_fail(err, TL_BAD_ARG, "grid: %d x %d cells, must be 1 to %d each way", def->cells_u, def->cells_v,
                       CELLS_MAX);
    const struct {
        const char *name;
        double value, least;
    } numbers[] = {{"weight_u", def->weight_u, 0},
                   {"weight_v", def->weight_v, 0},
                   {"strip_threshold", def->strip_threshold, 0},
                   {"area_ratio", def->area_ratio, 1},
                   {"snap_angle_deg", def->snap_angle_deg, 0}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (!(numbers[k].value > numbers[k].least) || !isfinite(numbers[k].value))
            return tl_fail(err, TL_BAD_ARG, "grid: %s %g, must be > %g", numbers[k].name, numbers[k].value,
                           numbers[k].least);
    if (def->strip_tries < 1 || def->strip_smoothing < 0 || def->area_steps < 1)
        return tl_fail(err, TL_BAD_ARG, "grid: strip_tries %d, strip_smoothing %d, area_steps %d, must be >= 1, 0, 1",
                       def->strip_tries, def->strip_smoothing, def->area_steps);
    return TL_OK;
}

typedef struct maker {
    const tl_allocator *alloc;
    const tl_grid_def *def;
    tl_grid_cache *cache;
    const tl_sides *sides;
    tl_lattice g;
    tl_quad_grid *out;
} maker;

static tl_status relax(maker *m, bool diagonals, tl_error *err)
{
    const tl_grid_def *def = m->def;
    const tl_grid_key key = {m->g.nu, m->g.nv, tl_stencil_of(def->weight_u, def->weight_v, diagonals), def->solver};
    return tl_lattice_relax(m->alloc, m->cache, &key, &m->g, &m->out->report, err);
}

static void note_strips(maker *m)
{
    const tl_lattice *g = &m->g;
    double sum = 0, worst = 0;
    for (int32_t v = 0; v < g->nv; v++) sum += tl_lattice_strip_area(g, v);
    for (int32_t v = 0; v < g->nv; v++) worst = fmax(worst, fabs(tl_lattice_strip_area(g, v) * g->nv / sum - 1));
    m->out->report.strip_error = worst;
    m->out->report.strips_kept = worst <= m->def->strip_threshold;
}

// The first grid of the equal-area method: whichever of diagonal and transfinite has fewer corners turned over.
static tl_status start_equal_area(maker *m, tl_error *err)
{
    const int32_t count = tl_lattice_count(&m->g);
    tl_lattice_tfi(&m->g);
    const int32_t bad = tl_lattice_bad_corners(&m->g);
    if (bad == 0) return TL_OK;
    tl_vec2 *kept = TL_ALLOC(m->alloc, tl_vec2, count);
    if (!kept) return tl_fail_memory(err, "grid");
    memcpy(kept, m->g.point, (size_t)count * sizeof *kept);
    const tl_status status = relax(m, true, err);
    if (status == TL_OK && tl_lattice_bad_corners(&m->g) >= bad) memcpy(m->g.point, kept, (size_t)count * sizeof *kept);
    TL_FREE(m->alloc, kept, count);
    return status;
}

static tl_status run_method(maker *m, tl_error *err)
{
    const tl_grid_def *def = m->def;
    int32_t steps = 0;
    switch (def->method) {
    case TL_QUADS_LENGTH: return relax(m, false, err);
    case TL_QUADS_DIAGONAL: return relax(m, true, err);
    case TL_QUADS_STRIPS:
        TL_TRY(tl_lattice_strips(m->alloc, m->sides, def, &m->g, m->out->row_tries, err));
        for (int32_t v = 0; v < m->g.nv; v++) m->out->report.iterations += m->out->row_tries[v];
        return TL_OK;
    case TL_QUADS_EQUAL_AREA: {
        TL_TRY(start_equal_area(m, err));
        const tl_descent_def descent = {.quads = 1, .ratio = def->area_ratio, .steps = def->area_steps};
        const tl_status status = tl_lattice_descend(m->alloc, m->cache, &descent, &m->g, &steps, err);
        m->out->report.iterations = steps;
        return status == TL_FAILED ? TL_OK : status;  // the fold check below speaks
    }
    default: tl_lattice_tfi(&m->g); return TL_OK;
    }
}

// Strips by the variant that copes best.
static tl_status repair_strips(maker *m, tl_error *err)
{
    tl_grid_def def = *m->def;
    def.rows = TL_ROWS_COLUMNS;
    const int32_t count = tl_lattice_count(&m->g);
    tl_lattice other = m->g;
    other.point = TL_ALLOC(m->alloc, tl_vec2, count);
    int32_t *tries = TL_ALLOC(m->alloc, int32_t, m->g.nv);
    tl_status status = other.point && tries ? TL_OK : tl_fail_memory(err, "repair of strips");
    if (status == TL_OK) {
        memcpy(other.point, m->g.point, (size_t)count * sizeof *other.point);
        status = tl_lattice_strips(m->alloc, m->sides, &def, &other, tries, err);
    }
    if (status == TL_OK) memcpy(m->g.point, other.point, (size_t)count * sizeof *other.point);
    TL_FREE(m->alloc, other.point, count);
    TL_FREE(m->alloc, tries, m->g.nv);
    return status;
}

// Unfolds the grid; strips get their areas back.
static tl_status repair(maker *m, tl_error *err)
{
    const bool strips = m->def->method == TL_QUADS_STRIPS;
    const tl_descent_def descent = {.strips = strips ? 1 : 0, .steps = m->def->area_steps};
    int32_t steps = 0;
    // rows that went astray as a whole unfold into something stretched: better from another start
    if (strips && m->def->rows != TL_ROWS_COLUMNS && 2 * tl_lattice_bad_corners(&m->g) > m->g.nu)
        TL_TRY(repair_strips(m, err));
    tl_status status = tl_lattice_descend(m->alloc, m->cache, &descent, &m->g, &steps, err);
    m->out->report.iterations += steps;
    if (status == TL_FAILED && m->def->method != TL_QUADS_TFI) {  // from another start
        tl_lattice_tfi(&m->g);
        status = tl_lattice_descend(m->alloc, m->cache, &descent, &m->g, &steps, err);
        m->out->report.iterations += steps;
    }
    return status == TL_FAILED ? TL_OK : status;
}

static tl_status refuse(const maker *m, tl_error *err)
{
    const tl_lattice *g = &m->g;
    int32_t fu = 0, fv = 0;
    double least = INFINITY;
    for (int32_t v = 0; v < g->nv; v++)
        for (int32_t u = 0; u < g->nu; u++)
            if (tl_lattice_is_folded(g, u, v) && tl_lattice_area(g, u, v) < least)
                least = tl_lattice_area(g, u, v), fu = u, fv = v;
    const tl_vec2 p = g->point[tl_lattice_index(g, fu, fv)];
    return tl_fail(
        err, TL_FAILED,
        "grid of %d x %d by method %s folds in %d quads%s, worst quad (%d, %d) at (%g, %g) with area %g: try "
        "other corners or more cells; deep notches may need method delaunay",
        g->nu, g->nv, tl_grid_method_name(m->def->method), m->out->report.quality.folded,
        m->out->report.repaired ? " even after repair" : "", fu, fv, p.x, p.y, least);
}

static tl_status finish(maker *m, tl_error *err)
{
    tl_grid_report *report = &m->out->report;
    const bool strips = m->def->method == TL_QUADS_STRIPS;
    report->quality = tl_grid_measure(m->g.point, m->g.nu, m->g.nv);
    if (report->quality.folded > 0 && m->def->folds == TL_FOLDS_REPAIR) {
        report->repaired = true, report->folded_before = report->quality.folded;
        TL_TRY(repair(m, err));
        report->quality = tl_grid_measure(m->g.point, m->g.nu, m->g.nv);
    }
    if (report->quality.folded > 0) return refuse(m, err);
    if (strips && m->def->strip_smoothing > 0) {
        if (tl_lattice_smooth_strips(m->alloc, &m->g, m->def->strip_smoothing) < 0)
            return tl_fail_memory(err, "smoothing of strips");
        report->quality = tl_grid_measure(m->g.point, m->g.nu, m->g.nv);
    }
    if (strips) note_strips(m);
    return TL_OK;
}

tl_status tl_quad_grid_make(const tl_allocator *alloc, const tl_vec2 *outline, int32_t count, const int32_t *corner,
                            const tl_grid_def *given, tl_grid_cache *cache, tl_quad_grid *out, tl_error *err)
{
    const double begin = tl_now();
    *out = (tl_quad_grid){0};
    TL_DEF_COMPLETE(tl_grid_def, full, given, err);
    const tl_grid_def *def = &full;
    TL_TRY(check_def(def, err));
    TL_TRY(tl_outline_check(outline, count, err));
    tl_quad_grid made = {.alloc = *alloc, .cells_u = def->cells_u, .cells_v = def->cells_v};
    if (corner)
        memcpy(made.corner, corner, sizeof made.corner);
    else
        TL_TRY(tl_grid_pick_corners(alloc, outline, count, made.corner, err));
    tl_sides sides;
    TL_TRY(tl_sides_create(alloc, outline, count, made.corner, &sides, err));
    maker m = {alloc, def, cache, &sides, {def->cells_u, def->cells_v, NULL}, &made};
    made.point = m.g.point = TL_ALLOC(alloc, tl_vec2, tl_lattice_count(&m.g));
    made.row_tries = TL_CALLOC(alloc, int32_t, def->cells_v);
    tl_status status = made.point && made.row_tries ? TL_OK : tl_fail_memory(err, "grid");
    const double snap = def->snap_angle_deg * (3.14159265358979323846 / 180);
    if (status == TL_OK) status = tl_sides_split(alloc, &sides, snap, &m.g, err);
    if (status == TL_OK) status = run_method(&m, err);
    if (status == TL_OK) status = finish(&m, err);
    tl_sides_free(alloc, &sides);
    made.report.seconds = tl_now() - begin;
    if (status != TL_OK)
        tl_quad_grid_free(&made);
    else
        *out = made;
    return status;
}

void tl_quad_grid_free(tl_quad_grid *grid)
{
    if (grid->point) {
        TL_FREE(&grid->alloc, grid->point, (grid->cells_u + 1) * (grid->cells_v + 1));
    }
    if (grid->row_tries) TL_FREE(&grid->alloc, grid->row_tries, grid->cells_v);
    *grid = (tl_quad_grid){0};
}
