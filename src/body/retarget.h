// body/retarget.h: motion of one skeleton put on another.
//
// Joints are paired by name: as the user says, by equal names, else by what the names mean (bones.c). A joint turns in
// the world as its pair does, relative to both rest poses; limbs are first brought to the direction that they have in
// the other's rest pose, so that arms that rest in an A follow arms that rest in a T. The path of the hips is scaled by
// the length of the legs.
#pragma once
#include "body/character.h"

typedef struct tl_mocap_joint {
    char name[TL_RIG_NAME];
    int32_t parent;         ///< in front of this one; -1: the root
    tl_vec3 offset;         ///< from the parent
    int32_t channel;        ///< its first in a frame
    int32_t channel_count;  ///< 0: an end site
    uint8_t axis[6];        ///< of each channel: 0 to 2 position x, y, z; 3 to 5 rotation about x, y, z
} tl_mocap_joint;

typedef struct tl_mocap {
    tl_allocator alloc;
    tl_mocap_joint *joint;
    int32_t joint_count, joint_cap;
    int32_t channel_count, frame_count;
    double frame_seconds;
    double *value;  ///< frame_count times channel_count; lengths of the file, degrees
    int32_t value_cap;
} tl_mocap;
void tl_mocap_free(tl_mocap *m);

/// World rotation and place of every joint in a frame; frame -1: all rotations zero.
void tl_mocap_pose(const tl_mocap *m, int32_t frame, tl_quat *turn, tl_vec3 *place);

/// What the user says about names.
typedef struct tl_bone_map {
    const char *const *pairs;  ///< "from=to"
    int32_t count;
} tl_bone_map;

/// Adds a clip to a character; `name` of the clip. TL_BAD_INPUT if too few joints find a pair, with the names of those
/// that did not.
tl_status tl_retarget(const tl_mocap *m, const char *name, const tl_bone_map *map, tl_character *c, tl_error *err);

/// What a joint is called tells what it is. Sides: 0 middle, 1 left, 2 right.
typedef enum tl_bone {
    TL_BONE_NONE,
    TL_BONE_HIPS,
    TL_BONE_SPINE,
    TL_BONE_NECK,
    TL_BONE_HEAD,
    TL_BONE_COLLAR,
    TL_BONE_UPPER_ARM,
    TL_BONE_FOREARM,
    TL_BONE_HAND,
    TL_BONE_THIGH,
    TL_BONE_SHIN,
    TL_BONE_FOOT,
    TL_BONE_TOE,
    TL_BONE_KINDS,
} tl_bone;
tl_bone tl_bone_of(const char *name, int *side);
