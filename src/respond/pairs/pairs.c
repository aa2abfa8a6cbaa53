// respond/pairs/pairs.c: the full filter: from candidate lists to pairs, measured.
//
// A pair is kept only if the distance of its features at the start is at most its thickness plus twice the skin plus
// the largest displacement they can have relative to each other. For every list, results of the last search are reused
// first (pair_cache.c); the coarse filter then decides what it can (pair_filter.c); the rest is measured, and pairs
// that are near enough are merged with those that were reused.

#include "respond/pairs/pairs.h"

#include "base/fail.h"
#include "detect/distance.h"
#include "math/simd.h"

enum { FOUND_PER_PART = 256 * FOUND_PER_CHUNK };

typedef struct filter_job {
    tl_contacts *c;
    coarse_filter g;
    const float *change[2];  // kept.change of the first features, and of the second
    const pair_reuse *old;
    int32_t old_begin, old_end;  // the reused pairs of the list
    int32_t first;               // index of its first new pair
    int32_t *start;              // per chunk: offset of its new pairs from `first`
    int32_t *left;               // per chunk: items to measure, then pairs kept
} filter_job;

int32_t contact_prefix_sum(const int32_t *count, int32_t n, int32_t *start)
{
    int32_t sum = 0;
    for (int32_t i = 0; i < n; i++) start[i] = sum, sum += count[i];
    return sum;
}

// --- reuse ---

// Reduces the gap bounds of items by the largest change since the last filter, so that they hold again.
TL_CLONES static void age_bounds(const tl_pair *restrict items, const float *restrict first,
                                 const float *restrict second, float *restrict far, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const float change = (first ? first[items[i].a] : 0) + (second ? second[items[i].b] : 0);
        const float size = far[i] < 0 ? -far[i] : far[i], left = DOWN * (size - change), some = left > 0 ? left : 0;
        far[i] = far[i] < 0 ? -some : some;
    }
}

// Index of the first reused pair that does not come before p (binary search).
static int32_t first_known(const filter_job *job, tl_pair p)
{
    int32_t low = job->old_begin, high = job->old_end;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (comes_before(job->c->cache.pair[middle].found, p))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static features features_of_pair(const pair *p)
{
    return (features){{p->node[0], p->node[1], p->node[2], p->node[3]}, first_count(p)};
}

// Is a reused pair still near enough for the present motion? *far receives its gap bound.
static bool stays(const filter_job *job, int32_t index, float *far)
{
    const tl_contacts *c = job->c;
    const filter_motion *s = job->g.motion;
    const pair *p = &c->cache.pair[index];
    const double distance = c->cache.near[index].distance;
    if (*far < 0) return true;
    const bool near = distance <= p->thickness + 2 * c->skin;  // for any motion
    const features f = features_of_pair(p);
    const double most = p->thickness + (near ? 2 * c->skin : search_margin(c, s, &f));
    *far = DOWN * (float)smaller(0, distance + s->rounding - most);
    return distance <= most;
}

// Sets the state of the items of a list that are known from the last filter, and marks the pairs that stay. Items whose
// gap bound is positive cannot be pairs.
static void recall_known(const filter_job *job, int32_t begin, int32_t end)
{
    const tl_pair *items = job->g.l->items;
    const pair *pairs = job->c->cache.pair;
    float *far = job->g.l->bound;
    uint8_t *keep = job->g.state;
    int32_t k = first_known(job, items[begin]);
    for (int32_t i = begin; i < end; i++) {
        keep[i] = REJECTED;
        if (far[i] > 0) continue;
        while (k < job->old_end && comes_before(pairs[k].found, items[i])) k++;
        const bool found = k < job->old_end && !comes_before(items[i], pairs[k].found);
        keep[i] = found ? CACHED : UNDECIDED;
        if (found) job->old->stays[k] = stays(job, k, &far[i]);
    }
}

static inline bool is_unknown(uint8_t keep) { return keep == UNDECIDED || keep == ACCEPTED; }

static void choose_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    const list *l = job->g.l;
    age_bounds(l->items + begin, job->change[0], job->change[1], l->bound + begin, end - begin);
    recall_known(job, begin, end);
    contact_filter_coarse(&job->g, begin, end);
    int32_t count = 0;
    for (int32_t i = begin; i < end; i++) count += is_unknown(job->g.state[i]);
    job->left[begin / FOUND_PER_CHUNK] = count;
}

