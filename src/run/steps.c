// run/steps.c: steps.csv, with the columns of Simnett 2012, Figs. 3.25 to 3.30 and 5.10 to 5.11.
//
// Springs alone: a step of theirs takes milliseconds, so what matters is how it is spent. Numbers are plain text with
// six significant digits; nothing but times differs between two runs of a scene.

#include "run/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"

#define HEADING "step,time,triangles,adapt,simulate,collide,render\n"

static bool wanted(const tl_runner *run) { return run->scene->file.dynamics.kind == TL_DYNAMICS_SPRINGS; }

static int64_t triangles(const tl_runner *run)
{
    int64_t count = 0;
    for (int32_t i = 0; i < tl_sim_cloth_count(run->sim); i++) {
        tl_cloth_view view;
        if (tl_sim_cloth_view(run->sim, tl_sim_cloth(run->sim, i), &view) == TL_OK) count += view.face_count;
    }
    return count;
}

// Seconds that it takes to make what is drawn: positions, faces and a normal per node.
static tl_status time_render(tl_runner *run, double *seconds, tl_error *err)
{
    const double start = tl_now();
    for (int32_t i = 0; i < tl_sim_cloth_count(run->sim); i++) {
        const tl_cloth_id id = tl_sim_cloth(run->sim, i);
        tl_cloth_view view;
        TL_TRY(tl_sim_cloth_view(run->sim, id, &view));
        const int32_t count = view.node_count > 0 ? view.node_count : 1;
        tl_vec3 *normal = TL_ALLOC(&run->alloc, tl_vec3, count);
        if (!normal) return tl_fail_memory(err, "normals");
        tl_sim_cloth_normals(run->sim, id, normal);
        TL_FREE(&run->alloc, normal, count);
    }
    *seconds = tl_now() - start;
    return TL_OK;
}

tl_status tl_steps_add(tl_runner *run, const tl_step_report *step, bool last, tl_error *err)
{
    if (!wanted(run)) return TL_OK;
    double render = 0;
    if (last) TL_TRY(time_render(run, &render, err));
    const tl_stage_seconds *s = &step->seconds;
    tl_buf_printf(&run->steps, "%lld,%.6g,%lld,%.6g,%.6g,%.6g,%.6g\n", (long long)step->step, step->time,
                  (long long)triangles(run), s->remesh, s->physics, s->collision, render);
    return TL_OK;
}

tl_status tl_steps_flush(tl_runner *run, tl_error *err)
{
    if (!wanted(run)) return TL_OK;
    TL_TRY(tl_buf_end(&run->steps, "steps.csv", err));
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "steps.csv", path, err));
    const bool fresh = tl_path_look(path) == TL_PATH_NONE;
    FILE *file = fopen(path, "ab");
    bool written = file && (!fresh || fputs(HEADING, file) >= 0);
    written = written && fwrite(run->steps.data, 1, run->steps.size, file) == run->steps.size;
    if (file && fclose(file) != 0) written = false;
    if (!written) return tl_fail(err, TL_IO, "%s: cannot write", path);
    run->steps.size = 0;
    return TL_OK;
}

tl_status tl_steps_truncate(tl_runner *run, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_run_path(run, "steps.csv", path, err));
    if (tl_path_look(path) == TL_PATH_NONE) return TL_OK;
    tl_text text;
    TL_TRY(tl_file_read(&run->alloc, path, (size_t)4 << 30, &text, err));
    const int64_t last = tl_sim_steps(run->sim);
    size_t kept = strncmp(text.data, HEADING, strlen(HEADING)) == 0 ? strlen(HEADING) : 0;
    for (const char *p = text.data + kept, *end = text.data + text.size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline || strtoll(p, NULL, 10) > last) break;  // steps ascend
        kept = (size_t)(newline + 1 - text.data);
        p = newline + 1;
    }
    const tl_status status = kept == text.size ? TL_OK : tl_file_write(path, text.data, kept, true, err);
    tl_text_free(&run->alloc, &text);
    return status;
}
