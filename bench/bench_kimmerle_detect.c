// bench/bench_kimmerle_detect.c: detection in the columns of Kimmerle 2005, Tables 2.2 to 2.4, and Figs 2.11 and 2.12.
//
// A dressed walker, the same steps with every kind of detection in turn, processor time; and two surfaces that stand
// still beside each other, where random pairs have to find everything little by little. Times come from runs that
// measure no ratio, ratios from runs that do: the measurement shares the caches.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_kimmerle.h"
#include "measure.h"
#include "toile/body.h"
#include "toile/render.h"
#include "toile/scene.h"

enum { PATH_SIZE = 1024, SETS_MAX = 8 };

typedef struct method {
    const char *label;
    const char *set[3];
    double published;  ///< part of the time of the k-DOP hierarchy, Table 2.4; 0: not there
    double bar;        ///< most it may be; 0: none
} method;

static const method methods[] = {
    {"k-dop", {"collisions.detection=k-dop", "collisions.net=false", NULL}, 1, 0},
    {"combined, 100 pairs",
     {"collisions.detection=combined", "collisions.new_pairs=100", "collisions.net=false"},
     198.0 / 395,
     1 / 2.0},
    {"combined, 50 pairs",
     {"collisions.detection=combined", "collisions.new_pairs=50", "collisions.net=false"},
     165.0 / 395,
     1 / 2.4},
    {"stochastic, 100 pairs",
     {"collisions.detection=stochastic", "collisions.new_pairs=100", "collisions.net=false"},
     91.5 / 31.8,
     0},
    {"full (ours)", {"collisions.detection=full", "collisions.net=false", NULL}, 0, 1 / 3.0},
    {"k-dop + net", {"collisions.detection=k-dop", NULL, NULL}, 0, 0},
    {"combined, 100 + net", {"collisions.detection=combined", "collisions.new_pairs=100", NULL}, 0, 0},
};
enum { METHODS = sizeof methods / sizeof *methods, KDOP = 0, LAST = METHODS - 1 };
#define NET_BAR 0.75

typedef struct outcome {
    double detection, fit, overlap;  ///< [s] processor time: all, and of that to follow the nodes and for volumes
    double step;                     ///< [s] processor time of a step, all of it
    double ratio, worst_ratio;
    int64_t crossings;  ///< in the last state
    int64_t faces;
    double dt;
    int32_t steps;
    double *ratios, *seconds;  ///< of every step [%], [ms]; NULL: not kept
} outcome;

/// A number of every step, by method.
typedef struct curves {
    int32_t steps;
    double *step, *ratio, *seconds;
} curves;

static double *curve_of(const curves *c, int k, bool seconds)
{
    return (seconds ? c->seconds : c->ratio) + (size_t)k * (size_t)c->steps;
}

static tl_status run_steps(const bench_kimmerle_def *def, tl_sim *sim, bool measured, outcome *o, tl_error *err)
{
    int64_t there = 0, missed = 0;
    o->worst_ratio = 1;
    for (int32_t i = 0; i < def->steps; i++) {
        tl_step_report report;
        const double begin = bench_cpu();
        const tl_status status = tl_sim_step(sim, &report, err);
        if (status != TL_OK) return status;
        o->step += bench_cpu() - begin;
        const tl_contact_report *c = &report.contact;
        o->detection += c->detection_seconds, o->fit += c->fit_seconds, o->overlap += c->overlap_seconds;
        there += c->there, missed += c->missed;
        const double ratio = c->there > 0 ? 1 - (double)c->missed / (double)c->there : 1;
        if (o->ratios) o->ratios[i] = measured ? 100 * ratio : NAN;
        if (o->seconds) o->seconds[i] = 1e3 * c->detection_seconds;
        o->steps++;
        o->worst_ratio = fmin(o->worst_ratio, ratio);
    }
    o->ratio = there > 0 ? 1 - (double)missed / (double)there : measured ? 1 : NAN;
    tl_intersection_report crossings;
    const tl_status status = tl_sim_intersections(sim, &crossings, err);
    o->crossings = crossings.cloth_cloth + crossings.cloth_body;
    o->faces = bench_count_faces(sim);
    return status;
}

static tl_status run_method(const bench_kimmerle_def *def, const char *path, const method *m, bool measured, outcome *o,
                            tl_error *err)
{
    const char *sets[SETS_MAX] = {"collisions.response=impulse", "remeshing.kind=none",
                                  measured ? "collisions.measure=true" : "collisions.measure=false"};
    int32_t count = 3;
    for (int k = 0; k < 3 && m->set[k]; k++) sets[count++] = m->set[k];
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    *o = (outcome){.ratios = o->ratios, .seconds = o->seconds};
    tl_status status = tl_scene_load(path, sets, count, &scene, err);
    if (status == TL_OK) status = tl_scene_simulate(scene, def->threads, NULL, NULL, &sim, err);
    if (status == TL_OK) o->dt = 1 / (tl_scene_fps(scene) * tl_scene_steps_per_frame(scene));
    if (status == TL_OK) status = run_steps(def, sim, measured, o, err);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return status;
}

