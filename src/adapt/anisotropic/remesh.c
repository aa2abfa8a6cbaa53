// adapt/anisotropic/remesh.c: the schedule: split what is too long, then collapse what can go, flipping all along.

#include "adapt/anisotropic/remesh.h"

#include <string.h>

#include "adapt/anisotropic/remesh_impl.h"
#include "adapt/anisotropic/sizing_impl.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"

// Bits of `waits`. NO_..: looked at with all others, in parallel, found to be ruled out, and nothing that it depends on
// has changed since.
enum { FLIPS = 1, COLLAPSES = 2, NO_FLIP = 4, NO_COLLAPSE = 8 };  // of the second end: twice NO_COLLAPSE
enum { EDGES_PER_CHUNK = 256 };  // a constant: results must not depend on the worker count

tl_status tl_remesh_attach(tl_mesh *mesh, int32_t groups, tl_remesh_attrs *out, tl_error *err)
{
    const int32_t words = groups / 32 + 1;
    const struct {
        tl_domain domain;
        const char *name;
        tl_attr_type type;
        int32_t width;
        tl_attr_rule rule;
        int32_t *index;
    } list[] = {
        {TL_VERTS, "size", TL_DOUBLE, 3, TL_ATTR_MEAN, &out->size},
        {TL_EDGES, "turned", TL_INT32, 1, TL_ATTR_ZERO, &out->turned},
        {TL_NODES, "churn", TL_DOUBLE, TL_CHURN_WIDTH, TL_ATTR_ZERO, &out->churn},
        {TL_NODES, "mass", TL_DOUBLE, 1, TL_ATTR_ZERO, &out->mass},
        {TL_NODES, "held", TL_INT32, words, TL_ATTR_BOTH, &out->held},
        {TL_NODES, "listed", TL_INT32, words, TL_ATTR_ZERO, &out->listed},
    };
    out->rest = tl_mesh_rest_find(mesh);
    out->clearance = tl_mesh_attr_find(mesh, TL_FACES, "clearance");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        *list[i].index = tl_mesh_attr_find(mesh, list[i].domain, list[i].name);
        if (*list[i].index != TL_NONE && mesh->slots[list[i].domain].attrs[*list[i].index].width != list[i].width) {
            TL_TRY(tl_mesh_attr_remove(mesh, list[i].domain, *list[i].index, err));
            return tl_remesh_attach(mesh, groups, out, err);  // indices have moved
        }
        if (*list[i].index == TL_NONE)
            TL_TRY(tl_mesh_attr_add(mesh, list[i].domain, list[i].name, list[i].type, list[i].width, list[i].rule,
                                    list[i].index, err));
    }
    return TL_OK;
}

bool remesh_grow(remesher *r, ids *list) { return TL_GROW(&r->mesh->alloc, list->item, list->cap, list->count + 1); }

tl_status remesh_grow_marks(remesher *r, int32_t extra, tl_error *err)
{
    const int32_t edges = r->mesh->slots[TL_EDGES].count + extra, faces = r->mesh->slots[TL_FACES].count + extra;
    int32_t before = r->pending_cap;
    if (!TL_GROW(&r->mesh->alloc, r->pending, r->pending_cap, edges)) return tl_fail_memory(err, "remeshing");
    if (r->pending_cap > before) memset(r->pending + before, 0, (size_t)(r->pending_cap - before));
    before = r->stamp_cap;
    if (!TL_GROW(&r->mesh->alloc, r->stamp, r->stamp_cap, faces)) return tl_fail_memory(err, "remeshing");
    if (r->stamp_cap > before) memset(r->stamp + before, 0, (size_t)(r->stamp_cap - before) * sizeof *r->stamp);
    before = r->seen_cap;
    if (!TL_GROW(&r->mesh->alloc, r->seen, r->seen_cap, faces)) return tl_fail_memory(err, "remeshing");
    if (r->seen_cap > before) memset(r->seen + before, 0, (size_t)(r->seen_cap - before) * sizeof *r->seen);
    before = r->modified_cap;
    if (!TL_GROW(&r->mesh->alloc, r->modified, r->modified_cap, faces)) return tl_fail_memory(err, "remeshing");
    if (r->modified_cap > before) memset(r->modified + before, 0, (size_t)(r->modified_cap - before));
    before = r->met_cap;
    if (!TL_GROW(&r->mesh->alloc, r->met, r->met_cap, r->mesh->slots[TL_NODES].count + extra))
        return tl_fail_memory(err, "remeshing");
    if (r->met_cap > before) memset(r->met + before, 0, (size_t)(r->met_cap - before) * sizeof *r->met);
    before = r->budget_cap;
    if (!TL_GROW(&r->mesh->alloc, r->budget, r->budget_cap, faces)) return tl_fail_memory(err, "remeshing");
    for (int32_t f = before; f < r->budget_cap; f++) r->budget[f] = TL_NONE;
    return TL_OK;
}

