// Searches that follow each other: what they take over from the one before loses no pair, compared with all pairs one
// by one, with a search from scratch, and with a filter that knows nothing.

#include "contact_world.h"
#include "respond/pairs/pairs.h"

#include "detect/distance.h"

static bool has_pair(const tl_contacts *c, pair_kind kind, const int32_t node[4])
{
    for (int32_t i = 0; i < c->cache.count; i++)
        if (c->cache.pair[i].kind == kind && memcmp(c->cache.pair[i].node, node, sizeof c->cache.pair[i].node) == 0)
            return true;
    return false;
}

static bool comes_near(const tl_vec3 *x, const tl_vec3 *u, const int32_t node[4], pair_kind kind, double reach)
{
    enum { TIMES = 8 };
    for (int k = 0; k <= TIMES; k++) {
        tl_vec3 at[4];
        for (int i = 0; i < 4; i++) at[i] = tl_madd3(x[node[i]], (double)k / TIMES, u[node[i]]);
        if ((kind == PAIR_VF ? tl_nearest_vertex_face(at) : tl_nearest_edge_edge(at)).distance <= reach) return true;
    }
    return false;
}

// All pairs of the cloth that share no node, one by one.
static int check_pairs(const world *w, const tl_vec3 *x, const tl_vec3 *u)
{
    const tl_contacts *c = w->contacts;
    const double reach = 0.999 * (w->thickness + 2 * c->skin);
    int near = 0;
    for (int32_t v = 0; v < w->cloth.nodes; v++)
        for (int32_t f = 0; f < w->cloth.faces; f++) {
            const int32_t *k = w->cloth.face[f], node[4] = {v, k[0], k[1], k[2]};
            if (v == k[0] || v == k[1] || v == k[2] || !comes_near(x, u, node, PAIR_VF, reach)) continue;
            assert_true(has_pair(c, PAIR_VF, node));
            near++;
        }
    for (int32_t a = 0; a < w->cloth.edges; a++)
        for (int32_t b = a + 1; b < w->cloth.edges; b++) {
            const int32_t *p = w->cloth.edge[a], *q = w->cloth.edge[b], node[4] = {p[0], p[1], q[0], q[1]};
            if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1] || !comes_near(x, u, node, PAIR_EE, reach))
                continue;
            assert_true(has_pair(c, PAIR_EE, node));
            near++;
        }
    return near;
}

// Moves of any size, again and again: what a search may take over from the one before is for it to know.
static void no_pair_is_lost(void **state)
{
    (void)state;
    int near = 0, searches = 0, moves = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w = {.thickness = 4e-3,
                   .cloth = start_of(seed % 3 == 0   ? SOUP
                                     : seed % 3 == 1 ? FOLDS
                                                     : LAYERS,
                                     2e-3, seed)};
        w.split = w.cloth.nodes / 2;
        const tl_vec3 far = tl_mul3(seed % 4 == 3 ? 300 : 0, noise3(seed, 20, 0));  // rounding in single precision
        for (int32_t i = 0; i < w.cloth.nodes; i++) w.cloth.x[i] = tl_add3(w.cloth.x[i], far);
        open_world(&w);
        tl_error err;
        tl_vec3 *x = w.cloth.x, *u = calloc((size_t)w.cloth.nodes, sizeof *u);
        for (int step = 0; step < 3; step++) {
            begin_step(&w);
            for (int round = 0; round < 6; round++, moves++) {
                const double size = w.contacts->skin * (round == 0 ? 20 : step == 0 ? 0.3 : step == 1 ? 1 : 4);
                for (int32_t i = 0; i < w.cloth.nodes; i++)
                    u[i] = tl_mul3(size, noise3(seed, 30 + (uint64_t)(6 * step + round), (uint64_t)i));
                assert_ok(tl_contacts_search(w.contacts, x, u, &(tl_ctx){&w.arena, NULL}, &err));
                near += check_pairs(&w, x, u);
                for (int32_t i = 0; i < w.cloth.nodes; i++) x[i] = tl_add3(x[i], u[i]);
            }
            searches += w.contacts->report.searches;
        }
        free(u);
        close_world(&w);
    }
    print_message("%d pairs come near in %d moves, %d searches\n", near, moves, searches);
    assert_true(near > 1000);
    assert_true(searches < moves);  // else nothing was taken over
}

