// run/render_frame.c: one frame with its maps, marks, legend and caption; and the survey before the first.

#include "run/render_frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/mesh_file.h"
#include "math/vec3.h"
#include "render/legend.h"
#include "render/maps.h"
#include "run/render_seams.h"

static const double MARGIN = 0.07;         // of the picture, around everything
static const double CONTACT_REACH = 0.01;  // [m], of the map of contact unless a range is given
static const double HUGE_OBSTACLE = 3;     // an obstacle this much larger than the cloth is scenery, not subject
static const double PLANE_SPAN = 25;       // [m]; the square that stands for a plane is 28 m across
static const double QUANTILE = 0.99;       // of a map's values that its colours resolve
static const double BODY_CREASE_DEG = 55;  // of meshes without a pattern; cloth creases at its seams only

/// What to know of a mode.
typedef struct mode_info {
    const char *legend;
    double factor;
    tl_scale_kind kind;
    bool per_node, per_face;
} mode_info;

static mode_info info_of(tl_render_mode mode)
{
    switch (mode) {
    case TL_RENDER_STRAIN: return (mode_info){"strain [%]", 100, TL_SCALE_DIVERGING, .per_face = true};
    case TL_RENDER_TENSION: return (mode_info){"tensile strain [%]", 100, TL_SCALE_SEQUENTIAL, .per_face = true};
    case TL_RENDER_STRESS: return (mode_info){"tension [N/m]", 1, TL_SCALE_RAINBOW, .per_face = true};
    case TL_RENDER_VELOCITY: return (mode_info){"speed [m/s]", 1, TL_SCALE_SEQUENTIAL, .per_node = true};
    case TL_RENDER_CURVATURE: return (mode_info){"curvature [1/m]", 1, TL_SCALE_SEQUENTIAL, .per_node = true};
    case TL_RENDER_LEVEL: return (mode_info){"level", 1, TL_SCALE_LEVELS, .per_face = true};
    case TL_RENDER_CONTACT: return (mode_info){"distance [mm]", 1000, TL_SCALE_HEAT, .per_node = true};
    default: return (mode_info){NULL, 1, TL_SCALE_SEQUENTIAL, .per_node = false};
    }
}

static bool is_film(const tl_render_def *def)
{
    return def->out && (tl_path_ends(def->out, ".mp4") || tl_path_ends(def->out, ".gif"));
}

static bool has_range(const tl_render_def *def) { return def->range_lo != def->range_hi; }

static double contact_reach(const tl_render_def *def)
{
    return has_range(def) ? fmax(def->range_lo, def->range_hi) / 1000 : CONTACT_REACH;
}

bool tl_needs_before(const tl_render_def *def, const tl_show_frame *frame)
{
    if (def->mode != TL_RENDER_VELOCITY) return false;
    for (int32_t i = 0; i < frame->cloth_count; i++)
        if (!frame->meshes[i].obj.vel) return true;
    return false;
}

static tl_draw_mesh surface_of(const tl_show_mesh *m)
{
    tl_draw_mesh s = {.pos = m->obj.pos,
                      .pos_count = m->obj.node_count,
                      .face = (const int32_t(*)[3])m->face_node,
                      .face_count = m->obj.face_count,
                      .crease_deg = BODY_CREASE_DEG};
    if (m->woven) {
        s.uv = m->obj.uv, s.uv_count = m->obj.vert_count;
        s.face_uv = (const int32_t(*)[3])m->obj.face;
    }
    return s;
}

static const tl_show_mesh *find_mesh(const tl_show_frame *frame, const char *name)
{
    for (int32_t i = 0; frame && i < frame->mesh_count; i++)
        if (strcmp(frame->meshes[i].name, name) == 0) return &frame->meshes[i];
    return NULL;
}

