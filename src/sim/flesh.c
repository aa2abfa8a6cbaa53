// sim/flesh.c: skin gives way where parts of a body press on each other, so that cloth fits between them.
//
// Skinning lets arms sink into the trunk and thighs into each other; flesh would be pressed flat. Samples of the clip
// are examined in advance: along the normal of a vertex, the opposite skin of another part lies at a signed distance t,
// negative where the parts overlap. Each of the two moves back by half of what is missing to CLEAR. These depths are
// smoothed over neighbours in space and time and depend on time alone: a body whose skin gives way is as exact and
// reproducible as any other.

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/retarget.h"
#include "detect/nearest.h"
#include "math/vec3.h"
#include "sim/internal.h"

#define CLEAR 0.012  // [m] of room between parts
#define DEEP 0.03    // [m] of overlap that is seen
#define MOST 0.02    // [m] that skin goes back
#define FACING -0.2  // cosine between normals of skins that face each other
#define RATE 30.0    // samples per second of the clip
#define LEAST 2e-4   // [m] less is none
#define SPREAD 0.8   // of a neighbour's depth, per edge
enum { GROUPS = 14, MOST_SAMPLES = 3000, MOST_FACES = 96, SPREADS = 6, SMOOTHS = 2 };
enum { TRUNK, HEAD, UPPER_ARMS, FOREARMS = 4, HANDS = 6, THIGHS = 8, SHINS = 10, FEET = 12 };

struct sim_flesh {
    int32_t verts, samples;
    double begin;
    int32_t *vert;   ///< that ever give way
    float *depth;    ///< [samples][verts] [m]
    int32_t *start;  ///< faces around them: entries start[i] .. start[i + 1] of `fan`
    int32_t *fan;
    tl_vec3 *move;
    int32_t fan_count;
};

/// State while depths are computed.
typedef struct finder {
    tl_sim *sim;
    const sim_body *b;
    int8_t *group;               // of vertices
    int32_t (*face[GROUPS])[3];  // faces all of whose vertices are of a group
    int32_t count[GROUPS];
    tl_bvh *tree[GROUPS];
    tl_vec3 *x, *normal;
    float *depth;  // [samples][all vertices]
    int32_t samples;
} finder;

static int8_t group_of(const tl_character *c, int32_t vert)
{
    for (int32_t n = tl_character_vert_node(c, vert); n >= 0; n = tl_character_node_parent(c, n)) {
        int side;
        const tl_bone bone = tl_bone_of(tl_character_node_name(c, n), &side);
        const int8_t right = side == 2;
        switch (bone) {
        case TL_BONE_UPPER_ARM: return (int8_t)(UPPER_ARMS + right);
        case TL_BONE_FOREARM: return (int8_t)(FOREARMS + right);
        case TL_BONE_HAND: return (int8_t)(HANDS + right);
        case TL_BONE_THIGH: return (int8_t)(THIGHS + right);
        case TL_BONE_SHIN: return (int8_t)(SHINS + right);
        case TL_BONE_FOOT:
        case TL_BONE_TOE: return (int8_t)(FEET + right);
        case TL_BONE_HEAD: return HEAD;
        case TL_BONE_NONE: break;
        default: return TRUNK;
        }
    }
    return TRUNK;
}

static bool stays(int8_t group) { return group == HANDS || group == HANDS + 1 || group >= FEET; }

static void find_normals(const sim_body *b, const tl_vec3 *x, tl_vec3 *normal)
{
    memset(normal, 0, (size_t)b->node_count * sizeof *normal);
    for (int32_t f = 0; f < b->face_count - b->hidden; f++) {
        const int32_t *c = b->face[f];
        const tl_vec3 n = tl_cross3(tl_sub3(x[c[1]], x[c[0]]), tl_sub3(x[c[2]], x[c[0]]));
        for (int k = 0; k < 3; k++) normal[c[k]] = tl_add3(normal[c[k]], n);
    }
    for (int32_t v = 0; v < b->node_count; v++) normal[v] = tl_unit3_or(normal[v], (tl_vec3){0, 0, 0});
}

