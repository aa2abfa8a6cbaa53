// Coulomb's law: the angle at which a sheet begins to slide, how far it slides, belts around drums, a strip that sticks
// and slips.

#include "contacts.h"

// --- a sheet on a slope ---

typedef enum ground { ON_PLANE, ON_BLOCK } ground;
static const char *const ground_name[] = {"plane", "block"};

typedef struct slope {
    ground ground;
    double angle, friction;  // [rad]; of the body
    double speed;            // at the start, along the slope, > 0: uphill
    double dt;
    double drift;  // speed of the body along the slope
    tl_integrator integrator;
    bool defaults;  // Newton's tolerance and linear solver as they come
} slope;

typedef struct slope_run {
    tl_sim *sim;
    tl_cloth_id cloth;
    sheet s;
    tl_vec3 up, normal;
} slope_run;

static slope_run slope_begin(const slope *d)
{
    tl_error err;
    slope_run r;
    tl_sim_def def = tl_sim_def_default();
    def.dt = d->dt, def.integrator = d->integrator;
    if (!d->defaults) def.newton_tolerance = 1e-6, def.newton_iterations = 100, def.linear = TL_LINEAR_DIRECT;
    no_air(&def);
    assert_ok(tl_sim_create(&def, &r.sim, &err));
    const double side = 0.06;
    r.up = (tl_vec3){cos(d->angle), sin(d->angle), 0}, r.normal = (tl_vec3){-sin(d->angle), cos(d->angle), 0};
    r.s = sheet_delaunay(side, side, 0.012, 1, 0, 7);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    // At the distance where contact carries the weight: (1 - g) / g^2 = load. A step in which contact only begins has
    // no friction yet.
    const double density = 0.2, load = density * 9.81 * cos(d->angle) / def.collide.pressure,
                 g = (sqrt(1 + 4 * load) - 1) / (2 * load);
    const tl_vec3 z = {0, 0, -1}, corner = tl_madd3(tl_madd3(tl_mul3(-0.5 * side, r.up), -0.5 * side, z),
                                                    0.5 * g * cloth.thickness, r.normal);
    sheet_lay(&r.s, corner, r.up, z);
    tl_vec3 *vel = all_alike(&r.s, tl_mul3(d->speed, r.up));
    const tl_material fabric = strip_fabric(1000, 1e-4, density);
    r.cloth = add_sheet(r.sim, &r.s, &fabric, cloth, vel);
    free(vel);
    tl_body_def body = tl_body_def_default();
    body.friction = d->friction;
    const double length = 1;
    const tl_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = tl_mul3(d->drift, r.up)}};
    if (d->drift != 0) body.motion = keys, body.motion_count = 2;
    tl_vec3 pos[8];
    int32_t face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                           {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    if (d->ground == ON_PLANE) {
        body.kind = TL_BODY_PLANE, body.axis = r.normal;
    } else {  // a block whose upper face is the slope
        for (int i = 0; i < 8; i++) {
            const double u = i & 1 ? length : -length, n = i & 2 ? 0 : -0.1, w = i & 4 ? 0.3 : -0.3;
            pos[i] = tl_madd3(tl_madd3(tl_mul3(u, r.up), n, r.normal), w, (tl_vec3){0, 0, 1});
        }
        body.kind = TL_BODY_MESH, body.pos = pos, body.node_count = 8, body.face = (const int32_t(*)[3])face,
        body.face_count = 12;
    }
    tl_body_id id;
    assert_ok(tl_sim_add_body(r.sim, &body, &id, &err));
    return r;
}

static double slope_speed(const slope_run *r)
{
    const tl_cloth_view v = view_of(r->sim, r->cloth);
    return tl_dot3(mean_of(v.vel, v.node_count), r->up);
}

static double slope_place(const slope_run *r)
{
    const tl_cloth_view v = view_of(r->sim, r->cloth);
    return tl_dot3(mean_of(v.pos, v.node_count), r->up);
}

static void slope_end(slope_run *r)
{
    tl_sim_destroy(r->sim);
    sheet_free(&r->s);
}

