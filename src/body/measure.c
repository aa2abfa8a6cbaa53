// body/measure.c: unit, axis up, height and volume of a character at rest.
//
// People are 0.5 to 2.5 m tall, from infants to giants. Read as metres a body in another unit is not, and of
// centimetres, inches and millimetres no two can both be right but by a body at the very end of the range. Standing or
// with arms spread a body is higher than deep, so of y and z the longer one points up.

#include <math.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/measure.h"

static const double TALL_MIN = 0.5, TALL_MAX = 2.5;  // [m]
static const double CLEARLY = 1.3;                   // a body that much longer along an axis points there

typedef struct box {
    tl_vec3 low, high;
} box;

static box bounds(const tl_vec3 *x, int32_t n)
{
    box b = {x[0], x[0]};
    for (int32_t i = 1; i < n; i++) {
        b.low = (tl_vec3){fmin(b.low.x, x[i].x), fmin(b.low.y, x[i].y), fmin(b.low.z, x[i].z)};
        b.high = (tl_vec3){fmax(b.high.x, x[i].x), fmax(b.high.y, x[i].y), fmax(b.high.z, x[i].z)};
    }
    return b;
}

tl_affine tl_up_to_y(tl_up up, double u)
{
    switch (up) {
    case TL_UP_Z: return (tl_affine){{{u, 0, 0, 0}, {0, 0, u, 0}, {0, -u, 0, 0}}};
    case TL_UP_X: return (tl_affine){{{0, -u, 0, 0}, {u, 0, 0, 0}, {0, 0, u, 0}}};
    default: return (tl_affine){{{u, 0, 0, 0}, {0, u, 0, 0}, {0, 0, u, 0}}};
    }
}

static tl_up find_up(tl_character *c, const tl_placing *placing, tl_vec3 size)
{
    if (placing->up != TL_UP_AUTO) return placing->up;
    const bool z = size.z > CLEARLY * size.y && size.z > CLEARLY * 0.5 * size.x;
    if (!placing->up_by_spec) {
        if (z) tl_character_note(c, "z is taken as the axis that points up (set up to \"y\" if it is y)");
        return z ? TL_UP_Z : TL_UP_Y;
    }
    if (z)
        tl_character_note(c, "is longer along z (%g) than along y (%g): if it lies down by mistake, set up to \"z\"",
                          size.z, size.y);
    return TL_UP_Y;
}

static double find_unit(tl_character *c, const tl_placing *placing, double height)
{
    static const struct {
        double unit;
        const char *name, *word;
    } units[] = {{0.01, "centimetres", "cm"}, {0.001, "millimetres", "mm"}, {0.0254, "inches", "in"}};
    if (placing->unit > 0) return placing->unit;
    if (height >= TALL_MIN && height <= TALL_MAX) return 1;
    for (int i = 0; i < 3; i++) {
        const double tall = height * units[i].unit;
        if (tall < TALL_MIN || tall > TALL_MAX) continue;
        tl_character_note(
            c, "would be %g m tall, so it is taken to be in %s: %g m (set units to \"m\" or \"%s\" to settle it)",
            height, units[i].name, tall, units[i].word);
        return units[i].unit;
    }
    return 1;
}

// A sixth of the triple products: positive if faces look outwards.
static double volume(const tl_character *c, const tl_vec3 *x)
{
    double six = 0;
    for (int32_t f = 0; f < c->count[TL_RIG_FACES]; f++) {
        const int32_t *v = c->face[f].v;
        six += tl_dot3(tl_sub3(x[v[0]], x[0]), tl_cross3(tl_sub3(x[v[1]], x[0]), tl_sub3(x[v[2]], x[0])));
    }
    return six / 6;
}

static void judge(tl_character *c)
{
    tl_character_facts *f = &c->facts;
    if (!(f->height >= TALL_MIN && f->height <= TALL_MAX))
        tl_character_note(c, "is %g m tall, people are %g to %g m (check units and up)", f->height, TALL_MIN, TALL_MAX);
    if (f->dropped_faces > 0)
        tl_character_note(c, "%d of %d faces have no three different corners and are left out", f->dropped_faces,
                          f->file_faces);
    if (f->open_edges == 0 && f->crowded_edges == 0 && f->reversed_edges == 0 && f->volume < 0)
        tl_character_note(
            c, "its faces look inwards (volume %g m^3): cloth is kept inside of it (turn the faces around)", f->volume);
    if (f->reversed_edges > 0)
        tl_character_note(c, "at %d edges two faces disagree about which side is out (make the normals consistent)",
                          f->reversed_edges);
    if (f->open_edges > 0)
        tl_character_note(c, "its surface is open along %d edges: cloth can get inside of it there", f->open_edges);
    if (f->crowded_edges > 0) tl_character_note(c, "%d edges have more than two faces", f->crowded_edges);
}

tl_status tl_character_measure(tl_character *c, const tl_placing *placing, tl_error *err)
{
    const int32_t n = c->count[TL_RIG_VERTS];
    tl_vec3 *x = TL_ALLOC(&c->alloc, tl_vec3, n);
    tl_poser *poser = tl_poser_create(&c->alloc, c);
    tl_status status = x && poser ? TL_OK : tl_fail_memory(err, "a character");
    if (status == TL_OK) {
        const tl_playback rest = tl_playback_default();
        c->place = tl_affine_identity();
        tl_poser_at(poser, c, &rest, 0, x);
        box b = bounds(x, n);
        tl_character_facts *f = &c->facts;
        f->up = find_up(c, placing, tl_sub3(b.high, b.low));
        const tl_vec3 size = tl_sub3(b.high, b.low);
        const double tall = f->up == TL_UP_Z ? size.z : f->up == TL_UP_X ? size.x : size.y;
        f->unit = find_unit(c, placing, tall);
        c->place = tl_up_to_y(f->up, f->unit);
        tl_poser_at(poser, c, &rest, 0, x);
        b = bounds(x, n);
        f->low = b.low, f->high = b.high, f->height = b.high.y - b.low.y;
        f->volume = volume(c, x);
        if (!tl_finite3(b.low) || !tl_finite3(b.high))
            status = tl_fail(err, TL_BAD_INPUT, "its rest pose is not finite (a transform or matrix overflows)");
        else
            judge(c);
    }
    tl_poser_destroy(poser);
    TL_FREE(&c->alloc, x, n);
    return status;
}
