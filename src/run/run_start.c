// run/run_start.c: the start of a run: may it begin from here, and if not, a picture of why.

#include "run/run_start.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/fail.h"
#include "mesh/edges.h"
#include "detect/intersect.h"
#include "io/file.h"
#include "io/overlay.h"
#include "math/vec3.h"

/// All cloths as one surface, or a body; with a mark for every face.
typedef struct piece {
    int32_t node_count, face_count, edge_count;
    tl_vec3 *x;
    int32_t (*face)[3];
    int32_t (*edge)[2];
    int32_t (*face_edge)[3];
    uint8_t *mark;  ///< tl_overlay_mark per face
    uint8_t *cut;   ///< per edge: passes through something
    tl_bvh *tree;
} piece;

static void free_piece(const tl_allocator *alloc, piece *p)
{
    tl_bvh_destroy(p->tree);
    TL_FREE(alloc, p->x, p->node_count);
    TL_FREE(alloc, p->face, p->face_count);
    TL_FREE(alloc, p->edge, p->edge_count);
    TL_FREE(alloc, p->face_edge, p->face_count);
    TL_FREE(alloc, p->mark, p->face_count);
    TL_FREE(alloc, p->cut, p->edge_count);
    *p = (piece){0};
}

static tl_status alloc_piece(const tl_allocator *alloc, int32_t nodes, int32_t faces, piece *p, tl_error *err)
{
    *p = (piece){.node_count = nodes, .face_count = faces};
    p->x = TL_ALLOC(alloc, tl_vec3, nodes);
    p->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *p->face);
    p->face_edge = tl_alloc_bytes(alloc, (size_t)faces, sizeof *p->face_edge);
    p->mark = TL_CALLOC(alloc, uint8_t, faces);
    return p->x && p->face && p->face_edge && p->mark ? TL_OK : tl_fail_memory(err, "an overlay");
}

static tl_status close_piece(const tl_allocator *alloc, piece *p, tl_error *err)
{
    TL_TRY(tl_unique_edges(alloc, (const int32_t(*)[3])p->face, p->face_count, &p->edge, &p->edge_count, p->face_edge,
                           err));
    p->cut = TL_CALLOC(alloc, uint8_t, p->edge_count);
    if (!p->cut) return tl_fail_memory(err, "an overlay");
    const tl_surface s = {p->node_count, p->face_count, p->edge_count, (const int32_t(*)[3])p->face,
                          (const int32_t(*)[2])p->edge};
    const tl_bvh_def def = tl_bvh_def_default();
    TL_TRY(tl_bvh_create(alloc, &def, &s, p->x, &p->tree, err));
    tl_bvh_refit(p->tree, p->x, NULL, 0, 0, NULL);
    return TL_OK;
}

static tl_status gather_cloths(const tl_allocator *alloc, const tl_sim *sim, piece *p, tl_error *err)
{
    int32_t nodes = 0, faces = 0;
    tl_cloth_view view;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        TL_TRY(tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view));
        nodes += view.node_count, faces += view.face_count;
    }
    TL_TRY(alloc_piece(alloc, nodes, faces, p, err));
    int32_t n = 0, f = 0;
    for (int32_t c = 0; c < tl_sim_cloth_count(sim); c++) {
        TL_TRY(tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view));
        memcpy(p->x + n, view.pos, (size_t)view.node_count * sizeof *p->x);
        for (int32_t i = 0; i < view.face_count; i++, f++)
            for (int k = 0; k < 3; k++) p->face[f][k] = n + view.vert_node[view.face[i][k]];
        n += view.node_count;
    }
    return close_piece(alloc, p, err);
}

static void colour(piece *p, int32_t face, tl_overlay_mark mark)
{
    if (p->mark[face] < (uint8_t)mark) p->mark[face] = (uint8_t)mark;
}

// Faces that are cut, and faces at edges that cut.
static void colour_crossings(piece *cloth, piece *body, const tl_crossings *found)
{
    const tl_overlay_mark mark = body ? TL_MARK_BODY : TL_MARK_CLOTH;
    for (int32_t i = 0; i < found->count; i++) {
        const tl_crossing *c = &found->items[i];
        piece *edge_side = c->edge_surface == 0 ? cloth : body,
              *face_side = !body || c->edge_surface == 1 ? cloth : body;
        edge_side->cut[c->edge] = 1;
        colour(face_side, c->face, mark);
    }
    for (int side = 0; side < (body ? 2 : 1); side++) {
        piece *p = side == 0 ? cloth : body;
        for (int32_t f = 0; f < p->face_count; f++)
            for (int k = 0; k < 3; k++)
                if (p->cut[p->face_edge[f][k]]) colour(p, f, mark);
        memset(p->cut, 0, (size_t)p->edge_count);
    }
}

// Rounding of the square that a plane is shown as; for showing only.
static const double SHOWN = 1e-9;

static void colour_behind(piece *cloth, const tl_body_view *plane)
{
    const tl_vec3 *q = plane->pos;
    const tl_vec3 n = tl_unit3_or(tl_cross3(tl_sub3(q[1], q[0]), tl_sub3(q[2], q[0])), (tl_vec3){0, 1, 0});
    for (int32_t f = 0; f < cloth->face_count; f++)
        for (int k = 0; k < 3; k++)
            if (tl_dot3(n, tl_sub3(cloth->x[cloth->face[f][k]], q[0])) <= SHOWN) colour(cloth, f, TL_MARK_BODY);
}

