// run/self_crossings.h: where a character goes through itself in a pose: armpits, groin, arms against the trunk.
#pragma once
#include "body/character.h"

enum { TL_SELF_PLACES = 16 };

typedef struct tl_self_place {
    char name[2 * TL_RIG_NAME + 8];  ///< the joints on both sides, "LeftArm, Spine"
    int64_t pairs;
    tl_vec3 at;  ///< the first one [m]
} tl_self_place;

typedef struct tl_self_crossings {
    int64_t pairs;        ///< edges that go through faces, by the exact test
    int32_t place_count;  ///< most crossings first; a 17th pair of joints is not listed
    tl_self_place place[TL_SELF_PLACES];
} tl_self_crossings;

tl_status tl_self_crossings_find(const tl_allocator *alloc, const tl_character *c, const tl_playback *play, double time,
                                 tl_self_crossings *out, tl_error *err);
