// Contacts that are foreseen: which ones against a look at every pair, and what they add to matrix and gradient against
// the sum written out densely.

#include "contact_world.h"

#include "base/workers.h"
#include "detect/distance.h"

#define REACH 8.0  // pairs further apart than this many thicknesses are not foreseen, unless a body goes that far

// ---- what is to be expected ----

/// A pair as it is at x. How soft it is, is for the search to say.
typedef struct seen {
    pair pair;
    double distance, soft, weight[4];
    tl_vec3 normal;
} seen;

// Bodies are where they begin if one of them moves, else where they end.
static tl_vec3 place_of(const world *w, const tl_vec3 *x, int32_t i)
{
    const int32_t n = w->cloth.nodes;
    return i < n ? x[i] : w->contacts->motion.progress < 1 ? w->body_begin[i - n] : w->body_end[i - n];
}

static tl_vec3 way_of(const world *w, const tl_vec3 *x, const tl_vec3 *u, int32_t i)
{
    return i < w->cloth.nodes ? u[i] : tl_sub3(w->body_end[i - w->cloth.nodes], place_of(w, x, i));
}

static seen look_at(const world *w, const tl_vec3 *x, int32_t index)
{
    seen s = {.pair = w->contacts->cache.pair[index], .soft = (double)w->contacts->cache.fade[index], .weight = {1}};
    const int32_t *node = s.pair.node;
    if (s.pair.kind == PAIR_PLANE) {
        const tl_vec3 *plane = w->plane[w->contacts->motion.progress < 1 ? 0 : 1] + 2 * s.pair.body;
        s.normal = plane[1], s.distance = tl_dot3(plane[1], tl_sub3(x[node[0]], plane[0]));
        return s;
    }
    tl_vec3 at[4], gap = {0, 0, 0};
    for (int k = 0; k < 4; k++) at[k] = place_of(w, x, node[k]);
    const tl_nearest near = s.pair.kind == PAIR_VF ? tl_nearest_vertex_face(at) : tl_nearest_edge_edge(at);
    memcpy(s.weight, near.weight, sizeof s.weight);
    for (int k = 0; k < 4; k++) gap = tl_madd3(gap, s.weight[k], tl_sub3(at[k], at[0]));
    s.distance = near.distance, s.normal = tl_mul3(1 / tl_norm3(gap), gap);
    return s;
}

static bool presses(const seen *s) { return s->distance < s->pair.thickness && s->soft > 0; }

// Does it not press, and is it within reach, now or when bodies have gone their way?
static bool may_come(const world *w, const tl_vec3 *x, const seen *s)
{
    const pair *p = &s->pair;
    double gap = s->distance;
    for (int k = 0; k < pair_nodes(p) && p->kind != PAIR_PLANE; k++)
        if (p->node[k] >= w->cloth.nodes) gap += s->weight[k] * tl_dot3(s->normal, way_of(w, x, NULL, p->node[k]));
    return s->distance >= p->thickness && fmin(gap, s->distance) < REACH * p->thickness && s->soft > 0;
}

/// Along the normal, when all have gone their way.
static double gap_after(const world *w, const tl_vec3 *x, const tl_vec3 *u, const seen *s)
{
    double gap = s->distance;
    for (int k = 0; k < pair_nodes(&s->pair); k++)
        gap += s->weight[k] * tl_dot3(s->normal, way_of(w, x, u, s->pair.node[k]));
    return gap;
}

/// Pairs in no order that matters.
typedef struct some_pairs {
    pair *pair;
    int32_t count;
} some_pairs;

static bool is_same(const pair *a, const pair *b)
{
    return a->kind == b->kind && a->body == b->body && !memcmp(a->node, b->node, sizeof a->node);
}

static bool has(const some_pairs *s, const pair *p)
{
    for (int32_t i = 0; i < s->count; i++)
        if (is_same(&s->pair[i], p)) return true;
    return false;
}

// Those that press at x; if `wanted`, those marked too.
static void note(const world *w, const tl_vec3 *x, const uint8_t *wanted, some_pairs *out)
{
    const tl_contacts *c = w->contacts;
    free(out->pair);
    *out = (some_pairs){calloc((size_t)c->cache.count + 1, sizeof *out->pair), 0};
    for (int32_t i = 0; i < c->cache.count; i++) {
        const seen s = look_at(w, x, i);
        if (presses(&s) || (wanted && wanted[i])) out->pair[out->count++] = s.pair;
    }
}

