// tests/unit/test_io_scene.c: scene files: defaults, includes, fabrics, handles, and what is wrong with bad ones.

#include "test_io_help.h"

#include "scene/scene.h"
#include "sim/internal.h"
#include "toile/sim.h"

#define DATA TL_TEST_DATA "/io/"
#define RECT "{\"mesh\": {\"rectangle\": {\"size\": [1, 1], \"edge\": 0.25, \"pattern\": \"diagonal\"}}}"

static tl_scene *load(const char *text)
{
    tl_error err;
    tl_scene *scene = NULL;
    help_write("s.json", text);
    assert_ok(tl_scene_load("s.json", NULL, 0, &scene, &err));
    return scene;
}

static void check_fails(const char *text, const char *message)
{
    tl_error err;
    tl_scene *scene;
    help_write("s.json", text);
    assert_fails(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_BAD_INPUT, message);
    assert_null(scene);
}

// Handles of a scene with one 4 x 4 rectangle (25 nodes), on line 2.
static void check_handle_fails(const char *handle, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"cloths\": [" RECT "],\n \"handles\": [%s]}", handle);
    check_fails(text, message);
}

static void smallest_scene_has_all_defaults(void **state)
{
    (void)state;
    tl_scene *scene = load("{\"cloths\": [" RECT "]}");
    const tl_sim_def def = tl_sim_def_default();
    assert_string_equal(tl_scene_name(scene), "s");
    assert_int_equal(tl_scene_frames(scene), 100);
    assert_near(tl_scene_fps(scene), 25, 0);
    assert_int_equal(tl_scene_steps_per_frame(scene), 8);
    // the tables repeat the defaults of the library; they must agree
    assert_near(1 / (scene->fps * scene->steps_per_frame), def.dt, 1e-18);
    assert_int_equal(scene->file.solver.newton_iterations, def.newton_iterations);
    assert_near(scene->file.solver.newton_tolerance, def.newton_tolerance, 0);
    assert_int_equal(scene->file.solver.linear, def.linear);
    assert_near(scene->file.solver.linear_tolerance, def.linear_tolerance, 0);
    assert_int_equal(scene->file.solver.linear_iterations, def.linear_iterations);
    assert_int_equal(scene->file.solver.max_halvings, def.max_halvings);
    assert_int_equal(scene->file.solver.integrator, def.integrator);
    assert_int_equal(scene->file.solver.bending, def.bending);
    assert_near(scene->file.air.density, def.air.density, 0);
    assert_near(scene->file.air.drag, def.air.drag, 0);
    assert_near(scene->file.air.skin, def.air.skin, 0);
    assert_near(scene->wind.gust.strength, def.air.gust, 0);
    assert_near(scene->wind.gust.period, def.air.gust_period, 0);
    assert_near(scene->wind.turbulence.strength, def.air.turbulence, 0);
    assert_near(scene->wind.turbulence.length, def.air.turbulence_length, 0);
    assert_memory_equal(&scene->file.gravity, &def.gravity, sizeof def.gravity);
    assert_int_equal(scene->file.seed, def.seed);
    assert_int_equal(scene->file.collide.bodies, def.collide.bodies);
    assert_int_equal(scene->file.collide.self, def.collide.self);
    assert_int_equal(scene->file.collide.combine, def.collide.combine);
    assert_int_equal(scene->file.collide.on_intersection, def.collide.on_intersection);
    assert_int_equal(scene->file.collide.response, def.collide.response);
    assert_near(scene->file.collide.pressure, def.collide.pressure, 0);
    assert_near(scene->file.collide.slip_speed, def.collide.slip_speed, 0);
    assert_int_equal(scene->file.start.relax, def.start.relax);
    assert_near(scene->file.start.strain, def.start.strain, 0);
    assert_true(isnan(scene->file.start.limit_min) && isnan(scene->file.start.limit_max));
    const tl_cloth_def cloth = tl_cloth_def_default();
    assert_near(scene->cloths[0].file.thickness, cloth.thickness, 0);
    assert_true(isnan(scene->cloths[0].file.friction));
    assert_near(scene->cloths[0].file.friction_self, cloth.friction_self, 0);
    assert_string_equal(scene->cloths[0].name, "cloth");
    const tl_remeshing_file *f = &scene->file.remeshing;
    const tl_remeshing r = cloth.remeshing;
    const double of_scene[] = {f->kind,       f->size_min,    f->size_max,         f->aspect_min,        f->curvature,
                               f->velocity,   f->edge_angles, f->rib_stiffening,   f->obstacles,         f->blend,
                               f->hysteresis, 1 / scene->fps, (double)f->patience, (double)f->max_faces, f->narrowing};
    const double of_library[] = {r.kind,       r.size_min,    r.size_max,       r.aspect_min, r.curvature,
                                 r.velocity,   r.edge_angles, r.rib_stiffening, r.obstacles,  r.blend,
                                 r.hysteresis, r.interval,    r.patience,       r.max_faces,  r.narrowing};
    for (size_t i = 0; i < sizeof of_scene / sizeof *of_scene; i++) assert_near(of_scene[i], of_library[i], 0);
    assert_true(isnan(f->compression) && isnan(r.compression) && isnan(f->interval));
    const tl_material cotton = tl_material_default();
    assert_memory_equal(&scene->cloths[0].materials[0], &cotton, sizeof cotton);
    tl_scene_destroy(scene);
}

static void words_of_the_linear_solver_follow_the_enum(void **state)
{
    (void)state;
    const char *const words[] = {"auto", "pcg", "multilevel", "direct", "stale", "cholmod"};
    for (int i = 0; i < 6; i++) assert_string_equal(tl_linear_name((tl_linear)i), words[i]);
}

static void resolved_text_reads_back_as_itself(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *first, *second;
    assert_ok(tl_scene_load(DATA "complete.json", NULL, 0, &first, &err));
    help_write("again.json", tl_scene_json(first));
    assert_ok(tl_scene_load("again.json", NULL, 0, &second, &err));
    assert_string_equal(tl_scene_json(first), tl_scene_json(second));
    assert_true(first->hash == second->hash);
    assert_int_equal(first->cloth_count, 3);
    assert_int_equal(first->handle_count, 5);
    assert_near(first->cloths[0].file.transform.scale, 0.5, 0);
    assert_int_equal(first->handles[2].keys[1].release, 1);
    assert_int_equal(first->handles[3].cloth, 1);
    tl_scene_destroy(first);
    tl_scene_destroy(second);
}

