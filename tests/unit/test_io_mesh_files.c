// tests/unit/test_io_mesh_files.c: PLY, STL, PC2 and MDD: every form worked by hand, and what is wrong with bad ones.

#include "test_io_help.h"

#include "fuzz/memory_reader.h"
#include "io/character_load.h"
#include "io/mesh_file.h"
#include "io/motion_write.h"
#include "io/ply.h"

static tl_status parse(const char *path, const void *data, size_t size, tl_obj *out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    char *exact = malloc(size ? size : 1);  // no byte behind the last
    memcpy(exact, data, size);
    const tl_text text = {exact, size};
    const tl_status status = tl_mesh_file_parse(&alloc, NULL, path, &text, out, err);
    free(exact);
    return status;
}

static void check_fails(const char *path, const void *data, size_t size, const char *message)
{
    tl_error err;
    tl_obj m;
    assert_fails(parse(path, data, size, &m, &err), TL_BAD_INPUT, message);
}

// ---- PLY ----

#define PLY_TEXT                                                                                                       \
    "ply\r\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty float x\nproperty float y\n"            \
    "property uchar red\nproperty double z\nelement face 2\nproperty list uchar int vertex_indices\n"                  \
    "property float quality\nelement edge 1\nproperty int vertex1\nend_header\n"

static void check_quad(const tl_obj *m)
{
    assert_int_equal(m->node_count, 4);
    assert_int_equal(m->face_count, 3);  // a quad and a triangle
    assert_near(m->pos[1].x, 1, 0);
    assert_near(m->pos[2].z, -0.5, 0);
    assert_int_equal(m->face[1][0], 0);
    assert_int_equal(m->face[1][1], 2);
    assert_int_equal(m->face[1][2], 3);
    assert_int_equal(m->face[2][0], 2);
}

static void ply_as_text(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    const char *text = PLY_TEXT "0 0 255 0\n1 0 255 0\n1 1 0 -0.5\n0 1 0 0\n4 0 1 2 3 0.5\n3 2 1 0 7\n9\n";
    assert_ok(parse("a.ply", text, strlen(text), &m, &err));
    check_quad(&m);
    tl_obj_free(&m);
}

static size_t put(unsigned char *to, size_t at, const void *value, size_t size, bool big)
{
    const unsigned char *from = value;
    for (size_t i = 0; i < size; i++) to[at + i] = from[big ? size - 1 - i : i];
    return at + size;
}

static void ply_as_bytes_of_both_orders(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        unsigned char file[1024];
        size_t n = (size_t)snprintf((char *)file, sizeof file,
                                    "ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty float32 x\n"
                                    "property float64 y\nproperty int16 z\nelement face 2\n"
                                    "property list uint8 uint32 vertex_index\nend_header\n",
                                    big ? "big" : "little");
        const float x[4] = {0, 1, 1, 0};
        const double y[4] = {0, 0, 1.25, 1.25};
        const int16_t z[4] = {0, 0, -300, 7};
        const uint32_t quad[4] = {0, 1, 2, 3};
        for (int i = 0; i < 4; i++) {
            n = put(file, n, &x[i], 4, big);
            n = put(file, n, &y[i], 8, big);
            n = put(file, n, &z[i], 2, big);
        }
        for (int f = 0; f < 2; f++) {
            file[n++] = f == 0 ? 4 : 3;
            for (int k = 0; k < (f == 0 ? 4 : 3); k++) n = put(file, n, &quad[f == 0 ? k : 2 - k], 4, big);
        }
        tl_error err;
        tl_obj m;
        assert_ok(parse("a.ply", file, n, &m, &err));
        assert_int_equal(m.face_count, 3);
        assert_near(m.pos[2].y, 1.25, 0);
        assert_near(m.pos[2].z, -300, 0);
        assert_int_equal(m.face[2][0], 2);
        tl_obj_free(&m);
        char want[200];
        snprintf(want, sizeof want, "a.ply: byte %zu: ends too early (cut short?)", n - 4);
        check_fails("a.ply", file, n - 1, want);
    }
}