/// Values of the map of the mode for cloth `i`: per node or per face as the mode has it. `largest`: area of a face.
static tl_status map_values(const tl_picture *p, int32_t i, const tl_draw_mesh *s, const tl_crowd *crowd,
                            double largest, float *out, tl_error *err)
{
    const tl_show_mesh *m = &p->frame->meshes[i];
    switch (p->def->mode) {
    case TL_RENDER_STRAIN: tl_map_strain(s, out); return TL_OK;
    case TL_RENDER_TENSION: tl_map_tension(s, out); return TL_OK;
    case TL_RENDER_STRESS: {
        const double *stretch = tl_style_stretch(p->style, m->name);
        if (stretch) tl_map_stress(s, stretch, out);
        for (int32_t f = 0; f < s->face_count && !stretch; f++) out[f] = NAN;
        return TL_OK;
    }
    case TL_RENDER_LEVEL: tl_map_level(s, largest, out); return TL_OK;
    case TL_RENDER_CURVATURE: return tl_map_curvature(s, p->alloc, p->workers, out, err);
    case TL_RENDER_CONTACT: return tl_map_nearness(crowd, i, contact_reach(p->def), p->workers, out, err);
    case TL_RENDER_VELOCITY: {
        if (m->obj.vel) {
            tl_map_speed(m->obj.vel, m->obj.node_count, out);
            return TL_OK;
        }
        const tl_show_mesh *was = find_mesh(p->before, m->name);
        if (was && p->dt > 0) {
            const tl_draw_mesh b = surface_of(was);
            return tl_map_speed_between(&b, s, p->dt, p->alloc, out, err);
        }
        for (int32_t k = 0; k < m->obj.node_count; k++) out[k] = 0;  // nothing to compare with: at rest
        return TL_OK;
    }
    default: return TL_OK;
    }
}

// --- the survey --------------------------------------------------------------------------------------------

static double span_of(const tl_show_mesh *m)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t p = 0; p < m->obj.node_count; p++) {
        if (!tl_finite3(m->obj.pos[p])) continue;
        const double x[3] = {m->obj.pos[p].x, m->obj.pos[p].y, m->obj.pos[p].z};
        for (int k = 0; k < 3; k++) lo[k] = fmin(lo[k], x[k]), hi[k] = fmax(hi[k], x[k]);
    }
    const double d = hypot(hypot(hi[0] - lo[0], hi[1] - lo[1]), hi[2] - lo[2]);
    return isfinite(d) ? d : 0;
}

/// A level square: what stands for an infinite plane in the files (tl_sim_body_view).
static bool is_level_plane(const tl_show_mesh *m, tl_vec3 up)
{
    if (!m->obstacle || m->obj.node_count != 4 || m->obj.face_count != 2) return false;
    const double height = tl_dot3(m->obj.pos[0], up), slack = 1e-9 * PLANE_SPAN;
    if (span_of(m) < PLANE_SPAN) return false;
    for (int i = 1; i < 4; i++)
        if (!(fabs(tl_dot3(m->obj.pos[i], up) - height) <= slack)) return false;
    return true;
}

/// The lowest level plane of a frame is the floor, as long as it stands still.
static void look_for_floor(tl_survey *s, const tl_show_frame *frame)
{
    double lowest = INFINITY;
    for (int32_t i = 0; i < frame->mesh_count; i++)
        if (is_level_plane(&frame->meshes[i], s->up))
            lowest = fmin(lowest, tl_dot3(frame->meshes[i].obj.pos[0], s->up));
    if (!isfinite(lowest)) return;
    if (s->floors++ == 0) s->floor = lowest;
    s->floor_moves = s->floor_moves || lowest != s->floor;
}

void tl_survey_init(tl_survey *s, const tl_render_def *def, const tl_style *style, tl_vec3 up, int32_t width,
                    int32_t height)
{
    *s = (tl_survey){.up = up, .lowest = INFINITY, .size_lo = INFINITY, .style = style};
    const tl_camera_def *c = &def->camera;
    if (c->kind == TL_CAMERA_AUTO && style->has_camera) c = &style->camera;
    tl_angles angles = {28, 14};
    if (c->kind == TL_CAMERA_ANGLES) angles = (tl_angles){c->azimuth_deg, c->elevation_deg};
    s->camera = (tl_camera){.eye = c->eye, .target = c->target, .up = up, .fov_deg = c->fov_deg > 0 ? c->fov_deg : 30};
    tl_vec3 towards = tl_angles_direction(angles, up);
    if (c->kind == TL_CAMERA_FIXED) {
        s->use_camera = true;
        towards = tl_sub3(c->eye, c->target);
    }
    const tl_legend legend = {.title = info_of(def->mode).legend, .mesh_colours = def->mode == TL_RENDER_MESH};
    if ((legend.title || legend.mesh_colours) && def->sheet <= 0)
        s->legend_room = tl_legend_room(&legend, width, height);
    tl_framing_init(&s->framing, towards, up, s->camera.fov_deg, (1 - s->legend_room) * width / height);
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/// The QUANTILE of the magnitudes of `values`, which are sorted in place.
static double high_value(float *values, int32_t count)
{
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++)
        if (isfinite(values[i])) values[n++] = fabsf(values[i]);
    if (n == 0) return 0;
    qsort(values, (size_t)n, sizeof *values, compare_floats);
    return (double)values[(int32_t)(QUANTILE * (n - 1))];
}

