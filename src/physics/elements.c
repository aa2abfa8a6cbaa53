// physics/elements.c: compile meshes into flat, spatially sorted, coloured arrays.

#include "physics/elements.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/vec3.h"

enum { ITEMS_PER_CHUNK = 512 };  // a constant: results must not depend on the worker count

void tl_elements_destroy(tl_elements *e)
{
    if (!e) return;
    const tl_allocator alloc = e->alloc, *al = &alloc;
    const int32_t slots_n = e->cloth_node_start ? e->cloth_node_start[e->cloth_count] : 0;
    const int32_t slots_f = e->cloth_face_start ? e->cloth_face_start[e->cloth_count] : 0;
    TL_FREE(al, e->node_of, slots_n);
    TL_FREE(al, e->face_of, slots_f);
    TL_FREE(al, e->mesh, e->cloth_count);
    TL_FREE(al, e->cloth_node_start, e->cloth_count + 1);
    TL_FREE(al, e->cloth_face_start, e->cloth_count + 1);
    TL_FREE(al, e->slot_of_node, e->node_count);
    TL_FREE(al, e->slot_of_face, e->face_count);
    TL_FREE(al, e->mass, e->node_count);
    TL_FREE(al, e->fixed, e->node_count);
    TL_FREE(al, e->face, e->face_count);
    TL_FREE(al, e->face_hinge, e->face_count);
    TL_FREE(al, e->grad, e->face_count);
    TL_FREE(al, e->area, e->face_count);
    TL_FREE(al, e->material, e->face_count);
    TL_FREE(al, e->fit, e->face_count);
    TL_FREE(al, e->stretch, e->face_count);
    TL_FREE(al, e->bend, e->face_count);
    TL_FREE(al, e->bend_own, e->face_count);
    TL_FREE(al, e->fold, e->face_count);
    TL_FREE(al, e->fold_rate, e->face_count);
    TL_FREE(al, e->slot, e->face_count);
    TL_FREE(al, e->wind, e->face_count);
    TL_FREE(al, e->eddy, e->face_count);
    TL_FREE(al, e->strain_hat, e->face_count);
    TL_FREE(al, e->hinge, e->hinge_count);
    TL_FREE(al, e->hinge_face, e->hinge_count);
    TL_FREE(al, e->hinge_place, e->hinge_count);
    TL_FREE(al, e->near_hinge, e->hinge_count);
    TL_FREE(al, e->beta, e->hinge_count);
    TL_FREE(al, e->back, e->hinge_count);
    TL_FREE(al, e->moment, e->hinge_count);
    TL_FREE(al, e->rest, e->hinge_count);
    TL_FREE(al, e->angle, e->hinge_count);
    TL_FREE(al, e->angle_hat, e->hinge_count);
    TL_FREE(al, e->border, e->border_count);
    TL_FREE(al, e->color_start, e->color_count + 1);
    TL_FREE(al, e->color_chunk, e->chunk_count);
    TL_FREE(al, e->materials, e->material_count);
    TL_FREE(al, e, 1);
}

static tl_status count_slots(tl_elements *e, const tl_element_source *sources, tl_error *err)
{
    int64_t nodes = 0, faces = 0;
    e->cloth_node_start[0] = e->cloth_face_start[0] = 0;
    for (int32_t c = 0; c < e->cloth_count; c++) {
        const tl_mesh *mesh = sources[c].mesh;
        e->mesh[c] = mesh;
        nodes += mesh->slots[TL_NODES].count, faces += mesh->slots[TL_FACES].count;
        if (nodes > INT32_MAX / 4 || faces > INT32_MAX / TL_PATCH_BLOCKS)
            return tl_fail(err, TL_BAD_INPUT, "%lld faces in all cloths, more than this program can number",
                           (long long)faces);
        e->cloth_node_start[c + 1] = (int32_t)nodes;
        e->cloth_face_start[c + 1] = (int32_t)faces;
        e->node_count += mesh->slots[TL_NODES].live;
        e->face_count += mesh->slots[TL_FACES].live;
        e->material_count += sources[c].material_count;
    }
    return TL_OK;
}

