// scene/arcsim/arcsim_motion.c: motions of ARCSim scenes: keys joined by cubic splines, and motion files.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "scene/arcsim/arcsim_impl.h"

static const double DEGREE = 3.14159265358979323846 / 180;

/// A pose with z up, and its rates if it has any.
typedef struct pose {
    double time;
    tl_vec3 translate;
    double rotate[4], scale;
    bool has_rates;
    tl_vec3 velocity, spin;
    double growth;
} pose;

static void append_pose(arcsim *a, json_t *list, const pose *p)
{
    const tl_vec3 axis = arc_up((tl_vec3){p->rotate[1], p->rotate[2], p->rotate[3]});
    const double rotate[4] = {p->rotate[0], axis.x, axis.y, axis.z};
    json_t *key = json_object();
    arc_put(a, key, "time", json_real(p->time));
    arc_put(a, key, "translate", arc_vec3(arc_up(p->translate)));
    if (rotate[0] != 0) arc_put(a, key, "rotate", arc_rotation(rotate));
    if (p->scale != 1) arc_put(a, key, "scale", json_real(p->scale));
    if (p->has_rates) {
        arc_put(a, key, "velocity", arc_vec3(arc_up(p->velocity)));
        arc_put(a, key, "spin", arc_vec3(arc_up(p->spin)));
        arc_put(a, key, "growth", json_real(p->growth));
    }
    arc_append(a, list, key);
    a->last_key = fmax(a->last_key, p->time);
}

// A rate is written as the velocities of cloths are, linear and angular about an origin, or number by number as the
// transform is.
static tl_status read_rates(arcsim *a, const tl_node *node, pose *p)
{
    tl_arc_rates r = {.scale = 0};
    TL_TRY(arc_read(a, node, &tl_arc_rates_table, &r));
    const tl_vec3 turned = tl_mul3(r.rotate[0] * DEGREE,
                                   tl_unit3_or((tl_vec3){r.rotate[1], r.rotate[2], r.rotate[3]}, (tl_vec3){0, 0, 0}));
    p->has_rates = true;
    p->spin = tl_add3(r.angular, turned);
    p->velocity = tl_add3(tl_add3(r.linear, r.translate), tl_cross3(r.angular, tl_sub3(p->translate, r.origin)));
    p->growth = isnan(r.scale) ? 0 : r.scale;
    return TL_OK;
}

#define SMALLEST_PART 1e-3  // of the least scale in a motion that takes the place of 0

// A scale of 0 makes a point of what moves, which has no surface to collide with. A thousandth of the least other scale
// stands for it; `least` is 0 if there is no other.
static double least_scale(const tl_node *list)
{
    double least = 0;
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        const json_t *transform = json_object_get(json_array_get(list->value, i), "transform");
        const json_t *scale = json_object_get(transform, "scale");
        const double s = scale ? json_number_value(scale) : 1;
        if (s > 0 && (least == 0 || s < least)) least = s;
    }
    return least;
}

static tl_status read_keys(arcsim *a, const tl_node *list, json_t *out)
{
    if (!json_is_array(list->value))
        return tl_node_fail(list, true, a->err, "must be a list of keys {time, transform}");
    double before = -(double)INFINITY;
    const double least = least_scale(list);
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        const tl_node entry = tl_node_at(list, i), velocity = tl_node_key(&entry, "velocity");
        tl_arc_key key = {0};
        TL_TRY(arc_read(a, &entry, &tl_arc_key_table, &key));
        TL_TRY(arc_check_rotation(&entry, &key.transform, a->err));
        if (!(key.time > before)) {
            const tl_node time = tl_node_key(&entry, "time");
            return tl_node_fail(&time, true, a->err, "must be above the %g before it", before);
        }
        before = key.time;
        if (key.transform.scale == 0) {
            key.transform.scale = SMALLEST_PART * (least > 0 ? least : SMALLEST_PART);
            arc_note(a, "scale", &entry, "has the scale 0, which would leave a point: %g instead", key.transform.scale);
        }
        pose p = {.time = key.time, .translate = key.transform.translate, .scale = key.transform.scale};
        memcpy(p.rotate, key.transform.rotate, sizeof p.rotate);
        if (velocity.value) TL_TRY(read_rates(a, &velocity, &p));
        append_pose(a, out, &p);
    }
    return TL_OK;
}

