// dress/figure.c: sections of a surface, and what they say of the body.

#include "dress/figure.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/retarget.h"
#include "math/vec3.h"
#include "mesh/edges.h"

// All in heights of the body.
#define LEAST_LOOP 0.04   // length of a section that counts
#define ASIDE 0.03        // a trunk reaches so far to both sides of the middle
#define CROTCH_LOW 0.22   // between these ..
#define CROTCH_HIGH 0.62  // .. it is looked for
#define ARM_LEAST 0.15    // half the width of a body with arms
#define ARM_JUMP 0.08     // a section that reaches so much lower than the last has met the trunk
#define ARM_TALLEST 0.5   // a section taller than that is no arm's
#define NECK_LOW 0.74
#define NECK_HIGH 0.93
enum { MOST_LOOPS = 48, ARM_LEVELS = 48 };

/// A closed part of a section.
typedef struct loop {
    double length;
    tl_vec3 low, high, middle;
} loop;

typedef struct cutter {
    const tl_allocator *alloc;
    const tl_vec3 *x;
    const int32_t (*face)[3];
    int32_t face_count;
    int32_t (*edge)[2];
    int32_t edge_count;
    int32_t (*face_edge)[3];
    int32_t *parent, *index;  // per edge
    loop loops[MOST_LOOPS];
    int32_t count;
} cutter;

const char *tl_limb_name(tl_limb limb)
{
    static const char *const names[] = {"head", "left arm", "right arm", "left leg", "right leg"};
    return limb >= 0 && limb < TL_LIMBS ? names[limb] : "";
}

int32_t tl_figure_level(const tl_figure *f, double y)
{
    const double t = (y - f->low.y) / (f->high.y - f->low.y) * TL_FIGURE_LEVELS;
    return t <= 0 ? 0 : t >= TL_FIGURE_LEVELS ? TL_FIGURE_LEVELS - 1 : (int32_t)t;
}

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static double along(tl_vec3 p, int axis) { return axis == 0 ? p.x : p.y; }

// Where an edge passes the level, if it does.
static bool passes(const cutter *c, int32_t edge, int axis, double level, tl_vec3 *at)
{
    const tl_vec3 a = c->x[c->edge[edge][0]], b = c->x[c->edge[edge][1]];
    const double p = along(a, axis) - level, q = along(b, axis) - level;
    if ((p < 0) == (q < 0)) return false;
    *at = tl_madd3(a, p / (p - q), tl_sub3(b, a));
    return true;
}

static void include(loop *l, tl_vec3 p)
{
    l->low = (tl_vec3){fmin(l->low.x, p.x), fmin(l->low.y, p.y), fmin(l->low.z, p.z)};
    l->high = (tl_vec3){fmax(l->high.x, p.x), fmax(l->high.y, p.y), fmax(l->high.z, p.z)};
}

// The two edges of a face that pass the level; how many do.
static int face_cut(const cutter *c, int32_t f, int axis, double level, int32_t e[2], tl_vec3 at[2])
{
    int n = 0;
    for (int k = 0; k < 3 && n < 2; k++)
        if (passes(c, c->face_edge[f][k], axis, level, &at[n])) e[n++] = c->face_edge[f][k];
    return n;
}

// Sections with a plane x = level (axis 0) or y = level (axis 1).
static void cut(cutter *c, int axis, double level)
{
    int32_t e[2];
    tl_vec3 at[2];
    c->count = 0;
    for (int32_t i = 0; i < c->edge_count; i++) c->parent[i] = i, c->index[i] = -1;
    for (int32_t f = 0; f < c->face_count; f++) {
        if (face_cut(c, f, axis, level, e, at) < 2) continue;
        const int32_t a = root_of(c->parent, e[0]), b = root_of(c->parent, e[1]);
        c->parent[a > b ? a : b] = a < b ? a : b;
    }
    for (int32_t f = 0; f < c->face_count; f++) {
        if (face_cut(c, f, axis, level, e, at) < 2) continue;
        const int32_t root = root_of(c->parent, e[0]);
        if (c->index[root] < 0) {
            if (c->count == MOST_LOOPS) continue;
            const double inf = (double)INFINITY;
            c->loops[c->count] = (loop){0, {inf, inf, inf}, {-inf, -inf, -inf}, {0, 0, 0}};
            c->index[root] = c->count++;
        }
        loop *l = &c->loops[c->index[root]];
        const double way = tl_norm3(tl_sub3(at[1], at[0]));
        l->length += way;
        l->middle = tl_madd3(l->middle, 0.5 * way, tl_add3(at[0], at[1]));
        include(l, at[0]), include(l, at[1]);
    }
    for (int32_t i = 0; i < c->count; i++)
        if (c->loops[i].length > 0) c->loops[i].middle = tl_mul3(1 / c->loops[i].length, c->loops[i].middle);
}

