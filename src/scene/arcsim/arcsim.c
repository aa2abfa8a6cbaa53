// scene/arcsim/arcsim.c: scene files of ARCSim: recognise one, and turn it into a scene of ours.
//
// The old document becomes a new one, a JSON tree that the ordinary reader then reads: so there is one path into the
// simulation, and converting a file is writing that tree. Everything is checked here, against the tables of
// arcsim_keys.c, while places in the old file are at hand.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "scene/arcsim/arcsim_impl.h"

static const char *const arc_stages[] = {"proximity",  "physics",   "strainlimiting", "collision", "remeshing",
                                         "separation", "popfilter", "plasticity",     NULL};  // as arc_stage

// ---- which program is it for? -----------------------------------------------------------------------------

static const char *const their_keys[] = {"frame_time",  "frame_steps",  "end_time", "end_frame", "timestep",
                                         "save_frames", "duration",     "motions",  "morphs",    "wind",
                                         "friction",    "obs_friction", "disable",  "magic",     NULL};
static const char *const our_keys[] = {
    "$schema", "name",      "include",    "frames", "fps",        "steps_per_frame", "seed",  "air",
    "solver",  "materials", "collisions", "camera", "appearance", "remeshing",       "start", NULL};
static const char *const their_cloth_keys[] = {"materials", NULL};
static const char *const our_cloth_keys[] = {"name",       "material",        "density_scale", "stretch_scale",
                                             "bend_scale", "damping_stretch", "damping_bend",  "rest_shape",
                                             "thickness",  "friction_self",   "unevenness",    "strain_limits",
                                             NULL};
static const char *const their_remeshing_keys[] = {"refine_angle", "refine_compression", "refine_velocity", "size",
                                                   NULL};

/// Keys that only one of the two has, and the first of each.
typedef struct signs {
    int theirs, ours;
    const char *their_first, *our_first;
} signs;

static void count_keys(const json_t *object, const char *const *names, int *count, const char **first)
{
    for (int i = 0; names[i]; i++) {
        if (!json_object_get(object, names[i])) continue;
        if (!*first) *first = names[i];
        ++*count;
    }
}

static signs find_signs(const json_t *root)
{
    signs s = {0};
    count_keys(root, their_keys, &s.theirs, &s.their_first);
    count_keys(root, our_keys, &s.ours, &s.our_first);
    const json_t *cloth = json_array_get(json_object_get(root, "cloths"), 0);
    count_keys(cloth, their_cloth_keys, &s.theirs, &s.their_first);
    count_keys(cloth, our_cloth_keys, &s.ours, &s.our_first);
    count_keys(json_object_get(cloth, "remeshing"), their_remeshing_keys, &s.theirs, &s.their_first);
    if (json_is_object(json_object_get(cloth, "mesh"))) s.ours++;
    if (json_is_string(json_object_get(root, "obstacles"))) s.theirs++;
    return s;
}

bool tl_arcsim_is(const json_t *root)
{
    const signs s = find_signs(root);
    return s.theirs > s.ours;
}

tl_status tl_arcsim_detect(const tl_node *root, bool *out, tl_error *err)
{
    const signs s = find_signs(root->value);
    *out = s.theirs > s.ours;
    if (s.theirs != s.ours || s.theirs == 0 || !s.our_first) return TL_OK;
    return tl_node_fail(root, false, err,
                        "is neither a Toile scene nor one of ARCSim: '%s' is a key of ARCSim's alone, '%s' of Toile's "
                        "(remove the keys of one)",
                        s.their_first ? s.their_first : "obstacles", s.our_first);
}

// ---- time -------------------------------------------------------------------------------------------------

static const double SHORTEST_FRAME = 1e-6;  // [s] our fps goes to 1e6
static const double DEFAULT_SECONDS = 10;   // of a scene without an end, or until its motions end

// Frames in `seconds`; what is past the last number of a frame is cut.
static double frames_in(double seconds, double frame)
{
    return fmin(999999, floor(seconds / frame * (1 + 1e-9) + 1e-9));
}

static void put_frames(arcsim *a, const tl_node *root, double frame, double end, double end_frame)
{
    double frames =
        fmin(isnan(end) ? (double)INFINITY : frames_in(end, frame), end_frame < 0 ? (double)INFINITY : end_frame);
    if (!isfinite(frames)) {
        const double seconds = fmax(DEFAULT_SECONDS, a->last_key);
        frames = frames_in(seconds, frame);
        arc_note(a, "end", root, "has no end: %.0f frames (%g s) are made, %s; --frames makes more or less", frames,
                 frames * frame, seconds > DEFAULT_SECONDS ? "until the last motion ends" : "a default");
    }
    arc_put(a, a->out, "frames", json_integer((json_int_t)fmin(frames, 999999)));
}

