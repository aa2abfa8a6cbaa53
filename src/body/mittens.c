// body/mittens.c: which vertices belong to a hand, and the convex hull around them.
//
// The hull grows point by point: faces that see a point go, and the border of what they leave is joined to it. Points
// in one plane would leave borders that are no simple loop, so for this all are moved by a random micrometre at most,
// which is far more than rounding. Its faces join vertices of the surface and move with them.

#include "body/mittens.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/retarget.h"
#include "math/vec3.h"

#define LEAST_DEPTH 1e-4  // [m] of a hand
#define NOISE 1e-6        // [m]
enum { FEWEST = 12 };     // vertices of a hand that is worth it

typedef struct hull {
    const tl_allocator *alloc;
    const tl_vec3 *x;
    int32_t (*face)[3];
    int32_t count, cap;
    int32_t (*edge)[2];  // of what faces that see a point leave, and scratch
    int32_t edge_count, edge_cap;
} hull;

static double above(const hull *h, const int32_t f[3], tl_vec3 p)
{
    const tl_vec3 a = h->x[f[0]], n = tl_cross3(tl_sub3(h->x[f[1]], a), tl_sub3(h->x[f[2]], a));
    return tl_dot3(n, tl_sub3(p, a));
}

static bool add_face(hull *h, int32_t a, int32_t b, int32_t c)
{
    if (!TL_GROW(h->alloc, h->face, h->cap, h->count + 1)) return false;
    int32_t *f = h->face[h->count++];
    f[0] = a, f[1] = b, f[2] = c;
    return true;
}

// An edge that comes once in either direction lies between two faces that go.
static bool add_edge(hull *h, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < h->edge_count; i++)
        if (h->edge[i][0] == b && h->edge[i][1] == a) {
            memcpy(h->edge[i], h->edge[--h->edge_count], sizeof *h->edge);
            return true;
        }
    if (!TL_GROW(h->alloc, h->edge, h->edge_cap, h->edge_count + 1)) return false;
    h->edge[h->edge_count][0] = a, h->edge[h->edge_count++][1] = b;
    return true;
}

static bool add_point(hull *h, int32_t p)
{
    int32_t kept = 0;
    h->edge_count = 0;
    for (int32_t f = 0; f < h->count; f++) {
        const int32_t *c = h->face[f];
        if (above(h, c, h->x[p]) > 0) {
            for (int k = 0; k < 3; k++)
                if (!add_edge(h, c[k], c[(k + 1) % 3])) return false;
        } else {
            memmove(h->face[kept++], c, sizeof *h->face);
        }
    }
    h->count = kept;
    for (int32_t e = 0; e < h->edge_count; e++)
        if (!add_face(h, h->edge[e][0], h->edge[e][1], p)) return false;
    return true;
}

// The four points to begin with: the two farthest along x, then farthest from their line, then from the plane.
static bool first_four(const hull *h, const int32_t *list, int32_t n, int32_t out[4])
{
    double best[2] = {0, 0};
    out[0] = out[1] = out[2] = out[3] = list[0];
    for (int32_t i = 0; i < n; i++) {
        if (h->x[list[i]].x < h->x[out[0]].x) out[0] = list[i];
        if (h->x[list[i]].x > h->x[out[1]].x) out[1] = list[i];
    }
    const tl_vec3 a = h->x[out[0]], along = tl_sub3(h->x[out[1]], a);
    for (int32_t i = 0; i < n; i++) {
        const double off = tl_norm3(tl_cross3(along, tl_sub3(h->x[list[i]], a)));
        if (off > best[0]) best[0] = off, out[2] = list[i];
    }
    for (int32_t i = 0; i < n; i++) {
        const double off = fabs(above(h, out, h->x[list[i]]));
        if (off > best[1]) best[1] = off, out[3] = list[i];
    }
    return best[0] > 0 && best[1] > best[0] * LEAST_DEPTH;  // heights times twice the area of three of the points
}

