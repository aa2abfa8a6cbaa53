// collide/contact.c: make the contacts of a simulation, find and keep the pairs that matter.
//
// A search asks the trees for all pairs whose swept boxes overlap; most of them are neighbours within a flat piece of
// cloth that move along with each other. A pair is worth looking at only if its boxes at the start are nearer than its
// thickness plus what the features can move relative to each other (contact_filter), or if it is near at the end.

#include "collide/contact_impl.h"

#include <math.h>

#include "base/fail.h"
#include "collide/distance.h"
#include "math/simd.h"

enum { FOUND_PER_CHUNK = 2048 };

// Nodes may move this part of the largest thickness before the pairs are looked up anew. Pairs are kept up to the thickness and
// twice this; at 0.5 that would be the next layer but one of a stack, too, and twice the pairs.
#define SKIN 0.35

bool contact_grow(const tl_allocator *alloc, void **ptr, int32_t *cap, int64_t need, size_t size)
{
    if (need <= *cap) return true;
    const int64_t more = need + need / 8 + 16;
    if (more > INT32_MAX) return tl_grow_bytes(alloc, ptr, cap, need, size);
    void *moved = tl_resize_bytes(alloc, *ptr, (size_t)*cap, (size_t)more, size);
    if (!moved) return false;
    *ptr = moved, *cap = (int32_t)more;
    return true;
}

static double *copy_doubles(const tl_allocator *alloc, const double *from, int32_t n)
{
    double *out = TL_ALLOC(alloc, double, n > 0 ? n : 1);
    for (int32_t i = 0; out && i < n; i++) out[i] = from[i];
    return out;
}

// Nodes and edges get a third of the area of each face around them.
static tl_status spread_area(const tl_allocator *alloc, const tl_surface *s, const double *face_area, double *node_area,
                             double **edge_area, tl_error *err)
{
    int32_t *first = TL_ALLOC(alloc, int32_t, s->node_count + 1), *edges = TL_ALLOC(alloc, int32_t, s->edge_count > 0 ? s->edge_count : 1);
    *edge_area = TL_CALLOC(alloc, double, s->edge_count > 0 ? s->edge_count : 1);
    tl_status status = first && edges && *edge_area ? TL_OK : tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        memset(first, 0, (size_t)(s->node_count + 1) * sizeof *first);
        for (int32_t e = 0; e < s->edge_count; e++) first[(s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1]) + 1]++;
        for (int32_t i = 0; i < s->node_count; i++) first[i + 1] += first[i];
        for (int32_t e = s->edge_count - 1; e >= 0; e--) {  // ends at the first edge of every node
            const int32_t low = s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1];
            edges[--first[low + 1]] = e;
        }
        // now first[i + 1] is where node i begins; node i ends where node i + 1 begins
        for (int32_t f = 0; f < s->face_count; f++)
            for (int k = 0; k < 3; k++) {
                const int32_t a = s->face[f][k], b = s->face[f][(k + 1) % 3], low = a < b ? a : b, high = a < b ? b : a;
                node_area[a] += face_area[f] / 3;
                const int32_t end = low + 2 <= s->node_count ? first[low + 2] : s->edge_count;
                for (int32_t i = first[low + 1]; i < end; i++)
                    if (s->edge[edges[i]][0] == high || s->edge[edges[i]][1] == high) (*edge_area)[edges[i]] += face_area[f] / 3;
            }
    }
    TL_FREE(alloc, first, s->node_count + 1);
    TL_FREE(alloc, edges, s->edge_count > 0 ? s->edge_count : 1);
    return status;
}

static tl_status add_body(tl_contacts *c, int32_t b, tl_error *err)
{
    const tl_contact_body *body = &c->bodies[b];
    if (body->plane) return TL_OK;
    const tl_surface *s = &body->surface;
    double *area = c->body_face_area[b] = TL_ALLOC(&c->alloc, double, s->face_count > 0 ? s->face_count : 1);
    if (!area) return tl_fail_memory(err, "the contacts");
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 *x = body->pos;
        const tl_vec3 u = tl_sub3(x[s->face[f][1]], x[s->face[f][0]]), v = tl_sub3(x[s->face[f][2]], x[s->face[f][0]]);
        area[f] = 0.5 * tl_norm3(tl_cross3(u, v));
    }
    TL_TRY(spread_area(&c->alloc, s, area, c->node_area + c->node_count + c->body_start[b], &c->body_edge_area[b], err));
    tl_pairs_init(&c->found_body[b], c->alloc);
    c->body_tree[b] = body->tree;
    tl_bvh_def def = tl_bvh_def_default();
    def.relative = 1;
    if (!body->tree) TL_TRY(tl_bvh_create(&c->alloc, &def, s, body->pos, &c->body_tree[b], err));
    return TL_OK;
}

