// bench/bench_fidelity.c: does an adaptive mesh give the cloth that a fixed fine one gives?
//
// The sheet of scenes/paper-sphere runs on a fixed fine mesh from several starts, shifted and set in motion a little as
// those of `toile bench stress`, and on the anisotropic, the isotropic and the fixed average mesh from starts of their
// own. How far a mesh is from the fine runs, in figures that do not depend on the mesh, is set beside how far these are
// from each other: a mesh that gives the same cloth is no further away, on average, than another run of the fine one.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench_fidelity.h"
#include "toile/body.h"
#include "toile/scene.h"

#define SHIFT_MAX 2e-3    // of the start, each coordinate [m]; as in bench_stress.c
#define SPEED_MAX 0.05    // [m/s]
#define PIXEL 2e-3        // of the rasters of outlines [m]
#define RASTER 4.0        // side of the raster of outlines [m]: the sheet swings by its length of 1 m
#define SHORT_SIZE 0.064  // smallest edges of adaptive meshes [m]
#define FULL_SIZE 0.01
// edges of scattered points over sides of squares cut in four, for as many faces: sqrt(4 / sqrt(3) / 4)
#define SCATTERED 0.76
enum { PATH_SIZE = 1200, SET_SIZE = 160, SETS_MAX = 2 * BENCH_SETS_MAX + 9, SAMPLES_PER_SCALE = 8, SHORT_STEPS = 4 };

static const struct mesh_form {
    const char *name, *file;  // file below scenes/paper-sphere/
    const char *size_key;
    double edge;  // of what the smallest edges of adaptive meshes are: 65,536 and 11,236 faces at 10 mm
} forms[MESH_COUNT] = {
    {"fixed fine", "fixed-fine.json", "cloths[0].mesh.rectangle.edge", 0.78125},
    {"anisotropic", "scene.json", "remeshing.size_min", 1},
    {"isotropic", "isotropic.json", "remeshing.size_min", 1},
    {"fixed average", "fixed-average.json", "cloths[0].mesh.rectangle.edge", 1.88679},
};

double fidelity_size(const bench_fidelity_def *def)
{
    return def->size > 0 ? def->size : def->full ? FULL_SIZE : SHORT_SIZE;
}

const char *fidelity_mesh_name(fidelity_mesh mesh) { return forms[mesh].name; }

bench_fidelity_def bench_fidelity_default(void)
{
    return (bench_fidelity_def){.runs = 3,
                                .others = 1,
                                .seed = 1,
                                .frames = {43, 100, 143, 157, 185, 200},
                                .frame_count = 6,
                                .threads = 1,
                                .out = stdout};
}

static tl_status fail(tl_error *err, tl_status status, const char *text, const char *what)
{
    err->status = status;
    snprintf(err->message, sizeof err->message, text, what);
    return status;
}

static tl_status no_memory(tl_error *err) { return fail(err, TL_NO_MEMORY, "%s: out of memory", "bench"); }

// --- a cloth at one frame ---------------------------------------------------------------------------------

static void *copied(const void *from, int32_t count, size_t size)
{
    void *to = malloc((size_t)count * size + 1);
    if (to && count > 0) memcpy(to, from, (size_t)count * size);
    return to;
}

void fidelity_cloth_free(fidelity_cloth *c)
{
    free(c->pos);
    free(c->uv);
    free(c->vert_node);
    free(c->face);
    free(c->body_pos);
    free(c->body_face);
    *c = (fidelity_cloth){0};
}

