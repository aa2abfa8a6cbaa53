// respond/near/near.c: one detector per surface, and what they find as bumps.
//
// Detectors are built from the places that nodes had when the set was made. A set that is loaded is built from the same
// places, so a run that goes on from a saved state finds what the one that was never stopped finds.

#include "respond/near/near.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/rng.h"
#include "base/timer.h"
#include "detect/distance.h"
#include "math/vec3.h"

#define DISTANCE_THICKNESSES 3.0  // close, where the scene does not say
#define LEAST_DISTANCE 1e-12      // [m] features that touch have no normal: left to the net

typedef struct side {
    void *self, *whole;  ///< by the scene's detection; by the complete one, to measure
    const tl_vec3 *x;
} side;

struct tl_near_set {
    tl_allocator alloc;
    tl_contacts_def def;  ///< arrays of the surface borrowed, the rest copied below
    tl_collide_def collide;
    const tl_detector *kind;
    tl_contact_body *bodies;
    int32_t *body_start, *node_cloth, *node_panel;
    double *thickness, *friction_self, *friction_body;
    tl_vec2 *node_uv;
    tl_vec3 *built_at;  ///< [node_count] places of nodes when the set was made
    side cloth, *body;
    double reach;
    uint64_t step;
    tl_close_list found, all;
    tl_near_list list;
    int64_t found_count, there_count, common_count;
    double seconds, fit_seconds, overlap_seconds;
};

static tl_detect_def detect_def(const tl_near_set *s)
{
    tl_detect_def out = tl_detect_def_default();
    const tl_collide_def *c = &s->collide;
    int32_t pairs = s->def.self ? 1 : 0;  // of surfaces, which share random pairs and tests
    for (int32_t b = 0; b < s->def.body_count; b++) pairs += !s->bodies[b].plane;
    if (pairs < 1) pairs = 1;
    out.k = c->dop, out.arity = c->arity, out.leaf_faces = c->leaf_faces;
    out.new_pairs = c->new_pairs / pairs + (c->new_pairs % pairs > 0);
    out.ratio = c->find_ratio, out.most_tests = (int64_t)ceil(c->most_tests / pairs), out.seed = s->def.seed;
    return out;
}

// ---- making ---------------------------------------------------------------------------------------------------

static void *copy_of(const tl_allocator *alloc, const void *from, int64_t count, size_t size)
{
    void *out = tl_alloc_bytes(alloc, (size_t)count, size);
    if (out && count > 0) memcpy(out, from, (size_t)count * size);
    return out;
}

static tl_status copy_def(tl_near_set *s, const tl_contacts_def *def, tl_error *err)
{
    const tl_allocator *a = &s->alloc;
    const int32_t n = def->cloth.node_count, nc = def->cloth_count, nb = def->body_count;
    s->def = *def, s->collide = *def->collide;
    s->def.x = NULL, s->def.face_area = NULL, s->def.collide = &s->collide;
    s->def.node_cloth = s->node_cloth = copy_of(a, def->node_cloth, n, sizeof *s->node_cloth);
    s->def.node_panel = s->node_panel = copy_of(a, def->node_panel, n, sizeof *s->node_panel);
    s->def.node_uv = s->node_uv = copy_of(a, def->node_uv, n, sizeof *s->node_uv);
    s->def.thickness = s->thickness = copy_of(a, def->thickness, nc, sizeof *s->thickness);
    s->def.friction_self = s->friction_self = copy_of(a, def->friction_self, (int64_t)nc * nc, sizeof(double));
    s->def.friction_body = s->friction_body = copy_of(a, def->friction_body, (int64_t)nc * nb, sizeof(double));
    s->def.bodies = s->bodies = copy_of(a, def->bodies, nb, sizeof *s->bodies);
    s->built_at = copy_of(a, def->x, n, sizeof *s->built_at);
    s->body_start = TL_CALLOC(a, int32_t, nb + 1);
    s->body = TL_CALLOC(a, side, nb);
    if (!s->node_cloth || !s->node_panel || !s->node_uv || !s->thickness || !s->friction_self || !s->friction_body ||
        !s->bodies || !s->built_at || !s->body_start || !s->body)
        return tl_fail_memory(err, "close pairs");
    double thickest = 0;
    for (int32_t c = 0; c < nc; c++) thickest = fmax(thickest, def->thickness[c]);
    double keep = thickest;
    for (int32_t b = 0; b < nb; b++) {
        s->body_start[b + 1] = s->body_start[b] + (def->bodies[b].plane ? 0 : def->bodies[b].surface.node_count);
        keep = fmax(keep, 0.5 * thickest + def->bodies[b].thickness);
    }
    s->reach = s->collide.distance > 0 ? fmax(s->collide.distance, keep) : DISTANCE_THICKNESSES * keep;
    return TL_OK;
}

