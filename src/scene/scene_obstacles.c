// scene/scene_obstacles.c: the obstacles of a scene: meshes, sequences of meshes, and simple shapes.

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "io/mesh_file.h"
#include "scene/scene.h"
#include "math/vec3.h"

enum { MAX_SHAPES = 1000000 };

void tl_scene_free_obstacles(tl_scene *scene)
{
    const tl_allocator *alloc = &scene->alloc;
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        tl_scene_obstacle *o = &scene->obstacles[i];
        TL_FREE(alloc, o->shapes, (size_t)o->mesh.node_count * (size_t)o->shape_count);
        TL_FREE(alloc, o->times, o->shape_count);
        TL_FREE(alloc, o->keys, o->key_count);
        if (o->mesh.alloc.resize) tl_obj_free(&o->mesh);
        tl_character_destroy(o->character);
        tl_character_files_free(alloc, &o->character_files);
    }
    TL_FREE(alloc, scene->obstacles, scene->obstacle_count);
    scene->obstacle_count = 0;
}

// ---- files ------------------------------------------------------------------------------------------------

typedef struct files {
    const tl_allocator *alloc;
    const tl_reader *reader;
} files;

static tl_status read_obj(const files *in, const tl_node *node, const char *path, tl_obj *out, tl_error *err)
{
    const tl_reader reader = in->reader ? *in->reader : tl_reader_disk();
    tl_text text;
    tl_status status = reader.read(reader.user, in->alloc, path, TL_OBJ_MAX_BYTES, &text, err);
    if (status == TL_NO_MEMORY) return status;
    if (status != TL_OK) return tl_node_prefix(node, err);
    status = tl_mesh_file_parse(in->alloc, in->reader, path, &text, out, err);
    tl_text_free(in->alloc, &text);
    return status == TL_OK || status == TL_NO_MEMORY ? status : tl_node_prefix(node, err);
}

// The path without links and dots, as JSON; as it is where that is no UTF-8 and so cannot be written down.
static json_t *absolute_text(const char *path, const json_t *as_written)
{
    char real[TL_PATH_MAX];
    tl_path_absolute(path, real);
    json_t *text = json_string(real);
    return text ? text : as_written ? json_copy((json_t *)(uintptr_t)as_written) : NULL;
}

static tl_status read_single(const files *in, const tl_node *node, tl_scene_obstacle *o, tl_error *err)
{
    char dir[TL_PATH_MAX], path[TL_PATH_MAX];
    TL_TRY(tl_node_dir(node, dir, err));
    TL_TRY(tl_path_join(dir, json_string_value(node->value), path, err));
    TL_TRY(read_obj(in, node, path, &o->mesh, err));
    snprintf(o->origin, sizeof o->origin, "%.255s", path);
    json_t *text = absolute_text(path, node->value);
    return json_object_set_new(node->up->value, "mesh", text) == 0 ? TL_OK : tl_fail_memory(err, "scene text");
}

// ---- sequences --------------------------------------------------------------------------------------------

// The one %d or %0Nd of a name: what stands before it, how many digits, what stands behind.
typedef struct pattern {
    int before, width;
    const char *behind;
} pattern;

static bool read_pattern(const char *text, pattern *out)
{
    const char *at = strchr(text, '%');
    if (!at) return false;
    *out = (pattern){.before = (int)(at - text)};
    at++;
    if (*at == '0') at++;
    while (*at >= '0' && *at <= '9' && out->width < 10) out->width = 10 * out->width + (*at++ - '0');
    if (*at != 'd' || out->width > 12) return false;
    out->behind = at + 1;
    return !strchr(out->behind, '%');
}

typedef struct sequence {
    const files *in;
    const tl_node *node;  ///< `mesh`
    tl_node names;        ///< its `sequence`
    char dir[TL_PATH_MAX];
    bool numbered;
    pattern pattern;
    tl_sequence_file file;
} sequence;

