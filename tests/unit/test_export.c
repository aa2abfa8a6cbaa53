// tests/unit/test_export.c: recordings read back what was written, points are found as by looking everywhere, meshes
// that change are carried over to one, USD says what it should.

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "io/recording.h"
#include "io/usd_write.h"
#include "math/vec3.h"
#include "run/export_source.h"
#include "run/resample.h"

// Two panels that lie on the same material coordinates, n by n cells each, sewn along u = 1 to a tube that is open
// below; `bend` moves it in the world.
static tl_obj make_tube(int32_t n, double bend)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_obj m;
    const int32_t row = n + 1, side = row * row;
    assert_ok(tl_obj_room(&alloc, 2 * side - row, 2 * side, 4 * n * n, true, &m, &err));
    int32_t nodes = 0;
    for (int32_t p = 0; p < 2; p++)
        for (int32_t j = 0; j < row; j++)
            for (int32_t i = 0; i < row; i++) {
                const int32_t v = p * side + j * row + i;
                const double u = (double)i / n, w = (double)j / n, z = p ? -1 : 1;
                m.uv[v] = (tl_vec2){u, w};
                m.vert_node[v] = p == 1 && i == n ? m.vert_node[j * row + n] : nodes++;
                m.pos[m.vert_node[v]] = (tl_vec3){u + bend * w * w, w, z * (1 - u) * (0.3 + bend * u * w)};
            }
    assert_int_equal(nodes, m.node_count);
    int32_t f = 0;
    for (int32_t p = 0; p < 2; p++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i < n; i++) {
                const int32_t a = p * side + j * row + i, c[4] = {a, a + 1, a + row + 1, a + row};
                const int32_t t[2][3] = {{c[0], c[1], c[2]}, {c[0], c[2], c[3]}};
                memcpy(m.face[f], t, sizeof t);
                m.face_label[f] = m.face_label[f + 1] = p;
                f += 2;
            }
    return m;
}

static double random_part(uint64_t i) { return tl_random(7, 1, i); }

static void recordings_read_back(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    for (int stored = 0; stored < 2; stored++) {
        tl_recorder *rec;
        const tl_recorder_def def = {30, 100, 1, 5, 1e-4, stored};
        assert_ok(tl_recorder_create(&alloc, &def, &rec, &err));
        assert_int_equal(tl_recorder_surface(rec, "tube", false, 1u << TL_ATTRIBUTE_LEVEL), 0);
        assert_int_equal(tl_recorder_surface(rec, "ball", true, 0), 1);
        tl_obj frame[3] = {make_tube(4, 0), make_tube(4, 0.3), make_tube(5, 0.5)};
        float level[200];
        for (int i = 0; i < 200; i++) level[i] = (float)random_part((uint64_t)i);
        for (int f = 0; f < 3; f++) {
            tl_frame_points points = {&frame[f], frame[f].pos, f == 1 ? frame[2].pos : NULL, {0}};
            points.attribute[TL_ATTRIBUTE_LEVEL] = level;
            assert_ok(tl_recorder_add(rec, 0, &points, &err));
            const tl_frame_points body = {.mesh = &frame[0], .pos = frame[0].pos};
            tl_obj nodes = frame[0];
            nodes.face_count = 0;
            if (f == 2) assert_ok(tl_recorder_add(rec, 1, &(tl_frame_points){.mesh = &nodes, .pos = body.pos}, &err));
            assert_ok(tl_recorder_next(rec, &err));
        }
        tl_buf file;
        assert_ok(tl_recorder_finish(rec, &file, &err));
        tl_recorder_destroy(rec);
        tl_recording *r;
        assert_ok(tl_recording_open_memory("m", file.data, file.size, &r, &err));
        const tl_recording_facts facts = tl_recording_facts_of(r);
        assert_int_equal(facts.frames, 3);
        assert_int_equal(facts.first_frame, 5);
        assert_int_equal(facts.surfaces, 2);
        assert_near(facts.fps + facts.scale + facts.z_up, 131, 0);
        assert_string_equal(tl_recording_surface_name(r, 1), "ball");
        assert_true(tl_recording_surface_is_body(r, 1) && !tl_recording_surface_is_body(r, 0));
        assert_null(tl_recording_surface_name(r, 2));
        uint64_t shape[3];
        for (int k = 2; k >= 0; k--) {  // any order
            tl_recording_view v;
            assert_ok(tl_recording_frame(r, k, 0, &v, &err));
            assert_int_equal(v.node_count, frame[k].node_count);
            assert_int_equal(v.face_count, frame[k].face_count);
            for (int32_t i = 0; i < v.node_count; i++)
                assert_near(tl_norm3(tl_sub3(v.pos[i], frame[k].pos[i])), 0, 0.9e-4);
            for (int32_t i = 0; i < v.vert_count; i++) assert_near(v.uv[i].x, frame[k].uv[i].x, 1e-7);
            assert_memory_equal(v.face, frame[k].face, (size_t)v.face_count * sizeof *v.face);
            assert_memory_equal(v.vert_node, frame[k].vert_node, (size_t)v.vert_count * sizeof *v.vert_node);
            assert_memory_equal(v.face_label, frame[k].face_label, (size_t)v.face_count * sizeof *v.face_label);
            assert_memory_equal(v.attribute[TL_ATTRIBUTE_LEVEL], level, (size_t)v.node_count * sizeof *level);
            assert_null(v.attribute[TL_ATTRIBUTE_STRAIN]);
            assert_true((v.vel != NULL) == (k == 1));
            if (v.vel) assert_near(v.vel[7].y, frame[2].pos[7].y, 1e-6);
            shape[k] = v.shape;
            assert_ok(tl_recording_frame(r, k, 1, &v, &err));
            assert_int_equal(v.present, k == 2);
        }
        assert_true(shape[0] == shape[1] && shape[1] != shape[2]);
        tl_recording_view v;
        assert_int_equal(tl_recording_frame(r, 3, 0, &v, &err), TL_BAD_ARG);
        assert_int_equal(tl_recording_frame(r, 0, 2, &v, &err), TL_BAD_ARG);
        tl_recording_close(r);
        for (size_t cut = 0; cut < file.size; cut += 97) {  // whatever is missing is said
            uint8_t *part = malloc(cut + 1);
            memcpy(part, file.data, cut);
            assert_int_equal(tl_recording_open_memory("cut", part, cut, &r, &err), TL_BAD_INPUT);
            free(part);
        }
        for (size_t at = 80; at < file.size; at += 41) {  // and whatever is changed
            file.data[at] ^= 16;
            tl_status status = tl_recording_open_memory("bad", file.data, file.size, &r, &err);
            for (int32_t k = 0; status == TL_OK && k < 6; k++) status = tl_recording_frame(r, k / 2, k % 2, &v, &err);
            tl_recording_close(r);
            assert_int_equal(status, TL_BAD_INPUT);
            file.data[at] ^= 16;
        }
        tl_buf_free(&file);
        for (int f = 0; f < 3; f++) tl_obj_free(&frame[f]);
    }
}