static tl_status fill(tl_contacts *c, const tl_contacts_def *def, tl_error *err)
{
    const int32_t n = c->node_count, nb = c->body_count, nc = c->cloth_count;
    const size_t all = (size_t)n + (size_t)c->body_nodes;
    c->node_area = TL_CALLOC(&c->alloc, double, all);
    c->at = TL_CALLOC(&c->alloc, tl_vec3, all);
    c->way = TL_CALLOC(&c->alloc, tl_vec3, all);
    c->settled = TL_CALLOC(&c->alloc, tl_vec3, n);
    c->pinched = TL_CALLOC(&c->alloc, uint8_t, n);
    c->goal = TL_CALLOC(&c->alloc, tl_vec3, n);
    c->measured = TL_CALLOC(&c->alloc, tl_vec3, n);
    c->searched_at = TL_CALLOC(&c->alloc, tl_vec3, n);
    c->searched_way = TL_CALLOC(&c->alloc, tl_vec3, n);
    c->node_cloth = TL_ALLOC(&c->alloc, int32_t, n);
    c->node_uv = TL_ALLOC(&c->alloc, tl_vec2, n);
    c->node_panel = TL_ALLOC(&c->alloc, int32_t, n);
    c->near_start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    c->blocks.row_start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    c->blocks.lower_start = TL_CALLOC(&c->alloc, int32_t, n + 1);
    c->face_area = copy_doubles(&c->alloc, def->face_area, def->cloth.face_count);
    c->thickness = copy_doubles(&c->alloc, def->thickness, nc);
    c->friction_self = copy_doubles(&c->alloc, def->friction_self, nc * nc);
    c->friction_body = copy_doubles(&c->alloc, def->friction_body, nc * nb);
    if (!c->node_area || !c->at || !c->way || !c->settled || !c->pinched || !c->goal || !c->measured || !c->searched_at || !c->searched_way || !c->node_cloth || !c->node_uv || !c->node_panel || !c->near_start || !c->blocks.row_start ||
        !c->blocks.lower_start ||
        !c->face_area || !c->thickness || !c->friction_self || !c->friction_body)
        return tl_fail_memory(err, "the contacts");
    memcpy(c->node_cloth, def->node_cloth, (size_t)n * sizeof *c->node_cloth);
    memcpy(c->node_uv, def->node_uv, (size_t)n * sizeof *c->node_uv);
    memcpy(c->node_panel, def->node_panel, (size_t)n * sizeof *c->node_panel);
    TL_TRY(spread_area(&c->alloc, &c->cloth, c->face_area, c->node_area, &c->edge_area, err));
    tl_bvh_def tree = tl_bvh_def_default();
    tree.relative = 1;
    TL_TRY(tl_bvh_create(&c->alloc, &tree, &c->cloth, def->x, &c->tree, err));
    for (int32_t b = 0; b < nb; b++) TL_TRY(add_body(c, b, err));
    double thickest = 0, thickest_body = 0;
    for (int32_t i = 0; i < nc; i++) thickest = fmax(thickest, c->thickness[i]);
    for (int32_t b = 0; b < nb; b++) thickest_body = fmax(thickest_body, c->bodies[b].thickness);
    c->reach = fmax(thickest, thickest / 2 + thickest_body);
    c->skin = SKIN * c->reach;
    for (int32_t e = 0; e < c->cloth.edge_count; e++)
        c->edge_length += tl_norm3(tl_sub3(def->x[c->cloth.edge[e][0]], def->x[c->cloth.edge[e][1]])) / c->cloth.edge_count;
    tl_contacts_forget(c);
    return TL_OK;
}

tl_status tl_contacts_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_contacts **out, tl_error *err)
{
    *out = NULL;
    tl_contacts *c = TL_CALLOC(alloc, tl_contacts, 1);
    if (!c) return tl_fail_memory(err, "the contacts");
    c->alloc = *alloc;
    c->cloth = def->cloth, c->self = def->self;
    c->node_count = def->cloth.node_count, c->cloth_count = def->cloth_count, c->body_count = def->body_count;
    c->pressure = def->pressure, c->slip_speed = def->slip_speed;
    tl_pairs_init(&c->found, *alloc);
    const int32_t nb = def->body_count > 0 ? def->body_count : 1;
    c->bodies = TL_CALLOC(alloc, tl_contact_body, nb);
    c->body_start = TL_CALLOC(alloc, int32_t, nb + 1);
    c->body_tree = TL_CALLOC(alloc, tl_bvh *, nb);
    c->body_fitted = TL_CALLOC(alloc, uint8_t, nb);
    c->body_far = TL_CALLOC(alloc, uint8_t, nb);
    c->body_box = TL_CALLOC(alloc, contact_box, nb);
    c->body_face_area = TL_CALLOC(alloc, double *, nb);
    c->body_edge_area = TL_CALLOC(alloc, double *, nb);
    c->found_body = TL_CALLOC(alloc, tl_pairs, nb);
    tl_status status = TL_OK;
    if (!c->bodies || !c->body_start || !c->body_tree || !c->body_fitted || !c->body_far || !c->body_box || !c->body_face_area || !c->body_edge_area || !c->found_body)
        status = tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        for (int32_t b = 0; b < def->body_count; b++) {
            c->bodies[b] = def->bodies[b];
            c->body_start[b + 1] = c->body_start[b] + (def->bodies[b].plane ? 0 : def->bodies[b].surface.node_count);
        }
        c->body_nodes = c->body_start[def->body_count];
        status = fill(c, def, err);
    }
    if (status != TL_OK) tl_contacts_destroy(c), c = NULL;
    *out = c;
    return status;
}

