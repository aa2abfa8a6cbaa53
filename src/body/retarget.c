// body/retarget.c: motion of one skeleton put on another: see retarget.h.
//
// With S the world rotation of the source's joint (identity at rest), C the turn from the source's axes to ours (left,
// up and forward of both rest poses), A the turn that brings our limb to the direction of the source's at rest and R
// our rest:  T = F C S C^-1 A R.  F turns all of the motion about the vertical if it begins facing elsewhere than our
// rest pose does: the lead-in would whirl a garment around.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/retarget_impl.h"
#include "math/elementary.h"

void tl_mocap_free(tl_mocap *m)
{
    TL_FREE(&m->alloc, m->joint, m->joint_cap);
    TL_FREE(&m->alloc, m->value, m->value_cap);
    m->joint_count = m->joint_cap = m->value_cap = 0;
}

void tl_mocap_pose(const tl_mocap *m, int32_t frame, tl_quat *turn, tl_vec3 *place)
{
    static const tl_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int32_t j = 0; j < m->joint_count; j++) {
        const tl_mocap_joint *joint = &m->joint[j];
        const double *v = frame >= 0 ? m->value + (size_t)frame * (size_t)m->channel_count + joint->channel : NULL;
        tl_quat own = tl_quat_identity();
        tl_vec3 at = joint->offset;
        bool moved = false;
        for (int k = 0; v && k < joint->channel_count; k++) {
            const int axis = joint->axis[k];
            if (axis >= 3) {
                own = tl_quat_mul(own, tl_quat_turn(axes[axis - 3], v[k] * (3.14159265358979323846 / 180)));
            } else {  // a place replaces the offset
                if (!moved) at = (tl_vec3){0}, moved = true;
                at = tl_madd3(at, v[k], axes[axis]);
            }
        }
        const int32_t up = joint->parent;
        turn[j] = up >= 0 ? tl_quat_unit(tl_quat_mul(turn[up], own)) : tl_quat_unit(own);
        place[j] = up >= 0 ? tl_add3(place[up], tl_quat_rotate(turn[up], at)) : at;
    }
}

// ---- rest poses ----

static tl_vec3 nearest_axis(tl_vec3 a)
{
    const tl_vec3 m = {fabs(a.x), fabs(a.y), fabs(a.z)};
    if (m.x >= m.y && m.x >= m.z) return (tl_vec3){a.x < 0 ? -1 : 1, 0, 0};
    return m.y >= m.z ? (tl_vec3){0, a.y < 0 ? -1 : 1, 0} : (tl_vec3){0, 0, a.z < 0 ? -1 : 1};
}

// Left, up and forward as columns; rigs lean a little, so the axes of their files are taken. False: it cannot be told.
static bool body_axes(tl_vec3 left, tl_vec3 up, double out[3][3])
{
    if (!(tl_norm3(left) > 0) || !(tl_norm3(up) > 0)) return false;
    const tl_vec3 y = nearest_axis(up), x = nearest_axis(tl_madd3(left, -tl_dot3(left, y), y)), z = tl_cross3(x, y);
    if (fabs(tl_dot3(x, y)) > 0.5) return false;
    const tl_vec3 columns[3] = {x, y, z};
    for (int j = 0; j < 3; j++) out[0][j] = columns[j].x, out[1][j] = columns[j].y, out[2][j] = columns[j].z;
    return true;
}

static void find_axes(retargeting *r)
{
    const int32_t *left = r->by_bone[1], *right = r->by_bone[2], *middle = r->by_bone[0];
    double ours[3][3], theirs[3][3], m[3][3];
    r->turn = r->face = tl_quat_identity(), r->up = (tl_vec3){0, 1, 0}, r->forward = (tl_vec3){0, 0, 1};
    const int32_t top = middle[TL_BONE_HEAD] >= 0 ? middle[TL_BONE_HEAD] : middle[TL_BONE_NECK];
    const int32_t hips = middle[TL_BONE_HIPS];
    if (left[TL_BONE_THIGH] < 0 || right[TL_BONE_THIGH] < 0 || top < 0 || hips < 0) return;
    const int32_t *pair = r->pair;
    if (!body_axes(tl_sub3(r->place[left[TL_BONE_THIGH]], r->place[right[TL_BONE_THIGH]]),
                   tl_sub3(r->place[top], r->place[hips]), ours) ||
        !body_axes(tl_sub3(r->source_rest[pair[left[TL_BONE_THIGH]]], r->source_rest[pair[right[TL_BONE_THIGH]]]),
                   tl_sub3(r->source_rest[pair[top]], r->source_rest[pair[hips]]), theirs))
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = ours[i][0] * theirs[j][0] + ours[i][1] * theirs[j][1] + ours[i][2] * theirs[j][2];
    r->turn = tl_quat_from_columns(m);
    r->up = (tl_vec3){ours[0][1], ours[1][1], ours[2][1]};
    r->forward = (tl_vec3){ours[0][2], ours[1][2], ours[2][2]};
}

