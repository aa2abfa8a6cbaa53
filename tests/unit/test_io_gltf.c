// tests/unit/test_io_gltf.c: glTF: reference numbers of other programs, small files worked by hand, and broken ones.

#include "test_io_help.h"

#include "base/alloc.h"
#include "fuzz/memory_reader.h"
#include "io/character_load.h"
#include "io/gltf.h"

static tl_status read_bytes(const void *data, size_t size, const char *name, tl_character **out, tl_error *err)
{
    const memory_file file = {name, data, size};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_character_def def = tl_character_def_default();
    def.file = name;
    return tl_character_read(&alloc, &reader, &def, out, NULL, err);
}

// A GLB of a JSON text and binary data; the caller frees.
static unsigned char *make_glb(const char *json, const void *bin, size_t bin_size, size_t *size)
{
    const size_t n = strlen(json), padded = (n + 3) / 4 * 4, bin_padded = (bin_size + 3) / 4 * 4;
    *size = 12 + 8 + padded + 8 + bin_padded;
    unsigned char *out = calloc(1, *size);
    const uint32_t words[5] = {0x46546c67, 2, (uint32_t)*size, (uint32_t)padded, 0x4e4f534a};
    memcpy(out, words, sizeof words);
    memset(out + 20, ' ', padded);
    memcpy(out + 20, json, n);
    const uint32_t chunk[2] = {(uint32_t)bin_padded, 0x004e4942};
    memcpy(out + 20 + padded, chunk, sizeof chunk);
    memcpy(out + 28 + padded, bin, bin_size);
    return out;
}

static tl_status read_glb(const char *json, const void *bin, size_t bin_size, tl_character **out, tl_error *err)
{
    size_t size;
    unsigned char *glb = make_glb(json, bin, bin_size, &size);
    const tl_status status = read_bytes(glb, size, "a.glb", out, err);
    free(glb);
    return status;
}

static void pose(const tl_character *c, int32_t clip, double time, tl_vec3 *out)
{
    tl_error err;
    tl_playback play = tl_playback_default();
    play.clip = clip;
    assert_ok(tl_character_pose(c, &play, time, out, &err));
}

// ---- what other programs say ----

static void skinning_agrees_with_blender(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    tl_character_def def = tl_character_def_default();
    def.file = TL_REPO "/scenes/walk/body.glb";
    assert_ok(tl_character_load(&def, &c, &err));
    assert_int_equal(tl_character_vert_count(c), 13380);
    assert_int_equal(tl_character_face_count(c), 26756);
    assert_int_equal(c->facts.note_count, 0);
    assert_near(c->facts.height, 1.59, 0.001);
    tl_vec3 *x = malloc(13380 * sizeof *x);
    FILE *file = fopen(TL_TEST_DATA "/bodies/skinning.txt", "r");
    assert_non_null(file);
    char line[256], clip[64], last[64] = "";
    int frame, vert, last_frame = -1, rows = 0;
    while (fgets(line, sizeof line, file)) {
        tl_vec3 want;
        if (sscanf(line, "%63s %d %d %lf %lf %lf", clip, &frame, &vert, &want.x, &want.y, &want.z) != 6) continue;
        if (strcmp(clip, last) != 0 || frame != last_frame) pose(c, tl_character_find_clip(c, clip), frame / 60.0, x);
        snprintf(last, sizeof last, "%s", clip), last_frame = frame;
        const tl_vec3 got = x[c->source[vert]];
        assert_near(got.x, want.x, 1e-6);
        assert_near(got.y, want.y, 1e-6);
        assert_near(got.z, want.z, 1e-6);
        rows++;
    }
    assert_int_equal(rows, 3 * 223);
    fclose(file);
    free(x);
    tl_character_destroy(c);
}