// The longest section that reaches to both sides of the middle; NULL: none.
static const loop *central(const cutter *c, double mid, double height)
{
    const loop *best = NULL;
    for (int32_t i = 0; i < c->count; i++) {
        const loop *l = &c->loops[i];
        if (l->length < LEAST_LOOP * height || l->low.x > mid - ASIDE * height || l->high.x < mid + ASIDE * height)
            continue;
        if (!best || l->length > best->length) best = l;
    }
    return best;
}

// The longest section on one side: +1 left, -1 right.
static const loop *aside(const cutter *c, double mid, double height, int side)
{
    const loop *best = NULL;
    for (int32_t i = 0; i < c->count; i++) {
        const loop *l = &c->loops[i];
        if (l->length < LEAST_LOOP * height || !(side * (l->middle.x - mid) > 0)) continue;
        if (fabs(l->middle.x - mid) > 0.25 * height) continue;                             // a hand
        if (side * ((side > 0 ? l->low.x : l->high.x) - mid) < -ASIDE * height) continue;  // a trunk
        if (!best || l->length > best->length) best = l;
    }
    return best;
}

static void add_point(tl_limb_line *l, tl_vec3 p)
{
    if (l->count < TL_FIGURE_POINTS) l->at[l->count++] = p;
}

// ---- trunk, legs, head --------------------------------------------------------------------------------------

static double level_of(const tl_figure *f, int32_t i)
{
    return f->low.y + (i + 0.5) / TL_FIGURE_LEVELS * (f->high.y - f->low.y);
}

/// What the horizontal sections say.
typedef struct sections {
    loop trunk[TL_FIGURE_LEVELS], leg[2][TL_FIGURE_LEVELS];  // length 0: none
    double mid;
} sections;

static void cut_levels(cutter *c, const tl_figure *f, sections *s)
{
    const double height = f->high.y - f->low.y;
    memset(s, 0, sizeof *s);
    s->mid = 0.5 * (f->low.x + f->high.x);
    for (int32_t i = 0; i < TL_FIGURE_LEVELS; i++) {
        cut(c, 1, level_of(f, i));
        const loop *l = central(c, s->mid, height);
        if (l) s->trunk[i] = *l;
        for (int side = 0; side < 2; side++) {
            l = aside(c, s->mid, height, side == 0 ? 1 : -1);
            if (l) s->leg[side][i] = *l;
        }
    }
}

static int32_t thinnest(const tl_figure *f, const sections *s, double low, double high)
{
    int32_t best = -1;
    for (int32_t i = 0; i < TL_FIGURE_LEVELS; i++) {
        const double y = level_of(f, i);
        if (y < low || y > high || !(s->trunk[i].length > 0)) continue;
        if (best < 0 || s->trunk[i].length < s->trunk[best].length) best = i;
    }
    return best;
}

static bool find_heights(tl_figure *f, const sections *s)
{
    const double height = f->high.y - f->low.y;
    int32_t top = TL_FIGURE_LEVELS, hip = -1;
    for (int32_t i = TL_FIGURE_LEVELS / 2; i < TL_FIGURE_LEVELS && s->trunk[i].length > 0; i++) top = i;
    if (top == TL_FIGURE_LEVELS) return false;
    f->has_legs = true, f->crotch = f->low.y + CROTCH_HIGH * height;
    for (int32_t i = TL_FIGURE_LEVELS - 1; i >= 0; i--) {  // downwards from where there is a trunk for certain
        const double y = level_of(f, i);
        if (y > f->low.y + CROTCH_HIGH * height) continue;
        if (!(s->trunk[i].length > 0)) break;
        f->crotch = y;
    }
    if (f->crotch < f->low.y + CROTCH_LOW * height) f->has_legs = false, f->crotch = f->low.y + 0.47 * height;
    const int32_t waist = thinnest(f, s, f->crotch + 0.08 * height, f->crotch + 0.2 * height);
    const int32_t neck = thinnest(f, s, f->low.y + NECK_LOW * height, f->low.y + NECK_HIGH * height);
    if (waist < 0) return false;
    f->waist = level_of(f, waist), f->trunk = s->trunk[waist].middle;
    f->neck = neck >= 0 ? level_of(f, neck) : f->low.y + 0.85 * height;
    f->shoulders = f->neck - 0.045 * height;
    for (int32_t i = 0; i < waist; i++)
        if (level_of(f, i) >= f->crotch && s->trunk[i].length > 0 &&
            (hip < 0 || s->trunk[i].high.x - s->trunk[i].low.x > s->trunk[hip].high.x - s->trunk[hip].low.x))
            hip = i;
    f->hip = hip >= 0 ? level_of(f, hip) : f->crotch + 0.04 * height;
    return true;
}

