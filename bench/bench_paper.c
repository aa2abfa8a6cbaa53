// bench/bench_paper.c: the examples of Narain, Samii & O'Brien 2012, timed as in their Table 1.
//
// Every scene is stepped frame by frame; mean, least and most faces, seconds per frame and per stage, memory, crossings
// (exact test after every frame, or step), excess over strain limits and the state hash are kept. The short form has
// the same stories on coarser meshes.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench_paper.h"
#include "toile/body.h"
#include "toile/render.h"
#include "toile/scene.h"

#define UNKNOWN ((double)NAN)
#define EXCESS_MAX 1e-3  // what strain limits promise (docs/strain-limiting.md)
enum { PATH_SIZE = 1024, SETS_MAX = BENCH_SETS_MAX + PAPER_SHORT_SETS + 4, SET_MAX = 1200 };

// Seconds per 25 Hz frame on a quad-core i5 of 3.3 GHz (2012); ARCSim's on a machine like ours, its own scenes and
// motions.
static const paper_row rows[] = {
    {"sphere",
     "paper-sphere/scene.json",
     "gray-interlock",
     {"remeshing.size_min=0.05"},
     75,
     {4, 11313, 128, 25400, 9.03, 4.08, 3.56, 1.22, 0.18},
     5460,
     6.77},
    {"sphere-isotropic",
     "paper-sphere/isotropic.json",
     "gray-interlock",
     {"remeshing.size_min=0.05"},
     75,
     {4, 30325, UNKNOWN, UNKNOWN, 29.06, 14.73, 11.18, 2.61, 0.55},
     UNKNOWN,
     UNKNOWN},
    {"sphere-fine",
     "paper-sphere/fixed-fine.json",
     "gray-interlock",
     {"cloths[0].mesh.rectangle.edge=0.0385"},
     75,
     {65536, 65536, 65536, 65536, 65.12, 34.86, 25.36, 4.89, UNKNOWN},
     UNKNOWN,
     UNKNOWN},
    {"sphere-average",
     "paper-sphere/fixed-average.json",
     "gray-interlock",
     {"cloths[0].mesh.rectangle.edge=0.0909"},
     75,
     {11319, 11319, 11319, 11319, 7.58, 4.48, 2.47, 0.63, UNKNOWN},
     UNKNOWN,
     UNKNOWN},
    {"flag",
     "paper-flag/scene.json",
     "camel-ponte-roma",
     {"remeshing.size_min=0.1"},
     15,
     {97, 11710, UNKNOWN, UNKNOWN, 8.44, 3.10, 3.56, 1.35, 0.43},
     8357,
     14.4},
    {"sleeve",
     "paper-sleeve/scene.json",
     NULL,
     {"remeshing.size_min=0.03"},
     25,
     {32, 5267, UNKNOWN, UNKNOWN, 1.81, 0.68, 0.63, 0.46, 0.05},
     6778,
     2.39},
    {"dress",
     "paper-dress/scene.json",
     "gray-interlock",
     {"remeshing.size_min=0.06"},
     12,
     {112, 13149, UNKNOWN, UNKNOWN, 11.69, 4.03, 3.66, 3.81, 0.20},
     7771,
     5.91},
    {"yellow-dress",
     "paper-dancer/scene.json",
     "gray-interlock",
     {"remeshing.size_min=0.06"},
     12,
     {428, 22785, UNKNOWN, UNKNOWN, 22.81, 10.08, 7.00, 5.40, 0.34},
     13644,
     8.81},
    {"kick",
     "paper-kick/scene.json",
     NULL,
     {"remeshing.size_min=0.06"},
     12,
     {884, 37627, UNKNOWN, UNKNOWN, 49.98, 13.06, 14.08, 22.30, 0.55},
     UNKNOWN,
     UNKNOWN},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

// --scaling: smallest edges of the sphere [m], and with which of them the steps per frame are those of the scene
#define SCENE_SIZE_FULL 0.01
#define SCENE_SIZE_SHORT 0.05
#define SCENE_STEPS 8.0
static const double full_sizes[] = {0.02, 0.014, 0.01, 0.007, 0.005, 0.003}, short_sizes[] = {0.1, 0.07, 0.05};

const paper_row *paper_row_at(int32_t index) { return index >= 0 && index < ROW_COUNT ? &rows[index] : NULL; }
const char *bench_paper_scene(int32_t index) { return index >= 0 && index < ROW_COUNT ? rows[index].name : NULL; }

bench_paper_def bench_paper_default(void)
{
    return (bench_paper_def){.threads = {1}, .thread_count = 1, .out = stdout};
}

static tl_status fail(tl_error *err, tl_status status, const char *text, const char *what)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, text, what);
    return status;
}