static void print_method(const bench_kimmerle_def *def, const method *m, const outcome *o, double kdop, int32_t *faults)
{
    char published[16] = "-", verdict[32] = "";
    const double part = o->detection / kdop;
    if (m->published > 0) snprintf(published, sizeof published, "%.2f", m->published);
    if (m->bar > 0) {
        const bool kept = part <= m->bar;
        snprintf(verdict, sizeof verdict, "bar %.2f %s", m->bar, kept ? "kept" : "MISSED");
        *faults += !kept;
    }
    fprintf(def->out, "%-22s %9.3f %8.3f %8.3f %8.3f %8.2f %10s %9.1f %8.0f %8.0f %9lld  %s\n", m->label, o->detection,
            o->fit, o->overlap, o->detection - o->fit - o->overlap, part, published, 1e3 * o->step / o->steps,
            100 * o->ratio, 100 * o->worst_ratio, (long long)o->crossings, verdict);
}

static tl_status walk(const bench_kimmerle_def *def, curves *c, int32_t *faults, tl_error *err)
{
    char path[PATH_SIZE];
    tl_status status = bench_find_scene(def->walk, def->data, path, sizeof path, err);
    outcome kdop = {0}, with_net = {0};
    for (int k = 0; status == TL_OK && k < METHODS; k++) {
        outcome plain = {.seconds = curve_of(c, k, true)}, measured = {.ratios = curve_of(c, k, false)};
        status = run_method(def, path, &methods[k], false, &plain, err);
        if (status == TL_OK) status = run_method(def, path, &methods[k], true, &measured, err);
        if (status != TL_OK) break;
        plain.ratio = measured.ratio, plain.worst_ratio = measured.worst_ratio;
        if (k == KDOP) {
            kdop = plain;
            fprintf(def->out,
                    "Detection (Tables 2.2 to 2.4): %s, %lld faces of cloth, %d steps of %g s\n"
                    "%-22s %9s %8s %8s %8s %8s %10s %9s %8s %8s %9s\n",
                    def->walk, (long long)plain.faces, plain.steps, plain.dt, "", "total s", "update", "overlap",
                    "rest", "of k-dop", "published", "step ms", "ratio %", "worst %", "crossings");
        }
        if (k == LAST - 1) with_net = plain;
        print_method(def, &methods[k], &plain, kdop.detection, faults);
        if (k < LAST) continue;
        const bool clear = plain.crossings == 0;
        *faults += !clear;
        const double part = plain.detection / kdop.detection;
        *faults += part > NET_BAR;
        fprintf(def->out,
                "with the net: %lld crossings (%s), detection %.2f of k-dop, bar %.2f %s; the whole step, the net in "
                "it, takes %.2f of that with k-dop and net\n",
                (long long)plain.crossings, clear ? "bar kept" : "bar MISSED", part, NET_BAR,
                part > NET_BAR ? "MISSED" : "kept", plain.step / with_net.step);
    }
    return status;
}

// ---- two surfaces that stand still (Fig. 2.11) ----------------------------------------------------------------

static const method still_methods[] = {
    {"combined, 100 pairs", {"collisions.detection=combined", "collisions.new_pairs=100", NULL}, 0, 0},
    {"combined, 50 pairs", {"collisions.detection=combined", "collisions.new_pairs=50", NULL}, 0, 0},
    {"stochastic, 100 pairs", {"collisions.detection=stochastic", "collisions.new_pairs=100", NULL}, 0, 0},
    {"stochastic, 300 pairs", {"collisions.detection=stochastic", "collisions.new_pairs=300", NULL}, 0, 0},
};
enum { STILL_METHODS = sizeof still_methods / sizeof *still_methods };

// The first step with so much of what is there; 0: none.
static int32_t first_with(const double *ratio, int32_t steps, double percent)
{
    for (int32_t i = 0; i < steps; i++)
        if (ratio[i] >= percent) return i + 1;
    return 0;
}

