// math/dense_update.h: body of one tl_dense_update, included once per instruction set with
//   UPDATE_NAME, UPDATE_TARGET (attribute), LANES, ROW_VECS (vectors of rows at once), COLS (columns at once)
// No include guard on purpose. Tiles are cut to fit the registers; their shape does not change the sums.

typedef double PASTE(vec_, UPDATE_NAME) __attribute__((vector_size(LANES * 8), aligned(8), may_alias));

UPDATE_TARGET static void UPDATE_NAME(int32_t depth, int32_t panels, const double *const a[3], const double *b,
                                      double *const c[3], int32_t cols)
{
    typedef PASTE(vec_, UPDATE_NAME) vec;
    enum { VECS = 8 / LANES };  // vectors in a panel's column
    // ROW_VECS counts across panels: 3 panels of one AVX-512 vector, or parts of one panel
    enum { PANELS_AT_ONCE = ROW_VECS > VECS ? ROW_VECS / VECS : 1, ROW_STEP = ROW_VECS < VECS ? ROW_VECS : VECS };
    for (int32_t p0 = 0; p0 < panels;) {
        const int32_t at_once = panels - p0 >= PANELS_AT_ONCE ? PANELS_AT_ONCE : 1;
        for (int32_t j0 = 0; j0 < cols; j0 += COLS) {
            for (int32_t r0 = 0; r0 < VECS; r0 += ROW_STEP) {
                if (PANELS_AT_ONCE > 1 && at_once == PANELS_AT_ONCE) {
                    vec acc[PANELS_AT_ONCE][COLS] = {0};
                    const double *bk = b + j0;
                    for (int32_t k = 0; k < depth; k++, bk += 8) {
#pragma GCC unroll 8
                        for (int p = 0; p < PANELS_AT_ONCE; p++) {
                            const vec av = *(const vec *)(a[p0 + p] + 8 * k);
#pragma GCC unroll 8
                            for (int j = 0; j < COLS; j++) acc[p][j] += av * bk[j];
                        }
                    }
#pragma GCC unroll 8
                    for (int p = 0; p < PANELS_AT_ONCE; p++)
#pragma GCC unroll 8
                        for (int j = 0; j < COLS; j++)
                            if (j0 + j < cols) *(vec *)(c[p0 + p] + 8 * (j0 + j)) -= acc[p][j];
                } else {
                    vec acc[ROW_STEP][COLS] = {0};
                    const double *bk = b + j0, *ak = a[p0] + LANES * r0;
                    for (int32_t k = 0; k < depth; k++, bk += 8, ak += 8) {
#pragma GCC unroll 8
                        for (int v = 0; v < ROW_STEP; v++) {
                            const vec av = *(const vec *)(ak + LANES * v);
#pragma GCC unroll 8
                            for (int j = 0; j < COLS; j++) acc[v][j] += av * bk[j];
                        }
                    }
#pragma GCC unroll 8
                    for (int v = 0; v < ROW_STEP; v++)
#pragma GCC unroll 8
                        for (int j = 0; j < COLS; j++)
                            if (j0 + j < cols) *(vec *)(c[p0] + 8 * (j0 + j) + LANES * (r0 + v)) -= acc[v][j];
                }
            }
        }
        p0 += at_once;
    }
}

#undef UPDATE_NAME
#undef UPDATE_TARGET
#undef LANES
#undef ROW_VECS
#undef COLS
