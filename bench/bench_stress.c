// bench/bench_stress.c: the promise of contact, looked at after every step of every contact scene.
//
// Each scene runs several times, from a start that is shifted and set in motion a little by the seed, at
// several time steps. Bars: no edge through a face (exact test), everything finite, no step fails; the scenes
// that come to rest do so, and stay. A run that breaks a bar ends there, and the command that repeats it is
// printed.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "measure.h"
#include "toile/body.h"
#include "toile/scene.h"

#define SHIFT_MAX 2e-3     // of a cloth's place, each coordinate [m]
#define SPEED_MAX 0.05     // of a cloth's first velocity, each coordinate [m/s]
#define REST_SECONDS 5.0   // by then mean speed is below REST_SPEED, in scenes where rest is judged
#define REST_SPEED 1e-3    // [m/s]
#define CALM_SPEED 5e-3    // mean speed below this [m/s] ..
#define CALM_SECONDS 0.25  // .. for so long is calm: a swing passes its turning point more quickly
#define GROWTH_MAX 4.0     // kinetic energy after that over the most during the calm
#define FRAME_MAX 10.0     // processor time of a frame of the fast scenes [s]
enum { DRAWS_MAX = 20, CLOTHS_MAX = 64, SETS_MAX = 3 * CLOTHS_MAX + 24, SET_MAX = 160, PATH_SIZE = 1024 };

/// A scene that comes with the program. `coarse` is a key and value for every cloth in the short form.
static const struct known_scene {
    const char *name, *coarse;
    bool rests;
} known[] = {
    {"sphere", "mesh.rectangle.edge=0.05", true},   {"rotating-sphere", "mesh.rectangle.edge=0.05", false},
    {"torus", "mesh.disc.edge=0.04", false},        {"ribbon", "mesh.rectangle.edge=0.02", false},
    {"curtain", "mesh.rectangle.edge=0.06", false}, {"table", "mesh.rectangle.edge=0.06", true},
    {"bowl", "mesh.disc.edge=0.02", false},         {"spot", "mesh.rectangle.edge=0.07", false},
    {"twist", "mesh.rectangle.edge=0.03", false},   {"stack", "mesh.rectangle.edge=0.05", false},
    {"funnel", "mesh.disc.edge=0.045", false},      {"pinch", "mesh.rectangle.edge=0.04", false},
    {"needles", "mesh.rectangle.edge=0.03", false}, {"knot", NULL, false},
    {"blade", "mesh.rectangle.edge=0.04", false},
};
enum { KNOWN_COUNT = sizeof known / sizeof *known };

/// Bodies of 5 to 50 m/s, cloth that has room: nothing is pinched.
static const char *const fast[] = {"fast/ball-20", "fast/ball-25", "fast/shot",      "fast/shot-fine",
                                   "fast/needle",  "fast/rod",     "fast/rod-short", "fast/propeller",
                                   "fast/tumbler", "fast/plate",   "fast/block",     "fast/cone"};
enum { FAST_COUNT = sizeof fast / sizeof *fast };

const char *bench_contact_scene(int32_t index) { return index >= 0 && index < KNOWN_COUNT ? known[index].name : NULL; }

bench_stress_def bench_stress_default(void)
{
    return (bench_stress_def){.runs = 10, .dts = {1.0 / 100, 1.0 / 200}, .dt_count = 2, .threads = 1, .out = stdout};
}

static tl_status fail(tl_error *err, tl_status status, const char *text, const char *what)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, text, what);
    return status;
}