bool paper_broken(const paper_result *r)
{
    return r->failed || r->infinite || r->crossings > 0 || r->excess > EXCESS_MAX;
}

double paper_quiet(const paper_result *r) { return r->threads == 1 ? r->cpu : r->seconds; }

double paper_us(const paper_result *r)
{
    const double face_steps = r->faces * (double)r->steps;
    return face_steps > 0 ? 1e6 * r->cpu * r->frames / face_steps : UNKNOWN;
}

// --- one run ----------------------------------------------------------------------------------------------

typedef struct set_list {
    char text[SETS_MAX][SET_MAX];
    const char *item[SETS_MAX];
    int32_t count;
} set_list;

static void make_sets(const bench_paper_def *def, const paper_row *row, double size_min, set_list *sets)
{
    sets->count = 0;
    for (int32_t k = 0; !def->full && k < PAPER_SHORT_SETS && row->brief[k]; k++)
        sets->item[sets->count++] = row->brief[k];
    char *text = sets->text[0];
    if (size_min > 0) {
        snprintf(text, SET_MAX, "remeshing.size_min=%g", size_min);
        sets->item[sets->count++] = text, text += SET_MAX;
        // Half the edge, half the step: the ball moves by the same part of an edge in a step at every size.
        const double steps = SCENE_STEPS * (def->full ? SCENE_SIZE_FULL : SCENE_SIZE_SHORT) / size_min;
        snprintf(text, SET_MAX, "steps_per_frame=%.0f", fmax(1, round(steps)));
        sets->item[sets->count++] = text, text += SET_MAX;
    }
    if (def->fabrics && row->fabric) {
        snprintf(text, SET_MAX, "materials.fabric=%.1000s/%s.json", def->fabrics, row->fabric);
        sets->item[sets->count++] = text;
    }
    for (int32_t k = 0; k < def->set_count; k++) sets->item[sets->count++] = def->sets[k];
}

static tl_status find_row(const bench_paper_def *def, const paper_row *row, char path[PATH_SIZE], tl_error *err)
{
    const char *roots[] = {getenv("TOILE_DATA"), def->data};
    for (int i = 0; i < 2; i++) {
        if (!roots[i] || !*roots[i]) continue;
        snprintf(path, PATH_SIZE, "%.900s/scenes/%s", roots[i], row->file);
        struct stat s;
        if (stat(path, &s) == 0 && S_ISREG(s.st_mode)) return TL_OK;
    }
    return fail(err, TL_BAD_INPUT, "no scene 'scenes/%s' (set TOILE_DATA to the folder that has scenes/)", row->file);
}

static void add_seconds(tl_stage_seconds *sum, const tl_stage_seconds *s)
{
    sum->physics += s->physics, sum->strain += s->strain, sum->collision += s->collision;
    sum->remesh += s->remesh, sum->other += s->other, sum->total += s->total;
}

static void add_step(paper_result *r, const tl_step_report *s, int64_t faces)
{
    r->steps++;
    r->faces += (double)faces;
    r->faces_min = faces < r->faces_min ? faces : r->faces_min;
    r->faces_max = faces > r->faces_max ? faces : r->faces_max;
    r->newton += s->newton_iterations, r->linear += s->linear_iterations;
    r->rejected += s->rejected, r->unconverged += s->unconverged, r->held += s->contact.held;
    r->pinched = s->contact.pinched > r->pinched ? s->contact.pinched : r->pinched;
    r->violated = s->strain.violated > r->violated ? s->strain.violated : r->violated;
    r->excess = fmax(r->excess, s->strain.worst);
}

static tl_status look(tl_sim *sim, paper_result *r, int64_t *found, tl_error *err)
{
    tl_intersection_report x;
    const tl_status status = tl_sim_intersections(sim, &x, err);
    if (status != TL_OK) return status;
    *found = x.cloth_cloth + x.cloth_body;
    r->looks++;
    r->crossings += *found;
    if (*found > 0 && !r->why[0])
        snprintf(r->why, sizeof r->why, "%lld crossings at %.4f s", (long long)*found, tl_sim_time(sim));
    return TL_OK;
}

