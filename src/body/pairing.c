// body/pairing.c: which joint of a motion moves which node of a character.
//
// The user's pairs first, then equal names of bones of one kind, then names that mean the same bone on the same side.
// Spines of different length are paired from the bottom to the top in proportion; limbs whose joints are only numbered
// (leg_1, leg_2, ..) are thigh, shin, foot, toe in their order.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "body/retarget_impl.h"

enum { ENOUGH = 5, MAX_CHAIN = 32 };  // pairs that make a motion

// Names, parents and what they mean, of either skeleton.
typedef struct skeleton {
    const char **name;
    int32_t *parent;
    int32_t *bone, *side;
    int32_t count;
} skeleton;

static tl_status make_skeleton(const tl_allocator *alloc, int32_t n, skeleton *out, tl_error *err)
{
    *out = (skeleton){.count = n};
    out->name = TL_CALLOC_FOR(alloc, out->name, n);
    out->parent = TL_CALLOC(alloc, int32_t, n);
    out->bone = TL_CALLOC(alloc, int32_t, n);
    out->side = TL_CALLOC(alloc, int32_t, n);
    return out->name && out->parent && out->bone && out->side ? TL_OK : tl_fail_memory(err, "a motion");
}

static void free_skeleton(const tl_allocator *alloc, skeleton *s)
{
    TL_FREE(alloc, s->name, s->count);
    TL_FREE(alloc, s->parent, s->count);
    TL_FREE(alloc, s->bone, s->count);
    TL_FREE(alloc, s->side, s->count);
}

// Joints of one bone and side, in order; at most MAX_CHAIN.
static int32_t joints_of(const skeleton *s, int32_t bone, int32_t side, int32_t out[MAX_CHAIN])
{
    int32_t n = 0;
    for (int32_t i = 0; i < s->count && n < MAX_CHAIN; i++)
        if (s->bone[i] == bone && s->side[i] == side) out[n++] = i;
    return n;
}

// arm_1, arm_2, arm_3 are upper arm, forearm and hand; leg_1 to leg_4 thigh, shin, foot and toe.
static void number_limbs(skeleton *s)
{
    int32_t chain[MAX_CHAIN], other[MAX_CHAIN];
    for (int side = 1; side <= 2; side++) {
        int32_t n = joints_of(s, TL_BONE_SHIN, side, chain);
        if (n > 1 && joints_of(s, TL_BONE_THIGH, side, other) == 0)
            for (int32_t k = 0; k < n; k++) s->bone[chain[k]] = k < 4 ? TL_BONE_THIGH + k : TL_BONE_NONE;
        n = joints_of(s, TL_BONE_UPPER_ARM, side, chain);
        if (n > 1 && joints_of(s, TL_BONE_FOREARM, side, other) == 0)
            for (int32_t k = 0; k < n; k++) s->bone[chain[k]] = k < 3 ? TL_BONE_UPPER_ARM + k : TL_BONE_NONE;
        // collar and shoulder without an arm: the shoulder is the arm
        n = joints_of(s, TL_BONE_COLLAR, side, chain);
        if (n > 0 && joints_of(s, TL_BONE_UPPER_ARM, side, other) == 0) s->bone[chain[n - 1]] = TL_BONE_UPPER_ARM;
    }
}

// Without a name that says so, the hips are the nearest joint that both thighs hang from; -1: there is none.
static int32_t where_legs_meet(const skeleton *s)
{
    int32_t left[MAX_CHAIN], right[MAX_CHAIN];
    if (joints_of(s, TL_BONE_THIGH, 1, left) == 0 || joints_of(s, TL_BONE_THIGH, 2, right) == 0) return -1;
    for (int32_t a = s->parent[left[0]]; a >= 0; a = s->parent[a])
        for (int32_t b = s->parent[right[0]]; b >= 0; b = s->parent[b])
            if (a == b) return a;
    return -1;
}

static void classify(skeleton *s)
{
    for (int32_t i = 0; i < s->count; i++) s->bone[i] = tl_bone_of(s->name[i], &s->side[i]);
    number_limbs(s);
    int32_t hips[MAX_CHAIN];
    if (joints_of(s, TL_BONE_HIPS, 0, hips) > 0) return;
    const int32_t joint = where_legs_meet(s);
    if (joint >= 0) s->bone[joint] = TL_BONE_HIPS, s->side[joint] = 0;
}

