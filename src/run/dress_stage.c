// run/dress_stage.c: see dress_stage.h.

#include "run/dress_stage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static tl_status add_body(tl_dress_stage *s, const char *name, const tl_dress_body *b, const tl_vec3 *from,
                          double seconds, tl_error *err)
{
    tl_body_def body = tl_body_def_default();
    const double times[2] = {0, seconds};
    body.name = name, body.friction = s->def->friction;
    body.node_count = b->vert_count, body.face_count = b->face_count, body.face = b->face, body.pos = b->pos;
    tl_vec3 *keys = NULL;
    const size_t n = (size_t)b->vert_count;
    if (from && seconds > 0) {
        keys = TL_ALLOC(&s->g->alloc, tl_vec3, 2 * n);
        if (!keys) return tl_fail_memory(err, "a body");
        memcpy(keys, from, n * sizeof *keys), memcpy(keys + n, b->pos, n * sizeof *keys);
        body.key_count = 2, body.key_time = times, body.key_pos = keys;
    } else if (from) {
        body.pos = from;
    }
    const tl_status status = tl_sim_add_body(s->sim, &body, &s->body, err);
    TL_FREE(&s->g->alloc, keys, 2 * n);
    return status;
}

static int asked(void *user)
{
    const tl_dress_watch *w = user;
    return w->cancelled ? w->cancelled(w->user) : 0;
}

tl_status tl_dress_begin(tl_dress_stage *s, double dt, bool gravity, const tl_vec3 *thin, double seconds, tl_error *err)
{
    const tl_dress_def *d = s->def;
    tl_sim_def def = tl_sim_def_default();
    def.dt = dt, def.threads = d->threads;
    def.alloc = s->g->alloc;
    def.collide.on_intersection = TL_INTERSECTION_PINCH;
    def.start.relax = TL_RELAX_OFF;
    if (d->watch.log) def.log = *d->watch.log;
    if (!gravity) {
        def.bending = TL_BEND_HINGE;  // cheaper, and near enough while cloth is only pulled into place
        def.gravity = (tl_vec3){0, 0, 0};
        def.air.density = 0, def.air.skin = 0;
    }
    TL_TRY(tl_sim_create(&def, &s->sim, err));
    tl_cancel cancel = {asked, (void *)&d->watch};
    tl_sim_set_cancel(s->sim, &cancel);
    tl_cloth_def cloth = tl_cloth_def_default();
    const tl_garment *g = s->g;
    cloth.name = "garment";
    cloth.node_count = g->node_count, cloth.pos = g->pos;
    cloth.node_label = g->node_mark;
    cloth.vert_count = g->vert_count, cloth.uv = g->uv, cloth.vert_node = g->vert_node;
    cloth.face_count = g->face_count, cloth.face = (const int32_t(*)[3])g->face;
    cloth.materials = d->material, cloth.material_count = 1;
    cloth.thickness = d->thickness;
    cloth.remeshing.kind = TL_REMESHING_NONE;
    TL_TRY(tl_sim_add_cloth(s->sim, &cloth, &s->cloth, err));
    return add_body(s, "body", &d->body, thin, seconds, err);
}

void tl_dress_take_back(tl_dress_stage *s)
{
    tl_cloth_view v;
    if (tl_sim_cloth_view(s->sim, s->cloth, &v) == TL_OK)
        memcpy(s->g->pos, v.pos, (size_t)v.node_count * sizeof *v.pos);
}

tl_status tl_dress_step(tl_dress_stage *s, double part, tl_error *err)
{
    const tl_dress_watch *w = &s->def->watch;
    tl_step_report r;
    TL_TRY(tl_sim_step(s->sim, &r, err));
    s->report->steps++;
    s->report->pinched_end = r.contact.pinched;
    if (r.contact.pinched > s->report->pinched) s->report->pinched = r.contact.pinched;
    if (w->progress) w->progress(w->user, part);
    return asked((void *)w) ? tl_fail(err, TL_CANCELLED, "dressing was stopped") : TL_OK;
}
