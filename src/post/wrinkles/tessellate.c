// post/wrinkles/tessellate.c: finer only where heights ask for it.
//
// Kimmerle 2005, sec. 5.4.2: an oracle per edge looks at the part of the height map that belongs to it, a third of each
// face beside it. The thesis splits where the greatest and the least height differ by more than a threshold, which also
// splits slopes that a face follows well; here an edge is split where the height differs from the plane through its
// face's corners. Edges are those of nodes, so both sides of an edge or of a seam get the same answer. With three
// answers a face stays, or becomes two, three or four: the seven cases of the thesis.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "post/wrinkles/wrinkles_impl.h"

enum { LEAST_SAMPLES = 3, MOST_SAMPLES = 12 };  // along an edge
#define SAMPLES_PER_WAVE 6.0

typedef struct pass {
    const tl_wrinkles *w;
    const tl_fine_mesh *m;
    double tolerance;
    int32_t (*edge)[2], (*vert_edge)[2];            ///< of nodes, of vertices
    int32_t (*face_edge)[3], (*face_vert_edge)[3];  ///< [face_count]
    int32_t edge_count, vert_edge_count;
    int32_t *node, *vert;  ///< [.._edge_count] what splits an edge; -1: nothing
    int32_t split_count;
} pass;

static void pass_free(pass *p)
{
    const tl_allocator *a = &p->m->alloc;
    tl_free_bytes(a, p->edge, (size_t)p->edge_count, sizeof *p->edge);
    tl_free_bytes(a, p->vert_edge, (size_t)p->vert_edge_count, sizeof *p->vert_edge);
    tl_free_bytes(a, p->face_edge, (size_t)p->m->face_count, sizeof *p->face_edge);
    tl_free_bytes(a, p->face_vert_edge, (size_t)p->m->face_count, sizeof *p->face_vert_edge);
    TL_FREE(a, p->node, p->edge_count);
    TL_FREE(a, p->vert, p->vert_edge_count);
}

// Does the height over the third of face f at its side k leave the plane through its corners?
static bool asks_for_more(const pass *p, int32_t f, int k, const double corner[3])
{
    const int32_t *v = p->m->vert[f];
    tl_vec2 uv[3];
    for (int i = 0; i < 3; i++) uv[i] = p->m->uv[v[(k + i) % 3]];  // the side runs from 0 to 1
    const double length = tl_norm2(tl_sub2(uv[1], uv[0]));
    const double wanted = ceil(SAMPLES_PER_WAVE * length / p->w->def.ridges.wavelength);
    const int count = (int)fmin(fmax(wanted, LEAST_SAMPLES), MOST_SAMPLES);
    for (int row = 0; row <= count; row++)  // towards the middle of the face
        for (int i = 0; i + row <= count; i++) {
            const double c = row / (3.0 * count), s = (double)i / count + c, b[3] = {1 - s - c, s, c};
            const tl_vec2 at = tl_add2(tl_mul2(b[0], uv[0]), tl_add2(tl_mul2(b[1], uv[1]), tl_mul2(b[2], uv[2])));
            const double plane = b[0] * corner[k] + b[1] * corner[(k + 1) % 3] + b[2] * corner[(k + 2) % 3];
            if (fabs(tl_wrinkles_height(p->w, p->m->source[f], at) - plane) > p->tolerance) return true;
        }
    return false;
}

