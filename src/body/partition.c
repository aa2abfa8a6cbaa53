// body/partition.c: the two heaviest bones of every vertex. Morph targets move vertices as no bone does; whoever takes
// a vertex for rigid has to allow for what it really does (respond/push_out/cylinders.c measures it at every fit).

#include "body/partition.h"

enum { MOST = 32 };  // bones of a vertex that are told apart

static tl_vert_bones bones_of(const tl_character *c, const tl_rig_vert *v)
{
    int32_t bone[MOST];
    double weight[MOST];
    int n = 0;
    for (int32_t w = v->weight; w < v->weight + v->weight_count; w++) {
        const int32_t node = c->joint[c->weight[w].joint].node;
        int k = 0;
        while (k < n && bone[k] != node) k++;
        if (k == MOST) continue;
        if (k == n) bone[n] = node, weight[n++] = 0;
        weight[k] += c->weight[w].weight;
    }
    tl_vert_bones out = {{-1, -1}, 0};
    double second = 0;
    for (int k = 0; k < n; k++)
        if (out.bone[0] < 0 || weight[k] > out.weight) {
            out.bone[1] = out.bone[0], second = out.weight;
            out.bone[0] = bone[k], out.weight = weight[k];
        } else if (out.bone[1] < 0 || weight[k] > second) {
            out.bone[1] = bone[k], second = weight[k];
        }
    return out;
}

void tl_character_bones(const tl_character *c, tl_vert_bones *out)
{
    const bool rig = c->count[TL_RIG_WEIGHTS] > 0;
    for (int32_t v = 0; v < tl_character_vert_count(c); v++)
        out[v] = rig ? bones_of(c, &c->vert[v]) : (tl_vert_bones){{-1, -1}, 0};
}
