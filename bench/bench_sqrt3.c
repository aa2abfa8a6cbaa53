// bench/bench_sqrt3.c: the figures of Li & Volkov 2005, sec. 4, beside ours: the whole hierarchy made, extracted and
// removed, and what adaptation takes of a step on a garment that walks.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/body.h"
#include "toile/scene.h"
#include "toile/sqrt3.h"

enum { ROUND = 59, DOWN = 4, FACES = 2 * ROUND * DOWN, REPEATS = 15, LAYERS = 5, PATH_SIZE = 1200, SET_SIZE = 64 };

bench_sqrt3_def bench_sqrt3_default(void)
{
    return (bench_sqrt3_def){
        .errors = {0.0055, 0.0023, 0.0016}, .error_count = 3, .frames = 20, .threads = 1, .out = stdout};
}

static tl_status no_memory(tl_error *err)
{
    err->status = TL_NO_MEMORY;
    snprintf(err->message, sizeof err->message, "bench sqrt3: out of memory");
    return TL_NO_MEMORY;
}

// --- the hierarchy alone ------------------------------------------------------------------------------------

/// 472 triangles, as their dress has.
typedef struct sheet {
    tl_vec2 uv[(ROUND + 1) * (DOWN + 1)];
    int32_t tri[FACES][3];
} sheet;

static void make_sheet(sheet *s)
{
    for (int32_t j = 0; j <= DOWN; j++)
        for (int32_t i = 0; i <= ROUND; i++) s->uv[j * (ROUND + 1) + i] = (tl_vec2){0.05 * i, 0.05 * j};
    int32_t n = 0;
    for (int32_t j = 0; j < DOWN; j++)
        for (int32_t i = 0; i < ROUND; i++) {
            const int32_t a = j * (ROUND + 1) + i, b = a + 1, c = a + ROUND + 1, d = c + 1;
            const int32_t even = (i + j) % 2 == 0, both[2][3] = {{a, b, even ? d : c}, {even ? a : b, d, c}};
            memcpy(s->tri[n++], both[0], sizeof both[0]);
            memcpy(s->tri[n++], both[1], sizeof both[1]);
        }
}

static tl_status refine_all(tl_sqrt3 *h, tl_error *err)
{
    for (int32_t l = 0; l + 1 < LAYERS; l++) {
        const int32_t slots = tl_sqrt3_layer(h, l).slot_count;
        for (int32_t t = 0; t < slots; t++) {
            const tl_status status = tl_sqrt3_refine(h, l, t, err);
            if (status != TL_OK) return status;
        }
    }
    return TL_OK;
}

static tl_status remove_all(tl_sqrt3 *h, tl_error *err)
{
    for (int32_t l = LAYERS - 2; l >= 0; l--)
        for (int32_t t = 0; t < tl_sqrt3_layer(h, l).slot_count; t++) {
            if (!(tl_sqrt3_layer(h, l).tri[t].flags & TL_SQRT3_LIVE)) continue;
            const tl_status status = tl_sqrt3_coarsen(h, l, t, err);
            if (status != TL_OK) return status;
        }
    return TL_OK;
}

/// Medians [s] of processor time.
typedef struct hierarchy_times {
    double make, extract, remove;
    int32_t faces;
} hierarchy_times;

static tl_status time_hierarchy(hierarchy_times *out, tl_error *err)
{
    sheet *s = malloc(sizeof *s);
    tl_sqrt3_face *face = malloc((size_t)FACES * 81 * sizeof *face);
    if (!s || !face) return free(s), free(face), no_memory(err);
    make_sheet(s);
    double make[REPEATS], extract[REPEATS], take[REPEATS];
    const tl_allocator alloc = tl_allocator_default();
    const tl_sqrt3_input input = {.tri = (const int32_t(*)[3])s->tri,
                                  .uv = s->uv,
                                  .tri_count = FACES,
                                  .vert_count = (ROUND + 1) * (DOWN + 1),
                                  .layers = LAYERS};
    tl_status status = TL_OK;
    for (int k = 0; k < REPEATS && status == TL_OK; k++) {
        tl_sqrt3 *h = NULL;
        status = tl_sqrt3_create(&alloc, &input, &h, err);
        double start = bench_cpu();
        if (status == TL_OK) status = refine_all(h, err);
        make[k] = bench_cpu() - start, start = bench_cpu();
        if (status == TL_OK) out->faces = tl_sqrt3_extract(h, face, FACES * 81);
        extract[k] = bench_cpu() - start, start = bench_cpu();
        if (status == TL_OK) status = remove_all(h, err);
        take[k] = bench_cpu() - start;
        if (status == TL_OK && tl_sqrt3_extract(h, NULL, 0) != FACES) {
            err->status = status = TL_FAILED;
            snprintf(err->message, sizeof err->message, "bench sqrt3: the hierarchy was not removed");
        }
        tl_sqrt3_destroy(h);
    }
    if (status == TL_OK) {
        out->make = bench_median(make, REPEATS), out->extract = bench_median(extract, REPEATS);
        out->remove = bench_median(take, REPEATS);
    }
    free(s), free(face);
    return status;
}

