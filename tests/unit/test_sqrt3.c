// The sqrt(3) hierarchy: counts worked by hand, every rule after random changes, and the way back to the bit.

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "toile/sqrt3.h"

enum { MOST_FACES = 400000, GRID = 6 };

typedef struct input {
    int32_t tri[4 * GRID * GRID][3], node[4 * (GRID + 1) * (GRID + 1)];
    tl_vec2 uv[4 * (GRID + 1) * (GRID + 1)];
    tl_sqrt3_input def;
} input;

static void add_grid(input *in, int n, double x0, bool skewed)
{
    const int32_t base = in->def.vert_count, row = n + 1;
    for (int32_t i = 0; i < row * row; i++) {
        const double u = i % row, v = i / row;
        const double wave = skewed ? 0.12 * sin(3 * u + 5 * v) : 0;
        const bool inside = i % row > 0 && i % row < n && i / row > 0 && i / row < n;
        in->uv[base + i] = (tl_vec2){x0 + u + (inside ? wave : 0), v + (inside ? 0.7 * wave : 0)};
        in->node[base + i] = in->def.node_count++;
    }
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = 0; i < n; i++) {
            const int32_t a = base + j * row + i, b = a + 1, c = a + row, d = c + 1;
            const bool even = (i + j) % 2 == 0;
            const int32_t faces[2][3] = {{a, b, even ? d : c}, {even ? a : b, d, c}};
            memcpy(in->tri[in->def.tri_count++], faces[0], sizeof faces[0]);
            memcpy(in->tri[in->def.tri_count++], faces[1], sizeof faces[1]);
        }
    in->def.vert_count += row * row;
}

static void finish(input *in, int32_t layers)
{
    in->def.tri = (const int32_t(*)[3])in->tri, in->def.node = in->node, in->def.uv = in->uv, in->def.layers = layers;
}

static void make_sheet(input *in, int n, bool skewed, int32_t layers)
{
    memset(in, 0, sizeof *in);
    add_grid(in, n, 0, skewed);
    finish(in, layers);
}

// Two sheets, the right side of the first sewn to the left side of the second.
static void make_sewn(input *in, int n, int32_t layers)
{
    memset(in, 0, sizeof *in);
    add_grid(in, n, 0, true);
    add_grid(in, n, n + 2.0, false);
    const int32_t row = n + 1;
    for (int32_t j = 0; j < row; j++) in->node[row * row + j * row] = in->node[j * row + n];
    finish(in, layers);
}

static tl_sqrt3 *create(const input *in)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_sqrt3 *h;
    tl_error err;
    if (tl_sqrt3_create(&alloc, &in->def, &h, &err) != TL_OK) fail_msg("%s", err.message);
    return h;
}

static void ok(tl_status status, const tl_error *err)
{
    if (status != TL_OK) fail_msg("%s", err->message);
}

static void refine_all(tl_sqrt3 *h, int32_t layer)
{
    tl_error err;
    const int32_t slots = tl_sqrt3_layer(h, layer).slot_count;
    for (int32_t i = 0; i < slots; i++)
        if (tl_sqrt3_layer(h, layer).tri[i].flags & TL_SQRT3_LIVE) ok(tl_sqrt3_refine(h, layer, i, &err), &err);
}

static void coarsen_all(tl_sqrt3 *h)
{
    tl_error err;
    for (int32_t l = tl_sqrt3_layers(h) - 2; l >= 0; l--)
        for (int32_t i = 0; i < tl_sqrt3_layer(h, l).slot_count; i++)
            if (tl_sqrt3_layer(h, l).tri[i].flags & TL_SQRT3_LIVE) ok(tl_sqrt3_coarsen(h, l, i, &err), &err);
}

