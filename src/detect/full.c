// detect/full.c: the detector `full`: boxes of our own trees, then the distance of every candidate.

#include "base/alloc.h"
#include "base/fail.h"
#include "base/timer.h"
#include "detect/close_test.h"

typedef struct full {
    tl_allocator alloc;
    tl_bvh *tree;
    tl_pairs pairs;
    const tl_vec3 *x0, *x1;
} full;

static void full_destroy(void *self)
{
    full *d = self;
    if (!d) return;
    const tl_allocator alloc = d->alloc;
    tl_bvh_destroy(d->tree);
    tl_pairs_free(&d->pairs);
    tl_free_bytes(&alloc, d, 1, sizeof *d);
}

static tl_status full_create(const tl_allocator *alloc, const tl_detect_def *def, const tl_surface *surface,
                             const tl_vec3 *x, const tl_vec3 (*corner)[3], void **self, tl_error *err)
{
    (void)def, (void)corner;  // its answer is the same whatever the tree
    *self = NULL;
    full *d = TL_CALLOC(alloc, full, 1);
    if (!d) return tl_fail_memory(err, "the detector");
    d->alloc = *alloc;
    tl_pairs_init(&d->pairs, *alloc);
    tl_bvh_def tree = tl_bvh_def_default();
    tree.relative = 1;
    const tl_status status = tl_bvh_create(alloc, &tree, surface, x, &d->tree, err);
    if (status != TL_OK) full_destroy(d), d = NULL;
    *self = d;
    return status;
}

static tl_status full_fit(void *self, const tl_vec3 *x0, const tl_vec3 *x1, double reach, const tl_detect_ctx *ctx,
                          tl_error *err)
{
    (void)reach, (void)err;
    full *d = self;
    const double start = tl_processor_seconds();
    tl_bvh_refit(d->tree, x0, x1, 0, 0, ctx->workers);
    d->x0 = x0, d->x1 = x1;
    ctx->report->fit_seconds += tl_processor_seconds() - start;
    return TL_OK;
}

static tl_status test_list(const close_test *t, const tl_pair *pairs, int32_t count, int32_t kind, tl_close_list *out,
                           tl_error *err)
{
    for (int32_t i = 0; i < count; i++) TL_TRY(close_try(t, kind, pairs[i].a, pairs[i].b, out, err));
    return TL_OK;
}

static tl_status full_find(void *self, void *other, const tl_detect_ask *ask, const tl_detect_ctx *ctx,
                           tl_close_list *out, tl_error *err)
{
    full *d = self, *o = other ? other : self;
    const double start = tl_processor_seconds();
    const tl_near near = {d->x1 ? ask->reach : 0, ask->reach, NULL};
    const int what = TL_PAIR_VF | TL_PAIR_EE;
    out->count = 0;
    if (other)
        TL_TRY(tl_bvh_between_near(d->tree, o->tree, what, near, ctx->arena, ctx->workers, &d->pairs, err));
    else
        TL_TRY(tl_bvh_self_near(d->tree, what, near, ctx->arena, ctx->workers, &d->pairs, err));
    const double found = tl_processor_seconds();
    const close_test t = {tl_bvh_surface(d->tree), tl_bvh_surface(o->tree), d->x0, d->x1, o->x0, o->x1, ask->reach};
    TL_TRY(test_list(&t, d->pairs.vf, d->pairs.vf_count, TL_CLOSE_VF, out, err));
    if (other) TL_TRY(test_list(&t, d->pairs.fv, d->pairs.fv_count, TL_CLOSE_FV, out, err));
    TL_TRY(test_list(&t, d->pairs.ee, d->pairs.ee_count, TL_CLOSE_EE, out, err));
    tl_detect_report *r = ctx->report;
    r->volume_tests += d->pairs.volume_tests;
    r->tests += (int64_t)d->pairs.vf_count + d->pairs.fv_count * (other != NULL) + d->pairs.ee_count;
    r->found += out->count;
    r->overlap_seconds += found - start, r->test_seconds += tl_processor_seconds() - found;
    return TL_OK;
}

static void full_forget(void *self) { (void)self; }

const tl_detector tl_detector_full = {.name = "full",
                                      .promise = "every pair within reach",
                                      .complete = true,
                                      .continuous = true,
                                      .create = full_create,
                                      .fit = full_fit,
                                      .find = full_find,
                                      .forget = full_forget,
                                      .destroy = full_destroy};
