// io/gltf.h: glTF 2.0, as .gltf with its buffers or .glb, read as a character.
//
// Read: nodes, meshes (triangles, strips, fans), skins, morph targets, animations with all interpolations, sparse and
// normalised accessors, buffers in the file, beside it and as data URIs. Materials, cameras and textures are skipped.
// An extension that the file requires and that is not about looks is refused by name.
#pragma once
#include "body/character.h"
#include "io/file.h"
#include "io/text.h"

#define TL_GLTF_MAX_BYTES (SIZE_MAX > UINT32_MAX ? (size_t)((uint64_t)4 << 30) : (size_t)1 << 30)

typedef struct tl_gltf_source {
    const char *path;  ///< for messages and buffers beside it
    const char *data;  ///< the file
    size_t size;
    const tl_reader *reader;  ///< of other files; NULL: from disk
} tl_gltf_source;

/// Is this a GLB, by its first bytes?
bool tl_gltf_is_binary(const char *data, size_t size);

/// Into an empty character, not welded yet. TL_BAD_INPUT names file and node, accessor, mesh or byte.
tl_status tl_gltf_parse(const tl_gltf_source *source, tl_character *out, tl_error *err);

/// The file with its buffers as one GLB, appended to `out`: reads as the original does, bit for bit.
tl_status tl_gltf_pack(const tl_allocator *alloc, const tl_gltf_source *source, tl_buf *out, tl_error *err);