static void check_threshold(ground on, double degrees, bool defaults)
{
    const double a = degrees * PI / 180, slip = tl_sim_def_default().collide.slip_speed;
    const int steps = 100;
    slope d = {.ground = on, .angle = a, .friction = 1.005 * tan(a), .dt = 0.005, .defaults = defaults};
    slope_run r = slope_begin(&d);
    run_for(r.sim, steps);
    const double creep = -slope_speed(&r);
    slope_end(&r);
    d.friction = 0.995 * tan(a), d.speed = -0.1;
    r = slope_begin(&d);
    run_for(r.sim, 10);
    const double v0 = slope_speed(&r);
    run_for(r.sim, steps);
    const double rate = (v0 - slope_speed(&r)) / (steps * d.dt), expect = 9.81 * (sin(a) - d.friction * cos(a));
    slope_end(&r);
    print_message("%s%s, %g degrees: creep at 1.005 tan a %.3g m/s; slides at 0.995 tan a with %.5f m/s^2, expected "
                  "%.5f (%+.2f %%)\n",
                  ground_name[on], defaults ? ", defaults" : "", degrees, creep, rate, expect,
                  100 * (rate / expect - 1));
    assert_true(fabs(creep) <= slip);
    assert_near(rate, expect, 0.02 * expect);
}

static void slope_threshold(void **state)
{
    (void)state;
    check_threshold(ON_PLANE, 10, false);
    check_threshold(ON_PLANE, 30, false);
    check_threshold(ON_BLOCK, 30, false);
    check_threshold(ON_PLANE, 30, true);
    check_threshold(ON_BLOCK, 30, true);
}

// Sliding to a stop takes v0^2 / (2 g (mu cos a + sin a)) uphill, with - downhill. Implicit Euler moves with the speed
// at the end of a step, which takes v0 dt / 2 off the distance; BDF2 does not.
static double slide(ground on, double degrees, double friction, double speed, double dt, tl_integrator integrator,
                    bool defaults)
{
    const double a = degrees * PI / 180;
    const slope d = {.ground = on,
                     .angle = a,
                     .friction = friction,
                     .speed = speed,
                     .dt = dt,
                     .integrator = integrator,
                     .defaults = defaults};
    const double rate = 9.81 * (friction * cos(a) + (speed > 0 ? 1 : -1) * sin(a)), expect = speed * speed / (2 * rate);
    slope_run r = slope_begin(&d);
    const double from = slope_place(&r);
    double most = 0;
    for (double t = 0; t < 1.1 * fabs(speed) / rate + 0.05; t += dt) {
        run_for(r.sim, 1);
        most = fmax(most, fabs(slope_place(&r) - from));
    }
    slope_end(&r);
    print_message("%s%s, %g degrees, mu %g, %g m/s, dt %g, %s: slides %.5f m, expected %.5f (%+.2f %%); with the bias "
                  "of Euler %.5f (%+.2f %%)\n",
                  ground_name[on], defaults ? ", defaults" : "", degrees, friction, speed, dt,
                  integrator == TL_BDF2 ? "BDF2" : "Euler", most, expect, 100 * (most / expect - 1),
                  expect - 0.5 * fabs(speed) * dt, 100 * (most / (expect - 0.5 * fabs(speed) * dt) - 1));
    return most / expect;
}

static void sliding_distance(void **state)
{
    (void)state;
    for (int on = ON_PLANE; on <= ON_BLOCK; on++) {
        assert_near(slide((ground)on, 0, 0.3, 1, 0.005, TL_IMPLICIT_EULER, true), 1, 0.02);
        assert_near(slide((ground)on, 0, 0.3, 1, 0.005, TL_IMPLICIT_EULER, false), 1, 0.02);
        assert_near(slide((ground)on, 15, 0.4, 1, 0.0025, TL_IMPLICIT_EULER, false), 1, 0.02);
        assert_near(slide((ground)on, 15, 0.4, -0.7, 0.005, TL_IMPLICIT_EULER, false), 1, 0.02);
        assert_near(slide((ground)on, 15, 0.4, 1, 0.005, TL_BDF2, false), 1, 0.01);
    }
}

// A moving slope takes the sheet along.
static void carried(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const ground on = (ground)(k % 2);
        const slope d = {.ground = on, .angle = 0.2, .friction = 0.5, .drift = 0.3, .dt = 0.005, .defaults = k >= 2};
        slope_run r = slope_begin(&d);
        const double from = slope_place(&r);
        run_for(r.sim, 240);
        const double way = slope_place(&r) - from, speed = slope_speed(&r);
        slope_end(&r);
        print_message("%s%s, moved by %g m within 1 s: the sheet by %.5f m; speed after that %.2g m/s\n",
                      ground_name[on], d.defaults ? ", defaults" : "", d.drift, way, speed);
        assert_near(way, d.drift, 0.01 * d.drift);
    }
}

