// scene/arcsim/arcsim_impl.h: what the parts of the ARCSim reader share.
#pragma once
#include "scene/arcsim/arcsim.h"
#include "scene/arcsim/arcsim_keys.h"
#include "math/vec3.h"

/// Stages that a scene can switch off, as bits by their place in arc_stages.
typedef enum arc_stage {
    ARC_PROXIMITY,
    ARC_PHYSICS,
    ARC_STRAIN,
    ARC_COLLISION,
    ARC_REMESHING,
    ARC_SEPARATION,
    ARC_POPFILTER,
    ARC_PLASTICITY
} arc_stage;

typedef struct arcsim {
    const tl_allocator *alloc;
    const tl_reader *reader;  ///< NULL: from disk
    const char *path;
    tl_notes *notes;
    tl_error *err;
    tl_arc_scene file;
    unsigned disabled;     ///< bits of arc_stage
    json_t *out;           ///< the scene under construction
    json_t *motions;       ///< list of lists of poses as ours
    bool stiffness_given;  ///< magic.handle_stiffness
    double last_key;       ///< time of the last key of any motion, 0 without
    bool no_memory;
} arcsim;

static inline bool arc_disabled(const arcsim *a, arc_stage stage) { return a->disabled >> stage & 1; }

// arcsim_read.c

/// Reads an object by `table` as tl_table_read, but keys that are not in it, and those that have no effect, give a note
/// and go.
tl_status arc_read(arcsim *a, const tl_node *node, const tl_key_table *table, void *out);
void arc_strip(arcsim *a, const tl_node *node, const tl_key_table *table);

/// A note with the place of `node` in front; one about each subject.
void arc_note(arcsim *a, const char *about, const tl_node *node, const char *format, ...) TL_PRINTF(4, 5);

/// Finds a file by the name in `node`: in the folder of the scene, those above it, the current folder.
tl_status arc_find(arcsim *a, const tl_node *node, char out[TL_PATH_MAX]);
/// The same for a name that is not in the scene; false: there is none.
bool arc_find_name(const arcsim *a, const char *name, char out[TL_PATH_MAX]);

/// Can the path stand in a scene? Only what is UTF-8 can.
tl_status arc_check_path(arcsim *a, const tl_node *node, const char *path);

/// Puts a value, whose reference is taken over, into an object or list. NULL: memory has run out.
void arc_put(arcsim *a, json_t *object, const char *key, json_t *value);
void arc_append(arcsim *a, json_t *list, json_t *value);
json_t *arc_vec3(tl_vec3 v);
json_t *arc_rotation(const double rotate[4]);

// arcsim_turn.c: from z up to y up, and rotations

/// (x, y, z) with z up as (x, z, -y) with y up.
static inline tl_vec3 arc_up(tl_vec3 v) { return (tl_vec3){v.x + 0, v.z + 0, 0 - v.y}; }  // no minus zero

typedef struct arc_quaternion {
    double w;
    tl_vec3 v;
} arc_quaternion;
arc_quaternion arc_quaternion_of(const double rotate[4]);
arc_quaternion arc_quaternion_product(arc_quaternion a, arc_quaternion b);
tl_vec3 arc_quaternion_turn(arc_quaternion q, tl_vec3 v);
/// Degrees and axis of a unit quaternion; degrees in [0, 720), so that the same quaternion comes of them again, sign
/// and all.
void arc_rotation_of(arc_quaternion q, double rotate[4]);

/// `transform` of a mesh as ours: what the file says, then the turn from z up to y up.
json_t *arc_transform(const tl_transform_file *t);
tl_status arc_check_rotation(const tl_node *object, const tl_transform_file *t, tl_error *err);

// The parts of a scene.
tl_status arc_read_motions(arcsim *a, const tl_node *root);
tl_status arc_read_cloths(arcsim *a, const tl_node *root);
tl_status arc_read_handles(arcsim *a, const tl_node *root);
tl_status arc_read_obstacles(arcsim *a, const tl_node *root);
/// The poses of motion `index` into `entry`; -1: none.
tl_status arc_put_motion(arcsim *a, const tl_node *node, int64_t index, json_t *entry);