static void destroy_side(const tl_near_set *s, side *t)
{
    if (t->self) s->kind->destroy(t->self);
    if (t->whole) tl_detector_full.destroy(t->whole);
    *t = (side){0};
}

static tl_status make_side(const tl_near_set *s, const tl_surface *surface, const tl_vec3 *x, side *out, tl_error *err)
{
    const tl_detect_def def = detect_def(s);
    TL_TRY(s->kind->create(&s->alloc, &def, surface, x, NULL, &out->self, err));
    return s->collide.measure ? tl_detector_full.create(&s->alloc, &def, surface, x, NULL, &out->whole, err) : TL_OK;
}

static tl_status make_sides(tl_near_set *s, tl_error *err)
{
    destroy_side(s, &s->cloth);
    TL_TRY(make_side(s, &s->def.cloth, s->built_at, &s->cloth, err));
    for (int32_t b = 0; b < s->def.body_count; b++) {
        destroy_side(s, &s->body[b]);
        if (!s->bodies[b].plane) TL_TRY(make_side(s, &s->bodies[b].surface, s->bodies[b].pos, &s->body[b], err));
    }
    return TL_OK;
}

tl_status tl_near_set_create(const tl_allocator *alloc, const tl_contacts_def *def, tl_near_set **out, tl_error *err)
{
    *out = NULL;
    tl_near_set *s = TL_CALLOC(alloc, tl_near_set, 1);
    if (!s) return tl_fail_memory(err, "close pairs");
    s->alloc = *alloc, s->kind = def->detector;
    tl_close_init(&s->found, *alloc), tl_close_init(&s->all, *alloc);
    tl_status status = copy_def(s, def, err);
    if (status == TL_OK) status = make_sides(s, err);
    if (status != TL_OK) tl_near_set_destroy(s), s = NULL;
    *out = s;
    return status;
}

void tl_near_set_destroy(tl_near_set *s)
{
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    const int32_t n = s->def.cloth.node_count, nc = s->def.cloth_count, nb = s->def.body_count;
    destroy_side(s, &s->cloth);
    for (int32_t b = 0; s->body && b < nb; b++) destroy_side(s, &s->body[b]);
    tl_close_free(&s->found), tl_close_free(&s->all);
    TL_FREE(&alloc, s->list.items, s->list.cap);
    TL_FREE(&alloc, s->list.body, s->list.cap);
    TL_FREE(&alloc, s->node_cloth, n);
    TL_FREE(&alloc, s->node_panel, n);
    TL_FREE(&alloc, s->node_uv, n);
    TL_FREE(&alloc, s->built_at, n);
    TL_FREE(&alloc, s->thickness, nc);
    TL_FREE(&alloc, s->friction_self, (int64_t)nc * nc);
    TL_FREE(&alloc, s->friction_body, (int64_t)nc * nb);
    TL_FREE(&alloc, s->bodies, nb);
    TL_FREE(&alloc, s->body_start, nb + 1);
    TL_FREE(&alloc, s->body, nb);
    tl_free_bytes(&alloc, s, 1, sizeof *s);
}

void tl_near_set_forget(tl_near_set *s)
{
    s->kind->forget(s->cloth.self);
    for (int32_t b = 0; b < s->def.body_count; b++)
        if (s->body[b].self) s->kind->forget(s->body[b].self);
}

// ---- finding --------------------------------------------------------------------------------------------------

static bool make_room(tl_near_set *s)
{
    if (s->list.count < s->list.cap) return true;
    int32_t cap = s->list.cap;
    if (!TL_GROW(&s->alloc, s->list.body, cap, (int64_t)s->list.count + 1)) return false;
    const tl_allocator *a = &s->alloc;
    tl_bump *items = tl_resize_bytes(a, s->list.items, (size_t)s->list.cap, (size_t)cap, sizeof *items);
    if (!items) {  // both arrays have one capacity
        TL_FREE(a, s->list.body, cap);
        TL_FREE(a, s->list.items, s->list.cap);
        s->list.cap = s->list.count = 0;
        return false;
    }
    s->list.items = items, s->list.cap = cap;
    return true;
}

