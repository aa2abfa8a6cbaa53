// sim/remeshing_clearance.c: clearance around the faces of all cloths, for operations that move the
// surface.
//
// All meshes are taken as one surface, as they stand: at first that of the elements, with the tree that the contacts
// have of it; once meshes have changed, one that is put together anew. Nothing is measured unless the remesher asks for
// it.

#include <math.h>

#include "base/fail.h"
#include "mesh/mesh_query.h"
#include "sim/remeshing_impl.h"

/// The faces of all meshes as one surface, as captured when clearance was last measured: later edits do not change it.
typedef struct whole {
    int32_t (*face)[3];
    tl_vec3 *x;
    tl_vec2 *uv;
    int32_t *chart;             // one for each panel of each cloth; -1 on seams, where there is no one chart
    uint8_t *sides;             // bits of the edges of a face that run against it
    const int32_t *face_start;  // [cloth_count + 1] into face_of
    const int32_t *face_of;     // by face slot, mesh after mesh
    tl_surface surface;
} whole;

static uint8_t sides_of(const tl_mesh *mesh, int32_t f)
{
    uint8_t sides = 0;
    for (int k = 0; k < 3; k++) sides |= (uint8_t)((mesh->edge_face[mesh->face_edge[f][k]][0] != f) << k);
    return sides;
}

static int32_t chart_of(const tl_mesh *mesh, int32_t n, int32_t charts)
{
    const int32_t v = mesh->node_vert[n];
    return mesh->vert_next[v] == v ? charts + mesh->face_panel[mesh->vert_face[v]] : -1;
}

// As long as no mesh has changed since it was compiled, the surface is that of the elements.
static tl_status describe_elements(tl_sim *sim, whole *out, tl_error *err)
{
    const tl_elements *e = sim->elements;
    out->uv = TL_SCRATCH(&sim->arena, tl_vec2, e->node_count);
    out->chart = TL_SCRATCH(&sim->arena, int32_t, e->node_count);
    out->sides = TL_SCRATCH(&sim->arena, uint8_t, e->face_count);
    if (!out->uv || !out->chart || !out->sides) return tl_fail_memory(err, "remeshing");
    out->face_start = e->cloth_face_start, out->face_of = e->face_of;
    int32_t charts = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        const int32_t *node_of = e->node_of + e->cloth_node_start[c], *face_of = e->face_of + e->cloth_face_start[c];
        for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
            if (node_of[n] != TL_NONE)
                out->uv[node_of[n]] = mesh->uv[mesh->node_vert[n]], out->chart[node_of[n]] = chart_of(mesh, n, charts);
        for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++)
            if (face_of[f] != TL_NONE) out->sides[face_of[f]] = sides_of(mesh, f);
        charts += mesh->panel_count;
    }
    return TL_OK;
}

static void join_mesh(const tl_mesh *mesh, int32_t charts, int32_t *face_of, whole *out)
{
    const int32_t first = out->surface.node_count;
    for (int32_t f = 0; f < mesh->slots[TL_FACES].count; f++) {
        if (!tl_alive(mesh, TL_FACES, f)) continue;
        const int32_t at = face_of[f] = out->surface.face_count++;
        out->sides[at] = sides_of(mesh, f);
        for (int k = 0; k < 3; k++) out->face[at][k] = first + tl_face_node(mesh, f, k);
    }
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++) {
        const bool lives = tl_alive(mesh, TL_NODES, n);
        out->x[first + n] = lives ? mesh->pos[n] : (tl_vec3){0, 0, 0};
        out->uv[first + n] = lives ? mesh->uv[mesh->node_vert[n]] : (tl_vec2){0, 0};
        out->chart[first + n] = lives ? chart_of(mesh, n, charts) : -1;
    }
    out->surface.node_count += mesh->slots[TL_NODES].count;
}

static tl_status join_meshes(tl_sim *sim, whole *out, tl_error *err)
{
    int32_t nodes = 0, faces = 0, charts = 0;
    int32_t *face_start = TL_SCRATCH(&sim->arena, int32_t, sim->cloth_count + 1);
    if (!face_start) return tl_fail_memory(err, "remeshing");
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_slots *s = sim->cloths[c].mesh->slots;
        face_start[c] = faces;
        nodes += s[TL_NODES].count, faces += s[TL_FACES].count;
    }
    out->x = TL_SCRATCH(&sim->arena, tl_vec3, nodes);
    out->uv = TL_SCRATCH(&sim->arena, tl_vec2, nodes);
    out->chart = TL_SCRATCH(&sim->arena, int32_t, nodes);
    out->face = tl_arena_bytes(&sim->arena, (size_t)faces, sizeof *out->face);
    int32_t *face_of = TL_SCRATCH(&sim->arena, int32_t, faces);
    out->sides = TL_SCRATCH(&sim->arena, uint8_t, faces);
    if (!out->sides || !out->x || !out->uv || !out->chart || !out->face || !face_of)
        return tl_fail_memory(err, "remeshing");
    out->face_start = face_start, out->face_of = face_of;
    out->surface = (tl_surface){.face = (const int32_t(*)[3])out->face};
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        join_mesh(sim->cloths[c].mesh, charts, face_of + face_start[c], out);
        charts += sim->cloths[c].mesh->panel_count;
    }
    return TL_OK;
}