// Path of shape k; the node to blame if it cannot be read.
static tl_status shape_path(const sequence *sq, int32_t k, char out[TL_PATH_MAX], tl_node *blame, tl_error *err)
{
    char name[TL_PATH_MAX];
    const char *given = json_string_value(sq->names.value);
    *blame = sq->names;
    if (sq->numbered) {
        const int n = snprintf(name, sizeof name, "%.*s%0*lld%s", sq->pattern.before, given, sq->pattern.width,
                               (long long)(sq->file.first + k), sq->pattern.behind);
        if (n < 0 || n >= (int)sizeof name) return tl_node_fail(blame, true, err, "is too long a path");
        given = name;
    } else {
        *blame = tl_node_at(&sq->names, (size_t)k);
        TL_TRY(tl_key_read(blame, &tl_file_key, &given, err));
    }
    return tl_path_join(sq->dir, given, out, err);
}

// Without a last number, a sequence ends where a file is missing.
static bool is_missing(const sequence *sq, const char *path)
{
    if (!sq->in->reader) return tl_path_look(path) == TL_PATH_NONE;
    tl_text text;
    if (sq->in->reader->read(sq->in->reader->user, sq->in->alloc, path, TL_OBJ_MAX_BYTES, &text, NULL) != TL_OK)
        return true;
    tl_text_free(sq->in->alloc, &text);
    return false;
}

static tl_status count_shapes(const sequence *sq, int32_t *out, tl_error *err)
{
    const tl_node last = tl_node_key(sq->node, "last");
    if (!sq->numbered) {
        const size_t count = json_array_size(sq->names.value);
        if (count > MAX_SHAPES)
            return tl_node_fail(&sq->names, false, err, "has %zu files, at most %d", count, MAX_SHAPES);
        *out = (int32_t)count;
        return TL_OK;
    }
    if (last.value) {
        if (sq->file.last < sq->file.first)
            return tl_node_fail(&last, true, err, "must be >= first %lld", (long long)sq->file.first);
        if (sq->file.last - sq->file.first >= MAX_SHAPES)
            return tl_node_fail(&last, true, err, "must be less than %d above first", MAX_SHAPES);
        *out = (int32_t)(sq->file.last - sq->file.first) + 1;
        return TL_OK;
    }
    char path[TL_PATH_MAX];
    tl_node blame;
    for (*out = 0; *out < MAX_SHAPES; ++*out) {
        TL_TRY(shape_path(sq, *out, path, &blame, err));
        if (is_missing(sq, path)) break;
    }
    if (*out > 0) return TL_OK;
    return tl_node_fail(&sq->names, true, err, "%.300s is not there (set first if the numbers start elsewhere)", path);
}

static tl_status read_times(const sequence *sq, double scene_fps, tl_scene_obstacle *o, tl_error *err)
{
    const tl_node times = tl_node_key(sq->node, "times"), fps = tl_node_key(sq->node, "fps"),
                  start = tl_node_key(sq->node, "start");
    if (times.value && (fps.value || start.value))
        return tl_node_fail(&times, false, err, "and %s exclude each other", fps.value ? "fps" : "start");
    if (times.value && json_array_size(times.value) != (size_t)o->shape_count)
        return tl_node_fail(&times, false, err, "has %zu entries for %d shapes, must have one each",
                            json_array_size(times.value), o->shape_count);
    const double rate = fps.value ? sq->file.fps : scene_fps, begin = start.value ? sq->file.start : 0;
    for (int32_t k = 0; k < o->shape_count; k++) {
        o->times[k] = begin + k / rate;
        if (!times.value) continue;
        const tl_node entry = tl_node_at(&times, (size_t)k);
        TL_TRY(tl_key_read(&entry, &tl_time_key, &o->times[k], err));
        if (k > 0 && !(o->times[k] > o->times[k - 1]))
            return tl_node_fail(&entry, true, err, "must be above the %g before it", o->times[k - 1]);
    }
    return TL_OK;
}

