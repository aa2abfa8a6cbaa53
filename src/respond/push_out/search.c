// respond/push_out/search.c: who is in which structure, and asking all of them.

#include "respond/push_out/search.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "detect/distance.h"
#include "respond/push_out/search_impl.h"

enum { FEWEST = 8 };  // faces that are worth a cylinder

tl_search_def tl_search_def_default(void)
{
    return (tl_search_def){.dominance = 0.98, .reach = 0.034, .stack = 0.02, .slices = 32, .cells = 32};
}

// ---- making ---------------------------------------------------------------------------------------------------

// One bone if all three nodes belong to it, else the two that weigh most in the face, the lower one first.
static void bones_of(const tl_search_def *def, int32_t f, int32_t out[2])
{
    const int32_t *v = def->face[f];
    out[0] = out[1] = -1;
    if (!def->bone) return;
    const int32_t first = def->bone[v[0]][0];
    bool one = first >= 0;
    int32_t bone[6];
    int votes[6], n = 0;
    for (int k = 0; k < 3; k++) {
        one = one && def->bone[v[k]][0] == first && def->weight[v[k]] >= def->dominance;
        for (int j = 0; j < 2; j++) {
            int i = 0;
            while (i < n && bone[i] != def->bone[v[k]][j]) i++;
            if (i == n) bone[n] = def->bone[v[k]][j], votes[n++] = 0;
            votes[i] += 2 - j;
        }
    }
    out[0] = out[1] = first;
    if (one) return;
    int best[2] = {-1, -1};
    for (int i = 0; i < n; i++) {
        if (bone[i] < 0) continue;
        if (best[0] < 0 || votes[i] > votes[best[0]])
            best[1] = best[0], best[0] = i;
        else if (best[1] < 0 || votes[i] > votes[best[1]])
            best[1] = i;
    }
    const int32_t a = best[0] < 0 ? -1 : bone[best[0]], b = best[1] < 0 ? a : bone[best[1]];
    out[0] = a < b ? a : b, out[1] = a < b ? b : a;
    if (a == b) out[0] = -1;  // no cylinder
}

static tl_status add_group(tl_search *s, bool rigid, int32_t *list, int32_t count, tl_error *err)
{
    bool fits = false;
    if (rigid && count >= FEWEST) {
        search_cylinder *c = &s->cylinder[s->cylinder_count++];
        TL_TRY(search_cylinder_make(s, list, count, c, &fits, err));
        if (!fits) search_cylinder_free(&s->alloc, c), s->cylinder_count--;
    }
    if (fits) return TL_OK;
    return search_tree_make(s, list, count, &s->tree[s->tree_count++], err);
}

static uint64_t group_key(const int32_t bone[2])
{
    return (uint64_t)((uint32_t)bone[0] + 1u) << 32 | ((uint32_t)bone[1] + 1u);
}

static tl_status make_groups(tl_search *s, tl_key *key, int32_t *list, tl_error *err)
{
    const int32_t n = s->def.face_count;
    int32_t groups = 0;
    for (int32_t f = 0; f < n; f++) {
        int32_t bone[2];
        bones_of(&s->def, f, bone);
        key[f] = (tl_key){group_key(bone), f};
    }
    tl_sort_keys(key, key + n, n);
    for (int32_t i = 0; i < n; i++) list[i] = key[i].id, groups += i == 0 || key[i].key != key[i - 1].key;
    s->cylinder = TL_CALLOC(&s->alloc, search_cylinder, groups);
    s->tree = TL_CALLOC(&s->alloc, search_tree, groups);
    if (!s->cylinder || !s->tree) return tl_fail_memory(err, "the search of a body");
    s->group_count = groups;
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && key[end].key == key[i].key; end++) {}
        const uint32_t a = (uint32_t)(key[i].key >> 32), b = (uint32_t)key[i].key;
        TL_TRY(add_group(s, a == b && a > 0, list + i, end - i, err));
    }
    return TL_OK;
}