#define ASIDE 0.5  // [rad] from our heading: less is the actor's own

// In the frame that is in `source_turn`.
static void find_heading(retargeting *r)
{
    const tl_quat hips = tl_quat_mul(r->turn, r->source_turn[r->pair[r->hips]]);
    const tl_vec3 to = tl_quat_rotate(tl_quat_mul(hips, tl_quat_conjugate(r->turn)), r->forward);
    const tl_vec3 level = tl_madd3(to, -tl_dot3(to, r->up), r->up);
    if (tl_norm3(level) < 0.3) return;  // lies down
    const double angle = tl_atan2(tl_dot3(r->up, tl_cross3(r->forward, level)), tl_dot3(r->forward, level));
    if (fabs(angle) < ASIDE) return;
    r->face = tl_quat_turn(r->up, -angle);
    tl_character_note(r->c,
                      "the motion begins %.0f degrees aside from where the body faces at rest, and is turned by that",
                      fabs(angle) * (180 / 3.14159265358979323846));
}

// A limb points where the source's does at rest; hands stay in line with the forearm.
static void align_limbs(retargeting *r)
{
    static const struct {
        tl_bone from, to;
    } limbs[] = {{TL_BONE_UPPER_ARM, TL_BONE_FOREARM},
                 {TL_BONE_FOREARM, TL_BONE_HAND},
                 {TL_BONE_THIGH, TL_BONE_SHIN},
                 {TL_BONE_SHIN, TL_BONE_FOOT}};
    for (int32_t i = 0; i < r->node_count; i++) r->align[i] = tl_quat_identity();
    for (int side = 1; side <= 2; side++) {
        const int32_t *bone = r->by_bone[side];
        for (int k = 0; k < 4; k++) {
            const int32_t a = bone[limbs[k].from], b = bone[limbs[k].to];
            if (a < 0 || b < 0) continue;
            const tl_vec3 ours = tl_sub3(r->place[b], r->place[a]);
            const tl_vec3 theirs = tl_sub3(r->source_rest[r->pair[b]], r->source_rest[r->pair[a]]);
            if (tl_norm3(ours) > 0 && tl_norm3(theirs) > 0)
                r->align[a] = tl_quat_between(ours, tl_quat_rotate(r->turn, theirs));
        }
        if (bone[TL_BONE_HAND] >= 0 && bone[TL_BONE_FOREARM] >= 0)
            r->align[bone[TL_BONE_HAND]] = r->align[bone[TL_BONE_FOREARM]];
    }
}

// Length of our legs over that of the source's; 1 if a joint is missing.
static double leg_ratio(const retargeting *r)
{
    static const tl_bone leg[3] = {TL_BONE_THIGH, TL_BONE_SHIN, TL_BONE_FOOT};
    double ours = 0, theirs = 0;
    for (int side = 1; side <= 2; side++)
        for (int k = 0; k < 2; k++) {
            const int32_t a = r->by_bone[side][leg[k]], b = r->by_bone[side][leg[k + 1]];
            if (a < 0 || b < 0) return 1;
            ours += tl_norm3(tl_sub3(r->place[b], r->place[a]));
            theirs += tl_norm3(tl_sub3(r->source_rest[r->pair[b]], r->source_rest[r->pair[a]]));
        }
    return ours > 0 && theirs > 0 ? ours / theirs : 1;
}

// ---- frames ----

// World rotations of our joints, and frames of all nodes with them, from the source's pose in `source_turn`.
static void pose_frame(retargeting *r, tl_vec3 hips)
{
    const tl_quat c = r->turn, back = tl_quat_conjugate(c);
    for (int32_t i = 0; i < r->node_count; i++) {
        const tl_rig_node *n = &r->c->node[i];
        tl_trs local = n->rest;
        const tl_affine *up = n->parent >= 0 ? &r->frame[n->parent] : NULL;
        const tl_quat up_turn = n->parent >= 0 ? r->world[n->parent] : tl_quat_identity();
        r->world[i] = tl_quat_mul(up_turn, local.turn);
        if (r->pair[i] >= 0) {
            const tl_quat s = tl_quat_mul(r->face, tl_quat_mul(tl_quat_mul(c, r->source_turn[r->pair[i]]), back));
            r->world[i] = tl_quat_unit(tl_quat_mul(s, tl_quat_mul(r->align[i], r->rest[i])));
            local.turn = tl_quat_unit(tl_quat_mul(tl_quat_conjugate(up_turn), r->world[i]));
        }
        if (i == r->hips) {
            const tl_affine inverse = up ? tl_affine_inverse(up) : tl_affine_identity();
            local.move = tl_affine_point(&inverse, hips);
        }
        r->local[i] = local;
        const tl_affine own = n->by_matrix && r->pair[i] < 0 ? n->matrix : tl_affine_from_trs(&local);
        r->frame[i] = up ? tl_affine_mul(up, &own) : own;
    }
}

