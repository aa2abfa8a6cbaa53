// scene/shapes.c: rectangles and discs.
//
// The Delaunay rectangle starts as rows of points, every other row moved by half an edge, joined by strips; the
// inner points are moved at random, then edges are flipped until every one is locally Delaunay (Lawson 1977).
// The tests run on integers (2^20 units to an edge), so they are exact and the flips end.

#include "scene/shapes.h"

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/elementary.h"
#include "toile/delaunay.h"

__extension__ typedef __int128 i128;

enum { UNITS_PER_EDGE = 1 << 20 };
#define JITTER 0.2  // of an edge each way: more could turn a triangle of the first strips over

typedef struct point {
    int64_t x, y;
} point;

static tl_status make_room(const tl_allocator *alloc, int64_t nodes, int64_t faces, tl_obj *out, tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    out->pos = TL_ALLOC(alloc, tl_vec3, nodes);
    out->uv = TL_ALLOC(alloc, tl_vec2, nodes);
    out->vert_node = TL_ALLOC(alloc, int32_t, nodes);
    out->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *out->face);
    out->node_count = out->vert_count = out->pos_cap = out->uv_cap = out->vert_cap = (int32_t)nodes;
    out->face_count = out->face_cap = (int32_t)faces;
    if (out->pos && out->uv && out->vert_node && out->face) return TL_OK;
    tl_obj_free(out);
    return tl_fail_memory(err, "a generated mesh");
}

static void set_node(tl_obj *out, int32_t i, double x, double y)
{
    out->pos[i] = (tl_vec3){x, y, 0};
    out->uv[i] = (tl_vec2){x, y};
    out->vert_node[i] = i;
}

static void set_face(tl_obj *out, int32_t *f, int32_t a, int32_t b, int32_t c)
{
    out->face[*f][0] = a, out->face[*f][1] = b, out->face[*f][2] = c;
    (*f)++;
}

// Cells along a side, at least one. The caller has made sure that the number is moderate.
static int32_t cells(double length, double edge)
{
    const double n = nearbyint(length / edge);
    return n < 1 ? 1 : (int32_t)n;
}

// ---- squares ----------------------------------------------------------------------------------------------

static tl_status make_squares(const tl_allocator *alloc, const tl_rectangle_def *def, tl_obj *out, tl_error *err)
{
    const int32_t nx = cells(def->width, def->edge), ny = cells(def->height, def->edge);
    const bool cross = def->grid == TL_GRID_CROSS;
    const int64_t corners = (int64_t)(nx + 1) * (ny + 1), squares = (int64_t)nx * ny;
    TL_TRY(make_room(alloc, corners + (cross ? squares : 0), squares * (cross ? 4 : 2), out, err));
    for (int32_t j = 0; j <= ny; j++)
        for (int32_t i = 0; i <= nx; i++)
            set_node(out, j * (nx + 1) + i, i == nx ? def->width : def->width * i / nx,
                     j == ny ? def->height : def->height * j / ny);
    int32_t f = 0;
    for (int32_t j = 0; j < ny; j++)
        for (int32_t i = 0; i < nx; i++) {
            const int32_t a = j * (nx + 1) + i, b = a + 1, d = a + nx + 1, c = d + 1;  // counter-clockwise a b c d
            if (cross) {
                const int32_t m = (int32_t)corners + j * nx + i;
                set_node(out, m, def->width * (i + 0.5) / nx, def->height * (j + 0.5) / ny);
                set_face(out, &f, a, b, m), set_face(out, &f, b, c, m);
                set_face(out, &f, c, d, m), set_face(out, &f, d, a, m);
            } else if (def->grid == TL_GRID_ALTERNATE && (i + j) % 2 == 1) {
                set_face(out, &f, a, b, d), set_face(out, &f, b, c, d);
            } else {
                set_face(out, &f, a, b, c), set_face(out, &f, a, c, d);
            }
        }
    return TL_OK;
}

// ---- Delaunay ---------------------------------------------------------------------------------------------

typedef struct flipper {
    tl_obj *mesh;
    const point *q;
    int32_t (*across)[3];  ///< 3 g + k of the other side of the edge opposite to corner k, -1 at the border
    int32_t *stack;        ///< edges to look at, as 3 f + k
    int32_t count, cap;
} flipper;