// Whatever a search from scratch finds and does come near. (It bounds motion from above, and lists of ways that have
// ended do better; others may be kept that were near on a way before.)
static int check_against_all(const tl_contacts *some, const tl_contacts *all)
{
    int near = 0;
    for (int32_t i = 0; i < all->cache.count; i++) {
        const pair *p = &all->cache.pair[i];
        if (p->kind != PAIR_PLANE &&
            !comes_near(all->motion.pos, all->motion.disp, p->node, p->kind, 0.999 * (p->thickness + 2 * all->skin)))
            continue;
        assert_true(has_pair(some, p->kind, p->node));
        near++;
    }
    return near;
}

// All pairs with body 0, which is no plane, as the last search was told.
static int check_body_pairs(const world *w)
{
    const tl_contacts *c = w->contacts;
    const surface *own = &w->cloth, *body = &w->body[0];
    const double reach = 0.999 * (0.5 * w->thickness + c->bodies[0].thickness + 2 * c->skin);
    const int32_t n = own->nodes;
    int near = 0;
    for (int side = 0; side < 2; side++) {  // nodes of the cloth with faces of the body, and the other way round
        const surface *p = side ? body : own, *q = side ? own : body;
        for (int32_t v = 0; v < p->nodes; v++)
            for (int32_t f = 0; f < q->faces; f++) {
                const int32_t *k = q->face[f], off = side ? 0 : n,
                              node[4] = {v + n - off, k[0] + off, k[1] + off, k[2] + off};
                if (!comes_near(c->motion.pos, c->motion.disp, node, PAIR_VF, reach)) continue;
                assert_true(has_pair(c, PAIR_VF, node));
                near++;
            }
    }
    for (int32_t a = 0; a < own->edges; a++)
        for (int32_t b = 0; b < body->edges; b++) {
            const int32_t node[4] = {own->edge[a][0], own->edge[a][1], body->edge[b][0] + n, body->edge[b][1] + n};
            if (!comes_near(c->motion.pos, c->motion.disp, node, PAIR_EE, reach)) continue;
            assert_true(has_pair(c, PAIR_EE, node));
            near++;
        }
    return near;
}

/// The arrays beside all lists, one after the other.
static int32_t far_arrays(tl_contacts *c, float *out[5], int32_t count[5])
{
    const tl_pairs *own = &c->cache.lists, *body = &c->bodies[0].found;
    float *far[5] = {c->cache.bound.vf, c->cache.bound.ee, c->bodies[0].bounds.vf, c->bodies[0].bounds.fv,
                     c->bodies[0].bounds.ee};
    const int32_t n[5] = {own->vf_count, own->ee_count, body->vf_count, body->fv_count, body->ee_count};
    memcpy(out, far, sizeof far), memcpy(count, n, sizeof n);
    return n[0] + n[1] + n[2] + n[3] + n[4];
}

// Whatever was known, pairs are those of a filter that knows nothing, to the last bit. What is known stays known.
// Returns of how many items it was known that they are too far apart.
static int check_filter(world *w)
{
    tl_contacts *c = w->contacts;
    tl_error err;
    const int32_t n = c->cache.count;
    pair *pairs = malloc((size_t)(n + 1) * sizeof *pairs);
    proximity *near = malloc((size_t)(n + 1) * sizeof *near);
    float *soft = malloc((size_t)(n + 1) * sizeof *soft), *far[5];
    memcpy(pairs, c->cache.pair, (size_t)n * sizeof *pairs);
    memcpy(near, c->cache.near, (size_t)n * sizeof *near);
    memcpy(soft, c->cache.fade, (size_t)n * sizeof *soft);
    int32_t count[5], known = 0, at = 0;
    float *saved = malloc((size_t)(far_arrays(c, far, count) + 1) * sizeof *saved);
    for (int k = 0; k < 5; k++)
        for (int32_t i = 0; i < count[k]; i++) known += far[k][i] > 0, saved[at++] = far[k][i];
    c->cache.complete = c->cache.filter_valid = false;
    assert_ok(contact_filter(c, &(tl_ctx){&w->arena, NULL}, &err));
    assert_int_equal(c->cache.count, n);
    assert_memory_equal(c->cache.pair, pairs, (size_t)n * sizeof *pairs);
    assert_memory_equal(c->cache.near, near, (size_t)n * sizeof *near);
    assert_memory_equal(c->cache.fade, soft, (size_t)n * sizeof *soft);
    at = 0;
    for (int k = 0; k < 5; k++)
        for (int32_t i = 0; i < count[k]; i++) far[k][i] = saved[at++];
    free(pairs), free(near), free(soft), free(saved);
    return known;
}