static bool is_file(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

tl_status bench_find_scene(const char *name, const char *data, char *path, size_t size, tl_error *err)
{
    const size_t length = strlen(name);
    const bool is_path = name[0] == '.' || name[0] == '/' || (length > 5 && strcmp(name + length - 5, ".json") == 0);
    if (strchr(name, '/') || is_path) {
        struct stat s;
        const bool folder = stat(name, &s) == 0 && S_ISDIR(s.st_mode);
        snprintf(path, size, "%s%s", name, folder ? "/scene.json" : "");
        if (is_file(path)) return TL_OK;
        if (is_path) return fail(err, TL_BAD_INPUT, "%.900s: no such scene", name);
    }
    const char *roots[] = {getenv("TOILE_DATA"), data};
    for (int i = 0; i < 2; i++) {
        if (!roots[i] || !*roots[i]) continue;
        snprintf(path, size, "%s/scenes/%s%s", roots[i], name, strchr(name, '/') ? ".json" : "/scene.json");
        if (is_file(path)) return TL_OK;
    }
    return fail(err, TL_BAD_INPUT,
                "no scene '%.800s' (give a path such as ./scene.json, or set TOILE_DATA to the folder that "
                "has scenes/)",
                name);
}

// --- the start --------------------------------------------------------------------------------------------

/// A scene at one time step, and where its cloths stand.
typedef struct scene_case {
    const char *name;                 // as given
    const struct known_scene *known;  // NULL: none of ours
    char path[PATH_SIZE];
    double dt, seconds;
    int32_t step_count, per_frame, cloth_count;
    int64_t faces;
    tl_vec3 place[CLOTHS_MAX], speed[CLOTHS_MAX];
} scene_case;

typedef struct set_list {
    char text[SETS_MAX][SET_MAX];
    const char *item[SETS_MAX];
    int32_t count;
} set_list;

static char *add_set(set_list *sets)
{
    sets->item[sets->count] = sets->text[sets->count];
    return sets->text[sets->count++];
}

static void add_vector(set_list *sets, int32_t cloth, const char *key, tl_vec3 v)
{
    snprintf(add_set(sets), SET_MAX, "cloths[%d].%s=[%.17g, %.17g, %.17g]", cloth, key, v.x, v.y, v.z);
}

static void common_sets(const bench_stress_def *def, const scene_case *c, set_list *sets)
{
    sets->count = 0;
    snprintf(add_set(sets), SET_MAX, "steps_per_frame=%d", c->per_frame);
    if (def->remeshing) snprintf(add_set(sets), SET_MAX, "remeshing.kind=%s", def->remeshing);
    for (int32_t k = 0; k < def->set_count; k++) sets->item[sets->count++] = def->sets[k];
    for (int32_t k = 0; def->brief && c->known && c->known->coarse && k < c->cloth_count; k++)
        snprintf(add_set(sets), SET_MAX, "cloths[%d].%s", k, c->known->coarse);
}

static tl_status simulate(const scene_case *c, const set_list *sets, int32_t threads, tl_sim **sim, tl_error *err)
{
    tl_scene *scene = NULL;
    *sim = NULL;
    tl_status status = tl_scene_load(c->path, sets->item, sets->count, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, threads, NULL, NULL, sim, err);
    tl_scene_destroy(scene);
    return status;
}

static tl_vec3 first_node(const tl_sim *sim, int32_t cloth, bool speed)
{
    tl_cloth_view view = {0};
    if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, cloth), &view) != TL_OK || view.node_count < 1)
        return (tl_vec3){0, 0, 0};
    return speed ? view.vel[0] : view.pos[0];
}

