// bench/bench_fidelity.h: what the files of `toile bench fidelity` share.
#pragma once
#include "bench_fidelity_stats.h"
#include "measure.h"

typedef enum fidelity_mesh { MESH_FINE, MESH_THIN, MESH_EVEN, MESH_AVERAGE, MESH_COUNT } fidelity_mesh;
double fidelity_size(const bench_fidelity_def *def);  ///< smallest edge of adaptive meshes [m]
const char *fidelity_mesh_name(fidelity_mesh mesh);

typedef enum fidelity_measure {
    MEASURE_CURVATURE,   // earth mover's distance of histograms of mean curvature [1/m]
    MEASURE_WRINKLES,    // root mean square out of plane [mm]
    MEASURE_AREA_ABOVE,  // of the outline [cm^2]
    MEASURE_AREA_FRONT,
    MEASURE_OUTLINE_ABOVE,  // area that one outline has and the other has not [cm^2]
    MEASURE_OUTLINE_FRONT,
    MEASURE_COUNT
} fidelity_measure;

/// A cloth at one frame, and what it lies on; owns its arrays.
typedef struct fidelity_cloth {
    tl_vec3 *pos, *body_pos;
    tl_vec2 *uv;
    int32_t *vert_node, (*face)[3], (*body_face)[3];
    int32_t node_count, vert_count, face_count, body_node_count, body_face_count;
} fidelity_cloth;
bool fidelity_cloth_take(const tl_sim *sim, fidelity_cloth *out);  ///< first cloth, first body; false: no memory
void fidelity_cloth_free(fidelity_cloth *c);

/// Figures of a cloth at one frame.
typedef struct fidelity_shape {
    bool there;
    int32_t faces, missed, outside;  // samples without a face, nodes outside of the raster
    double wrinkles;                 // [m]
    shape_histogram curvature;       // [1/m]
    shape_mask mask[SHAPE_VIEWS];
} fidelity_shape;

typedef struct fidelity_run {
    fidelity_mesh mesh;
    int32_t seed, frames;      // frames done
    int64_t steps, crossings;  // crossings at the frames looked at
    double faces, cpu;         // sums over steps
    bool failed;
    char why[300];
    fidelity_shape shape[BENCH_FRAMES_MAX];
} fidelity_run;

double fidelity_value(fidelity_measure m, const fidelity_shape *s);  ///< in the measure's unit
double fidelity_distance(fidelity_measure m, const fidelity_shape *a, const fidelity_shape *b);

// bench_fidelity_keep.c: shapes and states in a folder, for a long benchmark that is cut.
/// 1: read, 0: not there, -1: of other settings, or damaged. `key` tells settings apart.
int fidelity_read_cloth(const char *path, uint64_t key, fidelity_cloth *out);
tl_status fidelity_write_cloth(const char *path, uint64_t key, const fidelity_cloth *c, tl_error *err);
/// The state after frame run->frames, with the sums of `run`. *data is the caller's to free.
int fidelity_read_state(const char *path, uint64_t key, fidelity_run *run, void **data, size_t *size);
tl_status fidelity_write_state(const char *path, uint64_t key, const fidelity_run *run, const void *data, size_t size,
                               tl_error *err);

// bench_fidelity_pictures.c
/// Adds the cloth to the page of its frame.
tl_status fidelity_picture_add(const char *folder, int32_t frame, fidelity_mesh mesh, const fidelity_cloth *c,
                               const char *scene_json, tl_error *err);
/// Draws the page of a frame: DIR/frame-NNNNNN.png, and the faces in DIR/frame-NNNNNN-mesh.png.
tl_status fidelity_picture_draw(const char *folder, int32_t frame, int32_t threads, tl_error *err);

// bench_fidelity_print.c
void fidelity_print_run(FILE *out, const fidelity_run *r);
void fidelity_print_table(const bench_fidelity_def *def, double scale, double smooth, const fidelity_run *runs,
                          int32_t count);
tl_status fidelity_append_csv(const bench_fidelity_def *def, double scale, double smooth, const fidelity_run *runs,
                              int32_t count, tl_error *err);
