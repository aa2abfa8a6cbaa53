// run/check_surface.c: the meshes of a frame as one surface with edges and a tree, for the search for crossings.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "mesh/edges.h"
#include "run/check.h"
#include "math/vec3.h"

void tl_check_surface_init(tl_check_surface *s, const tl_allocator *alloc) { *s = (tl_check_surface){.alloc = *alloc}; }

void tl_check_surface_free(tl_check_surface *s)
{
    const tl_allocator *alloc = &s->alloc;
    const int32_t nodes = s->first_node ? s->first_node[s->mesh_count] : 0;
    const int32_t faces = s->first_face ? s->first_face[s->mesh_count] : 0;
    tl_bvh_destroy(s->bvh);
    for (int32_t i = 0; i < s->mesh_count; i++) tl_obj_free(&s->mesh[i]);
    TL_FREE(alloc, s->x, nodes);
    TL_FREE(alloc, s->pinched, nodes);
    TL_FREE(alloc, s->node_face, faces);
    TL_FREE(alloc, s->face, faces);
    TL_FREE(alloc, s->face_id, faces);
    TL_FREE(alloc, s->edge, s->surface.edge_count);
    TL_FREE(alloc, s->edge_face, s->surface.edge_count);
    TL_FREE(alloc, s->first_node, s->mesh_count + 1);
    TL_FREE(alloc, s->first_face, s->mesh_count + 1);
    TL_FREE(alloc, s->mesh, s->mesh_cap);
    TL_FREE(alloc, s->name, s->name_cap);
    tl_check_surface_init(s, &(tl_allocator){alloc->resize, alloc->user});
}

tl_status tl_check_surface_add(tl_check_surface *s, tl_obj *mesh, const char *name, tl_error *err)
{
    if (!TL_GROW(&s->alloc, s->mesh, s->mesh_cap, s->mesh_count + 1) ||
        !TL_GROW(&s->alloc, s->name, s->name_cap, s->mesh_count + 1)) {
        tl_obj_free(mesh);
        return tl_fail_memory(err, "meshes");
    }
    s->name[s->mesh_count] = name;
    s->mesh[s->mesh_count++] = *mesh;
    return TL_OK;
}

static int32_t range_of(const int32_t *first, int32_t count, int32_t id)
{
    int32_t lo = 0, hi = count;  // first[lo] <= id < first[hi]
    while (hi - lo > 1) {
        const int32_t mid = lo + (hi - lo) / 2;
        if (first[mid] <= id)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

int32_t tl_check_mesh_of_face(const tl_check_surface *s, int32_t face)
{
    return range_of(s->first_face, s->mesh_count, face);
}

static void fill(tl_check_surface *s)
{
    int32_t kept = 0;
    for (int32_t m = 0; m < s->mesh_count; m++) {
        const tl_obj *mesh = &s->mesh[m];
        const int32_t n0 = s->first_node[m], f0 = s->first_face[m];
        if (mesh->node_count > 0) memcpy(s->x + n0, mesh->pos, (size_t)mesh->node_count * sizeof *s->x);
        for (int32_t i = 0; i < mesh->pinched_count; i++) s->pinched[n0 + mesh->pinched[i]] = 1;
        for (int32_t f = 0; f < mesh->face_count; f++) {
            int32_t *c = s->node_face[f0 + f];
            for (int k = 0; k < 3; k++) c[k] = n0 + mesh->vert_node[mesh->face[f][k]];
            if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;
            if (!tl_finite3(s->x[c[0]]) || !tl_finite3(s->x[c[1]]) || !tl_finite3(s->x[c[2]])) continue;
            memcpy(s->face[kept], c, sizeof s->face[kept]);
            s->face_id[kept++] = f0 + f;
        }
    }
    s->surface = (tl_surface){
        .node_count = s->first_node[s->mesh_count], .face_count = kept, .face = (const int32_t(*)[3])s->face};
}

// Also the first face at every edge.
static tl_status find_edges(tl_check_surface *s, tl_error *err)
{
    const int32_t faces = s->surface.face_count;
    int32_t(*face_edge)[3] = tl_alloc_bytes(&s->alloc, (size_t)faces, sizeof *face_edge);
    tl_status status = face_edge ? TL_OK : tl_fail_memory(err, "edges");
    if (status == TL_OK)
        status = tl_unique_edges(&s->alloc, s->surface.face, faces, &s->edge, &s->surface.edge_count, face_edge, err);
    if (status == TL_OK) {
        s->surface.edge = (const int32_t(*)[2])s->edge;
        s->edge_face = TL_ALLOC(&s->alloc, int32_t, s->surface.edge_count);
        if (!s->edge_face) status = tl_fail_memory(err, "edges");
    }
    for (int32_t f = faces - 1; status == TL_OK && f >= 0; f--)
        for (int k = 0; k < 3; k++) s->edge_face[face_edge[f][k]] = s->face_id[f];
    TL_FREE(&s->alloc, face_edge, faces);
    return status;
}

tl_status tl_check_surface_build(tl_check_surface *s, tl_workers *workers, tl_error *err)
{
    const tl_allocator *alloc = &s->alloc;
    s->first_node = TL_CALLOC(alloc, int32_t, s->mesh_count + 1);
    s->first_face = TL_CALLOC(alloc, int32_t, s->mesh_count + 1);
    if (!s->first_node || !s->first_face) return tl_fail_memory(err, "meshes");
    int64_t nodes = 0, faces = 0;
    for (int32_t m = 0; m < s->mesh_count; m++) nodes += s->mesh[m].node_count, faces += s->mesh[m].face_count;
    if (nodes > INT32_MAX || faces > INT32_MAX / 3)
        return tl_fail(err, TL_BAD_INPUT, "%lld faces, too many", (long long)faces);
    for (int32_t m = 0; m < s->mesh_count; m++) {
        s->first_node[m + 1] = s->first_node[m] + s->mesh[m].node_count;
        s->first_face[m + 1] = s->first_face[m] + s->mesh[m].face_count;
    }
    s->x = TL_ALLOC(alloc, tl_vec3, nodes);
    s->pinched = TL_CALLOC(alloc, uint8_t, nodes);
    s->node_face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *s->node_face);
    s->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *s->face);
    s->face_id = TL_ALLOC(alloc, int32_t, faces);
    if (!s->x || !s->pinched || !s->node_face || !s->face || !s->face_id) return tl_fail_memory(err, "meshes");
    fill(s);
    TL_TRY(find_edges(s, err));
    if (s->surface.face_count == 0) return TL_OK;
    const tl_bvh_def def = tl_bvh_def_default();
    TL_TRY(tl_bvh_create(alloc, &def, &s->surface, s->x, &s->bvh, err));
    tl_bvh_refit(s->bvh, s->x, NULL, 0, 0, workers);
    return TL_OK;
}