static int by_pair(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// A slow oracle for what is conforming: every directed edge once, inner ones in both directions; areas add up; no fold.
static void assert_conforming(const tl_sqrt3 *h, double area)
{
    tl_sqrt3_face *face = malloc(MOST_FACES * sizeof *face);
    const int32_t count = tl_sqrt3_extract(h, face, MOST_FACES);
    assert_true(count <= MOST_FACES);
    const tl_sqrt3_vert *v = tl_sqrt3_verts(h);
    uint64_t *edge = malloc((size_t)count * 3 * sizeof *edge);
    double sum = 0;
    for (int32_t i = 0; i < count; i++) {
        const tl_vec2 a = v[face[i].vert[0]].uv, b = v[face[i].vert[1]].uv, c = v[face[i].vert[2]].uv;
        const double twice = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        assert_true(twice > 0);
        sum += twice / 2;
        for (int k = 0; k < 3; k++)
            edge[3 * i + k] = (uint64_t)v[face[i].vert[k]].node << 32 | (uint32_t)v[face[i].vert[(k + 1) % 3]].node;
    }
    assert_true(fabs(sum - area) < 1e-9 * area);
    qsort(edge, (size_t)count * 3, sizeof *edge, by_pair);
    int32_t border = 0;
    for (int32_t i = 0; i < 3 * count; i++) {
        assert_true(i == 0 || edge[i] != edge[i - 1]);
        const uint64_t back = edge[i] << 32 | edge[i] >> 32;
        if (!bsearch(&back, edge, (size_t)count * 3, sizeof *edge, by_pair)) border++;
    }
    // Euler: V - E + F, with every border edge once and every inner one twice.
    const int32_t edges = (3 * count + border) / 2;
    uint8_t *used = calloc((size_t)tl_sqrt3_node_slots(h), 1);
    int32_t nodes = 0;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) used[v[face[i].vert[k]].node] = 1;
    for (int32_t i = 0; i < tl_sqrt3_node_slots(h); i++) nodes += used[i];
    assert_int_equal(nodes - edges + count, 1);
    free(used), free(edge), free(face);
}

static void one_triangle_by_hand(void **state)
{
    (void)state;
    const int32_t tri[1][3] = {{0, 1, 2}};
    const tl_vec2 uv[3] = {{0, 0}, {1, 0}, {0.5, 0.8}};
    const tl_sqrt3_input in = {.tri = tri, .uv = uv, .tri_count = 1, .vert_count = 3, .layers = 3};
    const tl_allocator alloc = tl_allocator_default();
    tl_sqrt3 *h;
    tl_error err;
    ok(tl_sqrt3_create(&alloc, &in, &h, &err), &err);
    ok(tl_sqrt3_refine(h, 0, 0, &err), &err);
    assert_int_equal(tl_sqrt3_layer(h, 1).live_count, 6);  // two right-angled halves at each side
    const tl_sqrt3_tri *first = &tl_sqrt3_layer(h, 1).tri[0];
    const tl_sqrt3_vert *v = tl_sqrt3_verts(h);
    const tl_vec2 a = v[first->vert[0]].uv, m = v[first->vert[1]].uv, c = v[first->vert[2]].uv;
    assert_true(fabs((a.x - m.x) * (c.x - m.x) + (a.y - m.y) * (c.y - m.y)) < 1e-15);
    refine_all(h, 1);
    ok(tl_sqrt3_check(h, &err), &err);
    assert_int_equal(tl_sqrt3_layer(h, 2).live_count, 9);  // the 1-to-9 split
    assert_int_equal(tl_sqrt3_extract(h, NULL, 0), 9);
    assert_conforming(h, 0.4);
    tl_sqrt3_destroy(h);
}

static void inner_triangles_triple(void **state)
{
    (void)state;
    input *in = malloc(sizeof *in);
    make_sheet(in, GRID, false, 3);
    tl_sqrt3 *h = create(in);
    refine_all(h, 0);
    // Every inner edge gives two children, every border edge two halves.
    assert_int_equal(tl_sqrt3_layer(h, 1).live_count, 2 * (3 * GRID * GRID + 2 * GRID));
    refine_all(h, 1);
    assert_int_equal(tl_sqrt3_layer(h, 2).live_count, 9 * 2 * GRID * GRID);
    assert_conforming(h, GRID * GRID);
    tl_sqrt3_destroy(h);
    free(in);
}

