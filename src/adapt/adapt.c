// adapt/adapt.c: the kinds by number, and what they have in common.

#include "adapt/adapt.h"

#include "base/fail.h"
#include "mesh/mesh_attr.h"

const tl_adapter tl_adapter_none = {.name = "none", .promise = "the mesh stays as it is given", .keeps_clear = true};

const tl_adapter *tl_adapter_of(tl_remeshing_kind kind)
{
    static const tl_adapter *const kinds[] = {
        [TL_REMESHING_NONE] = &tl_adapter_none,
        [TL_REMESHING_ANISOTROPIC] = &tl_adapter_anisotropic,
        [TL_REMESHING_ISOTROPIC] = &tl_adapter_isotropic,
        [TL_REMESHING_SQRT3] = &tl_adapter_sqrt3,
        [TL_REMESHING_EDGE_TREES] = &tl_adapter_edge_trees,
    };
    return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : NULL;
}

tl_lumping tl_lumping_of(const tl_remeshing *def)
{
    const bool published = def->masses == TL_MASSES_AUTO && def->kind == TL_REMESHING_SQRT3;
    return published || def->masses == TL_MASSES_VORONOI ? TL_LUMP_VORONOI : TL_LUMP_THIRDS;
}

// An attribute of another width is of a time when there were fewer handles.
static tl_status attach(tl_mesh *mesh, const char *name, tl_attr_rule rule, int32_t words, tl_error *err)
{
    int32_t index = tl_mesh_attr_find(mesh, TL_NODES, name);
    if (index != TL_NONE && mesh->slots[TL_NODES].attrs[index].width == words) return TL_OK;
    if (index != TL_NONE) TL_TRY(tl_mesh_attr_remove(mesh, TL_NODES, index, err));
    return tl_mesh_attr_add(mesh, TL_NODES, name, TL_INT32, words, rule, &index, err);
}

tl_status tl_adapt_attach_groups(tl_mesh *mesh, int32_t count, tl_adapt_groups *out, tl_error *err)
{
    TL_TRY(attach(mesh, "held", TL_ATTR_BOTH, count / 32 + 1, err));
    TL_TRY(attach(mesh, "listed", TL_ATTR_ZERO, count / 32 + 1, err));
    out->held = tl_mesh_attr_find(mesh, TL_NODES, "held"), out->listed = tl_mesh_attr_find(mesh, TL_NODES, "listed");
    return TL_OK;
}