// ---- a system ----

enum { TURNED_MOST = 4000 };

/// One Newton iteration after the other in a world, and what was seen in all of them.
typedef struct course {
    world w;
    int32_t n;
    tl_vec3 *start, *x, *u, *gradient, *push;
    tl_bsr *matrix;
    double *base;     // the matrix as assembled, all of it
    double scale;     // largest entry that it ever had
    uint8_t *wanted;  // of all pairs
    bool turned[TURNED_MOST];
    some_pairs noted;
} course;

typedef struct tally {
    int expected, too_far, out_of_list, came[3], with_body, fixed, parallel, turned, hard, changes, only_turned, let_go;
} tally;

static void open_course(const world *w, course *c)
{
    const size_t n = (size_t)w->cloth.nodes;
    *c = (course){
        .w = *w, .n = w->cloth.nodes, .matrix = matrix_of(&w->cloth), .base = calloc(9 * n * n, sizeof *c->base)};
    c->start = calloc(n, sizeof *c->x), c->x = calloc(n, sizeof *c->x), c->u = calloc(n, sizeof *c->u);
    c->gradient = calloc(n, sizeof *c->x), c->push = calloc(n, sizeof *c->x);
    memcpy(c->start, w->cloth.x, n * sizeof *c->x), memcpy(c->x, w->cloth.x, n * sizeof *c->x);
    begin_step(&c->w);
}

static void close_course(course *c)
{
    const tl_allocator alloc = tl_allocator_default();
    tl_bsr_destroy(&alloc, c->matrix);
    free(c->base), free(c->start), free(c->x), free(c->u), free(c->gradient), free(c->push), free(c->wanted),
        free(c->noted.pair);
    close_world(&c->w);
}

static void search(course *c)
{
    tl_error err;
    assert_ok(tl_contacts_search(c->w.contacts, c->x, c->u, &(tl_ctx){&c->w.arena, NULL}, &err));
    free(c->wanted);
    c->wanted = calloc((size_t)c->w.contacts->cache.count + 1, 1);
}

static void add_dense(const tl_bsr *m, int32_t n, double *out)
{
    for (int32_t i = 0; m && i < n; i++)
        for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++)
            for (int e = 0; e < 9; e++) {
                const int32_t r = 3 * i + e / 3, s = 3 * m->col[k] + e % 3;
                out[3 * n * r + s] += m->value[k][e];
                if (m->col[k] != i) out[3 * n * s + r] += m->value[k][e];
            }
}

// sum += w w^T (x) a u u^T and push += w f, for nodes that are solved for.
static void add_contact(const course *c, const pair *p, const double weight[4], double a, tl_vec3 u, tl_vec3 force,
                        double *sum, tl_vec3 *push)
{
    const double v[3] = {u.x, u.y, u.z};
    for (int k = 0; k < pair_nodes(p); k++) {
        const int32_t i = p->node[k];
        if (i >= c->n || c->w.fixed[i]) continue;
        push[i] = tl_madd3(push[i], weight[k], force);
        for (int l = 0; l < pair_nodes(p); l++) {
            const int32_t j = p->node[l];
            if (j >= c->n || c->w.fixed[j]) continue;
            for (int e = 0; e < 9; e++)
                sum[3 * c->n * (3 * i + e / 3) + 3 * j + e % 3] += weight[k] * weight[l] * a * v[e / 3] * v[e % 3];
        }
    }
}

// The law as a straight line from the thickness on: pressure (1 - g) near g = 1.
static void add_spring(const course *c, const seen *s, double *sum, tl_vec3 *push)
{
    const pair *p = &s->pair;
    const double stiff = s->soft * 5e3 * p->area / p->thickness;
    double gap = s->distance - p->thickness;
    // what is not solved for goes all of its way, handles to their targets
    for (int k = 0; k < pair_nodes(p) && p->kind != PAIR_PLANE; k++) {
        const int32_t i = p->node[k];
        if (i >= c->n)
            gap += s->weight[k] * tl_dot3(s->normal, way_of(&c->w, c->x, c->u, i));
        else if (c->w.fixed[i])
            gap += s->weight[k] * tl_dot3(s->normal, tl_sub3(c->w.cloth.x[i], c->x[i]));
    }
    add_contact(c, p, s->weight, stiff, s->normal, tl_mul3(stiff * gap, s->normal), sum, push);
}

