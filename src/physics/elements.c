// physics/elements.c: compile meshes into flat, spatially sorted, coloured arrays.

#include "physics/elements.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/vec3.h"

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
    TL_FREE(al, e->stretch, e->face_count);
    TL_FREE(al, e->bend, e->face_count);
    TL_FREE(al, e->bend_own, e->face_count);
    TL_FREE(al, e->fold, e->face_count);
    TL_FREE(al, e->fold_rate, e->face_count);
    TL_FREE(al, e->slot, e->face_count);
    TL_FREE(al, e->wind, e->face_count);
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

// Interleaves the low 21 bits of x and y.
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

// Faces sorted along a space-filling curve over each panel; nodes numbered as the faces touch them.
static tl_status number_elements(tl_elements *e, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    const int32_t total = e->cloth_face_start[e->cloth_count];
    tl_key *keys = TL_ALLOC(al, tl_key, e->face_count), *scratch = TL_ALLOC(al, tl_key, e->face_count);
    if (!keys || !scratch) {
        TL_FREE(al, keys, e->face_count);
        TL_FREE(al, scratch, e->face_count);
        return tl_fail_memory(err, "the order of the faces");
    }
    int32_t n = 0;
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
        for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
            if (!tl_alive(mesh, TL_FACES, f)) continue;
            tl_vec2 mid = {0, 0};
            for (int k = 0; k < 3; k++) mid = tl_add2(mid, mesh->uv[mesh->face_vert[f][k]]);
            mid = tl_sub2(tl_mul2(1.0 / 3, mid), low);
            const uint64_t panel = first_panel + (uint64_t)mesh->face_panel[f];
            keys[n++] = (tl_key){panel << 42 | morton((uint32_t)(mid.x * scale), (uint32_t)(mid.y * scale)),
                                 e->cloth_face_start[c] + f};
        }
        first_panel += (uint64_t)mesh->panel_count;
    }
    tl_sort_keys(keys, scratch, n);
    for (int32_t i = 0; i < total; i++) e->face_of[i] = TL_NONE;
    for (int32_t i = 0; i < e->cloth_node_start[e->cloth_count]; i++) e->node_of[i] = TL_NONE;
    int32_t nodes = 0, c = 0;
    for (int32_t i = 0; i < n; i++) {
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
    TL_FREE(al, keys, e->face_count);
    TL_FREE(al, scratch, e->face_count);
    TL_ASSERT(nodes == e->node_count, "a living node has no face");
    return TL_OK;
}

static int local_edge(const tl_mesh *mesh, int32_t f, int32_t edge)
{
    return mesh->face_edge[f][0] == edge ? 0 : mesh->face_edge[f][1] == edge ? 1 : 2;
}

// Corners, far nodes, rest gradients, areas and lumped masses.
static void fill_faces(tl_elements *e, const tl_element_source *sources)
{
    int32_t material_start = 0;
    for (int32_t c = 0; c < e->cloth_count; c++) {
        const tl_mesh *mesh = e->mesh[c];
        const int32_t *node_of = e->node_of + e->cloth_node_start[c];
        for (int32_t s = 0; s < mesh->slots[TL_FACES].count; s++) {
            const int32_t f = e->face_of[e->cloth_face_start[c] + s];
            if (f == TL_NONE) continue;
            const int32_t *v = mesh->face_vert[s];
            const tl_vec2 d1 = tl_sub2(mesh->uv[v[1]], mesh->uv[v[0]]), d2 = tl_sub2(mesh->uv[v[2]], mesh->uv[v[0]]);
            const double twice = tl_cross2(d1, d2);
            // F = [x1 - x0, x2 - x0] [d1 d2]^-1; row k of the inverse is the gradient of basis function k + 1
            const double g[4] = {d2.y / twice, -d2.x / twice, -d1.y / twice, d1.x / twice};
            memcpy(e->grad[f], g, sizeof g);
            e->area[f] = 0.5 * twice;
            e->material[f] = material_start + mesh->face_label[s];
            for (int k = 0; k < 3; k++) {
                const int32_t edge = mesh->face_edge[s][k];
                const int32_t *beside = mesh->edge_face[edge];
                const int32_t other = beside[0] == s ? beside[1] : beside[0];
                e->face[f][k] = node_of[mesh->vert_node[v[k]]];
                e->face[f][3 + k] = node_of[other == TL_NONE ? mesh->vert_node[v[k]]
                                                             : tl_face_node(mesh, other, local_edge(mesh, other, edge))];
                e->mass[e->face[f][k]] += sources[c].materials[mesh->face_label[s]].density * e->area[f] / 3;
                e->face_hinge[f][k] = TL_NONE;
            }
        }
        memcpy(e->materials + material_start, sources[c].materials,
               (size_t)sources[c].material_count * sizeof *e->materials);
        material_start += sources[c].material_count;
    }
}