static void places_are_those_of_looking_everywhere(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_obj m = make_tube(7, 0.2);
    for (int32_t v = 0; v < m.vert_count; v++) {  // inner ones moved about
        if (m.uv[v].x > 0 && m.uv[v].x < 1) m.uv[v].x += 0.06 * (random_part((uint64_t)v) - 0.5);
        if (m.uv[v].y > 0 && m.uv[v].y < 1) m.uv[v].y += 0.06 * (random_part((uint64_t)v + 500) - 0.5);
    }
    tl_places *places;
    assert_ok(tl_places_create(&alloc, &m, &places, &err));
    assert_int_equal(tl_places_panel_count(places), 2);
    for (uint64_t i = 0; i < 400; i++) {
        const tl_vec2 q = {1.4 * random_part(3 * i) - 0.2, 1.4 * random_part(3 * i + 1) - 0.2};
        const int32_t panel = i & 1;
        const tl_place got = tl_places_find(places, panel, q);
        assert_true(got.face >= 0 && m.face_label[got.face] == panel);
        // the square's outline is known: so is the distance to it
        const double dx = fmax(0, fmax(-q.x, q.x - 1)), dy = fmax(0, fmax(-q.y, q.y - 1));
        assert_near(got.outside, hypot(dx, dy), 1e-12);
        tl_vec2 at = {0};
        for (int k = 0; k < 3; k++) at = tl_add2(at, tl_mul2(got.weight[k], m.uv[m.face[got.face][k]]));
        assert_near(tl_norm2(tl_sub2(at, q)), got.outside, 1e-12);
        assert_near(got.weight[0] + got.weight[1] + got.weight[2], 1, 1e-12);
        assert_true(got.weight[0] >= 0 && got.weight[1] >= 0 && got.weight[2] >= 0);
    }
    tl_places_destroy(places);
    tl_obj_free(&m);
}

// Panels on the same coordinates in another order: the world tells them apart.
static void panels_are_matched(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_obj a = make_tube(4, 0.1), b = make_tube(6, 0.12);
    for (int32_t i = 0; i < b.node_count; i++) b.pos[i].z = -b.pos[i].z;  // its first panel is where a's second is
    tl_places *pa, *pb;
    assert_ok(tl_places_create(&alloc, &a, &pa, &err));
    assert_ok(tl_places_create(&alloc, &b, &pb, &err));
    int32_t to[2];
    assert_ok(tl_places_match(pa, pb, to, &err));
    assert_int_equal(to[0], 1);
    assert_int_equal(to[1], 0);
    tl_places_destroy(pa), tl_places_destroy(pb);
    tl_obj_free(&a), tl_obj_free(&b);
}

