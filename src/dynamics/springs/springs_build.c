// dynamics/springs/springs_build.c: rest lengths, stiffness, masses and colours of a mesh.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "dynamics/springs/springs_impl.h"
#include "math/vec3.h"

// The springs of an equilateral triangle, with this part of the stiffness, store what a membrane stores under a strain
// along one direction: the mean over three edges of cos^4 of their angles to it is 3/8.
#define SHARE_OF_EDGES (8.0 / 9.0)

tl_springs_def tl_springs_def_default(void)
{
    return (tl_springs_def){.method = TL_SPRINGS_XPBD,
                            .compression = 0.05,
                            .bend_every = 4,
                            .stiffness = 80,
                            .bend = 0.002,
                            .damping = 0.01,
                            .max_stretch = 1.05,
                            .length_rounds = 5,
                            .max_substeps = 200};
}

tl_status tl_springs_create(const tl_allocator *alloc, const tl_springs_def *def, tl_springs **out, tl_error *err)
{
    *out = NULL;
    if (!(def->compression >= 0 && def->compression <= 1) || def->bend_every < 1 || !(def->max_stretch > 1) ||
        !(def->damping >= 0 && def->damping < 1) || def->max_substeps < 1 || def->length_rounds < 0)
        return tl_fail(
            err, TL_BAD_ARG,
            "springs: compression %g, bend_every %d, max_stretch %g, damping %g, max_substeps %d: out of range",
            def->compression, def->bend_every, def->max_stretch, def->damping, def->max_substeps);
    tl_springs *s = TL_CALLOC(alloc, tl_springs, 1);
    if (!s) return tl_fail_memory(err, "springs");
    s->alloc = *alloc, s->def = *def;
    *out = s;
    return TL_OK;
}

typedef struct array {
    void **ptr;
    size_t size;
} array;

enum { NODE_ARRAYS = 11, TRI_ARRAYS = 2, EDGE_ARRAYS = 6, HINGE_ARRAYS = 5, TETHER_ARRAYS = 4 };
#define ARRAY(p)                                                                                                       \
    {                                                                                                                  \
        (void **)&(p), sizeof *(p)                                                                                     \
    }

static void node_arrays(tl_springs *s, array out[NODE_ARRAYS])
{
    const array all[NODE_ARRAYS] = {ARRAY(s->pos),   ARRAY(s->vel),       ARRAY(s->prev), ARRAY(s->bend_prev),
                                    ARRAY(s->start), ARRAY(s->start_vel), ARRAY(s->mass), ARRAY(s->inv_mass),
                                    ARRAY(s->held),  ARRAY(s->used),      ARRAY(s->accel)};
    memcpy(out, all, sizeof all);
}

static void tri_arrays(tl_springs *s, array out[TRI_ARRAYS])
{
    const array all[TRI_ARRAYS] = {ARRAY(s->tri_area), ARRAY(s->tri)};
    memcpy(out, all, sizeof all);
}

static void edge_arrays(tl_springs *s, array out[EDGE_ARRAYS])
{
    const array all[EDGE_ARRAYS] = {ARRAY(s->edge),  ARRAY(s->rest),  ARRAY(s->stiffness),
                                    ARRAY(s->level), ARRAY(s->share), ARRAY(s->slack)};
    memcpy(out, all, sizeof all);
}

static void hinge_arrays(tl_springs *s, array out[HINGE_ARRAYS])
{
    const array all[HINGE_ARRAYS] = {ARRAY(s->hinge), ARRAY(s->weight), ARRAY(s->bend), ARRAY(s->span), ARRAY(s->gain)};
    memcpy(out, all, sizeof all);
}

static void tether_arrays(tl_springs *s, array out[TETHER_ARRAYS])
{
    const array all[TETHER_ARRAYS] = {ARRAY(s->tether), ARRAY(s->tether_rest), ARRAY(s->tether_slack),
                                      ARRAY(s->tether_share)};
    memcpy(out, all, sizeof all);
}

static void free_arrays(tl_springs *s, const array *arrays, int count, int32_t cap)
{
    for (int i = 0; i < count; i++) {
        tl_free_bytes(&s->alloc, *arrays[i].ptr, (size_t)cap, arrays[i].size);
        *arrays[i].ptr = NULL;
    }
}

