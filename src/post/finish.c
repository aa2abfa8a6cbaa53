// post/finish.c: joins the cloths of a frame to one surface for the search, and takes them apart again.

#include "post/finish.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"

/// All cloths of a frame as one surface.
typedef struct joined {
    int32_t (*face)[3];
    tl_vec3 *start, *end;
    int32_t node_count, face_count;
} joined;

static void joined_free(joined *j, const tl_allocator *alloc)
{
    tl_free_bytes(alloc, j->face, (size_t)j->face_count, sizeof *j->face);
    TL_FREE(alloc, j->start, j->node_count);
    TL_FREE(alloc, j->end, j->node_count);
}

static tl_status join_cloths(const tl_allocator *alloc, const tl_fine_mesh *cloth, int32_t cloth_count,
                             tl_vec3 *const *start, joined *j, tl_error *err)
{
    int64_t nodes = 0, faces = 0;
    for (int32_t i = 0; i < cloth_count; i++) nodes += cloth[i].node_count, faces += cloth[i].face_count;
    if (nodes > INT32_MAX || faces > INT32_MAX / 3)
        return tl_fail(err, TL_BAD_INPUT, "%lld faces, too many; use fewer levels", (long long)faces);
    *j = (joined){tl_alloc_bytes(alloc, (size_t)faces, sizeof *j->face), TL_ALLOC(alloc, tl_vec3, nodes),
                  TL_ALLOC(alloc, tl_vec3, nodes), (int32_t)nodes, (int32_t)faces};
    if (!j->face || !j->start || !j->end) {
        joined_free(j, alloc);
        return tl_fail_memory(err, "finer cloths");
    }
    int32_t first = 0, node = 0, face = 0;
    for (int32_t i = 0; i < cloth_count; i++, first = node) {
        for (int32_t f = 0; f < cloth[i].face_count; f++, face++)
            for (int k = 0; k < 3; k++) j->face[face][k] = first + cloth[i].node[f][k];
        for (int32_t n = 0; n < cloth[i].node_count; n++, node++)
            j->start[node] = start[i][n], j->end[node] = cloth[i].pos[n];
    }
    return TL_OK;
}

tl_status tl_finish_move(const tl_finish *f, tl_fine_mesh *cloth, int32_t cloth_count, tl_vec3 *const *start,
                         tl_clear_report *report, tl_error *err)
{
    joined j = {0};
    TL_TRY(join_cloths(&f->alloc, cloth, cloth_count, start, &j, err));
    const tl_clear_def def = {
        (const int32_t(*)[3])j.face, j.node_count, j.face_count, j.start, f->body, f->body_count, f->gap};
    const tl_status status = tl_clear_move(&def, &f->alloc, f->arena, f->workers, j.end, report, err);
    for (int32_t i = 0, node = 0; status == TL_OK && i < cloth_count; i++)
        for (int32_t n = 0; n < cloth[i].node_count; n++) cloth[i].pos[n] = j.end[node++];
    joined_free(&j, &f->alloc);
    return status;
}

static tl_status one_level(const tl_finish *f, const tl_subdivide_def *def, tl_fine_mesh *cloth, int32_t cloth_count,
                           tl_finish_level *report, tl_error *err)
{
    tl_vec3 **start = TL_CALLOC(&f->alloc, tl_vec3 *, cloth_count);
    if (!start) return tl_fail_memory(err, "finer cloths");
    const double begin = tl_now();
    tl_status status = TL_OK;
    int32_t done = 0;
    for (; done < cloth_count && status == TL_OK; done++) {
        tl_fine_mesh finer;
        status = tl_subdivide(&cloth[done], def, f->workers, &finer, &start[done], err);
        if (status != TL_OK) break;
        tl_fine_mesh_free(&cloth[done]);
        cloth[done] = finer;
        report->nodes += finer.node_count, report->faces += finer.face_count;
    }
    report->mask_seconds = tl_now() - begin;
    if (status == TL_OK) status = tl_finish_move(f, cloth, cloth_count, start, &report->clear, err);
    for (int32_t i = 0; i < done; i++)
        if (start[i]) tl_free_bytes(&f->alloc, start[i], (size_t)cloth[i].node_count, sizeof *start[i]);
    TL_FREE(&f->alloc, start, cloth_count);
    return status;
}

tl_status tl_finish_subdivide(const tl_finish *f, const tl_subdivide_def *def, int32_t levels, tl_fine_mesh *cloth,
                              int32_t cloth_count, tl_finish_level *reports, tl_error *err)
{
    for (int32_t level = 0; level < levels; level++) {
        tl_finish_level report = {0};
        TL_TRY(one_level(f, def, cloth, cloth_count, &report, err));
        if (reports) reports[level] = report;
    }
    return TL_OK;
}