static void hash_tells_what_matters(void **state)
{
    (void)state;
    tl_error err;
    const char *const sets[] = {"frames=3",
                                "name=other",
                                "camera={\"azimuth\": 30}",
                                "appearance={\"cloth\": {\"color\": \"#102030\"}}",
                                "fps=26",
                                "seed=2",
                                "cloths[0].mesh.rectangle.edge=0.5"};
    tl_scene *base = load("{\"cloths\": [" RECT "]}");
    for (int i = 0; i < 7; i++) {
        tl_scene *scene;
        assert_ok(tl_scene_load("s.json", &sets[i], 1, &scene, &err));
        assert_int_equal(scene->hash == base->hash, i < 4);
        tl_scene_destroy(scene);
    }
    tl_scene_destroy(base);
}

static void includes_know_their_folders(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene;
    help_write("top.json", "{\"include\": \"" DATA "including.json\", \"fps\": 50}");
    assert_ok(tl_scene_load("top.json", NULL, 0, &scene, &err));
    assert_int_equal(tl_scene_frames(scene), 9);
    assert_near(scene->file.air.density, 1, 0);
    assert_near(scene->file.air.drag, 0.75, 0);
    assert_string_equal(scene->cloths[0].name, "sheet");  // with mesh and fabric from the folder of parts.json
    assert_int_equal(scene->cloths[0].material_count, 2);
    tl_scene_destroy(scene);
    assert_int_equal(tl_scene_load(DATA "cycle_a.json", NULL, 0, &scene, &err), TL_BAD_INPUT);
    assert_message_has("cycle_b.json:3: include[0] \"cycle_a.json\", includes itself: ");
    const char *set = "include=x.json";
    help_write("s.json", "{\"cloths\": [" RECT "]}");
    assert_fails(tl_scene_load("s.json", &set, 1, &scene, &err), TL_BAD_INPUT,
                 "--set include: include cannot be set on the command line");
}

static void bad_scenes(void **state)
{
    (void)state;
    check_fails("", "s.json:1: file is empty, a JSON object { .. } is needed");
    check_fails("{\"cloths\": [", "s.json:1: not valid JSON: ']' expected near end of file");
    check_fails("{\n}", "s.json:1: lacks 'cloths' (list of cloths)");
    check_fails("{\n\"cloths\": []}", "s.json:2: cloths [..] of 0, must have at least 1 entry");
    check_fails("{\"cloths\": {}}", "s.json:1: cloths {..}, must be a list [ .. ]");
    check_fails("{\"cloths\": [\n3]}", "s.json:2: cloths[0] 3, must be an object { .. }");
    check_fails("{\"cloths\": [\n{}]}", "s.json:2: cloths[0] lacks 'mesh' (the name of an OBJ file, or an object with "
                                        "rectangle or disc)");
    check_fails("{\"cloths\": [" RECT "],\n\"fps\": 0}", "s.json:2: fps 0, must be in (0, 1e6]");
    check_fails("{\"cloths\": [" RECT "],\n\"frames\": -1}", "s.json:2: frames -1, must be in [0, 999999]");
    check_fails("{\"cloths\": [" RECT "],\n\"gravity\": [0, 1e308, 0]}",
                "s.json:2: gravity[1] 1e+308, must be in [-1e6, 1e6]");
    check_fails("{\"cloths\": [" RECT "],\n\"gravity\": [0, NaN, 0]}",
                "s.json:2: not valid JSON: invalid token near 'NaN'");
    check_fails("{\"cloths\": [" RECT "],\n\"gravty\": [0, 0, 0]}",
                "s.json:2: gravty is not a known key (did you mean 'gravity'?)");
    check_fails("{\"cloths\": [" RECT "],\n\"seams\": []}", "s.json:2: seams is not in this version yet (remove it)");
    check_fails("{\"cloths\": [" RECT "],\n\"remeshing\": {\"kind\": \"isotrop\"}}",
                "s.json:2: remeshing.kind \"isotrop\", must be one of \"none\", \"anisotropic\", \"isotropic\", "
                "\"sqrt3\", \"edge-trees\" (did you mean "
                "'isotropic'?)");
    check_fails("{\"cloths\": [" RECT "],\n\"remeshing\": {\"size_min\": 0}}",
                "s.json:2: remeshing.size_min 0, must be in (0, 1000]");
    check_fails("{\"cloths\": [" RECT "],\n\"solver\": {\"integrator\": \"bdf3\"}}",
                "s.json:2: solver.integrator \"bdf3\", must be one of \"implicit-euler\", \"bdf2\" (did you "
                "mean 'bdf2'?)");
    check_fails("{\"cloths\": [{\"mesh\": {}}]}",
                "s.json:1: cloths[0].mesh must have exactly one of 'rectangle', 'disc', 'pattern'");
    check_fails("{\"cloths\": [{\"mesh\": 3}]}",
                "s.json:1: cloths[0].mesh 3, must be the name of an OBJ file, or an object "
                "with rectangle or disc");
    check_fails("{\"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [1, 1], \"edge\": 1e-6}}}]}",
                "s.json:1: cloths[0].mesh.rectangle: about 2.4e+12 faces, must be <= 20000000 (choose a larger edge)");
    check_fails("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": -1, \"edge\": 1}}}]}",
                "s.json:1: cloths[0].mesh.disc.radius -1, must be in (0, 1e6]");
    check_fails("{\"cloths\": [{\"name\": \"a/b\", \"mesh\": \"x\"}]}",
                "s.json:1: cloths[0].name \"a/b\", must be 1 to 63 letters, digits, '-' or '_' (it becomes a "
                "file name)");
    check_fails("{\"cloths\": [{\"name\": \"a\", \"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}}},\n"
                "{\"name\": \"a\", \"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}}}]}",
                "s.json:2: cloths[1].name \"a\", is the name of cloths[0] already (names must differ)");
    check_fails("{\"cloths\": [{\"mesh\": \"x\", \"transform\": {\"rotate\": [90, 0, 0, 0]}}]}",
                "s.json:1: cloths[0].transform.rotate by 90 degrees about the axis (0, 0, 0), must have a direction");
    check_fails("{\"cloths\": [" RECT "],\n\"air\": {\"wind\": [1, 2]}}",
                "s.json:2: air.wind [..] of 2, must be a list of 3 numbers");
    check_fails("{\"cloths\": [" RECT "],\n\"air\": {\"wind\": \"east\"}}",
                "s.json:2: air.wind \"east\", must be a vector [x, y, z] or an object with velocity or keys, gust and "
                "turbulence");
    check_fails("{\"cloths\": [" RECT "],\n\"air\": {\"wind\": {}}}", "s.json:2: air.wind lacks 'velocity' or 'keys'");
    check_fails("{\"cloths\": [" RECT "], \"air\": {\"wind\": {\"keys\": [{\"time\": 1, \"velocity\": [0, 0, 0]},\n"
                "{\"time\": 1, \"velocity\": [0, 0, 0]}]}}}",
                "s.json:2: air.wind.keys[1].time 1, must be above the 1 before it");
}

