// math/cholesky.c: analysis of the pattern: elimination tree, fronts, where everything will lie in memory.
//
// Liu 1990 (elimination trees), Liu 1992 (multifrontal method), Ashcraft and Grimes 1989 (relaxed
// supernodes). All offsets, the stack of update matrices included, are fixed here, so that factoring
// allocates nothing and a subtree finds its own memory without asking the other threads.

#include "math/cholesky.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "math/cholesky_impl.h"
#include "math/order.h"

// The tree is cut where a subtree falls below this share of the work: enough pieces to fill the lanes evenly,
// and a constant, since the cut must not depend on their number.
static const double TASK_SHARE = 1.0 / 32;
static const double TASK_MIN_FLOPS = 2e5;  // below this a task costs more to hand out than to do

// Analysis in flight: everything is per column (node) and indexed by place.
typedef struct analysis {
    const tl_bsr *m;
    int32_t n;
    int32_t *order, *place;
    int32_t *parent, *count;      // elimination tree; rows below the diagonal in each column of L
    int32_t *head, *next, *mark;  // children lists, scratch
    int32_t *into;                // amalgamation: column whose front this one joined, itself if none
    int32_t *pivots;              // nodes in the front led by this column
    double *zeros;                // explicit zeros in it
} analysis;

static int32_t degree(const analysis *a, int32_t v)
{
    const tl_bsr *m = a->m;
    const int32_t i = a->order[v];
    return m->lower_start[i + 1] - m->lower_start[i] + m->row_start[i + 1] - m->row_start[i] - 1;
}

// Place of the k-th neighbour of the node at place v.
static int32_t neighbour(const analysis *a, int32_t v, int32_t k)
{
    const tl_bsr *m = a->m;
    const int32_t i = a->order[v], lower = m->lower_start[i + 1] - m->lower_start[i];
    const int32_t j = k < lower ? m->lower_row[m->lower_start[i] + k] : m->col[m->row_start[i] + 1 + k - lower];
    return a->place[j];
}

static void set_places(analysis *a)
{
    for (int32_t k = 0; k < a->n; k++) a->place[a->order[k]] = k;
}

// Liu 1990, algorithm 4.2, with path compression in `mark`.
static void build_tree(analysis *a)
{
    for (int32_t r = 0; r < a->n; r++) {
        a->parent[r] = a->mark[r] = -1;
        for (int32_t k = 0, d = degree(a, r); k < d; k++) {
            for (int32_t v = neighbour(a, r, k); v < r;) {
                const int32_t up = a->mark[v];
                a->mark[v] = r;
                if (up == -1) {
                    a->parent[v] = r;
                    break;
                }
                v = up;
            }
        }
    }
}

static void build_children(analysis *a)
{
    for (int32_t v = 0; v < a->n; v++) a->head[v] = -1;
    for (int32_t v = a->n - 1; v >= 0; v--) {  // backwards, so that lists ascend
        if (a->parent[v] < 0) continue;
        a->next[v] = a->head[a->parent[v]];
        a->head[a->parent[v]] = v;
    }
}

// Renumbers so that children come just before their parent. `stack` and `label` are scratch.
static void postorder(analysis *a, int32_t *stack, int32_t *label)
{
    build_children(a);
    int32_t done = 0;
    for (int32_t root = 0; root < a->n; root++) {
        if (a->parent[root] >= 0) continue;
        int32_t top = 0;
        stack[top++] = root;
        while (top > 0) {
            const int32_t v = stack[top - 1], child = a->head[v];
            if (child >= 0) {
                a->head[v] = a->next[child];
                stack[top++] = child;
            } else {
                label[v] = done++;
                top--;
            }
        }
    }
    for (int32_t v = 0; v < a->n; v++) stack[label[v]] = a->order[v];
    memcpy(a->order, stack, (size_t)a->n * sizeof *stack);
    for (int32_t v = 0; v < a->n; v++) stack[label[v]] = a->parent[v] < 0 ? -1 : label[a->parent[v]];
    memcpy(a->parent, stack, (size_t)a->n * sizeof *stack);
    set_places(a);
}