static i128 orient(point a, point b, point c)
{
    return (i128)(b.x - a.x) * (c.y - a.y) - (i128)(b.y - a.y) * (c.x - a.x);
}

// > 0: d lies inside the circle through a, b, c (counter-clockwise). Differences stay below 2^29, so 127 bits do.
static i128 in_circle(point a, point b, point c, point d)
{
    const i128 ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
    return (ax * ax + ay * ay) * (bx * cy - by * cx) - (bx * bx + by * by) * (ax * cy - ay * cx) +
           (cx * cx + cy * cy) * (ax * by - ay * bx);
}

static tl_status find_neighbours(const tl_allocator *alloc, flipper *fl, tl_error *err)
{
    const int32_t sides = 3 * fl->mesh->face_count;
    tl_key *keys = TL_ALLOC(alloc, tl_key, sides), *scratch = TL_ALLOC(alloc, tl_key, sides);
    const bool ok = keys && scratch;
    for (int32_t s = 0; ok && s < sides; s++) {
        const int32_t *v = fl->mesh->face[s / 3];
        const uint64_t a = (uint64_t)v[(s + 1) % 3], b = (uint64_t)v[(s + 2) % 3];
        keys[s] = (tl_key){a < b ? a << 32 | b : b << 32 | a, s};
        fl->across[s / 3][s % 3] = -1;
    }
    if (ok) tl_sort_keys(keys, scratch, sides);
    for (int32_t i = 0; ok && i + 1 < sides; i++) {
        if (keys[i].key != keys[i + 1].key) continue;
        const int32_t s = keys[i].id, t = keys[i + 1].id;
        fl->across[s / 3][s % 3] = t;
        fl->across[t / 3][t % 3] = s;
    }
    TL_FREE(alloc, keys, sides);
    TL_FREE(alloc, scratch, sides);
    return ok ? TL_OK : tl_fail_memory(err, "a Delaunay mesh");
}

static void join(flipper *fl, int32_t side, int32_t other)
{
    fl->across[side / 3][side % 3] = other;
    if (other >= 0) fl->across[other / 3][other % 3] = side;
}

// Turns the edge opposite to corner k of f; false if it stays.
static bool flip(flipper *fl, int32_t side, int32_t *g_out)
{
    const int32_t other = fl->across[side / 3][side % 3];
    if (other < 0) return false;
    const int32_t f = side / 3, k = side % 3, g = other / 3, m = other % 3;
    int32_t *vf = fl->mesh->face[f], *vg = fl->mesh->face[g];
    const int32_t a = vf[k], b = vf[(k + 1) % 3], c = vf[(k + 2) % 3], d = vg[m];
    if (in_circle(fl->q[a], fl->q[b], fl->q[c], fl->q[d]) <= 0) return false;
    if (orient(fl->q[a], fl->q[b], fl->q[d]) <= 0 || orient(fl->q[a], fl->q[d], fl->q[c]) <= 0) return false;
    const int32_t ab = fl->across[f][(k + 2) % 3], ca = fl->across[f][(k + 1) % 3];
    const int32_t bd = fl->across[g][(m + 1) % 3], dc = fl->across[g][(m + 2) % 3];
    vf[0] = a, vf[1] = b, vf[2] = d;
    vg[0] = a, vg[1] = d, vg[2] = c;
    join(fl, 3 * f, bd), join(fl, 3 * f + 1, 3 * g + 2), join(fl, 3 * f + 2, ab);
    join(fl, 3 * g, dc), join(fl, 3 * g + 1, ca);
    *g_out = g;
    return true;
}

static tl_status make_delaunay(const tl_allocator *alloc, tl_obj *mesh, const point *q, tl_error *err)
{
    const int32_t faces = mesh->face_count;
    flipper fl = {.mesh = mesh, .q = q};
    fl.across = tl_alloc_bytes(alloc, (size_t)faces, sizeof *fl.across);
    tl_status status = fl.across ? find_neighbours(alloc, &fl, err) : tl_fail_memory(err, "a Delaunay mesh");
    for (int32_t start = 0; status == TL_OK && start < 3 * faces; start++) {
        int32_t g, side = start;
        for (;;) {
            if (flip(&fl, side, &g)) {
                if (!TL_GROW(alloc, fl.stack, fl.cap, fl.count + 4)) {
                    status = tl_fail_memory(err, "a Delaunay mesh");
                    break;
                }
                fl.stack[fl.count++] = side / 3 * 3, fl.stack[fl.count++] = side / 3 * 3 + 2;
                fl.stack[fl.count++] = 3 * g, fl.stack[fl.count++] = 3 * g + 1;
            }
            if (fl.count == 0) break;
            side = fl.stack[--fl.count];
        }
    }
    TL_FREE(alloc, fl.across, faces);
    TL_FREE(alloc, fl.stack, fl.cap);
    return status;
}