bool fidelity_cloth_take(const tl_sim *sim, fidelity_cloth *out)
{
    tl_cloth_view v = {0};
    tl_body_view b = {0};
    (void)tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v);
    if (tl_sim_body_count(sim) > 0) (void)tl_sim_body_view(sim, tl_sim_body(sim, 0), &b);
    *out = (fidelity_cloth){.node_count = v.node_count,
                            .vert_count = v.vert_count,
                            .face_count = v.face_count,
                            .body_node_count = b.node_count,
                            .body_face_count = b.face_count};
    out->pos = copied(v.pos, v.node_count, sizeof *v.pos);
    out->uv = copied(v.uv, v.vert_count, sizeof *v.uv);
    out->vert_node = copied(v.vert_node, v.vert_count, sizeof *v.vert_node);
    out->face = copied(v.face, v.face_count, sizeof *v.face);
    out->body_pos = copied(b.pos, b.node_count, sizeof *b.pos);
    out->body_face = copied(b.face, b.face_count, sizeof *b.face);
    if (out->pos && out->uv && out->vert_node && out->face && out->body_pos && out->body_face) return true;
    fidelity_cloth_free(out);
    return false;
}

/// How to look at all of them alike.
typedef struct gauge {
    double scale, smooth;           // [m]
    double middle[SHAPE_VIEWS][2];  // of the rasters [m]
} gauge;

static bool measure_curvature(const shape_grid *g, const gauge *by, fidelity_shape *s)
{
    shape_grid soft;
    double *h = malloc((size_t)g->nu * (size_t)g->nv * sizeof *h);
    const bool ok = h && shape_smooth(g, by->scale / 2, &soft);
    if (ok) {
        const int32_t count = shape_mean_curvature(&soft, SAMPLES_PER_SCALE, h);
        shape_histogram_fill(h, count, 2 / by->scale,
                             &s->curvature);  // no smoothed fold is tighter than half the scale
        shape_grid_free(&soft);
    }
    free(h);
    return ok;
}

static bool measure_wrinkles(const shape_grid *g, const gauge *by, fidelity_shape *s)
{
    shape_grid soft;
    if (!shape_smooth(g, by->smooth / 2, &soft)) return false;
    s->wrinkles = shape_out_of_plane(g, &soft);
    shape_grid_free(&soft);
    return true;
}

static bool measure_outlines(const tl_cloth_view *view, const gauge *by, fidelity_shape *s)
{
    for (int v = 0; v < SHAPE_VIEWS; v++) {
        if (!shape_mask_make((int32_t)ceil(RASTER / PIXEL), PIXEL, by->middle[v], &s->mask[v])) return false;
        s->outside += shape_mask_draw(&s->mask[v], view, (shape_view)v);
    }
    return true;
}

static bool measure(const fidelity_cloth *c, const gauge *by, fidelity_shape *s)
{
    const tl_cloth_view view = {.pos = c->pos,
                                .node_count = c->node_count,
                                .uv = c->uv,
                                .vert_node = c->vert_node,
                                .vert_count = c->vert_count,
                                .face = (const int32_t(*)[3])c->face,
                                .face_count = c->face_count};
    shape_grid g;
    *s = (fidelity_shape){.there = true, .faces = c->face_count};
    if (!shape_sample(&view, by->scale / SAMPLES_PER_SCALE, &g, &s->missed)) return false;
    const bool ok = measure_curvature(&g, by, s) && measure_wrinkles(&g, by, s) && measure_outlines(&view, by, s);
    shape_grid_free(&g);
    return ok;
}

static shape_view seen_from(fidelity_measure m)
{
    return m == MEASURE_AREA_ABOVE || m == MEASURE_OUTLINE_ABOVE ? SHAPE_ABOVE : SHAPE_FRONT;
}

double fidelity_value(fidelity_measure m, const fidelity_shape *s)
{
    if (!s->there) return (double)NAN;
    if (m == MEASURE_CURVATURE) return shape_histogram_mean_size(&s->curvature);
    if (m == MEASURE_WRINKLES) return 1e3 * s->wrinkles;
    return 1e4 * shape_mask_area(&s->mask[seen_from(m)]);
}

double fidelity_distance(fidelity_measure m, const fidelity_shape *a, const fidelity_shape *b)
{
    if (!a->there || !b->there) return (double)NAN;
    if (m == MEASURE_CURVATURE) return shape_histogram_distance(&a->curvature, &b->curvature);
    if (m == MEASURE_OUTLINE_ABOVE || m == MEASURE_OUTLINE_FRONT)
        return 1e4 * shape_mask_difference(&a->mask[seen_from(m)], &b->mask[seen_from(m)]);
    return fabs(fidelity_value(m, a) - fidelity_value(m, b));
}