static double angle_between(tl_quat a, tl_quat b)
{
    const double c = fabs(tl_quat_dot(a, b));
    return 2 * tl_acos(c > 1 ? 1 : c);
}

// The largest turn of a joint from one frame to the next [rad].
static double frame_jump(const retargeting *r, int32_t frame, tl_quat *a, tl_quat *b, tl_vec3 *scratch)
{
    double most = 0;
    tl_mocap_pose(r->m, frame, a, scratch);
    tl_mocap_pose(r->m, frame + 1, b, scratch);
    for (int32_t j = 0; j < r->m->joint_count; j++) most = fmax(most, angle_between(a[j], b[j]));
    return most;
}

// Many files begin with a T pose that is no part of the motion: the first frame is far from the second, and no two of
// the next ten are.
static int32_t find_first_frame(retargeting *r, tl_quat *scratch, tl_vec3 *places)
{
    if (r->m->frame_count < 12) return 0;
    const double jump = frame_jump(r, 0, r->source_turn, scratch, places);
    double next = 0;
    for (int32_t f = 1; f < 11; f++) next = fmax(next, frame_jump(r, f, r->source_turn, scratch, places));
    if (!(jump > 0.35 && jump > 5 * next)) return 0;
    tl_character_note(r->c, "the first frame of the motion is a pose of its own (%.0f degrees off) and is left out",
                      jump * (180 / 3.14159265358979323846));
    return 1;
}

static tl_status push_channel(retargeting *r, int32_t node, tl_clip_path path, int32_t time, tl_clip *clip,
                              tl_error *err)
{
    tl_clip_channel *ch = tl_character_push(r->c, TL_RIG_CHANNELS, 1);
    const int32_t width = path == TL_PATH_TURN ? 4 : 3;
    if (!ch) return tl_fail_memory(err, "a clip");
    *ch = (tl_clip_channel){.target = node,
                            .path = path,
                            .curve = TL_CLIP_LINEAR,
                            .width = width,
                            .time = time,
                            .key_count = r->frame_count,
                            .value = r->c->count[TL_RIG_VALUES]};
    if (!tl_character_push(r->c, TL_RIG_VALUES, (int64_t)width * r->frame_count)) return tl_fail_memory(err, "a clip");
    clip->channel_count++;
    r->c->node[node].by_matrix = 0;
    return TL_OK;
}

static tl_status make_channels(retargeting *r, const char *name, tl_clip *clip, tl_error *err)
{
    *clip = (tl_clip){.channel = r->c->count[TL_RIG_CHANNELS]};
    snprintf(clip->name, sizeof clip->name, "%s", name);
    const int32_t time = r->c->count[TL_RIG_TIMES];
    double *times = tl_character_push(r->c, TL_RIG_TIMES, r->frame_count);
    if (!times) return tl_fail_memory(err, "a clip");
    for (int32_t f = 0; f < r->frame_count; f++) times[f] = f * r->m->frame_seconds;
    clip->end = times[r->frame_count - 1];
    TL_TRY(push_channel(r, r->hips, TL_PATH_MOVE, time, clip, err));
    for (int32_t i = 0; i < r->node_count; i++)
        if (r->pair[i] >= 0) TL_TRY(push_channel(r, i, TL_PATH_TURN, time, clip, err));
    return TL_OK;
}

// Our feet come as low as they stand at rest, and the path begins where the hips rest.
static void fill_channels(retargeting *r, const tl_clip *clip, int32_t first, tl_vec3 *places)
{
    double lowest = (double)INFINITY, rest = (double)INFINITY;
    const double scale = leg_ratio(r);
    const int32_t feet[2] = {r->by_bone[1][TL_BONE_FOOT], r->by_bone[2][TL_BONE_FOOT]};
    tl_vec3 begin = {0};
    for (int s = 0; s < 2; s++)
        if (feet[s] >= 0) rest = fmin(rest, tl_dot3(r->up, r->place[feet[s]]));
    for (int pass = 0; pass < 2; pass++) {
        const double lift = pass == 1 && isfinite(lowest) && isfinite(rest) ? rest - lowest : 0;
        for (int32_t f = 0; f < r->frame_count; f++) {
            tl_mocap_pose(r->m, first + f, r->source_turn, places);
            const tl_vec3 at = places[r->pair[r->hips]];
            if (f == 0) begin = at;
            const tl_vec3 path = tl_quat_rotate(tl_quat_mul(r->face, r->turn), tl_mul3(scale, tl_sub3(at, begin)));
            pose_frame(r, tl_madd3(tl_add3(r->place[r->hips], path), lift, r->up));
            for (int s = 0; pass == 0 && s < 2; s++)
                if (feet[s] >= 0) {
                    const tl_affine *foot = &r->frame[feet[s]];
                    lowest = fmin(lowest, tl_dot3(r->up, (tl_vec3){foot->m[0][3], foot->m[1][3], foot->m[2][3]}));
                }
            for (int32_t k = clip->channel; pass == 1 && k < clip->channel + clip->channel_count; k++) {
                const tl_clip_channel *ch = &r->c->channel[k];
                const tl_trs *local = &r->local[ch->target];
                const double *from = ch->path == TL_PATH_MOVE ? &local->move.x : &local->turn.x;
                memcpy(r->c->value + ch->value + (size_t)f * (size_t)ch->width, from, (size_t)ch->width * sizeof *from);
            }
        }
    }
}