// As a line of stats.jsonl, with what `toile plot` draws.
static void write_frame(FILE *file, int32_t frame, tl_sim *sim, const tl_stage_seconds *s, double newton, int64_t found)
{
    if (!file) return;
    tl_strain_range strain = {0};
    (void)tl_sim_strain(sim, &strain);
    fprintf(file, "{\"frame\": %d, \"time\": %.6g, \"faces\": %lld", frame, tl_sim_time(sim),
            (long long)bench_count_faces(sim));
    fprintf(
        file,
        ", \"seconds\": {\"physics\": %.5g, \"strain\": %.5g, \"collision\": %.5g, \"remesh\": %.5g, \"other\": %.5g}",
        s->physics, s->strain, s->collision, s->remesh, s->other);
    fprintf(file,
            ", \"newton_iterations\": %.0f, \"strain_max\": %.4g, \"strain_min\": %.4g, \"intersections\": %lld}\n",
            newton, strain.max, strain.min, (long long)found);
    fflush(file);  // to be followed while it runs
}

static void blame(paper_result *r, const tl_sim *sim, const char *what)
{
    r->failed = true;
    snprintf(r->why, sizeof r->why, "step %lld at %.4f s: %.240s", (long long)tl_sim_steps(sim), tl_sim_time(sim),
             what);
}

// The steps of a frame, timed without what looks at them.
static tl_status run_frame(const bench_paper_def *def, tl_sim *sim, int32_t step_count, paper_result *r, FILE *file,
                           tl_error *err)
{
    tl_stage_seconds frame = {0};
    double wall = 0, newton = 0;
    int64_t found = 0, here;
    for (int32_t s = 0; s < step_count; s++) {
        tl_step_report report = {0};
        const double start = bench_now(), cpu = bench_cpu();
        tl_status status = tl_sim_step(sim, &report, err);
        wall += bench_now() - start, r->cpu += bench_cpu() - cpu;
        if (status == TL_FAILED) return blame(r, sim, err->message), TL_OK;
        if (status != TL_OK) return status;
        add_step(r, &report, bench_count_faces(sim));
        add_seconds(&frame, &report.seconds);
        newton += report.newton_iterations;
        if (!def->check && s + 1 < step_count) continue;
        status = look(sim, r, &here, err);
        if (status != TL_OK) return status;
        found += here;
    }
    add_seconds(&r->stage, &frame);
    r->frames++;
    r->seconds += wall, r->worst_frame = fmax(r->worst_frame, wall);
    tl_energies e;
    if (tl_sim_energies(sim, &e) != TL_OK || !isfinite(e.kinetic + e.stretch + e.bend + e.gravity)) {
        r->infinite = true;
        blame(r, sim, "an energy is not finite");
    }
    write_frame(file, r->frames, sim, &frame, newton, found);
    return TL_OK;
}

static void per_frame(paper_result *r)
{
    const double frames = fmax(1, r->frames), steps = fmax(1, (double)r->steps);
    double *sums[] = {&r->seconds,         &r->cpu,          &r->stage.physics, &r->stage.strain,
                      &r->stage.collision, &r->stage.remesh, &r->stage.other,   &r->stage.total};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] /= frames;
    r->faces /= steps, r->newton /= steps, r->linear /= steps;
}

static tl_status run_frames(const bench_paper_def *def, const tl_scene *scene, paper_result *r, FILE *file,
                            tl_error *err)
{
    tl_sim *sim = NULL;
    const double mark = bench_rss_mark();
    tl_status status = tl_scene_simulate(scene, r->threads, NULL, NULL, &sim, err);
    if (status != TL_OK) return status;
    r->faces_in = bench_count_faces(sim);
    r->faces_min = INT64_MAX;
    write_frame(file, 0, sim, &(tl_stage_seconds){0}, 0, 0);
    const int32_t steps = tl_scene_steps_per_frame(scene);
    while (r->frames < r->frames_asked && !r->failed && status == TL_OK)
        status = run_frame(def, sim, steps, r, file, err);
    r->rss = bench_rss_growth(mark);
    r->peak = (double)tl_sim_memory(sim).peak;
    r->hash = tl_sim_hash(sim);
    per_frame(r);
    tl_sim_destroy(sim);
    return status;
}

static void plot_name(const bench_paper_def *def, const paper_result *r, const char *end, char path[PATH_SIZE])
{
    char size[32] = "", threads[32] = "";
    if (r->size_min > 0) snprintf(size, sizeof size, "-%gmm", 1e3 * r->size_min);
    if (r->threads > 1) snprintf(threads, sizeof threads, "-x%d", r->threads);
    snprintf(path, PATH_SIZE, "%.800s/%s%s%s%s", def->plots, r->row->name, size, threads, end);
}

static tl_status draw_plot(const bench_paper_def *def, const paper_result *r, const char *figures, tl_error *err)
{
    char path[PATH_SIZE];
    plot_name(def, r, ".svg", path);
    tl_plot_def plot = tl_plot_def_default();
    plot.dir = figures, plot.out = path;
    return tl_plot_run(&plot, NULL, err);
}

