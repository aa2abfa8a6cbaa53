// math/predicates.c: exact signs of 2x2 and 3x3 determinants of differences.
//
// An expansion is a sum of doubles, smallest first, whose bits do not overlap; its sign is that of its last entry that
// is not zero. Sums and products of expansions are exact as long as nothing overflows or falls below the smallest
// denormal (Shewchuk 1997, "Adaptive precision floating-point arithmetic and fast robust geometric predicates").
//
// Ranges. Let every coordinate that is not zero lie in [2^-300, 2^320]. Coordinates and their differences are multiples
// of 2^-352, so products of three are multiples of 2^-1056, above the smallest denormal 2^-1074; and sums of six such
// products stay below 2^1023. So nothing is lost. The circle multiplies four differences: there the range is
// [2^-200, 2^240]. Other exponents go to whole numbers of up to 6,400 bits, slow and
// without limits; cloth does not get there.

#include "math/predicates.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(FLT_EVAL_METHOD == 0, "exact signs need doubles that are rounded after every operation");

#define EPSILON 0x1p-53  // largest relative error of one rounding

static int sign_of(double x) { return (x > 0) - (x < 0); }

// --- expansions --------------------------------------------------------------------------------------------

// a + b = *sum + *rest exactly (Shewchuk 1997, Theorem 7)
static inline void two_sum(double a, double b, double *sum, double *rest)
{
    const double s = a + b, b_part = s - a, a_part = s - b_part;
    *rest = (a - a_part) + (b - b_part);
    *sum = s;
}

// A product by halves of 26 bits would overflow near the upper end; fma is exact there, too, and the same on all
// machines.
static inline void two_product(double a, double b, double *product, double *rest)
{
    const double p = a * b;
    *rest = fma(a, b, -p);
    *product = p;
}

// e + f into h, zeros left out; h has room for both and is neither. Adds the entries of f one by one (Shewchuk 1997,
// Theorem 10).
static int sum_expansions(const double *e, int e_count, const double *f, int f_count, double *h)
{
    int count = e_count;
    if (e_count > 0) memcpy(h, e, (size_t)e_count * sizeof *h);
    for (int j = 0; j < f_count; j++) {
        double carry = f[j];
        int kept = 0;
        for (int i = 0; i < count; i++) {
            double rest;
            two_sum(carry, h[i], &carry, &rest);
            if (rest != 0) h[kept++] = rest;  // kept <= i: entries not yet read stay
        }
        if (carry != 0) h[kept++] = carry;
        count = kept;
    }
    return count;
}

// e times b into h, which has room for 2 e_count; zeros left out (Shewchuk 1997, Theorem 19).
static int scale_expansion(const double *e, int e_count, double b, double *h)
{
    double carry = 0;
    int count = 0;
    for (int i = 0; i < e_count; i++) {
        double high, low, sum, rest;
        two_product(e[i], b, &high, &low);
        two_sum(carry, low, &sum, &rest);
        if (rest != 0) h[count++] = rest;
        two_sum(high, sum, &carry, &rest);
        if (rest != 0) h[count++] = rest;
    }
    if (carry != 0) h[count++] = carry;
    return count;
}

typedef struct diff {  // a - b as high + low
    double part[2];    ///< low, high
} diff;

static diff exact_diff(double a, double b)
{
    diff d;
    two_sum(a, -b, &d.part[1], &d.part[0]);
    return d;
}

enum { MINOR_MAX = 16, TERM_MAX = 64, DET_MAX = 192, LIFT_MAX = 512, CIRCLE_MAX = 3 * LIFT_MAX };  // entries

static int times_diff(const double *e, int e_count, diff d, double *h)
{
    double low[TERM_MAX], high[TERM_MAX];
    const int low_count = scale_expansion(e, e_count, d.part[0], low);
    const int high_count = scale_expansion(e, e_count, d.part[1], high);
    return sum_expansions(high, high_count, low, low_count, h);
}

// a d - b c
static int minor2(diff a, diff b, diff c, diff d, double h[MINOR_MAX])
{
    double ad[MINOR_MAX / 2], bc[MINOR_MAX / 2];
    const int ad_count = times_diff(a.part, 2, d, ad), bc_count = times_diff(b.part, 2, c, bc);
    for (int i = 0; i < bc_count; i++) bc[i] = -bc[i];
    return sum_expansions(ad, ad_count, bc, bc_count, h);
}