// Nodes with matrices, a skinned node below the root, vertices split by normals: against Blender's positions.
static void rigged_figure_agrees_with_blender(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    tl_character_def def = tl_character_def_default();
    def.file = TL_TEST_DATA "/bodies/RiggedFigure.glb";
    assert_ok(tl_character_load(&def, &c, &err));
    assert_int_equal(c->facts.file_verts, 370);
    assert_int_equal(tl_character_vert_count(c), 130);
    assert_int_equal(c->facts.open_edges, 0);
    assert_int_equal(tl_character_vert_count(c) - 384 + tl_character_face_count(c), 2);  // Euler: a closed surface
    tl_vec3 *x = malloc(130 * sizeof *x);
    pose(c, 0, 15 / 24.0 - c->clip[0].begin, x);
    FILE *file = fopen(TL_TEST_DATA "/bodies/figure_frame015_zup.txt", "r");
    assert_non_null(file);
    for (int32_t i = 0; i < 370; i++) {
        tl_vec3 want;
        assert_int_equal(fscanf(file, "%lf %lf %lf", &want.x, &want.y, &want.z), 3);
        const tl_vec3 got = x[c->source[i]];
        assert_near(got.x, want.x, 2e-6);
        assert_near(got.y, want.z, 2e-6);
        assert_near(got.z, -want.y, 2e-6);
    }
    fclose(file);
    free(x);
    tl_character_destroy(c);
}

static void packed_file_reads_the_same(void **state)
{
    (void)state;
    tl_error err;
    size_t size;
    char *text = help_read(TL_TEST_DATA "/bodies/SimpleSkin.gltf", &size);
    const tl_allocator alloc = tl_allocator_default();
    tl_buf packed;
    tl_buf_init(&packed, &alloc);
    const tl_gltf_source source = {"s.gltf", text, size, NULL};
    assert_ok(tl_gltf_pack(&alloc, &source, &packed, &err));
    tl_character *a, *b;
    assert_ok(read_bytes(text, size, "s.gltf", &a, &err));
    assert_ok(read_bytes(packed.data, packed.size, "s.glb", &b, &err));
    tl_hash ha, hb;
    tl_hash_init(&ha), tl_hash_init(&hb);
    tl_character_hash(a, &ha), tl_character_hash(b, &hb);
    assert_int_equal(tl_hash_value(&ha), tl_hash_value(&hb));
    tl_vec3 x[10];
    pose(a, 0, 1.0, x);  // the upper joint turned by 90 degrees about z: (-0.5, 2, 0) to (-1, 0.5, 0)
    assert_near(x[8].x, -1, 1e-5);
    assert_near(x[8].y, 0.5, 1e-5);
    tl_character_destroy(a);
    tl_character_destroy(b);
    tl_buf_free(&packed);
    free(text);
}

// ---- worked by hand ----

// Three corners of a triangle, then times 0, 1, 2 and values.
#define HEAD(buffer)                                                                                                   \
    "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":" buffer                                            \
    "}],\"scenes\":[{\"nodes\":[0]}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
