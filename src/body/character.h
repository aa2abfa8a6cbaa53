// body/character.h: what is inside a tl_character: a skeleton, a surface that follows it, and clips of motion.
//
// Everything a reader finds becomes one of these flat arrays, so that posing does not know of files. Nodes stand
// behind their parents. A vertex follows joints: a joint is a node with the map from the surface's rest to the node's
// frame (its inverse bind matrix); a mesh that no skin moves follows its own node alone. Morph weights of all meshes
// stand in one list. A cache replaces skeleton and clips: positions of all vertices at increasing times.
#pragma once
#include <stdbool.h>

#include "base/hash.h"
#include "math/affine.h"
#include "toile/character.h"

enum { TL_RIG_NAME = 64 };

typedef struct tl_rig_node {
    char name[TL_RIG_NAME];
    int32_t parent;      ///< in front of this one; -1: none
    uint32_t by_matrix;  ///< 1: `matrix` is its local map at all times, 0: `rest` and clips say it
    tl_trs rest;
    tl_affine matrix;
} tl_rig_node;

typedef struct tl_rig_joint {
    int32_t node, skin;  ///< skin -1: of a mesh without one
    tl_affine bind;      ///< inverse bind matrix
} tl_rig_joint;

typedef struct tl_rig_vert {
    tl_vec3 pos;                   ///< in the frame that `bind` maps from
    int32_t weight, weight_count;  ///< entries of tl_character.weight
    int32_t delta, delta_count;    ///< entries of tl_character.delta
} tl_rig_vert;

typedef struct tl_rig_weight {
    int64_t joint;
    double weight;  ///< >= 0; those of a vertex sum to 1
} tl_rig_weight;

typedef struct tl_rig_delta {
    int64_t morph;  ///< entry of tl_character.morph
    tl_vec3 move;
} tl_rig_delta;

typedef struct tl_rig_face {
    int32_t v[3];
} tl_rig_face;

typedef enum tl_clip_path { TL_PATH_MOVE, TL_PATH_TURN, TL_PATH_SCALE, TL_PATH_MORPH } tl_clip_path;
typedef enum tl_clip_curve { TL_CLIP_STEP, TL_CLIP_LINEAR, TL_CLIP_CUBIC } tl_clip_curve;

/// One property of one node over time. Values: key_count times `width` numbers, three times as many for a cubic curve
/// (tangent in, value, tangent out).
typedef struct tl_clip_channel {
    int32_t target;  ///< node; of morph weights the first of them
    int32_t path, curve, width;
    int32_t time, key_count;  ///< entries of tl_character.time
    int64_t value;            ///< first entry of tl_character.value
} tl_clip_channel;

typedef struct tl_clip {
    char name[TL_RIG_NAME];
    int32_t channel, channel_count;
    double begin, end;  ///< [s]
} tl_clip;

typedef struct tl_cache_point {
    float x, y, z;
} tl_cache_point;

/// The arrays, in the order of the fields below.
typedef enum tl_rig_array {
    TL_RIG_NODES,
    TL_RIG_JOINTS,
    TL_RIG_VERTS,
    TL_RIG_WEIGHTS,
    TL_RIG_DELTAS,
    TL_RIG_MORPHS,
    TL_RIG_FACES,
    TL_RIG_CLIPS,
    TL_RIG_CHANNELS,
    TL_RIG_TIMES,
    TL_RIG_VALUES,
    TL_RIG_CACHE_TIMES,
    TL_RIG_CACHE_POINTS,
    TL_RIG_SOURCES,
    TL_RIG_ARRAYS,
} tl_rig_array;

struct tl_character {
    tl_allocator alloc;
    tl_rig_node *node;
    tl_rig_joint *joint;
    tl_rig_vert *vert;
    tl_rig_weight *weight;
    tl_rig_delta *delta;
    double *morph;  ///< weights at rest
    tl_rig_face *face;
    tl_clip *clip;
    tl_clip_channel *channel;
    double *time;
    double *value;
    double *cache_time;           ///< [s]
    tl_cache_point *cache_point;  ///< count of cache_time times vertices
    int32_t *source;              ///< vertex of every vertex of the file, once welded; -1: in no face
    int32_t count[TL_RIG_ARRAYS];
    int32_t cap[TL_RIG_ARRAYS];
    tl_affine place;  ///< units and axes of the file to metres, y up
    tl_character_facts facts;
};

tl_character *tl_character_create(const tl_allocator *alloc);

/// A warning; the last one says so when there are too many.
void tl_character_note(tl_character *c, const char *format, ...) TL_PRINTF(2, 3);

/// `n` more entries, zeroed, of an array that a reader fills; NULL when memory runs out or there are too many.
void *tl_character_push(tl_character *c, tl_rig_array array, int64_t n);

/// The same on another allocator; NULL when memory runs out.
tl_character *tl_character_copy(const tl_allocator *alloc, const tl_character *c);

/// Everything turned, scaled and moved once more, after units and axes.
void tl_character_transform(tl_character *c, const tl_affine *map);

/// Of everything that shapes positions and faces.
void tl_character_hash(const tl_character *c, tl_hash *hash);

/// Merges vertices that are in one place in every pose, leaves out those in no face and faces without three corners,
/// and notes how many (weld.c).
tl_status tl_character_weld(tl_character *c, tl_error *err);

/// Room for one pose; belongs to one thread.
typedef struct tl_poser tl_poser;
tl_poser *tl_poser_create(const tl_allocator *alloc, const tl_character *c);
void tl_poser_destroy(tl_poser *poser);  ///< NULL is fine

/// Positions of all vertices at a time of the simulation.
void tl_poser_at(tl_poser *poser, const tl_character *c, const tl_playback *play, double time, tl_vec3 *out);

/// The frames of the nodes in the pose that was asked for last, without units and axes; NULL for a cache.
const tl_affine *tl_poser_frames(const tl_poser *poser);

/// Where one property of a clip is at a time [s]: `width` numbers.
void tl_clip_sample(const tl_character *c, const tl_clip_channel *channel, double time, double *out);