// --- a belt around a drum ---

// Two free spans, tangent to the drum, and `wrap` radians around it. The ends are drawn apart until the belt is taut,
// then both go the same way: the belt slides over the drum at a steady speed. No weight, so a span has one tension,
// known from its stretch.
typedef struct belt {
    double friction, wrap, radius;
    int sides;
} belt;  // sides of the drum, 0: as the library makes it

static tl_vec3 belt_place(const belt *b, double radius, double s, double z)
{
    const double half = 0.5 * radius * b->wrap, in = fmax(-half, fmin(half, s)), a = in / radius, out = s - in;
    return (tl_vec3){radius * sin(a) + out * cos(a), radius * cos(a) - out * sin(a), z};
}

/// Force per width in a span between two material places.
static double belt_tension(const tl_cloth_view *v, double stiffness, double s0, double s1)
{
    tl_vec3 x[2] = {{0, 0, 0}, {0, 0, 0}};
    int count[2] = {0, 0};
    double at[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        double best = INFINITY;
        for (int32_t i = 0; i < v->node_count; i++)
            if (fabs(v->uv[i].x - (k ? s1 : s0)) < best - 1e-9)
                best = fabs(v->uv[i].x - (k ? s1 : s0)), at[k] = v->uv[i].x;
        for (int32_t i = 0; i < v->node_count; i++)
            if (fabs(v->uv[i].x - at[k]) < 1e-9) x[k] = tl_add3(x[k], v->pos[i]), count[k]++;
    }
    const double length = tl_norm3(tl_sub3(tl_mul3(1.0 / count[1], x[1]), tl_mul3(1.0 / count[0], x[0])));
    const double stretch = length / (at[1] - at[0]);
    return stiffness * stretch * 0.5 * (stretch * stretch - 1);
}

static double belt_ratio(const belt *b)
{
    tl_error err;
    const double span = 0.08, width = 0.02, stiffness = 2000, edge = 0.1 * b->radius;
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    const double radius = b->radius + 0.5 * cloth.thickness, length = 2 * span + radius * b->wrap;
    tl_sim_def def = tl_sim_def_default();
    def.gravity = (tl_vec3){0, 0, 0}, def.collide.self = 0;
    def.newton_tolerance = 1e-4, def.newton_iterations = 100, def.linear = TL_LINEAR_DIRECT;
    no_air(&def);
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    const int cells = (int)ceil(length / edge), across = (int)ceil(fmin(width, 4 * edge) / edge);
    sheet s = sheet_grid(length, width, cells, across, true);
    for (int32_t i = 0; i < s.node_count; i++)
        s.pos[i] = belt_place(b, radius + 1e-6, s.uv[i].x - 0.5 * length, s.uv[i].y - 0.5 * width);
    const tl_material fabric = strip_fabric(stiffness, 1e-6, 0.1);
    const tl_cloth_id id = add_sheet(sim, &s, &fabric, cloth, NULL);
    tl_body_def drum = tl_body_def_default();
    drum.kind = TL_BODY_CYLINDER, drum.radius = b->radius, drum.axis = (tl_vec3){0, 0, 0.06},
    drum.friction = b->friction;
    enum { MOST = 144 };
    tl_vec3 corner[2 * MOST];
    int32_t face[2 * MOST][3];
    for (int k = 0; k < b->sides; k++) {
        const double a = 2 * PI * (k + 0.3) / b->sides;
        const int32_t here = 2 * k, next = 2 * ((k + 1) % b->sides),
                      two[2][3] = {{here, here + 1, next}, {next, here + 1, next + 1}};
        for (int z = 0; z < 2; z++)
            corner[2 * k + z] = (tl_vec3){b->radius * sin(a), b->radius * cos(a), z ? 0.03 : -0.03};
        memcpy(face[2 * k], two, sizeof two);
    }
    if (b->sides > 0) drum.kind = TL_BODY_MESH, drum.pos = corner, drum.node_count = 2 * b->sides;
    drum.face = (const int32_t(*)[3])face, drum.face_count = 2 * b->sides;
    tl_body_id body;
    assert_ok(tl_sim_add_body(sim, &drum, &body, &err));
    const double taut = 0.01 * length, way = 0.02;
    for (int end = 0; end < 2; end++) {
        const tl_vec3 along = {cos(0.5 * b->wrap), end ? -sin(0.5 * b->wrap) : sin(0.5 * b->wrap), 0};
        const double first = end ? taut : -taut;
        const tl_motion_key keys[3] = {{.time = 0},
                                       {.time = 0.3, .translate = tl_mul3(first, along)},
                                       {.time = 1.3, .translate = tl_mul3(first + way, along)}};
        tl_handle_def hold = tl_handle_def_default();
        hold.cloth = id, hold.use_uv_box = 1, hold.keys = keys, hold.key_count = 3;
        hold.uv_min = (tl_vec2){end ? length - 1e-9 : -1, -1}, hold.uv_max = (tl_vec2){end ? length + 1 : 1e-9, 1};
        assert_ok(tl_sim_add_handle(sim, &hold, &err));
    }
    double sum = 0, low = INFINITY, high = 0;
    int count = 0;
    for (int k = 0; k < 200; k++) {
        run_for(sim, 1);
        if (k < 140) continue;
        const tl_cloth_view v = view_of(sim, id);
        const double t1 = belt_tension(&v, stiffness, 0.01, span - 0.03),
                     t2 = belt_tension(&v, stiffness, length - span + 0.03, length - 0.01);
        sum += log(t2 / t1), count++;
        low = fmin(low, t2 / t1), high = fmax(high, t2 / t1);
    }
    tl_sim_destroy(sim);
    sheet_free(&s);
    const double ratio = exp(sum / count), expect = exp(b->friction * b->wrap);
    print_message(
        "belt, mu %g, wrap %.0f degrees, radius %g, %d sides: T2/T1 %.4f (%.4f to %.4f), expected %.4f (%+.2f %%)\n",
        b->friction, b->wrap * 180 / PI, b->radius, b->sides, ratio, low, high, expect, 100 * (ratio / expect - 1));
    return ratio / expect;
}

