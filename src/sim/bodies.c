// sim/bodies.c: what cloth collides with: checking definitions, making surfaces, and positions at any time.
//
// Nodes of a deforming body move along straight lines between its keyed shapes (Kimmerle 2005, sec. 2.3), and the rigid
// motion of the pose keys is applied on top. Nodes of a character follow from its pose at that time. Real bodies
// intersect themselves at armpits and knees and are seldom manifold; bodies are never tested against bodies.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "body/mittens.h"
#include "base/hash.h"
#include "base/log.h"
#include "mesh/edges.h"
#include "body/solids.h"
#include "respond/push_out/search.h"
#include "sim/internal.h"

#define PLANE_HALF_SIDE 10.0  // of the square that stands for a plane in views [m]
static const int32_t plane_face[2][3] = {{0, 1, 2}, {0, 2, 3}};

void tl_body_def_init(tl_body_def *def, size_t size)
{
    const tl_body_def defaults = {.kind = TL_BODY_MESH,
                                  .axis = {0, 1, 0},
                                  .playback = tl_playback_default(),
                                  .friction = 0.3,
                                  .end = (double)INFINITY};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

// ---- checks ----

static bool above_zero(double x) { return isfinite(x) && x > 0; }

static tl_status check_mesh(const char *name, const tl_body_def *def, tl_error *err)
{
    if (def->node_count < 1)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': node_count %d, must be >= 1", name, def->node_count);
    if (def->face_count < 1 || !def->face)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': face_count %d, must be >= 1 and face given", name,
                       def->face_count);
    if (def->key_count < 0)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': key_count %d, must be >= 0", name, def->key_count);
    if (def->key_count == 0 && !def->pos)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': neither pos nor key_pos is given", name);
    if (def->key_count > 0 && (!def->key_pos || !def->key_time))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': key_count %d without key_time and key_pos", name, def->key_count);
    for (int32_t k = 0; k < def->key_count; k++) {
        if (!isfinite(def->key_time[k]))
            return tl_fail(err, TL_BAD_INPUT, "body '%s': key_time[%d] %g s, must be finite", name, k,
                           def->key_time[k]);
        if (k > 0 && !(def->key_time[k] > def->key_time[k - 1]))
            return tl_fail(err, TL_BAD_INPUT, "body '%s': key_time[%d] %g s, must be after the key before it (%g s)",
                           name, k, def->key_time[k], def->key_time[k - 1]);
        for (int32_t i = 0; i < def->node_count; i++)
            if (!tl_finite3(def->key_pos[(size_t)k * (size_t)def->node_count + (size_t)i]))
                return tl_fail(err, TL_BAD_INPUT, "body '%s': node %d of shape %d is not finite", name, i, k);
    }
    for (int32_t i = 0; def->key_count == 0 && i < def->node_count; i++)
        if (!tl_finite3(def->pos[i])) return tl_fail(err, TL_BAD_INPUT, "body '%s': node %d is not finite", name, i);
    for (int32_t f = 0; f < def->face_count; f++)
        for (int c = 0; c < 3; c++)
            if (def->face[f][c] < 0 || def->face[f][c] >= def->node_count)
                return tl_fail(err, TL_BAD_INPUT, "body '%s': face %d has node %d, there are nodes 0 to %d", name, f,
                               def->face[f][c], def->node_count - 1);
    return TL_OK;
}

static tl_status check_character(const char *name, const tl_body_def *def, tl_error *err)
{
    const tl_playback *play = &def->playback;
    if (def->key_count > 0 || def->pos || def->face)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': has a character and a mesh, must have one of them", name);
    if (play->clip < -1 || play->clip >= tl_character_clip_count(def->character))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': clip %d, there are %d (-1: rest pose)", name, play->clip,
                       tl_character_clip_count(def->character));
    if (!isfinite(play->start) || !(isfinite(play->lead_in) && play->lead_in >= 0) || !above_zero(play->speed) ||
        !(isfinite(play->from) && play->from >= 0))
        return tl_fail(
            err, TL_BAD_INPUT,
            "body '%s': start %g s, lead_in %g s, speed %g, from %g s: must be finite, lead_in and from >= 0, "
            "speed > 0",
            name, play->start, play->lead_in, play->speed, play->from);
    return TL_OK;
}

