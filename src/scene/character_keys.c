// scene/character_keys.c: the keys of a character that cloth collides with.

#include <stddef.h>

#include "scene/scene_keys.h"

static const char *const up_words[] = {"auto", "y", "z", "x", NULL};  // as tl_up

static const tl_key_def clip_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "the name of a clip, or \"rest\""},
    {.type = TL_KEY_INT, .min = 0, .max = 1e6, .doc = "the number of a clip, from 0"},
    {0},
};
static const tl_key_def unit_forms[] = {
    {.type = TL_KEY_TEXT, .doc = "auto, m, cm, mm, in or ft"},
    {.type = TL_KEY_REAL, TL_KEY_OPEN_MIN, .min = 0, .max = 1e5, .doc = "metres in one unit"},
    {0},
};
static const tl_key_def bone_item = {.type = TL_KEY_TEXT, .doc = "\"from=to\": joint of the motion, node of the file"};

#define AT(field) offsetof(tl_character_file, field)
static const tl_key_def character_keys[] = {
    {"file", TL_KEY_TEXT, TL_KEY_REQUIRED, AT(file), .doc = "The surface and its rig: .glb, .gltf, .obj, .ply or .stl"},
    {"clip", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = clip_forms,
     .doc = "the name or number of a clip, or \"rest\"; default: motion or cache if there is one, else the first clip"},
    {"motion", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(motion), .doc = "A .bvh file, put on the rig as one more clip"},
    {"bones", TL_KEY_LIST, TL_KEY_OPTIONAL, .min = 1, .item = &bone_item,
     .doc = "Joints of the motion and nodes of the file that belong together but have names that do not show it"},
    {"cache", TL_KEY_TEXT, TL_KEY_OPTIONAL, AT(cache),
     .doc = "A .pc2 or .mdd file, or meshes as walk/%04d.obj: positions of the vertices of file"},
    {"cache_fps", TL_KEY_REAL, TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN, AT(cache_fps), 0, 1e5, .unit = "1/s",
     .doc = "Frames a second of a .pc2; default 25"},
    {"cache_up", TL_KEY_WORD, 0, AT(cache_up), .words = up_words, .text = "auto",
     .doc = "Axis that points up in the cache; auto: as the file's shape says"},
    {"start", TL_KEY_REAL, 0, AT(start), -1e6, 1e6, .unit = "s", .doc = "When the lead-in begins"},
    {"lead_in", TL_KEY_REAL, 0, AT(lead_in), 0, 1e6, .unit = "s",
     .doc = "How long it takes from the rest pose to the first pose of the clip; 0: it begins with that pose"},
    {"speed", TL_KEY_REAL, TL_KEY_OPEN_MIN, AT(speed), 0, 1e4, {1}, .doc = "Of the clip"},
    {"from", TL_KEY_REAL, 0, AT(from), 0, 1e6, .unit = "s", .doc = "The clip begins this far into it"},
    {"mittens", TL_KEY_BOOL, 0, AT(mittens),
     .doc = "Cloth meets hands and toes as closed by their convex hulls, and does not get between fingers"},
    {"flesh", TL_KEY_BOOL, 0, AT(flesh),
     .doc = "Skin gives way where parts of the body come near each other or overlap, so that cloth has room"},
    {"units", TL_KEY_ONE_OF, TL_KEY_OPTIONAL, .item = unit_forms,
     .doc =
         "auto, m, cm, mm, in, ft or metres in one unit of the file; default auto: metres unless no person is so tall"},
    {"up", TL_KEY_WORD, 0, AT(up), .words = up_words, .text = "auto",
     .doc = "Axis of the file that points up; auto: y for glTF, for others y or z, whichever is longer"},
    {0},
};
#undef AT
const tl_key_table tl_character_table = {"surface that a skeleton or a cache moves (docs/bodies.md)", character_keys};
