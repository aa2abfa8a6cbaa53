// physics/strain_term.c: strain limits as Newton's method sees them.
//
// Their multipliers move along with every update, as in sequential quadratic programming with an augmented Lagrangian
// for merit (Nocedal & Wright 2006, ch. 18).

#include "physics/strain_term.h"

#include <string.h>

#include "base/fail.h"

// With strain limits all that is done with faces costs so many times as much.
#define FACES_COST 2.0
enum { PART_LOOKS = 2 };  // ahead, in an iteration in which few nodes move

typedef struct strain_term {
    tl_strain_limits *limits;
    const tl_elements *elements;
    double tolerance;
    bool acts;          // some face is at its limits
    double (*kept)[3];  // multipliers
} strain_term;

static tl_status energy(void *self, const tl_vec3 *x, double part, const tl_ctx *ctx, double *out, tl_error *err)
{
    const strain_term *t = self;
    (void)part;
    return tl_strain_energy(t->limits, t->elements, x, ctx, out, err);
}

static tl_status assemble(void *self, const tl_vec3 *x, tl_bsr *matrix, tl_vec3 *gradient, double *energy_out,
                          const tl_ctx *ctx, tl_error *err)
{
    const strain_term *t = self;
    (void)energy_out, (void)err;
    tl_strain_assemble(t->limits, t->elements, x, matrix, gradient, ctx->workers);
    return TL_OK;
}

static bool acts(const void *self, double energy_at) { return ((const strain_term *)self)->acts || energy_at > 0; }

static tl_status expect(void *self, tl_bsr *matrix, tl_vec3 *push, bool *changed, const tl_ctx *ctx, tl_error *err)
{
    (void)matrix, (void)push, (void)ctx, (void)err;
    tl_strain_look_away(((strain_term *)self)->limits);
    *changed = false;
    return TL_OK;
}

// Would the update leave faces beyond their limits? Then the system to be solved is another one (strain_limit.h).
static tl_status predict(void *self, const tl_term_look *look, tl_bsr *matrix, tl_vec3 *push, bool *changed,
                         const tl_ctx *ctx, tl_error *err)
{
    const strain_term *t = self;
    *changed = false;
    if (!look->last && !(look->in_part && look->round < PART_LOOKS)) return TL_OK;
    double worst;
    TL_TRY(tl_strain_worst_after(t->limits, t->elements, look->x, look->u, ctx, &worst, err));
    if (!(worst > t->tolerance)) return TL_OK;
    memset(push, 0, (size_t)t->elements->node_count * sizeof *push);
    tl_strain_ahead(t->limits, t->elements, look->x, look->u, matrix, push, ctx->workers);
    *changed = true;
    return TL_OK;
}

static void moved(void *self, double part)
{
    if (part < 1) tl_strain_back(((strain_term *)self)->limits, part);
}

static tl_status follow(void *self, const tl_vec3 *x, const tl_vec3 *u, double *slope_out, double *energy_out,
                        const tl_ctx *ctx, tl_error *err)
{
    strain_term *t = self;
    TL_TRY(tl_strain_predict(t->limits, t->elements, x, u, ctx, slope_out, err));
    TL_TRY(tl_strain_energy(t->limits, t->elements, x, ctx, energy_out, err));
    t->acts = *energy_out > 0;
    return TL_OK;
}

static tl_status slope(void *self, const tl_vec3 *x, const tl_vec3 *u, double *out, const tl_ctx *ctx, tl_error *err)
{
    const strain_term *t = self;
    return tl_strain_slope(t->limits, t->elements, x, u, ctx, out, err);
}

static tl_status measure(void *self, const tl_vec3 *x, double *excess, bool *met, const tl_ctx *ctx, tl_error *err)
{
    const strain_term *t = self;
    tl_strain_state now;
    TL_TRY(tl_strain_measure(t->limits, t->elements, x, t->tolerance, false, ctx, &now, err));
    *excess = now.worst, *met = !(now.worst > t->tolerance);
    return TL_OK;
}

static void stiffen(void *self, const tl_vec3 *x)
{
    const strain_term *t = self;
    tl_strain_stiffen(t->limits, t->elements, x, 0);
}

static void mark(void *self, const tl_vec3 *x, int32_t *out)
{
    const strain_term *t = self;
    const tl_elements *e = t->elements;
    for (int32_t f = 0; f < e->face_count; f++)
        if (tl_strain_excess(t->limits, e, x, f) > t->tolerance)
            for (int k = 0; k < 3; k++) out[e->face[f][k]] = 0;
}

static tl_status keep(void *self, tl_arena *arena, tl_error *err)
{
    strain_term *t = self;
    const size_t count = (size_t)t->limits->face_count;
    if (!t->kept) t->kept = tl_arena_bytes(arena, count, sizeof *t->kept);
    if (!t->kept) return tl_fail_memory(err, "Newton's method");
    memcpy(t->kept, t->limits->trial, count * sizeof *t->kept);
    return TL_OK;
}

static void restore_kept(void *self)
{
    const strain_term *t = self;
    memcpy(t->limits->trial, t->kept, (size_t)t->limits->face_count * sizeof *t->kept);
}

static void begin(void *self)
{
    strain_term *t = self;
    t->acts = false, t->kept = NULL;
}

static const tl_term_kind strain_kind = {
    .name = "strain limits",
    .cost = FACES_COST,
    .begin = begin,
    .energy = energy,
    .assemble = assemble,
    .acts = acts,
    .expect = expect,
    .predict = predict,
    .moved = moved,
    .follow = follow,
    .slope = slope,
    .measure = measure,
    .stiffen = stiffen,
    .mark = mark,
    .keep = keep,
    .restore_kept = restore_kept,
};

tl_status tl_strain_term(tl_strain_limits *limits, const tl_elements *elements, double tolerance, tl_arena *arena,
                         tl_term *out, tl_error *err)
{
    strain_term *t = TL_SCRATCH(arena, strain_term, 1);
    if (!t) return tl_fail_memory(err, "strain limits");
    *t = (strain_term){.limits = limits, .elements = elements, .tolerance = tolerance};
    *out = (tl_term){.kind = &strain_kind, .self = t};
    return TL_OK;
}
