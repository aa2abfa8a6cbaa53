// scene/scene_pattern.c: a sewing pattern as the mesh of a cloth.

#include "scene/scene_pattern.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/vec3.h"
#include "scene/pattern_file.h"

#define TOGETHER 1e-3  // [m]: sides of a seam that lie so near are sewn at once

static int32_t root_of(const int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i];
    return i;
}

// Joins paired vertices; counts the pairs that stay open and the widest gap among them.
static void join(const tl_pattern_mesh *m, bool weld, int32_t *parent, int32_t *open, double *widest)
{
    *open = 0, *widest = 0;
    for (int32_t i = 0; i < m->pair_count; i++) {
        const tl_seam_pair *p = &m->pairs[i];
        const double gap = tl_norm3(tl_sub3(m->pos[p->a], m->pos[p->b]));
        if (gap > TOGETHER && !weld) {
            ++*open;
            *widest = fmax(*widest, gap);
            continue;
        }
        const int32_t a = root_of(parent, p->a), b = root_of(parent, p->b);
        parent[a > b ? a : b] = a < b ? a : b;
    }
}

// Nodes at the mean of their vertices, numbered in the order of these.
static tl_status make_nodes(const tl_pattern_mesh *m, int32_t *parent, tl_obj *out, tl_error *err)
{
    const int32_t n = m->vert_count;
    int32_t *count = TL_CALLOC(&out->alloc, int32_t, n);
    out->pos = TL_CALLOC(&out->alloc, tl_vec3, n);
    out->vert_node = TL_ALLOC(&out->alloc, int32_t, n);
    out->uv = TL_ALLOC(&out->alloc, tl_vec2, n);
    out->face = tl_alloc_bytes(&out->alloc, (size_t)m->face_count, sizeof *out->face);
    if (out->pos) out->pos_cap = n;
    if (out->vert_node) out->vert_cap = n;
    if (out->uv) out->uv_cap = n;
    if (out->face) out->face_cap = m->face_count;
    const bool ok = count && out->pos && out->vert_node && out->uv && out->face;
    for (int32_t v = 0; ok && v < n; v++) {
        const int32_t r = root_of(parent, v), node = r == v ? out->node_count++ : out->vert_node[r];
        out->vert_node[v] = node;
        out->pos[node] = tl_add3(out->pos[node], m->pos[v]);
        out->uv[v] = m->uv[v];
        count[node]++;
    }
    for (int32_t i = 0; ok && i < out->node_count; i++) out->pos[i] = tl_mul3(1.0 / count[i], out->pos[i]);
    if (ok) memcpy(out->face, m->face, (size_t)m->face_count * sizeof *m->face);
    out->vert_count = n, out->face_count = m->face_count;
    if (count) TL_FREE(&out->alloc, count, n);
    return ok ? TL_OK : tl_fail_memory(err, "the mesh of a pattern");
}

static tl_status fill(const tl_allocator *alloc, const tl_pattern *pattern, const tl_mesh_file *file, tl_notes *notes,
                      tl_scene_cloth *cloth, tl_error *err)
{
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    if (isfinite(file->edge)) def.edge = file->edge;
    if (file->method >= 0) def.method = (tl_panel_method)file->method;
    tl_pattern_mesh mesh;
    TL_TRY(tl_pattern_mesh_make(alloc, pattern, &def, &mesh, err));
    cloth->mesh = (tl_obj){.alloc = *alloc};
    int32_t open = 0, *parent = TL_ALLOC(alloc, int32_t, mesh.vert_count);
    double widest = 0;
    tl_status status = parent ? TL_OK : tl_fail_memory(err, "seams");
    for (int32_t i = 0; parent && i < mesh.vert_count; i++) parent[i] = i;
    if (parent) join(&mesh, file->weld, parent, &open, &widest);
    if (status == TL_OK) status = make_nodes(&mesh, parent, &cloth->mesh, err);
    if (parent) TL_FREE(alloc, parent, mesh.vert_count);
    if (status == TL_OK && open > 0)
        tl_notes_add(
            notes, "",
            "%.200s: %d of %d pairs of the seams lie up to %.3g m apart and are left open (weld: true sews them)",
            cloth->origin, open, mesh.pair_count, widest);
    tl_pattern_mesh_free(&mesh);
    return status;
}

tl_status tl_scene_pattern_mesh(const tl_allocator *alloc, const tl_reader *reader, const tl_node *node,
                                const tl_mesh_file *file, tl_notes *notes, tl_scene_cloth *cloth, tl_error *err)
{
    char dir[TL_PATH_MAX], path[TL_PATH_MAX], real[TL_PATH_MAX];
    TL_TRY(tl_node_dir(node, dir, err));
    TL_TRY(tl_path_join(dir, file->pattern, path, err));
    snprintf(cloth->origin, sizeof cloth->origin, "%.255s", path);
    tl_pattern *pattern = NULL;
    tl_status status = tl_pattern_open(alloc, reader, path, &pattern, err);
    if (status == TL_OK) status = fill(alloc, pattern, file, notes, cloth, err);
    for (int32_t i = 0; status == TL_OK && i < tl_pattern_note_count(pattern); i++)
        tl_notes_add(notes, "", "%.200s: %s", path, tl_pattern_note(pattern, i));
    tl_pattern_destroy(pattern);
    if (status == TL_FAILED || status == TL_BAD_ARG) status = TL_BAD_INPUT;
    if (status == TL_NO_MEMORY) return status;
    if (status != TL_OK) {
        tl_node_prefix(node, err);
        if (err) err->status = status;
        return status;
    }
    cloth->from_file = true;
    tl_path_absolute(path, real);
    json_t *absolute = json_string(real);
    if (!absolute) return TL_OK;  // not UTF-8: the path as it was written
    if (json_object_set_new(node->up->value, "pattern", absolute) != 0) return tl_fail_memory(err, "scene text");
    return TL_OK;
}
