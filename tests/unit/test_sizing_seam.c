// tests/unit/test_sizing_seam.c: the sizing field across seams, against the uncut sheet and closed forms.
#include "sizing_cloth.h"

#include "mesh/mesh_query.h"

// A crumpled sheet in irregular motion, by node.
static void crumple(tl_vec2 u, tl_vec3 *x, tl_vec3 *v)
{
    *x = (tl_vec3){0.93 * u.x + 0.02 * sin(30 * u.y), u.y + 0.03 * sin(17 * u.x), 0.06 * sin(9 * u.x + 7 * u.y)};
    *v = (tl_vec3){sin(8 * u.y), cos(9 * u.x), sin(11 * u.x + 3 * u.y)};
}

// Every vertex to the right of column `cut` is turned by the angle and shifted in material space.
static void turn_right_part(shape *s, int32_t original, int32_t columns, int32_t cut, double angle, tl_vec2 shift)
{
    for (int32_t v = 0; v < s->vert_count; v++) {
        if (v < original && v % (columns + 1) <= cut) continue;
        const tl_vec2 u = s->uv[v];
        s->uv[v] =
            (tl_vec2){cos(angle) * u.x - sin(angle) * u.y + shift.x, sin(angle) * u.x + cos(angle) * u.y + shift.y};
    }
}

static void cut_sheet_has_the_field_of_the_uncut_one(void **state)
{
    (void)state;
    enum { N = 10, CUT = 4 };
    const double angle = 2.1, co = cos(angle), si = sin(angle);
    const tl_sizing_def d = usual();
    cloth whole = sheet(N, N, 0.05, 0, 0);
    place(whole.mesh, crumple);
    run(&whole, &d, NULL);
    memset(&sh, 0, sizeof sh);
    const grid g = shape_grid(&sh, N, N, 0.05, 0, 0);
    const int32_t original = sh.vert_count;
    shape_dart(&sh, g, CUT, N + 1, 0, true);
    turn_right_part(&sh, original, N, CUT, angle, (tl_vec2){3, -2});
    cloth cut = make_cloth();
    assert_int_equal(cut.mesh->panel_count, 2);
    for (int32_t n = 0; n < cut.mesh->slots[TL_NODES].count; n++) {
        cut.mesh->pos[n] = whole.mesh->pos[n];
        cut.mesh->vel[n] = whole.mesh->vel[n];
    }
    run(&cut, &d, NULL);
    int checked = 0;
    for (int32_t f = 0; f < cut.mesh->slots[TL_FACES].count; f++)
        for (int k = 0; k < 3; k++) {
            tl_sym2 w = whole.size[whole.mesh->face_vert[f][k]];
            if (cut.mesh->face_panel[f] == 1) w = tl_sym2_turn(w, co, si);
            assert_sym2(cut.size[cut.mesh->face_vert[f][k]], w.xx, w.xy, w.yy, 1e-8 * (w.xx + w.yy));
            checked++;
        }
    assert_int_equal(checked, 600);
    // so both sides of the seam measure the same
    for (int32_t e = 0; e < cut.mesh->slots[TL_EDGES].count; e++) {
        if (tl_mesh_edge_kind(cut.mesh, e) != TL_EDGE_SEAM) continue;
        double size[2];
        for (int side = 0; side < 2; side++) {
            const int32_t a = tl_mesh_edge_vert(cut.mesh, e, side, 0), b = tl_mesh_edge_vert(cut.mesh, e, side, 1);
            size[side] = tl_size2(cut.size[a], cut.size[b], tl_sub2(cut.mesh->uv[b], cut.mesh->uv[a]));
        }
        assert_near(size[0], size[1], 1e-9 * size[0]);
    }
    free_cloth(&whole);
    free_cloth(&cut);
}

// A dart that takes nothing away changes nothing, at its tip neither; one that does keeps what is isotropic isotropic.
static void darts(void **state)
{
    (void)state;
    enum { N = 10 };
    tl_sizing_def d = usual();
    cloth whole = sheet(N, N, 0.05, 0, 0);
    place(whole.mesh, crumple);
    run(&whole, &d, NULL);
    for (int open = 0; open < 2; open++) {
        memset(&sh, 0, sizeof sh);
        const grid g = shape_grid(&sh, N, N, 0.05, 0, 0);
        shape_dart(&sh, g, 5, 6, open ? 0.004 : 0, true);
        cloth dart = make_cloth();
        for (int32_t n = 0; n < dart.mesh->slots[TL_NODES].count; n++) {
            dart.mesh->pos[n] = whole.mesh->pos[n];
            dart.mesh->vel[n] = whole.mesh->vel[n];
        }
        d.aspect_min = open ? 1 : 0.1;
        run(&dart, &d, NULL);
        for (int32_t f = 0; f < dart.mesh->slots[TL_FACES].count; f++)
            for (int k = 0; k < 3; k++) {
                const tl_sym2 w = whole.size[whole.mesh->face_vert[f][k]], m = dart.size[dart.mesh->face_vert[f][k]];
                if (!open)
                    assert_sym2(m, w.xx, w.xy, w.yy, 1e-8 * (w.xx + w.yy));
                else
                    assert_sym2(m, m.xx, 0, m.xx, 1e-9 * m.xx);
            }
        for (int32_t n = 0; open && n < dart.mesh->slots[TL_NODES].count; n++) {  // all sides of a node the same
            const int32_t v = dart.mesh->node_vert[n], w = dart.mesh->vert_next[v];
            assert_near(dart.size[v].xx, dart.size[w].xx, 1e-9 * dart.size[v].xx);
        }
        free_cloth(&dart);
    }
    free_cloth(&whole);
}

