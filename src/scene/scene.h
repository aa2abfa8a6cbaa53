// scene/scene.h: what is inside a tl_scene, for the parts of io that work on it.
#pragma once
#include "io/character_load.h"
#include "io/json.h"
#include "io/notes.h"
#include "io/obj.h"
#include "scene/scene_keys.h"
#include "toile/body.h"
#include "toile/scene.h"

typedef struct tl_scene_cloth {
    char name[64];
    char origin[256];  ///< file or generator of the mesh, for messages
    bool from_file;
    tl_vec2 rectangle_size;  ///< (0, 0) unless the mesh is a generated rectangle
    tl_obj mesh;             ///< before the transform
    tl_material *materials;  ///< before the scales
    int32_t material_count;
    bool limited;        ///< strain_limits are given
    tl_cloth_file file;  ///< its `name` is not valid
    bool own_remeshing;  ///< file.remeshing was given
} tl_scene_cloth;

typedef struct tl_scene_handle {
    int32_t cloth;
    int32_t *nodes;  ///< NULL: not by number
    int32_t node_count;
    bool use_box, use_sphere, use_uv_box, use_ellipse;
    unsigned sides;  ///< whole sides that were asked for, bit w for tl_side_words[w]: with what remeshing adds to them
    tl_motion_key *keys;
    int32_t key_count;
    char body[64];        ///< name of the obstacle that it ties nodes to, "": none
    tl_handle_file file;  ///< its `body` is not valid
} tl_scene_handle;

typedef struct tl_scene_obstacle {
    char name[64];
    char origin[256];  ///< file or kind, for messages
    tl_body_kind kind;
    tl_obj mesh;      ///< of TL_BODY_MESH, before the transform; of a sequence the first shape
    tl_vec3 *shapes;  ///< of a sequence, shape_count times mesh.node_count; NULL: there is one shape, the mesh
    double *times;
    int32_t shape_count;
    tl_character *character;  ///< then `kind` is a mesh without one; transform included; NULL: none
    tl_character_files character_files;
    tl_playback play;
    tl_motion_key *keys;
    int32_t key_count;
    tl_obstacle_file file;  ///< its `name` is not valid
} tl_scene_obstacle;

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
    bool has_detail;
    struct tl_detail_key *eye;  ///< of `detail`
    int32_t eye_count;
    tl_scene_cloth *cloths;
    int32_t cloth_count;
    tl_scene_handle *handles;
    int32_t handle_count;
    tl_scene_obstacle *obstacles;
    int32_t obstacle_count;
    tl_buf json;     ///< tl_scene_json
    tl_notes notes;  ///< tl_scene_note
    bool foreign;    ///< the file is a scene of ARCSim
    uint64_t hash;   ///< of everything that shapes the result; not name, frames, camera, appearance, places of files
};

typedef struct tl_scene_def {
    const char *path;
    const tl_reader *reader;  ///< NULL: from disk
    const char *const *sets;
    int32_t set_count;
    int64_t max_faces;  ///< of a generated mesh
} tl_scene_def;

enum { TL_SCENE_MAX_FACES = 20000000 };

/// tl_scene_load with everything in the caller's hand.
tl_status tl_scene_read(const tl_allocator *alloc, const tl_scene_def *def, tl_scene **out, tl_error *err);

/// The resolved scene as text for a place beside the folder `folder`, which holds its meshes: `frames` >= 0 replaces
/// the scene's own.
tl_status tl_scene_json_for_folder(const tl_scene *scene, int32_t frames, const char *folder, tl_buf *out,
                                   tl_error *err);

/// "FOLDER/NAME.obj", or of a shape of a sequence (from 0) "FOLDER/NAME.000000.obj" (a name has no dot): where a folder
/// keeps a mesh.
enum { TL_MESH_NAME_MAX = 512 };
void tl_scene_mesh_name(const char *folder, const char *name, int32_t shape, char out[TL_MESH_NAME_MAX]);

/// Adds speeds of up to `speed` across the plane to a cloth (by its number) that lies in one: see scene_uneven.c.
void tl_scene_unsettle(const tl_obj *mesh, double speed, uint64_t seed, int32_t cloth, const tl_vec3 *pos,
                       tl_vec3 *vel);

/// What is another in this scene than in the scene.json that a run of it has written to `path`: "collisions.pressure
/// was 5000, is 6000".
void tl_scene_change(const tl_scene *scene, const char *path, char *out, size_t size);
/// Has a key of the scene an effect on its frames?
bool tl_scene_key_acts(const char *key);
#define TL_RUN_MESHES "meshes"  // the folder that a run writes meshes to

/// Writes the meshes that came from files to dir/folder, so that what tl_scene_json_for_folder says can be run beside
/// it.
tl_status tl_scene_write_meshes(const tl_scene *scene, const char *dir, const char *folder, tl_error *err);

// The parts of tl_scene_read.
/// Material coordinates as `rest` says (tl_rest_lengths, -1: by default).
tl_status tl_scene_take_rest(tl_scene_cloth *cloth, int32_t rest, tl_notes *notes, tl_error *err);
/// Fills in what `quality` says where the scene says nothing.
tl_status tl_scene_apply_quality(const tl_node *root, tl_error *err);
/// Notes on what is likely a slip: cloths and bodies of odd sizes, cloths that start far from rest.
void tl_scene_doubt(tl_scene *scene);
tl_status tl_scene_read_cloths(tl_scene *scene, const tl_scene_def *def, const tl_node *root, tl_error *err);
tl_status tl_scene_read_handles(tl_scene *scene, const tl_node *root, tl_error *err);
/// Are the obstacles there that handles tie cloth to? After both are read.
tl_status tl_scene_check_ties(const tl_scene *scene, const tl_node *root, tl_error *err);
tl_status tl_scene_read_obstacles(tl_scene *scene, const tl_scene_def *def, const tl_node *root, tl_error *err);
void tl_scene_free_obstacles(tl_scene *scene);
tl_status tl_scene_read_character(tl_scene *scene, const tl_reader *reader, const tl_node *node, tl_scene_obstacle *o,
                                  tl_error *err);
/// Writes the files of a character to dir/folder; the names of these into the entry of the scene, or a hash of the
/// character if `folder` is NULL.
tl_status tl_scene_write_character(const tl_scene_obstacle *o, const char *dir, const char *folder, tl_error *err);
bool tl_scene_name_character(const tl_scene_obstacle *o, json_t *entry, const char *folder);
/// Where a transform puts a point.
tl_vec3 tl_scene_transformed(const tl_transform_file *transform, tl_vec3 point);
tl_status tl_scene_read_detail(tl_scene *scene, const tl_node *root, tl_error *err);  // scene_detail.c
tl_status tl_scene_set_detail(const tl_scene *scene, tl_sim *sim, tl_error *err);
tl_status tl_scene_read_look(const tl_scene *scene, const tl_node *root, tl_error *err);  ///< after the cloths

/// The name `given` (or `word`, or with several entries `word` and `index`, then also put into the text) into `out`;
/// fails if it cannot be part of a file name or is taken by a cloth or an obstacle before this one.
tl_status tl_scene_read_name(const tl_scene *scene, const tl_node *node, const char *word, int32_t index, int32_t count,
                             const char *given, char out[64], tl_error *err);
/// A rotation by an angle needs an axis.
tl_status tl_scene_check_rotation(const tl_node *node, const double rotate[4], tl_error *err);
/// The poses of `motion`, by `table`.
tl_status tl_scene_read_motion(const tl_allocator *alloc, const tl_node *list, const tl_key_table *table,
                               tl_motion_key **keys, int32_t *key_count, tl_error *err);