// --- the start --------------------------------------------------------------------------------------------

typedef struct set_list {
    char text[9][SET_SIZE];  // 0, 1: the start; 2, 3: the origin; 4, 5: the form; 6 to 8: the mesh
    const char *item[SETS_MAX];
    int32_t count;
} set_list;

static bool is_adaptive(fidelity_mesh mesh) { return mesh == MESH_THIN || mesh == MESH_EVEN; }

static void form_sets(const bench_fidelity_def *def, fidelity_mesh mesh, set_list *sets)
{
    sets->count = 0;
    if (!def->full || def->size > 0) {
        snprintf(sets->text[4], SET_SIZE, "%s=%.9g", forms[mesh].size_key, forms[mesh].edge * fidelity_size(def));
        sets->item[sets->count++] = sets->text[4];
    }
    if (!def->full) {
        snprintf(sets->text[5], SET_SIZE, "steps_per_frame=%d", SHORT_STEPS);
        sets->item[sets->count++] = sets->text[5];
    }
    for (int32_t k = 0; k < def->set_count; k++) sets->item[sets->count++] = def->sets[k];
    for (int32_t k = 0; is_adaptive(mesh) && k < def->adapt_count; k++) sets->item[sets->count++] = def->adapts[k];
}

static void add_mesh(const bench_fidelity_def *def, int32_t seed, set_list *sets)
{
    static const char key[] = "cloths[0].mesh.rectangle";
    snprintf(sets->text[6], SET_SIZE, "%s.pattern=delaunay", key);
    snprintf(sets->text[7], SET_SIZE, "%s.seed=%d", key, seed);
    snprintf(sets->text[8], SET_SIZE, "%s.edge=%.9g", key, SCATTERED * forms[MESH_FINE].edge * fidelity_size(def));
    for (int k = 6; k < 9; k++) sets->item[sets->count++] = sets->text[k];
}

static void add_vector(set_list *sets, int slot, const char *key, tl_vec3 v)
{
    snprintf(sets->text[slot], SET_SIZE, "cloths[0].%s=[%.17g, %.17g, %.17g]", key, v.x, v.y, v.z);
    sets->item[sets->count++] = sets->text[slot];
}

static tl_status find_form(const bench_fidelity_def *def, fidelity_mesh mesh, char path[PATH_SIZE], tl_error *err)
{
    const char *roots[] = {getenv("TOILE_DATA"), def->data};
    for (int i = 0; i < 2; i++) {
        if (!roots[i] || !*roots[i]) continue;
        snprintf(path, PATH_SIZE, "%.900s/scenes/paper-sphere/%s", roots[i], forms[mesh].file);
        struct stat s;
        if (stat(path, &s) == 0 && S_ISREG(s.st_mode)) return TL_OK;
    }
    return fail(err, TL_BAD_INPUT, "no scene 'scenes/paper-sphere/%s' (set TOILE_DATA to the folder that has scenes/)",
                forms[mesh].file);
}

static tl_status open_form(const char *path, const set_list *sets, int32_t threads, tl_scene **scene, tl_sim **sim,
                           tl_error *err)
{
    *scene = NULL, *sim = NULL;
    tl_status status = tl_scene_load(path, sets->item, sets->count, scene, err);
    if (status == TL_OK) status = tl_scene_simulate(*scene, threads, NULL, NULL, sim, err);
    if (status == TL_OK) return TL_OK;
    tl_scene_destroy(*scene);
    *scene = NULL;
    return status;
}

static tl_vec3 first_node(const tl_sim *sim, bool speed)
{
    tl_cloth_view view = {0};
    if (tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view) != TL_OK || view.node_count < 1) return (tl_vec3){0, 0, 0};
    return speed ? view.vel[0] : view.pos[0];
}