// --- new pairs ---

// Two layers keep their full thickness. Features of one panel that are nearer than that in the flat panel keep less.
static double panel_thickness(const tl_contacts *c, const pair *p, double thickness)
{
    const int32_t panel = c->node_panel[p->node[0]], cloth = c->node_cloth[p->node[0]];
    tl_vec3 flat[4];
    for (int k = 0; k < 4; k++) {
        const int32_t i = p->node[k];
        if (c->node_panel[i] != panel || panel < 0 || c->node_cloth[i] != cloth) return thickness;
        flat[k] = (tl_vec3){c->node_uv[i].x, c->node_uv[i].y, 0};
    }
    const double rest = (p->kind == PAIR_VF ? tl_nearest_vertex_face(flat) : tl_nearest_edge_edge(flat)).distance;
    return smaller(thickness, TL_FLAT_PART * rest);
}

// Contact area of an item: that of its smaller feature.
static double area_of(const tl_contacts *c, const list *l, tl_pair found, const features *f)
{
    const bool own = l->body == TL_CLOTH;
    if (l->how == EE)
        return smaller(c->edge_area[found.a], (own ? c->edge_area : c->bodies[l->body].edge_area)[found.b]);
    return smaller(c->node_area[f->node[0]],
                   (own || l->how == FV ? c->face_area : c->bodies[l->body].face_area)[found.b]);
}

static pair make_pair(const tl_contacts *c, const list *l, int32_t i, const features *f)
{
    const tl_pair found = l->items[i];
    pair p = {.found = found, .kind = l->how == EE ? PAIR_EE : PAIR_VF, .body = l->body};
    memcpy(p.node, f->node, sizeof p.node);
    p.thickness = thickness_of(c, l, f), p.area = area_of(c, l, found, f);
    return p;
}

// Makes and measures a pair, and sets the gap bound of its item. True if it is near enough to be kept.
static bool fill_pair(const filter_job *job, int32_t from, int32_t to)
{
    tl_contacts *c = job->c;
    const list *l = job->g.l;
    const filter_motion *s = job->g.motion;
    const features f = features_of(c, l, from);
    if (is_pinched(c, l, &f)) return false;
    pair *p = &c->cache.pair[to];
    *p = make_pair(c, l, from, &f);
    contact_measure_pair(c, to);
    const double spare = search_margin(c, s, &f), distance = c->cache.near[to].distance;
    if (p->body == TL_CLOTH && distance <= p->thickness + spare) p->thickness = panel_thickness(c, p, p->thickness);
    const double beyond = distance - p->thickness - spare;
    const bool worth = distance <= p->thickness + spare;
    l->bound[from] = DOWN * (float)(worth ? smaller(0, beyond + s->rounding) : larger(0, beyond - s->rounding));
    return worth;
}

static void fill_chunk(void *arg, int32_t begin, int32_t end)
{
    const filter_job *job = arg;
    const int32_t chunk = begin / FOUND_PER_CHUNK, first = job->first + job->start[chunk];
    int32_t to = first;
    for (int32_t i = begin; i < end; i++)
        if (is_unknown(job->g.state[i]) && fill_pair(job, i, to)) to++;
    job->left[chunk] = to - first;
}

// Moves the pairs of all chunks together.
static void close_gaps(const filter_job *job, int32_t chunks)
{
    tl_contacts *c = job->c;
    c->cache.count = job->first;
    for (int32_t i = 0; i < chunks; i++) {
        contact_move_pairs(c, job->first + job->start[i], job->left[i], c->cache.count);
        c->cache.count += job->left[i];
    }
}

// --- lists ---

static bool body_rests(const tl_contacts *c, int32_t body)
{
    return body == TL_CLOTH || !c->bodies[body].moves ||
           (c->motion.progress >= 1 && c->cache.measured_progress >= 1 && c->cache.settled_progress >= 1);
}

/// The reused pairs of one list: begin .. end - 1.
typedef struct known_run {
    const pair_reuse *old;
    int32_t begin, end;
} known_run;