static tl_status check_shape(const char *name, const tl_body_def *def, tl_error *err)
{
    const tl_body_kind kind = def->kind;
    if (def->key_count > 0)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': key_count %d, only a mesh can deform", name, def->key_count);
    if (!tl_finite3(def->center)) return tl_fail(err, TL_BAD_INPUT, "body '%s': center is not finite", name);
    if (kind != TL_BODY_PLANE && kind != TL_BODY_BOX && !above_zero(def->radius))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': radius %g m, must be > 0", name, def->radius);
    if (kind != TL_BODY_SPHERE && kind != TL_BODY_BOX && !above_zero(tl_norm3(def->axis)))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': axis (%g, %g, %g), must be finite and not zero", name,
                       def->axis.x, def->axis.y, def->axis.z);
    if (kind == TL_BODY_BOX && (!above_zero(def->size.x) || !above_zero(def->size.y) || !above_zero(def->size.z)))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': size (%g, %g, %g) m, must be > 0", name, def->size.x, def->size.y,
                       def->size.z);
    return TL_OK;
}

static tl_status check_body(const char *name, const tl_body_def *def, tl_error *err)
{
    if ((int)def->kind < TL_BODY_MESH || def->kind > TL_BODY_BOX)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': kind %d is none of ours", name, (int)def->kind);
    if (def->kind != TL_BODY_MESH && def->character)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': has a character, its kind must be mesh", name);
    TL_TRY(def->kind != TL_BODY_MESH ? check_shape(name, def, err)
           : def->character          ? check_character(name, def, err)
                                     : check_mesh(name, def, err));
    if (!(isfinite(def->friction) && def->friction >= 0))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': friction %g, must be >= 0", name, def->friction);
    if (!(isfinite(def->thickness) && def->thickness >= 0))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': thickness %g m, must be >= 0", name, def->thickness);
    if (isnan(def->start) || isnan(def->end) || !(def->end > def->start))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': end %g s, must be after start %g s", name, def->end, def->start);
    if (!tl_finite3(def->pivot)) return tl_fail(err, TL_BAD_INPUT, "body '%s': pivot is not finite", name);
    char what[80];
    snprintf(what, sizeof what, "body '%s': motion", name);
    TL_TRY(tl_motion_check(what, def->motion, def->motion_count, err));
    if (def->curve != TL_CURVE_SMOOTH && def->curve != TL_CURVE_CUBIC)
        return tl_fail(err, TL_BAD_INPUT, "body '%s': curve %d is none of ours", name, (int)def->curve);
    for (int32_t i = 0; i < def->motion_count; i++)
        if (def->motion[i].release)
            return tl_fail(err, TL_BAD_INPUT, "body '%s': motion: keys[%d] has release, which is for handles", name, i);
    return TL_OK;
}

// ---- making ----

static void free_body(tl_sim *sim, sim_body *b)
{
    const tl_allocator *alloc = &sim->alloc;
    TL_FREE(alloc, b->shape, (size_t)b->key_count * (size_t)b->node_count);
    TL_FREE(alloc, b->key_time, b->key_count);
    sim_free_flesh(sim, b);
    TL_FREE(alloc, b->face, b->face_count);
    TL_FREE(alloc, b->edge, b->edge_count);
    TL_FREE(alloc, b->motion, b->motion_count);
    TL_FREE(alloc, b->shown, b->kind == TL_BODY_PLANE ? 4 : b->node_count);
    TL_FREE(alloc, b->at, b->node_count);
    TL_FREE(alloc, b->then, b->node_count);
    TL_FREE(alloc, b->normal, b->node_count);
    tl_poser_destroy(b->poser);
    tl_character_destroy(b->character);
}

void sim_free_body(tl_sim *sim, sim_body *b)
{
    tl_bvh_destroy(b->tree);
    tl_search_destroy(b->search);
    free_body(sim, b);
}

