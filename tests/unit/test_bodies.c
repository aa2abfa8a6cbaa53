// Bodies: shapes as meshes, motion by keys, what is refused, views, and their place in saved states.

#include "check.h"
#include "ledger.h"
#include "sheets.h"

#include "base/alloc.h"
#include "mesh/edges.h"
#include "body/solids.h"
#include "math/vec3.h"
#include "sim/internal.h"
#include "toile/toile.h"

static const tl_vec3 corner4[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int32_t face4[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static tl_sim *empty_sim(void)
{
    tl_error err;
    const tl_sim_def def = tl_sim_def_default();
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    return sim;
}

static tl_body_def tetrahedron(void)
{
    tl_body_def def = tl_body_def_default();
    def.node_count = 4, def.pos = corner4, def.face_count = 4, def.face = face4;
    return def;
}

static void add_sheet(tl_sim *sim)
{
    tl_error err;
    sheet s = sheet_grid(0.2, 0.2, 2, 2, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i].y += 5;
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
    cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
}

// ---- shapes ----

// Closed and oriented: every edge is run through once each way. Volume by the divergence theorem, positive if outward.
static double closed_volume(const tl_shape *s)
{
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    int32_t(*edge)[2], count;
    int32_t(*face_edge)[3] = tl_alloc_bytes(&alloc, (size_t)s->face_count, sizeof *face_edge);
    assert_ok(tl_unique_edges(&alloc, (const int32_t(*)[3])s->face, s->face_count, &edge, &count, face_edge, &err));
    int *forth = calloc((size_t)count, sizeof *forth), *back = calloc((size_t)count, sizeof *back);
    double volume = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *c = s->face[f];
        for (int k = 0; k < 3; k++) (c[k] < c[(k + 1) % 3] ? forth : back)[face_edge[f][k]]++;
        volume += tl_dot3(s->pos[c[0]], tl_cross3(s->pos[c[1]], s->pos[c[2]])) / 6;
    }
    for (int32_t e = 0; e < count; e++) {
        assert_int_equal(forth[e], 1);
        assert_int_equal(back[e], 1);
    }
    assert_int_equal(s->node_count - count + s->face_count, 2);  // Euler: a ball
    free(forth), free(back);
    TL_FREE(&alloc, edge, count);
    TL_FREE(&alloc, face_edge, s->face_count);
    return volume;
}

// 2 inradius / circumradius: 1 for an equilateral triangle
static double worst_triangle(const tl_shape *s)
{
    double worst = 1;
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 p = s->pos[s->face[f][0]], q = s->pos[s->face[f][1]], r = s->pos[s->face[f][2]];
        const double a = tl_norm3(tl_sub3(q, r)), b = tl_norm3(tl_sub3(r, p)), c = tl_norm3(tl_sub3(p, q));
        worst = fmin(worst, (b + c - a) * (c + a - b) * (a + b - c) / (a * b * c));
    }
    return worst;
}

static void a_sphere_is_round_closed_and_well_shaped(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_shape s;
    const tl_vec3 center = {1, 2, 3};
    assert_ok(tl_shape_sphere(&alloc, center, 0.5, &s, &err));
    for (int32_t i = 0; i < s.node_count; i++) assert_near(tl_norm3(tl_sub3(s.pos[i], center)), 0.5, 1e-14);
    double sag = 0;
    for (int32_t f = 0; f < s.face_count; f++) {
        const tl_vec3 n = tl_cross3(tl_sub3(s.pos[s.face[f][1]], s.pos[s.face[f][0]]),
                                    tl_sub3(s.pos[s.face[f][2]], s.pos[s.face[f][0]]));
        sag = fmax(sag, 0.5 - tl_dot3(tl_unit3_or(n, n), tl_sub3(s.pos[s.face[f][0]], center)));
    }
    assert_true(sag < 0.0015 * 0.5);
    assert_true(worst_triangle(&s) > 0.9);
    assert_near(closed_volume(&s), 4.0 / 3 * 3.14159265358979 * 0.125, 0.002);
    tl_shape_free(&alloc, &s);
}

static double distance_to_core(tl_vec3 p, tl_vec3 center, tl_vec3 axis)
{
    const double l = tl_norm3(axis), t = tl_dot3(tl_sub3(p, center), axis) / l;
    const double in = fmax(-0.5 * l, fmin(0.5 * l, t));
    return tl_norm3(tl_sub3(p, tl_madd3(center, in / l, axis)));
}

