// tests/unit/test_flesh.c: bodies as cloth meets them: hands closed by their hulls, skin that gives way where parts of
// a body press on each other.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "body/mittens.h"
#include "body/retarget.h"
#include "check.h"
#include "detect/intersect.h"
#include "math/vec3.h"
#include "mesh/edges.h"
#include "toile/core.h"

static const tl_allocator *heap(void)
{
    static tl_allocator a;
    a = tl_allocator_default();
    return &a;
}

static tl_character *load(void)
{
    tl_error err = {TL_OK, ""};
    tl_character *c;
    tl_character_def def = tl_character_def_default();
    def.file = TL_REPO "/scenes/walk/body.glb";
    assert_int_equal(tl_character_load(&def, &c, &err), TL_OK);
    return c;
}

// ---- mittens --------------------------------------------------------------------------------------------------

static bool is_end(const tl_character *c, int32_t vert)
{
    for (int32_t n = tl_character_vert_node(c, vert); n >= 0; n = tl_character_node_parent(c, n)) {
        int side;
        const tl_bone bone = tl_bone_of(tl_character_node_name(c, n), &side);
        if (bone == TL_BONE_HAND || bone == TL_BONE_TOE) return true;
    }
    return false;
}

// Every vertex of a hand lies behind every face of a hull that is near it, and hulls are closed.
static void hulls_hold_their_hands(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c = load();
    const int32_t n = tl_character_vert_count(c);
    tl_vec3 *x = TL_ALLOC(heap(), tl_vec3, n);
    const tl_playback rest = tl_playback_default();
    assert_int_equal(tl_character_pose(c, &rest, 0, x, &err), TL_OK);
    int32_t(*face)[3], faces, (*edge)[2], edges;
    assert_int_equal(tl_character_mittens(heap(), c, x, &face, &faces, &err), TL_OK);
    print_message("%d faces close hands and toes\n", faces);
    assert_true(faces > 100);
    int32_t verts = 0;
    uint8_t *used = TL_CALLOC(heap(), uint8_t, n);
    for (int32_t f = 0; f < faces; f++)
        for (int k = 0; k < 3; k++) verts += !used[face[f][k]], used[face[f][k]] = 1;
    for (int32_t v = 0; v < n; v++)
        if (used[v]) assert_true(is_end(c, v));
    assert_int_equal(tl_unique_edges(heap(), (const int32_t(*)[3])face, faces, &edge, &edges, NULL, &err), TL_OK);
    assert_int_equal(verts - edges + faces, 2 * 4);  // two hands, the toes of two feet
    double worst = 0;
    for (int32_t f = 0; f < faces; f++) {
        const tl_vec3 a = x[face[f][0]],
                      m = tl_unit3_or(tl_cross3(tl_sub3(x[face[f][1]], a), tl_sub3(x[face[f][2]], a)),
                                      (tl_vec3){0, 0, 0});
        for (int32_t v = 0; v < n; v++)
            if (tl_norm3(tl_sub3(x[v], a)) < 0.12 && is_end(c, v)) worst = fmax(worst, tl_dot3(m, tl_sub3(x[v], a)));
    }
    assert_true(worst < 1e-4);
    TL_FREE(heap(), used, n);
    TL_FREE(heap(), edge, edges);
    TL_FREE(heap(), face, faces);
    TL_FREE(heap(), x, n);
    tl_character_destroy(c);
}

// ---- flesh ----------------------------------------------------------------------------------------------------

static tl_sim *make(const tl_character *c, bool flesh, bool mittens, tl_body_id *body)
{
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.5;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_OK);
    tl_body_def b = tl_body_def_default();
    b.name = "body", b.character = c, b.flesh = flesh, b.mittens = mittens;
    b.playback = tl_playback_default();
    b.playback.clip = tl_character_find_clip(c, "dance_pirouette"), b.playback.from = 2;
    assert_true(b.playback.clip >= 0);
    assert_int_equal(tl_sim_add_body(sim, &b, body, &err), TL_OK);
    return sim;
}

// Edges of the body that pass through its own faces, those of neighbours left out.
static int32_t overlaps(const tl_body_view *v, int32_t n)
{
    tl_error err;
    int32_t(*edge)[2], edges;
    tl_bvh *tree;
    tl_arena arena;
    tl_crossings found;
    tl_arena_init(&arena, *heap());
    tl_crossings_init(&found, *heap());
    assert_int_equal(tl_unique_edges(heap(), v->face, v->face_count, &edge, &edges, NULL, &err), TL_OK);
    const tl_bvh_def def = tl_bvh_def_default();
    const tl_surface s = {n, v->face_count, edges, v->face, (const int32_t(*)[2])edge};
    assert_int_equal(tl_bvh_create(heap(), &def, &s, v->pos, &tree, &err), TL_OK);
    tl_bvh_refit(tree, v->pos, NULL, 0, 0, NULL);
    assert_int_equal(tl_find_crossings(tree, NULL, &arena, NULL, &found, &err), TL_OK);
    const int32_t count = found.count;
    tl_bvh_destroy(tree);
    tl_crossings_free(&found);
    tl_arena_free(&arena);
    TL_FREE(heap(), edge, edges);
    return count;
}

static void skin_gives_way_where_it_overlaps(void **state)
{
    (void)state;
    tl_character *c = load();
    tl_body_id id[3];
    tl_sim *sim[3] = {make(c, false, false, &id[0]), make(c, true, false, &id[1]), make(c, true, true, &id[2])};
    tl_body_view v[3];
    for (int i = 0; i < 3; i++) assert_int_equal(tl_sim_body_view(sim[i], id[i], &v[i]), TL_OK);
    const int32_t n = v[0].node_count;
    int32_t moved = 0;
    double most = 0;
    assert_int_equal(v[2].face_count, v[0].face_count);  // mittens do not show
    for (int32_t i = 0; i < n; i++) {
        const double way = tl_norm3(tl_sub3(v[1].pos[i], v[0].pos[i]));
        moved += way > 0, most = fmax(most, way);
        if (is_end(c, i)) assert_true(way == 0);
        assert_memory_equal(&v[1].pos[i], &v[2].pos[i], sizeof v[1].pos[i]);
    }
    print_message("moved %d of %d by up to %g\n", moved, n, most);
    assert_true(moved > 50 && moved < n / 4);
    assert_true(most > 0.005 && most <= 0.0201);
    const int32_t before = overlaps(&v[0], n), after = overlaps(&v[1], n);
    print_message("%d of %d vertices give way, by up to %.4f m; %d crossings instead of %d\n", moved, n, most, after,
                  before);
    assert_true(before > 0 && after < before / 2);
    for (int i = 0; i < 3; i++) tl_sim_destroy(sim[i]);
    tl_character_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_hold_their_hands),
        cmocka_unit_test(skin_gives_way_where_it_overlaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
