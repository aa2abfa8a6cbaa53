// bench/bench_grids.c: time of 1,000 grids against their size, for every method (Kostadinov & Vassilev, Fig. 4).
//
// Every grid is made on the bodice of docs/conformance/planar-grids.md. Times are processor time; runs go on until
// there are 1,000 of them or the time given for a case is used up.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/delaunay.h"
#include "toile/grid.h"

enum { OUTLINE_MAX = 80, CASES = 12 };

typedef struct grid_case {
    const char *name;
    tl_grid_method method;
    tl_grid_solver solver;
    tl_grid_rows rows;
    bool cached;       ///< the factor is kept from run to run
    int32_t size_max;  ///< larger grids take too long to be of use
    const char *colour;
} grid_case;

// The last is no grid: Delaunay triangles, as many as two per quad.
static const grid_case cases[CASES] = {
    {"tfi", TL_QUADS_TFI, 0, 0, false, 10000, "#888888"},
    {"length", TL_QUADS_LENGTH, TL_QUADS_SINES, 0, false, 10000, "#1f77b4"},
    {"length, cached", TL_QUADS_LENGTH, TL_QUADS_SINES, 0, true, 10000, "#9ecae1"},
    {"diagonal", TL_QUADS_DIAGONAL, TL_QUADS_SINES, 0, false, 10000, "#d62728"},
    {"diagonal, cached", TL_QUADS_DIAGONAL, TL_QUADS_SINES, 0, true, 10000, "#fcae91"},
    {"Cholesky", TL_QUADS_DIAGONAL, TL_QUADS_CHOLESKY, 0, false, 1000, "#9467bd"},
    {"Cholesky, cached", TL_QUADS_DIAGONAL, TL_QUADS_CHOLESKY, 0, true, 1000, "#c5b0d5"},
    {"strips", TL_QUADS_STRIPS, 0, TL_ROWS_COLUMNS, false, 200, "#2ca02c"},
    {"strips, offset", TL_QUADS_STRIPS, 0, TL_ROWS_OFFSET, false, 200, "#98df8a"},
    {"strips, exact", TL_QUADS_STRIPS, 0, TL_ROWS_EXACT, false, 200, "#637939"},
    {"equal-area", TL_QUADS_EQUAL_AREA, 0, 0, false, 200, "#ff7f0e"},
    {"delaunay", TL_QUADS_METHODS, 0, 0, false, 1000, "#17becf"},
};

typedef struct outline {
    tl_vec2 point[OUTLINE_MAX];
    tl_region_edge edge[OUTLINE_MAX];
    int32_t count, corner[4];
} outline;

static void make_bodice(outline *o)
{
    const double pi = 3.14159265358979323846;
    o->count = 0;
    o->point[o->count++] = (tl_vec2){0, 0};
    o->corner[0] = 0, o->corner[1] = o->count;
    o->point[o->count++] = (tl_vec2){50, 0};
    for (int k = 0; k <= 20; k++) {
        const double t = 0.5 * pi * k / 20;
        o->corner[2] = o->count;
        o->point[o->count++] = (tl_vec2){50 - 8 * sin(t), 44 + 22 * (1 - cos(t))};
    }
    for (int k = 0; k <= 24; k++)
        o->point[o->count++] = (tl_vec2){25 + 10 * cos(pi * k / 24), 70 - 10 * sin(pi * k / 24)};
    o->corner[3] = o->count;
    for (int k = 20; k >= 0; k--) {
        const double t = 0.5 * pi * k / 20;
        o->point[o->count++] = (tl_vec2){8 * sin(t), 44 + 22 * (1 - cos(t))};
    }
    for (int32_t i = 0; i < o->count; i++) o->edge[i] = (tl_region_edge){i, (i + 1) % o->count, TL_EDGE_OUTLINE, false};
}

bench_grids_def bench_grids_default(void)
{
    return (bench_grids_def){.sizes = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 500},
                             .size_count = 12,
                             .runs = 1000,
                             .seconds = 0.2,
                             .out = stdout};
}

