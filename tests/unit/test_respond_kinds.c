// Responses `impulse` and `constraint`: one pair by hand, slopes, momentum, directions; then whole simulations with
// every kind of detection.

#include "check.h"
#include "sheets.h"

#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "detect/distance.h"
#include "math/vec3.h"
#include "respond/constraint/directions.h"
#include "respond/impulse/impulse.h"
#include "toile/toile.h"

static double random_in(uint64_t stream, uint64_t i, double low, double high)
{
    return low + (high - low) * tl_random(29, stream, i);
}

static tl_vec3 random_vec(uint64_t stream, uint64_t i)
{
    return (tl_vec3){random_in(stream, 3 * i, -1, 1), random_in(stream, 3 * i + 1, -1, 1),
                     random_in(stream, 3 * i + 2, -1, 1)};
}

// A vertex over a face, or two edges, near each other.
static tl_bump random_bump(uint64_t trial, bool edges, tl_vec3 x[4])
{
    for (int k = 0; k < 4; k++) x[k] = random_vec(trial, (uint64_t)k);
    const tl_nearest near = edges ? tl_nearest_edge_edge(x) : tl_nearest_vertex_face(x);
    tl_bump b = {.node = {0, 1, 2, 3}, .gap = near.distance, .keep = near.distance};
    tl_vec3 apart = {0};
    for (int k = 0; k < 4; k++) b.weight[k] = near.weight[k], apart = tl_madd3(apart, near.weight[k], x[k]);
    b.normal = tl_unit3_or(apart, (tl_vec3){0, 1, 0});
    return b;
}

// K31: momentum is kept, the normal velocity is 0 afterwards, pairs that part are left alone.
static void impulses_keep_momentum(void **state)
{
    (void)state;
    int pushed = 0, left = 0;
    for (uint64_t trial = 0; trial < 400; trial++) {
        tl_vec3 x[4], v[4], before[4], sum = {0}, after = {0};
        double inverse[4], mass[4];
        tl_bump b = random_bump(trial, trial % 2, x);
        b.friction = trial % 3 ? 0.4 : 0;
        for (int k = 0; k < 4; k++) {
            mass[k] = random_in(trial, 100 + (uint64_t)k, 0.1, 3), inverse[k] = 1 / mass[k];
            v[k] = before[k] = random_vec(trial, 20 + (uint64_t)k);
            sum = tl_madd3(sum, mass[k], v[k]);
        }
        const double closing = tl_dot3(b.normal, tl_bump_velocity(&b, v));
        tl_bump_push(&b, inverse, 0, v);
        const double now = tl_dot3(b.normal, tl_bump_velocity(&b, v));
        tl_bump_rub(&b, inverse, v);
        for (int k = 0; k < 4; k++) after = tl_madd3(after, mass[k], v[k]);
        assert_true(tl_norm3(tl_sub3(after, sum)) < 1e-12);
        if (closing < 0) {
            assert_near(now, 0, 1e-12), pushed++;
            assert_true(tl_norm3(b.rub) <= b.friction * b.push * (1 + 1e-12));
        } else {
            assert_near(tl_norm3(tl_sub3(v[0], before[0])) + tl_norm3(tl_sub3(v[3], before[3])), 0, 0), left++;
        }
    }
    assert_true(pushed > 100 && left > 100);
}

