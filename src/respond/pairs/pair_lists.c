// respond/pairs/pair_lists.c: pruning of candidate lists, and replacing the items of nodes that changed.
//
// The trees find all pairs whose boxes come near along the paths, within the slack; most are neighbours within a flat
// piece of cloth. Lists are used by many searches, so they are pruned first: pairs whose features cannot come near
// along those paths are removed. When the paths of some nodes change, only the items with those nodes are replaced. The
// gap bound of every item (gap_bounds) is stored beside it and moves with it.

#include "respond/pairs/pairs.h"

#include "base/fail.h"
#include "detect/distance.h"

enum { DROP_PER_CHUNK = 2048, FEATURES_PER_CHUNK = 4096 };

/// One of the lists with a body, or TL_CLOTH, that is to be changed.
typedef struct list_ref {
    tl_pair **items;
    float **far;  // NULL: nothing stands beside them
    int32_t *count, *cap, *far_cap;
    int32_t body;
    list_kind how;
} list_ref;

static list_ref list_ref_of(tl_pairs *f, gap_bounds *far, int32_t body, list_kind how)
{
    list_ref o = {.body = body, .how = how};
    if (how == VF) o.items = &f->vf, o.count = &f->vf_count, o.cap = &f->vf_cap;
    if (how == FV) o.items = &f->fv, o.count = &f->fv_count, o.cap = &f->fv_cap;
    if (how == EE) o.items = &f->ee, o.count = &f->ee_count, o.cap = &f->ee_cap;
    if (how == VF && far) o.far = &far->vf, o.far_cap = &far->vf_cap;
    if (how == FV && far) o.far = &far->fv, o.far_cap = &far->fv_cap;
    if (how == EE && far) o.far = &far->ee, o.far_cap = &far->ee_cap;
    return o;
}

// Within the cloth there is one list of vertices and faces, not two.
static bool has_list(int32_t body, list_kind how) { return how != FV || body != TL_CLOTH; }

// Moves the items of all chunks together, and their bounds.
static void close_list(const list_ref *o, int32_t chunk, const int32_t *left)
{
    tl_pair *items = *o->items;
    float *far = o->far ? *o->far : NULL;
    const int32_t chunks = tl_chunk_count(*o->count, chunk);
    int32_t to = 0;
    for (int32_t i = 0; i < chunks; i++) {
        const int32_t begin = i * chunk, n = left[i];
        if (to < begin) memmove(items + to, items + begin, (size_t)n * sizeof *items);
        if (to < begin && far) memmove(far + to, far + begin, (size_t)n * sizeof *far);
        to += n;
    }
    *o->count = to;
}

// --- thin out ---

typedef struct prune_job {
    coarse_filter g;
    tl_pair *items;
    float *far;     // beside them; NULL: nothing
    int32_t *left;  // of each chunk: how many are left
} prune_job;

// Is a pair near enough to be in the list?
static bool is_near(const coarse_filter *g, int32_t i)
{
    const features f = features_of(g->c, g->l, i);
    const tl_vec3 *at = g->motion->pos, x[4] = {at[f.node[0]], at[f.node[1]], at[f.node[2]], at[f.node[3]]};
    const tl_nearest now =
        g->l->how == EE ? tl_nearest_ee(x[0], x[1], x[2], x[3]) : tl_nearest_vf(x[0], x[1], x[2], x[3]);
    return !is_pinched(g->c, g->l, &f) &&
           now.distance <= thickness_of(g->c, g->l, &f) + search_margin(g->c, g->motion, &f);
}

static void prune_chunk(void *arg, int32_t begin, int32_t end)
{
    const prune_job *job = arg;
    const uint8_t *keep = job->g.state;
    const bool pinched = job->g.c->pinch.count > 0;  // then what is ACCEPTED may have to go, too
    memset(job->g.state + begin, UNDECIDED, (size_t)(end - begin));
    contact_filter_coarse(&job->g, begin, end);
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++)
        if (keep[i] != REJECTED && ((keep[i] == ACCEPTED && !pinched) || is_near(&job->g, i))) {
            if (job->far) job->far[to] = job->far[i];
            job->items[to++] = job->items[i];
        }
    job->left[begin / FOUND_PER_CHUNK] = to - begin;
}

static tl_status prune_list(const tl_contacts *c, const list_ref *o, const filter_motion *s, const tl_ctx *ctx,
                            tl_error *err)
{
    if (*o->count == 0) return TL_OK;
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const list l = {*o->items, *o->count, o->body, o->how, NULL};  // what stands beside the items stays as it is
    prune_job job = {.items = *o->items, .far = o->far ? *o->far : NULL};
    TL_TRY(contact_start_coarse(c, &l, s, ctx->arena, &job.g, err));
    job.left = TL_SCRATCH(ctx->arena, int32_t, tl_chunk_count(l.count, FOUND_PER_CHUNK));
    if (!job.left) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, l.count, FOUND_PER_CHUNK, prune_chunk, &job);
    close_list(o, FOUND_PER_CHUNK, job.left);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

tl_status contact_prune_lists(tl_contacts *c, tl_pairs *f, gap_bounds *far, int32_t body, const filter_motion *s,
                              const tl_ctx *ctx, tl_error *err)
{
    for (list_kind how = VF; how <= EE; how++) {
        const list_ref o = list_ref_of(f, far, body, how);
        if (has_list(body, how)) TL_TRY(prune_list(c, &o, s, ctx, err));
    }
    return TL_OK;
}

// --- exchange ---

/// `first` and `second`: of features, which have nodes that changed; NULL: none has.
typedef struct drop_job {
    const uint8_t *first, *second;
    tl_pair *items;
    float *far;
    int32_t *left;
} drop_job;