// ---- motion files -----------------------------------------------------------------------------------------

/// NumFrames: N, then for each part "body[i] position", N lines x y z, "body[i] orientation", N lines w x y z.
typedef struct mot {
    arcsim *a;
    const tl_node *node;
    const char *path, *p, *end;
    int64_t line, frames;
} mot;

static tl_status bad_mot(const mot *m, const char *what)
{
    char place[320];
    tl_node_place(m->node, place, sizeof place);
    return tl_fail(m->a->err, TL_BAD_INPUT, "%.200s:%lld: %s (motion file of %s)", m->path, (long long)m->line, what,
                   place);
}

static void skip_space(mot *m)
{
    for (; m->p < m->end && (*m->p == ' ' || *m->p == '\t' || *m->p == '\r' || *m->p == '\n'); m->p++)
        m->line += *m->p == '\n';
}

static bool take_word(mot *m, const char *word)
{
    skip_space(m);
    const size_t n = strlen(word);
    if ((size_t)(m->end - m->p) < n || memcmp(m->p, word, n) != 0) return false;
    m->p += n;
    return true;
}

static bool take_int(mot *m, int64_t *out)
{
    skip_space(m);
    const char *behind = tl_parse_int(m->p, m->end, out);
    if (behind) m->p = behind;
    return behind;
}

static tl_status take_numbers(mot *m, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        skip_space(m);
        const char *behind = tl_parse_double(m->p, m->end, &out[i]);
        if (!behind || !(fabs(out[i]) < TL_KEY_LIMIT)) return bad_mot(m, "a number is missing or out of range");
        m->p = behind;
    }
    return TL_OK;
}

// "body[3] position"
static tl_status take_heading(mot *m, int64_t part, const char *what)
{
    int64_t index = -1;
    const bool ok =
        take_word(m, "body[") && take_int(m, &index) && take_word(m, "]") && index == part && take_word(m, what);
    char text[96];
    snprintf(text, sizeof text, "must be 'body[%lld] %s'", (long long)part, what);
    return ok ? TL_OK : bad_mot(m, text);
}

// What the file says, then the transform of the scene. The sign of a quaternion means nothing in a file: the nearer one
// to the last.
static void append_part(mot *m, const tl_arc_motfile *file, const double (*position)[3], const double (*turn)[4],
                        json_t *out)
{
    const tl_transform_file *t = &file->transform;
    const arc_quaternion first = arc_quaternion_of(t->rotate);
    arc_quaternion last = {0};
    for (int64_t i = 0; i < m->frames; i++) {
        const double *q = turn[i];
        const double by =
            1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);  // not zero: read_part looked
        arc_quaternion own = {by * q[0], {by * q[1], by * q[2], by * q[3]}};
        arc_quaternion all = arc_quaternion_product(first, own);
        if (all.w * last.w + tl_dot3(all.v, last.v) < 0) all = (arc_quaternion){-all.w, tl_mul3(-1, all.v)};
        last = all;
        const tl_vec3 moved =
            arc_quaternion_turn(first, tl_mul3(t->scale, (tl_vec3){position[i][0], position[i][1], position[i][2]}));
        pose p = {.time = (double)i / file->fps, .translate = tl_add3(moved, t->translate), .scale = t->scale};
        arc_rotation_of(all, p.rotate);
        append_pose(m->a, out, &p);
    }
}

static tl_status read_part(mot *m, int64_t part, const tl_arc_motfile *file, double (*position)[3], double (*turn)[4])
{
    TL_TRY(take_heading(m, part, "position"));
    for (int64_t i = 0; i < m->frames; i++) TL_TRY(take_numbers(m, 3, position[i]));
    TL_TRY(take_heading(m, part, "orientation"));
    for (int64_t i = 0; i < m->frames; i++) {
        TL_TRY(take_numbers(m, 4, turn[i]));
        const double *q = turn[i];
        if (!(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > 0))
            return bad_mot(m, "an orientation 0 0 0 0 is no quaternion");
    }
    json_t *list = json_array();
    if (list) append_part(m, file, (const double(*)[3])position, (const double(*)[4])turn, list);
    arc_append(m->a, m->a->motions, list);
    return m->a->no_memory ? tl_fail_memory(m->a->err, "a motion") : TL_OK;
}