// Row r of L is the union of the tree paths from its neighbours up to r.
static void count_columns(analysis *a)
{
    for (int32_t v = 0; v < a->n; v++) a->count[v] = 0, a->mark[v] = -1;
    for (int32_t r = 0; r < a->n; r++) {
        a->mark[r] = r;
        for (int32_t k = 0, d = degree(a, r); k < d; k++)
            for (int32_t v = neighbour(a, r, k); v < r && a->mark[v] != r; v = a->parent[v])
                a->mark[v] = r, a->count[v]++;
    }
}

static double trapezoid(double pivots, double updates) { return pivots * (pivots + 1) / 2 + pivots * updates; }

// Merging a front into its parent's adds zeros and saves an assembly. Small fronts profit most.
static bool worth_merging(double pivots, double zeros, double entries)
{
    if (zeros == 0) return true;
    const double share = zeros / entries;
    if (pivots <= 4) return share < 0.8;
    if (pivots <= 16) return share < 0.25;
    if (pivots <= 40) return share < 0.1;
    return share < 0.04;
}

static void amalgamate(analysis *a)
{
    build_children(a);
    for (int32_t v = 0; v < a->n; v++) {
        a->into[v] = v, a->pivots[v] = 1, a->zeros[v] = 0;
        int32_t kept = -1;
        // children that stay; those of a merged child have been judged against it and stay too
        for (int32_t c = a->head[v], next; c >= 0; c = next) {
            next = a->next[c];
            const double u = a->count[v], pm = a->pivots[v] + a->pivots[c], entries = trapezoid(pm, u);
            const double zeros =
                entries - trapezoid(a->pivots[v], u) - trapezoid(a->pivots[c], a->count[c]) + a->zeros[v] + a->zeros[c];
            if (worth_merging(pm, zeros, entries)) {
                a->into[c] = v;
                a->pivots[v] = (int32_t)pm;
                a->zeros[v] = zeros;
            } else {
                a->next[c] = kept;
                kept = c;
            }
        }
    }
}

static int32_t leader(analysis *a, int32_t v)
{
    int32_t root = v;
    while (a->into[root] != root) root = a->into[root];
    while (a->into[v] != root) {
        const int32_t up = a->into[v];
        a->into[v] = root;
        v = up;
    }
    return root;
}

// The fronts in the order of their leading columns, which is a postorder; pivots renumbered front by front.
// `front_of` by leader, `at` scratch.
static void number_fronts(analysis *a, tl_cholesky *ch, int32_t *front_of, int32_t *at, int32_t *order)
{
    int32_t fronts = 0, place = 0;
    for (int32_t v = 0; v < a->n; v++) {
        if (a->into[v] != v) continue;
        front_of[v] = fronts;
        tl_front *f = &ch->fronts[fronts++];
        *f = (tl_front){
            .first = place, .pivots = a->pivots[v], .updates = a->count[v], .parent = -1, .child = -1, .sibling = -1};
        at[v] = place;
        place += a->pivots[v];
    }
    ch->front_count = fronts;
    for (int32_t v = 0; v < a->n; v++) order[at[leader(a, v)]++] = a->order[v];
    for (int32_t v = 0; v < a->n; v++)
        if (a->into[v] == v && a->parent[v] >= 0) ch->fronts[front_of[v]].parent = front_of[leader(a, a->parent[v])];
    for (int32_t f = fronts - 1; f >= 0; f--) {
        const int32_t up = ch->fronts[f].parent;
        if (up < 0) continue;
        ch->fronts[f].sibling = ch->fronts[up].child;
        ch->fronts[up].child = f;
    }
    memcpy(a->order, order, (size_t)a->n * sizeof *order);
    set_places(a);
}

