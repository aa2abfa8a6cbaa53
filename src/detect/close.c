// detect/close.c: lists of close pairs.

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/sort.h"
#include "detect/detect.h"

tl_detect_def tl_detect_def_default(void)
{
    return (tl_detect_def){.k = 18, .arity = 4, .culling = 1, .skin = 0.5, .new_pairs = 100, .discard = 2, .seed = 1};
}

void tl_close_init(tl_close_list *list, tl_allocator alloc) { *list = (tl_close_list){.alloc = alloc}; }

void tl_close_free(tl_close_list *list)
{
    TL_FREE(&list->alloc, list->items, list->cap);
    list->count = list->cap = 0;
}

int tl_close_order(const tl_close *p, const tl_close *q)
{
    if (p->kind != q->kind) return p->kind < q->kind ? -1 : 1;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

int tl_close_nodes(const tl_surface *first, const tl_surface *second, int32_t kind, int32_t a, int32_t b,
                   int32_t node[4])
{
    if (kind == TL_CLOSE_EE) {
        const int32_t *e = first->edge[a], *g = second->edge[b];
        node[0] = e[0], node[1] = e[1], node[2] = g[0], node[3] = g[1];
        return 4 | 8;
    }
    const int32_t *f = (kind == TL_CLOSE_VF ? second : first)->face[b];
    node[0] = a, node[1] = f[0], node[2] = f[1], node[3] = f[2];
    return kind == TL_CLOSE_VF ? 2 | 4 | 8 : 1;
}

static int32_t group_end(const tl_key *keys, int32_t begin, int32_t n)
{
    int32_t end = begin + 1;
    while (end < n && keys[end].key == keys[begin].key) end++;
    return end;
}

// By kind and a with one sort, by b within groups, which are short.
tl_status tl_close_sort(tl_close_list *list, tl_arena *scratch, tl_error *err)
{
    const int32_t n = list->count;
    const tl_arena_mark mark = tl_arena_save(scratch);
    tl_key *keys = TL_SCRATCH(scratch, tl_key, n), *more = TL_SCRATCH(scratch, tl_key, n);
    tl_close *sorted = TL_SCRATCH(scratch, tl_close, n);
    if (n > 0 && (!keys || !more || !sorted)) return tl_fail_memory(err, "the close pairs");
    for (int32_t i = 0; i < n; i++)
        keys[i] = (tl_key){(uint64_t)list->items[i].kind << 32 | (uint32_t)list->items[i].a, i};
    tl_sort_keys(keys, more, n);
    for (int32_t i = 0; i < n;) {
        const int32_t end = group_end(keys, i, n);
        for (int32_t j = i; j < end; j++) {
            const tl_close item = list->items[keys[j].id];
            int32_t place = j;
            while (place > i && sorted[place - 1].b > item.b) sorted[place] = sorted[place - 1], place--;
            sorted[place] = item;
        }
        i = end;
    }
    if (n > 0) memcpy(list->items, sorted, (size_t)n * sizeof *sorted);
    tl_arena_release(scratch, mark);
    return TL_OK;
}

int32_t tl_close_common(const tl_close_list *all, const tl_close_list *some)
{
    int32_t count = 0;
    for (int32_t i = 0, j = 0; i < all->count && j < some->count;) {
        const int order = tl_close_order(&all->items[i], &some->items[j]);
        count += order == 0;
        i += order <= 0, j += order >= 0;
    }
    return count;
}
