// run/render_source.h: what there is to draw: a run's folder, a folder of OBJ files, a scene's start, or one
// OBJ.
#pragma once
#include "io/file.h"
#include "io/obj.h"
#include "render/draw.h"

/// One mesh of a frame.
typedef struct tl_show_mesh {
    char name[64];
    bool obstacle;
    bool woven;  ///< has material coordinates of its own
    bool solid;  ///< closed, so rather a body than a cloth; only of single OBJ files
    tl_obj obj;
    int32_t (*face_node)[3];  ///< nodes at the corners, obj.face_count entries
    float *force;             ///< of contact at each node [N], of simulations; NULL: not known
} tl_show_mesh;

typedef struct tl_show_frame {
    int64_t frame;
    double time;           ///< [s]
    tl_show_mesh *meshes;  ///< cloths first, then obstacles
    int32_t mesh_count, cloth_count;
    int64_t cloth_faces;
    int32_t unreadable;  ///< files that were left out
} tl_show_frame;

typedef struct tl_frame_file {
    int64_t frame;
    int32_t name;
    char file[128];
} tl_frame_file;  // name: index

typedef struct tl_frame_list {
    char folder[TL_PATH_MAX];
    tl_frame_file *files;  ///< sorted by frame, then name
    int32_t count, cap;
    char (*names)[64];  ///< sorted
    int32_t name_count, name_cap;
} tl_frame_list;

typedef enum tl_source_kind { TL_SOURCE_FOLDER, TL_SOURCE_SCENE, TL_SOURCE_OBJ, TL_SOURCE_CHARACTER } tl_source_kind;

typedef struct tl_source {
    tl_allocator alloc;
    tl_source_kind kind;
    char path[TL_PATH_MAX];
    char scene_path[TL_PATH_MAX];  ///< scene.json of the run or the scene itself; "" if there is none
    char title[128];
    tl_frame_list cloths, obstacles;
    struct tl_character *character;  ///< of TL_SOURCE_CHARACTER, else NULL
    int64_t *frames;                 ///< numbers of the frames there are, ascending
    int32_t frame_cap;
    int32_t frame_count;
    int32_t missing;  ///< gaps in the numbering
    double fps;       ///< 0: not known
    tl_vec3 up;
    const tl_log *log;
} tl_source;

/// TL_BAD_INPUT or TL_IO with a sentence when there is nothing to draw.
tl_status tl_source_open(const tl_allocator *alloc, const char *path, const tl_log *log, tl_source *out, tl_error *err);
void tl_source_close(tl_source *source);

/// Frame `index` (0 .. frame_count - 1). Files that cannot be read are left out with a warning; if no cloth
/// is left, the frame has no meshes.
tl_status tl_source_load(const tl_source *source, int32_t index, tl_show_frame *out, tl_error *err);
void tl_show_frame_free(const tl_allocator *alloc, tl_show_frame *frame);

/// Empty mesh with room for what the caller copies in: arrays of tl_show_mesh.obj for these counts.
tl_status tl_show_mesh_init(const tl_allocator *alloc, int32_t nodes, int32_t verts, int32_t faces, tl_show_mesh *out,
                            tl_error *err);

void tl_show_mesh_free(const tl_allocator *alloc, tl_show_mesh *mesh);

/// A character: its first clip, frame by frame, or its rest pose if it has none (render_character.c).
bool tl_source_is_character(const char *path);
tl_status tl_source_open_character(tl_source *source, tl_error *err);
tl_status tl_source_load_character(const tl_source *source, tl_show_frame *out, tl_error *err);

/// A simulation as it is now (render_start.c).
struct tl_sim;
tl_status tl_show_frame_of_sim(const tl_allocator *alloc, const struct tl_sim *sim, tl_show_frame *out, tl_error *err);

/// The start of the scene at source->scene_path (render_start.c).
tl_status tl_source_load_start(const tl_source *source, tl_show_frame *out, tl_error *err);