static int sign_of_expansion(const double *e, int count) { return count > 0 ? sign_of(e[count - 1]) : 0; }

// --- whole numbers -----------------------------------------------------------------------------------------

enum { WORD_BITS = 32, COORD_WORDS = 68, DET_WORDS = 4 * COORD_WORDS + 4 };  // 2098 bits and a sign hold any difference
enum { SMALLEST_EXPONENT = -1074 };

typedef struct whole {  // sign times magnitude, lowest word first, no zero word on top
    int sign, count;
    uint32_t word[DET_WORDS];
} whole;

static void whole_trim(whole *w)
{
    while (w->count > 0 && w->word[w->count - 1] == 0) w->count--;
    if (w->count == 0) w->sign = 0;
}

// x / 2^-1074
static void whole_from(double x, whole *out)
{
    int exponent;
    const double mantissa = frexp(fabs(x), &exponent);
    uint64_t bits = (uint64_t)(mantissa * 0x1p53);
    int shift = exponent - 53 - SMALLEST_EXPONENT;
    out->sign = sign_of(x), out->count = 0;
    if (out->sign == 0) return;
    if (shift < 0) bits >>= -shift, shift = 0;  // a denormal: the bits that go are zeros
    const int first = shift / WORD_BITS, offset = shift % WORD_BITS;
    memset(out->word, 0, (size_t)(first + 3) * sizeof *out->word);
    out->word[first] = (uint32_t)(bits << offset);
    out->word[first + 1] = (uint32_t)(bits >> (WORD_BITS - offset));
    if (offset > 0) out->word[first + 2] = (uint32_t)(bits >> (2 * WORD_BITS - offset));
    out->count = first + 3;
    whole_trim(out);
}

static int compare_magnitude(const whole *a, const whole *b)
{
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

// a + b_sign |b|; out may be neither
static void whole_add(const whole *a, const whole *b, int b_sign, whole *out)
{
    if (b_sign == 0 || a->sign == 0) {
        *out = b_sign == 0 ? *a : *b;
        if (b_sign != 0) out->sign = b_sign;
        return;
    }
    const bool adds = a->sign == b_sign;
    const int order = compare_magnitude(a, b);
    const whole *large = order >= 0 ? a : b, *small = order >= 0 ? b : a;
    uint32_t carry = 0;
    for (int i = 0; i < large->count; i++) {
        const uint64_t l = large->word[i], s = (i < small->count ? small->word[i] : 0) + (uint64_t)carry;
        const uint64_t r = adds ? l + s : l - s;
        out->word[i] = (uint32_t)r;
        carry = adds ? (uint32_t)(r >> WORD_BITS) : (uint32_t)(l < s);
    }
    out->count = large->count;
    if (carry) out->word[out->count++] = carry;  // only when adding
    out->sign = order >= 0 ? a->sign : b_sign;
    whole_trim(out);
}

static void whole_multiply(const whole *a, const whole *b, whole *out)
{
    out->sign = a->sign * b->sign, out->count = a->count + b->count;
    memset(out->word, 0, (size_t)out->count * sizeof *out->word);
    for (int i = 0; i < a->count; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < b->count; j++) {
            carry += (uint64_t)a->word[i] * b->word[j] + out->word[i + j];
            out->word[i + j] = (uint32_t)carry;
            carry >>= WORD_BITS;
        }
        out->word[i + b->count] = (uint32_t)carry;
    }
    whole_trim(out);
}

static void whole_diff(double a, double b, whole *out)
{
    whole wa, wb;
    whole_from(a, &wa);
    whole_from(b, &wb);
    whole_add(&wa, &wb, -wb.sign, out);
}

// a d - b c
static void whole_minor2(const whole *a, const whole *b, const whole *c, const whole *d, whole *out)
{
    whole ad, bc;
    whole_multiply(a, d, &ad);
    whole_multiply(b, c, &bc);
    whole_add(&ad, &bc, -bc.sign, out);
}

static int whole_orient2d(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    whole m[2][2], det;
    whole_diff(a.x, c.x, &m[0][0]), whole_diff(a.y, c.y, &m[0][1]);
    whole_diff(b.x, c.x, &m[1][0]), whole_diff(b.y, c.y, &m[1][1]);
    whole_minor2(&m[0][0], &m[0][1], &m[1][0], &m[1][1], &det);
    return det.sign;
}

