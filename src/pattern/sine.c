// pattern/sine.c: sine transform by one complex Fourier transform of the same length.
//
// With y_j = sin(pi j / n) (f_j + f_(n-j)) + (f_j - f_(n-j)) / 2, the Fourier sums R_k + i I_k of y give the sine sums
// F: F_2k = I_k and F_(2k+1) = F_(2k-1) + R_k, F_1 = R_0 / 2. x and y ride as real and imaginary part. Lengths are
// taken apart into factors 4, 2, 3, 5, ..; where a prime factor is large, a convolution with a chirp of length 2^m does
// (Bluestein 1970).

#include "pattern/sine.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "math/elementary.h"

enum { FACTORS_MAX = 32, PRIME_MAX = 31 };

#define PI 3.14159265358979323846

typedef struct fourier {  // sums with exp(-2 pi i j k / n)
    int32_t n, factor_count, factor[FACTORS_MAX];
    tl_vec2 *root;  ///< exp(-2 pi i k / n)
} fourier;

struct tl_sine {
    tl_allocator alloc;
    int32_t n, length;  ///< of rows, and of the transform that serves (a power of two with a chirp)
    fourier f;
    double *sine;          ///< sin(pi j / n)
    tl_vec2 *in, *out;     ///< [length]
    tl_vec2 *chirp;        ///< [n] exp(-pi i k^2 / n); NULL: none needed
    tl_vec2 *chirp_waves;  ///< [length] transform of the inverse chirp
};

static tl_vec2 times(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
static tl_vec2 plus(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x + b.x, a.y + b.y}; }
static tl_vec2 minus(tl_vec2 a, tl_vec2 b) { return (tl_vec2){a.x - b.x, a.y - b.y}; }

// exp(-pi i k / n), with angles kept below pi / 4 for the sake of the last digit
static tl_vec2 unit_root(int64_t k, int64_t n)
{
    k %= 2 * n;
    const double angle = PI * (double)k / (double)n;
    return (tl_vec2){tl_cos(angle), -tl_sin(angle)};
}

static int32_t largest_prime(int32_t n)
{
    int32_t largest = 1;
    for (int32_t p = 2; p <= n / p; p++)
        while (n % p == 0) largest = p, n /= p;
    return n > largest ? n : largest;
}

static bool fourier_init(const tl_allocator *alloc, int32_t n, fourier *f)
{
    *f = (fourier){.n = n};
    int32_t rest = n;
    while (rest % 4 == 0) f->factor[f->factor_count++] = 4, rest /= 4;
    for (int32_t p = 2; rest > 1; p++)
        while (rest % p == 0) f->factor[f->factor_count++] = p, rest /= p;
    f->root = TL_ALLOC(alloc, tl_vec2, n);
    if (!f->root) return false;
    for (int32_t k = 0; k < n; k++) f->root[k] = unit_root(2 * (int64_t)k, n);
    return true;
}

static void join4(const fourier *f, tl_vec2 *out, int32_t m, int32_t step)
{
    for (int32_t k = 0; k < m; k++) {
        const tl_vec2 a = out[k], b = times(out[m + k], f->root[k * step]);
        const tl_vec2 c = times(out[2 * m + k], f->root[2 * k * step]);
        const tl_vec2 d = times(out[3 * m + k], f->root[3 * k * step]);
        const tl_vec2 ac = plus(a, c), bd = plus(b, d), a_c = minus(a, c), b_d = minus(b, d);
        out[k] = plus(ac, bd);
        out[m + k] = (tl_vec2){a_c.x + b_d.y, a_c.y - b_d.x};
        out[2 * m + k] = minus(ac, bd);
        out[3 * m + k] = (tl_vec2){a_c.x - b_d.y, a_c.y + b_d.x};
    }
}

static void join_any(const fourier *f, tl_vec2 *out, int32_t p, int32_t m, int32_t step)
{
    tl_vec2 part[PRIME_MAX];
    for (int32_t k = 0; k < m; k++) {
        for (int32_t r = 0; r < p; r++) part[r] = times(out[r * m + k], f->root[r * k * step]);
        for (int32_t q = 0; q < p; q++) {
            tl_vec2 sum = part[0];
            for (int32_t r = 1, at = q; r < p; r++, at = at + q < p ? at + q : at + q - p)
                sum = plus(sum, times(part[r], f->root[at * (m * step)]));
            out[q * m + k] = sum;
        }
    }
}

// out[k] = sum over j < n of in[j stride] root^(j k stride); stride n = f->n
static void fourier_part(const fourier *f, int32_t level, int32_t n, const tl_vec2 *in, int32_t stride, tl_vec2 *out)
{
    if (n == 1) {
        out[0] = in[0];
        return;
    }
    const int32_t p = f->factor[level], m = n / p;
    for (int32_t r = 0; r < p; r++)
        fourier_part(f, level + 1, m, in + (size_t)r * (size_t)stride, stride * p, out + (size_t)r * (size_t)m);
    if (p == 4)
        join4(f, out, m, stride);
    else
        join_any(f, out, p, m, stride);
}

