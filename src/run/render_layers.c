// run/render_layers.c: meshes of cloths as stacks of flat layers, one for each level of refinement (Simnett 2012,
// sec. 3.7, the hierarchy view).
//
// Layer k lies in the material plane and shows the cloth where it has been refined at least k times; the coarsest is at
// the bottom. Levels are counted as in pictures of levels: how often the largest face has been halved.

#include "run/render_layers.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "math/vec3.h"

#define SPACE 0.2   // between layers, of the cloth's larger side
#define ASIDE 1.15  // from one cloth to the next, of its width
enum { LAYERS = 16 };

typedef struct sheet {
    tl_vec2 lo, hi;
    double largest;  // area [m^2]
} sheet;

static double area_of(const tl_obj *o, int32_t f)
{
    const tl_vec2 a = o->uv[o->face[f][0]], b = o->uv[o->face[f][1]], c = o->uv[o->face[f][2]];
    return 0.5 * fabs(tl_cross2(tl_sub2(b, a), tl_sub2(c, a)));
}

static int32_t level_of(const tl_obj *o, int32_t f, double largest)
{
    const double area = area_of(o, f), level = area > 0 ? round(log2(largest / area)) : 0;
    return level < 0 ? 0 : level > LAYERS - 1 ? LAYERS - 1 : (int32_t)level;
}

static sheet measure(const tl_obj *o)
{
    sheet s = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, 0};
    for (int32_t f = 0; f < o->face_count; f++) {
        s.largest = fmax(s.largest, area_of(o, f));
        for (int c = 0; c < 3; c++) {
            const tl_vec2 p = o->uv[o->face[f][c]];
            s.lo = (tl_vec2){fmin(s.lo.x, p.x), fmin(s.lo.y, p.y)};
            s.hi = (tl_vec2){fmax(s.hi.x, p.x), fmax(s.hi.y, p.y)};
        }
    }
    return s;
}

static tl_status stack(const tl_allocator *alloc, const tl_show_mesh *from, double right, tl_show_mesh *out, sheet *s,
                       tl_error *err)
{
    const tl_obj *o = &from->obj;
    int64_t total = 0;
    *s = measure(o);
    for (int32_t f = 0; f < o->face_count; f++) total += level_of(o, f, s->largest) + 1;
    if (total > INT32_MAX / 3) return tl_fail(err, TL_BAD_INPUT, "%s: too many faces for layers", from->name);
    TL_TRY(tl_show_mesh_init(alloc, 3 * (int32_t)total, 3 * (int32_t)total, (int32_t)total, out, err));
    const double size = fmax(s->hi.x - s->lo.x, s->hi.y - s->lo.y), middle = 0.5 * (s->lo.y + s->hi.y);
    int32_t v = 0, count = 0;
    for (int32_t f = 0; f < o->face_count; f++)
        for (int32_t k = 0; k <= level_of(o, f, s->largest); k++, count++)
            for (int c = 0; c < 3; c++, v++) {
                const tl_vec2 p = o->uv[o->face[f][c]];
                out->obj.pos[v] = (tl_vec3){right + p.x - s->lo.x, SPACE * size * k, middle - p.y};
                out->obj.uv[v] = p, out->obj.vert_node[v] = v;
                out->obj.face[count][c] = out->face_node[count][c] = v;
            }
    memcpy(out->name, from->name, sizeof out->name);
    out->woven = true;
    return TL_OK;
}

tl_status tl_show_frame_layers(const tl_allocator *alloc, tl_show_frame *frame, tl_error *err)
{
    double right = 0;
    for (int32_t i = 0; i < frame->mesh_count; i++) {
        tl_show_mesh *m = &frame->meshes[i], layers = {0};
        if (i < frame->cloth_count) {
            if (!m->woven)
                return tl_fail(err, TL_BAD_INPUT, "%s: layers need material coordinates, which it has not", m->name);
            sheet s;
            TL_TRY(stack(alloc, m, right, &layers, &s, err));
            right += ASIDE * (s.hi.x - s.lo.x);
        }
        tl_show_mesh_free(alloc, m);
        *m = layers;
    }
    for (int32_t i = frame->cloth_count; i < frame->mesh_count; i++) frame->meshes[i].obstacle = true;
    return TL_OK;
}