// K32: two faces with a common side; the contact slides over it, and what every vertex gets does not jump.
static void answer_is_continuous_over_borders(void **state)
{
    (void)state;
    const tl_vec3 square[4] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}};
    const int face[2][3] = {{0, 2, 1}, {1, 2, 3}};
    const double inverse[5] = {1, 0.5, 2, 1, 4};
    tl_vec3 last[5];
    double jump = 0, most = 0;
    for (int step = 0; step <= 2000; step++) {
        const tl_vec3 p = {0.3 + 0.4 * step / 2000.0, 0.01, 0.35 + 0.3 * step / 2000.0};
        const int f = p.x + p.z > 1;
        const tl_vec3 x[4] = {p, square[face[f][0]], square[face[f][1]], square[face[f][2]]};
        const tl_nearest near = tl_nearest_vertex_face(x);
        tl_bump b = {.node = {4, face[f][0], face[f][1], face[f][2]}, .normal = {0, 1, 0}};
        memcpy(b.weight, near.weight, sizeof b.weight);
        tl_vec3 v[5] = {{0}, {0}, {0}, {0}, {0, -1, 0}};
        tl_bump_push(&b, inverse, 0, v);
        for (int k = 0; k < 5 && step > 0; k++) jump = fmax(jump, tl_norm3(tl_sub3(v[k], last[k])));
        for (int k = 0; k < 5; k++) most = fmax(most, tl_norm3(v[k])), last[k] = v[k];
    }
    assert_true(most > 0.15);
    assert_near(jump, 0, 2e-3);
}

// K33: weights of edges are 1 - a and a; at an end that end alone moves.
static void edges_share_by_place(void **state)
{
    (void)state;
    const double inverse[4] = {1, 1, 1, 1};
    for (int i = 0; i <= 4; i++) {
        const double a = i / 4.0;
        const tl_vec3 x[4] = {{-a, 0.1, 0}, {1 - a, 0.1, 0}, {0, 0, -0.5}, {0, 0, 0.5}};
        const tl_nearest near = tl_nearest_edge_edge(x);
        tl_bump b = {.node = {0, 1, 2, 3}, .normal = {0, 1, 0}};
        memcpy(b.weight, near.weight, sizeof b.weight);
        assert_near(b.weight[0], 1 - a, 1e-12), assert_near(b.weight[1], a, 1e-12);
        tl_vec3 v[4] = {{0, -1, 0}, {0, -1, 0}, {0}, {0}};
        tl_bump_push(&b, inverse, 0, v);
        const double impulse = 1 / ((1 - a) * (1 - a) + a * a + 0.5);  // Eq. 3.3, weights put right
        assert_near(v[0].y, -1 + (1 - a) * impulse, 1e-12), assert_near(v[1].y, -1 + a * impulse, 1e-12);
        assert_near(v[2].y, -0.5 * impulse, 1e-12), assert_near(v[3].y, -0.5 * impulse, 1e-12);
    }
}

// K34: positions part by what is asked, with the same weights; what has no inverse mass stays.
static void parting_restores_the_distance(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 50; trial++) {
        tl_vec3 x[4], was[4];
        const tl_bump b = random_bump(trial, trial % 2, x);
        const double inverse[4] = {1, 0, 2, 0.5};
        memcpy(was, x, sizeof was);
        if (!(tl_bump_mobility(&b, inverse) > 0)) continue;
        tl_bump_part(&b, inverse, 0.01, x);
        tl_vec3 apart = {0};
        for (int k = 0; k < 4; k++) apart = tl_madd3(apart, b.weight[k], x[k]);
        assert_near(tl_dot3(apart, b.normal), b.gap + 0.01, 1e-12);
        assert_near(tl_norm3(tl_sub3(x[1], was[1])), 0, 0);
    }
}

// K35: a patch of four nodes on a slope stays if tan(slope) < mu and slides if not, within 5 %.
static double slides(double slope, double mu)
{
    const double dt = 0.01, inverse[5] = {10, 10, 10, 10, 0};
    const tl_vec3 normal = {sin(slope), cos(slope), 0};
    tl_vec3 v[5] = {{0}};
    for (int step = 0; step < 50; step++) {
        tl_bump b[4];
        for (int i = 0; i < 4; i++) {
            v[i].y -= 9.81 * dt;
            b[i] = (tl_bump){.node = {i, 4, -1, -1}, .weight = {1, -1}, .normal = normal, .friction = mu};
        }
        tl_bumps_report report;
        tl_bumps_solve(b, 4, inverse, &(tl_bumps_def){dt, 0.2, 1e-12, 50}, v, &report);
    }
    return tl_norm3(v[0]);
}

