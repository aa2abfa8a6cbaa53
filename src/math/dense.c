// math/dense.c: dense kernels of the factorization, one source compiled for several instruction sets.

#include "math/dense.h"

#include <math.h>

#include "math/simd.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#ifdef TL_X86_KERNELS
#define UPDATE_NAME update_avx512
#define UPDATE_TARGET __attribute__((target("avx512f")))
#define LANES 8
#define ROW_VECS 3  // 24 sums of 32 registers
#define COLS 8
#include "math/dense_update.h"

#define UPDATE_NAME update_avx2
#define UPDATE_TARGET __attribute__((target("avx2")))
#define LANES 4
#define ROW_VECS 2  // 8 sums of 16 registers: multiply and add are apart, so temporaries need room
#define COLS 4
#include "math/dense_update.h"
#endif

#define UPDATE_NAME update_plain
#define UPDATE_TARGET
#define LANES 2
#define ROW_VECS 2
#define COLS 4
#include "math/dense_update.h"

tl_dense_update tl_dense_update_at(int32_t number)
{
#ifdef TL_X86_KERNELS
    if (__builtin_cpu_supports("avx512f") && number-- == 0) return update_avx512;
    if (__builtin_cpu_supports("avx2") && number-- == 0) return update_avx2;
#endif
    return number == 0 ? update_plain : NULL;
}

bool tl_dense_factor_tile(double *t, int32_t cols)
{
    bool good = true;
    for (int32_t j = 0; j < cols; j++) {
        double d = t[8 * j + j];
        for (int32_t k = 0; k < j; k++) d -= t[8 * k + j] * t[8 * k + j];
        if (!(d > 0) || !isfinite(d)) good = false;
        const double inverse = 1 / sqrt(d);
        t[8 * j + j] = inverse;
        for (int32_t i = j + 1; i < 8; i++) {  // rows past `cols` are padding or the same panel's: zeros stay zeros
            double s = t[8 * j + i];
            for (int32_t k = 0; k < j; k++) s -= t[8 * k + i] * t[8 * k + j];
            t[8 * j + i] = s * inverse;
        }
    }
    return good;
}

TL_CLONES static void solve_tile(const double *factored, double *tile, int32_t cols)
{
    for (int32_t j = 0; j < cols; j++) {
        tl_v8 s = TL_LOAD8(tile + 8 * j);
        for (int32_t k = 0; k < j; k++) s -= TL_LOAD8(tile + 8 * k) * factored[8 * k + j];
        TL_STORE8(tile + 8 * j, s * factored[8 * j + j]);
    }
}

void tl_dense_solve_tile(const double *factored, double *tile, int32_t cols) { solve_tile(factored, tile, cols); }