// What was in the arrays is not kept.
static bool grow_arrays(tl_springs *s, const array *arrays, int count, int32_t *cap, int32_t need)
{
    if (need <= *cap) return true;
    free_arrays(s, arrays, count, *cap);
    *cap = 0;
    const int32_t more = need + need / 4 + 16;
    for (int i = 0; i < count; i++) {
        *arrays[i].ptr = tl_calloc_bytes(&s->alloc, (size_t)more, arrays[i].size);
        if (*arrays[i].ptr) continue;
        free_arrays(s, arrays, i, more);
        return false;
    }
    *cap = more;
    return true;
}

void tl_springs_destroy(tl_springs *s)
{
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    array nodes[NODE_ARRAYS], tris[TRI_ARRAYS], edges[EDGE_ARRAYS], hinges[HINGE_ARRAYS], tethers[TETHER_ARRAYS];
    node_arrays(s, nodes), tri_arrays(s, tris), edge_arrays(s, edges), hinge_arrays(s, hinges);
    tether_arrays(s, tethers);
    free_arrays(s, tethers, TETHER_ARRAYS, s->tether_cap);
    free_arrays(s, nodes, NODE_ARRAYS, s->node_cap);
    free_arrays(s, tris, TRI_ARRAYS, s->tri_cap);
    free_arrays(s, edges, EDGE_ARRAYS, s->edge_cap);
    free_arrays(s, hinges, HINGE_ARRAYS, s->hinge_cap);
    TL_FREE(&alloc, s->order, s->order_cap);
    TL_FREE(&alloc, s->plane, s->plane_cap);
    tl_free_bytes(&alloc, s->color, (size_t)s->order_cap, 1);
    TL_FREE(&alloc, s, 1);
}

static tl_status reserve(tl_springs *s, const tl_springs_mesh *m, int32_t hinges, tl_error *err)
{
    array nodes[NODE_ARRAYS], tris[TRI_ARRAYS], edges[EDGE_ARRAYS], bends[HINGE_ARRAYS], tethers[TETHER_ARRAYS];
    node_arrays(s, nodes), tri_arrays(s, tris), edge_arrays(s, edges), hinge_arrays(s, bends);
    tether_arrays(s, tethers);
    s->node_count = s->tri_count = s->edge_count = s->hinge_count = s->tether_count = 0;
    const array sorting[2] = {ARRAY(s->order), ARRAY(s->color)};
    if (!grow_arrays(s, nodes, NODE_ARRAYS, &s->node_cap, m->node_count) ||
        !grow_arrays(s, tris, TRI_ARRAYS, &s->tri_cap, m->tri_count) ||
        !grow_arrays(s, edges, EDGE_ARRAYS, &s->edge_cap, m->edge_count) ||
        !grow_arrays(s, bends, HINGE_ARRAYS, &s->hinge_cap, hinges) ||
        !grow_arrays(s, tethers, TETHER_ARRAYS, &s->tether_cap, m->tether_count) ||
        !grow_arrays(s, sorting, 2, &s->order_cap, m->edge_count > m->tether_count ? m->edge_count : m->tether_count))
        return tl_fail_memory(err, "springs");
    return TL_OK;
}

static tl_status take_tris(tl_springs *s, const tl_springs_mesh *m, tl_error *err)
{
    for (int32_t i = 0; i < m->node_count; i++) s->mass[i] = 0;
    s->area = 0;
    for (int32_t t = 0; t < m->tri_count; t++) {
        const tl_vec2 *uv = m->uv[t];
        const double area = 0.5 * tl_cross2(tl_sub2(uv[1], uv[0]), tl_sub2(uv[2], uv[0]));
        const int32_t label = m->label ? m->label[t] : 0;
        if (!(area > 0)) return tl_fail(err, TL_BAD_INPUT, "springs: triangle %d has an area of %g m^2", t, area);
        if (label < 0 || label >= m->fabric_count)
            return tl_fail(err, TL_BAD_INPUT, "springs: triangle %d is made of fabric %d of %d", t, label,
                           m->fabric_count);
        s->tri_area[t] = area, s->area += area;
        memcpy(s->tri[t], m->tri[t], sizeof s->tri[t]);
        for (int k = 0; k < 3; k++) s->mass[m->tri[t][k]] += m->fabric[label].density * area / 3;
    }
    for (int32_t i = 0; i < m->node_count; i++)
        if (!(s->mass[i] > 0)) return tl_fail(err, TL_BAD_INPUT, "springs: node %d belongs to no triangle", i);
    return TL_OK;
}