typedef struct result {
    double seconds;  ///< of one run; NaN: left out
    double ratio;    ///< of areas, largest to smallest
    bool repaired;   ///< the method's own grid was folded
} result;
typedef result results[CASES];

static tl_status run_once(const outline *o, const grid_case *c, int32_t size, tl_grid_cache *cache, result *out,
                          tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    if (c->method == TL_QUADS_METHODS) {
        const tl_region region = {o->point, o->count, o->edge, o->count, "bodice"};
        tl_delaunay_def def = tl_delaunay_def_default();
        tl_delaunay_mesh mesh;
        def.edge = sqrt(2976.0 / (2.0 * size * size) / 0.433);  // two triangles per quad of the same area
        const tl_status status = tl_delaunay_fill(&alloc, &region, 1, NULL, 0, &def, &mesh, err);
        tl_delaunay_mesh_free(&mesh);
        return status;
    }
    tl_grid_def def = tl_grid_def_default();
    def.method = c->method, def.solver = c->solver, def.rows = c->rows, def.cells_u = def.cells_v = size;
    tl_quad_grid grid;
    const tl_status status = tl_quad_grid_make(&alloc, o->point, o->count, o->corner, &def, cache, &grid, err);
    if (status == TL_OK) out->ratio = grid.report.quality.area_ratio, out->repaired = grid.report.repaired;
    tl_quad_grid_free(&grid);
    return status;
}

static tl_status time_case(const bench_grids_def *def, const outline *o, const grid_case *c, int32_t size, result *out,
                           tl_error *err)
{
    *out = (result){NAN, NAN, false};
    if (size > c->size_max) return TL_OK;
    const tl_allocator alloc = tl_allocator_default();
    tl_grid_cache *cache = NULL;
    tl_status status = c->cached ? tl_grid_cache_create(&alloc, &cache, err) : TL_OK;
    if (status == TL_OK && c->cached) status = run_once(o, c, size, cache, out, err);  // fills the cache
    const double begin = bench_cpu();
    int32_t runs = 0;
    while (status == TL_OK && runs < def->runs && (runs == 0 || bench_cpu() - begin < def->seconds)) {
        status = run_once(o, c, size, cache, out, err);
        runs++;
    }
    if (status == TL_OK) out->seconds = (bench_cpu() - begin) / runs;
    tl_grid_cache_destroy(cache);
    return status;
}

// --- output --------------------------------------------------------------------------------------------------

static void print_table(const bench_grids_def *def, const char *title, const results *value, bool per_cell)
{
    fprintf(def->out, "%s\n%5s", title, "size");
    for (int k = 0; k < CASES; k++) fprintf(def->out, " %16s", cases[k].name);
    fprintf(def->out, "\n");
    for (int32_t i = 0; i < def->size_count; i++) {
        fprintf(def->out, "%5d", def->sizes[i]);
        const double cells = (double)def->sizes[i] * def->sizes[i];
        for (int k = 0; k < CASES; k++) {
            const double shown = per_cell ? 1e9 * value[i][k].seconds / cells : 1000 * value[i][k].seconds;
            if (isfinite(shown))
                fprintf(def->out, per_cell ? " %15.0f%c" : " %15.3f%c", shown, value[i][k].repaired ? '*' : ' ');
            else
                fprintf(def->out, " %16s", "-");
        }
        fprintf(def->out, "\n");
    }
}

static void print_growth(const bench_grids_def *def, const results *value)
{
    double cells[BENCH_SIZES_MAX], seconds[BENCH_SIZES_MAX];
    fprintf(def->out, "%5s", "power");  // of the number of cells, from size 20 on
    for (int k = 0; k < CASES; k++) {
        int32_t count = 0;
        for (int32_t i = 0; i < def->size_count; i++)
            if (isfinite(value[i][k].seconds) && def->sizes[i] >= 20) {
                cells[count] = (double)def->sizes[i] * def->sizes[i];
                seconds[count++] = value[i][k].seconds;
            }
        const double power = count > 1 ? bench_exponent(cells, seconds, count) : (double)NAN;
        if (isfinite(power))
            fprintf(def->out, " %16.2f", power);
        else
            fprintf(def->out, " %16s", "-");
    }
    fprintf(def->out, "\n");
}

