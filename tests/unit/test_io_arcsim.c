// tests/unit/test_io_arcsim.c: scenes of ARCSim's: what each key becomes, where files are found, what is said about the
// rest.

#include "test_io_help.h"

#include <sys/stat.h>

#include "scene/arcsim/arcsim.h"
#include "scene/scene.h"
#include "sim/internal.h"

#define DATA TL_TEST_DATA "/arcsim/conf/"
#define FABRIC                                                                                                         \
    "{\"density\": .5, \"stretching\": [[1.,0,2,3],[1,0,2,3],[1,0,2,3],[1,0,2,3],[1,0,2,3],[1,0,2,3]],\n"              \
    " \"bending\": [[4e-6,4E-6,4.e-6,+4e-6,0.04e-4],[4e-6,4e-6,4e-6,4e-6,4e-6],[4e-6,4e-6,4e-6,4e-6,4e-6]]}"
#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n"
#define BOX "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
#define CLOTH "{\"mesh\": \"t.obj\", \"materials\": [{\"data\": \"f.json\"}]}"

static void write_files(void)
{
    help_write("t.obj", TRIANGLE);
    help_write("box.obj", BOX);
    help_write("f.json", FABRIC);
}

static tl_scene *load(const char *text)
{
    tl_error err;
    tl_scene *scene = NULL;
    write_files();
    help_write("s.json", text);
    assert_ok(tl_scene_load("s.json", NULL, 0, &scene, &err));
    assert_true(tl_scene_is_foreign(scene));
    return scene;
}

static void check_fails(const char *text, const char *message)
{
    tl_error err;
    tl_scene *scene;
    write_files();
    help_write("s.json", text);
    assert_fails(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT, message);
}

static bool has_note(const tl_scene *scene, const char *text)
{
    for (int32_t i = 0; i < tl_scene_note_count(scene); i++)
        if (strcmp(tl_scene_note(scene, i), text) == 0) return true;
    return false;
}

static tl_sim *simulate(const tl_scene *scene)
{
    tl_error err;
    tl_sim *sim = NULL;
    assert_ok(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err));
    return sim;
}

static void assert_place(tl_vec3 p, double x, double y, double z, double tolerance)
{
    assert_near(p.x, x, tolerance);
    assert_near(p.y, y, tolerance);
    assert_near(p.z, z, tolerance);
}

// ---- keys -------------------------------------------------------------------------------------------------

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    tl_scene *scene = load("{\"frame_time\": 0.04, \"end_frame\": 3, \"cloths\": [" CLOTH "]}");
    assert_int_equal(tl_scene_frames(scene), 3);
    assert_int_equal(tl_scene_steps_per_frame(scene), 1);
    assert_near(tl_scene_fps(scene), 25, 1e-12);
    const tl_scene_file *f = &scene->file;
    assert_place(f->gravity, 0, 0, 0, 0);
    assert_near(0.5 * f->air.density * f->air.drag, 1, 0);
    assert_near(f->air.skin, 0, 0);
    assert_place(scene->wind.velocity, 0, 0, 0, 0);
    assert_near(scene->cloths[0].file.friction_self, 0.6, 0);
    assert_near(scene->cloths[0].file.thickness, 1e-3, 0);
    assert_int_equal(scene->cloths[0].file.remeshing.kind, TL_REMESHING_NONE);
    assert_false(scene->cloths[0].limited);
    assert_int_equal(scene->file.collide.on_intersection, TL_INTERSECTION_HEAL);
    assert_int_equal(scene->file.start.relax, TL_RELAX_ON);
    const tl_material *m = &scene->cloths[0].materials[0];
    assert_near(m->density, 0.5, 0);
    assert_near(m->stretch[0][0], 2, 0);  // published numbers: twice for stretch, a quarter for bending
    assert_near(m->bend[0][3], 1e-6, 1e-21);
    assert_near(m->damping_stretch, 0, 0);
    assert_int_equal(tl_scene_note_count(scene), 1);
    assert_string_equal(tl_scene_note(scene, 0), "s.json:1: cloths[0] has no 'remeshing': its mesh stays as it is");
    assert_null(tl_scene_note(scene, 1));
    tl_scene_destroy(scene);
}

static void layers_are_no_thicker_than_a_quarter_of_the_shortest_edges(void **state)
{
    (void)state;
#define THICK(size)                                                                                                    \
    "{\"frame_time\": 1, \"end_frame\": 1, \"cloths\": [{\"mesh\": \"t.obj\", \"materials\": [{\"data\": "             \
    "\"f.json\"}],\n"                                                                                                  \
    " \"remeshing\": {\"size\": [" size ", 0.2]}}], \"magic\": {\"repulsion_thickness\": 5e-3}}"
    tl_scene *scene = load(THICK("0.02"));
    assert_near(scene->cloths[0].file.thickness, 5e-3, 0);
    assert_int_equal(tl_scene_note_count(scene), 0);
    tl_scene_destroy(scene);
    scene = load(THICK("0.01"));
    assert_near(scene->cloths[0].file.thickness, 2.5e-3, 0);
    assert_true(has_note(scene, "s.json:1: cloths[0] has edges from 0.01 m: layers keep 0.0025 m, a quarter of that, "
                                "not 'repulsion_thickness' 0.005 m"));
    tl_scene_destroy(scene);
#undef THICK
}