static void add_point(tl_survey *s, tl_vec3 p)
{
    tl_framing_add(&s->framing, p);
    if (tl_finite3(p)) s->lowest = fmin(s->lowest, tl_dot3(p, s->up));
}

tl_status tl_survey_add(tl_survey *s, const tl_render_def *def, const tl_show_frame *frame, const tl_show_frame *before,
                        double dt, const tl_allocator *alloc, tl_workers *workers, tl_error *err)
{
    const mode_info info = info_of(def->mode);
    double cloth_span = 0;
    if (frame->mesh_count > 0) s->frames_with_mesh++;
    look_for_floor(s, frame);
    for (int32_t i = 0; i < frame->cloth_count; i++) cloth_span = fmax(cloth_span, span_of(&frame->meshes[i]));
    for (int32_t i = 0; i < frame->mesh_count; i++) {
        const tl_show_mesh *m = &frame->meshes[i];
        if (is_level_plane(m, s->up) || (m->obstacle && cloth_span > 0 && span_of(m) > HUGE_OBSTACLE * cloth_span))
            continue;
        s->any_body = s->any_body || m->obstacle || m->solid;
        for (int32_t p = 0; p < m->obj.node_count; p++) add_point(s, m->obj.pos[p]);
    }
    for (int32_t i = 0; i < frame->cloth_count; i++) {
        const tl_draw_mesh surface = surface_of(&frame->meshes[i]);
        if (def->mode == TL_RENDER_MESH || def->mode == TL_RENDER_LEVEL) {
            for (int32_t f = 0; f < surface.face_count; f++) {
                const tl_extent e = tl_face_extent(&surface, f);
                if (!(e.small > 0)) continue;
                s->size_lo = fmin(s->size_lo, e.small), s->size_hi = fmax(s->size_hi, e.small);
                s->largest_face = fmax(s->largest_face, tl_face_area(&surface, f));
            }
        } else if ((info.per_node || info.per_face) && def->mode != TL_RENDER_CONTACT && !has_range(def)) {
            const int32_t count = info.per_node ? surface.pos_count : surface.face_count;
            float *values = TL_ALLOC(alloc, float, count);
            if (!values) return tl_fail_memory(err, "a map");
            const tl_picture p = {.def = def,
                                  .style = s->style,
                                  .frame = frame,
                                  .before = before,
                                  .dt = dt,
                                  .alloc = alloc,
                                  .workers = workers};
            const tl_status status = map_values(&p, i, &surface, NULL, 0, values, err);
            if (status == TL_OK) s->value_high = fmax(s->value_high, high_value(values, count));
            TL_FREE(alloc, values, count);
            TL_TRY(status);
        }
    }
    return TL_OK;
}

// --- the shot ----------------------------------------------------------------------------------------------

/// The next round number.
static double round_up(double x)
{
    if (!(x > 0) || !isfinite(x)) return 1;
    const double decade = pow(10, floor(log10(x))), m = x / decade;
    static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (m <= 1.001 * steps[i]) return steps[i] * decade;
    return 10 * decade;
}

static void choose_scale(tl_shot *shot, const tl_render_def *def, const tl_survey *s)
{
    const mode_info info = info_of(def->mode);
    shot->legend = info.legend, shot->factor = info.factor;
    shot->scale.kind = info.kind;
    if (has_range(def) && def->mode != TL_RENDER_CONTACT) {
        shot->scale.lo = def->range_lo / info.factor, shot->scale.hi = def->range_hi / info.factor;
        return;
    }
    const double high = round_up(s->value_high);
    switch (def->mode) {
    case TL_RENDER_STRAIN: shot->scale.lo = -fmax(high, 0.01), shot->scale.hi = fmax(high, 0.01); break;
    case TL_RENDER_TENSION: shot->scale.hi = fmax(high, 0.01); break;
    case TL_RENDER_LEVEL: {
        // the smallest face has about the area of an equilateral triangle of the smallest extent
        const double smallest = 0.433 * s->size_lo * s->size_lo;
        const double levels = s->largest_face > 0 && smallest > 0 ? log2(s->largest_face / smallest) : 1;
        shot->scale.hi = fmax(1, fmin(24, ceil(levels)));
        break;
    }
    case TL_RENDER_CONTACT: shot->scale.lo = contact_reach(def), shot->scale.hi = 0; break;
    default: shot->scale.hi = s->value_high > 0 ? high : 1;
    }
}

