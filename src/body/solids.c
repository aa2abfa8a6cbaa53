// body/solids.c: simple solids as closed meshes.
//
// A ball is an icosahedron whose faces are cut in four, again and again, new corners pushed out to the sphere. Capsules
// and cylinders start from an octahedron, since that has an equator to cut along: the halves move apart and a band of
// triangles joins them; for a cylinder the halves are flattened to discs by Lambert's equal-area projection.

#include "body/solids.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"
#include "mesh/edges.h"
#include "math/vec3.h"

enum {
    SPHERE_CUTS = 4,  // 5120 faces, flats within 0.0012 of the radius
    ROUND_CUTS = 4,   // of the octahedron: 64 corners around, flats within 0.0039 of the radius
    AROUND = 4 << ROUND_CUTS,
    BAND_ASPECT = 4,  // triangles of the band, which is straight along the axis, are so many times longer than wide
    MOST_ROWS = 16,   // of the band; longer ones get longer triangles
};

void tl_shape_free(const tl_allocator *alloc, tl_shape *shape)
{
    TL_FREE(alloc, shape->pos, shape->node_count);
    TL_FREE(alloc, shape->face, shape->face_count);
    *shape = (tl_shape){0};
}

static tl_status make_room(const tl_allocator *alloc, int32_t nodes, int32_t faces, tl_shape *out, tl_error *err)
{
    *out = (tl_shape){nodes, faces, TL_ALLOC(alloc, tl_vec3, nodes), NULL};
    out->face = tl_alloc_bytes(alloc, (size_t)faces, sizeof *out->face);
    if (out->pos && out->face) return TL_OK;
    tl_shape_free(alloc, out);
    return tl_fail_memory(err, "a shape");
}

// Every face into four; new corners on the unit sphere.
static tl_status cut(const tl_allocator *alloc, tl_shape *shape, tl_error *err)
{
    const int32_t nodes = shape->node_count, faces = shape->face_count;
    int32_t(*edge)[2] = NULL, edges = 0;
    int32_t(*face_edge)[3] = tl_alloc_bytes(alloc, (size_t)faces, sizeof *face_edge);
    tl_status status = face_edge ? TL_OK : tl_fail_memory(err, "a shape");
    if (status == TL_OK)
        status = tl_unique_edges(alloc, (const int32_t(*)[3])shape->face, faces, &edge, &edges, face_edge, err);
    tl_shape finer = {0};
    if (status == TL_OK) status = make_room(alloc, nodes + edges, 4 * faces, &finer, err);
    if (status == TL_OK) {
        memcpy(finer.pos, shape->pos, (size_t)nodes * sizeof *finer.pos);
        for (int32_t e = 0; e < edges; e++)
            finer.pos[nodes + e] =
                tl_unit3_or(tl_add3(shape->pos[edge[e][0]], shape->pos[edge[e][1]]), (tl_vec3){0, 1, 0});
        for (int32_t f = 0; f < faces; f++) {
            const int32_t *c = shape->face[f];
            const int32_t m[3] = {nodes + face_edge[f][0], nodes + face_edge[f][1], nodes + face_edge[f][2]};
            const int32_t four[4][3] = {{c[0], m[0], m[2]}, {c[1], m[1], m[0]}, {c[2], m[2], m[1]}, {m[0], m[1], m[2]}};
            memcpy(finer.face[4 * f], four, sizeof four);
        }
        tl_shape_free(alloc, shape);
        *shape = finer;
    }
    TL_FREE(alloc, edge, edges);
    TL_FREE(alloc, face_edge, faces);
    return status;
}

static tl_status subdivide(const tl_allocator *alloc, int cuts, tl_shape *shape, tl_error *err)
{
    for (int i = 0; i < cuts; i++) {
        const tl_status status = cut(alloc, shape, err);
        if (status != TL_OK) {
            tl_shape_free(alloc, shape);
            return status;
        }
    }
    return TL_OK;
}