static tl_vec3 minus(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

// Where the file puts the cloths: the difference to the same scene with the cloths at the origin and at rest.
static tl_status read_places(const bench_stress_def *def, scene_case *c, set_list *sets, tl_error *err)
{
    tl_sim *sim = NULL, *origin = NULL;
    sets->count = 0;
    tl_status status = simulate(c, sets, 1, &sim, err);
    if (status != TL_OK) return status;
    c->cloth_count = tl_sim_cloth_count(sim);
    if (c->cloth_count > CLOTHS_MAX)
        status = fail(err, TL_BAD_INPUT, "%.900s: more cloths than the stress test can shift", c->path);
    for (int32_t k = 0; k < c->cloth_count && status == TL_OK; k++) {
        add_vector(sets, k, "transform.translate", (tl_vec3){0, 0, 0});
        add_vector(sets, k, "velocity.linear", (tl_vec3){0, 0, 0});
    }
    // handles that choose by place may find nothing there
    if (status == TL_OK) snprintf(add_set(sets), SET_MAX, "handles=[]");
    if (status == TL_OK) status = simulate(c, sets, 1, &origin, err);
    for (int32_t k = 0; k < c->cloth_count && status == TL_OK; k++) {
        c->place[k] = minus(first_node(sim, k, false), first_node(origin, k, false));
        c->speed[k] = minus(first_node(sim, k, true), first_node(origin, k, true));
    }
    tl_sim_destroy(sim);
    tl_sim_destroy(origin);
    if (status != TL_OK) return status;
    common_sets(def, c, sets);
    status = simulate(c, sets, 1, &sim, err);
    for (int32_t k = 0; k < c->cloth_count && status == TL_OK; k++) {
        tl_cloth_view view;
        status = tl_sim_cloth_view(sim, tl_sim_cloth(sim, k), &view);
        if (status == TL_OK) c->faces += view.face_count;
    }
    tl_sim_destroy(sim);
    return status;
}

static tl_status open_case(const bench_stress_def *def, const char *name, double dt, scene_case *c, set_list *sets,
                           tl_error *err)
{
    *c = (scene_case){.name = name, .dt = dt};
    tl_status status = bench_find_scene(name, def->data, c->path, sizeof c->path, err);
    if (status != TL_OK) return status;
    for (int k = 0; k < KNOWN_COUNT; k++)
        if (strcmp(name, known[k].name) == 0) c->known = &known[k];
    tl_scene *scene = NULL;
    status = tl_scene_load(c->path, NULL, 0, &scene, err);
    if (status != TL_OK) return status;
    const double fps = tl_scene_fps(scene), per_frame = 1 / (fps * dt);
    c->per_frame = (int32_t)lround(per_frame);
    c->seconds = tl_scene_frames(scene) / fps;
    tl_scene_destroy(scene);
    if (c->per_frame < 1 || fabs(per_frame - c->per_frame) > 1e-6 * per_frame) {
        err->status = TL_BAD_INPUT;
        snprintf(err->message, sizeof err->message, "%.900s: dt %g s is no whole part of a frame of 1/%g s", c->path,
                 dt, fps);
        return TL_BAD_INPUT;
    }
    if (c->known && c->known->rests) c->seconds = fmax(c->seconds, REST_SECONDS);
    if (def->seconds > 0) c->seconds = def->seconds;
    c->step_count = def->steps > 0 ? def->steps : (int32_t)ceil(c->seconds / dt - 1e-9);
    return read_places(def, c, sets, err);
}

static tl_vec3 shaken(tl_vec3 v, double by, int32_t seed, int32_t attempt, int32_t cloth, int32_t which)
{
    return (tl_vec3){v.x + by * bench_draw(seed, attempt, cloth, which),
                     v.y + by * bench_draw(seed, attempt, cloth, which + 1),
                     v.z + by * bench_draw(seed, attempt, cloth, which + 2)};
}

// --- one run ----------------------------------------------------------------------------------------------

typedef enum fault { FINE, STARTS_CROSSED, CROSSED, NOT_FINITE, STEP_FAILED, NO_REST, GREW, PINCHED, SLOW } fault;
static const char *const fault_name[] = {"fine",    "starts crossed", "crossed", "not finite", "step failed",
                                         "no rest", "energy grew",    "pinched", "slow"};

typedef struct run_result {
    int32_t seed, redrawn;
    fault fault;
    char why[400];
    int64_t steps, crossings;
    int64_t searches, limited, held, cut, rejected, unconverged,
        newton;  // sums; cut: substeps beyond one a step
    int64_t contacts_max;
    int64_t faces;  // sum over steps
    int32_t pinched_max;
    double nearest;                  // least distance over thickness
    double seconds, worst, looking;  // in steps, in the slowest one, in the tests
    double cpu;                      // in steps, processor time: what others on the machine do does not count
    double frame, frame_max;         // likewise, of the present and of the slowest frame
    double speed_end, speed_max;     // mean over the nodes [m/s], the largest of any node
    double rest_since;               // last time at which mean speed came below REST_SPEED; NaN: not at the end
    double growth;                   // of kinetic energy after calm; NaN: never calm
    uint64_t hash;
} run_result;

/// Has it been calm, and what came after?
typedef struct calm {
    double since, most;  // time at which mean speed fell below CALM_SPEED (NaN: it is above), most kinetic
                         // energy since then
    double level;        // most kinetic energy during the calm; NaN: not calm yet
} calm;

static void watch_calm(calm *c, double time, double speed, double kinetic, double *growth)
{
    if (!isnan(c->level)) {
        const double g = c->level > 0 ? kinetic / c->level : 0;
        *growth = isnan(*growth) ? g : fmax(*growth, g);
        return;
    }
    if (!(speed < CALM_SPEED)) {
        c->since = (double)NAN;
        return;
    }
    if (isnan(c->since)) c->since = time, c->most = 0;
    c->most = fmax(c->most, kinetic);
    if (time >= c->since + CALM_SECONDS) c->level = c->most;
}

static bool finite3(tl_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

// Mean and largest speed; false if a number is not finite.
static bool speeds(const tl_sim *sim, double *mean, double *largest)
{
    double sum = 0, count = 0;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        tl_cloth_view view;
        if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view) != TL_OK) return false;
        for (int32_t i = 0; i < view.node_count; i++) {
            const tl_vec3 v = view.vel[i];
            if (!finite3(view.pos[i]) || !finite3(v)) return false;
            const double s = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
            sum += s, count += 1;
            *largest = fmax(*largest, s);
        }
    }
    *mean = count > 0 ? sum / count : 0;
    return true;
}