static void capstan(void **state)
{
    (void)state;
    const belt belts[] = {{0.2, PI / 2, 0.05, 36}, {0.3, PI, 0.05, 36}, {0.5, PI, 0.05, 36},
                          {0.3, PI, 0.02, 36},     {0.3, PI, 0.05, 72}, {0.3, PI, 0.05, 0}};
    for (size_t i = 0; i < sizeof belts / sizeof *belts; i++) assert_near(belt_ratio(&belts[i]), 1, 0.02);
    if (getenv("TL_LONG"))  // the coarser the drum, the more the tension comes and goes while corners pass; the mean
                            // hardly changes
        for (int sides = 12; sides <= 24; sides += 4) assert_near(belt_ratio(&(belt){0.3, PI, 0.05, sides}), 1, 0.03);
}

// --- a strip that sticks and slips ---

// Clamped above a floor, pointing straight down, its tip on the floor, no weight. Lowered by eps L it bends; as long as
// the tip sticks, friction over load is a function of eps alone (the elastica, clamped and pinned).
typedef struct stick {
    double eps, ratio;
} stick;
static const stick sticks[] = {{0.001, 0.0141}, {0.005, 0.0316}, {0.01, 0.0448},  {0.02, 0.0639},
                               {0.05, 0.1035},  {0.10, 0.1528},  {0.15, 0.1959},  {0.20, 0.2378},
                               {0.25, 0.2807},  {0.30, 0.3265},  {0.3303, 0.3564}};

/// Where the strip slips; the ratio goes like the root of eps, so that is taken out before interpolating.
static double onset(double friction)
{
    const int n = sizeof sticks / sizeof *sticks;
    double low = sticks[0].eps, high = sticks[n - 1].eps;
    for (int k = 0; k < 60; k++) {
        const double eps = 0.5 * (low + high);
        int i = 1;
        while (i < n - 1 && sticks[i].eps < eps) i++;
        const double t = (eps - sticks[i - 1].eps) / (sticks[i].eps - sticks[i - 1].eps);
        const double c0 = sticks[i - 1].ratio / sqrt(sticks[i - 1].eps), c1 = sticks[i].ratio / sqrt(sticks[i].eps);
        if (((1 - t) * c0 + t * c1) * sqrt(eps) < friction)
            low = eps;
        else
            high = eps;
    }
    return low;
}