// Signed distance along n at which the line through p meets the face, if its front looks against n; else INFINITY.
static double meets(tl_vec3 p, tl_vec3 n, tl_vec3 a, tl_vec3 b, tl_vec3 c)
{
    const tl_vec3 u = tl_sub3(b, a), v = tl_sub3(c, a), m = tl_cross3(u, v), s = tl_sub3(p, a), q = tl_cross3(s, u),
                  w = tl_cross3(n, v);
    const double det = -tl_dot3(n, m), length = tl_norm3(m);
    if (!(tl_dot3(n, m) < FACING * length)) return (double)INFINITY;
    const double first = tl_dot3(s, w) / det, second = tl_dot3(n, q) / det;
    if (!(first >= 0 && second >= 0 && first + second <= 1)) return (double)INFINITY;
    return tl_dot3(v, q) / det;
}

// Depth by which vertex v has to move back.
static double depth_at(const finder *f, int32_t v)
{
    const tl_vec3 p = f->x[v], n = f->normal[v], a = tl_madd3(p, -DEEP, n), b = tl_madd3(p, CLEAR, n);
    const tl_vec3 lo = {fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z)},
                  hi = {fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z)};
    double best = (double)INFINITY;
    bool all = false;  // the other does not give way
    for (int8_t g = 0; g < GROUPS; g++) {
        int32_t faces[MOST_FACES];
        if (g == f->group[v] || !f->tree[g]) continue;
        int32_t count = tl_bvh_around(f->tree[g], lo, hi, faces, MOST_FACES);
        if (count > MOST_FACES) count = MOST_FACES;
        for (int32_t i = 0; i < count; i++) {
            const int32_t *c = f->face[g][faces[i]];
            const double t = meets(p, n, f->x[c[0]], f->x[c[1]], f->x[c[2]]);
            if (t >= -DEEP && t <= CLEAR && fabs(t) < fabs(best)) best = t, all = stays(g);
        }
    }
    if (!(best <= CLEAR)) return 0;
    return fmin(MOST, (all ? 1 : 0.5) * (CLEAR - best));
}

// Depths spread to neighbours, decreasing with every edge, and are then averaged.
static void spread(const finder *f, float *d, float *next)
{
    const sim_body *b = f->b;
    for (int round = 0; round < SPREADS; round++)
        for (int32_t e = 0; e < b->edge_count; e++) {
            float *p = &d[b->edge[e][0]], *q = &d[b->edge[e][1]];
            const double x = (double)*p, y = (double)*q;
            *p = (float)fmax(x, SPREAD * y - LEAST), *q = (float)fmax(y, SPREAD * x - LEAST);
        }
    for (int round = 0; round < SMOOTHS; round++) {
        const size_t n = (size_t)b->node_count;
        float *count = next + n;
        memcpy(next, d, n * sizeof *d);
        for (size_t v = 0; v < n; v++) count[v] = 1;
        for (int32_t e = 0; e < b->edge_count; e++) {
            const int32_t p = b->edge[e][0], q = b->edge[e][1];
            next[p] += d[q], next[q] += d[p], count[p] += 1, count[q] += 1;
        }
        for (size_t v = 0; v < n; v++) d[v] = next[v] / count[v];
    }
    for (int32_t v = 0; v < b->node_count; v++)
        if (stays(f->group[v])) d[v] = 0;
}

// Maximum over a sample and its neighbours in time, then the mean.
static void smooth_in_time(float *depth, int32_t samples, int32_t n, float *line)
{
    for (int32_t v = 0; v < n; v++)
        for (int round = 0; round < 2; round++) {
            for (int32_t s = 0; s < samples; s++) line[s] = depth[(size_t)s * (size_t)n + (size_t)v];
            for (int32_t s = 0; s < samples; s++) {
                const double a = (double)line[s > 0 ? s - 1 : 0], b = (double)line[s],
                             c = (double)line[s + 1 < samples ? s + 1 : s];
                depth[(size_t)s * (size_t)n + (size_t)v] = (float)(round == 0 ? fmax(a, fmax(b, c)) : (a + b + c) / 3);
            }
        }
}

// ---- preparing ----------------------------------------------------------------------------------------------

