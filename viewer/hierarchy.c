// viewer/hierarchy.c: see hierarchy.h.

#include "hierarchy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 12 };
#define SPACE 0.22  // between layers, of the cloth's larger side

struct view_hierarchy {
    tl_vec3 *pos;
    int32_t (*face)[3];
    float (*colour)[3];
    int32_t face_cap;
};

view_hierarchy *view_hierarchy_create(void) { return calloc(1, sizeof(view_hierarchy)); }

void view_hierarchy_destroy(view_hierarchy *h)
{
    if (!h) return;
    free(h->pos), free(h->face), free(h->colour);
    free(h);
}

static bool reserve(view_hierarchy *h, int32_t faces)
{
    if (faces <= h->face_cap) return true;
    const size_t n = (size_t)faces;
    free(h->pos), free(h->face), free(h->colour);
    h->pos = malloc(3 * n * sizeof *h->pos), h->face = malloc(n * sizeof *h->face);
    h->colour = malloc(3 * n * sizeof *h->colour);
    h->face_cap = h->pos && h->face && h->colour ? faces : 0;
    return h->face_cap > 0;
}

static double area_of(const tl_show_surface *s, int32_t f)
{
    const tl_vec2 a = s->uv[s->face_uv[f][0]], b = s->uv[s->face_uv[f][1]], c = s->uv[s->face_uv[f][2]];
    return 0.5 * fabs((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
}

// How often the largest face has been halved, as in pictures of levels.
static int32_t level_of(const tl_show_surface *s, int32_t f, double largest)
{
    const double area = area_of(s, f);
    const int32_t level = area > 0 ? (int32_t)lround(log2(largest / area)) : LAYERS - 1;
    return level < 0 ? 0 : level > LAYERS - 1 ? LAYERS - 1 : level;
}

static void add_face(view_hierarchy *h, const tl_show_surface *s, int32_t f, int32_t at, const double place[3],
                     const float colour[3])
{
    for (int c = 0; c < 3; c++) {
        const tl_vec2 p = s->uv[s->face_uv[f][c]];
        h->pos[3 * at + c] = (tl_vec3){place[0] + p.x, place[1], place[2] - p.y};
        h->face[at][c] = 3 * at + c;
        memcpy(h->colour[3 * at + c], colour, 3 * sizeof(float));
    }
}

bool view_hierarchy_make(view_hierarchy *h, const tl_show_surface *cloth, double right, tl_show_surface *out,
                         const float (**colours)[3], int32_t *top, double *width)
{
    if (!cloth->uv || !cloth->face_uv || cloth->face_count < 1) return false;
    double largest = 0, lo[2] = {INFINITY, INFINITY}, hi[2] = {-INFINITY, -INFINITY};
    for (int32_t f = 0; f < cloth->face_count; f++) {
        largest = fmax(largest, area_of(cloth, f));
        for (int c = 0; c < 3; c++) {
            const tl_vec2 p = cloth->uv[cloth->face_uv[f][c]];
            lo[0] = fmin(lo[0], p.x), hi[0] = fmax(hi[0], p.x), lo[1] = fmin(lo[1], p.y), hi[1] = fmax(hi[1], p.y);
        }
    }
    int64_t total = 0;
    *top = 0;
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t level = level_of(cloth, f, largest);
        total += level + 1;
        if (level > *top) *top = level;
    }
    if (total > INT32_MAX / 3 || !reserve(h, (int32_t)total)) return false;
    static const float finer[3] = {0.62f, 0.63f, 0.65f};
    const tl_show_range range = {.lo = 0, .hi = *top > 0 ? *top : 1};
    const double size = fmax(hi[0] - lo[0], hi[1] - lo[1]);
    int32_t count = 0;
    for (int32_t f = 0; f < cloth->face_count; f++) {
        const int32_t level = level_of(cloth, f, largest);
        float own[3];
        tl_show_scale(TL_RENDER_LEVEL, &range, level, own);
        for (int32_t k = 0; k <= level; k++)
            add_face(h, cloth, f, count++, (double[3]){right - lo[0], SPACE * size * k, 0.5 * (lo[1] + hi[1])},
                     k == level ? own : finer);
    }
    *out = (tl_show_surface){.name = cloth->name, .is_cloth = 1, .pos = h->pos, .pos_count = 3 * count};
    out->face = (const int32_t(*)[3])h->face, out->face_count = count;
    out->roughness = 1;
    *colours = (const float(*)[3])h->colour;
    *width = hi[0] - lo[0];
    return true;
}
