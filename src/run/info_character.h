// run/info_character.h: facts about characters, motions and caches for `toile info`.
#pragma once
#include <jansson.h>

#include "io/file.h"
#include "toile/base.h"

/// Is this a file that one of the functions below describes, by its name or first bytes? OBJ files are not.
bool tl_info_is_character(const char *path, const tl_text *text);

/// Adds facts about a .glb, .gltf, .ply, .stl, .bvh, .pc2 or .mdd.
tl_status tl_info_character(const tl_allocator *alloc, const char *path, const tl_text *text, json_t *facts,
                            tl_error *err);