// Update nodes of every front: what its pivots and its children reach beyond its pivots.
static void find_rows(analysis *a, tl_cholesky *ch)
{
    for (int32_t v = 0; v < a->n; v++) a->mark[v] = -1;
    int32_t at = 0;
    for (int32_t id = 0; id < ch->front_count; id++) {
        tl_front *f = &ch->fronts[id];
        const int32_t last = f->first + f->pivots;
        f->rows_at = at;
        for (int32_t v = f->first; v < last; v++) {
            for (int32_t k = 0, d = degree(a, v); k < d; k++) {
                const int32_t c = neighbour(a, v, k);
                if (c >= last && a->mark[c] != id) a->mark[c] = id, ch->rows[at++] = c;
            }
        }
        for (int32_t c = f->child; c >= 0; c = ch->fronts[c].sibling) {
            const tl_front *child = &ch->fronts[c];
            for (int32_t k = 0; k < child->updates; k++) {
                const int32_t r = ch->rows[child->rows_at + k];
                if (r >= last && a->mark[r] != id) a->mark[r] = id, ch->rows[at++] = r;
            }
        }
        TL_ASSERT(at - f->rows_at == f->updates, "a front has other rows than its leading column");
        tl_sort_ints(ch->rows + f->rows_at, f->updates);
    }
    ch->fronts[ch->front_count].rows_at = at;
}

// Position of place `r` in a front; `from` is a hint that only grows for ascending r.
static int32_t local_row(const tl_cholesky *ch, const tl_front *f, int32_t r, int32_t *from)
{
    if (r < f->first + f->pivots) return r - f->first;
    const int32_t *rows = ch->rows + f->rows_at;
    while (rows[*from] < r) ++*from;
    return f->pivots + *from;
}

static void find_parent_positions(tl_cholesky *ch)
{
    for (int32_t id = 0; id < ch->front_count; id++) {
        const tl_front *f = &ch->fronts[id];
        if (f->parent < 0) continue;
        int32_t hint = 0;
        for (int32_t k = f->rows_at; k < f->rows_at + f->updates; k++)
            ch->rel[k] = local_row(ch, &ch->fronts[f->parent], ch->rows[k], &hint);
    }
}

// Sends every block of the matrix to the front of its earlier node.
static void find_entries(analysis *a, tl_cholesky *ch, int32_t *local)
{
    int32_t at = 0;
    for (int32_t id = 0; id < ch->front_count; id++) {
        tl_front *f = &ch->fronts[id];
        f->entry_begin = at;
        for (int32_t k = 0; k < f->pivots; k++) local[f->first + k] = k;
        for (int32_t k = 0; k < f->updates; k++) local[ch->rows[f->rows_at + k]] = f->pivots + k;
        for (int32_t v = f->first; v < f->first + f->pivots; v++) {
            const tl_bsr *m = a->m;
            const int32_t i = a->order[v];
            // (row r, column v): stored as (i, j) it is A(i, j) = A(j, i)^T, so the upper ones come
            // transposed
            for (int32_t k = m->row_start[i]; k < m->row_start[i + 1]; k++) {
                const int32_t r = a->place[m->col[k]];
                if (r >= v) ch->entries[at++] = (tl_chol_entry){~k, local[r], v - f->first};
            }
            for (int32_t k = m->lower_start[i]; k < m->lower_start[i + 1]; k++) {
                const int32_t r = a->place[m->lower_row[k]];
                if (r >= v) ch->entries[at++] = (tl_chol_entry){m->lower_block[k], local[r], v - f->first};
            }
        }
    }
    ch->fronts[ch->front_count].entry_begin = at;
}

static double front_flops(const tl_front *f)
{
    const double p = 3.0 * f->pivots, u = 3.0 * f->updates;
    return p * p * p / 3 + p * p * u + p * u * u;
}

// Largest subtree first: workers that finish early find small ones left.
static void sort_tasks(tl_chol_task *t, int32_t n)
{
    for (int32_t gap = n / 2; gap > 0; gap /= 2)
        for (int32_t i = gap; i < n; i++) {
            const tl_chol_task v = t[i];
            int32_t k = i;
            for (; k >= gap &&
                   (t[k - gap].flops < v.flops || (t[k - gap].flops == v.flops && t[k - gap].begin > v.begin));
                 k -= gap)
                t[k] = t[k - gap];
            t[k] = v;
        }
}