// Contact may have fitted the tree to a copy of these positions that has since been freed.
static void fit(tl_sim *sim, sim_body *b, bool moved)
{
    if (moved || tl_bvh_positions(b->tree) != b->at) tl_bvh_refit(b->tree, b->at, NULL, 0, 0, sim->workers);
    b->placed = true;
}

tl_status sim_fit_body(tl_sim *sim, sim_body *b, double time, tl_error *err)
{
    const tl_surface surface = {b->node_count, b->face_count, b->edge_count, (const int32_t(*)[3])b->face,
                                (const int32_t(*)[2])b->edge};
    tl_bvh_def def = tl_bvh_def_default();
    def.relative = 1;
    if (!b->tree) TL_TRY(tl_bvh_create(&sim->alloc, &def, &surface, b->shape, &b->tree, err));
    if (!b->at) b->at = TL_ALLOC(&sim->alloc, tl_vec3, b->node_count);
    if (!b->at) return tl_fail_memory(err, "bodies");
    const bool there = b->placed && !b->moves;
    if (!there) sim_body_at(b, time, b->at);
    fit(sim, b, !there);
    return TL_OK;
}

void sim_fit_body_ahead(tl_sim *sim, sim_body *b)
{
    tl_vec3 *at = b->then;
    b->then = b->at, b->at = at;
    fit(sim, b, true);
}

void sim_forget_places(tl_sim *sim)
{
    for (int32_t i = 0; i < sim->body_count; i++) sim->bodies[i].placed = false, sim->bodies[i].then_time = (double)NAN;
}

void sim_free_bodies(tl_sim *sim)
{
    for (int32_t i = 0; i < sim->body_count; i++) sim_free_body(sim, &sim->bodies[i]);
    TL_FREE(&sim->alloc, sim->bodies, sim->body_cap);
    sim->body_count = sim->body_cap = 0;
}

static bool whole(const int32_t f[3]) { return f[0] != f[1] && f[1] != f[2] && f[2] != f[0]; }

static tl_status copy_mesh(tl_sim *sim, const tl_body_def *def, sim_body *b, tl_error *err)
{
    int32_t kept = 0;
    for (int32_t f = 0; f < def->face_count; f++) kept += whole(def->face[f]);
    if (kept == 0) return tl_fail(err, TL_BAD_INPUT, "body '%s': every face has a node twice", b->name);
    if (kept < def->face_count)
        tl_log_write(&sim->def.log, TL_LOG_WARNING, "body '%s': %d of %d faces have a node twice and are left out",
                     b->name, def->face_count - kept, def->face_count);
    b->node_count = def->node_count;
    const size_t values = (size_t)b->key_count * (size_t)b->node_count;  // a product of two int32_t fits
    b->shape = TL_ALLOC(&sim->alloc, tl_vec3, values);
    b->face = tl_alloc_bytes(&sim->alloc, (size_t)kept, sizeof *b->face);
    if (b->face) b->face_count = kept;
    if (def->key_count > 1) b->key_time = TL_ALLOC(&sim->alloc, double, b->key_count);
    if (!b->shape || !b->face || (def->key_count > 1 && !b->key_time)) return tl_fail_memory(err, "a body");
    memcpy(b->shape, def->key_count > 0 ? def->key_pos : def->pos, values * sizeof *b->shape);
    if (b->key_time) memcpy(b->key_time, def->key_time, (size_t)b->key_count * sizeof *b->key_time);
    for (int32_t f = 0, to = 0; f < def->face_count; f++)
        if (whole(def->face[f])) memcpy(b->face[to++], def->face[f], sizeof *b->face);
    return TL_OK;
}