static bool chirp_init(tl_sine *s)
{
    s->chirp = TL_ALLOC(&s->alloc, tl_vec2, s->n);
    s->chirp_waves = TL_ALLOC(&s->alloc, tl_vec2, s->length);
    if (!s->chirp || !s->chirp_waves) return false;
    memset(s->in, 0, (size_t)s->length * sizeof *s->in);
    for (int32_t k = 0; k < s->n; k++) {
        s->chirp[k] = unit_root((int64_t)k * k, s->n);
        const tl_vec2 inverse = {s->chirp[k].x, -s->chirp[k].y};
        s->in[k] = inverse;
        if (k > 0) s->in[s->length - k] = inverse;
    }
    fourier_part(&s->f, 0, s->length, s->in, 1, s->chirp_waves);
    return true;
}

tl_status tl_sine_create(const tl_allocator *alloc, int32_t cells, tl_sine **out, tl_error *err)
{
    *out = NULL;
    tl_sine *s = TL_CALLOC(alloc, tl_sine, 1);
    if (!s) return tl_fail_memory(err, "sine transform");
    s->alloc = *alloc, s->n = s->length = cells;
    const bool chirp = largest_prime(cells) > PRIME_MAX;
    if (chirp)
        for (s->length = 1; s->length < 2 * cells - 1;) s->length *= 2;
    s->sine = TL_ALLOC(alloc, double, cells);
    s->in = TL_ALLOC(alloc, tl_vec2, s->length);
    s->out = TL_ALLOC(alloc, tl_vec2, s->length);
    if (!s->sine || !s->in || !s->out || !fourier_init(alloc, s->length, &s->f) || (chirp && !chirp_init(s))) {
        tl_sine_destroy(s);
        return tl_fail_memory(err, "sine transform");
    }
    for (int32_t j = 0; j < cells; j++) s->sine[j] = tl_sin(PI * (double)j / cells);
    *out = s;
    return TL_OK;
}

void tl_sine_destroy(tl_sine *s)
{
    if (!s) return;
    const tl_allocator alloc = s->alloc;
    TL_FREE(&alloc, s->sine, s->n);
    TL_FREE(&alloc, s->in, s->length);
    TL_FREE(&alloc, s->out, s->length);
    TL_FREE(&alloc, s->chirp, s->n);
    TL_FREE(&alloc, s->chirp_waves, s->length);
    TL_FREE(&alloc, s->f.root, s->f.n);
    TL_FREE(&alloc, s, 1);
}

size_t tl_sine_memory(const tl_sine *s)
{
    const size_t length = (size_t)s->length, n = (size_t)s->n;
    return sizeof *s + n * sizeof(double) + (s->chirp ? 4 * length + n : 3 * length) * sizeof(tl_vec2);
}

// The transform of s->in (n entries) into s->out; scrambles s->in.
static void transform(tl_sine *s)
{
    if (!s->chirp) {
        fourier_part(&s->f, 0, s->n, s->in, 1, s->out);
        return;
    }
    for (int32_t k = 0; k < s->n; k++) s->in[k] = times(s->in[k], s->chirp[k]);
    memset(s->in + s->n, 0, (size_t)(s->length - s->n) * sizeof *s->in);
    fourier_part(&s->f, 0, s->length, s->in, 1, s->out);
    for (int32_t k = 0; k < s->length; k++) {  // the inverse transform is the transform of the conjugate
        const tl_vec2 wave = times(s->out[k], s->chirp_waves[k]);
        s->in[k] = (tl_vec2){wave.x, -wave.y};
    }
    fourier_part(&s->f, 0, s->length, s->in, 1, s->out);
    const double scale = 1.0 / s->length;
    for (int32_t k = 0; k < s->n; k++)
        s->out[k] = times((tl_vec2){s->out[k].x * scale, -s->out[k].y * scale}, s->chirp[k]);
}

void tl_sine_apply(tl_sine *s, tl_vec2 *row)
{
    const int32_t n = s->n;
    const tl_vec2 *f = row - 1;  // f[1] .. f[n-1]
    s->in[0] = (tl_vec2){0, 0};
    for (int32_t j = 1; j < n; j++) {
        const tl_vec2 a = f[j], b = f[n - j];
        s->in[j] =
            (tl_vec2){s->sine[j] * (a.x + b.x) + 0.5 * (a.x - b.x), s->sine[j] * (a.y + b.y) + 0.5 * (a.y - b.y)};
    }
    transform(s);
    // Z_k = A_k + i B_k with A = R - i I of x, B = R - i I of y
    tl_vec2 odd = {0.5 * s->out[0].x, 0.5 * s->out[0].y};
    row[0] = odd;
    for (int32_t k = 1; 2 * k < n; k++) {
        const tl_vec2 z = s->out[k], w = s->out[n - k];
        row[2 * k - 1] = (tl_vec2){-0.5 * (z.y - w.y), 0.5 * (z.x - w.x)};
        if (2 * k + 1 >= n) break;
        odd.x += 0.5 * (z.x + w.x), odd.y += 0.5 * (z.y + w.y);
        row[2 * k] = odd;
    }
}