// Every edge once in either direction?
static bool is_closed(const hull *h)
{
    for (int32_t f = 0; f < h->count; f++)
        for (int k = 0; k < 3; k++) {
            int found = 0;
            for (int32_t g = 0; g < h->count; g++)
                for (int j = 0; j < 3; j++)
                    found += h->face[g][j] == h->face[f][(k + 1) % 3] && h->face[g][(j + 1) % 3] == h->face[f][k];
            if (found != 1) return false;
        }
    return h->count >= 4;
}

static bool make_hull(hull *h, const int32_t *list, int32_t n, bool *made)
{
    int32_t t[4];
    h->count = 0, *made = false;
    if (!first_four(h, list, n, t)) return true;
    const bool up = above(h, t, h->x[t[3]]) > 0;
    const int32_t a = t[0], b = up ? t[2] : t[1], c = up ? t[1] : t[2], d = t[3];
    if (!add_face(h, a, b, c) || !add_face(h, b, a, d) || !add_face(h, c, b, d) || !add_face(h, a, c, d)) return false;
    for (int32_t i = 0; i < n; i++)
        if (list[i] != a && list[i] != b && list[i] != c && list[i] != d && !add_point(h, list[i])) return false;
    *made = is_closed(h);
    return true;
}

// The same for the same vertex, whatever the order.
static tl_vec3 noise(int32_t v)
{
    double out[3];
    for (int k = 0; k < 3; k++) {
        uint64_t h = (uint64_t)v * 3 + (uint64_t)k + 1;
        h *= UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 31, h *= UINT64_C(0xbf58476d1ce4e5b9), h ^= h >> 29;
        out[k] = NOISE * (2 * ((double)(h >> 11) / 9007199254740992.0) - 1);
    }
    return (tl_vec3){out[0], out[1], out[2]};
}

// The topmost joint above `node`, itself included, that is a hand or the toes; -1: none.
static int32_t extremity_of(const tl_character *c, int32_t node)
{
    int32_t found = -1;
    for (; node >= 0; node = c->node[node].parent) {
        int side;
        const tl_bone bone = tl_bone_of(c->node[node].name, &side);
        if (bone == TL_BONE_HAND || bone == TL_BONE_TOE) found = node;
    }
    return found;
}

tl_status tl_character_mittens(const tl_allocator *alloc, const tl_character *c, const tl_vec3 *rest,
                               int32_t (**face)[3], int32_t *count, tl_error *err)
{
    const int32_t n = tl_character_vert_count(c), nodes = tl_character_node_count(c);
    tl_vec3 *x = TL_ALLOC(alloc, tl_vec3, n);
    hull h = {.alloc = alloc, .x = x};
    int32_t *of = TL_ALLOC(alloc, int32_t, n), *list = TL_ALLOC(alloc, int32_t, n), cap = 0;
    bool allocated = x && of && list, made;
    *face = NULL, *count = 0;
    for (int32_t v = 0; allocated && v < n; v++) x[v] = tl_add3(rest[v], noise(v));
    for (int32_t v = 0; allocated && v < n; v++) of[v] = extremity_of(c, tl_character_vert_node(c, v));
    for (int32_t node = 0; allocated && node < nodes; node++) {
        int32_t members = 0;
        for (int32_t v = 0; v < n; v++)
            if (of[v] == node) list[members++] = v;
        if (members < FEWEST) continue;
        allocated = make_hull(&h, list, members, &made);
        if (!allocated || !made) continue;
        int32_t(*all)[3] = tl_resize_bytes(alloc, *face, (size_t)cap, (size_t)(*count + h.count), sizeof *all);
        allocated = all != NULL;
        if (!allocated) break;
        memcpy(all + *count, h.face, (size_t)h.count * sizeof *all);
        *face = all, *count += h.count, cap = *count;
    }
    TL_FREE(alloc, x, n);
    TL_FREE(alloc, of, n);
    TL_FREE(alloc, list, n);
    TL_FREE(alloc, h.face, h.cap);
    TL_FREE(alloc, h.edge, h.edge_cap);
    if (allocated) return TL_OK;
    TL_FREE(alloc, *face, cap);
    *face = NULL, *count = 0;
    return tl_fail_memory(err, "hands");
}