void tl_shot_init(tl_shot *shot, const tl_render_def *def, const tl_survey *s)
{
    *shot = (tl_shot){.up = s->up, .largest_face = s->largest_face, .size_lo = s->size_lo, .size_hi = s->size_hi};
    const tl_framing *f = &s->framing;
    shot->camera = s->use_camera ? s->camera : tl_framing_camera(f, s->camera.fov_deg, MARGIN);
    shot->camera.up = s->up;
    if (!s->use_camera && s->legend_room > 0) {
        // the framing fills the left part of the picture: look past it by half of what is left free
        const double half_width = f->tan_x / (1 - s->legend_room);
        const double distance = tl_norm3(tl_sub3(shot->camera.target, shot->camera.eye));
        const tl_vec3 aside = tl_mul3(s->legend_room * half_width * distance, f->view.right);
        shot->camera.eye = tl_add3(shot->camera.eye, aside), shot->camera.target = tl_add3(shot->camera.target, aside);
    }
    tl_vec3 mid = shot->camera.target, size = {1, 1, 1};
    if (f->count > 0) {
        mid = (tl_vec3){(f->lo[0] + f->hi[0]) / 2, (f->lo[1] + f->hi[1]) / 2, (f->lo[2] + f->hi[2]) / 2};
        size = (tl_vec3){f->hi[0] - f->lo[0], f->hi[1] - f->lo[1], f->hi[2] - f->lo[2]};
    }
    const double extent = fmax(tl_norm3(size), 1e-3);
    if (def->turntable && !s->use_camera) {
        // turn about the vertical through the middle, from far enough that the ball around everything is seen
        const tl_vec3 towards = tl_mul3(-1, f->view.forward);
        const double half = fmin(shot->camera.fov_deg, 2 * atan(f->tan_x) * 57.29577951308232) * 0.0087266462599716;
        shot->camera.target = mid;
        shot->camera.eye = tl_madd3(mid, 0.5 * extent / sin(half) / (1 - MARGIN), towards);
    }
    if (def->zoom_x != 0.5 || def->zoom_y != 0.5) {  // turn to that place and look closer, as through a longer lens
        const tl_view v = tl_camera_view(&shot->camera);
        const double half = tan(shot->camera.fov_deg * 0.0087266462599716), aspect = f->tan_x / f->tan_y;
        const tl_vec3 to = tl_madd3(tl_madd3(v.forward, (2 * def->zoom_x - 1) * half * aspect, v.right),
                                    (1 - 2 * def->zoom_y) * half, v.up);
        const double far_ = tl_norm3(tl_sub3(shot->camera.target, shot->camera.eye));
        shot->camera.target = tl_madd3(shot->camera.eye, far_ / tl_norm3(to), to);
        shot->camera.fov_deg = 2 * atan(half / def->zoom) * 57.29577951308232;
    } else if (def->zoom > 0 && def->zoom != 1) {
        const tl_vec3 back = tl_sub3(shot->camera.eye, shot->camera.target);
        shot->camera.eye = tl_madd3(shot->camera.target, 1 / def->zoom, back);
    }
    shot->light_from = tl_sub3(shot->camera.target, shot->camera.eye);
    shot->ground = !def->no_ground && isfinite(s->lowest);
    // bodies stand on the floor; a cloth that hangs in the air hangs above it
    shot->ground_height = s->lowest - (s->any_body ? 0.0015 : 0.1) * extent;
    shot->plane_is_ground = shot->ground && s->floors > 0 && !s->floor_moves;
    if (shot->plane_is_ground) shot->ground_height = s->floor;
    shot->ground_centre = mid;
    shot->ground_radius = 0.5 * extent;
    if (!(shot->size_lo < shot->size_hi / 4)) shot->size_lo = shot->size_hi / 4;  // one size: that one is large
    choose_scale(shot, def, s);
}

