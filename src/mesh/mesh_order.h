// mesh/mesh_order.h: renumber a mesh so that neighbours in space are neighbours in memory.
#pragma once
#include "base/workers.h"
#include "mesh/mesh.h"

typedef enum tl_order {
    TL_ORDER_COMPACT,   ///< keep the order of ids, close the gaps of dead slots
    TL_ORDER_MATERIAL,  ///< along a Hilbert curve in material space, panel after panel
    TL_ORDER_WORLD,     ///< along a Morton curve through world positions
} tl_order;

/// Where everything went: new id of old slot i, TL_NONE if it was dead.
typedef struct tl_renumbering {
    int32_t *to[TL_DOMAIN_COUNT];
    int32_t count[TL_DOMAIN_COUNT];  ///< old slots
} tl_renumbering;

/// Renumbers all domains: no dead slots remain, attributes and links follow, capacity shrinks to fit.
/// Refused while edits are recorded. `out` may be NULL; else free it with tl_renumbering_free. On failure
/// nothing changes.
tl_status tl_mesh_reorder(tl_mesh *mesh, tl_order order, tl_workers *workers, tl_renumbering *out, tl_error *err);
void tl_renumbering_free(const tl_mesh *mesh, tl_renumbering *renumbering);