static void halving_keeps_seams_closed(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_obj m = make_tube(3, 0.2), fine;
    assert_ok(tl_obj_halve(&alloc, &m, 2, &fine, &err));
    const int32_t n = 12, row = n + 1;  // as if made so fine at once
    assert_int_equal(fine.face_count, 4 * n * n);
    assert_int_equal(fine.vert_count, 2 * row * row);
    assert_int_equal(fine.node_count, 2 * row * row - row);
    tl_obj_free(&fine), tl_obj_free(&m);
}

static void resampling_follows_the_cloth(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_obj coarse = make_tube(8, 0), frame = make_tube(11, 0.3);
    double rms[3];
    for (int32_t levels = 0; levels < 3; levels++) {
        tl_obj fixed;
        tl_resampler *r;
        tl_places *places;
        assert_ok(tl_obj_halve(&alloc, &coarse, levels, &fixed, &err));
        assert_ok(tl_resampler_create(&alloc, &fixed, &r, &err));
        assert_ok(tl_places_create(&alloc, &frame, &places, &err));
        tl_vec3 *pos = calloc((size_t)fixed.node_count, sizeof *pos);
        float *in = calloc((size_t)frame.node_count, sizeof *in), *out = calloc((size_t)fixed.node_count, sizeof *out);
        for (int32_t i = 0; i < frame.node_count; i++) in[i] = (float)frame.pos[i].y;
        const float *ins[1] = {in};
        float *outs[1] = {out};
        tl_resample_error e = {0};
        assert_ok(tl_resample(r, places, (const int32_t[]){0, 1}, pos, &(tl_carried){ins, outs, 1}, &e, &err));
        for (int32_t v = 0; v < fixed.vert_count; v++) {  // y is the material's, whatever the mesh
            assert_near(pos[fixed.vert_node[v]].y, fixed.uv[v].y, 1e-12);
            assert_near((double)out[fixed.vert_node[v]], fixed.uv[v].y, 1e-6);
        }
        rms[levels] = tl_resample_rms(&e);
        assert_true(e.largest >= rms[levels]);
        assert_near(tl_resample_mean_edge(&e), (2 + sqrt(2)) / 3 / 11, 1e-12);
        free(pos), free(in), free(out);
        tl_places_destroy(places);
        tl_resampler_destroy(r);
        tl_obj_free(&fixed);
    }
    assert_true(rms[1] < 0.6 * rms[0] && rms[2] < 0.6 * rms[1]);
    tl_obj_free(&coarse), tl_obj_free(&frame);
}

static void usd_has_its_parts(void **state)
{
    (void)state;
    const tl_allocator alloc = tl_allocator_default();
    tl_error err;
    tl_usd *u;
    const tl_usd_def def = {24, 100, true, 3, 5};
    assert_ok(tl_usd_create(&alloc, &def, &u, &err));
    const tl_usd_fabric fabric = {"silk", 0.1, 2e-4, {100, 0, 100, 40}, 1e-6};
    assert_int_equal(tl_usd_surface(u, "left-sleeve", false, 1, &fabric), 0);
    assert_int_equal(tl_usd_surface(u, "left_sleeve", false, 1, NULL), 1);
    tl_obj m = make_tube(1, 0), n = make_tube(2, 0);
    float strain[32] = {0.5f};
    const tl_frame_points a = {&m, m.pos, m.pos, {strain}}, b = {&n, n.pos, NULL, {strain}};
    assert_ok(tl_usd_add(u, 0, 3, &a, &err));
    assert_ok(tl_usd_add(u, 0, 4, &a, &err));
    assert_ok(tl_usd_add(u, 0, 5, &b, &err));
    assert_ok(tl_usd_add(u, 1, 4, &a, &err));
    tl_buf text;
    tl_buf_init(&text, &alloc);
    assert_ok(tl_usd_finish(u, &text, &err));
    const char *const has[] = {"metersPerUnit = 0.01",
                               "upAxis = \"Z\"",
                               "startTimeCode = 3",
                               "endTimeCode = 5",
                               "timeCodesPerSecond = 24",
                               "def Mesh \"left_sleeve\" (",
                               "displayName = \"left-sleeve\"",
                               "def Mesh \"left_sleeve_2\"",
                               "faceVertexCounts.timeSamples = {\n            3: [3, 3, 3, 3],\n            5: [3, 3, ",
                               "primvars:st:indices.timeSamples",
                               "3: \"invisible\",\n            4: \"inherited\",\n            5: \"invisible\"",
                               "physics:surfaceThickness = 0.02"};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if (!strstr(text.data, has[i])) fail_msg("no '%s' in\n%s", has[i], text.data);
    tl_buf_free(&text);
    tl_usd_destroy(u);
    tl_obj_free(&m), tl_obj_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_read_back),         cmocka_unit_test(places_are_those_of_looking_everywhere),
        cmocka_unit_test(panels_are_matched),           cmocka_unit_test(halving_keeps_seams_closed),
        cmocka_unit_test(resampling_follows_the_cloth), cmocka_unit_test(usd_has_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