void tl_contacts_destroy(tl_contacts *c)
{
    if (!c) return;
    const tl_allocator alloc = c->alloc;
    const int32_t n = c->node_count, nb = c->body_count > 0 ? c->body_count : 1, nc = c->cloth_count;
    const size_t all = (size_t)n + (size_t)c->body_nodes;
    for (int32_t b = 0; b < c->body_count && c->bodies; b++) {
        const tl_surface *s = &c->bodies[b].surface;
        if (c->body_tree && !c->bodies[b].tree) tl_bvh_destroy(c->body_tree[b]);
        if (c->body_face_area && c->body_face_area[b]) TL_FREE(&alloc, c->body_face_area[b], s->face_count > 0 ? s->face_count : 1);
        if (c->body_edge_area && c->body_edge_area[b]) TL_FREE(&alloc, c->body_edge_area[b], s->edge_count > 0 ? s->edge_count : 1);
        if (c->found_body) tl_pairs_free(&c->found_body[b]);
    }
    tl_bvh_destroy(c->tree);
    tl_pairs_free(&c->found);
    TL_FREE(&alloc, c->bodies, nb);
    TL_FREE(&alloc, c->body_start, nb + 1);
    TL_FREE(&alloc, c->body_tree, nb);
    TL_FREE(&alloc, c->body_fitted, nb);
    TL_FREE(&alloc, c->body_far, nb);
    TL_FREE(&alloc, c->body_box, nb);
    TL_FREE(&alloc, c->body_face_area, nb);
    TL_FREE(&alloc, c->body_edge_area, nb);
    TL_FREE(&alloc, c->found_body, nb);
    TL_FREE(&alloc, c->node_area, all);
    TL_FREE(&alloc, c->at, all);
    TL_FREE(&alloc, c->way, all);
    TL_FREE(&alloc, c->settled, n);
    TL_FREE(&alloc, c->pinched, n);
    TL_FREE(&alloc, c->goal, n);
    TL_FREE(&alloc, c->measured, n);
    TL_FREE(&alloc, c->searched_at, n);
    TL_FREE(&alloc, c->searched_way, n);
    TL_FREE(&alloc, c->node_cloth, n);
    TL_FREE(&alloc, c->node_uv, n);
    TL_FREE(&alloc, c->node_panel, n);
    TL_FREE(&alloc, c->near_start, n + 1);
    TL_FREE(&alloc, c->blocks.row_start, n + 1);
    TL_FREE(&alloc, c->blocks.lower_start, n + 1);
    TL_FREE(&alloc, c->blocks.col, c->blocks_cap[0]);
    TL_FREE(&alloc, c->blocks.value, c->blocks_cap[1]);
    TL_FREE(&alloc, c->blocks.lower_row, c->blocks_cap[2]);
    TL_FREE(&alloc, c->blocks.lower_block, c->blocks_cap[3]);
    TL_FREE(&alloc, c->near_item, c->near_cap);
    TL_FREE(&alloc, c->face_area, c->cloth.face_count > 0 ? c->cloth.face_count : 1);
    TL_FREE(&alloc, c->edge_area, c->cloth.edge_count > 0 ? c->cloth.edge_count : 1);
    TL_FREE(&alloc, c->thickness, nc > 0 ? nc : 1);
    TL_FREE(&alloc, c->friction_self, nc * nc > 0 ? nc * nc : 1);
    TL_FREE(&alloc, c->friction_body, nc * c->body_count > 0 ? nc * c->body_count : 1);
    TL_FREE(&alloc, c->pairs, c->pair_cap);
    TL_FREE(&alloc, c->soft, c->soft_cap);
    TL_FREE(&alloc, c->near, c->near_pairs_cap);
    TL_FREE(&alloc, c->contacts, c->contact_cap);
    TL_FREE(&alloc, c->bonds, c->bond_cap);
    tl_free_bytes(&alloc, c, 1, sizeof *c);
}

int32_t tl_contacts_body_nodes(const tl_contacts *c) { return c->body_nodes; }

static void choose_slack(tl_contacts *c);

static inline double larger(double a, double b) { return a > b ? a : b; }
static inline double smaller(double a, double b) { return a < b ? a : b; }
static inline tl_vec3 lowest(tl_vec3 a, tl_vec3 b) { return (tl_vec3){smaller(a.x, b.x), smaller(a.y, b.y), smaller(a.z, b.z)}; }
static inline tl_vec3 highest(tl_vec3 a, tl_vec3 b) { return (tl_vec3){larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z)}; }

static contact_box box_of(const tl_vec3 *from, const tl_vec3 *to, int32_t count)
{
    contact_box box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t i = 0; i < count; i++)
        box.lo = lowest(box.lo, lowest(from[i], to[i])), box.hi = highest(box.hi, highest(from[i], to[i]));
    return box;
}

static bool boxes_apart(const contact_box *a, const contact_box *b, double reach)
{
    const double x = larger(a->lo.x - b->hi.x, b->lo.x - a->hi.x), y = larger(a->lo.y - b->hi.y, b->lo.y - a->hi.y);
    const double z = larger(a->lo.z - b->hi.z, b->lo.z - a->hi.z);
    return larger(x, larger(y, z)) > reach;
}

tl_status tl_contacts_begin(tl_contacts *c, const tl_contact_step *step, const tl_vec3 *x, tl_arena *arena, tl_workers *workers,
                            tl_error *err)
{
    c->step = *step;
    c->done = 0, c->allowed = 0;
    bool moving = false;
    for (int32_t b = 0; b < c->body_count; b++) moving |= c->bodies[b].moves;
    c->done = moving ? 0 : 1;
    c->pair_count = 0, c->contact_count = c->pressing = 0, c->blocks.block_count = 0;
    c->searched_done = -1;
    c->placed = c->aimed[0] = c->aimed[1] = -1;
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane) c->body_box[b] = box_of(step->body_begin + c->body_start[b], step->body_end + c->body_start[b], c->bodies[b].surface.node_count);
    choose_slack(c);
    c->stalled = 0, c->thinnest = (double)INFINITY, c->frozen = false;
    c->report = (tl_contact_report){.nearest = 1};
    return contact_begin_pinched(c, x, arena, workers, err);
}

double tl_contacts_bodies_left(const tl_contacts *c) { return 1 - c->done; }

void tl_contacts_move_bodies(tl_contacts *c, double part)
{
    const double rest = 1 - c->done, way = part * c->allowed;
    c->done = way >= 1 ? 1 : c->done + way * rest;
    c->allowed = 0;
}

static tl_vec3 body_node(const tl_contacts *c, int32_t i, double done)
{
    const tl_vec3 a = c->step.body_begin[i], b = c->step.body_end[i];
    if (done >= 1) return b;
    return tl_madd3(a, done, tl_sub3(b, a));
}

void contact_place(tl_contacts *c, const tl_vec3 *x, double part)
{
    const double done = c->done + part * c->allowed * (1 - c->done);
    memcpy(c->at, x, (size_t)c->node_count * sizeof *x);
    if (c->placed == done) return;
    for (int32_t i = 0; i < c->body_nodes; i++) c->at[c->node_count + i] = body_node(c, i, done);
    c->placed = done;
}

void contact_aim_bodies(tl_contacts *c, double part)
{
    if (c->aimed[0] == c->done && (c->aimed[1] == part || c->done >= 1)) return;
    const int32_t n = c->node_count;
    for (int32_t i = 0; i < c->body_nodes; i++) c->way[n + i] = tl_mul3(part, tl_sub3(c->step.body_end[i], c->at[n + i]));
    c->aimed[0] = c->done, c->aimed[1] = part;
}

