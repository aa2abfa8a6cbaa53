// post/subdivide.c: topology of the finer mesh, and masks applied to every node.
//
// Border and crease rules use nodes of the line alone, so two patches with a common border stay together. An edge of
// three or more faces counts as a crease. Every new node gathers from its own surroundings: any number of threads gives
// the same bits. O(nodes + faces) apart from one sort of the edges.

#include "post/subdivide.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/vec3.h"

#define STRAIGHT 3.14159265358979323846
#define SHARP (STRAIGHT / 4)  // an outline that turns by more than this has a corner
enum {
    NODES_PER_CHUNK = 1024,
    NONE = -1,
    SEVERAL = -2,
    MOST_VALENCE = 4096,
    MOST_MASK = 64
};  // rings beyond MOST_MASK get edge middles

// ---- meshes ---------------------------------------------------------------------------------------------------

void tl_fine_mesh_free(tl_fine_mesh *mesh)
{
    TL_FREE(&mesh->alloc, mesh->pos, mesh->node_count);
    TL_FREE(&mesh->alloc, mesh->uv, mesh->vert_count);
    TL_FREE(&mesh->alloc, mesh->node, mesh->face_count);
    TL_FREE(&mesh->alloc, mesh->vert, mesh->face_count);
    TL_FREE(&mesh->alloc, mesh->source, mesh->face_count);
    const tl_allocator alloc = mesh->alloc;
    *mesh = (tl_fine_mesh){.alloc = alloc};
}

static tl_status mesh_init(tl_fine_mesh *m, tl_allocator alloc, int32_t nodes, int32_t verts, int32_t faces,
                           tl_error *err)
{
    *m = (tl_fine_mesh){.alloc = alloc, .node_count = nodes, .vert_count = verts, .face_count = faces};
    m->pos = TL_CALLOC_FOR(&alloc, m->pos, nodes);
    m->uv = TL_CALLOC_FOR(&alloc, m->uv, verts);
    m->node = TL_CALLOC_FOR(&alloc, m->node, faces);
    m->vert = TL_CALLOC_FOR(&alloc, m->vert, faces);
    m->source = TL_CALLOC_FOR(&alloc, m->source, faces);
    if (m->pos && m->uv && m->node && m->vert && m->source) return TL_OK;
    tl_fine_mesh_free(m);
    return tl_fail_memory(err, "a finer mesh");
}

tl_status tl_fine_mesh_create(tl_allocator alloc, const tl_fine_input *in, tl_fine_mesh *out, tl_error *err)
{
    const int32_t verts = in->vert ? in->vert_count : in->node_count;
    *out = (tl_fine_mesh){.alloc = alloc};
    for (int32_t f = 0; f < in->face_count; f++)
        for (int k = 0; k < 3; k++) {
            const int32_t n = in->node[f][k], v = in->vert ? in->vert[f][k] : n;
            if (n < 0 || n >= in->node_count || v < 0 || v >= verts || n == in->node[f][(k + 1) % 3])
                return tl_fail(err, TL_BAD_ARG, "subdivide: corner %d of face %d is node %d, vertex %d", k, f, n, v);
        }
    TL_TRY(mesh_init(out, alloc, in->node_count, verts, in->face_count, err));
    if (in->node_count) memcpy(out->pos, in->pos, (size_t)in->node_count * sizeof *out->pos);
    if (in->uv && verts) memcpy(out->uv, in->uv, (size_t)verts * sizeof *out->uv);
    for (int32_t f = 0; f < in->face_count; f++) {
        memcpy(out->node[f], in->node[f], sizeof *out->node);
        memcpy(out->vert[f], in->vert ? in->vert[f] : in->node[f], sizeof *out->vert);
        out->source[f] = f;
    }
    return TL_OK;
}

// ---- topology -------------------------------------------------------------------------------------------------

/// Half-edge 3 f + k runs from corner k of face f to the next one.
typedef struct topology {
    int32_t *across;       ///< [3 face_count] the half-edge on the other side; NONE at lines (borders and creases)
    int32_t *edge;         ///< [3 face_count] id of the edge of nodes
    int32_t *vert_edge;    ///< [3 face_count] id of the edge of vertices: two on a seam
    int32_t *half;         ///< [edge_count] one half-edge of each
    int32_t *vert_half;    ///< [vert_edge_count]
    uint8_t *line;         ///< [edge_count] 1: border or crease
    int32_t *start;        ///< [node_count] a half-edge that starts there; NONE: in no face
    int32_t (*beside)[2];  ///< [node_count] the neighbours along lines
    uint8_t *lines;        ///< [node_count] how many lines end there, at most 3
    int32_t edge_count, vert_edge_count;
} topology;

