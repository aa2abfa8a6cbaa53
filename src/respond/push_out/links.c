// respond/push_out/links.c: moving targets of nodes that touch.

#include "respond/push_out/links.h"

#include "math/vec3.h"

static tl_vec3 target(const tl_push_link *l, const tl_push_body *b, tl_vec3 *normal)
{
    tl_vec3 at;
    if (!b->tree) {
        at = tl_add3(b->point, l->anchor), *normal = b->axis;
    } else if (l->face < 0) {
        tl_vec3 point, out;
        at = tl_frame_out_of(&b->solid->now, l->anchor);
        tl_solid_nearest(&b->solid->shape, l->anchor, &point, &out);
        *normal = tl_frame_turn_out(&b->solid->now, out);
    } else {
        const int32_t *v = tl_bvh_surface(b->tree)->face[l->face];
        const tl_vec3 a = b->now[v[0]], c = b->now[v[1]], d = b->now[v[2]];
        at = tl_madd3(tl_madd3(tl_mul3(l->anchor.x, a), l->anchor.y, c), l->anchor.z, d);
        *normal = tl_unit3_or(tl_cross3(tl_sub3(c, a), tl_sub3(d, a)), (tl_vec3){0, 1, 0});
    }
    return tl_madd3(at, l->gap, *normal);
}

static const tl_push_body *body_of(const tl_push_link *l, const tl_push_body *bodies, int32_t count)
{
    for (int32_t k = 0; k < count && l->body >= 0; k++)
        if (bodies[k].key == l->body) return &bodies[k];
    return NULL;
}

static tl_vec3 place(const tl_push_nodes *nodes, int32_t i)
{
    return (tl_vec3){nodes->pos[i][0], nodes->pos[i][1], nodes->pos[i][2]};
}

static void grow_older(tl_push_link *l, const tl_push_links_def *def, const tl_push_body *bodies, int32_t body_count,
                       tl_vec3 x)
{
    if (l->body < 0) return;
    const tl_push_body *b = body_of(l, bodies, body_count);
    tl_vec3 normal;
    if (++l->age >= def->steps || !b || tl_norm3(tl_sub3(target(l, b, &normal), x)) > def->distance) l->body = -1;
}

void tl_push_links_update(tl_push_link *link, const tl_push_links_def *def, const tl_push_links_step *step)
{
    for (int32_t i = 0; i < step->nodes->count; i++)
        grow_older(&link[step->slot[i]], def, step->bodies, step->body_count, place(step->nodes, i));
    for (int32_t k = 0; k < step->contact_count; k++) {
        const tl_push_contact *c = &step->contact[k];
        const double over = tl_dot3(tl_sub3(place(step->nodes, c->node), c->point), c->normal);
        if (over > step->touch) continue;
        // its target is where it would be at the offset, not where it has been pushed in to
        const tl_push_body *b = &step->bodies[c->body];
        link[step->slot[c->node]] = (tl_push_link){b->key, c->face, 0, b->offset, c->anchor};
    }
}

tl_vec3 tl_push_link_pull(const tl_push_link *l, const tl_push_links_def *def, const tl_push_body *bodies,
                          int32_t body_count, tl_vec3 x)
{
    const tl_push_body *b = body_of(l, bodies, body_count);
    if (!b) return (tl_vec3){0, 0, 0};
    tl_vec3 normal;
    const tl_vec3 way = tl_sub3(target(l, b, &normal), x);
    const double across = tl_dot3(way, normal), left = 1 - (double)l->age / def->steps;
    return tl_madd3(tl_mul3(left * def->slide, tl_madd3(way, -across, normal)), left * def->lift * across, normal);
}