#define VIEW(offset, length) "{\"buffer\":0,\"byteOffset\":" offset ",\"byteLength\":" length "}"
#define ANIMATED(path, type, curve, count)                                                                             \
    HEAD("512")                                                                                                        \
    "\"nodes\":[{\"mesh\":0,\"translation\":[1,0,0]}],"                                                                \
    "\"bufferViews\":[" VIEW("0", "36") "," VIEW("36", "12") "," VIEW(                                                 \
        "48",                                                                                                          \
        "400") "],"                                                                                                    \
               "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"               \
               "{\"bufferView\":1,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"},"                            \
               "{\"bufferView\":2,\"componentType\":5126,\"count\":" count ",\"type\":\"" type "\"}],"                 \
               "\"animations\":[{\"name\":\"go\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"" path \
               "\"}}],\"samplers\":[{\"input\":1,\"output\":2,\"interpolation\":\"" curve "\"}]}]}"

static const float triangle[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};

static void fill(float bin[128], const float *values, int n)
{
    const float times[3] = {0, 1, 2};
    memset(bin, 0, 128 * sizeof *bin);
    memcpy(bin, triangle, sizeof triangle);
    memcpy(bin + 9, times, sizeof times);
    memcpy(bin + 12, values, (size_t)n * sizeof *values);
}

static void step_and_linear(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[128];
    tl_vec3 x[3];
    const float moves[9] = {0, 0, 0, 2, 0, 0, 2, 4, 0};
    fill(bin, moves, 9);
    assert_ok(read_glb(ANIMATED("translation", "VEC3", "LINEAR", "3"), bin, sizeof bin, &c, &err));
    assert_int_equal(tl_character_find_clip(c, "go"), 0);
    assert_near(tl_character_clip_seconds(c, 0), 2, 0);
    pose(c, 0, 0.25, x);
    assert_near(x[0].x, 0.5, 1e-15);
    pose(c, 0, 1.5, x);
    assert_near(x[0].y, 2, 1e-15);
    assert_near(x[1].x, 3, 1e-15);
    pose(c, 0, 9, x);  // the last pose stays
    assert_near(x[0].y, 4, 1e-15);
    pose(c, -1, 9, x);  // at rest the node's own translation counts
    assert_near(x[0].x, 1, 0);
    tl_character_destroy(c);
    assert_ok(read_glb(ANIMATED("translation", "VEC3", "STEP", "3"), bin, sizeof bin, &c, &err));
    pose(c, 0, 1.99, x);
    assert_near(x[0].x, 2, 0);
    assert_near(x[0].y, 0, 0);
    pose(c, 0, 2, x);
    assert_near(x[0].y, 4, 0);
    tl_character_destroy(c);
}

static void rotations_go_along_the_arc(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[128];
    tl_vec3 x[3];
    // none, 90 degrees about z, and the same again with the other sign
    const float s = (float)sqrt(0.5), turns[12] = {0, 0, 0, 1, 0, 0, s, s, 0, 0, -s, -s};
    fill(bin, turns, 12);
    assert_ok(read_glb(ANIMATED("rotation", "VEC4", "LINEAR", "3"), bin, sizeof bin, &c, &err));
    pose(c, 0, 1.0 / 3, x);  // 30 degrees
    assert_near(x[1].x - 1, cos(30 * 3.14159265358979 / 180), 1e-7);
    assert_near(x[1].y, 0.5, 1e-7);
    pose(c, 0, 1.5, x);
    assert_near(x[1].y, 1, 1e-6);
    tl_character_destroy(c);
}

static void cubic_spline_by_hand(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[128];
    tl_vec3 x[3];
    // (tangent in, value, tangent out) of x: from 0 with slope 1 to 2 with slope -1, then to 2 with slope 0
    const float values[27] = {0, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0};
    fill(bin, values, 27);
    assert_ok(read_glb(ANIMATED("translation", "VEC3", "CUBICSPLINE", "9"), bin, sizeof bin, &c, &err));
    pose(c, 0, 0.5, x);  // half of both values, an eighth of the slopes' difference: 1 + (1 + 1) / 8
    assert_near(x[0].x, 1.25, 1e-7);
    pose(c, 0, 1.5, x);
    assert_near(x[0].x, 2, 1e-7);
    tl_character_destroy(c);
}

static void lead_in_starts_at_rest(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[128];
    tl_vec3 x[3];
    const float moves[9] = {3, 0, 0, 5, 0, 0, 5, 4, 0};
    fill(bin, moves, 9);
    assert_ok(read_glb(ANIMATED("translation", "VEC3", "LINEAR", "3"), bin, sizeof bin, &c, &err));
    tl_playback play = {.clip = 0, .start = 1, .lead_in = 2, .speed = 2, .from = 0.5};
    const double time[] = {0, 1, 2, 3, 3.25}, want[] = {1, 1, 2.5, 4, 5};  // rest at 1, the clip begins at 4
    for (int i = 0; i < 5; i++) {
        assert_ok(tl_character_pose(c, &play, time[i], x, &err));
        assert_near(x[0].x, want[i], 1e-12);
    }
    tl_character_destroy(c);
}

// Morph targets with a sparse accessor, weights animated; two nodes show the mesh, one of them mirrored.
static void morphs_and_sparse(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    const char *json =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":80}],\"scenes\":[{\"nodes\":[0,1]}],"
        "\"nodes\":[{\"mesh\":0},{\"mesh\":0,\"scale\":[1,1,-1],\"translation\":[0,0,-1],\"weights\":[1]}],"
        "\"meshes\":[{\"weights\":[0.5],\"primitives\":[{\"attributes\":{\"POSITION\":0},\"targets\":[{\"POSITION\":1}]"
        "}]}],"
        "\"bufferViews\":[" VIEW("0", "36") "," VIEW("36", "2") "," VIEW("40", "12") "," VIEW("52", "8") "," VIEW(
            "60", "8") "],"
                       "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
                       "{\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,\"indices\":{"
                       "\"bufferView\":1,"
                       "\"componentType\":5123},\"values\":{\"bufferView\":2}}},"
                       "{\"bufferView\":3,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
                       "{\"bufferView\":4,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"}],"
                       "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":0,\"path\":\"weights\"}}],"
                       "\"samplers\":[{\"input\":2,\"output\":3}]}]}";
    float bin[20] = {0};
    const uint16_t index = 1;
    const float move[3] = {0, 0, 8}, times[2] = {0, 1}, weights[2] = {0, 1};
    memcpy(bin, triangle, sizeof triangle);
    memcpy(bin + 9, &index, sizeof index);
    memcpy(bin + 10, move, sizeof move);
    memcpy(bin + 13, times, sizeof times);
    memcpy(bin + 15, weights, sizeof weights);
    assert_ok(read_glb(json, bin, sizeof bin, &c, &err));
    assert_int_equal(tl_character_vert_count(c), 6);
    tl_vec3 x[6];
    pose(c, -1, 0, x);
    assert_near(x[1].z, 4, 0);   // half of the target
    assert_near(x[4].z, -9, 0);  // all of it, mirrored
    pose(c, 0, 0.25, x);
    assert_near(x[1].z, 2, 1e-15);
    assert_near(x[4].z, -9, 0);
    assert_int_equal(c->face[1].v[1], 5);  // the mirrored face is turned around
    tl_character_destroy(c);
}

