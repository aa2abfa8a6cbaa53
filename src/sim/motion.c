// sim/motion.c: smooth paths through keys, rigid poses, and wind that varies with time.

#include "sim/motion.h"

#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "math/elementary.h"

static double key_time(const void *keys, size_t stride, int32_t i)
{
    double t;
    memcpy(&t, (const char *)keys + (size_t)i * stride, sizeof t);
    return t;
}

static void key_value(const void *keys, size_t stride, size_t offset, int32_t i, double out[3])
{
    memcpy(out, (const char *)keys + (size_t)i * stride + offset, 3 * sizeof *out);
}

// Slope at a key between secants d0 over h0 and d1 over h1: zero at a turn, else their weighted harmonic mean.
static double key_slope(double h0, double d0, double h1, double d1)
{
    if (d0 * d1 <= 0) return 0;
    const double a = (h0 + 2 * h1) / (3 * (h0 + h1));
    return d0 * d1 / (a * d1 + (1 - a) * d0);
}

// The key before `time`, which lies between the first and the last.
static int32_t key_before(const void *keys, int32_t count, size_t stride, double time)
{
    int32_t low = 0, high = count - 1;
    while (high - low > 1) {
        const int32_t mid = low + (high - low) / 2;
        if (key_time(keys, stride, mid) <= time)
            low = mid;
        else
            high = mid;
    }
    return low;
}

// The cubic with values p0, p1 and slopes m0, m1 at the ends of an interval of length h, at its part s.
static double hermite(double p0, double p1, double m0, double m1, double h, double s)
{
    const double rise = s * s * (3 - 2 * s);
    return p0 + rise * (p1 - p0) + h * s * (1 - s) * ((1 - s) * m0 - s * m1);
}

tl_vec3 tl_curve_at(const void *keys, int32_t count, size_t stride, size_t offset, double time)
{
    double value[3];
    if (time <= key_time(keys, stride, 0)) {
        key_value(keys, stride, offset, 0, value);
        return (tl_vec3){value[0], value[1], value[2]};
    }
    if (time >= key_time(keys, stride, count - 1)) {
        key_value(keys, stride, offset, count - 1, value);
        return (tl_vec3){value[0], value[1], value[2]};
    }
    const int32_t low = key_before(keys, count, stride, time);
    double p[4][3], t[4];
    for (int i = 0; i < 4; i++) {
        int32_t k = low - 1 + i;
        k = k < 0 ? 0 : k >= count ? count - 1 : k;
        t[i] = key_time(keys, stride, k);
        key_value(keys, stride, offset, k, p[i]);
    }
    const double h = t[2] - t[1], s = (time - t[1]) / h;
    for (int c = 0; c < 3; c++) {
        const double d = (p[2][c] - p[1][c]) / h;
        const double m0 = low == 0 ? 0 : key_slope(t[1] - t[0], (p[1][c] - p[0][c]) / (t[1] - t[0]), h, d);
        const double m1 = low + 2 >= count ? 0 : key_slope(h, d, t[3] - t[2], (p[3][c] - p[2][c]) / (t[3] - t[2]));
        value[c] = hermite(p[1][c], p[2][c], m0, m1, h, s);
    }
    return (tl_vec3){value[0], value[1], value[2]};
}

tl_status tl_motion_check(const char *what, const tl_motion_key *keys, int32_t count, tl_error *err)
{
    if (count < 0 || (count > 0 && !keys))
        return tl_fail(err, TL_BAD_ARG, "%s: key_count %d without keys", what, count);
    for (int32_t i = 0; i < count; i++) {
        const tl_motion_key *k = &keys[i];
        if (!isfinite(k->time) || !tl_finite3(k->translate) || !tl_finite3(k->rotate_axis) || !isfinite(k->rotate_deg))
            return tl_fail(err, TL_BAD_INPUT, "%s: keys[%d] is not finite", what, i);
        if (!isfinite(k->scale) || k->scale < 0)
            return tl_fail(err, TL_BAD_INPUT, "%s: keys[%d].scale %g, must be > 0 (or 0, which counts as 1)", what, i,
                           k->scale);
        if (k->has_rates && (!tl_finite3(k->velocity) || !tl_finite3(k->spin) || !isfinite(k->growth)))
            return tl_fail(err, TL_BAD_INPUT, "%s: the rates of keys[%d] are not finite", what, i);
        if (i > 0 && !(k->time > keys[i - 1].time))
            return tl_fail(err, TL_BAD_INPUT, "%s: keys[%d].time %g s, must be after the key before it (%g s)", what, i,
                           k->time, keys[i - 1].time);
        if (k->rotate_deg != 0 && !(tl_norm3(k->rotate_axis) > 0))
            return tl_fail(err, TL_BAD_INPUT, "%s: keys[%d] turns by %g degrees about a zero axis", what, i,
                           k->rotate_deg);
    }
    return TL_OK;
}

// ---- poses ------------------------------------------------------------------------------------------------