static tl_status start_part(tl_contacts *c, const list *l, const filter_motion *s, known_run known, tl_arena *arena,
                            filter_job *job, tl_error *err)
{
    const pair_reuse *old = known.old;
    const int32_t chunks = tl_chunk_count(l->count, FOUND_PER_CHUNK);
    *job = (filter_job){.c = c, .old = old, .old_begin = known.begin, .old_end = known.end, .first = c->cache.count};
    TL_TRY(contact_start_coarse(c, l, s, arena, &job->g, err));
    if (body_rests(c, l->body)) job->g.place = old->place;
    for (int side = 0; side < 2; side++) job->change[side] = old->change[side_of(l->body, l->how, side)];
    job->start = TL_SCRATCH(arena, int32_t, chunks), job->left = TL_SCRATCH(arena, int32_t, chunks);
    return job->start && job->left ? TL_OK : tl_fail_memory(err, "the contacts");
}

static tl_status filter_part(tl_contacts *c, const list *l, const filter_motion *s, known_run known, const tl_ctx *ctx,
                             tl_error *err)
{
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    const int32_t chunks = tl_chunk_count(l->count, FOUND_PER_CHUNK);
    filter_job job;
    TL_TRY(start_part(c, l, s, known, ctx->arena, &job, err));
    tl_parallel_for(ctx->workers, l->count, FOUND_PER_CHUNK, choose_chunk, &job);
    const int32_t count = contact_prefix_sum(job.left, chunks, job.start);
    TL_TRY(contact_reserve_pairs(c, (int64_t)c->cache.count + count, err));
    tl_parallel_for(ctx->workers, l->count, FOUND_PER_CHUNK, fill_chunk, &job);
    close_gaps(&job, chunks);
    tl_arena_release(ctx->arena, mark);
    return TL_OK;
}