static tl_status still(const bench_kimmerle_def *def, curves *c, tl_error *err)
{
    char path[PATH_SIZE];
    tl_status status = bench_find_scene(def->still, def->data, path, sizeof path, err);
    if (status != TL_OK) return status;
    fprintf(def->out, "\nTwo surfaces that stand still (Fig. 2.11): %s, %d steps; the first step with so much found\n",
            def->still, def->steps);
    fprintf(def->out, "%-22s %9s %8s %8s %8s\n", "", "ratio %", "50 %", "90 %", "99 %");
    for (int k = 0; status == TL_OK && k < STILL_METHODS; k++) {
        outcome o = {.ratios = curve_of(c, k, false)};
        status = run_method(def, path, &still_methods[k], true, &o, err);
        if (status != TL_OK) break;
        fprintf(def->out, "%-22s %9.1f", still_methods[k].label, o.ratios[def->steps - 1]);
        static const double parts[] = {50, 90, 99};
        for (int p = 0; p < 3; p++) {
            const int32_t at = first_with(o.ratios, def->steps, parts[p]);
            if (at > 0)
                fprintf(def->out, " %8d", at);
            else
                fprintf(def->out, " %8s", "-");
        }
        fprintf(def->out, "\n");
    }
    return status;
}

// ---- diagrams -------------------------------------------------------------------------------------------------

// NAME.svg and "-static": NAME-static.svg.
static void with_suffix(const char *path, const char *suffix, char out[PATH_SIZE])
{
    const char *dot = strrchr(path, '.');
    const int stem = dot ? (int)(dot - path) : (int)strlen(path);
    snprintf(out, PATH_SIZE, "%.*s%s%s", stem < 900 ? stem : 900, path, suffix, dot ? dot : "");
}

// A mean over a running window: single steps of some milliseconds are noise.
static void smooth(double *y, int32_t count)
{
    enum { WINDOW = 25 };
    double sum = 0, last[WINDOW];
    for (int32_t i = 0; i < count; i++) {
        const int32_t had = i < WINDOW ? i : WINDOW;
        if (had == WINDOW) sum -= last[i % WINDOW];
        sum += last[i % WINDOW] = y[i];
        y[i] = sum / (had < WINDOW ? had + 1 : WINDOW);
    }
}

static tl_status draw(const bench_kimmerle_def *def, const char *out, const char *title, curves *c, const method *list,
                      int32_t count, bool times, tl_error *err)
{
    tl_plot_line ratio[METHODS], seconds[METHODS];
    int32_t ratios = 0, timed = 0;
    for (int32_t k = 0; k < count && ratios < 8; k++) {
        if (times) smooth(curve_of(c, k, true), def->steps);
        if (strstr(list[k].set[0], "k-dop") || strstr(list[k].set[0], "full")) {
            if (times && !strstr(list[k].label, "net"))
                seconds[timed++] = (tl_plot_line){list[k].label, curve_of(c, k, true)};
            continue;
        }
        ratio[ratios++] = (tl_plot_line){list[k].label, curve_of(c, k, false)};
        if (times && !strstr(list[k].label, "net"))
            seconds[timed++] = (tl_plot_line){list[k].label, curve_of(c, k, true)};
    }
    const tl_plot_diagram diagrams[] = {{"close pairs found [%]", ratio, ratios},
                                        {"detection [ms a step]", seconds, timed}};
    tl_plot_page_def page = tl_plot_page_def_default();
    page.out = out, page.title = title,
    page.subtitle = "as Kimmerle 2005, Figs. 2.11 and 2.12; times are means of 25 steps";
    page.x_title = "step", page.x = c->step, page.point_count = def->steps;
    page.diagrams = diagrams, page.diagram_count = times ? 2 : 1;
    return tl_plot_page(&page, err);
}

static tl_status with_curves(const bench_kimmerle_def *def, curves *c, int32_t *faults, tl_error *err)
{
    for (int32_t i = 0; i < def->steps; i++) c->step[i] = i + 1;
    tl_status status = walk(def, c, faults, err);
    if (status == TL_OK && def->plot)
        status = draw(def, def->plot, "Detection on the catwalk", c, methods, METHODS, true, err);
    if (status == TL_OK) status = still(def, c, err);
    if (status != TL_OK || !def->plot) return status;
    char path[PATH_SIZE];
    with_suffix(def->plot, "-static", path);
    return draw(def, path, "Detection of surfaces that stand still", c, still_methods, STILL_METHODS, false, err);
}

tl_status bench_kimmerle_detection(const bench_kimmerle_def *def, int32_t *faults, tl_error *err)
{
    const size_t count = (size_t)def->steps;
    curves c = {.steps = def->steps,
                .step = calloc(count, sizeof(double)),
                .ratio = calloc(METHODS * count, sizeof(double)),
                .seconds = calloc(METHODS * count, sizeof(double))};
    tl_status status = TL_NO_MEMORY;
    if (c.step && c.ratio && c.seconds)
        status = with_curves(def, &c, faults, err);
    else
        *err = (tl_error){TL_NO_MEMORY, "not enough memory for the curves"};
    free(c.step), free(c.ratio), free(c.seconds);
    return status;
}