tl_status paper_run(const bench_paper_def *def, const paper_row *row, double size_min, int32_t threads,
                    paper_result *out, tl_error *err)
{
    char path[PATH_SIZE], figures[PATH_SIZE];
    *out = (paper_result){.row = row, .size_min = size_min, .threads = threads};
    set_list *sets = malloc(sizeof *sets);
    if (!sets) return fail(err, TL_NO_MEMORY, "%s: out of memory", "bench");
    tl_scene *scene = NULL;
    tl_status status = find_row(def, row, path, err);
    make_sets(def, row, size_min, sets);
    if (status == TL_OK) status = tl_scene_load(path, sets->item, sets->count, &scene, err);
    free(sets);
    if (status != TL_OK) return status;
    const int32_t frames = tl_scene_frames(scene), brief = row->brief_frames < frames ? row->brief_frames : frames;
    out->frames_asked = def->frames > 0 ? def->frames : def->full ? frames : brief;
    FILE *file = NULL;
    if (def->plots) plot_name(def, out, ".jsonl", figures), file = fopen(figures, "w");
    if (def->plots && !file) status = fail(err, TL_IO, "%.900s: cannot be written", figures);
    if (status == TL_OK) status = run_frames(def, scene, out, file, err);
    tl_scene_destroy(scene);
    if (!file) return status;
    if (fclose(file) != 0 && status == TL_OK) status = fail(err, TL_IO, "%.900s: cannot be written", figures);
    return status == TL_OK ? draw_plot(def, out, figures, err) : status;
}

// --- all of them ------------------------------------------------------------------------------------------

typedef struct result_list {
    paper_result *item;
    int32_t count, capacity;
} result_list;

// On every number of threads; the state must not depend on it.
static tl_status run_row(const bench_paper_def *def, const paper_row *row, double size_min, result_list *list,
                         int32_t *faults, tl_error *err)
{
    const paper_result *first = &list->item[list->count];
    for (int32_t k = 0; k < def->thread_count; k++) {
        paper_result *r = &list->item[list->count];
        tl_status status = paper_run(def, row, size_min, def->threads[k], r, err);
        if (status != TL_OK) return status;
        list->count++;
        paper_print(def->out, r);
        if (def->csv) status = paper_append_csv(def, r, err);  // at once: a full form takes hours
        if (status != TL_OK) return status;
        if (r->hash != first->hash) fprintf(def->out, "  the state depends on the number of threads\n");
        *faults += paper_broken(r) || r->hash != first->hash;
    }
    return TL_OK;
}

static tl_status run_table(const bench_paper_def *def, result_list *list, int32_t *faults, tl_error *err)
{
    tl_status status = TL_OK;
    for (int32_t i = 0; i < ROW_COUNT && status == TL_OK; i++) {
        bool wanted = def->scene_count == 0;
        for (int32_t k = 0; k < def->scene_count; k++) wanted = wanted || strcmp(def->scenes[k], rows[i].name) == 0;
        if (wanted) status = run_row(def, &rows[i], 0, list, faults, err);
    }
    paper_print_ratios(def->out, list->item, list->count);
    return status;
}

static tl_status run_scaling(const bench_paper_def *def, result_list *list, int32_t *faults, tl_error *err)
{
    const double *sizes = def->full ? full_sizes : short_sizes;
    const size_t count = def->full ? sizeof full_sizes / sizeof *full_sizes : sizeof short_sizes / sizeof *short_sizes;
    tl_status status = TL_OK;
    for (size_t i = 0; i < count && status == TL_OK; i++) status = run_row(def, &rows[0], sizes[i], list, faults, err);
    paper_print_scaling(def->out, list->item, list->count);
    return status;
}

tl_status bench_paper(const bench_paper_def *def, int32_t *faults, tl_error *err)
{
    *faults = 0;
    result_list list = {.capacity =
                            def->thread_count * (ROW_COUNT + (int32_t)(sizeof full_sizes / sizeof *full_sizes))};
    list.item = calloc((size_t)list.capacity, sizeof *list.item);
    if (!list.item) return fail(err, TL_NO_MEMORY, "%s: out of memory", "bench");
    if (def->plots && mkdir(def->plots, 0777) != 0 && errno != EEXIST) {
        free(list.item);
        return fail(err, TL_IO, "%.900s: cannot be made", def->plots);
    }
    paper_print_head(def->out);
    const tl_status status = def->scaling ? run_scaling(def, &list, faults, err) : run_table(def, &list, faults, err);
    free(list.item);
    return status;
}