// Index of the first reused pair whose list has this number or a higher one.
static int32_t run_begin(const tl_contacts *c, const pair_reuse *old, int32_t number)
{
    int32_t low = 0, high = old->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (list_of(c, &c->cache.pair[middle]) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Are the gap bounds of the lists of a body, or TL_CLOTH, still valid? Not after the body has moved.
static bool bounds_hold(const tl_contacts *c, int32_t body)
{
    if (!c->cache.filter_valid) return false;
    if (body == TL_CLOTH || !c->bodies[body].moves) return true;
    return c->cache.filter_progress == c->motion.progress &&
           (c->cache.filter_body_part == c->motion.disp_of[1] || c->motion.progress >= 1);
}

// Filters a list part by part, which bounds the memory for pairs that are measured and then dropped.
static tl_status filter_list(tl_contacts *c, const list *l, const filter_motion *s, const pair_reuse *old,
                             const tl_ctx *ctx, tl_error *err)
{
    const int32_t number = number_of(l->body, l->how), first = run_begin(c, old, number),
                  last = run_begin(c, old, number + 1);
    if (l->count > 0 && !bounds_hold(c, l->body)) memset(l->bound, 0, (size_t)l->count * sizeof *l->bound);
    for (int32_t begin = 0; begin < l->count; begin += FOUND_PER_PART) {
        const int32_t count = l->count - begin < FOUND_PER_PART ? l->count - begin : FOUND_PER_PART;
        const list part = {l->items + begin, count, l->body, l->how, l->bound + begin};
        TL_TRY(filter_part(c, &part, s, (known_run){old, first, last}, ctx, err));
    }
    return TL_OK;
}

static tl_status filter_plane(tl_contacts *c, int32_t b, tl_error *err)
{
    tl_vec3 p0, n0;
    contact_plane(c, b, c->motion.progress, &p0, &n0);
    for (int32_t i = 0; i < c->node_count; i++) {
        if (c->pinch.is_pinched[i]) continue;
        const double h = 0.5 * c->thickness[c->node_cloth[i]] + c->bodies[b].thickness, near = h + 2 * c->skin;
        double ways[2];
        contact_plane_approach(c, b, c->motion.pos[i], c->motion.disp[i], ways);
        if (tl_dot3(n0, tl_sub3(c->motion.pos[i], p0)) + smaller(0, ways[0]) - larger(0, ways[1]) > near) continue;
        TL_TRY(contact_reserve_pairs(c, (int64_t)c->cache.count + 1, err));
        c->cache.pair[c->cache.count] = (pair){{i, i, i, i}, {i, i}, PAIR_PLANE, b, h, c->node_area[i]};
        contact_measure_pair(c, c->cache.count++);
    }
    return TL_OK;
}

static tl_status filter_lists(tl_contacts *c, const filter_motion *s, const pair_reuse *old, const tl_ctx *ctx,
                              tl_error *err)
{
    if (c->self) {
        TL_TRY(filter_list(c, &(list){c->cache.lists.vf, c->cache.lists.vf_count, TL_CLOTH, VF, c->cache.bound.vf}, s,
                           old, ctx, err));
        TL_TRY(filter_list(c, &(list){c->cache.lists.ee, c->cache.lists.ee_count, TL_CLOTH, EE, c->cache.bound.ee}, s,
                           old, ctx, err));
    }
    for (int32_t b = 0; b < c->body_count; b++) {
        const tl_pairs *f = &c->bodies[b].found;
        const gap_bounds *far = &c->bodies[b].bounds;
        if (c->bodies[b].plane) {
            TL_TRY(filter_plane(c, b, err));
            continue;
        }
        TL_TRY(filter_list(c, &(list){f->vf, f->vf_count, b, VF, far->vf}, s, old, ctx, err));
        TL_TRY(filter_list(c, &(list){f->fv, f->fv_count, b, FV, far->fv}, s, old, ctx, err));
        TL_TRY(filter_list(c, &(list){f->ee, f->ee_count, b, EE, far->ee}, s, old, ctx, err));
    }
    return TL_OK;
}

// --- everything ---

// Is this the same search as the last one? Then the pairs are those that are there already.
static bool is_repeated(const tl_contacts *c)
{
    const size_t size = (size_t)c->node_count * sizeof *c->motion.pos;
    if (!c->cache.complete || !c->cache.unchanged || !bounds_hold(c, TL_CLOTH)) return false;
    for (int32_t b = 0; b < c->body_count; b++)
        if (!bounds_hold(c, b)) return false;
    if (c->cache.measured_progress != c->motion.progress || c->cache.settled_progress != c->motion.progress)
        return false;
    return memcmp(c->motion.pos, c->cache.filter_pos, size) == 0 &&
           memcmp(c->motion.disp, c->cache.filter_disp, size) == 0 &&
           memcmp(c->motion.pos, c->cache.measured, size) == 0 && memcmp(c->motion.pos, c->cache.settled, size) == 0;
}

// Records the motion for which lists and pairs are now valid.
static void note_filtered(tl_contacts *c)
{
    const size_t size = (size_t)c->node_count * sizeof *c->motion.pos;
    memcpy(c->cache.filter_pos, c->motion.pos, size), memcpy(c->cache.filter_disp, c->motion.disp, size);
    c->cache.filter_valid = c->cache.unchanged = true, c->cache.filter_progress = c->motion.progress,
    c->cache.filter_body_part = c->motion.disp_of[1];
    memcpy(c->cache.settled, c->motion.pos, size), memcpy(c->cache.measured, c->motion.pos, size);
    c->cache.settled_progress = c->cache.measured_progress = c->motion.progress;
    c->cache.complete = true;
}

tl_status contact_filter(tl_contacts *c, const tl_ctx *ctx, tl_error *err)
{
    if (is_repeated(c)) {
        c->cache.measured_now = false;
        return TL_OK;
    }
    const tl_arena_mark mark = tl_arena_save(ctx->arena);
    filter_motion s;
    pair_reuse old;
    tl_status status = contact_prepare_filter(c, c->motion.pos, c->motion.disp, 0, ctx, &s, err);
    if (status == TL_OK) status = contact_reuse_pairs(c, ctx, &old, err);
    if (status == TL_OK) status = filter_lists(c, &s, &old, ctx, err);
    if (status == TL_OK) status = contact_merge_pairs(c, &old, ctx, err);
    tl_arena_release(ctx->arena, mark);
    if (status != TL_OK) {
        c->cache.count = 0, c->cache.complete = c->cache.filter_valid = false;
        return status;
    }
    note_filtered(c);
    c->cache.measured_now = false;
    return TL_OK;
}