// What there is beyond the assembly is the pairs wanted and the friction of those that turn, and nothing else.
static void check_system(course *c, tally *t)
{
    const tl_contacts *k = c->w.contacts;
    const size_t size = (size_t)(9 * c->n * c->n);
    double *sum = calloc(2 * size, sizeof *sum), *now = sum + size, most = 0;
    tl_vec3 *push = calloc((size_t)c->n, sizeof *push);
    for (int32_t i = 0; i < k->cache.count; i++) {
        if (!c->wanted[i]) continue;
        const seen s = look_at(&c->w, c->x, i);
        add_spring(c, &s, sum, push);
    }
    for (int32_t i = 0; i < k->set.active_count; i++) {
        const contact *ct = &k->set.contact[i];
        if (c->turned[i])
            add_contact(c, &ct->pair, ct->weight, ct->friction_excess / tl_dot3(ct->sliding, ct->sliding), ct->sliding,
                        (tl_vec3){0, 0, 0}, sum, push);
    }
    for (int32_t i = k->set.active_count; i < k->set.count; i++) t->hard += k->set.contact[i].needs_double;
    add_dense(c->matrix, c->n, now);
    add_dense(blocks_of(&c->w, NULL), c->n, now);
    for (size_t i = 0; i < size; i++) most = fmax(most, fabs(sum[i])), c->scale = fmax(c->scale, fabs(now[i]));
    for (size_t i = 0; i < size; i++) assert_near(now[i] - c->base[i], sum[i], 1e-8 * most + 1e-13 * c->scale);
    most = 0;
    for (int32_t i = 0; i < c->n; i++) most = fmax(most, tl_norm3(push[i]));
    for (int32_t i = 0; i < c->n; i++) assert_near(tl_norm3(tl_sub3(push[i], c->push[i])), 0, 1e-8 * most);
    free(sum), free(push);
}

// The contacts foreseen are the pairs wanted, and then those that turn.
static void check_foreseen(const course *c, tally *t)
{
    const tl_contacts *k = c->w.contacts;
    int32_t at = k->set.active_count;
    for (int32_t i = 0; i < k->cache.count; i++) {
        if (!c->wanted[i]) continue;
        assert_true(at < k->set.active_count + k->set.approaching_count &&
                    is_same(&k->set.contact[at].pair, &k->cache.pair[i]));
        for (int n = 0; n < pair_nodes(&k->cache.pair[i]); n++)
            t->fixed += k->cache.pair[i].node[n] < c->n && c->w.fixed[k->cache.pair[i].node[n]];
        t->came[k->cache.pair[i].kind]++,
            t->with_body += k->cache.pair[i].kind != PAIR_PLANE && k->cache.pair[i].body >= 0;
        at++;
    }
    assert_int_equal(at, k->set.active_count + k->set.approaching_count);
    for (int32_t i = 0; i < k->set.active_count; i++) {
        if (!c->turned[i]) continue;
        assert_true(at < k->set.count && is_same(&k->set.contact[at].pair, &k->set.contact[i].pair));
        at++, t->turned++;
    }
    assert_int_equal(at, tl_contacts_count(k));
}

static void assemble(course *c)
{
    memset(c->matrix->value, 0, (size_t)c->matrix->block_count * sizeof *c->matrix->value);
    memset(c->base, 0, (size_t)(9 * c->n * c->n) * sizeof *c->base);
    memset(c->turned, 0, sizeof c->turned);
    gradient_at(&c->w, c->x, c->matrix, c->gradient);
    assert_true(c->w.contacts->set.active_count < TURNED_MOST);
    add_dense(c->matrix, c->n, c->base);
    add_dense(blocks_of(&c->w, NULL), c->n, c->base);
}