static void bad_meshes_and_fabrics(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene;
    help_write("s.json", "{\"cloths\": [\n{\"mesh\": \"gone.obj\"}]}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_IO);
    assert_message_has("s.json:2: cloths[0].mesh: gone.obj: no such file (");
    help_write("s.json", "{\"cloths\": [\n{\"mesh\": \".\"}]}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_IO);
    assert_message_has("is a folder, a file is needed");
    help_write("bad.obj", "v 0 0 0\nv 1 0 0\nv 0 1 nan\nf 1 2 3\n");
    check_fails("{\"cloths\": [{\"mesh\": \"bad.obj\"}]}",
                "s.json:1: cloths[0].mesh: bad.obj:3: \"v 0 1 nan\": z nan, must be a finite number");
    check_fails(
        "{\"cloths\": [{\"mesh\": \"" DATA "quad.obj\",\n\"material\": {\"kind\": \"isotropic\", \"young\": 1e5, "
        "\"density\": 0.1, \"thickness\": 0.001}}]}",
        "s.json:2: cloths[0].material has 1 entry, but face 1 of " DATA "quad.obj has label 1 (labels count from 0)");
    check_fails("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}},\n\"material\": {\"kind\": "
                "\"isotropic\","
                " \"young\": 1e5,\n \"density\": -0.2, \"thickness\": 0.001}}]}",
                "s.json:3: cloths[0].material.density -0.2, must be > 0");
    check_fails("{\"materials\": {\"unused\":\n{\"kind\": \"isotropic\"}}, \"cloths\": [" RECT "]}",
                "s.json:1: materials.unused lacks 'density' (Mass per area)");
    help_write("f.json", "{\n\"kind\": \"isotropic\", \"source\": \"s\", \"density\": 0}");
    check_fails("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}},\n\"material\": \"./f.json\"}]}",
                "s.json:2: cloths[0].material \"./f.json\", ./f.json:2: density 0, must be > 0");
    setenv("TOILE_DATA", TL_REPO, 1);
    check_fails("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}},\n\"material\": \"denimm\"}]}",
                "s.json:2: cloths[0].material \"denimm\", no fabric of this name (did you mean 'denim'? "
                "There are cotton, denim, felt, flag-nylon, jersey, leather, linen, paper, polyester-lining, silk, "
                "wool, wool-light)");
    scene = load("{\"materials\": {\"denim\": {\"kind\": \"isotropic\", \"young\": 1e5, \"density\": 0.1, "
                 "\"thickness\": 0.001}, \"mine\": \"silk\"}, \"cloths\": [{\"mesh\": {\"disc\": {\"radius\": "
                 "1, \"edge\": "
                 "1}}, \"material\": [\"denim\", \"mine\", \"linen\"]}]}");
    assert_near(scene->cloths[0].materials[0].density, 0.1, 0);  // the scene's own before the library
    assert_near(scene->cloths[0].materials[1].density, 0.06, 0);
    assert_string_equal(scene->cloths[0].materials[2].name, "linen");
    tl_scene_destroy(scene);
    unsetenv("TOILE_DATA");
}

static void bad_handles(void **state)
{
    (void)state;
    check_handle_fails(
        "{}", "s.json:2: handles[0] selects nothing (give nodes, corners, sides, label, box, sphere or uv_box)");
    check_handle_fails("{\"nodes\": []}", "s.json:2: handles[0].nodes [..] of 0, must have at least 1 entry");
    check_handle_fails("{\"nodes\": [0,\n25]}",
                       "s.json:3: handles[0].nodes[1] 25, must be in [0, 24], cloth 'cloth' has 25 nodes");
    check_handle_fails("{\"nodes\": [-1]}", "s.json:2: handles[0].nodes[0] -1, must be >= 0");
    check_handle_fails("{\"nodes\": [1], \"corners\": \"all\"}",
                       "s.json:2: handles[0] may have one of 'nodes', 'corners', 'sides'");
    check_handle_fails("{\"cloth\": \"clot\", \"nodes\": [1]}",
                       "s.json:2: handles[0].cloth \"clot\", is not the name of a cloth (did you mean 'cloth'?)");
    check_handle_fails("{\"cloth\": 1, \"nodes\": [1]}",
                       "s.json:2: handles[0].cloth 1, must be in [0, 0], a place in cloths");
    check_handle_fails("{\"corners\": [\"top-lft\"]}",
                       "s.json:2: handles[0].corners[0] \"top-lft\", must be one of \"all\", \"bottom-left\", "
                       "\"bottom-right\", "
                       "\"top-left\", \"top-right\" (did you mean 'top-left'?)");
    check_handle_fails("{\"label\": 1}", "s.json:2: handles[0].label 1, no node of rectangle has this label");
    check_handle_fails("{\"box\": {\"min\": [0, 2, 0], \"max\": [1, 1, 1]}}",
                       "s.json:2: handles[0].box min 2 > max 1 in component 1");
    check_handle_fails("{\"nodes\": [1], \"start\": 2, \"end\": 1}",
                       "s.json:2: handles[0].end 1, must be above start 2");
    check_handle_fails("{\"nodes\": [1], \"motion\": [{\"time\": 1},\n{\"time\": 0.5}]}",
                       "s.json:3: handles[0].motion[1].time 0.5, must be above the 1 before it");
    check_handle_fails("{\"nodes\": [1], \"motion\": [{\"time\": 1, \"release\": true}, {\"time\": 2}]}",
                       "s.json:2: handles[0].motion[0].release true, only the last entry of motion can let go");
    check_fails("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 1}}}],\n\"handles\": "
                "[{\"corners\": \"all\"}]}",
                "s.json:2: handles[0].corners needs a generated rectangle, cloth 'cloth' is disc (use nodes, "
                "label or a box)");
}

// Camera and appearance are for the renderer; here they are checked and kept.
static void check_look_fails(const char *keys, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"cloths\": [" RECT "],\n %s}", keys);
    check_fails(text, message);
}

static void camera_and_appearance(void **state)
{
    (void)state;
    tl_scene *scene = load("{\"cloths\": [" RECT "], \"camera\": {\"azimuth\": 30},"
                           " \"appearance\": {\"cloth\": {\"back\": \"#9fB4d0\", \"look\": \"skin\"}}}");
    assert_near(scene->file.camera.fov, 30, 0);
    assert_near(scene->file.camera.azimuth, 30, 0);
    const char *json = tl_scene_json(scene);
    assert_non_null(strstr(json, "\"camera\""));
    assert_non_null(strstr(json, "\"#9fB4d0\""));
    assert_true(strstr(json, "\"look\"") < strstr(json, "\"back\""));  // in the table's order
    tl_scene_destroy(scene);
    scene = load("{\"cloths\": [" RECT "]}");
    assert_null(strstr(tl_scene_json(scene), "camera"));  // there is no default to fill in
    tl_scene_destroy(scene);
    check_look_fails("\"camera\": {}", "s.json:2: camera lacks 'eye' and 'target', or 'azimuth'");
    check_look_fails("\"camera\": {\"eye\": [0, 0, 1]}",
                     "s.json:2: camera lacks 'target' (eye and target belong together)");
    check_look_fails("\"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 1]}",
                     "s.json:2: camera.target is where eye is, must be elsewhere");
    check_look_fails("\"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 0], \"elevation\": 3}",
                     "s.json:2: camera.elevation and eye exclude each other (give eye and target, or azimuth and "
                     "elevation)");
    check_look_fails("\"camera\": {\"azimuth\": 3, \"fov\": 170}", "s.json:2: camera.fov 170, must be in (0, 170)");
    check_look_fails("\"camera\": {\"azimut\": 3}",
                     "s.json:2: camera.azimut is not a known key (did you mean 'azimuth'?)");
    check_look_fails("\"camera\": \"front\"", "s.json:2: camera \"front\", must be an object { .. }");
    check_look_fails("\"appearance\": {\"clth\": {}}",
                     "s.json:2: appearance.clth is not the name of a cloth or an obstacle (did you mean 'cloth'?)");
    check_look_fails("\"appearance\": {\"cloth\": 3}", "s.json:2: appearance.cloth 3, must be an object { .. }");
    check_look_fails("\"appearance\": {\"cloth\": {\"look\": \"skn\"}}",
                     "s.json:2: appearance.cloth.look \"skn\", must be one of \"cloth\", \"plain\", \"skin\" (did you "
                     "mean 'skin'?)");
    check_look_fails("\"appearance\": {\"cloth\": {\"color\": \"red\"}}",
                     "s.json:2: appearance.cloth.color \"red\", must be a colour \"#rrggbb\" with six hexadecimal "
                     "digits");
}

static void corners_and_sides(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"cloths\": [" RECT "], \"handles\": [{\"corners\": \"all\"}, {\"corners\": [\"top-left\"]}, "
             "{\"sides\": [\"top\", \"left\"]}, {\"sides\": \"all\"}]}");
    assert_int_equal(scene->handles[0].node_count, 4);
    assert_int_equal(scene->handles[1].node_count, 1);
    assert_int_equal(scene->handles[1].nodes[0], 20);
    assert_int_equal(scene->handles[2].node_count, 9);
    assert_int_equal(scene->handles[3].node_count, 16);
    tl_scene_destroy(scene);
}