// Nodes of row j: whole steps in even rows; the two ends and half steps in odd ones.
static int32_t row_size(int32_t nx, int32_t j) { return nx + 1 + j % 2; }
static int32_t row_start(int32_t nx, int32_t j) { return j * (nx + 1) + j / 2; }

static tl_status make_rows(const tl_allocator *alloc, const tl_rectangle_def *def, tl_obj *out, tl_error *err)
{
    const int32_t nx = cells(def->width, def->edge), ny = cells(def->height, def->edge * sqrt(0.75));
    const int64_t nodes = row_start(nx, ny) + row_size(nx, ny);
    TL_TRY(make_room(alloc, nodes, (int64_t)ny * (2 * nx + 1), out, err));
    point *q = TL_ALLOC(alloc, point, nodes);
    if (!q) {
        tl_obj_free(out);
        return tl_fail_memory(err, "a Delaunay mesh");
    }
    const double unit = def->edge / UNITS_PER_EDGE, dx = def->width / nx, dy = def->height / ny;
    for (int32_t j = 0; j <= ny; j++)
        for (int32_t i = 0, size = row_size(nx, j); i < size; i++) {
            const int32_t n = row_start(nx, j) + i;
            const bool side = i == 0 || i == size - 1, end = j == 0 || j == ny;
            double x = i == size - 1 ? def->width : i == 0 ? 0 : dx * (i - 0.5 * (j % 2));
            double y = j == ny ? def->height : dy * j;
            const bool half_step = j % 2 == 1 && (i == 1 || i == size - 2);  // beside the border: keep that width
            if (!side && !end) {
                if (!half_step) x += dx * JITTER * (2 * tl_random(def->seed, 1, (uint64_t)n) - 1);
                y += dy * JITTER * (2 * tl_random(def->seed, 2, (uint64_t)n) - 1);
            }
            q[n] = (point){(int64_t)nearbyint(x / unit), (int64_t)nearbyint(y / unit)};
            set_node(out, n, side ? x : (double)q[n].x * unit, end || side ? y : (double)q[n].y * unit);
        }
    int32_t f = 0;
    for (int32_t j = 0; j < ny; j++) {
        const int32_t low = row_start(nx, j), high = row_start(nx, j + 1);
        if (j % 2 == 0) {  // the row above has one node more
            for (int32_t i = 0; i <= nx; i++) set_face(out, &f, low + i, high + i + 1, high + i);
            for (int32_t i = 0; i < nx; i++) set_face(out, &f, low + i, low + i + 1, high + i + 1);
        } else {
            for (int32_t i = 0; i <= nx; i++) set_face(out, &f, low + i, low + i + 1, high + i);
            for (int32_t i = 0; i < nx; i++) set_face(out, &f, low + i + 1, high + i + 1, high + i);
        }
    }
    const tl_status status = make_delaunay(alloc, out, q, err);
    TL_FREE(alloc, q, nodes);
    if (status != TL_OK) tl_obj_free(out);
    return status;
}

tl_status tl_shape_rectangle(const tl_allocator *alloc, const tl_rectangle_def *def, tl_obj *out, tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    const double nx = def->width / def->edge + 1, ny = def->height / def->edge * 1.2 + 1;
    const double faces = nx * ny * (def->grid == TL_GRID_CROSS ? 4 : 2);  // a little more than there will be
    if (!(faces <= (double)def->max_faces))
        return tl_fail(err, TL_BAD_INPUT, "about %.3g faces, must be <= %lld (choose a larger edge)", faces,
                       (long long)def->max_faces);
    return def->grid == TL_GRID_DELAUNAY ? make_rows(alloc, def, out, err) : make_squares(alloc, def, out, err);
}