static tl_status wait_for(remesher *r, int32_t e, int what, tl_error *err)
{
    r->pending[e] &= (uint8_t) ~(what == FLIPS ? NO_FLIP : 3 * NO_COLLAPSE);
    if (r->pending[e] & what) return TL_OK;
    if (!remesh_push(r, what == FLIPS ? &r->edges : &r->queue, e)) return tl_fail_memory(err, "remeshing");
    r->pending[e] |= (uint8_t)what;
    return TL_OK;
}

// The edges of the changed faces may have to be flipped.
static tl_status look_at_changed(remesher *r, tl_error *err)
{
    for (int32_t i = 0; i < r->changed.count; i++)
        for (int k = 0; k < 3; k++) TL_TRY(wait_for(r, r->mesh->face_edge[r->changed.item[i]][k], FLIPS, err));
    return TL_OK;
}

// Whether a node may go depends on all faces around it: every edge of a node of a changed face is to be looked at.
static tl_status look_around_node(remesher *r, int32_t n, tl_error *err)
{
    static const int8_t next[5] = {0, 1, 2, 0, 1};
    const tl_mesh *mesh = r->mesh;
    int32_t v = mesh->node_vert[n];
    do {
        for (ring walk = ring_begin(mesh, v); walk.face != TL_NONE; ring_next(mesh, &walk))
            for (int k = 1; k < 3; k++)
                TL_TRY(wait_for(r, mesh->face_edge[walk.face][next[walk.corner + k]], COLLAPSES, err));
        v = mesh->vert_next[v];
    } while (v != mesh->node_vert[n]);
    return TL_OK;
}

static tl_status look_around_changed(remesher *r, tl_error *err)
{
    enum { KNOWN = 32 };  // nodes of several faces are looked at once, if they are not too many
    int32_t known[KNOWN], count = 0;
    for (int32_t i = 0; i < 3 * r->changed.count; i++) {
        const int32_t n = tl_face_node(r->mesh, r->changed.item[i / 3], i % 3);
        int32_t j = 0;
        while (j < count && known[j] != n) j++;
        if (j < count) continue;
        if (count < KNOWN) known[count++] = n;
        TL_TRY(look_around_node(r, n, err));
    }
    return TL_OK;
}

void remesh_set_budget(remesher *r, int32_t left)
{
    for (int32_t i = 0; i < r->changed.count; i++) {
        r->budget[r->changed.item[i]] = left;
        r->modified[r->changed.item[i]] = 1;
        r->stamp[r->changed.item[i]] = r->now;
    }
}

tl_status remesh_know_clearance(remesher *r, tl_error *err)
{
    if (r->measured || !r->def->renew_clearance) return TL_OK;
    r->measured = true;
    return r->def->renew_clearance(r->def->renew_self, err);
}

void remesh_spend(remesher *r, double rise)
{
    if (!r->def->fabric || !(rise > 0)) return;
    r->energy_left = fmax(0, r->energy_left - rise), r->report->energy += rise;
}

static void refuse_flip(remesher *r, int32_t e)
{
    r->report->refused++;
    const int32_t *f = r->mesh->edge_face[e];
    r->stale_refusals += r->modified[f[0]] || r->modified[f[1]];
}

// ---- first looks ------------------------------------------------------------------------------------------

static void screen_flips(void *arg, int32_t begin, int32_t end)
{
    const remesher *r = arg;
    for (int32_t e = begin; e < end; e++) {
        if (!tl_alive(r->mesh, TL_EDGES, e)) continue;
        if (*remesh_flip_count(r, e) > 0 && remesh_is_delaunay(r, e)) *remesh_flip_count(r, e) = 0;
        if (!remesh_may_flip(r, e)) r->pending[e] |= NO_FLIP;
    }
}