static void fill_profile(tl_figure *f, const sections *s)
{
    const int32_t waist = tl_figure_level(f, f->waist);
    for (int32_t i = 0; i < TL_FIGURE_LEVELS; i++) {
        loop all = s->trunk[i];
        for (int side = 0; side < 2 && f->has_legs && level_of(f, i) < f->crotch; side++) {
            if (!(s->leg[side][i].length > 0)) continue;
            if (!(all.length > 0)) all = s->leg[side][i];
            include(&all, s->leg[side][i].low), include(&all, s->leg[side][i].high);
        }
        if (!(all.length > 0)) all = s->trunk[waist];
        f->side[0][i] = all.low.x, f->side[1][i] = all.high.x;
        f->depth[0][i] = all.low.z, f->depth[1][i] = all.high.z;
    }
}

static void find_upright_limbs(tl_figure *f, const sections *s)
{
    const double height = f->high.y - f->low.y;
    for (int32_t i = 0; i < TL_FIGURE_LEVELS; i += 2)
        if (level_of(f, i) > f->shoulders && s->trunk[i].length > 0 && s->trunk[i].length < 0.6 * height)
            add_point(&f->limb[TL_LIMB_HEAD], s->trunk[i].middle);
    add_point(&f->limb[TL_LIMB_HEAD], (tl_vec3){f->trunk.x, f->high.y, f->trunk.z});
    f->limb[TL_LIMB_HEAD].radius = 0.05 * height;
    for (int side = 0; side < 2; side++) {
        tl_limb_line *l = &f->limb[side == 0 ? TL_LIMB_LEFT_LEG : TL_LIMB_RIGHT_LEG];
        if (!f->has_legs) {  // one lower end for both
            if (side == 1) continue;
            add_point(l, (tl_vec3){f->trunk.x, f->crotch, f->trunk.z});
            add_point(l, (tl_vec3){f->trunk.x, f->low.y, f->trunk.z});
            l->radius = 0.1 * height;
            continue;
        }
        for (int32_t i = tl_figure_level(f, f->crotch); i >= 0; i -= 3) {
            const loop *leg = &s->leg[side][i];
            if (level_of(f, i) >= f->crotch || !(leg->length > 0)) continue;
            if (l->count == 0) add_point(l, (tl_vec3){leg->middle.x, f->crotch + 0.04 * height, leg->middle.z});
            add_point(l, leg->middle);
            if (level_of(f, i) > 0.6 * f->crotch + 0.4 * f->low.y) l->radius = leg->length / (2 * M_PI);
        }
        if (l->count > 0) add_point(l, (tl_vec3){l->at[l->count - 1].x, f->low.y, l->at[l->count - 1].z});
    }
}

// ---- arms ---------------------------------------------------------------------------------------------------