static tl_status pass_init(pass *p, tl_error *err)
{
    const tl_fine_mesh *m = p->m;
    p->face_edge = tl_alloc_bytes(&m->alloc, (size_t)m->face_count, sizeof *p->face_edge);
    p->face_vert_edge = tl_alloc_bytes(&m->alloc, (size_t)m->face_count, sizeof *p->face_vert_edge);
    if (!p->face_edge || !p->face_vert_edge) return tl_fail_memory(err, "a finer mesh");
    TL_TRY(tl_unique_edges(&m->alloc, (const int32_t(*)[3])m->node, m->face_count, &p->edge, &p->edge_count,
                           p->face_edge, err));
    TL_TRY(tl_unique_edges(&m->alloc, (const int32_t(*)[3])m->vert, m->face_count, &p->vert_edge, &p->vert_edge_count,
                           p->face_vert_edge, err));
    p->node = TL_ALLOC(&m->alloc, int32_t, p->edge_count);
    p->vert = TL_ALLOC(&m->alloc, int32_t, p->vert_edge_count);
    if (!p->node || !p->vert) return tl_fail_memory(err, "a finer mesh");
    for (int32_t e = 0; e < p->edge_count; e++) p->node[e] = -1;
    for (int32_t e = 0; e < p->vert_edge_count; e++) p->vert[e] = -1;
    return TL_OK;
}

static void ask_edges(pass *p)
{
    const tl_fine_mesh *m = p->m;
    for (int32_t f = 0; f < m->face_count; f++) {
        double corner[3];
        for (int k = 0; k < 3; k++) corner[k] = tl_wrinkles_height(p->w, m->source[f], m->uv[m->vert[f][k]]);
        for (int k = 0; k < 3; k++)
            if (p->node[p->face_edge[f][k]] < 0 && asks_for_more(p, f, k, corner)) p->node[p->face_edge[f][k]] = 0;
    }
    for (int32_t e = 0; e < p->edge_count; e++)
        if (p->node[e] == 0) p->node[e] = m->node_count + p->split_count++;
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (p->node[p->face_edge[f][k]] >= 0) p->vert[p->face_vert_edge[f][k]] = 0;
}

// Faces of one face whose sides with middle[k] >= 0 are split; returns how many. `cross`: the quadrangle of two split
// sides is cut from its first corner (else from the first middle).
static int cut(const int32_t c[3], const int32_t middle[3], bool cross, int32_t out[4][3])
{
    int split = 0, k = 0;
    for (int i = 0; i < 3; i++) split += middle[i] >= 0;
    if (split == 1)
        while (middle[k] < 0) k++;
    if (split == 2)
        while (middle[(k + 2) % 3] >= 0) k++;
    const int32_t a = c[k], b = c[(k + 1) % 3], d = c[(k + 2) % 3];
    const int32_t ab = middle[k], bd = middle[(k + 1) % 3], da = middle[(k + 2) % 3];
    int32_t four[4][3] = {{a, b, d}};
    if (split == 1) memcpy(four, (int32_t[2][3]){{a, ab, d}, {ab, b, d}}, 2 * sizeof *four);
    if (split == 2 && cross) memcpy(four, (int32_t[3][3]){{ab, b, bd}, {a, ab, bd}, {a, bd, d}}, 3 * sizeof *four);
    if (split == 2 && !cross) memcpy(four, (int32_t[3][3]){{ab, b, bd}, {a, ab, d}, {ab, bd, d}}, 3 * sizeof *four);
    if (split == 3)
        memcpy(four, (int32_t[4][3]){{a, ab, da}, {b, bd, ab}, {d, da, bd}, {ab, bd, da}}, 4 * sizeof *four);
    memcpy(out, four, sizeof four);
    return split + 1;
}

// Is the first corner nearer to the second middle than the last corner to the first? Of a face with two split sides.
static bool cut_from_corner(const pass *p, int32_t f, const int32_t middle[3])
{
    int k = 0;
    while (k < 2 && middle[(k + 2) % 3] >= 0) k++;
    const int32_t *v = p->m->vert[f];
    const tl_vec2 a = p->m->uv[v[k]], b = p->m->uv[v[(k + 1) % 3]], d = p->m->uv[v[(k + 2) % 3]];
    const tl_vec2 ab = tl_mul2(0.5, tl_add2(a, b)), bd = tl_mul2(0.5, tl_add2(b, d));
    return tl_norm2(tl_sub2(a, bd)) < tl_norm2(tl_sub2(ab, d));
}

