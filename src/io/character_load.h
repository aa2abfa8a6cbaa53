// io/character_load.h: tl_character_load with allocator and files in the caller's hand.
#pragma once
#include "body/character.h"
#include "io/file.h"

/// The files that a character was read from as one file each, to be written beside a scene: reading these gives the
/// same character.
typedef struct tl_character_files {
    tl_text file, cache, motion;           ///< data NULL: there is none
    char file_ending[8], cache_ending[8];  ///< ".glb"
} tl_character_files;
void tl_character_files_free(const tl_allocator *alloc, tl_character_files *files);

/// `reader` NULL: from disk. `files` may be NULL.
tl_status tl_character_read(const tl_allocator *alloc, const tl_reader *reader, const tl_character_def *def,
                            tl_character **out, tl_character_files *files, tl_error *err);

/// Points of a mesh without a skeleton: all follow one node.
tl_status tl_character_from_mesh(tl_character *c, const tl_vec3 *pos, int32_t verts, const int32_t (*face)[3],
                                 int32_t faces, tl_error *err);

/// Points of a .pc2 or .mdd as its header has them; -1: there is no header.
int64_t tl_point_cache_points(const char *data, size_t size);

/// Is this a name with a number in it, as "walk/%04d.obj"?
bool tl_mesh_sequence_is(const char *path);

/// Numbered meshes of equal faces, from 0 or 1 until one is missing, as the bytes of a PC2 (mesh_sequence.c).
tl_status tl_mesh_sequence_pack(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_text *out,
                                tl_error *err);

/// Positions of all vertices over time into a character that is not welded yet, as one clip named by the path; .pc2
/// or .mdd by its first bytes and ending (point_cache.c).
tl_status tl_point_cache_parse(const char *path, const char *data, size_t size, double fps, tl_character *c,
                               tl_error *err);
