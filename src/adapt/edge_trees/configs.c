// adapt/edge_trees/configs.c: the eleven ways to cut a triangle, and how one becomes another.
//
// V0 V1 V2 are corners 0 1 2, the middles M0 of V0V1, M1 of V1V2, M2 of V2V0 are corners 3 4 5. Configurations 4 to 9
// have two split edges and differ in their long diagonal: {1, 4, 9} have M0-V2, {2, 5, 6} M1-V0, {3, 7, 8} M2-V1
// (Simnett 2012, Figs 3.5 to 3.8). All transitions follow from this table; none is written out.

#include <string.h>

#include "adapt/edge_trees/trees_impl.h"

const tl_trees_config tl_trees_configs[TL_TREES_CONFIGS] = {
    {.state = 0, .family = -1},
    {1, 0, 1, 2, {{3, 2}}, {{0, 3, 2}, {3, 1, 2}}},
    {2, 1, 1, 2, {{4, 0}}, {{1, 4, 0}, {4, 2, 0}}},
    {4, 2, 1, 2, {{5, 1}}, {{2, 5, 1}, {5, 0, 1}}},
    {3, 0, 2, 3, {{3, 4}, {3, 2}}, {{0, 3, 2}, {3, 1, 4}, {3, 4, 2}}},
    {3, 1, 2, 3, {{3, 4}, {4, 0}}, {{0, 3, 4}, {3, 1, 4}, {0, 4, 2}}},
    {6, 1, 2, 3, {{4, 5}, {4, 0}}, {{1, 4, 0}, {4, 2, 5}, {4, 5, 0}}},
    {6, 2, 2, 3, {{4, 5}, {5, 1}}, {{1, 4, 5}, {4, 2, 5}, {1, 5, 0}}},
    {5, 2, 2, 3, {{5, 3}, {5, 1}}, {{2, 5, 1}, {5, 0, 3}, {5, 3, 1}}},
    {5, 0, 2, 3, {{5, 3}, {3, 2}}, {{2, 5, 3}, {5, 0, 3}, {2, 3, 1}}},
    {7, -1, 3, 4, {{3, 4}, {4, 5}, {5, 3}}, {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}, {3, 4, 5}}},
};

static int8_t side_of(const tl_trees_config *c, int p, int q)
{
    for (int k = 0; k < 3; k++) {
        if (p == k && q == (k + 1) % 3) return (int8_t)(TL_TREES_OUTER + k);
        if (p == k && q == 3 + k) return (int8_t)(TL_TREES_FIRST + k);
        if (p == 3 + k && q == (k + 1) % 3) return (int8_t)(TL_TREES_SECOND + k);
    }
    for (int k = 0; k < c->edges; k++) {
        if (c->edge[k][0] == p && c->edge[k][1] == q) return (int8_t)(TL_TREES_INNER + k);
        if (c->edge[k][0] == q && c->edge[k][1] == p) return (int8_t)(TL_TREES_INNER_BACK + k);
    }
    return -1;
}

static bool same_corners(const int8_t *a, const int8_t *b, int n)
{
    // Same set in any rotation; children are kept with the rotation that they have.
    int found = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) found += a[i] == b[k];
    return found == n;
}

// First what is the same, then the slots that are left, in order.
static void match(const int8_t *olds, int old_count, const int8_t *news, int new_count, int size, int8_t *from,
                  bool *same, int8_t *gone)
{
    bool used[4] = {false};
    for (int i = 0; i < new_count; i++) {
        from[i] = -1, same[i] = false;
        for (int k = 0; k < old_count && !same[i]; k++)
            if (!used[k] && same_corners(news + size * i, olds + size * k, size))
                from[i] = (int8_t)k, same[i] = used[k] = true;
    }
    for (int i = 0, k = 0; i < new_count; i++) {
        if (same[i]) continue;
        while (k < old_count && used[k]) k++;
        if (k < old_count) from[i] = (int8_t)k, used[k] = true;
    }
    int count = 0;
    for (int k = 0; k < old_count; k++)
        if (!used[k]) gone[count++] = (int8_t)k;
}

void tl_trees_make_tables(tl_trees_tables *out)
{
    memset(out, -1, sizeof *out);
    for (int c = 0; c < TL_TREES_CONFIGS; c++) {
        const tl_trees_config *config = &tl_trees_configs[c];
        for (int i = 0; i < config->tris; i++)
            for (int k = 0; k < 3; k++) {
                const int8_t side = side_of(config, config->tri[i][k], config->tri[i][(k + 1) % 3]);
                out->side[c][i][k] = side;
                if (side >= 0 && side < TL_TREES_FIRST) out->holder[c][side] = (int8_t)i;
            }
        for (int d = 0; d < TL_TREES_CONFIGS; d++) {
            const tl_trees_config *other = &tl_trees_configs[d];
            tl_trees_plan *plan = &out->plan[c][d];
            match(config->tri[0], config->tris, other->tri[0], other->tris, 3, plan->tri_from, plan->tri_same,
                  plan->tri_gone);
            match(config->edge[0], config->edges, other->edge[0], other->edges, 2, plan->edge_from, plan->edge_same,
                  plan->edge_gone);
        }
    }
}
