// viewer/viewer.h: the window of `toile view`.
#pragma once
#include "toile/base.h"

/// Start from zero; strings are borrowed for the call.
typedef struct viewer_options {
    const char *source;       ///< run folder, scene, pattern, mesh or character; NULL: the gallery
    const char *body;         ///< that a pattern is sewn around; NULL: none
    int32_t width, height;    ///< of the window; 0: 1280 x 800
    uint32_t live;            ///< 1: run the scene of a recording instead of playing it
    uint32_t paused;          ///< 1: start paused
    int32_t threads;          ///< of the simulation, >= 1
    const char *mode;         ///< name of the first colour map; NULL: shaded
    const char *screenshot;   ///< PNG to write when `frames` have been drawn; NULL: none
    int32_t frames;           ///< close the window after so many drawn frames; 0: when the user does
    const char *const *sets;  ///< KEY=VALUE on top of the scene, set_count entries
    int32_t set_count;
} viewer_options;

/// Opens the window and returns when it is closed. TL_FAILED without a display, with a sentence on what to do.
tl_status viewer_run(const viewer_options *options, tl_error *err);