static void bad_ply(void **state)
{
    (void)state;
    const char *no_end = "ply\nformat ascii 1.0\n", *short_of = PLY_TEXT "0 0 255 0\n1 0\n";
    const char *word = PLY_TEXT "0 0 255 0\n1 0 255 0\n1 x 0 -0.5\n0 1 0 0\n";
    const char *far = PLY_TEXT "0 0 255 0\n1 0 255 0\n1 1 0 -0.5\n0 1 0 0\n4 0 1 2 9 0.5\n3 2 1 0 7\n9\n";
    const char *cloud = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n";
    check_fails("a.ply", no_end, strlen(no_end), "a.ply:3: the header has no end_header");
    check_fails("a.ply", short_of, strlen(short_of), "a.ply:17: ends too early (cut short?)");
    check_fails("a.ply", word, strlen(word), "a.ply:17: a number is expected");
    check_fails("a.ply", far, strlen(far), "a.ply: triangle 1 has vertex 9, there are 0 to 3");
    check_fails("a.ply", cloud, strlen(cloud),
                "a.ply: has 1 vertices and 0 faces, must have some (points alone are no surface)");
    check_fails("a.ply", "plain\n", 6, "a.ply:1: is no PLY: must begin with ply");
}

// ---- STL ----

static const float tetra[4][9] = {
    {0, 0, 0, 0, 1, 0, 1, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1, 0, 1, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static void stl_of_both_kinds(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    unsigned char file[84 + 200] = "solid that is binary all the same";
    char text[4096] = "solid tetra\n";
    file[80] = 4;
    for (int f = 0; f < 4; f++) {
        memcpy(file + 84 + 50 * f + 12, tetra[f], sizeof tetra[f]);
        strcat(text, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; k++)
            snprintf(text + strlen(text), 200, "   vertex %g %g -%g\n", (double)tetra[f][3 * k],
                     (double)tetra[f][3 * k + 1], (double)tetra[f][3 * k + 2]);
        strcat(text, "  endloop\n endfacet\n");
    }
    assert_ok(parse("a.stl", file, sizeof file, &m, &err));
    assert_int_equal(m.node_count, 4);  // corners in one place are one node
    assert_int_equal(m.face_count, 4);
    assert_near(m.pos[m.face[3][2]].z, 1, 0);
    tl_obj_free(&m);
    assert_ok(parse("a.stl", text, strlen(text), &m, &err));
    assert_int_equal(m.node_count, 4);  // -0 is 0
    assert_near(m.pos[m.face[3][2]].z, -1, 0);
    tl_obj_free(&m);
    check_fails("a.stl", file, sizeof file - 1, "a.stl:1: has 0 corners, must be three for each face");
    file[0] = 'S';
    check_fails("a.stl", file, sizeof file - 1, "a.stl: byte 80: says 4 faces, 283 bytes have room for 3 (cut short?)");
    const float nan = (float)NAN;
    memcpy(file + 84 + 50 + 12 + 4, &nan, 4);
    check_fails("a.stl", file, sizeof file, "a.stl: byte 146: a corner of face 1 is not finite");
    check_fails("a.stl", "solid x\nvertex 1 2\n", 19, "a.stl:2: vertex needs three numbers");
}

static void formats_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(tl_mesh_format_of("a.OBJ", "v", 1), TL_MESH_OBJ);
    assert_int_equal(tl_mesh_format_of("a.Stl", "solid", 5), TL_MESH_STL);
    assert_int_equal(tl_mesh_format_of("a", "ply\n", 4), TL_MESH_PLY);
    assert_int_equal(tl_mesh_format_of("a", "glTF", 4), TL_MESH_GLTF);
}

// ---- caches ----

static tl_status read_cached(const char *mesh, const void *cache, size_t size, double fps, tl_character **out,
                             tl_error *err)
{
    const memory_file files[] = {{"m.obj", mesh, strlen(mesh)}, {"c.pc2", cache, size}};
    memory_disk disk = {files, 2};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_character_def def = tl_character_def_default();
    def.file = "m.obj", def.cache = "c.pc2", def.cache_fps = fps;
    return tl_character_read(&alloc, &reader, &def, out, NULL, err);
}

#define TRIANGLE "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"

static size_t make_pc2(unsigned char *out, int32_t samples, float rate)
{
    const int32_t version = 1, points = 3;
    const float start = 10;
    memcpy(out, "POINTCACHE2", 12);
    memcpy(out + 12, &version, 4);
    memcpy(out + 16, &points, 4);
    memcpy(out + 20, &start, 4);
    memcpy(out + 24, &rate, 4);
    memcpy(out + 28, &samples, 4);
    size_t n = 32;
    for (int32_t s = 0; s < samples; s++)
        for (int v = 0; v < 3; v++) {
            const float x[3] = {(float)(v == 1) + (float)s, (float)(v == 2), 0};
            memcpy(out + n, x, sizeof x);
            n += sizeof x;
        }
    return n;
}

static void pc2_and_mdd(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    unsigned char file[512], mdd[512];
    const size_t n = make_pc2(file, 3, 2);  // two frames a sample: at 10 frames a second 0.2 s
    assert_ok(read_cached(TRIANGLE, file, n, 10, &c, &err));
    assert_near(tl_character_clip_seconds(c, 0), 0.4, 1e-12);
    assert_string_equal(tl_character_clip_name(c, 0), "cache");
    tl_playback play = tl_playback_default();
    tl_vec3 x[3];
    play.clip = 0;
    assert_ok(tl_character_pose(c, &play, 0.3, x, &err));
    assert_near(x[1].x, 2.5, 1e-6);
    assert_ok(tl_character_pose(c, &play, 7, x, &err));
    assert_near(x[0].x, 2, 0);
    play.lead_in = 1;
    assert_ok(tl_character_pose(c, &play, 0, x, &err));
    assert_near(x[0].x, 0, 0);
    tl_character_destroy(c);
    // the same as MDD, with times of its own
    const int32_t head[2] = {3, 3};
    const float times[3] = {1, 2, 4};
    size_t at = 0;
    for (int i = 0; i < 2; i++) at = put(mdd, at, &head[i], 4, true);
    for (int i = 0; i < 3; i++) at = put(mdd, at, &times[i], 4, true);
    for (int i = 0; i < 27; i++) at = put(mdd, at, file + 32 + 4 * i, 4, true);
    assert_ok(read_cached(TRIANGLE, mdd, at, 0, &c, &err));
    play.lead_in = 0;
    assert_ok(tl_character_pose(c, &play, 2, x, &err));  // 3 s on the clock of the cache
    assert_near(x[0].x, 1.5, 1e-6);
    tl_character_destroy(c);
}

static void check_cache_fails(const char *mesh, const void *cache, size_t size, const char *message)
{
    tl_error err;
    tl_character *c;
    assert_fails(read_cached(mesh, cache, size, 25, &c, &err), TL_BAD_INPUT, message);
    assert_null(c);
}

static void bad_caches(void **state)
{
    (void)state;
    unsigned char file[512];
    const size_t n = make_pc2(file, 2, 1);
    check_cache_fails(TRIANGLE, file, n - 1, "c.pc2: 2 samples need 104 bytes, there are 103 (cut short?)");
    check_cache_fails("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3 4\n", file, n,
                      "c.pc2: byte 16: has 3 points, the mesh has 4 vertices (must be equal)");
    check_cache_fails(TRIANGLE, "abc", 3, "c.pc2: has 3 bytes, is neither a PC2 nor an MDD");
    const float nan = (float)NAN;
    memcpy(file + 32 + 40, &nan, 4);
    check_cache_fails(TRIANGLE, file, n, "c.pc2: byte 68: point 0 of sample 1 is not finite");
    make_pc2(file, 2, 0);
    check_cache_fails(TRIANGLE, file, n, "c.pc2: byte 24: 0 frames a sample, must be > 0");
}

// Three frames as Blender wrote them, in z up, on vertices that are split: the middle one is frame 15.
static void caches_agree_with_blender(void **state)
{
    (void)state;
    for (int mdd = 0; mdd < 2; mdd++) {
        tl_error err;
        tl_character *c;
        tl_character_def def = tl_character_def_default();
        def.file = TL_TEST_DATA "/bodies/RiggedFigure.glb";
        def.cache = mdd ? TL_TEST_DATA "/bodies/figure.mdd" : TL_TEST_DATA "/bodies/figure.pc2";
        def.cache_fps = 24;
        assert_ok(tl_character_load(&def, &c, &err));
        assert_int_equal(tl_character_vert_count(c), 130);
        assert_string_equal(c->facts.note[0],
                            "z is taken as the axis that points up in the cache (set cache_up to \"y\" if it is y)");
        tl_playback play = tl_playback_default();
        play.clip = tl_character_find_clip(c, "cache");
        tl_vec3 *x = malloc(130 * sizeof *x);
        assert_ok(tl_character_pose(c, &play, 1 / 24.0, x, &err));
        FILE *file = fopen(TL_TEST_DATA "/bodies/figure_frame015_zup.txt", "r");
        assert_non_null(file);
        for (int32_t i = 0; i < 370; i++) {
            tl_vec3 want;
            assert_int_equal(fscanf(file, "%lf %lf %lf", &want.x, &want.y, &want.z), 3);
            const tl_vec3 got = x[c->source[i]];
            assert_near(got.x, want.x, 1e-6);
            assert_near(got.y, want.z, 1e-6);
            assert_near(got.z, -want.y, 1e-6);
        }
        fclose(file);
        free(x);
        tl_character_destroy(c);
    }
}

// ---- surfaces ----

static tl_character *character_of(const char *obj)
{
    const memory_file file = {"m.obj", obj, strlen(obj)};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_character_def def = tl_character_def_default();
    tl_character *c;
    tl_error err;
    def.file = "m.obj";
    assert_ok(tl_character_read(&alloc, &reader, &def, &c, NULL, &err));
    return c;
}

static bool has_note(const tl_character *c, const char *text)
{
    for (int32_t i = 0; i < c->facts.note_count; i++)
        if (strstr(c->facts.note[i], text)) return true;
    return false;
}

static void odd_surfaces_warn(void **state)
{
    (void)state;
#define CORNERS "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    tl_character *c = character_of(CORNERS "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 1 2\n");
    assert_near(c->facts.volume, 1.0 / 6, 1e-15);
    assert_int_equal(c->facts.dropped_faces, 1);
    assert_true(has_note(c, "1 of 5 faces have no three different corners and are left out"));
    assert_false(has_note(c, "inwards"));
    tl_character_destroy(c);
    c = character_of(CORNERS "f 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n");
    assert_true(has_note(c, "its faces look inwards (volume -0.166667 m^3)"));
    tl_character_destroy(c);
    c = character_of(CORNERS "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 4 3\n");
    assert_true(has_note(c, "at 3 edges two faces disagree about which side is out"));
    tl_character_destroy(c);
    c = character_of(CORNERS "f 1 3 2\nf 1 2 4\nf 1 4 3\n");
    assert_true(has_note(c, "its surface is open along 3 edges"));
    tl_character_destroy(c);
    c = character_of("v 0 0 0\nv 0.3 0 0\nv 0 0.2 0\nv 0 0 1.7\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    assert_int_equal(c->facts.up, TL_UP_Z);
    assert_near(c->facts.height, 1.7, 1e-12);
    assert_near(c->facts.volume, 0.3 * 0.2 * 1.7 / 6, 1e-12);  // turned, not mirrored
    tl_character_destroy(c);
}

// ---- exports ----

// What we write is what our readers, which agree with Blender, find.
static void exports_read_back(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    const tl_allocator alloc = tl_allocator_default();
    const char *text = "v 0 0 0\nv 1 0 0\nv 0 1.5 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n";
    assert_ok(tl_obj_parse(&alloc, "m.obj", text, strlen(text), TL_OBJ_STRICT, &m, &err));
    float pos[12][3];
    for (int f = 0; f < 4; f++)
        for (int v = 0; v < 3; v++) {
            pos[3 * f + v][0] = (float)(m.pos[v].x + 0.1 * f);
            pos[3 * f + v][1] = (float)(m.pos[v].y - 0.3 * f * v);
            pos[3 * f + v][2] = (float)(0.7 * f * f);
        }
    const tl_moving_mesh moving = {"cloth", &m, (const float(*)[3])pos, 4, 20};
    for (int kind = 0; kind < 3; kind++) {
        tl_buf buf;
        tl_character *c;
        tl_buf_init(&buf, &alloc);
        if (kind == 0)
            assert_ok(tl_glb_write(&buf, &moving, &err));
        else if (kind == 1)
            tl_pc2_write(&buf, &moving);
        else
            tl_mdd_write(&buf, &moving);
        assert_ok(tl_buf_end(&buf, "a file", &err));
        if (kind > 0) {
            assert_ok(read_cached(text, buf.data, buf.size, 20, &c, &err));
        } else {
            const memory_file file = {"a.glb", buf.data, buf.size};
            memory_disk disk = {&file, 1};
            const tl_reader reader = {memory_read, &disk};
            tl_character_def def = tl_character_def_default();
            def.file = "a.glb";
            assert_ok(tl_character_read(&alloc, &reader, &def, &c, NULL, &err));
            assert_string_equal(tl_character_clip_name(c, 0), "simulation");
        }
        tl_playback play = tl_playback_default();
        tl_vec3 x[3];
        play.clip = 0;
        for (int f = 0; f < 7; f++) {  // frames, and half way between them
            assert_ok(tl_character_pose(c, &play, f / 40.0, x, &err));
            for (int v = 0; v < 3; v++)
                for (int k = 0; k < 3; k++)
                    assert_near((&x[v].x)[k],
                                0.5 * ((double)pos[3 * (f / 2) + v][k] + (double)pos[3 * ((f + 1) / 2) + v][k]), 1e-6);
        }
        tl_character_destroy(c);
        tl_buf_free(&buf);
    }
    tl_buf buf;
    tl_obj back;
    tl_buf_init(&buf, &alloc);
    tl_vec3 x[3];
    const float value[3] = {1, 2, 3};
    for (int v = 0; v < 3; v++) x[v] = (tl_vec3){(double)pos[3 + v][0], (double)pos[3 + v][1], (double)pos[3 + v][2]};
    tl_ply_write(&buf, &(tl_frame_points){.mesh = &m, .pos = x, .attribute = {value, NULL, NULL, value}});
    assert_ok(parse("a.ply", buf.data, buf.size, &back, &err));
    assert_int_equal(back.face_count, 1);
    assert_near(back.pos[2].y, (double)pos[5][1], 0);
    tl_obj_free(&back);
    tl_buf_free(&buf);
    tl_obj_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_as_text),
        cmocka_unit_test(ply_as_bytes_of_both_orders),
        cmocka_unit_test(bad_ply),
        cmocka_unit_test(stl_of_both_kinds),
        cmocka_unit_test(formats_are_told_apart),
        cmocka_unit_test(pc2_and_mdd),
        cmocka_unit_test(bad_caches),
        cmocka_unit_test(caches_agree_with_blender),
        cmocka_unit_test(odd_surfaces_warn),
        cmocka_unit_test(exports_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
