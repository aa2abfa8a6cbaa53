// scene/gather.c: folds along a line: as long as the cloth, as short as asked, and never through itself.
//
// The line is a sine-generated curve (Langbein & Leopold 1966, the shape of meanders): its direction is
// theta(s) = a sin(2 pi s / fold) at the arc length s. So its length is that of the cloth whatever a is, and its chord
// shrinks as the Bessel function J_0(a). It meets itself only beyond a = 2.2, a ratio of 9. The whole cloth starts as
// the cylinder over that line: folds run straight down, and nothing is stretched. Here the line is a chain of straight
// pieces, one for each column of the mesh, with the lengths of the material.

#include "scene/gather.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/rng.h"
#include "base/sort.h"
#include "math/elementary.h"
#include "math/vec3.h"

static const double PI = 3.14159265358979323846;
static const double TIGHTEST = 2.1;       // [rad] the direction at most: beyond 2.2 folds meet themselves
static const double MOST_PUSH = 0.06;     // of an edge that cuts a corner
static const double ADVISED_PUSH = 0.02;  // what the advice aims at: it goes with the edge squared, more or less
enum { PIECES_PER_FOLD = 6, HALVINGS = 60, STREAM = 0x47415448 };

/// Where fold k begins, of `folds` on the length `total`.
static double fold_start(int32_t k, int32_t folds, double total, double jitter, uint64_t seed)
{
    const double shift = k > 0 && k < folds ? 0.5 * jitter * (tl_random(seed, STREAM, (uint64_t)k) - 0.5) : 0;
    return total * (k + shift) / folds;
}

/// The chain for the amplitude a; returns its chord.
static double chain(const double *length, int32_t count, int32_t folds, double a, double jitter, uint64_t seed,
                    tl_vec2 *out)
{
    double total = 0, s = 0;
    for (int32_t i = 0; i + 1 < count; i++) total += length[i];
    tl_vec2 at = {0, 0};
    if (out) out[0] = at;
    int32_t fold = 0;
    for (int32_t i = 0; i + 1 < count; i++) {
        const double middle = s + 0.5 * length[i];
        while (fold + 1 < folds && fold_start(fold + 1, folds, total, jitter, seed) <= middle) fold++;
        const double begin = fold_start(fold, folds, total, jitter, seed),
                     end = fold_start(fold + 1, folds, total, jitter, seed);
        const double deep = 1 - 0.2 * jitter * tl_random(seed, STREAM + 1, (uint64_t)fold);
        const double theta = a * deep * tl_sin(2 * PI * (middle - begin) / (end - begin));
        at = (tl_vec2){at.x + length[i] * tl_cos(theta), at.y + length[i] * tl_sin(theta)};
        s += length[i];
        if (out) out[i + 1] = at;
    }
    return at.x;
}

bool tl_gather_line(const double *length, int32_t count, int32_t folds, double ratio, double jitter, uint64_t seed,
                    tl_vec2 *out)
{
    double total = 0, longest = 0;
    for (int32_t i = 0; i + 1 < count; i++) total += length[i], longest = fmax(longest, length[i]);
    if (folds < 1 || longest * PIECES_PER_FOLD > total / folds * (1 + 1e-9)) return false;
    double lo = 0, hi = TIGHTEST;
    for (int i = 0; i < HALVINGS; i++) {
        const double mid = 0.5 * (lo + hi);
        if (chain(length, count, folds, mid, jitter, seed, NULL) > total / ratio)
            lo = mid;
        else
            hi = mid;
    }
    chain(length, count, folds, 0.5 * (lo + hi), jitter, seed, out);
    return true;
}

/// Material coordinate along the side: x for top and bottom, y for left and right.
static double along(tl_vec2 uv, bool upright) { return upright ? uv.y : uv.x; }

/// The places along the side at which there are vertices, sorted. `at` has room for all of them.
static int32_t columns(const tl_obj *mesh, bool upright, double *at)
{
    uint64_t *bits = (uint64_t *)(void *)at;  // numbers that are not negative sort as their bits do
    for (int32_t v = 0; v < mesh->vert_count; v++) {
        const double s = fmax(along(mesh->uv[v], upright), 0.0);
        memcpy(&bits[v], &s, sizeof s);
    }
    tl_sort_words(bits, mesh->vert_count);
    int32_t count = 0;
    for (int32_t v = 0; v < mesh->vert_count; v++)
        if (v == 0 || bits[v] != bits[count - 1]) bits[count++] = bits[v];
    return count;
}