typedef struct first_look {
    const remesher *r;
    double *size;
} first_look;

static void screen_collapses(void *arg, int32_t begin, int32_t end)
{
    const first_look *look = arg;
    const remesher *r = look->r;
    for (int32_t e = begin; e < end; e++) {
        if (!tl_alive(r->mesh, TL_EDGES, e)) continue;
        look->size[e] = remesh_size(r, e);
        for (int k = 0; k < 2; k++)
            if (remesh_rejects_collapse(r, e, k)) r->pending[e] |= (uint8_t)(NO_COLLAPSE << k);
    }
}

// ---- flips ------------------------------------------------------------------------------------------------

static tl_status flip(remesher *r, int32_t e, bool collapsing, tl_error *err)
{
    tl_mesh *mesh = r->mesh;
    double rise;
    int32_t left;
    if (!remesh_wants_flip(r, e, 1, &rise)) return TL_OK;
    TL_TRY(remesh_know_clearance(r, err));
    if (!remesh_flip_fits(r, e, &left)) {
        refuse_flip(r, e);
        return TL_OK;
    }
    r->changed.count = 0;
    for (int side = 0; side < 2; side++)
        if (!remesh_push(r, &r->changed, mesh->edge_face[e][side])) return tl_fail_memory(err, "remeshing");
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[mesh->edge_node[e][0]]);
    const int32_t turned = *remesh_flip_count(r, e);
    TL_TRY(tl_mesh_flip_edge(mesh, e, err));
    *remesh_flip_count(r, e) = turned + 1;
    remesh_set_budget(r, left);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, false);
    remesh_note_change(r, &r->changed);
    remesh_spend(r, rise);
    r->report->flips++;
    TL_TRY(look_at_changed(r, err));
    return collapsing ? look_around_changed(r, err) : TL_OK;
}

// Flips until the edges that wait are Delaunay. The average metric differs from edge to edge, so that this need not
// end: it is ended.
static tl_status flip_edges(remesher *r, bool collapsing, tl_error *err)
{
    const int64_t most = 20 * ((int64_t)r->edges.count + 16);
    for (int32_t i = 0; i < r->edges.count; i++) {
        const int32_t e = r->edges.item[i];
        r->pending[e] &= (uint8_t)~FLIPS;
        if (r->pending[e] & NO_FLIP) continue;
        if (i < most && tl_alive(r->mesh, TL_EDGES, e)) TL_TRY(flip(r, e, collapsing, err));
    }
    r->edges.count = 0;
    return TL_OK;
}

// Operations use up clearance. Where much was refused for that reason, as when a coarse mesh is refined all at once,
// it is measured anew and all edges get another chance. What is refused to faces as they were measured would be refused
// again.

static tl_status renew_clearance(remesher *r, bool collapsing, tl_error *err)
{
    const tl_mesh *mesh = r->mesh;
    for (; r->def->renew_clearance && r->renewals < r->policy->renewals_max; r->renewals++) {
        if (r->stale_refusals <= r->policy->renew_part * mesh->slots[TL_FACES].live) break;
        TL_TRY(r->def->renew_clearance(r->def->renew_self, err));
        remesh_forget_clearance(r);
        memset(r->modified, 0, (size_t)r->modified_cap);
        r->report->refused = r->stale_refusals = 0;
        for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++)
            if (tl_alive(mesh, TL_EDGES, e)) TL_TRY(wait_for(r, e, FLIPS, err));
        TL_TRY(flip_edges(r, collapsing, err));
    }
    return TL_OK;
}

// ---- splits -----------------------------------------------------------------------------------------------

