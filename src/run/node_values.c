// run/node_values.c: maps of faces as means over the faces around each node, weighted by area.

#include "run/node_values.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static tl_status from_faces(const tl_allocator *alloc, const tl_draw_mesh *m, const float *face, float *out,
                            tl_error *err)
{
    double *sum = TL_CALLOC(alloc, double, 2 * (size_t)m->pos_count);
    if (!sum) return tl_fail_memory(err, "values of nodes");
    for (int32_t f = 0; f < m->face_count; f++) {
        const double area = tl_face_area(m, f);
        for (int k = 0; k < 3 && isfinite(face[f]); k++) {
            double *s = sum + 2 * (size_t)m->face[f][k];
            s[0] += area * (double)face[f], s[1] += area;
        }
    }
    for (int32_t i = 0; i < m->pos_count; i++) out[i] = sum[2 * i + 1] > 0 ? (float)(sum[2 * i] / sum[2 * i + 1]) : 0;
    TL_FREE(alloc, sum, 2 * (size_t)m->pos_count);
    return TL_OK;
}

tl_status tl_node_values(const tl_allocator *alloc, const tl_node_values_def *def, int32_t index,
                         float *const out[TL_ATTRIBUTE_COUNT], tl_error *err)
{
    const tl_draw_mesh *m = &def->surfaces[index];
    float *face = TL_ALLOC(alloc, float, m->face_count);
    if (!face) return tl_fail_memory(err, "values of faces");
    tl_status status = TL_OK;
    for (int a = 0; a < TL_ATTRIBUTE_COUNT && status == TL_OK; a++) {
        if (!(def->attributes >> a & 1)) continue;
        switch ((tl_attribute)a) {
        case TL_ATTRIBUTE_STRAIN: tl_map_strain(m, face); break;
        case TL_ATTRIBUTE_TENSION: tl_map_tension(m, face); break;
        case TL_ATTRIBUTE_LEVEL: tl_map_level(m, def->largest, face); break;
        default: break;
        }
        if (a == TL_ATTRIBUTE_CONTACT)
            status = tl_map_nearness(def->crowd, index, 1e-3 * TL_CONTACT_REACH_MM, NULL, out[a], err);
        else
            status = from_faces(alloc, m, face, out[a], err);
        for (int32_t i = 0; status == TL_OK && i < m->pos_count; i++)
            if (!isfinite(out[a][i])) out[a][i] = 0;
    }
    TL_FREE(alloc, face, m->face_count);
    return status;
}