// Lists hold nothing that cannot come near.
static int check_lists(const tl_contacts *c, double thickness)
{
    int count = 0;
    for (int kind = 0; kind < 2; kind++)
        for (int32_t i = 0; i < (kind ? c->cache.lists.ee_count : c->cache.lists.vf_count); i++, count++) {
            const tl_pair p = kind ? c->cache.lists.ee[i] : c->cache.lists.vf[i];
            const int32_t *a = kind ? c->cloth.edge[p.a] : &p.a, *b = kind ? c->cloth.edge[p.b] : c->cloth.face[p.b];
            const int32_t first = kind ? 2 : 1;
            tl_vec3 at[4], most = {0, 0, 0};
            for (int k = 0; k < 4; k++) at[k] = c->cache.list_pos[k < first ? a[k] : b[k - first]];
            for (int32_t k = 0; k < first; k++)
                for (int32_t j = 0; j < 4 - first; j++) {
                    const tl_vec3 d = tl_sub3(c->cache.list_disp[a[k]], c->cache.list_disp[b[j]]);
                    most = (tl_vec3){fmax(most.x, fabs(d.x)), fmax(most.y, fabs(d.y)), fmax(most.z, fabs(d.z))};
                }
            const double distance = (kind ? tl_nearest_edge_edge(at) : tl_nearest_vertex_face(at)).distance;
            assert_true(distance <= 1e-12 + thickness + 2 * c->skin + 2 * c->cache.slack + tl_norm3(most));
        }
    return count;
}

/// Two worlds with a body on the move: the first searches as it likes, the second always from scratch.
static void open_twins(world w[2], uint64_t seed)
{
    for (int k = 0; k < 2; k++) {
        w[k] = (world){.thickness = 4e-3,
                       .cloth = start_of(seed % 3 == 0   ? SOUP
                                         : seed % 3 == 1 ? FOLDS
                                                         : LAYERS,
                                         2e-3, seed)};
        w[k].split = w[k].cloth.nodes / 2;
        add_bodies(&w[k], seed);
        w[k].moves[0] = seed % 2;
        for (int i = 0; i < 4; i++) w[k].body[0].x[i].y += 0.2;
        open_world(&w[k]);
        for (int i = 0; i < 4 && w[k].moves[0]; i++) w[k].body_end[i].y += 0.1;
        begin_step(&w[k]);
        w[k].contacts->cache.next_slack = 5e-4;
    }
}

// The next step begins where nodes and bodies are.
static void go_on(world w[2], const tl_vec3 *x)
{
    for (int k = 0; k < 2; k++) {
        memcpy(w[k].cloth.x, x, (size_t)w[k].cloth.nodes * sizeof *x);
        for (int i = 0; i < 4 && w[k].moves[0]; i++) w[k].body_begin[i] = w[k].body_end[i], w[k].body_end[i].y -= 0.04;
        begin_step(&w[k]);
        w[k].contacts->cache.next_slack = 5e-4;
    }
}

static void search_twins(world w[2], const tl_vec3 *x, const tl_vec3 *u, double body_part)
{
    tl_error err;
    w[1].contacts->cache.list_progress = -1, w[1].contacts->cache.complete = false;
    for (int k = 0; k < 2; k++)
        assert_ok(contact_search(w[k].contacts, x, u, body_part, &(tl_ctx){&w[k].arena, NULL}, &err));
}