// Bit k of x, 21 bits at most, goes to bit 2 k.
static uint64_t spread_bits(uint32_t x)
{
    uint64_t s = x & 0x1fffff;
    s = (s | s << 16) & UINT64_C(0x0000ffff0000ffff);
    s = (s | s << 8) & UINT64_C(0x00ff00ff00ff00ff);
    s = (s | s << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    s = (s | s << 2) & UINT64_C(0x3333333333333333);
    return (s | s << 1) & UINT64_C(0x5555555555555555);
}

static uint64_t morton(uint32_t x, uint32_t y) { return spread_bits(x) | spread_bits(y) << 1; }

/// Keys of the faces of one mesh; dead slots get one above all others.
typedef struct key_job {
    const tl_mesh *mesh;
    tl_vec2 low;
    double scale;
    uint64_t first_panel;
    int32_t first;
    tl_key *out;
} key_job;

static void key_chunk(void *arg, int32_t begin, int32_t end)
{
    const key_job *job = arg;
    const tl_mesh *mesh = job->mesh;
    for (int32_t f = begin; f < end; f++) {
        uint64_t key = UINT64_MAX;
        if (tl_alive(mesh, TL_FACES, f)) {
            tl_vec2 mid = {0, 0};
            for (int k = 0; k < 3; k++) mid = tl_add2(mid, mesh->uv[mesh->face_vert[f][k]]);
            mid = tl_sub2(tl_mul2(1.0 / 3, mid), job->low);
            const uint64_t panel = job->first_panel + (uint64_t)mesh->face_panel[f];
            key = panel << 42 | morton((uint32_t)(mid.x * job->scale), (uint32_t)(mid.y * job->scale));
        }
        job->out[f] = (tl_key){key, job->first + f};
    }
}

static void find_keys(const tl_elements *e, tl_workers *workers, tl_key *out)
{
    uint64_t first_panel = 0;
    for (int32_t c = 0; c < e->cloth_count; c++) {
        const tl_mesh *mesh = e->mesh[c];
        tl_vec2 low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
        for (int32_t v = 0; v < mesh->slots[TL_VERTS].count; v++) {
            if (!tl_alive(mesh, TL_VERTS, v)) continue;
            low.x = fmin(low.x, mesh->uv[v].x), low.y = fmin(low.y, mesh->uv[v].y);
            high.x = fmax(high.x, mesh->uv[v].x), high.y = fmax(high.y, mesh->uv[v].y);
        }
        const double scale = 1048575 / fmax(fmax(high.x - low.x, high.y - low.y), 1e-300);
        const int32_t first = e->cloth_face_start[c];
        tl_parallel_for(workers, mesh->slots[TL_FACES].count, ITEMS_PER_CHUNK, key_chunk,
                        &(key_job){mesh, low, scale, first_panel, first, out + first});
        first_panel += (uint64_t)mesh->panel_count;
    }
}

// Nodes are numbered as the sorted faces touch them.
static void number_nodes(tl_elements *e, const tl_key *keys)
{
    for (int32_t i = 0; i < e->cloth_face_start[e->cloth_count]; i++) e->face_of[i] = TL_NONE;
    for (int32_t i = 0; i < e->cloth_node_start[e->cloth_count]; i++) e->node_of[i] = TL_NONE;
    int32_t nodes = 0, c = 0;
    for (int32_t i = 0; i < e->face_count; i++) {
        const int32_t slot = keys[i].id;
        while (slot < e->cloth_face_start[c]) c--;
        while (slot >= e->cloth_face_start[c + 1]) c++;
        e->face_of[slot] = i;
        e->slot_of_face[i] = slot;
        for (int k = 0; k < 3; k++) {
            const int32_t node = e->cloth_node_start[c] + tl_face_node(e->mesh[c], slot - e->cloth_face_start[c], k);
            if (e->node_of[node] != TL_NONE) continue;
            e->node_of[node] = nodes;
            e->slot_of_node[nodes++] = node;
        }
    }
    TL_ASSERT(nodes == e->node_count, "a living node has no face");
}

// Faces sorted along a space-filling curve over each panel.
static tl_status number_elements(tl_elements *e, tl_workers *workers, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    const int32_t total = e->cloth_face_start[e->cloth_count];
    tl_key *keys = TL_ALLOC(al, tl_key, total), *scratch = TL_ALLOC(al, tl_key, total);
    const bool enough = keys && scratch;
    if (enough) {
        find_keys(e, workers, keys);
        tl_sort_keys(keys, scratch, total);
        number_nodes(e, keys);
    }
    TL_FREE(al, keys, total);
    TL_FREE(al, scratch, total);
    return enough ? TL_OK : tl_fail_memory(err, "the order of the faces");
}

static int local_edge(const tl_mesh *mesh, int32_t f, int32_t edge)
{
    return mesh->face_edge[f][0] == edge ? 0 : mesh->face_edge[f][1] == edge ? 1 : 2;
}

static int32_t cloth_of_face(const tl_elements *e, int32_t slot)
{
    int32_t c = 0;
    while (slot >= e->cloth_face_start[c + 1]) c++;
    return c;
}

// Corners, far nodes, rest gradients and areas.
static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t f = begin; f < end; f++) {
        const int32_t c = cloth_of_face(e, e->slot_of_face[f]), s = e->slot_of_face[f] - e->cloth_face_start[c];
        const tl_mesh *mesh = e->mesh[c];
        const int32_t *node_of = e->node_of + e->cloth_node_start[c], *v = mesh->face_vert[s];
        const tl_vec2 d1 = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), d2 = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
        const double area2 = tl_cross2(d1, d2);
        // F = [x1 - x0, x2 - x0] [d1 d2]^-1; row k of the inverse is the gradient of basis function k + 1
        const double g[4] = {d2.y / area2, -d2.x / area2, -d1.y / area2, d1.x / area2};
        memcpy(e->grad[f], g, sizeof g);
        e->area[f] = 0.5 * area2;
        for (int k = 0; k < 3; k++) {
            const int32_t edge = mesh->face_edge[s][k];
            const int32_t *beside = mesh->edge_face[edge];
            const int32_t other = beside[0] == s ? beside[1] : beside[0];
            e->face[f][k] = node_of[mesh->vert_node[v[k]]];
            e->face[f][3 + k] = node_of[other == TL_NONE ? mesh->vert_node[v[k]]
                                                         : tl_face_node(mesh, other, local_edge(mesh, other, edge))];
            e->face_hinge[f][k] = TL_NONE;
        }
    }
}