static void slope_sticks_below_friction(void **state)
{
    (void)state;
    for (int i = 1; i <= 4; i++) {
        const double mu = 0.25 * i;
        assert_true(slides(atan(0.95 * mu), mu) < 1e-9);
        assert_true(slides(atan(1.05 * mu), mu) > 0.01);
        const double g = 9.81 * 0.5, a = atan(2 * mu);  // well beyond: the closed form g (sin - mu cos) t
        assert_near(slides(a, mu), g * (sin(a) - mu * cos(a)), 1e-6);
        assert_near(slides(a, 0), g * sin(a), 1e-9);
    }
}

// K36: a projector, whatever is added to it; nothing is left along barred directions.
static void directions_project(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 300; trial++) {
        tl_directions d = {0};
        const int count = (int)(trial % 5);
        for (int k = 0; k < count; k++)
            tl_directions_add(&d, tl_unit3_or(random_vec(trial, (uint64_t)k), (tl_vec3){1, 0, 0}), 0.1 * k);
        assert_true(d.count <= 3);
        const tl_vec3 v = random_vec(trial, 50), w = random_vec(trial, 51);
        const tl_vec3 once = tl_directions_project(&d, v);
        assert_true(tl_norm3(tl_sub3(tl_directions_project(&d, once), once)) < 1e-14);
        assert_near(tl_dot3(once, w), tl_dot3(v, tl_directions_project(&d, w)), 1e-14);  // symmetric
        const tl_vec3 moved = tl_directions_filter(&d, v);
        for (int32_t k = 0; k < d.count; k++) {
            assert_near(tl_dot3(once, d.c[k]), 0, 1e-14);
            assert_near(tl_dot3(moved, d.c[k]), d.speed[k], 1e-13);
            for (int32_t j = 0; j < d.count; j++) assert_near(tl_dot3(d.c[j], d.c[k]), j == k, 1e-14);
        }
        if (d.count == 3) assert_true(tl_norm3(once) < 1e-14);
    }
    tl_directions corner = {0};  // speeds along directions that are not perpendicular come out as asked
    const tl_vec3 a = {1, 0, 0}, b = {0.6, 0.8, 0};
    assert_true(tl_directions_add(&corner, a, 0.3) && tl_directions_add(&corner, b, -0.1));
    const tl_vec3 out = tl_directions_filter(&corner, (tl_vec3){5, 6, 7});
    assert_near(tl_dot3(out, a), 0.3, 1e-14), assert_near(tl_dot3(out, b), -0.1, 1e-14), assert_near(out.z, 7, 0);
}

// ---- simulations ----------------------------------------------------------------------------------------------

typedef struct world {
    tl_sim *sim;
    tl_cloth_id cloth;
} world;

static tl_collide_def by(tl_response response, tl_detection detection)
{
    tl_collide_def c = tl_sim_def_default().collide;
    c.response = response, c.detection = detection;
    return c;
}

// A sheet over a ball on a floor.
static world sheet_moved_by(tl_dynamics_kind dynamics, uint32_t method, const tl_collide_def *collide, int threads)
{
    world w;
    tl_error err;
    tl_body_id id, body;
    tl_sim_def def = tl_sim_def_default();
    def.dt = 0.005, def.threads = threads, def.collide = *collide;
    def.dynamics = dynamics, def.springs.method = method;
    assert_ok(tl_sim_create(&def, &w.sim, &err));
    sheet s = sheet_grid(0.4, 0.4, 8, 8, true);
    for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x - 0.2, 0.212, 0.2 - s.uv[i].y};
    const tl_material m = tl_material_default();
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.name = "sheet", cloth.thickness = 2e-3, cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
    cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m,
    cloth.material_count = 1, cloth.friction = 0.4;
    assert_ok(tl_sim_add_cloth(w.sim, &cloth, &w.cloth, &err));
    sheet_free(&s);
    tl_body_def ball = tl_body_def_default();
    ball.name = "ball", ball.kind = TL_BODY_SPHERE, ball.center = (tl_vec3){0, 0.105, 0}, ball.radius = 0.1;
    ball.friction = 0.4;
    assert_ok(tl_sim_add_body(w.sim, &ball, &id, &err));
    tl_body_def floor = tl_body_def_default();
    floor.name = "floor", floor.kind = TL_BODY_PLANE, floor.axis = (tl_vec3){0, 1, 0}, floor.friction = 0.4;
    assert_ok(tl_sim_add_body(w.sim, &floor, &body, &err));
    return w;
}

