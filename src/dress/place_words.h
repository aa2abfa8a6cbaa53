// dress/place_words.h: what the name of a panel says about where it is worn.
#pragma once
#include "toile/pattern.h"

typedef enum tl_worn {
    TL_WORN_UNKNOWN,
    TL_WORN_TORSO,
    TL_WORN_WAIST,  ///< bands
    TL_WORN_HIPS,   ///< skirts: around both legs
    TL_WORN_LEG,
    TL_WORN_ARM,
    TL_WORN_NECK,   ///< collars
    TL_WORN_HEAD,   ///< hoods
    TL_WORN_PATCH,  ///< pockets and the like: on what they are sewn to
} tl_worn;

typedef struct tl_panel_words {
    tl_worn region;
    int side;  ///< 1 left, -1 right, 0 not said
    int face;  ///< 1 front, -1 back, 0 not said
} tl_panel_words;

/// Words may stand apart ("left_sleeve_b"), in camel case or glued together ("lfsleeve").
tl_panel_words tl_words_of(const char *name);

/// Its name, then its label ("body", "arm", "leg").
tl_panel_words tl_panel_words_of(const tl_panel *panel);
