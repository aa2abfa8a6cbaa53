// respond/pairs/pair_cache.c: reuse of the pairs of the last search, and merging of old and new pairs.
//
// Between searches many nodes do not move. Pairs of such nodes keep their distances. Where nodes have moved, the length
// of the move tells which items that were too far apart still are. Reuse never changes the result: the pairs, and their
// order, are those of a filter from scratch, to the last bit.

#include "respond/pairs/pairs.h"

#include "base/fail.h"

enum { PAIRS_PER_CHUNK = 1024 };

tl_status contact_cache_create(tl_contacts *c, tl_error *err)
{
    pair_cache *k = &c->cache;
    const int32_t n = c->node_count;
    const size_t all = (size_t)n + (size_t)c->body_nodes;
    tl_pairs_init(&k->lists, c->alloc);
    tl_pairs_init(&k->update, c->alloc);
    for (int32_t b = 0; b < c->body_count; b++) tl_pairs_init(&c->bodies[b].found, c->alloc);
    k->settled = TL_CALLOC(&c->alloc, tl_vec3, n);
    k->measured = TL_CALLOC(&c->alloc, tl_vec3, n);
    k->list_pos = TL_CALLOC(&c->alloc, tl_vec3, all);
    k->list_disp = TL_CALLOC(&c->alloc, tl_vec3, all);
    k->list_end = TL_CALLOC(&c->alloc, tl_vec3, n);
    k->filter_pos = TL_CALLOC(&c->alloc, tl_vec3, n);
    k->filter_disp = TL_CALLOC(&c->alloc, tl_vec3, n);
    const bool all_there =
        k->settled && k->measured && k->list_pos && k->list_disp && k->list_end && k->filter_pos && k->filter_disp;
    return all_there ? TL_OK : tl_fail_memory(err, "the contacts");
}

static void free_bounds(const tl_allocator *alloc, gap_bounds *bounds)
{
    TL_FREE(alloc, bounds->vf, bounds->vf_cap);
    TL_FREE(alloc, bounds->fv, bounds->fv_cap);
    TL_FREE(alloc, bounds->ee, bounds->ee_cap);
}

void contact_cache_free(tl_contacts *c)
{
    pair_cache *k = &c->cache;
    const int32_t n = c->node_count;
    const size_t all = (size_t)n + (size_t)c->body_nodes;
    for (int32_t b = 0; b < c->body_count && c->bodies; b++) {
        tl_pairs_free(&c->bodies[b].found);
        free_bounds(&c->alloc, &c->bodies[b].bounds);
    }
    tl_pairs_free(&k->lists);
    tl_pairs_free(&k->update);
    free_bounds(&c->alloc, &k->bound);
    TL_FREE(&c->alloc, k->settled, n);
    TL_FREE(&c->alloc, k->measured, n);
    TL_FREE(&c->alloc, k->list_pos, all);
    TL_FREE(&c->alloc, k->list_disp, all);
    TL_FREE(&c->alloc, k->list_end, n);
    TL_FREE(&c->alloc, k->filter_pos, n);
    TL_FREE(&c->alloc, k->filter_disp, n);
    TL_FREE(&c->alloc, k->pair, k->pair_cap);
    TL_FREE(&c->alloc, k->fade, k->fade_cap);
    TL_FREE(&c->alloc, k->near, k->near_cap);
}

// Lists and pairs of the previous step stay valid for nodes that have not moved; those of moving bodies do not.
void contact_cache_begin(tl_contacts *c)
{
    pair_cache *k = &c->cache;
    if (c->bodies_move) k->list_body_part = k->measured_progress = k->settled_progress = k->filter_progress = -1;
    if (c->pinch.count > 0) contact_invalidate_lists(c);
    contact_update_slack(c);
    k->searched = false;
}

void contact_invalidate_lists(tl_contacts *c) { c->cache.list_progress = -1, c->cache.complete = false; }

void contact_select_pairs(tl_contacts *c, bool (*wanted)(const tl_contacts *c, int32_t index))
{
    pair_cache *k = &c->cache;
    int32_t count = 0;
    for (int32_t i = 0; i < k->count; i++) {
        if (!wanted(c, i)) continue;
        k->pair[count] = k->pair[i], k->near[count] = k->near[i], k->fade[count] = k->fade[i];
        count++;
    }
    k->count = count;
    k->measured_now = k->complete = false;
}

