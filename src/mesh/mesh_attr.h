// mesh/mesh_attr.h: named per-element arrays that follow the mesh through edits, undo and reordering.
//
// What an edit does, by rule (parents and shares: see mesh_edit.h):
//   new node, vertex    MEAN: mean of the two ends by t. COPY: that of node 0. CONSERVE: takes from both
//                       ends what their share of material area loses. ZERO: 0. BOTH: bits set in both ends.
//   half of an edge,    MEAN, COPY: the parent's value. CONSERVE: the parent's amount is shared by length
//   part of a face      or area. ZERO: the new one starts at 0, the old one keeps its value. BOTH: as COPY.
//   edge inside a face  has no parent: 0 by every rule.
//   flip                faces: MEAN: both get the mean; CONSERVE: the sum shared by area; COPY, ZERO, BOTH: kept.
//                       edge: CONSERVE is kept, all else starts at 0.
//   collapse            CONSERVE: what goes is added to what stays around it. All else: survivors keep theirs.
#pragma once
#include "mesh/mesh.h"

/// Adds an attribute, zero everywhere, and hands out its index in mesh->slots[domain].attrs. Names are
/// unique per domain, 1 to 31 bytes; width 1 to 64; MEAN and CONSERVE need TL_DOUBLE, BOTH TL_INT32. Not while
/// edits are recorded.
tl_status tl_mesh_attr_add(tl_mesh *mesh, tl_domain domain, const char *name, tl_attr_type type, int32_t width,
                           tl_attr_rule rule, int32_t *out_index, tl_error *err);

/// Removes it; those behind it move up by one. Not while edits are recorded.
tl_status tl_mesh_attr_remove(tl_mesh *mesh, tl_domain domain, int32_t index, tl_error *err);

/// Index of the attribute, TL_NONE if there is none of that name.
int32_t tl_mesh_attr_find(const tl_mesh *mesh, tl_domain domain, const char *name);

/// The numbers, `width` per slot; they move when the mesh grows. NULL if the attribute holds the other type.
double *tl_mesh_attr_doubles(const tl_mesh *mesh, tl_domain domain, int32_t index);
int32_t *tl_mesh_attr_ints(const tl_mesh *mesh, tl_domain domain, int32_t index);