static tl_status add_bump(tl_near_set *s, const tl_bump *b, int32_t body, tl_error *err)
{
    if (!make_room(s)) return tl_fail_memory(err, "close pairs");
    s->list.body[s->list.count] = body, s->list.items[s->list.count++] = *b;
    return TL_OK;
}

// Two layers keep their thickness; pieces of one panel that are nearer than that when flat keep less.
static double own_distance(const tl_near_set *s, int32_t kind, const int32_t node[4], double keep)
{
    tl_vec3 flat[4];
    for (int k = 0; k < 4; k++) {
        const int32_t i = node[k];
        if (s->node_panel[i] < 0 || s->node_panel[i] != s->node_panel[node[0]] ||
            s->node_cloth[i] != s->node_cloth[node[0]])
            return keep;
        flat[k] = (tl_vec3){s->node_uv[i].x, s->node_uv[i].y, 0};
    }
    const tl_nearest rest = kind == TL_CLOSE_EE ? tl_nearest_edge_edge(flat) : tl_nearest_vertex_face(flat);
    return fmin(keep, TL_FLAT_PART * rest.distance);
}

static tl_status take_pair(tl_near_set *s, const tl_close *p, int32_t body, const tl_vec3 *x, tl_error *err)
{
    const uint64_t key = ((uint64_t)(uint32_t)p->kind << 62) | ((uint64_t)(uint32_t)p->a << 31) | (uint32_t)p->b;
    if (s->collide.response_ratio < 1 &&
        !(tl_random(s->def.seed, s->step * 1024 + (uint64_t)(body + 1), key) < s->collide.response_ratio))
        return TL_OK;
    const tl_surface *own = &s->def.cloth, *other = body < 0 ? own : &s->bodies[body].surface;
    const tl_vec3 *y = body < 0 ? x : s->body[body].x;
    const int32_t nc = s->def.cloth_count, first = body < 0 ? 0 : own->node_count + s->body_start[body];
    tl_bump b = {.gap = p->near.distance};
    const int second = tl_close_nodes(own, other, p->kind, p->a, p->b, b.node);
    int32_t cloth = 0, far = 0;  // on either side
    tl_vec3 apart = {0};
    for (int k = 0; k < 4; k++) {
        const bool there = second >> k & 1;
        b.weight[k] = p->near.weight[k];
        apart = tl_madd3(apart, b.weight[k], (there ? y : x)[b.node[k]]);
        if (!there || body < 0) (there ? &far : &cloth)[0] = s->node_cloth[b.node[k]];
    }
    const double size = tl_norm3(apart);
    if (!(size > LEAST_DISTANCE)) return TL_OK;
    b.normal = tl_mul3(1 / size, apart);
    if (body < 0) {
        b.keep = own_distance(s, p->kind, b.node, 0.5 * (s->thickness[cloth] + s->thickness[far]));
        b.friction = s->friction_self[cloth * nc + far];
    } else {
        b.keep = 0.5 * s->thickness[cloth] + s->bodies[body].thickness;
        b.friction = s->friction_body[cloth * s->def.body_count + body];
        for (int k = 0; k < 4; k++)
            if (second >> k & 1) b.node[k] += first;
    }
    return add_bump(s, &b, body, err);
}

static void note_time(tl_near_set *s, double start, const tl_detect_report *report)
{
    s->seconds += tl_processor_seconds() - start;
    s->fit_seconds += report->fit_seconds, s->overlap_seconds += report->overlap_seconds;
}