static void every_key_goes_where_it_belongs(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"frame_time\": 0.02, \"frame_steps\": 4., \"end_time\": 0.5, \"end_frame\": 99, // comment\n"
             " \"cloths\": [{\"mesh\": \"t.obj\", \"transform\": {\"translate\": [1, 2, 3], \"scale\": 2, \"rotate\": "
             "[90, 0, 0, 1]},\n"
             "   \"velocity\": {\"linear\": [1, 2, 3], \"angular\": [0, 0, 1], \"origin\": [1, 2, 0]},\n"
             "   \"materials\": [{\"data\": \"f.json\", \"density_mult\": 2, \"stretching_mult\": 3, \"bending_mult\": "
             "5, \"thicken\": 7,\n"
             "      \"damping\": 0.01, \"strain_limits\": [0.9, 1.2]}],\n"
             "   \"remeshing\": {\"refine_angle\": .3, \"refine_compression\": 0.005, \"refine_velocity\": 0.5, "
             "\"size\": [20e-3, 500e-3],"
             " \"aspect_min\": 0.2}}],\n"
             " \"gravity\": [0, 0, -9.8], \"wind\": {\"density\": 2, \"velocity\": [1, 2, 3], \"drag\": 0.5}, "
             "\"friction\": 0.1, \"obs_friction\": 0.2,\n"
             " \"obstacles\": [{\"mesh\": \"box.obj\", \"transform\": {\"translate\": [0, 0, -9]}}],\n"
             " \"magic\": {\"repulsion_thickness\": 2e-3, \"rib_stiffening\": 0.7, \"combine_tensors\": false}}");
    assert_int_equal(tl_scene_note_count(scene), 0);
    assert_int_equal(tl_scene_frames(scene), 25);
    assert_int_equal(tl_scene_steps_per_frame(scene), 4);
    assert_place(scene->file.gravity, 0, -9.8, 0, 0);
    assert_place(scene->wind.velocity, 1, 3, -2, 0);
    assert_near(0.5 * scene->file.air.density * scene->file.air.drag, 2, 0);
    assert_near(scene->file.air.skin, 0.5, 0);
    const tl_scene_cloth *cloth = &scene->cloths[0];
    assert_near(cloth->file.friction_self, 0.1, 0);
    assert_near(scene->obstacles[0].file.friction, 0.2, 0);
    assert_near(cloth->file.thickness, 2e-3, 0);
    assert_near(cloth->materials[0].density, 0.5 * 14, 1e-14);
    assert_near(cloth->materials[0].stretch[2][3], 6 * 21, 1e-12);
    assert_near(cloth->materials[0].bend[1][2], 1e-6 * 35, 1e-19);
    assert_near(cloth->materials[0].damping_bend, 0.01, 0);
    assert_near(cloth->file.strain_limits.min, -0.1, 1e-16);
    assert_near(cloth->file.strain_limits.max, 0.2, 1e-15);
    tl_sim *sim = simulate(scene);
    const tl_remeshing *r = &sim->cloths[0].remeshing;
    assert_int_equal(r->kind, TL_REMESHING_ANISOTROPIC);
    assert_near(r->curvature, 0.3, 0);
    assert_near(r->compression, 0.005, 0);
    assert_near(r->velocity, 0.5, 0);
    assert_near(r->size_min, 0.02, 0);
    assert_near(r->size_max, 0.5, 0);
    assert_near(r->aspect_min, 0.2, 0);
    assert_near(r->rib_stiffening, 0.7, 0);
    assert_near(r->obstacle_gap, 2e-3, 0);  // repulsion_thickness: theirs keeps cloth that far off bodies
    assert_int_equal(r->edge_angles, 0);
    assert_int_equal(r->narrowing, 0);
    assert_int_equal(r->blend, TL_BLEND_SUM);
    assert_near(r->interval, 0.02, 1e-16);
    // (1, 0, 0) scaled to (2, 0, 0), turned to (0, 2, 0), moved to (1, 4, 3): with y up (1, 3, -4)
    const tl_mesh *mesh = sim->cloths[0].mesh;
    assert_place(mesh->pos[0], 1, 3, -2, 1e-15);
    assert_place(mesh->pos[1], 1, 3, -4, 1e-15);
    assert_place(mesh->pos[2], -3, 3, -2, 1e-15);
    assert_near(mesh->uv[2].y, 4, 0);
    // (1, 2, 3) + z x ((1, 4, 3) - (1, 2, 0)) = (-1, 2, 3): with y up (-1, 3, -2)
    assert_place(mesh->vel[1], -1, 3, -2, 1e-5);  // it is flat: give or take its unevenness
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static void both_forms_of_time(void **state)
{
    (void)state;
    tl_scene *scene = load("{\"timestep\": 0.005, \"save_frames\": 8, \"duration\": 2, \"cloths\": [" CLOTH
                           "], \"disable\": [\"remeshing\"]}");
    assert_near(tl_scene_fps(scene), 25, 1e-12);
    assert_int_equal(tl_scene_steps_per_frame(scene), 8);
    assert_int_equal(tl_scene_frames(scene), 50);
    assert_int_equal(tl_scene_note_count(scene), 0);
    tl_scene_destroy(scene);
    scene = load("{\"frame_time\": 0.1, \"timestep\": 1, \"cloths\": [" CLOTH "], \"disable\": [\"remeshing\"]}");
    assert_int_equal(tl_scene_frames(scene), 100);
    assert_int_equal(tl_scene_note_count(scene), 2);
    assert_true(has_note(scene, "s.json:1: timestep has no effect: frame_time is given, the newer form"));
    assert_true(
        has_note(scene, "s.json:1: has no end: 100 frames (10 s) are made, a default; --frames makes more or less"));
    tl_scene_destroy(scene);
    scene = load("{\"frame_time\": 0.5, \"cloths\": [" CLOTH
                 "], \"disable\": [\"remeshing\"],\n \"motions\": [[{\"time\": 0}, {\"time\": 30}]]}");
    assert_int_equal(tl_scene_frames(scene), 60);
    tl_scene_destroy(scene);
    check_fails("{\"duration\": 2,\n \"cloths\": [" CLOTH "]}",
                "s.json:1: lacks 'frame_time' (or the older 'timestep')");
}