static world sheet_on_ball(const tl_collide_def *collide, int threads)
{
    return sheet_moved_by(TL_DYNAMICS_IMPLICIT, 0, collide, threads);
}

static tl_contact_report steps(world w, int count)
{
    tl_contact_report sum = {0};
    tl_error err;
    for (int i = 0; i < count; i++) {
        tl_step_report report;
        assert_ok(tl_sim_step(w.sim, &report, &err));
        sum.found += report.contact.found, sum.there += report.contact.there, sum.missed += report.contact.missed;
        sum.contacts += report.contact.contacts, sum.candidates += report.contact.candidates;
    }
    return sum;
}

static int32_t crossings(world w)
{
    tl_intersection_report report;
    tl_error err;
    assert_ok(tl_sim_intersections(w.sim, &report, &err));
    return (int32_t)(report.cloth_cloth + report.cloth_body);
}

// Every response with every detection: with the net nothing passes, checked after every step; the sheet hangs on the
// ball; detection tells what it found.
static void nothing_passes_with_the_net(void **state)
{
    (void)state;
    for (int r = TL_RESPONSE_IMPULSE; r <= TL_RESPONSE_CONSTRAINT; r++)
        for (int d = TL_DETECTION_FULL; d <= TL_DETECTION_COMBINED; d++) {
            tl_collide_def collide = by((tl_response)r, (tl_detection)d);
            collide.measure = 1, collide.new_pairs = 30;
            const world w = sheet_on_ball(&collide, 1);
            tl_contact_report sum = {0};
            for (int k = 0; k < 40; k++) {
                const tl_contact_report now = steps(w, 1);
                sum.found += now.found, sum.there += now.there, sum.missed += now.missed, sum.contacts += now.contacts;
                assert_int_equal(crossings(w), 0);
            }
            assert_true(sum.there > 1000 && sum.contacts > 100);
            if (d <= TL_DETECTION_KDOP) assert_int_equal(sum.missed, 0), assert_int_equal(sum.found, sum.there);
            if (d >= TL_DETECTION_STOCHASTIC) assert_true(sum.missed > 0 && sum.missed < 0.7 * (double)sum.there);
            tl_cloth_view view;
            assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
            double top = 0, low = 1;
            for (int32_t i = 0; i < view.node_count; i++)
                top = fmax(top, view.pos[i].y), low = fmin(low, view.pos[i].y);
            assert_true(top > 0.204 && low > 0);
            tl_sim_destroy(w.sim);
        }
}

// Springs, both ways, under both responses: nothing passes, the sheet hangs on the ball and is no wider than it was.
static void springs_answer_by_both(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const tl_response response = k & 1 ? TL_RESPONSE_CONSTRAINT : TL_RESPONSE_IMPULSE;
        const uint32_t method = k & 2 ? TL_SPRINGS_VERLET_METHOD : TL_SPRINGS_XPBD_METHOD;
        const tl_collide_def collide = by(response, k & 4 ? TL_DETECTION_COMBINED : TL_DETECTION_KDOP);
        const world w = sheet_moved_by(TL_DYNAMICS_SPRINGS, method, &collide, 1);
        int64_t contacts = 0;
        for (int i = 0; i < 60; i++) {
            contacts += steps(w, 1).contacts;
            assert_int_equal(crossings(w), 0);
        }
        assert_true(contacts > 100);
        tl_cloth_view view;
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        double top = 0, low = 1, wide = 0;
        for (int32_t i = 0; i < view.node_count; i++) {
            top = fmax(top, view.pos[i].y), low = fmin(low, view.pos[i].y);
            wide = fmax(wide, fmax(fabs(view.pos[i].x), fabs(view.pos[i].z)));
        }
        assert_true(top > 0.204 && low > 0 && low < 0.19 && wide < 0.21);
        tl_sim_destroy(w.sim);
    }
}

