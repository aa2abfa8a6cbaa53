// bench/bench_dynamics.c: cost of a time step on a fixed mesh, against size and threads.
//
// Two scenes built in code as grids with alternating diagonals: a sheet of 1 m held at two corners that
// swings down, and a flag of 3 m x 2 m in a wind of 10 m/s. One simulation per thread count steps in turn
// with the others, so that whatever else the machine does meets all of them; the ratio is the median over the
// steps. The state hash stands next to every time: a gain that changes the answer shows.

#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN ((double)NAN)  // not measured

/// One scene at one size on one thread count.
typedef struct result {
    const char *scene;
    int64_t faces, nodes;
    int32_t threads;
    double seconds;                                   // per step, mean
    double median, worst;                             // per step
    tl_stage_seconds stage;                           // per step, mean
    double newton, linear, factorizations, rejected;  // per step, mean
    tl_linear used;
    size_t peak_bytes;  // tl_sim_memory
    double rss_bytes;   // growth of the process while this was the only simulation; NaN: not measured
    double assembly;    // faces per second of force and Hessian assembly; NaN: the library does not tell yet
    double speedup;     // against the first thread count, median over the steps; NaN for the first itself
    uint64_t hash;
} result;

bench_dynamics_def bench_dynamics_default(void)
{
    return (bench_dynamics_def){.sizes = {2000, 10000, 65000, 200000},
                                .size_count = 4,
                                .threads = {1, 2},
                                .thread_count = 2,
                                .scenes = BENCH_HANGING | BENCH_FLAG,
                                .steps = 20,
                                .warmup = 5,
                                .dt = 1.0 / 200,
                                .linear = TL_LINEAR_AUTO,
                                .out = stdout};
}

// --- the scenes -------------------------------------------------------------------------------------------

// Lies flat at first and swings down about its two held corners.
static void place_hanging(bench_grid *g)
{
    for (int32_t v = 0; v < g->node_count; v++) g->pos[v] = (tl_vec3){g->uv[v].x, 0, -g->uv[v].y};
}

// Upright, with a gentle wave that keeps lengths: z = a u sin(k u), dx = sqrt(1 - z'^2) du. A flat flag in a
// wind along itself would never begin to flutter.
static void place_flag(bench_grid *g)
{
    const double amplitude = 0.03, k = 2 * 3.14159265358979323846 / 1.5;
    const double du = g->width / g->nx;
    double x = 0, z = 0;
    for (int32_t i = 0; i <= g->nx; i++) {
        for (int32_t j = 0; j <= g->ny; j++) {
            const int32_t v = j * (g->nx + 1) + i;
            g->pos[v] = (tl_vec3){x, g->uv[v].y, z};
        }
        const double next = amplitude * (i + 1) * du * sin(k * (i + 1) * du);
        x += sqrt(fmax(0, du * du - (next - z) * (next - z)));
        z = next;
    }
}

// Numbers of a firm double knit near rest, rounded from the camel ponte roma of Wang et al. 2011.
static tl_status flag_material(tl_material *out, tl_error *err)
{
    const tl_orthotropic def = {.stretch_warp = 160,
                                .stretch_weft = 380,
                                .shear = 30,
                                .poisson = 0.1,
                                .bend_warp = 9.3e-6,
                                .bend_weft = 9.1e-6,
                                .bend_bias = 8.3e-6,
                                .density = 0.284,
                                .thickness = 1e-3};
    return tl_material_orthotropic(&def, out, err);
}