static tl_vec3 between(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

// Where the file puts the sheet: the difference to the same scene with the sheet at the origin and at rest.
static tl_status read_start(const char *path, set_list *sets, tl_vec3 *place, tl_vec3 *speed, tl_error *err)
{
    tl_scene *scene;
    tl_sim *sim;
    tl_status status = open_form(path, sets, 1, &scene, &sim, err);
    if (status != TL_OK) return status;
    *place = first_node(sim, false), *speed = first_node(sim, true);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    const int32_t mark = sets->count;
    add_vector(sets, 2, "transform.translate", (tl_vec3){0, 0, 0});
    add_vector(sets, 3, "velocity.linear", (tl_vec3){0, 0, 0});
    status = open_form(path, sets, 1, &scene, &sim, err);
    sets->count = mark;
    if (status != TL_OK) return status;
    *place = between(*place, first_node(sim, false)), *speed = between(*speed, first_node(sim, true));
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return TL_OK;
}

static tl_vec3 shaken(tl_vec3 v, double by, int32_t seed, int32_t which)
{
    return (tl_vec3){v.x + by * bench_draw(seed, 0, 0, which), v.y + by * bench_draw(seed, 0, 0, which + 1),
                     v.z + by * bench_draw(seed, 0, 0, which + 2)};
}

// --- one run ----------------------------------------------------------------------------------------------

/// A run under way.
typedef struct under_way {
    const bench_fidelity_def *def;
    const gauge *by;
    fidelity_run *run;
    tl_scene *scene;
    tl_sim *sim;
    uint64_t key;  // of its settings
    bool first;    // of its mesh: the one in the pictures
} under_way;

// FNV-1a (Fowler, Noll & Vo), over everything that the result depends on.
static uint64_t settings_key(const char *path, const set_list *sets)
{
    uint64_t key = 0xcbf29ce484222325u;
    for (int32_t k = -2; k < sets->count; k++) {
        const char *text = k == -2 ? tl_version() : k == -1 ? strrchr(path, '/') : sets->item[k];
        for (const char *c = text; *c; c++) key = (key ^ (uint8_t)*c) * 0x100000001b3u;
        key = (key ^ '\n') * 0x100000001b3u;
    }
    return key;
}

// Runs with settings of adaptive meshes lie beside those without.
static void kept_path(const under_way *w, int32_t frame, char path[PATH_SIZE])
{
    char name[64], which[32] = "";
    snprintf(name, sizeof name, "%s", forms[w->run->mesh].name);
    for (char *c = name; *c; c++)
        if (*c == ' ') *c = '-';
    if (is_adaptive(w->run->mesh) && w->def->adapt_count > 0)
        snprintf(which, sizeof which, "-%016llx", (unsigned long long)w->key);
    if (frame >= 0)
        snprintf(path, PATH_SIZE, "%.900s/%s-%d%s-%06d.cloth", w->def->keep, name, w->run->seed, which, frame);
    if (frame < 0) snprintf(path, PATH_SIZE, "%.900s/%s-%d%s.state", w->def->keep, name, w->run->seed, which);
}

static tl_status take_shape(const under_way *w, int32_t index, const fidelity_cloth *c, tl_error *err)
{
    if (!measure(c, w->by, &w->run->shape[index])) return no_memory(err);
    if (!w->def->pictures || !w->first) return TL_OK;
    return fidelity_picture_add(w->def->pictures, w->def->frames[index], w->run->mesh, c, tl_scene_json(w->scene), err);
}

// The shapes that are there already; the state after the last of them. *done: how many.
static tl_status take_kept(const under_way *w, int32_t *done, tl_error *err)
{
    char path[PATH_SIZE];
    void *data = NULL;
    size_t size = 0;
    *done = 0;
    if (!w->def->keep) return TL_OK;
    kept_path(w, -1, path);
    int found = fidelity_read_state(path, w->key, w->run, &data, &size);
    if (found < 0)
        return fail(err, TL_BAD_INPUT, "%.900s: of other settings or damaged (remove it, or keep in another folder)",
                    path);
    if (found == 0) return TL_OK;
    tl_status status = TL_OK;
    while (*done < w->def->frame_count && w->def->frames[*done] <= w->run->frames && status == TL_OK) {
        fidelity_cloth c;
        kept_path(w, w->def->frames[*done], path);
        found = fidelity_read_cloth(path, w->key, &c);
        if (found != 1) {
            status = fail(err, TL_BAD_INPUT,
                          "%.900s: missing, of other settings or damaged (frames must not be added before those kept)",
                          path);
            break;
        }
        status = take_shape(w, *done, &c, err);
        fidelity_cloth_free(&c);
        *done += status == TL_OK;
    }
    if (status == TL_OK && *done < w->def->frame_count) status = tl_sim_restore(w->sim, data, size, err);
    free(data);
    return status;
}

static tl_status keep(const under_way *w, int32_t frame, const fidelity_cloth *c, tl_error *err)
{
    char path[PATH_SIZE];
    const void *data;
    size_t size;
    if (!w->def->keep) return TL_OK;
    kept_path(w, frame, path);
    tl_status status = fidelity_write_cloth(path, w->key, c, err);
    if (status == TL_OK) status = tl_sim_save(w->sim, &data, &size, err);
    kept_path(w, -1, path);
    if (status == TL_OK) status = fidelity_write_state(path, w->key, w->run, data, size, err);
    return status;
}

static tl_status look(const under_way *w, int32_t index, tl_error *err)
{
    tl_intersection_report x;
    fidelity_cloth c;
    tl_status status = tl_sim_intersections(w->sim, &x, err);
    if (status != TL_OK) return status;
    w->run->crossings += x.cloth_cloth + x.cloth_body;
    if (!fidelity_cloth_take(w->sim, &c)) return no_memory(err);
    status = take_shape(w, index, &c, err);
    if (status == TL_OK) status = keep(w, w->def->frames[index], &c, err);
    fidelity_cloth_free(&c);
    return status;
}

static tl_status run_frame(const under_way *w, tl_error *err)
{
    fidelity_run *r = w->run;
    const int32_t steps = tl_scene_steps_per_frame(w->scene);
    for (int32_t s = 0; s < steps; s++) {
        const double start = bench_cpu();
        const tl_status status = tl_sim_step(w->sim, NULL, err);
        r->cpu += bench_cpu() - start;
        if (status == TL_FAILED) {
            r->failed = true;
            snprintf(r->why, sizeof r->why, "at %.4f s: %.240s", tl_sim_time(w->sim), err->message);
            return TL_OK;
        }
        tl_cloth_view view = {0};
        if (status != TL_OK || tl_sim_cloth_view(w->sim, tl_sim_cloth(w->sim, 0), &view) != TL_OK) return status;
        r->steps++, r->faces += view.face_count;
    }
    r->frames++;
    return TL_OK;
}

static tl_status run_frames(const under_way *w, tl_error *err)
{
    int32_t next;
    tl_status status = take_kept(w, &next, err);
    while (next < w->def->frame_count && status == TL_OK && !w->run->failed) {
        status = run_frame(w, err);
        if (status != TL_OK || w->run->failed || w->run->frames < w->def->frames[next]) continue;
        status = look(w, next++, err);
    }
    return status;
}

static void set_gauge(const tl_sim *sim, gauge *by)
{
    tl_cloth_view v = {0};
    (void)tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v);
    tl_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < v.node_count; i++) {
        const tl_vec3 x = v.pos[i];
        low = (tl_vec3){fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z)};
        high = (tl_vec3){fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z)};
    }
    by->middle[SHAPE_ABOVE][0] = by->middle[SHAPE_FRONT][0] = (low.x + high.x) / 2;
    by->middle[SHAPE_ABOVE][1] = (low.z + high.z) / 2;
    by->middle[SHAPE_FRONT][1] = (low.y + high.y) / 2;
}