// Materials, and masses lumped from the faces in the order of the meshes.
static void weigh(tl_elements *e, const tl_element_source *sources)
{
    int32_t material_start = 0;
    for (int32_t c = 0; c < e->cloth_count; c++) {
        const tl_mesh *mesh = e->mesh[c];
        for (int32_t s = 0; s < mesh->slots[TL_FACES].count; s++) {
            const int32_t f = e->face_of[e->cloth_face_start[c] + s];
            if (f == TL_NONE) continue;
            e->material[f] = material_start + mesh->face_label[s];
            double part[3];
            tl_mesh_lump(mesh, s, sources[c].materials[mesh->face_label[s]].density * e->area[f], sources[c].lumping,
                         part);
            for (int k = 0; k < 3; k++) e->mass[e->face[f][k]] += part[k];
        }
        memcpy(e->materials + material_start, sources[c].materials,
               (size_t)sources[c].material_count * sizeof *e->materials);
        material_start += sources[c].material_count;
    }
}

// ---- hinges ----

// The face across edge k of a face is numbered higher: then the hinge is its own. *other: that face's slot within the
// mesh.
static bool owns_hinge(const tl_elements *e, const tl_mesh *mesh, int32_t first, int32_t f, int32_t s, int k,
                       int32_t *other)
{
    const int32_t *beside = mesh->edge_face[mesh->face_edge[s][k]];
    *other = beside[0] == s ? beside[1] : beside[0];
    return *other != TL_NONE && e->face_of[first + *other] >= f;
}

/// `start`: per chunk of faces, first how many hinges it owns, then where they begin.
typedef struct hinge_job {
    tl_elements *e;
    int32_t *start;
} hinge_job;

static void count_hinges(void *arg, int32_t begin, int32_t end)
{
    const hinge_job *job = arg;
    const tl_elements *e = job->e;
    int32_t n = 0, other;
    for (int32_t f = begin; f < end; f++) {
        const int32_t c = cloth_of_face(e, e->slot_of_face[f]), first = e->cloth_face_start[c];
        for (int k = 0; k < 3; k++) n += owns_hinge(e, e->mesh[c], first, f, e->slot_of_face[f] - first, k, &other);
    }
    job->start[begin / ITEMS_PER_CHUNK] = n;
}