static void capsules_cylinders_and_boxes_are_closed_and_on_the_surface(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    const tl_vec3 center = {-1, 0.5, 2};
    const tl_vec3 axes[4] = {{0, 1, 0}, {2, 0, 0}, {-0.3, 0.2, 0.6}, {0, 0, -0.01}};
    const double r = 0.2, pi = 3.14159265358979;
    for (int k = 0; k < 4; k++) {
        const double l = tl_norm3(axes[k]);
        tl_shape s;
        assert_ok(tl_shape_capsule(&alloc, center, axes[k], r, &s, &err));
        for (int32_t i = 0; i < s.node_count; i++) assert_near(distance_to_core(s.pos[i], center, axes[k]), r, 1e-14);
        double sag = 0;  // largest at the middle of a face
        for (int32_t f = 0; f < s.face_count; f++) {
            const int32_t *c = s.face[f];
            const tl_vec3 middle = tl_mul3(1.0 / 3, tl_add3(s.pos[c[0]], tl_add3(s.pos[c[1]], s.pos[c[2]])));
            sag = fmax(sag, r - distance_to_core(middle, center, axes[k]));
        }
        assert_true(sag < 0.004 * r);
        const double ball = 4.0 / 3 * pi * r * r * r, rod = pi * r * r * l;
        assert_near(closed_volume(&s), ball + rod, 0.01 * (ball + rod));
        tl_shape_free(&alloc, &s);
        assert_ok(tl_shape_cylinder(&alloc, center, axes[k], r, &s, &err));
        for (int32_t i = 0; i < s.node_count; i++) {
            const double t = tl_dot3(tl_sub3(s.pos[i], center), axes[k]) / l;
            const double across = tl_norm3(tl_sub3(tl_madd3(s.pos[i], -t / l, axes[k]), center));
            assert_true(fabs(fabs(t) - 0.5 * l) < 1e-14 || fabs(across - r) < 1e-14);
            assert_true(fabs(t) < 0.5 * l + 1e-14 && across < r + 1e-14);
        }
        assert_near(closed_volume(&s), rod, 0.01 * rod);
        assert_true(worst_triangle(&s) > 0.1);
        tl_shape_free(&alloc, &s);
    }
    tl_shape box;
    assert_ok(tl_shape_box(&alloc, center, (tl_vec3){1, 2, 3}, &box, &err));
    assert_near(closed_volume(&box), 6, 1e-12);
    tl_shape_free(&alloc, &box);
}

// ---- motion ----

static void a_deforming_body_moves_on_straight_lines_then_rigidly(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty_sim();
    tl_vec3 shapes[12];
    for (int i = 0; i < 4; i++) {
        shapes[i] = corner4[i];
        shapes[4 + i] = tl_mul3(2, corner4[i]);
        shapes[8 + i] = tl_mul3(3, corner4[i]);
    }
    const double times[3] = {1, 2, 4};
    tl_body_def def = tetrahedron();
    def.pos = NULL, def.key_count = 3, def.key_time = times, def.key_pos = shapes;
    tl_body_id id;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    const sim_body *b = &sim->bodies[id.slot];
    assert_true(b->moves);
    tl_vec3 x[4];
    const double when[7] = {0, 1, 1.25, 2, 3, 4, 9}, scale[7] = {1, 1, 1.25, 2, 2.5, 3, 3};
    for (int k = 0; k < 7; k++) {
        sim_body_at(b, when[k], x);
        assert_near(x[1].x, scale[k], 1e-15);
        assert_near(x[3].z, scale[k], 1e-15);
    }
    // turned by 90 degrees about y through (0, 0, 1), then lifted
    const tl_motion_key keys[2] = {{.time = 0},
                                   {.time = 2, .translate = {0, 1, 0}, .rotate_axis = {0, 3, 0}, .rotate_deg = 90}};
    def.name = "turned", def.motion = keys, def.motion_count = 2, def.pivot = (tl_vec3){0, 0, 1};
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    sim_body_at(&sim->bodies[id.slot], 2, x);
    assert_near(x[1].x, -1, 1e-14);  // (2, 0, 0): relative (2, 0, -1) -> (-1, 0, -2)
    assert_near(x[1].y, 1, 1e-14);
    assert_near(x[1].z, -1, 1e-14);
    tl_sim_destroy(sim);
}

