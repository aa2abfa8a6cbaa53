// respond/zones/zones.c: impact zones by projected Gauss-Seidel on the multipliers.
//
// min 1/2 sum m_i |x_i - y_i|^2  with  g_c(x) = n_c . sum w x + gap_c >= keep_c  has the answer x = y + M^-1 sum_c w n
// push_c, push_c >= 0. A sweep visits the bonds in turn: it changes the push of a bond so that its own condition holds,
// keeping the total push >= 0, then applies friction, which stops sliding as far as friction * push allows. Every
// change is w / m along one vector, so momentum is conserved where nothing is immovable.

#include "respond/zones/zones.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"

#define CLOSE_ENOUGH 0.02  // of what is to be kept: the test that follows asks for half of it
enum { MAX_SWEEPS = 200 };

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static bool moves(const tl_bond *b, int k, const double *inverse_mass)
{
    return b->node[k] >= 0 && b->weight[k] != 0 && inverse_mass[b->node[k]] > 0;
}

static tl_vec3 sum_of(const tl_bond *b, const tl_vec3 *x)
{
    tl_vec3 sum = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) sum = tl_madd3(sum, b->weight[k], x[b->node[k]]);
    return sum;
}

static void shift(const tl_bond *b, tl_vec3 by, const double *inverse_mass, tl_vec3 *x)
{
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) x[b->node[k]] = tl_madd3(x[b->node[k]], b->weight[k] * inverse_mass[b->node[k]], by);
}

// Solves one bond; returns its violation relative to what it has to keep.
static double relax(tl_bond *b, const double *inverse_mass, tl_vec3 *x)
{
    double ease = 0;  // how far a unit of push moves the features apart
    for (int k = 0; k < 4; k++)
        if (b->node[k] >= 0) ease += b->weight[k] * b->weight[k] * inverse_mass[b->node[k]];
    if (!(ease > 0)) return 0;
    const double lack = b->keep - b->gap - tl_dot3(b->normal, sum_of(b, x));
    const double push = fmax(b->push + lack / ease, 0), change = push - b->push;
    b->push = push;
    if (change != 0) shift(b, tl_mul3(change, b->normal), inverse_mass, x);
    double off = fabs(change) * ease / b->keep;
    if (!(b->friction > 0)) return off;
    const tl_vec3 slid = tl_add3(sum_of(b, x), b->slide), across = tl_madd3(slid, -tl_dot3(slid, b->normal), b->normal);
    tl_vec3 rub = tl_madd3(b->rub, -1 / ease, across);
    const double size = tl_norm3(rub), most = b->friction * push;
    if (size > most) rub = tl_mul3(most / size, rub);
    const tl_vec3 more = tl_sub3(rub, b->rub);
    b->rub = rub;
    shift(b, more, inverse_mass, x);
    return fmax(off, tl_norm3(more) * ease / b->keep);
}

tl_status tl_zones_solve(const tl_bonds *all, tl_vec3 *x, uint8_t *moved, tl_arena *arena, tl_zones_report *report,
                         tl_error *err)
{
    tl_bond *bonds = all->bond;
    const int32_t count = all->count, node_count = all->node_count;
    const double *inverse_mass = all->inverse_mass;
    *report = (tl_zones_report){0};
    const tl_arena_mark mark = tl_arena_save(arena);
    const size_t n = (size_t)node_count;
    int32_t *parent = TL_SCRATCH(arena, int32_t, n), *size = TL_SCRATCH(arena, int32_t, n),
            *start = TL_SCRATCH(arena, int32_t, n + 1);
    int32_t *zone = TL_SCRATCH(arena, int32_t, count), *order = TL_SCRATCH(arena, int32_t, count);
    if (!parent || !size || !start || (count > 0 && (!zone || !order))) return tl_fail_memory(err, "the impact zones");
    for (int32_t i = 0; i < node_count; i++) parent[i] = i, size[i] = 0;
    memset(start, 0, (n + 1) * sizeof *start);
    for (int32_t c = 0; c < count; c++) {
        zone[c] = -1;
        for (int k = 0; k < 4; k++) {
            if (!moves(&bonds[c], k, inverse_mass)) continue;
            const int32_t r = root_of(parent, bonds[c].node[k]);
            if (zone[c] < 0) zone[c] = r;
            const int32_t a = root_of(parent, zone[c]);
            parent[a > r ? a : r] = a > r ? r : a;  // the smallest node is the root
        }
    }
    for (int32_t i = 0; i < node_count; i++) size[root_of(parent, i)]++;
    for (int32_t c = 0; c < count; c++)
        if (zone[c] >= 0) zone[c] = root_of(parent, zone[c]), start[zone[c] + 1]++;
    for (int32_t i = 0; i < node_count; i++) start[i + 1] += start[i];
    for (int32_t c = count - 1; c >= 0; c--)  // ends with start[i + 1] where zone i begins
        if (zone[c] >= 0) order[--start[zone[c] + 1]] = c;
    int32_t total = 0;
    for (int32_t c = 0; c < count; c++) total += zone[c] >= 0;
    report->immovable = count - total;
    for (int32_t i = 0; i < node_count; i++) {
        const int32_t first = start[i + 1], last = i + 2 <= node_count ? start[i + 2] : total;
        if (first == last) continue;
        report->zones++;
        if (size[i] > report->largest) report->largest = size[i];
        bool fresh = false;
        for (int32_t j = first; j < last; j++) fresh |= bonds[order[j]].fresh;
        if (!fresh) continue;
        double off = INFINITY;
        for (int sweep = 0; sweep < MAX_SWEEPS && off > CLOSE_ENOUGH; sweep++) {
            off = 0;
            for (int32_t j = first; j < last; j++) off = fmax(off, relax(&bonds[order[j]], inverse_mass, x));
            report->sweeps++;
        }
        for (int32_t j = first; j < last; j++) {
            tl_bond *b = &bonds[order[j]];
            b->fresh = false;
            for (int k = 0; k < 4; k++)
                if (moves(b, k, inverse_mass)) moved[b->node[k]] = 1;
        }
    }
    tl_arena_release(arena, mark);
    return TL_OK;
}
