// dress/openings.c: borders of a garment as closed lines, and how often they go around the limbs.
//
// A limb's line runs from the trunk to its tip and on to a point far behind everybody. Two such lines make a closed
// curve through the trunk, and the number of times that an opening goes around it is the number of signed crossings of
// that curve with any surface that the opening bounds: here the fan of triangles from its middle. So the crossings of
// one limb's line mean nothing by themselves, their differences do not depend on the surface. Signs are exact.

#include "dress/openings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/predicates.h"
#include "math/vec3.h"
#include "mesh/edges.h"

#define FAR 50.0      // [m] beyond what anybody wears
#define EMPTY 0.2     // [m] an opening around nothing that is shorter may be meant (a buttonhole, a keyhole)
#define NEAR_BY 0.35  // [m] a limb that an opening may have missed
enum { LINE_POINTS = TL_FIGURE_POINTS + 4, PANELS_OF = 32 };

typedef struct borders {
    const tl_garment *g;
    int32_t (*face)[3];  // by node
    int32_t (*edge)[2];
    int32_t (*face_edge)[3];
    int32_t *uses, *first;  // per edge: faces, and where they are listed
    int32_t *of_edge;       // faces of edges, in order
    int32_t edge_count;
    uint8_t *seen;  // per edge
    int32_t *loop, *loop_panel;
    int32_t loop_count;
} borders;

static tl_status prepare(borders *b, tl_error *err)
{
    const tl_garment *g = b->g;
    const tl_allocator *a = &g->alloc;
    b->face = tl_alloc_bytes(a, (size_t)g->face_count, sizeof *b->face);
    b->face_edge = tl_alloc_bytes(a, (size_t)g->face_count, sizeof *b->face_edge);
    if (!b->face || !b->face_edge) return tl_fail_memory(err, "openings");
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) b->face[f][k] = g->vert_node[g->face[f][k]];
    TL_TRY(
        tl_unique_edges(a, (const int32_t(*)[3])b->face, g->face_count, &b->edge, &b->edge_count, b->face_edge, err));
    b->uses = TL_CALLOC(a, int32_t, b->edge_count);
    b->first = TL_CALLOC(a, int32_t, b->edge_count + 1);
    b->of_edge = TL_ALLOC(a, int32_t, 3 * g->face_count);
    b->seen = TL_CALLOC(a, uint8_t, b->edge_count);
    b->loop = TL_ALLOC(a, int32_t, b->edge_count), b->loop_panel = TL_ALLOC(a, int32_t, b->edge_count);
    if (!b->uses || !b->first || !b->of_edge || !b->seen || !b->loop || !b->loop_panel)
        return tl_fail_memory(err, "openings");
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) b->first[b->face_edge[f][k] + 1]++;
    for (int32_t e = 0; e < b->edge_count; e++) b->first[e + 1] += b->first[e];
    for (int32_t f = 0; f < g->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t e = b->face_edge[f][k];
            b->of_edge[b->first[e] + b->uses[e]++] = f;
        }
    return TL_OK;
}

static void release(borders *b)
{
    const tl_allocator *a = &b->g->alloc;
    const int32_t faces = b->g->face_count, n = b->edge_count;
    TL_FREE(a, b->face, faces);
    TL_FREE(a, b->face_edge, faces);
    TL_FREE(a, b->edge, n);
    TL_FREE(a, b->uses, n);
    TL_FREE(a, b->first, n + 1);
    TL_FREE(a, b->of_edge, 3 * faces);
    TL_FREE(a, b->seen, n);
    TL_FREE(a, b->loop, n);
    TL_FREE(a, b->loop_panel, n);
}

// The other edge of a face at a node.
static int32_t other_edge(const borders *b, int32_t f, int32_t edge, int32_t node)
{
    for (int k = 0; k < 3; k++) {
        const int32_t e = b->face_edge[f][k];
        if (e != edge && (b->edge[e][0] == node || b->edge[e][1] == node)) return e;
    }
    return -1;
}