static int32_t cloth_of_face(const tl_elements *e, int32_t slot)
{
    int32_t c = 0;
    while (slot >= e->cloth_face_start[c + 1]) c++;
    return c;
}

// Hinges in the order of their first face, so that they lie beside it in memory.
static tl_status make_hinges(tl_elements *e, tl_error *err)
{
    const tl_allocator *al = &e->alloc;
    for (int pass = 0; pass < 2; pass++) {
        int32_t n = 0;
        for (int32_t f = 0; f < e->face_count; f++) {
            const int32_t slot = e->slot_of_face[f], c = cloth_of_face(e, slot);
            const tl_mesh *mesh = e->mesh[c];
            const int32_t first = e->cloth_face_start[c], s = slot - first;
            for (int k = 0; k < 3; k++) {
                const int32_t edge = mesh->face_edge[s][k];
                const int32_t *beside = mesh->edge_face[edge];
                const int32_t other = beside[0] == s ? beside[1] : beside[0];
                if (other == TL_NONE || e->face_of[first + other] < f) continue;
                if (pass == 1) {
                    const int32_t g = e->face_of[first + other];
                    const int32_t nodes[4] = {e->face[f][(k + 1) % 3], e->face[f][(k + 2) % 3], e->face[f][k],
                                              e->face[f][3 + k]};
                    memcpy(e->hinge[n], nodes, sizeof nodes);
                    e->hinge_face[n][0] = f, e->hinge_face[n][1] = g;
                    e->hinge_place[n][0] = (uint8_t)k, e->hinge_place[n][1] = (uint8_t)local_edge(mesh, other, edge);
                    e->rest[n] = mesh->edge_rest[edge];
                    e->face_hinge[f][k] = n;
                    e->face_hinge[g][e->hinge_place[n][1]] = n;
                }
                n++;
            }
        }
        if (pass == 1) break;
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
    }
    for (int32_t h = 0; h < e->hinge_count; h++)
        for (int s = 0, n = 0; s < 2; s++)
            for (int k = 1; k <= 2; k++) {
                const int32_t other = e->face_hinge[e->hinge_face[h][s]][(e->hinge_place[h][s] + k) % 3];
                e->near_hinge[h][n++] = other < 0 ? TL_NONE : other;
            }
    for (int32_t h = 0; h < e->hinge_count; h++)
        for (int j = 0; j < 4; j++) {
            const int32_t other = e->near_hinge[h][j];
            e->back[h][j] = 4;
            for (int i = 3; other >= 0 && i >= 0; i--)
                if (e->near_hinge[other][i] == h) e->back[h][j] = (uint8_t)i;
        }
    return TL_OK;
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
            status = tl_fail(err, TL_BAD_INPUT, "the mesh around face %d touches too many others (a node with thousands of faces?)",
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

static tl_status create(tl_elements *e, const tl_element_source *sources, tl_error *err)
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
    e->stretch = TL_CALLOC_FOR(al, e->stretch, m);
    e->bend = TL_CALLOC_FOR(al, e->bend, m);
    e->bend_own = TL_CALLOC_FOR(al, e->bend_own, m);
    e->fold = TL_CALLOC_FOR(al, e->fold, m);
    e->wind = TL_CALLOC_FOR(al, e->wind, m);
    e->materials = TL_CALLOC(al, tl_material, e->material_count);
    if (!e->node_of || !e->face_of || !e->slot_of_node || !e->slot_of_face || !e->mass || !e->fixed || !e->face ||
        !e->face_hinge || !e->grad || !e->area || !e->material || !e->stretch || !e->bend || !e->bend_own || !e->fold || !e->wind ||
        !e->materials)
        return tl_fail_memory(err, "the elements");
    TL_TRY(number_elements(e, err));
    fill_faces(e, sources);
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
    TL_TRY(make_hinges(e, err));
    TL_TRY(make_borders(e, err));
    return color_chunks(e, err);
}

tl_status tl_elements_create(const tl_allocator *alloc, const tl_element_source *sources, int32_t source_count,
                             tl_bending bending, tl_elements **out, tl_error *err)
{
    *out = NULL;
    tl_elements *e = TL_CALLOC(alloc, tl_elements, 1);
    if (!e) return tl_fail_memory(err, "the elements");
    e->alloc = *alloc;
    e->cloth_count = source_count;
    e->bending = bending;
    const tl_status status = create(e, sources, err);
    if (status != TL_OK) {
        tl_elements_destroy(e);
        return status;
    }
    *out = e;
    return TL_OK;
}

// Fills e->slot, row after row: with the blocks of a row marked by their columns, every patch of its node finds its pairs at once.
// `first`, `patch`: 6 f + k of the patches with node n at place k, from first[n] to first[n + 1]. `mark` has room for a number per node.
static void find_slots(tl_elements *e, const tl_bsr *matrix, const int32_t *first, const int32_t *patch, int32_t *mark)
{
    for (int32_t f = 0; f < e->face_count; f++)
        for (int k = 0; k < TL_PATCH_PAIRS; k++) e->slot[f][k] = -1;
    for (int32_t n = 0; n < e->node_count; n++) {
        for (int32_t k = matrix->row_start[n]; k < matrix->row_start[n + 1]; k++) mark[matrix->col[k]] = k;
        for (int32_t i = first[n]; i < first[n + 1]; i++) {
            const int32_t f = patch[i] / TL_PATCH_NODES, a = patch[i] % TL_PATCH_NODES;
            for (int32_t b = 0; b < TL_PATCH_NODES; b++) {
                const int32_t other = e->face[f][b];
                if (other < n || a == b || (other == n && a > b) || (b >= 3 && e->face_hinge[f][b - 3] < 0)) continue;
                const int32_t how = other == n ? TL_SLOT_BOTH : a < b ? TL_SLOT_PLAIN : TL_SLOT_TRANSPOSED;
                e->slot[f][a < b ? tl_patch_pair(a, b) : tl_patch_pair(b, a)] = 4 * mark[other] + how;
            }
        }
    }
}

// The patches of every node, but for places where there is no far node.
static void list_patches(const tl_elements *e, int32_t *first, int32_t *patch)
{
    for (int32_t n = 0; n < e->node_count + 2; n++) first[n] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t f = 0; f < e->face_count; f++)
            for (int32_t k = 0; k < TL_PATCH_NODES; k++) {
                if (k >= 3 && e->face_hinge[f][k - 3] < 0) continue;
                if (pass == 0) first[e->face[f][k] + 2]++;
                else patch[first[e->face[f][k] + 1]++] = TL_PATCH_NODES * f + k;
            }
        for (int32_t n = 0; n < e->node_count && pass == 0; n++) first[n + 2] += first[n + 1];
    }
}

