// mesh/mesh_internal.h: what the files of this folder share: columns, slots, attribute rules, edit records.
//
// A column is one per-element array: the free list, a built-in (pos, face_vert, ...) or an attribute. All
// that grows, records, restores, permutes or hashes a mesh goes over columns, so nothing can be forgotten.
#pragma once
#include <string.h>

#include "base/fail.h"
#include "mesh/mesh.h"
#include "mesh/mesh_edit.h"

typedef struct tl_column {
    size_t offset;  ///< of the data pointer inside tl_mesh
    size_t size;    ///< bytes per element
    bool numbers;   ///< doubles, which must be finite
} tl_column;

int32_t tl_column_count(const tl_mesh *mesh, tl_domain d);
tl_column tl_column_at(const tl_mesh *mesh, tl_domain d, int32_t index);

// Pointers of any type are moved as bytes: that is what aliasing rules permit.
static inline void *tl_column_data(const tl_mesh *mesh, tl_column c)
{
    void *data;
    memcpy(&data, (const char *)mesh + c.offset, sizeof data);
    return data;
}
static inline void tl_column_set(tl_mesh *mesh, tl_column c, void *data)
{
    memcpy((char *)mesh + c.offset, &data, sizeof data);
}

const char *tl_domain_name(tl_domain d);  ///< "node", "vertex", "edge", "face"

/// Room for `capacity` slots in every column of the domain. On failure nothing has changed.
tl_status tl_slots_resize(tl_mesh *mesh, tl_domain d, int32_t capacity, tl_error *err);
/// Makes sure that `extra` slots can be taken without memory.
tl_status tl_slots_reserve(tl_mesh *mesh, tl_domain d, int32_t extra, tl_error *err);
/// A reserved slot, every column zero. The `ahead`-th next one, before it is taken, is tl_slot_peek.
int32_t tl_slot_take(tl_mesh *mesh, tl_domain d);
int32_t tl_slot_peek(const tl_mesh *mesh, tl_domain d, int32_t ahead);
void tl_slot_give(tl_mesh *mesh, tl_domain d, int32_t id);

// Attribute rules. CONSERVE amounts move by tl_attrs_move alone.
void tl_attrs_between(tl_mesh *mesh, tl_domain d, int32_t a, int32_t b, double t, int32_t made);
void tl_attrs_split(tl_mesh *mesh, tl_domain d, int32_t parent, double share, int32_t made);
void tl_attrs_move(tl_mesh *mesh, tl_domain d, int32_t from, double fraction, int32_t to);
void tl_attrs_mix(tl_mesh *mesh, tl_domain d, int32_t a, int32_t b, double share_a);  ///< faces of a flip
void tl_attrs_restart(tl_mesh *mesh, tl_domain d, int32_t id);                        ///< edge of a flip
bool tl_attrs_conserve(const tl_mesh *mesh, tl_domain d);                             ///< any attribute with that rule?

// One record per edit, written before anything changes; all of these do nothing while recording is off.
tl_status tl_record_open(tl_mesh *mesh, tl_edit edit, tl_error *err);
tl_status tl_record_row(tl_mesh *mesh, tl_domain d, int32_t id, tl_error *err);
tl_status tl_record_taken(tl_mesh *mesh, tl_domain d, int32_t extra,
                          tl_error *err);            ///< slots about to be taken
void tl_record_drop(tl_mesh *mesh);                  ///< the edit did not happen
void tl_record_finish(tl_mesh *mesh, tl_edit edit);  ///< it did, and made these
bool tl_record_empty(const tl_mesh *mesh);