// --- drawing -----------------------------------------------------------------------------------------------

/// What the surfaces of a frame need while it is drawn.
typedef struct dressing {
    tl_draw_mesh *surfaces;
    float **values;
    tl_rgb **colours;
    uint8_t **marks, **seams;
    int32_t count;
} dressing;

static int32_t value_count(const tl_render_def *def, const tl_draw_mesh *s)
{
    const mode_info info = info_of(def->mode);
    return info.per_node ? s->pos_count : info.per_face ? s->face_count : 0;
}

static void undress(const tl_render_def *def, dressing *d, const tl_allocator *alloc)
{
    for (int32_t i = 0; d->surfaces && i < d->count; i++) {
        if (d->values) TL_FREE(alloc, d->values[i], value_count(def, &d->surfaces[i]));
        if (d->colours) TL_FREE(alloc, d->colours[i], d->surfaces[i].face_count);
        if (d->marks) TL_FREE(alloc, d->marks[i], d->surfaces[i].face_count);
        if (d->seams) TL_FREE(alloc, d->seams[i], d->surfaces[i].face_count);
    }
    TL_FREE(alloc, d->surfaces, d->count);
    TL_FREE(alloc, d->values, d->count);
    TL_FREE(alloc, d->colours, d->count);
    TL_FREE(alloc, d->marks, d->count);
    TL_FREE(alloc, d->seams, d->count);
}

static void mesh_colours(const tl_shot *shot, const tl_draw_mesh *s, tl_rgb *out)
{
    const double span = log(shot->size_hi / shot->size_lo);
    for (int32_t f = 0; f < s->face_count; f++) {
        const tl_extent e = tl_face_extent(s, f);
        const double size = e.small > 0 && span > 0 ? log(e.small / shot->size_lo) / span : 0;
        out[f] = tl_mesh_colour(size, e.large > 0 ? e.small / e.large : 0);
    }
}

// Surfaces get what was found out about them; the plane that is the ground is drawn as such.
static void put_on(const tl_render_def *def, const tl_shot *shot, const tl_show_frame *frame, dressing *d)
{
    for (int32_t i = frame->cloth_count; i < frame->mesh_count && shot->plane_is_ground; i++)
        if (is_level_plane(&frame->meshes[i], shot->up) &&
            tl_dot3(frame->meshes[i].obj.pos[0], shot->up) == shot->ground_height)
            d->surfaces[i].pos_count = d->surfaces[i].face_count = 0;
    const mode_info info = info_of(def->mode);
    for (int32_t i = 0; i < frame->cloth_count; i++) {
        tl_draw_mesh *s = &d->surfaces[i];
        if (info.per_node) s->node_value = d->values[i];
        if (info.per_face) s->face_value = d->values[i];
        s->face_colour = d->colours[i], s->face_mark = d->marks[i], s->face_seam = d->seams[i];
        // pictures that may be looked at closely; in the other modes the mesh is what matters. Of layers the outline of
        // the inner one would bulge through the outer.
        s->curved =
            frame->cloth_count == 1 && def->mode == TL_RENDER_SHADED && !def->wire && !def->marks && !is_film(def);
        if (def->mode == TL_RENDER_INTERSECTIONS) {  // everything else steps back
            s->look = tl_look_cloth(tl_rgb_hex(0xb9bec6));
            s->look.back = tl_rgb_hex(0xa7a9ad);
        }
        // a map's colours have to be read: no highlights, no sheen, no weave over them
        if (info.per_node || info.per_face || s->face_colour)
            s->look.gloss = s->look.sheen = s->look.weave = s->look.transmit = 0;
    }
}

