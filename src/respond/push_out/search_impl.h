// respond/push_out/search_impl.h: what the searches hold, for the files of respond/push_out alone.
#pragma once
#include "base/fail.h"
#include "math/frame.h"
#include "respond/push_out/search.h"

/// A part that moves as one: its nodes, where they are in its own axes, and three of them that tell where it is.
typedef struct search_part {
    int32_t ref[3], node_count;
    int32_t *node;
    tl_vec3 *local;
    tl_frame own;  ///< its own axes in those of the three nodes
    tl_frame at;   ///< its own axes now
    double slack;  ///< [m] the most that a node is off
} search_part;

/// Nodes of `face` entries listed in `list`, each once. False: too flat for a frame (nothing is kept).
tl_status search_part_make(const tl_allocator *alloc, const tl_search_def *def, const int32_t *list, int32_t count,
                           search_part *out, bool *fits, tl_error *err);
void search_part_free(const tl_allocator *alloc, search_part *p);
/// Its own axes: z along `along`, through `origin`, both in the bind pose.
void search_part_turn(search_part *p, const tl_vec3 *rest, tl_vec3 origin, tl_vec3 along);
void search_part_fit(search_part *p, const tl_vec3 *now);

/// Lists of faces per cell.
typedef struct search_lists {
    int32_t cells, count;
    int32_t *start;  ///< of cell c: face[start[c]] to face[start[c + 1] - 1]; one more for filling
    int32_t *face;
} search_lists;

typedef struct search_cylinder {
    search_part part;
    double lo, hi, height, radius;  ///< along z, of a stack, of all
    int32_t stacks, slices, face_count;
    int32_t *face;
    tl_vec2 *center;       ///< of stacks, x and y
    double *stack_radius;  ///< about it
    double *slice_radius;
    search_lists lists;
} search_cylinder;

typedef struct search_sphere {
    tl_vec3 center;
    double radius;
    int32_t child[2];  ///< spheres; [0] -1: a leaf with face [1]
} search_sphere;

typedef struct search_tree {
    search_sphere *sphere;  ///< children behind parents
    int32_t count, cap;
} search_tree;

typedef struct search_grid {
    search_part part;
    tl_vec3 lo, cell;
    int32_t n;
    search_lists lists;
} search_grid;

struct tl_search {
    tl_allocator alloc;
    tl_search_def def;
    const tl_vec3 *now;
    search_cylinder *cylinder;
    int32_t cylinder_count;
    search_tree *tree;
    int32_t tree_count;
    int32_t group_count;  ///< room for that many of both
    search_grid grid;
    bool has_grid;
};

/// The nearest so far.
typedef struct search_query {
    const tl_search *s;
    tl_vec3 p;
    double best2;
    tl_nearest_spot best;
} search_query;

/// Faces that may meet a ball; takes each as often as it is listed.
typedef struct search_ball {
    tl_vec3 center;
    double radius;
    void (*take)(void *self, int32_t face);
    double (*left)(void *self);  ///< radius that is still of interest
    void *self;
} search_ball;

tl_status search_cylinder_make(tl_search *s, const int32_t *list, int32_t count, search_cylinder *out, bool *fits,
                               tl_error *err);
void search_cylinder_free(const tl_allocator *alloc, search_cylinder *c);
void search_cylinder_visit(const tl_search *s, const search_cylinder *c, const search_ball *ball);

tl_status search_tree_make(tl_search *s, int32_t *list, int32_t count, search_tree *out, tl_error *err);
void search_tree_fit(const tl_search *s, search_tree *t);
void search_tree_visit(const search_tree *t, const search_ball *ball);
tl_status search_tree_check(const tl_search *s, const search_tree *t, tl_error *err);

tl_status search_grid_make(tl_search *s, search_grid *out, bool *fits, tl_error *err);
void search_grid_free(const tl_allocator *alloc, search_grid *g);
void search_grid_visit(const search_grid *g, const search_ball *ball);
int32_t search_grid_path(const search_grid *g, tl_vec3 from, tl_vec3 to, int32_t *faces, int32_t max);

/// Lists of `cells` cells: `fill` is called for every face in two passes, and puts it wherever it belongs.
typedef void search_fill(void *self, int32_t face, search_lists *lists);
tl_status search_lists_make(const tl_allocator *alloc, int32_t cells, const int32_t *face, int32_t count,
                            search_fill *fill, void *self, search_lists *out, tl_error *err);
void search_lists_put(search_lists *l, int32_t cell, int32_t face);
void search_lists_free(const tl_allocator *alloc, search_lists *l);