/// An edge seen from one of its triangles: where it starts, ends and what is opposite, counter-clockwise.
typedef struct side {
    tl_vec2 from, to, tip;
    int32_t opposite;
    const tl_material *fabric;
    double area;
} side;

static side side_of(const tl_springs *s, const tl_springs_mesh *m, int32_t e, int which)
{
    const int32_t t = m->edge_tri[e][which], a = m->edge[e][0], b = m->edge[e][1];
    side out = {.fabric = &m->fabric[m->label ? m->label[t] : 0], .area = s->tri_area[t]};
    for (int k = 0; k < 3; k++) {
        const int32_t v = m->tri[t][k];
        if (v == a)
            out.from = m->uv[t][k];
        else if (v == b)
            out.to = m->uv[t][k];
        else
            out.tip = m->uv[t][k], out.opposite = v;
    }
    return out;
}

// What a strain of 1 along a direction stores is half of this per area [N/m].
static double stiffness_along(const tl_material *f, tl_vec2 d)
{
    const double n = tl_dot2(d, d), c = d.x * d.x / n, s = d.y * d.y / n;
    const double *k = f->stretch[0];
    return k[0] * c * c + k[2] * s * s + (2 * k[1] + k[3]) * c * s;
}

// Rigidity for folds along a direction: the table has those at 0, 45 and 90 degrees to the warp.
static double rigidity_along(const tl_material *f, tl_vec2 d)
{
    const double turn = fabs(atan2(d.y, d.x)), angle = turn > 1.5707963267948966 ? 3.141592653589793 - turn : turn,
                 at = angle / 0.7853981633974483;
    const int row = at < 1 ? 0 : 1;
    const double t = at - row;
    return (1 - t) * f->bend[row][0] + t * f->bend[row + 1][0];
}

static void take_edge(tl_springs *s, const tl_springs_mesh *m, int32_t e, int32_t to)
{
    double length = 0, k = 0;
    const int sides = m->edge_tri[e][1] >= 0 ? 2 : 1;
    for (int i = 0; i < sides; i++) {
        const side half = side_of(s, m, e, i);
        const tl_vec2 d = tl_sub2(half.to, half.from);
        length += tl_norm2(d) / sides;  // across a seam: the mean of both sides
        k += SHARE_OF_EDGES * stiffness_along(half.fabric, d) * half.area;
    }
    s->edge[to][0] = m->edge[e][0], s->edge[to][1] = m->edge[e][1];
    s->rest[to] = length;
    s->stiffness[to] = k / (length * length);
    s->level[to] = m->edge_level ? m->edge_level[e] : 0;
}

static double cotangent(tl_vec2 at, tl_vec2 p, tl_vec2 q)
{
    const tl_vec2 a = tl_sub2(p, at), b = tl_sub2(q, at);
    return tl_dot2(a, b) / fabs(tl_cross2(a, b));
}