// `below` : flops of the subtree under each front; `begin`: its first front.
static void cut_tree(tl_cholesky *ch, double *below, int32_t *begin)
{
    ch->flops = 0;
    for (int32_t id = 0; id < ch->front_count; id++) below[id] = 0, begin[id] = id;
    for (int32_t id = 0; id < ch->front_count; id++) {
        const tl_front *f = &ch->fronts[id];
        const double own = front_flops(f);
        ch->flops += own;
        below[id] += own;
        if (f->parent < 0) continue;
        below[f->parent] += below[id];
        if (begin[id] < begin[f->parent]) begin[f->parent] = begin[id];
    }
    const double limit = ch->flops * TASK_SHARE > TASK_MIN_FLOPS ? ch->flops * TASK_SHARE : TASK_MIN_FLOPS;
    for (int32_t id = 0; id < ch->front_count; id++) {
        const int32_t up = ch->fronts[id].parent;
        if (below[id] > limit)
            ch->top[ch->top_count++] = id;
        else if (up < 0 || below[up] > limit)
            ch->tasks[ch->task_count++] = (tl_chol_task){.begin = begin[id], .end = id + 1, .flops = below[id]};
    }
    sort_tasks(ch->tasks, ch->task_count);
}

// Update matrices live from their front to its parent: a list of live ranges, first gap that fits. The list
// is short (the tree's depth), and the layout it finds is as tight as a stack without moving anything.
typedef struct live {
    int64_t begin, end;
    int32_t front;
} live;
typedef struct live_list {
    live *items;
    int32_t count;
    int64_t peak;
} live_list;

static int64_t live_take(live_list *list, int64_t size, int32_t front)
{
    int64_t at = 0;
    int32_t k = 0;
    for (; k < list->count && list->items[k].begin - at < size; k++) at = list->items[k].end;
    memmove(list->items + k + 1, list->items + k, (size_t)(list->count - k) * sizeof *list->items);
    list->items[k] = (live){at, at + size, front};
    list->count++;
    if (at + size > list->peak) list->peak = at + size;
    return at;
}

static void live_drop(live_list *list, int32_t front)
{
    for (int32_t k = 0; k < list->count; k++)
        if (list->items[k].front == front) {
            memmove(list->items + k, list->items + k + 1, (size_t)(list->count - k - 1) * sizeof *list->items);
            list->count--;
            return;
        }
}

// Lays out the update parts of fronts ids[0..count) (or begin.. if ids is NULL) from 0 on; returns the room
// they need, the room for one factor part included while the store is float.
static int64_t lay_out(tl_cholesky *ch, const int32_t *ids, int32_t begin, int32_t count, tl_chol_task *task,
                       live_list *list)
{
    int64_t panel = 0, map = 0;
    list->count = 0, list->peak = 0;
    for (int32_t k = 0; k < count; k++) {
        const int32_t id = ids ? ids[k] : begin + k;
        tl_front *f = &ch->fronts[id];
        if (f->updates) f->update_at = live_take(list, tl_front_update_size(f), id);
        for (int32_t c = f->child; c >= 0; c = ch->fronts[c].sibling) {
            live_drop(list, c);  // not found when it is the root of a task: those stay
            if (9 * ch->fronts[c].updates > map) map = 9 * ch->fronts[c].updates;
        }
        if (tl_front_factor_size(f) > panel) panel = tl_front_factor_size(f);
    }
    task->panel_at = list->peak;
    task->map_at = ch->map_count;
    ch->map_count += map;
    return list->peak + (ch->single ? panel : 0);
}

