// tests/unit/test_io_obj.c: meshes: every form of line, round trips, and what is wrong with bad ones.

#include "test_io_help.h"

#include "base/rng.h"
#include "base/timer.h"
#include "io/obj.h"
#include "scene/shapes.h"

static tl_status parse(const char *text, tl_obj_mode mode, tl_obj *out, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    return tl_obj_parse(&alloc, "m.obj", text, strlen(text), mode, out, err);
}

static void check_fails(const char *text, const char *message)
{
    tl_error err;
    tl_obj mesh;
    assert_fails(parse(text, TL_OBJ_STRICT, &mesh, &err), TL_BAD_INPUT, message);
}

#define QUAD "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void all_forms_of_lines(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    assert_ok(parse("# a comment\nmtllib x.mtl\no thing\ng part\nusemtl m\ns off\nvn 0 0 1\n"
                    "v 0 0 0 1.0\nnl 2\nv 1 0. +0 0.1 0.2 0.3\r\nnv 1 2 3\nv\t1e0 1 0\nv 0 1 -0\nny 0 0 0\n"
                    "vt 0 0 0\nvt .5 0\nvt 0.5 5e-1\nvt 0 0.5\nvl 3\n"
                    "f 1/1/1 2/2/1 3/3/1 \\\n  4/4/1 # a quad over two lines\nfl 4\ne 1 2\nel 1\nea 0.1\n",
                    TL_OBJ_STRICT, &m, &err));
    assert_int_equal(m.node_count, 4);
    assert_int_equal(m.vert_count, 4);
    assert_int_equal(m.face_count, 2);
    assert_int_equal(m.face[1][0], 0);
    assert_int_equal(m.face[1][1], 2);
    assert_int_equal(m.face[1][2], 3);
    assert_int_equal(m.face_label[0], 4);
    assert_int_equal(m.face_label[1], 4);
    assert_int_equal(m.node_label[0], 2);
    assert_int_equal(m.node_label[3], 0);
    assert_near(m.vel[1].z, 3, 0);
    assert_near(m.vel[3].x, 0, 0);
    assert_near(m.uv[2].y, 0.5, 0);
    assert_int_equal(m.unknown_lines, 0);
    tl_obj_free(&m);

    assert_ok(parse(QUAD "f -4//1 -3//1 -2//1\nf 1 3 4\ncurv2 what\ncurv2 what\n", TL_OBJ_STRICT, &m, &err));
    assert_int_equal(m.face[0][2], 2);
    assert_int_equal(m.unknown_lines, 2);
    assert_int_equal(m.first_unknown_line, 7);
    assert_near(m.uv[2].x, 1, 0);  // no vt: x, y of the node
    assert_null(m.node_label);
    tl_obj_free(&m);
}

static void pinched_nodes_come_back(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m, back;
    assert_ok(parse(QUAD "np 3\nnp 0\nf 1 2 3\nf 1 3 4\n", TL_OBJ_STRICT, &m, &err));
    assert_int_equal(m.pinched_count, 2);
    assert_int_equal(m.pinched[0], 3);
    assert_int_equal(m.unknown_lines, 0);
    const tl_allocator alloc = tl_allocator_default();
    tl_buf buf;
    tl_buf_init(&buf, &alloc);
    tl_obj_write(&buf, &(tl_obj_view){.pos = m.pos,
                                      .node_count = m.node_count,
                                      .uv = m.uv,
                                      .vert_node = m.vert_node,
                                      .vert_count = m.vert_count,
                                      .face = (const int32_t(*)[3])m.face,
                                      .face_count = m.face_count,
                                      .pinched = m.pinched,
                                      .pinched_count = 2});
    assert_ok(tl_obj_parse(&alloc, "back", buf.data, buf.size, TL_OBJ_STRICT, &back, &err));
    assert_int_equal(back.pinched_count, 2);
    assert_int_equal(back.pinched[1], 0);
    tl_buf_free(&buf);
    tl_obj_free(&m);
    tl_obj_free(&back);
}

