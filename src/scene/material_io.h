// scene/material_io.h: fabrics from files, from scenes and from the library of the installation.
#pragma once
#include "io/json.h"
#include "toile/scene.h"

/// Reads the fabric at `node`: our own format by its `kind`, or that of Wang et al. 2011. `need_source`: a file must
/// say where its numbers come from. On success *resolved (may be NULL) is a new reference to the fabric written out
/// in full.
tl_status tl_material_read(const tl_node *node, bool need_source, const char *fallback_name, tl_material *out,
                           json_t **resolved, tl_error *err);

/// Reads a fabric file.
tl_status tl_material_open(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_material *out,
                           json_t **resolved, tl_error *err);

/// Finds `name`: a path (with '/' or ending ".json") relative to `dir`, else a fabric of the library: the folder
/// materials/ in $TOILE_DATA, then in the data folder of the build (TL_DATA_DIR).
tl_status tl_material_find(const tl_allocator *alloc, const tl_reader *reader, const char *name, const char *dir,
                           tl_material *out, json_t **resolved, tl_error *err);

/// The fabric in full as kind "measured"; a new reference, NULL when memory runs out.
json_t *tl_material_json(const tl_material *material, const char *source);

/// docs/material.schema.json; a new reference, NULL when memory runs out.
json_t *tl_material_schema(void);