// Eight weights of a vertex, as bytes; a strip of two faces; no inverse bind matrices; interleaved positions.
static void eight_weights_and_a_strip(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    const char *json =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":128}],"
        "\"nodes\":[{\"mesh\":0,\"skin\":0,\"translation\":[50,0,0]},{\"translation\":[0,0,2],\"children\":[2]},"
        "{\"translation\":[0,0,2]}],\"skins\":[{\"joints\":[1,2]}],"
        "\"meshes\":[{\"primitives\":[{\"mode\":5,\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2,"
        "\"JOINTS_1\":3,\"WEIGHTS_1\":2}}]}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":64,\"byteStride\":16}," VIEW("64", "16") "," VIEW(
            "80", "16") "," VIEW("96",
                                 "16") "],"
                                       "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":"
                                       "\"VEC3\"},"
                                       "{\"bufferView\":1,\"componentType\":5121,\"count\":4,\"type\":\"VEC4\"},"
                                       "{\"bufferView\":2,\"componentType\":5121,\"normalized\":true,\"count\":4,"
                                       "\"type\":\"VEC4\"},"
                                       "{\"bufferView\":3,\"componentType\":5121,\"count\":4,\"type\":\"VEC4\"}]}";
    unsigned char bin[128] = {0};
    const float quad[4][4] = {{0, 0, 0, 7}, {1, 0, 0, 7}, {0, 1, 0, 7}, {1, 1, 0, 7}};
    memcpy(bin, quad, sizeof quad);
    for (int v = 0; v < 4; v++) bin[80 + 4 * v] = 255, bin[96 + 4 * v] = 1;  // joint 0 and joint 1, equal weights
    assert_ok(read_glb(json, bin, sizeof bin, &c, &err));
    tl_vec3 x[4];
    pose(c, -1, 0, x);
    assert_near(x[3].z, 3, 1e-15);  // half of 2, half of 4; the node of the mesh does not count
    assert_near(x[3].x, 1, 1e-15);
    assert_int_equal(c->face[0].v[1], 1);
    assert_int_equal(c->face[1].v[1], 3);  // the second face of a strip is turned
    assert_int_equal(c->face[1].v[2], 2);
    assert_int_equal(c->facts.reversed_edges, 0);
    assert_int_equal(tl_character_vert_node(c, 0), 1);
    tl_character_destroy(c);
}

static void buffers_beside_the_file(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    const char *json =
        "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"a%20b.bin\"}],"
        "\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
        "\"bufferViews\":[" VIEW(
            "0", "36") "],"
                       "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]}";
    const memory_file files[] = {{"dir/a.gltf", json, strlen(json)}, {"dir/a b.bin", triangle, sizeof triangle}};
    memory_disk disk = {files, 2};
    const tl_reader reader = {memory_read, &disk};
    const tl_allocator alloc = tl_allocator_default();
    tl_character_def def = tl_character_def_default();
    def.file = "dir/a.gltf";
    assert_ok(tl_character_read(&alloc, &reader, &def, &c, NULL, &err));
    assert_int_equal(tl_character_face_count(c), 1);
    tl_character_destroy(c);
    disk.count = 1;
    assert_fails(tl_character_read(&alloc, &reader, &def, &c, NULL, &err), TL_IO,
                 "dir/a.gltf: buffers[0]: dir/a b.bin: no such file");
}

