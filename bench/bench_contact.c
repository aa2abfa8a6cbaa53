// bench/bench_contact.c: what contact costs: its share of a step on the contact scenes, and against size on a
// stack.
//
// The stack is ten sheets of 30 cm on a block, at rest (a thickness apart, lying, each as much smaller than the one
// below as it takes to have no corner hang over) and falling (thrown down, a time step apart, so that they land during
// the measurement); edges get shorter as faces get more. One simulation per thread count steps in turn with the others.
// Bar: time per step grows at most as faces^1.2.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/body.h"
#include "toile/scene.h"

#define GROWTH_MAX 1.2
#define SHEET_SIZE 0.3  // [m]
#define TURN 0.05       // [rad] from sheet to sheet: nodes do not lie on nodes
enum { SHEETS = 10, PATH_SIZE = 1024 };

/// Means per step, unless said otherwise.
typedef struct row {
    char name[64];
    int64_t faces;
    int32_t threads, steps;
    double dt, seconds, cpu, median,
        collision;  // cpu: processor time of all threads; collision: share of the step
    double newton, linear, candidates, contacts, searches, tests, limited, held, rejected, zones;
    int32_t zone_nodes;  // of the largest
    size_t bytes;        // peak
    double rss;          // growth of the process; NaN: not measured
    double speedup;
    uint64_t hash;
} row;

bench_contact_def bench_contact_default(void)
{
    return (bench_contact_def){.seconds = 1,
                               .sizes = {5000, 10000, 20000, 50000, 100000},
                               .size_count = 5,
                               .threads = {1, 2},
                               .thread_count = 2,
                               .steps = 12,
                               .warmup = 3,
                               .out = stdout};
}

static tl_status out_of_memory(tl_error *err)
{
    *err = (tl_error){TL_NO_MEMORY, "bench: out of memory"};
    return TL_NO_MEMORY;
}

static tl_status timed_step(tl_sim *sim, row *r, double *seconds, tl_error *err)
{
    tl_step_report s = {0};
    const double start = bench_now(), cpu = bench_cpu();
    const tl_status status = tl_sim_step(sim, &s, err);
    *seconds = bench_now() - start;
    r->cpu += bench_cpu() - cpu;
    if (status != TL_OK) return status;
    r->steps++;
    r->seconds += *seconds, r->collision += s.seconds.collision;
    r->newton += s.newton_iterations, r->linear += s.linear_iterations, r->rejected += s.rejected;
    r->candidates += (double)s.contact.candidates, r->contacts += (double)s.contact.contacts;
    r->searches += s.contact.searches, r->tests += (double)s.contact.volume_tests;
    r->limited += (double)s.contact.limited, r->held += s.contact.held;
    r->zones += s.contact.zones;
    if (s.contact.zone_nodes > r->zone_nodes) r->zone_nodes = s.contact.zone_nodes;
    return TL_OK;
}

static void finish_row(row *r, const tl_sim *sim)
{
    if (r->seconds > 0) r->collision /= r->seconds;
    double *sums[] = {&r->seconds,  &r->cpu,   &r->newton,  &r->linear, &r->candidates, &r->contacts,
                      &r->searches, &r->tests, &r->limited, &r->held,   &r->rejected,   &r->zones};
    for (size_t i = 0; i < sizeof sums / sizeof *sums && r->steps > 0; i++) *sums[i] /= r->steps;
    r->faces = 0;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        tl_cloth_view view;
        if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view) == TL_OK) r->faces += view.face_count;
    }
    r->bytes = tl_sim_memory(sim).peak;
    r->hash = tl_sim_hash(sim);
}

// --- the scenes -------------------------------------------------------------------------------------------

static tl_status measure_scene(const bench_contact_def *def, const char *name, row *r, tl_error *err)
{
    char path[PATH_SIZE];
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    *r = (row){.threads = def->threads[0], .rss = (double)NAN, .median = (double)NAN, .speedup = (double)NAN};
    const char *slash = strrchr(name, '/');
    snprintf(r->name, sizeof r->name, "%.60s", slash && slash[1] ? slash + 1 : name);
    tl_status status = bench_find_scene(name, def->data, path, sizeof path, err);
    static const char *const zones[] = {"collisions.response=zones"};
    if (status == TL_OK) status = tl_scene_load(path, zones, def->zones ? 1 : 0, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, def->threads[0], NULL, NULL, &sim, err);
    if (status == TL_OK) r->dt = 1 / (tl_scene_fps(scene) * tl_scene_steps_per_frame(scene));
    tl_scene_destroy(scene);
    while (status == TL_OK && tl_sim_time(sim) < def->seconds - 1e-9) {
        double seconds;
        status = timed_step(sim, r, &seconds, err);
    }
    if (status == TL_OK) finish_row(r, sim);
    tl_sim_destroy(sim);
    return status;
}