// Transform, velocity and scales as the simulation receives them, worked by hand.
static void simulation_is_as_described(void **state)
{
    (void)state;
    tl_error err;
    tl_scene *scene =
        load("{\"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [1, 1], \"edge\": 1, \"pattern\": \"diagonal\"}},"
             "\"transform\": {\"scale\": 2, \"rotate\": [90, 0, 0, 1], \"translate\": [10, 0, 0]},"
             "\"velocity\": {\"linear\": [1, 0, 0], \"angular\": [0, 0, 3], \"origin\": [10, 0, 0]},"
             "\"density_scale\": 3}], \"handles\": [{\"nodes\": [0]}]}");
    tl_sim *sim;
    assert_ok(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err));
    tl_cloth_view view;
    assert_int_equal(tl_sim_cloth_count(sim), 1);
    assert_string_equal(tl_sim_cloth_name(sim, tl_sim_cloth(sim, 0)), "cloth");
    assert_ok(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &view));
    assert_int_equal(view.node_count, 4);
    // node 1 was (1, 0, 0): twice as far, turned to +y, moved to x = 10
    assert_near(view.pos[1].x, 10, 0);
    assert_near(view.pos[1].y, 2, 0);
    assert_near(view.vel[1].x, 1 - 3 * 2, 1e-15);
    assert_near(view.uv[1].x, 2, 0);
    tl_energies energies;
    assert_ok(tl_sim_energies(sim, &energies));
    assert_near(energies.gravity, 0.2 * 3 * 4 * 9.81 * 1, 1e-9);  // mass 2.4 kg, centre one metre up
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static void mistakes_that_only_the_simulation_sees_have_a_place_too(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    // three faces on one edge
    help_write("fan.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 1 1\nvt 0 0\nvt 1 0\nvt 0 1\nvt 0 -1\nvt 0.2 1\n"
                          "f 1/1 2/2 3/3\nf 2/2 1/1 4/4\nf 1/1 2/2 5/5\n");
    tl_scene *scene = load("{\"cloths\": [\n{\"mesh\": \"fan.obj\"}]}");
    assert_int_equal(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err), TL_BAD_INPUT);
    assert_message_has("s.json:2: cloths[0]: fan.obj: ");
    assert_null(sim);
    tl_scene_destroy(scene);
    scene = load("{\"cloths\": [" RECT "],\n\"handles\": [{\"sphere\": {\"center\": [50, 0, 0], \"radius\": 0.1}}]}");
    assert_int_equal(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err), TL_BAD_INPUT);
    assert_message_has("s.json:2: handles[0]: ");
    tl_scene_destroy(scene);
}

