// respond/contact_points.c: contacts that press, for those who ask from outside.

#include "respond/contact_impl.h"

int32_t tl_contacts_active_count(const tl_contacts *c)
{
    return c->set.active_count < c->set.count ? c->set.active_count : c->set.count;
}

tl_contact_item tl_contacts_item(const tl_contacts *c, int32_t index, const tl_vec3 *x)
{
    const contact *ct = &c->set.contact[index];
    const pair *p = &ct->pair;
    // the side of a cloth: the first feature unless that is a body's
    const bool first = p->node[0] < c->node_count;
    const int begin = first ? 0 : first_count(p), end = first ? first_count(p) : pair_nodes(p);
    tl_contact_item item = {.body = p->body,
                            .node = p->node[begin],
                            .other_node = p->body == TL_CLOTH ? p->node[first ? first_count(p) : 0] : -1,
                            .normal = first ? ct->normal : tl_mul3(-1, ct->normal),
                            .gap = ct->distance,
                            .thickness = p->thickness,
                            .force = tl_mul3(first ? -1 : 1, ct->force)};
    double most = -1;
    for (int k = begin; k < end; k++) {  // weights of the second feature are negative
        const double w = fabs(ct->weight[k]);
        item.point = tl_madd3(item.point, w, x[p->node[k]]);
        if (w > most) most = w, item.node = p->node[k];
    }
    return item;
}