static int32_t next_half(int32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
static int32_t prev_half(int32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

static void topology_free(topology *t, const tl_fine_mesh *m)
{
    const int32_t n = 3 * m->face_count;
    TL_FREE(&m->alloc, t->across, n);
    TL_FREE(&m->alloc, t->edge, n);
    TL_FREE(&m->alloc, t->vert_edge, n);
    TL_FREE(&m->alloc, t->half, n);
    TL_FREE(&m->alloc, t->vert_half, n);
    TL_FREE(&m->alloc, t->line, n);
    TL_FREE(&m->alloc, t->start, m->node_count);
    TL_FREE(&m->alloc, t->beside, m->node_count);
    TL_FREE(&m->alloc, t->lines, m->node_count);
}

static void sort_edges(const int32_t (*corner)[3], int32_t half_count, tl_key *keys, tl_key *scratch)
{
    for (int32_t h = 0; h < half_count; h++) {
        const uint32_t a = (uint32_t)corner[h / 3][h % 3], b = (uint32_t)corner[h / 3][next_half(h) % 3];
        keys[h] = (tl_key){(uint64_t)(a < b ? a : b) << 32 | (a < b ? b : a), h};
    }
    tl_sort_keys(keys, scratch, half_count);
}

static void add_line(topology *t, int32_t node, int32_t other)
{
    if (t->lines[node] < 2) t->beside[node][t->lines[node]] = other;
    if (t->lines[node] < 3) t->lines[node]++;
}

static void find_node_edges(topology *t, const tl_fine_mesh *m, const tl_key *keys, bool crease_seams)
{
    const int32_t n = 3 * m->face_count;
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && keys[end].key == keys[i].key;) end++;
        const int32_t e = t->edge_count++, h = keys[i].id, g = end - i == 2 ? keys[i + 1].id : NONE;
        for (int32_t k = i; k < end; k++) t->edge[keys[k].id] = e;
        t->half[e] = h;
        const int32_t a = m->node[h / 3][h % 3], b = m->node[h / 3][next_half(h) % 3];
        // Both sides run in opposite directions; a fold of opposite orientation counts as a crease.
        bool inner = g != NONE && m->node[g / 3][g % 3] == b;
        if (inner && crease_seams)
            inner = m->vert[g / 3][g % 3] == m->vert[h / 3][next_half(h) % 3] &&
                    m->vert[g / 3][next_half(g) % 3] == m->vert[h / 3][h % 3];
        t->line[e] = !inner;
        if (inner)
            t->across[h] = g, t->across[g] = h;
        else
            add_line(t, a, b), add_line(t, b, a);
    }
}

static void find_vert_edges(topology *t, int32_t n, const tl_key *keys)
{
    for (int32_t i = 0; i < n; i++) {
        if (i == 0 || keys[i].key != keys[i - 1].key) t->vert_half[t->vert_edge_count++] = keys[i].id;
        t->vert_edge[keys[i].id] = t->vert_edge_count - 1;
    }
}

static double corner_angle(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const double x = b.x - a.x, y = b.y - a.y, u = c.x - a.x, v = c.y - a.y;
    return atan2(fabs(x * v - y * u), x * u + y * v);
}