enum { NUMBERS = sizeof(tl_pose_value) / sizeof(double) };

static const double *numbers(const tl_pose_value *value) { return &value->translate.x; }

static tl_pose_value value_of(const tl_motion_key *key, tl_curve curve)
{
    const tl_vec3 axis = tl_unit3_or(key->rotate_axis, (tl_vec3){0, 0, 0});
    const double angle = key->rotate_deg * (3.14159265358979323846 / 180), scale = key->scale == 0 ? 1 : key->scale;
    if (curve == TL_CURVE_SMOOTH) return (tl_pose_value){key->translate, tl_mul3(angle, axis), 0, scale};
    return (tl_pose_value){key->translate, tl_mul3(tl_sin(angle / 2), axis), tl_cos(angle / 2), scale};
}

// The derivative of a quaternion q that turns at the rate `spin` is (0, spin) q / 2.
static tl_pose_value given_slope(const tl_motion_key *key, const tl_pose_value *q)
{
    const tl_vec3 turn = tl_add3(tl_mul3(q->w, key->spin), tl_cross3(key->spin, q->turn));
    return (tl_pose_value){key->velocity, tl_mul3(0.5, turn), -0.5 * tl_dot3(key->spin, q->turn), key->growth};
}

// From the neighbours: the slope of the line between them. At the ends zero.
static tl_pose_value found_slope(const tl_pose_key *keys, int32_t count, int32_t i)
{
    tl_pose_value slope = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    if (i == 0 || i == count - 1) return slope;
    const double h = keys[i + 1].time - keys[i - 1].time;
    for (int k = 0; k < NUMBERS; k++)
        (&slope.translate.x)[k] = (numbers(&keys[i + 1].value)[k] - numbers(&keys[i - 1].value)[k]) / h;
    return slope;
}

void tl_motion_compile(const tl_motion_key *keys, int32_t count, tl_curve curve, tl_pose_key *out)
{
    const tl_pose_value none = {{0, 0, 0}, {0, 0, 0}, 0, 0};
    for (int32_t i = 0; i < count; i++) out[i] = (tl_pose_key){keys[i].time, value_of(&keys[i], curve), none, curve};
    for (int32_t i = 0; i < count && curve == TL_CURVE_CUBIC; i++)
        out[i].slope = keys[i].has_rates ? given_slope(&keys[i], &out[i].value) : found_slope(out, count, i);
}

bool tl_motion_is_still(const tl_pose_key *keys, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < NUMBERS; k++)
            if (numbers(&keys[i].value)[k] != numbers(&keys[0].value)[k] || numbers(&keys[i].slope)[k] != 0)
                return false;
    return true;
}

static tl_pose_value cubic_at(const tl_pose_key *keys, int32_t count, double time)
{
    if (time <= keys[0].time) return keys[0].value;
    if (time >= keys[count - 1].time) return keys[count - 1].value;
    const tl_pose_key *a = &keys[key_before(keys, count, sizeof *keys, time)], *b = a + 1;
    const double h = b->time - a->time, s = (time - a->time) / h;
    tl_pose_value value;
    for (int k = 0; k < NUMBERS; k++)
        (&value.translate.x)[k] =
            hermite(numbers(&a->value)[k], numbers(&b->value)[k], numbers(&a->slope)[k], numbers(&b->slope)[k], h, s);
    return value;
}

// A quaternion of any length; one of none, half way between opposite ones, does not turn.
static tl_pose pose_of_quaternion(const tl_pose_value *v)
{
    const double part = tl_norm3(v->turn), length = sqrt(v->w * v->w + part * part);
    if (!(part > 0) || !(length > 0)) return (tl_pose){.move = v->translate, .scale = v->scale};
    const double c = v->w / length, s = part / length;
    return (tl_pose){tl_mul3(1 / part, v->turn), 2 * tl_atan2(s, c), c * c - s * s, 2 * s * c, v->translate, v->scale};
}

tl_pose tl_pose_at(const tl_pose_key *keys, int32_t count, double time)
{
    if (count == 0) return (tl_pose){.scale = 1};
    if (keys[0].curve == TL_CURVE_CUBIC) {
        const tl_pose_value value = cubic_at(keys, count, time);
        return pose_of_quaternion(&value);
    }
    const tl_vec3 turn = tl_curve_at(keys, count, sizeof *keys, offsetof(tl_pose_key, value.turn), time);
    const tl_vec3 move = tl_curve_at(keys, count, sizeof *keys, offsetof(tl_pose_key, value.translate), time);
    double scale = keys[0].value.scale;
    for (int32_t i = 1; i < count; i++)
        if (keys[i].value.scale !=
            scale) {  // a curve only where there is one: 1 stays 1 to the bit; the last of three numbers
            scale =
                tl_curve_at(keys, count, sizeof *keys, offsetof(tl_pose_key, value.scale) - 2 * sizeof(double), time).z;
            break;
        }
    const double angle = tl_norm3(turn);
    if (angle == 0) return (tl_pose){.move = move, .scale = scale};
    return (tl_pose){tl_mul3(1 / angle, turn), angle, tl_cos(angle), tl_sin(angle), move, scale};
}