// At the present x, after a search from there. Returns how many pairs are expected.
static int expect(course *c, tally *t)
{
    tl_error err;
    const tl_contacts *k = c->w.contacts;
    const tl_vec3 mark = {1, 2, 3};
    int32_t count = 0, listed = 0;
    memset(c->wanted, 0, (size_t)k->cache.count);
    for (int32_t i = 0; i < k->cache.count; i++) {
        const seen s = look_at(&c->w, c->x, i);
        if (!has(&c->noted, &s.pair)) continue;
        c->wanted[i] = may_come(&c->w, c->x, &s), count += c->wanted[i], listed++;
        t->too_far += s.distance >= REACH * s.pair.thickness && s.soft > 0;
        t->parallel += s.distance >= s.pair.thickness && s.soft <= 0;
    }
    t->out_of_list += c->noted.count - listed, t->expected += count;
    bool any;
    for (int32_t i = 0; i < c->n; i++) c->push[i] = mark;
    assert_ok(
        tl_contacts_predict_expected(c->w.contacts, c->matrix, c->push, &(tl_ctx){&c->w.arena, NULL}, &any, &err));
    assert_int_equal(any, count > 0);
    for (int32_t i = 0; i < c->n && !any; i++) {
        assert_memory_equal(&c->push[i], &mark, sizeof mark);  // nothing is foreseen, nothing is touched
        c->push[i] = (tl_vec3){0, 0, 0};
    }
    check_foreseen(c, t);
    check_system(c, t);
    return count;
}

// Contacts that would come to rest, or slide back: from now on they are bounded by a parabola. Returns how many more.
static int32_t turn(course *c)
{
    const tl_contacts *k = c->w.contacts;
    const double e = 1e-2 / 200;  // slip speed over gamma
    int32_t more = 0;
    for (int32_t i = 0; i < k->set.active_count; i++) {
        const contact *ct = &k->set.contact[i];
        const double y = tl_norm3(ct->sliding);
        double along = y;  // how far it will have slid the way it did
        for (int n = 0; n < pair_nodes(&ct->pair); n++) {
            const int32_t node = ct->pair.node[n];
            if (node < c->n && !c->w.fixed[node]) along += ct->weight[n] * tl_dot3(c->u[node], ct->sliding) / y;
        }
        if (c->turned[i] || !(ct->friction_excess > 0) || !(along < (y > e ? e : -0.5 * e))) continue;
        c->turned[i] = true, more++;
    }
    return more;
}

// A look ahead at c->u, with pairs as they are. Returns how many pairs come near.
static int foresee(course *c, tally *t)
{
    tl_error err;
    const tl_contacts *k = c->w.contacts;
    int32_t count = 0;
    bool same = true, changed;
    for (int32_t i = 0; i < k->cache.count; i++) {
        const seen s = look_at(&c->w, c->x, i);
        c->wanted[i] = may_come(&c->w, c->x, &s) && gap_after(&c->w, c->x, c->u, &s) < s.pair.thickness;
        t->parallel +=
            s.soft <= 0 && s.distance >= s.pair.thickness && gap_after(&c->w, c->x, c->u, &s) < s.pair.thickness;
        if (!c->wanted[i]) continue;
        same = same && count < k->set.approaching_count &&
               is_same(&k->set.contact[k->set.active_count + count].pair, &k->cache.pair[i]);
        count++;
    }
    same = same && count == k->set.approaching_count;
    const bool turns = turn(c) > 0;
    t->only_turned += same && turns;
    same = same && !turns;
    c->w.contacts->policy.barrier.predict_part = 1;  // however many come and go: that is the next iteration's
    assert_ok(tl_contacts_predict(c->w.contacts, c->x, c->u, c->matrix, c->push, &(tl_ctx){&c->w.arena, NULL}, &changed,
                                  &err));
    t->let_go += !changed && !same;
    c->w.contacts->policy.barrier.predict_part = 0;
    if (!changed)
        assert_ok(tl_contacts_predict(c->w.contacts, c->x, c->u, c->matrix, c->push, &(tl_ctx){&c->w.arena, NULL},
                                      &changed, &err));
    assert_int_equal(changed, !same);
    t->changes += changed;
    check_foreseen(c, t);
    check_system(c, t);
    return count;
}

// ---- worlds ----