static void a_seam_shares_nodes_and_a_vt_may_serve_two(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    assert_ok(parse(QUAD "vt 0 0\nvt 1 0\nvt 1 1\nvt 5 0\nvt 6 1\nvt 5 1\nf 1/1 2/2 3/3\nf 1/4 3/5 4/6\n",
                    TL_OBJ_STRICT, &m, &err));
    assert_int_equal(m.vert_count, 6);
    assert_int_equal(m.vert_node[0], 0);
    assert_int_equal(m.vert_node[3], 0);
    tl_obj_free(&m);
    assert_ok(parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
                    "f 1/1 2/2 3/3\nf 4/1 5/2 6/3\n",
                    TL_OBJ_STRICT, &m, &err));
    assert_int_equal(m.vert_count, 6);  // two panels on one another: a vertex per node
    assert_int_equal(m.vert_node[1], 3);
    assert_near(m.uv[1].x, 0, 0);
    tl_obj_free(&m);
}

static void every_complaint_has_its_line(void **state)
{
    (void)state;
    check_fails("", "m.obj:1: no faces (0 nodes), a mesh needs at least one");
    check_fails(QUAD, "m.obj:4: no faces (4 nodes), a mesh needs at least one");
    check_fails("v 0 0\n", "m.obj:1: \"v 0 0\": z: a number is missing");
    check_fails("v 0 0 nan\n", "m.obj:1: \"v 0 0 nan\": z nan, must be a finite number");
    check_fails("v 0 0 0\nv 0 inf 0\n", "m.obj:2: \"v 0 inf 0\": y inf, must be a finite number");
    check_fails("v 0 0 1e308\n", "m.obj:1: \"v 0 0 1e308\": z 1e308, must be in [-1e9, 1e9]");
    check_fails("v 0 0 1e999\n", "m.obj:1: \"v 0 0 1e999\": z 1e999, must be a finite number");
    check_fails("v 0 0 1x\n", "m.obj:1: \"v 0 0 1x\": z 1x, must be a finite number");
    check_fails(QUAD "vt 0 nan\n", "m.obj:5: \"vt 0 nan\": v nan, must be a finite number");
    check_fails(QUAD "f 1 2 5\n", "m.obj:5: \"f 1 2 5\": node 5, there are only 4");
    check_fails(QUAD "f 1 2 3\n\nf 1 3 -5\n", "m.obj:7: \"f 1 3 -5\": node -5, must be 1 to 4 (or -1 to -4)");
    check_fails(QUAD "f 0 2 3\n", "m.obj:5: \"f 0 2 3\": node 0, must be 1 to 4 (or -1 to -4)");
    check_fails(QUAD "f 1/1 2/2 3/3\n", "m.obj:5: \"f 1/1 2/2 3/3\": vt 1, there are only 0");
    check_fails(QUAD "f 1 2 99999999999999999999\n",
                "m.obj:5: \"f 1 2 99999999999999999999\": node 99999999999999999999, must be 1 to 4 (or -1 to -4)");
    check_fails(QUAD "f 1 2\n", "m.obj:5: \"f 1 2\": a face needs three corners or more");
    check_fails(QUAD "f 1 2 x\n", "m.obj:5: \"f 1 2 x\": node x, must be 1 to 4 (or -1 to -4)");
    check_fails(QUAD "f 1 2 3-\n", "m.obj:5: \"f 1 2 3-\": a corner must read v, v/vt, v//vn or v/vt/vn");
    check_fails(QUAD "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 1 3 4\n",
                "m.obj:9: a corner without vt in a file where others have one");
    check_fails(QUAD "f 1 2 2\n", "m.obj:5: \"f 1 2 2\": a face names the same node twice");
    check_fails(QUAD "vt 0 0\nvt 1 0\nvt 2 0\nf 1/1 2/2 3/3\n",
                "m.obj:8: \"f 1/1 2/2 3/3\": the face has no area in material space (vt)");
    check_fails("glTF\2\n", "m.obj: is a glTF file (GLB), and an OBJ file is needed here (export it as Wavefront OBJ)");
    check_fails("ply\nformat ascii 1.0\n",
                "m.obj: is a PLY file, and an OBJ file is needed here (export it as Wavefront OBJ)");
    check_fails("solid cube\nfacet normal 0 0 1\n",
                "m.obj: is an STL file, and an OBJ file is needed here (export it as Wavefront OBJ)");
    check_fails(QUAD "f 1 2 3\n", "m.obj:4: \"v 0 1 0\": the node is in no face (remove it)");
    check_fails("nl 1\n", "m.obj:1: \"nl 1\": there is no v before it");
    check_fails(QUAD "np 4\n", "m.obj:5: \"np 4\": there is no such node before it");
    check_fails(QUAD "np -1\n", "m.obj:5: \"np -1\": node -1, must be a whole number >= 0");
    check_fails("fl 1\n", "m.obj:1: \"fl 1\": there is no f before it");
    check_fails("v 0 0 0\nnl -1\n", "m.obj:2: \"nl -1\": node label -1, must be a whole number >= 0");
    check_fails("v 0 0 0\nnl\n", "m.obj:2: \"nl\": node label , must be a whole number >= 0");
    check_fails("nv 0 0 0\n", "m.obj:1: \"nv 0 0 0\": there is no v before it");
}