// --- the stack --------------------------------------------------------------------------------------------

/// One sheet of the stack.
typedef struct stack_sheet {
    int32_t index;
    double size;    ///< of the first one
    double height;  ///< [m]
} stack_sheet;

static tl_status add_sheet(tl_sim *sim, const bench_grid *flat, bench_grid *g, const tl_material *material,
                           stack_sheet sheet, tl_vec3 *velocity, tl_error *err)
{
    const int32_t index = sheet.index;
    const double size = sheet.size, height = sheet.height;
    char name[16];
    snprintf(name, sizeof name, "sheet%d", index);
    const double turn = TURN * index, c = cos(turn), s = sin(turn);
    for (int32_t v = 0; v < g->node_count; v++) {
        g->uv[v] = (tl_vec2){size * flat->uv[v].x, size * flat->uv[v].y};
        const double x = g->uv[v].x - 0.5 * size * SHEET_SIZE, z = 0.5 * size * SHEET_SIZE - g->uv[v].y;
        g->pos[v] = (tl_vec3){c * x + s * z, height, c * z - s * x};
    }
    tl_cloth_def cd = tl_cloth_def_default();
    cd.remeshing.kind = TL_REMESHING_NONE;
    cd.name = name;
    cd.node_count = g->node_count, cd.pos = g->pos, cd.uv = g->uv, cd.vel = velocity;
    cd.face_count = g->face_count, cd.face = (const int32_t(*)[3])g->face;
    cd.materials = material, cd.material_count = 1;
    tl_cloth_id id;
    return tl_sim_add_cloth(sim, &cd, &id, err);
}

static tl_status build_stack(const bench_contact_def *def, bool falling, int32_t faces, int32_t threads, tl_sim **out,
                             tl_error *err)
{
    *out = NULL;
    bench_grid g = {0}, flat = {0};
    const bool made = bench_grid_make(SHEET_SIZE, SHEET_SIZE, faces / SHEETS, &g) &&
                      bench_grid_make(SHEET_SIZE, SHEET_SIZE, faces / SHEETS, &flat);
    tl_vec3 *velocity = calloc((size_t)g.node_count + 1, sizeof *velocity);
    tl_status status = made && velocity ? TL_OK : out_of_memory(err);
    tl_sim_def sd = tl_sim_def_default();
    sd.threads = threads, sd.collide.response = def->zones ? TL_RESPONSE_ZONES : TL_RESPONSE_POTENTIAL;
    tl_sim *sim = NULL;
    if (status == TL_OK) status = tl_sim_create(&sd, &sim, err);
    tl_body_def bd = tl_body_def_default();
    bd.name = "block", bd.kind = TL_BODY_BOX, bd.center = (tl_vec3){0, -0.05, 0}, bd.size = (tl_vec3){0.5, 0.1, 0.5};
    tl_body_id body;
    if (status == TL_OK) status = tl_sim_add_body(sim, &bd, &body, err);
    const tl_material material = tl_material_default();
    const double thickness = tl_cloth_def_default().thickness, speed = 0.5;
    for (int32_t i = 0; i < SHEETS && status == TL_OK; i++) {
        const double gap = falling ? speed * sd.dt : 0;
        for (int32_t v = 0; v < g.node_count; v++) velocity[v] = (tl_vec3){0, falling ? -speed : 0, 0};
        const double size = falling ? 1 : pow(cos(TURN) + sin(TURN), -i);
        const stack_sheet sheet = {i, size, (0.5 + i) * thickness + (i + 1) * gap};
        status = add_sheet(sim, &flat, &g, &material, sheet, velocity, err);
    }
    bench_grid_free(&g);
    bench_grid_free(&flat);
    free(velocity);
    if (status != TL_OK) tl_sim_destroy(sim), sim = NULL;
    *out = sim;
    return status;
}

