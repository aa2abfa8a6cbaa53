// run/self_crossings.c: crossings of a posed character with itself, counted by the joints that move both sides.

#include "run/self_crossings.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "detect/intersect.h"
#include "io/ply.h"
#include "run/check.h"

static const char *joint_name(const tl_character *c, int32_t vert)
{
    const int32_t node = tl_character_vert_node(c, vert);
    const char *name = tl_character_node_name(c, node);
    return *name ? name : "mesh";
}

static void count_place(const char *a, const char *b, tl_vec3 at, tl_self_crossings *out)
{
    tl_self_place p = {.pairs = 1, .at = at};
    const bool ordered = strcmp(a, b) <= 0;
    snprintf(p.name, sizeof p.name, "%s, %s", ordered ? a : b, ordered ? b : a);
    int32_t i = 0;
    while (i < out->place_count && strcmp(out->place[i].name, p.name) != 0) i++;
    if (i < out->place_count)
        out->place[i].pairs++;
    else if (i < TL_SELF_PLACES)
        out->place[out->place_count++] = p;
    for (; i > 0 && i < out->place_count && out->place[i].pairs > out->place[i - 1].pairs; i--) {
        const tl_self_place swap = out->place[i];
        out->place[i] = out->place[i - 1], out->place[i - 1] = swap;
    }
}

static tl_status pose_surface(const tl_allocator *alloc, const tl_character *c, const tl_playback *play, double time,
                              tl_check_surface *out, tl_error *err)
{
    tl_obj mesh;
    const int32_t n = tl_character_vert_count(c), faces = tl_character_face_count(c);
    TL_TRY(tl_obj_make(alloc, n, faces, &mesh, err));
    if (!TL_GROW(alloc, mesh.vert_node, mesh.vert_cap, n)) {
        tl_obj_free(&mesh);
        return tl_fail_memory(err, "a pose");
    }
    mesh.vert_count = n;
    for (int32_t i = 0; i < n; i++) mesh.vert_node[i] = i;
    memcpy(mesh.face, tl_character_faces(c), (size_t)faces * sizeof *mesh.face);
    const tl_status status = tl_character_pose(c, play, time, mesh.pos, err);
    if (status != TL_OK) {
        tl_obj_free(&mesh);
        return status;
    }
    return tl_check_surface_add(out, &mesh, "body", err);
}

tl_status tl_self_crossings_find(const tl_allocator *alloc, const tl_character *c, const tl_playback *play, double time,
                                 tl_self_crossings *out, tl_error *err)
{
    *out = (tl_self_crossings){0};
    tl_check_surface s;
    tl_crossings found;
    tl_arena arena;
    tl_workers *workers = NULL;
    tl_check_surface_init(&s, alloc);
    tl_crossings_init(&found, *alloc);
    tl_arena_init(&arena, *alloc);
    tl_status status = tl_workers_create(alloc, 1, &workers, err);
    if (status == TL_OK) status = pose_surface(alloc, c, play, time, &s, err);
    if (status == TL_OK) status = tl_check_surface_build(&s, workers, err);
    if (status == TL_OK && s.bvh) status = tl_find_crossings(s.bvh, NULL, &arena, workers, &found, err);
    for (int32_t i = 0; status == TL_OK && i < found.count; i++) {
        const int32_t *e = s.edge[found.items[i].edge], *f = s.face[found.items[i].face];
        const tl_vec3 at = tl_segment_triangle_place(&s.x[e[0]], &s.x[e[1]], &s.x[f[0]], &s.x[f[1]], &s.x[f[2]]);
        count_place(joint_name(c, e[0]), joint_name(c, f[0]), at, out);
        out->pairs++;
    }
    tl_workers_destroy(workers);
    tl_arena_free(&arena);
    tl_crossings_free(&found);
    tl_check_surface_free(&s);
    return status;
}