// ---- motions ----------------------------------------------------------------------------------------------

// Node `n` of obstacle `b` at time t.
static tl_vec3 obstacle_at(const tl_sim *sim, int32_t b, int32_t n, double t)
{
    tl_vec3 x[64];
    sim_body_at(&sim->bodies[b], t, x);
    return x[n];
}

static void obstacles_follow_splines(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"frame_time\": 0.1, \"end_frame\": 1, \"disable\": [\"remeshing\"], \"cloths\": [" CLOTH "],\n"
             " \"motions\": [[{\"time\": 0}, {\"time\": 1, \"transform\": {\"translate\": [0, 0, 2], \"rotate\": [90, "
             "0, 0, 1], \"scale\": 3}}],\n"
             "   [{\"time\": -1}, {\"time\": 1, \"transform\": {\"translate\": [4, 0, 0]}, \"velocity\": {\"linear\": "
             "[1, 0, 0], \"angular\": [0, 0, 2]}}]],\n"
             " \"obstacles\": [{\"mesh\": \"box.obj\", \"transform\": {\"translate\": [5, 0, 0]}, \"motion\": 0},\n"
             "   {\"mesh\": \"box.obj\", \"motion\": 1, \"transform\": {\"translate\": [0, 0, 50]}},\n"
             "   {\"mesh\": \"box.obj\", \"motion\": -1, \"start_time\": 2, \"end_time\": 3}, {\"mesh\": \"box.obj\", "
             "\"end_time\": 0}]}");
    assert_int_equal(scene->obstacle_count, 3);
    assert_near(scene->obstacles[2].file.start, 2, 0);
    assert_near(scene->obstacles[2].file.end, 3, 0);
    assert_true(
        has_note(scene, "s.json:6: obstacles[3] is never there (end_time is not after start_time), and is left out"));
    tl_sim *sim = simulate(scene);
    for (double s = 0; s <= 1; s += 0.125) {
        // z up: node 1 of the box is at (6, 0, 0) and turns about the origin; the quaternion is a blend of (1, 0) and
        // (c, s) of 45 degrees
        const double r = s * s * (3 - 2 * s), half = sqrt(0.5), angle = 2 * atan2(r * half, 1 - r + r * half),
                     far = 6 * (1 + 2 * r);
        assert_place(obstacle_at(sim, 0, 1, s), far * cos(angle), 2 * r, -far * sin(angle), 1e-13);
    }
    // velocity at the end: linear, and turning carries the place (4, 0, 0) of the pose about the origin
    const double h = 1e-6;
    const tl_vec3 a = obstacle_at(sim, 1, 0, 1 - h), b = obstacle_at(sim, 1, 0, 1);
    assert_place(tl_mul3(1 / h, tl_sub3(b, a)), 1, 0, -8, 1e-4);
    assert_false(sim->bodies[2].moves);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