/// The upper sheet is lifted more and more from one side to the other, the lower one by less; some nodes go aside, and
/// edges turn.
static tl_vec3 lifted(const world *w, tl_vec3 x, int32_t i)
{
    const double rise = fmax(x.x - 0.06, 0) * (i >= w->split ? 5 : 2);
    return tl_add3(x, (tl_vec3){i % 5 ? 0 : 0.3 * rise, rise, 0});
}

static void crowded_course(uint64_t seed, course *c)
{
    world w;
    const bool moves = seed % 3 == 0;
    crowded_sheets(&(world){.friction = seed % 2 ? 0.4 : 0, .moves = {moves}}, 4, seed, &w);
    for (int i = 0; i < 4 && moves; i++) w.body_end[i].y += 0.03;
    for (int32_t i = 0; i < w.cloth.nodes && seed % 4 > 1; i++) w.mass[i] = 1e-8;  // contacts are hard
    open_course(&w, c);
}

// Edges that are exactly parallel never press.
static void parallel_course(course *c)
{
    world w = {.thickness = 0.039, .cloth = start_of(PARALLEL, 0.02, 0), .split = 4};
    open_world(&w);
    open_course(&w, c);
}

// ---- tests ----

// All back to where they started, or a part of that.
static void aim_back(course *c, double part)
{
    for (int32_t i = 0; i < c->n; i++) c->u[i] = tl_mul3(part, tl_sub3(c->start[i], c->x[i]));
}

// Everything twice as large, seen from within the tetrahedron: no gap becomes smaller, that to a convex body neither.
static void aim_apart(course *c)
{
    const tl_vec3 middle = {0.09, -0.15, 0.09};
    for (int32_t i = 0; i < c->n; i++) c->u[i] = tl_sub3(c->x[i], middle);
}

// From a start at which pairs press to where many do not, and half of the way back; a solve at each, with looks ahead.
static void run_course(course *c, uint64_t seed, tally *t)
{
    tl_error err;
    memset(c->u, 0, (size_t)c->n * sizeof *c->u);
    search(c);
    assert_ok(tl_contacts_note_start(c->w.contacts, &err));
    note(&c->w, c->x, NULL, &c->noted);
    assert_true(c->noted.count > 0);
    for (int iteration = 0; iteration < 3; iteration++) {
        for (int32_t i = 0; i < c->n; i++) {
            const tl_vec3 high = lifted(&c->w, c->start[i], i);
            c->x[i] = tl_madd3(high, 0.3 * iteration, tl_sub3(c->start[i], high));
        }
        if (seed % 2 && iteration == 1)
            memset(c->u, 0, (size_t)c->n * sizeof *c->u);  // pairs that pressed are not even in the lists
        else
            aim_back(c, 1);
        search(c);
        assemble(c);
        assert_true(expect(c, t) > 0 || (seed % 2 && iteration == 1));
        aim_back(c, 1);
        search(c);
        for (uint64_t round = 0; round < 5; round++) {
            const double size = round < 4 ? 2e-5 * (double)(1 + round) : 0.1;  // the slip distance is 5e-5
            for (int32_t i = 0; i < c->n; i++) c->u[i] = tl_mul3(size, noise3(seed, 50 + round, (uint64_t)i));
            foresee(c, t);
        }
        aim_back(c, 1);
        assert_true(foresee(c, t) > 0);
        aim_apart(c);
        assert_int_equal(foresee(c, t), 0);
        aim_back(c, 0.95);
        assert_true(foresee(c, t) > 0);
        const int changes = t->changes;
        foresee(c, t);
        assert_int_equal(t->changes, changes);  // the same again
        note(&c->w, c->x, c->wanted, &c->noted);
    }
    for (int i = 0; i < 10; i++) {  // a thousand times as far apart
        aim_apart(c);
        for (int32_t k = 0; k < c->n; k++) c->x[k] = tl_add3(c->x[k], c->u[k]);
    }
    aim_back(c, 1);
    search(c);
    assemble(c);
    assert_int_equal(expect(c, t), 0);
}