void contact_move_pairs(tl_contacts *c, int32_t from, int32_t count, int32_t to)
{
    if (from == to || count == 0) return;
    memmove(c->cache.pair + to, c->cache.pair + from, (size_t)count * sizeof *c->cache.pair);
    memmove(c->cache.near + to, c->cache.near + from, (size_t)count * sizeof *c->cache.near);
    memmove(c->cache.fade + to, c->cache.fade + from, (size_t)count * sizeof *c->cache.fade);
}

// Removes the pairs with stay[i] == 0 from the first `count`; returns how many are left.
static int32_t close_pairs(tl_contacts *c, const uint8_t *stay, int32_t count)
{
    int32_t to = 0;
    for (int32_t i = 0; i < count;) {
        int32_t end = i;
        while (end < count && stay[end]) end++;
        contact_move_pairs(c, i, end - i, to);
        to += end - i, i = end + 1;
    }
    return to;
}

// --- pairs whose nodes have not moved ---

typedef struct keep_job {
    const tl_contacts *c;
    uint8_t *place;     // of every node
    uint8_t *is_known;  // of every pair
} keep_job;

static void place_chunk(void *arg, int32_t begin, int32_t end)
{
    const keep_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const tl_vec3 x = c->motion.pos[i], s = c->cache.settled[i], u = c->motion.disp[i];
        uint8_t place = contact_in_place(c, i) ? MEASURED : 0;
        if (place && u.x == 0 && u.y == 0 && u.z == 0 && x.x == s.x && x.y == s.y && x.z == s.z) place |= RESTING;
        job->place[i] = place;
    }
}

static void known_chunk(void *arg, int32_t begin, int32_t end)
{
    const keep_job *job = arg;
    for (int32_t i = begin; i < end; i++)
        job->is_known[i] = contact_is_measured(job->c, &job->c->cache.pair[i], job->place);
}

// Has no node and no body moved since pairs were measured, and is there no plane?
static bool all_known(const tl_contacts *c, const uint8_t *place)
{
    for (int32_t b = 0; b < c->body_count; b++)
        if (c->bodies[b].plane || contact_has_moved(c, b)) return false;
    for (int32_t i = 0; i < c->node_count; i++)
        if (!place[i]) return false;
    return true;
}

static tl_status keep_measured(tl_contacts *c, const tl_ctx *ctx, pair_reuse *out, tl_error *err)
{
    if (!c->cache.complete) {
        c->cache.count = 0;
        return TL_OK;
    }
    keep_job job = {.c = c, .place = TL_SCRATCH(ctx->arena, uint8_t, c->node_count)};
    job.is_known = TL_SCRATCH(ctx->arena, uint8_t, c->cache.count);
    out->stays = TL_SCRATCH(ctx->arena, uint8_t, c->cache.count);
    if (!job.place || !job.is_known || !out->stays) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, c->node_count, NODES_PER_CHUNK, place_chunk, &job);
    out->place = job.place;
    if (!all_known(c, job.place)) {
        tl_parallel_for(ctx->workers, c->cache.count, PAIRS_PER_CHUNK, known_chunk, &job);
        c->cache.count = close_pairs(c, job.is_known, c->cache.count);
    }
    out->count = c->cache.count;
    memset(out->stays, 0, (size_t)out->count);
    return TL_OK;
}

// --- how far nodes have moved since lists were last filtered ---

typedef struct change_job {
    const tl_contacts *c;
    float *node, *edge, *face;
} change_job;

// A distance changes by no more than its nodes move. The bound on relative displacement (motion_of, taken per axis)
// changes by no more than sqrt(3) times the change of the displacements.
static void node_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const tl_contacts *c = job->c;
    for (int32_t i = begin; i < end; i++) {
        const double moved = tl_norm3(tl_sub3(c->motion.pos[i], c->cache.filter_pos[i]));
        const double turned = tl_norm3(tl_sub3(c->motion.disp[i], c->cache.filter_disp[i]));
        job->node[i] = (float)(1.000001 * (moved + sqrt(3) * turned));
    }
}

static inline float higher(float a, float b) { return a > b ? a : b; }

static void edge_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*edge)[2] = job->c->cloth.edge;
    for (int32_t i = begin; i < end; i++) job->edge[i] = higher(job->node[edge[i][0]], job->node[edge[i][1]]);
}