static void schema_is_in_step(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    json_t *schema = tl_scene_schema();
    assert_non_null(schema);
    tl_buf text;
    tl_buf_init(&text, &alloc);
    tl_json_write(&text, schema);
    tl_buf_text(&text, "\n");
    assert_ok(tl_buf_end(&text, "text", &err));
    if (getenv("TOILE_WRITE_SCHEMA")) help_write(TL_REPO "/docs/scene.schema.json", text.data);
    char *committed = help_read(TL_REPO "/docs/scene.schema.json", NULL);
    assert_string_equal(text.data, committed);  // else: run this test with TOILE_WRITE_SCHEMA=1 and commit
    free(committed);
    tl_buf_free(&text);
    json_decref(schema);
}

// ---- obstacles ----

// Obstacles of a scene with one rectangle 'sheet', on line 2.
static void check_obstacle_fails(const char *obstacle, const char *message)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"cloths\": [{\"name\": \"sheet\", \"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}}],\n"
             "\"obstacles\": [%s]}",
             obstacle);
    check_fails(text, message);
}

#define TETRA "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"

static tl_sim *simulate(const tl_scene *scene)
{
    tl_error err;
    tl_sim *sim;
    assert_ok(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err));
    return sim;
}

static void obstacles_of_every_kind(void **state)
{
    (void)state;
    help_write("quad.obj",
               "o thing\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\nvt 0 0 0\nvn 0 0 1\nf 1/1/1 2//1 3/7/1 4\n");
    tl_scene *scene = load(
        "{\"cloths\": [" RECT "], \"obstacles\": ["
        "{\"name\": \"mesh\", \"mesh\": \"quad.obj\", \"transform\": {\"scale\": 2, \"rotate\": [90, 0, 0, 1], "
        "\"translate\": [0, 0, 5]}},"
        "{\"plane\": {}}, {\"sphere\": {\"radius\": 0.5}, \"transform\": {\"scale\": 2, \"translate\": [1, 0, 0]}},"
        "{\"capsule\": {\"from\": [0, 0, 0], \"to\": [0, 2, 0], \"radius\": 0.1}, \"transform\": {\"rotate\": [90, 0, "
        "0, 1]}},"
        "{\"cylinder\": {\"from\": [0, 0, 0], \"to\": [0, 2, 0], \"radius\": 0.1}, \"friction\": 0.7, \"thickness\": "
        "0.002},"
        "{\"box\": {\"min\": [0, 0, 0], \"max\": [1, 2, 3]}, \"pivot\": [1, 0, 0],"
        " \"motion\": [{\"time\": 0}, {\"time\": 1, \"translate\": [0, 1, 0], \"rotate\": [720, 0, 1, 0]}]}]}");
    assert_int_equal(scene->obstacle_count, 6);
    assert_string_equal(scene->obstacles[0].name, "mesh");
    assert_string_equal(scene->obstacles[1].name, "obstacle1");
    tl_sim *sim = simulate(scene);
    assert_int_equal(tl_sim_body_count(sim), 6);
    tl_body_view v;
    tl_sim_body_view(sim, tl_sim_body(sim, 0), &v);
    assert_int_equal(v.node_count, 5);
    assert_int_equal(v.face_count, 2);
    assert_near(v.pos[1].y, 2, 0);
    assert_near(v.pos[1].z, 5, 0);
    tl_sim_body_view(sim, tl_sim_body(sim, 2), &v);
    double far = 0;
    for (int32_t i = 0; i < v.node_count; i++) far = fmax(far, hypot(hypot(v.pos[i].x - 1, v.pos[i].y), v.pos[i].z));
    assert_near(far, 1, 1e-14);
    tl_sim_body_view(sim, tl_sim_body(sim, 3), &v);
    double low = 0, high = 0;
    for (int32_t i = 0; i < v.node_count; i++) low = fmin(low, v.pos[i].x), high = fmax(high, v.pos[i].x);
    assert_near(low, -2.1, 1e-14);
    assert_near(high, 0.1, 1e-14);
    assert_int_equal(v.moves, 0);
    tl_sim_body_view(sim, tl_sim_body(sim, 5), &v);
    assert_int_equal(v.node_count, 8);
    assert_int_equal(v.face_count, 12);
    assert_near(v.pos[7].z, 3, 0);
    assert_int_equal(v.moves, 1);
    tl_sim_destroy(sim);
    // and its text reads back as itself
    tl_error err;
    tl_scene *again;
    help_write("again.json", tl_scene_json(scene));
    assert_ok(tl_scene_load("again.json", NULL, 0, &again, &err));
    assert_string_equal(tl_scene_json(scene), tl_scene_json(again));
    assert_true(scene->hash == again->hash);
    tl_scene_destroy(again);
    // a mesh file that changes changes the hash
    help_write("quad.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1.5 0\nv 9 9 9\nf 1 2 3 4\n");
    assert_ok(tl_scene_load("again.json", NULL, 0, &again, &err));
    assert_true(scene->hash != again->hash);
    tl_scene_destroy(again);
    tl_scene_destroy(scene);
}