tl_status tl_shape_sphere(const tl_allocator *alloc, tl_vec3 center, double radius, tl_shape *out, tl_error *err)
{
    TL_TRY(make_room(alloc, 12, 20, out, err));
    // a pole, five corners at height 1/sqrt(5), five below them turned by half a step, a pole
    out->pos[0] = (tl_vec3){0, 1, 0}, out->pos[11] = (tl_vec3){0, -1, 0};
    const double step = 3.14159265358979323846 / 5, height = 1 / sqrt(5), ring = 2 / sqrt(5);
    for (int i = 0; i < 5; i++) {
        out->pos[1 + i] = (tl_vec3){ring * tl_cos(2 * i * step), height, -ring * tl_sin(2 * i * step)};
        out->pos[6 + i] = (tl_vec3){ring * tl_cos((2 * i + 1) * step), -height, -ring * tl_sin((2 * i + 1) * step)};
        const int32_t a = 1 + i, b = 1 + (i + 1) % 5, c = 6 + i, d = 6 + (i + 1) % 5;
        const int32_t four[4][3] = {{0, a, b}, {a, c, b}, {b, c, d}, {c, 11, d}};
        memcpy(out->face[4 * i], four, sizeof four);
    }
    TL_TRY(subdivide(alloc, SPHERE_CUTS, out, err));
    for (int32_t i = 0; i < out->node_count; i++) out->pos[i] = tl_madd3(center, radius, out->pos[i]);
    return TL_OK;
}

// Two unit vectors across a unit vector, a right-handed frame with it: u x v = axis.
static void frame(tl_vec3 axis, tl_vec3 *u, tl_vec3 *v)
{
    const tl_vec3 other = fabs(axis.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 1, 0};
    *u = tl_unit3_or(tl_cross3(axis, other), other);
    *v = tl_cross3(axis, *u);
}

// A unit octahedron about z, subdivided. Midpoints of equatorial corners have z = 0 exactly.
static tl_status round_ball(const tl_allocator *alloc, tl_shape *out, tl_error *err)
{
    TL_TRY(make_room(alloc, 6, 8, out, err));
    const tl_vec3 corner[6] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    memcpy(out->pos, corner, sizeof corner);
    for (int i = 0; i < 4; i++) {
        const int32_t two[2][3] = {{i, (i + 1) % 4, 4}, {(i + 1) % 4, i, 5}};
        memcpy(out->face[2 * i], two, sizeof two);
    }
    return subdivide(alloc, ROUND_CUTS, out, err);
}

// Equatorial corners in order around +z.
static void find_equator(const tl_shape *ball, int32_t ring[AROUND])
{
    for (int32_t i = 0; i < ball->node_count; i++) {
        const tl_vec3 p = ball->pos[i];
        if (p.z != 0) continue;
        const double turn = tl_atan2(p.y, p.x) / (2 * 3.14159265358979323846);
        ring[((int32_t)lrint(turn * AROUND) + AROUND) % AROUND] = i;
    }
}