static void there_and_back_to_the_bit(void **state)
{
    (void)state;
    input *in = malloc(sizeof *in);
    for (int sewn = 0; sewn < 2; sewn++) {
        if (sewn)
            make_sewn(in, GRID, 5);
        else
            make_sheet(in, GRID, true, 5);
        tl_sqrt3 *h = create(in);
        tl_error err;
        const int32_t count = in->def.tri_count;
        tl_sqrt3_tri *before = malloc((size_t)count * sizeof *before);
        memcpy(before, tl_sqrt3_layer(h, 0).tri, (size_t)count * sizeof *before);
        for (int32_t l = 0; l < 4; l++) refine_all(h, l);
        ok(tl_sqrt3_check(h, &err), &err);
        assert_conforming(h, (sewn + 1.0) * GRID * GRID);
        assert_true(tl_sqrt3_layer(h, 4).live_count > 80 * count);  // some flips would fold skewed triangles
        coarsen_all(h);
        ok(tl_sqrt3_check(h, &err), &err);
        assert_int_equal(tl_sqrt3_layer(h, 0).slot_count, count);
        assert_memory_equal(tl_sqrt3_layer(h, 0).tri, before, (size_t)count * sizeof *before);
        for (int32_t l = 1; l < 5; l++) assert_int_equal(tl_sqrt3_layer(h, l).live_count, 0);
        assert_int_equal(tl_sqrt3_extract(h, NULL, 0), count);
        free(before);
        tl_sqrt3_destroy(h);
    }
    free(in);
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13, *s ^= *s >> 7, *s ^= *s << 17;
    return *s;
}

typedef struct refuser {
    uint64_t random;
    bool joins_too;
    int64_t asked, refused;
} refuser;

static tl_status refuse_some(void *user, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    (void)err;
    refuser *r = user;
    r->asked++;
    const bool neutral = edit->kind == TL_SQRT3_SPLIT_FACE || edit->kind == TL_SQRT3_SPLIT_EDGE;
    *refused = !neutral && next_random(&r->random) % 7 == 0;
    r->refused += *refused;
    return TL_OK;
}

static void random_change(tl_sqrt3 *h, uint64_t *random, tl_error *err)
{
    const int32_t l = (int32_t)(next_random(random) % (uint64_t)(tl_sqrt3_layers(h) - 1));
    const tl_sqrt3_layer_view view = tl_sqrt3_layer(h, l);
    if (view.live_count == 0) return;
    const int32_t i = (int32_t)(next_random(random) % (uint64_t)view.slot_count);
    if (!(view.tri[i].flags & TL_SQRT3_LIVE)) return;
    if (next_random(random) % 9 < 4)
        ok(tl_sqrt3_refine(h, l, i, err), err);
    else
        ok(tl_sqrt3_coarsen(h, l, i, err), err);
}

static void random_changes_keep_every_rule(void **state)
{
    (void)state;
    input *in = malloc(sizeof *in);
    for (int kind = 0; kind < 4; kind++) {
        if (kind % 2)
            make_sewn(in, 4, 6);
        else
            make_sheet(in, 4, true, 6);
        tl_sqrt3 *h = create(in);
        refuser r = {.random = 0x9e3779b97f4a7c15u};
        if (kind >= 2) tl_sqrt3_set_editor(h, (tl_sqrt3_editor){refuse_some, &r});
        uint64_t random = 88172645463325252u + (uint64_t)kind;
        tl_error err;
        for (int32_t step = 0; step < 25000; step++) {
            random_change(h, &random, &err);
            if (step % 97 == 0) ok(tl_sqrt3_check(h, &err), &err);
            if (step % 997 == 0) assert_conforming(h, (kind % 2 + 1) * 16.0);
        }
        assert_true(kind < 2 || r.refused > 100);
        tl_sqrt3_set_editor(h, (tl_sqrt3_editor){0});
        for (int k = 0; k < 12; k++) coarsen_all(h);  // what forced refinement left goes layer by layer
        assert_int_equal(tl_sqrt3_extract(h, NULL, 0), in->def.tri_count);
        tl_sqrt3_destroy(h);
    }
    free(in);
}