static void blame(run_result *r, fault what, const tl_sim *sim, const char *text)
{
    r->fault = what;
    snprintf(r->why, sizeof r->why, "step %lld at %.4f s: %.360s", (long long)tl_sim_steps(sim), tl_sim_time(sim),
             text);
}

static tl_status look_for_crossings(tl_sim *sim, run_result *r, fault what, tl_error *err)
{
    tl_intersection_report x;
    const tl_status status = tl_sim_intersections(sim, &x, err);
    if (status != TL_OK || x.cloth_cloth + x.cloth_body == 0) return status;
    r->crossings = x.cloth_cloth + x.cloth_body;
    char text[300];
    const tl_intersection *i = &x.list[0];
    snprintf(text, sizeof text,
             "%lld crossings of cloths, %lld with bodies, the first of edge %d-%d of %s and face %d of %s",
             (long long)x.cloth_cloth, (long long)x.cloth_body, i->edge_nodes[0], i->edge_nodes[1], i->first, i->face,
             i->second);
    blame(r, what, sim, text);
    return TL_OK;
}

static void add_report(run_result *r, const tl_step_report *s, double seconds)
{
    const tl_contact_report *c = &s->contact;
    r->steps++;
    r->searches += c->searches, r->limited += c->limited, r->held += c->held;
    r->cut += s->substeps - 1, r->rejected += s->rejected, r->unconverged += s->unconverged,
        r->newton += s->newton_iterations;
    r->contacts_max = c->contacts > r->contacts_max ? c->contacts : r->contacts_max;
    r->pinched_max = c->pinched > r->pinched_max ? c->pinched : r->pinched_max;
    if (c->contacts > 0) r->nearest = fmin(r->nearest, c->nearest);
    r->seconds += seconds, r->worst = fmax(r->worst, seconds);
}

static void judge_rest(const scene_case *c, const tl_sim *sim, run_result *r)
{
    char text[120];
    if (!c->known || !c->known->rests || r->fault != FINE) return;
    if (r->growth > GROWTH_MAX) {
        snprintf(text, sizeof text, "kinetic energy grew to %.1f times that of a calm", r->growth);
        blame(r, GREW, sim, text);
    } else if (tl_sim_time(sim) >= REST_SECONDS - 1e-9 && !(r->speed_end < REST_SPEED)) {
        snprintf(text, sizeof text, "mean speed %.2f mm/s, must be below %.0f", 1e3 * r->speed_end, 1e3 * REST_SPEED);
        blame(r, NO_REST, sim, text);
    }
}

// Of the fast scenes: cloth that has room is not pinched, and no frame takes long.
static void judge_fast(const bench_stress_def *def, const scene_case *c, const tl_sim *sim, run_result *r)
{
    char text[120];
    if ((!def->fast && strncmp(c->name, "fast/", 5) != 0) || r->fault != FINE) return;
    if (r->pinched_max > 0) {
        snprintf(text, sizeof text, "%d nodes are pinched, though they have room", r->pinched_max);
        blame(r, PINCHED, sim, text);
    } else if (r->frame_max > FRAME_MAX) {
        snprintf(text, sizeof text, "%.1f s of processor time in a frame, at most %.0f", r->frame_max, FRAME_MAX);
        blame(r, SLOW, sim, text);
    }
}

