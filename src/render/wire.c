// render/wire.c: distance on the screen to the nearest edge of the triangle, turned into coverage.
//
// Both triangles beside an edge draw their half of its line. Where triangles shrink to a few pixels the lines
// grow fainter, so a dense mesh turns grey instead of black.

#include "render/wire.h"

static bool project(const tl_wire_view *v, tl_vec3f p, float out[2])
{
    const tl_vec3f d = tl_subf(p, v->eye);
    const float z = tl_dotf(d, v->forward);
    const float s = v->parallel ? v->scale : v->scale / z;
    out[0] = v->cx + s * tl_dotf(d, v->right);
    out[1] = v->cy - s * tl_dotf(d, v->up);
    return v->parallel || z > 1e-6f;
}

tl_rgb tl_wire_over(const tl_wire_view *view, const tl_stage *stage, int32_t tri, float x, float y, tl_rgb colour)
{
    const float half_width = 0.45f;  // pixels
    const tl_stage_tri *t = &stage->tri[tri];
    float q[3][2];
    for (int c = 0; c < 3; c++)
        if (!project(view, stage->pos[t->vert[c]], q[c])) return colour;
    float nearest = 1e9f, longest = 0;
    for (int c = 0; c < 3; c++) {
        const float *a = q[c], *b = q[(c + 1) % 3];
        const float ex = b[0] - a[0], ey = b[1] - a[1], length = sqrtf(ex * ex + ey * ey);
        if (!(length > 1e-6f)) continue;
        nearest = tl_minf(nearest, fabsf(ex * (y - a[1]) - ey * (x - a[0])) / length);
        longest = tl_maxf(longest, length);
    }
    const float area = fabsf((q[1][0] - q[0][0]) * (q[2][1] - q[0][1]) - (q[1][1] - q[0][1]) * (q[2][0] - q[0][0]));
    const float height = longest > 0 ? area / longest : 0;  // shortest height, in pixels
    const float strength = 0.25f + 0.5f * tl_smoothf(2, 8, height);
    const float cover = strength * tl_clampf(half_width + 0.5f - nearest, 0, 1);
    return tl_lerpf(colour, (tl_rgb){0.012f, 0.013f, 0.018f}, cover);
}