static tl_status run_once(const bench_fidelity_def *def, gauge *by, bool first, fidelity_run *run, tl_error *err)
{
    char path[PATH_SIZE];
    set_list sets;
    tl_vec3 place, speed;
    tl_status status = find_form(def, run->mesh, path, err);
    form_sets(def, run->mesh, &sets);
    if (def->meshes && run->mesh == MESH_FINE && !first) add_mesh(def, run->seed, &sets);
    if (status == TL_OK) status = read_start(path, &sets, &place, &speed, err);
    if (status != TL_OK) return status;
    add_vector(&sets, 0, "transform.translate", shaken(place, SHIFT_MAX, run->seed, 0));
    add_vector(&sets, 1, "velocity.linear", shaken(speed, SPEED_MAX, run->seed, 3));
    under_way w = {.def = def, .by = by, .run = run, .key = settings_key(path, &sets), .first = first};
    status = open_form(path, &sets, def->threads, &w.scene, &w.sim, err);
    if (status != TL_OK) return status;
    if (first && run->mesh == MESH_FINE) set_gauge(w.sim, by);  // one raster for all of them
    status = run_frames(&w, err);
    tl_sim_destroy(w.sim);
    tl_scene_destroy(w.scene);
    return status;
}

// --- all of them ------------------------------------------------------------------------------------------

