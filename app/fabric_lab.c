// app/fabric_lab.c: drape, cantilever, heart loop, pull and shear of simulated fabrics, through the public interface.

#include "fabric_lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "toile/delaunay.h"
#include "toile/render.h"
#include "toile/sim.h"
#include "toile/body.h"

#define PI 3.14159265358979323846
#define GRAVITY 9.81
#define CLOTH_RADIUS 0.15
#define SUPPORT_RADIUS 0.09
#define LOWERING 2.0       // [s] until the table has sunk away
#define HANGING 4.0        // [s] by then it is at rest
#define SLOPE_DEG 41.5     // of ASTM D1388
#define STRIP_WIDTH 0.025  // [m]

static tl_status out_of_memory(tl_error *err)
{
    *err = (tl_error){TL_NO_MEMORY, "out of memory"};
    return TL_NO_MEMORY;
}

double lab_rigidity(const tl_material *m, int32_t weft) { return m->bend[weft ? 0 : 2][0]; }

double lab_bending_length(const tl_material *m, int32_t weft)
{
    return cbrt(lab_rigidity(m, weft) / (m->density * GRAVITY));
}

// ---- Cusick -----------------------------------------------------------------------------------------------

static int by_angle(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

// Times that the distance of the rim from the axis rises through its mean, by 2 % of it at least.
static int32_t count_folds(const tl_cloth_view *view)
{
    double(*rim)[2] = malloc((size_t)view->vert_count * sizeof *rim), mean = 0;
    int n = 0, folds = 0;
    for (int32_t i = 0; rim && i < view->vert_count; i++) {
        if (hypot(view->uv[i].x, view->uv[i].y) < CLOTH_RADIUS * (1 - 1e-3)) continue;
        const tl_vec3 x = view->pos[view->vert_node[i]];
        rim[n][0] = atan2(view->uv[i].y, view->uv[i].x), rim[n][1] = hypot(x.x, x.z);
        mean += rim[n++][1];
    }
    if (n == 0) return free(rim), 0;
    mean /= n;
    qsort(rim, (size_t)n, sizeof *rim, by_angle);
    int low = 0;
    for (int i = 0; i < 2 * n; i++) {  // the first time round only finds the state
        if (rim[i % n][1] < 0.98 * mean) low = 1;
        if (rim[i % n][1] > 1.02 * mean && low) low = 0, folds += i >= n;
    }
    free(rim);
    return folds;
}

static tl_status make_disc(double edge, tl_delaunay_mesh *out, tl_error *err)
{
    const int32_t n = (int32_t)ceil(2 * PI * CLOTH_RADIUS / edge);
    tl_vec2 *point = malloc((size_t)n * sizeof *point);
    tl_region_edge *sides = malloc((size_t)n * sizeof *sides);
    tl_status status = point && sides ? TL_OK : out_of_memory(err);
    for (int32_t i = 0; status == TL_OK && i < n; i++) {
        const double a = 2 * PI * i / n;
        point[i] = (tl_vec2){CLOTH_RADIUS * cos(a), CLOTH_RADIUS * sin(a)};
        sides[i] = (tl_region_edge){i, (i + 1) % n, TL_EDGE_OUTLINE, false};
    }
    const tl_region region = {point, n, sides, n, "disc"};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = edge;
    const tl_allocator alloc = tl_allocator_default();
    if (status == TL_OK) status = tl_delaunay_fill(&alloc, &region, 1, NULL, 0, &def, out, err);
    free(point);
    free(sides);
    return status;
}

// `keys`: NULL if it stands still.
static tl_status add_cylinder(tl_sim *sim, const char *name, double radius, double top, double height, double friction,
                              const tl_motion_key keys[2], tl_error *err)
{
    tl_body_id id;
    tl_body_def def = tl_body_def_default();
    def.name = name, def.kind = TL_BODY_CYLINDER, def.radius = radius, def.axis = (tl_vec3){0, height, 0};
    def.center = (tl_vec3){0, top - height / 2, 0}, def.friction = friction, def.motion = keys,
    def.motion_count = keys ? 2 : 0;
    return tl_sim_add_body(sim, &def, &id, err);
}

// Area of the shadow seen from above [m^2]: pixels of half a millimetre whose middles a face covers. NAN: no memory.
static double shadow_area(const tl_cloth_view *v)
{
    enum { SIZE = 700 };
    const double pixel = 5e-4;
    uint8_t *mask = calloc(SIZE, SIZE);
    if (!mask) return NAN;
    for (int32_t f = 0; f < v->face_count; f++) {
        double p[3][2], low[2] = {SIZE, SIZE}, high[2] = {0, 0};
        for (int k = 0; k < 3; k++) {
            const tl_vec3 x = v->pos[v->vert_node[v->face[f][k]]];
            p[k][0] = x.x / pixel + SIZE / 2 - 0.5,
            p[k][1] = x.z / pixel + SIZE / 2 - 0.5;  // pixel i has its middle at i
            for (int c = 0; c < 2; c++) low[c] = fmin(low[c], p[k][c]), high[c] = fmax(high[c], p[k][c]);
        }
        for (int y = (int)ceil(fmax(low[1], 0)); y <= (int)floor(fmin(high[1], SIZE - 1)); y++)
            for (int x = (int)ceil(fmax(low[0], 0)); x <= (int)floor(fmin(high[0], SIZE - 1)); x++) {
                int left = 0, right = 0;
                for (int k = 0; k < 3; k++) {
                    const double *a = p[k], *b = p[(k + 1) % 3];
                    const double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
                    left += side >= 0, right += side <= 0;
                }
                if (left == 3 || right == 3) mask[y * SIZE + x] = 1;
            }
    }
    double area = 0;
    for (int i = 0; i < SIZE * SIZE; i++) area += mask[i];
    free(mask);
    return area * pixel * pixel;
}

// As on the instrument, the disc lies flat on support and table, and the table sinks slowly.
static tl_status set_up(tl_sim *sim, const tl_material *fabric, const tl_delaunay_mesh *disc, double warp_deg,
                        tl_cloth_id *id, tl_error *err)
{
    const tl_motion_key sink[2] = {{.time = 0, .rotate_axis = {0, 1, 0}},
                                   {.time = LOWERING, .translate = {0, -0.2, 0}, .rotate_axis = {0, 1, 0}}};
    tl_status status = add_cylinder(sim, "support", SUPPORT_RADIUS, 0, 0.2, 0.4, NULL, err);
    if (status == TL_OK) status = add_cylinder(sim, "table", 0.2, -0.001, 0.02, 0.1, sink, err);
    tl_vec3 *pos = malloc((size_t)disc->point_count * sizeof *pos);
    tl_vec2 *uv = malloc((size_t)disc->point_count * sizeof *uv);
    if (status == TL_OK && (!pos || !uv)) status = out_of_memory(err);
    const double c = cos(warp_deg * PI / 180), s = sin(warp_deg * PI / 180);
    for (int32_t i = 0; status == TL_OK && i < disc->point_count; i++) {
        const tl_vec2 u = disc->point[i];
        pos[i] = (tl_vec3){u.x, 0.002, -u.y};
        uv[i] = (tl_vec2){c * u.x - s * u.y, s * u.x + c * u.y};
    }
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = disc->point_count, cloth.pos = pos, cloth.uv = uv;
    cloth.face_count = disc->tri_count, cloth.face = (const int32_t(*)[3])disc->tri;
    cloth.materials = fabric, cloth.material_count = 1;
    if (status == TL_OK) status = tl_sim_add_cloth(sim, &cloth, id, err);
    free(pos);
    free(uv);
    return status;
}

static tl_status draw(const tl_cloth_view *v, uint8_t *rgb, tl_error *err)
{
    tl_render_def def = tl_render_def_default();
    def.width = def.height = LAB_PICTURE, def.white = 1, def.no_ground = 1;
    tl_camera_parse("30,40", &def.camera);
    const tl_render_mesh mesh = {
        .pos = v->pos, .pos_count = v->node_count, .face = v->face, .face_count = v->face_count, .look = TL_LOOK_CLOTH};
    return tl_render_image(&def, &mesh, 1, rgb, err);
}

tl_status lab_drape_test(const tl_material *fabric, double edge, double warp_deg, int32_t threads, lab_drape *out,
                         uint8_t *rgb, tl_error *err)
{
    tl_delaunay_mesh disc = {0};
    tl_sim *sim = NULL;
    tl_cloth_id id = {0};
    tl_cloth_view view = {0};
    tl_sim_def def = tl_sim_def_default();
    def.dt = 1.0 / 100, def.threads = threads;
    tl_status status = make_disc(edge, &disc, err);
    if (status == TL_OK) status = tl_sim_create(&def, &sim, err);
    if (status == TL_OK) status = set_up(sim, fabric, &disc, warp_deg, &id, err);
    for (int k = 0; status == TL_OK && k < (int)lround(HANGING / def.dt); k++) status = tl_sim_step(sim, NULL, err);
    if (status == TL_OK) status = tl_sim_cloth_view(sim, id, &view);
    const double shadow = status == TL_OK ? shadow_area(&view) : 0;
    if (status == TL_OK && isnan(shadow)) status = out_of_memory(err);
    if (status == TL_OK) {
        const double support = PI * SUPPORT_RADIUS * SUPPORT_RADIUS, whole = PI * CLOTH_RADIUS * CLOTH_RADIUS;
        double speed = 0;
        for (int32_t i = 0; i < view.node_count; i++)
            speed += view.vel[i].x * view.vel[i].x + view.vel[i].y * view.vel[i].y + view.vel[i].z * view.vel[i].z;
        *out = (lab_drape){edge,
                           warp_deg,
                           (shadow - support) / (whole - support),
                           sqrt(speed / view.node_count),
                           count_folds(&view),
                           view.face_count};
        if (rgb) status = draw(&view, rgb, err);
    }
    tl_sim_destroy(sim);
    tl_delaunay_mesh_free(&disc);
    return status;
}

// ---- strips -----------------------------------------------------------------------------------------------

// A step is a static solve: inertia counts for nothing. References know no thickness and no air.
static tl_sim_def static_def(void)
{
    tl_sim_def def = tl_sim_def_default();
    def.dt = 100;
    def.newton_iterations = 2000, def.newton_tolerance = 1e-9;
    def.max_halvings = 0, def.effort = 1e9;
    def.linear = TL_LINEAR_DIRECT, def.linear_tolerance = 1e-8;
    def.air = (tl_air_def){.gust_period = 1};
    def.collide.self = 0;
    def.gravity = (tl_vec3){0, 0, -GRAVITY};
    def.start.relax = TL_RELAX_OFF;
    return def;
}

enum { STRIP_ROWS = 4, STRIP_NODES = 64 * (STRIP_ROWS + 1) };

typedef struct strip {
    tl_sim *sim;
    tl_cloth_id cloth;
    int32_t cells;
} strip;

// `cells` along x from `from`, `cell` long each; along the warp, or across it. Friction between yarns is left out:
// tests of rigidity take it as a hysteresis of its own.
static tl_status strip_create(const tl_material *fabric, int32_t weft, double from, double cell, int32_t cells,
                              strip *out, tl_error *err)
{
    static const int8_t corner[2][2][3] = {{{0, 1, 3}, {0, 3, 2}}, {{0, 1, 2}, {1, 3, 2}}};
    tl_vec3 pos[STRIP_NODES];
    tl_vec2 uv[STRIP_NODES];
    int32_t face[2 * STRIP_NODES][3], n = 0, f = 0;
    tl_material plain = *fabric;
    plain.friction_bend = 0;
    for (int32_t i = 0; i <= cells; i++)
        for (int32_t j = 0; j <= STRIP_ROWS; j++, n++) {
            const double x = from + i * cell, y = STRIP_WIDTH * ((double)j / STRIP_ROWS - 0.5);
            pos[n] = (tl_vec3){x, y, 0};
            uv[n] = weft ? (tl_vec2){-y, x} : (tl_vec2){x, y};
        }
    for (int32_t i = 0; i < cells; i++)
        for (int32_t j = 0; j < STRIP_ROWS; j++) {
            const int32_t a = i * (STRIP_ROWS + 1) + j, at[4] = {a, a + STRIP_ROWS + 1, a + 1, a + STRIP_ROWS + 2};
            for (int t = 0; t < 2; t++, f++)
                for (int k = 0; k < 3; k++) face[f][k] = at[corner[(i + j) & 1][t][k]];
        }
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = n, cloth.pos = pos, cloth.uv = uv, cloth.face_count = f;
    cloth.face = (const int32_t(*)[3])face, cloth.materials = &plain, cloth.material_count = 1;
    const tl_sim_def def = static_def();
    *out = (strip){.cells = cells};
    tl_status status = tl_sim_create(&def, &out->sim, err);
    if (status == TL_OK) status = tl_sim_add_cloth(out->sim, &cloth, &out->cloth, err);
    return status;
}

// Columns first .. last of nodes, along `keys` (NULL: held still).
static tl_status strip_hold(strip *s, int32_t first, int32_t last, const tl_motion_key *keys, tl_vec3 pivot,
                            tl_error *err)
{
    int32_t nodes[4 * (STRIP_ROWS + 1)], n = 0;
    for (int32_t k = first * (STRIP_ROWS + 1); k < (last + 1) * (STRIP_ROWS + 1); k++) nodes[n++] = k;
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = s->cloth, hold.nodes = nodes, hold.node_count = n;
    hold.keys = keys, hold.key_count = keys ? 2 : 0, hold.pivot = pivot;
    return tl_sim_add_handle(s->sim, &hold, err);
}

// Middle of column i.
static tl_vec3 strip_at(const strip *s, int32_t i)
{
    tl_cloth_view v;
    tl_sim_cloth_view(s->sim, s->cloth, &v);
    return v.pos[i * (STRIP_ROWS + 1) + STRIP_ROWS / 2];
}

// Drop over reach of the tip at an overhang.
static tl_status overhang_ratio(const tl_material *fabric, int32_t weft, double length, double *ratio,
                                lab_cantilever *out, tl_error *err)
{
    enum { CELLS = LAB_POINTS - 1 };
    strip s;
    const double cell = length / CELLS;
    tl_status status = strip_create(fabric, weft, -cell, cell, CELLS + 1, &s, err);
    if (status == TL_OK) status = strip_hold(&s, 0, 1, NULL, (tl_vec3){0}, err);
    if (status == TL_OK) status = tl_sim_step(s.sim, NULL, err);
    if (status == TL_OK) {
        for (int i = 0; i < LAB_POINTS; i++) {
            const tl_vec3 x = strip_at(&s, i + 1);
            out->shape[i][0] = x.x, out->shape[i][1] = -x.z;
        }
        *ratio = out->shape[CELLS][1] / out->shape[CELLS][0];
    }
    tl_sim_destroy(s.sim);
    return status;
}

// Drop over reach of the heavy elastica, theta'' = -Gamma (1 - s) cos theta, theta(0) = theta'(1) = 0, by shooting.
static double elastica_ratio(double gamma)
{
    enum { STEPS = 2000 };
    double low = 0, high = gamma, x = 0, z = 0;  // theta'(0): the moment at the clamp is at most the whole weight's
    for (int round = 0; round < 100; round++) {
        const double h = 1.0 / STEPS;
        double t = 0, w = 0.5 * (low + high);
        const double first = w;
        x = z = 0;
        for (int k = 0; k < STEPS; k++) {  // midpoint rule
            const double s = k * h, tm = t + h / 2 * w, wm = w - h / 2 * gamma * (1 - s) * cos(t);
            t += h * wm, w -= h * gamma * (1 - s - h / 2) * cos(tm);
            x += h * cos(tm), z += h * sin(tm);
        }
        if (w > 0)
            high = first;
        else
            low = first;
    }
    return z / x;
}

tl_status lab_cantilever_test(const tl_material *fabric, int32_t weft, lab_cantilever *out, tl_error *err)
{
    const double slope = tan(SLOPE_DEG * PI / 180), c = lab_bending_length(fabric, weft);
    double low = 1, high = 100;  // Gamma = (L / c)^3
    for (int k = 0; k < 60; k++) {
        const double mid = sqrt(low * high);
        if (elastica_ratio(mid) < slope)
            low = mid;
        else
            high = mid;
    }
    out->elastica = c * cbrt(sqrt(low * high));
    double shorter = 0.5 * out->elastica, longer = 2 * out->elastica, ratio;
    for (int k = 0; k < 14; k++) {
        out->overhang = sqrt(shorter * longer);
        const tl_status status = overhang_ratio(fabric, weft, out->overhang, &ratio, out, err);
        if (status != TL_OK) return status;
        if (ratio < slope)
            shorter = out->overhang;
        else
            longer = out->overhang;
    }
    return TL_OK;
}

tl_status lab_heart_test(const tl_material *fabric, int32_t weft, lab_heart *out, tl_error *err)
{
    enum { CELLS = 60, STEPS = 24 };
    const double length = 0.3, cell = length / CELLS, seconds = STEPS * static_def().dt;
    strip s;
    tl_status status = strip_create(fabric, weft, -cell, cell, CELLS + 2, &s, err);
    for (int side = 0; status == TL_OK && side < 2; side++) {  // either end turns by 270 degrees, in opposite senses
        const double at = side ? length : 0, way = side ? -length / 2 : length / 2;
        const tl_motion_key keys[2] = {
            {.time = 0, .rotate_axis = {0, 1, 0}},
            {.time = seconds, .translate = {way, 0, 0}, .rotate_axis = {0, 1, 0}, .rotate_deg = side ? -270 : 270}};
        status = strip_hold(&s, side ? CELLS + 1 : 0, side ? CELLS + 2 : 1, keys, (tl_vec3){at, 0, 0}, err);
    }
    for (int k = 0; status == TL_OK && k < STEPS + 2; k++) status = tl_sim_step(s.sim, NULL, err);
    out->depth = 0, out->points = CELLS + 1;
    for (int32_t i = 0; status == TL_OK && i <= CELLS; i++) {
        const tl_vec3 x = strip_at(&s, i + 1);
        out->shape[i][0] = x.x, out->shape[i][1] = -x.z;
        out->depth = fmax(out->depth, -x.z);
    }
    tl_sim_destroy(s.sim);
    return status;
}

// ---- in plane ---------------------------------------------------------------------------------------------

// Energy of a square metre whose place in space is x = F u, F by columns.
static tl_status stored(const tl_material *fabric, const double f[4], double *out, tl_error *err)
{
    const tl_vec2 uv[4] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const int32_t face[2][3] = {{0, 1, 2}, {0, 2, 3}};
    tl_vec3 pos[4];
    for (int i = 0; i < 4; i++) pos[i] = (tl_vec3){f[0] * uv[i].x + f[2] * uv[i].y, f[1] * uv[i].x + f[3] * uv[i].y, 0};
    tl_sim_def def = tl_sim_def_default();
    def.start.relax = TL_RELAX_OFF;
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.node_count = 4, cloth.pos = pos, cloth.uv = uv, cloth.face_count = 2, cloth.face = face;
    cloth.materials = fabric, cloth.material_count = 1;
    tl_sim *sim;
    tl_cloth_id id;
    tl_energies e = {0};
    tl_status status = tl_sim_create(&def, &sim, err);
    if (status != TL_OK) return status;
    status = tl_sim_add_cloth(sim, &cloth, &id, err);
    if (status == TL_OK) status = tl_sim_energies(sim, &e);
    tl_sim_destroy(sim);
    *out = e.stretch;
    return status;
}

// Stretched by `along` at an angle, by `across` at right angles to it: F = R diag R^T.
static tl_status stretched(const tl_material *fabric, double angle_deg, double along, double across, double *out,
                           tl_error *err)
{
    const double c = cos(angle_deg * PI / 180), s = sin(angle_deg * PI / 180), d = along - across;
    const double f[4] = {across + d * c * c, d * c * s, d * c * s, across + d * s * s};
    return stored(fabric, f, out, err);
}

// Least energy over the stretch across, by golden section.
static tl_status relaxed(const tl_material *fabric, double angle_deg, double along, double *out, tl_error *err)
{
    const double golden = 0.6180339887498949;
    double lo = 0.5, hi = 1.2, a = hi - golden * (hi - lo), b = lo + golden * (hi - lo), ea = 0, eb = 0;
    tl_status status = stretched(fabric, angle_deg, along, a, &ea, err);
    if (status == TL_OK) status = stretched(fabric, angle_deg, along, b, &eb, err);
    for (int k = 0; status == TL_OK && k < 28; k++) {
        if (ea < eb) {
            hi = b, b = a, eb = ea, a = hi - golden * (hi - lo);
            status = stretched(fabric, angle_deg, along, a, &ea, err);
        } else {
            lo = a, a = b, ea = eb, b = lo + golden * (hi - lo);
            status = stretched(fabric, angle_deg, along, b, &eb, err);
        }
    }
    *out = fmin(ea, eb);
    return status;
}

// Forces are differences of the energy: central, so to the square of the step.
tl_status lab_pull(const tl_material *fabric, double angle_deg, double most, double force[LAB_POINTS], tl_error *err)
{
    const double h = 1e-4 * most + 1e-5;
    for (int i = 0; i < LAB_POINTS; i++) {
        const double stretch = 1 + most * i / (LAB_POINTS - 1);
        double low, high;
        tl_status status = relaxed(fabric, angle_deg, stretch - h, &low, err);
        if (status == TL_OK) status = relaxed(fabric, angle_deg, stretch + h, &high, err);
        if (status != TL_OK) return status;
        force[i] = i == 0 ? 0 : (high - low) / (2 * h);
    }
    return TL_OK;
}

tl_status lab_shear(const tl_material *fabric, double most, double force[LAB_POINTS], tl_error *err)
{
    const double h = 1e-4 * most + 1e-5;
    for (int i = 0; i < LAB_POINTS; i++) {
        double e[2];
        for (int k = 0; k < 2; k++) {  // yarns keep their lengths, the weft leans
            const double a = asin(most * i / (LAB_POINTS - 1)) + (k ? h : -h);
            const double f[4] = {1, 0, sin(a), cos(a)};
            const tl_status status = stored(fabric, f, &e[k], err);
            if (status != TL_OK) return status;
        }
        force[i] = i == 0 ? 0 : (e[1] - e[0]) / (2 * h);
    }
    return TL_OK;
}