static tl_status split(remesher *r, int32_t e, tl_error *err)
{
    tl_mesh *mesh = r->mesh;
    double rise;
    const tl_vec3 place = remesh_place(r, e, &rise);
    TL_TRY(remesh_know_clearance(r, err));
    r->changed.count = 0;
    for (int side = 0; side < 2 && mesh->edge_face[e][side] != TL_NONE; side++)
        if (!remesh_push(r, &r->changed, mesh->edge_face[e][side])) return tl_fail_memory(err, "remeshing");
    int32_t left[2] = {TL_NONE, TL_NONE};  // the new faces get that of the old ones
    for (int32_t i = 0; i < r->changed.count; i++)
        if ((left[i] = remesh_budget(r, r->changed.item[i])) == TL_NONE) return tl_fail_memory(err, "remeshing");
    const motion before = remesh_take_momentum(r, &r->changed, mesh->pos[mesh->edge_node[e][0]]);
    const bool inside = tl_mesh_edge_kind(mesh, e) == TL_EDGE_PLAIN;
    tl_split s;
    TL_TRY(tl_mesh_split_edge(mesh, e, 0.5, &s, err));
    if (inside && r->def->line_groups) {
        int32_t *held = tl_mesh_attr_ints(mesh, TL_NODES, r->attrs.held) + (size_t)s.node * (size_t)r->groups;
        for (int32_t k = 0; k < r->groups; k++) held[k] &= ~r->def->line_groups[k];
    }
    TL_TRY(remesh_grow_marks(r, 0, err));
    for (int side = 0; side < 2 && s.face[side] != TL_NONE; side++) {
        if (!remesh_push(r, &r->changed, s.face[side])) return tl_fail_memory(err, "remeshing");
        r->budget[s.face[side]] = left[side];
    }
    if (!remesh_held(r, s.node)) remesh_move_node(r, &s, place), remesh_spend(r, rise);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, false);
    remesh_note_split(r, s.node, &r->changed);
    r->report->splits++;
    for (int32_t i = 0; i < r->changed.count; i++)
        r->stamp[r->changed.item[i]] = r->now, r->modified[r->changed.item[i]] = 1;
    return look_at_changed(r, err);
}

// Order of a positive double as a key, largest first.
static uint64_t largest_first(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ~bits;
}

// Has a face beside the edge been cut in this round?
static bool was_cut(const remesher *r, int32_t e, uint32_t round)
{
    const int32_t *f = r->mesh->edge_face[e];
    return r->stamp[f[0]] >= round || (f[1] != TL_NONE && r->stamp[f[1]] >= round);
}

// Can the verdict on an edge differ from that of the last round? It can only where a face has changed, or where faces
// were too many.
static bool is_news(const remesher *r, int32_t e)
{
    return r->now == 0 || r->def->max_faces > 0 || was_cut(r, e, r->now);
}

// One round: the longest edges first, no two of one face.
static tl_status split_round(remesher *r, tl_key *keys, tl_key *scratch, int32_t *done, tl_error *err)
{
    tl_mesh *mesh = r->mesh;
    int32_t n = 0;
    for (int32_t e = 0; e < mesh->slots[TL_EDGES].count; e++) {
        if (!tl_alive(mesh, TL_EDGES, e) || !is_news(r, e)) continue;
        const double s = remesh_size(r, e);
        if (s > 1) keys[n++] = (tl_key){largest_first(s), e};
    }
    tl_sort_keys(keys, scratch, n);
    *done = r->report->too_long = 0;
    const uint32_t round = ++r->now;
    for (int32_t i = 0; i < n; i++) {
        if (was_cut(r, keys[i].id, round)) continue;
        const int32_t e = remesh_split_first(r, keys[i].id);
        const bool pending = was_cut(r, e, round);
        r->stamp[mesh->edge_face[keys[i].id][0]] = round;  // one that waits for another is news in the next round
        if (pending) continue;
        const int32_t more = mesh->edge_face[e][1] == TL_NONE ? 1 : 2;
        if (r->def->max_faces > 0 && mesh->slots[TL_FACES].live + more > r->def->max_faces) {
            r->report->too_long = n - i;
            break;
        }
        if (tl_mesh_can_split(mesh, e, 0.5) != TL_VERDICT_OK) continue;
        TL_TRY(split(r, e, err));
        ++*done;
    }
    return TL_OK;
}

static tl_status split_edges(remesher *r, tl_error *err)
{
    const tl_allocator *al = &r->mesh->alloc;
    for (int32_t done = 1; done > 0;) {
        const int32_t capacity = r->mesh->slots[TL_EDGES].count;
        tl_key *keys = TL_ALLOC(al, tl_key, capacity), *scratch = TL_ALLOC(al, tl_key, capacity);
        tl_status status = keys && scratch ? TL_OK : tl_fail_memory(err, "remeshing");
        if (status == TL_OK) status = split_round(r, keys, scratch, &done, err);
        TL_FREE(al, keys, capacity);
        TL_FREE(al, scratch, capacity);
        if (status == TL_OK) status = flip_edges(r, false, err);
        if (status == TL_OK) status = renew_clearance(r, false, err);
        TL_TRY(status);
    }
    return TL_OK;
}