/// What is shown: meshes[0 ..] of all cloths and of the bodies that are no planes.
typedef struct picture {
    tl_allocator alloc;
    tl_arena arena;
    tl_crossings found;
    piece cloth, *body;
    int32_t body_count;
    tl_overlay_mesh *meshes;
    int32_t mesh_count, mesh_cap;
} picture;

static tl_status add_body(picture *pic, const tl_scene *scene, const tl_sim *sim, int32_t b, tl_error *err)
{
    const tl_body_id id = tl_sim_body(sim, b);
    tl_body_view view;
    TL_TRY(tl_sim_body_view(sim, id, &view));
    if (!view.present) return TL_OK;
    if (scene->obstacles[b].kind == TL_BODY_PLANE) {
        colour_behind(&pic->cloth, &view);
        return TL_OK;
    }
    piece *p = &pic->body[b];
    TL_TRY(alloc_piece(&pic->alloc, view.node_count, view.face_count, p, err));
    memcpy(p->x, view.pos, (size_t)view.node_count * sizeof *p->x);
    memcpy(p->face, view.face, (size_t)view.face_count * sizeof *p->face);
    TL_TRY(close_piece(&pic->alloc, p, err));
    tl_arena_reset(&pic->arena);
    TL_TRY(tl_find_crossings(pic->cloth.tree, p->tree, &pic->arena, NULL, &pic->found, err));
    colour_crossings(&pic->cloth, p, &pic->found);
    pic->meshes[pic->mesh_count++] = (tl_overlay_mesh){tl_sim_body_name(sim, id),    p->x,          p->node_count,
                                                       (const int32_t(*)[3])p->face, p->face_count, p->mark};
    return TL_OK;
}

static tl_status fill_picture(picture *pic, const tl_scene *scene, const tl_sim *sim, tl_error *err)
{
    const int32_t cloths = tl_sim_cloth_count(sim), bodies = scene->file.collide.bodies ? tl_sim_body_count(sim) : 0;
    pic->body = TL_CALLOC(&pic->alloc, piece, bodies + 1);
    if (pic->body) pic->body_count = bodies;
    if (!pic->body || !TL_GROW(&pic->alloc, pic->meshes, pic->mesh_cap, cloths + bodies))
        return tl_fail_memory(err, "an overlay");
    TL_TRY(gather_cloths(&pic->alloc, sim, &pic->cloth, err));
    if (scene->file.collide.self) {
        TL_TRY(tl_find_crossings(pic->cloth.tree, NULL, &pic->arena, NULL, &pic->found, err));
        colour_crossings(&pic->cloth, NULL, &pic->found);
    }
    int32_t face = 0;
    for (int32_t c = 0; c < cloths; c++) {
        tl_cloth_view view;
        TL_TRY(tl_sim_cloth_view(sim, tl_sim_cloth(sim, c), &view));
        pic->meshes[pic->mesh_count++] =
            (tl_overlay_mesh){tl_sim_cloth_name(sim, tl_sim_cloth(sim, c)), pic->cloth.x,    pic->cloth.node_count,
                              (const int32_t(*)[3])pic->cloth.face + face,  view.face_count, pic->cloth.mark + face};
        face += view.face_count;
    }
    for (int32_t b = 0; b < bodies; b++) TL_TRY(add_body(pic, scene, sim, b, err));
    return TL_OK;
}

static tl_status write_picture(const tl_scene *scene, const tl_sim *sim, const char *path, tl_error *err)
{
    picture pic = {.alloc = tl_allocator_default()};
    tl_arena_init(&pic.arena, pic.alloc);
    tl_crossings_init(&pic.found, pic.alloc);
    tl_status status = fill_picture(&pic, scene, sim, err);
    if (status == TL_OK) status = tl_overlay_write(path, pic.meshes, pic.mesh_count, err);
    free_piece(&pic.alloc, &pic.cloth);
    for (int32_t b = 0; b < pic.body_count; b++) free_piece(&pic.alloc, &pic.body[b]);
    if (pic.body) TL_FREE(&pic.alloc, pic.body, pic.body_count + 1);
    TL_FREE(&pic.alloc, pic.meshes, pic.mesh_cap);
    tl_crossings_free(&pic.found);
    tl_arena_free(&pic.arena);
    return status;
}

tl_status tl_run_start(const tl_scene *scene, tl_sim *sim, const char *dir, tl_start_report *report, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(dir, "intersections.obj", path, err));
    const tl_status status = tl_sim_start(sim, report, err);
    if (status == TL_OK) unlink(path);
    if (status != TL_BAD_INPUT || report->crossings_before == 0) return status;
    tl_error why = {0}, ignored;
    if (err) why = *err;
    // Without the picture the message still says what is wrong.
    if (tl_make_dirs(dir, &ignored) != TL_OK || write_picture(scene, sim, path, &ignored) != TL_OK) return status;
    return tl_fail(err, status, "%s (%.200s shows where)", why.message, path);
}