// As when a few nodes go on while others rest, are cut short, or take part of their way; bodies arrive little by
// little.
static void a_few_nodes_lose_no_pair(void **state)
{
    (void)state;
    int found = 0, near = 0, with_body = 0, known = 0, items = 0;
    int64_t tests[2] = {0};
    for (uint64_t seed = 0; seed < 24; seed++) {
        world w[2];
        open_twins(w, seed);
        const int32_t n = w[0].cloth.nodes;
        tl_vec3 *x = calloc((size_t)n, sizeof *x), *u = calloc((size_t)n, sizeof *u);
        memcpy(x, w[0].cloth.x, (size_t)n * sizeof *x);
        for (uint64_t round = 0; round < 20; round++) {
            if (round == 8 || round >= 16) go_on(w, x);
            for (int32_t i = 0; i < n; i++) {
                const bool goes = round % 16 == 0 || round == 11 || tl_random(seed, 60 + round, (uint64_t)i) < 0.1;
                if (round == 4)
                    u[i] = tl_mul3(i % 2 ? 0 : 0.4, u[i]);  // some go on, some rest
                else if (round == 12)
                    u[i] = tl_mul3(i % 2 ? 0.7 : 0.1, u[i]);  // the rest of their ways
                else if (round % 4 != 2)
                    u[i] = tl_mul3(goes ? 0.01 : 0, noise3(seed, 40 + round, (uint64_t)i));
                else if (goes)
                    u[i] = tl_mul3(0.3, u[i]);  // the same start, some ways cut short
            }
            search_twins(w, x, u, round == 3 ? 0.5 : 1);
            found += check_against_all(w[0].contacts, w[1].contacts);
            known += check_filter(&w[0]), items += check_lists(w[1].contacts, w[1].thickness);
            for (int k = 0; k < 2; k++)
                tests[k] += w[k].contacts->report.volume_tests, w[k].contacts->report.volume_tests = 0;
            if (round % 5 == 1) near += check_pairs(&w[0], x, u);
            with_body += check_body_pairs(&w[0]);
            if (round % 4 == 1) continue;
            for (int32_t i = 0; i < n; i++) x[i] = tl_madd3(x[i], round != 11 ? 1 : i % 2 ? 0.3 : 0.9, u[i]);
            for (int k = 0; k < 2; k++)
                w[k].contacts->motion.allowed = round < 3 || round == 8 ? 0.3 : 1,
                tl_contacts_move_bodies(w[k].contacts, 1);
            if (round != 12) continue;
            tl_error err;  // moves within the skin need no search: distances are known then, but not of all pairs
            assert_ok(tl_contacts_settle(w[0].contacts, x, NULL, &err));
            for (int32_t i = 0; i < n; i++)
                x[i] = tl_madd3(x[i], 0.5 * w[0].contacts->skin, noise3(seed, 80, (uint64_t)i));
            contact_set_positions(w[0].contacts, x, 0);
            contact_measure(w[0].contacts, NULL);
        }
        free(x), free(u);
        close_world(&w[0]), close_world(&w[1]);
    }
    print_message("%d pairs, %d near, %d with the body; %lld tests of volumes, %lld from scratch; %d of %d items of "
                  "lists known to be too far\n",
                  found, near, with_body, (long long)tests[0], (long long)tests[1], known, items);
    assert_true(found > 1000 && near > 100 && with_body > 100 && known > 1000);
    assert_true(10 * tests[0] < 9 * tests[1]);  // the meshes are small
}

// Ways that change little by little, some moves, a settling now and then: filters rely on what the ones before saw.
static void a_filter_that_knows_finds_the_same(void **state)
{
    (void)state;
    int known = 0, changes = 0, searches = 0;
    for (uint64_t seed = 0; seed < 24; seed++) {
        world w[2];
        open_twins(w, seed);
        tl_contacts *c = w[0].contacts;
        tl_error err;
        const int32_t n = w[0].cloth.nodes;
        tl_vec3 *x = w[0].cloth.x, *u = calloc((size_t)n, sizeof *u);
        c->cache.next_slack = 4e-3;
        const double size = c->skin * (seed % 4 == 0 ? 0.1 : seed % 4 == 1 ? 0.5 : seed % 4 == 2 ? 2 : 5);
        for (uint64_t round = 0; round < 40; round++) {
            for (int32_t i = 0; i < n && round % 6 != 4; i++)
                if (round % 8 != 7 || tl_random(seed, 90 + round, (uint64_t)i) < 0.2)
                    u[i] = tl_madd3(u[i], size, noise3(seed, 90 + round, (uint64_t)i));
            const int32_t before = c->cache.count;
            assert_ok(contact_search(c, x, u, 1, &(tl_ctx){&w[0].arena, NULL}, &err));
            known += check_filter(&w[0]);
            changes += c->cache.count != before;
            if (round % 3 == 1 || round % 6 == 0) continue;
            for (int32_t i = 0; i < n; i++) {
                if (round % 6 == 3)
                    x[i] = tl_madd3(x[i], size, noise3(seed, 190 + round, (uint64_t)i));  // and the ways stay
                else
                    x[i] = tl_madd3(x[i], 0.5, u[i]), u[i] = tl_mul3(0.3, u[i]);
            }
            c->motion.allowed = round < 12 ? 0.3 : 1, tl_contacts_move_bodies(c, 1);
            if (round % 6 == 5) assert_ok(tl_contacts_settle(c, x, NULL, &err));
        }
        searches += c->report.searches;
        free(u);
        close_world(&w[0]), close_world(&w[1]);
    }
    print_message("%d items known to be too far, pairs changed %d times, trees asked %d times\n", known, changes,
                  searches);
    assert_true(known > 10000 && changes > 100);
}

