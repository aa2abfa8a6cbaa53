// math/cholesky_sweep.h: forward and backward substitution of one front, included once for a factor in double and
// once in float with REAL, LOAD8 and NAME(x) defined. No include guard on purpose.

// w = pivot rows then update rows. On return: pivots solved, update rows reduced by them.
TL_CLONES static void NAME(forward)(const REAL *l, int32_t p, int32_t pivot_panels, int32_t panels, double *w)
{
    for (int32_t r = 0; r < panels; r++, l += (int64_t)PANEL * p) {
        const int32_t depth = r < pivot_panels ? PANEL * r : p;
        tl_v8 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};  // four chains hide the latency of an addition
        int32_t k = 0;
        for (; k + 4 <= depth; k += 4) {
            s0 += LOAD8(l + 8 * k) * w[k];
            s1 += LOAD8(l + 8 * k + 8) * w[k + 1];
            s2 += LOAD8(l + 8 * k + 16) * w[k + 2];
            s3 += LOAD8(l + 8 * k + 24) * w[k + 3];
        }
        for (; k < depth; k++) s0 += LOAD8(l + 8 * k) * w[k];
        double *wr = w + PANEL * r;
        TL_STORE8(wr, TL_LOAD8(wr) - ((s0 + s1) + (s2 + s3)));
        if (r >= pivot_panels) continue;
        const REAL *tile = l + PANEL * PANEL * r;
        const int32_t cols = p - PANEL * r < PANEL ? p - PANEL * r : PANEL;
        for (int32_t j = 0; j < cols; j++) {
            wr[j] *= (double)tile[8 * j + j];  // the inverse of the diagonal is stored
            for (int32_t i = j + 1; i < PANEL; i++) wr[i] -= (double)tile[8 * j + i] * wr[j];
        }
    }
}

// s[8 j + lane] += column j of panels [r0, r1) times w, lane by lane
TL_INLINE void NAME(gather_columns)(const REAL *l, int32_t p, int32_t r0, int32_t r1, int32_t col, int32_t cols,
                                    const double *w, double *s)
{
    for (int32_t r = r0; r < r1; r++) {
        const REAL *panel = l + (int64_t)r * PANEL * p + PANEL * col;
        const tl_v8 x = TL_LOAD8(w + PANEL * r);
        for (int32_t j = 0; j < cols; j++) TL_STORE8(s + 8 * j, TL_LOAD8(s + 8 * j) + LOAD8(panel + 8 * j) * x);
    }
}

// w's update rows hold the answer; on return its pivot rows do too.
TL_CLONES static void NAME(backward)(const REAL *l, int32_t p, int32_t pivot_panels, int32_t panels, double *w)
{
    enum { BLOCK = 8 };  // tiles of columns swept together: 4 kB of sums, long runs of memory
    double s[PANEL * PANEL * BLOCK];
    for (int32_t block = (pivot_panels - 1) / BLOCK * BLOCK; block >= 0; block -= BLOCK) {
        const int32_t tiles_end = block + BLOCK < pivot_panels ? block + BLOCK : pivot_panels;
        const int32_t col = PANEL * block, cols = (PANEL * tiles_end < p ? PANEL * tiles_end : p) - col;
        for (int32_t k = 0; k < PANEL * cols; k++) s[k] = 0;
        NAME(gather_columns)(l, p, tiles_end, panels, col, cols, w, s);
        for (int32_t t = tiles_end - 1; t >= block; t--) {
            const int32_t first = PANEL * t, tile_cols = p - first < PANEL ? p - first : PANEL;
            double *st = s + PANEL * (first - col), *wt = w + first;
            NAME(gather_columns)(l, p, t + 1, tiles_end, first, tile_cols, w, st);
            const REAL *tile = l + (int64_t)t * PANEL * p + PANEL * first;
            for (int32_t j = tile_cols - 1; j >= 0; j--) {
                double v = wt[j] - TL_SUM8(st + 8 * j);
                for (int32_t i = j + 1; i < tile_cols; i++) v -= (double)tile[8 * j + i] * wt[i];
                wt[j] = v * (double)tile[8 * j + j];
            }
        }
    }
}

#undef REAL
#undef LOAD8
#undef NAME