// A sector of 2 pi - 1.9 cut into equal faces and sewn up, pulled apart from the tip. Every face is pulled along its
// own middle; laid out evenly around the tip that is the same in all directions. Not sewn, it is not.
static void cone_tip(void **state)
{
    (void)state;
    enum { FACES = 8 };
    for (int sewn = 0; sewn < 2; sewn++) {
        memset(&sh, 0, sizeof sh);
        const double whole = 2 * PI - 1.9;
        sh.vert_count = FACES + 2, sh.face_count = FACES;
        for (int i = 0; i <= FACES; i++) {
            const double a = 0.4 + whole * i / FACES;
            sh.uv[i + 1] = (tl_vec2){cos(a), sin(a)};
            const double b = 2 * PI * i / FACES, r = 2 * sin(whole / FACES / 2) / (2 * sin(PI / FACES));
            sh.pos[i + 1] = (tl_vec3){r * cos(b), r * sin(b), sqrt(1 - r * r)};
            if (i < FACES) sh.face[i][0] = 0, sh.face[i][1] = i + 1, sh.face[i][2] = i + 2;
        }
        for (int v = 0; v < sh.vert_count; v++) sh.node[v] = v;
        if (sewn) shape_sew(&sh, 1, FACES + 1);
        cloth c = make_cloth();
        tl_sizing_def d = nothing();
        d.velocity = 0.7;
        for (int32_t n = 1; n < c.mesh->slots[TL_NODES].count; n++) c.mesh->vel[n] = (tl_vec3){0, 0, 3};
        run(&c, &d, NULL);
        // v is 0 at the tip and (0, 0, 3) around: along the middle, 3 over cos(half a corner), nothing across
        const double l = pow(3 / cos(whole / FACES / 2), 2) / 0.49;
        if (sewn)
            assert_sym2(c.size[0], l / 2, 0, l / 2, 1e-3);
        else
            assert_true(fabs(c.size[0].xx - c.size[0].yy) + fabs(c.size[0].xy) > 0.05 * l);
        free_cloth(&c);
    }
}

// Two flat panels that meet at a right angle: a fold where the seam rests flat, nothing at all where it rests at that
// angle.
static void creases(void **state)
{
    (void)state;
    memset(&sh, 0, sizeof sh);
    const grid a = shape_grid(&sh, 4, 4, 0.05, 0, 0), b = shape_grid(&sh, 4, 4, 0.05, 2, 0);
    for (int32_t j = 0; j <= 4; j++)
        for (int32_t i = 0; i <= 4; i++) {
            sh.pos[grid_vert(b, i, j)] = (tl_vec3){0.2, 0.05 * j, 0.05 * i};
            if (i == 0) shape_sew(&sh, grid_vert(a, 4, j), grid_vert(b, 0, j));
        }
    cloth c = make_cloth();
    tl_sizing_def d = nothing();
    d.curvature = 0.15;
    for (int rests = 0; rests < 2; rests++) {
        for (int32_t e = 0; rests && e < c.mesh->slots[TL_EDGES].count; e++)
            if (tl_mesh_edge_kind(c.mesh, e) == TL_EDGE_SEAM) c.mesh->edge_rest[e] = PI / 2;
        run(&c, &d, NULL);
        for (int32_t v = 0; v < c.mesh->slots[TL_VERTS].count; v++) {
            const double x = c.mesh->uv[v].x;
            if (rests)
                assert_sym2(c.size[v], 1e-4, 0, 1e-4, 1e-9);
            else if (x == 2)
                assert_true(c.size[v].xx > 1000);
        }
    }
    free_cloth(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_sheet_has_the_field_of_the_uncut_one),
        cmocka_unit_test(darts),
        cmocka_unit_test(cone_tip),
        cmocka_unit_test(creases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