enum { PLOT_WIDTH = 860, PLOT_HEIGHT = 560, LEFT = 70, RIGHT = 170, TOP = 40, BOTTOM = 50 };

typedef struct plot_frame {
    double x_low, x_high, y_low, y_high;  ///< logarithms
} plot_frame;

static double plot_x(const plot_frame *f, double size)
{
    return LEFT + (PLOT_WIDTH - LEFT - RIGHT) * (log10(size) - f->x_low) / (f->x_high - f->x_low);
}

static double plot_y(const plot_frame *f, double seconds)
{
    return PLOT_HEIGHT - BOTTOM - (PLOT_HEIGHT - TOP - BOTTOM) * (log10(seconds) - f->y_low) / (f->y_high - f->y_low);
}

static plot_frame frame_of(const bench_grids_def *def, const results *value)
{
    double least = INFINITY, most = 0, first = INFINITY, last = 0;
    for (int32_t i = 0; i < def->size_count; i++) {
        first = fmin(first, def->sizes[i]), last = fmax(last, def->sizes[i]);
        for (int k = 0; k < CASES; k++)
            if (isfinite(value[i][k].seconds))
                least = fmin(least, 1000 * value[i][k].seconds), most = fmax(most, 1000 * value[i][k].seconds);
    }
    plot_frame f = {log10(first), log10(last), floor(log10(least)), ceil(log10(most))};
    if (f.x_high - f.x_low < 0.1) f.x_low -= 0.1, f.x_high += 0.1;
    if (f.y_high - f.y_low < 1) f.y_high = f.y_low + 1;
    return f;
}

