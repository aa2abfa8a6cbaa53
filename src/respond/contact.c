// respond/contact.c: creation, beginning of a step, positions of bodies along their paths, and reports.

#include "respond/contact_impl.h"

#include <math.h>

#include "base/fail.h"
#include "detect/distance.h"

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
    int32_t *first = TL_ALLOC(alloc, int32_t, s->node_count + 1),
            *edges = TL_ALLOC(alloc, int32_t, s->edge_count > 0 ? s->edge_count : 1);
    *edge_area = TL_CALLOC(alloc, double, s->edge_count > 0 ? s->edge_count : 1);
    tl_status status = first && edges && *edge_area ? TL_OK : tl_fail_memory(err, "the contacts");
    if (status == TL_OK) {
        memset(first, 0, (size_t)(s->node_count + 1) * sizeof *first);
        for (int32_t e = 0; e < s->edge_count; e++)
            first[(s->edge[e][0] < s->edge[e][1] ? s->edge[e][0] : s->edge[e][1]) + 1]++;
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
                    if (s->edge[edges[i]][0] == high || s->edge[edges[i]][1] == high)
                        (*edge_area)[edges[i]] += face_area[f] / 3;
            }
    }
    TL_FREE(alloc, first, s->node_count + 1);
    TL_FREE(alloc, edges, s->edge_count > 0 ? s->edge_count : 1);
    return status;
}

static tl_status add_body(tl_contacts *c, int32_t b, const tl_contact_body *def, tl_error *err)
{
    contact_body *body = &c->bodies[b];
    const tl_surface *s = &body->surface;
    const tl_vec3 *x = def->pos;
    if (body->plane) return TL_OK;
    double *area = body->face_area = TL_ALLOC(&c->alloc, double, s->face_count > 0 ? s->face_count : 1);
    if (!area) return tl_fail_memory(err, "the contacts");
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_vec3 u = tl_sub3(x[s->face[f][1]], x[s->face[f][0]]), v = tl_sub3(x[s->face[f][2]], x[s->face[f][0]]);
        area[f] = 0.5 * tl_norm3(tl_cross3(u, v));
    }
    TL_TRY(spread_area(&c->alloc, s, area, c->node_area + c->node_count + body->start, &body->edge_area, err));
    body->tree = def->tree, body->own_tree = !def->tree, body->fitted = def->tree && !body->moves;
    tl_bvh_def tree = tl_bvh_def_default();
    tree.relative = 1;
    return body->own_tree ? tl_bvh_create(&c->alloc, &tree, s, x, &body->tree, err) : TL_OK;
}

static bool fill_arrays(tl_contacts *c, const tl_contacts_def *def)
{
    const int32_t n = c->node_count, nb = c->body_count, nc = c->cloth_count;
    const size_t all = (size_t)n + (size_t)c->body_nodes;
    c->node_area = TL_CALLOC(&c->alloc, double, all);
    c->motion.pos = TL_CALLOC(&c->alloc, tl_vec3, all);
    c->motion.disp = TL_CALLOC(&c->alloc, tl_vec3, all);
    c->node_cloth = TL_ALLOC(&c->alloc, int32_t, n);
    c->node_uv = TL_ALLOC(&c->alloc, tl_vec2, n);
    c->node_panel = TL_ALLOC(&c->alloc, int32_t, n);
    c->face_area = copy_doubles(&c->alloc, def->face_area, def->cloth.face_count);
    c->thickness = copy_doubles(&c->alloc, def->thickness, nc);
    c->friction_self = copy_doubles(&c->alloc, def->friction_self, nc * nc);
    c->friction_body = copy_doubles(&c->alloc, def->friction_body, nc * nb);
    if (!c->node_area || !c->motion.pos || !c->motion.disp || !c->node_cloth || !c->node_uv || !c->node_panel ||
        !c->face_area || !c->thickness || !c->friction_self || !c->friction_body)
        return false;
    memcpy(c->node_cloth, def->node_cloth, (size_t)n * sizeof *c->node_cloth);
    memcpy(c->node_uv, def->node_uv, (size_t)n * sizeof *c->node_uv);
    memcpy(c->node_panel, def->node_panel, (size_t)n * sizeof *c->node_panel);
    return true;
}