void contact_plane(const tl_contacts *c, int32_t body, double done, tl_vec3 *point, tl_vec3 *normal)
{
    const tl_vec3 *a = c->step.plane_begin + 2 * body, *b = c->step.plane_end + 2 * body;
    *point = done >= 1 ? b[0] : tl_madd3(a[0], done, tl_sub3(b[0], a[0]));
    *normal = done >= 1 ? b[1] : tl_unit3_or(tl_madd3(a[1], done, tl_sub3(b[1], a[1])), b[1]);
}

// With the normal n + s dn (not of unit length, which its sign does not need) and the point p + s dp the distance becomes
//     (n + s dn).(x - p + r u - s dp) = d + r n.u + s (dn.(x - p) - n.dp) + r s dn.u - s^2 dn.dp,
// and products of r and s in [0, 1] are no larger than s.
void contact_plane_ways(const tl_contacts *c, int32_t body, tl_vec3 x, tl_vec3 u, double way[2])
{
    const tl_vec3 *a = c->step.plane_begin + 2 * body, *b = c->step.plane_end + 2 * body;
    const tl_vec3 now = c->done >= 1 ? b[1] : tl_madd3(a[1], c->done, tl_sub3(b[1], a[1]));
    tl_vec3 p, n;
    contact_plane(c, body, c->done, &p, &n);
    const double length = tl_norm3(now);
    const tl_vec3 dn = length > 0 ? tl_mul3(1 / length, tl_sub3(b[1], now)) : (tl_vec3){0, 0, 0}, dp = tl_sub3(b[0], p);
    way[0] = tl_dot3(n, u);
    way[1] = tl_dot3(n, dp) - tl_dot3(dn, tl_sub3(x, p)) + fmax(0, -tl_dot3(dn, u)) + fmax(0, tl_dot3(dn, dp));
}

nearness contact_nearness(const tl_contacts *c, const pair *p, const tl_vec3 *at, double done)
{
    nearness out;
    if (p->kind == PAIR_PLANE) {
        tl_vec3 point;
        contact_plane(c, p->body, done, &point, &out.normal);
        out.distance = tl_dot3(out.normal, tl_sub3(at[p->node[0]], point));
        out.weight[0] = 1, out.weight[1] = out.weight[2] = out.weight[3] = 0;
        return out;
    }
    const tl_vec3 x[4] = {at[p->node[0]], at[p->node[1]], at[p->node[2]], at[p->node[3]]};
    const tl_nearest near = p->kind == PAIR_VF ? tl_nearest_vertex_face(x) : tl_nearest_edge_edge(x);
    tl_vec3 gap = {0, 0, 0};
    // relative to the first node: differences of near points, no cancellation of large coordinates
    for (int k = 0; k < 4; k++) out.weight[k] = near.weight[k], gap = tl_madd3(gap, near.weight[k], tl_sub3(x[k], x[0]));
    const double length = tl_norm3(gap);
    out.distance = length;
    out.normal = length > 0 ? tl_mul3(1 / length, gap) : (tl_vec3){0, 1, 0};
    return out;
}

// --- from what the trees found to pairs ---

typedef struct list { const tl_pair *items; int32_t count; int32_t body; enum { VF, FV, EE, PLANE } how; } list;

// Two layers keep their thickness; pieces of one panel that are nearer than that when flat keep less, else cloth that is
// meshed finer than it is thick could not lie flat.
static double own_thickness(const tl_contacts *c, const pair *p, double thickness)
{
    const int32_t panel = c->node_panel[p->node[0]], cloth = c->node_cloth[p->node[0]];
    tl_vec3 flat[4];
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        if (c->node_panel[i] != panel || panel < 0 || c->node_cloth[i] != cloth) return thickness;
        flat[k] = (tl_vec3){c->node_uv[i].x, c->node_uv[i].y, 0};
    }
    const double rest = (p->kind == PAIR_VF ? tl_nearest_vertex_face(flat) : tl_nearest_edge_edge(flat)).distance;
    return fmin(thickness, 0.8 * rest);
}

static bool make_pair(const tl_contacts *c, const list *l, int32_t i, pair *p)
{
    const tl_pair found = l->items[i];
    const int32_t n = c->node_count, off = l->body == TL_CLOTH ? 0 : n + c->body_start[l->body];
    const tl_surface *own = &c->cloth, *other = l->body == TL_CLOTH ? &c->cloth : &c->bodies[l->body].surface;
    const double *other_face = l->body == TL_CLOTH ? c->face_area : c->body_face_area[l->body];
    const double *other_edge = l->body == TL_CLOTH ? c->edge_area : c->body_edge_area[l->body];
    int32_t cloth_node;  // one on the cloth, to know which
    p->body = l->body;
    switch (l->how) {
    case VF:
        p->kind = PAIR_VF;
        p->node[0] = found.a;
        for (int k = 0; k < 3; k++) p->node[1 + k] = other->face[found.b][k] + off;
        p->area = fmin(c->node_area[found.a], other_face[found.b]);
        cloth_node = found.a;
        break;
    case FV:
        p->kind = PAIR_VF;
        p->node[0] = found.a + off;
        for (int k = 0; k < 3; k++) p->node[1 + k] = own->face[found.b][k];
        p->area = fmin(c->node_area[found.a + off], c->face_area[found.b]);
        cloth_node = p->node[1];
        break;
    default:
        p->kind = PAIR_EE;
        for (int k = 0; k < 2; k++) p->node[k] = own->edge[found.a][k], p->node[2 + k] = other->edge[found.b][k] + off;
        p->area = fmin(c->edge_area[found.a], other_edge[found.b]);
        cloth_node = p->node[0];
        break;
    }
    const int32_t cloth = c->node_cloth[cloth_node];
    if (l->body == TL_CLOTH) {
        const int32_t second = c->node_cloth[p->node[l->how == EE ? 2 : 1]];
        p->thickness = 0.5 * (c->thickness[cloth] + c->thickness[second]);
        p->friction = c->friction_self[cloth * c->cloth_count + second];
    } else {
        p->thickness = 0.5 * c->thickness[cloth] + c->bodies[l->body].thickness;
        p->friction = c->friction_body[cloth * c->body_count + l->body];
        for (int k = 0; k < 4 && c->pinched_count > 0; k++)
            if (p->node[k] < n && c->pinched[p->node[k]]) return false;
    }
    return true;
}