static tl_status build(const bench_dynamics_def *def, bench_scene scene, int32_t faces, int32_t threads, tl_sim **out,
                       tl_error *err)
{
    const bool flag = scene == BENCH_FLAG;
    bench_grid g;
    if (!bench_grid_make(flag ? 3 : 1, flag ? 2 : 1, faces, &g)) {
        *err = (tl_error){TL_NO_MEMORY, "bench: out of memory"};
        return TL_NO_MEMORY;
    }
    tl_sim *sim = NULL;
    tl_material material = tl_material_default();
    tl_status status = flag ? flag_material(&material, err) : TL_OK;
    tl_sim_def sd = tl_sim_def_default();
    sd.collide.self = 0;  // the cost of dynamics alone; contact has `toile bench contact`
    sd.dt = def->dt;
    sd.linear = def->linear;
    sd.threads = threads;
    if (flag)
        place_flag(&g), sd.air.wind = (tl_vec3){10, 0, 0}, sd.air.turbulence = 0;
    else
        place_hanging(&g);
    if (status == TL_OK) status = tl_sim_create(&sd, &sim, err);

    tl_cloth_def cd = tl_cloth_def_default();
    cd.remeshing.kind = TL_REMESHING_NONE;
    cd.node_count = g.node_count;
    cd.pos = g.pos;
    cd.uv = g.uv;
    cd.face_count = g.face_count;
    cd.face = (const int32_t(*)[3])g.face;
    cd.materials = &material;
    cd.material_count = 1;
    tl_cloth_id cloth = {0, 0};
    if (status == TL_OK) status = tl_sim_add_cloth(sim, &cd, &cloth, err);

    tl_handle_def hd = tl_handle_def_default();
    const int32_t corners[2] = {0, g.nx};
    hd.cloth = cloth;
    if (flag) {  // the edge at the pole
        hd.use_uv_box = 1;
        hd.uv_min = (tl_vec2){-1, -1};
        hd.uv_max = (tl_vec2){0.1 * g.width / g.nx, g.height + 1};
    } else {
        hd.nodes = corners;
        hd.node_count = 2;
    }
    if (status == TL_OK) status = tl_sim_add_handle(sim, &hd, err);
    bench_grid_free(&g);
    if (status != TL_OK) {
        tl_sim_destroy(sim);
        sim = NULL;
    }
    *out = sim;
    return status;
}

// --- measuring --------------------------------------------------------------------------------------------

static tl_status timed_step(tl_sim *sim, result *r, double *seconds, tl_error *err)
{
    tl_step_report report = {0};
    const double start = bench_now();
    const tl_status status = tl_sim_step(sim, &report, err);
    *seconds = bench_now() - start;
    r->seconds += *seconds;
    r->worst = fmax(r->worst, *seconds);
    r->stage.physics += report.seconds.physics;
    r->stage.strain += report.seconds.strain;
    r->stage.collision += report.seconds.collision;
    r->stage.remesh += report.seconds.remesh;
    r->stage.other += report.seconds.other;
    r->stage.total += report.seconds.total;
    r->newton += report.newton_iterations;
    r->linear += report.linear_iterations;
    r->factorizations += report.factorizations;
    r->rejected += report.rejected;
    r->used = report.linear_used;
    return status;
}

static void per_step(result *r, int32_t steps)
{
    double *sums[] = {&r->seconds,      &r->stage.physics,  &r->stage.strain, &r->stage.collision,
                      &r->stage.remesh, &r->stage.other,    &r->stage.total,  &r->newton,
                      &r->linear,       &r->factorizations, &r->rejected};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] /= steps;
}

// One scene and size on every thread count, stepping in turn. `results` receives thread_count rows.
static tl_status measure(const bench_dynamics_def *def, bench_scene scene, int32_t faces, result *results,
                         tl_error *err)
{
    tl_sim *sims[BENCH_THREADS_MAX] = {0};
    const int32_t count = def->thread_count, steps = def->steps;
    tl_status status = TL_OK;
    double *times = calloc((size_t)count * (size_t)steps, sizeof *times);
    if (!times) status = TL_NO_MEMORY, *err = (tl_error){TL_NO_MEMORY, "bench: out of memory"};
    for (int32_t k = 0; k < count && status == TL_OK; k++) {
        result *r = &results[k];
        *r = (result){.scene = scene == BENCH_FLAG ? "flag" : "hanging",
                      .threads = def->threads[k],
                      .rss_bytes = UNKNOWN,
                      .assembly = UNKNOWN,
                      .speedup = UNKNOWN};
        const double mark = k == 0 ? bench_rss_mark() : UNKNOWN;
        status = build(def, scene, faces, def->threads[k], &sims[k], err);
        for (int32_t s = 0; s < def->warmup && status == TL_OK; s++) status = tl_sim_step(sims[k], NULL, err);
        if (k == 0) r->rss_bytes = bench_rss_growth(mark);
    }
    for (int32_t s = 0; s < steps && status == TL_OK; s++)
        for (int32_t k = 0; k < count && status == TL_OK; k++)
            status = timed_step(sims[k], &results[k], &times[k * steps + s], err);

    for (int32_t k = count - 1; k >= 0 && status == TL_OK; k--) {  // downward: bench_median() sorts times[k]
        result *r = &results[k];
        tl_cloth_view view;
        status = tl_sim_cloth_view(sims[k], tl_sim_cloth(sims[k], 0), &view);
        if (status != TL_OK) break;
        r->faces = view.face_count;
        r->nodes = view.node_count;
        r->hash = tl_sim_hash(sims[k]);
        r->peak_bytes = tl_sim_memory(sims[k]).peak;
        per_step(r, steps);
        if (k > 0) {
            double ratios[BENCH_STEPS_MAX];
            for (int32_t s = 0; s < steps; s++) ratios[s] = times[s] / times[k * steps + s];
            r->speedup = bench_median(ratios, steps);
        }
        r->median = bench_median(times + k * steps, steps);
    }
    for (int32_t k = 0; k < count; k++) tl_sim_destroy(sims[k]);
    free(times);
    return status;
}