static void a_plane_turns_with_its_keys_and_shows_as_a_square(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty_sim();
    const tl_motion_key keys[2] = {{.time = 0},
                                   {.time = 1, .translate = {0, 0.5, 0}, .rotate_axis = {0, 0, 1}, .rotate_deg = 90}};
    tl_body_def def = tl_body_def_default();
    def.kind = TL_BODY_PLANE, def.center = (tl_vec3){0, 1, 0}, def.axis = (tl_vec3){0, 3, 0};
    def.motion = keys, def.motion_count = 2;
    tl_body_id id;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    tl_vec3 point, normal;
    sim_plane_at(&sim->bodies[0], 0, &point, &normal);
    assert_near(normal.y, 1, 0);
    assert_near(point.y, 1, 0);
    sim_plane_at(&sim->bodies[0], 1, &point, &normal);
    assert_near(normal.x, -1, 1e-15);
    assert_near(point.x, -1, 1e-15);
    assert_near(point.y, 0.5, 1e-15);
    tl_body_view view;
    assert_int_equal(tl_sim_body_view(sim, id, &view), TL_OK);
    assert_int_equal(view.node_count, 4);
    assert_int_equal(view.face_count, 2);
    assert_int_equal(view.moves, 1);
    for (int f = 0; f < 2; f++) {
        const int32_t *c = view.face[f];
        const tl_vec3 n = tl_cross3(tl_sub3(view.pos[c[1]], view.pos[c[0]]), tl_sub3(view.pos[c[2]], view.pos[c[0]]));
        assert_true(n.y > 1 && fabs(n.x) + fabs(n.z) < 1e-9);
    }
    for (int i = 0; i < 4; i++) assert_near(view.pos[i].y, 1, 1e-12);
    tl_sim_destroy(sim);
}

static void views_follow_the_time_of_the_simulation(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty_sim();
    add_sheet(sim);
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 0.05, .translate = {0, 0, 1}}},
                        still = {.translate = {0, 2, 0}};
    tl_body_def def = tetrahedron();
    def.motion = keys, def.motion_count = 2;
    tl_body_id moving, standing;
    assert_ok(tl_sim_add_body(sim, &def, &moving, &err));
    def.name = "still", def.motion = &still, def.motion_count = 1;
    assert_ok(tl_sim_add_body(sim, &def, &standing, &err));
    assert_int_equal(tl_sim_body_count(sim), 2);
    assert_string_equal(tl_sim_body_name(sim, moving), "body");
    assert_string_equal(tl_sim_body_name(sim, tl_sim_body(sim, 1)), "still");
    assert_null(tl_sim_body_name(sim, tl_sim_body(sim, 2)));
    tl_body_view view;
    assert_int_equal(tl_sim_body_view(sim, moving, &view), TL_OK);
    assert_near(view.pos[0].z, 0, 0);
    for (int k = 0; k < 10; k++) assert_ok(tl_sim_step(sim, NULL, &err));
    assert_int_equal(tl_sim_body_view(sim, moving, &view), TL_OK);
    assert_near(view.pos[0].z, 1, 1e-12);
    assert_int_equal(tl_sim_body_view(sim, standing, &view), TL_OK);
    assert_near(view.pos[0].y, 2, 0);
    assert_int_equal(view.moves, 0);
    assert_int_equal(tl_sim_body_view(sim, (tl_body_id){7, 1}, &view), TL_BAD_ARG);
    tl_sim_destroy(sim);
}

// ---- checks ----

typedef struct heard {
    int count;
    char last[256];
} heard;

static void hear(void *user, tl_log_level level, const char *message)
{
    heard *h = user;
    h->count += level == TL_LOG_WARNING;
    snprintf(h->last, sizeof h->last, "%s", message);
}

static void faces_with_a_repeated_node_are_left_out_with_a_warning(void **state)
{
    (void)state;
    tl_error err;
    heard h = {0};
    tl_sim_def sim_def = tl_sim_def_default();
    sim_def.log = (tl_log){hear, &h};
    tl_sim *sim;
    assert_ok(tl_sim_create(&sim_def, &sim, &err));
    // three faces on one edge (not a manifold), one of them given twice over, and one without area
    const int32_t face[5][3] = {{0, 1, 2}, {1, 0, 3}, {2, 2, 1}, {0, 1, 3}, {0, 1, 2}};
    tl_body_def def = tetrahedron();
    def.face = face, def.face_count = 5;
    tl_body_id id;
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    assert_int_equal(sim->bodies[0].face_count, 4);
    assert_int_equal(sim->bodies[0].edge_count, 5);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.last, "1 of 5 faces"));
    def.name = "none", def.face = &face[2], def.face_count = 1;
    assert_int_equal(tl_sim_add_body(sim, &def, &id, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "every face has a node twice"));
    tl_sim_destroy(sim);
}