static void list_hinges(void *arg, int32_t begin, int32_t end)
{
    const hinge_job *job = arg;
    tl_elements *e = job->e;
    int32_t n = job->start[begin / ITEMS_PER_CHUNK], other;
    for (int32_t f = begin; f < end; f++) {
        const int32_t c = cloth_of_face(e, e->slot_of_face[f]), first = e->cloth_face_start[c],
                      s = e->slot_of_face[f] - first;
        const tl_mesh *mesh = e->mesh[c];
        for (int k = 0; k < 3; k++) {
            if (!owns_hinge(e, mesh, first, f, s, k, &other)) continue;
            const int32_t g = e->face_of[first + other], edge = mesh->face_edge[s][k];
            const int32_t nodes[4] = {e->face[f][(k + 1) % 3], e->face[f][(k + 2) % 3], e->face[f][k],
                                      e->face[f][3 + k]};
            memcpy(e->hinge[n], nodes, sizeof nodes);
            e->hinge_face[n][0] = f, e->hinge_face[n][1] = g;
            e->hinge_place[n][0] = (uint8_t)k, e->hinge_place[n][1] = (uint8_t)local_edge(mesh, other, edge);
            e->rest[n] = mesh->edge_rest[edge];
            e->face_hinge[f][k] = n;
            e->face_hinge[g][e->hinge_place[n][1]] = n;
            n++;
        }
    }
}

static void near_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t h = begin; h < end; h++)
        for (int s = 0, n = 0; s < 2; s++)
            for (int k = 1; k <= 2; k++) {
                const int32_t other = e->face_hinge[e->hinge_face[h][s]][(e->hinge_place[h][s] + k) % 3];
                e->near_hinge[h][n++] = other < 0 ? TL_NONE : other;
            }
}

static void back_chunk(void *arg, int32_t begin, int32_t end)
{
    tl_elements *e = arg;
    for (int32_t h = begin; h < end; h++)
        for (int j = 0; j < 4; j++) {
            const int32_t other = e->near_hinge[h][j];
            e->back[h][j] = 4;
            for (int i = 3; other >= 0 && i >= 0; i--)
                if (e->near_hinge[other][i] == h) e->back[h][j] = (uint8_t)i;
        }
}

static tl_status make_room_for_hinges(tl_elements *e, int32_t n, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    e->hinge_count = n;
    e->hinge = TL_CALLOC_FOR(al, e->hinge, n);
    e->hinge_face = TL_CALLOC_FOR(al, e->hinge_face, n);
    e->hinge_place = TL_CALLOC_FOR(al, e->hinge_place, n);
    e->near_hinge = TL_CALLOC_FOR(al, e->near_hinge, n);
    e->beta = TL_CALLOC_FOR(al, e->beta, n);
    e->back = TL_CALLOC_FOR(al, e->back, n);
    e->moment = TL_CALLOC(al, double, n);
    e->rest = TL_CALLOC(al, double, n);
    e->angle = TL_CALLOC(al, double, n);
    if (e->damped) e->angle_hat = TL_CALLOC(al, double, n);
    if (!e->hinge || !e->hinge_face || !e->hinge_place || !e->near_hinge || !e->beta || !e->back || !e->moment ||
        !e->rest || !e->angle || (e->damped && !e->angle_hat))
        return tl_fail_memory(err, "the hinges");
    return TL_OK;
}

// Hinges in the order of their first face, so that they lie beside it in memory.
static tl_status make_hinges(tl_elements *e, tl_workers *workers, tl_error *err)
{
    const int32_t chunks = tl_chunk_count(e->face_count, ITEMS_PER_CHUNK);
    hinge_job job = {e, TL_ALLOC(&e->alloc, int32_t, chunks)};
    if (!job.start) return tl_fail_memory(err, "the hinges");
    tl_parallel_for(workers, e->face_count, ITEMS_PER_CHUNK, count_hinges, &job);
    int32_t total = 0;
    for (int32_t i = 0; i < chunks; i++) {
        const int32_t n = job.start[i];
        job.start[i] = total, total += n;
    }
    const tl_status status = make_room_for_hinges(e, total, err);
    if (status == TL_OK) {
        tl_parallel_for(workers, e->face_count, ITEMS_PER_CHUNK, list_hinges, &job);
        tl_parallel_for(workers, e->hinge_count, ITEMS_PER_CHUNK, near_chunk, e);
        tl_parallel_for(workers, e->hinge_count, ITEMS_PER_CHUNK, back_chunk, e);
    }
    TL_FREE(&e->alloc, job.start, chunks);
    return status;
}