// Exponent of the cost against faces; NaN with fewer than two sizes.
static double fit_exponent(const result *results, int32_t count, const char *scene, int32_t threads)
{
    double x[BENCH_SIZES_MAX], y[BENCH_SIZES_MAX];
    int32_t n = 0;
    for (int32_t i = 0; i < count && n < BENCH_SIZES_MAX; i++) {
        const result *r = &results[i];
        if (r->threads != threads || strcmp(r->scene, scene) != 0) continue;
        x[n] = (double)r->faces, y[n] = r->seconds, n++;
    }
    return bench_exponent(x, y, n);
}

// --- output -----------------------------------------------------------------------------------------------

static void print_head(FILE *out)
{
    fprintf(out, "%-8s %8s %3s %10s %10s %10s %7s %8s %6s %-11s %9s %7s %7s %7s  %s\n", "scene", "faces", "thr",
            "ms/step", "physics", "other", "newton", "linear", "factor", "solver", "us/face", "B/face", "rss/f",
            "speedup", "state hash");
}

static void print_optional(FILE *out, int width, int digits, double value)
{
    if (isfinite(value))
        fprintf(out, " %*.*f", width, digits, value);
    else
        fprintf(out, " %*s", width, "-");
}

static void print_row(FILE *out, const result *r)
{
    const double faces = (double)r->faces;
    fprintf(out, "%-8s %8lld %3d %10.3f %10.3f %10.3f %7.2f %8.1f %6.2f %-11s %9.3f %7.0f", r->scene,
            (long long)r->faces, r->threads, 1e3 * r->seconds, 1e3 * r->stage.physics,
            1e3 * (r->seconds - r->stage.physics), r->newton, r->linear, r->factorizations, tl_linear_name(r->used),
            1e6 * r->seconds / faces, (double)r->peak_bytes / faces);
    print_optional(out, 7, 0, r->rss_bytes / faces);
    print_optional(out, 7, 2, r->speedup);
    fprintf(out, "  %016llx\n", (unsigned long long)r->hash);
    fflush(out);
}

static const char csv_head[] =
    "date,version,machine,scene,faces,nodes,threads,steps,dt,linear,ms_step,ms_step_median,ms_step_worst,"
    "ms_physics,ms_strain,ms_collision,ms_remesh,ms_other,newton_step,linear_step,factorizations_step,"
    "rejected_step,"
    "us_face_step,bytes_face,rss_bytes_face,assembly_faces_s,speedup,state_hash\n";

static void csv_optional(FILE *file, double value)
{
    if (isfinite(value))
        fprintf(file, ",%.6g", value);
    else
        fputc(',', file);
}

static tl_status append_csv(const bench_dynamics_def *def, const result *results, int32_t count, tl_error *err)
{
    char machine[128], date[32];
    bench_machine_name(machine, sizeof machine);
    bench_today(date, sizeof date);
    FILE *file = bench_csv_open(def->csv, csv_head);
    for (int32_t i = 0; file && i < count; i++) {
        const result *r = &results[i];
        fprintf(file, "%s,%s,%s,%s,%lld,%lld,%d,%d,%.9g,%s,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", date, tl_version(),
                machine, r->scene, (long long)r->faces, (long long)r->nodes, r->threads, def->steps, def->dt,
                tl_linear_name(r->used), 1e3 * r->seconds, 1e3 * r->median, 1e3 * r->worst, 1e3 * r->stage.physics,
                1e3 * r->stage.strain, 1e3 * r->stage.collision, 1e3 * r->stage.remesh, 1e3 * r->stage.other);
        fprintf(file, ",%.4g,%.6g,%.4g,%.4g,%.6g,%.6g", r->newton, r->linear, r->factorizations, r->rejected,
                1e6 * r->seconds / (double)r->faces, (double)r->peak_bytes / (double)r->faces);
        csv_optional(file, r->rss_bytes / (double)r->faces);
        csv_optional(file, r->assembly);
        csv_optional(file, r->speedup);
        fprintf(file, ",%016llx\n", (unsigned long long)r->hash);
    }
    return bench_csv_close(file, def->csv, err);
}