// Scenes of ARCSim's own have bodies that start as a point, and handles that call their nodes vertices.
static void points_and_vertices_are_read(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"frame_time\": 0.1, \"end_frame\": 1, \"disable\": [\"remeshing\"], \"cloths\": [" CLOTH "],\n"
             " \"handles\": [{\"vertices\": [0, 1]}],\n"
             " \"motions\": [[{\"time\": 0, \"transform\": {\"scale\": 0}}, {\"time\": 1, \"transform\": {\"scale\": "
             "2}}]],\n"
             " \"obstacles\": [{\"mesh\": \"box.obj\", \"transform\": {\"translate\": [5, 0, 0]}, \"motion\": 0}]}");
    assert_true(has_note(scene, "s.json:3: motions[0][0] has the scale 0, which would leave a point: 0.002 instead"));
    tl_sim *sim = simulate(scene);
    const tl_vec3 p = obstacle_at(sim, 0, 0, 0), q = obstacle_at(sim, 0, 0, 1);
    assert_near(p.x, 0.01, 1e-12);  // the place of the mesh is scaled, too
    assert_near(q.x, 10, 1e-12);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static void motion_files_move_parts(void **state)
{
    (void)state;
    help_write("p0000.obj", BOX);
    help_write("p0001.obj", BOX);
    help_write("m.mot", "NumFrames: 2\nbody[0] position\n0 0 0\n1 0 0\n\nbody[0] orientation\n1 0 0 0\n-1 0 0 0\n\n"
                        "body[1] position\n0 0 1\n0 0 2\n\nbody[1] orientation\n1 0 0 0\n0.7071067811865476 0 0 "
                        "0.7071067811865476\n\n");
    tl_scene *scene =
        load("{\"frame_time\": 0.1, \"end_frame\": 1, \"disable\": [\"remeshing\"], \"cloths\": [" CLOTH "],\n"
             " \"motions\": {\"motfile\": \"m.mot\", \"fps\": 4, \"transform\": {\"translate\": [0, 10, 0], \"scale\": "
             "2}},\n"
             " \"obstacles\": \"p%04d.obj\"}");
    assert_int_equal(scene->obstacle_count, 2);
    assert_int_equal(tl_scene_note_count(scene), 0);
    tl_sim *sim = simulate(scene);
    assert_place(obstacle_at(sim, 0, 1, 0.25), 4, 0, -10,
                 1e-15);  // (1, 0, 0) moved to (2, 0, 0), doubled, moved by y 10
    assert_place(obstacle_at(sim, 0, 1, 0.125), 3, 0, -10, 1e-15);  // the sign of the second quaternion means nothing
    assert_place(obstacle_at(sim, 1, 1, 0), 2, 2, -10, 1e-15);
    assert_place(obstacle_at(sim, 1, 1, 9), 0, 4, -12, 1e-14);  // (1, 0, 0) turned to (0, 1, 0), up by 2
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    help_write("m.mot", "NumFrames: 2\nbody[0] position\n0 0 0\n1 0 x\n");
    tl_error err;
    help_write("s.json",
               "{\"frame_time\": 0.1, \"cloths\": [" CLOTH "],\n \"motions\": {\"motfile\": \"m.mot\", \"fps\": 4}}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_message_has("m.mot:4: a number is missing or out of range (motion file of s.json:2: motions.motfile)");
    help_write("m.mot", "NumFrames: 2\nbody[0] position\n0 0 0\n1 0 0\n\nbody[0] orientation\n1 0 0 0\n0 0 0 0\n");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_message_has("m.mot:8: an orientation 0 0 0 0 is no quaternion (motion file of s.json:2: motions.motfile)");
}

static void bad_motions(void **state)
{
    (void)state;
#define START "{\"frame_time\": 0.1, \"cloths\": [" CLOTH "],\n "
    check_fails(START "\"motions\": [[{\"time\": 1}, {\"time\": 1}]]}",
                "s.json:2: motions[0][1].time 1, must be above the 1 before it");
    check_fails(
        START "\"motions\": [[{\"time\": 1, \"transform\": {\"rotate\": [9, 0, 0, 0]}}]]}",
        "s.json:2: motions[0][0].transform.rotate by 9 degrees about the axis (0, 0, 0), must have a direction");
    check_fails(START "\"handles\": [{\"nodes\": [0], \"motion\": 0}]}",
                "s.json:2: handles[0].motion 0, there are no motions");
    check_fails(START "\"motions\": [[]], \"obstacles\": [{\"mesh\": \"box.obj\", \"motion\": 3}]}",
                "s.json:2: obstacles[0].motion 3, must be in [0, 0], a place in motions");
    check_fails(START "\"motions\": {\"motfile\": \"no.mot\", \"fps\": 4}}",
                "s.json:2: motions.motfile \"no.mot\", no such file (looked for in the folder of the scene, in those "
                "above it and in the current folder)");
}

// ---- handles ----------------------------------------------------------------------------------------------

static void a_motion_without_keys_is_told(void **state)
{
    (void)state;
    tl_scene *scene =
        load(START "\"end_time\": 1, \"disable\": [\"remeshing\"],\n \"motions\": [[{\"time\": 0}], []]}");
    assert_int_equal(tl_scene_note_count(scene), 1);
    assert_string_equal(tl_scene_note(scene, 0), "s.json:3: motions[1] has no keys: what it moves stands still");
    tl_scene_destroy(scene);
}

static void handles_of_all_kinds(void **state)
{
    (void)state;
    tl_scene *scene = load(
        START
        "\"disable\": [\"remeshing\"], \"end_time\": 1,\n"
        " \"motions\": [[{\"time\": 0}, {\"time\": 1, \"transform\": {\"translate\": [0, 0, 1]}}]],\n"
        " \"handles\": [{\"nodes\": [0, 2], \"motion\": 0, \"start_time\": 0.5, \"end_time\": 7, \"fade_time\": 2},\n"
        "   {\"type\": \"circle\", \"nodes\": [1], \"circumference\": 4, \"u\": [0, 1], \"center\": [0, 0, 1], "
        "\"axis0\": [1, 0, 0], \"axis1\": [0, 1, 0]},\n"
        "   {\"type\": \"glue\", \"nodes\": [1, 2]},\n   {\"type\": \"glue\", \"nodes\": [0, 2]},\n   {\"nodes\": [1], "
        "\"end_time\": 0}],\n"
        " \"magic\": {\"handle_stiffness\": 200}}");
    assert_int_equal(scene->handle_count, 2);
    const tl_scene_handle *h = scene->handles;
    assert_near(h[0].file.start, 0.5, 0);
    assert_near(h[0].file.end, 7, 0);
    assert_near(h[0].file.fade, 2, 0);
    assert_near(h[0].file.stiffness, 200, 0);
    assert_int_equal(h[0].file.curve, TL_CURVE_CUBIC);
    assert_place(h[0].keys[1].translate, 0, 1, 0, 0);
    assert_true(h[1].use_ellipse);
    assert_place(h[1].file.ellipse.center, 0, 1, 0, 0);
    assert_place(h[1].file.ellipse.axis1, 0, 0, -1, 0);
    assert_near(h[1].file.ellipse.turns.y, 0.25, 0);
    assert_int_equal(tl_scene_note_count(scene), 2);
    assert_true(has_note(scene, "s.json:6: handles[2].type \"glue\": handles of this kind are not supported (sew the "
                                "nodes together in the mesh), "
                                "and left out"));
    assert_true(
        has_note(scene, "s.json:8: handles[4] never holds (end_time is not after start_time), and is left out"));
    tl_scene_destroy(scene);
    check_fails(START "\"handles\": [{\"cloth\": 1, \"nodes\": [0]}]}",
                "s.json:2: handles[0].cloth 1, must be in [0, 0], a place in cloths");
    check_fails(START "\"handles\": [{}]}", "s.json:2: handles[0] selects nothing (give nodes or label)");
}

// ---- what has no effect -----------------------------------------------------------------------------------

static void every_key_without_effect_is_named_once(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"frame_time\": 0.1, \"end_time\": 1, \"farme_steps\": 3, \"note\": 1,\n"
             " \"cloths\": [{\"mesh\": \"t.obj\", \"materials\": [{\"data\": \"f.json\", \"yield_curv\": 80},\n"
             "   {\"data\": \"f.json\", \"yield_curv\": 80, \"strain_limits\": [1, 1]}], \"remeshing\": "
             "{\"refine_angle\": 0.2}}],\n"
             " \"morphs\": [{\"cloth\": 0}], \"disable\": [\"proximity\", \"physics\", \"magic\"],\n"
             " \"wind\": {\"gusts\": 3},\n"
             " \"magic\": {\"collision_stiffness\": 1e9, \"preserve_creases\": false, \"fixed_high_res_mesh\": true, "
             "\"handle_stiffness\": 1}}");
    const char *const wanted[] = {
        "s.json:1: farme_steps is not a key of ARCSim's that is known here, and left out (did you mean 'frame_steps'?)",
        "s.json:1: note is not a key of ARCSim's that is known here, and left out",
        "s.json:2: cloths[0].materials[0].yield_curv has no effect: there is no bending plasticity: cloth unfolds",
        "s.json:3: cloths[0].materials[1].strain_limits differs from that of the materials before it: a cloth has one "
        "pair of limits here, the widest holds",
        "s.json:3: cloths[0].remeshing lacks 'size': 0.015 to 0.2 m",
        "s.json:4: morphs has no effect: cloth is not pulled towards target meshes",
        "s.json:4: disable[1] \"physics\" has no effect: forces cannot be switched off",
        "s.json:4: disable[2] \"magic\" is no stage that can be switched off",
        "s.json:4: disable \"proximity\" has no effect alone: proximity and collision are one stage here, switched off "
        "by both names",
        "s.json:5: wind.gusts is not a key of ARCSim's that is known here, and left out",
        "s.json:6: magic.collision_stiffness has no effect: contact is a barrier whose strength follows from the "
        "fabric and collisions.pressure",
        "s.json:6: magic.fixed_high_res_mesh has no effect: use --set cloths[0].remeshing.kind=none with a fine mesh",
        "s.json:6: magic.handle_stiffness has no effect: handles hold their nodes exactly, only those with a fade_time "
        "let go by springs",
    };
    const int count = sizeof wanted / sizeof *wanted;
    for (int i = 0; i < count; i++)
        if (!has_note(scene, wanted[i])) fail_msg("no note '%s'", wanted[i]);
    assert_int_equal(tl_scene_note_count(scene), count);
    assert_true(scene->file.collide.self && scene->file.collide.bodies);
    tl_scene_destroy(scene);
    scene = load("{\"frame_time\": 0.1, \"end_time\": 1, \"disable\": [\"proximity\", \"collision\", \"remeshing\", "
                 "\"plasticity\", \"strainlimiting\","
                 " \"popfilter\"],\n \"cloths\": [{\"mesh\": \"t.obj\", \"materials\": [{\"data\": \"f.json\", "
                 "\"yield_curv\": 80, \"strain_limits\":"
                 " [0.9, 1.1]}], \"remeshing\": {\"size\": [1, 2]}}]}");
    assert_int_equal(tl_scene_note_count(scene), 0);
    assert_false(scene->file.collide.self || scene->file.collide.bodies || scene->cloths[0].limited);
    assert_int_equal(scene->cloths[0].file.remeshing.kind, TL_REMESHING_NONE);
    tl_scene_destroy(scene);
}