// --- a garment ----------------------------------------------------------------------------------------------

typedef struct garment_figures {
    double faces, step, share, energy, momentum;
    int64_t crossings, refused;
} garment_figures;

static tl_status run_garment(const bench_sqrt3_def *def, double error, garment_figures *out, tl_error *err)
{
    char path[PATH_SIZE], set[SET_SIZE];
    snprintf(set, sizeof set, "remeshing.error=%.9g", error);
    const char *sets[] = {set};
    *out = (garment_figures){0};
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    tl_status status = bench_find_scene(def->scene ? def->scene : "layered-dress", def->data, path, sizeof path, err);
    if (status == TL_OK) status = tl_scene_load(path, sets, 1, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, def->threads, NULL, NULL, &sim, err);
    double total = 0, adapt = 0;
    const int64_t steps = status == TL_OK ? (int64_t)def->frames * tl_scene_steps_per_frame(scene) : 0;
    for (int64_t k = 0; k < steps && status == TL_OK; k++) {
        tl_step_report r;
        tl_intersection_report x = {0};
        status = tl_sim_step(sim, &r, err);
        if (status == TL_OK) status = tl_sim_intersections(sim, &x, err);
        if (status != TL_OK) break;
        total += r.seconds.total, adapt += r.seconds.remesh;
        out->faces += (double)bench_count_faces(sim) / (double)steps;
        out->crossings += x.cloth_cloth + x.cloth_body, out->refused += r.remesh.refused;
        out->energy = fmax(out->energy, r.remesh.energy), out->momentum = fmax(out->momentum, r.remesh.momentum_drift);
    }
    if (steps > 0) out->step = total / (double)steps, out->share = total > 0 ? adapt / total : 0;
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return status;
}

tl_status bench_sqrt3(const bench_sqrt3_def *def, int32_t *faults, tl_error *err)
{
    FILE *out = def->out;
    hierarchy_times t = {0};
    tl_status status = time_hierarchy(&t, err);
    if (status != TL_OK) return status;
    const double bar[3] = {10e-3, 3e-3, 3e-3}, got[3] = {t.make, t.remove, t.extract}, paper[3] = {40, 11, 13};
    const char *const names[3] = {"make all", "remove all", "extract"};
    fprintf(out, "hierarchy of %d triangles, %d layers, %d at the finest [ms of processor time]\n", FACES, LAYERS,
            t.faces);
    fprintf(out, "%-12s %8s %8s %8s\n", "", "paper", "here", "bar");
    for (int k = 0; k < 3; k++)
        fprintf(out, "%-12s %8.0f %8.2f %8.0f%s\n", names[k], paper[k], 1e3 * got[k], 1e3 * bar[k],
                got[k] > bar[k] ? "  missed" : "");
    fprintf(out, "\na dress that walks, %d frames (paper: 1.2 s a step at 12,000 triangles, 7 %% of it adaptation)\n",
            def->frames);
    fprintf(out, "%10s %10s %12s %12s %10s %10s %12s\n", "error [mm]", "faces", "step [ms]", "adaptation", "crossings",
            "refused", "energy [J]");
    for (int32_t i = 0; i < def->error_count; i++) {
        garment_figures g;
        status = run_garment(def, def->errors[i], &g, err);
        if (status != TL_OK) return status;
        fprintf(out, "%10.3g %10.0f %12.1f %10.1f %% %10lld %10lld %12.2g\n", 1e3 * def->errors[i], g.faces,
                1e3 * g.step, 100 * g.share, (long long)g.crossings, (long long)g.refused, g.energy);
        *faults += g.crossings > 0;
    }
    return TL_OK;
}