/// The two features of a pair that the trees found: nodes of everything, those of the first before those of the second.
typedef struct features { int32_t node[4]; int first; } features;

static inline features features_of(const tl_contacts *c, const list *l, int32_t i)
{
    const tl_pair found = l->items[i];
    const int32_t off = l->body == TL_CLOTH ? 0 : c->node_count + c->body_start[l->body];
    const tl_surface *other = l->body == TL_CLOTH ? &c->cloth : &c->bodies[l->body].surface;
    if (l->how == VF) {
        const int32_t *f = other->face[found.b];
        return (features){{found.a, f[0] + off, f[1] + off, f[2] + off}, 1};
    }
    if (l->how == FV) {
        const int32_t *f = c->cloth.face[found.b];
        return (features){{found.a + off, f[0], f[1], f[2]}, 1};
    }
    const int32_t *e = c->cloth.edge[found.a], *g = other->edge[found.b];
    return (features){{e[0], e[1], g[0] + off, g[1] + off}, 2};
}

// How far the features can move relative to each other: displacements are linear over a feature, so nodes have the largest
// difference; here with the largest on every axis, so not less.
static inline double motion_of(const features *f, const tl_vec3 *way)
{
    tl_vec3 lo[2], hi[2];
    lo[0] = hi[0] = way[f->node[0]];
    lo[1] = hi[1] = way[f->node[f->first]];
    for (int k = 1; k < 4; k++) {
        const int side = k >= f->first;
        const tl_vec3 u = way[f->node[k]];
        lo[side] = lowest(lo[side], u), hi[side] = highest(hi[side], u);
    }
    const double x = larger(hi[0].x - lo[1].x, hi[1].x - lo[0].x), y = larger(hi[0].y - lo[1].y, hi[1].y - lo[0].y);
    const double z = larger(hi[0].z - lo[1].z, hi[1].z - lo[0].z);
    return sqrt(x * x + y * y + z * z);
}

// --- the same in single precision, eight pairs at a time: settles nearly all of them ---

typedef float eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_mask __attribute__((vector_size(32), aligned(4), may_alias));
typedef struct coarse { float at[4], way[4]; } coarse;               // of a node, relative to the middle of everything
typedef struct lanes { float at[4][3][8], way[4][3][8]; } lanes;     // of the nodes of eight pairs
enum { LOOKS = 3 };

#define PICK(m, a, b) ((eight)(((m) & (eight_mask)(a)) | (~(m) & (eight_mask)(b))))
#define LOWER(a, b) PICK((a) < (b), a, b)
#define HIGHER(a, b) PICK((a) > (b), a, b)
#define DOT(a, b) ((a)[0] * (b)[0] + (a)[1] * (b)[1] + (a)[2] * (b)[2])

// Are the features of pairs further apart than `reach` and what they can move? Says yes only if they are; `reach` allows for the rounding. The
// gap as seen along any direction is a bound from below. The first direction is the line between the middles; if it does not settle it, the way
// to the corners that are nearest along it shows a better one (Gilbert, Johnson & Keerthi 1988, on one segment at a time).
TL_CLONES static void find_apart(const lanes *l, bool edges, float reach, int32_t apart[8])
{
    eight x1[3], x2[3], x3[3], line[3], motion = {0}, far;
    for (int k = 0; k < 3; k++) {
        const eight x0 = *(const eight *)l->at[0][k];
        x1[k] = *(const eight *)l->at[1][k] - x0, x2[k] = *(const eight *)l->at[2][k] - x0, x3[k] = *(const eight *)l->at[3][k] - x0;
        const eight w0 = *(const eight *)l->way[0][k], w1 = *(const eight *)l->way[1][k];
        const eight w2 = *(const eight *)l->way[2][k], w3 = *(const eight *)l->way[3][k];
        eight lo0 = w0, hi0 = w0, lo1 = LOWER(w2, w3), hi1 = HIGHER(w2, w3);
        if (edges) {
            line[k] = 0.5f * (x2[k] + x3[k] - x1[k]);
            lo0 = LOWER(lo0, w1), hi0 = HIGHER(hi0, w1);
        } else {
            line[k] = (x1[k] + x2[k] + x3[k]) * (1.0f / 3);
            lo1 = LOWER(lo1, w1), hi1 = HIGHER(hi1, w1);
        }
        const eight one = hi0 - lo1, other = hi1 - lo0, most = HIGHER(one, other);
        motion += most * most;
    }
    for (int i = 0; i < 8; i++) far[i] = reach + sqrtf(motion[i]);
    eight_mask settled = {0};
    for (int look = 0; look < LOOKS; look++) {
        const eight a = DOT(line, x1), b = DOT(line, x2), c = DOT(line, x3), size = DOT(line, line), zero = {0};
        const eight_mask second = b < c;
        eight low = LOWER(b, c), corner[3];
        for (int k = 0; k < 3; k++) corner[k] = PICK(second, x2[k], x3[k]);
        if (edges) {
            const eight_mask first = a > zero;
            low -= PICK(first, a, zero);
            for (int k = 0; k < 3; k++) corner[k] -= PICK(first, x1[k], zero);
        } else {
            const eight_mask first = a < low;
            low = PICK(first, a, low);
            for (int k = 0; k < 3; k++) corner[k] = PICK(first, x1[k], corner[k]);
        }
        settled |= (low > zero) & (low * low > far * far * size);
        eight step[3];
        for (int k = 0; k < 3; k++) step[k] = corner[k] - line[k];
        const eight along = size - low, whole = DOT(step, step);  // -line.step
        const eight part = PICK(along < whole, along / whole, zero + 1.0f);
        for (int k = 0; k < 3; k++) line[k] += part * step[k];
    }
    *(eight_mask *)apart = settled;
}