static void plastic_lines_of_meshes_are_told(void **state)
{
    (void)state;
    write_files();
    help_write("p.obj", TRIANGLE "tl 0\nts 0 0 0 0\ne 1 2\nea 0.5\nel 3\nts 0 1 0 0\n");
    tl_scene *scene = load(START "\"end_time\": 1, \"disable\": [\"remeshing\"]}");
    tl_scene_destroy(scene);
    scene = load("{\"frame_time\": 0.1, \"end_time\": 1, \"disable\": [\"remeshing\"],\n"
                 " \"cloths\": [{\"mesh\": \"p.obj\", \"materials\": {\"data\": \"f.json\"}}]}");
    assert_int_equal(tl_scene_note_count(scene), 1);
    assert_non_null(strstr(tl_scene_note(scene, 0),
                           "p.obj:8: 2 lines about plasticity or damage (ny, ea, ed, ts, fs, td, fd) have no effect"));
    assert_int_equal(scene->cloths[0].mesh.edge_count, 1);
    assert_int_equal(scene->cloths[0].mesh.edge_label[0], 3);
    tl_scene_destroy(scene);
}

static void loose_meshes_are_put_right(void **state)
{
    (void)state;
    tl_error err;
    // node 2 is in no face; the second panel, on nodes 5 to 7, is drawn mirrored
    help_write(
        "l.obj",
        "v 0 0 0\nv 9 9 9\nnl 5\nv 1 0 0\nnv 1 2 3\nv 0 2 0\nnl 4\nv 0 0 1\nv 1 0 1\nv 0 2 1\n"
        "vt 0 0\nvt 1 0\nvt 0 2\nvt 0 0\nvt -1 0\nvt 0 2\nf 1/1 3/2 4/3\nf 5/4 6/5 7/6\ne 3 4\nel 6\ne 2 4\nel 1\n");
    tl_scene *scene = load("{\"frame_time\": 0.1, \"end_time\": 1, \"disable\": [\"remeshing\"],\n"
                           " \"cloths\": [{\"mesh\": \"l.obj\", \"materials\": [{\"data\": \"f.json\"}]}], "
                           "\"handles\": [{\"nodes\": [3, 0]}]}");
    assert_int_equal(tl_scene_note_count(scene), 2);
    assert_non_null(strstr(tl_scene_note(scene, 0), "l.obj: 1 nodes in no face are left out"));
    assert_non_null(
        strstr(tl_scene_note(scene, 1), "l.obj: 1 panels are mirrored in material space, and turned over there"));
    const tl_obj *m = &scene->cloths[0].mesh;
    assert_int_equal(m->node_count, 6);
    assert_place(m->pos[2], 0, 2, 0, 0);
    assert_place(m->vel[1], 1, 2, 3, 0);
    assert_place(m->vel[5], 0, 0, 0, 0);
    assert_int_equal(m->node_label[2], 4);
    assert_near(m->uv[1].x, 1, 0);
    assert_near(m->uv[4].x, 1, 0);
    assert_int_equal(m->edge_count, 1);
    assert_int_equal(m->edge[0][0], 1);
    assert_int_equal(m->edge[0][1], 2);
    assert_int_equal(scene->handles[0].nodes[0], 2);
    assert_ok(tl_scene_save(scene, "own.json", 0, &err));
    tl_scene *own;
    assert_ok(tl_scene_load("own.json", NULL, 0, &own, &err));
    assert_true(own->hash == scene->hash);
    assert_int_equal(own->handles[0].nodes[0], 2);
    tl_sim_destroy(simulate(scene));
    tl_scene_destroy(own);
    tl_scene_destroy(scene);
}