static tl_status find_with(tl_near_set *s, int32_t body, const tl_vec3 *x, const tl_ctx *ctx, tl_error *err)
{
    tl_detect_report report = {0};
    const tl_detect_ctx detect = {ctx->arena, ctx->workers, &report};
    const tl_detect_ask ask = {s->reach, body + 1, s->step};
    side *own = &s->cloth, *other = body < 0 ? NULL : &s->body[body];
    const double start = tl_processor_seconds();
    if (other) TL_TRY(s->kind->fit(other->self, other->x, NULL, s->reach, &detect, err));
    TL_TRY(s->kind->find(own->self, other ? other->self : NULL, &ask, &detect, &s->found, err));
    note_time(s, start, &report);
    s->found_count += s->found.count;
    if (s->collide.measure) {
        if (other) TL_TRY(tl_detector_full.fit(other->whole, other->x, NULL, s->reach, &detect, err));
        TL_TRY(tl_detector_full.find(own->whole, other ? other->whole : NULL, &ask, &detect, &s->all, err));
        s->there_count += s->all.count, s->common_count += tl_close_common(&s->all, &s->found);
    }
    for (int32_t i = 0; i < s->found.count; i++) TL_TRY(take_pair(s, &s->found.items[i], body, x, err));
    return TL_OK;
}

static tl_status find_plane(tl_near_set *s, int32_t body, const tl_contact_step *step, const tl_vec3 *x, tl_error *err)
{
    const tl_vec3 point = step->plane_begin[2 * body], normal = step->plane_begin[2 * body + 1];
    const tl_vec3 speed = tl_mul3(1 / step->dt, tl_sub3(step->plane_end[2 * body], point));
    for (int32_t i = 0; i < s->def.cloth.node_count; i++) {
        const double gap = tl_dot3(normal, tl_sub3(x[i], point));
        if (!(gap < s->reach)) continue;
        const int32_t cloth = s->node_cloth[i];
        const tl_bump b = {.node = {i, -1, -1, -1},
                           .weight = {1},
                           .normal = normal,
                           .other = speed,
                           .gap = gap,
                           .keep = 0.5 * s->thickness[cloth] + s->bodies[body].thickness,
                           .friction = s->friction_body[cloth * s->def.body_count + body]};
        TL_TRY(add_bump(s, &b, body, err));
    }
    return TL_OK;
}

tl_status tl_near_set_find(tl_near_set *s, const tl_contact_step *step, const tl_vec3 *x, const tl_ctx *ctx,
                           tl_error *err)
{
    s->list.count = 0, s->found_count = s->there_count = s->common_count = 0;
    s->seconds = s->fit_seconds = s->overlap_seconds = 0;
    s->step++;
    s->cloth.x = x;
    tl_detect_report report = {0};
    const tl_detect_ctx detect = {ctx->arena, ctx->workers, &report};
    const double start = tl_processor_seconds();
    TL_TRY(s->kind->fit(s->cloth.self, x, NULL, s->reach, &detect, err));
    note_time(s, start, &report);
    if (s->collide.measure) TL_TRY(tl_detector_full.fit(s->cloth.whole, x, NULL, s->reach, &detect, err));
    if (s->def.self) TL_TRY(find_with(s, -1, x, ctx, err));
    for (int32_t b = 0; b < s->def.body_count; b++) {
        s->body[b].x = step->body_begin + s->body_start[b];
        TL_TRY(s->bodies[b].plane ? find_plane(s, b, step, x, err) : find_with(s, b, x, ctx, err));
    }
    return TL_OK;
}

tl_near_list *tl_near_set_list(tl_near_set *s) { return &s->list; }
int32_t tl_near_set_body_nodes(const tl_near_set *s) { return s->body_start[s->def.body_count]; }

void tl_near_set_report(const tl_near_set *s, tl_contact_report *out)
{
    out->found = s->found_count, out->there = s->there_count, out->missed = s->there_count - s->common_count;
    out->detection_seconds = s->seconds;
    out->fit_seconds = s->fit_seconds, out->overlap_seconds = s->overlap_seconds;
}

// ---- saved states ---------------------------------------------------------------------------------------------

static size_t put(char *out, size_t at, const void *data, size_t size)
{
    if (out && size > 0) memcpy(out + at, data, size);
    return at + size;
}

// Slots of memory: the cloth with itself, and with every body.
static int32_t slot_count(const tl_near_set *s) { return s->def.body_count + 1; }

size_t tl_near_set_save(const tl_near_set *s, char *out)
{
    size_t at = put(out, 0, &s->step, sizeof s->step);
    at = put(out, at, s->built_at, (size_t)s->def.cloth.node_count * sizeof *s->built_at);
    for (int32_t slot = 0; slot < slot_count(s); slot++) {
        const tl_active_list none = {0}, *list = tl_detector_memory(s->kind, s->cloth.self, slot, NULL);
        if (!list) list = &none;
        const double numbers[4] = {list->count, list->new_pairs, list->again, list->hits};
        at = put(out, at, numbers, sizeof numbers);
        at = put(out, at, list->items, (size_t)list->count * sizeof *list->items);
    }
    return at;
}