// Tasks are dealt out to lanes, largest first to the lane with least to do; tasks of a lane follow each other
// in the same memory. The update parts of their roots outlive them and have a place of their own. The top of
// the tree comes when all lanes are done, so it lies on top of them.
static void lay_out_all(tl_cholesky *ch, live *items)
{
    live_list list = {items, 0, 0};
    double load[TL_CHOL_LANES] = {0};
    int64_t room[TL_CHOL_LANES] = {0}, roots = 0;
    for (int32_t t = 0; t < ch->task_count; t++) {
        tl_chol_task *task = &ch->tasks[t];
        for (int32_t lane = 1; lane < TL_CHOL_LANES; lane++)
            if (load[lane] < load[task->lane]) task->lane = lane;
        load[task->lane] += task->flops;
        const int64_t need = lay_out(ch, NULL, task->begin, task->end - task->begin, task, &list);
        if (need > room[task->lane]) room[task->lane] = need;
        tl_front *root = &ch->fronts[task->end - 1];
        root->update_at = roots;
        roots += root->updates ? tl_front_update_size(root) : 0;
    }
    int64_t base[TL_CHOL_LANES], end = roots;
    for (int32_t lane = 0; lane < TL_CHOL_LANES; lane++) base[lane] = end, end += room[lane];
    for (int32_t t = 0; t < ch->task_count; t++) {
        tl_chol_task *task = &ch->tasks[t];
        task->panel_at += base[task->lane];
        for (int32_t id = task->begin; id < task->end - 1; id++) ch->fronts[id].update_at += base[task->lane];
    }
    tl_chol_task *top = &ch->tasks[ch->task_count];
    const int64_t top_room = lay_out(ch, ch->top, 0, ch->top_count, top, &list);
    top->panel_at += roots;
    for (int32_t k = 0; k < ch->top_count; k++) ch->fronts[ch->top[k]].update_at += roots;
    ch->work_count = end > roots + top_room ? end : roots + top_room;
    for (int32_t id = 0; id < ch->front_count; id++) {
        tl_front *f = &ch->fronts[id];
        f->factor_at = ch->factor_count;
        ch->factor_count += tl_front_factor_size(f);
        f->vector_at = ch->vector_count;
        ch->vector_count += tl_pad8(3 * f->pivots) + tl_pad8(3 * f->updates);
    }
}

static tl_status no_memory(tl_error *err) { return tl_fail_memory(err, "Cholesky factor"); }

// Everything after the order: `ints` holds 8 n numbers of scratch, `reals` n, `lives` n + 1.
static tl_status analyse(tl_cholesky *ch, const tl_bsr *m, int32_t *ints, double *reals, live *lives, tl_error *err)
{
    const size_t n = (size_t)m->row_count;
    analysis a = {.m = m,
                  .n = m->row_count,
                  .order = ch->order,
                  .place = ints,
                  .parent = ints + n,
                  .count = ints + 2 * n,
                  .head = ints + 3 * n,
                  .next = ints + 4 * n,
                  .mark = ints + 5 * n,
                  .into = ints + 6 * n,
                  .pivots = ints + 7 * n,
                  .zeros = reals};
    set_places(&a);
    build_tree(&a);
    postorder(&a, a.mark, a.count);
    count_columns(&a);
    amalgamate(&a);
    int32_t fronts = 0;
    for (int32_t v = 0; v < a.n; v++) fronts += a.into[v] == v;
    ch->front_count = fronts;
    ch->fronts = TL_CALLOC(&ch->alloc, tl_front, fronts + 1);
    ch->tasks = TL_CALLOC(&ch->alloc, tl_chol_task, fronts + 1);
    ch->top = TL_ALLOC(&ch->alloc, int32_t, fronts);
    ch->entries = TL_ALLOC(&ch->alloc, tl_chol_entry, ch->block_count);
    if (!ch->fronts || !ch->tasks || !ch->top || !ch->entries) return no_memory(err);
    number_fronts(&a, ch, a.head, a.next, a.mark);
    int64_t rows = 0;
    for (int32_t f = 0; f < fronts; f++) rows += ch->fronts[f].updates;
    if (rows > INT32_MAX) return tl_fail(err, TL_NO_MEMORY, "matrix of %d rows is too large to factor", a.n);
    ch->row_total = (int32_t)rows;
    ch->rows = TL_ALLOC(&ch->alloc, int32_t, rows);
    ch->rel = TL_ALLOC(&ch->alloc, int32_t, rows);
    if (!ch->rows || !ch->rel) return no_memory(err);
    find_rows(&a, ch);
    find_parent_positions(ch);
    find_entries(&a, ch, a.mark);
    cut_tree(ch, reals, a.mark);
    lay_out_all(ch, lives);
    return TL_OK;
}

