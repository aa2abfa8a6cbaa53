// body/partition.h: which bones each vertex of a character follows, heaviest first.
#pragma once
#include "body/character.h"

typedef struct tl_vert_bones {
    int32_t bone[2];  ///< nodes of the skeleton; -1: none
    double weight;    ///< of the first
} tl_vert_bones;

/// One entry per vertex. Without a skeleton (a cache) all are -1.
void tl_character_bones(const tl_character *c, tl_vert_bones *out);