static tl_status read_motfile(arcsim *a, const tl_node *node, const char *text, size_t size, const char *path,
                              const tl_arc_motfile *file)
{
    mot m = {.a = a, .node = node, .path = path, .p = text, .end = text + size, .line = 1};
    if (!take_word(&m, "NumFrames:") || !take_int(&m, &m.frames)) return bad_mot(&m, "must begin with 'NumFrames: N'");
    if (m.frames < 1 || (size_t)m.frames > size)
        return bad_mot(&m, "NumFrames must be at least 1 and not more than there are");
    double(*position)[3] = tl_alloc_bytes(a->alloc, (size_t)m.frames, sizeof *position);
    double(*turn)[4] = tl_alloc_bytes(a->alloc, (size_t)m.frames, sizeof *turn);
    tl_status status = position && turn ? TL_OK : tl_fail_memory(a->err, "a motion");
    for (int64_t part = 0; status == TL_OK; part++) {
        skip_space(&m);
        if (m.p == m.end) break;
        status = read_part(&m, part, file, position, turn);
    }
    tl_free_bytes(a->alloc, position, (size_t)m.frames, sizeof *position);
    tl_free_bytes(a->alloc, turn, (size_t)m.frames, sizeof *turn);
    return status;
}

static tl_status open_motfile(arcsim *a, const tl_node *node)
{
    tl_arc_motfile file = {0};
    TL_TRY(arc_read(a, node, &tl_arc_motfile_table, &file));
    TL_TRY(arc_check_rotation(node, &file.transform, a->err));
    const tl_node name = tl_node_key(node, "motfile");
    char path[TL_PATH_MAX];
    TL_TRY(arc_find(a, &name, path));
    const tl_reader reader = a->reader ? *a->reader : tl_reader_disk();
    tl_text text;
    tl_status status = reader.read(reader.user, a->alloc, path, (size_t)1 << 30, &text, a->err);
    if (status == TL_NO_MEMORY) return status;
    if (status != TL_OK) return tl_node_prefix(&name, a->err);
    status = read_motfile(a, &name, text.data, text.size, path, &file);
    tl_text_free(a->alloc, &text);
    return status;
}

// ---- all --------------------------------------------------------------------------------------------------

tl_status arc_read_motions(arcsim *a, const tl_node *root)
{
    const tl_node motions = tl_node_key(root, "motions");
    if (json_is_object(motions.value)) return open_motfile(a, &motions);
    for (size_t i = 0; i < json_array_size(motions.value); i++) {
        const tl_node entry = tl_node_at(&motions, i);
        if (json_is_object(entry.value) && json_object_get(entry.value, "motfile")) {
            TL_TRY(open_motfile(a, &entry));
            continue;
        }
        json_t *list = json_array();
        const tl_status status = list ? read_keys(a, &entry, list) : tl_fail_memory(a->err, "a motion");
        if (status != TL_OK) {
            json_decref(list);
            return status;
        }
        if (json_array_size(list) == 0) arc_note(a, "", &entry, "has no keys: what it moves stands still");
        arc_append(a, a->motions, list);
    }
    return TL_OK;
}

tl_status arc_put_motion(arcsim *a, const tl_node *node, int64_t index, json_t *entry)
{
    const size_t count = json_array_size(a->motions);
    if (index < 0) return TL_OK;
    if ((uint64_t)index >= count) {
        const tl_node motion = tl_node_key(node, "motion");
        if (count == 0) return tl_node_fail(&motion, true, a->err, "there are no motions");
        return tl_node_fail(&motion, true, a->err, "must be in [0, %zu], a place in motions", count - 1);
    }
    const json_t *list = json_array_get(a->motions, (size_t)index);
    if (json_array_size(list) == 0) return TL_OK;
    arc_put(a, entry, "curve", json_string("cubic"));
    arc_put(a, entry, "motion", json_deep_copy(list));
    return TL_OK;
}