// One size on every thread count, stepping in turn. `rows` receives thread_count of them.
static tl_status measure_stack(const bench_contact_def *def, bool falling, int32_t faces, row *rows, tl_error *err)
{
    tl_sim *sims[BENCH_THREADS_MAX] = {0};
    const int32_t count = def->thread_count, steps = def->steps;
    double *times = calloc((size_t)(count + 1) * (size_t)steps, sizeof *times),
           *ratios = times ? times + count * steps : NULL;
    tl_status status = times ? TL_OK : out_of_memory(err);
    for (int32_t k = 0; k < count && status == TL_OK; k++) {
        row *r = &rows[k];
        *r = (row){
            .threads = def->threads[k], .dt = tl_sim_def_default().dt, .rss = (double)NAN, .speedup = (double)NAN};
        snprintf(r->name, sizeof r->name, "%s", falling ? "stack falling" : "stack at rest");
        const double mark = k == 0 ? bench_rss_mark() : (double)NAN;
        status = build_stack(def, falling, faces, def->threads[k], &sims[k], err);
        for (int32_t s = 0; s < def->warmup && status == TL_OK; s++) status = tl_sim_step(sims[k], NULL, err);
        if (k == 0) r->rss = bench_rss_growth(mark);
    }
    for (int32_t s = 0; s < steps && status == TL_OK; s++)
        for (int32_t k = 0; k < count && status == TL_OK; k++)
            status = timed_step(sims[k], &rows[k], &times[k * steps + s], err);
    for (int32_t k = count - 1; k >= 0 && status == TL_OK; k--) {  // downward: the median sorts times[k]
        for (int32_t s = 0; s < steps; s++) ratios[s] = times[s] / times[k * steps + s];
        if (k > 0) rows[k].speedup = bench_median(ratios, steps);
        rows[k].median = bench_median(times + k * steps, steps);
        finish_row(&rows[k], sims[k]);
    }
    for (int32_t k = 0; k < count; k++) tl_sim_destroy(sims[k]);
    free(times);
    return status;
}

// --- output -----------------------------------------------------------------------------------------------

static void print_head(FILE *out)
{
    fprintf(out, "%-16s %7s %3s %9s %8s %7s %7s %8s %9s %8s %8s %10s %8s %6s %6s %7s %7s %7s  %s\n", "scene", "faces",
            "thr", "ms/step", "us/face", "contact", "newton", "linear", "candid.", "contacts", "searches", "tests",
            "limited", "held", "zones", "largest", "B/face", "speedup", "state hash");
}

static void print_row(FILE *out, const row *r)
{
    const double faces = (double)r->faces;
    fprintf(out, "%-16s %7lld %3d %9.1f %8.2f %6.1f%% %7.1f %8.1f %9.0f %8.0f %8.1f %10.0f %8.1f %6.2f %6.1f %7d %7.0f",
            r->name, (long long)r->faces, r->threads, 1e3 * r->seconds, 1e6 * r->cpu / faces, 100 * r->collision,
            r->newton, r->linear, r->candidates, r->contacts, r->searches, r->tests, r->limited, r->held, r->zones,
            r->zone_nodes, (double)r->bytes / faces);
    if (isfinite(r->speedup))
        fprintf(out, " %7.2f", r->speedup);
    else
        fprintf(out, " %7s", "-");
    fprintf(out, "  %016llx\n", (unsigned long long)r->hash);
    fflush(out);
}

static void write_row(FILE *out, const row *r, bool first)
{
    fprintf(out, "%s\n{\"scene\": ", first ? "" : ",");
    bench_json_text(out, r->name);
    fprintf(out, ", \"faces\": %lld, \"threads\": %d, \"steps\": %d", (long long)r->faces, r->threads, r->steps);
    bench_json_number(out, "dt", r->dt);
    bench_json_number(out, "ms_step", 1e3 * r->seconds);
    bench_json_number(out, "cpu_ms_step", 1e3 * r->cpu);
    bench_json_number(out, "ms_step_median", 1e3 * r->median);
    bench_json_number(out, "us_face_step", 1e6 * r->seconds / (double)r->faces);
    bench_json_number(out, "collision_share", r->collision);
    bench_json_number(out, "newton_step", r->newton);
    bench_json_number(out, "linear_step", r->linear);
    bench_json_number(out, "candidates", r->candidates);
    bench_json_number(out, "contacts", r->contacts);
    bench_json_number(out, "searches_step", r->searches);
    bench_json_number(out, "volume_tests_step", r->tests);
    bench_json_number(out, "limited_step", r->limited);
    bench_json_number(out, "held_step", r->held);
    bench_json_number(out, "zones_step", r->zones);
    bench_json_number(out, "largest_zone", r->zone_nodes);
    bench_json_number(out, "rejected_step", r->rejected);
    bench_json_number(out, "bytes_face", (double)r->bytes / (double)r->faces);
    bench_json_number(out, "rss_bytes_face", r->rss / (double)r->faces);
    bench_json_number(out, "speedup", r->speedup);
    fprintf(out, ", \"state_hash\": \"%016llx\"}", (unsigned long long)r->hash);
}