// The editor's edits alone rebuild the conforming mesh: they are complete and in order.
typedef struct replay {
    int32_t (*face)[3];
    int32_t count;
} replay;

static int32_t find_face(const replay *r, int32_t a, int32_t b, int32_t c)
{
    for (int32_t i = 0; i < r->count; i++)
        for (int k = 0; k < 3; k++)
            if (r->face[i][k] == a && r->face[i][(k + 1) % 3] == b && r->face[i][(k + 2) % 3] == c) return i;
    fail_msg("face %d %d %d is not in the mesh", a, b, c);
    return -1;
}

static void take(replay *r, int32_t a, int32_t b, int32_t c)
{
    const int32_t i = find_face(r, a, b, c);
    memmove(r->face[i], r->face[--r->count], sizeof *r->face);
}

static void put(replay *r, int32_t a, int32_t b, int32_t c)
{
    r->face[r->count][0] = a, r->face[r->count][1] = b, r->face[r->count++][2] = c;
}

// Edits list edges of both sides of a seam in one direction: one of them runs against its face (`turned`).
static void replay_edge(replay *r, const int32_t *c, int32_t v, bool split, bool turned)
{
    void (*const gone)(replay *, int32_t, int32_t, int32_t) = split ? take : put;
    void (*const come)(replay *, int32_t, int32_t, int32_t) = split ? put : take;
    const int32_t a = turned ? c[1] : c[0], b = turned ? c[0] : c[1];
    gone(r, a, b, c[2]);
    come(r, a, v, c[2]);
    come(r, v, b, c[2]);
}

static bool has_face(const replay *r, int32_t a, int32_t b, int32_t c)
{
    for (int32_t i = 0; i < r->count; i++)
        for (int k = 0; k < 3; k++)
            if (r->face[i][k] == a && r->face[i][(k + 1) % 3] == b && r->face[i][(k + 2) % 3] == c) return true;
    return false;
}

static tl_status replay_edit(void *user, const tl_sqrt3_edit *edit, bool *refused, tl_error *err)
{
    (void)refused, (void)err;
    replay *r = user;
    const int32_t *c = edit->corner[0], v = edit->vert[0];
    const bool split = edit->kind == TL_SQRT3_SPLIT_EDGE;
    switch (edit->kind) {
    case TL_SQRT3_SPLIT_FACE:
        take(r, c[0], c[1], c[2]);
        for (int k = 0; k < 3; k++) put(r, c[k], c[(k + 1) % 3], v);
        break;
    case TL_SQRT3_JOIN_FACE:
        for (int k = 0; k < 3; k++) take(r, c[k], c[(k + 1) % 3], v);
        put(r, c[0], c[1], c[2]);
        break;
    case TL_SQRT3_FLIP:
        take(r, c[0], c[1], c[2]), take(r, c[1], c[0], c[3]);
        put(r, c[0], c[3], c[2]), put(r, c[1], c[2], c[3]);
        break;
    case TL_SQRT3_SPLIT_EDGE:
    case TL_SQRT3_JOIN_EDGE:
        for (int s = 0; s < 2 && edit->vert[s] != TL_SQRT3_NONE; s++) {
            const int32_t *d = edit->corner[s];
            const bool turned = split ? !has_face(r, d[0], d[1], d[2]) : !has_face(r, d[0], edit->vert[s], d[2]);
            replay_edge(r, d, edit->vert[s], split, turned);
        }
        break;
    }
    return TL_OK;
}

