// run/drape.c: from patterns and a body to a run: every garment through its stages, then the scene.

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/def.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/timer.h"
#include "body/mittens.h"
#include "math/vec3.h"
#include "run/drape_impl.h"
#include "run/fit.h"
#include "scene/material_io.h"
#include "toile/export.h"

static const double edges[] = {0.02, 0.01, 0.007};  // [m] by quality

#define COARSE 4.0          // edges of the mesh that is sewn, in those of the finished one ..
#define COARSE_MOST 0.04    // .. and at most [m]
#define COARSE_LEAST 0.025  // .. and at least
#define SPLIT_ABOVE 1.5     // edges this much longer than wanted are halved
#define SETTLE_COARSE 1.5   // [s]
#define SETTLE_FINE 2.0     // [s] at most
#define MOVES 0.01          // [m] from the rest pose to the clip's first one: beyond it there is a lead-in
#define LEAD_IN 1.0         // [s]
#define LEAD_REST 0.2       // [s] before it
enum { SPLIT_ROUNDS = 5 };

const char *tl_drape_stage_name(tl_drape_stage stage)
{
    static const char *const names[] = {"sew", "grow", "settle", "refine", "run"};
    return stage >= 0 && stage < TL_DRAPE_STAGES ? names[stage] : NULL;
}

void tl_drape_def_init(tl_drape_def *def, size_t size)
{
    const tl_drape_def defaults = {.material = "cotton", .quality = TL_DRAPE_NORMAL, .frames = -1, .threads = 1};
    tl_def_init(def, size, &defaults, sizeof defaults);
}

// ---- what goes in -------------------------------------------------------------------------------------------

