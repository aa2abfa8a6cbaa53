// toile/scene.h: scene files: JSON with // comments, SI units (docs/scene.md, docs/scene.schema.json).
#pragma once
#include "toile/base.h"
#include "toile/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tl_scene tl_scene;  // opaque: a scene file, read, checked, with every default filled in

/// Scene files of ARCSim are recognised by their keys and read as well (docs/arcsim.md); `sets` then have our keys.
/// Reads `path`, its includes, meshes and materials, applies `sets` ("path.to.key=value", value as JSON or a
/// bare word) and checks everything. TL_BAD_INPUT messages read "file:line: field value, what is wrong (remedy)".
TL_API tl_status tl_scene_load(const char *path, const char *const *sets, int32_t set_count, tl_scene **out,
                               tl_error *err);
TL_API void tl_scene_destroy(tl_scene *scene);

TL_API const char *tl_scene_name(const tl_scene *scene);
TL_API int32_t tl_scene_frames(const tl_scene *scene);  ///< frames after frame 0
TL_API double tl_scene_fps(const tl_scene *scene);
TL_API int32_t tl_scene_steps_per_frame(const tl_scene *scene);

/// 1: the file is a scene of ARCSim's.
TL_API int32_t tl_scene_is_foreign(const tl_scene *scene);

/// What the reader has to say about a file that it read all the same: keys of a foreign scene that have no effect, what
/// was chosen where it says nothing. NULL if `index` is out of range. tl_scene_simulate gives them to its log as
/// warnings.
TL_API int32_t tl_scene_note_count(const tl_scene *scene);
TL_API const char *tl_scene_note(const tl_scene *scene, int32_t index);

/// The fully resolved scene as JSON text; owned by the scene.
TL_API const char *tl_scene_json(const tl_scene *scene);

/// Writes the scene to `path` in our format, and its meshes to the folder PATH-meshes beside it (PATH without .json):
/// together they run as the scene does, to the bit. TL_BAD_INPUT if they are there already, unless `overwrite`.
TL_API tl_status tl_scene_save(const tl_scene *scene, const char *path, uint32_t overwrite, tl_error *err);

/// Builds the simulation that the scene describes. `alloc`, `log` may be NULL for the defaults.
TL_API tl_status tl_scene_simulate(const tl_scene *scene, int32_t threads, const tl_allocator *alloc, const tl_log *log,
                                   tl_sim **out, tl_error *err);

/// Reads a fabric file: our own format (docs/formats.md) or one of Wang et al. 2011 as published.
TL_API tl_status tl_material_load(const char *path, tl_material *out, tl_error *err);

/// What measured values come to (docs/fabrics.md).
typedef struct tl_material_fit {
    char name[64];
    tl_orthotropic sheet;
    double drape;                                   ///< Cusick's coefficient that was measured, 0 to 1; NAN: none
    double misfit_warp, misfit_weft, misfit_shear;  ///< root mean square over the largest force; NAN: no curve
} tl_material_fit;

/// Reads measured values and finds the linear fabric that has them: least squares over curves, Peirce's formula for
/// rigidity. `drape` is handed on.
TL_API tl_status tl_material_fit_tests(const char *path, tl_material_fit *out, tl_error *err);

/// Writes a fabric file, whole or not at all. `source`: where its numbers come from.
TL_API tl_status tl_material_save(const tl_material_fit *fit, const char *source, const char *path, tl_error *err);

/// A fabric of the library, borrowed for the call.
typedef struct tl_fabric_entry {
    const char *name;  ///< for `material` of a cloth
    const char *use;   ///< what it is for, "" if the file does not say
    const char *path;  ///< of its file
    const tl_material *material;
} tl_fabric_entry;
typedef int (*tl_fabric_visit)(void *user, const tl_fabric_entry *entry);  ///< nonzero ends the visit

/// Every fabric of the library by name: materials/*.json in the folder $TOILE_DATA, and in the installation.
TL_API tl_status tl_fabrics_visit(tl_fabric_visit visit, void *user, tl_error *err);

#ifdef __cplusplus
}
#endif