static tl_status make_borders(tl_elements *e, tl_error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        int32_t n = 0;
        for (int32_t f = 0; f < e->face_count; f++)
            for (int k = 0; k < 3; k++) {
                if (e->face_hinge[f][k] >= 0) continue;
                if (pass == 1) {
                    e->border[n].face = f, e->border[n].place = k;
                    e->face_hinge[f][k] = ~n;
                }
                n++;
            }
        if (pass == 1) break;
        e->border_count = n;
        e->border = TL_CALLOC(&e->alloc, tl_border, n);
        if (!e->border) return tl_fail_memory(err, "the borders");
    }
    return TL_OK;
}

// Greedy colours in chunk order. A node remembers, as a bit mask, which colours have written it.
static tl_status color_chunks(tl_elements *e, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    enum { MAX_COLORS = 64 };
    e->chunk_count = tl_chunk_count(e->face_count, TL_CHUNK_FACES);
    uint64_t *taken = TL_CALLOC(al, uint64_t, e->node_count);
    int32_t *color = TL_CALLOC(al, int32_t, e->chunk_count);
    e->color_chunk = TL_CALLOC(al, int32_t, e->chunk_count);
    int32_t count[MAX_COLORS + 1] = {0};
    tl_status status = TL_OK;
    if (!taken || !color || !e->color_chunk) {
        status = tl_fail_memory(err, "the colours of the face chunks");
        goto done;
    }
    for (int32_t k = 0; k < e->chunk_count; k++) {
        const int32_t end = k == e->chunk_count - 1 ? e->face_count : (k + 1) * TL_CHUNK_FACES;
        uint64_t used = 0;
        for (int32_t f = k * TL_CHUNK_FACES; f < end; f++)
            for (int i = 0; i < TL_PATCH_NODES; i++) used |= taken[e->face[f][i]];
        if (used == UINT64_MAX) {
            status = tl_fail(err, TL_BAD_INPUT,
                             "the mesh around face %d touches too many others (a node with thousands of faces?)",
                             (int)e->slot_of_face[k * TL_CHUNK_FACES]);
            goto done;
        }
        color[k] = __builtin_ctzll(~used);
        if (color[k] >= e->color_count) e->color_count = color[k] + 1;
        count[color[k]]++;
        for (int32_t f = k * TL_CHUNK_FACES; f < end; f++)
            for (int i = 0; i < TL_PATCH_NODES; i++) taken[e->face[f][i]] |= UINT64_C(1) << color[k];
    }
    e->color_start = TL_CALLOC(al, int32_t, e->color_count + 1);
    if (!e->color_start) {
        status = tl_fail_memory(err, "the colours of the face chunks");
        goto done;
    }
    for (int32_t k = 0; k < e->color_count; k++) e->color_start[k + 1] = e->color_start[k] + count[k];
    int32_t next[MAX_COLORS] = {0};
    for (int32_t k = 0; k < e->chunk_count; k++) e->color_chunk[e->color_start[color[k]] + next[color[k]]++] = k;
done:
    TL_FREE(al, taken, e->node_count);
    TL_FREE(al, color, e->chunk_count);
    return status;
}