// The unit ball cut along its equator: the upper half keeps the corners, the lower one gets copies, `rows` of quads
// between.
static tl_status long_round(const tl_allocator *alloc, tl_vec3 center, tl_vec3 axis, double radius, int flat,
                            tl_shape *out, tl_error *err)
{
    tl_shape ball = {0};
    *out = (tl_shape){0};
    TL_TRY(round_ball(alloc, &ball, err));
    const double length = tl_norm3(axis), side = 2 * 3.14159265358979323846 * radius / AROUND;
    const int32_t rows = (int32_t)fmin(fmax(1, rint(length / (BAND_ASPECT * side))), MOST_ROWS);
    const tl_status status =
        make_room(alloc, ball.node_count + rows * AROUND, ball.face_count + 2 * rows * AROUND, out, err);
    if (status != TL_OK) {
        tl_shape_free(alloc, &ball);
        return status;
    }
    const tl_vec3 ahead = tl_mul3(1 / length, axis);
    tl_vec3 u, v;
    frame(ahead, &u, &v);
    int32_t ring[AROUND] = {0};
    find_equator(&ball, ring);
    for (int32_t i = 0; i < ball.node_count; i++) {
        const tl_vec3 p = ball.pos[i];
        // Lambert: at polar angle t the disc's radius is sqrt(2) sin(t/2) = sqrt(1 - cos t), so the equator is the rim
        const double across = tl_hypot(p.x, p.y), z = fabs(p.z);
        const double spread = flat && across > 0 && z > 0 ? sqrt(1 - fmin(z, 1)) / across : 1;
        const double along = (p.z < 0 ? -0.5 : 0.5) * length + (flat ? 0 : radius * p.z);
        out->pos[i] =
            tl_madd3(tl_madd3(tl_madd3(center, radius * spread * p.x, u), radius * spread * p.y, v), along, ahead);
    }
    for (int32_t r = 0; r < rows; r++)
        for (int32_t k = 0; k < AROUND; k++) {
            const tl_vec3 p = ball.pos[ring[k]];
            const double along = length * (0.5 - (r + 1.0) / rows);
            out->pos[ball.node_count + r * AROUND + k] =
                tl_madd3(tl_madd3(tl_madd3(center, radius * p.x, u), radius * p.y, v), along, ahead);
        }
    memcpy(out->face, ball.face, (size_t)ball.face_count * sizeof *out->face);
    int32_t *place = TL_ALLOC(alloc, int32_t, ball.node_count);  // around the equator
    if (!place) {
        tl_shape_free(alloc, &ball);
        tl_shape_free(alloc, out);
        return tl_fail_memory(err, "a shape");
    }
    for (int32_t i = 0; i < ball.node_count; i++) place[i] = -1;
    for (int32_t k = 0; k < AROUND; k++) place[ring[k]] = k;
    const int32_t last = ball.node_count + (rows - 1) * AROUND;
    for (int32_t f = 0; f < ball.face_count; f++) {
        double z = 0;
        for (int c = 0; c < 3; c++) z += ball.pos[ball.face[f][c]].z;
        for (int c = 0; z < 0 && c < 3; c++)
            if (place[ball.face[f][c]] >= 0) out->face[f][c] = last + place[ball.face[f][c]];
    }
    for (int32_t r = 0; r < rows; r++)
        for (int32_t k = 0; k < AROUND; k++) {
            const int32_t next = (k + 1) % AROUND, low = ball.node_count + r * AROUND;
            const int32_t a = low + k, b = low + next;
            const int32_t d = r > 0 ? a - AROUND : ring[k], c = r > 0 ? b - AROUND : ring[next];
            const int32_t two[2][2][3] = {{{a, b, c}, {a, c, d}}, {{a, b, d}, {b, c, d}}};  // diagonals alternate
            memcpy(out->face[ball.face_count + 2 * (r * AROUND + k)], two[(r + k) % 2], sizeof two[0]);
        }
    TL_FREE(alloc, place, ball.node_count);
    tl_shape_free(alloc, &ball);
    return TL_OK;
}

tl_status tl_shape_capsule(const tl_allocator *alloc, tl_vec3 center, tl_vec3 axis, double radius, tl_shape *out,
                           tl_error *err)
{
    return long_round(alloc, center, axis, radius, 0, out, err);
}

tl_status tl_shape_cylinder(const tl_allocator *alloc, tl_vec3 center, tl_vec3 axis, double radius, tl_shape *out,
                            tl_error *err)
{
    return long_round(alloc, center, axis, radius, 1, out, err);
}

tl_status tl_shape_box(const tl_allocator *alloc, tl_vec3 center, tl_vec3 size, tl_shape *out, tl_error *err)
{
    TL_TRY(make_room(alloc, 8, 12, out, err));
    for (int i = 0; i < 8; i++)
        out->pos[i] = (tl_vec3){center.x + (i & 1 ? 0.5 : -0.5) * size.x, center.y + (i & 2 ? 0.5 : -0.5) * size.y,
                                center.z + (i & 4 ? 0.5 : -0.5) * size.z};
    const int32_t side[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int s = 0; s < 6; s++) {
        const int32_t two[2][3] = {{side[s][0], side[s][1], side[s][2]}, {side[s][0], side[s][2], side[s][3]}};
        memcpy(out->face[2 * s], two, sizeof two);
    }
    return TL_OK;
}