static void refused(tl_sim *sim, const tl_body_def *def, const char *message)
{
    tl_error err = {0};
    tl_body_id id = {9, 9};
    const int32_t before = tl_sim_body_count(sim);
    assert_true(tl_sim_add_body(sim, def, &id, &err) != TL_OK);
    assert_int_equal(id.gen, 0);
    assert_int_equal(tl_sim_body_count(sim), before);
    if (!strstr(err.message, message)) fail_msg("'%s' is not in '%s'", message, err.message);
}

static void bad_bodies_are_named(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim = empty_sim();
    add_sheet(sim);
    tl_body_id id;
    tl_body_def def = {0};
    refused(sim, &def, "tl_body_def_default");
    def = tetrahedron(), def.name = "cloth";
    refused(sim, &def, "'cloth' is taken by cloth 0");
    def = tetrahedron(), def.name = "a b";
    refused(sim, &def, "letters, digits");
    def = tetrahedron(), def.node_count = 0;
    refused(sim, &def, "node_count 0");
    def = tetrahedron(), def.face_count = 0;
    refused(sim, &def, "face_count 0");
    def = tetrahedron(), def.pos = NULL;
    refused(sim, &def, "neither pos nor key_pos");
    def = tetrahedron(), def.node_count = 3;
    refused(sim, &def, "face 1 has node 3, there are nodes 0 to 2");
    tl_vec3 broken[4] = {{0, 0, 0}, {1, (double)NAN, 0}, {0, 1, 0}, {0, 0, 1}};
    def = tetrahedron(), def.pos = broken;
    refused(sim, &def, "node 1 is not finite");
    tl_vec3 keys[8] = {{0, 0, 0}};
    double times[2] = {1, 1};
    def = tetrahedron(), def.key_count = 2, def.key_pos = keys, def.key_time = times;
    refused(sim, &def, "key_time[1] 1 s, must be after");
    def.key_time = NULL;
    refused(sim, &def, "key_count 2 without");
    times[1] = 2, keys[5].z = (double)INFINITY, def.key_time = times;
    refused(sim, &def, "node 1 of shape 1");
    def = tetrahedron(), def.friction = -0.1;
    refused(sim, &def, "friction -0.1, must be >= 0");
    def = tetrahedron(), def.thickness = -1;
    refused(sim, &def, "thickness -1 m");
    const tl_motion_key turn = {.rotate_deg = 10}, release = {.release = 1};
    def = tetrahedron(), def.motion = &turn, def.motion_count = 1;
    refused(sim, &def, "zero axis");
    def.motion = &release;
    refused(sim, &def, "release");
    def = tl_body_def_default(), def.kind = (tl_body_kind)17;
    refused(sim, &def, "kind 17");
    def = tl_body_def_default(), def.kind = TL_BODY_SPHERE;
    refused(sim, &def, "radius 0 m, must be > 0");
    def.radius = 1, def.key_count = 1;
    refused(sim, &def, "only a mesh can deform");
    def = tl_body_def_default(), def.kind = TL_BODY_CAPSULE, def.radius = 1, def.axis = (tl_vec3){0, 0, 0};
    refused(sim, &def, "axis (0, 0, 0)");
    def = tl_body_def_default(), def.kind = TL_BODY_BOX, def.size = (tl_vec3){1, 0, 1};
    refused(sim, &def, "size (1, 0, 1) m");
    def = tetrahedron(), def.name = "taken";
    assert_ok(tl_sim_add_body(sim, &def, &id, &err));
    refused(sim, &def, "'taken' is taken by body 0");
    tl_sim_destroy(sim);
}