// The circle is along the u of the file, whichever way its panel is drawn.
static void circles_know_mirrored_panels(void **state)
{
    (void)state;
    tl_error err;
    help_write("c.obj", "v 0 0 0\nnl 1\nv 1 0 0\nnl 1\nv 0 2 0\nnl 2\nv 0 0 1\nnl 2\nv 1 0 1\nnl 3\nv 0 2 1\nnl 3\n"
                        "vt 0 0\nvt 1 0\nvt 0 2\nvt 0 0\nvt -1 0\nvt 0 2\nf 1/1 2/2 3/3\nf 4/4 5/5 6/6\n");
#define CIRCLE(which)                                                                                                  \
    "{\"type\": \"circle\", " which                                                                                    \
    ", \"circumference\": 4, \"u\": [1, 2], \"center\": [0, 0, 1], \"axis0\": [1, 0, 0], \"axis1\": [0, 1, 0]}"
    tl_scene *scene = load("{\"frame_time\": 0.1, \"end_time\": 1, \"disable\": [\"remeshing\"],\n"
                           " \"cloths\": [{\"mesh\": \"c.obj\", \"materials\": [{\"data\": \"f.json\"}]}],\n"
                           " \"handles\": [" CIRCLE("\"label\": 1") ", " CIRCLE("\"label\": 3") ", " CIRCLE(
                               "\"nodes\": [4]") ", " CIRCLE("\"label\": 2") "]}");
#undef CIRCLE
    assert_int_equal(tl_scene_note_count(scene), 2);
    assert_non_null(strstr(tl_scene_note(scene, 1), "handles[3]: holds mirrored panels and others on one circle"));
    const double expected[] = {0.25, -0.25, -0.25, 0.25};
    for (int i = 0; i < 4; i++) {
        assert_near(scene->handles[i].file.ellipse.turns.x, expected[i], 0);
        assert_near(scene->handles[i].file.ellipse.turns.y, 0.5, 0);
    }
    assert_ok(tl_scene_save(scene, "own.json", 0, &err));
    tl_scene *own;
    assert_ok(tl_scene_load("own.json", NULL, 0, &own, &err));
    for (int i = 0; i < 4; i++) assert_near(own->handles[i].file.ellipse.turns.x, expected[i], 0);
    tl_scene_destroy(own);
    tl_scene_destroy(scene);
}

// ---- files and syntax -------------------------------------------------------------------------------------

