// toile/character.h: characters: a surface moved by a skeleton, morph targets or a point cache, as a body for cloth.
//
// Read from glTF 2.0 (.glb, .gltf), OBJ, PLY and STL, with motion from the file's own clips, BVH, PC2 or MDD
// (docs/bodies.md). SI units, right-handed, y up once read.
#pragma once
#include "toile/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_character tl_character;  // opaque; never changes once read, so several threads may use it

typedef enum tl_up { TL_UP_AUTO, TL_UP_Y, TL_UP_Z, TL_UP_X } tl_up;

/// What to read. Start from tl_character_def_default().
typedef struct tl_character_def {
    uint32_t struct_size;  ///< filled in by the default function, do not set
    const char *file;      ///< .glb, .gltf, .obj, .ply or .stl. Required.
    /// .pc2 or .mdd with positions of the vertices of `file`, in its order, or meshes with a number in their name,
    /// as "walk/%04d.obj", counted from 0 or 1; NULL: none
    const char *cache;
    const char *motion;  ///< .bvh, put on the skeleton of `file` as one more clip; NULL: none
    double unit;         ///< length of one unit of `file` [m]; 0: found out. Default 0.
    tl_up up;            ///< axis of `file` that points up. Default TL_UP_AUTO.
    double cache_fps;    ///< frames a second of a .pc2 or of meshes, 0: 25. An .mdd has times of its own.
    tl_up cache_up;      ///< axis that points up in the cache. Default TL_UP_AUTO: as `file`.
    /// "from=to": the joint `from` of the .bvh moves the joint `to` of `file`, before names are compared.
    const char *const *bones;
    int32_t bone_count;
} tl_character_def;
TL_API void tl_character_def_init(tl_character_def *def, size_t size);  ///< the defaults, as far as `size` bytes go
static inline tl_character_def tl_character_def_default(void)
{
    tl_character_def def;
    tl_character_def_init(&def, sizeof def);
    return def;
}

/// Of the library toile alone, which reads files. TL_BAD_INPUT names the file and in it the node, accessor, line or
/// byte. `*out` is NULL on failure.
TL_API tl_status tl_character_load(const tl_character_def *def, tl_character **out, tl_error *err);
TL_API void tl_character_destroy(tl_character *character);  ///< NULL is fine

enum { TL_CHARACTER_NOTES = 24, TL_CHARACTER_NOTE = 320 };

/// What was found and what was done about it.
typedef struct tl_character_facts {
    int32_t nodes, skins, joints, meshes, morphs;
    int32_t file_verts, file_faces;  ///< before welding
    int32_t welded;                  ///< vertices merged into others
    int32_t dropped_faces;           ///< without three different corners
    int32_t open_edges;              ///< with one face
    int32_t crowded_edges;           ///< with more than two faces
    int32_t reversed_edges;          ///< whose two faces disagree about which side is out
    double volume;                   ///< enclosed at rest [m^3]; < 0: faces look inwards
    double height;                   ///< at rest [m]
    tl_vec3 low, high;               ///< at rest [m]
    double unit;                     ///< [m]
    tl_up up;
    int32_t note_count;
    char note[TL_CHARACTER_NOTES][TL_CHARACTER_NOTE];  ///< warnings, one sentence each
} tl_character_facts;
TL_API const tl_character_facts *tl_character_facts_of(const tl_character *character);

TL_API int32_t tl_character_vert_count(const tl_character *character);
TL_API int32_t tl_character_face_count(const tl_character *character);
/// Vertices of the faces, counter-clockwise from outside; belongs to the character.
TL_API const int32_t (*tl_character_faces(const tl_character *character))[3];

TL_API int32_t tl_character_clip_count(const tl_character *character);
TL_API const char *tl_character_clip_name(const tl_character *character, int32_t clip);  ///< "" if it has none
TL_API double tl_character_clip_seconds(const tl_character *character, int32_t clip);
TL_API int32_t tl_character_find_clip(const tl_character *character, const char *name);  ///< -1: there is none

TL_API int32_t tl_character_node_count(const tl_character *character);
TL_API const char *tl_character_node_name(const tl_character *character, int32_t node);
TL_API int32_t tl_character_node_parent(const tl_character *character, int32_t node);  ///< -1: none

/// How a clip runs in simulated time. Before `start` the character rests; during the lead-in it goes smoothly from
/// the rest pose to the first pose of the clip; then the clip runs, and its last pose stays.
typedef struct tl_playback {
    int32_t clip;    ///< -1: the rest pose at all times
    double start;    ///< [s]
    double lead_in;  ///< [s], >= 0; 0: it begins with the clip's first pose
    double speed;    ///< of the clip's clock, > 0
    double from;     ///< the clip begins this far into it [s], >= 0
} tl_playback;
TL_API tl_playback tl_playback_default(void);  ///< rest pose; speed 1, all else 0

/// Positions at a time of the simulation [s], tl_character_vert_count of them.
TL_API tl_status tl_character_pose(const tl_character *character, const tl_playback *play, double time, tl_vec3 *out,
                                   tl_error *err);

/// The node whose joint moves a vertex most; -1: none does.
TL_API int32_t tl_character_vert_node(const tl_character *character, int32_t vert);

#ifdef __cplusplus
}
#endif
