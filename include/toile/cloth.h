// toile/cloth.h: put cloth into a simulation, read it back, take it away. SI units, right-handed, y up.
#pragma once
#include "toile/ids.h"
#include "toile/material.h"
#include "toile/remeshing.h"
#include "toile/strain.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A cloth as plain arrays, all borrowed for the call. Start from tl_cloth_def_default().
typedef struct tl_cloth_def {
    uint32_t struct_size;      ///< filled in by the default function, do not set
    const char *name;          ///< letters, digits, '-', '_'; at most 63; NULL: "cloth". Unique in the simulation.
    int32_t node_count;        ///< world nodes
    const tl_vec3 *pos;        ///< [m]
    const tl_vec3 *vel;        ///< [m/s]; NULL: at rest
    int32_t vert_count;        ///< material vertices; 0: as many as nodes, one on each
    const tl_vec2 *uv;         ///< material coordinates [m], vert_count (or node_count) entries
    const int32_t *vert_node;  ///< node under each vertex; NULL: vertex i lies on node i
    int32_t face_count;
    const int32_t (*face)[3];   ///< vertices, counter-clockwise
    const int32_t *face_label;  ///< which of `materials` a face is made of; NULL: all 0
    const int32_t *node_label;  ///< user labels for handles; NULL: all 0
    int32_t edge_count;  ///< edges that are feature lines: remeshing does not flip them, and takes nodes away only
                         ///< along them
    const int32_t (*edge)[2];      ///< their nodes; pairs that are no edge of the mesh do not count
    const int32_t *edge_label;     ///< > 0: lines of different labels do not join
    const tl_material *materials;  ///< at least one
    int32_t material_count;
    double thickness;        ///< distance that two layers keep [m], > 0; to a body: half of it. Default 1e-3.
    double friction;         ///< against bodies, >= 0; NAN: as the body says. Default NAN.
    double friction_self;    ///< against cloth, >= 0. Default 0.3.
    tl_remeshing remeshing;  ///< Default: tl_remeshing_default, anisotropic.
    tl_strain_def strain;    ///< Default free.
    uint32_t
        rest_from_shape;  ///< 1: the given shape is unstressed in bending (rest angles from `pos`). Default 0: flat.
} tl_cloth_def;
TL_API void tl_cloth_def_init(tl_cloth_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_cloth_def tl_cloth_def_default(void)
{
    tl_cloth_def def;
    tl_cloth_def_init(&def, sizeof def);
    return def;
}

/// On failure `sim` is unchanged, *out is {0} and the message says which element and value was wrong.
TL_API tl_status tl_sim_add_cloth(tl_sim *sim, const tl_cloth_def *def, tl_cloth_id *out, tl_error *err);

TL_API int32_t tl_sim_cloth_count(const tl_sim *sim);
TL_API tl_cloth_id tl_sim_cloth(const tl_sim *sim, int32_t index);           ///< {0} if out of range
TL_API const char *tl_sim_cloth_name(const tl_sim *sim, tl_cloth_id cloth);  ///< NULL if no such cloth

/// Borrowed; valid until the next call that takes a non-const `sim`. Order is that of the definition, until the cloth
/// is remeshed.
typedef struct tl_cloth_view {
    const tl_vec3 *pos, *vel;  ///< node_count entries
    const int32_t *node_label;
    int32_t node_count;
    const tl_vec2 *uv;  ///< vert_count entries
    const int32_t *vert_node;
    int32_t vert_count;
    const int32_t (*face)[3];  ///< vertices; face_count entries
    const int32_t *face_label;
    int32_t face_count;
} tl_cloth_view;
TL_API tl_status tl_sim_cloth_view(const tl_sim *sim, tl_cloth_id cloth, tl_cloth_view *out);

/// Unit normals of the nodes into the caller's array of node_count entries.
TL_API tl_status tl_sim_cloth_normals(const tl_sim *sim, tl_cloth_id cloth, tl_vec3 *out);

/// Takes a cloth away, and the handles that hold it. The solver starts afresh.
TL_API tl_status tl_cloth_remove(tl_sim *sim, tl_cloth_id cloth, tl_error *err);

/// Grows when the mesh of the cloth is remade; 0: no such cloth.
TL_API uint64_t tl_cloth_version(const tl_sim *sim, tl_cloth_id cloth);

/// Which node (slot of the view) a node of the version before became: `count` entries, as many as the cloth had nodes
/// then; -1: it is gone. TL_BAD_ARG if the mesh is not one version on from `version` (tl_cloth_version), or was
/// restored.
TL_API tl_status tl_cloth_map(const tl_sim *sim, tl_cloth_id cloth, uint64_t version, int32_t *new_of_old,
                              int32_t count, tl_error *err);

#ifdef __cplusplus
}
#endif