/// eps when the tip moves at five times the speed at which it may creep, 1 if it does not until eps is `last`.
static double slip_at(double friction, double last, double *fastest)
{
    tl_error err;
    const double length = 0.2, width = 0.02, rigidity = 1e-3, time = 4;
    tl_sim_def def = tl_sim_def_default();
    def.gravity = (tl_vec3){0, 0, 0}, def.collide.self = 0;
    def.newton_tolerance = 1e-5, def.newton_iterations = 200, def.linear = TL_LINEAR_DIRECT;
    no_air(&def);
    tl_sim *sim;
    assert_ok(tl_sim_create(&def, &sim, &err));
    sheet s = sheet_grid(length, width, 40, 4, true);
    strip_add_clamp(&s, 0.005);
    tl_cloth_def cloth = tl_cloth_def_default();
    cloth.remeshing.kind = TL_REMESHING_NONE;
    cloth.thickness = 2e-4, cloth.rest_from_shape = 1;
    for (int32_t i = 0; i < s.node_count;
         i++) {  // bent a little, to say which way it shall go; 1.4303 is the root of tan(pi x) = pi x
        const double u = fmax(0, s.uv[i].x) / length, k = 1.4302967 * PI;
        const double bow = 0.001 * length * (sin(k * (1 - u)) / sin(k) - (1 - u));
        s.pos[i] = (tl_vec3){bow, 0.5 * cloth.thickness + length - s.uv[i].x, s.uv[i].y};
    }
    const tl_material fabric = strip_fabric(2e4, rigidity, 0.01);
    const tl_cloth_id id = add_sheet(sim, &s, &fabric, cloth, NULL);
    tl_body_def floor_def = tl_body_def_default();
    floor_def.kind = TL_BODY_PLANE, floor_def.axis = (tl_vec3){0, 1, 0}, floor_def.friction = friction;
    tl_body_id body;
    assert_ok(tl_sim_add_body(sim, &floor_def, &body, &err));
    const tl_motion_key keys[2] = {{.time = 0}, {.time = time, .translate = {0, -last * length, 0}}};
    tl_handle_def hold = tl_handle_def_default();
    hold.cloth = id, hold.use_uv_box = 1, hold.keys = keys, hold.key_count = 2;
    hold.uv_min = (tl_vec2){-1, -1}, hold.uv_max = (tl_vec2){1e-9, 1};
    assert_ok(tl_sim_add_handle(sim, &hold, &err));
    int32_t tip = 0, top = 0;
    for (int32_t i = 0; i < s.node_count; i++) {
        if (s.uv[i].x > s.uv[tip].x) tip = i;
        if (s.uv[i].x < s.uv[top].x) top = i;
    }
    double out = 1;
    *fastest = 0;
    for (double t = 0; t < time && out == 1; t += def.dt) {
        run_for(sim, 1);
        const tl_cloth_view v = view_of(sim, id);
        *fastest = fmax(*fastest, fabs(v.vel[tip].x));
        if (*fastest > 5 * def.collide.slip_speed) out = (s.pos[top].y - v.pos[top].y) / length;
    }
    tl_sim_destroy(sim);
    sheet_free(&s);
    return out;
}

static void stick_and_slip(void **state)
{
    (void)state;
    const double frictions[] = {0.1, 0.15, 0.2, 0.3};
    double speed;
    for (int i = 0; i < 4; i++) {
        const double expect = onset(frictions[i]), eps = slip_at(frictions[i], 0.34, &speed);
        print_message("strip on a floor, mu %g: slips at eps %.4f, expected %.4f (%+.2f %%)\n", frictions[i], eps,
                      expect, 100 * (eps / expect - 1));
        assert_near(eps, expect, 0.05 * expect);
    }
    const double eps = slip_at(0.4, 0.33, &speed);
    print_message("strip on a floor, mu 0.4: slips at eps %.4f (1: not before 0.33), tip at most %.2g m/s\n", eps,
                  speed);
    assert_true(eps == 1);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(slope_threshold), cmocka_unit_test(sliding_distance),
                                       cmocka_unit_test(carried), cmocka_unit_test(capstan),
                                       cmocka_unit_test(stick_and_slip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