static tl_status make_trees(finder *f, tl_error *err)
{
    const sim_body *b = f->b;
    const tl_allocator *alloc = &f->sim->alloc;
    const tl_bvh_def def = tl_bvh_def_default();
    for (int32_t v = 0; v < b->node_count; v++) f->group[v] = group_of(b->character, v);
    for (int8_t g = 0; g < GROUPS; g++)
        for (int pass = 0; pass < 2; pass++) {
            if (pass == 1 && f->count[g] == 0) break;
            if (pass == 1 && !(f->face[g] = tl_alloc_bytes(alloc, (size_t)f->count[g], sizeof *f->face[g])))
                return tl_fail_memory(err, "a body");
            int32_t n = 0;
            for (int32_t i = 0; i < b->face_count - b->hidden; i++) {
                const int32_t *c = b->face[i];
                if (f->group[c[0]] != g || f->group[c[1]] != g || f->group[c[2]] != g) continue;
                if (pass == 1) memcpy(f->face[g][n], c, sizeof *f->face[g]);
                n++;
            }
            f->count[g] = n;
        }
    for (int8_t g = 0; g < GROUPS; g++) {
        if (f->count[g] == 0) continue;
        const tl_surface surface = {b->node_count, f->count[g], 0, (const int32_t(*)[3])f->face[g], NULL};
        TL_TRY(tl_bvh_create(alloc, &def, &surface, f->x, &f->tree[g], err));
    }
    return TL_OK;
}

static tl_status look(finder *f, double begin, float *scratch, tl_error *err)
{
    const sim_body *b = f->b;
    const size_t n = (size_t)b->node_count;
    tl_poser_at(b->poser, b->character, &b->play, begin, f->x);
    TL_TRY(make_trees(f, err));
    for (int32_t s = 0; s < f->samples; s++) {
        float *d = f->depth + (size_t)s * n;
        tl_poser_at(b->poser, b->character, &b->play, begin + s / RATE, f->x);
        find_normals(b, f->x, f->normal);
        for (int8_t g = 0; g < GROUPS; g++)
            if (f->tree[g]) tl_bvh_refit(f->tree[g], f->x, NULL, 0, 0, f->sim->workers);
        for (int32_t v = 0; v < b->node_count; v++) d[v] = stays(f->group[v]) ? 0 : (float)depth_at(f, v);
        spread(f, d, scratch);
    }
    smooth_in_time(f->depth, f->samples, b->node_count, scratch);
    return TL_OK;
}

static tl_status gather(finder *f, double begin, struct sim_flesh *out, tl_error *err)
{
    const sim_body *b = f->b;
    const tl_allocator *alloc = &f->sim->alloc;
    const size_t n = (size_t)b->node_count;
    int32_t *place = TL_ALLOC(alloc, int32_t, n);
    if (!place) return tl_fail_memory(err, "a body");
    for (size_t v = 0; v < n; v++) {
        double most = 0;
        for (int32_t s = 0; s < f->samples; s++) most = fmax(most, (double)f->depth[(size_t)s * n + v]);
        place[v] = most > LEAST ? out->verts++ : -1;
    }
    out->samples = f->samples, out->begin = begin;
    const size_t m = (size_t)out->verts;
    out->vert = TL_ALLOC(alloc, int32_t, m), out->move = TL_ALLOC(alloc, tl_vec3, m);
    out->depth = TL_ALLOC(alloc, float, m *(size_t)f->samples);
    out->start = TL_CALLOC(alloc, int32_t, m + 1);
    for (int32_t i = 0; i < b->face_count - b->hidden; i++)
        for (int k = 0; k < 3; k++) out->fan_count += place[b->face[i][k]] >= 0;
    out->fan = TL_ALLOC(alloc, int32_t, out->fan_count);
    const bool allocated = out->vert && out->move && out->depth && out->start && out->fan;
    for (size_t v = 0; allocated && v < n; v++) {
        if (place[v] < 0) continue;
        out->vert[place[v]] = (int32_t)v;
        for (int32_t s = 0; s < f->samples; s++)
            out->depth[(size_t)s * m + (size_t)place[v]] = f->depth[(size_t)s * n + v];
    }
    for (int pass = 0; allocated && pass < 2; pass++) {
        for (int32_t i = 0; i < b->face_count - b->hidden; i++)
            for (int k = 0; k < 3; k++) {
                const int32_t p = place[b->face[i][k]];
                if (p >= 0 && pass == 0) out->start[p + 1]++;
                if (p >= 0 && pass == 1) out->fan[out->start[p]++] = i;
            }
        for (size_t p = 0; pass == 0 && p < m; p++) out->start[p + 1] += out->start[p];
    }
    for (size_t p = m; allocated && p > 0; p--) out->start[p] = out->start[p - 1];
    if (allocated) out->start[0] = 0;
    TL_FREE(alloc, place, n);
    return allocated ? TL_OK : tl_fail_memory(err, "a body");
}

