// web/wasm/shim_pattern.c: sewing patterns for the editor: read and written in every format, panels as they start
// around a body.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

static char notes[1 << 14], left_out[512];
static tl_pattern_mesh panels;
static char (*names)[64];

// What the reader has to say, one note a line.
static void keep_notes(const tl_pattern *pattern)
{
    size_t n = 0;
    notes[0] = 0;
    for (int32_t i = 0; i < tl_pattern_note_count(pattern) && n + 2 < sizeof notes; i++)
        n += (size_t)snprintf(notes + n, sizeof notes - n, "%s\n", tl_pattern_note(pattern, i));
}

TLW_API const char *tlw_pattern_notes(void);
const char *tlw_pattern_notes(void) { return notes; }

/// What had no place in the format that was written last.
TLW_API const char *tlw_pattern_left_out(void);
const char *tlw_pattern_left_out(void) { return left_out; }

/// Reads a pattern in any format and writes it by the ending of `to`.
TLW_API int tlw_convert_pattern(const char *from, const char *to);
int tlw_convert_pattern(const char *from, const char *to)
{
    tl_pattern *pattern = NULL;
    notes[0] = left_out[0] = 0;
    tl_status status = tl_pattern_load(from, &pattern, &tlw.err);
    if (status == TL_OK) {
        keep_notes(pattern);
        status = tl_pattern_save(pattern, to, &tlw.err);
        if (status == TL_OK) tl_pattern_left_out(pattern, to, left_out, sizeof left_out);
    }
    tl_pattern_destroy(pattern);
    return tlw_said(status);
}

static void free_panels(void)
{
    tl_pattern_mesh_free(&panels);
    free(names);
    names = NULL;
}

/// Fills the panels of a pattern with triangles of this edge length [m]. Their number, or -1 (tlw_message).
TLW_API int tlw_panels(const char *path, double edge);
int tlw_panels(const char *path, double edge)
{
    tl_pattern *pattern = NULL;
    free_panels();
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.edge = edge;
    tl_status status = tl_pattern_load(path, &pattern, &tlw.err);
    if (status == TL_OK) keep_notes(pattern);
    if (status == TL_OK) status = tl_pattern_mesh_make(NULL, pattern, &def, &panels, &tlw.err);
    if (status == TL_OK) names = calloc((size_t)panels.panel_count, sizeof *names);
    for (int32_t i = 0; names && i < panels.panel_count; i++)
        snprintf(names[i], sizeof names[i], "%s", tl_pattern_panel(pattern, panels.panels[i].panel)->name);
    tl_pattern_destroy(pattern);
    tlw_said(status);
    return status == TL_OK && names ? panels.panel_count : -1;
}

TLW_API const char *tlw_panel_name(int index);
const char *tlw_panel_name(int index) { return names && index >= 0 && index < panels.panel_count ? names[index] : ""; }

/// A panel as corners (tlw_corners), as it starts in space; the number of its faces.
TLW_API int tlw_panel(int index);
int tlw_panel(int index)
{
    if (index < 0 || index >= panels.panel_count) return 0;
    const tl_panel_mesh *p = &panels.panels[index];
    float *to = tlw_corner_room((size_t)p->face_count);
    if (!to) return 0;
    for (int32_t f = p->face; f < p->face + p->face_count; f++) {
        const int32_t *c = panels.face[f];
        const tl_vec3 n = tlw_cross(tlw_sub(panels.pos[c[1]], panels.pos[c[0]]),
                                    tlw_sub(panels.pos[c[2]], panels.pos[c[0]])),
                      zero = {0};
        const double length = tlw_length(n);
        const tl_vec3 unit = tlw_madd(zero, length > 0 ? 1 / length : 0, n);
        for (int k = 0; k < 3; k++) {
            const tl_vec3 x = panels.pos[c[k]];
            const tl_vec2 uv = panels.uv[c[k]];
            const float corner[] = {(float)x.x,  (float)x.y,  (float)x.z, (float)unit.x, (float)unit.y, (float)unit.z,
                                    (float)uv.x, (float)uv.y, 0};
            memcpy(to, corner, sizeof corner);
            to += sizeof corner / sizeof *corner;
        }
    }
    return p->face_count;
}

/// Loads a scene for its bodies alone: it is shown, not stepped.
TLW_API int tlw_show_bodies(const char *path);
int tlw_show_bodies(const char *path)
{
    tl_scene *scene = NULL;
    tl_sim *sim = NULL;
    tl_status status = tl_scene_load(path, NULL, 0, &scene, &tlw.err);
    if (status == TL_OK) status = tl_scene_simulate(scene, 1, NULL, NULL, &sim, &tlw.err);
    if (status != TL_OK) {
        tl_sim_destroy(sim);
        tl_scene_destroy(scene);
        return tlw_said(status);
    }
    tlw_adopt(sim, scene, 1.0 / 60);
    return tlw_said(TL_OK);
}