static tl_status create(tl_elements *e, const tl_element_source *sources, tl_workers *workers, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    e->mesh = TL_CALLOC(al, const tl_mesh *, e->cloth_count);
    e->cloth_node_start = TL_CALLOC(al, int32_t, e->cloth_count + 1);
    e->cloth_face_start = TL_CALLOC(al, int32_t, e->cloth_count + 1);
    if (!e->mesh || !e->cloth_node_start || !e->cloth_face_start) return tl_fail_memory(err, "the elements");
    TL_TRY(count_slots(e, sources, err));
    const int32_t n = e->node_count, m = e->face_count;
    e->node_of = TL_CALLOC(al, int32_t, e->cloth_node_start[e->cloth_count]);
    e->face_of = TL_CALLOC(al, int32_t, e->cloth_face_start[e->cloth_count]);
    e->slot_of_node = TL_CALLOC(al, int32_t, n);
    e->slot_of_face = TL_CALLOC(al, int32_t, m);
    e->mass = TL_CALLOC(al, double, n);
    e->fixed = TL_CALLOC(al, uint8_t, n);
    e->face = TL_CALLOC_FOR(al, e->face, m);
    e->face_hinge = TL_CALLOC_FOR(al, e->face_hinge, m);
    e->grad = TL_CALLOC_FOR(al, e->grad, m);
    e->area = TL_CALLOC(al, double, m);
    e->material = TL_CALLOC(al, int32_t, m);
    if (e->bending != TL_BEND_HINGE) e->fit = TL_CALLOC_FOR(al, e->fit, m);
    e->stretch = TL_CALLOC_FOR(al, e->stretch, m);
    e->bend = TL_CALLOC_FOR(al, e->bend, m);
    e->bend_own = TL_CALLOC_FOR(al, e->bend_own, m);
    e->fold = TL_CALLOC_FOR(al, e->fold, m);
    e->wind = TL_CALLOC_FOR(al, e->wind, m);
    e->eddy = TL_CALLOC_FOR(al, e->eddy, m);
    e->materials = TL_CALLOC(al, tl_material, e->material_count);
    if (!e->node_of || !e->face_of || !e->slot_of_node || !e->slot_of_face || !e->mass || !e->fixed || !e->face ||
        !e->face_hinge || !e->grad || !e->area || !e->material || (e->bending != TL_BEND_HINGE && !e->fit) ||
        !e->stretch || !e->bend || !e->bend_own || !e->fold || !e->wind || !e->eddy || !e->materials)
        return tl_fail_memory(err, "the elements");
    TL_TRY(number_elements(e, workers, err));
    tl_parallel_for(workers, m, ITEMS_PER_CHUNK, face_chunk, e);
    weigh(e, sources);
    for (int32_t k = 0; k < e->material_count; k++) {
        e->nonlinear = e->nonlinear || tl_material_is_nonlinear(&e->materials[k]);
        e->damped = e->damped || e->materials[k].damping_stretch > 0 || e->materials[k].damping_bend > 0 ||
                    e->materials[k].friction_bend > 0;
    }
    if (e->damped) {
        e->strain_hat = TL_CALLOC_FOR(al, e->strain_hat, m);
        e->fold_rate = TL_CALLOC_FOR(al, e->fold_rate, m);
        if (!e->strain_hat || !e->fold_rate) return tl_fail_memory(err, "the elements");
    }
    TL_TRY(make_hinges(e, workers, err));
    TL_TRY(make_borders(e, err));
    return color_chunks(e, err);
}

tl_status tl_elements_create(const tl_allocator *alloc, const tl_element_source *sources, int32_t source_count,
                             tl_bending bending, tl_workers *workers, tl_elements **out, tl_error *err)
{
    *out = NULL;
    tl_elements *e = TL_CALLOC(alloc, tl_elements, 1);
    if (!e) return tl_fail_memory(err, "the elements");
    e->alloc = *alloc;
    e->cloth_count = source_count;
    e->bending = bending;
    const tl_status status = create(e, sources, workers, err);
    if (status != TL_OK) {
        tl_elements_destroy(e);
        return status;
    }
    *out = e;
    return TL_OK;
}

enum { FIXED = 1, MARKED = 2 };

void tl_elements_mark_fixed(tl_elements *e, int32_t node) { e->fixed[node] |= MARKED; }

bool tl_elements_take_marks(tl_elements *e)
{
    bool changed = false;
    for (int32_t i = 0; i < e->node_count; i++) {
        const uint8_t fixed = (e->fixed[i] & MARKED) != 0;
        changed |= fixed != (e->fixed[i] & FIXED);
        e->fixed[i] = fixed;
    }
    return changed;
}

void tl_elements_touch(tl_elements *e, const struct tl_touched *touched) { e->touched = touched; }
