// examples/sheet.h: what the examples share: stop with a message when a call fails, and a level square of cotton.
// Plain C17 that is C++ as well.
#pragma once
#include <stdio.h>
#include <stdlib.h>

#include "toile/core.h"

enum { CELLS = 20, SHEET_NODES = (CELLS + 1) * (CELLS + 1), SHEET_FACES = 2 * CELLS * CELLS };

static inline void must(tl_status status, const tl_error *err)
{
    if (status == TL_OK) return;
    fprintf(stderr, "%s\n", err->message[0] ? err->message : tl_status_name(status));
    exit(1);
}

/// A square of `side` metres at height y, its middle over the origin; rest shape in the material plane. Node 0 is the
/// corner at -x +z, node CELLS the one at +x +z.
static inline tl_cloth_def sheet(double side, double y)
{
    static tl_vec3 pos[SHEET_NODES];
    static tl_vec2 uv[SHEET_NODES];
    static int32_t face[SHEET_FACES][3];
    static tl_material cotton;
    for (int32_t v = 0; v < SHEET_NODES; v++) {
        uv[v].x = side * (v % (CELLS + 1)) / CELLS, uv[v].y = side * (v / (CELLS + 1)) / CELLS;
        pos[v].x = uv[v].x - side / 2, pos[v].y = y, pos[v].z = side / 2 - uv[v].y;
    }
    for (int32_t c = 0; c < CELLS * CELLS; c++) {
        const int32_t a = c / CELLS * (CELLS + 1) + c % CELLS, d = a + CELLS + 1;
        const int32_t corner[6] = {a, a + 1, d + 1, a, d + 1, d};
        for (int k = 0; k < 6; k++) face[2 * c + k / 3][k % 3] = corner[k];
    }
    cotton = tl_material_default();
    tl_cloth_def def = tl_cloth_def_default();
    def.name = "sheet", def.node_count = SHEET_NODES, def.pos = pos, def.uv = uv;
    def.face_count = SHEET_FACES, def.face = (const int32_t(*)[3])face;
    def.materials = &cotton, def.material_count = 1;
    def.remeshing.kind = TL_REMESHING_NONE;  // nodes keep their numbers
    return def;                              // arrays are borrowed for the call that takes the definition
}