static void sequences_of_meshes(void **state)
{
    (void)state;
    tl_error err;
    const char *const faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    char text[256], name[32];
    for (int k = 1; k <= 3; k++) {
        snprintf(text, sizeof text, "v %d 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n%s", -k, faces);
        snprintf(name, sizeof name, "seq%03d.obj", k);
        help_write(name, text);
    }
    const char *const forms[] = {
        "{\"sequence\": \"seq%03d.obj\", \"first\": 1, \"fps\": 10, \"start\": 0.5}",
        "{\"sequence\": [\"seq001.obj\", \"seq002.obj\", \"seq003.obj\"], \"times\": [0.5, 0.6, 0.7]}",
        "{\"sequence\": \"seq%03d.obj\", \"first\": 1, \"last\": 3, \"fps\": 10, \"start\": 0.5}"};
    uint64_t hash = 0;
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "{\"cloths\": [" RECT "], \"obstacles\": [{\"mesh\": %s}]}", forms[i]);
        tl_scene *scene = load(text), *again;
        const tl_scene_obstacle *o = &scene->obstacles[0];
        assert_int_equal(o->shape_count, 3);
        assert_near(o->times[2], 0.7, 1e-15);
        assert_near(o->shapes[8].x, -3, 0);
        tl_sim *sim = simulate(scene);
        tl_body_view v;
        tl_sim_body_view(sim, tl_sim_body(sim, 0), &v);
        assert_near(v.pos[0].x, -1, 0);
        assert_int_equal(v.moves, 1);
        tl_sim_destroy(sim);
        help_write("again.json", tl_scene_json(scene));
        assert_ok(tl_scene_load("again.json", NULL, 0, &again, &err));
        assert_string_equal(tl_scene_json(scene), tl_scene_json(again));
        if (i == 1) hash = scene->hash;
        if (i == 2) assert_true(scene->hash == again->hash);
        tl_scene_destroy(again);
        tl_scene_destroy(scene);
    }
    assert_true(hash != 0);
    help_write("short.obj", TETRA "f 1 2 3\n");
    help_write("other.obj", TETRA "f 1 2 3\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    check_obstacle_fails("{\"mesh\": {\"sequence\": [\"seq001.obj\", \"short.obj\"]}}",
                         "s.json:2: obstacles[0].mesh.sequence[1] short.obj has 4 nodes and 1 faces, the first file 4 "
                         "and 4 (must be equal)");
    check_obstacle_fails(
        "{\"mesh\": {\"sequence\": [\"seq001.obj\", \"other.obj\"]}}",
        "s.json:2: obstacles[0].mesh.sequence[1] other.obj has other faces than the first file (must be equal)");
    check_obstacle_fails("{\"mesh\": {\"sequence\": \"seq.obj\"}}",
                         "s.json:2: obstacles[0].mesh.sequence \"seq.obj\", must have one number, as in "
                         "\"folder/%04d.obj\" (or give a list of files)");
    check_obstacle_fails("{\"mesh\": {\"sequence\": \"seq%s.obj\"}}",
                         "s.json:2: obstacles[0].mesh.sequence \"seq%s.obj\", must have one number, as in "
                         "\"folder/%04d.obj\" (or give a list of files)");
    check_obstacle_fails("{\"mesh\": {\"sequence\": \"seq%03d.obj\"}}",
                         "s.json:2: obstacles[0].mesh.sequence \"seq%03d.obj\", seq000.obj is not there (set first if "
                         "the numbers start elsewhere)");
    check_obstacle_fails("{\"mesh\": {\"sequence\": [\"seq001.obj\", \"seq002.obj\"], \"times\": [1]}}",
                         "s.json:2: obstacles[0].mesh.times has 1 entries for 2 shapes, must have one each");
    check_obstacle_fails("{\"mesh\": {\"sequence\": [\"seq001.obj\", \"seq002.obj\"], \"times\": [1, 1]}}",
                         "s.json:2: obstacles[0].mesh.times[1] 1, must be above the 1 before it");
    check_obstacle_fails("{\"mesh\": {\"sequence\": [\"seq001.obj\"], \"times\": [1], \"fps\": 3}}",
                         "s.json:2: obstacles[0].mesh.times and fps exclude each other");
}

