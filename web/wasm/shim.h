// web/wasm/shim.h: what the page's worker calls. One session at a time: a simulation made from a scene file on the
// in-memory file system, or a garment the panels of a sewing pattern (shim_pattern.c). Numbers and pointers only.
#pragma once
#include <math.h>
#include <stdbool.h>

#include <emscripten.h>

#include "toile/sewing.h"
#include "toile/toile.h"

#define TLW_API EMSCRIPTEN_KEEPALIVE

typedef struct tlw_session {
    tl_sim *sim;
    tl_scene *scene;      // NULL: made in code
    tl_sewing *sewing;    // owns `sim` while it is there (shim_sewing.c)
    tl_pattern *pattern;  // that is sewn
    int threads;
    tl_error err;
    tl_step_report report;
    double dt;
    // What the pointer holds.
    tl_handle_id grip;
    tl_body_id carried;
    tl_vec3 now, wanted;  // translation since it was taken [m]
    double numbers[40];
    char text[1 << 16];
} tlw_session;
extern tlw_session tlw;

static inline tl_vec3 tlw_sub(tl_vec3 a, tl_vec3 b) { return (tl_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline tl_vec3 tlw_madd(tl_vec3 a, double s, tl_vec3 b)
{
    return (tl_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline double tlw_dot(tl_vec3 a, tl_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double tlw_length(tl_vec3 a) { return sqrt(tlw_dot(a, a)); }
static inline tl_vec3 tlw_cross(tl_vec3 a, tl_vec3 b)
{
    return (tl_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// A status as the page gets it; without one the last message is gone.
int tlw_said(tl_status status);
/// Room for the corners of so many faces (shim_view.c); NULL: no memory.
float *tlw_corner_room(size_t faces);
/// Puts an end to the session.
void tlw_close(void);
/// Keeps `sim` as the session's; what was there before is destroyed.
void tlw_adopt(tl_sim *sim, tl_scene *scene, double dt);