static void foreseen_are_those_that_come_and_those_that_pressed(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 0; seed < 14; seed++) {
        course *c = calloc(1, sizeof *c);
        if (seed < 8)
            crowded_course(seed, c);
        else
            parallel_course(c);
        run_course(c, seed, &t);
        close_course(c);
        free(c);
    }
    print_message("%d pairs expected; of those that pressed %d were too far and %d out of the lists; %d parallel edges "
                  "left out\n",
                  t.expected, t.too_far, t.out_of_list, t.parallel);
    print_message("%d, %d and %d contacts foreseen, %d with the body, %d hard, %d nodes fixed; %d turned; %d changes, "
                  "%d for turning alone\n",
                  t.came[0], t.came[1], t.came[2], t.with_body, t.hard, t.fixed, t.turned, t.changes, t.only_turned);
    assert_true(t.expected > 1000 && t.too_far > 100 && t.out_of_list > 100 && t.parallel > 0);
    assert_true(t.came[PAIR_VF] > 1000 && t.came[PAIR_EE] > 1000 && t.came[PAIR_PLANE] > 100 && t.with_body > 100);
    assert_true(t.hard > 100 && t.fixed > 100 && t.turned > 100 && t.only_turned > 0 && t.let_go > 0);
}

// A triangle above a plane, one corner after the other comes down: as many contacts, and not the same.
static void one_for_another_is_a_change(void **state)
{
    (void)state;
    tally t = {0};
    world w = {.thickness = 0.03, .body_count = 1, .is_plane = {true}, .cloth = make_surface(3, 1), .split = 3};
    for (int k = 0; k < 3; k++) w.cloth.face[0][k] = k, w.cloth.x[k] = (tl_vec3){k == 1, 0.05, k == 2};
    for (int end = 0; end < 2; end++) w.plane[end][1] = (tl_vec3){0, 1, 0};
    close_surface(&w.cloth);
    open_world(&w);
    course *c = calloc(1, sizeof *c);
    open_course(&w, c);
    for (int k = 0; k < 3; k++) c->u[k] = (tl_vec3){0, -0.04, 0};
    search(c);
    assemble(c);
    for (int round = 0; round < 6; round++) {
        for (int k = 0; k < 3; k++) c->u[k] = (tl_vec3){0, k == round / 2 ? -0.04 : 0, 0};
        assert_int_equal(foresee(c, &t), 1);
        assert_int_equal(t.changes, 1 + round / 2);
    }
    close_course(c);
    free(c);
}

// Without a note, or if nothing pressed where it was made, nothing is expected, however much is near.
static void nothing_is_expected_where_nothing_pressed(void **state)
{
    (void)state;
    for (int with_note = 0; with_note < 2; with_note++) {
        tally t = {0};
        tl_error err;
        course *c = calloc(1, sizeof *c);
        crowded_course(1, c);
        if (with_note) {
            for (int32_t i = 0; i < c->n; i++) c->x[i].y += i >= c->w.split ? 0.2 : 0.1;
            aim_back(c, 1);
            // neighbours in one sheet press on each other where it is shaken: laid out flat they do not
            for (int32_t i = 0; i < c->n; i++)
                c->x[i] = (tl_vec3){c->w.uv[i].x, c->x[i].y - c->start[i].y + 0.05, c->w.uv[i].y};
            search(c);
            assert_ok(tl_contacts_note_start(c->w.contacts, &err));
            note(&c->w, c->x, NULL, &c->noted);
            assert_int_equal(c->noted.count, 0);
        }
        for (int32_t i = 0; i < c->n; i++) c->x[i] = lifted(&c->w, c->start[i], i);
        aim_back(c, 1);
        search(c);
        assemble(c);
        assert_true(c->w.contacts->set.active_count > 0 &&
                    c->w.contacts->cache.count > c->w.contacts->set.active_count);
        assert_int_equal(expect(c, &t), 0);
        close_course(c);
        free(c);
    }
}

// ---- threads ----

/// Numbers one after the other.
typedef struct trace {
    double *value;
    size_t count, cap;
} trace;

static void write_down(trace *t, const double *value, size_t count)
{
    if (t->count + count > t->cap)
        t->cap = 2 * (t->count + count), t->value = realloc(t->value, t->cap * sizeof *value);
    memcpy(t->value + t->count, value, count * sizeof *value);
    t->count += count;
}