static tl_status add_mittens(tl_sim *sim, sim_body *b, tl_error *err)
{
    const tl_playback rest = tl_playback_default();
    int32_t(*hull)[3], count;
    tl_poser_at(b->poser, b->character, &rest, 0, b->shape);
    TL_TRY(tl_character_mittens(&sim->alloc, b->character, b->shape, &hull, &count, err));
    const size_t before = (size_t)b->face_count, after = before + (size_t)count;
    int32_t(*all)[3] = count > 0 ? tl_resize_bytes(&sim->alloc, b->face, before, after, sizeof *all) : b->face;
    if (all) {
        if (count > 0) memcpy(all + before, hull, (size_t)count * sizeof *all);
        b->face = all, b->face_count += count, b->hidden = count;
    }
    TL_FREE(&sim->alloc, hull, count);
    return all ? TL_OK : tl_fail_memory(err, "a body");
}

static tl_status copy_character(tl_sim *sim, const tl_body_def *def, sim_body *b, tl_error *err)
{
    b->node_count = tl_character_vert_count(def->character);
    b->play = def->playback;
    b->character = tl_character_copy(&sim->alloc, def->character);
    b->shape = TL_ALLOC(&sim->alloc, tl_vec3, b->node_count);
    b->poser = b->character ? tl_poser_create(&sim->alloc, b->character) : NULL;
    b->face = tl_alloc_bytes(&sim->alloc, (size_t)tl_character_face_count(def->character), sizeof *b->face);
    if (b->face) b->face_count = tl_character_face_count(def->character);
    if (!b->character || !b->shape || !b->poser || !b->face) return tl_fail_memory(err, "a body");
    memcpy(b->face, tl_character_faces(b->character), (size_t)b->face_count * sizeof *b->face);
    if (def->mittens) TL_TRY(add_mittens(sim, b, err));
    tl_poser_at(b->poser, b->character, &b->play, 0, b->shape);
    for (int32_t i = 0; i < b->node_count; i++)
        if (!tl_finite3(b->shape[i]))
            return tl_fail(err, TL_BAD_INPUT, "body '%s': node %d is not finite in the first pose", b->name, i);
    return TL_OK;
}

static void note_solid(const tl_body_def *def, sim_body *b)
{
    static const tl_solid_kind kinds[] = {[TL_BODY_SPHERE] = TL_SOLID_SPHERE,
                                          [TL_BODY_CAPSULE] = TL_SOLID_CAPSULE,
                                          [TL_BODY_CYLINDER] = TL_SOLID_CYLINDER,
                                          [TL_BODY_BOX] = TL_SOLID_BOX};
    if (def->kind == TL_BODY_PLANE) return;
    const double length = tl_norm3(def->axis);
    b->is_solid = true, b->solid = (tl_solid){kinds[def->kind], def->radius, {0, 0, 0.5 * length}};
    b->solid_center = def->center, b->solid_axis = tl_unit3_or(def->axis, (tl_vec3){0, 0, 1});
    if (def->kind == TL_BODY_SPHERE) b->solid_axis = (tl_vec3){0, 0, 1};
    if (def->kind != TL_BODY_BOX) return;
    b->solid_axis = (tl_vec3){0, 0, 1};  // tl_frame_along then takes -y for x and x for y
    b->solid.half = tl_mul3(0.5, (tl_vec3){def->size.y, def->size.x, def->size.z});
}

static tl_status make_shape(tl_sim *sim, const tl_body_def *def, sim_body *b, tl_error *err)
{
    tl_shape shape = {0};
    const tl_allocator *alloc = &sim->alloc;
    switch (def->kind) {
    case TL_BODY_SPHERE: TL_TRY(tl_shape_sphere(alloc, def->center, def->radius, &shape, err)); break;
    case TL_BODY_CAPSULE: TL_TRY(tl_shape_capsule(alloc, def->center, def->axis, def->radius, &shape, err)); break;
    case TL_BODY_CYLINDER: TL_TRY(tl_shape_cylinder(alloc, def->center, def->axis, def->radius, &shape, err)); break;
    case TL_BODY_BOX: TL_TRY(tl_shape_box(alloc, def->center, def->size, &shape, err)); break;
    default: break;
    }
    note_solid(def, b);
    b->node_count = shape.node_count, b->face_count = shape.face_count;
    b->shape = shape.pos, b->face = shape.face;
    return TL_OK;
}

