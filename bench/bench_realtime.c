// bench/bench_realtime.c: `toile bench realtime` beyond the sheet: a T-shirt, a dress at every level, adaptive and
// coarse behind, and budgets, in the columns of Simnett 2012, ch. 4 and 5.
//
// Times are processor time of whole steps, shared out by the clocks of the stages. The dress is compared with the same
// dress at level 3, step by step: distances from nodes of either to the other one's surface, and between normals there.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/live.h"
#include "toile/query.h"
#include "toile/scene.h"

enum { PATH_SIZE = 1200, WARM = 10, SETS = 8, LOOK_EVERY = 20, SAMPLES = 150 };
#define REACH 0.5  // [m] within which the other surface is looked for
#define DEGREE 57.29577951308232

typedef struct garment_row {
    const char *name, *scene;
    int32_t level;  ///< uniform; -1: adaptive down to the finest
    const char *set[SETS];
    double published[4];  ///< triangles; simulate, collide [ms]; adapt [ms], 0: not told apart
    bool compared;
} garment_row;

#define UNIFORM                                                                                                        \
    "detail.cull=false", "remeshing.split_length=100", "remeshing.join_length=1000", "remeshing.rejoin_wait=0"
#define ADAPTIVE "remeshing.curvature=0.45"
#define BY_SAG(metres) "remeshing.sag=" metres
static const garment_row rows[] = {
    {"T-shirt", "realtime-tshirt", -1, {NULL}, {6199, 0, 0, 0}, false},
    {"dress, level 3", "realtime-dress", 3, {UNIFORM}, {15232, 120.333, 17.852, 0}, true},
    {"dress, level 2", "realtime-dress", 2, {UNIFORM}, {3808, 8.330, 4.507, 0}, true},
    {"dress, level 1", "realtime-dress", 1, {UNIFORM}, {952, .971, 1.160, 0}, true},
    {"dress, level 0", "realtime-dress", 0, {"detail.cull=false"}, {238, .358, .310, 0}, true},
    {"dress, adaptive", "realtime-dress", -1, {ADAPTIVE, "detail.cull=false"}, {1631, 2.875, 2.047, .103}, true},
    {"dress, sag 2 mm", "realtime-dress", -1, {BY_SAG("0.002"), "detail.cull=false"}, {1631, 2.875, 2.047, .103}, true},
    {"dress, sag 1 mm", "realtime-dress", -1, {BY_SAG("0.001"), "detail.cull=false"}, {1631, 2.875, 2.047, .103}, true},
    {"dress, coarse behind", "realtime-dress", -1, {ADAPTIVE}, {914, 1.363, 1.156, .067}, false},
};
enum { ROWS = sizeof rows / sizeof *rows, LEVEL_3 = 1 };

static tl_status open_row(const bench_realtime_def *def, const garment_row *row, tl_sim **sim, tl_error *err)
{
    char path[PATH_SIZE], level[32];
    const char *set[SETS + 1] = {level};
    int32_t sets = 1;
    snprintf(level, sizeof level, "remeshing.levels=%d", row->level < 0 ? def->garment_level : row->level);
    for (; sets <= SETS && row->set[sets - 1]; sets++) set[sets] = row->set[sets - 1];
    tl_scene *scene = NULL;
    tl_status status = bench_find_scene(row->scene, def->data, path, sizeof path, err);
    if (status == TL_OK) status = tl_scene_load(path, set, sets, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, def->threads, NULL, NULL, sim, err);
    tl_scene_destroy(scene);
    return status;
}

/// Means over steps after the first ones.
typedef struct garment_figures {
    double faces, total, adapt, simulate, collide;
    int32_t steps;
} garment_figures;

static tl_status take_step(tl_sim *sim, garment_figures *out, tl_error *err)
{
    tl_step_report r;
    const double start = bench_cpu();
    const tl_status status = tl_sim_step(sim, &r, err);
    const double cpu = 1e3 * (bench_cpu() - start), all = r.seconds.total > 0 ? r.seconds.total : 1;
    if (status != TL_OK || tl_sim_steps(sim) <= WARM) return status;
    out->faces += (double)bench_count_faces(sim), out->total += cpu, out->steps++;
    out->adapt += cpu * r.seconds.remesh / all, out->simulate += cpu * r.seconds.physics / all;
    out->collide += cpu * r.seconds.collision / all;
    return TL_OK;
}