static void bad_contact_numbers_are_named(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    def.collide.pressure = 0;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "collide.pressure 0"));
    def.collide.pressure = 1e7;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "collide.pressure 1e+07"));
    def = tl_sim_def_default(), def.collide.slip_speed = -1;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "collide.slip_speed -1"));
    def = tl_sim_def_default(), def.collide.combine = (tl_combine)9;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    def = tl_sim_def_default(), def.collide.self = 2;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    def = tl_sim_def_default(), def.collide.on_intersection = (tl_on_intersection)5;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    def = tl_sim_def_default(), def.collide.response = (tl_response)99;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    sim = empty_sim();
    sheet s = sheet_grid(1, 1, 2, 2, false);
    const tl_material m = tl_material_default();
    const double thickness[4] = {0, 1e-3, 1e-3, 1e-3}, friction[4] = {0.1, -1, (double)INFINITY, (double)NAN};
    const double friction_self[4] = {0, 0, 0, -2};
    const char *what[4] = {"thickness 0 m", "friction -1", "friction inf", "friction_self -2"};
    for (int k = 0; k < 4; k++) {
        tl_cloth_def cloth = tl_cloth_def_default();
        cloth.remeshing.kind = TL_REMESHING_NONE;
        tl_cloth_id id;
        cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
        cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
        cloth.thickness = thickness[k], cloth.friction = friction[k], cloth.friction_self = friction_self[k];
        assert_int_equal(tl_sim_add_cloth(sim, &cloth, &id, &err), TL_BAD_INPUT);
        if (!strstr(err.message, what[k])) fail_msg("'%s' is not in '%s'", what[k], err.message);
    }
    sheet_free(&s);
    tl_sim_destroy(sim);
}

// ---- saved states ----

static void a_state_with_other_bodies_is_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_body_id id;
    tl_sim *saved = empty_sim();
    add_sheet(saved);
    tl_body_def def = tetrahedron();
    assert_ok(tl_sim_add_body(saved, &def, &id, &err));
    const void *bytes;
    size_t size;
    assert_ok(tl_sim_save(saved, &bytes, &size, &err));
    tl_vec3 moved[4];
    memcpy(moved, corner4, sizeof moved);
    moved[2].x += 1e-9;
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = {0, 0, 1}}};
    for (int k = 0; k < 6; k++) {
        tl_sim *sim = empty_sim();
        add_sheet(sim);
        tl_body_def other = tetrahedron();
        if (k == 1) other.pos = moved;
        if (k == 2) other.friction = 0.31;
        if (k == 3) other.motion = keys, other.motion_count = 2;
        if (k == 4) other.thickness = 1e-3;
        if (k != 5) assert_ok(tl_sim_add_body(sim, &other, &id, &err));
        assert_int_equal(tl_sim_restore(sim, bytes, size, &err), k == 0 ? TL_OK : TL_BAD_INPUT);
        tl_sim_destroy(sim);
    }
    tl_sim_destroy(saved);
}

// ---- coming and going ----