static void files_are_looked_for_upwards(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene;
    assert_int_equal(mkdir("a", 0777) + mkdir("a/conf", 0777) + mkdir("a/conf/m", 0777) + mkdir("a/mat", 0777) +
                         mkdir("mat", 0777),
                     0);
    help_write("a/conf/m/t.obj", TRIANGLE);
    help_write("a/mat/f.json", FABRIC);
    help_write("mat/f.json", "{");  // further up: not taken
    help_write("a/conf/s.json", "{\"frame_time\": 0.1, \"end_time\": 1, \"cloths\": [{\"mesh\": \"m/t.obj\", "
                                "\"materials\": [{\"data\": \"mat/f.json\"}]}]}");
    assert_ok(tl_scene_load("a/conf/s.json", NULL, 0, &scene, &err));
    tl_scene_destroy(scene);
    assert_int_equal(chdir("a/mat"), 0);
    assert_ok(tl_scene_load("../conf/s.json", NULL, 0, &scene, &err));
    tl_scene_destroy(scene);
    help_write("here.obj", BOX);  // in the current folder only
    help_write("../conf/o.json", "{\"frame_time\": 0.1, \"end_time\": 1, \"cloths\": [{\"mesh\": \"m/t.obj\", "
                                 "\"materials\": [{\"data\": \"mat/f.json\"}]}],\n"
                                 " \"obstacles\": [{\"mesh\": \"here.obj\"}]}");
    assert_ok(tl_scene_load("../conf/o.json", NULL, 0, &scene, &err));
    tl_scene_destroy(scene);
    assert_int_equal(remove("here.obj"), 0);
    assert_fails(tl_scene_load("../conf/o.json", NULL, 0, &scene, &err), TL_BAD_INPUT,
                 "../conf/o.json:2: obstacles[0].mesh \"here.obj\", no such file (looked for in the folder of the "
                 "scene, in those above it and in "
                 "the current folder)");
}

static void bad_values_have_a_place(void **state)
{
    (void)state;
    check_fails("{\"frame_time\": -1,\n \"cloths\": [" CLOTH "]}", "s.json:1: frame_time -1, must be in (0, 1e6]");
    check_fails("{\"frame_time\": 1e-9,\n \"cloths\": [" CLOTH "]}",
                "s.json:1: frame_time 1e-9, makes frames of 1e-09 s, must be at least 1e-06 s");
    check_fails("{\"timestep\": 1e-9, \"save_frames\": 10,\n \"cloths\": [" CLOTH "]}",
                "s.json:1: timestep 1e-9, makes frames of 1e-08 s, must be at least 1e-06 s");
    check_fails("{\"frame_time\": 1,\n \"cloths\": [{\"mesh\": \"t.obj\"}]}",
                "s.json:2: cloths[0] lacks 'materials' (by face label)");
    check_fails("{\"frame_time\": 1,\n \"cloths\": [{\"mesh\": \"t.obj\", \"materials\": [{\"data\": \"f.json\",\n "
                "\"strain_limits\": [1.1, 1.2]}]}]}",
                "s.json:3: cloths[0].materials[0].strain_limits [1.1, 1.2], must be stretch ratios around 1, the least "
                "first (0.95 is -5 %)");
    check_fails(START "\"gravity\": [0, 0]}", "s.json:2: gravity [..] of 2, must be a list of 3 numbers");
    check_fails(START "\"obstacles\": \"box.obj\"}",
                "s.json:2: obstacles \"box.obj\", must have one number, as in \"body/%04d.obj\"");
    check_fails(START "\"obstacles\": \"box%04d.obj\"}",
                "s.json:2: obstacles \"box%04d.obj\", box0000.obj is not there (looked for in the folder of the "
                "scene, in those above it and in the current folder)");
    tl_error err;
    tl_scene *scene;
    help_write("g.json", "{\"density\": 1,\n \"stretching\": 3}");
    help_write("s.json",
               "{\"frame_time\": 1, \"cloths\": [{\"mesh\": \"t.obj\", \"materials\": [{\"data\": \"g.json\"}]}]}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_message_has("g.json:");
}

static void numbers_in_every_style(void **state)
{
    (void)state;
    const struct {
        const char *in, *out;
    } cases[] = {
        {"[1., .5, +2, -.5e3, 007, 1.e-3, 0., -0, 00.5, 12]", "[1.0, 0.5, 2, -0.5e3, 7, 1.0e-3, 0.0, -0, 0.5, 12]"},
        {"{\"a.5\": \"\\\"1.\", \"b\": 1.}", "{\"a.5\": \"\\\"1.\", \"b\": 1.0}"},
        {"[1.e, +]", NULL},
        {"[1e5, -1.5E+3, 0.25]", NULL},
        {"[.]", NULL}};
    const tl_allocator alloc = tl_allocator_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tl_buf out;
        tl_error err;
        tl_buf_init(&out, &alloc);
        assert_int_equal(tl_json_plain_numbers(cases[i].in, strlen(cases[i].in), &out), cases[i].out != NULL);
        assert_ok(tl_buf_end(&out, "text", &err));
        if (cases[i].out) assert_string_equal(out.data, cases[i].out);
        tl_buf_free(&out);
    }
}

static void files_may_be_loose(void **state)
{
    (void)state;
    tl_scene *scene = load("// first\n{\"frame_time\": 0.1, /* here */ \"end_time\": 1., \"end_time\": 2,\n "
                           "\"disable\": [\"remeshing\"], \"cloths\": [" CLOTH "]}\n}");
    assert_int_equal(tl_scene_frames(scene), 20);
    assert_int_equal(tl_scene_note_count(scene), 1);
    assert_string_equal(tl_scene_note(scene, 0), "s.json:2: duplicate object key near '\"end_time\"'; line 4: end of "
                                                 "file expected near '}' (read all the same)");
    tl_scene_destroy(scene);
}