static inline void fill_lane(const features *f, const coarse *node, int lane, lanes *l)
{
    for (int k = 0; k < 4; k++) {
        const coarse *n = &node[f->node[k]];
        for (int axis = 0; axis < 3; axis++) l->at[k][axis][lane] = n->at[axis], l->way[k][axis][lane] = n->way[axis];
    }
}

#define ROUNDING 4e-6  // of the size of everything: sixty times that of single precision

// Nodes [from, from + count), relative to the middle.
static void coarsen(const tl_vec3 *at, const tl_vec3 *way, tl_vec3 middle, int32_t from, int32_t count, coarse *out)
{
    for (int32_t i = from; i < from + count; i++) {
        const tl_vec3 x = tl_sub3(at[i], middle);
        out[i] = (coarse){{(float)x.x, (float)x.y, (float)x.z, 0}, {(float)way[i].x, (float)way[i].y, (float)way[i].z, 0}};
    }
}

// Positions and ways of cloth and of the bodies near it as `coarse`; NULL without memory. *slop gets what to add to distances for the rounding.
static coarse *make_coarse(const tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, tl_arena *arena, double *slop)
{
    const int32_t n = c->node_count;
    coarse *out = TL_SCRATCH(arena, coarse, n + c->body_nodes);
    if (!out) return NULL;
    contact_box box = box_of(at, at, n);
    double longest = 0;
    for (int32_t i = 0; i < n; i++) longest = larger(longest, tl_dot3(way[i], way[i]));
    longest = sqrt(longest);
    for (int32_t b = 0; b < c->body_count; b++) {
        if (c->bodies[b].plane || c->body_far[b]) continue;
        box.lo = lowest(box.lo, c->body_box[b].lo), box.hi = highest(box.hi, c->body_box[b].hi);
        longest = larger(longest, tl_norm3(tl_sub3(c->body_box[b].hi, c->body_box[b].lo)));  // not less than its way
    }
    const tl_vec3 middle = n > 0 ? tl_mul3(0.5, tl_add3(box.lo, box.hi)) : (tl_vec3){0, 0, 0};
    coarsen(at, way, middle, 0, n, out);
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane && !c->body_far[b]) coarsen(at, way, middle, n + c->body_start[b], c->bodies[b].surface.node_count, out);
    *slop = n > 0 ? ROUNDING * (tl_norm3(tl_sub3(box.hi, box.lo)) + longest) : 0;
    return out;
}

typedef struct filter_job {
    tl_contacts *c;
    const list *l;
    const tl_vec3 *at, *way;
    const coarse *node;
    float reach;     // for `node`
    uint8_t *keep;
    int32_t *count;  // per chunk, then where a chunk begins
    int32_t first;
    double slack;    // nodes may be this far from where they are said to be
} filter_job;

// May the features come within their thickness and twice the skin on the way?
static bool worth_it(const filter_job *job, int32_t i, const features *f)
{
    const tl_contacts *c = job->c;
    pair p;
    if (!make_pair(c, job->l, i, &p)) return false;
    const tl_vec3 x[4] = {job->at[f->node[0]], job->at[f->node[1]], job->at[f->node[2]], job->at[f->node[3]]};
    const tl_nearest now = p.kind == PAIR_VF ? tl_nearest_vf(x[0], x[1], x[2], x[3]) : tl_nearest_ee(x[0], x[1], x[2], x[3]);
    return now.distance <= p.thickness + 2 * c->skin + 2 * job->slack + motion_of(f, job->way);
}

static void mark_chunk(void *arg, int32_t begin, int32_t end)
{
    filter_job *job = arg;
    int32_t count = 0;
    for (int32_t first = begin; first < end; first += 8) {
        const int32_t n = end - first < 8 ? end - first : 8;
        features f[8];
        lanes l;
        int32_t apart[8];
        for (int k = 0; k < 8; k++) {
            f[k] = features_of(job->c, job->l, first + (k < n ? k : 0));
            fill_lane(&f[k], job->node, k, &l);
        }
        find_apart(&l, job->l->how == EE, job->reach, apart);
        for (int k = 0; k < n; k++) {
            job->keep[first + k] = !apart[k] && worth_it(job, first + k, &f[k]);
            count += job->keep[first + k];
        }
    }
    job->count[begin / FOUND_PER_CHUNK] = count;
}

static void keep_chunk(void *arg, int32_t begin, int32_t end)
{
    filter_job *job = arg;
    int32_t to = job->first + job->count[begin / FOUND_PER_CHUNK];
    for (int32_t i = begin; i < end; i++) {
        if (!job->keep[i]) continue;
        pair *p = &job->c->pairs[to++];
        make_pair(job->c, job->l, i, p);
        if (p->body == TL_CLOTH) p->thickness = own_thickness(job->c, p, p->thickness);
    }
}

/// What a search looks at: everything at `at`, going by `way`, within `slack` of that.
typedef struct sight { const tl_vec3 *at, *way; const coarse *node; double slack, slop; } sight;

static tl_status look(tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, double slack, tl_arena *arena, sight *out, tl_error *err)
{
    *out = (sight){.at = at, .way = way, .slack = slack};
    out->node = make_coarse(c, at, way, arena, &out->slop);
    return out->node ? TL_OK : tl_fail_memory(err, "the contacts");
}

// Marks what is worth it; .keep is NULL without memory.
static filter_job mark_list(tl_contacts *c, const list *l, const sight *s, tl_arena *arena, tl_workers *workers)
{
    filter_job job = {.c = c, .l = l, .at = s->at, .way = s->way, .node = s->node, .first = c->pair_count, .slack = s->slack};
    job.reach = (float)(1.000001 * (c->reach + 2 * c->skin + 2 * s->slack + s->slop));
    job.count = TL_SCRATCH(arena, int32_t, tl_chunk_count(l->count, FOUND_PER_CHUNK));
    job.keep = job.count ? TL_SCRATCH(arena, uint8_t, l->count) : NULL;
    if (job.keep) tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, mark_chunk, &job);
    return job;
}

