// body/retarget_impl.h: what the parts of retargeting share.
#pragma once
#include "body/retarget.h"

typedef struct retargeting {
    const tl_mocap *m;
    tl_character *c;
    int32_t node_count, frame_count;
    int32_t *pair;                      ///< of every node: the source's joint that moves it, -1: none
    int32_t by_bone[3][TL_BONE_KINDS];  ///< by side: our node, if it has a pair; -1: none
    int32_t hips;
    tl_quat *rest, *world;  ///< world rotations of our nodes at rest and in the present frame
    tl_quat *align;         ///< of limbs to the source's rest
    tl_vec3 *place;         ///< of our nodes at rest
    tl_affine *frame;
    tl_trs *local;
    tl_quat *source_turn;  ///< in the present frame
    tl_vec3 *source_rest;
    tl_quat turn;         ///< from the source's axes to ours
    tl_quat face;         ///< about the vertical: the motion begins as our rest pose faces
    tl_vec3 up, forward;  ///< of ours
} retargeting;

/// Fills pair, by_bone and hips (pairing.c).
tl_status tl_retarget_pair(retargeting *r, const tl_bone_map *map, tl_error *err);
