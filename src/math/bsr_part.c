// math/bsr_part.c: some rows of a block matrix as a small matrix of their own.

#include "base/fail.h"
#include "math/bsr.h"
#include "math/bsr_row.h"

#include <string.h>

static int32_t blocks_within(const tl_bsr *m, const int32_t *rows, int32_t count, const int32_t *place)
{
    int32_t blocks = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = m->row_start[rows[i]]; k < m->row_start[rows[i] + 1]; k++) blocks += place[m->col[k]] >= 0;
    return blocks;
}

tl_status tl_bsr_part(const tl_bsr *m, const int32_t *rows, int32_t count, const int32_t *place, tl_arena *arena,
                      tl_bsr *out, tl_error *err)
{
    const int32_t blocks = blocks_within(m, rows, count, place);
    *out = (tl_bsr){.row_count = count, .block_count = blocks};
    out->row_start = TL_SCRATCH(arena, int32_t, count + 1);
    out->col = TL_SCRATCH(arena, int32_t, blocks);
    out->value = tl_arena_bytes(arena, (size_t)blocks + 1, sizeof *out->value);  // one block of padding
    out->lower_start = TL_SCRATCH(arena, int32_t, count + 1);
    out->lower_row = TL_SCRATCH(arena, int32_t, blocks - count);
    out->lower_block = TL_SCRATCH(arena, int32_t, blocks - count);
    if (!out->row_start || !out->col || !out->value || !out->lower_start || !out->lower_row || !out->lower_block)
        return tl_fail_memory(err, "a part of a matrix");
    int32_t at = 0;
    for (int32_t i = 0; i < count; i++) {
        out->row_start[i] = at;
        for (int32_t k = m->row_start[rows[i]]; k < m->row_start[rows[i] + 1]; k++) {
            const int32_t j = place[m->col[k]];
            if (j < 0) continue;
            double room[9];
            memcpy(out->value[at], tl_bsr_block(m, rows[i], k, room), sizeof out->value[at]);
            out->col[at++] = j;
        }
    }
    out->row_start[count] = at;
    memset(out->value[blocks], 0, sizeof out->value[blocks]);
    memset(out->lower_start, 0, ((size_t)count + 1) * sizeof *out->lower_start);
    tl_bsr_refer(out);
    return TL_OK;
}
