// viewer/live.h: a simulation that runs in a thread of its own while the window draws.
//
// The thread owns the simulation. The window sends wishes (drag, wind, pause), which are granted between two steps, and
// takes the newest frame whenever there is one. What is simulated does not depend on how fast the window draws.
#pragma once
#include <stdbool.h>

#include "toile/show.h"

typedef struct view_live view_live;

/// Strings are borrowed for the call, except those of `sew`, which have to stay until view_live_stop.
typedef struct view_live_def {
    const char *scene;
    const char *const *sets;  ///< KEY=VALUE on top of the scene, set_count entries
    int32_t set_count, threads;
    bool paused;
    /// The scene's cloth is sewn first, in sight: the pattern around what collides in `bodies`, a scene too, saved as
    /// `garment`. Of a rim that has to be held the thread makes handles of the scene. NULL: it is not.
    const struct view_live_sew {
        const char *pattern, *bodies, *garment;
    } * sew;
} view_live_def;

/// Loads the scene and starts paused or running.
tl_status view_live_start(const view_live_def *def, view_live **out, tl_error *err);
void view_live_stop(view_live *live);  ///< ends the thread within a step; NULL is fine

void view_live_pause(view_live *live, bool paused);
void view_live_step_once(view_live *live);           ///< one frame, then paused
void view_live_wind(view_live *live, tl_vec3 wind);  ///< [m/s]

/// All cloth is of another fabric: its file, and its name for the looks; both "": the scene's own. Its mesh follows it
/// in another way: a tl_remeshing_kind, -1: the scene's own. Cloth goes on from where it is.
void view_live_fabric(view_live *live, const char *path, const char *name);
void view_live_remeshing(view_live *live, int32_t kind);
bool view_live_refused(view_live *live, char *why, size_t size);  ///< once: the scene has to start again for that

/// Takes hold of the cloth, pin or body that the ray meets first; the answer comes with view_live_held.
void view_live_grab(view_live *live, tl_vec3 origin, tl_vec3 direction);
bool view_live_held(view_live *live, tl_vec3 *point);  ///< where the cloth was taken hold of
void view_live_drag(view_live *live, tl_vec3 point);   ///< where that point is to go
/// Lets go. `pin`: leaves it pinned there, or lets go of the pin that was pulled, which otherwise stays.
void view_live_drop(view_live *live, bool pin);
void view_live_unpin(view_live *live);                                ///< lets go of all pins
int32_t view_live_pins(view_live *live, tl_vec3 *out, int32_t most);  ///< where they are; how many

typedef struct view_live_state {
    double time;  ///< simulated [s]
    int64_t frame, faces;
    double frame_ms, physics_ms, collision_ms, remesh_ms, strain_ms;  ///< wall clock of the last frame
    int32_t contacts, newton_iterations, pins;
    bool running, failed;
    int32_t sewing;  ///< 1 seams are drawn together, 2 the body takes its size; 0 it is not sewn now
    double gap;      ///< widest seam, then and thereafter [m]
    double fps;
    char message[1024];  ///< why it failed
} view_live_state;
view_live_state view_live_look(view_live *live);

/// Calls `use` with the newest frame if it is newer than *version, and updates *version.
void view_live_take(view_live *live, uint64_t *version,
                    void (*use)(void *user, tl_show *show, const tl_show_surface *surfaces, int32_t count), void *user);