static void bad_obstacles(void **state)
{
    (void)state;
    check_obstacle_fails("{}", "s.json:2: obstacles[0] has 0 of 'mesh', 'plane', 'sphere', 'capsule', 'cylinder', "
                               "'box', 'character', must have exactly one");
    check_obstacle_fails("{\"plane\": {}, \"sphere\": {\"radius\": 1}}",
                         "s.json:2: obstacles[0] has 2 of 'mesh', 'plane', 'sphere', 'capsule', 'cylinder', 'box', "
                         "'character', must have exactly one");
    check_obstacle_fails("{\"name\": \"sheet\", \"plane\": {}}",
                         "s.json:2: obstacles[0].name \"sheet\", is the name of cloths[0] already (names must differ)");
    check_obstacle_fails("{\"name\": \"a\", \"plane\": {}}, {\"name\": \"a\", \"plane\": {}}",
                         "s.json:2: obstacles[1].name \"a\", is the name of obstacles[0] already (names must differ)");
    check_obstacle_fails("{\"sphere\": {\"radius\": 0}}",
                         "s.json:2: obstacles[0].sphere.radius 0, must be in (0, 1e6]");
    check_obstacle_fails("{\"plane\": {\"normal\": [0, 0, 0]}}",
                         "s.json:2: obstacles[0].plane.normal [..] of 3, must have a direction");
    check_obstacle_fails("{\"capsule\": {\"from\": [0, 1, 0], \"to\": [0, 1, 0], \"radius\": 1}}",
                         "s.json:2: obstacles[0].capsule.to [..] of 3, is where from is, must be elsewhere");
    check_obstacle_fails("{\"box\": {\"min\": [0, 1, 0], \"max\": [1, 1, 1]}}",
                         "s.json:2: obstacles[0].box min 1, max 1 in component 1, max must be above min");
    check_obstacle_fails("{\"plane\": {}, \"friction\": -0.5}",
                         "s.json:2: obstacles[0].friction -0.5, must be in [0, 100]");
    check_obstacle_fails("{\"plane\": {}, \"motion\": [{\"time\": 0, \"release\": true}]}",
                         "s.json:2: obstacles[0].motion[0].release is not a known key here (did you mean "
                         "'handles[].motion[].release'?)");
    check_obstacle_fails("{\"plane\": {}, \"motion\": [{\"time\": 1}, {\"time\": 1}]}",
                         "s.json:2: obstacles[0].motion[1].time 1, must be above the 1 before it");
    help_write("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    check_obstacle_fails("{\"mesh\": \"nan.obj\"}",
                         "s.json:2: obstacles[0].mesh: nan.obj:1: \"v 0 0 nan\": z nan, must be a finite number");
    help_write("twice.obj", TETRA "f 1 2 2\n");
    tl_error err;
    tl_scene *scene;
    help_write("s.json", "{\"cloths\": [" RECT "], \"obstacles\": [\n{\"mesh\": \"nothing.obj\"}]}");
    assert_int_equal(tl_scene_load("s.json", NULL, 0, &scene, &err), TL_IO);
    assert_message_has("s.json:2: obstacles[0].mesh");
    assert_message_has("nothing.obj");
    scene = load("{\"cloths\": [" RECT "], \"obstacles\": [\n{\"mesh\": \"twice.obj\"}]}");
    tl_sim *sim;
    assert_int_equal(tl_scene_simulate(scene, 1, NULL, NULL, &sim, &err), TL_BAD_INPUT);
    assert_message_has("obstacles[0]: twice.obj: body 'obstacle': every face has a node twice");
    tl_scene_destroy(scene);
    check_fails("{\"cloths\": [" RECT "],\n\"collisions\": {\"friction_combine\": \"product\"}}",
                "s.json:2: collisions.friction_combine \"product\", must be one of \"min\", \"max\", \"mean\"");
    check_fails("{\"cloths\": [" RECT "],\n\"collisions\": {\"self\": 1}}",
                "s.json:2: collisions.self 1, must be true or false");
}

static void contact_keys_reach_the_simulation(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}, \"thickness\": 0.002,"
             " \"friction\": 0.25, \"friction_self\": 0.125}],"
             " \"obstacles\": [{\"name\": \"floor\", \"plane\": {\"point\": [0, -5, 0]}, \"friction\": 0.5, "
             "\"thickness\": 0.25}],"
             " \"collisions\": {\"bodies\": false, \"self\": false, \"friction_combine\": \"mean\", \"pressure\": 100,"
             " \"slip_speed\": 0.5, \"on_intersection\": \"heal\", \"response\": \"zones\"},"
             " \"appearance\": {\"floor\": {\"color\": \"#112233\"}}}");
    tl_sim *sim = simulate(scene);
    const tl_collide_def *c = &sim->def.collide;
    assert_int_equal(c->bodies, 0);
    assert_int_equal(c->self, 0);
    assert_int_equal(c->combine, TL_COMBINE_MEAN);
    assert_int_equal(c->on_intersection, TL_INTERSECTION_HEAL);
    assert_int_equal(c->response, TL_RESPONSE_ZONES);
    assert_near(c->pressure, 100, 0);
    assert_near(c->slip_speed, 0.5, 0);
    assert_near(sim->cloths[0].thickness, 0.002, 0);
    assert_near(sim->cloths[0].friction, 0.25, 0);
    assert_near(sim->cloths[0].friction_self, 0.125, 0);
    assert_near(sim->bodies[0].friction, 0.5, 0);
    assert_near(sim->bodies[0].thickness, 0.25, 0);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static void strain_limits_reach_the_simulation(void **state)
{
    (void)state;
    tl_scene *scene =
        load("{\"cloths\": [{\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}, \"strain_limits\": {\"min\": "
             "-0.125, \"max\": 0.25}},"
             " {\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}, \"transform\": {\"translate\": [0, 0, 1]},"
             " \"strain_limits\": {\"kind\": \"aligned\", \"max\": 0, \"weft_max\": 0.5, \"shear\": 0.75}},"
             " {\"mesh\": {\"disc\": {\"radius\": 1, \"edge\": 0.5}}, \"transform\": {\"translate\": [0, 0, 2]}}]}");
    tl_sim *sim = simulate(scene);
    const tl_strain_def *a = &sim->cloths[0].strain, *b = &sim->cloths[1].strain;
    assert_int_equal(a->kind, TL_STRAIN_ISOTROPIC);
    assert_near(a->min, -0.125, 0);
    assert_near(a->max, 0.25, 0);
    assert_int_equal(b->kind, TL_STRAIN_ALIGNED);
    assert_true(isinf(b->min) && isinf(b->weft_min));
    assert_near(b->max, 0, 0);
    assert_near(b->weft_max, 0.5, 0);
    assert_near(b->shear, 0.75, 0);
    assert_int_equal(sim->cloths[2].strain.kind, TL_STRAIN_FREE);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
}

static tl_vec3 first_speed(const char *mesh, double unevenness, double *most)
{
    char text[600];
    snprintf(text, sizeof text,
             "{\"cloths\": [{\"mesh\": %s, \"unevenness\": %.17g, \"velocity\": {\"linear\": [1, 2, 3]}}]}", mesh,
             unevenness);
    tl_scene *scene = load(text);
    tl_sim *sim = simulate(scene);
    tl_cloth_view v;
    assert_int_equal(tl_sim_cloth_view(sim, tl_sim_cloth(sim, 0), &v), TL_OK);
    const tl_vec3 first = v.vel[0];
    *most = 0;
    for (int32_t i = 0; i < v.node_count; i++) {
        assert_true(v.vel[i].x == 1 && v.vel[i].y == 2);  // across the plane alone
        *most = fmax(*most, fabs(v.vel[i].z - 3));
    }
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return first;
}