static int whole_orient3d(const tl_vec3 row[3], const tl_vec3 *origin)
{
    whole m[3][3], minor, term, det = {0}, next;
    for (int i = 0; i < 3; i++) {
        whole_diff(row[i].x, origin->x, &m[i][0]);
        whole_diff(row[i].y, origin->y, &m[i][1]);
        whole_diff(row[i].z, origin->z, &m[i][2]);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        whole_minor2(&m[j][0], &m[j][1], &m[k][0], &m[k][1], &minor);
        whole_multiply(&minor, &m[i][2], &term);
        whole_add(&det, &term, term.sign, &next);
        det = next;
    }
    return det.sign;
}

// --- predicates --------------------------------------------------------------------------------------------

static bool all_within(const double *coords, int count, double least, double most)
{
    for (int i = 0; i < count; i++) {
        const double size = fabs(coords[i]);
        if (!(size <= most && (size >= least || size == 0))) return false;
    }
    return true;
}

static bool expansions_hold(const double *coords, int count) { return all_within(coords, count, 0x1p-300, 0x1p320); }

static bool all_finite(const double *coords, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(coords[i])) return false;
    return true;
}

int tl_orient2d(tl_vec2 a, tl_vec2 b, tl_vec2 c)
{
    const double left = (a.x - c.x) * (b.y - c.y), right = (a.y - c.y) * (b.x - c.x), det = left - right;
    const double size = fabs(left) + fabs(right);
    // Each product has three roundings and the difference one: 4 EPSILON of the size, rounded up. Below 2^-900 a
    // denormal might add its own error; infinities and NaN compare false.
    if (size > 0x1p-900 && fabs(det) > 5 * EPSILON * size) return sign_of(det);

    const double coords[6] = {a.x, a.y, b.x, b.y, c.x, c.y};
    if (!expansions_hold(coords, 6)) return all_finite(coords, 6) ? whole_orient2d(a, b, c) : 0;
    double h[MINOR_MAX];
    const int count = minor2(exact_diff(a.x, c.x), exact_diff(a.y, c.y), exact_diff(b.x, c.x), exact_diff(b.y, c.y), h);
    return sign_of_expansion(h, count);
}

// Out of line: the quick test then needs no stack to speak of.
static __attribute__((noinline)) int exact_orient3d(const tl_vec3 row[3], const tl_vec3 *origin)
{
    double coords[12];
    for (int i = 0; i < 4; i++) {
        const tl_vec3 *p = i < 3 ? &row[i] : origin;
        coords[3 * i] = p->x, coords[3 * i + 1] = p->y, coords[3 * i + 2] = p->z;
    }
    if (!expansions_hold(coords, 12)) return all_finite(coords, 12) ? whole_orient3d(row, origin) : 0;
    diff m[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[i][k] = exact_diff(coords[3 * i + k], coords[9 + k]);
    double minor[MINOR_MAX], term[TERM_MAX], det[DET_MAX], next[DET_MAX];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const int minor_count = minor2(m[j][0], m[j][1], m[k][0], m[k][1], minor);
        const int term_count = times_diff(minor, minor_count, m[i][2], term);
        count = sum_expansions(term, term_count, det, count, next);
        memcpy(det, next, (size_t)count * sizeof *det);
    }
    return sign_of_expansion(det, count);
}

int tl_orient3d(const tl_vec3 *a, const tl_vec3 *b, const tl_vec3 *c, const tl_vec3 *d)
{
    // rows b - a, c - a, d - a, expanded along z
    const double bx = b->x - a->x, by = b->y - a->y, bz = b->z - a->z;
    const double cx = c->x - a->x, cy = c->y - a->y, cz = c->z - a->z;
    const double dx = d->x - a->x, dy = d->y - a->y, dz = d->z - a->z;
    const double cd = cx * dy, dc = cy * dx, db = dx * by, bd = dy * bx, bc = bx * cy, cb = by * cx;
    const double det = bz * (cd - dc) + cz * (db - bd) + dz * (bc - cb);
    const double size =
        fabs(bz) * (fabs(cd) + fabs(dc)) + fabs(cz) * (fabs(db) + fabs(bd)) + fabs(dz) * (fabs(bc) + fabs(cb));
    // A term has three differences, two products, the difference within and at most two sums: 8 EPSILON of the size,
    // rounded up. With factors below 2^300, a product that falls among the denormals errs by 2^-1074 times 2^300 at
    // most, nothing against EPSILON 2^-600; infinities and NaN compare false.
    if (size > 0x1p-600 && fabs(det) > 10 * EPSILON * size && fabs(bz) < 0x1p300 && fabs(cz) < 0x1p300 &&
        fabs(dz) < 0x1p300)
        return sign_of(det);
    return exact_orient3d((const tl_vec3[3]){*b, *c, *d}, a);
}