// Without contact springs fall by one half g t^2, and a state that was saved goes on to the same bits on two threads.
static void springs_fall_and_go_on(void **state)
{
    (void)state;
    const tl_collide_def collide = by(TL_RESPONSE_IMPULSE, TL_DETECTION_COMBINED);
    const world w = sheet_moved_by(TL_DYNAMICS_SPRINGS, TL_SPRINGS_XPBD_METHOD, &collide, 1),
                other = sheet_moved_by(TL_DYNAMICS_SPRINGS, TL_SPRINGS_XPBD_METHOD, &collide, 2);
    tl_error err;
    tl_cloth_view view;
    assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
    const double before = view.pos[0].y;
    steps(w, 4);
    assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
    assert_near(before - view.pos[0].y, 0.5 * 9.81 * 0.02 * 0.02, 0.3 * 0.5 * 9.81 * 0.02 * 0.02);  // a corner, in air
    steps(w, 17);
    const void *saved;
    size_t size;
    assert_ok(tl_sim_save(w.sim, &saved, &size, &err));
    void *data = malloc(size);
    memcpy(data, saved, size);
    assert_ok(tl_sim_restore(other.sim, data, size, &err));
    steps(w, 12), steps(other, 12);
    assert_true(tl_sim_hash(w.sim) == tl_sim_hash(other.sim));
    free(data);
    tl_sim_destroy(w.sim), tl_sim_destroy(other.sim);
}

// The complete kinds find the same, so they come to the same bits; so do any number of threads.
static void same_pairs_same_bits(void **state)
{
    (void)state;
    uint64_t hash[4];
    for (int k = 0; k < 4; k++) {
        tl_collide_def collide = by(TL_RESPONSE_IMPULSE, k < 2 ? (tl_detection)k : TL_DETECTION_STOCHASTIC);
        collide.new_pairs = 3;
        const world w = sheet_on_ball(&collide, k == 3 ? 3 : 1);
        steps(w, 25);
        tl_cloth_view view;
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        tl_hash h;
        tl_hash_init(&h);
        tl_hash_add(&h, view.pos, (size_t)view.node_count * sizeof *view.pos);
        hash[k] = tl_hash_value(&h);
        tl_sim_destroy(w.sim);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[2] == hash[3]);
    assert_true(hash[2] != hash[0]);
}

// What random pairs remember is part of a saved state.
static void saved_states_go_on_alike(void **state)
{
    (void)state;
    const tl_collide_def collide = by(TL_RESPONSE_IMPULSE, TL_DETECTION_COMBINED);
    const world w = sheet_on_ball(&collide, 1), other = sheet_on_ball(&collide, 2);
    tl_error err;
    steps(w, 21);
    const void *saved;
    size_t size;
    assert_ok(tl_sim_save(w.sim, &saved, &size, &err));
    void *data = malloc(size);
    memcpy(data, saved, size);
    assert_ok(tl_sim_restore(other.sim, data, size, &err));
    steps(w, 12), steps(other, 12);
    assert_true(tl_sim_hash(w.sim) == tl_sim_hash(other.sim));
    free(data);
    tl_sim_destroy(w.sim), tl_sim_destroy(other.sim);
}

static void seal(char *data, size_t size)
{
    tl_hash sum;
    tl_hash_init(&sum);
    tl_hash_add(&sum, data, size - sizeof(uint64_t));
    const uint64_t value = tl_hash_value(&sum);
    memcpy(data + size - sizeof value, &value, sizeof value);
}