// Bergou et al. 2006: E = 1/2 k |w . x|^2, w by cotangents of the angles at the ends of the edge; for small folds that
// is 1/2 k (length times angle)^2. Their k = 3 B / (A_l + A_r) stores three times what a plate does when it is rolled
// to a cylinder, in equilateral meshes in any direction and in grids along the sides: hence the plain B. Angles of each
// side are taken in its own panel: across a seam that is the two sides laid out flat beside each other.
static void take_hinge(tl_springs *s, const tl_springs_mesh *m, int32_t e, int32_t to)
{
    const side half[2] = {side_of(s, m, e, 0), side_of(s, m, e, 1)};
    double at_a = 0, at_b = 0, tip[2], rigidity = 0, height = 0, foot[2];
    for (int i = 0; i < 2; i++) {
        const double ca = cotangent(half[i].from, half[i].to, half[i].tip),
                     cb = cotangent(half[i].to, half[i].from, half[i].tip);
        const tl_vec2 d = tl_sub2(half[i].to, half[i].from), up = tl_sub2(half[i].tip, half[i].from);
        const double length = tl_norm2(d);
        at_a += ca, at_b += cb, tip[i] = -(ca + cb);
        rigidity += 0.5 * rigidity_along(half[i].fabric, d);
        foot[i] = tl_dot2(up, d) / length - 0.5 * length;  // from the middle, as the sides are joined there
        height += fabs(tl_cross2(d, up)) / length;
    }
    const double weight[4] = {at_b, at_a, tip[0], tip[1]};
    memcpy(s->weight[to], weight, sizeof weight);
    const int32_t nodes[4] = {m->edge[e][0], m->edge[e][1], half[0].opposite, half[1].opposite};
    memcpy(s->hinge[to], nodes, sizeof nodes);
    s->bend[to] = rigidity / (half[0].area + half[1].area);
    s->span[to] = hypot(height, foot[0] - foot[1]);
}

// The lowest colour that none of the nodes has yet; false: there is none left.
static bool pick_color(uint64_t *used, const int32_t *nodes, int count, uint8_t *color)
{
    uint64_t taken = 0;
    for (int i = 0; i < count; i++) taken |= used[nodes[i]];
    if (taken == UINT64_MAX) return false;
    *color = (uint8_t)__builtin_ctzll(~taken);
    for (int i = 0; i < count; i++) used[nodes[i]] |= UINT64_C(1) << *color;
    return true;
}

// Places of elements when sorted by colour, in order[]; < 0: not one.
static void sort_by_color(const uint8_t *color, int32_t count, int32_t *order, tl_springs_colors *out)
{
    int32_t next[TL_SPRINGS_COLORS + 1] = {0};
    out->count = 0;
    for (int32_t i = 0; i < count; i++)
        if (order[i] >= 0) next[color[i] + 1]++;
    for (int c = 0; c < TL_SPRINGS_COLORS; c++) {
        if (next[c + 1] > 0) out->count = c + 1;
        next[c + 1] += next[c];
        out->start[c] = next[c];
    }
    out->start[TL_SPRINGS_COLORS] = next[TL_SPRINGS_COLORS];
    for (int32_t i = 0; i < count; i++)
        if (order[i] >= 0) order[i] = next[color[i]]++;
}

static tl_status color_edges(tl_springs *s, const tl_springs_mesh *m, tl_error *err)
{
    memset(s->used, 0, (size_t)m->node_count * sizeof *s->used);
    for (int32_t e = 0; e < m->edge_count; e++) {
        s->order[e] = e;
        if (!pick_color(s->used, m->edge[e], 2, &s->color[e]))
            return tl_fail(err, TL_BAD_INPUT, "springs: more than %d edges meet near node %d", TL_SPRINGS_COLORS / 2,
                           m->edge[e][0]);
    }
    sort_by_color(s->color, m->edge_count, s->order, &s->edge_colors);
    for (int32_t e = 0; e < m->edge_count; e++) take_edge(s, m, e, s->order[e]);
    s->edge_count = m->edge_count;
    return TL_OK;
}

static tl_status color_tethers(tl_springs *s, const tl_springs_mesh *m, tl_error *err)
{
    memset(s->used, 0, (size_t)m->node_count * sizeof *s->used);
    for (int32_t e = 0; e < m->tether_count; e++) {
        s->order[e] = e;
        if (!pick_color(s->used, m->tether[e], 2, &s->color[e]))
            return tl_fail(err, TL_BAD_INPUT, "springs: more than %d tethers meet near node %d", TL_SPRINGS_COLORS / 2,
                           m->tether[e][0]);
    }
    sort_by_color(s->color, m->tether_count, s->order, &s->tether_colors);
    for (int32_t e = 0; e < m->tether_count; e++) {
        memcpy(s->tether[s->order[e]], m->tether[e], sizeof *s->tether);
        s->tether_rest[s->order[e]] = m->tether_rest[e];
    }
    s->tether_count = m->tether_count;
    return TL_OK;
}