static void flat_cloth_is_not_quite_at_rest(void **state)
{
    (void)state;
    double most;
    const tl_vec3 coarse =
        first_speed("{\"rectangle\": {\"size\": [1, 1], \"edge\": 1, \"pattern\": \"cross\"}}", 1e-3, &most);
    const tl_vec3 fine =
        first_speed("{\"rectangle\": {\"size\": [1, 1], \"edge\": 0.1, \"pattern\": \"cross\"}}", 1e-3, &most);
    assert_true(coarse.z != 3);
    assert_near(coarse.z, fine.z, 1e-15);  // a matter of the place, not of the mesh
    assert_true(most > 1e-4 && most <= 1e-3);
    assert_true(first_speed("{\"rectangle\": {\"size\": [1, 1], \"edge\": 0.1}}", 0, &most).z == 3 && most == 0);
    help_write("bent.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0.001\nf 1 2 3\nf 1 3 4\n");
    assert_true(first_speed("\"bent.obj\"", 1e-3, &most).z == 3 && most == 0);
}

// Two ends of a strip come towards each other along it. Without gravity nothing but unevenness tells it which way to
// go.
static double bent_by(double unevenness)
{
    char text[900];
    snprintf(text, sizeof text,
             "{\"gravity\": [0, 0, 0], \"cloths\": [{\"mesh\": {\"rectangle\": {\"size\": [0.4, 0.1], \"edge\": 0.05, "
             "\"pattern\": \"cross\"}}, \"unevenness\": %.17g}],"
             "\"remeshing\": {\"kind\": \"none\"}, \"handles\": [{\"sides\": \"left\"}, {\"sides\": \"right\","
             "\"motion\": [{\"time\": 0}, {\"time\": 0.5, \"translate\": [-0.08, 0, 0]}]}]}",
             unevenness);
    tl_scene *scene = load(text);
    tl_sim *sim = simulate(scene);
    tl_error err;
    while (tl_sim_time(sim) < 0.5) assert_ok(tl_sim_step(sim, NULL, &err));
    tl_energies e;
    assert_int_equal(tl_sim_energies(sim, &e), TL_OK);
    tl_sim_destroy(sim);
    tl_scene_destroy(scene);
    return e.bend;
}

static void flat_cloth_folds_when_it_is_pushed_together(void **state)
{
    (void)state;
    assert_true(bent_by(0) == 0);
    assert_true(bent_by(1e-5) > 1e-6);
}

// The complete example of the manual works as it stands, and the manual names every key of the tables.
static void check_keys_in(const char *manual, const tl_key_table *table)
{
    for (const tl_key_def *key = table->keys; key->name; key++) {
        char quoted[80];
        snprintf(quoted, sizeof quoted, "`%s`", key->name);
        if (!(key->flags & TL_KEY_LATER) && !strstr(manual, quoted)) {
            print_error("docs/scene.md does not name %s\n", quoted);
            fail();
        }
        if (key->table) check_keys_in(manual, key->table);
    }
}

static void manual_is_in_step(void **state)
{
    (void)state;
    char *manual = help_read(TL_REPO "/docs/scene.md", NULL);
    char *start = strstr(manual, "<!-- complete example -->");
    assert_non_null(start);
    start = strstr(start, "```json\n") + strlen("```json\n");
    char *end = strstr(start, "\n```");
    assert_non_null(end);
    *end = 0;
    setenv("TOILE_DATA", TL_REPO, 1);
    tl_scene *scene = load(start);
    assert_int_equal(scene->cloth_count, 2);
    tl_scene_destroy(scene);
    unsetenv("TOILE_DATA");
    *end = '\n';
    check_keys_in(manual, &tl_scene_table);
    check_keys_in(manual, &tl_cloth_table);
    check_keys_in(manual, &tl_mesh_table);
    check_keys_in(manual, &tl_handle_table);
    check_keys_in(manual, &tl_wind_table);
    check_keys_in(manual, &tl_wind_key_table);
    check_keys_in(manual, &tl_motion_table);
    check_keys_in(manual, &tl_appearance_table);
    free(manual);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_error err;
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        const tl_scene_def def = {.path = DATA "complete.json", .max_faces = 1000};
        tl_scene *scene;
        const tl_status status = tl_scene_read(&alloc, &def, &scene, &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        tl_scene_destroy(scene);
        assert_true(f.live == 0 && at < 10000);
        done = status == TL_OK;
    }
}

static void every_allocation_of_jansson_may_fail(void **state)
{
    (void)state;
    tl_error err;
    bool done = false;
    for (size_t at = 0; !done; at++) {
        tl_scene *scene;
        json_left = at;
        json_set_alloc_funcs(json_failing_malloc, free);
        const tl_status status = tl_scene_load(DATA "complete.json", NULL, 0, &scene, &err);
        tl_scene_destroy(scene);
        json_set_alloc_funcs(malloc, free);
        assert_true(status == TL_OK || status == TL_NO_MEMORY || status == TL_BAD_INPUT);
        assert_true(at < 100000);
        done = status == TL_OK;
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, help_setup, help_teardown)
    const struct CMUnitTest tests[] = {
        TEST(smallest_scene_has_all_defaults),
        TEST(words_of_the_linear_solver_follow_the_enum),
        TEST(resolved_text_reads_back_as_itself),
        TEST(hash_tells_what_matters),
        TEST(includes_know_their_folders),
        TEST(bad_scenes),
        TEST(bad_meshes_and_fabrics),
        TEST(bad_handles),
        TEST(camera_and_appearance),
        TEST(corners_and_sides),
        TEST(simulation_is_as_described),
        TEST(mistakes_that_only_the_simulation_sees_have_a_place_too),
        TEST(obstacles_of_every_kind),
        TEST(sequences_of_meshes),
        TEST(bad_obstacles),
        TEST(contact_keys_reach_the_simulation),
        TEST(strain_limits_reach_the_simulation),
        TEST(flat_cloth_is_not_quite_at_rest),
        TEST(flat_cloth_folds_when_it_is_pushed_together),
        TEST(schema_is_in_step),
        TEST(manual_is_in_step),
        TEST(every_allocation_may_fail),
        TEST(every_allocation_of_jansson_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