// Whole bytes (the hash is right) of pairs that cannot be: refused before anything has changed, or left out.
static void damaged_pairs_change_nothing(void **state)
{
    (void)state;
    const tl_collide_def collide = by(TL_RESPONSE_IMPULSE, TL_DETECTION_COMBINED);
    const world w = sheet_on_ball(&collide, 1), other = sheet_on_ball(&collide, 1);
    tl_error err;
    steps(w, 16), steps(other, 9);
    const void *saved;
    size_t size;
    assert_ok(tl_sim_save(w.sim, &saved, &size, &err));
    char *data = malloc(size);
    memcpy(data, saved, size);
    enum { HEADER = 96 };  // it ends with how many bytes dynamics and response have
    uint64_t own[2];
    memcpy(own, data + HEADER - sizeof own, sizeof own);
    tl_cloth_view view;
    assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
    char *list = data + HEADER + own[0] + sizeof(uint64_t) + (size_t)view.node_count * sizeof(tl_vec3);
    double numbers[4];
    memcpy(numbers, list, sizeof numbers);
    if (numbers[0] == 0) memcpy(numbers, list += sizeof numbers, sizeof numbers);  // those of the cloth with itself
    assert_true(numbers[0] >= 1 && numbers[0] < 1e6 && own[1] > 0);                // the list is where we think it is
    const uint64_t before = tl_sim_hash(other.sim);
    const double wrong[5] = {-1, 1e300, numbers[0] + 1, (double)NAN, numbers[0] - 1};
    for (int k = 0; k < 5; k++) {
        memcpy(list, &wrong[k], sizeof wrong[k]);
        seal(data, size);
        assert_int_equal(tl_sim_restore(other.sim, data, size, &err), TL_BAD_INPUT);
        assert_true(tl_sim_hash(other.sim) == before);
    }
    memcpy(list, numbers, sizeof numbers);
    const int32_t nobody[3] = {2, INT32_MAX, -5};
    memcpy(list + sizeof numbers, nobody, sizeof nobody);
    seal(data, size);
    assert_ok(tl_sim_restore(other.sim, data, size, &err));
    steps(other, 4);
    free(data);
    tl_sim_destroy(w.sim), tl_sim_destroy(other.sim);
}

// K26: part of the pairs, by chance, is answered; without the net the sheet stays whole and near.
static void part_of_the_answers(void **state)
{
    (void)state;
    const double part[3] = {1, 0.2, 0.1};
    for (int k = 0; k < 3; k++) {
        tl_collide_def collide = by(TL_RESPONSE_IMPULSE, TL_DETECTION_FULL);
        collide.response_ratio = part[k], collide.net = 0;
        const world w = sheet_on_ball(&collide, 1);
        const tl_contact_report sum = steps(w, 25);
        assert_true(sum.found > 500);
        assert_near((double)sum.candidates / (double)sum.found, part[k], k ? 0.05 : 0.2);  // the floor's not counted
        tl_cloth_view view;
        assert_int_equal(tl_sim_cloth_view(w.sim, w.cloth, &view), TL_OK);
        for (int32_t i = 0; i < view.node_count; i++) assert_true(tl_norm3(view.pos[i]) < 1);  // stable
        tl_sim_destroy(w.sim);
    }
}