static bool share_node(const int32_t *a, int na, const int32_t *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int k = 0; k < nb; k++)
            if (a[i] == b[k]) return true;
    return false;
}

// Where nothing moves, lists are of all pairs that are near enough and of no other: triangles at random, all sizes and
// distances.
static void lists_are_what_is_near(void **state)
{
    (void)state;
    enum { TRIANGLES = 250 };
    int64_t in = 0, all = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        world w = {.thickness = 4e-3, .cloth = make_surface(3 * TRIANGLES, TRIANGLES)};
        for (int32_t f = 0; f < TRIANGLES; f++) {
            const tl_vec3 middle = tl_mul3(seed % 2 ? 0.5 : 5, noise3(seed, 5, (uint64_t)f));
            const double size = exp(2 * noise(seed, 6, (uint64_t)f)) * (seed % 2 ? 0.05 : 0.5) * (seed < 4 ? 1 : 5);
            for (int k = 0; k < 3; k++) {
                w.cloth.face[f][k] = 3 * f + k;
                w.cloth.x[3 * f + k] = tl_madd3(middle, size, noise3(seed, 7, (uint64_t)(3 * f + k)));
            }
        }
        close_surface(&w.cloth);
        w.split = w.cloth.nodes;
        open_world(&w);
        begin_step(&w);
        tl_contacts *c = w.contacts;
        c->cache.next_slack = (seed % 2 ? 0.2 : 2) * (seed < 4 ? 1 : 0.05);
        tl_error err;
        tl_vec3 *u = calloc((size_t)w.cloth.nodes, sizeof *u);
        assert_ok(tl_contacts_search(c, w.cloth.x, u, &(tl_ctx){&w.arena, NULL}, &err));
        const double reach = w.thickness + 2 * c->skin + 2 * c->cache.slack;
        for (int kind = 0; kind < 2; kind++) {
            const tl_pair *items = kind ? c->cache.lists.ee : c->cache.lists.vf;
            const int32_t count = kind ? c->cache.lists.ee_count : c->cache.lists.vf_count, first = kind ? 2 : 1;
            int32_t at = 0;
            for (int32_t a = 0; a < (kind ? w.cloth.edges : w.cloth.nodes); a++)
                for (int32_t b = kind ? a + 1 : 0; b < (kind ? w.cloth.edges : w.cloth.faces); b++) {
                    const int32_t *p = kind ? w.cloth.edge[a] : &a, *q = kind ? w.cloth.edge[b] : w.cloth.face[b];
                    if (share_node(p, first, q, 4 - first)) continue;
                    tl_vec3 x[4];
                    for (int k = 0; k < 4; k++) x[k] = w.cloth.x[k < first ? p[k] : q[k - first]];
                    const double distance = (kind ? tl_nearest_edge_edge(x) : tl_nearest_vertex_face(x)).distance;
                    const bool listed = at < count && items[at].a == a && items[at].b == b;
                    all++, at += listed, in += listed;
                    if (fabs(distance - reach) > 1e-12) assert_int_equal(listed, distance <= reach);
                }
            assert_int_equal(at, count);
        }
        free(u);
        close_world(&w);
    }
    print_message("%lld of %lld pairs listed\n", (long long)in, (long long)all);
    assert_true(20 * in > all && 2 * in < all);
}

int main(int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_is_lost),
        cmocka_unit_test(a_few_nodes_lose_no_pair),
        cmocka_unit_test(a_filter_that_knows_finds_the_same),
        cmocka_unit_test(lists_are_what_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
