// run/refine.c: `toile refine`: finer frames of a run into another folder of the same layout.

#include "toile/refine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/timer.h"
#include "io/obj.h"
#include "run/folder.h"
#include "run/refiner.h"
#include "run/refiner_curves.h"
#include "run/refiner_wrinkles.h"

static const char *const scheme_names[TL_REFINE_SCHEMES] = {[TL_REFINE_MODIFIED_LOOP] = "modified-loop",
                                                            [TL_REFINE_LOOP] = "loop",
                                                            [TL_REFINE_BUTTERFLY] = "butterfly",
                                                            [TL_REFINE_CURVED] = "curved"};

void tl_refine_def_init(tl_refine_def *def, size_t size)
{
    const tl_refine_def defaults = {.levels = 2,
                                    .gap = 2e-4,
                                    .last = -1,
                                    .threads = 1,
                                    .wrinkle = {.textures = 6,
                                                .variation = 5,
                                                .persistence = 0.35,
                                                .zone = 0.3,
                                                .onset = 0.002,
                                                .amplitude = 0.004,
                                                .strength = 1,
                                                .rate = 0.001,
                                                .seed = 1},
                                    .curve = {.bulge = {0, 0.55, 0.55, 0.2},
                                              .cap = 2,
                                              .split_deg = 8,
                                              .join_deg = 6,
                                              .split_length = 0.96,
                                              .join_length = 0.98}};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

const char *tl_refine_scheme_name(tl_refine_scheme scheme)
{
    return (int)scheme >= 0 && scheme < TL_REFINE_SCHEMES ? scheme_names[scheme] : NULL;
}

const char *tl_refine_folds_name(tl_refine_folds folds)
{
    return folds == TL_REFINE_DIRECTIONAL ? "directional" : folds == TL_REFINE_PUBLISHED ? "paper" : NULL;
}

static tl_status parse_scheme(const char *text, size_t length, tl_refine_scheme *out, tl_error *err)
{
    for (int i = 0; i < TL_REFINE_SCHEMES; i++)
        if (strlen(scheme_names[i]) == length && strncmp(text, scheme_names[i], length) == 0)
            return *out = (tl_refine_scheme)i, TL_OK;
    return tl_fail(err, TL_BAD_ARG, "scheme '%.*s' is not known: modified-loop, loop, butterfly or curved",
                   (int)(length < 60 ? length : 60), text);
}

tl_status tl_refine_parse(const char *text, tl_refine_def *def, tl_error *err)
{
    char *end;
    const long count = strtol(text, &end, 10);
    if (end == text || count < 0 || count > TL_REFINE_LEVELS_MAX || (*end && *end != ':' && *end != '+'))
        return tl_fail(err, TL_BAD_ARG, "'%.60s': levels must be 0 to %d, as in 2, 2:loop or 2+wrinkles", text,
                       TL_REFINE_LEVELS_MAX);
    tl_refine_scheme scheme = def->scheme;
    tl_refine_folds folds = def->wrinkle.folds;
    const char *rest = end;
    if (*rest == ':') {
        const size_t length = strcspn(rest + 1, "+");
        TL_TRY(parse_scheme(rest + 1, length, &scheme, err));
        rest += 1 + length;
    }
    if (strcmp(rest, "+wrinkles") == 0 || strcmp(rest, "+wrinkles=directional") == 0)
        folds = TL_REFINE_DIRECTIONAL;
    else if (strcmp(rest, "+wrinkles=paper") == 0)
        folds = TL_REFINE_PUBLISHED;
    else if (*rest)
        return tl_fail(err, TL_BAD_ARG, "'%.60s' is not known: +wrinkles, or +wrinkles=paper", rest);
    def->levels = (int32_t)count, def->scheme = scheme, def->wrinkle.folds = folds;
    return TL_OK;
}

// ---- writing --------------------------------------------------------------------------------------------------

static tl_status write_fine(const tl_fine_mesh *m, const char *name, const char *path, tl_error *err)
{
    int32_t *vert_node = TL_CALLOC(&m->alloc, int32_t, m->vert_count);
    if (!vert_node) return tl_fail_memory(err, "a finer mesh");
    for (int32_t f = 0; f < m->face_count; f++)
        for (int k = 0; k < 3; k++) vert_node[m->vert[f][k]] = m->node[f][k];
    const tl_obj_view view = {.name = name,
                              .pos = m->pos,
                              .node_count = m->node_count,
                              .uv = m->uv,
                              .vert_node = vert_node,
                              .vert_count = m->vert_count,
                              .face = (const int32_t(*)[3])m->vert,
                              .face_count = m->face_count};
    tl_buf buf;
    tl_buf_init(&buf, &m->alloc);
    tl_obj_write(&buf, &view);
    const tl_status status =
        buf.failed ? tl_fail_memory(err, path) : tl_file_write(path, buf.data, buf.size, false, err);
    tl_buf_free(&buf);
    TL_FREE(&m->alloc, vert_node, m->vert_count);
    return status;
}

// Obstacles are copied as they are.
static tl_status copy_obstacles(const tl_refine_def *def, const tl_refiner *r, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    for (int32_t i = 0; i < tl_refiner_obstacle_count(r); i++) {
        int32_t frame;
        char path[TL_PATH_MAX];
        tl_text text;
        const char *file = tl_refiner_obstacle_file(r, i, &frame);
        if (!file) continue;
        TL_TRY(tl_obstacle_path(def->out, frame, tl_refiner_obstacle_name(r, i), path, err));
        TL_TRY(tl_file_read(&alloc, file, TL_OBJ_MAX_BYTES, &text, err));
        const tl_status status = tl_file_write(path, text.data, text.size, false, err);
        tl_text_free(&alloc, &text);
        TL_TRY(status);
    }
    return TL_OK;
}

// Maps lie in OUT/wrinkles, or beside the one file.
static tl_status write_maps(const tl_refine_def *def, tl_refiner *r, int32_t cloth, int32_t frame, bool one_file,
                            tl_error *err)
{
    char path[TL_PATH_MAX], name[TL_PATH_MAX];
    if (one_file) {
        snprintf(path, sizeof path, "%s", def->out);
        char *end = strrchr(path, '.');
        if (end && strcmp(end, ".obj") == 0) *end = 0;
    } else {
        snprintf(name, sizeof name, "wrinkles/%06d_%s", frame, tl_refiner_cloth_name(r, cloth));
        TL_TRY(tl_path_join(def->out, name, path, err));
    }
    return tl_refiner_maps(r, cloth, path, err);
}

static tl_status write_frame(const tl_refine_def *def, tl_refiner *r, int32_t frame, bool one_file, tl_error *err)
{
    for (int32_t i = 0; i < tl_refiner_cloth_count(r); i++) {
        char path[TL_PATH_MAX];
        const char *name = tl_refiner_cloth_name(r, i);
        if (!one_file) TL_TRY(tl_frame_path(def->out, frame, name, path, err));
        TL_TRY(write_fine(tl_refiner_cloth(r, i), name, one_file ? def->out : path, err));
        if (def->wrinkle.folds != TL_REFINE_NO_FOLDS && def->wrinkle.maps > 0)
            TL_TRY(write_maps(def, r, i, frame, one_file, err));
    }
    return one_file ? TL_OK : copy_obstacles(def, r, err);
}

static tl_status make_folders(const tl_refine_def *def, const tl_refiner *r, tl_error *err)
{
    char path[TL_PATH_MAX];
    TL_TRY(tl_path_join(def->out, "frames", path, err));
    TL_TRY(tl_make_dirs(path, err));
    if (def->wrinkle.folds != TL_REFINE_NO_FOLDS && def->wrinkle.maps > 0) {
        TL_TRY(tl_path_join(def->out, "wrinkles", path, err));
        TL_TRY(tl_make_dirs(path, err));
    }
    TL_TRY(tl_path_join(def->out, "obstacles", path, err));
    return tl_refiner_obstacle_count(r) > 0 ? tl_make_dirs(path, err) : TL_OK;
}

// Colours, camera and frames a second are those of the run. `refined.json` says that strain means nothing here: schemes
// move nodes away from where the simulation had them.
static tl_status write_about(const tl_refine_def *def, tl_error *err)
{
    const tl_allocator alloc = tl_allocator_default();
    char from[TL_PATH_MAX], to[TL_PATH_MAX], about[256];
    TL_TRY(tl_path_join(def->source, "scene.json", from, err));
    TL_TRY(tl_path_join(def->out, "scene.json", to, err));
    if (tl_path_look(from) == TL_PATH_FILE) {
        tl_text text;
        TL_TRY(tl_file_read(&alloc, from, TL_OBJ_MAX_BYTES, &text, err));
        const tl_status status = tl_file_write(to, text.data, text.size, false, err);
        tl_text_free(&alloc, &text);
        TL_TRY(status);
    }
    const char *folds = tl_refine_folds_name(def->wrinkle.folds);
    const int size = snprintf(about, sizeof about, "{\"scheme\": \"%s\", \"levels\": %d, \"wrinkles\": \"%s\"}\n",
                              tl_refine_scheme_name(def->scheme), def->levels, folds ? folds : "none");
    TL_TRY(tl_path_join(def->out, TL_REFINED_FILE, to, err));
    return tl_file_write(to, about, (size_t)size, false, err);
}

static tl_status refine_all(const tl_refine_def *def, tl_refiner *r, tl_error *err)
{
    const bool one_file = tl_path_look(def->source) == TL_PATH_FILE;
    const int32_t count = tl_refiner_frame_count(r);
    if (!one_file) {
        TL_TRY(make_folders(def, r, err));
        TL_TRY(write_about(def, err));
    }
    for (int32_t k = 0; k < count; k++) {
        TL_TRY(tl_refiner_frame(r, k, err));
        TL_TRY(write_frame(def, r, tl_refiner_frame_id(r, k), one_file, err));
        if (def->progress) def->progress(def->user, k + 1, count);
    }
    return TL_OK;
}

// ---- the whole ------------------------------------------------------------------------------------------------

static tl_status check_def(const tl_refine_def *def, tl_error *err)
{
    if (!def->source || !def->out) return tl_fail(err, TL_BAD_ARG, "refine: source and out are required");
    if (def->levels < 0 || def->levels > TL_REFINE_LEVELS_MAX)
        return tl_fail(err, TL_BAD_ARG, "refine: %d levels, must be 0 to %d", def->levels, TL_REFINE_LEVELS_MAX);
    if (!(def->gap > 0 && def->gap < 1))
        return tl_fail(err, TL_BAD_ARG, "refine: gap %g m, must be in (0, 1)", def->gap);
    if (!tl_refine_scheme_name(def->scheme))
        return tl_fail(err, TL_BAD_ARG, "refine: scheme %d is not known", (int)def->scheme);
    TL_TRY(tl_refine_wrinkles_check(&def->wrinkle, err));
    TL_TRY(tl_refiner_curves_check(def, err));
    char from[TL_PATH_MAX], to[TL_PATH_MAX];
    tl_path_absolute(def->source, from), tl_path_absolute(def->out, to);
    if (strcmp(from, to) == 0)
        return tl_fail(err, TL_BAD_INPUT, "%.400s: would be overwritten by its own refinement; give another -o",
                       def->out);
    TL_TRY(tl_path_join(to, "stats.jsonl", from, err));
    if (tl_path_look(from) == TL_PATH_FILE)
        return tl_fail(err, TL_BAD_INPUT,
                       "%.400s: is the folder of a run, whose frames would be overwritten; give another -o", def->out);
    return TL_OK;
}

tl_status tl_refine(const tl_refine_def *given, tl_refine_report *report, tl_error *err)
{
    if (report) *report = (tl_refine_report){0};
    TL_DEF_COMPLETE(tl_refine_def, def, given, err);
    TL_TRY(check_def(&def, err));
    const double begin = tl_now();
    tl_refiner *r;
    TL_TRY(tl_refiner_create(&def, &r, err));
    const tl_status status = refine_all(&def, r, err);
    if (report) *report = *tl_refiner_report(r), report->seconds = tl_now() - begin;
    tl_refiner_destroy(r);
    return status;
}