static tl_status watch(const bench_stress_def *def, const scene_case *c, tl_sim *sim, run_result *r, tl_error *err)
{
    calm quiet = {(double)NAN, 0, (double)NAN};
    for (int32_t s = 0; s < c->step_count && r->fault == FINE; s++) {
        tl_step_report report = {0};
        const double start = bench_now(), cpu = bench_cpu();
        tl_status status = tl_sim_step(sim, &report, err);
        const double seconds = bench_now() - start;
        r->cpu += bench_cpu() - cpu, r->frame = (s % c->per_frame == 0 ? 0 : r->frame) + bench_cpu() - cpu;
        r->frame_max = fmax(r->frame_max, r->frame);
        if (status == TL_FAILED) {
            blame(r, STEP_FAILED, sim, err->message);
            break;
        }
        if (status != TL_OK) return status;
        add_report(r, &report, seconds);
        r->faces += bench_count_faces(sim);
        tl_energies e;
        if (!speeds(sim, &r->speed_end, &r->speed_max) || tl_sim_energies(sim, &e) != TL_OK ||
            !isfinite(e.kinetic + e.stretch + e.bend + e.gravity)) {
            blame(r, NOT_FINITE, sim, "a position, velocity or energy is not finite");
            break;
        }
        if (!(r->speed_end < REST_SPEED))
            r->rest_since = (double)NAN;
        else if (isnan(r->rest_since))
            r->rest_since = report.time;
        watch_calm(&quiet, report.time, r->speed_end, e.kinetic, &r->growth);
        status = look_for_crossings(sim, r, CROSSED, err);
        if (status != TL_OK) return status;
        r->looking += bench_now() - start - seconds;
        if (def->wall > 0 && r->seconds + r->looking > def->wall) break;
    }
    judge_rest(c, sim, r);
    judge_fast(def, c, sim, r);
    r->hash = tl_sim_hash(sim);
    return TL_OK;
}

// A start that is shaken into itself is drawn again.
static tl_status run_once(const bench_stress_def *def, const scene_case *c, int32_t seed, set_list *sets, run_result *r,
                          tl_error *err)
{
    *r = (run_result){.seed = seed, .nearest = 1, .rest_since = (double)NAN, .growth = (double)NAN};
    for (;; r->redrawn++) {
        common_sets(def, c, sets);
        for (int32_t k = 0; k < c->cloth_count && seed != 0; k++) {
            add_vector(sets, k, "transform.translate", shaken(c->place[k], SHIFT_MAX, seed, r->redrawn, k, 0));
            add_vector(sets, k, "velocity.linear", shaken(c->speed[k], SPEED_MAX, seed, r->redrawn, k, 3));
        }
        tl_sim *sim;
        tl_status status = simulate(c, sets, def->threads, &sim, err);
        if (status != TL_OK) return status;
        r->fault = FINE;
        status = look_for_crossings(sim, r, STARTS_CROSSED, err);
        if (status == TL_OK && r->fault == FINE) status = watch(def, c, sim, r, err);
        tl_sim_destroy(sim);
        if (status != TL_OK || r->fault != STARTS_CROSSED || seed == 0 || r->redrawn + 1 >= DRAWS_MAX) return status;
    }
}

// --- output -----------------------------------------------------------------------------------------------

static void print_head(FILE *out)
{
    fprintf(out, "%-16s %6s %6s %6s %4s %6s %6s %7s %8s %7s %8s %8s %5s %5s %5s %6s %6s %8s %8s %9s %8s %9s\n", "scene",
            "1/dt", "faces", "mean", "runs", "faults", "steps", "crossed", "nearest", "newton", "searches", "limited",
            "held", "cut", "rej.", "unconv", "pinch", "ms/step", "us/face", "worst ms", "frame s", "mm/s end");
}

