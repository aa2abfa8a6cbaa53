// app/progress.h: how far a run has come: one line that renews itself on a terminal, a few plain lines
// elsewhere.
#pragma once
#include <stdbool.h>

#include "toile/run.h"

typedef enum progress_style { PROGRESS_SILENT, PROGRESS_LINES, PROGRESS_BAR } progress_style;

typedef struct progress {
    progress_style style;
    char name[64];  ///< of the scene
    int32_t steps_per_frame;
    int32_t steps_into;    ///< steps done since the last frame
    int32_t next_percent;  ///< PROGRESS_LINES: speak again from here on
    double drawn_at;       ///< PROGRESS_BAR: clock of the last drawing [s]
    bool on_screen;        ///< a bar stands on the current line
    tl_run_progress last;
    bool any;  ///< `last` is filled
} progress;

/// Chooses the style: silent when quiet, a bar when stderr is a terminal that can redraw.
void progress_init(progress *p, const char *name, int32_t steps_per_frame, bool quiet);
void progress_step(progress *p);                               ///< after every step
void progress_frame(progress *p, const tl_run_progress *now);  ///< after every frame
void progress_clear(progress *p);                              ///< make room for another message