// ---- collapses --------------------------------------------------------------------------------------------

static tl_status collapse(remesher *r, int32_t e, int32_t gone, int32_t left, tl_error *err)
{
    tl_mesh *mesh = r->mesh;
    const tl_vec3 about = mesh->pos[gone];
    r->changed.count = 0;
    const int32_t count = tl_mesh_node_faces(mesh, gone, NULL, 0);
    if (!TL_GROW(&mesh->alloc, r->changed.item, r->changed.cap, count)) return tl_fail_memory(err, "remeshing");
    r->changed.count = tl_mesh_node_faces(mesh, gone, r->changed.item, count);
    const motion before = remesh_take_momentum(r, &r->changed, about);
    const churn past = *remesh_churn(r, gone);
    TL_TRY(tl_mesh_collapse_edge(mesh, e, gone, NULL, err));
    int32_t kept = 0;
    for (int32_t i = 0; i < r->changed.count; i++)
        if (tl_alive(mesh, TL_FACES, r->changed.item[i])) r->changed.item[kept++] = r->changed.item[i];
    r->changed.count = kept;
    remesh_set_budget(r, left);
    remesh_give_momentum(r, &r->changed, &before);
    remesh_rest(r, true);
    remesh_note_collapse(r, &past, &r->changed);
    r->report->collapses++;
    TL_TRY(look_at_changed(r, err));
    return look_around_changed(r, err);
}

static tl_status try_collapse(remesher *r, int32_t e, tl_error *err)
{
    const int32_t node[2] = {r->mesh->edge_node[e][0], r->mesh->edge_node[e][1]};
    for (int end = 0; end < 2; end++) {
        double rise;
        int32_t left;
        if (r->pending[e] & NO_COLLAPSE << end) continue;
        if (!remesh_may_collapse(r, e, node[end], &rise)) continue;
        TL_TRY(remesh_know_clearance(r, err));
        if (remesh_collapse_fits(r, e, node[end], &left)) {
            remesh_spend(r, rise);
            return collapse(r, e, node[end], left, err);
        }
        r->report->refused++;
    }
    return TL_OK;
}

static tl_status collapse_edges(remesher *r, tl_error *err)
{
    const tl_allocator *al = &r->mesh->alloc;
    const int32_t capacity = r->mesh->slots[TL_EDGES].count;
    tl_key *keys = TL_ALLOC(al, tl_key, capacity), *scratch = TL_ALLOC(al, tl_key, capacity);
    tl_status status = keys && scratch ? TL_OK : tl_fail_memory(err, "remeshing");
    double *size = TL_ALLOC(al, double, capacity);
    if (!size && status == TL_OK) status = tl_fail_memory(err, "remeshing");
    int32_t n = 0;
    for (int32_t e = 0; e < capacity; e++) r->pending[e] &= FLIPS;
    if (status == TL_OK)
        tl_parallel_for(r->def->workers, capacity, EDGES_PER_CHUNK, screen_collapses, &(first_look){r, size});
    for (int32_t e = 0; e < capacity && status == TL_OK; e++)
        if (tl_alive(r->mesh, TL_EDGES, e)) keys[n++] = (tl_key){~largest_first(size[e]), e};
    if (status == TL_OK) tl_sort_keys(keys, scratch, n);
    for (int32_t i = 0; i < n && status == TL_OK; i++) {
        if (!remesh_push(r, &r->queue, keys[i].id)) status = tl_fail_memory(err, "remeshing");
        r->pending[keys[i].id] |= COLLAPSES;
    }
    TL_FREE(al, keys, capacity);
    TL_FREE(al, scratch, capacity);
    TL_FREE(al, size, capacity);
    TL_TRY(status);
    for (int32_t i = 0; i < r->queue.count; i++) {
        const int32_t e = r->queue.item[i];
        r->pending[e] &= (uint8_t)~COLLAPSES;
        if (!tl_alive(r->mesh, TL_EDGES, e)) continue;
        TL_TRY(try_collapse(r, e, err));
        if (r->edges.count > 0) TL_TRY(flip_edges(r, true, err));
    }
    return TL_OK;
}