static tl_status allocate_numbers(tl_cholesky *ch, tl_error *err)
{
    ch->factor = tl_alloc_bytes(&ch->alloc, (size_t)ch->factor_count, ch->single ? sizeof(float) : sizeof(double));
    ch->work = TL_ALLOC(&ch->alloc, double, ch->work_count);
    ch->maps = TL_ALLOC(&ch->alloc, int32_t, ch->map_count);
    ch->vectors = TL_ALLOC(&ch->alloc, double, ch->vector_count);
    ch->solution = TL_ALLOC(&ch->alloc, tl_vec3, ch->n);
    ch->failed = TL_ALLOC(&ch->alloc, uint8_t, ch->task_count + 1);
    return ch->factor && ch->work && ch->maps && ch->vectors && ch->solution && ch->failed ? TL_OK : no_memory(err);
}

tl_status tl_cholesky_create(const tl_allocator *alloc, const tl_bsr *m, bool single, tl_cholesky **out, tl_error *err)
{
    *out = NULL;
    tl_cholesky *ch = TL_CALLOC(alloc, tl_cholesky, 1);
    if (!ch) return no_memory(err);
    ch->alloc = *alloc;
    ch->single = single;
    ch->n = m->row_count;
    ch->block_count = m->block_count;
    ch->order = TL_ALLOC(alloc, int32_t, ch->n);
    tl_status status = ch->order ? tl_order_nested(alloc, m, ch->order, err) : no_memory(err);
    if (status == TL_OK) {
        int32_t *ints = tl_alloc_bytes(alloc, (size_t)ch->n, 8 * sizeof *ints);
        double *reals = TL_ALLOC(alloc, double, ch->n);
        live *lives = TL_ALLOC(alloc, live, ch->n + 1);
        status = ints && reals && lives ? analyse(ch, m, ints, reals, lives, err) : no_memory(err);
        tl_free_bytes(alloc, ints, (size_t)ch->n, 8 * sizeof *ints);
        TL_FREE(alloc, reals, ch->n);
        TL_FREE(alloc, lives, ch->n + 1);
    }
    if (status == TL_OK) status = allocate_numbers(ch, err);
    if (status != TL_OK) {
        tl_cholesky_destroy(ch);
        return status;
    }
    *out = ch;
    return TL_OK;
}

void tl_cholesky_destroy(tl_cholesky *ch)
{
    if (!ch) return;
    const tl_allocator alloc = ch->alloc;
    TL_FREE(&alloc, ch->order, ch->n);
    TL_FREE(&alloc, ch->fronts, ch->front_count + 1);
    TL_FREE(&alloc, ch->tasks, ch->front_count + 1);
    TL_FREE(&alloc, ch->top, ch->front_count);
    TL_FREE(&alloc, ch->entries, ch->block_count);
    TL_FREE(&alloc, ch->rows, ch->row_total);
    TL_FREE(&alloc, ch->rel, ch->row_total);
    tl_free_bytes(&alloc, ch->factor, (size_t)ch->factor_count, ch->single ? sizeof(float) : sizeof(double));
    TL_FREE(&alloc, ch->work, ch->work_count);
    TL_FREE(&alloc, ch->maps, ch->map_count);
    TL_FREE(&alloc, ch->vectors, ch->vector_count);
    TL_FREE(&alloc, ch->solution, ch->n);
    TL_FREE(&alloc, ch->failed, ch->task_count + 1);
    TL_FREE(&alloc, ch, 1);
}

tl_cholesky_info tl_cholesky_describe(const tl_cholesky *ch)
{
    const size_t n = (size_t)ch->n, fronts = (size_t)ch->front_count;
    const size_t memory = sizeof *ch + n * (sizeof *ch->order + sizeof *ch->solution) +
                          fronts * (sizeof *ch->fronts + sizeof *ch->tasks + sizeof *ch->top + sizeof *ch->failed) +
                          (size_t)ch->block_count * sizeof *ch->entries + (size_t)ch->row_total * 2 * sizeof *ch->rows +
                          (size_t)ch->factor_count * (ch->single ? sizeof(float) : sizeof(double)) +
                          (size_t)(ch->work_count + ch->vector_count) * sizeof(double) +
                          (size_t)ch->map_count * sizeof *ch->maps;
    return (tl_cholesky_info){ch->flops, ch->factor_count, memory};
}