// Does the body ever change? Keys that are all equal do not count.
static bool body_moves(const sim_body *b)
{
    const size_t bytes = (size_t)b->node_count * sizeof *b->shape;
    if (b->character && b->play.clip >= 0) return true;
    for (int32_t k = 1; k < b->key_count; k++)
        if (memcmp(b->shape, b->shape + (size_t)k * (size_t)b->node_count, bytes) != 0) return true;
    return !tl_motion_is_still(b->motion, b->motion_count);
}

static uint64_t hash_body(const sim_body *b)
{
    tl_hash hash;
    tl_hash_init(&hash);
    const int32_t counts[6] = {(int)b->kind, b->node_count,   b->face_count,
                               b->key_count, b->motion_count, b->key_time != NULL};
    tl_hash_add(&hash, counts, sizeof counts);
    const double numbers[11] = {b->center.x, b->center.y, b->center.z, b->axis.x,   b->axis.y,   b->axis.z,
                                b->pivot.x,  b->pivot.y,  b->pivot.z,  b->friction, b->thickness};
    tl_hash_add(&hash, numbers, sizeof numbers);
    tl_hash_add(&hash, b->shape, (size_t)b->key_count * (size_t)b->node_count * sizeof *b->shape);
    if (b->key_time) tl_hash_add(&hash, b->key_time, (size_t)b->key_count * sizeof *b->key_time);
    tl_hash_add(&hash, b->face, (size_t)b->face_count * sizeof *b->face);
    tl_hash_add(&hash, b->motion, (size_t)b->motion_count * sizeof *b->motion);
    const double times[2] = {b->start, b->end};
    if (b->start > 0 || isfinite(b->end)) tl_hash_add(&hash, times, sizeof times);
    if (b->character) {
        const double play[5] = {b->play.clip, b->play.start, b->play.lead_in, b->play.speed, b->play.from};
        tl_character_hash(b->character, &hash);
        tl_hash_add(&hash, play, sizeof play);
        const int32_t flesh = b->flesh != NULL;
        if (flesh) tl_hash_add(&hash, &flesh, sizeof flesh);
    }
    return tl_hash_value(&hash);
}

// Two keys with the given shape: the host sets the second.
static tl_status make_live_shape(tl_sim *sim, sim_body *b, tl_error *err)
{
    const size_t n = (size_t)b->node_count;
    tl_vec3 *shape = TL_ALLOC(&sim->alloc, tl_vec3, 2 * n);
    b->key_time = TL_CALLOC(&sim->alloc, double, 2);
    if (!shape || !b->key_time) {
        TL_FREE(&sim->alloc, shape, 2 * n);
        TL_FREE(&sim->alloc, b->key_time, 2);
        b->key_time = NULL;
        return tl_fail_memory(err, "a body");
    }
    memcpy(shape, b->shape, n * sizeof *shape), memcpy(shape + n, b->shape, n * sizeof *shape);
    TL_FREE(&sim->alloc, b->shape, n);
    b->shape = shape, b->key_count = 2, b->key_time[0] = -1;
    return TL_OK;
}

static tl_status make_body(tl_sim *sim, const tl_body_def *def, sim_body *b, tl_error *err)
{
    TL_TRY(def->character               ? copy_character(sim, def, b, err)
           : def->kind == TL_BODY_MESH  ? copy_mesh(sim, def, b, err)
           : def->kind != TL_BODY_PLANE ? make_shape(sim, def, b, err)
                                        : TL_OK);
    if (b->face_count > 0)
        TL_TRY(tl_unique_edges(&sim->alloc, (const int32_t(*)[3])b->face, b->face_count, &b->edge, &b->edge_count, NULL,
                               err));
    if (def->flesh) {
        TL_TRY(sim_make_flesh(sim, b, err));
        if (b->flesh) sim_body_at(b, 0, b->shape);
    }
    const int32_t motion_count = b->is_live ? 2 : def->motion_count;
    b->motion = TL_ALLOC(&sim->alloc, tl_pose_key, motion_count);
    if (b->motion) b->motion_count = motion_count;
    b->shown = TL_ALLOC(&sim->alloc, tl_vec3, def->kind == TL_BODY_PLANE ? 4 : b->node_count);
    if (!b->motion || !b->shown) return tl_fail_memory(err, "a body");
    if (b->is_live) {
        sim_live_init(&b->live, b->motion);
        if (b->shape && !b->character) TL_TRY(make_live_shape(sim, b, err));
    } else {
        tl_motion_compile(def->motion, def->motion_count, def->curve, b->motion);
    }
    b->moves = b->is_live || body_moves(b);
    b->built = hash_body(b);
    return TL_OK;
}