static void one_vt_for_all_is_refused_quickly(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    const tl_allocator alloc = tl_allocator_default();
    tl_buf text;
    tl_buf_init(&text, &alloc);
    for (int i = 0; i < 3000; i++) tl_buf_printf(&text, "v %d %d 0\n", i, i * i % 7);
    tl_buf_text(&text, "vt 0 0\n");
    for (int i = 1; i < 2999; i++) tl_buf_printf(&text, "f %d/1 %d/1 %d/1\n", i, i + 1, i + 2);
    assert_int_equal(tl_obj_parse(&alloc, "m.obj", text.data, text.size, TL_OBJ_STRICT, &m, &err), TL_BAD_INPUT);
    assert_message_has("vt 1 is shared by more than 64 nodes (give every node its own)");
    tl_buf_free(&text);
}

static void lenient_reading_keeps_what_is_broken(void **state)
{
    (void)state;
    tl_error err;
    tl_obj m;
    assert_ok(parse("v nan 0 0\nv -inf 0 0\nv 0 1e308 0\nv 5 5 5\nf 1 2 3\nf 1 2 2\n", TL_OBJ_LENIENT, &m, &err));
    assert_true(isnan(m.pos[0].x));
    assert_true(!isfinite(m.pos[1].x));
    assert_int_equal(m.face_count, 2);
    tl_obj_free(&m);
    assert_int_equal(parse("v nanx12345 0 0\n", TL_OBJ_LENIENT, &m, &err), TL_BAD_INPUT);
}

static void check_same(const tl_obj *a, const tl_obj *b)
{
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->vert_count, b->vert_count);
    assert_int_equal(a->face_count, b->face_count);
    assert_memory_equal(a->pos, b->pos, (size_t)a->node_count * sizeof *a->pos);
    assert_memory_equal(a->uv, b->uv, (size_t)a->vert_count * sizeof *a->uv);
    assert_memory_equal(a->vert_node, b->vert_node, (size_t)a->vert_count * sizeof *a->vert_node);
    assert_memory_equal(a->face, b->face, (size_t)a->face_count * sizeof *a->face);
}

static void write_mesh(const tl_obj *m, tl_buf *text)
{
    tl_obj_write(text, &(tl_obj_view){.name = "x",
                                      .pos = m->pos,
                                      .vel = m->vel,
                                      .node_label = m->node_label,
                                      .node_count = m->node_count,
                                      .uv = m->uv,
                                      .vert_node = m->vert_node,
                                      .vert_count = m->vert_count,
                                      .face = (const int32_t(*)[3])m->face,
                                      .face_label = m->face_label,
                                      .face_count = m->face_count});
}