// How far to look. The surface moves by some hundredths of the length of edges, 99 of 100 times by less than 0.15 of
// it, and of what is between two pieces of cloth each may use half; to look further costs time. Less than half the mean
// length is too little for the long edges of a mesh of mixed sizes: flips that they need are refused, and the thin
// faces that stay cost the solver iterations.
#define REACH 0.5

static double reach_of(const tl_sim *sim, const surroundings *s)
{
    double length = 0;
    int32_t count = 0;
    for (int32_t c = 0; c < sim->cloth_count; c++) {
        const tl_mesh *mesh = sim->cloths[c].mesh;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
            if (!tl_alive(mesh, TL_EDGES, e)) continue;
            length += tl_norm3(tl_sub3(mesh->pos[mesh->edge_node[e][0]], mesh->pos[mesh->edge_node[e][1]]));
            count++;
        }
    }
    return fmax(4 * s->thickest, REACH * length / fmax(1, count));
}

/// What the clearance of faces is measured from during a pass.
struct clearance_job {
    whole w;
    tl_bvh *tree;  // of w; NULL: no contact, clearance is unlimited
    bool lent;     // by the contacts
    tl_clearance_def around;
    double reach;
};

void remeshing_free_clearance(surroundings *s)
{
    if (!s->job->lent) tl_bvh_destroy(s->job->tree);
    s->job->tree = NULL;
}

// Captures the present state of all meshes, from which clearance is measured.
static tl_status prepare_clearance(tl_sim *sim, surroundings *s, tl_error *err)
{
    if (!s->job) s->job = TL_SCRATCH(&sim->arena, clearance_job, 1);
    if (!s->job) return tl_fail_memory(err, "remeshing");
    const bool first = !s->measured;  // else meshes have changed, and there is no tree for them
    if (!first) remeshing_free_clearance(s);
    *s->job = (clearance_job){.reach = reach_of(sim, s)};
    s->measured = true;
    s->all.reach = s->job->reach;
    if (!sim->contacts) return TL_OK;
    whole *w = &s->job->w;
    if (first) {
        TL_TRY(describe_elements(sim, w, err));
        s->job->tree = tl_contacts_cloth_tree(sim->contacts), s->job->lent = true;
        tl_bvh_refit(s->job->tree, sim->x, NULL, 0, 0, sim->workers);
    } else {
        TL_TRY(join_meshes(sim, w, err));
        tl_bvh_def def = tl_bvh_def_default();
        TL_TRY(tl_bvh_create(&sim->alloc, &def, &w->surface, w->x, &s->job->tree, err));
    }
    s->job->around = (tl_clearance_def){.tree = s->job->tree,
                                        .bodies = s->clearance,
                                        .body_count = s->body_count,
                                        .reach = s->job->reach,
                                        .keep = KEPT * s->thickest,
                                        .keep_flat = KEPT * TL_FLAT_PART,
                                        .uv = w->uv,
                                        .chart = w->chart,
                                        .sides = w->sides};
    return TL_OK;
}

// At the first call for a cloth the state may already have been captured for another cloth.
tl_status remeshing_renew_clearance(void *self, tl_error *err)
{
    renewal *r = self;
    const bool known = r->s->measured && !r->again;
    r->again = true;
    return known ? TL_OK : prepare_clearance(r->sim, r->s, err);
}

// Each of two pieces of cloth may use half of the gap between them.
double remeshing_measure_clearance(void *self, int32_t face, tl_clearance_kind what, double enough)
{
    const renewal *r = self;
    const clearance_job *o = r->s->job;
    if (!o->tree) return what == TL_CLEARANCE_CLOTH ? 1e30 : o->reach;
    const int32_t f = o->w.face_of[o->w.face_start[r->cloth] + face];
    if (what == TL_CLEARANCE_BODIES) return tl_clearance_bodies(&o->around, f, enough);
    return r->sim->def.collide.self ? 0.5 * tl_clearance_self(&o->around, f, 2 * enough) : 1e30;
}
