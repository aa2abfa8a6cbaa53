// run/refiner_curves.c: a hierarchy per cloth, updated once a frame; made anew where the mesh of the cloth changes.

#include "run/refiner_curves.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"

#define DEGREE (3.14159265358979323846 / 180)

static tl_curved_def def_of(const tl_refine_def *d)
{
    tl_curved_def def = tl_curved_def_default();
    const tl_refine_curve *c = &d->curve;
    def.levels = d->levels;
    for (int k = 0; k < 4; k++) def.bulge[k] = c->bulge[k];
    def.cap = c->cap;
    def.split_angle = c->split_deg * DEGREE, def.join_angle = c->join_deg * DEGREE;
    def.split_length = c->split_length, def.join_length = c->join_length;
    def.uniform = c->uniform, def.cull = c->cull, def.eye = c->eye;
    return def;
}

tl_status tl_refiner_curves_check(const tl_refine_def *def, tl_error *err)
{
    if (def->scheme != TL_REFINE_CURVED) return TL_OK;
    if (def->wrinkle.folds != TL_REFINE_NO_FOLDS)
        return tl_fail(err, TL_BAD_ARG, "wrinkles do not go with the scheme curved: take modified-loop for them");
    const tl_curved_def d = def_of(def);
    return tl_curved_check(&d, err);
}

tl_status tl_refiner_curves_init(tl_refiner_curves *c, const tl_allocator *alloc, const tl_refine_def *def,
                                 int32_t count, tl_error *err)
{
    *c = (tl_refiner_curves){.alloc = *alloc, .def = def};
    TL_TRY(tl_refiner_curves_check(def, err));
    c->cloth = TL_CALLOC(alloc, tl_curved *, count);
    if (!c->cloth) return tl_fail_memory(err, "curved surfaces");
    c->count = count;
    return TL_OK;
}

void tl_refiner_curves_free(tl_refiner_curves *c)
{
    for (int32_t i = 0; i < c->count; i++) tl_curved_destroy(c->cloth[i]);
    TL_FREE(&c->alloc, c->cloth, c->count);
    c->count = 0;
}

static tl_status curve(tl_refiner_curves *c, int32_t i, const tl_finish *f, tl_fine_mesh *cloth, tl_vec3 **start,
                       tl_error *err)
{
    int32_t updates = 1;
    if (c->cloth[i] && !tl_curved_is_of(c->cloth[i], cloth)) tl_curved_destroy(c->cloth[i]), c->cloth[i] = NULL;
    if (!c->cloth[i]) {
        const tl_curved_def def = def_of(c->def);
        TL_TRY(tl_curved_create(&c->alloc, &def, cloth, &c->cloth[i], err));
        updates = def.levels > 1 ? def.levels : 1;  // one level each
    }
    tl_curved_follow(c->cloth[i], cloth->pos);
    for (int32_t k = 0; k < updates; k++) TL_TRY(tl_curved_adapt(c->cloth[i], f->workers, err));
    TL_TRY(tl_curved_build(c->cloth[i], err));
    tl_fine_mesh fine;
    TL_TRY(tl_curved_mesh(c->cloth[i], &fine, start, err));
    tl_fine_mesh_free(cloth);
    *cloth = fine;
    return TL_OK;
}

tl_status tl_refiner_curves_move(tl_refiner_curves *c, const tl_finish *f, tl_fine_mesh *cloth, tl_finish_level *report,
                                 tl_error *err)
{
    tl_vec3 **start = TL_CALLOC(&c->alloc, tl_vec3 *, c->count);
    if (!start) return tl_fail_memory(err, "curved surfaces");
    const double begin = tl_now();
    tl_status status = TL_OK;
    for (int32_t i = 0; i < c->count && status == TL_OK; i++) {
        status = curve(c, i, f, &cloth[i], &start[i], err);
        if (status == TL_OK) report->nodes += cloth[i].node_count, report->faces += cloth[i].face_count;
    }
    report->mask_seconds = tl_now() - begin;
    if (status == TL_OK) status = tl_finish_move(f, cloth, c->count, start, &report->clear, err);
    for (int32_t i = 0; i < c->count; i++)
        if (start[i]) tl_free_bytes(&c->alloc, start[i], (size_t)cloth[i].node_count, sizeof *start[i]);
    TL_FREE(&c->alloc, start, c->count);
    return status;
}