static tl_status cut_faces(const pass *p, tl_fine_mesh *out, tl_error *err)
{
    const tl_fine_mesh *m = p->m;
    int64_t faces = 0, verts = m->vert_count;
    for (int32_t f = 0; f < m->face_count; f++) {
        faces++;
        for (int k = 0; k < 3; k++) faces += p->node[p->face_edge[f][k]] >= 0;
    }
    for (int32_t e = 0; e < p->vert_edge_count; e++)
        if (p->vert[e] >= 0) p->vert[e] = (int32_t)verts++;
    if (faces > INT32_MAX / 16) return tl_fail(err, TL_BAD_INPUT, "%lld faces, too many to go on", (long long)faces);
    *out = (tl_fine_mesh){.alloc = m->alloc,
                          .pos = TL_ALLOC(&m->alloc, tl_vec3, m->node_count + p->split_count),
                          .uv = TL_ALLOC(&m->alloc, tl_vec2, verts),
                          .node = tl_alloc_bytes(&m->alloc, (size_t)faces, sizeof *out->node),
                          .vert = tl_alloc_bytes(&m->alloc, (size_t)faces, sizeof *out->vert),
                          .source = TL_ALLOC(&m->alloc, int32_t, faces),
                          .node_count = m->node_count + p->split_count,
                          .vert_count = (int32_t)verts,
                          .face_count = (int32_t)faces};
    if (!out->pos || !out->uv || !out->node || !out->vert || !out->source) {
        tl_fine_mesh_free(out);
        return tl_fail_memory(err, "a finer mesh");
    }
    for (int32_t f = 0, at = 0; f < m->face_count; f++) {
        int32_t node[3], vert[3], pieces[4][3];
        for (int k = 0; k < 3; k++) node[k] = p->node[p->face_edge[f][k]], vert[k] = p->vert[p->face_vert_edge[f][k]];
        const bool cross = cut_from_corner(p, f, node);
        const int count = cut(m->node[f], node, cross, pieces);
        memcpy(&out->node[at], pieces, (size_t)count * sizeof *pieces);
        cut(m->vert[f], vert, cross, pieces);
        memcpy(&out->vert[at], pieces, (size_t)count * sizeof *pieces);
        for (int k = 0; k < count; k++) out->source[at++] = m->source[f];
    }
    return TL_OK;
}

static void place_points(const pass *p, tl_fine_mesh *out)
{
    const tl_fine_mesh *m = p->m;
    if (m->node_count) memcpy(out->pos, m->pos, (size_t)m->node_count * sizeof *out->pos);
    if (m->vert_count) memcpy(out->uv, m->uv, (size_t)m->vert_count * sizeof *out->uv);
    for (int32_t e = 0; e < p->edge_count; e++)
        if (p->node[e] >= 0) out->pos[p->node[e]] = tl_mul3(0.5, tl_add3(m->pos[p->edge[e][0]], m->pos[p->edge[e][1]]));
    for (int32_t e = 0; e < p->vert_edge_count; e++)
        if (p->vert[e] >= 0)
            out->uv[p->vert[e]] = tl_mul2(0.5, tl_add2(m->uv[p->vert_edge[e][0]], m->uv[p->vert_edge[e][1]]));
}

tl_status tl_wrinkles_tessellate(const tl_wrinkles *w, double tolerance, int32_t depth, tl_fine_mesh *mesh,
                                 tl_error *err)
{
    for (int32_t level = 0; level < depth; level++) {
        pass p = {.w = w, .m = mesh, .tolerance = tolerance};
        tl_fine_mesh finer = {0};
        tl_status status = pass_init(&p, err);
        if (status == TL_OK) ask_edges(&p);
        const bool done = p.split_count == 0;
        if (status == TL_OK && !done) status = cut_faces(&p, &finer, err);
        if (status == TL_OK && !done) place_points(&p, &finer);
        pass_free(&p);
        TL_TRY(status);
        if (done) break;
        tl_fine_mesh_free(mesh);
        *mesh = finer;
    }
    return TL_OK;
}