static void plot_axes(FILE *out, const bench_grids_def *def, const plot_frame *f)
{
    for (double y = f->y_low; y <= f->y_high + 0.5; y++) {
        const double at = plot_y(f, pow(10, y));
        fprintf(out, "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/>\n", LEFT, at, PLOT_WIDTH - RIGHT, at);
        fprintf(out, "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT - 6, at + 4, pow(10, y));
    }
    double before = -1e9;
    for (int32_t i = 0; i < def->size_count; i++) {
        const double at = plot_x(f, def->sizes[i]);
        fprintf(out, "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ddd'/>\n", at, TOP, at, PLOT_HEIGHT - BOTTOM);
        if (at - before < 24) continue;  // no room for another number
        fprintf(out, "<text x='%.1f' y='%d' text-anchor='middle'>%d</text>\n", at, PLOT_HEIGHT - BOTTOM + 18,
                def->sizes[i]);
        before = at;
    }
    fprintf(out, "<text x='%d' y='%d' text-anchor='middle'>quads along a side</text>\n",
            (LEFT + PLOT_WIDTH - RIGHT) / 2, PLOT_HEIGHT - 12);
    fprintf(out, "<text x='%d' y='22' font-weight='bold'>Time of 1,000 grids [s]</text>\n", LEFT);
}

// Names at the right end of the lines, moved apart where they would touch.
static void plot_names(FILE *out, const bench_grids_def *def, const plot_frame *f, const results *value)
{
    struct {
        int k;
        double y;
    } name[CASES];
    int count = 0;
    for (int k = 0; k < CASES; k++)
        for (int32_t i = def->size_count - 1; i >= 0; i--)
            if (isfinite(value[i][k].seconds)) {
                int at = count++;
                const double y = plot_y(f, 1000 * value[i][k].seconds);
                for (; at > 0 && name[at - 1].y > y; at--) name[at] = name[at - 1];
                name[at].k = k, name[at].y = y;
                break;
            }
    for (int n = 1; n < count; n++)
        if (name[n].y < name[n - 1].y + 15) name[n].y = name[n - 1].y + 15;
    for (int n = 0; n < count; n++)
        fprintf(out, "<text x='%d' y='%.1f' fill='%s'>%s</text>\n", PLOT_WIDTH - RIGHT + 10, name[n].y + 4,
                cases[name[n].k].colour, cases[name[n].k].name);
}

static tl_status write_plot(const bench_grids_def *def, const results *value, tl_error *err)
{
    FILE *out = fopen(def->svg, "w");
    const plot_frame f = frame_of(def, value);
    if (out) {
        fprintf(
            out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            PLOT_WIDTH, PLOT_HEIGHT);
        plot_axes(out, def, &f);
        for (int k = 0; k < CASES; k++) {
            fprintf(out, "<polyline fill='none' stroke='%s' stroke-width='2' points='", cases[k].colour);
            for (int32_t i = 0; i < def->size_count; i++)
                if (isfinite(value[i][k].seconds))
                    fprintf(out, "%.1f,%.1f ", plot_x(&f, def->sizes[i]), plot_y(&f, 1000 * value[i][k].seconds));
            fprintf(out, "'/>\n");
            for (int32_t i = 0; i < def->size_count; i++)
                if (isfinite(value[i][k].seconds) && value[i][k].repaired)
                    fprintf(out, "<circle cx='%.1f' cy='%.1f' r='3.5' fill='white' stroke='%s'/>\n",
                            plot_x(&f, def->sizes[i]), plot_y(&f, 1000 * value[i][k].seconds), cases[k].colour);
        }
        fprintf(out, "<text x='%d' y='22' text-anchor='end'>circles: folded and repaired</text>\n", PLOT_WIDTH - RIGHT);
        plot_names(out, def, &f, value);
        fprintf(out, "</svg>\n");
    }
    return bench_csv_close(out, def->svg, err);
}

static tl_status write_rows(const bench_grids_def *def, const results *value, tl_error *err)
{
    FILE *out = bench_csv_open(def->csv, "date,method,size,seconds_per_run,ns_per_cell,area_ratio\n");
    char date[32];
    bench_today(date, sizeof date);
    for (int32_t i = 0; i < def->size_count && out; i++)
        for (int k = 0; k < CASES; k++)
            if (isfinite(value[i][k].seconds))
                fprintf(out, "%s,\"%s\",%d,%.6g,%.6g,%.6g\n", date, cases[k].name, def->sizes[i], value[i][k].seconds,
                        1e9 * value[i][k].seconds / ((double)def->sizes[i] * def->sizes[i]), value[i][k].ratio);
    return bench_csv_close(out, def->csv, err);
}

// The direct methods: 50 x 50 below 10 ms; 500 x 500 below 1 s, with the factor kept below 0.2 s.
static int32_t judge(const bench_grids_def *def, const results *value)
{
    int32_t faults = 0;
    for (int32_t i = 0; i < def->size_count; i++)
        for (int k = 1; k <= 4; k++) {
            const double bar = def->sizes[i] == 50    ? 0.01
                               : def->sizes[i] == 500 ? (cases[k].cached ? 0.2 : 1)
                                                      : INFINITY;
            if (!(value[i][k].seconds > bar)) continue;
            fprintf(def->out, "bar broken: %s at %d x %d takes %.3f s, bar %g s\n", cases[k].name, def->sizes[i],
                    def->sizes[i], value[i][k].seconds, bar);
            faults++;
        }
    return faults;
}

tl_status bench_grids(const bench_grids_def *def, int32_t *faults, tl_error *err)
{
    outline o;
    results value[BENCH_SIZES_MAX];
    *faults = 0;
    make_bodice(&o);
    for (int32_t i = 0; i < def->size_count; i++)
        for (int k = 0; k < CASES; k++) {
            const tl_status status = time_case(def, &o, &cases[k], def->sizes[i], &value[i][k], err);
            if (status != TL_OK) return status;
        }
    const results *shown = (const results *)value;
    print_table(def, "time of 1,000 runs [s], processor time", shown, false);
    print_growth(def, shown);
    fprintf(def->out, "\n");
    print_table(def, "time per cell [ns]", shown, true);
    fprintf(def->out, "* folded and repaired; the repair is part of the time\n");
    *faults = judge(def, shown);
    if (def->csv) {
        const tl_status status = write_rows(def, shown, err);
        if (status != TL_OK) return status;
    }
    return def->svg ? write_plot(def, shown, err) : TL_OK;
}