// Where the outline of a panel turns sharply in material space, the pattern has a corner, which is not rounded off: it
// ends the lines. Angles are summed per vertex; vertices of a seam node are left as they are.
static tl_status keep_corners(topology *t, const tl_fine_mesh *m, tl_error *err)
{
    double *angle = TL_CALLOC(&m->alloc, double, m->vert_count);
    int32_t *vert = TL_ALLOC(&m->alloc, int32_t, m->node_count);
    tl_status status = angle && vert ? TL_OK : tl_fail_memory(err, "corners of a finer mesh");
    for (int32_t i = 0; status == TL_OK && i < m->node_count; i++) vert[i] = NONE;
    for (int32_t h = 0; status == TL_OK && h < 3 * m->face_count; h++) {
        const int32_t *v = m->vert[h / 3], a = v[h % 3], node = m->node[h / 3][h % 3];
        angle[a] += corner_angle(m->uv[a], m->uv[v[(h + 1) % 3]], m->uv[v[(h + 2) % 3]]);
        vert[node] = vert[node] == NONE || vert[node] == a ? a : SEVERAL;
    }
    for (int32_t i = 0; status == TL_OK && i < m->node_count; i++)
        if (t->lines[i] == 2 && vert[i] >= 0 && angle[vert[i]] > 0 && fabs(angle[vert[i]] - STRAIGHT) > SHARP)
            t->lines[i] = 3;
    TL_FREE(&m->alloc, angle, m->vert_count);
    TL_FREE(&m->alloc, vert, m->node_count);
    return status;
}

static tl_status topology_init(topology *t, const tl_fine_mesh *m, bool crease_seams, tl_error *err)
{
    const int32_t n = 3 * m->face_count;
    *t = (topology){.across = TL_ALLOC(&m->alloc, int32_t, n),
                    .edge = TL_ALLOC(&m->alloc, int32_t, n),
                    .vert_edge = TL_ALLOC(&m->alloc, int32_t, n),
                    .half = TL_ALLOC(&m->alloc, int32_t, n),
                    .vert_half = TL_ALLOC(&m->alloc, int32_t, n),
                    .line = TL_CALLOC(&m->alloc, uint8_t, n),
                    .start = TL_ALLOC(&m->alloc, int32_t, m->node_count),
                    .beside = tl_calloc_bytes(&m->alloc, (size_t)m->node_count, sizeof *t->beside),
                    .lines = TL_CALLOC(&m->alloc, uint8_t, m->node_count)};
    tl_key *keys = TL_ALLOC(&m->alloc, tl_key, n), *scratch = TL_ALLOC(&m->alloc, tl_key, n);
    tl_status status = TL_OK;
    if (!t->across || !t->edge || !t->vert_edge || !t->half || !t->vert_half || !t->line || !t->start || !t->beside ||
        !t->lines || !keys || !scratch) {
        topology_free(t, m);
        status = tl_fail_memory(err, "edges of a finer mesh");
    } else {
        for (int32_t h = 0; h < n; h++) t->across[h] = NONE;
        for (int32_t i = 0; i < m->node_count; i++) t->start[i] = NONE;
        for (int32_t h = n - 1; h >= 0; h--) t->start[m->node[h / 3][h % 3]] = h;
        sort_edges((const int32_t(*)[3])m->node, n, keys, scratch);
        find_node_edges(t, m, keys, crease_seams);
        sort_edges((const int32_t(*)[3])m->vert, n, keys, scratch);
        find_vert_edges(t, n, keys);
        status = keep_corners(t, m, err);
        if (status != TL_OK) topology_free(t, m);
    }
    TL_FREE(&m->alloc, keys, n);
    TL_FREE(&m->alloc, scratch, n);
    return status;
}

// ---- positions ------------------------------------------------------------------------------------------------

typedef struct job {
    const tl_fine_mesh *m;
    const topology *t;
    const tl_subdivide_def *def;
    tl_vec3 *out, *start;
} job;

static tl_vec3 head_of(const job *j, int32_t h) { return j->m->pos[j->m->node[h / 3][next_half(h) % 3]]; }

// How many nodes are around the one that half-edge `h` leaves; 0 at lines, and where the fan is absurdly large.
static int32_t valence(const job *j, int32_t h)
{
    int32_t k = 0;
    for (int32_t g = h; k < MOST_VALENCE; k++, g = j->t->across[prev_half(g)]) {
        if (g == NONE) return 0;
        if (k > 0 && g == h) return k;
    }
    return 0;
}

// Edge point by the ring around the start of `h`, whose first node is the end of `h`.
static tl_vec3 ring_point(const job *j, int32_t h, int32_t k)
{
    double mask[MOST_MASK];
    const tl_vec3 centre = j->m->pos[j->m->node[h / 3][h % 3]];
    if (k > MOST_MASK) return tl_mul3(0.5, tl_add3(centre, head_of(j, h)));
    tl_edge_mask(j->def->scheme, k, mask);
    tl_vec3 sum = {0};
    for (int32_t i = 0, g = h; i < k; i++, g = j->t->across[prev_half(g)])
        sum = tl_add3(sum, tl_mul3(mask[i], tl_sub3(head_of(j, g), centre)));
    return tl_add3(centre, sum);
}