tl_status sim_make_flesh(tl_sim *sim, sim_body *b, tl_error *err)
{
    const tl_allocator *alloc = &sim->alloc;
    if (!b->character || b->play.clip < 0) return TL_OK;
    const double seconds =
        b->play.lead_in + fmax(0, tl_character_clip_seconds(b->character, b->play.clip) - b->play.from) / b->play.speed;
    finder f = {.sim = sim, .b = b, .samples = (int32_t)fmin(ceil(RATE * seconds) + 1, MOST_SAMPLES)};
    const size_t n = (size_t)b->node_count, scratch = 2 * n + MOST_SAMPLES;
    f.group = TL_ALLOC(alloc, int8_t, n);
    f.x = TL_ALLOC(alloc, tl_vec3, n), f.normal = TL_ALLOC(alloc, tl_vec3, n);
    f.depth = TL_ALLOC(alloc, float, n *(size_t)f.samples);
    float *line = TL_ALLOC(alloc, float, scratch);
    b->flesh = TL_CALLOC(alloc, struct sim_flesh, 1);
    const bool allocated = f.group && f.x && f.normal && f.depth && line && b->flesh;
    tl_status status = allocated ? look(&f, b->play.start, line, err) : tl_fail_memory(err, "a body");
    if (status == TL_OK) status = gather(&f, b->play.start, b->flesh, err);
    for (int g = 0; g < GROUPS; g++) {
        tl_bvh_destroy(f.tree[g]);
        TL_FREE(alloc, f.face[g], f.count[g]);
    }
    TL_FREE(alloc, f.group, n);
    TL_FREE(alloc, f.x, n);
    TL_FREE(alloc, f.normal, n);
    TL_FREE(alloc, f.depth, n * (size_t)f.samples);
    TL_FREE(alloc, line, scratch);
    return status;
}

void sim_free_flesh(tl_sim *sim, sim_body *b)
{
    struct sim_flesh *f = b->flesh;
    if (!f) return;
    TL_FREE(&sim->alloc, f->vert, f->verts);
    TL_FREE(&sim->alloc, f->move, f->verts);
    TL_FREE(&sim->alloc, f->depth, (size_t)f->verts * (size_t)f->samples);
    TL_FREE(&sim->alloc, f->start, f->verts + 1);
    TL_FREE(&sim->alloc, f->fan, f->fan_count);
    TL_FREE(&sim->alloc, f, 1);
    b->flesh = NULL;
}

// ---- at a time ----------------------------------------------------------------------------------------------

void sim_flesh_at(const sim_body *b, double time, tl_vec3 *x)
{
    const struct sim_flesh *f = b->flesh;
    if (f->verts == 0) return;
    const double at = fmin(fmax((time - f->begin) * RATE, 0), f->samples - 1);
    const int32_t s = (int32_t)at < f->samples - 1 ? (int32_t)at : f->samples - 1,
                  next = s + 1 < f->samples ? s + 1 : s;
    const double part = at - s;
    const size_t m = (size_t)f->verts;
    for (int32_t i = 0; i < f->verts; i++) {
        const double depth = (1 - part) * (double)f->depth[(size_t)s * m + (size_t)i] +
                             part * (double)f->depth[(size_t)next * m + (size_t)i];
        tl_vec3 n = {0, 0, 0};
        for (int32_t k = f->start[i]; depth > 0 && k < f->start[i + 1]; k++) {
            const int32_t *c = b->face[f->fan[k]];
            n = tl_add3(n, tl_cross3(tl_sub3(x[c[1]], x[c[0]]), tl_sub3(x[c[2]], x[c[0]])));
        }
        f->move[i] = tl_mul3(-depth, tl_unit3_or(n, (tl_vec3){0, 0, 0}));
    }
    for (int32_t i = 0; i < f->verts; i++) x[f->vert[i]] = tl_add3(x[f->vert[i]], f->move[i]);
}
