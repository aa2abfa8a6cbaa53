// io/scene.h: what is inside a tl_scene, for the parts of io that work on it.
#pragma once
#include "io/json.h"
#include "io/obj.h"
#include "io/scene_keys.h"
#include "toile/scene.h"

typedef struct tl_scene_cloth {
    char name[64];
    char origin[256];        ///< file or generator of the mesh, for messages
    bool from_file;
    tl_vec2 rectangle_size;  ///< (0, 0) unless the mesh is a generated rectangle
    tl_obj mesh;             ///< before the transform
    tl_material *materials;  ///< before the scales
    int32_t material_count;
    tl_cloth_file file;      ///< its `name` is not valid
} tl_scene_cloth;

typedef struct tl_scene_handle {
    int32_t cloth;
    int32_t *nodes;  ///< NULL: not by number
    int32_t node_count;
    bool use_box, use_sphere, use_uv_box;
    tl_motion_key *keys;
    int32_t key_count;
    tl_handle_file file;
} tl_scene_handle;

struct tl_scene {
    tl_allocator alloc;
    tl_json_doc *doc;  ///< after reading: the resolved scene; also knows the places for messages
    char name[128];
    int32_t frames, steps_per_frame;
    double fps;
    tl_scene_file file;  ///< its `name` is not valid
    tl_wind_file wind;
    tl_wind_key *wind_keys;
    int32_t wind_key_count;
    tl_scene_cloth *cloths;
    int32_t cloth_count;
    tl_scene_handle *handles;
    int32_t handle_count;
    tl_buf json;    ///< tl_scene_json
    uint64_t hash;  ///< of everything that shapes the result; not name, frames, camera, appearance, places of files
};

typedef struct tl_scene_def {
    const char *path;
    const tl_reader *reader;  ///< NULL: from disk
    const char *const *sets;
    int32_t set_count;
    int64_t max_faces;        ///< of a generated mesh
} tl_scene_def;

enum { TL_SCENE_MAX_FACES = 20000000 };

/// tl_scene_load with everything in the caller's hand.
tl_status tl_scene_read(const tl_allocator *alloc, const tl_scene_def *def, tl_scene **out, tl_error *err);

/// The resolved scene as text for a folder that holds meshes/CLOTH.obj: `frames` >= 0 replaces the scene's own.
tl_status tl_scene_json_for_folder(const tl_scene *scene, int32_t frames, tl_buf *out, tl_error *err);

// The parts of tl_scene_read.
tl_status tl_scene_read_wind(tl_scene *scene, const tl_node *air, tl_error *err);
tl_status tl_scene_read_cloths(tl_scene *scene, const tl_scene_def *def, const tl_node *root, tl_error *err);
tl_status tl_scene_read_handles(tl_scene *scene, const tl_node *root, tl_error *err);
tl_status tl_scene_read_look(const tl_scene *scene, const tl_node *root, tl_error *err);  ///< after the cloths
/// Position or direction after scale (1 for directions) and rotation of a transform.
tl_vec3 tl_transform_turn(const tl_transform_file *transform, tl_vec3 a);