tl_status tl_elements_matrix(tl_elements *e, tl_arena *scratch, tl_bsr **out, tl_error *err)
{
    *out = NULL;
    const tl_allocator *al = &e->alloc;
    if (!e->slot) e->slot = TL_CALLOC_FOR(al, e->slot, e->face_count);
    const tl_arena_mark mark = tl_arena_save(scratch);
    const int64_t item_count = (int64_t)e->face_count * TL_PATCH_NODES;
    const int32_t groups = e->face_count;
    int32_t *start = TL_SCRATCH(scratch, int32_t, groups + 1);
    int32_t *items = item_count < INT32_MAX ? TL_SCRATCH(scratch, int32_t, item_count) : NULL;
    int32_t *first = TL_SCRATCH(scratch, int32_t, (int64_t)e->node_count + 2), *mark_of = TL_SCRATCH(scratch, int32_t, e->node_count);
    tl_status status = TL_OK;
    if (!e->slot || !start || !items || !first || !mark_of) {
        status = tl_fail_memory(err, "the matrix");
        goto done;
    }
    int32_t n = 0, group = 0;
    start[0] = 0;
    for (int32_t f = 0; f < e->face_count; f++) {
        for (int k = 0; k < TL_PATCH_NODES; k++)
            if (k < 3 || e->face_hinge[f][k - 3] >= 0) items[n++] = e->face[f][k];
        start[++group] = n;
    }
    status = tl_bsr_create(al, e->node_count, groups, start, items, out, err);
    if (status != TL_OK) goto done;
    list_patches(e, first, items);
    find_slots(e, *out, first, items, mark_of);
done:
    tl_arena_release(scratch, mark);
    return status;
}