static tl_status fill_in(tl_search *s, tl_error *err)
{
    const int32_t n = s->def.face_count;
    if (s->def.kind == TL_SEARCH_GRID) {
        TL_TRY(search_grid_make(s, &s->grid, &s->has_grid, err));
        if (s->has_grid) return TL_OK;
        s->def.bone = NULL;  // all on a line: a tree holds it
    }
    tl_key *key = TL_ALLOC(&s->alloc, tl_key, 2 * (size_t)n);
    int32_t *list = TL_ALLOC(&s->alloc, int32_t, n);
    const tl_status status = key && list ? make_groups(s, key, list, err) : tl_fail_memory(err, "the search of a body");
    TL_FREE(&s->alloc, key, 2 * (size_t)n);
    TL_FREE(&s->alloc, list, n);
    return status;
}

tl_status tl_search_create(const tl_allocator *alloc, const tl_search_def *def, tl_search **out, tl_error *err)
{
    *out = NULL;
    if (def->face_count < 1 || def->slices < 1 || def->slices > 4096 || def->cells < 1 || def->cells > 512 ||
        !(def->stack > 0) || !(def->reach >= 0))
        return tl_fail(err, TL_BAD_ARG, "search: %d faces, %d slices, %d cells, stacks of %g m, reach %g m",
                       def->face_count, def->slices, def->cells, def->stack, def->reach);
    tl_search *s = TL_CALLOC(alloc, tl_search, 1);
    if (!s) return tl_fail_memory(err, "the search of a body");
    s->alloc = *alloc, s->def = *def;
    const tl_status status = fill_in(s, err);
    s->def.rest = NULL, s->def.bone = NULL, s->def.weight = NULL;  // borrowed for the call
    if (status != TL_OK)
        tl_search_destroy(s);
    else
        *out = s;
    return status;
}

void tl_search_destroy(tl_search *s)
{
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    for (int32_t i = 0; i < s->cylinder_count; i++) search_cylinder_free(&alloc, &s->cylinder[i]);
    for (int32_t i = 0; i < s->tree_count; i++) TL_FREE(&alloc, s->tree[i].sphere, s->tree[i].cap);
    TL_FREE(&alloc, s->cylinder, s->group_count);
    TL_FREE(&alloc, s->tree, s->group_count);
    search_grid_free(&alloc, &s->grid);
    TL_FREE(&alloc, s, 1);
}

void tl_search_fit(tl_search *s, const tl_vec3 *now)
{
    s->now = now;
    for (int32_t i = 0; i < s->cylinder_count; i++) search_part_fit(&s->cylinder[i].part, now);
    for (int32_t i = 0; i < s->tree_count; i++) search_tree_fit(s, &s->tree[i]);
    if (s->has_grid) search_part_fit(&s->grid.part, now);
}

// ---- asking ---------------------------------------------------------------------------------------------------

// As detect/nearest.c takes it, to the bit.
static void try_face(void *self, int32_t f)
{
    search_query *q = self;
    const tl_vec3 *x = q->s->now;
    const int32_t *n = q->s->def.face[f];
    const tl_vec3 a = x[n[0]], p = tl_sub3(q->p, a), e1 = tl_sub3(x[n[1]], a), e2 = tl_sub3(x[n[2]], a);
    double w[3];
    tl_nearest_on_face(p, e1, e2, w);
    const tl_vec3 offset = tl_madd3(tl_madd3(p, -w[1], e1), -w[2], e2);
    const double d2 = tl_dot3(offset, offset);
    if (d2 > q->best2 || (d2 == q->best2 && q->best.face >= 0 && q->best.face < f)) return;
    q->best2 = d2;
    q->best.face = f, q->best.offset = offset;
}

static double left(void *self) { return sqrt(((const search_query *)self)->best2) * (1 + 1e-9); }

static void visit(const tl_search *s, const search_ball *ball)
{
    if (s->has_grid) search_grid_visit(&s->grid, ball);
    for (int32_t i = 0; i < s->cylinder_count; i++) search_cylinder_visit(s, &s->cylinder[i], ball);
    for (int32_t i = 0; i < s->tree_count; i++) search_tree_visit(&s->tree[i], ball);
}

