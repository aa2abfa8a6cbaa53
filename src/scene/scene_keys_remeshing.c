// scene/scene_keys_remeshing.c: the keys of adaptive meshes.
// clang-format off: tables with one key a line read best

#include <stddef.h>

#include "scene/scene_keys.h"

// As tl_remeshing_kind and tl_sqrt3_criteria.
static const char *const ties_words[] = {"first", "length", "rest", "curvature", NULL};  // as tl_trees_ties
static const char *const remeshing_words[] = {"none", "anisotropic", "isotropic", "sqrt3", "edge-trees", NULL};
static const char *const criteria_words[] = {"curvature", "all", NULL};
static const char *const masses_words[] = {"auto", "thirds", "voronoi", NULL};  // as tl_masses
static const char *const blend_words[] = {"sum", "max", NULL};                  // as tl_remeshing_blend

// The same keys twice: with defaults for the scene, optional for a cloth.
#define AT(field) offsetof(tl_remeshing_file, field)
#define REMESHING_KEYS(flags)                                                                                            \
    {"kind",                                                                                                             \
     TL_KEY_WORD,                                                                                                        \
     flags,                                                                                                              \
     AT(kind),                                                                                                           \
     .words = remeshing_words,                                                                                           \
     .text = "anisotropic",                                                                                              \
     .doc = "How the mesh follows the cloth: faces drawn out along wrinkles, of even shape, in layers, edges halved, "   \
            "or no change"},                                                                                             \
        {"size_min", TL_KEY_REAL, (flags) | TL_KEY_OPEN_MIN,         AT(size_min), 0, 1e3,                               \
         {0.015},    .unit = "m", .doc = "Shortest length asked for"},                                                   \
        {"size_max", TL_KEY_REAL, (flags) | TL_KEY_OPEN_MIN, AT(size_max), 0, 1e3,                                       \
         {0.2},      .unit = "m", .doc = "Longest edge"},                                                                \
        {"aspect_min",                                                                                                   \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(aspect_min),                                                                                                 \
         0,                                                                                                              \
         1,                                                                                                              \
         {0.1},                                                                                                          \
         .doc = "How thin faces may be: shorter over longer length at one place"},                                       \
        {"curvature",                                                                                                    \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(curvature),                                                                                                  \
         0,                                                                                                              \
         1e9,                                                                                                            \
         {0.15},                                                                                                         \
         .unit = "rad",                                                                                                  \
         .doc = "Largest change of the normal along an edge; a large number switches the criterion off, as for the "     \
                "next two"},                                                                                             \
        {"velocity",                                                                                                     \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(velocity),                                                                                                   \
         0,                                                                                                              \
         1e9,                                                                                                            \
         {0.7},                                                                                                          \
         .unit = "m/s",                                                                                                  \
         .doc = "Largest change of velocity along an edge"},                                                             \
        {"compression",                                                                                                  \
         TL_KEY_REAL,                                                                                                    \
         TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN,                                                                              \
         AT(compression),                                                                                                \
         0,                                                                                                              \
         1e9,                                                                                                            \
         .unit = "m",                                                                                                    \
         .doc = "The smaller, the finer the mesh where cloth is pushed together; default: as the fabric buckles"},       \
        {"narrowing",                                                                                                    \
         TL_KEY_BOOL,                                                                                                    \
         flags,                                                                                                          \
         AT(narrowing),                                                                                                  \
         .number = {1},                                                                                                  \
         .doc = "With compression: cloth that only gets narrower as it is pulled counts as pushed together"},            \
        {"rib_stiffening",                                                                                               \
         TL_KEY_REAL,                                                                                                    \
         flags,                                                                                                          \
         AT(rib_stiffening),                                                                                             \
         0,                                                                                                              \
         1e6,                                                                                                            \
         .doc = "With compression: how much of it curvature across takes away"},                                         \
        {"edge_angles", TL_KEY_BOOL, flags, AT(edge_angles),                                                             \
         .doc = "Curvature is measured at edges too, which sees folds to and fro"},                                      \
        {"obstacles", TL_KEY_BOOL, flags, AT(obstacles), .number = {1}, .doc = "Finer near obstacles"},                  \
        {"obstacle_gap",                                                                                                 \
         TL_KEY_REAL,                                                                                                    \
         flags,                                                                                                          \
         AT(obstacle_gap),                                                                                               \
         0,                                                                                                              \
         1e3,                                                                                                            \
         .unit = "m",                                                                                                    \
         .doc = "Cloth nearer to an obstacle than this is no finer for it; 0: half its thickness"},                      \
        {"blend",                                                                                                        \
         TL_KEY_WORD,                                                                                                    \
         flags,                                                                                                          \
         AT(blend),                                                                                                      \
         .words = blend_words,                                                                                           \
         .text = "max",                                                                                                  \
         .doc = "How the criteria are put together"},                                                                    \
        {"hysteresis",                                                                                                   \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MAX,                                                                                      \
         AT(hysteresis),                                                                                                 \
         0,                                                                                                              \
         1,                                                                                                              \
         {0.2},                                                                                                          \
         .doc = "Nothing is made coarser that would come within this of being too long"},                                \
        {"interval",                                                                                                     \
         TL_KEY_REAL,                                                                                                    \
         TL_KEY_OPTIONAL | TL_KEY_OPEN_MIN,                                                                              \
         AT(interval),                                                                                                   \
         0,                                                                                                              \
         1e6,                                                                                                            \
         .unit = "s",                                                                                                    \
         .doc = "Time between two looks at the mesh; default: one frame"},                                               \
        {"patience",                                                                                                     \
         TL_KEY_INT,                                                                                                     \
         flags,                                                                                                          \
         AT(patience),                                                                                                   \
         1,                                                                                                              \
         1000000,                                                                                                        \
         {1},                                                                                                            \
         .doc = "A mesh that still serves goes without a pass for up to so many looks; 1: every look is a pass"},        \
        {"max_faces",                                                                                                    \
         TL_KEY_INT,                                                                                                     \
         flags,                                                                                                          \
         AT(max_faces),                                                                                                  \
         0,                                                                                                              \
         2147483647,                                                                                                     \
         {0},                                                                                                            \
         .doc =                                                                                                          \
             "No more faces by refining; the whole cloth is made coarser to keep to it, up to size_max; 0: no limit"},   \
        {"error",   TL_KEY_REAL, (flags) | TL_KEY_OPEN_MIN,                                                              \
         AT(error), 0,           1e3,                                                                                    \
         {0.002},   .unit = "m", .doc = "sqrt3: how far chords may be off the surface"},                                 \
        {"layers", TL_KEY_INT, flags, AT(layers), 1, 12, {5}, .doc = "sqrt3: of triangles, that of the input included"}, \
        {"criteria",                                                                                                     \
         TL_KEY_WORD,                                                                                                    \
         flags,                                                                                                          \
         AT(criteria),                                                                                                   \
         .words = criteria_words,                                                                                        \
         .text = "all",                                                                                                  \
         .doc = "sqrt3: the error of chords alone, or compression, velocity and obstacles as well"},                     \
        {"masses",                                                                                                       \
         TL_KEY_WORD,                                                                                                    \
         flags,                                                                                                          \
         AT(masses),                                                                                                     \
         .words = masses_words,                                                                                          \
         .text = "auto",                                                                                                 \
         .doc = "Mass of a face to its corners: thirds, or voronoi, by what is nearest; auto: voronoi with sqrt3"},      \
        {"levels", TL_KEY_INT, flags, AT(levels),                                                                        \
         0,        8,          {3},   .doc = "Of edge-trees, as are the next three: how often an edge may be halved"},   \
        {"split_length",                                                                                                 \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(split_length),                                                                                               \
         0,                                                                                                              \
         1e6,                                                                                                            \
         {0.98},                                                                                                         \
         .doc = "Edges pushed together to less than this times their length at rest are halved"},                        \
        {"join_length",                                                                                                  \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(join_length),                                                                                                \
         0,                                                                                                              \
         1e6,                                                                                                            \
         {0.99},                                                                                                         \
         .doc = ".. and joined again above this"},                                                                       \
        {"rejoin_wait",                                                                                                  \
         TL_KEY_INT,                                                                                                     \
         flags,                                                                                                          \
         AT(rejoin_wait),                                                                                                \
         0,                                                                                                              \
         255,                                                                                                            \
         {10},                                                                                                           \
         .doc = "Looks between two attempts to join an edge"},                                                           \
        {"obstacle_levels",                                                                                              \
         TL_KEY_INT,                                                                                                     \
         flags,                                                                                                          \
         AT(obstacle_levels),                                                                                            \
         0,                                                                                                              \
         8,                                                                                                              \
         {0},                                                                                                            \
         .doc = "Of edge-trees: the same for edges that reach into obstacles; 0: as levels"},                            \
        {"length_per_level",                                                                                             \
         TL_KEY_REAL,                                                                                                    \
         (flags) | TL_KEY_OPEN_MIN,                                                                                      \
         AT(length_per_level),                                                                                           \
         0,                                                                                                              \
         1,                                                                                                              \
         {1},                                                                                                            \
         .doc = "Of edge-trees: split_length and join_length shrink by this with every level"},                          \
        {"sag",                                                                                                          \
         TL_KEY_REAL,                                                                                                    \
         flags,                                                                                                          \
         AT(sag),                                                                                                        \
         0,                                                                                                              \
         1,                                                                                                              \
         {0},                                                                                                            \
         .doc = "Of edge-trees: how far the cloth may stand off an edge, in place of "                                   \
                "curvature and lengths; 0: by those"},                                                                   \
        {"always_join",   TL_KEY_BOOL,   flags,                                                                          \
         AT(always_join), .number = {0}, .doc = "Of edge-trees: edges are joined whenever nothing would halve them"},    \
        {"locked",                                                                                                       \
         TL_KEY_BOOL,                                                                                                    \
         flags,                                                                                                          \
         AT(locked),                                                                                                     \
         .number = {0},                                                                                                  \
         .doc = "Of edge-trees: edges beside coarser triangles wait until those are halved for reasons of their own, "   \
                "as published; false: they are halved for them"},                                                        \
        {"ties",                                                                                                         \
         TL_KEY_WORD,                                                                                                    \
         flags,                                                                                                          \
         AT(ties),                                                                                                       \
         .words = ties_words,                                                                                            \
         .text = "first",                                                                                                \
         .doc = "Of edge-trees: which diagonal a face with two halved edges gets: always the same, the shorter in "      \
                "space or in the material, or from the more curved edge"},                                               \
    {                                                                                                                    \
        0                                                                                                                \
    }
static const tl_key_def remeshing_keys[] = {REMESHING_KEYS(0)};
static const tl_key_def cloth_remeshing_keys[] = {REMESHING_KEYS(TL_KEY_OPTIONAL)};
const tl_key_table tl_remeshing_table = {"adaptive meshes", remeshing_keys};
const tl_key_table tl_cloth_remeshing_table = {"adaptive mesh of one cloth; what is not given is as the scene says",
                                               cloth_remeshing_keys};
#undef AT