// The border goes on with the next edge of one face around the node, so loops that touch in a node stay apart.
static int32_t next_border(const borders *b, int32_t edge, int32_t node, int32_t *face)
{
    int32_t f = *face, e = edge;
    for (int32_t i = 0; i < 1000; i++) {
        e = other_edge(b, f, e, node);
        if (e < 0) return -1;
        *face = f;
        if (b->uses[e] == 1) return e;
        int32_t k = b->first[e];
        while (k < b->first[e + 1] && b->of_edge[k] == f) k++;
        if (k == b->first[e + 1]) return -1;
        f = b->of_edge[k];
    }
    return -1;
}

// The nodes of the border that begins with this edge, and the panel at each; false if it does not close.
static bool walk(borders *b, int32_t start)
{
    int32_t e = start, f = b->of_edge[b->first[start]], node = b->edge[start][1];
    b->loop_count = 0;
    do {
        b->seen[e] = 1;
        b->loop_panel[b->loop_count] = b->g->face_panel[f];
        b->loop[b->loop_count++] = node;
        e = next_border(b, e, node, &f);
        if (e < 0 || (b->seen[e] && e != start)) return false;
        node = b->edge[e][0] == node ? b->edge[e][1] : b->edge[e][0];
    } while (e != start && b->loop_count < b->edge_count);
    return e == start;
}

// ---- winding ------------------------------------------------------------------------------------------------

static int32_t line_of(const tl_figure *f, int limb, tl_vec3 line[LINE_POINTS])
{
    const tl_limb_line *l = &f->limb[limb];
    int32_t n = 0;
    if (l->count == 0) return 0;
    line[n++] = f->trunk;
    for (int32_t i = 0; i < l->count; i++) line[n++] = l->at[i];
    const tl_vec3 on = limb == TL_LIMB_HEAD       ? (tl_vec3){0, 1, 0}
                       : limb >= TL_LIMB_LEFT_LEG ? (tl_vec3){0, -1, 0}
                       : tl_dot3(l->at[l->count - 1], l->at[l->count - 1]) > 0
                           ? tl_unit3_or(tl_sub3(l->at[l->count - 1], l->at[l->count - 2 > 0 ? l->count - 2 : 0]),
                                         (tl_vec3){limb == TL_LIMB_LEFT_ARM ? 1 : -1, 0, 0})
                           : (tl_vec3){limb == TL_LIMB_LEFT_ARM ? 1 : -1, 0, 0};
    line[n] = tl_madd3(line[n - 1], FAR, on), n++;
    line[n++] = (tl_vec3){f->trunk.x, f->trunk.y, f->trunk.z - 4 * FAR};
    return n;
}

static int side_of(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *d)
{
    return tl_orient3d(a, b, c, d) >= 0 ? 1 : -1;
}

// +1 or -1 if the way from p to q passes the triangle, by the side that it comes from.
static int32_t pass(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *p, const tl_vec3 *q)
{
    const int from = side_of(a, b, c, p);
    if (from == side_of(a, b, c, q)) return 0;
    const int u = side_of(p, q, a, b), v = side_of(p, q, b, c), w = side_of(p, q, c, a);
    return u == v && v == w ? from : 0;
}

static int32_t crossings(const borders *b, tl_vec3 middle, const tl_vec3 *line, int32_t points)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < b->loop_count; i++) {
        const tl_vec3 *x = &b->g->pos[b->loop[i]], *y = &b->g->pos[b->loop[(i + 1) % b->loop_count]];
        for (int32_t k = 0; k + 1 < points; k++) sum += pass(&middle, x, y, &line[k], &line[k + 1]);
    }
    return sum;
}