static tl_status fill(tl_contacts *c, const tl_contacts_def *def, tl_error *err)
{
    if (!fill_arrays(c, def)) return tl_fail_memory(err, "the contacts");
    TL_TRY(contact_cache_create(c, err));
    TL_TRY(contact_set_create(c, err));
    TL_TRY(contact_pinch_create(c, err));
    TL_TRY(spread_area(&c->alloc, &c->cloth, c->face_area, c->node_area, &c->edge_area, err));
    tl_bvh_def tree = tl_bvh_def_default();
    tree.relative = 1;
    TL_TRY(tl_bvh_create(&c->alloc, &tree, &c->cloth, def->x, &c->tree, err));
    for (int32_t b = 0; b < c->body_count; b++) TL_TRY(add_body(c, b, &def->bodies[b], err));
    for (int32_t i = 0; i < c->cloth_count; i++) c->thickest = fmax(c->thickest, c->thickness[i]);
    c->reach = c->thickest;
    for (int32_t b = 0; b < c->body_count; b++) c->reach = fmax(c->reach, contact_reach(c, b));
    c->skin = c->policy.pairs.skin * c->reach;
    for (int32_t e = 0; e < c->cloth.edge_count; e++)
        c->edge_length +=
            tl_norm3(tl_sub3(def->x[c->cloth.edge[e][0]], def->x[c->cloth.edge[e][1]])) / c->cloth.edge_count;
    tl_contacts_forget(c);
    return TL_OK;
}

tl_status tl_contacts_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_contacts **out, tl_error *err)
{
    *out = NULL;
    tl_contacts *c = TL_CALLOC(alloc, tl_contacts, 1);
    if (!c) return tl_fail_memory(err, "the contacts");
    c->alloc = *alloc;
    c->policy = def->policy ? *def->policy : tl_contact_policy_default();
    c->cloth = def->cloth, c->self = def->self;
    c->node_count = def->cloth.node_count, c->cloth_count = def->cloth_count, c->body_count = def->body_count;
    c->pressure = def->pressure, c->slip_speed = def->slip_speed;
    const int32_t nb = def->body_count > 0 ? def->body_count : 1;
    c->bodies = TL_CALLOC(alloc, contact_body, nb);
    tl_status status = c->bodies ? TL_OK : tl_fail_memory(err, "the contacts");
    for (int32_t b = 0; b < def->body_count && status == TL_OK; b++) {
        const tl_contact_body *d = &def->bodies[b];
        c->bodies[b] = (contact_body){d->surface, d->thickness, d->plane, d->moves, .start = c->body_nodes};
        if (!d->plane) c->body_nodes += d->surface.node_count;
        c->bodies_move |= d->moves;
    }
    if (status == TL_OK) status = fill(c, def, err);
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
    contact_cache_free(c);
    contact_set_free(c);
    contact_pinch_free(c);
    contact_zones_free(c);
    for (int32_t b = 0; b < c->body_count && c->bodies; b++) {
        contact_body *body = &c->bodies[b];
        const tl_surface *s = &body->surface;
        if (body->own_tree) tl_bvh_destroy(body->tree);
        TL_FREE(&alloc, body->face_area, s->face_count > 0 ? s->face_count : 1);
        TL_FREE(&alloc, body->edge_area, s->edge_count > 0 ? s->edge_count : 1);
    }
    tl_bvh_destroy(c->tree);
    TL_FREE(&alloc, c->bodies, nb);
    TL_FREE(&alloc, c->node_area, all);
    TL_FREE(&alloc, c->motion.pos, all);
    TL_FREE(&alloc, c->motion.disp, all);
    TL_FREE(&alloc, c->node_cloth, n);
    TL_FREE(&alloc, c->node_uv, n);
    TL_FREE(&alloc, c->node_panel, n);
    TL_FREE(&alloc, c->face_area, c->cloth.face_count > 0 ? c->cloth.face_count : 1);
    TL_FREE(&alloc, c->edge_area, c->cloth.edge_count > 0 ? c->cloth.edge_count : 1);
    TL_FREE(&alloc, c->thickness, nc > 0 ? nc : 1);
    TL_FREE(&alloc, c->friction_self, nc * nc > 0 ? nc * nc : 1);
    TL_FREE(&alloc, c->friction_body, nc * c->body_count > 0 ? nc * c->body_count : 1);
    tl_free_bytes(&alloc, c, 1, sizeof *c);
}