tl_nearest_spot tl_search_nearest(const tl_search *s, tl_vec3 p, double radius, int32_t hint)
{
    search_query q = {s, p, radius * radius, {.face = -1, .distance = (double)INFINITY}};
    if (hint >= 0 && hint < s->def.face_count) try_face(&q, hint);
    const double most = left(&q);
    visit(s, &(search_ball){p, most, try_face, left, &q});
    if (q.best.face >= 0) q.best.distance = sqrt(q.best2);
    return q.best;
}

typedef struct collecting {
    int32_t *faces, count, max;
    double radius;
} collecting;

static void collect(void *self, int32_t f)
{
    collecting *c = self;
    for (int32_t i = 0; i < c->count && i < c->max; i++)
        if (c->faces[i] == f) return;
    if (c->count < c->max) c->faces[c->count] = f;
    c->count++;
}

static double all(void *self) { return ((const collecting *)self)->radius; }

int32_t tl_search_around(const tl_search *s, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max)
{
    const tl_vec3 center = tl_mul3(0.5, tl_add3(lo, hi));
    collecting c = {faces, 0, max, tl_norm3(tl_sub3(hi, center)) * (1 + 1e-9)};
    visit(s, &(search_ball){center, c.radius, collect, all, &c});
    return c.count;
}

int32_t tl_search_path(const tl_search *s, tl_vec3 from, tl_vec3 to, int32_t *faces, int32_t max)
{
    if (!s->has_grid || s->grid.part.slack > 1e-9 * tl_norm3(s->grid.cell)) return -1;
    return search_grid_path(&s->grid, from, to, faces, max);
}

// ---- facts ----------------------------------------------------------------------------------------------------

tl_search_facts tl_search_look(const tl_search *s)
{
    tl_search_facts f = {.cylinders = s->cylinder_count, .trees = s->tree_count};
    f.bytes = (int64_t)sizeof *s;
    for (int32_t i = 0; i < s->cylinder_count; i++) {
        const search_cylinder *c = &s->cylinder[i];
        f.cylinder_faces += c->face_count, f.slack = fmax(f.slack, c->part.slack);
        f.bytes += 4 * ((int64_t)c->lists.count + c->lists.cells + c->face_count) + 8 * (int64_t)c->lists.cells +
                   28 * (int64_t)c->part.node_count;
    }
    for (int32_t i = 0; i < s->tree_count; i++) {
        f.tree_faces += (s->tree[i].count + 1) / 2;
        f.bytes += (int64_t)sizeof(search_sphere) * s->tree[i].count;
    }
    if (s->has_grid) {
        f.cells = s->grid.lists.cells, f.cell_faces = s->grid.lists.count, f.slack = s->grid.part.slack;
        f.bytes += 4 * ((int64_t)f.cells + f.cell_faces) + 28 * (int64_t)s->grid.part.node_count;
    }
    return f;
}

tl_status tl_search_check(const tl_search *s, tl_error *err)
{
    uint8_t *seen = TL_CALLOC(&s->alloc, uint8_t, s->def.face_count);
    if (!seen) return tl_fail_memory(err, "a check");
    for (int32_t i = 0; i < s->cylinder_count; i++)
        for (int32_t k = 0; k < s->cylinder[i].face_count; k++) seen[s->cylinder[i].face[k]]++;
    for (int32_t i = 0; i < s->tree_count; i++)
        for (int32_t k = 0; k < s->tree[i].count; k++)
            if (s->tree[i].sphere[k].child[0] < 0) seen[s->tree[i].sphere[k].child[1]]++;
    tl_status status = TL_OK;
    for (int32_t f = 0; f < s->def.face_count && status == TL_OK && !s->has_grid; f++)
        if (seen[f] != 1) status = tl_fail(err, TL_FAILED, "face %d is in %d structures", f, seen[f]);
    TL_FREE(&s->alloc, seen, s->def.face_count);
    for (int32_t i = 0; i < s->tree_count && status == TL_OK; i++) status = search_tree_check(s, &s->tree[i], err);
    return status;
}