tl_status tl_sim_add_body(tl_sim *sim, const tl_body_def *given, tl_body_id *out, tl_error *err)
{
    TL_TRY(sim_go_back(sim, err));
    *out = (tl_body_id){0, 0};
    TL_DEF_COMPLETE(tl_body_def, complete, given, err);
    const tl_body_def *def = &complete;
    const char *name = def->name ? def->name : "body";
    TL_TRY(sim_check_name(sim, "body", name, err));
    TL_TRY(check_body(name, def, err));
    if (def->live && (def->key_count > 0 || def->motion_count > 0))
        return tl_fail(err, TL_BAD_INPUT, "body '%s': a live one has no keys, its pose and shape are set", name);
    if (!TL_GROW(&sim->alloc, sim->bodies, sim->body_cap, sim->body_count + 1) ||
        !sim_ids_reserve(&sim->alloc, &sim->body_ids))
        return tl_fail_memory(err, "a body");
    sim_body b = {.kind = def->kind,
                  .key_count = def->key_count > 0 ? def->key_count : 1,
                  .pivot = def->pivot,
                  .friction = def->friction,
                  .thickness = def->thickness,
                  .start = def->start,
                  .end = def->end,
                  .is_live = def->live != 0,
                  .shown_time = (double)NAN};
    snprintf(b.name, sizeof b.name, "%s", name);
    if (def->kind == TL_BODY_PLANE) b.center = def->center, b.axis = tl_mul3(1 / tl_norm3(def->axis), def->axis);
    const tl_status status = make_body(sim, def, &b, err);
    if (status != TL_OK) {
        free_body(sim, &b);
        return status;
    }
    sim_discard(sim);
    sim->bodies[sim->body_count++] = b;
    const sim_id id = sim_ids_take(&sim->body_ids, sim->body_count - 1);
    *out = (tl_body_id){id.slot, id.gen};
    return TL_OK;
}

// ---- whether and where it is ----

#define SLACK 1e-9  // of a step, as in handles.c

static bool is_present(const sim_body *b, double now) { return b->start <= now && now < b->end; }

int32_t sim_present_count_at(const tl_sim *sim, double time)
{
    int32_t count = 0;
    for (int32_t i = 0; i < sim->body_count && sim->def.collide.bodies; i++)
        count += is_present(&sim->bodies[i], time + SLACK * sim->def.dt);
    return count;
}

bool sim_find_present(tl_sim *sim, bool *came)
{
    const double now = sim->time + SLACK * sim->def.dt;
    bool changed = false;
    *came = false;
    for (int32_t i = 0; i < sim->body_count; i++) {
        sim_body *b = &sim->bodies[i];
        const bool present = is_present(b, now);
        *came = *came || (present && !b->present), changed = changed || present != b->present;
        b->present = present;
    }
    return changed;
}

int32_t sim_present_count(const tl_sim *sim)
{
    int32_t count = 0;
    for (int32_t i = 0; i < sim->body_count && sim->def.collide.bodies; i++) count += sim->bodies[i].present;
    return count;
}