static void count_turns(const borders *b, const tl_figure *figure, tl_opening *o)
{
    int32_t least = INT32_MAX;
    for (int l = 0; l < TL_LIMBS; l++) {
        tl_vec3 line[LINE_POINTS];
        const int32_t n = line_of(figure, l, line);
        o->turns[l] = n > 0 ? crossings(b, o->middle, line, n) : INT32_MIN;
        if (n > 0 && o->turns[l] < least) least = o->turns[l];
    }
    o->most = 0;
    for (int l = 0; l < TL_LIMBS; l++) {
        o->turns[l] = o->turns[l] == INT32_MIN ? 0 : o->turns[l] - least;
        if (o->turns[l] > o->most) o->most = o->turns[l];
    }
}

static tl_opening describe(const borders *b, const tl_figure *figure)
{
    tl_opening o = {.panel = {-1, -1}};
    double share[PANELS_OF] = {0};
    int32_t panel[PANELS_OF], panels = 0;
    for (int32_t i = 0; i < b->loop_count; i++) {
        const tl_vec3 x = b->g->pos[b->loop[i]], y = b->g->pos[b->loop[(i + 1) % b->loop_count]];
        const double way = tl_norm3(tl_sub3(y, x));
        o.length += way, o.middle = tl_madd3(o.middle, 0.5 * way, tl_add3(x, y));
        int32_t k = 0;
        while (k < panels && panel[k] != b->loop_panel[i]) k++;
        if (k == panels && panels < PANELS_OF) panel[panels++] = b->loop_panel[i];
        if (k < panels) share[k] += way;
    }
    if (o.length > 0) o.middle = tl_mul3(1 / o.length, o.middle);
    for (int rank = 0; rank < 2; rank++) {
        int32_t best = -1;
        for (int32_t k = 0; k < panels; k++)
            if (panel[k] != o.panel[0] && (best < 0 || share[k] > share[best])) best = k;
        if (best >= 0) o.panel[rank] = panel[best];
    }
    count_turns(b, figure, &o);
    return o;
}

tl_status tl_garment_openings(const tl_garment *g, const tl_figure *figure, tl_opening *out, int32_t cap,
                              int32_t *count, tl_error *err)
{
    borders b = {.g = g};
    *count = 0;
    const tl_status status = prepare(&b, err);
    for (int32_t e = 0; status == TL_OK && e < b.edge_count; e++) {
        if (b.uses[e] != 1 || b.seen[e] || !walk(&b, e)) continue;
        tl_opening o = describe(&b, figure);
        int32_t at = *count < cap ? (*count)++ : cap;
        for (; at > 0 && out[at - 1].length < o.length; at--)
            if (at < cap) out[at] = out[at - 1];
        if (at < cap) out[at] = o;
    }
    release(&b);
    return status;
}

// ---- what is wrong ------------------------------------------------------------------------------------------

// The limbs that it goes around, as bits: of the two ways to see it that with fewer of them.
static unsigned around(const tl_opening *o, const tl_figure *f)
{
    unsigned set = 0, all = 0;
    int count = 0, total = 0;
    for (int l = 0; l < TL_LIMBS; l++) {
        if (f->limb[l].count == 0) continue;
        all |= 1u << l, total++;
        if (o->turns[l] == o->most && o->most > 0) set |= 1u << l, count++;
    }
    return 2 * count > total || (2 * count == total && (set & 1u)) ? all & ~set : set;
}

static const char *name_of(const tl_pattern *p, int32_t panel)
{
    const tl_panel *found = panel >= 0 ? tl_pattern_panel(p, panel) : NULL;
    return found ? found->name : "";
}

static void list_limbs(unsigned set, char out[120])
{
    size_t n = 0;
    out[0] = 0;
    for (int l = 0; l < TL_LIMBS; l++) {
        if (!(set >> l & 1)) continue;
        n += (size_t)snprintf(out + n, 120 - n, "%s%s", n > 0 ? " and " : "", tl_limb_name((tl_limb)l));
    }
}

