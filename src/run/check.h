// run/check.h: inside of the check of a run's folder: meshes of a frame, and what was found in it.
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/workers.h"
#include "detect/bvh/bvh.h"
#include "io/file.h"
#include "io/obj.h"
#include "toile/run.h"

typedef enum tl_check_kind {
    TL_CHECK_MISSING,
    TL_CHECK_MISSING_BODY,
    TL_CHECK_UNREADABLE,
    TL_CHECK_NOT_FINITE,
    TL_CHECK_DEGENERATE,
    TL_CHECK_INVERTED,
    TL_CHECK_STRAIN,
    TL_CHECK_ABSURD_FACE,   ///< strained beyond all reason
    TL_CHECK_ABSURD_CLOTH,  ///< more than a hundredth of its area is
    TL_CHECK_CLOTH_CLOTH,
    TL_CHECK_CLOTH_BODY,
    TL_CHECK_PINCHED,        ///< crossings; told, but no faults if allowed
    TL_CHECK_PINCHED_NODES,  ///< likewise
    TL_CHECK_KINDS
} tl_check_kind;

/// Several meshes of one frame as one surface. Faces with a node that is not finite or that comes twice are left out:
/// they are findings by themselves.
typedef struct tl_check_surface {
    tl_allocator alloc;
    tl_obj *mesh;       ///< owned
    const char **name;  ///< of each mesh, borrowed texts
    int32_t mesh_count, mesh_cap, name_cap;
    int32_t *first_node, *first_face;  ///< of each mesh, counted as in the files; mesh_count + 1 entries
    tl_vec3 *x;                        ///< all nodes
    int32_t (*node_face)[3];           ///< all faces by nodes of `x`, as in the files
    int32_t (*face)[3];                ///< those that take part
    int32_t *face_id;                  ///< where they are in node_face
    int32_t (*edge)[2];
    int32_t *edge_face;  ///< the first face at an edge, into node_face
    uint8_t *pinched;    ///< per node
    tl_surface surface;
    tl_bvh *bvh;  ///< NULL: no faces
} tl_check_surface;

void tl_check_surface_init(tl_check_surface *s, const tl_allocator *alloc);
void tl_check_surface_free(tl_check_surface *s);
/// Takes over the mesh; `name` must live as long as the surface.
tl_status tl_check_surface_add(tl_check_surface *s, tl_obj *mesh, const char *name, tl_error *err);
/// After the last mesh.
tl_status tl_check_surface_build(tl_check_surface *s, tl_workers *workers, tl_error *err);
/// The mesh that a face (as in node_face) belongs to.
int32_t tl_check_mesh_of_face(const tl_check_surface *s, int32_t face);

/// One finding for the report. Ids count from 0 within their mesh; -1: does not apply.
typedef struct tl_check_item {
    tl_check_kind kind;
    char first[64], second[64];  ///< names of meshes, "" if there is none
    int32_t first_face, first_edge[2], second_face, node;
    tl_vec3 position;
} tl_check_item;

/// What was found in one frame.
typedef struct tl_frame_check {
    tl_status status;
    tl_error err;
    int64_t frame, faces, nodes;
    int64_t count[TL_CHECK_KINDS];
    double strain_min, strain_max;
    double strain_min_99, strain_max_99;  ///< that all but a hundredth of the area of every cloth keeps to
    char first[512];                      ///< the first fault in words
    tl_check_item *items;                 ///< at most list_max
    int32_t item_count, item_cap;
} tl_frame_check;

/// A still obstacle is loaded once; others when their frame comes.
typedef struct tl_check_obstacle {
    char name[64];
    int32_t *frames;  ///< that have a file, ascending
    int32_t count, cap;
    bool moves;           ///< must have a file at every frame; a still one at frame 0 alone
    bool loaded, broken;  ///< `surface` is ready; it could not be read
    tl_error why;
    tl_check_surface surface;
} tl_check_obstacle;

typedef struct tl_check_context {
    tl_allocator alloc;
    const tl_check_def *def;
    char (*names)[64];  ///< of cloths, sorted
    int32_t name_count, name_cap;
    double (*limits)[2];           ///< by name: least and largest strain that the scene allows; NULL: not known
    tl_check_obstacle *obstacles;  ///< sorted by name
    int32_t obstacle_count, obstacle_cap;
    int64_t last;  ///< largest frame number, -1: none
    bool refined;  ///< finer surfaces of another folder: strain is not judged
} tl_check_context;

/// Reads a mesh as it is. TL_NO_MEMORY apart, a failure means that the file is at fault.
tl_status tl_check_load(const tl_check_context *cx, const char *path, tl_obj *out, tl_error *err);
/// Is there a file of this very frame?
bool tl_check_obstacle_has(const tl_check_obstacle *o, int64_t frame);

/// Looks at one frame; out->status is other than TL_OK when it could not be done at all. The caller frees out->items.
/// Is it a fault, or told only?
bool tl_check_is_fault(const tl_check_def *def, tl_check_kind kind);
void tl_check_frame(const tl_check_context *cx, int64_t frame, tl_workers *workers, tl_frame_check *out);
