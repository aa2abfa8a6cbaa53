// render/curved.c: curved point-normal triangles (Vlachos, Peters, Boyd, Mitchell 2001).
//
// Every edge is a cubic whose ends are perpendicular to the normals there; the inside is the cubic triangle that goes
// with them. An edge depends on its own ends alone, so neighbours meet without a gap. Nothing feeds back: only what is
// drawn is curved.

#include "render/curved.h"

const uint8_t tl_curved_tri[TL_CURVED_TRIS][3] = {
    {0, 1, 2}, {1, 3, 4},   {2, 1, 4},  {2, 4, 5},   {3, 6, 7},  {4, 3, 7},   {4, 7, 8},  {5, 4, 8},
    {5, 8, 9}, {6, 10, 11}, {7, 6, 11}, {7, 11, 12}, {8, 7, 12}, {8, 12, 13}, {9, 8, 13}, {9, 13, 14}};

/// An edge that leaves the plane at its end by a larger sine lies across a crease, where normals mean little: a curve
/// through it would reach into what lies below.
static const float STEEPEST = 0.35f;

bool tl_edge_curved(tl_vec3f a, tl_vec3f b, tl_vec3f na, tl_vec3f nb, float least)
{
    const tl_vec3f d = tl_subf(b, a);
    const float from = fabsf(tl_dotf(d, na)), to = fabsf(tl_dotf(d, nb));
    if (tl_maxf(from, to) > STEEPEST * tl_lenf(d)) return false;
    return from + to > 8 * least;  // at its middle: an eighth of the sum
}

/// Control point a third of the way from a to b, in the plane at a.
static tl_vec3f control(tl_vec3f a, tl_vec3f b, tl_vec3f na)
{
    const tl_vec3f d = tl_subf(b, a);
    return tl_addf(a, tl_mulf(1.0f / 3, tl_subf(d, tl_mulf(tl_dotf(d, na), na))));
}

static tl_vec3f edge_point(tl_vec3f a, tl_vec3f b, tl_vec3f na, tl_vec3f nb, bool curved, float t)
{
    if (!curved) return tl_lerpf(a, b, t);
    const tl_vec3f c = control(a, b, na), d = control(b, a, nb);
    const float s = 1 - t;
    return tl_addf(tl_addf(tl_mulf(s * s * s, a), tl_mulf(3 * s * s * t, c)),
                   tl_addf(tl_mulf(3 * s * t * t, d), tl_mulf(t * t * t, b)));
}

void tl_curved_face(const tl_vec3f p[3], const tl_vec3f n[3], const int32_t id[3], const bool curved[3], tl_curved *out)
{
    tl_vec3f c[3][2];  // along edge i: near its first and its second end
    tl_vec3f sum = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        c[i][0] = curved[i] ? control(p[i], p[j], n[i]) : tl_lerpf(p[i], p[j], 1.0f / 3);
        c[i][1] = curved[i] ? control(p[j], p[i], n[j]) : tl_lerpf(p[i], p[j], 2.0f / 3);
        sum = tl_addf(sum, tl_addf(c[i][0], c[i][1]));
    }
    const tl_vec3f mean = tl_mulf(1.0f / 6, sum);
    const tl_vec3f corners = tl_mulf(1.0f / 3, tl_addf(p[0], tl_addf(p[1], p[2])));
    const tl_vec3f centre = tl_maddf(mean, 0.5f, tl_subf(mean, corners));
    int at = 0;
    for (int row = 0; row <= TL_CURVED_PARTS; row++) {
        for (int k = 0; k <= row; k++, at++) {
            // w: weight of corner 0, u of corner 1, v of corner 2
            const float v = (float)k / TL_CURVED_PARTS, u = (float)(row - k) / TL_CURVED_PARTS,
                        w = (float)(TL_CURVED_PARTS - row) / TL_CURVED_PARTS;
            out->bary[at] = (tl_vec2f){u, v};
            if (w == 1 || u == 1 || v == 1) {
                out->pos[at] = p[w == 1 ? 0 : u == 1 ? 1 : 2];
                continue;
            }
            const int edge = k == 0 ? 0 : row == TL_CURVED_PARTS ? 1 : k == row ? 2 : -1;
            if (edge >= 0) {
                const int i = edge, j = (edge + 1) % 3;
                const float along = edge == 0 ? u : edge == 1 ? v : w;  // from corner i to corner j
                out->pos[at] = id[i] < id[j] ? edge_point(p[i], p[j], n[i], n[j], curved[edge], along)
                                             : edge_point(p[j], p[i], n[j], n[i], curved[edge], 1 - along);
                continue;
            }
            tl_vec3f x = tl_addf(tl_mulf(w * w * w, p[0]), tl_addf(tl_mulf(u * u * u, p[1]), tl_mulf(v * v * v, p[2])));
            x = tl_maddf(tl_maddf(x, 3 * w * w * u, c[0][0]), 3 * w * u * u, c[0][1]);
            x = tl_maddf(tl_maddf(x, 3 * u * u * v, c[1][0]), 3 * u * v * v, c[1][1]);
            x = tl_maddf(tl_maddf(x, 3 * v * v * w, c[2][0]), 3 * v * w * w, c[2][1]);
            out->pos[at] = tl_maddf(x, 6 * u * v * w, centre);
        }
    }
}
