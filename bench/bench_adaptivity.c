// bench/bench_adaptivity.c: the kinds of adaptive meshes side by side: how many faces and how much time at one error.
//
// Every scene runs on a uniform fine mesh, and by every kind at several sizes. The error is the distance between the
// same points of the cloth in the two runs, root mean square, at a frame that is early enough for folds not to have
// parted. Between two sizes of one kind, faces and time are interpolated by powers: what each kind takes for one error.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "toile/body.h"
#include "toile/scene.h"

enum { SAMPLES = 48, POINTS = SAMPLES * SAMPLES, SIZES = 3, SETS = 10, SET_SIZE = 64, PATH_SIZE = 1200, ANGLES = 180 };

/// A kind by its word. Tolerances go with the size: lengths and speeds in proportion, chords by its square.
typedef enum family { UNIFORM, FIELD, LAYERED } family;
static const struct kind {
    const char *name, *word;
    family family;
} kinds[] = {
    {"uniform", "isotropic", UNIFORM},      {"isotropic", "isotropic", FIELD},
    {"anisotropic", "anisotropic", FIELD},  {"edge trees, springs", "edge-trees", FIELD},
    {"sqrt3, curvature", "sqrt3", LAYERED}, {"sqrt3, all", "sqrt3", LAYERED},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };
#define COARSE 0.2         // edges of the input of layers [m]
#define LONGEST 0.25       // edges of adaptive meshes [m]
#define TURN_PER_SIZE 8    // change of the normal along an edge [rad/m]: 0.1 at 12.5 mm
#define SPEED_PER_SIZE 28  // change of velocity along an edge [1/s]: 0.35 m/s at 12.5 mm
#define CHORD 12.8         // error of chords over the square of the size [1/m]: 2 mm at 12.5 mm

static const struct adapt_scene {
    const char *name, *file;
    int32_t frames;
    double fine;       // edges of the uniform mesh that all are compared with [m]
    const char *edge;  // key of the input's edges; NULL: a mesh of few faces that serves all kinds
} scenes[] = {{"drape", "sphere", 12, 0.0125, "cloths[0].mesh.rectangle.edge"},
              {"flag", "flag", 12, 0.0125, "cloths[0].mesh.rectangle.edge"},
              {"dress", "layered-dress", 8, 0.0125, NULL}};

bench_adaptivity_def bench_adaptivity_default(void)
{
    return (bench_adaptivity_def){.scale = 1, .threads = 1, .out = stdout};
}

/// Places of points of the cloth, and what they took.
typedef struct outcome {
    bool done;
    tl_vec3 at[POINTS];
    uint8_t there[POINTS];
    double faces, frame, share, angle_min, angle_low, error;  // [s] a frame; [degrees] least, and of 1 in 100 faces
    int64_t crossings;
} outcome;

static double cross2(tl_vec2 a, tl_vec2 b) { return a.x * b.y - a.y * b.x; }
static tl_vec2 sub2(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x - b.x, a.y - b.y}; }

static void bounds(const tl_cloth_view *v, tl_vec2 *lo, tl_vec2 *hi)
{
    *lo = *hi = v->uv[0];
    for (int32_t i = 1; i < v->vert_count; i++) {
        lo->x = fmin(lo->x, v->uv[i].x), lo->y = fmin(lo->y, v->uv[i].y);
        hi->x = fmax(hi->x, v->uv[i].x), hi->y = fmax(hi->y, v->uv[i].y);
    }
}

// Points of a raster over the cloth that lie in a face.
static void sample_face(const tl_cloth_view *v, int32_t f, tl_vec2 lo, tl_vec2 step, outcome *o)
{
    const int32_t *c = v->face[f];
    const tl_vec2 a = v->uv[c[0]], b = v->uv[c[1]], d = v->uv[c[2]];
    const double twice = cross2(sub2(b, a), sub2(d, a));
    const int i0 = (int)fmax(0, floor((fmin(a.x, fmin(b.x, d.x)) - lo.x) / step.x - 0.5));
    const int i1 = (int)fmin(SAMPLES - 1, ceil((fmax(a.x, fmax(b.x, d.x)) - lo.x) / step.x));
    const int j0 = (int)fmax(0, floor((fmin(a.y, fmin(b.y, d.y)) - lo.y) / step.y - 0.5));
    const int j1 = (int)fmin(SAMPLES - 1, ceil((fmax(a.y, fmax(b.y, d.y)) - lo.y) / step.y));
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            const tl_vec2 p = {lo.x + (i + 0.5) * step.x, lo.y + (j + 0.5) * step.y};
            const double wb = cross2(sub2(p, a), sub2(d, a)) / twice, wd = cross2(sub2(b, a), sub2(p, a)) / twice;
            if (wb < 0 || wd < 0 || wb + wd > 1) continue;
            const tl_vec3 x = v->pos[v->vert_node[c[0]]], y = v->pos[v->vert_node[c[1]]],
                          z = v->pos[v->vert_node[c[2]]];
            const double wa = 1 - wb - wd;
            o->at[j * SAMPLES + i] = (tl_vec3){wa * x.x + wb * y.x + wd * z.x, wa * x.y + wb * y.y + wd * z.y,
                                               wa * x.z + wb * y.z + wd * z.z};
            o->there[j * SAMPLES + i] = 1;
        }
}