// ---- a pass -----------------------------------------------------------------------------------------------

static tl_status pass(remesher *r, tl_error *err)
{
    TL_TRY(remesh_grow_marks(r, 0, err));
    remesh_age_churn(r);
    for (int32_t e = 0; e < r->mesh->slots[TL_EDGES].count; e++)
        if (tl_alive(r->mesh, TL_EDGES, e)) TL_TRY(wait_for(r, e, FLIPS, err));
    tl_parallel_for(r->def->workers, r->mesh->slots[TL_EDGES].count, EDGES_PER_CHUNK, screen_flips, r);
    TL_TRY(tl_workers_poll(r->def->workers, "remeshing", err));
    TL_TRY(flip_edges(r, false, err));
    TL_TRY(split_edges(r, err));
    TL_TRY(tl_workers_poll(r->def->workers, "remeshing", err));
    return collapse_edges(r, err);
}

tl_vec3 remesh_centre(const tl_mesh *mesh)
{
    tl_vec3 sum = {0, 0, 0};
    for (int32_t n = 0; n < mesh->slots[TL_NODES].count; n++)
        if (tl_alive(mesh, TL_NODES, n)) sum = tl_add3(sum, mesh->pos[n]);
    return tl_mul3(1.0 / mesh->slots[TL_NODES].live, sum);
}

void remesh_release(remesher *r)
{
    const tl_allocator *al = &r->mesh->alloc;
    TL_FREE(al, r->edges.item, r->edges.cap);
    TL_FREE(al, r->queue.item, r->queue.cap);
    TL_FREE(al, r->changed.item, r->changed.cap);
    TL_FREE(al, r->ring.item, r->ring.cap);
    TL_FREE(al, r->pending, r->pending_cap);
    TL_FREE(al, r->stamp, r->stamp_cap);
    TL_FREE(al, r->seen, r->seen_cap);
    TL_FREE(al, r->modified, r->modified_cap);
    TL_FREE(al, r->met, r->met_cap);
    TL_FREE(al, r->budget, r->budget_cap);
    TL_FREE(al, r->budgets.item, r->budgets.cap);
    TL_FREE(al, r->budgets.parents.item, r->budgets.parents.cap);
}

static int32_t words_of(const tl_mesh *mesh, const tl_remesh_attrs *attrs)
{
    return mesh->slots[TL_NODES].attrs[attrs->held].width;
}

tl_status tl_remesh(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, tl_remesh_report *report,
                    tl_error *err)
{
    *report = (tl_remesh_report){0};
    remesher r = {.mesh = mesh,
                  .policy = def->policy ? def->policy : &tl_remesh_policy_default,
                  .attrs = *attrs,
                  .def = def,
                  .report = report,
                  .groups = words_of(mesh, attrs),
                  .energy_left = def->energy};
    const tl_vec3 about = remesh_centre(mesh);
    remesh_measure(&r, about, &report->momentum, &report->spin);
    const tl_status status = pass(&r, err);
    if (r.measured && attrs->clearance != TL_NONE) remesh_write_clearance(&r);
    if (report->splits + report->flips + report->collapses > 0) {
        tl_vec3 momentum, spin;
        remesh_measure(&r, about, &momentum, &spin);
        report->momentum_drift = tl_sub3(momentum, report->momentum);
        report->spin_drift = tl_sub3(spin, report->spin);
    }
    remesh_release(&r);
    return status;
}

bool tl_remesh_collapses(tl_mesh *mesh, const tl_remesh_attrs *attrs, const tl_remesh_def *def, int32_t e, int32_t gone)
{
    tl_remesh_report report = {0};
    remesher r = {.mesh = mesh,
                  .policy = def->policy ? def->policy : &tl_remesh_policy_default,
                  .attrs = *attrs,
                  .def = def,
                  .report = &report,
                  .groups = words_of(mesh, attrs),
                  .energy_left = def->energy};
    double rise;
    int32_t left;
    bool yes = remesh_grow_marks(&r, 0, NULL) == TL_OK && remesh_may_collapse(&r, e, gone, &rise) &&
               remesh_collapse_fits(&r, e, gone, &left);
    remesh_release(&r);
    return yes;
}