static void the_kind_is_found_from_the_keys(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene;
    write_files();
    help_write("s.json", "{\"fps\": 25, \"cloths\": [{\"mesh\": \"t.obj\"}], \"wind\": {}}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_string_equal(
        err.message,
        "s.json:1: is neither a Toile scene nor one of ARCSim: 'wind' is a key of ARCSim's alone, 'fps' of Toile's "
        "(remove the keys of one)");
    help_write("s.json", "{\"fps\": 25, \"frames\": 3, \"cloths\": [{\"mesh\": \"t.obj\"}], \"wind\": {}}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_message_has("s.json:1: wind is not a known key");
    help_write("s.json", "{\"cloths\": [{\"mesh\": \"t.obj\"}]}");
    assert_ok(tl_scene_load("s.json", NULL, 0, &scene, &err));
    assert_false(tl_scene_is_foreign(scene));
    tl_scene_destroy(scene);
}

// ---- all of it --------------------------------------------------------------------------------------------

static void settings_have_our_keys(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene;
    const char *const sets[] = {"frames=7", "cloths[0].remeshing.kind=isotropic", "air.density=3"};
    assert_ok(tl_scene_load(DATA "sphere.json", sets, 3, &scene, &err));
    assert_int_equal(tl_scene_frames(scene), 7);
    assert_int_equal(scene->cloths[0].file.remeshing.kind, TL_REMESHING_ISOTROPIC);
    assert_near(scene->file.air.density, 3, 0);
    tl_scene_destroy(scene);
}

// Written in our format, a scene reads back as itself.
static void saved_scenes_are_the_same(void **state)
{
    (void)state;
    tl_error err;
    const char *const names[] = {"sphere", "flag", "sleeve", "body"};
    for (int i = 0; i < 4; i++) {
        char from[512], to[64];
        snprintf(from, sizeof from, DATA "%s.json", names[i]);
        snprintf(to, sizeof to, "%s.json", names[i]);
        tl_scene *old, *own;
        assert_ok(tl_scene_load(from, NULL, 0, &old, &err));
        assert_ok(tl_scene_save(old, to, 0, &err));
        assert_ok(tl_scene_load(to, NULL, 0, &own, &err));
        assert_false(tl_scene_is_foreign(own));
        assert_int_equal(tl_scene_note_count(own), 0);
        assert_true(old->hash == own->hash);
        tl_sim *first = simulate(old), *second = simulate(own);
        for (int k = 0; k < 3; k++) {
            assert_ok(tl_sim_step(first, NULL, &err));
            assert_ok(tl_sim_step(second, NULL, &err));
        }
        assert_true(tl_sim_hash(first) == tl_sim_hash(second));
        tl_sim_destroy(first);
        tl_sim_destroy(second);
        assert_int_equal(tl_scene_save(old, to, 0, &err), TL_BAD_INPUT);
        assert_message_has("is there already");
        assert_ok(tl_scene_save(old, to, 1, &err));
        tl_scene_destroy(old);
        tl_scene_destroy(own);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    write_files();
    help_write("m.mot", "NumFrames: 1\nbody[0] position\n0 0 0\nbody[0] orientation\n1 0 0 0\n");
    help_write("s.json",
               "{\"frame_time\": 0.1, \"farme\": 2, \"cloths\": [" CLOTH "], \"handles\": [{\"nodes\": [0]}],\n"
               " \"motions\": {\"motfile\": \"m.mot\", \"fps\": 1.}, \"obstacles\": [{\"mesh\": \"box.obj\", "
               "\"motion\": 0}]}");
    tl_status status = TL_NO_MEMORY;
    for (int64_t n = 0; status == TL_NO_MEMORY; n++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, n);
        const tl_scene_def def = {.path = "s.json", .max_faces = 1000};
        tl_scene *scene;
        tl_error err;
        status = tl_scene_read(&alloc, &def, &scene, &err);
        if (status == TL_OK) tl_scene_destroy(scene);
        assert_int_equal(f.live, 0);
        assert_true(n < 5000);
    }
    assert_int_equal(status, TL_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_those_of_the_table),
        TEST(layers_are_no_thicker_than_a_quarter_of_the_shortest_edges),
        TEST(every_key_goes_where_it_belongs),
        TEST(both_forms_of_time),
        TEST(obstacles_follow_splines),
        TEST(points_and_vertices_are_read),
        TEST(motion_files_move_parts),
        TEST(bad_motions),
        TEST(a_motion_without_keys_is_told),
        TEST(handles_of_all_kinds),
        TEST(every_key_without_effect_is_named_once),
        TEST(plastic_lines_of_meshes_are_told),
        TEST(loose_meshes_are_put_right),
        TEST(circles_know_mirrored_panels),
        TEST(files_are_looked_for_upwards),
        TEST(bad_values_have_a_place),
        TEST(numbers_in_every_style),
        TEST(files_may_be_loose),
        TEST(the_kind_is_found_from_the_keys),
        TEST(settings_have_our_keys),
        TEST(saved_scenes_are_the_same),
        TEST(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
