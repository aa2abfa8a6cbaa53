// web/wasm/shim_sewing.c: a pattern is sewn around the bodies that are shown, a step at a time, to be looked at.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

#define HOLD 2000.0  // [N/m^2] of a rim that is held, per length of the rim, as in `toile drape`

static tl_sewing_report last;

/// All bodies but planes, as one surface; false: no memory.
static bool join_bodies(tl_vec3 **pos, int32_t (**face)[3], int32_t *nodes, int32_t *faces)
{
    *pos = NULL, *face = NULL, *nodes = 0, *faces = 0;
    for (int32_t pass = 0; pass < 2; pass++) {
        int32_t n = 0, f = 0;
        for (int32_t i = 0; i < tl_sim_body_count(tlw.sim); i++) {
            tl_body_view v;
            if (tl_sim_body_view(tlw.sim, tl_sim_body(tlw.sim, i), &v) != TL_OK) continue;
            if (v.node_count == 4 && v.face_count == 2) continue;
            for (int32_t k = 0; pass == 1 && k < v.node_count; k++) (*pos)[n + k] = v.pos[k];
            for (int32_t k = 0; pass == 1 && k < v.face_count; k++)
                for (int c = 0; c < 3; c++) (*face)[f + k][c] = n + v.face[k][c];
            n += v.node_count, f += v.face_count;
        }
        *nodes = n, *faces = f;
        if (pass == 1) break;
        *pos = malloc(((size_t)n + 1) * sizeof **pos), *face = malloc(((size_t)f + 1) * sizeof **face);
        if (!*pos || !*face) return false;
    }
    return true;
}

/// Begins to sew a pattern around the bodies of the session (tlw_show_bodies), in triangles of edge [m].
TLW_API int tlw_sew(const char *path, const char *material, double edge);
int tlw_sew(const char *path, const char *material, double edge)
{
    tl_vec3 *pos = NULL;
    int32_t(*face)[3] = NULL, nodes, faces;
    tl_material cloth;
    tl_pattern *pattern = NULL;
    tl_sewing *sewing = NULL;
    tl_sewing_def def = tl_sewing_def_default();
    tl_status status = tlw.sim ? tl_material_load(material, &cloth, &tlw.err) : TL_BAD_ARG;
    if (status == TL_OK) status = tl_pattern_load(path, &pattern, &tlw.err);
    if (status == TL_OK && !join_bodies(&pos, &face, &nodes, &faces)) status = TL_NO_MEMORY;
    if (status == TL_OK) {
        def.pattern = pattern, def.material = &cloth, def.edge = edge, def.threads = tlw.threads;
        def.body = pos, def.body_nodes = nodes, def.body_face = (const int32_t(*)[3])face, def.body_faces = faces;
        status = tl_sewing_create(&def, &sewing, &tlw.err);
    }
    free(pos), free(face);
    if (status != TL_OK) {
        tl_pattern_destroy(pattern);
        return tlw_said(status);
    }
    tlw_close();
    tlw.sewing = sewing, tlw.pattern = pattern, tlw.dt = 1.0 / 60;
    memset(&tlw.report, 0, sizeof tlw.report);
    memset(&last, 0, sizeof last);
    return tlw_said(TL_OK);
}

/// A step of sewing: 0 more to do, 1 the same with another simulation to look at, 2 done; -1 failed (tlw_message).
TLW_API int tlw_sew_step(void);
int tlw_sew_step(void)
{
    if (!tlw.sewing) return -1;
    const tl_sim *before = tlw.sim;
    const tl_status status = tl_sewing_step(tlw.sewing, &last, &tlw.err);
    tlw.sim = tl_sewing_sim(tlw.sewing);
    if (tlw_said(status) != TL_OK) return -1;
    return last.stage == TL_SEWING_DONE ? 2 : tlw.sim != before;
}

/// How far it is: stage (0 sews, 1 the body grows, 2 done), part of the stage, widest gap [m], stiffness of the tie
/// that holds each node of its rim [N/m] (0: it hangs by itself).
TLW_API const double *tlw_sewing(void);
const double *tlw_sewing(void)
{
    const double tie = last.rim_nodes >= 2 ? HOLD * last.rim_length / last.rim_nodes : 0;
    const double numbers[] = {last.stage, last.part, last.gap, tie};
    memcpy(tlw.numbers, numbers, sizeof numbers);
    return tlw.numbers;
}

/// The panels at the seam that came together least, "" before.
TLW_API const char *tlw_widest_seam(void);
const char *tlw_widest_seam(void)
{
    tlw.text[0] = 0;
    if (last.gap_panel[0][0]) snprintf(tlw.text, sizeof tlw.text, "%s and %s", last.gap_panel[0], last.gap_panel[1]);
    return tlw.text;
}

TLW_API int tlw_sew_save(const char *path);
int tlw_sew_save(const char *path)
{
    return tlw.sewing ? tlw_said(tl_sewing_save(tlw.sewing, path, &tlw.err)) : TL_BAD_ARG;
}