static double distance_to(const tl_limb_line *l, tl_vec3 p)
{
    double best = (double)INFINITY;
    for (int32_t i = 0; i + 1 < l->count; i++) {
        const tl_vec3 d = tl_sub3(l->at[i + 1], l->at[i]), r = tl_sub3(p, l->at[i]);
        const double dd = tl_dot3(d, d), t = dd > 0 ? fmin(fmax(tl_dot3(r, d) / dd, 0), 1) : 0;
        best = fmin(best, tl_norm3(tl_sub3(r, tl_mul3(t, d))));
    }
    return best;
}

// The nearest arm or leg that no opening goes around by itself.
static int missed(const tl_opening *list, int32_t count, const tl_figure *f, const tl_opening *o)
{
    int best = -1;
    double least = NEAR_BY;
    for (int l = TL_LIMB_LEFT_ARM; l < TL_LIMBS; l++) {
        bool worn = f->limb[l].count == 0;
        for (int32_t i = 0; i < count; i++) worn = worn || around(&list[i], f) == 1u << l;
        const double d = worn ? least : distance_to(&f->limb[l], o->middle);
        if (d < least) best = l, least = d;
    }
    return best;
}

static bool judge(const tl_opening *list, int32_t count, const tl_figure *f, const tl_pattern *p, int32_t i, char *out,
                  size_t size)
{
    const tl_opening *o = &list[i];
    const unsigned set = around(o, f), legs = 1u << TL_LIMB_LEFT_LEG | 1u << TL_LIMB_RIGHT_LEG;
    const bool one_leg = f->has_legs && (set & legs) != 0 && (set & legs) != legs;
    const char *a = name_of(p, o->panel[0]), *b = name_of(p, o->panel[1]);
    char limbs[120];
    list_limbs(set, limbs);
    if (o->most == 0 && o->length > EMPTY) {
        const int limb = missed(list, count, f, o);
        if (limb >= 0)
            snprintf(out, size,
                     "sewn beside the %s: the opening of %.40s%s%.40s (%.2f m) does not go around it; place these "
                     "panels further around the %s",
                     tl_limb_name((tl_limb)limb), a, *b ? " and " : "", b, o->length, tl_limb_name((tl_limb)limb));
        else
            snprintf(out, size, "the opening of %.40s%s%.40s (%.2f m) goes around no part of the body", a,
                     *b ? " and " : "", b, o->length);
        return limb >= 0;
    }
    if (o->most > 1)
        return snprintf(out, size,
                        "the opening of %.40s%s%.40s is wound %d times around %s: sewn through each other; place its "
                        "panels apart",
                        a, *b ? " and " : "", b, o->most, limbs),
               true;
    if (o->most == 1 && one_leg && (set & (set - 1)) != 0)
        return snprintf(out, size,
                        "the opening of %.40s%s%.40s goes around %s: something is sewn on the wrong side; place these "
                        "panels nearer to where they are worn",
                        a, *b ? " and " : "", b, limbs),
               true;
    return false;
}

// All of it on one arm or leg.
static unsigned single_limb(const tl_opening *list, int32_t count, const tl_figure *f)
{
    unsigned all = 0;
    for (int32_t i = 0; i < count; i++) all |= around(&list[i], f);
    const bool single = all != 0 && (all & (all - 1)) == 0 && (all & 1u << TL_LIMB_HEAD) == 0;
    return single && !(all == 1u << TL_LIMB_LEFT_LEG && !f->has_legs) ? all : 0;
}

bool tl_openings_fault(const tl_opening *list, int32_t count, const tl_figure *figure, const tl_pattern *pattern,
                       char *out, size_t size)
{
    out[0] = 0;
    for (int32_t i = 0; i < count; i++)
        if (judge(list, count, figure, pattern, i, out, size)) return true;
    const unsigned one = single_limb(list, count, figure);
    if (one && tl_pattern_panel_count(pattern) > 1) {
        char limb[120];
        list_limbs(one, limb);
        snprintf(out, size, "all of it is around the %s: place its panels around the trunk", limb);
        return true;
    }
    out[0] = 0;
    return false;
}
