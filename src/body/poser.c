// body/poser.c: where a character's vertices are at a time: clips sampled, frames of the nodes, morphs, skin.
//
// x = sum_j w_j F_j B_j (p + sum_m a_m d_m): linear blend skinning, F_j frame of the joint's node, B_j its inverse
// bind matrix, p the vertex, d_m its morph moves with weights a_m (glTF 2.0, sec. 3.7.3). A function of the time alone:
// nothing is kept from one pose to the next, so a resumed run sees the same bits.

#include <string.h>

#include "base/alloc.h"
#include "body/character.h"

struct tl_poser {
    tl_allocator alloc;
    tl_trs *local;
    tl_affine *frame;  ///< of the nodes
    tl_affine *skin;   ///< of the joints
    double *morph, *sample;
    int32_t node_count, joint_count, morph_count, sample_count;
};

static int32_t at_least_4(int32_t n) { return n > 4 ? n : 4; }

tl_poser *tl_poser_create(const tl_allocator *alloc, const tl_character *c)
{
    tl_poser *p = TL_CALLOC(alloc, tl_poser, 1);
    if (!p) return NULL;
    p->alloc = *alloc;
    p->node_count = c->count[TL_RIG_NODES], p->joint_count = c->count[TL_RIG_JOINTS];
    p->morph_count = c->count[TL_RIG_MORPHS], p->sample_count = at_least_4(p->morph_count);
    p->local = TL_ALLOC(alloc, tl_trs, p->node_count);
    p->frame = TL_ALLOC(alloc, tl_affine, p->node_count);
    p->skin = TL_ALLOC(alloc, tl_affine, p->joint_count);
    p->morph = TL_ALLOC(alloc, double, p->morph_count);
    p->sample = TL_ALLOC(alloc, double, p->sample_count);
    if (p->local && p->frame && p->skin && p->morph && p->sample) return p;
    tl_poser_destroy(p);
    return NULL;
}

void tl_poser_destroy(tl_poser *p)
{
    if (!p) return;
    const tl_allocator alloc = p->alloc;
    TL_FREE(&alloc, p->local, p->node_count);
    TL_FREE(&alloc, p->frame, p->node_count);
    TL_FREE(&alloc, p->skin, p->joint_count);
    TL_FREE(&alloc, p->morph, p->morph_count);
    TL_FREE(&alloc, p->sample, p->sample_count);
    TL_FREE(&alloc, p, 1);
}

const tl_affine *tl_poser_frames(const tl_poser *p) { return p->frame; }

// ---- clips ----

