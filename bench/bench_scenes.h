// bench/bench_scenes.h: what the files of `toile bench scenes` share.
#pragma once
#include "measure.h"

typedef enum scenes_stage { STAGE_PHYSICS, STAGE_STRAIN, STAGE_COLLISION, STAGE_REMESH, STAGE_COUNT } scenes_stage;

/// Sums over some frames of one build, as stats.jsonl and the system tell.
typedef struct scenes_sums {
    double cpu;                 // [s] user and system, of whole processes
    double stage[STAGE_COUNT];  // [s] of wall clock
    double faces, newton, linear, searches, substeps, crossings;
    int32_t frames;
} scenes_sums;

/// How two frames differ in look.
typedef struct scenes_look {
    double area[2], outline[2];  // of views from above and the front: mean area [m^2], what one covers alone over it
    double fold[2];              // mean fold over the surface of either build [1/m]: |dihedral angle| x length / area
    double move;                 // distance of the middles of mass by area [m]
} scenes_look;

/// Compares frame `frame` of the runs in two folders, all cloths together. False: a file is missing or not a mesh.
bool scenes_compare(const char *first, const char *second, int32_t frame, scenes_look *out);