static void rest_pose(retargeting *r)
{
    for (int32_t i = 0; i < r->node_count; i++) {
        const tl_rig_node *n = &r->c->node[i];
        const tl_affine own = n->by_matrix ? n->matrix : tl_affine_from_trs(&n->rest);
        r->frame[i] = n->parent >= 0 ? tl_affine_mul(&r->frame[n->parent], &own) : own;
        const tl_trs t = tl_affine_to_trs(&r->frame[i]);
        r->rest[i] = t.turn, r->place[i] = t.move;
    }
}

static tl_status retarget(retargeting *r, const char *name, const tl_bone_map *map, tl_quat *scratch, tl_vec3 *places,
                          tl_error *err)
{
    rest_pose(r);
    tl_mocap_pose(r->m, -1, r->source_turn, r->source_rest);
    TL_TRY(tl_retarget_pair(r, map, err));
    const int32_t up = r->c->node[r->hips].parent;
    if (up >= 0 && fabs(tl_affine_det(&r->frame[up])) < 1e-12)
        return tl_fail(err, TL_BAD_INPUT, "the node above the hips, '%s', has a scale of zero", r->c->node[up].name);
    find_axes(r);
    align_limbs(r);
    const int32_t first = find_first_frame(r, scratch, places);
    r->frame_count = r->m->frame_count - first;
    tl_mocap_pose(r->m, first, r->source_turn, places);
    find_heading(r);
    tl_clip clip;
    TL_TRY(make_channels(r, name, &clip, err));
    tl_clip *to = tl_character_push(r->c, TL_RIG_CLIPS, 1);
    if (!to) return tl_fail_memory(err, "a clip");
    *to = clip;
    fill_channels(r, &clip, first, places);
    return TL_OK;
}

tl_status tl_retarget(const tl_mocap *m, const char *name, const tl_bone_map *map, tl_character *c, tl_error *err)
{
    const int32_t n = c->count[TL_RIG_NODES], joints = m->joint_count;
    const tl_allocator *alloc = &c->alloc;
    retargeting r = {.m = m, .c = c, .node_count = n, .hips = -1};
    if (c->facts.joints == 0)
        return tl_fail(err, TL_BAD_INPUT, "the character has no skin: a motion needs joints that move its surface");
    r.pair = TL_ALLOC(alloc, int32_t, n), r.rest = TL_ALLOC(alloc, tl_quat, n), r.world = TL_ALLOC(alloc, tl_quat, n);
    r.align = TL_ALLOC(alloc, tl_quat, n), r.place = TL_ALLOC(alloc, tl_vec3, n), r.local = TL_ALLOC(alloc, tl_trs, n);
    r.frame = TL_ALLOC(alloc, tl_affine, n), r.source_turn = TL_ALLOC(alloc, tl_quat, joints);
    r.source_rest = TL_ALLOC(alloc, tl_vec3, joints);
    tl_quat *scratch = TL_ALLOC(alloc, tl_quat, joints);
    tl_vec3 *places = TL_ALLOC(alloc, tl_vec3, joints);
    tl_status status = TL_OK;
    if (!r.pair || !r.rest || !r.world || !r.align || !r.place || !r.local || !r.frame || !r.source_turn ||
        !r.source_rest || !scratch || !places)
        status = tl_fail_memory(err, "a motion");
    if (status == TL_OK) status = retarget(&r, name, map, scratch, places, err);
    TL_FREE(alloc, r.pair, n);
    TL_FREE(alloc, r.rest, n);
    TL_FREE(alloc, r.world, n);
    TL_FREE(alloc, r.align, n);
    TL_FREE(alloc, r.place, n);
    TL_FREE(alloc, r.local, n);
    TL_FREE(alloc, r.frame, n);
    TL_FREE(alloc, r.source_turn, joints);
    TL_FREE(alloc, r.source_rest, joints);
    TL_FREE(alloc, scratch, joints);
    TL_FREE(alloc, places, joints);
    return status;
}