// The node beyond half-edge `h`, seen from its face; where there is none, the opposite one mirrored in its middle.
static tl_vec3 wing(const job *j, int32_t h)
{
    const int32_t g = j->t->across[h];
    if (g != NONE) return head_of(j, next_half(g));
    const tl_vec3 a = j->m->pos[j->m->node[h / 3][h % 3]], b = head_of(j, h), c = head_of(j, next_half(h));
    return tl_sub3(tl_add3(a, b), c);
}

static tl_vec3 regular_point(const job *j, int32_t h, int32_t g)
{
    const tl_vec3 a = j->m->pos[j->m->node[h / 3][h % 3]], b = head_of(j, h);
    const tl_vec3 c = head_of(j, next_half(h)), d = head_of(j, next_half(g));
    if (j->def->scheme != TL_SUBDIVIDE_BUTTERFLY)
        return tl_add3(tl_mul3(0.375, tl_add3(a, b)), tl_mul3(0.125, tl_add3(c, d)));
    const tl_vec3 wings = tl_add3(tl_add3(wing(j, next_half(h)), wing(j, prev_half(h))),
                                  tl_add3(wing(j, next_half(g)), wing(j, prev_half(g))));
    return tl_sub3(tl_add3(tl_mul3(0.5, tl_add3(a, b)), tl_mul3(0.125, tl_add3(c, d))), tl_mul3(0.0625, wings));
}

// The node after `b` on the line that comes from `a`; where it ends or branches, `a` mirrored in `b`.
static tl_vec3 beyond(const job *j, int32_t a, int32_t b)
{
    const topology *t = j->t;
    if (t->lines[b] == 2) return j->m->pos[t->beside[b][0] == a ? t->beside[b][1] : t->beside[b][0]];
    return tl_sub3(tl_mul3(2, j->m->pos[b]), j->m->pos[a]);
}

static tl_vec3 line_point(const job *j, int32_t a, int32_t b)
{
    const tl_vec3 middle = tl_mul3(0.5, tl_add3(j->m->pos[a], j->m->pos[b]));
    if (j->def->scheme != TL_SUBDIVIDE_BUTTERFLY) return middle;
    const tl_vec3 outer = tl_mul3(0.5, tl_add3(beyond(j, b, a), beyond(j, a, b)));
    return tl_add3(tl_mul3(1.125, middle), tl_mul3(-0.125, outer));  // -1/16, 9/16, 9/16, -1/16
}

static tl_vec3 edge_point(const job *j, int32_t e)
{
    const int32_t h = j->t->half[e], g = j->t->across[h];
    const int32_t a = j->m->node[h / 3][h % 3], b = j->m->node[h / 3][next_half(h) % 3];
    if (j->t->line[e]) return line_point(j, a, b);
    const int32_t ka = j->t->lines[a] ? 6 : valence(j, h), kb = j->t->lines[b] ? 6 : valence(j, g);
    const bool plain = j->def->scheme == TL_SUBDIVIDE_LOOP;
    const bool odd_a = !plain && ka != 6 && ka >= 3, odd_b = !plain && kb != 6 && kb >= 3;
    if (odd_a && odd_b) return tl_mul3(0.5, tl_add3(ring_point(j, h, ka), ring_point(j, g, kb)));
    if (odd_a) return ring_point(j, h, ka);
    if (odd_b) return ring_point(j, g, kb);
    return regular_point(j, h, g);
}

static void edges_chunk(void *arg, int32_t begin, int32_t end)
{
    const job *j = arg;
    for (int32_t e = begin; e < end; e++) {
        const int32_t h = j->t->half[e], node = j->m->node_count + e;
        j->out[node] = edge_point(j, e);
        if (j->start) j->start[node] = tl_mul3(0.5, tl_add3(j->m->pos[j->m->node[h / 3][h % 3]], head_of(j, h)));
    }
}

