// respond/push_out/search.h: the structures of Simnett 2012 that find faces of a body near a place: bone cylinders and
// sphere trees over the rigid and deformable parts of a character (sec. 5.3), and a grid for what is rigid (sec. 4.4).
//
// They answer exactly what the tree of boxes answers (detect/nearest.h), to the bit: all are supersets of what is near,
// whatever the radius, and the nearest point of the candidates is taken. Every face is in exactly one structure.
#pragma once
#include "detect/nearest.h"

typedef enum tl_search_kind {
    TL_SEARCH_GRID,   ///< the body moves rigidly: cells in its own frame
    TL_SEARCH_BONES,  ///< faces that follow one bone in its cylinder, the others in a sphere tree per pair of bones
} tl_search_kind;

typedef struct tl_search_def {
    tl_search_kind kind;
    int32_t node_count, face_count;
    const int32_t (*face)[3];  ///< borrowed for as long as the search lives
    const tl_vec3 *rest;       ///< [m] bind pose
    const int32_t (*bone)[2];  ///< of nodes, heaviest first, -1: none; NULL: none of any
    const double *weight;      ///< of the first of them
    double dominance;          ///< nodes with at least this weight belong to one bone. Default 0.98.
    double reach;              ///< [m] lists hold what is as near as this to a cell. Default 0.034.
    double stack;              ///< [m] height of a stack at most. Default 0.02.
    int32_t slices, cells;     ///< of a stack; of a grid along each axis. Default 32, 32.
} tl_search_def;
tl_search_def tl_search_def_default(void);

typedef struct tl_search tl_search;
tl_status tl_search_create(const tl_allocator *alloc, const tl_search_def *def, tl_search **out, tl_error *err);
void tl_search_destroy(tl_search *s);  ///< NULL is fine

/// The body is now here; `now` is borrowed until the next fit.
void tl_search_fit(tl_search *s, const tl_vec3 *now);

/// As tl_bvh_nearest and tl_bvh_around.
tl_nearest_spot tl_search_nearest(const tl_search *s, tl_vec3 p, double radius, int32_t hint);
int32_t tl_search_around(const tl_search *s, tl_vec3 lo, tl_vec3 hi, int32_t *faces, int32_t max);

/// Faces of a grid in the cells that a straight path goes through; -1: no grid, or the body has moved since.
int32_t tl_search_path(const tl_search *s, tl_vec3 from, tl_vec3 to, int32_t *faces, int32_t max);

typedef struct tl_search_facts {
    int32_t cylinders, cylinder_faces, trees, tree_faces, cells, cell_faces;
    double slack;  ///< [m] how far nodes of cylinders or of a grid are from where a rigid body would have them
    int64_t bytes;
} tl_search_facts;
tl_search_facts tl_search_look(const tl_search *s);

/// Looks whether every face is in one structure and every structure encloses what it holds. For tests.
tl_status tl_search_check(const tl_search *s, tl_error *err);