static double unit_of(const char *word)
{
    static const struct {
        const char *word;
        double unit;
    } units[] = {{"auto", 0}, {"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"in", 0.0254}, {"ft", 0.3048}};
    for (size_t i = 0; word && i < sizeof units / sizeof *units; i++)
        if (strcmp(word, units[i].word) == 0) return units[i].unit;
    return word ? -1 : 0;
}

static int up_of(const char *word)
{
    static const char *const words[] = {"auto", "y", "z", "x"};  // as tl_up
    for (int i = 0; word && i < 4; i++)
        if (strcmp(word, words[i]) == 0) return i;
    return word ? -1 : TL_UP_AUTO;
}

static tl_status find_clip(tl_draper *d, tl_error *err)
{
    const char *name = d->def->clip;
    const int32_t count = tl_character_clip_count(d->character);
    d->play = tl_playback_default();
    d->play.clip = -1;
    if (d->def->motion || d->def->cache) d->play.clip = count - 1;
    if (!name) return TL_OK;
    d->play.clip = tl_character_find_clip(d->character, name);
    if (d->play.clip >= 0) return TL_OK;
    char list[300] = "";
    size_t n = 0;
    for (int32_t i = 0; i < count && n + 80 < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, " '%s'", tl_character_clip_name(d->character, i));
    return tl_fail(err, TL_BAD_INPUT, "'%s' is no clip of %.300s: it has%s (or give a .bvh, .pc2 or .mdd file)", name,
                   d->def->body, count > 0 ? list : " none");
}

// A clip that begins near the rest pose needs no lead-in.
static tl_status find_lead_in(tl_draper *d, tl_error *err)
{
    const int32_t n = tl_character_vert_count(d->character);
    if (d->play.clip < 0) return TL_OK;
    tl_vec3 *first = TL_ALLOC(&d->alloc, tl_vec3, n);
    if (!first) return tl_fail_memory(err, "a body");
    const tl_status status = tl_character_pose(d->character, &d->play, 0, first, err);
    double most = 0;
    for (int32_t i = 0; status == TL_OK && i < n; i++) most = fmax(most, tl_norm3(tl_sub3(first[i], d->body[i])));
    TL_FREE(&d->alloc, first, n);
    if (most > MOVES) d->play.start = LEAD_REST, d->play.lead_in = LEAD_IN;
    return status;
}

// The faces that cloth meets, as in the scene: with mittens.
static tl_status close_hands(tl_draper *d, tl_error *err)
{
    int32_t(*hull)[3], count;
    TL_TRY(tl_character_mittens(&d->alloc, d->character, d->body, &hull, &count, err));
    const int32_t own = tl_character_face_count(d->character);
    d->body_face = tl_alloc_bytes(&d->alloc, (size_t)(own + count), sizeof *d->body_face);
    if (d->body_face) {
        d->body_faces = own + count;
        memcpy(d->body_face, tl_character_faces(d->character), (size_t)own * sizeof *d->body_face);
        if (count > 0) memcpy(d->body_face + own, hull, (size_t)count * sizeof *d->body_face);
    }
    TL_FREE(&d->alloc, hull, count);
    return d->body_face ? TL_OK : tl_fail_memory(err, "a body");
}

static tl_status load_body(tl_draper *d, tl_error *err)
{
    tl_character_def def = tl_character_def_default();
    def.file = d->def->body, def.motion = d->def->motion;
    def.cache = d->def->cache, def.cache_fps = d->def->cache_fps;
    def.bones = d->def->bones, def.bone_count = d->def->bone_count;
    def.unit = unit_of(d->def->body_units);
    const int up = up_of(d->def->body_up);
    if (up < 0) return tl_fail(err, TL_BAD_ARG, "up of the body '%s', must be auto, y, z or x", d->def->body_up);
    def.up = (tl_up)up;
    if (def.motion && def.cache) return tl_fail(err, TL_BAD_ARG, "motion and cache exclude each other");
    if (def.unit < 0)
        return tl_fail(err, TL_BAD_ARG, "units of the body '%s', must be auto, m, cm, mm, in or ft",
                       d->def->body_units);
    TL_TRY(tl_character_load(&def, &d->character, err));
    const tl_character_facts *facts = tl_character_facts_of(d->character);
    for (int32_t i = 0; i < facts->note_count; i++)
        tl_log_write(d->def->log, TL_LOG_WARNING, "%s: %s", d->def->body, facts->note[i]);
    d->body = TL_ALLOC(&d->alloc, tl_vec3, tl_character_vert_count(d->character));
    if (!d->body) return tl_fail_memory(err, "a body");
    TL_TRY(find_clip(d, err));
    tl_playback rest = tl_playback_default();
    rest.clip = -1;
    TL_TRY(tl_character_pose(d->character, &rest, 0, d->body, err));
    TL_TRY(close_hands(d, err));
    TL_TRY(tl_drape_find_figure(d, err));
    return find_lead_in(d, err);
}

// Letters, digits, '-' and '_' of the file's name, without what every file of GarmentCode's ends in; unique.
static void name_garment(tl_draper *d, int32_t index)
{
    char stem[64], *out = d->report->garment[index].name;
    tl_path_stem(d->def->patterns[index], stem, sizeof stem);
    char *tail = strstr(stem, "_specification");
    if (tail && tail > stem) *tail = 0;
    size_t n = 0;
    for (const char *c = stem; *c && n < 48; c++) {
        const bool fine = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-';
        out[n++] = fine ? *c : '_';
    }
    if (n == 0) out[n++] = 'g';
    out[n] = 0;
    if (strcmp(out, "body") == 0) snprintf(out + n, 12, "_1");
    for (int32_t i = 0; i < index; i++)
        if (strcmp(d->report->garment[i].name, out) == 0) snprintf(out + n, 12, "_%d", index + 1);
}

static uint64_t hash_of(const tl_draper *d, const tl_pattern_mesh *mesh)
{
    tl_hash h;
    tl_hash_init(&h);
    const int32_t version = 9;
    tl_hash_add(&h, &version, sizeof version);
    tl_hash_add(&h, mesh->pos, (size_t)mesh->vert_count * sizeof *mesh->pos);
    tl_hash_add(&h, mesh->uv, (size_t)mesh->vert_count * sizeof *mesh->uv);
    tl_hash_add(&h, mesh->pairs, (size_t)mesh->pair_count * sizeof *mesh->pairs);
    tl_hash_add(&h, d->body, (size_t)tl_character_vert_count(d->character) * sizeof *d->body);
    tl_hash_add(&h, d->body_face, (size_t)d->body_faces * sizeof *d->body_face);
    tl_hash_add(&h, &d->material, sizeof d->material);
    tl_hash_add(&h, &d->edge, sizeof d->edge);
    for (int32_t i = 0; i < d->hold_count; i++) {
        const double numbers[3] = {d->hold[i].mark, d->hold[i].stiffness, d->hold[i].elastic};
        tl_hash_add(&h, numbers, sizeof numbers);
    }
    for (int32_t i = 0; i < d->def->hold_count; i++)
        tl_hash_add(&h, d->def->holds[i].label, strlen(d->def->holds[i].label) + 1);
    if (d->index > 0) tl_hash_add(&h, &d->inputs[d->index - 1], sizeof d->inputs[0]);  // worn below
    return tl_hash_value(&h);
}

// ---- one garment --------------------------------------------------------------------------------------------

static void pass_progress(void *user, double part)
{
    const tl_draper *d = user;
    if (d->def->progress) d->def->progress(d->def->user, d->index, d->stage, part);
}

static int pass_cancelled(void *user)
{
    const tl_draper *d = user;
    return d->def->cancelled ? d->def->cancelled(d->def->user) : 0;
}

/// The body and what is worn on it, as one surface.
typedef struct dressed {
    tl_vec3 *pos;
    int32_t (*face)[3];
    int32_t verts, faces;
} dressed;

static tl_status dressed_body(const tl_draper *d, dressed *out, tl_error *err)
{
    out->verts = tl_character_vert_count(d->character), out->faces = d->body_faces;
    int32_t v = out->verts, f = out->faces;
    for (int32_t i = 0; i < d->index; i++)
        out->verts += d->garment[i].node_count, out->faces += d->garment[i].face_count;
    out->pos = TL_ALLOC(&d->alloc, tl_vec3, out->verts);
    out->face = tl_alloc_bytes(&d->alloc, (size_t)out->faces, sizeof *out->face);
    if (!out->pos || !out->face) return tl_fail_memory(err, "a body");
    memcpy(out->pos, d->body, (size_t)v * sizeof *out->pos);
    memcpy(out->face, d->body_face, (size_t)f * sizeof *out->face);
    for (int32_t i = 0; i < d->index; i++) {
        const tl_garment *g = &d->garment[i];
        memcpy(out->pos + v, g->pos, (size_t)g->node_count * sizeof *g->pos);
        for (int32_t t = 0; t < g->face_count; t++, f++)
            for (int k = 0; k < 3; k++) out->face[f][k] = v + g->vert_node[g->face[t][k]];
        v += g->node_count;
    }
    return TL_OK;
}

static tl_status do_stage(tl_draper *d, const tl_dress_def *dress, tl_drape_stage stage, tl_error *err)
{
    tl_garment *g = &d->garment[d->index];
    tl_drape_garment *r = &d->report->garment[d->index];
    switch (stage) {
    case TL_DRAPE_SEW: return tl_dress_sew(dress, g, r, err);
    case TL_DRAPE_GROW: return tl_dress_grow(dress, g, r, err);
    case TL_DRAPE_SETTLE:
        TL_TRY(tl_drape_mark_rim(d, err));
        return tl_dress_settle(dress, g, SETTLE_COARSE, 3 * TL_DRAPE_REST, r, err);
    default:
        TL_TRY(tl_garment_split(g, SPLIT_ABOVE * d->edge, SPLIT_ROUNDS, err));
        TL_TRY(tl_dress_settle(dress, g, SETTLE_FINE, TL_DRAPE_REST, r, err));
        r->rested = r->speed < TL_DRAPE_REST, r->faces = g->face_count, r->nodes = g->node_count;
        return TL_OK;
    }
}

#define STRAINED 0.35   // strain over more than a hundredth of the area: torn in real life
#define OPEN_SEAM 0.02  // [m] between sides before they were welded: something was in the way

static void add_fault(tl_drape_garment *r, const char *format, ...) TL_PRINTF(2, 3);
static void add_fault(tl_drape_garment *r, const char *format, ...)
{
    const size_t n = strlen(r->fault);
    va_list args;
    va_start(args, format);
    if (n > 0 && n + 3 < sizeof r->fault) memcpy(r->fault + n, "; ", 3);
    vsnprintf(r->fault + strlen(r->fault), sizeof r->fault - strlen(r->fault), format, args);
    va_end(args);
}

// Says what a person should know before trusting the result.
static void find_fault(tl_drape_garment *r)
{
    r->fault[0] = 0;
    const double strain = fmax(r->strain_max_99, -r->strain_min_99);
    if (*r->sewn_wrong) add_fault(r, "%s", r->sewn_wrong);
    if (r->crossings > 0) add_fault(r, "%lld crossings", (long long)r->crossings);
    if (r->pinched_end > 0)
        add_fault(r,
                  "cloth passes through the skin at %d nodes, pinched between parts of the body or where a seam of "
                  "%.60s and %.60s closed through it (%.3g m)",
                  r->pinched_end, r->gap_panel[0], r->gap_panel[1], r->gap);
    if (strain > STRAINED) add_fault(r, "strained by %.0f %% (made for another body?)", 100 * strain);
    if (r->left_open > 0)
        add_fault(r, "a seam of %.60s and %.60s stays open by %.3g m (%d points of seams do): something is in its way",
                  r->gap_panel[0], r->gap_panel[1], r->gap, r->left_open);
    else if (strain > STRAINED && r->gap > OPEN_SEAM)
        add_fault(r, "a seam of %.60s and %.60s came no nearer than %.3g m", r->gap_panel[0], r->gap_panel[1], r->gap);
    if (!r->rested) add_fault(r, "not at rest: %.2g mm/s", 1e3 * r->speed);
}

// From the last stage that is there already.
static tl_status go_through(tl_draper *d, const tl_dress_def *dress, tl_error *err)
{
    tl_drape_garment *r = &d->report->garment[d->index];
    int stage = TL_DRAPE_REFINE;
    bool found = false;
    for (; stage >= TL_DRAPE_SEW && !found; stage--) TL_TRY(tl_drape_take_up(d, (tl_drape_stage)stage, &found, err));
    stage = found ? stage + 2 : TL_DRAPE_SEW;
    d->report->resumed += stage;
    for (; stage <= TL_DRAPE_REFINE; stage++) {
        const double start = tl_now();
        d->stage = (tl_drape_stage)stage;
        const tl_status status = do_stage(d, dress, d->stage, err);
        if (status != TL_OK) {
            char message[sizeof err->message];
            if (err && status != TL_CANCELLED) {
                snprintf(message, sizeof message, "%s", err->message);
                tl_fail(err, status, "%s, stage '%s': %.900s", r->name, tl_drape_stage_name(d->stage), message);
            }
            return status;
        }
        r->seconds[stage] = tl_now() - start;
        TL_TRY(tl_drape_put_down(d, d->stage, err));
    }
    TL_TRY(tl_drape_check_sewing(d, err));
    find_fault(r);
    return tl_drape_write_garment(d, err);
}

// One measure after the other. Of several patterns one has to know it.
static tl_status make_to_measure(tl_draper *d, tl_error *err)
{
    for (int32_t i = 0; i < d->def->measure_count; i++) {
        const tl_drape_measure *m = &d->def->measures[i];
        tl_pattern *graded = NULL;
        char why[sizeof err->message] = "";
        const tl_status status = tl_pattern_grade(d->pattern[d->index], m->name, m->value, &graded, err);
        if (status != TL_OK && err) snprintf(why, sizeof why, "%s", err->message);
        if (status == TL_OK) {
            tl_pattern_destroy(d->pattern[d->index]);
            d->pattern[d->index] = graded, d->measured |= 1u << i;
        } else if (status != TL_BAD_INPUT || strncmp(why, "no measure", 10) != 0 ||
                   (d->index + 1 == d->def->pattern_count && !(d->measured >> i & 1))) {
            return tl_fail(err, status, "%.300s: %.600s", d->def->patterns[d->index], why);
        }
    }
    return TL_OK;
}

static tl_status make_panels(tl_draper *d, tl_error *err)
{
    tl_drape_garment *r = &d->report->garment[d->index];
    tl_pattern **pattern = &d->pattern[d->index];
    TL_TRY(tl_pattern_load(d->def->patterns[d->index], pattern, err));
    for (int32_t i = 0; i < tl_pattern_note_count(*pattern); i++)
        tl_log_write(d->def->log, TL_LOG_WARNING, "%s: %s", d->def->patterns[d->index], tl_pattern_note(*pattern, i));
    TL_TRY(make_to_measure(d, err));
    r->panels = tl_pattern_panel_count(*pattern), r->seams = tl_pattern_seam_count(*pattern);
    TL_TRY(tl_drape_place(d, err));
    tl_pattern_mesh_def def = tl_pattern_mesh_def_default();
    def.edge = fmin(fmax(COARSE * d->edge, COARSE_LEAST), COARSE_MOST);
    tl_pattern_mesh mesh;
    TL_TRY(tl_pattern_mesh_make(&d->alloc, *pattern, &def, &mesh, err));
    d->inputs[d->index] = hash_of(d, &mesh);
    tl_status status = tl_garment_make(&d->alloc, &mesh, &d->garment[d->index], err);
    if (status == TL_OK) status = tl_drape_mark_labels(d, &mesh, err);
    tl_pattern_mesh_free(&mesh);
    return status;
}

static tl_status dress_panels(tl_draper *d, tl_error *err)
{
    dressed body = {0};
    tl_status status = dressed_body(d, &body, err);
    const tl_dress_def dress = {
        .body = {body.pos, body.verts, (const int32_t(*)[3])body.face, body.faces},
        .figure = d->has_figure && d->figure.has_arms ? &d->figure : NULL,
        .pattern = d->pattern[d->index],
        .material = &d->material,
        .thickness = TL_DRAPE_THICKNESS,
        .friction = TL_DRAPE_FRICTION,
        .holds = d->hold,
        .hold_count = d->hold_count,
        .threads = d->def->threads,
        .watch = {pass_progress, pass_cancelled, d, d->def->log},
    };
    if (status == TL_OK) status = go_through(d, &dress, err);
    TL_FREE(&d->alloc, body.pos, body.verts);
    TL_FREE(&d->alloc, body.face, body.faces);
    return status;
}

static bool is_sewn_wrong(const tl_drape_garment *r)
{
    return *r->sewn_wrong || r->left_open > 0 || r->pinched_end > 0;
}

// The same with panels placed by what they are; what was before stays if that is no better.
static tl_status dress_again(tl_draper *d, bool *better, tl_error *err)
{
    const int32_t i = d->index;
    tl_drape_garment *r = &d->report->garment[i], before = *r;
    const tl_garment garment = d->garment[i];
    tl_pattern *pattern = d->pattern[i];
    const uint64_t inputs = d->inputs[i];
    tl_drape_garment fresh = {.name = ""};
    memcpy(fresh.name, r->name, sizeof fresh.name);
    *r = fresh, d->garment[i] = (tl_garment){.alloc = d->alloc}, d->pattern[i] = NULL;
    d->place_all = true;
    tl_status status = make_panels(d, err);
    if (status == TL_OK) status = dress_panels(d, err);
    d->place_all = false;
    *better = status == TL_OK && !is_sewn_wrong(r);
    tl_garment other = *better ? garment : d->garment[i];
    tl_pattern_destroy(*better ? pattern : d->pattern[i]);
    tl_garment_free(&other);
    if (*better) return TL_OK;
    *r = before, d->garment[i] = garment, d->pattern[i] = pattern, d->inputs[i] = inputs;
    return status == TL_CANCELLED || status == TL_NO_MEMORY ? status : TL_OK;
}

// What is sewn beside a limb, or cannot be closed, may be so because of where the pattern puts its panels.
static tl_status dress_one(tl_draper *d, tl_error *err)
{
    const tl_drape_garment *r = &d->report->garment[d->index];
    tl_error own = {0};
    if (!err) err = &own;
    d->place_all = d->def->place_all != 0;
    TL_TRY(make_panels(d, err));
    const tl_status status = dress_panels(d, err);
    const bool failed = status == TL_FAILED || status == TL_BAD_INPUT;
    if ((status != TL_OK && !failed) || (!failed && !is_sewn_wrong(r)) || !d->has_figure || r->placed == r->panels)
        return status;
    bool better;
    tl_error why;
    tl_log_write(d->def->log, TL_LOG_INFO, "%s: again with panels placed by what they are", r->name);
    const tl_status again = dress_again(d, &better, &why);
    if (again != TL_OK) return tl_fail(err, again, "%.900s", why.message);
    if (better)
        tl_log_write(d->def->log, TL_LOG_WARNING, "%s: its panels were placed anew: where the pattern puts them, %s",
                     r->name, failed ? err->message : "it is not sewn around this body");
    return better ? TL_OK : failed ? status : tl_drape_write_garment(d, err);
}

// ---- all of it ----------------------------------------------------------------------------------------------

static void pass_frame(void *user, const tl_run_progress *now)
{
    pass_progress(user, now->frames > 0 ? (double)now->frame / now->frames : 1);
}

// What there is to say about the body has been said.
static void pass_log(void *user, tl_log_level level, const char *message)
{
    const tl_draper *d = user;
    const tl_character_facts *facts = tl_character_facts_of(d->character);
    for (int32_t i = 0; i < facts->note_count; i++)
        if (strstr(message, facts->note[i])) return;
    tl_log_write(d->def->log, level, "%s", message);
}

static tl_status run_scene(tl_draper *d, tl_error *err)
{
    char path[TL_PATH_MAX];
    bool resume;
    TL_TRY(tl_path_join(d->def->out_dir, "dress/scene.json", path, err));
    TL_TRY(tl_drape_write_scene(d, path, err));
    TL_TRY(tl_drape_find_run(d, path, &resume, err));
    tl_scene *scene = NULL;
    TL_TRY(tl_scene_load(path, NULL, 0, &scene, err));
    tl_run_def run = tl_run_def_default();
    run.out_dir = d->def->out_dir, run.threads = d->def->threads;
    run.resume = resume, run.replace = 1;
    run.progress = pass_frame, run.cancelled = run.interrupted = pass_cancelled, run.user = d;
    const tl_log log = {pass_log, d};
    run.log = &log;
    d->stage = TL_DRAPE_RUN;
    const tl_status status = tl_run(scene, &run, &d->report->run, err);
    d->report->ran = status == TL_OK;
    tl_scene_destroy(scene);
    return status;
}

// NAME.glb: the garment as it is in the frames.
static tl_status export_garment(tl_draper *d, tl_error *err)
{
    char name[80], path[TL_PATH_MAX];
    snprintf(name, sizeof name, "%.63s.glb", d->report->garment[d->index].name);
    TL_TRY(tl_path_join(d->def->out_dir, name, path, err));
    tl_export_def def = tl_export_def_default();
    def.dir = d->def->out_dir, def.out = path, def.cloth = d->report->garment[d->index].name;
    tl_export_report report;
    return tl_export(&def, &report, err);
}

static tl_status drape(tl_draper *d, tl_error *err)
{
    const tl_drape_def *def = d->def;
    char dress[TL_PATH_MAX];
    TL_TRY(tl_path_join(def->out_dir, "dress", dress, err));
    const tl_reader disk = tl_reader_disk();
    TL_TRY(tl_material_find(&d->alloc, &disk, def->material, "", &d->material, NULL, err));
    TL_TRY(tl_drape_read_holds(d, err));
    TL_TRY(load_body(d, err));
    TL_TRY(tl_make_dirs(dress, err));
    for (d->index = 0; d->index < def->pattern_count; d->index++) {
        name_garment(d, d->index);
        TL_TRY(dress_one(d, err));
    }
    d->index = def->pattern_count - 1;
    TL_TRY(tl_drape_write_report(d, err));
    TL_TRY(run_scene(d, err));
    for (d->index = 0; d->index < def->pattern_count; d->index++) TL_TRY(export_garment(d, err));
    return TL_OK;
}

// How it fits, on this body and on another if there is one: the same patterns, in a folder of their own.
static tl_status tell_fit(tl_draper *d, tl_error *err)
{
    const tl_drape_def *def = d->def;
    tl_fit_page_def page = {def->out_dir, {def->body, NULL}, {d->report, NULL}, def->threads,
                            &d->alloc,    def->cancelled,    def->user};
    tl_drape_report beside;
    if (def->beside) {
        char dir[TL_PATH_MAX];
        TL_TRY(tl_path_join(def->out_dir, "beside", dir, err));
        tl_drape_def other = *def;
        other.body = def->beside, other.beside = NULL, other.out_dir = dir, other.motion = other.clip = NULL;
        TL_TRY(tl_drape(&other, &beside, err));
        page.body[1] = def->beside, page.report[1] = &beside;
    }
    return def->no_fit ? TL_OK : tl_fit_page(&page, err);
}

tl_status tl_drape(const tl_drape_def *given, tl_drape_report *report, tl_error *err)
{
    TL_DEF_COMPLETE(tl_drape_def, def, given, err);
    tl_drape_report own;
    if (!report) report = &own;
    *report = (tl_drape_report){.count = def.pattern_count};
    if (!def.patterns || def.pattern_count < 1 || def.pattern_count > TL_DRAPE_GARMENTS)
        return tl_fail(err, TL_BAD_ARG, "%d patterns, must be 1 to %d", def.pattern_count, TL_DRAPE_GARMENTS);
    if (!def.body || !def.out_dir || !def.material || def.threads < 1)
        return tl_fail(err, TL_BAD_ARG, "body, material, out_dir and threads are required");
    if (def.quality < TL_DRAPE_DRAFT || def.quality > TL_DRAPE_FINAL)
        return tl_fail(err, TL_BAD_ARG, "quality %d is none of ours", (int)def.quality);
    if (!(def.edge >= 0 && def.edge <= 1))
        return tl_fail(err, TL_BAD_ARG, "edge %g m, must be 0 (by quality) to 1", def.edge);
    if (def.measure_count < 0 || def.measure_count > TL_DRAPE_HOLDS || (def.measure_count > 0 && !def.measures))
        return tl_fail(err, TL_BAD_ARG, "%d measures, must be 0 to %d", def.measure_count, (int)TL_DRAPE_HOLDS);
    const double start = tl_now();
    tl_draper d = {.def = &def, .report = report, .alloc = tl_allocator_default()};
    d.edge = def.edge > 0 ? def.edge : edges[def.quality];
    for (int32_t i = 0; i < TL_DRAPE_GARMENTS; i++) d.garment[i].alloc = d.alloc;
    tl_status status = drape(&d, err);
    if (status == TL_OK) status = tell_fit(&d, err);
    TL_FREE(&d.alloc, d.body, d.character ? tl_character_vert_count(d.character) : 0);
    TL_FREE(&d.alloc, d.body_face, d.body_faces);
    for (int32_t i = 0; i < def.pattern_count; i++) tl_pattern_destroy(d.pattern[i]), tl_garment_free(&d.garment[i]);
    tl_character_destroy(d.character);
    report->seconds = tl_now() - start;
    return status;
}