static tl_status read_shapes(const sequence *sq, tl_scene_obstacle *o, json_t *paths, tl_error *err)
{
    char path[TL_PATH_MAX];
    for (int32_t k = 0; k < o->shape_count; k++) {
        tl_node blame;
        TL_TRY(shape_path(sq, k, path, &blame, err));
        tl_obj shape = {0};
        TL_TRY(read_obj(sq->in, &blame, path, &shape, err));
        tl_status status = TL_OK;
        if (k == 0) {
            o->mesh = shape;
            snprintf(o->origin, sizeof o->origin, "%.255s", path);
            o->shapes =
                tl_alloc_bytes(sq->in->alloc, (size_t)shape.node_count * (size_t)o->shape_count, sizeof *o->shapes);
            if (!o->shapes) return tl_fail_memory(err, "a sequence of meshes");
        } else if (shape.node_count != o->mesh.node_count || shape.face_count != o->mesh.face_count) {
            status = tl_node_fail(&blame, false, err,
                                  "%.300s has %d nodes and %d faces, the first file %d and %d (must be equal)", path,
                                  shape.node_count, shape.face_count, o->mesh.node_count, o->mesh.face_count);
        } else if (memcmp(shape.face, o->mesh.face, (size_t)shape.face_count * sizeof *shape.face) != 0) {
            status =
                tl_node_fail(&blame, false, err, "%.300s has other faces than the first file (must be equal)", path);
        }
        const size_t nodes = (size_t)shape.node_count;
        if (status == TL_OK) memcpy(o->shapes + (size_t)k * nodes, shape.pos, nodes * sizeof *shape.pos);
        if (k > 0) tl_obj_free(&shape);
        TL_TRY(status);
        json_t *text = absolute_text(path, NULL);
        if (!text) return tl_node_fail(&blame, true, err, "lies in a folder whose name is not UTF-8 (move it)");
        if (json_array_append_new(paths, text) != 0) return tl_fail_memory(err, "scene text");
    }
    return TL_OK;
}

// Written back as a list of files with their times, whatever form it had.
static tl_status resolve_sequence(const tl_node *node, const tl_scene_obstacle *o, json_t *paths, tl_error *err)
{
    json_t *times = json_array();
    bool ok = times;
    for (int32_t k = 0; ok && k < o->shape_count; k++) ok = json_array_append_new(times, json_real(o->times[k])) == 0;
    json_object_clear(node->value);
    ok = json_object_set(node->value, "sequence", paths) == 0 && ok;
    ok = json_object_set_new(node->value, "times", times) == 0 && ok;
    return ok ? TL_OK : tl_fail_memory(err, "scene text");
}

static tl_status read_sequence(const files *in, const tl_node *node, double scene_fps, tl_scene_obstacle *o,
                               tl_error *err)
{
    sequence sq = {.in = in, .node = node};
    TL_TRY(tl_table_read(node, &tl_sequence_table, &sq.file, err));
    sq.names = tl_node_key(node, "sequence");
    sq.numbered = json_is_string(sq.names.value);
    TL_TRY(tl_node_dir(&sq.names, sq.dir, err));
    if (sq.numbered && !read_pattern(json_string_value(sq.names.value), &sq.pattern))
        return tl_node_fail(&sq.names, true, err,
                            "must have one number, as in \"folder/%%04d.obj\" (or give a list of files)");
    const tl_node first = tl_node_key(node, "first"), last = tl_node_key(node, "last");
    if (!sq.numbered && (first.value || last.value))
        return tl_node_fail(first.value ? &first : &last, false, err, "is for names with a number, sequence is a list");
    if (!sq.numbered && json_array_size(sq.names.value) == 0)
        return tl_node_fail(&sq.names, true, err, "must have at least 1 entry");
    int32_t count = 0;
    TL_TRY(count_shapes(&sq, &count, err));
    o->times = TL_CALLOC(in->alloc, double, count);
    if (!o->times) return tl_fail_memory(err, "a sequence of meshes");
    o->shape_count = count;
    TL_TRY(read_times(&sq, scene_fps, o, err));
    json_t *paths = json_array();
    tl_status status = paths ? read_shapes(&sq, o, paths, err) : tl_fail_memory(err, "scene text");
    if (status == TL_OK) status = resolve_sequence(node, o, paths, err);
    json_decref(paths);
    return status;
}

// ---- shapes -----------------------------------------------------------------------------------------------