// Rodrigues' rotation.
tl_vec3 tl_pose_turn(const tl_pose *pose, tl_vec3 p)
{
    if (pose->angle == 0) return p;
    const tl_vec3 along = tl_mul3(tl_dot3(pose->axis, p) * (1 - pose->cos), pose->axis);
    return tl_add3(tl_madd3(tl_mul3(pose->cos, p), pose->sin, tl_cross3(pose->axis, p)), along);
}

tl_vec3 tl_pose_move(const tl_pose *pose, tl_vec3 pivot, tl_vec3 p)
{
    return tl_add3(tl_add3(tl_pose_turn(pose, tl_mul3(pose->scale, tl_sub3(p, pivot))), pivot), pose->move);
}

tl_vec3 tl_pose_back(const tl_pose *pose, tl_vec3 pivot, tl_vec3 p)
{
    tl_pose back = *pose;
    back.sin = -back.sin, back.angle = -back.angle;
    const tl_vec3 turned = tl_pose_turn(&back, tl_sub3(tl_sub3(p, pose->move), pivot));
    return tl_add3(pivot, tl_mul3(1 / pose->scale, turned));
}

tl_vec3 tl_pose_apply(const tl_pose_key *keys, int32_t count, double time, tl_vec3 pivot, tl_vec3 p)
{
    if (count == 0) return p;
    const tl_pose pose = tl_pose_at(keys, count, time);
    return tl_pose_move(&pose, pivot, p);
}

// Smooth noise in [-1, 1]: random values at whole times, two octaves.
static double noise(uint64_t seed, uint64_t stream, double time)
{
    double sum = 0;
    for (int octave = 0; octave < 2; octave++) {
        const double t = time * (octave + 1.0) * (octave ? 1.37 : 1);
        const double whole = floor(t), s = t - whole;
        const uint64_t k = (uint64_t)(int64_t)whole, name = 2 * stream + (uint64_t)octave;
        const double a = 2 * tl_random(seed, name, k) - 1, b = 2 * tl_random(seed, name, k + 1) - 1;
        sum += (octave ? 1.0 / 3 : 2.0 / 3) * (a + s * s * (3 - 2 * s) * (b - a));
    }
    return sum;
}

tl_vec3 tl_wind_at(const tl_air_def *air, uint64_t seed, double time)
{
    enum { STREAM = 0x57494e44 };  // "WIND"
    tl_vec3 wind = air->wind;
    if (air->key_count > 0)
        wind = tl_curve_at(air->keys, air->key_count, sizeof *air->keys, offsetof(tl_wind_key, velocity), time);
    const double speed = tl_norm3(wind);
    if (air->gust <= 0 || speed == 0) return wind;
    // Mostly stronger and weaker, with half as much to the side and a quarter up and down.
    const tl_vec3 ahead = tl_mul3(1 / speed, wind), up = {0, 1, 0};
    const tl_vec3 side = tl_unit3_or(tl_cross3(ahead, up), (tl_vec3){1, 0, 0}), rise = tl_cross3(side, ahead);
    const double t = time / air->gust_period, size = air->gust * speed;
    wind = tl_madd3(wind, size * noise(seed, STREAM, t), ahead);
    wind = tl_madd3(wind, 0.5 * size * noise(seed, STREAM + 1, t), side);
    return tl_madd3(wind, 0.25 * size * noise(seed, STREAM + 2, t), rise);
}

// Without gusts: these are eddies, too, and would carry the others back and forth.
static tl_vec3 mean_wind(const tl_air_def *air, double time)
{
    if (air->key_count == 0) return air->wind;
    return tl_curve_at(air->keys, air->key_count, sizeof *air->keys, offsetof(tl_wind_key, velocity), time);
}

bool tl_wind_eddies(const tl_air_def *air, uint64_t seed, double time, tl_eddies *out)
{
    const tl_vec3 now = mean_wind(air, time);
    const double speed = tl_norm3(now);
    if (!(air->turbulence > 0) || speed == 0) return false;
    tl_eddies_def def = {.speed = air->turbulence * speed, .length = air->turbulence_length, .seed = seed};
    if (air->key_count == 0) {
        def.drift = tl_mul3(time, now), def.turned = speed * time;
    } else {
        // the way so far, by the midpoint rule in as many parts for all times: a smooth function of time
        enum { PARTS = 256 };
        for (int i = 0; i < PARTS; i++) {
            const tl_vec3 wind = mean_wind(air, (i + 0.5) / PARTS * time);
            def.drift = tl_madd3(def.drift, time / PARTS, wind);
            def.turned += time / PARTS * tl_norm3(wind);
        }
    }
    def.turned *= air->turbulence;
    tl_eddies_init(out, &def);
    return true;
}