// The last key at or before `time`, at most count - 2.
static int32_t key_before(const double *key, int32_t count, double time)
{
    int32_t low = 0, high = count - 1;
    while (high - low > 1) {
        const int32_t mid = low + (high - low) / 2;
        if (key[mid] <= time)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static tl_quat quat_of(const double v[4]) { return (tl_quat){v[0], v[1], v[2], v[3]}; }
static void put_quat(tl_quat q, double out[4]) { out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w; }

void tl_clip_sample(const tl_character *c, const tl_clip_channel *ch, double time, double *out)
{
    const double *key = c->time + ch->time, *value = c->value + ch->value;
    const int32_t w = ch->width, last = ch->key_count - 1;
    const bool cubic = ch->curve == TL_CLIP_CUBIC;
    const int32_t stride = cubic ? 3 * w : w, middle = cubic ? w : 0;
    if (last == 0 || time <= key[0] || time >= key[last]) {
        const int32_t k = last == 0 || time <= key[0] ? 0 : last;
        memcpy(out, value + (size_t)k * (size_t)stride + middle, (size_t)w * sizeof *out);
        if (ch->path == TL_PATH_TURN) put_quat(tl_quat_unit(quat_of(out)), out);
        return;
    }
    const int32_t k = key_before(key, ch->key_count, time);
    const double h = key[k + 1] - key[k], s = (time - key[k]) / h;
    const double *a = value + (size_t)k * (size_t)stride, *b = a + stride;
    if (ch->curve == TL_CLIP_STEP) {
        memcpy(out, a, (size_t)w * sizeof *out);
    } else if (cubic) {  // Hermite: glTF 2.0, app. C.5
        const double s2 = s * s, s3 = s2 * s;
        const double p0 = 2 * s3 - 3 * s2 + 1, m0 = h * (s3 - 2 * s2 + s), p1 = 3 * s2 - 2 * s3, m1 = h * (s3 - s2);
        for (int32_t i = 0; i < w; i++) out[i] = p0 * a[w + i] + m0 * a[2 * w + i] + p1 * b[w + i] + m1 * b[i];
    } else if (ch->path == TL_PATH_TURN) {
        put_quat(tl_quat_slerp(tl_quat_unit(quat_of(a)), tl_quat_unit(quat_of(b)), s), out);
        return;
    } else {
        for (int32_t i = 0; i < w; i++) out[i] = a[i] + s * (b[i] - a[i]);
    }
    if (ch->path == TL_PATH_TURN) put_quat(tl_quat_unit(quat_of(out)), out);
}

static void sample_clip(tl_poser *p, const tl_character *c, const tl_clip *clip, double time)
{
    for (int32_t i = clip->channel; i < clip->channel + clip->channel_count; i++) {
        const tl_clip_channel *ch = &c->channel[i];
        double *v = p->sample;
        tl_clip_sample(c, ch, time, v);
        switch ((tl_clip_path)ch->path) {
        case TL_PATH_MOVE: p->local[ch->target].move = (tl_vec3){v[0], v[1], v[2]}; break;
        case TL_PATH_TURN: p->local[ch->target].turn = quat_of(v); break;
        case TL_PATH_SCALE: p->local[ch->target].scale = (tl_vec3){v[0], v[1], v[2]}; break;
        case TL_PATH_MORPH: memcpy(p->morph + ch->target, v, (size_t)ch->width * sizeof *v); break;
        }
    }
}

static tl_vec3 mix(tl_vec3 a, tl_vec3 b, double s) { return tl_madd3(a, s, tl_sub3(b, a)); }

// The pose is `s` of the sampled one, the rest is the rest pose.
static void blend_with_rest(tl_poser *p, const tl_character *c, double s)
{
    for (int32_t i = 0; i < p->node_count; i++) {
        const tl_trs *a = &c->node[i].rest, *b = &p->local[i];
        p->local[i] =
            (tl_trs){mix(a->move, b->move, s), tl_quat_slerp(a->turn, b->turn, s), mix(a->scale, b->scale, s)};
    }
    for (int32_t i = 0; i < p->morph_count; i++) p->morph[i] = c->morph[i] + s * (p->morph[i] - c->morph[i]);
}

// Where the clock of a playback stands: the time in the clip, and how far the lead-in has come (1: it is over).
static double clip_time(const tl_clip *clip, const tl_playback *play, double time, double *lead)
{
    const double since = time - play->start, ran = since - play->lead_in;
    *lead = play->lead_in <= 0 || ran >= 0 ? 1 : since <= 0 ? 0 : since / play->lead_in;
    // at rest and without acceleration at both ends
    *lead = *lead * *lead * *lead * (*lead * (6 * *lead - 15) + 10);
    const double at = clip->begin + play->from + (ran > 0 ? ran * play->speed : 0);
    return at < clip->end ? at : clip->end;
}

// ---- surface ----

static void place_frames(tl_poser *p, const tl_character *c)
{
    for (int32_t i = 0; i < p->node_count; i++) {
        const tl_rig_node *n = &c->node[i];
        const tl_affine own = n->by_matrix ? n->matrix : tl_affine_from_trs(&p->local[i]);
        p->frame[i] = n->parent >= 0 ? tl_affine_mul(&p->frame[n->parent], &own) : own;
    }
    for (int32_t j = 0; j < p->joint_count; j++) {
        const tl_affine in_scene = tl_affine_mul(&p->frame[c->joint[j].node], &c->joint[j].bind);
        p->skin[j] = tl_affine_mul(&c->place, &in_scene);
    }
}

static void skin_verts(const tl_poser *p, const tl_character *c, tl_vec3 *out)
{
    for (int32_t i = 0; i < c->count[TL_RIG_VERTS]; i++) {
        const tl_rig_vert *v = &c->vert[i];
        tl_vec3 x = v->pos, sum = {0};
        for (int32_t d = v->delta; d < v->delta + v->delta_count; d++)
            x = tl_madd3(x, p->morph[c->delta[d].morph], c->delta[d].move);
        for (int32_t w = v->weight; w < v->weight + v->weight_count; w++)
            sum = tl_madd3(sum, c->weight[w].weight, tl_affine_point(&p->skin[c->weight[w].joint], x));
        out[i] = sum;
    }
}

static tl_vec3 cached(const tl_cache_point *a) { return (tl_vec3){(double)a->x, (double)a->y, (double)a->z}; }

// Straight paths between the shapes of a cache, which are placed already; during the lead-in from the rest shape, in
// `out`.
static void cache_verts(const tl_character *c, double time, double lead, tl_vec3 *out)
{
    const int32_t keys = c->count[TL_RIG_CACHE_TIMES], n = c->count[TL_RIG_VERTS];
    const int32_t k = keys > 1 ? key_before(c->cache_time, keys, time) : 0, next = keys > 1 ? k + 1 : 0;
    double s = keys > 1 ? (time - c->cache_time[k]) / (c->cache_time[next] - c->cache_time[k]) : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    const tl_cache_point *a = c->cache_point + (size_t)k * (size_t)n, *b = c->cache_point + (size_t)next * (size_t)n;
    for (int32_t i = 0; i < n; i++) {
        const tl_vec3 x = mix(cached(&a[i]), cached(&b[i]), s);
        out[i] = lead < 1 ? mix(out[i], x, lead) : x;
    }
}

void tl_poser_at(tl_poser *p, const tl_character *c, const tl_playback *play, double time, tl_vec3 *out)
{
    const bool cache = c->count[TL_RIG_CACHE_TIMES] > 0;
    const tl_clip *clip = play->clip >= 0 ? &c->clip[play->clip] : NULL;
    double lead = 0;
    const double at = clip ? clip_time(clip, play, time, &lead) : 0;
    for (int32_t i = 0; i < p->node_count; i++) p->local[i] = c->node[i].rest;
    if (p->morph_count > 0) memcpy(p->morph, c->morph, (size_t)p->morph_count * sizeof *p->morph);
    if (clip && lead > 0) sample_clip(p, c, clip, at);
    if (clip && lead > 0 && lead < 1) blend_with_rest(p, c, lead);
    place_frames(p, c);
    if (!cache || lead < 1) skin_verts(p, c, out);
    if (cache && lead > 0) cache_verts(c, at, lead, out);
}