static void print_row(FILE *out, const scene_case *c, const run_result *runs, int32_t count)
{
    run_result sum = {.nearest = 1};
    int32_t faults = 0;
    for (int32_t i = 0; i < count; i++) {
        const run_result *r = &runs[i];
        faults += r->fault != FINE;
        sum.steps += r->steps, sum.crossings += r->crossings, sum.searches += r->searches, sum.limited += r->limited;
        sum.held += r->held, sum.cut += r->cut, sum.rejected += r->rejected, sum.unconverged += r->unconverged;
        sum.faces += r->faces;
        sum.newton += r->newton, sum.seconds += r->seconds, sum.cpu += r->cpu;
        sum.pinched_max = r->pinched_max > sum.pinched_max ? r->pinched_max : sum.pinched_max;
        sum.nearest = fmin(sum.nearest, r->nearest), sum.worst = fmax(sum.worst, r->worst);
        sum.speed_end = fmax(sum.speed_end, r->speed_end), sum.frame_max = fmax(sum.frame_max, r->frame_max);
    }
    const double steps = sum.steps > 0 ? (double)sum.steps : 1;
    fprintf(out,
            "%-16s %6.4g %6lld %6.0f %4d %6d %6lld %7lld %8.4f %7.1f %8.1f %8.1f %5lld %5lld %5lld %6lld %6d %8.1f "
            "%8.1f %9.0f %8.2f %9.3f\n",
            c->name, 1 / c->dt, (long long)c->faces, (double)sum.faces / steps, count, faults, (long long)sum.steps,
            (long long)sum.crossings, sum.nearest, (double)sum.newton / steps, (double)sum.searches / steps,
            (double)sum.limited / steps, (long long)sum.held, (long long)sum.cut, (long long)sum.rejected,
            (long long)sum.unconverged, sum.pinched_max, 1e3 * sum.seconds / steps,
            1e6 * sum.cpu / fmax(1, (double)sum.faces), 1e3 * sum.worst, sum.frame_max, 1e3 * sum.speed_end);
}

static void print_repeat(FILE *out, const bench_stress_def *def, const scene_case *c, const run_result *r)
{
    fprintf(out, "  seed %d: %s: %s\n  again: toile bench stress %s --dt 1/%.10g --seed %d --runs 1", r->seed,
            fault_name[r->fault], r->why, c->name, 1 / c->dt, r->seed);
    if (def->steps > 0) fprintf(out, " --steps %d", def->steps);
    if (def->steps <= 0 && def->seconds > 0) fprintf(out, " --seconds %g", def->seconds);
    for (int32_t k = 0; k < def->set_count; k++) fprintf(out, " --set '%s'", def->sets[k]);
    if (def->remeshing) fprintf(out, " --remeshing %s", def->remeshing);
    fprintf(out, "%s\n", def->brief ? " --short" : "");  // not the wall clock: it would end elsewhere
}

static void write_case(FILE *out, const scene_case *c, const run_result *runs, int32_t count, bool first)
{
    fprintf(out, "%s\n{\"scene\": ", first ? "" : ",");
    bench_json_text(out, c->name);
    fprintf(out, ", \"dt\": %.12g, \"faces\": %lld, \"runs\": [", c->dt, (long long)c->faces);
    for (int32_t i = 0; i < count; i++) {
        const run_result *r = &runs[i];
        fprintf(out, "%s\n  {\"seed\": %d, \"redrawn\": %d, \"result\": \"%s\", \"why\": ", i ? "," : "", r->seed,
                r->redrawn, fault_name[r->fault]);
        bench_json_text(out, r->why);
        fprintf(out,
                ", \"mean_faces\": %.1f, \"steps\": %lld, \"crossings\": %lld, \"newton\": %lld, \"searches\": %lld, "
                "\"limited\": "
                "%lld, \"held\": %lld",
                (double)r->faces / fmax(1, (double)r->steps), (long long)r->steps, (long long)r->crossings,
                (long long)r->newton, (long long)r->searches, (long long)r->limited, (long long)r->held);
        fprintf(out,
                ", \"substeps\": %lld, \"rejected\": %lld, \"unconverged\": %lld, \"pinched\": %d, "
                "\"contacts\": %lld",
                (long long)(r->steps + r->cut), (long long)r->rejected, (long long)r->unconverged, r->pinched_max,
                (long long)r->contacts_max);
        bench_json_number(out, "nearest", r->nearest);
        bench_json_number(out, "seconds", r->seconds);
        bench_json_number(out, "cpu_seconds", r->cpu);
        bench_json_number(out, "ms_worst", 1e3 * r->worst);
        bench_json_number(out, "cpu_frame_worst", r->frame_max);
        bench_json_number(out, "seconds_looking", r->looking);
        bench_json_number(out, "speed_max", r->speed_max);
        bench_json_number(out, "speed_end", r->speed_end);
        bench_json_number(out, "rest_since", r->rest_since);
        bench_json_number(out, "growth", r->growth);
        fprintf(out, ", \"state_hash\": \"%016llx\"}", (unsigned long long)r->hash);
    }
    fprintf(out, "]}");
}