tl_status tl_contacts_begin(tl_contacts *c, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                            tl_error *err)
{
    c->step = *step;
    c->motion.progress = c->bodies_move ? 0 : 1, c->motion.allowed = 0;
    c->motion.pos_progress = c->motion.disp_of[0] = -1;
    for (int32_t b = 0; b < c->body_count; b++)
        if (!c->bodies[b].plane)
            c->bodies[b].box = contact_box_of(step->body_begin + c->bodies[b].start,
                                              step->body_end + c->bodies[b].start, c->bodies[b].surface.node_count);
    contact_cache_begin(c);
    contact_set_begin(c);
    contact_clip_begin(c);
    contact_zones_begin(c);
    c->report = (tl_contact_report){.nearest = 1};
    return contact_begin_pinched(c, x, ctx, err);
}

tl_bvh *tl_contacts_cloth_tree(tl_contacts *c)
{
    contact_invalidate_lists(c);  // lists go by what the tree was fitted to
    return c->tree;
}

bool tl_contacts_bodies_move(const tl_contacts *c) { return c->bodies_move; }

double tl_contacts_bodies_left(const tl_contacts *c) { return 1 - c->motion.progress; }

void tl_contacts_move_bodies(tl_contacts *c, double part)
{
    const double rest = 1 - c->motion.progress, way = part * c->motion.allowed;
    c->motion.progress = way >= 1 ? 1 : c->motion.progress + way * rest;
    c->motion.allowed = 0;
}

static tl_vec3 body_node(const tl_contacts *c, int32_t i, double done)
{
    const tl_vec3 a = c->step.body_begin[i], b = c->step.body_end[i];
    if (done >= 1) return b;
    return tl_madd3(a, done, tl_sub3(b, a));
}

void contact_allow(tl_contacts *c, double part) { c->motion.allowed = part; }

void contact_set_progress(tl_contacts *c, double progress) { c->motion.progress = progress, c->motion.allowed = 0; }

void contact_start_at(tl_contacts *c, const tl_vec3 *x)
{
    c->motion.allowed = 0;
    contact_set_positions(c, x, 0);
}

void contact_set_disp(tl_contacts *c, const tl_vec3 *u)
{
    memcpy(c->motion.disp, u, (size_t)c->node_count * sizeof *u);
}

void contact_set_positions(tl_contacts *c, const tl_vec3 *x, double part)
{
    const double done = c->motion.progress + part * c->motion.allowed * (1 - c->motion.progress);
    memcpy(c->motion.pos, x, (size_t)c->node_count * sizeof *x);
    if (c->motion.pos_progress == done) return;
    for (int32_t i = 0; i < c->body_nodes; i++) c->motion.pos[c->node_count + i] = body_node(c, i, done);
    c->motion.pos_progress = done;
}

void contact_set_body_disp(tl_contacts *c, double part)
{
    if (c->motion.disp_of[0] == c->motion.progress && (c->motion.disp_of[1] == part || c->motion.progress >= 1)) return;
    const int32_t n = c->node_count;
    for (int32_t i = 0; i < c->body_nodes; i++)
        c->motion.disp[n + i] = tl_mul3(part, tl_sub3(c->step.body_end[i], c->motion.pos[n + i]));
    c->motion.disp_of[0] = c->motion.progress, c->motion.disp_of[1] = part;
}