static void written_meshes_come_back_bit_by_bit(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_obj a, b;
    const tl_rectangle_def def = {.width = 1, .height = 0.7, .edge = 0.05, .seed = 3, .max_faces = 10000};
    assert_ok(tl_shape_rectangle(&alloc, &def, &a, &err));
    for (int32_t i = 0; i < a.node_count; i++)
        a.pos[i].z = (tl_random(1, 1, (uint64_t)i) - 0.5) * pow(10, (double)(i % 20) - 12);
    tl_buf text;
    tl_buf_init(&text, &alloc);
    write_mesh(&a, &text);
    assert_ok(tl_obj_parse(&alloc, "m.obj", text.data, text.size, TL_OBJ_STRICT, &b, &err));
    check_same(&a, &b);
    tl_obj_free(&a);
    tl_obj_free(&b);
    // labels, velocities, seams
    const char *seam = QUAD "nl 7\nnv 0.1 -0.2 0.3\nvt 0 0\nvt 1 0\nvt 1 1\nvt 5 0\nvt 6 1\nvt 5 1\nf 1/1 2/2 3/3\n"
                            "f 1/4 3/5 4/6\nfl 1\n";
    assert_ok(parse(seam, TL_OBJ_STRICT, &a, &err));
    text.size = 0;
    write_mesh(&a, &text);
    assert_ok(tl_obj_parse(&alloc, "m.obj", text.data, text.size, TL_OBJ_STRICT, &b, &err));
    check_same(&a, &b);
    assert_memory_equal(a.vel, b.vel, (size_t)a.node_count * sizeof *a.vel);
    assert_memory_equal(a.node_label, b.node_label, (size_t)a.node_count * sizeof *a.node_label);
    assert_memory_equal(a.face_label, b.face_label, (size_t)a.face_count * sizeof *a.face_label);
    tl_obj_free(&a);
    tl_obj_free(&b);
    tl_buf_free(&text);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tl_error err;
    const char *text = QUAD "nl 7\nnv 0.1 -0.2 0.3\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\nfl 1\n";
    bool done = false;
    for (int64_t at = 0; !done; at++) {
        ledger f;
        const tl_allocator alloc = failing_allocator(&f, at);
        tl_obj m;
        const tl_status status = tl_obj_parse(&alloc, "m.obj", text, strlen(text), TL_OBJ_STRICT, &m, &err);
        assert_true(status == TL_OK || status == TL_NO_MEMORY);
        if (status == TL_OK) tl_obj_free(&m);
        assert_true(f.live == 0);
        done = status == TL_OK;
        assert_true(at < 100);
    }
}

static void two_million_faces(void **state)
{
    (void)state;
    tl_error err;
    const tl_allocator alloc = tl_allocator_default();
    tl_obj a, b;
    const tl_rectangle_def def = {
        .width = 1, .height = 1, .edge = 0.001, .grid = TL_GRID_DIAGONAL, .max_faces = 3000000};
    assert_ok(tl_shape_rectangle(&alloc, &def, &a, &err));
    assert_int_equal(a.face_count, 2000000);
    tl_buf text;
    tl_buf_init(&text, &alloc);
    write_mesh(&a, &text);
    const double start = tl_now();
    assert_ok(tl_obj_parse(&alloc, "m.obj", text.data, text.size, TL_OBJ_STRICT, &b, &err));
    const double seconds = tl_now() - start;
    check_same(&a, &b);
    assert_true(seconds < 30);  // about 1 s; ten times that with sanitizers on a busy machine
    tl_obj_free(&a);
    tl_obj_free(&b);
    tl_buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_of_lines),
        cmocka_unit_test(pinched_nodes_come_back),
        cmocka_unit_test(a_seam_shares_nodes_and_a_vt_may_serve_two),
        cmocka_unit_test(every_complaint_has_its_line),
        cmocka_unit_test(one_vt_for_all_is_refused_quickly),
        cmocka_unit_test(lenient_reading_keeps_what_is_broken),
        cmocka_unit_test(written_meshes_come_back_bit_by_bit),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(two_million_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