static double smallest_angle(const tl_cloth_view *v, int32_t f)
{
    double least = 180;
    for (int k = 0; k < 3; k++) {
        const tl_vec2 p = v->uv[v->face[f][k]], q = v->uv[v->face[f][(k + 1) % 3]], r = v->uv[v->face[f][(k + 2) % 3]];
        const tl_vec2 a = sub2(q, p), b = sub2(r, p);
        least = fmin(least, atan2(fabs(cross2(a, b)), a.x * b.x + a.y * b.y) * 57.29577951308232);
    }
    return least;
}

static void measure_cloth(const tl_sim *sim, outcome *o)
{
    tl_cloth_view v = {0};
    (void)tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v);
    tl_vec2 lo, hi;
    bounds(&v, &lo, &hi);
    const tl_vec2 step = {(hi.x - lo.x) / SAMPLES, (hi.y - lo.y) / SAMPLES};
    int32_t count[ANGLES + 1] = {0};
    o->angle_min = 180;
    for (int32_t f = 0; f < v.face_count; f++) {
        sample_face(&v, f, lo, step, o);
        const double angle = smallest_angle(&v, f);
        o->angle_min = fmin(o->angle_min, angle);
        count[(int)angle]++;
    }
    int32_t below = 0;
    for (o->angle_low = 0; o->angle_low < ANGLES; o->angle_low++)
        if ((below += count[(int)o->angle_low]) > v.face_count / 100) break;
}

typedef struct set_list {
    char text[SETS][SET_SIZE];
    const char *item[SETS];
    int32_t count;
} set_list;

static void add_set(set_list *list, const char *key, double value)
{
    snprintf(list->text[list->count], SET_SIZE, "%s=%.6g", key, value);
    list->item[list->count] = list->text[list->count], list->count++;
}

static void list_sets(const struct adapt_scene *s, const struct kind *k, double size, set_list *list)
{
    list->count = 1;
    snprintf(list->text[0], SET_SIZE, "remeshing.kind=%s", k->word);
    list->item[0] = list->text[0];
    add_set(list, "remeshing.size_min", k->family == UNIFORM ? size : fmin(0.5 * size, LONGEST));
    add_set(list, "remeshing.size_max", k->family == UNIFORM ? size : LONGEST);
    if (strcmp(k->word, "edge-trees") == 0) {  // follows springs alone: the other solver is part of its error
        snprintf(list->text[list->count], SET_SIZE, "dynamics.kind=springs");
        list->item[list->count] = list->text[list->count], list->count++;
    }
    if (k->family == UNIFORM) return;
    add_set(list, "remeshing.velocity", SPEED_PER_SIZE * 0.5 * size);
    add_set(list, "remeshing.curvature", TURN_PER_SIZE * 0.5 * size);
    if (k->family != LAYERED) return;
    add_set(list, "remeshing.error", CHORD * 0.25 * size * size);
    add_set(list, "remeshing.layers", 6);
    if (s->edge) add_set(list, s->edge, COARSE);
    if (!strstr(k->name, "curvature")) return;
    snprintf(list->text[list->count], SET_SIZE, "remeshing.criteria=curvature");
    list->item[list->count] = list->text[list->count], list->count++;
}

static tl_status run(const bench_adaptivity_def *def, const struct adapt_scene *s, const struct kind *k, double size,
                     outcome *o, tl_error *err)
{
    char path[PATH_SIZE];
    set_list list;
    list_sets(s, k, size, &list);
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    *o = (outcome){0};
    tl_status status = bench_find_scene(s->file, def->data, path, sizeof path, err);
    if (status == TL_OK) status = tl_scene_load(path, list.item, list.count, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, def->threads, NULL, NULL, &sim, err);
    const int64_t steps = status == TL_OK ? (int64_t)s->frames * tl_scene_steps_per_frame(scene) : 0;
    double adapt = 0, total = 0;
    const double start = bench_cpu();
    for (int64_t i = 0; i < steps && status == TL_OK; i++) {
        tl_step_report r;
        status = tl_sim_step(sim, &r, err);
        adapt += r.seconds.remesh, total += r.seconds.total;
        o->faces += (double)bench_count_faces(sim) / (double)steps;
    }
    o->frame = (bench_cpu() - start) / s->frames, o->share = total > 0 ? adapt / total : 0;
    tl_intersection_report x = {0};
    if (status == TL_OK) status = tl_sim_intersections(sim, &x, err);
    if (status == TL_OK) measure_cloth(sim, o), o->crossings = x.cloth_cloth + x.cloth_body, o->done = true;
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return status;
}