void contact_plane(const tl_contacts *c, int32_t body, double done, tl_vec3 *point, tl_vec3 *normal)
{
    const tl_vec3 *a = c->step.plane_begin + 2 * body, *b = c->step.plane_end + 2 * body;
    *point = done >= 1 ? b[0] : tl_madd3(a[0], done, tl_sub3(b[0], a[0]));
    *normal = done >= 1 ? b[1] : tl_unit3_or(tl_madd3(a[1], done, tl_sub3(b[1], a[1])), b[1]);
}

// With the normal n + s dn (not of unit length, which its sign does not need) and the point p + s dp the distance
// becomes
//     (n + s dn).(x - p + r u - s dp) = d + r n.u + s (dn.(x - p) - n.dp) + r s dn.u - s^2 dn.dp,
// and products of r and s in [0, 1] are no larger than s.
void contact_plane_approach(const tl_contacts *c, int32_t body, tl_vec3 x, tl_vec3 u, double way[2])
{
    const tl_vec3 *a = c->step.plane_begin + 2 * body, *b = c->step.plane_end + 2 * body;
    const tl_vec3 now = c->motion.progress >= 1 ? b[1] : tl_madd3(a[1], c->motion.progress, tl_sub3(b[1], a[1]));
    tl_vec3 p, n;
    contact_plane(c, body, c->motion.progress, &p, &n);
    const double length = tl_norm3(now);
    const tl_vec3 dn = length > 0 ? tl_mul3(1 / length, tl_sub3(b[1], now)) : (tl_vec3){0, 0, 0}, dp = tl_sub3(b[0], p);
    way[0] = tl_dot3(n, u);
    way[1] = tl_dot3(n, dp) - tl_dot3(dn, tl_sub3(x, p)) + fmax(0, -tl_dot3(dn, u)) + fmax(0, tl_dot3(dn, dp));
}

double contact_friction(const tl_contacts *c, const pair *p)
{
    const int32_t cloth = c->node_cloth[p->node[p->node[0] < c->node_count ? 0 : 1]];
    if (p->body != TL_CLOTH) return c->friction_body[cloth * c->body_count + p->body];
    return c->friction_self[cloth * c->cloth_count + c->node_cloth[p->node[first_count(p)]]];
}

proximity contact_proximity(const tl_contacts *c, const pair *p, const tl_vec3 *at, double done)
{
    proximity out;
    if (p->kind == PAIR_PLANE) {
        tl_vec3 point;
        contact_plane(c, p->body, done, &point, &out.normal);
        out.distance = tl_dot3(out.normal, tl_sub3(at[p->node[0]], point));
        out.weight[0] = 1, out.weight[1] = out.weight[2] = out.weight[3] = 0;
        return out;
    }
    const tl_vec3 x[4] = {at[p->node[0]], at[p->node[1]], at[p->node[2]], at[p->node[3]]};
    const tl_nearest near =
        p->kind == PAIR_VF ? tl_nearest_vf(x[0], x[1], x[2], x[3]) : tl_nearest_ee(x[0], x[1], x[2], x[3]);
    tl_vec3 gap = {0, 0, 0};
    // relative to the first node: differences of near points, no cancellation of large coordinates
    for (int k = 0; k < 4; k++)
        out.weight[k] = near.weight[k], gap = tl_madd3(gap, near.weight[k], tl_sub3(x[k], x[0]));
    const double length = tl_norm3(gap);
    out.distance = length;
    out.normal = length > 0 ? tl_mul3(1 / length, gap) : (tl_vec3){0, 1, 0};
    return out;
}
int32_t tl_contacts_count(const tl_contacts *c) { return c->set.count; }

double tl_contacts_thinnest(const tl_contacts *c) { return c->set.thinnest; }

double tl_contacts_nearest(const tl_contacts *c) { return c->report.nearest; }

double tl_contacts_change(const tl_contacts *c, const tl_vec3 *u)
{
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < c->node_count && c->set.count > 0; i++) {
        if (contact_none_around(c, i)) continue;
        sum += tl_dot3(u[i], u[i]), count++;
    }
    return count > 0 ? sqrt(sum / count) : 0;
}

void tl_contacts_report(const tl_contacts *c, tl_contact_report *out)
{
    *out = c->report;
    out->pinched = c->pinch.count;
}