static tl_status run_all(const bench_fidelity_def *def, gauge *by, fidelity_run *runs, int32_t *count, int32_t *faults,
                         tl_error *err)
{
    int32_t seed = def->seed;  // of each its own: the same start would bring meshes nearer than runs of one mesh are
    for (int m = 0; m < MESH_COUNT; m++)
        for (int32_t k = 0; k < (m == MESH_FINE ? def->runs : def->others); k++) {
            fidelity_run *r = &runs[(*count)++];
            r->mesh = (fidelity_mesh)m, r->seed = seed++;
            const tl_status status = run_once(def, by, k == 0, r, err);
            if (status != TL_OK) return status;
            fidelity_print_run(def->out, r);
            *faults += r->failed || r->crossings > 0;
        }
    return TL_OK;
}

static void free_runs(fidelity_run *runs, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < BENCH_FRAMES_MAX; k++)
            for (int v = 0; v < SHAPE_VIEWS; v++) shape_mask_free(&runs[i].shape[k].mask[v]);
    free(runs);
}

static tl_status make_folder(const char *path, tl_error *err)
{
    if (!path || mkdir(path, 0777) == 0 || errno == EEXIST) return TL_OK;
    return fail(err, TL_IO, "%.900s: cannot be made", path);
}

tl_status bench_fidelity(const bench_fidelity_def *def, int32_t *faults, tl_error *err)
{
    *faults = 0;
    // curvature on the scale of the finest edges, so that adaptive and fine meshes resolve it; wrinkles of a few edges
    gauge by = {.scale = def->scale > 0 ? def->scale : 2 * fidelity_size(def),
                .smooth = def->smooth > 0 ? def->smooth : 0};
    if (by.smooth == 0) by.smooth = fmax(0.1, 5 * fidelity_size(def));
    int32_t count = 0;
    fidelity_run *runs = calloc((size_t)(def->runs + (MESH_COUNT - 1) * def->others), sizeof *runs);
    if (!runs) return no_memory(err);
    tl_status status = make_folder(def->keep, err);
    if (status == TL_OK) status = make_folder(def->pictures, err);
    if (status == TL_OK) status = run_all(def, &by, runs, &count, faults, err);
    if (status == TL_OK) fidelity_print_table(def, by.scale, by.smooth, runs, count);
    if (status == TL_OK && def->csv) status = fidelity_append_csv(def, by.scale, by.smooth, runs, count, err);
    for (int32_t k = 0; def->pictures && k < def->frame_count && status == TL_OK; k++)
        status = fidelity_picture_draw(def->pictures, def->frames[k], def->threads, err);
    free_runs(runs, count);
    return status;
}