static tl_status dress(const tl_picture *p, dressing *d, int64_t *pairs, tl_error *err)
{
    const tl_render_def *def = p->def;
    const tl_show_frame *frame = p->frame;
    const tl_allocator *alloc = p->alloc;
    d->count = frame->mesh_count;
    d->surfaces = TL_CALLOC(alloc, tl_draw_mesh, d->count);
    d->values = TL_CALLOC(alloc, float *, d->count);
    d->colours = TL_CALLOC(alloc, tl_rgb *, d->count);
    d->marks = TL_CALLOC(alloc, uint8_t *, d->count);
    d->seams = TL_CALLOC(alloc, uint8_t *, d->count);
    if (!d->surfaces || !d->values || !d->colours || !d->marks || !d->seams)
        return tl_fail_memory(err, "the surfaces to draw");
    for (int32_t i = 0; i < d->count; i++) {
        d->surfaces[i] = surface_of(&frame->meshes[i]);
        d->surfaces[i].look = tl_style_look(p->style, &frame->meshes[i], i);
    }
    const bool marks = def->marks || def->mode == TL_RENDER_INTERSECTIONS, near = def->mode == TL_RENDER_CONTACT;
    tl_crowd crowd = {0};
    if (marks || near) TL_TRY(tl_crowd_init(&crowd, d->surfaces, d->count, alloc, err));
    tl_status status = TL_OK;
    *pairs = 0;
    for (int32_t i = 0; i < frame->cloth_count && status == TL_OK; i++) {
        tl_draw_mesh *s = &d->surfaces[i];
        s->wire =
            def->wire || def->mode == TL_RENDER_WIRE || def->mode == TL_RENDER_MESH || def->mode == TL_RENDER_LEVEL;
        const int32_t count = value_count(def, s);
        if (count > 0) {
            d->values[i] = TL_ALLOC(alloc, float, count);
            status = d->values[i] ? map_values(p, i, s, &crowd, p->shot->largest_face, d->values[i], err)
                                  : tl_fail_memory(err, "a map");
        }
        if (status == TL_OK && def->mode == TL_RENDER_MESH) {
            d->colours[i] = TL_ALLOC(alloc, tl_rgb, s->face_count);
            if (!d->colours[i])
                status = tl_fail_memory(err, "colours");
            else
                mesh_colours(p->shot, s, d->colours[i]);
        }
        if (status == TL_OK && marks) {
            int64_t more = 0;
            d->marks[i] = TL_CALLOC(alloc, uint8_t, s->face_count);
            status = d->marks[i] ? tl_mark_crossings(&crowd, i, p->workers, d->marks[i], &more, err)
                                 : tl_fail_memory(err, "marks");
            *pairs += more;
        }
        if (status == TL_OK && !s->wire) status = tl_find_seams(alloc, s, &d->seams[i], err);
    }
    if (marks || near) tl_crowd_free(&crowd);
    if (status == TL_OK) put_on(def, p->shot, frame, d);
    return status;
}

static tl_status draw_legend(const tl_render_def *def, const tl_shot *shot, const tl_allocator *alloc, tl_image *image,
                             tl_error *err)
{
    const tl_legend legend = {.title = shot->legend,
                              .scale = shot->scale,
                              .factor = shot->factor,
                              .mesh_colours = def->mode == TL_RENDER_MESH,
                              .size_lo = shot->size_lo,
                              .size_hi = shot->size_hi};
    return shot->legend || legend.mesh_colours ? tl_legend_draw(&legend, alloc, image, err) : TL_OK;
}

tl_status tl_frame_draw(const tl_picture *p, tl_image *image, tl_frame_report *report, tl_error *err)
{
    const tl_render_def *def = p->def;
    const tl_shot *shot = p->shot;
    *report = (tl_frame_report){0};
    dressing d = {0};
    tl_status status = dress(p, &d, &report->crossing_pairs, err);
    if (status == TL_OK) {
        tl_draw_def draw = tl_draw_def_default();
        draw.surfaces = d.surfaces, draw.surface_count = d.count;
        draw.width = image->width, draw.height = image->height;
        draw.camera = shot->camera, draw.light_from = shot->light_from, draw.up = shot->up;
        draw.ground = shot->ground, draw.ground_height = shot->ground_height;
        draw.ground_centre = shot->ground_centre, draw.ground_radius = shot->ground_radius;
        draw.scale = shot->scale, draw.samples = def->samples;
        draw.alloc = p->alloc, draw.workers = p->workers;
        if (def->white) draw.background = (tl_rgb){1, 1, 1}, draw.flat_background = true;
        status = tl_draw(&draw, image, NULL, &report->faces_left_out, err);
    }
    undress(def, &d, p->alloc);
    if (status == TL_OK && p->legend) status = draw_legend(def, shot, p->alloc, image, err);
    return status;
}