// Sections from the hand inwards, until one reaches down the trunk.
static void find_arm(cutter *c, tl_figure *f, double mid, int side)
{
    const double height = f->high.y - f->low.y, reach = side > 0 ? f->high.x - mid : mid - f->low.x;
    tl_limb_line inwards = {0}, *line = &f->limb[side > 0 ? TL_LIMB_LEFT_ARM : TL_LIMB_RIGHT_ARM];
    double low = 0, high = 0, girth = 0;
    if (reach < ARM_LEAST * height) return;
    for (int i = 1; i < ARM_LEVELS; i++) {
        const double way = reach * (1 - (double)i / ARM_LEVELS);
        loop all = {0};
        if (way < ASIDE * height) break;
        cut(c, 0, mid + side * way);
        for (int32_t k = 0; k < c->count; k++) {
            const loop *l = &c->loops[k];
            if (l->length < 0.1 * LEAST_LOOP * height) continue;
            if (inwards.count == 0 && l->low.y < f->low.y + 0.2 * height) continue;  // a foot
            if (inwards.count > 0 && (l->high.y < low - ARM_JUMP * height || l->low.y > high + ARM_JUMP * height))
                continue;
            if (!(all.length > 0)) all = (loop){0, l->low, l->high, {0, 0, 0}};
            include(&all, l->low), include(&all, l->high);
            all.middle = tl_madd3(all.middle, l->length, l->middle), all.length += l->length;
        }
        if (!(all.length > 0)) continue;
        const bool first = inwards.count == 0;
        if ((!first && all.low.y < low - ARM_JUMP * height) || all.high.y - all.low.y > ARM_TALLEST * height) break;
        low = all.low.y, high = all.high.y, girth = all.length;
        const tl_vec3 middle = tl_mul3(1 / all.length, all.middle);
        if (first) add_point(&inwards, (tl_vec3){mid + side * reach, middle.y, middle.z});
        if (inwards.count + 2 >= TL_FIGURE_POINTS)  // every other one stays
            for (int32_t k = (inwards.count /= 2, 0); k < inwards.count; k++) inwards.at[k] = inwards.at[2 * k];
        add_point(&inwards, middle);
    }
    if (inwards.count < 3) return;
    for (int32_t k = inwards.count; k-- > 0;) add_point(line, inwards.at[k]);
    line->radius = fmin(girth / (2 * M_PI), 0.04 * height);
    f->shoulders = fmax(high, f->neck - 0.07 * height) < f->neck ? fmax(high, f->neck - 0.07 * height) : f->shoulders;
}

static tl_status find(cutter *c, tl_figure *f, sections *s, tl_error *err)
{
    cut_levels(c, f, s);
    if (!find_heights(f, s))
        return tl_fail(err, TL_BAD_INPUT, "the body has no trunk between %.2f and %.2f m: does it stand upright (y)?",
                       f->low.y, f->high.y);
    fill_profile(f, s);
    find_upright_limbs(f, s);
    find_arm(c, f, s->mid, 1), find_arm(c, f, s->mid, -1);
    f->has_arms = f->limb[TL_LIMB_LEFT_ARM].count > 0 && f->limb[TL_LIMB_RIGHT_ARM].count > 0;
    return TL_OK;
}

tl_status tl_figure_find(const tl_allocator *alloc, const tl_vec3 *x, int32_t vert_count, const int32_t (*face)[3],
                         int32_t face_count, tl_figure *out, tl_error *err)
{
    *out = (tl_figure){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t f = 0; f < face_count; f++)
        for (int k = 0; k < 3; k++) {
            loop l = {0, out->low, out->high, {0, 0, 0}};
            if (face[f][k] < vert_count) include(&l, x[face[f][k]]);
            out->low = l.low, out->high = l.high;
        }
    if (!(out->high.y > out->low.y)) return tl_fail(err, TL_BAD_INPUT, "the body has no height");
    cutter *c = TL_CALLOC(alloc, cutter, 1);
    sections *s = TL_CALLOC(alloc, sections, 1);
    int32_t(*face_edge)[3] = tl_alloc_bytes(alloc, (size_t)face_count, sizeof *face_edge);
    tl_status status = c && s && face_edge ? TL_OK : tl_fail_memory(err, "the parts of a body");
    if (status == TL_OK) {
        *c = (cutter){.alloc = alloc, .x = x, .face = face, .face_count = face_count, .face_edge = face_edge};
        status = tl_unique_edges(alloc, face, face_count, &c->edge, &c->edge_count, face_edge, err);
    }
    if (status == TL_OK) {
        c->parent = TL_ALLOC(alloc, int32_t, c->edge_count), c->index = TL_ALLOC(alloc, int32_t, c->edge_count);
        status = c->parent && c->index ? find(c, out, s, err) : tl_fail_memory(err, "the parts of a body");
        TL_FREE(alloc, c->parent, c->edge_count);
        TL_FREE(alloc, c->index, c->edge_count);
        TL_FREE(alloc, c->edge, c->edge_count);
    }
    TL_FREE(alloc, face_edge, face_count);
    TL_FREE(alloc, c, 1);
    TL_FREE(alloc, s, 1);
    return status;
}