static int32_t place_of(const double *at, int32_t count, double s)
{
    int32_t lo = 0, hi = count - 1;
    while (lo < hi) {
        const int32_t mid = (lo + hi) / 2;
        if (at[mid] < s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/// Of the side's nodes, those next to the rings: one at each end of every fold.
static void keep_rings(const tl_obj *mesh, bool upright, int32_t rings, double width, tl_scene_handle *handle)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < rings; k++) {
        const double s = width * k / (rings - 1);
        int32_t best = kept;
        double nearest = INFINITY;
        for (int32_t v = 0; v < mesh->vert_count; v++) {
            for (int32_t i = kept; i < handle->node_count; i++) {
                if (handle->nodes[i] != mesh->vert_node[v]) continue;
                const double d = fabs(along(mesh->uv[v], upright) - s);
                if (d < nearest) nearest = d, best = i;
            }
        }
        const int32_t swap = handle->nodes[kept];
        handle->nodes[kept++] = handle->nodes[best], handle->nodes[best] = swap;
    }
    handle->node_count = kept, handle->sides = 0;
}

static tl_status fold_cloth(tl_scene *scene, const tl_node *node, tl_scene_handle *handle, double *at, tl_error *err)
{
    const tl_gather_file *file = &handle->file.gather;
    tl_obj *mesh = &scene->cloths[handle->cloth].mesh;
    const bool upright = handle->sides & 6, rings = file->kind == TL_GATHER_RINGS;
    const double width =
        upright ? scene->cloths[handle->cloth].rectangle_size.y : scene->cloths[handle->cloth].rectangle_size.x;
    const int32_t count = columns(mesh, upright, at);
    tl_vec2 *line = TL_ALLOC(&scene->alloc, tl_vec2, count);
    double *length = TL_ALLOC(&scene->alloc, double, count);
    tl_status status = line && length ? TL_OK : tl_fail_memory(err, "folds");
    for (int32_t i = 0; i + 1 < count && status == TL_OK; i++) length[i] = at[i + 1] - at[i];
    const int32_t folds = (int32_t)file->count - (rings ? 1 : 0);
    const double jitter = file->kind == TL_GATHER_GATHERS ? 0.8 : 0;
    if (status == TL_OK && !tl_gather_line(length, count, folds, file->ratio, jitter, (uint64_t)scene->file.seed, line))
        status =
            tl_node_fail(node, false, err, "makes %d folds of %g m, it needs a mesh.rectangle.edge of %.2g or less",
                         folds, width / folds, width / folds / PIECES_PER_FOLD);
    if (status == TL_OK) {
        double mean = 0;
        for (int32_t i = 0; i < count; i++) mean += line[i].y / count;
        for (int32_t v = 0; v < mesh->vert_count; v++) {
            const tl_vec2 p = line[place_of(at, count, along(mesh->uv[v], upright))];
            tl_vec3 *x = &mesh->pos[mesh->vert_node[v]];
            const double s = p.x + 0.5 * (width - line[count - 1].x);  // its middle stays where it was
            if (upright)
                x->y = s;
            else
                x->x = s;
            x->z += p.y - mean;
        }
        if (rings) keep_rings(mesh, upright, (int32_t)file->count, width, handle);
    }
    TL_FREE(&scene->alloc, line, count);
    TL_FREE(&scene->alloc, length, count);
    return status;
}

/// Length of the edges of an even mesh of as many faces on as large a rectangle [m].
static double edge_of(const tl_obj *mesh)
{
    double area = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        const tl_vec2 a = mesh->uv[mesh->face[f][0]], b = mesh->uv[mesh->face[f][1]], c = mesh->uv[mesh->face[f][2]];
        area += 0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
    }
    return sqrt(4 / sqrt(3.0) * area / mesh->face_count);
}

/// How much the edge that is shortest against its rest length has been pushed together, as a part of it.
static double worst_push(const tl_obj *mesh)
{
    double worst = 0;
    for (int32_t f = 0; f < mesh->face_count; f++) {
        for (int c = 0; c < 3; c++) {
            const int32_t a = mesh->face[f][c], b = mesh->face[f][(c + 1) % 3];
            const double rest = tl_norm2(tl_sub2(mesh->uv[a], mesh->uv[b]));
            const double now = tl_norm3(tl_sub3(mesh->pos[mesh->vert_node[a]], mesh->pos[mesh->vert_node[b]]));
            if (rest > 0) worst = fmax(worst, 1 - now / rest);
        }
    }
    return worst;
}

tl_status tl_scene_gather(tl_scene *scene, const tl_node *node, tl_scene_handle *handle, tl_error *err)
{
    const tl_gather_file *file = &handle->file.gather;
    if (handle->sides == 0 || (handle->sides & (handle->sides - 1)) != 0)
        return tl_node_fail(node, false, err, "needs a handle with one side of a rectangle, as in \"sides\": \"top\"");
    if (file->kind == TL_GATHER_RINGS && file->count < 2) {
        const tl_node count = tl_node_key(node, "count");
        return tl_node_fail(&count, true, err, "must be 2 rings or more");
    }
    const int32_t n = scene->cloths[handle->cloth].mesh.vert_count;
    double *at = TL_ALLOC(&scene->alloc, double, n);
    if (!at) return tl_fail_memory(err, "folds");
    const tl_status status = fold_cloth(scene, node, handle, at, err);
    TL_FREE(&scene->alloc, at, n);
    TL_TRY(status);
    // where columns of vertices do not run along the folds, edges cut corners: by their length squared
    const tl_obj *mesh = &scene->cloths[handle->cloth].mesh;
    const double push = worst_push(mesh);
    if (push > MOST_PUSH)
        return tl_node_fail(node, false, err,
                            "needs a mesh.rectangle.edge of %.2g or less, or its pattern \"diagonal\": edges cut the "
                            "corners of the folds by %.0f %%",
                            edge_of(mesh) * sqrt(ADVISED_PUSH / push), 100 * push);
    return TL_OK;
}