static tl_status check_shape(const tl_node *node, const tl_scene_obstacle *o, tl_error *err)
{
    const tl_obstacle_file *f = &o->file;
    if (o->kind == TL_BODY_PLANE && tl_norm3(f->plane.normal) == 0) {
        const tl_node normal = tl_node_key(node, "normal");
        return tl_node_fail(&normal, true, err, "must have a direction");
    }
    const tl_rod_file *rod = o->kind == TL_BODY_CAPSULE ? &f->capsule : &f->cylinder;
    if ((o->kind == TL_BODY_CAPSULE || o->kind == TL_BODY_CYLINDER) && tl_norm3(tl_sub3(rod->to, rod->from)) == 0) {
        const tl_node to = tl_node_key(node, "to");
        return tl_node_fail(&to, true, err, "is where from is, must be elsewhere");
    }
    const double *low = &f->box.min.x, *high = &f->box.max.x;
    for (int i = 0; o->kind == TL_BODY_BOX && i < 3; i++)
        if (!(low[i] < high[i]))
            return tl_node_fail(node, false, err, "min %g, max %g in component %d, max must be above min", low[i],
                                high[i], i);
    return TL_OK;
}

static tl_status read_obstacle(tl_scene *scene, const files *in, const tl_node *node, int32_t index, tl_error *err)
{
    // as tl_body_kind, and a mesh that moves by itself
    static const char *const kinds[] = {"mesh", "plane", "sphere", "capsule", "cylinder", "box", "character"};
    tl_scene_obstacle *o = &scene->obstacles[index];
    TL_TRY(tl_table_read(node, &tl_obstacle_table, &o->file, err));
    TL_TRY(tl_scene_read_name(scene, node, "obstacle", index, scene->obstacle_count, o->file.name, o->name, err));
    int given = 0;
    int kind = 0;
    for (int k = 0; k < 7; k++)
        if (json_object_get(node->value, kinds[k])) given++, kind = k;
    o->kind = kind == 6 ? TL_BODY_MESH : (tl_body_kind)kind;
    if (given != 1)
        return tl_node_fail(node, false, err,
                            "has %d of 'mesh', 'plane', 'sphere', 'capsule', 'cylinder', 'box', 'character', must have "
                            "exactly one",
                            given);
    const tl_node transform = tl_node_key(node, "transform"), rotate = tl_node_key(&transform, "rotate");
    TL_TRY(tl_scene_check_rotation(&rotate, o->file.transform.rotate, err));
    const tl_node shape = tl_node_key(node, kinds[kind]), motion = tl_node_key(node, "motion");
    const tl_node end = tl_node_key(node, "end");
    if (end.value && !(o->file.end > o->file.start))
        return tl_node_fail(&end, true, err, "must be above start %g", o->file.start);
    snprintf(o->origin, sizeof o->origin, "%s", kinds[kind]);
    if (kind == 6)
        TL_TRY(tl_scene_read_character(scene, in->reader, &shape, o, err));
    else if (o->kind != TL_BODY_MESH)
        TL_TRY(check_shape(&shape, o, err));
    else if (json_is_string(shape.value))
        TL_TRY(read_single(in, &shape, o, err));
    else
        TL_TRY(read_sequence(in, &shape, scene->fps, o, err));
    if (!motion.value) return TL_OK;
    return tl_scene_read_motion(&scene->alloc, &motion, &tl_obstacle_motion_table, &o->keys, &o->key_count, err);
}

tl_status tl_scene_read_obstacles(tl_scene *scene, const tl_scene_def *def, const tl_node *root, tl_error *err)
{
    const files in = {&scene->alloc, def->reader};
    const tl_node list = tl_node_key(root, "obstacles");
    const size_t count = json_array_size(list.value);
    if (count > 100000) return tl_node_fail(&list, true, err, "must have at most 100000 entries");
    scene->obstacles = TL_CALLOC(&scene->alloc, tl_scene_obstacle, count);
    if (!scene->obstacles) return tl_fail_memory(err, "obstacles");
    scene->obstacle_count = (int32_t)count;
    for (int32_t i = 0; i < scene->obstacle_count; i++) {
        const tl_node node = tl_node_at(&list, (size_t)i);
        TL_TRY(read_obstacle(scene, &in, &node, i, err));
    }
    return TL_OK;
}