// ---- broken files ----

static void check_glb_fails(const char *json, const void *bin, size_t size, const char *message)
{
    tl_error err;
    tl_character *c;
    assert_fails(read_glb(json, bin, size, &c, &err), TL_BAD_INPUT, message);
    assert_null(c);
}

#define RIGGED(joints, weight_view)                                                                                    \
    "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":128}],"                                             \
    "\"nodes\":[{\"mesh\":0,\"skin\":0},{\"name\":\"hip\"}],\"skins\":[{\"joints\":" joints "}],"                      \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2}}]}],"                \
    "\"bufferViews\":[" VIEW("0", "36") "," VIEW(                                                                      \
        "36", "12") "," weight_view "],"                                                                               \
                    "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"          \
                    "{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"                         \
                    "{\"bufferView\":2,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"}]}"

static void broken_rigs(void **state)
{
    (void)state;
    unsigned char bin[128] = {0};
    float weights[12] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    memcpy(bin, triangle, sizeof triangle);
    bin[36 + 4] = 3;  // the second vertex follows joint 3
    memcpy(bin + 48, weights, sizeof weights);
    check_glb_fails(
        RIGGED("[1]", VIEW("48", "48")), bin, sizeof bin,
        "a.glb: accessors[1] (meshes[0].primitives[0]): vertex 1 follows joint 3, skins[0] has joints 0 to 0");
    bin[36 + 4] = 0;
    check_glb_fails(RIGGED("[7]", VIEW("48", "48")), bin, sizeof bin,
                    "a.glb: skins[0].joints[0]: is 7, there are nodes 0 to 1");
    check_glb_fails(RIGGED("[]", VIEW("48", "48")), bin, sizeof bin, "a.glb: skins[0]: has no joints");
    check_glb_fails(RIGGED("[1]", VIEW("48", "40")), bin, sizeof bin,
                    "a.glb: accessors[2] (meshes[0].primitives[0].WEIGHTS_0): 3 elements from byte 0 on need 48 bytes, "
                    "bufferViews[2] has 40");
    check_glb_fails(RIGGED("[1]", VIEW("100", "48")), bin, sizeof bin,
                    "a.glb: bufferViews[2]: bytes 100 to 148, buffers[0] has 128");
    weights[5] = (float)NAN;
    memcpy(bin + 48, weights, sizeof weights);
    check_glb_fails(RIGGED("[1]", VIEW("48", "48")), bin, sizeof bin,
                    "a.glb: accessors[2] (meshes[0].primitives[0].WEIGHTS_0): element 1 is not finite");
    weights[5] = -1;
    memcpy(bin + 48, weights, sizeof weights);
    check_glb_fails(RIGGED("[1]", VIEW("48", "48")), bin, sizeof bin,
                    "a.glb: accessors[2] (meshes[0].primitives[0]): weight -1 of vertex 1, must be >= 0");
}