// Growth of the time per step from size to size and over all of them; beyond the bar it is a fault. On one thread it is
// processor time, so that other work on the machine does not count.
static void judge_growth(const bench_contact_def *def, const row *rows, int32_t sizes, int32_t *faults)
{
    for (int32_t k = 0; k < def->thread_count; k++) {
        double x[BENCH_SIZES_MAX], y[BENCH_SIZES_MAX];
        for (int32_t i = 0; i < sizes; i++) {
            const row *r = &rows[i * def->thread_count + k];
            x[i] = (double)r->faces, y[i] = def->threads[k] == 1 ? r->cpu : r->median;
        }
        const double p = bench_exponent(x, y, sizes);
        if (!isfinite(p)) continue;
        fprintf(def->out, "%-16s %stime per step grows as faces^%.2f on %d thread%s, from size to size", rows[0].name,
                def->threads[k] == 1 ? "processor " : "", p, def->threads[k], def->threads[k] == 1 ? "" : "s");
        for (int32_t i = 1; i < sizes; i++) fprintf(def->out, " %.2f", bench_exponent(x + i - 1, y + i - 1, 2));
        fprintf(def->out, "%s\n", p > GROWTH_MAX ? ": TOO FAST" : "");
        *faults += p > GROWTH_MAX;
    }
}

static tl_status measure_all(const bench_contact_def *def, row *rows, FILE *json, int32_t *faults, tl_error *err)
{
    bool first = true;
    print_head(def->out);
    for (int32_t s = 0; def->seconds > 0; s++) {
        const char *name = def->scene_count == 0  ? bench_contact_scene(s)
                           : s < def->scene_count ? def->scenes[s]
                                                  : NULL;
        if (!name) break;
        const tl_status status = measure_scene(def, name, &rows[0], err);
        if (status != TL_OK) return status;
        print_row(def->out, &rows[0]);
        if (json) write_row(json, &rows[0], first);
        first = false;
    }
    for (int falling = 0; falling < 2; falling++) {
        for (int32_t i = 0; i < def->size_count; i++) {
            row *r = &rows[i * def->thread_count];
            const tl_status status = measure_stack(def, falling, def->sizes[i], r, err);
            if (status != TL_OK) return status;
            for (int32_t k = 0; k < def->thread_count; k++) {
                print_row(def->out, &r[k]);
                if (json) write_row(json, &r[k], first);
                first = false;
                *faults += r[k].hash != r[0].hash;
            }
        }
        judge_growth(def, rows, def->size_count, faults);
    }
    fprintf(def->out, "us/face: processor time; contact: share of the step; candidates, contacts at the end "
                      "of a step; largest: nodes of the largest zone of any step; the other counts per step\n");
    return TL_OK;
}

tl_status bench_contact(const bench_contact_def *def, int32_t *faults, tl_error *err)
{
    *faults = 0;
    FILE *json = def->json ? fopen(def->json, "w") : NULL;
    tl_status status = TL_OK;
    row *rows = calloc((size_t)(def->size_count * def->thread_count + 1), sizeof *rows);
    if (!rows) status = out_of_memory(err);
    if (def->json && !json) status = TL_IO;
    if (json) {
        char machine[128];
        bench_machine_name(machine, sizeof machine);
        fprintf(json,
                "{\"command\": \"bench\", \"bench\": \"contact\", \"version\": \"%s\", \"machine\": \"%s\", "
                "\"results\": [",
                tl_version(), machine);
    }
    if (status == TL_OK) status = measure_all(def, rows, json, faults, err);
    if (json) {
        fprintf(json, "], \"faults\": %d}\n", *faults);
        const bool lost = ferror(json) != 0;
        if ((fclose(json) != 0 || lost) && status == TL_OK) status = TL_IO;
    }
    free(rows);
    if (status == TL_IO && def->json) {
        err->status = TL_IO;
        snprintf(err->message, sizeof err->message, "%.900s: cannot be written", def->json);
    }
    return status;
}