double tl_figure_girth(const tl_allocator *alloc, const tl_figure *f, const tl_vec3 *x, const int32_t (*face)[3],
                       int32_t face_count, double y)
{
    double girth = 0;
    cutter *c = TL_CALLOC(alloc, cutter, 1);
    int32_t(*face_edge)[3] = tl_alloc_bytes(alloc, (size_t)face_count, sizeof *face_edge);
    if (c) *c = (cutter){.alloc = alloc, .x = x, .face = face, .face_count = face_count, .face_edge = face_edge};
    if (c && face_edge &&
        tl_unique_edges(alloc, face, face_count, &c->edge, &c->edge_count, face_edge, NULL) == TL_OK) {
        c->parent = TL_ALLOC(alloc, int32_t, c->edge_count), c->index = TL_ALLOC(alloc, int32_t, c->edge_count);
        if (c->parent && c->index) {
            cut(c, 1, y);
            const loop *l = central(c, f->trunk.x, f->high.y - f->low.y);
            girth = l ? l->length : 0;
        }
        TL_FREE(alloc, c->parent, c->edge_count);
        TL_FREE(alloc, c->index, c->edge_count);
        TL_FREE(alloc, c->edge, c->edge_count);
    }
    TL_FREE(alloc, face_edge, face_count);
    TL_FREE(alloc, c, 1);
    return girth;
}

// ---- skeletons ----------------------------------------------------------------------------------------------

/// Joints of one limb from the trunk outwards, by what their names mean.
typedef struct chain {
    tl_limb limb;
    int side;
    tl_bone bone[3];
} chain;

static const chain chains[] = {
    {TL_LIMB_LEFT_ARM, 1, {TL_BONE_UPPER_ARM, TL_BONE_FOREARM, TL_BONE_HAND}},
    {TL_LIMB_RIGHT_ARM, 2, {TL_BONE_UPPER_ARM, TL_BONE_FOREARM, TL_BONE_HAND}},
    {TL_LIMB_LEFT_LEG, 1, {TL_BONE_THIGH, TL_BONE_SHIN, TL_BONE_FOOT}},
    {TL_LIMB_RIGHT_LEG, 2, {TL_BONE_THIGH, TL_BONE_SHIN, TL_BONE_FOOT}},
};

static bool joint_of(const tl_character *c, const tl_affine *frame, tl_bone bone, int side, tl_vec3 *out)
{
    for (int32_t n = 0; n < tl_character_node_count(c); n++) {
        int found;
        if (tl_bone_of(tl_character_node_name(c, n), &found) != bone || found != side) continue;
        const tl_affine all = tl_affine_mul(&c->place, &frame[n]);
        *out = tl_affine_point(&all, (tl_vec3){0, 0, 0});
        return true;  // parents stand first
    }
    return false;
}

tl_status tl_figure_use_rig(const tl_allocator *alloc, const tl_character *c, tl_figure *f, tl_error *err)
{
    const double height = f->high.y - f->low.y;
    tl_poser *poser = tl_poser_create(alloc, c);
    tl_vec3 *x = TL_ALLOC(alloc, tl_vec3, tl_character_vert_count(c));
    tl_playback rest = tl_playback_default();
    rest.clip = -1;
    if (poser && x) tl_poser_at(poser, c, &rest, 0, x);
    const tl_affine *frame = poser && x ? tl_poser_frames(poser) : NULL;
    for (size_t i = 0; frame && i < sizeof chains / sizeof *chains; i++) {
        const chain *k = &chains[i];
        tl_limb_line line = {.count = 3, .radius = f->limb[k->limb].radius};
        bool all = true;
        for (int j = 0; j < 3; j++) all = all && joint_of(c, frame, k->bone[j], k->side, &line.at[j]);
        if (!all || tl_norm3(tl_sub3(line.at[0], line.at[2])) < 0.1 * height) continue;
        const tl_vec3 on = tl_unit3_or(tl_sub3(line.at[2], line.at[1]), (tl_vec3){0, -1, 0});
        line.at[3] = tl_madd3(line.at[2], 0.1 * height, on), line.count = 4;
        if (!(line.radius > 0)) line.radius = (i < 2 ? 0.03 : 0.045) * height;
        f->limb[k->limb] = line;
        if (i < 2)
            f->has_arms = true;
        else
            f->has_legs = true;
    }
    const bool room = poser && x;
    TL_FREE(alloc, x, tl_character_vert_count(c));
    tl_poser_destroy(poser);
    return room ? TL_OK : tl_fail_memory(err, "the parts of a body");
}