static tl_status filter_list(tl_contacts *c, const list *l, const sight *s, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    if (l->count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    filter_job job = mark_list(c, l, s, arena, workers);
    tl_status status = job.keep ? TL_OK : tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        int32_t total = 0;
        for (int32_t k = 0; k < tl_chunk_count(l->count, FOUND_PER_CHUNK); k++) {
            const int32_t count = job.count[k];
            job.count[k] = total, total += count;
        }
        if (!CONTACT_GROW(c, c->pairs, c->pair_cap, c->pair_count + total)) status = tl_fail_memory(err, "the contacts");
        if (status == TL_OK) {
            tl_parallel_for(workers, l->count, FOUND_PER_CHUNK, keep_chunk, &job);
            c->pair_count += total;
        }
    }
    tl_arena_release(arena, mark);
    return status;
}

// Leaves in a list of the trees only what may come near on the way, give or take the slack.
static tl_status thin_out(tl_contacts *c, tl_pair *items, int32_t *count, int32_t body, int how, const sight *s, tl_arena *arena,
                          tl_workers *workers, tl_error *err)
{
    if (*count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(arena);
    const list l = {items, *count, body, how};
    const filter_job job = mark_list(c, &l, s, arena, workers);
    int32_t left = 0;
    for (int32_t i = 0; i < *count && job.keep; i++)
        if (job.keep[i]) items[left++] = items[i];
    *count = left;
    tl_arena_release(arena, mark);
    return job.keep ? TL_OK : tl_fail_memory(err, "the contacts");
}

static tl_status filter_plane(tl_contacts *c, int32_t b, const tl_vec3 *at, const tl_vec3 *way, tl_error *err)
{
    tl_vec3 p0, n0;
    contact_plane(c, b, c->done, &p0, &n0);
    for (int32_t i = 0; i < c->node_count; i++) {
        if (c->pinched[i]) continue;
        const int32_t cloth = c->node_cloth[i];
        const double h = 0.5 * c->thickness[cloth] + c->bodies[b].thickness, near = h + 2 * c->skin;
        double ways[2];
        contact_plane_ways(c, b, at[i], way[i], ways);
        if (tl_dot3(n0, tl_sub3(at[i], p0)) + fmin(0, ways[0]) - fmax(0, ways[1]) > near) continue;
        if (!CONTACT_GROW(c, c->pairs, c->pair_cap, c->pair_count + 1)) return tl_fail_memory(err, "the contacts");
        c->pairs[c->pair_count++] = (pair){{i, i, i, i}, PAIR_PLANE, b, h, c->node_area[i],
                                           c->friction_body[cloth * c->body_count + b]};
    }
    return TL_OK;
}

tl_status contact_filter(tl_contacts *c, const tl_vec3 *at, const tl_vec3 *way, tl_arena *arena, tl_workers *workers,
                         tl_error *err)
{
    c->pair_count = 0, c->fresh = false;
    const tl_arena_mark mark = tl_arena_save(arena);
    sight s;
    tl_status status = look(c, at, way, 0, arena, &s, err);
    if (status == TL_OK && c->self) {
        status = filter_list(c, &(list){c->found.vf, c->found.vf_count, TL_CLOTH, VF}, &s, arena, workers, err);
        if (status == TL_OK) status = filter_list(c, &(list){c->found.ee, c->found.ee_count, TL_CLOTH, EE}, &s, arena, workers, err);
    }
    for (int32_t b = 0; b < c->body_count && status == TL_OK; b++) {
        const tl_pairs *f = &c->found_body[b];
        if (c->bodies[b].plane) {
            status = filter_plane(c, b, at, way, err);
            continue;
        }
        status = filter_list(c, &(list){f->vf, f->vf_count, b, VF}, &s, arena, workers, err);
        if (status == TL_OK) status = filter_list(c, &(list){f->fv, f->fv_count, b, FV}, &s, arena, workers, err);
        if (status == TL_OK) status = filter_list(c, &(list){f->ee, f->ee_count, b, EE}, &s, arena, workers, err);
    }
    tl_arena_release(arena, mark);
    return status;
}

// Does the last search serve for a move from x by u? It does for ways from the same start that hardly differ, and for all that stays near
// the end of the way that it was asked for, once bodies have arrived. Newton's later iterations are of that kind.
static bool covered(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u)
{
    bool same_start = c->searched_done == c->done;
    const bool near_end = c->searched_done >= 0 && c->done >= 1;
    if (!same_start && !near_end) return false;
    double stray = 0, differ = 0;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 a = c->searched_at[i], w = c->searched_way[i], d = tl_sub3(u[i], w);
        same_start = same_start && a.x == x[i].x && a.y == x[i].y && a.z == x[i].z;
        differ = larger(differ, tl_dot3(d, d));
        const tl_vec3 from = tl_sub3(tl_sub3(x[i], a), w), to = tl_add3(from, u[i]);
        stray = larger(stray, larger(tl_dot3(from, from), tl_dot3(to, to)));
    }
    const double most = 0.999 * c->slack * c->slack;
    if (same_start) return differ <= most;
    c->strayed = larger(c->strayed, sqrt(stray));
    return near_end && stray <= most;
}