// ---- shapes ---------------------------------------------------------------------------------------------------

typedef struct deviation {
    double largest, sum, angle;  ///< [m], [m], [rad] summed over nodes
    int64_t count;
} deviation;

static bool measure_from(tl_sim *from, const tl_sim *to, deviation *d)
{
    const tl_cloth_id cloth = tl_sim_cloth(from, 0);
    tl_cloth_view view;
    if (tl_sim_cloth_view(from, cloth, &view) != TL_OK) return false;
    tl_vec3 *normal = malloc((size_t)view.node_count * sizeof *normal);
    if (!normal || tl_sim_cloth_normals(from, cloth, normal) != TL_OK) return free(normal), false;
    const int32_t stride = 1 + view.node_count / SAMPLES;  // each looks at all faces
    for (int32_t i = 0; i < view.node_count; i += stride) {
        tl_hit hit;
        if (!tl_sim_nearest(to, view.pos[i], REACH, TL_QUERY_CLOTHS, &hit)) continue;
        const double cosine = normal[i].x * hit.normal.x + normal[i].y * hit.normal.y + normal[i].z * hit.normal.z;
        d->largest = fmax(d->largest, hit.distance), d->sum += hit.distance, d->count++;
        d->angle += acos(fmin(1, fmax(-1, cosine)));
    }
    free(normal);
    return true;
}

/// Means over the moments that were looked at.
typedef struct likeness {
    double hausdorff, distance, angle;
    int32_t moments;
} likeness;

static bool compare(tl_sim *sim, tl_sim *finest, likeness *out)
{
    deviation d = {0};
    if (!measure_from(sim, finest, &d) || !measure_from(finest, sim, &d) || d.count == 0) return false;
    out->hausdorff += d.largest, out->distance += d.sum / (double)d.count;
    out->angle += d.angle / (double)d.count, out->moments++;
    return true;
}

// ---- tables ---------------------------------------------------------------------------------------------------

static void print_row(FILE *out, const garment_row *row, const garment_figures *f, const likeness *l, double finest)
{
    const double n = f->steps > 0 ? f->steps : 1;
    fprintf(out, "%-21s %7.0f (%5.0f)  %7.3f (%5.3f)  %8.3f (%7.3f)  %8.3f (%6.3f)  %8.3f", row->name, f->faces / n,
            row->published[0], f->adapt / n, row->published[3], f->simulate / n, row->published[1], f->collide / n,
            row->published[2], f->total / n);
    if (finest > 0) fprintf(out, "  %5.1f", finest / (f->total / n));
    if (l->moments > 0)
        fprintf(out, "   %5.1f %6.2f %6.2f", 1e3 * l->hausdorff / l->moments, 1e3 * l->distance / l->moments,
                DEGREE * l->angle / l->moments);
    fprintf(out, "\n");
    fflush(out);
}

static tl_status run_rows(const bench_realtime_def *def, tl_sim *sims[ROWS], tl_error *err)
{
    garment_figures figures[ROWS] = {{0}};
    likeness like[ROWS] = {{0}};
    tl_status status = TL_OK;
    const int first = LEVEL_3 + 3 - def->garment_level;
    for (int r = 0; r < ROWS && status == TL_OK; r++)
        if (rows[r].level <= def->garment_level) status = open_row(def, &rows[r], &sims[r], err);
    const int32_t steps = def->garment_steps + WARM;
    for (int32_t k = 0; k < steps && status == TL_OK; k++) {
        for (int r = 0; r < ROWS && status == TL_OK; r++)
            if (sims[r]) status = take_step(sims[r], &figures[r], err);
        const bool due = k >= WARM && (k % LOOK_EVERY == 0 || k + 1 == steps);
        for (int r = first + 1; due && r < ROWS && status == TL_OK; r++)
            if (rows[r].compared && !compare(sims[r], sims[first], &like[r])) {
                *err = (tl_error){TL_NO_MEMORY, "out of memory for a comparison"};
                status = TL_NO_MEMORY;
            }
    }
    const double finest = figures[first].total / fmax(1, figures[first].steps);
    for (int r = 0; r < ROWS && status == TL_OK; r++)
        if (sims[r]) print_row(def->out, &rows[r], &figures[r], &like[r], r > first ? finest : 0);
    return status;
}