static const char *bare(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static int32_t find_name(const skeleton *s, const char *name, size_t n)
{
    for (int32_t i = 0; i < s->count; i++)
        if (strlen(s->name[i]) == n && strncasecmp(s->name[i], name, n) == 0) return i;
    for (int32_t i = 0; i < s->count; i++)
        if (strlen(bare(s->name[i])) == n && n > 0 && strncasecmp(bare(s->name[i]), name, n) == 0) return i;
    return -1;
}

static tl_status pair_as_told(retargeting *r, const tl_bone_map *map, const skeleton *ours, const skeleton *theirs,
                              tl_error *err)
{
    for (int32_t k = 0; k < map->count; k++) {
        const char *text = map->pairs[k], *equals = strchr(text, '=');
        if (!equals) return tl_fail(err, TL_BAD_INPUT, "bones: '%.100s' must be \"from=to\"", text);
        const int32_t from = find_name(theirs, text, (size_t)(equals - text));
        const int32_t to = find_name(ours, equals + 1, strlen(equals + 1));
        if (from < 0)
            return tl_fail(err, TL_BAD_INPUT, "bones: the motion has no joint '%.*s'", (int)(equals - text), text);
        if (to < 0) return tl_fail(err, TL_BAD_INPUT, "bones: the character has no node '%.100s'", equals + 1);
        r->pair[to] = from;
    }
    return TL_OK;
}

static bool is_used(const retargeting *r, int32_t joint)
{
    for (int32_t i = 0; i < r->node_count; i++)
        if (r->pair[i] == joint) return true;
    return false;
}

// Equal names may mean unlike bones: a "LeftShoulder" is the collar in one rig and the upper arm in another. Spines are
// paired by their order: a "Spine1" is the second of two here and of five there.
static void pair_by_name(retargeting *r, const skeleton *ours, const skeleton *theirs)
{
    for (int32_t j = 0; j < theirs->count; j++) {
        const char *name = bare(theirs->name[j]);
        const int32_t i = *name ? find_name(ours, name, strlen(name)) : -1;
        if (i >= 0 && r->pair[i] < 0 && !is_used(r, j) && ours->bone[i] == theirs->bone[j] &&
            ours->bone[i] != TL_BONE_SPINE)
            r->pair[i] = j;
    }
}

static void pair_by_bone(retargeting *r, const skeleton *ours, const skeleton *theirs)
{
    int32_t a[MAX_CHAIN], b[MAX_CHAIN];
    for (int32_t side = 0; side < 3; side++)
        for (int32_t bone = TL_BONE_HIPS; bone < TL_BONE_KINDS; bone++) {
            const int32_t n = joints_of(ours, bone, side, a), m = joints_of(theirs, bone, side, b);
            bool paired = m == 0;
            for (int32_t k = 0; k < n; k++) paired = paired || r->pair[a[k]] >= 0;
            if (paired) continue;
            for (int32_t k = 0; k < n && (k == 0 || bone == TL_BONE_SPINE); k++) {
                const int32_t with = n > 1 ? (int32_t)(((int64_t)k * (m - 1) + (n - 1) / 2) / (n - 1)) : m - 1;
                r->pair[a[k]] = b[bone == TL_BONE_SPINE ? with : 0];
            }
        }
}

// Names of bones of the motion that nothing moves by, for messages.
static void list_lost(const retargeting *r, const skeleton *theirs, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (int32_t j = 0; j < theirs->count && n + TL_RIG_NAME + 4 < size; j++)
        if (theirs->bone[j] != TL_BONE_NONE && !is_used(r, j))
            n += (size_t)snprintf(out + n, size - n, "%s%s", n > 0 ? ", " : "", theirs->name[j]);
}

static tl_status finish(retargeting *r, const skeleton *ours, const skeleton *theirs, tl_error *err)
{
    int32_t pairs = 0;
    char lost[400];
    for (int side = 0; side < 3; side++)
        for (int b = 0; b < TL_BONE_KINDS; b++) r->by_bone[side][b] = -1;
    for (int32_t i = 0; i < r->node_count; i++) {
        if (r->pair[i] < 0) continue;
        pairs++;
        int32_t *to = &r->by_bone[ours->side[i]][ours->bone[i]];
        if (ours->bone[i] != TL_BONE_NONE && *to < 0) *to = i;
    }
    r->hips = r->by_bone[0][TL_BONE_HIPS];
    list_lost(r, theirs, lost, sizeof lost);
    if (r->hips < 0 || pairs < ENOUGH)
        return tl_fail(
            err, TL_BAD_INPUT,
            "only %d joints of the motion are found in the character%s (not found: %s; say which is which with "
            "bones)",
            pairs, r->hips < 0 ? ", hips not among them" : "", lost);
    if (lost[0]) tl_character_note(r->c, "these joints of the motion move nothing: %.200s", lost);
    return TL_OK;
}

tl_status tl_retarget_pair(retargeting *r, const tl_bone_map *map, tl_error *err)
{
    const tl_allocator *alloc = &r->c->alloc;
    skeleton ours = {0}, theirs = {0};
    tl_status status = make_skeleton(alloc, r->node_count, &ours, err);
    if (status == TL_OK) status = make_skeleton(alloc, r->m->joint_count, &theirs, err);
    if (status == TL_OK) {
        for (int32_t i = 0; i < ours.count; i++)
            ours.name[i] = r->c->node[i].name, ours.parent[i] = r->c->node[i].parent, r->pair[i] = -1;
        for (int32_t j = 0; j < theirs.count; j++)
            theirs.name[j] = r->m->joint[j].name, theirs.parent[j] = r->m->joint[j].parent;
        classify(&ours);
        classify(&theirs);
        status = pair_as_told(r, map, &ours, &theirs, err);
    }
    if (status == TL_OK) {
        pair_by_name(r, &ours, &theirs);
        pair_by_bone(r, &ours, &theirs);
        status = finish(r, &ours, &theirs, err);
    }
    free_skeleton(alloc, &ours);
    free_skeleton(alloc, &theirs);
    return status;
}