static tl_status stress_case(const bench_stress_def *def, scene_case *c, set_list *sets, run_result *runs, FILE *json,
                             bool first, int32_t *faults, tl_error *err)
{
    for (int32_t i = 0; i < def->runs; i++) {
        const tl_status status = run_once(def, c, def->seed + i, sets, &runs[i], err);
        if (status != TL_OK) return status;
    }
    print_row(def->out, c, runs, def->runs);
    for (int32_t i = 0; i < def->runs; i++) {
        if (runs[i].redrawn > 0)
            fprintf(def->out, "  seed %d: start drawn again %d times\n", runs[i].seed, runs[i].redrawn);
        if (runs[i].fault == FINE) continue;
        *faults += 1;
        print_repeat(def->out, def, c, &runs[i]);
    }
    fflush(def->out);
    if (json) write_case(json, c, runs, def->runs, first);
    return TL_OK;
}

static tl_status stress_all(const bench_stress_def *def, scene_case *c, set_list *sets, run_result *runs, FILE *json,
                            int32_t *faults, tl_error *err)
{
    const int32_t scenes = def->scene_count > 0 ? def->scene_count : def->fast ? FAST_COUNT : KNOWN_COUNT;
    print_head(def->out);
    bool first = true;
    for (int32_t s = 0; s < scenes; s++)
        for (int32_t d = 0; d < def->dt_count; d++) {
            const char *name = def->scene_count > 0 ? def->scenes[s] : def->fast ? fast[s] : known[s].name;
            tl_status status = open_case(def, name, def->dts[d], c, sets, err);
            if (status == TL_OK) status = stress_case(def, c, sets, runs, json, first, faults, err);
            if (status != TL_OK) return status;
            first = false;
        }
    fprintf(def->out,
            "faces: at the start; mean: over all steps; crossed: edges through faces, must be 0; nearest: least "
            "distance over thickness; newton, searches, "
            "limited nodes: per step;\n"
            "held: iterations that held nodes in place; cut: substeps beyond one; rej., unconv: attempts thrown "
            "away, accepted as they were;\n"
            "pinch: most nodes between bodies without room; us/face: processor time a step; frame s: of the slowest "
            "frame; mm/s end: largest "
            "mean speed at the end of a run\n");
    return TL_OK;
}

tl_status bench_stress(const bench_stress_def *def, int32_t *faults, tl_error *err)
{
    *faults = 0;
    FILE *json = def->json ? fopen(def->json, "w") : NULL;
    if (def->json && !json) return fail(err, TL_IO, "%.900s: cannot be written", def->json);
    scene_case *c = malloc(sizeof *c);
    set_list *sets = malloc(sizeof *sets);
    run_result *runs = calloc((size_t)def->runs, sizeof *runs);
    tl_status status = c && sets && runs ? TL_OK : fail(err, TL_NO_MEMORY, "%s: out of memory", "bench");
    if (json) {
        char machine[128];
        bench_machine_name(machine, sizeof machine);
        fprintf(json,
                "{\"command\": \"bench\", \"bench\": \"stress\", \"version\": \"%s\", \"machine\": \"%s\", "
                "\"short\": %s, \"cases\": [",
                tl_version(), machine, def->brief ? "true" : "false");
    }
    if (status == TL_OK) status = stress_all(def, c, sets, runs, json, faults, err);
    if (json) {
        fprintf(json, "], \"faults\": %d}\n", *faults);
        const bool lost = ferror(json) != 0;
        if ((fclose(json) != 0 || lost) && status == TL_OK)
            status = fail(err, TL_IO, "%.900s: cannot be written", def->json);
    }
    free(runs);
    free(sets);
    free(c);
    return status;
}