static void write_system(world *w, tl_workers *workers, const tl_bsr *matrix, const tl_vec3 *push, trace *t)
{
    const tl_contacts *c = w->contacts;
    const tl_bsr *blocks = blocks_of(w, workers);
    write_down(t, &matrix->value[0][0], 9 * (size_t)matrix->block_count);
    write_down(t, &blocks->value[0][0], 9 * (size_t)blocks->block_count);
    write_down(t, &push[0].x, 3 * (size_t)c->node_count);
    for (int32_t i = c->set.active_count; i < c->set.count; i++) {
        const contact *ct = &c->set.contact[i];
        const double node[4] = {ct->pair.node[0], ct->pair.node[1], ct->pair.node[2], ct->pair.node[3]};
        write_down(t, node, 4), write_down(t, ct->stiff, 6), write_down(t, &ct->force.x, 3),
            write_down(t, ct->weight, 4);
    }
}

// Two solves with looks ahead in a world that is large enough for several chunks of everything.
static void run_with(tl_workers *workers, trace *t)
{
    tl_error err;
    world w;
    const tl_allocator alloc = tl_allocator_default();
    crowded_sheets(&(world){.friction = 0.4}, 12, 5, &w);
    const int32_t n = w.cloth.nodes;
    tl_contacts *c = w.contacts;
    tl_vec3 *x = calloc((size_t)(4 * n), sizeof *x), *u = x + n, *gradient = u + n, *push = gradient + n;
    assert_ok(tl_contacts_search(c, w.cloth.x, u, &(tl_ctx){&w.arena, workers}, &err));
    assert_ok(tl_contacts_note_start(c, &err));
    int32_t most = 0;
    for (int iteration = 0; iteration < 2; iteration++) {
        tl_bsr *matrix = matrix_of(&w.cloth);
        for (int32_t i = 0; i < n; i++)
            x[i] = lifted(&w, w.cloth.x[i], i), u[i] = tl_mul3(iteration ? 0.5 : 1, tl_sub3(w.cloth.x[i], x[i]));
        assert_ok(tl_contacts_search(c, x, u, &(tl_ctx){&w.arena, workers}, &err));
        assert_ok(tl_contacts_assemble(c, x, matrix, gradient, &(tl_ctx){&w.arena, workers}, &err));
        bool any, changed;
        assert_ok(tl_contacts_predict_expected(c, matrix, push, &(tl_ctx){&w.arena, workers}, &any, &err));
        assert_true(any);
        write_system(&w, workers, matrix, push, t);
        for (int round = 0; round < 2; round++) {
            for (int32_t i = 0; i < n && round; i++) u[i] = tl_mul3(0.1, noise3(1, 50, (uint64_t)i));
            assert_ok(tl_contacts_predict(c, x, u, matrix, push, &(tl_ctx){&w.arena, workers}, &changed, &err));
            assert_true(changed);
            most = c->set.approaching_count > most ? c->set.approaching_count : most;
            write_system(&w, workers, matrix, push, t);
        }
        tl_bsr_destroy(&alloc, matrix);
    }
    assert_true(n > 256 && c->set.active_count > 1024 && most > 2048);  // chunks are of 256 nodes and 512 or 1024 pairs
    free(x);
    close_world(&w);
}

static void same_bits_with_any_number_of_threads(void **state)
{
    (void)state;
    trace t[4] = {{0}};
    for (int threads = 0; threads < 4; threads++) {
        tl_error err;
        const tl_allocator alloc = tl_allocator_default();
        tl_workers *workers = NULL;
        if (threads > 0) assert_ok(tl_workers_create(&alloc, threads, &workers, &err));
        run_with(workers, &t[threads]);
        tl_workers_destroy(workers);
        assert_int_equal(t[threads].count, t[0].count);
        assert_memory_equal(t[threads].value, t[0].value, t[0].count * sizeof *t[0].value);
    }
    for (int threads = 0; threads < 4; threads++) free(t[threads].value);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreseen_are_those_that_come_and_those_that_pressed),
        cmocka_unit_test(one_for_another_is_a_change),
        cmocka_unit_test(nothing_is_expected_where_nothing_pressed),
        cmocka_unit_test(same_bits_with_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