static void broken_files(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[128];
    const float moves[9] = {0, 0, 0, 2, 0, 0, 2, 4, 0};
    fill(bin, moves, 9);
    assert_fails(read_bytes("glTF\2\0\0\0\100\0\0\0", 12, "a.glb", &c, &err), TL_BAD_INPUT,
                 "a.glb: ends at byte 12, inside the header of a GLB");
    assert_fails(read_bytes("{}", 2, "a.gltf", &c, &err), TL_BAD_INPUT,
                 "a.gltf: is no glTF: there is no asset.version");
    check_glb_fails("{\"asset\":{\"version\":\"1.0\"}}", bin, 4, "a.glb: asset.version is 1.0, only 2.x is read");
    check_glb_fails("{\"asset\":{\"version\":\"2.0\"},\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]}", bin, 4,
                    "a.glb: needs the extension KHR_draco_mesh_compression, which is not read (save it without)");
    check_glb_fails("{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[1]},{\"children\":[0]}]}", bin, 4,
                    "a.glb: nodes[0]: is its own ancestor");
    check_glb_fails("{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[2]},{\"children\":[2]},{}]}", bin, 4,
                    "a.glb: nodes[2]: is a child of nodes[0] and of nodes[1]");
    check_glb_fails("{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}]}", bin, 4,
                    "a.glb: shows no mesh with triangles (no node of its scene has one)");
    check_glb_fails(ANIMATED("rotation", "VEC3", "LINEAR", "3"), bin, sizeof bin,
                    "a.glb: accessors[2] (animations[0].samplers[0]): type VEC3, must have 4 components");
    check_glb_fails(ANIMATED("translation", "VEC3", "CUBIC", "3"), bin, sizeof bin,
                    "a.glb: animations[0].samplers[0]: interpolation CUBIC, must be LINEAR, STEP or CUBICSPLINE");
    check_glb_fails(ANIMATED("translation", "VEC3", "LINEAR", "2"), bin, sizeof bin,
                    "a.glb: accessors[2] (animations[0].samplers[0]): has 2 values, 3 times need 3");
    bin[10] = 0;
    check_glb_fails(
        ANIMATED("translation", "VEC3", "LINEAR", "3"), bin, sizeof bin,
        "a.glb: accessors[1] (animations[0].samplers[0]): time 1 is 0 s, must be after the one before it (0 s)");
}

// Too small, too large, lying down, a clip without length: read, with a warning.
static void odd_files_warn(void **state)
{
    (void)state;
    tl_error err;
    tl_character *c;
    float bin[9];
    const char *json = HEAD("36") "\"nodes\":[{\"mesh\":0}],\"bufferViews\":[" VIEW(
        "0", "36") "],\"accessors\":[{"
                   "\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]}";
    const struct {
        double size;
        const char *note;
        double unit;
    } cases[] = {{0.002, "is 0.002 m tall, people are 0.5 to 2.5 m (check units and up)", 1},
                 {170,
                  "would be 170 m tall, so it is taken to be in centimetres: 1.7 m (set units to \"m\" or \"cm\" to "
                  "settle it)",
                  0.01},
                 {70,
                  "would be 70 m tall, so it is taken to be in centimetres: 0.7 m (set units to \"m\" or \"cm\" to "
                  "settle it)",
                  0.01},
                 {1e5, "is 100000 m tall, people are 0.5 to 2.5 m (check units and up)", 1}};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 9; i++) bin[i] = (float)(cases[k].size * (double)triangle[i]);
        assert_ok(read_glb(json, bin, sizeof bin, &c, &err));
        assert_string_equal(c->facts.note[0], cases[k].note);
        assert_near(c->facts.unit, cases[k].unit, 0);
        tl_character_destroy(c);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t size;
    char *text = help_read(TL_TEST_DATA "/bodies/RiggedFigure.glb", &size);
    const memory_file file = {"a.glb", text, size};
    memory_disk disk = {&file, 1};
    const tl_reader reader = {memory_read, &disk};
    tl_character_def def = tl_character_def_default();
    def.file = "a.glb";
    for (int64_t n = 0;; n++) {
        ledger l;
        tl_error err;
        tl_character *c;
        tl_character_files files;
        const tl_allocator alloc = failing_allocator(&l, n);
        const tl_status status = tl_character_read(&alloc, &reader, &def, &c, &files, &err);
        if (status == TL_OK) {
            tl_character_destroy(c);
            tl_character_files_free(&alloc, &files);
        } else {
            assert_int_equal(status, TL_NO_MEMORY);
        }
        assert_int_equal(l.live, 0);
        if (status == TL_OK) break;
        assert_true(n < 10000);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skinning_agrees_with_blender),
        cmocka_unit_test(rigged_figure_agrees_with_blender),
        cmocka_unit_test(packed_file_reads_the_same),
        cmocka_unit_test(step_and_linear),
        cmocka_unit_test(rotations_go_along_the_arc),
        cmocka_unit_test(cubic_spline_by_hand),
        cmocka_unit_test(lead_in_starts_at_rest),
        cmocka_unit_test(morphs_and_sparse),
        cmocka_unit_test(eight_weights_and_a_strip),
        cmocka_unit_test(buffers_beside_the_file),
        cmocka_unit_test(broken_rigs),
        cmocka_unit_test(broken_files),
        cmocka_unit_test(odd_files_warn),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