static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*face)[3] = job->c->cloth.face;
    const float *node = job->node;
    for (int32_t i = begin; i < end; i++)
        job->face[i] = higher(node[face[i][0]], higher(node[face[i][1]], node[face[i][2]]));
}

static tl_status see_changes(const tl_contacts *c, const tl_ctx *ctx, pair_reuse *out, tl_error *err)
{
    change_job job = {.c = c, .node = TL_SCRATCH(ctx->arena, float, c->node_count)};
    job.edge = TL_SCRATCH(ctx->arena, float, c->cloth.edge_count),
    job.face = TL_SCRATCH(ctx->arena, float, c->cloth.face_count);
    if (!job.node || !job.edge || !job.face) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, c->node_count, NODES_PER_CHUNK, node_chunk, &job);
    tl_parallel_for(ctx->workers, c->cloth.edge_count, NODES_PER_CHUNK, edge_chunk, &job);
    tl_parallel_for(ctx->workers, c->cloth.face_count, NODES_PER_CHUNK, face_chunk, &job);
    out->change[NODES] = job.node, out->change[EDGES] = job.edge, out->change[FACES] = job.face;
    return TL_OK;
}

tl_status contact_reuse_pairs(tl_contacts *c, const tl_ctx *ctx, pair_reuse *out, tl_error *err)
{
    *out = (pair_reuse){0};
    TL_TRY(keep_measured(c, ctx, out, err));
    return see_changes(c, ctx, out, err);
}

// --- merging ---

// Number of pairs before p among the first `count`, which are sorted. Gallops from the back.
static int32_t count_before(const tl_contacts *c, const pair *p, int32_t count)
{
    int32_t low = count, high = count, step = 1;
    while (low > 0 && contact_pair_before(c, p, &c->cache.pair[low - 1]))
        high = low - 1, low -= low < step ? low : step, step *= 2;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (contact_pair_before(c, p, &c->cache.pair[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/// New pairs to be merged into the old ones: before[i] old pairs come before new pair i.
typedef struct interleave_job {
    tl_contacts *c;
    const pair *pairs;
    const proximity *near;
    const float *soft;
    const int32_t *before;
    int32_t count, left;
} interleave_job;

// From the back: old entries behind a new one move up, then the new one is put in. Done for each array separately.
#define INTERLEAVE(items, added)                                                                                       \
    for (int32_t i = job->count - 1, end = job->left, to = job->left + job->count; i >= 0; end = job->before[i--]) {   \
        const int32_t behind = end - job->before[i];                                                                   \
        to -= behind + 1;                                                                                              \
        memmove((items) + to + 1, (items) + job->before[i], (size_t)behind * sizeof *(items));                         \
        (items)[to] = (added)[i];                                                                                      \
    }

static void interleave_chunk(void *arg, int32_t begin, int32_t end_)
{
    const interleave_job *job = arg;
    for (int32_t what = begin; what < end_; what++) {
        if (what == 0) INTERLEAVE(job->c->cache.pair, job->pairs)
        if (what == 1) INTERLEAVE(job->c->cache.near, job->near)
        if (what == 2) INTERLEAVE(job->c->cache.fade, job->soft)
    }
}

tl_status contact_merge_pairs(tl_contacts *c, const pair_reuse *old, const tl_ctx *ctx, tl_error *err)
{
    const int32_t added = c->cache.count - old->count, left = close_pairs(c, old->stays, old->count);
    c->cache.count = left + added;
    if (left == 0 || added == 0) {
        contact_move_pairs(c, old->count, added, left);
        return TL_OK;
    }
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    pair *pairs = TL_SCRATCH(ctx->arena, pair, added);
    proximity *near = TL_SCRATCH(ctx->arena, proximity, added);
    float *soft = TL_SCRATCH(ctx->arena, float, added);
    int32_t *before = TL_SCRATCH(ctx->arena, int32_t, added);
    if (!pairs || !near || !soft || !before) return tl_fail_memory(err, "the contacts");
    memcpy(pairs, c->cache.pair + old->count, (size_t)added * sizeof *pairs);
    memcpy(near, c->cache.near + old->count, (size_t)added * sizeof *near);
    memcpy(soft, c->cache.fade + old->count, (size_t)added * sizeof *soft);
    for (int32_t i = added - 1, end = left; i >= 0; i--) end = before[i] = count_before(c, &pairs[i], end);
    tl_parallel_for(ctx->workers, 3, 1, interleave_chunk, &(interleave_job){c, pairs, near, soft, before, added, left});
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}