static double distance(const outcome *a, const outcome *b)
{
    double sum = 0;
    int32_t count = 0;
    for (int i = 0; i < POINTS; i++) {
        if (!a->there[i] || !b->there[i]) continue;
        const tl_vec3 d = {a->at[i].x - b->at[i].x, a->at[i].y - b->at[i].y, a->at[i].z - b->at[i].z};
        sum += d.x * d.x + d.y * d.y + d.z * d.z, count++;
    }
    return count > 0 ? sqrt(sum / count) : (double)NAN;
}

// y at `error` between the two sizes around it, as a power of the error; NaN outside of them.
static double at_error(const outcome *o, double error, bool faces)
{
    for (int i = 0; i + 1 < SIZES; i++) {
        const outcome *a = &o[i], *b = &o[i + 1];
        if (!a->done || !b->done || (a->error - error) * (b->error - error) > 0 || a->error == b->error) continue;
        const double t = log(error / a->error) / log(b->error / a->error), y0 = faces ? a->faces : a->frame,
                     y1 = faces ? b->faces : b->frame;
        return y0 * pow(y1 / y0, t);
    }
    return (double)NAN;
}

// The error of a run that most kinds have among their sizes; of several the least.
static double shared_error(outcome (*o)[SIZES])
{
    double best = (double)NAN;
    int most = 0;
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < SIZES; i++) {
            int count = 0;
            const double error = o[k][i].error;
            for (int m = 0; m < KINDS && o[k][i].done; m++) count += isfinite(at_error(o[m], error, true));
            if (count > most || (count == most && count > 0 && error < best)) most = count, best = error;
        }
    return best;
}

static tl_status run_scene(const bench_adaptivity_def *def, const struct adapt_scene *s, outcome (*o)[SIZES],
                           outcome *fine, int32_t *faults, tl_error *err)
{
    FILE *out = def->out;
    tl_status status = run(def, s, &kinds[0], s->fine * def->scale, fine, err);
    if (status != TL_OK) return status;
    fprintf(out, "\n%s, %d frames; fixed fine: %.0f faces, %.3f s a frame\n", s->name, s->frames, fine->faces,
            fine->frame);
    fprintf(out, "%-20s %9s %9s %10s %10s %11s %8s %8s\n", "kind", "size [mm]", "faces", "error [mm]", "frame [s]",
            "adaptation", "1 %", "angle");
    for (int k = 0; k < KINDS; k++)
        for (int i = 0; i < SIZES; i++) {
            const double size = s->fine * def->scale * (2 << (SIZES - 1 - i));
            tl_error wrong = {0};
            status = run(def, s, &kinds[k], size, &o[k][i], &wrong);
            if (status == TL_BAD_INPUT && strstr(wrong.message, "remeshing.kind")) break;  // not in this build
            if (status != TL_OK) return *err = wrong, status;
            o[k][i].error = distance(&o[k][i], fine);
            // springs keep nodes alone out of bodies
            *faults += o[k][i].crossings > 0 && strcmp(kinds[k].word, "edge-trees") != 0;
            fprintf(out, "%-20s %9.3g %9.0f %10.3f %10.4f %9.1f %% %8.0f %8.1f%s\n", kinds[k].name, 1e3 * size,
                    o[k][i].faces, 1e3 * o[k][i].error, o[k][i].frame, 100 * o[k][i].share, o[k][i].angle_low,
                    o[k][i].angle_min, o[k][i].crossings > 0 ? "  crosses" : "");
            fflush(out);
        }
    const double error = shared_error(o);
    fprintf(out, "at an error of %.3f mm: ", 1e3 * error);
    for (int k = 0; k < KINDS; k++) {
        const double faces = at_error(o[k], error, true);
        if (!o[k][0].done) continue;
        if (isfinite(faces))
            fprintf(out, "%s%s %.0f faces %.3f s", k > 0 ? "; " : "", kinds[k].name, faces,
                    at_error(o[k], error, false));
        else
            fprintf(out, "%s%s out of range", k > 0 ? "; " : "", kinds[k].name);
    }
    fprintf(out, "\n");
    return TL_OK;
}

tl_status bench_adaptivity(const bench_adaptivity_def *def, int32_t *faults, tl_error *err)
{
    outcome(*o)[SIZES] = calloc(KINDS, sizeof *o), *fine = calloc(1, sizeof *fine);
    tl_status status = TL_OK;
    if (!o || !fine) {
        status = err->status = TL_NO_MEMORY;
        snprintf(err->message, sizeof err->message, "bench adaptivity: out of memory");
    }
    for (size_t i = 0; status == TL_OK && i < sizeof scenes / sizeof scenes[0]; i++)
        if (!def->scene || strcmp(def->scene, scenes[i].name) == 0)
            status = run_scene(def, &scenes[i], o, fine, faults, err);
    free(o), free(fine);
    return status;
}