// K37: a sheet on the floor that handles lift comes off at once.
static void lifted_cloth_is_released(void **state)
{
    (void)state;
    for (int r = TL_RESPONSE_IMPULSE; r <= TL_RESPONSE_CONSTRAINT; r++) {
        tl_error err;
        tl_body_id body;
        tl_sim_def def = tl_sim_def_default();
        def.dt = 0.005, def.collide = by((tl_response)r, TL_DETECTION_KDOP);
        tl_sim *sim;
        assert_ok(tl_sim_create(&def, &sim, &err));
        sheet s = sheet_grid(0.2, 0.2, 4, 4, true);
        for (int32_t i = 0; i < s.node_count; i++) s.pos[i] = (tl_vec3){s.uv[i].x, 0.0012, -s.uv[i].y};
        const tl_material m = tl_material_default();
        tl_cloth_def cloth = tl_cloth_def_default();
        tl_cloth_id id;
        cloth.remeshing.kind = TL_REMESHING_NONE, cloth.thickness = 2e-3;
        cloth.name = "sheet", cloth.node_count = s.node_count, cloth.pos = s.pos, cloth.uv = s.uv;
        cloth.face_count = s.face_count, cloth.face = (const int32_t(*)[3])s.face, cloth.materials = &m,
        cloth.material_count = 1;
        assert_ok(tl_sim_add_cloth(sim, &cloth, &id, &err));
        tl_body_def floor = tl_body_def_default();
        floor.name = "floor", floor.kind = TL_BODY_PLANE, floor.axis = (tl_vec3){0, 1, 0};
        assert_ok(tl_sim_add_body(sim, &floor, &body, &err));
        const tl_motion_key keys[] = {{.time = 0}, {.time = 0.1}, {.time = 0.2, .translate = {0, 0.1, 0}}};
        tl_handle_def h = tl_handle_def_default();
        h.cloth = id, h.use_uv_box = 1, h.uv_min = (tl_vec2){-1, 0.19}, h.uv_max = (tl_vec2){1, 1};
        h.keys = keys, h.key_count = 3, h.curve = TL_CURVE_SMOOTH;
        assert_ok(tl_sim_add_handle(sim, &h, &err));
        const world w = {sim, id};
        steps(w, 20);
        tl_cloth_view view;
        assert_int_equal(tl_sim_cloth_view(sim, id, &view), TL_OK);
        for (int32_t i = 0; i < view.node_count; i++) {  // at rest: it neither sinks nor bounces
            assert_true(view.pos[i].y > 0 && view.pos[i].y < 0.0025);
            assert_true(fabs(view.vel[i].y) < 0.02);
        }
        steps(w, 20);
        assert_int_equal(tl_sim_cloth_view(sim, id, &view), TL_OK);
        double lowest = 1;
        for (int32_t i = 0; i < view.node_count; i++)
            if (s.uv[i].y > 0.14) lowest = fmin(lowest, view.pos[i].y);
        assert_true(lowest > 0.04);
        sheet_free(&s);
        tl_sim_destroy(sim);
    }
}

static void incomplete_detection_is_refused(void **state)
{
    (void)state;
    tl_error err;
    tl_sim *sim;
    tl_sim_def def = tl_sim_def_default();
    for (int d = TL_DETECTION_KDOP; d <= TL_DETECTION_COMBINED; d++) {
        def.collide.detection = (tl_detection)d;
        assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
        assert_non_null(strstr(err.message, "'impulse' or 'constraint'"));
    }
    def = tl_sim_def_default();
    def.collide.response = TL_RESPONSE_IMPULSE, def.collide.dop = 12;
    assert_int_equal(tl_sim_create(&def, &sim, &err), TL_BAD_ARG);
    assert_non_null(strstr(err.message, "6, 14, 18 or 26"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(impulses_keep_momentum),
                                       cmocka_unit_test(answer_is_continuous_over_borders),
                                       cmocka_unit_test(edges_share_by_place),
                                       cmocka_unit_test(parting_restores_the_distance),
                                       cmocka_unit_test(slope_sticks_below_friction),
                                       cmocka_unit_test(directions_project),
                                       cmocka_unit_test(nothing_passes_with_the_net),
                                       cmocka_unit_test(springs_answer_by_both),
                                       cmocka_unit_test(springs_fall_and_go_on),
                                       cmocka_unit_test(same_pairs_same_bits),
                                       cmocka_unit_test(saved_states_go_on_alike),
                                       cmocka_unit_test(damaged_pairs_change_nothing),
                                       cmocka_unit_test(part_of_the_answers),
                                       cmocka_unit_test(lifted_cloth_is_released),
                                       cmocka_unit_test(incomplete_detection_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