static tl_vec3 vertex_point(const job *j, int32_t i)
{
    const tl_vec3 p = j->m->pos[i];
    const int32_t h = j->t->start[i];
    if (j->def->scheme == TL_SUBDIVIDE_BUTTERFLY || h == NONE || j->t->lines[i] > 2) return p;
    if (j->t->lines[i] == 2) {
        const tl_vec3 q = j->m->pos[j->t->beside[i][0]], r = j->m->pos[j->t->beside[i][1]];
        return tl_add3(tl_mul3(0.75, p), tl_mul3(0.125, tl_add3(q, r)));
    }
    const int32_t k = j->t->lines[i] ? 0 : valence(j, h);
    if (k < 3) return p;
    tl_vec3 sum = {0};
    for (int32_t n = 0, g = h; n < k; n++, g = j->t->across[prev_half(g)])
        sum = tl_add3(sum, tl_sub3(head_of(j, g), p));
    return tl_add3(p, tl_mul3(tl_vertex_mask(j->def, k), sum));
}

static void nodes_chunk(void *arg, int32_t begin, int32_t end)
{
    const job *j = arg;
    for (int32_t i = begin; i < end; i++) {
        j->out[i] = vertex_point(j, i);
        if (j->start) j->start[i] = j->m->pos[i];
    }
}

// ---- faces ----------------------------------------------------------------------------------------------------

static void cut_face(const int32_t corner[3], const int32_t middle[3], int32_t out[4][3])
{
    for (int k = 0; k < 3; k++) out[k][0] = corner[k], out[k][1] = middle[k], out[k][2] = middle[(k + 2) % 3];
    for (int k = 0; k < 3; k++) out[3][k] = middle[k];
}

static void cut_faces(const tl_fine_mesh *m, const topology *t, tl_fine_mesh *out)
{
    for (int32_t f = 0; f < m->face_count; f++) {
        int32_t node[3], vert[3];
        for (int k = 0; k < 3; k++)
            node[k] = m->node_count + t->edge[3 * f + k], vert[k] = m->vert_count + t->vert_edge[3 * f + k];
        cut_face(m->node[f], node, &out->node[4 * f]);
        cut_face(m->vert[f], vert, &out->vert[4 * f]);
        for (int k = 0; k < 4; k++) out->source[4 * f + k] = m->source[f];
    }
    if (m->vert_count) memcpy(out->uv, m->uv, (size_t)m->vert_count * sizeof *out->uv);
    for (int32_t e = 0; e < t->vert_edge_count; e++) {
        const int32_t h = t->vert_half[e];
        const tl_vec2 a = m->uv[m->vert[h / 3][h % 3]], b = m->uv[m->vert[h / 3][next_half(h) % 3]];
        out->uv[m->vert_count + e] = (tl_vec2){0.5 * (a.x + b.x), 0.5 * (a.y + b.y)};
    }
}

tl_status tl_subdivide(const tl_fine_mesh *coarse, const tl_subdivide_def *def, tl_workers *workers, tl_fine_mesh *out,
                       tl_vec3 **start, tl_error *err)
{
    *out = (tl_fine_mesh){.alloc = coarse->alloc};
    if (start) *start = NULL;
    if (coarse->face_count > INT32_MAX / 16)
        return tl_fail(err, TL_BAD_INPUT, "subdivide: %d faces, too many for another level", coarse->face_count);
    topology t;
    TL_TRY(topology_init(&t, coarse, def->crease_seams, err));
    tl_status status = mesh_init(out, coarse->alloc, coarse->node_count + t.edge_count,
                                 coarse->vert_count + t.vert_edge_count, 4 * coarse->face_count, err);
    if (status == TL_OK && start) {
        *start = TL_ALLOC(&coarse->alloc, tl_vec3, out->node_count);
        if (!*start) {
            tl_fine_mesh_free(out);
            status = tl_fail_memory(err, "a finer mesh");
        }
    }
    if (status == TL_OK) {
        job j = {coarse, &t, def, out->pos, start ? *start : NULL};
        tl_parallel_for(workers, coarse->node_count, NODES_PER_CHUNK, nodes_chunk, &j);
        tl_parallel_for(workers, t.edge_count, NODES_PER_CHUNK, edges_chunk, &j);
        cut_faces(coarse, &t, out);
    }
    topology_free(&t, coarse);
    return status;
}