typedef struct saved_list {
    double count, new_pairs, again, hits;
} saved_list;

// The list that begins at *at, where `items` get to be; *at goes behind it.
static tl_status read_list(const char *data, size_t size, size_t *at, saved_list *list, const char **items,
                           tl_error *err)
{
    if (size - *at < sizeof *list) return tl_fail(err, TL_BAD_INPUT, "saved state: close pairs are cut short");
    memcpy(list, data + *at, sizeof *list), *at += sizeof *list;
    const bool whole = list->count >= 0 && list->count <= (double)((size - *at) / sizeof(tl_active));
    if (!whole || !(list->new_pairs >= 0 && list->new_pairs <= INT32_MAX) || !isfinite(list->again) ||
        !isfinite(list->hits))
        return tl_fail(err, TL_BAD_INPUT, "saved state: close pairs are cut short or damaged");
    *items = data + *at, *at += (size_t)list->count * sizeof(tl_active);
    return TL_OK;
}

tl_status tl_near_check(int32_t node_count, int32_t body_count, const char *data, size_t size, tl_error *err)
{
    size_t at = sizeof(uint64_t) + (size_t)node_count * sizeof(tl_vec3);
    if (size < at) return tl_fail(err, TL_BAD_INPUT, "saved state: close pairs are cut short");
    saved_list list;
    const char *items;
    for (int32_t slot = 0; slot <= body_count; slot++) TL_TRY(read_list(data, size, &at, &list, &items, err));
    return at == size ? TL_OK : tl_fail(err, TL_BAD_INPUT, "saved state: close pairs and %zu bytes more", size - at);
}

static bool is_within(int32_t i, int32_t count) { return i >= 0 && i < count; }

static bool has_features(const tl_surface *first, const tl_surface *second, const tl_active *p)
{
    if (p->kind == TL_CLOSE_EE) return is_within(p->a, first->edge_count) && is_within(p->b, second->edge_count);
    const bool own = p->kind == TL_CLOSE_VF;
    return (own || p->kind == TL_CLOSE_FV) && is_within(p->a, (own ? first : second)->node_count) &&
           is_within(p->b, (own ? second : first)->face_count);
}

// What is remembered of a slot: 0 the cloth itself, then bodies. Pairs of features that there are not are left out.
static tl_status remember(tl_near_set *s, int32_t slot, const saved_list *saved, const char *items, tl_error *err)
{
    if (!tl_detector_memory(s->kind, s->cloth.self, slot, NULL)) return TL_OK;
    const tl_surface *own = &s->def.cloth, *other = slot > 0 ? &s->bodies[slot - 1].surface : own;
    tl_active_list list = {.new_pairs = (int32_t)saved->new_pairs, .again = saved->again, .hits = saved->hits};
    list.cap = (int32_t)saved->count;
    list.items = TL_ALLOC(&s->alloc, tl_active, list.cap);
    if (!list.items) return tl_fail_memory(err, "close pairs");
    for (int32_t i = 0; i < list.cap; i++) {
        tl_active *p = &list.items[list.count];
        memcpy(p, items + (size_t)i * sizeof *p, sizeof *p);
        list.count += has_features(own, other, p);
    }
    const tl_status status = tl_detector_remember(s->kind, s->cloth.self, slot, &list, err);
    TL_FREE(&s->alloc, list.items, list.cap);
    return status;
}

tl_status tl_near_set_load(tl_near_set *s, const char *data, size_t size, tl_error *err)
{
    const size_t places = (size_t)s->def.cloth.node_count * sizeof *s->built_at;
    size_t at = sizeof s->step + places;
    TL_TRY(tl_near_check(s->def.cloth.node_count, s->def.body_count, data, size, err));
    memcpy(&s->step, data, sizeof s->step);
    memcpy(s->built_at, data + sizeof s->step, places);
    TL_TRY(make_sides(s, err));
    for (int32_t slot = 0; slot < slot_count(s); slot++) {
        saved_list list;
        const char *items = NULL;
        TL_TRY(read_list(data, size, &at, &list, &items, err));
        TL_TRY(remember(s, slot, &list, items, err));
    }
    return TL_OK;
}