// A falling sheet; a ball appears in it after five steps, and goes after twelve.
static tl_sim *sheet_and_ball(tl_integrator integrator)
{
    tl_error err;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.01, def.integrator = integrator, def.collide.on_intersection = TL_INTERSECTION_HEAL;
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(0.4, 0.4, 6, 6, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.pos[i].x, 0, -s.pos[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    tl_cloth_id id;
    cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv, cloth.face_count = s.face_count;
    cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m, cloth.material_count = 1;
    assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
    sheet_free(&s);
    tl_body_def floor = tl_body_def_default(), ball = tl_body_def_default();
    tl_body_id body;
    floor.name = "floor", floor.kind = TL_BODY_PLANE, floor.center = (tl_vec3){0, -0.3, 0}, floor.start = 0.02;
    assert_ok(tl_sim_add_body(sim, &floor, &body, &err));
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center = (tl_vec3){0.2, -0.07, -0.2}, ball.radius = 0.08;
    ball.start = 0.05, ball.end = 0.12;
    assert_ok(tl_sim_add_body(sim, &ball, &body, &err));
    return sim;
}

static void bodies_come_and_go(void **state)
{
    (void)state;
    enum { STEPS = 16 };
    tl_error err;
    for (int b = 0; b < 2; b++) {
        const tl_integrator integrator = b ? TL_BDF2 : TL_IMPLICIT_EULER;
        tl_sim *sim = sheet_and_ball(integrator);
        char *saved[STEPS];
        size_t sizes[STEPS];
        int64_t touching = 0;
        for (int k = 0; k < STEPS; k++) {
            const void *bytes;
            assert_ok(tl_sim_save(sim, &bytes, &sizes[k], &err));
            saved[k] = malloc(sizes[k]);
            memcpy(saved[k], bytes, sizes[k]);
            tl_step_report report;
            assert_ok(tl_sim_step(sim, &report, &err));
            tl_body_view view;
            assert_int_equal(tl_sim_body_view(sim, tl_sim_body(sim, 1), &view), TL_OK);
            assert_int_equal(view.present, k >= 5 && k < 12);
            assert_true(view.moves);
            tl_intersection_report found;
            assert_ok(tl_sim_intersections(sim, &found, &err));
            assert_int_equal(found.cloth_body + found.cloth_cloth, 0);
            touching += report.contact.contacts;
            if (k < 5) assert_int_equal(report.contact.contacts, 0);
        }
        assert_true(touching > 0);
        // From every state, the same end.
        const uint64_t end = tl_sim_hash(sim);
        for (int k = 0; k < STEPS; k++) {
            tl_sim *again = sheet_and_ball(integrator);
            assert_ok(tl_sim_restore(again, saved[k], sizes[k], &err));
            while (tl_sim_steps(again) < STEPS) assert_ok(tl_sim_step(again, NULL, &err));
            if (tl_sim_hash(again) != end) fail_msg("from step %d the end is another", k);
            tl_sim_destroy(again);
            free(saved[k]);
        }
        tl_sim_destroy(sim);
    }
    tl_sim *sim = empty_sim();
    tl_body_def bad = tetrahedron();
    tl_body_id id;
    bad.start = 2, bad.end = 2;
    assert_int_equal(tl_sim_add_body(sim, &bad, &id, &err), TL_BAD_INPUT);
    assert_string_equal(err.message, "body 'body': end 2 s, must be after start 2 s");
    tl_sim_destroy(sim);
}

// ---- memory ----

static tl_status add_one_of_each(ledger *l)
{
    tl_error err;
    tl_sim_def sim_def = tl_sim_def_default();
    sim_def.alloc = (tl_allocator){ledger_resize, l};
    tl_sim *sim;
    tl_status status = tl_sim_create(&sim_def, &sim, &err);
    if (status != TL_OK) return status;
    static const char *const names[] = {"mesh", "plane", "sphere", "capsule", "cylinder", "box", "keyed"};
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = {0, 0, 1}}};
    tl_vec3 shapes[8];
    const double times[2] = {0, 1};
    for (int i = 0; i < 8; i++) shapes[i] = corner4[i % 4];
    for (int k = 0; k < 7 && status == TL_OK; k++) {
        tl_body_def def = tetrahedron();
        tl_body_id id;
        def.name = names[k], def.radius = 1, def.size = (tl_vec3){1, 1, 1}, def.motion = keys, def.motion_count = 2;
        if (k < 6)
            def.kind = (tl_body_kind)k;
        else
            def.key_count = 2, def.key_time = times, def.key_pos = shapes;
        status = tl_sim_add_body(sim, &def, &id, &err);
    }
    tl_sim_destroy(sim);
    return status;
}

static void every_failing_request_is_survived(void **state)
{
    (void)state;
    ledger all = {.fail_at = INT64_MAX};
    assert_int_equal(add_one_of_each(&all), TL_OK);
    assert_int_equal(all.live, 0);
    for (int64_t n = 1; n <= all.requests; n++) {
        ledger l = {.fail_at = n};
        assert_int_equal(add_one_of_each(&l), TL_NO_MEMORY);
        assert_int_equal(l.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_is_round_closed_and_well_shaped),
        cmocka_unit_test(capsules_cylinders_and_boxes_are_closed_and_on_the_surface),
        cmocka_unit_test(a_deforming_body_moves_on_straight_lines_then_rigidly),
        cmocka_unit_test(a_plane_turns_with_its_keys_and_shows_as_a_square),
        cmocka_unit_test(views_follow_the_time_of_the_simulation),
        cmocka_unit_test(faces_with_a_repeated_node_are_left_out_with_a_warning),
        cmocka_unit_test(bad_bodies_are_named),
        cmocka_unit_test(bad_contact_numbers_are_named),
        cmocka_unit_test(a_state_with_other_bodies_is_refused),
        cmocka_unit_test(bodies_come_and_go),
        cmocka_unit_test(every_failing_request_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
