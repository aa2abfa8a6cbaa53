// adapt/anisotropic/sizing_seam.c: one tensor for all vertices of a seam node, seen from every side.
//
// The fans of all sides are laid around the node in one plane so that they meet along the seam edges (Narain 2012,
// Sec. 4.2). With the corner angles t_0, t_1, .. in order around the node, face k fills the plane from s (t_0 + .. +
// t_k-1) on, over s t_k; s closes the plane at 2 pi where the surface is closed around the node, and is 1 at a border.
// A face tensor is turned by the angle from the middle of its corner in the panel to the middle of its place in the
// plane; the mean is turned back by the same angle for the whole side. Where seams are straight s is 1, all faces of a
// side turn alike, and both sides of a seam edge measure the same. At the tip of a dart or a cone one tensor cannot
// serve all directions of a side: they are off by up to |s - 1| times half the angle of the side.

#include "mesh/mesh_query.h"
#include "adapt/anisotropic/sizing_impl.h"
#include "math/elementary.h"

#define TWO_PI 6.28318530717958647693

/// The fan of one vertex: the faces of its node on one side.
typedef struct side {
    int32_t vert, first_face, last_face;
    double angle, start;
} side;

static tl_vec2 edge_of(const tl_mesh *mesh, const tl_fan *fan, int corner_ahead)
{
    const int32_t *v = mesh->face_vert[fan->face];
    return tl_sub2(mesh->uv[v[(fan->corner + corner_ahead) % 3]], mesh->uv[v[fan->corner]]);
}

static double corner_angle(const tl_mesh *mesh, const tl_fan *fan)
{
    const tl_vec2 a = edge_of(mesh, fan, 1), b = edge_of(mesh, fan, 2);
    return tl_atan2(tl_cross2(a, b), tl_dot2(a, b));
}

// Angle of the side in the panel and the direction in which it starts there.
static side side_of(const tl_mesh *mesh, int32_t v)
{
    tl_fan fan = tl_fan_begin(mesh, v);
    const tl_vec2 first = edge_of(mesh, &fan, 1);
    side s = {v, fan.face, fan.face, 0, tl_atan2(first.y, first.x)};
    for (; fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        s.last_face = fan.face;
        s.angle += corner_angle(mesh, &fan);
    }
    return s;
}

// The vertex of the side after (turn 1) or before (turn 2) this one around the node, TL_NONE at a border.
static int32_t beside(const tl_mesh *mesh, const side *s, int turn)
{
    const int32_t f = turn == 1 ? s->last_face : s->first_face;
    int32_t corner;
    const int32_t g = sizing_turn(mesh, f, tl_face_corner_of_vert(mesh, f, s->vert), turn, &corner);
    return g == TL_NONE ? TL_NONE : mesh->face_vert[g][corner];
}

// Where the walk around the node starts: at a border, else at the lowest vertex, so that all sides agree on it.
static int32_t first_side(const tl_mesh *mesh, int32_t v, bool *closed)
{
    int32_t lowest = v, at = v;
    for (;;) {
        const side s = side_of(mesh, at);
        const int32_t before = beside(mesh, &s, 2);
        *closed = before == v;
        if (before == TL_NONE) return at;
        if (before == v) return lowest;
        at = before;
        if (at < lowest) lowest = at;
    }
}

static double angle_around(const tl_mesh *mesh, int32_t first)
{
    double sum = 0;
    int32_t at = first;
    do {
        const side s = side_of(mesh, at);
        sum += s.angle;
        at = beside(mesh, &s, 1);
    } while (at != TL_NONE && at != first);
    return sum;
}

// Adds the faces of a side that starts at `angle` of the plane, before scaling.
static void add_side(const tl_mesh *mesh, const face_size *face, const side *s, double angle, double scale,
                     face_size *sum)
{
    double direction = s->start;
    for (tl_fan fan = tl_fan_begin(mesh, s->vert); fan.face != TL_NONE; tl_fan_next(mesh, &fan)) {
        const double corner = corner_angle(mesh, &fan);
        const double turn = scale * (angle + 0.5 * corner) - (direction + 0.5 * corner);
        const face_size *f = &face[fan.face];
        sum->m = tl_sym2_madd(sum->m, f->area, tl_sym2_turn(f->m, tl_cos(turn), tl_sin(turn)));
        sum->area += f->area;
        angle += corner, direction += corner;
    }
}

tl_sym2 tl_sizing_at_seam(const tl_mesh *mesh, const face_size *face, int32_t v)
{
    bool closed;
    const int32_t first = first_side(mesh, v, &closed);
    const double scale = closed ? TWO_PI / angle_around(mesh, first) : 1;
    face_size sum = {{0}, 0};
    double angle = 0, back = 0;
    int32_t at = first;
    do {
        const side s = side_of(mesh, at);
        if (at == v) back = scale * (angle + 0.5 * s.angle) - (s.start + 0.5 * s.angle);
        add_side(mesh, face, &s, angle, scale, &sum);
        angle += s.angle;
        at = beside(mesh, &s, 1);
    } while (at != TL_NONE && at != first);
    return tl_sym2_turn(tl_sym2_scale(1 / sum.area, sum.m), tl_cos(back), -tl_sin(back));
}