// (x^2 + y^2) times e into h, which has room for LIFT_MAX
static int times_lift(const double *e, int e_count, diff x, diff y, double *h)
{
    double xx[MINOR_MAX / 2], yy[MINOR_MAX / 2], lift[MINOR_MAX], part[2 * MINOR_MAX], sum[LIFT_MAX];
    const int xx_count = times_diff(x.part, 2, x, xx), yy_count = times_diff(y.part, 2, y, yy);
    const int lift_count = sum_expansions(xx, xx_count, yy, yy_count, lift);
    int count = 0;
    for (int k = 0; k < lift_count; k++) {
        const int part_count = scale_expansion(e, e_count, lift[k], part);
        const int next = sum_expansions(h, count, part, part_count, sum);
        memcpy(h, sum, (size_t)next * sizeof *h);
        count = next;
    }
    return count;
}

static int whole_incircle(const tl_vec2 row[3], tl_vec2 origin)
{
    whole m[3][2], squares[2], lift, minor, term, det = {0}, next;
    for (int i = 0; i < 3; i++) whole_diff(row[i].x, origin.x, &m[i][0]), whole_diff(row[i].y, origin.y, &m[i][1]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        whole_multiply(&m[i][0], &m[i][0], &squares[0]);
        whole_multiply(&m[i][1], &m[i][1], &squares[1]);
        whole_add(&squares[0], &squares[1], squares[1].sign, &lift);
        whole_minor2(&m[j][0], &m[j][1], &m[k][0], &m[k][1], &minor);
        whole_multiply(&minor, &lift, &term);
        whole_add(&det, &term, term.sign, &next);
        det = next;
    }
    return det.sign;
}

static __attribute__((noinline)) int exact_incircle(const tl_vec2 row[3], tl_vec2 origin)
{
    const double coords[8] = {row[0].x, row[0].y, row[1].x, row[1].y, row[2].x, row[2].y, origin.x, origin.y};
    if (!all_within(coords, 8, 0x1p-200, 0x1p240)) return all_finite(coords, 8) ? whole_incircle(row, origin) : 0;
    diff m[3][2];
    for (int i = 0; i < 3; i++) m[i][0] = exact_diff(row[i].x, origin.x), m[i][1] = exact_diff(row[i].y, origin.y);
    double minor[MINOR_MAX], term[LIFT_MAX], det[CIRCLE_MAX], next[CIRCLE_MAX];
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const int minor_count = minor2(m[j][0], m[j][1], m[k][0], m[k][1], minor);
        const int term_count = times_lift(minor, minor_count, m[i][0], m[i][1], term);
        count = sum_expansions(term, term_count, det, count, next);
        memcpy(det, next, (size_t)count * sizeof *det);
    }
    return sign_of_expansion(det, count);
}

int tl_incircle(tl_vec2 a, tl_vec2 b, tl_vec2 c, tl_vec2 d)
{
    const double ax = a.x - d.x, ay = a.y - d.y, bx = b.x - d.x, by = b.y - d.y, cx = c.x - d.x, cy = c.y - d.y;
    const double bc = bx * cy, cb = by * cx, ca = cx * ay, ac = cy * ax, ab = ax * by, ba = ay * bx;
    const double a2 = ax * ax + ay * ay, b2 = bx * bx + by * by, c2 = cx * cx + cy * cy;
    const double det = a2 * (bc - cb) + b2 * (ca - ac) + c2 * (ab - ba);
    const double size = a2 * (fabs(bc) + fabs(cb)) + b2 * (fabs(ca) + fabs(ac)) + c2 * (fabs(ab) + fabs(ba));
    // A term has a lift of four roundings (two differences squared count twice), a minor of four, their product and two
    // sums: 11 EPSILON of the size, rounded up. Lifts below 2^300 keep denormal products out of sight; infinities and
    // NaN compare false.
    if (size > 0x1p-500 && fabs(det) > 14 * EPSILON * size && a2 < 0x1p300 && b2 < 0x1p300 && c2 < 0x1p300)
        return sign_of(det);
    return exact_incircle((const tl_vec2[3]){a, b, c}, d);
}