void sim_body_at(const sim_body *body, double time, tl_vec3 *out)
{
    const size_t n = (size_t)body->node_count;
    const int32_t last = body->key_count - 1;
    if (body->character) {
        tl_poser_at(body->poser, body->character, &body->play, time, out);
        if (body->flesh) sim_flesh_at(body, time, out);
    } else if (last == 0 || time <= body->key_time[0]) {
        memcpy(out, body->shape, n * sizeof *out);
    } else if (time >= body->key_time[last]) {
        memcpy(out, body->shape + (size_t)last * n, n * sizeof *out);
    } else {
        int32_t low = 0, high = last;
        while (high - low > 1) {
            const int32_t mid = low + (high - low) / 2;
            if (body->key_time[mid] <= time)
                low = mid;
            else
                high = mid;
        }
        const double s = (time - body->key_time[low]) / (body->key_time[high] - body->key_time[low]);
        const tl_vec3 *a = body->shape + (size_t)low * n, *b = a + n;
        for (size_t i = 0; i < n; i++) out[i] = tl_madd3(a[i], s, tl_sub3(b[i], a[i]));
    }
    if (body->motion_count == 0) return;
    const tl_pose pose = tl_pose_at(body->motion, body->motion_count, time);
    for (size_t i = 0; i < n; i++) out[i] = tl_pose_move(&pose, body->pivot, out[i]);
}

void sim_plane_at(const sim_body *body, double time, tl_vec3 *point, tl_vec3 *normal)
{
    *point = body->center, *normal = body->axis;
    if (body->motion_count == 0) return;
    const tl_pose pose = tl_pose_at(body->motion, body->motion_count, time);
    *point = tl_pose_move(&pose, body->pivot, body->center);
    *normal = tl_unit3_or(tl_pose_turn(&pose, body->axis), body->axis);
}

// ---- views ----

sim_body *sim_find_body(const tl_sim *sim, tl_body_id id)
{
    const int32_t place = sim_ids_place(&sim->body_ids, id.slot, id.gen);
    return place != TL_NO_PLACE ? &sim->bodies[place] : NULL;
}

int32_t tl_sim_body_count(const tl_sim *sim) { return sim->body_count; }

tl_body_id tl_sim_body(const tl_sim *sim, int32_t index)
{
    const sim_id id = sim_ids_at(&sim->body_ids, index);
    return (tl_body_id){id.slot, id.gen};
}

const char *tl_sim_body_name(const tl_sim *sim, tl_body_id id)
{
    const sim_body *b = sim_find_body(sim, id);
    return b ? b->name : NULL;
}

static void show_plane(const sim_body *b, double time, tl_vec3 out[4])
{
    tl_vec3 point, n;
    sim_plane_at(b, time, &point, &n);
    const tl_vec3 other = fabs(n.x) < 0.6 ? (tl_vec3){1, 0, 0} : (tl_vec3){0, 0, 1};
    const tl_vec3 u = tl_unit3_or(tl_cross3(other, n), other), v = tl_cross3(n, u);
    const double corner[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    for (int i = 0; i < 4; i++)
        out[i] = tl_madd3(tl_madd3(point, PLANE_HALF_SIDE * corner[i][0], u), PLANE_HALF_SIDE * corner[i][1], v);
}

// What is shown is a cache: filling it changes nothing that a caller can see, so it is allowed behind a const pointer.
tl_status tl_sim_body_view(const tl_sim *sim, tl_body_id id, tl_body_view *out)
{
    *out = (tl_body_view){0};
    sim_body *b = sim_find_body(sim, id);
    if (!b) return TL_BAD_ARG;
    if (b->shown_time != sim->time) {
        if (b->kind == TL_BODY_PLANE)
            show_plane(b, sim->time, b->shown);
        else
            sim_body_at(b, sim->time, b->shown);
        b->shown_time = sim->time;
    }
    const bool comes = b->start > 0 || isfinite(b->end),
               now = sim->elements ? b->present : b->start <= sim->time && sim->time < b->end;
    *out =
        b->kind == TL_BODY_PLANE
            ? (tl_body_view){b->shown, 4, plane_face, 2, b->moves || comes, now}
            : (tl_body_view){
                  b->shown, b->node_count, (const int32_t(*)[3])b->face, b->face_count - b->hidden, b->moves || comes,
                  now};
    return TL_OK;
}