static void print_json(const bench_dynamics_def *def, const result *results, int32_t count, int32_t different)
{
    char machine[128];
    bench_machine_name(machine, sizeof machine);
    FILE *out = def->out;
    fprintf(out, "{\"command\": \"bench\", \"bench\": \"dynamics\", \"version\": \"%s\", \"machine\": \"%s\"",
            tl_version(), machine);
    fprintf(out, ", \"steps\": %d, \"dt\": %.9g, \"different\": %d, \"exponents\": {", def->steps, def->dt, different);
    bool first = true;
    for (int32_t k = 0; k < count; k++) {
        bool seen = false;
        for (int32_t i = 0; i < k; i++) seen = seen || strcmp(results[i].scene, results[k].scene) == 0;
        const double p = fit_exponent(results, count, results[k].scene, def->threads[0]);
        if (seen || !isfinite(p)) continue;
        fprintf(out, "%s\"%s\": %.4f", first ? "" : ", ", results[k].scene, p);
        first = false;
    }
    fprintf(out, "}, \"results\": [");
    for (int32_t i = 0; i < count; i++) {
        const result *r = &results[i];
        fprintf(out, "%s{\"scene\": \"%s\", \"faces\": %lld, \"nodes\": %lld, \"threads\": %d, \"linear\": \"%s\"",
                i ? ", " : "", r->scene, (long long)r->faces, (long long)r->nodes, r->threads, tl_linear_name(r->used));
        bench_json_number(out, "ms_step", 1e3 * r->seconds);
        bench_json_number(out, "ms_step_median", 1e3 * r->median);
        bench_json_number(out, "ms_step_worst", 1e3 * r->worst);
        bench_json_number(out, "ms_physics", 1e3 * r->stage.physics);
        bench_json_number(out, "ms_strain", 1e3 * r->stage.strain);
        bench_json_number(out, "ms_collision", 1e3 * r->stage.collision);
        bench_json_number(out, "ms_remesh", 1e3 * r->stage.remesh);
        bench_json_number(out, "ms_other", 1e3 * r->stage.other);
        bench_json_number(out, "newton_step", r->newton);
        bench_json_number(out, "linear_step", r->linear);
        bench_json_number(out, "factorizations_step", r->factorizations);
        bench_json_number(out, "rejected_step", r->rejected);
        bench_json_number(out, "us_face_step", 1e6 * r->seconds / (double)r->faces);
        bench_json_number(out, "bytes_face", (double)r->peak_bytes / (double)r->faces);
        bench_json_number(out, "rss_bytes_face", r->rss_bytes / (double)r->faces);
        bench_json_number(out, "assembly_faces_s", r->assembly);
        bench_json_number(out, "speedup", r->speedup);
        fprintf(out, ", \"state_hash\": \"%016llx\"}", (unsigned long long)r->hash);
    }
    fprintf(out, "]}\n");
}

tl_status bench_dynamics(const bench_dynamics_def *def, int32_t *different, tl_error *err)
{
    const bench_scene scenes[] = {BENCH_HANGING, BENCH_FLAG};
    result *results = calloc((size_t)(2 * def->size_count * def->thread_count), sizeof *results);
    if (!results) return *err = (tl_error){TL_NO_MEMORY, "bench: out of memory"}, TL_NO_MEMORY;
    tl_status status = TL_OK;
    int32_t count = 0;
    *different = 0;
    if (!def->json) print_head(def->out);
    for (int32_t s = 0; s < 2 && status == TL_OK; s++) {
        if (!(def->scenes & scenes[s])) continue;
        const int32_t first = count;
        for (int32_t i = 0; i < def->size_count && status == TL_OK; i++) {
            result *rows = &results[count];
            status = measure(def, scenes[s], def->sizes[i], rows, err);
            if (status != TL_OK) break;
            count += def->thread_count;
            for (int32_t k = 0; k < def->thread_count; k++) {
                if (!def->json) print_row(def->out, &rows[k]);
                if (rows[k].hash != rows[0].hash) *different += 1;
            }
        }
        for (int32_t k = 0; !def->json && count > first && k < def->thread_count; k++) {
            const double p = fit_exponent(results, count, results[first].scene, def->threads[k]);
            if (isfinite(p))
                fprintf(def->out, "%-8s cost per step grows as faces^%.2f (%d thread%s)\n", results[first].scene, p,
                        def->threads[k], def->threads[k] == 1 ? "" : "s");
        }
    }
    if (!def->json && *different > 0)
        fprintf(def->out, "the state hash depends on the number of threads in %d cases\n", *different);
    if (def->json && status == TL_OK) print_json(def, results, count, *different);
    if (def->csv && count > 0) {
        tl_error csv_err = {0};
        const tl_status written = append_csv(def, results, count, status == TL_OK ? err : &csv_err);
        if (status == TL_OK) status = written;
    }
    free(results);
    return status;
}