static void edits_rebuild_the_conforming_mesh(void **state)
{
    (void)state;
    input *in = malloc(sizeof *in);
    make_sewn(in, 2, 5);
    tl_sqrt3 *h = create(in);
    replay r = {malloc(MOST_FACES * sizeof *r.face), in->def.tri_count};
    memcpy(r.face, in->tri, (size_t)r.count * sizeof *r.face);
    tl_sqrt3_set_editor(h, (tl_sqrt3_editor){replay_edit, &r});
    uint64_t random = 12345;
    tl_error err;
    tl_sqrt3_face *face = malloc(MOST_FACES * sizeof *face);
    for (int32_t step = 0; step < 3000; step++) {
        random_change(h, &random, &err);
        if (step % 50) continue;
        const int32_t count = tl_sqrt3_extract(h, face, MOST_FACES);
        assert_int_equal(count, r.count);
        for (int32_t i = 0; i < count; i++) find_face(&r, face[i].vert[0], face[i].vert[1], face[i].vert[2]);
    }
    free(face), free(r.face);
    tl_sqrt3_destroy(h);
    free(in);
}

static void conforming_mesh_has_fewer_triangles(void **state)
{
    (void)state;
    input *in = malloc(sizeof *in);
    make_sheet(in, GRID, true, 5);
    tl_sqrt3 *h = create(in);
    tl_error err;
    for (int32_t l = 0; l < 4; l++) {  // a band along one diagonal
        const tl_sqrt3_vert *v = tl_sqrt3_verts(h);
        const int32_t slots = tl_sqrt3_layer(h, l).slot_count;
        for (int32_t i = 0; i < slots; i++) {
            const tl_sqrt3_tri *t = &tl_sqrt3_layer(h, l).tri[i];
            v = tl_sqrt3_verts(h);
            if (!(t->flags & TL_SQRT3_LIVE)) continue;
            if (fabs(v[t->vert[0]].uv.x - v[t->vert[0]].uv.y) < 1.2) ok(tl_sqrt3_refine(h, l, i, &err), &err);
        }
    }
    int32_t all = 0;
    for (int32_t l = 0; l < 5; l++) all += tl_sqrt3_layer(h, l).live_count;
    assert_true(tl_sqrt3_extract(h, NULL, 0) <= 0.8 * all);  // Li & Volkov 2005: about a quarter fewer
    assert_conforming(h, GRID * GRID);
    tl_sqrt3_destroy(h);
    free(in);
}

static void bad_input_is_refused(void **state)
{
    (void)state;
    const int32_t fan[3][3] = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}}, turned[2][3] = {{0, 1, 2}, {0, 1, 3}};
    const tl_vec2 uv[5] = {{0, 0}, {1, 0}, {0, 1}, {0, -1}, {1, 1}};
    const tl_allocator alloc = tl_allocator_default();
    tl_sqrt3 *h;
    tl_error err;
    tl_sqrt3_input in = {.tri = fan, .uv = uv, .tri_count = 3, .vert_count = 5, .layers = 2};
    assert_int_equal(tl_sqrt3_create(&alloc, &in, &h, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "3 faces meet"));
    in.tri = turned, in.tri_count = 2;
    assert_int_equal(tl_sqrt3_create(&alloc, &in, &h, &err), TL_BAD_INPUT);
    assert_non_null(strstr(err.message, "opposite orientation"));
    in.layers = 99;
    assert_int_equal(tl_sqrt3_create(&alloc, &in, &h, &err), TL_BAD_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_triangle_by_hand),
        cmocka_unit_test(inner_triangles_triple),
        cmocka_unit_test(there_and_back_to_the_bit),
        cmocka_unit_test(random_changes_keep_every_rule),
        cmocka_unit_test(edits_rebuild_the_conforming_mesh),
        cmocka_unit_test(conforming_mesh_has_fewer_triangles),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