// ---- disc -------------------------------------------------------------------------------------------------

// Ring k has 6 k nodes; ring 0 is the centre.
static int32_t ring_node(int32_t k, int32_t i) { return k == 0 ? 0 : 3 * k * (k - 1) + 1 + i % (6 * k); }

// Remeshing cuts the outline but never moves it (masses and rest shapes stay what they are), so that is where a coarse
// disc has to be fine: its polygon lies within a thousandth of the radius and SAGITTA of the circle, at any refinement.
#define SAGITTA 2.5e-4  // [m], half of what a cloth of 1 mm keeps from a body
enum { LEAST_SIDES = 72, MOST_SIDES = 360 };

static int32_t rim_sides(double radius)
{
    // radius (1 - cos(pi/n)) = SAGITTA, with 1 - cos a = a^2 / 2
    const double sides = 3.14159265358979323846 * sqrt(0.5 * radius / SAGITTA);
    return sides < LEAST_SIDES ? LEAST_SIDES : sides > MOST_SIDES ? MOST_SIDES : (int32_t)ceil(sides);
}

static tl_status coarse_disc(const tl_allocator *alloc, double radius, double edge, tl_obj *out, tl_error *err)
{
    const int32_t sides = rim_sides(radius);
    tl_vec2 rim[MOST_SIDES];
    tl_region_edge side[MOST_SIDES];
    const double step = 2 * 3.14159265358979323846 / sides;
    for (int32_t i = 0; i < sides; i++) {
        rim[i] = (tl_vec2){radius * tl_cos(step * i), radius * tl_sin(step * i)};
        side[i] = (tl_region_edge){i, (i + 1) % sides, TL_EDGE_OUTLINE, true};
    }
    const tl_region region = {rim, sides, side, sides, "disc"};
    tl_delaunay_def def = tl_delaunay_def_default();
    def.edge = edge;
    tl_delaunay_mesh mesh;
    TL_TRY(tl_delaunay_fill(alloc, &region, 1, NULL, 0, &def, &mesh, err));
    const tl_status status = make_room(alloc, mesh.point_count, mesh.tri_count, out, err);
    int32_t f = 0;
    for (int32_t i = 0; i < mesh.point_count && status == TL_OK; i++)
        set_node(out, i, mesh.point[i].x, mesh.point[i].y);
    for (int32_t t = 0; t < mesh.tri_count && status == TL_OK; t++)
        set_face(out, &f, mesh.tri[t][0], mesh.tri[t][1], mesh.tri[t][2]);
    tl_delaunay_mesh_free(&mesh);
    return status;
}

tl_status tl_shape_disc(const tl_allocator *alloc, double radius, double edge, int64_t max_faces, tl_obj *out,
                        tl_error *err)
{
    *out = (tl_obj){.alloc = *alloc};
    const double rings = radius / edge + 1;
    if (!(6 * rings * rings <= (double)max_faces))
        return tl_fail(err, TL_BAD_INPUT, "about %.3g faces, must be <= %lld (choose a larger edge)", 6 * rings * rings,
                       (long long)max_faces);
    const int32_t n = cells(radius, edge);
    if (6 * n < rim_sides(radius)) return coarse_disc(alloc, radius, edge, out, err);
    TL_TRY(make_room(alloc, 3 * (int64_t)n * (n + 1) + 1, 6 * (int64_t)n * n, out, err));
    const double pi = 3.14159265358979323846;
    int32_t f = 0;
    set_node(out, 0, 0, 0);
    for (int32_t k = 1; k <= n; k++) {
        const double r = radius * k / n;
        for (int32_t i = 0; i < 6 * k; i++)
            set_node(out, ring_node(k, i), r * tl_cos(pi * i / (3 * k)), r * tl_sin(pi * i / (3 * k)));
        for (int32_t s = 0; s < 6; s++)
            for (int32_t i = 0; i < k; i++) {
                const int32_t inner = ring_node(k - 1, s * (k - 1) + i), outer = ring_node(k, s * k + i);
                set_face(out, &f, inner, outer, ring_node(k, s * k + i + 1));
                if (i < k - 1)
                    set_face(out, &f, inner, ring_node(k, s * k + i + 1), ring_node(k - 1, s * (k - 1) + i + 1));
            }
    }
    return TL_OK;
}