static void drop_chunk(void *arg, int32_t begin, int32_t end)
{
    const drop_job *job = arg;
    int32_t to = begin;
    for (int32_t i = begin; i < end; i++) {  // no branches: which ones go is hard to foretell
        const tl_pair p = job->items[i];
        const int changed = (job->first ? job->first[p.a] : 0) | (job->second ? job->second[p.b] : 0);
        job->far[to] = job->far[i], job->items[to] = p;
        to += !changed;
    }
    job->left[begin / DROP_PER_CHUNK] = to - begin;
}

/// Features of the cloth that changed: nodes, and edges and faces with such a node.
typedef struct changed_features {
    const uint8_t *of[FEATURE_KINDS];
} changed_features;

typedef struct change_job {
    const tl_contacts *c;
    const uint8_t *node;
    uint8_t *edge, *face;
} change_job;

static void edge_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*edge)[2] = job->c->cloth.edge;
    for (int32_t i = begin; i < end; i++) job->edge[i] = job->node[edge[i][0]] | job->node[edge[i][1]];
}

static void face_chunk(void *arg, int32_t begin, int32_t end)
{
    const change_job *job = arg;
    const int32_t(*face)[3] = job->c->cloth.face;
    for (int32_t i = begin; i < end; i++)
        job->face[i] = job->node[face[i][0]] | job->node[face[i][1]] | job->node[face[i][2]];
}

static tl_status find_changed(const tl_contacts *c, const uint8_t *node, const tl_ctx *ctx, changed_features *out,
                              tl_error *err)
{
    change_job job = {c, node, TL_SCRATCH(ctx->arena, uint8_t, c->cloth.edge_count),
                      TL_SCRATCH(ctx->arena, uint8_t, c->cloth.face_count)};
    if (!job.edge || !job.face) return tl_fail_memory(err, "the contacts");
    tl_parallel_for(ctx->workers, c->cloth.edge_count, FEATURES_PER_CHUNK, edge_chunk, &job);
    tl_parallel_for(ctx->workers, c->cloth.face_count, FEATURES_PER_CHUNK, face_chunk, &job);
    *out = (changed_features){{[NODES] = node, [EDGES] = job.edge, [FACES] = job.face}};
    return TL_OK;
}

static tl_status drop_changed(const list_ref *o, const changed_features *changed, const tl_ctx *ctx, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    drop_job job = {.items = *o->items, .far = *o->far};
    job.left = TL_SCRATCH(ctx->arena, int32_t, tl_chunk_count(*o->count, DROP_PER_CHUNK));
    if (!job.left) return tl_fail_memory(err, "the contacts");
    job.first = changed->of[side_of(o->body, o->how, 0)], job.second = changed->of[side_of(o->body, o->how, 1)];
    tl_parallel_for(ctx->workers, *o->count, DROP_PER_CHUNK, drop_chunk, &job);
    close_list(o, DROP_PER_CHUNK, job.left);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

/// A list into which another is merged. Both are sorted.
typedef struct merge_job {
    tl_pair *items;
    float *far;
    const tl_pair *in;
    int32_t count, in_count;
} merge_job;

// From the back, so that nothing is overwritten that is still needed. New items get no gap bound.
static void merge(const merge_job *job)
{
    tl_pair *items = job->items;
    float *far = job->far;
    for (int32_t i = job->count - 1, j = job->in_count - 1, to = job->count + job->in_count - 1; j >= 0; to--) {
        const bool stays_behind = i >= 0 && comes_before(job->in[j], items[i]);
        far[to] = stays_behind ? far[i] : 0;
        items[to] = stays_behind ? items[i--] : job->in[j--];
    }
}

static void merge_chunk(void *arg, int32_t begin, int32_t end)
{
    const merge_job *jobs = arg;
    for (int32_t i = begin; i < end; i++) merge(&jobs[i]);
}

tl_status contact_replace_items(tl_contacts *c, tl_pairs *f, gap_bounds *far, int32_t body, const uint8_t *nodes,
                                const tl_ctx *ctx, tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    changed_features changed = {0};
    merge_job jobs[EE + 1];
    int32_t job_count = 0;
    TL_TRY(find_changed(c, nodes, ctx, &changed, err));
    for (list_kind how = VF; how <= EE; how++) {
        const list_ref o = list_ref_of(f, far, body, how), in = list_ref_of(&c->cache.update, NULL, body, how);
        if (!has_list(body, how)) continue;
        TL_TRY(drop_changed(&o, &changed, ctx, err));
        const int64_t count = (int64_t)*o.count + *in.count;
        if (!CONTACT_GROW(c, *o.items, *o.cap, count) || !CONTACT_GROW(c, *o.far, *o.far_cap, count))
            return tl_fail_memory(err, "the contacts");
        jobs[job_count++] = (merge_job){*o.items, *o.far, *in.items, *o.count, *in.count};
        *o.count = (int32_t)count;
    }
    tl_parallel_for(ctx->workers, job_count, 1, merge_chunk, jobs);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

tl_status contact_reset_bounds(tl_contacts *c, tl_pairs *f, gap_bounds *far, tl_error *err)
{
    for (list_kind how = VF; how <= EE; how++) {
        const list_ref o = list_ref_of(f, far, TL_CLOTH, how);  // whatever the body
        if (!CONTACT_GROW(c, *o.far, *o.far_cap, *o.count)) return tl_fail_memory(err, "the contacts");
        if (*o.count > 0) memset(*o.far, 0, (size_t)*o.count * sizeof **o.far);
    }
    return TL_OK;
}