static int32_t opposite_of(const tl_springs_mesh *m, int32_t e, int which)
{
    const int32_t *v = m->tri[m->edge_tri[e][which]];
    for (int k = 0; k < 2; k++)
        if (v[k] != m->edge[e][0] && v[k] != m->edge[e][1]) return v[k];
    return v[2];
}

static tl_status color_hinges(tl_springs *s, const tl_springs_mesh *m, int32_t count, tl_error *err)
{
    memset(s->used, 0, (size_t)m->node_count * sizeof *s->used);
    for (int32_t e = 0; e < m->edge_count; e++) {
        s->order[e] = -1, s->color[e] = 0;
        if (m->edge_tri[e][1] < 0) continue;
        const int32_t nodes[4] = {m->edge[e][0], m->edge[e][1], opposite_of(m, e, 0), opposite_of(m, e, 1)};
        if (nodes[2] == nodes[3]) continue;  // a triangle folded onto its neighbour along two edges
        s->order[e] = e;
        if (!pick_color(s->used, nodes, 4, &s->color[e]))
            return tl_fail(err, TL_BAD_INPUT, "springs: more than %d hinges meet near node %d", TL_SPRINGS_COLORS,
                           nodes[0]);
    }
    sort_by_color(s->color, m->edge_count, s->order, &s->hinge_colors);
    s->hinge_count = s->hinge_colors.start[TL_SPRINGS_COLORS];
    for (int32_t e = 0; e < m->edge_count; e++)
        if (s->order[e] >= 0) take_hinge(s, m, e, s->order[e]);
    (void)count;
    return TL_OK;
}

static void count_rates(tl_springs *s)
{
    memset(s->bend_rates, 0, sizeof s->bend_rates);
    for (int32_t i = 0; i < s->hinge_count; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) sum += s->weight[i][k] * s->weight[i][k] / s->mass[s->hinge[i][k]];
        int power;
        frexp(s->bend[i] * sum, &power);
        s->bend_rates[power < 1 ? 0 : power > TL_SPRINGS_RATES ? TL_SPRINGS_RATES - 1 : power - 1]++;
    }
}

tl_status tl_springs_set_mesh(tl_springs *s, const tl_springs_mesh *m, tl_error *err)
{
    if (m->node_count < 1 || m->tri_count < 1 || m->fabric_count < 1)
        return tl_fail(err, TL_BAD_ARG, "springs: %d nodes, %d triangles, %d fabrics", m->node_count, m->tri_count,
                       m->fabric_count);
    int32_t hinges = 0;
    for (int32_t e = 0; e < m->edge_count; e++) hinges += m->edge_tri[e][1] >= 0;
    TL_TRY(reserve(s, m, hinges, err));
    TL_TRY(take_tris(s, m, err));
    TL_TRY(color_edges(s, m, err));
    TL_TRY(color_tethers(s, m, err));
    TL_TRY(color_hinges(s, m, hinges, err));
    s->node_count = m->node_count, s->tri_count = m->tri_count;
    count_rates(s);
    s->bend_damping = 0;
    for (int32_t f = 0; f < m->fabric_count; f++) s->bend_damping = fmax(s->bend_damping, m->fabric[f].damping_bend);
    for (int32_t i = 0; i < s->node_count; i++) s->inv_mass[i] = -1;  // not known yet
    tl_springs_hold(s, NULL);
    return TL_OK;
}

void tl_springs_hold(tl_springs *s, const uint8_t *held)
{
    for (int32_t i = 0; i < s->node_count; i++) {
        const uint8_t now = held ? held[i] != 0 : 0;
        if (now == s->held[i] && s->inv_mass[i] >= 0) continue;
        s->held[i] = now, s->inv_mass[i] = now ? 0 : 1 / s->mass[i];
        s->settings_valid = false;
    }
}

double (*tl_springs_pos(tl_springs *s))[4] { return s->pos; }
double (*tl_springs_vel(tl_springs *s))[4] { return s->vel; }
const double *tl_springs_mass(const tl_springs *s) { return s->mass; }
int32_t tl_springs_edges(const tl_springs *s) { return s->edge_count; }
const double *tl_springs_tri_area(const tl_springs *s) { return s->tri_area; }