tl_status bench_realtime_garments(const bench_realtime_def *def, tl_error *err)
{
    tl_sim *sims[ROWS] = {NULL};
    fprintf(def->out,
            "\ngarments on bodies of 26,756 triangles, %d steps of 1/60 s; processor time in ms a step, published "
            "figures (Simnett 2012, sec. 4.5 and Table 5.3; dt 1/100 s, a dress of 238 triangles) in brackets.\n"
            "Beside them: times faster than level %d; from it, means over moments: largest distance and mean "
            "distance [mm], mean angle between normals [degrees]\n"
            "garment                     triangles             adapt            simulate            collide     "
            "total  faster  largest  mean  angle\n",
            def->garment_steps, def->garment_level);
    const tl_status status = run_rows(def, sims, err);
    for (int r = 0; r < ROWS; r++) tl_sim_destroy(sims[r]);
    return status;
}

// ---- budgets --------------------------------------------------------------------------------------------------

static const tl_vec3 nowhere = {0, 0, 0};

// Between 400 and 4,000, a sine with two periods in the run, as the distance of the eye has it; 0.05 s later, since a
// look at the mesh comes every other step.
static double target_at(int32_t k, int32_t steps) { return 2200 + 1800 * cos(2 * 6.283185307179586 * k / steps); }

static tl_status open_budget(const bench_realtime_def *def, tl_sim **sim, tl_error *err)
{
    static const garment_row row = {.scene = "realtime-budget", .level = 4, .set = {"remeshing.max_faces=4000"}};
    return open_row(def, &row, sim, err);
}

// Budgets by an eye that is just as far as asks for so many triangles (far_faces 1 at 4,000 m for 4,000 at 0 m).
static tl_status set_triangles(tl_sim *sim, double target, tl_error *err)
{
    tl_vec3 sum = nowhere;
    tl_cloth_view view;
    const tl_status status = tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view);
    if (status != TL_OK) return status;
    for (int32_t i = 0; i < view.node_count; i++)
        sum.x += view.pos[i].x / view.node_count, sum.y += view.pos[i].y / view.node_count,
            sum.z += view.pos[i].z / view.node_count;
    const tl_detail_key key = {0, {sum.x, sum.y, sum.z + 4000 - target}};
    tl_detail detail = tl_detail_default();
    detail.keys = &key, detail.key_count = 1, detail.near = 0, detail.far = 4000, detail.far_faces = 1;
    return tl_sim_set_detail(sim, &detail, err);
}

tl_status bench_realtime_budgets(const bench_realtime_def *def, tl_error *err)
{
    FILE *out = def->out;
    const int32_t steps = 4 * def->garment_steps;
    double off[2] = {0, 0}, cost = 0;
    int32_t counted = 0;
    for (int by_time = 0; by_time < 2; by_time++) {
        tl_sim *sim = NULL;
        tl_status status = open_budget(def, &sim, err);
        for (int32_t k = -WARM; k < steps && status == TL_OK; k++) {
            const double target = target_at(k < 0 ? 0 : k, steps);
            tl_detail detail = tl_detail_default();
            detail.step_seconds = 1e-6 * target;  // 0.4 to 4 ms
            status = by_time ? tl_sim_set_detail(sim, &detail, err) : set_triangles(sim, target, err);
            tl_step_report r = {0};
            if (status == TL_OK) status = tl_sim_step(sim, &r, err);
            if (status != TL_OK || k < steps / 4) continue;  // it has to have got that fine first
            const double is = by_time ? r.seconds.total / 1e-6 : (double)bench_count_faces(sim);
            off[by_time] += fabs(is / target - 1), counted += !by_time;
            cost += by_time ? r.seconds.total : 0;
        }
        tl_sim_destroy(sim);
        if (status != TL_OK) return status;
    }
    const double n = counted > 0 ? counted : 1;
    fprintf(out,
            "\nbudgets that swing between 400 and 4,000 triangles, or as many microseconds of the clock, twice in %d "
            "steps; mean deviation\n"
            "triangles %.1f %% (12.3), time %.1f %% (8.2) at %.2f ms a step\n",
            steps, 100 * off[0] / n, 100 * off[1] / n, 1e3 * cost / n);
    return TL_OK;
}