static tl_status read_time(arcsim *a, const tl_node *root)
{
    const tl_arc_scene *f = &a->file;
    const bool newer = !isnan(f->frame_time);
    if (!newer && isnan(f->timestep))
        return tl_node_fail(root, false, a->err, "lacks 'frame_time' (or the older 'timestep')");
    const int64_t steps = newer ? f->frame_steps : f->save_frames;
    const double frame = newer ? f->frame_time : f->timestep * (double)steps;
    if (frame < SHORTEST_FRAME) {
        const tl_node key = tl_node_key(root, newer ? "frame_time" : "timestep");
        return tl_node_fail(&key, true, a->err, "makes frames of %g s, must be at least %g s", frame, SHORTEST_FRAME);
    }
    static const char *const old[] = {"timestep", "save_frames", "duration"};
    for (int i = 0; newer && i < 3; i++) {
        const tl_node key = tl_node_key(root, old[i]);
        if (key.value) arc_note(a, old[i], &key, "has no effect: frame_time is given, the newer form");
    }
    arc_put(a, a->out, "fps", json_real(1 / frame));
    arc_put(a, a->out, "steps_per_frame", json_integer(steps));
    const double end = newer || !isnan(f->end_time) ? f->end_time : f->duration;
    put_frames(a, root, frame, end, (double)f->end_frame);
    return TL_OK;
}

// ---- the world --------------------------------------------------------------------------------------------

static tl_status read_disable(arcsim *a, const tl_node *root)
{
    const tl_node list = tl_node_key(root, "disable");
    for (size_t i = 0; i < json_array_size(list.value); i++) {
        const tl_node entry = tl_node_at(&list, i);
        const char *name = json_string_value(entry.value);
        int stage = 0;
        while (name && arc_stages[stage] && strcmp(arc_stages[stage], name) != 0) stage++;
        if (!name || !arc_stages[stage])
            arc_note(a, "", &entry, "\"%.40s\" is no stage that can be switched off", name ? name : "?");
        else
            a->disabled |= 1u << stage;
        if (name && stage == ARC_PHYSICS)
            arc_note(a, "physics", &entry, "\"physics\" has no effect: forces cannot be switched off");
        if (name && stage == ARC_SEPARATION)
            arc_note(a, "separation", &entry,
                     "\"separation\" has no effect: a start with intersections is always pulled apart");
    }
    return TL_OK;
}

// One contact stage does what proximity and collision do together.
static void put_collisions(arcsim *a, const tl_node *root)
{
    const bool proximity = arc_disabled(a, ARC_PROXIMITY), collision = arc_disabled(a, ARC_COLLISION),
               off = proximity && collision;
    const tl_node list = tl_node_key(root, "disable");
    if (proximity != collision)
        arc_note(a, "contact", &list,
                 "\"%s\" has no effect alone: proximity and collision are one stage here, switched off by both names",
                 proximity ? "proximity" : "collision");
    arc_put(a, a->out, "collisions",
            json_pack("{s:b,s:b,s:s}", "bodies", !off, "self", !off, "on_intersection", "heal"));
    arc_put(a, a->out, "start", json_pack("{s:s}", "relax", "on"));  // as their program does
}

// Pressure on a face is 1/2 density drag |v_n| v_n here, and density |v_n| v_n there: a coefficient of 2. Their drag is
// our skin.
static void put_air(arcsim *a)
{
    const tl_arc_wind *w = &a->file.wind;
    arc_put(a, a->out, "air",
            json_pack("{s:f,s:f,s:f,s:{s:o,s:{s:i}}}", "density", w->density, "drag", 2.0, "skin", w->drag, "wind",
                      "velocity", arc_vec3(arc_up(w->velocity)), "turbulence", "strength", 0));
}

static tl_status translate(arcsim *a, const tl_node *root)
{
    a->file.end_frame = -1, a->file.save_frames = 1;
    a->stiffness_given = json_object_get(json_object_get(root->value, "magic"), "handle_stiffness");
    TL_TRY(arc_read(a, root, &tl_arc_scene_table, &a->file));
    TL_TRY(read_disable(a, root));
    TL_TRY(arc_read_motions(a, root));
    TL_TRY(read_time(a, root));
    arc_put(a, a->out, "gravity", arc_vec3(arc_up(a->file.gravity)));
    put_air(a);
    TL_TRY(arc_read_cloths(a, root));
    TL_TRY(arc_read_handles(a, root));
    TL_TRY(arc_read_obstacles(a, root));
    put_collisions(a, root);
    return TL_OK;
}

tl_status tl_arcsim_translate(const tl_allocator *alloc, const tl_reader *reader, const char *path, tl_json_doc *doc,
                              tl_notes *notes, tl_error *err)
{
    arcsim a = {.alloc = alloc,
                .reader = reader,
                .path = path,
                .notes = notes,
                .err = err,
                .out = json_object(),
                .motions = json_array()};
    if (tl_json_looseness(doc)[0]) tl_notes_add(notes, "loose", "%s (read all the same)", tl_json_looseness(doc));
    const tl_node root = tl_json_root(doc);
    tl_status status = a.out && a.motions ? translate(&a, &root) : tl_fail_memory(err, "a scene");
    if (status == TL_OK && (a.no_memory || notes->failed)) status = tl_fail_memory(err, "a scene");
    json_decref(a.motions);
    if (status == TL_OK)
        tl_json_replace(doc, a.out);
    else
        json_decref(a.out);
    return status;
}