// Asks the trees for all pairs that may come within their thickness and twice the skin when everything goes from c->at by
// c->way, all by the same part at a time, give or take the slack.
static tl_status ask_trees(tl_contacts *c, tl_arena *arena, tl_workers *workers, tl_error *err)
{
    const int32_t n = c->node_count, all = n + c->body_nodes;
    const tl_arena_mark mark = tl_arena_save(arena);
    tl_vec3 *end = TL_SCRATCH(arena, tl_vec3, all);
    if (!end) return tl_fail_memory(err, "the contacts");
    for (int32_t i = 0; i < n; i++) end[i] = tl_add3(c->at[i], c->way[i]);
    const double reach = c->reach + 2 * c->skin + 2 * c->slack;
    const contact_box cloth = box_of(c->at, end, n);
    for (int32_t b = 0; b < c->body_count; b++)
        c->body_far[b] = c->bodies[b].plane || boxes_apart(&cloth, &c->body_box[b], reach);
    const tl_near near = {reach, reach};
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    sight s;
    tl_status status = look(c, c->at, c->way, c->slack, arena, &s, err);
    tl_bvh_refit(c->tree, c->at, end, 0, 0, workers);
    c->report.searches++;
    if (c->self && status == TL_OK) {
        tl_pairs *f = &c->found;
        status = tl_bvh_self_near(c->tree, what, near, arena, workers, f, err);
        c->report.volume_tests += f->volume_tests;
        if (status == TL_OK) status = thin_out(c, f->vf, &f->vf_count, TL_CLOTH, VF, &s, arena, workers, err);
        if (status == TL_OK) status = thin_out(c, f->ee, &f->ee_count, TL_CLOTH, EE, &s, arena, workers, err);
    }
    for (int32_t b = 0; b < c->body_count && status == TL_OK; b++) {
        if (c->bodies[b].plane) continue;
        tl_pairs *f = &c->found_body[b];
        f->vf_count = f->fv_count = f->ee_count = 0;
        if (c->body_far[b]) continue;
        const int32_t first = n + c->body_start[b];
        for (int32_t i = first; i < first + c->bodies[b].surface.node_count; i++) end[i] = tl_add3(c->at[i], c->way[i]);
        if (c->bodies[b].moves || !c->body_fitted[b])
            tl_bvh_refit(c->body_tree[b], c->at + first, c->bodies[b].moves ? end + first : NULL, 0, 0, workers);
        c->body_fitted[b] = !c->bodies[b].moves;
        status = tl_bvh_between_near(c->tree, c->body_tree[b], what, near, arena, workers, f, err);
        c->report.volume_tests += f->volume_tests;
        if (status == TL_OK) status = thin_out(c, f->vf, &f->vf_count, b, VF, &s, arena, workers, err);
        if (status == TL_OK) status = thin_out(c, f->fv, &f->fv_count, b, FV, &s, arena, workers, err);
        if (status == TL_OK) status = thin_out(c, f->ee, &f->ee_count, b, EE, &s, arena, workers, err);
    }
    tl_arena_release(arena, mark);
    return status;
}

// The slack follows what Newton's corrections of the last step needed. Neighbours within a flat piece are the price: with much of it, they
// all have to be looked at.
#define SLACK_SPARE 1.5
#define SLACK_FADES 0.5
#define LEAST_SLACK 0.5    // of the skin
#define FIRST_SLACK 3.0    // likewise, when nothing is known
#define SLACK_PER_EDGE 0.05

static void choose_slack(tl_contacts *c)
{
    const double most = larger(LEAST_SLACK * c->skin, SLACK_PER_EDGE * c->edge_length);
    c->slack = larger(SLACK_SPARE * c->strayed, SLACK_FADES * c->slack);
    c->slack = smaller(most, larger(LEAST_SLACK * c->skin, c->slack));
    c->strayed = 0;
}

void tl_contacts_forget(tl_contacts *c)
{
    c->slack = FIRST_SLACK * c->skin, c->strayed = 0;
    c->searched_done = -1;
}

tl_status contact_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, double body_part, tl_arena *arena,
                         tl_workers *workers, tl_error *err)
{
    const int32_t n = c->node_count;
    c->allowed = 0;
    contact_place(c, x, 0);
    memcpy(c->way, u, (size_t)n * sizeof *u);
    contact_aim_bodies(c, body_part);
    if (body_part < 1 || !covered(c, x, u)) {
        memcpy(c->searched_at, x, (size_t)n * sizeof *x);
        memcpy(c->searched_way, u, (size_t)n * sizeof *u);
        c->searched_done = body_part < 1 ? -1 : c->done;
        TL_TRY(ask_trees(c, arena, workers, err));
    }
    TL_TRY(contact_filter(c, c->at, c->way, arena, workers, err));
    return contact_measure(c, workers, err);
}

tl_status tl_contacts_search(tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u, tl_arena *arena, tl_workers *workers,
                             tl_error *err)
{
    return contact_search(c, x, u, 1, arena, workers, err);
}

tl_status tl_contacts_settle(tl_contacts *c, const tl_vec3 *x, tl_workers *workers, tl_error *err)
{
    c->allowed = 0;
    contact_place(c, x, 0);
    TL_TRY(contact_measure(c, workers, err));
    int32_t count = 0;
    for (int32_t i = 0; i < c->pair_count; i++) {
        if (!(c->near[i].distance <= c->pairs[i].thickness + 2 * c->skin)) continue;
        c->pairs[count] = c->pairs[i], c->near[count] = c->near[i], c->soft[count] = c->soft[i];
        count++;
    }
    c->pair_count = count;
    c->report.candidates = count;
    memcpy(c->settled, x, (size_t)c->node_count * sizeof *x);
    c->settled_done = c->done;
    c->fresh = true;
    return TL_OK;
}

bool tl_contacts_reach(const tl_contacts *c, const tl_vec3 *x, const tl_vec3 *u)
{
    if (c->done < 1) return false;  // bodies still go: their way is not within the skin
    if (c->settled_done < 1) return false;
    const double limit = c->skin * c->skin * 0.999;
    for (int32_t i = 0; i < c->node_count; i++) {
        const tl_vec3 d = tl_sub3(tl_add3(x[i], u[i]), c->settled[i]);
        if (!(tl_dot3(d, d) <= limit)) return false;
    }
    return true;
}

int32_t tl_contacts_count(const tl_contacts *c) { return c->contact_count; }

double tl_contacts_thinnest(const tl_contacts *c) { return c->thinnest; }

double tl_contacts_nearest(const tl_contacts *c) { return c->report.nearest; }

double tl_contacts_change(const tl_contacts *c, const tl_vec3 *u)
{
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < c->node_count && c->contact_count > 0; i++) {
        if (c->near_start[i] == c->near_start[i + 1]) continue;
        sum += tl_dot3(u[i], u[i]), count++;
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

void tl_contacts_report(const tl_contacts *c, tl_contact_report *out)
{
    *out = c->report;
    out->pinched = c->pinched_count;
}
